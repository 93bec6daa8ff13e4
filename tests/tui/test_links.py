"""URLs that a server wants opened (C-ELIC-04)."""

from __future__ import annotations

from pathlib import Path

import pytest

from inspector.tui.widgets.links import MAX_LENGTH, look_at, open_in_browser
from tests.test_addresses import BECOMES, DISGUISED, LOOKALIKE, REQUESTED


@pytest.mark.parametrize(("url", "host"), [
    ("https://example.com/a?b#c", "example.com"),
    ("https://example.com:8443/", "example.com:8443"),
    ("http://localhost:3000/x", "localhost:3000"),
    ("http://127.0.0.1/", "127.0.0.1"),
    ("http://[::1]:8/", "[::1]:8"),
])  # fmt: skip
def test_https_and_this_machine_may_be_opened_and_the_host_is_reported_apart(url: str, host: str) -> None:
    """C-ELIC-04, C-SEC-01."""
    link = look_at(url)
    assert link.refusal == ""
    assert link.host == host
    assert "".join(text for text, _ in link.pieces) == url


@pytest.mark.parametrize("url", [
    "http://example.com/", "http://127.0.0.1.example.com/", "javascript:alert(1)", "file:///etc/passwd",
    "https:///nowhere", "https://a%2fb/", "https://good.example\\@evil.example/", "https://example.com/\n--flag",
    " https://example.com/", "https://[::1", "https://example.com:99999/", "--version", "", None,
    ["https://example.com/"], "https://example.com/" + "a" * MAX_LENGTH,
])  # fmt: skip
def test_nothing_else_is_ever_opened(url: object, monkeypatch: pytest.MonkeyPatch) -> None:
    """C-ELIC-04, C-SEC-01."""

    def started(*_: object, **__: object) -> None:
        raise AssertionError("a program was started")

    monkeypatch.setattr("inspector.auth.browser.subprocess.Popen", started)
    link = look_at(url)
    assert link.refusal
    assert open_in_browser(link) == link.refusal


def test_punycode_is_spelled_out_and_foreign_letters_are_warned_of() -> None:
    """C-ELIC-04."""
    assert any("аррӏе.com" in warning for warning in look_at("https://xn--80ak6aa92e.com/").warnings)
    assert (
        "The host mixes Cyrillic and Latin letters, which may look the same." in look_at("https://аpple.com/").warnings
    )
    assert not look_at("https://apple.com/").warnings
    link = look_at("https://good.example@evil.example/x")
    assert (link.user, link.host) == ("good.example@", "evil.example")
    assert any("@" in warning for warning in link.warnings), "a user name looks like a host"


def test_a_link_is_shown_and_opened_as_it_is_requested(monkeypatch: pytest.MonkeyPatch) -> None:
    """C-ELIC-04: what is shown is what a browser opens."""
    opened: list[str] = []
    monkeypatch.setattr("inspector.auth.browser.launch", lambda url: opened.append(url) or "")
    link = look_at(LOOKALIKE)
    assert (link.host, "".join(text for text, _ in link.pieces)) == ("xn--pi-6kc.github.com", REQUESTED)
    assert open_in_browser(link) == ""
    assert opened == [REQUESTED]
    link = look_at(DISGUISED)
    assert link.refusal == f"I{BECOMES[1:]}."
    assert "".join(text for text, _ in link.pieces) == "https://api.github.com\\u2215v3.evil.example/mcp"
    assert look_at("https://2130706433/").refusal.endswith("would become 127.0.0.1 in the request.")


@pytest.mark.slow
def test_a_link_is_opened_as_a_login_is(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """C-SEC-01."""
    program = tmp_path / "browser"
    program.write_text(f'#!/bin/sh\nprintf %s "$1" > "{tmp_path}/url"\n')
    program.chmod(0o755)
    monkeypatch.setenv("BROWSER", str(program))
    assert open_in_browser(look_at("https://example.com/?a=1&b=$(id)")) == ""
    assert (tmp_path / "url").read_text() == "https://example.com/?a=1&b=$(id)"
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "WSL_DISTRO_NAME", "BROWSER"):
        monkeypatch.delenv(name, raising=False)
    assert "Copy the URL" in open_in_browser(look_at("https://example.com/"))
