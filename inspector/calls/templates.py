"""`{{name}}` in texts: what stands there, and how values are inserted."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from inspector.text import safe

GENERATORS = ("$uuid", "$now", "$timestamp", "$int")
_LITERAL = "{{{{"
_TOKEN = re.compile(
    r"(?P<literal>\{\{\{\{)|(?P<brace>\{(?=\{\{\s*\$?[A-Za-z_]))"
    r"|\{\{\s*(?P<name>\$?[A-Za-z_][A-Za-z0-9_-]*)(?P<rest>(?:\s+[^\s{}]+)*)\s*\}\}|(?P<open>\{\{)"
)
_INTEGER = re.compile(r"-?[0-9]{1,18}")


class BadTemplate(ValueError):
    """A text has braces that are not a variable."""

    def __init__(self, problem: str, hint: str) -> None:
        super().__init__(problem)
        self.hint = hint


class Placeholder(NamedTuple):
    """One `{{…}}`."""

    name: str
    """A variable, or a generator that begins with `$`."""
    arguments: tuple[int, ...]
    """Of `$int`."""

    @property
    def written(self) -> str:
        """The placeholder as a flow has it."""
        return "{{" + " ".join(map(str, (self.name, *self.arguments))) + "}}"


def has_placeholder(text: str) -> bool:
    """Whether a text may have one."""
    return "{{" in text


def literal(value: Any) -> Any:
    """A JSON value as a flow writes it where no text inserts a variable: every `{{` is doubled."""
    if isinstance(value, str):
        return value.replace("{{", _LITERAL)
    if isinstance(value, Mapping):
        return {key: literal(item) for key, item in value.items()}
    return [literal(item) for item in value] if isinstance(value, list) else value


def placeholders(text: str) -> Iterator[Placeholder]:
    """Yield the placeholders of a text. Raises `BadTemplate`."""
    for piece in _pieces(text):
        if isinstance(piece, Placeholder):
            yield piece


def insert(text: str, value_of: Callable[[Placeholder], Any], as_text: Callable[[Any], str] | None = None) -> Any:
    """A text with values inserted. One that is exactly one placeholder keeps the type of its value.

    `as_text` makes the text of a value; with it, the result is a text in any case.
    """
    if not has_placeholder(text):
        return text
    pieces = list(_pieces(text))
    if as_text is None and len(pieces) == 1 and isinstance(pieces[0], Placeholder):
        return value_of(pieces[0])
    as_text = as_text or inserted_text
    return "".join(as_text(value_of(piece)) if isinstance(piece, Placeholder) else piece for piece in pieces)


def inserted_text(value: Any) -> str:
    """A value inside a longer text: a text as it is, everything else as JSON."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _pieces(text: str) -> Iterator[str | Placeholder]:
    at = 0
    for token in _TOKEN.finditer(text):
        if token.start() > at:
            yield text[at : token.start()]
        at = token.end()
        if token["literal"]:
            yield "{{"
        elif token["brace"]:
            yield "{"
        elif token["open"]:
            raise BadTemplate(
                f"“{safe(text[token.start() : token.start() + 40])}” is not a variable.",
                "Write {{name}} to insert a variable, or {{{{ for two braces.",
            )
        else:
            yield _placeholder(token["name"], token["rest"].split())
    if at < len(text):
        yield text[at:]


def _placeholder(name: str, rest: list[str]) -> Placeholder:
    if not name.startswith("$"):
        if rest:
            raise BadTemplate(f"“{safe(rest[0], 40)}” cannot stand after a variable.", "Write {{name}}.")
        return Placeholder(name, ())
    if name not in GENERATORS:
        from inspector.config.foreign_files import nearest

        near = nearest(name, list(GENERATORS))
        raise BadTemplate(
            f"Unknown generator “{safe(name, 40)}”.",
            f"Did you mean “{near}”?" if near else f"Known generators: {', '.join(GENERATORS)}.",
        )
    if name != "$int":
        if rest:
            raise BadTemplate(f"{name} takes no arguments.", f"Write {{{{{name}}}}}.")
        return Placeholder(name, ())
    if len(rest) != 2 or not all(_INTEGER.fullmatch(bound) for bound in rest) or int(rest[0]) > int(rest[1]):
        raise BadTemplate("$int takes the smallest and the largest number.", "Write it like {{$int 1 100}}.")
    return Placeholder(name, (int(rest[0]), int(rest[1])))
