"""One field of a form at a moment: its first value, its notes and its check against the schema."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from inspector.errors import SchemaError
from inspector.protocol.file_inputs import FileInput
from inspector.protocol.forms.schema import Choice, FieldReader, FieldShape
from inspector.protocol.forms.values import UNSET, json_of, same, text_of
from inspector.protocol.schema_violations import Violation
from inspector.protocol.validation import Validator


class Notes:
    """Typed texts, their errors, chosen variants with the values of others, and fields opened or closed by hand."""

    def __init__(self) -> None:
        self.texts: dict[str, str] = {}
        self.wrong: dict[str, str] = {}
        self.variants: dict[str, int] = {}
        self.left: dict[str, dict[int, Any]] = {}
        """The last value of each variant that was left for another one."""
        self.opened: dict[str, bool] = {}

    def clear(self) -> None:
        """Remove everything about the value; open fields stay open."""
        self.texts.clear()
        self.wrong.clear()
        self.variants.clear()
        self.left.clear()

    def forget(self, path: str) -> None:
        """Remove typed texts at, above and below a path, and choices below it."""
        notes: dict[str, Any]
        for notes in (self.texts, self.wrong, self.variants, self.left):
            for known in [known for known in notes if known.startswith(path + "/")]:
                del notes[known]
        self.texts.pop(path, None)
        self.wrong.pop(path, None)
        self.forget_above(path)

    def forget_above(self, path: str) -> None:
        """Remove typed texts of the objects and arrays around a path."""
        while path:
            path = path.rpartition("/")[0]
            self.texts.pop(path, None)
            self.wrong.pop(path, None)

    def renumber(self, parent: str, place: Callable[[int], int | None]) -> None:
        """Move the notes of an array's items to their new places; None for a removed item."""
        head = parent + "/"
        notes: dict[str, Any]
        for notes in (self.texts, self.wrong, self.variants, self.left, self.opened):
            moved: dict[str, Any] = {}
            for path in [path for path in notes if path.startswith(head)]:
                step, slash, rest = path.removeprefix(head).partition("/")
                note = notes.pop(path)
                target = place(int(step)) if step.isdecimal() else None
                if target is not None:
                    moved[f"{head}{target}{slash}{rest}"] = note
            notes.update(moved)


MEMBER_LIMIT = 1_000
"""Members that are visited for one value."""
DEPTH_LIMIT = 8


class InitialValues:
    """Finds the initial values of the fields of one schema document."""

    def __init__(self, shaper: FieldReader) -> None:
        self.shaper = shaper

    def default_of(self, schema: Any, shape: FieldShape) -> Any:
        """Return the schema's own default, or `UNSET`."""
        about = self.shaper.resolve(schema)
        if isinstance(about, dict) and "default" in about:
            return about["default"]
        return shape.schema.get("default", UNSET)

    def defaults(self, schema: Any) -> Any:
        """Return the value made of all defaults, and of required members with only one possible value."""
        return self._or_empty(schema, self._filled(schema, 0, [MEMBER_LIMIT], defaults=True))

    def skeleton(self, schema: Any) -> Any:
        """Return the constants that are required, in objects that are required."""
        return self._or_empty(schema, self._filled(schema, 0, [MEMBER_LIMIT], defaults=False))

    def _or_empty(self, schema: Any, value: Any) -> Any:
        return {} if value is UNSET and self.shaper.shape(schema).kind == "object" else value

    def _filled(self, schema: Any, level: int, left: list[int], *, defaults: bool) -> Any:
        """Fill in what is known; `left` counts down the members to visit."""
        left[0] -= 1
        shape = self.shaper.shape(schema)
        if defaults and (default := self.default_of(schema, shape)) is not UNSET:
            return default
        if shape.kind == "const":
            return shape.schema["const"]
        if shape.kind != "object" or level >= DEPTH_LIMIT:
            return UNSET
        members: dict[str, Any] = {}
        required = shape.required
        for name, inner in shape.properties.items():
            if left[0] <= 0:
                break
            if name in required:
                value = self._filled(inner, level + 1, left, defaults=defaults)
            else:
                left[0] -= 1
                value = self.default_of(inner, self.shaper.shape(inner)) if defaults else UNSET
            if value is not UNSET:
                members[name] = value
        return members or UNSET

    def constants(self, shape: FieldShape) -> dict[str, Any]:
        """Return the required members of an object with only one possible value."""
        required = shape.required
        inner = {name: self.shaper.shape(schema) for name, schema in shape.properties.items() if name in required}
        return {name: member.schema["const"] for name, member in inner.items() if member.kind == "const"}

    def start(self, schema: Any) -> Any:
        """Return the minimal value of a new item or key; `UNSET` if there is none, as for a number."""
        if not isinstance(schema, dict):
            return ""
        shape = self.shaper.shape(schema)
        default = self.default_of(schema, shape)
        if default is not UNSET:
            return default
        if shape.kind == "object":
            return self.skeleton(schema)
        if shape.kind in ("enum", "const"):
            return shape.choices[0].value
        starts: dict[str, Any] = {"string": "", "boolean": False, "array": [], "multi": [], "null": None, "json": ""}
        return starts.get(shape.kind, UNSET)


ERROR_LIMIT = 200
_SHARED = ("$schema", "$id", "$defs", "definitions")
"""Keywords of the whole schema that its parts depend on."""


