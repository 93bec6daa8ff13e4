"""Hints of errors, as data: a sentence with named parts for everything that depends on the surface.

A hint such as “Allow more with --timeout SECONDS.” has `Parameter.TIMEOUT.to("SECONDS")` at the position of the option.
Each surface has its own name for it:

- the command line, `--json` and recordings name the option: `Hint.command_line`;
- the library names the keyword argument: the hint itself, which is a `str`;
- the interface names a key or a place: `inspector.tui.advice.advice`.

A hint without such a part is an ordinary sentence. Only the command line shows hints of `inspector/cli`, which may have
options as text; no other package writes an option into a sentence (`tests/test_hints.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from enum import Enum
from typing import Any, NamedTuple, TypeAlias

from inspector.lazy_pattern import lazy_pattern


class Parameter(Enum):
    """A parameter in a hint, with its names on the command line and in the library.

    `{}` is replaced by a value. On the command line a value without `{}` follows the option, and `{target}` is replaced
    by the options and the target of the command that fails. A parameter that the library does not have has one name.
    """

    ALLOW_CALLS = "--allow-calls", 'allow_calls="{}"'
    AUTH_SERVER = "--auth-server", "AuthOptions(auth_server={})"
    ASSERTION = "--assertion-env", "AuthOptions(assertion={})"
    BEARER = "--bearer-env", "bearer={}"
    CLIENT_ID = "--client-id", "AuthOptions(client_id={})"
    CLIENT_KEY = "--client-key", "AuthOptions(client_key={})"
    CLIENT_SECRET = "--client-secret-env", "AuthOptions(client_secret={})"
    GRANT = "--grant", 'AuthOptions(grant="{}")'
    ID_TOKEN = "--id-token-env", "AuthOptions(idp_id_token={})"
    IDP = "--idp", "AuthOptions(idp_issuer={})"
    IDP_TOKEN_ENDPOINT = "--idp-token-endpoint", "AuthOptions(idp_token_endpoint={})"
    LOGIN_TIMEOUT = "--login-timeout", "AuthOptions(login_timeout={})"
    NO_BROWSER = "--no-browser", "AuthOptions(open_browser=False)"
    SCOPE = "--scope", "AuthOptions(scope={})"
    AUTHORIZATION_FIELD = '--header "Authorization: …"', 'headers={"Authorization": "…"}'
    CHECK_ALL_REPORT = ("`inspector check --json @all > baseline.json`",) * 2
    CHECK_AGAINST_LIST = "`inspector check @all --baseline FILE`", "a check of each server"
    CHECK_RECORDING_REPORT = ("`inspector check --json FILE > baseline.json`",) * 2
    CHECK_REPORT = "`inspector check --json {target} > baseline.json`", "`inspector check --json … > baseline.json`"
    CWD = "--cwd", "cwd={}"
    CWD_OR_IN_ENTRY = "--cwd, or in the config entry", "cwd={}, or in the config entry"
    CWD_OR_ENTRY = "--cwd or the config entry", "cwd={} or the config entry"
    ERA = "--era", 'era="{}"'
    ENV = "--env", "env={}"
    ENV_FILE = "--env-file", "env_file={}"
    ENV_OF_SHELL = "--env {}", 'env={"{}": None}'
    ENV_OR_IN_ENTRY = "--env, or in the config entry", "env={}, or in the config entry"
    EXTENSION = "--extension", 'extensions={{"{}": …}}'
    EVENTS = ("--events",) * 2
    FILTER = ("--filter",) * 2
    FORCE = "replace the file with --force", "delete that file first"
    FORMAT = ("--to {}",) * 2
    HEADERS = "--header", "headers={}"
    INHERIT_ENV = "--inherit-env", "inherit_env={}"
    IMPORT_FORMAT = ("--from",) * 2
    LISTEN = ("--listen",) * 2
    LOGIN = "`inspector login {target}`", "`inspector login`"
    LOGOUT = "`inspector logout {target}`", "`inspector logout`"
    MAKE_RECORDING = "`inspector … --record FILE`", "record=FILE"
    NAME_CONFIG = "name a file with --config", "name a file with config={}"
    NO_RECORD = "--no-record", "record=False"
    NO_VERIFY = '--no-verify, or "verify": false to its config entry', "verify=False"
    OPEN_CONFIG = "--config {} @NAME", "config={}, @NAME"
    OUT = ("-o",) * 2
    PIN_REMOVE = "--remove", "`inspector pin --remove`"
    PIN_UPDATE = "`inspector pin --update {target}`", "`inspector pin --update`"
    REVISION = "--revision", 'revision="{}"'
    RECONNECT = "Run the command again", "Connect again"
    RECORD = "--record", "record={}"
    SET_VARIABLE = "--set {}=VALUE", 'set={"{}": VALUE}'
    TIMEOUT = "--timeout", "timeout={}"
    TRANSPORT = "--transport", 'transport="{}"'
    TRUST = "add --trust", "add trust=True"
    VERIFY = "--no-verify", "verify={}"

    @property
    def option(self) -> str:
        """Its name on the command line."""
        return self.value[0]

    @property
    def keyword(self) -> str:
        """Its name in the library; `{}` is replaced by a value."""
        return self.value[1]

    def to(self, value: str) -> Setting:
        """Return this parameter with a value, as typed on the command line: `SECONDS`, `legacy`."""
        return Setting(self, value)


class Setting(NamedTuple):
    """A parameter with a value."""

    parameter: Parameter
    value: str = ""


class UnsetParameters(NamedTuple):
    """Parameters to remove, as in a sentence: “remove --era and --revision”."""

    parameters: tuple[Parameter, ...]


_TARGET = "{target}"
_COMMAND = lazy_pattern(r"inspector (\w{1,30})[^`]{0,200}?\{target\}")

Part: TypeAlias = "str | Setting | UnsetParameters"


class Hint(str):
    """A sentence of `parts`. As a `str` it is the library's text, so that programs can use it as text."""

    parts: tuple[Part, ...]
    __slots__ = ("parts",)

    def __new__(cls, *parts: str | Parameter | Setting | UnsetParameters) -> Hint:
        """Join parts: text, other hints, and parts that each surface names differently."""
        flat = tuple(_flat(parts))
        self = super().__new__(cls, in_words(flat, _keyword, _unset_keywords))
        self.parts = flat
        return self

    @property
    def command_line(self) -> str:
        """The hint for the command line, `--json` and recordings, if the command that fails is not known."""
        return self.after_command(lambda _verb: "…")

    def after_command(self, opened: Callable[[str], str]) -> str:
        """Return the hint after a command. `opened` returns its options and target, for another verb."""

        def option(setting: Setting) -> str:
            words = _option(setting)
            return _COMMAND.sub(lambda match: f"{match[0].removesuffix(_TARGET)}{opened(match[1])}", words)

        return in_words(self.parts, option, _unset_options)

    def then(self, *parts: str | Parameter | Setting | UnsetParameters) -> Hint:
        """Return the hint and another sentence after it."""
        return Hint(self, " " if self else "", *parts)

    def mapped(self, change: Callable[[str], str]) -> Hint:
        """Return the hint with a function applied to each text in it, values included."""
        return Hint(
            *(
                change(part)
                if isinstance(part, str)
                else Setting(part.parameter, change(part.value))
                if isinstance(part, Setting)
                else part
                for part in self.parts
            )
        )

    def as_json(self) -> list[Any]:
        """Return the parts for a recording: a text, `{"set": NAME, "value": TEXT}` or `{"unset": [NAME, …]}`.

        Empty if all of it is text.
        """
        if all(isinstance(part, str) for part in self.parts):
            return []
        return [
            part
            if isinstance(part, str)
            else {"set": part.parameter.name, "value": part.value}
            if isinstance(part, Setting)
            else {"unset": [parameter.name for parameter in part.parameters]}
            for part in self.parts
        ]

    @classmethod
    def from_json(cls, parts: object, text: object) -> Hint:
        """Return the hint that `as_json` wrote to a recording; just the text if those parts are invalid."""
        try:
            read = [_read(part) for part in parts] if isinstance(parts, list) else []
        except (KeyError, TypeError, ValueError):
            read = []
        return cls(*read) if read else cls(text if isinstance(text, str) else "")


