"""The outcome of a request, from a live call or from a recording: its answer or its error."""

from __future__ import annotations

import json
from itertools import islice
from typing import Any, Literal, NamedTuple

from inspector.client.engine.pending_requests import Call
from inspector.client.state.calls import server_error
from inspector.errors import (
    ConnectionProblem,
    InspectorError,
    RequestCancelled,
    RequestTimeout,
    SchemaError,
    ServerError,
    recorded_error,
)
from inspector.journal import durations
from inspector.journal.format import Event, Kind
from inspector.journal.index import State
from inspector.journal.journal import Journal
from inspector.journal.query import Query
from inspector.protocol import jsonrpc
from inspector.protocol.exact_json.tokens import escape_step
from inspector.protocol.jsonrpc import Shape, has_too_many_values
from inspector.protocol.result_shape import has_structured, records_at, repeats_content, schema_errors, text_blocks
from inspector.protocol.tables import Table, slice_at, table_of, table_of_text
from inspector.protocol.token_costs import ResultCost, result_cost
from inspector.protocol.validation import ERROR_LIMIT, Validator, Violation
from inspector.protocol.views import ContentBlock
from inspector.text import duration, yours
from inspector.tui.widgets.content_blocks import json_text
from inspector.tui.work.page_views import PageInResult

OutcomeKind = Literal["result", "tool-error", "protocol-error", "connection", "timeout", "cancelled"]

CODE_NAMES = {
    jsonrpc.PARSE_ERROR: "Parse error",
    jsonrpc.INVALID_REQUEST: "Invalid Request",
    jsonrpc.METHOD_NOT_FOUND: "Method not found",
    jsonrpc.INVALID_PARAMS: "Invalid params",
    jsonrpc.INTERNAL_ERROR: "Internal error",
    jsonrpc.RESOURCE_NOT_FOUND: "Resource not found",
    jsonrpc.URL_ELICITATION_REQUIRED: "URL elicitation required",
    -32020: "Header mismatch",
    -32021: "Missing required client capability",
    -32022: "Unsupported protocol version",
}
"""The meaning of error codes in JSON-RPC 2.0 section 5.1 and in MCP."""

_RESULTS = (("result",), ("result", "result"), ("params", "result"))
"""The place of the result in a message: its own, or that of its task."""


class CallOutcome(NamedTuple):
    """The end of a request. `value` is the result, even one that arrived after a timeout or a cancellation (`late`).

    `request_n` and `answer_n` are numbers in the journal, 0 for none. `took` is in microseconds, up to the answer if
    there is one, and `gave_up` up to the timeout or cancellation; for `person` of them the call waited for the user's
    answer. `by_us` tells who cancelled.
    """

    method: str
    request_n: int
    answer_n: int
    value: Any
    error: InspectorError | None
    late: bool
    took: int
    gave_up: int
    by_us: bool = True
    person: int = 0

    @property
    def kind(self) -> OutcomeKind:
        """The kind of end; errors are distinguished by their class (C-TOOL-04, C-BASE-10)."""
        if isinstance(self.error, ServerError):
            return "protocol-error"
        if isinstance(self.error, RequestTimeout):
            return "timeout"
        if isinstance(self.error, RequestCancelled):
            return "cancelled"
        if self.error is not None:
            return "connection"
        return "tool-error" if self.is_tool_error else "result"

    @property
    def is_tool_error(self) -> bool:
        """The tool ran and reports an error."""
        return isinstance(self.value, dict) and self.value.get("isError") is True

    @property
    def has_answer(self) -> bool:
        """The server sent a result, in time or late."""
        return self.error is None or (self.late and not isinstance(self.error, ServerError))

    @property
    def lateness(self) -> str:
        """The time of a late answer; empty if there is none."""
        return f"answered late, after {duration(self.took)}" if self.late else ""

    @property
    def server_time(self) -> int:
        """Microseconds that the server took."""
        return max(self.took - self.person, 0)

    @property
    def time(self) -> str:
        """The server's time, and separately the user's: `1.2 s +14 s yours`."""
        return with_person(duration(self.server_time), self.person)

    @property
    def in_brief(self) -> tuple[str, str]:
        """A word or two for a list of past calls, and the role."""
        if isinstance(self.error, ServerError):
            return str(self.error.rpc_code)[:12], "error"
        if self.error is not None:
            return {"timeout": "timed out", "cancelled": "cancelled"}.get(self.kind, "lost"), "error"
        took = duration(self.server_time)
        return (f"error {took}", "error") if self.is_tool_error else (took, "muted")


