"""`servers --search | --open | --card`: nothing is contacted unless named, nothing is started without an answer."""

import json

import pytest

from inspector.features.cards import found_servers
from inspector.features.cards.discovery import CardDiscovery, CardResponse, FoundCard
from inspector.features.cards.documents import read_catalog
from tests.features.cards.test_registries import TIDES, TIDES_COMMAND, WRAPPED
from tests.test_addresses import BECOMES, DISGUISED, LOOKALIKE, MIXES, REQUESTED


@pytest.fixture
def registry(tmp_path):
    file = tmp_path / "registry.json"
    evil = TIDES | {"name": "evil/\x1b[31mname", "description": "Red \x1b[0m", "postInstallInstructions": "run \x1b]x"}
    file.write_text(json.dumps({"servers": [WRAPPED, evil, {"server": {"name": "a/old", "version_detail": {}}}]}))
    return str(file)


def test_a_registry_file_is_searched(run, registry):
    ran = run("servers", "--search", "tide times", "--registry", registry)
    assert ran.out.split()[:4] == ["example.harbour/tides", "1.4.0", "deprecated", "not"]
    assert "npm, streamable-http" in ran.out
    assert "camelCase" in ran.err


def test_no_registry_is_contacted_by_default(run):
    ran = run("servers", "--search", "tide")
    assert ran.code == 2
    assert "none is contacted by default" in ran.err


def test_the_setting_names_a_registry(run, registry, home):
    (home / "settings.json").write_text(json.dumps({"registry": registry}))
    assert run("servers", "--search", "tide").out.startswith("example.harbour/tides")


def test_text_of_a_registry_never_reaches_the_terminal(run, registry):
    """C-REG-03: the publisher's text is shown without its escapes."""
    for words in (("--search", "red"), ("--open", "evil/\x1b[31mname")):
        ran = run("servers", *words, "--registry", registry)
        assert "\x1b" not in ran.out + ran.err
    assert "(shown, never run):\n  run ␛]x\n" in ran.out


def test_the_search_as_json(run, registry):
    document = run("servers", "--search", "tide", "--registry", registry, "--json").json
    assert document["servers"][0]["choices"][0] == {
        "name": "tides", "kind": "npm", "summary": TIDES_COMMAND, "problem": None,
        "env": ["TIDES_KEY"], "headers": [],
    }  # fmt: skip


def test_what_would_be_started_is_shown_and_needs_a_choice(run, registry):
    """C-REG-02."""
    ran = run("servers", "--open", "tides", "--registry", registry)
    assert ran.code == 2
    assert f"  runs {TIDES_COMMAND}" in ran.out
    assert "  variable TIDES_KEY" in ran.out
    assert "  header X-Key" in ran.out
    assert "tides:tides, tides:tides-streamable-http" in ran.err


def test_nothing_is_started_without_a_terminal(run, registry):
    ran = run("servers", "--open", "tides:npm", "--registry", registry)
    assert ran.code == 2
    assert "terminal" in ran.err


@pytest.mark.parametrize("words", [
    ("--search", "x", "--card", "https://a.example"), ("--registry", "x"), ("--open", "nothing"),
    ("--card", "ftp://x"), ("--search", "x", "--registry", "nothing.json"),
])  # fmt: skip
def test_what_is_wrong_is_reported(run, registry, words):
    given = words if "--registry" in words or "--card" in words else (*words, "--registry", registry)
    assert run("servers", *given).code == 2


def test_a_card_that_cannot_be_fetched(run):
    ran = run("servers", "--card", "http://127.0.0.1:9/mcp")
    assert ran.code == 4
    assert ran.out.startswith("http://127.0.0.1:9/.well-known/ai-catalog.json: ")


def test_the_problems_of_a_catalog_are_printed(run, monkeypatch):
    async def discovered(url):
        return CardDiscovery(catalog=read_catalog({"entries": [None] * 9}))

    monkeypatch.setattr(found_servers, "_discovered", discovered)
    ran = run("servers", "--card", "https://a.example")
    assert ran.err.count("note: catalog: Entry ") == 6
    assert "note: catalog: 3 more problems" in ran.err
    assert len(run("servers", "--json", "--card", "https://a.example").json["catalog_problems"]) == 9


def test_hosts_of_cards_and_registries_are_shown_as_they_are_requested(run, monkeypatch, tmp_path):
    remotes = [{"type": "sse", "url": url} for url in (LOOKALIKE, DISGUISED)]
    card = {"name": "a/b", "version": "1", "websiteUrl": LOOKALIKE, "remotes": remotes}

    async def discovered(url):
        return CardDiscovery(cards=[FoundCard(LOOKALIKE, REQUESTED, card, CardResponse(REQUESTED))])

    monkeypatch.setattr(found_servers, "_discovered", discovered)
    ran = run("servers", "--card", "https://a.example")
    assert ran.out.count(f"{REQUESTED} {MIXES}") == 3
    assert "sse  https://api.github.com\\u2215v3.evil.example/mcp" in ran.out
    (tmp_path / "registry.json").write_text(
        json.dumps({"name": "a/b", "description": "", "version": "1", "remotes": remotes})
    )
    ran = run("servers", "--open", "a/b", "--registry", str(tmp_path / "registry.json"))
    assert f"connects to {REQUESTED} {MIXES}" in ran.out
    assert f"cannot be opened: “url” is refused: {BECOMES}" in ran.out
