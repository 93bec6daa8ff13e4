"""A session on an in-memory server whose behaviour each test writes down."""

import asyncio
from contextlib import asynccontextmanager

import pytest

from inspector.client.inbox import StandingAnswers
from inspector.client.options import Options
from inspector.client.session import Session
from inspector.config.targets import StdioTarget
from inspector.journal.journal import Journal
from inspector.transports.memory import MemoryTransport

CAPABILITIES = {
    "tools": {"listChanged": True}, "resources": {"subscribe": True}, "prompts": {}, "logging": {}, "completions": {},
}  # fmt: skip


class Server:
    """Answers `initialize`, and what `methods` names: a value is the result, a callable gets (message, reply)."""

    def __init__(self, **methods):
        self.methods = {name.replace("__", "/"): answer for name, answer in methods.items()}
        self.seen = []
        self.initialize = {
            "protocolVersion": "2025-11-25", "capabilities": CAPABILITIES,
            "serverInfo": {"name": "test", "version": "1"},
        }  # fmt: skip

    def asked(self, method):
        """The messages with this method that the server has had."""
        return [message for message in self.seen if message.get("method") == method]

    async def __call__(self, message, reply):
        self.seen.append(message)
        method = message.get("method")
        if method is None:
            return
        answer = self.initialize if method == "initialize" else self.methods.get(method)
        if callable(answer):
            made = answer(message, reply)
            if asyncio.iscoroutine(made):
                await made
        elif "id" in message:
            if answer is None:
                reply({"jsonrpc": "2.0", "id": message["id"], "error": {"code": -32601, "message": "Method not found"}})
            else:
                reply({"jsonrpc": "2.0", "id": message["id"], "result": answer})


def make_session(server, **options):
    """A session that is not open yet."""
    options.setdefault("era", "legacy")
    options.setdefault("standing", StandingAnswers(sampling="ask", elicitation="ask", roots="ask"))
    return Session(
        StdioTarget(("test",)),
        Journal.unnamed({}),
        Options(**options),
        connect=lambda _t, sink, _o: MemoryTransport(sink, server),
    )


@pytest.fixture
def connect():
    """`async with connect(Server(…)) as session`."""

    @asynccontextmanager
    async def connected(server, **options):
        session = make_session(server, **options)
        await session.open()
        try:
            yield session
        finally:
            await session.close()
            session.journal.release()

    return connected


async def until(condition, seconds=5):
    """Let the loop run until something holds."""
    async with asyncio.timeout(seconds):
        while not condition():
            await asyncio.sleep(0.002)
