"""Saved calls in the interface: the tab of flows, saving a call, expectations from results, runs after a restart."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot

from inspector.config.targets import StdioTarget
from inspector.tui.app import InspectorApp
from inspector.tui.log.message_list import MessageList
from tests.tui.idle import quiet
from tests.tui.live_app import NARROW, WIDE, Live, becomes, demo, main_screen, running, shows, to_tool
from tests.tui.tui_screens import assert_in, assert_not_in, press, screen_lines, screen_text

pytestmark = pytest.mark.slow

ORDERS = """\
inspector: 1
name: Echo and add
vars: {word: hello, number: 4711}
steps:
  - name: greet
    call: echo
    args: {message: "{{word}} {{number}}"}
    capture: {said: "$.content[0].text"}
    expect:
      within: 1 min
      result:
        $.content[0].text: {contains: "{{word}}"}
  - name: sum
    call: add
    args: {a: 1, b: 2}
    expect:
      result:
        $.structuredContent.sum: 4
  - name: again
    call: echo
    args: {message: "{{said}}"}
"""
WRONG = """\
inspector: 1
steps:
  - cal: echo
"""
LOCAL = """\
word: hi
token: env:DEMO_TOKEN
"""


@asynccontextmanager
async def on_calls(
    files: dict[str, str], *, size: tuple[int, int] = WIDE, tab: bool = True, **more: Any
) -> AsyncIterator[Live]:
    """The app on the demo server in a folder with these files, with the tab of saved calls."""
    for name, text in files.items():
        path = Path(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    async with running(demo(), size=size, until="connected" if size[0] >= 120 else "Tools", **more) as live:
        if tab:
            await live[1].press("9")
        yield live


FILES = {"calls/echo.yaml": ORDERS, "calls/bad.yaml": WRONG, "calls/env/local.yaml": LOCAL}


async def test_the_tab_lists_flows_steps_errors_and_environments() -> None:
    async with on_calls(FILES) as (app, pilot):
        await shows(app, pilot, "calls/echo.yaml")
        text = screen_text(app)
        assert "9 Calls" in screen_lines(app)[1]
        assert_in(text, "1 flow  1 error", "✗ calls/bad.yaml:3", "· greet", "calls/env", "2 variables")
        assert "Unknown key “cal”." in text, "the file under the cursor says what is wrong with it"
        assert "Did you mean “call”?" in text


async def ran(app: InspectorApp, pilot: Pilot[Any], words: str, *keys: str) -> None:
    """Press keys, and wait until nothing runs and the screen shows these words."""
    await pilot.press(*keys)
    saved = main_screen(app).panes.saved_calls
    await becomes(app, pilot, lambda: saved.running is None and words in screen_text(app), words)
    await quiet(app)


async def test_a_flow_runs_on_the_open_session_and_shows_expected_above_found() -> None:
    async with on_calls({"calls/echo.yaml": ORDERS}) as (app, pilot):
        await shows(app, pilot, "calls/echo.yaml")
        await ran(app, pilot, "1 failed", "ctrl+r")
        lines = screen_lines(app)
        assert "2 of 3 steps  1 failed" in screen_text(app)
        at = next(at for at, line in enumerate(lines) if "✗ $.structuredContent.sum" in line)
        assert "expected  4" in lines[at + 1]
        assert "found     3" in lines[at + 2]
        assert "line 18" in lines[at + 3]
        assert "said = $.content[0].text → hello 4711" in screen_text(app)
        assert any("✗ calls/echo.yaml" in line for line in lines), "the list says it, too"
        assert any("✓ greet" in line for line in lines)
        await shows(app, pilot, "run calls/echo.yaml")  # The log shows the messages of the run.
        assert "tools/list" not in screen_text(app), "and no others"
        messages = main_screen(app).panes.messages
        await press(pilot, "1", until=lambda: messages.filter is None, what="all messages")
        assert messages.query_one(MessageList).follow, "as before the run"
        await press(pilot, "9", until=lambda: messages.filter is not None, what="of the run")
        await press(pilot, "m", "escape", shows="tools/list")


async def test_the_run_of_another_session_is_remembered_with_its_time() -> None:
    files = {"calls/echo.yaml": ORDERS}
    async with on_calls(files) as (app, pilot):
        await shows(app, pilot, "calls/echo.yaml")
        await ran(app, pilot, "1 failed", "ctrl+r")
    async with on_calls(files) as (app, pilot):
        await shows(app, pilot, "✗ sum")
        text = screen_text(app)
        assert_in(text, "✓ greet", "calls/echo.yaml  today ")
        assert "· within 1 min" in text, "what the steps expect is shown without its result"
        assert "2 of 3 steps  1 failed" in text


async def test_one_step_runs_alone_with_what_the_others_captured() -> None:
    async with on_calls({"calls/echo.yaml": ORDERS}) as (app, pilot):
        await shows(app, pilot, "calls/echo.yaml")
        await ran(app, pilot, "has no value", "end", "ctrl+r")
        await ran(app, pilot, "1 failed", "home", "ctrl+r")
        before = len(main_screen(app).session.journal)
        await ran(app, pilot, "✓ again", "end", "ctrl+r")
        journal = main_screen(app).session.journal
        sent = [journal.event(n).message for n in range(before + 1, len(journal) + 1) if journal.index.dir(n) == 1]
        assert [message["params"]["arguments"] for message in sent] == [{"message": "hello 4711"}]
        assert "2 of 3 steps  1 failed" in screen_text(app), "what is known of the other steps stays"


async def test_enter_goes_to_the_steps_opens_one_and_the_log_follows() -> None:
    async with on_calls({"calls/echo.yaml": ORDERS}) as (app, pilot):
        await shows(app, pilot, "calls/echo.yaml")
        await ran(app, pilot, "1 failed", "ctrl+r")
        await pilot.press("down", "enter")
        flow = main_screen(app).panes.flow
        await becomes(app, pilot, lambda: flow.has_focus_within, "the focus")
        assert flow.place.number == 1
        await press(pilot, "enter", shows="messages →")

        await press(pilot, "enter", until=lambda: "messages →" not in screen_text(app), what="closed")
        await pilot.press("right_square_bracket")
        await becomes(app, pilot, lambda: flow.place is not None and flow.place.number == 2, "the failure")
        answer = main_screen(app).panes.saved_calls.runs[flow.place.path].steps[2][0].answer
        await becomes(app, pilot, lambda: main_screen(app).panes.messages.current == answer, "its message")
        await pilot.press("escape")
        assert main_screen(app).panes.calls.has_focus_within  # type: ignore[union-attr]


async def test_all_flows_run_and_the_next_failure_is_gone_to() -> None:
    good = "inspector: 1\nsteps:\n  - call: echo\n    args: {message: hi}\n"
    async with on_calls({**FILES, "calls/good.yaml": good}) as (app, pilot):
        await shows(app, pilot, "calls/good.yaml")
        await ran(app, pilot, "✓ calls/good.yaml", "R")
        assert "✗ calls/echo.yaml" in screen_text(app)
        calls = main_screen(app).panes.calls
        assert calls is not None
        await pilot.press("home", "right_square_bracket")
        assert (calls.row.kind, calls.row.name) == ("step", "sum")
        await pilot.press("right_square_bracket")
        assert calls.row.kind == "error", "a file that cannot be used counts, and the search goes round"


async def test_the_environment_is_chosen_and_its_values_are_sent(monkeypatch: Any) -> None:
    monkeypatch.setenv("DEMO_TOKEN", "s3cret-token-value")
    flow = 'inspector: 1\nvars: {word: hello, token: ""}\nsteps:\n  - call: echo\n    args: {message: "{{word}} {{token}}"}\n'
    async with on_calls({"calls/echo.yaml": flow, "calls/env/local.yaml": LOCAL}) as (app, pilot):
        await shows(app, pilot, "calls/env")
        await press(pilot, "E", shows="only the variables of the flows")
        await press(pilot, "down", "enter", shows="in use")
        assert "env local" in screen_text(app)
        assert "env:DEMO_TOKEN" in screen_text(app), "a secret is shown as it is named"
        await ran(app, pilot, "✓ calls/echo.yaml", "ctrl+r")
        await press(pilot, "down", "enter", "enter", shows="messages →")
        text = screen_text(app)
        results = main_screen(app).panes.saved_calls.runs[Path("calls/echo.yaml").absolute()].steps[1]
        assert results[0].arguments == {"message": "hi ***"}
        assert "s3cret" not in text
        journal = main_screen(app).session.journal
        assert not any("s3cret" in journal.event(n).text for n in range(1, len(journal) + 1))
    async with on_calls({}) as (app, pilot):
        await shows(app, pilot, "env local")
        assert "in use" in screen_text(app), "the next session remembers it"
        await press(pilot, "end", shows="enter use no more")
        await press(pilot, "enter", until=lambda: "in use" not in screen_text(app), what="not in use")


async def test_the_file_is_opened_in_the_editor_at_the_line_and_read_again(monkeypatch: Any, tmp_path: Path) -> None:
    seen = tmp_path / "seen"
    editor = tmp_path / "nano"
    editor.write_text(f'#!/bin/sh\necho "$@" > {seen}\nsed -i s/greet/welcome/ "$2"\n')
    editor.chmod(0o755)
    monkeypatch.setenv("EDITOR", str(editor))
    monkeypatch.delenv("VISUAL", raising=False)
    async with on_calls({"calls/echo.yaml": ORDERS}) as (app, pilot):
        from contextlib import nullcontext

        monkeypatch.setattr(app, "suspend", nullcontext)
        await shows(app, pilot, "calls/echo.yaml")
        await press(pilot, "down", "down", "e", shows="welcome")
        assert seen.read_text().split() == ["+13", str(Path("calls/echo.yaml").absolute())]


async def test_a_filter_narrows_the_list_and_esc_drops_it() -> None:
    good = "inspector: 1\nsteps:\n  - read: demo://hello\n"
    async with on_calls({**FILES, "calls/good.yaml": good}) as (app, pilot):
        await shows(app, pilot, "calls/good.yaml")
        await press(pilot, "slash", *"greet", until=lambda: "good.yaml" not in screen_text(app), what="narrowed")
        assert "greet" in screen_text(app)
        await press(pilot, "enter", "escape", shows="calls/good.yaml")


async def test_in_one_column_the_list_then_the_steps() -> None:
    async with on_calls({"calls/echo.yaml": ORDERS}, size=NARROW) as (app, pilot):
        await shows(app, pilot, "calls/echo.yaml")
        await ran(app, pilot, "✗ sum", "ctrl+r")
        assert "expected" not in screen_text(app)
        await press(pilot, "down", "down", "enter", shows="expected  4")
        assert "Calls › Echo and add" in screen_text(app)
        flow = main_screen(app).panes.flow
        assert flow.place.number == 2, "the cursor is on the step that was chosen"
        await press(pilot, "escape", shows="✓ greet")
        assert "expected" not in screen_text(app)


async def test_a_run_is_stopped_and_says_what_did_not_run() -> None:
    slow = "inspector: 1\nsteps:\n  - wait: 5 min\n  - call: echo\n    args: {message: hi}\n"
    async with on_calls({"calls/slow.yaml": slow}) as (app, pilot):
        await shows(app, pilot, "calls/slow.yaml")
        await press(pilot, "ctrl+r", shows="esc stop")
        await ran(app, pilot, "interrupted", "escape")
        assert "esc stop" not in screen_text(app)


async def test_a_recording_shows_the_flows_and_runs_none() -> None:
    from tests.tui.live_app import on_recording

    Path("calls").mkdir()
    Path("calls/echo.yaml").write_text(ORDERS)
    async with on_recording(until="echo") as (app, pilot):
        await press(pilot, "9", shows="calls/echo.yaml")
        assert_not_in(screen_text(app), "^r run", "R run all")
        await pilot.press("ctrl+r", "R")
        await quiet(app)
        assert main_screen(app).panes.saved_calls.running is None


async def test_without_flows_it_says_how_to_make_one() -> None:
    async with on_calls({}) as (app, pilot):
        await shows(app, pilot, "calls has no flows.")
        assert "^s in a form saves its call" in " ".join(screen_text(app).split())


# Saving


async def test_saving_a_call_writes_a_new_flow_and_then_appends_to_it() -> None:
    async with on_calls({}, tab=False) as (app, pilot):
        await to_tool(app, pilot, "echo")
        await press(pilot, *"hello", "ctrl+s", shows="Save echo")
        await shows(app, pilot, "message: hello")
        await press(pilot, "enter", shows="Saved to calls/echo.yaml:5.")
        assert "calls/flow.schema.json, written beside it" in " ".join(screen_text(app).split())
        first = Path("calls/echo.yaml").read_text()
        assert "call: echo" in first
        await shows(app, pilot, "saved  echo › hello")
        await press(pilot, "backspace", "ctrl+s", shows="after 1 step")
        await press(pilot, "enter", until=lambda: Path("calls/echo.yaml").read_text() != first, what="appended")
        second = Path("calls/echo.yaml").read_text()
        assert second.startswith(first)
        assert "message: hell}" in second
        await shows(app, pilot, "echo › hell")


async def test_a_saved_call_is_loaded_with_one_key_and_called() -> None:
    async with on_calls({"calls/echo.yaml": ORDERS}, tab=False) as (app, pilot):
        await becomes(app, pilot, lambda: bool(main_screen(app).panes.saved_calls.flows), "read")
        await to_tool(app, pilot, "echo")
        await shows(app, pilot, "echo › greet")
        await pilot.press(*"mine", "f5")
        await becomes(
            app, pilot, lambda: main_screen(app).panes.work.request.form.value == {"message": "hello 4711"}, "loaded"
        )
        await press(pilot, "ctrl+r", until=lambda: main_screen(app).panes.work.result.answer is not None, what="called")
        await pilot.press("f5")
        await becomes(
            app, pilot, lambda: main_screen(app).panes.work.request.form.value == {"message": "{{said}}"}, "the other"
        )
        await pilot.press("f5")
        await becomes(
            app, pilot, lambda: main_screen(app).panes.work.request.form.value == {"message": "mine"}, "what was typed"
        )


async def test_a_text_that_was_sent_is_saved_as_a_text_and_a_variable_of_a_saved_step_as_one() -> None:
    async with on_calls({"calls/echo.yaml": ORDERS}, tab=False) as (app, pilot):
        await becomes(app, pilot, lambda: bool(main_screen(app).panes.saved_calls.flows), "read")
        await to_tool(app, pilot, "echo")
        form = main_screen(app).panes.work.request.form
        await form.load({"message": "{{token}}"})
        await press(pilot, "ctrl+s", shows='message: "{{{{token}}"')
        await pilot.press("escape")
        await form.load({"message": "{{said}}"})
        await press(pilot, "ctrl+s", shows='message: "{{said}}"')


async def test_an_environment_of_a_cloned_folder_is_used_after_a_question(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (home / "clone" / ".git").mkdir(parents=True)
    monkeypatch.chdir(home / "clone")
    monkeypatch.setenv("DEMO_TOKEN", "s3cret-token-value")
    flow = 'inspector: 1\nvars: {token: ""}\nsteps:\n  - call: echo\n    args: {message: "{{token}}"}\n'
    files = {"calls/echo.yaml": flow, "calls/env/local.yaml": LOCAL}
    async with on_calls(files) as (app, pilot):
        saved = main_screen(app).panes.saved_calls
        await shows(app, pilot, "calls/env")
        await press(pilot, "E", "down", "enter", shows="in use")
        assert saved.secrets() == [], "nothing is read before"
        await press(pilot, "home", "ctrl+r", shows="Allow environment local?")
        shown = " ".join(screen_text(app).split())
        assert "environment variable DEMO_TOKEN in variable token" in shown
        assert "inspector.demo" in shown.replace("│", "").replace(" ", "")
        await pilot.press("escape")
        await ran(app, pilot, "opened.")  # "was not opened": one word cannot be broken between two lines
        assert saved.secrets() == []
        await press(pilot, "ctrl+r", shows="Allow environment local?")
        await ran(app, pilot, "✓ calls/echo.yaml", "o")
        assert saved.secrets() == ["s3cret-token-value"]
        await ran(app, pilot, "✓ calls/echo.yaml", "ctrl+r")
        assert "s3cret" not in screen_text(app)
    assert not (home / "trust.json").exists()


async def test_a_variable_is_offered_where_it_holds_the_value() -> None:
    async with on_calls({"calls/echo.yaml": ORDERS}, tab=False) as (app, pilot):
        await becomes(app, pilot, lambda: bool(main_screen(app).panes.saved_calls.flows), "read")
        await to_tool(app, pilot, "echo")
        await press(pilot, *"hello", "ctrl+s", shows="{{word}}  instead of")
        await shows(app, pilot, 'message: "{{word}}"')
        await press(pilot, "tab", "tab", "space", shows="message: hello")
        await pilot.press("space", "enter")
        await becomes(app, pilot, lambda: Path("calls/echo.yaml").read_text() != ORDERS, "appended")
        written = Path("calls/echo.yaml").read_text()
        assert written == ORDERS + '  - call: echo\n    args: {message: "{{word}}"}\n'


async def test_letters_are_typed_in_the_dialog_and_esc_writes_nothing() -> None:
    async with on_calls({}, tab=False) as (app, pilot):
        await to_tool(app, pilot, "echo")
        await press(pilot, "h", "ctrl+s", shows="Save echo")
        await press(pilot, *" R9q", "tab", "end", *"x", shows="echo R9q")
        await shows(app, pilot, "calls/echo.yamlx")
        await press(pilot, "enter", shows="ends in .yaml")
        await pilot.press("escape")
        await quiet(app)
        assert not Path("calls").exists()
        assert main_screen(app).panes.work.request.form.value == {"message": "h"}, "nothing typed is lost"


async def test_a_password_is_never_written() -> None:
    async with on_calls({}, tab=False) as (app, pilot):
        await to_tool(app, pilot, "free-form")
        form = main_screen(app).panes.work.request.form
        await form.load({"data": {"user": "ann", "password": "hunter2-hunter2"}})
        await press(pilot, "ctrl+s", shows="is not written")
        assert "{{password}}" in screen_text(app)
        await press(pilot, "enter", shows="Saved to calls/free-form.yaml")
        written = Path("calls/free-form.yaml").read_text()
        assert 'data: {user: ann, password: "{{password}}"}' in written
        assert "hunter2" not in written


async def test_a_call_of_the_session_is_saved_from_the_tab() -> None:
    async with on_calls({}, tab=False) as (app, pilot):
        await to_tool(app, pilot, "echo")
        await pilot.press(*"earlier", "ctrl+r")
        await becomes(app, pilot, lambda: main_screen(app).panes.work.result.answer is not None, "called")
        await press(pilot, "escape", "9", "n", shows="Save a call of this session")
        await press(pilot, "enter", shows="Save echo")
        await pilot.press("enter")
        await shows(app, pilot, "✓" if False else "calls/echo.yaml")
        await becomes(app, pilot, Path("calls/echo.yaml").exists, "written")
        assert "message: earlier" in Path("calls/echo.yaml").read_text()


async def test_a_flow_of_another_server_gets_no_step_and_run_all_leaves_it_out() -> None:
    other = 'inspector: 1\nserver: "@shop"\nsteps:\n  - call: echo\n    args: {message: other}\n'
    own = "inspector: 1\nserver: '@demo'\nsteps:\n  - call: echo\n    args: {message: own}\n"
    async with on_calls({"calls/shop.yaml": other}, tab=False) as (app, pilot):
        await becomes(app, pilot, lambda: bool(main_screen(app).panes.saved_calls.flows), "read")
        await to_tool(app, pilot, "echo")
        await press(pilot, *"hello", "ctrl+s", shows="file  calls/echo.yaml")
        await press(pilot, "tab", "up", shows="This flow is of another server: @shop.")
        await press(pilot, "down", "enter", shows="Saved to calls/echo.yaml")
        assert Path("calls/shop.yaml").read_text() == other
        Path("calls/echo.yaml").write_text(own)
        await press(pilot, "escape", "9", shows="calls/shop.yaml")
        await ran(app, pilot, "✓ calls/echo.yaml", "end", "R")
        said = "calls/shop.yaml (server: @shop). ^r on a flow runs it here."
        await shows(app, pilot, said)
        assert_in(screen_text(app), "· calls/shop.yaml", "server  @shop  not this one")


# Expectations


async def with_result(app: InspectorApp, pilot: Pilot[Any], tool: str, *keys: str) -> None:
    await to_tool(app, pilot, tool)
    await pilot.press(*keys, "ctrl+r")
    await becomes(app, pilot, lambda: main_screen(app).panes.work.result.answer is not None, "the result")
    main_screen(app).panes.work.result.focus_inside()
    await shows(app, pilot, "E expect")


async def test_an_expectation_from_a_result_is_saved_with_its_call_and_holds() -> None:
    async with on_calls({}, tab=False) as (app, pilot):
        await with_result(app, pilot, "add", "2", "tab", "3")
        await press(pilot, "d", "E", shows="$.structuredContent is")
        await press(pilot, "enter", shows="Save add")
        await press(pilot, "enter", shows="Saved to calls/add.yaml:5.")
        written = Path("calls/add.yaml").read_text()
        expected = "    expect:\n      result:\n        $.structuredContent: {exactly: {sum: 5}}\n"
        assert written.endswith(expected)
        await ran(app, pilot, "✓ calls/add.yaml", "9", "ctrl+r")


async def test_the_value_under_the_cursor_is_expected() -> None:
    async with on_calls({}, tab=False) as (app, pilot):
        await with_result(app, pilot, "weather", "space")
        await pilot.press("e", "d")
        view = main_screen(app).panes.work.result.body.json
        await becomes(app, pilot, lambda: view.display and view.document is not None, "the JSON")
        pointer = view.document.pointer(1)
        await pilot.press("down", "E")
        await shows(app, pilot, f"$.structuredContent.{pointer[1:]} is")
        await pilot.press("escape")


async def test_a_new_view_of_the_result_gets_the_focus_at_once() -> None:
    async with on_calls({}, tab=False) as (app, pilot):
        await with_result(app, pilot, "weather", "space")
        result = main_screen(app).panes.work.result
        views = [result.body.main]
        for choose in (result.action_json, result.action_structured, result.action_content):
            choose()
            assert app.focused is result.body.main
            views.append(result.body.main)
        assert result.body.json in views
        assert result.body.content in views


async def test_the_same_shape_and_a_snapshot_hold_when_the_flow_runs() -> None:
    async with on_calls({}, tab=False) as (app, pilot):
        await with_result(app, pilot, "add", "2", "tab", "3")
        for line, keys in ((5, ("down",)), (11, ("down", "down"))):
            await press(pilot, "E", shows="Expect of this result")
            await pilot.press(*keys, "enter")
            await becomes(app, pilot, lambda: "Save add" in screen_text(app) or "Where to write" in screen_text(app))
            await press(pilot, "enter", shows=f"Saved to calls/add.yaml:{line}.")
        await becomes(app, pilot, lambda: "same_as: snapshots/add.json" in Path("calls/add.yaml").read_text(), "both")
        assert Path("calls/snapshots/add.json").exists()
        await press(pilot, "9", shows="calls/add.yaml")
        await ran(app, pilot, "✓ calls/add.yaml", "home", "ctrl+r")
        assert "1 of 1 step" in screen_text(app), Path("calls/add.yaml").read_text()


async def test_the_expectation_of_a_saved_call_leaves_its_lines_alone() -> None:
    async with on_calls({"calls/echo.yaml": ORDERS}, tab=False) as (app, pilot):
        await becomes(app, pilot, lambda: bool(main_screen(app).panes.saved_calls.flows), "read")
        await to_tool(app, pilot, "echo")
        await pilot.press("f5", "ctrl+r")
        await becomes(app, pilot, lambda: main_screen(app).panes.work.result.answer is not None, "the result")
        main_screen(app).panes.work.result.focus_inside()
        await press(pilot, "E", shows='$.content[0].text is "hello 4711"')
        await press(pilot, "enter", shows="Lines that are in a file are never changed")
        assert "open calls/echo.yaml:5 in $EDITOR" in screen_text(app)
        await press(pilot, "enter", shows="Save echo")
        await press(pilot, "enter", until=lambda: Path("calls/echo.yaml").read_text() != ORDERS, what="appended")
        assert Path("calls/echo.yaml").read_text().startswith(ORDERS)


# After a restart

SERVER = """
import json, sys
for line in sys.stdin:
    asked = json.loads(line)
    if "id" not in asked:
        continue
    found = {
        "initialize": {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}},
                       "serverInfo": {"name": "weather", "version": "1"}},
        "tools/list": {"tools": [{"name": "now", "description": ABOUT, "inputSchema": {"type": "object"}},
                                 {"name": "other", "inputSchema": {"type": "object"}}]},
        "tools/call": {"content": [{"type": "text", "text": WEATHER}]},
    }.get(asked["method"])
    said = {"result": found} if found else {"error": {"code": -32601, "message": "no"}}
    print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], **said}), flush=True)
