"""One field of a form at a moment."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from inspector.protocol.file_inputs import FileInput
from inspector.protocol.forms.schema import Choice, FieldShape
from inspector.protocol.forms.values import UNSET, json_of, same, text_of


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
