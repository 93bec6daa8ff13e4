"""One authorization server: its settings, its metadata (RFC 8414) and its endpoints."""

from __future__ import annotations

import time
from urllib.parse import urlsplit

from inspector.demo.auth.authorize import Authorize
from inspector.demo.auth.clients import GRANTS, LOOPBACK, METHODS, Clients, known
from inspector.demo.auth.device import Devices
from inspector.demo.auth.documents import Documents
from inspector.demo.auth.exchange import Answer, OAuthError, json_answer, page, refusal
from inspector.demo.auth.faults import CLOCK_SKEW, SKEWED, Faults
from inspector.demo.auth.identify import Identification
from inspector.demo.auth.token import exchange, revoke
from inspector.demo.auth.vault import Vault

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from inspector.demo.auth.clients import Client
    from inspector.demo.auth.exchange import Request

    Endpoint = Callable[[Request], Answer]

READ, WRITE, OFFLINE = "demo:read", "demo:write", "offline_access"
SCOPES = (READ, WRITE, OFFLINE)
PROTECTED = ("", "/", "/mcp", "/sse")  # paths of the MCP server that tokens are for; the first two mean all of it
# Where the authorization server is, and how that is found.
LAYOUTS = {
    "apart": "on an origin of its own",
    "path": "its issuer has a path",
    "oidc": "only OpenID Connect discovery, after the path of the issuer",
    "several": "the MCP server names two authorization servers",
    "same-origin": "as 2025-03-26 has it: on the MCP server's origin, without protected resource metadata",
    "defaults": "the same without any metadata: /authorize, /token and /register",
}
_WELL_KNOWN = "/.well-known/"
_OAUTH, _OPENID = "oauth-authorization-server", "openid-configuration"


class Settings:
    """What the command line says about authorization.

    `auto`: everything is allowed at once, without a page; `expiry`: lifetime of access tokens in seconds; `port`: where
    the authorization server listens, 0 for any; `jwks`: the public keys of the client `demo-key`.
    """

    def __init__(
        self,
        *,
        auto: bool = False,
        layout: str = "apart",
        faults: tuple[str, ...] = (),
        expiry: int = 3600,
        port: int = 0,
        jwks: Any = None,
        now: Callable[[], float] = time.time,
    ) -> None:
        self.auto = auto
        self.layout = layout
        self.faults = Faults(faults)
        self.expiry = expiry
        self.port = port
        self.jwks = jwks
        self.now = now