def in_words(
    parts: Iterable[Part], setting: Callable[[Setting], str], unset: Callable[[tuple[Parameter, ...]], str]
) -> str:
    """Return the text of parts for a surface, given its texts for a setting and for removed parameters."""
    text = ""
    for part in parts:
        if isinstance(part, str):
            text += part
        elif isinstance(part, Setting):
            text += setting(part)
        else:
            words = unset(part.parameters)
            text += words if text and not text.endswith(". ") else words[:1].upper() + words[1:]
    return text


def _flat(parts: Iterable[str | Parameter | Setting | UnsetParameters]) -> Iterable[Part]:
    for part in parts:
        if isinstance(part, Parameter):
            yield Setting(part)
        elif isinstance(part, Hint):
            yield from part.parts
        elif not isinstance(part, str) or part:
            yield part


def _read(part: Any) -> Part:
    if isinstance(part, str):
        return part
    if "unset" in part:
        return UnsetParameters(tuple(Parameter[name] for name in part["unset"]))
    return Setting(Parameter[part["set"]], str(part["value"]))


def _option(setting: Setting) -> str:
    option = setting.parameter.option
    return option.replace("{}", setting.value) if "{}" in option else f"{option} {setting.value}".rstrip()


def _keyword(setting: Setting) -> str:
    return setting.parameter.keyword.replace("{}", setting.value or "…")


def _unset_options(parameters: tuple[Parameter, ...]) -> str:
    return f"remove {' and '.join(parameter.option for parameter in parameters)}"


def _unset_keywords(parameters: tuple[Parameter, ...]) -> str:
    return f"remove {' and '.join(parameter.keyword.partition('=')[0] for parameter in parameters)}"


NO_HINT = Hint()
FOR_SOME_CLIENTS = "Some servers list a tool only if the client declares a capability"
"""Begins a hint about a tool that is not listed."""
LOG_IN = Hint(
    "Log in once with ",
    Parameter.LOGIN,
    " on a terminal, or give a token with ",
    Parameter.BEARER.to("NAME"),
    ", or a client with ",
    Parameter.CLIENT_ID,
    " and ",
    Parameter.CLIENT_SECRET,
    " and ",
    Parameter.GRANT.to("client-credentials"),
    ".",
)
"""The hint if a server requires a login and no person can be asked."""
GIVE_TOKEN = Hint(
    "Give its token with ",
    Parameter.BEARER.to("NAME"),
    ", or its key with the header that it names. If it has a login, set the issuer with ",
    Parameter.AUTH_SERVER,
    ".",
)
"""The hint if a server requires authorization and names no authorization server."""
