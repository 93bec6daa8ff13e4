"""Finds the source file of a finding: a frame of a traceback, else the script that starts the server.

Only files inside the working directory are named, relative to it. Text of stderr comes from the server: it is matched,
but never opened or executed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from inspector.check.result import Result
from inspector.journal.format import Dir, Kind
from inspector.journal.journal import Journal

MAX_EVENTS = 400
"""Events around a finding in which a traceback is searched."""
MAX_LINES = 200
_PYTHON = re.compile(r'File "([^"\n]{1,400})", line (\d{1,7})')
_OTHERS = re.compile(r"(?<![\w@./\\-])(?:file://)?((?:[A-Za-z]:\\)?[\w@./\\-]{3,300}+):(\d{1,7})")
_FILE = re.compile(r"\.[A-Za-z]{1,5}\Z")
_FOREIGN = frozenset(("site-packages", "dist-packages", "node_modules", ".venv", "venv"))
"""Directories of third-party code."""


class SourceLine(NamedTuple):
    """A line of a file in the working directory."""

    file: str
    """Relative to the working directory, with `/`."""
    line: int = 1


class Sources:
    """The source files of a run's findings."""

    def __init__(self, folder: Path | None = None) -> None:
        self.folder = (folder or Path.cwd()).resolve()
        self.script: SourceLine | None = None
        """The file that the server's command starts."""
        self._places: dict[tuple[int, ...], SourceLine] = {}

    @classmethod
    def of(
        cls, journal: Journal, results: Iterable[Result], command: Sequence[str] = (), folder: Path | None = None
    ) -> Sources:
        """The source files of these results. `command` starts the server if the recording does not contain it."""
        sources = cls(folder)
        sources.script = sources._script(command) or sources._recorded_script(journal)
        for result in results:
            evidence = result.outcome.evidence
            if evidence and result.verdict != "pass" and evidence not in sources._places:
                place = sources._frame(journal, evidence)
                if place is not None:
                    sources._places[evidence] = place
        return sources

    def place(self, result: Result) -> SourceLine | None:
        """The source of the cause of a finding; None if unknown."""
        return self._places.get(result.outcome.evidence) or self.script

    def _recorded_script(self, journal: Journal) -> SourceLine | None:
        for n in range(1, min(journal.index.count, MAX_EVENTS) + 1):
            if journal.index.kind(n) == Kind.LIFE:
                fields = journal.event(n).fields
                argv = fields.get("argv")
                if fields.get("event") == "spawn" and type(argv) is list:
                    return self._script([str(word) for word in argv], str(fields.get("cwd") or ""))
        return None

    def _script(self, words: Sequence[str], cwd: str = "") -> SourceLine | None:
        """The first word of a command that is a file here; `-m package` is its module."""
        for at, word in enumerate(words):
            if at and words[at - 1] == "-m":
                path = word.replace(".", "/")
                script = self._place(f"{path}.py", 1, cwd) or self._place(f"{path}/__main__.py", 1, cwd)
            else:
                script = self._place(word, 1, cwd) if at or "/" in word else None
            if script is not None:
                return script
        return None

    def _place(self, file: str, line: int, cwd: str = "") -> SourceLine | None:
        try:
            whole = (self.folder / cwd / file).resolve()
            inside = whole.relative_to(self.folder)
            if not whole.is_file() or _FOREIGN & set(inside.parts):
                return None
        except (OSError, ValueError, RuntimeError):
            return None
        return SourceLine(inside.as_posix(), max(line, 1))

    def _frame(self, journal: Journal, evidence: tuple[int, ...]) -> SourceLine | None:
        """The frame in the working directory of a traceback between a request of the evidence and the next one."""
        index = journal.index
        known = [n for n in evidence if 1 <= n <= index.count]
        if not known:
            return None
        first = min(index.request_of(n) or n for n in known)
        lines: list[str] = []
        for n in range(first, min(index.count, first + MAX_EVENTS) + 1):
            if n > max(known) and index.kind(n) == Kind.RPC and index.dir(n) == Dir.SEND:
                break
            if index.kind(n) == Kind.STDERR and len(lines) < MAX_LINES:
                lines.append(journal.event(n).text[:1000])
        # Python names the innermost frame last, other languages first.
        frames = [match for line in reversed(lines) for match in _PYTHON.findall(line)]
        frames += [match for line in lines for match in _OTHERS.findall(line) if _FILE.search(match[0])]
        places = (self._place(file, int(number)) for file, number in frames)
        return next((place for place in places if place is not None), None)
