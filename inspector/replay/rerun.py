"""Reruns a recorded client against a live server: the same messages, in the same order and concurrency.

A message is sent when everything that the recorded client had received before it has arrived from the live server too.
The server's questions get their recorded answers. Each response is compared with the recorded one.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from typing import Any

from inspector.client.bare_connection import BareConnection
from inspector.client.engine.connect import Connect, transport_for
from inspector.client.options import Options
from inspector.compare.rules import DEFAULT, ComparisonRules
from inspector.compare.values import compare
from inspector.config.targets import Target
from inspector.errors import ConnectionProblem, InspectorError
from inspector.journal.format import Dir, Kind
from inspector.journal.index import State
from inspector.journal.journal import Frame, Journal
from inspector.protocol import jsonrpc
from inspector.protocol.exact_json.tokens import JsonSyntaxError, JsonToken, tokens, unquote
from inspector.protocol.jsonrpc import Shape
from inspector.protocol.members import subject_of, text_at, value_at
from inspector.replay.report import RerunOutcome, RerunReport, RerunVerdict
from inspector.replay.script import ClientScript, ScriptStep
from inspector.transports.base import Outgoing
from inspector.transports.response_matching import id_span


def body_of(message: Any, id: Any = None) -> dict[str, Any]:
    """Return the compared part of a response: its result or its error. Of a batch, the response to `id`."""
    if type(message) is list:
        message = next((item for item in message if type(item) is dict and item.get("id") == id), None)
    if type(message) is not dict:
        return {}
    return {key: message[key] for key in ("result", "error") if key in message}


def status_of(body: dict[str, Any]) -> str:
    """Return the status in a task response, or an empty text."""
    return text_at(body, "result", "status")


def name_of(message: Any) -> str:
    return subject_of(value_at(message, "params"))


def with_id(data: bytes, id: int | str) -> bytes:
    """Return a response with another id, byte-identical otherwise if possible."""
    span = id_span(data)
    if span is not None:
        return data[: span[0]] + jsonrpc.encode(id) + data[span[1] :]
    return jsonrpc.encode({**jsonrpc.parse(data), "id": id})


_MADE_UP = frozenset(("nextCursor", "taskId", "requestState", "elicitationId"))
_HANDED_BACK = frozenset(("cursor", "taskId", "requestState", "elicitationId"))
_MAX_DEPTH = 64
_MAX_COUNT = 100_000
"""Maximum values of one response that are compared."""


class LiveValues:
    """The live replacements of recorded values. `names` are the user's keys, in addition to those of the protocol."""

    def __init__(self, names: Iterable[str] = ()) -> None:
        self._names = frozenset(names)
        self._values: dict[str, Any] = {}
        """Recorded text or number, as JSON text → the live one."""
        self._anywhere: dict[str, Any] = {}
        """The same for the user's keys, whose values may occur under any key."""
        self._keys: dict[str, str] = {}
        """Recorded key of an input request → the live key."""

    def learn(self, recorded: Any, live: Any) -> None:
        """Compare two responses, or two questions, for values that the client will send back."""
        if type(recorded) is dict and type(live) is dict:
            self._learn_keys(recorded.get("inputRequests"), live.get("inputRequests"))
        for key, before, now in _side_by_side(recorded, live):
            if type(before) not in (str, int) or type(now) not in (str, int) or before == now:
                continue
            if key in _MADE_UP:
                self._values[json.dumps(before)] = now
            elif key in self._names:
                self._anywhere[json.dumps(before)] = now

    def _learn_keys(self, recorded: Any, live: Any) -> None:
        """Match the server's own keys of input requests: those of the same method, in order."""
        if type(recorded) is not dict or type(live) is not dict:
            return
        left = [key for key in live if key not in recorded]
        for key, asked in recorded.items():
            if key in live:
                continue
            method = value_at(asked, "method")
            same = next((other for other in left if value_at(live[other], "method") == method), None)
            if same is not None:
                self._keys[key] = same
                left.remove(same)

    def rewritten(self, data: bytes) -> bytes:
        """Return a message of the recorded client with live values; the same bytes if nothing changes."""
        if not (self._values or self._anywhere or self._keys):
            return data
        try:
            text = data.decode()
            changes = list(self._changes(text))
        except (UnicodeDecodeError, JsonSyntaxError):
            return data
        for start, end, value in reversed(changes):
            text = text[:start] + json.dumps(value, ensure_ascii=False) + text[end:]
        return text.encode("utf-8", "surrogatepass")

    def _changes(self, text: str) -> Iterator[tuple[int, int, Any]]:
        """Yield the replacements: start, end, value."""
        key, depth, responses = "", 0, -1
        for token, start, end in tokens(text):
            if token is JsonToken.KEY:
                key = unquote(text[start:end])
                if depth == responses and key in self._keys:
                    yield start, end, self._keys[key]
            elif token is JsonToken.CLOSE:
                depth -= 1
                responses = -1 if depth < responses else responses
                key = ""
            elif token is JsonToken.SCALAR:
                written = _canonical(text[start:end])
                if key in _HANDED_BACK and written in self._values:
                    yield start, end, self._values[written]
                elif written in self._anywhere and key not in ("id", "method", "jsonrpc"):
                    yield start, end, self._anywhere[written]
            else:
                depth += 1
                if key == "inputResponses" and token is JsonToken.OBJECT and responses < 0:
                    responses = depth


