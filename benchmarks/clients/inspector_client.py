"""Our own session, recording and indexing everything as it always does."""

import contextlib
import gc
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))
from figures import main

from inspector.client.options import Options
from inspector.client.session import Session
from inspector.config.targets import HttpTarget, StdioTarget
from inspector.journal.journal import Journal
from inspector.journal.query import Query


@contextlib.asynccontextmanager
async def open_client(words):
    gc.set_threshold(100_000, 20, 20)  # as `cli/main.py` does
    target = StdioTarget(tuple(words.server)) if words.server else HttpTarget(words.url)
    session = Session(target, Journal.unnamed({}), Options(era=words.era))
    await session.open()

    class Client:
        @property
        def seen(self):
            return Query(method="notifications/message").count(session.journal.index)

        async def call(self, arguments):
            result = await session.call_tool("echo", arguments, timeout=120).result()
            return result["content"][0]["text"] if result["content"] else ""

        async def tools(self):
            await session.load("tools")
            return len(session.catalog.tools)

    try:
        yield Client()
    finally:
        await session.close()


main(open_client)
