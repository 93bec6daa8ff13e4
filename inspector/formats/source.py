"""The file to import: its lines, or its JSON values with their exact texts."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from inspector.config.foreign_files import open_regular
from inspector.errors import UsageError
from inspector.lazy_pattern import lazy_pattern
from inspector.protocol.exact_json.tokens import JsonSyntaxError, JsonToken, tokens
from inspector.protocol.jsonrpc import NotJson, encode, parse
from inspector.reasons import json_reason

_SPACE = lazy_pattern(r"[ \t\n\r]*")
_decode = json.JSONDecoder().raw_decode

ValueSpan = tuple[int, int]
"""The start and the end of a value, in characters."""


def value_end(text: str, at: int) -> int:
    """Return the end of the JSON value that starts at `at`. Raises `JsonSyntaxError`."""
    try:
        return int(_decode(text, at)[1])
    except json.JSONDecodeError as error:
        raise JsonSyntaxError(json_reason(error), error.pos) from None
    except (RecursionError, ValueError):
        return _end_by_tokens(text, at)


def _end_by_tokens(text: str, at: int) -> int:
    """Return the same for values that the standard library refuses: deep nesting, or more than 4,300 digits."""
    depth, end = 0, at
    for token, _, end in tokens(text, at):
        if token is JsonToken.CLOSE:
            depth -= 1
        elif token in (JsonToken.OBJECT, JsonToken.ARRAY):
            depth += 1
        if depth == 0 and token is not JsonToken.KEY:
            return end
    raise JsonSyntaxError("the text ends too early", end)


class JsonArrayDocument:
    """A JSON document with one long array: the positions of its items, and of the members before it.

    `path` names the members that lead to the array; an empty one means that the document is the array. `broken` is the
    position where the document stops being JSON, or None; everything complete before that is available.
    """

    def __init__(self, text: str, path: tuple[str | None, ...]) -> None:
        self.text = text
        self.items: list[ValueSpan] = []
        self.members: dict[str, ValueSpan] = {}
        """Members of the objects on the path, the last one of equal names."""
        self.names: set[str] = set()
        """The names of all members, including those on the path and a broken one."""
        self.broken: JsonSyntaxError | None = None
        try:
            end = _skip(text, self._into(_skip(text, 1 if text.startswith("\ufeff") else 0), path))
            if end < len(text):
                raise JsonSyntaxError("text after the end of the document", end)
        except JsonSyntaxError as broken:
            self.broken = broken

    def value(self, name: str) -> Any:
        """Return the value of a member; None if it is missing."""
        start, end = self.members.get(name, (0, 0))
        return value_of(self.text[start:end] or "null")

    def entry(self, place: int) -> ImportedEntry:
        """Return an item by its place, from 1."""
        start, end = self.items[place - 1]
        return ImportedEntry(self.text[start:end])

    def entries(self) -> Iterator[tuple[int, ImportedEntry]]:
        """Yield the items with their places."""
        return ((place, self.entry(place)) for place in range(1, len(self.items) + 1))

    def _into(self, at: int, path: tuple[str | None, ...]) -> int:
        text = self.text
        if not path:
            if text[at : at + 1] != "[":
                return value_end(text, at)
            at = _skip(text, at + 1)
            while text[at : at + 1] != "]":
                end = value_end(text, at)
                self.items.append((at, end))
                at = _next(text, end, "]")
            return at + 1
        if text[at : at + 1] != "{":
            return value_end(text, at)
        at = _skip(text, at + 1)
        while text[at : at + 1] != "}":
            key, start = _key(text, at)
            self.names.add(key)
            if key == path[0]:
                end = self._into(start, path[1:])
            else:
                end = value_end(text, start)
                self.members[key] = start, end
            at = _next(text, end, "}")
        return at + 1


def members(text: str) -> dict[str, ValueSpan]:
    """Return the positions of an object's values, the last one of equal names; empty if it is not an object."""
    return JsonArrayDocument(text, (None,)).members


def _skip(text: str, at: int) -> int:
    match = _SPACE.match(text, at)
    return match.end() if match else at


def _key(text: str, at: int) -> tuple[str, int]:
    """Return a member's name, and the start of its value."""
    if text[at : at + 1] != '"':
        raise JsonSyntaxError("a key was expected", at)
    try:
        key, end = _decode(text, at)
    except json.JSONDecodeError as error:
        raise JsonSyntaxError(json_reason(error), error.pos) from None
    colon = _skip(text, end)
    if text[colon : colon + 1] != ":":
        raise JsonSyntaxError("a colon was expected after a key", at)
    return str(key), _skip(text, colon + 1)


def _next(text: str, at: int, closing: str) -> int:
    """Return the start of the next value, or of the closing bracket."""
    at = _skip(text, at)
    sign = text[at : at + 1]
    if sign == closing:
        return at
    if sign != ",":
        reason = "a comma or the closing bracket was expected" if sign else "the text ends too early"
        raise JsonSyntaxError(reason, at)
    return _skip(text, at + 1)


