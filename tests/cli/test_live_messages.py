"""Messages that are printed while they arrive, and progress: one line, gone before anything else is printed."""

from __future__ import annotations

import asyncio
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from inspector.cli import live_messages
from inspector.cli.live_messages import MAX_BEHIND, Watch
from inspector.cli.output import Output, ProgressLine
from inspector.client.engine.pending_requests import Call
from inspector.client.inbox import Inbox, StandingAnswers
from inspector.client.options import Options
from inspector.client.session import Session
from inspector.client.state.calls import Progress
from inspector.config.targets import StdioTarget
from inspector.journal.journal import Journal
from tests.cli.conftest import Run, Script
from tests.processes import has_output

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]


SERVER = """
import json, os, sys, time

def send(message):
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\\n")
    sys.stdout.flush()

for line in sys.stdin:
    message = json.loads(line)
    if message["method"] == "initialize":
        send({"id": message["id"], "result": {"protocolVersion": "2025-11-25", "capabilities": {}}})
    elif message["method"] == "tools/call":
        token = message["params"]["_meta"]["progressToken"]
        params = {"progressToken": token, "progress": 1, "total": 4, "message": "step\\x1b[2J one"}
        send({"method": "notifications/progress", "params": params})
        while not os.path.exists(sys.argv[1]):
            time.sleep(0.01)
        send({"id": message["id"], "result": {"content": [{"type": "text", "text": "done"}]}})
"""


def test_progress_is_drawn_on_one_line_and_removed_before_the_result(tmp_path: Path) -> None:
    import pty

    (tmp_path / "server.py").write_text(SERVER)
    seen = tmp_path / "seen"
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "inspector", "call", "t", "--", sys.executable, str(tmp_path / "server.py"), str(seen)],
        stdin=theirs, stdout=theirs, stderr=theirs, env=os.environ | {"PYTHONPATH": str(ROOT), "COLUMNS": "60"},
    )  # fmt: skip
    os.close(theirs)
    written = b""
    while has_output(ours, 20):
        try:
            written += os.read(ours, 65536)
        except OSError:  # so Linux reports that the other end is closed
            break
        if b"one" in written:
            seen.touch()
    os.close(ours)
    assert process.wait(10) == 0
    text = written.decode()
    assert re.search(r"↻ 1/4  \S+ m?s  step␛\[2J one", text)
    assert text.endswith("\r\x1b[Kdone\r\n")


@pytest.mark.parametrize(
    "params",
    [
        {"progress": 10**400, "total": 3},
        {"progress": float("nan"), "total": float("inf")},
        {"progress": -1.5, "message": "x" * 1000},
        {},
    ],
)
async def test_progress_of_any_value_is_one_line_that_fits(params: dict[str, object]) -> None:
    watch = Watch(Session(StdioTarget(("x",)), Journal.unnamed({})), Output())
    asked = Call("tools/call", None, 1, 1, asyncio.get_running_loop())
    asked.progress = Progress(1, 1, params, 1)
    line = watch._progress(asked)
    assert "\n" not in line
    assert len(line) < 80
    watch.stop()


async def test_a_server_that_sends_faster_than_lines_are_printed_has_to_wait(
    capsys: pytest.CaptureFixture[str],
) -> None:
    session = Session(StdioTarget(("x",)), Journal.unnamed({}))
    watch = Watch(session, Output())
    log = json.dumps({"jsonrpc": "2.0", "method": "notifications/message", "params": {"data": "hello"}}).encode()
    session.journal.record_received("stdio", [log] * 4 * MAX_BEHIND)
    session.changes.bump("log")
    while watch._seen == 0:
        await asyncio.sleep(0.01)
    # One turn of the event loop, in which no message is read.
    first = capsys.readouterr().err.count("hello")
    assert first >= 3 * MAX_BEHIND
    watch.stop()
    assert first + capsys.readouterr().err.count("hello") == 4 * MAX_BEHIND


async def test_what_was_declined_unseen_is_counted_at_the_end(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Inbox, "OPEN_LIMIT", 2)
    session = Session(StdioTarget(("x",)), Journal.unnamed({}), Options(standing=StandingAnswers(roots="ask")))
    watch = Watch(session, Output())
    for n in range(5):
        session.inbox.ask(n, n, "roots", {}, 0, 0, reply=lambda *answer: None)
    watch.stop()
    expected = "note: 3 questions were declined unseen, because 2 others waited for an answer.\n"
    assert capsys.readouterr().err == expected
    await session.leave()


async def test_a_pause_of_reading_is_told_once(capsys: pytest.CaptureFixture[str]) -> None:
    session = Session(StdioTarget(("x",)), Journal.unnamed({}))
    watch = Watch(session, Output())
    for event in ("reading-paused", "reading-resumed", "reading-paused"):
        session.journal.record_life("stdio", event)
    watch.stop()
    expected = "note: The server sends requests, but does not read the responses. Reading waits until it does.\n"
    assert capsys.readouterr().err == expected


def test_json_output_has_progress_on_stderr_only(script: Script) -> None:
    server = script(tools__call={"result": {"content": []}})
    done = subprocess.run(
        [sys.executable, "-m", "inspector", "call", "t", "--json", *server],
        capture_output=True, timeout=60, env=os.environ | {"PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    assert json.loads(done.stdout) == {"content": []}
    assert done.stderr == b""


def test_a_silent_process_is_reported_of_with_what_was_sent_and_what_to_try(
    run: Run, script: Script, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(live_messages, "SILENT_SECONDS", 0.05)
    ran = run("tools", "--revision", "2025-11-25", "--timeout", "0.5", *script(initialize={"silent": True}))
    first, second = ran.err.splitlines()[:2]
    assert first.startswith("note: The server has sent nothing for 0.05 s. Sent: initialize")
    assert "inspector doctor --revision 2025-11-25 --timeout 0.5 -- " in second
    assert "To find the cause, run inspector doctor --revision 2025-11-25 --timeout 0.5 -- " in ran.err
    assert ran.code == 4


def test_a_silent_process_that_listens_at_a_url_is_reported_as_such(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live_messages, "SILENT_SECONDS", 1.0)
    code = "import sys, time; print('Uvicorn running on http://127.0.0.1:8000', file=sys.stderr, flush=True); time.sleep(60)"
    ran = run("tools", "--timeout", "3", sys.executable, "-S", "-c", code)
    assert (
        "\n  It reports that it listens at http://127.0.0.1:8000: connect to that URL, or see inspector doctor "
        in ran.err
    )


def test_the_doctor_is_not_named_where_a_server_answers(run: Run, script: Script) -> None:
    ran = run("tools", "--revision", "2025-11-25", "--timeout", "1", *script(tools__list={"silent": True}))
    assert "No response to tools/list" in ran.err
    assert "inspector doctor" not in ran.err


def test_a_long_check_logs_its_progress_where_stderr_is_no_terminal(
    run: Run, script: Script, monkeypatch: pytest.MonkeyPatch
) -> None:
    short = ("check", "--only", "BASE-09", "--revision", "2025-11-25", "--no-record")
    assert "checks done" not in run(*short, *script()).err, "not within 30 s"
    monkeypatch.setattr(ProgressLine, "LOG_EVERY", 0)
    assert "0 checks done, 2025-11-25 over stdio: BASE-09\n" in run(*short, *script()).err
    assert "checks done" not in run(*short, "--quiet", *script()).err
    assert "checks done" not in run(*short, "--json", *script()).err
