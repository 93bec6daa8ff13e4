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
        self._shown = {home: "~"} if _depth(home) > 0 else {}
        for folder in known:
            if _depth(folder) > 1 and not f"{folder}/".startswith(f"{home}/") and not re.match(_OTHER_HOME, folder):
                self._shown[folder] = f"…/{_path(folder).name}"
        longest_first = sorted(self._shown, key=len, reverse=True)
        literal = "".join(rf"{re.escape(folder)}(?![\w~-]|\.\w)|" for folder in longest_first)
        # Not in the path of a URL with a host.
        self._pattern = re.compile(rf"(?<![\w.~%-])(?:{literal}{_OTHER_HOME}{_USER})")
        self.hints = ("/home", "users", *(folder.lower() for folder in longest_first))
        """In lower case: a text without any of these has none of the folders."""

    def places(self, text: str) -> Iterator[tuple[int, int, str]]:
        """Yield start, end and replacement of each folder in a text."""
        for found in self._pattern.finditer(text):
            yield *found.span(), self._replacement(found)

    def hidden(self, text: str) -> str:
        """Return the text without them."""
        return self._pattern.sub(self._replacement, text)

    def _replacement(self, found: re.Match[str]) -> str:
        return f"{found['folder']}…" if found["folder"] else self._shown[found[0]]


def _path(folder: str) -> PurePath:
    return PureWindowsPath(folder) if "\\" in folder else PurePath(folder)


def _depth(folder: str) -> int:
    """Return how many names a path has."""
    return len(_path(folder).parts) - 1
