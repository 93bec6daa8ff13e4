"""Whether the structured results of a run match their tools' output schemas."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from inspector.client.state.catalog import CatalogList
from inspector.errors import SchemaError
from inspector.protocol.result_shape import schema_errors
from inspector.protocol.validation import Validator


class ResultSchemas:
    """The output schemas of the tools of a plan; each is compiled once."""

    def __init__(self) -> None:
        self._validators: dict[str, Validator] = {}

    def learn(self, listed: CatalogList, tools: Iterable[str]) -> None:
        """Compile the output schemas of some tools. An invalid one is the judge's finding, and no error of a call."""
        for name in tools:
            tool = listed.get(name)
            schema = tool.get("outputSchema") if tool is not None else None
            if schema is not None and name not in self._validators:
                try:
                    self._validators[name] = Validator(schema)
                except SchemaError:
                    continue

    def problem(self, tool: str, result: Any) -> str:
        """Return why a result without `isError` does not match the schema of its tool; empty if it does."""
        validator = self._validators.get(tool)
        if validator is None:
            return ""
        found = schema_errors(validator, result, 1)
        return f"{found[0].path or '/'}: {found[0].message}" if found else ""
