"""Words that people type: each is understood, or named with the way to write it."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from inspector.cli.arguments import text_arguments
from inspector.cli.colours import has_colours
from inspector.cli.options import json_object
from inspector.cli.parser import check_command, scan, swallowed_option
from inspector.config.foreign_files import nearest
from inspector.errors import UsageError
from inspector.features.load.report import percent
from inspector.journal.filters.syntax import FilterError, compiled
from tests.cli.conftest import Run
from tests.typed import typed


@pytest.mark.parametrize(
    ("line", "option"),
    [
        ("tools python server.py --json", "--json"),
        ("tools python server.py --timeout=3 x", "--timeout=3"),
        ("call t a=1 npx -y pkg --args {}", "--args"),
        ("tools ./server --json", "--json"),
        ("tools python server.py --js", ""),
        ("tools -- python server.py --json", ""),
        ("tools python server.py -- --json", ""),
        ("tools docker run -i --env A=b --env-file x image", ""),
        ("tools docker run -i --env A=b image --json", "--json"),
        ("tools --json @shop", ""),
    ],
)
def test_an_option_that_the_command_got_is_noticed(line: str, option: str) -> None:
    assert swallowed_option(scan(line.split())) == option


@pytest.mark.slow
def test_the_note_says_what_became_of_the_option(run: Run) -> None:
    ran = run("tools", sys.executable, "-m", "inspector.demo", "--items", "1", "--json")
    assert "note: --json comes after the command, so the server gets it." in ran.err


@pytest.mark.parametrize(
    ("word", "known", "near"),
    [
        ("--tool", ["--revision", "--trust"], ""),
        ("--output", ["--trust", "--quiet"], ""),
        ("--junit", ["--quiet"], ""),
        ("--set", ["--quiet"], ""),
        ("--recrod", ["--record", "--header"], "--record"),
        ("--bearer", ["--bearer-env"], "--bearer-env"),
        ("tolls", ["tools", "prompts"], "tools"),
        ("chek", ["check"], "check"),
        ("weather", ["get_weather", "get_weather_of_tomorrow"], "get_weather"),
        ("GET_WEATHR", ["get_weather"], "get_weather"),
        ("x", ["y"], ""),
        ("", ["a"], ""),
    ],
)
def test_only_a_near_word_is_proposed(word: str, known: list[str], near: str) -> None:
    assert nearest(word, known) == near


@pytest.mark.parametrize(
    ("line", "message", "hint"),
    [
        (["call", "price", "--article", "apple"], "Unknown option --article", "Write an argument as article=VALUE."),
        (["call", "--tool", "price"], "Unknown option --tool", "--help` lists them."),
        (["call", "price", '{"a": 1}', "--", "s"], "need --args", typed("Write --args '{\"a\": 1}'")),
        (["frobnicate"], "“frobnicate” is neither a verb of inspector nor a program on PATH", "lists the verbs"),
        (["version", "x"], "“version” is neither a verb", "inspector -- version"),
        (["tolls"], "“tolls” is neither a verb", "Did you mean “inspector tools”?"),
        (["bisect", "--json", "r.mcp.jsonl", "--", "s"], "`inspector bisect` does not take --json", ""),
    ],
)
def test_what_is_not_known_is_named_with_the_remedy(line: list[str], message: str, hint: str) -> None:
    with pytest.raises(UsageError) as caught:
        check_command(scan(line))
    assert message in caught.value.message
    assert hint in caught.value.hint


def test_a_kept_recording_is_not_taken_for_a_verb(home: Path) -> None:
    (home / "recordings").mkdir()
    (home / "recordings" / "frobnicate.mcp.jsonl").write_text("")
    check_command(scan(["frobnicate"]))


def test_a_file_is_the_value_of_one_argument(tmp_path: Path) -> None:
    text, data = tmp_path / "n.txt", tmp_path / "n.json"
    text.write_bytes(b"two\nlines = \n")
    data.write_text('{"a": [1]}')
    line = ["prompt", "p", f"t@={text}", f"j:=@{data}", "plain=@note.txt", "--", "s"]
    assert text_arguments(scan(line)) == {"t": "two\nlines = \n", "j": '{"a":[1]}', "plain": "@note.txt"}


def test_parameters_are_read_from_a_file_and_from_stdin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    invocation = scan(["request", "tools/call", "@call.json", "@shop"])
    assert invocation.arguments["params"] == "@call.json"
    assert invocation.target_words == ["@shop"]
    assert scan(["request", "ping", "@shop"]).target_words == ["@shop"]
    for word in ("-", "@-"):
        file = tmp_path / "in"
        file.write_text('{"a": 1}')
        with file.open() as stdin:
            monkeypatch.setattr(sys, "stdin", stdin)
            assert json_object(word) == {"a": 1}
        assert scan(["request", "ping", word, "--", "s"]).arguments["params"] == word


@pytest.mark.parametrize("text", ["method:(", "method:(tools", "tool:a(b AND x", "(method:(a)"])
def test_a_filter_that_is_not_balanced_is_an_error(text: str) -> None:
    with pytest.raises(FilterError, match="is not closed"):
        compiled(text)


def test_short_names() -> None:
    assert scan(["tools", "-q", "@x"]).quiet
    assert "version" in scan(["-V"]).values


@pytest.mark.parametrize(("share", "text"), [(1, "100 %"), (0.999, "100 %"), (0.5, "50 %"), (0.0123, "1.2 %")])
def test_a_share(share: float, text: str) -> None:
    assert percent(share) == text


@pytest.mark.parametrize(
    ("env", "on"),
    [
        ({"FORCE_COLOR": "1"}, True),
        ({"FORCE_COLOR": "1", "TERM": "dumb"}, True),
        ({"FORCE_COLOR": "0"}, False),
        ({"FORCE_COLOR": ""}, False),
        ({"FORCE_COLOR": "1", "NO_COLOR": "1"}, False),
        ({}, False),
    ],
)
def test_colours_can_be_forced(env: dict[str, str], on: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("FORCE_COLOR", "NO_COLOR", "TERM"):
        monkeypatch.delenv(name, raising=False)
    for name, value in env.items():
        monkeypatch.setenv(name, value)
    assert has_colours() is on


@pytest.mark.slow
def test_a_result_that_has_no_stdout_is_an_error(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdout", None)
    ran = run("settings")
    assert ran.code == 2
    assert "stdout is closed" in ran.err


@pytest.mark.slow
def test_a_pin_that_cannot_be_read_says_what_to_do(run: Run, home: Path) -> None:
    (home / "bad.json").write_text("{}")
    ran = run("pin", "--file", str(home / "bad.json"), "--", sys.executable, "-m", "inspector.demo")
    assert ran.code == 2
    assert "skipped" not in ran.err
    assert f"--update --file {home / 'bad.json'}" in ran.err or f"--file {home / 'bad.json'}" in ran.err
