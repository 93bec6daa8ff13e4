"""`inspector tap`: a proxy between a client and its server that records the traffic."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from inspector.cli import program_name, session_setup
from inspector.cli.options import ADDON, Option
from inspector.cli.output import Output
from inspector.cli.output_files import kept_folder
from inspector.cli.serve_options import ALLOWED, BIND_ADDRESS, HostPort, ended_by_signals
from inspector.cli.telemetry import Telemetry
from inspector.cli.verb import Verb
from inspector.config.targets import HttpTarget, StdioTarget
from inspector.errors import ConnectionProblem, UsageError

if TYPE_CHECKING:
    from pathlib import Path

    from inspector.cli.verb import Invocation
    from inspector.client.options import Options
    from inspector.journal.journal import Journal
    from inspector.tap.bridge import Bridge

_MEANINGLESS = ("root", "sampling", "elicit", "log-level", "era", "revision", "timeout", "force", "trace")
"""Options of a session. The client behind the tap decides these, and a tap never overwrites a recording."""


def run(invocation: Invocation) -> int:
    """Forward messages until one side closes. Over stdio, returns the exit code of the server."""
    out = invocation.output
    name = invocation.option("install")
    if name is not None:
        return _install(invocation, out, name)
    target = session_setup.live_target(invocation)
    acts = _acts(invocation, out)
    where: HostPort | None = invocation.option("listen")
    if where is not None:
        return asyncio.run(_listen(invocation, out, target, where, acts=acts))
    if isinstance(target, HttpTarget):
        return asyncio.run(_stdio_to_http(invocation, out, target))
    return asyncio.run(_stdio_to_command(invocation, out, target))


def _acts(invocation: Invocation, out: Output) -> bool:
    """Whether addons may change the messages; loads them, and says so."""
    settings = session_setup.settings_of(invocation)
    if session_setup.filter_of(invocation, settings) is None:
        return False
    names = ", ".join(os.path.basename(file) for file in settings.addons)
    out.warn(f"note: This tap acts: {out.safe(names, 400)} may change each message.")
    return True


async def _stdio_to_command(invocation: Invocation, out: Output, target: StdioTarget) -> int:
    from inspector.tap.stdio import run_tap

    telemetry = _telemetry(invocation, out)
    journal = _journal(invocation, out, target, telemetry)
    try:
        # The client has chosen the environment for its server: forward all of it.
        filter = session_setup.filter_of(invocation, session_setup.settings_of(invocation))
        return await run_tap(target.command, journal, {**os.environ, **target.env}, target.cwd, filter)
    finally:
        journal.close("closed")
        session_setup.warn_of_incomplete(out, journal)
        journal.release()
        with ended_by_signals():
            await _finished(telemetry)


async def _finished(telemetry: Telemetry) -> None:
    """Send the spans that are left, in a thread: a client that does not wait sends SIGTERM meanwhile.

    The caller handles the signals: the first one must not end us, the second one must.
    """
    await asyncio.to_thread(telemetry.finish)


async def _stdio_to_http(invocation: Invocation, out: Output, target: HttpTarget) -> int:
    from inspector.serving.stdio import StdioServer
    from inspector.tap.bridge import Bridge

    telemetry = _telemetry(invocation, out)
    recorder = partial(_journal, invocation, out, target, telemetry)
    on_ended = partial(session_setup.warn_of_incomplete, out)
    bridge = Bridge(target, recorder, _options(invocation, target), _complain, ended=on_ended)
    with ended_by_signals() as stop:
        how = await StdioServer(bridge.opens).run(stop)
        await _finished(telemetry)
    if bridge.failed is not None and (how == "dropped" or _unreached(bridge)):
        out.error(bridge.failed)
        return bridge.failed.exit_code
    return 0


async def _listen(
    invocation: Invocation, out: Output, target: StdioTarget | HttpTarget, where: HostPort, *, acts: bool
) -> int:
    """Serve the client over HTTP."""
    names, origins = tuple(invocation.option("allow-host", ())), tuple(invocation.option("allow-origin", ()))
    telemetry = _telemetry(invocation, out)
    recorder = partial(_journal, invocation, out, target, telemetry)
    with ended_by_signals() as stop:
        if isinstance(target, HttpTarget) and not acts:
            from inspector.tap.http import HttpTap

            journal = recorder()
            tap = HttpTap(target, journal, *where, names, origins)
            try:
                await tap.start()
                _say_where(out, tap.url, where, target)
                await stop.wait()
            finally:
                await tap.close()
                journal.close("closed")
                session_setup.warn_of_incomplete(out, journal)
                journal.release()
        else:
            from inspector.serving.http import Binding, HttpServer
            from inspector.tap.bridge import Bridge

            on_ended = partial(session_setup.warn_of_incomplete, out)
            bridge = Bridge(target, recorder, _options(invocation, target, lends=False), _complain, ended=on_ended)
            end = HttpServer(bridge.opens, *where, Binding(names=names, origins=origins))
            try:
                await end.start()
                _say_where(out, end.url, where, target)
                await stop.wait()
            finally:
                await end.close()
            if bridge.failed is not None and _unreached(bridge):
                out.error(bridge.failed)
    telemetry.finish()
    return 0


def _unreached(bridge: Bridge) -> bool:
    """Whether the last connection to the server could not be made."""
    return isinstance(bridge.failed, ConnectionProblem) and bridge.failed.connecting


def _say_where(out: Output, url: str, where: HostPort, target: StdioTarget | HttpTarget) -> None:
    from inspector.addresses import is_loopback

    out.aside(f"{url} forwards to {out.safe(target.describe())}\n")
    if not is_loopback(where[0]):
        out.warn("note: Other machines on the network can connect, and reach the server through it.")


def _options(invocation: Invocation, target: StdioTarget | HttpTarget, *, lends: bool = True) -> Options:
    """The options of a connection to the server; without `lends`, a kept login is not lent to every local program."""
    from inspector.cli import login_options

    settings = session_setup.settings_of(invocation)
    options = session_setup.options_of(invocation, target, settings, in_interface=False)
    if lends or options.authorize is None:
        return options
    return replace(options, authorize=login_options.authorize(invocation, settings, in_interface=False, keeps=False))


def _telemetry(invocation: Invocation, out: Output) -> Telemetry:
    return Telemetry(out, invocation.option("otlp") or session_setup.settings_of(invocation).otlp)


def _journal(invocation: Invocation, out: Output, target: StdioTarget | HttpTarget, telemetry: Telemetry) -> Journal:
    """The recording of a client; next to the given file if that file belongs to another client.

    A client starts its servers repeatedly with the same words: none of these starts may fail because the file exists.
    """
    from inspector.cli.serve_options import numbered
    from inspector.client.new_recording import new_journal
    from inspector.errors import RecordingExists

    settings = session_setup.settings_of(invocation)
    named: Path | None = kept_folder(invocation) or invocation.option("record")
    keep = settings.record and not invocation.option("no-record")
    number, record = 1, named
    while True:
        try:
            journal = new_journal(target, record=record, keep=keep, settings=settings, purpose="tap")
            break
        except RecordingExists:
            # Creating the file claims it, even if many taps start at once.
            if named is None or record is None or not record.is_file():
                raise
            number += 1
            record = numbered(named, number)
    for notice in journal.notices:
        out.note(f"note: {out.safe(notice)}")
    telemetry.follow(journal)
    return journal


def _complain(lines: Sequence[bytes]) -> None:
    """The server's stderr is ours."""
    try:
        os.write(2, b"".join(line + b"\n" for line in lines))
    except OSError:
        pass


