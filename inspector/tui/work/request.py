"""The upper part of the work pane: the item, the form of its arguments, and the key that sends it."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
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
from inspector.tui.keymap import KeyHint, bindings
from inspector.tui.pane_keys import hints
from inspector.tui.pane_messages import HintsChanged, LeaveWork, LoadTool, SaveCall, ShowModel
from inspector.tui.themes import signs_now
from inspector.tui.widgets import paint
from inspector.tui.widgets.compact_pane import CompactPane
from inspector.tui.widgets.form import FormView
from inspector.tui.widgets.paragraphs import Paragraph, Paragraphs
from inspector.tui.work.catalog_item import NO_ARGUMENTS
from inspector.tui.work.completion import FieldCompletion
from inspector.tui.work.past_calls import PastCallsLine
from inspector.tui.work.running import seconds
from inspector.tui.work.work_items import SavedArguments, WorkItem

ABOUT_LINES = 3
"""Lines of a description that are shown before the user asks for all."""

MANY_FIELDS = 4
"""Fields from which a form on a low screen needs the lines of the description."""

VIEWS_KEPT = 6
"""Changed forms that stay mounted, hidden, while other items are shown."""

_FRAME = 4
"""Lines of the pane without text or form: its edge, its keys, the empty line above them."""


class RequestPane(CompactPane):
    """One item and its form. It posts `Send` when the user wants to send the form."""

    BINDINGS: ClassVar[list[BindingType]] = [
        *(binding for binding in bindings("form") if binding.action not in ("json", "editor")),
        *bindings("resource"),
        Binding("tab", "take", show=False, priority=True),
        Binding("enter", "take(True)", show=False, priority=True),
        Binding("down", "suggestion(1)", show=False, priority=True),
        Binding("up", "suggestion(-1)", show=False, priority=True),
    ]
    DEFAULT_CSS = """
    RequestPane { height: auto; }
    RequestPane > FormView { height: auto; }
    RequestPane > FormView.-bare { margin-bottom: 1; }
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

    class ToResult(Message):
        """Focus the result, the running call or the question below the form."""

    class CancelCall(Message):
        """Cancel the call of the current item."""

        def __init__(self, work: WorkItem) -> None:
            super().__init__()
            self.work = work

    def __init__(self, session: SessionState, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.session = session
        self.work: WorkItem | None = None
        self.crumb = ""
        """The name of the list, shown before the title in a single column."""
        self.most_lines = 0
        """Lines that the pane may have; 0 for as many as it needs."""
        self.is_brief = False
        """The other part needs the room: show one line of the description."""
        self._about = Paragraphs(max_lines=ABOUT_LINES, after=1)
        self._form = FormView()
        self._kept: OrderedDict[tuple[str, str], FormView] = OrderedDict()
        self._key: tuple[str, str] | None = None
        self._touched = False
        self._uri = Paragraphs(after=1)
        self._past = PastCallsLine()
        self.sends_anyway = False
        """The errors were shown; the next request to send ignores them."""
        self.waiting_since = 0
        """When the call started to wait for the user's answer, in microseconds of the journal; 0: it does not wait."""
        self._draft: Any = UNSET
        self._before_saved: Any = UNSET
        self._picks = False
        """Whether the user is browsing past calls."""
        self._saved: Mapping[tuple[str, str], list[SavedArguments]] = {}
        self._completion = FieldCompletion(session)

    def compose(self) -> ComposeResult:
        yield from super().compose()
        yield self._about
        yield self._form
        yield self._uri
        yield self._past

    def on_mount(self) -> None:
        self._form.display = self._uri.display = False

    @property
    def asks_for_answer(self) -> bool:
        """The call waits for the user's answer, and the form has what was sent."""
        waits = self.work is not None and self.waiting_since > 0 and self.work.is_running
        return waits and self.holds_what_was_sent

    @property
    def holds_what_was_sent(self) -> bool:
        """Whether the form has the arguments of the newest call of the item."""
        value = self._form.value
        is_same = self.work is not None and ({} if value is UNSET else value) == self.work.sent
        return bool(is_same and self._form.problem is None)

    @property
    def form(self) -> FormView:
        """The form that is shown."""
        return self._form

    # Show

    def announce(self, work: WorkItem | None) -> None:
        """Name the item at once; all that needs a new layout follows with `show`."""
        self.work = work
        if work is None:
            self._draw_about()
            self._uri.show(())
            self._form.display = self._past.display = False
        self.refresh_state()

    async def show(self, work: WorkItem) -> None:
        """Show an item and its form in their last state."""
        self.work = work
        self.sends_anyway = self._picks = False
        self._draft = UNSET
        self._completion.clear()
        await self._show_form(work)
        self._draw_about()
        self._draw_past()
        self._draw_uri()
        self.refresh_state()

    async def _show_form(self, work: WorkItem) -> None:
        form = work.make_form()
        view = self._form
        empty = "enter reads it" if isinstance(work.catalog_item.view, Resource) else "no arguments"
        if view.form is form:
            view.display = True
            return
        key = work.catalog_item.key
        known = self._kept.pop(key, None)
        if known is not None and known.form is not form:
            await known.remove()
            known = None
        begun = self._touched or view.json_mode
        if known is not None or (begun and self._key != key):
            # Unfinished input stays: text that is not JSON yet, scroll position, undo history.
            view.display = False
            if self._key is not None:
                self._kept[self._key] = view
            self._form = known if known is not None else FormView(form, empty=empty)
            if known is None:
                await self.mount(self._form, after=self._about)
            self._form.display = True
        else:
            view.empty = empty
            await view.show(form)
            # Not before: the form before the first item would be shown for a moment.
            view.display = True
        self._touched = known is not None
        self._key = key
        self._form.disabled = self.session.commands is None
        self._form.set_class(not form.has_fields, "-bare")
        self.fit()
        while len(self._kept) > VIEWS_KEPT:
            await self._kept.popitem(last=False)[1].remove()

    def _draw_about(self) -> None:
        work = self.work
        self._draw_title()
        if work is None:
            self._about.show(())
            return
        about: list[Paragraph] = list(work.catalog_item.about)
        if work.revision_hint:
            # What happened stands before the description, whose end may be cut.
            about.insert(0, (f"{signs_now().finding} {work.revision_hint.text}", "finding"))
        reasons = (
            self.session.refused_tools.get(work.catalog_item.address)
            if work.catalog_item.list_name == "tools"
            else None
        )
        if reasons:
            about.append((f"{signs_now().finding} It must not be called over HTTP: {'; '.join(reasons)}.", "finding"))
        if work.problem:
            about.insert(0, (work.problem, "error"))
        self._about.show(about)
        more = hints(self, "form.about")
        self._about.more = " ".join(f"{hint.label} {hint.title}" for hint in more)

    def _draw_title(self) -> None:
        title = self.work.catalog_item.title if self.work is not None else []
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
        self.state_facts = self._facts()
        self.state_keys = [hint for hint in self.hints() if hint.verb != "form.leave"]
        self.state_note = self._note()
        self.draw_state()
        self.post_message(HintsChanged())

    def _facts(self) -> list[paint.Pieces]:
        work = self.work
        if work is None:
            return []
        if self.waiting_since:
            waited = (self.session.journal.now() - self.waiting_since) / 1_000_000
            return [[(f"waiting {seconds(waited)} for your answer", "ask")]]
        found = list(work.catalog_item.facts)
        if work.origin:
            key = hints(self, ("form.empty", "clears"))
            keys = [(f"  {key[0].label}", "key"), (f" {key[0].title}", "muted")] if key else []
            found.insert(0, [(work.origin, "muted"), *keys])
        subscriptions = self.session.subscriptions
        if work.catalog_item.address in subscriptions:
            count = subscriptions.counts.get(work.catalog_item.address, 0)
            said = f"changed {count} {signs_now().times}" if count else "subscribed"
            found.insert(0, [(said, "notification")])
        return found

    def _note(self) -> paint.Pieces:
        """Return whether the arguments are valid, or that they are sent despite errors."""
        work = self.work
        if work is None or self.session.commands is None or self._form.form is not work.form or self.waiting_since:
            return ""
        to_fix = self._form.to_fix
        if self.sends_anyway:
            key = next((hint.label for hint in hints(self, "form.call")), "")
            return [(f"{to_fix} to fix; {key} again: send anyway", "finding")]
        return self._form.note()

    def _draw_past(self) -> None:
        past = self.work.past or () if self.work is not None else ()
        value = self._form.value
        at = next((at for at, each in enumerate(past) if each.arguments == value), -1)
        saved = self._saved_calls
        held = next((at for at, each in enumerate(saved) if each.where == self._saved_in), -1)
        self._past.show(past, at, saved, held)
        # On a low screen past calls are shown only while the user browses them.
        self._past.display = bool(past or saved) and (not self.compact or self._picks)

    # Saved calls

    @property
    def _saved_calls(self) -> list[SavedArguments]:
        """The saved calls of the item that is shown."""
        return self._saved.get(self.work.catalog_item.key, []) if self.work is not None else []

    @property
    def _saved_in(self) -> tuple[Path, int] | None:
        return self.work.saved_in if self.work is not None else None

    def show_saved(self, saved: Mapping[tuple[str, str], list[SavedArguments]]) -> None:
        """Offer these saved calls, by list and address of their items."""
        self._saved = saved
        self._draw_past()
        self.refresh_state()

    def came_from(self, path: Path, number: int) -> None:
        """Remember that the form holds step `number` of a file."""
        if self.work is not None:
            self.work.saved_in = (path, number)
            self._draw_past()

    def action_save(self) -> None:
        """Save the call with what the form holds."""
        work = self.work
        if work is None or self.session.commands is None:
            return
        value = {} if self._form.value is UNSET else self._form.value
        try:
            list_name, address = work.catalog_item.saved_as(value)
        except InspectorError as error:
            self.say([(error.message, "error")])
            return
        arguments = {} if work.catalog_item.list_name == "templates" else value
        self.post_message(SaveCall(list_name, address, arguments, work.catalog_item.schema))

    async def action_saved_calls(self) -> None:
        """Put the arguments of the next saved call into the form; after the last, what was there before."""
        saved = self._saved_calls
        if not saved or self.work is None or self.session.commands is None:
            raise SkipAction
        wheres = [each.where for each in saved]
        held = wheres.index(self._saved_in) if self._saved_in in wheres else -1
        if held < 0:
            self._before_saved = self._form.value
        await self._load_saved(held + 1 if held + 1 < len(saved) else -1)

    async def _load_saved(self, at: int) -> None:
        saved, work = self._saved_calls, self.work
        if work is None:
            return
        self._picks = True
        work.saved_in = saved[at].where if at >= 0 else None
        await self._form.load(saved[at].arguments if at >= 0 else self._before_saved)
        self._draw_past()
        self._form.focus_first()

    def _draw_uri(self) -> None:
        """Show the URI of a template with the values so far."""
        work = self.work
        if work is None or not isinstance(work.catalog_item.view, ResourceTemplate):
            self._uri.show(())
            return
        try:
            self._uri.show([[("reads ", "muted"), (work.catalog_item.expand(self._form.value), "bright")]])
        except InspectorError as error:
            self._uri.show([(error.message, "error")])

    def take_room(self, lines: int, *, brief: bool) -> None:
        """Fit the pane into so many lines. `brief`: the other part needs the room."""
        if (lines, brief) != (self.most_lines, self.is_brief):
            self.most_lines, self.is_brief = lines, brief
            self.styles.max_height = lines
            self.fit()

    def fit(self) -> None:
        """Give the form the remaining lines; it scrolls if it needs more."""
        if not self.most_lines:
            return
        tight = self.compact and len(self._form.children) >= MANY_FIELDS
        # The description stays readable, and the form keeps at least two fields.
        room = max(self.most_lines - _FRAME - 8, 2)
        most = 1 if self.is_brief or tight else ABOUT_LINES
        # Without room for the empty line below it, the last line of the description would be cut without a sign.
        self._about.limit(min(most, room), after=int(most < room))
        # With so few lines a field is worth more than the description.
        self._about.display = self.most_lines > _FRAME + 2 or not self._form.form.has_fields
        others = (
            _FRAME
            - 2 * self.compact
            + self._about.size.height * self._about.display
            + self._past.size.height * self._past.display
        )
        others += self._uri.size.height * self._uri.display
        self._about.styles.max_height = room
        for view in (self._form, *self._kept.values()):
            view.styles.max_height = max(self.most_lines - others, 2)

    def on_resize(self) -> None:
        self.fit()

    # Input

    def on_form_view_changed(self, event: FormView.Changed) -> None:
        event.stop()
        if event.view is not self._form:
            return
        self._touched = True
        if self.work is not None:
            self.work.is_edited = True
        self.sends_anyway = False
        self._draw_past()
        self._draw_uri()
        self._complete()
        self.post_message(self.Edited())

    def on_form_view_mode_changed(self, event: FormView.ModeChanged) -> None:
        event.stop()
        if event.view is self._form:
            self.refresh_state()

    def on_form_view_checked(self, event: FormView.Checked) -> None:
        event.stop()
        if event.view is self._form:
            self.refresh_state()

    def action_about(self) -> None:
        """Show the whole description, or only its beginning."""
        self._about.show_all(not self._about.whole)
        self.call_after_refresh(self.fit)

    # Completion (C-COMP-01)

    def _complete(self) -> None:
        self._completion.look(self.work.catalog_item.completion_ref if self.work is not None else None, self._form)

    def on_descendant_focus(self) -> None:
        # Textual calls the handler of the edge as well.
        self._complete()

    def on_descendant_blur(self) -> None:
        self._completion.clear()

    def action_take(self, picked: bool = False) -> None:
        """Accept the suggested value, or only one that the user selected; without one, go to the next field."""
        if not self._completion.take(picked=picked):
            raise SkipAction

    def action_suggestion(self, by: int) -> None:
        if not self._completion.step(by):
            raise SkipAction

    # Past calls

    @work(exclusive=True, group="history")
    async def action_past_calls(self) -> None:
        """List the earlier calls, and fill the form with the arguments of the chosen one."""
        # Loaded when it is needed first.
        from inspector.tui.work.history import EarlierCalls

        about = self.work
        if about is None or self.session.commands is None:
            return
        dialog = EarlierCalls(self.session, about.catalog_item, about.past or ())
        arguments = await self.app.push_screen_wait(dialog)
        if arguments is not None and self.work is about:
            await self._form.load(arguments)
            self._draw_past()
            self._form.focus_first()

    async def action_empty(self) -> None:
        """Drop the values of the form; defaults of the schema stay."""
        if self.work is None or self.session.commands is None:
            raise SkipAction
        await self._form.load(Form(self.work.catalog_item.schema or NO_ARGUMENTS).value())
        self._form.focus_first()

    async def action_older_call(self) -> None:
        """Put the arguments of the next older call into the form; after the oldest, the original values."""
        past = self.work.past if self.work is not None else None
        if not past or self.session.commands is None:
            raise SkipAction
        self._picks = True
        self._draw_past()
        if self._past.at < 0:
            self._draft = self._form.value
        at = self._past.at + 1
        if at == len(past) and self._draft is UNSET:
            at = 0
        await self._form.load(past[at].arguments if at < len(past) else self._draft)
        self._draw_past()

    async def on_past_line_picked(self, event: PastCallsLine.Picked) -> None:
        event.stop()
        if event.saved and self.session.commands is not None:
            await self._load_saved(event.at)
        elif self.work is not None and self.work.past and self.session.commands is not None:
            await self._form.load(self.work.past[event.at].arguments)
            self._draw_past()
            self._form.focus_first()

    # Send

    def hints(self) -> list[KeyHint]:
        """The keys for the item."""
        work = self.work
        if work is None:
            return []
        running = work.is_running
        wanted: list[str | tuple[str, str]] = []
        if self.session.commands is not None:
            wanted.append(("form.call", "to question" if self.asks_for_answer else work.catalog_item.verb))
            if work.answer is not None and not running:
                wanted.append("form.result")
            if not running:
                # Before all that may not fit: without this key a new user does not find the way back.
                wanted.append("form.leave")
            if self._may_be_task:
                wanted.append("form.call-task")
            if work.revision_hint:
                wanted.append(("app.revision", "other revision"))
            if running:
                wanted.append("call.cancel")
            if isinstance(work.catalog_item.view, Resource):
                is_on = work.catalog_item.address in self.session.subscriptions
                if self.session.server.can("resources", "subscribe"):
                    wanted.append(("resource.subscribe", "unsubscribe" if is_on else "subscribe"))
            elif self._form.json_mode or not self._form.has_class("-bare"):
                wanted += [("form.json", "form" if self._form.json_mode else "json"), "form.editor"]
            if self._is_tool:
                wanted.append("form.model")
            if work.past:
                wanted.append("form.past-calls")
            wanted.append("form.save")
            if self._saved_calls:
                wanted.append("form.saved-calls")
            if self.check_action("load", ()):
                wanted.append("form.load")
        else:
            wanted.append("form.leave")
        return hints(self, *wanted)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Only the actions of the current item are available: a tool cannot be read."""
        work = self.work
        if action in ("read", "subscribe"):
            sends = self.session.commands is not None
            is_resource = work is not None and isinstance(work.catalog_item.view, Resource) and sends
            return is_resource and (action == "read" or self.session.server.can("resources", "subscribe"))
        if action == "call_task":
            return self._may_be_task
        if action == "model":
            return self._is_tool
        if action == "older_call":
            return self.session.commands is not None and work is not None and bool(work.past)
        if action == "past_calls":
            return self.session.commands is not None and work is not None and (self._is_tool or bool(work.past))
        if action == "saved_calls":
            return self.session.commands is not None and bool(self._saved_calls)
        if action == "result":
            return work is not None and (work.answer is not None or work.is_running)
        if action == "load":
            return self.session.commands is not None and self._is_tool
        if action in ("call", "leave", "save"):
            return work is not None and (action == "leave" or self.session.commands is not None)
        return True

    def action_call(self) -> None:
        """Send the values of the form. If they have errors, show them first; press the key again to send anyway."""
        self._call(as_task=False)

    def action_call_task(self) -> None:
        """Send the form as a task, if the tool supports tasks."""
        if not self._may_be_task:
            raise SkipAction
        self._call(as_task=True)

    def action_load(self) -> None:
        """Ask for the plan of a load test with the values of the form."""
        work = self.work
        if work is None or not self.check_action("load", ()):
            raise SkipAction
        value = self._form.value
        self.post_message(LoadTool(work.catalog_item.address, {} if value is UNSET else value))

    @property
    def _is_tool(self) -> bool:
        return self.work is not None and self.work.catalog_item.list_name == "tools"

    def action_model(self) -> None:
        """Show the tool as a model gets it."""
        if self.work is not None:
            self.post_message(ShowModel(self.work.catalog_item.address))

    @property
    def _may_be_task(self) -> bool:
        """Whether the user decides if the call is a task."""
        work = self.work
        if work is None or work.catalog_item.list_name != "tools" or not isinstance(work.catalog_item.item, dict):
            return False
        return self.session.commands is not None and self.session.tasks.support(work.catalog_item.item) == "optional"

    def _call(self, *, as_task: bool) -> None:
        work = self.work
        if work is None or self.session.commands is None:
            return
        self._completion.take(picked=True)
        if self._form.to_fix and not self.sends_anyway:
            self.sends_anyway = True
            self.say(self._note())
            self._form.focus_wrong()
            return
        self.sends_anyway = self._picks = False
        self.say(self._note())
        value = self._form.value
        self.post_message(self.Send(work, {} if value is UNSET else value, as_task=as_task))

    def action_read(self) -> None:
        if self.work is None or not isinstance(self.work.catalog_item.view, Resource):
            raise SkipAction
        self.action_call()

    def action_result(self) -> None:
        """Go to what stands below the form, however many fields it has."""
        if not self.check_action("result", ()):
            raise SkipAction
        self.post_message(self.ToResult())

    def action_leave(self) -> None:
        """Cancel the call while it runs; else return to the list."""
        if self.work is not None and self.work.is_running:
            self.post_message(self.CancelCall(self.work))
        else:
            self.post_message(LeaveWork())

    def action_subscribe(self) -> None:
        work = self.work
        session = self.session.commands
        if work is None or not isinstance(work.catalog_item.view, Resource) or session is None:
            raise SkipAction
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
        return self._form.has_focus_within or self._form.focus_first()
