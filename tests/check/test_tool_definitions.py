"""The quality of tool definitions: for each check a server that breaks it, and one in order."""

import time

import pytest

from inspector.check.judge.definition_rules import definition_rules
from tests.check.faults import R4
from tests.check.faulty_servers import Answers, Case, case_tests
from tests.check.test_tools import tool

TEXT = "Count the words of a text in any language."
GOOD = {
    "name": "count",
    "title": "Count",
    "description": TEXT,
    "inputSchema": {"type": "object", "properties": {"text": {"type": "string", "description": "The text."}}},
    "annotations": {"readOnlyHint": True},
}


def parameter(name="text", **schema):
    return {"inputSchema": {"type": "object", "properties": {name: schema}}}


def all_tools(changes):
    """Changes every tool."""

    def change(message, _request):
        for one in message.get("result", {}).get("tools", ()):
            one.update(changes)
        return message

    return Answers("tools/list", change)


DESCRIBED = all_tools({"inputSchema": GOOD["inputSchema"]})
CASES = [
    Case("DEF-01", R4, tool(**parameter(type="string")), right=DESCRIBED),
    Case(
        "DEF-02",
        R4,
        tool(description="Count.\n\nArgs:\n    language: The language.\n", inputSchema=GOOD["inputSchema"]),
    ),
    Case("DEF-03", R4, all_tools({"description": TEXT})),
    Case("DEF-04", R4, tool(**parameter(enum=[0, 1, 2]))),
    Case(
        "DEF-05",
        R4,
        tool(title=..., annotations=...),
        right=all_tools({"title": "A", "annotations": GOOD["annotations"]}),
    ),
    Case("DEF-06", R4, tool(**parameter("method", enum=["GET", "DELETE"], description="The method."))),
]


test_a_planted_fault_is_found, test_a_server_in_order_is_not_blamed = case_tests(CASES)


def rules(*tools):
    return {rule for rule, _, _ in definition_rules(list(tools))}


def test_a_good_definition_has_no_finding():
    assert rules(GOOD) == set()


@pytest.mark.parametrize(
    ("titles", "sentence"),
    [
        ([""], 'The tool "a" has no title.'),
        (["", "A title"], '1 of 2 tools has no title: "a".'),
        (["", "", "A title"], '2 of 3 tools have no title: "a", "b".'),
    ],
)
def test_the_tools_without_a_title_are_counted_in_a_sentence(titles, sentence):
    named = zip("abc", titles, strict=False)
    tools = [GOOD | {"name": name, "title": title, "annotations": {"readOnlyHint": True}} for name, title in named]
    assert sentence in [text for rule, _, text in definition_rules(tools) if rule == "DEF-05"]


@pytest.mark.parametrize(
    "schema",
    [
        {"$ref": "#/$defs/text"}, {"anyOf": [{"type": "string", "description": "A text."}, {"type": "null"}]},
        {"const": "a"}, {"allOf": [{"$ref": "#/$defs/text"}]},
    ],
)  # fmt: skip
def test_a_description_may_stand_where_a_schema_leads(schema):
    root = {"type": "object", "properties": {"text": schema}, "$defs": {"text": {"description": "The text."}}}
    assert rules(GOOD | {"inputSchema": root}) == set()


@pytest.mark.parametrize(
    "description",
    [
        "Count.\n\n    Args:\n        text: The text.\n            note: not a parameter\n\n    Returns:\n        number: x\n",
        "Count.\n\nArgs:\n    text (str, optional): The text.\n", "Count.\n:param str text: The text.", "Args: none",
        "Count.\n\nExample:\n    other: 1\n", "Email me at a@param text", "",
    ],
)  # fmt: skip
def test_a_description_that_names_its_own_parameters_is_right(description):
    assert "DEF-02" not in rules(GOOD | {"description": description})


@pytest.mark.parametrize(
    "description",
    [
        "Count.\n\n    Args:\n        text: The text.\n        ctx: The context.\n", "Count.\n:param ctx: The context.",
        "Count.\n\nParameters:\n- `text`: it\n  - ctx: x", "Count.\n\nParameters:\n  - `ctx` (Context): it",
        "Count. @param {string} ctx The context.",
    ],
)  # fmt: skip
def test_a_description_that_names_another_parameter_is_found(description):
    assert ("DEF-02" in rules(GOOD | {"description": description})) == ("\n- `text`" not in description)


def test_descriptions_of_a_few_words_may_be_the_same():
    assert "DEF-03" not in rules(GOOD | {"description": "Count it."}, GOOD | {"name": "b", "description": "Count it."})
    same = rules(GOOD, GOOD | {"name": "other", "description": "In any language, count the words of a text!"})
    assert "DEF-03" in same


@pytest.mark.parametrize("values", [["asc", "desc"], ["GET", "PUT"], [True, False], ["a"], ["A", "long"]])
def test_values_that_are_words_need_no_explanation(values):
    assert "DEF-04" not in rules(GOOD | parameter(enum=values))


def test_odd_definitions_are_read_in_bounded_time():
    began = time.process_time()
    odd = [
        None, 7, {"name": "a", "description": "Args:\n" + " a: x\n" * 50_000, "inputSchema": {"properties": 7}},
        {"name": "b", "description": "@param {" * 20_000, "inputSchema": {"properties": {"x": {"$ref": "#/$defs/x"}}, "$defs": 7}},
        {"name": "c", "description": ":param " * 20_000, "inputSchema": {"properties": {"x": {"anyOf": [7] * 100_000}}}},
        {"name": "d", "annotations": 7, "inputSchema": {"properties": {"x": {"enum": list(range(100_000))}}}},
    ]  # fmt: skip
    assert rules(*odd)
    assert time.process_time() - began < 1.0


@pytest.mark.parametrize(
    ("name", "mixes"),
    [
        ("api_request", True), ("http", True), ("sendRequest", True), ("createCollectionRequest", False),
        ("update_webhook", False), ("APIMockSave", False), ("recreated", True),
    ],
)  # fmt: skip
@pytest.mark.parametrize("method", [{"enum": ["GET", "POST", "DELETE"]}, {"type": "string"}])
def test_a_method_that_is_stored_for_later_is_not_called(name, mixes, method):
    schema = {"type": "object", "properties": {"method": {"description": "The method.", **method}}}
    assert ("DEF-06" in rules(GOOD | {"name": name, "inputSchema": schema})) == mixes


def test_an_action_is_done_at_once_whatever_the_tool_is_called():
    assert "DEF-06" in rules(GOOD | {"name": "set_context"} | parameter("action", enum=["get", "set"]))
