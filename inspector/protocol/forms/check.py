"""The check of a form's value against its schema."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any

from inspector.errors import SchemaError
from inspector.protocol.forms.schema import FieldShape
from inspector.protocol.schema_violations import Violation
from inspector.protocol.validation import Validator

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
