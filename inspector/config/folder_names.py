"""Hides the names of users in paths, and the places of known folders.

The user's home folder becomes `~`, that of another user `/home/…`, another known folder `…/` and its last name.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path, PurePath, PureWindowsPath

_OTHER_HOME = r"(?P<folder>(?:/(?:var|export|private))?/home/|(?:/mnt)?(?:/[a-z])?/Users/|[A-Za-z]:[\\/]+Users[\\/]+)"
_USER = r"(?!(?:Shared|Public|runner|Default)\b)[^/\\\s:;,\"'`<>|*?&)\]]+"


class FolderNames:
    """Hides the home folders of all users, and `known` folders, in texts."""

    def __init__(self, known: Iterable[str] = (), home: str | None = None) -> None:
        home = str(Path.home()) if home is None else home
        others = {folder for folder in known if _depth(folder) > 1 and not re.match(_OTHER_HOME, folder)}
        in_order = [*([home] if _depth(home) > 0 else ()), *sorted(others - {home}, key=len, reverse=True)]
        literals = (f"(?P<home>{_literal(path)})" if path == home else _literal(path) for path in in_order)
        literal = "".join(rf"{literal}(?![\w~-]|\.\w)|" for literal in literals)
        # Not in the path of a URL with a host.
        self._pattern = re.compile(rf"(?<![\w.~%-])(?:{literal}{_OTHER_HOME}{_USER})")
        # Parts without a backslash, because JSON doubles it.
        parts = (max(folder.lower().split("\\"), key=len) for folder in in_order)
        self.hints = ("/home", "users", *parts)
        """In lower case: a text without any of these has none of the folders."""

    def places(self, text: str) -> Iterator[tuple[int, int, str]]:
        """Yield start, end and replacement of each folder in a text."""
        for match in self._pattern.finditer(text):
            yield *match.span(), self._replacement(match)

    def hidden(self, text: str) -> str:
        """Return the text without them."""
        return self._pattern.sub(self._replacement, text)

    def _replacement(self, match: re.Match[str]) -> str:
        if match.lastgroup == "folder":
            return f"{match['folder']}…"
        return "~" if match.lastgroup == "home" else f"…/{_path(match[0]).name}"


def _literal(folder: str) -> str:
    """Return the expression for a folder; one of Windows has either separator, or an escaped one, and any case."""
    if "\\" not in folder:
        return re.escape(folder)
    return "(?i:" + r"[\\/]+".join(map(re.escape, folder.split("\\"))) + ")"


def _path(folder: str) -> PurePath:
    return PureWindowsPath(folder) if "\\" in folder else PurePath(folder)


def _depth(folder: str) -> int:
    """Return how many names a path has."""
    return len(_path(folder).parts) - 1
