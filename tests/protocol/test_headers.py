"""Parameters of a request that are repeated in HTTP headers: their names and their encoding."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.protocol.headers import (
    DEPTH_LIMIT,
    PARAM_LIMIT,
    REASON_LIMIT,
    SAFE_INTEGER,
    HeaderParam,
    decode,
    encode,
    mirrored,
    request_headers,
)
from inspector.text import safe

ANY = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: (
        st.lists(inner)
        | st.dictionaries(
            st.sampled_from(["inputSchema", "properties", "items", "anyOf", "$defs", "type", "x-mcp-header", "a"]),
            inner,
        )
    ),
    max_leaves=30,
)
EVERYTHING = st.text(st.characters())
"""Any text, lone surrogates too."""


def tool(**properties: Any) -> dict[str, Any]:
    return {"name": "t", "inputSchema": {"type": "object", "properties": properties}}


def asks(name: Any, kind: Any = "string") -> dict[str, Any]:
    return {"type": kind, "x-mcp-header": name}


def only_reason(listed: Any) -> str:
    params, reasons = mirrored(listed)
    assert params == ()
    assert len(reasons) == 1
    return reasons[0]


class TestMirrored:
    """C-HTTP-33, C-HTTP-34."""

    def test_annotated_parameters_have_a_header_each_in_the_order_of_the_schema(self) -> None:
        listed = tool(region=asks("Region"), query={"type": "string"}, count=asks("Count", "integer"))
        assert mirrored(listed) == (
            (HeaderParam("Mcp-Param-Region", ("region",)), HeaderParam("Mcp-Param-Count", ("count",))),
            [],
        )

    def test_a_chain_of_properties_leads_to_a_nested_parameter(self) -> None:
        listed = tool(place={"type": "object", "properties": {"at": {"properties": {"city": asks("City")}}}})
        assert mirrored(listed) == ((HeaderParam("Mcp-Param-City", ("place", "at", "city")),), [])

    @pytest.mark.parametrize("name", ["Method", "Name", "a", "!#$%&'*+-.^_`|~09AZaz"])
    def test_any_token_may_be_asked_for(self, name: str) -> None:
        assert mirrored(tool(a=asks(name))) == ((HeaderParam(f"Mcp-Param-{name}", ("a",)),), [])

    @pytest.mark.parametrize("kind", ["string", "integer", "boolean", ["string"]])
    def test_strings_integers_and_booleans_may_be_mirrored(self, kind: Any) -> None:
        assert mirrored(tool(a=asks("A", kind)))[1] == []

    @pytest.mark.parametrize(
        "kind",
        ["number", "object", "array", "null", "", "String", ["string", "null"], ["string", "integer"], [], 5, {}],
    )
    def test_other_types_may_not(self, kind: Any) -> None:
        assert "its type is" in only_reason(tool(a=asks("A", kind)))

    @pytest.mark.parametrize("rest", [{}, {"enum": ["a"]}, {"const": 1}, {"anyOf": [{"type": "string"}]}])
    def test_a_parameter_without_a_type_may_not(self, rest: dict[str, Any]) -> None:
        assert only_reason(tool(a={"x-mcp-header": "A", **rest})) == "“a” has an x-mcp-header but no type"

    @pytest.mark.parametrize(
        "name",
        ["My Region", "Region:Primary", "Région", "Region\t1", "a\r\nb", "a\n", "\x00", "\x7f", "a/b", "(", "日本"],
    )
    def test_a_name_that_is_not_a_token_makes_a_tool_uncallable(self, name: str) -> None:
        reason = only_reason(tool(a=asks(name)))
        assert reason.startswith("“a” has an x-mcp-header that cannot be part of a header's name: “")
        assert reason.isprintable()

    def test_an_empty_name_makes_a_tool_uncallable(self) -> None:
        assert only_reason(tool(a=asks(""))) == "“a” has an empty x-mcp-header"

    @pytest.mark.parametrize("name", [None, True, 5, 1.5, [], {}, ["A"], {"x-mcp-header": "A"}])
    def test_an_annotation_that_is_not_a_string_makes_a_tool_uncallable(self, name: Any) -> None:
        assert only_reason(tool(a=asks(name))) == "“a” has an x-mcp-header that is not a string"

    @pytest.mark.parametrize(("first", "second"), [("Region", "Region"), ("MyField", "myfield"), ("REGION", "region")])
    def test_two_parameters_may_not_share_a_name_in_whatever_case(self, first: str, second: str) -> None:
        params, reasons = mirrored(tool(a=asks(first), b={"properties": {"c": asks(second)}}))
        assert params == (HeaderParam(f"Mcp-Param-{first}", ("a",)),)
        assert reasons == [f"“b.c” asks for the header Mcp-Param-{second}, as “a” does"]

    @pytest.mark.parametrize(
        "around",
        [
            {"items": asks("A")},
            {"items": [asks("A")]},
            {"prefixItems": [asks("A")]},
            {"contains": asks("A")},
            {"additionalProperties": asks("A")},
            {"unevaluatedProperties": asks("A")},
            {"patternProperties": {"^a": asks("A")}},
            {"propertyNames": asks("A")},
            {"dependentSchemas": {"a": asks("A")}},
            {"dependencies": {"a": asks("A"), "b": ["c"]}},
            {"oneOf": [asks("A")]},
            {"anyOf": [{"type": "null"}, asks("A")]},
            {"allOf": [{"properties": {"a": asks("A")}}]},
            {"not": {"properties": {"a": asks("A")}}},
            {"if": asks("A")},
            {"then": asks("A")},
            {"else": asks("A")},
            {"$defs": {"a": {"properties": {"b": asks("A")}}}},
            {"definitions": {"a": asks("A")}},
        ],
        ids=lambda around: next(iter(around)),
    )
    def test_an_annotation_to_which_not_only_properties_lead_makes_a_tool_uncallable(
        self, around: dict[str, Any]
    ) -> None:
        reason = "the x-mcp-header “A” is not reached only through properties, but through items, anyOf or $defs"
        assert only_reason({"inputSchema": around}) == reason
        assert only_reason(tool(deep={"properties": {"a": around}})) == reason

    def test_an_annotation_at_the_schema_itself_makes_a_tool_uncallable(self) -> None:
        assert "on the schema itself" in only_reason({"inputSchema": {"type": "string", "x-mcp-header": "A"}})

    def test_data_and_parameters_that_only_look_like_annotations_are_none(self) -> None:
        data = {"x-mcp-header": ""}
        listed = tool(a={"default": data, "const": data, "enum": [data], "examples": [data], "x-other": data})
        listed["x-mcp-header"] = listed["inputSchema"]["properties"]["x-mcp-header"] = {"type": "string"}
        listed["inputSchema"]["properties"]["items"] = asks("Items")
        assert mirrored(listed) == ((HeaderParam("Mcp-Param-Items", ("items",)),), [])

    def test_what_is_in_order_is_mirrored_beside_what_is_not(self) -> None:
        params, reasons = mirrored(tool(bad=asks(""), good=asks("Good")))
        assert params == (HeaderParam("Mcp-Param-Good", ("good",)),)
        assert len(reasons) == 1

    @pytest.mark.parametrize("listed", [None, 5, "x", [], {}, {"inputSchema": []}, {"inputSchema": {"properties": []}}])
    def test_what_is_not_a_tool_or_has_no_schema_asks_for_nothing(self, listed: Any) -> None:
        assert mirrored(listed) == ((), [])

    @pytest.mark.slow
    @given(ANY)
    def test_anything_can_be_looked_at(self, listed: Any) -> None:
        for where in (listed, {"inputSchema": listed}):
            params, reasons = mirrored(where)
            assert len({param.header.lower() for param in params}) == len(params)
            assert all(reason == safe(reason) for reason in reasons)

    def test_depth_is_no_danger_and_has_an_end(self) -> None:
        def nested(depth: int) -> dict[str, Any]:
            schema = asks("Deep")
            for _ in range(depth):
                schema = {"properties": {"p" * 1000: schema}}
            return {"inputSchema": schema}

        assert mirrored(nested(DEPTH_LIMIT))[0][0].path == ("p" * 1000,) * DEPTH_LIMIT
        for depth in (DEPTH_LIMIT + 1, 100_000):
            reason = only_reason(nested(depth))
            assert reason.endswith(f"is nested deeper than {DEPTH_LIMIT} properties")
            assert len(reason) < 200

    def test_reasons_and_parameters_are_bounded(self) -> None:
        many = tool(**{f"p{number}": asks(f"H{number}") for number in range(PARAM_LIMIT + 1)})
        params, reasons = mirrored(many)
        assert len(params) == PARAM_LIMIT
        assert reasons == ["x-mcp-header occurs too often"]
        params, reasons = mirrored(tool(**{f"p{number}": asks("x" * 100_000 + "\n") for number in range(1000)}))
        assert len(reasons) == REASON_LIMIT + 1
        assert max(map(len, reasons)) < 300


class TestEncode:
    """C-HTTP-32."""

    @pytest.mark.parametrize(
        ("value", "field"),
        [
            ("us-west1", "us-west1"),
            ("us west  1", "us west  1"),
            ("", ""),
            ("my_tool-name", "my_tool-name"),
            ("file:///path/to/file%20name.txt", "file:///path/to/file%20name.txt"),
            ("https://example.com/resource?id=123", "https://example.com/resource?id=123"),
            ('{"a": [1]}, ;~!', '{"a": [1]}, ;~!'),
            ("Hello, 世界", "=?base64?SGVsbG8sIOS4lueVjA==?="),
            ("日本語", "=?base64?5pel5pys6Kqe?="),
            (" padded ", "=?base64?IHBhZGRlZCA=?="),
            (" us-west1", "=?base64?IHVzLXdlc3Qx?="),
            ("us-west1 ", "=?base64?dXMtd2VzdDEg?="),
            (" ", "=?base64?IA==?="),
            ("line1\nline2", "=?base64?bGluZTEKbGluZTI=?="),
            ("line1\r\nline2", "=?base64?bGluZTENCmxpbmUy?="),
            ("\tindented", "=?base64?CWluZGVudGVk?="),
            ("a\tb", "=?base64?YQli?="),
            ("\x00", "=?base64?AA==?="),
            ("\x7f", "=?base64?fw==?="),
            ("=?base64?literal?=", "=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?="),
            ("=?base64?=", "=?base64?PT9iYXNlNjQ/PQ==?="),
            ("=?BASE64?eA==?=", "=?BASE64?eA==?="),
            ("=?base64?eA==", "=?base64?eA=="),
            ("eA==?=", "eA==?="),
        ],
    )
    def test_a_value_is_coded_only_where_it_must(self, value: str, field: str) -> None:
        assert encode(value) == field
        assert decode(field) == value

    @given(EVERYTHING)
    def test_every_value_is_a_legal_field_value_that_no_reader_trims(self, value: str) -> None:
        field = encode(value)
        assert re.fullmatch(r"([\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?)?", field)

    @given(st.text())
    def test_every_value_returns(self, value: str) -> None:
        assert decode(encode(value)) == value

    @pytest.mark.parametrize(
        ("value", "read"),
        [("\ud83d\ude00", "😀"), ("\ud83d", "\ufffd"), ("\ude00!", "\ufffd!"), ("a\ud800b", "a\ufffdb")],
    )
    def test_halves_of_a_character_are_joined_or_replaced(self, value: str, read: str) -> None:
        assert decode(encode(value)) == read


class TestDecode:
    @pytest.mark.parametrize(
        "field", ["=?base64?SGVsbG8?=", "=?base64?SGVs!!!bG8=?=", "=?base64?/w==?=", "é", "a\nb", "a\r", "\x00", "\x7f"]
    )
    def test_what_a_server_must_refuse_is_nothing(self, field: str) -> None:
        assert decode(field) is None

    @pytest.mark.parametrize("field", ["SGVsbG8=", "=?base64?SGVsbG8=", "=?BASE64?SGVsbG8=?=", "a\tb", "=?base64?="])
    def test_what_is_not_wholly_marked_is_itself(self, field: str) -> None:
        assert decode(field) == field

    def test_an_empty_value_may_be_coded(self) -> None:
        assert decode("=?base64??=") == ""

    @given(EVERYTHING)
    def test_anything_can_be_read(self, field: str) -> None:
        assert decode(field) is None or isinstance(decode(field), str)


class TestRequestHeaders:
    """C-HTTP-31, C-HTTP-33."""

    @pytest.mark.parametrize(
        ("method", "params", "name"),
        [
            ("tools/call", {"name": "add", "uri": "no"}, "add"),
            ("prompts/get", {"name": "greet"}, "greet"),
            ("resources/read", {"uri": "file:///a%20b", "name": "no"}, "file:///a%20b"),
            ("tasks/get", {"taskId": "t-1"}, "t-1"),
            ("tasks/update", {"taskId": "t-1"}, "t-1"),
            ("tasks/cancel", {"taskId": "t-1"}, "t-1"),
            ("tools/call", {"name": "Grüße"}, "=?base64?R3LDvMOfZQ==?="),
            ("tools/call", {"name": ""}, ""),
        ],
    )
    def test_method_and_name_are_repeated(self, method: str, params: dict[str, Any], name: str) -> None:
        assert request_headers(method, params) == (("Mcp-Method", method), ("Mcp-Name", name))

    @pytest.mark.parametrize(
        ("method", "params"),
        [
            ("tools/list", {"name": "x"}),
            ("server/discover", None),
            ("completion/complete", {"name": "x", "uri": "y"}),
            ("tools/call", None),
            ("tools/call", {"name": None}),
            ("tools/call", {"name": {"a": 1}}),
            ("skills/get", {"uri": "skill://a/b/SKILL.md"}),
            ("resources/directory/read", {"uri": "skill://a/b"}),
            ("events/subscribe", {"name": "x"}),
        ],
    )
    def test_a_request_that_names_nothing_has_its_method_only(self, method: str, params: Any) -> None:
        """C-EXT-10: nor has one of an extension whose text defines no name."""
        assert request_headers(method, params) == (("Mcp-Method", method),)

    def call(self, value: Any) -> str | None:
        params = {"name": "t", "arguments": {"a": value}}
        fields = dict(request_headers("tools/call", params, [HeaderParam("Mcp-Param-A", ("a",))]))
        return fields.get("Mcp-Param-A")

    @pytest.mark.parametrize(
        ("value", "field"),
        [
            ("us west 1", "us west 1"),
            ("", ""),
            (" x", "=?base64?IHg=?="),
            (True, "true"),
            (False, "false"),
            (42, "42"),
            (-7, "-7"),
            (0, "0"),
            (SAFE_INTEGER, "9007199254740991"),
            (-SAFE_INTEGER, "-9007199254740991"),
            (2**70, "1180591620717411303424"),
            (42.0, "42"),
            (-0.0, "0"),
            (1e300, "1e+300"),
            (3.25, "3.25"),
        ],
    )
    def test_scalars_are_repeated(self, value: Any, field: str) -> None:
        assert self.call(value) == field

    @pytest.mark.parametrize(
        "value", [None, [], ["a"], {}, {"a": 1}, float("nan"), float("inf"), pytest.param(10**5000, id="digits")]
    )
    def test_null_and_what_has_no_text_is_omitted(self, value: Any) -> None:
        assert self.call(value) is None

    @given(st.integers() | st.floats(allow_nan=False, allow_infinity=False))
    def test_a_number_is_repeated_as_the_same_number(self, value: float) -> None:
        assert json.loads(self.call(value) or "") == value

    @pytest.mark.parametrize(
        "arguments", [None, {}, [], "x", {"at": None}, {"at": ["city"]}, {"at": {}}, {"city": "x"}]
    )
    def test_a_value_that_is_not_at_its_path_is_omitted(self, arguments: Any) -> None:
        city = HeaderParam("Mcp-Param-City", ("at", "city"))
        fields = request_headers("tools/call", {"name": "t", "arguments": arguments}, [city])
        assert [name for name, _ in fields] == ["Mcp-Method", "Mcp-Name"]

    def test_a_value_is_read_at_its_whole_path(self) -> None:
        listed = tool(at={"properties": {"city": asks("City")}}, city=asks("Other"))
        arguments = {"at": {"city": "Bern"}, "city": "Köln", "query": "not mirrored"}
        fields = request_headers("tools/call", {"name": "t", "arguments": arguments}, mirrored(listed)[0])
        assert fields[2:] == (("Mcp-Param-City", "Bern"), ("Mcp-Param-Other", "=?base64?S8O2bG4=?="))

    def test_only_calls_repeat_arguments(self) -> None:
        fields = request_headers(
            "prompts/get", {"name": "p", "arguments": {"a": "x"}}, [HeaderParam("Mcp-Param-A", ("a",))]
        )
        assert len(fields) == 2

    @given(EVERYTHING, EVERYTHING, EVERYTHING)
    def test_nothing_breaks_out_of_its_line(self, method: str, name: str, value: str) -> None:
        params = {"name": name, "uri": name, "taskId": name, "arguments": {"a": value}}
        for verb in (method, "tools/call", "resources/read", "tasks/get"):
            for field in request_headers(verb, params, [HeaderParam("Mcp-Param-A", ("a",))]):
                assert all(" " <= char <= "~" for char in field[1])
