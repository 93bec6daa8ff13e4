"""The token endpoint, and the revocation endpoint (RFC 6749 sections 4 to 6, RFC 7009)."""

from __future__ import annotations

from hmac import compare_digest

from inspector.demo.auth.clients import CODE, DEVICE, ITSELF, REFRESH
from inspector.demo.auth.grants import IssuedGrant, challenge_of
from inspector.demo.auth.http_values import HttpReply, OAuthError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from inspector.demo.auth.clients import RegisteredClient
    from inspector.demo.auth.device import Devices
    from inspector.demo.auth.http_values import Request, RequestParameters
    from inspector.demo.auth.issuer import Issuer


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
        return issuer.vault.new_tokens(devices.grant(client, form)), False
    return serve(issuer, client, form), kind == REFRESH


def revoke(issuer: Issuer, request: Request) -> HttpReply:
    """Revokes a token; the response is the same for an unknown one (RFC 7009 section 2.2)."""
    form = request.form()
    client = issuer.identification.client(request, form)
    issuer.vault.revoke(form.need("token"), client.id)
    return HttpReply(200, {"Cache-Control": "no-store"})


def _by_code(issuer: Issuer, client: RegisteredClient, form: RequestParameters) -> dict[str, Any]:
    code = issuer.vault.code(form.need("code"))
    if code is None or code.grant.client_id != client.id:
        raise OAuthError("invalid_grant", "The code is unknown, expired or already used")
    if form.get("redirect_uri") not in ("", code.redirect_uri):
        raise OAuthError("invalid_grant", "redirect_uri differs from the one of the code")
    if not compare_digest(challenge_of(form.need("code_verifier")), code.challenge):
        raise OAuthError("invalid_grant", "code_verifier does not match the code_challenge")
    _check_resource(issuer, code.grant, form)
    return issuer.vault.new_tokens(code.grant)


def _by_refresh(issuer: Issuer, client: RegisteredClient, form: RequestParameters) -> dict[str, Any]:
    text = form.need("refresh_token")
    found = issuer.vault.peek(text)
    scopes: tuple[str, ...] = ()
    if found is not None and form.get("scope"):
        scopes = tuple(form.get("scope").split())
        if not set(scopes) <= set(found.grant.scopes):
            raise OAuthError("invalid_scope", "A refresh cannot request more scopes than were granted")
    if found is not None:
        _check_resource(issuer, found.grant, form)
    grant = issuer.vault.refresh(text, client.id)
    if grant is None:
        raise OAuthError("invalid_grant", "The refresh token is unknown, revoked or already used")
    return issuer.vault.new_tokens(grant, scopes)


def _by_itself(issuer: Issuer, client: RegisteredClient, form: RequestParameters) -> dict[str, Any]:
    scopes, resource = issuer.scopes(form.get("scope")), issuer.resource(form.get("resource"))
    return issuer.vault.new_tokens(IssuedGrant(client.id, client.id, scopes, resource))


def _check_resource(issuer: Issuer, grant: IssuedGrant, form: RequestParameters) -> None:
    said = form.get("resource")
    if said and issuer.resource(said) != grant.resource:
        raise OAuthError("invalid_target", f"The grant is for {grant.resource}")
