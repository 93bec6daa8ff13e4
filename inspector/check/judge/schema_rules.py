"""Messages against the official schema of the negotiated revision; arguments and results against the tool's schemas."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from inspector.check.judge.rules import RuleVerdict
from inspector.check.judge.state import JudgeState
from inspector.errors import SchemaError
from inspector.protocol.result_shape import has_structured, schema_errors

if TYPE_CHECKING:
    from inspector.protocol.validation import Validator

SHOWN = 5
"""Violations that are shown for one message; the rest is counted."""


class ToolSchemas:
    """Validators of tools' schemas, cached up to a fixed number."""

    KEPT = 256

    def __init__(self) -> None:
        self._kept: OrderedDict[tuple[str, str], tuple[Any, Validator | SchemaError]] = OrderedDict()

    def of(self, tool: dict[str, Any], key: str) -> Validator | SchemaError:
        """The validator of a tool's `inputSchema` or `outputSchema`, or the reason why the schema is unusable."""
        schema = tool.get(key)
        name = (str(tool.get("name")), key)
        kept = self._kept.get(name)
        if kept is not None and kept[0] is schema:
            return kept[1]
        from inspector.protocol.validation import Validator

        made: Validator | SchemaError
        try:
            made = Validator(schema)
        except SchemaError as error:
            made = error
        self._kept[name] = (schema, made)
        if len(self._kept) > self.KEPT:
            self._kept.popitem(last=False)
        return made


def message_rules(message: Any, state: JudgeState, answered: str) -> Iterator[RuleVerdict]:
    """The message against the official schema (BASE-14)."""
    from inspector.protocol.official_schemas import validate_message

    violations = validate_message(
        message, revision=state.schema_revision, direction="recv", answered_method=answered or None
    )
    for violation in violations[:SHOWN]:
        where = violation.path or "the message"
        yield "BASE-14", "must", f"{where}: {violation.message} ({violation.definition})."
    if len(violations) > SHOWN:
        yield "BASE-14", "must", f"{len(violations) - SHOWN} more violations of the schema."


def argument_rules(params: dict[str, Any], state: JudgeState, schemas: ToolSchemas) -> Iterator[RuleVerdict]:
    """Our arguments against the tool's `inputSchema`: not a fault of the server, but worth a note."""
    tool = state.tools.get(params["name"]) if type(params.get("name")) is str else None
    if tool is None:
        return
    validator = schemas.of(tool, "inputSchema")
    if isinstance(validator, SchemaError):
        yield "BASE-27", "must", f"The inputSchema of this tool is invalid: {validator.message}"
        return
    for violation in validator.errors(params.get("arguments", {}), SHOWN):
        yield "arguments", "note", f"The arguments, {violation.path or 'as a whole'}: {violation.message}."


def structured_rules(
    name: Any, result: dict[str, Any], state: JudgeState, schemas: ToolSchemas
) -> Iterator[RuleVerdict]:
    """`structuredContent` against the tool's `outputSchema` (TOOL-09, C-TOOL-02)."""
    tool = state.tools.get(name) if type(name) is str else None
    if tool is None or not state.features.structured_content or result.get("isError") is True:
        return
    if tool.get("outputSchema") is None:
        return
    validator = schemas.of(tool, "outputSchema")
    if isinstance(validator, SchemaError):
        yield "TOOL-08", "must", f"The outputSchema of this tool is invalid: {validator.message}"
        return
    for violation in schema_errors(validator, result, SHOWN):
        where = f"structuredContent, {violation.path or 'as a whole'}: " if has_structured(result) else ""
        yield "TOOL-09", "must", f"{where}{violation.message}."
