"""The doctor's own HTTP requests: recorded, never redirected, read only at the start."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from inspector.config.targets import HttpTarget
from inspector.doctor.diagnosis import Stopwatch
from inspector.errors import HttpError
from inspector.journal.format import Dir
from inspector.journal.journal import Journal
from inspector.protocol import jsonrpc
from inspector.protocol.jsonrpc import METHOD_NOT_FOUND, NotJson, Shape, shape_of
from inspector.protocol.names import VERSION_FIELD
from inspector.protocol.revisions import NEWEST_MODERN
from inspector.transports.base import HttpOptions
from inspector.transports.http_client import Endpoint, HttpAnswer
from inspector.transports.http_requests import JSON_TYPE, STREAM_TYPE
from inspector.transports.http_url import Url, parse_url
from inspector.version import __version__

BodyKind = Literal["answer", "stream", "json", "html", "empty", "text"]
GLANCE = 1 << 16
"""Maximum bytes of a body that are read."""
_PREFIX = "io.modelcontextprotocol/"
_META = {
    f"{_PREFIX}protocolVersion": NEWEST_MODERN,
    f"{_PREFIX}clientInfo": {"name": "inspector-doctor", "version": __version__},
    f"{_PREFIX}clientCapabilities": {},
}
QUESTION = jsonrpc.request("doctor", "server/discover", {"_meta": _META})
"""A request that every server may receive: its identity."""


@dataclass(slots=True)
class ProbeResponse:
    """A response, or the reason why there is none."""

    url: Url
    status: int = 0
    """0 without a response."""
    headers: list[tuple[str, str]] = field(default_factory=list)
    start: bytes = b""
    """The start of the body."""
    reason: str = ""
    hint: str = ""
    seconds: float = 0.0

    def header(self, name: str) -> str:
        """Return the first header of that name, or an empty text."""
        return next((value for key, value in self.headers if key.lower() == name.lower()), "")

    def all(self, name: str) -> list[str]:
        """Return all headers of that name."""
        return [value for key, value in self.headers if key.lower() == name.lower()]

    @property
    def media_type(self) -> str:
        """The content type without parameters, in lower case."""
        return self.header("content-type").partition(";")[0].strip().lower()

    @property
    def body(self) -> BodyKind:
        """The kind of the body, by its start more than by its type."""
        start = self.start.lstrip(b"\xef\xbb\xbf \t\r\n")
        if self.media_type == STREAM_TYPE or start.startswith((b"event:", b"data:", b"id:", b"retry:")):
            return "stream"
        if not start:
            return "empty"
        if start[:1] == b"<" and (b"<html" in start[:4000].lower() or b"<!doctype html" in start[:200].lower()):
            return "html"
        try:
            value = jsonrpc.parse(self.start)
        except NotJson:
            return "html" if "html" in self.media_type else "text"
        is_answer = shape_of(value) in (Shape.RESULT, Shape.ERROR) and "jsonrpc" in value
        return "answer" if is_answer else "json"

    @property
    def text(self) -> str:
        """The start of the body as text."""
        return self.start[:2000].decode("utf-8", "replace")

    @property
    def speaks(self) -> bool:
        """Whether the response is JSON-RPC to a POST, or an event stream."""
        if self.status == 404:
            # A missing path may also respond in JSON-RPC; a server that lacks the method has its own error code.
            return self.body == "answer" and self._code == METHOD_NOT_FOUND
        return self.body == "answer" or (self.body == "stream" and 200 <= self.status < 300)

    @property
    def _code(self) -> object:
        error = jsonrpc.parse(self.start).get("error")
        return error.get("code") if type(error) is dict else None


class ProbeClient:
    """Requests to a target's URL and other paths on its host. `close` it."""

    def __init__(self, target: HttpTarget, journal: Journal, seconds: float) -> None:
        self._target = target
        self._journal = journal
        self._seconds = seconds
        self._options = HttpOptions(proxy=target.proxy, verify=target.verify, connect_timeout=seconds)
        self._origin = parse_url(target.url).origin
        self._endpoints: dict[str, Endpoint] = {}
        self._count = 0

    async def ask(self, url: Url, *fields: tuple[str, str], seconds: float | None = None) -> ProbeResponse:
        """Send the harmless request as a POST."""
        version = (VERSION_FIELD, NEWEST_MODERN)
        kind, method = ("Content-Type", JSON_TYPE), ("Mcp-Method", "server/discover")
        accept = ("Accept", f"{JSON_TYPE}, {STREAM_TYPE}")
        return await self.send("POST", url, (kind, accept, version, method, *fields), jsonrpc.encode(QUESTION), seconds)

    async def listen(self, url: Url, *, seconds: float | None = None) -> ProbeResponse:
        """Read the start of an event stream of the HTTP+SSE transport."""
        return await self.send("GET", url, (("Accept", STREAM_TYPE),), b"", seconds)

    async def send(
        self, method: str, url: Url, fields: Sequence[tuple[str, str]], body: bytes = b"", seconds: float | None = None
    ) -> ProbeResponse:
        """Send one request. Never raises a failure of the other side."""
        self._count += 1
        channel = f"doctor-{self._count}"
        sent = [("Host", url.netloc), ("User-Agent", f"inspector/{__version__}"), *fields]
        if url.origin == self._origin:
            named = {name.lower() for name, _ in sent}
            sent += [(name, value) for name, value in self._target.headers if name.lower() not in named]
        if body:
            sent.append(("Content-Length", str(len(body))))
        self._journal.record_http(channel, Dir.SEND, method=method, url=url.text, headers=sent)
        if body:
            self._journal.record_sent(channel, body, QUESTION)
        answer, watch = ProbeResponse(url), Stopwatch()
        limit = self._seconds if seconds is None else seconds
        try:
            async with asyncio.timeout(limit):
                await self._exchange(answer, channel, method, url, sent, body)
        except TimeoutError:
            answer.reason = answer.reason or f"no response within {limit:g} s"
        except HttpError as error:
            answer.reason, answer.hint = error.message, error.hint
        answer.seconds = watch.seconds
        return answer

    async def _exchange(
        self, answer: ProbeResponse, channel: str, method: str, url: Url, sent: list[tuple[str, str]], body: bytes
    ) -> None:
        endpoint = self._endpoints.get(url.origin)
        if endpoint is None:
            endpoint = self._endpoints[url.origin] = Endpoint(url, self._options)
        response: HttpAnswer = await endpoint.exchange(
            method, url, sent, body, lasting=True, connected=lambda facts: self._connected(channel, facts)
        )
        answer.status, answer.headers = response.status, response.headers
        for cookie in answer.all("set-cookie"):
            self._journal.redactor.add_cookies(cookie.partition(";")[0])
        self._journal.record_http(
            channel,
            Dir.RECV,
            status=response.status,
            reason=response.reason,
            headers=response.headers,
            ms=round(response.ms, 3),
        )
        try:
            if answer.media_type == STREAM_TYPE:
                await response.pump(lambda chunk: _first(answer, chunk))
            else:
                answer.start, _ = await response.body(GLANCE)
        except _EnoughRead:
            pass
        finally:
            await response.aclose()
            if answer.start:
                status = f',"status":{answer.status}' if answer.status != 200 else ""
                self._journal.record_received(channel, [answer.start], status)

    def _connected(self, channel: str, facts: dict[str, Any]) -> None:
        self._journal.record_life(channel, "connect", **facts)

    async def close(self) -> None:
        """Close all connections. Idempotent."""
        for endpoint in self._endpoints.values():
            await endpoint.aclose()
        self._endpoints.clear()


class _EnoughRead(Exception):
    """Raised after the first piece of a stream, which is enough."""


def _first(answer: ProbeResponse, chunk: bytes) -> None:
    answer.start = chunk[:GLANCE]
    raise _EnoughRead
