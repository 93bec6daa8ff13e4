"""A server's last stderr lines: the cause of its failure, for common failures.

The causes are looked for in this order: a file that hides a package, another version of an SDK, a variable of the shell
that the server lacks, a line of the table below, the end of a traceback, a usage, a key of the shell that the server
lacks.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from itertools import takewhile

from inspector.doctor import node_packages, python_packages
from inspector.doctor.diagnosis import NO_FIX, Fix, Weight
from inspector.doctor.sdk_versions import requirement_of, sdk_cause, shadowed_module
from inspector.doctor.server_facts import ServerFacts, StderrCause
from inspector.doctor.shell_variables import variable_cause, withheld_cause
from inspector.doctor.stack_frames import own_frame
from inspector.log_lines import readable, searched
from inspector.transports.child import environment_of
from inspector.transports.withheld import NOT_PASSED

MAX_LINE = 500
_NAMED = re.compile(
    r"[\s|]*(?:Uncaught |Unhandled exception\. |Exception in thread \"[^\"]{0,100}\" |Caused by: |---> )*"
    r"([A-Za-z_][\w.$]*(?:Error|Exception))(?: \[\w+\])?(?:: ?(.*)|\s*$)"
)
"""The line of an exception in a traceback of Python (also in a group), Node, Java or .NET."""
_SAYS = (
    re.compile(  # Rust
        r"(?m)^thread '[^'\n]{0,100}'(?: \(\d{1,9}\))? panicked at "
        r"(?:'(.{1,400}?)', [^\s:]{1,200}:[\d:]{1,20}$|[^\s:]{1,200}:[\d:]{1,20}:\n(.{1,400})$)"
    ),
    re.compile(r"(?m)^[ \t]{0,9}(?:thread \d{1,9} )?panic: (.{1,400}?)(?: \[recovered\]|$)"),  # Go, Zig
    re.compile(r"(?m)^ {1,4}what\(\): {1,4}(.{1,400})$"),  # C++
    re.compile(r"(?m)^(?:<internal:[^\s>]{1,200}>|[^\s:]{1,200}):\d{1,9}:in ['`][^'\n]{1,200}': (.{1,400})$"),  # Ruby
    re.compile(r"(?m)^\*\* (\([\w.]{1,100}\) .{1,400})$"),  # Elixir
    re.compile(r"(?m)^(?!BEGIN failed)(.{1,300}?)(?: \(you may .{0,200})? at \S{1,200} line \d{1,9}\.$"),  # Perl
    re.compile(r"(?m)\b(Assertion [`'].{1,300}?' failed)"),  # C
    re.compile(r"(?m)\bThe promise rejected with the reason \"(.{1,300}?)\"\."),  # Node
    re.compile(r"(?m)^ ?ERR_PNPM_[A-Z_]{1,40} {1,4}(.{1,400})$"),
    re.compile(
        r"(?m)(?:^|[\s\]>])(?:[Ee]rror(?: \[\w{1,60}\]|\[\w{1,20}\]| TS\d{1,6})?|ERROR|[Ff]atal|FATAL"
        r"|[Ff]atal error|FATAL ERROR)\]?:[ \t]{0,20}"
        r"(\S.{0,300}(?:(?<=:)(?:\n[ \t]{1,9}\S.{0,100}){1,9}|\n{1,3}Caused by:\n(?: .{1,300}\n){0,20} .{1,300})?)"
    ),  # The last part: what a line that ends in a colon lists, or the causes of Rust's anyhow
    re.compile(r"(?m)\bError response from daemon: (.{1,400})$"),  # Docker
    re.compile(r"(?:^|\n)(?:[\w.-]{1,60}: )?((?:[Ff]ailed to|[Cc]annot|[Cc]ould not|[Uu]nable to) .{1,400})\Z"),
    re.compile(r"(?m)^╭─ Error ─{1,300}╮\n│ (\S.{0,300}?) {1,300}│$"),  # Typer
)
"""Lines such as `Error: no directory given` or `prog: error: unrecognized arguments: --x`, and those of a crash."""
_NPM = re.compile(
    r"(?m)^npm (?:ERR!|error) (?!code |A complete log|engine Unsupported engine)"
    r"(?:(?:E[A-Z]{3,20}|[a-z]{1,20}(?= [A-Z])) {1,4})?(\S{1,200} .{1,400})$"
)
_ARGUMENTS = re.compile(r"(?i)\brequired (?:argument|flag|option)|\b(?:argument|flag|option)s? (?:is|are) required")
_ERROR_LEVEL = re.compile(r"(?:error|fatal|critical) (\S.+)", re.IGNORECASE)
_HANDLED = re.compile(r"During handling of the above exception")
_PYDANTIC = re.compile(r"\d validation errors? for [\w.]{1,100}$")
_USAGE = re.compile(r"\s{0,9}(?i:usage): {1,9}(\S.{0,200}?)\s{0,300}$")
_COMMANDS = re.compile(r"(?:\s{0,9}(?i:commands):\s{0,300}$|╭─ Commands\b)")
_COMMAND = re.compile(r"(?:│|\s)\s{0,3}([a-z][\w-]{0,40})(?:\s{2}|\s{0,300}$)")
_NAME = r"[\w.@/+-]{1,200}+"
_ADDRESS = re.compile(
    r"(?:(?i:\bports?(?: number)?(?: already in use)?)[\s:=#'\"(\[]{0,3}"
    r"|\('[^']{0,100}', "  # An address of Python
    r"|(?:\w://[^\s/:]{1,200}|\b(?:\d{1,3}\.){3}\d{1,3}|\blocalhost|[*+]"
    r"|\[[\da-fA-F]{0,4}:[\da-fA-F:.]{1,40}(?:%\w{1,20})?\]"
    r"|(?<![\w:])[\da-fA-F:]{0,40}::[\da-fA-F:.]{0,40}(?:%\w{1,20})?"
    r"|\b(?:listen (?:tcp|udp)[46]?|(?:bind|listen|listening) (?:to|on|for)(?: address)?) [\w.-]{1,200}"
    r"|(?<![^\s(\"'=])):)"
    r"(\d{1,5})(?!\d)"
)
"""A port, after its name or an address: no other number of a line is one."""


def stderr_cause(lines: Sequence[str], server: ServerFacts) -> StderrCause | None:
    """Return the cause that the lines of a server's log name; None if they name none."""
    log = [line[:MAX_LINE] for line in searched(lines)]
    server = server._replace(log=log)
    cause = shadowed_module(server) or sdk_cause(server) or variable_cause(server)
    if cause is not None:
        return cause
    for pattern, made in _TABLE:
        for line in reversed(log):
            match = pattern.search(line)
            if match and (cause := made(match, server)) is not None:
                return cause
    cause = _option_of_shell(server) or _traceback(log) or _logged(lines) or _usage(log)
    lacked = withheld_cause(server, guess=cause is None)
    if cause is None or lacked is None or not (cause.fix == NO_FIX or cause.is_place):
        return cause or lacked
    return StderrCause(f"{cause.cause} {lacked.cause}", lacked.fix, cause.weight)


