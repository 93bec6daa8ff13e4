"""Files of saved calls: what is read, and where an error says that it is."""

from __future__ import annotations

import gc
import itertools
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.calls.collection import Collection, read_flow
from inspector.calls.templates import insert
from inspector.calls.variables import Secrets, Variables, check
from inspector.calls.yaml_text import MAX_SIZE, CallsError, read_yaml
from inspector.errors import UsageError

HEAD = "inspector: 1\n"
STEP = HEAD + "steps:\n  - call: x\n    expect: "


def read(text: str | bytes, tmp_path: Path) -> Any:
    return read_yaml(tmp_path / "f.yaml", text.encode() if isinstance(text, str) else text)


def error_of(text: str | bytes, tmp_path: Path) -> tuple[int, int, str]:
    path = tmp_path / "f.yaml"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    with pytest.raises(CallsError) as caught:
        read_flow(path)
    error = caught.value
    place = f":{error.line}:{error.column}" if error.line else ""
    assert error.message.startswith(f"{path}{place}: ")
    assert error.exit_code == 2
    return error.line, error.column, f"{error.problem} | {error.hint}"


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1", 1), ("-7", -7), ("1.5", 1.5), ("true", True), ("~", None), ("", None), ("x y", "x y"), ("'no'", "no"),
        ('"2026-01-01"', "2026-01-01"), ("800 ms", "800 ms"), ("y", "y"), ("1.2.3", "1.2.3"), ("0x1f", 31),
        ("9223372036854775808", 2**63), ("123456789012345678901234567890", 123456789012345678901234567890),
        ("[1, {a: b}]", [1, {"a": "b"}]), ("|\n  no\n  on\n", "no\non\n"), ("1.5e+3", 1500.0),
    ],
)  # fmt: skip
def test_values_are_those_of_json(text: str, value: Any, tmp_path: Path) -> None:
    parsed = read(f"a: {text}\n", tmp_path).value
    assert parsed == {"a": value}
    assert type(parsed["a"]) is type(value)


@pytest.mark.parametrize(
    "text",
    ["no", "On", "YES", "off", "2026-01-01", "2026-01-01 10:00:00", "1:30", "190:20:30", "0777", "08", "0o17", "0b1",
     "1_000", "1e3", "1.5e3", ".inf", "-.INF", ".nan", "=", "1" * 5000],
)  # fmt: skip
def test_a_plain_value_that_programs_read_differently_is_an_error(text: str, tmp_path: Path) -> None:
    for document, place in ((f"a: {text}\n", (1, 4)), (f"b: [x, {text}]\n", (1, 8))):
        with pytest.raises(CallsError) as caught:
            read(document, tmp_path)
        assert caught.value.position == place
        assert "uote it" in str(caught.value.hint)
    assert read(f"a: '{text}'\n", tmp_path).value == {"a": text}


@pytest.mark.parametrize(
    ("text", "line", "column", "problem"),
    [
        ("a: 1\na: 2\n", 2, 1, "The key “a” stands twice."),
        ("a:\n  b: 1\n  c: 2\n  b: 3\n", 4, 3, "The key “b” stands twice."),
        ("a: !!str 1\n", 1, 4, "Tags are not supported"),
        ("a: !!python/object:os.system x\n", 1, 4, "Tags are not supported"),
        ("a:\n\tb: 1\n", 2, 1, "A tab cannot indent a line."),
        ("a: &x [*x]\n", 1, 8, "contains itself"),
        ("a: *x\n", 1, 4, "is not defined above"),
        ("a: 1\n---\nb: 1\n", 2, 1, "A second document"),
        ("a: {b: 1\n", 2, 1, "A map in braces does not end."),
        ("a: 'x\n", 2, 1, "does not end"),
        ("1: x\n", 1, 1, "The key 1 is not a string."),
        ("on: x\n", 1, 1, "is read as true or false"),
        ("a: \x01\n", 1, 4, "not allowed"),
        (b"a: b\nb: \xff\n", 2, 4, "not UTF-8"),
        ("a: " + "[" * 200, 1, 104, "nested deeper than 100 levels"),
        ("a: {$.content[0]: 1}\n", 1, 14, "A map in braces does not end."),
        ("a: [b\n", 2, 1, "A list in brackets does not end."),
        ("a:\n  - b\n c\n", 3, 2, "This is not a key."),
        ("a: b: c\n", 1, 5, "A colon cannot stand here."),
        ("a: - b\n", 1, 4, "A list cannot begin here."),
        ("a: b\nc\n", 3, 1, "A key has no colon."),
        ('a: "\\q"\n', 1, 5, "This escape is not known."),
        ("a: }\n", 1, 4, ""),
    ],
)
def test_an_error_names_its_place(text: str | bytes, line: int, column: int, problem: str, tmp_path: Path) -> None:
    with pytest.raises(CallsError) as caught:
        read(text, tmp_path)
    assert problem in caught.value.message
    assert caught.value.position == (line, column)
    assert caught.value.hint, "each error says what to do"


