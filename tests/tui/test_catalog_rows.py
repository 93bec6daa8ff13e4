"""The rows of a catalogue: growing lists, the filter, what a row says."""

from __future__ import annotations

from typing import Any

import pytest

from inspector.client.state.catalog import KINDS, CatalogList, ListName
from inspector.tui.work.catalog_rows import CatalogRows

WITH_Q = {"type": "object", "properties": {"q": {}}}


def filled(items: list[Any], name: ListName = "tools", *, more: bool = False) -> CatalogList:
    found = CatalogList(KINDS[name])
    found.begin()
    found.page({KINDS[name].key: items, **({"nextCursor": "1"} if more else {})})
    return found


def tool(name: str, **more: Any) -> dict[str, Any]:
    return {"name": name, "inputSchema": {"type": "object"}, **more}


def names(rows: CatalogRows) -> list[Any]:
    return [(rows.item(at) or {}).get("name") for at in range(len(rows))]


def text(rows: CatalogRows, at: int, width: int) -> str:
    return "".join(segment.text for segment in rows.render(at, width, False, False)).rstrip()


def test_pages_are_taken_in_where_they_begin() -> None:
    found = filled([tool("aaaaaaaa"), tool("b")], more=True)
    rows = CatalogRows(found)
    assert rows.advance() == 0
    assert rows.advance() is None
    found.page({"tools": [tool("c")]})
    assert rows.advance() == 2
    assert names(rows) == ["aaaaaaaa", "b", "c"]


def test_a_turn_takes_no_more_than_its_slice() -> None:
    rows = CatalogRows(filled([tool(f"t{at}") for at in range(100)]))
    rows.advance(30)
    assert (len(rows), rows.behind) == (30, True)
    rows.narrow("t9", budget=10)
    while rows.behind:
        rows.advance(30)
    assert names(rows) == ["t9", *(f"t9{at}" for at in range(10))]


def test_a_list_read_again_replaces_the_old_one_when_it_is_as_long() -> None:
    found = filled([tool("a"), tool("b"), tool("c")])
    rows = CatalogRows(found)
    rows.advance()
    found.begin()
    found.page({"tools": [tool("a2")], "nextCursor": "1"})
    assert rows.advance() is None
    assert names(rows) == ["a", "b", "c"]
    found.page({"tools": [tool("b")]})
    assert rows.advance() == 0
    assert names(rows) == ["a2", "b"]


def test_keys_stay_with_their_items() -> None:
    rows = CatalogRows(filled([tool("x"), tool("y"), tool("x"), {"name": 7}, {"name": [1]}]))
    rows.advance()
    keys = [rows.key_at(at) for at in range(len(rows))]
    assert len(set(keys)) == 5
    rows.narrow("x")
    assert [rows.key_at(at) for at in range(2)] == [keys[0], keys[2]]
    assert [rows.index_of(key) for key in keys] == [0, None, 1, None, None]
    assert rows.find("y") == keys[1]
    assert rows.find("z") is None


def test_every_word_of_the_filter_must_stand_somewhere() -> None:
    rows = CatalogRows(
        filled([tool("get-sum", description="Adds TWO numbers"), tool("echo", title="Say again"), tool("sum-all")])
    )
    rows.advance()
    for wanted, expected in (("SUM", ["sum-all", "get-sum"]), ("sum two", ["get-sum"]), ("again", ["echo"])):
        rows.narrow(wanted)
        assert names(rows) == expected
    rows.narrow("")
    assert len(rows) == 3


def test_letters_in_order_are_enough_where_nothing_has_the_words() -> None:
    rows = CatalogRows(filled([tool("get-structured-content"), tool("echo"), tool("get-sum")], more=True))
    rows.advance()
    rows.narrow("gsc")
    assert names(rows) == ["get-structured-content"]
    rows.list.page({"tools": [tool("gsc")]})
    rows.advance()
    assert names(rows) == ["gsc"], "what has the word itself comes before what is merely like it"
    rows.narrow("zzz")
    assert names(rows) == []


def test_typing_on_goes_on_among_what_is_like_it() -> None:
    rows = CatalogRows(filled([tool("get-structured-content"), tool("get-sum"), tool("echo")]))
    rows.advance()
    for typed, expected in (("gs", 2), ("gsc", 1), ("gs", 2), ("", 3)):
        rows.narrow(typed)
        assert len(rows) == expected


def test_typing_on_gives_what_typing_at_once_gives() -> None:
    items = [tool(f"tool_{at:03}", description=f"even {at}" if at % 2 == 0 else "odd") for at in range(300)]
    stepwise = CatalogRows(filled(items))
    stepwise.advance()
    for end in range(1, len("even 12") + 1):
        stepwise.narrow("even 12"[:end])
    at_once = CatalogRows(filled(items))
    at_once.advance()
    at_once.narrow("even 12")
    assert names(stepwise) == names(at_once)
    assert len(stepwise) > 5


def test_a_row_shows_the_name_and_its_arguments_where_they_fit() -> None:
    schema = {"type": "object", "properties": {"a": {}, "b": {}, "elaborate": {}}}
    rows = CatalogRows(filled([tool("get-sum", inputSchema=schema), tool("x" * 90)]))
    rows.advance()
    assert text(rows, 0, 40) == "get-sum a, b, elaborate"
    assert text(rows, 0, 18) == "get-sum a, b, …"
    assert text(rows, 0, 9) == "get-sum"
    assert text(rows, 1, 20) == "x" * 19 + "…"


def test_a_tool_is_listed_by_the_name_it_is_called_by() -> None:
    rows = CatalogRows(filled([tool("echo", title="Say it again"), tool("b", annotations={"title": "Bee"})]))
    rows.advance()
    assert text(rows, 0, 30) == "echo"
    assert text(rows, 1, 30) == "b"


