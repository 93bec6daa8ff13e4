"""A form without a screen: fields from a JSON Schema, for the form widget, `key=value` words and elicitation.

The form stores only the JSON value that is being edited. Fields are computed from schema and value on demand; so a
loaded value stays unchanged, including what the form cannot show, and recursive schemas cost nothing until they are
opened. Values are never changed in place: the result of `value()` stays as it was.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any

from inspector.errors import UsageError
from inspector.protocol.exact_json.tokens import escape_step
from inspector.protocol.file_inputs import file_input
from inspector.protocol.forms.field import Field, FormCheck, InitialValues, Notes, can_add
from inspector.protocol.forms.schema import Choice, FieldReader, FieldShape
from inspector.protocol.forms.texts import hint_of, read_text
from inspector.protocol.forms.values import UNSET, fits, same
from inspector.text import safe

__all__ = ["UNSET", "Choice", "Field", "Form"]

FIELD_LIMIT = 500
"""Most fields of one form; `truncated` tells if there are more."""
DEPTH_LIMIT = 12
"""Levels of objects and arrays shown as fields; a deeper one is a JSON field."""
OPEN_DEPTH = 3
"""Levels down to which required objects are shown open at first."""

_TEXT = {"type": "string"}
_ANY: dict[str, Any] = {}


class Form:
    """A value that is being edited, and its fields."""

    def __init__(self, schema: Any, value: Any = UNSET, *, like: Any = UNSET) -> None:
        self.schema = schema
        self._like = like
        """A value that the final one will resemble: it decides on variants before their members are set."""
        self.shaper = FieldReader(schema)
        self.truncated = False
        """Whether the last `fields()` was cut at the limit."""
        self._value: Any = UNSET
        self._starts = InitialValues(self.shaper)
        self._notes = Notes()
        self._check = FormCheck(schema)
        self.load(self._starts.skeleton(schema) if value is UNSET else value)

    @property
    def problem(self) -> str:
        """Why values cannot be validated against the schema; `""` if they can. Fields work anyway."""
        return self._check.problem

    def value(self) -> Any:
        """Return the current value; `UNSET` if none was given and the schema is not an object's."""
        return self._value

    def load(self, value: Any) -> None:
        """Set any value. It is kept unchanged, even if it does not match the schema."""
        self._value = value
        self._notes.clear()

    def value_at(self, path: str) -> Any:
        """Return the value at a path, or `UNSET`."""
        return _at(self._value, path)

    def defaults(self) -> Any:
        """Return the value made of the schema's defaults, and of required members with only one possible value."""
        return self._starts.defaults(self.schema)

    @property
    def root(self) -> Field:
        """The form's own value as a field."""
        return self._field("", self.schema, self._value, "", -1, required=True)

    def fields(self) -> list[Field]:
        """Return the visible fields in order, those of open objects and arrays after them.

        These are the members of an object, or the one field of another schema.
        """
        fields = list(islice(self._fields(), FIELD_LIMIT + 1))
        self.truncated = len(fields) > FIELD_LIMIT
        return fields[:FIELD_LIMIT]

    @property
    def has_fields(self) -> bool:
        """Whether there is anything to fill in."""
        return next(self._fields(), None) is not None

    def _fields(self) -> Iterator[Field]:
        root = self.root
        return self._below(root, self.schema) if root.kind == "object" else self._with_below(root, self.schema)

    def field(self, path: str) -> Field:
        """Return one field, visible or not. Raises `UsageError` if the form has none at this path."""
        at, schema = self.root, self.schema
        for step in _steps(path):
            child = next(((field, inner) for field, inner in self._members(at, schema) if field.name == step), None)
            if child is None:
                raise _no_field(path)
            at, schema = child
        return at

    def _with_below(self, field: Field, schema: Any) -> Iterator[Field]:
        yield field
        if field.is_open:
            yield from self._below(field, schema)

    def _below(self, field: Field, schema: Any) -> Iterator[Field]:
        for inner, inner_schema in self._members(field, schema):
            yield from self._with_below(inner, inner_schema)

    def _members(self, field: Field, schema: Any) -> Iterator[tuple[Field, Any]]:
        """Yield the fields directly in an object or array, with their schemas."""
        shape = self._shape(field.path, schema, field.value)
        depth = field.depth + 1
        if field.kind == "object":
            value = field.value if isinstance(field.value, dict) else {}
            named, required = shape.properties, shape.required
            for name in (*named, *(name for name in value if name not in named)):
                path = f"{field.path}/{escape_step(name)}"
                inner = value.get(name, UNSET)
                of = _schema_or_guess(self.shaper.member(shape, name), inner)
                is_item = name not in named
                yield self._field(path, of, inner, name, depth, required=name in required, is_item=is_item), of
        elif field.kind == "array" and isinstance(field.value, list):
            for index, inner in enumerate(field.value):
                of = _schema_or_guess(self.shaper.item(shape, index), inner)
                yield (
                    self._field(f"{field.path}/{index}", of, inner, str(index), depth, required=True, is_item=True),
                    of,
                )

    def _field(
        self, path: str, schema: Any, value: Any, name: str, depth: int, *, required: bool, is_item: bool = False
    ) -> Field:
        shape = self._shape(path, schema, value)
        kind = shape.kind
        strange = value is not UNSET and value is not None and not fits(kind, value)
        if (strange and kind in ("boolean", "null", "object", "array", "multi")) or depth >= DEPTH_LIMIT:
            kind = "json"
        about = self.shaper.resolve(schema)
        about = about if isinstance(about, dict) else _ANY
        container = kind in ("object", "array")
        return Field(
            path=path,
            name=name,
            title=_first_text(schema.get("title") if isinstance(schema, dict) else ""),
            description=_first_text(about.get("description"), shape.schema.get("description")),
            required=required,
            kind=kind,
            hint=hint_of(shape, self.shaper),
            depth=depth,
            value=value,
            typed=self._notes.texts.get(path),
            default=self._starts.default_of(schema, shape),
            choices=shape.choices,
            nullable=shape.nullable or kind == "null",
            variants=shape.variants,
            variant=shape.variant,
            is_open=container and self._is_open(path, shape, value, depth, required),
            is_item=is_item,
            can_add=container and can_add(kind, shape, value),
            file=file_input(shape.schema) if kind == "string" else None,
        )

    def _is_open(self, path: str, shape: FieldShape, value: Any, depth: int, required: bool) -> bool:
        if depth < 0:
            return True
        if path in self._notes.opened:
            return self._notes.opened[path]
        if value is UNSET:
            return required and shape.kind == "object" and depth < OPEN_DEPTH
        return value is not None

    def _shape(self, path: str, schema: Any, value: Any) -> FieldShape:
        like = _at(self._like, path)
        if isinstance(like, dict):
            value = like | value if isinstance(value, dict) else like
        return self.shaper.shape(schema, value, self._notes.variants.get(path))

    def shape_at(self, path: str) -> FieldShape:
        """Return the kind of field at a path, even if it does not exist yet."""
        return self._shape(path, self._schema_at(path), self.value_at(path))

    def _schema_at(self, path: str) -> Any:
        schema: Any = self.schema
        at = ""
        for step in _steps(path):
            shape = self._shape(at, schema, self.value_at(at))
            at += "/" + escape_step(step)
            if shape.kind in ("array", "multi") and step.isdecimal():
                schema = self.shaper.item(shape, int(step[:9]))
            else:
                schema = self.shaper.member(shape, step)
            schema = _schema_or_guess(schema, self.value_at(at))
        return schema

    def set(self, path: str, value: Any) -> None:
        """Set a field. Text is parsed by the field's kind; any other value is set as it is.

        Text that cannot be parsed is kept as a string, and `errors` has the reason. Empty text removes an optional
        field. The current text of the field changes nothing.
        """
        if not isinstance(value, str):
            self.put(path, value)
            return
        field = self._field_at(path)
        if field.value is not UNSET and field.value is not None and field.text == value:
            return  # unchanged text keeps the value that it was parsed as
        if value == "" and not any(choice.value == "" for choice in field.choices):
            if field.is_item and field.kind != "string":
                self.put(path, None)
                self._notes.wrong[path] = "is required"
                return
            if not field.is_item and (field.kind != "string" or not field.required):
                self.unset(path)
                return
        read, problem = self.read(path, value)
        self.put(path, read)
        self._notes.texts[path] = value
        if problem:
            self._notes.wrong[path] = problem

    def _field_at(self, path: str) -> Field:
        """Return a field, even a new key or item that does not exist yet."""
        try:
            return self.field(path)
        except UsageError:
            steps = _steps(path)
            return self._field(
                path, self._schema_at(path), UNSET, steps[-1], len(steps) - 1, required=False, is_item=True
            )

    def read(self, path: str, text: str) -> tuple[Any, str]:
        """Parse a text for a field. Returns the value, and the error or `""`.

        The error starts with its verb: “is not a number”, “must be true or false”.

        Of several variants, of which none was chosen by hand, the first that accepts the text is used.
        """
        shape = self.shape_at(path)
        if path not in self._notes.variants:
            schema = self._schema_at(path)
            for index in range(len(shape.variants)):
                value, problem = read_text(self.shaper.shape(schema, UNSET, index), text)
                if not problem:
                    return value, ""
        return read_text(shape, text)

    def put(self, path: str, value: Any) -> None:
        """Set a field to exactly this value, strings included. Missing parents are created.

        Raises `UsageError` for an array index that leaves a gap.
        """
        changed = self._with(path, value)
        self._notes.forget(path)
        self._value = changed

    def unset(self, path: str) -> None:
        """Remove a field. An item of an array becomes null, which is reported as required."""
        parent_path = path.rpartition("/")[0]
        parent = self.value_at(parent_path) if path else UNSET
        if isinstance(parent, list):
            self.put(path, None)
            self._notes.wrong[path] = "is required"
            return
        self._notes.forget(path)
        self._notes.left.pop(path, None)
        if not path:
            self._value = UNSET
        elif isinstance(parent, dict):
            name = _steps(path)[-1]
            self._value = self._with(parent_path, {key: value for key, value in parent.items() if key != name})

    def choose(self, path: str, variant: int) -> None:
        """Choose a variant. Matching parts of the value stay, its constants are filled in, the others are reset.

        What the variant had when it was left for another one is there again.
        """
        value, before = self.value_at(path), self.shape_at(path)
        self._notes.forget(path)
        left = self._notes.left.setdefault(path, {})
        if value is not UNSET and variant != before.variant:
            left[before.variant] = value
        again = left.get(variant, UNSET)
        self._notes.variants[path] = variant
        shape = self.shape_at(path)
        if shape.kind == "object":
            kept = value if isinstance(value, dict) else {}
            known = shape.properties
            kept = {name: inner for name, inner in kept.items() if name in known or name not in before.properties}
            typed = again if isinstance(again, dict) else {}
            self._value = self._with(path, typed | kept | self._starts.constants(shape))
        elif shape.kind == "const":
            self._value = self._with(path, shape.schema["const"])
        elif value is UNSET or not fits(shape.kind, value):
            if again is not UNSET:
                self._value = self._with(path, again)
            elif value is not UNSET:
                self.unset(path)
                self._notes.left[path] = left

    def toggle(self, path: str, choice: int) -> None:
        """Select a choice of a multi-select field, or deselect it. Selected values have the order of the choices."""
        field = self.field(path)
        rest = _toggled(field, field.choices[choice].value)
        if rest or field.required:
            self.put(path, rest)
        else:
            self.unset(path)

    def open(self, path: str, is_open: bool = True) -> None:
        """Show or hide the fields of an object or array."""
        self._notes.opened[path] = is_open

    def add(self, path: str, value: Any = UNSET) -> str:
        """Append an item to an array and return its path; by default it has the minimal value of its kind."""
        now = self.value_at(path)
        items = now if isinstance(now, list) else []
        return self._add(f"{path}/{len(items)}", self.shaper.item(self.shape_at(path), len(items)), path, items, value)

    def add_key(self, path: str, key: str, value: Any = UNSET) -> str:
        """Add a new key to an object and return the path of its value. Raises `UsageError` if it exists."""
        now = self.value_at(path)
        if isinstance(now, dict) and key in now:
            raise UsageError(f'"{safe(key, 80)}" exists already')
        members = now if isinstance(now, dict) else {}
        schema = self.shaper.member(self.shape_at(path), key)
        return self._add(f"{path}/{escape_step(key)}", schema, path, members, value)

    def _add(self, path: str, schema: Any, parent: str, container: Any, value: Any) -> str:
        if value is UNSET:
            value = self._starts.start(schema)
        if self.value_at(parent) is not container:
            self.put(parent, container)
        self.put(path, None if value is UNSET else value)
        self._notes.opened[parent] = True
        if value is UNSET:
            self._notes.wrong[path] = "is required"
        return path

    def remove(self, path: str) -> None:
        """Remove an item of an array, and move up the ones after it, or remove a key of an object."""
        parent_path, _, step = path.rpartition("/")
        parent = self.value_at(parent_path)
        if not isinstance(parent, list):
            self.unset(path)
            return
        index = _index(step, len(parent), path)
        self._notes.forget(path)
        self._value = self._with(parent_path, parent[:index] + parent[index + 1 :])
        self._notes.renumber(parent_path, lambda at: None if at == index else at - (at > index))

    def move(self, path: str, by: int) -> str:
        """Move an item of an array by so many places, as far as possible, and return its new path."""
        parent_path, _, step = path.rpartition("/")
        parent = self.value_at(parent_path)
        if not isinstance(parent, list):
            raise _no_field(path)
        index = _index(step, len(parent), path)
        target = min(max(index + by, 0), len(parent) - 1)
        items = list(parent)
        items.insert(target, items.pop(index))
        low, high = min(index, target), max(index, target)
        step_aside = 1 if target < index else -1
        self._notes.forget_above(parent_path)
        self._value = self._with(parent_path, items)
        self._notes.renumber(
            parent_path, lambda at: target if at == index else at + step_aside if low <= at <= high else at
        )
        return f"{parent_path}/{target}"

    def errors(self) -> dict[str, str]:
        """Return the errors, by the path of the field that shows each; empty if the value matches the schema."""
        errors = dict(self._notes.wrong)
        if not self._check.is_possible:
            return errors
        if self._value is UNSET:
            return errors or {"": "is required"}
        known = {"": self.root} | {field.path: field for field in self.fields()}
        choices = {path for path, field in known.items() if field.variants and field.kind in ("object", "array")}
        for violation in self._check.violations(self.value_at, self.shape_at, choices):
            path, message = violation.path, violation.message
            if violation.member:
                path += "/" + escape_step(violation.member)
                message = "is required" if violation.keyword == "required" else "is not in the schema"
            field_path, rest = path, ""
            while field_path not in known:
                field_path, _, step = field_path.rpartition("/")
                rest = f"/{step}{rest}"
            errors.setdefault(field_path, f"{safe(rest, 80)} {message}" if rest else message)
        return errors

    def _with(self, path: str, value: Any) -> Any:
        """Return the form's value with another value at `path`: new containers along the path, the rest unchanged."""
        places: list[tuple[Any, str, FieldShape]] = []
        at, here = self._value, ""
        for step in _steps(path):
            shape = self.shape_at(here)
            if not isinstance(at, dict) and not (isinstance(at, list) and step.isdecimal()):
                at = [] if shape.kind in ("array", "multi") and step.isdecimal() else {}
            places.append((at, step, shape))
            if isinstance(at, dict):
                at = at.get(step, UNSET)
            else:
                index = _index(step, len(at) + 1, path)
                at = at[index] if index < len(at) else UNSET
            here += "/" + escape_step(step)
        for container, step, shape in reversed(places):
            if isinstance(container, list):
                value = [*container[: int(step)], value, *container[int(step) + 1 :]]
            elif step in container:
                value = container | {step: value}
            else:
                value = _ordered(container | {step: value}, shape.properties)
        return value


