"""`call`: arguments in, content out, and what the exit code says."""

from __future__ import annotations

import base64
import io
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Run, Script

pytestmark = pytest.mark.slow

SCHEMA = {
    "type": "object",
    "properties": {"message": {"type": "string"}, "count": {"type": "integer"}, "tags": {"type": "array"}},
}
LISTED = {"result": {"tools": [{"name": "t", "inputSchema": SCHEMA}]}}


def sent_arguments(log: Path) -> Any:
    messages = [json.loads(line) for line in log.read_bytes().splitlines()]
    return next(message["params"]["arguments"] for message in messages if message["method"] == "tools/call")


def text(*texts: str, **more: Any) -> dict[str, Any]:
    return {"result": {"content": [{"type": "text", "text": item} for item in texts], **more}}


@pytest.mark.parametrize(
    ("words", "arguments"),
    [
        ([], {}),
        (["message=5", "count=5"], {"message": "5", "count": 5}),
        (["count:=12345678901234567890"], {"count": 12345678901234567890}),
        (["tags:=[1, 2]", "message=a=b"], {"tags": [1, 2], "message": "a=b"}),
        (["--args", '{"message": "x", "count": 1}', "count=2"], {"message": "x", "count": 2}),
        (["--args", "@-"], {"from": "stdin"}),
    ],
)
def test_arguments_take_the_types_of_the_schema(
    run: Run, script: Script, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: list[str], arguments: Any
) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO('{"from": "stdin"}'))
    log = tmp_path / "log"
    ran = run("call", "t", *words, *script(tools__list=LISTED, tools__call=text("ok"), log=str(log)))
    assert (ran.code, ran.out) == (0, "ok\n")
    assert sent_arguments(log) == arguments


def test_the_tools_are_listed_only_where_a_pair_needs_the_schema(run: Run, script: Script, tmp_path: Path) -> None:
    log = tmp_path / "log"
    server = script(tools__list=LISTED, tools__call=text("ok"), log=str(log))
    run("call", "t", "count:=1", *server)
    assert b"tools/list" not in log.read_bytes()
    run("call", "t", "count=1", *server)
    assert b"tools/list" in log.read_bytes()


def test_a_value_that_does_not_fit_the_schema_is_wrong_usage(run: Run, script: Script) -> None:
    ran = run("call", "t", "count=many", *script(tools__list=LISTED, tools__call=text("ok")))
    assert ran.code == 2
    assert "count" in ran.err


def test_a_key_that_the_schema_does_not_know_is_sent_with_a_note(run: Run, script: Script, tmp_path: Path) -> None:
    log = tmp_path / "log"
    ran = run("call", "t", "mesage=x", *script(tools__list=LISTED, tools__call=text("ok"), log=str(log)))
    assert ran.code == 0
    assert "did you mean message?" in ran.err
    assert sent_arguments(log) == {"mesage": "x"}


CONTENT: list[dict[str, Any]] = [
    {"type": "text", "text": "two\nlines\x1b[2J"},
    {"type": "image", "mimeType": "image/png", "data": base64.b64encode(b"\x89PNG" * 100).decode()},
    {"type": "audio", "mimeType": "audio/wav", "data": "not base64!"},
    {"type": "resource", "resource": {"uri": "x:y", "text": "embedded"}},
    {"type": "resource", "resource": {"uri": "x:z", "blob": "AAEC", "mimeType": "application/x"}},
    {"type": "resource_link", "uri": "file:///l", "name": "l", "mimeType": "text/plain", "size": 1234},
    {"type": "hologram", "depth": 3},
]


def test_each_kind_of_content_has_its_line(run: Run, script: Script) -> None:
    ran = run("call", "t", *script(tools__call={"result": {"content": [*CONTENT, 7, {"type": "text"}]}}))
    assert ran.code == 0
    assert ran.out.split("\n") == [
        "two",
        "lines␛[2J",
        "image: image/png  400 B",
        "audio: audio/wav  not valid base64",
        "embedded",
        "blob: application/x  3 B",
        "link: file:///l  l  text/plain  1.2 kB",
        "{",
        '  "type": "hologram",',
        '  "depth": 3',
        "}",
        "7",
        "",
        "",
    ]
    assert ran.err == "note: -o FILE writes content that is not text.\n"