def test_a_wide_list_has_a_column_for_what_a_tool_does() -> None:
    rows = CatalogRows(filled([tool("echo", description="Echoes\nthe input"), tool("long-name", inputSchema=WITH_Q)]))
    rows.advance()
    assert text(rows, 0, 70) == "echo       Echoes the input"
    assert text(rows, 1, 70) == "long-name  q"


def test_a_wide_row_has_the_title_before_the_description() -> None:
    rows = CatalogRows(filled([tool("echo", title="Say it again", description="Says it."), tool("b", title="")]))
    rows.advance()
    assert text(rows, 0, 70) == "echo  Say it again  Says it."
    assert text(rows, 1, 70) == "b"


def test_a_tool_without_a_name_shows_its_title() -> None:
    rows = CatalogRows(filled([{"title": "Nameless", "inputSchema": {}}]))
    rows.advance()
    assert text(rows, 0, 30).startswith("Nameless")


def test_the_best_row_of_a_filter_has_its_words_in_the_name() -> None:
    rows = CatalogRows(filled([tool("a", description="adds a sum"), tool("b", title="The sum"), tool("sum")]))
    rows.advance()
    assert rows.best() is None
    rows.narrow("sum")
    assert (names(rows), rows.best()) == (["sum", "b", "a"], 0)
    rows.narrow("adds")
    assert (names(rows), rows.best()) == (["a"], None)


def test_a_resource_shows_its_uri() -> None:
    rows = CatalogRows(filled([{"uri": "file:///a/b.txt", "name": "b.txt"}, {"uri": "x:y"}], "resources"))
    rows.advance()
    assert text(rows, 0, 30) == "b.txt file:///a/b.txt"
    assert text(rows, 1, 30).startswith("x:y ")
    assert text(rows, 0, 70) == "b.txt  file:///a/b.txt"


@pytest.mark.parametrize("width", [5, 20, 80])
def test_items_of_wrong_types_are_rows_like_others(width: int) -> None:
    items: list[Any] = [
        {},
        {"name": 7, "title": [], "description": {"a": 1}},
        {"name": "ok", "inputSchema": "none", "annotations": 3},
        {"name": "\x1b[31mred\u202e", "title": "\n" * 500, "inputSchema": {"properties": {"\x00": {}}}},
        {"name": "twice", "inputSchema": {"type": "object"}},
        {"name": "twice", "inputSchema": {"type": "object"}},
    ]
    rows = CatalogRows(filled(items))
    rows.advance()
    shown = [text(rows, at, width) for at in range(len(rows))]
    assert all("\x1b" not in line and "\u202e" not in line and "\n" not in line for line in shown)
    assert [line.endswith("▲") for line in shown] == [True, True, True, True, False, True]
    rows.narrow("twice")
    assert len(rows) == 2


def costly() -> list[dict[str, Any]]:
    return [tool("small"), tool("large", description="x" * 400), tool("middle", description="y" * 100)]


def test_the_most_expensive_tools_come_first_and_show_their_tokens() -> None:
    rows = CatalogRows(filled(costly()))
    rows.sort(by_cost=True)
    assert rows.advance() == 0
    assert names(rows) == ["large", "middle", "small"]
    # 5 + 400 characters and {"type":"object"} are 422, a quarter of it rounded up.
    assert [text(rows, at, 40)[-8:].strip() for at in range(3)] == ["~106", "~31", "~6"]
    assert [rows.index_of(rows.key_at(at)) for at in range(3)] == [0, 1, 2]
    rows.sort(by_cost=False)
    assert names(rows) == ["small", "large", "middle"]
    assert "~" not in text(rows, 0, 40)


def test_a_filter_and_new_items_keep_the_order_of_cost() -> None:
    found = filled(costly(), more=True)
    rows = CatalogRows(found)
    rows.sort(by_cost=True)
    rows.advance()
    rows.narrow("l")
    assert names(rows) == ["large", "middle", "small"]
    rows.narrow("le")
    assert names(rows) == ["middle"]
    found.page({"tools": [tool("lemon", description="z" * 200), tool("other")]})
    assert rows.advance() == 0
    assert names(rows) == ["lemon", "middle"]
    assert rows.best() == 0
    rows.narrow("")
    assert names(rows) == ["large", "lemon", "middle", "small", "other"]
    assert rows.index_of(("small", 0)) == 3


def test_the_cost_of_many_tools_takes_several_turns() -> None:
    rows = CatalogRows(filled([tool(f"t{n}", description="x" * n) for n in range(1200)]))
    rows.sort(by_cost=True)
    rows.advance()
    assert rows.behind
    assert not rows.is_sorted
    assert names(rows)[0] == "t0"
    while rows.behind:
        rows.advance()
    assert rows.is_sorted
    assert names(rows)[0] == "t1199"


def test_a_filtered_list_is_drawn_before_the_cost_of_all_is_determined() -> None:
    rows = CatalogRows(filled([tool(f"t{n}", description="x" * n) for n in range(1200)]))
    rows.advance()
    rows.narrow("t1")
    rows.sort(by_cost=True)
    assert not rows.is_sorted
    assert text(rows, 0, 40).startswith("t1")
    while rows.behind:
        rows.advance()
    assert (rows.is_sorted, names(rows)[0]) == (True, "t1199")


def test_a_tool_for_pages_only_costs_a_model_nothing() -> None:
    page = tool("page", description="x" * 900, _meta={"ui": {"resourceUri": "ui://a/b", "visibility": ["app"]}})
    rows = CatalogRows(filled([page, tool("b")]))
    rows.sort(by_cost=True)
    rows.advance()
    assert names(rows) == ["b", "page"]
    assert text(rows, 1, 40).endswith("~0")
