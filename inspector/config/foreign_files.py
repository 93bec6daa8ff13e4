"""Reads other programs' files: limited in size, never blocked by a pipe, with precise errors."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any

from inspector.config import jsonc
from inspector.errors import ConfigError
from inspector.lazy_pattern import lazy_pattern
from inspector.reasons import os_reason, toml_reason
from inspector.system import files

MAX_BYTES = 16 * 1024 * 1024
"""Size in bytes above which a config file is refused. Files of clients that also store histories have several
megabytes."""

_MAX_CANDIDATES = 2000
_PARTS = lazy_pattern(r"[-_./: ]+")
_AS_JSON = 'Write the servers as JSON: {"mcpServers": {"NAME": {"command": "PROGRAM", "args": []}}}'
_BEFORE = r"\A\ufeff?(?:[ \t]*(?:#[^\n]*|---[ \t]*)?\n)*[ \t]*"
_NOT_JSON = (
    (lazy_pattern(_BEFORE + r"```"), "begins with a Markdown code fence", "Remove the lines with ```."),
    (
        lazy_pattern(_BEFORE + r"(?:\[{1,2}[\w.\"'-]+\]{1,2}[ \t]*(?:#[^\n]*)?$|[\w.-]+[ \t]*=)", re.MULTILINE),
        "is TOML, not JSON",
        f"{_AS_JSON}, or name the file .toml.",
    ),
    (lazy_pattern(_BEFORE + r"[A-Za-z][\w.-]*:(?:\s|$)"), "is YAML, not JSON", f"{_AS_JSON}, or name the file .yaml."),
    (lazy_pattern(r"\A[^\"“”]*[“”]"), "has typographic quotes", 'Replace “ and ” with ".'),
    (lazy_pattern(r'"[A-Za-z]:\\(?!\\)'), "", "Write each backslash of a path twice."),
)
"""Files that are taken for JSON: a pattern, what they are (empty: the place of the error is shown), and what to do."""


def present(path: Path) -> bool:
    """Whether something exists at `path`, readable or not: a dangling link and a forbidden folder count."""
    try:
        os.lstat(path)
    except (FileNotFoundError, NotADirectoryError):
        return False
    except ValueError:
        return False
    except OSError:
        return True
    return True


def read_text(path: Path, *, limit: int = MAX_BYTES, never: Path | None = None) -> str:
    """Return the UTF-8 text of a regular file of at most `limit` bytes, without a byte order mark.

    Raises ConfigError otherwise. The file `never` is refused under any name: behind a link, a mount, or in another
    case.
    """
    content = read_bytes(path, limit=limit, never=never)
    if content[:2] in (b"\xff\xfe", b"\xfe\xff") or 0 in content[:2]:
        raise ConfigError(
            f"{path} cannot be read: it is UTF-16", hint="Save it as UTF-8: “>” in Windows PowerShell writes UTF-16."
        )
    if b"\0" in content:
        raise ConfigError(f"{path} cannot be read: it holds binary data, not text")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ConfigError(
            f"{path} cannot be read: it is not UTF-8 text (byte {error.start})", hint="Save it as UTF-8."
        ) from None


def read_bytes(path: Path, *, limit: int = MAX_BYTES, never: Path | None = None) -> bytes:
    """Return the content of a regular file of at most `limit` bytes. Raises ConfigError, also for the file `never`."""
    try:
        with open_regular(path) as file:
            status = os.fstat(file.fileno())
            if never is not None and _is_file_at(status, never):
                raise ConfigError(f"{path} cannot be read: it stores Inspector's logins")
            content = file.read(limit + 1)
    except OSError as error:
        raise ConfigError(f"{path} cannot be read: {os_reason(error)}") from None
    size = max(status.st_size, len(content))
    if size > limit:
        raise ConfigError(f"{path} cannot be read: it has {size:,} bytes, but the limit is {limit:,}")
    return content


def open_regular(path: Path) -> IO[bytes]:
    """Open a regular file. Raises ConfigError, also for a folder, a pipe or a device; it never blocks."""
    try:
        descriptor = files.open_file(path, os.O_RDONLY | files.NO_WAIT)
    except FileNotFoundError:
        what = "the link has no target" if path.is_symlink() else "the file does not exist"
        raise ConfigError(f"{path} cannot be read: {what}") from None
    except IsADirectoryError:
        raise ConfigError(f"{path} cannot be read: it is a folder") from None
    except (OSError, ValueError) as error:
        raise ConfigError(f"{path} cannot be read: {os_reason(error)}") from None
    mode = os.fstat(descriptor).st_mode
    if not stat.S_ISREG(mode):
        os.close(descriptor)
        what = "it is a folder" if stat.S_ISDIR(mode) else "it is not a regular file"
        raise ConfigError(f"{path} cannot be read: {what}")
    return open(descriptor, "rb")


def _is_file_at(status: os.stat_result, path: Path) -> bool:
    """Whether `status` is of the file at `path`."""
    try:
        return os.path.samestat(status, os.stat(path))
    except OSError:
        return False


def load_object(path: Path) -> dict[str, Any]:
    """Return the object in the file at `path`; its suffix tells the syntax, JSON with comments for any other one.

    Raises ConfigError.
    """
    text = read_text(path)
    if not text.strip():
        raise ConfigError(f"{path} is empty", hint="Write {} to it, or delete it.")
    value = _SYNTAXES.get(path.suffix.lower(), _json)(text, path)
    if not isinstance(value, dict):
        raise ConfigError(f"{path} must be an object, not {kind_of(value)}")
    return value


def _json(text: str, path: Path) -> Any:
    try:
        return jsonc.parse(text)
    except jsonc.JsoncError as error:
        place = f"{path}, line {error.line}, column {error.column}: {error.message}"
        text = text.replace("\r\n", "\n")
        reason, hint = next(((reason, hint) for pattern, reason, hint in _NOT_JSON if pattern.search(text)), ("", ""))
        raise ConfigError(f"{path} {reason}" if reason else place, hint=hint) from None


def _toml(text: str, path: Path) -> Any:
    import json
    import tomllib

    try:
        # Dates become texts: JSON has none, and no member that is read here is one.
        return json.loads(json.dumps(tomllib.loads(text), default=str))
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"{path} is not valid TOML: {toml_reason(error)}") from None


def _yaml(text: str, path: Path) -> Any:
    from inspector.documents import DocumentError, read_yaml

    try:
        value = read_yaml(text)
    except DocumentError as error:
        where = f", line {error.line}, column {error.column}" if error.line else ""
        raise ConfigError(f"{path}{where}: the file {error.problem}") from None
    return {} if value is None else value


_SYNTAXES: dict[str, Callable[[str, Path], Any]] = {".toml": _toml, ".yaml": _yaml, ".yml": _yaml}
"""Syntax by suffix; every other file is JSON with comments."""


def kind_of(value: Any) -> str:
    """Describe the type of a JSON value for a message."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true or false"
    if isinstance(value, str):
        return "text"
    if isinstance(value, (int, float)):
        return "a number"
    return "a list" if isinstance(value, list) else "an object"


