"""The text of steps and flows, and steps appended to files that people wrote."""

from __future__ import annotations

import json
import os
import resource
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import example, given, settings
from hypothesis import strategies as st

from inspector.calls.snapshots import write_snapshot
from inspector.calls.writing import (
    CannotAppend,
    append_expectation,
    append_step,
    can_append_expectation,
    create_flow,
    flow_text,
    step_text,
)
from inspector.calls.yaml_text import CallsError, read_yaml
from inspector.config.output_files import OutputExists
from inspector.errors import ConfigError, UsageError

ODD = [
    *("no", "NO", "on", "y", "Null", "~", "true", "1:30", "2026-01-01", "0x1F", "0o17", "1_000", "1e3", ".5", "12e03"),
    *("@shop", "{{x}}", "order://{{x}}", "a: b", "a #b", "a:", ": ", "- a", "? a", "---", "...", "", " ", " a", "a "),
    *("a\nb", "a\nb\n", "a\n\nb\n\n", "\na", " a\nb", "a \nb", "a\r\nb", "a\tb", "#", "%a", "`", "=", "<<", "*a", "&a"),
    *(
        "'",
        '"',
        "\\d+",
        "order '\\d\"",
        "\x00",
        "\x85",
        "\u2028a",
        "\ufeff",
        "\U0001f600",
        "800 ms",
        "!a",
        "|",
    ),
    *(
        "a\n# b\n---\n  c",
        "x" * 300,
        "[a]",
        "{a}",
        "a, b",
        "a[0]",
        "$.a[0].b",
        "inf",
        ".inf",
        "\xa0",
        "é",
        "a\n\tb",
        "A?",
    ),
]
TEXTS = st.sampled_from(ODD) | st.text(max_size=20) | st.text(st.sampled_from("ab:#-{}[],'\"\\\n \t%@&*!|>?01.~"))
SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXTS
DATA = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4), max_leaves=15
)
STEPS = st.dictionaries(TEXTS, DATA, min_size=1, max_size=4)


def exact(value: Any) -> str:
    """The value as text in which 1, 1.0, true, -0.0 and the order of keys differ."""
    return repr(value)


@given(STEPS, st.sampled_from([0, 2, 5]))
@example({text: text for text in ODD}, 2)
@example({"a": ODD, "b": {"c": [ODD, {"d": {"e": "x\ny"}}]}}, 0)
@example({"x" * 2000: {"y": [1]}, "y" * 2000: ["a\nb"], "z" * 2000: "a\nb\n"}, 2)
@example({"a": [10**400, -1, 1e300, 5e-324, -0.0, 1e16, 10**3999]}, 2)
def test_a_step_that_is_read_again_is_the_same(step: dict[str, Any], indent: int) -> None:
    text = step_text(step, indent=indent)
    assert exact(read_yaml(Path("x.yaml"), text.encode()).value) == exact([step])
    # Other readers, of YAML 1.1.
    assert exact(yaml.safe_load(text)) == exact([step])
    assert all(line.startswith(" " * indent) for line in text.splitlines() if line)


def test_a_flow_reads_as_one_would_write_it() -> None:
    steps = [
        {
            "name": "create",
            "call": "create-order",
            "args": {"sku": "{{sku}}", "count": "{{count}}"},
            "expect": {"within": "800 ms", "result": {"$.content[0].text": {"matches": r"order \d+"}}},
        },
        {"read": "order://{{order}}", "headers": {"X-Note": "a long text that goes on " * 4, "X-Day": "2026-01-01"}},
        {"call": "note", "args": {"text": "first line\nsecond: line\n", "empty": {}, "day": "no"}},
    ]
    assert flow_text("Life of an order", "@shop", steps, vars={"sku": "A-1"}, comment="From a test.") == (
        "# yaml-language-server: $schema=./flow.schema.json\n"
        "# From a test.\n"
        "inspector: 1\n"
        "name: Life of an order\n"
        'server: "@shop"\n'
        "vars: {sku: A-1}\n"
        "steps:\n"
        "  - name: create\n"
        "    call: create-order\n"
        '    args: {sku: "{{sku}}", count: "{{count}}"}\n'
        "    expect:\n"
        "      within: 800 ms\n"
        "      result:\n"
        "        $.content[0].text: {matches: order \\d+}\n"
        "  - read: order://{{order}}\n"
        "    headers:\n"
        f'      X-Note: "{("a long text that goes on " * 4)}"\n'
        '      X-Day: "2026-01-01"\n'
        "  - call: note\n"
        "    args:\n"
        "      text: |\n"
        "        first line\n"
        "        second: line\n"
        "      empty: {}\n"
        '      day: "no"\n'
    )


