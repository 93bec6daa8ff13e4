"""Command lines as text and as arguments, by the rules of a POSIX shell and by those of Windows.

Windows passes a program one text, which the program splits by itself, by the rules of Microsoft's C runtime
(“Parsing C command-line arguments”; `CommandLineToArgvW` differs for `""` in quotes only). A batch file gets it through
cmd.exe, which reads the text first by rules of its own.
"""

from __future__ import annotations

import ntpath
import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Literal, NamedTuple, TypeAlias

Family: TypeAlias = Literal["posix", "windows"]
FAMILY: Family = "windows" if os.sep == "\\" else "posix"
"""The family of this system."""

BATCH = (".bat", ".cmd")
"""Files that cmd.exe runs."""
STARTABLE = (".com", ".exe", *BATCH)
"""Suffixes of files that Windows starts. PATHEXT also lists files that only their interpreter can run."""

# Compiled when they are used: on Linux most of them never are, and this module is on the path of every start.
_PIECE = r'(\\*)"|([ \t\r\n]+)|\\+|[^\\" \t\r\n]+'
_IN_SINGLE_QUOTES = r"'([^']*)'(?=[ \t\r\n]|\Z)"
_PLAIN_ON_WINDOWS = r"[\w+=:./\\-][\w+=:./\\@-]*"
_PLAIN_ON_BOTH = r"[\w@+=:,./-]+"
_PERCENT = "%%cd:~,%"
"""A percent sign for cmd.exe, which has no escape for it: the sign, and an empty part of the current folder's name."""
_BATCH_CANNOT_HAVE = r"[\0\r\n]"


def split(text: str, family: Family = FAMILY) -> list[str]:
    """Return the words of a typed command line. Raises ValueError if a quotation mark is not closed."""
    if family == "windows":
        return _split_on_windows(text)
    from shlex import split as split_for_posix

    return split_for_posix(text)


def quote(word: str, family: Family = FAMILY) -> str:
    """Return a word as it is typed: for a POSIX shell, or for cmd.exe and PowerShell.

    Neither of these can be kept from replacing %NAME% or $NAME in quotes.
    """
    if family == "posix":
        from shlex import quote as quote_for_posix

        return quote_for_posix(word)
    return word if re.fullmatch(_PLAIN_ON_WINDOWS, word) else _in_quotes(word)


def join(words: Iterable[str], family: Family = FAMILY) -> str:
    """Return words as they are typed."""
    return " ".join(quote(word, family) for word in words)


def join_for_files(words: Iterable[str]) -> str:
    """Return words as a file has them that moves between systems: both families split them alike.

    Not a word with two backslashes in a row: there the families disagree, and this system's is taken.
    """

    def written(word: str) -> str:
        if re.fullmatch(_PLAIN_ON_BOTH, word, re.ASCII):
            return word
        return quote(word) if r"\\" in word else _in_quotes(word, r"\"")

    return " ".join(map(written, words))


def set_variable(name: str, family: Family = FAMILY) -> str:
    """Return the command that sets a variable in the user's shell, with a placeholder for its value."""
    return f"export {quote(name, family)}=…" if family == "posix" else f"set {name}=…"


