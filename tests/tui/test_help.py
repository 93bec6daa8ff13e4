"""The table of verbs holds what it promises, and the help screen shows what works where one is."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator

import pytest
from textual.binding import Binding
from textual.dom import DOMNode
from textual.widgets import Static

import inspector.features
import inspector.tui
from inspector.config.settings import Settings
from inspector.tui.app import InspectorApp
from inspector.tui.available_verbs import contexts, who_does
from inspector.tui.feature_verbs import verbs_in
from inspector.tui.help import Help
from inspector.tui.keymap import label
from inspector.tui.main.layout import PaneLayout
from inspector.tui.main.session_verbs import SessionVerbs
from inspector.tui.replay.playback import Playback
from inspector.tui.verbs import BY_ID, CONTEXTS, VERBS
from inspector.tui.widgets.fields.text import TextField
from inspector.tui.widgets.filter_input import FilterInput
from inspector.tui.widgets.status_lines import Footer
from tests.tui.live_app import NARROW, TOOLS, becomes, demo, main_screen, on_demo, on_recording, running, shows
from tests.tui.tui_screens import press, screen_lines, screen_text


def _all_widgets() -> list[type[DOMNode]]:
    for package in (inspector.tui, inspector.features):
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
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
        of_feature = [
            feature.load(feature_verb.run)
            for feature, feature_verb in verbs_in(verb.context)
            if feature_verb.id == verb.id
        ]
        with subtests.test(verb.id):
            assert (
                lent
                or of_feature
                or any(hasattr(below, name) for kind, name in methods for below in WIDGETS if issubclass(below, kind))
            )


def test_every_context_is_bound_and_lies_within_another() -> None:
    bound = {BY_ID[str(one.id)].context for kind in WIDGETS for one in own_bindings(kind)}
    bound |= {context for _, context in PARTS}
    assert bound == set(CONTEXTS) == {verb.context for verb in VERBS}
    assert all(outer in CONTEXTS or context == "app" for context, outer in CONTEXTS.items())


async def test_the_nearest_context_comes_first_and_what_cannot_be_done_on_a_recording_is_omitted() -> None:
    async with on_recording(until="echo") as (app, pilot):
        assert app.focused is not None
        names = contexts(app.focused)
        assert names.index("list") < names.index("catalog") < names.index("app"), "in the order of the way out"
        assert contexts(Static()) == []
        await press(pilot, "question_mark", shows="Here: Tools")
        # A recording cannot send.
        assert who_does(main_screen(app), BY_ID["app.compose"]) is None
        await press(pilot, "slash", *"write any message", shows="No key or name matches.")
        # Its footer says what the next escape does.
        await shows(app, pilot, "esc clear", without="esc close")
        await press(pilot, "escape", shows="esc leave")
        await press(pilot, "escape", shows="esc close")
        await press(pilot, "escape", "m", "question_mark", shows="Here: Messages")


def assert_here_works(app: InspectorApp) -> int:
    """Each key under "Here" does at the focus what its row says, and a verb has one row."""
    page, below = app.screen, main_screen(app)
    assert isinstance(page, Help)
    keys = {label(key): key for verb in VERBS for key in verb.key.split(",") if key}
    at_focus = below.active_bindings
    for entry in page.here:
        for key_label in entry.labels:
            for part in (key_label,) if key_label in keys else key_label.split() if " " in key_label else key_label:
                active = at_focus.get(keys[part])
                assert active is not None, (entry, below.focused)
                verb = BY_ID.get(str(active.binding.id))
                # A key of Textual itself, or of a verb that a view does not have, goes to what is around it.
                if verb is not None and hasattr(active.node, f"action_{verb.action}"):
                    assert verb.description == entry.about, (entry, verb.id)
    assert len({entry.about for entry in page.here}) == len(page.here)
    return len(page.here)


def assert_hints_work(app: InspectorApp) -> dict[str, str]:
    """The keys of the footer do at the focus what it says of them. Returns their titles."""
    screen = main_screen(app)
    key_hints = screen.query_one(Footer).hints_for(1000)
    for hint in key_hints:
        active = screen.active_bindings[hint.key]
        verb = BY_ID.get(str(active.binding.id))
        if verb is not None and hasattr(active.node, f"action_{verb.action}"):
            assert verb.description == BY_ID[hint.verb].description, (hint, verb.id)
    return {hint.label: hint.title for hint in key_hints}


PLACES: tuple[tuple[str, ...], ...] = (
    (), ("slash",), ("m",), ("m", "enter"), ("m", "enter", "right_curly_bracket"), ("m", "v"), ("6",), ("8",), ("enter",), ("z",),
)  # fmt: skip
"""Keys that lead to a pane of a recording."""
SPACE = {("m", "enter"): "fold", ("m", "v"): "mark range"}
"""What the key of the player does in panes that have it for themselves."""


async def test_footer_and_keys_page_say_what_keys_do_now_in_every_pane_of_a_recording(
    subtests: pytest.Subtests,
) -> None:
    for keys in PLACES:
        async with on_recording(until="echo") as (app, pilot):
            await pilot.press(*keys)
            with subtests.test(" ".join(keys)):
                await pilot.pause()
                titles = assert_hints_work(app)
                space = titles.get("space", "")
                if isinstance(app.focused, TextField | FilterInput):
                    assert not space
                else:
                    assert space == SPACE.get(keys, "play")
                await press(pilot, "f1", shows="Here: ")
                assert assert_here_works(app) > 5


@pytest.mark.slow
async def test_here_are_the_keys_that_work_now_in_every_pane_of_a_session(subtests: pytest.Subtests) -> None:
    places = {"tools": (), "resource": ("2", "enter"), "server": ("6",), "saved": ("9",), "prompt": ("4", "enter")}
    async with on_demo() as (app, pilot):
        for name, keys in places.items():
            await pilot.press(*keys)
            if name == "resource":  # It is read at once.
                await becomes(app, pilot, lambda: main_screen(app).panes.work.result.has_focus_within, "the result")
            with subtests.test(name):
                await press(pilot, "f1", shows="Here: ")
                assert "Decline the question." not in {entry.about for entry in app.screen.here}, "no question is open"
                assert_here_works(app)
            await pilot.press("escape", "escape", "1")
        main_screen(app).show_address("tools", "echo")
        await becomes(app, pilot, lambda: isinstance(app.focused, TextField), "in the form")
        for name, keys in {"form": (), "result": ("x", "ctrl+r")}.items():
            await pilot.press(*keys)
            if keys:
                await becomes(app, pilot, lambda: main_screen(app).panes.work.result.has_focus_within, "the result")
            with subtests.test(name):
                await press(pilot, "f1", shows="Here: ")
                assert_here_works(app)
            await press(pilot, "escape", hides="Here: ")


async def test_on_the_start_screen_only_its_own_verbs_are_offered() -> None:
    async with running(None, until="Recordings") as (app, pilot):
        await press(pilot, "tab", "question_mark", shows="Open the demo server.")
        assert "Give the focused pane" not in screen_text(app)
        await press(pilot, "slash", *"show the prompts", shows="No key or name matches.")


async def test_a_key_or_a_name_longer_than_its_column_has_a_line_of_its_own_at_any_size() -> None:
    # The command's name is longer than any of ours.
    command = {"key": "ctrl+shift+pagedown", "where": "recording", "run": "true", "title": "a long name " * 3}
    async with on_recording(until="echo", size=(160, 45), settings=Settings(commands=[command])) as (app, pilot):
        await press(pilot, "question_mark", shows="Here: Tools")
        for width in (160, 100, 80, 60, 50):
            await pilot.resize_terminal(width, 45)
            await press(pilot, "slash", *"f7", "enter", shows="alt-↑ f6 alt-↓ f7")
            lines = screen_lines(app)
            row = next(at for at, line in enumerate(lines) if "alt-↑ f6 alt-↓ f7" in line)
            assert lines[row].partition("f7")[2].startswith("  "), "the keys stand alone"
            told = lines[row + 1][lines[row].index("alt-↑") - 2 :]
            assert told.startswith(" " * 15 + ("move up  " if width >= 70 else "Move this")), "in the next column"
            await press(pilot, "slash", "ctrl+u", *"long name", "enter", shows="^⇧pgdn")
            text = " ".join(screen_text(app).split())
            assert ("a long name a long name a long name" in text) == (width >= 70)
            assert "a long name Run" not in text
            await press(pilot, "slash", "ctrl+u", "enter", shows="Here: Tools")


async def test_the_page_is_filtered_and_closed_as_it_was_opened_at_any_size() -> None:
    async with on_recording(until="echo", size=NARROW) as (app, pilot):
        for size in (NARROW, (50, 12)):
            await pilot.resize_terminal(*size)
            await press(pilot, "question_mark", shows="Here: Tools")
            await press(pilot, "slash", *"whole screen", shows="Give the focused pane")
            await pilot.press("enter")
            await press(pilot, "question_mark", until=lambda: app.screen is main_screen(app), what="closed")


@pytest.mark.slow
async def test_help_and_the_way_back_are_shown_while_text_is_typed_on_a_small_screen() -> None:
    async with running(demo(), size=NARROW, until=f"─ {TOOLS} ─") as (app, pilot):
        main_screen(app).show_address("tools", "echo")
        await becomes(app, pilot, lambda: isinstance(app.focused, TextField), "in the form")
        await becomes(app, pilot, lambda: "esc list" in screen_lines(app)[-1], "the way back")
        assert screen_lines(app)[-1].rstrip().endswith("f1 keys")
        await pilot.press("question_mark")
        await becomes(app, pilot, lambda: isinstance(app.focused, TextField) and app.focused.value == "?", "typed")
        await pilot.press("f1")
        await becomes(app, pilot, lambda: app.screen.is_modal and "Here: " in screen_text(app), "the keys of the form")
        await press(pilot, "escape", "escape", shows=f"─ {TOOLS} ─")
        assert screen_lines(app)[-1].rstrip().endswith("? keys")


@pytest.mark.slow
async def test_without_a_key_that_types_nothing_no_help_is_offered_while_text_is_typed() -> None:
    settings = Settings(keymap={"app.help": "question_mark"})
    async with running(demo(), size=NARROW, until=f"─ {TOOLS} ─", settings=settings) as (app, pilot):
        main_screen(app).show_address("tools", "echo")
        await becomes(app, pilot, lambda: "esc list" in screen_lines(app)[-1], "in the form")
        assert "keys" not in screen_lines(app)[-1]


@pytest.mark.slow
async def test_the_hint_of_a_table_without_a_filter_names_the_way_out() -> None:
    async with on_demo() as (app, pilot):
        screen = main_screen(app)

        def out() -> str:
            return next(hint.title for hint in screen.query_one(Footer).offered.own if hint.key == "escape")

        await press(pilot, "slash", *"list-orders", "enter", "enter", "ctrl+r", shows="rows  6 columns")
        await becomes(app, pilot, lambda: screen.panes.work.result.has_focus_within, "in the table")
        await becomes(app, pilot, lambda: out() == "list", "the way out")
        await press(pilot, "slash", "a", "enter", until=lambda: out() == "all rows")
        await press(pilot, "escape", until=lambda: out() == "list", what="no filter")
