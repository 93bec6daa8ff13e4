"""Output on a terminal: no control characters from a server, and no interface without a terminal."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree

import pytest
from cases import EVIL

from inspector import junit
from tests.bad_input.conftest import OnTerminal, Run, Serve
from tests.processes import Ran

pytestmark = pytest.mark.slow

# Controls of C0 and C1 but the line feed, DEL, overrides and isolates of direction, marks and zero widths.
UNSAFE = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u061c\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]")
WORDS = {
    "info": ["info"],
    "tools": ["tools"],
    "resources": ["resources"],
    "templates": ["templates"],
    "prompts": ["prompts"],
    "call": ["call", "echo"],
    "call-error": ["call", "error"],
    "call-of-evil": ["call", EVIL.replace("\0", "")],
    "read": ["read", "evil:///x"],
    "prompt": ["prompt", "x"],
    "complete": ["complete", "prompt", "x", "y", "z"],
    "request": ["request", "tools/list"],
    "request-error": ["request", "tools/call", '{"name": "error"}'],
    "unknown-method": ["request", "\x1b[31mred"],
}


def is_safe(ran: Ran) -> bool:
    """Whether neither stream has anything that a terminal would act upon."""
    found = UNSAFE.findall(ran.out + ran.err)
    assert found == []
    return True


@pytest.mark.parametrize("words", WORDS.values(), ids=WORDS)
def test_escapes_never_reach_the_terminal(run: Run, serve: Serve, words: list[str]) -> None:
    ran = run(*words, *serve("escapes"))
    assert ran.code in (0, 1)
    assert "red" in ran.out + ran.err
    assert is_safe(ran)


@pytest.mark.parametrize("words", [["call", "echo"], ["call", "error"], ["tools"]], ids=str)
def test_escapes_over_http_never_reach_the_terminal(run: Run, serve: Serve, words: list[str]) -> None:
    ran = run(*words, *serve("escapes", "json", apart=True))
    assert ran.code in (0, 1)
    assert "red" in ran.out + ran.err
    assert is_safe(ran)


def test_log_lines_are_safe(run: Run, serve: Serve) -> None:
    ran = run("call", "echo", *serve("escapes"))
    assert ran.err.startswith("info ␛]0;owned␇")
    assert is_safe(ran)


@pytest.mark.parametrize(
    ("words", "escape"),
    [
        (["tools", "--json"], "\\u202e"), (["call", "echo", "--json"], "\\u009b"),
    ],
)  # fmt: skip
def test_json_writes_escapes(run: Run, serve: Serve, words: list[str], escape: str) -> None:
    ran = run(*words, *serve("escapes"))
    assert ran.code in (0, 1, 5)
    assert escape in ran.out.lower()
    assert is_safe(ran)


def test_a_junit_report_writes_escapes() -> None:
    case = junit.Case(f"the tool {EVIL}\x9b", "tools", f"It says \u202e{EVIL}", details=EVIL)
    text = junit.junit_xml([junit.Suite("server", [case])])
    assert "&#x9b;" in text
    assert "&#x202e;" in text
    assert UNSAFE.findall(text) == []


def test_a_junit_report_has_the_same_value_where_xml_can_hold_it() -> None:
    text = junit.junit_xml([junit.Suite("server", [junit.Case("a\x9b\u202e\u2028\x7f<b> \x1b[2J", "tools")])])
    (case,) = ElementTree.fromstring(text).iter("testcase")
    assert case.get("name") == "a\x9b\u202e\u2028\x7f<b> \ufffd[2J"


def test_transcripts_are_safe(run: Run, serve: Serve, recording: Path) -> None:
    run("tools", "--record", str(recording), *serve("escapes"))
    ran = run("export", str(recording), "--to", "md")
    assert ran.code == 0
    assert "gpj.exe" in ran.out
    assert is_safe(ran)


@pytest.mark.parametrize("verb", ["info", "tools"])
def test_recordings_are_as_safe_as_servers(run: Run, serve: Serve, recording: Path, verb: str) -> None:
    run("tools", "--record", str(recording), *serve("escapes"))
    ran = run(verb, str(recording))
    assert (ran.code, "gpj.exe" in ran.out) == (0, True)
    assert is_safe(ran)


@pytest.mark.parametrize(
    "words",
    [
        ["tools", "--", f"./{EVIL}".replace("\0", "")],
        ["tools", f"@{EVIL}".replace("\0", "")],
        ["tools", "http://host/\x1b[31m"],
        ["export", f"{EVIL}.mcp.jsonl".replace("\0", ""), "--to", "md"],
        ["tools", "--era", "\x1b[31m", "x"],
        ["call", "x", "--args", "\x1b[31m", "x"],
        ["--\x1b[31m"],
    ],
)
def test_errors_are_safe_whatever_they_name(run: Run, words: list[str]) -> None:
    ran = run(*words)
    assert ran.code in (2, 4)
    assert ran.err.startswith("error: ")
    assert is_safe(ran)


def test_last_words_are_safe(run: Run, tmp_path: Path) -> None:
    server = tmp_path / "server"
    server.write_text("#!/bin/sh\nprintf 'a\\033]0;x\\007b\\302\\233c\\r\\n' >&2\nexit 1\n")
    server.chmod(0o755)
    ran = run("tools", "--", str(server))
    assert "  ab\n" in ran.err, "without escape sequences"
    assert is_safe(ran)


def test_stray_lines_are_safe(run: Run, tmp_path: Path) -> None:
    server = tmp_path / "server"
    server.write_text("#!/bin/sh\nprintf '\\033[31mStarting\\033[0m\\n'\n")
    server.chmod(0o755)
    ran = run("tools", "--", str(server))
    assert "“␛[31mStarting␛[0m”" in ran.err
    assert is_safe(ran)


@pytest.mark.parametrize("words", [[], ["demo"], ["true"], ["http://127.0.0.1:9/mcp"]], ids=str)
def test_the_interface_without_a_terminal_says_what_works_instead(run: Run, words: list[str]) -> None:
    ran = run(*words)
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith("error: The interface needs a terminal, but stdin is not a terminal.\nhint: ")


def test_a_recording_without_a_terminal(run: Run, serve: Serve, recording: Path) -> None:
    run("call", "echo", "--record", str(recording), *serve("good"))
    ran = run("replay", str(recording))
    assert (ran.code, ran.out) == (2, "")
    assert "inspector export FILE --to md" in ran.err


@pytest.mark.parametrize("words", [(), ("demo",)], ids=str)
def test_a_dumb_terminal_gets_words_and_no_interface(
    on_terminal: Callable[..., OnTerminal], words: tuple[str, ...]
) -> None:
    code, got = on_terminal("dumb", *words).end()
    assert code == 2
    assert got.decode().startswith("error: The interface does not work on a terminal of type “dumb”.\r\nhint: ")
    assert b"\x1b" not in got


def test_on_a_terminal_lists_are_safe_too(on_terminal: Callable[..., OnTerminal], serve: Serve) -> None:
    code, got = on_terminal("xterm-256color", "tools", *serve("escapes")).end()
    assert code == 0
    ours = re.compile("\x1b\\[[01]m")  # Names are bold.
    assert UNSAFE.findall(ours.sub("", got.decode()).replace("\r\n", "\n")) == []
