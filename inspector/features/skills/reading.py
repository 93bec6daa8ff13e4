"""Requests about skills: list, get, read a file, walk a directory. Nothing is read ahead of need (C-SKILL-16)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from inspector.client.extensions import declared_settings, require_declared
from inspector.client.session_state import Commands
from inspector.client.state.server import Server
from inspector.errors import InspectorError, NotOffered, ServerError, SkillRefused
from inspector.features.skills import uris
from inspector.features.skills.entries import MAX_BYTES, Skill, SkillFile
from inspector.features.skills.observed import FOLDER_TYPE, SkillLog
from inspector.features.skills.verify import FileCheck
from inspector.protocol.extensions import SKILLS
from inspector.protocol.jsonrpc import excerpt

MAX_PAGES = 1000
MAX_FOLDERS = 1000
"""Pages of one list, and directories of one skill, that are read."""


def offers_skills(server: Server) -> bool:
    """Whether the server declares the extension; its declaration alone decides (C-SKILL-03)."""
    return declared_settings(server, SKILLS) is not None


def offers_directories(server: Server) -> bool:
    """Whether the server declares `resources/directory/read`: only the boolean true counts (C-SKILL-02)."""
    return (declared_settings(server, SKILLS) or {}).get("directoryRead") is True


class SkillReader:
    """Reads the skills of a live session. What it finds is in `log`, which follows the session's journal."""

    def __init__(self, session: Commands, log: SkillLog | None = None) -> None:
        self.session = session
        self.log = log or SkillLog(session.journal)
        self.notes: list[str] = []
        """Sentences about lists that were stopped."""

    async def load(self) -> list[Skill]:
        """Send `skills/list`, page by page. An empty or partial list does not mean that there are no skills."""
        cursor: str | None = None
        seen: set[str] = set()
        for _ in range(MAX_PAGES):
            result = await self._ask("skills/list", {} if cursor is None else {"cursor": cursor})
            self.log.advance()
            cursor = self._next(result, "skills/list", seen)
            if cursor is None:
                return self.log.skills
        self.notes.append(f"skills/list was stopped after {MAX_PAGES:,} pages.")
        return self.log.skills

    def _next(self, result: Any, method: str, seen: set[str]) -> str | None:
        cursor = result.get("nextCursor") if type(result) is dict else None
        if cursor is None:
            return None
        if not isinstance(cursor, str) or cursor in seen:
            what = "repeated a cursor" if isinstance(cursor, str) else f"sent the cursor {excerpt(cursor, 40)}"
            self.notes.append(f"{method} was stopped: the server {what}.")
            return None
        seen.add(cursor)
        return cursor

    async def get(self, uri: str) -> Skill:
        """Send `skills/get`: the entry of a skill from its URI alone (C-SKILL-07).

        Raises `SkillRefused` if the answer is about another skill.
        """
        if not uris.is_skill_uri(uri):
            raise SkillRefused(
                f"{excerpt(uri, 200)} is not the URI of a SKILL.md.", hint="It ends in /SKILL.md, as in the list."
            )
        await self._ask("skills/get", {"uri": uri})
        self.log.advance()
        skill = self.log.skill(uri)
        if skill is None:
            raise SkillRefused(
                f"The server answered skills/get for {excerpt(uri, 200)} without an entry of that skill.",
                hint="Its answer is in the recording.",
            )
        return skill

    async def read(self, skill: Skill, file: SkillFile) -> FileCheck:
        """Read one file of a skill, SKILL.md before any other, and verify it.

        Raises `SkillRefused` without a request for a file that is not listed (C-SKILL-19), a skill that is invalid or
        too large (C-SKILL-10, C-SKILL-11), and after a failure of its SKILL.md (C-SKILL-20).
        """
        self._check_usable(skill)
        if file.uri != skill.uri:
            if not file.path or all(listed.uri != file.uri for listed in skill.files):
                raise SkillRefused(
                    f"{excerpt(file.uri, 200)} was not read: the entry of {skill.name[:80]} does not list it.",
                    hint="Read it as a resource if you want to see it.",
                )
            first = self.log.check(skill, skill.skill_md)
            if first.outcome == "not-read":
                first = await self._read(skill, skill.skill_md)
            if first.failed:
                raise SkillRefused(
                    f"{excerpt(file.path, 200)} was not read: SKILL.md of {skill.name[:80]} {first.words}.",
                    hint="Get the skill again: its entry may have changed.",
                )
        return await self._read(skill, file)

    async def _read(self, skill: Skill, file: SkillFile) -> FileCheck:
        try:
            await self._ask("resources/read", {"uri": file.uri})
        except ServerError:
            pass  # The check of the file has the error.
        self.log.advance()
        return self.log.check(skill, file)

    def _check_usable(self, skill: Skill) -> None:
        reason = skill.why_invalid if skill.kind == "invalid" else skill.over_limit
        if reason:
            which = f"The skill {skill.name[:80]}" if skill.name else "An entry of skills/list"
            raise SkillRefused(f"{which} is not read: {reason}.", hint="Correct its entry in skills/list.")

    async def verify(
        self, skill: Skill, on_check: Callable[[FileCheck], None] | None = None
    ) -> tuple[Skill, list[FileCheck]]:
        """Read and verify every listed file, one after the other; return the entry that counts, and the files.

        A failure of SKILL.md ends it. After a failure the entry is asked for once again: if the skill has changed, what
        was read is compared with the new entry (C-SKILL-21).
        """
        self._check_usable(skill)
        received = 0
        first = skill.skill_md
        for file in (first, *(listed for listed in skill.files if listed.uri != first.uri and listed.path)):
            check = await self._read(skill, file)
            if check.failed:
                skill = await self._renewed(skill)
                check = self.log.check(skill, skill.file(file.uri) or file)
            if on_check is not None:
                on_check(check)
            received += max(check.size, 0)
            if (check.failed and file.uri == first.uri) or received > MAX_BYTES:
                break
        return skill, self.log.checks(skill)

    async def _renewed(self, skill: Skill) -> Skill:
        try:
            renewed = await self.get(skill.uri)
        except InspectorError:
            return skill
        return skill if renewed.kind == "invalid" else renewed

    async def walk(self, skill: Skill) -> None:
        """Read the skill's directory and the directories in it; the files are not read.

        Raises `NotOffered` if the server does not declare that.
        """
        if not offers_directories(self.session.server):
            raise NotOffered(
                "The server does not offer resources/directory/read: directoryRead is not true.",
                hint="Without it, files that are not listed are found only in the resource list.",
            )
        root = uris.parse(skill.uri)
        if not isinstance(root, uris.SkillUri):
            return
        waiting, seen = [skill.directory], {skill.directory}
        while waiting and len(seen) <= MAX_FOLDERS:
            for child in await self._children(waiting.pop(0)):
                uri = child.get("uri")
                inside = uris.path_in(root, uri)
                if child.get("mimeType") == FOLDER_TYPE and isinstance(uri, str) and inside and uri not in seen:
                    seen.add(uri)
                    waiting.append(uri)
        if waiting:
            self.notes.append(f"The walk was stopped after {MAX_FOLDERS:,} directories.")

    async def _children(self, directory: str) -> list[dict[str, Any]]:
        children: list[dict[str, Any]] = []
        cursor: str | None = None
        seen: set[str] = set()
        for _ in range(MAX_PAGES):
            params = {"uri": directory} | ({} if cursor is None else {"cursor": cursor})
            result = await self._ask("resources/directory/read", params)
            page = result.get("resources") if type(result) is dict else None
            children += [child for child in page if type(child) is dict] if type(page) is list else []
            cursor = self._next(result, "resources/directory/read", seen)
            if cursor is None:
                break
        self.log.advance()
        return children

    async def _ask(self, method: str, params: dict[str, Any]) -> Any:
        require_declared(self.session.server, method)
        return await self.session.start(method, params, progress=False).result()
