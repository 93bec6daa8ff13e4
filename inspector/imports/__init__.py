"""Files of other recorders, converted to recordings. The reader of a format is loaded on demand."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import NamedTuple

from inspector.config.output_files import cannot_write, check_free, name_beside, put_in_place
from inspector.errors import UsageError
from inspector.hints import Hint, Parameter
from inspector.imports.recording_builder import FormatReader, RecordingBuilder
from inspector.imports.source import Source


class ImportFormat(NamedTuple):
    """One format."""

    summary: str
    reader: str
    """The `FormatReader` of the format: `MODULE:NAME` in this package, loaded on demand."""
    signs: str
    """The members that identify the format."""

    def load(self) -> FormatReader:
        """Return the reader."""
        module, _, name = self.reader.partition(":")
        found: FormatReader = getattr(import_module(f"inspector.imports.{module}"), name)
        return found


FORMATS = {
    "mcpsnoop": ImportFormat(
        "a session log of mcpsnoop", "recorders:MCPSNOOP", "lines with “session_id”, “seq” and “direction”"
    ),
    "mcp-cassette": ImportFormat(
        "a cassette of mcp-cassette", "recorders:MCP_CASSETTE", "“format_version” with “messages”"
    ),
    "mcp-recorder": ImportFormat(
        "a cassette of mcp-recorder", "recorders:MCP_RECORDER", "“interactions” with “metadata”"
    ),
    "mcporter": ImportFormat(
        "a recording of mcporter", "recorders:MCPORTER", "messages, one per line, with “_meta.dir”"
    ),
    "har": ImportFormat(
        "an HTTP Archive 1.2 of a browser, a proxy or Inspector", "http_messages:HAR", "“log” with “entries”"
    ),
    "inspector": ImportFormat(
        "the protocol, network or console export of the official MCP Inspector",
        "http_messages:OFFICIAL",
        "a list of entries with “timestamp” and “message” or “requestHeaders”",
    ),
    "host-log": ImportFormat(
        "the log of a server by Claude Desktop or VS Code",
        "message_logs:HOST_LOG",
        "lines with “Message from client:” or “[editor -> server]”",
    ),
    "jsonl": ImportFormat("bare messages, one per line", "message_logs:JSONL", "messages, one per line"),
}
"""The formats by name."""


class Imported(NamedTuple):
    """The result of an import."""

    format: str
    events: int
    messages: int
    notes: list[str]
    """What the format does not keep, and what could not be read, as sentences."""


def import_file(
    path: Path, out: Path, format: str | None = None, *, force: bool = False, limit: int | None = None
) -> Imported:
    """Convert the file of another recorder to a recording in `out`; `force` replaces an existing file.

    `limit` is the largest size of the recording in bytes; a note says what did not fit.

    Without `format`, the content determines it. Raises `UsageError` if the file cannot be read, has no known format, or
    contains no MCP messages; `out` is unchanged then.
    """
    source = Source(path)
    format = recognised(source) if format is None else format
    if format not in FORMATS:
        raise UsageError(f"Unknown format “{format[:40]}”.", hint=f"Use one of {', '.join(FORMATS)}.")
    if out.exists() and out.samefile(path):
        raise UsageError(f"{out} is the file to import.", hint=Hint("Choose another name with ", Parameter.OUT, "."))
    check_free(out, force=force)
    beside = name_beside(out)
    maker = RecordingBuilder(beside, format, source, limit)
    try:
        FORMATS[format].load().read(maker)
        if not maker.begun or not len(maker.journal):
            raise UsageError(
                f"{path} contains no MCP messages" + (f": {maker.notes[0]}" if maker.notes else "."),
                hint=Hint(
                    f"It was read as {format}; ",
                    Parameter.IMPORT_FORMAT.to("FORMAT"),
                    f" chooses another of {', '.join(FORMATS)}.",
                ),
            )
        maker.end()
        try:
            put_in_place(beside, out, force=force)
        except OSError as error:
            raise cannot_write(out, error) from None
        return Imported(format, len(maker.journal), maker.messages, maker.notes)
    finally:
        maker.release()
        beside.unlink(missing_ok=True)


def recognised(source: Source) -> str:
    """Return the format of a file, by its content. Raises `UsageError` for an unknown one."""
    if any(type(value) is dict and value.get("format") == "mcp-recording" for value in source.first_values()):
        raise UsageError(f"{source.path} is a recording already.", hint=f"Open it: inspector replay {source.path}")
    for name, format in FORMATS.items():
        if format.load().fits(source):
            return name
    looked = "; ".join(f"{name}: {format.signs}" for name, format in FORMATS.items())
    raise UsageError(
        f"{source.path} has no known format. The known formats have {looked}.",
        hint=Hint("Set the format with ", Parameter.IMPORT_FORMAT, ", if the start of the file is damaged."),
    )
