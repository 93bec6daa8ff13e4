"""`inspector replay`: the interface on a recording."""

from __future__ import annotations

from typing import TYPE_CHECKING

from inspector.cli.options import Option
from inspector.cli.verb import Slot, Verb
from inspector.cli.verbs import open as interface

if TYPE_CHECKING:
    from inspector.cli.words import Invocation


def run(said: Invocation) -> int:
    """Open the interface on the recording that was named."""
    from inspector.cli.options import path
    from inspector.config.targets import RecordingTarget
    from inspector.journal.journal import Journal

    target = RecordingTarget(path(said.arguments["file"]))
    Journal.open(target.path).release()  # What cannot be read is said here, not on a screen that has just been drawn.
    interface.need_terminal("`inspector export FILE --to md` writes a recording as text.")
    return interface.replay(said, target, follow=bool(said.option("follow")))


VERBS = {
    "replay": Verb(
        "replay",
        run,
        slots=(Slot("file", completes="file"),),
        target="none",
        prints=False,
        options=(Option("--follow", "Show what another process still adds to it."),),
        about="Everything that was on the wire, as if the session were open; nothing is sent anywhere.",
        examples=("inspector replay session.mcp.jsonl", "inspector replay --follow session.mcp.jsonl"),
    )
}
