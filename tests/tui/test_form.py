import json
import os
import stat
import tempfile
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any, ClassVar

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from textual.app import App
from textual.containers import Vertical
from textual.events import Paste

from inspector.protocol.forms.form import UNSET, Form
from inspector.tui.widgets.external_editor import editor_command
from inspector.tui.widgets.fields.base import FieldFrame
from inspector.tui.widgets.fields.choices import ChoiceField
from inspector.tui.widgets.fields.containers import AddItem, AddKey, ContainerField, FixedField
from inspector.tui.widgets.fields.text import EDIT_LIMIT, LongField, TextField
from inspector.tui.widgets.form import FormView
from inspector.tui.widgets.json_editor import JsonEditor, json_lines, read_json
from tests.tui.tui_screens import Stage, assert_in, assert_not_in, on_stage, press, screen_lines, screen_text, settle


def schema(required: tuple[str, ...] = (), **properties) -> dict:
    return {"type": "object", "properties": properties, "required": list(required)}


TEXT = {"type": "string"}
NUMBER = {"type": "number"}
WAYS = (("email", "address"), ("sms", "phone"))


def stage(view: FormView) -> Stage:
    return Stage(view, css="FormView { height: 1fr; }")


def made(schema_of, value=UNSET) -> FormView:
    return FormView(Form(schema_of) if value is UNSET else Form(schema_of, value))


def at(view: FormView, path: str, kind: type = FieldFrame) -> FieldFrame:
    """Return the widget of a field."""
    return next(widget for widget in view.query(kind) if widget.field.path == path and not isinstance(widget, AddItem))


def shown(app: Stage) -> list[str]:
    """Return the lines of the screen that are not empty, without the padding at the left."""
    return [line[1:] for line in screen_lines(app) if line.strip()]


async def checked(pilot, view: FormView) -> None:
    await settle(pilot, lambda: not view._unchecked and not view._lock.locked())


async def typed(pilot, view: FormView, *keys: str) -> None:
    """Press keys, and wait until the values are checked."""
    await pilot.press(*keys)
    await checked(pilot, view)


@asynccontextmanager
async def on_form(view: FormView, width: int, height: int):
    """A screen of this size with a form, checked."""
    app = stage(view)
    async with app.run_test(size=(width, height), message_hook=app.hear) as pilot:
        await checked(pilot, view)
        yield app, pilot, view


async def test_a_form_looks_as_it_was_drawn():
    elicitation = schema(
        ("name",),
        name={"type": "string", "description": "Your full name"},
        check={"type": "boolean", "description": "I agree to the terms", "default": True},
        integer={"type": "integer", "minimum": 1, "maximum": 100, "default": 42, "description": "Your favourite"},
        email={"type": "string", "format": "email"},
        pick={"type": "string", "enum": ["Monica", "Rachel", "Joey"]},
        several={"type": "array", "items": {"enum": ["Hero", "Villain"]}, "minItems": 1, "maxItems": 2},
    )
    view = made(elicitation, {"check": True, "email": "not an address", "pick": "Rachel", "several": ["Hero"]})
    async with on_form(view, 51, 30) as (app, _pilot, _):
        assert screen_lines(app)[:20] == [
            " name                             string  required",
            " ▌ ▏",
            " Your full name",
            "",
            " check                       boolean  default true",
            " ▌ [x] true  I agree to the terms",
            "",
            " integer                 integer 1-100  default 42",
            " ▌ 42",
            " Your favourite",
            "",
            " email                                string email",
            " ▌ not an address",
            " not a valid email address",
            " pick                                     one of 3",
            " ▌ ( ) Monica   (•) Rachel   ( ) Joey",
            "",
            " several                               1 to 2 of 2",
            " ▌ [x] Hero   [ ] Villain",
            "",
        ]
        assert view.to_fix == 2


async def test_a_title_stands_beside_the_name_where_it_says_more():
    view = made(schema(firstName=TEXT | {"title": "First name"}, vat=TEXT | {"title": "Tax number"}))
    async with on_form(view, 40, 8) as (app, _pilot, _):
        labels = [line.split() for line in shown(app)[::2]]
        assert labels == [["firstName", "string"], ["vat", "Tax", "number", "string"]]


async def test_typing_sets_the_value_and_draws_that_field_alone(monkeypatch):
    view = made(schema(a=TEXT, b=TEXT, c=TEXT))
    app = stage(view)
    drawn: set[str] = set()
    draw = FieldFrame.render_line

    def note(self: FieldFrame, y: int):
        drawn.add(self.field.path)
        return draw(self, y)

    monkeypatch.setattr(FieldFrame, "render_line", note)
    async with app.run_test(size=(40, 20), message_hook=app.hear) as pilot:
        await checked(pilot, view)
        drawn.clear()
        await typed(pilot, view, *"hi")
        assert drawn == {"/a"}
        assert view.value == {"a": "hi"}
        assert app.heard(FormView.Changed)
        assert app.heard(FormView.Checked)[-1].to_fix == 0


