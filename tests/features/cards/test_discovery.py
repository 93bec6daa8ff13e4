"""Cards and catalogs: where they are looked for, what is fetched, and documents of the worst kind."""

import json

import pytest

from inspector.features.cards.consistency import LiveFacts, compare_card
from inspector.features.cards.discovery import CATALOG, MAX_SIZE, CardResponse, discover, problems_of, refusal
from inspector.features.cards.documents import CARD_TYPE, SCHEMA, card_problems, disclosures, listed_parts, read_catalog
from inspector.features.cards.fetching import CardFetcher
from tests.test_addresses import BECOMES, DISGUISED, LOOKALIKE, MIXES, REQUESTED
from tests.transports.scripted_http import Web

HOME = "https://harbour.example"
CARD = {
    "$schema": SCHEMA, "name": "example.harbour/tides", "version": "1.4.0", "description": "Tide times for small harbours.",
    "remotes": [
        {"type": "streamable-http", "url": f"{HOME}/mcp", "supportedProtocolVersions": ["2025-11-25", "2026-07-28"]}
    ],
}  # fmt: skip
ENTRY = {"identifier": "urn:air:harbour.example:mcp:tides", "type": CARD_TYPE, "url": f"{HOME}/mcp/server-card"}
JSON = (("Content-Type", "application/json"),)


def catalog(*entries):
    return {"specVersion": "1.0", "entries": list(entries)}


class Fake:
    """Answers from a dict of documents (or bytes) by URL, and keeps the URLs and the Accept headers."""

    def __init__(self, documents):
        self.documents = documents
        self.asked = []
        self.accepted = []

    async def __call__(self, url, accept):
        self.asked.append(url)
        self.accepted.append(accept)
        document = self.documents.get(url)
        if document is None:
            return CardResponse(url, 404)
        body = document if isinstance(document, bytes) else json.dumps(document).encode()
        return CardResponse(url, 200, JSON, body)


async def looked(documents, url=f"{HOME}/mcp", **more):
    fake = Fake({f"{HOME}{path}": document for path, document in documents.items()})
    return await discover(url, fake, **more), fake.asked


async def test_a_catalog_leads_to_the_card():
    """C-CARD-01."""
    discovery, asked = await looked({CATALOG: catalog(ENTRY), "/mcp/server-card": CARD})
    assert asked == [f"{HOME}{CATALOG}", f"{HOME}/mcp/server-card"]
    assert [problems_of(card) for card in discovery.cards] == [[]]
    assert discovery.for_url(f"{HOME}/mcp").card == CARD


async def test_a_card_may_stand_in_the_catalog():
    """C-CARD-01."""
    entry = {key: value for key, value in ENTRY.items() if key != "url"}
    discovery, _ = await looked({CATALOG: catalog(entry | {"data": CARD})}, HOME)
    assert [card.card for card in discovery.cards] == [CARD]


async def test_a_card_is_requested_by_its_type():
    """C-CARD-02."""
    fake = Fake({f"{HOME}{CATALOG}": catalog(ENTRY), f"{HOME}/mcp/server-card": CARD})
    await discover(f"{HOME}/mcp", fake)
    assert fake.accepted[1].split(", ")[0] == "application/mcp-server-card+json"


async def test_a_url_of_a_card_is_fetched_alone():
    discovery, asked = await looked({"/mcp/server-card": CARD}, f"{HOME}/mcp/server-card")
    assert (asked, len(discovery.cards)) == ([f"{HOME}/mcp/server-card"], 1)


@pytest.mark.parametrize(("entry", "says"), [
    (ENTRY | {"url": "file:///etc/passwd"}, "not an http or https URL"),
    (ENTRY | {"url": "javascript:alert(1)"}, "not an http or https URL"),
    (ENTRY | {"url": "http://169.254.169.254/latest"}, "uses http"),
    (ENTRY | {"url": "https://169.254.169.254/latest"}, "private"), (ENTRY | {"url": "https://127.0.0.1/x"}, "private"),
    (ENTRY | {"url": "https://0x7f000001/x"}, "would become 127.0.0.1 in the request"), (ENTRY | {"url": f"{HOME}{CATALOG}", "type": CARD_TYPE}, ""),
    (ENTRY | {"type": "application/ai-catalog+json"}, "Nested catalogs"), (ENTRY | {"type": "application/a2a"}, "other types"),
])  # fmt: skip
async def test_entries_that_are_not_followed(entry, says):
    """C-CARD-07, C-CARD-10."""
    discovery, asked = await looked({CATALOG: catalog(entry)}, HOME)
    assert asked == [f"{HOME}{CATALOG}"]
    assert discovery.cards == []
    assert says in " ".join(discovery.notes)


