"""stdio: for each check a server that breaks it and is found out, and one in order that passes."""

import asyncio
import json
import signal
import subprocess
import sys
import time
from dataclasses import replace

import pytest

from inspector.check.checks import transport_stdio
from inspector.check.visit import process
from inspector.check.visit.machine_load import slowdown
from inspector.check.visit.visit import Allowed
from inspector.config.targets import StdioTarget
from inspector.errors import ServerExited
from inspector.journal.journal import Journal
from tests.check.faulty_servers import (
    LIMITS,
    Adds,
    Answers,
    Case,
    Fault,
    Process,
    Takes,
    case_tests,
    checked,
    is_found,
    is_not_blamed,
    refusal,
    result,
)

R4, R5 = "2025-11-25", "2026-07-28"
PATIENT = replace(LIMITS, request=20.0, check=60.0)
"""Limits for processes, which may take long to start on a machine that has other things to do."""
SUBSCRIPTION = "io.modelcontextprotocol/subscriptionId"
STAYS = "import atexit, time; atexit.register(time.sleep, 60)"
ENDS_BADLY = "import atexit, os; atexit.register(os._exit, 3)"
LEAVES_A_CHILD = "import subprocess; quiet = subprocess.DEVNULL; subprocess.Popen(['sleep', '60'], stdin=quiet, stdout=quiet, stderr=quiet)"
COMPLAINS = "import sys; sys.stderr.buffer.write({!r}); sys.stderr.flush()"


def method(message):
    return message.get("method") if isinstance(message, dict) else None


def with_carriage_return(message, _request):
    return json.dumps(message).encode() + b"\r"


def dies_of_bytes(message, _say):
    if isinstance(message, bytes):
        raise ServerExited("The server ended with exit code 1.")
    return False


def forgets_one(message, _say):
    return isinstance(message, dict) and message.get("id") == "pipelined-5"


def refuses(message, _request):
    return refusal({"id": message["id"]}, -32001, "401 Unauthorized: a bearer token is needed")


class AnswersLate(Fault):
    """Goes on with a call that was cancelled, and answers it so many seconds after the next request."""

    def __init__(self, seconds=0.15):
        self.seconds = seconds
        self.call = None

    def response(self, message, say):
        if method(message) == "tools/call" and str(message["id"]).startswith("cancelled"):
            self.call = message
            return True
        if method(message) == "server/discover" and self.call is not None:
            late, self.call = result(self.call, resultType="complete", content=[]), None
            asyncio.get_running_loop().call_later(self.seconds, say, late)
        return method(message) == "notifications/cancelled"


class Nameless(Fault):
    """Does not say to which subscription a notification belongs."""

    def sends(self, message, request):
        message.get("params", {}).get("_meta", {}).pop(SUBSCRIPTION, None)
        return [message]


CASES = [
    Case("STDIO-01", R4, Adds("tools/list", b"Listening ...")),
    Case("STDIO-02", R4, Answers("tools/list", with_carriage_return), remark=True),
    Case("STDIO-03", R4, COMPLAINS.format(b"caf\xe9\n"), right=COMPLAINS.format("café\n".encode()), server=Process, limits=PATIENT),
    Case("STDIO-04", R4, STAYS, right=ENDS_BADLY, server=Process, limits=replace(PATIENT, request=0.2)),
    Case("STDIO-05", R4, LEAVES_A_CHILD, server=Process, limits=PATIENT),
    Case("STDIO-06", R4, Takes(dies_of_bytes)),
    Case("STDIO-07", R4, Takes(forgets_one)),
    Case("STDIO-08", R5, AnswersLate(), allowed=Allowed(calls=("slow",))),
    Case("STDIO-09", R5, Nameless()),
    Case("STDIO-11", R4, Takes(lambda message, _: method(message) == "inspector/no-such-method")),
    Case("STDIO-12", R4, Answers("tools/list", refuses)),
]  # fmt: skip


async def test_an_answer_that_was_on_its_way_is_no_late_one():
    case = Case("STDIO-08", R5, None, allowed=Allowed(calls=("slow",)))
    judged, journal = await checked(case, AnswersLate(0), {})
    assert judged.verdict == "skip"
    assert "long enough" in judged.outcome.text
    journal.release()


