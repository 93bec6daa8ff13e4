"""What Inspector connects to: a command, a URL or a recording; and how the words of a command line become one."""

from __future__ import annotations

import os
import re
import shlex
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypeAlias

from inspector.config import paths, secrecy
from inspector.config.checks import checked_headers, checked_text, checked_url, format_command, one_line
from inspector.errors import TargetError
from inspector.reasons import split_reason

if TYPE_CHECKING:
    from inspector.config.expand import Prompt
    from inspector.config.trust import Consent

HttpTransport: TypeAlias = Literal["auto", "http", "sse"]

_SUFFIX = ".mcp.jsonl"
"""The end of the names of kept recordings."""
_RECORDING_HEADER = re.compile(rb'(?:\xef\xbb\xbf)?\s*\{\s*"format"\s*:\s*"mcp-recording"')
_HOST_AND_PORT = re.compile(r"(?:[\w-]+\.)*[\w-]+:\d{2,5}(?:/\S*)?|\[[0-9a-fA-F:]+\]:\d{2,5}(?:/\S*)?")


@dataclass(frozen=True, slots=True)
class ServerOptions:
    """What an `inspector.json` says about a server beyond how to reach it; None and empty mean: as set elsewhere."""

    era: Literal["auto", "legacy", "modern"] | None = None
    protocol: str | None = None
    timeout: float | None = None
    """Seconds."""
    roots: tuple[str, ...] = ()
    """URIs."""


NO_OPTIONS = ServerOptions()


@dataclass(frozen=True, slots=True, repr=False)
class StdioTarget:
    """A server that is started as a child process and spoken to over its stdin and stdout.

    `env` holds the variables added to the child's environment, `cwd` its folder (None: the current one). `secrets` are
    the values that no recording may hold: those handed in and those recognised in `command` and `env`.
    """

    kind: ClassVar[Literal["stdio"]] = "stdio"

    command: tuple[str, ...]
    env: Mapping[str, str] = field(default_factory=dict)
    cwd: str | None = None
    name: str = ""
    source: str = ""
    secrets: tuple[str, ...] = ()
    options: ServerOptions = NO_OPTIONS

    def __post_init__(self) -> None:
        found = [*self.secrets, *secrecy.in_arguments(self.command), *secrecy.in_environment(self.env.items())]
        object.__setattr__(self, "secrets", secrecy.unique(found))

    def __repr__(self) -> str:
        return f"<StdioTarget {self.describe()}>"

    @property
    def label(self) -> str:
        """A short name: `@name`, else that of the package or program which the command starts."""
        if self.name:
            return f"@{self.name}"
        from inspector.config.labels import program_label

        return program_label(self.command)

    def describe(self) -> str:
        """The whole command in one line, quoted for a shell, secrets masked."""
        return format_command(self._masked())

    def as_header(self) -> dict[str, Any]:
        """The `target` of a recording's header: argv, cwd and the names of the variables, never a secret value."""
        header: dict[str, Any] = {"kind": self.kind, "label": self.label, "argv": self._masked(), "cwd": self.cwd}
        header["env"] = sorted(self.env)
        return header | _origin(self.name, self.source)

    def _masked(self) -> list[str]:
        return [secrecy.mask(word, self.secrets) for word in self.command]


@dataclass(frozen=True, slots=True, repr=False)
class HttpTarget:
    """A server at a URL. `transport` auto means Streamable HTTP, then the HTTP+SSE of revision 2024-11-05.

    `proxy` is a proxy's URL, `verify` False accepts any certificate. `secrets` are the values that no recording may
    hold: those handed in and those recognised in `url` and `headers`.
    """

    kind: ClassVar[Literal["http"]] = "http"

    url: str
    headers: tuple[tuple[str, str], ...] = ()
    transport: HttpTransport = "auto"
    proxy: str | None = None
    verify: bool = True
    name: str = ""
    source: str = ""
    secrets: tuple[str, ...] = ()
    options: ServerOptions = NO_OPTIONS
    auth: Mapping[str, Any] = field(default_factory=dict, hash=False)
    """What its config entry says about logging in, by the names of `logins.KEYS`' options."""
    owned: bool = True
    """It was not named by a config file of another person."""
    network: Any = field(default=None, compare=False)
    """The `transports.base.Network` through which it is reached; None: the system's."""
    title: str = ""
    """What stands for the URL in labels: the name of an app in this process."""

    def __post_init__(self) -> None:
        found = [*self.secrets, *secrecy.in_url(self.url), *secrecy.in_headers(self.headers)]
        if self.auth:
            from inspector.config import logins

            found += logins.secrets(self.auth)
        if self.proxy:
            found += secrecy.in_url(self.proxy)
        object.__setattr__(self, "secrets", secrecy.unique(found))

    def __repr__(self) -> str:
        return f"<HttpTarget {self.describe()}>"

    @property
    def withholds_login(self) -> str:
        """Why no kept login is sent to it; empty where one may be."""
        if not self.verify:
            return "its certificate is not checked"
        if self.title:
            return "it runs in this process"
        if self.proxy and not self.owned:
            return f"it is reached through a proxy that {one_line(self.source)} names"
        return ""

    @property
    def label(self) -> str:
        """A short name: `@name`, else the host, with its port where one is written."""
        if self.name or self.title:
            return f"@{self.name}" if self.name else self.title
        authority = re.split(r"[/?#]", self.url.partition("://")[2], maxsplit=1)[0]
        return authority.rpartition("@")[2] or self.url

    def describe(self) -> str:
        """The URL, with userinfo and secret-looking parameters masked."""
        return secrecy.mask(secrecy.mask_url(self.url), self.secrets)

    def as_header(self) -> dict[str, Any]:
        """The `target` of a recording's header: the masked URL, the transport and the names of the headers only."""
        header: dict[str, Any] = {
            "kind": self.kind,
            "label": self.label,
            "url": self.describe(),
            "transport": self.transport,
            "headers": [name for name, _ in self.headers],
        }
        return header | _origin(self.name, self.source)


