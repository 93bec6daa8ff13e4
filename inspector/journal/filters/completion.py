"""Completes a filter while it is typed: names of terms, and values in the journal."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import NamedTuple

from inspector.journal.filters.syntax import TERMS, FilterError, FilterToken, tokens
from inspector.journal.filters.values import NamePattern
from inspector.journal.format import DIR_NAMES, KIND_NAMES, Kind
from inspector.journal.index import STATE_NAMES
from inspector.journal.journal import Journal
from inspector.journal.name_tables import NO_ID
from inspector.journal.query import Query

MAX_COUNT = 50
"""Most completions in the list."""
_NEWEST = 2000
"""Events whose ids are offered."""

_KINDS = {
    "rpc": "a JSON-RPC message",
    "invalid": "bytes that cannot be read as JSON",
    "stderr": "a line of the server's stderr",
    "http": "head of an HTTP request or response",
    "sse": "SSE event without a message",
    "life": "the process or the connection",
    "auth": "a step of a login",
    "note": "a note of Inspector",
    "mark": "a mark of the user",
    "request": "a request",
    "answer": "a result or an error",
    "result": "a result",
    "error": "a JSON-RPC error",
    "notification": "a notification",
    "batch": "several messages in one",
}
_STATES = {
    "pending": "without an answer so far",
    "done": "answered",
    "error": "failed",
    "cancelled": "cancelled by the client",
    "timeout": "timed out",
    "late": "an answer after a timeout or cancellation",
    "invalid": "not JSON-RPC",
    "unknown": "an answer to an unknown request",
    "doubled": "a second answer",
    "lost": "the connection ended before the answer",
}
_DIRS = {"send": "sent by the client", "recv": "received from the server", "local": "neither sent nor received"}


class Completion(NamedTuple):
    """A text for the filter from `start` to `end`, with its meaning."""

    start: int
    end: int
    text: str
    about: str


class Completions(NamedTuple):
    """The completions at a place of a filter. `incomplete` says why the term there cannot be used yet."""

    items: Sequence[Completion] = ()
    incomplete: str = ""


def complete(text: str, cursor: int, journal: Journal, names: Iterable[str] = ()) -> Completions:
    """Return the completions of the term at `cursor`. `names` are tools, prompts and URIs that the caller knows."""
    token = _token_at(text, cursor)
    if token is None:
        return Completions()
    start, end = token.position - 1, token.position - 1 + len(token.word)
    if not token.key:
        typed = token.word.lower()
        if not typed.isalpha():
            return Completions()
        items = [Completion(start, end, f"{key}:", term.about) for key, term in TERMS.items() if key.startswith(typed)]
        return Completions(items, f"enter searches for “{token.word}”" if items else "")
    known = _VALUES.get(token.key)
    if known is None:
        return Completions()
    values = dict(known(journal, names))
    typed = token.value.lower()
    starting = [value for value in values if value.lower().startswith(typed)]
    within = [value for value in values if typed in value.lower() and value not in starting] if typed else []
    matches = [value for value in (*starting, *within) if value.lower() != typed][:MAX_COUNT]
    items = [Completion(start, end, f"{token.key}:{quoted(value)}", values[value]) for value in matches]
    complete = not matches or _fits_any(token.value, values, path=token.key in ("method", "ch"))
    return Completions(items, "" if complete else f"{token.word} is not complete")


def _token_at(text: str, cursor: int) -> FilterToken | None:
    """Return the term at or before the cursor."""
    try:
        for token in tokens(text[:cursor] + _word_end(text, cursor)):
            if token.kind == "term" and token.position <= cursor <= token.position - 1 + len(token.word):
                return token
    except FilterError:
        return None
    return None


def _word_end(text: str, cursor: int) -> str:
    rest = text[cursor:]
    return rest[: next((at for at, char in enumerate(rest) if char.isspace() or char in "|)"), len(rest))]


def _fits_any(value: str, known: Iterable[str], *, path: bool) -> bool:
    if not value:
        return False
    pattern = NamePattern(value, path=path)
    return any(map(pattern.matches, known))


def quoted(value: str) -> str:
    """Return the value of a term, between quotes where it needs them."""
    if any(char.isspace() or char in '|()"' for char in value):
        escaped = value.replace("\\", "\\\\").replace('"', '\\"')
        return f'"{escaped}"'
    return value


# Values


def _methods(journal: Journal, names: Iterable[str]) -> Iterator[tuple[str, str]]:
    texts = [text for text in journal.index.methods.texts[1 : _NEWEST + 1] if text]
    for group in dict.fromkeys(text.partition("/")[0] for text in texts if "/" in text):
        if sum(text.startswith(f"{group}/") for text in texts) > 1:
            yield f"{group}/*", f"all methods of {group}"
    yield from ((text, "") for text in texts)


def _names(journal: Journal, names: Iterable[str]) -> Iterator[tuple[str, str]]:
    yield from ((name, "") for name in names)


def _ids(journal: Journal, names: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Yield the ids of the newest requests, with their methods."""
    index = journal.index
    for n in range(index.count, max(index.count - _NEWEST, 0), -1):
        if index.views.ids[n - 1] != NO_ID and index.views.methods[n - 1]:
            yield str(index.id(n)), index.method(n)


def _channels(journal: Journal, names: Iterable[str]) -> Iterator[tuple[str, str]]:
    yield from ((text, "") for text in reversed(journal.index.channels.texts[-_NEWEST:]) if text)


def _marks(journal: Journal, names: Iterable[str]) -> Iterator[tuple[str, str]]:
    yield "*", "any mark"
    notes = (journal.marks.of(n) for n in journal.marks.events()[-_NEWEST:])
    yield from dict.fromkeys((mark.note, "note") for mark in notes if mark is not None and mark.note)


def _findings(journal: Journal, names: Iterable[str]) -> Iterator[tuple[str, str]]:
    yield "*", "any finding"
    yield from {"must": "level", "should": "level", "note": "level"}.items()
    seen = journal.findings.events()[-_NEWEST:]
    yield from {finding.rule: "rule" for n in seen for finding in journal.findings.of(n)}.items()


def _runs(journal: Journal, names: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Yield the flows of the newest runs."""
    for n in islice(Query(kind=Kind.NOTE).backwards(journal.index), _NEWEST):
        path = next(journal.events(n, n)).fields.get("run")
        if isinstance(path, str):
            yield path, "its runs"


_VALUES: dict[str, Callable[[Journal, Iterable[str]], Iterable[tuple[str, str]]]] = {
    "method": _methods,
    "name": _names,
    "kind": lambda journal, names: [(name, _KINDS.get(name, "")) for name in dict.fromkeys((*KIND_NAMES, *_KINDS))],
    "status": lambda journal, names: [(name, _STATES.get(name, "")) for name in STATE_NAMES],
    "dir": lambda journal, names: [(name, _DIRS.get(name, "")) for name in DIR_NAMES],
    "id": _ids,
    "exchange": _ids,
    "ch": _channels,
    "finding": _findings,
    "mark": _marks,
    "phase": lambda journal, names: [("negotiation", "its messages, HTTP heads and life events")],
    "run": _runs,
}
