"""`inspector serve`: a mock server that answers from a recording."""

from __future__ import annotations

import asyncio
import os
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from inspector.cli.options import Option, Value, pace, recording
from inspector.cli.output import Output
from inspector.cli.output_files import new_recording
from inspector.cli.serve_options import ALLOWED, BIND_ADDRESS, HostPort, ended_by_signals, numbered
from inspector.cli.verb import PositionalArgument, Verb
from inspector.errors import UsageError

if TYPE_CHECKING:
    from inspector.cli.verb import Invocation
    from inspector.client.options import Options
    from inspector.config.targets import HttpTarget, StdioTarget
    from inspector.journal.journal import Journal
    from inspector.replay.mock.passthrough import Upstream
    from inspector.replay.mock.server import Mock, MockOptions, OnMiss
    from inspector.replay.mock.statistics import MockReport

SHOWN = 20
"""Misses and unused requests that are listed."""
_MEANINGLESS = ("root", "sampling", "elicit", "log-level", "era", "revision", "no-pin", "trace")
"""Options of a session; with a passthrough, the client decides these."""


def run(invocation: Invocation) -> int:
    """Serve until the client disconnects or a signal comes; then print the summary."""
    from inspector.cli.open_recording import tell_notices
    from inspector.journal.journal import Journal

    out = invocation.output
    options = _options(invocation)
    journal = Journal.open(recording(invocation.arguments["file"]))
    try:
        mock = asyncio.run(_serve(invocation, out, journal, options))
        report = mock.report()
    finally:
        journal.release()
    tell_notices(out, journal)
    if invocation.json:
        out.document(report.as_json())
    else:
        _tell(out, report)
    if mock.unreached is not None:
        out.error(mock.unreached)
    return 5 if invocation.option("strict") and report.counts.get("missed") else 0


def _options(invocation: Invocation) -> MockOptions:
    from inspector.replay.mock.server import MockOptions

    on_miss: OnMiss = invocation.option("on-miss") or ("passthrough" if invocation.target_words else "error")
    if (on_miss == "passthrough") != bool(invocation.target_words):
        raise UsageError(
            "--on-miss passthrough needs a target."
            if on_miss == "passthrough"
            else f"--on-miss {on_miss} uses no target.",
            hint="Add --on-miss passthrough and the target, or remove both.",
        )
    return MockOptions(
        match=invocation.option("match", "params"),
        on_miss=on_miss,
        speed=invocation.option("pace"),
        faults=tuple(invocation.option("fault", ())),
        seed=invocation.option("seed", ""),
    )


async def _serve(invocation: Invocation, out: Output, journal: Journal, options: MockOptions) -> Mock:
    from inspector.cli import session_setup
    from inspector.replay.mock.server import Mock
    from inspector.serving.base import MAX_MESSAGE
    from inspector.serving.http_connection import ConnectionLimits

    longest = session_setup.settings_of(invocation).max_body_bytes or MAX_MESSAGE
    with ended_by_signals() as stop:
        mock = Mock(
            journal,
            options,
            new_journal=_recorder(invocation, out),
            ended=lambda client: session_setup.warn_of_incomplete(out, client, named=True),
            on_stderr=_say,
            upstream=_upstream(invocation),
            filter=session_setup.filter_of(invocation, session_setup.settings_of(invocation)),
        )
        await mock.load(
            names=tuple(invocation.option("allow-host", ())),
            origins=tuple(invocation.option("allow-origin", ())),
            limits=ConnectionLimits(body=longest),
        )
        try:
            where: HostPort | None = invocation.option("http")
            if where is None:
                from inspector.serving.stdio import StdioServer

                await StdioServer(mock.opens, limit=longest).run(stop)
            else:
                await _serve_http(mock, where, out, stop)
        finally:
            await mock.close()
    return mock


async def _serve_http(mock: Mock, where: HostPort, out: Output, stop: asyncio.Event) -> None:
    from inspector.addresses import is_loopback
    from inspector.serving.http import HttpServer

    end = HttpServer(mock.opens, *where, mock.binding)
    await end.start()
    try:
        out.aside(f"serving {out.safe(str(mock.journal.path))} on {end.url}\n")
        if not is_loopback(where[0]):
            out.warn("note: Other machines on the network can connect without a login.")
        await stop.wait()
    finally:
        await end.close()


def _recorder(invocation: Invocation, out: Output) -> Any:
    """The factory of client recordings: --record FILE with numbers for later clients, else in the state directory."""
    from inspector.cli import session_setup
    from inspector.client.new_recording import new_journal
    from inspector.config.targets import RecordingTarget

    target = RecordingTarget(recording(invocation.arguments["file"]))
    settings = session_setup.settings_of(invocation)
    named = new_recording(invocation, source=target.path)
    keep = settings.record and not invocation.option("no-record")
    first = new_journal(target, settings=settings, record=named) if named is not None else None

    def make(number: int) -> Journal:
        if first is not None and number == 1:
            return first
        record = named if named is None or named.is_dir() else numbered(named, number)
        journal = new_journal(target, settings=settings, record=record, keep=keep)
        for notice in journal.notices:
            out.note(f"note: {out.safe(notice)}")
        return journal

    return make


