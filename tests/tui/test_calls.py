"""Saved calls in the interface: the tab of flows, saving a call, expectations from results, runs after a restart."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, nullcontext
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot

from inspector.config.targets import StdioTarget
from inspector.tui.app import InspectorApp
from inspector.tui.log.message_list import MessageList
from inspector.tui.model.widths import LIST_CELLS
from inspector.tui.widgets.pane import Pane
from inspector.tui.work.answer_changes import difference_texts
from tests.tui.idle import quiet
from tests.tui.live_app import (
    NARROW,
    WIDE,
    Live,
    becomes,
    demo,
    main_screen,
    on_recording,
    panes,
    running,
    shows,
    to_tool,
)
from tests.tui.small_server import small_server
from tests.tui.tui_screens import assert_in, press, screen_lines, screen_text, settle

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


GOOD = "inspector: 1\nsteps:\n  - call: echo\n    args: {message: hi}\n"


@asynccontextmanager
async def on_calls(
    files: dict[str, str], *, size: tuple[int, int] = WIDE, tool: str = "", **more: Any
) -> AsyncIterator[Live]:
    """The app in a folder with these files, which are listed; or in the form of a tool."""
    for name, text in files.items():
        path = Path(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    async with running(demo(), size=size, until="connected" if size[0] >= 120 else "Tools", **more) as (app, pilot):
        if tool:
            await becomes(app, pilot, lambda: bool(panes(app).saved_calls.flows) or not files, "read")
            await to_tool(app, pilot, tool)
        else:
            await press(pilot, "9", shows=tuple(name for name in files if "/env/" not in name))
        yield app, pilot


FILES = {"calls/echo.yaml": ORDERS, "calls/bad.yaml": WRONG, "calls/env/local.yaml": LOCAL}
FLOW = {"calls/echo.yaml": ORDERS}


async def ran(app: InspectorApp, pilot: Pilot[Any], words: str, *keys: str) -> None:
    """Press keys, and wait until nothing runs and the screen shows these words."""
    await press(pilot, *keys, shows=words, until=lambda: panes(app).saved_calls.running is None)
    await quiet(app)


def written(name: str = "echo") -> str:
    """The file of a flow."""
    return Path(f"calls/{name}.yaml").read_text()


async def test_the_tab_lists_flows_steps_errors_and_environments_which_are_filtered_and_run() -> None:
    async with on_calls({**FILES, "calls/good.yaml": GOOD}) as (app, pilot):
        assert "9 Saved 2" in screen_lines(app)[1]
        # The file under the cursor says what is wrong with it.
        await shows(app, pilot, "2 saved calls  1 error", "✗ calls/bad.yaml:3", "· greet", "calls/env", "2 variables",
                    "Unknown key “cal”.", "Did you mean “call”?")  # fmt: skip
        await press(pilot, "slash", *"greet", shows="greet", hides="good.yaml")
        await press(pilot, "enter", "escape", shows="calls/good.yaml")
        await ran(app, pilot, "✓ calls/good.yaml", "R")
        assert "✗ calls/echo.yaml" in screen_text(app)
        calls = panes(app).calls
        assert calls is not None
        await pilot.press("home", "right_square_bracket")
        assert (calls.row.kind, calls.row.name) == ("step", "sum")
        await pilot.press("right_square_bracket")
        assert calls.row.kind == "error", "a file that cannot be used counts, and the search goes round"


async def test_a_flow_runs_on_the_open_session_and_its_result_is_shown_in_the_next_one_too() -> None:
    async with on_calls(FLOW) as (app, pilot):
        await ran(app, pilot, "1 failed", "ctrl+r")
        lines = screen_lines(app)
        at = next(at for at, line in enumerate(lines) if "✗ $.structuredContent.sum" in line)
        for line, words in zip(lines[at + 1 :], ("expected  4", "found     3", "line 18"), strict=False):
            assert words in line
        assert any("✗ calls/echo.yaml" in line for line in lines), "the list says it, too"
        assert any("✓ greet" in line for line in lines)
        # The log shows the messages of the run, and no others.
        capture_line = "said = $.content[0].text → hello 4711"
        await shows(app, pilot, "2 of 3 steps  1 failed", capture_line, "run calls/echo.yaml", without="tools/list")
        messages = panes(app).messages
        await press(pilot, "1", until=lambda: messages.filter is None, what="all messages")
        assert messages.query_one(MessageList).follow, "as before the run"
        await press(pilot, "9", until=lambda: messages.filter is not None, what="of the run")
        flow = panes(app).flow
        await press(pilot, "down", "enter", until=lambda: flow.has_focus_within)
        assert flow.place.number == 1
        await press(pilot, "enter", shows="messages →")
        await press(pilot, "enter", hides="messages →")
        await press(pilot, "right_square_bracket", until=lambda: flow.place is not None and flow.place.number == 2)
        answer = panes(app).saved_calls.runs[flow.place.path].steps[2][0].answer
        await becomes(app, pilot, lambda: panes(app).messages.current == answer, "at its message")
        await pilot.press("escape")
        assert panes(app).calls.has_focus_within  # type: ignore[union-attr]
        await press(pilot, "m", "escape", shows="connected:")
    async with on_calls(FLOW) as (app, pilot):
        # What the steps expect is shown without its result.
        await shows(
            app, pilot, "✗ sum", "✓ greet", "calls/echo.yaml  today ", "· within 1 min", "2 of 3 steps  1 failed"
        )


async def test_one_step_runs_alone_with_what_the_others_captured() -> None:
    async with on_calls(FLOW) as (app, pilot):
        await ran(app, pilot, "has no value", "end", "ctrl+r")
        await ran(app, pilot, "1 failed", "home", "ctrl+r")
        journal = main_screen(app).session.journal
        before = len(journal)
        await ran(app, pilot, "✓ again", "end", "ctrl+r")
        sent = [journal.event(n).message for n in range(before + 1, len(journal) + 1) if journal.index.dir(n) == 1]
        assert [message["params"]["arguments"] for message in sent] == [{"message": "hello 4711"}]
        assert "2 of 3 steps  1 failed" in screen_text(app), "what is known of the other steps stays"


async def test_the_environment_is_chosen_and_its_values_are_sent(monkeypatch: Any) -> None:
    monkeypatch.setenv("DEMO_TOKEN", "s3cret-token-value")
    flow = 'inspector: 1\nvars: {word: hello, token: ""}\nsteps:\n  - call: echo\n    args: {message: "{{word}} {{token}}"}\n'
    async with on_calls({"calls/echo.yaml": flow, "calls/env/local.yaml": LOCAL}) as (app, pilot):
        await shows(app, pilot, "calls/env")
        await press(pilot, "E", shows="only the variables of the saved calls")
        # A secret is shown as it is named.
        await press(pilot, "down", "enter", shows=("in use", "env local", "env:DEMO_TOKEN"))
        await ran(app, pilot, "✓ calls/echo.yaml", "ctrl+r")
        await press(pilot, "down", "enter", "enter", shows="messages →", hides="s3cret")
        results = panes(app).saved_calls.runs[Path("calls/echo.yaml").absolute()].steps[1]
        assert results[0].arguments == {"message": "hi ***"}
        journal = main_screen(app).session.journal
        assert not any("s3cret" in journal.event(n).text for n in range(1, len(journal) + 1))
    async with on_calls({}) as (app, pilot):
        await shows(app, pilot, "env local", "in use")  # The next session remembers it.
        await press(pilot, "end", shows="enter use no more")
        await press(pilot, "enter", hides="in use")


async def test_the_file_is_opened_in_the_editor_at_the_line_and_read_again(monkeypatch: Any, tmp_path: Path) -> None:
    seen, editor = tmp_path / "seen", tmp_path / "nano"
    editor.write_text(f'#!/bin/sh\necho "$@" > {seen}\nsed -i s/greet/welcome/ "$2"\n')
    editor.chmod(0o755)
    monkeypatch.setenv("EDITOR", str(editor))
    monkeypatch.delenv("VISUAL", raising=False)
    async with on_calls(FLOW) as (app, pilot):
        monkeypatch.setattr(app, "suspend", nullcontext)
        await press(pilot, "down", "down", "e", shows="welcome")
        assert seen.read_text().split() == ["+13", str(Path("calls/echo.yaml").absolute())]


async def test_in_one_column_the_list_then_the_steps() -> None:
    async with on_calls(FLOW, size=NARROW) as (app, pilot):
        await ran(app, pilot, "✗ sum", "ctrl+r")
        assert "expected" not in screen_text(app)
        await press(pilot, "down", "down", "enter", shows=("expected  4", "Saved › Echo and add"))
        assert panes(app).flow.place.number == 2, "the cursor is on the step that was chosen"
        await press(pilot, "escape", shows="✓ greet", hides="expected")


async def test_a_run_is_stopped_and_says_what_did_not_run() -> None:
    slow = "inspector: 1\nsteps:\n  - wait: 5 min\n  - call: echo\n    args: {message: hi}\n"
    async with on_calls({"calls/slow.yaml": slow}) as (app, pilot):
        await press(pilot, "ctrl+r", shows="esc stop")
        await ran(app, pilot, "interrupted", "escape")
        assert "esc stop" not in screen_text(app)


async def test_a_recording_shows_the_flows_and_runs_none() -> None:
    Path("calls").mkdir()
    Path("calls/echo.yaml").write_text(ORDERS)
    async with on_recording(until="echo") as (app, pilot):
        await press(pilot, "9", shows="calls/echo.yaml", hides=("^r run", "R run all"))
        await pilot.press("ctrl+r", "R")
        await quiet(app)
        assert panes(app).saved_calls.running is None


async def test_without_flows_it_says_how_to_make_one() -> None:
    async with on_calls({}) as (app, pilot):
        await shows(app, pilot, "The folder calls has no saved calls.")
        assert "^s in a form saves its call" in " ".join(screen_text(app).split())


# Saving


async def test_a_call_is_saved_in_a_new_flow_and_the_next_one_appended_to_it() -> None:
    async with on_calls({}, tool="echo") as (app, pilot):
        await press(pilot, "h", "ctrl+s", shows="Save echo")
        await settle(pilot, lambda: app.screen.query_one(Pane).outer_size.height == 10, "as high as what it holds")
        await press(pilot, *" R9q", "tab", "end", *"x", shows=("echo R9q", "calls/echo.yamlx"))
        await press(pilot, "enter", shows="ends in .yaml")
        await pilot.press("escape")
        await quiet(app)
        assert not Path("calls").exists(), "escape writes nothing"
        assert panes(app).work.request.form.value == {"message": "h"}, "nothing typed is lost"
        await press(pilot, *"ello", "ctrl+s", shows=("Save echo", "message: hello"))
        await press(pilot, "enter", shows=("Saved to calls/echo.yaml:5.", "saved  echo › hello"))
        assert "calls/flow.schema.json, written beside it" in " ".join(screen_text(app).split())
        first = written()
        assert "call: echo" in first
        await press(pilot, "backspace", "ctrl+s", shows="after 1 step")
        await press(pilot, "enter", shows="echo › hell", until=lambda: written() != first)
        assert written().startswith(first)
        assert "message: hell}" in written()
        # From the tab of saved calls: one of this session
        second = written()
        await press(pilot, *"-3", "ctrl+r", until=lambda: panes(app).work.result.answer is not None)
        await press(pilot, "escape", "9", "n", shows="Save a call of this session")
        await press(pilot, "enter", shows="Save echo")
        await press(pilot, "enter", shows="calls/echo.yaml", until=lambda: written() != second)
        assert "message: hell-3" in written()


async def test_a_call_is_saved_from_the_list_and_on_its_result() -> None:
    async with on_calls({}, tool="echo") as (app, pilot):
        work = panes(app).work
        await press(pilot, *"sent", "ctrl+r", until=lambda: work.work.answer is not None)
        await press(pilot, "alt+r", until=lambda: work.result.has_focus_within)
        await press(pilot, "alt+r", until=lambda: work.request.has_focus_within)
        await press(pilot, *"other", shows="result of other arguments")
        await press(pilot, "escape", "ctrl+s", shows=("Save echo", "message: other"))
        await press(pilot, "escape", hides="Save echo")
        await press(pilot, "alt+r", "ctrl+s", shows=("Save echo", "message: sent}"))
        await press(pilot, "enter", shows="calls/echo.yaml")
        assert "message: sent}" in written()


async def test_a_saved_call_is_loaded_with_one_key_and_called() -> None:
    async with on_calls(FLOW, tool="echo") as (app, pilot):
        form = panes(app).work.request.form
        await shows(app, pilot, "echo › greet")
        await press(pilot, *"mine", "f5", until=lambda: form.value == {"message": "hello 4711"})
        await press(pilot, "ctrl+r", until=lambda: panes(app).work.result.answer is not None)
        await press(pilot, "f5", until=lambda: form.value == {"message": "{{said}}"})
        await press(pilot, "f5", until=lambda: form.value == {"message": "mine"}, what="what was typed")
        # A text that was sent is saved as a text, and a variable of a saved step as one.
        for text, saved in (("{{token}}", '"{{{{token}}"'), ("{{said}}", '"{{said}}"')):
            await form.load({"message": text})
            await press(pilot, "ctrl+s", shows=f"message: {saved}")
            await pilot.press("escape")


async def test_an_environment_of_a_clone_is_used_after_a_question(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (home / "clone" / ".git").mkdir(parents=True)
    monkeypatch.chdir(home / "clone")
    monkeypatch.setenv("DEMO_TOKEN", "s3cret-token-value")
    flow = 'inspector: 1\nvars: {token: ""}\nsteps:\n  - call: echo\n    args: {message: "{{token}}"}\n'
    async with on_calls({"calls/echo.yaml": flow, "calls/env/local.yaml": LOCAL}) as (app, pilot):
        saved = panes(app).saved_calls
        await shows(app, pilot, "calls/env")
        await press(pilot, "E", "down", "enter", shows="in use")
        assert saved.secrets() == [], "nothing is read before"
        await press(pilot, "home", "ctrl+r", shows="Allow environment local?")
        text = " ".join(screen_text(app).split())
        assert "environment variable DEMO_TOKEN in variable token" in text
        assert "inspector.demo" in text.replace("│", "").replace(" ", "")
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
    async with on_calls(FLOW, tool="echo") as (_app, pilot):
        await press(pilot, *"hello", "ctrl+s", shows=("{{word}}  instead of", 'message: "{{word}}"'))
        await press(pilot, "tab", "tab", "space", shows="message: hello")
        await press(pilot, "space", "enter", until=lambda: written() != ORDERS, what="appended")
        assert written() == ORDERS + '  - call: echo\n    args: {message: "{{word}}"}\n'


async def test_a_password_is_never_written() -> None:
    async with on_calls({}, tool="free-form") as (app, pilot):
        await panes(app).work.request.form.load({"data": {"user": "ann", "password": "hunter2-hunter2"}})
        await press(pilot, "ctrl+s", shows=("is not written", "{{password}}"))
        await press(pilot, "enter", shows="Saved to calls/free-form.yaml")
        assert 'data: {user: ann, password: "{{password}}"}' in written("free-form")
        assert "hunter2" not in written("free-form")


async def test_a_flow_of_another_server_gets_no_step_and_run_all_leaves_it_out() -> None:
    other = 'inspector: 1\nserver: "@shop"\nsteps:\n  - call: echo\n    args: {message: other}\n'
    own = "inspector: 1\nserver: '@demo'\nsteps:\n  - call: echo\n    args: {message: own}\n"
    async with on_calls({"calls/shop.yaml": other}, tool="echo") as (app, pilot):
        await press(pilot, *"hello", "ctrl+s", shows="file  calls/echo.yaml")
        await press(pilot, "tab", "up", shows="This saved call is of another server: @shop.")
        await press(pilot, "down", "enter", shows="Saved to calls/echo.yaml")
        assert written("shop") == other
        Path("calls/echo.yaml").write_text(own)
        await press(pilot, "escape", "9", shows="calls/shop.yaml")
        await ran(app, pilot, "✓ calls/echo.yaml", "end", "R")
        await shows(app, pilot, "calls/shop.yaml (server: @shop). ^r on a saved call runs it here.", "· calls/shop.yaml",
                    "server  @shop  not this one")  # fmt: skip


# Expectations


async def get_result(app: InspectorApp, pilot: Pilot[Any], *keys: str) -> None:
    """Call the tool of the form, and go to its result."""
    await press(pilot, *keys, "ctrl+r", until=lambda: panes(app).work.result.answer is not None, what="called")
    panes(app).work.result.focus_inside()
    await settle(pilot, lambda: panes(app).work.result.has_focus_within)


async def test_the_value_the_shape_and_a_snapshot_of_a_result_are_expected_and_hold() -> None:
    async with on_calls({}, tool="add") as (app, pilot):
        await get_result(app, pilot, "2", "tab", "3")
        await press(pilot, "d", "E", shows="$.structuredContent is")
        await press(pilot, "enter", shows="Save add")
        await press(pilot, "enter", shows="Saved to calls/add.yaml:5.")
        value = "    expect:\n      result:\n        $.structuredContent: {exactly: {sum: 5}}\n"
        assert written("add").endswith(value)
        await press(pilot, "E", shows="Expect of this result")
        await press(pilot, "down", "enter", shows="Lines that are in a file are never changed")
        await press(pilot, "enter", shows="Save add")
        await press(pilot, "enter", shows="Saved to calls/add.yaml:10.")
        await press(pilot, "E", shows="Expect of this result")
        await press(pilot, "down", "down", "enter", shows="Where to write the expectation")
        await press(pilot, "enter", until=lambda: "same_as: snapshots/add.json" in written("add"))
        assert Path("calls/snapshots/add.json").exists()
        await press(pilot, "9", shows="calls/add.yaml")
        await ran(app, pilot, "✓ calls/add.yaml", "home", "ctrl+r")
        assert "2 of 2 steps" in screen_text(app), written("add")


async def test_the_value_under_the_cursor_is_expected_and_each_view_has_the_focus_at_once() -> None:
    async with on_calls({}, tool="weather") as (app, pilot):
        await get_result(app, pilot, "space")
        result = panes(app).work.result
        views = [result.body.main]
        for choose in (result.action_json, result.action_json, result.action_next_tab):
            choose()
            assert app.focused is result.body.main
            views.append(result.body.main)
        assert {result.body.json, result.body.content} <= set(views)
        while result.answer is not None and result.answer.tab != "structured":
            await pilot.press("right_curly_bracket")
        view = result.body.json
        await becomes(app, pilot, lambda: view.display and view.document is not None, "the JSON")
        pointer = view.document.pointer(1)
        await press(pilot, "down", "E", shows=f"$.structuredContent.{pointer[1:]} is")
        await pilot.press("escape")


async def test_the_expectation_of_a_saved_call_leaves_its_lines_alone() -> None:
    async with on_calls(FLOW, tool="echo") as (app, pilot):
        await get_result(app, pilot, "f5")
        await press(pilot, "E", shows='$.content[0].text is "hello 4711"')
        unchanged = "Lines that are in a file are never changed"
        await press(pilot, "enter", shows=(unchanged, "open calls/echo.yaml:5 in $EDITOR"))
        await press(pilot, "enter", shows="Save echo")
        await press(pilot, "enter", until=lambda: written() != ORDERS, what="appended")
        assert written().startswith(ORDERS)


# After a restart


def serve(folder: Path, weather: str) -> StdioTarget:
    """Write a server that answers with this weather."""
    folder.mkdir(exist_ok=True)
    about = {"now": weather, "other": "always the same"}
    tools = [{"name": name, "description": text, "inputSchema": {"type": "object"}} for name, text in about.items()]
    result = {"content": [{"type": "text", "text": weather}]}
    source = small_server({"tools/list": repr({"tools": tools}), "tools/call": repr(result)})
    (folder / "server.py").write_text(source)
    return StdioTarget((sys.executable, "server.py"), cwd=str(folder), name="weather")


WEATHER_FLOW = """\
inspector: 1
steps:
  - name: now
    call: now
    expect: {result: {"$.content[0].text": sunny}}