def with_person(server: str, person: int) -> str:
    """Format a server's time and the user's; `person` is in microseconds, below a millisecond it is omitted."""
    return f"{server} {yours(duration(person))}" if person >= 1_000 else server


def of_call(call: Call, journal: Journal) -> CallOutcome:
    """Return the outcome of a call in a live session so far."""
    value, error, late, took = call.value, call.error, call.outcome.late, round(call.elapsed * 1_000_000)
    gave_up = took
    if late and 0 < call.answer_n <= journal.index.count:
        value, late_error = _answer(journal, call.answer_n, call.method)
        error = late_error or error
        took = journal.index.duration(call.n) or took
    by_us = call.fate == "cancelled"
    person = min(round(call.person_time * 1_000_000), took)
    if not late and 0 < call.answer_n <= journal.index.count and journal.index.pair(call.answer_n) == call.n:
        # One request: by the times of the recording, as the log shows it.
        timing = durations.took(journal.index, call.n)
        if timing is not None:
            took, person = timing.server + timing.person, timing.person
    return CallOutcome(call.method, call.n, call.answer_n, value, error, late, took, gave_up, by_us, person)


def of_request(journal: Journal, n: int, upto: int | None = None) -> CallOutcome | None:
    """Return the outcome of request `n` in a recording, or None if it was still open at the end.

    `upto` is the last event to read. A request that was open then is not a valid argument.
    """
    index = journal.index
    last = index.count if upto is None else min(upto, index.count)
    state, answer, method = index.state(n), index.pair(n), index.method(n)
    if answer > last:
        answer = 0
        state = State.PENDING if state in (State.DONE, State.ERROR) else state
    if not answer and state == State.PENDING:
        return None
    value: Any = None
    error: InspectorError | None = None
    ending = _ending(journal, n, last) if state in _GIVEN_UP else None
    gave_up = max((ending.t if ending is not None else index.time(last)) - index.time(n), 0) if last else 0
    if answer and index.shape(answer) in (Shape.RESULT, Shape.ERROR, Shape.BATCH):
        value, error = _answer(journal, answer, method)
        if ending is None:
            gave_up = index.duration(n) or 0
    late = bool(answer) and state in (State.CANCELLED, State.TIMED_OUT)
    if error is None and state == State.CANCELLED:
        error = RequestCancelled(f"{method} was cancelled.")
    elif error is None and state == State.TIMED_OUT:
        error = _reason(journal, ending, last) or RequestTimeout(f"No answer to {method} in the time allowed.")
    elif error is None and state in _GIVEN_UP and not answer:
        problem = ConnectionProblem(f"The connection ended before {method} was answered.")
        error = _reason(journal, ending, last) or problem
    took = index.duration(n) if answer else None
    took = took or gave_up
    timing = durations.took(index, n, upto=last) if answer else None
    asked = timing.person if timing is not None else 0
    return CallOutcome(method, n, answer, value, error, late, took, gave_up, person=min(asked, took))


_GIVEN_UP = (State.CANCELLED, State.TIMED_OUT, State.LOST, State.ERROR)
_ENDS = ("cancel", "timeout", "lost", "error")
_LIFE = Query(kind=Kind.LIFE)
_LOOKED_AT = 2000
"""Events about a request that are searched for its end, and events after it for the end of its connection."""


def _ending(journal: Journal, n: int, last: int) -> Event | None:
    """Return the event up to `last` with which request `n` was given up; None without one."""
    at = n
    for _ in range(_LOOKED_AT):
        at = journal.index.next_about(n, at, last)
        if not at:
            break
        if journal.index.kind(at) is Kind.LIFE and journal.event(at).fields.get("event") in _ENDS:
            return journal.event(at)
    return None


