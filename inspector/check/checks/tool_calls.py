"""Results of tool calls. These checks run only if the user allows calls."""

from __future__ import annotations

from typing import Any

from inspector.check.check_table import CheckTable, Need
from inspector.check.judge.thorough_rules import wrong_media
from inspector.check.outcome import Outcome, bad, good, skipped
from inspector.check.visit.request_outcome import RequestOutcome
from inspector.check.visit.tool_calls import tool_calls
from inspector.check.visit.visit import Visit
from inspector.errors import SchemaError
from inspector.protocol.jsonrpc import METHOD_NOT_FOUND, excerpt
from inspector.protocol.members import array_at, object_at, value_at
from inspector.protocol.result_shape import has_structured, schema_errors
from inspector.protocol.sample_values import sample

_BLOCKS = {"text": "text", "image": "data", "audio": "data", "resource": "resource", "resource_link": "uri"}


CHECKS = CheckTable("tool_calls", mode="tool")


@CHECKS.active("TOOL-09", needs=Need.CALLS)
async def structured(visit: Visit) -> Outcome:
    """The allowed tools with an outputSchema."""
    from inspector.protocol.validation import Validator

    seen: list[int] = []
    for tool, response in await _calls(visit):
        schema = tool.get("outputSchema")
        if type(schema) is not dict or not _came(response):
            continue
        try:
            wrong = schema_errors(Validator(schema), response.body, 1)
        except SchemaError:
            continue
        if wrong:
            return bad(f"{_name(tool)}: {wrong[0].path or 'the value'}: {wrong[0].message}.", *response.events)
        seen += response.events
    return good("", *seen) if seen else skipped("no allowed tool with an outputSchema returned a result")


@CHECKS.active("TOOL-10", needs=Need.CALLS)
async def structured_as_text(visit: Visit) -> Outcome:
    """The results with structuredContent."""
    seen: list[int] = []
    for tool, response in await _calls(visit):
        if has_structured(response.body):
            if not any(value_at(block, "type") == "text" for block in _blocks(response)):
                return bad(f"{_name(tool)} returned structuredContent without a text block.", *response.events)
            seen += response.events
    return good("", *seen) if seen else skipped("no result had structuredContent")


@CHECKS.active("TOOL-11", needs=Need.CALLS)
async def content(visit: Visit) -> Outcome:
    """The blocks of every result."""
    known = {"text", "image", "resource"}
    known |= {"audio"} if visit.features.audio else set()
    known |= {"resource_link"} if visit.features.resource_links else set()
    seen: list[int] = []
    for tool, response in await _calls(visit):
        if not response.ok or response.body.get("resultType") not in (None, "complete"):
            continue
        if type(response.body.get("content")) is not list:
            return bad(f"{_name(tool)} returned no list of content.", *response.events)
        for block in _blocks(response):
            kind = value_at(block, "type")
            if kind not in known or _BLOCKS[str(kind)] not in block:
                return bad(f"{_name(tool)} returned the block {excerpt(block, 100)}.", *response.events)
        seen += response.events
    return good("", *seen) if seen else skipped("no allowed tool returned a result")


@CHECKS.active("TOOL-12", needs=Need.CALLS)
async def media(visit: Visit) -> Outcome:
    """The data of every image and audio block."""
    seen: list[int] = []
    for tool, response in await _calls(visit):
        for block in _blocks(response):
            if value_at(block, "type") not in ("image", "audio"):
                continue
            wrong = wrong_media(block)
            if wrong:
                return bad(f"{_name(tool)}: {wrong}.", *response.events)
            seen += response.events
    return good("", *seen) if seen else skipped("no result has an image or audio")


@CHECKS.active("TOOL-14")
async def wrong_values(visit: Visit) -> Outcome:
    """An allowed tool, with a value of the wrong type for one argument."""
    for tool in visit.callable()[: visit.limits.items]:
        arguments = _spoiled(tool)
        if arguments is None:
            continue
        response = await visit.request("tools/call", {"name": tool.get("name"), "arguments": arguments})
        if response.body.get("isError") is True and any(_is_text(block) for block in _blocks(response)):
            return good("", *response.events)
        if response.ok:
            return bad(
                f"{_name(tool)} accepted {excerpt(arguments, 80)} and returned {response.brief}.", *response.events
            )
        return bad(f"{_name(tool)} with invalid arguments got {response.reply}.", *response.events)
    return skipped("no allowed tool has an argument with a type")


@CHECKS.active("TOOL-15")
async def missing_argument(visit: Visit) -> Outcome:
    """The allowed tools with required arguments, called without arguments."""
    seen: list[int] = []
    for tool in visit.callable()[: visit.limits.items]:
        required = array_at(tool, "inputSchema", "required")
        if not required:
            continue
        response = await visit.request("tools/call", {"name": tool.get("name"), "arguments": {}})
        if _came(response):
            return bad(f"{_name(tool)} succeeded without {excerpt(required, 80)}.", *response.events)
        seen += response.events
    return good("", *seen) if seen else skipped("no allowed tool has a required argument")


@CHECKS.active("TOOL-22")
async def task_support(visit: Visit) -> Outcome:
    """Plain calls of tools with taskSupport required."""
    seen: list[int] = []
    for tool in visit.callable():
        if value_at(tool, "execution", "taskSupport") != "required":
            continue
        response = await visit.request("tools/call", {"name": tool.get("name"), "arguments": {}})
        if response.code != METHOD_NOT_FOUND:
            return bad(f"{_name(tool)} in a plain call got {response.reply}.", *response.events)
        seen += response.events
    return good("", *seen) if seen else skipped("no allowed tool requires a task")


@CHECKS.active("TOOL-23", needs=Need.CALLS)
async def embedded(visit: Visit) -> Outcome:
    """The results with an embedded resource."""
    seen: list[int] = []
    for tool, response in await _calls(visit):
        if any(value_at(block, "type") == "resource" for block in _blocks(response)):
            if not visit.can("resources"):
                return bad(f"{_name(tool)} embeds a resource, but resources is not declared.", *response.events)
            seen += response.events
    return good("", *seen) if seen else skipped("no result has an embedded resource")


async def _calls(visit: Visit) -> list[tuple[dict[str, Any], RequestOutcome]]:
    """The allowed tools with the responses to their calls."""
    return [(call.tool, call.response) for call in tool_calls(visit)]


def _came(response: RequestOutcome) -> bool:
    """Whether a call succeeded."""
    return (
        response.ok
        and response.body.get("isError") is not True
        and response.body.get("resultType") in (None, "complete")
    )


def _blocks(response: RequestOutcome) -> list[Any]:
    return array_at(response.body.get("content"))[:1000]


def _is_text(block: Any) -> bool:
    return type(block) is dict and block.get("type") == "text" and bool(block.get("text"))


def _spoiled(tool: dict[str, Any]) -> dict[str, Any] | None:
    """Arguments of which one has a type that the schema forbids; None if no argument has a type."""
    schema = tool.get("inputSchema")
    arguments = object_at(sample(schema))
    for name, property_schema in object_at(schema, "properties").items():
        kind = value_at(property_schema, "type")
        if kind in ("integer", "number", "boolean", "array", "object"):
            return {**arguments, name: "inspector-check: not of this type"}
        if kind == "string":
            return {**arguments, name: {"inspector-check": "not of this type"}}
    return None


def _name(tool: dict[str, Any]) -> str:
    return excerpt(tool.get("name"), 60)
