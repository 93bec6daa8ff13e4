"""The authorization view: why a login failed, who is logged in, the messages of a step, logging in and out."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from inspector.client.state.login import Authorizations, AuthStep
from inspector.journal.journal import Journal
from inspector.tui.login.screen import AuthorizationScreen
from inspector.tui.login.steps import distance, logged_in_rows, step_rows
from inspector.tui.main.screen import MainScreen
from inspector.tui.widgets.fact_rows import plain
from tests.tui.live_app import NARROW, ROOT, WIDE, becomes, on_recording, shows
from tests.tui.login_app import app_on, connects, own_state
from tests.tui.recorded_conversation import read
from tests.tui.tui_screens import assert_in, assert_not_in, press, screen_text

Demo = Callable[..., str]
PUBLISHED = "https://login.example/"


@pytest.fixture(autouse=True)
def _state_of_its_own(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    own_state(monkeypatch, tmp_path)


@pytest.fixture
def demo() -> Iterator[Demo]:
    """Start the demo server with a login; it ends with the test."""
    running: list[subprocess.Popen[str]] = []

    def start(*words: str) -> str:
        command = [sys.executable, "-m", "inspector.demo", "--auth-auto", "--attached", "--items", "30", *words]
        process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env={**os.environ, "PYTHONPATH": ROOT}
        )
        running.append(process)
        match = re.search(r"http://\S+/mcp", process.stderr.readline())
        return match[0]

    yield start
    for process in running:
        process.communicate()


def failed_login(path: Path) -> Path:
    """A recording of a login that stopped at the issuer."""
    journal = Journal.create(path, {})
    journal.record_auth("challenge", True, "401, metadata URL", rule="C-AUTH-02")
    body = '{"issuer": "https://login.example/", "bad": "\x1b[2J[bold]"}'
    facts: dict[str, Any] = {
        "method": "GET", "url": "https://login.example/.well-known/oauth-authorization-server", "status": 200,
        "ms": 48.0, "request": {"headers": [["Accept", "application/json"]], "body": ""},
        "response": {"headers": [["Content-Type", "application/json"]], "body": body},
    }  # fmt: skip
    journal.record_auth("fetch", True, "the metadata", facts=facts)
    journal.record_auth("metadata", True, "1 of 2 places", rule="C-AUTH-09")
    journal.record_auth(
        "issuer", False, f"The document says “{PUBLISHED}”", rule="C-AUTH-10", fix="Publish it without the slash.",
        facts={"expected": "https://login.example", "found": PUBLISHED},
    )  # fmt: skip
    journal.close()
    return path


@pytest.mark.slow
async def test_a_failed_login_says_where_it_stopped_and_what_would_fix_it(demo: Demo) -> None:
    app = app_on(demo("--auth-fault", "issuer-slash"), open_browser=True)
    async with app.run_test(size=WIDE) as pilot:
        await shows(app, pilot, "Connection failed", "a login")
        await press(pilot, "a", shows="stopped at step 5 of 10")
        text = screen_text(app)
        assert_in(text, "issuer", "Possible fix", "C-AUTH-10", "not reached", "character by character")
        assert "Logged in" not in text
        assert "log out" not in text, "there is nothing to log out of"
        await press(pilot, "L", until=lambda: isinstance(app.screen, MainScreen), what="back")
        assert app.session is not None
        session = app.session
        await becomes(app, pilot, lambda: session.journal.index.count > 15 and session.phase == "failed", "tried again")


@pytest.mark.slow
async def test_who_is_logged_in_stands_in_the_server_pane_and_may_log_out_and_in(demo: Demo) -> None:
    app = app_on(demo(), open_browser=True)
    async with app.run_test(size=WIDE) as pilot:
        await connects(app, pilot)
        await press(pilot, "6", shows="issued by")
        await press(pilot, "a", shows="names this server")
        await shows(app, pilot, "10 token")
        await press(pilot, "O", until=lambda: "issued by" not in screen_text(app), what="logged out")
        await press(pilot, "L", shows="names this server")
        assert app.session is not None
        assert isinstance(app.screen, AuthorizationScreen)
        logins = Authorizations(app.session.journal)
        logins.advance()
        # A request of the session's own may have been refused meanwhile, so that a challenge comes first.
        names = [step.name for step in logins.steps() if step.name != "challenge"]
        assert names[:2] == ["resource", "server"]
        await press(pilot, "escape", until=lambda: isinstance(app.screen, MainScreen), what="back")


@pytest.mark.slow
@pytest.mark.parametrize("size", [WIDE, NARROW])
async def test_a_recording_shows_the_same_and_can_do_nothing(tmp_path: Path, size: tuple[int, int]) -> None:
    async with on_recording(failed_login(tmp_path / "login.mcp.jsonl"), size=size) as (app, pilot):
        await press(pilot, "6", shows="a login")
        await press(pilot, "a", shows="Publish it without the slash.")
        assert_not_in(screen_text(app), "rerun step", "log in again")
        await pilot.press("r", "L", "O", "o", "T")
        assert isinstance(app.screen, AuthorizationScreen)


@pytest.mark.slow
async def test_a_step_leads_to_its_messages_and_help_and_leaving_work_as_anywhere(tmp_path: Path) -> None:
    async with on_recording(failed_login(tmp_path / "login.mcp.jsonl"), until="login") as (app, pilot):
        await press(pilot, "6", shows="a login")
        await press(pilot, "a", shows="Publish it")
        await press(pilot, "up", shows='"issuer": "https://login.example/"')
        await press(pilot, "m", until=lambda: isinstance(app.screen, MainScreen), what="back")
        screen = app.screen
        await becomes(app, pilot, lambda: screen.panes.messages.current == 2, "the request of the step is selected")
        await press(pilot, "6", "a", shows="Publish it")
        await press(pilot, "question_mark", shows="A login")
        await press(pilot, "escape", shows="Publish it")
        await press(pilot, "q", until=lambda: app._exit, what="left")


def logged_in(journal: Journal) -> tuple[Authorizations, Any]:
    """The logins of a recording, and the one in force."""
    logins = Authorizations(journal)
    logins.advance()
    login = logins.logged_in()
    assert login is not None
    return logins, login


def test_facts_of_any_type_are_drawn(tmp_path: Path) -> None:
    path = tmp_path / "strange.mcp.jsonl"
    journal = Journal.create(path, {})
    strange = ('{"request":1,"response":[],"status":{}}', '{"request":{"headers":[1,["a"],[[],{}]]},"ms":"x"}')
    for at, _ in enumerate(strange):
        journal.record_auth("fetch", True, "", facts={"at": at})
    deep: Any = []
    for _ in range(100):
        deep = [deep]
    journal.record_auth("token", True, "", facts={
        "token_type": 1, "expires_in": 1e300, "scope": 5, "resource": {}, "x": deep, "y": [1, "a"],
        "claims": {"exp": 1e300, "iat": "soon", "nbf": -1e11, "aud": [1, {}], "\x1b[31m": deep},
    })  # fmt: skip
    journal.close()
    text = path.read_text()
    for at, facts in enumerate(strange):
        assert f'{{"at":{at}}}' in text
        text = text.replace(f'{{"at":{at}}}', facts)
    path.write_text(text)
    recorded = read(path).journal
    logins, login = logged_in(recorded)
    words = plain(logged_in_rows(login, recorded)) + plain(step_rows(logins.steps()[0]))
    assert "not a valid date" in words
    assert "\x1b" not in words


@pytest.mark.parametrize(("seconds", "words"), [
    (0, "just now"), (30, "in less than a minute"), (-30, "just now"), (90, "in 2 min"), (720, "in 12 min"),
    (-720, "12 min ago"), (7100, "in 118 min"), (7200, "in 2 h"), (-90_000, "25 h ago"), (200_000, "in 2 d"),
])  # fmt: skip
def test_a_time_is_reported_by_how_far_away_it_is(seconds: float, words: str) -> None:
    assert distance(seconds) == words


def said_of(now: float, **claims: Any) -> str:
    """Return the rows of a token with these claims that is valid for an hour from `now`."""
    journal = Journal.unnamed({})
    facts = {"token_type": "Bearer", "expires_in": 3600, "resource": "https://shop.example/mcp", "claims": claims}
    journal.record_auth("token", True, "", facts=facts)
    return plain(logged_in_rows(logged_in(journal)[1], journal, now=now))


def test_claims_are_reported_in_words_and_held_against_what_is_known() -> None:
    now = time.time()
    words = said_of(now, exp=int(now) + 720, iat=int(now) - 3600, aud="https://shop.example/mcp")
    assert re.search(r"^exp .*, in 12 min$", words, re.MULTILINE)
    assert re.search(r"^iat .*, 60 min ago$", words, re.MULTILINE)
    assert "names this server" in words
    assert "clock" not in words
    assert "is a clock wrong?" in said_of(now, exp=int(now) - 3600)
    assert "clock" not in said_of(now, exp=int(now) - 10), "two clocks are never the same"
    assert "does not name this server" in said_of(now, aud=["https://other.example/mcp"])


def test_what_was_found_stands_below_what_was_expected() -> None:
    step = AuthStep(
        1, 0, "issuer", "failed", "x", "C-AUTH-10", "fix it", {"expected": "https://a", "found": "https://a/"}
    )
    lines = plain(step_rows(step)).split("\n")
    at = lines.index("expected  https://a")
    assert lines[at + 1] == "found     https://a/"
    assert any("character by character" in line for line in lines), "the rule in words"
    assert any(line.startswith("Possible fix   fix it") for line in lines)
    shorter = AuthStep(1, 0, "issuer", "failed", "x", facts={"expected": "https://a/", "found": "https://a"})
    assert "found     https://a and ends here" in plain(step_rows(shorter))