def _reason(journal: Journal, ending: Event | None, last: int) -> InspectorError | None:
    """Return the error that ended a request, as the live session had it; None for an unknown one."""
    if ending is None:
        return None
    if "error" in ending.fields:
        return recorded_error(ending.fields["error"])
    if "why" not in ending.fields:
        return None
    # The end of the connection follows those of its requests, and has stderr too.
    for m in islice(_LIFE.forwards(journal.index, ending.n, last), _LOOKED_AT):
        if not journal.index.pair(m):
            fields = journal.event(m).fields
            if fields.get("event") == "lost":
                return recorded_error(fields.get("error"))
            break
    return ConnectionProblem(str(ending.fields["why"]))


def unanswered(journal: Journal, n: int, upto: int | None = None) -> CallOutcome:
    """Return the outcome of request `n`, which has no answer up to the end or the moment shown."""
    index = journal.index
    took = max(index.time(upto or index.count) - index.time(n), 0)
    error = ConnectionProblem("The recording has no answer to this request so far.")
    return CallOutcome(index.method(n), n, 0, None, error, False, took, took)


def _answer(journal: Journal, n: int, method: str) -> tuple[Any, ServerError | None]:
    message = journal.event(n).message
    body = message if isinstance(message, dict) else {}
    if body.get("error") is not None:
        return None, server_error(body["error"], method)
    return body.get("result"), None


class Contents(NamedTuple):
    """The contents of a result.

    `first` is the view to open: `page`, `table`, `structured` or `content`. `items` is the number of content blocks,
    messages or contents; None if the result has no such list. A `structured_table` has places for differences from the
    schema. `page` is that of MCP Apps. `model_cost` are the characters of a tool's result that a model reads.
    """

    first: str = ""
    items: int | None = None
    table: Table | None = None
    structured_table: bool = False
    page: PageInResult | None = None
    model_cost: ResultCost | None = None


class Validation(NamedTuple):
    """The comparison of a result with its schema.

    `violations` is None before it ended; `unusable` says why the schema cannot be used.
    """

    begun: bool = False
    violations: tuple[Violation, ...] | None = None
    unusable: str = ""


