"""Recordings in other formats: one module per format, loaded when it is asked for."""

from __future__ import annotations

from collections.abc import Iterable
from typing import IO, Any, NamedTuple

from inspector.errors import UsageError
from inspector.journal.journal import Journal
from inspector.text import escape_json


class Format(NamedTuple):
    """One format.

    Its module has `write(journal, out, numbers)`, which returns sentences about what the format could not carry.
    Without numbers it writes what it thinks best.
    """

    summary: str
    module: str
    suffix: str
    """How the name of such a file ends."""
    findings: bool = False
    """Whether what the judge says stands in it."""
    json: bool = False
    """Whether all of it is JSON, or JSON on each line: characters that a terminal obeys are then escaped on the way."""
    bodies: bool = False
    """Whether it consists of messages: those whose bodies were not kept are left out."""
    limited: bool = False
    """Whether it may be too large: its module has `check(journal, numbers)`, which raises `UsageError` then."""


FORMATS = {
    "md": Format("a transcript to read, for a bug report", "markdown", ".md", findings=True),
    "json": Format("one JSON document with every event", "json_export", ".json", findings=True, json=True),
    "html": Format("one web page with search, filter and folding", "html", ".html", findings=True, limited=True),
    "jsonl": Format("the bare messages, one a line", "jsonl", ".jsonl", json=True, bodies=True),
    "recording": Format("a recording again, of what is chosen", "recording", ".mcp.jsonl", json=True),
    "csv": Format("the exchanges as a table, with their latencies", "csv_export", ".csv"),
    "har": Format("an HTTP Archive for browser tools", "har", ".har", json=True),
    "otlp": Format("OpenTelemetry traces, a span an exchange", "otlp", ".otlp.json", json=True),
    "mermaid": Format("a sequence diagram that GitHub and GitLab draw", "mermaid", ".mmd"),
    "curl": Format("a shell script that sends it again", "curl_script", ".sh", bodies=True),
    "python": Format("a Python program that does it again", "python_script", ".py", bodies=True),
    "python-sdk": Format("the same on the official SDK, mcp 2", "sdk_script", ".py", bodies=True),
    "pytest": Format("tests that compare with the recorded answers", "pytest_module", ".py", bodies=True),
    "calls": Format("a flow of saved calls, for inspector run", "calls", ".calls.yaml", findings=True, bodies=True),
    "mcp-cassette": Format("a cassette of mcp-cassette", "mcp_cassette", ".cassette.json", json=True, bodies=True),
    "mcp-recorder": Format("a cassette of mcp-recorder", "mcp_recorder", ".recorder.json", json=True, bodies=True),
    "mcpsnoop": Format("a session log of mcpsnoop", "mcpsnoop", ".mcpsnoop.jsonl", json=True, bodies=True),
    "mcporter": Format("a recording of mcporter", "mcporter", ".ndjson", json=True, bodies=True),
}
"""The formats by name."""


def check(journal: Journal, format: str, numbers: Iterable[int] | None = None) -> None:
    """Raise `UsageError` where an export would be too large for its format, before anybody takes pains with it."""
    found = FORMATS.get(format)
    if found is not None and found.limited:
        every = range(1, len(journal) + 1)
        _module(found).check(journal, every if numbers is None else (n for n in numbers if n in every))


def export(journal: Journal, format: str, out: IO[str], numbers: Iterable[int] | None = None) -> list[str]:
    """Write what `journal` has indexed to `out`, event by event; `numbers` (from 1) chooses events, in their order.

    Works on live, unfinished and torn recordings alike. Without `numbers` a transcript is short about what was asked
    until a connection stood; what is chosen is written in full. `out` must write text that UTF-8 cannot carry with
    backslashes (`errors="backslashreplace"`). Returns what the format could not carry, in sentences. Raises
    `UsageError` for a format that does not exist, or for a recording that it cannot hold.
    """
    found = FORMATS.get(format)
    if found is None:
        raise UsageError(f"There is no format “{format[:40]}”.", hint=f"Formats are {', '.join(FORMATS)}.")
    if found.bodies and journal.index.dropped:
        numbers = filter(journal.index.is_kept, range(1, len(journal) + 1) if numbers is None else numbers)
    chosen = None if numbers is None else (n for n in numbers if 0 < n <= len(journal))
    notes: list[str] = _module(found).write(journal, _Escaping(out) if found.json else out, chosen)
    return [f"The recording is not complete: {journal.incomplete}.", *notes] if journal.dropped[0] else notes


class _Escaping:
    """As much of a text file as a format writes to; escapes what a terminal obeys."""

    def __init__(self, out: IO[str]) -> None:
        self._write = out.write

    def write(self, text: str) -> int:
        return self._write(escape_json(text))

    def writelines(self, lines: Iterable[str]) -> None:
        for line in lines:
            self.write(line)


def _module(format: Format) -> Any:
    from importlib import import_module

    return import_module(f"inspector.export.{format.module}")
