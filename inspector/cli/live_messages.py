"""Prints messages of the server while a command waits: log messages as lines on stderr, progress as one updated line.

It also reports messages that cannot be used, with the reason, so that a command does not wait without explanation.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from inspector.cli.output import ProgressLine
from inspector.client.engine.timeout_reason import printed_text
from inspector.client.inbox import TOPICS
from inspector.client.listening_address import listening_address
from inspector.config.targets import StdioTarget
from inspector.journal.alterations import was_withheld
from inspector.journal.format import Dir, Kind
from inspector.journal.index import State
from inspector.journal.query import Query
from inspector.protocol.jsonrpc import Shape

if TYPE_CHECKING:
    from inspector.cli.output import Output
    from inspector.cli.server_questions import QuestionPrompts
    from inspector.client.engine.pending_requests import Call
    from inspector.client.session import Session

LOOK_EVERY = 0.05
"""Seconds between two looks at the journal during activity; this limits the cost of a flood."""
MAX_BEHIND = 2000
"""Events that may wait to be printed; what waits at the end is still printed, and delays it."""
AT_ONCE = 2000
"""Events handled in one turn of the event loop, so that signals are handled between turns."""
LINE = 4000
"""Characters of one log message."""
STRAYS = 5
"""Notes on unusable messages; the recording has the rest."""
EXCERPT = 60
"""Characters shown of a message."""
SILENT_SECONDS = 2.0
"""Seconds of silence of the server after which the user is told what the command waits for."""
LAST_EVENTS = 200
"""Events in which an address at which the server listens is searched."""
_LOG = "notifications/message"
_FLAGS = {"sampling": "--sampling", "elicitation": "--elicit", "roots": "--root"}
_ANSWERS = (Shape.RESULT, Shape.ERROR)
_MESSAGES = Query(kind=Kind.RPC, dir=Dir.RECV)
_TOLD = _MESSAGES | Query(kind=Kind.INVALID, dir=Dir.RECV) | Query(kind=(Kind.LIFE, Kind.NOTE))
"""Events that may need output."""


class Watch:
    """Follows a session's journal and prints messages; `stop` prints the rest."""

    draws_progress = True
    precedes_results = True
    """Messages before a result are printed before it."""

    def __init__(self, session: Session, out: Output) -> None:
        self._session = session
        self._out = out
        self._seen = 0
        self._refused: dict[str, int] = {}
        """By topic, the requests that were not answered: the client did not declare it, or the era has none."""
        self._paused = False
        self._strays = 0
        self._line = ProgressLine(out)
        self._held = False
        self.asker: QuestionPrompts | None = None
        """Shows requests of the server to the user, with --ask."""
        self._loop = asyncio.get_running_loop()
        self._timer: asyncio.TimerHandle | None = None
        session.changes.listen(self._wake)
        self._silence = self._loop.call_later(SILENT_SECONDS, self._tell_silence)

    def hold(self, on: bool) -> None:
        """Print nothing while the user types an answer; print it afterwards."""
        if on:
            self.settle()
        self._held = on
        if not on:
            self._wake()

    def _wake(self) -> None:
        if self.asker is not None:
            self.asker.session_changed()
        if self._timer is None:
            self._timer = self._loop.call_later(LOOK_EVERY, self._update)

    def stop(self) -> None:
        """Print the rest, and remove the progress line."""
        self._session.changes.listen(None)
        self._silence.cancel()
        if self._timer is not None:
            self._timer.cancel()
        self.settle()
        if notes := self._refusals():
            self._out.note("\n".join(notes))

    def _refusals(self) -> list[str]:
        """The counts of what the server requested and did not get."""
        inbox, declined = self._session.inbox, self._session.inbox.declined
        outcome = "none was answered" if self._session.server.era == "modern" else "all were refused"
        notes = [
            f"note: The server requested {topic} {n:,} times; {outcome}." for topic, n in self._refused.items() if n > 1
        ]
        if declined:
            amount = "1 question was" if declined == 1 else f"{declined:,} questions were"
            notes.append(f"note: {amount} declined unseen, because {inbox.OPEN_LIMIT:,} others waited for an answer.")
        return notes

    def settle(self) -> None:
        """Print new messages and remove the progress line before other output."""
        while self.tell():
            pass
        self._draw("")

    def tell(self) -> bool:
        """Print new messages, up to a number of events. Returns whether there are more."""
        index = self._session.journal.index
        lines: list[str] = []
        last = min(index.count, self._seen + AT_ONCE)
        for n in _TOLD.forwards(index, self._seen, last):
            kind, shape = index.kind(n), index.shape(n)
            if kind is Kind.LIFE:
                lines += self._life(n)
            elif kind is Kind.NOTE:
                lines += self._note(n)
            elif shape is Shape.NONE or (shape in _ANSWERS and index.state(n) is State.UNKNOWN):
                lines += self._stray(n)
            elif shape is Shape.REQUEST:
                if index.method(n) in TOPICS and not was_withheld(self._session.journal.event(n).fields):
                    lines += self._question(TOPICS[index.method(n)])
            elif shape is Shape.NOTIFICATION:
                lines += self._notification(n, index.method(n))
            elif shape is Shape.BATCH:
                lines += self._batch(n)
        self._seen = last
        if lines:
            self._draw("")
            self._out.note("\n".join(lines))
        return last < index.count

    def _tell_silence(self) -> None:
        """A server process that has not sent a message yet: print the sent request, and advice."""
        session = self._session
        target = session.target
        if session.phase != "connecting" or not isinstance(target, StdioTarget) or not session.pending.calls():
            return
        index = session.journal.index
        if _MESSAGES.first(index):
            return
        call = session.pending.calls()[-1]
        read = ", which it has not read yet" if session.transport.unread() else ""
        stderr = (n for n in range(max(1, index.count - LAST_EVENTS), index.count + 1) if index.kind(n) is Kind.STDERR)
        address = listening_address(session.journal.event(n).text for n in stderr)
        advice = "If the server is not just slow to start, find the cause with: "
        if address and read:
            advice = f"It reports that it listens at {address}: connect to that URL, or see "
        self._draw("")
        self._out.note(
            f"note: The server has sent nothing for {SILENT_SECONDS:g} s. Sent: {call.method}{read}; "
            f"waiting for the response.\n  {self._out.safe(advice, 300)}"
            + self._out.safe(self._out.command("doctor"), 500)
        )

    def _update(self) -> None:
        if self._held:
            self._timer = None
            return
        more = self.tell()
        while more and len(self._session.journal) - self._seen > MAX_BEHIND:
            more = self.tell()  # Nothing is read meanwhile: a server that sends faster than we print has to wait.
        self._timer = self._loop.call_later(0, self._update) if more else None
        if self.draws_progress and self._line.is_shown:
            calls = [call for call in self._session.pending.calls() if call.progress is not None]
            self._draw(self._progress(calls[-1]) if calls else "")

    def _params(self, n: int) -> dict[str, Any]:
        message = self._session.journal.event(n).message
        params = message.get("params") if type(message) is dict else None
        return params if type(params) is dict else {}

    def _notification(self, n: int, method: str) -> list[str]:
        """The text for a notification."""
        return [self._log(self._params(n))] if method == _LOG else []

    def _batch(self, n: int) -> list[str]:
        """The text for a batch."""
        items = self._session.journal.event(n).message
        return [
            self._log(params if type(params := item.get("params")) is dict else {})
            for item in (items if type(items) is list else ())
            if type(item) is dict and item.get("method") == _LOG
        ]

    def _life(self, n: int) -> list[str]:
        """The text for an event of the connection. Waiting requests report errors themselves."""
        if self._paused or self._session.journal.event(n).fields.get("event") != "reading-paused":
            return []
        self._paused = True
        return ["note: The server sends requests, but does not read the responses. Reading waits until it does."]

    def _note(self, n: int) -> list[str]:
        """The text for one of our notes, if it is about an answer to the server."""
        event = self._session.journal.event(n)
        return [f"note: {self._out.safe(event.fields.get('text'), LINE)}"] if "question" in event.fields else []

    def _log(self, params: dict[str, Any]) -> str:
        safe = self._out.safe
        logger = f" {safe(params['logger'], 80)}" if params.get("logger") else ""
        text = safe(params.get("data"), LINE, multiline=True).replace("\n", "\n  ")
        return f"{safe(params.get('level', 'log'), 20)}{logger}: {text}"

    def _stray(self, n: int) -> list[str]:
        """The text for something that is not a message, or a response to an unknown request."""
        if self._strays > STRAYS:
            return []
        event = self._session.journal.event(n)
        if not event.text.strip() or "status" in event.fields:
            return []  # Empty, or the page of an HTTP error, which is reported as such.
        self._strays += 1
        if self._strays > STRAYS:
            return ["note: The recording has more unusable messages."]
        if printed := printed_text(event):
            return [f"note: {printed}"]
        if event.kind is Kind.INVALID:
            reason = f"cannot be read as JSON: {self._out.safe(event.fields.get('why'), 200)}"
        elif event.shape is Shape.NONE:
            reason = "is JSON, but not a JSON-RPC message"
        else:
            from inspector.protocol.jsonrpc import excerpt

            id = self._out.safe(excerpt(event.message.get("id"), EXCERPT))
            reason = f"answers an unknown request: its id is {id}"
        return [f"note: Message {n} {reason} ({self._out.safe(event.text.strip(), EXCERPT)})."]

    def _question(self, topic: str) -> list[str]:
        """The server sent a request that gets no answer: print once why, or which option answers it."""
        server = self._session.server
        modern = server.era == "modern"
        if not modern and getattr(self._session.inbox.standing, topic) is not None:
            return []
        self._refused[topic] = self._refused.get(topic, 0) + 1
        if self._refused[topic] > 1:
            return []
        if modern:
            return [f"note: The server requested {topic}; {server.revision} has no requests of servers: not answered."]
        return [f"note: The server requested {topic}, which the client did not declare; {_FLAGS[topic]} answers it."]

    def _progress(self, call: Call) -> str:
        from inspector.text import duration, ellipsis, signs

        progress = call.progress
        assert progress is not None
        marks = signs(self._out.ascii)
        amount = _figure(progress.value) + (f"/{_figure(progress.total)}" if progress.total is not None else "")
        text = (
            f"{marks.progress} {amount}  {duration(call.elapsed * 1e6)}  {self._out.safe(progress.message or '', 300)}"
        )
        return ellipsis(text, (self._out.width or 80) - 1, marks.cut)

    def _draw(self, text: str) -> None:
        if not self._held:
            self._line.draw(text)


def _figure(value: Any) -> str:
    """A number of the server of any size."""
    return f"{value:,.10g}" if abs(value) < 1e15 else "?"