class ShownOutcome:
    """An outcome with its contents, the schema of its result, and the differences from it."""

    def __init__(self, outcome: CallOutcome, output_schema: Any = None) -> None:
        self.outcome = outcome
        self.output_schema = output_schema
        self.tab = ""
        """The current view; `""` for the first."""
        self.structured: str | None = None
        """The exact text of `structuredContent`, after it was cut out of the message."""
        self.contents: Contents | None = None if outcome.has_answer else Contents()
        """What the result contains; None before it was read."""
        self.validation = Validation()
        self.is_light = False
        """The value was dropped: `value` reads it from the journal."""
        self.changes: list[str] | None = None
        """What differs from the answer before the restart, a line each; None where that was not looked at."""
        self.has_structured = has_structured(outcome.value)

    @property
    def items_key(self) -> str:
        """The member of the result with its content."""
        return {"prompts/get": "messages", "resources/read": "contents"}.get(self.outcome.method, "content")

    @property
    def table(self) -> Table | None:
        """The table in the result, once it was read."""
        return self.contents.table if self.contents is not None else None

    @property
    def violations(self) -> tuple[Violation, ...]:
        """The differences from the schema, as far as they are known."""
        return self.validation.violations or ()

    def begin_check(self) -> bool:
        """Return whether to start a validation; afterwards it counts as started."""
        begins = self.contents is not None and self._wants_check and not self.validation.begun
        if begins:
            self.validation = Validation(begun=True)
        return begins

    @property
    def _wants_check(self) -> bool:
        """Whether a schema describes the result that was not validated yet."""
        wants = self.output_schema is not None and self.outcome.has_answer and not self.outcome.is_tool_error
        return wants and self.validation.violations is None and not self.validation.unusable

    def lighten(self) -> None:
        """Drop the value after it was prepared and validated: a large result takes five times the memory of its
        text."""
        if self.contents is not None and not self._wants_check and not self.outcome.is_tool_error:
            self.outcome = self.outcome._replace(value=None)
            self.is_light = True

    def value(self, journal: Journal) -> dict[str, Any]:
        """Return the result as an object; if it was dropped, read it from the journal, which takes a while."""
        value = self.outcome.value
        if self.is_light:
            value = _answer(journal, self.outcome.answer_n, self.outcome.method)[0]
        return value if isinstance(value, dict) else {}

    def prepare(self, text: str, page: PageInResult | None) -> None:
        """Find out what the result contains.

        `text` is the exact text of the message, `page` its page of MCP Apps, which comes first. It takes a while for
        large results: call it in a thread.
        """
        outcome, value = self.outcome, self.outcome.value
        items = value.get(self.items_key) if isinstance(value, dict) else None
        table, structured_table = None, False
        if not outcome.is_tool_error:
            table = self._structured_table(text) if self.has_structured else None
            structured_table = table is not None
            table = table or _content_table(outcome)
        first = "table" if table is not None else "structured" if self._reads_structured() else "content"
        self.contents = Contents(
            first="page" if page is not None else first,
            items=len(items) if isinstance(items, list) else None if items is None else 1,
            table=table,
            structured_table=structured_table,
            page=page,
            model_cost=result_cost(value) if outcome.method == "tools/call" and outcome.has_answer else None,
        )

    def _structured_table(self, text: str) -> Table | None:
        structured = self.outcome.value["structuredContent"]
        at = records_at(structured)
        if at is None:
            return None
        places = ((*place, "structuredContent", *at) for place in _RESULTS)
        table = next((candidate for place in places if (candidate := table_of(text, place)) is not None), None)
        if table is None:
            table = table_of(json_text(structured), at)
        if table is not None:
            table.pointer = "".join(f"/{escape_step(step)}" for step in at)
            table.beside = _beside(structured, at)
        return table

    def _reads_structured(self) -> bool:
        """Whether the structured result has more information than the text: then it is the first view."""
        value = self.outcome.value
        if not self.has_structured:
            return False
        blocks = value.get("content") or []
        texts = text_blocks(value)
        short = len(texts) == len(blocks) <= 1 and not any("\n" in text.strip() for text in texts)
        return short and not repeats_content(value)

    def cut_out(self, text: str) -> None:
        """Cut the structured result out of the message's exact text. Call it in a thread for large results."""
        if self.has_structured and self.structured is None:
            value = self.outcome.value
            slices = (slice_at(text, (*place, "structuredContent")) for place in _RESULTS)
            cut = next((part for part in slices if part is not None), None)
            spare = json_text(value.get("structuredContent")) if isinstance(value, dict) else text
            self.structured = spare if cut is None else cut

    def check(self) -> None:
        """Validate the structured result against its schema. This may take a while: call it in a thread."""
        try:
            violations = schema_errors(Validator(self.output_schema), self.outcome.value, ERROR_LIMIT)
            self.validation = Validation(begun=True, violations=tuple(violations))
        except SchemaError as error:
            self.validation = Validation(begun=True, unusable=error.message)


def _content_table(outcome: CallOutcome) -> Table | None:
    """Return the text of a result as a table, or None.

    It may be CSV, TSV, a JSON list of objects, or one object per block.
    """
    value = outcome.value if isinstance(outcome.value, dict) else {}
    if outcome.method == "resources/read":
        contents = value.get("contents")
        items = contents if isinstance(contents, list) else []
        blocks = [ContentBlock({"type": "resource", "resource": item}) for item in items]
    elif outcome.method == "tools/call":
        content = value.get("content")
        blocks = [ContentBlock(item) for item in content] if isinstance(content, list) else []
    else:
        return None
    if not blocks or any(block.kind not in ("text", "resource") or block.encoded is not None for block in blocks):
        return None
    if len(blocks) > 1:
        bodies = [block.body for block in blocks]
        if not all(body.lstrip()[:1] == "{" and body.rstrip()[-1:] == "}" for body in bodies):
            return None
        return table_of(f"[{','.join(bodies)}]")
    body = blocks[0].body
    if body.lstrip()[:1] not in ("[", "{"):
        return table_of_text(body, blocks[0].mime_type)
    if has_too_many_values(body):
        return None
    try:
        whole = json.loads(body, strict=False)
    except (ValueError, RecursionError):
        return None
    at = records_at(whole)
    table = table_of(body, at) if at is not None else None
    if table is not None and at:
        table.beside = _beside(whole, at)
    return table


def _beside(value: Any, at: tuple[str, ...]) -> list[tuple[str, str]]:
    """Return the members beside the list of records, as text."""
    return [(key, json_text(item)) for key, item in value.items() if key != at[0]] if at else []
