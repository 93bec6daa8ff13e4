"""Exports of recordings. The writer of a format is loaded on demand."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from importlib import import_module
from typing import IO, NamedTuple, cast

from inspector.errors import UsageError
from inspector.journal.journal import Journal
from inspector.text import escape_json

Writer = Callable[[Journal, IO[str], "Iterable[int] | None"], list[str]]
"""Writes events to a file, and returns sentences about what the format does not contain.

Without numbers it selects the events itself.
"""


class ExportFormat(NamedTuple):
    """One format."""

    summary: str
    writer: str
    """Its `Writer`: `MODULE:NAME` in this package, loaded on demand."""
    suffix: str
    """The suffix of its files."""
    findings: bool = False
    """Whether it contains the findings."""
    json: bool = False
    """Whether all of it is JSON, or each line: terminal control characters are then escaped while writing."""
    bodies: bool = False
    """Whether it consists of messages: those without a recorded body are omitted."""

    def load(self) -> Writer:
        """Return the writer."""
        module, _, name = self.writer.partition(":")
        found: Writer = getattr(import_module(f"inspector.export.{module}"), name)
        return found


FORMATS = {
    "md": ExportFormat("a transcript to read, for a bug report", "markdown:write", ".md", findings=True),
    "json": ExportFormat("one JSON document with every event", "json_export:write", ".json", findings=True, json=True),
    "html": ExportFormat("one web page with search, filter and folding", "html:write", ".html", findings=True),
    "jsonl": ExportFormat(
        "the bare messages, one per line", "json_export:write_lines", ".jsonl", json=True, bodies=True
    ),
    "recording": ExportFormat("a recording of the selected events", "recording:write", ".mcp.jsonl", json=True),
    "csv": ExportFormat("the exchanges as a table, with their latencies", "csv_export:write", ".csv"),
    "har": ExportFormat("an HTTP Archive for browser tools", "har:write", ".har", json=True),
    "otlp": ExportFormat("OpenTelemetry traces, one span per exchange", "otlp:write", ".otlp.json", json=True),
    "mermaid": ExportFormat("a sequence diagram that GitHub and GitLab draw", "mermaid:write", ".mmd"),
    "curl": ExportFormat("a shell script that sends the messages again", "curl_script:write", ".sh", bodies=True),
    "python": ExportFormat("a Python program that sends the requests again", "python_script:write", ".py", bodies=True),
    "python-sdk": ExportFormat("the same with the official SDK, mcp 2", "python_script:write_sdk", ".py", bodies=True),
    "pytest": ExportFormat(
        "tests that compare with the recorded responses", "python_script:write_pytest", ".py", bodies=True
    ),
    "calls": ExportFormat(
        "a flow of saved calls, for inspector run", "calls:write", ".calls.yaml", findings=True, bodies=True
    ),
    "mcp-cassette": ExportFormat(
        "a cassette of mcp-cassette", "recorders:write_mcp_cassette", ".cassette.json", json=True, bodies=True
    ),
    "mcp-recorder": ExportFormat(
        "a cassette of mcp-recorder", "recorders:write_mcp_recorder", ".recorder.json", json=True, bodies=True
    ),
    "mcpsnoop": ExportFormat(
        "a session log of mcpsnoop", "recorders:write_mcpsnoop", ".mcpsnoop.jsonl", json=True, bodies=True
    ),
    "mcporter": ExportFormat("a recording of mcporter", "recorders:write_mcporter", ".ndjson", json=True, bodies=True),
}
"""The formats by name."""


def check(journal: Journal, format: str, numbers: Iterable[int] | None = None) -> None:
    """Raise `UsageError` if an export would be too large for its format, before it starts."""
    if format == "html":
        from inspector.export.html import check

        every = range(1, len(journal) + 1)
        check(journal, every if numbers is None else (n for n in numbers if n in every))


def export(journal: Journal, format: str, out: IO[str], numbers: Iterable[int] | None = None) -> list[str]:
    """Write the indexed events of `journal` to `out`; `numbers` (from 1) selects events, in order.

    Works with live, unfinished and truncated recordings. Without `numbers`, a transcript shortens the negotiation;
    selected events are written in full. `out` must write text that UTF-8 cannot encode with backslashes
    (`errors="backslashreplace"`). Returns sentences about what the format does not contain. Raises `UsageError` for an
    unknown format, or for a recording that does not fit it.
    """
    found = FORMATS.get(format)
    if found is None:
        raise UsageError(f"Unknown format “{format[:40]}”.", hint=f"Use one of {', '.join(FORMATS)}.")
    if found.bodies and journal.index.dropped:
        numbers = filter(journal.index.is_kept, range(1, len(journal) + 1) if numbers is None else numbers)
    chosen = None if numbers is None else (n for n in numbers if 0 < n <= len(journal))
    notes = found.load()(journal, cast("IO[str]", _Escaping(out)) if found.json else out, chosen)
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
