"""One request of a client on its way to an answer: the stage on which its recorded exchange is played."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from inspector.journal import channels
from inspector.journal.format import Dir, Event, Kind
from inspector.journal.index import State
from inspector.protocol import jsonrpc
from inspector.protocol.jsonrpc import Shape, encode
from inspector.replay.mock_faults import Fault
from inspector.replay.mock_http import field, status_of
from inspector.serving.base import Form, Reply
from inspector.transports.recorded import fate
from inspector.transports.recorded_play import Question
from inspector.transports.recorded_requests import NOT_RECORDED

if TYPE_CHECKING:
    from inspector.replay.mock_client import MockClient

_FORMS: dict[str, Form] = {"application/json": "json", "text/event-stream": "sse"}
_DRAIN_EVERY = 64
BREATH = 0.005
"""Seconds before an answer that follows other messages, which the client is given time to read first: some clients lose
the progress that they read together with the answer."""


class Answering:
    """What becomes of one live request. `message` is the request, `n` the recorded one that stands for it (0: none)."""

    def __init__(self, client: MockClient, message: dict[str, Any], reply: Reply, n: int = 0) -> None:
        self.reply = reply
        self._client = client
        self._message = message
        self._n = n
        self._form: Form | None = None
        """As it was recorded over HTTP, or has been decided."""
        self._status: int | None = None
        self._retry: int | None = None
        self._body = b""
        self._sent = 0
        self._begun = False
        index = client.mock.journal.index
        answer = index.pair(n) if n else 0
        self._apart = not (answer and channels.is_get(index.channel(answer)))
        """What came on a standing stream came apart from this exchange (not so over HTTP+SSE, where all did)."""

    @property
    def id(self) -> Any:
        """The id of the live request."""
        return self._message.get("id")

    # The stage

    async def deliver(self, raw: bytes, m: int, event: Event, *, answer: bool) -> None:
        """Send what the recorded server sent."""
        if event.kind == Kind.INVALID and self._status is not None and self._status >= 400:
            self._body = raw
        elif answer:
            await self._answer(raw, m)
        elif event.shape is Shape.NOTIFICATION and self._client.teller.tell_listener(m, event):
            return  # It only happened to come while this call was under way.
        elif (self._apart and channels.is_get(event.ch)) or self._form == "json":
            self._client.push(raw, m)
        else:
            self._begin("sse")
            self.send(raw, m, cut=event.fields.get("cut") is True)
        self._sent += 1
        if self._sent % _DRAIN_EVERY == 0:
            await self.reply.drain()

    async def passed(self, m: int) -> None:
        """HTTP heads say how the answer stood; where the client had said something, the server may go on."""
        journal = self._client.mock.journal
        kind, dir = journal.index.kind(m), journal.index.dir(m)
        if dir == Dir.SEND and kind == Kind.RPC:
            self._client.teller.tell(m)
        elif kind == Kind.HTTP and dir == Dir.RECV:
            self._head(journal.event(m).fields)
        elif kind == Kind.SSE:
            retry = journal.event(m).fields.get("retry")
            self._retry = retry if type(retry) is int and 0 <= retry < 1 << 31 else self._retry
        elif kind == Kind.LIFE and journal.event(m).fields.get("event") == "stream-end" and self._may_come_back():
            self.reply.cut(retry=self._retry)

    def _may_come_back(self) -> bool:
        return self._form == "sse" and self._client.mock.binding.resumable and self._client.client.transport == "http"

    def _head(self, fields: dict[str, Any]) -> None:
        status = fields.get("status")
        if type(status) is not int or not 200 <= status < 600 or self._form is not None:
            return
        form = _FORMS.get((field(fields, "content-type") or "").partition(";")[0].strip().lower())
        if form is not None or status >= 400:
            self._status = status
            if status < 400 and form is not None:
                self._form = form
                if form == "sse":
                    self._begin("sse", status)

    def ask(self, id: Any) -> Question:
        """Expect the client's answer to a question."""
        return self._client.questions.ask(id)

    def forget(self, questions: list[Question]) -> None:
        """Expect no answers to these any more."""
        self._client.questions.forget(questions)

    async def wait(self, microseconds: int) -> None:
        """Keep the pace."""
        await self._client.mock.wait(microseconds)

    # Sending

    def _begin(self, form: Form, status: int = 200) -> None:
        self._form = self._form or form
        if not self._begun:
            self._begun = True
            self._client.begin(self.reply, self._form, self._status or status)

    def listen(self) -> None:
        """Begin a stream that stays open."""
        self._begin("sse")

    def send(self, raw: bytes, m: int = 0, *, cut: bool = False) -> None:
        """Record and send one message."""
        self._client.record(self.reply.channel, raw, m, cut=cut)
        self.reply.send(raw)

    async def _answer(self, raw: bytes, m: int) -> None:
        mock = self._client.mock
        if self._sent and mock.options.speed is None:
            await self.reply.drain()
            await mock.sleep(BREATH)
        delay, fault = self._client.faults.striking(m)
        if delay:
            self._struck(f"delay={delay}", "delay", m)
            await mock.sleep(delay / 1000)
        if fault is not None:
            self._struck(fault.text, fault.kind, m)
            if not self._damaged(fault, raw, m):
                return
            raw = self._changed(fault, raw)
        message = mock.journal.event(m).message
        self._begin("json", status_of(message, modern=mock.conduct.modern and not mock.conduct.over_http))
        self.send(raw, m)
        self.reply.end()
        mock.tally.counts["answered"] += 1
        self._client.teller.tell(m)

    def _struck(self, text: str, kind: str, m: int) -> None:
        self._client.mock.tally.counts[f"fault:{kind}"] += 1
        self._client.journal.record_note(f"fault: {text}", fault=kind, recorded=m)

    def _damaged(self, fault: Fault, raw: bytes, m: int) -> bool:
        """Do what the fault does to the connection. Whether anything is to be sent all the same."""
        if fault.kind == "disconnect":
            self.reply.cut()
        elif fault.kind == "cut":
            self._begin("json")
            self._client.record(self.reply.channel, raw[: len(raw) // 2], m, cut=True)
            self.reply.cut(raw[: len(raw) // 2])
        return fault.kind in ("corrupt", "error")

    def _changed(self, fault: Fault, raw: bytes) -> bytes:
        if fault.kind == "corrupt":
            return self._client.faults.corrupted(raw)
        return encode(jsonrpc.error(self.id, fault.value, "This error was asked for with --fault."))

    def pass_on(self, raw: bytes) -> None:
        """What a live server says while it is at this request."""
        self._begin("sse")
        self.send(raw)

    def deliver_foreign(self, raw: bytes, message: dict[str, Any]) -> None:
        """The answer of a live server."""
        self._begin("json", status_of(message, modern=self._client.mock.conduct.modern))
        self.send(raw)
        self.reply.end()

    def result(self, value: Any) -> None:
        """Answer with something that is in no recording."""
        self._begin("json")
        self.send(encode(jsonrpc.result(self.id, value)))
        self.reply.end()

    def error(self, code: int, text: str, data: Any = None, *, status: int | None = None) -> None:
        """Answer with an error of our own."""
        body = jsonrpc.error(self.id, code, text, data)
        self._begin("json", status or status_of(body, modern=self._client.mock.conduct.modern))
        self.send(encode(body))
        self.reply.end()

    async def without_answer(self) -> None:
        """The exchange is over and had no answer: be as silent as the recorded server, or say that it is not there."""
        mock = self._client.mock
        refusal = mock.timeline.refusals.get(self._n)
        if refusal is not None:
            message = mock.journal.event(refusal).message
            await self._answer(encode({**message, "id": self.id}), refusal)
            return
        state = mock.journal.index.state(self._n)
        if state in (State.CANCELLED, State.TIMED_OUT):
            await self._client.silence()
        mock.tally.counts["unanswered"] += 1
        if self._status is not None and self._status >= 400:
            if not channels.is_stdio(self.reply.channel):
                self._client.begin(self.reply, "json", self._status, "text/plain; charset=utf-8")
                self.send(self._body)
                self.reply.end()
                return
            why = f"the recorded server answered with HTTP {self._status}"
        else:
            why = fate(mock.journal, self._n)
        method = mock.journal.index.method(self._n)
        self._client.journal.record_note(f"no answer: {method}: {why}", unanswered=self._n)
        self.error(NOT_RECORDED, f"The recording has no answer to {method[:200]}: {why}.")
