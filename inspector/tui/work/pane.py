"""The middle of the screen: an item with its form; below it the result, the running call or the question.

The lower part shows one of the three, and covers nothing. Each item keeps its form, its call and its result while
another one is shown; several calls may run at the same time.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import partial
from typing import Any

from textual.app import ComposeResult
from textual.containers import Container
from textual.widget import Widget

from inspector.client.engine.pending_requests import Call
from inspector.client.inbox import Question
from inspector.client.revision_hints import revision_hint
from inspector.client.session_state import SessionState
from inspector.client.state.catalog import ListName
from inspector.config.server_memory import ServerMemory
from inspector.config.settings import AskBeforeCall
from inspector.errors import InspectorError
from inspector.protocol.forms.form import UNSET
from inspector.protocol.views import Tool, may_destroy
from inspector.text import safe
from inspector.tui.ask import labels
from inspector.tui.ask.answer import RootsBody
from inspector.tui.ask.question import QuestionPane
from inspector.tui.key_order import FORM
from inspector.tui.keymap import KeyHint
from inspector.tui.pane_keys import hints
from inspector.tui.pane_messages import HintsChanged, LeaveWork, ZoomEnded
from inspector.tui.themes import signs_now
from inspector.tui.widgets import paint
from inspector.tui.widgets.editor import Editor
from inspector.tui.work.catalog import TITLES
from inspector.tui.work.catalog_item import CatalogItem
from inspector.tui.work.latest_only import LatestOnly
from inspector.tui.work.outcome import ShownOutcome
from inspector.tui.work.recorded_calls import RecordedCalls, item_called
from inspector.tui.work.request import RequestPane
from inspector.tui.work.result import CallAgain, ResultPane, ViewChosen
from inspector.tui.work.running import RunningPane
from inspector.tui.work.work_items import WorkItem, WorkItems, past_of, refuse, settle

PATIENCE = 0.3
"""Seconds after which a call sent from its form or the list gets the focus, so that esc cancels it."""

READ_TIME = 0.5
"""Seconds that a question is shown before keys of the list answer it."""

NOT_SENT = "Not sent: "

CRUMB = 60
"""Characters of an item's name in the title of a zoomed pane."""

COMPACT_BELOW = 30
"""Lines below which the panes hide their keys, which the footer also shows."""

LOW = 12
"""Lines of the pane below which form and result keep only what cannot be missed."""
ROOM_OF_RESULT = 18
"""Lines that a long result gets before the form gets more than `FORM_BESIDE_RESULT`: a table then has 12 rows."""
_EDGE = 2
FORM_BESIDE_RESULT = 8
"""Lines that a form has above a result, on any screen that is high enough."""
EMPTY_RESULT = 4
"""Lines of a result pane without a result; a long form has the others."""

Lower = ResultPane | RunningPane | QuestionPane