def test_an_anchor_that_is_defined_again_changes_no_earlier_use(tmp_path: Path) -> None:
    text = "a: &x {k: 1}\nb: &y [*x]\nc: &x 2\nd: *y\n"
    located = read(text, tmp_path)
    assert located.value == {"a": {"k": 1}, "b": [{"k": 1}], "c": 2, "d": [{"k": 1}]}
    assert located.position(("d",)) == (4, 4)
    assert located.position(("d", 0, "k")) == (1, 11)  # A part of it stands where the anchor is.


def test_marks_line_ends_and_anchors(tmp_path: Path) -> None:
    located = read("\ufeffa: &x {b: 1}\r\nc:\r\n  - *x\r\nd: {<<: *x, e: 2}\r\n", tmp_path)
    assert located.value == {"a": {"b": 1}, "c": [{"b": 1}], "d": {"b": 1, "e": 2}}
    assert located.position(("c", 0)) == (3, 5)
    assert located.position(("d", "e")) == (4, 16)
    assert located.position(("d", "e"), key=True) == (4, 13)


@pytest.mark.slow
def test_bombs_end_at_once(tmp_path: Path) -> None:
    levels = "".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 9))
    large = "a: &a [" + "x, " * 50_000 + "x]\nb: [" + "*a, " * 500 + "*a]\n"
    for text, problem in (
        ("a0: &a0 [x, x]\n" + levels, "1,000 times"), (large, "100,000 values"), ("[" * 1_000_000, "levels"),
    ):  # fmt: skip
        with pytest.raises(CallsError, match=problem):
            read(text, tmp_path)


def test_a_long_row_of_digits_is_read_in_one_pass(tmp_path: Path) -> None:
    # In quadratic time this takes minutes.
    digits = "9" * 500_000 + "x"
    assert read_yaml(tmp_path / "f.yaml", f"a: {digits}".encode()).value == {"a": digits}


def test_a_file_above_1_mib(tmp_path: Path) -> None:
    folder = tmp_path / "calls"
    folder.mkdir()
    (folder / "big.yaml").write_text(HEAD + "#" * MAX_SIZE)
    (folder / "other.yaml").write_text("a: 1\n" + "#" * MAX_SIZE)
    with pytest.raises(CallsError, match="larger than 1 MiB"):
        Collection.read([folder])
    (folder / "big.yaml").unlink()
    assert [path.name for path, _ in Collection.read([folder]).ignored] == ["other.yaml"]


@given(st.text(alphabet="ab:-[]{}&*!|>'\"#%@`,?\n\t 0~{}\\\ufeff\x00é", max_size=60))
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        read_yaml(Path("x.yaml"), text.encode())
    except CallsError:
        pass


