"""The token endpoint: client authentication, its response, refreshing and revoking a token.

Sources: RFC 6749 sections 2.3, 4.1.3, 5 and 6; RFC 7009; RFC 9449 sections 5 and 8.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal
from urllib.parse import quote_plus, urlencode

from inspector.auth import assertions, json_documents
from inspector.auth.actions import AuthFlow, Fetch, Fetched, RegisterSecret, fetch, record_step
from inspector.auth.json_documents import InvalidDocument, OAuthDocument
from inspector.auth.models import METHODS, Grant, Method, OAuthClient
from inspector.auth.options import AuthOptions
from inspector.auth.server_metadata import AuthorizationServer
from inspector.config.secret_forms import BEGINNING, SecretFinder
from inspector.errors import AuthorizationNeeded
from inspector.hints import Hint, Parameter
from inspector.text import safe

MAX_TOKEN = 1 << 16
"""Maximum characters of a token in a header field."""

MIN_SECRET = 8
"""Minimum characters of a secret that is removed from a server's error text."""

MIN_SKEW_SECONDS = 60
"""Clock difference in seconds from which a hint is shown."""

_TOKEN = re.compile(r"[!-~]+\Z")
_NONCE = re.compile(r"[!-~]{1,1024}\Z")


class TokenRefused(AuthorizationNeeded):
    """The token endpoint responded with an error.

    `error` is its code (RFC 6749 section 5.2), or empty; `temporary`: the failure is temporary.
    """

    def __init__(self, message: str, *, hint: str = "", error: str = "", temporary: bool = False) -> None:
        super().__init__(message, hint=hint)
        self.error = error
        self.temporary = temporary


@dataclass(slots=True)
class TokenContext:
    """The context of requests to a token endpoint: options, clock, nonces."""

    now: Callable[[], float]
    """The time in seconds since 1970."""
    options: AuthOptions = field(default_factory=AuthOptions)
    nonces: dict[str, str] = field(default_factory=dict)
    """The last DPoP nonce of each authorization server, by issuer; the MCP server's has the empty key."""

    def learn_nonce(self, whose: str, fields: Sequence[tuple[str, str]]) -> bool:
        """Store the `DPoP-Nonce` of a response, if any; True if it changed (RFC 9449 section 8)."""
        given = [value for name, value in fields if name.lower() == "dpop-nonce"]
        if len(given) != 1 or not _NONCE.match(given[0]):
            return False
        fresh = self.nonces.get(whose) != given[0]
        self.nonces[whose] = given[0]
        return fresh


def method_for(server: AuthorizationServer, client: OAuthClient) -> Method:
    """Return how the client authenticates at the token endpoint: as registered, else as offered (C-AUTH-19)."""
    if client.method:
        return client.method
    offered = server.methods
    if not client.client_secret or (offered is not None and not {*offered} - {"none"}):
        return "none"
    return secret_method(offered or (), "client_secret_basic")


def secret_method(offered: Sequence[str], otherwise: Method) -> Method:
    """Return how to send a secret: the first method that the server lists (C-AUTH-19).

    Servers are tested with it. Servers on the Python SDK list two but implement the second partly: they refuse it
    without a client id in the form.
    """
    ways: tuple[Method, ...] = ("client_secret_basic", "client_secret_post")
    return next((way for name in offered for way in ways if way == name), otherwise)


def ask(
    server: AuthorizationServer,
    client: OAuthClient,
    form: Mapping[str, str],
    context: TokenContext,
    *,
    key: str = "",
    what: str = "the token",
) -> AuthFlow[OAuthDocument]:
    """Send one request to the token endpoint, again if it sends a nonce; return its response.

    `key`: the key to bind the token to. Raises `TokenRefused` for an error, whatever its status.
    """
    url = server.token_endpoint
    for attempt in (1, 2):
        fields, body = yield from _authenticated(server, client, form, context)
        if key:
            nonce = context.nonces.get(server.issuer, "")
            fields += (("DPoP", assertions.proof(key, "POST", url, context.now(), nonce=nonce)),)
        answer = yield from fetch(Fetch("POST", url, fields, body, what=what, named=server.is_named(url)))
        values = json_documents.parsed(answer.body)
        code, _ = json_documents.error_of(values)
        fresh = context.learn_nonce(server.issuer, answer.fields)
        if not (key and fresh and code == "use_dpop_nonce" and attempt == 1):
            break
        yield from record_step(
            "token", "The server requires its nonce in the DPoP proof", rule="RFC 9449 section 8", url=url
        )
    if answer.status != 200 or values is None or values.get("error") is not None:
        raise _refused(server, answer, values, what, context.now(), form, client.client_secret)
    return OAuthDocument(
        values, f"The response to the request for {what}", hint="Its format is in RFC 6749 section 5.1."
    )


