"""Unexpected errors on the event loop end the command with a sentence, without a traceback."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from inspector.cli import headless
from inspector.cli.output import Output
from inspector.cli.parser import scan
from inspector.client.session import Session
from inspector.errors import UsageError
from tests.cli.conftest import Run, Script

pytestmark = pytest.mark.slow

TOOLS = {"result": {"tools": []}}
Fail = Callable[[], Any]


def divide() -> None:
    raise ZeroDivisionError("by nothing")


async def fail_in_a_callback() -> None:
    asyncio.get_running_loop().call_soon(divide)
    await asyncio.Event().wait()


async def fail_in_an_unawaited_task() -> None:
    async def work() -> None:
        divide()

    task = asyncio.get_running_loop().create_task(work())
    await asyncio.wait([task])
    del task
    gc.collect()
    await asyncio.Event().wait()


def logged(home: Path) -> str:
    return (home / "log" / "inspector.log").read_text()


@pytest.mark.parametrize("fail", [fail_in_a_callback, fail_in_an_unawaited_task])
def test_a_failure_on_the_loop_ends_the_command(
    script: Script, home: Path, capsys: pytest.CaptureFixture[str], fail: Fail
) -> None:
    async def work(session: Any, out: Output) -> int:
        await fail()
        return 0

    assert headless.run(scan(["tools", *script(tools__list=TOOLS)]), work) == 4
    out, err = capsys.readouterr()
    assert out == ""
    assert err == (
        "error: Inspector itself failed: ZeroDivisionError.\n"
        f"hint: The traceback is in {home / 'log' / 'inspector.log'}. Please report it.\n"
    )
    assert "ZeroDivisionError: by nothing" in logged(home)


def test_a_failure_while_a_message_is_taken_in_is_one_too(
    run: Run, script: Script, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Session, "on_frame", lambda self, frame: divide())
    ran = run("tools", "--json", *script(tools__list=TOOLS))
    assert (ran.code, ran.out, ran.error["code"]) == (4, "", "internal")
    assert "on_frame" in logged(home)


def test_a_failure_while_the_session_is_closed_leaves_the_result_and_is_reported(
    run: Run, script: Script, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    close = Session.close

    async def closes(self: Session, reason: str = "closed") -> None:
        asyncio.get_running_loop().call_soon(divide)
        await close(self, reason)

    monkeypatch.setattr(Session, "close", closes)
    ran = run("tools", "--json", *script(tools__list=TOOLS))
    assert (ran.code, ran.json, ran.error["code"]) == (4, {"tools": []}, "internal")


@pytest.mark.parametrize("context", [{"message": "left over"}, {"message": "m", "exception": UsageError("known")}])
def test_remarks_of_the_loop_and_errors_of_ours_end_nothing(
    script: Script, home: Path, capsys: pytest.CaptureFixture[str], context: dict[str, Any]
) -> None:
    async def work(session: Any, out: Output) -> int:
        asyncio.get_running_loop().call_exception_handler(context)
        await asyncio.sleep(0)
        return 0

    assert headless.run(scan(["tools", *script()]), work) == 0
    assert capsys.readouterr() == ("", "")
    assert ("exception" in context) or "left over" in logged(home)