MAX_DOCUMENT = 512 << 20
"""Maximum bytes of a file that is one JSON document."""
MAX_LINE = 128 << 20
"""Maximum bytes of a line; a longer one is skipped with a note."""
SAMPLE = 1 << 20
"""Bytes at the start of a file that determine its format."""
SAMPLE_LINES = 20


class Source:
    """One file."""

    def __init__(self, path: Path) -> None:
        """Raises `UsageError` if the file cannot be read or is empty."""
        self.path = path
        try:
            with open_regular(path) as file:
                self._begin = file.read(SAMPLE)
        except OSError as error:
            raise UsageError(f"{path} cannot be read: {error.strerror or error}.") from None
        if not self._begin.strip():
            raise UsageError(f"{path} is empty.")

    def lines(self) -> Iterator[tuple[int, bytes | None]]:
        """Yield the number, from 1, and the bytes of each line. Skips blank lines; None for a line that is too long."""
        with open_regular(self.path) as file:
            number = 0
            while line := file.readline(MAX_LINE):
                number += 1
                if len(line) == MAX_LINE and not line.endswith(b"\n"):
                    while line and not line.endswith(b"\n"):
                        line = file.readline(MAX_LINE)
                    yield number, None
                    continue
                line = line.removeprefix(b"\xef\xbb\xbf").rstrip(b"\r\n") if number == 1 else line.rstrip(b"\r\n")
                if line.strip():
                    yield number, line

    def document(self, *path: str) -> JsonArrayDocument:
        """Return the file as one JSON document with an array at `path`. Raises `UsageError` if it is too large."""
        with open_regular(self.path) as file:
            content = file.read(MAX_DOCUMENT + 1)
        if len(content) > MAX_DOCUMENT:
            size = self.path.stat().st_size
            raise UsageError(
                f"{self.path} has {size:,} bytes; the limit for one document is {MAX_DOCUMENT:,}.",
                hint="Export a smaller part of it with the other tool.",
            )
        return JsonArrayDocument(_decoded(content), path)

    def names(self, *path: str) -> set[str]:
        """Return the member names on the path to an array at `path`, from the start of the file."""
        return JsonArrayDocument(_decoded(self._begin), path).names

    def first_values(self) -> Iterator[Any]:
        """Yield the values of the first lines that are JSON."""
        for line in self._begin.split(b"\n")[:SAMPLE_LINES]:
            try:
                yield parse(line)
            except NotJson:
                continue

    def names_of_item(self) -> set[str]:
        """Return the names of the first item's members, if the file is an array of objects."""
        text = _decoded(self._begin).lstrip()
        return JsonArrayDocument(text[1:].lstrip(), (None,)).names if text.startswith("[") else set()


def _decoded(data: bytes) -> str:
    """Return the text of UTF-8, or of UTF-16 with a byte order mark. Invalid bytes are kept as surrogates."""
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return data.decode("utf-16", "replace")
    return data.decode("utf-8", "surrogateescape").removeprefix("\ufeff")


def value_of(text: str) -> Any:
    """Return the value of a JSON text; None if it is not JSON."""
    try:
        return parse(encoded(text))
    except NotJson:
        return None


def encoded(text: str) -> bytes:
    """Return the bytes of a text from a file: bytes that were not UTF-8 and unpaired surrogates are unchanged."""
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return text.encode("utf-8", "surrogatepass")


def message_bytes(text: str) -> bytes:
    """Return a message as in the file, on one line.

    A tool that formats its files over several lines also formats the message: then it is written without white space.
    """
    if "\n" not in text and "\r" not in text:
        return encoded(text)
    value = value_of(text)
    return encode(value) if value is not None else encoded(text)


def amount(value: Any) -> float:
    """Return a valid number of milliseconds; 0 for anything else."""
    return float(value) if isinstance(value, int | float) and 0 <= value < 1e13 else 0.0


class ImportedEntry:
    """One object of a file: its value, and the exact text of its members."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._places = members(text)
        self.value: dict[str, Any] = {}
        value = value_of(text)
        self.readable = type(value) is dict
        if type(value) is dict:
            self.value = value

    def get(self, name: str) -> Any:
        """Return the value of a member; None if it is missing."""
        return self.value.get(name)

    def text(self, name: str) -> str:
        """Return the value of a member that is a text, or an empty text."""
        text = self.value.get(name)
        return text if isinstance(text, str) else ""

    def number(self, name: str) -> float:
        """Return the value of a member as milliseconds; 0 if it is not a number."""
        return amount(self.value.get(name))

    def exact(self, name: str) -> bytes | None:
        """Return the text of a member, unless it is missing or null."""
        start, end = self._places.get(name, (0, 0))
        text = self._text[start:end]
        return message_bytes(text) if text and text != "null" else None