"""


def serve(folder: Path, weather: str) -> StdioTarget:
    """Write a server that answers with this weather."""
    folder.mkdir(exist_ok=True)
    (folder / "server.py").write_text(f"WEATHER = {weather!r}\nABOUT = WEATHER\n{SERVER}")
    return StdioTarget((sys.executable, "server.py"), cwd=str(folder), name="weather")


WEATHER_FLOW = """\
inspector: 1
steps:
  - name: now
    call: now
    expect: {result: {"$.content[0].text": sunny}}
"""


async def test_after_a_restart_chosen_flows_run_again_and_green_to_red_is_reported(tmp_path: Path) -> None:
    Path("calls").mkdir()
    Path("calls/weather.yaml").write_text(WEATHER_FLOW)
    target = serve(tmp_path / "weather", "sunny")
    async with running(target, until="Tools 2", watch=True) as (app, pilot):
        await press(pilot, "9", shows="calls/weather.yaml")
        await ran(app, pilot, "✓ calls/weather.yaml", "P", "ctrl+r")
        await shows(app, pilot, "runs on restart")
        await pilot.pause(0.4)
        serve(tmp_path / "weather", "rain")
        await shows(app, pilot, "It passed before the restart, and fails now at step 1")
        assert_in(screen_text(app), '$.content[0].text "sunny" → "rain"', "✗ now")
        await pilot.press("1")
        rows = main_screen(app).panes.catalog.rows
        assert rows.changed == {"now"}, "the tool with another description is marked"
        line = next(line for line in screen_lines(app) if line.startswith("│ now"))
        assert "●" in line[:34]
        await pilot.press("down", "up")
        assert not rows.changed, "until it is visited"
        serve(tmp_path / "weather", "sunny")
        await press(pilot, "9", shows="It failed before the restart, and passes now.")


async def test_after_a_restart_the_pinned_call_is_sent_again_and_says_what_changed(tmp_path: Path) -> None:
    target = serve(tmp_path / "weather", "sunny")
    async with running(target, until="Tools 2", watch=True) as (app, pilot):
        await with_result(app, pilot, "now")
        await press(pilot, "P", shows="runs on restart")
        await pilot.pause(0.4)
        serve(tmp_path / "weather", "rain")
        await shows(app, pilot, "1 change since the restart")
        assert '$.content[0].text "sunny" → "rain"' in screen_text(app)
        await press(pilot, "P", until=lambda: "runs on restart" not in screen_text(app), what="no more")


async def test_a_secret_in_a_result_is_not_written(monkeypatch: Any) -> None:
    monkeypatch.setenv("DEMO_TOKEN", "s3cret-token-value")
    async with on_calls({"calls/echo.yaml": ORDERS, "calls/env/local.yaml": LOCAL}) as (app, pilot):
        await shows(app, pilot, "calls/env")
        await press(pilot, "end", "enter", shows="in use")
        await with_result(app, pilot, "echo", *"s3cret-token-value")
        await press(pilot, "E", shows="Expect of this result")
        text = screen_text(app)
        assert "only its shape can be written" in " ".join(text.split())
        assert_not_in(text, "same value", "same as a file")


def test_what_differs_in_two_long_values_is_shown() -> None:
    from inspector.tui.work.answer_changes import difference_texts

    long = "the same beginning of both of them, and more, "
    (text,) = difference_texts({"t": f"{long}sun{long}"}, {"t": f"{long}rain{long}"})
    assert text.startswith("$.t …")
    assert_in(text, "sunthe same", "rainthe same")
    assert len(text) < 110
    assert difference_texts({"n": 1}, {"n": 2}) == ["$.n 1 → 2"]


SUM = """\
inspector: 1
steps:
  - call: echo
    args: {message: hi}
  - call: add
    args: {a: 1, b: 2}
    expect: {result: {$.structuredContent.sum: 3}}
