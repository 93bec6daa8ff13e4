"""What authorization holds: a client that is registered somewhere, and what was granted to it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any, Literal, TypeVar

Method = Literal["none", "client_secret_post", "client_secret_basic", "private_key_jwt"]
"""How a client says who it is at the token endpoint (RFC 7591 section 2)."""

METHODS: tuple[Method, ...] = ("none", "client_secret_post", "client_secret_basic", "private_key_jwt")

Origin = Literal["given", "document", "registered", "typed"]
"""Where a client id came from: the options, a metadata document's URL, dynamic registration, the person."""

T = TypeVar("T")

_TOKEN = re.compile(r"[!-~]*\Z")
_NO_TEXT = re.compile(r"[\x00-\x1f\x7f\ud800-\udfff]")
"""Characters that nothing has that is sent; a file may hold them all the same."""
_LATEST = 1e12
"""Seconds since 1970: no time that is stored is later."""


@dataclass(frozen=True, slots=True)
class Client:
    """A client at one authorization server. Registered and typed ones are stored, by issuer (C-AUTH-17)."""

    client_id: str
    client_secret: str = field(default="", repr=False)
    method: Method | Literal[""] = ""
    """How it authenticates; empty: by what the authorization server offers."""
    origin: Origin = "given"
    redirect_uri: str = ""
    """The one it was registered with; empty for any."""
    expires_at: float = 0
    """When its secret ends, in seconds since 1970; 0 for never."""
    scope: tuple[str, ...] = ()
    """What it was registered for: it may ask for nothing else (RFC 7591 section 2). Empty: nothing was said of it."""

    def may_ask(self, scope: tuple[str, ...] | None) -> bool:
        """Whether it was registered for these scopes."""
        return not self.scope or not scope or {*scope} <= {*self.scope}

    def as_json(self) -> dict[str, Any]:
        """For the store: with the secret."""
        return asdict(self)

    @classmethod
    def from_json(cls, raw: object) -> Client | None:
        """Read what `as_json` wrote; None for anything else."""
        client = _read(cls, raw, needed="client_id")
        return client if client is not None and client.method in ("", *METHODS) else None


@dataclass(frozen=True, slots=True)
class Grant:
    """An access token, and all that is needed to use it, refresh it and give it back."""

    server: str
    """The URL of the MCP server that it was asked for."""
    issuer: str
    """The authorization server's issuer, as it was written (never normalised)."""
    resource: str
    """The `resource` it was asked with (RFC 8707)."""
    access_token: str = field(repr=False)
    token_type: Literal["Bearer", "DPoP"] = "Bearer"
    issued_at: float = 0
    expires_at: float = 0
    """Both in seconds since 1970; the end is 0 where the authorization server did not say."""
    scope: tuple[str, ...] = ()
    """What was granted; what was asked for where the authorization server did not say."""
    asked: tuple[str, ...] = ()
    """What was asked for."""
    refresh_token: str = field(default="", repr=False)
    client: Client = field(default_factory=lambda: Client(""))
    """Whose it is: a refresh takes the same client."""
    token_endpoint: str = ""
    revocation_endpoint: str = ""
    methods: tuple[str, ...] = ()
    """The ways to authenticate that the authorization server offers at its token endpoint."""
    kind: str = "code"
    """The grant that brought it: `code`, `client-credentials`, `enterprise`, `workload`, `device`."""
    key: str = field(default="", repr=False)
    """The private key that it is bound to, as a JWK in JSON (RFC 9449); empty for none."""

    def as_json(self) -> dict[str, Any]:
        """For the store: with the tokens."""
        return asdict(self)

    @classmethod
    def from_json(cls, raw: object) -> Grant | None:
        """Read what `as_json` wrote; None for anything else."""
        if not isinstance(raw, Mapping):
            return None
        client = Client.from_json(raw.get("client"))
        grant = None if client is None else _read(cls, dict(raw) | {"client": client}, needed="access_token")
        if (
            grant is None
            or grant.token_type not in ("Bearer", "DPoP")
            or (grant.token_type == "DPoP" and not grant.key)
        ):
            return None
        return grant if _TOKEN.match(grant.access_token) and _TOKEN.match(grant.refresh_token) else None


def _read(cls: type[T], raw: object, *, needed: str) -> T | None:
    """Make an instance of what is stored, if every value has the type of its field."""
    if not isinstance(raw, Mapping) or not raw.get(needed):
        return None
    values: dict[str, Any] = {}
    for about in fields(cls):  # type: ignore[arg-type]
        if about.name not in raw:
            continue
        value = raw[about.name]
        if isinstance(value, list):
            value = tuple(value)
        if not _fits(str(about.type), value):
            return None
        values[about.name] = value
    try:
        return cls(**values)
    except TypeError:
        return None


def _fits(type_name: str, value: object) -> bool:
    if type_name == "float":
        number = isinstance(value, (int, float)) and not isinstance(value, bool)
        return number and abs(value) < _LATEST  # type: ignore[arg-type]
    if type_name == "Client":
        return isinstance(value, Client)
    if type_name.startswith("tuple"):
        return isinstance(value, tuple) and all(_is_text(item) for item in value)
    return _is_text(value)


def _is_text(value: object) -> bool:
    return isinstance(value, str) and not _NO_TEXT.search(value)
