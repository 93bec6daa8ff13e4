"""Streamable HTTP of every revision: one endpoint, statuses and content types, event streams, who may ask."""

from __future__ import annotations

import asyncio
import socket
from contextlib import suppress

from inspector.addresses import is_loopback
from inspector.check.catalog import CheckTable, Transport
from inspector.check.outcome import Outcome, bad, doubtful, good, remark, skipped
from inspector.check.raw_post import NOWHERE, RawPost, raw_post
from inspector.check.visit import Visit
from inspector.check.web import ACCEPT, Response
from inspector.transports.http_url import parse_url

_PAGE = "basic/transports/streamable-http"
_SECURITY = f"{_PAGE}#security-endpoint"
_HTTP: frozenset[Transport] = frozenset(("http",))
_EVIL = "evil.example"
_SINCE_403 = ("2025-11-25", "2026-07-28")
"""The revisions that say with which status a foreign origin is refused."""
_NO_ENDPOINT = (404, 405, 501)
_AT_ONCE = 5
_LARGE = 1 << 20
_QUIET_SECONDS = 30.0

CHECKS = CheckTable("transport-http", transports=_HTTP)
CHECKS.passive(
    "HTTP-02 must r2+",
    "posted",
    page=f"{_PAGE}#sending-messages",
    says="A request is answered with application/json or text/event-stream.",
    fix="Set Content-Type to what the body is, and answer the request itself: 202 is for notifications.",
)
CHECKS.passive(
    "HTTP-03 must r2+",
    "http:202",
    page=f"{_PAGE}#sending-messages",
    says="A message that wants no answer is accepted with status 202 and without a body.",
    fix="Answer 202 Accepted to notifications and responses that you take, with nothing in the body.",
)
CHECKS.passive(
    "HTTP-14 robust r2+",
    "posted",
    page=f"{_PAGE}#sending-messages",
    says="A status of an error comes without a body or with a JSON-RPC error.",
    fix="Replace error pages of the web framework: leave the body empty, or put a JSON-RPC error into it.",
)
CHECKS.passive(
    "HTTP-15 should r2+",
    "event",
    page=f"{_PAGE}#receiving-messages",
    says="The stream of a request ends with the answer.",
    fix="Close the response when the answer has been written.",
)
CHECKS.passive(
    "HTTP-16 should r2+",
    "posted",
    page=f"{_PAGE}#receiving-messages",
    says="The stream of a request brings its answer before it ends.",
    fix="Do not close the response before the answer is written; an error is an answer, too.",
)
CHECKS.passive(
    "HTTP-17 should r2+",
    "event",
    page=f"{_PAGE}#receiving-messages",
    says="What comes on the stream of a request has to do with that request.",
    fix="Send progress to the stream of its own request, and changes of lists to the stream that is meant for them.",
)
CHECKS.passive(
    "HTTP-18 should r5",
    "http:stream",
    page=f"{_PAGE}#receiving-messages",
    says="Event streams tell proxies not to hold them back.",
    fix="Send X-Accel-Buffering: no with every event stream.",
)
CHECKS.passive(
    "HTTP-20 robust r2+",
    "event",
    "sse",
    page=f"{_PAGE}#receiving-messages",
    says="Event streams are written as the standard has it, with events of the type message.",
    fix="Leave the event field out or set it to message, put one message into data, and write nothing else but id, "
    "retry and comments.",
)


@CHECKS.active(
    "HTTP-01 must r2+",
    page=_PAGE,
    apart=True,
    says="One endpoint takes all messages by POST; with a handshake also GET, if only to refuse it.",
    fix="Serve POST and GET at the same path; answer GET with 405 if there is no stream.",
)
async def one_endpoint(visit: Visit) -> Outcome:
    """A request by POST, and where there are standing streams a GET."""
    async with raw_post(visit) as post:
        asked = await post.ask(post.harmless())
        if not asked.message and asked.status in _NO_ENDPOINT:
            return bad(f"A POST was answered with {asked.shown}.", *asked.events)
        if visit.modern:
            return good("", *asked.events)
        stream = await post.listen(until=0)
    if stream.status in (404, 501):
        return bad(f"A GET was answered with {stream.shown}.", *stream.events)
    return good("", *asked.events, *stream.events)