def _option_of_shell(server: ServerFacts) -> StderrCause | None:
    """Return that a required option has a variable of the shell: `--api-key` of a weather server WEATHER_API_KEY."""
    text = "\n".join(server.log)
    command = " ".join(server.words).lower()
    for option in re.findall(r"--([a-z][\w-]{1,60})", text) if _ARGUMENTS.search(text) else ():
        end = "_" + option.upper().replace("-", "_")
        owned = (name for name in server.environ if name.endswith(end) and name.split("_")[0].lower() in command)
        if name := server.not_passed([end[1:], *owned]):
            cause = f"It needs the option --{option}, or a variable: {name} is {NOT_PASSED}."
            return StderrCause(cause, server.passing(name), Weight.LIKELY)
    return None


def _logged(lines: Sequence[str]) -> StderrCause | None:
    """Return the last line of the level error in a log, also of JSON."""
    found = filter(None, (_ERROR_LEVEL.match(readable(line)[:MAX_LINE]) for line in reversed(lines)))
    last = next(found, None)
    return None if last is None else _ends_with(last[1])


def _ends_with(words: str, fix: Fix = NO_FIX) -> StderrCause:
    return StderrCause(f"The server ends with the error “{words.rstrip(' .')}”.", fix, Weight.LIKELY)