def _schema_or_guess(schema: Any, value: Any) -> Any:
    """Return the schema, or a guess for a value without one: text is text, everything else JSON."""
    if isinstance(schema, dict):
        return schema
    return _TEXT if isinstance(value, str) else _ANY


def _toggled(field: Field, value: Any) -> list[Any]:
    """Return the selected values of a field without `value`, or with it if it is not selected."""
    now = field.value if isinstance(field.value, list) else []
    if any(same(item, value) for item in now):
        return [item for item in now if not same(item, value)]
    order = [known.value for known in field.choices]
    strange = [item for item in now if not any(same(item, known) for known in order)]
    return [known for known in order if any(same(item, known) for item in [*now, value])] + strange


def _first_text(*candidates: Any) -> str:
    return next((text for text in candidates if isinstance(text, str)), "")


def _ordered(members: dict[str, Any], names: dict[str, Any]) -> dict[str, Any]:
    """Return the members in the order of the schema, other members last."""
    return {name: members[name] for name in names if name in members} | members


def _at(at: Any, path: str) -> Any:
    """Return the part of a value at a path, or `UNSET`."""
    for step in _steps(path):
        if isinstance(at, dict):
            at = at.get(step, UNSET)
        elif isinstance(at, list) and step.isdecimal() and len(step) < 10 and int(step) < len(at):
            at = at[int(step)]
        else:
            return UNSET
    return at


def _steps(path: str) -> list[str]:
    return [step.replace("~1", "/").replace("~0", "~") for step in path.split("/")[1:]]


def _index(step: str, size: int, path: str) -> int:
    if step.isdecimal() and len(step) < 10 and int(step) < size:
        return int(step)
    raise _no_field(path)


def _no_field(path: str) -> UsageError:
    return UsageError(f"The form has no field {safe(path, 120)}")
