"""`inspector run`: steps, expectations, reports and exit codes, on the demo server and on scripted ones."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from inspector.calls.reports import DRY_RUN
from inspector.protocol.validation import Validator
from tests.cli.conftest import Run, Script
from tests.processes import INSPECTOR, ROOT, environment
from tests.test_html_page import Inert

pytestmark = pytest.mark.slow

DOCUMENT = Validator(json.loads((ROOT / "docs" / "schemas" / "verbs" / "run.json").read_text(encoding="utf-8")))
DEMO = ["--", sys.executable, "-m", "inspector.demo"]
ECHO = {"name": "echo", "inputSchema": {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}}
TOOLS = {"result": {"tools": [ECHO]}}


def flow(home: Path, steps: str, name: str = "a", head: str = "") -> Path:
    path = home / "calls" / f"{name}.yaml"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"inspector: 1\n{head}steps:\n{steps}", encoding="utf-8")
    return path


def result(value: Any, **more: Any) -> dict[str, Any]:
    return {"result": {"content": [{"type": "text", "text": json.dumps(value)}], "structuredContent": value, **more}}


def steps_of(ran: Any) -> list[dict[str, Any]]:
    """The steps of the first flow. The whole document matches its published schema."""
    assert DOCUMENT.errors(ran.json) == []
    steps: list[dict[str, Any]] = ran.json["flows"][0]["steps"]
    return steps


def outcomes(ran: Any) -> list[str]:
    return [step["outcome"] for step in steps_of(ran)]


def failures(step: dict[str, Any]) -> list[tuple[str, str, str]]:
    return [
        (
            expectation.get("json_path", expectation["text"]),
            expectation.get("expected", ""),
            expectation.get("found", ""),
        )
        for expectation in step["expectations"]
        if not expectation["ok"]
    ]


# Expectations


VALUE = {
    "s": "order 4711", "n": 3, "f": 3.0, "big": 2**70, "t": True, "z": None, "list": [1, 2, 3], "rows": [{"id": 1}, {"id": 2}],
    "o": {"a": 1, "b": {"c": [1]}}, "type": "x",
}  # fmt: skip


@pytest.mark.parametrize(
    ("path", "expected", "ok"),
    [
        ("$.s", "order 4711", True), ("$.s", "Order 4711", False), ("$.n", "3", True), ("$.n", "'3'", False),
        ("$.f", "3", False), ("$.f", "3.0", True), ("$.n", "3.0", False), ("$.big", str(2**70), True),
        ("$.big", str(2**70 + 1), False), ("$.t", "true", True), ("$.t", "1", False), ("$.n", "true", False),
        ("$.z", "null", True), ("$.z", "{exists: true}", True), ("$.nothing", "{exists: false}", True),
        ("$.z", "{exists: false}", False), ("$.nothing", "{exists: true}", False), ("$.nothing", "null", False),
        ("$.nothing", "{not: 1}", False), ("$.list", "[1, 2, 3]", True), ("$.list", "[1, 3, 2]", False),
        ("$.list", "[1, 2]", False), ("$.o", "{a: 1}", True), ("$.o", "{a: 2}", False), ("$.o", "{x: 1}", False),
        ("$.o", "{b: {c: {items: 1}}}", True), ("$.o", "{exactly: {a: 1}}", False), ("$.o", "{}", True),
        ("$.o", "{exactly: {a: 1, b: {c: [1]}}}", True), ("$.s", "{a: 1}", False),
        ("$.s", "{matches: 'order \\d+'}", True), ("$.s", "{matches: '^\\d'}", False), ("$.n", "{matches: '3'}", False),
        ("$.s", "{contains: order}", True), ("$.s", "{contains: x}", False), ("$.list", "{contains: 2}", True),
        ("$.list", "{contains: '2'}", False), ("$.rows", "{contains: {id: 2}}", True), ("$.n", "{contains: 3}", False),
        ("$.n", "{type: integer}", True), ("$.n", "{type: number}", True), ("$.f", "{type: integer}", False),
        ("$.t", "{type: [string, boolean]}", True), ("$.z", "{type: 'null'}", True), ("$.o", "{type: object}", True),
        ("$.n", "{one_of: [1, 2, 3]}", True), ("$.n", "{one_of: [1, 2, 3.0]}", False), ("$.n", "{not: 4}", True),
        ("$.n", "{not: {min: 2}}", False), ("$.n", "{min: 3, max: 3}", True), ("$.n", "{min: 4}", False),
        ("$.big", f"{{min: {2**70}, max: {2**70}}}", True), ("$.s", "{min: 0}", False), ("$.t", "{min: 0}", False),
        ("$.n", "{near: [3.1, 0.2]}", True), ("$.n", "{near: [3.1, 0.05]}", False), ("$.list", "{items: 3}", True),
        ("$.list", "{items: 2}", False), ("$.list", "{min_items: 4}", False), ("$.list", "{max_items: 3}", True),
        ("$.s", "{items: 1}", False), ("$.list", "{each: {type: integer, min: 1}}", True),
        ("$.list", "{each: {max: 2}}", False), ("$.rows", "{any: {id: 2}}", True), ("$.rows", "{any: {id: 3}}", False),
        ("$.rows[*].id", "{type: integer}", True), ("$.rows[*].id", "{max: 1}", False), ("$..id", "{min: 1}", True),
        ("$.o", "{schema: {type: object, required: [a]}}", True), ("$.o", "{schema: {required: [q]}}", False),
        ("/o/b/c/0", "1", True), ("$.type", "x", True), ("$.n", "'{{three}}'", True), ("$.o", "'{{obj}}'", True),
        ("$.n", "{min: '{{three}}'}", True), ("$.list", "{items: '{{three}}'}", True), ("$.s", "{contains: '{{word}}'}", True),
        ("$.s", "{matches: '{{dot}}'}", False), ("$.list", "{items: 3, contains: 9}", False),
        ("$.o", "{x: {exists: false}, b: {q: {exists: false}}}", True), ("$.o", "{a: {exists: false}}", False),
        ("$.rows", "{each: {x: {exists: false}}}", True), ("$.rows", "{any: {id: {exists: false}}}", False),
        ("$.list[{{three}}]", "{exists: false}", True), ("$.{{word}}", "1", False), ("$.o['{{letter}}']", "1", True),
        ("$.o['{{quote}}']", "1", False),
    ],
)  # fmt: skip
def test_each_expectation(run: Run, script: Script, home: Path, path: str, expected: str, ok: bool) -> None:
    server = script(tools__list=TOOLS, tools__call=result(VALUE))
    place = f"$.structuredContent{path[1:]}" if path.startswith("$") else f"/structuredContent{path}"
    place = json.dumps(place) if "{{" in place else place
    head = "vars: {three: 3, obj: {a: 1, b: {c: [1]}}, word: order, dot: 'o.der', letter: a, quote: \"'\"}\n"
    flow(home, f"  - call: echo\n    expect:\n      result:\n        {place}: {expected}\n", head=head)
    ran = run("run", "--json", *server)
    assert outcomes(ran) == ["passed" if ok else "failed"], steps_of(ran)
    assert ran.code == (0 if ok else 5)
    if not ok:
        (step,) = steps_of(ran)
        assert all(
            expectation.get("expected") and expectation.get("found")
            for expectation in step["expectations"]
            if not expectation["ok"]
        )


def test_a_number_is_not_searched_in_a_text_and_that_is_reported(run: Run, script: Script, home: Path) -> None:
    server = script(tools__list=TOOLS, tools__call=result({"s": "error -32602"}))
    flow(home, "  - call: echo\n    expect: {result: {$.structuredContent.s: {contains: -32602}}}\n")
    ran = run("run", "--json", *server)
    (failure,) = [expectation for expectation in steps_of(ran)[0]["expectations"] if not expectation["ok"]]
    assert failure["note"] == "A text contains only texts: quote -32602."


def test_a_failure_shows_what_was_expected_and_found(run: Run, script: Script, home: Path) -> None:
    server = script(tools__list=TOOLS, tools__call=result({"state": "queued", "n": 1}))
    flow(
        home,
        "  - name: ship\n    call: echo\n    args: {n: 1, word: it's, text: '5', o: {a: [1]}}\n    expect:\n      result:\n"
        "        $.structuredContent: {state: shipped, n: 1}\n",
    )
    ran = run("run", "--keep", "kept", *server)
    assert ran.code == 5
    assert "✗ failed  calls/a.yaml:8:9  step 1 ship  call echo" in ran.out
    assert '    $.structuredContent.state\n    expected   "shipped"\n    found      "queued"\n' in ran.out
    repeat = "inspector call echo n:=1 'word=it'\"'\"'s' 'text:=\"5\"' 'o:={\"a\": [1]}' -- "
    assert f"    repeat     {repeat}{sys.executable} -S -E" in ran.out
    assert "    recording  kept/calls-a.mcp.jsonl\n    events     " in ran.out
    assert "1 saved call   1 failed      1 step   1 failed    " in ran.out
    assert list((home / "kept").iterdir()) == [home / "kept" / "calls-a.mcp.jsonl"]
    assert (home / "kept").stat().st_mode & 0o777 == 0o700


def test_a_tool_that_is_not_listed_may_need_a_capability_of_the_client(run: Run, script: Script, home: Path) -> None:
    flow(home, "  - call: never-listed\n")
    ran = run("run", *script(tools__list=TOOLS, tools__call=result({}, isError=True)))
    said = "The server lists no tool “never-listed”. Some servers list a tool only if the client declares a capability"
    assert said in " ".join(ran.out.split())


@pytest.mark.parametrize(
    ("reply", "expect", "ok"),
    [
        (result({}), "", True), (result({}, isError=True), "", False), ({"error": {"code": -1, "message": "x"}}, "", False),
        (result({}, isError=True), "{tool_error: true}", True), (result({}), "{tool_error: true}", False),
        (result({"a": 1}, isError=True), "{tool_error: {text: {contains: a}}}", True),
        (result({"a": 1}, isError=True), "{tool_error: {text: b}}", False),
        ({"error": {"code": -1, "message": "x"}}, "{error: true}", True), (result({}), "{error: true}", False),
        ({"error": {"code": -1, "message": "x"}}, "{error: -1}", True),
        ({"error": {"code": -1, "message": "x"}}, "{error: -2}", False), (result({}), "{error: -1}", False),
        ({"error": {"code": -1, "message": "x", "data": {"a": 1}}}, "{error: {message: x, data: {a: 1}}}", True),
        ({"error": {"code": -1, "message": "x", "data": {"a": 1}}}, "{error: {data: {a: 2}}}", False),
        (result({}), "{within: 1 h}", True), (result({}), "{within: 0 ms}", False),
        ({"result": {"content": "no list"}}, "", False), ({"result": {"content": "no list"}}, "{findings: any}", True),
    ],
)  # fmt: skip
def test_the_outcome_of_a_call(
    run: Run, script: Script, home: Path, reply: dict[str, Any], expect: str, ok: bool
) -> None:
    server = script(tools__list=TOOLS, tools__call=reply)
    flow(home, f"  - call: echo\n{f'    expect: {expect}' if expect else ''}\n")
    ran = run("run", "--json", *server)
    assert outcomes(ran) == ["passed" if ok else "failed"], steps_of(ran)


def test_the_output_schema_is_checked(run: Run, script: Script, home: Path) -> None:
    tool = ECHO | {"outputSchema": {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}}
    server = script(
        tools__list={"result": {"tools": [tool]}}, tools__call=[result({"a": 1}), result({"a": "1"}), result({})]
    )
    flow(home, "  - call: echo\n" * 3)
    ran = run("run", "--json", *server)
    assert outcomes(ran) == ["passed", "failed", "failed"]
    assert [failures(step)[0][2] for step in steps_of(ran)[1:]] == [
        "/a: expected integer, got \"1\"", '/: "a" is missing',
    ]  # fmt: skip


def test_a_million_rows(run: Run, home: Path) -> None:
    server = home / "server.py"
    server.write_text(
        "import sys, json\n"
        "for line in sys.stdin:\n"
        "    m = json.loads(line)\n"
        "    if 'id' not in m: continue\n"
        "    r = {'protocolVersion': '2025-11-25', 'capabilities': {}, 'serverInfo': {'name': 'x', 'version': '1'}}\n"
        "    if m['method'] == 'rows': r = {'rows': list(range(1000000))}\n"
        "    e = {'result': r} if m['method'] in ('initialize', 'rows') else {'error': {'code': -32601, 'message': 'no'}}\n"
        "    print(json.dumps({'jsonrpc': '2.0', 'id': m['id'], **e}), flush=True)\n"
    )
    flow(
        home,
        "  - request: rows\n    expect:\n      result:\n        $.rows: {items: 1000000, each: {type: integer}}\n"
        "        $.rows[999999]: 999999\n        $.rows[*]: {max: 10}\n        $: {rows: [1]}\n",
    )
    ran = run("run", "--json", "--", sys.executable, str(server))
    assert ran.code == 5
    (step,) = steps_of(ran)
    results = [expectation["ok"] for expectation in step["expectations"]]
    assert results[:3] == [True, True, True]
    assert len(ran.out) < 20_000


# Steps


def test_values_are_carried_and_exact(run: Run, script: Script, home: Path, tmp_path: Path) -> None:
    values = {"big": 2**64 + 1, "none": None, "obj": {"a": [1.0, 2]}, "text": "x"}
    log = str(tmp_path / "log")
    server = script(tools__list=TOOLS, tools__call=result(values))
    path = Path(server[-1])
    path.write_text(json.dumps(json.loads(path.read_text()) | {"log": log}))
    names = ", ".join(f"{name}: $.structuredContent.{name}" for name in values)
    flow(
        home,
        f"  - call: echo\n    capture: {{{names}}}\n  - call: echo\n    args: {{big: '{{{{big}}}}', none: '{{{{none}}}}', "
        "obj: '{{obj}}', all: '{{big}} {{none}} {{obj}} {{text}}', braces: '{{{{x}}'}\n",
    )
    ran = run("run", "--json", *server)
    assert ran.code == 0, ran.out
    sent = [json.loads(line) for line in Path(log).read_bytes().splitlines()]
    (_, second) = [message for message in sent if message.get("method") == "tools/call"]
    assert second["params"]["arguments"] == {
        "big": 2**64 + 1, "none": None, "obj": {"a": [1.0, 2]}, "all": f'{2**64 + 1} null {{"a": [1.0, 2]}} x',
        "braces": "{{x}}",
    }  # fmt: skip
    assert str(2**64 + 1) in ran.out


@pytest.mark.parametrize(
    ("path", "actual"), [("$.nothing", "nothing at this path"), ("$.content[*]", "several values")]
)
def test_a_capture_that_finds_nothing_or_many_fails(
    run: Run, script: Script, home: Path, path: str, actual: str
) -> None:
    two = {"result": {"content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]}}
    server = script(tools__list=TOOLS, tools__call=two)
    flow(
        home,
        f"  - call: echo\n    capture:\n      v: {path}\n  - call: echo\n    args: {{v: '{{{{v}}}}'}}\n  - call: echo\n"
        "  - call: echo\n    expect: {result: {$.content: '{{v}}'}}\n",
    )
    ran = run("run", "--json", *server)
    assert outcomes(ran) == ["failed", "not_run", "passed", "not_run"]
    assert failures(steps_of(ran)[0]) == [(path, "one value", actual)]
    for step in (steps_of(ran)[1], steps_of(ran)[3]):
        assert "v has no value" in step["problem"]
        assert "request" not in step


def test_a_header_that_a_variable_makes_wrong_fails_the_step(run: Run, script: Script, home: Path) -> None:
    server = script(tools__list=TOOLS, tools__call=result({"a": 1}))
    flow(
        home,
        "  - call: echo\n    headers: {X-A: '{{v}}'}\n  - notify: x/y\n    headers: {X-A: '{{v}}'}\n  - call: echo\n",
        head='vars: {v: "a\\nB: c"}\n',
    )
    ran = run("run", "--json", *server)
    assert outcomes(ran) == ["failed", "failed", "passed"]
    assert "The value of the header X-A contains a line break" in steps_of(ran)[0]["problem"]


def test_each_repeat_use_skip_and_only(run: Run, script: Script, home: Path) -> None:
    server = script(tools__list=TOOLS, tools__call=[result({"n": n}) for n in range(1, 9)])
    flow(
        home,
        "  - call: echo\n    args: {n: '{{n}}'}\n    capture: {inner: $.structuredContent.n}\n",
        "sub/used",
        "vars: {n: 0}\n",
    )
    flow(
        home,
        "  - call: echo\n    each: [{n: 10}, {n: 20}]\n    args: {n: '{{n}}'}\n"
        "  - call: echo\n    repeat: {every: 1 ms, for: 20 s}\n    args: {n: 1}\n"
        "    expect: {result: {$.structuredContent.n: 5}}\n"
        "  - use: sub/used.yaml\n    vars: {n: 7}\n  - call: echo\n    args: {n: '{{inner}}'}\n"
        "  - name: last\n    call: echo\n    skip: not yet\n",
    )
    ran = run("run", "--json", "calls/a.yaml", *server)
    assert ran.code == 0, ran.out
    steps = steps_of(ran)
    assert [(step["number"], step.get("row", 0), step.get("parent", 0), step["outcome"]) for step in steps] == [
        (1, 1, 0, "passed"), (1, 2, 0, "passed"), (2, 0, 0, "passed"), (3, 0, 0, "passed"), (1, 0, 3, "passed"),
        (4, 0, 0, "passed"), (5, 0, 0, "skipped"),
    ]  # fmt: skip
    assert [step["arguments"].get("n") for step in steps[:3]] == [10, 20, 1]
    assert steps[2]["tries"] == 3
    assert (steps[4]["arguments"], steps[5]["arguments"]) == ({"n": 7}, {"n": 6})
    assert steps[4]["path"] == "calls/sub/used.yaml"
    only = run("run", "--json", "--only", "last", *server)
    assert [step["name"] for step in steps_of(only)] == ["last"]
    assert len(run("run", "--json", "--only", "calls/sub/*", *server).json["flows"]) == 1
    wrong = run("run", "--only", "lst", *server)
    assert wrong.code == 2
    assert "Did you mean “last”?" in wrong.err


def test_repeat_gives_up(run: Run, script: Script, home: Path) -> None:
    server = script(tools__list=TOOLS, tools__call=result({"n": 1}))
    flow(
        home,
        "  - call: echo\n    repeat: {every: 5 ms, for: 40 ms}\n    expect: {result: {$.structuredContent.n: 2}}\n",
    )
    ran = run("run", "--json", *server)
    assert outcomes(ran) == ["failed"]
    assert steps_of(ran)[0]["tries"] > 1


def test_what_the_server_asks_is_answered_in_its_step_only(run: Run, home: Path) -> None:
    flow(
        home,
        "  - call: ask-user\n    answer: {elicitation: {name: Ada, email: a@b.example}}\n"
        "    expect: {asked: {min: 1}, result: {'$.content[0].text': {contains: Ada}}}\n"
        "  - call: ask-user\n    expect: {asked: 1, result: {'$.content[0].text': {matches: '(?i)declin'}}}\n"
        "  - call: ask-model\n    answer: {sampling: '42'}\n    expect: {asked: sampling/createMessage}\n"
        "  - call: where-am-i\n    answer: {roots: [.]}\n    expect: {result: {'$.content[0].text': {contains: 'file:///'}}}\n",
    )
    for era in ("modern", "legacy"):
        ran = run("run", "--json", "--era", era, *DEMO)
        assert ran.code == 0, ran.out


def test_the_tools_change_in_the_middle(run: Run, home: Path) -> None:
    flow(
        home,
        "  - call: change-list\n    args: {list: tools, action: add}\n"
        "  - wait: notifications/tools/list_changed\n    expect: {within: 20 s}\n"
        "  - wait: notifications/tools/list_changed\n    expect: {within: 100 ms}\n"
        "  - call: echo\n    args: {message: x}\n",
    )
    for era in ("modern", "legacy"):
        ran = run("run", "--json", "--era", era, *DEMO)
        assert outcomes(ran) == ["passed", "passed", "failed", "passed"], ran.out


# Servers that misbehave


DIES = """
import json, sys
for line in sys.stdin:
    message = json.loads(line)
    result = {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": {"name": "s", "version": "1"}}
    if message["method"] == "tools/call":
        sys.exit("Traceback: no database\\nKeyError: DATABASE")
    if message["method"] == "initialize":
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}), flush=True)
    elif "id" in message:
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "error": {"code": -32601, "message": "no"}}), flush=True)
"""


def test_a_server_that_dies_in_a_call_has_its_last_lines_in_the_report(run: Run, home: Path) -> None:
    flow(home, "  - call: echo\n  - call: echo\n")
    server = home / "server.py"
    server.write_text(DIES)
    ran = run("run", "--junit", "r.xml", "--", sys.executable, str(server))
    assert ran.code == 4
    words = "note       The last lines on stderr:\n               Traceback: no database\n               KeyError: DATABASE\n"
    assert words in ran.out
    assert ran.out.count("KeyError") == 1
    assert "KeyError: DATABASE" in (home / "r.xml").read_text()
    flow(home, "  - wait: notifications/x\n    expect: {within: 30 s}\n")
    server.write_text(DIES.replace('"tools/call"', '"notifications/initialized"'))
    ran = run("run", "--json", "--era", "legacy", "--", sys.executable, str(server))
    assert steps_of(ran)[0]["problem"].endswith("Its last line on stderr is “KeyError: DATABASE”.")


def test_a_dry_run_names_line_and_column_of_each_argument_at_fault(run: Run, script: Script, home: Path) -> None:
    schema = {
        "type": "object",
        "properties": {"n": {"type": "integer"}, "o": {"properties": {"list": {"items": {"type": "string"}}}}, "w": {}},
        "required": ["w"],
        "additionalProperties": False,
    }
    tools = {"result": {"tools": [ECHO | {"inputSchema": schema}]}}
    flow(
        home,
        "  - call: echo\n    args:\n      w: 1\n      n: x\n"  # 6:7
        "  - call: echo\n    args: {w: 1, o: {list: [a, 2]}}\n"  # 8:32
        "  - call: echo\n    args:\n      w: 1\n      extra: 1\n"  # 12:7
        "  - call: echo\n    args:\n      n: 1\n"  # 14:5, where args stands
        "  - {call: ecko}\n"  # 16:6
        "  - call: echo\n    args: {n: a, q: 1}\n",
    )
    steps = steps_of(run("run", "--json", "--dry-run", *script(tools__list=tools)))
    places = [(step["expectations"][0]["line"], step["expectations"][0]["column"]) for step in steps]
    assert places[:5] == [(6, 7), (8, 32), (12, 7), (14, 5), (16, 6)]
    assert places[5] == (18, 12)
    assert '18:18 /: unexpected "q"' in steps[5]["expectations"][0]["note"]
    assert "✗ failed  calls/a.yaml:6:7  step 1  call echo" in run("run", "--dry-run", *script(tools__list=tools)).out


def test_a_server_that_dies(run: Run, home: Path) -> None:
    flow(home, "  - call: echo\n    args: {message: x}\n  - call: crash\n  - call: echo\n    args: {message: x}\n")
    flow(home, "  - call: echo\n    args: {message: x}\n", "b")
    ran = run("run", "--json", *DEMO)
    assert ran.code == 4
    assert outcomes(ran) == ["passed", "failed", "not_run"]
    assert ran.json["flows"][1]["outcome"] == "passed"


def test_a_server_that_hangs(run: Run, home: Path) -> None:
    flow(home, "  - call: forget\n  - call: echo\n    args: {message: x}\n")
    ran = run("run", "--json", "--timeout", "1", *DEMO)
    assert ran.code == 5
    assert outcomes(ran) == ["failed", "passed"]
    assert "within 1 s" in failures(steps_of(ran)[0])[0][2]


def test_no_connection(run: Run, home: Path) -> None:
    flow(home, "  - call: echo\n")
    ran = run("run", "--json", "--junit", "r.xml", "--", "/nothing/there")
    assert ran.code == 4
    assert outcomes(ran) == ["not_run"]
    assert ElementTree.parse(home / "r.xml").find(".//error") is not None


@pytest.mark.skipif(os.name != "posix", reason="signals")
def test_an_interrupted_run_writes_its_reports(home: Path) -> None:
    flow(home, "  - call: echo\n    args: {message: x}\n  - call: forget\n  - call: echo\n")
    flow(home, "  - call: echo\n", "b")
    process = subprocess.Popen(
        [*INSPECTOR, "run", "--json", "--junit", "r.xml", "--markdown", "r.md", "--html", "r.html", *DEMO],
        cwd=home, env=environment(home), stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )  # fmt: skip
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        kept = list(home.glob("recordings/*.mcp.jsonl"))
        if kept and any('"send"' in line and '\\"forget\\"' in line for line in kept[0].read_text().splitlines()):
            break  # The list of tools names it as well, in what is received.
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130
    document = json.loads(out)
    assert document["complete"] is False
    assert [[step["outcome"] for step in entry["steps"]] for entry in document["flows"]] == [
        ["passed", "not_run", "not_run"], ["not_run"],
    ]  # fmt: skip
    assert b"interrupted" in err
    assert ElementTree.parse(home / "r.xml").find(".//property[@name='complete']") is not None
    assert "incomplete" in (home / "r.md").read_text()
    assert "incomplete" in (home / "r.html").read_text()


def test_an_interrupt_keeps_the_results_of_flows_that_run_beside_each_other(home: Path) -> None:
    for name in "abc":
        flow(home, "  - call: echo\n    args: {message: x}\n  - call: forget\n", name)
    process = subprocess.Popen(
        [*INSPECTOR, "run", "--json", "--jobs", "3", *DEMO], cwd=home, env=environment(home),
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )  # fmt: skip

    def waiting(file: Path) -> bool:
        return any('"send"' in line and '\\"forget\\"' in line for line in file.read_text().splitlines())

    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and sum(map(waiting, home.glob("recordings/*.mcp.jsonl"))) < 3:
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=60)
    assert process.returncode == 130
    assert [[step["outcome"] for step in entry["steps"]] for entry in json.loads(out)["flows"]] == 3 * [
        ["passed", "not_run"]
    ]


def test_an_interrupt_leaves_flows_that_wait_for_the_shared_session_not_run(home: Path) -> None:
    for name in "ab":
        flow(home, "  - call: forget\n", name)
    process = subprocess.Popen(
        [*INSPECTOR, "run", "--json", "--jobs", "2", "--shared", *DEMO], cwd=home, env=environment(home),
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )  # fmt: skip
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        kept = list(home.glob("recordings/*.mcp.jsonl"))
        if kept and any('"send"' in line and '\\"forget\\"' in line for line in kept[0].read_text().splitlines()):
            break
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=60)
    assert process.returncode == 130
    assert [entry["outcome"] for entry in json.loads(out)["flows"]] == ["not_run", "not_run"]


def test_bail_stops_flows_that_wait_for_the_shared_session(run: Run, script: Script, home: Path) -> None:
    for name in "ab":
        flow(home, "  - call: echo\n    args: {n: 1}\n    expect: {error: true}\n", name)
    server = script(tools__list=TOOLS, tools__call=[result(1), result(1)])
    ran = run("run", "--json", "--bail", "--shared", "--jobs", "2", *server)
    assert ran.code == 5
    assert [entry["outcome"] for entry in ran.json["flows"]] == ["failed", "not_run"]


def test_a_step_whose_capture_fails_has_a_command_that_repeats_it(run: Run, script: Script, home: Path) -> None:
    flow(home, "  - call: echo\n    args: {n: 1}\n    capture: {a: $.nothing}\n")
    ran = run("run", "--json", *script(tools__list=TOOLS, tools__call=result({"a": 1})))
    assert outcomes(ran) == ["failed"]
    assert steps_of(ran)[0]["command"].startswith("inspector call echo n:=1 -- ")


def test_a_list_of_another_length_is_not_aligned_item_by_item(run: Run, script: Script, home: Path) -> None:
    flow(home, "  - call: echo\n    args: {n: 1}\n    expect: {result: {$.structuredContent.rows: []}}\n")
    rows = [{"id": number} for number in range(10_001)]
    ran = run("run", "--json", *script(tools__list=TOOLS, tools__call=result({"rows": rows})))
    failed = [expectation for expectation in steps_of(ran)[0]["expectations"] if not expectation["ok"]]
    assert failed[0]["note"] == "Expected 0 items, found 10,001 items."


def test_a_variable_of_set_that_no_flow_has_is_noted(run: Run, script: Script, home: Path) -> None:
    flow(home, '  - call: echo\n    args: {n: "{{count}}"}\n', head="vars: {count: 1}\n")
    ran = run("run", "--set", "cuont=2", *script(tools__list=TOOLS, tools__call=result({"a": 1})))
    assert "No saved call uses the variable cuont of --set. Did you mean count?" in ran.err
    assert ran.code == 0


# Options


def test_files_and_options_that_are_wrong_send_nothing(run: Run, script: Script, home: Path, tmp_path: Path) -> None:
    server = script(tools__list=TOOLS)
    good = flow(home, "  - call: echo\n")
    for words, problem in (
        (["--environment", "x"], "The environment “x” does not exist"),
        (["--set", "a"], "is not in name=value form"), (["--set", "1=2"], "is not a variable name"), (["nothing"], "does not exist"),
        (["--server", "@nothing"], "nothing"), (["--jobs", "0"], "0"), (["--seed", "x"], "is not a whole number"),
        (["--keep", str(good)], "cannot be written"),
    ):  # fmt: skip
        ran = run("run", *words, *(server if "--server" not in words else []))
        assert ran.code == 2, words
        assert problem in ran.err
    for text, problem in (("  - call: [\n", "calls/z.yaml:"), ("  - call: '{{x}}'\n", "Unknown variable “x”")):
        flow(home, text, "z")
        ran = run("run", *server)
        assert ran.code == 2
        assert problem in ran.err
        assert run("run", "--json", *server).error["line"] > 0
    (home / "calls/z.yaml").unlink()
    assert run("run").err.startswith("error: calls/a.yaml:1:1: The saved call does not name a server.")
    assert not list(home.rglob("*.mcp.jsonl"))
    assert good.exists()
    assert run("run", "--record", "x.mcp.jsonl", *server).code == 2


def test_bail_jobs_and_shared(run: Run, script: Script, home: Path) -> None:
    server = script(tools__list=TOOLS, tools__call=result({"n": 1}))
    for name in "abcd":
        bad = "    expect: {result: {$.structuredContent.n: 2}}\n" if name == "b" else ""
        flow(home, f"  - call: echo\n{bad}  - call: echo\n", name)
    for more in ((), ("--jobs", "3"), ("--shared",), ("--shared", "--jobs", "2")):
        ran = run("run", "--json", *more, *server)
        assert [entry["outcome"] for entry in ran.json["flows"]] == ["passed", "failed", "passed", "passed"]
        recordings = {entry["recording"] for entry in ran.json["flows"]}
        assert len(recordings) == (1 if "--shared" in more else 4)
    ran = run("run", "--json", "--bail", *server)
    assert [entry["outcome"] for entry in ran.json["flows"]] == ["passed", "failed", "not_run", "not_run"]
    assert [step["outcome"] for step in ran.json["flows"][1]["steps"]] == ["failed", "not_run"]


def test_a_dry_run_sends_no_call(run: Run, script: Script, home: Path) -> None:
    server = script(tools__list=TOOLS)
    path = Path(server[-1])
    log = home / "log"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"log": str(log)}))
    flow(
        home,
        "  - call: echo\n    args: {n: 1}\n    capture: {v: $.v}\n  - call: echo\n    args: {n: '{{v}}'}\n"
        "  - call: echo\n    args: {n: x}\n  - call: echo\n  - call: ecko\n",
    )
    ran = run("run", "--json", "--dry-run", *server)
    assert ran.code == 5
    assert outcomes(ran) == ["passed", "passed", "failed", "failed", "failed"]
    assert "Did you mean “echo”?" in ran.out
    assert ran.json["dry_run"] is True
    words = ("--junit", "r.xml", "--markdown", "r.md", "--html", "r.html")
    output = run("run", "--dry-run", *words, *server).out
    assert output.endswith(f"\n{DRY_RUN}\n")
    assert DRY_RUN in (home / "r.md").read_text()
    assert DRY_RUN in (home / "r.html").read_text()
    report = ElementTree.parse(home / "r.xml")
    assert report.find(".//property[@name='dry_run'][@value='true']") is not None
    places = [(case.get("file"), case.get("line")) for case in report.iter("testcase")]
    assert places == [("calls/a.yaml", line) for line in ("3", "6", "9", "10", "11")]
    assert "tools/call" not in log.read_text()


class Refusing(BaseHTTPRequestHandler):
    """Requires a login for each request."""

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.send_response(401)
        self.send_header("WWW-Authenticate", "Bearer")
        self.send_header("Content-Length", "0")
        self.end_headers()

    do_GET = do_POST

    def log_message(self, *_: object) -> None:
        pass


def test_exit_code_3_for_a_login_or_a_consent_that_is_missing(
    run: Run, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    flow(home, "  - call: echo\n")
    with ThreadingHTTPServer(("127.0.0.1", 0), Refusing) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        ran = run("run", "--json", "--junit", "r.xml", f"http://127.0.0.1:{server.server_port}/mcp")
        server.shutdown()
    assert (ran.code, ran.json["exit_code"], outcomes(ran)) == (3, 3, ["not_run"])
    assert (
        "requires authorization (status 401 Unauthorized): Bearer. Log in once with" in ran.json["flows"][0]["problem"]
    )
    assert ElementTree.parse(home / "r.xml").find(".//error") is not None
    monkeypatch.setenv("SHOP_TOKEN", "x")
    entry = {"command": sys.executable, "args": ["-c", ""], "env": {"X": "${SHOP_TOKEN}"}}
    project = home / "project"
    flow(project, "  - call: echo\n")
    (project / ".mcp.json").write_text(json.dumps({"mcpServers": {"shop": entry}}))
    monkeypatch.chdir(project)
    ran = run("run", "@shop")
    assert ran.code == 3
    assert "add --trust" in ran.err


def test_a_pipe_and_a_device_are_no_snapshots(run: Run, script: Script, home: Path) -> None:
    flow(home, "  - call: echo\n    expect: {same_as: pipe}\n  - call: echo\n    expect: {same_as: zero}\n")
    os.mkfifo(home / "calls/pipe")
    (home / "calls/zero").symlink_to("/dev/zero")
    body = {"result": {"content": []}}
    ran = run("run", "--json", *script(tools__list=TOOLS, tools__call=body))
    assert ran.code == 5
    assert "it is not a regular file" in ran.out
    assert "zero leads out of the folder of the saved call." in ran.out


def test_update_writes_and_accepts_snapshots(run: Run, script: Script, home: Path) -> None:
    steps = "  - call: echo\n    expect: {same_as: s/x.json, ignore: [$..at], unordered: [$.structuredContent.rows]}\n"
    flow(home, steps)

    def go(value: Any, *more: str) -> Any:
        body = {"result": {"content": [], "structuredContent": value}}
        return run("run", "--json", *more, *script(tools__list=TOOLS, tools__call=body))

    first = {"n": 1, "at": "x", "rows": [1, 2]}
    assert "Run with --update" in go(first).out
    assert go(first, "--update").code == 0
    assert json.loads((home / "calls/s/x.json").read_text())["structuredContent"] == first
    assert go({"n": 1, "at": "y", "rows": [2, 1]}).code == 0
    ran = go({"n": 2, "at": "y", "rows": [2, 1]})
    assert failures(steps_of(ran)[0]) == [("$.structuredContent.n", "1", "2")]
    assert go({"n": 2, "at": "y", "rows": [2, 1]}, "--update").code == 0
    assert go({"n": 2, "at": "z", "rows": [1, 2]}).code == 0


def test_a_snapshot_is_written_and_read_only_below_the_folder_of_its_flow(
    run: Run, script: Script, home: Path, tmp_path: Path
) -> None:
    elsewhere, folder = tmp_path / "elsewhere", home / "calls"
    elsewhere.mkdir()
    (elsewhere / "mine.json").write_text("{}")
    folder.mkdir()
    (folder / "s").symlink_to(elsewhere)
    (folder / "link.json").symlink_to(elsewhere / "mine.json")
    (folder / "gone.json").symlink_to(elsewhere / "new.json")
    server = script(tools__list=TOOLS, tools__call=result({"n": 1}))
    for name in ("s/mine.json", "s/new.json", "link.json", "gone.json"):
        flow(home, f"  - call: echo\n    expect: {{same_as: {name}}}\n")
        for more in ((), ("--update",)):
            ran = run("run", "--json", *more, *server)
            assert ran.code == 5
            assert f"{name} leads out of the folder of the saved call." in ran.out
    assert [(path.name, path.read_text()) for path in elsewhere.iterdir()] == [("mine.json", "{}")]


def test_a_link_under_the_name_of_a_temporary_file_is_not_followed(run: Run, script: Script, home: Path) -> None:
    mine, kept = home / "mine", home / "kept"
    mine.write_text("mine")
    for link in (home / "calls/s/.x.json.new", kept / ".calls-a.mcp.jsonl.new"):
        link.parent.mkdir(parents=True)
        link.symlink_to(mine)
    answer = result({"key": "abcdef-123456"})
    steps = "  - call: echo\n    capture: {key: $.structuredContent.key}\n    secret: [key]\n"
    flow(home, f"{steps}    expect: {{same_as: s/x.json}}\n")
    ran = run("run", "--update", "--keep", str(kept), *script(tools__list=TOOLS, tools__call=answer))
    assert ran.code == 0, ran.out + ran.err
    assert mine.read_text() == "mine"
    assert "structuredContent" in (home / "calls/s/x.json").read_text()
    assert not (home / "calls/s/x.json").is_symlink()
    assert "abcdef-123456" not in (kept / "calls-a.mcp.jsonl").read_text()


def test_a_snapshot_has_escapes_for_characters_that_move_text(run: Run, script: Script, home: Path) -> None:
    flow(home, "  - call: echo\n    expect: {same_as: x.json, findings: any}\n")
    content = {"a": "\u202eevil\x9b31m\u2028", "b": "\ud800", "c": "ö"}
    server = script(tools__list=TOOLS, tools__call={"result": {"content": [], "structuredContent": content}})
    assert run("run", "--update", *server).code == 0
    text = (home / "calls/x.json").read_text("utf-8")
    assert "\\u202eevil\\u009b31m\\u2028" in text
    assert '"ö"' in text
    assert json.loads(text)["structuredContent"] == content
    assert run("run", *server).code == 0


def test_a_snapshot_without_an_end_is_not_read(run: Run, script: Script, home: Path) -> None:
    flow(home, "  - call: echo\n    expect: {same_as: x.json}\n")
    os.mkfifo(home / "calls/x.json")
    for more in ((), ("--update",)):
        ran = run("run", "--json", *more, *script(tools__list=TOOLS, tools__call=result({})))
        assert ran.code == 5
        assert "not a regular file" in ran.out
    (home / "calls/x.json").unlink()
    with open(home / "calls/x.json", "wb") as file:
        file.truncate(1 << 40)
    ran = run("run", "--json", *script(tools__list=TOOLS, tools__call=result({})))
    assert ran.code == 5
    assert "but the limit is" in ran.out


def test_variables_are_inserted_in_the_method_of_a_notification(run: Run, script: Script, home: Path) -> None:
    server = script(tools__list=TOOLS)
    path, log = Path(server[-1]), home / "log"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"log": str(log)}))
    flow(home, '  - notify: "x/{{name}}/{{{{y}}"\n', head="vars: {name: z}\n")
    assert run("run", *server).code == 0
    assert '"x/z/{{y}}"' in log.read_text()


def test_environments_and_set(run: Run, script: Script, home: Path) -> None:
    server = script(tools__list=TOOLS, tools__call=result({}))
    flow(home, "  - call: echo\n    args: {a: '{{a}}', n: '{{n}}'}\n", head="vars: {n: 1}\n")
    (home / "calls/env").mkdir()
    (home / "calls/env/one.yaml").write_text("a: x\nn: 2\n")
    ran = run("run", "--json", "--environment", "one", "--set", "n=3", *server)
    assert steps_of(ran)[0]["arguments"] == {"a": "x", "n": 3}
    assert run("run", "--set", "n=x", "--set", "a=1", *server).code == 2
    ran = run("run", "--json", "--set", "a:=[1]", *server)
    assert steps_of(ran)[0]["arguments"] == {"a": [1], "n": 1}


def test_the_server_of_the_command_line_wins(run: Run, script: Script, home: Path) -> None:
    flow(home, "  - call: echo\n", head="server: /nothing/there\n")
    server = script(tools__list=TOOLS, tools__call=result({}))
    assert run("run").code == 4
    assert run("run", *server).code == 0
    (home / "c.json").write_text(json.dumps({"servers": {"shop": {"command": server[1], "args": server[2:]}}}))
    for words in (["--server", "@shop"], ["@shop"], ["calls", "@shop"], ["--", "@shop"]):
        ran = run("run", "--config", "c.json", *words)
        assert ran.code == 0, ran.err
        assert ran.out.startswith("@shop  ")
    flow(home, "  - call: echo\n    expect: {error: true}\n", head='server: "@shop"\n')
    ran = run("run", "--config", "c.json")
    assert " @shop\n" in ran.out
    ran = run("run", "--server", "@shp", "--config", "c.json")
    assert ran.code == 2


def test_the_reports(run: Run, script: Script, home: Path) -> None:
    server = script(tools__list=TOOLS, tools__call=[result({"n": "<&>\x00"})])
    flow(
        home,
        "  - call: echo\n    each: [{a: 1}, {a: 2}]\n  - name: 'x < y'\n    call: echo\n"
        "    expect: {result: {$.structuredContent.n: 2}}\n  - call: echo\n    skip: later\n",
        head="name: A | b\n",
    )
    ran = run("run", "--junit", "r.xml", "--markdown", "r.md", "--html", "r.html", *server)
    assert ran.code == 5
    (suite,) = document = ElementTree.parse(home / "r.xml").getroot()
    assert set(document.attrib) == {"tests", "failures", "errors", "time"}, "those that the schema of Jenkins allows"
    assert (suite.get("name"), suite.get("tests"), suite.get("failures"), suite.get("skipped")) == (
        "A | b",
        "4",
        "1",
        "1",
    )
    cases = suite.findall("testcase")
    assert [case.get("name") for case in cases] == ["1 call echo row 1", "1 call echo row 2", "2 x < y", "3 call echo"]
    assert all(float(case.get("time", "-1")) >= 0 for case in cases)
    assert (cases[3].find("skipped").get("message")) == "later"  # type: ignore[union-attr]
    recording = suite.find("properties/property[@name='recording']")
    assert recording is not None
    assert Path(recording.get("value", "")).is_file()
    assert "expected" in (cases[2].find("failure").text or "")  # type: ignore[union-attr]
    assert "**failed**" in (home / "r.md").read_text()
    assert "&lt;" in (home / "r.html").read_text()
    assert Inert((home / "r.html").read_text()).policy
    assert run("run", "--junit", "r.xml", *server).code == 2
    assert run("run", "--junit", "r.xml", "--force", *server).code == 5
    assert run("run", "--junit", "-", *server).out.startswith("<?xml")


def test_the_schema_is_printed(run: Run) -> None:
    ran = run("run", "--schema")
    assert ran.code == 0
    assert ran.json["title"] == "Saved call of Inspector"
