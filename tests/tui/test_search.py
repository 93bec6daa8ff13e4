"""Search everywhere: what is found, in which group, and where enter leads."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from inspector.calls.collection import Collection
from inspector.client.state.catalog import KINDS
from inspector.journal.journal import Journal
from inspector.tui.main.screen import MainScreen
from inspector.tui.search import sources
from inspector.tui.search.screen import SearchRows, SearchScreen
from inspector.tui.search.sources import SearchHit, SearchTerms
from inspector.tui.widgets.editor import Editor
from tests.tui.live_app import demo, on_demo, running, shows
from tests.tui.recorded_conversation import example
from tests.tui.tui_screens import press, screen_lines, screen_text


class Catalog(dict[str, Any]):
    """The lists of a server."""

    def __init__(self, **lists: list[dict[str, Any]]) -> None:
        super().__init__({name: type("List", (), {"items": lists.get(name, [])}) for name in KINDS})


def always() -> bool:
    return True


def record(path: Path, label: str, *messages: object) -> Journal:
    """A recording with messages of the server, which goes on until it is `kept`."""
    journal = Journal.create(path, {"kind": "stdio", "label": label})
    for message in messages:
        raw = message if isinstance(message, bytes) else json.dumps(message).encode()
        journal.record_received("stdio", [raw])
    return journal


def kept(journal: Journal) -> None:
    journal.close()
    journal.release()


def found_in(text: str) -> list[SearchHit]:
    """The recordings that have these words."""
    return list(sources.recordings(SearchTerms(text), None, always))


def hits(results: Iterable[SearchHit | None]) -> list[SearchHit]:
    """The results without the pauses between them."""
    return [hit for hit in results if hit is not None]


def test_items_are_found_by_name_title_and_description() -> None:
    catalog = Catalog(tools=[
        {"name": "refund-order", "description": "Pay back"}, {"name": "x", "title": "Refunds"},
        {"name": "y", "description": "Use REFUND-order"}, {"name": "z"}, {"name": 7}, {},
    ])  # fmt: skip
    assert [hit.name for hit in hits(sources.items(SearchTerms("refund"), catalog, "tools"))] == [
        "refund-order",
        "x",
        "y",
    ]
    assert [hit.name for hit in hits(sources.items(SearchTerms("order refund use"), catalog, "tools"))] == ["y"]
    assert len(list(sources.items(SearchTerms("nothing"), catalog, "tools"))) == 6, "a pause is possible after each"


def test_arguments_are_found_by_path_description_and_choices() -> None:
    schema = {
        "type": "object",
        "properties": {
            "policy": {"properties": {"refund_days": {"type": "integer", "description": "Days", "default": 14}}},
            "include": {"type": "array", "items": {"enum": ["orders", "refunds"]}},
            "list": {"type": "array", "items": {"properties": {"refunded": {}}}},
            "odd": ["refund"],
        },
    }
    catalog = Catalog(tools=[{"name": "report", "inputSchema": schema}, {"name": "broken", "inputSchema": "refund"}])
    results = hits(sources.arguments(SearchTerms("refund"), catalog))
    assert [(hit.text, hit.note) for hit in results] == [
        ("include  array  one of orders, refunds", ""), ("policy.refund_days  integer  Days", "default 14"),
        ("list[].refunded", ""),
    ]  # fmt: skip
    assert {hit.key for hit in results} == {("tools", "report")}
    endless: dict[str, Any] = {"properties": {}}
    endless["properties"]["needle"] = endless
    results = hits(sources.arguments(SearchTerms("needle"), Catalog(tools=[{"name": "t", "inputSchema": endless}])))
    assert 0 < len(results) < 20, "a schema without an end is searched to a bound"


def test_messages_come_newest_first_and_stop_when_they_are_no_longer_wanted() -> None:
    journal = example().journal
    matching = [n for numbers in sources.messages(SearchTerms("hello"), journal, len(journal), always) for n in numbers]
    assert matching == sorted(matching, reverse=True)
    assert matching
    assert not list(sources.messages(SearchTerms("hello"), journal, len(journal), lambda: False))


@pytest.fixture
def recorded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The recordings folder with one recording of three messages."""
    monkeypatch.setenv("INSPECTOR_STATE_HOME", str(tmp_path))
    folder = tmp_path / "recordings"
    folder.mkdir()
    long = "refund" + "x" * 3_000_000 + " at its end"
    texts = ("nothing", "Refund GRÜN of order", 'a "quoted" refund', long, "İzmir", "escaped grün 😀")
    messages = [(text, {"jsonrpc": "2.0", "method": "say", "params": {"text": text}}) for text in texts]
    raw = [json.dumps(message, ensure_ascii=text.startswith("escaped")).encode() for text, message in messages]
    kept(record(folder / "2026-01-01T00-00-00Z-shop-0001.mcp.jsonl", "shop", *raw))
    return folder


@pytest.mark.parametrize(("text", "first", "amount"), [
    ("refund", 2, "3 messages"), ("REFUND order", 2, "1 message"), ("grün", 2, "2 messages"), ('"quoted"', 3, "1 message"),
    ("refund end", 4, "1 message"), ("İzmir", 5, "1 message"), ("😀", 6, "1 message"), ("shop", 1, "its target"),
])  # fmt: skip
def test_earlier_sessions_are_found_by_their_messages(recorded: Path, text: str, first: int, amount: str) -> None:
    (hit,) = found_in(text)
    assert (hit.name, hit.note) == ("shop", amount)
    assert hit.text.startswith("today ")
    assert isinstance(hit.key, tuple)
    assert hit.key[1] == first


