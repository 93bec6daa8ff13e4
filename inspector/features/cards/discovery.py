"""Looks for the card of a server in its places, through a function of the caller that fetches one URL.

Places: the catalog of the domain, the cards that it names, and `/server-card` below the URL of the server. Places of
older drafts only if the caller wants them.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from inspector.addresses import is_link_local, is_loopback, is_private, may_lead_to, requested_url, shown_url
from inspector.features.cards.documents import (
    CARD_TYPE,
    CATALOG_TYPE,
    CatalogReading,
    card_problems,
    is_catalog,
    read_catalog,
)
from inspector.protocol.jsonrpc import NotJson, parse
from inspector.transports.http_url import parse_url

CATALOG = "/.well-known/ai-catalog.json"
CARD_SUFFIX = "/server-card"
OLD_CATALOG = "/.well-known/mcp/catalog.json"
OLD_PLACES = (
    OLD_CATALOG,
    "/.well-known/mcp/server-card",
    "/.well-known/mcp/server-card.json",
    "/.well-known/mcp-server-card",
    "/.well-known/mcp.json",
    "/.well-known/mcp-server",
    "/server.json",
)
"""Places of older drafts, or in no text."""
MAX_CARDS = 20
"""Cards of one catalog that are fetched."""
MAX_SIZE = 1 << 20
"""Bytes of a catalog or card."""
MAX_REDIRECTS = 3


@dataclass(frozen=True, slots=True)
class CardResponse:
    """The answer to a GET of a catalog or card, or the reason why there is none."""

    url: str
    """The URL that was asked for."""
    status: int = 0
    """0 without an answer."""
    headers: tuple[tuple[str, str], ...] = ()
    body: bytes = b""
    problem: str = ""
    """Why the answer is missing; a sentence without its full stop."""
    evidence: tuple[int, ...] = ()
    """Events of the recording."""

    def header(self, name: str) -> str:
        """Return the first header of this name, or an empty text."""
        return next((value for key, value in self.headers if key.lower() == name.lower()), "")

    @property
    def media_type(self) -> str:
        """The Content-Type without parameters, in lower case."""
        return self.header("content-type").partition(";")[0].strip().lower()

    @property
    def document(self) -> dict[str, Any] | None:
        """The JSON object of the body; None for anything else."""
        if self.status != 200:
            return None
        try:
            document = parse(self.body)
        except NotJson:
            return None
        return document if type(document) is dict else None

    @property
    def summary(self) -> str:
        """The answer in a few words."""
        if self.problem:
            return self.problem
        if 300 <= self.status < 400:
            return f"status {self.status}, a redirect to {shown_url(self.header('location'), 200) or 'nowhere'}"
        if self.status != 200:
            return f"status {self.status}"
        if self.document is not None:
            return "JSON"
        kind = "an HTML page" if "html" in self.media_type else "not a JSON object"
        return f"status 200, but {kind}"


FetchCard = Callable[[str, str], Awaitable[CardResponse]]
"""Gets a URL with an Accept header. Never raises because of the server."""


class FoundCard(NamedTuple):
    """A card."""

    place: str
    """`ai-catalog.json`, or the URL where it stands."""
    url: str
    """Where it was fetched; the URL of the catalog for a card in `data`."""
    card: dict[str, Any]
    response: CardResponse

    def urls(self) -> Iterator[str]:
        """Yield the URLs of its remotes."""
        from inspector.features.cards.documents import remotes_of

        for remote in remotes_of(self.card):
            if type(remote.get("url")) is str:
                yield remote["url"]


@dataclass(slots=True)
class CardDiscovery:
    """The places that were looked at, and what is there."""

    looked: list[CardResponse] = field(default_factory=list)
    """The answers, in order."""
    catalog: CatalogReading | None = None
    catalog_response: CardResponse | None = None
    cards: list[FoundCard] = field(default_factory=list)
    old: list[CardResponse] = field(default_factory=list)
    """Answers with a document at places of older drafts."""
    notes: list[str] = field(default_factory=list)
    """What was skipped, and why: sentences with text of the server."""

    def for_url(self, url: str) -> FoundCard | None:
        """Return the card that names this URL, or the only card."""
        for card in self.cards:
            if url in card.urls():
                return card
        return self.cards[0] if len(self.cards) == 1 else None

    @property
    def evidence(self) -> tuple[int, ...]:
        """The events of all answers."""
        return tuple(n for response in (*self.looked, *self.old) for n in response.evidence)


def refusal(url: str, origin: str) -> str:
    """Return why a URL from a document of `origin` is not fetched; empty if it may be (C-CARD-07).

    https only, and http only on this machine; no address in a network in which the document's own host is not.
    """
    try:
        parsed = parse_url(url)
    except ValueError as error:
        return f"it is not an http or https URL ({error})"
    document = parse_url(origin)
    if parsed.scheme != "https" and not is_loopback(parsed.host):
        return "it uses http"
    if parsed.origin != document.origin and not may_lead_to(parsed.host, document.host):
        if not is_private(document.host):
            return "its address is private, and that of the document is public"
        if is_link_local(parsed.host):
            return "its address is link-local, or the metadata service of a cloud"
        return "its address is this machine, and that of the document is not"
    return ""


async def discover(url: str, fetch: FetchCard, *, old_places: bool = False) -> CardDiscovery:
    """Look for the card of a server. `url`: that of its endpoint, of a card or catalog, or only a domain."""
    discovery = CardDiscovery()
    parsed = parse_url(url)
    path = parsed.target.partition("?")[0].rstrip("/")
    seen: set[str] = set()
    if path.endswith((CARD_SUFFIX, ".json")):
        await _direct(discovery, parsed.text, fetch, seen)
        return discovery
    await _catalog(discovery, f"{parsed.origin}{CATALOG}", fetch, seen)
    if path:
        await _card(discovery, f"{parsed.origin}{path}{CARD_SUFFIX}", CARD_SUFFIX, fetch, seen)
    for place in OLD_PLACES if old_places else ():
        answer = await fetch(f"{parsed.origin}{place}", "application/json")
        if answer.document is not None:
            discovery.old.append(answer)
    return discovery


async def _direct(discovery: CardDiscovery, url: str, fetch: FetchCard, seen: set[str]) -> None:
    """The document that the user names, a catalog or a card."""
    answer = await fetch(url, f"{CARD_TYPE}, {CATALOG_TYPE}, application/json")
    seen.add(url)
    discovery.looked.append(answer)
    document = answer.document
    if is_catalog(document):
        await _entries(discovery, answer, fetch, seen)
    elif document is not None:
        discovery.cards.append(FoundCard(url, url, document, answer))


async def _catalog(discovery: CardDiscovery, url: str, fetch: FetchCard, seen: set[str]) -> None:
    answer = await fetch(url, f"{CATALOG_TYPE}, application/json")
    seen.add(url)
    discovery.looked.append(answer)
    if is_catalog(answer.document):
        await _entries(discovery, answer, fetch, seen)
    elif answer.document is not None:
        discovery.notes.append(f"{url} is not a catalog: it has no list of entries.")


async def _entries(discovery: CardDiscovery, answer: CardResponse, fetch: FetchCard, seen: set[str]) -> None:
    """The cards that a catalog names. Nested catalogs are not followed."""
    document = answer.document
    assert document is not None
    reading = discovery.catalog = read_catalog(document)
    discovery.catalog_response = answer
    entries = reading.of_kind("card")
    others, nested = len(reading.of_kind("other")), len(reading.of_kind("catalog"))
    if others:
        discovery.notes.append(f"Skipped entries of other types: {others:,}.")
    if nested:
        discovery.notes.append(f"Nested catalogs that were not followed: {nested:,}.")
    if len(entries) > MAX_CARDS:
        discovery.notes.append(f"The catalog names {len(entries):,} cards; the first {MAX_CARDS} were fetched.")
    for entry in entries[:MAX_CARDS]:
        if not entry.url:
            discovery.cards.append(FoundCard(f"{answer.url} (data)", answer.url, entry.data, answer))
            continue
        reason = refusal(entry.url, answer.url)
        if reason:
            discovery.notes.append(f"The card at {shown_url(entry.url, 200)} was not fetched: {reason}.")
        else:
            url = requested_url(entry.url)
            await _card(discovery, url, url, fetch, seen)


async def _card(discovery: CardDiscovery, url: str, place: str, fetch: FetchCard, seen: set[str]) -> None:
    if url in seen:
        return
    seen.add(url)
    answer = await fetch(url, f"{CARD_TYPE}, application/json")
    discovery.looked.append(answer)
    document = answer.document
    if document is None:
        if place != CARD_SUFFIX:
            discovery.notes.append(f"The card at {shown_url(url, 200)} cannot be read: {answer.summary}.")
    elif is_catalog(document):
        discovery.notes.append(f"{shown_url(url, 200)} is a catalog, not a card; it was not followed.")
    elif "name" not in document and "$schema" not in document:
        discovery.notes.append(f"{shown_url(url, 200)} is JSON, but not a card.")
    else:
        discovery.cards.append(FoundCard(url, url, document, answer))


def problems_of(card: FoundCard) -> list[str]:
    """Return what is wrong with a card as sentences."""
    return [problem.text for problem in card_problems(card.card)]
