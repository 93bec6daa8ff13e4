"""The skills of a session as its messages show them: a reduction of the journal, live and recorded alike.

It holds the newest entry of each skill, which files were read, and what directories contain. Files are verified when
they are asked about.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from inspector.features.skills import uris
from inspector.features.skills.entries import Skill, SkillFile, read_entry
from inspector.features.skills.verify import FileCheck, check_result
from inspector.journal.format import Dir
from inspector.journal.journal import Journal
from inspector.journal.query import Query
from inspector.journal.redaction import MARK
from inspector.protocol.jsonrpc import Shape
from inspector.protocol.views import View

MAX_SKILLS = 10_000
"""Entries of a list that are kept."""
FOLDER_TYPE = "inode/directory"

_ANSWERS = Query(
    dir=Dir.RECV,
    shape=(Shape.RESULT, Shape.ERROR),
    method=("skills/list", "skills/get", "resources/read", "resources/directory/read"),
)


@dataclass(frozen=True, slots=True)
class FoundFile:
    """A file that the server has in a skill's directory, beside what its entry lists."""

    uri: str
    path: str
    size: int = -1


class SkillList:
    """The newest `skills/list`, as far as its pages have arrived."""

    def __init__(self) -> None:
        self.entries: list[Skill] = []
        """In the server's order."""
        self.pages = 0
        self.complete = False
        self.dropped = 0
        """Entries beyond `MAX_SKILLS`."""
        self.page: dict[str, Any] = {}
        """The result of the newest page, for its cache hint."""

    def add_page(self, result: Any) -> list[Skill]:
        """Add the result of a page, or its absence. Return its entries, as far as they are kept."""
        if type(result) is not dict:
            self.complete = False
            return []
        self.pages += 1
        self.page = result
        self.complete = result.get("nextCursor") is None
        listed = result.get("skills")
        raw = listed if type(listed) is list else []
        entries = [read_entry(entry) for entry in raw[: MAX_SKILLS - len(self.entries)]]
        self.entries += entries
        self.dropped += len(raw) - len(entries)
        return entries


