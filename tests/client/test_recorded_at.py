"""A recording at any moment: what the session knew then, wherever one comes from."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest

from inspector.client.recorded_session import RecordedSession
from inspector.client.state import recorded_tracks
from inspector.client.state.catalog import KINDS
from inspector.client.state.recorded_tracks import BLOCK, Budget, Checkpoints, RequestsInFlight
from inspector.client.state.steps import connection_steps
from inspector.journal.journal import Journal
from tests.replay.written_recordings import Tape
from tests.tui.recorded_conversation import Talk

FORM = {"message": "sure?", "requestedSchema": {"type": "object", "properties": {}}}


def a_session() -> Tape:
    """A bit of everything that a recording says about the state of its session, legacy era."""
    tape = Tape()
    tape.ask("initialize", {})
    tape.answer({"protocolVersion": "2025-11-25", "serverInfo": {"name": "first"}, "capabilities": {"tools": {}}})
    tape.event("life", event="ready")
    for cursor in ({}, {"cursor": "2"}):
        tape.ask("tools/list", cursor)
        tape.answer({"tools": [{"name": f"tool-{cursor.get('cursor', 1)}"}]} | ({} if cursor else {"nextCursor": "2"}))
    tape.ask("resources/list")
    tape.answer({"resources": [{"uri": "x:1"}]})
    for uri in ("x:1", "x:2"):
        tape.ask("resources/subscribe", {"uri": uri})
        tape.answer({})
    tape.tell("notifications/resources/updated", {"uri": "x:1"})
    tape.ask("tools/call", {"name": "tool-1", "_meta": {"progressToken": "p"}})
    call = tape.id
    for step in (1, 2, 3):
        tape.tell("notifications/progress", {"progressToken": "p", "progress": step, "total": 3})
    for answer in ({"action": "accept", "content": {}}, {"action": "decline"}, {"action": "cancel"}):
        tape.message("recv", {"id": f"q{answer['action']}", "method": "elicitation/create", "params": FORM})
        tape.message("send", {"id": f"q{answer['action']}", "result": answer})
    tape.message("recv", {"id": "never", "method": "sampling/createMessage", "params": {}})
    tape.message("recv", {"id": "back", "method": "sampling/createMessage", "params": {}})
    tape.tell("notifications/cancelled", {"requestId": "back"})
    tape.answer({"content": []}, id=call)
    tape.ask("resources/unsubscribe", {"uri": "x:2"})
    tape.answer({})
    tape.tell("notifications/resources/updated", {"uri": "x:1"})
    tape.ask("tools/list")
    tape.answer({"tools": [{"name": "renewed"}]})
    tape.ask("tools/call", {"name": "lost"})
    gone = tape.last
    tape.event("life", event="timeout", **{"for": gone})
    tape.ask("tools/call", {"name": "crash"})
    tape.event("life", event="exit", status=1)
    tape.event("life", event="lost", by="server", why="gone", **{"for": tape.last - 1})
    tape.event("life", event="lost", error={"code": "exited", "message": "gone", "status": 1, "stderr": ["boom"]})
    tape.event("life", event="reopen")
    tape.event("life", event="failed", error={"code": "spawn", "message": "no such program"})
    tape.event("life", event="reopen")
    for status in ("working", "input_required", "completed"):
        tape.ask("tasks/get", {"taskId": "t"})
        tape.answer({"taskId": "t", "status": status})
    tape.tell("notifications/tasks/status", {"taskId": "u", "status": "working"})
    tape.ask("initialize", {})
    tape.answer({"protocolVersion": "2025-06-18", "serverInfo": {"name": "second"}, "capabilities": {}})
    return tape


def state(session: RecordedSession) -> dict[str, Any]:
    return {
        "connection": (session.phase, session.error and session.error.as_json()),
        "server": session.server.raw,
        **{name: session.catalog[name].items for name in KINDS},
        "loading": [name for name in KINDS if session.catalog[name].loading],
        "uris": dict(session.subscriptions.uris),
        "counts": dict(session.subscriptions.counts),
        "tasks": [(task.id, task.status, task.done, task.report.n) for task in session.tasks.items.values()],
        "questions": [(question.n, question.state, question.answer) for question in session.inbox.questions],
    }


def opened(journal: Journal, at: int | None = None) -> RecordedSession:
    session = RecordedSession(journal, Path("a.mcp.jsonl"))
    session.at(at)
    settle(session)
    return session


def settle(session: RecordedSession, limit: int = 50_000) -> None:
    while session.advance(limit):
        pass
    assert not session.catching_up


def test_the_connection_of_a_moment_is_that_of_the_live_session(tmp_path: Path) -> None:
    tape = a_session()
    session = opened(tape.journal(tmp_path / "a.mcp.jsonl"))
    seen = []
    for n in range(tape.last + 1):
        session.at(n)
        settle(session)
        what = (session.phase, session.error.message if session.error is not None else "")
        seen += [what] if seen[-1:] != [what] else []
    assert seen == [("ready", ""), ("lost", "gone"), ("ready", ""), ("failed", "no such program"), ("ready", "")]


def test_connections_of_a_check_that_are_lost_are_not_that_of_a_session(tmp_path: Path) -> None:
    tape = a_session()
    lost = next(at for at, line in enumerate(tape.lines) if '"stderr"' in line)
    tape.lines[0] = json.dumps({**json.loads(tape.lines[0]), "purpose": "check"})
    assert opened(tape.journal(tmp_path / "a.mcp.jsonl"), lost).phase == "ready"


def test_wherever_one_comes_from_a_moment_is_what_the_recording_had_told_by_then(tmp_path: Path) -> None:
    tape = a_session()
    journal = tape.journal(tmp_path / "whole.mcp.jsonl")
    expected = []
    for n in range(tape.last + 1):
        cut = Tape()
        cut.lines = tape.lines[: n + 1]
        expected.append(state(opened(cut.journal(tmp_path / "cut.mcp.jsonl"))))
        # At the end of a recording a question is lost that before it may yet be answered.
        expected[-1]["questions"] = [(m, "open" if s == "lost" else s, a) for m, s, a in expected[-1]["questions"]]
    session = opened(journal)
    chosen = random.Random(7)
    moves = [*range(tape.last + 1), *range(tape.last, -1, -1), *(chosen.randint(0, tape.last) for _ in range(200))]
    for n in moves:
        session.at(n)
        settle(session, limit=5)
        assert session.upto == n
        assert state(session) == expected[n], n


def test_checkpoints_lead_to_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Checkpoints.__init__, "__defaults__", (1,))
    test_wherever_one_comes_from_a_moment_is_what_the_recording_had_told_by_then(tmp_path)


def test_little_time_for_each_turn_leads_to_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Budget.__init__, "__defaults__", (0.0,))
    test_wherever_one_comes_from_a_moment_is_what_the_recording_had_told_by_then(tmp_path)


def test_at_the_end_it_stays_there_and_elsewhere_it_stays_too(tmp_path: Path) -> None:
    tape = a_session()
    path = tmp_path / "a.mcp.jsonl"
    session = opened(tape.journal(path))
    tape.ask("tools/list")
    tape.answer({"tools": [{"name": "newest"}]})
    tape.write(path)
    session.journal.refresh()
    settle(session)
    assert (session.upto, session.at_end) == (tape.last, True)
    assert session.catalog.tools.items == [{"name": "newest"}]
    session.at(5)
    tape.tell("notifications/message")
    tape.write(path)
    session.journal.refresh()
    settle(session)
    assert (session.upto, session.at_end) == (5, False)
    session.at(None)
    settle(session)
    assert session.upto == tape.last
    assert session.now == session.journal.index.time(len(session.journal))


def test_calls_in_flight_with_the_progress_of_the_moment(tmp_path: Path) -> None:
    tape = Tape()
    tape.ask("tools/call", {"name": "slow", "_meta": {"progressToken": 1}})
    slow = tape.last
    tape.at = 1.0
    tape.tell("notifications/progress", {"progressToken": 1, "progress": 10, "total": 40, "message": "on it"})
    first = tape.last
    tape.ask("resources/read", {"uri": "x:1"})
    read = tape.last
    tape.answer({"contents": []})
    tape.tell("notifications/progress", {"progressToken": 1, "progress": 20, "total": 40})
    second = tape.last
    tape.ask("tools/call", {"name": "stopped"})
    stopped = tape.last
    tape.tell("notifications/cancelled", {"requestId": tape.id}, dir="send")
    tape.answer({"content": []}, id=1)
    journal = tape.journal(tmp_path / "a.mcp.jsonl")
    session = opened(journal)
    flying = []
    for n in range(journal.index.count + 1):
        session.at(n, n * 1_000_000)
        settle(session)
        flying.append(session.in_flight())
        calls = {request: session.call_in_flight(request) for request in (slow, read, stopped)}
        assert [request for request, call in calls.items() if call is not None] == flying[-1]
        assert [call.n for call in session.calls_in_flight()] == flying[-1]
    assert flying == [
        [], [slow], [slow], [slow, read], [slow], [slow], [slow, stopped], [slow], [],
    ]  # fmt: skip
    progress = {}
    for n in (first, second, stopped, first, slow):
        session.at(n, 2_500_000)
        call = session.call_in_flight(slow)
        progress[n] = None if call.progress is None else (call.progress.value, call.progress.message)
        assert (call.name, call.elapsed, call.fate) == ("slow", 2.5, "pending")
    assert progress == {slow: None, first: (10, "on it"), second: (20, None), stopped: (20, None)}
    session.at(None)
    assert session.in_flight() == []


def test_calls_in_flight_are_known_anywhere_in_a_long_recording() -> None:
    journal = Journal.unnamed({})
    request = {"jsonrpc": "2.0", "id": 0, "method": "tools/call", "params": {}}
    for id in range(3):
        journal.record_sent("stdio", b"{}", {**request, "id": id})
    note = b'{"jsonrpc":"2.0","method":"notifications/message"}'
    journal.record_received("stdio", [note] * (2 * BLOCK))
    journal.record_received("stdio", [b'{"jsonrpc":"2.0","id":1,"result":{}}', *[note] * BLOCK])
    flight = RequestsInFlight(journal)
    while not flight.advance(journal.index.count, 1000):
        pass
    assert flight.at(2) == [1, 2]
    assert flight.at(BLOCK + 5) == [1, 2, 3]
    assert flight.at(2 * BLOCK + 3) == [1, 2, 3]
    assert flight.at(2 * BLOCK + 4) == [1, 3]
    assert flight.at(1 << 30) == [1, 3]


def test_wishes_for_input_are_questions_with_the_answer_that_came_later(tmp_path: Path) -> None:
    tape = Tape()
    tape.ask("server/discover", {})
    tape.answer({"supportedVersions": ["2026-07-28"], "serverInfo": {"name": "x"}, "capabilities": {}})
    tape.ask("tools/call", {"name": "pay"})
    call = tape.last
    asked = {"method": "elicitation/create", "params": FORM}
    wish = {"resultType": "input_required", "requestState": "s", "inputRequests": {"a": asked, "b": {"method": 7}}}
    asking = tape.answer(wish)
    tape.ask("tools/call", {"name": "other", "note": "input_required"})
    tape.answer({"content": [{"type": "text", "text": "not input_required"}]})
    reply = tape.ask("tools/call", {"name": "pay", "inputResponses": {"a": {"action": "accept", "content": {"x": 1}}}})
    tape.answer({"content": []})
    session = opened(tape.journal(tmp_path / "a.mcp.jsonl"))
    for n in (asking, reply - 1, reply, asking, tape.last):
        session.at(n)
        settle(session)
        (question,) = session.inbox.questions
        assert (question.n, question.id, question.parent) == (asking, "a", call)
        assert question.state == ("answered" if n >= reply else "open")
        assert session.reply_to(question) == (reply, "answered")
    session.at(call)
    settle(session)
    assert session.inbox.questions == []


def test_a_hostile_recording_is_read_a_bit_at_a_time_and_only_what_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    journal = Journal.unnamed({})
    lines = [b'{"jsonrpc":"2.0","id":%d,"method":"elicitation/create","params":{}}' % id for id in range(3000)]
    lines += [
        b'{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"%d"}}' % id for id in range(3000)
    ]
    journal.record_received("stdio", lines)
    session = RecordedSession(journal, Path("a"))
    reads: list[int] = []
    read = journal.event
    monkeypatch.setattr(journal, "event", lambda n: reads.append(n) or read(n))
    settle(session)
    assert len(session.inbox.questions) == 500
    assert len(reads) <= 500 + 3000
    reads.clear()
    session.at(5999)
    settle(session)
    assert len(reads) <= recorded_tracks.Checkpoints()._step * 2
    session.at(100)
    settle(session)
    assert len(session.inbox.questions) == 100


def test_the_steps_of_the_connection_are_those_of_the_newest_one_at_the_moment(tmp_path: Path) -> None:
    tape = Tape()
    first = tape.event("life", event="spawn", argv=["a"])
    second = tape.event("life", event="reopen")
    tape.event("life", event="spawn", argv=["a"])
    journal = tape.journal(tmp_path / "a.mcp.jsonl")
    assert [step.n for step in connection_steps(journal, first)] == [first]
    assert connection_steps(journal, second - 1) == connection_steps(journal, first)
    assert [step.n for step in connection_steps(journal)] == [tape.last]
    assert connection_steps(journal, 0) == []


def test_the_steps_of_a_connection_that_was_made_again_count_from_its_own_beginning() -> None:
    talk = Talk()
    for reopened, spawned in ((None, 5), (60_000, 60_200)):
        if reopened is not None:
            talk.at(reopened).journal.record_life("", "reopen")
        talk.at(spawned).journal.record_life("stdio", "spawn", argv=["a"])
    assert [step.t for step in connection_steps(talk.journal, 1)] == [5_000]
    assert [step.t for step in connection_steps(talk.journal)] == [200_000]


@pytest.mark.parametrize(
    ("info", "expected"), [({"name": "shop", "version": "4.2"}, "shop 4.2"), ({"name": "shop", "version": ""}, "shop")]
)
def test_a_step_names_the_server_with_the_version_that_it_tells(info: dict[str, str], expected: str) -> None:
    talk = Talk()
    talk.send({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {}})
    talk.receive({"jsonrpc": "2.0", "id": 1, "result": {"serverInfo": info, "protocolVersion": "2025-11-25"}})
    assert connection_steps(talk.journal)[-1].detail == f"initialize: {expected}, 2025-11-25"


def test_checkpoints_are_few_and_small() -> None:
    kept: Checkpoints[int] = Checkpoints(1)
    for position in range(5000):
        if kept.due(position):
            kept.keep(position, position, 1)
    assert len(kept._kept) <= Checkpoints.MAX_COUNT
    at, value = kept.before(3000) or (0, 0)
    assert 3000 - 512 <= at == value <= 3000
    assert kept.before(0) is None
    kept.keep(9000, 9000, Checkpoints.ROOM + 1)
    assert sum(size for _, _, size in kept._kept) <= Checkpoints.ROOM
