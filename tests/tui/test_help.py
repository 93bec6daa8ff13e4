"""The table of verbs holds what it promises, and the help screen shows what works where one is."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator

import pytest
from textual.binding import Binding
from textual.dom import DOMNode
from textual.widgets import Static

import inspector.tui
from inspector.config.settings import Settings
from inspector.tui.app import InspectorApp
from inspector.tui.available_verbs import contexts, who_does
from inspector.tui.main.layout import PaneLayout
from inspector.tui.main.session_verbs import SessionVerbs
from inspector.tui.replay.playback import Playback
from inspector.tui.verbs import BY_ID, CONTEXTS, VERBS
from inspector.tui.widgets.fields.text import TextField
from tests.tui.live_app import NARROW, TOOLS, becomes, demo, main_screen, on_recording, running
from tests.tui.tui_screens import press, screen_lines, screen_text


def _all_widgets() -> list[type[DOMNode]]:
    for module in pkgutil.walk_packages(inspector.tui.__path__, "inspector.tui."):
        importlib.import_module(module.name)

    def below(kind: type[DOMNode]) -> Iterator[type[DOMNode]]:
        for one in kind.__subclasses__():
            yield one
            yield from below(one)

    return [kind for kind in dict.fromkeys(below(DOMNode)) if kind.__module__.startswith("inspector.")]


WIDGETS = _all_widgets()


def own_bindings(kind: type[DOMNode]) -> list[Binding]:
    """The bindings of the table in the class itself."""
    return [one for one in kind.__dict__.get("BINDINGS", ()) if isinstance(one, Binding) and one.id in BY_ID]


PARTS = ((PaneLayout, "app"), (SessionVerbs, "app"), (Playback, "replay"), (Playback, "frame"))
"""Parts of the main screen, with the contexts of which they do verbs."""


def test_every_verb_is_done_by_a_widget_that_binds_its_context(subtests: pytest.Subtests) -> None:
    for verb in VERBS:
        binders = [
            (kind, one.action.partition("(")[0])
            for kind in WIDGETS
            for one in own_bindings(kind)
            if (one.id == verb.id if verb.key else BY_ID[str(one.id)].context == verb.context)
        ]
        methods = {(kind, f"action_{action if verb.key else verb.action}") for kind, action in binders}
        lent = [part for part, context in PARTS if context == verb.context and hasattr(part, f"action_{verb.action}")]
        with subtests.test(verb.id):
            assert lent or any(
                hasattr(below, name) for kind, name in methods for below in WIDGETS if issubclass(below, kind)
            )


def test_every_context_is_bound_and_lies_within_another() -> None:
    bound = {BY_ID[str(one.id)].context for kind in WIDGETS for one in own_bindings(kind)}
    bound |= {context for _, context in PARTS}
    assert bound == set(CONTEXTS) == {verb.context for verb in VERBS}
    assert all(outer in CONTEXTS or context == "app" for context, outer in CONTEXTS.items())


async def test_the_nearest_context_comes_first_and_what_cannot_be_done_on_a_recording_is_omitted() -> None:
    async with on_recording(until="echo") as (app, pilot):
        assert app.focused is not None
        found = contexts(app.focused)
        assert found.index("list") < found.index("catalog") < found.index("app"), "in the order of the way out"
        assert contexts(Static()) == []
        await press(pilot, "question_mark", shows="keys that work here first")
        assert headings(app)[:4] == ["Lists", "Catalogues", "A recording", "Everywhere"]
        everywhere = screen_text(app).partition("Everywhere")[2]
        await press(pilot, "end", shows="export")
        everywhere += screen_text(app)
        for verb in ("reconnect", "restart", "compose"):
            assert who_does(main_screen(app), BY_ID[f"app.{verb}"]) is None
            assert f" {verb} " not in everywhere
        assert who_does(main_screen(app), BY_ID["app.export"]) is main_screen(app)
        await pilot.press("escape", "m")
        await press(pilot, "question_mark", shows="Keep the newest message selected")
        assert "Messages" in headings(app)[:2]


async def test_on_the_start_screen_only_its_own_verbs_are_offered() -> None:
    async with running(None, until="Recordings") as (app, pilot):
        await press(pilot, "tab", "question_mark", shows="Open the demo server.")
        here = screen_text(app).partition("Everywhere")[2].split("│\n")[:12]
        assert any("quit" in line for line in here)
        assert not any("Give the focused pane" in line or "Show the tools" in line for line in here)


@pytest.mark.slow
async def test_help_is_searched_and_closed_as_it_was_opened_and_long_sentences_wrap_below_themselves() -> None:
    async with on_recording(until="echo", size=NARROW) as (app, pilot):
        await press(pilot, "question_mark", shows="Go to the last row")
        lines = screen_lines(app)
        assert "Go to the first row" in screen_text(app)
        at = next(at for at, line in enumerate(lines) if "Go to the last row" in line)
        column = lines[at].index("Go to the last row")
        assert lines[at + 1][column : column + 2].isalpha()
        assert lines[at + 1][column - 30 : column].strip() == ""
        assert "Give the focused pane" not in screen_text(app)
        await press(pilot, "slash", *"whole screen", shows="Give the focused pane the whole ")
        await pilot.press("enter")
        await press(pilot, "question_mark", until=lambda: app.screen is main_screen(app), what="closed")


async def test_the_smallest_screen_has_room_for_sentences() -> None:
    async with on_recording(size=(50, 12)) as (_app, pilot):
        await press(pilot, "question_mark", shows="keys that work here first")
        await press(pilot, "slash", *"Show only what matches", "enter", shows="Show only what matches")


def headings(app: InspectorApp) -> list[str]:
    """The headings of the help that are on the screen."""
    titles = {verb.group for verb in VERBS}
    inside = [line.partition("│")[2] for line in screen_lines(app)]
    found = [next((cell.strip() for cell in line.split("│") if cell.strip() in titles), "") for line in inside]
    return [title for title in found if title]


@pytest.mark.slow
async def test_help_and_the_way_back_are_shown_while_text_is_typed_on_a_small_screen() -> None:
    async with running(demo(), size=NARROW, until=f"─ {TOOLS} ─") as (app, pilot):
        main_screen(app).show_address("tools", "echo")
        await becomes(app, pilot, lambda: isinstance(app.focused, TextField), "in the form")
        await becomes(app, pilot, lambda: "esc list" in screen_lines(app)[-1], "the way back")
        assert screen_lines(app)[-1].rstrip().endswith("f1 help")
        await pilot.press("question_mark")
        await becomes(app, pilot, lambda: isinstance(app.focused, TextField) and app.focused.value == "?", "typed")
        await pilot.press("f1")
        await becomes(app, pilot, lambda: app.screen.is_modal and "Forms" in screen_text(app), "the keys of the form")
        await press(pilot, "escape", "escape", shows=f"─ {TOOLS} ─")
        assert screen_lines(app)[-1].rstrip().endswith("? help")


@pytest.mark.slow
async def test_without_a_key_that_types_nothing_no_help_is_offered_while_text_is_typed() -> None:
    settings = Settings(keymap={"app.help": "question_mark"})
    async with running(demo(), size=NARROW, until=f"─ {TOOLS} ─", settings=settings) as (app, pilot):
        main_screen(app).show_address("tools", "echo")
        await becomes(app, pilot, lambda: "esc list" in screen_lines(app)[-1], "in the form")
        assert "help" not in screen_lines(app)[-1]
