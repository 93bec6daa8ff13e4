"""Tables made of JSON and of delimited text: exact values, order, filter, CSV."""

from __future__ import annotations

import csv
import io
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.protocol.tables import (
    MAX_COLUMNS,
    MISSING,
    Table,
    WrittenNumber,
    cell_text,
    filter_patterns,
    slice_at,
    table_of,
    table_of_text,
)

ORDERS = """{"total": 3, "rows": [
  {"id": 3492, "customer": "Red Brick Books", "total": 1984.20, "tags": ["a", 1.50]},
  {"id": 123456789012345678901234567890, "customer": "Ōsaka Paper Co", "country": "JP"},
  {"customer": "café \\u00e9", "id": -1, "total": 1e3, "country": null}
]}"""


def table(text: str = ORDERS, path: tuple[str, ...] = ("rows",)) -> Table:
    parsed = table_of(text, path)
    assert parsed is not None
    return parsed


def cell_texts(parsed: Table, rows: Any = None) -> list[list[str]]:
    return [[cell_text(value) for value in parsed.cells(row)] for row in (range(len(parsed)) if rows is None else rows)]


def test_columns_come_by_key_and_values_as_written() -> None:
    parsed = table()
    assert [column.name for column in parsed.columns] == ["id", "customer", "total", "tags", "country"]
    assert [column.is_numeric for column in parsed.columns] == [True, False, True, False, False]
    assert parsed.columns[0].longest == 30
    assert cell_texts(parsed) == [
        ["3492", "Red Brick Books", "1984.20", '["a", 1.50]', ""],
        ["123456789012345678901234567890", "Ōsaka Paper Co", "", "", "JP"],
        ["-1", "café é", "1e3", "", ""],
    ]
    assert parsed.cells(0)[4] is MISSING
    assert parsed.cells(2)[4] is None
    assert parsed.json(1) == '{"id": 123456789012345678901234567890, "customer": "Ōsaka Paper Co", "country": "JP"}'


def test_numbers_sort_by_value_text_by_letters_and_missing_values_last() -> None:
    parsed = table()
    assert list(parsed.ordered(range(3), 0)) == [2, 0, 1]
    assert list(parsed.ordered(range(3), 0, descending=True)) == [1, 0, 2]
    assert list(parsed.ordered(range(3), 1)) == [2, 0, 1]
    assert list(parsed.ordered(range(3), 2)) == [2, 0, 1]
    assert list(parsed.ordered(range(3), 2, descending=True)) == [0, 2, 1]
    assert list(parsed.ordered(range(3), 0, stopped=lambda: True)) == []


@pytest.mark.parametrize(
    ("words", "rows"),
    [
        ("", [0, 1, 2]),
        ("red", [0]),
        ("Red", [0]),
        ("RED", []),
        ("é", [2]),
        ("country:jp", [1]),
        ("customer:jp", []),
        ("id:>3000", [0, 1]),
        ("id:<=-1", [2]),
        ("total:>=1000 customer:red", [0]),
        ('"red brick"', [0]),
        ('customer:"brick books"', [0]),
        ("red nowhere", []),
        ("http://x", []),
    ],
)
def test_a_filter_leaves_rows(words: str, rows: list[int]) -> None:
    assert list(table().matching(words)) == rows


def test_what_a_filter_looks_for_can_be_marked() -> None:
    patterns = filter_patterns("red country:jp id:>3", ["id", "country"])
    assert [(column, pattern.pattern) for column, pattern in patterns] == [(None, "red"), (1, "jp")]


def test_csv_has_the_values_unchanged_and_formulas_are_counted() -> None:
    parsed = table('[{"a": "=1+1", "b": -5, "c": "x\\n\\"y\\""}, {"a": "@cmd", "b": "-5"}]', ())
    saved = parsed.csv([1, 0], [2, 0, 1])
    assert list(csv.reader(io.StringIO(saved.decode()))) == [
        ["c", "a", "b"],
        ["", "@cmd", "-5"],
        ['x\n"y"', "=1+1", "-5"],
    ]
    assert parsed.formulas([0, 1], [0, 1, 2]) == 2
    assert parsed.formulas([0, 1], [1, 2]) == 0


def test_a_place_in_the_structured_value_is_a_cell() -> None:
    parsed = table()
    assert parsed.place("/rows/2/total") == (2, 2)
    assert parsed.place("/rows/0/tags/1") == (0, 3)
    assert parsed.place("/rows/1") == (1, None)
    assert parsed.place("/rows/1/new") == (1, None)
    assert parsed.place("/rows/9/id") is None
    assert parsed.place("/total") is None


