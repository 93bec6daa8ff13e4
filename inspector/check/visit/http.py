"""HTTP for checks: any method, headers and body, at the server's endpoint or next to it. Recorded.

Requests and responses are recorded like others, with one channel for each request. Each request is marked as a probe:
only the check judges its response.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from inspector.addresses import may_lead_to
from inspector.config.targets import HttpTarget
from inspector.errors import HttpError
from inspector.journal import channels
from inspector.journal.format import Dir
from inspector.journal.journal import Journal
from inspector.protocol.jsonrpc import NotJson, Shape, parse, shape_of
from inspector.transports.base import HttpOptions
from inspector.transports.http_client import Endpoint, HttpAnswer
from inspector.transports.http_url import Url, parse_url
from inspector.transports.sse_stream import SseEvent, SseParser

JSON = ("Content-Type", "application/json")
ACCEPT = ("Accept", "application/json, text/event-stream")
MAX_BODY = 4 << 20
"""Bytes of a body that are read."""
MAX_EVENTS = 10_000
"""Events of a stream that are read."""


@dataclass(slots=True)
class RecordedResponse:
    """A response, or the reason why there is none."""

    n: int
    """The event of the request's head."""
    status: int = 0
    """0 without a response."""
    headers: list[tuple[str, str]] = field(default_factory=list)
    body: bytes = b""
    whole: bool = True
    """Whether the body ended; False for a stream that we stopped reading, or that broke off."""
    response_n: int = 0
    """The event of the response's head."""
    message_n: int = 0
    """The event of the first message in its body."""
    stream: list[SseEvent] = field(default_factory=list)
    """The events of a stream, including those without a message."""
    messages: list[Any] = field(default_factory=list)
    """The JSON values of the body: one, or one for each event of a stream."""
    reason: str = ""
    """The reason for a missing response."""
    seconds: float = 0.0

    def header(self, name: str) -> str | None:
        """The first header of this name."""
        return next((value for key, value in self.headers if key.lower() == name.lower()), None)

    @property
    def media_type(self) -> str:
        """The Content-Type without parameters, in lower case."""
        return (self.header("content-type") or "").partition(";")[0].strip().lower()

    @property
    def message(self) -> dict[str, Any]:
        """The first JSON-RPC response of the body; an empty object if there is none."""
        for item in self.messages:
            if shape_of(item) in (Shape.RESULT, Shape.ERROR):
                message: dict[str, Any] = item
                return message
        return {}

    @property
    def code(self) -> Any:
        """The code of the JSON-RPC error in the body."""
        error = self.message.get("error")
        return error.get("code") if type(error) is dict else None

    @property
    def refused(self) -> bool:
        """Whether the status is an error."""
        return self.status >= 400

    @property
    def events(self) -> tuple[int, ...]:
        """The evidence."""
        return tuple(n for n in (self.n, self.response_n, self.message_n) if n)

    @property
    def brief(self) -> str:
        """The response in a few words for a sentence."""
        if not self.status:
            return self.reason or "no response"
        code = f" and error {self.code}" if self.code is not None else ""
        return f"status {self.status}{code}"


