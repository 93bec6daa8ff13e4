"""The examples in docs/examples/addons do what they say."""

import asyncio
import json
import re
import subprocess
import sys

import pytest

from inspector.addons.chain import Addons
from inspector.errors import ServerError
from inspector.transports.memory import MemoryTransport
from tests.addons.conftest import altered
from tests.client.conftest import Server
from tests.processes import ROOT

EXAMPLES = ROOT / "docs/examples/addons"
MAIL = {"content": [{"type": "text", "text": "write to ada@example.com"}]}


class Run:
    """One session with an example."""

    def __init__(self, stage, session, server):
        self.stage = stage
        self.session = session
        self.server = server

    async def call(self, tool, **arguments):
        """The text of a result, or of an error."""
        try:
            result = await self.session.call_tool(tool, arguments).result()
        except ServerError as error:
            return f"error: {error.rpc_message}"
        return result["content"][0]["text"]

    @property
    def calls(self):
        return [asked["params"] for asked in self.server.asked("tools/call")]


async def add_header(run):
    await run.call("price")
    assert run.session.transport.fields == [("X-Tenant", "acme")]


async def refuse_call(run):
    assert await run.call("refund") == "error: refund is not allowed here"
    assert await run.call("price") == MAIL["content"][0]["text"]
    assert len(run.calls) == 1


async def replace_answer(run):
    assert await run.call("weather") == "21 °C, sunny"
    assert run.calls == []


async def delay(run):
    await run.call("price")
    assert [line["addon"][0]["did"] for line in altered(run.session.journal)] == ["delayed by 0.5 s"]


async def count(run):
    for tool in ("price", "stock", "price"):
        await run.call(tool)
    await run.session.leave()
    assert run.stage.notes == ["count.py: 2 × price", "count.py: 1 × stock"]


async def guard(run):
    assert await run.call("read", path="README.md") == MAIL["content"][0]["text"]
    assert (await run.call("read", path="../../etc/passwd")).startswith("error: ../../etc/passwd is outside ")
    assert run.stage.notes == ["guard.py: refused read on ../../etc/passwd"]


async def redact(run):
    assert await run.call("contact") == "write to (mail address)"
    assert await run.call("none") == "error: Method not found"


async def fault(run):
    answers = await asyncio.gather(*(run.call("price") for _ in range(6)))
    assert sorted(answers)[:2] == ["error: overloaded, try again"] * 2


async def trace_context(run):
    await run.call("price")
    await run.session.call_tool("price", meta={"traceparent": "mine"}).result()
    contexts = [params["_meta"]["traceparent"] for params in run.calls]
    assert re.fullmatch("00-[0-9a-f]{32}-[0-9a-f]{16}-01", contexts[0])
    assert contexts[1] == "mine"


TESTED = (add_header, refuse_call, replace_answer, delay, count, guard, redact, fault, trace_context)


class Transport(MemoryTransport):
    """Keeps the header fields of the last message, as one over HTTP has them."""

    name = "http"

    def send(self, outgoing):
        self.fields = list(outgoing.user_headers)
        super().send(outgoing)


@pytest.mark.slow
@pytest.mark.parametrize("example", TESTED, ids=lambda example: example.__name__)
async def test_an_example(stage, example):
    def answer(asked, reply):
        member = {"error": {"code": -32601, "message": "Method not found"}}
        reply(
            {"jsonrpc": "2.0", "id": asked["id"], **(member if asked["params"]["name"] == "none" else {"result": MAIL})}
        )

    stage.filter = Addons([EXAMPLES / f"{example.__name__}.py"], stage.notes.append)
    async with stage.session(server := Server(tools__call=answer), transport=Transport) as session:
        await example(Run(stage, session, server))
    assert not [sentence for sentence in stage.notes if "failed" in sentence]


LEAST = [
    {"method": "tools/call", "params": {"name": "refund"}},
    {"method": "ping"},
    {"method": "tools/call", "params": {"name": "price", "arguments": {}}},
]
"""Requests without optional members."""


@pytest.mark.parametrize("source", [*(example.__name__ for example in TESTED), "the page"])
def test_an_example_needs_no_optional_member_of_a_message(stage, source):
    files = [EXAMPLES / f"{source}.py"]
    if source == "the page":
        page = (ROOT / "docs/how-to/extend.md").read_text(encoding="utf-8")
        files = [stage.write("a", re.search(r"```python\n(def on_request.*?)```", page, re.DOTALL)[1])]
    connection = Addons(files, stage.notes.append).connection(lambda by, text: None)
    connection.opened()
    for id, asked in enumerate(LEAST):
        for sender, members in (("client", asked), ("server", {"result": {}}), ("client", {"method": "x"})):
            message = {"jsonrpc": "2.0", "id": id, **members}
            if members.get("method") == "x":
                del message["id"]
            connection.judge(sender, json.dumps(message).encode(), message)
    connection.ended()
    assert [sentence for sentence in stage.notes if " failed: " in sentence] == []


@pytest.mark.slow
def test_the_program_that_answers_sampling_requests():
    question = {
        "method": "sampling/createMessage",
        "params": {"messages": [{"content": {"type": "text", "text": "hi"}}]},
    }
    done = subprocess.run(
        [sys.executable, EXAMPLES / "local_model.py"], input=json.dumps(question), capture_output=True, text=True
    )
    assert json.loads(done.stdout) == "You said: hi"


def test_each_example_is_tested_and_on_the_page():
    names = {path.stem for path in EXAMPLES.glob("*.py")}
    assert names == {example.__name__ for example in TESTED} | {"local_model"}
    page = (ROOT / "docs/how-to/extend.md").read_text(encoding="utf-8")
    assert {name for name in names if f"[`{name}.py`](../examples/addons/{name}.py)" not in page} == set()
