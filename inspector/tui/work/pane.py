"""The middle of the screen: an item with its form; below it the result, the running call or the question.

The lower part shows one of the three, and covers nothing. Each item keeps its form, its call and its result while
another one is shown; several calls may run at the same time.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from time import monotonic
from typing import Any

from textual.app import ComposeResult
from textual.containers import Container
from textual.widget import Widget

from inspector.client.engine.pending_requests import Call
from inspector.client.inbox import Question
from inspector.client.session_state import SessionState
from inspector.client.state.catalog import ListName
from inspector.config.server_memory import ServerMemory
from inspector.protocol.forms.form import UNSET
from inspector.text import safe
from inspector.tui.ask import labels
from inspector.tui.ask.answer import RootsBody
from inspector.tui.ask.question import QuestionPane
from inspector.tui.key_order import FORM
from inspector.tui.keymap import KeyHint
from inspector.tui.model import work as model
from inspector.tui.model.room import EDGES, EMPTY_RESULT, LOW, RUNNING, band_lines, form_room
from inspector.tui.model.tabs import OF_LIST
from inspector.tui.model.work import AnswerNext, Asking, Do, RunningPart, ZoomedPart
from inspector.tui.pane_keys import hints
from inspector.tui.pane_messages import HintsChanged, LeaveWork, ZoomEnded
from inspector.tui.themes import signs_now
from inspector.tui.widgets import paint
from inspector.tui.widgets.editor import Editor
from inspector.tui.work.catalog_item import CatalogItem, UnlistedItem
from inspector.tui.work.focus_return import FocusReturn
from inspector.tui.work.latest_only import LatestOnly
from inspector.tui.work.recorded_calls import RecordedCalls, item_called
from inspector.tui.work.request import RequestPane
from inspector.tui.work.result import CallAgain, ResultPane, ViewChosen
from inspector.tui.work.running import RunningPane
from inspector.tui.work.sending import Sending
from inspector.tui.work.work_items import WorkItem, WorkItems, settle

FOCUS_CALL_AFTER = 0.3
"""Seconds after which a call has the focus, so that keys act on it; until then, letters are still for the form."""

READ_TIME = 0.3
"""Seconds that a question is shown before keys of the list answer it, and before the key that sends acts on it."""

CRUMB = 60
"""Characters of an item's name in the title of a zoomed pane."""