@pytest.mark.parametrize("between", [",", ", ", " ,", " ,\n\t", "\r\n,\r\n"])
@pytest.mark.parametrize("end", ["]", " ]", "\n]\n"])
def test_rows_are_found_whatever_stands_between_them(between: str, end: str) -> None:
    objects = ['{"a": 1}', '{ "a": 2.50, "b": "},{" }', "{}"]
    table = table_of(f'{{"rows": [ {between.join(objects)}{end}, "after": 1}}', ("rows",))
    assert table is not None
    assert [table.json(row) for row in range(len(table))] == objects
    assert [[*table.cells(row)] for row in range(len(table))] == [["1", MISSING], ["2.50", "},{"], [MISSING, MISSING]]


@pytest.mark.parametrize("end", [",]", ", ]", ",,{}]", "{}]", ", 1]", ""])
def test_a_list_of_objects_that_goes_on_with_something_else_is_no_table(end: str) -> None:
    assert table_of('[{"a": 1}' + end) is None


@pytest.mark.parametrize("text", ["", "[]", "[1]", '[{"a": 1}, 2]', '[{"a": 1}', "[" * 200_000, '{"rows": [{}]}', "x"])
def test_what_is_not_a_list_of_objects_is_not_a_table(text: str) -> None:
    assert table_of(text) is None


def test_the_last_of_equal_keys_counts_and_exact_text_is_cut_out() -> None:
    text = '\ufeff {"a": [{"x": 1}], "b": {"c": 1.0}, "a": [{"y": 2}]}'
    assert [column.name for column in table(text, ("a",)).columns] == ["y"]
    assert slice_at(text, ("b",)) == '{"c": 1.0}'
    assert slice_at(text, ("b", "c")) == "1.0"
    assert slice_at(text, ("z",)) is None
    assert slice_at("no", ("z",)) is None


def test_a_thousand_columns_and_more() -> None:
    wide = json.dumps([{f"k{at}": at for at in range(1_000)}])
    assert len(table(wide, ()).columns) == 1_000
    wider = table(json.dumps([{f"k{at}": at for at in range(MAX_COLUMNS + 5)}]), ())
    assert len(wider.columns) == MAX_COLUMNS
    assert wider.has_more


CSV = 'id,customer,total\n1,"Brick, Red",10.5\n2,"two\nlines",007\n\n3,,9\n'


def test_delimited_text_is_a_table() -> None:
    parsed = table_of_text(CSV)
    assert parsed is not None
    assert [column.name for column in parsed.columns] == ["id", "customer", "total"]
    assert [column.is_numeric for column in parsed.columns] == [True, False, False]
    assert cell_texts(parsed) == [["1", "Brick, Red", "10.5"], ["2", "two\nlines", "007"], ["3", "", "9"]]
    assert type(parsed.cells(0)[0]) is WrittenNumber
    assert json.loads(parsed.json(0)) == {"id": 1, "customer": "Brick, Red", "total": "10.5"}


@pytest.mark.parametrize("text", ["a\tb\n1\t2\n3\t4\n", "a;b\n1;2\n3;4\n", "a,b\r\n1,2\r\n3,4"])
def test_tabs_semicolons_and_line_ends(text: str) -> None:
    parsed = table_of_text(text)
    assert parsed is not None
    assert cell_texts(parsed) == [["1", "2"], ["3", "4"]]


def test_declared_csv_may_be_ragged() -> None:
    parsed = table_of_text("a,b\n1\n1,2,3\n", "text/csv; charset=utf-8")
    assert parsed is not None
    assert [column.name for column in parsed.columns] == ["a", "b", "column 3"]
    assert parsed.cells(0)[1] is MISSING
    assert cell_texts(parsed)[1] == ["1", "2", "3"]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "one line, with a comma",
        "Dear all,\nplease come, all of you\nand bring cake, too\n",
        "Hello, world\nfoo, bar\nthis, that\n",
        "a,b\n1,2\n",
        "a,b\n1,2\n3\n",
        "a,a\n1,2\n3,4\n",
        "1,2\n3,4\n5,6\n",
        '{"a": 1,\n"b": 2,\n"c": 3}\n',
        "Name: x, Age: 3\nName: y, Age: 4\nName: z, Age: 5\n",
    ],
)
def test_other_text_is_not_a_table(text: str) -> None:
    assert table_of_text(text) is None


@given(
    st.lists(st.dictionaries(st.text(), st.none() | st.booleans() | st.integers() | st.text() | st.lists(st.text())))
)
def test_every_list_of_objects_reads_back(rows: list[dict[str, Any]]) -> None:
    parsed = table_of(json.dumps(rows))
    if not rows:
        assert parsed is None
        return
    assert parsed is not None
    assert [json.loads(parsed.json(at)) for at in range(len(parsed))] == rows
    assert len(parsed.matching("")) == len(rows)
    for at in range(len(parsed.columns)):
        assert sorted(parsed.ordered(range(len(rows)), at)) == list(range(len(rows)))
