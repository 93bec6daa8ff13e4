import re
from typing import ClassVar

import pytest
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.keys import Keys
from textual.widgets import Static

from inspector.tui.keymap import Keymap, bindings, label, normal_key
from inspector.tui.verbs import BY_ID, CONTEXTS, VERBS
from inspector.tui.widgets.editor import Editor
from inspector.tui.widgets.virtual_list import TextRows, VirtualList
from tests.tui.tui_screens import on_stage


def test_the_table_is_sound():
    assert len(BY_ID) == len(VERBS)
    for verb in VERBS:
        context, _, name = verb.id.partition(".")
        assert context == verb.context
        assert context in CONTEXTS
        assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", name), verb.id
        assert verb.action.isidentifier()
        assert verb.title
        assert verb.group
        assert verb.description.endswith(".")
        for key in filter(None, verb.key.split(",")):
            assert normal_key(key) == key, verb.id


NEVER_TOGETHER = frozenset({"failed.open-source", "failed.back"})
"""Verbs with the key of another one that is not available at the same time.

Stderr is shown, or a login is missing; it connects, or the doctor says why it could not.
"""


def test_no_context_uses_a_key_twice_and_each_ends_at_the_app():
    for context in CONTEXTS:
        verbs = [verb for verb in VERBS if verb.context == context and verb.id not in NEVER_TOGETHER]
        keys = [key for verb in verbs for key in verb.key.split(",") if key]
        assert len(keys) == len(set(keys)), context
        seen = []
        while context:
            assert context not in seen
            seen.append(context)
            context = CONTEXTS[context]
        assert seen[-1] == "app"


def test_no_pane_of_a_session_uses_a_key_that_every_footer_names():
    named = {key for verb in ("app.start-list", "app.quit", "app.zoom") for key in BY_ID[verb].key.split(",")}
    own_screens = {"app", "diff", "model"}  # Other screens have neither of these verbs.
    taken = [verb.id for verb in VERBS if verb.context not in own_screens and named & set(verb.key.split(","))]
    assert taken == []


def test_bindings_come_from_the_table():
    down = next(binding for binding in bindings("list") if binding.id == "list.down")
    assert (down.key, down.action) == ("down,j", "down")
    assert all(binding.key for binding in bindings("app"))
    assert [key.value for key in Keys if not normal_key(key.value)] == [], "every key that Textual knows is a key"
    assert normal_key("comma") == normal_key(",") == "comma"


@pytest.mark.parametrize(("key", "expected", "plain"), [
    ("ctrl+r", "^r", "^r"), ("question_mark", "?", "?"), ("escape", "esc", "esc"),
    ("shift+left", "⇧←", "shift-left"), ("alt+delete", "alt-del", "alt-del"), ("f5", "f5", "f5"), ("M", "M", "M"),
    ("right_square_bracket", "]", "]"), ("vertical_line", "|", "|"),
])  # fmt: skip
def test_keys_are_written_for_people(key, expected, plain):
    assert label(key) == expected
    assert label(key, ascii=True) == plain


@pytest.mark.parametrize(("written", "key"), [
    ("/", "slash"), ("^r", "ctrl+r"), ("ctrl+shift+left", "ctrl+shift+left"), ("+", "plus"), ("f11", "f11"),
    ("space", "space"), ("X", "X"), ("é", "é"), ("hyperdrive", None), ("wrong+x", None), ("", None),
])  # fmt: skip
def test_keys_are_read_as_people_write_them(written, key):
    assert normal_key(written) == key


def test_hints_name_the_key_in_force():
    keymap = Keymap({"form.call": "f11, ^b"})
    assert keymap.problems == []
    assert keymap.hint("form.call") == ("f11", "send", "f11", "form.call")
    assert keymap.keys("form.call") == ["f11", "ctrl+b"]
    assert keymap.hint("app.export", "export these 42").title == "export these 42"
    assert [hint.verb for hint in keymap.hints(["app.quit", "app.theme"])] == ["app.quit"], "theme has no key"