def test_what_is_not_text_is_saved_under_names_of_ours(run: Run, script: Script, tmp_path: Path) -> None:
    ran = run("call", "t", "-o", str(tmp_path / "out.bin"), *script(tools__call={"result": {"content": CONTENT}}))
    assert ran.code == 0
    assert (tmp_path / "out.bin").read_bytes() == b"\x89PNG" * 100
    assert (tmp_path / "out-2.bin").read_bytes() == b"\0\1\2"
    assert (tmp_path / "out.bin").stat().st_mode & 0o777 == 0o600
    assert f"written: {tmp_path / 'out-2.bin'}\n" in ran.err


def test_a_text_result_is_saved_as_text_and_nothing_is_an_error(run: Run, script: Script, tmp_path: Path) -> None:
    assert run("call", "t", "-o", str(tmp_path / "t"), *script(tools__call=text("a", "b"))).code == 0
    assert (tmp_path / "t").read_text() == "a\nb"
    ran = run("call", "t", "-o", str(tmp_path / "n"), *script(tools__call={"result": {"content": []}}))
    assert ran.code == 2
    assert "nothing to save" in ran.err
    ran = run("call", "t", "-o", str(tmp_path / "no" / "t"), *script(tools__call=text("a")))
    assert ran.code == 2
    assert "cannot be written" in ran.err


def test_structured_content_of_null_is_not_shown(run: Run, script: Script) -> None:
    ran = run("call", "t", *script(tools__call=text("three", structuredContent=None)))
    assert (ran.code, ran.out.strip()) == (0, "three")


def test_structured_content_is_shown_unless_a_text_says_it_already(run: Run, script: Script) -> None:
    structured = {"sum": 3}
    ran = run("call", "t", *script(tools__call=text("three", structuredContent=structured)))
    assert ran.out == 'three\n{\n  "sum": 3\n}\n'
    ran = run("call", "t", *script(tools__call=text('{ "sum" : 3 }', structuredContent=structured)))
    assert ran.out == '{ "sum" : 3 }\n'


def test_json_is_the_exact_result_as_the_server_wrote_it(run: Run, script: Script) -> None:
    exact = '{"content": [], "a": 1.0e+2, "big": 12345678901234567890.5, "a": "\\u00e9", "t": "</s> é"}'
    raw = '{"jsonrpc":"2.0", "result" : {"result":1}, "id":$ID, "result": ' + exact + " }"
    ran = run("call", "t", "--json", *script(tools__call={"raw": raw}))
    assert ran.out == exact + "\n"


def test_words_that_are_not_json_are_replaced_and_said_to_be(run: Run, script: Script) -> None:
    raw = '{"jsonrpc":"2.0","id":$ID,"result":{"content":[],"a":[NaN,-Infinity,"NaN"]}}'
    ran = run("call", "t", "--json", *script(tools__call={"raw": raw}))
    assert ran.out == '{"content":[],"a":[null,-1e999,"NaN"]}\n'
    assert "NaN or Infinity" in ran.err


def test_a_tool_that_fails_ends_with_one_and_its_result_on_stdout(run: Run, script: Script) -> None:
    server = script(tools__call=text("out of paper", isError=True))
    ran = run("call", "t", *server)
    assert (ran.code, ran.out, ran.err) == (1, "out of paper\n", "The tool failed (isError).\n")
    ran = run("call", "t", "--json", *server)
    assert (ran.code, ran.json["isError"], ran.err) == (1, True, "")


def test_the_data_of_an_error_is_shown_safely(run: Run, script: Script) -> None:
    error = {"code": -32000, "message": "refused", "data": {"why": "\x1b[2Jfull", "left": 0}}
    ran = run("call", "t", *script(tools__call={"error": error}))
    assert ran.code == 1
    assert 'error -32000: refused\n  data: {"why":"\\u001b[2Jfull","left":0}\n' in ran.err


@pytest.mark.parametrize("result", [None, [], "text", 7, {}, {"content": None}, {"content": "x"}, {"isError": "yes"}])
def test_a_result_of_any_shape_is_printed(run: Run, script: Script, result: Any) -> None:
    ran = run("call", "t", *script(tools__call={"result": result}))
    assert ran.code == 0
    assert ran.err == ""
    assert run("call", "t", "--json", *script(tools__call={"result": result})).json == result


