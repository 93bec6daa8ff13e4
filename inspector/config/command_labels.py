"""The short name of a command: the package, image, module or script that a runner starts."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import PurePosixPath, PureWindowsPath

from inspector.lazy_pattern import lazy_pattern

# Per runner: the words that may precede the name, and the options with a value.
_RUNNERS: dict[str, tuple[frozenset[str], frozenset[str]]] = {
    "npx": (frozenset(), frozenset({"-p", "--package", "-c", "--call", "-w", "--workspace"})),
    "bunx": (frozenset(), frozenset({"-p", "--package"})),
    "npm": (frozenset({"exec", "x", "run"}), frozenset({"--prefix", "-w", "--workspace"})),
    "pnpm": (frozenset({"dlx", "exec", "run"}), frozenset({"-C", "--dir", "--package", "--filter"})),
    "yarn": (frozenset({"dlx", "exec", "run"}), frozenset({"-p", "--package", "--cwd"})),
    "bun": (frozenset({"x", "run"}), frozenset({"--cwd"})),
    "deno": (frozenset({"run"}), frozenset({"-c", "--config", "--import-map"})),
    "node": (frozenset(), frozenset({"-r", "--require", "--import", "--loader", "--env-file"})),
    "tsx": (frozenset({"watch"}), frozenset({"--tsconfig", "--env-file"})),
    "uvx": (frozenset(), frozenset({"--from", "--with", "-p", "--python", "--index-url", "--directory"})),
    "uv": (
        frozenset({"run", "tool"}),
        frozenset({"--from", "--with", "-p", "--python", "--directory", "--project", "--extra", "--group"}),
    ),
    "pipx": (frozenset({"run"}), frozenset({"--spec", "--python", "--index-url"})),
    "dnx": (frozenset(), frozenset({"--source", "--version"})),
    "docker": (
        frozenset({"run"}),
        frozenset(
            {"-e", "--env", "--env-file", "-v", "--volume", "--mount", "-p", "--publish", "--name", "--network"}
            | {"-u", "--user", "-w", "--workdir", "--entrypoint", "-l", "--label", "--platform", "-m", "--memory"}
        ),
    ),
}
_RUNNERS["podman"] = _RUNNERS["nerdctl"] = _RUNNERS["docker"]
_MAX_WORDS = 64
_MAX_WORD = 300
_PYTHON = lazy_pattern(r"(?:python|pypy)[\d.]*w?")
_VERSION = lazy_pattern(r"(?<=.)(?:@[^/]*|\[[^/]*|[=<>~!;][^/]*|:[\w.-]+)$")
_ENTRY_FILE = lazy_pattern(r"(?:index|main|__main__)\.(?:[cm]?[jt]s|py)")
"""A script whose name says nothing; the folder of the package does."""
_BUILD_FOLDERS = frozenset(("", ".", "..", "/", "bin", "build", "cjs", "dist", "esm", "lib", "out", "src"))
_WINDOWS_SUFFIX = lazy_pattern(r"\.(?:exe|cmd|bat|ps1)$", re.IGNORECASE)


def program_label(argv: Sequence[str]) -> str:
    """Return `server-memory` for `npx -y @modelcontextprotocol/server-memory@2.0`, `server.py` for `python
    server.py`, `weather` for `node weather/dist/index.js`."""
    # An environment before the program (`env NAME=value program`) is not part of the name.
    words = list(argv[:_MAX_WORDS])
    if words and _basename(words[0]) == "env":
        words = [word for index, word in enumerate(words) if index and not re.match(r"\w+=", word)] or words
    program = _basename(words[0]) if words else ""
    started = _started(program, words[1:])
    return _package_folder(started) or _package(started) if started else program


def own_arguments(argv: Sequence[str]) -> Sequence[str]:
    """Return the words after the program, script or package that a command starts: not those of its runner."""
    started = _started(_basename(argv[0]), argv[1:_MAX_WORDS]) if argv else ""
    return argv[argv.index(started) + 1 :] if started in argv else argv[1:]


def _started(program: str, words: Sequence[str]) -> str:
    """Return the word that names what `program` runs, or an empty text."""
    if _PYTHON.fullmatch(program):
        return _python_starts(words)
    if program not in _RUNNERS:
        return ""
    verbs, valued = _RUNNERS[program]
    skip = False
    for word in words:
        if skip:
            skip = False
        elif word.startswith("-"):
            skip = word in valued
        elif word not in verbs:
            # `uv run` may start another runner.
            rest = words[words.index(word) + 1 :]
            return _started(_basename(word), rest) or word if program in ("uv", "npm", "pnpm", "yarn") else word
    return ""


def _python_starts(words: Sequence[str]) -> str:
    skip = False
    for index, word in enumerate(words):
        if skip:
            skip = False
        elif word == "-m":
            return words[index + 1] if index + 1 < len(words) else ""
        elif word == "-c" or word == "-":
            return ""
        elif word.startswith("-"):
            skip = word in ("-W", "-X")
        else:
            return word
    return ""


def _package(word: str) -> str:
    word = word[:_MAX_WORD]
    without_version = _VERSION.sub("", word) if not word.startswith((".", "/", "~")) else word
    return _basename(without_version) or word


def _package_folder(word: str) -> str:
    """Return the folder of the package that an entry file such as `weather/dist/index.js` belongs to; else empty."""
    path = PureWindowsPath(word[:_MAX_WORD]) if "\\" in word else PurePosixPath(word[:_MAX_WORD])
    if not _ENTRY_FILE.fullmatch(path.name):
        return ""
    folders = [part for part in path.parts[:-1] if part != path.anchor]
    return next((part for part in reversed(folders) if part not in _BUILD_FOLDERS), "")


def _basename(word: str) -> str:
    plain = PureWindowsPath(word).name if "\\" in word else PurePosixPath(word).name
    return _WINDOWS_SUFFIX.sub("", plain) or word
