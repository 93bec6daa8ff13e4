"""Streamable HTTP: each message is a separate POST, answered by JSON or by an event stream.

Source: specification, "Transports", "Streamable HTTP" of revisions 2025-03-26 to 2026-07-28 (C-HTTP-01 … C-HTTP-38).
The era's driver decides what is used: the handshake's era has a session id, a version header, a standing stream and
resumption, all of them off until `agreed` or the server's answers switch them on; the modern era sends its headers with
each message and cancels by closing a stream (`close_stream`).
"""

from __future__ import annotations

import asyncio
from typing import Any

from inspector.errors import ConnectionProblem, HttpError, LimitReached
from inspector.hints import Hint, Parameter
from inspector.journal import channels
from inspector.text import safe
from inspector.transports.base import HttpOptions, Outgoing, Sink, Transport
from inspector.transports.http_body import ReadGate
from inspector.transports.http_exchange import LATE_SECONDS, HttpExchange
from inspector.transports.http_requests import JSON_TYPE, RESUME_FIELD, SMALL_BODY, STREAM_TYPE, Requester
from inspector.transports.http_stream import STANDING, EventStream
from inspector.transports.http_tasks import TransportTasks, a_fault, cancelled

LASTED = 5.0
"""Seconds after which a stream counts as successful, even without events."""


class StandingStream:
    """Keeps a standing stream open as long as the session lives. Its end is never an error of the session.

    Reading pauses while the gate is crowded.
    """

    def __init__(self, requester: Requester, channel: str, gate: ReadGate, *, resumable: bool) -> None:
        self._requester = requester
        self._sink = requester.sink
        self._gate = gate
        self.channel = channel
        self.open = False
        """Whether the server has a standing stream open now."""
        self._resumable = resumable
        self._stream = EventStream(requester.sink, channel, requester.url.address, requester.options.longest)

    async def run(self) -> None:
        """Open the stream, again whenever it ends, until the server refuses it."""
        attempt = 0
        loop = asyncio.get_running_loop()
        while True:
            before, began = self._stream.news, loop.time()
            reason: dict[str, Any] = {}
            try:
                if not await self._listen():
                    return
            except HttpError as error:
                reason = {"error": error.message}
                if error.status is not None:  # a redirect that is not followed; more attempts would end the same way
                    self._life("not-listening", status=error.status, **reason)
                    return
            except LimitReached as error:
                reason = {"error": error.message}
            finally:
                self.open = False
                self._stream.end()
            worked = self._stream.news > before or loop.time() - began > LASTED
            attempt = 0 if worked else attempt + 1
            wait = self._stream.pause(attempt, STANDING)
            self._life("stream-end", events=self._stream.events, wait_ms=round(wait * 1000), **reason)
            await asyncio.sleep(wait)
            self._life("reconnect", attempt=attempt + 1, after=self._after() or None)

    async def _listen(self) -> bool:
        """Send one GET and read it to its end. False: the server offers no standing stream."""
        after = self._after()
        era_headers = [(RESUME_FIELD, after)] if after else []
        fields = self._requester.fields(STREAM_TYPE, era_headers=era_headers)
        answer = await self._requester.open(self.channel, "GET", fields, lasting=True)
        if answer.status == 200 and answer.media_type == STREAM_TYPE:
            self.open = True
            self._life("listening")
            await answer.pump(self._stream.feed, self._gate)
            return True
        body, _ = await answer.body(SMALL_BODY)
        again = answer.status >= 500 or answer.status == 429
        facts = {"body": safe(body.decode("utf-8", "replace"), 1000)} if body else {}
        self._life("listen-failed" if again else "not-listening", status=answer.status, **facts)
        return again

    def _after(self) -> str:
        return self._stream.resume_id if self._resumable else ""

    def _life(self, event: str, **fields: Any) -> None:
        self._sink.life(self.channel, event, **fields)


SETTLE_SECONDS = 2.0
"""Seconds to wait for notifications to be accepted before the next request is sent anyway."""
SEND_GRACE = 0.3
"""Seconds for unsent notifications and answers when the transport is closed."""
DELETE_GRACE = 0.6
"""Seconds for the DELETE that ends the session."""


