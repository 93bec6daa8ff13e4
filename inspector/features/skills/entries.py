"""Entries of `skills/list` and `skills/get`: what a server says about a skill, read without reading any file.

Source: ext-skills specification (SEP-2640), "Skill entries", "Limits"; Agent Skills specification for the fields.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from inspector.features.skills import uris
from inspector.protocol.jsonrpc import excerpt

MAX_FILES = 512
MAX_BYTES = 16 << 20
"""What a client must support: files of one skill, and the sum of their sizes."""
MAX_READ = 4096
"""Files of an entry that are looked at; a skill with so many is too large to be read."""
MAX_NAME, MAX_DESCRIPTION, MAX_COMPATIBILITY = 64, 1024, 500
DYNAMIC = "dynamic"
RESERVED = "io.modelcontextprotocol/"

SkillKind = Literal["static", "dynamic", "invalid"]
SkillLevel = Literal["must", "should", "info"]

_DIGEST = re.compile(r"sha256:[0-9a-f]{64}")
_NAME = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
_FIELDS = ("name", "description", "license", "compatibility", "metadata", "allowed-tools")
_ASKS = ("allowed-tools", "hooks", "compatibility")
"""Fields with which a skill asks its host for something."""


@dataclass(frozen=True, slots=True)
class EntryProblem:
    """A broken rule of an entry. `check` is the rule's number (SKILL-…); `text` is the end of a sentence."""

    check: str
    text: str
    level: SkillLevel = "must"


@dataclass(frozen=True, slots=True)
class SkillFile:
    """A file of a skill as its entry lists it. `path` is relative to the skill's directory; empty for one outside."""

    uri: str
    path: str
    digest: str
    size: int


@dataclass(frozen=True, slots=True, eq=False)
class Skill:
    """One skill of a server. Identity is the pair of the server's label and `uri` (C-SKILL-13)."""

    raw: Any
    uri: str = ""
    frontmatter: Mapping[str, Any] = field(default_factory=dict)
    kind: SkillKind = "invalid"
    files: tuple[SkillFile, ...] = ()
    problems: tuple[EntryProblem, ...] = ()
    count: int = 0
    """The number of files that the entry lists. `files` has at most `MAX_READ` of them."""

    @property
    def name(self) -> str:
        """Its name; else the last segment of its directory. Untrusted."""
        name = self.frontmatter.get("name")
        return name if isinstance(name, str) and name else uris.directory(self.uri).rpartition("/")[2]

    @property
    def description(self) -> str:
        """Its description. Untrusted."""
        text = self.frontmatter.get("description")
        return text if isinstance(text, str) else ""

    @property
    def version(self) -> str:
        """The version that its front matter gives, in `version` or `metadata`; not a field of the specification."""
        metadata = self.frontmatter.get("metadata")
        for place in (self.frontmatter, metadata if isinstance(metadata, dict) else {}):
            value = place.get("version")
            if isinstance(value, str | int | float) and not isinstance(value, bool):
                return str(value)
        return ""

    @property
    def directory(self) -> str:
        """The URI of its directory."""
        return uris.directory(self.uri)

    @property
    def size(self) -> int:
        """The sum of the sizes that the entry lists, in bytes."""
        return sum(file.size for file in self.files)

    @property
    def skill_md(self) -> SkillFile:
        """Its SKILL.md; of a dynamic skill without digest and size."""
        listed = next((file for file in self.files if file.uri == self.uri), None)
        return listed or SkillFile(self.uri, uris.SKILL_MD, "", -1)

    @property
    def over_limit(self) -> str:
        """Why the skill is larger than a client must support; empty if it is not (C-SKILL-11)."""
        if self.count > MAX_FILES:
            return f"it lists {self.count:,} files, more than {MAX_FILES}"
        if self.size > MAX_BYTES:
            return f"its files have {self.size:,} bytes, more than {MAX_BYTES:,}"
        return ""

    @property
    def why_invalid(self) -> str:
        """Why it cannot be opened; empty for a valid entry."""
        return self.problems[0].text if self.kind == "invalid" and self.problems else ""

    @property
    def asks(self) -> list[tuple[str, Any]]:
        """The fields with which it asks for tools, hooks or a surrounding. They are shown, never obeyed."""
        return [(key, self.frontmatter[key]) for key in _ASKS if key in self.frontmatter]

    @property
    def manifest(self) -> frozenset[tuple[str, str]]:
        """The set of (uri, digest) that an approval would hold."""
        return frozenset((file.uri, file.digest) for file in self.files)

    def file(self, uri_or_path: str) -> SkillFile | None:
        """Return the listed file with this URI or path."""
        return next((file for file in self.files if uri_or_path in (file.uri, file.path)), None)

    @property
    def nested(self) -> list[SkillFile]:
        """Other SKILL.md files in it: each is a skill of its own (C-SKILL-26)."""
        return [file for file in self.files if file.uri != self.uri and file.path.endswith(f"/{uris.SKILL_MD}")]


