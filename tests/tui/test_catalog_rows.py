"""The rows of a catalogue: growing lists, the filter, what a row says."""

from __future__ import annotations

from typing import Any

import pytest

from inspector.client.state.catalog import KINDS, CatalogList, ListName
from inspector.tui.work.catalog_rows import CatalogGroups, CatalogRows

WITH_Q = {"type": "object", "properties": {"q": {}}}


def filled(items: list[Any], name: ListName = "tools", *, more: bool = False) -> CatalogList:
    catalog_list = CatalogList(KINDS[name])
    catalog_list.begin()
    catalog_list.page({KINDS[name].key: items, **({"nextCursor": "1"} if more else {})})
    return catalog_list


def tool(name: str, **more: Any) -> dict[str, Any]:
    return {"name": name, "inputSchema": {"type": "object"}, **more}


def read(items: list[Any], name: ListName = "tools", *, more: bool = False) -> CatalogRows:
    """The rows of a list, all of them added."""
    rows = CatalogRows(filled(items, name, more=more))
    rows.advance()
    return rows


def finish(rows: CatalogRows) -> None:
    while rows.behind:
        rows.advance()


def names(rows: CatalogRows) -> list[Any]:
    return [(rows.item(at) or {}).get("name") for at in range(len(rows))]


def narrowed(rows: CatalogRows, words: str) -> list[Any]:
    rows.narrow(words)
    return names(rows)


def text(rows: CatalogRows, at: int, width: int) -> str:
    return "".join(segment.text for segment in rows.render(at, width, False, False)).rstrip()


def test_pages_are_taken_in_where_they_begin() -> None:
    catalog_list = filled([tool("aaaaaaaa"), tool("b")], more=True)
    rows = CatalogRows(catalog_list)
    assert rows.advance() == 0
    assert rows.advance() is None
    catalog_list.page({"tools": [tool("c")]})
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
    catalog_list = filled([tool("a"), tool("b"), tool("c")])
    rows = CatalogRows(catalog_list)
    rows.advance()
    catalog_list.begin()
    catalog_list.page({"tools": [tool("a2")], "nextCursor": "1"})
    assert rows.advance() is None
    assert names(rows) == ["a", "b", "c"]
    catalog_list.page({"tools": [tool("b")]})
    assert rows.advance() == 0
    assert names(rows) == ["a2", "b"]


def test_keys_stay_with_their_items() -> None:
    rows = read([tool("x"), tool("y"), tool("x"), {"name": 7}, {"name": [1]}])
    keys = [rows.key_at(at) for at in range(len(rows))]
    assert len(set(keys)) == 5
    rows.narrow("x")
    assert [rows.key_at(at) for at in range(2)] == [keys[0], keys[2]]
    assert [rows.index_of(key) for key in keys] == [0, None, 1, None, None]
    assert (rows.find("y"), rows.find("z")) == (keys[1], None)


@pytest.mark.parametrize(("items", "typed"), [
    # Every word must stand somewhere.
    (
        [tool("get-sum", description="Adds TWO numbers"), tool("echo", title="Say again"), tool("sum-all")],
        {"SUM": "sum-all get-sum", "sum two": "get-sum", "again": "echo", "": "get-sum echo sum-all"},
    ),
    # Letters in order are enough where nothing has the words, and typing on goes on among what is like it.
    (
        [tool("get-structured-content"), tool("get-sum"), tool("echo")],
        {"gs": "get-structured-content get-sum", "gsc": "get-structured-content", "gs ": "get-structured-content get-sum",
         "": "get-structured-content get-sum echo", "zzz": ""},
    ),
])  # fmt: skip
def test_what_is_typed_narrows_the_list(items: list[Any], typed: dict[str, str]) -> None:
    rows = read(items)
    for words, left in typed.items():
        assert narrowed(rows, words) == left.split(), words


def test_what_has_the_word_itself_comes_before_what_is_merely_like_it() -> None:
    rows = read([tool("get-structured-content"), tool("echo"), tool("get-sum")], more=True)
    assert narrowed(rows, "gsc") == ["get-structured-content"]
    rows.list.page({"tools": [tool("gsc")]})
    rows.advance()
    assert names(rows) == ["gsc"]
    assert narrowed(rows, "zzz") == []


def test_typing_on_gives_what_typing_at_once_gives() -> None:
    items = [tool(f"tool_{at:03}", description=f"even {at}" if at % 2 == 0 else "odd") for at in range(300)]
    stepwise = read(items)
    for end in range(1, len("even 12") + 1):
        stepwise.narrow("even 12"[:end])
    assert names(stepwise) == narrowed(read(items), "even 12")
    assert len(stepwise) > 5


DESTROYS = {"annotations": {"destructiveHint": True}}


