"""`inspector doctor`: exit codes, the report on stdout, JSON, and what is fit for an issue."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.cli.conftest import Run


@pytest.mark.slow
def test_a_server_in_order(run: Run, demo: list[str]) -> None:
    ran = run("doctor", *demo)
    assert ran.code == 0
    assert re.match(r"It connects: inspector-demo .*, in [1-9][0-9.,]* m?s\b", ran.out)
    assert "✓ handshake" in ran.out
    assert "recording: " in ran.err


@pytest.mark.slow
def test_a_command_that_is_none(run: Run) -> None:
    ran = run("doctor", "--json", "--", "no-such-server-here")
    assert ran.code == 4
    assert ran.json["outcome"] == "fails"
    assert ran.json["cause"] == "The command “no-such-server-here” was not found on the PATH."
    assert [step["name"] for step in ran.json["steps"]] == ["folder", "command", "start"]
    assert Path(ran.json["recording"].replace("~", str(Path.home()))).is_file()


def test_a_config_entry_that_lacks_a_variable_is_examined_all_the_same(run: Run, home: Path) -> None:
    entry = '{"servers": {"shop": {"command": "no-such-shop", "env": {"KEY": "${NO_SUCH_VARIABLE}"}}}}'
    (home / "inspector.json").write_text(entry)
    ran = run("doctor", "@shop")
    assert ran.code == 4
    assert "needs the environment variable NO_SUCH_VARIABLE, which is not set." in ran.out.splitlines()[0]
    assert "✗ command" in ran.out
    assert "– start" in ran.out


def test_words_that_name_nothing_are_wrong_usage(run: Run) -> None:
    for words in (["@missing"], ["ftp://host/x"], []):
        assert run("doctor", *words).code == 2


@pytest.mark.slow
def test_a_recording_is_opened_and_described(run: Run, home: Path, demo: list[str]) -> None:
    assert run("info", "--record", "one.mcp.jsonl", *demo).code == 0
    ran = run("doctor", "one.mcp.jsonl")
    assert ran.code == 0
    assert "can be opened; its connection succeeded." in ran.out


def test_a_file_that_is_no_recording(run: Run, home: Path) -> None:
    (home / "broken.mcp.jsonl").write_text("nothing of the kind\n")
    ran = run("doctor", "--json", "broken.mcp.jsonl")
    assert (ran.code, ran.json["outcome"]) == (2, "fails")


@pytest.mark.slow
def test_a_report_for_an_issue_is_markdown_without_secrets(run: Run, home: Path) -> None:
    ran = run(
        "doctor", "--paste", "--env", "API_TOKEN=very-secret-word", "--", "no-such-server", "--key=other-secret-word"
    )
    assert ran.code == 4
    assert ran.out.startswith("**The command “no-such-server” was not found on the PATH.**\n")
    assert ran.out.count("```") == 2
    assert "secret-word" not in ran.out
    assert str(home) not in ran.out


def cursor(folder: Path, **entries: object) -> None:
    (folder / ".cursor").mkdir(exist_ok=True)
    (folder / ".cursor" / "mcp.json").write_text(json.dumps({"mcpServers": entries}))


def test_what_a_host_would_start_is_said_without_a_start(run: Run, home: Path) -> None:
    cursor(home, shop={"command": "/bin/sh", "args": ["-c", "exit 3"]}, far={"serverUrl": "https://host.example/mcp"})
    ran = run("doctor", "--host", "cursor")
    assert ran.code == 4
    assert ran.out.startswith("Cursor does not start @far: it has “serverUrl”, and Cursor reads “url”.\ntry: Rename")
    assert "✓ @shop         /bin/sh -c 'exit 3'" in ran.out
    assert ran.err == ""
    cursor(home, shop={"command": "/bin/sh", "args": ["-c", "exit 3"]})
    ran = run("doctor", "--host", "all", "--json")
    assert (ran.code, [host["cause"] for host in ran.json["hosts"]]) == (0, ["Cursor would start 1 of 1 server."])
    assert "`inspector doctor --host cursor`" in run("doctor", "--host", "cursor", "--paste").out
    assert not (home / "recordings").exists()


@pytest.mark.slow
def test_an_entry_is_started_as_its_host_starts_it(run: Run, home: Path) -> None:
    cursor(home, shop={"command": "/bin/sh", "args": ["-c", "exit 3"]}, far={"serverUrl": "https://host.example/mcp"})
    ran = run("doctor", "--host", "cursor", "@shop", "--json")
    assert ran.code == 4
    assert [step["name"] for step in ran.json["steps"]][:2] == ["host", "config"]
    assert ran.json["steps"][0]["text"] == "as Cursor starts it"
    ran = run("doctor", "--host", "cursor", "@far", "--json")
    assert (ran.code, ran.json["recording"]) == (4, None)
    assert ran.json["cause"].startswith("Cursor does not start @far: it has “serverUrl”")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("host", "file", "text"),
    [
        ("goose", ".config/goose/config.yaml", "extensions:\n  shop: {type: stdio, enabled: true, cmd: /bin/sh}\n"),
        ("lm-studio", ".lmstudio/mcp.json", '{"mcpServers": {"shop": {"command": "/bin/sh"}}}'),
        (
            "continue",
            ".continue/config.yaml",
            "name: x\nversion: 1.0.0\nschema: v1\nmcpServers:\n  - {name: shop, command: /bin/sh}\n",
        ),
    ],
)
def test_an_entry_is_started_where_it_is_not_known_how_the_host_introduces_itself(
    run: Run, home: Path, monkeypatch: pytest.MonkeyPatch, host: str, file: str, text: str
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(home / ".config"))
    (home / file).parent.mkdir(parents=True)
    (home / file).write_text(text)
    ran = run("doctor", "--host", host, "@shop", "--json")
    assert (ran.code, ran.err) == (4, "")
    assert [step["name"] for step in ran.json["steps"]][:2] == ["host", "config"]


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (["--host", "curser"], "curser is not a host that Inspector knows."),
        (["--host", "cursor", "--", "server"], "--host needs one host and @NAME of its files."),
        (["--host", "all", "@shop"], "--host needs one host and @NAME of its files."),
        (["--host", "cursor", "--cwd", ".", "@shop"], "--host and --cwd cannot be used together."),
        (["--host", "cursor", "@nowhere"], "No config file has the server @nowhere"),
        ([], "`inspector doctor` needs a target."),
    ],
)
def test_wrong_uses_of_host(run: Run, home: Path, words: list[str], problem: str) -> None:
    ran = run("doctor", *words)
    assert ran.code == 2
    assert problem in ran.err


def test_an_entry_that_its_host_does_not_start_is_opened_with_a_sentence(run: Run, home: Path) -> None:
    entry = {"url": "http://127.0.0.1:9/mcp"}
    (home / ".mcp.json").write_text(json.dumps({"mcpServers": {"far": entry}}))
    note = "note: Claude Code does not start @far: it has “url” but no “type”."
    ran = run("tools", "@far")
    assert ran.code == 4
    assert ran.err.startswith(note)
    ran = run("servers")
    assert "its host does not start it  http://127.0.0.1:9/mcp" in ran.out
    assert ran.err == f'{note} (Add "type": "http" (or "sse").)\n'
    assert run("servers", "--json").json["servers"][0]["remark"] == note.removeprefix("note: ")


def test_the_list_of_servers_has_the_note_of_the_doctor_about_a_misspelt_member(run: Run, home: Path) -> None:
    (home / ".mcp.json").write_text(json.dumps({"McpServers": {"shop": {"command": "shop"}}}))
    says = f"Claude Code does not read “McpServers” in {home / '.mcp.json'}: it reads “mcpServers”."
    assert run("servers").err.startswith(f"note: {says} (Rename it to “mcpServers”.)\n")
    assert run("servers", "--json").json["problems"][0]["message"] == says
    assert says.removeprefix("Claude Code") in run("info", "@shop").err


def test_an_entry_with_the_key_of_another_host_has_one_note(run: Run, home: Path) -> None:
    (home / ".mcp.json").write_text(json.dumps({"mcpServers": {"shop": {"cmd": "shop"}}}), encoding="utf-8")
    says = "Claude Code does not start @shop: it has “cmd”, and Claude Code reads “command”."
    assert run("servers").err.startswith(f"note: {says} (Rename “cmd” to “command”.)\nNo config file names a server.")
    assert [problem["message"] for problem in run("servers", "--json").json["problems"]] == [says]
    assert f"@shop cannot be used: {says}" in run("info", "@shop").err


def test_a_misspelt_key_of_headers_is_named_by_the_list_and_the_doctor(run: Run, home: Path) -> None:
    entry = {"type": "http", "url": "http://127.0.0.1:9/mcp", "Headers": {"X-Key": "1"}}
    (home / ".mcp.json").write_text(json.dumps({"mcpServers": {"shop": entry}}), encoding="utf-8")
    says = "The server does not get its headers: they are in “Headers”, and Claude Code reads “headers”."
    assert run("servers").err == f"note: @shop: {says} (Rename “Headers” to “headers”.)\n"
    assert says.removesuffix(".") in run("doctor", "@shop").out
