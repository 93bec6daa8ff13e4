"""Conventions of hosts, browsers and directories that are not part of the specification."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable, Iterator
from typing import Any

from inspector.addresses import is_loopback
from inspector.check.check_table import CheckTable, Need
from inspector.check.outcome import Outcome, expect, good, remark, skipped
from inspector.check.visit.http import ACCEPT, JSON, RecordedResponse
from inspector.check.visit.machine_load import takes_longer
from inspector.check.visit.raw_post import RawPost, raw_post
from inspector.check.visit.visit import OPENING, Visit
from inspector.protocol.jsonrpc import Shape
from inspector.protocol.names import SESSION_FIELD

_BROWSER = "http://localhost:6274"
"""A local origin, as that of a tool in a browser."""
_VERBS = ("POST", "GET", "DELETE")
_ASKED = ("content-type", "authorization", "mcp-session-id", "mcp-protocol-version", "last-event-id")
_ASKED_MODERN = ("content-type", "authorization", "mcp-protocol-version", "mcp-method", "mcp-name")
_SHOWN = ("mcp-session-id", "mcp-protocol-version", "www-authenticate")
_BUDGETS = {
    "initialize": 0.3,
    "server/discover": 0.3,
    "tools/list": 0.4,
    "resources/list": 0.4,
    "prompts/list": 0.4,
    "tools/call": 2.0,
}
"""The longest times that hosts expect, in seconds."""
_HEALTH = ("/health", "/api/health")
_DISCOVERY = ("/.well-known/mcp-config", "/.well-known/mcp-server", "/.well-known/mcp.json")
_CARDS = ("/.well-known/ai-catalog.json", "/server.json")
_MEMBERS = ("protocol_version", "server_info", "capabilities", "endpoints")
_UNAUTHORIZED = -32001
_IDLE_SECONDS = 60.0

CHECKS = CheckTable("ecosystem")


@CHECKS.active("ECO-01", apart=True, once=True)
async def preflight(visit: Visit) -> Outcome:
    """The preflight of a browser for a page of this machine."""
    requested = _ASKED_MODERN if visit.modern else _ASKED
    fields = (
        ("Origin", _BROWSER),
        ("Access-Control-Request-Method", "POST"),
        ("Access-Control-Request-Headers", ",".join(requested)),
    )
    answer = await visit.web.send("OPTIONS", url=RawPost(visit).url, fields=fields)
    if not 200 <= answer.status < 300:
        return remark(f"OPTIONS got {answer.brief}.", *answer.events)
    if answer.header("access-control-allow-origin") not in ("*", _BROWSER):
        return remark(f"A page of {_BROWSER} may not send requests.", *answer.events)
    verbs = _listed(answer, "access-control-allow-methods")
    names = _listed(answer, "access-control-allow-headers")
    missing = [verb for verb in _VERBS[: 1 if visit.modern else 3] if verb.lower() not in verbs and "*" not in verbs]
    missing += [name for name in requested if name not in names and ("*" not in names or name == "authorization")]
    return expect(answer, not missing, f"Browsers may not send {', '.join(missing)}.", remark)


@CHECKS.active("ECO-02", apart=True, once=True)
async def exposed_fields(visit: Visit) -> Outcome:
    """A request from a page of this machine."""
    post = RawPost(visit)
    try:
        more = (("Origin", _BROWSER),)
        answer = await (post.request("server/discover", more=more) if visit.modern else post.initialize(more))
    finally:
        await post.end()
    if not answer.status or answer.header("access-control-allow-origin") not in ("*", _BROWSER):
        return remark(f"A page of {_BROWSER} may not send requests.", *answer.events)
    exposed = _listed(answer, "access-control-expose-headers")
    missing = [name for name in _SHOWN[1 if visit.modern else 0 :] if name not in exposed]
    return expect(answer, not missing, f"Browsers may not read {', '.join(missing)}.", remark)


@CHECKS.active("ECO-03", apart=True, once=True)
async def spelling(visit: Visit) -> Outcome:
    """The header names of one response."""
    async with raw_post(visit) as post:
        answer = await post.request(post.harmless())
    if not answer.headers:
        return skipped(f"the request got {answer.brief}")
    small = [name for name, _ in answer.headers if not name[:1].isupper()]
    if small:
        return remark(f"Lower-case headers: {', '.join(small[:10])[:300]}.", *answer.events)
    return good("", *answer.events)


@CHECKS.active("ECO-05", apart=True, once=True, needs=Need.NOTHING)
async def health(visit: Visit) -> Outcome:
    """The two usual places."""
    seen: list[int] = []
    async for path, answer in _got(visit, _HEALTH):
        seen += answer.events
        if answer.status == 200:
            return good(f"{path} returns 200", *answer.events)
    return remark(f"None of {', '.join(_HEALTH)} returns 200.", *seen)


@CHECKS.active("ECO-06", apart=True, once=True, needs=Need.NOTHING)
async def discovery(visit: Visit) -> Outcome:
    """The usual paths, at the root and below the endpoint."""
    paths = [*_DISCOVERY, *(f"{visit.web.url.target.partition('?')[0].rstrip('/')}{path}" for path in _DISCOVERY[:2])]
    seen: list[int] = []
    async for path, answer in _got(visit, paths):
        seen += answer.events
        document = _document(answer)
        if answer.status == 200 and document is not None:
            missing = [name for name in _MEMBERS if name not in document]
            if answer.media_type != "application/json":
                missing.append(f"the Content-Type application/json ({answer.media_type[:60] or 'none'})")
            if "no-store" not in (answer.header("cache-control") or "").lower():
                missing.append("Cache-Control: no-store")
            return expect(answer, not missing, f"{path} lacks {', '.join(missing)}.", remark, text=path)
    return remark("The usual paths do not exist.", *seen)


@CHECKS.active("ECO-07", apart=True, once=True)
async def root(visit: Visit) -> Outcome:
    """The first request of a client, sent to /."""
    post = RawPost(visit)
    url = f"{visit.web.url.origin}/"
    try:
        answer = await (post.request("server/discover", url=url) if visit.modern else post.initialize(url=url))
    finally:
        await post.end()
    return expect(answer, "result" in answer.message, f"A POST to / got {answer.brief}.", remark)


@CHECKS.active("ECO-08", mode="auth", apart=True, once=True)
async def refusal(visit: Visit) -> Outcome:
    """A request without credentials."""
    post = RawPost(visit)
    try:
        answer = await (post.request("server/discover", own=False) if visit.modern else post.initialize(own=False))
    finally:
        await post.end()
    if answer.status != 401:
        return skipped(f"the request got {answer.brief}")
    if answer.code == _UNAUTHORIZED:
        return good("", *answer.events)
    return remark(f"The body of the response has no error {_UNAUTHORIZED}.", *answer.events)


@CHECKS.active("ECO-09")
async def latency(visit: Visit) -> Outcome:
    """The shortest times in this visit, because longer ones depend more on this machine."""
    times: dict[str, list[float]] = {}
    slowest: dict[str, tuple[float, int]] = {}
    for method, seconds, n in _answered(visit):
        times.setdefault(method, []).append(seconds)
        slowest[method] = max(slowest.get(method, (0.0, n)), (seconds, n))
    if not times:
        return skipped("no request was sent")
    late = [method for method, durations in times.items() if takes_longer(min(durations), _BUDGETS[method])]
    if late:
        text = ", ".join(f"{method} {min(times[method]):.2f} s" for method in late)
        return remark(f"Slower than hosts expect: {text}.", *(slowest[method][1] for method in late))
    text = ", ".join(f"{method} {min(durations) * 1000:.0f} ms" for method, durations in times.items())
    return good(text, *(n for _, n in slowest.values()))


@CHECKS.active("ECO-10", once=True)
async def public_name(visit: Visit) -> Outcome:
    """The URL."""
    url = visit.web.url
    opening = visit.newest(*OPENING) or 1
    if is_loopback(url.host) or "." not in url.host:
        return remark(f"{url.host} is not a public host name.", opening)
    if url.scheme != "https":
        return remark("The server uses http, not https.", opening)
    return good(url.origin, opening)


@CHECKS.active("ECO-12", apart=True, once=True)
async def delete_nothing(visit: Visit) -> Outcome:
    """DELETE without a session id, and with an unknown one."""
    post = RawPost(visit)
    without = await post.delete()
    post.session = "inspector-check"
    unknown = await post.delete()
    text = f"without an id: {without.brief}; with an unknown id: {unknown.brief}"
    events = (*without.events, *unknown.events)
    if without.refused and unknown.refused:
        return good(text, *events)
    return remark(f"DELETE {text}.", *events)


@CHECKS.active("ECO-13", apart=True, once=True)
async def stateless(visit: Visit) -> Outcome:
    """A request without a session."""
    async with raw_post(visit) as post:
        kept = bool(post.session)
        answer = await post.request("tools/list" if visit.can("tools") else "ping", without=SESSION_FIELD)
    served = "result" in answer.message
    if kept and served:
        return remark("The server creates sessions, but accepts requests without one.", *answer.events)
    if not kept and not served:
        return remark(f"The server creates no session, but a second request got {answer.brief}.", *answer.events)
    return good("it uses sessions" if kept else "it uses no sessions", *answer.events)


@CHECKS.active("ECO-14", apart=True, once=True)
async def split_transport(visit: Visit) -> Outcome:
    """A GET at the URL, which may open the stream of 2024-11-05."""
    url = RawPost(visit).url
    fields = (("Accept", "text/event-stream"), *await visit.token_fields())
    answer = await visit.web.send("GET", url=url, fields=fields, limit=1, timeout=visit.limits.quiet * 4)
    named = any(event.type == "endpoint" for event in answer.stream)
    if visit.visited.transport == "sse":
        taken = await visit.web.send(url=url, fields=(JSON, ACCEPT, *await visit.token_fields()), body=b"{}")
        text = f"GET opens the stream of HTTP+SSE, POST got {taken.brief}"
        events = (*answer.events, *taken.events)
        return good(text, *events) if taken.status in (404, 405) else remark(f"{text}.", *events)
    if named:
        return remark("GET at the endpoint opens the stream of HTTP+SSE.", *answer.events)
    return good(answer.brief, *answer.events) if answer.status else skipped(f"the request got {answer.brief}")


@CHECKS.active("ECO-15", apart=True, once=True, needs=Need.NOTHING)
async def server_card(visit: Visit) -> Outcome:
    """The catalog of the domain, the reserved place of the card, and a registry entry. The group *cards* reads them."""
    paths = (*_CARDS, f"{visit.web.url.target.partition('?')[0].rstrip('/')}/server-card")
    seen: list[int] = []
    async for path, answer in _got(visit, paths, own=False):
        seen += answer.events
        if answer.status == 200 and _document(answer) is not None:
            return good(path, *answer.events)
    return remark(f"None of {', '.join(paths)} exists.", *seen)


@CHECKS.active("ECO-16", mode="intrusive", apart=True, once=True)
async def idle_session(visit: Visit) -> Outcome:
    """A session, idle for as long as a check may take."""
    seconds = min(_IDLE_SECONDS, visit.limits.check * 0.7)
    async with raw_post(visit) as post:
        if not post.session:
            return skipped("the server gives no session ids")
        await asyncio.sleep(seconds)
        answer = await post.request(post.harmless())
        if "result" in answer.message:
            return good(f"it stayed open for {seconds:g} s", *answer.events)
    return remark(f"After {seconds:g} s a request got {answer.brief}.", *answer.events)


def _listed(answer: RecordedResponse, name: str) -> set[str]:
    return {word.strip().lower() for word in (answer.header(name) or "").split(",")}


async def _got(visit: Visit, paths: Iterable[str], *, own: bool = True) -> AsyncIterator[tuple[str, RecordedResponse]]:
    """The responses to GET requests at the server's origin; `own`: with the headers of the target."""
    for path in paths:
        url = f"{visit.web.url.origin}{path}"
        yield path, await visit.web.send("GET", url=url, fields=(("Accept", "*/*"),), until=0, own=own)


def _document(answer: RecordedResponse) -> dict[str, Any] | None:
    """The JSON object of a body."""
    document = answer.messages[0] if answer.messages else None
    return document if type(document) is dict else None


def _answered(visit: Visit) -> Iterator[tuple[str, float, int]]:
    """Method, seconds and response of each request with an expected time.

    Over stdio the first response takes as long as the start of the process, which STDIO-10 measures.
    """
    journal, index = visit.journal, visit.journal.index
    shaken: set[int] = set()
    for n in range(visit.visited.first or 1, index.count + 1):
        if index.shape(n) in (Shape.RESULT, Shape.ERROR) and index.pair(n):
            method = index.method(index.pair(n))
            # At a second initialize on a connection the server is already running.
            again = method == "initialize" and index.conn(n) in shaken
            starts = method in OPENING and visit.visited.transport == "stdio"
            shaken.add(index.conn(n))
            if method in _BUDGETS and not again and not starts:
                yield method, (journal.event(n).t - journal.event(index.pair(n)).t) / 1_000_000, n
