"""`info`, `read`, `prompt`, `complete`, `request`: what they send and what they print."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from inspector.version import __version__
from tests.cli.conftest import Run, Script

pytestmark = pytest.mark.slow

HELLO = {
    "protocolVersion": "2025-06-18",
    "capabilities": {"tools": {"listChanged": True, "x": False}, "logging": {}, "odd": "yes"},
    "serverInfo": {"name": "n\x1b[1m", "version": "1", "title": "The Server", "websiteUrl": "https://s.example"},
    "instructions": "Be kind.\n\nTwice.",
    "_meta": {"k": 1.5},
}


def params_of(log: Path, method: str) -> list[Any]:
    messages = [json.loads(line) for line in log.read_bytes().splitlines()]
    return [message.get("params") for message in messages if message.get("method") == method]


def test_info_tells_who_the_server_is(run: Run, script: Script) -> None:
    ran = run("info", *script(initialize={"result": HELLO}))
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.split("\n") == [
        "server      n␛[1m  1",
        "title       The Server",
        "website     https://s.example",
        "era         legacy (server/discover got error -32601)",
        "revision    2025-06-18",
        "transport   stdio",
        "can         tools (listChanged), logging, odd",
        "instructions",
        "  Be kind.",
        "",
        "  Twice.",
        "",
    ]


def test_info_as_json_keeps_all_that_the_server_said(run: Run, script: Script, tmp_path: Path) -> None:
    kept = tmp_path / "kept.mcp.jsonl"
    server = script(initialize={"result": {**HELLO, "era": "a lie"}})
    ran = run("info", "--json", "--record", str(kept), *server)
    members = {key: value for key, value in HELLO.items()}
    client = {"name": "inspector", "title": "Inspector", "version": __version__}
    ours = {"era": "legacy", "revision": "2025-06-18", "transport": "stdio", "client": client, "extensions": []}
    assert ran.json == ours | members
    assert run("info", "--json", str(kept)).json == ran.json | {"transport": "recording"}


@pytest.mark.parametrize("info", [None, [], "x", {"name": {"a": 1}, "version": None, "title": 5}])
def test_info_of_a_server_that_says_odd_things(run: Run, script: Script, info: Any) -> None:
    ran = run("info", *script(initialize={"result": {"protocolVersion": "2025-11-25", "serverInfo": info}}))
    assert ran.code == 0
    assert ran.out.startswith("server      (unnamed)")


def test_read_prints_text_and_describes_bytes(run: Run, script: Script, tmp_path: Path) -> None:
    contents = [
        {"uri": "a:1", "mimeType": "text/plain", "text": "one\x07\ntwo"},
        {"uri": "a:2", "mimeType": "image/png", "blob": "AAEC"},
    ]
    log = tmp_path / "log"
    server = script(resources__read={"result": {"contents": contents}}, log=str(log))
    ran = run("read", "a:1", *server)
    assert ran.out == "[a:1  text/plain]\none␇\ntwo\n[a:2  image/png]\nblob: image/png  3 B\n"
    assert params_of(log, "resources/read")[0]["uri"] == "a:1"
    assert run("read", "a:1", "--json", *server).json == {"contents": contents}
    ran = run("read", "a:1", "-o", str(tmp_path / "b"), *server)
    assert (ran.code, ran.out) == (0, "")
    assert (tmp_path / "b").read_bytes() == b"\0\1\2"


def test_one_text_is_printed_alone(run: Run, script: Script) -> None:
    server = script(resources__read={"result": {"contents": [{"uri": "a:1", "text": "just this\n\n"}]}})
    assert run("read", "a:1", *server).out == "just this\n\n"


@pytest.mark.parametrize("result", [None, [1], {}, {"contents": [None, "x", {"text": 1}]}, {"contents": "no"}])
@pytest.mark.parametrize("verb", ["read", "prompt"])
def test_results_of_any_shape_are_printed(run: Run, script: Script, verb: str, result: Any) -> None:
    odd = {"messages": result["contents"]} if isinstance(result, dict) and result else result
    ran = run(verb, "x", *script(resources__read={"result": result}, prompts__get={"result": odd}))
    assert (ran.code, ran.err) == (0, "")


def test_prompt_prints_each_message_under_its_role(run: Run, script: Script, tmp_path: Path) -> None:
    messages = [
        {"role": "user", "content": {"type": "text", "text": "Hello\nthere"}},
        {"role": "assistant", "content": [{"type": "text", "text": "Hi"}, {"type": "image", "data": "AA=="}]},
        "odd",
    ]
    log = tmp_path / "log"
    server = script(prompts__get={"result": {"messages": messages}}, log=str(log))
    ran = run("prompt", "greet", "who=Ada", "a.b:=[1]", "--args", '{"n": 5}', *server)
    assert ran.out == 'user:\n  Hello\n  there\nassistant:\n  Hi\n  image: no MIME type  1 B\n"odd"\n'
    assert params_of(log, "prompts/get")[0]["arguments"] == {"n": "5", "who": "Ada", "a.b": "[1]"}
    assert run("prompt", "greet", "--json", *server).json == {"messages": messages}


def test_prompt_refuses_an_argument_that_is_reported_to_be_json_and_is_not(run: Run, script: Script) -> None:
    ran = run("prompt", "greet", "a:=[", *script())
    assert ran.code == 2
    assert "a:= needs JSON" in ran.err


@pytest.mark.parametrize(
    ("kind", "ref"),
    [("prompt", {"type": "ref/prompt", "name": "x:y"}), ("template", {"type": "ref/resource", "uri": "x:y"})],
)
def test_complete_asks_with_what_was_chosen_and_prints_values(
    run: Run, script: Script, tmp_path: Path, kind: str, ref: dict[str, str]
) -> None:
    log = tmp_path / "log"
    answer = {"completion": {"values": ["py\x1b", "perl", 7], "total": 2}, "more": 1.0}
    server = script(completion__complete={"result": answer}, log=str(log))
    ran = run("complete", kind, "x:y", "lang", "p", "--with", "a=b=c", *server)
    assert ran.out == "py␛\nperl\n"
    asked = params_of(log, "completion/complete")[0]
    assert asked["ref"] == ref
    assert asked["argument"] == {"name": "lang", "value": "p"}
    assert asked["context"] == {"arguments": {"a": "b=c"}}
    assert run("complete", kind, "x:y", "lang", "", "--json", *server).json == answer


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        (("prompt", "revieew"), "does not list a prompt “revieew”. Did you mean “review”?"),
        (("read", "demo://lgo"), "does not list a resource “demo://lgo”. Did you mean “demo://logo”?"),
        (("complete", "prompt", "revieew", "lang", "p"), "a prompt “revieew”. Did you mean “review”?"),
        (("complete", "prompt", "review", "lnag", "p"), "no argument “lnag”. Did you mean “lang”?"),
    ],
)
def test_what_is_not_listed_is_reported_with_the_nearest(
    run: Run, script: Script, words: tuple[str, ...], hint: str
) -> None:
    unknown = {"error": {"code": -32602, "message": "unknown"}}
    server = script(
        prompts__get=unknown,
        resources__read=unknown,
        completion__complete={"result": {"completion": {"values": []}}},
        prompts__list={"result": {"prompts": [{"name": "review", "arguments": [{"name": "lang"}]}]}},
        resources__list={"result": {"resources": [{"name": "logo", "uri": "demo://logo"}]}},
    )
    ran = run(*words, *server)
    assert hint in ran.err
    assert "Did you mean" not in run("read", "far://away", *server).err, "a resource need not be listed"


def test_a_refused_prompt_names_the_required_arguments_that_it_did_not_get(run: Run, script: Script) -> None:
    declared = [{"name": name, "required": True} for name in "abcde"] + [{"name": "f"}]
    server = script(
        prompts__get={"error": {"code": -32602, "message": "no"}},
        prompts__list={"result": {"prompts": [{"name": "review", "arguments": declared}]}},
    )
    hint = "hint: b, c, d and 1 more are required."
    assert hint in run("prompt", "review", "a=1", *server).err
    assert "hint:" not in run("prompt", "review", *(f"{name}=1" for name in "abcde"), *server).err


def test_request_sends_exactly_what_was_given(run: Run, script: Script, tmp_path: Path) -> None:
    log = tmp_path / "log"
    server = script(x__y={"raw": '{"jsonrpc":"2.0","id":$ID,"result":{"a":1.50,"b":[],"c":"\u202e"}}'}, log=str(log))
    ran = run("request", "x/y", '{"p": [1, null]}', *server)
    assert ran.out == '{\n  "a": 1.50,\n  "b": [],\n  "c": "‹202E›"\n}\n'
    assert params_of(log, "x/y") == [{"p": [1, None]}]
    assert run("request", "x/y", "--json", *server).out == r'{"a":1.50,"b":[],"c":"\u202e"}' + "\n"
    assert params_of(log, "x/y")[1] is None
    file = tmp_path / "params.json"
    file.write_text('{"q": 1}')
    run("request", "x/y", "--params", f"@{file}", *server)
    assert params_of(log, "x/y")[2] == {"q": 1}


def test_request_sends_notifications_without_waiting(run: Run, script: Script, tmp_path: Path) -> None:
    log = tmp_path / "log"
    server = script(log=str(log))
    ran = run("request", "notifications/x", '{"a": 1}', "--json", *server)
    assert (ran.code, ran.json) == (0, None)
    assert params_of(log, "notifications/x") == [{"a": 1}]
    assert "notifications have no response" in run("request", "notifications/x", *server).err


def test_every_verb_works_on_the_demo_server(run: Run, demo: list[str], tmp_path: Path) -> None:
    assert run("call", "echo", "message=hi", *demo).out == "hi\n"
    assert run("call", "add", "a=2", "b=3", *demo).code == 0
    assert run("call", "draw-picture", "-o", str(tmp_path / "p.png"), *demo).code == 0
    assert (tmp_path / "p.png").read_bytes().startswith(b"\x89PNG")
    assert "demo server" in run("read", "demo://readme", *demo).out
    assert run("complete", "prompt", "explain-code", "language", "p", *demo).out == "python\n"
    assert "echo" in run("tools", *demo).out
