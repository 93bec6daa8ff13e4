"""One tool in two open sessions: a form for both, one key that calls both, and their answers compared.

The screen owns no session: both belong to the window, keep their own screens and record on their own. It holds the
form, the newest call of each side and their comparison. The arguments belong to the pair, not to one of the sessions.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from textual import work
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical

from inspector.client.engine.pending_requests import Call
from inspector.compare.surface import compare_surfaces
from inspector.errors import InspectorError
from inspector.protocol.forms.form import UNSET, Form
from inspector.protocol.views import Tool
from inspector.text import duration, quantity, safe
from inspector.tui.advice import connect_again, error_text
from inspector.tui.dialogs import Choose
from inspector.tui.diff.answers import AnswersView
from inspector.tui.diff.side import AnswerSide
from inspector.tui.full_screen import FullScreen, app_binding
from inspector.tui.keymap import KeyHint, bindings
from inspector.tui.pane_keys import hints
from inspector.tui.pane_messages import ShowStart
from inspector.tui.sessions import OpenSession
from inspector.tui.themes import signs_now
from inspector.tui.widgets.form import FormView
from inspector.tui.widgets.paint import Piece, Pieces
from inspector.tui.widgets.pane import Pane
from inspector.tui.widgets.paragraphs import Paragraph, Paragraphs
from inspector.tui.widgets.status_lines import Footer, HeaderLine, LinePart
from inspector.tui.widgets.too_small import TooSmall
from inspector.tui.window import window_of
from inspector.tui.work.catalog_item import CatalogItem
from inspector.tui.work.confirm_call import CallConsent
from inspector.tui.work.outcome import of_call

_OPENS = ("patternProperties", "allOf", "anyOf", "oneOf", "$ref", "if", "dependentSchemas")
"""Keywords at the top of a schema that may allow arguments which `properties` does not name."""


def shared_schema(a: Any, b: Any) -> dict[str, Any]:
    """Return a schema for the form of both: that of A, and the arguments that only B has.

    An argument that one of them requires is required. Where both have an argument, A's schema of it is used.
    """
    one, other = _object(a), _object(b)
    mine, theirs = _object(one.get("properties")), _object(other.get("properties"))
    if not theirs.keys() - mine.keys() and not _required(other) - _required(one):
        return dict(one) or {"type": "object"}
    defined: dict[str, Any] = {
        name: {**_object(other.get(name)), **_object(one.get(name))}
        for name in ("$defs", "definitions")
        if name in one or name in other
    }
    properties = {**mine, **{name: schema for name, schema in theirs.items() if name not in mine}}
    required = [name for name in properties if name in _required(one) | _required(other)]
    return {**one, "type": "object", **defined, "properties": properties, "required": required}


def split_arguments(schema: Any, other: Any, arguments: Mapping[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """Return the arguments for a tool with `schema`, and the names of those that only the `other` one knows.

    An argument that neither declares is for both: the user typed it to see what happens.
    """
    known, theirs = _object(schema), _object(other)
    if known.get("additionalProperties") or any(keyword in known for keyword in _OPENS):
        return dict(arguments), []
    mine = _object(known.get("properties"))
    unknown = [name for name in arguments if name not in mine and name in _object(theirs.get("properties"))]
    return {name: value for name, value in arguments.items() if name not in unknown}, unknown


def _object(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _required(schema: Mapping[str, Any]) -> set[str]:
    required = schema.get("required")
    return {name for name in required if isinstance(name, str)} if isinstance(required, list) else set()


TICK = 0.1
"""Seconds between two looks at the calls and the sessions."""
CHANGES = 2
"""Differences between the two tools that are named; the others are counted."""
_NAME = 60


class PairSide:
    """One of the two sessions: its tool, its newest call, and why there is none."""

    def __init__(self, letter: str, opened: OpenSession) -> None:
        self.letter = letter
        self.opened = opened
        self.session = opened.session
        self.call: Call | None = None
        self.problem = ""
        """Why the newest call was not sent."""

    @property
    def name(self) -> str:
        """The letter and the session's name."""
        return f"{self.letter} {self.opened.name}"

    def tool(self, name: str) -> dict[str, Any] | None:
        """Return its tool with a name, or None."""
        tool = self.session.catalog.tools.get(name)
        return tool if isinstance(tool, dict) else None

    @property
    def is_running(self) -> bool:
        """Its call has not ended."""
        return self.call is not None and self.call.fate == "pending"

    @property
    def answer(self) -> AnswerSide:
        """The state of its newest call, as a side of the comparison."""
        call, journal = self.call, self.session.journal
        if call is None:
            return AnswerSide(self.opened.name, missing=self.problem or "not called yet")
        if call.fate == "pending":
            waits: list[Pieces] = [[(f"waiting {duration(call.elapsed * 1_000_000)}", "progress")]]
            return AnswerSide(self.opened.name, tuple(waits), missing="no answer yet")
        outcome = of_call(call, journal)
        facts: list[Pieces] = [outcome.time]
        if outcome.kind != "result":
            facts.insert(0, [(outcome.kind.replace("-", " "), "error")])
        text = journal.event(outcome.answer_n).text if 0 < outcome.answer_n <= journal.index.count else ""
        missing = "" if text else safe(outcome.error.message, 300) if outcome.error is not None else "no answer"
        return AnswerSide(self.opened.name, tuple(facts), text, missing)


