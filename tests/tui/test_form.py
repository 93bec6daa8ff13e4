import json
import os
import stat
import sys
import tempfile
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, ClassVar, NamedTuple
from unittest.mock import ANY

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from textual.containers import Vertical
from textual.events import Paste

from inspector.protocol.exact_json.depth import MAX_READ
from inspector.protocol.forms.form import UNSET, Form
from inspector.tui.widgets.external_editor import editor_command
from inspector.tui.widgets.fields.base import FieldFrame
from inspector.tui.widgets.fields.choices import ChoiceField
from inspector.tui.widgets.fields.containers import AddItem, AddKey, FixedField
from inspector.tui.widgets.fields.text import EDIT_LIMIT, LongField, TextField
from inspector.tui.widgets.form import FormView, ReadOnlyForm
from inspector.tui.widgets.json_editor import JsonEditor, JsonFault, json_lines, read_json
from tests.tui.tui_screens import (
    Stage,
    assert_in,
    assert_not_in,
    on_stage,
    plain,
    press,
    screen_lines,
    screen_text,
    settle,
)

TEXT = {"type": "string"}
NUMBER = {"type": "number"}
BOOLEAN = {"type": "boolean"}
WAYS = (("email", "address"), ("sms", "phone"))


def schema(required: tuple[str, ...] = (), **properties) -> dict:
    return {"type": "object", "properties": properties, "required": list(required)}


def list_of(item: dict, **more) -> dict:
    return {"type": "array", "items": item, **more}


def made(schema_of, value=UNSET) -> FormView:
    return FormView(Form(schema_of) if value is UNSET else Form(schema_of, value))


def at(view: FormView, path: str, kind: type = FieldFrame) -> FieldFrame:
    """Return the widget of a field."""
    return next(widget for widget in view.query(kind) if widget.field.path == path and not isinstance(widget, AddItem))


def shown_lines(app: Stage) -> list[str]:
    """Return the lines of the screen that are not empty, without the padding at the left."""
    return [line[1:] for line in screen_lines(app) if line.strip()]


async def checked(pilot, view: FormView) -> None:
    await settle(pilot, lambda: not view._unchecked and not view._lock.locked())


async def typed(pilot, view: FormView, *keys: str) -> None:
    """Press keys, and wait until the values are checked."""
    await pilot.press(*keys)
    await checked(pilot, view)


@asynccontextmanager
async def on_form(view: FormView, width: int = 60, height: int = 12, focus: str = ""):
    """A screen of this size with a form, checked, and with the focus on a field."""
    app = Stage(view, css="FormView { height: 1fr; }")
    async with app.run_test(size=(width, height), message_hook=app.hear) as pilot:
        await checked(pilot, view)
        if focus:
            at(view, focus).focus()
            await checked(pilot, view)
        yield app, pilot, view


class Step(NamedTuple):
    """Keys, or `click X,Y` on the field, and what they lead to.

    That is the value, the lines below the first label, and the path of the field with the focus. `at PATH` before the
    keys focuses a field.
    """

    keys: str
    value: Any = ANY
    lines: str = ""
    focus: str = ""


async def go_through(pilot, view: FormView, *steps: Step) -> None:
    for keys, value, lines, focus in steps:
        if keys.startswith("click "):
            x, y = keys.removeprefix("click ").split(",")
            await pilot.click(pilot.app.focused, offset=(int(x), int(y)))
            await checked(pilot, view)
        else:
            pressed = keys.split()
            if pressed[:1] == ["at"]:
                at(view, pressed[1]).focus()
                pressed = pressed[2:]
            await typed(pilot, view, *pressed)
        assert view.value == value, keys
        expected = lines.split("\n") if lines else []
        assert [line[1:] for line in screen_lines(pilot.app)[1:]][: len(expected)] == expected, keys
        assert not focus or pilot.app.focused.field.path == focus, keys


