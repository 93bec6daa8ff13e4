"""The options that several verbs share: flags, value and help text.

Options belong to Inspector until the target starts, and the target may be a command with its own options. General
parsers do not have that rule, so `parser.py` reads the options from this table. Help and completion read it too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from inspector.errors import UsageError
from inspector.reasons import os_reason

if TYPE_CHECKING:
    from pathlib import Path

LOG_LEVELS = ("debug", "info", "notice", "warning", "error", "critical", "alert", "emergency")


class Value(NamedTuple):
    """The value of an option: how help shows it, how it is read, and what a shell completes.

    `read` converts the word and raises `UsageError` if it is invalid. `completes` is `file`, `dir`, `host`,
    `config-host` or empty. With `fits` the value is optional and defaults to `otherwise`: the next word is the value
    only if `fits` accepts it.
    """

    metavar: str
    read: Callable[[str], Any] = str
    completes: str = ""
    fits: Callable[[str], bool] | None = None
    otherwise: Any = None


class Option:
    """One option. Without a `value` or `choices` it is a switch; `many` collects its values in a list.

    `old` is the flag of an earlier version: the parser takes it, and nothing shows it. `name` keeps the value apart
    from that of a shared option with the same flag. `aliases` are other names of choices.
    """

    __slots__ = (
        "aliases", "choices", "completes", "fits", "flags", "help", "many", "metavar", "name", "old", "otherwise",
        "read",
    )  # fmt: skip

    def __init__(
        self,
        flags: str,
        help: str,
        value: Value | str = "",
        *,
        many: bool = False,
        choices: tuple[str, ...] = (),
        aliases: Mapping[str, str] | None = None,
        old: str = "",
        name: str = "",
    ) -> None:
        self.flags = tuple(flags.split())
        self.old = old
        self.name = name or self.flags[-1].removeprefix("--")
        self.help = help
        metavar, *how = value if isinstance(value, Value) else Value(value)
        self.read, self.completes, self.fits, self.otherwise = how
        self.metavar = metavar or "|".join(choices)
        self.many = many
        self.choices = choices
        self.aliases = aliases or {}

    @property
    def accepted(self) -> tuple[str, ...]:
        """The flags that the parser takes."""
        return (*self.flags, self.old) if self.old else self.flags

    @property
    def is_secret(self) -> bool:
        """Whether the value is a secret, which is read from a variable or a file."""
        return self.read in (secret, key)

    def value(self, word: str) -> Any:
        """Convert `word` to the value; raises `UsageError` with the expected values."""
        word = self.aliases.get(word, word)
        if self.choices and word not in self.choices:
            raise UsageError(f"{self.flags[-1]} cannot be “{word[:80]}”.", hint=f"Use {_either(self.choices)}.")
        return self.read(word)


def names_in(words: Iterable[str]) -> list[str]:
    """The names in words, each of which may have several with commas."""
    return [name.strip() for word in words for name in word.split(",") if name.strip()]


def seconds(word: str) -> float:
    """A length of time above 0, in seconds."""
    value = span(word)
    if not value:
        raise UsageError(f"“{word[:80]}” is not above 0.", hint="Examples: 30s, 500ms, 2min.")
    return value


def span(word: str) -> float:
    """A length of time, which may be 0, in seconds; a number without a unit is seconds."""
    from inspector.times import parse_length

    value = parse_length(word)
    if value is None:
        raise UsageError(f"“{word[:80]}” is not a length of time.", hint="Examples: 30s, 500ms, 2min.")
    return value


def count(word: str) -> int:
    """A whole number from 1."""
    value = int(word) if word.isascii() and word.isdigit() and len(word) < 16 else 0
    if value < 1:
        raise UsageError(f"“{word[:80]}” is not a whole number above 0.")
    return value


def pace(word: str) -> float | None:
    """The pace of a recording: `recorded` (1.0), `fast` (None), or a factor; 2 is twice the recorded speed."""
    if word == "fast":
        return None
    try:
        factor = 1.0 if word == "recorded" else float(word)
    except ValueError:
        factor = 0.0
    if not 0 < factor < 1e6:
        raise UsageError(f"“{word[:80]}” is not a pace.", hint="Use recorded, fast, or a factor such as 2 or 0.5.")
    return factor


def path(word: str) -> Path:
    """A path; `~` is the home folder."""
    from pathlib import Path

    if not word or "\0" in word:
        raise UsageError("The file name is empty." if not word else "A file name cannot contain NUL.")
    return Path(word).expanduser()


STDOUT = "/dev/stdout"
"""The output file that `-` stands for."""


def output(word: str) -> Path:
    """A file to write; `-` is standard output."""
    from pathlib import Path

    return Path(STDOUT) if word == "-" else path(word)


def new_file(word: str) -> Path:
    """A file to write; not stdout, because the recording is read while it is written."""
    if output(word) == output("-"):
        raise UsageError("A recording cannot be written to stdout.", hint="Give a file name.")
    return path(word)


def recording(word: str) -> Path:
    """The path of a recording, given as a path or as a name from `inspector recordings`."""
    from inspector.config.target_arguments import recording_path

    return recording_path(str(path(word)))


def text_or_file(word: str) -> str:
    """The word itself, or the content of the file after `@`; `@-` is stdin."""
    if not word.startswith("@"):
        return word
    if word == "@-":
        import sys

        try:
            return "" if sys.stdin is None else sys.stdin.read()
        except (OSError, ValueError) as error:
            raise UsageError(f"stdin cannot be read: {os_reason(error)}.") from None
    from inspector.config.foreign_files import read_text

    return read_text(path(word[1:]), limit=1 << 30)


def json_object(word: str) -> dict[str, Any]:
    """A JSON object, from the word or from the file after `@`; `-` and `@-` are stdin."""
    word = "@-" if word == "-" else word
    text = text_or_file(word)
    from inspector.protocol import jsonrpc

    where = f"The file {word[1:]}" if word.startswith("@") else f"“{text[:80]}”"
    try:
        value = jsonrpc.parse(text.encode("utf-8", "surrogateescape"))
    except jsonrpc.NotJson as problem:
        raise UsageError(
            f"{where} is not JSON: {problem}.", hint='Give a JSON object such as {"key": "value"}.'
        ) from None
    if type(value) is not dict:
        raise UsageError(f"{where} is not a JSON object.", hint='Give a JSON object such as {"key": "value"}.')
    return value


def header(word: str) -> tuple[str, str]:
    """An HTTP header, `Name: value`."""
    from inspector.config.text_checks import parse_header

    return parse_header(word)


def variable(word: str) -> tuple[str, str | None]:
    """An environment variable: `NAME=value`, or `NAME` for the value of this shell."""
    from inspector.config.text_checks import parse_variable

    return parse_variable(word)


def pair(word: str) -> tuple[str, str]:
    """A name and its value, `name=value`."""
    name, equals, value = word.partition("=")
    if not name or not equals:
        raise UsageError(f"“{word[:80]}” is not in name=value form.", hint="Example: owner=acme")
    return name, value


def extension(word: str) -> tuple[str, dict[str, Any] | None]:
    """An extension to offer, `ID` or `ID=JSON`; `ID=null` does not offer it. A short name stands for its id."""
    from inspector.protocol.extensions import SHORT_NAMES, default_settings, full_id

    name, equals, settings = word.partition("=")
    id = full_id(name)
    if "/" not in id:
        raise UsageError(
            f"“{name[:80]}” is not the id of an extension.",
            hint=f"Write VENDOR/NAME, such as com.example/search, or {_either(tuple(SHORT_NAMES))}.",
        )
    if not equals:
        return id, default_settings(id)
    return id, None if settings == "null" else json_object(settings)


def client(word: str) -> str:
    """The client's name, `NAME` or `NAME/VERSION`."""
    if not word.strip() or len(word) > 1000:
        raise UsageError(f"“{word[:80]}” is not the name of a client.", hint="Write NAME or NAME/VERSION.")
    return word


