"""Rules for the entries of lists: tools, resources, templates and prompts. Used by a thorough judge."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from inspector.check.judge.rules import RuleVerdict, short
from inspector.check.judge.state import JudgeState
from inspector.errors import UsageError
from inspector.protocol.members import array_at, object_at, value_at
from inspector.protocol.uri_templates import Template

MAX_VALUES = 10_000
"""Values of one entry that are checked."""
_SECRET = re.compile(r"passw|secret|token|api.?key|credential|private.?key|authorization", re.IGNORECASE)
_ABSOLUTE = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:[^\s]*")
_MEDIA_TYPE = re.compile(r"[A-Za-z0-9!#$&^_.+-]+/[A-Za-z0-9!#$&^_.+-]+(?:\s*;.*)?")
_DATE = re.compile(r"\d{4}-\d\d-\d\d(?:[Tt ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:[Zz]|[+-]\d\d:?\d\d)?)?")
_ELSEWHERE = frozenset(
    ("$ref", "$dynamicRef", "$recursiveRef", "allOf", "anyOf", "oneOf", "if", "dependentSchemas", "patternProperties")
)
"""Keywords with subschemas besides `properties`."""
_SAME = {
    "tools/list": ("name", "TOOL-05", "tools"),
    "resources/list": ("uri", "RES-03", "resources"),
    "prompts/list": ("name", "PROM-02", "prompts"),
}
"""The member that identifies the entries of a list."""


def page_rules(method: str, result: dict[str, Any]) -> Iterator[RuleVerdict]:
    """The cursor in a page of a list."""
    if "nextCursor" in result and type(result["nextCursor"]) is not str:
        yield "UTIL-01", "must", f"nextCursor of {method} is {short(result['nextCursor'])}."


def resource_rules(resource: dict[str, Any], state: JudgeState) -> Iterator[RuleVerdict]:
    """The members of a resource."""
    uri, size, kind = resource.get("uri"), resource.get("size"), resource.get("mimeType")
    if type(uri) is not str or not _ABSOLUTE.fullmatch(uri):
        yield "RES-02", "must", f"The URI {short(uri)} is not absolute: it needs a scheme that begins with a letter."
    if type(resource.get("name")) is not str:
        yield "RES-02", "must", f"The name of {short(uri)} is {short(resource.get('name'))}."
    if size is not None and (type(size) is not int or size < 0):
        yield "RES-02", "must", f"The size of {short(uri)} is {short(size)}."
    if kind is not None and (type(kind) is not str or not _MEDIA_TYPE.fullmatch(kind)):
        yield "RES-02", "must", f"The mimeType of {short(uri)} is {short(kind)}."
    yield from _annotation_rules(uri, resource.get("annotations"))


def template_rules(entry: dict[str, Any]) -> Iterator[RuleVerdict]:
    """The members of a resource template."""
    text = entry.get("uriTemplate")
    if type(entry.get("name")) is not str:
        yield "RES-11", "must", f"The name of the template {short(text)} is {short(entry.get('name'))}."
    try:
        if type(text) is not str:
            yield "RES-11", "must", f"A URI template is {short(text)}."
        else:
            Template.parse(text)
    except UsageError as error:
        yield "RES-11", "must", f"The URI template {short(text)} is invalid: {error.message}"
    yield from _annotation_rules(text, entry.get("annotations"))


def _annotation_rules(whose: Any, annotations: Any) -> Iterator[RuleVerdict]:
    if type(annotations) is not dict:
        return
    audience, priority, date = (annotations.get(key) for key in ("audience", "priority", "lastModified"))
    if audience is not None and not _is_audience(audience):
        yield "RES-16", "must", f"The audience of {short(whose)} is {short(audience)}."
    if priority is not None and not (type(priority) in (int, float) and 0 <= priority <= 1):
        yield "RES-16", "must", f"The priority of {short(whose)} is {short(priority)}."
    if date is not None and (type(date) is not str or not _DATE.fullmatch(date)):
        yield "RES-16", "must", f"lastModified of {short(whose)} is {short(date)}."


def _is_audience(value: Any) -> bool:
    return type(value) is list and all(role in ("user", "assistant") for role in value)


def prompt_rules(prompt: dict[str, Any]) -> Iterator[RuleVerdict]:
    """The members of a prompt."""
    name = prompt.get("name")
    if type(name) is not str or not name:
        yield "PROM-02", "must", f"The name of a prompt is {short(name)}."
    seen: set[str] = set()
    for argument in array_at(prompt.get("arguments"))[:MAX_VALUES]:
        key = value_at(argument, "name")
        if type(key) is not str:
            yield "PROM-02", "must", f"An argument of {short(name)} is {short(argument)}."
            continue
        if key in seen:
            yield "PROM-02", "must", f"Two arguments of {short(name)} have the name {short(key)}."
        seen.add(key)
        if type(argument.get("required", False)) is not bool:
            yield "PROM-02", "must", f"required of {short(key)} is {short(argument['required'])}."


def alike(method: str, entries: list[Any]) -> Iterator[RuleVerdict]:
    """Duplicate entries of one page; for tools also names that differ only in case."""
    key, rule, many = _SAME.get(method, ("", "", ""))
    exact: set[str] = set()
    folded: dict[str, str] = {}
    for entry in entries if key else ():
        name = value_at(entry, key)
        if not isinstance(name, str):
            continue
        other = folded.setdefault(name.lower(), name)
        if name in exact and method != "tools/list":  # For duplicate tools, the judge has a rule that covers all pages.
            yield rule, "should", f"Two {many} have the name {short(name)}."
        elif other != name and method == "tools/list":
            yield rule, "should", f"The {many} {short(other)} and {short(name)} differ only in case."
        exact.add(name)


def tool_rules(name: Any, tool: dict[str, Any], state: JudgeState) -> Iterator[RuleVerdict]:
    """The members of a tool."""
    row = state.features
    if row.icons and "inputSchema" in tool and tool["inputSchema"] is None:
        yield "TOOL-03", "must", f"The inputSchema of {short(name)} is null."
    description = tool.get("description")
    if not isinstance(description, str) or not description.strip():
        yield "TOOL-06", "should", f"{short(name)} has no description."
    hints = tool.get("annotations")
    if type(hints) is dict and row.tool_annotations:
        wrong = [key for key, value in hints.items() if key.endswith("Hint") and type(value) is not bool]
        if wrong:
            yield "TOOL-07", "must", f"{short(wrong[0])} of {short(name)} is {short(hints[wrong[0]])}."
        if hints.get("readOnlyHint") is True and hints.get("destructiveHint") is True:
            yield "TOOL-07", "must", f"{short(name)} has both readOnlyHint and destructiveHint."
    for key in ("inputSchema", "outputSchema"):
        for missing in _unnamed(tool.get(key)):
            yield "TOOL-27", "should", f"{key} of {short(name)} requires {short(missing)}, which is not a property."
    output = tool.get("outputSchema")
    if (
        row.structured_content
        and not row.structured_any
        and output is not None
        and value_at(output, "type") != "object"
    ):
        yield "TOOL-08", "must", f"The outputSchema of {short(name)} does not have the root type object."
    if row.tasks:
        support = value_at(tool, "execution", "taskSupport")
        if support not in (None, "forbidden", "optional", "required"):
            yield "TOOL-21", "must", f"taskSupport of {short(name)} is {short(support)}."
        elif (
            support in ("optional", "required") and value_at(state.server, "tasks", "requests", "tools", "call") is None
        ):
            yield "TOOL-21", "must", f"{short(name)} has a taskSupport, but tasks.requests.tools.call is not declared."
    if state.era == "modern":
        for parameter in _secret_headers(tool.get("inputSchema")):
            yield (
                "TOOL-20",
                "should",
                f"The parameter {short(parameter)} of {short(name)} is a secret with x-mcp-header.",
            )


def _unnamed(schema: Any) -> Iterator[str]:
    """Names in required of a schema or of one of its properties that are not in its properties.

    A schema that combines others (`$ref`, `allOf` …) may define them there, and is skipped.
    """
    todo = [schema]
    for _ in range(MAX_VALUES):
        if not todo:
            return
        item = todo.pop()
        if type(item) is not dict or not _ELSEWHERE.isdisjoint(item):
            continue
        properties = item.get("properties", {})
        if type(properties) is not dict:
            continue
        for name in array_at(item.get("required")):
            if isinstance(name, str) and name not in properties:
                yield name
        todo += (*properties.values(), item.get("items"))


def _task_calls(state: JudgeState) -> bool:
    return value_at(state.server, "tasks", "requests", "tools", "call") is not None


def _secret_headers(schema: Any) -> Iterator[str]:
    """Header parameters (x-mcp-header) whose names look like secrets."""
    todo = [schema]
    for _ in range(MAX_VALUES):
        if not todo:
            return
        item = todo.pop()
        for key, value in object_at(item, "properties").items():
            if type(value) is dict:
                if "x-mcp-header" in value and _SECRET.search(key):
                    yield key
                todo.append(value)