def granted(
    document: OAuthDocument,
    server: AuthorizationServer,
    client: OAuthClient,
    context: TokenContext,
    *,
    mcp_server: str,
    resource: str,
    asked: tuple[str, ...] | None,
    kind: str,
    key: str = "",
) -> AuthFlow[Grant]:
    """Make a grant of a token endpoint's response (RFC 6749 section 5.1). Raises `InvalidDocument` with the member."""
    for name in ("access_token", "refresh_token", "id_token"):
        if isinstance(value := document.values.get(name), str):
            yield RegisterSecret(value)
    token = _token(document, "access_token", needed=True)
    named_type = document.needed("token_type", longest=100)
    types: dict[str, Literal["Bearer", "DPoP"]] = {"bearer": "Bearer", "dpop": "DPoP"}
    token_type = types.get(named_type.lower())
    if token_type is None or (token_type == "DPoP" and not key):
        expected = "Bearer or DPoP" if key else "Bearer"
        raise document.refused("token_type", f"is “{safe(named_type, 60)}”, not {expected}", f"be {expected}")
    lifetime = document.seconds("expires_in")
    scope = document.scope()
    if key and token_type == "DPoP":
        yield RegisterSecret(key)
    grant = Grant(
        server=mcp_server,
        issuer=server.issuer,
        resource=resource,
        access_token=token,
        token_type=token_type,
        issued_at=context.now(),
        expires_at=0 if lifetime is None else context.now() + lifetime,
        scope=asked or () if document.values.get("scope") is None else scope,
        asked=asked or (),
        refresh_token=_token(document, "refresh_token"),
        client=client,
        token_endpoint=server.token_endpoint,
        revocation_endpoint=server.revocation_endpoint,
        methods=server.methods or (),
        kind=kind,
        key=key if token_type == "DPoP" else "",
    )
    yield from _record_token(grant, lifetime, asked)
    yield from document.loose_steps("token", "RFC 6749 section 5.1")
    return grant


def refresh(grant: Grant, context: TokenContext) -> AuthFlow[Grant]:
    """Get a new token with the refresh token; a new refresh token replaces the old one (C-AUTH-32).

    Raises `TokenRefused`: with `invalid_grant`, the refresh token is not valid any more.
    """
    server = server_of(grant, context)
    form = {"grant_type": "refresh_token", "refresh_token": grant.refresh_token, "resource": grant.resource}
    try:
        document = yield from ask(server, grant.client, form, context, key=grant.key, what="a new token")
        fresh = yield from granted(
            document,
            server,
            grant.client,
            context,
            mcp_server=grant.server,
            resource=grant.resource,
            asked=grant.asked,
            kind=grant.kind,
            key=grant.key,
        )
    except (TokenRefused, InvalidDocument) as error:
        yield from record_step("refresh", error.message, ok=False, rule="C-AUTH-32", url=server.token_endpoint)
        raise
    if document.values.get("scope") is None:
        fresh = replace(fresh, scope=grant.scope)
    if not fresh.refresh_token:
        fresh = replace(fresh, refresh_token=grant.refresh_token)
    yield from record_step(
        "refresh",
        "Refreshed without the browser",
        rule="C-AUTH-32",
        url=server.token_endpoint,
        rotated=fresh.refresh_token != grant.refresh_token,
    )
    return fresh


