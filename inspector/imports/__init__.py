"""Files of other recorders, made into recordings: one module per format, loaded when it is asked for."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

from inspector.config.outputs import cannot_write, check_free, name_beside, put_in_place
from inspector.errors import UsageError
from inspector.hints import Hint, Parameter
from inspector.imports.maker import Maker
from inspector.imports.source import Source


class Format(NamedTuple):
    """One format.

    Its module has `fits(source)`, which tells the format by the beginning of a file, and `read(source, maker)`.
    """

    summary: str
    module: str
    signs: str
    """By what it is recognised."""


FORMATS = {
    "mcpsnoop": Format("a session log of mcpsnoop", "mcpsnoop", "lines with “session_id”, “seq” and “direction”"),
    "mcp-cassette": Format("a cassette of mcp-cassette", "mcp_cassette", "“format_version” with “messages”"),
    "mcp-recorder": Format("a cassette of mcp-recorder", "mcp_recorder", "“interactions” with “metadata”"),
    "mcporter": Format("a recording of mcporter", "mcporter", "messages, one a line, with “_meta.dir”"),
    "har": Format("an HTTP Archive 1.2 of a browser, a proxy or ours", "har", "“log” with “entries”"),
    "inspector": Format(
        "the protocol, network or console export of the official MCP Inspector", "official",
        "a list of entries with “timestamp” and “message” or “requestHeaders”",
    ),
    "jsonl": Format("bare messages, one a line", "jsonl", "messages, one a line"),
}  # fmt: skip
"""The formats by name."""


class Imported(NamedTuple):
    """What an import made."""

    format: str
    events: int
    messages: int
    notes: list[str]
    """What the format did not keep, and what could not be read, in sentences."""


def import_file(path: Path, out: Path, format: str | None = None, *, force: bool = False) -> Imported:
    """Make a recording in `out` of the file of another recorder; `force` replaces an existing file.

    The format is told by the content where it is not given. Raises `UsageError` where the file cannot be read, is of
    no known format, or holds nothing of MCP; `out` is not touched then.
    """
    source = Source(path)
    format = recognised(source) if format is None else format
    if format not in FORMATS:
        raise UsageError(f"There is no format “{format[:40]}”.", hint=f"Formats are {', '.join(FORMATS)}.")
    if out.exists() and out.samefile(path):
        raise UsageError(f"{out} is the file to import.", hint=Hint("Choose another name with ", Parameter.OUT, "."))
    check_free(out, force=force)
    beside = name_beside(out)
    maker = Maker(beside, format, source)
    try:
        _module(FORMATS[format]).read(source, maker)
        if not maker.begun or not len(maker.journal):
            raise UsageError(
                f"There is nothing of MCP in {path}" + (f": {maker.notes[0]}" if maker.notes else "."),
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
    """The format of a file, by its content. Raises `UsageError` where it is none of those known."""
    if any(type(value) is dict and value.get("format") == "mcp-recording" for value in source.first_values()):
        raise UsageError(f"{source.path} is a recording already.", hint=f"Open it: inspector replay {source.path}")
    for name, format in FORMATS.items():
        if _module(format).fits(source):
            return name
    looked = "; ".join(f"{name}: {format.signs}" for name, format in FORMATS.items())
    raise UsageError(
        f"{source.path} is of no format that is known here. Looked for {looked}.",
        hint=Hint("Name the format with ", Parameter.IMPORT_FORMAT, ", where the beginning of the file is damaged."),
    )


def _module(format: Format) -> Any:
    from importlib import import_module

    return import_module(f"inspector.imports.{format.module}")
