"""Clients: predefined ones, registered ones (RFC 7591), and those that are a metadata document."""

from __future__ import annotations

import json
import re
import secrets
from hmac import compare_digest
from urllib.parse import urlsplit

from inspector.demo.auth.grants import BoundedDict
from inspector.demo.auth.http_values import OAuthError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from inspector.demo.auth.http_values import Request

CODE = "authorization_code"
REFRESH = "refresh_token"
ITSELF = "client_credentials"
DEVICE = "urn:ietf:params:oauth:grant-type:device_code"
GRANTS = (CODE, REFRESH, ITSELF, DEVICE)
METHODS = ("none", "client_secret_basic", "client_secret_post", "private_key_jwt")
LOOPBACK = ("127.0.0.1", "::1", "localhost")
ANYWHERE_HERE = ("http://127.0.0.1/*", "http://localhost/*", "http://[::1]/*")
MAX_REDIRECTS = 20
MAX_URI = 2000
_SCHEME = re.compile(r"[a-z][a-z0-9+-]*(\.[a-z0-9+-]+)+")  # of a native app: a domain backwards (RFC 8252 7.1)


class RegisteredClient:
    """A client that may request tokens: its authentication method and its redirect URIs."""

    __slots__ = ("grants", "id", "jwks", "methods", "name", "redirects", "secret")

    def __init__(
        self,
        client_id: str,
        name: str,
        *,
        redirects: tuple[str, ...] = (),
        grants: tuple[str, ...] = (CODE,),
        methods: tuple[str, ...] = ("none",),
        secret: str = "",
        jwks: Any = None,
    ) -> None:
        self.id = client_id
        self.name = name
        self.redirects = redirects
        self.grants = grants
        self.methods = methods
        self.secret = secret
        self.jwks = jwks

    def may_return_to(self, uri: str) -> bool:
        """Whether a redirect URI is allowed: as registered, except for the port of a loopback address."""
        return any(_same_place(registered, uri) for registered in self.redirects)

    def has_secret(self, said: str) -> bool:
        """Whether a secret is the client's."""
        return bool(self.secret) and compare_digest(self.secret.encode(), said.encode("utf-8", "replace"))


def known(jwks: Any = None) -> list[RegisteredClient]:
    """Returns the predefined clients; `jwks` are the keys of `demo-key`, which exists only with them."""
    both = ("client_secret_basic", "client_secret_post")
    clients = [
        RegisteredClient("demo-app", "Demo app", redirects=ANYWHERE_HERE, grants=(CODE, REFRESH, DEVICE)),
        RegisteredClient(
            "demo-service",
            "Demo service",
            redirects=ANYWHERE_HERE,
            grants=(CODE, REFRESH, ITSELF),
            methods=both,
            secret="demo-service-secret",
        ),
    ]
    if jwks is not None:
        methods = ("private_key_jwt",)
        named = RegisteredClient("demo-key", "Demo key", redirects=ANYWHERE_HERE, methods=methods, jwks=jwks)
        named.grants = (CODE, REFRESH, ITSELF)
        clients.append(named)
    return clients


class Clients:
    """The clients of one authorization server."""

    def __init__(self, clients: list[RegisteredClient]) -> None:
        self._known = {client.id: client for client in clients}
        self._registered = BoundedDict(1000)

    def find(self, client_id: str) -> RegisteredClient | None:
        """A client by its id."""
        found: RegisteredClient | None = self._known.get(client_id) or self._registered.get(client_id)
        return found

    def register(self, request: Request, now: float) -> dict[str, Any]:
        """Serves the registration endpoint: returns the accepted metadata with an id (RFC 7591 section 3.2.1)."""
        asked = _document(request.body)
        client = from_metadata("demo-" + secrets.token_hex(8), asked)
        document = {
            "client_id": client.id,
            "client_id_issued_at": int(now),
            "client_name": client.name,
            "redirect_uris": list(client.redirects),
            "grant_types": list(client.grants),
            "response_types": ["code"] if CODE in client.grants else [],
            "token_endpoint_auth_method": client.methods[0],
        }
        if client.methods[0].startswith("client_secret"):
            client.secret = secrets.token_urlsafe(32)
            document |= {"client_secret": client.secret, "client_secret_expires_at": 0}
        if client.jwks is not None:
            document["jwks"] = client.jwks
        if isinstance(asked.get("application_type"), str):
            document["application_type"] = asked["application_type"]
        self._registered[client.id] = client
        return document


