"""A tiny MCP client for the tests of the demo server: standard library only, over stdio and over HTTP."""

from __future__ import annotations

import asyncio
import http.client
import json
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit

from inspector.demo.call import Channel
from inspector.demo.http import DemoServer
from inspector.demo.prompts import all_prompts
from inspector.demo.rpc import decode
from inspector.demo.server_state import DemoState
from inspector.demo.stdio import StdioConnection
from inspector.demo.tools import all_tools

PATIENCE = 60.0  # seconds until a test gives up waiting; nothing is measured with it
EVERYTHING = {
    "roots": {"listChanged": True},
    "sampling": {"tools": {}},
    "elicitation": {"form": {}, "url": {}},
}
EVERYTHING_MODERN = EVERYTHING | {"roots": {}}
Answer = Callable[[dict[str, Any]], dict[str, Any]]
PREFIX = "io.modelcontextprotocol/"
MODERN = "2026-07-28"


def about_client(capabilities: dict[str, Any] | None = None, **more: Any) -> dict[str, Any]:
    """The _meta that every request of 2026-07-28 carries; `more` are further keys under the same prefix."""
    members = {
        "protocolVersion": MODERN,
        "clientInfo": {"name": "tests", "version": "1"},
        "clientCapabilities": EVERYTHING_MODERN if capabilities is None else capabilities,
    }
    return {PREFIX + key: value for key, value in (members | more).items()}


def modern_params(params: dict[str, Any], meta: dict[str, Any]) -> dict[str, Any]:
    """Parameters with a _meta, which their own _meta adds to."""
    return {**params, "_meta": {**meta, **params.get("_meta", {})}}


def text_of(result: dict[str, Any]) -> str:
    """All text blocks of a tool's result."""
    return "\n".join(block["text"] for block in result["content"] if block["type"] == "text")


class Peer:
    """The common part of both transports: ids, a log of all messages, answers to the server's questions."""

    def __init__(self) -> None:
        self.received: list[dict[str, Any]] = []
        self.meta: dict[str, Any] | None = None
        self.answers: dict[str, Answer] = {"ping": lambda params: {"result": {}}}
        self._news = threading.Condition()
        self._last_id = 0

    def send(self, message: Any) -> None:
        raise NotImplementedError

    def receive(self, message: Any) -> None:
        """Called by a transport for each message from the server."""
        with self._news:
            self.received.append(message)
            self._news.notify_all()
        if isinstance(message, dict) and "method" in message and "id" in message:
            answer = self.answers.get(message["method"])
            if answer is not None:
                reply = answer(message.get("params", {}))
                self.send({"jsonrpc": "2.0", "id": message["id"], **reply})

    def start(self, method: str, params: dict[str, Any] | None = None) -> int:
        """Sends a request and gives its id."""
        self._last_id += 1
        message: dict[str, Any] = {"jsonrpc": "2.0", "id": self._last_id, "method": method}
        if self.meta is not None:
            message["params"] = modern_params(params or {}, self.meta)
        elif params is not None:
            message["params"] = params
        self.send(message)
        return int(message["id"])

    def notify(self, method: str, params: dict[str, Any] | None = None) -> None:
        self.send({"jsonrpc": "2.0", "method": method, **({} if params is None else {"params": params})})

    def wait(self, fits: Callable[[Any], bool]) -> Any:
        """The first message that fits; fails loudly if it does not come."""

        def first() -> Any:
            return next((message for message in self.received if fits(message)), None)

        with self._news:
            match = self._news.wait_for(first, PATIENCE)
        assert match is not None, f"nothing of the kind among {self.received}"
        return match

    def response(self, request_id: Any) -> dict[str, Any]:
        answer: dict[str, Any] = self.wait(
            lambda m: isinstance(m, dict) and "method" not in m and m.get("id") == request_id
        )
        return answer

    def ask(self, method: str, params: dict[str, Any] | None = None) -> dict[str, Any]:
        """Sends a request and gives its result."""
        response = self.response(self.start(method, params))
        assert "result" in response, response
        result: dict[str, Any] = response["result"]
        return result

    def error(self, method: str, params: dict[str, Any] | None = None) -> dict[str, Any]:
        """Sends a request and gives the error it is answered with."""
        response = self.response(self.start(method, params))
        assert "error" in response, response
        problem: dict[str, Any] = response["error"]
        return problem

    def call(self, name: str, **arguments: Any) -> dict[str, Any]:
        """Calls a tool."""
        return self.ask("tools/call", {"name": name, "arguments": arguments})

    def notification(self, method: str) -> dict[str, Any]:
        message: dict[str, Any] = self.wait(lambda m: isinstance(m, dict) and m.get("method") == method)
        return message

    def all_of(self, method: str) -> list[dict[str, Any]]:
        return [message["params"] for message in self.received if message.get("method") == method]

    def open(self, revision: str = "2025-11-25", capabilities: dict[str, Any] | None = None) -> dict[str, Any]:
        """The handshake; gives the result of initialize."""
        client = {"name": "tests", "version": "1"}
        declared = EVERYTHING if capabilities is None else capabilities
        params = {"protocolVersion": revision, "capabilities": declared, "clientInfo": client}
        opened = self.ask("initialize", params)
        self.opened(opened)
        self.notify("notifications/initialized")
        return opened

    def opened(self, result: dict[str, Any]) -> None:
        """A transport may want to know what was negotiated."""