def revoke(grant: Grant, context: TokenContext) -> AuthFlow[bool]:
    """Revoke the tokens if the authorization server supports it (RFC 7009); True if it revoked them."""
    if not grant.revocation_endpoint:
        yield from record_step("revoke", "The authorization server does not support revocation", rule="RFC 7009")
        return False
    server = at(server_of(grant, context), grant.revocation_endpoint)
    done = True
    for hint, token in (("refresh_token", grant.refresh_token), ("access_token", grant.access_token)):
        if not token:
            continue
        try:
            answer = yield from _revoke_token(server, grant.client, {"token": token, "token_type_hint": hint}, context)
        except AuthorizationNeeded as error:
            yield from record_step("revoke", error.message, ok=False, rule="RFC 7009")
            return False
        ok = answer.status == 200
        done = done and ok
        text = f"The {hint.replace('_', ' ')} was {'revoked' if ok else 'not revoked'}"
        yield from record_step(
            "revoke", text, ok=ok, rule="RFC 7009", url=grant.revocation_endpoint, status=answer.status
        )
    return done


def _revoke_token(
    server: AuthorizationServer, client: OAuthClient, form: dict[str, str], context: TokenContext
) -> AuthFlow[Fetched]:
    """Send one token to the revocation endpoint.

    Servers on the Python SDK require a secret there, even of clients without one. An empty secret equals none (RFC 6749
    section 2.3.1), and is sent after a request without one was refused.
    """
    named = server.is_named(server.token_endpoint)
    for more in ({}, {"client_secret": ""}):
        fields, body = yield from _authenticated(server, client, form | more, context)
        answer = yield from fetch(
            Fetch("POST", server.token_endpoint, fields, body, what="the revocation", named=named)
        )
        if answer.status != 400 or method_for(server, client) != "none":
            break
    return answer


def server_of(grant: Grant, context: TokenContext) -> AuthorizationServer:
    """Return an authorization server's metadata as far as a grant holds it."""
    return AuthorizationServer(
        grant.issuer,
        grant.token_endpoint,
        revocation_endpoint=grant.revocation_endpoint,
        methods=grant.methods or None,
        named=context.options.auth_server == grant.issuer,
    )


def at(server: AuthorizationServer, endpoint: str) -> AuthorizationServer:
    """Return the same authorization server with another URL as its token endpoint."""
    return replace(server, token_endpoint=endpoint)


def _authenticated(
    server: AuthorizationServer, client: OAuthClient, parameters: Mapping[str, str], context: TokenContext
) -> AuthFlow[tuple[tuple[tuple[str, str], ...], bytes]]:
    """Return header fields and body of a request that authenticates the client (RFC 6749 section 2.3)."""
    fields: list[tuple[str, str]] = [
        ("Content-Type", "application/x-www-form-urlencoded"),
        ("Accept", "application/json"),
    ]
    form = dict(parameters)
    method = method_for(server, client)
    assert method in METHODS
    if method == "client_secret_basic":
        pair = f"{quote_plus(client.client_id)}:{quote_plus(client.client_secret)}"
        credential = base64.b64encode(pair.encode()).decode()
        yield RegisterSecret(credential)
        fields.append(("Authorization", f"Basic {credential}"))
    elif client.client_id:
        form["client_id"] = client.client_id
    if method == "client_secret_post":
        form["client_secret"] = client.client_secret
    elif method == "private_key_jwt":
        form["client_assertion_type"] = assertions.ASSERTION_TYPE
        form["client_assertion"] = yield from _assertion(server, client, context)
    return tuple(fields), urlencode(form).encode()


def _assertion(server: AuthorizationServer, client: OAuthClient, context: TokenContext) -> AuthFlow[str]:
    options = context.options
    if not options.client_key:
        raise AuthorizationNeeded(
            f"The client {safe(client.client_id, 100)} authenticates with a key, but no key is given.",
            hint=Hint("Set the file of its private key with ", Parameter.CLIENT_KEY, "."),
        )
    assertion = assertions.client_assertion(
        client.client_id,
        server.issuer,
        options.client_key,
        options.client_key_alg,
        options.client_key_id,
        server.signing,
        context.now(),
    )
    yield RegisterSecret(assertion)
    return assertion


