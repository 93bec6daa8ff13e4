"""One server as a config file describes it: checked for its types, nothing expanded yet, the same for every client."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from inspector.config import files, secrecy
from inspector.config.checks import format_command
from inspector.config.entry_fields import text, text_map, texts
from inspector.config.targets import NO_OPTIONS, ServerOptions
from inspector.errors import ConfigError

_TRANSPORTS: dict[str, Literal["auto", "stdio", "http", "sse"]] = {
    "auto": "auto",
    "stdio": "stdio",
    "local": "stdio",
    "http": "http",
    "streamable-http": "http",
    "streamablehttp": "http",
    "streamable_http": "http",
    "remote": "auto",
    "sse": "sse",
}
_REFERENCE = re.compile(r"\$\{|\$[A-Za-z_]")


@dataclass(frozen=True, slots=True)
class Definition:
    """What to start, or where to connect. `env_file` and relative paths are as written; see `servers.resolve`."""

    kind: Literal["stdio", "http"]
    command: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict, repr=False)
    env_file: str = ""
    cwd: str = ""
    url: str = ""
    headers: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    transport: Literal["auto", "http", "sse"] = "auto"
    proxy: str | None = None
    verify: bool = True
    options: ServerOptions = NO_OPTIONS
    auth: Mapping[str, Any] = field(default_factory=dict, repr=False)
    """What it says about logging in, by option: see `logins`."""

    @property
    def summary(self) -> str:
        """The whole command, or the URL, in one line: references as written, literal secrets masked (C-STDIO-10)."""
        if self.kind == "http":
            return secrecy.mask_url(self.url)
        secrets = [value for value in secrecy.in_arguments(self.command) if not _REFERENCE.search(value)]
        return format_command([secrecy.mask(word, secrets) for word in self.command])

    @property
    def has_references(self) -> bool:
        """Whether what it means depends on which client's file it stands in."""
        return any("$" in text for _, text in self.texts())

    @property
    def is_guarded(self) -> bool:
        """Whether it takes the user's consent in a file that is not theirs, even without references."""
        return bool(self.env_file or self.proxy) or not self.verify

    def texts(self) -> Iterator[tuple[str, str]]:
        """Every text in which references may stand, with the place of each, such as `header X-Key`."""
        yield from (("the command", word) for word in self.command)
        yield from ((f"variable {name}", value) for name, value in self.env.items())
        yield from ((f"header {name}", value) for name, value in self.headers)
        named = (("envFile", self.env_file), ("cwd", self.cwd), ("the URL", self.url), ("proxy", self.proxy or ""))
        yield from named
        yield from ((f"auth.{name}", value) for name, value in self.auth.items() if isinstance(value, str))


def stdio(raw: Mapping[str, Any], *, options: ServerOptions = NO_OPTIONS) -> Definition:
    """The `command`, `args`, `env`, `envFile` and `cwd` keys which all clients share; ConfigError for a wrong type."""
    program = text(raw, "command")
    if not program.strip():
        raise ConfigError("“command” is empty")
    return Definition(
        kind="stdio",
        command=(program, *texts(raw, "args")),
        env=text_map(raw, "env"),
        env_file=text(raw, "envFile"),
        cwd=text(raw, "cwd"),
        options=options,
    )


def http(
    raw: Mapping[str, Any],
    key: str = "url",
    *,
    transport: Literal["auto", "http", "sse"] = "auto",
    options: ServerOptions = NO_OPTIONS,
) -> Definition:
    """The URL under `key` and the `headers`; ConfigError for a wrong type or another scheme than http and https."""
    url = text(raw, key).strip()
    scheme = url.partition("://")[0].casefold() if "://" in url else ""
    if not url:
        raise ConfigError(f"“{key}” is empty")
    # A reference may bring its own scheme; what comes out is checked again when the server is opened.
    if scheme not in ("http", "https") and not url.startswith(("$", "{", "<")):
        raise ConfigError(
            f"“{key}” is {files.shown(secrecy.mask_url(url))}, which is not an http or https URL",
            hint="Inspector speaks stdio, Streamable HTTP and HTTP+SSE.",
        )
    headers = tuple(text_map(raw, "headers").items())
    return Definition(kind="http", url=url, headers=headers, transport=transport, options=options)


def declared_transport(raw: Mapping[str, Any]) -> Literal["", "auto", "stdio", "http", "sse"]:
    """What `type` (or `transport`) says, or an empty text; ConfigError for one that Inspector does not speak."""
    for key in ("type", "transport"):
        if raw.get(key) is None:
            continue
        said = text(raw, key)
        known = _TRANSPORTS.get(said.strip().casefold())
        if known is None:
            raise ConfigError(
                f"“{key}” is {files.shown(said)}, which Inspector does not speak",
                hint="Known are stdio, http and sse.",
            )
        return known
    return ""