async def test_hosts_of_cards_are_named_as_they_are_requested():
    discovery, asked = await looked({CATALOG: catalog(ENTRY | {"url": LOOKALIKE}, ENTRY | {"url": DISGUISED})}, HOME)
    assert asked == [f"{HOME}{CATALOG}", REQUESTED]
    assert f"The card at {REQUESTED} {MIXES} cannot be read: status 404." in discovery.notes
    assert BECOMES in " ".join(discovery.notes)


@pytest.mark.parametrize("body", [b"<!doctype html><p>Welcome", b"", b"[]", b"7", b"{", b"\xff\xfe", b"[" * 100_000])
async def test_a_server_that_answers_every_path(body):
    discovery, _ = await looked(dict.fromkeys((CATALOG, "/mcp/server-card"), body))
    assert (discovery.cards, discovery.catalog) == ([], None)


async def test_an_empty_object_on_every_path_is_not_a_card():
    """C-CARD-03: these two places, and none of older drafts."""
    discovery, asked = await looked({CATALOG: {}, "/mcp/server-card": {}})
    assert asked == [f"{HOME}{CATALOG}", f"{HOME}/mcp/server-card"]
    assert discovery.cards == []
    assert discovery.notes == [f"{HOME}{CATALOG} is not a catalog: it has no list of entries.",
                           f"{HOME}/mcp/server-card is JSON, but not a card."]  # fmt: skip


async def test_a_large_catalog_is_read_in_part():
    """C-CARD-07."""
    entries = [ENTRY | {"url": f"{HOME}/{n}/server-card"} for n in range(5000)]
    discovery, asked = await looked({CATALOG: catalog(*entries)}, HOME)
    assert len(asked) == 21
    assert (len(discovery.catalog.entries), discovery.catalog.total) == (1000, 5000)
    assert "The catalog names 1,000 cards; the first 20 were fetched." in discovery.notes


@pytest.mark.parametrize(("change", "rule"), [
    ({"identifier": None}, "CARD-03"), ({"type": 7}, "CARD-03"), ({"data": {}}, "CARD-03"), ({"url": 7}, "CARD-03"),
    ({"identifier": "urn:mcp:server:x"}, "CARD-04"), ({"identifier": "tides"}, "CARD-04"),
])  # fmt: skip
def test_faults_of_an_entry(change, rule):
    """C-CARD-10."""
    assert {problem.rule for problem in read_catalog(catalog(ENTRY | change)).problems} == {rule}


def test_odd_entries_are_named():
    reading = read_catalog(catalog(None, 7, [], ENTRY))
    assert (len(reading.problems), len(reading.of_kind("card"))) == (3, 1)


@pytest.mark.parametrize("change", [
    {"name": "tides"}, {"name": "a/" + "b" * 300}, {"$schema": SCHEMA.replace("v1", "2025-11-25")}, {"version": ...},
    {"version": "^1.2"}, {"version": "1.x"}, {"version": "latest"}, {"description": "x" * 101}, {"description": ""},
    {"title": 7}, {"remotes": {}}, {"remotes": [7]}, {"remotes": [{"type": "streamable-http", "url": "ftp://x"}]},
    {"remotes": [{"type": "http", "url": HOME}]}, {"remotes": [{"type": "sse", "url": "{base}/mcp"}]},
    {"remotes": [{"type": "sse", "url": HOME, "headers": [{"name": "Host"}]}]}, {"icons": {}}, {"_meta": []},
    {"remotes": [{"type": "sse", "url": HOME, "supportedProtocolVersions": "2025-11-25"}]},
])  # fmt: skip
def test_faults_of_a_card(change):
    card = {key: value for key, value in (CARD | change).items() if value is not ...}
    assert len(list(card_problems(card))) == 1


@pytest.mark.parametrize("card", [
    CARD, CARD | {"unknown": 1}, CARD | {"remotes": []},
    CARD | {"remotes": [{"type": "sse", "url": "{base}/mcp", "variables": {"base": {}}}]},
])  # fmt: skip
def test_cards_in_order(card):
    assert list(card_problems(card)) == []


@pytest.mark.parametrize("text", [
    "https://10.0.0.5/mcp", "see http://localhost:8080/", "https://db.internal/x", "Bearer abcdefghijklmnop1234",
    "ghp_" + "a" * 36, "-----BEGIN RSA PRIVATE KEY-----",
])  # fmt: skip
def test_secrets_and_private_addresses_are_found(text):
    assert [problem.rule for problem in disclosures(CARD | {"_meta": {"a": [text]}}, "harbour.example")] == ["CARD-10"]


def test_the_value_of_a_secret_header_is_found():
    header = {"name": "X-Api-Key", "value": "1234"}
    card = CARD | {"remotes": [{"type": "sse", "url": f"{HOME}/sse", "headers": [header]}]}
    assert len(list(disclosures(card, "harbour.example"))) == 1
    assert list(disclosures(CARD, "harbour.example")) == []
    for url in ("http://①②⑦.0.0.1/", "http://me@2130706433:80/", "http://127.1?x"):
        assert len(list(disclosures(CARD | {"websiteUrl": url}, "harbour.example"))) == 1
    assert list(disclosures(CARD | {"websiteUrl": "http://localhost/"}, "localhost")) == []


