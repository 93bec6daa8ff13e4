"""`inspector replay`: opens a recording in the interface."""

from __future__ import annotations

from typing import TYPE_CHECKING

from inspector.cli.options import Option, Value, span
from inspector.cli.verb import PositionalArgument, Verb
from inspector.cli.verbs import open as interface
from inspector.errors import UsageError

if TYPE_CHECKING:
    from inspector.cli.verb import Invocation


def run(invocation: Invocation) -> int:
    """Open the interface on the given recording."""
    from inspector.cli.options import recording
    from inspector.config.targets import RecordingTarget
    from inspector.journal.journal import Journal

    target = RecordingTarget(recording(invocation.arguments["file"]))
    # Report an unreadable file here, before the screen is drawn.
    journal = Journal.open(target.path)
    try:
        at = invocation.option("at") or ""
        if at:
            from inspector.replay import positions

            positions.read(at, journal)
    finally:
        journal.release()
    interface.need_terminal("Write a recording as text with `inspector export FILE --to md`.")
    playing = {name: invocation.option(name) for name in ("speed", "gap") if invocation.option(name) is not None}
    return interface.replay(invocation, target, follow=bool(invocation.option("follow")), at=at, **playing)


def speed(word: str) -> float:
    """The playback speed: a factor, or `max`."""
    from inspector.replay import speeds

    factor = speeds.read(word)
    if factor is None:
        raise UsageError(f"“{word[:60]}” is not a speed.", hint="Use a factor from 0.1 to 100, or max.")
    return factor


REPLAY = Verb(
    "replay",
    run,
    slots=(PositionalArgument("file", completes="recording"),),
    target="none",
    prints=False,
    options=(
        Option("--follow", "Show events that another process still appends"),
        Option("--at", "Start position: 01:12.3, 'at 13:05', 1204 (an event), start or end", "PLACE"),
        Option("--speed", "Playback speed from 0.1 to 100, or max", Value("FACTOR", speed)),
        Option("--gap", "Longest pause in playback; default 2s; 0 keeps recorded pauses", Value("TIME", span)),
    ),
)
