"""Resources and templates: what is listed, what is read, what is told of changes."""

from __future__ import annotations

import base64
import binascii
from typing import Any

from inspector.check.asked import Asked
from inspector.check.catalog import CheckTable
from inspector.check.declared import list_declared
from inspector.check.outcome import Outcome, bad, doubtful, good, skipped
from inspector.check.tool_calls import trials
from inspector.check.visit import Visit
from inspector.check.warm_up import nowhere
from inspector.errors import UsageError
from inspector.protocol.jsonrpc import INVALID_PARAMS, METHOD_NOT_FOUND, RESOURCE_NOT_FOUND, Shape, excerpt

_PAGE = "server/resources"

CHECKS = CheckTable("resources")
CHECKS.passive(
    "RES-02 type r1+",
    "resource",
    page=_PAGE,
    says="Every resource has an absolute URI and a name; its size is a number of bytes, its type a media type.",
    fix="Fill uri and name; leave size and mimeType out where they are not known.",
)
CHECKS.passive(
    "RES-03 lint r1+",
    "resource",
    page=_PAGE,
    says="No URI is listed twice.",
    fix="List each resource once; clients keep one entry for each URI.",
)
CHECKS.passive(
    "RES-11 type r1+",
    "template",
    page=f"{_PAGE}#resource-templates",
    says="Every template has a name, and a URI template as RFC 6570 has them.",
    fix="Write variables in braces: file:///{path}; each brace has its other one.",
)
CHECKS.passive(
    "RES-16 type r2+",
    "annotations",
    page=f"{_PAGE}#annotations",
    says="Annotations name an audience (user, assistant), a priority from 0 to 1, and a date.",
    fix="Use only these; lastModified is a date and time like 2026-07-28T12:00:00Z.",
)
CHECKS.passive(
    "RES-18 should r5",
    "error",
    page=f"{_PAGE}#error-handling",
    says="What fails inside the server is error -32603.",
    fix="Use -32603 (Internal error) in the place of -32000.",
)


@CHECKS.active(
    "RES-01 must r1+",
    page=f"{_PAGE}#capabilities",
    apart=True,
    judged=True,
    says="The resources capability is declared exactly where there are resources.",
    fix="Declare resources where resources/list is answered, and nowhere else.",
)
async def declared(visit: Visit) -> Outcome:
    """`resources/list`, whatever is declared."""
    return await list_declared(visit, "resources")


@CHECKS.active(
    "RES-04 type r1+",
    page=f"{_PAGE}#reading-resources",
    says="Reading gives contents, each with its URI and either text or data.",
    fix="Give each of the contents a uri, and exactly one of text and blob.",
)
async def contents(visit: Visit) -> Outcome:
    """Each of the first resources."""
    seen: list[int] = []
    for _, asked in await _reads(visit):
        if not asked.ok:
            continue
        if type(asked.body.get("contents")) is not list:
            return bad("The result has no list of contents.", *asked.events)
        for item in _contents(asked):
            if not isinstance(item.get("uri"), str) or ("text" in item) == ("blob" in item):
                return bad(f"One of the contents is {excerpt(item, 100)}.", *asked.events)
        seen += asked.events
    return good("", *seen) if seen else skipped("no resource could be read")


@CHECKS.active(
    "RES-05 must r1+",
    page=f"{_PAGE}#binary-content",
    says="Data of resources is base64.",
    fix="Encode the bytes as base64, without line breaks.",
)
async def binary(visit: Visit) -> Outcome:
    """Every blob among the contents."""
    seen: list[int] = []
    for _, asked in await _reads(visit):
        for item in _contents(asked):
            if "blob" in item:
                if _bytes(item["blob"]) is None:
                    return bad(f"The blob of {excerpt(item.get('uri'), 80)} is no base64.", *asked.events)
                seen += asked.events
    return good("", *seen) if seen else skipped("none of the first resources has data")


@CHECKS.active(
    "RES-06 should r1+",
    page=_PAGE,
    says="What is read is of the type and the size that the list said.",
    fix="Take both from the same place when you list and when you read.",
)
async def as_listed(visit: Visit) -> Outcome:
    """The list against the contents."""
    seen: list[int] = []
    for resource, asked in await _reads(visit):
        found = [item for item in _contents(asked) if item.get("uri") == resource.get("uri")]
        if not asked.ok or len(found) != 1:
            continue
        listed, read = resource.get("mimeType"), found[0].get("mimeType")
        what = excerpt(resource["uri"], 80)
        if isinstance(listed, str) and isinstance(read, str) and listed != read:
            return bad(f"{what} is listed as {excerpt(listed, 60)} and read as {excerpt(read, 60)}.", *asked.events)
        length, size = _length(found[0]), resource.get("size")
        if type(size) is int and length is not None and size != length:
            return bad(f"{what} is listed with {size:,} bytes and has {length:,}.", *asked.events)
        seen += asked.events
    return good("", *seen) if seen else skipped("no resource could be read")


