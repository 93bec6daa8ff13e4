"""An issuer: the settings, clients and tokens that all endpoints of an authorization server share."""

from __future__ import annotations

import time
from urllib.parse import urlsplit

from inspector.demo.auth.clients import LOOPBACK, ClientAuthentication, Clients, Documents, known
from inspector.demo.auth.faults import CLOCK_SKEW, SKEWED, Faults
from inspector.demo.auth.grants import Grants
from inspector.demo.auth.http_values import OAuthError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from inspector.demo.auth.clients import RegisteredClient

READ, WRITE, OFFLINE = "demo:read", "demo:write", "offline_access"
SCOPES = (READ, WRITE, OFFLINE)
PROTECTED = ("", "/", "/mcp", "/sse")  # paths of the MCP server that tokens are for; the first two mean all of it
# The location of the authorization server, and how it is found.
LAYOUTS = {
    "apart": "on an origin of its own",
    "path": "its issuer has a path",
    "oidc": "only OpenID Connect discovery, after the path of the issuer",
    "several": "the MCP server names two authorization servers",
    "same-origin": "as 2025-03-26 has it: on the MCP server's origin, without protected resource metadata",
    "defaults": "the same without any metadata: /authorize, /token and /register",
}


class IssuerSettings:
    """The authorization options of the command line.

    `auto`: every request is allowed immediately, without a page; `expiry`: lifetime of access tokens in seconds;
    `port`: that of the authorization server, 0 for a free one; `jwks`: the public keys of the client `demo-key`.
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


class Issuer:
    """One issuer, for one MCP server. `url` is its identifier; the endpoints are below it, at `path`."""

    def __init__(self, settings: IssuerSettings, url: str, server_url: str) -> None:
        self.settings = settings
        self.faults = settings.faults
        self.url = url
        self.path = urlsplit(url).path
        self._server_url = server_url
        self.grants = Grants(url, settings.expiry, settings.now)
        self.grants.skew = SKEWED if CLOCK_SKEW in self.faults else 0.0
        self.clients = Clients(known(settings.jwks))
        self._documents = Documents()
        audiences = (url, self.endpoint("/token"))
        self.identification = ClientAuthentication(self._client_or_401, audiences, settings.now)

    def endpoint(self, path: str) -> str:
        """Returns the URL of an endpoint."""
        return self.url + path

    def find_client(self, client_id: str) -> RegisteredClient:
        """Returns a client: predefined, registered or described by a document; raises OAuthError."""
        if client_id.startswith(("https://", "http://")):
            return self._documents.find(client_id)
        client = self.clients.find(client_id)
        if client is None:
            raise OAuthError("invalid_client", f"Unknown client {client_id}")
        return client

    def _client_or_401(self, client_id: str) -> RegisteredClient:
        try:
            return self.find_client(client_id)
        except OAuthError as problem:
            raise OAuthError(problem.code, problem.description, status=401) from None

    def scopes(self, text: str) -> tuple[str, ...]:
        """Returns the requested scopes; raises OAuthError for unknown ones. Without any, the minimum."""
        asked = tuple(dict.fromkeys(text.split()))
        unknown = [scope for scope in asked if scope not in SCOPES]
        if unknown:
            raise OAuthError("invalid_scope", f"Unknown scope {unknown[0]}: use one of {', '.join(SCOPES)}")
        return asked or (READ,)

    def resource(self, text: str) -> str:
        """Returns the requested resource (RFC 8707); without one, the whole MCP server, as older clients expect.

        Raises OAuthError for any resource that is not this MCP server.
        """
        if not text:
            return self._server_url
        try:
            parts = urlsplit(text)
            here = (parts.scheme, parts.port) == ("http", urlsplit(self._server_url).port)
        except ValueError:
            here = False
        if not here or parts.hostname not in LOOPBACK or parts.path not in PROTECTED or parts.query or "#" in text:
            raise OAuthError("invalid_target", f"This server issues no tokens for {text}")
        return text
