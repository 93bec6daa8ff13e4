"""What became of a request: its answer or its failure, live from a call or later from a recording, in one form."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from inspector.client.pending import Call, server_error
from inspector.errors import (
    ConnectionProblem,
    InspectorError,
    RequestCancelled,
    RequestTimeout,
    SchemaError,
    ServerError,
)
from inspector.journal.index import State
from inspector.journal.journal import Journal
from inspector.protocol import jsonrpc
from inspector.protocol.jsonrpc import Shape
from inspector.protocol.jsontext import Tree
from inspector.protocol.validation import Validator, Violation
from inspector.text import duration
from inspector.tui.widgets.content_blocks import json_text

Kind = Literal["result", "tool-error", "protocol-error", "connection", "timeout", "cancelled"]

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
"""What an error code means by JSON-RPC 2.0 section 5.1 and by MCP."""

_RESULTS = ("/result", "/result/result", "/params/result")
"""Where a message has a result: its own, or that of the task which it tells of."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a request ended. `value` is the result, also one that came after we had given up (`late`).

    `request_n` and `answer_n` are numbers in the journal, 0 for none; `took` is in microseconds, up to the answer where
    there is one, and `gave_up` up to the moment we gave up. `by_us` tells who cancelled what was cancelled.
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

    @property
    def kind(self) -> Kind:
        """Which of the ways to end it was; errors are told apart by their class (C-TOOL-04, C-BASE-10)."""
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
        """The tool ran, and says that it failed."""
        return isinstance(self.value, dict) and self.value.get("isError") is True

    @property
    def has_answer(self) -> bool:
        """The server sent a result, in time or late."""
        return self.error is None or (self.late and not isinstance(self.error, ServerError))

    @property
    def lateness(self) -> str:
        """When a late answer came; empty where none did."""
        return f"answered late, after {duration(self.took)}" if self.late else ""

    @property
    def in_brief(self) -> tuple[str, str]:
        """A word or two for a list of past calls, and the role it is drawn in."""
        if isinstance(self.error, ServerError):
            return str(self.error.rpc_code)[:12], "error"
        if self.error is not None:
            return {"timeout": "timed out", "cancelled": "cancelled"}.get(self.kind, "lost"), "error"
        return (f"error {duration(self.took)}", "error") if self.is_tool_error else (duration(self.took), "muted")


def of_call(call: Call, journal: Journal) -> Outcome:
    """Return how a call of a live session has ended, as far as it is known now."""
    value, error, took = call.value, call.error, round(call.elapsed * 1_000_000)
    gave_up = took
    if call.late and 0 < call.answer_n <= journal.index.count:
        value, late_error = _answer(journal, call.answer_n, call.method)
        error = late_error or error
        took = journal.index.duration(call.n) or took
    by_us = call.fate == "cancelled"
    return Outcome(call.method, call.n, call.answer_n, value, error, call.late, took, gave_up, by_us)


def of_request(journal: Journal, n: int, upto: int | None = None) -> Outcome | None:
    """Return how request `n` of a recording ended; None where it had not ended when the recording did.

    `upto` is the last event that is looked at. A request that was open then is none of those that are asked about.
    """
    index = journal.index
    last = index.count if upto is None else min(upto, index.count)
    state, answer, method = index.state(n), index.pairs[n - 1], index.method(n)
    if answer > last:
        answer = 0
        state = State.PENDING if state in (State.DONE, State.ERROR) else state
    if not answer and state == State.PENDING:
        return None
    value: Any = None
    error: InspectorError | None = None
    gave_up = max(index.times[last - 1] - index.times[n - 1], 0) if last else 0
    if answer and index.shape(answer) in (Shape.RESULT, Shape.ERROR, Shape.BATCH):
        value, error = _answer(journal, answer, method)
        gave_up = index.duration(n) or 0
    late = bool(answer) and state in (State.CANCELLED, State.TIMED_OUT)
    if error is None and state == State.CANCELLED:
        error = RequestCancelled(f"{method} was cancelled.")
    elif error is None and state == State.TIMED_OUT:
        error = RequestTimeout(f"No answer to {method} in the time allowed.")
    elif error is None and state == State.LOST:
        error = ConnectionProblem(f"The connection ended before {method} was answered.")
    took = index.duration(n) if answer else None
    return Outcome(method, n, answer, value, error, late, took or gave_up, gave_up)


def unanswered(journal: Journal, n: int, upto: int | None = None) -> Outcome:
    """Return how request `n` stands that has no answer in its recording, up to where that goes or is looked at."""
    index = journal.index
    took = max(index.times[(upto or index.count) - 1] - index.times[n - 1], 0)
    error = ConnectionProblem("The recording has no answer to it up to here.")
    return Outcome(index.method(n), n, 0, None, error, False, took, took)


def _answer(journal: Journal, n: int, method: str) -> tuple[Any, ServerError | None]:
    message = journal.event(n).message
    body = message if isinstance(message, dict) else {}
    if body.get("error") is not None:
        return None, server_error(body["error"], method)
    return body.get("result"), None


class Answer:
    """An outcome as it is looked at: with the schema it should match, what was found when it was held against it, and
    the view of it that the user chose.

    `violations` is None while nobody has looked, and `unchecked` says why nobody could.
    """

    def __init__(self, outcome: Outcome, output_schema: Any = None) -> None:
        self.outcome = outcome
        self.output_schema = output_schema
        self.tab = ""
        self.structured: str | None = None
        """The exact text of `structuredContent`, once it was cut out of the message."""
        self.violations: list[Violation] | None = None
        self.unchecked = ""

    @property
    def has_structured(self) -> bool:
        """There is a structured result, `null` included (C-TOOL-02)."""
        value = self.outcome.value
        return isinstance(value, dict) and "structuredContent" in value

    @property
    def wants_check(self) -> bool:
        """Its schema says what it should be, and nobody has looked yet."""
        outcome = self.outcome
        return (
            self.output_schema is not None
            and self.violations is None
            and not self.unchecked
            and outcome.has_answer
            and not outcome.is_tool_error
        )

    def cut_out(self, text: str) -> None:
        """Take the structured result out of the message's exact text."""
        if self.has_structured and self.structured is None:
            tree = Tree(text)
            places = (tree.line_of(f"{place}/structuredContent") for place in _RESULTS)
            line = next((line for line in places if line is not None), None)
            self.structured = json_text(self.outcome.value["structuredContent"]) if line is None else tree.value(line)

    def check(self) -> None:
        """Hold the structured result against its schema. May take a while: call it in a thread."""
        if not self.has_structured:
            self.violations = [Violation("", "the tool has an outputSchema, and its result no structuredContent", "")]
            return
        try:
            self.violations = Validator(self.output_schema).errors(self.outcome.value["structuredContent"])
        except SchemaError as error:
            self.unchecked = error.message