@given(st.text(max_size=30), st.text(max_size=30), st.text(max_size=30), st.lists(STEPS, min_size=1, max_size=3))
def test_a_flow_that_is_read_again_is_the_same(name: str, server: str, comment: str, steps: list[Any]) -> None:
    read = yaml.safe_load(flow_text(name, server, steps, comment=comment))
    assert (read.get("name", ""), read.get("server", ""), exact(read["steps"])) == (name, server, exact(steps))


# --- files of people ------------------------------------------------------------------------------------------------

STEP_LINES = st.sampled_from(
    [
        ["- call: a"],
        ["-   call: a   # why", "", "    # more", "    args: {x: 1,", "           y: [2, 'z']}"],
        ["- # first", "  call: a", "  args:", "  - 1", "  -   - 2"],
        ["- {call: a, args: {}}"],
        ["- call: a", "  args:", "    t: |", "      one", "", "      two"],
        ["- call: a", "  args:", "    t: |+", "      one", "", ""],
        ["- call: a", "  args:", "    t: >-", "      one", "      two", "    u: &x 'q'", "    v: *x"],
        ["- call: a", "  note: plain text", "    over two lines"],
        ['- "call": "a\\', '    b"'],
        ["-", "  call: a"],
        ["- call: a", "  skip:"],
        ["- call: a", "  expect:", "    within: 1 s", "    result:  # what", "      $.a: 1"],
        ["- call: a", "  expect:", "    result:", "    # deeper", "        $.a: {b: [1]}", "    within: 1 s"],
        ["- call: a", "  expect: {error: 1}"],
        ["- expect: &e", "    error: 1", "  call: a", "- call: b", "  expect: *e"],
    ]
)
HEADS = st.sampled_from(
    [
        ["inspector: 1"],
        ["# a comment", "", "inspector: 1   # version", "vars: {a: 1,", "  b: 2}"],
        ["---", "inspector: 1", "vars:", "    a: &h 1", "    b: *h"],
        ["%YAML 1.1", "---", "inspector: 1", "name: >", "  folded", "  text"],
        ['"inspector": 1'],
    ]
)
TAILS = st.sampled_from([[], [""], ["", "", ""], ["# end"], ["      # deeper", ""], ["  # x", "   "]])


@st.composite
def written_by_people(draw: st.DrawFn) -> tuple[bytes, int]:
    indent = draw(st.sampled_from([0, 1, 2, 4]))
    steps = [line for lines in draw(st.lists(STEP_LINES, min_size=1, max_size=3, unique_by=str)) for line in lines]
    between = draw(st.sampled_from([[], [""], ["# steps"]]))
    lines = [*draw(HEADS), draw(st.sampled_from(["steps:", "steps:  # all", "'steps' :"])), *between]
    lines += [" " * indent + line if line else line for line in steps] + draw(TAILS)
    text = draw(st.sampled_from(["\n", "\r\n"])).join([*lines, *draw(st.sampled_from([[], [""]]))])
    return (draw(st.sampled_from(["", "\ufeff"])) + text).encode(), indent


