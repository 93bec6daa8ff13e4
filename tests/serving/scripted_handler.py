"""A handler that a test controls, and raw clients."""

import asyncio
import os

from inspector.protocol import jsonrpc
from inspector.serving.http import Binding, HttpServer
from inspector.serving.stdio import StdioServer

PATIENCE = 20


async def until(condition):
    """Wait until something holds."""
    async with asyncio.timeout(PATIENCE):
        while not condition():
            await asyncio.sleep(0.002)


class Scripted:
    """Answers `json` at once, streams `stream`, leaves everything else to the test; keeps all messages."""

    def __init__(self, client, all):
        self.client = client
        self.arrived = []
        self.replies = []
        self.gone = None
        self.lost = []
        all.append(self)

    def received(self, arrived, reply):
        self.arrived.append(arrived)
        self.replies.append(reply)
        message = arrived.message
        if arrived.shape is not jsonrpc.Shape.REQUEST:
            reply.end()
            return
        answer = jsonrpc.encode(jsonrpc.result(message["id"], message.get("params")))
        if message["method"] in ("json", "initialize", "server/discover"):
            reply.begin("json")
            reply.send(answer)
            reply.end()
        elif message["method"] == "stream":
            for number in range(message["params"]["count"]):
                reply.send(jsonrpc.encode(jsonrpc.notification("n", {"n": number})))
            reply.send(answer)
            reply.end()

    def left(self, reply):
        self.lost.append(reply)

    async def close(self, *, gone):
        self.gone = gone


class Stdio:
    """A `StdioServer` on pipes of the test's."""

    def __init__(self, **how):
        self.handlers = []
        stdin, self.write_fd = os.pipe()
        self.read_fd, stdout = os.pipe()
        self.end = StdioServer(lambda client: Scripted(client, self.handlers), stdin=stdin, stdout=stdout, **how)
        os.close(stdin)
        os.close(stdout)
        self.handler = self.handlers[0]
        self.stop = asyncio.Event()
        self.running = asyncio.ensure_future(self.end.run(self.stop))

    async def write(self, data):
        """Write everything, as a blocking client does."""
        await asyncio.to_thread(self._write, data)

    def _write(self, data):
        view = memoryview(data)
        while view:
            view = view[os.write(self.write_fd, view) :]

    async def read(self, size=1 << 20):
        return await asyncio.to_thread(os.read, self.read_fd, size)

    async def read_to_end(self):
        parts = []
        while part := await self.read():
            parts.append(part)
        return b"".join(parts)

    def hang_up(self):
        os.close(self.write_fd)
        self.write_fd = -1

    async def aclose(self):
        self.stop.set()
        await self.running
        for fd in (self.write_fd, self.read_fd):
            if fd >= 0:
                os.close(fd)


class Web:
    """An `HttpServer`, and raw connections to it."""

    def __init__(self, **how):
        self.handlers = []
        self.end = HttpServer(lambda client: Scripted(client, self.handlers), binding=Binding(**how))
        self.writers = []

    async def start(self):
        await self.end.start()
        self.port = int(self.end.url.rsplit(":", 1)[1].partition("/")[0])
        return self

    async def connect(self):
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port, limit=1 << 24)
        self.writers.append(writer)
        return reader, writer

    async def raw(self, data, *, end=False):
        """Send bytes, and read until the server closes."""
        reader, writer = await self.connect()
        writer.write(data)
        if end:
            writer.write_eof()
        async with asyncio.timeout(PATIENCE):
            return await reader.read()

    async def ask(self, method="POST", body=b"", path="/mcp", **fields):
        """One request on a connection of its own: status, header fields, body."""
        answer = await self.raw(request(method, body, path, Connection="close", **fields))
        return parse(answer)

    async def aclose(self):
        for writer in self.writers:
            writer.close()
        await self.end.close()


def request(method="POST", body=b"", path="/mcp", host="localhost", **fields):
    """The bytes of a request."""
    if isinstance(body, dict):
        body = jsonrpc.encode(body)
    head = {"Host": host, "Content-Length": str(len(body)), "Content-Type": "application/json"}
    head |= {name.replace("_", "-"): value for name, value in fields.items()}
    lines = "".join(f"{name}: {value}\r\n" for name, value in head.items() if value is not None)
    return f"{method} {path} HTTP/1.1\r\n{lines}\r\n".encode() + body


def parse(answer):
    """Status, header fields in lower case, and the body without its chunks."""
    head, _, body = answer.partition(b"\r\n\r\n")
    first, *lines = head.decode().split("\r\n")
    fields = {name.lower(): value for name, _, value in (line.partition(": ") for line in lines)}
    if fields.get("transfer-encoding") == "chunked":
        body = unchunked(body)
    return int(first.split()[1]), fields, body


def unchunked(body):
    parts = []
    while body:
        size, _, body = body.partition(b"\r\n")
        length = int(size, 16)
        parts.append(body[:length])
        body = body[length + 2 :]
    return b"".join(parts)


def initialize(revision="2025-11-25"):
    return jsonrpc.request(0, "initialize", {"protocolVersion": revision})
