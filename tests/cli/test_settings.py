"""Options override the config entry, which overrides settings; unanswerable capabilities are not declared."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from inspector.cli import session_setup
from inspector.cli.parser import scan
from inspector.client.inbox import StandingAnswers
from inspector.client.options import Options
from inspector.config.expand import InputQuestion


def options(*words: str, in_interface: bool = False) -> Options:
    invocation = scan(["tools", *words])
    target = session_setup.target_of(invocation)
    return session_setup.options_of(
        invocation, target, session_setup.settings_of(invocation), in_interface=in_interface
    )


@pytest.fixture
def configured(home: Path) -> Path:
    """Settings, and a config file with a server that has options of its own."""
    (home / "settings.json").write_text(
        json.dumps({"timeout": 11, "max_timeout": 20, "era": "modern", "roots": ["file:///settings"], "sampling": "s"})
    )
    file = home / "inspector.json"
    entry = {"command": "x", "timeout": 22, "era": "legacy", "roots": ["file:///entry"]}
    file.write_text(json.dumps({"mcpServers": {"named": entry, "plain": {"url": "https://h/", "headers": {"A": "1"}}}}))
    return file


def test_settings_count_where_nothing_else_is_reported(configured: Path) -> None:
    effective = options("--", "x")
    assert (effective.timeout, effective.max_timeout, effective.era) == (11, 20, "modern")
    assert effective.standing == StandingAnswers(sampling="s", elicitation=None, roots=("file:///settings",))


def test_a_config_entry_wins_over_the_settings(configured: Path) -> None:
    effective = options("@named", "--config", str(configured))
    assert (effective.timeout, effective.max_timeout, effective.era) == (22, 22, "legacy")
    assert effective.standing.roots == ("file:///entry",)


def test_flags_win_over_everything(configured: Path) -> None:
    effective = options(
        "@named", "--config", str(configured), "--timeout", "33", "--era", "auto", "--root", "file:///flag",
        "--sampling", "decline", "--log-level", "error", "--revision", "2025-06-18",
    )  # fmt: skip
    assert (effective.timeout, effective.max_timeout, effective.era) == (33, 33, "auto")
    assert (effective.log_level, effective.protocol) == ("error", "2025-06-18")
    assert effective.standing == StandingAnswers(sampling="decline", elicitation=None, roots=("file:///flag",))


def test_headers_of_the_entry_and_of_the_flags_reach_http(configured: Path) -> None:
    effective = options("@plain", "--config", str(configured), "--header", "B: 2")
    assert effective.http.headers == (("A", "1"), ("B", "2"))


def test_the_interface_can_ask_and_so_offers_everything() -> None:
    assert options("--", "x", in_interface=True).standing == StandingAnswers("ask", "ask", "ask")
    assert options("--", "x").standing == StandingAnswers(None, None, None)


def test_a_value_that_a_config_file_asks_for_is_read_from_the_terminal(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    question = InputQuestion("id", "srv", "Your \x1b[1mregion", default="eu", choices=("eu", "us"))
    monkeypatch.setattr(sys.stdin, "isatty", lambda: False, raising=False)
    assert session_setup.ask(question) is None

    class Typed:
        def __init__(self, text: str) -> None:
            self.text = text

        def isatty(self) -> bool:
            return True

        def readline(self) -> str:
            return self.text

    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    monkeypatch.setattr(sys, "stdin", Typed("us\n"))
    assert session_setup.ask(question) == "us"
    assert capsys.readouterr().err == "Your ␛[1mregion (eu, us) [eu], for srv: "
    monkeypatch.setattr(sys, "stdin", Typed(""))
    assert session_setup.ask(question) == "eu"