class StdioPeer(Peer):
    """A server process of its own."""

    def __init__(self, *words: str) -> None:
        super().__init__()
        self.process = subprocess.Popen(
            [sys.executable, "-m", "inspector.demo", *words],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        self.lines: list[bytes] = []
        self.errors = b""
        self._threads = [threading.Thread(target=self._read), threading.Thread(target=self._read_errors)]
        for thread in self._threads:
            thread.start()

    def send(self, message: Any) -> None:
        self.send_raw(json.dumps(message).encode() + b"\n")

    def send_raw(self, raw: bytes) -> None:
        assert self.process.stdin
        self.process.stdin.write(raw)
        self.process.stdin.flush()

    def close(self) -> int:
        """Ends stdin and waits for the process; gives its exit code."""
        assert self.process.stdin
        assert self.process.stdout
        assert self.process.stderr
        try:
            self.process.stdin.close()
        except BrokenPipeError:
            pass  # it has ended already
        code = self.process.wait(PATIENCE)
        for thread in self._threads:
            thread.join()
        self.process.stdout.close()
        self.process.stderr.close()
        return code

    def _read(self) -> None:
        assert self.process.stdout
        for line in self.process.stdout:
            self.lines.append(line)
            self.receive(json.loads(line))

    def _read_errors(self) -> None:
        assert self.process.stderr
        self.errors = self.process.stderr.read()


class MemoryPeer(Peer):
    """A session in this process: for what has nothing to do with transports."""

    def __init__(self, **world: Any) -> None:
        super().__init__()
        peer = self

        class Here(Channel):
            def send(self, raw: bytes) -> None:
                peer.receive(json.loads(raw))

            def answer(self, raw: bytes | None, status: int = 200) -> None:
                if raw is not None:
                    self.send(raw)

        self._channel = Here()
        self.state = DemoState(all_tools(), all_prompts(), **world)
        self._connection = StdioConnection(self.state, self._channel, "memory")

    def send(self, message: Any) -> None:
        self._connection.receive(decode(json.dumps(message).encode()), self._channel)

    def close(self) -> None:
        self._connection.close()


class HttpServer:
    """A server process on a port of its own."""

    def __init__(self, *words: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "inspector.demo", "--http", "0", *words], stderr=subprocess.PIPE
        )
        assert self.process.stderr
        self.url = self.process.stderr.readline().decode().split()[-1]

    def close(self) -> None:
        assert self.process.stderr
        self.process.terminate()
        self.process.wait(PATIENCE)
        self.process.stderr.close()


