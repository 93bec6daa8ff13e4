"""Clients: predefined ones, registered ones (RFC 7591), and those that are a metadata document."""

from __future__ import annotations

import ipaddress
import json
import re
import secrets
import socket
from base64 import b64decode
from dataclasses import dataclass
from hmac import compare_digest
from urllib.parse import unquote_plus, urlsplit

from inspector.demo.auth.grants import BoundedDict
from inspector.demo.auth.http_values import OAuthError
from inspector.demo.auth.signatures import claims_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from inspector.demo.auth.http_values import Request, RequestParameters

    Fetch = Callable[[str], bytes]

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


@dataclass(slots=True)
class RegisteredClient:
    """A client that may request tokens: its authentication method and its redirect URIs."""

    id: str
    name: str
    redirects: tuple[str, ...] = ()
    grants: tuple[str, ...] = (CODE,)
    methods: tuple[str, ...] = ("none",)
    secret: str = ""
    jwks: Any = None

    def may_return_to(self, uri: str) -> bool:
        """Whether a redirect URI is allowed: as registered, except for the port of a loopback address."""
        return any(_same_place(registered, uri) for registered in self.redirects)

    def has_secret(self, secret: str) -> bool:
        """Whether a secret is the client's."""
        return bool(self.secret) and compare_digest(self.secret.encode(), secret.encode("utf-8", "replace"))


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
        client: RegisteredClient | None = self._known.get(client_id) or self._registered.get(client_id)
        return client

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
    served = tuple(grant for grant in grants if grant in GRANTS)
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
    if not good or not all(isinstance(text, str) and len(text) <= MAX_URI for text in value):
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


ASSERTION = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
MAX_ASSERTION = 600.0  # maximum lifetime of an assertion in seconds
SKEW = 60.0  # allowed clock difference in seconds


class ClientAuthentication:
    """Finds the client of a request, and authenticates it with its registered method only."""

    def __init__(
        self, find: Callable[[str], RegisteredClient], audiences: tuple[str, ...], now: Callable[[], float]
    ) -> None:
        self._find = find
        self._audiences = audiences
        self._now = now
        self._seen = BoundedDict()

    def client(self, request: Request, form: RequestParameters) -> RegisteredClient:
        """Returns the client of a request; raises OAuthError (401) if it is not authenticated."""
        header = request.head.field("Authorization") or ""
        assertion = form.get("client_assertion")
        methods = [method for method, there in _ways(header, form.get("client_secret"), assertion) if there]
        if len(methods) > 1:
            raise OAuthError("invalid_request", f"The client authenticates in several ways: {' and '.join(methods)}")
        method = methods[0] if methods else "none"
        if method == "private_key_jwt":
            return self._signed(form, assertion)
        client_id, secret = form.get("client_id"), form.get("client_secret")
        if method == "client_secret_basic":
            client_id, secret = _basic(header, client_id)
        if not client_id:
            raise OAuthError("invalid_client", "client_id is missing", status=401)
        client = self._find(client_id)
        _check_method(client, method)
        if method != "none" and not client.has_secret(secret):
            raise OAuthError("invalid_client", "The client's secret is wrong", status=401)
        return client

    def _signed(self, form: RequestParameters, assertion: str) -> RegisteredClient:
        if form.get("client_assertion_type") != ASSERTION:
            raise OAuthError("invalid_client", f"client_assertion_type must be {ASSERTION}", status=401)
        client = self._find(form.get("client_id") or _subject(assertion))
        _check_method(client, "private_key_jwt")
        try:
            claims = claims_of(assertion, client.jwks)
            self._check_claims(claims, client.id)
        except ValueError as problem:
            raise OAuthError("invalid_client", f"The assertion is not valid: {problem}", status=401) from None
        return client

    def _check_claims(self, claims: dict[str, Any], client_id: str) -> None:
        now, until, jti = self._now(), claims.get("exp"), claims.get("jti")
        audience = claims.get("aud")
        if claims.get("iss") != client_id or claims.get("sub") != client_id:
            raise ValueError("iss and sub must be the client's id")
        if not any(value in self._audiences for value in (audience if isinstance(audience, list) else [audience])):
            raise ValueError(f"aud must be {self._audiences[0]}")
        if not isinstance(until, int | float) or not until > now - SKEW:  # NaN is not a time either
            raise ValueError("exp is in the past")
        if until > now + MAX_ASSERTION + SKEW:
            raise ValueError(f"exp is more than {MAX_ASSERTION:.0f} seconds away")
        if not isinstance(jti, str) or jti in self._seen:
            raise ValueError("jti is missing, or was used before")
        self._seen[jti] = True


def _ways(header: str, secret: str, assertion: str) -> tuple[tuple[str, bool], ...]:
    return (
        ("client_secret_basic", header.lower().startswith("basic ")),
        ("client_secret_post", bool(secret)),
        ("private_key_jwt", bool(assertion)),
    )