"""


@pytest.fixture
def unwatched(monkeypatch: Any) -> None:
    """The files are not looked at by themselves."""
    monkeypatch.setattr("inspector.tui.calls.controller.LOOK_AT_FILES", 600)


@pytest.fixture
def watched(monkeypatch: Any) -> None:
    """The files are looked at often."""
    monkeypatch.setattr("inspector.tui.calls.controller.LOOK_AT_FILES", 0.05)


@pytest.mark.parametrize("key", ["ctrl+r", "R"])
@pytest.mark.usefixtures("unwatched")
async def test_a_run_uses_the_files_as_they_are_now(key: str) -> None:
    async with on_calls({"calls/sum.yaml": SUM}) as (app, pilot):
        await shows(app, pilot, "calls/sum.yaml")
        await ran(app, pilot, "✓ add", key)
        Path("calls/sum.yaml").write_text(SUM.replace("sum: 3", "sum: 99"))
        await ran(app, pilot, "1 failed", key)
        Path("calls/sum.yaml").write_text("inspector: 1\nsteps:\n  - cal: echo\n")
        await ran(app, pilot, "✗ calls/sum.yaml:3", key)


@pytest.mark.usefixtures("unwatched")
async def test_run_all_runs_a_new_file() -> None:
    async with on_calls({"calls/sum.yaml": SUM}) as (app, pilot):
        await shows(app, pilot, "calls/sum.yaml")
        Path("calls/more").mkdir()
        Path("calls/more/new.yaml").write_text(SUM)
        await ran(app, pilot, "✓ calls/more/new.yaml", "R")


@pytest.mark.usefixtures("watched")
async def test_files_changed_outside_are_shown_and_a_result_of_their_old_text_is_not() -> None:
    async with on_calls({"calls/sum.yaml": SUM}) as (app, pilot):
        await shows(app, pilot, "calls/sum.yaml")
        await ran(app, pilot, "✓ add", "ctrl+r")
        Path("calls/sum.yaml").write_text("# a comment\n" + SUM)
        Path("calls/new.yaml").write_text(SUM)
        await shows(app, pilot, "calls/new.yaml")
        assert "✓ add" in screen_text(app), "a comment changes nothing of what ran"
        Path("calls/sum.yaml").write_text(SUM.replace("sum: 3", "sum: 99"))
        await shows(app, pilot, "changed since it ran")
        assert "✓" not in "".join(line for line in screen_lines(app) if "· add" in line or "sum.yaml" in line)
        assert "$.structuredContent.sum is 99" in screen_text(app)
        Path("calls/new.yaml").unlink()
        await becomes(app, pilot, lambda: "calls/new.yaml" not in screen_text(app), "gone")
    async with on_calls({}) as (app, pilot):
        await shows(app, pilot, "changed since it ran")  # Also in the next session.


@pytest.mark.usefixtures("unwatched")
async def test_a_step_that_moved_runs_as_itself_and_one_that_is_gone_does_not_run() -> None:
    async with on_calls({"calls/sum.yaml": SUM}) as (app, pilot):
        await shows(app, pilot, "calls/sum.yaml")
        await pilot.press("end")
        Path("calls/sum.yaml").write_text(SUM.replace("steps:\n", "steps:\n  - call: fail\n"))
        await ran(app, pilot, "✓ add", "ctrl+r")
        assert "✗" not in screen_text(app), "the step that has its number now did not run"
        await pilot.press("end")
        Path("calls/sum.yaml").write_text(SUM.replace("call: add", "call: echo"))
        await press(pilot, "ctrl+r", shows="calls/sum.yaml has changed: choose the step again.")