def _install(invocation: Invocation, out: Output, name: str) -> int:
    """Print the config entry `name` with a tap added; changes no file."""
    from inspector.config.servers import find_servers

    if invocation.target_words or invocation.command:
        raise UsageError(
            "--install takes the name of an entry, and no target.",
            hint=f"Example: inspector tap --install {name[:40]}",
        )
    entry = find_servers(config=invocation.option("config")).find(name)
    out.note(f"{out.safe(entry.source_label)}, {out.safe(str(entry.path))}: replace “{out.safe(entry.name)}” with")
    if entry.kind == "http":
        out.note("For a client that uses HTTP, configure the URL that `inspector tap --listen PORT` prints instead.")
    out.document({entry.name: tapped(dict(entry.raw), entry.reference or f"@{entry.name}")})
    return 0


def tapped(raw: dict[str, Any], reference: str) -> dict[str, Any]:
    """A client's config entry with a tap before its server, otherwise unchanged."""
    command, args = raw.get("command"), raw.get("args")
    ours = [*program_name.command(), "tap"]
    if isinstance(command, list):
        return {**raw, "command": [*ours, "--", *command]}
    if isinstance(command, str):
        words = [command, *args] if isinstance(args, list) else [command]
        return {**raw, "command": ours[0], "args": [*ours[1:], "--", *words]}
    kept = {key: value for key, value in raw.items() if key not in ("url", "type", "transport", "headers", "serverUrl")}
    return {**kept, "command": ours[0], "args": [*ours[1:], reference]}


TAP = Verb(
    "tap",
    run,
    target="optional",
    prints=False,
    without=_MEANINGLESS,
    options=(
        Option("--listen", "Listen for the client over HTTP; default: loopback and a free port", BIND_ADDRESS),
        *ALLOWED,
        ADDON,
        Option("--otlp", "Stream spans to this OpenTelemetry collector (OTLP/HTTP)", "URL"),
        Option("--install", "Print entry NAME of a client's config file with the tap added", "NAME"),
    ),
)