@CHECKS.active(
    "RES-07 should r1-r4",
    page=f"{_PAGE}#error-handling",
    says="An unknown resource is answered with error -32002.",
    fix="Answer -32002 (Resource not found), with the URI in data.uri.",
)
async def unknown_resource(visit: Visit) -> Outcome:
    """A URI that there is hardly."""
    return await _unknown(visit, RESOURCE_NOT_FOUND)


@CHECKS.active(
    "RES-08 must r5",
    page=f"{_PAGE}#error-handling",
    says="An unknown resource is answered with error -32602.",
    fix="Answer -32602 (Invalid params), with the URI in data.uri.",
)
async def unknown_resource_now(visit: Visit) -> Outcome:
    """A URI that there is hardly."""
    return await _unknown(visit, INVALID_PARAMS)


@CHECKS.active(
    "RES-09 must r1+",
    page=f"{_PAGE}#error-handling",
    says="An unknown resource is an error and not an empty one.",
    fix="Answer with an error where there is nothing at the URI.",
)
async def nothing_there(visit: Visit) -> Outcome:
    """A URI that there is hardly: no result at all, before 2026-07-28 a warning."""
    if not visit.can("resources"):
        return skipped("the server has no resources")
    asked = await visit.ask("resources/read", {"uri": nowhere(visit)})
    if asked.ok and not _contents(asked):
        return (bad if visit.modern else doubtful)("It is read, and has no contents.", *asked.events)
    return good("", *asked.events)


@CHECKS.active(
    "RES-10 must r1+",
    page=f"{_PAGE}#security-considerations",
    mode="intrusive",
    says="No path leads out of what is offered.",
    fix="Resolve the path first, and compare it with the folder that is offered.",
)
async def traversal(visit: Visit) -> Outcome:
    """Ways up to a file that every system has; only where files are offered at all."""
    uris = [str(item.get("uri")) for item in visit.items("resources")]
    templates = [str(item.get("uriTemplate")) for item in visit.items("templates")]
    if not any(uri.startswith("file:") for uri in (*uris, *templates)):
        return skipped("no files are offered")
    seen: list[int] = []
    for path in ("/../../../../../../etc/passwd", "/%2e%2e/%2e%2e/%2e%2e/%2e%2e/%2e%2e/etc/passwd", "/etc/passwd"):
        asked = await visit.ask("resources/read", {"uri": f"file://{path}"})
        seen += asked.events
        if asked.ok and any("root:" in str(item.get("text", ""))[:2000] for item in _contents(asked)):
            return bad(f"file://{path} was read.", *asked.events)
    return good("", *seen)


@CHECKS.active(
    "RES-12 robust r1+",
    page=f"{_PAGE}#resource-templates",
    mode="tool",
    says="What is made of a template with completed values can be read.",
    fix="Complete only values for which there is something to be read.",
)
async def expanded(visit: Visit) -> Outcome:
    """Templates whose variables can be completed."""
    from inspector.protocol.uritemplate import Template

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
                break  # What fits to the values before it cannot be asked for yet.
            context = {"context": {"arguments": dict(values)}} if values else {}
            completed = await visit.ask("completion/complete", {**ref, **context})
            offered = completed.body.get("completion")
            words = offered.get("values") if type(offered) is dict else None
            if type(words) is not list or not words or not isinstance(words[0], str):
                break
            values[name] = words[0]
        if len(values) == len(set(names)):
            asked = await visit.ask("resources/read", {"uri": template.expand(values)})
            seen += asked.events
            if not asked.ok:
                return bad(f"{excerpt(template.expand(values), 100)} is answered with {asked.reply}.", *asked.events)
    return good("", *seen) if seen else skipped("no template has variables that can all be completed")


@CHECKS.active(
    "RES-13 must r1-r4",
    page=f"{_PAGE}#subscriptions",
    apart=True,
    says="Subscriptions are taken where they are declared, and unknown where they are not.",
    fix="Declare resources.subscribe, or answer resources/subscribe with error -32601.",
)
async def subscriptions(visit: Visit) -> Outcome:
    """Subscribe to the first resource, and take it back."""
    uris = [item["uri"] for item in visit.items("resources") if isinstance(item.get("uri"), str)]
    if not visit.can("resources") or not uris:
        return skipped("the server lists no resources")
    seen: list[int] = []
    async with visit.link() as link:
        for method in ("resources/subscribe", "resources/unsubscribe"):
            asked = await link.ask(method, {"uri": uris[0]})
            seen += asked.events
            if visit.can("resources", "subscribe") and not asked.ok:
                return bad(f"{method} is declared, and answered with {asked.reply}.", *asked.events)
            if not visit.can("resources", "subscribe") and asked.code != METHOD_NOT_FOUND:
                return bad(f"{method} is not declared, and answered with {asked.reply}.", *asked.events)
    return good("", *seen)


