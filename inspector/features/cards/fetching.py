"""Fetches catalogs and cards by GET, without credentials; size, time and redirects are limited.

Holds C-CARD-06 and C-CARD-07.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from urllib.parse import urljoin

from inspector.addresses import is_private, may_lead_to, shown_url
from inspector.client.fetching import EndpointSender
from inspector.config.targets import HttpTarget
from inspector.errors import InspectorError
from inspector.features.cards.discovery import MAX_REDIRECTS, MAX_SIZE, CardResponse, refusal
from inspector.transports.http_url import parse_url

SECONDS = 15.0
"""Time limit of one document, with its redirects."""
_REDIRECTS = (301, 302, 303, 307, 308)


class CardFetcher:
    """Fetches documents that the user asked for; call `aclose`. No header, token or cookie of the user goes with it."""

    def __init__(self, home: str, *, proxy: str | None = None, verify: bool = True, largest: int = MAX_SIZE) -> None:
        """`home` is the URL that the user named: it decides which other addresses are fetched."""
        self._home = home
        self._largest = largest
        self._fetching = EndpointSender(HttpTarget(home, proxy=proxy, verify=verify))

    async def get(self, url: str, accept: str) -> CardResponse:
        """Return the answer to a GET. Never raises because of the server."""
        try:
            async with asyncio.timeout(SECONDS):
                return await self._get(url, accept)
        except TimeoutError:
            return CardResponse(url, problem=f"no complete answer within {SECONDS:g} s")
        except InspectorError as error:
            return CardResponse(url, problem=error.message.rstrip("."))

    async def _get(self, url: str, accept: str) -> CardResponse:
        at = url
        reason = refusal(url, self._home)
        if reason:
            return CardResponse(url, problem=f"it was not fetched: {reason}")
        for _ in range(MAX_REDIRECTS + 1):
            answer = await self._fetching.send(
                "GET", at, (("Accept", accept),), b"", limit=self._largest, admit=self._admit(at)
            )
            if len(answer.body) > self._largest:
                return CardResponse(url, problem=f"the document is larger than {self._largest >> 10:,} KiB")
            headers = tuple((name, value) for name, value in answer.fields)
            response = CardResponse(url, answer.status, headers, answer.body)
            if answer.status not in _REDIRECTS:
                return response
            at = urljoin(at, response.header("location"))
            reason = refusal(at, self._home)
            if reason:
                place = shown_url(at, 200)
                return CardResponse(url, problem=f"it redirects to {place}, which was not fetched: {reason}")
        return CardResponse(url, problem=f"it redirects more than {MAX_REDIRECTS} times")

    def _admit(self, url: str) -> Callable[[str], bool]:
        """Return which addresses may be connected to for a URL; a public name may not stand for a private one."""
        home = parse_url(self._home)
        own = parse_url(url).origin == home.origin and is_private(home.host)
        return lambda address: own or may_lead_to(address, home.host)

    async def aclose(self) -> None:
        """Close all connections. Idempotent."""
        await self._fetching.aclose()
