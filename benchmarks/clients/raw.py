"""The limit for a Python client: asyncio and orjson, no protocol library. `--way`:

    stdio   a subprocess protocol that splits lines
    post    `httpx.AsyncClient.post`, as everybody writes it
    events  `httpx` and `httpx_sse`, the same
    socket  one keep-alive connection on an `asyncio.Protocol`, for what cannot be had cheaper
    sockets as many of them as calls are in flight

With `--log` every message is kept in memory with its time and appended to a file, which an inspector must do at least.
"""

import asyncio
import contextlib
import sys
import tempfile
import time
from pathlib import Path

import orjson

sys.path.insert(0, str(Path(__file__).parent.parent))
from answers import MODERN
from figures import main

INITIALIZE = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "raw", "version": "1"}}
FIELDS = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
META = {
    "io.modelcontextprotocol/protocolVersion": MODERN,
    "io.modelcontextprotocol/clientInfo": INITIALIZE["clientInfo"],
    "io.modelcontextprotocol/clientCapabilities": {},
}


class Client:
    """Ids, waiting futures, a log; `send(raw)` is the way's. `modern`: what each request of that era must carry."""

    modern = False

    def __init__(self, log):
        self.seen = 0
        self.id = 0
        self.waiting = {}
        self.kept = []
        self.file = tempfile.TemporaryFile(buffering=1 << 16) if log else None  # noqa: SIM115

    def note(self, direction, raw):
        now = time.time()
        self.kept.append((now, direction, raw))
        self.file.write(b'{"t":%f,"d":"%s","m":%s}\n' % (now, direction, raw))

    def receive(self, raw):
        if self.file is not None:
            self.note(b"<", raw)
        message = orjson.loads(raw)
        if "method" in message:
            self.seen += 1
        else:
            self.waiting.pop(message["id"]).set_result(message["result"])

    async def request(self, method, params):
        self.id += 1
        if self.modern:
            params["_meta"] = META
        raw = orjson.dumps({"jsonrpc": "2.0", "id": self.id, "method": method, "params": params})
        if self.file is not None:
            self.note(b">", raw)
        waiting = self.waiting[self.id] = asyncio.get_running_loop().create_future()
        await self.send(raw)
        return await waiting

    def fields(self):
        """Header fields of a request over HTTP; which of the two methods it is makes no difference here."""
        if not self.modern:
            return FIELDS
        return FIELDS | {"MCP-Protocol-Version": MODERN, "Mcp-Method": "tools/call", "Mcp-Name": "echo"}

    async def call(self, arguments):
        content = (await self.request("tools/call", {"name": "echo", "arguments": arguments}))["content"]
        return content[0]["text"] if content else ""

    async def tools(self):
        total, cursor = 0, None
        while True:
            page = await self.request("tools/list", {"cursor": cursor} if cursor else {})
            total += len(page["tools"])
            cursor = page.get("nextCursor")
            if cursor is None:
                return total


class Lines:
    """Cuts chunks into lines, in linear time."""

    def __init__(self):
        self.parts = []

    def of(self, data):
        *lines, rest = data.split(b"\n")
        if lines and self.parts:
            lines[0] = b"".join((*self.parts, lines[0]))
            self.parts.clear()
        if rest:
            self.parts.append(rest)
        return lines


class Stdio(Client, asyncio.SubprocessProtocol):
    def connection_made(self, transport):
        self.pipe = transport.get_pipe_transport(0)
        self.lines = Lines()

    def pipe_data_received(self, fd, data):
        for line in self.lines.of(data):
            self.receive(line)

    async def send(self, raw):
        self.pipe.write(raw + b"\n")


class Post(Client):
    def __init__(self, log, url):
        import httpx

        super().__init__(log)
        self.url = url
        self.http = httpx.AsyncClient(timeout=120, limits=httpx.Limits(max_connections=200))

    async def send(self, raw):
        answer = await self.http.post(self.url, content=raw, headers=self.fields())
        body = answer.content
        self.receive(body if body[:1] == b"{" else body[body.index(b"data: ") + 6 :])


class Events(Post):
    async def send(self, raw):
        from httpx_sse import EventSource

        async with self.http.stream("POST", self.url, content=raw, headers=self.fields()) as answer:
            async for event in EventSource(answer).aiter_sse():
                self.receive(event.data.encode())


class Socket(Client, asyncio.Protocol):
    """Reads `Content-Length` and chunked bodies. One request at a time."""

    def begin(self, url):
        host, _, path = url.removeprefix("http://").partition("/")
        fields = "".join(f"{name}: {value}\r\n" for name, value in FIELDS.items())
        self.head = f"POST /{path} HTTP/1.1\r\nHost: {host}\r\n{fields}Content-Length: ".encode()
        self.buffer = b""
        self.left = 0
        """Bytes of the body, or of its present chunk with the line end, that are still to come; 0: a head is next."""
        self.chunked = False
        return host.split(":")

    def connection_made(self, transport):
        self.transport = transport

    async def send(self, raw):
        self.parts = []
        self.lines = Lines()
        self.transport.write(self.head + b"%d\r\n\r\n" % len(raw) + raw)

    def data_received(self, data):
        while data:
            if self.left:
                part, data = data[: self.left], data[self.left :]
                self.left -= len(part)
                self.body(part)
                continue
            data = self.buffer + data
            end = b"\r\n" if self.chunked else b"\r\n\r\n"
            head, separator, rest = data.partition(end)
            self.buffer = b"" if separator else data
            if not separator:
                return
            data = rest
            self.next(head.lower())

    def next(self, head):
        if not self.chunked:
            self.chunked = b"transfer-encoding: chunked" in head
            if not self.chunked:
                self.left = int(head.partition(b"content-length: ")[2].partition(b"\r\n")[0])
        elif not head:
            self.chunked = False
        else:
            size = int(head, 16)
            self.left = size + 2 if size else 0

    def body(self, part):
        if self.chunked:
            for line in self.lines.of(part):
                if line.startswith(b"data: "):
                    self.receive(line[6:])
            return
        self.parts.append(part)
        if not self.left:
            self.receive(b"".join(self.parts))


class Pooled(Socket):
    """A connection of `Sockets`, which is free again when its response is complete."""

    def __init__(self, pool):
        super().__init__(False)
        self.pool = pool

    def receive(self, raw):
        self.pool.free.append(self)
        self.pool.receive(raw)


class Sockets(Client):
    """A stack of free connections."""

    def __init__(self, log, url):
        super().__init__(log)
        self.url = url
        self.free = []

    async def send(self, raw):
        if self.free:
            connection = self.free.pop()
        else:
            connection = Pooled(self)
            where = connection.begin(self.url)
            await asyncio.get_running_loop().create_connection(lambda: connection, *where)
        await connection.send(raw)


@contextlib.asynccontextmanager
async def open_client(words):
    loop = asyncio.get_running_loop()
    match words.way:
        case "post":
            client = Post(words.log, words.url)
        case "events":
            client = Events(words.log, words.url)
        case "socket":
            client = Socket(words.log)
            await loop.create_connection(lambda: client, *client.begin(words.url))
        case "sockets":
            client = Sockets(words.log, words.url)
        case _:
            child, client = await loop.subprocess_exec(lambda: Stdio(words.log), *words.server, stderr=None)
    client.modern = words.era == "modern"
    await client.request(*(("server/discover", {}) if client.modern else ("initialize", INITIALIZE)))
    yield client
    if words.server:
        client.pipe.close()
        await child._wait()


main(open_client)
