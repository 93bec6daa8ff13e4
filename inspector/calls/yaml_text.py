"""YAML as saved calls are written in: JSON's values, with the line and column of each key and value.

A plain scalar that YAML 1.1 and YAML 1.2 read as different values is an error that says to quote it: `no`, `on`,
`2026-01-01`, `1:30`, `0777`, `1_000`. So what a file says does not depend on who reads it.
Source: YAML 1.2.2, section 10.3 (core schema); YAML 1.1, https://yaml.org/type/.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from inspector.documents import MAX_DEPTH, DocumentError, yaml_events
from inspector.errors import ConfigError
from inspector.reasons import os_reason
from inspector.text import safe

MAX_SIZE = 1 << 20
"""Bytes of a file."""
MAX_EXPANSIONS = 1000
"""Uses of anchors in one file, those inside other anchors counted each time."""
MAX_EXPANDED = 100_000
"""Values that uses of anchors may make in one file."""
MAX_NUMBER = 4000
"""Digits of a number."""

_UTF_16 = (b"\xff\xfe", b"\xfe\xff")
_NULL = ("", "~", "null", "Null", "NULL")
_TRUE, _FALSE = ("true", "True", "TRUE"), ("false", "False", "FALSE")
_BOTH_INT = re.compile(r"[-+]?(?:0|[1-9][0-9]*)|0x[0-9a-fA-F]+")
_BOTH_FLOAT = re.compile(
    r"[-+]?(?:0|[1-9][0-9]*)?\.[0-9]+(?:[eE][-+][0-9]+)?|[-+]?(?:0|[1-9][0-9]*)\.(?:[eE][-+][0-9]+)?"
)
# What a reader of YAML 1.1 or one of YAML 1.2 takes for something else than a text.
_INT_OF_ONE = re.compile(r"[-+]?[0-9][0-9_]*|[-+]?0b[0-1_]+|[-+]?0x[0-9a-fA-F_]+|0o[0-7]+")
# Possessive: a long row of digits would be divided between the two halves in every way.
_FLOAT_OF_ONE = re.compile(r"[-+]?(?:[0-9][0-9_]*+)?\.?[0-9_]*+(?:[eE][-+]?[0-9]+)?")
_SIXTY = re.compile(r"[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+(?:\.[0-9_]*)?")
_NO_NUMBER = re.compile(r"[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)")
_DATE = re.compile(
    r"\d{4}-\d\d-\d\d|\d{4}-\d\d?-\d\d?(?:[Tt]|[ \t]+)\d\d?:\d\d:\d\d(?:\.\d*)?(?:[ \t]*(?:Z|[-+]\d\d?(?::\d\d)?))?"
)
_BOOLEAN_OF_ONE = frozenset(
    written for word in ("yes", "no", "on", "off") for written in (word, word.capitalize(), word.upper())
)


_NO_ANCHORS = "Write the values out instead of anchors."


@cache
def texts() -> dict[str, Any]:
    """The texts about files that are wrong: the tables of `texts.toml`."""
    import tomllib

    return tomllib.loads(Path(__file__).with_name("texts.toml").read_text(encoding="utf-8"))


Place = tuple[str | int, ...]
"""The keys and indexes that lead to a value, such as `("steps", 0, "expect")`."""


class Position(NamedTuple):
    """A line and a column of a file, both from 1."""

    line: int
    column: int


class CallsError(ConfigError):
    """A file of saved calls cannot be used. `path`, `line` and `column` say where; the message begins with them."""

    code = "calls"

    def __init__(self, path: Path, position: Position | None, problem: str, *, hint: str = "") -> None:
        self.path = path
        self.position = position
        self.problem = problem
        """What was found, without the place."""
        at = "" if position is None else f":{position.line}:{position.column}"
        super().__init__(f"{safe(display_path(path))}{at}: {problem}", hint=hint)

    @property
    def line(self) -> int:
        """The line, from 1; 0 where the error is about the whole file."""
        return self.position.line if self.position is not None else 0

    @property
    def column(self) -> int:
        """The column, from 1; 0 where the error is about the whole file."""
        return self.position.column if self.position is not None else 0

    def as_json(self) -> dict[str, Any]:
        place = {"line": self.line, "column": self.column} if self.position is not None else {}
        return super().as_json() | {"path": str(self.path)} | place


def display_path(path: Path) -> str:
    """A path relative to the working directory where it lies below it."""
    try:
        return str(path.absolute().relative_to(Path.cwd()))
    except (ValueError, OSError):
        return str(path)


class LocatedValue:
    """A value as it stands in a file: JSON's types, and where each part of it stands."""

    __slots__ = ("_aliases", "_marks", "path", "value")

    def __init__(
        self,
        path: Path,
        value: Any,
        marks: dict[Place, tuple[Any, Any]],
        aliases: dict[Place, Place],
    ) -> None:
        """`marks` are the parser's, by place: two, of the key (else of the value) and of the value.

        `aliases` has the place of the anchor by the place of its use: the parts of a value stand where the anchor is.
        """
        self._aliases = aliases
        self.path = path
        self.value = value
        self._marks = marks

    def position(self, place: Place = (), *, key: bool = False) -> Position:
        """Where the value at `place` stands, or its key. Of a place that does not exist: the nearest part around it."""
        while place not in self._marks and place:
            used = next((end for end in range(len(place) - 1, 0, -1) if place[:end] in self._aliases), 0)
            if used:
                place = self._aliases[place[:used]] + place[used:]
            else:
                place, key = place[:-1], False
        marks = self._marks.get(place)
        if marks is None:
            return Position(1, 1)
        return _position(marks[0] if key else marks[1])

    def error(self, place: Place, problem: str, *, hint: str = "", key: bool = False) -> CallsError:
        """An error about the value (or `key`) at `place`."""
        return CallsError(self.path, self.position(place, key=key), problem, hint=hint)