def printable(text: str, limit: int = 80) -> str:
    """Return `text` from a file for a message: one line, limited, printable."""
    cut = text if len(text) <= limit else text[: limit - 1] + "…"
    return "".join(char if char.isprintable() else f"\\x{ord(char):02x}" for char in cut)


def nearest(word: str, known: list[str]) -> str:
    """Return the known word that `word` is probably meant to be, or an empty text.

    It differs by a typing error (a third of the letters at most), or `word` is one of its parts.
    """
    import difflib

    folded = {name.casefold(): name for name in known[:_MAX_CANDIDATES]}
    typed = word[:200].casefold()
    for name in difflib.get_close_matches(typed, folded, n=3, cutoff=0.6):
        if _edits(typed.lstrip("-"), name.lstrip("-")) <= max(1, len(typed.lstrip("-")) // 3):
            return folded[name]
    parts = _PARTS.split(typed.strip("-"))
    whole = [name for name in folded if len(typed) > 2 and set(parts) <= set(_PARTS.split(name))]
    return folded[min(whole, key=len)] if whole else ""


def _edits(word: str, other: str) -> int:
    """Return how many letters differ: added, missing, replaced, or swapped with the next one."""
    before, last = list(range(len(other) + 1)), list(range(len(other) + 1))
    for i, letter in enumerate(word, 1):
        row = [i]
        for j, mine in enumerate(other, 1):
            row.append(min(row[-1] + 1, last[j] + 1, last[j - 1] + (letter != mine)))
            if i > 1 and j > 1 and letter == other[j - 2] and word[i - 2] == mine:
                row[-1] = min(row[-1], before[j - 2] + 1)
        before, last = last, row
    return last[-1]
