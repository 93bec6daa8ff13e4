"""Messages are read as leniently as can be, and nothing about them is altered on the way."""

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.protocol import jsonrpc
from inspector.protocol.jsonrpc import NotJson, Shape

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)


@pytest.fixture(params=["standard library", "fast"])
def parse(request):
    parser = jsonrpc.Parser()
    if request.param == "fast":
        parser.warm()
    return parser.parse


def test_big_integers_are_exact(parse):
    assert parse(b'{"id": 123456789012345678901234567890}') == {"id": 123456789012345678901234567890}


def test_what_json_forbids_but_servers_send_is_read(parse):
    assert math.isnan(parse(b'{"a": NaN}')["a"])
    assert parse(b'{"a": 1E400}') == {"a": math.inf}
    assert parse(b'{"a": "\\ud800"}') == {"a": "\ud800"}
    assert parse(b'\xef\xbb\xbf{"a": 1}') == {"a": 1}
    assert parse(b'{"a": 1}\r') == {"a": 1}
    assert parse(b'{"a": 1, "a": 2}') == {"a": 2}


def test_invalid_utf8_becomes_replacement_characters_in_the_value_only(parse):
    assert parse(b'{"a": "\xff"}') == {"a": "�"}


def test_unicode_line_separators_are_plain_characters(parse):
    text = "\u2028\u2029\u0085"
    assert parse(json.dumps({"a": text}, ensure_ascii=False).encode()) == {"a": text}


@pytest.mark.parametrize("raw", [b"", b"hello", b'{"a":', b"{} {}", b"'x'", b"\x00"])
def test_what_is_no_json_says_why(parse, raw):
    with pytest.raises(NotJson, match=r"."):
        parse(raw)


def test_deep_nesting_is_an_answer_and_no_crash(parse):
    with pytest.raises(NotJson, match="nested too deeply"):
        parse(b"[" * 200_000 + b"]" * 200_000)


def test_an_integer_of_five_thousand_digits_is_refused_in_words():
    with pytest.raises(NotJson, match="more than 4,300 digits"):
        jsonrpc._lenient(b'{"a": ' + b"9" * 5000 + b"}")


def test_the_fast_parser_is_taken_once_there_are_many_messages():
    parser = jsonrpc.Parser()
    assert parser.parse(b'{"a": 1}') == {"a": 1}
    assert parser.fast is None
    large = json.dumps({"a": "x" * 3_000_000}).encode()
    assert len(parser.parse(large)["a"]) == 3_000_000
    assert parser.fast is not None


@given(json_values)
def test_both_parsers_read_the_same(value):
    raw = json.dumps(value).encode()
    fast = jsonrpc.Parser()
    fast.warm()
    assert fast.parse(raw) == jsonrpc._lenient(raw) == value


@given(json_values)
def test_encoding_is_one_line_and_exact(value):
    raw = jsonrpc.encode(value)
    assert b"\n" not in raw
    assert json.loads(raw) == value


def test_a_lone_surrogate_goes_out_as_the_escape_it_came_as():
    assert jsonrpc.encode({"a": "\ud800"}) == b'{"a":"\\ud800"}'


@pytest.mark.parametrize(
    ("message", "shape"),
    [
        ({"method": "m", "id": 1}, Shape.REQUEST),
        ({"method": "m", "id": "1"}, Shape.REQUEST),
        ({"method": "m", "id": None}, Shape.NOTIFICATION),
        ({"method": "m"}, Shape.NOTIFICATION),
        ({"method": 7, "id": 1}, Shape.NONE),
        ({"id": 1, "result": None}, Shape.RESULT),
        ({"id": 1, "error": {"code": 1}}, Shape.ERROR),
        ({"id": 1, "error": None}, Shape.ERROR),
        ({"id": 1, "error": None, "result": {}}, Shape.RESULT),
        ({"id": 1, "error": {}, "result": {}}, Shape.ERROR),
        ([{"method": "m"}], Shape.BATCH),
        ([], Shape.NONE),
        ({}, Shape.NONE),
        ("text", Shape.NONE),
        (None, Shape.NONE),
    ],
)
def test_shapes(message, shape):
    assert jsonrpc.shape_of(message) is shape


def test_ids_of_both_types_are_told_apart():
    """C-BASE-02."""
    assert jsonrpc.id_key(1) != jsonrpc.id_key("1")
    assert jsonrpc.id_key(True) is None
    assert jsonrpc.id_key({"a": 1}) is None


def test_objects_that_we_make():
    assert jsonrpc.request(1, "m") == {"jsonrpc": "2.0", "id": 1, "method": "m"}
    assert jsonrpc.notification("m", {"a": 1}) == {"jsonrpc": "2.0", "method": "m", "params": {"a": 1}}
    assert jsonrpc.result("x", {}) == {"jsonrpc": "2.0", "id": "x", "result": {}}
    assert jsonrpc.error(1, -1, "no", {"why": 1})["error"] == {"code": -1, "message": "no", "data": {"why": 1}}
