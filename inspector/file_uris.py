"""`file:` URIs of paths, and paths of `file:` URIs, for both families of systems (RFC 8089, with its appendix E.2)."""

from __future__ import annotations

import ntpath
import re
from urllib.parse import quote_from_bytes, unquote_to_bytes

from inspector.command_words import FAMILY, Family
from inspector.lazy_pattern import lazy_pattern

_FILE_URI = lazy_pattern(r"file:(?://([^/?#\\]*))?([^?#]*)", re.IGNORECASE)
_DRIVE = lazy_pattern(r"/?([A-Za-z])[:|](?=[/\\]|\Z)")
_SAFE_ON_WINDOWS = "/:!$&'()*+,;=@~"


def to_uri(path: str, family: Family = FAMILY) -> str:
    """Return the URI of an absolute path. Raises ValueError for a relative one, UnicodeEncodeError for one that is not
    text."""
    if family == "posix":
        if not path.startswith("/"):
            raise ValueError("a relative path has no URI")
        return f"file://{quote_from_bytes(path.encode('utf-8', 'surrogateescape'))}"
    # The prefix that turns the limit of 260 characters off belongs to the path's form, not to its place.
    path = re.sub(r"^\\\\[?.]\\(?:(?P<unc>UNC)\\)?", lambda match: r"\\" if match["unc"] else "", path)
    drive, rest = ntpath.splitdrive(path.replace("/", "\\"))
    if not drive or (not rest.startswith("\\") and rest):
        raise ValueError("a relative path has no URI")
    written = quote_from_bytes(f"{drive}{rest or chr(92)}".replace("\\", "/").encode(), safe=_SAFE_ON_WINDOWS)
    return f"file:{written}" if written.startswith("//") else f"file:///{written}"


def to_path(uri: str, family: Family = FAMILY) -> str | None:
    """Return the path of a `file:` URI; None for another URI, and for one that names no absolute path there."""
    match = _FILE_URI.fullmatch(uri)
    if match is None:
        return None
    host, path = match[1] or "", match[2]
    if host.casefold() == "localhost":
        host = ""
    octets = unquote_to_bytes(path)
    if b"\0" in octets:
        return None
    if family == "posix":
        return octets.decode("utf-8", "surrogateescape") if not host and path.startswith("/") else None
    # Some programs write file://C:/x, or keep the backslashes.
    text = octets.decode("utf-8", "replace")
    drive = _DRIVE.match(f"/{host}{text}" if _DRIVE.fullmatch(host) else text)
    if drive and (not host or _DRIVE.fullmatch(host)):
        rest = text if host else text[drive.end() :]
        return f"{drive[1]}:{rest.replace('/', chr(92)) or chr(92)}"
    share = f"//{host}{text}" if host else text
    return share.replace("/", "\\") if re.match(r"[/\\]{2}[^/\\]+[/\\]+[^/\\]", share) else None
