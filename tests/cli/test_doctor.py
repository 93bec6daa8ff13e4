"""`inspector doctor`: exit codes, the report on stdout, JSON, and what is fit for an issue."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import Run


@pytest.mark.slow
def test_a_server_in_order(run: Run, demo: list[str]) -> None:
    ran = run("doctor", *demo)
    assert ran.code == 0
    assert ran.out.startswith("It connects: inspector-demo ")
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
