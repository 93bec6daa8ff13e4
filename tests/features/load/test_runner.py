"""Runs on servers in this process: what is sent, counted, kept and recorded. No test depends on how fast they are."""

from __future__ import annotations

import asyncio
import json
import selectors
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from inspector.client.inbox import StandingAnswers
from inspector.client.options import Options
from inspector.config.targets import StdioTarget
from inspector.errors import NotOffered, ServerExited, UsageError
from inspector.features.load import echo_server, precise_timers
from inspector.features.load.connection import LoadConnection
from inspector.features.load.floor import measure_floor
from inspector.features.load.plan import LoadPlan, PlannedCall
from inspector.features.load.reports.html import as_html
from inspector.features.load.runner import LoadRun
from inspector.journal.journal import Journal
from inspector.protocol.jsonrpc import encode, parse
from inspector.transports.memory import MemoryTransport, SendReply

TARGET = StdioTarget(("server",))


def answering(on_call: Callable[[int, dict[str, Any], SendReply], Any]) -> Any:
    """A server with a read-only tool and another one; `on_call` gets the number of each call."""
    calls = 0

    async def server(message: Any, reply: SendReply) -> None:
        nonlocal calls
        if message.get("method") == "tools/call":
            calls += 1
            done = on_call(calls, message, reply)
            if asyncio.iscoroutine(done):
                await done
            return
        answer = echo_server.answer(message)
        if answer is not None:
            response = parse(answer)
            if message["method"] == "tools/list":
                sums = {"type": "object", "properties": {"sum": {"type": "integer"}}}
                response["result"]["tools"].append(
                    {"name": "add", "inputSchema": {}, "outputSchema": sums, "annotations": {"readOnlyHint": True}}
                )
                response["result"]["tools"].append({"name": "write", "inputSchema": {"type": "object"}})
                both = {"readOnlyHint": True, "destructiveHint": True}
                response["result"]["tools"].append({"name": "wipe", "inputSchema": {}, "annotations": both})
            reply(encode(response))

    return server