def _upstream(invocation: Invocation) -> Upstream | None:
    if not invocation.target_words:
        return None
    from inspector.cli import session_setup
    from inspector.client.bare_connection import BareConnection, ConnectionListener

    target = session_setup.live_target(invocation)
    options = upstream_options(invocation, target)

    def connect(journal: Journal, listener: ConnectionListener) -> BareConnection:
        return BareConnection(target, journal, listener, options)

    return connect


def upstream_options(invocation: Invocation, target: StdioTarget | HttpTarget) -> Options:
    """The options of the live server's connection.

    With `--http` every user of this machine can send requests: a login that was kept for the user's own sessions is not
    lent to them.
    """
    from inspector.cli import login_options, session_setup

    settings = session_setup.settings_of(invocation)
    # The messages pass the addons at the client.
    options = replace(session_setup.options_of(invocation, target, settings, in_interface=False), filter=None)
    if invocation.option("http") is None or options.authorize is None:
        return options
    return replace(options, authorize=login_options.authorize(invocation, settings, in_interface=False, keeps=False))


def _say(line: bytes) -> None:
    """Copy a line of the recorded server's stderr to ours; escaped on a terminal."""
    try:
        if os.isatty(2):
            from inspector.text import safe

            line = safe(line.decode("utf-8", "replace")).encode()
        os.write(2, line + b"\n")
    except OSError:
        pass


def _tell(out: Output, report: MockReport) -> None:
    """Print the summary on stderr, because stdout belongs to the client."""
    counts = report.counts
    parts = [f"{counts.get('answered', 0):,} answered from the recording", f"{counts.get('missed', 0):,} missed"]
    for name, text in (
        ("unanswered", "without an answer in it"),
        ("empty", "for a list that is not in it, answered with an empty one"),
        ("refused", "refused"),
        ("cancelled", "cancelled"),
        ("invalid", "invalid messages"),
    ):
        if counts.get(name):
            parts.append(f"{counts[name]:,} {text}")
    faults = {name.removeprefix("fault:"): n for name, n in counts.items() if name.startswith("fault:")}
    if faults:
        struck = ", ".join(f"{n:,} {name}" for name, n in faults.items())
        parts.append(f"faults: {struck} (--seed {report.seed})")
    clients = "1 client" if report.clients == 1 else f"{report.clients:,} clients"
    out.note(f"{clients}, {report.requests:,} requests: {'; '.join(parts)}.")
    for missed in report.missed[:SHOWN]:
        near = f" (nearest: event {missed.nearest})" if missed.nearest else ""
        became = "" if missed.became == "error" else f", {missed.became}"
        out.note(
            f"missed by client {missed.client}{became}: {out.safe(f'{missed.method} {missed.params}'.strip())}{near}"
        )
    _more(out, counts.get("missed", 0))
    for n, method, params in report.never_asked[:SHOWN]:
        out.note(f"never requested: event {n} {out.safe(f'{method} {params}'.strip())}")
    _more(out, report.never_asked_count)
    for made in report.recordings[:SHOWN]:
        out.note(f"recording: {out.safe(made)}")


def _more(out: Output, count: int) -> None:
    if count > SHOWN:
        out.note(f"… and {count - SHOWN:,} more")


def fault(word: str) -> Any:
    """A fault, `KIND[=VALUE][@FILTER][%PERCENT]`."""
    from inspector.replay.mock.faults import parse_fault

    return parse_fault(word)


SERVE = Verb(
    "serve",
    run,
    slots=(PositionalArgument("file", completes="recording"),),
    target="optional",
    without=_MEANINGLESS,
    options=(
        Option("--http", "Serve over Streamable HTTP; default: loopback and a free port", BIND_ADDRESS),
        Option(
            "--match",
            "Match requests by method and params (default); each recorded request once (exact); by method if no "
            "params match (method); by order (sequence)",
            choices=("exact", "params", "method", "sequence"),
        ),
        Option(
            "--on-miss",
            "Without a match: return an error, the last answer, or the answer of TARGET",
            choices=("error", "last", "passthrough"),
        ),
        Option(
            "--pace",
            "Answer immediately (fast, the default), at the recorded pace, or by a factor",
            Value("recorded|fast|FACTOR", pace),
        ),
        Option(
            "--fault",
            "Inject a fault: delay=MS, drop, cut, corrupt, disconnect or error[=CODE]; @FILTER limits it to "
            "matching messages, %PERCENT to a share of them; repeatable",
            Value("FAULT", fault),
            many=True,
        ),
        Option("--seed", "Seed for random faults, to repeat a run", "TEXT"),
        Option("--strict", "Exit with 5 if a request was not in the recording"),
        *ALLOWED,
    ),
)