class HttpTransport(Transport):
    """A server at a URL."""

    name = "http"

    def __init__(self, url: str, sink: Sink, options: HttpOptions | None = None) -> None:
        """Raises `UsageError` for an invalid URL, proxy or header."""
        self.sink = sink
        self.requester = Requester(url, sink, options or HttpOptions())
        self.resumable = False
        self.between_sessions = False
        self._exchanges: dict[int | str, tuple[HttpExchange, asyncio.Task[None]]] = {}
        self._tasks = TransportTasks(sink)
        self.gate: ReadGate = self._tasks
        self._timers: dict[int | str, asyncio.TimerHandle] = {}
        self._listener: StandingStream | None = None
        self._listening: asyncio.Task[None] | None = None
        self._posts = 0
        self._gets = 0
        self._closed = False

    @property
    def listening(self) -> bool:
        """Whether the server has a standing stream open."""
        return self._listener is not None and self._listener.open

    async def start(self) -> None:
        """Prepare; the first message makes the first connection."""
        self.requester.start()

    # Send

    def send(self, outgoing: Outgoing) -> None:
        """Record the message and start its POST, on a separate channel (C-HTTP-01)."""
        if self._closed:
            raise HttpError("The connection is closed.", hint=Hint(Parameter.RECONNECT, "."))
        self._posts += 1
        channel = channels.of_post(self._posts)
        # Its head, or what happens instead, is recorded before it is sent, and writes both.
        self.sink.sent(channel, outgoing, hold=True)
        exchange = HttpExchange(self, channel, outgoing)
        is_reply = outgoing.id is None and not outgoing.method
        task = self._tasks.start(
            self._tasks.in_turn(exchange.run) if is_reply else exchange.run(),
            waits=outgoing.id is not None,
            fault=lambda error: self.sink.failed(outgoing, a_fault(error)),
        )
        if outgoing.id is not None:
            self._exchanges[outgoing.id] = exchange, task
            task.add_done_callback(lambda _: self._ended(exchange))

    def _ended(self, exchange: HttpExchange) -> None:
        id = exchange.outgoing.id
        if id is not None and self._exchanges.get(id, (None,))[0] is exchange:
            del self._exchanges[id]
            timer = self._timers.pop(id, None)
            if timer is not None:
                timer.cancel()

    # Calls of the driver

    def agreed(self, revision: str, *, version_header: bool, resumable: bool, listen: bool) -> None:
        """Set the version header (C-HTTP-11), resumption and the standing stream from now on."""
        self.requester.revision = revision if version_header else None
        self.resumable = resumable
        self._stop_listening()
        if listen and not self._closed:
            self._gets += 1
            self._listener = StandingStream(self.requester, channels.of_get(self._gets), self.gate, resumable=resumable)
            self._listening = self._tasks.start(self._listener.run(), waits=True)

    def _stop_listening(self) -> None:
        if self._listening is not None:
            self._listening.cancel()
        self._listening = self._listener = None

    async def settled(self) -> None:
        """Wait for the POSTs of notifications: each has its own connection, and the next one may overtake it."""
        await self._tasks.settled(SETTLE_SECONDS)

    def abandon(self, id: int | str) -> None:
        """Stop waiting for an answer; for a while a late one is still recorded."""
        running = self._exchanges.get(id)
        if running is not None and not running[0].abandoned:
            running[0].abandoned = True
            self._timers[id] = asyncio.get_running_loop().call_later(LATE_SECONDS, self._cut_off, id)

    def _cut_off(self, id: int | str) -> None:
        self._timers.pop(id, None)
        self.close_stream(id, reason="request abandoned")

    def close_stream(self, id: int | str, *, reason: str = "cancelled") -> bool:
        """Close the exchange of a request now: this cancels it in the modern era (C-HTTP-36)."""
        running = self._exchanges.get(id)
        if running is not None:
            exchange, task = running
            self.sink.life(exchange.channel, "stream-closed", **{"for": exchange.outgoing.n, "reason": reason})
            task.cancel()
        return True

    # Session id

    def session_begun(self, channel: str, session_id: str | None) -> None:
        """Set the session of a successful `initialize`, or none (C-HTTP-10). The id is a secret (C-HTTP-20)."""
        self.requester.session_id = session_id
        self.between_sessions = False
        if session_id is not None:
            self.sink.secret(session_id)
            self.sink.life(channel, "session", id=session_id)

    def session_lost(self, session_id: str) -> None:
        """Drop a session that the server no longer knows: the next `initialize` starts another (C-HTTP-12)."""
        if self.requester.session_id == session_id:
            self.requester.session_id = None
            self.between_sessions = True
            self._stop_listening()

    # Close

    async def close(self) -> None:
        """Send the last notifications, end the session with a DELETE (C-HTTP-13), close everything. Idempotent."""
        if self._closed:
            return
        self._closed = True
        for timer in self._timers.values():
            timer.cancel()
        self._timers.clear()
        await self._tasks.cancel(waiting=True)
        await self._tasks.settled(SEND_GRACE)
        await self._tasks.cancel()
        if self.requester.session_id is not None:
            deleting = asyncio.get_running_loop().create_task(self._delete())
            await asyncio.wait([deleting], timeout=DELETE_GRACE)
            await cancelled([deleting])
        await self.requester.aclose()

    async def _delete(self) -> None:
        try:
            answer = await self.requester.open(
                "delete-1", "DELETE", self.requester.fields(f"{JSON_TYPE}, {STREAM_TYPE}")
            )
            await answer.aclose()
        except ConnectionProblem as error:
            self.sink.life("delete-1", "delete-failed", error=error.message)
