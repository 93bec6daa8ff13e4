"""Forms: the fields for a JSON Schema, and a value that never loses anything (C-ELIC-02)."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from inspector.errors import UsageError
from inspector.protocol.forms.form import UNSET, Field, Form

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=8,
)
NAMES = st.sampled_from(["a", "b", "c/d", "~", ""])
LEAVES = st.sampled_from(
    [
        {"type": "string"},
        {"type": "integer", "minimum": 1},
        {"type": "number", "default": 2.5},
        {"type": "boolean"},
        {"enum": ["x", 2, None]},
        {"const": "k"},
        {"oneOf": [{"const": 1, "title": "one"}, {"const": 2}]},
        {"type": "array", "items": {"enum": ["x", "y"]}},
        {"type": ["string", "null"]},
        {"type": ["integer", "string"]},
        {"$ref": "#"},
        {"$ref": "#/nowhere"},
        {"allOf": [{"type": "object", "properties": {"a": {"type": "string"}}}, {"required": ["a"]}]},
        {},
        True,
        {"type": "nonsense"},
        {"type": ["array"], "items": [{"type": "string"}]},
    ]
)
SCHEMAS = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        st.builds(
            lambda properties, required: {"type": "object", "properties": properties, "required": required},
            st.dictionaries(NAMES, inner, max_size=3),
            st.lists(NAMES, max_size=2),
        ),
        st.builds(lambda items: {"type": "array", "items": items}, inner),
        st.builds(lambda parts: {"anyOf": parts}, st.lists(inner, max_size=3)),
        st.builds(lambda parts: {"allOf": parts}, st.lists(inner, max_size=2)),
        st.builds(lambda extra: {"type": "object", "additionalProperties": extra}, inner),
    ),
    max_leaves=6,
)


def field_facts(form: Form) -> list[tuple[str, str, str]]:
    return [(field.path, field.kind, field.hint) for field in form.fields()]


def only(schema: Any, value: Any = UNSET) -> Field:
    """The one field of an object with one property `x`."""
    members = UNSET if value is UNSET else {"x": value}
    return Form({"type": "object", "properties": {"x": schema}}, members).field("/x")


@settings(max_examples=4 * settings.default.max_examples)
@given(SCHEMAS | JSON, JSON)
def test_a_loaded_value_returns_whatever_the_schema(schema: Any, value: Any) -> None:
    form = Form(schema, value)
    before = repr(value)
    fields = form.fields()
    for field in fields:
        assert form.value_at(field.path) is field.value
        words = (field.text, field.label, field.hint, field.default_text, field.title, field.description)
        assert all(isinstance(text, str) for text in words)
        assert all(index < len(field.choices) for index in field.chosen)
        assert form.field(field.path) == field
    form.errors()
    assert form.value() is value
    assert repr(value) == before


@settings(max_examples=4 * settings.default.max_examples)
@example({"anyOf": [{"additionalProperties": {"type": "integer"}}, {"additionalProperties": {"$ref": "#"}}]}, {"a": {}})
@example(
    {"additionalProperties": {"anyOf": [{}, {"type": "array", "items": {"type": "integer", "minimum": 1}}]}},
    {"": [False]},
)
@given(SCHEMAS, JSON)
def test_text_that_is_put_back_changes_nothing_that_fitted(schema: Any, value: Any) -> None:
    form = Form(schema, value)
    if form.errors() or form.problem:
        return
    for field in form.fields():
        if field.value is UNSET or field.value is None:
            continue
        # The variant that is shown may be another one than the value fits; only an edit makes the value one of it.
        is_other = isinstance(field.value, (dict, list, str)) or isinstance(field.value, bool) != (
            field.kind == "boolean"
        )
        if field.kind in ("integer", "number", "boolean") and is_other:
            continue
        # A variant that accepts anything also accepts what the shown one calls a text; only an edit makes it one.
        is_as_shown = field.kind != "string" or isinstance(field.value, str)
        if field.kind in ("string", "integer", "number", "boolean", "json") and not field.variants and is_as_shown:
            assert form.read(field.path, field.text)[0] == field.value
        if field.kind not in ("object", "array", "multi"):
            form.set(field.path, field.text)
    assert form.value() == value


@settings(max_examples=4 * settings.default.max_examples)
@given(SCHEMAS, st.data())
def test_anything_can_be_done_to_any_field(schema: Any, data: st.DataObject) -> None:
    form = Form(schema)
    for _ in range(4):
        fields = form.fields() or [form.root]
        field = data.draw(st.sampled_from(fields))
        before = repr(kept := form.value())
        if field.variants:
            form.choose(field.path, data.draw(st.integers(0, len(field.variants))))
        elif field.kind == "multi":
            form.toggle(field.path, data.draw(st.integers(0, len(field.choices) - 1)))
        elif field.kind == "array" and isinstance(field.value, list) and len(field.value) > 1:
            form.move(f"{field.path}/0", data.draw(st.integers(-2, 2)))
            form.remove(f"{field.path}/0")
        elif field.can_add and field.kind == "array":
            form.add(field.path)
        elif field.can_add:
            form.add_key(field.path, data.draw(st.sampled_from(["new", "new2", "new3", "new4", "new5"])) + str(_))
        else:
            form.set(field.path, data.draw(st.sampled_from(["", "1", "x", "true", "[1]", "{", "null"])))
        form.open(field.path)
        form.errors()
        assert repr(kept) == before


@pytest.mark.parametrize(
    ("schema", "kind", "hint"),
    [
        ({"type": "string"}, "string", "string"),
        ({"type": "string", "format": "email"}, "string", "string email"),
        ({"type": "string", "minLength": 3, "maxLength": 20}, "string", "string 3-20 characters"),
        ({"type": "string", "pattern": "^a+$"}, "string", "string ^a+$"),
        ({"type": "integer", "minimum": 1, "maximum": 100}, "integer", "integer 1-100"),
        ({"type": "integer", "minimum": -5, "maximum": 5}, "integer", "integer -5 to 5"),
        ({"type": "number", "exclusiveMinimum": 0}, "number", "number more than 0"),
        ({"type": "number", "minimum": 0.5}, "number", "number from 0.5"),
        ({"type": "boolean"}, "boolean", "boolean"),
        ({"type": "null"}, "null", "null"),
        ({"enum": ["a", "b"]}, "enum", "one of 2"),
        ({"type": "string", "enum": ["a"], "enumNames": ["A"]}, "enum", "one of 1"),
        ({"oneOf": [{"const": "a", "title": "A"}, {"const": "b"}]}, "enum", "one of 2"),
        ({"anyOf": [{"const": 1}, {"enum": [2]}, {"type": "null"}]}, "enum", "one of 2 or null"),
        ({"const": 7}, "const", "always 7"),
        ({"type": "array", "items": {"enum": ["a", "b", "c"]}, "minItems": 1, "maxItems": 3}, "multi", "1 to 3 of 3"),
        ({"type": "array", "items": {"anyOf": [{"const": "a", "title": "A"}]}}, "multi", "any of 1"),
        ({"type": "array", "items": {"type": "string"}}, "array", "array of string"),
        (
            {"type": "array", "items": {"type": "array", "items": {"type": "integer"}}},
            "array",
            "array of array of integer",
        ),
        ({"type": "array", "prefixItems": [{}, {}]}, "array", "array of 2"),
        ({"type": "object", "properties": {}}, "object", "object"),
        ({"type": ["string", "null"]}, "string", "string or null"),
        ({"anyOf": [{"type": "integer"}, {"type": "null"}]}, "integer", "integer or null"),
        ({}, "json", "any JSON"),
        (True, "json", "any JSON"),
        ({"type": "wormhole"}, "json", "any JSON"),
        ({"properties": {"a": {}}}, "object", "object"),
        ({"items": {}}, "array", "array of any JSON"),
        ({"minLength": 1}, "string", "string from 1 character"),
        ({"type": "string", "maxLength": 2}, "string", "string up to 2 characters"),
        ({"type": "array", "items": {"type": "object"}, "minItems": 1}, "array", "array of object, from 1 item"),
        ({"type": "array", "minItems": 1, "maxItems": 2}, "array", "array, 1 to 2 items"),
        ({"maximum": 5}, "number", "number up to 5"),
        ({"minimum": -1e9, "maximum": 0.5}, "number", "number -1000000000 to 0.5"),
        ({"anyOf": [{"type": "string"}], "oneOf": [{"minLength": 1}]}, "json", "any JSON"),
        ({"type": "integer", "title": "\x1b[2J", "pattern": 5}, "integer", "integer"),
        ({"type": "string", "format": "\x1b[2J"}, "string", "string ␛[2J"),
    ],
)
def test_kinds_and_hints(schema: Any, kind: str, hint: str) -> None:
    """C-ELIC-03."""
    field = only(schema)
    assert (field.kind, field.hint) == (kind, hint)


def test_a_form_as_in_the_drawing_of_an_elicitation() -> None:
    """C-ELIC-03."""
    form = Form(
        {
            "type": "object",
            "properties": {
                "name": {"type": "string", "title": "Full name", "description": "Your full name"},
                "check": {"type": "boolean", "default": True},
                "integer": {"type": "integer", "minimum": 1, "maximum": 100, "default": 42},
                "email": {"type": "string", "format": "email"},
            },
            "required": ["name"],
        }
    )
    name, check, integer, email = form.fields()
    assert (name.label, name.description, name.required) == ("Full name", "Your full name", True)
    assert (check.default, integer.default_text, email.default) == (True, "42", UNSET)
    assert form.value() == {}
    assert form.errors() == {"/name": "is required"}
    form.load(form.defaults())
    assert form.value() == {"check": True, "integer": 42}
    form.set("/name", "Ada")
    form.set("/integer", "123")
    form.set("/email", "not an address")
    assert form.errors() == {"/integer": "must be at most 100", "/email": "not a valid email address"}
    form.set("/integer", "")
    form.set("/email", "")
    assert form.value() == {"name": "Ada", "check": True}
    assert form.errors() == {}


def test_untouched_optional_fields_are_omitted_and_set_ones_stand_in_the_order_of_the_schema() -> None:
    form = Form({"type": "object", "properties": {"a": {"type": "string"}, "b": {}, "c": {}}}, {"z": 1})
    form.set("/c", "1")
    form.set("/a", "x")
    assert list(form.value()) == ["a", "c", "z"]


def test_text_is_read_as_the_kind_wants_it() -> None:
    schema = {
        "type": "object",
        "properties": {
            "i": {"type": "integer"},
            "n": {"type": "number"},
            "b": {"type": "boolean"},
            "s": {"type": "string"},
            "e": {"enum": ["1", 1, 2, True]},
            "t": {"oneOf": [{"const": "r", "title": "Red"}]},
            "j": {},
            "o": {"type": "object"},
            "u": {"type": ["integer", "string"]},
            "l": {"type": ["integer", "null"]},
        },
    }
    form = Form(schema)
    for path, text, value in (
        ("/i", "12", 12),
        ("/i", "-9007199254740993", -9007199254740993),
        ("/i", "1" * 300, int("1" * 300)),
        ("/i", "1e3", 1000),
        ("/i", "123456789012345678901.0", 123456789012345678901),
        ("/n", "1e5", 100000.0),
        ("/n", " .5 ", 0.5),
        ("/b", "false", False),
        ("/s", "12", "12"),
        ("/e", "1", "1"),
        ("/e", "2", 2),
        ("/e", "true", True),
        ("/t", "Red", "r"),
        ("/j", '{"a":1}', {"a": 1}),
        ("/j", "plain", "plain"),
        ("/o", '{"a":[]}', {"a": []}),
        ("/u", "5", 5),
        ("/u", "five", "five"),
        ("/l", "null", None),
    ):
        form.set(path, text)
        assert form.value_at(path) == value
        assert type(form.value_at(path)) is type(value)
        assert form.errors() == {}
        assert path in ("/j", "/o", "/t") or form.field(path).text == text


def test_the_text_that_a_field_shows_changes_nothing() -> None:
    schema = {"type": "object", "properties": {"x": {"anyOf": [{"type": "string"}, {"type": "integer"}]}}}
    form = Form(schema, {"x": 5})
    form.set("/x", "5")
    assert form.value() == {"x": 5}
    form.set("/x", "6")
    assert form.value() == {"x": "6"}


def test_text_that_cannot_be_read_is_kept_and_said_to_be_wrong() -> None:
    schema = {
        "type": "object",
        "properties": {"i": {"type": "integer"}, "b": {"type": "boolean"}, "o": {"type": "array"}},
    }
    form = Form(schema)
    for path, text, message in (
        ("/i", "abc", "is not a whole number"),
        ("/i", "1.5", "is not a whole number"),
        ("/i", "1e99999", "is too large for a number with a fraction"),
        ("/i", "1" * 5000, "has more than 4,000 digits"),
        ("/i", "١٢", "is not a whole number"),
        ("/b", "yes", "must be true or false"),
        ("/o", "[1,", "is not JSON: a value is missing at character 4"),
        ("/o", "[" * 200_000, "is nested too deeply"),
    ):
        form.set(path, text)
        assert form.value_at(path) == text
        assert form.errors() == {path: message}
        form.unset(path)
    assert form.value() == {}


def test_nothing_is_lost_of_what_the_form_cannot_show() -> None:
    value = {"x": {"deep": [1, {"y": None}]}, "extra": [2], "n": 12345678901234567890}
    form = Form({"type": "object", "properties": {"n": {"type": "string"}, "x": {"type": "boolean"}}}, value)
    assert field_facts(form)[:2] == [("/n", "string", "string"), ("/x", "json", "boolean")]
    assert form.field("/extra").is_item
    form.set("/new", "1")
    assert form.value() == {**value, "new": 1}


def test_nested_objects_open_when_they_are_needed() -> None:
    address = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
    form = Form({"type": "object", "properties": {"home": address, "work": address}, "required": ["home"]})
    assert [field.path for field in form.fields()] == ["/home", "/home/city", "/work"]
    assert form.errors() == {"/home": "is required"}
    form.open("/work")
    assert [field.path for field in form.fields()] == ["/home", "/home/city", "/work", "/work/city"]
    form.set("/home/city", "Graz")
    assert form.value() == {"home": {"city": "Graz"}}
    form.put("/work", {})
    form.open("/work", False)
    assert form.errors() == {"/work": "/city is required"}


def test_recursive_schemas_expand_only_where_they_are_opened() -> None:
    tree = {
        "$ref": "#/$defs/node",
        "$defs": {
            "node": {
                "type": "object",
                "properties": {
                    "left": {"$ref": "#/$defs/node"},
                    "kids": {"type": "array", "items": {"$ref": "#/$defs/node"}},
                },
                "required": ["left"],
            }
        },
    }
    form = Form(tree)
    assert len(form.fields()) < 20
    form.add("/kids")
    form.open("/kids/0/left")
    assert "/kids/0/left/kids" in [field.path for field in form.fields()]
    deep: Any = {}
    for _ in range(150):
        deep = {"left": deep}
    form.load(deep)
    assert max(field.depth for field in form.fields()) == 12
    assert form.fields()[-1].kind in ("array", "json")
    for hostile in (
        {"$ref": "#"},
        {"allOf": [{"$ref": "#"}, {"$ref": "#"}]},
        {"type": "array", "items": {"$ref": "#"}},
    ):
        Form(hostile).fields()


@pytest.mark.slow
def test_hostile_schemas_take_bounded_work() -> None:
    chain: dict[str, Any] = {f"a{n}": {"$ref": f"#/$defs/a{n + 1}"} for n in range(5000)}
    laughs: dict[str, Any] = {f"a{n}": {"allOf": [{"$ref": f"#/$defs/a{n + 1}"}] * 9} for n in range(50)}
    wide: dict[str, Any] = {"type": "object", "required": [f"p{n}" for n in range(600)]}
    wide["properties"] = {f"p{n}": {"$ref": "#/$defs/a0"} for n in range(600)}
    deep: Any = {}
    for _ in range(3000):
        deep = {"type": "array", "items": deep}
    variants: Any = {"type": "string"}
    for _ in range(40):
        variants = {"anyOf": [variants, {"type": "null"}, variants]}
    for schema in (
        {"$ref": "#/$defs/a0", "$defs": chain},
        {"$ref": "#/$defs/a0", "$defs": laughs},
        {**wide, "$defs": {"a0": wide}},
        {"type": "object", "properties": {"x": deep, "y": variants}},
        {"type": "object", "properties": {f"k{n}": {"enum": list(range(100))} for n in range(5000)}},
        {"enum": list(range(10_000))},
        {"anyOf": [{"type": "string", "title": str(n)} for n in range(10_000)]},
    ):
        form = Form(schema)
        assert len(form.fields()) <= 500
        form.defaults()
    form = Form({"type": "object", "properties": {f"k{n}": {} for n in range(5000)}})
    form.fields()
    assert form.truncated


def test_arrays_grow_shrink_and_change_order() -> None:
    form = Form({"type": "object", "properties": {"a": {"type": "array", "items": {"type": "integer"}, "maxItems": 4}}})
    assert form.add("/a") == "/a/0"
    assert form.errors() == {"/a/0": "is required"}
    assert form.value() == {"a": [None]}
    for path, text in (("/a/0", "1"), ("/a/1", "2"), ("/a/2", "x")):
        form.set(path, text)
    assert form.value() == {"a": [1, 2, "x"]}
    assert form.errors() == {"/a/2": "is not a whole number"}
    assert form.move("/a/2", -5) == "/a/0"
    assert form.value() == {"a": ["x", 1, 2]}
    assert form.errors() == {"/a/0": "is not a whole number"}
    assert form.move("/a/0", 1) == "/a/1"
    assert form.errors() == {"/a/1": "is not a whole number"}
    form.remove("/a/0")
    assert form.errors() == {"/a/0": "is not a whole number"}
    form.remove("/a/0")
    assert form.value() == {"a": [2]}
    assert form.errors() == {}
    form.set("/a/0", "")
    assert form.errors() == {"/a/0": "is required"}
    form.put("/a", [1, 2, 3, 4])
    assert form.errors() == {}
    assert not form.field("/a").can_add
    for wrong in ("/a/9", "/a/x"):
        with pytest.raises(UsageError, match="no field"):
            form.remove(wrong)
    with pytest.raises(UsageError, match="no field"):
        form.put("/a/7", 1)


def test_new_items_start_with_the_least_of_their_kind() -> None:
    for items, start in (
        ({"type": "string"}, ""),
        ({"type": "boolean"}, False),
        ({"type": "object", "properties": {"t": {"const": "k"}}, "required": ["t"]}, {"t": "k"}),
        ({"type": "integer", "default": 3}, 3),
        ({"type": "array"}, []),
        ({"oneOf": [{"type": "integer"}, {"type": "string"}]}, None),
    ):
        form = Form({"type": "array", "items": items})
        form.add("")
        assert form.value() == [start]


def test_tuples_have_a_schema_for_each_place() -> None:
    for schema in (
        {"type": "array", "prefixItems": [{"type": "string"}, {"type": "integer"}], "items": False},
        {"type": "array", "items": [{"type": "string"}, {"type": "integer"}], "additionalItems": False},
    ):
        form = Form(schema, ["x", 1])
        assert [field.kind for field in form.fields()] == ["array", "string", "integer"]
        assert not form.root.can_add


def test_multi_select_keeps_the_order_of_the_choices_and_what_is_strange() -> None:
    """C-ELIC-03."""
    schema = {"type": "object", "properties": {"m": {"type": "array", "items": {"enum": ["a", "b", "c"]}}}}
    form = Form(schema, {"m": ["strange"]})
    form.toggle("/m", 2)
    form.toggle("/m", 0)
    assert form.value() == {"m": ["a", "c", "strange"]}
    assert form.field("/m").chosen == (0, 2)
    form.load({})
    form.toggle("/m", 1)
    form.toggle("/m", 1)
    assert form.value() == {}


def animal(kind: str, properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": {"kind": {"const": kind}, **properties}, "required": ["kind"]}


def test_variants_are_recognised_and_chosen() -> None:
    schema = {
        "type": "object",
        "properties": {
            "pet": {
                "title": "Pet",
                "oneOf": [
                    animal("cat", {"lives": {"type": "integer"}}) | {"title": "Cat"},
                    {"$ref": "#/$defs/Dog"},
                    {"type": "string"},
                ],
            }
        },
        "$defs": {"Dog": animal("dog", {"tricks": {"type": "array"}})},
    }
    form = Form(schema, {"pet": {"kind": "dog", "tricks": []}})
    pet = form.field("/pet")
    assert (pet.title, pet.variants, pet.variant) == ("Pet", ("Cat", "Dog", "string"), 1)
    form.choose("/pet", 0)
    assert form.value() == {"pet": {"kind": "cat"}}
    assert [field.path for field in form.fields()] == ["/pet", "/pet/kind", "/pet/lives"]
    form.choose("/pet", 2)
    assert form.value() == {}
    assert form.field("/pet").kind == "string"
    form.set("/pet", "Rex")
    assert form.value() == {"pet": "Rex"}
    form.load({"pet": "Rex"})
    assert form.field("/pet").variant == 2


def test_a_variant_that_was_left_has_its_values_again() -> None:
    card, invoice = {"number": {"type": "string"}}, {"company": {"type": "string"}, "lines": {"type": "array"}}
    note = {"note": {"type": "string"}}
    pay = {"oneOf": [animal("card", card | note), animal("invoice", invoice | note), {"type": "string"}]}
    form = Form({"type": "object", "properties": {"pay": pay}})
    form.choose("/pay", 1)
    form.set("/pay/company", "Engine & Co")
    form.set("/pay/note", "first")
    for others in ((0,), (2,), (0, 2), (2, 0)):
        for other in others:
            form.choose("/pay", other)
        form.choose("/pay", 1)
        assert form.value() == {"pay": {"kind": "invoice", "company": "Engine & Co", "note": "first"}}, others
    form.choose("/pay", 0)
    assert form.value() == {"pay": {"kind": "card", "note": "first"}}
    form.set("/pay/note", "second")
    form.choose("/pay", 2)
    form.set("/pay", "cash")
    form.choose("/pay", 1)
    form.choose("/pay", 2)
    assert form.value() == {"pay": "cash"}
    form.unset("/pay")
    form.choose("/pay", 1)
    assert form.value() == {"pay": {"kind": "invoice"}}


def test_a_chosen_variant_is_judged_by_its_own_schema_at_its_own_fields() -> None:
    point = {"type": "object", "properties": {"x": {"type": "integer"}}, "required": ["x"]}
    card = animal("card", {"number": {"type": "string", "minLength": 4}, "note": {"$ref": "#/$defs/note"}})
    card["required"].append("number")
    place = {"type": "object", "properties": {"at": {"anyOf": [point, {"type": "array"}]}}, "required": ["at"]}
    schema = {
        "type": "object",
        "properties": {"pay": {"oneOf": [card, place, {"type": "string"}]}},
        "required": ["pay"],
        "$defs": {"note": {"type": "string", "maxLength": 2}},
    }
    form = Form(schema)
    form.choose("/pay", 0)
    assert form.errors() == {"/pay/number": "is required"}
    form.set("/pay/number", "123")
    form.set("/pay/note", "long")
    assert form.errors() == {
        "/pay/number": "must have at least 4 characters",
        "/pay/note": "must have at most 2 characters",
    }
    form.set("/pay/number", "1234")
    form.set("/pay/note", "")
    assert form.errors() == {}
    form.choose("/pay", 1)
    form.choose("/pay/at", 0)
    assert form.errors() == {"/pay/at/x": "is required"}
    form.load({"pay": 5})
    assert list(form.errors()) == ["/pay"]


def test_a_value_that_too_many_variants_accept_is_an_error_of_all() -> None:
    some = {"type": "object", "properties": {"a": {"type": "string"}}}
    form = Form({"type": "object", "properties": {"x": {"oneOf": [some, dict(some)]}}}, {"x": {"a": "b"}})
    assert form.errors() == {"/x": "matches more than one of the variants, of which exactly one is allowed"}


def test_variants_share_what_stands_beside_them() -> None:
    schema = {
        "type": "object",
        "properties": {"common": {"type": "string"}},
        "anyOf": [
            {"properties": {"a": {"type": "integer"}}, "required": ["a"]},
            {"properties": {"b": {}}, "required": ["b"]},
        ],
    }
    form = Form(schema, {"b": 1})
    assert [field.path for field in form.fields()] == ["/common", "/b"]
    form.choose("", 0)
    assert [field.path for field in form.fields()] == ["/common", "/a"]


def test_all_of_is_one_object() -> None:
    schema = {
        "allOf": [{"$ref": "#/$defs/named"}, {"properties": {"age": {"type": "integer"}}, "required": ["age"]}],
        "properties": {"name": {"maxLength": 5}},
        "$defs": {"named": {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}},
    }
    form = Form(schema)
    assert [(field.path, field.required, field.kind) for field in form.fields()] == [
        ("/name", True, "string"),
        ("/age", True, "integer"),
    ]
    assert form.field("/name").hint == "string up to 5 characters"


def test_references_by_anchor_and_with_descriptions_beside_them() -> None:
    schema = {
        "type": "object",
        "properties": {"x": {"$ref": "#colour", "description": "Which?"}},
        "$defs": {"c": {"$anchor": "colour", "title": "Colour", "enum": ["r"], "description": "A colour"}},
    }
    field = Form(schema).field("/x")
    assert (field.kind, field.description, field.label) == ("enum", "Which?", "x")


def test_keys_of_the_user() -> None:
    schema = {"type": "object", "properties": {"a": {}}, "additionalProperties": {"type": "integer"}}
    form = Form(schema)
    assert form.root.can_add
    assert form.add_key("", "x/y") == "/x~1y"
    assert form.errors() == {"/x~1y": "is required"}
    form.set("/x~1y", "5")
    assert form.value() == {"x/y": 5}
    with pytest.raises(UsageError, match="already"):
        form.add_key("", "x/y")
    form.remove("/x~1y")
    assert form.value() == {}
    assert not Form({"type": "object", "properties": {"a": {}}, "additionalProperties": False}).root.can_add
    keyed = Form({"type": "object", "patternProperties": {"(a+)+$": {"type": "boolean"}}})
    assert keyed.field(keyed.add_key("", "a" * 40 + "b")).kind == "boolean"


def test_constants_are_filled_in_where_they_are_required() -> None:
    inner = {"type": "object", "properties": {"k": {"const": 1}, "o": {"const": 2}}, "required": ["k"]}
    schema = {"type": "object", "properties": {"r": inner, "s": inner}, "required": ["r"]}
    assert Form(schema).value() == {"r": {"k": 1}}
    assert Form(schema, {}).value() == {}
    assert Form(schema).defaults() == {"r": {"k": 1}}


def test_null_is_a_value() -> None:
    schema = {
        "type": "object",
        "properties": {"x": {"anyOf": [{"type": "object", "properties": {"a": {}}}, {"type": "null"}]}},
    }
    form = Form(schema, {"x": None})
    field = form.field("/x")
    assert (field.value, field.kind, field.nullable, field.is_open) == (None, "object", True, False)
    assert form.errors() == {}
    form.set("/x/a", "1")
    assert form.value() == {"x": {"a": 1}}


def test_forms_of_schemas_that_are_not_objects() -> None:
    form = Form({"type": "integer"})
    assert form.value() is UNSET
    assert form.errors() == {"": "is required"}
    form.set("", "5")
    assert form.value() == 5
    assert [field.path for field in form.fields()] == [""]
    for nonsense in (None, 5, [], "x", False, True):
        form = Form(nonsense)
        assert [field.kind for field in form.fields()] == ["json"]
        form.set("", '{"a":1}')
        assert form.value() == {"a": 1}


def test_a_schema_that_cannot_be_checked_still_makes_a_form() -> None:
    form = Form({"type": "object", "properties": {"a": {"type": "integer", "required": True}}})
    form.set("/a", "x")
    assert form.errors() == {"/a": "is not a whole number"}
    assert "not valid at /properties/a/required" in form.problem


def test_errors_inside_what_is_not_shown_are_reported_at_what_is() -> None:
    schema = {
        "type": "object",
        "properties": {"j": {"anyOf": [{"type": "array"}], "oneOf": [{"items": {"type": "string"}}]}},
    }
    form = Form(schema, {"j": ["a", 1]})
    assert form.errors() == {"/j": "/1 expected string, got 1"}


def test_members_that_the_schema_excludes_are_marked() -> None:
    form = Form({"type": "object", "properties": {"a": {}}, "additionalProperties": False}, {"b": 1})
    assert form.errors() == {"/b": "is not in the schema"}
