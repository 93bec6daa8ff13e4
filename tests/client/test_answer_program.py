"""Programs that answer the server's questions: JSON on stdin, JSON on stdout, limits."""

import asyncio
import sys

import pytest

from inspector.client import answer_program
from inspector.client.answer_program import AnswerProgram
from inspector.client.inbox import StandingAnswers
from inspector.errors import UsageError
from inspector.journal.format import Kind
from tests.client.conftest import Server, until

pytestmark = pytest.mark.slow
FORM = {"message": "name?", "requestedSchema": {"type": "object", "properties": {"name": {"type": "string"}}}}
ASK = {"messages": [{"role": "user", "content": {"type": "text", "text": "hi"}}], "maxTokens": 100}
HEAD = "import json, sys, time; q = json.load(sys.stdin); p = q['params']; "


def program(code):
    """A program that has the question as `q` and its parameters as `p`."""
    return AnswerProgram((sys.executable, "-c", HEAD + code))


async def answer_to(connect, method, params, **standing):
    """Return the answer to a question of a server, and the notes about it."""

    def ask(asked, reply):
        reply({"jsonrpc": "2.0", "id": "q", "method": method, "params": params})

    async with connect(server := Server(tools__call=ask), standing=StandingAnswers(**standing)) as session:
        session.call_tool("ask")
        await until(lambda: server.seen[-1].get("id") == "q", 20)
        notes = [
            event.fields["text"] for event in session.journal.events(1, len(session.journal)) if event.kind is Kind.NOTE
        ]
        return server.seen[-1], notes


async def test_sampling_gets_a_text_or_a_whole_result(connect):
    echo = program("print(json.dumps(q['method'] + ' ' + p['messages'][0]['content']['text']))")
    answer, notes = await answer_to(connect, "sampling/createMessage", ASK, sampling=echo)
    assert answer["result"]["content"] == {"type": "text", "text": "sampling/createMessage hi"}
    assert answer["result"]["role"] == "assistant"
    whole = program("print(json.dumps({'role': 'assistant', 'model': 'm', 'content': []}))")
    answer, more = await answer_to(connect, "sampling/createMessage", ASK, sampling=whole)
    assert answer["result"] == {"role": "assistant", "model": "m", "content": []}
    assert notes == more == []


async def test_elicitation_gets_an_action(connect):
    given = program("print(json.dumps({'action': 'accept', 'content': {'name': p['message']}}))")
    answer, _ = await answer_to(connect, "elicitation/create", FORM, elicitation=given)
    assert answer["result"] == {"action": "accept", "content": {"name": "name?"}}


@pytest.mark.parametrize(
    ("code", "problem"),
    [
        ("print('hello')", "its output is not JSON"),
        ("print('[1]')", "its output is not an object with “action”"),
        ("print('{}')", "its output is not an object with “action”"),
        ("sys.exit('no model')", "it ended with exit code 1 (no model)"),
        ("time.sleep(60)", "it took more than 1 s"),
        ("[print('x' * 65536) for _ in range(64)]", "its output has more than 1 MiB"),
    ],
)
async def test_a_program_that_fails_declines_and_says_why(connect, monkeypatch, code, problem):
    monkeypatch.setattr(answer_program, "SECONDS", 1.0 if "sleep" in code else 60.0)
    monkeypatch.setattr(answer_program, "MAX_OUTPUT", 1 << 20)
    answer, [note] = await answer_to(connect, "elicitation/create", FORM, elicitation=program(code))
    assert answer["result"] == {"action": "decline"}
    assert problem in note
    assert note.endswith("The question was declined.")


@pytest.mark.parametrize("stream", ["stdout", "stderr"])
async def test_output_that_is_not_read_does_not_delay_the_end_of_a_program(connect, monkeypatch, stream):
    """With Python 3.11 to 3.14, asyncio waits for the end of a process until its output has been read."""
    read = answer_program._read

    async def read_late(stream):
        output = await read(stream)
        await asyncio.sleep(0.5)  # Meanwhile asyncio reads as much as it keeps, and then no more.
        return output

    monkeypatch.setattr(answer_program, "_read", read_late)
    monkeypatch.setattr(answer_program, "MAX_OUTPUT", 1 << 20)
    monkeypatch.setattr(answer_program, "SECONDS", 2.0)
    code = f"[sys.{stream}.write('x' * 65536) for _ in range(64)]"
    answer, [note] = await answer_to(connect, "elicitation/create", FORM, elicitation=program(code))
    assert answer["result"] == {"action": "decline"}
    assert ("more than 1 MiB" if stream == "stdout" else "more than 2 s") in note


async def test_a_program_that_cannot_be_started_or_ignores_the_question(connect):
    missing = AnswerProgram(("/no/such/program",))
    answer, [note] = await answer_to(connect, "sampling/createMessage", ASK, sampling=missing)
    assert answer["error"]["code"] == -1
    assert "/no/such/program gave no answer: it cannot be started" in note
    deaf = AnswerProgram((sys.executable, "-c", "print('\"deaf\"')"))
    long = ASK | {"systemPrompt": "x" * (1 << 20)}
    answer, _ = await answer_to(connect, "sampling/createMessage", long, sampling=deaf)
    assert answer["result"]["content"]["text"] == "deaf"


def test_no_shell_reads_the_command():
    assert AnswerProgram.read("run:python 'my answer.py' ; rm $HOME").command == (
        "python", "my answer.py", ";", "rm", "$HOME",
    )  # fmt: skip
    for word in ("run:", "run: ", "run:'x"):
        with pytest.raises(UsageError):
            AnswerProgram.read(word)
