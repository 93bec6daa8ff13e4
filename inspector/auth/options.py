"""The person's options for authorization."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, get_args

from inspector.errors import UsageError

GrantKind = Literal["auto", "code", "client-credentials", "enterprise", "workload", "device"]
"""The grant to use. `auto` uses the one that the options below suffice for, else the authorization code."""

GRANTS: tuple[GrantKind, ...] = get_args(GrantKind)

Algorithm = Literal["ES256", "RS256"]

_CHOICES: dict[str, tuple[str, ...]] = {"grant": GRANTS, "client_key_alg": ("", *get_args(Algorithm))}


@dataclass(frozen=True, slots=True)
class AuthOptions:
    """The options of the command line, the config file or the interface. Empty means unset."""

    bearer: str = field(default="", repr=False)
    """A token to send unmodified. No other way is tried then."""
    client_id: str = ""
    client_secret: str = field(default="", repr=False)
    client_key: str = field(default="", repr=False)
    """The client's private key, PEM (PKCS #8): it authenticates by `private_key_jwt` (RFC 7523 section 2.2)."""
    client_key_alg: Algorithm | Literal[""] = ""
    """The algorithm of its signatures; empty: according to the key's type."""
    client_key_id: str = ""
    """The `kid` of its signatures; empty for none."""
    client_issuer: str = ""
    """The authorization server that `client_id` is registered with; empty: any that the server names (C-AUTH-17)."""
    client_metadata_url: str = ""
    """URL of a client id metadata document: used as client id if the server accepts those (C-AUTH-15)."""
    redirect_uri: str = ""
    """The redirect URI; empty: a free port of this machine."""
    scope: str = ""
    """Scopes to request, separated by spaces, instead of those the server names."""
    auth_server: str = ""
    """The issuer to use, instead of the one from the server's metadata or the person's choice."""
    grant: GrantKind = "auto"
    idp_issuer: str = ""
    idp_token_endpoint: str = ""
    idp_client_id: str = ""
    idp_client_secret: str = field(default="", repr=False)
    idp_id_token: str = field(default="", repr=False)
    """An id token of the company's identity provider: enterprise-managed authorization (C-AUTH-41)."""
    assertion: str = field(default="", repr=False)
    """A JWT that a workload's platform issued for it (C-AUTH-43)."""
    dpop: bool = True
    """Bind tokens to a key if the authorization server supports it (RFC 9449)."""
    login_timeout: float | None = None
    """Seconds for a login, including what the person does. None: 10 minutes, and without a person the browser must
    come back within the timeout of a request."""
    open_browser: bool | None = None
    """True: open without asking. False: never open; show the URL and accept the pasted redirect. None: ask."""

    def __post_init__(self) -> None:
        """Raises `UsageError` for an unknown grant or algorithm."""
        for name, allowed in _CHOICES.items():
            if getattr(self, name) not in allowed:
                raise UsageError(
                    f"Invalid AuthOptions({name}={getattr(self, name)!r:.60}).",
                    hint=f"Use one of {', '.join(filter(None, allowed))}.",
                )