def test_a_large_recording_does_not_delay_older_ones(recorded: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (older,) = recorded.glob("*shop*")
    newer = recorded / "2099-01-01T00-00-00Z-new-0001.mcp.jsonl"
    newer.write_bytes(older.read_bytes())

    def refund_paths() -> list[Any]:
        return [hit.key[0] for hit in found_in("refund")]

    assert refund_paths() == [newer, older]
    with newer.open("ab") as file:
        file.write(b'{"n":99,"t":1,"dir":"local","kind":"note","text":"' + b"x" * 10_000 + b'"}\n')
    monkeypatch.setattr(sources, "LARGE", older.stat().st_size + 1)
    assert refund_paths() == [older, newer]


def test_the_session_itself_and_damaged_files_are_omitted(recorded: Path) -> None:
    (recorded / "2026-01-02T00-00-00Z-x-0001.mcp.jsonl").write_bytes(b"refund\xff\0")
    (mine,) = recorded.glob("*shop*")
    assert not list(sources.recordings(SearchTerms("refund"), mine, always))
    for text in ("nowhere", "recv", "raw", "refund İzmir", "access_token", "mcp-recording"):
        assert not found_in(text), text


def test_a_result_shows_what_stands_around_the_first_word(recorded: Path) -> None:
    (hit,) = found_in("quoted refund")
    assert hit.text.endswith('…": "a \\"quoted\\" refund"}}')
    (hit,) = found_in("at its end")
    assert hit.text.startswith("today "), "a line that is too long to be held has no excerpt"


def test_the_result_of_a_tool_in_an_earlier_session_is_summarised_as_in_the_log(recorded: Path) -> None:
    orders = {"orders": [{"id": "unusual"}] * 3, "total": 41}
    result = {"content": [{"type": "text", "text": json.dumps(orders)}], "structuredContent": orders}
    journal = record(
        recorded / "2026-01-03T00-00-00Z-x-0001.mcp.jsonl", "x", {"jsonrpc": "2.0", "id": 1, "result": result}
    )
    journal.record_life("stdio", "spawn", pid=774411, program="strange")
    kept(journal)
    (hit,) = found_in("unusual")
    assert "  total 41, 3 orders  " in hit.text
    (hit,) = found_in("total 41")
    assert hit.text.endswith("  total 41, 3 orders")
    # The number of a process is not searched.
    assert not found_in("7744")
    assert [hit.name for hit in found_in("strange")] == ["x"]


def test_saved_calls_are_found_by_file_name_and_step(tmp_path: Path) -> None:
    (tmp_path / "refunds.calls.yaml").write_text(
        "inspector: 1\nname: Pay back\nsteps:\n  - call: echo\n    args: {message: order 7}\n"
    )
    collection = Collection.read([tmp_path])
    (hit,) = hits(sources.flows(SearchTerms("pay"), collection))
    assert hit.key == (tmp_path / "refunds.calls.yaml", 0)
    (hit,) = hits(sources.flows(SearchTerms("order"), collection))
    assert hit.text.startswith("step 1")


@pytest.mark.slow
async def test_letters_are_text_keys_move_between_groups_and_enter_opens_the_result(recorded: Path) -> None:
    async with on_demo(size=(120, 35)) as (app, pilot):
        await pilot.press("ctrl+f")
        assert "Type what you are looking for." in screen_text(app)
        await pilot.press("down", "tab", "enter", "ctrl+o", "escape")
        assert isinstance(app.screen, MainScreen), "nothing is found by an empty text"
        await press(pilot, "ctrl+f", *"echo", shows="Messages of this session")
        assert any(line.startswith("│ Tools") for line in screen_lines(app))
        assert "underline" not in screen_text(app)
        await press(pilot, "enter", until=lambda: isinstance(app.screen, MainScreen))
        assert "╭─ echo" in screen_text(app)
        await press(pilot, "escape", "ctrl+f", until=lambda: isinstance(app.screen, SearchScreen))
        await press(pilot, "ctrl+u", *"refund", shows="Earlier sessions")
        await press(pilot, "q", shows="Nothing has all of these words.")
        assert isinstance(app.screen, SearchScreen)
        await press(pilot, "backspace", "tab", "ctrl+o", shows="3 messages")
        await press(pilot, "enter", shows="read-only")
        assert "shop" in screen_lines(app)[0]


def test_a_group_keeps_a_bounded_number_of_results() -> None:
    rows = SearchRows()
    rows.clear(SearchTerms("x"))
    for n in range(sources.MAX_COUNT + 50):
        rows.add(SearchHit("messages", "x", key=n))
    rows.arrange()
    assert rows.totals["messages"] == sources.MAX_COUNT + 50
    assert len(rows.hits["messages"]) == sources.MAX_COUNT
    rows.only = "messages"
    rows.arrange()
    assert len(rows) == sources.MAX_COUNT + 1


@pytest.mark.slow
@pytest.mark.parametrize("from_start", [True, False])
async def test_a_recording_that_was_found_leads_back_to_the_search(recorded: Path, from_start: bool) -> None:
    async with running(None if from_start else demo(), until=" Start " if from_start else "echo") as (app, pilot):
        await press(pilot, "ctrl+f", *"refund", shows="3 messages")
        await press(pilot, "enter", shows="backspace the search")
        await press(pilot, "backspace", until=lambda: isinstance(app.screen, SearchScreen), what="the search")
        await shows(app, pilot, "3 messages")
        assert app.screen.query_one(Editor).value == "refund"
        await press(pilot, "escape", until=lambda: not isinstance(app.screen, SearchScreen), what="left")
