"""Servers in this process: ASGI apps, frameworks' objects, and httpx clients and transports."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import httpx
import pytest

import inspector
from inspector.auth.options import AuthOptions
from inspector.check.visit.http import HttpClient
from inspector.config.targets import HttpTarget
from inspector.journal.journal import Journal
from inspector.transports import asgi
from inspector.transports.httpx_network import HttpxNetwork
from tests.client.conftest import until
from tests.transports.scripted_http import Web

REVISION = "2025-06-18"
JSON = ("Content-Type", "application/json")


class App:
    """A small MCP server as an ASGI app: answers `slow` by an event stream, everything else by JSON."""

    def __init__(self, **faults: Any) -> None:
        self.faults = faults
        self.log: list[str] = []
        self.proceed = asyncio.Event()
        self.scopes: list[dict[str, Any]] = []

    async def __call__(self, scope: dict[str, Any], receive: Any, send: Any) -> None:
        if scope["type"] == "lifespan":
            await self.live(scope, receive, send)
            return
        self.scopes.append(scope)
        assert scope.get("state", {}) == ({} if "no_lifespan" in self.faults else {"database": "open"})
        if scope["method"] != "POST" or scope["path"] != self.faults.get("path", "/mcp"):
            await self.respond(send, 405 if scope["path"] == "/mcp" else 404, b"")
            return
        message = json.loads((await receive())["body"])
        method = message.get("method")
        if method == "initialize":
            result: Any = {
                "protocolVersion": REVISION, "capabilities": {"tools": {}}, "serverInfo": {"name": "app", "version": "1"}
            }  # fmt: skip
        elif method == "tools/call":
            await getattr(self, message["params"]["name"])(message, receive, send)
            return
        elif "id" in message:
            error = {"jsonrpc": "2.0", "id": message["id"], "error": {"code": -32601, "message": "Method not found"}}
            await self.respond(send, 200, json.dumps(error).encode())
            return
        else:
            await self.respond(send, 202, b"")
            return
        await self.respond(send, 200, self.answer(message, result))

    async def live(self, scope: dict[str, Any], receive: Any, send: Any) -> None:
        if self.faults.get("no_lifespan"):
            raise AssertionError("only http")
        assert (await receive())["type"] == "lifespan.startup"
        if self.faults.get("startup"):
            await send({"type": "lifespan.startup.failed", "message": "no database"})
            raise ConnectionRefusedError("no database")
        scope["state"]["database"] = "open"
        self.log.append("started")
        await send({"type": "lifespan.startup.complete"})
        assert (await receive())["type"] == "lifespan.shutdown"
        while self.faults.get("deaf") and not self.proceed.is_set():
            with suppress(asyncio.CancelledError):
                await self.proceed.wait()
        self.log.append("stopped")
        await send({"type": "lifespan.shutdown.complete"})

    @staticmethod
    def answer(message: dict[str, Any], result: Any) -> bytes:
        return json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}).encode()

    async def respond(self, send: Any, status: int, body: bytes) -> None:
        await send(
            {"type": "http.response.start", "status": status, "headers": [(b"content-type", b"application/json")]}
        )
        await send({"type": "http.response.body", "body": body})

    # Tools

    async def echo(self, message: dict[str, Any], receive: Any, send: Any) -> None:
        await self.respond(send, 200, self.answer(message, {"structuredContent": message["params"]["arguments"]}))

    async def slow(self, message: dict[str, Any], receive: Any, send: Any) -> None:
        """Tells progress at once, and answers only when the test says so."""
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-type", b"text/event-stream")]})
        params = {"progressToken": message["params"]["_meta"]["progressToken"], "progress": 1}
        progress = {"jsonrpc": "2.0", "method": "notifications/progress", "params": params}
        await send(
            {"type": "http.response.body", "body": f"data: {json.dumps(progress)}\n\n".encode(), "more_body": True}
        )
        await self.proceed.wait()
        await send({"type": "http.response.body", "body": b"data: " + self.answer(message, {}) + b"\n\n"})

    async def hangs(self, message: dict[str, Any], receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-type", b"text/event-stream")]})
        await send({"type": "http.response.body", "body": b":\n\n", "more_body": True})
        self.log.append("hangs")
        self.log.append((await receive())["type"])

    async def large(self, message: dict[str, Any], receive: Any, send: Any) -> None:
        body = self.answer(message, {"structuredContent": "x" * 5_000_000})
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-type", b"application/json")]})
        for at in range(0, len(body), 1 << 16):
            await send({"type": "http.response.body", "body": body[at : at + (1 << 16)], "more_body": True})
        await send({"type": "http.response.body"})

    async def raises(self, message: dict[str, Any], receive: Any, send: Any) -> None:
        raise LookupError("a bug")

    async def breaks(self, message: dict[str, Any], receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-type", b"application/json")]})
        await send({"type": "http.response.body", "body": b"{", "more_body": True})
        raise LookupError("a bug")


def running() -> int:
    return len(asyncio.all_tasks())


async def test_an_app_is_opened_without_a_socket_and_recorded(tmp_path: Path) -> None:
    before, app, path = running(), App(), tmp_path / "app.mcp.jsonl"
    async with inspector.open(app, record=path, headers={"X-Mine": "1"}) as session:
        assert (session.server.name, session.server.revision) == ("app", REVISION)
        assert (await session.call_tool("echo", {"a": 1})).structured == {"a": 1}
        assert repr(session) == "<inspector.Session http://localhost:8000/mcp, ready>"
        assert app.log == ["started"]
    assert app.log == ["started", "stopped"]
    assert running() == before
    headers = dict(app.scopes[0]["headers"])
    assert (headers[b"host"], headers[b"x-mine"]) == (b"localhost:8000", b"1")
    with inspector.recording(path) as recording:
        assert [exchange.result for exchange in recording.exchanges("method:tools/call")] == [
            {"structuredContent": {"a": 1}}
        ]
        assert [event.fields["status"] for event in recording.events("kind:http dir:recv")][:1] == [200]


async def test_an_event_stream_is_read_as_it_comes() -> None:
    app = App()
    async with inspector.open(app) as session:
        result = await session.call_tool("slow", progress=lambda _progress: app.proceed.set())
        assert result.raw == {}


async def test_a_large_answer_comes_whole_and_others_wait_for_no_one() -> None:
    async with inspector.open(App()) as session:
        results = await asyncio.gather(*(session.call_tool(name, {}) for name in ("large", "echo", "large")))
    assert [len(result.structured) for result in results] == [5_000_000, 0, 5_000_000]


async def test_an_app_is_told_that_the_client_has_gone_away() -> None:
    app = App()
    async with inspector.open(app) as session:
        call = asyncio.create_task(session.call_tool("hangs"))
        await until(lambda: "hangs" in app.log)
    with pytest.raises(inspector.InspectorError):
        await call
    assert "http.disconnect" in app.log


@pytest.mark.parametrize("tool", ["raises", "breaks"])
async def test_what_an_app_raises_is_the_cause(tool: str) -> None:
    async with inspector.open(App()) as session:
        with pytest.raises(inspector.ConnectionProblem, match="App raised LookupError during POST /mcp") as caught:
            await session.call_tool(tool)
    assert "bug" not in str(caught.value)
    causes = [caught.value.__cause__, getattr(caught.value.__cause__, "__cause__", None)]
    assert any(isinstance(cause, LookupError) for cause in causes)


async def test_a_startup_that_fails_says_why_and_one_that_is_missing_is_fine() -> None:
    session = inspector.open(App(startup=True))
    with pytest.raises(inspector.ConnectionProblem, match="The startup of App failed") as caught:
        await session.connect()
    assert isinstance(caught.value.__cause__, ConnectionRefusedError)
    async with inspector.open(App(no_lifespan=True)) as session:
        assert (await session.call_tool("echo", {})).structured == {}


async def test_an_app_that_ignores_its_cancellation_is_left_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(asgi, "STOP_SECONDS", 0.01)
    app = App(deaf=True)
    try:
        async with asyncio.timeout(5):
            async with inspector.open(app) as session:
                await session.call_tool("echo", {})
        assert app.log == ["started"]
    finally:
        app.proceed.set()
    await until(lambda: app.log == ["started", "stopped"])


async def test_objects_of_frameworks_make_their_apps() -> None:
    class Fast:
        name = "weather \x1b[2J"

        def http_app(self, path: str) -> App:
            return App(path=path)

    class Settings:
        streamable_http_path = "/other"

    class Official:
        settings = Settings()
        _session_manager: Any = None

        def streamable_http_app(self) -> App:
            assert self._session_manager is None
            self._session_manager = object()
            return App(path="/other")

    async with inspector.open(Fast(), path="/deep/mcp") as session:
        assert (await session.call_tool("echo", {})).structured == {}
        assert "\x1b" not in session.recording.header["target"]["label"]
    server = Official()
    server._session_manager = object()
    for _ in range(2):
        async with inspector.open(server) as session:
            assert (await session.call_tool("echo", {})).structured == {}


@pytest.mark.parametrize("kind", ["client", "transport"])
async def test_requests_go_through_an_httpx_client_or_transport(kind: str) -> None:
    transport = httpx.ASGITransport(App(no_lifespan=True))  # type: ignore[arg-type]
    seen: list[str] = []

    async def hook(request: httpx.Request) -> None:
        seen.append(request.method)

    async with httpx.AsyncClient(transport=transport, event_hooks={"request": [hook]}) as client:
        chosen = client if kind == "client" else transport
        async with inspector.open("http://example.test/mcp", transport=chosen) as session:
            assert (await session.call_tool("echo", {"a": 1})).structured == {"a": 1}
        assert not client.is_closed
    assert bool(seen) == (kind == "client")


@pytest.fixture
async def two_servers() -> AsyncIterator[tuple[Web, Web]]:
    """An MCP server that requires a login, and its authorization server, at another origin."""

    def guarded(request: Any, reply: Any) -> None:
        if request.target.startswith("/.well-known/oauth-protected-resource"):
            metadata = {"resource": mine.url, "authorization_servers": [f"http://127.0.0.1:{other.port}"]}
            reply.body(200, json.dumps(metadata), JSON)
        else:
            reply.body(401, "", ("WWW-Authenticate", "Bearer"), ("Set-Cookie", "session=1"))

    def authorizing(request: Any, reply: Any) -> None:
        issuer = f"http://127.0.0.1:{other.port}"
        metadata = {"issuer": issuer, "token_endpoint": f"{issuer}/token", "response_types_supported": ["code"]}
        reply.body(*((200, json.dumps(metadata)) if "well-known" in request.target else (400, "{}")), JSON)

    async with Web(guarded) as mine, Web(authorizing) as other:
        yield mine, other


async def test_the_credentials_of_an_httpx_client_go_to_the_origin_of_the_target_only(
    two_servers: tuple[Web, Web],
) -> None:
    """C-SEC-01: also those that its hooks add, and for every URL that the server names."""
    mine, other = two_servers

    async def hook(request: httpx.Request) -> None:
        request.headers["X-Key"] = "sesame"

    async with httpx.AsyncClient(
        auth=("alice", "sesame"), cookies={"a": "sesame"}, headers={"X-Own": "sesame"},
        event_hooks={"request": [hook]}, follow_redirects=True,
    ) as client:  # fmt: skip
        auth = AuthOptions(grant="client-credentials", client_id="me", client_secret="pw")
        with pytest.raises(inspector.AuthorizationNeeded):
            await inspector.open(mine.url, transport=client, auth=auth).connect()
    assert all(request.field("X-Key") == "sesame" for request in mine.requests)
    assert {request.target for request in other.requests} >= {"/.well-known/oauth-authorization-server", "/token"}
    for request in other.requests:
        assert "sesame" not in str(request.fields)
        assert request.field("Authorization") in (None, "Basic bWU6cHc=")
        assert request.field("Cookie") is None


async def test_probes_of_a_check_that_are_anonymous_have_no_credentials_of_an_httpx_client() -> None:
    seen: list[str | None] = []

    def answer(request: httpx.Request) -> httpx.Response:
        seen.append(request.headers.get("Authorization"))
        return httpx.Response(503)

    url = "https://mcp.example/mcp"
    async with httpx.AsyncClient(transport=httpx.MockTransport(answer), auth=("a", "b")) as client:
        target = HttpTarget(url, network=HttpxNetwork(client, "https://mcp.example"))
        web = HttpClient(target, Journal.unnamed({}), 1.0, "AUTH-01")
        await web.send("GET", own=False)
        await web.send("GET")
        await web.close()
    assert seen == [None, "Basic YTpi"]


async def test_what_an_httpx_transport_raises_is_reported() -> None:
    def refuse(request: httpx.Request) -> httpx.Response:
        raise httpx.ConnectError("secret text of a library")

    session = inspector.open("https://example.test/mcp?token=abc", transport=httpx.MockTransport(refuse))
    with pytest.raises(inspector.ConnectionProblem, match="ConnectError") as caught:
        await session.connect()
    assert "secret text" not in caught.value.message
    assert "abc" not in caught.value.message


@pytest.mark.parametrize(
    ("target", "options", "error"),
    [
        (7, {}, "Cannot open an object of type int"),
        (App(), {"env": {"A": "1"}}, "env="),
        (App(), {"path": "mcp"}, "Invalid path"),
        ("http://a.example/", {"path": "/x"}, "path= works only"),
        ("http://a.example/", {"transport": 7}, "Invalid transport"),
        ("true", {"transport": httpx.MockTransport(lambda _request: httpx.Response(200))}, "Pass a URL|is not a URL"),
    ],
)
async def test_what_cannot_be_opened_is_refused_at_once(target: Any, options: dict[str, Any], error: str) -> None:
    with pytest.raises(inspector.UsageError, match=error):
        inspector.open(target, **options)
