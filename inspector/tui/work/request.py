"""The upper part of the work pane: the item, the form of its arguments, and the key that sends it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, ClassVar

from textual import work
from textual.actions import SkipAction
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.message import Message

from inspector.client.session_state import Commands, SessionState
from inspector.errors import InspectorError
from inspector.protocol.forms.form import UNSET, Form
from inspector.protocol.views import Resource, ResourceTemplate
from inspector.tui.advice import error_text
from inspector.tui.available_verbs import lend_features
from inspector.tui.keymap import bindings
from inspector.tui.model.form import FORM_VERBS, FormFacts
from inspector.tui.model.room import FormNeeds, FormRoom
from inspector.tui.pane_keys import VerbsByRules, hints
from inspector.tui.pane_messages import HintsChanged, LeaveWork, SaveCall
from inspector.tui.themes import signs_now
from inspector.tui.widgets import paint
from inspector.tui.widgets.form import FormView
from inspector.tui.widgets.pane import CompactPane
from inspector.tui.widgets.paragraphs import Paragraphs
from inspector.tui.work.call_browser import CallBrowser
from inspector.tui.work.catalog_item import NO_ARGUMENTS
from inspector.tui.work.completion import FieldCompletion
from inspector.tui.work.form_shelf import FormShelf
from inspector.tui.work.item_lines import about_lines, form_facts, item_facts
from inspector.tui.work.past_calls import PastCallsLine
from inspector.tui.work.running import seconds
from inspector.tui.work.work_items import SavedArguments, WorkItem

ABOUT_LINES = 3
"""Lines of a description that are shown before the user asks for all."""

COUNT_FROM = 50
"""Cells from which the edge has the number of errors before the key that sends all the same."""


class RequestPane(CompactPane, VerbsByRules):
    """One item and its form. It posts `Send` when the user wants to send the form."""

    RULES = FORM_VERBS
    BINDINGS: ClassVar[list[BindingType]] = [
        *(binding for binding in bindings("form") if binding.action not in ("json", "editor")),
        *bindings("resource"),
        Binding("tab", "take", show=False, priority=True),
        Binding("enter", "take(True)", show=False, priority=True),
        Binding("down", "suggestion(1)", show=False, priority=True),
        Binding("up", "suggestion(-1)", show=False, priority=True),
    ]
    DEFAULT_CSS = """
    RequestPane > FormView { height: auto; }
    """

    class Send(Message):
        """Send the request with these arguments, `as_task` to let the server make a task of it."""

        def __init__(self, work: WorkItem, arguments: Any, *, as_task: bool = False) -> None:
            super().__init__()
            self.work = work
            self.arguments = arguments
            self.as_task = as_task

    class Edited(Message):
        """The form has other arguments."""

        def can_replace(self, message: Message) -> bool:
            return isinstance(message, RequestPane.Edited)

    class CancelCall(Message):
        """Cancel the call of the current item."""

    def __init__(self, session: SessionState, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.session = session
        self.work = WorkItem()
        self.crumb = ""
        """The name of the list, shown before the title in a single column."""
        self.room = FormRoom()
        """The lines of the pane and of its parts."""
        self.sends_anyway = False
        """The errors were shown; the next request to send ignores them."""
        self.waiting_since = 0
        """When the call started to wait for the user's answer, in microseconds of the journal; 0: it does not wait."""
        self.may_send: Callable[[], bool] = lambda: True
        """Whether the user has seen what the key that sends acts on."""
        self._about = Paragraphs(max_lines=ABOUT_LINES, after=1)
        self._forms = FormShelf(read_only=session.commands is None)
        self._hints = Paragraphs()
        self._uri = Paragraphs(after=1)
        self._calls = CallBrowser()
        self._completion = FieldCompletion(session)
        lend_features("form", self, self._tool)

    def compose(self) -> ComposeResult:
        yield from super().compose()
        yield self._about
        yield self._hints
        yield self.form
        yield self._uri
        yield self._calls.line

    def on_mount(self) -> None:
        self.form.display = self._hints.display = self._uri.display = False

    @property
    def form(self) -> FormView:
        """The form that is shown."""
        return self._forms.view

    def _tool(self) -> tuple[str, Any]:
        return (self.work.catalog_item.address, self.arguments)

    @property
    def arguments(self) -> Any:
        """The arguments that the form holds."""
        return {} if self.form.value is UNSET else self.form.value

    @property
    def asks_for_answer(self) -> bool:
        """The call waits for the user's answer, and the form has what was sent."""
        waits = self.waiting_since > 0 and self.work.is_running
        return waits and self.holds_what_was_sent

    @property
    def holds_what_was_sent(self) -> bool:
        """Whether the form has the arguments of the newest call of the item."""
        return bool(self.arguments == self.work.sent) and self.form.problem is None

    def announce(self, work: WorkItem) -> None:
        """Name the item at once; all that needs a new layout follows with `show`."""
        self.work = work
        if work.is_empty:
            self._draw_about()
            self._uri.show(())
            self.form.display = self._calls.line.display = False
        self.refresh_state()

    async def show(self, work: WorkItem) -> None:
        """Show an item and its form in their last state."""
        self.work = work
        self.sends_anyway = False
        self._completion.clear()
        form = work.make_form()
        empty = "" if isinstance(work.catalog_item.view, Resource) else "no arguments"
        if await self._forms.show(form, work.catalog_item.key, empty, self, after=self._hints):
            self.form.set_class(not form.has_fields, "-bare")
            self.take_room(self.room)
            await self._forms.drop_old()
        self._calls.show(work)
        self._draw_about()
        self._draw_past()
        self._draw_uri()
        self.refresh_state()

    def _draw_about(self) -> None:
        self._draw_title()
        self._about.show(about_lines(self.work, self.session))
        hints_of_tool = self.work.catalog_item.hints
        self._hints.show([(hints_of_tool, "muted")] if hints_of_tool else ())
        more = hints(self, "form.about")
        self._about.more = " ".join(f"{hint.label} {hint.title}" for hint in more)

    def _draw_title(self) -> None:
        title = self.work.catalog_item.title
        if self.crumb and title:
            title = [(f"{self.crumb} {signs_now().crumb} ", "muted"), *title]
        self.name_cells = paint.width(paint.segments(title[: 2 if self.crumb else 1]))
        self.title = title

    def redraw(self) -> None:
        """Draw everything around the form after a call has ended or could not be sent."""
        self._draw_about()
        self._draw_past()
        self.refresh_state()

    def refresh_state(self) -> None:
        """Draw what changes while nothing is typed: facts, keys, validity of the form."""
        self._draw_title()
        note = self._note()
        self.firm_facts = 1 + bool(note and self.work.origin)
        self.show_state(self._facts(), note=note)
        self.post_message(HintsChanged())

    def _facts(self) -> list[paint.Pieces]:
        if self.waiting_since:
            waited = (self.session.journal.now() - self.waiting_since) / 1_000_000
            return [[(f"waits for you {seconds(waited)}", "ask")]]
        return item_facts(self.work, self.session, hints(self, ("form.empty", "clears")))

    def _note(self) -> paint.Pieces:
        """Return whether the arguments are valid, or that they are sent despite errors."""
        if self.form.form is not self.work.form or self.waiting_since:
            return ""
        to_fix = self.form.to_fix
        if self.sends_anyway:
            key = next((hint.label for hint in hints(self, "form.call")), "")
            # The fields show what is to fix; nothing else says what the key does now.
            counted = f"{to_fix} to fix; " if self.outer_size.width >= COUNT_FROM else ""
            return [(f"{counted}{key} sends anyway", "finding")]
        return self.form.note()

    def _draw_past(self) -> None:
        self._calls.draw(self.form)

    def show_saved(self, saved: Mapping[tuple[str, str], list[SavedArguments]]) -> None:
        """Offer these saved calls, by list and address of their items."""
        self._calls.offer_saved(saved)
        self._draw_past()
        self.refresh_state()

    def came_from(self, path: Path, number: int) -> None:
        """Remember that the form holds step `number` of a file."""
        self.work.saved_in = (path, number)
        self._draw_past()

    def action_save(self) -> None:
        """Save the call with what the form holds."""
        if not self.form.refuses_text("saved"):
            self.save(self.arguments)

    def save(self, value: Any) -> None:
        """Save a call of the item with these arguments."""
        work = self.work
        if work.is_empty or self.session.commands is None:
            return
        try:
            list_name, address = work.catalog_item.saved_as(value)
        except InspectorError as error:
            # A notice: the form is not visible everywhere where its call is saved.
            self.notify(error_text(error, self), severity="error", markup=False)
            return
        arguments = {} if work.catalog_item.list_name == "templates" else value
        self.post_message(SaveCall(list_name, address, arguments, work.catalog_item.schema))

    async def action_saved_calls(self) -> None:
        """Put the arguments of the next saved call into the form; after the last, what was there before."""
        await self._calls.next_saved(self.form)
        self._draw_past()
        self.form.focus_first()

    def _draw_uri(self) -> None:
        """Show the URI of a template with the values so far."""
        if not isinstance(self.work.catalog_item.view, ResourceTemplate):
            self._uri.show(())
            return
        try:
            self._uri.show([[("reads ", "muted"), (self.work.catalog_item.expand(self.form.value), "bright")]])
        except InspectorError as error:
            self._uri.show([(error.message, "error")])

    @property
    def needs(self) -> FormNeeds:
        """The lines that its parts need."""
        width = self.size.width
        about = self._about.lines_needed(width, ABOUT_LINES) if self._about.paragraphs else 0
        roomy, slim = (self.form.lines(width, slim=slim) if self.form.display else 0 for slim in (False, True))
        uri = self._uri.lines_needed(width, ABOUT_LINES) if self._uri.paragraphs else 0
        hints, calls = len(self._hints.paragraphs), int(self._calls.line.display)
        return FormNeeds(roomy, slim, about, hints, uri, calls, self._about.whole)

    def take_room(self, room: FormRoom) -> None:
        """Fit the pane and its parts into their lines; fields that need more are scrolled."""
        if room != self.room:
            self.room = room
            self.styles.height = room.lines
            self._about.limit(room.about, after=room.gap * (not room.hints))
            self._hints.limit(room.hints, after=room.gap)
            self._uri.limit(room.uri, after=0)
            self._calls.line.styles.height = room.calls
        # Each time: another text that is shown is visible again.
        self._hints.styles.display = "block" if room.hints else "none"
        self._about.styles.display = "block" if room.about else "none"
        for view in self._forms:
            view.put_on_lines(room.slim, foot=room.fields > 1)
            view.styles.height = room.fields

    def on_form_view_grown(self, event: FormView.Grown) -> None:
        event.stop()
        self.post_message(HintsChanged())

    def on_form_view_changed(self, event: FormView.Changed) -> None:
        event.stop()
        if event.view is not self.form:
            return
        self._forms.touch()
        self.work.is_edited = not self.work.is_empty
        self.sends_anyway = False
        self._draw_past()
        self._draw_uri()
        self._complete()
        self.post_message(self.Edited())

    def on_form_view_checked(self, event: FormView.Checked | FormView.ModeChanged) -> None:
        event.stop()
        if event.view is self.form:
            self.refresh_state()

    on_form_view_mode_changed = on_form_view_checked

    def action_about(self) -> None:
        """Show the whole description, or only its beginning."""
        self._about.show_all(not self._about.whole)
        self.post_message(HintsChanged())

    def _complete(self) -> None:
        self._completion.complete_focused(self.work.catalog_item.completion_ref, self.form)

    def on_descendant_focus(self) -> None:
        # Textual calls the handler of the edge as well.
        self._complete()

    def on_descendant_blur(self) -> None:
        # A field may say so after the next one has the focus.
        self._complete()

    def action_take(self, picked: bool = False) -> None:
        """Accept the suggested value, or only one that the user selected; without one, go to the next field."""
        if not self._completion.accept(picked=picked):
            raise SkipAction

    def action_suggestion(self, by: int) -> None:
        if not self._completion.step(by):
            raise SkipAction

    @work(exclusive=True, group="history")
    async def action_past_calls(self) -> None:
        """List the earlier calls, and fill the form with the arguments of the chosen one."""
        # Loaded when it is needed first.
        from inspector.tui.work.history import EarlierCalls

        about = self.work
        if about.is_empty or self.session.commands is None:
            return
        dialog = EarlierCalls(self.session, about.catalog_item, about.past or ())
        arguments = await self.app.push_screen_wait(dialog)
        if arguments is not None and self.work is about:
            await self.form.load(arguments)
            self._draw_past()
            self.form.focus_first()

    async def action_empty(self) -> None:
        """Drop the values of the form; defaults of the schema stay."""
        if not self.work.is_empty:
            await self.form.load(Form(self.work.catalog_item.schema or NO_ARGUMENTS).value())
            self.form.focus_first()

    async def on_past_line_picked(self, event: PastCallsLine.Picked) -> None:
        event.stop()
        if self.session.commands is None:
            return
        if event.saved:
            await self._calls.load_saved(self.form, event.at)
        elif self.work.past:
            await self.form.load(self.work.past[event.at].arguments)
        self._draw_past()
        self.form.focus_first()

    def verb_facts(self) -> FormFacts:
        """Return the facts on which the verbs depend."""
        saved, offers = bool(self._calls.saved), self._completion.offers
        return form_facts(self.work, self.session, self.form, asks=self.asks_for_answer, saved=saved, offers=offers)

    def action_call(self) -> None:
        """Send the values of the form. If they have errors, show them first; press the key again to send anyway."""
        if self.may_send():
            self.call()

    def action_call_task(self) -> None:
        """Send the form as a task, if the tool supports tasks."""
        if self.may_send():
            self.call(as_task=True)

    def call(self, *, as_task: bool = False) -> None:
        """Send the values of the form, or show their errors first."""
        work = self.work
        if work.is_empty or self.session.commands is None:
            return
        self._completion.accept(picked=True)
        if self.form.refuses_text("sent"):
            return
        if self.form.to_fix and not self.sends_anyway:
            self.sends_anyway = True
            self.say(self._note())
            self.form.focus_wrong()
            return
        self.sends_anyway = False
        self.say(self._note())
        self.post_message(self.Send(work, self.arguments, as_task=as_task))

    action_read = action_call

    def action_leave(self) -> None:
        """Cancel the call while it runs; else, as in a recording, return to the list."""
        if self.work.is_running and self.session.commands is not None:
            self.post_message(self.CancelCall())
        else:
            self.post_message(LeaveWork())

    def action_subscribe(self) -> None:
        work, session = self.work, self.session.commands
        if session is not None and not work.is_empty:
            session.run(self._subscribe(session, work))

    async def _subscribe(self, session: Commands, work: WorkItem) -> None:
        uri = work.catalog_item.address
        try:
            await (session.unsubscribe(uri) if uri in session.subscriptions else session.subscribe(uri))
            work.problem = ""
        except InspectorError as error:
            work.problem = error_text(error, self)
        if work is self.work:
            self._draw_about()
            self.refresh_state()

    def focus_inside(self) -> bool:
        """Focus the first field, or another widget of the form."""
        # Not the pane: its focused widget may be the form of the previous item, which is hidden now.
        return self.form.has_focus_within or self.form.focus_first()
