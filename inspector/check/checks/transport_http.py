"""Streamable HTTP of every revision: one endpoint, statuses, content types, event streams, origins."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable
from contextlib import suppress

from inspector.addresses import is_loopback
from inspector.check.check_table import CheckTable
from inspector.check.outcome import Outcome, bad, doubtful, expect, good, remark, skipped
from inspector.check.visit.http import ACCEPT, RecordedResponse
from inspector.check.visit.raw_post import NOWHERE, RawPost, raw_post
from inspector.check.visit.visit import Visit

_EVIL = "evil.example"
_SINCE_403 = ("2025-11-25", "2026-07-28")
"""The revisions that define the status for a foreign origin."""
_NO_ENDPOINT = (404, 405, 501)
_AT_ONCE = 5
_LARGE_BYTES = 1 << 20
_QUIET_SECONDS = 30.0

CHECKS = CheckTable("transport_http")


def _refused(answer: RecordedResponse, served: str, fault: Callable[..., Outcome] = bad) -> Outcome:
    """Skipped without a response, good if the status is an error, else `fault` with `served`."""
    if not answer.status:
        return skipped(f"the request got {answer.brief}")
    return expect(answer, answer.refused, served, fault, text=answer.brief)


@CHECKS.active("HTTP-01", apart=True)
async def one_endpoint(visit: Visit) -> Outcome:
    """A request by POST, and in the legacy era a GET."""
    async with raw_post(visit) as post:
        response = await post.request(post.harmless())
        if not response.message and response.status in _NO_ENDPOINT:
            return bad(f"A POST got {response.brief}.", *response.events)
        if visit.modern:
            return good("", *response.events)
        stream = await post.listen(until=0)
    if stream.status in (404, 501):
        return bad(f"A GET got {stream.brief}.", *stream.events)
    return good("", *response.events, *stream.events)


@CHECKS.active("HTTP-04", apart=True)
async def bad_notification(visit: Visit) -> Outcome:
    """A notification with an unknown method and invalid params."""
    async with raw_post(visit) as post:
        answer = await post.notify("notifications/inspector/no-such-thing", [])
    if not answer.status:
        return bad(f"An invalid notification got {answer.brief}.", *answer.events)
    if answer.status == 202 or answer.refused:
        return good(answer.brief, *answer.events)
    return bad(f"An invalid notification got {answer.brief}.", *answer.events)


@CHECKS.active("HTTP-05", apart=True)
async def hostile_origin(visit: Visit) -> Outcome:
    """A request with a foreign origin."""
    answer = await _opening(visit, (("Origin", f"http://{_EVIL}"),))
    if not answer.status:
        return skipped(f"the request got {answer.brief}")
    if not answer.refused:
        text = f"A request from http://{_EVIL} was served, with {answer.brief}."
        if is_loopback(visit.web.url.host):
            return bad(text, *answer.events)
        return doubtful(f"{text} Any web page can use this server.", *answer.events)
    if answer.status != 403 and visit.revision in _SINCE_403:
        return doubtful(f"A foreign origin was rejected with status {answer.status}, not 403.", *answer.events)
    return good(answer.brief, *answer.events)


@CHECKS.active("HTTP-06", apart=True, once=True)
async def hostile_host(visit: Visit) -> Outcome:
    """A request with another Host."""
    if not is_loopback(visit.web.url.host):
        return skipped("the server is not on this machine")
    answer = await _opening(visit, (), host=f"{_EVIL}:{visit.web.url.port}")
    return _refused(answer, f"A request for the host {_EVIL} was served, with {answer.brief}.")


@CHECKS.active("HTTP-07", apart=True, once=True)
async def own_origin(visit: Visit) -> Outcome:
    """A request without Origin, and one with the origin of the server."""
    seen: list[int] = []
    origins = [""]
    if is_loopback(visit.web.url.host):
        origins.append(visit.web.url.origin)
    for origin in origins:
        answer = await _opening(visit, (("Origin", origin),) if origin else ())
        seen += answer.events
        if answer.refused:
            who = f"from {origin}" if origin else "without an origin"
            return bad(f"A request {who} was rejected with {answer.brief}.", *answer.events)
    return good("", *seen)


@CHECKS.active("HTTP-08", apart=True, once=True)
async def other_addresses(visit: Visit) -> Outcome:
    """The same port at the addresses of this machine that others can reach."""
    url = visit.web.url
    if not is_loopback(url.host) or visit.web.target.proxy:
        return skipped("the server is not on this machine")
    addresses = own_addresses()
    if not addresses:
        return skipped("this machine has no external address")
    for address in addresses:
        there = f"{url.scheme}://{f'[{address}]' if ':' in address else address}:{url.port}{url.target}"
        answer = await _opening(visit, (), url=there)
        if answer.status:
            return bad(f"The server also answers at {address}, with {answer.brief}.", *answer.events)
    return good(f"the server does not answer at {', '.join(addresses)}")


@CHECKS.active("HTTP-09", apart=True, once=True)
async def exposed(visit: Visit) -> Outcome:
    """The scheme, and a request without credentials."""
    if is_loopback(visit.web.url.host):
        return skipped("the server is on this machine")
    answer = await _opening(visit, (), own=False)
    if visit.web.url.scheme != "https":
        return bad("The server uses http, not https.", *answer.events)
    if answer.status and not answer.refused:
        return doubtful("Requests without credentials are accepted.", *answer.events)
    return good(answer.brief, *answer.events)


@CHECKS.active("HTTP-10", apart=True, once=True)
async def partial_accept(visit: Visit) -> Outcome:
    """A request that accepts neither JSON nor event streams."""
    async with raw_post(visit) as post:
        answer = await post.request(post.harmless(), more=(("Accept", "text/html"),))
    return _refused(answer, "A request that accepts only text/html was served.", remark)


@CHECKS.active("HTTP-11", apart=True, once=True)
async def other_content_type(visit: Visit) -> Outcome:
    """A request as text/plain."""
    async with raw_post(visit) as post:
        answer = await post.request(post.harmless(), more=(("Content-Type", "text/plain"),))
    return _refused(answer, "A request with Content-Type text/plain was served.", doubtful)


@CHECKS.active("HTTP-12", apart=True)
async def any_case(visit: Visit) -> Outcome:
    """A request with header names in upper case, and one in lower case."""
    async with raw_post(visit) as post:
        seen: list[int] = []
        for spelled in (str.upper, str.lower):
            message = post.new_request(post.harmless())
            fields = [(spelled(name), value) for name, value in post.fields(message)]
            answer = await post.request(message["method"], more=fields)
            seen += answer.events
            if answer.refused or not answer.status:
                return bad(
                    f"A request with the header name {spelled('Content-Type')} got {answer.brief}.", *answer.events
                )
    return good("", *seen)


@CHECKS.active("HTTP-13", apart=True, once=True)
async def other_verbs(visit: Visit) -> Outcome:
    """PUT, without a body."""
    answer = await visit.web.send("PUT", url=RawPost(visit).url, fields=(ACCEPT, *await visit.token_fields()))
    if not answer.status:
        return skipped(f"the request got {answer.brief}")
    if answer.status == 405:
        named = answer.header("allow")
        return (
            good(f"Allow: {named}", *answer.events) if named else bad("Status 405 came without Allow.", *answer.events)
        )
    if answer.status in (401, 403):
        return skipped(f"PUT was rejected with status {answer.status}")
    return bad(f"PUT got {answer.brief}.", *answer.events)


@CHECKS.active("HTTP-19", mode="intrusive", apart=True)
async def keep_alive(visit: Visit) -> Outcome:
    """A subscription, and a wait."""
    kinds = {f"{name}ListChanged": True for name in ("tools", "prompts", "resources") if visit.can(name, "listChanged")}
    if not kinds:
        return skipped("the server declares no change notifications")
    seconds = min(_QUIET_SECONDS, visit.limits.check * 0.8)
    async with raw_post(visit) as post:
        answer = await post.request("subscriptions/listen", {"notifications": kinds}, timeout=seconds, limit=1 << 20)
    if answer.media_type != "text/event-stream":
        return skipped(f"the response was not a stream, but {answer.brief}")
    if any(event.line is not None and event.line.startswith(b":") for event in answer.stream):
        return good("", *answer.events)
    return remark(f"An idle stream had no comment for {seconds:g} s.", *answer.events)


@CHECKS.active("HTTP-21", apart=True, once=True)
async def redirects(visit: Visit) -> Outcome:
    """The URL as given, and with or without a trailing slash."""
    own = await _opening(visit, (), url=visit.web.url.text)
    if 300 <= own.status < 400:
        return remark(f"{visit.web.url.target} redirects to {(own.header('location') or '')[:200]}.", *own.events)
    path, mark, query = visit.web.url.target.partition("?")
    other = (path.removesuffix("/") if path.endswith("/") else f"{path}/") + mark + query
    answer = await _opening(visit, (), url=visit.web.url.origin + other)
    if 300 <= answer.status < 400:
        return good(f"{other} redirects", *answer.events)
    return good(f"{other} returns {answer.brief}", *own.events, *answer.events)


@CHECKS.active("HTTP-22", apart=True)
async def at_once(visit: Visit) -> Outcome:
    """Five concurrent requests."""
    async with raw_post(visit) as post:
        answers = await asyncio.gather(*(post.request(post.harmless()) for _ in range(_AT_ONCE)))
    lost = [answer for answer in answers if not answer.message]
    if lost:
        return bad(
            f"{len(lost)} of {_AT_ONCE} concurrent requests failed; the first got {lost[0].brief}.", *lost[0].events
        )
    return good("", *(n for answer in answers for n in answer.events))


@CHECKS.active("HTTP-23", mode="intrusive", apart=True)
async def large_body(visit: Visit) -> Outcome:
    """A call of an unknown tool with an argument of 1 MB."""
    async with raw_post(visit) as post:
        answer = await post.request("tools/call", {"name": NOWHERE, "arguments": {"text": "x" * _LARGE_BYTES}})
    return expect(answer, answer.message or answer.refused, f"A request of 1 MB got {answer.brief}.", text=answer.brief)


async def _opening(
    visit: Visit,
    more: tuple[tuple[str, str], ...],
    *,
    host: str | None = None,
    url: str | None = None,
    own: bool = True,
) -> RecordedResponse:
    """The first request of a client. If it opens a session, the session is closed."""
    post = RawPost(visit)
    try:
        if visit.modern:
            return await post.request("server/discover", more=more, host=host, url=url, own=own)
        return await post.initialize(more, host, url, own)
    finally:
        await post.end()


def own_addresses() -> list[str]:
    """The external addresses of this machine. Reads the routing table and sends nothing."""
    addresses = []
    for family, somewhere in ((socket.AF_INET, "192.0.2.1"), (socket.AF_INET6, "2001:db8::1")):
        with suppress(OSError), socket.socket(family, socket.SOCK_DGRAM) as probe:
            probe.connect((somewhere, 9))
            address = str(probe.getsockname()[0])
            if not is_loopback(address) and not address.lower().startswith("fe80"):
                addresses.append(address)
    return addresses
