"""A server's last stderr lines: the cause of its failure, for common failures.

The causes are looked for in this order: a file that hides a package, another version of an SDK, a variable of the shell
that the server lacks, a line of the table below, the end of a traceback, a key of the shell that the server lacks.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from inspector.doctor import node_packages, python_packages
from inspector.doctor.diagnosis import NO_FIX, Fix, Weight
from inspector.doctor.sdk_versions import requirement_of, sdk_cause, shadowed_module
from inspector.doctor.server_facts import ServerFacts, StderrCause
from inspector.doctor.shell_variables import variable_cause, withheld_cause
from inspector.log_lines import searched
from inspector.transports.child import environment_of
from inspector.transports.withheld import NOT_PASSED

MAX_LINE = 500
_SAYS_ERROR = re.compile(r"(?:^|[\s\]>])(?:[Ee]rror(?: \[\w+\])?|ERROR|[Ff]atal|FATAL)\]?:\s*(\S.{0,300})")
"""A line such as `Error: no directory given` or `prog: error: unrecognized arguments: --x`."""
_NAME = r"[\w.@/+-]{1,200}+"


def stderr_cause(lines: Sequence[str], server: ServerFacts) -> StderrCause | None:
    """Return the cause that the lines of a server's log name; None if they name none."""
    log = [line[:MAX_LINE] for line in searched(lines)]
    server = server._replace(log=log)
    stderr_cause = shadowed_module(server) or sdk_cause(server) or variable_cause(server)
    if stderr_cause is not None:
        return stderr_cause
    for pattern, made in _TABLE:
        for line in reversed(log):
            match = pattern.search(line)
            if match and (cause := made(match, server)) is not None:
                return cause
    return _traceback(log) or withheld_cause(server)


def _traceback(lines: Sequence[str]) -> StderrCause | None:
    """Return the last line of a traceback without a known cause, or the last line that says what is wrong."""
    for line in reversed(lines):
        match = re.match(r"\s*(?:Uncaught )?([A-Za-z_][\w.]*(?:Error|Exception))\b:?\s*(.*)", line)
        if match:
            message = f"{match[1]}: {match[2]}" if match[2] else match[1]
            return StderrCause(f"It fails with {message.rstrip('.')}.", NO_FIX, Weight.LIKELY)
    for line in reversed(lines):
        said_so = _SAYS_ERROR.search(line)
        if said_so:
            return StderrCause(f"The server ends with the error “{said_so[1].rstrip(' .')}”.", NO_FIX, Weight.LIKELY)
    return None


def _python_module(match: re.Match[str], server: ServerFacts) -> StderrCause:
    requirement = requirement_of("\n".join(server.log))
    if match[1] == "mcp" and requirement:
        return StderrCause(
            "It cannot import the MCP Python SDK, which is not installed in its environment.",
            python_packages.install(requirement, server),
        )
    return python_packages.missing_module(match, server)


def _port(match: re.Match[str], server: ServerFacts) -> StderrCause:
    number = re.search(r"(?::|\bport\D{0,3})(\d{2,5})\b", match.string) or re.search(r"\b(\d{4,5})\b", match.string)
    if number is None:
        return StderrCause("It needs a port that another program uses.", Fix("Stop the other program."))
    return StderrCause(
        f"It needs port {number[1]}, which another program uses.",
        Fix("Find that program and stop it, or use another port.", f"lsof -i :{number[1]}"),
    )


def _variable(match: re.Match[str], server: ServerFacts) -> StderrCause | None:
    name = match[1]
    if name in ("ERROR", "WARNING", "INFO", "DEBUG", "HTTP", "JSON", "MCP", "API", "URL", "ID"):
        return None
    if name in environment_of(server.target, server.environ):
        return StderrCause(f"It rejects the value of the variable {name}.", Fix("Check the value."))
    if name in server.environ:
        return StderrCause(
            f"It needs the environment variable {name}, which is {NOT_PASSED}.",
            _passing(name, server),
        )
    return StderrCause(
        f"It needs the environment variable {name}, which is not set.",
        _passing(name, server),
    )


def _passing(name: str, server: ServerFacts) -> Fix:
    """Return how a variable reaches the server, in a container too."""
    words = server.words
    if server.program not in ("docker", "podman", "nerdctl") or name in " ".join(words) or "run" not in words:
        return server.passing(name)
    at = words.index("run") + 1
    line = server.line.passing(name).on_command([*words[:at], "-e", name, *words[at:]])
    return Fix("Pass it, also into the container.", str(line))


def _no_file(match: re.Match[str], server: ServerFacts) -> StderrCause:
    if re.match(r"~|\$\{?\w|%\w+%", match[1]):
        return StderrCause(
            f"It does not find the file {match[1]}: no shell starts the server, so “~” and variables are not expanded.",
            Fix("Write the full path."),
        )
    return StderrCause(
        f"It does not find the file {match[1]}.", Fix("Check the path, and the folder in which the server is started.")
    )


