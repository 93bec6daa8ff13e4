"""URI templates, RFC 6570, all four levels.

`Template.parse` parses a template once; its variables are the fields of a form; `expand` fills it in. Templates come
from servers: their length and number of variables are bounded, and expansion is linear in its result.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple
from urllib.parse import quote

from inspector.errors import UsageError
from inspector.lazy_pattern import lazy_pattern
from inspector.text import safe

LENGTH_LIMIT = 100_000
"""Characters of a template, and of its expansion."""
VARIABLE_LIMIT = 1_000
"""Variables of a template."""

_UNRESERVED = "-._~"
_RESERVED = ":/?#[]@!$&'()*+,;="
_VARIABLE = lazy_pattern(
    r"(?P<name>(?:[A-Za-z0-9_]|%[0-9A-Fa-f]{2})(?:\.?(?:[A-Za-z0-9_]|%[0-9A-Fa-f]{2}))*)"
    r"(?:(?P<explode>\*)|:(?P<prefix>[1-9][0-9]{0,3}))?"
)
_PART = lazy_pattern(r"\{(?P<inside>[^{}]*)\}|(?P<text>[^{}]+)|(?P<stray>[{}])")
_TRIPLET = lazy_pattern(r"%[0-9A-Fa-f]{2}")
# Characters that a literal must not contain (section 2.1); a percent sign must start a triplet.
_NO_LITERAL = lazy_pattern(r"[\x00-\x20\"'<>\\^`|\x7f-\x9f\ud800-\udfff]|%(?![0-9A-Fa-f]{2})")


class _Operator(NamedTuple):
    """The expansion rules of an expression (RFC 6570 appendix A)."""

    first: str = ""
    separator: str = ","
    named: bool = False
    if_empty: str = ""
    reserved: bool = False


_OPERATORS = {
    "": _Operator(),
    "+": _Operator(reserved=True),
    "#": _Operator(first="#", reserved=True),
    ".": _Operator(first=".", separator="."),
    "/": _Operator(first="/", separator="/"),
    ";": _Operator(first=";", separator=";", named=True),
    "?": _Operator(first="?", separator="&", named=True, if_empty="="),
    "&": _Operator(first="&", separator="&", named=True, if_empty="="),
}
_RESERVED_OPERATORS = "=,!@|"


class Variable(NamedTuple):
    """One variable of a template, as it is in its expression."""

    name: str
    operator: str
    """`""`, `+`, `#`, `.`, `/`, `;`, `?` or `&`."""
    explode: bool = False
    prefix: int | None = None
    """The number of characters of the value to use; None for all."""


class Template(NamedTuple):
    """A parsed template."""

    source: str
    parts: tuple[str | tuple[Variable, ...], ...]
    """Literal text, ready to be written, and expressions."""

    @classmethod
    def parse(cls, source: str) -> Template:
        """Parse a template. Raises `UsageError` with the error and its position."""
        if len(source) > LENGTH_LIMIT:
            raise UsageError(f"The URI template has more than {LENGTH_LIMIT:,} characters")
        parts: list[str | tuple[Variable, ...]] = []
        count = 0
        for match in _PART.finditer(source):
            if match["stray"]:
                is_open = match["stray"] == "{"
                reason = "an expression has no closing brace" if is_open else "a brace has no opening brace"
                raise _wrong(source, match.start(), reason)
            if match["text"] is not None:
                parts.append(_literal(source, match["text"], match.start()))
                continue
            expression = _expression(source, match["inside"], match.start())
            count += len(expression)
            if count > VARIABLE_LIMIT:
                raise UsageError(f"The URI template has more than {VARIABLE_LIMIT:,} variables")
            parts.append(expression)
        return cls(source, tuple(parts))

    @property
    def variables(self) -> tuple[Variable, ...]:
        """Every variable in order, each name once: at its first occurrence."""
        variables: dict[str, Variable] = {}
        for part in self.parts:
            for variable in part if isinstance(part, tuple) else ():
                variables.setdefault(variable.name, variable)
        return tuple(variables.values())

    def expand(self, values: Mapping[str, Any]) -> str:
        """Return the URI. A value is a string, a number, a list or a mapping of such; None, or a missing value, is
        skipped.

        Raises `UsageError` for a prefix on a list or mapping, for values nested deeper, and for a URI longer than
        `LENGTH_LIMIT`.
        """
        written: list[str] = []
        length = 0
        for part in self.parts:
            text = part if isinstance(part, str) else _expand(part, values)
            written.append(text)
            length += len(text)
            if length > LENGTH_LIMIT:
                raise UsageError(f"The URI is longer than {LENGTH_LIMIT:,} characters")
        return "".join(written)


def _wrong(source: str, at: int, reason: str) -> UsageError:
    return UsageError(f"The URI template {safe(source, 80)} is invalid at character {at + 1}: {reason}")


def _literal(source: str, text: str, start: int) -> str:
    """Return literal text for the URI: forbidden characters are percent-encoded (section 3.1)."""
    bad = _NO_LITERAL.search(text)
    if bad is not None:
        raise _wrong(source, start + bad.start(), f"{safe(bad[0])} is not allowed there")
    return _encode(text, reserved=True)


def _expression(source: str, inside: str, start: int) -> tuple[Variable, ...]:
    if not inside:
        raise _wrong(source, start, "an expression is empty")
    operator = inside[0] if inside[0] in _OPERATORS else ""
    if inside[0] in _RESERVED_OPERATORS:
        raise _wrong(source, start + 1, f"the operator {inside[0]} is reserved")
    expression = []
    at = start + 1 + len(operator)
    for text in inside[len(operator) :].split(","):
        match = _VARIABLE.fullmatch(text)
        if match is None:
            raise _wrong(source, at, f"{safe(text, 40) or 'nothing'} is not a variable")
        prefix = int(match["prefix"]) if match["prefix"] else None
        expression.append(Variable(match["name"], operator, match["explode"] is not None, prefix))
        at += len(text) + 1
    return tuple(expression)


def _encode(text: str, *, reserved: bool) -> str:
    """Percent-encode all but unreserved characters; with `reserved` keep these too, and existing triplets."""
    if not reserved:
        return quote(text, safe=_UNRESERVED, errors="surrogatepass")
    kept = _TRIPLET.findall(text)
    encoded = [quote(piece, safe=_UNRESERVED + _RESERVED, errors="surrogatepass") for piece in _TRIPLET.split(text)]
    return "".join(piece + triplet for piece, triplet in zip(encoded, [*kept, ""], strict=True))


def _expand(variables: tuple[Variable, ...], values: Mapping[str, Any]) -> str:
    operator = _OPERATORS[variables[0].operator]
    pieces: list[str] = []
    for variable in variables:
        pieces.extend(_pieces(variable, values.get(variable.name), operator))
    return operator.first + operator.separator.join(pieces) if pieces else ""


def _pieces(variable: Variable, value: Any, operator: _Operator) -> list[str]:
    """Return the parts of one variable in its expression, none if it is undefined (section 3.2.1)."""
    if value is None:
        return []
    if isinstance(value, Mapping):
        pairs = [(str(key), _scalar(variable, inner)) for key, inner in value.items() if inner is not None]
        return _of_pairs(variable, pairs, operator)
    if isinstance(value, Sequence) and not isinstance(value, (str, bytes)):
        return _of_list(variable, [_scalar(variable, inner) for inner in value if inner is not None], operator)
    text = _encode(_scalar(variable, value)[: variable.prefix], reserved=operator.reserved)
    return [_named(variable.name, text, operator)]


def _of_pairs(variable: Variable, pairs: list[tuple[str, str]], operator: _Operator) -> list[str]:
    _refuse_prefix(variable)
    encoded = [
        (_encode(key, reserved=operator.reserved), _encode(text, reserved=operator.reserved)) for key, text in pairs
    ]
    if not encoded:
        return []
    if variable.explode:
        return [_named(key, text, operator) if operator.named else f"{key}={text}" for key, text in encoded]
    joined = ",".join(f"{key},{text}" for key, text in encoded)
    return [_named(variable.name, joined, operator)]


def _of_list(variable: Variable, items: list[str], operator: _Operator) -> list[str]:
    _refuse_prefix(variable)
    encoded = [_encode(text, reserved=operator.reserved) for text in items]
    if not encoded:
        return []
    if variable.explode:
        return [_named(variable.name, text, operator) for text in encoded]
    joined = ",".join(encoded)
    return [_named(variable.name, joined, operator)]


def _named(name: str, text: str, operator: _Operator) -> str:
    if not operator.named:
        return text
    return f"{name}={text}" if text else name + operator.if_empty


def _refuse_prefix(variable: Variable) -> None:
    if variable.prefix is not None:
        raise UsageError(
            f"{safe(variable.name, 80)}:{variable.prefix} needs a text, not a list or an object",
            hint="A prefix is undefined for several values (RFC 6570 section 2.4.1).",
        )


def _scalar(variable: Variable, value: Any) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return safe(value)
    raise UsageError(
        f"The value of {safe(variable.name, 80)} is nested: a URI accepts strings, and lists and objects of strings"
    )
