"""Client authentication at the token endpoint: none, a secret in either place, or an assertion (RFC 6749, 7523)."""

from __future__ import annotations

from base64 import b64decode
from urllib.parse import unquote_plus

from inspector.demo.auth.grants import BoundedDict
from inspector.demo.auth.http_values import OAuthError
from inspector.demo.auth.signatures import claims_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from inspector.demo.auth.clients import RegisteredClient
    from inspector.demo.auth.http_values import Request, RequestParameters

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
        said = [method for method, there in _ways(header, form.get("client_secret"), assertion) if there]
        if len(said) > 1:
            raise OAuthError("invalid_request", f"The client authenticates in several ways: {' and '.join(said)}")
        method = said[0] if said else "none"
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
        if not any(each in self._audiences for each in (audience if isinstance(audience, list) else [audience])):
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
        wanted = " or ".join(client.methods)
        raise OAuthError("invalid_client", f"This client is registered with {wanted}, not {method}", status=401)


def _subject(assertion: str) -> str:
    """Returns the subject of an assertion, before it is verified."""
    import json

    from inspector.demo.auth.signatures import decoded

    try:
        claims = json.loads(decoded(assertion.split(".")[1]))
        return str(claims["sub"])
    except (ValueError, RecursionError, LookupError, TypeError):
        raise OAuthError("invalid_client", "The assertion is not a JWT with a sub", status=401) from None
