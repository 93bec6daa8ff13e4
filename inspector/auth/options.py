"""What the person wants of authorization."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, get_args

GrantKind = Literal["auto", "code", "client-credentials", "enterprise", "workload", "device"]
"""How a token is come by. `auto` takes what the options below are enough for, else the authorization code."""

GRANTS: tuple[GrantKind, ...] = get_args(GrantKind)

Algorithm = Literal["ES256", "RS256"]


@dataclass(frozen=True, slots=True)
class AuthOptions:
    """What was said on the command line, in the config file or in the interface. Empty means: not said."""

    bearer: str = field(default="", repr=False)
    """A token to be sent as it is. Nothing else is tried then."""
    client_id: str = ""
    client_secret: str = field(default="", repr=False)
    client_key: str = field(default="", repr=False)
    """The client's private key, PEM (PKCS #8): it authenticates by `private_key_jwt` (RFC 7523 section 2.2)."""
    client_key_alg: Algorithm | Literal[""] = ""
    """The algorithm of its signatures; empty: by the kind of the key."""
    client_key_id: str = ""
    """The `kid` of its signatures; empty for none."""
    client_issuer: str = ""
    """The authorization server that `client_id` is registered with; empty: whichever the server names (C-AUTH-17)."""
    client_metadata_url: str = ""
    """URL of a client id metadata document: it is the client id where the server takes those (C-AUTH-15)."""
    redirect_uri: str = ""
    """Where the browser comes back to; empty: a port of this machine's own choice."""
    scope: str = ""
    """Scopes to ask for, separated by spaces, instead of those the server names."""
    auth_server: str = ""
    """The issuer to use, instead of asking the server's metadata or the person."""
    grant: GrantKind = "auto"
    idp_issuer: str = ""
    idp_token_endpoint: str = ""
    idp_client_id: str = ""
    idp_client_secret: str = field(default="", repr=False)
    idp_id_token: str = field(default="", repr=False)
    """The identity provider of a company, and who one is there: enterprise-managed authorization (C-AUTH-41)."""
    assertion: str = field(default="", repr=False)
    """A JWT that a workload's platform issued for it (C-AUTH-43)."""
    dpop: bool = True
    """Bind tokens to a key where the authorization server can (RFC 9449)."""
    open_browser: bool | None = None
    """True: open it without asking. False: never, show the URL and take the pasted answer. None: ask."""
