"""Connects to an ASGI app in this process, without a socket: requests and responses stay in memory.

Source: ASGI specification 3.0, "HTTP & WebSocket" 2.3 and "Lifespan" 2.0. An `App` replaces the network below
`http_client.Endpoint`, so everything above it (heads, event streams, redirects, the recording) is that of real HTTP.
Responses are streamed: httpx's own ASGI transport waits for the end of a response, which an event stream does not have.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, MutableMapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from inspector.errors import HttpError
from inspector.transports.http1_connection import octets
from inspector.transports.http_tasks import cancelled
from inspector.transports.network import NetworkRequest, NetworkResponse, OnOpened, SharedConnection

if TYPE_CHECKING:
    from inspector.transports.http_url import Url

AsgiMessage = MutableMapping[str, Any]
AsgiApp = Callable[
    [Any, Callable[[], Awaitable[AsgiMessage]], Callable[[AsgiMessage], Awaitable[None]]], Awaitable[Any]
]

START_SECONDS = 30.0
"""Seconds for the app's startup."""
STOP_SECONDS = 2.0
"""Seconds for the app's shutdown; after that it is cancelled."""
DISCONNECT_SECONDS = 0.5
"""Seconds for the app to notice that the client disconnected; after that its task is cancelled."""
MAX_BUFFERED = 1 << 20
"""Bytes of a response that wait to be read; above that the app waits in `send`."""

_log = logging.getLogger("inspector.app")


class App:
    """One ASGI app. `start` runs its startup, `close` its shutdown. Use one event loop for all calls."""

    failures: tuple[type[BaseException], ...] = ()

    def __init__(self, app: AsgiApp, url: Url, label: str) -> None:
        """`url`: the URL that the app sees. `label`: its name for people."""
        self.label = label
        self.url = url
        self._app = app
        self._state: dict[str, Any] = {}
        self._lifespan: asyncio.Task[None] | None = None
        self._events: asyncio.Queue[AsgiMessage] = asyncio.Queue()
        self._replies: asyncio.Queue[str] = asyncio.Queue()
        """The types of the app's lifespan messages, and `ended`."""
        self._raised: Exception | None = None
        self._tasks: set[asyncio.Task[None]] = set()

    def serves(self, url: Url) -> bool:
        """Whether requests to this URL go to the app."""
        return url.origin == self.url.origin

    def create_connection(self) -> AppConnection:
        """Create a connection. The HTTP client needs one for each concurrent request."""
        return AppConnection(self)

    # Lifespan

    async def start(self) -> None:
        """Run the app's startup. Raises `HttpError` if the app reports a failure. An app without a startup is fine."""
        scope = {"type": "lifespan", "asgi": {"version": "3.0", "spec_version": "2.0"}, "state": self._state}
        self._lifespan = asyncio.get_running_loop().create_task(self._live(scope))
        await self._events.put({"type": "lifespan.startup"})
        reply = "late"
        with suppress(TimeoutError):
            async with asyncio.timeout(START_SECONDS):
                reply = await self._replies.get()
        if reply not in ("late", "lifespan.startup.failed"):
            return
        lifespan, self._lifespan = self._lifespan, None
        if reply == "late":
            await cancelled([lifespan])
            raise HttpError(f"The startup of {self.label} did not end within {START_SECONDS:g} s.")
        await asyncio.wait([lifespan], timeout=STOP_SECONDS)
        await cancelled([lifespan])
        raise HttpError(
            f"The startup of {self.label} failed.", hint="Look at the app's lifespan function."
        ) from self._raised

    async def _live(self, scope: dict[str, Any]) -> None:
        async def send(message: AsgiMessage) -> None:
            await self._replies.put(message["type"])

        try:
            await self._app(scope, self._events.get, send)
        except Exception as error:  # noqa: BLE001 - whatever the app raises
            # An app without a lifespan may raise before it receives an event; the specification allows that.
            self._raised = error
            if self._events.empty():
                _log.error("%s raised in its lifespan function", self.label, exc_info=error)
        await self._replies.put("ended")

    async def close(self) -> None:
        """End the running requests, then run the app's shutdown. Idempotent."""
        await cancelled(list(self._tasks))
        lifespan, self._lifespan = self._lifespan, None
        if lifespan is not None and not lifespan.done():
            await self._events.put({"type": "lifespan.shutdown"})
            await asyncio.wait([lifespan], timeout=STOP_SECONDS)
            await cancelled([lifespan])

    # Requests

    def run(self, request: NetworkRequest, exchange: _Exchange) -> asyncio.Task[None]:
        """Start one request."""
        target = request.url.target
        path, _, query = target.partition("?")
        scope = {
            "type": "http",
            "asgi": {"version": "3.0", "spec_version": "2.3"},
            "http_version": "1.1",
            "method": request.method,
            "scheme": self.url.scheme,
            "path": unquote(path),
            "raw_path": path.encode("ascii"),
            "query_string": query.encode("ascii"),
            "root_path": "",
            "headers": [(octets(name.lower()), octets(value)) for name, value in request.headers],
            "client": ("127.0.0.1", 1),
            "server": (self.url.host, self.url.port),
            "state": self._state.copy(),
        }
        task = asyncio.get_running_loop().create_task(self._serve(scope, exchange))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    async def _serve(self, scope: dict[str, Any], exchange: _Exchange) -> None:
        what = f"{scope['method']} {scope['path']}"
        try:
            await self._app(scope, exchange.receive, exchange.send)
        except Exception as error:  # noqa: BLE001 - whatever the app raises
            if exchange.complete:
                _log.error("%s raised after it had answered %s", self.label, what, exc_info=error)
            exchange.end(error, f"{self.label} raised {type(error).__name__} during {what}")
        else:
            exchange.end(None, f"{self.label} returned from {what} without a complete answer")


