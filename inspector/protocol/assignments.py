"""Parses `key=value` words as arguments, typed by the schema, with warnings for unknown keys."""

from __future__ import annotations

import json
import re
from typing import Any, NamedTuple

from inspector.errors import UsageError
from inspector.protocol import views
from inspector.protocol.exact_json.tokens import escape_step
from inspector.protocol.forms.form import Form
from inspector.protocol.forms.schema import FieldReader, FieldShape
from inspector.protocol.forms.values import UNSET, json_of
from inspector.reasons import json_fault
from inspector.text import safe

_WORD = re.compile(r"(?P<key>[^=]+?)(?P<sign>:?=)(?P<text>.*)", re.DOTALL)


class Assignments(NamedTuple):
    """The result of parsing the words of a command line."""

    value: dict[str, Any]
    warnings: list[str]
    """One sentence for each key that the schema does not have, with the nearest one."""


def parse_assignments(words: list[str], schema: Any) -> Assignments:
    """Parse words into an object of arguments.

    `key=text` takes the type that the schema gives the key: numbers, `true` and `false`, JSON for objects and arrays,
    the text itself for strings; a key that the schema does not have is JSON if valid, else text. `key:=json` is JSON
    whatever the schema says. `a.b=1` goes into an object, `a.0=x` into an array, and a repeated key collects an array's
    items. Raises `UsageError` for a word without `=`, text of the wrong type, or two words that contradict each other.
    """
    reader = _read(words, Form(schema, {}, like=_guess(words)))
    value = reader.form.value()
    return Assignments(value if isinstance(value, dict) else {}, list(reader.warnings))


def _read(words: list[str], form: Form) -> _WordReader:
    reader = _WordReader(form)
    for word in words:
        reader.read_word(word)
    return reader


def _guess(words: list[str]) -> Any:
    """Return the arguments as they are read without a schema: all of them together choose the variants."""
    try:
        return _read(words, Form({}, {})).form.value()
    except UsageError:
        return UNSET


class _WordReader:
    def __init__(self, form: Form) -> None:
        self.form = form
        self.given: set[str] = set()
        self.collected: set[str] = set()
        self.warnings: dict[str, None] = {}

    def read_word(self, word: str) -> None:
        match = _WORD.fullmatch(word)
        if match is None:
            raise UsageError(
                f"{_short(word)} is not of the form key=value",
                hint="Write key=text, or key:=JSON for a value of any type, such as count:=3.",
            )
        key, text = match["key"], match["text"]
        path, shape = self.locate(key)
        if match["sign"] == ":=":
            self.put(key, path, _json(key, text))
        elif (
            shape.kind not in ("array", "multi") or text.lstrip().startswith("[") or (shape.nullable and text == "null")
        ):
            self.put(key, path, self.read(key, path, text))
        else:
            self.collect(key, path, text)

    def locate(self, key: str) -> tuple[str, FieldShape]:
        """Return the path of a key and its shape; a key that the schema has literally is not split."""
        path, rest = "", key
        shape = self.form.shape_at("")
        while rest:
            names = shape.schema.get("properties")
            names = names if isinstance(names, dict) else {}
            step, rest = _split(rest, names)
            if shape.kind not in ("array", "multi"):
                self.check_known(key, step, names, shape)
            path += "/" + escape_step(step)
            shape = self.form.shape_at(path)
        return path, shape

    def check_known(self, key: str, step: str, names: dict[str, Any], shape: FieldShape) -> None:
        free = shape.schema.get("additionalProperties") not in (None, False) or "patternProperties" in shape.schema
        if step in names or not names or free:
            return
        from difflib import get_close_matches

        near = get_close_matches(step, names, n=1)
        hint = f"did you mean {_short(near[0])}?" if near else f"it has {safe(', '.join(names), 120)}"
        self.warnings[f"The schema has no {_short(key)}; {hint}"] = None

    def read(self, key: str, path: str, text: str) -> Any:
        value, problem = self.form.read(path, text)
        if problem:
            raise UsageError(
                f"{_short(key)}: {_short(text)} {problem}",
                hint=f"To send it anyway, write it as JSON: {_short(key)}:='{_short(json.dumps(text))}'",
            )
        return value

    def collect(self, key: str, path: str, text: str) -> None:
        """Add one item of an array that is given item by item."""
        items = self.form.value_at(path)
        if path in self.given or (items is not UNSET and path not in self.collected):
            raise _twice(key)
        count = len(items) if isinstance(items, list) else 0
        self.form.put(path, [] if items is UNSET else items)
        self.form.put(f"{path}/{count}", self.read(key, f"{path}/{count}", text))
        self.collected.add(path)

    def put(self, key: str, path: str, value: Any) -> None:
        if self.form.value_at(path) is not UNSET:
            raise _twice(key)
        parent = path
        while parent := parent.rpartition("/")[0]:
            if self.form.value_at(parent) is not UNSET and not isinstance(self.form.value_at(parent), (dict, list)):
                raise UsageError(f"{_short(key)} is inside a value that another word has set")
        self.form.put(path, value)
        self.given.add(path)


