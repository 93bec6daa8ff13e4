"""The limit for a Python client: asyncio and the standard library's JSON, or bare httpx; with a log file, as an inspector
must have one, unless BENCH_NO_LOG is set."""

import asyncio
import contextlib
import json
import os
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))
from figures import main

INITIALIZE = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "raw", "version": "1"}}


def parser():
    try:
        from pydantic_core import from_json
    except ImportError:
        return json.loads
    return from_json


class Client:
    """Ids, waiting futures, a log; `write` is given by the transport."""

    def __init__(self):
        self.seen = 0
        self.id = 0
        self.waiting = {}
        self.items = []
        self.loads = parser()
        self.log = None if os.environ.get("BENCH_NO_LOG") else tempfile.TemporaryFile()

    def note(self, direction, raw):
        if self.log is not None:
            self.items.append((time.time(), direction, raw))
            self.log.write(b'{"t":%f,"d":"%s","m":%s}\n' % (time.time(), direction, raw))

    def take(self, raw):
        self.note(b"<", raw)
        message = self.loads(raw)
        if "method" in message:
            self.seen += 1
        elif (waiting := self.waiting.pop(message["id"], None)) is not None:
            waiting.set_result(message)

    async def request(self, method, params):
        self.id += 1
        raw = json.dumps({"jsonrpc": "2.0", "id": self.id, "method": method, "params": params}).encode()
        self.note(b">", raw)
        return await self.send(self.id, raw)

    async def call(self, arguments):
        answer = await self.request("tools/call", {"name": "echo", "arguments": arguments})
        content = answer["result"]["content"]
        return content[0]["text"] if content else ""

    async def page(self, cursor):
        result = (await self.request("tools/list", {"cursor": cursor} if cursor else {}))["result"]
        return len(result["tools"]), result.get("nextCursor")


class Stdio(Client, asyncio.SubprocessProtocol):
    def connection_made(self, transport):
        self.pipe = transport.get_pipe_transport(0)
        self.parts = []

    def pipe_data_received(self, fd, data):
        if fd == 1:
            *lines, rest = data.split(b"\n")
            if lines and self.parts:
                self.parts.append(lines[0])
                lines[0] = b"".join(self.parts)
                self.parts = []
            for line in lines:
                self.take(line)
            if rest:
                self.parts.append(rest)

    def send(self, id, raw):
        future = self.waiting[id] = asyncio.get_running_loop().create_future()
        self.pipe.write(raw + b"\n")
        return future


class Http(Client):
    """What one writes with httpx: `post` for JSON, `httpx_sse` for streams."""

    def __init__(self, url):
        import httpx

        super().__init__()
        self.url = url
        self.http = httpx.AsyncClient(timeout=120)
        self.headers = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}

    async def send(self, id, raw):
        if self.url.endswith("/json"):
            answer = await self.http.post(self.url, content=raw, headers=self.headers)
            future = self.waiting[id] = asyncio.get_running_loop().create_future()
            self.take(answer.content)
            return await future
        from httpx_sse import EventSource

        future = self.waiting[id] = asyncio.get_running_loop().create_future()
        async with self.http.stream("POST", self.url, content=raw, headers=self.headers) as answer:
            async for event in EventSource(answer).aiter_sse():
                self.take(event.data.encode())
        return await future


@contextlib.asynccontextmanager
async def open_client(argv, url):
    if argv:
        transport, client = await asyncio.get_running_loop().subprocess_exec(Stdio, *argv, stderr=None)
    else:
        client = Http(url)
    await client.request("initialize", INITIALIZE)
    yield client
    if argv:
        transport.get_pipe_transport(0).close()
        await transport._wait()


main(open_client)