async def test_what_was_typed_just_before_a_key_counts():
    class Pane(Vertical):
        BINDINGS: ClassVar = [("ctrl+r", "call", "")]
        sent: ClassVar[list] = []

        def action_call(self) -> None:
            self.sent.append((view.value, view.to_fix))

    view = made(schema(("n",), n=NUMBER))
    async with on_stage(Pane(view), (40, 10)) as (app, pilot, _pane):
        await checked(pilot, view)
        for key in ("4", "2", "ctrl+r"):
            app.simulate_key(key)
        await settle(pilot, lambda: Pane.sent == [({"n": 42}, 0)])


async def test_an_error_is_shown_while_typing_and_a_missing_field_when_it_is_tried():
    view = made(schema(("must",), must=TEXT, n={"type": "integer", "maximum": 9, "description": "up to nine"}))
    async with on_form(view, 40, 12) as (app, pilot, _):
        assert view.to_fix == 1
        assert view.note() == [("1 required", "muted")]
        assert "is required" not in screen_text(app)
        await typed(pilot, view, "tab", *"12")
        assert view.to_fix == 2
        assert view.note() == [("1 to fix", "error"), "  ", ("1 required", "muted")]
        lines = screen_lines(app)
        error = next(at for at, line in enumerate(lines) if "at most 9" in line)
        assert "up to nine" in lines[error + 1], "the description stays, below the error"
        await typed(pilot, view, "backspace")
        assert "up to nine" in screen_lines(app)[error]
        assert view.focus_wrong()
        await pilot.pause()
        assert view.note() == [("1 to fix", "error")]
        assert "is required" in screen_text(app)
        assert at(view, "/must").has_focus
        await typed(pilot, view, "x")
        assert not view.focus_wrong()


async def test_an_invalid_number_keeps_its_text():
    view = made(schema(n=NUMBER))
    app = stage(view)
    async with app.run_test(size=(40, 8)) as pilot:
        await typed(pilot, view, *"1e")
        assert "not a number" in screen_text(app)
        await typed(pilot, view, "3")
        assert view.value == {"n": 1000.0}
        assert " ▌ 1e3▏" in screen_lines(app)
        assert view.to_fix == 0


async def test_enter_and_tab_go_from_field_to_field():
    view = made(schema(a=TEXT, b={"type": "boolean"}, c={"enum": ["x", "y"]}, d=TEXT))
    async with on_form(view, 40, 20) as (_app, pilot, _):
        for key, path in [("enter", "/b"), ("enter", "/c"), ("enter", "/d"), ("enter", "/d"), ("shift+tab", "/c")]:
            await pilot.press(key)
            assert at(view, path).has_focus, key
        await pilot.press("tab", "tab")
        assert at(view, "/a").has_focus


async def test_enter_goes_past_the_head_of_an_open_object():
    address = schema(("street",), street=TEXT)
    view = made(schema(("customer", "address"), customer=TEXT, address=address))
    async with stage(view).run_test(size=(50, 20)) as pilot:
        at(view, "/customer").focus()
        await typed(pilot, view, "A", "enter", "B")
        assert view.value == {"customer": "A", "address": {"street": "B"}}


async def test_a_missing_object_is_filled_in_at_its_first_field():
    view = made(schema(("address",), address=schema(("street",), street=TEXT)))
    async with stage(view).run_test(size=(50, 20)) as pilot:
        assert view.focus_wrong()
        await pilot.pause()
        assert pilot.app.focused is at(view, "/address/street")


async def test_enter_on_a_list_without_items_adds_the_first():
    view = made(schema(items={"type": "array", "items": schema(("sku",), sku=TEXT)}))
    async with stage(view).run_test(size=(50, 20)) as pilot:
        head = at(view, "/items")
        head.focus()
        await settle(pilot, lambda: any("enter add an item" in line for line in shown(pilot.app)))
        assert not any("+ add" in line for line in shown(pilot.app)), "one key for it"
        assert [each for each in head.key_verbs() if "add" in each[1]] == [("items.open", "add an item")]
        await typed(pilot, view, "enter")
        await settle(pilot, lambda: pilot.app.focused is at(view, "/items/0/sku"))
        await pilot.press("A")
        assert view.value == {"items": [{"sku": "A"}]}
        assert any(line.endswith("▾ 1 field set") for line in shown(pilot.app))
        assert any(line.endswith("+ add an item to items") for line in shown(pilot.app))


async def test_text_takes_lines_and_an_empty_field_is_omitted():
    async with on_form(made(schema(a=TEXT, n=NUMBER)), 40, 20) as (app, pilot, view):
        await pilot.press("a", "ctrl+j", "b")
        assert view.value == {"a": "a\nb"}
        assert screen_lines(app)[1:3] == [" ▌ a", " ▌ b▏"]
        await pilot.press(*["backspace"] * 3)
        assert view.value == {}
        await pilot.press("tab", "1", "ctrl+j", "2", "backspace", "backspace")
        assert view.value == {}


async def test_yes_and_no():
    async with on_form(made(schema(b={"type": "boolean", "description": "I agree"})), 40, 8) as (app, pilot, view):
        assert screen_lines(app)[1] == " ▌ [-] not set  I agree"
        await pilot.press("space")
        assert screen_lines(app)[1] == " ▌ [x] true  I agree"
        assert view.value == {"b": True}
        await pilot.click(at(view, "/b"), offset=(3, 1))
        assert view.value == {"b": False}
        assert screen_lines(app)[1] == " ▌ [ ] false  I agree"
        await typed(pilot, view, "ctrl+l")
        assert view.value == {}