class PairScreen(FullScreen[None]):
    """The pair of sessions `a` and `b` with a tool. `use` chooses another tool."""

    BINDINGS: ClassVar[list[BindingType]] = [
        *bindings("pair"),
        app_binding("start-list", "start_list"),
    ]
    DEFAULT_CSS = """
    PairScreen #pair-form { height: auto; max-height: 45%; }
    PairScreen #pair-form > Vertical { height: auto; }
    PairScreen #pair-arguments { height: auto; max-height: 12; }
    """

    def __init__(self, a: OpenSession, b: OpenSession, tool: str, arguments: Any = UNSET) -> None:
        super().__init__()
        self.a, self.b = PairSide("A", a), PairSide("B", b)
        self.name_of_tool = tool
        self._start = arguments
        self._schemas: tuple[Any, Any] = (None, None)
        self._seen: tuple[Any, ...] = ()
        self._compared: tuple[Any, ...] = ()
        self._compared_tools: tuple[Any, Any, list[str]] = (None, None, [])
        self._sends_anyway = False
        self._consent = CallConsent(self)

    @property
    def sides(self) -> tuple[PairSide, PairSide]:
        """Both sides."""
        return self.a, self.b

    def is_of(self, *opened: OpenSession) -> bool:
        """Whether the sessions are among the two."""
        return all(candidate in (self.a.opened, self.b.opened) for candidate in opened)

    def compose(self) -> ComposeResult:
        yield HeaderLine(id="header")
        with Pane(id="pair-form"), Vertical():
            yield Paragraphs(id="pair-notes", max_lines=4, after=1)
            yield FormView(id="pair-arguments")
        empty = "One key calls the tool in both sessions. Their answers are compared here."
        yield AnswersView(empty, id="pair-answers")
        yield Footer(id="pair-footer")
        yield TooSmall()

    async def on_mount(self) -> None:
        await self.use(self.name_of_tool, self._start)
        self.set_interval(TICK, self._tick)

    @property
    def _form(self) -> FormView:
        return self.query_one("#pair-arguments", FormView)

    @property
    def _answers(self) -> AnswersView:
        return self.query_one(AnswersView)

    # The tool

    async def use(self, tool: str, arguments: Any = UNSET) -> None:
        """Show a tool with these arguments."""
        self.name_of_tool = tool
        self._sends_anyway = False
        for side in self.sides:
            side.call, side.problem = None, ""
        self._compared = ()
        self._answers.clear()
        await self._make_form(arguments)
        self._answers.name_sides(self.a.answer, self.b.answer)
        self.call_after_refresh(self._form.focus_first)
        self._tick()

    async def _make_form(self, value: Any) -> None:
        tools = [side.tool(self.name_of_tool) for side in self.sides]
        one, other = (CatalogItem("tools", tool).schema if tool is not None else None for tool in tools)
        self._schemas = (one, other)
        schema = other if one is None else one if other is None else shared_schema(one, other)
        await self._form.show(Form(schema or {"type": "object"}, value))
        self._draw_notes()

    def _draw_notes(self) -> None:
        """Say what differs between the two tools before they are called."""
        tools = [side.tool(self.name_of_tool) for side in self.sides]
        notes: list[Paragraph] = []
        for side, tool in zip(self.sides, tools, strict=True):
            if tool is None:
                is_read = self._is_listed(side)
                sentence = f"{side.name} has no tool {safe(self.name_of_tool, _NAME)}." if is_read else ""
                notes.append(
                    (sentence or f"{side.name} has not listed its tools yet.", "finding" if is_read else "muted")
                )
        if all(tools):
            texts = self._differences(tools[0], tools[1])
            if texts:
                more = f", and {quantity(len(texts) - CHANGES, 'more difference')}" if len(texts) > CHANGES else ""
                notes.append((f"From A to B: {'; '.join(texts[:CHANGES])}{more}.", "finding"))
        value = self._form.value
        notes += [(sentence, "finding") for sentence in self._left_out({} if value is UNSET else value)]
        self.query_one("#pair-notes", Paragraphs).show(notes)
        self.query_one("#pair-notes").display = bool(notes)

    def _differences(self, one: Any, other: Any) -> list[str]:
        """Return how the two tools differ; compared again when one of them changes."""
        if self._compared_tools[:2] != (one, other):
            changes = compare_surfaces({"tools": [one]}, {"tools": [other]})
            self._compared_tools = (one, other, [safe(change.what, 200) for change in changes if change.name])
        return self._compared_tools[2]

    def _is_listed(self, side: PairSide) -> bool:
        return bool(side.session.catalog.tools.pages) and side.session.phase == "ready"

    def _left_out(self, arguments: Any) -> list[str]:
        """Return a sentence for each side that does not get all arguments."""
        if not isinstance(arguments, Mapping):
            return []
        sentences = []
        for at, side in enumerate(self.sides):
            if self._schemas[at] is None:
                continue
            _, unknown = split_arguments(self._schemas[at], self._schemas[1 - at], arguments)
            if unknown:
                names = ", ".join(safe(name, 40) for name in unknown[:5])
                it = "it is" if len(unknown) == 1 else "they are"
                sentences.append(f"{side.name} does not know {names}: {it} not sent there.")
        return sentences

    # Call

    @work(exclusive=True, group="pair-call")
    async def action_call(self) -> None:
        """Call the tool in both sessions; where it is missing, only in the other one."""
        form = self._form
        if not self.name_of_tool:
            self.notify("Choose a tool first.", timeout=4)
            return
        if any(side.is_running for side in self.sides):
            self.notify("A call is still running. esc cancels it.", timeout=4)
            return
        if form.refuses_text("sent"):
            return
        if form.to_fix and not self._sends_anyway:
            self._sends_anyway = True
            form.focus_wrong()
            self._draw_edge()
            return
        self._sends_anyway = False
        value = {} if form.value is UNSET else form.value
        if not await self._agrees(value):
            return
        self._answers.clear()
        for at, side in enumerate(self.sides):
            side.call, side.problem = None, ""
            tool = side.tool(self.name_of_tool)
            session = side.session.commands
            if session is None or session.phase != "ready":
                key = next((hint.label for hint in hints(self, f"pair.session-{'ab'[at]}")), "")
                there = f" Go there with {key}." if key else ""
                side.problem = f"{side.opened.name} is not connected.{there} {connect_again(self)}"
            elif tool is None:
                side.problem = f"{side.opened.name} has no tool {safe(self.name_of_tool, _NAME)}."
            else:
                sent = value
                if isinstance(value, dict):
                    sent, _ = split_arguments(self._schemas[at], self._schemas[1 - at], value)
                try:
                    side.call = CatalogItem("tools", tool).send(session, sent)
                except InspectorError as error:
                    side.problem = error_text(error, self)
        self._compared = ()
        self._tick()

    async def _agrees(self, arguments: Any) -> bool:
        """Ask before a tool that may destroy something in one of the sessions, if the settings say so."""
        tools = [Tool(tool) for side in self.sides if (tool := side.tool(self.name_of_tool)) is not None]
        asked = next(filter(self._consent.reason, tools), None)
        names = f"{self.a.opened.name} and {self.b.opened.name}"
        return asked is None or await self._consent.ask(asked, names, arguments)

    def _tick(self) -> None:
        """Show what has changed in both sessions."""
        if not self.is_current or not self.is_mounted:
            return
        tools = tuple(side.tool(self.name_of_tool) for side in self.sides)
        states = tuple((side.session.phase, side.opened.questions, side.call, side.is_running) for side in self.sides)
        seen = (*(id(tool) for tool in tools), *(self._is_listed(side) for side in self.sides), states)
        if seen != self._seen:
            fresh = self._seen[:2] != seen[:2] and bool(self._seen)
            self._seen = seen
            if fresh:
                self.run_worker(self._make_form(self._form.value), group="pair-form", exclusive=True)
            self._draw_notes()
            self._draw_lines()
        called = tuple(side.call for side in self.sides)
        if any(called) and not any(side.is_running for side in self.sides):
            if called != self._compared:
                self._compared = called
                self._answers.compare(self.a.answer, self.b.answer, "tools/call", self.name_of_tool)
                self._draw_lines()
        elif any(called):
            self._answers.name_sides(self.a.answer, self.b.answer)

    # Lines

    def _draw_lines(self) -> None:
        parts = []
        for side in self.sides:
            pieces: list[Piece] = [(f"{side.letter} ", "muted"), side.opened.sign, " ", (side.opened.name, "bright")]
            pieces.append((f"  {side.opened.state[0]}", side.opened.state[1]))
            if side.opened.wants:
                pieces.append((f"  {signs_now().asked} {side.opened.wants}", "ask"))
            parts.append(LinePart([pieces]))
        self.query_one(HeaderLine).parts = parts
        self._draw_edge()
        self.query_one(Footer).offer(self.hints())

    def _draw_edge(self) -> None:
        edge = self.query_one("#pair-form", Pane)
        tool = safe(self.name_of_tool, _NAME) or "No tool"
        edge.title = [(tool, "bright"), ("  in A and B", "muted")]
        again = [(f"{self._form.to_fix} to fix; the same key again: send anyway", "finding")]
        edge.facts = [again if self._sends_anyway else self._form.note()]

    def hints(self) -> list[KeyHint]:
        """Return the keys that work now."""
        verbs: list[str | tuple[str, str]] = ["pair.call"]
        if any(side.opened.questions for side in self.sides):
            verbs.insert(0, "pair.question")
        verbs += ["pair.tool", "pair.past-calls", "form.json"]
        running = any(side.is_running for side in self.sides)
        verbs += [(f"pair.session-{side.letter.lower()}", f"to {side.name[:16]}") for side in self.sides]
        verbs.append(("pair.leave", "cancel calls" if running else "back"))
        # Their keys are letters, which are text in the form.
        compared = self._answers.hints() if self._answers.has_focus_within else []
        return [*hints(self, *verbs), *compared]

    def on_descendant_focus(self) -> None:
        """Draw the keys at the focus."""
        self.query_one(Footer).offer(self.hints())

    def on_hints_changed(self) -> None:
        """Draw the keys that work now."""
        self.query_one(Footer).offer(self.hints())

    def on_form_view_changed(self) -> None:
        """The arguments have changed."""
        self._sends_anyway = False
        self._draw_notes()
        self._draw_edge()

    def on_form_view_checked(self) -> None:
        """The arguments were validated."""
        self._draw_edge()

    def sessions_changed(self) -> None:
        """Draw the state of the sessions."""
        self._seen = ()
        self._tick()

    # Actions

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """A question needs one that is open."""
        if action == "question":
            return any(side.opened.questions for side in self.sides)
        return True

    @work(exclusive=True, group="dialog")
    async def action_tool(self) -> None:
        """Choose another tool of the two sessions."""
        names = [
            {tool["name"] for tool in side.session.catalog.tools.items if isinstance(tool.get("name"), str)}
            for side in self.sides
        ]
        both = sorted(names[0] | names[1])
        where = {
            name: ""
            if all(name in side_names for side_names in names)
            else "only in A"
            if name in names[0]
            else "only in B"
            for name in both
        }
        choices = [(name, where[name]) for name in both]
        chosen = await self.app.push_screen_wait(Choose("Tool", choices, self.name_of_tool))
        if chosen is not None and chosen != self.name_of_tool:
            await self.use(chosen)

    @work(exclusive=True, group="dialog")
    async def action_past_calls(self) -> None:
        """List the earlier calls of both sessions, and fill the form with the arguments of the chosen one."""
        from inspector.tui.work.history import EarlierCalls

        name = self.name_of_tool
        side = next((side for side in self.sides if side.tool(name) is not None), None)
        if side is None:
            return
        other = self.b if side is self.a else self.a
        item = CatalogItem("tools", side.tool(name) or {})
        arguments = await self.app.push_screen_wait(EarlierCalls(side.session, item, (), other.session))
        if arguments is not None and self.name_of_tool == name:
            await self.use(name, arguments)

    def action_question(self) -> None:
        """Go to the session whose server asks."""
        side = next((side for side in self.sides if side.opened.questions), None)
        if side is not None:
            window_of(self).navigator.show_questions(side.opened)

    def action_session_a(self) -> None:
        """Go to session A."""
        window_of(self).navigator.show_session(self.a.opened)

    def action_session_b(self) -> None:
        """Go to session B."""
        window_of(self).navigator.show_session(self.b.opened)

    def action_leave(self) -> None:
        """Cancel the calls that run; else return to session A."""
        running = [side.call for side in self.sides if side.call is not None and side.is_running]
        for call in running:
            call.cancel()
        if not running:
            self.action_session_a()

    def action_start_list(self) -> None:
        """Go to the start list."""
        self.post_message(ShowStart())
