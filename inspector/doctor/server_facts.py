"""Facts about a server that failed: how it was started, where, and what it wrote."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping, Sequence
from functools import partial
from typing import NamedTuple

from inspector.config.command_lines import CommandLine
from inspector.config.targets import StdioTarget
from inspector.doctor.diagnosis import NO_FIX, Fix, Weight
from inspector.hints import Hint
from inspector.transports.child import environment_of
from inspector.transports.withheld import is_withheld

_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=")


def started_with(text: str, words: Sequence[str], target: StdioTarget, line: CommandLine) -> Fix:
    """Return a fix that starts the target with other words: a command line, or its config entry."""
    if not target.name:
        return Fix(text, str(line.on_command(words)))
    program, *arguments = map(partial(json.dumps, ensure_ascii=False), words)
    return Fix(Hint(text).then(f'In the config entry: "command": {program}, "args": [{", ".join(arguments)}]'))


class StderrCause(NamedTuple):
    """The cause in stderr, in a sentence, with its fix."""

    cause: str
    fix: Fix = NO_FIX
    weight: Weight = Weight.PROOF
    is_place: bool = False
    """The fix only says where the error is."""


class ServerFacts(NamedTuple):
    """A server that failed."""

    target: StdioTarget
    folder: str
    environ: Mapping[str, str]
    """Our own environment; the server receives only a small part of it."""
    line: CommandLine = CommandLine()
    log: Sequence[str] = ()
    """Its last lines on stderr."""

    @property
    def words(self) -> tuple[str, ...]:
        """The command without `env` and what it sets."""
        words = self.target.command
        if os.path.basename(words[0]) == "env":
            kept = [at for at, word in enumerate(words[1:], 1) if not _ASSIGNMENT.match(word) and word[:1] != "-"]
            words = words[kept[0] :] if kept else words
        return words

    @property
    def program(self) -> str:
        """The name of the program that is started."""
        return os.path.basename(self.words[0]).removesuffix(".exe").removesuffix(".cmd")

    def in_folder(self, path: str) -> str:
        """Return the path of a file that the server names."""
        return os.path.join(self.folder, path)

    def not_passed(self, names: Sequence[str]) -> str:
        """Return the first of these variables that this shell has and the server does not get; empty without one."""
        passed = environment_of(self.target, self.environ)
        ours = (name for name in names if name not in self.target.env)
        return next((name for name in ours if is_withheld(name, passed, self.environ)), "")

    def passing(self, *names: str) -> Fix:
        """Return the fix that passes variables to the server; one that this shell does not have is a blank."""
        it = "it" if len(names) == 1 else "them"
        if self.target.starter is not None:
            return Fix(f"Add {it} to the variables of the entry.")
        line = self.line
        for name in reversed(names):
            line = line.passing(name) if self.environ.get(name) else line.adding("env", f"--env {name}=…")
        return Fix(f"Pass {it}, or add {it} to the config entry.", str(line))