def read_entry(raw: Any) -> Skill:
    """Return a skill from an entry of a server, valid or not; `problems` has its broken rules (SKILL-07 …)."""
    if type(raw) is not dict:
        return Skill(raw, problems=(EntryProblem("SKILL-07", f"the entry is {excerpt(raw, 40)}, not an object"),))
    problems: list[EntryProblem] = []
    uri = raw.get("uri")
    root = uris.parse(uri)
    if isinstance(root, str):
        problems.append(EntryProblem("SKILL-07", f"its uri {root}: {excerpt(uri, 80)}"))
    elif root.segments[-1:] != (uris.SKILL_MD,):
        problems.append(EntryProblem("SKILL-07", f"its uri does not end in /SKILL.md: {excerpt(uri, 80)}"))
    front = raw.get("frontmatter")
    if type(front) is not dict:
        problems.append(EntryProblem("SKILL-08", f"its frontmatter is {excerpt(front, 40)}, not an object"))
    resources = raw.get("resources")
    listed = type(resources) is list
    if not listed and resources != DYNAMIC:
        what = excerpt(resources, 40) if "resources" in raw else "missing"
        problems.append(EntryProblem("SKILL-12", f"its resources are {what}, neither a list nor “{DYNAMIC}”"))
    kind: SkillKind = "invalid" if problems else "static" if listed else "dynamic"
    fields = front if type(front) is dict else {}
    name = uri if isinstance(uri, str) else ""
    files: tuple[SkillFile, ...] = ()
    count = 0
    if isinstance(root, uris.SkillUri):
        problems += _field_problems(root, fields)
        if type(resources) is list:
            count = len(resources)
            listed_files = list(_files(root, resources[:MAX_READ]))
            files = tuple(file for file, _ in listed_files if file is not None)
            problems += [problem for _, file_problems in listed_files for problem in file_problems]
            problems += _manifest_problems(name, files) if count <= MAX_READ else ()
    skill = Skill(raw, name, fields, kind, files, tuple(problems), count)
    if skill.over_limit:
        return replace(skill, problems=(*problems, EntryProblem("SKILL-17", skill.over_limit, "should")))
    return skill