@pytest.mark.slow
@settings(max_examples=150)
@given(written_by_people(), STEPS)
def test_what_a_person_wrote_stays_and_the_step_is_read_after_it(
    tmp_path_factory: pytest.TempPathFactory, written: tuple[bytes, int], step: dict[str, Any]
) -> None:
    before, indent = written
    path = tmp_path_factory.mktemp("calls") / "flow.yaml"
    path.write_bytes(before)
    old = read_yaml(path).value
    try:
        line = append_step(path, step)
    except CannotAppend:
        # Only a block text that has no line end at the end of the file changes when something follows.
        assert not before.endswith(b"\n")
        assert path.read_bytes() == before
        assert read_yaml(path, before + b"\n").value != old
        return
    after = path.read_bytes()
    assert after.startswith(before)
    new = read_yaml(path).value
    assert exact(new) == exact(old | {"steps": [*old["steps"], step]})
    begins = after.decode("utf-8-sig").replace("\r\n", "\n").split("\n")[line - 1]
    assert begins.startswith(" " * indent + "- ")
    if b"\r\n" in before:
        assert b"\n" not in after[len(before) :].replace(b"\r\n", b"")
    if before.endswith(b"\n"):
        assert after.endswith(b"\n")


EXPECTS = st.sampled_from(
    [
        {"result": {"$.new": 1, "$.content[0].text": "two\nlines\n"}},
        {"result": {"$.x": {"exactly": {"a": [{"b": "c: d"}]}}}},
        {"tool_error": True, "result": {"$.y": "{{z}}"}},
        {"error": -32602},
        {"same_as": "snapshots/x.json"},
    ]
)


@pytest.mark.slow
@settings(max_examples=150)
@given(written_by_people(), EXPECTS)
def test_what_a_person_wrote_stays_and_the_last_step_expects_more(
    tmp_path_factory: pytest.TempPathFactory, written: tuple[bytes, int], expect: dict[str, Any]
) -> None:
    before, _ = written
    path = tmp_path_factory.mktemp("calls") / "flow.yaml"
    path.write_bytes(before)
    old = read_yaml(path).value
    number = len(old["steps"])
    can = can_append_expectation(path, number, expect)
    if not can:
        with pytest.raises(CannotAppend):
            append_expectation(path, number, expect)
        assert path.read_bytes() == before
        return
    line = append_expectation(path, number, expect)
    after = path.read_bytes()
    assert after.startswith(before)
    held = old["steps"][-1].get("expect", {})
    expected = {**held, **expect}
    if "result" in held and "result" in expect:
        expected["result"] = {**held["result"], **expect["result"]}
    new = read_yaml(path).value
    assert exact(new["steps"][-1]) == exact({**old["steps"][-1], "expect": expected})
    assert exact(new["steps"][:-1]) == exact(old["steps"][:-1])
    assert after.decode("utf-8-sig").replace("\r\n", "\n").split("\n")[line - 1].strip()


def test_expectations_are_added_to_the_step_that_was_saved(tmp_path: Path) -> None:
    path = tmp_path / "flow.yaml"
    create_flow(path, server="x", steps=[{"call": "a", "args": {"n": 1}}])
    before = path.read_text()
    assert append_expectation(path, 1, {"result": {"$.a": 1}}) == 7
    append_expectation(path, 1, {"result": {"$.b": {"exactly": {"c": 2}}}})
    append_expectation(path, 1, {"same_as": "s.json"})
    assert path.read_text() == before + (
        "    expect:\n      result:\n        $.a: 1\n        $.b: {exactly: {c: 2}}\n      same_as: s.json\n"
    )


