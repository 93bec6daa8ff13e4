"""Large things: 10,000 tools, 20 and 50 MB in one line, texts and schemas of megabytes. Nothing is cut, nothing hangs."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from cases import CASES

from inspector.cli.open_recording import whole_journal
from tests.bad_input.conftest import SERVERS, Run, Serve

pytestmark = pytest.mark.slow

BIG_LIST = ("--", sys.executable, "-S", "-E", str(SERVERS / "big_list.py"))
FIFTY = 50_000_000
# Answers tools/call with as many bytes of text as the argument says, in one line.
LINE_OF = """
import json, sys
for line in sys.stdin:
    m = json.loads(line)
    if m.get("method") == "initialize":
        r = {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": {"name": "x", "version": "1"}}
    elif m.get("method") == "tools/call":
        r = {"content": [{"type": "text", "text": "x" * m["params"]["arguments"]["size"]}]}
    else:
        continue
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", "id": m["id"], "result": r}) + chr(10))
    sys.stdout.flush()
"""


def test_all_of_ten_thousand_tools_are_listed(run: Run, recording: Path) -> None:
    ran = run("tools", "--json", "--record", str(recording), *BIG_LIST)
    assert (ran.code, ran.err) == (0, "")
    assert [tool["name"] for tool in ran.json["tools"]] == [f"tool_{number:05}" for number in range(10_000)]
    with whole_journal(recording) as journal:
        assert sum(journal.index.method(n) == "tools/list" for n in range(1, len(journal) + 1)) == 200


def test_a_page_limit_and_a_cursor_are_kept_to(run: Run) -> None:
    ran = run("tools", "--json", "--page-limit", "2", *BIG_LIST)
    assert len(ran.json["tools"]) == 200
    following = run("tools", "--json", "--page-limit", "1", "--cursor", ran.json["nextCursor"], *BIG_LIST)
    assert following.json["tools"][0]["name"] == "tool_00200"


def test_the_last_of_ten_thousand_tools_can_be_called(run: Run) -> None:
    ran = run("call", "tool_09999", "id=x", "limit=3", *BIG_LIST)
    assert (ran.code, ran.out) == (0, "tool_09999\n")


def test_fifty_megabytes_in_one_line(run: Run, recording: Path) -> None:
    server = ["--", sys.executable, "-S", "-E", "-c", LINE_OF]
    ran = run("call", "t", f"size:={FIFTY}", "--record", str(recording), *server)
    assert (ran.code, ran.err) == (0, "")
    assert ran.out == "x" * FIFTY + "\n"
    with whole_journal(recording) as journal:
        assert max(map(journal.index.size, range(1, len(journal) + 1))) > FIFTY


def test_twenty_megabytes_are_printed_as_they_came(run: Run, serve: Serve) -> None:
    ran = run("call", "echo", "--json", *serve("huge"))
    assert ran.code == 0
    assert '"result":' + ran.out.rstrip("\n") in CASES["huge"].messages(1)[0].decode()


def test_a_list_of_megabytes_is_one_line_each(run: Run, serve: Serve) -> None:
    ran = run("tools", *serve("huge-schema"))
    assert (ran.code, ran.err) == (0, "")
    lines = ran.out.splitlines()
    assert [line.split()[0] for line in lines] == ["wide", "wordy", "choosy"]
    assert max(map(len, lines)) < 10_000
    whole = run("tools", "--json", *serve("huge-schema")).json["tools"]
    assert len(whole[0]["inputSchema"]["properties"]) == 20_000
    assert len(whole[2]["inputSchema"]["properties"]["choice"]["enum"]) == 100_000


def test_arguments_for_a_tool_of_twenty_thousand_fields(run: Run, serve: Serve, recording: Path) -> None:
    ran = run("call", "wide", "field_19999=7", "--record", str(recording), *serve("huge-schema"))
    assert (ran.code, ran.out) == (0, "hello\n")
    sent = next(line for line in recording.read_text().splitlines() if "tools/call" in line)
    assert json.loads(json.loads(sent)["raw"])["params"]["arguments"] == {"field_19999": "7"}


def test_the_server_of_the_list_pages_as_it_says() -> None:
    messages = [{"jsonrpc": "2.0", "id": n, "method": "tools/list"} for n in (1, 2)]
    words = [*BIG_LIST[1:], "5", "2"]
    done = subprocess.run(words, input="\n".join(map(json.dumps, messages)), capture_output=True, text=True, timeout=60)
    first, second = (json.loads(line)["result"] for line in done.stdout.splitlines())
    assert first == second
    assert [tool["name"] for tool in first["tools"]] == ["tool_00000", "tool_00001"]
