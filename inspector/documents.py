"""The values of YAML and JSON texts that other programs wrote, within limits.

PyYAML never composes them: an alias puts one value into many places, so that a text of 600 bytes grows to gigabytes
where its values become text, and its two loaders (C, Python) differ in what a subclass can refuse. The values are made
here from the parser's events, so that what is too much is refused before it is built.
Source: YAML 1.2.2, section 10.3 (core schema); RFC 8259.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from typing import Any, NoReturn

import yaml

MAX_DEPTH = 100
"""Levels of nested lists and objects."""
MAX_VALUES = 500_000
MAX_DIGITS = 400
"""A number that is longer is a text."""

_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_INT = re.compile(r"[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+")
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
_NOT_JSON = re.compile(r"[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)")
_WORDS: dict[str, Any] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL")),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}


class DocumentError(ValueError):
    """A text is not read. `problem` continues "The file …"; `line` and `column` count from 1, 0 where not known."""

    def __init__(self, problem: str, mark: Any = None) -> None:
        super().__init__(problem)
        self.problem = problem
        self.line: int = 0 if mark is None else mark.line + 1
        self.column: int = 0 if mark is None else mark.column + 1


def yaml_events(text: str, *, aliases: int = 0) -> Iterator[Any]:
    """Yield the events of PyYAML's parser: all readers of YAML build their values from these.

    Raises `DocumentError` where there are more uses of anchors than `aliases`, or more levels than `MAX_DEPTH`; the
    errors of the parser (`yaml.YAMLError`, `ValueError` for a surrogate) pass.
    """
    loader = _LOADER(text)
    depth, left = -1, aliases
    while (event := loader.get_event()) is not None:
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
            if depth > MAX_DEPTH:
                raise DocumentError(f"is nested deeper than {MAX_DEPTH} levels", event.start_mark)
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1
        elif isinstance(event, yaml.AliasEvent):
            left -= 1
            if left < 0:
                problem = f"uses anchors more than {aliases:,} times" if aliases else "uses anchors, which are not read"
                raise DocumentError(problem, event.start_mark)
        yield event


def read_yaml(text: str, *, values: int = MAX_VALUES) -> Any:
    """Return the value of a YAML document in JSON's types (core schema); None for an empty text.

    Anchors, tags, duplicate keys, a second document, and more values than `values` raise `DocumentError`.
    """
    try:
        return _ValueBuilder(yaml_events(text), values).document()
    except yaml.YAMLError as error:
        raise DocumentError("is not valid YAML", getattr(error, "problem_mark", None)) from None
    except UnicodeEncodeError:
        raise DocumentError("has a character that YAML does not allow") from None


def read_json(text: str | bytes) -> Any:
    """Return the value of a JSON text. Raises `DocumentError`, also for duplicate keys and too many levels."""
    try:
        value = json.loads(text, object_pairs_hook=_without_duplicates, parse_constant=_no_constant)
    except DocumentError:
        raise
    except ValueError:
        raise DocumentError("is not JSON") from None
    except RecursionError:
        raise DocumentError(f"is nested deeper than {MAX_DEPTH} levels") from None
    level = [value]
    for _ in range(MAX_DEPTH + 1):
        level = [
            inner
            for item in level
            if type(item) in (dict, list)
            for inner in (item.values() if type(item) is dict else item)
        ]
        if not level:
            return value
    raise DocumentError(f"is nested deeper than {MAX_DEPTH} levels")


def _without_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    duplicates = dict(pairs)
    if len(duplicates) < len(pairs):
        (twice, _), *_ = Counter(key for key, _ in pairs).most_common(1)
        raise DocumentError(f"has the key {twice[:80]!r} twice")
    return duplicates


def _no_constant(name: str) -> NoReturn:
    raise DocumentError(f"has {name}, which is not a JSON number")


class _ValueBuilder:
    """Builds the values of one document from the parser's events."""

    def __init__(self, events: Iterator[Any], values: int) -> None:
        self._events = events
        self._values = self._left = values

    def document(self) -> Any:
        event = next(self._events)
        while isinstance(event, yaml.StreamStartEvent | yaml.DocumentStartEvent):
            event = next(self._events)
        if isinstance(event, yaml.StreamEndEvent):
            return None
        value = self._value(event)
        for event in self._events:
            if isinstance(event, yaml.DocumentStartEvent):
                raise DocumentError("has several YAML documents", event.start_mark)
        return value

    def _value(self, event: Any) -> Any:
        self._left -= 1
        if self._left < 0:
            raise DocumentError(f"has more than {self._values:,} values", event.start_mark)
        if event.anchor is not None:
            raise DocumentError("uses anchors, which are not read", event.start_mark)
        if event.tag is not None and not (isinstance(event, yaml.ScalarEvent) and event.tag == "!"):
            raise DocumentError("uses tags, which are not read", event.start_mark)
        if isinstance(event, yaml.ScalarEvent):
            return event.value if event.style or event.tag else _plain(event)
        if isinstance(event, yaml.SequenceStartEvent):
            items = []
            while not isinstance(item := next(self._events), yaml.SequenceEndEvent):
                items.append(self._value(item))
            return items
        mapping: dict[str, Any] = {}
        while not isinstance(key := next(self._events), yaml.MappingEndEvent):
            if type(self._value(key)) in (list, dict):
                raise DocumentError("has a key that is not a text", key.start_mark)
            if key.value in mapping:
                raise DocumentError(f"has the key {key.value[:80]!r} twice", key.start_mark)
            mapping[key.value] = self._value(next(self._events))
        return mapping


def _plain(event: Any) -> Any:
    """Return the value of a scalar without quotes."""
    text: str = event.value
    if text in _WORDS:
        return _WORDS[text]
    if len(text) > MAX_DIGITS:
        return text
    if _INT.fullmatch(text):
        return int(text, 8 if text.startswith("0o") else 16 if text.startswith("0x") else 10)
    if _FLOAT.fullmatch(text):
        value = float(text)
        if abs(value) != float("inf"):
            return value
        raise DocumentError(f"has the number {text[:40]}, which is too large", event.start_mark)
    if _NOT_JSON.fullmatch(text):
        raise DocumentError(f"has {text}, which is not a JSON number", event.start_mark)
    return text
