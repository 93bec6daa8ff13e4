"""Parses the filter language into conditions.

    method:tools/* dir:recv id:7 kind:stderr status:error duration:>500ms size:>1k finding:* name:echo ch:post-7
    exchange:9 exchange:#1204 n:100-200 time:>2s phase:negotiation mark:* run:orders.yaml text "text with blanks"
    -term (a | b) a or b

An event must match all terms in sequence. `-` before a term negates it; directly before digits it is a minus sign, so
that `-32602` finds an error code. Case is ignored.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from inspector.errors import UsageError
from inspector.journal.filters import values
from inspector.journal.filters.conditions import (
    AllOf,
    AnyOf,
    Condition,
    Duration,
    HasFinding,
    HasName,
    HasSubject,
    HttpStatus,
    Id,
    InExchange,
    InNegotiation,
    InRun,
    InSpan,
    IsMarked,
    MatchesQuery,
    Not,
    Text,
)
from inspector.journal.filters.text import MAX_LENGTH
from inspector.journal.filters.values import BadValue, NamePattern, span
from inspector.journal.format import DIR_NAMES, KIND_NAMES, KINDS, Dir, Kind
from inspector.journal.index import STATE_NAMES, State
from inspector.journal.query import Query
from inspector.lazy_pattern import lazy_pattern
from inspector.protocol.jsonrpc import Shape

MAX_FILTER = 2000
MAX_TERMS = 100
MAX_DEPTH = 20


class FilterError(UsageError):
    """The filter is invalid. `word` is the wrong part, `position` its start (from 1).

    `reason` is the message without word and position, for a surface that shows both.
    """

    code = "filter"

    def __init__(self, message: str, *, position: int, word: str, hint: str = "", reason: str = "") -> None:
        super().__init__(message, hint=hint)
        self.position = position
        self.word = word
        self.reason = reason or message


class FilterToken(NamedTuple):
    """A word of a filter. `kind` is `(`, `)`, `|`, `-` or `term`; a term with an empty `key` is text."""

    kind: str
    word: str
    position: int
    key: str = ""
    value: str = ""


def compiled(source: str) -> tuple[Condition, list[Condition]]:
    """Return the condition of a filter, and all its terms. Raises `FilterError`."""
    if len(source) > MAX_FILTER:
        raise FilterError(
            f"The filter has {len(source):,} characters; at most {MAX_FILTER:,} are allowed.",
            position=MAX_FILTER + 1,
            word="",
        )
    parser = _Parser(list(tokens(source)), len(source))
    return parser.whole(), parser.terms


# Words


def tokens(source: str) -> Iterator[FilterToken]:
    at, depth = 0, 0
    while at < len(source):
        char = source[at]
        if char.isspace():
            at += 1
        elif char in "(|" or (char == ")" and depth):
            depth += {"(": 1, ")": -1}.get(char, 0)
            yield FilterToken(char, char, at + 1)
            at += 1
        elif char == "-" and _negates(source, at + 1):
            yield FilterToken("-", char, at + 1)
            at += 1
        else:
            token, at = _term(source, at, depth)
            yield token


def _negates(source: str, at: int) -> bool:
    """Whether a `-` before this position negates: before a number or nothing it is text."""
    end = at
    while end < len(source) and not source[end].isspace() and source[end] not in "|)":
        end += 1
    rest = source[at:end]
    return bool(rest) and not rest.isdecimal()


def _term(source: str, start: int, depth: int) -> tuple[FilterToken, int]:
    """Return the term that starts at `start`, and its end. Quotes group blanks, `|` and parentheses."""
    at, inner = start, 0
    key = ""
    parts: list[str] = []
    quoted = False
    while at < len(source):
        char = source[at]
        if char == '"' and (not parts or quoted):
            text, at = _quoted(source, at)
            parts.append(text)
            quoted = True
            continue
        if char.isspace() or char == "|" or (char == ")" and depth and not inner):
            break
        inner += {"(": 1, ")": -1}.get(char, 0) if inner or char == "(" else 0
        if char == ":" and not key and not quoted and "".join(parts).isalpha():
            key, parts = "".join(parts), []
        else:
            parts.append(char)
        at += 1
    word, value = source[start:at], "".join(parts)
    if key and inner > 0:
        raise _not_closed(start + word.index("(") + 1)
    if not key and not quoted and value.lower() == "or":
        return FilterToken("|", word, start + 1), at
    if key and not quoted and value.startswith("//"):
        key, value = "", word
    return FilterToken("term", word, start + 1, key.lower(), value), at


def _quoted(source: str, start: int) -> tuple[str, int]:
    """Return the text between two quotes and its end; `\\"` and `\\\\` are escapes."""
    out: list[str] = []
    at = start + 1
    while at < len(source):
        char = source[at]
        if char == "\\" and source[at + 1 : at + 2] in ('"', "\\"):
            out.append(source[at + 1])
            at += 2
            continue
        if char == '"':
            return "".join(out), at + 1
        out.append(char)
        at += 1
    raise FilterError(
        f"The quote at character {start + 1} is not closed.",
        position=start + 1,
        word=source[start:],
        hint='Close it with ", or write \\" for a quotation mark.',
    )


# Expressions


class _Parser:
    def __init__(self, tokens: list[FilterToken], length: int) -> None:
        self._tokens = tokens
        self._at = 0
        self._end = length + 1
        self.terms: list[Condition] = []

    def whole(self) -> Condition:
        if not self._tokens:
            return AllOf(())
        return self._alternatives(0)

    def _peek(self) -> FilterToken | None:
        return self._tokens[self._at] if self._at < len(self._tokens) else None

    def _alternatives(self, depth: int) -> Condition:
        parts = [self._all(depth)]
        while (token := self._peek()) is not None and token.kind == "|":
            self._at += 1
            parts.append(self._all(depth))
        return parts[0] if len(parts) == 1 else AnyOf(parts)

    def _all(self, depth: int) -> Condition:
        parts: list[Condition] = []
        while (token := self._peek()) is not None and token.kind not in ("|", ")"):
            parts.append(self._one(depth))
        if not parts:
            token = self._peek() or self._tokens[self._at - 1]
            raise FilterError(
                f"`{token.word}` at character {token.position} needs an operand.",
                position=token.position,
                word=token.word,
                hint=f'To search for it, quote it: "{token.word}".',
            )
        return parts[0] if len(parts) == 1 else AllOf(parts)

    def _one(self, depth: int) -> Condition:
        token = self._tokens[self._at]
        self._at += 1
        if token.kind == "-":
            if depth >= MAX_DEPTH:
                raise _too_deep(token)
            return Not(self._one(depth + 1))
        if token.kind == "(":
            if depth >= MAX_DEPTH:
                raise _too_deep(token)
            inner = self._alternatives(depth + 1)
            if self._peek() is None:
                raise _not_closed(token.position)
            self._at += 1
            return inner
        if len(self.terms) >= MAX_TERMS:
            raise FilterError(f"The filter has more than {MAX_TERMS} terms.", position=token.position, word=token.word)
        condition = _condition(token)
        self.terms.append(condition)
        return condition


def _not_closed(position: int) -> FilterError:
    return FilterError(
        f"The `(` at character {position} is not closed.",
        position=position,
        word="(",
        hint="Add a ), or quote it to search for it.",
    )


def _too_deep(token: FilterToken) -> FilterError:
    return FilterError(
        f"The filter is nested more than {MAX_DEPTH} levels deep at character {token.position}.",
        position=token.position,
        word=token.word,
    )


# Terms


def _condition(token: FilterToken) -> Condition:
    term = TERMS.get(token.key)
    if token.key and term is None:
        from difflib import get_close_matches

        near = get_close_matches(token.key, TERMS, 1, 0.5)
        there = f"Did you mean `{near[0]}:`? " if near else f"Use one of: {', '.join(key + ':' for key in TERMS)}. "
        raise FilterError(
            f"Unknown term `{token.key}:` at character {token.position}.",
            position=token.position,
            word=token.word,
            hint=f'{there}To search for it, quote it: "{token.word}".',
        )
    try:
        if not token.value:
            raise BadValue(f"it needs a value, such as {f'{token.key}:{term.example}' if term else 'text'}")
        if len(token.value) > MAX_LENGTH:
            raise BadValue(f"it is longer than {MAX_LENGTH} characters")
        return (term.make if term else Text)(token.value)
    except BadValue as problem:
        raise FilterError(
            f"`{token.word[:80]}` at character {token.position}: {problem}.",
            position=token.position,
            word=token.word,
            reason=str(problem),
        ) from None


def _kind(text: str) -> Condition:
    word = text.lower().replace("_", "-").removesuffix("s")
    if word in KINDS or word == "other":
        return MatchesQuery(Query(kind=KINDS.get(word, Kind.OTHER)))
    shapes = _SHAPES.get(word)
    if shapes is None:
        names = [*KIND_NAMES, *_SHAPES]
        raise BadValue(f"{_unlike(text, names)}kinds are {', '.join(names)}")
    return MatchesQuery(Query(kind=Kind.RPC, shape=shapes))


def _dir(text: str) -> Condition:
    dir = _DIRS.get(text.lower())
    if dir is None:
        raise BadValue(f"{_unlike(text, DIR_NAMES)}directions are {', '.join(DIR_NAMES)}")
    return MatchesQuery(Query(dir=dir))


def _status(text: str) -> Condition:
    state = _STATES.get(text.lower().replace("_", "-"))
    if state is None and _HTTP_STATUS.fullmatch(text):
        return HttpStatus(text)
    if state is None:
        states = ", ".join(STATE_NAMES)
        raise BadValue(f"{_unlike(text, STATE_NAMES)}states are {states}, or an HTTP status such as 404 or 4xx")
    return MatchesQuery(Query(state=state))


def _phase(text: str) -> Condition:
    if text.lower() != "negotiation":
        raise BadValue("the only phase is negotiation: the events until a connection is ready")
    return InNegotiation()


def _unlike(text: str, names: tuple[str, ...] | list[str]) -> str:
    from difflib import get_close_matches

    near = get_close_matches(text.lower(), names, 1, 0.5)
    return f"did you mean `{near[0]}`? " if near else ""


_HTTP_STATUS = lazy_pattern(r"[1-5](\d\d|xx|XX)")
_SHAPES: dict[str, tuple[Shape, ...]] = {
    "request": (Shape.REQUEST,),
    "answer": (Shape.RESULT, Shape.ERROR),
    "response": (Shape.RESULT, Shape.ERROR),
    "result": (Shape.RESULT,),
    "error": (Shape.ERROR,),
    "notification": (Shape.NOTIFICATION,),
    "batch": (Shape.BATCH,),
}
_DIRS = {
    "send": Dir.SEND,
    "sent": Dir.SEND,
    "out": Dir.SEND,
    "→": Dir.SEND,
    "recv": Dir.RECV,
    "received": Dir.RECV,
    "in": Dir.RECV,
    "←": Dir.RECV,
    "local": Dir.LOCAL,
}
_STATES = {name: State(number) for number, name in enumerate(STATE_NAMES)} | {
    "ok": State.DONE,
    "failed": State.ERROR,
    "canceled": State.CANCELLED,
    "timed-out": State.TIMED_OUT,
    "double": State.DOUBLED,
}


class FilterTerm(NamedTuple):
    """A term of the language: what makes its condition from a value, a value for an example, and its meaning."""

    make: Callable[[str], Condition]
    example: str
    about: str


def _by_number(text: str) -> Condition:
    return InSpan(span(text, values.count), lambda index, low, high: range(low, high + 1))


def _by_size(text: str) -> Condition:
    return InSpan(span(text, values.octets), lambda index, low, high: index.views.sizes[low - 1 : high])


def _by_time(text: str) -> Condition:
    return InSpan(span(text, values.moment), lambda index, low, high: index.views.times[low - 1 : high])


def _by_method(text: str) -> Condition:
    return HasName(NamePattern(text), lambda index: index.views.methods, lambda index: index.methods)


def _by_channel(text: str) -> Condition:
    return HasName(NamePattern(text), lambda index: index.views.channels, lambda index: index.channels)


def _by_duration(text: str) -> Condition:
    return Duration(span(text, values.microseconds))


TERMS: dict[str, FilterTerm] = {
    "method": FilterTerm(_by_method, "tools/*", "method; * stands for any text"),
    "name": FilterTerm(HasSubject, "echo", "tool, prompt or URI that a request is about"),
    "kind": FilterTerm(_kind, "stderr", "kind of event or message"),
    "status": FilterTerm(_status, "error", "state of a message, or an HTTP status"),
    "dir": FilterTerm(_dir, "recv", "direction"),
    "id": FilterTerm(Id, "7", "JSON-RPC id"),
    "duration": FilterTerm(_by_duration, ">500ms", "time between request and answer: >500ms"),
    "size": FilterTerm(_by_size, ">1k", "bytes: >1k"),
    "time": FilterTerm(_by_time, ">2s", "since the start, or time of day: >2s"),
    "n": FilterTerm(_by_number, "100-200", "number of the event: 100-200"),
    "ch": FilterTerm(_by_channel, "post-7", "channel"),
    "exchange": FilterTerm(InExchange, "9", "everything that belongs to a request"),
    "finding": FilterTerm(HasFinding, "*", "rule, or level: must, should, note; * for any"),
    "mark": FilterTerm(IsMarked, "*", "marked messages: * for any, or text of their notes"),
    "phase": FilterTerm(_phase, "negotiation", "events of the negotiation of a connection"),
    "run": FilterTerm(InRun, "orders.yaml", "messages of the runs of a saved call"),
}