async def test_one_of_a_few_is_chosen_on_its_line():
    view = made(schema(c={"oneOf": [{"const": 1, "title": "one"}, {"const": 2, "title": "two"}, {"const": 3}]}))
    async with on_form(view, 40, 8) as (app, pilot, _):
        assert screen_lines(app)[1] == " ▌ ( ) one   ( ) two   ( ) 3"
        await pilot.press("right")
        assert view.value == {"c": 1}
        await pilot.press("right", "right", "right", "left")
        assert view.value == {"c": 3}
        await pilot.press("space")
        assert view.value == {"c": 1}
        await pilot.click(at(view, "/c"), offset=(14, 1))
        assert view.value == {"c": 2}
        assert screen_lines(app)[1] == " ▌ ( ) one   (•) two   ( ) 3"


async def test_some_of_a_few_are_chosen_on_their_line():
    view = made(schema(m={"type": "array", "items": {"enum": ["a", "b", "c"]}}))
    async with on_form(view, 40, 8) as (app, pilot, _):
        await pilot.press("right", "right", "space", "left", "left", "space")
        assert view.value == {"m": ["a", "c"]}
        assert screen_lines(app)[1] == " ▌ [x] a   [ ] b   [x] c"
        await pilot.press("space")
        assert view.value == {"m": ["c"]}


async def test_one_of_many_is_found_by_typing():
    view = made(schema(c={"enum": [f"country {at}" for at in range(300)]}, d=TEXT))
    async with on_form(view, 40, 24) as (app, pilot, _):
        assert screen_lines(app)[1] == " ▌ ▾ nothing selected"
        await pilot.press(*"29")
        assert screen_lines(app)[1] == " ▌ / 29▏  13 of 300"
        assert screen_lines(app)[2] == " ▌ ( ) country 29"
        await typed(pilot, view, "down", "enter")
        assert view.value == {"c": "country 129"}
        assert screen_lines(app)[1] == " ▌ ▾ country 129"
        await pilot.press("space", *"zzz")
        assert "no match" in screen_text(app)
        await pilot.press("enter", "escape")
        assert view.value == {"c": "country 129"}
        assert "country 128" not in screen_text(app)
        await pilot.press("down", "pagedown", "up", "enter")
        assert view.value == {"c": "country 136"}
        await pilot.press("enter")
        assert at(view, "/d").has_focus


async def test_a_form_that_begins_with_an_object_shows_its_head_once_there_is_room():
    inner = schema(("name",), name=TEXT, age=NUMBER)
    view = made(schema(("who",), who=inner | {"description": "Who travels"}, **{f"f{n}": TEXT for n in range(9)}))
    async with on_stage(view, (51, 20)) as (app, pilot, _):
        view.styles.max_height = 4
        await checked(pilot, view)
        assert view.focus_first()
        await settle(pilot, lambda: any("name" in line for line in screen_lines(app)))
        view.styles.max_height = 20
        await settle(pilot, lambda: view.size.height == 20 and "who" in screen_lines(app)[0])
        assert app.focused.field.path == "/who/name"


async def test_a_list_that_opens_and_a_text_that_grows_come_into_view():
    many = {"enum": [f"word {at}" for at in range(50)]}
    async with on_form(made(schema(a=TEXT, b=TEXT, c=many, d=TEXT)), 40, 10) as (_app, pilot, view):
        at(view, "/c").focus()
        await press(pilot, "space", shows="word 7")
        await press(pilot, "tab", "ctrl+j", "ctrl+j", "ctrl+j", "z", shows="z▏")


async def test_an_open_list_closes_when_it_is_left_and_takes_clicks():
    view = made(schema(c={"type": "array", "items": {"enum": [f"word {at}" for at in range(50)]}}, d=TEXT))
    async with on_form(view, 40, 24) as (app, pilot, _):
        field = at(view, "/c", ChoiceField)
        await pilot.click(field, offset=(5, 1))
        await pilot.click(field, offset=(5, 3))
        await pilot.click(field, offset=(5, 5))
        assert view.value == {"c": ["word 1", "word 3"]}
        assert field.opened
        await pilot.press("tab")
        assert not field.opened
        assert screen_lines(app)[1] == " ▌ ▾ word 1, word 3"


