"""Our own session, recording everything as it always does."""

import contextlib
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))
from figures import main


@contextlib.asynccontextmanager
async def open_client(argv, url):
    from inspector.client.session import Session
    from inspector.config.targets import HttpTarget, StdioTarget
    from inspector.journal.journal import Journal

    session = Session(StdioTarget(tuple(argv)) if argv else HttpTarget(url), Journal.unnamed({}))
    await session.open()

    class Client:
        @property
        def seen(self):
            index = session.journal.index
            number = index.method_names.find("notifications/message")
            return 0 if number is None else index.methods.count(number)

        async def call(self, arguments):
            result = await session.call_tool("echo", arguments, timeout=120).result()
            return result["content"][0]["text"] if result["content"] else ""

        async def page(self, cursor):
            result = await session.request("tools/list", {"cursor": cursor} if cursor else None)
            return len(result["tools"]), result.get("nextCursor")

    try:
        yield Client()
    finally:
        await session.close()


main(open_client)
