"""The resources: fixed ones, ones added at run time, thousands of generated items, and templates."""

from __future__ import annotations

import re

from inspector.demo.content import contents, icon
from inspector.demo.rpc import NotFound, encode
from inspector.demo.skill_files import SCHEME
from inspector.demo.skill_files import read as read_skill_file

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


CLOCK = "demo://clock"
MAX_URI = 2000  # the time to match a template grows with the square of the length
ITEM = "demo://items/"
GUARDED = "demo://guarded/"

_README = """# The demo server

It shows what an MCP server can do. Try these:

- **Tools**: `echo` is the simplest, `book-trip` has the largest form, `slow` can be cancelled, `crash` ends the server.
- **Resources**: `demo://clock` changes every second while you are subscribed.
- **Templates**: `demo://weather/{country}/{city}` completes the city for the country you chose.
- **Prompts**: `explain-code` completes the framework for the language you chose.
"""
_PLANETS = [
    {"name": "Mercury", "moons": 0, "radius_km": 2439.7},
    {"name": "Venus", "moons": 0, "radius_km": 6051.8},
    {"name": "Earth", "moons": 1, "radius_km": 6371.0},
    {"name": "Mars", "moons": 2, "radius_km": 3389.5},
]
FILES = {
    "notes/today.md": "# Today\n\n- [x] try the demo\n- [ ] read the specification\n",
    "src/main.py": 'print("hello")\n',
    "src/lib/numbers.py": "def double(n):\n    return 2 * n\n",
}
CITIES = {
    "italy": ["bologna", "milano", "napoli", "palermo", "roma", "torino"],
    "japan": ["fukuoka", "kyoto", "osaka", "sapporo", "tokyo"],
    "norway": ["bergen", "bodø", "oslo", "tromsø"],
    "peru": ["arequipa", "cusco", "lima"],
}


def _picture() -> bytes:
    from inspector.demo.content import picture

    return picture()


def _chime() -> bytes:
    from inspector.demo.content import tone

    return tone(880, 0.2)


def _clock() -> str:
    import time

    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())


_FIXED: list[tuple[str, str, str, str, Body]] = [
    ("demo://readme", "readme", "What this server shows", "text/markdown", lambda: _README),
    ("demo://planets", "planets", "A few facts as JSON", "application/json", lambda: encode(_PLANETS).decode()),
    ("demo://table", "table", "Comma separated values", "text/csv", lambda: "city,people\nLima,10\nOslo,1\n"),
    ("demo://page", "page", "A web page", "text/html", lambda: "<!doctype html><title>Demo</title><p>Hello.</p>\n"),
    ("demo://picture", "picture", "A sun, as PNG", "image/png", _picture),
    ("demo://chime", "chime", "A sound, as WAV", "audio/wav", _chime),
    ("demo://bytes", "bytes", "Bytes of an unknown type", "application/octet-stream", lambda: bytes(range(256)) * 4),
    ("demo://empty", "empty", "Empty text", "text/plain", str),
    (CLOCK, "clock", "The time; subscribe to see it change", "text/plain", _clock),
]
_TEMPLATES = [
    (ITEM + "{id}", "item", "One of the generated items; its number can be completed"),
    ("demo://weather/{country}/{city}", "weather", "Two variables; the cities depend on the country"),
    ("demo://files/{+path}", "file", "A path with slashes (level 2)"),
    ("demo://manual{#section}", "manual", "A fragment (level 2)"),
    ("demo://map/{x,y}", "map", "Several variables in one place (level 3)"),
    ("demo://photos/{name}{.format}", "photo", "A label (level 3)"),
    ("demo://archive{/year,month}", "archive", "Path segments (level 3)"),
    ("demo://grid{;row,column}", "grid", "Path-style parameters (level 3)"),
    ("demo://find{?q,limit}", "find", "A query (level 3)"),
    ("demo://report?kind=full{&from,to}", "report", "A continued query (level 3)"),
    ("demo://words/{word:3}/{word}", "word", "The first three letters, then all (level 4)"),
    ("demo://tags{/tags*}", "tags", "A list, exploded into segments (level 4)"),
    ("demo://filter{?keys*}", "filter", "Pairs, exploded into a query (level 4)"),
    (GUARDED + "{name}", "guarded", "Asks the user before it is read"),
]


class Resources:
    """All resources. `items` generated ones cost nothing until they are read."""

    def __init__(self, items: int) -> None:
        self.items = items
        self.extras: list[int] = []
        self.templates = [
            {"uriTemplate": uri, "name": name, "title": name.capitalize(), "description": about}
            for uri, name, about in _TEMPLATES
        ]
        self._matchers = [(name, UriTemplate(uri)) for uri, name, _ in _TEMPLATES]
        self._listed: list[dict[str, Any]] = []

    def __len__(self) -> int:
        return len(_FIXED) + len(self.extras) + self.items

    def page(self, start: int, stop: int) -> list[dict[str, Any]]:
        """Returns resources as they are listed, in a fixed order: fixed, added, generated."""
        if not self._listed:
            self._listed = [_listing(*each) for each in _FIXED]
        ahead = self._listed + [_extra_listing(number) for number in self.extras]
        first, last = max(start - len(ahead), 0), min(stop - len(ahead), self.items)
        return ahead[start:stop] + [_item_listing(number) for number in range(first + 1, last + 1)]

    def find(self, query: str, limit: int) -> list[dict[str, Any]]:
        """Returns the first resources whose name contains the query."""
        found: list[dict[str, Any]] = []
        for start in range(0, len(self), 100):
            found += [each for each in self.page(start, start + 100) if query.lower() in each["name"]]
            if len(found) >= limit:
                break
        return found[:limit]

    def read(self, uri: str) -> list[dict[str, Any]]:
        """Returns the contents of a resource; raises NotFound if it does not exist."""
        for each, _, _, mime, body in _FIXED:
            if uri == each:
                return [contents(uri, mime, body())]
        if uri == "demo://files/":
            return [contents(f"demo://files/{path}", _mime_of(path), FILES[path]) for path in FILES]
        if uri.startswith(SCHEME):
            found_file = read_skill_file(uri)
            if found_file is not None:
                return [found_file]
        for number in self.extras:
            if uri == _extra_uri(number):
                return [contents(uri, "text/plain", f"Extra resource {number}.\n")]
        for name, template in self._matchers:
            values = template.match(uri) if len(uri) < MAX_URI else None
            if values:
                found = self._read_template(name, uri, values)
                if found is not None:
                    return [found]
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
            known = FILES.get(values["path"])
            return None if known is None else contents(uri, _mime_of(values["path"]), known)
        if name == "weather":
            known_city = values.get("city") in CITIES.get(values.get("country", ""), ())
            return contents(uri, "text/plain", f"Sunny in {values['city']}.\n") if known_city else None
        return contents(uri, "application/json", encode({"template": name, "values": values}).decode())


def _mime_of(path: str) -> str:
    return {"md": "text/markdown", "py": "text/x-python"}.get(path.rpartition(".")[2], "text/plain")


def _listing(uri: str, name: str, about: str, mime: str, body: Body) -> dict[str, Any]:
    data = body()
    size = len(data.encode() if isinstance(data, str) else data)
    listed = {"uri": uri, "name": name, "title": about, "description": about, "mimeType": mime, "size": size}
    if name == "readme":
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
