"""The variables that a user gives a server, and `.env` files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from inspector.config.command_lines import line_of
from inspector.config.dotenv import variables
from inspector.config.server_variables import ServerVariables
from inspector.config.target_arguments import parse_target
from inspector.config.targets import StdioTarget
from inspector.errors import ConfigError, TargetError

TARGET = StdioTarget(("srv",), env={"A": "entry", "B": "entry"})
SHELL = {"A": "shell", "KEY": "k-123456", "WORD": "plain word", "URL": "https://u:pw-9876@h.example"}


def test_a_value_wins_over_a_file_and_a_file_over_the_entry(tmp_path: Path) -> None:
    one, two = tmp_path / "one.env", tmp_path / "two.env"
    one.write_text("A=one\nC=one\nD=one\n")
    two.write_text("C=two\nD=two\n")
    target = ServerVariables({"D": "given", "KEY": None}, [one, two]).added_to(TARGET, SHELL)
    assert target.env == {"A": "one", "B": "entry", "C": "two", "D": "given", "KEY": "k-123456"}
    assert not target.inherits


def test_a_value_that_was_not_typed_is_a_secret(tmp_path: Path) -> None:
    file = tmp_path / ".env"
    file.write_text("PLAIN='a word of the file'\nLEVEL=7\nDB=postgres://me:pw-1@h/db\n")
    target = ServerVariables({"WORD": None, "LEVEL2": "debug"}, [file]).added_to(TARGET, SHELL)
    assert set(target.secrets) == {"a word of the file", "pw-1", "plain word"}


def test_the_secrets_of_an_inherited_shell_are_known_and_its_values_stay_out_of_the_target() -> None:
    target = ServerVariables(inherit=True).added_to(TARGET, SHELL)
    assert target.inherits
    assert target.env == TARGET.env
    assert {"k-123456", "pw-9876"} <= set(target.secrets)
    assert target.as_header()["env"] == ["A", "B"]
    assert target.as_header()["inherit_env"] is True
    assert str(line_of(target, SHELL)) == "inspector --env A=entry --env B=entry --inherit-env -- srv"


def test_a_variable_that_is_not_set_is_an_error_with_the_remedy() -> None:
    with pytest.raises(TargetError, match="API_KEY is not set in this shell") as caught:
        ServerVariables({"API_KEY": None}).added_to(TARGET, SHELL)
    assert caught.value.hint.command_line == "Set and export it, or give its value: --env API_KEY=VALUE."


def test_a_file_that_cannot_be_used_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="does not exist"):
        ServerVariables(files=[tmp_path / "none"]).added_to(TARGET, SHELL)
    file = tmp_path / ".env"
    file.write_text("A=1\n\nTOKEN: s-12345\n")
    with pytest.raises(TargetError, match="Line 3 of") as caught:
        ServerVariables(files=[file]).added_to(TARGET, SHELL)
    assert "s-12345" not in f"{caught.value} {caught.value.hint}"


@pytest.mark.parametrize("given", [{"env": {"A": None}}, {"env_files": [Path("x")]}, {"inherit_env": True}])
def test_a_url_has_no_variables(given: dict[str, Any]) -> None:
    with pytest.raises(TargetError, match="has no effect on a server at a URL"):
        parse_target(["https://h.example/mcp"], environ={"A": "1"}, **given)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("# note\n\n  \nA=1", [(4, "A", "1")]),
        ("export A = x y # note\nB=a#b\nC=\nD= # note", [(1, "A", "x y"), (2, "B", "a#b"), (3, "C", ""), (4, "D", "")]),
        ('A=\'$HOME \\n # in\'\nB="$HOME \\n \\"q\\"" # note', [(1, "A", "$HOME \\n # in"), (2, "B", '$HOME \n "q"')]),
        ('A="one\ntwo"\r\nB=3\r\n', [(1, "A", "one\ntwo"), (3, "B", "3")]),
        ('A={"a": 1}\nB="a", "b"\nC="open', [(1, "A", '{"a": 1}'), (2, "B", '"a", "b"'), (3, "C", '"open')]),
        ("plain\n1A=2\nA-B: x\n", [(1, "", "plain"), (2, "", "1A=2"), (3, "", "A-B: x")]),
        ("A=$(touch x)\nB=`id`\nC=${A}", [(1, "A", "$(touch x)"), (2, "B", "`id`"), (3, "C", "${A}")]),
    ],
)
def test_a_file_of_variables(text: str, expected: list[tuple[int, str, str]]) -> None:
    assert list(variables(text)) == expected


@pytest.mark.parametrize(
    "text", ['A="' * 50_000, "A=" * 100_000, 'A="' + "\\" * 100_000, "A='\n" * 20_000, " " * 200_000]
)
def test_a_hostile_file_costs_one_pass(text: str) -> None:
    list(variables(text))