@pytest.mark.parametrize(
    ("number", "expect", "reason"),
    [
        (1, {"error": 1}, "Step 1 is not the last step"),
        (2, {"result": {"$.a": 2}}, ":7:7: The step has an expectation for $.a already"),
        (2, {"within": "2 s"}, ":6:7: The step has “within” already"),
        (2, {"within": "1 s"}, ":6:7: The step has this expectation already"),
    ],
)
def test_an_expectation_is_never_replaced(tmp_path: Path, number: int, expect: dict[str, Any], reason: str) -> None:
    path = tmp_path / "flow.yaml"
    text = "inspector: 1\nsteps:\n  - call: a\n  - call: b\n    expect:\n      within: 1 s\n      result:\n        $.a: 1\n"
    path.write_text(text)
    with pytest.raises(CannotAppend) as error:
        append_expectation(path, number, expect)
    assert reason in error.value.message
    assert path.read_text() == text


def test_a_file_without_a_final_line_end_stays_without(tmp_path: Path) -> None:
    path = tmp_path / "flow.yaml"
    path.write_bytes(b"inspector: 1\nsteps:\n- call: a")
    assert append_step(path, {"call": "b"}) == 4
    assert path.read_bytes() == b"inspector: 1\nsteps:\n- call: a\n- call: b"
    append_step(path, {"call": "c", "args": {"t": "x\ny\n"}})
    assert yaml.safe_load(path.read_bytes())["steps"][-1]["args"] == {"t": "x\ny\n"}


def test_steps_without_a_value_take_the_first(tmp_path: Path) -> None:
    path = tmp_path / "flow.yaml"
    path.write_bytes(b"inspector: 1\r\nsteps:  # none yet\r\n")
    assert append_step(path, {"call": "b"}) == 3
    assert path.read_bytes() == b"inspector: 1\r\nsteps:  # none yet\r\n  - call: b\r\n"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("content", "reason", "remedy"),
    [
        ("inspector: 1\nsteps: [{call: a}]\n", ":2:8: “steps” is in brackets", "with “- ”"),
        ("inspector: 1\nsteps: []\n", ":2:8: “steps” is in brackets", "with “- ”"),
        ("inspector: 1\nsteps: ~\n", ":2:1: “steps” is not a list", "with “- ”"),
        ("inspector: 1\nsteps:\n  - call: a\nvars: {}\n", ":4:1: “vars” stands after the steps", "to the end"),
        ("inspector: 1\nvars: &a [1]\nsteps: *a\n", ":3:1: “steps” is not a list", "with “- ”"),
        ("inspector: 1\nname: x\n", ": The file has no key “steps”", "“steps:” at its end"),
        ("{inspector: 1, steps: [{call: a}]}\n", ":1:1: The file is one pair of braces", "on a line of its own"),
        ("steps:\n  - call: a\n", "its first key is not “inspector”", "Choose the file of a saved call"),
        ("- a\n", "its first key is not “inspector”", "Choose the file of a saved call"),
        ("", "its first key is not “inspector”", "Choose the file of a saved call"),
        ("inspector: 1\nsteps:\n- call: a\n...\n", ":4:1: The document ends with “...”", "Remove that line"),
        ("inspector: 1\nsteps:\n- call: a\n---\nb: 1\n", ":4:1: A second document begins", "its own file"),
        ("inspector: 1\nsteps:\n- call: [\n", ":4:1: ", ""),
        ("inspector: 1\nsteps:\n- call: *b\n", ":3:9: The anchor b is not defined above", ""),
        ("inspector: 1\nsteps:\n- call: no\n", ":3:9: no is read as true or false", "quote it"),
        ("inspector: 1\nsteps:\n- call: |\n    a", ":4:1: The last text would get a line end", "End the last line"),
        (b"inspector: 1\nsteps:\n- call: \xff\n", ":3:9: The file is not UTF-8", "Save it as UTF-8"),
        ("inspector: 1\nsteps:\n- call: a\n" + "#" * 1024 * 1024, "larger than 1 MiB", "Split it"),
        ("inspector: 1\nsteps:\n" + "- call: a\n" + "#" * (1024 * 1024 - 35), "would be larger", "Create a new file"),
        ("inspector: 1\nsteps:\n- call: a\n  x: " + "[" * 1100 + "]" * 1100, "nested", ""),
    ],
)
def test_a_file_that_cannot_take_a_step_stays_and_says_why(
    tmp_path: Path, content: str | bytes, reason: str, remedy: str
) -> None:
    path = tmp_path / "flow.yaml"
    before = content.encode() if isinstance(content, str) else content
    path.write_bytes(before)
    with pytest.raises(CallsError) as error:
        append_step(path, {"call": "b"})
    assert reason in error.value.message
    assert remedy in error.value.hint
    assert error.value.message.startswith(str(path))
    assert path.read_bytes() == before


