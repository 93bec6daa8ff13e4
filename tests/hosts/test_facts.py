"""Every fact about a host: its data, a server with its fault, and a server that the host accepts."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest

import inspector.hosts
from inspector.errors import UsageError
from inspector.hosts import Fact, client_of, evaluate, host_facts
from inspector.hosts.evaluation import KINDS, criteria_of
from inspector.hosts.facts import EFFECTS, FILE, NameRule
from tests.hosts.servers import faults, good

FACTS = host_facts().facts
TODAY = date(2026, 11, 22)


def test_a_fact_names_its_source_date_and_a_known_host() -> None:
    ids = [fact.id for fact in FACTS]
    assert len(ids) == len(set(ids)) >= 89
    for fact in FACTS:
        assert fact.host in host_facts().labels, fact.id
        assert fact.effect in EFFECTS, fact.id
        assert fact.source, fact.id
        assert all(fact.source), fact.id
        assert fact.date, fact.id
        assert fact.confidence in ("high", "medium", "low"), fact.id
        assert fact.verify, fact.id
        assert fact.remedy or not criteria_of(fact), fact.id


def test_the_facts_are_a_file_of_the_program(monkeypatch: pytest.MonkeyPatch) -> None:
    def connected(*_: object, **__: object) -> None:
        raise AssertionError("something is fetched")

    monkeypatch.setattr("socket.socket", connected)
    monkeypatch.setattr("socket.getaddrinfo", connected)
    host_facts.cache_clear()
    assert [fact.id for fact in host_facts().facts] == [fact.id for fact in FACTS]
    assert FILE.parent == Path(inspector.hosts.__file__).parent


@pytest.mark.parametrize("fact", [fact for fact in FACTS if criteria_of(fact)], ids=lambda fact: fact.id)
def test_a_planted_fault_is_noted_and_a_right_server_is_not(fact: Fact) -> None:
    for kind, given in criteria_of(fact).items():
        planted = faults(kind, given, fact)
        assert planted
        for server in planted:
            notes = evaluate(server, [fact])
            assert [note for note in notes if not note.ok], (kind, server)
            assert all(note.actual and note.limit for note in notes)
    assert all(note.ok for note in evaluate(good(), [fact]))


def test_every_kind_of_test_is_used() -> None:
    used = {kind for fact in FACTS for kind in criteria_of(fact)}
    assert set(KINDS) <= used


def test_only_a_fact_of_more_than_a_year_says_its_age() -> None:
    by_id = {fact.id: fact for fact in FACTS}
    assert by_id["HOST-OPENAI-04"].age(TODAY) == "19 months old"
    assert by_id["HOST-CLAUDE-07"].age(TODAY) == ""
    assert by_id["HOST-CLAUDE-07"].age(date(2028, 1, 1)) == "17 months old"
    assert by_id["HOST-ZED-01"].age(date(2030, 1, 1)) == ""  # Its source is undated.


def test_a_full_name_has_the_prefix_of_the_host() -> None:
    names = {host: host_facts().name_rule(host) for host in host_facts().labels}
    full = {host: rule.full_name("my.long-server-name", "get.order") for host, rule in names.items() if rule}
    assert full["claude-code"] == "mcp__my_long-server-name__get_order"
    assert full["vscode"] == "mcp_my_long-serve_get_order"
    assert full["gemini-cli"] == "mcp_my.long-server-name_get.order"
    assert full["cursor"] == "my.long-server-name:get.order"
    assert full["zed"] == "get.order"
    assert full["codex"] == "mcp__my_long_server_name__get_order"


def test_a_name_rule_replaces_in_server_and_tool_only() -> None:
    assert NameRule("a.{server}.{tool}", r"[^a-z]", "_").full_name("{tool}", "x") == "a._tool_.x"


def test_a_host_has_the_facts_of_the_model_behind_it_but_not_those_about_names() -> None:
    chosen = {fact.id for fact in host_facts().choose(("claude-code",))}
    assert {"HOST-CLAUDE-02", "HOST-CLAUDE-07", "HOST-CLAUDE-21"} <= chosen
    assert "HOST-CLAUDE-01" not in chosen
    assert "HOST-CLAUDE-03" not in chosen  # Claude Code rewrites such a schema itself.
    assert "HOST-GEMINI-03" not in chosen
    assert len(host_facts().choose(("cursor", "all"))) == len(FACTS)


def test_an_unknown_host_names_the_nearest() -> None:
    with pytest.raises(UsageError, match="Unknown host “claude-kode”") as caught:
        host_facts().choose(("claude-kode",))
    assert caught.value.hint is not None
    assert "claude-code" in str(caught.value.hint)


def test_a_host_introduces_itself() -> None:
    client = client_of("claude-code")
    assert client is not None
    assert client.info["name"] == "claude-code"
    assert "roots" in client.capabilities
    code = client_of("vscode")
    assert code is not None
    assert "io.modelcontextprotocol/ui" in code.extensions
    assert "extensions" not in code.capabilities
    assert client_of("bedrock") is None
    with pytest.raises(UsageError):
        client_of("nothing")