@pytest.mark.parametrize(("name", "item", "texts"), [
    # What a tool is for: its title if that says more than the name, else the first sentence of the description.
    ("tools", tool("get-sum", title="Add numbers", description="Adds two numbers. Or three."),
     {30: "get-sum  Add numbers", 16: "get-sum", 70: "get-sum  Add numbers  Adds two numbers"}),
    ("tools", tool("getSum", title="Get sum", description="Adds\ntwo numbers. Or more."), {40: "getSum  Adds two numbers"}),
    ("tools", tool("getSum", title="Getsum", description="Adds\ntwo numbers. Or more."), {40: "getSum  Adds two numbers"}),
    ("tools", tool("echo", title="Echo Tool", description="Returns it."), {40: "echo  Returns it"}),
    ("tools", tool("echo", title="", inputSchema=WITH_Q), {30: "echo", 70: "echo"}),
    ("tools", tool("wait", description="Waits..."), {40: "wait  Waits..."}),
    ("tools", tool("b", annotations={"title": "Bee"}), {30: "b  Bee"}),
    ("tools", tool("x" * 90), {20: "x" * 19 + "…"}),
    ("tools", {"title": "Nameless", "inputSchema": {}}, {30: "Nameless                     ▲"}),
    # Only a tool that says that it may destroy something has a mark.
    ("tools", tool("drop", **DESTROYS), {10: "drop     !"}),
    ("tools", tool("drop", annotations={"readOnlyHint": True}), {10: "drop"}),
    ("resources", {"uri": "file:///a/b.txt", "name": "b.txt"}, {30: "b.txt  file:///a/b.txt"}),
    ("resources", {"uri": "x:y"}, {30: "x:y                          ▲"}),
    ("templates", {"uriTemplate": "x:{a}", "name": "A"}, {20: "A  x:{a}          {}"}),
])  # fmt: skip
def test_a_row_says_what_its_item_is_for(name: ListName, item: Any, texts: dict[int, str]) -> None:
    rows = read([item], name)
    assert {width: text(rows, 0, width) for width in texts} == texts


def test_a_longer_name_than_the_column_moves_only_its_own_row() -> None:
    rows = read([tool("a", description="One"), tool("n" * 18, description="Two"), tool("n" * 30, description="Three")])
    assert [text(rows, at, 32) for at in range(3)] == ["a" + " " * 17 + "One", "n" * 18 + "  Two", "n" * 30]


def test_templates_are_a_group_below_the_resources() -> None:
    lists = {"resources": [{"uri": "a:b", "name": "b"}], "templates": [{"uriTemplate": "a:b", "name": "t"}]}
    groups = CatalogGroups([CatalogRows(filled(items, name)) for name, items in lists.items()])  # type: ignore[arg-type]
    assert (groups.advance(), len(groups), groups.total) == (0, 2, 2)
    keys = [groups.key_at(at) for at in range(2)]
    assert keys == [("resources", ("a:b", 0)), ("templates", ("a:b", 0))]
    assert [groups.index_of(key) for key in keys] == [0, 1]
    assert [groups.find(name, "a:b") for name in lists] == keys
    assert groups.find("templates", "c:d") is None
    assert groups.narrow("t")
    assert ([groups.item(at) for at in range(-1, 2)], groups.best()) == ([None, *lists["templates"], None], 0)
    assert groups.index_of(keys[0]) is None


def test_the_best_row_of_a_filter_has_its_words_in_the_name() -> None:
    rows = read([tool("a", description="adds a sum"), tool("b", title="The sum"), tool("sum")])
    assert rows.best() is None
    assert (narrowed(rows, "sum"), rows.best()) == (["sum", "b", "a"], 0)
    assert (narrowed(rows, "adds"), rows.best()) == (["a"], None)


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
    rows = read(items)
    texts = [text(rows, at, width) for at in range(len(rows))]
    assert all("\x1b" not in line and "\u202e" not in line and "\n" not in line for line in texts)
    assert [line.endswith("▲") for line in texts] == [True, True, True, True, False, True]
    assert len(narrowed(rows, "twice")) == 2


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
    catalog_list = filled(costly(), more=True)
    rows = CatalogRows(catalog_list)
    rows.sort(by_cost=True)
    rows.advance()
    assert narrowed(rows, "l") == ["large", "middle", "small"]
    assert narrowed(rows, "le") == ["middle"]
    catalog_list.page({"tools": [tool("lemon", description="z" * 200), tool("other")]})
    assert rows.advance() == 0
    assert names(rows) == ["lemon", "middle"]
    assert rows.best() == 0
    assert narrowed(rows, "") == ["large", "lemon", "middle", "small", "other"]
    assert rows.index_of(("small", 0)) == 3


def many_costs() -> list[dict[str, Any]]:
    return [tool(f"t{n}", description="x" * n) for n in range(1200)]


def test_the_cost_of_many_tools_takes_several_turns() -> None:
    rows = CatalogRows(filled(many_costs()))
    rows.sort(by_cost=True)
    rows.advance()
    assert (rows.behind, rows.is_sorted, names(rows)[0]) == (True, False, "t0")
    finish(rows)
    assert (rows.is_sorted, names(rows)[0]) == (True, "t1199")


def test_a_filtered_list_is_drawn_before_the_cost_of_all_is_determined() -> None:
    rows = read(many_costs())
    rows.narrow("t1")
    rows.sort(by_cost=True)
    assert not rows.is_sorted
    assert text(rows, 0, 40).startswith("t1")
    finish(rows)
    assert (rows.is_sorted, names(rows)[0]) == (True, "t1199")


def test_a_tool_for_pages_only_costs_a_model_nothing() -> None:
    page = tool("page", description="x" * 900, _meta={"ui": {"resourceUri": "ui://a/b", "visibility": ["app"]}})
    rows = CatalogRows(filled([page, tool("b")]))
    rows.sort(by_cost=True)
    rows.advance()
    assert names(rows) == ["b", "page"]
    assert text(rows, 1, 40).endswith("~0")
