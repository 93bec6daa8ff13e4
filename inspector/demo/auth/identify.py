"""Who asks at the token endpoint: no secret, a secret in either place, or a signed assertion (RFC 6749, 7523)."""

from __future__ import annotations

from base64 import b64decode
from urllib.parse import unquote_plus

from inspector.demo.auth.exchange import OAuthError
from inspector.demo.auth.signatures import claims_of
from inspector.demo.auth.vault import Bounded

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from inspector.demo.auth.clients import Client
    from inspector.demo.auth.exchange import Fields, Request

ASSERTION = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
LONGEST_ASSERTION = 600.0  # seconds that an assertion may hold
SKEW = 60.0  # seconds by which clocks may differ


class Identification:
    """Finds the client that sent a request, and has it prove that in the way it is registered with, no other."""

    def __init__(self, find: Callable[[str], Client], audiences: tuple[str, ...], now: Callable[[], float]) -> None:
        self._find = find
        self._audiences = audiences
        self._now = now
        self._seen = Bounded()

    def client(self, request: Request, form: Fields) -> Client:
        """The client of a request; raises OAuthError (401) for one that does not prove who it is."""
        header = request.headers.get("Authorization", "")
        assertion = form.get("client_assertion")
        said = [method for method, there in _ways(header, form.get("client_secret"), assertion) if there]
        if len(said) > 1:
            raise OAuthError("invalid_request", f"The client says who it is in several ways: {' and '.join(said)}")
        method = said[0] if said else "none"
        if method == "private_key_jwt":
            return self._signed(form, assertion)
        client_id, secret = form.get("client_id"), form.get("client_secret")
        if method == "client_secret_basic":
            client_id, secret = _basic(header, client_id)
        if not client_id:
            raise OAuthError("invalid_client", "There is no client_id", status=401)
        client = self._find(client_id)
        _check_method(client, method)
        if method != "none" and not client.has_secret(secret):
            raise OAuthError("invalid_client", "That is not the client's secret", status=401)
        return client

    def _signed(self, form: Fields, assertion: str) -> Client:
        if form.get("client_assertion_type") != ASSERTION:
            raise OAuthError("invalid_client", f"client_assertion_type must be {ASSERTION}", status=401)
        client = self._find(form.get("client_id") or _subject(assertion))
        _check_method(client, "private_key_jwt")
        try:
            claims = claims_of(assertion, client.jwks)
            self._check_claims(claims, client.id)
        except ValueError as problem:
            raise OAuthError("invalid_client", f"The assertion does not hold: {problem}", status=401) from None
        return client

    def _check_claims(self, claims: dict[str, Any], client_id: str) -> None:
        now, until, jti = self._now(), claims.get("exp"), claims.get("jti")
        audience = claims.get("aud")
        if claims.get("iss") != client_id or claims.get("sub") != client_id:
            raise ValueError("iss and sub must be the client's id")
        if not any(each in self._audiences for each in (audience if isinstance(audience, list) else [audience])):
            raise ValueError(f"aud must be {self._audiences[0]}")
        if not isinstance(until, int | float) or not until > now - SKEW:  # NaN is no time either
            raise ValueError("exp is in the past")
        if until > now + LONGEST_ASSERTION + SKEW:
            raise ValueError(f"exp is more than {LONGEST_ASSERTION:.0f} seconds away")
        if not isinstance(jti, str) or jti in self._seen:
            raise ValueError("jti is missing, or was there before")
        self._seen[jti] = True


def _ways(header: str, secret: str, assertion: str) -> tuple[tuple[str, bool], ...]:
    return (
        ("client_secret_basic", header.lower().startswith("basic ")),
        ("client_secret_post", bool(secret)),
        ("private_key_jwt", bool(assertion)),
    )


def _basic(header: str, client_id: str) -> tuple[str, str]:
    """Both are form-encoded before they are joined (RFC 6749 section 2.3.1)."""
    try:
        name, _, secret = b64decode(header[len("Basic ") :].strip(), validate=True).decode("utf-8").partition(":")
    except ValueError:
        raise OAuthError("invalid_client", "The Basic credentials cannot be read", status=401) from None
    if client_id and client_id != unquote_plus(name):
        raise OAuthError("invalid_request", "client_id is another than in Authorization")
    return unquote_plus(name), unquote_plus(secret)


def _check_method(client: Client, method: str) -> None:
    if method not in client.methods:
        wanted = " or ".join(client.methods)
        raise OAuthError("invalid_client", f"This client is registered with {wanted}, not {method}", status=401)


def _subject(assertion: str) -> str:
    """Whom an assertion is about, before it is known to be true."""
    import json

    from inspector.demo.auth.signatures import decoded

    try:
        claims = json.loads(decoded(assertion.split(".")[1]))
        return str(claims["sub"])
    except (ValueError, RecursionError, LookupError, TypeError):
        raise OAuthError("invalid_client", "The assertion is no JWT with a sub", status=401) from None
