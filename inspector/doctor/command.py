"""The command before its start: folder, program, interpreter, versions, and the PATH of desktop clients."""

from __future__ import annotations

import asyncio
import os
import re
import shlex
import sys
from pathlib import Path

from inspector.config.targets import StdioTarget
from inspector.doctor import program_versions, programs
from inspector.doctor.diagnosis import Fix, StepCollector, Stopwatch, TimeLimits, Weight
from inspector.hints import Hint, Parameter
from inspector.transports.child import child_environment

_INSTALLERS = {
    "node": "Install Node.js, which includes node, npm and npx.",
    "npx": "Install Node.js, which includes node, npm and npx.",
    "npm": "Install Node.js, which includes node, npm and npx.",
    "uv": "Install uv, which includes uv and uvx.",
    "uvx": "Install uv, which includes uv and uvx.",
    "docker": "Install Docker, and start it.",
    "deno": "Install Deno.",
    "bun": "Install Bun.",
    "bunx": "Install Bun, which includes bun and bunx.",
    "pipx": "Install pipx.",
}
_SCRIPT = re.compile(r"[^-].*\.(?:py|js|mjs|cjs|ts|mts|rb|jar|php|sh)")
_RUNS_SCRIPTS = re.compile(r"(?:python|pypy)[\d.]*|node|tsx|ts-node|ruby|php|bash|sh|zsh|bun|deno")
_EXECUTABLE = 0o111