LowerPane = ResultPane | RunningPane | QuestionPane


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
        self.sending = Sending(self, session, self.work_items, sent=self._after_sending, changed=self._changed)
        self.work = WorkItem()
        """The item that is shown."""
        self.state = model.Work()
        self.request = RequestPane(session, id="request")
        self.result = ResultPane(session, id="result")
        self.running = RunningPane(session, id="running")
        self.asking = QuestionPane(session, id="question")
        self._lower: LowerPane = self.result
        self._focus = FocusReturn(self)
        self._focus_answer = False
        """The answer of the question gets the focus as soon as it is there."""
        self._recorded = RecordedCalls(session.journal, session) if session.commands is None else None
        self._reads_on = False
        """More requests of the recording are read in a moment."""
        self._items = LatestOnly(self, self._put_item)
        self._puts = LatestOnly(self, self._put_question)
        self._seen: tuple[Any, ...] = ()
        self._log = (0, 0)
        """The rows of the log beside the form, and the cells that the form has then."""
        self._log_seen = (-1, 0, False)
        self._questions_seen: set[tuple[int, Any]] = set()
        self._notified_at = 0.0
        """The change of the question about which the user was told that the key sent nothing."""
        self.request.may_send = self.asking.may_send = self.may_send

    def compose(self) -> ComposeResult:
        yield self.request
        yield self.result
        yield self.running
        yield self.asking

    def on_mount(self) -> None:
        self.running.display = self.asking.display = False
        self.set_interval(0.5, self._show_waiting_time)
        self._draw_lower()

    def on_show(self) -> None:
        # While hidden, it drew nothing.
        self.tick()

    def on_unmount(self) -> None:
        # Here and not in the quit action: a session also ends by a signal or with its terminal.
        self.work_items.keep_drafts()
        self.work_items.finish_writing()

    # The model

    def _facts(self) -> model.Facts:
        work, inbox = self.work, self.session.inbox
        return model.Facts(
            live=self.session.commands is not None,
            questions=inbox.questions,
            waiting=inbox.open(),
            has_item=not work.is_empty,
            call=work.call,
            answered=work.answer is not None,
            request_n=work.recorded[0],
            asking=self.asking.question,
            answering=self.asking.has_focus_within,
            can_return=self._focus.can_return,
            now=monotonic(),
        )

    def _update(self, event: model.Event) -> bool:
        """Change the state, draw it, and do what follows. Returns whether the focus returned."""
        before = self.state
        self.state, effect = model.update(before, event, self._facts())
        if self.state != before:
            self._draw_lower()
            self.post_message(HintsChanged())
        match effect:
            case AnswerNext(question):
                self._answer(question)
            case Do.RETURN:
                self._focus.from_question()
                return True
            case Do.LEAVE:
                self.post_message(LeaveWork())
            case Do.SAY_WITHDRAWN:
                self.notify(f"{labels.asker(self.session.server)} withdrew its question.", markup=False, timeout=6)
        return False

    # Select an item

    def show_item(self, list_name: ListName, item: dict[str, Any] | None) -> None:
        """Show an item in its last state, with its form, its call or its result; None for no item."""
        before = self.work
        if item is None:
            self.work = WorkItem()
            self._items.drop()
            self.request.announce(self.work)
            self._update(model.ItemChosen(moved=False))
            self._draw_lower()
            return
        known = before.catalog_item.item
        work = self.work_items.of(CatalogItem(list_name, item))
        work.pinned = 0
        if work is before and item is not known:
            # The list was read again: the user's work on the item continues.
            self._items.want(work)
            return
        # The first item of a list that has just arrived was not chosen by the user.
        chosen = model.ItemChosen(moved=not before.is_empty and work is not before)
        if work is before and self.request.work is work:
            self._update(chosen)
            self._draw_lower()
        else:
            self.state, _ = model.update(self.state, chosen, self._facts())
            # The cursor of the list moves first. The form follows, but not one for each row that is passed.
            self._go_to(work, when_keys_rest=not before.is_empty)

    def _go_to(self, work: WorkItem, *, when_keys_rest: bool = False) -> None:
        if self.work.is_edited:
            self.work_items.keep_drafts(self.work)
        self.work = work
        self._name_list()
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
    def running_call(self) -> Call | None:
        """The call of the item that is shown, while it runs and can be cancelled."""
        call = self.work.call if self.work.is_running else None
        return call if isinstance(call, Call) else None

    def focus_work(self) -> None:
        """Focus the question, the first field, or another widget of the item."""
        self._focus.moved()
        question = model.question_to_show(self.state, self._facts())
        if not self.work.is_empty and model.is_unprompted(self.state, question):
            # The user chose the item, not the question.
            self._update(model.FormEntered())
        elif question is not None and question is self.asking.question and self.asking.is_open:
            self.asking.focus_inside()
            return
        elif question is not None and question.state == "open" and self.session.commands is not None:
            self.focus_question()
            return
        self._when_put_up(self.request.focus_inside)

    def focus_outcome(self) -> bool:
        """Focus the running call or the result, where no key is text; False without one."""
        return self._lower is not self.asking and self._lower.focus_inside()

    @property
    def has_outcome(self) -> bool:
        """Whether a result, a running call or a question is below the form."""
        return self._lower is not self.result or self.result.answer is not None

    @property
    def outcome_has_focus(self) -> bool:
        """Whether the keys go to what is below the form."""
        return self._lower.has_focus_within

    def focus_lower(self) -> None:
        """Focus the result, the running call or the question."""
        self._lower.focus_inside()

    def focus_form(self) -> bool:
        """Focus the field that was edited last; False if no form is shown, or it is of a recording."""
        self._update(model.FormEntered())
        if not self.has_form or self.session.commands is None:
            return False
        self._when_put_up(self.request.form.focus_edited)
        return True

    def on_descendant_focus(self) -> None:
        self._items.hurry()
        if self.state.unprompted is not None:
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
        self._update(model.FormEntered())
        self._when_put_up(self.request.call)

    def may_send(self) -> bool:
        """Whether the user has seen what the key that sends acts on. If not, it says so."""
        self.notice_questions()
        why = model.sends_unseen(self.state, self._facts(), READ_TIME)
        if why and self._notified_at != self.state.changed:
            self._notified_at = self.state.changed
            key = next((hint.label for hint in hints(self, "form.call")), "The key")
            again = "to send the answer" if self.state.asks is not None else "to send the request"
            self.notify(f"{key} sent nothing: {why}. Press it again {again}.", severity="warning", timeout=5)
        return not why

    def on_request_pane_send(self, event: RequestPane.Send) -> None:
        event.stop()
        if event.work is self.work and self.request.asks_for_answer:
            # The key was meant for the question, from the list too: a new call would hide it.
            self.focus_question()
        else:
            self.sending.send(event)

    def _after_sending(self, work: WorkItem) -> None:
        if self.state.zoom == "request" and work.call is not None:
            self.post_message(ZoomEnded())
        self._focus.sent()
        self._update(model.Sent(is_shown=self.work is work))
        if self.work is work:
            self._changed(work)
            self.set_timer(FOCUS_CALL_AFTER, partial(self.move_to_call, work))

    def move_to_call(self, work: WorkItem) -> None:
        """Focus the running call or its result, unless the user does something else.

        From the list only a call that takes long: afterwards the focus returns there.
        """
        if self.work is not work or work.problem or self._lower is self.asking or self._is_typing:
            return
        in_form = self.request.has_focus_within and self._focus.is_where_it_sent
        if in_form or (self._lower is self.running and self._focus.go_to_call()):
            self._focus.to_call(self._lower.focus_inside)

    @property
    def _is_typing(self) -> bool:
        """Whether the user writes a filter, or has changed the form since its call: then the focus is not moved."""
        if self.request.has_focus_within:
            return not self.request.holds_what_was_sent
        return isinstance(self.screen.focused, Editor)

    def on_call_again(self, event: CallAgain) -> None:
        event.stop()
        if self.may_send():
            self.send()

    def save_call(self) -> None:
        """Save the call with the values of the form."""
        self._when_put_up(self.request.action_save)

    def save_shown_call(self) -> None:
        """Save the call whose result is shown."""
        # While the form holds arguments without a result, the newest result is shown.
        self.request.save(self.work.sent if self.result.stale else self.request.arguments)

    def on_result_pane_subscribe(self, event: ResultPane.Subscribe) -> None:
        event.stop()
        self.request.action_subscribe()

    def pin_call(self) -> None:
        """Call the item that is shown again after each restart of a watched server, or stop doing so."""
        if self.work.answer is not None:
            self.sending.pin(self.work)
            self._show_result()
            self.result.redraw()

    def on_view_chosen(self, event: ViewChosen) -> None:
        """Open later results of the item in this view, in later sessions too."""
        event.stop()
        work = self.work
        if work.view != event.view:
            work.view = event.view
            self.work_items.keep_view(work.catalog_item, event.view)

    def on_request_pane_edited(self, event: RequestPane.Edited) -> None:
        event.stop()
        if self._lower is self.result:
            self._show_result()

    def on_request_pane_cancel_call(self, event: RequestPane.CancelCall) -> None:
        event.stop()
        if self.running_call is not None:
            self.running_call.cancel()

    # What is new

    def notice_questions(self) -> None:
        """Notice which questions came or went, also while the pane is hidden."""
        self._update(model.Looked())

    def tick(self) -> None:
        """Update calls and questions."""
        changes = self.session.changes
        seen = tuple(changes[topic] for topic in ("calls", "inbox", "subscriptions", "phase", "server"))
        if seen != self._seen:
            self._seen = seen
            self.sending.forget_old_problems()
            for work in self.work_items.all():
                if settle(work, self.session.journal):
                    self.sending.ended(work)
            self._look_for_questions()
            self.notice_questions()
            self._draw_lower()
            self.request.refresh_state()
        if self.asking.is_stale and self.asking.question is not None:
            # The next question may have arrived in the same tick: the previous one must not replace it.
            self._puts.want(model.question_to_show(self.state, self._facts()) or self.asking.question)
        news = 0 if self._recorded is None else changes["log"] + changes["calls"]
        log = (len(self.session.journal), news, self.session.journal.is_read)
        if log != self._log_seen:
            self._log_seen = log
            if self._lower is self.running:
                self.running.tick()
            if self._recorded is not None:
                self._draw_recorded(self._recorded)

    @property
    def suggested_revision(self) -> str:
        """The revision that may work where the shown call failed; `""` if the failure says nothing about it."""
        hint = self.work.revision_hint
        return hint.revision if hint is not None else ""

    def _changed(self, work: WorkItem) -> None:
        """Draw what has changed about an item, if it is shown."""
        if work is self.work:
            self.request.redraw()
            self._draw_lower()
            self.result.redraw()

    # Lower part

    def _draw_lower(self) -> None:
        work = self.work
        if settle(work, self.session.journal):
            # An answer can end the call before the next tick: the result takes the focus, and must be there for it.
            self.sending.ended(work)
        match model.lower_part(self.state, self._facts()):
            case Asking(question):
                if question is not self.asking.question or self.asking.is_stale:
                    self._puts.want(question)
                if question is self.asking.question or self._lower is self.asking:
                    # Until the pane has the question, it would show an old one.
                    self._swap(self.asking)
            case RunningPart(call):
                self.running.show(call)
                self._swap(self.running)
            case _:
                self._show_result()
                self._swap(self.result)
        self.asking.answer_from_list(self.asked_from_list is not None)
        self._draw_zoom()
        self._share_room()

    def zoom(self, part: ZoomedPart) -> None:
        """Show one part alone: `request`, or `lower` for the result, the call or the question; `""` shows both."""
        if part != self.state.zoom:
            self.state = replace(self.state, zoom=part)
            self._draw_zoom()
            self._share_room()

    def _draw_zoom(self) -> None:
        zoom = self.state.zoom
        self.request.display = zoom != "lower" and model.shows_form(self.state, self._facts())
        self._lower.display = zoom != "request"
        crumbs: list[str] = []
        if zoom == "lower" and not self.work.is_empty:
            crumbs = [OF_LIST[self.work.catalog_item.list_name].title, safe(self.work.catalog_item.address, CRUMB)]
        lead = "".join(f"{crumb} {signs_now().crumb} " for crumb in crumbs)
        for pane in (self.result, self.running):
            pane.keeps_title = bool(lead)
            pane.title = [(lead, "muted"), "Result"] if lead else "Result"

    def _show_result(self) -> None:
        """Show the result for the arguments in the form, or the newest one muted."""
        work = self.work
        self.result.pinned = self.sending.is_pinned(work)
        self.result.can_call = not work.is_empty and self.session.commands is not None
        follow = self.request.verb_facts().follow
        if follow != self.result.follow:
            self.result.follow = follow
            self.post_message(HintsChanged())
        if work.answer is None or self._recorded is not None or self.request.form.form is not work.form:
            self.result.show(work.answer, self._promise())
            return
        value = self.request.form.value
        answer, is_current = work.answer_to({} if value is UNSET else value, self.session.journal)
        self.result.show(answer, self._promise(), stale="" if is_current else "result of other arguments")

    def _swap(self, to: LowerPane) -> None:
        before, self._lower = self._lower, to
        if before is to:
            return
        within = before.has_focus_within
        if to is self.asking:
            # After an answer the user reads the result, wherever the call was sent from.
            self._focus.stay()
        before.display = False
        to.display = self.state.zoom != "request"
        if before is self.running:
            self.running.rest()
        if not within:
            return
        if to is self.asking:
            self._focus_answer = True
            return
        returned = self._focus.from_call() if to is self.result else False
        goes_back = before is self.asking and self._focus.can_return
        if not returned and not goes_back and not to.focus_inside():
            # Never a field: the user may be pressing a key for what was shown, which would become text.
            self.post_message(LeaveWork())
        self.post_message(HintsChanged())

    def _promise(self) -> str:
        """Return the text that replaces a missing result."""
        if self.work.is_empty:
            return "The selected item is shown here."
        if self._recorded is not None:
            reads = self._recorded.is_behind or self.request.form.form is not self.work.form
            return f"Reading {signs_now().cut}" if reads else "The recording has no request for it so far."
        key = next((hint.label for hint in hints(self, "form.call")), "")
        return f"{key} sends it. The result appears here."

    def put_log_beside(self, rows: int, cells: int) -> None:
        """Give the form `cells` cells, with a log of `rows` rows beside it; 0 for the whole width."""
        if (rows, cells) != self._log:
            self._log = (rows, cells)
            self._share_room()

    @property
    def has_form(self) -> bool:
        """Whether the form is shown; a first question has its place."""
        return model.shows_form(self.state, self._facts())

    @property
    def form_lines(self) -> int:
        """The lines of the form, and of what stands beside it."""
        return self.request.room.lines

    def _share_room(self) -> None:
        """Give the lines to the form and to what stands below it, by what both hold."""
        height = self.size.height
        if not height:
            return
        for pane in (self.running, self.asking):
            # They ask for a decision: their keys are in the pane.
            pane.set_compact(height < LOW)
        if self.state.zoom == "request":
            height, below, lines = self.size.height, "result", 0
        elif self._lower is self.asking:
            urgent = self.state.unprompted is None or self.asking.has_focus_within
            below, lines = "question" if urgent else "other-question", height
        elif self._lower is self.running:
            below, lines = "running", RUNNING
        else:
            below, lines = "result", EDGES + self.result.lines if self.result.answer is not None else EMPTY_RESULT
        room = form_room(height, self.request.needs, below, lines)
        if self._log[1]:
            room = room._replace(lines=band_lines(height, room.lines, self._log[0], below, lines))
        elif self.state.zoom == "request":
            room = room._replace(lines=height)
        self.request.styles.width = self._log[1] or "100%"
        self.request.take_room(room)
        self.result.styles.height = EMPTY_RESULT if self.result.answer is None else "1fr"

    def on_hints_changed(self) -> None:
        # A result, or another view of it, may need more lines or fewer.
        self._share_room()

    def _name_list(self) -> None:
        """Name the list in the title of the form, where one column shows nothing else."""
        named = self.screen.has_class("-narrow") and not self.work.is_empty
        self.request.crumb = OF_LIST[self.work.catalog_item.list_name].title if named else ""

    def on_resize(self) -> None:
        if not self.work.is_empty:
            self._name_list()
            self.request.refresh_state()
        self._share_room()

    @property
    def keys_below(self) -> Sequence[KeyHint]:
        """The keys that a question or a running call shows below the form, if it is visible."""
        # Not `is_on_screen`: that is of the last frame, in which this pane may not have been hidden yet.
        return self._lower.keys if all(node.display for node in self._lower.ancestors_with_self) else ()

    def hints(self) -> list[KeyHint]:
        """Return the keys at the focus."""
        return self._lower.hints() if self._lower.has_focus_within else self.request.hints()

    # Questions

    def show_question(self, question: Question) -> None:
        """Show a question of the inbox, in its call if that is known."""
        around = self.work_items.with_call(question.parent)
        if around is not None and around is not self.work:
            self._go_to(around)
        self._update(model.QuestionChosen(question))

    def show_unprompted(self, question: Question, *, untouched: bool) -> None:
        """Show a question that no call caused.

        It does not get the focus, because the user may be about to press a key for the list. `untouched`: the user has
        done nothing yet; the question has the whole pane, and the list has its keys.
        """
        self._update(model.QuestionCame(question, untouched))
        if untouched:
            self.set_timer(READ_TIME, lambda: self._update(model.QuestionRead(question)))

    @property
    def asked_from_list(self) -> QuestionPane | None:
        """The question that the keys of the list answer, or None.

        They do from `READ_TIME` on: a key that was pressed before was meant for the list.
        """
        answered = model.answered_from_list(self.state, self._facts(), visible=self.is_on_screen)
        return self.asking if answered else None

    @property
    def asked_from_inbox(self) -> QuestionPane | None:
        """The question of the inbox that is shown beside the list, or None."""
        return self.asking if self._asks_here and not self.asking.has_focus_within else None

    @property
    def _asks_here(self) -> bool:
        """Whether a question that waits for an answer is on the screen."""
        return self._lower is self.asking and self.asking.is_open and self.is_on_screen

    def on_leave_work(self, event: LeaveWork) -> None:
        # The question may still be on its way: it must not take the focus back.
        self._focus_answer = False
        if self.asking.has_focus_within and self._update(model.QuestionLeft()):
            event.stop()

    def next_question(self) -> Question | None:
        """Return the open question to go to: the one that waits here, else the oldest; None if none is open."""
        return model.next_question(self.state, self._facts(), asking=self._lower is self.asking)

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

    def go_to_question(self, question: Question, came_from: Widget | None) -> None:
        """Focus the answer of a question. Afterwards the focus returns to the form or the result if it was there."""
        if came_from is None or self.asking not in came_from.ancestors_with_self:
            self._focus.go_to_question(came_from)
        if not (model.is_unprompted(self.state, question) and model.shows_unprompted(self.state, self._facts())):
            self.show_question(question)
        self._answer(question)

    def _answer(self, question: Question) -> None:
        """Focus the answer of a question, as soon as it exists."""
        self._focus_answer = True
        self._puts.want(question)

    def focus_question(self) -> None:
        """Focus the answer of the shown question, as soon as it exists."""
        self._focus_answer = True
        if self.asking.question is not None:
            self._answer(self.state.chosen or self.asking.question)

    def _look_for_questions(self) -> None:
        """Focus a new question of the shown call, unless the user is typing. Others wait in the inbox."""
        if self.session.commands is None:
            return
        waiting = self.session.inbox.open()
        fresh = [question for question in waiting if question.key not in self._questions_seen]
        self._questions_seen = {question.key for question in waiting}
        # The pane may show the new question already, if it was drawn before this look.
        answers = self.asking.is_open and self._lower is self.asking and self.asking.question not in fresh
        busy = self._is_typing or answers
        here = self.is_on_screen and self.screen.is_current and self.work.is_running
        if fresh and here and not busy:
            self._update(model.CallAsks(fresh))

    async def _put_question(self, question: Question) -> None:
        await self.asking.show(question)
        self._draw_lower()
        if self._puts.is_wanted(question):
            # Else the focus is for the newer question, which is put up next.
            if self._focus_answer and self._lower is self.asking:
                self.asking.focus_inside()
            self._focus_answer = False
        self._show_waiting_time()
        if model.is_unprompted(self.state, question):
            self.post_message(HintsChanged())

    def on_question_pane_next(self, event: QuestionPane.Next) -> None:
        event.stop()
        waiting = self.session.inbox.open()
        if waiting:
            at = waiting.index(event.after) + 1 if event.after in waiting else 0
            self.show_question(waiting[at % len(waiting)])
            self.focus_question()

    def on_question_pane_later(self, event: QuestionPane.Later) -> None:
        event.stop()
        self._focus_answer = False
        self._update(model.Postponed())

    def on_question_pane_keep_roots(self, event: QuestionPane.KeepRoots) -> None:
        event.stop()
        self.work_items.keep_roots(event.uris)

    def on_question_pane_answered(self, event: QuestionPane.Answered) -> None:
        """Go to the next question of the same call, or back to the call."""
        event.stop()
        self._update(model.QuestionAnswered(event.question))
        self._draw_lower()

    def _show_waiting_time(self) -> None:
        """Show for how long the call waits for the user."""
        question = self.asking.question if self._asks_here else None
        since = question.t if question is not None and model.belongs(question, self.work.call) else 0
        if since or self.request.waiting_since:
            self.request.waiting_since = since
            self.request.refresh_state()

    # Recordings

    def show_call(self, n: int) -> None:
        """Show request `n` of the recording: its item, the arguments and the result."""
        about = item_called(self.session.journal, n)
        if about is None or self._recorded is None:
            return
        list_name, address = about
        known = self.session.catalog[list_name].get(address)
        item = CatalogItem(list_name, known) if known else UnlistedItem(list_name, address)
        work = self.work_items.of(item)
        work.pinned = n
        self.state = replace(self.state, chosen=None)
        self._go_to(work)

    def _draw_recorded(self, recorded: RecordedCalls) -> None:
        """Add requests that are new in the recording; read on in a moment if there are more."""
        if not self._reads_on and recorded.advance():
            self._reads_on = True
            self.set_timer(0.02, partial(self._read_on, recorded))
        work = self.work
        if recorded.fill(work):
            self._items.want(work)
        elif work.call is not None and self._lower is self.running:
            self.running.tick()
        elif work.answer is None:
            self._show_result()  # Whether there is none may be known now.

    def _read_on(self, recorded: RecordedCalls) -> None:
        self._reads_on = False
        self._draw_recorded(recorded)
