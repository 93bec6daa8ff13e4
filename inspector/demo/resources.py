"""The resources: fixed ones, ones added at run time, thousands of generated items, and templates."""

from __future__ import annotations

import re

from inspector.demo.content import bytes_of, contents, icon, mime_of, picture, tone
from inspector.demo.definitions import document
from inspector.demo.parts import parts
from inspector.demo.rpc import NotFound, encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    Body = Callable[[], str | bytes]

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
        match = self._pattern.fullmatch(uri)
        if match is None:
            return None
        values: dict[str, Any] = {}
        for (operator, names), part in zip(self._expressions, match.groups(), strict=True):
            values |= _read(operator, names, part)
        return values

    def names(self) -> list[str]:
        """The names of its variables."""
        lists = [match[2].split(",") for match in _EXPRESSION.finditer(self.template)]
        return [_bare(name) for names in lists for name in names]

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


CLOCK = "demo://clock"
MAX_URI = 2000  # the time to match a template grows with the square of the length
ITEM = "demo://items/"
GUARDED = "demo://guarded/"


def _clock() -> str:
    import time

    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())


_BODIES: dict[str, Body] = {
    "planets": lambda: encode(document()["planets"]).decode(),
    "picture": picture,
    "chime": lambda: tone(880, 0.2),
    "bytes": lambda: bytes(range(256)) * 4,
    "clock": _clock,
}
"""What the fixed resources contain that have no text in `document`."""


def _body(resource: dict[str, Any]) -> str | bytes:
    return "\n".join(resource["text"]) if "text" in resource else _BODIES[resource["name"]]()


class Resources:
    """All resources. `items` generated ones cost nothing until they are read."""

    def __init__(self, items: int) -> None:
        self.items = items
        self.extras: list[int] = []
        self.templates = [
            {
                "uriTemplate": template["uri"],
                "name": template["name"],
                "title": template["name"].capitalize(),
                "description": template["about"],
            }
            for template in document()["templates"]
        ]
        self._matchers = [(template["name"], UriTemplate(template["uri"])) for template in document()["templates"]]
        self._listed: list[dict[str, Any]] = []

    def __len__(self) -> int:
        return len(document()["resources"]) + len(self.extras) + self.items

    def page(self, start: int, stop: int) -> list[dict[str, Any]]:
        """Returns resources as they are listed, in a fixed order: fixed, added, generated."""
        if not self._listed:
            self._listed = [_listing(resource) for resource in document()["resources"]]
        ahead = self._listed + [_extra_listing(number) for number in self.extras]
        first, last = max(start - len(ahead), 0), min(stop - len(ahead), self.items)
        return ahead[start:stop] + [_item_listing(number) for number in range(first + 1, last + 1)]

    def find(self, query: str, limit: int) -> list[dict[str, Any]]:
        """Returns the first resources whose name contains the query."""
        matching: list[dict[str, Any]] = []
        for start in range(0, len(self), 100):
            matching += [resource for resource in self.page(start, start + 100) if query.lower() in resource["name"]]
            if len(matching) >= limit:
                break
        return matching[:limit]

    def read(self, uri: str) -> list[dict[str, Any]]:
        """Returns the contents of a resource; raises NotFound if it does not exist."""
        for resource in document()["resources"]:
            if uri == resource["uri"]:
                return [contents(uri, resource["mimeType"], _body(resource))]
        if uri == "demo://files/":
            return [
                contents(f"demo://files/{path}", mime_of(path), "\n".join(lines))
                for path, lines in document()["files"].items()
            ]
        for number in self.extras:
            if uri == _extra_uri(number):
                return [contents(uri, "text/plain", f"Extra resource {number}.\n")]
        for name, template in self._matchers:
            values = template.match(uri) if len(uri) < MAX_URI else None
            if values:
                content = self._read_template(name, uri, values)
                if content is not None:
                    return [content]
        for part in parts():
            content = part.read(uri) if part.read is not None else None
            if content is not None:
                return [content]
        raise NotFound(uri)

    def exists(self, uri: str) -> bool:
        """Whether a resource can be read."""
        try:
            return bool(self.read(uri))
        except NotFound:
            return False

    def _read_template(self, name: str, uri: str, values: dict[str, Any]) -> dict[str, Any] | None:
        if name == "item":
            number = values["id"]
            plain = number.isascii() and number.isdigit() and len(number) < 12 and not number.startswith("0")
            if not plain or int(number) > self.items:
                return None
            return contents(uri, *_item(int(number)))
        if name == "file":
            lines = document()["files"].get(values["path"])
            return None if lines is None else contents(uri, mime_of(values["path"]), "\n".join(lines))
        if name == "weather":
            known_city = values.get("city") in document()["cities"].get(values.get("country", ""), ())
            return contents(uri, "text/plain", f"Sunny in {values['city']}.\n") if known_city else None
        return contents(uri, "application/json", encode({"template": name, "values": values}).decode())


def _listing(resource: dict[str, Any]) -> dict[str, Any]:
    listed = {key: resource[key] for key in ("uri", "name", "mimeType")}
    listed |= {"title": resource["about"], "description": resource["about"], "size": len(bytes_of(_body(resource)))}
    if resource["name"] == "readme":
        listed["icons"] = [icon("teal")]
        listed["annotations"] = {"audience": ["user"], "priority": 1.0, "lastModified": "2025-11-25T12:00:00Z"}
    return listed


def _extra_uri(number: int) -> str:
    return f"demo://extras/{number}"


def _extra_listing(number: int) -> dict[str, Any]:
    return {
        "uri": _extra_uri(number),
        "name": f"extra-{number}",
        "description": "Added at run time",
        "mimeType": "text/plain",
    }


def _item(number: int) -> tuple[str, str]:
    kind = number % 3
    if kind == 0:
        return "application/json", encode({"item": number, "square": number * number}).decode()
    if kind == 1:
        return "text/plain", f"This is item {number}.\n"
    return "text/markdown", f"# Item {number}\n\nIts square is **{number * number}**.\n"


def _item_listing(number: int) -> dict[str, Any]:
    mime, body = _item(number)
    return {
        "uri": f"{ITEM}{number}",
        "name": f"item-{number}",
        "description": f"Generated item {number}",
        "mimeType": mime,
        "size": len(body),
    }