@pytest.mark.parametrize(
    ("text", "line", "column", "problem"),
    [
        (HEAD, 1, 1, "The key “steps” is missing."),
        ("name: x\ninspector: 1\nsteps: []\n", 1, 1, "The first key of a saved call is “inspector”."),
        ("inspector: 2\nsteps: []\n", 1, 12, "This version of the format is not known: 2"),
        (HEAD + "stepz: []\n", 2, 1, "Unknown key “stepz”. | Did you mean “steps”?"),
        (HEAD + "steps:\n  - cal: x\n", 3, 5, "Unknown key “cal”. | Did you mean “call”?"),
        (HEAD + "steps:\n  - name: x\n", 3, 5, "The step does not say what it does."),
        (HEAD + "steps:\n  - call: x\n    read: y\n", 4, 5, "The step has “call” and “read”."),
        (HEAD + "steps:\n  - call: x\n    argz: {}\n", 4, 5, "Unknown key “argz”. | Did you mean “args”?"),
        (HEAD + "steps:\n  - read: x\n    args: {}\n", 4, 5, "The key “args” does not work with “read”."),
        (HEAD + "steps:\n  - call: x\n    secret: [tokn]\n    capture: {token: $.a}\n", 4, 14, "Did you mean “token”?"),
        (HEAD + "steps:\n  - wait: 5 seconds\n", 3, 11, "is neither a time nor a method"),
        (HEAD + "steps:\n  - use: nothing.yaml\n", 0, 0, ""),
        (STEP + "{within: 5}\n", 4, 22, "The value of “within” is 5. | Write a time with its unit"),
        (STEP + "{result: {a: 1}}\n", 4, 23, "“a” is not a path."),
        (STEP + "{result: {$.a: {matches: '('}}}\n", 4, 38, "This is not a regular expression"),
        (STEP + "{result: {$.a: {each: {matches: '(?=x)'}}}}\n", 4, 45, "look-around"),
        (STEP + "{result: {$.a: {type: strng}}}\n", 4, 35, "Write one of string"),
        (STEP + "{resul: {}}\n", 4, 14, "Did you mean “result”?"),
        (STEP + "{same_as: /etc/passwd}\n", 4, 23, "is not below the folder of the saved call"),
        (STEP + "{same_as: ../../x.json}\n", 4, 23, "is not below the folder of the saved call"),
        (STEP + "{schema: {type: strang}}\n", 4, 22, "is not a JSON type"),
        (STEP + "{schema: nothing.json}\n", 4, 22, "does not exist"),
        (STEP + "{ignore: [$.a]}\n", 4, 13, "works only with “same_as”"),
        (HEAD + "steps:\n  - call: x\n    args: {a: 'x {{b'}\n", 4, 15, "is not a variable"),
        (HEAD + "steps:\n  - call: x\n    args: {a: '{{$uid}}'}\n", 4, 15, "Did you mean “$uuid”?"),
        (HEAD + "steps:\n  - call: x\n    args: {a: '{{$int 5 1}}'}\n", 4, 15, "$int takes"),
        (HEAD + "vars: {a b: 1}\nsteps: []\n", 2, 8, "is not a variable name"),
        (HEAD + "server: @shop\nsteps: []\n", 2, 9, "cannot begin with @. | Put the text between quotes."),
        (HEAD + "steps:\n  - call: x\n    each: []\n", 4, 11, "is an empty list. | Write a list with at least one"),
        (HEAD + "steps:\n  - call: x\n    each: [a]\n", 4, 12, "Item 1 of “each” is \"a\". | Write a map of keys."),
        (HEAD + "steps:\n  - wait: 5\n", 3, 11, "Write a time such as 2 s, or the method of a notification."),
        (HEAD + "steps:\n  - call: x\n    capture: {a: $.b[*]}\n", 4, 21, "quote a path that has brackets"),
        (STEP + "{result: {$.a: {matches: '('}}}\n", 4, 38, "Use “contains” for a plain text"),
        (STEP + "{schema: nothing.json}\n", 4, 22, "The path is relative to the folder of this file."),
        (HEAD + "# " + "x" * (1 << 20), 1, 1, "larger than 1 MiB. | Split it into several files."),
        (HEAD + "steps:\n  - call: x\n    headers: {'X A': a}\n", 4, 15, "is not a header name"),
        (HEAD + "steps:\n  - call: x\n    headers: {X: \"a\\nB: c\"}\n", 4, 15, "contains a line break"),
        (HEAD + "steps:\n  - call: x\n    headers: {Host: a, host: b}\n", 4, 14, "one Host header"),
        (HEAD + "steps:\n  - call: x\n    answer: {roots: [., 'https://x']}\n", 4, 25, "is not a file: URI"),
        (HEAD + "steps:\n  - wait: '{{a}}'\n", 3, 11, "Variables are not inserted in “wait”."),
        (STEP + "{same_as: '{{a}}.json'}\n", 4, 23, "Variables are not inserted in “same_as”."),
        (HEAD + "steps:\n  - call: x\n    capture: {a: '$.b[{{i}}'}\n", 4, 18, "is not a path"),
        (HEAD + "vars: {a: *b}\nsteps: []\n", 2, 11, "is not defined above. | Define it"),
    ],
)  # fmt: skip
def test_a_wrong_flow_says_what_is_right(text: str, line: int, column: int, problem: str, tmp_path: Path) -> None:
    if not problem:
        (tmp_path / "f.yaml").write_text(text)
        with pytest.raises(CallsError, match=r"f.yaml:3:10: The saved call nothing.yaml does not exist"):
            Collection.read([tmp_path / "f.yaml"])
        return
    error = error_of(text, tmp_path)
    assert problem in error[2]
    assert error[:2] == (line, column)


