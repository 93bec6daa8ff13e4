"""Scripts and programs: they run, they repeat the requests, and a server's text stays data in them."""

from __future__ import annotations

import ast
import io
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import inspector
from inspector.formats import curl_script
from inspector.formats.python_script import answers, steps
from inspector.formats.quoting import MAX_DEPTH, NestedTooDeep, posix_word, python_value
from inspector.formats.selection import Selection
from inspector.journal.format import Dir
from inspector.journal.journal import Journal
from inspector.journal.query import Query
from tests.formats.journals import NASTY, RECORDINGS, call, exported, hostile, live, opened, result
from tests.processes import environment

DEMO = [sys.executable, "-m", "inspector.demo", "--items", "3"]


@pytest.fixture(scope="module")
def talk(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A recording of the demo server as it is today, with questions, errors and what is to be read."""
    import asyncio

    path = tmp_path_factory.mktemp("talk") / "talk.mcp.jsonl"
    asked = iter([{"name": "Ada", "email": "ada@example.org"}, "decline"])

    async def talk() -> None:
        session = inspector.open(
            DEMO,
            record=path,
            era="legacy",
            sampling="a haiku",
            elicit=lambda question: next(asked),
            roots=["file:///a"],
        )
        async with session:
            await session.tools()
            await session.call_tool("echo", {"message": 'it\'s "here" $HOME'})
            await session.call_tool("ask-model")
            await session.call_tool("ask-user")
            await session.call_tool("ask-user")
            await session.call_tool("where-am-i")
            await session.call_tool("fail", {"message": "on fire"})
            with pytest.raises(inspector.ServerError):
                await session.request("no/such/method")
            await session.read_resource("demo://readme")
            await session.get_prompt("greet")
            await session.complete("explain-code", "language", "p")
            await session.subscribe("demo://readme")
            await session.set_log_level("info")
            await session.ping()

    asyncio.run(talk())
    return path


def ran(folder: Path, words: list[str], **variables: str) -> subprocess.CompletedProcess[str]:
    env = environment(folder, **variables)
    return subprocess.run(words, cwd=folder, env=env, capture_output=True, text=True, stdin=subprocess.DEVNULL)


@pytest.mark.slow
def test_the_program_on_our_library_does_it_again(talk: Path, tmp_path: Path) -> None:
    program = tmp_path / "again.py"
    program.write_text(exported(opened(talk), "python"))
    done = ran(tmp_path, [sys.executable, str(program)])
    assert done.returncode == 0, done.stderr
    for text in ('it\'s "here" $HOME', "a haiku", "Ada", "decline", "file:///a", "on fire", "-32601", "python"):
        assert text in done.stdout


@pytest.mark.slow
def test_the_tests_made_of_a_session_pass_on_the_same_server(talk: Path, tmp_path: Path) -> None:
    module = tmp_path / "test_again.py"
    text = exported(opened(talk), "pytest")
    module.write_text(text)
    words = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(module)]
    done = ran(tmp_path, words)
    assert done.returncode == 0, done.stdout
    assert "14 passed" in done.stdout
    module.write_text(text.replace('on fire"}], "isError": True', 'all well"}], "isError": True'))
    done = ran(tmp_path, words)
    assert "1 failed, 13 passed" in done.stdout
    assert "$.result.content[0].text" in done.stdout


@pytest.mark.slow
def test_the_script_sends_it_again_through_a_pipe(talk: Path, tmp_path: Path) -> None:
    script = tmp_path / "again.sh"
    script.write_text(exported(opened(talk), "curl"))
    done = ran(tmp_path, ["sh", str(script)], PAUSE="0", WAIT="0")
    assert done.returncode == 0, done.stderr
    assert 'it\'s \\"here\\" $HOME' in done.stdout
    assert '"code":-32601' in done.stdout


def test_what_never_got_an_answer_is_not_asked_again() -> None:
    text = exported(opened(RECORDINGS / "demo-tour.mcp.jsonl"), "python")
    assert "# 68: tools/call forget, timeout: not repeated, it has no response" in text
    assert 'forget"' not in text


def test_what_a_client_does_by_itself_is_no_step() -> None:
    journal = live()
    modern = {"_meta": {"a": 1}, "name": "x", "arguments": {}}
    call(journal, 0, "initialize", {}, result(0, {}))
    call(journal, 1, "tools/list", {}, result(1, {"nextCursor": "2"}))
    call(journal, 2, "tools/list", {"cursor": "2"}, result(2, {}))
    call(journal, 3, "tasks/get", {}, result(3, {}))
    call(journal, 4, "tools/call", modern, result(4, {"resultType": "input_required"}))
    roots = {"inputResponses": {"a": {"roots": [{"uri": "file:///x"}]}, "b": {"action": "cancel"}}, **modern}
    call(journal, 5, "tools/call", roots, result(5, {"content": []}))
    call(journal, 6, "x", [1], result(6, {}))
    chosen = Selection(journal, None)
    exported_steps = list(steps(journal, chosen))
    assert [(step.n, bool(step.why_not)) for step in exported_steps] == [
        (3, False),
        (5, True),
        (9, False),
        (11, True),
        (13, True),
    ]
    assert exported_steps[2].params == {"name": "x", "arguments": {}}
    given = answers(journal, chosen)
    assert (given.roots, given.elicitation) == ([{"uri": "file:///x"}], [{"action": "cancel"}])
    expected = exported(journal, "pytest").partition("EXPECTED = {")[2]
    assert '9: ("tools/call", "x", {"result": {"content": []}}),' in expected


def test_refusals_are_given_again_in_their_order() -> None:
    journal = live()
    refused, sampled = b'{"id":1,"error":{"code":-1}}', b'{"id":2,"result":{"role":"assistant","content":{}}}'
    for id, answer in ((1, refused), (2, sampled)):
        journal.record_received("stdio", [b'{"id":%d,"method":"sampling/createMessage"}' % id])
        journal.record_sent("stdio", answer, json.loads(answer))
    assert answers(journal, Selection(journal, None)).sampling == [None, {"role": "assistant", "content": {}}]


SECRET = "‹redacted 0123abcd›"


def with_secrets() -> Journal:
    journal = Journal.unnamed({"url": "http://h/mcp", "headers": ["X-Key"]})
    asked = {"id": 1, "method": "tools/call", "params": {"name": "x", "arguments": {"token": f"a{SECRET}b"}}}
    journal.record_sent("post-1", json.dumps(asked, ensure_ascii=False).encode(), asked)
    journal.record_received("post-1", [result(1, {})])
    headers = [("Authorization", f"Bearer {SECRET}"), ("Mcp-Session-Id", SECRET), ("Host", "h")]
    journal.record_http("post-1", Dir.SEND, method="POST", url=f"http://h/mcp?k={SECRET}", headers=headers)
    return journal


@pytest.mark.parametrize("format", ["curl", "python", "python-sdk", "pytest"])
def test_secrets_are_variables(format: str) -> None:
    text = exported(with_secrets(), format)
    assert "redacted" not in text
    assert ('"$INSPECTOR_SECRET"' if format == "curl" else 'os.environ["INSPECTOR_SECRET"]') in text
    if format == "curl":
        assert ': "${INSPECTOR_SECRET:?' in text
        assert ': "${INSPECTOR_TOKEN:?' in text
        assert ': "${INSPECTOR_SESSION_ID:?' not in text
        assert "-H 'Mcp-Session-Id: '\"$INSPECTOR_SESSION_ID\"" in text
        assert "Host" not in text
    else:
        assert 'os.environ["INSPECTOR_HEADER_X_KEY"]' in text


@pytest.mark.parametrize("format", ["python", "python-sdk", "pytest"])
@pytest.mark.parametrize("http", [False, True])
def test_programs_call_nothing_that_we_did_not_write(format: str, http: bool) -> None:
    tree = ast.parse(exported(hostile(http=http), format))
    names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    ours = ast.parse(exported(opened(RECORDINGS / f"demo-{'http' if http else 'tour'}.mcp.jsonl"), format))
    assert names - {node.id for node in ast.walk(ours) if isinstance(node, ast.Name)} <= {"os", "float"}


@pytest.mark.slow
@pytest.mark.parametrize("http", [False, True])
def test_a_hostile_message_runs_nothing(http: bool, tmp_path: Path) -> None:
    """The script of a hostile recording, with programs that say what they were given."""
    for name in ("curl", "python"):
        program = tmp_path / name
        program.write_text("#!/bin/sh\ncat\nprintf '%s\\n' \"$@\"\n")
        program.chmod(0o755)
    script = tmp_path / "script.sh"
    text = exported(hostile(http=http), "curl")
    assert all(line.isprintable() for line in text.split("\n"))
    script.write_text(text)
    before = set(os.listdir(tmp_path))
    env = {"PAUSE": "0", "WAIT": "0", "INSPECTOR_TOKEN": "t", "PATH": f"{tmp_path}:{os.environ['PATH']}"}
    done = ran(tmp_path, ["sh", str(script)], **env)
    assert done.returncode == 0, done.stderr
    assert set(os.listdir(tmp_path)) == before
    assert "$(touch pwned) `touch pwned`" in done.stdout
    assert ("-gsSN" in done.stdout) is http, "curl would take [1-99] and {a,b} in a URL for many URLs"


@pytest.mark.slow
@pytest.mark.parametrize("text", [*NASTY, "", "a b", "it's", "100%", "é", "\x7f", "-n"])
def test_a_word_is_one_word_for_any_shell(text: str) -> None:
    done = subprocess.run(["sh", "-c", f"printf '%s' {posix_word(text)}"], capture_output=True, check=True)
    assert done.stdout == text.encode()


def test_values_are_written_as_python() -> None:
    values = [1, -1.5, 1e300, True, None, "a\u2028\ud800'\"\\", {"a": [1, {"é": "x"}]}, 2**70, 10**5000]
    for value in values:
        text = python_value(value)
        assert text.isascii()
        assert eval(text) == value
    assert eval(python_value(float("inf"))) == float("inf")
    deep: object = 1
    for _ in range(MAX_DEPTH + 1):
        deep = [deep]
    with pytest.raises(NestedTooDeep):
        python_value(deep)


CAREFUL = """
import json, select, sys

def send(**message):
    print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)