@CHECKS.active(
    "HTTP-04 must r2+",
    page=f"{_PAGE}#sending-messages",
    apart=True,
    says="A message that wants no answer gets none: 202 where it is accepted, a status from 400 on where it is not.",
    fix="Answer a notification that you cannot take with 400, and never with 200 and a result.",
)
async def bad_notification(visit: Visit) -> Outcome:
    """A notification that nobody knows, with parameters that are none."""
    async with raw_post(visit) as post:
        answer = await post.notify("notifications/inspector/no-such-thing", [])
    if not answer.status:
        return bad(f"A broken notification got {answer.shown}.", *answer.events)
    if answer.status == 202 or answer.refused:
        return good(answer.shown, *answer.events)
    return bad(f"A broken notification was answered with {answer.shown}.", *answer.events)


@CHECKS.active(
    "HTTP-05 must r2+",
    page=_SECURITY,
    apart=True,
    says="Requests that a foreign web page makes are refused, with status 403.",
    fix="Compare the Origin field of every request with the origins that may ask, and answer 403 to all others.",
)
async def hostile_origin(visit: Visit) -> Outcome:
    """A request with the origin of somebody else."""
    answer = await _opening(visit, (("Origin", f"http://{_EVIL}"),))
    if not answer.status:
        return skipped(f"the request got {answer.shown}")
    if not answer.refused:
        text = f"A request from http://{_EVIL} was served, with {answer.shown}."
        if is_loopback(visit.web.url.host):
            return bad(text, *answer.events)
        return doubtful(f"{text} Any web page can use this server.", *answer.events)
    if answer.status != 403 and visit.revision in _SINCE_403:
        return doubtful(f"A foreign origin was refused with status {answer.status}, not 403.", *answer.events)
    return good(answer.shown, *answer.events)


@CHECKS.active(
    "HTTP-06 security r2+",
    page=_SECURITY,
    apart=True,
    once=True,
    says="A server of this machine answers only to names of this machine.",
    fix="Compare the Host field with localhost, 127.0.0.1 and [::1], and refuse other names: otherwise a web page can "
    "give its own name the address of your machine.",
)
async def hostile_host(visit: Visit) -> Outcome:
    """A request for another host."""
    if not is_loopback(visit.web.url.host):
        return skipped("the server is not on this machine")
    answer = await _opening(visit, (), host=f"{_EVIL}:{visit.web.url.port}")
    if not answer.status:
        return skipped(f"the request got {answer.shown}")
    if answer.refused:
        return good(answer.shown, *answer.events)
    return bad(f"A request for the host {_EVIL} was served, with {answer.shown}.", *answer.events)


@CHECKS.active(
    "HTTP-07 robust r2+",
    page=_SECURITY,
    apart=True,
    once=True,
    says="Requests without an origin are served, and on this machine those of its own pages.",
    fix="Refuse foreign origins only: programs send no Origin at all.",
)
async def own_origin(visit: Visit) -> Outcome:
    """A request without Origin, and one with that of the server."""
    seen: list[int] = []
    origins = [""]
    if is_loopback(visit.web.url.host):
        origins.append(visit.web.url.origin)
    for origin in origins:
        answer = await _opening(visit, (("Origin", origin),) if origin else ())
        seen += answer.events
        if answer.refused:
            who = f"from {origin}" if origin else "without an origin"
            return bad(f"A request {who} was refused with {answer.shown}.", *answer.events)
    return good("", *seen)


@CHECKS.active(
    "HTTP-08 should r2+",
    page=_SECURITY,
    apart=True,
    once=True,
    says="A server for this machine listens on this machine only.",
    fix="Listen on 127.0.0.1 (and ::1), not on 0.0.0.0 or every interface.",
)
async def other_addresses(visit: Visit) -> Outcome:
    """The same port at the addresses that other machines see."""
    url = visit.web.url
    if not is_loopback(url.host) or visit.web.target.proxy:
        return skipped("the server is not on this machine")
    addresses = own_addresses()
    if not addresses:
        return skipped("this machine has no address that others could use")
    for address in addresses:
        there = f"{url.scheme}://{f'[{address}]' if ':' in address else address}:{url.port}{url.target}"
        answer = await _opening(visit, (), url=there)
        if answer.status:
            return bad(f"The server answers at {address}, too, with {answer.shown}.", *answer.events)
    return good(f"nothing answers at {', '.join(addresses)}")