def test_a_new_file_replaces_none_and_makes_its_folder(tmp_path: Path) -> None:
    path = tmp_path / "calls" / "orders" / "one.yaml"
    create_flow(path, server="npx server", steps=[{"call": "a"}])
    assert yaml.safe_load(path.read_text()) == {"inspector": 1, "server": "npx server", "steps": [{"call": "a"}]}
    schema = json.loads((path.parent / "flow.schema.json").read_text())
    assert schema["properties"]["steps"]
    (path.parent / "flow.schema.json").write_text("mine")
    create_flow(path.with_name("two.yaml"), steps=[{"call": "a"}])
    assert (path.parent / "flow.schema.json").read_text() == "mine"
    before = path.read_bytes()
    with pytest.raises(OutputExists):
        create_flow(path, steps=[{"call": "b"}])
    (tmp_path / "link.yaml").symlink_to(tmp_path / "elsewhere.yaml")
    with pytest.raises(OutputExists):
        create_flow(tmp_path / "link.yaml", steps=[{"call": "b"}])
    assert path.read_bytes() == before
    assert not (tmp_path / "elsewhere.yaml").exists()


def test_what_yaml_cannot_hold_is_refused() -> None:
    deep: Any = 1
    for _ in range(5000):
        deep = [deep]
    with pytest.raises(ConfigError, match="96 levels"):
        step_text({"args": deep})
    with pytest.raises(ConfigError, match="4,000 digits"):
        step_text({"args": {"n": 10**5000}})
    with pytest.raises(ConfigError, match="half a surrogate pair"):
        step_text({"args": {"n": "a\ud800"}})
    with pytest.raises(ConfigError, match="JSON has no number"):
        step_text({"args": {"n": float("inf")}})


def test_the_deepest_step_can_be_read(tmp_path: Path) -> None:
    deep: Any = 1
    for _ in range(94):
        deep = [deep]
    path = tmp_path / "flow.yaml"
    create_flow(path, steps=[{"args": deep}])
    append_step(path, {"args": {"a": deep[0]}})
    assert read_yaml(path).value["steps"] == [{"args": deep}, {"args": {"a": deep[0]}}]


def test_files_that_a_team_shares_follow_the_umask(tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        create_flow(tmp_path / "calls" / "a.yaml", server="x", steps=[{"call": "a"}])
        write_snapshot(tmp_path / "calls" / "answers" / "a.json", {})
        append_step(tmp_path / "calls" / "a.yaml", {"call": "b"})
    finally:
        os.umask(before)
    made = {path.stat().st_mode & 0o777 for path in (tmp_path / "calls").rglob("*") if path.is_file()}
    folders = {path.stat().st_mode & 0o777 for path in (tmp_path / "calls", tmp_path / "calls" / "answers")}
    assert (made, folders) == ({0o640}, {0o750})


def test_a_step_that_does_not_fit_leaves_the_flow_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "a.yaml"
    create_flow(path, server="x", steps=[{"call": "a"}])
    content = path.read_bytes()
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (len(content) + 5, hard))
    try:
        with pytest.raises(UsageError, match="cannot be written"):
            append_step(path, {"call": "another"})
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert path.read_bytes() == content
