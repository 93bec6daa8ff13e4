"""Generates a value for a JSON Schema: arguments to try a tool with."""

from __future__ import annotations

from math import ceil, floor
from typing import Any

from inspector.protocol.forms.field import InitialValues
from inspector.protocol.forms.schema import FieldReader, FieldShape
from inspector.protocol.forms.values import UNSET

DEPTH_LIMIT = 8
MEMBER_LIMIT = 1_000
"""Values made for one schema."""
TEXT_LIMIT = 4_096
"""Characters of one string, even if the schema requires more."""
MAX_SIZE = 1e300
"""Bounds of numbers beyond it are ignored: computing with them would overflow."""

_TEXT = "sample"
FORMATS = {
    "date": "2026-01-31",
    "date-time": "2026-01-31T12:00:00Z",
    "duration": "PT1M",
    "email": "user@example.com",
    "hostname": "example.com",
    "ipv4": "127.0.0.1",
    "ipv6": "::1",
    "json-pointer": "/sample",
    "regex": "sample",
    "time": "12:00:00Z",
    "uri": "https://example.com/",
    "uri-reference": "/sample",
    "url": "https://example.com/",
    "uuid": "00000000-0000-4000-8000-000000000000",
}
"""A text for each format."""


def sample(schema: Any) -> Any:
    """Return a value that probably matches `schema`; bounded work on any schema.

    Values of its author come first: a default, an example, a constant, a choice. Else it is a plain value of the type
    within its bounds; objects have only their required members. `pattern`, `not`, `if` and the like are ignored.
    """
    return _Sampler(schema).of(schema, 0)


class _Sampler:
    def __init__(self, root: Any) -> None:
        self.shaper = FieldReader(root)
        self.starts = InitialValues(self.shaper)
        self.left = MEMBER_LIMIT

    def of(self, schema: Any, depth: int) -> Any:
        self.left -= 1
        shape = self.shaper.shape(schema)
        given = self.starts.default_of(schema, shape)
        if given is not UNSET:
            return given
        about = self.shaper.resolve(schema)
        for described in (about if isinstance(about, dict) else {}, shape.schema):
            examples = described.get("examples")
            if isinstance(examples, list) and examples:
                return examples[0]
        if shape.kind == "object":
            return self._object(shape, depth)
        if shape.kind in ("array", "multi"):
            return self._array(shape, depth)
        return _plain(shape)

    def _object(self, shape: FieldShape, depth: int) -> dict[str, Any]:
        members: dict[str, Any] = {}
        for name in shape.required if depth < DEPTH_LIMIT else ():
            if self.left <= 0:
                break
            members[name] = self.of(self.shaper.member(shape, name), depth + 1)
        return members

    def _array(self, shape: FieldShape, depth: int) -> list[Any]:
        least = _bound(shape, "minItems")
        length = 0 if least is None or depth >= DEPTH_LIMIT else max(ceil(least), 0)
        if shape.kind == "multi":
            values = [choice.value for choice in shape.choices]
            return [values[index % len(values)] for index in range(min(length, MEMBER_LIMIT))]
        array: list[Any] = []
        while len(array) < length and self.left > 0:
            array.append(self.of(self.shaper.item(shape, len(array)), depth + 1))
        return array


def _plain(shape: FieldShape) -> Any:
    """Return a scalar value."""
    if shape.kind == "const":
        return shape.schema["const"]
    if shape.kind == "enum":
        return shape.choices[0].value
    if shape.kind == "boolean":
        return True
    if shape.kind == "null":
        return None
    if shape.kind in ("integer", "number"):
        return _number(shape)
    return _text(shape)


def _bound(shape: FieldShape, key: str) -> int | float | None:
    """Return a number in the schema, if it can be used in a computation."""
    value = shape.schema.get(key)
    usable = isinstance(value, (int, float)) and not isinstance(value, bool) and -MAX_SIZE < value < MAX_SIZE
    return value if usable else None


def _text(shape: FieldShape) -> str:
    name = shape.schema.get("format")
    text = FORMATS.get(name, _TEXT) if isinstance(name, str) else _TEXT
    least, limit = _bound(shape, "minLength"), _bound(shape, "maxLength")
    if least is not None and least > len(text):
        text = text.ljust(ceil(min(least, TEXT_LIMIT)), "x")
    if limit is not None and limit < len(text):
        text = text[: max(floor(limit), 0)]
    return text


def _number(shape: FieldShape) -> int | float:
    """Return 1, or the nearest number within the bounds; a whole number if possible."""
    least, above = _bound(shape, "minimum"), _bound(shape, "exclusiveMinimum")
    limit, below = _bound(shape, "maximum"), _bound(shape, "exclusiveMaximum")
    lows = [*([] if least is None else [ceil(least)]), *([] if above is None else [floor(above) + 1])]
    highs = [*([] if limit is None else [floor(limit)]), *([] if below is None else [ceil(below) - 1])]
    low, high = max(lows, default=None), min(highs, default=None)
    if low is not None and high is not None and low > high and shape.kind == "number":
        edges = [edge for edge in (least, above, limit, below) if edge is not None]
        return (max(edges[: len(lows)]) + min(edges[len(lows) :])) / 2
    value: int | float = 1
    if high is not None and high < value:
        value = high
    if low is not None and low > value:
        value = low
    return _multiple(value, high, _bound(shape, "multipleOf"))


def _multiple(value: int | float, high: int | float | None, step: int | float | None) -> int | float:
    """Return the next multiple of `step`, or the last one below `high`; the value itself if that cannot be computed."""
    if step is None or step <= 0:
        return value
    try:
        next_one = ceil(value / step) * step
        return floor(high / step) * step if high is not None and next_one > high else next_one
    except OverflowError:  # the step is so small that the quotient overflows
        return value