def result(message: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": message["id"], "result": {"content": [{"type": "text", "text": "ok"}], **more}}


def run_of(server: Any, journal: Journal, *, timeout: float = 5.0, **more: Any) -> LoadRun:
    plan = {"rate": 200.0, "seconds": 0.3, "warm_up": 0.0} | more.pop("plan", {})
    tool = more.pop("tool", echo_server.TOOL)
    return LoadRun(
        TARGET, Options(timeout=timeout, era="legacy"), LoadPlan((PlannedCall(tool, more.pop("arguments", {"k": 1})),), **plan), journal,
        connect=lambda target, sink, options: MemoryTransport(sink, server), **more,
    )  # fmt: skip


@pytest.fixture
def journal(tmp_path: Path) -> Any:
    made = Journal.create(tmp_path / "load.mcp.jsonl", TARGET.as_header())
    yield made
    made.close()
    made.release()


@pytest.mark.slow
async def test_every_call_is_sent_and_answered(journal: Journal) -> None:
    seen: list[Any] = []

    def on_call(number: int, message: dict[str, Any], reply: SendReply) -> None:
        seen.append(message["params"]["arguments"])
        reply(result(message))

    report = await run_of(answering(on_call), journal).go()
    assert report.sent == report.done == len(seen) == 60
    assert seen[0] == {"k": 1}
    assert report.latency.count == 60
    assert report.incomplete == ""


@pytest.mark.slow
async def test_errors_are_counted_by_kind(journal: Journal) -> None:
    def on_call(number: int, message: dict[str, Any], reply: SendReply) -> None:
        if number % 3 == 0:
            reply({"jsonrpc": "2.0", "id": message["id"], "error": {"code": -32603, "message": f"Row {number}"}})
        elif number % 3 == 1:
            reply(result(message, isError=True))
        else:
            reply(result(message))

    report = await run_of(answering(on_call), journal).go()
    kinds = {(error.kind, error.code): error.count for error in report.errors}
    assert kinds == {("server", -32603): 20, ("tool", None): 20}
    assert (report.done, report.failed) == (20, 40)
    assert report.latency.count == 60


@pytest.mark.slow
async def test_no_report_and_no_recording_has_an_argument_that_is_a_secret_by_its_name(journal: Journal) -> None:
    seen: list[Any] = []

    def on_call(number: int, message: dict[str, Any], reply: SendReply) -> None:
        seen.append(message["params"]["arguments"])
        reply(result(message, isError=True, content=[{"type": "text", "text": f"not {message['params']}"}]))

    arguments = {"user": "ada", "password": "hunter2pass9"}
    run = run_of(answering(on_call), journal, arguments=arguments, plan={"rate": 20.0, "connections": 2})
    report = await run.go()
    assert seen[0] == arguments
    text = json.dumps(report.as_json()) + as_html(report)
    assert "hunter2" not in text
    assert '"arguments": {"user": "ada", "password": "***"}' in text
    assert journal.path is not None
    assert "hunter2" not in journal.path.read_text(encoding="utf-8")


@pytest.mark.slow
async def test_results_that_do_not_match_the_output_schema_are_errors(journal: Journal) -> None:
    wrong = [{"sum": "two"}, {"sum": 2}, None]

    def on_call(number: int, message: dict[str, Any], reply: SendReply) -> None:
        value = wrong[number % 3]
        reply(result(message) if value is None else result(message, structuredContent=value))

    report = await run_of(answering(on_call), journal, tool="add").go()
    errors = {(error.kind, error.message): error.count for error in report.errors}
    assert list(errors.values()) == [20, 20]
    assert {kind for kind, _ in errors} == {"schema"}
    assert any("/sum" in message for _, message in errors)
    assert any("structuredContent is missing" in message for _, message in errors)
    assert (report.done, report.failed) == (20, 40)


@pytest.mark.slow
async def test_a_hanging_server_ends_with_timeouts_and_queued_calls_are_not_sent(journal: Journal) -> None:
    plan = {"in_flight": 4, "seconds": 0.2}
    report = await run_of(answering(lambda *_: None), journal, timeout=0.2, plan=plan).go()
    assert report.done == 0
    assert report.errors[0].kind == "timeout"
    assert report.latency.percentile(50) >= 0.19
    assert report.failed + report.not_sent == 40
    assert report.exit_code == 4


@pytest.mark.slow
async def test_a_crash_loses_calls_and_the_connection_is_made_again(
    journal: Journal, monkeypatch: pytest.MonkeyPatch
) -> None:
    def on_call(number: int, message: dict[str, Any], reply: SendReply) -> None:
        if number == 10:
            raise ServerExited("The server ended with exit code 3.", stderr=("fatal: no memory",))
        reply(result(message))

    run = run_of(answering(on_call), journal)
    free, reconnect, reconnecting, early = run.pool.free, LoadConnection.reconnect, [], []

    def watched(largest: int) -> LoadConnection | None:
        connection = free(largest)
        early.append(connection in reconnecting)
        return connection

    async def slow_reconnect(connection: LoadConnection) -> bool:
        reconnecting.append(connection)
        is_back = await reconnect(connection)
        await asyncio.sleep(0.05)  # The session is ready before its connection is.
        reconnecting.remove(connection)
        return is_back

    monkeypatch.setattr(run.pool, "free", watched)
    monkeypatch.setattr(LoadConnection, "reconnect", slow_reconnect)
    report = await run.go()
    assert not any(early)  # A call that is sent earlier counts the time of the reconnect as a delay of ours.
    assert report.stderr == ("fatal: no memory",)
    assert (report.lost, report.exit_code) == (1, 4)
    lost = report.errors[0]
    assert (len(report.errors), lost.kind) == (1, "exited")
    assert 1 <= lost.count <= 16  # The calls in flight.
    assert report.done == report.sent - lost.count > 40


@pytest.mark.slow
async def test_a_server_that_does_not_come_back_ends_the_run(journal: Journal, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("inspector.features.load.connection.RECONNECTS", (0.0, 0.0))
    gone = False

    def on_call(number: int, message: dict[str, Any], reply: SendReply) -> None:
        nonlocal gone
        gone = number == 10
        reply(result(message))

    answers = answering(on_call)

    async def server(message: Any, reply: SendReply) -> None:
        if gone:
            raise ServerExited("The server ended with exit code 3.")
        await answers(message, reply)

    report = await run_of(server, journal, plan={"seconds": 30.0}).go()
    assert report.incomplete.startswith("The server ended")
    assert report.done == 10


@pytest.mark.slow
async def test_a_run_can_be_stopped_and_cancelled(journal: Journal) -> None:
    server = answering(lambda number, message, reply: reply(result(message)))

    def stop(run: LoadRun) -> None:
        if run.now() > 0.2:
            run.stop()

    run = run_of(server, journal, plan={"seconds": 30.0}, on_progress=stop)
    report = await run.go()
    assert report.incomplete == "stopped by the user"
    assert report.sent > 20

    run = run_of(answering(lambda *_: None), journal, plan={"seconds": 30.0, "in_flight": 4}, on_progress=stop)
    report = await run.go()
    assert (report.sent, report.at_server, report.done) == (4, 4, 0)
    assert report.queued >= 36

    run = run_of(server, journal, plan={"seconds": 30.0})
    task = asyncio.create_task(run.go())
    while run.measurement.done < 5:
        await asyncio.sleep(0.01)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert run.report().incomplete == "stopped by the user"
    assert run.report().done >= 5


@pytest.mark.slow
async def test_only_read_only_tools_are_called(journal: Journal) -> None:
    server = answering(lambda number, message, reply: reply(result(message)))
    for name in ("write", "wipe"):
        with pytest.raises(UsageError, match="not annotated read-only"):
            await run_of(server, journal, tool=name).go()
    with pytest.raises(NotOffered, match="does not list a tool “wriet”"):
        await run_of(server, journal, tool="wriet").go()
    assert (await run_of(server, journal, tool="write", allowed=frozenset({"write"})).go()).done == 60


async def test_a_plan_can_be_checked_without_a_call(journal: Journal) -> None:
    calls: list[int] = []
    server = answering(lambda number, message, reply: calls.append(number))
    run = run_of(server, journal)
    assert await run.check() == run.plan
    assert calls == []


@pytest.mark.slow
async def test_connections_share_the_calls(journal: Journal) -> None:
    opened = 0
    server = answering(lambda number, message, reply: reply(result(message)))

    def connect(target: Any, sink: Any, options: Any) -> MemoryTransport:
        nonlocal opened
        opened += 1
        return MemoryTransport(sink, server)

    run = run_of(server, journal, plan={"connections": 3, "users": 6})
    run._connect = connect
    report = await run.go()
    assert opened == 3
    assert report.done > 6
    assert all(connection.in_flight == 0 for connection in run.pool.connections)


@pytest.mark.slow
async def test_only_a_sample_of_the_calls_is_recorded(journal: Journal) -> None:
    def on_call(number: int, message: dict[str, Any], reply: SendReply) -> None:
        reply({"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "info", "data": "x" * 1000}})
        reply(result(message, isError=number % 10 == 0))

    run = run_of(answering(on_call), journal, plan={"rate": 2000.0, "seconds": 0.5})
    report = await run.go()
    assert report.sent == 1000
    assert run.sample.written == 100
    assert len(journal) < 250
    again = Journal.open(Path(report.recording))
    while again.refresh():
        pass
    assert len(again) == len(journal)
    texts = [again.event(n).text for n in range(1, len(again) + 1)]
    assert sum('"method":"tools/call"' in text for text in texts) == 100
    assert sum('"isError":true' in text for text in texts) >= 50
    again.release()


@pytest.mark.slow
async def test_calls_that_ask_are_answered_and_counted(journal: Journal) -> None:
    """A question inside a call goes through the session, as without load."""
    waiting: dict[str, Any] = {}
    server_calls = answering(lambda number, message, reply: ask(number, message, reply))

    def ask(number: int, message: dict[str, Any], reply: SendReply) -> None:
        waiting[f"q{number}"] = message
        reply({"jsonrpc": "2.0", "id": f"q{number}", "method": "roots/list"})

    async def server(message: Any, reply: SendReply) -> None:
        if "method" not in message:
            reply(result(waiting.pop(message["id"])))
            return
        await server_calls(message, reply)

    report = await run_of(server, journal, plan={"rate": 100.0}).go()
    assert report.done == 30


def test_a_load_asks_no_person(journal: Journal) -> None:
    asking = Options(standing=StandingAnswers("ask", "ask", ("file:///a",)))
    run = LoadRun(TARGET, asking, LoadPlan((PlannedCall("get"),)), journal)
    assert run.options.standing == StandingAnswers(None, None, ("file:///a",))


@pytest.mark.skipif(not hasattr(selectors, "EpollSelector"), reason="only epoll rounds up to milliseconds")
def test_a_run_never_waits_in_epoll(monkeypatch: pytest.MonkeyPatch) -> None:
    waits: list[float | None] = []
    whole = selectors.EpollSelector.select

    def select(self: selectors.EpollSelector, timeout: float | None = None) -> Any:
        waits.append(timeout)
        return whole(self, timeout)

    monkeypatch.setattr(selectors.EpollSelector, "select", select)
    precise_timers.run(asyncio.sleep(0.0025))
    assert waits
    assert not any(waits)


@pytest.mark.slow
async def test_the_floor_is_measured_with_an_echo_server(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("inspector.features.load.floor.SECONDS", 0.5)
    journal = Journal.unnamed(TARGET.as_header())
    run = LoadRun(
        StdioTarget((sys.executable, "-I", echo_server.__file__, "stdio")), Options(), LoadPlan((PlannedCall(echo_server.TOOL),)),
        journal,
    )  # fmt: skip
    await run.check()
    try:
        session = run.pool.connections[0].session
        floor = await measure_floor(run.target, run.options, run.plan, session)
    finally:
        journal.release()
    assert floor is not None
    assert floor.calls == 6  # 20 a second for 0.5 s; the first 0.2 s are warm-up
    assert 0 < floor.p50 < 1