def _split_on_windows(text: str) -> list[str]:
    """By the rules for arguments, also for the first word: a program's path has no quotation mark.

    Besides, as in PowerShell and in commands that come from other systems, a whole word may be in single quotes.
    """
    words: list[str] = []
    word: str | None = None
    quoted, closed, at = False, -1, 0
    while at < len(text):
        whole = re.compile(_IN_SINGLE_QUOTES).match(text, at) if word is None else None
        if whole:
            words.append(whole[1])
            at = whole.end()
            continue
        piece = re.compile(_PIECE).match(text, at)
        assert piece is not None
        at = piece.end()
        backslashes, space = piece[1], piece[2]
        if backslashes is not None:
            # A backslash is an escape only before a quotation mark.
            word = (word or "") + "\\" * (len(backslashes) // 2)
            if len(backslashes) % 2:
                word += '"'
            elif piece.start() == closed and not backslashes:
                word, quoted, closed = word + '"', True, -1
            else:
                quoted, closed = not quoted, piece.end() if quoted else -1
        elif quoted or space is None:
            word = (word or "") + piece[0]
        elif word is not None:
            words.append(word)
            word = None
    if quoted:
        raise ValueError("No closing quotation")
    return words if word is None else [*words, word]


def _in_quotes(word: str, mark: str = '""') -> str:
    """Return a word in quotation marks; `mark` stands for one in it.

    A doubled one does not close the quotes for cmd.exe and PowerShell either; one with a backslash does.
    """
    # Backslashes before a quotation mark, also before the last one, are doubled.
    return '"' + re.sub(r'(\\*)("|\Z)', lambda match: match[1] * 2 + (match[2] and mark), word) + '"'


class NotPassed(ValueError):
    """An argument that cmd.exe cannot pass to a batch file: it has a line break or NUL."""

    def __init__(self, word: str) -> None:
        super().__init__(word)
        self.word = word


class WindowsStart(NamedTuple):
    """A program and its whole command line, as `CreateProcess` takes them."""

    program: str
    line: str


def windows_start(program: str, arguments: Sequence[str], environment: Mapping[str, str]) -> WindowsStart:
    """Return how Windows starts a file with arguments, which arrive unchanged. Raises `NotPassed`.

    cmd.exe runs a batch file, and would take `&`, `|`, `%NAME%` and quotation marks in an argument for its own. So each
    word is quoted, quotation marks are doubled, and no percent sign begins the name of a variable. cmd.exe is that of
    the system, whatever the PATH and COMSPEC are.
    """
    if not is_batch(program):
        from subprocess import list2cmdline

        return WindowsStart(program, list2cmdline([program, *arguments]))
    for word in (program, *arguments):
        if re.search(_BATCH_CANNOT_HAVE, word):
            raise NotPassed(word)
    line = " ".join(_in_quotes(word).replace("%", _PERCENT) for word in (program, *arguments))
    root = variable(environment, "SystemRoot", "windows") or r"C:\Windows"
    return WindowsStart(
        ntpath.join(root, "System32", "cmd.exe"),
        # /d: no AutoRun commands of the registry; /e:on: parts of variables; /v:off: “!” is a plain character;
        # /s: only the outer quotes go.
        f'cmd.exe /d /e:on /v:off /s /c "{line}"',
    )


def is_batch(program: str) -> bool:
    """Whether Windows runs this file by cmd.exe. It ignores spaces and periods at the end of a name."""
    return program.rstrip(" .").casefold().endswith(BATCH)


def variable(environment: Mapping[str, str], name: str, family: Family = FAMILY) -> str | None:
    """Return a variable; on Windows in any case of its name."""
    if family == "posix" or name in environment:
        return environment.get(name)
    upper = name.upper()
    return next((value for key, value in environment.items() if key.upper() == upper), None)


def with_variables(environment: Mapping[str, str], more: Mapping[str, str], family: Family = FAMILY) -> dict[str, str]:
    """Return an environment with `more` variables, which win; on Windows over a name in another case, too."""
    if family == "posix":
        return dict(environment) | dict(more)
    merged = {name.upper(): (name, value) for name, value in environment.items()}
    merged |= {name.upper(): (name, value) for name, value in more.items()}
    return dict(merged.values())


def find_program(name: str, environment: Mapping[str, str], folder: str = "", family: Family = FAMILY) -> str | None:
    """Return the file that a command's first word names, found as the program's environment says, or None."""
    if family == "windows":
        return find_on_windows(name, environment, folder)
    from shutil import which

    return which(name, path=environment.get("PATH"))


def find_on_windows(
    name: str, environment: Mapping[str, str], folder: str, is_file: Callable[[str], bool] = os.path.isfile
) -> str | None:
    """Return the file that a command's first word names, as cmd.exe finds it by PATH and PATHEXT, or None.

    Unlike cmd.exe it does not look in the current folder, which may be a stranger's project. A path is relative to
    `folder`, in which the program starts.
    """
    listed = (variable(environment, "PATHEXT", "windows") or ";".join(STARTABLE)).lower().split(";")
    suffixes = [suffix for suffix in listed if suffix in STARTABLE]
    # npm installs a shell script beside its batch file, under the same name without a suffix.
    names = [name] if name.lower().endswith(STARTABLE) else [name + suffix for suffix in suffixes]
    if ntpath.dirname(name) or ntpath.splitdrive(name)[0]:
        folders, names = [folder], [*names, name] if names != [name] else names
    else:
        path = variable(environment, "PATH", "windows") or ""
        folders = [place for entry in path.split(";") if (place := entry.strip().strip('"'))]
    candidates = (ntpath.normpath(ntpath.join(where, file)) for where in folders for file in names)
    return next((candidate for candidate in candidates if is_file(candidate)), None)