@dataclass(frozen=True, slots=True)
class RecordingTarget:
    """A recording, opened instead of a server."""

    kind: ClassVar[Literal["recording"]] = "recording"

    path: Path
    name: str = ""

    @property
    def label(self) -> str:
        """A short name: `@name`, else the file's name without its suffix."""
        return f"@{self.name}" if self.name else self.path.name.removesuffix(".jsonl").removesuffix(".mcp")

    def describe(self) -> str:
        """The path."""
        return one_line(str(self.path))

    def as_header(self) -> dict[str, Any]:
        """The `target` of a recording that was made from this one."""
        return {"kind": self.kind, "label": self.label, "path": str(self.path)} | _origin(self.name, "")


Target: TypeAlias = StdioTarget | HttpTarget | RecordingTarget


def demo_target() -> StdioTarget:
    """The demo server that comes with Inspector, started as a child process."""
    return StdioTarget((sys.executable, "-m", "inspector.demo"), name="demo")


def parse_target(
    words: Sequence[str],
    *,
    command: bool = False,
    config: Path | None = None,
    headers: Sequence[tuple[str, str]] = (),
    env: Mapping[str, str] | None = None,
    cwd: str | Path | None = None,
    transport: Literal["auto", "stdio", "http", "sse"] = "auto",
    verify: bool = True,
    environ: Mapping[str, str] | None = None,
    home: Path | None = None,
    folder: Path | None = None,
    prompt: Prompt | None = None,
    consent: Consent | None = None,
) -> Target:
    """What `words` name: a URL, `@NAME` or `@NAME:FILEPART` of a config file, a recording, or a command.

    With `command` the words came after `--` and are a command whatever they look like. `headers`, `env`, `cwd`,
    `transport` and `verify` (False: accept any certificate) are the flags of the command line: they win over what a
    config file says. `prompt` asks for the values that a config file leaves to its user, `consent` for what a file that
    is not the user's own would expose. Raises TargetError, ConfigError for a file that is in the way, or TrustNeeded.
    """
    environ = os.environ if environ is None else environ
    folder = Path.cwd() if folder is None else folder
    home = paths.home_folder() if home is None else home
    if not words or not words[0].strip():
        raise TargetError("No target is given", hint="Give a command, a URL, @NAME from a config file, or a recording.")
    flags = _Flags(tuple(headers), dict(env or {}), _existing_folder(cwd, folder, home), transport, verify)
    if command:
        return flags.on_command(words)
    first = words[0]
    if first.startswith("@"):
        _refuse_more(words, "a server's name")
        from inspector.config import servers

        listed = servers.find_servers(folder, home, environ, config=config)
        return flags.on_entry(servers.resolve(listed.find(first), environ, prompt, home=home, consent=consent))
    if re.match(r"https?://", first, re.IGNORECASE):
        _refuse_more(words, "a URL")
        return flags.on_url(first)
    if len(words) == 1:
        path = recording_path(first, folder=folder, home=home, environ=environ)
        if is_recording(path):
            flags.refuse_all("a recording")
            return RecordingTarget(path)
        _refuse_other_words(first, path)
        if not _is_file(path) and any(char.isspace() for char in first):
            return flags.on_command(_split(first))
    return flags.on_command(words)


def recording_path(
    word: str,
    *,
    folder: Path | None = None,
    home: Path | None = None,
    environ: Mapping[str, str] | None = None,
) -> Path:
    """The file that `word` means: a path, else a kept recording by its name, with or without the suffix."""
    folder = Path.cwd() if folder is None else folder
    path = _located(word, folder, paths.home_folder() if home is None else home)
    if word and not {"/", os.sep, "\0"} & set(word) and not _is_file(path):
        kept = paths.state_folder(environ) / "recordings"
        for name in (word, f"{word}{_SUFFIX}"):
            if name.endswith(_SUFFIX) and _is_file(kept / name):
                return kept / name
    return path


def is_recording(path: Path) -> bool:
    """Whether a regular file is at `path` that is named like a recording or begins like one."""
    if not _is_file(path):
        return False
    if path.name.endswith(".jsonl"):
        return True
    try:
        with open(path, "rb") as file:
            return _RECORDING_HEADER.match(file.read(256)) is not None
    except OSError:
        return False