def read_bytes(path: Path) -> bytes:
    """The bytes of a file of saved calls, at most one more than allowed. Raises `CallsError`."""
    try:
        if not path.is_file():
            raise CallsError(path, None, "is a folder, not a file" if path.is_dir() else "does not exist")
        with open(path, "rb") as file:
            return file.read(MAX_SIZE + 1)
    except (OSError, ValueError) as error:
        raise CallsError(path, None, f"The file cannot be read: {os_reason(error)}.") from None


def read_yaml(path: Path, data: bytes | None = None) -> LocatedValue:
    """Read one document. `data` is the content of the file, where it is known. Raises `CallsError`."""
    data = read_bytes(path) if data is None else data
    if len(data) > MAX_SIZE:
        raise CallsError(path, Position(1, 1), "The file is larger than 1 MiB.", hint="Split it into several files.")
    return _DocumentBuilder(path, decode(path, data)).document()


def decode(path: Path, data: bytes) -> str:
    """The text of a file: UTF-8, with or without a byte order mark. Raises `CallsError`."""
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        before = data[: error.start]
        line = before.count(b"\n") + 1
        column = len(before[before.rfind(b"\n") + 1 :].decode("utf-8", "replace")) + 1
        kind = "UTF-16" if data[:2] in _UTF_16 else "not UTF-8"
        raise CallsError(path, Position(line, column), f"The file is {kind}.", hint="Save it as UTF-8.") from None


def first_key(data: bytes) -> str | None:
    """The first key of the outermost object, read without reading the rest; None where there is none."""
    try:
        encoding = "utf-16" if data[:2] in _UTF_16 else "utf-8-sig"
        text = data[:MAX_SIZE].decode(encoding, "replace")
        for count, event in enumerate(yaml_events(text)):
            if isinstance(event, yaml.ScalarEvent):
                return str(event.value)
            if isinstance(event, yaml.SequenceStartEvent) or count > 3:
                return None
    except (yaml.YAMLError, ValueError, RecursionError):
        for line in data[:4096].decode("utf-8", "replace").splitlines():
            if line.strip() and not line.lstrip().startswith(("#", "---")):
                match = re.match(r"\W*+([A-Za-z_]++)\s*+:", line)
                return match[1] if match else None
    return None


class _Anchored(NamedTuple):
    """The value of an anchor, its place, and how many values and uses of anchors it has."""

    value: Any
    place: Place
    values: int
    uses: int