@CHECKS.active(
    "HTTP-09 should r2+",
    page=_SECURITY,
    apart=True,
    once=True,
    says="A server that others can reach uses https, and asks who they are.",
    fix="Put the server behind TLS, and authorize its clients.",
)
async def exposed(visit: Visit) -> Outcome:
    """The scheme, and a request without credentials."""
    if is_loopback(visit.web.url.host):
        return skipped("the server is on this machine")
    answer = await _opening(visit, (), own=False)
    if visit.web.url.scheme != "https":
        return bad("The server is reached by plain http.", *answer.events)
    if answer.status and not answer.refused:
        return doubtful("Requests without credentials are served.", *answer.events)
    return good(answer.shown, *answer.events)


@CHECKS.active(
    "HTTP-10 should r2+",
    page=f"{_PAGE}#sending-messages",
    apart=True,
    once=True,
    says="Clients that do not accept both kinds of answers are told so with status 406.",
    fix="Look at Accept before you choose how to answer.",
)
async def partial_accept(visit: Visit) -> Outcome:
    """A request that accepts neither JSON nor event streams."""
    async with raw_post(visit) as post:
        answer = await post.ask(post.harmless(), more=(("Accept", "text/html"),))
    if not answer.status:
        return skipped(f"the request got {answer.shown}")
    if answer.refused:
        return good(answer.shown, *answer.events)
    return remark("A request that accepts only text/html was served all the same.", *answer.events)


@CHECKS.active(
    "HTTP-11 should r2+",
    page=f"{_PAGE}#sending-messages",
    apart=True,
    once=True,
    says="A body that says it is no JSON is refused.",
    fix="Answer 415 unless Content-Type is application/json: web pages may send text/plain anywhere without asking.",
)
async def other_content_type(visit: Visit) -> Outcome:
    """A request as text/plain."""
    async with raw_post(visit) as post:
        answer = await post.ask(post.harmless(), more=(("Content-Type", "text/plain"),))
    if not answer.status:
        return skipped(f"the request got {answer.shown}")
    if answer.refused:
        return good(answer.shown, *answer.events)
    return doubtful("A request of the type text/plain was served.", *answer.events)


@CHECKS.active(
    "HTTP-12 robust r2+",
    page=f"{_PAGE}#case-sensitivity",
    apart=True,
    says="Names of header fields may be written in any case.",
    fix="Compare names of header fields without regard to case, and let proxies spell them as they like.",
)
async def any_case(visit: Visit) -> Outcome:
    """A request with all names in capitals, and one in small letters."""
    async with raw_post(visit) as post:
        seen: list[int] = []
        for spelled in (str.upper, str.lower):
            message = post.request(post.harmless())
            fields = [(spelled(name), value) for name, value in post.fields(message)]
            answer = await post.ask(message["method"], more=fields)
            seen += answer.events
            if answer.refused or not answer.status:
                return bad(f"With names as {spelled('Content-Type')} a request got {answer.shown}.", *answer.events)
    return good("", *seen)


@CHECKS.active(
    "HTTP-13 robust r2+",
    page="RFC 9110, section 15.5.6",
    apart=True,
    once=True,
    says="A method of HTTP that is not served is refused with 405, and those that are, are named.",
    fix="Answer 405 with an Allow field that lists the methods of the endpoint.",
)
async def other_verbs(visit: Visit) -> Outcome:
    """PUT, without a body."""
    answer = await visit.web.send("PUT", url=RawPost(visit).url, fields=(ACCEPT,))
    if not answer.status:
        return skipped(f"the request got {answer.shown}")
    if answer.status == 405:
        named = answer.header("allow")
        return good(f"Allow: {named}", *answer.events) if named else bad("405 came without Allow.", *answer.events)
    if answer.status in (401, 403):
        return skipped(f"PUT was refused with status {answer.status}")
    return bad(f"PUT was answered with {answer.shown}.", *answer.events)