def _canonical(text: str) -> str:
    """Return a scalar as `json.dumps` writes it."""
    return json.dumps(unquote(text)) if text.startswith('"') else text


def _side_by_side(recorded: Any, live: Any) -> Iterator[tuple[str, Any, Any]]:
    """Yield the scalars at the same place in both values, with their key."""
    stack = [("", recorded, live, 0)]
    seen = 0
    while stack and seen < _MAX_COUNT:
        key, left, right, depth = stack.pop()
        seen += 1
        if type(left) is dict and type(right) is dict and depth < _MAX_DEPTH:
            stack += [(name, value, right[name], depth + 1) for name, value in left.items() if name in right]
        elif type(left) is list and type(right) is list and depth < _MAX_DEPTH:
            stack += [(key, *both, depth + 1) for both in zip(left, right, strict=False)]
        elif not isinstance(left, (dict, list)) and not isinstance(right, (dict, list)):
            yield key, left, right


PATIENCE = 5.0
"""Seconds to wait for the server's own messages that came before the next message in the recording."""
_POLL = 0.5
"""Seconds between two polls of a task that had progressed further in the recording, if the server names no interval."""
_LOOK, _WORKING = "tasks/get", "working"
_LISTEN = "subscriptions/listen"
_GRACE = 0.2
"""Seconds at the end to wait for unexpected questions."""