class HttpClient:
    """Requests to one server, on its own connections; call `close`."""

    def __init__(
        self, target: HttpTarget, journal: Journal, timeout: float, check: str, overdue: dict[int, float] | None = None
    ) -> None:
        """Requests without a response in time are added to `overdue`, with the seconds waited."""
        self.target = target
        self.journal = journal
        self.check = check
        """The check that uses it, whose name is recorded with its requests."""
        self.conn = journal.new_conn()
        self._overdue = {} if overdue is None else overdue
        self.timeout = timeout
        self.url: Url = parse_url(target.url)
        self.endpoint = self.url.text
        """Where requests of the protocol go: the URL, or where it redirects within its origin."""
        self._options = HttpOptions(proxy=target.proxy, verify=target.verify, network=target.network)
        self._endpoints: dict[str, Endpoint] = {}
        self._count = 0

    async def send(
        self,
        method: str = "POST",
        *,
        url: str | None = None,
        fields: Sequence[tuple[str, str]] = (JSON, ACCEPT),
        body: bytes = b"",
        host: str | None = None,
        message: Any = None,
        until: int = 1,
        limit: int = MAX_EVENTS,
        timeout: float | None = None,
        own: bool = True,
        secrets: Sequence[str] = (),
    ) -> RecordedResponse:
        """Send one request; `own`: with the target's own headers and credentials if it goes to the target's origin.

        `url` overrides the server's URL; `host` replaces the name in the `Host` header; `message` is the parsed body if
        it is a message. A stream is read until `until` is satisfied or `limit` events have come; with 0 only its head.
        Members of the response named in `secrets` are removed from the recording. Never raises because of the server.
        """
        where = self.url if url is None else parse_url(url)
        self._count += 1
        channel = channels.of_post(f"check-{self._count}")
        sent = [("Host", host or where.netloc), *fields]
        known = {name.lower() for name, _ in sent}
        here = where.origin == self.url.origin
        if own and here:
            sent += [(name, value) for name, value in self.target.headers if name.lower() not in known]
        if body or method in ("POST", "PUT", "PATCH"):
            sent.append(("Content-Length", str(len(body))))
        with self.journal.probing(self.check):
            n = self.journal.record_http(channel, Dir.SEND, method=method, url=where.text, headers=sent, conn=self.conn)
            if body:
                parsed = message if message is not None else _parsed(body)
                self.journal.record_sent(channel, body, parsed, conn=self.conn)
        answer = RecordedResponse(n)
        if not here and not may_lead_to(where.host, self.url.host):
            answer.reason = (
                f"{where.origin} is private, and the server is not in that network: the request was not sent"
            )
            return answer
        loop = asyncio.get_running_loop()
        began = loop.time()
        try:
            async with asyncio.timeout(self.timeout if timeout is None else timeout):
                await self._exchange(answer, channel, method, where, sent, body, until, limit, secrets, not own)
        except TimeoutError:
            answer.whole = False
            self._overdue[n] = loop.time() - began
            answer.reason = answer.reason or f"no response within {self.timeout if timeout is None else timeout:g} s"
        except HttpError as error:
            answer.whole = False
            answer.reason = error.message
        answer.seconds = loop.time() - began
        return answer

    async def _exchange(
        self,
        answer: RecordedResponse,
        channel: str,
        method: str,
        where: Url,
        sent: Sequence[tuple[str, str]],
        body: bytes,
        until: int,
        limit: int,
        secrets: Sequence[str],
        anonymous: bool,
    ) -> None:
        endpoint = self._endpoints.get(where.origin)
        if endpoint is None:
            endpoint = self._endpoints[where.origin] = Endpoint(where, self._options)
        response = await endpoint.exchange(
            method, where, sent, body, lasting=True, anonymous=anonymous, connected=self._connected(where)
        )
        try:
            answer.status, answer.headers = response.status, response.headers
            answer.response_n = self.journal.record_http(
                channel,
                Dir.RECV,
                status=response.status,
                headers=response.headers,
                ms=round(response.ms, 3),
                conn=self.conn,
            )
            if answer.media_type == "text/event-stream":
                if until and limit:
                    await self._events(answer, channel, response, until, limit)
                else:
                    answer.whole = False
            else:
                answer.body, answer.whole = await response.body(MAX_BODY)
                if answer.body:
                    self._learn(_parsed(answer.body), secrets)
                    self._add_message(answer, channel, answer.body)
        finally:
            await response.aclose()

    def _connected(self, where: Url) -> Callable[[dict[str, Any]], None]:
        """A name may resolve to an address in a network to which the server must not lead us (C-SEC-02)."""

        def refuse_private(facts: dict[str, Any]) -> None:
            # A proxy looks the name up itself, and its own address says nothing.
            if where.origin == self.url.origin or "proxy" in facts:
                return
            if not may_lead_to(str(facts.get("address", "")), self.url.host):
                raise HttpError(
                    f"{where.origin} has a private address, and the server is not in that network: the request was not "
                    "sent."
                )

        return refuse_private

    def _learn(self, value: Any, secrets: Sequence[str]) -> None:
        """The recording learns secrets before it gets them."""
        for name in secrets:
            secret = value.get(name) if type(value) is dict else None
            if isinstance(secret, str):
                self.journal.redactor.add(secret)

    async def _events(
        self, answer: RecordedResponse, channel: str, response: HttpAnswer, until: int, limit: int
    ) -> None:
        """Read a stream up to its responses; it may never end."""
        parser = SseParser()

        def deliver(chunk: bytes) -> None:
            answer.body += chunk[: max(0, MAX_BODY - len(answer.body))]
            for event in parser.feed(chunk):
                answer.stream.append(event)
                if event.data:
                    self._add_message(answer, channel, event.data)
                else:
                    self.journal.record_sse(channel, "", id=event.id, retry=event.retry, conn=self.conn)
            answers = sum(shape_of(item) in (Shape.RESULT, Shape.ERROR) for item in answer.messages)
            if answers >= until or len(answer.stream) >= limit or len(answer.body) >= MAX_BODY:
                raise _EnoughRead

        with suppress(_EnoughRead):
            await response.pump(deliver)
            return
        answer.whole = False

    def _add_message(self, answer: RecordedResponse, channel: str, text: bytes) -> None:
        status = f',"status":{answer.status}' if answer.status != 200 else ""
        self.journal.record_received(channel, [text], status, conn=self.conn)
        answer.message_n = answer.message_n or len(self.journal)
        value = _parsed(text)
        if value is not None:
            answer.messages.append(value)

    async def close(self) -> None:
        """Close all connections. Idempotent."""
        for endpoint in self._endpoints.values():
            await endpoint.aclose()
        self._endpoints.clear()


class _EnoughRead(Exception):
    """Whether a stream has brought what the check waits for."""


def _parsed(body: bytes) -> Any:
    try:
        return parse(body)
    except NotJson:
        return None