tools = []
while line := sys.stdin.buffer.raw.readline():
    message = json.loads(line)
    method, id = message.get("method"), message.get("id")
    if method == "initialize":
        declared = message["params"]["capabilities"]
        tools = [{"name": name, "inputSchema": {"type": "object"}} for name in ("sampling", "roots") if name in declared]
        info = {"name": "c", "version": "1"}
        send(id=id, result={"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": info})
    elif method == "tools/list":
        send(id=id, result={"tools": tools})
    elif method == "tools/call":
        early = bool(select.select([sys.stdin], [], [], 0)[0])
        send(id="q1", method="roots/list")
        answer = json.loads(sys.stdin.buffer.raw.readline())
        text = "early" if early or answer.get("id") != "q1" else "in time"
        send(id=id, result={"content": [{"type": "text", "text": text}]})
"""


def careful(folder: Path) -> Path:
    """A recording of a server that offers more to clients that can do more, and notices an early answer."""
    import asyncio

    server = folder / "careful.py"
    server.write_text(CAREFUL)
    path = folder / "careful.mcp.jsonl"

    async def talk() -> None:
        command = [sys.executable, str(server)]
        async with inspector.open(
            command, record=path, era="legacy", sampling="decline", roots=["file:///a"]
        ) as session:
            assert [tool.name for tool in await session.tools()] == ["sampling", "roots"]
            assert (await session.call_tool("roots")).text == "in time"

    asyncio.run(talk())
    return path


@pytest.mark.slow
def test_an_answer_goes_out_after_its_question(tmp_path: Path) -> None:
    script = tmp_path / "again.sh"
    script.write_text(exported(opened(careful(tmp_path)), "curl"))
    done = ran(tmp_path, ["sh", str(script)], PAUSE="0", WAIT="0")
    assert "in time" in done.stdout
    assert "early" not in done.stdout


@pytest.mark.slow
def test_a_script_says_where_a_server_may_refuse_what_it_remembers(tmp_path: Path) -> None:
    import asyncio

    path = tmp_path / "rounds.mcp.jsonl"

    async def talk() -> None:
        async with inspector.open(
            DEMO, record=path, era="modern", sampling="red", roots=["file:///a"], elicit=lambda _: "decline"
        ) as session:
            await session.call_tool("ask-several")

    asyncio.run(talk())
    journal = opened(path)
    out = io.StringIO()
    notes = curl_script.write(journal, out, None)
    lines = out.getvalue().splitlines()
    (marked,) = [at for at, line in enumerate(lines) if line.startswith("  # Its requestState is the recorded one")]
    assert "tools/call ask-several" in lines[marked - 1]
    assert "requestState" in lines[marked + 1]
    assert len(notes) == 1
    assert "requestState" in notes[0]
    first = Query(dir=Dir.SEND, method="tools/call").first(journal.index)
    assert curl_script.write(journal, io.StringIO(), [first]) == []


@pytest.mark.slow
def test_a_script_of_one_call_shakes_hands_first_and_knows_the_roots(tmp_path: Path) -> None:
    journal = opened(careful(tmp_path))
    begun, listed = (Query(dir=Dir.SEND, method=method).first(journal.index) for method in ("initialize", "tools/list"))
    for numbers in ([listed], [journal.index.pair(listed)]):
        text = exported(journal, "curl", numbers)
        assert [line.split(":")[1].strip() for line in text.splitlines() if line.startswith("  # ")] == [
            "initialize",
            "notifications/initialized",
            "tools/list",
        ]
        assert '"roots": ["file:///a"]' in exported(journal, "python", numbers)
    script = tmp_path / "one.sh"
    script.write_text(exported(journal, "curl", [listed]))
    done = ran(tmp_path, ["sh", str(script)], PAUSE="0", WAIT="0")
    assert done.stdout.index('"serverInfo"') < done.stdout.index('"tools": [')
    assert exported(journal, "curl", [begun, listed]).count("\n  # ") == 2
    assert exported(journal, "curl", [journal.index.pair(begun), listed]).count("\n  # ") == 2


@pytest.mark.slow
def test_the_declared_capabilities_are_declared_again(tmp_path: Path) -> None:
    journal = opened(careful(tmp_path))
    module = tmp_path / "test_again.py"
    module.write_text(exported(journal, "pytest"))
    done = ran(tmp_path, [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(module)])
    assert done.returncode == 0, done.stdout
    program = tmp_path / "again.py"
    program.write_text(exported(journal, "python"))
    assert "sampling" in ran(tmp_path, [sys.executable, str(program)]).stdout
    assert "sampling_callback=sampling, list_roots_callback=roots" in exported(journal, "python-sdk")