class SkillLog:
    """The skills of a journal up to some event. `advance` reads what is new."""

    def __init__(self, journal: Journal) -> None:
        self.journal = journal
        self.version = 0
        """Counts the changes."""
        self.list = SkillList()
        self._seen = 0
        self._newest: dict[str, Skill] = {}
        self._before: dict[str, Skill] = {}
        self._reads: dict[str, int] = {}
        self._folders: dict[str, list[dict[str, Any]]] = {}
        self._checks: dict[str, tuple[Skill, FileCheck]] = {}

    def advance(self, upto: int | None = None) -> bool:
        """Read the events up to `upto`; True if something changed. An earlier event starts from the beginning."""
        upto = len(self.journal) if upto is None else upto
        if upto < self._seen:
            self._seen, self.list = 0, SkillList()
            known: dict[str, Any]
            for known in (self._newest, self._before, self._reads, self._folders, self._checks):
                known.clear()
            self.version += 1
        version = self.version
        for n in _ANSWERS.numbers(self.journal.index, self._seen, upto):
            self._read_answer(n)
            self.version += 1
        self._seen = max(self._seen, upto)
        return self.version != version

    def _read_answer(self, n: int) -> None:
        method = self.journal.index.method(n)
        if method == "resources/read" and not self._newest:
            return  # Before any entry is known, it is not a file of a skill.
        request = self.journal.index.pair(n)
        params = View(self.journal.event(request).message if request else None).object("params")
        uri = params.get("uri")
        if method == "resources/read":
            if isinstance(uri, str):
                self._reads[uri] = n
            return
        result = View(self.journal.event(n).message).members.get("result")
        if method == "skills/list":
            if "cursor" not in params:
                self.list = SkillList()
            for skill in self.list.add_page(result):
                self._hold(skill)
        elif method == "skills/get" and type(result) is dict and isinstance(uri, str):
            skill = read_entry(result.get("skill"))
            if skill.uri == uri:
                self._hold(skill)
        elif method == "resources/directory/read" and type(result) is dict and isinstance(uri, str):
            resources = result.get("resources")
            kept = self._folders.setdefault(uri, []) if "cursor" in params else self._folders.setdefault(uri, [])[:0]
            kept = [*kept, *(child for child in resources if type(child) is dict)] if type(resources) is list else kept
            self._folders[uri] = kept

    def _hold(self, skill: Skill) -> None:
        if not skill.uri:
            return
        held = self._newest.get(skill.uri)
        if held is not None and (held.manifest != skill.manifest or held.frontmatter != skill.frontmatter):
            self._before[skill.uri] = held
        self._newest[skill.uri] = skill

    @property
    def skills(self) -> list[Skill]:
        """The listed skills by their newest entries, then those that were opened by URI alone."""
        newest = [self._newest.get(skill.uri, skill) if skill.uri else skill for skill in self.list.entries]
        listed = {skill.uri for skill in self.list.entries}
        return [*newest, *(skill for uri, skill in self._newest.items() if uri not in listed)]

    def skill(self, uri: str) -> Skill | None:
        """Return the newest entry with this URI."""
        return self._newest.get(uri)

    def entry_before(self, skill: Skill) -> Skill | None:
        """Return the entry that the newest one replaced, if the skill has changed since."""
        return self._before.get(skill.uri)

    def named(self, word: str) -> list[Skill]:
        """Return the skills with this URI, directory or name."""
        exact = [skill for skill in self.skills if word in (skill.uri, skill.directory)]
        return exact or [skill for skill in self.skills if skill.name == word]

    def same_name(self, skill: Skill) -> list[Skill]:
        """Other skills of the server with the same name: they are told apart by their URI (C-SKILL-15)."""
        return [other for other in self.skills if other.name == skill.name and other.uri != skill.uri]

    def check(self, skill: Skill, file: SkillFile) -> FileCheck:
        """Return a file and how it compares with the entry; `not-read` before it was read."""
        n = self._reads.get(file.uri, 0)
        if not n or skill.kind == "invalid" or not file.path:
            return FileCheck(file)
        known = self._checks.get(file.uri)
        if known is None or known[0] is not skill or known[1].n != n:
            known = self._checks[file.uri] = (skill, self._checked(skill, file, n))
        return known[1]

    def _checked(self, skill: Skill, file: SkillFile, n: int) -> FileCheck:
        event = self.journal.event(n)
        if event.dropped is not None:
            return FileCheck(file, "unverified", "the recording was full, so it does not have the content", n=n)
        message = self.journal.redactor.restored(event.message)
        members = View(message).members
        if "result" not in members:
            error_text = View(message).object("error").get("message")
            return FileCheck(file, "unreadable", f"the server answered with an error: {str(error_text)[:200]}", n=n)
        check = check_result(skill, file, members["result"], n)
        if check.failed and message is event.message and MARK.search(event.text):
            return FileCheck(file, "unverified", "the recording hides a secret in it", n=n)
        return check

    def checks(self, skill: Skill) -> list[FileCheck]:
        """Return every listed file of a skill, SKILL.md first, and how it compares."""
        first = skill.skill_md
        return [self.check(skill, file) for file in (first, *(file for file in skill.files if file.uri != first.uri))]

    def unlisted(self, skill: Skill, resources: Iterable[Any] = ()) -> list[FoundFile]:
        """Return files in the skill's directory that its entry does not list, sorted by path.

        They come from directories that were read and from `resources`, the objects of `resources/list`.
        """
        root = uris.parse(skill.uri)
        if not isinstance(root, uris.SkillUri) or skill.kind != "static":
            return []
        listed = {file.path for file in skill.files}
        by_path: dict[str, FoundFile] = {}
        for resource in (*resources, *(child for children in self._folders.values() for child in children)):
            path = uris.path_in(root, resource.get("uri"))
            if path and path not in listed and resource.get("mimeType") != FOLDER_TYPE:
                size = resource.get("size")
                by_path[path] = FoundFile(resource["uri"], path, size if type(size) is int else -1)
        return [by_path[path] for path in sorted(by_path)]

    def missing(self, skill: Skill) -> list[SkillFile]:
        """Return listed files that are not in a directory of theirs, which was read."""
        gone = []
        for file in skill.files:
            children = self._folders.get(uris.directory(file.uri))
            if file.path and children is not None and all(child.get("uri") != file.uri for child in children):
                gone.append(file)
        return gone

    def has_walked(self, skill: Skill) -> bool:
        """Whether the skill's directory was read."""
        return skill.directory in self._folders