def _basic(header: str, client_id: str) -> tuple[str, str]:
    """Both values are form-encoded before they are joined (RFC 6749 section 2.3.1)."""
    try:
        name, _, secret = b64decode(header[len("Basic ") :].strip(), validate=True).decode("utf-8").partition(":")
    except ValueError:
        raise OAuthError("invalid_client", "The Basic credentials are not valid", status=401) from None
    if client_id and client_id != unquote_plus(name):
        raise OAuthError("invalid_request", "client_id differs from the one in Authorization")
    return unquote_plus(name), unquote_plus(secret)


def _check_method(client: RegisteredClient, method: str) -> None:
    if method not in client.methods:
        registered = " or ".join(client.methods)
        raise OAuthError("invalid_client", f"This client is registered with {registered}, not {method}", status=401)


def _subject(assertion: str) -> str:
    """Returns the subject of an assertion, before it is verified."""
    import json

    from inspector.demo.auth.signatures import decoded

    try:
        claims = json.loads(decoded(assertion.split(".")[1]))
        return str(claims["sub"])
    except (ValueError, RecursionError, LookupError, TypeError):
        raise OAuthError("invalid_client", "The assertion is not a JWT with a sub", status=401) from None


TIMEOUT = 5.0  # seconds
MAX_BYTES = 65536
EXAMPLE = "https://client.example/metadata.json"
# A document that needs no network: `.example` domains do not exist (RFC 2606).
_EXAMPLE: dict[str, Any] = {
    "client_id": EXAMPLE,
    "client_name": "Client with a document",
    "redirect_uris": ["http://127.0.0.1/callback", "http://localhost/callback", "http://[::1]/callback"],
    "grant_types": [CODE, REFRESH, DEVICE],
    "token_endpoint_auth_method": "none",
}


class Documents:
    """The fetched documents; each is fetched once."""

    def __init__(self, fetch: Fetch | None = None) -> None:
        self._fetch = fetch or fetch_public
        self._clients = BoundedDict(100)
        self._clients[EXAMPLE] = read(EXAMPLE, _EXAMPLE)

    def find(self, url: str) -> RegisteredClient:
        """Returns the client whose id is a URL; raises OAuthError."""
        client: RegisteredClient | None = self._clients.get(url)
        if client is None:
            _check_url(url)
            try:
                document = json.loads(self._fetch(url))
            except (OSError, ValueError, RecursionError) as problem:
                raise OAuthError("invalid_client", f"Cannot fetch the document at {url}: {problem}") from None
            client = self._clients[url] = read(url, document)
        return client


def read(url: str, document: Any) -> RegisteredClient:
    """Returns the client that a document describes; raises OAuthError if it is not about this URL."""
    if not isinstance(document, dict) or document.get("client_id") != url:
        raise OAuthError("invalid_client", f"The document at {url} does not have the URL as its client_id")
    missing = [key for key in ("client_name", "redirect_uris") if key not in document]
    if missing:
        raise OAuthError("invalid_client", f"The document at {url} has no {missing[0]}")
    method = document.get("token_endpoint_auth_method", "none")
    if "client_secret" in document or method not in ("none", "private_key_jwt"):
        raise OAuthError("invalid_client", f"The document at {url} is public, so it must not contain a secret")
    return from_metadata(url, {**document, "token_endpoint_auth_method": method})


def _check_url(url: str) -> None:
    parts = urlsplit(url)
    dotted = {".", ".."} & set(parts.path.split("/"))
    plain = not parts.fragment and parts.username is None and not dotted
    if parts.scheme != "https" or not parts.hostname or parts.path in ("", "/") or not plain:
        raise OAuthError("invalid_client", f"A client id that is a URL must be https and have a path: {url!r}")


def fetch_public(url: str) -> bytes:
    """Fetches an https URL of a public address: no redirects, five seconds, 64 kB. Raises OSError or ValueError."""
    import http.client
    import ssl

    parts = urlsplit(url)
    host, port = str(parts.hostname), parts.port or 443
    address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][4][0]
    # Otherwise a page could make a browser send us to a machine behind the same firewall.
    if not ipaddress.ip_address(address).is_global:
        raise ValueError("it is at a private address")
    connection = http.client.HTTPSConnection(host, port, timeout=TIMEOUT)
    try:
        # Connected by hand, to the address that was checked, because the name may resolve differently now.
        plain = socket.create_connection((str(address), port), TIMEOUT)
        connection.sock = ssl.create_default_context().wrap_socket(plain, server_hostname=host)
        path = parts.path + (f"?{parts.query}" if parts.query else "")
        connection.request("GET", path, headers={"Accept": "application/json"})
        response = connection.getresponse()
        if response.status != 200:
            raise ValueError(f"status {response.status}")
        body = response.read(MAX_BYTES + 1)
    except http.client.HTTPException as problem:
        raise ValueError(f"not HTTP: {type(problem).__name__}") from None
    finally:
        connection.close()
    if len(body) > MAX_BYTES:
        raise ValueError(f"it is larger than {MAX_BYTES} bytes")
    return body
