"""Changes of what a server offers, as lines for people: most important first, then by area."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any

from inspector.cli.colours import Colour, Colours
from inspector.compare.alignment import changed_lines
from inspector.compare.surface import SINGULAR, Change, counts
from inspector.protocol.jsonrpc import excerpt
from inspector.text import signs

if TYPE_CHECKING:
    from inspector.cli.output import Output
    from inspector.compare.schemas import ChangeSeverity

MAX_NAME = 200
"""Characters shown of a name."""
MAX_VALUE = 300
"""Characters shown of a value that is not text."""
MAX_LINES = 40
"""Lines shown of one changed text."""
MAX_NAMED = 12
"""Tools named in the warning."""
COLOURS: dict[ChangeSeverity, Colour | None] = {
    "breaking": "red",
    "unsure": "yellow",
    "changed": "yellow",
    "added": "green",
    "cosmetic": "faint",
}
WORDS: dict[ChangeSeverity, str] = {"unsure": "cannot tell"}
"""Severities with another display name."""
_INDENT = " " * 6
_WIDTH = 11
_MAX_TEXT = 400
"""Characters shown of a text that is not compared line by line."""


def summary(changes: Sequence[Change]) -> str:
    """The number of changes of each severity, in one line."""
    amounts = counts(changes)
    return ", ".join(f"{amount:,} {WORDS.get(severity, severity)}" for severity, amount in amounts.items())


def warning(out: Output, changes: Sequence[Change]) -> Iterator[str]:
    """The warning: changed texts for models, and invisible characters in them."""
    for_models = list(dict.fromkeys(_subject(out, change) for change in changes if change.for_models))
    sign = signs(out.ascii).finding
    if for_models:
        more = f" and {len(for_models) - MAX_NAMED:,} more" if len(for_models) > MAX_NAMED else ""
        yield f"{sign} Texts for models changed: {', '.join(for_models[:MAX_NAMED])}{more}."
        yield "  Read the new text before a model uses it: a changed tool description can carry an attack."
    for change in changes:
        if change.hidden is not None:
            yield f"{sign} {_subject(out, change)}: {out.safe(str(change.hidden), MAX_NAME)} in the new text."


def lines(out: Output, paint: Colours, changes: Sequence[Change]) -> Iterator[str]:
    """The changes by area, each with its severity, its values and a value that proves it."""
    for area, group in groupby(changes, lambda change: change.area):
        yield ""
        yield paint(area, "bold")
        for change in group:
            yield from _change(out, paint, change)


def _change(out: Output, paint: Colours, change: Change) -> Iterator[str]:
    word = WORDS.get(change.severity, change.severity)
    sign = f"{signs(out.ascii).finding} " if change.for_models or change.hidden is not None else "  "
    name = out.safe(change.name, MAX_NAME)
    what = out.safe(change.what, MAX_NAME * 2)
    head = paint(f"{sign}{word:<{_WIDTH}}", COLOURS[change.severity])
    yield f"{head} {name}{'  ' if name else ''}{what}"
    yield from _values(out, paint, change)
    if change.witness is not None:
        yield from _text(out, change.witness.sentence(MAX_VALUE), _INDENT)
    if change.hidden is not None:
        yield f"{_INDENT}{paint(out.safe(str(change.hidden), MAX_VALUE), 'red')}"


def _values(out: Output, paint: Colours, change: Change) -> Iterator[str]:
    """The old and the new value."""
    a, b = change.a, change.b
    if change.severity == "added" and a is None and isinstance(b, str):
        yield from (paint(line, "green") for line in _text(out, b[:_MAX_TEXT], f"{_INDENT}+ "))
        return
    if isinstance(a, str) and isinstance(b, str):
        line_count = 0
        for line in changed_lines(a, b):
            if line_count == MAX_LINES:
                yield f"{_INDENT}and more; --json has both texts"
                return
            line_count += 1
            if line.side == "gap":
                yield f"{_INDENT}{signs(out.ascii).cut}"
                continue
            sign, colour = ("- ", "red") if line.side == "a" else ("+ ", "green")
            yield from (paint(part, colour) for part in _text(out, line.text, f"{_INDENT}{sign}"))  # type: ignore[arg-type]
        return
    if a is not None:
        yield from (paint(line, "red") for line in _value(out, a, f"{_INDENT}- "))
    if b is not None:
        yield from (paint(line, "green") for line in _value(out, b, f"{_INDENT}+ "))


def _value(out: Output, value: Any, indent: str) -> list[str]:
    return _text(out, value[:_MAX_TEXT] if isinstance(value, str) else excerpt(value, MAX_VALUE), indent)


def _text(out: Output, text: str, indent: str) -> list[str]:
    """Safe lines after a sign on the first line; invisible characters are shown by their code."""
    wrapped = out.wrapped(text, " " * len(indent))[:MAX_LINES]
    return [indent + wrapped[0][len(indent) :], *wrapped[1:]]


def _subject(out: Output, change: Change) -> str:
    name = out.safe(change.name, 60)
    if change.area in SINGULAR and name:
        return f"{SINGULAR[change.area]} {name}"
    return f"{change.area} {name}".strip()