class Authority:
    """An authorization server with one issuer, for one MCP server."""

    def __init__(self, settings: Settings, issuer: str, server_url: str) -> None:
        self.settings = settings
        self.faults = settings.faults
        self.issuer = issuer
        self.path = urlsplit(issuer).path
        self._server_url = server_url
        self.vault = Vault(issuer, settings.expiry, settings.now)
        self.vault.skew = SKEWED if CLOCK_SKEW in self.faults else 0.0
        self._clients = Clients(known(settings.jwks))
        self._documents = Documents()
        audiences = (issuer, self.endpoint("/token"))
        self.identification = Identification(self._client_or_401, audiences, settings.now)
        self.devices = Devices(self)
        authorize = Authorize(self)
        self._routes: dict[str, dict[str, Endpoint]] = {
            "/authorize": {"GET": authorize.ask},
            "/authorize/decide": {"POST": authorize.decide},
            "/token": {"POST": self._token},
            "/revoke": {"POST": lambda request: revoke(self, request)},
            "/register": {"POST": self._register},
            "/device_authorization": {"POST": self.devices.begin},
            "/device": {"GET": self.devices.show, "POST": self.devices.decide},
            "/jwks": {"GET": lambda request: json_answer(200, {"keys": []})},
        }
        self._metadata_places = self._places(settings.layout)

    def _places(self, layout: str) -> dict[str, bool]:
        """Where the metadata are, and whether they are those of OpenID Connect."""
        oauth, openid = _WELL_KNOWN + _OAUTH + self.path, _WELL_KNOWN + _OPENID + self.path
        after = self.path + _WELL_KNOWN + _OPENID
        if layout == "oidc":
            return {after: True}
        return {} if layout == "defaults" else {oauth: False, openid: True, after: True}

    def endpoint(self, path: str) -> str:
        """The URL of an endpoint."""
        return self.issuer + path

    def answer(self, request: Request) -> Answer | None:
        """Serves a request; None if its path is none of this server's."""
        if request.path in self._metadata_places:
            methods: dict[str, Endpoint] | None = {"GET": self._metadata}
        else:
            inside = request.path.startswith(self.path + "/")
            methods = self._routes.get(request.path.removeprefix(self.path)) if inside else None
        if methods is None:
            return None
        serve = methods.get(request.method)
        if serve is None:
            headers = {"Allow": ", ".join(methods), "Content-Type": "text/plain"}
            return Answer(405, headers, b"Method not allowed")
        try:
            return serve(request)
        except OAuthError as problem:
            if request.path.endswith("/device"):
                return page(problem.status, "This cannot be read", "<p>Begin again.</p>")
            return refusal(problem)

    def find_client(self, client_id: str) -> Client:
        """A client, known, registered or described by a document; raises OAuthError."""
        if client_id.startswith(("https://", "http://")):
            return self._documents.find(client_id)
        found = self._clients.find(client_id)
        if found is None:
            raise OAuthError("invalid_client", f"There is no client {client_id}")
        return found

    def _client_or_401(self, client_id: str) -> Client:
        try:
            return self.find_client(client_id)
        except OAuthError as problem:
            raise OAuthError(problem.code, problem.description, status=401) from None

    def scopes(self, text: str) -> tuple[str, ...]:
        """The scopes that are asked for; raises OAuthError for unknown ones. Without any it is the smallest."""
        asked = tuple(dict.fromkeys(text.split()))
        unknown = [each for each in asked if each not in SCOPES]
        if unknown:
            raise OAuthError("invalid_scope", f"There is no scope {unknown[0]}: there are {', '.join(SCOPES)}")
        return asked or (READ,)

    def resource(self, text: str) -> str:
        """The resource that is asked for (RFC 8707), the whole MCP server where a client of old does not say.

        Raises OAuthError for any that is not this MCP server.
        """
        if not text:
            return self._server_url
        try:
            parts = urlsplit(text)
            here = (parts.scheme, parts.port) == ("http", urlsplit(self._server_url).port)
        except ValueError:
            here = False
        if not here or parts.hostname not in LOOPBACK or parts.path not in PROTECTED or parts.query or "#" in text:
            raise OAuthError("invalid_target", f"No tokens are given out here for {text}")
        return text

    def _metadata(self, request: Request) -> Answer:
        document: dict[str, Any] = {
            "issuer": self.issuer,
            "authorization_endpoint": self.endpoint("/authorize"),
            "token_endpoint": self.endpoint("/token"),
            "registration_endpoint": self.endpoint("/register"),
            "revocation_endpoint": self.endpoint("/revoke"),
            "device_authorization_endpoint": self.endpoint("/device_authorization"),
            "response_types_supported": ["code"],
            "response_modes_supported": ["query"],
            "grant_types_supported": list(GRANTS),
            "code_challenge_methods_supported": ["S256"],
            "token_endpoint_auth_methods_supported": list(METHODS),
            "token_endpoint_auth_signing_alg_values_supported": ["ES256", "RS256"],
            "revocation_endpoint_auth_methods_supported": list(METHODS),
            "scopes_supported": list(SCOPES),
            "client_id_metadata_document_supported": True,
            "authorization_response_iss_parameter_supported": True,
        }
        if self._metadata_places[request.path]:
            # There are no id tokens here, but OpenID Connect Discovery demands that these be told.
            document |= {
                "jwks_uri": self.endpoint("/jwks"),
                "subject_types_supported": ["public"],
                "id_token_signing_alg_values_supported": ["RS256"],
            }
        return self._said("metadata", document, request.origin(urlsplit(self.issuer).port) + request.path)

    def _register(self, request: Request) -> Answer:
        document = self._clients.register(request, self.settings.now())
        return self._said("registered", document, self.endpoint("/register"), status=201)

    def _token(self, request: Request) -> Answer:
        document, refreshed = exchange(self, request)
        if refreshed:
            document = self.faults.apply("refresh", document, self.endpoint("/token"))
        return self._said("token", document, self.endpoint("/token"))

    def _said(self, place: str, document: Any, url: str, *, status: int = 200) -> Answer:
        said = self.faults.apply(place, document, url)
        return said if isinstance(said, Answer) else json_answer(status, said)
