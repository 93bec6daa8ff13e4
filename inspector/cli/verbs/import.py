"""`inspector import`: converts the file of another recorder to a recording, or a collection to saved calls."""

from __future__ import annotations

from typing import TYPE_CHECKING

from inspector.cli.options import FORCE, Option, Value, new_file, path
from inspector.cli.output import Output
from inspector.cli.output_files import forced
from inspector.cli.session_setup import settings_of
from inspector.cli.verb import PositionalArgument, Verb
from inspector.errors import UsageError
from inspector.imports import FORMATS, import_file
from inspector.imports.flows import import_calls, recognised_client
from inspector.imports.saved_requests import CLIENTS
from inspector.text import quantity

if TYPE_CHECKING:
    from pathlib import Path

    from inspector.cli.verb import Invocation


def run(invocation: Invocation) -> int:
    """Write the recording, and print what the other format lacks."""
    out = invocation.output
    source, written = path(invocation.arguments["file"]), invocation.option("output")
    if written is None:
        raise UsageError("`inspector import` needs -o OUT.", hint="Give the recording or folder to write with -o OUT.")
    wanted = invocation.option("from")
    client = wanted if wanted in CLIENTS else None
    if client or (wanted is None and (client := recognised_client(source))):
        return _import_calls(out, source, written, client)
    limit = settings_of(invocation).max_recording_bytes
    made = import_file(source, written, wanted, force=forced(invocation), limit=limit)
    if out.json:
        out.document(
            {
                "path": str(source.absolute()),
                "format": made.format,
                "written": str(written.absolute()),
                "events": made.events,
                "messages": made.messages,
                "notes": made.notes,
            }
        )
        return 0
    for note in made.notes:
        out.note(f"note: {out.safe(note)}")
    out.written(written)
    out.note(f"{quantity(made.messages, 'message')}, read as {made.format}.")
    return 0


def _import_calls(out: Output, source: Path, folder: Path, client: str) -> int:
    """Write flows into a folder, and say what is not in them."""
    made = import_calls(source, folder, client)
    if out.json:
        out.document(
            {
                "path": str(source.absolute()),
                "format": client,
                "written": str(folder.absolute()),
                "files": [str(file.absolute()) for file in made.files],
                "flows": made.flows,
                "steps": made.steps,
                "notes": made.notes,
            }
        )
        return 0
    for note in made.notes:
        out.note(f"note: {out.safe(note)}")
    for file in made.files:
        out.written(file)
    out.note(f"{quantity(made.flows, 'flow')} with {quantity(made.steps, 'step')}, read as {CLIENTS[client].client}.")
    return 0


IMPORT = Verb(
    "import",
    run,
    slots=(PositionalArgument("file", completes="file"),),
    target="none",
    options=(
        Option("-o --output", "Recording or folder to write", Value("OUT", new_file, "file")),
        FORCE,
        Option("--from", "Format of FILE; default: detected from its content", "FORMAT", choices=(*FORMATS, *CLIENTS)),
    ),
    texts={
        "formats": "; ".join(f"{name} ({format.summary})" for name, format in FORMATS.items()),
        "clients": ", ".join(CLIENTS),
    },
)
