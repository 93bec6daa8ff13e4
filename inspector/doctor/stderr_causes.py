"""A server's last stderr lines: the cause of its exit, for common failures."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from inspector.config.targets import StdioTarget
from inspector.doctor.diagnosis import NO_FIX, Fix, Weight
from inspector.hints import Hint, Parameter

MAX_LINE = 500
_SAYS_ERROR = re.compile(r"(?:^|[\s\]>])(?:[Ee]rror|ERROR|[Ff]atal|FATAL)\]?:\s*(\S.{0,300})")
"""A line such as `Error: no directory given` or `prog: error: unrecognized arguments: --x`."""
_NAME = r"[\w.@/+-]{1,200}"
_PACKAGES = {"yaml": "pyyaml", "PIL": "pillow", "dotenv": "python-dotenv", "bs4": "beautifulsoup4"}
"""Python packages whose name differs from their module's."""


class StderrCause(NamedTuple):
    """The cause in stderr, in a sentence, with its fix."""

    cause: str
    fix: Fix = NO_FIX
    weight: Weight = Weight.PROOF


class ServerFacts(NamedTuple):
    """The facts about a server that a fix may need."""

    target: StdioTarget
    folder: str
    environ: Mapping[str, str]
    """Our own environment; the server receives only a small part of it."""


def stderr_cause(lines: Sequence[str], server: ServerFacts) -> StderrCause | None:
    """Return the first kind of failure, in the table's order, that a line names; of these lines, the last."""
    shown = [line[:MAX_LINE] for line in lines]
    for pattern, made in _TABLE:
        for line in reversed(shown):
            found = pattern.search(line)
            if found and (made_of := made(found, server)) is not None:
                return made_of
    return _traceback(shown)


def _traceback(lines: Sequence[str]) -> StderrCause | None:
    """Return the last line of a traceback without a known cause, or the last line that says what is wrong."""
    for line in reversed(lines):
        found = re.match(r"\s*(?:Uncaught )?([A-Za-z_][\w.]*(?:Error|Exception))\b:?\s*(.*)", line)
        if found:
            said = f"{found[1]}: {found[2]}" if found[2] else found[1]
            return StderrCause(f"It fails with {said.rstrip('.')}.", NO_FIX, Weight.LIKELY)
    for line in reversed(lines):
        said_so = _SAYS_ERROR.search(line)
        if said_so:
            return StderrCause(f"The server ends with the error “{said_so[1].rstrip(' .')}”.", NO_FIX, Weight.LIKELY)
    return None


def _starts_with(server: ServerFacts) -> str:
    return os.path.basename(server.target.command[0]).removesuffix(".exe")


def _python_module(found: re.Match[str], server: ServerFacts) -> StderrCause:
    module = found[1].split(".")[0].strip("'\"")
    words = server.target.command
    started = words[words.index("-m") + 1].split(".")[0] if "-m" in words[:-1] else ""
    if module == started:
        return StderrCause(
            f"Python does not find the server's own package, {module}.",
            Fix(
                Hint("Install it, or start it in its folder (", Parameter.CWD, ")."),
                _install(module, server),
                server.folder,
            ),
        )
    return StderrCause(
        f"It cannot import the Python module {module}, which is not installed in its environment.",
        Fix("", _install(module, server), server.folder),
    )


def _install(module: str, server: ServerFacts) -> str:
    package = {"yaml": "pyyaml", "PIL": "pillow", "dotenv": "python-dotenv", "bs4": "beautifulsoup4"}.get(
        module, module
    )
    program = _starts_with(server)
    if program == "uv":
        return f"uv add {package}"
    python = server.target.command[0] if program.startswith(("python", "pypy")) else "python3"
    return f"{shlex.quote(python)} -m pip install {package}"


def _node_module(found: re.Match[str], server: ServerFacts) -> StderrCause:
    name = found[1]
    if name.startswith((".", "/", "file:")) or re.match(r"[A-Za-z]:\\", name):
        built = any(part in name for part in ("/dist/", "/build/", "/out/", "/lib/"))
        fix = Fix("Build the server first.", "npm run build", server.folder) if built else Fix("Check the path.")
        return StderrCause(f"Node does not find the file {name}.", fix)
    parts = name.split("/")
    package = "/".join(parts[:2]) if name.startswith("@") else parts[0]
    return StderrCause(
        f"Node does not find the package {package}, which is not installed in its environment.",
        Fix("", f"npm install {shlex.quote(package)}", server.folder),
    )


def _port(found: re.Match[str], server: ServerFacts) -> StderrCause:
    number = re.search(r"(?::|\bport\D{0,3})(\d{2,5})\b", found.string) or re.search(r"\b(\d{4,5})\b", found.string)
    if number is None:
        return StderrCause("It needs a port that another program uses.", Fix("Stop the other program."))
    return StderrCause(
        f"It needs port {number[1]}, which another program uses.",
        Fix("Find that program and stop it, or use another port.", f"lsof -i :{number[1]}"),
    )


