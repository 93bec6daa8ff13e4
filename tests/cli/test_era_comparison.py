"""`info --era both`: the server once in each era, side by side."""

from __future__ import annotations

import sys
from typing import Any

import pytest

from inspector.client.session import Session
from inspector.errors import SpawnError
from tests.cli.conftest import Run, Script

LEGACY = {
    "protocolVersion": "2025-11-25",
    "capabilities": {"tools": {}, "logging": {}, "resources": {"subscribe": True}, "odd\x1b": 5},
    "serverInfo": {"name": "two\x1b", "version": "1"},
    "instructions": "One.\nTwo.",
}
MODERN = {
    "resultType": "complete",
    "supportedVersions": ["2026-07-28"],
    "capabilities": {"tools": {"listChanged": True}, "prompts": {}},
    "_meta": {"io.modelcontextprotocol/serverInfo": {"name": "two", "version": "2", "title": "Two"}},
}
OLD, NEW = {"name": "old", "inputSchema": {}}, {"name": "new\x1b", "inputSchema": {}}


def tools(*items: Any) -> dict[str, Any]:
    return {"result": {"resultType": "complete", "tools": list(items)}}


@pytest.fixture
def both(script: Script) -> list[str]:
    """A server that speaks both eras; its script is used from its beginning in each, for it is started twice."""
    return script(
        initialize={"result": LEGACY}, server__discover={"result": MODERN},
        tools__list=tools({"name": "same", "description": "x"}, OLD, NEW),
        resources__list={"result": {"resources": [{"uri": "a:1"}]}},
        prompts__list={"error": {"code": -32603, "message": "broken\x1b"}},
    )  # fmt: skip


@pytest.mark.slow
def test_both_eras_stand_side_by_side(run: Run, both: list[str]) -> None:
    ran = run("info", "--era", "both", *both)
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.splitlines() == [
        "era           legacy         modern",
        "revision      2025-11-25     2026-07-28",
        "server        two␛  1        two  2",
        "title         two␛           Two",
        "tools         3              3 (listChanged)",
        "logging       yes            -",
        "resources     1 (subscribe)  -",
        "templates     0              -",
        "odd␛          yes            -",
        "prompts       -              0",
        "instructions  2 lines        -",
        "",
        "resources in the legacy era only: a:1",
        "",
        "modern era: The server answered prompts/list with error -32603: broken␛",
    ]


@pytest.mark.slow
def test_as_json_it_is_one_document(run: Run, both: list[str]) -> None:
    ran = run("info", "--era", "both", "--json", *both)
    assert (ran.code, ran.err) == (0, "")
    document = ran.json
    assert (document["legacy"]["revision"], document["modern"]["revision"]) == ("2025-11-25", "2026-07-28")
    assert document["legacy"]["counts"] == {"tools": 3, "resources": 1, "templates": 0}
    assert document["legacy"]["instructions"] == "One.\nTwo."
    assert document["modern"]["capabilities"] == MODERN["capabilities"]
    assert document["modern"]["errors"]["prompts"]["code"] == "server"
    assert document["differences"] == [
        {"list": "resources", "legacy_only": ["a:1"], "modern_only": [], "other": []},
    ]


@pytest.mark.slow
def test_what_is_in_one_era_only_is_named(run: Run, demo: list[str]) -> None:
    ran = run("info", "--era", "both", "--json", *demo)
    (tools,) = (change for change in ran.json["differences"] if change["list"] == "tools")
    assert "end-listening" in tools["modern_only"]
    assert "ping-client" in tools["legacy_only"]
    assert "task-slow" in tools["other"]
    text = run("info", "--era", "both", *demo).out
    assert "tools in the modern era only: end-listening\n" in text
    assert "tools in the legacy era only: ping-client\n" in text
    assert "tools that differ between the eras: " in text


@pytest.mark.slow
def test_an_era_that_is_not_spoken_says_why(run: Run, script: Script) -> None:
    server = script(initialize={"result": LEGACY}, tools__list=tools())
    ran = run("info", "--era", "both", *server)
    assert (ran.code, ran.err) == (0, "")
    assert "revision      2025-11-25     -\n" in ran.out
    assert "\nmodern era: The server does not speak 2026-07-28" in ran.out
    document = run("info", "--era", "both", "--json", *server).json
    assert document["modern"]["error"]["code"] == "handshake"
    assert document["differences"] == []


@pytest.mark.slow
def test_a_server_that_speaks_neither_is_an_error(run: Run, script: Script) -> None:
    ran = run("info", "--era", "both", *script(initialize={"error": {"code": 1, "message": "no"}}))
    assert (ran.code, ran.out) == (4, "")
    assert ran.err.startswith("legacy era:\nerror: The server refused initialize")
    assert "\nmodern era:\nerror: The server does not speak 2026-07-28" in ran.err
    ran = run("info", "--era", "both", "--json", "--", sys.executable, "-c", "exit(3)")
    assert (ran.code, ran.error["status"]) == (4, 3)


def test_the_same_error_in_both_is_reported_once(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    async def refuse(self: Session) -> None:
        raise SpawnError("It is broken.")

    monkeypatch.setattr(Session, "open", refuse)
    assert run("info", "--era", "both", "--", "x").err == (
        "error: It is broken.\nhint: To find the cause, run inspector doctor -- x\n"
    )


@pytest.mark.slow
def test_a_connection_that_breaks_while_lists_are_read_is_that_eras_error(run: Run, script: Script) -> None:
    server = script(
        initialize={"result": LEGACY | {"capabilities": {"tools": {}}}}, server__discover={"result": MODERN},
        tools__list={"exit": 3},
    )  # fmt: skip
    ran = run("info", "--era", "both", *server)
    assert ran.code == 4
    assert ran.err.count("ended with exit code 3") == 1


@pytest.mark.parametrize("option", ["--record=x.mcp.jsonl", "--revision=2025-11-25"])
def test_options_for_one_session_are_refused(run: Run, both: list[str], option: str) -> None:
    ran = run("info", "--era", "both", option, *both)
    assert ran.code == 2
    assert option.partition("=")[0] in ran.err


def test_both_is_for_info_only(run: Run, both: list[str]) -> None:
    assert run("tools", "--era", "both", *both).code == 2
