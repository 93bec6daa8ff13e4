"""`inspector import`: converts the file of another recorder to a recording."""

from __future__ import annotations

from typing import TYPE_CHECKING

from inspector.cli.files import forced
from inspector.cli.options import FORCE, Option, new_file, path
from inspector.cli.output import Output
from inspector.cli.verb import Slot, Verb
from inspector.errors import UsageError
from inspector.imports import FORMATS, import_file

if TYPE_CHECKING:
    from inspector.cli.verb import Invocation

NAME = 200


def run(said: Invocation) -> int:
    """Write the recording, and print what the other format lacks."""
    out = Output.of(said)
    source, written = path(said.arguments["file"]), said.option("output")
    if written is None:
        raise UsageError("`inspector import` needs -o OUT.", hint="Give the recording to write with -o OUT.")
    made = import_file(source, written, said.option("from"), force=forced(said))
    if out.json:
        out.document(
            {
                "file": str(source), "format": made.format, "written": str(written), "events": made.events,
                "messages": made.messages, "notes": made.notes,
            }
        )  # fmt: skip
        return 0
    for note in made.notes:
        out.note(f"note: {out.safe(note)}")
    out.line(f"written: {out.safe(str(written), NAME)}; {made.messages:,} messages from the format {made.format}.")
    return 0


VERBS = {
    "import": Verb(
        "import",
        run,
        slots=(Slot("file", completes="file"),),
        target="none",
        options=(
            Option("-o --output", "Recording to write", "OUT", read=new_file, completes="file"),
            FORCE,
            Option("--from", "Format of FILE; default: detected from its content", "FORMAT", choices=tuple(FORMATS)),
        ),
        about=(
            "Formats: "
            + "; ".join(f"{name} ({format.summary})" for name, format in FORMATS.items())
            + ". The format is detected from the content. Notes on stderr and in the recording say what FILE lacks."
        ),
        examples=(
            "inspector import session.cassette.json -o session.mcp.jsonl",
            "inspector import network.har -o network.mcp.jsonl",
            "inspector import --from jsonl messages.log -o messages.mcp.jsonl",
        ),
    )
}
