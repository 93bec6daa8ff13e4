"""The formats of recordings: each is written, read, or both, by one module that is loaded on demand."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import IO, TYPE_CHECKING, NamedTuple, cast

from inspector.config.output_files import cannot_write, check_free, name_beside, put_in_place
from inspector.config.paths import RECORDING_SUFFIX
from inspector.errors import RecordingError, UsageError
from inspector.feature import features
from inspector.formats.format import CallsImporter, Format
from inspector.hints import Hint, Parameter
from inspector.journal.alterations import names_in
from inspector.journal.journal import Journal
from inspector.text import escape_json

if TYPE_CHECKING:
    from inspector.formats.source import Source

_CORE = {
    "md": Format(
        "a transcript to read, for a bug report", suffix=".md", write="markdown:write", findings=True, addons=True
    ),
    "json": Format(
        "one JSON document with every event",
        suffix=".json",
        write="json_document:write",
        findings=True,
        json=True,
        addons=True,
    ),
    "html": Format(
        "one web page with search, filter and folding", suffix=".html", write="html:write", findings=True, addons=True
    ),
    "jsonl": Format(
        "the bare messages, one per line",
        suffix=".jsonl",
        write="jsonl:write",
        read="jsonl:READER",
        signs="messages, one per line",
        json=True,
        bodies=True,
    ),
    "recording": Format(
        "a recording of the selected events", suffix=RECORDING_SUFFIX, write="recording:write", json=True, addons=True
    ),
    "csv": Format("the exchanges as a table, with their latencies", suffix=".csv", write="csv_table:write"),
    "har": Format(
        "an HTTP Archive for browser tools",
        suffix=".har",
        write="har:write",
        read="har:READER",
        signs="“log” with “entries”",
        json=True,
    ),
    "otlp": Format("OpenTelemetry traces, one span per exchange", suffix=".otlp.json", write="otlp:write", json=True),
    "mermaid": Format("a sequence diagram that GitHub and GitLab draw", suffix=".mmd", write="mermaid:write"),
    "curl": Format(
        "a shell script that sends the messages again", suffix=".sh", write="curl_script:write", bodies=True
    ),
    "python": Format(
        "a Python program that sends the requests again", suffix=".py", write="python_script:write", bodies=True
    ),
    "python-sdk": Format(
        "the same with the official SDK, mcp 2", suffix=".py", write="python_script:write_sdk", bodies=True
    ),
    "pytest": Format(
        "tests that compare with the recorded responses", suffix=".py", write="python_script:write_pytest", bodies=True
    ),
    "calls": Format(
        "a saved call, for inspector run",
        suffix=".calls.yaml",
        write="calls:write",
        findings=True,
        bodies=True,
    ),
    "host-log": Format(
        "the log of a server by Claude Desktop or VS Code",
        read="host_log:READER",
        signs="lines with “Message from client:” or “[editor -> server]”",
    ),
}


def _of_features() -> dict[str, Format]:
    tables = [feature.load_or_skip(feature.formats, dict) for feature in features() if feature.formats]
    return {name: format for table in tables if table is not None for name, format in table.items()}


FORMATS = _of_features() | _CORE
"""The formats by name: those of other tools, then ours."""
WRITABLE = {name: format for name, format in (_CORE | FORMATS).items() if format.write}
ALIASES = {"markdown": "md"}
"""Other names of formats that are written."""
READABLE = {name: FORMATS[name] for name in sorted(FORMATS, key="jsonl".__eq__) if FORMATS[name].read}
"""The formats that are read, in the order in which a file is tried: bare messages fit most files."""


def calls_importers() -> list[CallsImporter]:
    """Return the readers of collections of other tools."""
    loaded = [
        feature.load_or_skip(feature.calls_importer, CallsImporter) for feature in features() if feature.calls_importer
    ]
    return [importer for importer in loaded if importer is not None]


def check(journal: Journal, format: str, numbers: Iterable[int] | None = None) -> None:
    """Raise `UsageError` if an export would be too large for its format, before it starts."""
    if format == "html":
        from inspector.formats.html import check

        every = range(1, len(journal) + 1)
        check(journal, every if numbers is None else (n for n in numbers if n in every))


def export(journal: Journal, format: str, out: IO[str], numbers: Iterable[int] | None = None) -> list[str]:
    """Write the indexed events of `journal` to `out`; `numbers` (from 1) selects events, in order.

    Works with live, unfinished and truncated recordings. Without `numbers`, a transcript shortens the negotiation;
    selected events are written in full. `out` must write text that UTF-8 cannot encode with backslashes
    (`errors="backslashreplace"`). Returns sentences about what the format does not contain. Raises `UsageError` for an
    unknown format, or for a recording that does not fit it.
    """
    writable = WRITABLE.get(ALIASES.get(format, format))
    if writable is None:
        raise UsageError(f"Unknown format “{format[:40]}”.", hint=f"Use one of {', '.join(WRITABLE)}.")
    if writable.bodies and journal.index.dropped:
        numbers = filter(journal.index.is_kept, range(1, len(journal) + 1) if numbers is None else numbers)
    chosen = None if numbers is None else (n for n in numbers if 0 < n <= len(journal))
    notes = writable.writer()(journal, cast("IO[str]", _Escaping(out)) if writable.json else out, chosen)
    if not writable.addons and (names := names_in(journal.header)):
        notes = [*notes, f"It has the messages after the addons {', '.join(names)}, not what they did."]
    return [f"The recording is not complete: {journal.incomplete}.", *notes] if journal.dropped[0] else notes


class _Escaping:
    """The text file interface that formats write to; escapes terminal control characters."""

    def __init__(self, out: IO[str]) -> None:
        self._write = out.write

    def write(self, text: str) -> int:
        return self._write(escape_json(text))

    def writelines(self, lines: Iterable[str]) -> None:
        for line in lines:
            self.write(line)


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
    from inspector.formats.recording_builder import RecordingBuilder
    from inspector.formats.source import Source

    source = Source(path)
    format = recognised(source) if format is None else format
    if format not in READABLE:
        raise UsageError(f"Unknown format “{format[:40]}”.", hint=f"Use one of {', '.join(READABLE)}.")
    if out.exists() and out.samefile(path):
        raise UsageError(f"{out} is the file to import.", hint=Hint("Choose another name with ", Parameter.OUT, "."))
    check_free(out, force=force)
    beside = name_beside(out)
    maker = RecordingBuilder(beside, format, source, limit)
    try:
        READABLE[format].reader().read(maker)
        if not maker.begun or not len(maker.journal):
            raise UsageError(
                f"{path} contains no MCP messages" + (f": {maker.notes[0]}" if maker.notes else "."),
                hint=Hint(
                    f"It was read as {format}; ",
                    Parameter.IMPORT_FORMAT.to("FORMAT"),
                    f" chooses another of {', '.join(READABLE)}.",
                ),
            )
        maker.end()
        try:
            put_in_place(beside, out, force=force)
        except OSError as error:
            raise cannot_write(out, error) from None
        return Imported(format, len(maker.journal), maker.messages, maker.notes)
    except RecordingError as error:
        if isinstance(error.__cause__, OSError):
            raise cannot_write(out, error.__cause__) from None
        raise
    finally:
        maker.release()
        beside.unlink(missing_ok=True)


def recognised(source: Source) -> str:
    """Return the format of a file, by its content. Raises `UsageError` for an unknown one."""
    if any(type(value) is dict and value.get("format") == "mcp-recording" for value in source.first_values()):
        raise UsageError(f"{source.path} is a recording already.", hint=f"Open it: inspector replay {source.path}")
    for name, format in READABLE.items():
        if format.reader().fits(source):
            return name
    looked = "; ".join(f"{name}: {format.signs}" for name, format in READABLE.items())
    raise UsageError(
        f"{source.path} has no known format. The known formats have {looked}.",
        hint=Hint("Set the format with ", Parameter.IMPORT_FORMAT, ", if the start of the file is damaged."),
    )