def test_a_flow_in_utf_16_is_refused_and_not_left_alone(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_bytes((HEAD + "steps: []\n").encode("utf-16"))
    with pytest.raises(CallsError, match=r"a.yaml:1:1: The file is UTF-16."):
        Collection.read([tmp_path])


def test_reading_leaves_the_garbage_collector_as_it_was(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text(HEAD + "stepz: []\n")
    assert gc.isenabled()
    with pytest.raises(CallsError):
        Collection.read([tmp_path])
    assert gc.isenabled()


def test_steps_without_a_key_share_its_default(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text(HEAD + "steps:\n  - call: x\n  - call: y\n")
    first, second = Collection.read([tmp_path]).flows[0].steps
    assert first.expect is second.expect  # type: ignore[union-attr]  # Both are calls.


def test_flows_that_use_one_another_in_a_circle(tmp_path: Path) -> None:
    for name, other in (("a", "b"), ("b", "c"), ("c", "a")):
        (tmp_path / f"{name}.yaml").write_text(f"{HEAD}steps:\n  - use: {other}.yaml\n")
    with pytest.raises(CallsError, match=r"in a circle: .*a.yaml → .*b.yaml → .*c.yaml → .*a.yaml"):
        Collection.read([tmp_path])
    loose = Collection.read([tmp_path], strict=False)
    assert len(loose.errors) == 3
    assert loose.flows == []


@pytest.mark.parametrize(
    ("flows", "uses", "problem"),
    [(9, 20, "it has more than 10,000 steps"), (23, 1, "More than 20 saved calls use one another"), (21, 1, "")],
)
@pytest.mark.parametrize("named", ["{:02}", "{:02}-{}"], ids=["first", "last"])
def test_flows_that_use_very_many(flows: int, uses: int, problem: str, named: str, tmp_path: Path) -> None:
    """Whether the one that uses all others is read first or last."""
    names = [named.format(n if named == "{:02}" else flows - n, n) for n in range(flows)]
    for name, other in itertools.pairwise(names):
        (tmp_path / f"{name}.yaml").write_text(HEAD + "steps:\n" + f"  - use: {other}.yaml\n" * uses)
    (tmp_path / f"{names[-1]}.yaml").write_text(HEAD + "steps:\n  - request: ping\n")
    if not problem:
        assert len(Collection.read([tmp_path]).flows) == flows
        return
    with pytest.raises(CallsError, match=problem):
        Collection.read([tmp_path])


def test_a_collection_is_sorted_and_leaves_other_files_alone(tmp_path: Path) -> None:
    for name, text in {
        "b.yaml": HEAD + "steps: []", "a/z.yml": HEAD + "steps: []", "values.yaml": "a: 1", "list.yaml": "- a",
        "broken.yaml": "{{ helm }}", "env/one.yaml": "x: 1", ".hidden/x.yaml": HEAD, "empty.yaml": "",
    }.items():  # fmt: skip
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    collection = Collection.read([tmp_path])
    assert [flow.path.name for flow in collection.flows] == ["z.yml", "b.yaml"]
    assert sorted(path.name for path, _ in collection.ignored) == [
        "broken.yaml",
        "empty.yaml",
        "list.yaml",
        "values.yaml",
    ]
    assert collection.environments["one"].values == {"x": 1}
    with pytest.raises(CallsError, match="its first key is not “inspector”"):
        Collection.read([tmp_path / "values.yaml"])
    with pytest.raises(UsageError, match="The environment “onn” does not exist"):
        collection.environment("onn")


# Variables


def flow_of(text: str, tmp_path: Path) -> Any:
    path = tmp_path / "flow.yaml"
    path.write_text(HEAD + text)
    return Collection.read([path]).flows[0]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("{{n}}", 2**64 + 1), ("n = {{n}}", f"n = {2**64 + 1}"), ("{{o}}", {"a": [1, None]}),
        ("x{{o}}", 'x{"a": [1, null]}'), ("{{t}}", True), ("{{{{n}}", "{{n}}"), ("{{{n}}}", "{" + str(2**64 + 1) + "}"),
        ("{{ s }}{{s}}", "ää"), ("{n}", "{n}"), ("{{f}}", 1.0), ("{{z}}", None), ("{{{{{{{{", "{{{{"),
    ],
)  # fmt: skip
def test_a_variable_alone_keeps_its_type(text: str, expected: Any) -> None:
    variables = Variables({"n": 2**64 + 1, "o": {"a": [1, None]}, "t": True, "s": "ä", "f": 1.0, "z": None})
    assert variables.insert([text]) == [expected]
    assert type(variables.insert(text)) is type(expected)


def test_precedence(tmp_path: Path) -> None:
    flow = flow_of("vars: {a: 1, b: 1, c: 1, d: 1, e: 1}\nsteps: []\n", tmp_path)
    (tmp_path / "env").mkdir()
    (tmp_path / "env/x.yaml").write_text("b: 2\nc: 2\nd: 2\ne: 2\n")
    (tmp_path / "env/y.yaml").write_text("b: 3\n")
    environments = list(Collection.read([tmp_path / "flow.yaml"]).environments.values())
    variables = Variables.for_flow(flow, environments, {"c": "4", "d": "4", "e": "4"})
    variables.captured["d"] = 5
    variables.captured["e"] = 5
    variables.row = {"e": 6}
    assert [variables.value(name) for name in "abcde"] == [1, 3, 4, 5, 6]


@pytest.mark.parametrize(
    ("default", "given_text", "value"),
    [("2", "3", 3), ("x", "3", "3"), ("true", "false", False), ("1.5", "2", 2), ("[1]", "[2]", [2]), ("{a: 1}", "{}", {})],
)  # fmt: skip
def test_a_value_takes_the_type_of_the_default(default: str, given_text: str, value: Any, tmp_path: Path) -> None:
    flow = flow_of(f"vars: {{v: {default}}}\nsteps: []\n", tmp_path)
    actual = Variables.for_flow(flow, (), {"v": given_text}).value("v")
    assert actual == value
    assert type(actual) is type(value)
    if default != "x":
        with pytest.raises(UsageError, match="The variable “v” cannot be “word”"):
            Variables.for_flow(flow, (), {"v": "word"})


@pytest.mark.parametrize(
    ("steps", "line", "column", "problem"),
    [
        ("  - read: 'x://{{skuu}}'\n", 4, 11, "Unknown variable “skuu”. Did you mean “sku”? Else"),
        ("  - read: '{{other}}'\n", 4, 11, "Define it in “vars” or in an environment, or"),
        ("  - read: '{{id}}'\n  - call: x\n    capture: {id: $.id}\n", 4, 11, "Step 2 captures it."),
        ("  - call: x\n    each: [{a: 1, b: 2}, {a: 2}]\n    args: {b: '{{b}}'}\n", 6, 15, "Unknown variable “b”."),
        ("  - call: x\n    expect: {result: {$.a: {one_of: [1, '{{q}}']}}}\n", 5, 41, "Unknown variable “q”."),
        ("  - call: x\n    expect: {result: {'$.a.{{q}}': 1}}\n", 5, 36, "Unknown variable “q”."),
        ("  - call: x\n    capture: {a: '$.a[{{q}}]'}\n", 5, 18, "Unknown variable “q”."),
    ],
)  # fmt: skip
def test_an_unknown_variable(steps: str, line: int, column: int, problem: str, tmp_path: Path) -> None:
    flow = flow_of(f"vars: {{sku: 1}}\nsteps:\n{steps}", tmp_path)
    with pytest.raises(CallsError) as caught:
        check(flow, ())
    assert problem in f"{caught.value.problem} {caught.value.hint}"
    assert caught.value.position == (line, column)
    if "Put that step first" not in caught.value.hint:
        name = caught.value.problem.split("“")[1].rstrip("”.")
        assert caught.value.hint.command_line.endswith(f"or set it for one run with --set {name}=VALUE.")


def test_generators_are_the_same_with_the_same_seed(tmp_path: Path) -> None:
    flow = flow_of("steps: []\n", tmp_path)
    text = "{{$uuid}} {{$now}} {{$timestamp}} {{$int 1 1000000}}"
    first, again, other, free = (
        [Variables.for_flow(flow, seed=seed).insert(text) for _ in range(2)] for seed in (1, 1, 2, None)
    )
    assert first == again
    assert first != other
    assert free[0] != free[1]
    assert type(Variables.for_flow(flow).insert("{{$int 5 5}}")) is int


def test_secrets_are_masked_in_every_form() -> None:
    secrets = Secrets()
    secrets.add({"a": ["tok/en ü", 12345678], "b": "x"})
    assert secrets.mask('say "tok/en ü", tok%2Fen%20%C3%BC, 12345678, x') == 'say "***", ***, ***, x'
    assert secrets.mask('"a tok/en…" tok/e… tok…') == '"a ***…" ***… tok…', "of one that was cut off, the beginning"
    assert secrets.mask_value({"tok/en ü": [12345678, 12, "x"]}) == {"***": ["***", 12, "***"]}


def test_insert_leaves_a_text_without_variables_alone() -> None:
    assert insert("plain", lambda _: 1) == "plain"