def host(word: str) -> str:
    """A host whose introduction to servers is known."""
    from inspector.hosts.facts import client_of, host_facts

    if client_of(word) is None:
        known = ", ".join(host_facts().clients)
        raise UsageError(f"How {word[:40]} introduces itself to a server is not known.", hint=f"Use one of: {known}.")
    return word


def revision(word: str) -> str:
    """A revision, which may be unknown."""
    if not word.strip():
        raise UsageError("The revision is empty.", hint="Write one such as 2025-11-25.")
    return word


def root(word: str) -> str:
    """The URI of a root; a path becomes a `file:` URI."""
    from inspector.config.text_checks import root_uri

    return root_uri(word)


def secret(word: str) -> str:
    """A secret from an environment variable, or from the file after `@`. A command line must not contain secrets."""
    import os
    import re

    if word.startswith("@"):
        from inspector.config.foreign_files import read_text

        value = read_text(path(word[1:]), limit=1 << 16).rstrip("\r\n")
        where = f"The file {word[1:][:200]}"
    else:
        value = os.environ.get(word, "")
        # If the user passed the secret itself by mistake, the error must not print it.
        named = re.fullmatch(r"[A-Z_][A-Z0-9_]{0,39}", word)
        where = f"The environment variable {word}" if named else "The given environment variable"
    if not value.strip():
        raise UsageError(
            f"{where} is empty or unset.",
            hint="Give the name of a variable that is set, or @FILE. Do not give the secret itself.",
        )
    return value