class _DocumentBuilder:
    """Builds one document from the events of the parser, which is never asked for more than is needed."""

    def __init__(self, path: Path, text: str) -> None:
        self._path = path
        self._text = text
        self._events = yaml_events(text, aliases=MAX_EXPANSIONS)
        self._marks: dict[Place, tuple[Any, Any]] = {}
        self._aliases: dict[Place, Place] = {}
        self._anchors: dict[str, _Anchored] = {}
        self._open: list[str] = []
        """The anchors whose values are being built."""
        self._values = self._expanded = self._uses = 0
        """Values that the file has with those that its anchors make, these, and uses of anchors."""

    def document(self) -> LocatedValue:
        try:
            return self._document()
        except DocumentError as error:
            position = Position(error.line, error.column)
            raise CallsError(
                self._path, position, f"The file {error.problem}.", hint="Write it without them."
            ) from None
        except yaml.YAMLError as error:
            raise self._syntax_error(error) from None

    def _document(self) -> LocatedValue:
        event = next(self._events)
        while isinstance(event, yaml.StreamStartEvent | yaml.DocumentStartEvent):
            event = next(self._events)
        if isinstance(event, yaml.StreamEndEvent):
            return LocatedValue(self._path, None, {}, {})
        value = self._value(event, (), None, 0)
        while not isinstance(event := next(self._events), yaml.StreamEndEvent):
            if isinstance(event, yaml.DocumentStartEvent):
                raise self._error(
                    event, "A second document begins here.", hint="Put each saved call into its own file."
                )
        return LocatedValue(self._path, value, self._marks, self._aliases)

    def _value(self, event: Any, place: Place, key: Any, depth: int) -> Any:
        """The value that begins with `event`; its marks are kept under `place`."""
        at = event.start_mark
        if isinstance(event, yaml.AliasEvent):
            return self._alias(event, place, key)
        self._values += 1
        self._marks[place] = (key or at, at)
        if event.tag is not None and not (isinstance(event, yaml.ScalarEvent) and event.tag == "!" and event.style):
            raise self._error(event, f"Tags are not supported: {safe(event.tag, 80)}", hint="Leave the tag out.")
        if depth > MAX_DEPTH:
            raise self._error(event, f"The file is nested deeper than {MAX_DEPTH} levels.", hint="Remove levels.")
        before = self._values - 1, self._uses
        if event.anchor is not None:
            self._open.append(event.anchor)
        if isinstance(event, yaml.ScalarEvent):
            value: Any = self._scalar(event)
        elif isinstance(event, yaml.SequenceStartEvent):
            value = self._list(place, depth)
        else:
            value = self._object(place, depth)
        if event.anchor is not None:
            self._open.pop()
            values, uses = self._values - before[0], self._uses - before[1]
            self._anchors[event.anchor] = _Anchored(value, place, values, uses)
        return value

    def _alias(self, event: Any, place: Place, key: Any) -> Any:
        """The value of an anchor that is used here; its parts stand where the anchor is."""
        name = event.anchor
        if name in self._open:
            raise self._error(event, f"The anchor {safe(name, 80)} contains itself.", hint=_NO_ANCHORS)
        if name not in self._anchors:
            raise self._error(
                event,
                f"The anchor {safe(name, 80)} is not defined above.",
                hint='Define it, or quote a text that begins with "*".',
            )
        value, origin, values, uses = self._anchors[name]
        self._uses += 1 + uses
        self._values += values
        self._expanded += values
        if self._uses > MAX_EXPANSIONS:
            raise self._error(event, f"Anchors are used more than {MAX_EXPANSIONS:,} times.", hint=_NO_ANCHORS)
        if self._expanded > MAX_EXPANDED:
            raise self._error(event, f"Anchors make more than {MAX_EXPANDED:,} values.", hint=_NO_ANCHORS)
        self._marks[place] = (key or event.start_mark, event.start_mark)
        self._aliases[place] = origin
        return value

    def _list(self, place: Place, depth: int) -> list[Any]:
        items: list[Any] = []
        while not isinstance(event := next(self._events), yaml.SequenceEndEvent):
            items.append(self._value(event, (*place, len(items)), None, depth + 1))
        return items

    def _object(self, place: Place, depth: int) -> dict[str, Any]:
        members: dict[str, Any] = {}
        merged: dict[str, Any] = {}
        while not isinstance(event := next(self._events), yaml.MappingEndEvent):
            at = event.start_mark
            if isinstance(event, yaml.ScalarEvent) and event.value == "<<" and not event.style and event.tag is None:
                self._merge(place, depth, event, merged)
                continue
            key = self._key(event)
            if key in members:
                first = _position(self._marks[(*place, key)][0])
                raise self._error(
                    event, f"The key “{safe(key, 80)}” stands twice.", hint=f"It stands in line {first.line}, too."
                )
            members[key] = self._value(next(self._events), (*place, key), at, depth + 1)
        return {**merged, **members} if merged else members

    def _merge(self, place: Place, depth: int, event: Any, merged: dict[str, Any]) -> None:
        """`<<`: the members of other objects; those of this one and of earlier ones win (YAML 1.1, merge)."""
        taken = self._value(next(self._events), (*place, "<<"), event.start_mark, depth + 1)
        for source in taken if isinstance(taken, list) else [taken]:
            if not isinstance(source, dict):
                raise self._error(event, "“<<” takes an object or a list of objects.")
            for key, value in source.items():
                merged.setdefault(key, value)

    def _key(self, event: Any) -> str:
        if not isinstance(event, yaml.ScalarEvent):
            raise self._error(event, "A key must be a string, not a list or an object.")
        if event.tag is not None and not event.style:
            raise self._error(event, f"Tags are not supported: {safe(event.tag, 80)}", hint="Leave the tag out.")
        value = self._scalar(event)
        if not isinstance(value, str):
            raise self._error(
                event, f"The key {safe(event.value, 80)} is not a string.", hint=f'Quote it: "{safe(event.value, 80)}".'
            )
        return value

    def _scalar(self, event: Any) -> Any:
        text = event.value
        if event.style or (event.tag is not None and event.tag == "!"):
            return text
        value = plain_value(text)
        if isinstance(value, Ambiguous):
            raise self._error(event, f"{safe(text, 80)} {value.problem}", hint=value.hint)
        return value

    def _error(self, event: Any, problem: str, *, hint: str = "") -> CallsError:
        return CallsError(self._path, None if event is None else _position(event.start_mark), problem, hint=hint)

    def _syntax_error(self, error: yaml.YAMLError) -> CallsError:
        mark = getattr(error, "problem_mark", None)
        message = " ".join(str(getattr(error, name, "") or "") for name in ("problem", "context", "reason"))
        if mark is None:
            # Of a character that YAML forbids, libyaml gives the offset in bytes.
            at, before = getattr(error, "position", None), ""
            if isinstance(at, int):
                before = self._text.encode("utf-8", "surrogatepass")[:at].decode("utf-8", "replace")
            position = Position(before.count("\n") + 1, len(before) - before.rfind("\n")) if at is not None else None
            return CallsError(self._path, position, "This character is not allowed in YAML.", hint="Write an escape.")
        position = Position(mark.line + 1, mark.column + 1)
        line = self._text.splitlines()[mark.line : mark.line + 1]
        if line and "\t" in line[0][: mark.column + 1] and not line[0][: mark.column].strip():
            return CallsError(self._path, position, "A tab cannot indent a line.", hint="Indent with spaces.")
        row = next(entry for entry in texts()["syntax"] if entry["said"] in message)
        reason, hint = row["cause"], row["hint"]
        at_mark = line[0][mark.column : mark.column + 1] if line else ""
        if at_mark in ("@", "`", "%"):
            reason, hint = f"A text without quotes cannot begin with {at_mark}.", "Put the text between quotes."
        if line and "{" in line[0] and re.search(r"[{,:]\s{0,9}\$[^\s\"',{}]{0,99}\[", line[0]):
            hint = 'Inside {…}, quote a path that has brackets: "$.content[0].text".'
        return CallsError(self._path, position, reason, hint=hint)


