"""Input that the server requires for a call: several questions at once, all of which need an answer.

One class serves the modern era's `input_required` results (C-MRTR-01), tasks that require input (C-TASK-02) and the
URLs of error -32042 (C-ELIC-04, C-ELIC-05): each adds its questions to the inbox that also holds the legacy era's
requests. Source: specification 2025-11-25, "Elicitation", "URL Mode Elicitation Required Error".
"""

from __future__ import annotations

import asyncio
from typing import Any

from inspector.client.engine.engine import Engine
from inspector.client.engine.pending_requests import Call
from inspector.client.inbox import MAX_QUESTIONS, TOPICS, Inbox, Question
from inspector.errors import ServerError
from inspector.protocol.jsonrpc import excerpt
from inspector.protocol.members import object_at, objects_at, value_at
from inspector.protocol.revisions import Features
from inspector.protocol.sampling import refusal


class InputUnavailable(Exception):
    """The server does not get the required input; `reason` is the end of a sentence with the reason."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class InputRequests:
    """The questions of one response: `ask` them, then await `answers`."""

    def __init__(self, inbox: Inbox, features: Features, requests: dict[str, Any]) -> None:
        self.inbox = inbox
        self.requests = requests
        self.responses: dict[str, Any] = {}
        self.by_hand = False
        """A person was asked."""
        self._offered = inbox.standing.capabilities(features)
        self._questions: list[Question] = []
        self._over = False
        self._refused = "it was withdrawn"
        self._ended = asyncio.Event()

    def ask(self, n: int, parent: int, t: int) -> None:
        """Add the questions of message `n` to the inbox; `parent` is our request that it responds to."""
        problem = self._problem()
        if problem:
            self._end(problem)
            return
        for key, request in self.requests.items():
            topic, params = TOPICS[request["method"]], object_at(request, "params")
            question = self.inbox.ask(n, key, topic, params, parent, t, reply=self._answered)
            if self._over:
                self.inbox.drop(question)
                return
            self._questions.append(question)
            self.by_hand = self.by_hand or question.state == "open"

    def _problem(self) -> str:
        """Return why this cannot be asked: no requests, an unknown method, an undeclared capability."""
        if len(self.requests) > MAX_QUESTIONS:
            return f"it asks {len(self.requests)} questions at once; the limit is {MAX_QUESTIONS}"
        for key, request in self.requests.items():
            method = value_at(request, "method")
            topic = TOPICS.get(method) if isinstance(method, str) else None
            if topic is None:
                return f"its input request {excerpt(key, 60)} has the unknown method {excerpt(method, 60)}"
            if topic not in self._offered:
                return f"its input request {excerpt(key, 60)} is {method}, a capability that was not declared"
            if topic == "elicitation" and not self._mode_is_offered(request.get("params")):
                return f"its input request {excerpt(key, 60)} uses an elicitation mode that was not declared"
            if topic == "sampling" and type(request.get("params")) is dict:
                reason = refusal(request["params"], tools="tools" in self._offered["sampling"])  # C-SAMP-03
                if reason:
                    return f"its input request {excerpt(key, 60)} is not a valid sampling request: {reason}"
        return ""

    def _mode_is_offered(self, params: Any) -> bool:
        mode = params.get("mode", "form") if type(params) is dict else "form"
        return isinstance(mode, str) and (mode == "form" or mode in self._offered["elicitation"])

    def _answered(self, question: Question, result: Any, error: tuple[int, str] | None) -> None:
        if self._over:
            return
        if error is not None:
            self._end(f"the {question.topic} request was refused")
            return
        self.responses[question.id] = result
        if len(self.responses) == len(self.requests):
            self._end("")

    async def answers(self) -> dict[str, Any]:
        """Wait for all results, by key. Raises `InputUnavailable`. If cancelled, it withdraws the questions."""
        try:
            await self._ended.wait()
        finally:
            self.withdraw()
        if self._refused:
            raise InputUnavailable(self._refused)
        return self.responses

    @property
    def open(self) -> bool:
        """Whether answers are missing."""
        return not self._over

    def withdraw(self) -> None:
        """Withdraw the questions: the call has ended."""
        self._over = True
        self._ended.set()
        for question in self._questions:
            self.inbox.drop(question)

    def _end(self, refused: str) -> None:
        self._refused = refused
        self.withdraw()


def elicitations_of(error: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the elicitations of an error -32042 that have a URL."""
    return [item for item in objects_at(error, "data", "elicitations") if isinstance(item.get("url"), str)]


class UrlElicitation:
    """The URLs that one call waits for: each must be accepted, and completed if it has an id.

    A server need not notify the completion: the call then times out with a hint.
    """

    def __init__(self, engine: Engine, call: Call, asked: list[dict[str, Any]], error: ServerError) -> None:
        self._call = call
        self._error = error
        self._open = {item["elicitationId"] for item in asked if isinstance(item.get("elicitationId"), str)}
        self._completed = asyncio.Event()
        requests = {
            str(number): {"method": "elicitation/create", "params": {**item, "mode": "url"}}
            for number, item in enumerate(asked)
        }
        self._requests = InputRequests(engine.state.inbox, engine.state.server.features, requests)
        self.complete(None)

    def ask(self, n: int, t: int) -> None:
        """Add the URLs of message `n`, which arrived at `t`, to the inbox."""
        self._requests.ask(n, self._call.n, t)

    async def done(self) -> None:
        """Wait until all are accepted and completed. Raises the server's error if one is declined."""
        reason = ""
        try:
            answers = await self._requests.answers()
            agreed = all(answer.get("action") == "accept" for answer in answers.values())
        except InputUnavailable as refused:
            agreed, reason = False, f": {refused.reason}"
        if not agreed:
            self._error.hint = f"The server requires a visit to a URL first, which was not accepted{reason}."
            raise self._error
        self._call.deadline.alive()
        await self._completed.wait()

    def complete(self, id: Any) -> None:
        """Handle `notifications/elicitation/complete`; unknown and completed ids are ignored."""
        if isinstance(id, str):
            self._open.discard(id)
        if not self._open:
            self._completed.set()

    def withdraw(self) -> None:
        """Withdraw the questions: the call has ended."""
        self._requests.withdraw()
