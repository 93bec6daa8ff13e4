"""The search for a server at other paths of the same host, and in its server card."""

from __future__ import annotations

import asyncio
from typing import Literal, NamedTuple

from inspector.addresses import shown_url
from inspector.config.targets import HttpTarget
from inspector.doctor.diagnosis import Fix, StepCollector, Stopwatch
from inspector.doctor.http_requests import ProbeClient, ProbeResponse
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
    found = []
    for each in (*near, *USUAL):
        if each and each not in tried:
            tried[each] = None
            found.append(resolve(url, each))
    return found


async def look(chart: StepCollector, web: ProbeClient, url: Url, seconds: float) -> FoundUrl | None:
    """Try the usual paths; return the first in order that responds as an MCP server."""
    watch = Stopwatch()
    places = candidates(url)
    said: list[str] = []
    found: FoundUrl | None = None
    try:
        async with asyncio.timeout(seconds):
            for start in range(0, len(places), AT_ONCE):
                some = places[start : start + AT_ONCE]
                for place, (words, kind) in zip(
                    some, await asyncio.gather(*(_try(web, each) for each in some)), strict=True
                ):
                    said.append(f"{place.target}: {words}")
                    if found is None and kind is not None:
                        found = FoundUrl(place, kind)
                if found is not None:
                    break
    except TimeoutError:
        said.append(f"stopped after {seconds:g} s")
    if found is None:
        chart.add("paths", "info", "no server was found at the usual paths", details=said, seconds=watch.seconds)
        return None
    what = "a server that requires a login" if found.transport == "login" else "a server"
    command = str(chart.line.on_url(found.url.text))
    fix = Fix("Use the URL of the server.", command)
    chart.add(
        "paths",
        "warn",
        f"{what} is at {found.url.text}",
        details=said,
        seconds=watch.seconds,
        fix=fix,
        cause=f"The path is wrong: {url.target} is not an MCP server, but {found.url.target} is.",
    )
    return found


async def look_for_card(chart: StepCollector, target: HttpTarget, url: Url, seconds: float) -> None:
    """Look for the server card of the host (SEP-2127, experimental), without credentials and at this host only.

    A card that names another URL is a step with a fix; no card is none.
    """
    from inspector.cards.discovery import CardResponse, discover
    from inspector.cards.fetching import CardFetcher

    watch = Stopwatch()
    fetcher = CardFetcher(url.text, proxy=target.proxy, verify=target.verify)

    async def fetch(place: str, accept: str) -> CardResponse:
        if parse_url(place).origin != url.origin:
            return CardResponse(place, problem="another host, which was not asked")
        return await fetcher.get(place, accept)

    try:
        async with asyncio.timeout(seconds):
            found = await discover(url.text, fetch)
    except TimeoutError:
        return
    finally:
        await fetcher.aclose()
    named = dict.fromkeys(remote for card in found.cards for remote in card.urls())
    others = [other for remote in named if (other := _parsed(remote)) is not None and other.text != url.text]
    if not others or url.text in named:
        return
    chart.add(
        "card",
        "warn",
        f"the server card of the host names {shown_url(others[0].text)}",
        details=[shown_url(other.text) for other in others],
        seconds=watch.seconds,
        fix=Fix(
            "Use the URL of the server card, if you trust it.",
            str(chart.line.on_url(others[0].text, trusted=others[0].origin == url.origin)),
        ),
        cause=f"The path is wrong: {url.target} is not an MCP server, and the server card of the host names "
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
