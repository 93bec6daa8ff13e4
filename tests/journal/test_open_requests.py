"""Open requests: later messages are assigned to them."""

import pytest

from inspector.journal.format import Dir
from inspector.journal.index import OpenRequests


def call(id, token=None):
    meta = {} if token is None else {"_meta": {"progressToken": token}}
    return {"id": id, "method": "tools/call", "params": {"name": "t", **meta}}


@pytest.fixture
def requests():
    return OpenRequests()


def test_an_answer_is_for_the_open_request_with_its_id_and_the_next_one_for_the_same(requests):
    requests.sent(1, 0, "stdio", call(7))
    assert requests.is_waiting(0, 7)
    assert not requests.is_waiting(1, 7), "another connection"
    assert requests.answer(Dir.RECV, 0, 7) == (0, True), "the other direction"
    assert requests.answer(Dir.SEND, 0, 7) == (1, False)
    assert requests.answer(Dir.SEND, 0, 7) == (1, True)
    assert not requests.is_waiting(0, 7)


def test_nothing_is_about_a_call_that_has_its_answer(requests):
    requests.sent(1, 0, "stdio", call(7, token="t"))
    assert (requests.around("stdio", 0), requests.with_token(0, "t"), requests.with_id(Dir.SEND, 0, 7)) == (1, 1, 1)
    requests.answer(Dir.SEND, 0, 7)
    assert (requests.around("stdio", 0), requests.with_token(0, "t"), requests.with_id(Dir.SEND, 0, 7)) == (0, 0, 0)


def test_progress_may_still_come_for_a_call_that_was_given_up(requests):
    requests.sent(1, 0, "stdio", call(7, token="t"))
    requests.end(1, 0, keeps_token=True)
    assert (requests.around("stdio", 0), requests.with_token(0, "t")) == (0, 1)


def test_a_message_is_inside_the_only_open_call_or_that_of_its_channel(requests):
    channel = "post-2"
    requests.sent(1, 0, "stdio", call(1))
    requests.sent(2, 0, channel, call(2))
    assert requests.around("stdio", 0) == 0, "there are two"
    assert requests.around(channel, 0) == requests.of_channel(channel, 0) == 2
    assert requests.around(channel, 1) == 0, "another connection"
    requests.begin_connection(0)
    requests.sent(3, 0, "stdio", call(3))
    assert requests.around("stdio", 0) == 3, "the others belong to the connection before"


def test_its_state_can_be_saved(requests):
    requests.sent(1, 0, "stdio", call(1, token="t"))
    requests.sent(2, 0, "stdio", call(2))
    requests.answer(Dir.SEND, 0, 2)
    requests.wait(3, Dir.RECV, 0, "q")
    again = OpenRequests()
    again.load(requests.saved())
    assert again.saved() == requests.saved()
    assert again.answer(Dir.SEND, 0, 1) == (1, False)
    assert again.answer(Dir.SEND, 0, 2) == (2, True)
