"""The URLs that the server card of a host names (SEP-2127, experimental), for the doctor."""

from __future__ import annotations

from collections.abc import Iterable

from inspector.config.targets import HttpTarget
from inspector.doctor.other_paths import UrlSource
from inspector.features.cards.discovery import CardResponse, discover
from inspector.features.cards.fetching import CardFetcher
from inspector.transports.http_url import Url, parse_url


async def _read(target: HttpTarget, url: Url) -> Iterable[str]:
    fetcher = CardFetcher(url.text, proxy=target.proxy, verify=target.verify)

    async def fetch(place: str, accept: str) -> CardResponse:
        if parse_url(place).origin != url.origin:
            return CardResponse(place, problem="another host, which was not asked")
        return await fetcher.get(place, accept)

    try:
        discovery = await discover(url.text, fetch)
    finally:
        await fetcher.aclose()
    return [remote for card in discovery.cards for remote in card.urls()]


SOURCE = UrlSource("card", "the server card of the host", _read)
