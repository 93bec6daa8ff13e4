"""The line of an error in the server's own files: of a traceback of Python or a stack of Node."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import islice
from typing import NamedTuple
from urllib.parse import unquote

_PYTHON = re.compile(r"[\s|]*File \"([^\"<>]{1,400})\", line (\d{1,7})")
_NODE = re.compile(
    r"\s{1,9}at (?:.{0,200} \()?(?:async )?((?:file://)?(?:/|[A-Za-z]:[/\\])[^()]{1,400}?):(\d{1,7}):\d{1,7}\)?$"
)
_STACK = re.compile(r"\s{1,9}at \S")
_FOREIGN = re.compile(
    r"[/\\](?:site-packages|dist-packages|node_modules)[/\\]|[/\\]lib(?:64)?[/\\](?:python|pypy)[\d.]+[/\\]"
    r"|\\Lib\\|\.zip[/\\]"
    r"|[/\\](?:bin|Scripts)[/\\][^/\\.]+$|\.exe[/\\]"
)
"""A package, the library of an interpreter, or the program that a package installs."""
_MOST_LINES = 20
"""Lines of a message before its stack."""


class StackFrame(NamedTuple):
    """A frame: a line of a file, as the server names it."""

    path: str
    number: int

    @property
    def name(self) -> str:
        """The name of the file without its folders."""
        return re.split(r"[/\\]", self.path)[-1]


def own_frame(log: Sequence[str], at: int) -> StackFrame | None:
    """Return the innermost frame in the server's own files, for the error that line `at` of its log names."""
    frames = [*_of_python(log, at), *_of_node(log, at)]
    return next((frame for frame in frames if not _FOREIGN.search(frame.path)), None)


def _of_python(log: Sequence[str], at: int) -> list[StackFrame]:
    """Return the frames of the traceback that a line ends, innermost first."""
    frames: list[StackFrame] = []
    for line in reversed(log[:at]):
        if "Traceback (most" in line:
            return frames
        if not line.startswith((" ", "\t")):
            break
        if match := _PYTHON.match(line):
            frames.append(StackFrame(match[1], int(match[2])))
    return []


def _of_node(log: Sequence[str], at: int) -> list[StackFrame]:
    """Return the frames of the stack after a message, innermost first."""
    start = next((n for n, line in islice(enumerate(log), at + 1, at + _MOST_LINES) if _STACK.match(line)), len(log))
    frames: list[StackFrame] = []
    for line in log[start:]:
        if not _STACK.match(line):
            break
        if match := _NODE.match(line):
            path = match[1]
            if path.startswith("file://"):
                path = re.sub(r"^/(?=[A-Za-z]:)", "", unquote(path.removeprefix("file://")))
            frames.append(StackFrame(path, int(match[2])))
    return frames
