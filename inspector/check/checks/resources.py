"""Resources and templates: lists, contents, and updates."""

from __future__ import annotations

import base64
import binascii
from typing import Any

from inspector.check.check_table import CheckTable, Need
from inspector.check.checks.capabilities import list_declared, same_list
from inspector.check.outcome import Outcome, bad, doubtful, expect, good, skipped
from inspector.check.visit.facts import collected
from inspector.check.visit.request_outcome import RequestOutcome
from inspector.check.visit.tool_calls import tool_calls
from inspector.check.visit.visit import Visit
from inspector.check.visit.warm_up import nowhere
from inspector.errors import UsageError
from inspector.protocol.jsonrpc import INVALID_PARAMS, METHOD_NOT_FOUND, RESOURCE_NOT_FOUND, Shape, excerpt
from inspector.protocol.members import array_at, objects_at, value_at
from inspector.text import quantity

_TRIED = 5
"""Resources that are tried with resources/subscribe: a server need not offer it for each."""

CHECKS = CheckTable("resources")


@CHECKS.active("RES-01", apart=True, judged=True)
async def declared(visit: Visit) -> Outcome:
    """`resources/list`, whatever is declared."""
    return await list_declared(visit, "resources")


@CHECKS.active("RES-04")
async def contents(visit: Visit) -> Outcome:
    """The first resources."""
    seen: list[int] = []
    for _, response in await _reads(visit):
        if not response.ok:
            continue
        if type(response.body.get("contents")) is not list:
            return bad("The result has no list of contents.", *response.events)
        for item in _contents(response):
            if not isinstance(item.get("uri"), str) or ("text" in item) == ("blob" in item):
                return bad(f"One of the contents is {excerpt(item, 100)}.", *response.events)
        seen += response.events
    return good("", *seen) if seen else skipped("no resource could be read")


@CHECKS.active("RES-05")
async def binary(visit: Visit) -> Outcome:
    """Every blob in the contents."""
    seen: list[int] = []
    for _, response in await _reads(visit):
        for item in _contents(response):
            if "blob" in item:
                if _bytes(item["blob"]) is None:
                    return bad(f"The blob of {excerpt(item.get('uri'), 80)} is not base64.", *response.events)
                seen += response.events
    return good("", *seen) if seen else skipped("none of the first resources has a blob")


@CHECKS.active("RES-06")
async def as_listed(visit: Visit) -> Outcome:
    """The list compared with the contents."""
    seen: list[int] = []
    for resource, response in await _reads(visit):
        same_uri = [item for item in _contents(response) if item.get("uri") == resource.get("uri")]
        if not response.ok or len(same_uri) != 1:
            continue
        listed, read = resource.get("mimeType"), same_uri[0].get("mimeType")
        what = excerpt(resource["uri"], 80)
        if isinstance(listed, str) and isinstance(read, str) and listed != read:
            return bad(
                f"{what} is {excerpt(listed, 60)} in the list and {excerpt(read, 60)} in the contents.",
                *response.events,
            )
        length, size = _length(same_uri[0]), resource.get("size")
        if type(size) is int and length is not None and size != length:
            return bad(f"{what} has {size:,} bytes in the list and {length:,} in the contents.", *response.events)
        seen += response.events
    return good("", *seen) if seen else skipped("no resource could be read")


@CHECKS.active("RES-07")
async def unknown_resource(visit: Visit) -> Outcome:
    """A URI that most likely does not exist."""
    return await _unknown(visit, RESOURCE_NOT_FOUND)


@CHECKS.active("RES-08")
async def unknown_resource_now(visit: Visit) -> Outcome:
    """A URI that most likely does not exist."""
    return await _unknown(visit, INVALID_PARAMS)


@CHECKS.active("RES-09")
async def nothing_there(visit: Visit) -> Outcome:
    """A URI that most likely does not exist: any result is a fault, before 2026-07-28 a warning."""
    if not visit.can("resources"):
        return skipped("the server has no resources")
    response = await visit.request("resources/read", {"uri": nowhere(visit)})
    if response.ok and not _contents(response):
        return (bad if visit.modern else doubtful)("It returns a result with empty contents.", *response.events)
    return good("", *response.events)


@CHECKS.active("RES-10", mode="intrusive")
async def traversal(visit: Visit) -> Outcome:
    """Relative paths to a file that every system has; only if the server offers files."""
    uris = [str(item.get("uri")) for item in visit.items("resources")]
    templates = [str(item.get("uriTemplate")) for item in visit.items("templates")]
    if not any(uri.startswith("file:") for uri in (*uris, *templates)):
        return skipped("the server offers no files")
    seen: list[int] = []
    for path in ("/../../../../../../etc/passwd", "/%2e%2e/%2e%2e/%2e%2e/%2e%2e/%2e%2e/etc/passwd", "/etc/passwd"):
        response = await visit.request("resources/read", {"uri": f"file://{path}"})
        seen += response.events
        if response.ok and any("root:" in str(item.get("text", ""))[:2000] for item in _contents(response)):
            return bad(f"file://{path} was read.", *response.events)
    return good("", *seen)


