"""`inspector replay`: opens a recording in the interface."""

from __future__ import annotations

from typing import TYPE_CHECKING

from inspector.cli.options import Option, span
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

    found = speeds.read(word)
    if found is None:
        raise UsageError(f"“{word[:60]}” is not a speed.", hint="Use a factor from 0.1 to 100, or max.")
    return found


VERBS = {
    "replay": Verb(
        "replay",
        run,
        slots=(PositionalArgument("file", completes="recording"),),
        target="none",
        prints=False,
        options=(
            Option("--follow", "Show events that another process still appends"),
            Option("--at", "Start position: 01:12.3, 'at 13:05', 1204 (an event), start or end", "PLACE"),
            Option("--speed", "Playback speed from 0.1 to 100, or max", "FACTOR", read=speed),
            Option(
                "--gap",
                "Longest pause in playback; default 2s; 0 keeps recorded pauses",
                "TIME",
                read=span,
            ),
        ),
        about=(
            "Shows the recorded session as if it were open, and sends nothing. Starts at the end; space plays, arrow "
            "keys step, and lists, calls and requests show the state at that moment."
        ),
        examples=(
            "inspector replay session.mcp.jsonl",
            "inspector replay --follow session.mcp.jsonl",
            "inspector replay --at 0:01 --speed 4 session.mcp.jsonl",
        ),
    )
}