"""


async def test_after_a_restart_chosen_flows_and_the_pinned_call_run_again_and_say_what_changed(tmp_path: Path) -> None:
    Path("calls").mkdir()
    Path("calls/weather.yaml").write_text(WEATHER_FLOW)
    target, change = serve(tmp_path / "weather", "sunny"), '$.content[0].text "sunny" → "rain"'
    async with running(target, until="Tools 2", watch=True) as (app, pilot):
        await to_tool(app, pilot, "now")
        await get_result(app, pilot)
        await press(pilot, "P", shows="runs on restart")
        await press(pilot, "escape", "9", shows="calls/weather.yaml")
        await ran(app, pilot, "✓ calls/weather.yaml", "P", "ctrl+r")
        await shows(app, pilot, "runs on restart")
        await pilot.pause(0.4)
        serve(tmp_path / "weather", "rain")
        await shows(app, pilot, "It passed before the restart, and fails now at step 1", change, "✗ now")
        await press(pilot, "1", shows=("1 change since the restart", change))
        rows = panes(app).catalog.rows.groups[0]
        assert rows.changed == {"now"}, "the tool with another description is marked"
        line = next(line for line in screen_lines(app) if line.startswith("│ now"))
        assert "●" in line[:LIST_CELLS]
        await pilot.press("down", "up")
        assert not rows.changed, "until it is visited"
        panes(app).work.result.focus_inside()
        await press(pilot, "P", hides="runs on restart")
        serve(tmp_path / "weather", "sunny")
        await press(pilot, "escape", "9", shows="It failed before the restart, and passes now.")


async def test_a_secret_in_a_result_is_not_written(monkeypatch: Any) -> None:
    monkeypatch.setenv("DEMO_TOKEN", "s3cret-token-value")
    async with on_calls({**FLOW, "calls/env/local.yaml": LOCAL}) as (app, pilot):
        await shows(app, pilot, "calls/env")
        await press(pilot, "end", "enter", shows="in use")
        await to_tool(app, pilot, "echo")
        await get_result(app, pilot, *"s3cret-token-value")
        await press(pilot, "E", shows="Expect of this result", hides=("same value", "same as a file"))
        assert "only its shape can be written" in " ".join(screen_text(app).split())


def test_what_differs_in_two_long_values_is_shown() -> None:
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


@pytest.mark.parametrize("key", ["ctrl+r", "R"])
@pytest.mark.usefixtures("unwatched")
async def test_a_run_uses_the_files_as_they_are_now(key: str) -> None:
    async with on_calls({"calls/sum.yaml": SUM}) as (app, pilot):
        await ran(app, pilot, "✓ add", key)
        Path("calls/sum.yaml").write_text(SUM.replace("sum: 3", "sum: 99"))
        await ran(app, pilot, "1 failed", key)
        Path("calls/more").mkdir()
        Path("calls/more/new.yaml").write_text(SUM)
        await ran(app, pilot, "✓ calls/more/new.yaml", "R")
        Path("calls/sum.yaml").write_text(WRONG)
        await ran(app, pilot, "✗ calls/sum.yaml:3", key)


async def test_files_changed_outside_are_shown_and_a_result_of_their_old_text_is_not(monkeypatch: Any) -> None:
    monkeypatch.setattr("inspector.tui.calls.controller.LOOK_AT_FILES", 0.05)
    async with on_calls({"calls/sum.yaml": SUM}) as (app, pilot):
        await ran(app, pilot, "✓ add", "ctrl+r")
        Path("calls/sum.yaml").write_text("# a comment\n" + SUM)
        Path("calls/new.yaml").write_text(SUM)
        await shows(app, pilot, "calls/new.yaml")
        assert "✓ add" in screen_text(app), "a comment changes nothing of what ran"
        Path("calls/sum.yaml").write_text(SUM.replace("sum: 3", "sum: 99"))
        await shows(app, pilot, "changed since it ran", "$.structuredContent.sum is 99")
        assert "✓" not in "".join(line for line in screen_lines(app) if "· add" in line or "sum.yaml" in line)
        Path("calls/new.yaml").unlink()
        await shows(app, pilot, without="calls/new.yaml")
    async with on_calls({}) as (app, pilot):
        await shows(app, pilot, "changed since it ran")  # Also in the next session.


@pytest.mark.usefixtures("unwatched")
async def test_a_step_that_moved_runs_as_itself_and_one_that_is_gone_does_not_run() -> None:
    async with on_calls({"calls/sum.yaml": SUM}) as (app, pilot):
        await pilot.press("end")
        Path("calls/sum.yaml").write_text(SUM.replace("steps:\n", "steps:\n  - call: fail\n"))
        await ran(app, pilot, "✓ add", "ctrl+r")
        assert "✗" not in screen_text(app), "the step that has its number now did not run"
        await pilot.press("end")
        Path("calls/sum.yaml").write_text(SUM.replace("call: add", "call: echo"))
        await press(pilot, "ctrl+r", shows="calls/sum.yaml has changed: choose the step again.")