class Ambiguous(NamedTuple):
    """A plain scalar that readers of YAML do not agree on."""

    problem: str
    hint: str


def plain_value(text: str) -> Any:
    """Return the value of a scalar without quotes; an `Ambiguous` where YAML 1.1 and 1.2 differ, or JSON has none."""
    if text in _NULL:
        return None
    if text in _TRUE:
        return True
    if text in _FALSE:
        return False
    if text[0] in "+-.0123456789":
        if len(text) > MAX_NUMBER and _BOTH_INT.fullmatch(text):
            return Ambiguous(f"has more than {MAX_NUMBER:,} digits.", "Quote it.")
        if _BOTH_INT.fullmatch(text):
            return int(text, 16) if text.startswith("0x") else int(text)
        if _BOTH_FLOAT.fullmatch(text):
            value = float(text)
            return value if abs(value) != float("inf") else Ambiguous("is too large a number.", "Quote it.")
        if _NO_NUMBER.fullmatch(text):
            return Ambiguous("is not a number that JSON has.", f'Quote it to have the text: "{text}".')
        if _DATE.fullmatch(text):
            return Ambiguous("is read as a date by some programs.", f'Quote it: "{text}".')
        if _SIXTY.fullmatch(text):
            return Ambiguous("is read as a number of base 60 by some programs.", f'Quote it: "{text}".')
        if _INT_OF_ONE.fullmatch(text) or (_FLOAT_OF_ONE.fullmatch(text) and any(map(str.isdigit, text))):
            return Ambiguous(
                "is read as different values by different programs.",
                f'Quote it to have the text ("{text[:60]}"), or write the number in decimal digits.',
            )
    elif text in _BOOLEAN_OF_ONE:
        return Ambiguous("is read as true or false by some programs.", f'Write true or false, or quote it: "{text}".')
    elif text == "=":
        return Ambiguous("has a special meaning for some programs.", 'Quote it: "=".')
    return text


def _position(mark: Any) -> Position:
    return Position(mark.line + 1, mark.column + 1)