def _no_program(match: re.Match[str], server: ServerFacts) -> StderrCause:
    return StderrCause(
        f"It starts the program {match[1]}, which is not on its PATH.", Fix("Install it, or give its full path.")
    )


def _forbidden(match: re.Match[str], server: ServerFacts) -> StderrCause:
    what = f" {match[1]}" if match.re.groups and match[1] else " something"
    return StderrCause(f"The system denies it access to{what}.", Fix("Check its permissions."))


def _syntax(match: re.Match[str], server: ServerFacts) -> StderrCause:
    return StderrCause(
        f"Its program has a syntax error, or is too new for its interpreter: {match[1].strip()}.",
        Fix("Correct it, or run it with the version that it was written for."),
    )


def _no_package(match: re.Match[str], server: ServerFacts) -> StderrCause:
    return StderrCause(
        f"The package {match[1].strip(chr(39) + chr(34)).rstrip('@')} is not in the registry.",
        Fix("Check the spelling of the package."),
    )


def _unreachable(match: re.Match[str], server: ServerFacts) -> StderrCause:
    return StderrCause(
        f"It cannot connect to {match[1]}, which it needs.", Fix("Check that address, and the network."), Weight.LIKELY
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
    (re.compile(r"Cannot find (?:module|package) '([^']{1,400})'"), node_packages.missing_module),
    (
        re.compile(
            r"(?:Package subpath '(\./[^']{1,200})' is not defined by \"exports\"|No \"exports\" main defined)"
            r" in (\S{1,400}?)[/\\]package\.json"
        ),
        node_packages.not_exported,
    ),
    (
        re.compile(r"requested module '([^']{1,200})' does not provide an export named '(\w+)'"),
        node_packages.no_such_name,
    ),
    (
        re.compile(r"\.(tool|resource|prompt|registerTool|registerResource|registerPrompt) is not a function"),
        node_packages.no_such_method,
    ),
    (
        re.compile(r"Server does not support (tools|resources|prompts|logging|completions) \(required for"),
        lambda match, server: StderrCause(
            f"It answers requests for {match[1]} without declaring the capability “{match[1]}”.",
            Fix(f"Create the server with {{ capabilities: {{ {match[1]}: {{}} }} }}."),
        ),
    ),
    (
        re.compile(r"require\(\) of ES Module (\S{1,300})|ERR_REQUIRE_ESM"),
        lambda match, server: StderrCause(
            f"It loads the ES module {match[1] or 'of a package'} with require, which its Node does not allow.",
            Fix("Start it with Node 22 or later."),
        ),
    ),
    (
        re.compile(r"Unknown file extension \"\.(tsx?)\""),
        lambda match, server: StderrCause(
            f"Node does not run .{match[1]} files.",
            Fix("Build the server first, or start it with tsx.", "npm run build", server.folder),
        ),
    ),
    (re.compile(r"EADDRINUSE|[Aa]ddress already in use|port is already (?:in use|allocated)"), _port),
    (re.compile(rf"{_VAR}['\"]?[\w ,:]{{0,60}}?\b{_WANTED}\b"), _variable),
    (re.compile(rf"(?i:missing|required|requires|set|provide|need)\b[\w ,:'\"]{{0,60}}?\b{_VAR}\b"), _variable),
    (re.compile(rf"KeyError: '{_VAR}'"), _variable),
    (re.compile(r"can't open file '?\"?([^'\":]{1,400})"), _no_file),
    (re.compile(r"^\s*(SyntaxError\b.{0,300}|IndentationError\b.{0,300})"), _syntax),
    (re.compile(rf"(?:npm (?:error|ERR!) 404\s+'?|E404.{{0,40}}?(?<![\w.@/+-]))({_NAME})\*?'? is not in"), _no_package),
    (re.compile(r"The requested resource '(@?[\w./-]{1,200})@[^']{0,100}' could not be found"), _no_package),
    (re.compile(rf"(?<![\w.@/+-])({_NAME})['\"`]? was not found in the package registry"), _no_package),
    (re.compile(rf"\b(?:\w*sh|env)(?:: (?:line )?\d+)?: ['\"‘]?({_NAME})['\"’]?: (?:command )?not found"), _no_program),
    (re.compile(rf"env: ['\"‘]?({_NAME})['\"’]?: No such file or directory"), _no_program),
    (
        re.compile(r"Cannot connect to the Docker daemon"),
        lambda match, server: StderrCause("Docker is not running.", Fix("Start Docker.")),
    ),
    (re.compile(r"(?:ENOENT|No such file or directory)[^'\"]{0,80}['\"]([^'\"]{1,400})['\"]"), _no_file),
    (re.compile(r"(?:EACCES|EPERM|[Pp]ermission denied)[^'\"]{0,80}?(?:['\"]([^'\"]{1,400})['\"]|$)"), _forbidden),
    (re.compile(r"(?:ECONNREFUSED|ENOTFOUND|EHOSTUNREACH|ETIMEDOUT)\s+([\w.:\[\]-]{3,100})"), _unreachable),
)
