"""One authorization server: its metadata (RFC 8414) and its endpoints."""

from __future__ import annotations

from hmac import compare_digest
from urllib.parse import urlsplit

from inspector.demo.auth.authorize import Authorize, Devices
from inspector.demo.auth.clients import CODE, DEVICE, GRANTS, ITSELF, METHODS, REFRESH
from inspector.demo.auth.grants import IssuedGrant, challenge_of
from inspector.demo.auth.http_values import HttpReply, OAuthError, json_answer, page, refusal
from inspector.demo.auth.issuer import SCOPES, Issuer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from inspector.demo.auth.clients import RegisteredClient
    from inspector.demo.auth.grants import Access
    from inspector.demo.auth.http_values import Request, RequestParameters
    from inspector.demo.auth.issuer import IssuerSettings

    Endpoint = Callable[[Request], HttpReply]


def exchange(issuer: Issuer, devices: Devices, request: Request) -> tuple[dict[str, Any], bool]:
    """Returns the tokens of a grant, and whether it was a refresh.

    Grants: a code, a refresh token, a device code or the client itself. Raises OAuthError.
    """
    form = request.form()
    client = issuer.identification.client(request, form)
    kind = form.need("grant_type")
    serve = {CODE: _by_code, REFRESH: _by_refresh, ITSELF: _by_itself}.get(kind)
    if serve is None and kind != DEVICE:
        raise OAuthError("unsupported_grant_type", f"grant_type must be one of {CODE}, {REFRESH}, {ITSELF}, {DEVICE}")
    if kind not in client.grants:
        raise OAuthError("unauthorized_client", f"This client is not registered for {kind}")
    if serve is None:
        return issuer.grants.new_tokens(devices.grant(client, form)), False
    return serve(issuer, client, form), kind == REFRESH


def revoke(issuer: Issuer, request: Request) -> HttpReply:
    """Revokes a token; the response is the same for an unknown one (RFC 7009 section 2.2)."""
    form = request.form()
    client = issuer.identification.client(request, form)
    issuer.grants.revoke(form.need("token"), client.id)
    return HttpReply(200, {"Cache-Control": "no-store"})


def _by_code(issuer: Issuer, client: RegisteredClient, form: RequestParameters) -> dict[str, Any]:
    code = issuer.grants.code(form.need("code"))
    if code is None or code.grant.client_id != client.id:
        raise OAuthError("invalid_grant", "The code is unknown, expired or already used")
    if form.get("redirect_uri") not in ("", code.redirect_uri):
        raise OAuthError("invalid_grant", "redirect_uri differs from the one of the code")
    if not compare_digest(challenge_of(form.need("code_verifier")), code.challenge):
        raise OAuthError("invalid_grant", "code_verifier does not match the code_challenge")
    _check_resource(issuer, code.grant, form)
    return issuer.grants.new_tokens(code.grant)


def _by_refresh(issuer: Issuer, client: RegisteredClient, form: RequestParameters) -> dict[str, Any]:
    text = form.need("refresh_token")
    refresh = issuer.grants.peek(text)
    scopes: tuple[str, ...] = ()
    if refresh is not None and form.get("scope"):
        scopes = tuple(form.get("scope").split())
        if not set(scopes) <= set(refresh.grant.scopes):
            raise OAuthError("invalid_scope", "A refresh cannot request more scopes than were granted")
    if refresh is not None:
        _check_resource(issuer, refresh.grant, form)
    grant = issuer.grants.refresh(text, client.id)
    if grant is None:
        raise OAuthError("invalid_grant", "The refresh token is unknown, revoked or already used")
    return issuer.grants.new_tokens(grant, scopes)


def _by_itself(issuer: Issuer, client: RegisteredClient, form: RequestParameters) -> dict[str, Any]:
    scopes, resource = issuer.scopes(form.get("scope")), issuer.resource(form.get("resource"))
    return issuer.grants.new_tokens(IssuedGrant(client.id, client.id, scopes, resource))


def _check_resource(issuer: Issuer, grant: IssuedGrant, form: RequestParameters) -> None:
    resource = form.get("resource")
    if resource and issuer.resource(resource) != grant.resource:
        raise OAuthError("invalid_target", f"The grant is for {grant.resource}")


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
        return self._issuer.grants.access(token)

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
        return self._document_reply("metadata", document, request.origin(urlsplit(self.issuer).port) + request.path)

    def _register(self, request: Request) -> HttpReply:
        document = self._issuer.clients.register(request, self._issuer.settings.now())
        return self._document_reply("registered", document, self._issuer.endpoint("/register"), status=201)

    def _token(self, request: Request) -> HttpReply:
        document, refreshed = exchange(self._issuer, self._devices, request)
        if refreshed:
            document = self._issuer.faults.apply("refresh", document, self._issuer.endpoint("/token"))
        return self._document_reply("token", document, self._issuer.endpoint("/token"))

    def _document_reply(self, place: str, document: Any, url: str, *, status: int = 200) -> HttpReply:
        answer = self._issuer.faults.apply(place, document, url)
        return answer if isinstance(answer, HttpReply) else json_answer(status, answer)
