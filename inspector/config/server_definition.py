"""One server of a config file, with checked types and unexpanded references, the same for every client."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from inspector.config import foreign_files, login_entry, secret_values
from inspector.config.entry_fields import text, text_map, texts
from inspector.config.targets import NO_OPTIONS, ServerOptions
from inspector.config.text_checks import HOST_HINT, format_command
from inspector.errors import ConfigError
from inspector.lazy_pattern import lazy_pattern

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
THE_COMMAND, THE_URL = "the command", "the URL"
"""Places of references, as they are named in questions and errors."""
_REFERENCE = lazy_pattern(r"\$\{|\$[A-Za-z_]")
_HTTP = lazy_pattern(r"https?://([^/?#]*)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Definition:
    """The command to start, or the URL to connect to. `env_file` and relative paths are as written; see
    `servers.resolve`."""

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
    """Its login options; see `logins`."""

    @property
    def summary(self) -> str:
        """The command or URL in one line: references as written, literal secrets masked (C-STDIO-10)."""
        return self.describe_fully()

    def describe_fully(self, limit: int | None = None) -> str:
        """Return the summary with at most `limit` characters of the command or URL; the remarks on hosts are whole."""
        from inspector.addresses import host_remarks, shown_url

        if self.kind == "http":
            return shown_url(secret_values.mask_url(self.url), limit)
        secrets = [value for value in secret_values.in_arguments(self.command) if not _REFERENCE.search(value)]
        words = [secret_values.mask(word, secrets) for word in self.command]
        text = format_command(words)
        return (text if limit is None else foreign_files.printable(text, limit)) + host_remarks(" ".join(words))

    @property
    def has_references(self) -> bool:
        """Whether its meaning depends on the file's client."""
        return any("$" in text for _, text in self.texts())

    @property
    def is_guarded(self) -> bool:
        """Whether it needs consent in a file that is not the user's own, even without references."""
        return bool(self.env_file or self.proxy or self.login_servers) or not self.verify

    @property
    def login_servers(self) -> tuple[str, ...]:
        """The URLs in `auth`, as written: a login goes there, also on this machine and in a private network."""
        return tuple(url for option in login_entry.SERVERS if (url := self.auth.get(option)))

    def texts(self) -> Iterator[tuple[str, str]]:
        """Every text that may have references, with its place, such as `header X-Key`."""
        yield from ((THE_COMMAND, word) for word in self.command)
        yield from ((f"variable {name}", value) for name, value in self.env.items())
        yield from ((f"header {name}", value) for name, value in self.headers)
        named = (("envFile", self.env_file), ("cwd", self.cwd), (THE_URL, self.url), ("proxy", self.proxy or ""))
        yield from named
        yield from ((f"auth.{name}", value) for name, value in self.auth.items() if isinstance(value, str))


def stdio(raw: Mapping[str, Any], *, options: ServerOptions = NO_OPTIONS) -> Definition:
    """Read the keys that all clients share: `command`, `args`, `env`, `envFile`, `cwd`. Raises ConfigError."""
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
    """Read the URL under `key` and the `headers`. Raises ConfigError for a wrong type or scheme."""
    url = text(raw, key).strip()
    if not url:
        raise ConfigError(f"“{key}” is empty")
    url = entry_url(url, key)
    headers = tuple(text_map(raw, "headers").items())
    return Definition(kind="http", url=url, headers=headers, transport=transport, options=options)


def entry_url(url: str, key: str) -> str:
    """Return the URL of an entry with its host as it is requested. Raises ConfigError.

    References stay, also in the scheme or the host; the expanded URL is checked when the server is opened.
    """
    if url.startswith(("$", "{", "<")):
        return url
    match = _HTTP.match(url)
    if match is None:
        raise ConfigError(
            f"“{key}” is {foreign_files.printable(secret_values.mask_url(url))}, which is not an http or https URL",
            hint="Inspector supports stdio, Streamable HTTP and HTTP+SSE.",
        )
    if set("${<") & set(match[1]):
        return url
    from inspector.addresses import requested_url

    try:
        return requested_url(url)
    except ValueError as error:
        raise ConfigError(f"“{key}” is refused: {error}", hint=HOST_HINT) from None


def declared_transport(raw: Mapping[str, Any]) -> Literal["", "auto", "stdio", "http", "sse"]:
    """Return `type` (or `transport`), or an empty text. Raises ConfigError for an unsupported one."""
    for key in ("type", "transport"):
        if raw.get(key) is None:
            continue
        value = text(raw, key)
        known = _TRANSPORTS.get(value.strip().casefold())
        if known is None:
            raise ConfigError(
                f"“{key}” is {foreign_files.printable(value)}, which Inspector does not support",
                hint="Use stdio, http or sse.",
            )
        return known
    return ""
