"""Registries: every form of a document, what an entry would start, and documents that are refused."""

import json
import os

import pytest

from inspector.config.targets import HttpTarget
from inspector.errors import UsageError
from inspector.features.cards.discovery import CardResponse
from inspector.features.cards.registries import (
    document_problems,
    filled,
    read_file,
    read_listing,
    search_address,
    start_facts,
)
from tests.typed import typed

TIDES = {
    "name": "example.harbour/tides", "description": "Tide times", "version": "1.4.0",
    "packages": [{
        "registryType": "npm", "identifier": "@harbour/tides", "version": "1.4.0", "transport": {"type": "stdio"},
        "packageArguments": [{"type": "named", "name": "--pier", "value": "a b; rm -rf /"}],
        "environmentVariables": [{"name": "TIDES_KEY", "isRequired": True, "isSecret": True}],
    }],
    "remotes": [{
        "type": "streamable-http", "url": "https://{region}.harbour.example/mcp", "variables": {"region": {"default": "eu"}},
        "headers": [{"name": "X-Key", "isSecret": True, "isRequired": True}],
    }],
}  # fmt: skip
TIDES_COMMAND = typed("npx -y @harbour/tides@1.4.0 --pier 'a b; rm -rf /'")
META = {"io.modelcontextprotocol.registry/official": {"status": "deprecated", "isLatest": False}}
WRAPPED = {"server": TIDES, "_meta": META}


@pytest.mark.parametrize("document", [TIDES, WRAPPED, [TIDES], [WRAPPED], {"servers": [TIDES]}, {"servers": [WRAPPED]}])
def test_every_form_is_read(document):
    """C-REG-04."""
    server = read_listing(document).servers[0]
    assert (server.name, [choice.kind for choice in server.choices]) == (TIDES["name"], ["npm", "streamable-http"])


def test_status_and_latest_flag():
    """C-REG-04."""
    server = read_listing(WRAPPED).servers[0]
    assert (server.status, server.is_latest) == ("deprecated", False)
    assert read_listing(TIDES).servers[0].is_latest is None


def test_the_whole_start_is_described_and_each_argument_stays_one():
    """C-REG-02."""
    package, remote = read_listing(TIDES).servers[0].choices
    assert list(start_facts(package, {"TIDES_KEY": "x"})) == [
        f"runs {TIDES_COMMAND}", "variable TIDES_KEY, from your environment",
    ]  # fmt: skip
    assert list(start_facts(remote, {})) == ["connects to https://eu.harbour.example/mcp", "header X-Key"]


@pytest.mark.parametrize(
    ("words", "count"), [("", 1), ("TIDE", 1), ("tide times", 1), ("tide weather", 0), ("harbour", 1)]
)
def test_the_search_looks_for_every_word(words, count):
    assert len(read_listing([TIDES]).matching(words)) == count


def test_a_server_is_found_by_name_and_the_latest_version_is_chosen():
    def version(number, latest):
        meta = {"io.modelcontextprotocol.registry/official": {"isLatest": latest}}
        return {"server": TIDES | {"version": number}, "_meta": meta}

    listing = read_listing([version("1", False), version("2", True), version("3", False)])
    assert listing.named("tides").version == "2"
    assert listing.named("example.harbour/tides").version == "2"
    with pytest.raises(UsageError, match="no server"):
        listing.named("other")
    two = read_listing([TIDES, TIDES | {"name": "other.example/tides"}])
    with pytest.raises(UsageError, match="several"):
        two.named("tides")


@pytest.mark.parametrize("old", [
    TIDES | {"packages": [{"registry_name": "npm", "name": "x"}]}, TIDES | {"version_detail": {"version": "1"}},
    TIDES | {"packages": [{"registryType": "npm", "identifier": "x", "environment_variables": []}]},
])  # fmt: skip
def test_old_documents_are_refused_with_a_hint(old):
    """C-REG-04."""
    listing = read_listing([old, TIDES])
    assert len(listing.servers) == 1
    assert "camelCase" in listing.refused[0]