def key(word: str) -> str:
    """The private key in a file."""
    return secret(f"@{word.removeprefix('@')}")


def elicitation(word: str) -> str | dict[str, Any]:
    """The answer to elicitation requests: a word, or the content."""
    if word in ("ask", "defaults", "decline", "cancel") or word.startswith("run:"):
        return word
    if not word.startswith(("{", "@")):
        raise UsageError(
            f"--elicit cannot be “{word[:80]}”.",
            hint="Use defaults, decline, cancel, run:PROGRAM, a JSON object or @FILE.",
        )
    return json_object(word)


def _either(choices: tuple[str, ...]) -> str:
    return choices[0] if len(choices) == 1 else f"{', '.join(choices[:-1])} or {choices[-1]}"


FILE, DIR = Value("FILE", path, "file"), Value("DIR", path, "dir")
OUT_FILE, OUT = Value("FILE", output, "file"), Value("OUT", output, "file")
NEW_FILE = Value("FILE", new_file, "file")
TIME = Value("TIME", seconds)
COUNT = Value("N", count)
SECRET = Value("NAME|@FILE", secret, "file")
JSON_OBJECT = Value("JSON|@FILE|-", json_object)

HELP = Option("-h --help", "Show this help and exit")
HELP_ALL = Option("--help-all", "Show the help with all options and exit")
VERSION = Option("-V --version", "Show the version, with those of Python and the system, and exit")
JSON = Option("--json", "Print one JSON document; errors as JSON on stderr")
QUIET = Option("-q --quiet", "Print only errors and warnings of data loss on stderr")

FORCE = Option("--force", "Overwrite existing output files")
ADDON = Option(
    "--addon", "Let the functions in this Python file see and change each message; repeatable", FILE, many=True
)

SERVER = (
    Option(
        "--header", "Send this HTTP header with every request; repeatable", Value("'NAME: VALUE'", header), many=True
    ),
    Option(
        "--env",
        "Give the server this variable, with the value of this shell or another one; repeatable",
        Value("NAME[=VALUE]", variable),
        many=True,
    ),
    Option("--env-file", "Give the server the variables in this .env file; repeatable", FILE, many=True),
    Option("--inherit-env", "Give the server all variables of this shell, secrets too"),
    Option("--cwd", "Start the server in this directory", DIR),
    Option("--timeout", "Request timeout; progress restarts it", TIME),
    Option("--config", "Look up @NAME in this config file", FILE),
    Option("--transport", "Transport to use", choices=("auto", "stdio", "http", "sse")),
    Option("--era", "Protocol era to use; auto detects it", choices=("auto", "legacy", "modern")),
    Option(
        "--revision",
        "Protocol revision to use, such as 2025-11-25 or 2026-07-28",
        Value("REVISION", revision),
        old="--protocol",
    ),
    Option(
        "--extension",
        "Offer this extension to the server: an id, or skills, apps, events, tasks; repeatable",
        Value("ID[=JSON|@FILE]", extension),
        many=True,
    ),
    Option("--client", "Name of the client that the server is told", Value("NAME[/VERSION]", client)),
    Option("--as", "Connect as this host does: client name, revision, capabilities, extensions", Value("HOST", host)),
    Option("--root", "Offer this root (URI or directory) to the server; repeatable", Value("URI", root), many=True),
    Option(
        "--sampling",
        "Answer sampling requests: decline them, return this text, or ask a program",
        Value("decline|TEXT|@FILE|run:PROGRAM", text_or_file),
    ),
    Option(
        "--elicit",
        "Answer elicitation requests: accept with the defaults or this content, decline, cancel, or ask a program",
        Value("defaults|decline|cancel|JSON|@FILE|run:PROGRAM", elicitation),
    ),
    ADDON,
    Option("--trace", "Send the trace context of its span in each request and notification (traceparent in _meta)"),
    Option("--log-level", "Minimum severity of log messages to request from the server", "LEVEL", choices=LOG_LEVELS),
    Option("--no-pin", "Do not compare the server with its pin"),
    Option(
        "--trust", "For this run, allow a file that is not yours to use your secrets, a proxy or no TLS verification"
    ),
    Option("--no-verify", "Do not verify the server's TLS certificate; kept logins are not sent"),
)
"""How to reach a server, and what our client offers it."""

