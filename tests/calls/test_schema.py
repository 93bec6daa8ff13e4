"""The published JSON Schema, the models, and the examples: all three agree."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from inspector.calls.collection import read_flow
from inspector.calls.models import MATCHERS, VERBS, FlowModel, flow_schema
from inspector.calls.yaml_text import read_yaml
from inspector.protocol.validation import Validator
from tests.processes import ROOT, run
from tests.test_docs import blocks

PAGE = ROOT / "docs" / "reference" / "calls.md"
PUBLISHED = json.loads((ROOT / "docs" / "schemas" / "flow.schema.json").read_text(encoding="utf-8"))
SCHEMA = Validator(PUBLISHED)
EXAMPLES = list(blocks(PAGE, "yaml"))


def accepted(value: Any) -> bool:
    try:
        FlowModel.model_validate(value)
    except ValidationError:
        return False
    return True


def documents(tmp_path: Path) -> list[Any]:
    return [read_yaml(tmp_path / "x.yaml", text.encode()).value for text in EXAMPLES]


def test_the_published_schema_is_that_of_the_models() -> None:
    assert flow_schema() == PUBLISHED


@pytest.mark.parametrize("text", EXAMPLES)
def test_an_example_of_the_page_matches_the_schema(text: str, tmp_path: Path) -> None:
    path = tmp_path / "flow.yaml"
    path.write_text(text, encoding="utf-8")
    flow = read_flow(path)
    assert SCHEMA.errors(flow.located.value) == []


def test_the_examples_have_each_step_and_each_expectation() -> None:
    text = "".join(EXAMPLES)
    assert [verb for verb in VERBS if f"- {verb}:" not in text] == ["use"]
    assert [name for name in MATCHERS if f"{name}:" not in text] == []


@pytest.mark.slow
def test_the_examples_of_the_page_run(tmp_path: Path) -> None:
    folder = tmp_path / "calls"
    folder.mkdir()
    for number, text in enumerate(EXAMPLES):
        (folder / f"{number}.yaml").write_text(text, encoding="utf-8")
    python = Path(__import__("sys").executable)
    for more in ("--update",), ():
        # On a busy machine the demo may answer too late to be detected; the other era has a log message more.
        ran = run(tmp_path, ["run", "--era", "modern", str(folder), *more], PATH=f"{python.parent}:/usr/bin:/bin")
        assert ran.code == 0, ran.out + ran.err
    assert f"{len(EXAMPLES)} saved calls   {len(EXAMPLES)} passed" in ran.out


ODD: list[Any] = [
    None, True, False, 0, 1, -1, 1.0, 1.5, 2**70, "", "x", "800 ms", "$.a", "{{x}}", "{{ x", [], ["x"], ["$.a"], [1, 2], {},
    {"a": 1}, {"$.a": 1}, {"min": 1}, {"min": "x"}, {"matches": "a"}, {"matches": "a", "x": 1}, {"exists": 1}, {"not": {}},
    {"type": "text"}, {"type": "nothing"}, {"type": ["string"]}, {"items": 1.0}, {"items": -1}, {"near": [1]},
    {"near": [1, 0.5]}, {"call": "x"}, {"every": "1 s"}, {"every": "1 s", "for": "2 s"}, {"code": 1}, {"text": "x"},
    {"same_as": "a.json"}, {"ignore": ["$.a"]}, {"same_as": "a", "unordered": ["$.a"]}, {"1": 2}, {"a-b": 1}, "1 min",
    "1.5 s", "1s", "5", {"any": {"max": "{{n}}"}}, {"each": {"one_of": 1}}, {"contains": None}, {"exactly": None},
    {"schema": "file.json"}, {"schema": 1}, {"schema": True}, [{"a": 1}], [{}], [[]], "decline", "any",
]  # fmt: skip


def places(value: Any, here: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    yield here
    parts = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in parts:
        yield from places(item, (*here, key))


@pytest.mark.slow
@settings(deadline=None, max_examples=400, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_the_models_accept_exactly_what_the_schema_accepts(data: st.DataObject, tmp_path: Path) -> None:
    value = copy.deepcopy(data.draw(st.sampled_from(documents(tmp_path))))
    for _ in range(data.draw(st.integers(1, 2))):
        place = data.draw(st.sampled_from([path for path in places(value) if path]))
        around = value
        for key in place[:-1]:
            around = around[key]
        kind = data.draw(st.sampled_from(["change", "remove", "add"]))
        if kind == "remove":
            del around[place[-1]]
        elif kind == "add" and isinstance(around, dict):
            names = [
                "x",
                "expect",
                "result",
                "name",
                "args",
                "each",
                "matches",
                "within",
                "secret",
                "capture",
                "repeat",
                "error",
            ]
            around[data.draw(st.sampled_from(names))] = copy.deepcopy(data.draw(st.sampled_from(ODD)))
        else:
            around[place[-1]] = copy.deepcopy(data.draw(st.sampled_from(ODD)))
    assert accepted(value) is SCHEMA.is_valid(value), json.dumps(value)


@pytest.mark.parametrize(
    "place",
    [
        ("inspector",),
        ("name",),
        ("vars",),
        ("steps",),
        ("steps", 0),
        ("steps", 0, "args"),
        ("steps", 0, "each"),
        ("steps", 0, "expect"),
        ("steps", 0, "expect", "result"),
        ("steps", 0, "expect", "result", "$.a"),
        ("steps", 0, "expect", "error"),
        ("steps", 0, "expect", "tool_error"),
        ("steps", 0, "expect", "within"),
        ("steps", 0, "expect", "ignore"),
        ("steps", 0, "expect", "progress"),
        ("steps", 0, "expect", "findings"),
        ("steps", 0, "repeat"),
        ("steps", 0, "answer"),
        ("steps", 0, "capture"),
        ("steps", 0, "secret"),
        ("steps", 0, "headers"),
        ("steps", 0, "answer", "elicitation"),
        ("steps", 0, "answer", "roots"),
        ("steps", 0, "expect", "result", "$.a", "items"),
        ("steps", 0, "expect", "result", "$.a", "not"),
    ],
    ids=lambda place: ".".join(map(str, place)),
)
def test_each_place_takes_the_same_values(place: tuple[Any, ...]) -> None:
    """One test for each place: one for each of 1,500 values would take longer than the values do."""
    differing = []
    for odd in ODD:
        value: Any = {"inspector": 1, "steps": [{"call": "x"}]}
        around = value
        for key in place[:-1]:
            around = around.setdefault(key, {}) if isinstance(around, dict) else around[key]
        around[place[-1]] = copy.deepcopy(odd)
        if accepted(value) is not SCHEMA.is_valid(value):
            differing.append(odd)
    assert differing == []
