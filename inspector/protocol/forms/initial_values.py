"""The initial values of fields: defaults, constants, and the minimal value of a new item."""

from __future__ import annotations

from typing import Any

from inspector.protocol.forms.schema import FieldReader, FieldShape
from inspector.protocol.forms.values import UNSET

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

    def _or_empty(self, schema: Any, found: Any) -> Any:
        return {} if found is UNSET and self.shaper.shape(schema).kind == "object" else found

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
        found: dict[str, Any] = {}
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
                found[name] = value
        return found or UNSET

    def constants(self, shape: FieldShape) -> dict[str, Any]:
        """Return the required members of an object with only one possible value."""
        required = shape.required
        inner = {name: self.shaper.shape(schema) for name, schema in shape.properties.items() if name in required}
        return {name: found.schema["const"] for name, found in inner.items() if found.kind == "const"}

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
