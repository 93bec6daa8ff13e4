# Tests made of a recorded session. Written by inspector VERSION.
# The recording: 6b0f9a0e-0000-4000-8000-000000000001
import asyncio
import os

import inspector
import pytest
from inspector.compare.rules import Rules
from inspector.compare.values import compare

TARGET = ["npx", "-y", "some-server"]
SAMPLING = [
    None,
]
OPTIONS = {"env": {"TOKEN": os.environ["TOKEN"]}, "era": "legacy", "sampling": lambda asked: SAMPLING.pop(0) if SAMPLING else None}

RULES = Rules()
# What may differ besides times, ids and cursors: RULES = Rules().plus(ignore=["tools/call now:$.result.content"])


async def ask(answers, n, what):
    try:
        result = await what
        answers[n] = {"result": getattr(result, "raw", result)}
    except inspector.ServerError as error:
        answers[n] = {"error": {"code": error.rpc_code, "message": error.rpc_message}}


async def part_1(session, answers):
    # 6: tools/list, done in 12 ms
    await ask(answers, 6, session.request("tools/list"))
    # 9: tools/call echo, error in 7.2 ms
    await ask(answers, 9, session.call_tool("echo", {"message": "hi `there`"}))
    # 18: tools/call echo, pending: not asked again, it got no answer


async def run():
    answers = {}
    async with inspector.open(TARGET, **OPTIONS) as session:
        assert session.server
        await part_1(session, answers)
    return answers


@pytest.fixture(scope="module")
def answers():
    return asyncio.run(run())


# By the number of the request in the recording: method, name, and what was answered; None where that is too much.
EXPECTED = {
    6: ("tools/list", "", {"result": {"tools": [{"name": "echo", "inputSchema": {"type": "object"}}]}}),
    9: ("tools/call", "echo", {"result": {"content": [{"type": "text", "text": "hi"}], "isError": True, "score": 1.5}}),
}


@pytest.mark.parametrize("n", EXPECTED)
def test_the_answer_is_the_recorded_one(answers, n):
    method, name, expected = EXPECTED[n]
    if expected is None:
        assert "result" in answers[n], answers[n]
        return
    found = compare(expected, answers[n], RULES, method=method, name=name)
    assert found.same, [difference.as_json() for difference in found.differences[:20]]
