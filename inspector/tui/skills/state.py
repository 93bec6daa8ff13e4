"""The skills of a session as its panes show them, and the requests that they send. Nothing is read ahead of need."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

from inspector.client.session_state import SessionState
from inspector.errors import InspectorError
from inspector.skills.entries import Skill, SkillFile
from inspector.skills.observed import SkillLog
from inspector.skills.reading import SkillReader, offers_directories
from inspector.skills.saving import SavedSkill, save_skill
from inspector.skills.verify import FileCheck


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
        commands = session.commands
        self.reader = SkillReader(commands, self.log) if commands is not None else None

    def advance(self) -> int:
        """Take in what is new; return a number that changes with what is to be shown."""
        self.log.advance(self.session.upto)
        return self.log.version + self.version

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
        """The listed files of a skill and how they compare; none of an invalid one."""
        return [] if skill.kind == "invalid" else self.log.checks(skill)

    def save(self, skill: Skill, folder: Path) -> SavedSkill:
        """Write the files that match below a new folder. Raises `UsageError`."""
        return save_skill(skill, self.session.target.label, self.checks(skill), folder)