@dataclass(frozen=True, slots=True)
class _Flags:
    """What the command line says about the target besides its words."""

    headers: tuple[tuple[str, str], ...]
    env: dict[str, str]
    cwd: str | None
    transport: Literal["auto", "stdio", "http", "sse"]
    verify: bool

    def on_command(self, words: Sequence[str]) -> StdioTarget:
        argv = tuple(checked_text(word, "the command") for word in words)
        return self._on_stdio(StdioTarget(argv))

    def on_url(self, url: str) -> HttpTarget:
        return self._on_http(HttpTarget(checked_url(url)))

    def on_entry(self, target: StdioTarget | HttpTarget) -> StdioTarget | HttpTarget:
        return self._on_stdio(target) if isinstance(target, StdioTarget) else self._on_http(target)

    def refuse_all(self, what: str) -> None:
        self._refuse(what, headers=True, env=True, cwd=True, verify=True)
        if self.transport != "auto":
            raise TargetError(f"--transport {self.transport} means nothing to {what}")

    def _on_stdio(self, target: StdioTarget) -> StdioTarget:
        self._refuse("a server that is started as a command", headers=True, verify=True)
        if self.transport not in ("auto", "stdio"):
            raise TargetError(
                f"--transport {self.transport} needs a URL, and {target.label} is a command",
                hint="Leave --transport out, or give the server's URL.",
            )
        for name, value in self.env.items():
            checked_text(name, "a variable's name")
            checked_text(value, f"the value of {name}")
        return replace(target, env={**target.env, **self.env}, cwd=target.cwd if self.cwd is None else self.cwd)

    def _on_http(self, target: HttpTarget) -> HttpTarget:
        self._refuse("a server at a URL", env=True, cwd=True)
        if self.transport == "stdio":
            raise TargetError(
                f"--transport stdio needs a command, and {target.label} is at a URL",
                hint="Leave --transport out, or give the server's command after --.",
            )
        new = checked_headers(self.headers)
        replaced = {name.casefold() for name, _ in new}
        kept = tuple(field for field in target.headers if field[0].casefold() not in replaced)
        transport = target.transport if self.transport == "auto" else self.transport
        verify = target.verify and self.verify
        return replace(target, headers=kept + new, transport=transport, verify=verify)

    def _refuse(
        self, what: str, *, headers: bool = False, env: bool = False, cwd: bool = False, verify: bool = False
    ) -> None:
        given = (
            ("--header", headers and self.headers),
            ("--env", env and self.env),
            ("--cwd", cwd and self.cwd),
            ("--no-verify", verify and not self.verify),
        )
        for flag, unwanted in given:
            if unwanted:
                raise TargetError(f"{flag} means nothing to {what}", hint=f"Leave {flag} out.")


def _refuse_more(words: Sequence[str], what: str) -> None:
    if len(words) > 1:
        raise TargetError(
            f"{one_line(words[1][:60])} stands after {what}, which is a target by itself",
            hint="Put a command after --, and options before the target.",
        )


def _refuse_other_words(word: str, path: Path) -> None:
    """Names what a lone word is that can be no command, so that nobody has to guess from a failed start."""
    scheme = re.match(r"([A-Za-z][A-Za-z0-9+.-]*)://", word)
    if scheme:
        raise TargetError(f"{scheme[1]} URLs are not spoken", hint="Give an http or https URL, or a command after --.")
    if "/" in word and os.path.isdir(path):
        raise TargetError(f"{one_line(word)} is a folder", hint="Give a command, a URL, @NAME or a recording.")
    if word.endswith(".jsonl"):
        raise TargetError(f"There is no recording at {one_line(word)}")
    if _HOST_AND_PORT.fullmatch(word) and not _is_file(path):
        raise TargetError(f"{word} is not a command", hint=f"For the server there, write http://{word}")
    if word.endswith(".json") and _is_file(path):
        raise TargetError(
            f"{one_line(word)} is not a command",
            hint=f"If it is a config file, open one of its servers: --config {shlex.quote(word)} @NAME",
        )


def _split(text: str) -> list[str]:
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise TargetError(
            f"The command {one_line(text[:80])} cannot be split into words: {split_reason(error)}"
        ) from None
    if not words:
        raise TargetError("The command is empty")
    return words


def _existing_folder(cwd: str | Path | None, folder: Path, home: Path) -> str | None:
    if cwd is None:
        return None
    path = _located(str(cwd), folder, home)
    if not os.path.isdir(path):
        raise TargetError(f"--cwd {one_line(str(cwd))} is not a folder")
    return str(path)


def _located(text: str, folder: Path, home: Path) -> Path:
    return home / text[2:] if text.startswith("~/") else folder / text


def _is_file(path: Path) -> bool:
    return os.path.isfile(path)


def _origin(name: str, source: str) -> dict[str, str]:
    return {key: value for key, value in (("name", name), ("source", source)) if value}