def test_log_messages_come_before_the_result_and_quiet_leaves_them_out(run: Run, script: Script) -> None:
    def log(**params: Any) -> dict[str, Any]:
        return {"jsonrpc": "2.0", "method": "notifications/message", "params": params}

    before = [
        log(level="info", logger="db", data="con\x1bnected\nnow"),
        log(level="error", data={"code": [1]}),
        log(level=5, logger=["x"], data=None),
        {"jsonrpc": "2.0", "method": "notifications/message", "params": "odd"},
    ]
    server = script(tools__call={"before": before, **text("ok")})
    ran = run("call", "t", *server)
    assert ran.out == "ok\n"
    assert ran.err.split("\n") == [
        "info db: con␛nected",
        "  now",
        'error: {"code": [1]}',
        '5 ["x"]: null',
        "log: null",
        "",
    ]
    assert run("call", "t", "--quiet", *server).err == ""


def test_what_the_server_asked_and_was_not_offered_is_reported_with_the_option(run: Run, script: Script) -> None:
    ask = {"jsonrpc": "2.0", "id": "q", "method": "sampling/createMessage", "params": {}}
    ran = run("call", "t", *script(tools__call={"before": [ask, {**ask, "id": "r"}], **text("ok")}))
    assert ran.err.splitlines() == [
        "note: The server requested sampling, which the client did not declare; --sampling answers it.",
        "note: The server requested sampling 2 times; all were refused.",
    ]


