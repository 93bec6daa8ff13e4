"""Server cards and catalogs (SEP-2127, experimental): public JSON files about the server. No fault fails a run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from inspector.check.check_table import CheckTable, Need
from inspector.check.outcome import Outcome, bad, doubtful, good, remark, skipped
from inspector.check.visit.facts import OnceInAVisit
from inspector.check.visit.raw_post import RawPost
from inspector.check.visit.visit import Visit
from inspector.features.cards.consistency import LiveFacts, compare_card
from inspector.features.cards.discovery import (
    MAX_SIZE,
    OLD_CATALOG,
    CardDiscovery,
    CardResponse,
    FetchCard,
    FoundCard,
    discover,
    refusal,
)
from inspector.features.cards.documents import (
    CARD_TYPE,
    CATALOG_TYPE,
    CardProblem,
    card_problems,
    disclosures,
    listed_parts,
    versions_of,
)
from inspector.protocol.jsonrpc import excerpt
from inspector.protocol.revisions import REVISIONS
from inspector.transports.http_url import parse_url

_NONE = "the server publishes no catalog and no card"
_NO_CARD = "the server publishes no card"
_CORS = {"access-control-allow-methods": ("get",), "access-control-allow-headers": ("content-type", "if-none-match")}

CHECKS = CheckTable(Path(__file__).with_suffix(".toml"), needs=Need.NOTHING)


@CHECKS.active("CARD-01", apart=True, once=True)
async def published(visit: Visit) -> Outcome:
    """The places of catalogs and cards."""
    discovery = await _discovery(visit)
    if discovery.cards:
        return good(", ".join(card.place for card in discovery.cards[:5]), *discovery.evidence)
    if discovery.catalog is None and not discovery.notes:
        return skipped(_NONE)
    notes = " ".join(discovery.notes) or "The catalog names no server card."
    return remark(notes, *discovery.evidence)


@CHECKS.active("CARD-02", apart=True, once=True)
async def catalog_type(visit: Visit) -> Outcome:
    """The Content-Type of the catalog."""
    discovery = await _discovery(visit)
    return _typed(discovery.catalog_response, CATALOG_TYPE) or skipped("the server publishes no catalog")


@CHECKS.active("CARD-03", apart=True, once=True)
async def entries(visit: Visit) -> Outcome:
    """The entries of the catalog."""
    return await _catalog_rule(visit, "CARD-03")


@CHECKS.active("CARD-04", apart=True, once=True)
async def identifiers(visit: Visit) -> Outcome:
    """The identifiers of the catalog."""
    return await _catalog_rule(visit, "CARD-04")


@CHECKS.active("CARD-05", apart=True, once=True)
async def valid(visit: Visit) -> Outcome:
    """Each card."""
    return await _card_rule(visit, lambda card: list(card_problems(card.card)))


@CHECKS.active("CARD-06", apart=True, once=True)
async def card_type(visit: Visit) -> Outcome:
    """The Content-Type of each card with a URL of its own."""
    discovery = await _discovery(visit)
    own = [card for card in discovery.cards if card.response is not discovery.catalog_response]
    for card in own:
        outcome = _typed(card.response, CARD_TYPE)
        if outcome is not None and outcome.seen != "good":
            return outcome
    return good("", *_events(own)) if own else skipped("no card has a URL of its own")


@CHECKS.active("CARD-07", apart=True, once=True)
async def cors(visit: Visit) -> Outcome:
    """The headers of each catalog and card."""
    answers = _answers(await _discovery(visit))
    for answer in answers:
        missing = [] if answer.header("access-control-allow-origin") == "*" else ["Access-Control-Allow-Origin: *"]
        missing += [
            f"{name.title()}: {word}"
            for name, words in _CORS.items()
            for word in words
            if word not in _words(answer, name) and "*" not in _words(answer, name)
        ]
        if "etag" not in _words(answer, "access-control-expose-headers"):
            missing.append("Access-Control-Expose-Headers: ETag")
        if missing:
            return bad(f"{answer.url} lacks {', '.join(missing)}.", *answer.evidence)
    return good("", *_events_of(answers)) if answers else skipped(_NONE)


@CHECKS.active("CARD-08", apart=True, once=True)
async def cached(visit: Visit) -> Outcome:
    """Each catalog and card, fetched again with the ETag."""
    answers = _answers(await _discovery(visit))
    for answer in answers:
        missing = [name for name in ("Cache-Control", "ETag") if not answer.header(name)]
        if missing:
            return bad(f"{answer.url} lacks {' and '.join(missing)}.", *answer.evidence)
        fields = (("Accept", "*/*"), ("If-None-Match", answer.header("etag")))
        again = await visit.web.send("GET", url=answer.url, fields=fields, own=False, until=0)
        if again.status != 304:
            return bad(
                f"{answer.url} is answered with {again.brief} to If-None-Match.", *answer.evidence, *again.events
            )
    return good("", *_events_of(answers)) if answers else skipped(_NONE)


@CHECKS.active("CARD-09", apart=True, once=True)
async def secure(visit: Visit) -> Outcome:
    """The URLs of the documents, and those that they name."""
    discovery = await _discovery(visit)
    answers = _answers(discovery)
    named = [url for card in discovery.cards for url in card.urls() if "{" not in url]
    named += [entry.url for entry in (discovery.catalog.of_kind("card") if discovery.catalog else ()) if entry.url]
    for url in (*(answer.url for answer in answers), *named):
        if refusal(url, url):
            return bad(f"{excerpt(url, 120)}: {refusal(url, url)}.", *_events_of(answers))
    return good("", *_events_of(answers)) if answers else skipped(_NONE)


@CHECKS.active("CARD-10", apart=True, once=True)
async def discreet(visit: Visit) -> Outcome:
    """The texts of each catalog and card."""
    discovery = await _discovery(visit)
    answers = _answers(discovery)
    for answer in answers:
        for problem in disclosures(answer.document, parse_url(answer.url).host):
            return bad(problem.text, *answer.evidence)
    return good("", *_events_of(answers)) if answers else skipped(_NONE)


@CHECKS.active("CARD-11", apart=True, once=True, needs=Need.SESSION)
async def consistent(visit: Visit) -> Outcome:
    """The card of this URL, and what the server says."""
    discovery = await _discovery(visit)
    card = discovery.for_url(RawPost(visit).url)
    if card is None:
        return skipped(_NO_CARD if not discovery.cards else "no card names the URL of the server")
    transport = "sse" if visit.visited.transport == "sse" else "streamable-http"
    live = LiveFacts(
        visit.web.url.text, transport, visit.session.server.info, await _versions(visit, card), all_versions=True
    )
    differences = list(compare_card(card.card, live))
    faults = [difference for difference in differences if difference.is_fault]
    events = card.response.evidence
    if faults:
        return bad(" ".join(difference.text for difference in faults[:5]), *events)
    if differences:
        return remark(" ".join(difference.text for difference in differences[:5]), *events)
    return good("", *events)


@CHECKS.active("CARD-12", apart=True, once=True)
async def without_lists(visit: Visit) -> Outcome:
    """The members of each card."""
    return await _card_rule(
        visit,
        lambda card: [CardProblem("CARD-12", f"The card contains {name}.") for name in listed_parts(card.card)],
    )


@CHECKS.active("CARD-13", apart=True, once=True)
async def current_places(visit: Visit) -> Outcome:
    """The places of older drafts. A server that answers every path with a document is not at fault."""
    places = await _discovery(visit)
    if len({answer.body for answer in places.old}) == 1 and len(places.old) > 3:
        return skipped("the server answers every path with the same document")
    if places.old:
        names = ", ".join(parse_url(answer.url).target for answer in places.old[:5])
        more = " The catalog stood there until about July 2026." if OLD_CATALOG in names else ""
        return bad(f"There is a document at {names}.{more}", *_events_of(places.old))
    if not places.cards and places.catalog is None:
        return skipped(_NONE)
    return good("", *places.evidence)


@OnceInAVisit
async def _discovery(visit: Visit) -> CardDiscovery:
    """The catalog and the cards, fetched once in a visit without credentials."""
    return await discover(visit.web.endpoint, _fetch(visit), old_places=True)


def _fetch(visit: Visit) -> FetchCard:
    async def fetch(url: str, accept: str) -> CardResponse:
        answer = await visit.web.send("GET", url=url, fields=(("Accept", accept),), own=False, until=0)
        problem = answer.reason if not answer.status else ""
        if len(answer.body) > MAX_SIZE or not answer.whole:
            problem = f"the document is larger than {MAX_SIZE >> 10:,} KiB"
        return CardResponse(url, answer.status, tuple(answer.headers), answer.body, problem.rstrip("."), answer.events)

    return fetch


async def _versions(visit: Visit, card: FoundCard) -> tuple[str, ...]:
    """The revisions that the server supports, with those of the card that it agrees to."""
    spoken = list(visit.spoken)
    for version in versions_of(card.card):
        if version in REVISIONS and version not in spoken and await visit.agrees_to(version) == version:
            spoken.append(version)
    return tuple(spoken)


async def _catalog_rule(visit: Visit, rule: str) -> Outcome:
    discovery = await _discovery(visit)
    if discovery.catalog is None or discovery.catalog_response is None:
        return skipped("the server publishes no catalog")
    problems = [problem for problem in discovery.catalog.problems if problem.rule == rule]
    events = discovery.catalog_response.evidence
    if problems:
        return bad(_several(problems), *events)
    return good("", *events) if discovery.catalog.entries else skipped("the catalog has no entries")


async def _card_rule(visit: Visit, problems_of: Callable[[FoundCard], list[CardProblem]]) -> Outcome:
    discovery = await _discovery(visit)
    for card in discovery.cards:
        problems = problems_of(card)
        if problems:
            return bad(_several(problems), *card.response.evidence)
    return good("", *_events(discovery.cards)) if discovery.cards else skipped(_NO_CARD)


def _several(problems: Sequence[CardProblem]) -> str:
    more = f" ({len(problems) - 1} more)" if len(problems) > 1 else ""
    return f"{problems[0].text}{more}"


def _typed(answer: CardResponse | None, expected: str) -> Outcome | None:
    if answer is None:
        return None
    if answer.media_type == expected:
        return good("", *answer.evidence)
    make = doubtful if answer.media_type == "application/json" else bad
    return make(f"{answer.url} has the type {excerpt(answer.media_type, 80)}.", *answer.evidence)


def _answers(discovery: CardDiscovery) -> list[CardResponse]:
    """The catalog and the cards as answers, each once."""
    answers = [] if discovery.catalog_response is None else [discovery.catalog_response]
    return answers + [card.response for card in discovery.cards if card.response is not discovery.catalog_response]


def _words(answer: CardResponse, name: str) -> set[str]:
    return {word.strip().lower() for word in answer.header(name).split(",")}


def _events(cards: Sequence[FoundCard]) -> tuple[int, ...]:
    return _events_of([card.response for card in cards])


def _events_of(answers: Sequence[CardResponse]) -> tuple[int, ...]:
    return tuple(n for answer in answers for n in answer.evidence)
