"""One authorization server: its metadata (RFC 8414) and its endpoints."""

from __future__ import annotations

from urllib.parse import urlsplit

from inspector.demo.auth.authorize import Authorize
from inspector.demo.auth.clients import GRANTS, METHODS
from inspector.demo.auth.device import Devices
from inspector.demo.auth.http_values import HttpReply, OAuthError, json_answer, page, refusal
from inspector.demo.auth.issuer import SCOPES, Issuer
from inspector.demo.auth.token import exchange, revoke

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from inspector.demo.auth.grants import Access
    from inspector.demo.auth.http_values import Request
    from inspector.demo.auth.issuer import IssuerSettings

    Endpoint = Callable[[Request], HttpReply]

_WELL_KNOWN = "/.well-known/"
_OAUTH, _OPENID = "oauth-authorization-server", "openid-configuration"


class Authority:
    """An authorization server with one issuer, for one MCP server."""

    def __init__(self, settings: IssuerSettings, issuer: str, server_url: str) -> None:
        self._issuer = Issuer(settings, issuer, server_url)
        self._devices = Devices(self._issuer)
        authorize = Authorize(self._issuer)
        self._routes: dict[str, dict[str, Endpoint]] = {
            "/authorize": {"GET": authorize.ask},
            "/authorize/decide": {"POST": authorize.decide},
            "/token": {"POST": self._token},
            "/revoke": {"POST": lambda request: revoke(self._issuer, request)},
            "/register": {"POST": self._register},
            "/device_authorization": {"POST": self._devices.begin},
            "/device": {"GET": self._devices.show, "POST": self._devices.decide},
            "/jwks": {"GET": lambda request: json_answer(200, {"keys": []})},
        }
        self._metadata_places = self._places(settings.layout)

    @property
    def issuer(self) -> str:
        """The issuer's URL."""
        return self._issuer.url

    def access(self, token: str) -> Access | None:
        """Returns what an access token of this server allows; None if it is not valid."""
        return self._issuer.vault.access(token)

    def _places(self, layout: str) -> dict[str, bool]:
        """Returns the paths of the metadata, and whether they are those of OpenID Connect."""
        oauth, openid = _WELL_KNOWN + _OAUTH + self._issuer.path, _WELL_KNOWN + _OPENID + self._issuer.path
        after = self._issuer.path + _WELL_KNOWN + _OPENID
        if layout == "oidc":
            return {after: True}
        return {} if layout == "defaults" else {oauth: False, openid: True, after: True}

    def answer(self, request: Request) -> HttpReply | None:
        """Serves a request; None if its path does not belong to this server."""
        if request.path in self._metadata_places:
            methods: dict[str, Endpoint] | None = {"GET": self._metadata}
        else:
            inside = request.path.startswith(self._issuer.path + "/")
            methods = self._routes.get(request.path.removeprefix(self._issuer.path)) if inside else None
        if methods is None:
            return None
        serve = methods.get(request.method)
        if serve is None:
            headers = {"Allow": ", ".join(methods), "Content-Type": "text/plain"}
            return HttpReply(405, headers, b"Method not allowed")
        try:
            return serve(request)
        except OAuthError as problem:
            if request.path.endswith("/device"):
                return page(problem.status, "Invalid request", "<p>Start again.</p>")
            return refusal(problem)

    def _metadata(self, request: Request) -> HttpReply:
        document: dict[str, Any] = {
            "issuer": self.issuer,
            "authorization_endpoint": self._issuer.endpoint("/authorize"),
            "token_endpoint": self._issuer.endpoint("/token"),
            "registration_endpoint": self._issuer.endpoint("/register"),
            "revocation_endpoint": self._issuer.endpoint("/revoke"),
            "device_authorization_endpoint": self._issuer.endpoint("/device_authorization"),
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
            # There are no id tokens here, but OpenID Connect Discovery requires these members.
            document |= {
                "jwks_uri": self._issuer.endpoint("/jwks"),
                "subject_types_supported": ["public"],
                "id_token_signing_alg_values_supported": ["RS256"],
            }
        return self._said("metadata", document, request.origin(urlsplit(self.issuer).port) + request.path)

    def _register(self, request: Request) -> HttpReply:
        document = self._issuer.clients.register(request, self._issuer.settings.now())
        return self._said("registered", document, self._issuer.endpoint("/register"), status=201)

    def _token(self, request: Request) -> HttpReply:
        document, refreshed = exchange(self._issuer, self._devices, request)
        if refreshed:
            document = self._issuer.faults.apply("refresh", document, self._issuer.endpoint("/token"))
        return self._said("token", document, self._issuer.endpoint("/token"))

    def _said(self, place: str, document: Any, url: str, *, status: int = 200) -> HttpReply:
        said = self._issuer.faults.apply(place, document, url)
        return said if isinstance(said, HttpReply) else json_answer(status, said)