@pytest.mark.parametrize("document", [None, 7, "x", {}, {"servers": 7}, {"name": 7}])
def test_other_documents_are_not_a_registry(document):
    with pytest.raises(UsageError):
        read_listing(document)


@pytest.mark.parametrize("entry", [None, 7, [], {}, {"server": {}}, {"server": 7, "name": None}])
def test_odd_entries_are_counted_and_the_others_read(entry):
    listing = read_listing({"servers": [entry, TIDES]})
    assert (len(listing.servers), len(listing.refused)) == (1, 1)


@pytest.mark.parametrize(("change", "says"), [
    ({"packages": [{"registryType": "npm", "identifier": "x", "version": "latest"}]}, "not fixed"),
    ({"packages": [{"registryType": "npm", "identifier": "x", "version": "^1.2"}]}, "not fixed"),
    ({"packages": [{"registryType": "mcpb", "identifier": "https://x/a.mcpb"}]}, "fileSha256"),
    ({"packages": [7]}, "not an object"), ({"version": ""}, "lacks version"),
])  # fmt: skip
def test_faults_of_a_document(change, says):
    assert says in " ".join(document_problems(TIDES | change))
    assert list(document_problems(TIDES)) == []


def test_a_bundle_is_not_started():
    choice = read_listing(TIDES | {"packages": [{"registryType": "mcpb", "identifier": "x"}]}).servers[0].choices[0]
    assert choice.definition is None
    assert "mcpb" in choice.problem


def test_an_undeclared_variable_is_seen():
    """C-REG-05."""
    server = read_listing(TIDES).servers[0]
    target = HttpTarget("https://eu.example/mcp")
    assert filled(server, target) is target
    for left in (HttpTarget("https://a.example/{region}"), HttpTarget("https://a.example", headers=(("X", "{key}"),))):
        with pytest.raises(UsageError, match="leaves"):
            filled(server, left)


def test_a_file_is_read(tmp_path):
    file = tmp_path / "registry.json"
    file.write_text(json.dumps([TIDES]))
    assert len(read_file(file).servers) == 1
    for content in ("", "{", "[" * 100_000):
        file.write_text(content)
        with pytest.raises(UsageError):
            read_file(file)
    with pytest.raises(UsageError, match="cannot be read"):
        read_file(tmp_path / "nothing.json")


def test_a_pipe_is_no_registry_and_is_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "registry.json")
    with pytest.raises(UsageError, match="not a regular file"):
        read_file(tmp_path / "registry.json")


async def test_an_address_is_asked_page_by_page():
    asked = []

    async def fetch(url, _accept):
        asked.append(url)
        following = {"nextCursor": "b"} if len(asked) == 1 else {}
        return CardResponse(url, 200, (), json.dumps({"servers": [WRAPPED], "metadata": following}).encode())

    listing = await search_address("https://registry.example/", "tide", fetch)
    assert len(listing.servers) == 2
    assert asked == [
        "https://registry.example/v0.1/servers?limit=100&search=tide",
        "https://registry.example/v0.1/servers?limit=100&search=tide&cursor=b",
    ]


async def test_an_address_that_goes_on_for_ever_is_left():
    pages = []

    async def fetch(url, _accept):
        pages.append(url)
        return CardResponse(
            url, 200, (), json.dumps({"servers": [], "metadata": {"nextCursor": str(len(pages))}}).encode()
        )

    assert (await search_address("https://registry.example", "", fetch)).more
    assert len(pages) == 10


@pytest.mark.parametrize("answer", [
    CardResponse("https://a/b", 404), CardResponse("https://a/b", problem="it timed out"),
    CardResponse("https://a/b", 200, (), b"<html>"), CardResponse("https://a/b", 200, (), b"7"),
])  # fmt: skip
async def test_an_address_that_is_not_a_registry(answer):
    async def fetch(_url, _accept):
        return answer

    for url in ("https://a/b", "https://a/b.json"):
        with pytest.raises(UsageError):
            await search_address(url, "x", fetch)