@contextmanager
def serving() -> Iterator[DemoServer]:
    """A server on the event loop of a thread of this process, to see what it does."""
    with asyncio.Runner() as runner:
        loop = runner.get_loop()
        thread = threading.Thread(target=loop.run_forever)
        thread.start()

        def run(work: Coroutine[Any, Any, None]) -> None:
            asyncio.run_coroutine_threadsafe(work, loop).result(PATIENCE)

        async def made() -> DemoServer:
            server = DemoServer(DemoState(all_tools(), all_prompts()), "127.0.0.1", 0)
            await server.start()
            return server

        server = asyncio.run_coroutine_threadsafe(made(), loop).result(PATIENCE)
        try:
            yield server
        finally:
            run(server.stop())
            loop.call_soon_threadsafe(loop.stop)
            thread.join()


class Reply:
    """An HTTP answer; `events` are the server-sent events as (id, data, retry) once the stream has ended."""

    def __init__(self, response: http.client.HTTPResponse) -> None:
        self.status = response.status
        self.headers = response.headers
        self.body = response.read()

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def events(self) -> list[dict[str, str]]:
        blocks = self.body.decode().split("\n\n")
        lines = [[line.partition(": ")[::2] for line in block.splitlines()] for block in blocks]
        return [dict(pairs) for pairs in lines if pairs]


class HttpPeer(Peer):
    """One session with a server; each POST has its own connection, and each request its own thread."""

    def __init__(self, url: str) -> None:
        super().__init__()
        self.address = urlsplit(url)
        self.headers = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json"}
        self.streams: list[Stream] = []
        self._threads: list[threading.Thread] = []
        self._ended = False

    def request(self, verb: str, body: Any = None, path: str | None = None, **headers: str | None) -> Reply:
        """One HTTP exchange; a header given as None is not sent, `_` in names stands for `-`."""
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        sent = {key: value for key, value in (self.headers | named).items() if value is not None}
        raw = body if isinstance(body, bytes | None) else json.dumps(body).encode()
        connection = http.client.HTTPConnection(str(self.address.hostname), self.address.port, timeout=PATIENCE)
        try:
            connection.request(verb, path or self.address.path, raw, sent)
            return Reply(connection.getresponse())
        finally:
            connection.close()

    def send(self, message: Any) -> None:
        if "method" in message and "id" in message and message["method"] != "initialize":
            thread = threading.Thread(target=self._post, args=(message,))
            self._threads.append(thread)
            thread.start()
        else:
            self._post(message)

    def listen(self, **headers: str) -> Stream:
        """Opens a GET stream whose messages are taken as they come."""
        return Stream(self, "GET", None, self.headers | {"Accept": "text/event-stream"} | headers)

    def opened(self, result: dict[str, Any]) -> None:
        self.headers["MCP-Protocol-Version"] = result["protocolVersion"]

    def end_session(self) -> None:
        """The DELETE that a client sends when it leaves."""
        self._ended = True
        assert self.request("DELETE").status == 204

    def wait_for_streams(self, count: int) -> None:
        """Waits until the server has begun to answer so many requests with events."""
        end = time.monotonic() + PATIENCE
        while sum(stream.primed for stream in self.streams) < count:
            assert time.monotonic() < end
            time.sleep(0.01)

    def finish_posts(self) -> None:
        """Waits until every POST has been answered."""
        for thread in self._threads:
            thread.join(PATIENCE)
            assert not thread.is_alive()

    def finish(self) -> None:
        """Ends the session, if it has not been, and waits for everything that runs."""
        if not self._ended:
            self.end_session()
        self.finish_posts()

    def _post(self, message: Any) -> None:
        stream = Stream(self, "POST", json.dumps(message).encode(), self.headers)
        session = stream.headers.get("Mcp-Session-Id")
        if session is not None:
            self.headers["Mcp-Session-Id"] = session
        stream.thread.join()


