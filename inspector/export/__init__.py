"""Exports of recordings: one module per format, loaded on demand."""

from __future__ import annotations

from collections.abc import Iterable
from typing import IO, Any, NamedTuple

from inspector.errors import UsageError
from inspector.journal.journal import Journal
from inspector.text import escape_json


class ExportFormat(NamedTuple):
    """One format.

    Its module has `write(journal, out, numbers)`, which returns sentences about what the format does not contain.
    Without numbers it selects the events itself.
    """

    summary: str
    module: str
    suffix: str
    """The suffix of its files."""
    findings: bool = False
    """Whether it contains the findings."""
    json: bool = False
    """Whether all of it is JSON, or each line: terminal control characters are then escaped while writing."""
    bodies: bool = False
    """Whether it consists of messages: those without a recorded body are omitted."""
    limited: bool = False
    """Whether its size is limited: its module has `check(journal, numbers)`, which raises `UsageError` above the limit.
    """


FORMATS = {
    "md": ExportFormat("a transcript to read, for a bug report", "markdown", ".md", findings=True),
    "json": ExportFormat("one JSON document with every event", "json_export", ".json", findings=True, json=True),
    "html": ExportFormat("one web page with search, filter and folding", "html", ".html", findings=True, limited=True),
    "jsonl": ExportFormat("the bare messages, one per line", "jsonl", ".jsonl", json=True, bodies=True),
    "recording": ExportFormat("a recording of the selected events", "recording", ".mcp.jsonl", json=True),
    "csv": ExportFormat("the exchanges as a table, with their latencies", "csv_export", ".csv"),
    "har": ExportFormat("an HTTP Archive for browser tools", "har", ".har", json=True),
    "otlp": ExportFormat("OpenTelemetry traces, one span per exchange", "otlp", ".otlp.json", json=True),
    "mermaid": ExportFormat("a sequence diagram that GitHub and GitLab draw", "mermaid", ".mmd"),
    "curl": ExportFormat("a shell script that sends the messages again", "curl_script", ".sh", bodies=True),
    "python": ExportFormat("a Python program that sends the requests again", "python_script", ".py", bodies=True),
    "python-sdk": ExportFormat("the same with the official SDK, mcp 2", "sdk_script", ".py", bodies=True),
    "pytest": ExportFormat("tests that compare with the recorded responses", "pytest_module", ".py", bodies=True),
    "calls": ExportFormat(
        "a flow of saved calls, for inspector run", "calls", ".calls.yaml", findings=True, bodies=True
    ),
    "mcp-cassette": ExportFormat(
        "a cassette of mcp-cassette", "mcp_cassette", ".cassette.json", json=True, bodies=True
    ),
    "mcp-recorder": ExportFormat(
        "a cassette of mcp-recorder", "mcp_recorder", ".recorder.json", json=True, bodies=True
    ),
    "mcpsnoop": ExportFormat("a session log of mcpsnoop", "mcpsnoop", ".mcpsnoop.jsonl", json=True, bodies=True),
    "mcporter": ExportFormat("a recording of mcporter", "mcporter", ".ndjson", json=True, bodies=True),
}
"""The formats by name."""


def check(journal: Journal, format: str, numbers: Iterable[int] | None = None) -> None:
    """Raise `UsageError` if an export would be too large for its format, before it starts."""
    found = FORMATS.get(format)
    if found is not None and found.limited:
        every = range(1, len(journal) + 1)
        _module(found).check(journal, every if numbers is None else (n for n in numbers if n in every))


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
    notes: list[str] = _module(found).write(journal, _Escaping(out) if found.json else out, chosen)
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


def _module(format: ExportFormat) -> Any:
    from importlib import import_module

    return import_module(f"inspector.export.{format.module}")