test_a_planted_fault_is_found, test_a_server_in_order_is_not_blamed = case_tests(
    CASES, slow_faults=True, slow_right=True
)


START = Case("STDIO-10", R4, None, server=Process, limits=PATIENT)


@pytest.mark.slow
async def test_a_slow_start_is_worth_a_remark(monkeypatch):
    monkeypatch.setattr(transport_stdio, "_SLOW_START", 0.0)
    await is_found(START)


@pytest.mark.slow
async def test_a_quick_start_is_not(monkeypatch):
    monkeypatch.setattr(transport_stdio, "_SLOW_START", 1000.0)
    await is_not_blamed(START)


ENDS_LATE = "import atexit, time; atexit.register(time.sleep, 1.5)"
ENDS_SOON = replace(PATIENT, request=1.0)


@pytest.mark.slow
@pytest.mark.parametrize(("slower", "verdict"), [(1.0, "note"), (20.0, "pass")])
async def test_a_busy_machine_may_take_longer_to_end_a_server(monkeypatch, slower, verdict):
    class Child(process.Child):
        async def greet(self, message, seconds):
            await super().greet(message, 20.0)  # The start is not what is timed here.

    monkeypatch.setattr(process, "Child", Child)
    monkeypatch.setattr(process, "slowdown", lambda: slower)
    case = Case("STDIO-04", R4, ENDS_LATE, server=Process, limits=ENDS_SOON)
    judged, journal = await checked(case, case.fault, case.world)
    assert judged.verdict == verdict, judged
    journal.release()


ESCAPES = """
import os, subprocess, sys
sleeper = "import os, time; os.fork() and os._exit(0); os.setsid(); print(os.getpid(), flush=True); time.sleep(600)"
left = subprocess.Popen([sys.executable, "-S", "-c", sleeper], stdout=subprocess.PIPE, env={})
print(os.getpid(), int(left.stdout.readline()), file=open(sys.argv[1], "w"), flush=True)
print(flush=True)
sys.stdin.read()
"""


def is_running(pid):
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            return file.read().rpartition(b") ")[2][:1] not in (b"Z", b"X")
    except OSError:
        return False


@pytest.mark.slow
async def test_what_a_server_left_in_a_session_of_its_own_ends_with_its_check(tmp_path):
    journal = Journal.unnamed({})
    target = StdioTarget((sys.executable, "-S", "-c", ESCAPES, str(tmp_path / "pids")))
    async with process.child(target, journal, R4) as server:
        await server.greet(b"{}", 20.0)
        pids = [int(pid) for pid in (tmp_path / "pids").read_text().split()]
        assert [is_running(pid) for pid in pids] == [True, True]
        assert await server.close_input(20.0)
    async with asyncio.timeout(10):
        while any(map(is_running, pids)):
            await asyncio.sleep(0.02)
    journal.release()


@pytest.mark.slow
def test_a_kill_of_the_check_ends_its_server_and_what_that_left(tmp_path):
    program = f"""
import asyncio, os, signal
from inspector.check.visit.process import child
from inspector.config.targets import StdioTarget
from inspector.journal.journal import Journal
async def main():
    command = ({sys.executable!r}, "-S", "-c", {ESCAPES!r} + "import time; time.sleep(600)", {str(tmp_path / "pids")!r})
    async with child(StdioTarget(command), Journal.unnamed({{}}), {R4!r}) as server:
        await server.greet(b"{{}}", 20.0)
        os.kill(os.getpid(), signal.SIGKILL)
asyncio.run(main())
"""
    assert subprocess.run([sys.executable, "-c", program], timeout=60).returncode == -signal.SIGKILL
    pids = [int(pid) for pid in (tmp_path / "pids").read_text().split()]
    end = time.monotonic() + 10
    while any(map(is_running, pids)) and time.monotonic() < end:
        time.sleep(0.05)
    assert not any(map(is_running, pids))


def test_processes_that_wait_count_as_load(monkeypatch):
    monkeypatch.setattr("os.getloadavg", lambda: (64.0, 0.0, 0.0))
    monkeypatch.setattr("os.cpu_count", lambda: 4)
    assert slowdown() >= 16
    monkeypatch.setattr("os.getloadavg", lambda: (0.1, 0.0, 0.0))
    assert slowdown() >= 1
