"""URIs of skills: the directory of a skill, what lies in it, and paths to save it under.

The first segment of a skill's URI is an authority without meaning: it is compared, never resolved (C-SKILL-09). Source:
ext-skills, "URIs", "Resource mapping".
"""

from __future__ import annotations

import re
from typing import NamedTuple
from urllib.parse import unquote_to_bytes

SKILL_MD = "SKILL.md"
MAX_LENGTH = 4096
"""Characters of a URI that is read."""

_URI = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://([^/?#]*)(/[^?#]*)?")
_REG_NAME = re.compile(r"(?:[A-Za-z0-9._~!$&'()*+,;=:@\[\]-]|%[0-9A-Fa-f]{2})*")
_SEGMENT = re.compile(r"(?:[A-Za-z0-9._~!$&'()*+,;=:@-]|%[0-9A-Fa-f]{2})+")
_RESERVED = re.compile(r"(?i)(?:con|prn|aux|nul|com[0-9]|lpt[0-9])(?:\..*)?")
_PLAIN = re.compile(rb"[A-Za-z0-9 _.~()+,=@-]")


class SkillUri(NamedTuple):
    """A hierarchical URI without query and fragment: its scheme, its authority and its decoded path segments."""

    scheme: str
    authority: str
    segments: tuple[str, ...]


def parse(uri: object) -> SkillUri | str:
    """Return the parts of a URI, or why it cannot name a file of a skill."""
    if not isinstance(uri, str) or not uri:
        return "is not a URI"
    if len(uri) > MAX_LENGTH:
        return f"is longer than {MAX_LENGTH:,} characters"
    if any(ord(char) < 0x20 or ord(char) == 0x7F for char in uri):
        return "has control characters"
    match = _URI.fullmatch(uri)
    if match is None:
        return "has a query or a fragment" if re.search(r"[?#]", uri) else "is not of the form scheme://path"
    path = (match[3] or "").split("/")[1:]
    segments = []
    for segment in path:
        decoded = decode(segment)
        if decoded in (".", ".."):
            return f"has the segment {decoded}"
        if re.search(r"(?i)%(?:2f|5c|00)", segment) or "\\" in segment:
            return "has an encoded separator"
        if decoded is None:
            return "is not valid percent-encoding of UTF-8"
        segments.append(decoded)
    return SkillUri(match[1].lower(), match[2], tuple(segments))


def decode(segment: str) -> str | None:
    """Return a segment with its percent-encoding decoded once; None if that is not UTF-8."""
    if re.search(r"%(?![0-9A-Fa-f]{2})", segment):
        return None
    try:
        return unquote_to_bytes(segment).decode()
    except (UnicodeDecodeError, UnicodeEncodeError):
        return None


def is_skill_uri(uri: object) -> bool:
    """Whether a URI is absolute and ends in `/SKILL.md`."""
    parsed = parse(uri)
    return isinstance(parsed, SkillUri) and (parsed.segments[-1:] == (SKILL_MD,))


def directory(uri: str) -> str:
    """Return the URI of the directory of a file, without a trailing slash."""
    return uri.rpartition("/")[0]


def path_in(root: SkillUri, uri: object) -> str | None:
    """Return the path of a URI in the directory of the SKILL.md `root`; None if it lies outside."""
    parsed = parse(uri)
    if isinstance(parsed, str) or (parsed.scheme, parsed.authority) != (root.scheme, root.authority):
        return None
    inside = root.segments[:-1]
    rest = parsed.segments[len(inside) :]
    if parsed.segments[: len(inside)] != inside or not rest or not all(rest):
        return None
    return "/".join(rest)


def odd_segments(uri: str) -> str:
    """Return what is odd about the authority or a segment (RFC 3986, reg-name and segment); empty if nothing is."""
    match = _URI.fullmatch(uri)
    if match is None:
        return ""
    if not _REG_NAME.fullmatch(match[2]):
        return f"the authority {match[2][:80]!r} is not a registered name"
    odd = next((segment for segment in (match[3] or "").split("/")[1:] if not _SEGMENT.fullmatch(segment)), None)
    return "" if odd is None else f"the segment {odd[:80]!r} is not a valid path segment"


def folder_name(text: str) -> str:
    """Return a name of a file or folder for a text, from which the text is recoverable (C-SKILL-14).

    Bytes other than plain ones are percent-encoded, and so are the first character of a reserved name, of a name that
    begins with a dot, and a dot or space at its end. An empty text is `%`.
    """
    data = text.encode("utf-8", "surrogatepass")
    if not data:
        return "%"
    parts = [chr(byte) if _PLAIN.fullmatch(bytes((byte,))) else f"%{byte:02X}" for byte in data]
    if parts[0] == "." or parts[0] == " " or _RESERVED.fullmatch(text):
        parts[0] = f"%{data[0]:02X}"
    if len(parts) > 1 and parts[-1] in (".", " "):
        parts[-1] = f"%{data[-1]:02X}"
    return "".join(parts)


def folder_text(name: str) -> str:
    """Return the text that `folder_name` turned into this name."""
    return "" if name == "%" else unquote_to_bytes(name).decode("utf-8", "surrogatepass")


def folder_path(uri: SkillUri) -> tuple[str, ...]:
    """Return the names of the folders and the file to save a URI under: its scheme, authority and segments."""
    return tuple(folder_name(part) for part in (uri.scheme, uri.authority, *uri.segments))
