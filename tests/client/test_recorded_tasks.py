"""The tasks of a recording: by which request each was made, and its result."""

import json

import pytest

from inspector.client.recorded_session import RecordedSession
from inspector.client.state import recorded_tracks
from inspector.journal.journal import Journal


class Tape:
    """A recording that is written message by message."""

    def __init__(self, path):
        self.path = path
        self.journal = Journal.unnamed({})
        self.id = 0

    def exchange(self, method, params, result):
        """A request and its answer; returns the request's number."""
        self.id += 1
        request = {"jsonrpc": "2.0", "id": self.id, "method": method, "params": params}
        n = self.journal.record_sent("stdio", json.dumps(request).encode(), request)
        answer = {"jsonrpc": "2.0", "id": self.id, "result": result}
        self.journal.record_received("stdio", [json.dumps(answer).encode()])
        return n

    def tasks(self):
        session = RecordedSession(self.journal, self.path)
        while session.advance():
            pass
        return session.tasks.items


def state(status="working", **more):
    return {"taskId": "t", "status": status, **more}


@pytest.mark.parametrize("made", [{"task": state()}, {**state(), "resultType": "task"}])
def test_a_task_knows_the_request_that_made_it(tmp_path, made):
    tape = Tape(tmp_path / "a")
    n = tape.exchange("tools/call", {"name": "count"}, made)
    tape.exchange("tools/call", {"name": "other"}, {"content": []})
    tape.exchange("tasks/get", {"taskId": "t"}, state("completed", result={"content": []}))
    [task] = tape.tasks().values()
    assert (task.call_n, task.title, task.method) == (n, "count", "tools/call")
    assert task.result == {"content": []}


@pytest.mark.parametrize("made", [{}, {"task": 7}, {"taskId": ["t"]}, {"task": {"taskId": "another"}}, [], None])
def test_a_task_of_another_session_stays_so(tmp_path, made):
    tape = Tape(tmp_path / "a")
    tape.exchange("tools/call", {"name": ["odd"]}, made)
    tape.exchange("tasks/list", {}, {"tasks": [state()]})
    tape.exchange("tasks/get", {"taskId": "t"}, state())
    [task] = tape.tasks().values()
    assert (task.call_n, task.title) == (0, "")


def test_no_more_is_read_than_is_worth_it(tmp_path, monkeypatch):
    monkeypatch.setattr(recorded_tracks, "READ", 3)
    tape = Tape(tmp_path / "a")
    tape.exchange("tools/call", {"name": "count"}, {"task": state()})
    for _ in range(3):
        tape.exchange("tools/call", {"name": "other"}, {"content": []})
    tape.exchange("tasks/get", {"taskId": "t"}, state())
    [task] = tape.tasks().values()
    assert task.call_n == 0
