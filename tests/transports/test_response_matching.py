"""Matching of a raw message to the request that it answers."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.transports import response_matching
from inspector.transports.response_matching import answers, id_span

BIG = "x" * 70_000
IDS = st.integers(-5, 2**60) | st.text(max_size=8)


ORDERS = st.permutations(["jsonrpc", "id", "result"])


@given(IDS, IDS, ORDERS, st.sampled_from([None, 0, 1]), st.sampled_from(["", BIG]))
def test_an_answer_is_known_by_its_id_wherever_it_stands(id, other, order, indent, filler):
    """C-BASE-06: long answers are told by their ends, short ones are parsed; both come to the same."""
    whole = {"jsonrpc": "2.0", "id": id, "result": {"id": other, "text": filler, "method": "x", "result": {"id": id}}}
    raw = json.dumps({key: whole[key] for key in order}, indent=indent, ensure_ascii=False).encode()
    assert answers(raw, id)
    assert answers(raw, other) == (other == id)


@pytest.mark.parametrize("indent", [None, 2])
@pytest.mark.parametrize("order", ["jsonrpc id result", "result jsonrpc id", "result id jsonrpc"])
def test_a_large_answer_of_the_usual_kinds_is_not_parsed(monkeypatch, order, indent):
    monkeypatch.setattr(response_matching, "parsed", lambda raw: pytest.fail("parsed"))
    whole = {"jsonrpc": "2.0", "id": "a-1", "result": {"text": BIG, "id": 3}}
    raw = json.dumps({key: whole[key] for key in order.split()}, indent=indent).encode()
    assert answers(raw, "a-1")
    assert not answers(raw, 3)


@pytest.mark.parametrize(
    "raw",
    [
        b'{"jsonrpc":"2.0","method":"notifications/message","params":{"id":1,"result":{}}}',
        b'{"jsonrpc":"2.0","id":1,"method":"sampling/createMessage","result":1}',
        b'{"id":1,"method":"x"}',
        b'{"jsonrpc":"2.0","id":1,"result":{"text":"cut of',
        b'{"jsonrpc":"2.0","id":"1","result":{}}',
        b'{"jsonrpc":"2.0","id":true,"result":{}}',
        b'{"jsonrpc":"2.0","id":null,"error":{"code":1}}',
        b'{"jsonrpc":"2.0","id":[1],"result":{}}',
        b'{"jsonrpc":"2.0","id":1}',
        b"1",
        b"[]",
        b"[[1]]",
        b"",
        b"nothing",
        b"[" * 100_000,
    ],
)
def test_what_is_not_an_answer_to_1(raw):
    assert not answers(raw, 1)


@pytest.mark.parametrize(
    "raw",
    [
        b'{"jsonrpc":"2.0","id":1,"error":{"code":1}}',
        b' {"id":1.0,"result":null} ',
        b'\xef\xbb\xbf{"jsonrpc":"2.0","id":1,"result":{}}',
        b'[{"jsonrpc":"2.0","method":"x"},{"jsonrpc":"2.0","id":1,"result":{}}]',
        b'{"re\\u0073ult":{},"id":1}',
    ],
)
def test_what_is_an_answer_to_1(raw):
    assert answers(raw, 1)


def test_a_large_answer_that_broke_off_is_no_answer():
    assert not answers(b'{"jsonrpc":"2.0","id":1,"result":{"text":"' + BIG.encode(), 1)


def test_an_id_inside_a_string_at_the_end_is_not_taken():
    raw = json.dumps({"result": {"a": ',"id":1}'}}).encode()
    assert id_span(raw) is None
    assert id_span(b'{"result":{},"x\\"id":1}') is None
