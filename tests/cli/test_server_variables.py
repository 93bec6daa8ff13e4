"""`--env NAME`, `--env-file` and `--inherit-env`: the server gets the values, and nothing else shows them."""

from __future__ import annotations

import base64
import os
import sys
from pathlib import Path

import pytest

import inspector
from tests.cli.conftest import Run

pytestmark = pytest.mark.slow

SECRET = "orders-Ab12cd34Ef56"
SERVER = """
import json, os, sys
key = os.environ.get("ORDERS_KEY")
if key is None and "needs" in sys.argv:
    sys.exit("no key")
for line in sys.stdin:
    message = json.loads(line)
    if "id" not in message:
        continue
    if message["method"] == "initialize":
        result = {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": {"name": "s", "version": "1"}}
    elif message["method"] == "tools/list":
        tool = {"name": "orders", "description": f"with {key}", "inputSchema": {"type": "object"}}
        result = {"tools": [tool] if key else []}
    elif message["method"] == "tools/call":
        result = {"content": [{"type": "text", "text": f"{key} {open('/proc/self/cmdline').read()}"}]}
    else:
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "error": {"code": -32601, "message": "?"}}), flush=True)
        continue
    print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}), flush=True)
"""
WAYS = (("--env", "ORDERS_KEY"), ("--env-file", ".env"), ("--inherit-env",))


@pytest.fixture
def server(home: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    monkeypatch.setenv("ORDERS_KEY", SECRET)
    monkeypatch.chdir(home)
    (home / "server.py").write_text(SERVER)
    (home / ".env").write_text(f"# of the shop\nexport ORDERS_KEY='{SECRET}'\n")
    return ["--", sys.executable, "server.py"]


def files(home: Path) -> str:
    return "\n".join(
        path.read_text("utf-8", "replace") for path in home.rglob("*") if path.is_file() and path.name != ".env"
    )


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way[0])
@pytest.mark.parametrize("words", [("tools", "--json"), ("call", "orders"), ("info",), ("check", "--only", "tools")])
def test_a_server_gets_the_value_and_no_file_or_output_has_it(
    run: Run, home: Path, server: list[str], way: tuple[str, ...], words: tuple[str, ...]
) -> None:
    ran = run(*words, *way, *server, "needs")
    assert ran.code in (0, 5), ran.err
    known = f"{ran.out}{ran.err}{files(home)}"
    assert "redacted" in known or words[0] == "info"
    assert SECRET not in known
    assert base64.b64encode(SECRET.encode()).decode() not in known


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way[0])
def test_exports_name_the_variable_and_have_no_value(
    run: Run, home: Path, server: list[str], way: tuple[str, ...]
) -> None:
    assert run("call", "orders", "--record", "r.mcp.jsonl", *way, *server).code == 0
    for form in ("python", "python-sdk", "curl", "calls", "json", "md"):
        ran = run("export", "r.mcp.jsonl", "--to", form)
        assert SECRET not in ran.out + ran.err
        if form == "python":
            assert ("inherit_env" if "--inherit-env" in way else 'os.environ["ORDERS_KEY"]') in ran.out


VERBS = (
    *((word,) for word in ("tools", "info", "check", "context", "pin")),
    ("call", "orders"),
    *(("check", "--revision", names) for names in ("2025-11-25", "2026-07-28", "2024-11-05,2025-06-18")),
)


@pytest.mark.parametrize("words", VERBS, ids=" ".join)
def test_the_error_of_a_server_that_died_names_the_variable(
    run: Run, server: list[str], words: tuple[str, ...]
) -> None:
    ran = run(*words, *server, "needs")
    assert ran.code == 4
    assert "ORDERS_KEY is set in this shell but not passed to the server. To pass it: --env ORDERS_KEY." in ran.err
    assert SECRET not in ran.err