@pytest.mark.parametrize("options", [[], ["--sampling", "x"]])
def test_a_request_in_an_era_without_them_is_reported_without_an_option(
    run: Run, script: Script, options: list[str]
) -> None:
    ask = {"jsonrpc": "2.0", "id": "q", "method": "sampling/createMessage", "params": {}}
    discovered = {"resultType": "complete", "supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}}}
    server = script(server__discover={"result": discovered}, tools__call={"before": [ask, ask], **text("ok")})
    assert run("call", "t", *options, *server).err.splitlines()[:2] == [
        "note: The server requested sampling; 2026-07-28 has no requests of servers: not answered.",
        "note: The server requested sampling 2 times; none was answered.",
    ]


@pytest.mark.parametrize(
    ("options", "method", "params", "answer"),
    [
        (["--sampling", "decline"], "sampling/createMessage", {}, {"error": {"code": -1}}),
        (["--sampling", "yes"], "sampling/createMessage", {}, {"result": {"content": {"text": "yes"}}}),
        (["--elicit", "decline"], "elicitation/create", {}, {"result": {"action": "decline"}}),
        (["--elicit", "cancel"], "elicitation/create", {}, {"result": {"action": "cancel"}}),
        (
            ["--elicit", '{"a": 1}'],
            "elicitation/create",
            {"requestedSchema": {"type": "object", "properties": {"a": {"type": "integer"}}}},
            {"result": {"action": "accept", "content": {"a": 1}}},
        ),
        (
            ["--elicit", "defaults"],
            "elicitation/create",
            {"requestedSchema": {"type": "object", "properties": {"a": {"type": "integer", "default": 4}}}},
            {"result": {"action": "accept", "content": {"a": 4}}},
        ),
        (["--root", "file:///srv/x"], "roots/list", {}, {"result": {"roots": [{"uri": "file:///srv/x", "name": "x"}]}}),
    ],
)
def test_standing_answers_answer_what_the_server_asks(
    run: Run, script: Script, tmp_path: Path, options: list[str], method: str, params: Any, answer: dict[str, Any]
) -> None:
    log = tmp_path / "log"
    ask = {"jsonrpc": "2.0", "id": "q", "method": method, "params": params}
    server = script(tools__call={"before": [ask], **text("ok")}, log=str(log))
    assert run("call", "t", *options, *server).code == 0
    messages = [json.loads(line) for line in log.read_bytes().splitlines()]
    given = next(message for message in messages if message.get("id") == "q")
    assert contains(given, answer)
    topic = method.partition("/")[0]
    opened = next(message for message in messages if message.get("method") == "initialize")
    assert topic in opened["params"]["capabilities"]


def contains(whole: Any, part: Any) -> bool:
    if isinstance(part, dict):
        return isinstance(whole, dict) and all(key in whole and contains(whole[key], part[key]) for key in part)
    return bool(whole == part)


@pytest.mark.parametrize("option", ["--sampling", "--elicit"])
def test_ask_needs_the_interface_or_a_terminal(run: Run, script: Script, option: str) -> None:
    ran = run("call", "t", option, "ask", *script())
    assert ran.code == 2
    assert "works only in the interface" in ran.err


@pytest.mark.parametrize(
    ("texts", "structured"),
    [
        (["# Revenue\n\nrows"], {"result": "# Revenue\n\nrows"}),
        (["a", "b"], {"result": ["a", "b"]}),
        (['{"n": 1}', '{"n": 2}'], {"result": [{"n": 1}, {"n": 2}]}),
        (["a", "b"], {"text": "a\nb"}),
        (["7"], {"result": 7}),
    ],
)
def test_structured_content_that_repeats_the_text_is_printed_once(
    run: Run, script: Script, texts: list[str], structured: Any
) -> None:
    server = script(tools__call=text(*texts, structuredContent=structured))
    assert run("call", "t", *server).out == "".join(f"{one}\n" for one in texts)


def test_the_form_of_the_output_can_be_chosen(run: Run, script: Script) -> None:
    result = '{"content":[{"type":"text","text":"one\x9b"}],"structuredContent":{"n":1.50}}'
    server = script(tools__call={"raw": f'{{"jsonrpc":"2.0","id":$ID,"result":{result}}}'})
    assert run("call", "t", "--format", "text", *server).out == "one‹9B›\n"
    assert run("call", "t", "--format", "structured", *server).out == '{"n":1.50}\n'
    assert run("call", "t", "--format", "json", *server).json["structuredContent"] == {"n": 1.5}
    assert set(run("call", "t", "--format", "raw", *server).json) == {"jsonrpc", "id", "result"}
    assert r"\u009b" in run("call", "t", "--format", "raw", *server).out
    assert run("call", "t", "--format", "text", "--json", *server).code == 2
    ran = run("call", "t", "--format", "structured", *script(tools__call=text("one")))
    assert (ran.code, ran.out) == (1, "")
    assert "no structured content" in ran.err


PROGRESS = {"jsonrpc": "2.0", "method": "notifications/progress"}


def broken(kind: str) -> dict[str, Any]:
    tool = {"name": "t", "inputSchema": SCHEMA, "outputSchema": {"type": "object", "required": ["n"]}}
    right = text("x", structuredContent={"n": 1})
    replies: dict[str, Any] = {"tools/list": [{"result": {"tools": [tool]}}], "tools/call": [right]}
    if kind == "schema":
        replies["tools/call"] = [text("x", structuredContent={"m": 1})]
    elif kind == "progress":
        params = [{"progressToken": 2, "progress": amount} for amount in (2, 1)]
        replies["tools/call"] = [right | {"before": [PROGRESS | {"params": one} for one in params]}]
    elif kind == "second":
        again = {"jsonrpc": "2.0", "id": 1, "result": {"content": []}}
        replies["tools/call"] = [right | {"before": [again]}]
    return replies


@pytest.mark.parametrize("kind", ["schema", "progress"])
def test_an_answer_that_breaks_a_rule_is_reported_and_fails_with_strict(run: Run, script: Script, kind: str) -> None:
    server = script(broken(kind))
    ran = run("call", "t", "--strict", *server)
    assert ran.code == 1
    assert ran.err.startswith("note: 1 finding (")
    assert ran.out.startswith("x\n")


@pytest.mark.parametrize(
    ("words", "note"),
    [
        (["t"], ""),
        (
            ["t", "count=1"],
            "note: message is required. The server accepted the call.\n",
        ),
        (["tt", "count=1"], "note: The server does not list a tool “tt”. Did you mean “t”? It accepted the call.\n"),
        (["t", "message=x"], ""),
    ],
)
def test_what_a_lenient_server_accepts_is_a_note(run: Run, script: Script, words: list[str], note: str) -> None:
    schema = SCHEMA | {"required": ["message"]}
    listed = {"result": {"tools": [{"name": "t", "inputSchema": schema}]}}
    ran = run("call", *words, *script(tools__list=listed, tools__call=text("ok")))
    assert (ran.code, ran.out, ran.err) == (0, "ok\n", note)
    assert run("call", *words, *script(tools__list=listed, tools__call=text("no", isError=True))).err.count("note") == 0


@pytest.mark.parametrize(
    ("words", "failure", "requests", "hint"),
    [
        ([], {"error": {"code": -32602, "message": "no"}}, 1, "message is required"),
        ([], text("Error executing tool t: 2 errors", isError=True), 1, "message is required"),
        (["count=1"], text("'message'", isError=True), 1, "message is required"),
        ([], text("Fire!", isError=True), 0, ""),
        (["message=x"], text("Error executing tool t", isError=True), 1, ""),
    ],
    ids=["invalid parameters", "names the tool", "list was read", "no reason to read the list", "nothing is missing"],
)
def test_a_failed_call_names_the_required_arguments_that_it_does_not_have(
    run: Run, script: Script, tmp_path: Path, words: list[str], failure: dict[str, Any], requests: int, hint: str
) -> None:
    log = tmp_path / "log"
    listed = {"result": {"tools": [{"name": "t", "inputSchema": SCHEMA | {"required": ["message"]}}]}}
    ran = run("call", "t", *words, *script(tools__list=listed, tools__call=failure, log=str(log)))
    assert ran.code == 1
    assert log.read_text().count("tools/list") == requests
    assert ("is required." in ran.err) == bool(hint)
    assert hint in ran.err


def test_a_second_answer_is_reported_without_strict(run: Run, script: Script) -> None:
    server = script(broken("second"))
    ran = run("call", "t", "message=x", *server)
    assert ran.code == 0
    assert "BASE-02" in ran.err
    assert run("call", "t", "message=x", "--strict", *server).code == 1


def test_a_right_answer_is_not_doubted(run: Run, script: Script) -> None:
    ran = run("call", "t", "message=x", "--strict", *script(broken("")))
    assert (ran.code, ran.err) == (0, "")


@pytest.mark.parametrize("refusal", ["error", "isError"])
def test_a_tool_that_is_not_listed_is_reported_with_the_nearest(run: Run, script: Script, refusal: str) -> None:
    failed = {
        "error": {"error": {"code": -32602, "message": "Unknown tool: ecko"}},
        "isError": {
            "result": {"isError": True, "content": [{"type": "text", "text": "No tool ecko or ask-the-model"}]}
        },
    }[refusal]
    tools = [{"name": name, "inputSchema": {}} for name in ("echo", *(f"tool-{number}" for number in range(11)))]
    server = script(tools__call=failed, tools__list={"result": {"tools": tools}})
    assert "does not list a tool “ecko”. Did you mean “echo”?" in run("call", "ecko", *server).err
    hidden = run("call", "ask-the-model", *server).err
    some = "does not list a tool “ask-the-model”. It lists echo, tool-0, tool-1, tool-2, tool-3, tool-4,"
    assert f"{some} tool-5, tool-6, tool-7, tool-8 and 2 more. Some servers" in " ".join(hidden.split())
    assert "try --sampling TEXT or --elicit defaults or --root DIR." in " ".join(hidden.split())
    assert "--sampling" not in run("call", "ask-the-model", "--sampling", "Hi", *server).err
    assert "does not list" not in run("call", "echo", *server).err


@pytest.mark.parametrize("failure", ["error", "isError"])
def test_a_tool_that_cannot_ask_in_this_revision_names_one_that_can(run: Run, script: Script, failure: str) -> None:
    message = "Cannot send 'elicitation/create': this transport context has no back-channel."
    failed = {
        "error": {"error": {"code": -32600, "message": message}},
        "isError": {
            "result": {"resultType": "complete", "isError": True, "content": [{"type": "text", "text": message}]}
        },
    }[failure]
    discovered = {
        "resultType": "complete",
        "supportedVersions": ["2026-07-28"],
        "capabilities": {"tools": {}},
        "serverInfo": {"name": "scripted", "version": "1"},
    }
    ran = run("call", "refund", *script(server__discover={"result": discovered}, tools__call=failed))
    assert ran.code == 1
    assert "Try 2025-11-25. Choose it with --revision 2025-11-25." in ran.err


def test_an_error_as_json_is_one_line_and_names_the_recording(run: Run, script: Script) -> None:
    refused = {"error": {"code": -32602, "message": "two\nlines"}}
    ran = run("call", "t", "--json", *script(tools__call=refused, tools__list=LISTED))
    assert ran.code == 1
    [line] = (ran.out + ran.err).splitlines()
    error = json.loads(line)["error"]
    assert error["rpc_error"]["message"] == "two\nlines"
    assert Path(error["recording"]).read_text(encoding="utf-8").splitlines()[-1]
