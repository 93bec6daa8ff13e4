"""An HTTP server that a test scripts, byte for byte if necessary."""

import asyncio
import json

SSE = ("Content-Type", "text/event-stream")
JSON = ("Content-Type", "application/json")


class Request:
    def __init__(self, method, target, fields, body, connection):
        self.method = method
        self.target = target
        self.fields = fields
        self.body = body
        self.connection = connection
        """Which connection it came on, from 1."""

    def field(self, name):
        """The value of a header field, or None."""
        return next((value for key, value in self.fields if key.lower() == name.lower()), None)

    @property
    def message(self):
        return json.loads(self.body) if self.body else None

    @property
    def rpc_method(self):
        message = self.message
        return message.get("method") if isinstance(message, dict) else None

    @property
    def id(self):
        return self.message.get("id")


class Reply:
    """Writes the response of one request."""

    def __init__(self, writer):
        self.writer = writer
        self.done = False
        """The connection ends after this response."""

    def raw(self, data):
        """Write bytes as they are."""
        self.writer.write(data)

    def hang_up(self):
        """Close the connection now."""
        self.done = True

    def reset(self):
        """Close the connection with a reset."""
        self.done = True
        self.writer.transport.abort()

    def head(self, status, *fields):
        lines = [f"HTTP/1.1 {status} Because", *(f"{name}: {value}" for name, value in fields)]
        self.raw("\r\n".join(lines).encode("latin-1") + b"\r\n\r\n")

    def body(self, status, body=b"", *fields):
        """A whole response."""
        body = body.encode() if isinstance(body, str) else body
        self.head(status, *fields, ("Content-Length", len(body)))
        self.raw(body)

    def json(self, value, status=200, *fields):
        """A JSON response."""
        self.body(status, json.dumps(value), JSON, *fields)

    def result(self, request, result=None, *fields):
        """The JSON-RPC result for `request`."""
        self.json({"jsonrpc": "2.0", "id": request.id, "result": {} if result is None else result}, 200, *fields)

    def stream(self, *fields, status=200):
        """Begin an event stream, in chunked coding."""
        self.head(status, SSE, ("Transfer-Encoding", "chunked"), *fields)

    def chunk(self, data):
        data = data.encode() if isinstance(data, str) else data
        self.raw(b"%x\r\n%b\r\n" % (len(data), data))

    def event(self, message, **fields):
        """One event, with `id`, `event` or `retry` before its data."""
        lines = [f"{name}: {value}" for name, value in fields.items()]
        lines.append("data: " + (message if isinstance(message, str) else json.dumps(message)))
        self.chunk("\n".join(lines) + "\n\n")

    def end(self):
        self.raw(b"0\r\n\r\n")


def answer_to(request, result=None):
    return {"jsonrpc": "2.0", "id": request.id, "result": {} if result is None else result}


class Web:
    """Serves `handler(request, reply)`, a coroutine function or a plain one. `requests` keeps what came."""

    def __init__(self, handler, ssl=None):
        self.handler = handler
        self.ssl = ssl
        self.requests = []
        self.connections = 0
        self._tasks = set()

    async def __aenter__(self):
        self.server = await asyncio.start_server(self._connected, "127.0.0.1", 0, ssl=self.ssl)
        self.port = self.server.sockets[0].getsockname()[1]
        scheme = "https" if self.ssl else "http"
        self.url = f"{scheme}://127.0.0.1:{self.port}/mcp"
        return self

    async def __aexit__(self, *_):
        self.server.close()
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _connected(self, reader, writer):
        self._tasks.add(asyncio.current_task())
        self.connections += 1
        number = self.connections
        try:
            while True:
                request = await _read(reader, number)
                self.requests.append(request)
                reply = Reply(writer)
                made = self.handler(request, reply)
                if asyncio.iscoroutine(made):
                    await made
                await writer.drain()
                if reply.done:
                    break
        except (asyncio.IncompleteReadError, ConnectionError, asyncio.CancelledError):
            pass
        finally:
            self._tasks.discard(asyncio.current_task())
            writer.close()


async def _read(reader, number):
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
    method, target, _ = head[0].split(" ", 2)
    fields = [tuple(part.strip() for part in line.split(":", 1)) for line in head[1:] if line]
    request = Request(method, target, fields, b"", number)
    request.body = await reader.readexactly(int(request.field("Content-Length") or 0))
    return request
