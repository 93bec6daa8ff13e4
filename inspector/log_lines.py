"""The lines that a server writes to its log, as people read them. The recording keeps them as they were written."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any

from inspector.lazy_pattern import lazy_pattern

PROBE = "server/discover"
"""The first request of a session, which servers of the legacy era do not know. Many of them log that."""

_ESCAPES = lazy_pattern(
    r"\x1b+(?:\[[0-?]*[ -/]*[@-~]?|\][^\x07\x1b\x9c]*(?:\x07|\x1b\\|\x9c)|[ -/]+[0-~]|[0-Z\\^-~])?"
    r"|\x9b[0-?]*[ -/]*[@-~]?"
)
"""Control sequences of a terminal, also unfinished ones: colours, cursor movements, titles and links."""
_LEVELS = {10: "trace", 20: "debug", 30: "info", 40: "warn", 50: "error", 60: "fatal"}
"""The numbers of pino and bunyan."""
_LEVEL = ("level", "levelname", "severity", "lvl", "log.level", "@l")
_MESSAGE = ("msg", "message", "event", "@m", "@mt", "text")
_ERROR = ("err", "error", "exception", "exc_info", "stack", "stacktrace", "stack_trace", "@x")
_DETAIL = lazy_pattern(r"[ \t}]|$|[A-Za-z]\w*(?:\.\w+)+$")
"""A line that continues the one before it; the last kind is a member that pydantic names."""


def readable(line: str) -> str:
    """Return a line without control sequences; of a JSON log line, its level and message."""
    return " ".join(filter(None, _parts(line)[:2])).rstrip()


def searched(lines: Iterable[str]) -> list[str]:
    """Return the lines that may name the cause of a failure, with those of errors in JSON log lines."""
    return [part.rstrip() for line in lines for text in _parts(line)[1:] for part in text.split("\n")]


def display_lines(lines: Iterable[str]) -> list[str]:
    """Return the lines for a screen; what the first request of a session caused is one line."""
    kept: list[str] = []
    left_out = 0
    for record in _records(line for line in lines if readable(line) or not line.strip()):
        if any(PROBE in line for line in record):
            left_out += len(record)
        else:
            kept += map(readable, record)
    if left_out:
        kept.insert(0, f"({left_out} line{'s' * (left_out > 1)} about {PROBE}, the first request of Inspector)")
    return kept


def _records(lines: Iterable[str]) -> Iterator[list[str]]:
    """Yield each entry of a log with the lines that continue it."""
    record: list[str] = []
    for line in lines:
        ends_traceback = (
            bool(record) and record[0].startswith("Traceback") and record[-1].startswith((" ", "Traceback"))
        )
        if record and not ends_traceback and not _DETAIL.match(line):
            yield record
            record = []
        record.append(line)
    if record:
        yield record


def _parts(line: str) -> list[str]:
    """Return the level, the message and the texts of the error of a line; of other text, a message."""
    text = _ESCAPES.sub("", line)
    text = text.rstrip("\r\n").rpartition("\r")[2]
    if text.lstrip().startswith("{"):
        try:
            entry = json.loads(text)
        except (ValueError, RecursionError):
            entry = None
        if type(entry) is dict and type(entry.get("fields")) is dict:  # Rust's tracing
            entry = entry["fields"] | entry
        if type(entry) is dict and "jsonrpc" not in entry:
            level, message = _first(entry, _LEVEL), _first(entry, _MESSAGE)
            errors = [part for name in _ERROR for part in _texts(entry.get(name))]
            if (level or errors) and (message or errors):
                name = _LEVELS.get(entry.get("level", 0), level) if type(entry.get("level")) is int else level
                return [name, _ESCAPES.sub("", _described(message, errors)), *errors]
    return ["", text]


def _described(message: str, errors: list[str]) -> str:
    """Return the message, and the first line of the error unless the message has it."""
    error = errors[0].split("\n")[0] if errors else ""
    return message if error in message else ": ".join(filter(None, (message, error)))


def _first(entry: dict[str, Any], names: Iterable[str]) -> str:
    value = next((entry[name] for name in names if type(entry.get(name)) in (str, int)), "")
    return str(value)


def _texts(value: Any) -> list[str]:
    """Return the texts of an error: its message, then its stack."""
    if type(value) is str:
        return [value]
    if type(value) is not dict:
        return []
    return [value[name] for name in ("message", "msg", "stack") if type(value.get(name)) is str]