def _json(key: str, text: str) -> Any:
    try:
        return json.loads(text)
    except RecursionError:
        raise UsageError(f"{_short(key)}: the JSON is nested too deeply") from None
    except ValueError as error:
        reason = (
            json_fault(error) if isinstance(error, json.JSONDecodeError) else "an integer of more than 4,300 digits"
        )
        raise UsageError(
            f"{_short(key)}: {_short(text)} is not JSON: {reason}",
            hint="After := text must be in quotes; after = it is written as it is.",
        ) from None


def _twice(key: str) -> UsageError:
    return UsageError(f"{_short(key)} is given twice", hint="Only items of an array can be repeated.")


def _short(text: str) -> str:
    return safe(text, 80)


def _split(key: str, names: dict[str, Any]) -> tuple[str, str]:
    """Split the first step off a dotted key: the longest that the schema has, else up to the first dot."""
    at = len(key)
    while at > 0:
        if key[:at] in names:
            return key[:at], key[at + 1 :]
        at = key.rfind(".", 0, at)
    step, dot, rest = key.partition(".")
    return (step, rest) if step and rest and dot else (key, "")


MAX_PARAMETERS = 20
MAX_CHOICES = 4
"""Values of an enum that are written in full."""
MAX_DEPTH = 3
NAME, TYPE, DEFAULT = 60, 40, 30
"""Characters of a name, a type and a default."""
WRAPPED = "x-fastmcp-wrap-result"
"""A schema with this mark wraps the tool's own result in a member `result` (FastMCP)."""


def signature(tool: views.Tool) -> str:
    """Return the whole line."""
    shaper = FieldReader(tool.input_schema)
    count = max(len(shaper.shape(tool.input_schema).variants), 1)
    shapes = [shaper.shape(tool.input_schema, chosen=variant) for variant in range(min(count, MAX_CHOICES))]
    parts = list(dict.fromkeys(_parameters(shaper, shape) for shape in shapes))
    if count > MAX_CHOICES:
        parts.append(f"… {count - MAX_CHOICES} more")
    returned = _returned(tool.output_schema)
    return f"{safe(tool.name or views.UNNAMED, 300)}({' | '.join(parts)}){f' → {returned}' if returned else ''}"


def _parameters(shaper: FieldReader, shape: FieldShape) -> str:
    """Return the parameters of one variant of a tool's arguments."""
    named = list(shape.properties.items())
    parts = [_parameter(shaper, shape, name, schema) for name, schema in named[:MAX_PARAMETERS]]
    if len(named) > MAX_PARAMETERS:
        parts.append(f"… {len(named) - MAX_PARAMETERS} more")
    return ", ".join(parts)


def _parameter(shaper: FieldReader, parent: FieldShape, name: str, schema: Any) -> str:
    shape = shaper.shape(schema)
    required = name in parent.required
    has_default = "default" in shape.schema
    mark = "" if required or has_default else "?"
    default = f" = {safe(json_of(shape.schema['default']), DEFAULT)}" if has_default else ""
    return f"{safe(name, NAME)}{mark}: {_type(shaper, schema, 0)}{default}"


def _type(shaper: FieldReader, schema: Any, level: int) -> str:
    shape = shaper.shape(schema)
    if shape.kind == "const":
        text = json_of(shape.schema.get("const"))
    elif shape.kind == "enum" and len(shape.choices) <= MAX_CHOICES:
        text = " | ".join(json_of(choice.value) for choice in shape.choices)
    elif shape.kind == "enum":
        text = f"one of {len(shape.choices):,}"
    elif len(shape.variants) > 1:
        text = " | ".join(dict.fromkeys(shape.variants))
    elif shape.kind in ("array", "multi"):
        items = shape.schema.get("items")
        inner = _type(shaper, items, level + 1) if isinstance(items, dict) and level < MAX_DEPTH else "any"
        text = f"({inner})[]" if " " in inner else f"{inner}[]"
    elif shape.kind == "object" and isinstance(shape.schema.get("title"), str) and level:
        text = shape.schema["title"]
    else:
        text = "any" if shape.kind == "json" else shape.kind
    return safe(text + (" | null" if shape.nullable and "null" not in text else ""), TYPE)


def _returned(schema: Any) -> str:
    """Return the type of the result, or empty text without an output schema."""
    if not isinstance(schema, dict):
        return ""
    shaper = FieldReader(schema)
    shape = shaper.shape(schema)
    if list(shape.properties) == ["result"] and (shape.schema.get(WRAPPED) is True or _is_wrapper(shape)):
        return _type(shaper, shape.properties["result"], 1)
    title = shape.schema.get("title")
    if isinstance(title, str) and title:
        return safe(title, NAME)
    names = ", ".join(list(shape.properties)[:MAX_CHOICES]) + (", …" if len(shape.properties) > MAX_CHOICES else "")
    return safe(f"{{{names}}}" if shape.properties else shape.kind, NAME)


def _is_wrapper(shape: FieldShape) -> bool:
    """Whether a schema wraps one value: the Python SDK names it after its function, `searchOutput`."""
    title = shape.schema.get("title")
    return isinstance(title, str) and title.endswith("Output")
