"""Sends the request of a step, and observes what comes of it: the answer, and what the server sends meanwhile."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from inspector.calls import models
from inspector.calls.expectations import Observed
from inspector.calls.models import Answer, given
from inspector.calls.progress import EventJudge
from inspector.calls.step_requests import headers_of
from inspector.client.inbox import TOPICS, StandingAnswers
from inspector.compare.json_places import places
from inspector.config.text_checks import root_uri
from inspector.errors import InspectorError, ServerError, ServerExited, UsageError
from inspector.journal.exchange import Exchange
from inspector.journal.format import Dir, Kind
from inspector.journal.index import State
from inspector.journal.query import Query
from inspector.log_lines import display_lines
from inspector.protocol.jsonrpc import Shape

if TYPE_CHECKING:
    from collections.abc import Sequence

    from inspector.calls.variables import Variables
    from inspector.client.engine.pending_requests import Call
    from inspector.client.session import Session

_METHODS = {topic: method for method, topic in TOPICS.items()}
JUDGED_AT_ONCE = 1000
"""Events that are judged in one turn of the event loop."""


class Observation:
    """Sends requests on the session of a flow. `findings` judges the messages, if rules of MCP are looked at."""

    def __init__(self, session: Session, variables: Variables, findings: EventJudge | None) -> None:
        self._session = session
        self._variables = variables
        self._findings = findings

    async def exchange(self, step: models.CallStep, method: str, params: dict[str, Any]) -> tuple[Observed, Call, int]:
        """Send one request and observe what comes of it; also the call, and the number of its first request."""
        session = self._session
        before, known = len(session.journal), session.journal.findings.version
        observed = Observed()
        headers = headers_of(step, self._variables)
        with self.standing(step.answer if given(step, "answer") else None), self._watching_secrets(step):
            try:
                call = self._send(step, method, params, headers)
                n = call.n
                if self._findings is not None and not given(step.expect, "findings"):
                    await self._judge_to(n)  # While the server works.
                result = await call.result()
                observed.result, observed.has_result = session.journal.redactor.restored(result), True
            except ServerError as error:
                observed.error = session.journal.redactor.restored(
                    {"code": error.rpc_code, "message": error.rpc_message}
                    | ({"data": error.data} if error.data is not None else {})
                )
            except InspectorError as error:
                observed.failure = error.message
                if words := last_words(error):
                    observed.why = "\n".join(("The last lines on stderr:", *words))
        observed.seconds = max(call.elapsed - call.person_time, 0.0)
        await self._observe(step, method, params, call, before, known, observed)
        return observed, call, n

    def _send(
        self, step: models.CallStep, method: str, params: dict[str, Any], headers: tuple[tuple[str, str], ...]
    ) -> Call:
        if isinstance(step, models.CallStep):
            return self._session.call_tool(
                params["name"],
                params["arguments"],
                as_task=step.task,
                anyway=True,
                meta=params.get("_meta"),
                headers=headers,
            )
        return self._session.start(method, params, headers=headers)

    async def _observe(
        self,
        step: models.CallStep,
        method: str,
        params: dict[str, Any],
        call: Call,
        before: int,
        known: int,
        observed: Observed,
    ) -> None:
        """Collect what came inside the exchange, as far as the step looks at it."""
        journal, expect = self._session.journal, step.expect
        last = call.answer_n or len(journal)
        if method == "tools/call" and observed.has_result:
            tool = self._session.catalog["tools"].get(str(params.get("name")))
            observed.output_schema = tool.get("outputSchema") if tool is not None else None
        if self._findings is not None and not given(expect, "findings"):
            observed.findings = await self._musts(call, before, last, known)
        restored = journal.redactor.restored

        def messages(numbers: Iterable[int]) -> list[Any]:
            received = (journal.event(n).message for n in numbers)
            return [restored(message) for message in received if isinstance(message, dict)]

        if given(expect, "progress"):
            observed.progress = [message.get("params") for message in messages(Exchange(journal, call.n).progress)]
        if given(expect, "log") or given(expect, "notifications"):
            came = messages(Query(dir=Dir.RECV, shape=Shape.NOTIFICATION).numbers(journal.index, before, last))
            observed.notifications = [
                {name: message[name] for name in ("method", "params") if name in message} for message in came
            ]
            observed.log = [
                message.get("params") for message in came if message.get("method") == "notifications/message"
            ]
        if given(expect, "asked"):
            observed.asked = [
                {"method": _METHODS[question.topic], "params": restored(question.params)}
                for question in self._session.inbox.questions
                if before < question.n <= last
            ]

    async def _judge_to(self, last: int) -> None:
        """Judge the events up to `last`, in pieces: after a flood that takes long, and Ctrl-C must be heard."""
        assert self._findings is not None
        last = min(last, len(self._session.journal))
        while self._findings.judged < last:
            self._findings.run_to(min(self._findings.judged + JUDGED_AT_ONCE, last))
            if self._findings.judged < last:
                await asyncio.sleep(0)

    async def _musts(self, call: Call, before: int, last: int, known: int) -> list[str]:
        """The findings of level MUST on what the server sent inside an exchange; `known`: their version before it."""
        journal = self._session.journal
        index = journal.index
        await self._judge_to(last)
        if journal.findings.version == known:
            return []
        findings = []
        for n in range(before + 1, last + 1):
            belongs = (
                n == call.answer_n
                or index.kind(n) is Kind.HTTP
                or call.n in (index.pair(n), index.parent(n))
                or index.state(n) in (State.DOUBLED, State.UNKNOWN)
            )
            if belongs and index.dir(n) is Dir.RECV:
                findings += [
                    f"{finding.rule} {finding.message}" for finding in journal.findings.of(n) if finding.level == "must"
                ]
        return findings

    @contextmanager
    def standing(self, answer: Answer | None) -> Iterator[None]:
        """Have the questions of the server answered as this step says."""
        inbox = self._session.inbox
        old = inbox.standing
        if answer is not None:
            inbox.standing = standing_of(self._variables.insert(answer.model_dump(exclude_unset=True)), old)
        try:
            yield
        finally:
            inbox.standing = old

    @contextmanager
    def _watching_secrets(self, step: models.CallStep) -> Iterator[None]:
        """Learn the secrets that the answer holds before the answer is recorded."""
        paths = [step.capture[name] for name in step.secret]
        journal = self._session.journal
        if not paths:
            yield
            return

        def learn(message: Any) -> None:
            result = message.get("result") if isinstance(message, dict) else None
            for value in (result, result.get("result") if isinstance(result, dict) else None):
                for path in paths:
                    for secret in values_at(value, path, 100, self._variables):
                        self._variables.secrets.add(secret)

        journal.on_arrival, old = learn, journal.on_arrival
        try:
            yield
        finally:
            journal.on_arrival = old


def values_at(value: Any, path: str, limit: int, variables: Variables) -> Iterator[Any]:
    """The values at a path of a step; none where a variable makes it a wrong one."""
    try:
        for _, (_, item) in zip(range(limit), places(value, variables.insert_text(path)), strict=False):
            yield item
    except UsageError:
        return


def last_words(error: InspectorError) -> list[str]:
    """The last lines on stderr of a server that ended; empty for another error."""
    return display_lines(error.stderr) if isinstance(error, ServerExited) else []


def last_line(words: Sequence[str]) -> str:
    """The sentence about the last of these lines."""
    return f"Its last line on stderr is “{words[-1]}”."


def standing_of(answer: dict[str, Any], base: StandingAnswers) -> StandingAnswers:
    """The standing answers of a step; topics that it leaves out are answered as in the session."""
    standing = base
    if "elicitation" in answer:
        standing = standing._replace(elicitation=answer["elicitation"])
    if "sampling" in answer:
        standing = standing._replace(sampling=answer["sampling"])
    if "roots" in answer:
        standing = standing._replace(roots=tuple(map(root_uri, answer["roots"])))
    return standing