class CommandDoctor:
    """Checks a target's command; `program` is the file that it starts, once `look` has found it."""

    def __init__(
        self, target: StdioTarget, chart: StepCollector, limits: TimeLimits, platform: str = sys.platform
    ) -> None:
        self.target = target
        self.chart = chart
        self.limits = limits
        self.platform = platform
        self.name = target.command[0]
        self.folder = target.cwd or os.getcwd()
        self.environment = child_environment(target.env)
        self.program: str | None = None

    async def look(self) -> None:
        """Check everything that can be known without starting the server."""
        self._folder()
        watch = Stopwatch()
        self.program = programs.find(self.name, self.environment.get("PATH"), self.folder)
        if self.program is None:
            self._missing(watch.seconds)
            return
        if self._runs(watch.seconds):
            self._script()
            await self._versions()
        self._desktop()

    def _folder(self) -> None:
        if os.path.isdir(self.folder):
            self.chart.add("folder", "ok", self.folder)
            return
        what = "is not a folder" if os.path.exists(self.folder) else "does not exist"
        self.chart.add(
            "folder",
            "failed",
            f"{self.folder} {what}",
            fix=Fix(Hint("Set an existing folder with ", Parameter.CWD_OR_IN_ENTRY, ".")),
            cause=f"The folder {self.folder}, in which the server should start, {what}.",
        )

    # The program

    def _missing(self, seconds: float) -> None:
        name, home = self.name, Path(os.path.expanduser("~"))
        cause = f"The command “{name}” was not found on the PATH."
        fix = Fix(_INSTALLERS.get(name, "Install it, or give the full path of the program."))
        where = programs.elsewhere(name, home)
        words = name.split()
        local = os.path.join(self.folder, name)
        if os.path.dirname(name):
            cause = f"No program exists at {name}" + ("." if os.path.isabs(name) else f" in {self.folder}.")
            fix = Fix(Hint("Check the path, and the folder that it is relative to (", Parameter.CWD, ")."))
        elif len(words) > 1 and programs.find(words[0], self.environment.get("PATH"), self.folder):
            cause = f"The command is the single word “{name}”: “{words[0]}” is the program, the rest are its arguments."
            fix = Fix("Set the program as the command, and each argument separately.", _inspector(words))
        elif where is not None:
            cause = f"The command “{name}” is at {where}, which is not on the PATH."
            fix = Fix("Give the full path of the program.", _inspector([where, *self.target.command[1:]]))
        elif programs.may_run(local):
            cause = f"The command “{name}” is a file in {self.folder}, where commands are not searched for."
            fix = Fix("Write it with its folder.", _inspector([f"./{name}", *self.target.command[1:]]))
        elif name == "python" and programs.find("python3", self.environment.get("PATH"), self.folder):
            cause = "The command “python” does not exist here, only “python3”."
            fix = Fix("Start it with python3.", _inspector(["python3", *self.target.command[1:]]))
        elif name not in _INSTALLERS:
            near = programs.nearest(name, self.environment.get("PATH"))
            if near:
                fix = Fix(f"Did you mean {near}?", _inspector([near, *self.target.command[1:]]))
        self.chart.add(
            "command",
            "failed",
            f"{name}: not found",
            details=[f"PATH: {self.environment.get('PATH', '')}"],
            seconds=seconds,
            fix=fix,
            cause=cause,
        )

    def _runs(self, seconds: float) -> bool:
        """Check whether the system can start the file."""
        program = self.program
        assert program is not None
        cause, fix = "", Fix()
        began = programs.read_program_file(program)
        if os.path.isdir(program):
            cause, fix = f"{program} is a folder, not a program.", Fix("Give the path of the server's program in it.")
        elif not os.path.exists(program):
            cause, fix = f"{program} is a broken link.", Fix("Install the program again, or give its actual path.")
        elif not programs.may_run(program):
            cause = f"{program} is not executable."
            fix = Fix("Make it executable.", f"chmod +x {shlex.quote(program)}")
        elif began.windows_ends:
            cause = f"{program} has Windows line endings: its first line names the interpreter “{began.interpreter}␍”."
            fix = Fix("Save it with LF line endings.", f"sed -i 's/\\r$//' {shlex.quote(program)}")
        elif began.byte_order_mark:
            cause = f"{program} starts with a byte order mark, so the system does not see its “#!” line."
            fix = Fix("Save it without a byte order mark.", f"sed -i '1s/^\\xEF\\xBB\\xBF//' {shlex.quote(program)}")
        elif began.kind == "script" and not self._interpreter(began):
            cause = f"{program} should be run by {began.interpreter or 'nothing'}, which does not exist."
            if began.interpreter:
                fix = Fix(f"Install {os.path.basename(began.interpreter)}, or change the first line of the script.")
            else:
                fix = Fix("Name the interpreter in the first line of the script.")
        elif began.kind == "text" and self.platform != "win32":
            cause = f"{program} is not a program, and it has no “#!” line that names its interpreter."
            fix = Fix("Add a “#!” line at its top, or start it with its interpreter.", self._with_interpreter(program))
        if cause:
            self.chart.add("command", "failed", cause.rstrip("."), seconds=seconds, fix=fix, cause=cause)
            return False
        shown = f"{self.name}, found at {program}" if program != self.name else program
        self.chart.add("command", "ok", shown, seconds=seconds)
        return True

    def _interpreter(self, began: programs.ProgramFile) -> bool:
        if began.through_env:
            return programs.find(began.interpreter, self.environment.get("PATH"), self.folder) is not None
        return bool(began.interpreter) and os.path.exists(began.interpreter)

    def _with_interpreter(self, program: str) -> str:
        runners = {".py": "python3", ".js": "node", ".mjs": "node", ".cjs": "node", ".sh": "sh", ".rb": "ruby"}
        runner = runners.get(os.path.splitext(program)[1])
        return _inspector([runner, *self.target.command]) if runner else ""

    def _script(self) -> None:
        """The file that an interpreter is given to run."""
        if not _RUNS_SCRIPTS.fullmatch(os.path.basename(self.name)):
            return
        word = next((word for word in self.target.command[1:20] if _SCRIPT.fullmatch(word)), "")
        if not word or "-m" in self.target.command[1 : self.target.command.index(word)]:
            return
        if os.path.exists(os.path.join(self.folder, word)):
            self.chart.add("script", "ok", word)
            return
        built = bool(re.search(r"(?:^|/)(?:dist|build|out|lib)/", word))
        fix = Fix("Build the server first.", "npm run build", self.folder) if built else Fix("Check path and folder.")
        self.chart.add(
            "script",
            "failed",
            f"{word} is not in {self.folder}",
            fix=fix,
            cause=f"The file {word}, which {self.name} should run, is not in {self.folder}.",
        )

    # Its dependencies

    async def _versions(self) -> None:
        """Check the versions of Node, Python, uv and others that start this server."""
        assert self.program is not None
        needed = programs.needs(self.program, self.environment)
        asked = list(dict.fromkeys(each for each in needed if program_versions.is_asked(each)))[:3]
        watch = Stopwatch()
        numbers = await asyncio.gather(
            *(program_versions.version(each, self.environment, self.limits.version) for each in asked)
        )
        for program, number in zip(asked, numbers, strict=True):
            name = os.path.basename(program)
            if not number:
                self.chart.add("version", "warn", f"{name} does not report its version", seconds=watch.seconds)
                continue
            least = program_versions.too_old(program, number)
            text = f"{name} {number}"
            if not least:
                self.chart.add("version", "ok", text, seconds=watch.seconds)
                continue
            self.chart.add(
                "version",
                "warn",
                f"{text}: common SDKs require {least} or newer",
                seconds=watch.seconds,
                fix=Fix(f"Install {least} or newer."),
                cause=f"{text} is too old: common SDKs require {least}.",
                weight=Weight.SYMPTOM,
            )

    def _desktop(self) -> None:
        """Check which program a desktop client finds with its smaller PATH."""
        if os.path.dirname(self.name) or self.program is None or self.platform == "win32":
            return
        path = programs.desktop_path(self.platform)
        found = programs.find(self.name, path, self.folder)
        if found is None:
            self.chart.add(
                "desktop",
                "info",
                f"a client that was not started from a shell may not find {self.name}",
                details=[f"PATH: {path}"],
                fix=Fix(f"Set {self.program} as the command there."),
            )
        elif os.path.realpath(found) != os.path.realpath(self.program):
            self.chart.add("desktop", "info", f"a client that was not started from a shell may find {found} instead")
        else:
            self.chart.add("desktop", "ok", f"{self.name} is also found without a shell")


def _inspector(words: list[str]) -> str:
    return f"inspector {shlex.join(words)}"
