"""HTTP+SSE: one event stream carries all messages of the server; POSTs go to a URL that it names.

Source: specification 2024-11-05, "Transports", "HTTP with SSE" (C-SSE-01, C-SSE-02, C-SSE-04). Resumption does not
exist: the session ends with its stream. The answer to a POST only says that the message was accepted, so a JSON-RPC
response in it is recorded (servers send it there and on the stream) but not passed on.

POSTs are sent at once and in parallel, as in Streamable HTTP. In sequence they would block with a server that answers
the POST of a call only when the call is done, and sends a request meanwhile. If the order matters `settled` waits.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator
from contextlib import suppress
from functools import partial
from urllib.parse import unquote_plus

from inspector.addresses import shown_url
from inspector.errors import AuthorizationNeeded, HttpError, InspectorError, NoSseEndpoint
from inspector.hints import Hint, Parameter, UnsetParameters
from inspector.journal import channels
from inspector.text import safe
from inspector.transports.base import HttpOptions, Outgoing, Sink, Transport
from inspector.transports.http import SEND_GRACE, SETTLE_SECONDS
from inspector.transports.http_client import HttpAnswer
from inspector.transports.http_requests import SMALL_BODY, STREAM_TYPE, Requester
from inspector.transports.http_status import browser_check_problem, excerpt, status_problem
from inspector.transports.http_stream import BEGINNING, ENDPOINT, EventStream
from inspector.transports.http_tasks import TransportTasks, a_fault
from inspector.transports.http_url import Url, resolve
from inspector.transports.response_matching import answers, parsed, rpc_error
from inspector.transports.sse_stream import SseEvent

MAX_LENGTH = 8192
"""Most characters of an endpoint; servers need a hundred."""
MAX_SECRETS = 8

_NAMES = frozenset(("sessionid", "session", "sid", "token", "connectionid", "clientid", "key"))
"""Names of the session id in a query, without case, hyphens and underscores."""
_MINTED = re.compile(r"(?=[^0-9]*[0-9])[A-Za-z0-9._~+=-]{16,256}\Z")
"""A value that looks random, under any name."""


def endpoint_url(text: str, began: Url) -> Url:
    """Return the URL of an endpoint event, relative to the stream's. Raises `HttpError`.

    It must have the stream's origin, so that neither messages nor credentials go elsewhere (C-SSE-04).
    """
    if len(text) > MAX_LENGTH:
        raise HttpError(
            f"{began.address} names an endpoint of {len(text):,} characters; at most {MAX_LENGTH:,} are allowed.",
            hint="The endpoint event should have a URI; its data is in the message log.",
        )
    try:
        url = resolve(began, text)
    except ValueError as error:
        raise HttpError(
            f"{began.address} names the invalid endpoint “{safe(text, 200)}”: {safe(str(error), 200)}.",
            hint="The endpoint event should have a URI of the server; its data is in the message log.",
        ) from None
    if url.origin != began.origin:
        raise HttpError(
            (
                f"{began.origin} names an endpoint of another origin, {shown_url(url.origin)}. Inspector "
                "does not use it: messages and credentials never go to another origin."
            ),
            hint="A server behind a proxy may not know its own URL. If you trust it, connect to the other origin.",
        )
    return url


def session_ids(text: str, began: Url) -> Iterator[str]:
    """Yield the values in an endpoint that must not be recorded, because a session's id gives access to it.

    These are session names in the query, and everything in path and query that looks random and is not from the user.
    """
    path, _, query = text[:MAX_LENGTH].partition("#")[0].partition("?")
    parts = [("", segment) for segment in path.split("/")]
    parts += [(name, value) for name, _, value in (part.partition("=") for part in re.split("[&;]", query))]
    count = 0
    for name, value in parts:
        named = name.replace("-", "").replace("_", "").lower() in _NAMES
        if count < MAX_SECRETS and value not in began.target and (named or _MINTED.match(value)):
            count += 1
            yield value
            if unquote_plus(value) != value:
                yield unquote_plus(value)


HEAD_SECONDS = 10.0
"""Seconds for the server to answer the GET, after the timeout of the connection."""
ENDPOINT_SECONDS = 10.0
"""Seconds for it to name the endpoint then."""
MAX_ENDPOINTS = 16
"""How often a server may name its endpoint: each contains secrets to redact in all that is recorded."""
CHANNEL = channels.of_get(1)
_SAYS_NOTHING = (b"", b"accepted", b"ok")
STREAMABLE = Hint(
    "HTTP+SSE begins with an event stream, often at /sse. For Streamable HTTP ",
    UnsetParameters((Parameter.TRANSPORT,)),
    ".",
)


class SseTransport(Transport):
    """A server at a URL whose GET is the event stream."""

    name = "sse"

    def __init__(self, url: str, sink: Sink, options: HttpOptions | None = None) -> None:
        """Raises `UsageError` for an invalid URL, proxy or header."""
        self.sink = sink
        self.requester = Requester(url, sink, options or HttpOptions())
        self._stream = EventStream(
            sink, CHANNEL, self.requester.url.address, self.requester.options.longest, heed=self._heed
        )
        self._began = self.requester.url
        """The URL of the stream after redirects: the endpoint is relative to it."""
        self._tasks = TransportTasks(sink)
        self._posting: dict[int | str, asyncio.Task[None]] = {}
        self._posts = 0
        self._endpoints = 0
        self._named: asyncio.Future[None]
        """Done when the endpoint is known."""
        self._reading: asyncio.Task[None]
        self._refused: HttpError | None = None
        self._open = False
        self._error: InspectorError | None = None
        """Why the connection is gone."""

    # Stream

    async def start(self) -> None:
        """Open the stream and wait for the endpoint (C-SSE-01).

        Raises `NoSseEndpoint` if the URL does not belong to an HTTP+SSE server, `AuthorizationNeeded`, and `HttpError`
        for a forbidden endpoint or a failed connection.
        """
        self.requester.start()
        self._named = asyncio.get_running_loop().create_future()
        self._reading = self._tasks.start(self._read(), waits=True, fault=lambda error: self._over(a_fault(error)))
        await self._named

    async def _read(self) -> None:
        try:
            await self._listen()
            error: InspectorError = HttpError(
                f"{self._began.address} closed its event stream.",
                hint=Hint("HTTP+SSE cannot resume a stream. ", Parameter.RECONNECT, "."),
            )
            if not self._endpoints:
                error = NoSseEndpoint(
                    f"{self._began.address} closed its event stream without naming an endpoint.", hint=STREAMABLE
                )
        except InspectorError as broken:
            error = broken
        finally:
            self._stream.end()
        self._over(error)

    async def _listen(self) -> None:
        answer = await self.requester.open(
            CHANNEL,
            "GET",
            self.requester.fields(STREAM_TYPE),
            lasting=True,
            seconds=self.requester.options.connect_timeout + HEAD_SECONDS,
        )
        self._began = answer.url
        if answer.status != 200 or answer.media_type != STREAM_TYPE:
            raise await self._no_stream(answer)
        self.sink.life(CHANNEL, "listening")
        patience = asyncio.get_running_loop().call_later(ENDPOINT_SECONDS, self._nothing_came)
        try:
            await answer.pump(self._on_chunk, self._tasks)
        finally:
            patience.cancel()

    def _nothing_came(self) -> None:
        if not self._named.done():
            self._reading.cancel()
            self._over(
                NoSseEndpoint(f"The event stream from {self._began.address} names no endpoint.", hint=STREAMABLE)
            )

    def _on_chunk(self, chunk: bytes) -> None:
        self._stream.feed(chunk)
        if self._refused is not None:
            raise self._refused

    def _over(self, error: InspectorError) -> None:
        """Handle that the stream has ended, and the connection with it."""
        self._error = error
        if self._open:
            self.sink.life(CHANNEL, "stream-end", events=self._stream.events, error=error.message)
            self.sink.lost(error)
        elif not self._named.done():
            self._named.set_exception(error)

    async def _no_stream(self, answer: HttpAnswer) -> InspectorError:
        """Return why the answer to the GET is not an event stream."""
        body = b""
        with suppress(TimeoutError):
            async with asyncio.timeout(ENDPOINT_SECONDS):
                body, _ = await answer.body(SMALL_BODY)
        words = {"body": safe(body.decode("utf-8", "replace"), 1000)} if body else {}
        self.sink.life(CHANNEL, "not-listening", status=answer.status, **words)
        where = answer.url.address
        refusal = browser_check_problem(answer, body, where)
        if refusal is not None:
            return refusal
        if answer.status in (401, 403):
            return status_problem(answer, body, where, "GET", session=False)
        error = rpc_error(parsed(body))
        text = safe(error.get("message"), 200) if error is not None else excerpt(body, answer.media_type)
        status = f"{answer.status} {safe(answer.reason, 60)}".rstrip()
        kind = "" if answer.status >= 300 else f" ({safe(answer.media_type, 60) or 'no content type'})"
        message = f"{where} answered {status} to GET{kind}" + (f": {text}" if text else ".")
        if answer.status >= 500 or answer.status == 429:
            return HttpError(message, hint="The server, or a proxy before it, is not ready.", status=answer.status)
        return NoSseEndpoint(
            message,
            hint=STREAMABLE,
            status=answer.status,
        )

    # The endpoint

    def _heed(self, event: SseEvent) -> None:
        """Handle an event before it is recorded: the session id in an endpoint is a secret."""
        if event.type != ENDPOINT or not event.data or self._refused is not None:
            return
        text = event.data.decode("utf-8", "replace")
        for secret in session_ids(text, self._began):
            self.sink.secret(secret)
        try:
            self._use(text)
        except HttpError as error:
            self._refused = error

    def _use(self, text: str) -> None:
        """Post to this URL from now on. The last one that was named counts."""
        self._endpoints += 1
        if self._endpoints > MAX_ENDPOINTS:
            raise HttpError(
                f"{self._began.address} named its endpoint more than {MAX_ENDPOINTS} times.",
                hint="A server should name it once, at the start of the stream.",
            )
        self.requester.url = endpoint_url(text, self._began)
        if not self._named.done():
            self._open = True
            self._named.set_result(None)

    # Send

    def send(self, outgoing: Outgoing) -> None:
        """Record the message and start its POST, on a separate channel."""
        if self._error is not None:
            raise self._error.with_traceback(None)  # without it, each raise adds its frames to the kept error
        if not self._open:
            raise HttpError("The connection is closed.", hint=Hint(Parameter.RECONNECT, "."))
        self._posts += 1
        channel = channels.of_post(self._posts)
        self.sink.sent(channel, outgoing)
        id = outgoing.id
        post = partial(self._post, channel, outgoing)
        task = self._tasks.start(
            self._tasks.in_turn(post) if id is None and not outgoing.method else post(),
            waits=id is not None,
            fault=lambda error: self.sink.failed(outgoing, a_fault(error)),
        )
        if id is not None:
            self._posting[id] = task
            task.add_done_callback(lambda done: self._posting.get(id) is done and self._posting.pop(id))

    async def _post(self, channel: str, outgoing: Outgoing) -> None:
        fields = self.requester.body_fields(
            len(outgoing.data), era_headers=outgoing.headers, winners=outgoing.user_headers
        )
        try:
            answer = await self.requester.open(channel, "POST", fields, outgoing.data, about=outgoing.method)
            if 200 <= answer.status < 300:
                await self._accepted(channel, outgoing, answer)
            else:
                await self._rejected(channel, outgoing, answer)
        except InspectorError as error:
            self.sink.failed(outgoing, error)

    async def _accepted(self, channel: str, outgoing: Outgoing, answer: HttpAnswer) -> None:
        """Accept any success, with any body: the answer comes on the stream (C-SSE-02)."""
        if answer.media_type == STREAM_TYPE:
            await answer.aclose()
            return
        body, _ = await answer.body(SMALL_BODY)
        if body.strip().lower() not in _SAYS_NOTHING:
            self.sink.life(
                channel,
                "accepted",
                **{"for": outgoing.n},
                status=answer.status,
                body=safe(body.decode("utf-8", "replace"), 1000),
            )

    async def _rejected(self, channel: str, outgoing: Outgoing, answer: HttpAnswer) -> None:
        """Handle a message that was not accepted. A JSON-RPC error in the body answers the request, with any id."""
        body, whole = await answer.body(BEGINNING)
        problem = status_problem(answer, body, answer.url.address, outgoing.method, session=False)
        if isinstance(problem, HttpError) and answer.status in (404, 405, 410):
            problem = HttpError(
                problem.message,
                hint=Hint("The server named this URL itself. It may have lost the session. ", Parameter.RECONNECT, "."),
                status=answer.status,
            )
        unauthorized = isinstance(problem, AuthorizationNeeded)
        if unauthorized:
            # Before the body is passed on: an error response in it would end the request before it can be repeated.
            self.sink.failed(outgoing, problem)
        if body:
            cut = not whole and parsed(body) is None
            self.sink.received(channel, [body], f',"status":{answer.status}', cut=cut)
        answered = outgoing.id is not None and answers(body, outgoing.id)
        if not (unauthorized or answered):
            self.sink.failed(outgoing, problem)

    # Calls of the driver

    def agreed(self, revision: str, *, version_header: bool, resumable: bool, listen: bool) -> None:
        """Set the version header, if the revision has one; the stream is open and cannot be resumed."""
        self.requester.revision = revision if version_header else None

    async def settled(self) -> None:
        """Wait for the POSTs of notifications: each has its own connection, and the next one may overtake it."""
        await self._tasks.settled(SETTLE_SECONDS)

    def abandon(self, id: int | str) -> None:
        """Stop waiting for an answer. A late one is recorded as long as the stream lives."""
        task = self._posting.get(id)
        if task is not None:
            task.cancel()

    async def close(self) -> None:
        """Send the last notifications while the session still has its stream, then close everything. Idempotent."""
        if self._error is None:
            self._error = HttpError("The connection is closed.", hint=Hint(Parameter.RECONNECT, "."))
        self._open = False
        await self._tasks.settled(SEND_GRACE)
        await self._tasks.cancel()
        await self.requester.aclose()