def _token(document: OAuthDocument, name: str, *, needed: bool = False) -> str:
    token = document.needed(name, longest=MAX_TOKEN) if needed else document.text(name, longest=MAX_TOKEN)
    if token and not _TOKEN.match(token):
        reason = "contains characters that are not allowed in a token"
        raise document.refused(name, reason, "be printable ASCII, without spaces and line breaks")
    return token


def _record_token(grant: Grant, lifetime: float | None, asked: tuple[str, ...] | None) -> AuthFlow[None]:
    ends = "its lifetime is unknown" if lifetime is None else f"for {lifetime:.0f} s"
    renewed = "can be refreshed" if grant.refresh_token else "cannot be refreshed"
    missing = [word for word in asked or () if word not in grant.scope]
    claims = assertions.claims_of(grant.access_token) or {}
    yield from record_step(
        "token",
        f"A {grant.token_type} token, {ends}, {renewed}",
        rule="RFC 6749 section 5.1",
        token_type=grant.token_type,
        expires_in=lifetime,
        scope=list(grant.scope),
        missing=missing,
        refresh=bool(grant.refresh_token),
        method=grant.client.method or None,
        resource=grant.resource,
        claims={name: claims[name] for name in ("iss", "aud", "exp", "iat", "scope", "scp") if name in claims} or None,
    )


def _refused(
    server: AuthorizationServer,
    answer: Fetched,
    values: Mapping[str, Any] | None,
    what: str,
    now: float,
    form: Mapping[str, str],
    secret: str,
) -> AuthorizationNeeded:
    code, reason = json_documents.error_of(values)
    # A server may echo its request, secrets included.
    sent = SecretFinder(value for value in {*form.values(), secret} if len(value) >= MIN_SECRET)
    reason = sent.replaced(reason, "…", cut=BEGINNING)
    where = safe(server.issuer, 200)
    if not code:
        response = (
            json_documents.described(answer) if values is None or answer.status != 200 else "an error without a name"
        )
        return TokenRefused(
            f"The token endpoint of {where} responded to the request for {what} with {response}.",
            hint="Respond with a JSON object (RFC 6749 section 5).",
            temporary=answer.status >= 500 or answer.status == 429,
        )
    hints = {
        "invalid_grant": (
            "The refresh token was used before, was revoked, or has expired. Log in again."
            if form.get("grant_type") == "refresh_token"
            else "The code or assertion has expired, was used before, or belongs to another client or redirect URI. "
            "Log in again. If it fails again, see the log of the authorization server."
        ),
        "invalid_request": "The authorization server rejected the request as malformed. See its log for the reason.",
        "invalid_client": (
            "The authorization server does not know the client, or the client registered another authentication method."
        ),
        "invalid_target": "The authorization server does not know this MCP server as a resource (RFC 8707 section 2).",
        "invalid_scope": Hint("Request other scopes with ", Parameter.SCOPE, "."),
        "unauthorized_client": Hint("The client may not use this grant. Select another with ", Parameter.GRANT, "."),
        "unsupported_grant_type": Hint(
            "The authorization server does not support this grant. Select another with ", Parameter.GRANT, "."
        ),
    }
    off = _skew(answer, now)
    clock = (
        f"The clock of this machine is {abs(off):.0f} s {'behind' if off > 0 else 'ahead of'} the server's."
        if off
        else ""
    )
    hint = clock if off else hints.get(code, "")
    if answer.status == 200:
        hint = Hint(hint).then("The response should have status 400 (RFC 6749 section 5.2).")
    reported = f"“{code}”" + (f": {reason.rstrip('.')}" if reason else "")
    return TokenRefused(
        f"The authorization server {where} refused the request for {what} with {reported}.", hint=hint, error=code
    )


def _skew(answer: Fetched, now: float) -> float:
    """Return the server's clock minus ours in seconds; 0 if small or unknown."""
    from email.utils import parsedate_to_datetime

    for date in answer.values("date")[:1]:
        try:
            off = parsedate_to_datetime(date).timestamp() - now
        except (ValueError, OverflowError, TypeError):
            return 0
        return off if abs(off) > MIN_SKEW_SECONDS else 0
    return 0
