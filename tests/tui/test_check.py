"""The checks in the interface: run, looked at, narrowed, repeated, saved; of a recording only what passed by."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from textual.pilot import Pilot

from inspector.check import run as run_of_checks
from inspector.check import selection
from inspector.check.check_table import Check
from inspector.check.outcome import Outcome, bad, doubtful, good
from inspector.check.visit.visit import Visit
from inspector.client.recordings_folder import read_info
from inspector.client.session import Session
from inspector.config.targets import StdioTarget
from inspector.journal.journal import whole_journal
from inspector.protocol.revisions import REVISIONS
from inspector.tui.app import InspectorApp
from inspector.tui.check.pane import CheckPane
from inspector.tui.check.rows import CheckHead
from inspector.tui.replay.playback import Playback
from tests.tui.idle import quiet
from tests.tui.live_app import MEDIUM, NARROW, SESSION, WIDE, Live, becomes, main_screen, on_recording, running, shows
from tests.tui.live_app import demo as demo_target
from tests.tui.tui_screens import assert_in, assert_not_in, on_stage, press, screen_lines, screen_text

pytestmark = pytest.mark.slow

WAITS = "TEST-09"
Probe = Callable[[Visit], Awaitable[Outcome]]


class Probes:
    """The checks of these tests: one fails, one warns, one passes, others are not allowed; `holds` waits."""

    def __init__(self) -> None:
        self.answer: Outcome = bad("answered \x1b[31m200\u202e")
        self.looked = 0
        self.called: list[str] = []
        self.holds = ""
        """The check that does not end by itself."""

    def table(self) -> dict[str, Check]:
        rows = (
            ("TEST-02", "should", "active", "A list says its total.", self.warns),
            ("TEST-01", "must", "active", "A wrong request is refused.", self.fails),
            ("TEST-03", "must", "active", "ping gets an empty result.", self.passes),
            ("TEST-04", "quality", "tool", "A tool does what it says.", self.calls),
            ("TEST-05", "security", "auth", "A foreign token is refused.", self.passes),
            ("TEST-06", "robust", "intrusive", "A flood is survived.", self.passes),
            (WAITS, "info", "active", "It waits.", self.waits),
        )
        return {
            id: Check(
                id, level, frozenset(REVISIONS), mode, says, "Do so.", "basic", "base", "breaks", probe=probe, once=True
            )
            for id, level, mode, says, probe in rows
        }  # type: ignore[arg-type]

    async def fails(self, visit: Visit) -> Outcome:
        self.looked += 1
        answer = await visit.session.request("tools/list", {})
        assert answer is not None
        n = len(visit.journal)
        await self.hold("TEST-01")
        return self.answer._replace(evidence=(n - 1, n)) if self.answer.seen == "bad" else self.answer

    async def warns(self, visit: Visit) -> Outcome:
        return doubtful("it does not", 1)

    async def passes(self, visit: Visit) -> Outcome:
        return good("pong")

    async def calls(self, visit: Visit) -> Outcome:
        self.called.append(str(visit.allowed.calls))
        return good()

    async def waits(self, visit: Visit) -> Outcome:
        await self.hold(WAITS)
        return good()

    async def hold(self, check: str) -> None:
        if self.holds == check:
            await asyncio.Event().wait()


@pytest.fixture
def probes(monkeypatch: pytest.MonkeyPatch) -> Probes:
    """A catalogue with the checks of these tests alone."""
    fakes = Probes()
    for module in (run_of_checks, selection):
        monkeypatch.setattr(module, "checks", fakes.table)
    return fakes


@asynccontextmanager
async def on_demo(size: tuple[int, int] = WIDE, **more: Any) -> AsyncIterator[Live]:
    """The app on the demo server, with the tab of the checks."""
    async with running(demo_target(), size=size, until="connected" if size[0] >= 120 else "Tools", **more) as live:
        await live[1].press("8")
        yield live


def pane(app: InspectorApp) -> CheckPane:
    return main_screen(app).query_one(CheckPane)


async def run(app: InspectorApp, pilot: Pilot[Any], key: str = "ctrl+r") -> None:
    """Press a key and wait until the checks are done."""
    await pilot.press(key)
    await ended(app, pilot)


async def ended(app: InspectorApp, pilot: Pilot[Any]) -> None:
    await becomes(
        app, pilot, lambda: not pane(app).check_run.running and pane(app).check_run.report is not None, "done"
    )
    await quiet(app)


async def test_it_says_what_it_is_before_the_first_run_calls_tools_as_allowed_and_asks_for_damage(
    probes: Probes,
) -> None:
    async with on_demo() as (app, pilot):
        text = screen_text(app)
        assert_in(text, "against the specification", "^r runs all checks.", "No tool is called")
        assert_in(text, "╭─ Details", "The selected check is shown here")
        assert probes.looked == 0
        assert "enter run" in screen_lines(app)[-1]
        # What may do damage is requested first.
        await press(pilot, "i", shows="Run intrusive checks?")
        await pilot.press("n")
        await quiet(app)
        assert not pane(app).check_run.allowed.intrusive
        assert probes.looked == 0
        assert probes.called == []
        # Tools are called only as allowed.
        await run(app, pilot)
        assert probes.called == []
        await press(pilot, "a", shows="Which tools may be called?")
        await press(pilot, "down", "enter", until=lambda: probes.called == ["read-only"], what="called")
        await pilot.press("escape")
        await ended(app, pilot)
        assert "calls read-only" in screen_text(app)
        await press(pilot, "a", shows="Which tools may be called?")
        await press(pilot, "down", "down", "enter", shows="Tools that may be called")
        await press(pilot, *"nothing", "enter", shows="unknown tool nothing")
        await pilot.press(*["backspace"] * 7, *"echo", "enter")
        await becomes(app, pilot, lambda: probes.called[-1] == "('echo',)", "called")
        await ended(app, pilot)
        await press(pilot, "i", shows="Run intrusive checks?")
        await press(pilot, "y", until=lambda: "intrusive" in screen_lines(app)[2], what="run")


async def test_worst_comes_first_with_all_about_it_beside_is_copied_and_run_again_on_the_same_recording(
    probes: Probes, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with on_demo() as (app, pilot):
        copied: list[str] = []
        monkeypatch.setattr(app, "copy_to_clipboard", copied.append)
        await run(app, pilot, "enter")
        text, lines = screen_text(app), screen_lines(app)
        assert_in(text, "1 fail", "1 warn", "2 pass", "3 skipped")
        at = next(at for at, line in enumerate(lines) if "TEST-01" in line and "A wrong request" in line)
        assert "answered" in lines[at + 1]
        assert "TEST-02" in lines[at + 2]
        assert text.index("TEST-02") < text.index("✓ 2 pass") < text.index("· 3 skipped")
        assert "call tools that you did not allow (a)" in text
        assert "ping gets an empty result" not in text
        assert f"Check {pane(app).score}" in lines[1]
        current = pane(app).current
        assert current.check.id == "TEST-01", "the worst is looked at, though another came first"
        assert_not_in(text, "\x1b[31m", "\u202e")
        # Beside it stand what was seen, its messages, the fix and the page.
        assert_in("\n".join(line[92:] for line in lines), "Seen", "→ tools/list", "Fix   Do so.", "basic", "MUST")
        await press(pilot, "c", shows="Copied the finding")
        assert copied[0].startswith("FAIL TEST-01 (MUST)")
        assert "Do so." in copied[0]
        assert "\x1b" not in copied[0]
        # What passed is folded, and opens and closes.
        await press(pilot, "down", "down", "enter", shows="ping gets an empty result.")
        await pilot.press("enter")
        await quiet(app)
        assert "ping gets an empty result." not in screen_text(app)
        # Only what failed, and only one level
        await press(pilot, "o", shows="only fails")
        assert "TEST-01" in screen_text(app)
        assert "TEST-02" not in screen_text(app)
        await press(pilot, "o", "f", shows="Show the checks of a level")
        await press(pilot, "down", "down", "enter", shows=("only SHOULD", "TEST-02"), hides="TEST-01")
        await press(pilot, "f", "home", "enter", shows="TEST-01")
        # One check is run again.
        await press(pilot, "home", until=lambda: pane(app).current.check.id == "TEST-01")
        check_run = pane(app).check_run
        journal, events = check_run.journal, len(check_run.journal)
        probes.answer = good("now right")
        await press(pilot, "r", shows="3 pass")
        assert (probes.looked, check_run.journal) == (2, journal)
        assert len(journal) > events
        assert "TEST-02" in screen_text(app)
        await ended(app, pilot)
        assert "0 fail" in screen_text(app)


@pytest.mark.parametrize("keys", [("g",), ("enter", "enter")])
async def test_one_goes_to_a_message_in_the_recording_of_the_run_and_back(
    probes: Probes, keys: tuple[str, ...]
) -> None:
    async with on_demo() as (app, pilot):
        await run(app, pilot)
        before, first = len(app.session.journal), pane(app)._view.message
        await press(pilot, *keys, until=lambda: app.screen is not main_screen(app), what="the recording")
        await shows(app, pilot, "tools/list")
        screen = app.screen
        assert isinstance(screen.playback, Playback)
        assert screen.session.journal is pane(app).check_run.journal
        await becomes(app, pilot, lambda: screen.panes.detail.n == first, "at the message")
        await press(pilot, "backspace", until=lambda: app.screen is main_screen(app), what="back")
        assert pane(app).check_run.journal.event(1) is not None, "the recording stays open"
        assert len(app.session.journal) == before, "nothing of it is in the session's own"


async def test_the_session_is_used_while_checks_run_and_only_del_stops_them_and_keeps_what_was_found(
    probes: Probes,
) -> None:
    probes.holds = WAITS
    async with on_demo() as (app, pilot):
        await press(pilot, "ctrl+r", shows=f": {WAITS}")
        await app.session.request("tools/list", {})
        await press(pilot, "1", shows="echo")
        assert pane(app).check_run.running
        await press(pilot, "8", shows=f": {WAITS}")
        assert "5 of 7" in screen_text(app)  # TEST-04 calls tools, and comes last.
        assert "del stop" in screen_text(app)
        await press(pilot, "escape", "escape", "8", shows=f": {WAITS}")
        assert pane(app).check_run.running
        await press(pilot, "delete", shows=("Check stopped", "of 100   stopped"), hides="del stop")
        assert "TEST-01" in screen_text(app)
        assert not pane(app).check_run.running
        # One check that runs again does not complete the others.
        await press(pilot, "r", until=lambda: probes.looked == 2)
        await ended(app, pilot)
        await shows(app, pilot, "Check stopped", "of 100   stopped")
        probes.holds = ""
        await run(app, pilot)
        await shows(app, pilot, f"Check {pane(app).score}", without="stopped")


async def test_a_report_and_a_baseline_are_saved(
    probes: Probes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    async with on_demo() as (app, pilot):
        await run(app, pilot)
        await press(pilot, "x", shows="Save a report")
        await press(pilot, "down", "enter", shows="demo-check.xml")
        await press(pilot, "enter", shows="Written to")
        await press(pilot, "w", shows="demo-baseline.json")
        await press(pilot, "enter", until=(tmp_path / "demo-baseline.json").exists, what="written")
        await quiet(app)
    assert (tmp_path / "demo-check.xml").read_text().startswith("<?xml")
    text = (tmp_path / "demo-baseline.json").read_text()
    assert "\\u202e" in text
    assert "\u202e" not in text
    written = json.loads(text)
    assert {one["id"] for one in written["results"] if one["verdict"] == "fail"} == {"TEST-01"}


async def test_the_headline_has_its_counts_on_a_second_line_where_they_do_not_fit() -> None:
    counts = {"fail": 3, "warn": 12, "pass": 1_230, "note": 14, "skip": 180}
    report: Any = SimpleNamespace(score=88, counts=counts, checked=range(1_439))
    async with on_stage(CheckHead(id="head"), (90, 3)) as (app, pilot, head):
        head.show(report, None, stopped=True)
        for width, first, second in (
            (90, "score 88 of 100   stopped   3 fail   12 warn   1,230 pass   14 note   180 skipped", "▆"),
            (58, "score 88 of 100   stopped", "3 fail   12 warn   1,230 pass   14 note   180 skipped"),
            (52, "score 88 of 100   stopped", "3 fail  12 warn  1,230 pass  14 note  180 skipped"),
        ):
            await pilot.resize_terminal(width, 3)
            await becomes(app, pilot, lambda first=first: screen_lines(app)[0] == f" {first}", first)
            assert screen_lines(app)[1].startswith(f" {second}")
        assert screen_lines(app)[2].startswith(" ▆")
        head.show(report, (57, 1_439, "2025-11-25: RESULT-12"), stopped=False)
        await becomes(app, pilot, lambda: screen_lines(app)[1] == " 3 fail   12 warn", "the faults")
        assert screen_lines(app)[0] == " 57 of 1,439 results   2025-11-25: RESULT-12"


async def test_one_column_has_the_list_then_one_of_it_and_two_have_both_and_the_log_when_it_is_requested(
    probes: Probes,
) -> None:
    async with on_demo(NARROW) as (app, pilot):
        await run(app, pilot)
        assert "TEST-01" in screen_text(app)
        assert "Do so." not in screen_text(app)
        await press(pilot, "enter", shows="Do so.")
        assert "TEST-02" not in screen_text(app)
        await press(pilot, "escape", shows="TEST-02")
        await pilot.resize_terminal(*MEDIUM)
        await shows(app, pilot, "TEST-02", "Do so.")
        await press(pilot, "m", shows="Messages")
        await press(pilot, "escape", until=lambda: "Messages" not in screen_text(app), what="away")
        assert pane(app).has_focus_within


async def test_of_a_recording_only_what_passed_by_is_read_and_nothing_sent() -> None:
    before = SESSION.read_bytes()
    async with on_recording(until="echo") as (app, pilot):
        await press(pilot, "8", shows="nothing is sent")
        assert "^r runs the checks" in screen_text(app)
        assert "allow calls" not in screen_text(app)
        await run(app, pilot)
        assert_in(screen_text(app), "need a server", " pass")
        looked_at = [one for one in pane(app).check_run.report.checked if one.verdict in ("pass", "fail", "warn")]
        assert {"passive"} <= {one.check.mode for one in looked_at}
        assert not [one.check.id for one in looked_at if one.check.mode in ("auth", "intrusive")]
    assert SESSION.read_bytes() == before


async def test_the_palette_checks_the_server_from_anywhere_and_one_that_cannot_be_reached_is_reported(
    probes: Probes,
) -> None:
    async with running(demo_target(), until="connected") as (_app, pilot):
        await pilot.press("ctrl+p")
        await press(pilot, *"check this", shows="check this server")
        await press(pilot, "enter", shows="TEST-01")
    async with running(StdioTarget(("/nowhere/at-all",), name="gone"), until="gone") as (app, pilot):
        await pilot.press("8")
        await run(app, pilot)
        assert "No check could run" in screen_text(app)


async def test_the_tab_says_how_far_the_judge_is_while_it_catches_up(
    probes: Probes, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with on_demo() as (app, pilot):
        session = app.session
        assert isinstance(session, Session)
        monkeypatch.setattr("inspector.tui.main.redraw_pace.JUDGED_SHARE", 0.0)
        session.journal.record_received("stdio", [b'{"jsonrpc":"2.0","method":"notifications/x"}'] * 3000)
        session.changes.bump("log")
        await shows(app, pilot, f" of {len(session.journal):,} messages")
        assert "checking" in screen_text(app)
        monkeypatch.setattr("inspector.tui.main.redraw_pace.JUDGED_SHARE", 1000.0)
        session.changes.bump("log")
        await becomes(app, pilot, lambda: "checking" not in screen_text(app), "done")


async def test_the_recording_of_a_run_has_ended_with_it_and_goes_on_when_a_check_runs_again(probes: Probes) -> None:
    async with on_demo(keep=True) as (app, pilot):
        await run(app, pilot)
        path = pane(app).check_run.path
        assert read_info(path).ended
        assert not read_info(path).growing
        probes.holds = "TEST-01"  # Else it may have ended before the screen is looked at.
        await press(pilot, "r", until=lambda: pane(app).check_run.running and read_info(path).growing, what="recording")
        await pilot.press("escape")
        await ended(app, pilot)
        info = read_info(path)
        assert info.ended
        with whole_journal(path) as journal:
            assert len(journal) == info.events == len(pane(app).check_run.journal)
        await press(pilot, "f3", shows="1 recording ")
        assert "recording now" not in screen_text(app)