def _variable(found: re.Match[str], server: ServerFacts) -> StderrCause | None:
    name = found[1]
    if name in ("ERROR", "WARNING", "INFO", "DEBUG", "HTTP", "JSON", "MCP", "API", "URL", "ID"):
        return None
    if name in server.target.env:
        return StderrCause(f"It rejects the value of the variable {name}.", Fix("Check the value."))
    if name in server.environ:
        return StderrCause(
            f"It needs the environment variable {name}, which is set in this shell but not passed to the server.",
            Fix("Pass it, or add it to the config entry.", _with_env(name, server)),
        )
    return StderrCause(
        f"It needs the environment variable {name}, which is not set.",
        Fix("Pass it, or add it to the config entry.", _with_env(name, server)),
    )


def _with_env(name: str, server: ServerFacts) -> str:
    target = f"@{server.target.name}" if server.target.name else f"-- {server.target.describe()}"
    return f'inspector --env {name}="${name}" {target}'


def _no_file(found: re.Match[str], server: ServerFacts) -> StderrCause:
    return StderrCause(
        f"It does not find the file {found[1]}.", Fix("Check the path, and the folder in which the server is started.")
    )


def _no_program(found: re.Match[str], server: ServerFacts) -> StderrCause:
    return StderrCause(
        f"It starts the program {found[1]}, which is not on its PATH.", Fix("Install it, or give its full path.")
    )


def _forbidden(found: re.Match[str], server: ServerFacts) -> StderrCause:
    what = f" {found[1]}" if found.re.groups and found[1] else " something"
    return StderrCause(f"The system denies it access to{what}.", Fix("Check its permissions."))


def _syntax(found: re.Match[str], server: ServerFacts) -> StderrCause:
    return StderrCause(
        f"Its program has a syntax error, or is too new for its interpreter: {found[1].strip()}.",
        Fix("Correct it, or run it with the version that it was written for."),
    )


def _no_package(found: re.Match[str], server: ServerFacts) -> StderrCause:
    return StderrCause(
        f"The package {found[1].strip(chr(39) + chr(34)).rstrip('@')} is not in the registry.",
        Fix("Check the spelling of the package."),
    )


def _unreachable(found: re.Match[str], server: ServerFacts) -> StderrCause:
    return StderrCause(
        f"It cannot connect to {found[1]}, which it needs.", Fix("Check that address, and the network."), Weight.LIKELY
    )


_Made = Callable[[re.Match[str], ServerFacts], StderrCause | None]
_VAR = r"(?<![A-Z0-9_])([A-Z][A-Z0-9]*_[A-Z0-9_]{1,60})"
_WANTED = (
    r"(?:is |are )?(?:not (?:set|defined|provided|found|configured)|required|missing|must be (?:set|provided|defined)"
    r"|undefined|unset|empty)"
)
_TABLE: tuple[tuple[re.Pattern[str], _Made], ...] = (
    (re.compile(rf"ModuleNotFoundError: No module named '?({_NAME})'?"), _python_module),
    (re.compile(rf"\bNo module named '?({_NAME})'?"), _python_module),
    (re.compile(r"Cannot find (?:module|package) '([^']{1,400})'"), _node_module),
    (re.compile(r"EADDRINUSE|[Aa]ddress already in use|port is already (?:in use|allocated)"), _port),
    (re.compile(rf"{_VAR}['\"]?[\w ,:]{{0,60}}?\b{_WANTED}\b"), _variable),
    (re.compile(rf"(?i:missing|required|requires|set|provide|need)\b[\w ,:'\"]{{0,60}}?\b{_VAR}\b"), _variable),
    (re.compile(rf"KeyError: '{_VAR}'"), _variable),
    (re.compile(r"can't open file '?\"?([^'\":]{1,400})"), _no_file),
    (re.compile(r"^\s*(SyntaxError\b.{0,300}|IndentationError\b.{0,300})"), _syntax),
    (re.compile(rf"(?:npm (?:error|ERR!) 404\s+'?|E404.{{0,40}}?)({_NAME})\*?'? is not in"), _no_package),
    (re.compile(r"The requested resource '(@?[\w./-]{1,200})@[^']{0,100}' could not be found"), _no_package),
    (re.compile(rf"(?:Because )?['\"`]?({_NAME})['\"`]? was not found in the package registry"), _no_package),
    (re.compile(rf"\b(?:\w*sh|env)(?:: (?:line )?\d+)?: ['\"‘]?({_NAME})['\"’]?: (?:command )?not found"), _no_program),
    (re.compile(rf"env: ['\"‘]?({_NAME})['\"’]?: No such file or directory"), _no_program),
    (
        re.compile(r"Cannot connect to the Docker daemon"),
        lambda found, server: StderrCause("Docker is not running.", Fix("Start Docker.")),
    ),
    (re.compile(r"(?:ENOENT|No such file or directory)[^'\"]{0,80}['\"]([^'\"]{1,400})['\"]"), _no_file),
    (re.compile(r"(?:EACCES|EPERM|[Pp]ermission denied)[^'\"]{0,80}?(?:['\"]([^'\"]{1,400})['\"]|$)"), _forbidden),
    (re.compile(r"(?:ECONNREFUSED|ENOTFOUND|EHOSTUNREACH|ETIMEDOUT)\s+([\w.:\[\]-]{3,100})"), _unreachable),
)
