"""URI templates (RFC 6570, levels 1 to 4), matched in reverse: from a URI to the values of the variables."""

from __future__ import annotations

import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_VALUE = r"[A-Za-z0-9\-._~%,=!*'()@:$+]"
# operator: allowed characters, separator of values, whether values are written with their names
_OPERATORS: dict[str, tuple[str, str, bool]] = {
    "": (rf"{_VALUE}*?", ",", False),
    "+": (r"[^\s{}]*?", ",", False),
    "#": (r"(?:#[^\s{}]*)?", ",", False),
    ".": (r"(?:\.[A-Za-z0-9\-_~%,=]*)*", ".", False),
    "/": (rf"(?:/{_VALUE}*)*", "/", False),
    ";": (rf"(?:;{_VALUE}*)*", ";", True),
    "?": (rf"(?:\?{_VALUE}*(?:&{_VALUE}*)*)?", "&", True),
    "&": (rf"(?:&{_VALUE}*)*", "&", True),
}
_EXPRESSION = re.compile(r"\{([+#./;?&]?)([^{}]+)\}")


class UriTemplate:
    """One template, compiled at its first match."""

    def __init__(self, template: str) -> None:
        self.template = template
        self._expressions: list[tuple[str, list[str]]] = []
        self._pattern: re.Pattern[str] | None = None

    def match(self, uri: str) -> dict[str, Any] | None:
        """Returns the variables by name, or None for another URI. Exploded ones are lists or dicts, others text."""
        if self._pattern is None:
            self._pattern = self._compile()
        found = self._pattern.fullmatch(uri)
        if found is None:
            return None
        values: dict[str, Any] = {}
        for (operator, names), part in zip(self._expressions, found.groups(), strict=True):
            values |= _read(operator, names, part)
        return values

    def names(self) -> list[str]:
        """The names of its variables."""
        lists = [match[2].split(",") for match in _EXPRESSION.finditer(self.template)]
        return [_bare(name) for each in lists for name in each]

    def _compile(self) -> re.Pattern[str]:
        pattern, position = "", 0
        for match in _EXPRESSION.finditer(self.template):
            pattern += re.escape(self.template[position : match.start()]) + f"({_OPERATORS[match[1]][0]})"
            self._expressions.append((match[1], match[2].split(",")))
            position = match.end()
        return re.compile(pattern + re.escape(self.template[position:]))


def _bare(name: str) -> str:
    return name.partition(":")[0].rstrip("*")


def _read(operator: str, names: list[str], part: str) -> dict[str, Any]:
    from urllib.parse import unquote

    _, separator, named = _OPERATORS[operator]
    if operator not in ("", "+"):
        part = part[1:]
    pieces = part.split(separator) if part else []
    pairs = {unquote(key): unquote(value) for key, _, value in (piece.partition("=") for piece in pieces)}
    if names[0].endswith("*"):
        return {_bare(names[0]): pairs if named else [unquote(piece) for piece in pieces]}
    if named:
        return {_bare(name): pairs[_bare(name)] for name in names if _bare(name) in pairs}
    if len(names) == 1:
        return {_bare(names[0]): unquote(part)} if part else {}
    return {_bare(name): unquote(piece) for name, piece in zip(names, pieces, strict=False)}