@CHECKS.active("RES-12", mode="tool")
async def expanded(visit: Visit) -> Outcome:
    """Templates whose variables can be completed."""
    from inspector.protocol.uri_templates import Template

    seen: list[int] = []
    for entry in visit.items("templates")[: visit.limits.items]:
        text = entry.get("uriTemplate")
        try:
            template = Template.parse(text) if isinstance(text, str) else None
        except UsageError:
            template = None
        if template is None or not visit.can("completions"):
            continue
        values: dict[str, str] = {}
        names = [variable.name for variable in template.variables]
        for name in names:
            ref = {"ref": {"type": "ref/resource", "uri": text}, "argument": {"name": name, "value": ""}}
            if values and not visit.features.completion_context:
                break  # Completion does not know the earlier values yet.
            context = {"context": {"arguments": dict(values)}} if values else {}
            completed = await visit.request("completion/complete", {**ref, **context})
            words = value_at(completed.body, "completion", "values")
            if type(words) is not list or not words or not isinstance(words[0], str):
                break
            values[name] = words[0]
        if len(values) == len(set(names)):
            response = await visit.request("resources/read", {"uri": template.expand(values)})
            seen += response.events
            if not response.ok:
                return bad(f"{excerpt(template.expand(values), 100)} got {response.reply}.", *response.events)
    return good("", *seen) if seen else skipped("no template has completions for all its variables")


@CHECKS.active("RES-13", apart=True)
async def subscriptions(visit: Visit) -> Outcome:
    """Subscribe to a resource, then unsubscribe. No page promises this for every resource, or a code for a refusal."""
    uris = [item["uri"] for item in visit.items("resources") if isinstance(item.get("uri"), str)]
    if not visit.can("resources") or not uris:
        return skipped("the server lists no resources")
    declared = visit.can("resources", "subscribe")
    async with visit.connection() as connection:
        for uri in uris[: _TRIED if declared else 1]:
            response = await connection.request("resources/subscribe", {"uri": uri})
            if response.ok:
                ended = await connection.request("resources/unsubscribe", {"uri": uri})
                events = (*response.events, *ended.events)
                if not declared:
                    return doubtful("resources/subscribe is not declared, but works.", *events)
                if not ended.ok:
                    return doubtful(f"resources/unsubscribe got {ended.reply}.", *events)
                return good("", *events)
            if response.code == METHOD_NOT_FOUND or not response.answered:
                break
    if not declared:
        return good("", *response.events)
    return doubtful(f"resources.subscribe is declared, but resources/subscribe got {response.reply}.", *response.events)


@CHECKS.active("RES-14", mode="tool", apart=True, needs=Need.CALLS)
async def updates(visit: Visit) -> Outcome:
    """The allowed tools, called without a subscription, after which no updates may come."""
    quick = [call for call in tool_calls(visit) if call.response.answered][: visit.limits.items]
    if not visit.can("resources", "subscribe") or not quick:
        return skipped("the server has no subscriptions, or no allowed tool responds")
    async with visit.connection() as connection:
        for call in quick:
            await connection.request("tools/call", call.params, timeout=visit.limits.request / 2)
        notifications = [
            frame
            for frame in connection.frames
            if frame.shape is Shape.NOTIFICATION and frame.message["method"] == "notifications/resources/updated"
        ]
    if notifications:
        return bad("notifications/resources/updated came without a subscription.", notifications[0].n)
    return good(f"{quantity(len(quick), 'tool')} called")


@CHECKS.active("RES-15", mode="intrusive")
async def fetchable(visit: Visit) -> Outcome:
    """Whether any URI uses https:; a person must decide whether a client can fetch it."""
    uris = [item["uri"] for item in visit.items("resources") if isinstance(item.get("uri"), str)]
    https = [uri for uri in uris if uri.startswith("https://")]
    if not uris:
        return skipped("the server lists no resources")
    return doubtful(f"Can a client fetch {excerpt(https[0], 100)} without the server?", 1) if https else good()


@CHECKS.active("RES-17", apart=True)
async def same_everywhere(visit: Visit) -> Outcome:
    """The first page on another connection."""
    return await same_list(visit, "resources", "uri")


@CHECKS.active("RES-19")
async def named_in_the_error(visit: Visit) -> Outcome:
    """`data.uri` of the error."""
    if not visit.can("resources"):
        return skipped("the server has no resources")
    uri = nowhere(visit)
    response = await visit.request("resources/read", {"uri": uri})
    if not response.error:
        return skipped("it returns a result")
    return expect(response, value_at(response.error, "data", "uri") == uri, "The error does not contain the URI.")


async def _unknown(visit: Visit, code: int) -> Outcome:
    if not visit.can("resources"):
        return skipped("the server has no resources")
    response = await visit.request("resources/read", {"uri": nowhere(visit)})
    return expect(response, response.code == code, f"The request got {response.reply}.")


@collected(list[tuple[dict[str, Any], RequestOutcome]])
async def _reads(visit: Visit, made: list[tuple[dict[str, Any], RequestOutcome]]) -> None:
    """The first resources, each read once in a visit."""
    for resource in visit.items("resources")[: visit.limits.items]:
        if isinstance(resource.get("uri"), str):
            response = await visit.request("resources/read", {"uri": resource["uri"]})
            made.append((resource, response))


def _contents(response: RequestOutcome) -> list[dict[str, Any]]:
    return objects_at(array_at(response.body.get("contents"))[:1000])


def _bytes(blob: Any) -> bytes | None:
    try:
        return base64.b64decode(blob, validate=True) if isinstance(blob, str) else None
    except (binascii.Error, ValueError):
        return None


def _length(item: dict[str, Any]) -> int | None:
    if isinstance(item.get("text"), str):
        return len(item["text"].encode("utf-8", "surrogatepass"))
    data = _bytes(item.get("blob"))
    return None if data is None else len(data)
