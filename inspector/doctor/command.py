"""The command before its start: folder, program, interpreter, versions, and the PATH of desktop clients."""

from __future__ import annotations

import asyncio
import os
import re
import shutil
from collections.abc import Sequence
from pathlib import Path

from inspector import command_words
from inspector.config.targets import StdioTarget
from inspector.doctor import program_versions, programs
from inspector.doctor.diagnosis import Fix, StepCollector, Stopwatch, TimeLimits, Weight
from inspector.doctor.node_packages import build_or_path, unmet_engine
from inspector.doctor.server_facts import started_with
from inspector.hints import Hint, Parameter
from inspector.system import NAME
from inspector.transports.child import RELATIVE_PATH, environment_of

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
_RUNS_SCRIPTS = re.compile(
    r"(?:(?:python|pypy)[\d.]*|node|tsx|ts-node|ruby|php|bash|sh|zsh|bun|deno)(?:\.exe|\.cmd)?", re.IGNORECASE
)
_SHELLS = {"posix": ("sh", "-c"), "windows": ("cmd", "/c")}
_NEEDS_SHELL = re.compile(r"\s(?:&&|\|\|?|;|>)\s|;\s|^cd\s")
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=")
_TWO_WORDS = re.compile(r"--?(?![ce])[A-Za-z][\w-]*\s+\S")
"""An option and its value in one word."""


def shell_words(line: str) -> list[str]:
    """Return the words of a line as a shell splits it, at least one."""
    try:
        return command_words.split(line) or [line]
    except ValueError:
        return line.split() or [line]


def expanded_word(word: str) -> str:
    """Return a word with “~” and variables replaced, as a shell does."""
    return os.path.expandvars(os.path.expanduser(word))