async def test_items_are_added_moved_and_removed():
    view = made(schema(("t",), t={"type": "array", "items": TEXT, "maxItems": 3}), {"t": ["a"]})
    async with on_form(view, 50, 24) as (app, pilot, _):
        assert at(view, "/t").has_focus
        await typed(pilot, view, "plus")
        assert view.value == {"t": ["a", ""]}
        assert at(view, "/t/1", TextField).has_focus
        await typed(pilot, view, "b", "enter", "enter")
        assert view.value == {"t": ["a", "b", ""]}
        assert not list(view.query(AddItem)), "there is room for three"
        await typed(pilot, view, "c", "alt+up")
        assert view.value == {"t": ["a", "c", "b"]}
        assert at(view, "/t/1").has_focus
        await typed(pilot, view, "f7", "f6", "f6", "f6")
        assert view.value == {"t": ["c", "a", "b"]}
        await typed(pilot, view, "f8")
        assert view.value == {"t": ["a", "b"]}
        assert at(view, "/t/0").has_focus
        assert shown(app)[1] == "▌ ▾ 2 items"
        assert [line for line in shown(app) if "▌" in line][1:3] == ["  ▌ a▏", "  ▌ b"]
        # The cross at the end of the label removes too.
        item = at(view, "/t/1")
        await pilot.click(item, offset=(item.size.width - 1, 0))
        await checked(pilot, view)
        assert view.value == {"t": ["a"]}
        await typed(pilot, view, "alt+delete")
        assert view.value == {"t": []}
        assert at(view, "/t").has_focus


async def test_a_new_item_is_filled_in_at_its_first_field():
    stop = {"type": "object", "properties": {"town": TEXT, "nights": NUMBER}, "required": ["town"]}
    view = made(schema(("stops",), stops={"type": "array", "items": stop}), {"stops": []})
    async with on_form(view, 50, 24) as (_app, pilot, _):
        await typed(pilot, view, "plus")
        await typed(pilot, view, *"Bergen")
        assert view.value == {"stops": [{"town": "Bergen"}]}


async def test_a_new_item_is_seen_while_it_is_typed():
    thing = {"type": "object", "properties": {"name": TEXT, "notes": {"type": "array", "items": TEXT}}}
    view = made(schema(things={"type": "array", "items": thing}), {"things": [{"name": "a", "notes": []}]})
    async with on_form(view, 50, 12) as (app, pilot, _):
        at(view, "/things/0/notes").focus()
        await typed(pilot, view, "plus")
        await typed(pilot, view, *"high")
        assert view.value == {"things": [{"name": "a", "notes": ["high"]}]}
        assert "high" in "\n".join(shown(app))


async def test_no_letter_acts_on_a_field_that_takes_no_text():
    stops = {"type": "array", "items": TEXT}
    view = made(schema(b={"type": "boolean"}, c={"enum": ["x", "y"]}, stops=stops), {"b": True, "stops": ["a", "b"]})
    app = stage(view)
    heard: list[str] = []
    for key in "qamKJx1":
        app.bind(key, f"hear('{key}')")
    app.action_hear = heard.append  # type: ignore[attr-defined]
    async with app.run_test(size=(50, 24)) as pilot:
        await checked(pilot, view)
        before = view.value
        for path in ("/b", "/c"):
            at(view, path).focus()
            await typed(pilot, view, *"qamKJx1", "minus")
        assert view.value == before
        assert heard == []
        at(view, "/stops").focus()
        await typed(pilot, view, "plus")
        assert view.value["stops"] == ["a", "b", ""]


NESTED = schema(
    stops={"type": "array", "items": TEXT},
    colours={"type": "array", "items": {"enum": ["red", "green"]}},
    legs={"type": "array", "items": schema(to=TEXT, seats={"type": "integer"})},
    owner=schema(name=TEXT),
    flags=schema(on={"type": "boolean"}),
)


async def typed_on(path: str, *keys: str, value: object = UNSET) -> tuple[Any, str]:
    """The value of the form, and the path of the focused field, after keys on the head at `path`."""
    async with on_form(made(NESTED, value), 50, 40) as (app, pilot, view):
        at(view, path).focus()
        await typed(pilot, view, *keys)
        return view.value, app.focused.field.path


@pytest.mark.parametrize(
    ("path", "typed", "value", "focused"),
    [
        ("/stops", "New York", {"stops": ["New York"]}, "/stops/0"),
        ("/legs", "Oslo +1", {"legs": [{"to": "Oslo +1"}]}, "/legs/0/to"),
        ("/owner", "Ada L", {"owner": {"name": "Ada L"}}, "/owner/name"),
    ],
)
async def test_text_typed_on_a_list_or_a_folded_object_goes_to_a_field_inside(
    path: str, typed: str, value: Any, focused: str
) -> None:
    keys = ["space" if letter == " " else "plus" if letter == "+" else letter for letter in typed]
    before = {"owner": {}} if path == "/owner" else UNSET
    assert await typed_on(path, *keys, value=before) == (value, focused)


async def test_text_typed_on_a_list_of_choices_changes_nothing() -> None:
    assert await typed_on("/colours", *"red") == ({}, "/colours")


async def test_an_item_is_added_after_those_that_are_there() -> None:
    value, focused = await typed_on("/stops", *"b", value={"stops": ["a"]})
    assert (value, focused) == ({"stops": ["a", "b"]}, "/stops/1")


async def test_text_pasted_on_a_list_goes_to_a_new_item() -> None:
    async with on_form(made(NESTED), 50, 40) as (_app, pilot, view):
        at(view, "/stops").focus()
        await pilot.pause()
        at(view, "/stops").post_message(Paste("from the clipboard"))
        await checked(pilot, view)
        assert view.value == {"stops": ["from the clipboard"]}