def _traceback(lines: Sequence[str]) -> StderrCause | None:
    """Return the end of a traceback without a known cause, or what a crash or the last error says."""
    words, at = _of_python(lines)
    if not words:
        at, named = next(((at, m) for at in reversed(range(len(lines))) if (m := _NAMED.match(lines[at]))), (0, None))
        words = ": ".join(filter(None, named.groups())) if named is not None else ""
    if words:
        cause = f"It fails with {words.removeprefix('__main__.').rstrip('.')}."
        return _located(StderrCause(cause, NO_FIX, Weight.LIKELY), lines, at)
    text = "\n".join(lines)
    last = next((matches[-1] for matches in ([*pattern.finditer(text)] for pattern in _SAYS) if matches), None)
    npm = _NPM.search(text)
    if last is not None:
        at = text.count("\n", 0, last.start(last.lastindex or 0))
        message, _, more = last[last.lastindex or 0].partition("\n")
        cause = more.strip().rpartition("\n")[2].strip()
        words = f"{message}: {cause}" if cause else message
        if message.endswith(":") and more[:1].isspace():
            words = f"{message} {', '.join(map(str.strip, more.splitlines()))}"
    elif npm is not None:
        words = npm[1]
    if not words:
        return None
    if not _ARGUMENTS.search(words):
        ended = _ends_with(words)
        return ended if last is None else _located(ended, lines, at)
    used = _used(lines)
    return _ends_with(words, Fix("Add what it names to the command of the server.") if used is NO_FIX else used)


def _located(cause: StderrCause, lines: Sequence[str], at: int) -> StderrCause:
    """Return the cause with the place in the server's own files of an error in its log."""
    found = own_frame(lines, at)
    if found is None:
        return cause
    sentence = f"{cause.cause.removesuffix('.')} in {found.name}, line {found.number}."
    fix = Fix(f"Look at line {found.number} of {found.path}.")
    return cause._replace(cause=sentence, fix=fix, is_place=True)


def _of_python(lines: Sequence[str]) -> tuple[str, int]:
    """Return the exception of the last traceback of Python, whatever its name, and the index of its line in `lines`.

    One of pydantic has its first fault. Without a traceback the text is empty.
    """
    start = max((at for at, line in enumerate(lines) if line.startswith("Traceback (most")), default=len(lines))
    at = next((n for n in range(start + 1, len(lines)) if re.match(r"[A-Za-z_][\w.]*(?:: |$)", lines[n])), None)
    if at is None:
        return "", 0
    fault = [line.partition(" [type=")[0].strip() for line in lines[at + 1 : at + 3]]
    return ": ".join([lines[at], *fault] if _PYDANTIC.search(lines[at]) else [lines[at]]), at


def _usage(log: Sequence[str]) -> StderrCause | None:
    """Return the cause of a program that prints how it is used."""
    fix = _used(log)
    if fix is NO_FIX:
        return None
    return StderrCause("It prints its usage: its command lacks arguments.", fix, Weight.LIKELY)


def _used(log: Sequence[str]) -> Fix:
    """Return what the last usage in a log says."""
    at = max((at for at, line in enumerate(log) if _USAGE.match(line)), default=-1)
    if at < 0:
        return NO_FIX
    start = next((n for n in range(at + 1, len(log)) if _COMMANDS.match(log[n])), len(log))
    listed = takewhile(lambda line: line.strip(" ╰─╯"), log[start + 1 :])
    commands = [match[1] for match in map(_COMMAND.match, listed) if match]
    if commands:
        return Fix(f"Add one of its commands: {', '.join(commands[:9])}{', …' * (len(commands) > 9)}")
    usage = " ".join(map(str.strip, [log[at], *takewhile(lambda line: line.startswith(" " * 8), log[at + 1 :])]))
    return Fix(f"Its usage: {usage.partition(': ')[2][:300]}")


def _argument(match: re.Match[str], server: ServerFacts) -> StderrCause | None:
    if "TypeError" in match.string:  # Of a function, not of the command.
        return None
    what = f"{match[1].lower()} {match[2]}".rstrip()
    return StderrCause(f"It needs the {what}, which its command does not have.", _used(server.log))


def _arguments(match: re.Match[str], server: ServerFacts) -> StderrCause:
    what = f"argument{'s' * (',' in match[1])} {match[1].rstrip()}"
    return StderrCause(f"It needs the {what}, which its command does not have.", _used(server.log))


def _python_module(match: re.Match[str], server: ServerFacts) -> StderrCause | None:
    requirement = requirement_of("\n".join(server.log))
    later = server.log[server.log.index(match.string) + 1 :]
    if "." in match[1] and any(map(_HANDLED.match, later)):
        return None  # A part that the server can do without: what came afterwards ended it.
    if match[1] == "mcp" and requirement:
        return StderrCause(
            "It cannot import the MCP Python SDK, which is not installed in its environment.",
            python_packages.install(requirement, server),
        )
    return python_packages.missing_module(match, server)


