"""`--as HOST`, `--extension` and `--client`: what a server is told, and what it then offers."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Run, Script

PICKY = """
import json, sys
for line in sys.stdin:
    message = json.loads(line)
    method, answer = message.get("method"), None
    if method == "initialize":
        offered = message["params"]["capabilities"].get("extensions", {})
        answer = {"protocolVersion": message["params"]["protocolVersion"], "capabilities": {"tools": {}},
                  "serverInfo": {"name": "picky", "version": "1"}}
    elif method == "tools/list":
        names = ["plain", *(["show-chart"] if "io.modelcontextprotocol/ui" in offered else [])]
        answer = {"tools": [{"name": name, "inputSchema": {"type": "object"}} for name in names]}
    if "id" in message:
        body = {"result": answer} if answer else {"error": {"code": -32601, "message": "no"}}
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], **body}), flush=True)
"""


@pytest.fixture
def picky(tmp_path: Path) -> str:
    """The command of a server that has one more tool for clients that show apps."""
    path = tmp_path / "picky.py"
    path.write_text(PICKY)
    return f"{sys.executable} -S -E {path}"


def initialized(log: Path) -> dict[str, Any]:
    """The parameters of the handshake."""
    messages = [json.loads(line) for line in log.read_bytes().splitlines()]
    return next(message["params"] for message in messages if message.get("method") == "initialize")


@pytest.mark.slow
def test_a_host_is_introduced_as_it_introduces_itself(run: Run, script: Script, tmp_path: Path) -> None:
    """C-APP-01."""
    log = tmp_path / "log"
    run("info", "--as", "vscode", *script(log=str(log)))
    sent = initialized(log)
    assert sent["clientInfo"]["name"] == "Visual Studio Code"
    assert list(sent["capabilities"]) == ["roots", "sampling", "elicitation", "tasks", "extensions"]
    assert sent["capabilities"]["extensions"] == {
        "io.modelcontextprotocol/ui": {"mimeTypes": ["text/html;profile=mcp-app"]}
    }


@pytest.mark.slow
def test_options_change_what_a_host_says(run: Run, script: Script, tmp_path: Path) -> None:
    """C-EXT-09: any id."""
    log = tmp_path / "log"
    words = ["--as", "vscode", "--client", "Mine/3", "--extension", "apps=null", "--extension", "com.example/x"]
    run("info", *words, *script(log=str(log)))
    sent = initialized(log)
    assert sent["clientInfo"] == {"name": "Mine", "version": "3"}
    assert sent["capabilities"]["extensions"] == {"com.example/x": {}}


@pytest.mark.slow
def test_diff_shows_what_one_host_gets_and_another_does_not(run: Run, picky: str) -> None:
    """C-APP-02."""
    ran = run("diff", "--as", "claude-code", "--as", "vscode", picky)
    assert ran.code == 5
    assert "show-chart" in ran.out
    assert "as claude-code" in ran.out
    assert run("diff", "--as", "cursor", picky).code == 0
    assert run("diff", "--as", "vscode", picky).code == 5


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (["diff", "x"], "needs the argument B"), (["diff", "--as", "vscod", "x"], "Did you mean vscode"),
        (["info", "--as", "bedrock", "--", "x"], "is not known"),
        (["diff", "--as", "zed", "--as", "zed", "--as", "zed", "x"], "two sides"),
        (["info", "--extension", "skill", "--", "x"], "not the id of an extension"),
        (["info", "--extension", "a/b=[]", "--", "x"], "not a JSON object"),
        (["info", "--client", " ", "--", "x"], "not the name of a client"),
    ],
)  # fmt: skip
def test_what_cannot_be_said(run: Run, words: list[str], problem: str) -> None:
    ran = run(*words)
    assert ran.code == 2
    assert problem in ran.err


def test_a_skill_may_be_named_by_its_uri_after_the_target() -> None:
    from inspector.cli.parser import scan

    for word in ("tide-table", "skill://harbour/tide-table/SKILL.md"):
        assert scan(["skills", "@shop", word]).arguments == {"name": word}
    assert scan(["diff", "a.mcp.jsonl", "@shop"]).arguments == {"a": "a.mcp.jsonl", "b": "@shop"}
