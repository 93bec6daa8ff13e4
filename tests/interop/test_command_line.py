"""The command line on each real server: exit codes, output, recordings, and nothing left running."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from inspector.check.judge.judge import Judge
from inspector.cli.open_recording import whole_journal
from tests.interop.peers import Peer, Tool
from tests.interop.session_checks import faults_of_ours
from tests.processes import Ran, left_of, run, spawned


class Terminal:
    """Runs verbs on one server and looks at each recording."""

    def __init__(self, peer: Peer, home: Path) -> None:
        self.peer = peer
        self.home = home
        self.count = 0

    def __call__(self, *words: str) -> Ran:
        self.count += 1
        recording = self.home / f"{self.count}.mcp.jsonl"
        ran = run(self.home, [*words, "--era", self.peer.era, "--record", str(recording), *self.peer.words])
        assert "Traceback" not in ran.err
        assert [left for pid in spawned(recording) for left in left_of(pid)] == []
        with whole_journal(recording) as journal:
            assert journal.ended is not None
            Judge(journal).run_all()
            assert faults_of_ours(journal) == []
        return ran


@pytest.fixture
def terminal(peer: Peer, home: Path) -> Terminal:
    """A terminal with one server's words."""
    return Terminal(peer, home)


def pairs(arguments: dict[str, Any]) -> list[str]:
    """Arguments as they are typed."""
    return [
        f"{key}={value}" if isinstance(value, str) else f"{key}:={json.dumps(value)}"
        for key, value in arguments.items()
    ]


def typed(tool: Tool) -> list[str]:
    """The words that call a tool."""
    return ["call", tool[0], *pairs(tool[1])]


def test_info_and_lists(terminal: Terminal) -> None:
    offer = terminal.peer.offer
    ran = terminal("info", "--json")
    assert ran.code == 0
    assert (ran.json["serverInfo"]["name"], ran.json["era"]) == (offer.server, terminal.peer.era)
    ran = terminal("info")
    assert ran.code == 0
    assert offer.server in ran.out
    ran = terminal("tools", "--json")
    assert ran.code == 0
    assert offer.tools <= {tool["name"] for tool in ran.json["tools"]}
    for verb, key, member, expected in (
        ("resources", "resources", "uri", offer.resource),
        ("templates", "resourceTemplates", "uriTemplate", offer.template),
        ("prompts", "prompts", "name", offer.prompt),
    ):
        assert expected in [item[member] for item in terminal(verb, "--json").json[key]]
    ran = terminal("tools")
    assert {line.split()[0] for line in ran.out.splitlines()} >= offer.tools


def test_calls(terminal: Terminal) -> None:
    offer = terminal.peer.offer
    ran = terminal(*typed(offer.echo))
    assert (ran.code, "hello" in ran.out) == (0, True)
    ran = terminal(*typed(offer.structured), "--json")
    assert (ran.code, isinstance(ran.json["structuredContent"], dict)) == (0, True)
    ran = terminal(*typed(offer.fails))
    assert ran.code == 1
    ran = terminal(*typed(offer.sampling), "--sampling", "It is a test.")
    assert (ran.code, "It is a test." in ran.out) == (0, True)
    ran = terminal(*typed(offer.elicitation), "--elicit", "defaults")
    assert (ran.code, "accept" in ran.out) == (0, True)
    ran = terminal(*typed(offer.roots), "--root", "file:///srv/project")
    assert (ran.code, "file:///srv/project" in ran.out) == (0, True)
    ran = terminal(*typed(offer.slow), "--timeout", "0.5", "--json")
    assert (ran.code, ran.error["code"]) == (4, "timeout")


def test_resources_prompts_completion_and_requests(terminal: Terminal) -> None:
    offer = terminal.peer.offer
    ran = terminal("read", offer.resource)
    assert (ran.code, offer.resource_text in ran.out) == (0, True)
    ran = terminal("read", offer.expanded, "--json")
    assert (ran.code, len(ran.json["contents"])) == (0, 1)
    ran = terminal("prompt", offer.prompt, *pairs(offer.prompt_arguments))
    assert (ran.code, offer.prompt_text in ran.out) == (0, True)
    for value, values in offer.values.items():
        ran = terminal("complete", "prompt", offer.prompt, offer.argument, value)
        assert (ran.code, ran.out.split()) == (0, values)
    ran = terminal("request", "server/discover" if terminal.peer.era == "modern" else "ping", "--json")
    assert (ran.code, isinstance(ran.json, dict)) == (0, True)
    ran = terminal("request", "tools/call", json.dumps(dict(zip(("name", "arguments"), offer.echo, strict=True))))
    assert (ran.code, "hello" in ran.out) == (0, True)
    ran = terminal("request", "no/such/method", "--json")
    assert (ran.code, ran.error["rpc_error"]["code"]) == (1, -32601)
    ran = terminal("read", "no://such/resource")
    assert ran.code == 1
    # A note may come before it: a slow machine makes a server look silent.
    assert "error: The server answered resources/read with error" in ran.err
