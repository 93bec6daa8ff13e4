"""The program of a command: its path, whether it can run, and its interpreters."""

from __future__ import annotations

import os
import re
import shutil
import stat
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from inspector.command_words import FAMILY, find_program

_HEAD = 512
_MAX_NAMES = 5000
_ALIKE = 0.8
"""Similarity of two names from which one may be a typo of the other."""
_PROGRAMS = (b"\x7fELF", b"MZ", b"\xcf\xfa\xed\xfe", b"\xce\xfa\xed\xfe", b"\xca\xfe\xba\xbe", b"\xfe\xed\xfa")
USUAL = tuple(
    """
    ~/.local/bin ~/.cargo/bin ~/.bun/bin ~/.deno/bin ~/.volta/bin ~/.asdf/shims ~/.pyenv/shims ~/.nodenv/shims ~/go/bin
    /opt/homebrew/bin /usr/local/bin /opt/local/bin /snap/bin
    """.split()
)
"""Folders in which installers put programs, whether on a shell's PATH or not."""
BY_VARIABLE = tuple(
    tuple(line.split("/", 1))
    for line in """
    VIRTUAL_ENV/bin CONDA_PREFIX/bin NVM_BIN/. VOLTA_HOME/bin PNPM_HOME/. BUN_INSTALL/bin DENO_INSTALL/bin
    CARGO_HOME/bin GOBIN/. GOPATH/bin PYENV_ROOT/shims ASDF_DATA_DIR/shims
    """.split()
)
"""Variables that name a folder of programs, and the folder in it."""
IN_PROJECT = (".venv/bin", "venv/bin", "node_modules/.bin")
VERSIONED = ("~/.nvm/versions/node/*/bin", "~/.fnm/node-versions/*/installation/bin")


@dataclass(frozen=True, slots=True)
class ProgramFile:
    """The start of a file."""

    kind: str
    """`program`, `script`, `text` (nothing that the system can start) or `unreadable`."""
    interpreter: str = ""
    """The program in the first line of a script. For `#!/usr/bin/env NAME`, NAME."""
    through_env: bool = False
    windows_ends: bool = False
    """Its first line has a Windows line ending: the system searches for an interpreter with a carriage return in its
    name.
    """
    byte_order_mark: bool = False


def find(name: str, path: str | None, folder: str) -> str | None:
    """Return the file that a command's first word names, executable or not, or None."""
    if FAMILY == "windows" and (program := find_program(name, {**os.environ, "PATH": path or ""}, folder)):
        return program
    if os.path.dirname(name):
        where = os.path.normpath(os.path.join(folder, name))
        return where if os.path.lexists(where) else None
    return shutil.which(name, path=path) or shutil.which(name, mode=os.F_OK, path=path)


def may_run(path: str) -> bool:
    """Whether it is a file that this user may execute."""
    return os.path.isfile(path) and os.access(path, os.X_OK)


def read_program_file(path: str) -> ProgramFile:
    """Read the start of a file."""
    try:
        # Another kind of file could block until it is written to.
        if not stat.S_ISREG(os.stat(path).st_mode):
            return ProgramFile("unreadable")
        with open(path, "rb") as file:
            head = file.read(_HEAD)
    except OSError:
        return ProgramFile("unreadable")
    if head.startswith(_PROGRAMS):
        return ProgramFile("program")
    marked = head.startswith(b"\xef\xbb\xbf")
    plain = head[3:] if marked else head
    if not plain.startswith(b"#!"):
        return ProgramFile("text", byte_order_mark=marked)
    line = plain[2:].split(b"\n", 1)[0]
    words = line.decode("utf-8", "replace").split()
    through_env = bool(words) and os.path.basename(words[0]) == "env"
    if through_env:
        words = [word for word in words[1:] if not word.startswith("-") and "=" not in word]
    return ProgramFile("script", words[0] if words else "", through_env, line.endswith(b"\r"), marked)


def elsewhere(name: str, home: Path, project: str, environ: Mapping[str, str]) -> str | None:
    """Return the path of a program outside the PATH: in the project, or where installers put it."""
    if not re.fullmatch(r"[\w.+-]{1,100}", name):
        return None
    folders = [os.path.join(project, folder) for folder in IN_PROJECT]
    folders += [os.path.join(environ[variable], folder) for variable, folder in BY_VARIABLE if environ.get(variable)]
    folders += [folder.replace("~", str(home), 1) for folder in USUAL]
    for folder in folders:
        where = os.path.normpath(os.path.join(folder, name))
        if may_run(where):
            return where
    for pattern in VERSIONED:
        start, _, rest = pattern.replace("~", str(home), 1).partition("/*/")
        try:
            versions = sorted(os.listdir(start), reverse=True)[:50]
        except OSError:
            continue
        for version in versions:
            where = os.path.join(start, version, rest, name)
            if may_run(where):
                return where
    return None


def nearest(name: str, path: str | None) -> str:
    """Return the program on the search path with the most similar name, or an empty text."""
    import difflib

    names: set[str] = set()
    for folder in (path or "").split(os.pathsep)[:50]:
        try:
            names.update(file_name for file_name in os.listdir(folder or ".") if abs(len(file_name) - len(name)) < 3)
        except OSError:
            continue
    alike = difflib.get_close_matches(name, sorted(names)[:_MAX_NAMES], n=1, cutoff=_ALIKE)
    return alike[0] if alike and shutil.which(alike[0], path=path) else ""


def desktop_path(platform: str) -> str:
    """Return the search path of a program that was started from a desktop, not from a shell."""
    if platform == "darwin":
        return "/usr/bin:/bin:/usr/sbin:/sbin"
    return "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


def needs(program: str, environment: Mapping[str, str]) -> list[str]:
    """Return the program and its interpreters, each as the file found; three levels at most."""
    programs: list[str] = []
    for _ in range(3):
        if program in programs:
            break
        programs.append(program)
        began = read_program_file(program)
        if began.kind != "script" or not began.interpreter:
            break
        following = (
            shutil.which(began.interpreter, path=environment.get("PATH")) if began.through_env else began.interpreter
        )
        if not following or not os.path.isfile(following):
            break
        program = following
    return programs
