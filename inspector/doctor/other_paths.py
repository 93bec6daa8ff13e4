"""The search for a server at other paths of the same host, and in documents that features read."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from typing import Literal, NamedTuple

from inspector.addresses import shown_url
from inspector.config.targets import HttpTarget
from inspector.doctor.diagnosis import Fix, StepCollector, Stopwatch
from inspector.doctor.http_requests import ProbeClient, ProbeResponse
from inspector.feature import features
from inspector.transports.http_url import Url, parse_url, resolve

USUAL = ("/mcp", "/sse", "/", "/mcp/", "/api/mcp", "/v1/mcp", "/mcp/sse", "/api/v1/mcp", "/api/mcp/sse", "/mcp/v1")
AT_ONCE = 4
EACH = 3.0
"""Timeout of one request in seconds."""


class FoundUrl(NamedTuple):
    """The URL of a server, and its transport."""

    url: Url
    transport: Literal["http", "sse", "login"]


def candidates(url: Url) -> list[Url]:
    """Return the paths to try: those near the given one first."""
    path = url.target.partition("?")[0]
    near = [path.rstrip("/") if path.endswith("/") else f"{path}/"]
    if path.rstrip("/"):
        near += [f"{path.rstrip('/')}/mcp", f"{path.rstrip('/')}/sse"]
    tried = dict.fromkeys([path])
    candidates = []
    for candidate in (*near, *USUAL):
        if candidate and candidate not in tried:
            tried[candidate] = None
            candidates.append(resolve(url, candidate))
    return candidates


async def check(steps: StepCollector, web: ProbeClient, url: Url, seconds: float) -> FoundUrl | None:
    """Try the usual paths; return the first in order that responds as an MCP server."""
    watch = Stopwatch()
    places = candidates(url)
    details: list[str] = []
    server: FoundUrl | None = None
    try:
        async with asyncio.timeout(seconds):
            for start in range(0, len(places), AT_ONCE):
                some = places[start : start + AT_ONCE]
                for place, (words, kind) in zip(
                    some, await asyncio.gather(*(_try(web, candidate) for candidate in some)), strict=True
                ):
                    details.append(f"{place.target}: {words}")
                    if server is None and kind is not None:
                        server = FoundUrl(place, kind)
                if server is not None:
                    break
    except TimeoutError:
        details.append(f"stopped after {seconds:g} s")
    if server is None:
        steps.add("paths", "info", "no server was found at the usual paths", details=details, seconds=watch.seconds)
        return None
    what = "a server that requires a login" if server.transport == "login" else "a server"
    command = str(steps.line.on_url(server.url.text))
    fix = Fix("Use the URL of the server.", command)
    steps.add(
        "paths",
        "warn",
        f"{what} is at {server.url.text}",
        details=details,
        seconds=watch.seconds,
        fix=fix,
        cause=f"The path is wrong: {url.target} is not an MCP server, but {server.url.target} is.",
    )
    return server


class UrlSource(NamedTuple):
    """A document of the host that may name the URL of its server."""

    step: str
    """The name of its step."""
    document: str
    """The document, in words."""
    read: Callable[[HttpTarget, Url], Awaitable[Iterable[str]]]
    """Reads the URLs in the document for this URL, without credentials and at its host only."""


async def look_in_documents(steps: StepCollector, target: HttpTarget, url: Url, seconds: float) -> None:
    """Read the documents of features. One that names another URL is a step with a fix; without a document is none."""
    for feature in features():
        source = feature.load_or_skip(feature.other_urls, UrlSource) if feature.other_urls else None
        if source is not None:
            await _look_in(source, steps, target, url, seconds)


async def _look_in(source: UrlSource, steps: StepCollector, target: HttpTarget, url: Url, seconds: float) -> None:
    watch = Stopwatch()
    try:
        async with asyncio.timeout(seconds):
            named = dict.fromkeys(await source.read(target, url))
    except TimeoutError:
        return
    others = [other for remote in named if (other := _parsed(remote)) is not None and other.text != url.text]
    if not others or url.text in named:
        return
    steps.add(
        source.step,
        "warn",
        f"{source.document} names {shown_url(others[0].text)}",
        details=[shown_url(other.text) for other in others],
        seconds=watch.seconds,
        fix=Fix(
            f"Use the URL of {source.document}, if you trust it.",
            str(steps.line.on_url(others[0].text, trusted=others[0].origin == url.origin)),
        ),
        cause=f"The path is wrong: {url.target} is not an MCP server, and {source.document} names "
        f"{shown_url(others[0].text)}.",
    )


def _parsed(text: str) -> Url | None:
    try:
        return parse_url(text)
    except ValueError:
        return None


async def _try(web: ProbeClient, url: Url) -> tuple[str, Literal["http", "sse", "login"] | None]:
    answer = await web.ask(url, seconds=EACH)
    if answer.status and answer.speaks:
        return f"{answer.status}, a JSON-RPC response", "http"
    if answer.status == 401 and any("bearer" in value.lower() for value in answer.all("www-authenticate")):
        return "401, requires authorization", "login"
    if answer.status in (404, 405, 400, 406) and url.target.rstrip("/").endswith("sse"):
        stream = await web.listen(url, seconds=EACH)
        if stream.status == 200 and stream.body == "stream":
            return "an event stream", "sse"
    return _short(answer), None


def _short(answer: ProbeResponse) -> str:
    return f"{answer.status}, {answer.body}" if answer.status else answer.reason
