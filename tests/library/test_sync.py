"""Sessions without `await`."""

from __future__ import annotations

import asyncio
import gc
import inspect
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

import inspector
from inspector.library.sync import SyncSession
from tests.client.conftest import Server
from tests.library.conftest import session_on
from tests.library.test_apps import App
from tests.library.test_session import SAMPLING, asking, notification, result
from tests.processes import ROOT, environment

DEMO = [sys.executable, "-m", "inspector.demo"]


def threads() -> list[str]:
    return [thread.name for thread in threading.enumerate() if thread.name == "inspector"]


@pytest.mark.slow
def test_a_script_uses_a_real_server_and_leaves_nothing(tmp_path: Path) -> None:
    with inspector.open_sync(DEMO, record=tmp_path / "a.mcp.jsonl", elicit={"name": "Ada"}) as session:
        assert threads() == ["inspector"]
        assert session.server.name
        assert "add" in [tool.name for tool in session.tools()]
        assert session.call_tool("add", {"a": 2, "b": 3}).structured == {"sum": 5}
        steps: list[Any] = []
        session.call_tool("slow", {"seconds": 0.01, "steps": 2}, progress=lambda step: steps.append(step.value))
        assert steps
        assert session.resources()
        assert session.templates()
        assert session.prompts()
        updates = session.notifications("notifications/resources/updated")
        session.subscribe("demo://readme")
        session.call_tool("touch-resource", {"uri": "demo://readme"})
        assert next(updates).params["uri"] == "demo://readme"
        assert session.read_resource("demo://readme").text
        assert "ready" in repr(session)
    assert threads() == []
    assert [update.params["uri"] for update in updates] == []
    with pytest.raises(inspector.SessionLost):
        session.tools()
    session.close()


async def test_it_works_inside_a_running_loop_and_with_an_app() -> None:
    with inspector.open_sync(App()) as session:
        assert session.call_tool("echo", {"a": 1}).structured == {"a": 1}
    assert threads() == []
    assert asyncio.get_running_loop().is_running()


def test_callbacks_run_and_must_not_wait_for_their_own_session() -> None:
    def model(_asked: inspector.SamplingRequest) -> str:
        session.ping()
        return ""

    def plain(asked: inspector.SamplingRequest) -> str:
        return asked.messages[0].text

    with SyncSession(session_on(asking("sampling/createMessage", SAMPLING), sampling=plain)) as session:
        assert session.call_tool("t").structured["content"]["text"] == "2 + 2?"
    with (
        SyncSession(session_on(asking("sampling/createMessage", SAMPLING), sampling=model)) as session,
        pytest.raises(inspector.UsageError, match="its own session"),
    ):
        session.call_tool("t")
    assert threads() == []


@pytest.mark.slow
def test_errors_are_those_of_a_session() -> None:
    with pytest.raises(inspector.ServerExited) as caught:
        inspector.open_sync([sys.executable, "-c", "raise SystemExit(3)"]).connect()
    assert "exit code 3" in caught.value.message
    assert threads() == []
    session = inspector.open_sync("true")
    with pytest.raises(inspector.SessionLost, match="not connected"):
        session.tools()
    with pytest.raises(inspector.UsageError):
        inspector.open_sync("true", elicit="nonsense")


@pytest.mark.slow
def test_a_session_that_is_forgotten_ends_with_its_server() -> None:
    session = inspector.open_sync(DEMO).connect()
    engine = session._session.engine
    del session
    gc.collect()
    assert threads() == []
    assert engine.phase == "closed"


@pytest.mark.slow
@pytest.mark.parametrize("ending", ["pass", "session.call_tool('slow', {'seconds': 60})"])
def test_ctrl_c_ends_a_script_and_its_server(ending: str, tmp_path: Path) -> None:
    """A script that is interrupted, and one that forgets to close, leave no process behind."""
    script = tmp_path / "script.py"
    script.write_text(
        "import sys, inspector\n"
        f"session = inspector.open_sync([{sys.executable!r}, '-m', 'inspector.demo']).connect()\n"
        "print(session._session.engine.transport.process.pid, flush=True)\n"
        f"{ending}\n"
    )
    script_env = environment(tmp_path, PYTHONPATH=str(ROOT))
    running = subprocess.Popen([sys.executable, script], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=script_env)
    assert running.stdout is not None
    server = int(running.stdout.readline())
    if ending != "pass":
        running.send_signal(signal.SIGINT)
    _, stderr = running.communicate(timeout=60)
    assert (b"KeyboardInterrupt" in stderr) == (ending != "pass"), stderr
    assert running.returncode == (0 if ending == "pass" else -signal.SIGINT)
    with pytest.raises(ProcessLookupError):
        os.kill(server, 0)


INTERRUPTS = """
import asyncio, random, signal
from inspector.library.sync import LoopThread

signal.signal(signal.SIGALRM, signal.default_int_handler)
thread, interrupted = LoopThread("calls"), 0
for _ in range(3000):
    try:
        signal.setitimer(signal.ITIMER_REAL, random.uniform(1e-6, 150e-6))
        thread.run(asyncio.sleep(0.00002))
        signal.setitimer(signal.ITIMER_REAL, 0)
    except KeyboardInterrupt:
        interrupted += 1
assert interrupted
print(thread.run(asyncio.sleep(0, "goes on")))
"""


@pytest.mark.slow
def test_an_interrupt_at_any_moment_of_a_call_leaves_no_lock_held() -> None:
    interrupted = subprocess.run(
        [sys.executable, "-c", INTERRUPTS], capture_output=True, text=True, cwd=ROOT, timeout=60, check=False
    )
    assert interrupted.stdout == "goes on\n", interrupted.stderr


def test_an_interrupt_cancels_the_call_and_the_session_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = threading.Event()
    server = Server(tools__call=lambda _message, _reply: asked.set(), ping={})

    def interrupt() -> None:
        asked.wait()
        signal.pthread_kill(main, signal.SIGINT)

    main = threading.main_thread().ident
    assert main is not None
    with SyncSession(session_on(server)) as session:
        interrupter = threading.Thread(target=interrupt)
        interrupter.start()
        with pytest.raises(KeyboardInterrupt):
            session.call_tool("never")
        interrupter.join()
        assert session.ping() >= 0
        assert [m["method"] for m in server.seen if "method" in m][-2:] == ["notifications/cancelled", "ping"]


def test_it_has_every_method_of_a_session_with_the_same_parameters() -> None:
    for name, method in inspect.getmembers(inspector.Session, inspect.isfunction):
        if not name.startswith("_"):
            ours = inspect.signature(getattr(SyncSession, name))
            assert list(ours.parameters) == list(inspect.signature(method).parameters), name


def test_notifications_are_awaited() -> None:
    def call(message: Any, reply: Any) -> None:
        reply(notification("notifications/a", x=1))
        reply(result(message, {}))

    with SyncSession(session_on(Server(tools__call=call))) as session:
        notifications = session.notifications("notifications/a")
        session.call_tool("t")
        assert next(notifications).params == {"x": 1}
        session.notify("notifications/b")
        with pytest.raises(inspector.NotOffered):
            session.tasks()
