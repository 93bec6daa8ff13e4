"""The verbs of skills, for the list and for one skill."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.widget import Widget

from inspector.errors import InspectorError
from inspector.skills.entries import Skill
from inspector.skills.saving import is_read_by_agents
from inspector.text import quantity, safe, size
from inspector.tui.advice import error_text
from inspector.tui.dialogs import AskPath, Confirm
from inspector.tui.keymap import KeyHint
from inspector.tui.pane_keys import hints
from inspector.tui.skills.state import SkillsState

if TYPE_CHECKING:

    class _Base(Widget): ...

else:
    _Base = object


class SkillActions(_Base):
    """Verify all, save, read the list again. The pane has `state` and `redraw`."""

    state: SkillsState

    def redraw(self) -> None:
        """Draw what a request has changed."""

    @property
    def _usable(self) -> Skill | None:
        """The selected skill if its files may be read."""
        skill = self.state.skill
        return None if skill is None or skill.kind == "invalid" or skill.over_limit else skill

    def skill_hints(self) -> list[KeyHint]:
        """The keys that work now."""
        skill, live = self._usable, self.state.session.commands is not None
        wanted = ["skills.verify"] if skill is not None and live else []
        if skill is not None and any(check.data and not check.failed for check in self.state.checks(skill)):
            wanted.append("skills.save")
        return hints(self, *wanted, *(["skills.again"] if live else []))

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """A recording sends nothing."""
        if action in ("verify", "again"):
            return self.state.session.commands is not None
        return True

    def action_verify(self) -> None:
        """Read every listed file after a confirmation that shows how much that is, and compare each with the list."""
        self.run_worker(self._verify(), exclusive=True, group="skills")

    async def _verify(self) -> None:
        skill = self._usable
        if skill is None or self.state.working:
            return
        files = quantity(max(len(skill.files), 1), "file")
        detail = f"{files}, {size(skill.size)}. Nothing of the skill is executed." if skill.files else "Its SKILL.md."
        question = Confirm(f"Read and verify {safe(skill.name, 60)}?", detail, "read", "cancel")
        if await self.app.push_screen_wait(question):
            self.state.verify(skill, self.redraw)
            self.redraw()

    def action_save(self) -> None:
        """Save the files that match into a new folder."""
        self.run_worker(self._save(), exclusive=True, group="skills")

    async def _save(self) -> None:
        skill = self._usable
        if skill is None:
            return
        folder = await self.app.push_screen_wait(AskPath("Save the skill in a new folder", "skills-saved"))
        if folder is None:
            return
        try:
            saved = self.state.save(skill, folder)
        except InspectorError as error:
            self.notify(error_text(error, self), severity="error", markup=False)
            return
        left = f" {quantity(len(saved.left_out), 'file')} not saved." if saved.left_out else ""
        warning = " Programs load skills from this folder." if is_read_by_agents(folder) else ""
        self.notify(f"Saved {quantity(len(saved.written), 'file')} in {saved.folder}.{left}{warning}", markup=False)

    def action_again(self) -> None:
        """Read the list again."""
        self.state.reload(self.redraw)
        self.redraw()