class FormCheck:
    """Validates values against one schema.

    An object or array with variants is checked against the chosen one, and so its fields have their own errors.
    Without it the only error would be that the value matches none of the variants.
    """

    def __init__(self, schema: Any) -> None:
        self._schema = schema
        self.problem = ""
        """Why the schema cannot be used; `""` if it can, or before `is_possible` was asked."""
        self._validator: Validator | None = None
        self._variants: dict[int, tuple[Any, Validator | None]] = {}
        """By the identity of a variant's schema, which is kept with it."""

    @property
    def is_possible(self) -> bool:
        """Whether values can be validated against the schema."""
        if self._validator is None and not self.problem:
            try:
                self._validator = Validator(self._schema)
            except SchemaError as error:
                self.problem = error.message
        return not self.problem

    def violations(
        self, value_at: Callable[[str], Any], shape_at: Callable[[str], FieldShape], choices: Collection[str]
    ) -> Iterator[Violation]:
        """Yield the faults of a form's value; `choices` are the paths at which variants were chosen."""

        def below(validator: Validator, at: str | None) -> Iterator[Violation]:
            """Yield the faults of the part at a path (None: of the whole value)."""
            by_choice: dict[str, list[Violation]] = {}
            for violation in validator.errors(value_at(at or ""), ERROR_LIMIT):
                violation = violation._replace(path=(at or "") + violation.path)
                choice = _choice_above(violation.path, at, choices)
                if choice is None:
                    yield violation
                elif choice not in by_choice:
                    inner = self._variant_validator(shape_at(choice).schema)
                    by_choice[choice] = list(below(inner, choice)) if inner else []
                    yield from by_choice[choice] or [violation]
                elif not by_choice[choice]:
                    yield violation

        if self._validator is not None:
            yield from below(self._validator, None)

    def _variant_validator(self, schema: Mapping[str, Any]) -> Validator | None:
        """Return a validator for a variant; None if it refers to what only the whole schema has."""
        known = self._variants.get(id(schema))
        if known is None:
            whole = {key: self._schema[key] for key in _SHARED if key in self._schema}
            try:
                known = schema, Validator({**schema, **whole})
            except SchemaError:
                known = schema, None
            self._variants[id(schema)] = known
        return known[1]


def _choice_above(path: str, below: str | None, choices: Collection[str]) -> str | None:
    """Return the path of the first chosen variant on the way to `path`, below another place."""
    ends = [n for n, letter in enumerate(path) if letter == "/"] + [len(path)]
    for at in (path[:end] for end in ends):
        if at in choices and (below is None or len(at) > len(below)):
            return at
    return None


@dataclass(frozen=True, slots=True)
class Field:
    """One field. Name, title, description, labels and text are the server's: show them through `text.safe`."""

    path: str
    """The JSON pointer of its value in the form's value."""
    name: str
    """Its key, or its index in an array."""
    title: str
    description: str
    required: bool
    kind: str
    """`string`, `integer`, `number`, `boolean`, `null`, `enum`, `const`, `multi`, `array`, `object` or `json`.

    A value that does not fit its kind has the kind `json`, whatever the schema says.
    """
    hint: str
    """Its type and limits in a few words: `integer 1-100`. Safe to show."""
    depth: int
    """The number of objects and arrays around it, without the form itself."""
    value: Any
    """Its value; `UNSET` if it has none."""
    typed: str | None
    """The text that its value was parsed from, if it was typed."""
    default: Any
    """The schema's default, or `UNSET`. It is not part of the form's value until it is set."""
    choices: tuple[Choice, ...]
    nullable: bool
    variants: tuple[str, ...]
    """Labels of the variants to choose from (`Form.choose`); empty without a choice."""
    variant: int
    is_open: bool
    """Whether the fields of an object or array are shown after it."""
    is_item: bool
    """Whether it is an item of an array or an added key: it can be removed."""
    can_add: bool
    """Whether an item (`Form.add`) or a key (`Form.add_key`) can be added to it."""
    file: FileInput | None = None
    """The files that it takes as a data URI (`x-mcp-file`); None if it is not a file."""

    @property
    def label(self) -> str:
        return self.title or self.name

    @property
    def text(self) -> str:
        """The value as text; `""` if unset.

        It is the typed text, else a string as it is and other values as JSON.
        """
        if self.value is UNSET:
            return ""
        if self.typed is not None:
            return self.typed
        return json_of(self.value) if self.kind == "json" else text_of(self.value)

    @property
    def default_text(self) -> str:
        return text_of(self.default)

    @property
    def chosen(self) -> tuple[int, ...]:
        """The indexes of the selected choices."""
        values = self.value if self.kind == "multi" and isinstance(self.value, list) else [self.value]
        return tuple(
            index for index, choice in enumerate(self.choices) if any(same(choice.value, value) for value in values)
        )


def can_add(kind: str, shape: FieldShape, value: Any) -> bool:
    """Whether the schema allows one more item or key."""
    size = len(value) if isinstance(value, (dict, list)) else 0
    schema = shape.schema
    limit = schema.get("maxItems" if kind == "array" else "maxProperties")
    if isinstance(limit, (int, float)) and size >= limit:
        return False
    if kind == "object":
        extra = schema.get("additionalProperties", not shape.properties)
        return extra is not False or bool(schema.get("patternProperties"))
    if isinstance(schema.get("prefixItems"), list):
        return size < len(schema["prefixItems"]) or schema.get("items", True) is not False
    if isinstance(schema.get("items"), list):
        return size < len(schema["items"]) or schema.get("additionalItems", True) is not False
    return True