async def test_a_form_looks_as_it_was_drawn():
    elicitation = schema(
        ("name",),
        name={"type": "string", "description": "Your full name"},
        check=BOOLEAN | {"description": "I agree to the terms", "default": True},
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


@pytest.mark.parametrize(("field", "label"), [
    ({"firstName": TEXT | {"title": "First name"}}, "firstName string"),
    ({"vat": TEXT | {"title": "Tax number"}}, "vat Tax number string"),
    ({"a": TEXT | {"default": ""}}, "a string default empty"),
    ({"a": TEXT | {"default": "It was a dark and stormy night."}}, "a string default It was a dark an…"),
    ({"a": list_of(TEXT, default=["x"])}, 'a array of string default ["x"]'),
])  # fmt: skip
async def test_a_label_has_the_title_where_it_says_more_and_the_default(field, label):
    async with on_form(made(schema(**field)), 60, 8) as (app, _pilot, _view):
        assert screen_lines(app)[0].split() == label.split()


async def test_a_form_counts_the_fields_below_its_last_line():
    view = made(schema(**{name: TEXT for name in "abcdef"}))
    async with on_form(view, height=4, focus="/a") as (_app, pilot, _view):
        await settle(pilot, lambda: plain(view.note()).endswith("  4 fields below"))
        await pilot.press("tab", "tab", "tab")
        await settle(pilot, lambda: plain(view.note()).endswith("  1 field below"))
        await pilot.press("tab")
        await settle(pilot, lambda: "below" not in plain(view.note()))
        await pilot.resize_terminal(60, 30)
        await pilot.press("shift+tab", "shift+tab", "shift+tab", "shift+tab", "shift+tab")
        await settle(pilot, lambda: "below" not in plain(view.note()))


async def test_a_form_that_is_read_only_is_scrolled_and_counts_the_fields_below():
    view = ReadOnlyForm(Form(schema(("a",), **{name: TEXT for name in "abcdef"})))
    async with on_form(view, height=4) as (app, pilot, _view):
        assert view.focus_first()
        assert app.focused is view
        await settle(pilot, lambda: plain(view.note()) == "4 fields below")
        await press(pilot, "x", "ctrl+e", "ctrl+g", "end", until=lambda: plain(view.note()) == "")
        await pilot.click(at(view, "/f"))
        assert app.focused is view
        assert not view.json_mode
        await press(pilot, *["up"] * 9, until=lambda: plain(view.note()) != "")
        assert view.value == {}


def test_a_value_is_not_drawn_before_its_name_has_room():
    view = made(schema(a=TEXT), {"a": "value"})
    view.put_on_lines(True)
    field = TextField(view.form.field("/a"), view)
    assert not field.render_line(0).text.strip()


async def test_typing_sets_the_value_and_draws_that_field_alone(monkeypatch):
    drawn: set[str] = set()
    draw = FieldFrame.render_line

    def note(self: FieldFrame, y: int):
        drawn.add(self.field.path)
        return draw(self, y)

    monkeypatch.setattr(FieldFrame, "render_line", note)
    async with on_form(made(schema(a=TEXT, b=TEXT, c=TEXT)), 40, 20) as (app, pilot, view):
        drawn.clear()
        await typed(pilot, view, *"hi")
        assert drawn == {"/a"}
        assert view.value == {"a": "hi"}
        assert app.messages_of(FormView.Changed)
        assert app.messages_of(FormView.Checked)[-1].to_fix == 0


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


NUMBER_OR_ONE = {"oneOf": [{"const": 1, "title": "one"}, {"const": 2, "title": "two"}, {"const": 3}]}
PERSON = schema(("first",), first=TEXT) | {"title": "person"}
COMPANY = schema(("vat",), vat=TEXT) | {"title": "company"}
TREE = {"$ref": "#/$defs/node", "$defs": {"node": schema(name=TEXT, child={"$ref": "#/$defs/node"})}}
NESTED = schema(
    stops=list_of(TEXT), colours=list_of({"enum": ["red", "green"]}), owner=schema(name=TEXT), flags=schema(on=BOOLEAN),
    legs=list_of(schema(to=TEXT, seats={"type": "integer"})), marks=list_of(BOOLEAN),
)  # fmt: skip
TWICE = f"""▌ ▾ 2 fields set\n\n  x{"string":>45}\n  ▌ y\n\n  count{"integer  ✗":>41}\n  ▌ 5\n\n  ▌ x▏\n  "x" exists already"""
YORK, OSLO, ON = {"stops": ["New York"]}, {"legs": [{"to": "Oslo +1"}]}, {"flags": {"on": True}, "marks": [True]}
OF_USER = {**schema(x=TEXT), "additionalProperties": {"type": "integer"}}


@pytest.mark.parametrize(("form", "steps"), [
    # A number that is not one keeps its text.
    (Form(schema(n=NUMBER)), [Step("1 e", ANY, "▌ 1e▏\nis not a number"), Step("3", {"n": 1000.0}, "▌ 1e3▏")]),
    # A text takes lines, and an empty field is omitted.
    (Form(schema(a=TEXT, n=NUMBER)), [
        Step("a ctrl+j b", {"a": "a\nb"}, "▌ a\n▌ b▏"), Step("backspace backspace backspace", {}),
        Step("tab 1 ctrl+j 2 backspace backspace", {}),
    ]),
    (Form(schema(b=BOOLEAN | {"description": "I agree"})), [
        Step("", {}, "▌ [-] not set  I agree"), Step("space", {"b": True}, "▌ [x] true  I agree"),
        Step("click 3,1", {"b": False}, "▌ [ ] false  I agree"), Step("ctrl+l", {}),
        Step("ctrl+t", {}),
    ]),
    # One of a few
    (Form(schema(c=NUMBER_OR_ONE)), [
        Step("", {}, "▌ ( ) one   ( ) two   ( ) 3"), Step("right", {"c": 1}),
        Step("right right right left", {"c": 3}), Step("space", {"c": 1}),
        Step("click 14,1", {"c": 2}, "▌ ( ) one   (•) two   ( ) 3"),
    ]),
    # Some of a few
    (Form(schema(m=list_of({"enum": ["a", "b", "c"]}))), [
        Step("right right space left left space", {"m": ["a", "c"]}, "▌ [x] a   [ ] b   [x] c"),
        Step("space", {"m": ["c"]}),
    ]),
    # One of many is found by typing.
    (Form(schema(c={"enum": [f"country {at}" for at in range(300)]}, d=TEXT)), [
        Step("", {}, "▌ ▾ nothing selected"), Step("2 9", {}, "▌ / 29▏  13 of 300\n▌ ( ) country 29"),
        Step("down enter", {"c": "country 129"}, "▌ ▾ country 129"),
        Step("space z z z", {"c": "country 129"}, "▌ / zzz▏  0 of 300\n▌ no match"),
        Step("enter escape", {"c": "country 129"}, "▌ ▾ country 129\n"),
        Step("down pagedown up enter", {"c": "country 136"}, focus="/c"), Step("enter", focus="/d"),
    ]),
    # Null is a value of its own.
    (Form(schema(n={"type": ["string", "null"]})), [
        Step("ctrl+t", {"n": None}, "▌ ▏null"), Step("a", {"n": "a"}), Step("ctrl+t ctrl+t", {}),
    ]),
    (Form(schema(n={"type": ["boolean", "null"]})), [Step("ctrl+t", {"n": None}, "▌ [-] null")]),
    (Form(schema(n={"type": ["object", "null"], "properties": {"x": TEXT}})), [Step("ctrl+t", {"n": None}, "▌ ▸ null")]),
    (Form(schema(n={"anyOf": [{"enum": ["a", "b"]}, {"type": "null"}]})), [
        Step("ctrl+t", {"n": None}, "▌ ( ) a   ( ) b   null"),
    ]),
    (Form(schema(n={"anyOf": [{"enum": [f"country {at}" for at in range(300)]}, {"type": "null"}]})), [
        Step("ctrl+t", {"n": None}, "▌ ▾ null"),
    ]),
    # A constant that is optional can be omitted.
    (Form(schema(("kind",), kind={"const": "invoice"}, extra={"const": 7})), [
        Step("", {"kind": "invoice"}, "▌ invoice", "/extra"), Step("space", {"kind": "invoice", "extra": 7}),
        Step("space", {"kind": "invoice"}),
    ]),
    # A field of any type takes JSON.
    (Form(schema(any={})), [
        Step(" ".join('{"a":[1,2]}'), {"any": {"a": [1, 2]}}), Step("backspace", {"any": '{"a":[1,2]'}),
    ]),
    # Enter and tab go from field to field, past the head of an open object.
    (Form(schema(a=TEXT, b=BOOLEAN, c={"enum": ["x", "y"]}, d=TEXT)), [
        Step("enter", focus="/b"), Step("enter", focus="/c"), Step("enter", focus="/d"), Step("enter", focus="/d"),
        Step("shift+tab", focus="/c"), Step("tab tab", focus="/a"),
    ]),
    (Form(schema(("customer", "address"), customer=TEXT, address=schema(("street",), street=TEXT))), [
        Step("A enter B", {"customer": "A", "address": {"street": "B"}}),
    ]),
    # A new item is filled in at its first field.
    (Form(schema(("stops",), stops=list_of(schema(("town",), town=TEXT, nights=NUMBER))), {"stops": []}), [
        Step("plus B e r g e n", {"stops": [{"town": "Bergen"}]}),
    ]),
    # A variant is chosen, and its fields follow.
    (Form(schema(("who",), who={"oneOf": [PERSON, COMPANY]})), [
        Step("", ANY, "▌ (•) person   ( ) company"), Step("right", ANY, "▌ ( ) person   (•) company"),
        Step("tab tab 4 2", {"who": {"vat": "42"}}),
    ]),
    # Text typed on a list or a folded object goes to a field inside.
    (Form(NESTED), [
        Step("at /stops N e w space Y o r k", YORK, focus="/stops/0"),
        Step("at /legs O s l o space plus 1", YORK | OSLO, focus="/legs/0/to"),
        Step("at /owner A d a", YORK | OSLO | {"owner": {"name": "Ada"}}, focus="/owner/name"),
        # Choices take no text.
        Step("at /colours r e d", YORK | OSLO | {"owner": {"name": "Ada"}}, focus="/colours"),
    ]),
    # An item is added after those that are there, and an open object without a field for text takes none.
    (Form(NESTED, ON | {"owner": {}, "stops": ["a"]}), [
        *(Step(f"at {path} x", ON | {"owner": {}, "stops": ["a"]}, focus=path) for path in ("/flags", "/marks")),
        Step("at /stops b", ON | {"owner": {}, "stops": ["a", "b"]}, focus="/stops/1"),
        Step("at /owner A d a space L", ON | {"owner": {"name": "Ada L"}, "stops": ["a", "b"]}, focus="/owner/name"),
    ]),
    # Objects open, close and take keys of the user.
    (Form(schema(o=OF_USER)), [
        Step("", {}, "▌ ▸ not set"), Step("enter tab y", {"o": {"x": "y"}}, "▌ ▾ 1 field set"),
        Step("tab c o u n t enter", focus="/o/count"), Step("5", {"o": {"x": "y", "count": 5}}),
        Step("tab x enter", ANY, TWICE), Step("at /o space", ANY, "▌ ▸ 2 fields set\n\n\n"), Step("ctrl+l", {}),
    ]),
    # A schema that refers to itself opens as deep as one goes.
    (Form(TREE), [
        *(Step(f"at {'/child' * depth} enter") for depth in range(1, 5)),
        Step(f"at {'/child' * 4}/name x", {"child": {"child": {"child": {"child": {"name": "x"}}}}}),
    ]),
])  # fmt: skip
async def test_keys_change_the_value_and_what_is_shown(form, steps):
    async with on_form(FormView(form), 50, 24) as (_app, pilot, view):
        await go_through(pilot, view, *steps)
        assert view.to_fix == 0


async def test_a_missing_object_is_filled_in_at_its_first_field():
    async with on_form(made(schema(("address",), address=schema(("street",), street=TEXT)))) as (app, pilot, view):
        assert view.focus_wrong()
        await pilot.pause()
        assert app.focused is at(view, "/address/street")


async def test_enter_on_a_list_without_items_adds_the_first():
    view = made(schema(items=list_of(schema(("sku",), sku=TEXT))))
    async with on_form(view, 50, 20, "/items") as (app, pilot, _):
        await settle(pilot, lambda: app.focused is at(view, "/items"))
        assert "add" not in screen_text(app), "the footer has the key"
        assert [verb for verb in at(view, "/items").key_verbs() if "add" in verb[1]] == [("items.open", "add an item")]
        await typed(pilot, view, "enter")
        await settle(pilot, lambda: app.focused is at(view, "/items/0/sku"))
        await pilot.press("A")
        assert view.value == {"items": [{"sku": "A"}]}
        assert any(line.endswith("▾ 1 field set") for line in shown_lines(app))
        assert any(line.endswith("+ add an item to items") for line in shown_lines(app))


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
    async with on_form(made(schema(a=TEXT, b=TEXT, c=many, d=TEXT)), 40, 10, "/c") as (_app, pilot, _view):
        await press(pilot, "space", shows="word 7")
        await press(pilot, "tab", "ctrl+j", "ctrl+j", "ctrl+j", "z", shows="z▏")


async def test_a_text_on_one_line_without_the_focus_shows_its_beginning():
    """Where it had several lines while it was edited."""
    view = made(schema(text=TEXT, name=TEXT))
    async with on_form(view, 50, 20, focus="/text") as (app, pilot, _):
        view.put_on_lines(True, foot=False)
        await typed(pilot, view, *"select name,city,note from all customers of Ulm".replace(" ", "_"))
        at(view, "/name").focus()
        await settle(pilot, lambda: len(shown_lines(app)) == 2)
        assert_in(screen_text(app), "select_name")
        at(view, "/text").show_without_change("another text that is longer than its line is wide, of an earlier call")
        await checked(pilot, view)
        assert_in(screen_text(app), "another text")


async def test_an_open_list_takes_clicks_and_closes_when_it_is_left():
    words = {"enum": [f"word {at}" for at in range(50)]}
    async with on_form(made(schema(c=list_of(words), d=TEXT)), 40, 24) as (_app, pilot, view):
        field = at(view, "/c", ChoiceField)
        chosen = {"c": ["word 1", "word 3"]}
        await go_through(pilot, view, Step("click 5,1"), Step("click 5,3"), Step("click 5,5", chosen))
        assert field.opened
        await go_through(pilot, view, Step("tab", chosen, "▌ ▾ word 1, word 3"))
        assert not field.opened


async def test_items_are_added_moved_and_removed():
    view = made(schema(("t",), t=list_of(TEXT, maxItems=3)), {"t": ["a"]})
    async with on_form(view, 50, 24) as (app, pilot, _):
        await go_through(
            pilot,
            view,
            Step("", focus="/t"),
            Step("plus", {"t": ["a", ""]}, focus="/t/1"),
            Step("b enter enter", {"t": ["a", "b", ""]}),
        )
        assert not list(view.query(AddItem)), "there is room for three"
        await go_through(
            pilot,
            view,
            Step("c alt+up", {"t": ["a", "c", "b"]}, focus="/t/1"),
            Step("f7 f6 f6 f6", {"t": ["c", "a", "b"]}),
            Step("f8", {"t": ["a", "b"]}, "▌ ▾ 2 items", "/t/0"),
        )
        assert [line for line in shown_lines(app) if "▌" in line][1:3] == ["  ▌ a▏", "  ▌ b"]
        # The cross at the end of the label removes too.
        item = at(view, "/t/1")
        await pilot.click(item, offset=(item.size.width - 1, 0))
        await go_through(pilot, view, Step("", {"t": ["a"]}), Step("alt+delete", {"t": []}, focus="/t"))


async def test_a_new_item_is_seen_while_it_is_typed():
    view = made(
        schema(things=list_of(schema(name=TEXT, notes=list_of(TEXT)))), {"things": [{"name": "a", "notes": []}]}
    )
    async with on_form(view, 50, 12, "/things/0/notes") as (app, pilot, _):
        await go_through(pilot, view, Step("plus h i g h", {"things": [{"name": "a", "notes": ["high"]}]}))
        assert "high" in "\n".join(shown_lines(app))


async def test_no_letter_acts_on_a_field_that_takes_no_text():
    form = schema(b=BOOLEAN, c={"enum": ["x", "y"]}, stops=list_of(TEXT))
    async with on_form(made(form, {"b": True, "stops": ["a", "b"]}), 50, 24) as (app, pilot, view):
        actions: list[str] = []
        for key in "qamKJx1":
            app.bind(key, f"hear('{key}')")
        app.action_hear = actions.append
        before = view.value
        for path in ("/b", "/c"):
            at(view, path).focus()
            await typed(pilot, view, *"qamKJx1", "minus")
        assert view.value == before
        assert actions == []
        at(view, "/stops").focus()
        await typed(pilot, view, "plus")
        assert view.value["stops"] == ["a", "b", ""]


async def test_text_pasted_on_a_list_goes_to_a_new_item():
    async with on_form(made(NESTED), 50, 40, "/stops") as (_app, pilot, view):
        at(view, "/stops").post_message(Paste("from the clipboard"))
        await checked(pilot, view)
        assert view.value == {"stops": ["from the clipboard"]}


async def test_text_that_comes_while_the_field_for_it_is_made_is_kept():
    async with on_form(made(schema(stops=list_of(TEXT))), 50, 20, "/stops") as (app, pilot, view):
        assert view.type_inside(at(view, "/stops"), "Ber")
        assert view.has_typed_ahead
        assert view.type_inside(at(view, "/stops"), "gen")
        await settle(pilot, lambda: not view.has_typed_ahead)
        assert view.value == {"stops": ["Bergen"]}
        assert app.focused is at(view, "/stops/0")


async def test_fields_are_one_line_each_or_have_lines_of_their_own():
    view = made(schema(("name",), name=TEXT | {"description": "Who comes"}, age={"type": "integer"}))
    async with on_form(view, 50, 20) as (app, pilot, _):
        apart = view.lines(50, slim=False)
        assert apart == len(screen_text(app).rstrip().splitlines()) + 1 == 7, "and the empty row of the last field"
        view.put_on_lines(True, foot=False)
        await settle(pilot, lambda: len(shown_lines(app)) == 2)
        assert [line.split()[0] for line in shown_lines(app)] == ["name", "age"]
        assert view.lines(50, slim=True) == 3, "with a line below the focused field"
        view.put_on_lines(False)
        await settle(pilot, lambda: len(shown_lines(app)) == 5)
        assert view.columns is None


async def test_a_field_on_one_line_has_its_type_where_its_default_does_not_fit():
    view = made(schema(("description",), description=TEXT, existingTasks=BOOLEAN | {"default": False}))
    async with on_form(view, 50, 20) as (app, pilot, _):
        view.put_on_lines(True, foot=False)
        await settle(pilot, lambda: len(shown_lines(app)) == 2)
        assert shown_lines(app)[1].rstrip().endswith("boolean")


async def test_a_required_field_on_one_line_keeps_its_type_and_an_empty_form_its_limits():
    count = {"type": "integer", "minimum": 1, "maximum": 10}
    view = made(schema(("peopleCount",), allergies=list_of(TEXT), name=TEXT, peopleCount=count))
    async with on_form(view, 58, 20, "/peopleCount") as (app, pilot, _):
        view.put_on_lines(True, foot=False)
        await settle(pilot, lambda: len(shown_lines(app)) == 3)
        assert shown_lines(app)[2].rstrip().endswith(" integer 1-10  required")
        at(view, "/name").post_message(Paste("a text that needs its cells"))
        await settle(pilot, lambda: shown_lines(app)[2].rstrip().endswith(" integer  required"))
        assert "a text that needs its" in shown_lines(app)[1]


async def test_the_row_that_adds_to_a_required_list_does_not_say_so_again():
    async with on_form(made(schema(("stops",), stops=list_of(TEXT))), 60, 20, "/stops") as (app, pilot, view):
        view.put_on_lines(True, foot=False)
        await typed(pilot, view, "enter")
        await settle(pilot, lambda: len(shown_lines(app)) == 3)
        assert ["required" in line for line in shown_lines(app)] == [True, False, False]


async def test_a_boolean_on_one_line_describes_itself_below_while_it_has_the_focus():
    about = "Include the text of each page, in the order in which it was written"
    view = made(schema(full=BOOLEAN | {"description": about}, images=BOOLEAN | {"description": about}))
    async with on_form(view, 90, 20) as (app, pilot, _):
        view.put_on_lines(True, foot=True)
        await settle(pilot, lambda: len(shown_lines(app)) == 3)
        focused, foot, other = (line.strip() for line in shown_lines(app))
        assert (foot, focused.split()) == (about, ["full", "▌", "[-]", "not", "set", "boolean"])
        assert about[:20] in other


@pytest.mark.parametrize("keyword", ["anyOf", "oneOf"])
async def test_a_variant_of_all_arguments_is_chosen_and_its_fields_follow(keyword):
    variants = [schema(("kind", name), kind={"const": kind}, **{name: TEXT}) for kind, name in WAYS]
    async with on_form(made({"type": "object", keyword: variants}), 60, 24) as (app, pilot, view):
        assert "(•) email   ( ) sms" in screen_text(app)
        assert view.errors == {"/address": "is required"}
        view.focus_first()
        await go_through(pilot, view, Step("right", {"kind": "sms"}))
        assert "( ) email   (•) sms" in screen_text(app)
        assert "address" not in screen_text(app)
        await view.load({"kind": "email", "address": 5})
        await checked(pilot, view)
        assert "(•) email   ( ) sms" in screen_text(app)
        assert view.errors == {"/address": "expected string, got 5"}


async def test_variants_that_only_require_are_named_by_what_they_require():
    variants = [{"required": ["a"]}, {"required": ["b"]}, {"required": ["a"], "maxProperties": 1}]
    async with on_form(made(schema(a=TEXT, b=TEXT) | {"anyOf": variants}), 60, 24) as (app, pilot, view):
        assert "(•) a   ( ) b   ( ) a (2)" in screen_text(app)
        view.focus_first()
        await typed(pilot, view, "right")
        assert view.errors == {"/b": "is required"}


def test_a_constant_that_is_required_cannot_have_the_focus():
    assert not FixedField(Form(schema(("kind",), kind={"const": "invoice"})).field("/kind"), None).can_focus


async def test_hostile_words_of_a_schema_are_text():
    evil = "a\x1b[31m\n[bold]b\u202e"
    odd = {"c": {"enum": [evil, "\x07"]}, "n": {"description": ["no text"], "type": 7}, "d": "no schema"}
    form = schema((evil,), **{evil: TEXT | {"title": evil, "description": evil, "default": evil}}, **odd)
    async with on_form(made(form, {"c": evil}), 100, 24) as (app, _pilot, _):
        text = screen_text(app)
        assert_not_in(text, "\x1b", "\u202e")
        assert_in(text, "a␛[31m↵[bold]b‹202E› ", "(•) a␛[31m↵[bold]b‹202E›   ( ) ␇")


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
    form = schema(a=TEXT, b=TEXT) | {"$schema": "https://no.such/dialect", "required": 7}
    async with on_form(made(form), 70, 10) as (app, pilot, view):
        assert "cannot be validated:" in screen_text(app)
        assert view.note() == [("not validated", "finding")]
        await go_through(pilot, view, Step("x", {"a": "x"}))
        assert "too many fields" not in screen_text(app)


async def test_a_schema_with_a_lone_surrogate_shows_no_error_of_a_library():
    async with on_form(made(schema(**{"a\ud800": TEXT, "b": NUMBER}), {"b": "x"}), 60, 12) as (app, _pilot, _view):
        assert_not_in(screen_text(app), "UTF-8", "cannot be checked")
        assert "expected number" in screen_text(app)


async def test_another_form_takes_the_place_of_one():
    async with on_form(made(schema(a=TEXT)), 40, 10) as (_app, pilot, view):
        await pilot.press("x")
        await view.show(Form(schema(b=TEXT)))
        await view.load({"b": "loaded", "extra": 1})
        await go_through(pilot, view, Step("", {"b": "loaded", "extra": 1}, "▌ loaded"))


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
    value = {"a": "x", "unknown": [1, {"y": None}], "big": 10**30}
    async with on_form(made(schema(a=TEXT), value), 50, 20) as (app, pilot, view):
        await typed(pilot, view, "ctrl+e")
        assert view.json_mode
        assert '"a": "x",' in screen_text(app)
        changed = value | {"a": "xY"}
        await go_through(pilot, view, Step("down end left left Y", changed), Step("ctrl+e", changed))
        assert not view.json_mode
        assert "▌ xY" in screen_text(app)


async def test_broken_json_is_flagged_and_kept():
    async with on_form(made(schema(("a",), a=NUMBER), {"a": 1})) as (app, pilot, view):
        await typed(pilot, view, "ctrl+e", "end", ",")
        assert view.to_fix == 1
        assert "{,▏ ✗ a member name in double quotes is missing" in screen_text(app), "at the line"
        assert view.note() == [("not JSON, line 1, column 2: a member name in double quotes is missing", "error")]
        assert view.text.startswith("{,")
        await go_through(pilot, view, Step("ctrl+e", {"a": 1}))
        assert view.json_mode
        assert view.text.startswith("{,")
        await typed(pilot, view, "delete")
        assert view.to_fix == 0
        await typed(pilot, view, "ctrl+shift+a", "backspace")
        assert view.value is UNSET


async def test_a_json_error_is_reported_at_its_line_and_gone_to():
    async with on_form(made(schema(), {f"a{at}": at for at in range(40)})) as (app, pilot, view):
        await typed(pilot, view, "ctrl+e", "down", "end", "x")
        assert '"a0": 0,x▏ ✗ ' in screen_text(app)
        await press(pilot, *["pagedown"] * 5, until=lambda: '"a0":' not in screen_text(app))
        await press(pilot, "ctrl+e", shows='"a0": 0,x')
        assert view.query_one(JsonEditor).buffer.place() == (1, 10)
        assert view.json_mode


@pytest.mark.parametrize("key", ["ctrl+a", "ctrl+shift+a"])
async def test_a_paste_replaces_all_that_is_selected(key: str):
    async with on_form(made(schema(), {"a": 1})) as (app, pilot, view):
        await pilot.press("ctrl+e", "down", key)
        app.post_message(Paste('{"b": 2}'))
        await settle(pilot, lambda: view.value == {"b": 2})
        assert view.text == '{"b": 2}'


async def test_what_is_wrong_is_reported_at_the_lines_of_the_json():
    async with on_form(made(schema(("a",), a=NUMBER, b=NUMBER), {"b": "no"})) as (app, pilot, view):
        await typed(pilot, view, "ctrl+e")
        assert next(line for line in screen_lines(app) if "{" in line).strip() == "{  ✗ a: is required"
        assert '"b": "no"  ✗ ' in screen_text(app)


async def test_new_lines_of_json_are_indented():
    async with on_form(made(schema(), {"a": [1]})) as (_app, pilot, view):
        await pilot.press("ctrl+e", "end", "enter", "x", "enter", "y")
        assert view.text.startswith('{\n  x\n  y\n  "a": [\n')
        await pilot.press("pagedown", "pageup", "up")


async def test_the_caret_in_long_json_stays_in_view():
    async with on_form(made(schema(), {"a": list(range(60))}), 40, 12) as (_app, pilot, view):
        await press(pilot, "ctrl+e", "pagedown", "pagedown", until=lambda: view.scroll_offset.y > 5)
        row = view.query_one(JsonEditor).buffer.place()[0]
        assert view.scroll_offset.y <= row < view.scroll_offset.y + 12
        await press(pilot, "pageup", "pageup", until=lambda: view.scroll_offset.y == 0)


def nested(depth: int) -> list:
    value: list = []
    for _ in range(depth):
        value = [value]
    return value


def test_json_is_written_so_that_everything_in_it_can_be_seen():
    text = json_lines({"a": "x\x1b\u202e\u200b\ud800\x9b\x7f\u2028é日"})
    assert text == '{\n  "a": "x\\u001b\\u202e\\u200b\\ud800\\u009b\\u007f\\u2028é日"\n}'
    assert json.loads(text) == {"a": "x\x1b\u202e\u200b\ud800\x9b\x7f\u2028é日"}
    assert json_lines(nested(100_000)) is None
    assert json_lines(nested(MAX_READ + 1)) is None
    assert read_json("[" * 1000 + "]" * 1000) == (None, JsonFault("nested too deeply"))


@pytest.mark.parametrize("text", ["{", '{"a": NaN}', "[" * 100_000, "1e999 x", "\x00"])
def test_what_is_not_json_says_where(text):
    assert read_json(text)[1]


async def test_a_value_too_long_or_deep_for_the_screen_stays_a_form():
    async with on_form(made(schema(), {"deep": nested(5000)})) as (_app, pilot, view):
        await typed(pilot, view, "ctrl+e")
        assert not view.json_mode
        await view.load({"x": "y" * 600_000})
        await go_through(pilot, view, Step("ctrl+e", {"x": "y" * 600_000}))
        assert not view.json_mode


# The user's editor


def editor(folder: Path, body: str) -> str:
    """Write an editor: a program that is given the name of a file."""
    script = folder / "editor.py"
    script.write_text(f"import json, os, sys\npath = sys.argv[1]\n{body}\n")
    return f"{sys.executable} {script}"


@pytest.fixture
def lend(lent_terminal, monkeypatch):
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
    async with on_form(made(schema(a=TEXT), {"a": "x", "kept": [1]})) as (_app, pilot, view):
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
    async with on_form(made(schema(a=TEXT), {"a": "x"})) as (_app, pilot, view):
        await press(pilot, "ctrl+o", until=lambda: view.json_mode and view.text == '{"a": oops')
        assert view.value == {"a": "x"}
        assert view.to_fix == 1


@pytest.mark.slow
@pytest.mark.parametrize("command", ["/no/such/editor", "'unclosed", "false"])
async def test_an_editor_that_fails_changes_nothing(lend, monkeypatch, command):
    monkeypatch.setenv("EDITOR", command)
    async with on_form(made(schema(a=TEXT), {"a": "x"})) as (_app, pilot, view):
        await press(pilot, "ctrl+o", until=lambda: not any(worker.group == "editor" for worker in view.workers))
        assert view.value == {"a": "x"}


async def test_a_terminal_that_cannot_be_lent_is_reported(monkeypatch):
    monkeypatch.setenv("EDITOR", "true")
    async with on_form(made(schema(a=TEXT))) as (app, pilot, _view):
        await pilot.press("ctrl+o")
        await settle(
            pilot,
            lambda: "cannot run another program" in str([notification.message for notification in app._notifications]),
        )


def test_the_editor_is_the_one_the_user_has_chosen():
    assert editor_command({"EDITOR": "nano", "VISUAL": "code --wait"}) == ["code", "--wait"]
    assert editor_command({"EDITOR": "'my editor' -x"}) == ["my editor", "-x"]
    assert editor_command({}) == ["vi"]
    assert editor_command({"EDITOR": " "}) == ["vi"]


# Anything


leaves = [
    TEXT, {"type": "integer"}, BOOLEAN, {"enum": ["a", 1, None]}, {"const": {"x": 1}}, {"type": ["number", "null"]},
]  # fmt: skip
schemas = st.recursive(
    st.sampled_from([*leaves, {"type": "null"}, {}, True, 7]),
    lambda inner: st.one_of(
        st.builds(lambda a, b: {"type": "object", "properties": {"a": a, "b": b}, "required": ["a"]}, inner, inner),
        st.builds(lambda a: {"type": "array", "items": a}, inner),
        st.builds(lambda a, b: {"oneOf": [a, b]}, inner, inner),
        st.builds(lambda a: {"type": "object", "additionalProperties": a}, inner),
    ),
    max_leaves=5,
)
KEYS = "tab shift+tab enter space right down a plus 1 ctrl+t ctrl+l f8 f6 ctrl+e".split()


@settings(max_examples=5, suppress_health_check=[HealthCheck.too_slow])
@given(schemas, st.lists(st.sampled_from(KEYS), min_size=5, max_size=14))
async def test_no_form_and_no_keys_break_it(of, keys):
    async with on_form(made(schema(x=of, y=of)), 50, 30) as (_app, pilot, view):
        await typed(pilot, view, *keys)
        if not view.json_mode:
            paths = [widget.field.path for widget in view.query(FieldFrame) if not isinstance(widget, AddItem | AddKey)]
            assert list(dict.fromkeys(paths)) == [field.path for field in view.form.fields()]
        else:
            assert isinstance(view.children[0], JsonEditor)
