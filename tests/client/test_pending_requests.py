"""The deadline of a call and the time that its parts take."""

import pytest

from inspector.client.engine.pending_requests import Call, Deadline, PendingRequests


class Clock:
    """A loop whose time a test sets."""

    now = 100.0

    def time(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def deadline(clock):
    return Deadline(clock.time, 60.0, 300.0)


def test_a_call_times_out_after_silence_and_after_the_total_limit(clock, deadline):
    assert deadline.due == 160
    clock.now += 50
    deadline.alive()
    assert deadline.due == 210
    clock.now += 200
    deadline.alive()
    assert deadline.due == 400, "the total limit"


def test_more_time_moves_both_limits(clock, deadline):
    deadline.extend(30)
    assert deadline.due == 190
    clock.now += 320
    deadline.alive()
    assert deadline.due == 430


def test_paused_time_does_not_count_and_overlapping_pauses_count_once(clock, deadline):
    clock.now += 10
    deadline.pause()
    clock.now += 5
    deadline.pause()
    clock.now += 1000
    assert deadline.paused
    assert deadline.due == clock.now + 60, "not while paused"
    assert deadline.paused_before(clock.now) == 1005
    deadline.resume()
    deadline.resume()
    assert not deadline.paused
    assert deadline.due == 100 + 60 + 1005
    deadline.alive()
    clock.now += 1000
    deadline.alive()
    assert deadline.due == 100 + 300 + 1005, "nor for the total limit"
    assert deadline.paused_before(clock.now) == 1005


def pending_requests():
    return PendingRequests(
        lambda call, reason: None,
        lambda: None,
        lambda call: "",
        lambda call, n, message: None,
        None,
        lambda error: None,
    )


class Loop(Clock):
    def call_at(self, due, function, *arguments):
        pass


def test_the_server_time_of_a_call_is_without_that_of_a_person(clock):
    call = Call("tools/call", None, 60.0, 300.0, clock)
    clock.now += 1
    call.deadline.pause()
    clock.now += 30
    assert call.server_time == 1
    call.deadline.resume()
    clock.now += 2
    assert (call.server_time, call.elapsed, call.person_time) == (3, 33, 30)


def test_the_server_time_begins_again_with_each_request_of_a_call():
    loop, table = Loop(), pending_requests()
    call = Call("tools/call", None, 60.0, 300.0, loop)
    table.add(call)
    loop.now += 3
    call.deadline.pause()
    loop.now += 10
    table.rename(call, 7)
    loop.now += 5
    assert call.server_time == 0, "a person still answers"
    call.deadline.resume()
    loop.now += 2
    assert call.server_time == 2
    assert (call.elapsed, call.person_time) == (20, 15)
    table.done(call, {})
    loop.now += 50
    assert (call.server_time, call.elapsed, call.person_time) == (2, 20, 15), "until its end"