def _document(raw: bytes) -> dict[str, Any]:
    try:
        document = json.loads(raw)
    except (ValueError, RecursionError):
        raise OAuthError("invalid_client_metadata", "The body is not JSON") from None
    if not isinstance(document, dict):
        raise OAuthError("invalid_client_metadata", "The body must be a JSON object")
    return document


def from_metadata(client_id: str, asked: dict[str, Any]) -> RegisteredClient:
    """Creates a client from its metadata (RFC 7591 section 2); raises OAuthError for unsupported metadata."""
    grants = _texts(asked, "grant_types", [CODE])
    served = tuple(each for each in grants if each in GRANTS)
    if not served:
        raise OAuthError("invalid_client_metadata", f"grant_types must contain one of {', '.join(GRANTS)}")
    method = asked.get("token_endpoint_auth_method", "client_secret_basic")
    if method not in METHODS:
        raise OAuthError("invalid_client_metadata", f"token_endpoint_auth_method must be one of {', '.join(METHODS)}")
    name = asked.get("client_name", client_id)
    if not isinstance(name, str) or len(name) > 200:
        raise OAuthError("invalid_client_metadata", "client_name must be a text of at most 200 characters")
    jwks = asked.get("jwks")
    if method == "private_key_jwt" and not isinstance(jwks, dict):
        raise OAuthError("invalid_client_metadata", "private_key_jwt requires the keys in jwks: no URL is fetched")
    redirects = _texts(asked, "redirect_uris", [])
    if CODE in served and not redirects:
        raise OAuthError("invalid_redirect_uri", "redirect_uris is missing")
    for uri in redirects:
        _check_redirect(uri, asked.get("application_type"))
    return RegisteredClient(client_id, name, redirects=tuple(redirects), grants=served, methods=(method,), jwks=jwks)


def _texts(asked: dict[str, Any], key: str, default: list[str]) -> list[str]:
    value = asked.get(key, default)
    good = isinstance(value, list) and len(value) <= MAX_REDIRECTS
    if not good or not all(isinstance(each, str) and len(each) <= MAX_URI for each in value):
        raise OAuthError("invalid_client_metadata", f"{key} must be a list of at most {MAX_REDIRECTS} texts")
    return list(value)


def _check_redirect(uri: str, application_type: Any) -> None:
    parts = _parts(uri)
    here = parts is not None and parts.scheme == "http" and parts.hostname in LOOPBACK
    own = parts is not None and bool(_SCHEME.fullmatch(parts.scheme))
    away = parts is not None and parts.scheme == "https" and bool(parts.hostname)
    if "#" in uri or "*" in uri or not (here or own or away):
        raise OAuthError(
            "invalid_redirect_uri", f"A redirect URI must be https, or http on this machine: {uri!r} is not"
        )
    if application_type == "web" and not away:
        raise OAuthError(
            "invalid_redirect_uri", f"An application of the type web cannot use {uri}: set the type native"
        )


def _same_place(registered: str, uri: str) -> bool:
    if registered == uri:
        return True
    one, other = _parts(registered), _parts(uri)
    if one is None or other is None or "#" in uri or other.username is not None:
        return False
    if one.scheme != "http" or other.scheme != "http" or one.hostname not in LOOPBACK:
        return False
    # A native app does not know its port in advance (RFC 8252 section 7.3).
    anywhere = registered in ANYWHERE_HERE
    return one.hostname == other.hostname and (anywhere or (one.path, one.query) == (other.path, other.query))


def _parts(uri: str) -> Any:
    """Parses a URI; None if it is not valid, or if parsers disagree on it."""
    if not uri.isascii() or not uri.isprintable() or " " in uri or "\\" in uri:
        return None
    try:
        parts = urlsplit(uri)
        parts.port  # noqa: B018 - raises for a port that is none
    except ValueError:
        return None
    return parts
