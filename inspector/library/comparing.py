"""`inspector.diff` and `inspector.rerun`: the commands of these names, with results for programs."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

from inspector.client.new_recording import new_journal
from inspector.client.recorded_session import RecordedSession
from inspector.client.state.surfaces import read_surface, surface_of
from inspector.compare.comparison import ComparedSource, Comparison, compare_both
from inspector.compare.rules import BETWEEN_RUNS, DEFAULT, ComparisonRules, parse_tolerance
from inspector.config.settings import Settings
from inspector.config.targets import RecordingTarget
from inspector.errors import InspectorError, UsageError
from inspector.journal.journal import whole_journal
from inspector.library.opening import open as open_session
from inspector.library.session import Session, parts, running
from inspector.replay.report import RerunReport as RerunReport

if TYPE_CHECKING:
    from inspector.library.apps import InProcess

__all__ = ["Comparison", "RerunReport", "diff", "rerun"]


async def diff(
    a: str | Sequence[str] | InProcess | Session,
    b: str | Sequence[str] | InProcess | Session,
    *,
    surface: bool = True,
    conversation: bool = True,
    ignore: Iterable[str] = (),
    unordered: Iterable[str] = (),
    patterns: Iterable[str] = (),
    tolerances: Iterable[str | float] = (),
    exact: bool = False,
    **options: Any,
) -> Comparison:
    """Compare two servers, two recordings, or one of each.

    `surface`: compare their offers; `conversation`: compare the messages, if both are recordings. `ignore`,
    `unordered`, `patterns`, `tolerances` (`0.01`, `"1%"`, `"PATH=0.01"`) say what may differ; `exact`: times, ids and
    the like must be equal too. `options` are those of `inspector.open`, for the servers; a session that is not
    connected has its own. Raises the error of a server, with “A” or “B” before it.
    """
    rules = _rules(ignore, unordered, patterns, tolerances, exact)
    with ExitStack() as stack:
        first = await _side("A", a, options, stack)
        second = await _side("B", b, options, stack)
        return compare_both(first, second, rules, surface=surface, conversation=conversation)


async def _side(letter: str, target: Any, options: dict[str, Any], stack: ExitStack) -> ComparedSource:
    session = _unconnected(target, options)
    meant, _ = parts(session)
    if isinstance(meant, RecordingTarget):
        journal = stack.enter_context(whole_journal(meant.path))
        recorded = RecordedSession(journal, meant.path)
        while recorded.advance():
            pass
        return ComparedSource(meant, surface_of(recorded), journal)
    try:
        async with session:
            return ComparedSource(meant, await read_surface(session.engine))
    except InspectorError as error:
        error.message = f"{letter} ({meant.label}): {error.message}"
        error.args = (error.message,)
        raise


async def rerun(
    recording: str | os.PathLike[str],
    target: str | Sequence[str] | InProcess | Session,
    *,
    ignore: Iterable[str] = (),
    unordered: Iterable[str] = (),
    patterns: Iterable[str] = (),
    tolerances: Iterable[str | float] = (),
    exact: bool = False,
    carry: Iterable[str] = (),
    pace: float | None = None,
    record: str | os.PathLike[str] | bool = False,
    **options: Any,
) -> RerunReport:
    """Send the recorded client's messages to a live server, and compare each response with the recorded one.

    `carry`: keys whose values the live server chooses itself; `pace`: 1.0 keeps the recorded pauses, None has none;
    `record`: the file of the new recording; the rest as with `diff`. The report says whether it is `clean`; failures of
    the server are not raised. Raises `RecordingError` for a recording without requests.
    """
    from inspector.replay.rerun import Rerun
    from inspector.replay.script import check_source

    rules = _rules(ignore, unordered, patterns, tolerances, exact)
    meant, how = parts(_unconnected(target, options))
    if isinstance(meant, RecordingTarget):
        raise UsageError(f"{meant.describe()} is a recording.", hint="Compare two recordings with inspector.diff.")
    source = Path(recording)
    with whole_journal(source) as journal:
        check_source(journal, source)
        made = new_journal(
            meant, settings=Settings(), record=None if isinstance(record, bool) else Path(record), keep=record is True
        )
        try:
            async with running(meant):
                return await Rerun(journal, meant, made, rules, how, carry=tuple(carry), pace=pace).run()
        finally:
            made.close("closed")
            made.release()


def _unconnected(target: Any, options: dict[str, Any]) -> Session:
    return target if isinstance(target, Session) else open_session(target, **options)


def _rules(
    ignore: Iterable[str],
    unordered: Iterable[str],
    patterns: Iterable[str],
    tolerances: Iterable[str | float],
    exact: bool,
) -> ComparisonRules:
    return (BETWEEN_RUNS if exact else DEFAULT).plus(
        ignore=ignore,
        unordered=unordered,
        patterns=patterns,
        tolerances=[parse_tolerance(str(amount)) for amount in tolerances],
    )
