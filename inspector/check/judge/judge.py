"""The judge: reads a journal with its own cursor and attaches findings to events.

Callers run it when they have time, with `run`, for a limited number of events. A live session, a recording and an
export use the same judge. It does not change what it reads.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from inspector.check.judge import rules, schema_rules, thorough_rules
from inspector.check.judge.era_rules import ERAS
from inspector.check.judge.http_rules import HttpWatch, stdio_error_rules
from inspector.check.judge.lost_requests import LostRequests
from inspector.check.judge.modern_rules import AnsweredRequest
from inspector.check.judge.notification_rules import Notice
from inspector.check.judge.probes import Probes
from inspector.check.judge.rules import PAUSE, RuleVerdict
from inspector.check.judge.state import JudgeState, WaitingDefinition
from inspector.check.poison.judge import Reading
from inspector.check.poison.rules import last_rules
from inspector.journal import channels
from inspector.journal.alterations import authors
from inspector.journal.findings import Finding, Findings
from inspector.journal.format import Dir, Event, Kind
from inspector.journal.journal import Journal
from inspector.journal.query import Query
from inspector.protocol.jsonrpc import Shape, shape_of
from inspector.protocol.members import object_at, objects_at

MAX_SIZE = 4 << 20
"""Bytes of a message above which its text and schema are not checked; a finding says so."""
_OK = 200


MAX_CONNECTIONS = 4_000
"""Connections of a recording that are judged."""


class _Connection:
    """The state of the judge for one connection."""

    def __init__(self, thorough: bool) -> None:
        self.thorough = thorough
        self.schemas = schema_rules.ToolSchemas()
        self.tool_names: set[str] = set()
        self.next_page: Any = None
        """The cursor in the newest page of tools."""
        self.cursors: set[str] = set()
        """The cursors of the pages of tools since the first one."""
        self.waiting: list[tuple[int, WaitingDefinition]] = []
        """By event, definitions that are judged when all tools are listed."""
        self.held: Event | None = None
        """A response to `server/discover` that does not show the era of the server. Later messages decide it."""
        self.begin_again()

    def begin_again(self) -> None:
        """Reset the state of one connection, because a new one replaces it."""
        self.part = object()
        """What the limits of its findings are for."""
        self.state = JudgeState()
        self.http = HttpWatch(thorough=self.thorough)
        self.probes = Probes()
        self.lost = LostRequests()


class Judge:
    """Judges the events of one journal, in order, each once."""

    def __init__(self, journal: Journal, findings: Findings | None = None, *, thorough: bool = False) -> None:
        """Findings go to the journal unless `findings` is given.

        `thorough` checks published schemas and texts in more detail, which is too slow for a live session.
        """
        self.journal = journal
        self.thorough = thorough
        self.findings = journal.findings if findings is None else findings
        self.judged = 0
        """The number of the newest judged event."""
        self._provoked: set[int] = set()
        """Events that probes have provoked, and messages that an addon has altered."""
        self._connections: dict[int, _Connection] = {}
        self._now = self._connections[0] = _Connection(thorough)
        """The connection of the current event."""
        self._judges_all = True
        """Whether each connection so far is judged."""

    def _is_judged(self, conn: int) -> bool:
        """Make a connection the one of the current event; False if there are too many."""
        connection = self._connections.get(conn)
        if connection is None and len(self._connections) < MAX_CONNECTIONS:
            connection = self._connections[conn] = _Connection(self.thorough)
        self._now = connection or self._now
        return connection is not None

    @property
    def state(self) -> JudgeState:
        """The state of the connection of the current event."""
        return self._now.state

    def was_provoked(self, n: int) -> bool:
        """Whether event `n`, which has been judged, was provoked by a probe."""
        return n in self._provoked

    def run(self, limit: int = 200, upto: int | None = None) -> bool:
        """Judge up to `limit` more events, none after event `upto`. Returns True if there are more."""
        end = len(self.journal) if upto is None else min(upto, len(self.journal))
        for _ in self.steps(min(end, self.judged + limit)):
            pass
        return self.judged < end

    def steps(self, last: int) -> Iterator[None]:
        """Judge up to event `last`. Yields after each event, and within one that takes long."""
        journal = self.journal
        for n in range(self.judged + 1, last + 1):
            self.judged = n
            if not self._is_judged(journal.index.conn(n)):
                if self._judges_all:
                    self._judges_all = False
                    more = f"From here on, no connection is checked that is not among the first {MAX_CONNECTIONS:,}."
                    self._add(n, (("size", "note", more),))
                continue
            now = self._now
            if rules.is_unread(journal, n):
                now.lost.unread = n
            if journal.index.size(n) > rules.UNREAD:
                more = f"The message is larger than {rules.UNREAD >> 20} MiB and was not checked."
                self._add(n, (("size", "note", more),))
                continue
            # While a session is open, the rules soon read the newest events again; a whole recording is read once.
            event = journal.event(n) if journal.live else next(journal.events(n, n))
            now.probes.sent(event, journal.index)
            if now.probes.provoked(event, journal.index) or authors(event.fields):  # The server did not write it.
                self._provoked.add(n)
            yield from self._added(n, self._verdicts(event))
            yield

    def run_all(self) -> None:
        """Judge all events."""
        while self.run(1000):
            pass

    def run_to(self, last: int) -> None:
        """Judge all events up to event `n`."""
        while self.judged < min(last, len(self.journal)):
            self.run(min(1000, last - self.judged))

    def end(self) -> Iterator[None]:
        """Judge what is certain only at the end, in steps."""
        for connection in self._connections.values():
            self._now = connection
            self._end(connection)
            for _ in self._judge_waiting():
                yield

    def _judge_waiting(self) -> Iterator[RuleVerdict]:
        """Judge what depends on the names of the server, which are known now. Yields pauses only."""
        waiting, self._now.waiting = self._now.waiting, []
        if waiting:  # A connection that lists no tools is one to the same server.
            names = frozenset[str]().union(*(connection.state.own_names for connection in self._connections.values()))
            readings = {n: Reading() for n, _ in waiting}
            for n, waited in waiting:
                for _ in self._added(n, last_rules(waited, names, readings[n])):
                    yield PAUSE

    def _end(self, connection: _Connection) -> None:
        for n, verdict in connection.http.end():
            self._add(n, (verdict,))

    def _add(self, n: int, verdicts: Iterable[RuleVerdict]) -> None:
        """Attach findings that are made at once."""
        for _ in self._added(n, verdicts):
            pass

    def _added(self, n: int, verdicts: Iterable[RuleVerdict]) -> Iterator[None]:
        """Attach findings unless a probe has provoked the event. The rules learn from such events too.

        Yields where a rule pauses.
        """
        page = self.state.schema_revision
        seen: set[tuple[str, str]] = set()
        for verdict in verdicts:
            if verdict is PAUSE:
                yield
                continue
            rule, level, sentence = verdict
            if (rule, sentence) not in seen and n not in self._provoked:
                seen.add((rule, sentence))
                self.findings.add(Finding(n, rule, level, sentence, page=page), self._now.part)

    def _verdicts(self, event: Event) -> Iterator[RuleVerdict]:
        kind = event.kind
        if event.dropped is not None:
            return  # Only its size is known.
        if kind == Kind.RPC:
            yield from self._message(event)
        elif kind == Kind.HTTP:
            self._now.lost.head(event)
            yield from self._now.http.head(event, self.state)
        elif kind == Kind.SSE:
            yield from self._now.http.bare_event(event, self.state)
        elif kind == Kind.INVALID and event.dir == Dir.RECV:
            about_body = list(self._now.http.received(event, None, self.journal.index, self.state))
            yield from about_body
            if not about_body and not rules.refuses(event):
                yield from rules.bytes_rules(event, channels.is_stdio(event.ch))
                yield from rules.invalid_rules(event, channels.is_stdio(event.ch))
        elif kind == Kind.STDERR and event.data is not None:
            yield "STDIO-03", "must", "stderr is not UTF-8."
        elif kind == Kind.LIFE:
            yield from self._now.http.life(event, self.state)
            self._look_for_lost(event)
            if event.fields.get("event") == "reopen":
                self._end(self._now)
                self._now.begin_again()

    def _look_for_lost(self, event: Event) -> None:
        """Findings about a request are attached to the request, not to the end of its connection."""
        for finding in self._now.lost.findings(event, self.journal.index, self._name):
            if finding.of_itself or event.n not in self._provoked:
                self._add(finding.n, (finding.verdict,))

    def _message(self, event: Event) -> Iterator[RuleVerdict]:
        received = event.dir == Dir.RECV
        message = event.message
        if received:
            self._now.lost.arrived()
            about_body = list(self._now.http.received(event, message, self.journal.index, self.state))
            yield from about_body
            if type(message) is not dict and any(rule == "HTTP-03" for rule, _, _ in about_body):
                return  # There should be no body: what it contains is not a second fault.
            if rules.refuses(event) and not rules.is_error_response(message):
                return
            yield from rules.bytes_rules(event, channels.is_stdio(event.ch))
        large = self.journal.index.size(event.n) > MAX_SIZE
        if large:
            yield "size", "note", f"The message is larger than {MAX_SIZE >> 20} MiB; its schema was not checked."
        elif received:
            yield from rules.json_rules(event)
        if not received:
            self._now.http.sent(event, message)
        if shape_of(message) == Shape.BATCH:
            if received:
                yield from rules.batch_rules(self.state)
            items: Iterable[Any] = message
        else:
            items = (message,)
        for item in items:
            yield from self._received(event, item, large) if received else self._sent(event, item, large)

    def _sent(self, event: Event, message: Any, large: bool) -> Iterator[RuleVerdict]:
        if type(message) is not dict:
            return
        if message.get("method") == "initialize" and self.state.initialized and type(event.fields.get("probe")) is str:
            return  # A check repeats the handshake: the server may still do what the first one agreed on.
        self.state.sent(message, event.n, event.ch)
        if shape_of(message) == Shape.REQUEST:
            yield from self._release(message["method"])
        params = message.get("params")
        if message.get("method") == "tools/call" and type(params) is dict and not large:
            yield from schema_rules.argument_rules(params, self.state, self._now.schemas)

    def _release(self, method: str) -> Iterator[RuleVerdict]:
        """In the modern era, held events are judged by its rules; an initialize shows that the era is legacy.

        Yields pauses only.
        """
        held, self._now.held = self._now.held, None
        if held is not None and method not in ("initialize", "server/discover") and not self.state.undecided:
            for _ in self._added(held.n, self._answer(held, held.message, shape_of(held.message), False)):
                yield PAUSE

    def _received(self, event: Event, message: Any, large: bool) -> Iterator[RuleVerdict]:
        n, state = event.n, self.state
        shape = shape_of(message)
        yield from rules.frame_rules(message, shape)
        if shape in (Shape.NONE, Shape.BATCH):
            return
        if self.thorough and not large:
            yield from thorough_rules.message_rules(message, state)
        if shape in (Shape.RESULT, Shape.ERROR):
            stream = state.streams.get(event.ch, 0)
            yield from rules.answer_rules(self.journal.index, n, message, stream, rules.refuses(event))
            probe = state.undecided and self._answered(event, message)[0] == "server/discover"
            if probe and not state.settled_by(message):
                self._now.held = event
                return
            yield from self._answer(event, message, shape, large)
            return
        if shape == Shape.REQUEST:
            for request in ERAS[state.era].requests:
                yield from request(message, state)
        else:
            yield from rules.notification_rules(message, self.journal.index, n, state)
            notice = self._notice(event, message)
            for notify in ERAS[state.era].notices:
                yield from notify(notice, state)
        if not large and not state.undecided:
            yield from schema_rules.message_rules(message, state, "")

    def _notice(self, event: Event, message: dict[str, Any]) -> Notice:
        index = self.journal.index
        request = index.pair(event.n) or index.parent(event.n)
        return Notice(
            event.n,
            message["method"],
            object_at(message.get("params")),
            self.state.streams.get(event.ch, 0),
            request,
            self._request,
        )

    # Answers

    def _answer(self, event: Event, message: dict[str, Any], shape: Shape, large: bool) -> Iterator[RuleVerdict]:
        """Check a response by the rules of its era and by the schema."""
        state = self.state
        method, request = self._answered(event, message)
        body = message.get("result" if shape == Shape.RESULT else "error")
        if shape == Shape.RESULT:
            yield from self._result(event, method, request, body, large)
        elif self.thorough and not large and type(body) is dict:
            yield from thorough_rules.error_rules(body, state, self._request(request)[1])
        era = ERAS[state.era]
        if shape == Shape.ERROR and channels.is_stdio(event.ch):
            yield from stdio_error_rules(method, body)
        about = era.results if shape == Shape.RESULT else era.errors
        if about and type(body) is dict:
            at = -1 if large else event.t
            answer = AnsweredRequest(method, self._request(request)[1], body, self._status(event), at)
            for rule in about:
                yield from rule(answer, state)
        if not large:
            if self._is_told_by_exchange(event, message, shape):
                message = {**message, "id": 0}
            elif not request and ("id" not in message or (shape == Shape.ERROR and message["id"] is None)):
                return  # Clients drop it, and no request waits for it: if one did, its lost response is the fault.
            if state.features.tasks_extension and type(body) is dict and body.get("resultType") == "task":
                method = ""  # The result of an extension: the official schema does not define it.
            yield from schema_rules.message_rules(message, state, method)

    def _is_told_by_exchange(self, event: Event, message: dict[str, Any], shape: Shape) -> bool:
        """Whether to skip the id of an error, because its HTTP response tells which request it belongs to."""
        by_stream = event.ch in self.state.streams and message.get("id") is None
        return shape == Shape.ERROR and (by_stream or rules.refuses(event))

    def _status(self, event: Event) -> int:
        """The HTTP status of a message; recorded only if it is not 200."""
        status = event.fields.get("status")
        return status if type(status) is int else _OK if event.ch in self.state.streams else 0

    def _answered(self, event: Event, message: dict[str, Any]) -> tuple[str, int]:
        """The method of the request of a response, and its number (0: unknown); in a batch, according to its id."""
        index, n = self.journal.index, event.n
        if index.shape(n) != Shape.BATCH:
            request = index.pair(n)
            if not request and index.shape(n) == Shape.ERROR:
                request = self.state.streams.get(event.ch, 0)
            return (index.method(request) if request else ""), request
        id = message.get("id")
        if not isinstance(id, (int, str)):
            return "", 0
        request = Query(id=id, dir=Dir.SEND, shape=Shape.REQUEST).last(index, max(0, n - 2000), n - 1)
        return (index.method(request) if request else ""), request

    def _result(self, event: Event, method: str, request: int, result: Any, large: bool) -> Iterator[RuleVerdict]:
        self.state.answered(method, result)
        body = object_at(result)
        if self.thorough and not large:
            params = self._request(request)[1] if method in thorough_rules.DATA else None
            yield from thorough_rules.result_rules(method, body, self.state, params)
            self._now.waiting += ((event.n, waited) for waited in self.state.waiting)
            self.state.waiting.clear()
            if method != "tools/list" and self.state.tools and self._now.next_page is None:
                yield from self._judge_waiting()
        if method == "initialize":
            yield from rules.initialize_rules(result)
        elif method == "tools/list":
            yield from self._tools(event, request, body)
        elif method == "tools/call" and not large:
            name = self._request(request)[1].get("name")
            yield from schema_rules.structured_rules(name, body, self.state, self._now.schemas)

    def _tools(self, event: Event, request: int, result: dict[str, Any]) -> Iterator[RuleVerdict]:
        cursor = self._request(request)[1].get("cursor")
        if cursor is None or cursor != self._now.next_page:
            self._now.tool_names = set()  # The first page, or one that does not follow the previous one.
            self._now.cursors = set()
        self._now.next_page = result.get("nextCursor")
        if isinstance(cursor, str):
            self._now.cursors.add(cursor)
        if isinstance(self._now.next_page, str) and self._now.next_page in self._now.cursors:
            self._now.tool_names = set()  # The cursor does not advance: this page may be one that came before.
        over_http = ERAS[self.state.era].http_tools if event.ch in self.state.streams else ()
        for tool in objects_at(result.get("tools")):
            yield from rules.tool_rules(tool, self._now.tool_names, self.state)
            for rule in over_http:
                yield from rule(tool, self.state)
        if self._now.next_page is None:
            yield from self._judge_waiting()

    def _name(self, n: int) -> str:
        """The method of a request, with what it is about: `tools/call of "add"`."""
        method, params = self._request(n)
        subject = params.get("name", params.get("uri"))
        return f"{method} of {rules.short(subject)}" if isinstance(subject, str) else method

    def _request(self, n: int) -> tuple[str, dict[str, Any]]:
        """Method and params of request `n`; empty if it has none."""
        message = object_at(self.journal.event(n).message) if n else {}
        method = message.get("method")
        return method if type(method) is str else "", object_at(message.get("params"))