class WorkPane(Container):
    """The work pane of the selected item. `memory` stores calls and drafts between sessions."""

    DEFAULT_CSS = """
    WorkPane { layout: vertical; }
    WorkPane > ResultPane, WorkPane > RunningPane, WorkPane > QuestionPane { height: 1fr; }
    """

    def __init__(self, session: SessionState, *, memory: ServerMemory | None = None, id: str | None = None) -> None:
        super().__init__(id=id)
        self.session = session
        if memory is None and session.commands is not None:
            memory = ServerMemory(session.target)
        self.work_items = WorkItems(memory)
        self.work: WorkItem | None = None
        self.question: Question | None = None
        """The question that is shown, of any call."""
        self.request = RequestPane(session, id="request")
        self.result = ResultPane(session, id="result")
        self.running = RunningPane(session, id="running")
        self.asking = QuestionPane(session, id="question")
        self._lower: Lower = self.result
        self._recorded = RecordedCalls(session.journal, session) if session.commands is None else None
        self._reads_on = False
        """More requests of the recording are read in a moment."""
        self._items = LatestOnly(self, self._put_item)
        self._puts = LatestOnly(self, self._put_question)
        self._seen: tuple[Any, ...] = ()
        self._revision = ""
        self._log_seen = (-1, 0)
        self._questions_seen: set[tuple[int, Any]] = set()
        self._focus_question = False
        self._stray: Question | None = None
        """A question outside every call. It is shown where a result is missing, until something is sent."""
        self._stray_alone = False
        """The user has chosen no item since the question came: it has the whole pane, and the list its keys."""
        self._stray_read = False
        """It has stood there for `READ_TIME`."""
        self._asked_from: Widget | None = None
        """The widget from which the user went to the question; the answer leads back to it."""
        self._sent_from: Widget | None = None
        self._came_from: Widget | None = None
        self.ask_before: AskBeforeCall = "never"
        """Before which tools the user is asked."""
        self._not_asked_again: set[str] = set()
        """Tools that may destroy something, and that the user calls without a question in this session."""
        self.pinned: tuple[WorkItem, Any] | None = None
        """The item, with its arguments, that is called again after each restart of a watched server."""
        self._compares: ShownOutcome | None = None
        """The answer that the next one of the pinned call is compared with."""
        self._zoomed = ""
        self._shows_request = True

    def compose(self) -> ComposeResult:
        yield self.request
        yield self.result
        yield self.running
        yield self.asking

    def on_mount(self) -> None:
        self.running.display = self.asking.display = False
        self.set_interval(0.5, self._waits)
        self._draw_lower()

    def on_show(self) -> None:
        # While hidden, it drew nothing.
        self.tick()

    # Select an item

    def show_item(self, list_name: ListName, item: dict[str, Any] | None) -> None:
        """Show an item in its last state, with its form, its call or its result; None for no item."""
        if item is None:
            self.work, self.question = None, None
            self._items.drop()
            self.request.announce(None)
            self._draw_lower()
            return
        known = self.work.catalog_item.item if self.work is not None else None
        work = self.work_items.of(CatalogItem(list_name, item))
        work.pinned = 0
        if work is self.work and item is not known:
            # The list was read again: the user's work on the item continues.
            self._items.want(work)
            return
        self.question = None
        if self.work is not None and work is not self.work:
            # Not the first item of a list that has just arrived: the user moved.
            self._stray_alone = False
        if work is self.work and self.request.work is work:
            self._draw_lower()
            return
        # The cursor of the list moves first. The form follows, but not one for each row that is passed.
        self._go_to(work, when_keys_rest=self.work is not None)

    def on_unmount(self) -> None:
        # Here and not in the quit action: a session also ends by a signal or with its terminal.
        self.work_items.keep_drafts()
        self.work_items.finish_writing()

    def _go_to(self, work: WorkItem, *, when_keys_rest: bool = False) -> None:
        if self.work is not None and self.work.is_edited:
            self.work_items.keep_drafts(self.work)
        self.work = work
        self.request.crumb = TITLES[work.catalog_item.list_name] if self.screen.has_class("-narrow") else ""
        self.request.announce(work)
        self._items.want(work, when_keys_rest=when_keys_rest)

    async def _put_item(self, work: WorkItem) -> None:
        """Show the form of an item, and the outcome of its call."""
        await self._recall(work)
        if self._items.is_wanted(work):
            await self.request.show(work)
            self._draw_lower()

    async def _recall(self, work: WorkItem) -> None:
        if self._recorded is not None:
            self._recorded.fill(work)
        elif work.past is None:
            (past, draft), view = await asyncio.to_thread(
                lambda: (self.work_items.recall(work.catalog_item), self.work_items.view(work.catalog_item))
            )
            if work.past is None:
                work.past, work.draft, work.view = past, draft, work.view or view

    def open_resource(self, uri: str) -> None:
        """Show the resource with this URI, listed or not, and read it."""
        item = self.session.catalog.resources.get(uri) or {"uri": uri, "name": uri}
        self.show_item("resources", item)
        self.send()

    @property
    def shown_call(self) -> int:
        """The request of the call whose progress or result is on the screen; 0 if there is none."""
        work, answer = self.work, self.result.answer
        if work is None or not self.is_on_screen:
            return 0
        if self._lower is self.running:
            return work.call.n if work.call is not None else 0
        return answer.outcome.request_n if self._lower is self.result and answer is not None else 0

    @property
    def running_call(self) -> Call | None:
        """The call of the item that is shown, while it runs and can be cancelled."""
        call = self.work.call if self.work is not None and self.work.is_running else None
        return call if isinstance(call, Call) else None

    def focus_work(self) -> None:
        """Focus the question, the first field, or another widget of the item."""
        question = self._question_to_show()
        if question is not None and question is self._stray and self.work is not None:
            # The user chose the item, not the question.
            self._put_stray_below()
            self._when_put_up(self.request.focus_inside)
        elif question is not None and question is self.asking.question and self.asking.is_open:
            self.asking.focus_inside()
        elif question is not None and question.state == "open" and self.session.commands is not None:
            self.focus_question()
        else:
            self._when_put_up(self.request.focus_inside)

    def _put_stray_below(self) -> None:
        """Show the form above the question that no call caused: keys may go to its fields."""
        if self._stray_alone and self.work is not None:
            self._stray_alone = False
            self._draw_lower()

    def on_descendant_focus(self) -> None:
        self._items.hurry()
        if self._stray is not None:
            self._share_room()

    def _when_put_up(self, do: Callable[[], object]) -> None:
        """Run an action on the form of the item, at once or after the form is mounted.

        At once if possible, because more keys may follow.
        """
        if self._items.is_idle:
            do()
        else:
            self._items.hurry()
            self.run_worker(self._wait_and(do), group=FORM, exit_on_error=False)

    async def _wait_and(self, do: Callable[[], object]) -> None:
        await self._items.settled()
        do()

    # Send

    def send(self) -> None:
        """Send the request of the current item with the values of its form."""
        self._put_stray_below()
        self._when_put_up(self.request.action_call)

    def on_request_pane_send(self, event: RequestPane.Send) -> None:
        event.stop()
        work, session = event.work, self.session.commands
        if session is None:
            return
        if work is self.work and self.request.asks_for_answer:
            # The key was meant for the question, from the list too: a new call would hide it.
            self.focus_question()
            return
        tool = work.catalog_item.view
        mode = self.ask_before
        asks = mode != "never" and isinstance(tool, Tool) and work.catalog_item.address not in self._not_asked_again
        if asks and may_destroy(work.catalog_item.item, by_default=mode == "unannotated"):
            self.run_worker(self._ask_and_send(event), group="ask-call", exclusive=True, exit_on_error=False)
        else:
            self._send(event)

    async def _ask_and_send(self, event: RequestPane.Send) -> None:
        """Send a request if the user agrees. The dialog is loaded when it is needed first."""
        from inspector.tui.work.confirm_call import ConfirmCall

        item = event.work.catalog_item
        assert isinstance(item.view, Tool)
        decision = await self.app.push_screen_wait(ConfirmCall(item.view, self.session.target.label, event.arguments))
        if decision == "session":
            self._not_asked_again.add(item.address)
        if decision != "cancel":
            self._send(event)

    def _send(self, event: RequestPane.Send) -> None:
        work, session = event.work, self.session.commands
        if session is None:
            return
        if session.phase != "ready":
            work.problem = f"{NOT_SENT}{self._no_connection(session)}"
        else:
            try:
                work.call = work.catalog_item.send(session, event.arguments, as_task=event.as_task)
                work.sent = event.arguments
                work.problem, work.revision_hint = "", None
            except InspectorError as error:
                refuse(work, error)
        if self._zoomed == "request" and work.call is not None:
            self.post_message(ZoomEnded())
        self._sent_from = self.screen.focused
        self._stray = None
        if self.work is work:
            self.question = None
            self.request.redraw()
            self._draw_lower()
            self.set_timer(PATIENCE, partial(self.move_to_call, work))

    def _no_connection(self, session: SessionState) -> str:
        if session.phase == "connecting":
            return "still connecting to the server."
        keys = " ".join(f"{hint.label} connects again." for hint in hints(self, "app.reconnect"))
        return f"not connected to the server. {keys}".strip()

    def move_to_call(self, work: WorkItem) -> None:
        """Focus a call that takes long, unless the user does something else."""
        still = self.work is work and self._lower is self.running
        here = self.screen.focused
        stayed = here is not None and (here is self._sent_from or self.request.has_focus_within)
        if still and stayed and not self._is_typing:
            self._came_from = here
            self.running.focus_inside()

    @property
    def _is_typing(self) -> bool:
        """Whether the user writes a filter, or has changed the form since its call: then the focus is not moved."""
        if self.request.has_focus_within:
            return not self.request.holds_what_was_sent
        return isinstance(self.screen.focused, Editor)

    def on_call_again(self, event: CallAgain) -> None:
        event.stop()
        self.send()

    def pin_call(self) -> None:
        """Call the item that is shown again after each restart of a watched server, or stop doing so."""
        work = self.work
        if work is None or work.answer is None:
            return
        is_pinned = self.pinned is not None and self.pinned[0] is work and self.pinned[1] == work.sent
        self.pinned = None if is_pinned else (work, work.sent)
        self._show_result()
        self.result.redraw()

    def lost_work(self) -> WorkItem | None:
        """The item of the newest call, if the connection was lost before its answer."""
        called = [work for work in self.work_items.all() if isinstance(work.call, Call)]
        newest = max(called, key=lambda work: work.call.n if work.call is not None else 0, default=None)
        return newest if newest is not None and newest.call is not None and newest.call.fate == "lost" else None

    def send_pinned(self) -> Call | None:
        """Call the pinned item again; its result says what is different. Returns the call, if one was sent."""
        if self.pinned is None:
            return None
        work, arguments = self.pinned
        self._compares = work.answer
        return self.send_again(work, arguments)

    def send_again(self, work: WorkItem, arguments: Any) -> Call | None:
        """Send a request of an item again without its form. Returns the call, if it was sent."""
        session, call = self.session.commands, None
        if session is None:
            return None
        try:
            work.call = call = work.catalog_item.send(session, arguments)
            work.sent = arguments
            work.problem = ""
        except InspectorError as error:
            refuse(work, error)
        if work is self.work:
            self.request.redraw()
            self._draw_lower()
        return call

    def _compare(self, before: ShownOutcome, answer: ShownOutcome) -> None:
        from inspector.tui.work.answer_changes import changes_since

        answer.changes = changes_since(before, answer, self.session.journal)
        self.app.call_from_thread(self._compared, answer)

    def _compared(self, answer: ShownOutcome) -> None:
        if self.result.answer is answer:
            self.result.redraw()

    def on_view_chosen(self, event: ViewChosen) -> None:
        """Open later results of the item in this view, in later sessions too."""
        event.stop()
        work = self.work
        if work is not None and work.view != event.view:
            work.view = event.view
            self.work_items.keep_view(work.catalog_item, event.view)

    def on_request_pane_edited(self, event: RequestPane.Edited) -> None:
        event.stop()
        if self._lower is self.result:
            self._show_result()

    def on_request_pane_to_result(self, event: RequestPane.ToResult) -> None:
        event.stop()
        self._lower.focus_inside()

    def on_request_pane_cancel_call(self, event: RequestPane.CancelCall) -> None:
        event.stop()
        if isinstance(event.work.call, Call):
            event.work.call.cancel()

    # Progress of calls

    def tick(self) -> None:
        """Update calls and questions."""
        changes = self.session.changes
        seen = tuple(changes[topic] for topic in ("calls", "inbox", "subscriptions", "phase", "server"))
        if seen != self._seen:
            self._seen = seen
            self._forget_revision_hints()
            self._forget_connection_problems()
            for work in self.work_items.all():
                if settle(work, self.session.journal):
                    self._ended(work)
            self._look_for_questions()
            self._look_after_stray()
            self._draw_lower()
            self.request.refresh_state()
        if self.asking.is_stale and self.asking.question is not None:
            # The next question may have arrived in the same tick: the previous one must not replace it.
            self._puts.want(self._question_to_show() or self.asking.question)
        log = (len(self.session.journal), 0 if self._recorded is None else changes["log"] + changes["calls"])
        if log != self._log_seen:
            self._log_seen = log
            if self._lower is self.running:
                self.running.tick()
            if self._recorded is not None:
                self._draw_recorded()

    @property
    def suggested_revision(self) -> str:
        """The revision that may work where the shown call failed; `""` if the failure says nothing about it."""
        hint = self.work.revision_hint if self.work is not None else None
        return hint.revision if hint is not None else ""

    def _forget_revision_hints(self) -> None:
        """Drop hints about a revision that is no longer in use."""
        revision = self.session.server.revision
        if not revision or revision == self._revision:
            return
        self._revision = revision
        for work in self.work_items.all():
            if work.revision_hint:
                work.revision_hint = None
                if work is self.work:
                    self.request.redraw()

    def _forget_connection_problems(self) -> None:
        """Drop the reasons why calls were not sent, when there is a connection again."""
        for work in self.work_items.all() if self.session.phase == "ready" else ():
            if work.problem.startswith(NOT_SENT):
                work.problem = ""
                if work is self.work:
                    self.request.redraw()

    def _ended(self, work: WorkItem) -> None:
        answer = work.answer
        if answer is None or answer.outcome.late:
            return
        outcome = answer.outcome
        if self._compares is not None and self.pinned is not None and work is self.pinned[0]:
            before, self._compares = self._compares, None
            self.run_worker(partial(self._compare, before, answer), thread=True, group="compare", exit_on_error=False)
        work.revision_hint = revision_hint(self.session.server.revision, outcome.error, outcome.value)
        if work.catalog_item.schema is not None:
            if work.form is not None and work.form.value() in (work.sent, UNSET):
                work.is_edited, work.draft = False, UNSET
            work.remember(past_of(work, work.sent, self.session.journal))
            self.work_items.keep(work.catalog_item, work.sent, answer.outcome)
        if work is self.work:
            self.request.redraw()

    # Lower part

    def _draw_lower(self) -> None:
        work = self.work
        if work is not None and settle(work, self.session.journal):
            # An answer can end the call before the next tick: the result takes the focus, and must be there for it.
            self._ended(work)
        question = self._question_to_show()
        if question is not None:
            if question is not self.asking.question or self.asking.is_stale:
                self._puts.want(question)
            if question is self.asking.question or self._lower is self.asking:
                # Until the pane has the question, it would show an old one.
                self._swap(self.asking)
        elif work is not None and work.is_running and work.call is not None:
            self.running.show(work.call)
            self._swap(self.running)
        else:
            self._show_result()
            self._swap(self.result)
        asked_in = work is not None and question is not None and 0 < question.parent == work.recorded[0]
        below_form = question is None or (question is self._stray and not self._stray_alone)
        if question is not None and work is not None:
            below_form = below_form or asked_in or labels.belongs(question, work.call)
        self._shows_request = work is not None and below_form
        from_list = self.asked_from_list is not None
        if from_list != self.asking.answered_from_list:
            self.asking.answered_from_list = from_list
            self.asking.refresh_state()
        self._draw_zoom()
        self._share_room()

    def zoom(self, part: str) -> None:
        """Show one part alone: `request`, or `lower` for the result, the call or the question; `""` shows both."""
        if part != self._zoomed:
            self._zoomed = part
            self._draw_zoom()
            self._share_room()

    def _draw_zoom(self) -> None:
        self.request.display = self._shows_request and self._zoomed != "lower"
        self._lower.display = self._zoomed != "request"
        crumbs: list[str] = []
        if self._zoomed == "lower" and self.work is not None:
            crumbs = [TITLES[self.work.catalog_item.list_name], safe(self.work.catalog_item.address, CRUMB)]
        lead = "".join(f"{crumb} {signs_now().crumb} " for crumb in crumbs)
        for pane in (self.result, self.running):
            pane.keeps_title = bool(lead)
            pane.title = [(lead, "muted"), "Result"] if lead else "Result"

    def _show_result(self) -> None:
        """Show the result for the arguments in the form, or the newest one muted."""
        work = self.work
        self.result.pinned = self.pinned is not None and self.pinned[0] is work
        self.result.can_call = work is not None and self.session.commands is not None
        if work is None or work.answer is None or self._recorded is not None or self.request.form.form is not work.form:
            self.result.show(work.answer if work is not None else None, self._promise())
            return
        value = self.request.form.value
        answer, is_current = work.answer_to({} if value is UNSET else value, self.session.journal)
        self.result.show(answer, self._promise(), stale="" if is_current else "result of other arguments")

    def _swap(self, to: Lower) -> None:
        before, self._lower = self._lower, to
        if before is to:
            return
        within = before.has_focus_within
        if to is self.asking:
            # After an answer the user reads the result, wherever the call was sent from.
            self._came_from = None
        before.display = False
        to.display = self._zoomed != "request"
        if before is self.running:
            self.running.rest()
        if not within:
            return
        if to is self.asking:
            self._focus_question = True
            return
        back, self._came_from = self._came_from, None
        if to is self.result and back is not None and back.is_attached and back.focusable:
            back.focus()
        elif not to.focus_inside():
            self.request.focus_inside()
        self.post_message(HintsChanged())

    def _promise(self) -> str:
        """Return the text that replaces a missing result."""
        if self.work is None:
            return "The selected item is shown here."
        if self.session.commands is None:
            return "The recording has no request for it so far."
        key = next((hint.label for hint in hints(self, "form.call")), "")
        verb = {"call": "calls it", "get": "gets it", "read": "reads it"}[self.work.catalog_item.verb]
        return f"{key} {verb}. The result appears here."

    def _share_room(self) -> None:
        """Give the form the lines it needs, up to a limit; the lower part gets the others."""
        if not self.size.height:
            return
        compact = self.size.height < COMPACT_BELOW
        if compact != self.request.compact:
            self.post_message(HintsChanged())
        for pane in (self.request, self.result, self.running, self.asking):
            pane.set_compact(compact)
        if self._zoomed == "request":
            self.request.most_lines = self.size.height
            self.request.styles.max_height = self.size.height
            self.request.fit()
            return
        brief = self._lower is self.asking and (self._stray is None or self.asking.has_focus_within)
        share = 0.3 if brief else 0.75
        if not brief and (self.work is None or self.work.call is not None or self._lower is self.asking):
            share = 0.6
        least = (3 if brief else 9) if compact else 9
        limit = max(int(self.size.height * (0.2 if compact and brief else share)), min(least, self.size.height // 2))
        if self._lower is self.result and self.work is not None and self.work.answer is None:
            limit = max(self.size.height - EMPTY_RESULT, least)
        elif self._lower is self.result:
            least = FORM_BESIDE_RESULT if self.size.height >= LOW else self.size.height // 2
            room = min(ROOM_OF_RESULT, self.result.lines + _EDGE)
            limit = max(min(limit, self.size.height - room), least)
        if (limit, brief) != (self.request.most_lines, self.request.is_brief):
            self.request.most_lines, self.request.is_brief = limit, brief
            self.request.styles.max_height = limit
            self.request.fit()

    def on_hints_changed(self) -> None:
        # A result, or another view of it, may need more lines or fewer.
        self._share_room()

    def on_resize(self) -> None:
        if self.work is not None:
            self.request.crumb = TITLES[self.work.catalog_item.list_name] if self.screen.has_class("-narrow") else ""
            self.request.refresh_state()
        self._share_room()

    def hints(self) -> list[KeyHint]:
        """The keys at the focus."""
        return self._lower.hints() if self._lower.has_focus_within else self.request.hints()

    # Questions

    def show_question(self, question: Question) -> None:
        """Show a question of the inbox, in its call if that is known."""
        self._show_call_of(question)
        self.question = question
        self._draw_lower()

    def show_stray(self, question: Question, *, alone: bool) -> None:
        """Show a question that no call caused.

        It does not get the focus, because the user may be about to press a key for the list. `alone`: the user has done
        nothing yet; the question has the whole pane, and the list has its keys.
        """
        if self.work is not None and self.work.is_running:
            return  # the call shows it
        self._stray, self._stray_alone, self._stray_read = question, alone, False
        self._draw_lower()
        if alone:
            self.set_timer(READ_TIME, partial(self._stray_was_read, question))

    def _stray_was_read(self, question: Question) -> None:
        if question is self._stray:
            self._stray_read = True
            self._draw_asked()

    def _draw_asked(self) -> None:
        self._draw_lower()
        self.post_message(HintsChanged())

    @property
    def asked_from_list(self) -> QuestionPane | None:
        """The question that the keys of the list answer, or None.

        They do from `READ_TIME` on: a key that was pressed before was meant for the list.
        """
        stray = self._stray
        if stray is None or not self._stray_alone or stray.state != "open" or self.asking.question is not stray:
            return None
        if not self._stray_read or self.asking.has_focus_within:
            return None
        # Only roots can be answered without the pane: the line above the footer shows them.
        return self.asking if self.is_on_screen or stray.topic == "roots" else None

    @property
    def asked_from_inbox(self) -> QuestionPane | None:
        """The question of the inbox that is shown beside the list, or None."""
        shown = self._lower is self.asking and self.asking.is_open and self.is_on_screen
        return self.asking if shown and not self.asking.has_focus_within else None

    def _look_after_stray(self) -> None:
        """Say that the question is gone, if the server does not wait for it any more."""
        stray = self._stray
        if stray is not None and stray.state == "withdrawn" and not self._shows_stray:
            self._stray = None
            self.notify(f"{labels.asker(self.session.server)} withdrew its question.", markup=False, timeout=6)

    def postpone_stray(self) -> None:
        """Leave the question in the inbox."""
        self._stray = None
        self._draw_asked()

    def on_leave_work(self, event: LeaveWork) -> None:
        if not self.asking.has_focus_within:
            return
        if self._stray is not None:
            self.postpone_stray()
        if self._asked_from is not None and self._return():
            self.question = None
            self._draw_asked()
            event.stop()

    def next_question(self) -> Question | None:
        """Return the open question to go to: the one that waits here, else the oldest; None if none is open."""
        waiting = self.session.inbox.open() if self.session.commands is not None else []
        shown = self.asking.question if self._lower is self.asking else self._stray
        return shown if shown in waiting else next(iter(waiting), None)

    def waiting_out_of_sight(self) -> paint.Pieces:
        """Return the next open question in one line, with the roots that would be sent; `""` if it is shown."""
        question, asking = self.next_question(), self.asking
        # Not `is_on_screen`: that is of the last frame, in which this pane may not have been hidden yet.
        if question is None or (
            asking.question is question and all(node.display for node in asking.ancestors_with_self)
        ):
            return ""
        sign: paint.Piece = (f"{signs_now().asked} ", "ask")
        if isinstance(asking.body, RootsBody) and asking.question is question:
            # There is room for one line: what would be sent is more important than a whole sentence.
            uris = " ".join(safe(uri, 60) for uri in asking.body.uris())
            return [sign, ("which folders may it use?  ", "bright"), uris]
        return [sign, (labels.summary(question), "bright")]

    def go_to_question(self, question: Question) -> None:
        """Focus the answer of a question. Afterwards the focus returns to the form or the result."""
        if not self.asking.has_focus_within:
            self._asked_from = self.screen.focused
        if question is self._stray and self._shows_stray:
            self._draw_lower()
        else:
            self.show_question(question)
        self._focus_question = True
        self._puts.want(question)

    def _return(self) -> bool:
        """Return to the part of this pane from which the user went to the question, if it was one."""
        back, self._asked_from = self._asked_from, None
        if back is None or not back.is_attached or not back.focusable or self not in back.ancestors:
            return False
        self.screen.set_focus(back)
        if isinstance(back, Editor):
            # A field selects its text when it gets the focus; who was typing continues where they were.
            back.call_later(back.buffer.go, back.buffer.cursor)
        return True

    def focus_question(self) -> None:
        """Focus the answer of the shown question, as soon as it exists."""
        self._focus_question = True
        if self.asking.question is not None:
            self._puts.want(self.asking.question if self.question is None else self.question)

    def _show_call_of(self, question: Question) -> None:
        around = self.work_items.with_call(question.parent)
        if around is not None and around is not self.work:
            self._go_to(around)

    def _question_to_show(self) -> Question | None:
        """Return the selected question, else that of the shown call."""
        call = self.work.call if self.work is not None else None
        if self.question is None and self._recorded is not None and self.work is not None:
            # In a recording at a moment: the question that the server had asked inside the call, or its answer.
            request = self.work.recorded[0]
            return next((one for one in self.session.inbox.open() if request and one.parent == request), None)
        if self.question is not None:
            return self.question
        if call is not None and call.fate == "pending":
            return labels.question_of(call, self.session.inbox.questions, self.asking.question)
        return self._stray if self._shows_stray else None

    @property
    def _shows_stray(self) -> bool:
        """Whether the question outside every call is shown: it is open or being read, and no result needs the room."""
        stray = self._stray
        if stray is None or (self.work is not None and self.work.answer is not None):
            return False
        return stray.state == "open" or (self.asking.question is stray and self.asking.has_focus_within)

    def _look_for_questions(self) -> None:
        """Focus a new question of the shown call, unless the user is typing. Others wait in the inbox."""
        if self.session.commands is None:
            return
        waiting = self.session.inbox.open()
        fresh = [question for question in waiting if question.key not in self._questions_seen]
        self._questions_seen = {question.key for question in waiting}
        if not fresh:
            return
        busy = self.asking.is_open and self._lower is self.asking
        if busy or self._is_typing or not self.is_on_screen or not self.screen.is_current or self.work is None:
            return
        if not self.work.is_running:
            return
        mine = next((question for question in fresh if labels.belongs(question, self.work.call)), None)
        # With several calls in flight, stdio does not tell which one a question belongs to: the shown one waits too.
        stray = next((question for question in fresh if not question.parent), None)
        if mine is None and stray is not None:
            self.question = stray
        if mine is not None or stray is not None:
            self.focus_question()

    async def _put_question(self, question: Question) -> None:
        within = self.asking.has_focus_within
        await self.asking.show(question)
        self._draw_lower()
        if (within or self._focus_question) and self._lower is self.asking:
            self.asking.focus_inside()
        self._focus_question = False
        self._waits()
        if question is self._stray and self._stray_alone:
            self._draw_asked()

    def on_question_pane_next(self, event: QuestionPane.Next) -> None:
        event.stop()
        waiting = self.session.inbox.open()
        if waiting:
            at = waiting.index(event.after) + 1 if event.after in waiting else 0
            self.show_question(waiting[at % len(waiting)])
            self.focus_question()

    def on_question_pane_later(self, event: QuestionPane.Later) -> None:
        event.stop()
        self.postpone_stray()

    def on_question_pane_keep_roots(self, event: QuestionPane.KeepRoots) -> None:
        event.stop()
        self.keep_roots(event.uris)

    def keep_roots(self, uris: tuple[str, ...] | None) -> None:
        """Answer this server's requests for roots with these URIs, in later sessions too; None: ask again."""
        self.work_items.keep_roots(uris)

    def on_question_pane_answered(self, event: QuestionPane.Answered) -> None:
        """Go to the next question of the same call, or back to the call."""
        event.stop()
        work, question = self.work, event.question
        if question is self._stray:
            within = self.asking.has_focus_within
            self.question = None
            self._stray = next((one for one in self.session.inbox.open() if not one.parent), None)
            self._draw_lower()
            if within and self._stray is not None:
                self.go_to_question(self._stray)
            elif within and not self._return():
                self.post_message(LeaveWork())
            return
        if self._asked_from is not None and not question.parent and self._return():
            self.question = None
            self._draw_lower()
            return
        stray = work is not None and work.is_running and not question.parent
        if self.question is question and work is not None and (stray or labels.belongs(question, work.call)):
            self.question = None
        self._draw_lower()

    def _waits(self) -> None:
        """Record the time for which a call waited for the user."""
        if self._lower is self.asking and self.asking.is_open and self.is_on_screen:
            question = self.asking.question
            if question is not None and self.work is not None and labels.belongs(question, self.work.call):
                self.request.waiting_since = question.t
                self.request.refresh_state()
                return
        if self.request.waiting_since:
            self.request.waiting_since = 0
            self.request.refresh_state()

    # Recordings

    def show_call(self, n: int) -> None:
        """Show request `n` of the recording: its item, the arguments and the result."""
        about = item_called(self.session.journal, n)
        if about is None or self._recorded is None:
            return
        list_name, address = about
        known = self.session.catalog[list_name].get(address)
        key = "uri" if list_name == "resources" else "name"
        work = self.work_items.of(CatalogItem(list_name, known or {key: address}))
        work.pinned = n
        self.question = None
        self._go_to(work)

    def _read_on(self) -> None:
        self._reads_on = False
        self._draw_recorded()

    def _draw_recorded(self) -> None:
        """Add requests that are new in the recording."""
        recorded, work = self._recorded, self.work
        if recorded is None:
            return
        if not self._reads_on and recorded.advance():
            self._reads_on = True
            self.set_timer(0.02, self._read_on)
        if work is None:
            return
        if recorded.fill(work):
            self._items.want(work)
        elif work.call is not None and self._lower is self.running:
            self.running.tick()
