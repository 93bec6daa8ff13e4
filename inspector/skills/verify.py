"""Verification of a file against the entry of its skill: size first, then SHA-256, then the front matter.

A match says only that the file is what the server itself lists; it is not a statement about trust (C-SKILL-24). Source:
ext-skills specification, "Verification", "Frontmatter verification".
"""

from __future__ import annotations

import base64
import binascii
import hashlib
from dataclasses import dataclass, field
from typing import Any, Literal

from inspector.protocol.jsonrpc import excerpt
from inspector.skills import uris
from inspector.skills.entries import Skill, SkillFile
from inspector.skills.frontmatter import FrontMatter, FrontMatterError, differences, read_front_matter

FileVerdict = Literal["matches", "size", "digest", "frontmatter", "unreadable", "unlisted", "not-read", "unverified"]
"""How a file compares with the entry. `unverified`: a dynamic skill lists no digest, or a secret is hidden."""

WORDS: dict[FileVerdict, str] = {
    "matches": "matches the server's own list",
    "size": "size differs",
    "digest": "digest differs",
    "frontmatter": "front matter differs",
    "unreadable": "cannot be read",
    "unlisted": "not listed",
    "not-read": "not read",
    "unverified": "not verified",
}
FAILED: frozenset[FileVerdict] = frozenset(("size", "digest", "frontmatter", "unreadable", "unlisted"))


class NotReadable(Exception):
    """The result of `resources/read` has no content for the URI; the text says why."""


@dataclass(frozen=True, slots=True, eq=False)
class FileCheck:
    """A file of a skill, and how what was read compares with the entry."""

    file: SkillFile
    outcome: FileVerdict = "not-read"
    detail: str = ""
    size: int = -1
    """Bytes that were read; -1 before."""
    digest: str = ""
    """The SHA-256 of what was read; empty if the size already differs."""
    n: int = 0
    """The number of the message with the content; 0 without one."""
    data: bytes = field(default=b"", repr=False)
    """The content. After a failure it must not be used."""
    front_matter: FrontMatter | None = field(default=None, repr=False)
    """Of a SKILL.md: its front matter, if it can be read."""

    @property
    def failed(self) -> bool:
        """Whether the content must not be used."""
        return self.outcome in FAILED

    @property
    def has_content(self) -> bool:
        """Whether `data` is the content; it is not if nothing was read, or the recording has no more of it."""
        return bool(self.data) or self.size == 0

    @property
    def words(self) -> str:
        """The outcome in a few words."""
        return WORDS[self.outcome]

    def as_json(self) -> dict[str, Any]:
        """Return what `inspector skills --json` prints."""
        row: dict[str, Any] = {"uri": self.file.uri, "path": self.file.path, "outcome": self.outcome}
        row |= {"size": self.file.size if self.file.size >= 0 else None, "digest": self.file.digest or None}
        if self.size >= 0:
            row["found"] = {"size": self.size, "digest": self.digest or None}
        return row | ({"detail": self.detail} if self.detail else {})


def content_of(result: Any, uri: str) -> bytes:
    """Return the bytes that a result of `resources/read` has for a URI. Raises `NotReadable` (C-SKILL-32)."""
    contents = result.get("contents") if type(result) is dict else None
    if type(contents) is not list:
        raise NotReadable("the result has no contents")
    wanted = uris.parse(uri)
    block = next((each for each in contents if type(each) is dict and each.get("uri") == uri), None)
    if block is None:
        block = next((each for each in contents if type(each) is dict and uris.parse(each.get("uri")) == wanted), None)
    if block is None:
        raise NotReadable(f"none of the {len(contents)} contents has the URI that was asked for")
    text, blob = block.get("text"), block.get("blob")
    if (type(text) is str) == (type(blob) is str):
        raise NotReadable(f"the content has {'both text and' if isinstance(text, str) else 'neither text nor'} blob")
    if isinstance(text, str):
        try:
            return text.encode()
        except UnicodeEncodeError:
            raise NotReadable("the text has characters that UTF-8 does not have") from None
    try:
        return base64.b64decode(str(blob), validate=True)
    except (binascii.Error, ValueError):
        raise NotReadable("the blob is not base64") from None


def verify(skill: Skill, file: SkillFile, data: bytes, n: int = 0) -> FileCheck:
    """Compare what was read with the entry; `n` is the number of the message."""
    size = len(data)
    if file.size >= 0 and size != file.size:
        return FileCheck(file, "size", f"{size:,} bytes instead of {file.size:,}", size, "", n, data)
    digest = f"sha256:{hashlib.sha256(data).hexdigest()}"
    if file.size >= 0 and file.digest and digest != file.digest:
        return FileCheck(file, "digest", "", size, digest, n, data)
    if file.size >= 0 and not file.digest:
        return FileCheck(file, "digest", "the entry has no valid digest", size, digest, n, data)
    if file.uri != skill.uri:
        return FileCheck(file, "matches" if file.digest else "unverified", "", size, digest, n, data)
    try:
        front = read_front_matter(data)
    except FrontMatterError as error:
        return FileCheck(file, "frontmatter", str(error), size, digest, n, data)
    found = differences(skill.frontmatter, front.values)
    if found:
        more = f"; {len(found) - 3} more" if len(found) > 3 else ""
        return FileCheck(file, "frontmatter", "; ".join(found[:3]) + more, size, digest, n, data, front)
    if not file.digest:
        detail = "the skill is dynamic: the server offers no digests; its front matter matches"
        return FileCheck(file, "unverified", detail, size, digest, n, data, front)
    return FileCheck(file, "matches", front.note, size, digest, n, data, front)


def check_result(skill: Skill, file: SkillFile, result: Any, n: int = 0) -> FileCheck:
    """Compare a result of `resources/read` with the entry."""
    try:
        data = content_of(result, file.uri)
    except NotReadable as problem:
        return FileCheck(file, "unreadable", str(problem), n=n)
    return verify(skill, file, data, n)


def short_digest(digest: str) -> str:
    """Return a digest in groups of four digits, for a person who compares."""
    digits = digest.removeprefix("sha256:")
    return " ".join(digits[at : at + 4] for at in range(0, len(digits), 4)) or excerpt(digest, 20)