@CHECKS.active(
    "RES-14 must r1-r4",
    page=f"{_PAGE}#subscriptions",
    mode="tool",
    apart=True,
    says="Only who has subscribed to a resource is told of its changes, and not any more afterwards.",
    fix="Keep the subscriptions of each session, and look there before you tell of a change.",
)
async def updates(visit: Visit) -> Outcome:
    """The allowed tools are called without a subscription: nobody must be told of anything."""
    quick = [trial for trial in trials(visit) if trial.asked.answered][: visit.limits.items]
    if not visit.can("resources", "subscribe") or not quick:
        return skipped("there are no subscriptions, or no tool that may be called answers")
    async with visit.link() as link:
        for trial in quick:
            await link.ask("tools/call", trial.params, timeout=visit.limits.request / 2)
        told = [
            frame
            for frame in link.frames
            if frame.shape is Shape.NOTIFICATION and frame.message["method"] == "notifications/resources/updated"
        ]
    if told:
        return bad("An update came for a resource to which nobody has subscribed.", told[0].n)
    return good(f"{len(quick)} tools were called")


@CHECKS.active(
    "RES-15 should r1+",
    page=f"{_PAGE}#common-uri-schemes",
    mode="intrusive",
    says="https: is the scheme of what a client can fetch by itself, and of nothing else.",
    fix="Use a scheme of your own for what is read through the server.",
)
async def fetchable(visit: Visit) -> Outcome:
    """Whether https: is used at all; whether it can be fetched is for a person to see."""
    uris = [item["uri"] for item in visit.items("resources") if isinstance(item.get("uri"), str)]
    found = [uri for uri in uris if uri.startswith("https://")]
    if not uris:
        return skipped("the server lists no resources")
    return doubtful(f"Is {excerpt(found[0], 100)} to be fetched without the server?", 1) if found else good()


@CHECKS.active(
    "RES-17 must r5",
    page=_PAGE,
    apart=True,
    says="The list of resources is the same on every connection.",
    fix="List the same resources to everybody with the same rights.",
)
async def same_everywhere(visit: Visit) -> Outcome:
    """The first page on another connection."""
    if not visit.items("resources"):
        return skipped("the server lists no resources")
    async with visit.link() as link:
        asked = await link.ask("resources/list", {})
    resources = asked.body.get("resources")
    there = [item.get("uri") for item in resources if type(item) is dict] if type(resources) is list else []
    here = [item.get("uri") for item in visit.items("resources")]
    if not asked.ok or there != (here[: len(there)] if "nextCursor" in asked.body else here):
        return bad("Another connection has another list.", *asked.events)
    return good("", *asked.events)


@CHECKS.active(
    "RES-19 info r5",
    page=f"{_PAGE}#error-handling",
    says="The error for an unknown resource names it.",
    fix="Put the URI into data.uri of the error.",
)
async def named_in_the_error(visit: Visit) -> Outcome:
    """`data.uri` of the error."""
    if not visit.can("resources"):
        return skipped("the server has no resources")
    uri = nowhere(visit)
    asked = await visit.ask("resources/read", {"uri": uri})
    data = asked.error.get("data")
    if not asked.error:
        return skipped("it is answered with a result")
    named = type(data) is dict and data.get("uri") == uri
    return good("", *asked.events) if named else bad("The error does not name the URI.", *asked.events)


async def _unknown(visit: Visit, code: int) -> Outcome:
    if not visit.can("resources"):
        return skipped("the server has no resources")
    asked = await visit.ask("resources/read", {"uri": nowhere(visit)})
    if asked.code == code:
        return good("", *asked.events)
    return bad(f"It is answered with {asked.reply}.", *asked.events)


async def _reads(visit: Visit) -> list[tuple[dict[str, Any], Asked]]:
    """The first resources, each read once in a visit."""
    made: list[tuple[dict[str, Any], Asked]] | None = visit.remembered.get("reads")
    if made is None:
        made = visit.remembered["reads"] = []
        for resource in visit.items("resources")[: visit.limits.items]:
            if isinstance(resource.get("uri"), str):
                made.append((resource, await visit.ask("resources/read", {"uri": resource["uri"]})))
    return made


def _contents(asked: Asked) -> list[dict[str, Any]]:
    contents = asked.body.get("contents")
    return [item for item in contents[:1000] if type(item) is dict] if type(contents) is list else []


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
