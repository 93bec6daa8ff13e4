"""Prompts: their list and their messages."""

from __future__ import annotations

import base64
import binascii
from typing import Any

from inspector.check.check_table import CheckTable
from inspector.check.checks.capabilities import list_declared, same_list
from inspector.check.outcome import Outcome, bad, expect, good, skipped
from inspector.check.visit.facts import collected
from inspector.check.visit.request_outcome import RequestOutcome
from inspector.check.visit.visit import Visit
from inspector.protocol.jsonrpc import INVALID_PARAMS, excerpt
from inspector.protocol.members import array_at, objects_at

_UNKNOWN_NAME = "inspector-check-no-such-prompt"
_MARK = "inspectorcheck"
_BLOCKS = {"text": "text", "image": "data", "audio": "data", "resource": "resource", "resource_link": "uri"}

CHECKS = CheckTable("prompts")


@CHECKS.active("PROM-01", apart=True)
async def declared(visit: Visit) -> Outcome:
    """`prompts/list`, whatever is declared."""
    return await list_declared(visit, "prompts")


@CHECKS.active("PROM-03", mode="tool")
async def messages(visit: Visit) -> Outcome:
    """The first prompts, with values for their arguments."""
    seen: list[int] = []
    for _, response in await _gets(visit):
        if not response.ok or response.body.get("resultType") not in (None, "complete"):
            continue
        if type(response.body.get("messages")) is not list:
            return bad("The result has no list of messages.", *response.events)
        for message in _messages(response):
            if message.get("role") not in ("user", "assistant") or not _is_block(message.get("content")):
                return bad(f"One of the messages is {excerpt(message, 100)}.", *response.events)
        seen += response.events
    return good("", *seen) if seen else skipped("no prompt could be got")


@CHECKS.active("PROM-04")
async def unknown_prompt(visit: Visit) -> Outcome:
    """An unknown prompt name."""
    if not visit.can("prompts"):
        return skipped("the server has no prompts")
    response = await visit.request("prompts/get", {"name": _UNKNOWN_NAME})
    return expect(response, response.code == INVALID_PARAMS, f"The request got {response.reply}.")


@CHECKS.active("PROM-05")
async def missing_argument(visit: Visit) -> Outcome:
    """The first prompts with required arguments, without them."""
    seen: list[int] = []
    for prompt in visit.items("prompts")[: visit.limits.items]:
        if not any(argument.get("required") is True for argument in _arguments(prompt)):
            continue
        response = await visit.request("prompts/get", {"name": prompt.get("name"), "arguments": {}})
        seen += response.events
        if response.code != INVALID_PARAMS:
            return bad(f"{excerpt(prompt.get('name'), 60)} got {response.reply}.", *response.events)
    return good("", *seen) if seen else skipped("no prompt requires an argument")


@CHECKS.active("PROM-06", mode="tool")
async def media(visit: Visit) -> Outcome:
    """The blocks of all prompts that are not text."""
    seen: list[int] = []
    for _, response in await _gets(visit):
        for message in _messages(response):
            block = message.get("content")
            if type(block) is not dict or block.get("type") not in ("image", "audio", "resource"):
                continue
            if not _is_whole(block):
                return bad(f"One of the blocks is {excerpt(block, 100)}.", *response.events)
            seen += response.events
    return good("", *seen) if seen else skipped("no prompt has an image, audio or a resource")


@CHECKS.active("PROM-08", apart=True)
async def same_everywhere(visit: Visit) -> Outcome:
    """The first page on another connection."""
    return await same_list(visit, "prompts", "name")


@CHECKS.active("PROM-09", mode="tool")
async def arguments_used(visit: Visit) -> Outcome:
    """A marker in each required argument, which must appear in the messages."""
    seen: list[int] = []
    for prompt in visit.items("prompts")[: visit.limits.items]:
        names = [argument["name"] for argument in _arguments(prompt) if argument.get("required") is True]
        if not names or not all(isinstance(name, str) for name in names):
            continue
        values = {name: _mark(name, str(at)) for at, name in enumerate(names)}
        response = await visit.request("prompts/get", {"name": prompt.get("name"), "arguments": values})
        if not response.ok or response.body.get("resultType") not in (None, "complete"):
            continue
        text = excerpt(response.result, 1 << 20)
        unused = [name for name, value in values.items() if value not in text]
        if unused:
            return bad(
                f"{excerpt(unused[0], 60)} of {excerpt(prompt.get('name'), 60)} changes nothing.", *response.events
            )
        seen += response.events
    return good("", *seen) if seen else skipped("no prompt with required arguments could be got")


@collected(list[tuple[dict[str, Any], RequestOutcome]])
async def _gets(visit: Visit, made: list[tuple[dict[str, Any], RequestOutcome]]) -> None:
    """The first prompts, each got once in a visit, with completed or generated values."""
    for prompt in visit.items("prompts")[: visit.limits.items]:
        values = {
            argument["name"]: await _value(visit, prompt, argument["name"])
            for argument in _arguments(prompt)
            if argument.get("required") is True and isinstance(argument.get("name"), str)
        }
        params = {"name": prompt.get("name"), "arguments": values}
        made.append((prompt, await visit.request("prompts/get", params)))


async def _value(visit: Visit, prompt: dict[str, Any], name: str) -> str:
    if not visit.can("completions"):
        return _mark(name)
    params = {"ref": {"type": "ref/prompt", "name": prompt.get("name")}, "argument": {"name": name, "value": ""}}
    completed = await visit.request("completion/complete", params)
    values = array_at(completed.body, "completion", "values")
    return values[0] if values and isinstance(values[0], str) else _mark(name)


def _mark(name: str, more: str = "") -> str:
    """A value for an argument. An argument named like a URI gets a URI, because its value may be used as one."""
    is_uri = "uri" in name.lower() or "url" in name.lower()
    return f"urn:{_MARK}:{more or 0}" if is_uri else _MARK + more


def _arguments(prompt: dict[str, Any]) -> list[dict[str, Any]]:
    return objects_at(array_at(prompt.get("arguments"))[:100])


def _messages(response: RequestOutcome) -> list[dict[str, Any]]:
    return objects_at(array_at(response.body.get("messages"))[:1000])


def _is_block(block: Any) -> bool:
    if type(block) is not dict:
        return False
    needed = _BLOCKS.get(str(block.get("type")))
    return needed is not None and needed in block


def _is_whole(block: dict[str, Any]) -> bool:
    if block["type"] == "resource":
        resource = block.get("resource")
        if type(resource) is not dict or not isinstance(resource.get("uri"), str):
            return False
        return ("text" in resource) != ("blob" in resource)
    data = block.get("data")
    if not isinstance(block.get("mimeType"), str) or not isinstance(data, str):
        return False
    try:
        return bool(base64.b64decode(data, validate=True))
    except (binascii.Error, ValueError):
        return False