@pytest.mark.parametrize(
    ("default", "said"),
    [("", "default empty"), ("It was a dark and stormy night.", "default It was a dark an…"), (["x"], 'default ["x"]')],
)
async def test_a_default_is_reported_whatever_it_is(default, said):
    kind = {"type": "array", "items": TEXT} if isinstance(default, list) else TEXT
    async with on_form(made(schema(a={**kind, "default": default})), 60, 8) as (app, _pilot, _view):
        assert screen_lines(app)[0].endswith(said)


async def test_objects_open_close_and_take_keys_of_the_user():
    inner = {"type": "object", "properties": {"x": TEXT}, "additionalProperties": {"type": "integer"}}
    async with on_form(made(schema(o=inner)), 50, 24) as (app, pilot, view):
        assert shown(app)[1] == "▌ ▸ not set"
        await typed(pilot, view, "enter")
        assert at(view, "/o/x")
        await pilot.press("tab", "y")
        assert view.value == {"o": {"x": "y"}}
        assert "▾ 1 field set" in screen_text(app)
        await typed(pilot, view, "tab", *"count", "enter")
        assert at(view, "/o/count").has_focus
        await pilot.press("5")
        assert view.value == {"o": {"x": "y", "count": 5}}
        await pilot.press("tab", "x", "enter")
        await pilot.pause()
        assert '"x" exists already' in screen_text(app)
        at(view, "/o", ContainerField).focus()
        await typed(pilot, view, "space")
        assert len(list(view.query(FieldFrame))) == 1
        await typed(pilot, view, "ctrl+l")
        assert view.value == {}


async def test_a_variant_is_chosen_and_its_fields_follow():
    who = {
        "oneOf": [
            {"title": "person", "type": "object", "properties": {"first": TEXT}, "required": ["first"]},
            {"title": "company", "type": "object", "properties": {"vat": TEXT}, "required": ["vat"]},
        ]
    }
    async with on_form(made(schema(("who",), who=who)), 50, 24) as (app, pilot, view):
        assert "(•) person   ( ) company" in screen_text(app)
        await typed(pilot, view, "right")
        assert "( ) person   (•) company" in screen_text(app)
        await typed(pilot, view, "tab", "tab", *"42")
        assert view.value == {"who": {"vat": "42"}}
        assert view.to_fix == 0


@pytest.mark.parametrize("keyword", ["anyOf", "oneOf"])
async def test_a_variant_of_all_arguments_is_chosen_and_its_fields_follow(keyword):
    variants = [schema(("kind", name), kind={"const": kind}, **{name: TEXT}) for kind, name in WAYS]
    async with on_form(made({"type": "object", keyword: variants}), 60, 24) as (app, pilot, view):
        assert "(•) email   ( ) sms" in screen_text(app)
        assert view.errors == {"/address": "is required"}
        view.focus_first()
        await typed(pilot, view, "right")
        assert "( ) email   (•) sms" in screen_text(app)
        assert "address" not in screen_text(app)
        assert view.value == {"kind": "sms"}
        await view.load({"kind": "email", "address": 5})
        await checked(pilot, view)
        assert "(•) email   ( ) sms" in screen_text(app)
        assert view.errors == {"/address": "expected string, got 5"}


async def test_variants_that_only_require_are_named_by_what_they_require():
    view = made(
        {
            **schema(a=TEXT, b=TEXT),
            "anyOf": [{"required": ["a"]}, {"required": ["b"]}, {"required": ["a"], "maxProperties": 1}],
        }
    )
    async with on_form(view, 60, 24) as (app, pilot, _):
        assert "(•) a   ( ) b   ( ) a (2)" in screen_text(app)
        view.focus_first()
        await typed(pilot, view, "right")
        assert view.errors == {"/b": "is required"}


async def test_null_is_a_value_of_its_own():
    async with on_form(made(schema(n={"type": ["string", "null"]})), 50, 8) as (app, pilot, view):
        await typed(pilot, view, "ctrl+t")
        assert view.value == {"n": None}
        assert screen_lines(app)[1] == " ▌ ▏null"
        await pilot.press("a")
        assert view.value == {"n": "a"}
        await typed(pilot, view, "ctrl+t", "ctrl+t")
        assert view.value == {}


async def test_a_constant_is_shown_and_an_optional_one_can_be_left_out():
    view = made(schema(("kind",), kind={"const": "invoice"}, extra={"const": 7}))
    async with on_form(view, 50, 8) as (app, pilot, _):
        assert view.value == {"kind": "invoice"}
        assert screen_lines(app)[1] == " ▌ invoice"
        assert not at(view, "/kind", FixedField).can_focus
        await pilot.press("space")
        assert view.value == {"kind": "invoice", "extra": 7}
        await pilot.press("space")
        assert view.value == {"kind": "invoice"}


async def test_a_field_of_any_type_takes_json():
    async with on_form(made(schema(any={})), 50, 8) as (_app, pilot, view):
        await pilot.press(*'{"a": [1, 2]}')
        assert view.value == {"any": {"a": [1, 2]}}
        await typed(pilot, view, "backspace")
        assert view.value == {"any": '{"a": [1, 2]'}