@CHECKS.active(
    "HTTP-19 should r5",
    page=f"{_PAGE}#receiving-messages",
    mode="intrusive",
    apart=True,
    says="A long stream on which nothing happens is kept alive by comments.",
    fix="Write a line that begins with a colon from time to time, say every fifteen seconds.",
)
async def keep_alive(visit: Visit) -> Outcome:
    """A subscription, and patience."""
    wanted = {
        f"{name}ListChanged": True for name in ("tools", "prompts", "resources") if visit.can(name, "listChanged")
    }
    if not wanted:
        return skipped("the server tells of no changes")
    seconds = min(_QUIET_SECONDS, visit.limits.check * 0.8)
    async with raw_post(visit) as post:
        answer = await post.ask("subscriptions/listen", {"notifications": wanted}, timeout=seconds, most=1 << 20)
    if answer.media_type != "text/event-stream":
        return skipped(f"there was no stream, but {answer.shown}")
    if any(event.line is not None and event.line.startswith(b":") for event in answer.stream):
        return good("", *answer.events)
    return remark(f"Nothing came on a quiet stream for {seconds:g} s.", *answer.events)


@CHECKS.active(
    "HTTP-21 robust r2+",
    page=_PAGE,
    apart=True,
    once=True,
    says="The URL that clients are given is that of the endpoint, and redirects nowhere.",
    fix="Serve the path as it is given, with and without a slash at its end.",
)
async def redirects(visit: Visit) -> Outcome:
    """The URL as it was given, and with another end."""
    own = await _opening(visit, (), url=visit.web.url.text)
    if 300 <= own.status < 400:
        return remark(f"{visit.web.url.target} redirects to {(own.header('location') or '')[:200]}.", *own.events)
    path = visit.web.url.text
    other = path.removesuffix("/") if path.endswith("/") else f"{path}/"
    answer = await _opening(visit, (), url=other)
    if 300 <= answer.status < 400:
        return good(f"{parse_url(other).target} redirects", *answer.events)
    return good(f"{parse_url(other).target} gives {answer.shown}", *own.events, *answer.events)


@CHECKS.active(
    "HTTP-22 robust r2+",
    page=_PAGE,
    apart=True,
    says="Requests that come at the same time are all served.",
    fix="Serve each POST for itself; do not hold the session for as long as one of them takes.",
)
async def at_once(visit: Visit) -> Outcome:
    """Five requests side by side."""
    async with raw_post(visit) as post:
        answers = await asyncio.gather(*(post.ask(post.harmless()) for _ in range(_AT_ONCE)))
    lost = [answer for answer in answers if not answer.message]
    if lost:
        return bad(f"Of {_AT_ONCE} requests at once {len(lost)} got no answer, but {lost[0].shown}.", *lost[0].events)
    return good("", *(n for answer in answers for n in answer.events))


@CHECKS.active(
    "HTTP-23 robust r2+",
    page=_PAGE,
    mode="intrusive",
    apart=True,
    says="A large request is answered, or refused with status 413.",
    fix="Set a limit for bodies, and answer 413 above it.",
)
async def large_body(visit: Visit) -> Outcome:
    """A call of a tool that does not exist, with an argument of a megabyte."""
    async with raw_post(visit) as post:
        answer = await post.ask("tools/call", {"name": NOWHERE, "arguments": {"text": "x" * _LARGE}})
    if answer.message or answer.refused:
        return good(answer.shown, *answer.events)
    return bad(f"A request of a megabyte got {answer.shown}.", *answer.events)


async def _opening(
    visit: Visit,
    more: tuple[tuple[str, str], ...],
    *,
    host: str | None = None,
    url: str | None = None,
    own: bool = True,
) -> Response:
    """The first request of a client. A session that comes of it is ended again."""
    post = RawPost(visit)
    try:
        if visit.modern:
            return await post.ask("server/discover", more=more, host=host, url=url, own=own)
        return await post.initialize(more, host, url, own)
    finally:
        await post.end()


def own_addresses() -> list[str]:
    """The addresses under which other machines would look for this one. Asks the routing table, and sends nothing."""
    found = []
    for family, somewhere in ((socket.AF_INET, "192.0.2.1"), (socket.AF_INET6, "2001:db8::1")):
        with suppress(OSError), socket.socket(family, socket.SOCK_DGRAM) as probe:
            probe.connect((somewhere, 9))
            address = str(probe.getsockname()[0])
            if not is_loopback(address) and not address.lower().startswith("fe80"):
                found.append(address)
    return found