class CommandDoctor:
    """Checks a target's command; `program` is the file that it starts, once `check` has found it."""

    def __init__(self, target: StdioTarget, steps: StepCollector, limits: TimeLimits, platform: str = NAME) -> None:
        self.target = target
        self.steps = steps
        self.limits = limits
        self.platform = platform
        self.name = target.command[0]
        self.folder = target.cwd or os.getcwd()
        self.environment = environment_of(target)
        self.program: str | None = None

    async def check(self) -> None:
        """Check everything that can be known without starting the server."""
        if self.inspect():
            await self._versions()
        if self.program is not None and self.target.starter is None:
            self._desktop()

    def inspect(self) -> bool:
        """Check what can be known without starting any program; True if the program can run."""
        self._folder()
        watch = Stopwatch()
        self.program = programs.find(self.name, self._path, self.folder)
        if self.program is None:
            self._missing(watch.seconds)
            return False
        runs = self._runs(watch.seconds)
        if runs:
            self._script()
        return runs

    def _folder(self) -> None:
        if os.path.isdir(self.folder):
            self.steps.add("folder", "ok", self.folder)
            return
        what = "is not a folder" if os.path.exists(self.folder) else "does not exist"
        self.steps.add(
            "folder",
            "failed",
            f"{self.folder} {what}",
            fix=Fix(Hint("Set an existing folder with ", Parameter.CWD_OR_IN_ENTRY, ".")),
            cause=f"The folder {self.folder}, in which the server should start, {what}.",
        )

    # The program

    def _missing(self, seconds: float) -> None:
        cause, fix = self._why_missing()
        self.steps.add(
            "command",
            "failed",
            f"{self.name}: not found",
            details=[] if os.path.dirname(self.name) else [f"PATH: {self._path}"],
            seconds=seconds,
            fix=fix,
            cause=cause,
        )

    def _why_missing(self) -> tuple[str, Fix]:
        """Return the cause and the fix for a command that names no file."""
        name, words, arguments = self.name, shell_words(self.name), list(self.target.command[1:])
        expanded = expanded_word(name)
        if _NEEDS_SHELL.search(name):
            return (
                f"The command “{name}” is a line for a shell, and no shell starts the server.",
                self._start(
                    "Start it with a shell.",
                    [*_SHELLS[command_words.FAMILY], command_words.join([name, *arguments]) if arguments else name],
                ),
            )
        if _ASSIGNMENT.match(words[0]):
            return (
                f"The command begins with “{words[0].partition('=')[0]}=”: a variable is not set in the command.",
                self._start(Hint("Set it with ", Parameter.ENV_OR_IN_ENTRY, "."), [*words[1:], *arguments]),
            )
        if len(words) > 1 and (words[1].startswith("-") or words[0] in _INSTALLERS or self._exists(words[0])):
            return (
                f"The command is the single word “{name}”: “{words[0]}” is the program, the rest are its arguments.",
                self._start(
                    "Set the program as the command, and each argument separately.",
                    [*map(expanded_word, words), *arguments],
                ),
            )
        if expanded != name:
            return (
                f"No program exists at {name}: no shell starts the server, so “~” and variables are not expanded.",
                self._start("Write the full path.", [expanded, *arguments]),
            )
        if name != name.strip():
            return (
                f"The command “{name}” has spaces around it.",
                self._start("Remove them.", [name.strip(), *arguments]),
            )
        if os.path.dirname(name):
            split = self._split_path(1)
            if split is not None:
                return split
            if os.path.isabs(name):
                return f"No program exists at {name}.", Fix("Check the path.")
            return (
                f"No program exists at {name} in {self.folder}.",
                self._absolute(name) or Fix(RELATIVE_PATH),
            )
        return self._elsewhere(name, arguments)

    def _absolute(self, word: str) -> Fix | None:
        """Return the fix for a relative path to a file in the folder of the config or the present one."""
        folders = (*filter(None, [os.path.dirname(self.target.source)]), os.getcwd())
        paths = (os.path.normpath(os.path.join(folder, word)) for folder in folders)
        path = next(filter(os.path.isfile, paths), None)
        if path is None:
            return None
        words = [path if part == word else part for part in self.target.command]
        return self._start("Write an absolute path: hosts start a command in their own folder.", words)

    def _elsewhere(self, name: str, arguments: list[str]) -> tuple[str, Fix]:
        """Return the cause and the fix for a name that is not on the PATH."""
        in_shell = shutil.which(name, path=os.environ.get("PATH"))
        if in_shell is not None:
            return (
                f"The command “{name}” is at {in_shell}, which is on the PATH of this shell, but not on {self._whose}.",
                self._start("Give the full path of the program.", [in_shell, *arguments]),
            )
        where = programs.elsewhere(name, Path(os.path.expanduser("~")), self.folder, os.environ)
        if where is not None:
            return (
                f"The command “{name}” is at {where}, which is not on the PATH.",
                self._start("Give the full path of the program.", [where, *arguments]),
            )
        if programs.may_run(os.path.join(self.folder, name)):
            return (
                f"The command “{name}” is a file in {self.folder}, where commands are not searched for.",
                self._start("Write it with its folder.", [f"./{name}", *arguments]),
            )
        cause = f"The command “{name}” was not found on the PATH."
        if name == "python" and self._exists("python3"):
            return (
                "The command “python” does not exist here, only “python3”.",
                self._start("Start it with python3.", ["python3", *arguments]),
            )
        if name in _INSTALLERS:
            return cause, Fix(_INSTALLERS[name])
        near = programs.nearest(name, self._path)
        if near:
            return cause, self._start(f"Did you mean {near}?", [near, *arguments])
        return cause, Fix("Install it, or give the full path of the program.")

    @property
    def _whose(self) -> str:
        """Whose search path the server is found on."""
        starter = self.target.starter
        return "the PATH that is set for the server" if starter is None else f"that of {starter.name}"

    @property
    def _path(self) -> str:
        return self.environment.get("PATH", "")

    def _exists(self, name: str) -> bool:
        return programs.find(name, self._path, self.folder) is not None

    def _start(self, text: str, words: list[str]) -> Fix:
        """Return a fix that starts the server with other words."""
        return started_with(text, words, self.target, self.steps.line)

    # Arguments

    def suspect(self, stderr: Sequence[str]) -> None:
        """Name arguments that only a shell would change or split, if the server failed."""
        log = "\n".join(stderr)
        for at, word in enumerate(self.target.command[1:], 1):
            split, expanded = shell_words(word), expanded_word(word)
            if _TWO_WORDS.match(word) and len(split) > 1:
                cause = f"The argument “{word}” is a single word with a space in it."
                text, instead = "Write its parts as separate arguments.", split
            elif expanded != word and os.path.exists(os.path.join(self.folder, expanded)):
                cause = f"The argument “{word}” is not expanded, because no shell starts the server."
                text, instead = "Write the full path.", [expanded]
            else:
                continue
            fix = self._start(text, [*self.target.command[:at], *instead, *self.target.command[at + 1 :]])
            weight = Weight.PROOF if word in log else Weight.SYMPTOM
            self.steps.add("arguments", "warn", cause.rstrip("."), fix=fix, cause=cause, weight=weight)

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
        elif self.platform == "win32":
            if not program.casefold().endswith(command_words.STARTABLE):
                cause = f"{program} is not a program of Windows."
                fix = Fix("Start it with its interpreter.", self._with_interpreter(program))
        elif not programs.may_run(program):
            cause = f"{program} is not executable."
            fix = Fix("Make it executable.", f"chmod +x {command_words.quote(program)}")
        elif began.windows_ends:
            cause = f"{program} has Windows line endings: its first line names the interpreter “{began.interpreter}␍”."
            fix = Fix("Save it with LF line endings.", f"sed -i 's/\\r$//' {command_words.quote(program)}")
        elif began.byte_order_mark:
            cause = f"{program} starts with a byte order mark, so the system does not see its “#!” line."
            fix = Fix(
                "Save it without a byte order mark.", f"sed -i '1s/^\\xEF\\xBB\\xBF//' {command_words.quote(program)}"
            )
        elif began.kind == "script" and not self._interpreter(began):
            cause = f"{program} should be run by {began.interpreter or 'nothing'}, which does not exist."
            if began.interpreter:
                fix = Fix(f"Install {os.path.basename(began.interpreter)}, or change the first line of the script.")
            else:
                fix = Fix("Name the interpreter in the first line of the script.")
        elif began.kind == "text":
            cause = f"{program} is not a program, and it has no “#!” line that names its interpreter."
            fix = Fix("Add a “#!” line at its top, or start it with its interpreter.", self._with_interpreter(program))
        if cause:
            self.steps.add("command", "failed", cause.rstrip("."), seconds=seconds, fix=fix, cause=cause)
            return False
        location = f"{self.name}, found at {program}" if program != self.name else program
        self.steps.add("command", "ok", location, seconds=seconds)
        return True

    def _interpreter(self, began: programs.ProgramFile) -> bool:
        if began.through_env:
            return self._exists(began.interpreter)
        return bool(began.interpreter) and os.path.exists(began.interpreter)

    def _with_interpreter(self, program: str) -> str:
        python = "python" if self.platform == "win32" else "python3"
        runners = {".py": python, ".js": "node", ".mjs": "node", ".cjs": "node", ".sh": "sh", ".rb": "ruby"}
        runner = runners.get(os.path.splitext(program)[1])
        return str(self.steps.line.on_command([runner, *self.target.command])) if runner else ""

    def _script(self) -> None:
        """The file that an interpreter is given to run."""
        if not _RUNS_SCRIPTS.fullmatch(os.path.basename(self.name)):
            return
        word = next((word for word in self.target.command[1:20] if _SCRIPT.fullmatch(word)), "")
        if not word or "-m" in self.target.command[1 : self.target.command.index(word)]:
            return
        if os.path.exists(os.path.join(self.folder, word)):
            self.steps.add("script", "ok", word)
            return
        split = self._split_path(self.target.command.index(word) + 1)
        if split is not None:
            self.steps.add("script", "failed", f"{word} is a part of a path", fix=split[1], cause=split[0])
            return
        fix = self._absolute(word) or build_or_path(os.path.join(self.folder, word))
        missing = "does not exist" if os.path.isabs(word) else f"is not in {self.folder}"
        expanded, reason = expanded_word(word), ""
        if expanded != word:
            words = [expanded if part == word else part for part in self.target.command]
            reason = ": no shell starts the server, so “~” and variables are not expanded"
            fix = self._start("Write the full path.", words)
        self.steps.add(
            "script",
            "failed",
            f"{word} {missing}",
            fix=fix,
            cause=f"The file {word}, which {self.name} should run, {missing}{reason}.",
        )

    def _split_path(self, until: int) -> tuple[str, Fix] | None:
        """Return the cause and the fix if a path with spaces, which begins before a position, is several arguments."""
        words = self.target.command[:20]
        for start in range(until):
            for end in range(start + 2, len(words) + 1):
                path = " ".join(words[start:end])
                if os.path.isfile(os.path.join(self.folder, path)):
                    return (
                        f"The path “{path}” is split at its spaces, into {end - start} arguments.",
                        self._start("Write it as one.", [*words[:start], path, *self.target.command[end:]]),
                    )
        return None

    # Its dependencies

    async def _versions(self) -> None:
        """Check the versions of Node, Python, uv and others that start this server."""
        assert self.program is not None
        needed = programs.needs(self.program, self.environment)
        asked = list(dict.fromkeys(program for program in needed if program_versions.is_asked(program)))[:3]
        watch = Stopwatch()
        numbers = await asyncio.gather(
            *(program_versions.version(program, self.environment, self.limits.version) for program in asked)
        )
        for program, number in zip(asked, numbers, strict=True):
            name = os.path.basename(program)
            if not number:
                self.steps.add("version", "warn", f"{name} does not report its version", seconds=watch.seconds)
                continue
            text = f"{name} {number}"
            is_node = name.removesuffix(".exe") == "node"
            unmet = unmet_engine(self._script_of_node(), number) if is_node else None
            if unmet is not None:
                package, required, least = unmet
                self._too_old(f"{text} is older than {package} requires ({required})", f"Node {least}", watch.seconds)
            elif least := program_versions.too_old(program, number):
                text = f"{text} is older than common SDKs require ({least})"
                self._too_old(text, least, watch.seconds, weight=Weight.SYMPTOM)
            else:
                self.steps.add("version", "ok", text, seconds=watch.seconds)

    def _too_old(self, text: str, least: str, seconds: float, *, weight: Weight = Weight.LIKELY) -> None:
        fix = Fix(f"Install {least} or newer.")
        self.steps.add("version", "warn", text, seconds=seconds, fix=fix, cause=f"{text}.", weight=weight)

    def _script_of_node(self) -> str:
        """Return the file that Node runs: the program itself, or the first argument that is a file."""
        assert self.program is not None
        words = (self.program, *(os.path.join(self.folder, word) for word in self.target.command[1:20]))
        programs = ("node", "npx", "npm", "env")
        is_script = (word for word in words if os.path.basename(word).split(".")[0] not in programs)
        return next(filter(os.path.isfile, is_script), "")

    def _desktop(self) -> None:
        """Check which program a desktop client finds with its smaller PATH."""
        if os.path.dirname(self.name) or self.program is None or self.platform == "win32":
            return
        path = programs.desktop_path(self.platform)
        program = programs.find(self.name, path, self.folder)
        if program is None:
            self.steps.add(
                "desktop",
                "info",
                f"a client that was not started from a shell may not find {self.name}",
                details=[f"PATH: {path}"],
                fix=Fix(f"Set {self.program} as the command there."),
            )
        elif os.path.realpath(program) != os.path.realpath(self.program):
            self.steps.add("desktop", "info", f"a client that was not started from a shell may find {program} instead")
        else:
            self.steps.add("desktop", "ok", f"{self.name} is also found without a shell")