async def test_hostile_words_of_a_schema_are_text():
    evil = "a\x1b[31m\n[bold]b\u202e"
    view = made(
        {
            "type": "object",
            "required": [evil],
            "properties": {
                evil: {"type": "string", "title": evil, "description": evil, "default": evil},
                "c": {"enum": [evil, "\x07"]},
                "n": {"description": ["no text"], "type": 7},
                "d": "no schema",
            },
        },
        {"c": evil},
    )
    async with on_form(view, 100, 24) as (app, _pilot, _):
        text = screen_text(app)
        assert_not_in(text, "\x1b", "\u202e")
        assert_in(text, "a␛[31m↵[bold]b‹202E› ", "(•) a␛[31m↵[bold]b‹202E›   ( ) ␇")


async def test_a_recursive_schema_opens_as_deep_as_one_goes():
    tree = {"$ref": "#/$defs/node", "$defs": {"node": schema(name=TEXT, child={"$ref": "#/$defs/node"})}}
    async with on_form(made(tree), 60, 40) as (_app, pilot, view):
        path = ""
        for _ in range(4):
            path += "/child"
            at(view, path, ContainerField).focus()
            await typed(pilot, view, "enter")
        assert at(view, path + "/name", TextField)
        at(view, path + "/name").focus()
        await pilot.press("x")
        assert view.value == {"child": {"child": {"child": {"child": {"name": "x"}}}}}


@pytest.mark.slow
async def test_more_fields_than_can_be_shown_are_reported():
    async with on_form(made(schema(**{f"f{at}": TEXT for at in range(520)})), 60, 20) as (app, pilot, view):
        assert len(list(view.query(FieldFrame))) == 500
        assert [widget.field.name for widget in view.query(FieldFrame)] == [f"f{at}" for at in range(500)]
        view.scroll_end(animate=False)
        await pilot.pause()
        assert "too many fields to show" in screen_text(app)


async def test_no_fields_can_have_the_focus_all_the_same():
    view = made({"type": "object"})
    view.form = Form({"type": "object", "properties": {}, "additionalProperties": False})
    async with on_form(view, 40, 6) as (app, pilot, _):
        assert screen_lines(app)[0] == " no arguments"
        assert view.focus_first()
        assert view.has_focus
        await view.show(Form(schema(a=TEXT)))
        await checked(pilot, view)
        assert not view.can_focus
        assert "no arguments" not in screen_text(app)


async def test_a_schema_that_cannot_be_used_is_reported_and_the_form_works():
    fields = {"a": TEXT, "b": TEXT}
    view = made({"type": "object", "properties": fields, "$schema": "https://no.such/dialect", "required": 7})
    async with on_form(view, 70, 10) as (app, pilot, _):
        assert "cannot be validated:" in screen_text(app)
        assert view.note() == [("not validated", "finding")]
        await typed(pilot, view, "x")
        assert "too many fields" not in screen_text(app)
        assert view.value == {"a": "x"}


async def test_a_schema_with_a_lone_surrogate_shows_no_error_of_a_library():
    async with on_form(made(schema(**{"a\ud800": TEXT, "b": NUMBER}), {"b": "x"}), 60, 12) as (app, _pilot, _view):
        assert_not_in(screen_text(app), "UTF-8", "cannot be checked")
        assert "expected number" in screen_text(app)


async def test_another_form_takes_the_place_of_one():
    view = made(schema(a=TEXT))
    app = stage(view)
    async with app.run_test(size=(40, 10)) as pilot:
        await pilot.press("x")
        await view.show(Form(schema(b=TEXT)))
        await view.load({"b": "loaded", "extra": 1})
        await checked(pilot, view)
        assert shown(app)[1] == "▌ loaded"
        assert view.value == {"b": "loaded", "extra": 1}


async def test_a_long_text_is_kept_whole_and_not_edited_here():
    long = "x" * (EDIT_LIMIT + 1)
    async with on_form(made(schema(a=TEXT, b=TEXT), {"a": long}), 60, 10) as (app, pilot, view):
        assert isinstance(at(view, "/a"), LongField)
        assert "20.0 kB of text" in screen_text(app)
        at(view, "/b").focus()
        at(view, "/b").post_message(Paste(long))
        await settle(pilot, lambda: isinstance(at(view, "/b"), LongField))
        assert view.value == {"a": long, "b": long}
        await typed(pilot, view, "ctrl+l")
        assert view.value == {"a": long}
        assert at(view, "/b", TextField).has_focus


# JSON


async def test_the_same_arguments_as_json_and_back():
    view = made(schema(a=TEXT), {"a": "x", "unknown": [1, {"y": None}], "big": 10**30})
    async with on_form(view, 50, 20) as (app, pilot, _):
        await typed(pilot, view, "ctrl+e")
        assert view.json_mode
        assert '"a": "x",' in screen_text(app)
        await pilot.press("down", "end", "left", "left", "Y")
        assert view.value == {"a": "xY", "unknown": [1, {"y": None}], "big": 10**30}
        await typed(pilot, view, "ctrl+e")
        assert not view.json_mode
        assert "▌ xY" in screen_text(app)
        assert view.value == {"a": "xY", "unknown": [1, {"y": None}], "big": 10**30}