def _port(match: re.Match[str], server: ServerFacts) -> StderrCause:
    said = [match.string, *(line for line in reversed(server.log) if match.re.search(line))]
    numbers = [int(found[1]) for line in said for found in _ADDRESS.finditer(line)]
    option = re.search(r"(?:^| )(?:--port|-p)[ =](\d{2,5})(?: |$)", " ".join(server.words))
    if option is not None:
        numbers.append(int(option[1]))
    number = next((number for number in numbers if 0 < number < 65536), None)
    if number is None:
        return StderrCause("It needs a port that another program uses.", Fix("Stop the other program."))
    return StderrCause(
        f"It needs port {number}, which another program uses.",
        Fix("Find that program and stop it, or use another port.", f"lsof -i :{number}"),
    )


def _variable(match: re.Match[str], server: ServerFacts) -> StderrCause | None:
    name = match[1]
    if match.string.rstrip().endswith(":"):  # The names are in the next lines.
        names = re.findall(_VAR, "\n".join(server.log))
        name = next((longer for longer in names if longer.startswith(f"{name}_")), name)
    if name in ("ERROR", "WARNING", "INFO", "DEBUG", "HTTP", "JSON", "MCP", "API", "URL", "ID"):
        return None
    others = _alternatives(match.string)
    name = next((other for other in others if other in server.environ), name)
    if name in environment_of(server.target, server.environ):
        return StderrCause(f"It rejects the value of the variable {name}.", Fix("Check the value."))
    if name in server.environ:
        return StderrCause(
            f"It needs the environment variable {name}, which is {NOT_PASSED}.",
            _passing(name, server),
        )
    if others:
        return StderrCause(
            f"It needs one of these environment variables, and none is set: {', '.join(others)}.",
            _passing(others[0], server),
        )
    return StderrCause(
        f"It needs the environment variable {name}, which is not set.",
        _passing(name, server),
    )


