"""Schemas that recurse, are huge, or mean harm: forms, arguments, validation and judging take bounded work."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from cases import CANARY, CASES, LISTS

from inspector.cli.open_recording import whole_journal
from inspector.errors import SchemaError
from inspector.protocol.validation import Validator
from tests.bad_input.conftest import PATIENCE, SERVERS, Run, Serve
from tests.processes import ROOT

SECONDS, BYTES = 20, 2 << 30
"""Time of the processor and memory that a process may take; what is not bounded takes more."""
# Does everything that is done with a schema, to every tool of a list.
EVERYTHING = """
import json, resource, sys
resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))
resource.setrlimit(resource.RLIMIT_AS, (BYTES, BYTES))
from inspector.check.judge.judge import Judge
from inspector.errors import InspectorError
from inspector.journal.journal import Journal
from inspector.protocol.assignments import parse_assignments
from inspector.protocol.forms.form import FIELD_LIMIT, UNSET, Form
from inspector.protocol.validation import Validator
from inspector.protocol import jsonrpc
answer = sys.stdin.buffer.read()
tools = [tool for tool in jsonrpc.parse(answer)["result"]["tools"] if isinstance(tool, dict)]
journal = Journal.unnamed({})
hello = {"jsonrpc": "2.0", "id": 0, "result": {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}}}
def ask(id, method, params, reply):
    message = jsonrpc.request(id, method, params)
    journal.record_sent("stdio", jsonrpc.encode(message), message)
    journal.record_received("stdio", [reply])
ask(0, "initialize", {"protocolVersion": "2025-11-25", "capabilities": {}}, jsonrpc.encode(hello))
ask(1, "tools/list", None, answer)
for number, tool in enumerate(tools, 2):
    form = Form(tool.get("inputSchema"))
    value = form.defaults()
    fields = form.fields()
    assert len(fields) <= FIELD_LIMIT
    for field in fields[:20]:
        form.read(field.path, "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!")
    form.errors()
    try:
        parse_assignments(["x=aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!"], tool.get("inputSchema"))
    except InspectorError:
        pass
    for key in ("inputSchema", "outputSchema"):
        try:
            validator = Validator(tool.get(key))
            for given in (value, {"x": "a" * 40 + "!"}, {"x": {"next": {"next": {}}, "self": {"self": {}}}}, None, []):
                validator.errors(None if given is UNSET else given)
        except InspectorError:
            pass
    name = tool.get("name")
    params = {"name": name if isinstance(name, str) else "x", "arguments": {"x": "a" * 40 + "!"}}
    result = jsonrpc.result(number, {"content": [], "structuredContent": {"self": {"self": 1}}})
    ask(number, "tools/call", params, jsonrpc.encode(result))
Judge(journal).run_all()
print("done", len(tools))
"""
# Asks with the schema that is its argument, and answers the call with the answer.
ELICITS = """
import json, sys
def send(**message):
    sys.stdout.write(json.dumps({"jsonrpc": "2.0"} | message) + chr(10))
    sys.stdout.flush()
