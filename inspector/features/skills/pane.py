"""The skills of a session: their state, requests and verbs, and the list. Nothing is read ahead of need."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any, ClassVar

from rich.segment import Segment
from textual import work
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.widget import Widget

from inspector.client.session_state import SessionState
from inspector.errors import InspectorError
from inspector.features.skills.entries import Skill, SkillFile
from inspector.features.skills.observed import SkillLog
from inspector.features.skills.reading import SkillReader, offers_directories
from inspector.features.skills.saving import SavedSkill, is_read_by_agents, save_skill
from inspector.features.skills.verify import FileCheck
from inspector.text import quantity, safe, size
from inspector.tui.advice import error_text
from inspector.tui.dialogs import AskPath, Confirm
from inspector.tui.keymap import KeyHint, bindings
from inspector.tui.matching import Typed
from inspector.tui.pane_keys import hints
from inspector.tui.pane_messages import HintsChanged, OpenBeside
from inspector.tui.themes import signs_now
from inspector.tui.widgets import paint
from inspector.tui.widgets.editor import Editor
from inspector.tui.widgets.filter_input import FilterInput
from inspector.tui.widgets.pane import Pane
from inspector.tui.widgets.virtual_list import ListRows, VirtualList


class SkillsState:
    """The skills up to the shown moment, the selected one, and the work in progress."""

    def __init__(self, session: SessionState) -> None:
        self.session = session
        self.log = SkillLog(session.journal)
        self.uri = ""
        """The selected skill; its URI identifies it on this server."""
        self.working = ""
        """What is being done, for the edge of the list; empty if nothing is."""
        self.asked = False
        """Whether the list was asked for."""
        self.problem: InspectorError | None = None
        """Why the newest request of the user failed."""
        self.version = 0
        self.draw_beside: Callable[[], object] = bool
        """Draws the pane beside the list, once there is one."""
        self.open_beside: Callable[[], object] = bool
        """Reads the SKILL.md of the selected skill there."""
        commands = session.commands
        self.reader = SkillReader(commands, self.log) if commands is not None else None

    def advance(self) -> int:
        """Take in what is new; return a number that changes with what is to be shown."""
        self.log.advance(self.session.upto)
        return self.log.version + self.version

    @property
    def count(self) -> int:
        """The number of skills that are known, for the tab."""
        return len(self.log.skills)

    @property
    def skill(self) -> Skill | None:
        """The selected skill."""
        return next((skill for skill in self.log.skills if skill.uri == self.uri), None)

    def select(self, skill: Skill | None) -> None:
        """Select another skill."""
        self.uri = "" if skill is None else skill.uri
        self.version += 1

    def load(self, done: Callable[[], None]) -> None:
        """Ask for the list, once."""
        if self.reader is not None and not self.asked:
            self.asked = True
            self._run("reading the list", self.reader.load(), done)

    def reload(self, done: Callable[[], None]) -> None:
        """Ask for the list again."""
        self.asked = False
        self.load(done)

    def read(self, skill: Skill, file: SkillFile, done: Callable[[], None]) -> None:
        """Read one file, and SKILL.md before it."""
        if self.reader is not None:
            self._run(f"reading {file.path}", self.reader.read(skill, file), done)

    def verify(self, skill: Skill, done: Callable[[], None]) -> None:
        """Read and verify every listed file, and walk the directories where the server offers that."""
        if self.reader is not None:
            self._run("verifying", self._verify(self.reader, skill), done)

    async def _verify(self, reader: SkillReader, skill: Skill) -> None:
        await reader.verify(skill, lambda _: self._changed())
        if offers_directories(self.session.server):
            await reader.walk(skill)

    def _run(self, what: str, work: Coroutine[Any, Any, Any], done: Callable[[], None]) -> None:
        commands = self.session.commands
        assert commands is not None

        async def run() -> None:
            self.working, self.problem = what, None
            self._changed()
            try:
                await work
            except InspectorError as error:
                self.problem = error
            finally:
                self.working = ""
                self._changed()
                done()

        commands.run(run())

    def _changed(self) -> None:
        self.version += 1

    def checks(self, skill: Skill) -> list[FileCheck]:
        """Return the listed files of a skill and how they compare; none of an invalid one."""
        return [] if skill.kind == "invalid" else self.log.checks(skill)

    def save(self, skill: Skill, folder: Path) -> SavedSkill:
        """Write the files that match below a new folder. Raises `UsageError`."""
        return save_skill(skill, self.session.target.label, self.checks(skill), folder)


class SkillActions(Widget):
    """Verify all, save, read the list again. The pane has `state`, and draws in `tick`."""

    state: SkillsState

    def tick(self) -> None:
        """Draw what is new."""
        raise NotImplementedError

    def redraw(self) -> None:
        """Draw what a request has changed."""
        if self.is_attached:
            self.tick()
            if self.state.problem is not None:
                self.notify(error_text(self.state.problem, self), severity="warning", markup=False, timeout=8)

    @property
    def _usable(self) -> Skill | None:
        """The selected skill if its files may be read."""
        skill = self.state.skill
        return None if skill is None or skill.kind == "invalid" or skill.over_limit else skill

    def skill_hints(self) -> list[KeyHint]:
        """Return the keys that work now."""
        skill, live = self._usable, self.state.session.commands is not None
        keys = ["skills.verify"] if skill is not None and live else []
        if skill is not None and any(check.data and not check.failed for check in self.state.checks(skill)):
            keys.append("skills.save")
        return hints(self, *keys, *(["skills.again"] if live else []))

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """A recording sends nothing."""
        if action in ("verify", "again"):
            return self.state.session.commands is not None
        return True

    @work(exclusive=True, group="skills")
    async def action_verify(self) -> None:
        """Read every listed file after a confirmation that shows how much that is, and compare each with the list."""
        skill = self._usable
        if skill is None or self.state.working:
            return
        files = quantity(max(len(skill.files), 1), "file")
        detail = f"{files}, {size(skill.size)}. Nothing of the skill is executed." if skill.files else "Its SKILL.md."
        question = Confirm(f"Read and verify {safe(skill.name, 60)}?", detail, "read", "cancel")
        if await self.app.push_screen_wait(question):
            self.state.verify(skill, self.redraw)
            self.redraw()

    @work(exclusive=True, group="skills")
    async def action_save(self) -> None:
        """Write the files that match to a new folder."""
        skill = self._usable
        if skill is None:
            return
        folder = await self.app.push_screen_wait(AskPath("Write the skill to a new folder", "skills-saved"))
        if folder is None:
            return
        try:
            saved = self.state.save(skill, folder)
        except InspectorError as error:
            self.notify(error_text(error, self), severity="error", markup=False)
            return
        left = f" {quantity(len(saved.left_out), 'file')} not written." if saved.left_out else ""
        warning = " Programs load skills from this folder." if is_read_by_agents(folder) else ""
        self.notify(f"Wrote {quantity(len(saved.written), 'file')} to {saved.folder}.{left}{warning}", markup=False)

    def action_again(self) -> None:
        """Read the list again."""
        self.state.reload(self.redraw)
        self.redraw()


def sign_of(skill: Skill, checks: list[FileCheck], differs: bool) -> paint.Piece:
    """Return the sign of a skill: failed, as listed, or not read."""
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

    def refresh(self) -> None:
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

    def tick(self) -> None:
        """Draw what is new."""
        state = self.state
        seen = state.advance()
        if seen == self._seen:
            return
        self._seen = seen
        self._rows.refresh()
        self._list.empty = self._empty()
        self._list.source_changed()
        self._take_cursor()
        self.facts = ([state.working] if state.working else []) + ([f"{len(self._rows):,}"] if len(self._rows) else [])
        self.state.draw_beside()
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
        self.state.draw_beside()
        self.post_message(HintsChanged())

    def on_virtual_list_selected(self, event: VirtualList.Selected) -> None:
        event.stop()
        self._take_cursor()
        if self.state.skill is not None:
            self.post_message(OpenBeside())
            self.state.open_beside()

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
        """Return the keys for the list."""
        if self._filter.has_focus:
            return self._filter.hints()
        open_ = [("list.select", "open")] if len(self._rows) else []
        return [*hints(self, *open_), *self.skill_hints()]
