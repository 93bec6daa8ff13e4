"""`inspector import`: the file of another recorder as a recording, or the collection of an API client as flows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from inspector.cli.files import forced
from inspector.cli.options import FORCE, Option, new_file, path
from inspector.cli.output import Output
from inspector.cli.verb import Slot, Verb
from inspector.errors import UsageError
from inspector.imports import FORMATS, import_file
from inspector.imports.flows import CLIENTS, import_calls, recognised_client
from inspector.text import quantity

if TYPE_CHECKING:
    from pathlib import Path

    from inspector.cli.verb import Invocation

NAME = 200


def run(said: Invocation) -> int:
    """Make the recording, and say what the other format did not keep."""
    out = Output.of(said)
    source, written = path(said.arguments["file"]), said.option("output")
    if written is None:
        raise UsageError("`inspector import` needs -o OUT.", hint="OUT is the recording or the folder to make.")
    client = said.option("from") if said.option("from") in CLIENTS else None
    if client or (said.option("from") is None and (client := recognised_client(source))):
        return _import_calls(out, source, written, client)
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
    out.line(f"written: {out.safe(str(written), NAME)}; {made.messages:,} messages, read as {made.format}.")
    return 0


def _import_calls(out: Output, source: Path, folder: Path, client: str) -> int:
    """Write flows into a folder, and say what is not in them."""
    made = import_calls(source, folder, client)
    if out.json:
        out.document(
            {
                "file": str(source), "format": client, "written": str(folder),
                "files": [str(file) for file in made.files], "flows": made.flows, "steps": made.steps,
                "notes": made.notes,
            }
        )  # fmt: skip
        return 0
    for note in made.notes:
        out.note(f"note: {out.safe(note)}")
    for file in made.files:
        out.line(f"written: {out.safe(str(file), NAME)}")
    out.line(f"{quantity(made.flows, 'flow')} with {quantity(made.steps, 'step')}, read as {CLIENTS[client]}.")
    return 0


VERBS = {
    "import": Verb(
        "import",
        run,
        slots=(Slot("file", completes="file"),),
        target="none",
        options=(
            Option(
                "-o --output", "The recording to make, or the folder for flows.", "OUT", read=new_file, completes="file"
            ),
            FORCE,
            Option("--from", "The format, where the content does not tell.", "FORMAT", choices=(*FORMATS, *CLIENTS)),
        ),
        about=(
            "Formats: "
            + "; ".join(f"{name} ({format.summary})" for name, format in FORMATS.items())
            + ". Collections of API clients become a folder of saved calls for `inspector run`: "
            + ", ".join(CLIENTS)
            + ". The format is recognised by the content. Notes say what it did not keep. --force replaces a "
            "recording; files of saved calls are never replaced."
        ),
        examples=(
            "inspector import session.cassette.json -o session.mcp.jsonl",
            "inspector import network.har -o network.mcp.jsonl",
            "inspector import --from jsonl messages.log -o messages.mcp.jsonl",
            "inspector import shop.postman_collection.json -o calls",
        ),
    )
}
