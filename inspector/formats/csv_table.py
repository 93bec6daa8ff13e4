"""A table of the exchanges with their latencies, for spreadsheets and data frames (RFC 4180).

No cell can become a formula: a text that starts as one gets an apostrophe, which spreadsheets read as "this is text".
"""

from __future__ import annotations

import csv
from collections.abc import Iterable
from typing import IO, Any

from inspector.formats.selection import RecordingClock, Selection, left_out, message_of
from inspector.journal.exchange import Exchange
from inspector.journal.filters.conditions import subjects_of
from inspector.journal.index import State
from inspector.journal.journal import Journal
from inspector.protocol.jsonrpc import Shape
from inspector.protocol.views import View
from inspector.text import safe

COLUMNS = tuple(
    """
    n answer time dir channel method name id state duration_ms request_bytes answer_bytes progress notifications
    questions inside error_code error
    """.split()
)
MAX_LENGTH = 1000
"""Maximum characters of a cell."""
_FORMULA = frozenset("=+-@\t\r＝＋－＠")


def write(journal: Journal, out: IO[str], numbers: Iterable[int] | None) -> list[str]:
    """Write the table to `out`, row by row."""
    chosen = Selection(journal, numbers)
    rows = csv.writer(out, lineterminator="\r\n")
    rows.writerow(COLUMNS)
    at = RecordingClock(journal)
    for exchange in chosen.exchanges():
        rows.writerow(_row(journal, chosen, exchange, at))
    return left_out(chosen.batches(), "batch", "batches")


def _row(journal: Journal, chosen: Selection, exchange: Exchange, at: RecordingClock) -> list[object]:
    index = journal.index
    n, answer = exchange.n, chosen.answer(exchange.n)
    request = next(journal.events(n, n))
    code, text = _error(journal, n, answer)
    within = [index.method(m) if index.shape(m) == Shape.NOTIFICATION else None for m in chosen.inside(n)]
    progress = within.count("notifications/progress")
    questions = within.count(None)
    elapsed = index.duration(n)
    return [
        n,
        answer or "",
        at(index.time(n)),
        exchange.dir,
        cell(index.channel(n)),
        cell(index.method(n)),
        cell(next(iter(subjects_of(request.message)), "")),
        cell(index.id(n)),
        exchange.state,
        "" if elapsed is None else f"{elapsed / 1000:.3f}",
        index.size(n),
        index.size(answer) if answer else "",
        progress,
        len(within) - progress - questions,
        questions,
        index.parent(n) or "",
        cell(code),
        cell(text),
    ]


def _error(journal: Journal, request: int, answer: int) -> tuple[Any, Any]:
    """Return code and message of a request's error; of a tool's error its first text."""
    if not answer or journal.index.state(request) is not State.ERROR:
        return "", ""
    message = message_of(journal, answer)
    error = message.members.get("error")
    if type(error) is dict:
        return error.get("code", ""), error.get("message", "")
    texts = (View(block).members.get("text") for block in View(message.object("result")).array("content"))
    return "isError", next((text for text in texts if isinstance(text, str)), "")


def cell(value: object) -> object:
    """Return a foreign value as a cell: a whole number, or text without formulas and control sequences."""
    if type(value) is int and value.bit_length() < 64:
        return value
    text = safe("" if value is None else value, MAX_LENGTH)
    return f"'{text}" if text.lstrip()[:1] in _FORMULA and text.strip() else text
