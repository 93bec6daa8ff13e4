"""The list of skills, from their entries alone."""

from __future__ import annotations

from collections import Counter
from typing import ClassVar

from rich.segment import Segment
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.message import Message

from inspector.skills.entries import Skill
from inspector.skills.verify import FileCheck
from inspector.text import safe
from inspector.tui.advice import error_text
from inspector.tui.keymap import KeyHint, bindings
from inspector.tui.matching import Typed
from inspector.tui.pane_keys import hints
from inspector.tui.pane_messages import HintsChanged
from inspector.tui.skills.actions import SkillActions
from inspector.tui.skills.state import SkillsState
from inspector.tui.themes import signs_now
from inspector.tui.widgets import paint
from inspector.tui.widgets.editor import Editor
from inspector.tui.widgets.filter_input import FilterInput
from inspector.tui.widgets.pane import Pane
from inspector.tui.widgets.virtual_list import ListRows, VirtualList


def sign_of(skill: Skill, checks: list[FileCheck], differs: bool) -> paint.Piece:
    """The sign of a skill: failed, as listed, or not read."""
    signs = signs_now()
    if skill.kind == "invalid" or any(check.failed for check in checks):
        return (signs.failed, "error")
    if differs or skill.problems:
        return (signs.finding, "finding")
    if checks and all(check.outcome == "matches" for check in checks):
        return (signs.done, "received")
    return (signs.later, "muted")


class SkillRows(ListRows[Skill]):
    """A `RowSource` over the skills of a session."""

    def __init__(self, state: SkillsState) -> None:
        super().__init__(lambda skill: skill.uri or id(skill))
        self._state = state
        self._twice: set[str] = set()
        """Names that several skills have."""
        self.words = ""
        """The filter."""

    def take(self) -> None:
        """Take in the skills of now."""
        self.rows = self._state.log.skills
        self._twice = {name for name, number in Counter(skill.name for skill in self.rows).items() if number > 1}
        typed = Typed(self.words)
        self.rows = typed.best_first(self.rows, lambda skill: (skill.name, f"{skill.uri} {skill.description}"))

    def render(self, index: int, width: int, selected: bool, focused: bool) -> list[Segment]:
        skill = self.rows[index]
        log = self._state.log
        sign = sign_of(skill, self._state.checks(skill), bool(log.unlisted(skill) or log.missing(skill)))
        note = skill.directory.partition("://")[2] if skill.name in self._twice else skill.version
        right = {"dynamic": "dynamic", "invalid": "invalid"}.get(skill.kind, note)
        left = [sign, " ", (safe(skill.name, 80) or "(unnamed)", "bright" if selected else "normal")]
        return paint.spread(paint.segments(left, room=width), paint.segments(safe(right, 40), "muted"), width)


class SkillsPane(Pane, SkillActions):
    """The list. The skill under the cursor is shown beside it."""

    BINDINGS: ClassVar[list[BindingType]] = [*bindings("skills"), *bindings("skill-list")]
    DEFAULT_CSS = """
    SkillsPane > VirtualList { height: 1fr; }
    """

    class Highlighted(Message):
        """The cursor is on another skill."""

    class Opened(Message):
        """A skill was opened: its SKILL.md is read, and the focus goes to its files."""

    def __init__(self, state: SkillsState, *, id: str | None = None) -> None:
        super().__init__(title="Skills", id=id)
        self.state = state
        self._rows = SkillRows(state)
        self._list = VirtualList(self._rows, empty="")
        self._filter = FilterInput()
        self._seen: object = None

    def compose(self) -> ComposeResult:
        yield from super().compose()
        yield self._list
        yield self._filter

    def on_mount(self) -> None:
        self.state.load(self.redraw)
        self.tick()

    def redraw(self) -> None:
        """Draw what a request has changed."""
        if self.is_attached:
            self.tick()
            problem = self.state.problem
            if problem is not None:
                self.notify(error_text(problem, self), severity="warning", markup=False, timeout=8)

    def tick(self) -> None:
        """Draw what is new."""
        state = self.state
        seen = state.advance()
        if seen == self._seen:
            return
        self._seen = seen
        self._rows.take()
        self._list.empty = self._empty()
        self._list.source_changed()
        self._take_cursor()
        self.facts = ([state.working] if state.working else []) + ([f"{len(self._rows):,}"] if len(self._rows) else [])
        self.keys = self.hints()
        self.post_message(self.Highlighted())
        self.post_message(HintsChanged())

    def _empty(self) -> str:
        state = self.state
        if self._rows.words.strip() and state.log.skills:
            return "No skill matches the filter."
        if state.working or (not state.log.list.pages and state.problem is None):
            commands = state.session.commands
            return "Reading skills/list." if commands is not None else "skills/list was not read up to here."
        if state.problem is not None:
            return safe(state.problem.message, 500)
        return "The server lists no skills. It may still serve some by their URI."

    def _take_cursor(self) -> None:
        at = self._list.cursor
        skill = self._rows.rows[at] if 0 <= at < len(self._rows) else None
        if (skill.uri if skill is not None else "") != self.state.uri:
            self.state.select(skill)

    def on_virtual_list_highlighted(self, event: VirtualList.Highlighted) -> None:
        event.stop()
        self._take_cursor()
        self.keys = self.hints()
        self.post_message(self.Highlighted())
        self.post_message(HintsChanged())

    def on_virtual_list_selected(self, event: VirtualList.Selected) -> None:
        event.stop()
        self._take_cursor()
        if self.state.skill is not None:
            self.post_message(self.Opened())

    def focus_inside(self) -> bool:
        """Focus the list."""
        self.screen.set_focus(self._list)
        return True

    # The filter

    def action_filter(self) -> None:
        """Type a filter."""
        self._filter.action_select_all()
        self.screen.set_focus(self._filter)

    def on_editor_changed(self, event: Editor.Changed) -> None:
        event.stop()
        self._rows.words = event.value
        self._seen = None
        self.tick()

    def on_filter_input_left(self, event: FilterInput.Left) -> None:
        event.stop()
        self.screen.set_focus(self._list)

    def hints(self) -> list[KeyHint]:
        """The keys for the list."""
        if self._filter.has_focus:
            return self._filter.hints()
        open_ = [("list.select", "open")] if len(self._rows) else []
        return [*hints(self, *open_), *self.skill_hints()]