def test_parts_of_the_running_server():
    assert listed_parts(CARD | {"tools": [], "capabilities": {}}) == ("tools", "capabilities")


def live(**changes):
    facts = {"url": f"{HOME}/mcp", "transport": "streamable-http", "info": {"name": "tides", "version": "1.4.0"}}
    return LiveFacts(**facts | {"versions": ("2025-11-25", "2026-07-28"), "all_versions": True} | changes)


@pytest.mark.parametrize(("changes", "members"), [
    ({}, []), ({"info": {"name": "other"}}, ["name"]), ({"info": {"version": "1.5.0"}}, ["version"]),
    ({"versions": ("2025-11-25",)}, ["supportedProtocolVersions"]), ({"transport": "sse"}, ["type of the remote"]),
    ({"url": f"{HOME}/other"}, ["remotes"]), ({"versions": ("2025-11-25",), "all_versions": False}, []),
])  # fmt: skip
def test_a_card_is_held_against_the_server(changes, members):
    """C-CARD-05, C-CARD-11: another name is a remark."""
    differences = list(compare_card(CARD, live(**changes)))
    assert [difference.member for difference in differences] == members
    assert all(difference.is_fault == (difference.member not in ("name", "remotes")) for difference in differences)


@pytest.mark.parametrize(("url", "origin", "allowed"), [
    (f"{HOME}/x", HOME, True), ("https://other.example/x", HOME, True), ("http://harbour.example/x", HOME, False),
    ("http://127.0.0.1:8/x", "http://127.0.0.1:8/", True), ("https://192.168.0.1/", HOME, False),
    ("https://[::1]/", HOME, False), ("https://[::ffff:10.0.0.1]/", HOME, False), ("data:text/plain,x", HOME, False),
    ("https://10.0.0.1/", "http://127.0.0.1:8/", True), ("https://169.254.169.254/", "http://127.0.0.1:8/", False),
    ("https://[64:ff9b::169.254.169.254]/", "http://127.0.0.1:8/", False), ("https://10.0.0.1/", "https://10.0.0.2/", True),
    ("https://127.0.0.1/", "https://10.0.0.2/", False), ("https://192.0.0.192/", "https://10.0.0.2/", False),
    ("https://169.254.1.1/x", "https://169.254.1.1/", True),
])  # fmt: skip
def test_urls_that_may_be_fetched(url, origin, allowed):
    """C-CARD-07."""
    assert (refusal(url, origin) == "") is allowed


async def fetched(answer):
    requests = []

    def serve(request, reply):
        requests.append(request)
        answer(request, reply)

    async with Web(serve) as web:
        origin = web.url.removesuffix("/mcp")
        fetcher = CardFetcher(origin)
        try:
            return await fetcher.get(f"{origin}/card", "application/json"), requests
        finally:
            await fetcher.aclose()


async def test_no_credentials_go_with_a_request():
    """C-CARD-06."""
    response, requests = await fetched(lambda _, reply: reply.json(CARD))
    assert response.document == CARD
    assert {name.lower() for name, _ in requests[0].fields} <= {"host", "accept", "connection", "accept-encoding"}


async def test_a_document_that_is_too_large_is_not_read():
    """C-CARD-07."""
    response, _ = await fetched(lambda _, reply: reply.body(200, b"[" + b" " * (MAX_SIZE + 10) + b"]", *JSON))
    assert "larger than" in response.problem


@pytest.mark.parametrize(("location", "says"), [
    ("http://login.example.com/", "uses http"), ("file:///etc/passwd", "not an http"),
    ("javascript:x", "not an http"), ("/card", "redirects more than"), ("", "redirects more than"),
    ("https://[64:ff9b::169.254.169.254]/card", "link-local"),
])  # fmt: skip
async def test_redirects_are_followed_only_to_allowed_addresses(location, says):
    """C-CARD-07."""
    response, requests = await fetched(lambda _, reply: reply.body(302, b"", ("Location", location)))
    assert says in response.problem
    assert len(requests) <= 4


async def test_a_login_page_is_not_a_card():
    def answer(request, reply):
        if request.target == "/card":
            reply.body(302, b"", ("Location", "/login"))
        else:
            reply.body(200, "<html>Log in", ("Content-Type", "text/html"))

    response, _ = await fetched(answer)
    assert (response.document, response.summary) == (None, "status 200, but an HTML page")


async def test_a_server_that_is_not_there():
    response = await CardFetcher("http://127.0.0.1:9/").get("http://127.0.0.1:9/card", "*/*")
    assert response.problem
    assert response.document is None


async def test_plain_http_is_not_used_elsewhere():
    response = await CardFetcher("http://harbour.example/").get("http://harbour.example/card", "*/*")
    assert response.problem == "it was not fetched: it uses http"