async def test_broken_json_is_flagged_and_kept():
    async with on_form(made(schema(("a",), a=NUMBER), {"a": 1}), 60, 12) as (app, pilot, view):
        await typed(pilot, view, "ctrl+e", "end", ",")
        assert view.to_fix == 1
        assert "{,▏ ✗ a member name in double quotes is missing" in screen_text(app), "at the line"
        assert view.note() == [("not JSON, line 1, column 2: a member name in double quotes is missing", "error")]
        assert view.text.startswith("{,")
        await pilot.press("ctrl+e")
        await pilot.pause()
        assert view.json_mode
        assert view.text.startswith("{,")
        assert view.value == {"a": 1}
        await typed(pilot, view, "delete")
        assert view.to_fix == 0
        await typed(pilot, view, "ctrl+shift+a", "backspace")
        assert view.value is UNSET


async def test_a_json_error_is_reported_at_its_line_and_gone_to():
    value = {f"a{at}": at for at in range(40)}
    view = made(schema(), value)
    app = stage(view)
    async with app.run_test(size=(60, 12)) as pilot:
        await typed(pilot, view, "ctrl+e", "down", "end", "x")
        assert '"a0": 0,x▏ ✗ ' in screen_text(app)
        await press(pilot, *["pagedown"] * 5, until=lambda: '"a0":' not in screen_text(app))
        await press(pilot, "ctrl+e", shows='"a0": 0,x')
        editor = view.query_one(JsonEditor)
        assert editor.buffer.place() == (1, 10)
        assert view.json_mode


@pytest.mark.parametrize("key", ["ctrl+a", "ctrl+shift+a"])
async def test_a_paste_replaces_all_that_is_selected(key: str):
    view = made(schema(), {"a": 1})
    app = stage(view)
    async with app.run_test(size=(60, 12)) as pilot:
        await pilot.press("ctrl+e", "down", key)
        app.post_message(Paste('{"b": 2}'))
        await settle(pilot, lambda: view.value == {"b": 2})
        assert view.text == '{"b": 2}'


async def test_what_is_wrong_is_reported_at_the_lines_of_the_json():
    view = made(schema(("a",), a=NUMBER, b=NUMBER), {"b": "no"})
    app = stage(view)
    async with app.run_test(size=(60, 12)) as pilot:
        await typed(pilot, view, "ctrl+e")
        lines = screen_text(app).splitlines()
        assert next(line for line in lines if "{" in line).strip() == "{  ✗ a: is required"
        assert '"b": "no"  ✗ ' in screen_text(app)


async def test_new_lines_of_json_are_indented():
    view = made(schema(), {"a": [1]})
    app = stage(view)
    async with app.run_test(size=(60, 12)) as pilot:
        await pilot.press("ctrl+e", "end", "enter", "x", "enter", "y")
        assert view.text.startswith('{\n  x\n  y\n  "a": [\n')
        await pilot.press("pagedown", "pageup", "up")


async def test_the_caret_in_long_json_stays_in_view():
    view = made(schema(), {"a": list(range(60))})
    app = stage(view)
    async with app.run_test(size=(40, 12)) as pilot:
        await press(pilot, "ctrl+e", "pagedown", "pagedown", until=lambda: view.scroll_offset.y > 5)
        row = view.query_one(JsonEditor).buffer.place()[0]
        assert view.scroll_offset.y <= row < view.scroll_offset.y + 12
        await press(pilot, "pageup", "pageup", until=lambda: view.scroll_offset.y == 0)


def test_json_is_written_so_that_everything_in_it_can_be_seen():
    text = json_lines({"a": "x\x1b\u202e\u200b\ud800\x9b\x7f\u2028é日"})
    assert text == '{\n  "a": "x\\u001b\\u202e\\u200b\\ud800\\u009b\\u007f\\u2028é日"\n}'
    assert json.loads(text) == {"a": "x\x1b\u202e\u200b\ud800\x9b\x7f\u2028é日"}
    deep: list = []
    for _ in range(100_000):
        deep = [deep]
    assert json_lines(deep) is None


@pytest.mark.parametrize("text", ["{", '{"a": NaN}', "[" * 100_000, "1e999 x", "\x00"])
def test_what_is_not_json_says_where(text):
    assert read_json(text)[1]


async def test_a_value_too_long_or_deep_for_the_screen_stays_a_form():
    deep: list = []
    for _ in range(5000):
        deep = [deep]
    async with on_form(made(schema(), {"deep": deep}), 60, 12) as (_app, pilot, view):
        await pilot.press("ctrl+e")
        await pilot.pause()
        assert not view.json_mode
        await view.load({"x": "y" * 600_000})
        await pilot.press("ctrl+e")
        await pilot.pause()
        assert not view.json_mode
        assert view.value == {"x": "y" * 600_000}


# The user's editor


@contextmanager
def lent(self):
    yield


def editor(folder: Path, body: str) -> str:
    """Write an editor: a program that is given the name of a file."""
    script = folder / "editor.py"
    script.write_text(f"import json, os, sys\npath = sys.argv[1]\n{body}\n")
    import sys

    return f"{sys.executable} {script}"


