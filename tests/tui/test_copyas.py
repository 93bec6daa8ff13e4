"""A request as curl, as a command of ours, as Python: runnable, and without secrets."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
from typing import Any

import pytest

from inspector.journal.format import Dir
from inspector.tui.log import copy_as
from inspector.tui.log.copy_as import CannotCopy, sent_by_us
from tests.tui.recorded_conversation import Talk, example
from tests.tui.tui_screens import assert_in

URL = {"kind": "http", "url": "https://shop.example/mcp"}


def posted(message: Any, **headers: str) -> Talk:
    talk = Talk(URL)
    fields = [("Host", "shop.example"), ("Content-Type", "application/json"), *headers.items()]
    talk.journal.record_http("post-1", Dir.SEND, method="POST", url="https://shop.example/mcp?a=b", headers=fields)
    talk.send(message, "post-1")
    talk.journal.record_http("post-1", Dir.RECV, status=200, headers=[], ms=12.5)
    talk.receive({"jsonrpc": "2.0", "id": message["id"], "result": {}}, "post-1")
    return talk


def ping(text: str = "") -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": 1, "method": "ping", "params": {"t": text}}


def test_curl_repeats_the_request_with_its_headers_and_body() -> None:
    talk = posted(ping("it's"), **{"Mcp-Protocol-Version": "2025-11-25"})
    for n in (2, 4):
        words = shlex.split(copy_as.curl(talk.journal, n).replace("\\\n", ""))
        assert words[:6] == ["curl", "-gsSN", "-X", "POST", "--url", "https://shop.example/mcp?a=b"]
        assert words[6:10] == ["-H", "Content-Type: application/json", "-H", "Mcp-Protocol-Version: 2025-11-25"]
        assert words[10] == "--data-raw"
        assert json.loads(words[11]) == ping("it's")
    # No file is read for a header.
    talk = posted(ping(), **{"@/etc/passwd": "x"})
    assert "passwd" not in copy_as.curl(talk.journal, 2)


def test_secrets_become_variables() -> None:
    talk = posted(ping(), **{"Authorization": "Bearer abcdefgh", "Mcp-Session-Id": "s3cret-id"})
    command = copy_as.curl(talk.journal, 2)
    assert_in(command, "'Authorization: Bearer '\"$INSPECTOR_TOKEN\"", "'Mcp-Session-Id: '\"$INSPECTOR_SESSION_ID\"")
    assert copy_as.variables(command) == ["INSPECTOR_TOKEN", "INSPECTOR_SESSION_ID"]
    assert "redacted" not in command
    program = copy_as.python(talk.journal, 2)
    assert 'os.environ["INSPECTOR_TOKEN"]' in program
    assert "INSPECTOR_TOKEN" in copy_as.variables(program)
    assert copy_as.variables('--data-raw \'{"name":"INSPECTOR_HOME"}\'') == []
    assert "redacted" not in program
    compile(program, "program", "exec")


@pytest.mark.slow
@pytest.mark.parametrize("text", ["$(id)", "`id`", "\x1b]0;x\x07", "a'b\"c", "\n; rm -rf x", "!!", "‮"])
def test_curl_is_one_command_whatever_the_message_holds(text: str) -> None:
    talk = posted(ping(text))
    command = copy_as.curl(talk.journal, 2)
    assert all(char.isprintable() or char == "\n" for char in command)
    script = command.replace("curl", "printf '%s\\0'", 1)
    printed = subprocess.run(["bash", "-c", script], capture_output=True, check=True).stdout.decode().split("\0")
    assert json.loads(printed[-2]) == ping(text)


@pytest.mark.parametrize(("method", "params", "words"), [
    ("tools/call", {"name": "echo", "arguments": {"message": "hello"}}, "call echo message=hello"),
    ("tools/call", {"name": "echo", "arguments": {"message": "two words"}}, "call echo 'message=two words'"),
    ("tools/call", {"name": "sum", "arguments": {"a": 1, "b": "2"}}, "call sum a:=1 'b:=\"2\"'"),
    ("tools/call", {"name": "x", "arguments": {"a.b": 1}}, "call x --args '{\"a.b\":1}'"),
    ("tools/call", {"name": "-x"}, 'request tools/call \'{"name":"-x"}\''),
    ("tools/call", {"name": "x", "_meta": {"progressToken": 1}}, "call x"),
    ("prompts/get", {"name": "p", "arguments": {"city": "Rome"}}, "prompt p city=Rome"),
    ("resources/read", {"uri": "file:///x"}, "read file:///x"),
    ("tools/list", None, "tools"),
    ("tools/list", {"cursor": "c"}, 'request tools/list \'{"cursor":"c"}\''),
    ("initialize", {"protocolVersion": "2025-11-25"}, "info"),
    ("ping", None, "request ping"),
    ("own/method", [1], "request own/method '[1]'"),
])  # fmt: skip
def test_a_request_as_our_command(method: str, params: Any, words: str) -> None:
    talk = Talk({"kind": "stdio", "argv": ["npx", "-y", "a server"]})
    n = talk.ask(1, method, params)
    assert copy_as.command(talk.journal, n) == f"inspector {words} -- npx -y 'a server'"


@pytest.mark.parametrize(("target", "words"), [
    ({"url": "https://x.example/mcp"}, "https://x.example/mcp"),
    ({"name": "shop", "url": "https://x.example"}, "@shop"),
    ({"argv": ["run", "--token", "***"]}, '-- run --token "$INSPECTOR_SECRET"'),
    ({"argv": ["run"], "env": ["KEY", "not a name", 7], "cwd": "/a b"}, "--cwd '/a b' --env KEY=\"$KEY\" -- run"),
    ({"url": "https://x.example", "headers": ["X-Key"]},
     "--header 'X-Key: '\"$INSPECTOR_HEADER_X_KEY\" https://x.example"),
    ({"argv": "no list"}, "TARGET"), ({"url": "sh -c 'touch pwned'"}, "TARGET"),
    ({"url": "--bearer-env=HOME"}, "TARGET"), ([], "TARGET"),
])  # fmt: skip
def test_the_command_names_the_server_again(target: Any, words: str) -> None:
    talk = Talk({})
    talk.journal.header["target"] = target
    assert copy_as.command(talk.journal, talk.ask(1, "ping")) == f"inspector request ping {words}"


@pytest.mark.slow
def test_python_talks_to_a_stdio_server(tmp_path: Any) -> None:
    server = tmp_path / "server.py"
    server.write_text(
        "import json, sys\n"
        "for line in sys.stdin:\n"
        "    message = json.loads(line)\n"
        "    if 'id' in message:\n"
        "        print(json.dumps({'id': message['id'], 'result': message}), flush=True)\n"
    )
    talk = Talk({"kind": "stdio", "argv": [sys.executable, str(server)]})
    n = talk.call(7, "echo", message='quo"te\u2028')
    program = copy_as.python(talk.journal, n)
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, timeout=30, check=True)
    assert json.loads(done.stdout)["result"]["params"]["arguments"] == {"message": 'quo"te\u2028'}


def test_a_method_is_never_an_option() -> None:
    talk = Talk({"kind": "stdio", "argv": ["server"]})
    with pytest.raises(copy_as.CannotCopy, match="would be read as an option"):
        copy_as.command(talk.journal, talk.ask(1, "--bearer-env=AWS_SECRET_ACCESS_KEY"))


def test_what_cannot_be_copied_says_why() -> None:
    journal = example().journal
    with pytest.raises(CannotCopy, match="not sent over HTTP"):
        copy_as.curl(journal, 4)
    with pytest.raises(CannotCopy, match="not a message that Inspector sent"):
        copy_as.command(journal, 10)
    assert sent_by_us(journal.index, 7) == 4
    assert sent_by_us(journal.index, 5) == 0


def test_a_file_is_named_by_us() -> None:
    talk = Talk()
    assert copy_as.suggested_name(talk.journal, talk.ask(1, "../../etc/x\x1b")) == "etc-x-1.json"
    assert copy_as.suggested_name(talk.journal, talk.receive_raw(b"no \xff json")) == "message-2.bin"
