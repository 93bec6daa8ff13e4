"""One POST and its response: a JSON body, an event stream, its resumption, or a failure."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Protocol

from inspector.errors import AuthorizationNeeded, HttpError, InspectorError, LimitReached, SessionLost
from inspector.hints import Hint, Parameter
from inspector.protocol.jsonrpc import Shape, shape_of
from inspector.protocol.names import SESSION_FIELD
from inspector.transports.base import Outgoing
from inspector.transports.http_body import ReadGate
from inspector.transports.http_client import HttpAnswer
from inspector.transports.http_requests import JSON_TYPE, RESUME_FIELD, SMALL_BODY, STREAM_TYPE, Requester
from inspector.transports.http_status import no_answer, status_problem
from inspector.transports.http_stream import BEGINNING, RESUMING, EventStream, too_large
from inspector.transports.response_matching import answers, parsed

RESUME_ATTEMPTS = 5
"""Reconnects in a row without new events after which the exchange fails."""
LATE_SECONDS = 30.0
"""Seconds for which an abandoned exchange is still read for its late answer."""
LATE_BYTES = 16 << 20
"""Bytes that an abandoned exchange may still deliver."""
ELSEWHERE_SECONDS = 1.0
"""Seconds for the answer on the standing stream after a request was only accepted (202)."""

_SSE_STARTS = (b"data:", b"event:", b"id:", b"retry:", b":")


class ExchangeOwner(Protocol):
    """The interface of the transport for its exchanges."""

    requester: Requester
    resumable: bool
    gate: ReadGate
    """Pauses reading while too many replies to the server are being sent."""
    between_sessions: bool
    """The server no longer knows the session, and another one has not begun."""

    @property
    def listening(self) -> bool:
        """Whether a standing stream is open that may deliver answers."""

    def session_begun(self, channel: str, session_id: str | None) -> None:
        """Set the session of a successful answer to `initialize`, or none."""

    def session_lost(self, session_id: str) -> None:
        """Drop a session that the server no longer knows."""


class HttpExchange:
    """One outgoing message and its response. `run` is its task's body."""

    def __init__(self, owner: ExchangeOwner, channel: str, outgoing: Outgoing) -> None:
        self.owner = owner
        self.channel = channel
        self.outgoing = outgoing
        self.settled = False
        """The answer came, or the sink has the error."""
        self.abandoned = False
        requester = owner.requester
        self._requester = requester
        self._sink = requester.sink
        self._where = requester.url.address
        self._limit = requester.options.longest
        self._gate = owner.gate if outgoing.id is not None else None
        """A reply must not wait for itself."""
        self._opens = outgoing.method == "initialize"
        self._session = None if self._opens else requester.session_id
        self._lacks_session = owner.between_sessions and not self._opens
        self._fields = requester.body_fields(
            len(outgoing.data), fresh=self._opens, era_headers=outgoing.headers, winners=outgoing.user_headers
        )
        self._answer: HttpAnswer
        self._offered: str | None = None
        self._claimed = b""
        self._late = 0
        self._stream: EventStream | None = None
        self._parts: list[bytes] = []
        self._size = 0

    async def run(self) -> None:
        """Send, read, and report to the sink if there will be no answer."""
        try:
            await self._run()
        except InspectorError as error:
            self._fail(error)
        finally:
            self._leave()

    async def _run(self) -> None:
        answer = self._answer = await self._requester.open(
            self.channel, "POST", self._fields, self.outgoing.data, about=self.outgoing.method
        )
        if self._opens:
            self._offered = answer.header(SESSION_FIELD) or None
        broken: InspectorError | None = None
        try:
            await answer.pump(self._on_chunk, self)
        except InspectorError as error:
            broken = error
        if self._stream is None:
            await self._settle_body(broken)
        else:
            await self._settle_stream(self._stream, broken)

    # Read

    @property
    def crowded(self) -> bool:
        """Whether reading pauses (see `ReadGate`). A body that is not a stream has messages only at its end."""
        return self._stream is not None and self._gate is not None and self._gate.crowded

    async def room(self) -> None:
        """Wait until reading may continue."""
        if self._gate is not None:
            await self._gate.room()

    def _on_chunk(self, chunk: bytes) -> None:
        self._count_late(len(chunk))
        if self._stream is not None:
            self._stream.feed(chunk)
            return
        if not self._parts and self._is_stream(chunk):
            self._begin_stream().feed(chunk)
            return
        self._parts.append(chunk)
        self._size += len(chunk)
        if self._size > self._limit:
            raise too_large(self._where, self._limit)

    def _is_stream(self, start: bytes) -> bool:
        """Decide by the content type, unless the first bytes clearly show otherwise."""
        if self._answer.media_type == STREAM_TYPE:
            return start.lstrip()[:1] not in (b"{", b"[")
        return self._answer.status < 300 and self._answer.media_type != JSON_TYPE and _looks_like_events(start)

    def _begin_stream(self) -> EventStream:
        self._stream = EventStream(self._sink, self.channel, self._where, self._limit, self._watch, self._unread)
        return self._stream

    def _count_late(self, more: int) -> None:
        """Limit the answer of an abandoned request."""
        if self.abandoned:
            self._late += more
            if self._late > LATE_BYTES:
                raise HttpError(f"The answer from {self._where} to an abandoned request was cut off.")

    def _watch(self, messages: Sequence[bytes]) -> None:
        """Check each message before the sink: whether it is the answer, and whether it starts a session."""
        id = self.outgoing.id
        if id is None or self.settled:
            return
        for raw in messages:
            if answers(raw, id):
                self.settled = True
                self._claimed = raw
                if self._opens and shape_of(parsed(raw)) == Shape.RESULT:
                    self.owner.session_begun(self.channel, self._offered)
                return

    def _unread(self, messages: Sequence[bytes]) -> None:
        """Not all of them are JSON: what looked like the answer by its ends may be invalid in the middle."""
        if self.settled and self._claimed in messages and parsed(self._claimed) is None:
            self.settled = False

    def _leave(self) -> None:
        """Record what an interrupted read had received."""
        if self._parts:
            body, self._parts = b"".join(self._parts), []
            self._sink.received(self.channel, [body], cut=True)
        if self._stream is not None:
            self._stream.end()

    # A whole body

    async def _settle_body(self, broken: InspectorError | None) -> None:
        body, self._parts = b"".join(self._parts), []
        answer = self._answer
        if broken is None and answer.status < 300 and _looks_like_events(body) and parsed(body) is None:
            stream = self._begin_stream()
            stream.feed(body)
            await self._settle_stream(stream, None)
            return
        problem = self._status_problem(answer, body)
        if isinstance(problem, (AuthorizationNeeded, SessionLost)):
            # Before the body is passed on: an error response in it would end the request before it can be repeated.
            self._fail(problem)
        if isinstance(broken, LimitReached):
            body = body[: min(self._limit, BEGINNING)]
        if body:
            cut = broken is not None and parsed(body) is None
            self._watch([body])
            about = "" if answer.status == 200 else f',"status":{answer.status}'
            if not self._sink.received(self.channel, [body], about, cut=cut):
                self._unread([body])
        if self.settled:
            return
        if problem is None and self.outgoing.id is not None:
            if answer.status == 202 and self.owner.listening:
                self._sink.life(self.channel, "accepted", **{"for": self.outgoing.n, "status": answer.status})
                await asyncio.sleep(ELSEWHERE_SECONDS)
            problem = broken or no_answer(answer, body, self._where, self.outgoing)
        if problem is not None:
            self._fail(problem)

    def _status_problem(self, answer: HttpAnswer, body: bytes) -> InspectorError | None:
        if 200 <= answer.status < 300:
            return None
        if self._lacks_session and answer.status in (400, 404):
            # It was sent before the next session began: the caller sends it again in that one.
            return SessionLost(
                f"{self._where} wants a session (status {answer.status}).", hint=Hint(Parameter.RECONNECT, ".")
            )
        return status_problem(answer, body, self._where, self.outgoing.method, session=self._session is not None)

    def _fail(self, error: InspectorError) -> None:
        if isinstance(error, SessionLost):
            if self._session is not None:
                self.owner.session_lost(self._session)
            error.renewed = not self.owner.between_sessions
        if not self.settled:
            self.settled = True
            self._sink.failed(self.outgoing, error)

    # An event stream

    async def _settle_stream(self, stream: EventStream, broken: InspectorError | None) -> None:
        self._stream_ended(stream, broken)
        if self.settled or self.outgoing.id is None:
            return
        problem = self._status_problem(self._answer, b"")
        if problem is None and isinstance(broken, LimitReached):
            problem = broken
        if problem is None:
            problem = await self._resume(stream, broken)
        if problem is not None:
            self._fail(problem)

    def _stream_ended(self, stream: EventStream, broken: InspectorError | None) -> None:
        stream.end()
        fields = {"error": broken.message} if broken is not None else {}
        self._sink.life(self.channel, "stream-end", **{"for": self.outgoing.n, "events": stream.events}, **fields)

    async def _resume(self, stream: EventStream, broken: InspectorError | None) -> InspectorError | None:
        """Continue after `Last-Event-ID` until the answer arrives (C-HTTP-15, C-HTTP-17). Returns the error, if any."""
        attempt = 0
        while self.owner.resumable and stream.resume_id and attempt < RESUME_ATTEMPTS and not self.abandoned:
            wait = stream.pause(attempt, RESUMING)
            attempt += 1
            await asyncio.sleep(wait)
            self._sink.life(
                self.channel,
                "reconnect",
                **{"for": self.outgoing.n, "attempt": attempt, "waited_ms": round(wait * 1000)},
                after=stream.resume_id,
            )
            before = stream.news
            try:
                final = await self._read_on(stream)
                broken = None
            except LimitReached as error:
                return error
            except InspectorError as error:
                final, broken = None, error
            if self.settled or final is not None:
                return final
            if stream.news > before:
                attempt = 0
        return self._gone(stream, broken)

    async def _read_on(self, stream: EventStream) -> InspectorError | None:
        """Send one GET that resumes the stream. Returns an error if further attempts are pointless."""
        era_headers = [*self.outgoing.headers, (RESUME_FIELD, stream.resume_id)]
        answer = await self._requester.open(
            self.channel, "GET", self._requester.fields(STREAM_TYPE, era_headers=era_headers)
        )
        if answer.status == 200 and answer.media_type == STREAM_TYPE:
            broken: InspectorError | None = None
            try:
                await answer.pump(self._on_chunk, self)
            except InspectorError as error:
                broken = error
                raise
            finally:
                self._stream_ended(stream, broken)
            return None
        body, _ = await answer.body(SMALL_BODY)
        problem = self._status_problem(answer, body)
        if isinstance(problem, (AuthorizationNeeded, SessionLost)):
            return problem
        if problem is not None and (answer.status >= 500 or answer.status == 429):
            raise problem
        return HttpError(
            (
                f"The stream of {self.outgoing.method} from {self._where} ended before the answer and cannot "
                f"be resumed: the server answered {answer.status} to the GET with {RESUME_FIELD}."
            ),
            hint="Send the request again if that is safe.",
            status=answer.status,
        )

    def _gone(self, stream: EventStream, broken: InspectorError | None) -> HttpError:
        message = (
            f"The event stream from {self._where} ended before the answer to {self.outgoing.method or 'the request'}."
        )
        if broken is not None:
            message += f" {broken.message}"
        if not self.owner.resumable:
            hint = "This revision of the protocol cannot resume a stream; send the request again if that is safe."
        elif not stream.resume_id:
            hint = "No event had an id, so the stream cannot be resumed; send the request again if that is safe."
        else:
            hint = (
                f"{RESUME_ATTEMPTS} attempts to resume it delivered nothing new; send the request again "
                "if that is safe."
            )
        return HttpError(message, hint=hint)


def _looks_like_events(start: bytes) -> bool:
    return start.startswith(_SSE_STARTS)
