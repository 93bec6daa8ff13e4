"""JSON with comments and trailing commas: what people write into config files, and what hostile files hold."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.config.jsonc import JsoncError, parse, plain, with_member

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=6), inner, max_size=4),
    max_leaves=12,
)
FILLERS = st.sampled_from(["", " ", "\n", '// note: "x", [1,]\n', "/* a */", "/* \n , } */", "//\n", "/**/", "/***/"])
JSONC_LIKE = st.text(st.sampled_from('{}[]",:\\/* \n\r\t01truenl'), max_size=60)


@given(JSON)
def test_plain_json_means_what_it_always_means(value: Any) -> None:
    assert parse(json.dumps(value)) == value
    assert parse(json.dumps(value, ensure_ascii=False, indent=1)) == value


@given(JSON, st.data())
def test_comments_and_trailing_commas_change_nothing(value: Any, data: st.DataObject) -> None:
    def written(item: Any) -> str:
        space = data.draw(FILLERS)
        comma = data.draw(st.sampled_from(["", ","])) + data.draw(FILLERS)
        if isinstance(item, dict) and item:
            pairs = (f"{space}{json.dumps(key)}{data.draw(FILLERS)}:{written(part)}" for key, part in item.items())
            return f"{{{','.join(pairs)}{comma}}}"
        if isinstance(item, list) and item:
            return f"{space}[{','.join(written(part) for part in item)}{comma}]{space}"
        return f"{space}{json.dumps(item)}{space}"

    assert parse(written(value)) == value


@given(JSONC_LIKE)
def test_any_text_is_either_json_or_an_error_with_its_place(text: str) -> None:
    try:
        parse(text)
        return
    except JsoncError as error:
        message, line, column = error.message, error.line, error.column
    assert message
    assert 1 <= line <= text.count("\n") + 1
    assert column >= 1


@given(JSON.map(lambda value: json.dumps(value, ensure_ascii=False, indent=1)) | JSONC_LIKE)
def test_blanking_keeps_every_character_in_its_place(text: str) -> None:
    try:
        blanked = plain(text)
    except JsoncError:
        return
    assert len(blanked) == len(text)
    assert re.findall(r"[\r\n]", blanked) == re.findall(r"[\r\n]", text)
    assert all(new in (old, " ") for old, new in zip(text, blanked, strict=True))


def test_slashes_and_commas_in_texts_stay() -> None:
    text = '{"url": "https://host//x", "glob": "/* no */ ,] ,}", "quote": "\\"// \\\\", }'
    assert parse(text) == {"url": "https://host//x", "glob": "/* no */ ,] ,}", "quote": '"// \\'}


@pytest.mark.parametrize(
    ("text", "line", "column"),
    [
        ('{\n  // fine\n  "a": 1\n  "b": 2\n}', 4, 3),
        ('{"a": /* never\n ends', 1, 7),
        ("{'a': 1}", 1, 2),
        ("[1 2]", 1, 4),
    ],
)
def test_an_error_names_line_and_column_of_the_file_as_written(text: str, line: int, column: int) -> None:
    with pytest.raises(JsoncError) as caught:
        parse(text)
    assert (caught.value.line, caught.value.column) == (line, column)


@pytest.mark.parametrize(
    "text", ["NaN", "[Infinity]", '{"a": -Infinity}', "9" * 5000, "[" * 200_000, '{"a":' * 200_000]
)
def test_what_no_json_is_is_refused(text: str) -> None:
    with pytest.raises(JsoncError):
        parse(text)


@pytest.mark.parametrize(
    "unit", ['"\\"', "/*", "/* ", '"\\', "//", ",", ", ", '"', "\\", '"a', "{", ",\n", "/*/", '"\\\\"', "*/"], ids=repr
)
def test_hostile_text_costs_one_pass(unit: str) -> None:
    # So many units that anything but linear work would not end within a run of the tests.
    with pytest.raises(JsoncError):
        parse("{" + unit * 200_000)


@pytest.mark.parametrize(
    ("text", "after"),
    [
        ("{}\n", '{"theme": "light"}\n'),
        ('{"timeout": 30}', '{"theme": "light", "timeout": 30}'),
        ('{\n  // seconds\n  "timeout": 30,\n}\n', '{\n  "theme": "light",\n  // seconds\n  "timeout": 30,\n}\n'),
        ('{"theme" : "dark", /* x */ "timeout": 30}', '{"theme" : "light", /* x */ "timeout": 30}'),
        ('{"commands": [{"theme": "x"}], "theme": null}', '{"commands": [{"theme": "x"}], "theme": "light"}'),
        ('{"client": "theme"}', '{"theme": "light", "client": "theme"}'),
    ],
)
def test_one_member_is_changed_and_the_rest_of_the_text_stays(text: str, after: str) -> None:
    assert with_member(text, "theme", "light") == after