def _files(root: uris.SkillUri, resources: list[Any]) -> Iterator[tuple[SkillFile | None, list[EntryProblem]]]:
    """Yield each listed file with its problems; None for what is not a file."""
    for resource in resources:
        if type(resource) is not dict or not isinstance(resource.get("uri"), str):
            yield None, [EntryProblem("SKILL-14", f"a resource is {excerpt(resource, 60)}, not an object with a uri")]
            continue
        uri, digest, size = resource["uri"], resource.get("digest"), resource.get("size")
        problems = []
        path = uris.path_in(root, uri)
        if path is None:
            problems.append(EntryProblem("SKILL-14", f"{excerpt(uri, 80)} is not in the skill's directory"))
        if not isinstance(digest, str) or not _DIGEST.fullmatch(digest):
            text = f"the digest of {excerpt(uri, 80)} is {excerpt(digest, 80)}, not sha256: and 64 lowercase digits"
            problems.append(EntryProblem("SKILL-15", text))
            digest = ""
        if type(size) is not int or size < 0:
            text = f"the size of {excerpt(uri, 80)} is {excerpt(size, 40)}, not a whole number of 0 or more"
            problems.append(EntryProblem("SKILL-16", text))
            size = 0
        yield SkillFile(uri, path or "", digest, size), problems


def _manifest_problems(uri: str, files: tuple[SkillFile, ...]) -> Iterator[EntryProblem]:
    seen: set[str] = set()
    for file in files:
        if file.uri in seen:
            yield EntryProblem("SKILL-13", f"its resources list {excerpt(file.uri, 80)} twice")
        seen.add(file.uri)
    if uri not in seen:
        yield EntryProblem("SKILL-13", "its resources do not list its own SKILL.md")


def _field_problems(root: uris.SkillUri, fields: Mapping[str, Any]) -> Iterator[EntryProblem]:
    """Yield the broken rules of the front matter's fields."""
    for key in ("name", "description"):
        if not isinstance(fields.get(key), str):
            yield EntryProblem("SKILL-08", f"its frontmatter has no text {key}")
    name = fields.get("name")
    if isinstance(name, str):
        if root.segments[-1:] == (uris.SKILL_MD,) and (root.authority, *root.segments)[-2] != name:
            segment = (root.authority, *root.segments)[-2]
            yield EntryProblem("SKILL-09", f"its directory is {excerpt(segment, 80)}, its name {excerpt(name, 80)}")
        if not _NAME.fullmatch(name) or len(name) > MAX_NAME:
            text = f"its name {excerpt(name, 80)} is not 1 to {MAX_NAME} of a-z, 0-9 and single inner hyphens"
            yield EntryProblem("SKILL-10", text, "should" if _is_wide_name(name) else "must")
    yield from _text_problems(fields)
    metadata = fields.get("metadata")
    if metadata is not None and (
        type(metadata) is not dict or not all(isinstance(value, str) for value in metadata.values())
    ):
        yield EntryProblem("SKILL-11", f"its metadata is {excerpt(metadata, 60)}, not an object of texts")
    for key in metadata if type(metadata) is dict else ():
        if key.startswith(RESERVED):
            yield EntryProblem("SKILL-33", f"its metadata has the reserved key {excerpt(key, 80)}", "should")


def _text_problems(fields: Mapping[str, Any]) -> Iterator[EntryProblem]:
    for key, limit in (("description", MAX_DESCRIPTION), ("compatibility", MAX_COMPATIBILITY)):
        value = fields.get(key)
        if isinstance(value, str) and not 1 <= len(value) <= limit:
            yield EntryProblem("SKILL-11", f"its {key} has {len(value):,} characters, not 1 to {limit:,}")
    for key in ("license", "compatibility"):
        if key in fields and not isinstance(fields[key], str):
            yield EntryProblem("SKILL-11", f"its {key} is {excerpt(fields[key], 40)}, not a text")
    tools = fields.get("allowed-tools")
    if tools is not None and not isinstance(tools, str):
        level: SkillLevel = "should" if type(tools) is list else "must"
        yield EntryProblem("SKILL-11", f"its allowed-tools is {excerpt(tools, 60)}, not a text", level)


def _is_wide_name(name: str) -> bool:
    """Whether a name keeps the rules except that it has lowercase letters beyond a-z (A1)."""
    folded = "".join("a" if char.isalpha() and char == char.lower() else char for char in name)
    return len(name) <= MAX_NAME and _NAME.fullmatch(folded) is not None and folded != name and not name.isascii()
