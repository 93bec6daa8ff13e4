"""The kinds of target: a command, a URL or a recording."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Literal, TypeAlias

from inspector.config import secret_values
from inspector.config.text_checks import format_command, one_line
from inspector.own_commands import module_command

HttpVariant: TypeAlias = Literal["auto", "http", "sse"]


@dataclass(frozen=True, slots=True)
class ServerOptions:
    """The options of a server in `inspector.json`; None and empty mean: use the settings."""

    era: Literal["auto", "legacy", "modern"] | None = None
    protocol: str | None = None
    timeout: float | None = None
    """Seconds."""
    roots: tuple[str, ...] = ()
    """URIs."""
    client: str = ""
    """The name that the server is told, as `NAME` or `NAME/VERSION`."""
    extensions: Mapping[str, Mapping[str, Any] | None] = field(default_factory=dict, hash=False)
    """The extensions to offer, by id or short name, with their settings; None: not offered."""


NO_OPTIONS = ServerOptions()


@dataclass(frozen=True, slots=True)
class Starter:
    """Another program in whose place a server is started: its name, and the variables that it passes."""

    name: str
    environ: Mapping[str, str] = field(repr=False, hash=False)


@dataclass(frozen=True, slots=True, repr=False)
class StdioTarget:
    """A server that is started as a child process and uses stdin and stdout.

    `env` has the variables added to the child's environment, `cwd` its folder (None: the current one). `inherits`: it
    gets all variables of this process. `starter`: it gets only those of this program. `remark` is what the user is
    told when it is opened. `secrets` are the values that a recording must not contain: those given and
    those detected in `command` and `env`.
    """

    kind: ClassVar[Literal["stdio"]] = "stdio"

    command: tuple[str, ...]
    env: Mapping[str, str] = field(default_factory=dict)
    cwd: str | None = None
    name: str = ""
    source: str = ""
    secrets: tuple[str, ...] = ()
    options: ServerOptions = NO_OPTIONS
    inherits: bool = False
    starter: Starter | None = None
    remark: str = field(default="", compare=False)

    def __post_init__(self) -> None:
        secrets = [
            *self.secrets,
            *secret_values.in_arguments(self.command),
            *secret_values.in_environment(self.env.items()),
        ]
        object.__setattr__(self, "secrets", secret_values.unique(secrets))

    def __repr__(self) -> str:
        return f"<StdioTarget {self.describe()}>"

    @property
    def label(self) -> str:
        """A short name: `@name`, else that of the package or program in the command."""
        if self.name:
            return f"@{self.name}"
        from inspector.config.command_labels import program_label

        return program_label(self.command)

    def describe(self) -> str:
        """The whole command in one line, quoted for a shell, secrets masked."""
        return format_command(self._masked())

    def describe_fully(self) -> str:
        """The command for a decision about it: with remarks on hosts that are not requested as they look."""
        from inspector.addresses import host_remarks

        text = self.describe()
        return text + host_remarks(text)

    def as_header(self) -> dict[str, Any]:
        """The `target` of a recording's header: argv, cwd and the names of the variables, never a secret value."""
        header: dict[str, Any] = {"kind": self.kind, "label": self.label, "argv": self._masked(), "cwd": self.cwd}
        header["env"] = sorted(self.env)
        if self.inherits:
            header["inherit_env"] = True
        return header | _origin(self.name, self.source)

    def _masked(self) -> list[str]:
        return [secret_values.mask(word, self.secrets) for word in self.command]


@dataclass(frozen=True, slots=True, repr=False)
class HttpTarget:
    """A server at a URL. `transport` auto means Streamable HTTP, then HTTP+SSE of revision 2024-11-05.

    `proxy` is a proxy's URL, `verify` False accepts any certificate. `secrets` are the values that a recording must not
    contain: those given and those detected in `url` and `headers`.
    """

    kind: ClassVar[Literal["http"]] = "http"

    url: str
    headers: tuple[tuple[str, str], ...] = ()
    transport: HttpVariant = "auto"
    proxy: str | None = None
    verify: bool = True
    name: str = ""
    source: str = ""
    secrets: tuple[str, ...] = ()
    options: ServerOptions = NO_OPTIONS
    auth: Mapping[str, Any] = field(default_factory=dict, hash=False)
    """The login options of its config entry, by the option names in `logins.KEYS`."""
    owned: bool = True
    """Whether it is the user's own: not from another person's config file."""
    network: Any = field(default=None, compare=False)
    """The `transports.base.Network` to use; None: the system's."""
    title: str = ""
    """The name that replaces the URL in labels: that of an app in this process."""
    remark: str = field(default="", compare=False)
    """What the user is told when it is opened."""

    def __post_init__(self) -> None:
        secrets = [*self.secrets, *secret_values.in_url(self.url), *secret_values.in_headers(self.headers)]
        if self.auth:
            from inspector.config import login_entry

            secrets += login_entry.secrets(self.auth)
        if self.proxy:
            secrets += secret_values.in_url(self.proxy)
        object.__setattr__(self, "secrets", secret_values.unique(secrets))

    def __repr__(self) -> str:
        return f"<HttpTarget {self.describe()}>"

    @property
    def withholds_login(self) -> str:
        """Why stored logins are not sent to it; empty if they may be."""
        if not self.verify:
            return "its certificate is not checked"
        if self.title:
            return "it runs in this process"
        if self.proxy and not self.owned:
            return f"it is reached through a proxy from {one_line(self.source)}"
        return ""

    @property
    def label(self) -> str:
        """A short name: `@name`, else the host, with its port if the URL has one."""
        if self.name or self.title:
            return f"@{self.name}" if self.name else self.title
        authority = re.split(r"[/?#]", self.url.partition("://")[2], maxsplit=1)[0]
        return authority.rpartition("@")[2] or self.url

    def describe(self) -> str:
        """The URL, with userinfo and secret-looking parameters masked."""
        return secret_values.mask(secret_values.mask_url(self.url), self.secrets)

    def describe_fully(self) -> str:
        """The URL for a decision about it: with a remark if its host mixes scripts."""
        from inspector.addresses import shown_url

        return shown_url(self.describe())

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

    describe_fully = describe

    def as_header(self) -> dict[str, Any]:
        """The `target` of a recording that was made from this one."""
        return {"kind": self.kind, "label": self.label, "path": str(self.path)} | _origin(self.name, "")


Target: TypeAlias = StdioTarget | HttpTarget | RecordingTarget


DEMO = "demo"
"""The name of the bundled demo server."""


def demo_target() -> StdioTarget:
    """Return the target of the bundled demo server, a child process."""
    return StdioTarget(tuple(module_command("inspector.demo")), name=DEMO)


def _origin(name: str, source: str) -> dict[str, str]:
    return {key: value for key, value in (("name", name), ("source", source)) if value}