for line in sys.stdin:
    m = json.loads(line)
    if m.get("method") == "initialize":
        r = {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": {"name": "x", "version": "1"}}
        send(id=m["id"], result=r)
    elif m.get("method") == "tools/call":
        call = m["id"]
        schema = json.loads(sys.argv[1])
        send(id="q", method="elicitation/create", params={"message": "?", "requestedSchema": schema})
    elif m.get("id") == "q":
        send(id=call, result={"content": [{"type": "text", "text": json.dumps(m)}]})
"""


def answer_of(name: str) -> bytes:
    """The list of tools of a case, without the one that is nested too deeply for any reader."""
    (message,) = CASES[name].messages(1)
    head, deep, _ = message.partition(b',{"name":"deep"')
    return head + b"]}}" if deep else message


def do_everything(answer: bytes) -> subprocess.CompletedProcess[bytes]:
    code = EVERYTHING.replace("SECONDS", str(SECONDS)).replace("BYTES", str(BYTES))
    return subprocess.run(
        [sys.executable, "-c", code], input=answer, capture_output=True, cwd=ROOT, timeout=4 * PATIENCE
    )


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in LISTS if name != "repeated-cursor"])
def test_everything_that_is_done_with_a_schema_is_bounded(name: str) -> None:
    done = do_everything(answer_of(name))
    assert done.stderr.decode() == ""
    count = sum(isinstance(tool, dict) for tool in json.loads(answer_of(name))["result"]["tools"])
    assert done.stdout == b"done %d\n" % count


@pytest.mark.slow
def test_nothing_is_fetched() -> None:
    with socket.socket() as canary:
        canary.bind(("127.0.0.1", 0))
        canary.listen()
        canary.setblocking(False)
        url = f"http://127.0.0.1:{canary.getsockname()[1]}/canary.json".encode()
        answer = answer_of("malicious-schema").replace(CANARY.encode(), url)
        assert answer.count(url) == 3
        assert do_everything(answer).returncode == 0
        with pytest.raises(BlockingIOError):
            canary.accept()


def test_no_file_is_read(tmp_path: Path) -> None:
    secret = tmp_path / "secret.json"
    secret.write_text('{"type": "integer"}')
    with pytest.raises(SchemaError):
        Validator({"$ref": secret.as_uri()})


@pytest.mark.slow
def test_a_list_with_a_schema_too_deep_to_be_read_has_its_other_tools(run: Run, serve: Serve, recording: Path) -> None:
    ran = run("tools", "--record", str(recording), *serve("malicious-schema"))
    assert ran.code == 0
    assert [line.split()[0] for line in ran.out.splitlines()][:2] == ["fetch", "fetch-dialect"]
    assert "deep" in ran.out
    with whole_journal(recording) as journal:
        (sent,) = CASES["malicious-schema"].messages(1)
        assert sent in [event.bytes for event in journal.events()]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["root", "itself", "circle", "list", "required", "choice", "dynamic", "output"])
def test_tools_with_recursive_schemas_can_be_called(run: Run, serve: Serve, name: str) -> None:
    ran = run("call", name, "x=1", "y:=[2]", *serve("recursive-schema"))
    assert (ran.code, ran.out) == (0, "hello\n")


@pytest.mark.slow
@pytest.mark.parametrize("schema", ["{}", '{"type":"string"}', "null", '"x"', "[1]", '{"type":"object","required":5}'])
def test_an_elicitation_with_a_schema_of_no_object_is_answered_with_one(run: Run, schema: str) -> None:
    ran = run("call", "ask", "--elicit", "defaults", "--", sys.executable, "-S", "-E", "-c", ELICITS, schema)
    assert (ran.code, ran.err) == (0, "")
    assert json.loads(ran.out)["result"] == {"action": "accept", "content": {}}


@pytest.mark.slow
def test_a_list_of_wrong_types_is_shown_as_far_as_can_be(run: Run, serve: Serve, recording: Path) -> None:
    ran = run("tools", "--record", str(recording), *serve("wrong-types"))
    assert ran.code == 0
    assert "7 entries are not objects" in ran.err
    shown = len(ran.out.splitlines())
    listed: list[Any] = json.loads(CASES["wrong-types"].messages(1)[0])["result"]["tools"]
    assert shown == sum(isinstance(tool, dict) for tool in listed)
    ran = run("tools", "--json", *serve("wrong-types"))
    assert ran.json["tools"] == [tool for tool in listed if isinstance(tool, dict)]
    assert "7 entries are not objects" in ran.err


def test_the_hostile_lists_are_where_they_are_searched() -> None:
    assert (SERVERS / "cases.py").is_file()
    assert b"deep" not in answer_of("malicious-schema")
    assert len(json.loads(answer_of("malicious-schema"))["result"]["tools"]) == 15