def _alternatives(line: str) -> list[str]:
    """Return the variables that a line joins with “or”, of which one is enough."""
    names = list(re.finditer(_VAR, line))
    joined = len(names) > 1 and re.search(r"\bor\b", line[names[0].end() : names[-1].start()])
    return list(dict.fromkeys(name[1] for name in names))[:6] if joined else []


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
    what = "path" if re.match(r"[Pp]ath|[Dd]irectory|[Ff]older", match[0]) else "file"
    return StderrCause(
        f"It does not find the {what} {match[1]}.",
        Fix("Check the path, and the folder in which the server is started."),
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
        Weight.LIKELY,
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


def _not_allowed(match: re.Match[str], server: ServerFacts) -> StderrCause:
    return StderrCause(
        f"Deno does not give it {match[1]} access.", Fix("Add the option that Deno names to its command.")
    )


def _other_system(match: re.Match[str], server: ServerFacts) -> StderrCause:
    return StderrCause(
        f"The program {match[1]} was built for another system or processor.", Fix("Install the build for this one.")
    )


def _older_library(match: re.Match[str], server: ServerFacts) -> StderrCause:
    return StderrCause(
        f"It was built for a newer system: it needs {match[1]}, which the libraries of this one do not have.",
        Fix("Use a build for this system, or run it in a container."),
    )


def _no_library(match: re.Match[str], server: ServerFacts) -> StderrCause:
    return StderrCause(f"It does not find the shared library {match[1]}.", Fix("Install the package that has it."))


def _no_framework(match: re.Match[str], server: ServerFacts) -> StderrCause:
    return StderrCause(f"It needs {match[1]} {match[2]}, which is not installed.", Fix("Install that version of .NET."))


_Made = Callable[[re.Match[str], ServerFacts], StderrCause | None]
_VAR = r"(?<![A-Z0-9_])([A-Z][A-Z0-9]*_[A-Z0-9_]{1,60})"
_WANTED = (
    r"(?:is |are )?(?:not (?:set|defined|provided|found|configured)|required|missing|must be (?:set|provided|defined)"
    r"|undefined|unset|empty)"
)
_TABLE: tuple[tuple[re.Pattern[str], _Made], ...] = (
    (re.compile(rf"ModuleNotFoundError: No module named '?({_NAME})'?"), _python_module),
    (re.compile(r"\bNo module named ([\w.]{1,200}?)\.__main__; "), python_packages.not_runnable),
    (re.compile(rf"\bNo module named '?({_NAME})'?"), _python_module),
    (
        re.compile(
            r"Cannot find module '[^']{1,400}\.node'|Could not locate the bindings file|No native build was found for"
            r"|compiled against a different Node"
        ),
        node_packages.not_built,
    ),
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
        re.compile(r"No such built-in module: (node:[\w/]{1,60})"),
        lambda match, server: StderrCause(
            f"It needs the built-in module {match[1]}, which its Node does not have.",
            Fix("Start it with a newer Node; “engines” in its package.json says which."),
        ),
    ),
    (
        re.compile(r"Unknown file extension \"\.(tsx?)\""),
        lambda match, server: StderrCause(
            f"Node does not run .{match[1]} files.",
            Fix("Build the server first, or start it with tsx.", "npm run build", node_packages.project_of(server)),
        ),
    ),
    (
        re.compile(
            r"EADDRINUSE|[Aa]ddress already in use|[Pp]ort (?:\d+ )?(?:(?:is|was) )?already (?:in use|allocated)"
            r"|[Pp]ort \d{1,5} (?:in use\?|is in use by)|\[(?i:winerror|errno) 10048\]"
        ),
        _port,
    ),
    (re.compile(r"(?:NotCapable|PermissionDenied): Requires (\w{2,10}) access"), _not_allowed),
    (
        re.compile(r"(?:^|[\s'\"])([^\s'\":]{1,300})'?: (?:cannot execute binary file: )?[Ee]xec format error"),
        _other_system,
    ),
    (re.compile(r"\bversion [`'\"](GLIBC\w*_[\d.]+)'? not found"), _older_library),
    (re.compile(r"(?:^|[\s'])([^\s':]{1,300}): cannot open shared object file"), _no_library),
    (re.compile(r"^(?:dyld.{0,40})?Library not loaded: (\S{1,300})"), _no_library),
    (re.compile(r"^Framework: '([^']{1,100})', version '([^']{1,40})'"), _no_framework),
    (
        re.compile(
            r"(?i:\bmissing (?:required )?(argument|option|parameter)s?)(?::? ['\"]|: )"
            r"([^'\"│:]{1,100}?)['\"]?(?:[.│\s]|$)"
        ),
        _argument,
    ),
    (re.compile(r"\bError: Missing (command)()\."), _argument),
    (re.compile(r"\bthe following arguments are required: (\S.{0,200})"), _arguments),
    (re.compile(rf"{_VAR}['\"]?[\w ,:]{{0,60}}?\b{_WANTED}\b"), _variable),
    (re.compile(rf"(?i:missing|required|requires|set|provide|need)\b[\w ,:'\"]{{0,60}}?\b{_VAR}\b"), _variable),
    (re.compile(rf"KeyError: '{_VAR}'"), _variable),
    (re.compile(r"can't open file '?\"?([^'\":]{1,400})"), _no_file),
    (
        re.compile(r"SyntaxError: Cannot use import statement outside a module"),
        lambda match, server: StderrCause(
            "It uses import, but Node reads its file as CommonJS.",
            Fix('Put "type": "module" into its package.json, or end the name of the file in .mjs.'),
        ),
    ),
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
    (re.compile(r"(?:ENOENT|No such file or directory)[^'\"]{0,80}['\"]([^\s'\"][^'\"]{0,400})['\"]"), _no_file),
    (
        re.compile(r"\b(?:open|stat|lstat|chdir) ([^:'\"\s]{1,400}): (?:no such file|The system cannot find the file)"),
        _no_file,
    ),
    (
        re.compile(
            r"\b(?:[Ff]ile|[Pp]ath|[Dd]irectory|[Ff]older) (?:(?:was |is )?not found|does(?: not|n't) exist)"
            r"[\w ]{0,40}: ['\"]?([^\s:'\"]{0,300}[/\\][^\s:'\"]{1,300})"
        ),
        _no_file,
    ),
    (re.compile(r"\bopen ([^:'\"\s]{1,400}): permission denied"), _forbidden),
    (re.compile(r"(?:EACCES|EPERM|[Pp]ermission denied)[^'\"]{0,80}?(?:['\"]([^'\"]{1,400})['\"]|$)"), _forbidden),
    (re.compile(r"(?:ECONNREFUSED|ENOTFOUND|EHOSTUNREACH|ETIMEDOUT)\s+([\w.:\[\]-]{3,100})"), _unreachable),
    (
        re.compile(
            r"\bdial \w{2,5}(?: lookup)? ([\w.:\[\]-]{3,100})(?: on \S{1,80})?:"
            r" (?:connect: connection refused|no such host|i/o timeout|connect: no route)"
        ),
        _unreachable,
    ),
)
