"""The values of authorization: a registered client, and a grant to it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any, Literal, TypeVar

Method = Literal["none", "client_secret_post", "client_secret_basic", "private_key_jwt"]
"""How a client authenticates at the token endpoint (RFC 7591 section 2)."""

METHODS: tuple[Method, ...] = ("none", "client_secret_post", "client_secret_basic", "private_key_jwt")

ClientIdSource = Literal["given", "document", "registered", "typed"]
"""The source of a client id: the options, a metadata document's URL, dynamic registration, the person."""

T = TypeVar("T")

_TOKEN = re.compile(r"[!-~]*\Z")
_NO_TEXT = re.compile(r"[\x00-\x1f\x7f\ud800-\udfff]")
"""Characters that are not allowed in any value that is sent; a file may contain them."""
_LATEST = 1e12
"""Maximum time of a stored value, in seconds since 1970."""


@dataclass(frozen=True, slots=True)
class OAuthClient:
    """A client at one authorization server. Registered and entered ones are stored, by issuer (C-AUTH-17)."""

    client_id: str
    client_secret: str = field(default="", repr=False)
    method: Method | Literal[""] = ""
    """How it authenticates; empty: as the authorization server offers."""
    origin: ClientIdSource = "given"
    redirect_uri: str = ""
    """The redirect URI it was registered with; empty for any."""
    expires_at: float = 0
    """Expiry of its secret in seconds since 1970; 0 for never."""
    scope: tuple[str, ...] = ()
    """The scopes it was registered for: it may request no others (RFC 7591 section 2). Empty: not specified."""

    def may_ask(self, scope: tuple[str, ...] | None) -> bool:
        """Whether it was registered for these scopes."""
        return not self.scope or not scope or {*scope} <= {*self.scope}

    def as_json(self) -> dict[str, Any]:
        """For the store: with the secret."""
        return asdict(self)

    @classmethod
    def from_json(cls, raw: object) -> OAuthClient | None:
        """Read what `as_json` wrote; None for anything else."""
        client = _read(cls, raw, needed="client_id")
        return client if client is not None and client.method in ("", *METHODS) else None


@dataclass(frozen=True, slots=True)
class Grant:
    """An access token, and all that is needed to use, refresh and revoke it."""

    server: str
    """The URL of the MCP server that it was requested for."""
    issuer: str
    """The authorization server's issuer, unmodified (never normalised)."""
    resource: str
    """The `resource` of its request (RFC 8707)."""
    access_token: str = field(repr=False)
    token_type: Literal["Bearer", "DPoP"] = "Bearer"
    issued_at: float = 0
    expires_at: float = 0
    """Both in seconds since 1970; the expiry is 0 if the authorization server did not send it."""
    scope: tuple[str, ...] = ()
    """The granted scopes; the requested ones if the authorization server did not send them."""
    asked: tuple[str, ...] = ()
    """The requested scopes."""
    refresh_token: str = field(default="", repr=False)
    client: OAuthClient = field(default_factory=lambda: OAuthClient(""))
    """Its client: a refresh uses the same one."""
    token_endpoint: str = ""
    revocation_endpoint: str = ""
    methods: tuple[str, ...] = ()
    """The client authentication methods that the token endpoint offers."""
    kind: str = "code"
    """The grant type: `code`, `client-credentials`, `enterprise`, `workload`, `device`."""
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
        client = OAuthClient.from_json(raw.get("client"))
        grant = None if client is None else _read(cls, dict(raw) | {"client": client}, needed="access_token")
        if (
            grant is None
            or grant.token_type not in ("Bearer", "DPoP")
            or (grant.token_type == "DPoP" and not grant.key)
        ):
            return None
        return grant if _TOKEN.match(grant.access_token) and _TOKEN.match(grant.refresh_token) else None


def _read(cls: type[T], raw: object, *, needed: str) -> T | None:
    """Create an instance from stored values, if every value has the type of its field."""
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
    if type_name == OAuthClient.__name__:
        return isinstance(value, OAuthClient)
    if type_name.startswith("tuple"):
        return isinstance(value, tuple) and all(_is_text(item) for item in value)
    return _is_text(value)


def _is_text(value: object) -> bool:
    return isinstance(value, str) and not _NO_TEXT.search(value)