@pytest.mark.parametrize("kind", ["junit", "markdown", "html"])
def test_each_report_of_a_check_has_the_last_lines_and_the_variable(run: Run, server: list[str], kind: str) -> None:
    ran = run("check", f"--{kind}", "-", "--revision", "2025-11-25", *server, "needs")
    assert ran.code == 4
    assert "no key\nORDERS_KEY is set in this shell but not passed to the server." in ran.out
    assert SECRET not in ran.out


def test_the_report_of_saved_calls_names_the_variable(run: Run, home: Path, server: list[str]) -> None:
    (home / "calls.yaml").write_text(
        f"inspector: 1\nserver: {sys.executable} server.py needs\nsteps: [{{call: orders, args: {{}}}}]\n"
    )
    ran = run("run", "calls.yaml")
    assert ran.code == 4
    assert "“no key”. ORDERS_KEY is set in this shell but not passed to the server." in ran.out
    assert "To pass it: --env ORDERS_KEY." in ran.out


@pytest.mark.parametrize("words", VERBS, ids=" ".join)
def test_the_error_as_json_has_the_last_lines_of_the_server(
    run: Run, server: list[str], words: tuple[str, ...]
) -> None:
    error = run(*words, "--json", *server, "needs").error
    assert (error["code"], error["stderr"]) == ("exited", ["no key"])
    assert "shows" not in error["hint"]


async def test_the_failure_of_a_check_in_a_test_names_it(home: Path, server: list[str]) -> None:
    report = await inspector.check([*server[1:], "needs"], revisions=["2025-11-25"])
    assert "could not be checked: The server ended with exit code 1." in report.faults
    assert 'env={"ORDERS_KEY": None}' in report.faults
    assert "  no key" in report.faults


def test_a_hint_repeats_a_variable_by_its_name(run: Run, server: list[str]) -> None:
    for words in (("tools",), ("check", "--revision", "2025-11-25"), ("call", "x")):
        ran = run(*words, "--env", "ORDERS_KEY", "--env", f"TOKEN={SECRET}x", *server[:2], "nofile.py")
        assert ran.code == 4, ran.err
        assert "inspector doctor --env ORDERS_KEY --env TOKEN=" in ran.err
        assert SECRET not in ran.err


def test_a_server_without_tools_is_a_note(run: Run, server: list[str]) -> None:
    ran = run("tools", *server)
    assert "note: ORDERS_KEY is set in this shell but not passed to the server." in ran.err
    assert "note: ORDERS_KEY" not in run("tools", "--env", "ORDERS_KEY", *server).err


def test_the_doctor_names_it_too(run: Run, server: list[str]) -> None:
    ran = run("doctor", "--json", *server, "needs")
    assert ran.json["cause"] == "ORDERS_KEY is set in this shell but not passed to the server."
    assert ran.json["fix"]["command"].startswith("inspector doctor --env ORDERS_KEY ")


def test_a_variable_is_not_on_a_command_line_of_ours(run: Run, home: Path, server: list[str]) -> None:
    looked = "'inspector-guard' in listing()} {key in listing()"
    (home / "server.py").write_text(
        LISTING + SERVER.replace("{key} {open('/proc/self/cmdline').read()}", f"{{{looked}}}")
    )
    assert run("call", "orders", "--env", "ORDERS_KEY", *server).out == "True False\n"


LISTING = """
from contextlib import suppress
def listing():
    found = ""
    for pid in filter(str.isdigit, os.listdir("/proc")):
        with suppress(OSError):
            found += open(f"/proc/{pid}/cmdline").read()
    return found
"""


async def test_the_library_takes_the_same(home: Path, server: list[str]) -> None:
    for options in ({"env": {"ORDERS_KEY": None}}, {"env_file": ".env"}, {"inherit_env": True}):
        async with inspector.open(server[1:], **options) as session:
            assert [tool.name for tool in await session.tools()] == ["orders"]
    with pytest.raises(inspector.ServerExited) as caught:
        async with inspector.open([*server[1:], "needs"]):
            pass
    assert 'env={"ORDERS_KEY": None}' in caught.value.hint
    assert os.environ["ORDERS_KEY"] == SECRET
