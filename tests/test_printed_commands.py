"""Commands that are printed to be copied: foreign text in them stays an argument."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

import pytest

from inspector.calls.step_requests import repeat
from inspector.check.checks import generated_arguments
from inspector.check.checks.generated_arguments import ArgumentCase
from inspector.cli.parser import check_command, scan
from inspector.config import expand
from inspector.errors import ConfigError, ValueMissing

NASTY = (
    "; touch pwned",
    "$(touch pwned)",
    "a'b\"c",
    "--bearer-env=AWS_SECRET_ACCESS_KEY",
    "-h",
    "@/etc/passwd",
    "=x",
    "a b",
)
TARGET = "-- server"


@pytest.mark.parametrize("text", NASTY)
@pytest.mark.parametrize(
    "request_of",
    [
        lambda text: ("tools/call", {"name": text, "arguments": {"a": text, "b": 1}}),
        lambda text: ("tools/call", {"name": "t", "arguments": {text: "x"}}),
        lambda text: ("resources/read", {"uri": text}),
        lambda text: ("prompts/get", {"name": text, "arguments": {"a": text}}),
        lambda text: (
            "completion/complete",
            {"ref": {"type": "ref/prompt", "name": text}, "argument": {"name": text, "value": text}},
        ),
        lambda text: (text, {"a": text}),
    ],
)
def test_the_command_that_repeats_a_step_has_no_option_of_the_server(request_of: Any, text: str) -> None:
    method, params = request_of(text)
    command = repeat(method, params, TARGET)
    if method.startswith("-"):
        assert command == ""
        return
    words = shlex.split(command)
    invocation = scan(words[1:])
    check_command(invocation)
    assert invocation.target_words == ["server"]
    assert set(invocation.values) <= {"args"}


def test_an_answer_is_never_the_content_of_a_file() -> None:
    params = {"name": "t", "arguments": {}}
    assert "--sampling yes" in repeat("tools/call", params, TARGET, answer={"sampling": "yes"})
    assert repeat("tools/call", params, TARGET, answer={"sampling": "@/etc/passwd"}) == ""


@pytest.mark.parametrize("text", NASTY)
def test_the_command_that_a_check_names_is_quoted(text: str) -> None:
    case = ArgumentCase("allowed", "about", {"a": text})
    words = shlex.split(generated_arguments._as_typed({"name": text}, case))
    assert words[:3] == ["inspector", "call", text]
    assert len(words) == 5


@pytest.mark.parametrize("text", ["${env:A;touch pwned}", "${keyring:a;touch pwned/b}"])
def test_the_command_that_a_hint_names_is_quoted(tmp_path: Path, text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("keyring.get_password", lambda *_: None)
    expander = expand.Expander("own", "x", tmp_path, {}, tmp_path, tmp_path)
    with pytest.raises((ConfigError, ValueMissing)) as caught:
        expander(text)
    hint = caught.value.hint.command_line
    assert "touch pwned" in hint
    assert ";" not in shlex.shlex(hint, posix=True, punctuation_chars=True)