LOGIN = (
    Option("--bearer-env", "Send the token in this environment variable or file", SECRET),
    Option("--client-id", "Client ID registered with the authorization server", "ID"),
    Option("--scope", "Scopes to request instead of those that the server names", "'SCOPE …'"),
    Option(
        "--grant",
        "Grant to use; auto chooses by the other options",
        "GRANT",
        choices=("auto", "code", "client-credentials", "enterprise", "workload", "device"),
    ),
    Option("--client-secret-env", "Environment variable or file with the client secret", SECRET),
    Option("--client-key", "File with the client's private key (PEM) for private_key_jwt", Value("FILE", key, "file")),
    Option("--client-key-id", "Key ID (kid) of that key at the authorization server", "ID"),
    Option("--client-issuer", "Issuer of the authorization server where the client is registered", "URL"),
    Option("--client-metadata", "URL of your client ID metadata document", "URL"),
    Option("--redirect-uri", "Redirect URI to use, if the client has a registered one", "URI"),
    Option("--auth-server", "Issuer of the authorization server to use", "URL"),
    Option("--idp", "Issuer of your company's identity provider", "URL"),
    Option("--idp-token-endpoint", "Token endpoint of the identity provider; default: the one in its metadata", "URL"),
    Option("--idp-client-id", "Client ID registered with the identity provider", "ID"),
    Option(
        "--idp-client-secret-env",
        "Environment variable or file with the client secret for the identity provider",
        SECRET,
    ),
    Option("--id-token-env", "Environment variable or file with the ID token from the identity provider", SECRET),
    Option(
        "--assertion-env", "Environment variable or file with the JWT that a platform issued to this workload", SECRET
    ),
    Option("--login-timeout", "Time for a login, including what you do in the browser", TIME),
    Option("--open-browser", "Open the browser for a login without asking first"),
    Option("--no-browser", "Print the login URL and read the redirect URL from the terminal"),
)
"""How to authorize."""

RECORDING = (
    Option("--record", "Write the recording to this new file", NEW_FILE),
    Option("--keep", "Write each recording to a new file in this folder", DIR),
    Option("--no-record", "Do not keep a recording"),
    FORCE,
)
"""Where the recording of the session is kept."""

REPORTS = {
    name: Option(f"--{name}", f"Write {what} to this file; - is stdout", OUT_FILE)
    for name, what in {
        "junit": "a JUnit report",
        "sarif": "a SARIF report",
        "markdown": "a report in Markdown",
        "html": "a web page",
        "badge": "an SVG badge with the score",
    }.items()
}
"""The kinds of report, of which a verb takes those that it can write."""

CONNECT = (*SERVER, *LOGIN, *RECORDING)
"""Every option of a verb that opens a session with a server."""

GROUPS = {
    "Report": tuple(REPORTS.values()),
    "Connection": SERVER,
    "Authorization": LOGIN,
    "Recording": RECORDING,
    "Output": (JSON, QUIET),
}
"""The options that many verbs share, as help shows them."""

ASK = Option("--ask", "Answer elicitation and sampling requests on the terminal")
"""For verbs whose request the server may answer with a request of its own."""

WATCH = Option("--watch", "Restart the server when one of its files changes")

YES = Option("--yes", "Start several configured servers without asking")

HOSTS = Option(
    "--host",
    "Show the limits of these hosts, separated by commas; all is every host",
    Value("HOST,…|all", str, "host"),
    many=True,
    old="--for",
)
FOR = Option("--for", "Stop after this time", TIME)
ARGS = Option("--args", "Arguments as a JSON object; KEY=VALUE arguments override it", JSON_OBJECT)
TASK = Option("--task", "Call the tool as a task if it supports tasks; a tool that requires a task always runs as one")
CONTENT = Option(
    "-o --output",
    "Write the image, audio, blob or text of the result to this file; - is stdout",
    OUT_FILE,
    old="--save",
)