class Rerun:
    """Runs the script of `recording` against `target`. The new messages are recorded in `journal`."""

    def __init__(
        self,
        recording: Journal,
        target: Target,
        journal: Journal,
        rules: ComparisonRules = DEFAULT,
        options: Options | None = None,
        *,
        carry: Sequence[str] = (),
        pace: float | None = None,
        on_outcome: Callable[[RerunOutcome], None] = lambda _outcome: None,
        connect: Connect = transport_for,
    ) -> None:
        """`pace`: 1.0 keeps the recorded pauses between messages, 2.0 halves them, None has none."""
        self.recording = recording
        self.target = target
        self.journal = journal
        self.report = RerunReport()
        self._rules = rules
        self._options = options or Options()
        self._script = ClientScript(recording)
        self._carried = LiveValues(carry)
        self._pace = pace
        self._on_outcome = on_outcome
        self._connect_to = connect
        self._connection: BareConnection | None = None
        self._lost: InspectorError | None = None
        self._unreached: InspectorError | None = None
        """Why a request failed before the server had sent anything."""
        self._asked: dict[int, RerunOutcome] = {}
        """The sent requests, by their number in the recording."""
        self._open: dict[int, RerunOutcome] = {}
        """The open requests, by their number in the new recording."""
        self._again: dict[int, int] = {}
        """Repeated polls: number of the new request → number of the first one."""
        self._timers: set[asyncio.TimerHandle] = set()
        self._progress: dict[int, int] = {}
        self._received: dict[str, int] = {}
        self._news = asyncio.Event()
        self._redacted: list[int] = []
        journal.exact_frames = True

    async def run(self) -> RerunReport:
        """Run every step, then wait for the remaining responses. Never raises a failure of the server."""
        expected: dict[str, int] = {}
        try:
            for step in self._script.steps():
                if self._pace and step.pause:
                    await asyncio.sleep(step.pause / 1e6 / self._pace)
                for method in step.received:
                    expected[method] = expected.get(method, 0) + 1
                await self._until_seen(step, expected)
                await self._do(step)
            await self._until_answered()
            if self._unreached is not None and self._connection is not None and not self._connection.has_received:
                self._end(self._unreached)
        except InspectorError as error:
            self._end(error)
        finally:
            for timer in self._timers:
                timer.cancel()
            if self._connection is not None:
                await self._connection.close()
        self._conclude()
        return self.report

    def kill_now(self) -> None:
        """Kill the server immediately, for exits without time to wait."""
        if self._connection is not None:
            self._connection.transport.kill_now()

    # Steps

    async def _do(self, step: ScriptStep) -> None:
        if step.do == "connect":
            await self._connect()
        elif step.do == "send":
            self._send(step.n)
        else:
            outcome = self._asked.get(step.n)
            if outcome is not None:
                await self._until_progressed(outcome, self._progress_wanted(step))
                id = self.recording.index.id(step.n)
                if id is not None and self._connection is not None:
                    self._connection.close_stream(id)

    async def _connect(self) -> None:
        if self._connection is not None:
            await self._connection.close()
            self._open.clear()
        self._lost = None
        self._connection = BareConnection(self.target, self.journal, self, self._options, connect=self._connect_to)
        await self._connection.open()

    def _send(self, n: int) -> None:
        """Send the recorded message `n`, with the live server's own values."""
        index = self.recording.index
        event = self.recording.event(n)
        if event.fields.get("redacted"):
            self._redacted.append(n)
        if self._connection is None or self._lost is not None:
            raise self._lost or ConnectionProblem("The connection is lost.")
        asks = index.shape(n) == Shape.REQUEST
        outcome = RerunOutcome(n, index.method(n), name_of(event.message))
        if asks:
            self._asked[n] = outcome
            self.report.outcomes.append(outcome)
        outcome.live = self._connection.send(self._carried.rewritten(event.bytes))
        if asks and outcome.live:
            self._open[outcome.live] = outcome

    def _progress_wanted(self, step: ScriptStep) -> int:
        return self._script.progress_before(step.n, self.recording.index.count + 1)

    # Waiting

    async def _until_seen(self, step: ScriptStep, expected: dict[str, int]) -> None:
        """Wait for the responses that the recorded client had by now, and for a limited time for the other messages."""
        awaited = [
            outcome
            for n in step.after
            if (outcome := self._asked.get(self.recording.index.pair(n))) is not None and outcome.live in self._open
        ]
        if awaited:
            await self._wait(lambda: not any(outcome.live in self._open for outcome in awaited), self._options.timeout)
            for outcome in awaited:
                self._unanswered(outcome)
        if step.do == "send":
            cancelled = self._request_cancelled_by(step.n)
            if cancelled is not None:
                await self._until_progressed(cancelled, self._script.progress_before(cancelled.recorded, step.n))
        if step.received:
            missing = [method for method in set(step.received) if self._received.get(method, 0) < expected[method]]
            if missing and not await self._wait(
                lambda: all(self._received.get(method, 0) >= expected[method] for method in missing), PATIENCE
            ):
                still = [method for method in missing if self._received.get(method, 0) < expected[method]]
                self.report.notes.append(f"Before message {step.n} the server had sent {', '.join(sorted(still))}.")

    def _request_cancelled_by(self, n: int) -> RerunOutcome | None:
        index = self.recording.index
        if index.method(n) != "notifications/cancelled":
            return None
        return self._asked.get(index.pair(n))

    async def _until_progressed(self, outcome: RerunOutcome, count: int) -> None:
        """Wait until a request has made as much progress as at its recorded cancellation."""
        live = outcome.live
        await self._wait(lambda: self._progress.get(live, 0) >= count or live not in self._open, PATIENCE)

    async def _until_answered(self) -> None:
        """Wait for the last responses; requests without a recorded response are not awaited."""
        index = self.recording.index
        awaited = [
            outcome
            for outcome in self._open.values()
            if (answer := index.pair(outcome.recorded))
            # A subscription that failed, or ended after the last message, ended with its connection.
            and not (outcome.method == _LISTEN and (index.shape(answer) == Shape.ERROR or answer > self._last_sent()))
        ]
        if awaited:
            await self._wait(lambda: not any(outcome.live in self._open for outcome in awaited), self._options.timeout)
        for outcome in awaited:
            self._unanswered(outcome)
        await self._wait(lambda: False, _GRACE)

    def _last_sent(self) -> int:
        """Return the last message of the recorded client."""
        index = self.recording.index
        sent = (n for n in range(index.count, 0, -1) if index.dir(n) == Dir.SEND and index.kind(n) == Kind.RPC)
        return next(sent, 0)

    async def _wait(self, met: Callable[[], bool], seconds: float) -> bool:
        """Wait for a condition; False after a timeout or a lost connection."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                while not met() and self._lost is None:
                    self._news.clear()
                    await self._news.wait()
        return met()

    def _unanswered(self, outcome: RerunOutcome) -> None:
        if self._open.pop(outcome.live, None) is not None:
            outcome.note = (
                self._lost.message if self._lost is not None else f"no answer within {self._options.timeout:g} s"
            )
            self._judged(outcome, "no answer")

    # Incoming messages (the connection's listener)

    def on_received(self, messages: Sequence[bytes], frames: Sequence[Frame]) -> None:
        """Process responses, answer questions, count the server's own messages."""
        for frame in frames:
            items = frame.message if frame.shape is Shape.BATCH else (frame.message,)
            for item in items:
                self._process(frame, item)
        self._news.set()

    def _process(self, frame: Frame, message: Any) -> None:
        shape = jsonrpc.shape_of(message)
        index = self.journal.index
        if shape in (Shape.RESULT, Shape.ERROR):
            asked = index.pair(frame.n)
            outcome = self._open.get(self._again.get(asked, asked))
            if outcome is not None and not self._is_too_early(outcome, message):
                del self._open[outcome.live]
                self._compare(outcome, message, self._as_recorded(frame, message))
        elif shape is Shape.REQUEST:
            self._answer(frame, message)
        elif shape is Shape.NOTIFICATION:
            method = message["method"]
            self._received[method] = self._received.get(method, 0) + 1
            if method == "notifications/progress":
                about = index.pair(frame.n)
                self._progress[about] = self._progress.get(about, 0) + 1

    def on_stderr(self, lines: Sequence[bytes]) -> None:
        """Ignore stderr: it is in the new recording, and not compared."""

    def on_failed(self, outgoing: Outgoing, error: InspectorError) -> None:
        """Handle a request that failed alone: as recorded, or a difference."""
        outcome = self._open.pop(self._again.get(outgoing.n, outgoing.n), None)
        if isinstance(error, ConnectionProblem) and error.connecting:
            self._unreached = error
        if outcome is not None:
            outcome.note = error.message
            failed_then = self.recording.index.state(outcome.recorded) in (State.ERROR, State.LOST)
            answered_then = self.recording.index.pair(outcome.recorded)
            self._judged(outcome, "same" if failed_then and not answered_then else "no answer")
        self._news.set()

    def on_lost(self, error: InspectorError) -> None:
        """Handle the loss of the server: nothing more can be sent."""
        self._lost = error
        self._news.set()

    # Judging

    def _as_recorded(self, frame: Frame, message: dict[str, Any]) -> Any:
        """Return a response as the new recording has it, with the same redactions as the old one."""
        return self.journal.event(frame.n).message if self.journal.redactor.active else message

    def _compare(self, outcome: RerunOutcome, message: dict[str, Any], as_recorded: Any) -> None:
        answer = self.recording.index.pair(outcome.recorded)
        if not answer:
            outcome.note = "the recording has no response to it"
            self._judged(outcome, "not recorded")
            return
        recorded = body_of(self.recording.event(answer).message, self.recording.index.id(outcome.recorded))
        live = body_of(message)
        self._carried.learn(recorded.get("result"), live.get("result"))
        if outcome.method == _LOOK and status_of(recorded) == _WORKING and status_of(live):
            outcome.note = "the progress of a task depends on time"
            self._judged(outcome, "same")
            return
        self._hold(outcome, recorded, body_of(as_recorded, message.get("id")))

    def _is_too_early(self, outcome: RerunOutcome, message: dict[str, Any]) -> bool:
        """Whether a task had progressed further in the recording; it is then polled again."""
        answer = self.recording.index.pair(outcome.recorded)
        live = body_of(message)
        if outcome.method != _LOOK or status_of(live) != _WORKING or not answer:
            return False
        if status_of(body_of(self.recording.event(answer).message)) in ("", _WORKING):
            return False
        every = live["result"].get("pollInterval", live["result"].get("pollIntervalMs"))
        seconds = every / 1000 if type(every) is int and 0 < every <= 60_000 else _POLL
        self._timers.add(asyncio.get_running_loop().call_later(seconds, self._look_again, outcome))
        return True

    def _look_again(self, outcome: RerunOutcome) -> None:
        if self._connection is None or outcome.live not in self._open:
            return
        data = self._carried.rewritten(self.recording.event(outcome.recorded).bytes)
        request = {**jsonrpc.parse(data), "id": f"rerun-{len(self._again) + 1}"}
        with suppress(ConnectionProblem):  # `on_lost` reports the reason.
            self._again[self._connection.send(jsonrpc.encode(request))] = outcome.live

    def _hold(self, outcome: RerunOutcome, recorded: Any, live: Any) -> None:
        """Compare a live response with the recorded one."""
        comparison = compare(recorded, live, self._rules, method=outcome.method, name=outcome.name)
        outcome.differences = comparison.differences
        self._judged(outcome, "same" if comparison.same else "different")

    def _judged(self, outcome: RerunOutcome, verdict: RerunVerdict) -> None:
        outcome.verdict = verdict
        self._on_outcome(outcome)

    def _answer(self, frame: Frame, message: dict[str, Any]) -> None:
        """Answer the server's question as recorded; refuse and report a new one."""
        id, method, params = message["id"], message["method"], message.get("params")
        if jsonrpc.id_key(id) is None or self._connection is None:
            return
        if method == "ping":
            self._reply(jsonrpc.encode(jsonrpc.result(id, {})))
            return
        around = self._asked_by_live(self.journal.index.parent(frame.n))
        question, answer = self._script.answer_to(method, params, around)
        outcome = RerunOutcome(question, method, name_of(message), frame.n, question=True)
        self.report.outcomes.append(outcome)
        if not question:
            outcome.note = "the recording does not have this question"
            self._judged(outcome, "not recorded")
            self._reply(jsonrpc.encode(jsonrpc.error(id, jsonrpc.INTERNAL_ERROR, "The recording has no answer.")))
            return
        if self._script.asked_alone(question):
            self._received[method] = self._received.get(method, 0) + 1
        recorded = self.recording.event(question).message.get("params")
        self._carried.learn(recorded, params)
        self._hold(outcome, {"params": recorded}, {"params": params})
        if answer:
            self._reply(with_id(self._carried.rewritten(self.recording.event(answer).bytes), id))

    def _asked_by_live(self, n: int) -> int:
        """Return the recorded request that was sent as the live one `n`."""
        outcome = self._open.get(n) if n else None
        return outcome.recorded if outcome is not None else 0

    def _reply(self, data: bytes) -> None:
        if self._connection is not None:
            with suppress(ConnectionProblem):  # `on_lost` reports the reason.
                self._connection.send(data)

    def _end(self, error: InspectorError) -> None:
        self.report.error = error
        for outcome in list(self._open.values()):
            self._unanswered(outcome)

    def _conclude(self) -> None:
        """Add what was not asked and not sent, and sort everything by the recording's order."""
        index = self.recording.index
        if self._redacted:
            first, more = self._redacted[0], len(self._redacted) - 1
            also = f" (and {more} more)" if more else ""
            self.report.notes.append(f"Message {first}{also} was redacted in the recording, and was sent redacted.")
        for outcome in self._open.values():
            answered = index.pair(outcome.recorded)
            outcome.note = "it ended with its connection" if answered else "it was not answered, recorded or live"
            self._judged(outcome, "same")
        for n in self._script.unasked():
            event = self.recording.event(n)
            outcome = RerunOutcome(n, index.method(n), name_of(event.message), question=True)
            outcome.note = "the recorded server asked this"
            self.report.outcomes.append(outcome)
            self._judged(outcome, "not asked")
        if self.report.error is not None:
            for step in self._script.steps():
                if step.do == "send" and step.n not in self._asked and index.shape(step.n) == Shape.REQUEST:
                    event = self.recording.event(step.n)
                    self.report.outcomes.append(RerunOutcome(step.n, index.method(step.n), name_of(event.message)))
        for outcome in self.report.outcomes:
            elapsed = self.journal.index.duration(outcome.live) if outcome.live else None
            outcome.seconds = (elapsed or 0) / 1e6
        # A new question follows the last request sent before it.
        place = 0
        order: dict[int, tuple[int, int]] = {}
        for at, outcome in enumerate(self.report.outcomes):
            place = outcome.recorded or place
            order[id(outcome)] = (place, at)
        self.report.outcomes = sorted(self.report.outcomes, key=lambda outcome: order[id(outcome)])