@pytest.fixture
def lend(monkeypatch):
    monkeypatch.setattr(App, "suspend", lent)
    monkeypatch.delenv("VISUAL", raising=False)


@pytest.mark.slow
async def test_the_users_editor_gets_a_private_file_and_gives_back_the_value(lend, monkeypatch, tmp_path):
    seen = tmp_path / "seen"
    body = (
        f"open({str(seen)!r}, 'w').write(path + ' ' + oct(os.stat(path).st_mode & 0o777))\n"
        "folder, name = os.path.split(path)\n"
        "for left in (name + '~', '.' + name + '.swp'):\n    open(os.path.join(folder, left), 'w').write('x')\n"
        "value = json.load(open(path))\nvalue['a'] = 'edited'\nvalue['n'] = 2\njson.dump(value, open(path, 'w'))"
    )
    monkeypatch.setenv("EDITOR", editor(tmp_path, body))
    async with on_form(made(schema(a=TEXT), {"a": "x", "kept": [1]}), 60, 12) as (_app, pilot, view):
        await press(pilot, "ctrl+o", until=lambda: view.value == {"a": "edited", "kept": [1], "n": 2})
        await checked(pilot, view)
        assert "▌ edited" in screen_text(pilot.app)
    name, mode = seen.read_text().split()
    assert int(mode, 8) == stat.S_IRUSR | stat.S_IWUSR
    assert name.endswith(".json")
    folder = os.path.dirname(name)
    assert folder != tempfile.gettempdir()
    assert not os.path.exists(folder), "the editor's backups are gone too"


@pytest.mark.slow
async def test_broken_json_from_the_editor_is_kept_to_be_fixed(lend, monkeypatch, tmp_path):
    monkeypatch.setenv("EDITOR", editor(tmp_path, "open(path, 'w').write('{\"a\": oops')"))
    async with on_form(made(schema(a=TEXT), {"a": "x"}), 60, 12) as (_app, pilot, view):
        await press(pilot, "ctrl+o", until=lambda: view.json_mode and view.text == '{"a": oops')
        assert view.value == {"a": "x"}
        assert view.to_fix == 1


@pytest.mark.slow
@pytest.mark.parametrize("command", ["/no/such/editor", "'unclosed", "false"])
async def test_an_editor_that_fails_changes_nothing(lend, monkeypatch, command):
    monkeypatch.setenv("EDITOR", command)
    async with on_form(made(schema(a=TEXT), {"a": "x"}), 60, 12) as (_app, pilot, view):
        await press(pilot, "ctrl+o", until=lambda: not any(worker.group == "editor" for worker in view.workers))
        assert view.value == {"a": "x"}


async def test_a_terminal_that_cannot_be_lent_is_reported(monkeypatch):
    monkeypatch.setenv("EDITOR", "true")
    async with on_form(made(schema(a=TEXT)), 60, 12) as (app, pilot, _view):
        await pilot.press("ctrl+o")
        await settle(
            pilot, lambda: any("cannot run another program" in notice.message for notice in app._notifications)
        )


def test_the_editor_is_the_one_the_user_has_chosen():
    assert editor_command({"EDITOR": "nano", "VISUAL": "code --wait"}) == ["code", "--wait"]
    assert editor_command({"EDITOR": "'my editor' -x"}) == ["my editor", "-x"]
    assert editor_command({}) == ["vi"]
    assert editor_command({"EDITOR": " "}) == ["vi"]


# Anything


schemas = st.recursive(
    st.sampled_from(
        [
            {"type": "string"},
            {"type": "integer"},
            {"type": "boolean"},
            {"enum": ["a", 1, None]},
            {"const": {"x": 1}},
            {"type": ["number", "null"]},
            {"type": "null"},
            {},
            True,
            7,
        ]
    ),
    lambda inner: st.one_of(
        st.builds(lambda a, b: {"type": "object", "properties": {"a": a, "b": b}, "required": ["a"]}, inner, inner),
        st.builds(lambda a: {"type": "array", "items": a}, inner),
        st.builds(lambda a, b: {"oneOf": [a, b]}, inner, inner),
        st.builds(lambda a: {"type": "object", "additionalProperties": a}, inner),
    ),
    max_leaves=5,
)
KEYS = [
    "tab",
    "shift+tab",
    "enter",
    "space",
    "right",
    "down",
    "a",
    "plus",
    "1",
    "ctrl+t",
    "ctrl+l",
    "f8",
    "f6",
    "ctrl+e",
]


@settings(max_examples=5, suppress_health_check=[HealthCheck.too_slow])
@given(schemas, st.lists(st.sampled_from(KEYS), min_size=5, max_size=14))
async def test_no_form_and_no_keys_break_it(of, keys):
    async with on_form(made({"type": "object", "properties": {"x": of, "y": of}}), 50, 30) as (_app, pilot, view):
        await typed(pilot, view, *keys)
        if not view.json_mode:
            paths = [widget.field.path for widget in view.query(FieldFrame) if not isinstance(widget, AddItem | AddKey)]
            assert list(dict.fromkeys(paths)) == [field.path for field in view.form.fields()]
        else:
            assert isinstance(view.children[0], JsonEditor)
