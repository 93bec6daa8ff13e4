"""Ids and tokens of a message are replaced, and nothing else of it changes."""

import json

from hypothesis import given
from hypothesis import strategies as st

from inspector.tap.bridge import RenamedRequest, with_answer_for, with_names

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
)
IDS = st.integers() | st.text()


def test_a_request_has_another_id_and_token_and_the_text_stays():
    before = b'{ "id" :7,"params":{"id":7,"_meta":{"progressToken": "a" , "b":[{"id":7}]}},"method":"x"}'
    after = b'{ "id" :"tap-1","params":{"id":7,"_meta":{"progressToken": "tap-1" , "b":[{"id":7}]}},"method":"x"}'
    assert with_names(before, "tap-1") == after


def test_what_returns_has_the_client_s_own():
    renamed = RenamedRequest("tap-1", 7, "a")
    answer = b'{"result":{"id":"tap-1","text":"tap-1"},  "id":"tap-1"}'
    assert with_answer_for(answer, renamed) == b'{"result":{"id":"tap-1","text":"tap-1"},  "id":7}'
    progress = b'{"method":"notifications/progress","params":{"progressToken":"tap-1","progress":1}}'
    assert with_answer_for(progress, renamed) == progress.replace(b'"tap-1"', b'"a"')
    event = b'{"method":"m","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":"tap-1"}}}'
    assert with_answer_for(event, renamed) == event.replace(b'"tap-1"', b"7")


def test_what_is_not_json_stays():
    for data in (b"", b"\xff", b'{"id":', b'{"id":"tap-1"'):
        assert with_answer_for(data, RenamedRequest("tap-1", 7, None)) == data


@given(IDS, st.dictionaries(st.text(), VALUES, max_size=4))
def test_there_and_back_is_the_same_message(id, params):
    message = {"jsonrpc": "2.0", "id": id, "method": "m", "params": params | {"_meta": {"progressToken": id}}}
    asked = json.loads(with_names(json.dumps(message).encode(), "tap-1"))
    assert asked == message | {"id": "tap-1", "params": params | {"_meta": {"progressToken": "tap-1"}}}
    answer = {"jsonrpc": "2.0", "result": params, "id": "tap-1"}
    assert json.loads(with_answer_for(json.dumps(answer).encode(), RenamedRequest("tap-1", id, id))) == answer | {
        "id": id
    }
