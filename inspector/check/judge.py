"""The judge: reads a journal with a cursor of its own and attaches findings to events.

It is never in the way: whoever has time calls `run`, for as many events as there is time for. A live session, a
recording and an export use the same judge. It never changes what it reads.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from inspector.check import rules, schema_rules
from inspector.check.rules import Verdict
from inspector.check.watched import Watched
from inspector.journal.findings import Finding
from inspector.journal.format import Dir, Event, Kind
from inspector.journal.journal import Journal
from inspector.protocol.jsonrpc import Shape, shape_of

LARGEST = 4 << 20
"""Bytes of a message above which its text and schema are not looked at in detail; a finding says so."""


class Judge:
    """Judges the events of one journal, in order, each once."""

    def __init__(self, journal: Journal) -> None:
        self.journal = journal
        self.judged = 0
        """The number of the newest event that has been judged."""
        self.watched = Watched()
        self._schemas = schema_rules.ToolSchemas()
        self._tool_names: set[str] = set()

    def run(self, limit: int = 200) -> bool:
        """Judge up to `limit` more events. True: there are more already."""
        journal = self.journal
        last = min(len(journal), self.judged + limit)
        for event in journal.events(self.judged + 1, last):
            self.judged = event.n
            page = self.watched.schema_revision
            seen: set[tuple[str, str]] = set()
            for rule, level, sentence in self._verdicts(event):
                if (rule, sentence) not in seen:
                    seen.add((rule, sentence))
                    journal.findings.add(Finding(event.n, rule, level, sentence, page=page))
        return last < len(journal)

    def run_all(self) -> None:
        """Judge everything there is."""
        while self.run(1000):
            pass

    def _verdicts(self, event: Event) -> Iterator[Verdict]:
        kind = event.kind
        if kind == Kind.RPC:
            yield from self._message(event)
        elif kind == Kind.INVALID and event.dir == Dir.RECV:
            yield from rules.bytes_rules(event, event.ch == "stdio")
            yield from rules.invalid_rules(event, event.ch == "stdio")
        elif kind == Kind.STDERR and event.data is not None:
            yield "STDIO-03", "must", "stderr is not UTF-8 text."

    def _message(self, event: Event) -> Iterator[Verdict]:
        received = event.dir == Dir.RECV
        message = event.message
        if received:
            yield from rules.bytes_rules(event, event.ch == "stdio")
        large = self.journal.index.sizes[event.n - 1] > LARGEST
        if large:
            yield "size", "note", f"The message is larger than {LARGEST >> 20} MiB: its schema was not looked at."
        elif received:
            yield from rules.json_rules(event)
        if shape_of(message) == Shape.BATCH:
            if received:
                yield from rules.batch_rules(self.watched)
            items: Iterable[Any] = message
        else:
            items = (message,)
        for item in items:
            yield from self._received(event.n, item, large) if received else self._sent(item, large)

    def _sent(self, message: Any, large: bool) -> Iterator[Verdict]:
        if type(message) is not dict:
            return
        self.watched.sent(message)
        params = message.get("params")
        if message.get("method") == "tools/call" and type(params) is dict and not large:
            yield from schema_rules.argument_rules(params, self.watched, self._schemas)

    def _received(self, n: int, message: Any, large: bool) -> Iterator[Verdict]:
        shape = shape_of(message)
        yield from rules.frame_rules(message, shape)
        if shape in (Shape.NONE, Shape.BATCH):
            return
        index, watched = self.journal.index, self.watched
        answered = ""
        if shape in (Shape.RESULT, Shape.ERROR):
            yield from rules.answer_rules(index, n, message, watched)
            answered = self._answered_method(n, message)
            if shape == Shape.RESULT:
                yield from self._result(n, answered, message.get("result"), large)
        elif shape == Shape.REQUEST:
            yield from rules.request_rules(message, watched)
        else:
            yield from rules.notification_rules(message, index, n, watched)
        if not large:
            yield from schema_rules.message_rules(message, watched, answered)

    def _answered_method(self, n: int, message: dict[str, Any]) -> str:
        """The method of the request that is answered; in a batch, by its id."""
        index = self.journal.index
        if index.shape(n) != Shape.BATCH:
            return index.method(n)
        id = message.get("id")
        code = index.id_code(id) if isinstance(id, (int, str)) else None
        for m in range(n - 1, max(0, n - 2000), -1):
            if index.ids[m - 1] == code and index.shape(m) == Shape.REQUEST and index.dir(m) == Dir.SEND:
                return index.method(m)
        return ""

    def _result(self, n: int, method: str, result: Any, large: bool) -> Iterator[Verdict]:
        self.watched.answered(method, result)
        body = result if type(result) is dict else {}
        if method == "initialize":
            yield from rules.initialize_rules(result)
        elif method == "tools/list":
            yield from self._tools(n, body)
        elif method == "tools/call" and not large:
            yield from schema_rules.structured_rules(self._tool_called(n), body, self.watched, self._schemas)

    def _tools(self, n: int, result: dict[str, Any]) -> Iterator[Verdict]:
        request = self._request_params(n)
        if "cursor" not in request:
            self._tool_names = set()
        tools = result.get("tools")
        for tool in tools if type(tools) is list else ():
            if type(tool) is dict:
                yield from rules.tool_rules(tool, self._tool_names, self.watched)

    def _tool_called(self, n: int) -> Any:
        return self._request_params(n).get("name")

    def _request_params(self, n: int) -> dict[str, Any]:
        request = self.journal.index.pairs[n - 1]
        message = self.journal.event(request).message if request else None
        params = message.get("params") if type(message) is dict else None
        return params if type(params) is dict else {}
