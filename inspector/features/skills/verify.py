"""The front matter of a SKILL.md: the YAML mapping between its fences, as JSON values.

It is read as YAML 1.2 with the core schema: `no` and `2026-01-01` are texts. Tags, anchors and duplicate keys are
errors, so that a file has one meaning. Source: Agent Skills specification; ext-skills, "Frontmatter"; YAML 1.2.2,
section 10.3.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import re
from dataclasses import dataclass, field
from typing import Any, Literal

from inspector.features.skills import uris
from inspector.features.skills.entries import Skill, SkillFile
from inspector.protocol.jsonrpc import excerpt

MAX_LENGTH = 1 << 20
"""Bytes of front matter that are read."""
MAX_VALUES = 20_000
SHOWN_DIFFERENCES = 50

_BOM = b"\xef\xbb\xbf"


class FrontMatterError(Exception):
    """A SKILL.md has no front matter that can be read; the text says why."""


@dataclass(frozen=True, slots=True)
class FrontMatter:
    """The front matter of a SKILL.md, and the Markdown after it."""

    values: dict[str, Any]
    body: str
    note: str = ""
    """What is unusual, but allowed: a byte order mark."""


def read_front_matter(data: bytes) -> FrontMatter:
    """Return the front matter of a SKILL.md. Raises `FrontMatterError`."""
    note = ""
    if data.startswith(_BOM):
        data, note = data[len(_BOM) :], "it begins with a byte order mark"
    fence = re.match(rb"---[ \t]*\r?\n", data)
    if fence is None:
        raise FrontMatterError("it does not begin with a line of three hyphens (---)")
    end = re.search(rb"(?:^|\n)---[ \t]*(?:\r?\n|\Z)", data[fence.end() : fence.end() + MAX_LENGTH + 8])
    if end is None:
        longer = len(data) > fence.end() + MAX_LENGTH
        raise FrontMatterError(
            f"its front matter is longer than {MAX_LENGTH:,} bytes" if longer else "its front matter does not end (---)"
        )
    inner = data[fence.end() : fence.end() + end.start() + (1 if end.group().startswith(b"\n") else 0)]
    try:
        text = inner.decode()
    except UnicodeDecodeError:
        raise FrontMatterError("its front matter is not UTF-8") from None
    body = data[fence.end() + end.end() :].decode("utf-8", "replace")
    return FrontMatter(_mapping(text), body, note)


def differences(entry: Any, actual: Any) -> list[str]:
    """Return where the front matter of an entry differs from that of the file, as JSON pointers with both values.

    Values are compared as JSON: the order of keys is free, that of lists is not, and no type is converted.
    """
    places: list[str] = []
    _compare(entry, actual, "", places)
    return places[:SHOWN_DIFFERENCES]


def _compare(entry: Any, actual: Any, place: str, places: list[str]) -> None:
    from inspector.protocol.jsonrpc import excerpt

    if len(places) >= SHOWN_DIFFERENCES:
        return
    if type(entry) is dict and type(actual) is dict:
        for key in [*entry, *(key for key in actual if key not in entry)]:
            at = f"{place}/{key[:100]}"
            if key not in actual:
                places.append(f"{at} is only in the list: {excerpt(entry[key], 60)}")
            elif key not in entry:
                places.append(f"{at} is only in the file: {excerpt(actual[key], 60)}")
            else:
                _compare(entry[key], actual[key], at, places)
    elif type(entry) is list and type(actual) is list and len(entry) == len(actual):
        for index, (one, other) in enumerate(zip(entry, actual, strict=True)):
            _compare(one, other, f"{place}/{index}", places)
    elif not _same(entry, actual):
        places.append(f"{place or '/'} is {excerpt(entry, 60)} in the list and {excerpt(actual, 60)} in the file")


def _same(entry: Any, actual: Any) -> bool:
    number = (int, float)
    if type(entry) in number and type(actual) in number:
        return bool(entry == actual)
    return type(entry) is type(actual) and bool(entry == actual)


def _mapping(text: str) -> dict[str, Any]:
    from inspector.documents import DocumentError, read_yaml

    try:
        value = read_yaml(text, values=MAX_VALUES)
    except DocumentError as error:
        # The first line of the file is the fence.
        line = f" (line {error.line + 1})" if error.line else ""
        raise FrontMatterError(f"its front matter {error.problem}{line}") from None
    if type(value) is not dict:
        raise FrontMatterError("its front matter is not a mapping")
    return value


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
    parsed = uris.parse(uri)
    block = next((item for item in contents if type(item) is dict and item.get("uri") == uri), None)
    if block is None:
        block = next((item for item in contents if type(item) is dict and uris.parse(item.get("uri")) == parsed), None)
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
    differing = differences(skill.frontmatter, front.values)
    if differing:
        more = f"; {len(differing) - 3} more" if len(differing) > 3 else ""
        return FileCheck(file, "frontmatter", "; ".join(differing[:3]) + more, size, digest, n, data, front)
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
