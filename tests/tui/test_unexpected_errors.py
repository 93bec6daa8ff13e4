"""Unexpected errors are logged and shown; the interface continues."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Callable
from pathlib import Path

import pytest

from inspector.errors import InspectorError, UsageError
from inspector.tui.app import InspectorApp
from inspector.tui.unexpected_errors import MAX_COUNT, UnexpectedErrors
from tests.tui.live_app import becomes, on_recording, shows
from tests.tui.terminal import Terminal
from tests.tui.tui_screens import press, screen_text


def divide() -> None:
    raise ZeroDivisionError("by nothing")


async def divide_later() -> None:
    divide()


def in_a_callback(app: InspectorApp) -> None:
    asyncio.get_running_loop().call_soon(divide)


def in_a_forgotten_task(app: InspectorApp) -> None:
    loop = asyncio.get_running_loop()
    # Not in the callback itself, which still holds the task.
    loop.create_task(divide_later()).add_done_callback(lambda task: loop.call_soon(gc.collect))


def in_a_worker(app: InspectorApp) -> None:
    app.screen.run_worker(divide_later(), exit_on_error=False)


def in_a_thread(app: InspectorApp) -> None:
    app.screen.run_worker(divide, thread=True, exit_on_error=False)


@pytest.mark.slow
@pytest.mark.parametrize("fail", [in_a_callback, in_a_forgotten_task, in_a_worker, in_a_thread])
async def test_an_error_is_logged_and_shown(fail: Callable[[InspectorApp], None], home: Path) -> None:
    async with on_recording() as (app, pilot):
        fail(app)
        await becomes(app, pilot, lambda: "ZeroDivisionError" in screen_text(app), "told")
        assert "Inspector itself failed" in screen_text(app)
        assert "inspector.log" in screen_text(app).replace("\n", "")
        assert "Traceback" not in screen_text(app)
        logged = (home / "log" / "inspector.log").read_text()
        assert "Traceback" in logged
        assert "by nothing" in logged
        await press(pilot, "6", shows="Connection")
    assert app.unexpected.untold is None


async def test_an_error_of_ours_is_reported_in_its_own_words(home: Path) -> None:
    async def fail() -> None:
        raise UsageError("This cannot be done.", hint="Do that.")

    async with on_recording() as (app, pilot):
        app.screen.run_worker(fail(), exit_on_error=False)
        await shows(app, pilot, "This cannot be done. Do that.")
    assert not (home / "log").exists()


def test_an_error_that_returns_does_not_fill_the_disk_and_remarks_of_the_loop_are_not_told(home: Path) -> None:
    reported: list[InspectorError] = []
    loop = asyncio.new_event_loop()
    UnexpectedErrors(lambda problem: not reported.append(problem)).watch(loop)
    loop.close()
    fail = loop.call_exception_handler
    fail({"message": "x", "exception": UsageError("kept in its call")})
    fail({"message": "a task was destroyed"})
    assert reported == []
    for _ in range(MAX_COUNT * 3):
        fail({"message": "x", "exception": ZeroDivisionError()})
    assert len(reported) == MAX_COUNT
    log = (home / "log" / "inspector.log").read_text()
    assert "a task was destroyed" in log
    assert log.count("inspector failed") == MAX_COUNT


def test_what_could_not_be_told_is_kept_for_the_end() -> None:
    errors = UnexpectedErrors(lambda problem: False)
    errors.handle(ZeroDivisionError())
    errors.handle(ValueError())
    assert "ZeroDivisionError" in errors.untold.message


@pytest.mark.slow
def test_an_error_after_the_screen_is_gone_ends_with_one_sentence_and_a_terminal_as_it_was(home: Path) -> None:
    script = """
import asyncio
from inspector.tui.app import InspectorApp
closing = InspectorApp.close_sessions
async def close(self):
    await closing(self)
    asyncio.get_running_loop().call_soon(lambda: 1 / 0)
    await asyncio.sleep(0)
InspectorApp.close_sessions = close
from inspector.cli.main import main
main()
"""
    with Terminal(home, ["demo"], script=script) as terminal:
        terminal.shows("connected")
        terminal.press("q")
        assert terminal.ends() == 4
        assert terminal.is_restored
        assert "ZeroDivisionError" in terminal.grid.text
        assert "Traceback" not in terminal.grid.text
