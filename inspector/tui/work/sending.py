"""Sends the requests of the work pane, after a question where the user wants one, and keeps what came back."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from textual.widget import Widget

from inspector.client.engine.pending_requests import Call
from inspector.client.revision_hints import revision_hint
from inspector.client.session_state import Commands, SessionState
from inspector.errors import InspectorError
from inspector.protocol.forms.form import UNSET
from inspector.protocol.views import Tool
from inspector.tui.advice import connect_again
from inspector.tui.log.copy_as import send_again
from inspector.tui.work.confirm_call import CallConsent
from inspector.tui.work.outcome import ShownOutcome
from inspector.tui.work.request import RequestPane
from inspector.tui.work.work_items import WorkItem, WorkItems, past_of, refuse

NOT_SENT = "Not sent: "


class Sending:
    """The requests of a session's items.

    `sent` is called after a request was sent or refused, `changed` after something else about an item has changed.
    """

    def __init__(
        self,
        pane: Widget,
        session: SessionState,
        work_items: WorkItems,
        *,
        sent: Callable[[WorkItem], None],
        changed: Callable[[WorkItem], None],
    ) -> None:
        self._pane = pane
        self._session = session
        self._work_items = work_items
        self._sent = sent
        self._changed = changed
        self._consent = CallConsent(pane)
        self.pinned: tuple[WorkItem, Any] | None = None
        """The item, with its arguments, that is called again after each restart of a watched server."""
        self._compares: ShownOutcome | None = None
        """The answer that the next one of the pinned call is compared with."""
        self._revision = ""
        """The revision in use when hints about another were last dropped."""

    # Send

    def send(self, event: RequestPane.Send) -> None:
        """Send a request, after the user was asked if that is wanted for the tool."""
        item = event.work.catalog_item
        tool = item.view if isinstance(item.view, Tool) else None
        self._ask_and_do(tool, event.arguments, partial(self._send, event))

    def repeat(self, n: int) -> None:
        """Send event `n` of the recording again, after the same question."""
        session = self._session.commands
        if session is None:
            return
        message = session.journal.event(n).message
        params = message.get("params") if isinstance(message, dict) and message.get("method") == "tools/call" else None
        name, arguments = (params.get("name"), params.get("arguments")) if isinstance(params, dict) else (None, None)
        tool = session.catalog["tools"].get(name) if isinstance(name, str) else None
        self._ask_and_do(Tool(tool) if tool is not None else None, arguments, partial(self._repeat, session, n))

    def _repeat(self, session: Commands, n: int) -> None:
        problem = send_again(session, n)
        if problem:
            self._pane.notify(problem, severity="error", markup=False)

    def _ask_and_do(self, tool: Tool | None, arguments: Any, send: Callable[[], None]) -> None:
        """Send the call of a tool, or another message, after the question that the user wants before it."""
        if tool is not None and self._consent.reason(tool):
            asking = self._ask(tool, arguments, send)
            self._pane.run_worker(asking, group="ask-call", exclusive=True, exit_on_error=False)
        else:
            send()

    async def _ask(self, tool: Tool, arguments: Any, send: Callable[[], None]) -> None:
        if await self._consent.ask(tool, self._session.target.label, arguments):
            send()

    def _send(self, event: RequestPane.Send) -> None:
        work, session = event.work, self._session.commands
        if session is None:
            return
        if session.phase != "ready":
            work.problem = f"{NOT_SENT}{self._no_connection(session)}"
        elif self._begin(session, work, event.arguments, as_task=event.as_task) is not None:
            work.revision_hint = None
        self._sent(work)

    def _begin(self, session: Commands, work: WorkItem, arguments: Any, *, as_task: bool = False) -> Call | None:
        try:
            work.call = call = work.catalog_item.send(session, arguments, as_task=as_task)
        except InspectorError as error:
            refuse(work, error)
            return None
        work.sent, work.problem = arguments, ""
        return call

    def _no_connection(self, session: SessionState) -> str:
        if session.phase == "connecting":
            return "still connecting to the server."
        return f"not connected to the server. {connect_again(self._pane)}"

    # Send again

    def send_again(self, work: WorkItem, arguments: Any) -> Call | None:
        """Send a request of an item again without its form. Returns the call, if it was sent."""
        session = self._session.commands
        if session is None:
            return None
        call = self._begin(session, work, arguments)
        self._changed(work)
        return call

    def lost_work(self) -> WorkItem | None:
        """Return the item of the newest call, if the connection was lost before its answer."""
        calls = {work.call.n: work for work in self._work_items.all() if isinstance(work.call, Call)}
        newest = calls[max(calls)] if calls else None
        call = newest.call if newest is not None else None
        return newest if call is not None and call.fate == "lost" else None

    def pin(self, work: WorkItem) -> None:
        """Call an item again after each restart of a watched server, or stop doing so."""
        self.pinned = None if self.pinned == (work, work.sent) else (work, work.sent)

    def is_pinned(self, work: WorkItem) -> bool:
        """Whether the item is called again after each restart."""
        return self.pinned is not None and self.pinned[0] is work

    def send_pinned(self) -> Call | None:
        """Call the pinned item again; its result says what is different. Returns the call, if one was sent."""
        if self.pinned is None:
            return None
        work, arguments = self.pinned
        self._compares = work.answer
        return self.send_again(work, arguments)

    # What came back

    def ended(self, work: WorkItem) -> None:
        """Keep the answer of an item's call: as a past call, and for the comparison of a pinned one."""
        answer = work.answer
        if answer is None or answer.outcome.late:
            return
        outcome = answer.outcome
        if self._compares is not None and self.is_pinned(work):
            before, self._compares = self._compares, None
            compare = partial(self._compare, before, work, answer)
            self._pane.run_worker(compare, thread=True, group="compare", exit_on_error=False)
        work.revision_hint = revision_hint(self._session.server.revision, outcome.error, outcome.value)
        if work.catalog_item.schema is not None:
            if work.form is not None and work.form.value() in (work.sent, UNSET):
                work.is_edited, work.draft = False, UNSET
            work.remember(past_of(work, work.sent, self._session.journal))
            self._work_items.keep(work.catalog_item, work.sent, outcome)
        self._changed(work)

    def _compare(self, before: ShownOutcome, work: WorkItem, answer: ShownOutcome) -> None:
        from inspector.tui.work.answer_changes import changes_since

        answer.changes = changes_since(before, answer, self._session.journal)
        self._pane.app.call_from_thread(self._changed, work)

    def forget_old_problems(self) -> None:
        """Drop hints about a revision that is no longer in use, and why calls were not sent."""
        revision, ready = self._session.server.revision, self._session.phase == "ready"
        renewed = bool(revision) and revision != self._revision
        if renewed:
            self._revision = revision
        for work in self._work_items.all() if renewed or ready else ():
            stale = renewed and work.revision_hint is not None
            if stale:
                work.revision_hint = None
            if ready and work.problem.startswith(NOT_SENT):
                work.problem, stale = "", True
            if stale:
                self._changed(work)