class AppConnection(SharedConnection):
    """A connection for the HTTP client. It carries one request at a time and is reusable at once."""

    def __init__(self, app: App) -> None:
        self._app = app

    async def exchange(self, request: NetworkRequest, opened: OnOpened | None = None) -> NetworkResponse:
        """Start a request and wait for the head of its response. Raises `HttpError` if there is none."""
        exchange = _Exchange(request.body)
        exchange.task = self._app.run(request, exchange)
        try:
            status, headers = await exchange.head()
        except BaseException:
            await exchange.aclose()
            raise
        fields = [(name.decode("latin-1"), value.decode("latin-1")) for name, value in headers]
        return NetworkResponse(status, "", "in process", fields, exchange)


class _Exchange:
    """One request and its response: the messages for and from the app, and the body for the client."""

    def __init__(self, body: bytes) -> None:
        self.task: asyncio.Task[None]
        self.complete = False
        """The app has sent its complete response."""
        self._body: bytes | None = body
        self._head: asyncio.Future[tuple[int, list[tuple[bytes, bytes]]]] = asyncio.get_running_loop().create_future()
        self._chunks: deque[bytes] = deque()
        self._size = 0
        self._news = asyncio.Event()
        self._taken = asyncio.Event()
        self._gone = asyncio.Event()
        self._problem: HttpError | None = None

    # The app's side

    async def receive(self) -> AsgiMessage:
        """Return the request, then the disconnection of the client when it happens."""
        if self._body is not None:
            body, self._body = self._body, None
            return {"type": "http.request", "body": body, "more_body": False}
        await self._gone.wait()
        return {"type": "http.disconnect"}

    async def send(self, message: AsgiMessage) -> None:
        """Accept the head of the response, then parts of its body."""
        if message["type"] == "http.response.start":
            headers = [(bytes(name), bytes(value)) for name, value in message.get("headers", ())]
            if not self._head.done():
                self._head.set_result((message["status"], headers))
        elif message["type"] == "http.response.body":
            chunk = bytes(message.get("body", b""))
            if chunk:
                self._chunks.append(chunk)
                self._size += len(chunk)
            self.complete = not message.get("more_body", False)
            self._news.set()
            while self._size > MAX_BUFFERED and not self._gone.is_set():
                self._taken.clear()
                await self._taken.wait()

    def end(self, error: Exception | None, what: str) -> None:
        """Handle that the app has returned or raised."""
        if not self.complete:
            self._problem = HttpError(f"{what}.", hint="The traceback shows where." if error is not None else "")
            self._problem.__cause__ = error
            if not self._head.done():
                self._head.set_exception(self._problem)
                self._head.exception()  # Retrieved, or the event loop reports it as never retrieved.
        self._news.set()

    # The client's side

    async def head(self) -> tuple[int, list[tuple[bytes, bytes]]]:
        """Wait for the status and the headers."""
        return await self._head

    async def __aiter__(self) -> AsyncIterator[bytes]:
        while True:
            while self._chunks:
                chunk = self._chunks.popleft()
                self._size -= len(chunk)
                self._taken.set()
                yield chunk
            if self.complete:
                return
            if self._problem is not None:
                raise self._problem
            self._news.clear()
            await self._news.wait()

    async def aclose(self) -> None:
        """The client is done. An app that still answers gets a disconnect, and is cancelled if it continues."""
        self._gone.set()
        self._taken.set()
        if not self.complete and not self.task.done():
            await asyncio.wait([self.task], timeout=DISCONNECT_SECONDS)
            await cancelled([self.task])
