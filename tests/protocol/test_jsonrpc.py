"""Messages are read leniently and are not changed."""

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.protocol import jsonrpc
from inspector.protocol.exact_json.depth import LEFT_OUT, MAX_DEPTH
from inspector.protocol.jsonrpc import NotJson, Shape

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)


@pytest.fixture(params=["standard library", "fast"])
def parse(request):
    codec = jsonrpc.Codec()
    if request.param == "fast":
        codec.warm_up()
    return codec.parse


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
def test_what_is_not_json_says_why(parse, raw):
    with pytest.raises(NotJson, match=r"."):
        parse(raw)


def test_deep_nesting_is_an_answer_and_no_crash(parse):
    with pytest.raises(NotJson, match="nested too deeply"):
        parse(b"[" * 200_000 + b"]" * 200_000)


@pytest.mark.parametrize("levels", [1_000, 3_000, 9_000])
def test_what_is_too_deep_is_the_same_for_every_python(parse, levels):
    """Python 3.11 stops at about 1,000 levels, 3.13 at 10,000."""
    value = parse(b"[" * levels + b"1" + b"]" * levels)
    deepest = 0
    while isinstance(value, list):
        value, deepest = value[0], deepest + 1
    assert (deepest, value) == (MAX_DEPTH, LEFT_OUT)


def test_what_is_nested_too_deeply_is_omitted_and_the_rest_is_read(parse):
    deep = b'{"a":' * 20_000 + b"1" + b"}" * 20_000
    value = parse(b'\xef\xbb\xbf{"tools": [{"name": "one"}, {"name": "two", "inputSchema": ' + deep + b'}], "x": "]"}')
    assert [tool["name"] for tool in value["tools"]] == ["one", "two"]
    assert value["x"] == "]"
    schema, levels = value["tools"][1]["inputSchema"], 0
    while type(schema) is dict:
        schema, levels = schema["a"], levels + 1
    assert schema == LEFT_OUT
    assert levels == MAX_DEPTH - 3


def test_an_integer_of_five_thousand_digits_is_refused_in_words():
    with pytest.raises(NotJson, match="more than 4,300 digits"):
        jsonrpc._lenient(b'{"a": ' + b"9" * 5000 + b"}")


@pytest.mark.parametrize("item", [b"0,", b"[],", b'{"a":{}},'])
def test_more_values_than_a_message_may_hold_are_refused(parse, item):
    with pytest.raises(NotJson, match=r"^it holds more than 2,000,000 values$"):
        parse(b"[" + item * jsonrpc.MAX_VALUES + b"0]")


@pytest.mark.parametrize("byte", [b",", b"[", b"{"])
@pytest.mark.parametrize("more", [0, 1, jsonrpc._SPARSE - 1, jsonrpc._SPARSE, jsonrpc._SPARSE + 7])
def test_the_bytes_of_a_long_text_are_counted_like_bytes_count(byte, more):
    text = b"x" + (byte + b"yy") * more + b"z" * 100
    assert jsonrpc._count(text, byte, 1, len(text)) == text.count(byte, 1) == more


def test_a_table_in_one_string_is_one_value(parse, monkeypatch):
    monkeypatch.setattr(jsonrpc, "MAX_VALUES", 200)
    text = json.dumps([{"a": "1,2"}] * 500)
    assert parse(json.dumps({"text": text}).encode()) == {"text": text}


def test_the_fast_library_is_loaded_once_there_was_much_to_parse():
    codec = jsonrpc.Codec()
    assert codec.parse(b'{"a": 1}') == {"a": 1}
    assert not codec.warm
    large = json.dumps({"a": "x" * 3_000_000}).encode()
    assert len(codec.parse(large)["a"]) == 3_000_000
    assert codec.warm


def test_many_small_messages_count_too():
    codec = jsonrpc.Codec()
    for _ in range(20_000):
        codec.parse(b"{}")
    assert codec.warm


@given(json_values)
def test_both_parsers_read_the_same(value):
    raw = json.dumps(value).encode()
    fast = jsonrpc.Codec()
    fast.warm_up()
    assert fast.parse(raw) == jsonrpc._lenient(raw) == value


@given(json_values)
def test_both_libraries_write_the_same_value(value):
    fast = jsonrpc.Codec()
    fast.warm_up()
    assert json.loads(fast.encode(value)) == json.loads(jsonrpc.Codec().encode(value)) == value


@pytest.mark.parametrize(
    "value", ['\x00\x08\t\n\x0b\x0c\r\x1f "\\/\x7f\x85\u2028é😀', math.inf, -math.inf, math.nan, 10**40, 0.1]
)
def test_both_libraries_spell_it_alike(value):
    fast = jsonrpc.Codec()
    fast.warm_up()
    assert fast.encode(value) == jsonrpc.Codec().encode(value)


@pytest.mark.parametrize("warm", [True, False])
def test_a_message_nested_as_deeply_as_python_allows_goes_out(warm):
    codec = jsonrpc.Codec()
    if warm:
        codec.warm_up()
    value = json.loads("[" * 700 + "]" * 700)
    assert codec.encode(value) == b"[" * 700 + b"]" * 700


@given(json_values)
def test_encoding_is_one_line_and_exact(value):
    """C-BASE-01, C-STDIO-02."""
    raw = jsonrpc.encode(value)
    assert b"\n" not in raw
    assert json.loads(raw) == value


def test_a_lone_surrogate_goes_out_as_the_escape_it_came_as():
    codec = jsonrpc.Codec()
    assert codec.encode({"a": "\ud800"}) == b'{"a":"\\ud800"}'
    codec.warm_up()
    assert codec.encode({"a": "\ud800"}) == b'{"a":"\\ud800"}'


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


def test_ids_of_both_types_are_reported_apart():
    """C-BASE-02."""
    assert jsonrpc.id_key(1) != jsonrpc.id_key("1")
    assert jsonrpc.id_key(True) is None
    assert jsonrpc.id_key({"a": 1}) is None


def test_objects_that_we_make():
    """C-BASE-01, C-BASE-05, C-BASE-06."""
    assert jsonrpc.request(1, "m") == {"jsonrpc": "2.0", "id": 1, "method": "m"}
    assert jsonrpc.notification("m", {"a": 1}) == {"jsonrpc": "2.0", "method": "m", "params": {"a": 1}}
    assert jsonrpc.result("x", {}) == {"jsonrpc": "2.0", "id": "x", "result": {}}
    assert jsonrpc.error(1, -1, "no", {"why": 1})["error"] == {"code": -1, "message": "no", "data": {"why": 1}}


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (1, "1"),
        ("1", '"1"'),
        (None, "null"),
        ({"é": [True]}, '{"é":[true]}'),
        ("\ud800", '"\\ud800"'),
        ("x" * 50, '"' + "x" * 18 + "…"),
        (list(range(50)), "[0,1,2,3,4,5,6,7,8,…"),
    ],
)
def test_an_excerpt_is_json_of_a_bounded_length(value, text):
    assert jsonrpc.excerpt(value, 20) == text


def test_an_excerpt_of_what_cannot_be_written_says_so():
    deep = []
    for _ in range(100_000):
        deep = [deep]
    assert jsonrpc.excerpt(deep, 60) == "a value nested too deeply to show"