class Stream:
    """One HTTP answer that is read as it comes, its messages being handed to a peer."""

    def __init__(self, peer: Peer, verb: str, body: bytes | None, headers: dict[str, str]) -> None:
        assert isinstance(peer, HttpPeer)
        self._peer = peer
        self._connection = http.client.HTTPConnection(str(peer.address.hostname), peer.address.port, timeout=PATIENCE)
        self._connection.request(verb, peer.address.path, body, headers)
        self._response = self._connection.getresponse()
        self.status = self._response.status
        self.headers = self._response.headers
        self.ids: list[str] = []
        self.retry: int | None = None
        self.primed = False
        self.thread = threading.Thread(target=self._read)
        peer.streams.append(self)
        self.thread.start()

    def _read(self) -> None:
        if self.headers.get_content_type() != "text/event-stream":
            body = self._response.read()
            self._connection.close()
            if body:
                self._peer.receive(json.loads(body))
            return
        for line in self._response:
            name, _, value = line.decode().rstrip("\n").partition(": ")
            if name == "id":
                self.ids.append(value)
            elif name == "retry":
                self.retry = int(value)
            elif name == "data" and not value:
                self.primed = True
            elif name == "data":
                self._peer.receive(json.loads(value))
        self._connection.close()


class ModernHttpPeer(HttpPeer):
    """A client of 2026-07-28: no session, and headers that repeat what the request says."""

    def __init__(self, url: str) -> None:
        super().__init__(url)
        self.meta = about_client()

    def request_with(self, method: str, params: dict[str, Any] | None = None, **headers: str | None) -> Reply:
        """One request and its answer; headers as in `request`."""
        assert self.meta is not None
        params = modern_params(params or {}, self.meta)
        message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        repeated = {name.replace("-", "_"): value for name, value in self._headers_for(message).items()}
        return self.request("POST", message, **(repeated | headers))

    def _headers_for(self, message: dict[str, Any]) -> dict[str, str]:
        params = message["params"]
        headers = {"MCP-Protocol-Version": MODERN, "Mcp-Method": message["method"]}
        name = params.get("uri" if message["method"] == "resources/read" else "name", params.get("taskId"))
        if isinstance(name, str) and message["method"] != "prompts/list":
            headers["Mcp-Name"] = name
        return headers

    def _post(self, message: Any) -> None:
        Stream(self, "POST", json.dumps(message).encode(), self.headers | self._headers_for(message)).thread.join()


class SsePeer(HttpPeer):
    """A session over HTTP+SSE (2024-11-05): one stream for all that comes, a POST for each message that goes."""

    def __init__(self, url: str) -> None:
        super().__init__(url)
        self.messages = ""
        self._arrived = threading.Event()
        self._connection = http.client.HTTPConnection(str(self.address.hostname), self.address.port, timeout=PATIENCE)
        self._connection.request("GET", self.address.path, headers={"Accept": "text/event-stream"})
        self._response = self._connection.getresponse()
        self.status = self._response.status
        self.kinds: list[str] = []
        self.thread = threading.Thread(target=self._read)
        self.thread.start()
        assert self._arrived.wait(PATIENCE)

    def send(self, message: Any) -> None:
        raw = json.dumps(message).encode()
        posted = self.request("POST", raw, path=self.messages, Content_Type="application/json")
        assert posted.status == 202

    def close(self) -> None:
        """Leaves, as clients do: by closing the connection."""
        assert self._connection.sock
        self._connection.sock.shutdown(2)
        self.thread.join(PATIENCE)
        assert not self.thread.is_alive()
        self._connection.close()

    def _read(self) -> None:
        try:
            for line in self._response:
                name, _, value = line.decode().rstrip("\n").partition(": ")
                if name == "event":
                    self.kinds.append(value)
                elif name == "data" and self.kinds[-1] == "endpoint":
                    self.messages = value
                    self._arrived.set()
                elif name == "data":
                    self.receive(json.loads(value))
        except (http.client.IncompleteRead, ConnectionResetError):
            pass  # closed by ourselves