def test_the_table_for_help_has_every_verb_under_its_group_with_the_key_in_force():
    table = Keymap({"app.quit": "ctrl+q"}).table()
    assert next(iter(table)) == "Everywhere"
    assert sum(len(row.verbs) for rows in table.values() for row in rows) == len(VERBS)
    rows = {row.verbs[0].id: row.keys for row in table["Everywhere"]}
    assert rows["app.quit"] == ["ctrl+q"]
    assert rows["app.next-pane"] == ["tab", "shift+tab"], "one sentence, one row"


@pytest.mark.parametrize(("overrides", "says", "hint"), [
    ({"form.cal": "f5"}, "Unknown verb `form.cal` in the keymap", "`form.call`"),
    ({"zzz": "f5"}, "Unknown verb", "help"),
    ({"form.call": "hyperdrive"}, "Unknown key `hyperdrive`", "ctrl+r"),
    ({"form.call": ""}, "Unknown key", "ctrl+r"),
    ({"messages.times": "n"}, "gives n to `messages.times`, but `messages.next-hit` uses it too", "another key"),
    ({"form.call": "q"}, "gives q to `form.call`, but `app.quit` uses it too", ""),
    ({"app.quit": "j"}, "gives j to `app.quit`, but `list.down` uses it too", ""),
])  # fmt: skip
def test_what_is_wrong_with_a_keymap_is_reported(overrides, says, hint):
    keymap = Keymap(overrides)
    assert any(says in problem.message for problem in keymap.problems), [p.message for p in keymap.problems]
    assert any(hint in problem.hint for problem in keymap.problems)


def test_two_overrides_that_meet_are_reported_once():
    keymap = Keymap({"messages.times": "f11", "messages.follow": "f11"})
    assert len(keymap.problems) == 1
    assert keymap.keys("messages.times") == keymap.keys("messages.follow") == ["f11"]


def test_a_key_may_move_to_where_another_was_moved_away():
    assert Keymap({"messages.times": "f", "messages.follow": "f11"}).problems == []
    assert Keymap({"start.delete": "f11", "detail.copy": "f11"}).problems == [], "they are never in force together"


async def test_the_users_keys_work():
    async with on_stage(VirtualList(TextRows([str(at) for at in range(9)])), (20, 10)) as (app, pilot, view):
        app.set_keymap(Keymap({"list.down": "n,f2"}).overrides)
        for keys in (["n", "f2"], ["down", "j"]):
            await pilot.press(*keys)
            assert view.cursor == 2


class _Session(Static, can_focus=True):
    BINDINGS: ClassVar[list[BindingType]] = [*bindings("app")]
    restarts = quits = 0

    def action_restart(self) -> None:
        self.restarts += 1

    def action_quit(self) -> None:
        self.quits += 1


async def test_a_verb_without_a_key_gets_one_by_the_settings():
    assert Keymap().keys("app.restart") == []
    async with on_stage(_Session(), (20, 10)) as (app, pilot, widget):
        widget.focus()
        app.set_keymap(Keymap({"app.restart": "f9"}).overrides)
        await pilot.press("f9")
        assert widget.restarts == 1


class _WithField(_Session):
    def compose(self) -> ComposeResult:
        yield Editor()


@pytest.mark.parametrize(("keymap", "pressed", "typed"), [
    ({"app.quit": "f4"}, 1, "q"),
    ({"app.quit": "f4,q"}, 1, "q"),
    ({}, 0, "q"),
])  # fmt: skip
async def test_a_key_that_was_a_letter_works_where_text_is_typed(keymap, pressed, typed):
    async with on_stage(_WithField(), (20, 10)) as (app, pilot, widget):
        app.verb_keys = Keymap(keymap)
        app.set_keymap(app.verb_keys.overrides)
        field = widget.query_one(Editor)
        field.focus()
        await pilot.press("left", "f4", "q")
        assert (widget.quits, field.value) == (pressed, typed)
