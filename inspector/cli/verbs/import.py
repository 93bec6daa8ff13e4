"""`inspector import`: converts the file of another recorder to a recording, or a collection to saved calls."""

from __future__ import annotations

from typing import TYPE_CHECKING

from inspector.cli.options import FORCE, Option, Value, new_file, path
from inspector.cli.output import Output
from inspector.cli.output_files import forced
from inspector.cli.session_setup import settings_of
from inspector.cli.verb import PositionalArgument, Verb
from inspector.errors import UsageError
from inspector.formats import READABLE, calls_importers, import_file
from inspector.text import quantity

if TYPE_CHECKING:
    from pathlib import Path

    from inspector.cli.verb import Invocation
    from inspector.formats.format import CallsImporter

_IMPORTERS = calls_importers()
_TOOLS = [tool for importer in _IMPORTERS for tool in importer.tools]


def run(invocation: Invocation) -> int:
    """Write the recording, and print what the other format lacks."""
    out = invocation.output
    source, written = path(invocation.arguments["file"]), invocation.option("output")
    if written is None:
        raise UsageError("`inspector import` needs -o OUT.", hint="Give the recording or folder to write with -o OUT.")
    chosen = invocation.option("from")
    for importer in _IMPORTERS:
        tool = importer.recognised(source) if chosen is None else chosen if chosen in importer.tools else None
        if tool is not None:
            return _import_calls(out, source, written, importer, tool)
    limit = settings_of(invocation).max_recording_bytes
    made = import_file(source, written, chosen, force=forced(invocation), limit=limit)
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


def _import_calls(out: Output, source: Path, folder: Path, importer: CallsImporter, tool: str) -> int:
    """Write flows into a folder, and say what is not in them."""
    made = importer.read(source, folder, tool)
    if out.json:
        out.document(
            {
                "path": str(source.absolute()),
                "format": tool,
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
    out.note(
        f"{quantity(made.flows, 'saved call')} with {quantity(made.steps, 'step')}, read as {importer.tools[tool]}."
    )
    return 0


IMPORT = Verb(
    "import",
    run,
    slots=(PositionalArgument("file", completes="file"),),
    target="none",
    options=(
        Option("-o --output", "Recording or folder to write", Value("OUT", new_file, "file")),
        FORCE,
        Option("--from", "Format of FILE; default: detected from its content", "FORMAT", choices=(*READABLE, *_TOOLS)),
    ),
    texts={
        "formats": "; ".join(f"{name} ({format.summary})" for name, format in READABLE.items()),
        "clients": ", ".join(_TOOLS),
    },
)
