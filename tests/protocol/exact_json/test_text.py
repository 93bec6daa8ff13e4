"""Exact JSON text: unchanged, in linear time, also for hostile documents (RFC 8259, RFC 6901)."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.protocol.exact_json import text
from inspector.protocol.exact_json.text import pretty, problems, tree
from inspector.protocol.exact_json.tokens import JsonSyntaxError, JsonToken, tokens, unquote

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=6),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner, max_size=4),
    max_leaves=12,
)
JSON_LIKE = st.text(st.sampled_from('{}[]",:\\ \n\r\t0123-.eEtruefalsn"ud8\u2028\ufeff'), max_size=40)
DEEP = 100_000


def kinds(raw: str) -> list[tuple[str, str]]:
    return [(problem.kind, problem.where) for problem in problems(raw)]


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        ('{"a":1,"b":[1,2.5,true,null],"c":"2026-01-02"}', []),
        ('{"a":1,"b":{"x":1,"x":2},"a":3}', [("duplicate-key", "/b/x"), ("duplicate-key", "/a")]),
        ('{"a":1,"\\u0061":2}', [("duplicate-key", "/a")]),
        ('[[{"a/b~":1,"a/b~":2}]]', [("duplicate-key", "/0/0/a~1b~0")]),
        ("[NaN,-Infinity]", [("nan", "/0"), ("nan", "/1")]),
        ("[9007199254740991,9007199254740992,-9007199254740993]", [("big-integer", "/1"), ("big-integer", "/2")]),
        ("1" * 5000, [("big-integer", "")]),
        ("[1E400,-1e999,1E-400,1E99]", [("overflow", "/0"), ("overflow", "/1"), ("underflow", "/2")]),
        ("[-0,-0.0,-0.5,0,-0e1]", [("negative-zero", "/0"), ("negative-zero", "/1"), ("negative-zero", "/4")]),
        ("[0.1,3.14159265358979323846,0.10000000000000000]", [("precision", "/1")]),
        ('{"id":"\\ud83d\\ude00"}', []),
        ('{"id":["\\ud800","\\uDC00","\\ud800\\ud800"]}', [("lone-surrogate", f"/id/{n}") for n in (0, 1, 2, 2)]),
        ('["\\\\ud800"]', []),
        ('["a\u2028b\u2029","\x85"]', [("line-separator", "/0")] * 2 + [("line-separator", "/1")]),
        ("\ufeff{}", [("bom", "")]),
        ('{"a":1}\r', [("carriage-return", "")]),
        ('["a\rb"]', [("control", "/0")]),
        ('["a\x01b\tc"]', [("control", "/0"), ("control", "/0")]),
        ('["\\x"]', [("escape", "/0")]),
        ('["\\u12"]', [("escape", "/0")]),
        ("{} {}", [("trailing", "")]),
        ('{"a":[1,2', [("syntax", "/a/1")]),
        ('{"a" 1}', [("syntax", "/")]),
        ("", [("syntax", "")]),
        ("[1,]", [("syntax", "/0")]),
        ("[01]", [("syntax", "/-1")]),
    ],
)
def test_problems_are_found_with_their_path(raw: str, expected: list[tuple[str, str]]) -> None:
    assert kinds(raw) == expected


def test_a_broken_text_says_where_and_why() -> None:
    assert [(problem.at, problem.detail) for problem in problems('{"a":tru}')] == [(5, "a value was expected")]
    assert problems('["abc')[0].detail == "a string without its closing quote"
    assert problems('["a":1]')[0].detail == "a key where a value was expected"
    assert problems('{"a"}')[0].detail == "a key without its colon"
    assert problems("[1 2]")[0].at == 3
    assert problems("{")[0].detail == "the text ends too early"
    assert problems("[}")[0].at == 1
    assert problems("[1}")[0].at == 2
    assert problems('{"a":1]')[0].at == 6


@given(JSON)
def test_what_python_writes_has_no_syntax_problem(value: Any) -> None:
    for raw in (json.dumps(value), json.dumps(value, ensure_ascii=False, indent=1)):
        assert not {problem.kind for problem in problems(raw)} & {"syntax", "trailing", "duplicate-key", "control"}


@given(JSON_LIKE)
def test_the_grammar_is_that_of_a_strict_parser(raw: str) -> None:
    try:
        json.loads(raw.removeprefix("\ufeff"))
        valid = True
    except ValueError:
        valid = False
    kinds = {problem.kind for problem in problems(raw, limit=1000)}
    assert valid == (not kinds & {"syntax", "trailing", "control", "escape"})


def test_the_number_of_problems_is_bounded() -> None:
    assert len(problems("[" + ",".join(["NaN"] * 5000) + "]")) == text.PROBLEM_LIMIT
    assert len(problems('["' + "\x01" * 5000 + '"]', limit=7)) == 7


@pytest.mark.slow
@pytest.mark.parametrize(
    "raw", ["[" * DEEP + "]" * DEEP, '{"a":' * 30_000 + "1" + "}" * 30_000, "[" * DEEP, '{"a":[' * 20_000]
)
def test_depth_is_no_danger(raw: str) -> None:
    problems(raw)
    laid_out = tree(raw)
    assert len(laid_out) >= 1
    deepest = len(laid_out) // 2
    assert len(laid_out.pointer(deepest)) >= 0
    laid_out.value(deepest)
    laid_out.line_of(laid_out.pointer(deepest))


@pytest.mark.slow
def test_indentation_has_a_bottom() -> None:
    lines = pretty("[" * 100_000 + "1" + "]" * 100_000)
    assert len(lines) == 200_001
    assert (lines[0], lines[100], lines[128]) == ("[", " " * 200 + "[", " " * 256 + "[")
    assert (lines[50_000], lines[100_000]) == (" " * 256 + "[", " " * 256 + "1")


def test_problems_deep_down_have_a_bounded_path() -> None:
    (problem,) = problems("[" * 1000 + "NaN" + "]" * 1000)
    assert len(problem.where) < 200
    assert "/…/" in problem.where


@pytest.mark.parametrize("raw", ['["' + "\\" * 200_001 + '"]', '["' + "\\u" * 100_000, '"' * 200_001, "[-" * 100_000])
def test_broken_strings_are_read_once(raw: str) -> None:
    assert problems(raw)
    assert tree(raw).error is not None


def test_pretty_keeps_every_spelling() -> None:
    raw = '{"a":1.0E+2,"a":-0,"b":[NaN,"\\ud800\\/"],"c":{},"d":[ ],"e":[[]]}'
    assert pretty(raw) == [
        "{",
        '  "a": 1.0E+2,',
        '  "a": -0,',
        '  "b": [',
        "    NaN,",
        '    "\\ud800\\/"',
        "  ],",
        '  "c": {},',
        '  "d": [],',
        '  "e": [',
        "    []",
        "  ]",
        "}",
    ]


@given(JSON, st.sampled_from([0, 20, 1000]))
def test_pretty_means_the_same(value: Any, inline: int) -> None:
    raw = json.dumps(value)
    assert json.loads("\n".join(pretty(raw, inline=inline))) == value


@given(JSON)
def test_pretty_is_what_python_indents(value: Any) -> None:
    assert pretty(json.dumps(value)) == json.dumps(value, indent=2).split("\n")


def test_small_objects_stay_on_one_line_where_wanted() -> None:
    raw = '{"result":{"content":[{"type":"text","text":"hello","x":[]}],"scopes":["S256",1]}}'
    assert pretty(raw, inline=60) == [
        "{",
        '  "result": {',
        '    "content": [',
        '      { "type": "text", "text": "hello", "x": [] }',
        "    ],",
        '    "scopes": ["S256", 1]',
        "  }",
        "}",
    ]
    assert tree(raw, inline=60).value(3) == '{"type":"text","text":"hello","x":[]}'


def test_lines_can_be_limited() -> None:
    raw = json.dumps([list(range(10))] * 10)
    assert pretty(raw, limit_lines=4) == ["[", "  [", "    0,", "    1"]
    laid_out = tree(raw, limit=4)
    assert laid_out.truncated
    assert laid_out.fold(1) == (1, 3)
    assert laid_out.value(1) == json.dumps(list(range(10)))
    assert laid_out.value(0) == raw
    assert laid_out.children(1) == 2


def test_broken_text_is_shown_as_it_is_with_the_place() -> None:
    laid_out = tree('{"a":\n  1,\n  oops}\n')
    assert [laid_out.text(line) for line in range(len(laid_out))] == ['{"a":', "  1,", "  oops}", ""]
    assert laid_out.error is not None
    assert (laid_out.error.kind, laid_out.error.at, laid_out.error_line) == ("syntax", 13, 2)
    assert laid_out.fold(0) is None
    assert laid_out.pointer(2) == ""
    assert laid_out.value(1) == "  1,"
    assert [len(line) for line in pretty("x" * 2500)] == [1000, 1000, 500]
    assert pretty("") == [""]


def test_folds_values_and_paths() -> None:
    raw = ' { "a" : [ 1 , {"b/c" : "x"} ] , "d":{"\\u0065": null} } '
    laid_out = tree(raw)
    lines = [laid_out.text(line).strip() for line in range(len(laid_out))]
    assert lines == ["{", '"a": [', "1,", "{", '"b/c": "x"', "}", "],", '"d": {', '"\\u0065": null', "}", "}"]
    assert [laid_out.fold(line) for line in (0, 1, 2, 3, 5, 6)] == [(0, 10), (1, 6), None, (3, 5), (3, 5), (1, 6)]
    assert [laid_out.pointer(line) for line in (0, 1, 2, 4, 5, 6, 8)] == [
        "",
        "/a",
        "/a/0",
        "/a/1/b~1c",
        "/a/1",
        "/a",
        "/d/e",
    ]
    assert laid_out.value(1) == laid_out.value(6) == '[ 1 , {"b/c" : "x"} ]'
    assert laid_out.value(0) == raw.strip()
    assert laid_out.value(4) == '"x"'
    assert [laid_out.children(line) for line in (0, 1, 2, 3, 6)] == [2, 2, 0, 1, 2]
    assert [laid_out.depth(line) for line in (0, 1, 4)] == [0, 1, 3]
    assert laid_out.parent(4) == 3
    assert laid_out.parent(0) is None
    assert laid_out.key(8) == "e"


@given(JSON, st.sampled_from([0, 25]))
def test_paths_lead_back_to_their_lines(value: Any, inline: int) -> None:
    raw = json.dumps(value)
    laid_out = tree(raw, inline=inline)
    for line in range(len(laid_out)):
        opener = min(laid_out.fold(line) or (line,))
        assert laid_out.line_of(laid_out.pointer(line)) == opener
        at: Any = value
        for step in laid_out.pointer(line).split("/")[1:]:
            name = step.replace("~1", "/").replace("~0", "~")
            at = at[int(name)] if isinstance(at, list) else at[name]
        assert json.loads(laid_out.value(line)) == at


def test_an_offset_leads_to_its_line_also_inside_a_key() -> None:
    raw = '{"alpha": 1, "beta": {"gamma": 2}}'
    laid_out = tree(raw)
    assert [laid_out.line_at(raw.index(word)) for word in ("alpha", "1", "beta", "gamma", "2")] == [1, 1, 2, 3, 3]
    assert laid_out.line_at(0) == 0
    assert laid_out.line_at(10**6) == len(laid_out) - 1


def test_a_path_into_something_inline_leads_to_what_shows_it() -> None:
    laid_out = tree('[{"a":{"b":1},"c":2}]', inline=10)
    assert laid_out.line_of("/0/a/b") == 2
    assert laid_out.line_of("/0/nothing") is None
    assert laid_out.line_of("/7") is None


def test_of_duplicate_keys_the_last_is_found() -> None:
    assert tree('{"a":1,"a":2}').line_of("/a") == 2


def test_long_values_can_be_cut_while_they_are_written() -> None:
    laid_out = tree(json.dumps({"k" * 500: "v" * 500}))
    assert len(laid_out.text(1, limit=10)) < 30


def test_tokens_stop_where_the_text_breaks() -> None:
    stream = tokens('{"a":[1,!')
    assert [next(stream)[0] for _ in range(4)] == [JsonToken.OBJECT, JsonToken.KEY, JsonToken.ARRAY, JsonToken.SCALAR]
    with pytest.raises(JsonSyntaxError):
        next(stream)


def test_unquote_forgives() -> None:
    assert unquote('"a\\n\\u0041"') == "a\nA"
    assert unquote('"\\x"') == "\\x"
    assert unquote('"a\tb\\n"') == "a\tb\n"
