"""Grants: codes, access tokens and refresh tokens, all random and in memory only."""

from __future__ import annotations

import hashlib
import hmac
import json
import secrets
import threading
from base64 import urlsafe_b64encode
from dataclasses import dataclass

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    Clock = Callable[[], float]

MAX_KEPT = 10_000  # of each kind; the oldest are dropped
CODE_LIFETIME = 60.0  # seconds


class BoundedDict(dict[str, "Any"]):
    """A dictionary that drops its oldest entry when it is full."""

    def __init__(self, limit: int = MAX_KEPT) -> None:
        super().__init__()
        self._most = limit

    def __setitem__(self, key: str, value: Any) -> None:
        if key not in self and len(self) >= self._most:
            del self[next(iter(self))]
        super().__setitem__(key, value)


@dataclass(slots=True)
class IssuedGrant:
    """A grant of a person, or of a client to itself: all its tokens end with it."""

    client_id: str
    subject: str
    scopes: tuple[str, ...]
    resource: str
    refreshable: bool = False
    revoked: bool = False


@dataclass(slots=True)
class Code:
    """An authorization code, valid once, with the values that must be sent with it."""

    grant: IssuedGrant
    redirect_uri: str
    challenge: str
    until: float
    used: bool = False


@dataclass(slots=True)
class Access:
    """An access token as the resource server uses it. `until` is in seconds since 1970."""

    grant: IssuedGrant
    scopes: tuple[str, ...]
    until: float
    revoked: bool = False


@dataclass(slots=True)
class Refresh:
    """A refresh token, valid once: each use returns another (OAuth 2.1 section 4.3.1)."""

    grant: IssuedGrant
    used: bool = False


class Grants:
    """All grants of one authorization server. `expiry`: lifetime of access tokens in seconds."""

    def __init__(self, issuer: str, expiry: int, now: Clock) -> None:
        self.issuer = issuer
        self.expiry = expiry
        self.now = now
        self.lock = threading.RLock()
        self.skew = 0.0  # added to the times in access tokens, not to their real lifetime
        self._key = secrets.token_bytes(32)
        self._codes = BoundedDict()
        self._access = BoundedDict()
        self._refresh = BoundedDict()

    def new_code(self, grant: IssuedGrant, redirect_uri: str, challenge: str) -> str:
        """Returns a code for a grant, valid for a minute."""
        code = secrets.token_urlsafe(24)
        with self.lock:
            self._codes[code] = Code(grant, redirect_uri, challenge, self.now() + CODE_LIFETIME)
        return code

    def code(self, text: str) -> Code | None:
        """Returns and uses up a code. A second use means that it was stolen: the tokens of the first use end, too."""
        with self.lock:
            code: Code | None = self._codes.get(text)
            if code is None:
                return None
            if code.used:
                code.grant.revoked = True
            if code.used or code.until < self.now():
                return None
            code.used = True
            return code

    def new_tokens(self, grant: IssuedGrant, scopes: tuple[str, ...] = ()) -> dict[str, Any]:
        """Returns the response of a token endpoint (RFC 6749 section 5.1); `scopes`: fewer than were granted."""
        scopes = scopes or grant.scopes
        until = self.now() + self.expiry
        token = self._sign(grant, scopes, until)
        document: dict[str, Any] = {
            "access_token": token,
            "token_type": "Bearer",
            "expires_in": self.expiry,
            "scope": " ".join(scopes),
        }
        with self.lock:
            self._access[token] = Access(grant, scopes, until)
            if grant.refreshable:
                document["refresh_token"] = secrets.token_urlsafe(32)
                self._refresh[document["refresh_token"]] = Refresh(grant)
        return document

    def refresh(self, text: str, client_id: str) -> IssuedGrant | None:
        """Returns the grant of a refresh token and uses it up. A second use ends the grant."""
        with self.lock:
            refresh: Refresh | None = self._refresh.get(text)
            if refresh is None or refresh.grant.client_id != client_id or refresh.grant.revoked:
                return None
            if refresh.used:
                refresh.grant.revoked = True
                return None
            refresh.used = True
            return refresh.grant

    def peek(self, text: str) -> Refresh | None:
        """Returns a refresh token without using it up."""
        refresh: Refresh | None = self._refresh.get(text)
        return refresh

    def access(self, token: str) -> Access | None:
        """Returns an access token that is valid now."""
        access: Access | None = self._access.get(token)
        if access is None or access.revoked or access.grant.revoked or access.until <= self.now():
            return None
        return access

    def revoke(self, text: str, client_id: str) -> None:
        """Revokes an access token, or a refresh token with its grant; ignores tokens of other clients."""
        with self.lock:
            access: Access | None = self._access.get(text)
            if access is not None and access.grant.client_id == client_id:
                access.revoked = True
            refresh: Refresh | None = self._refresh.get(text)
            if refresh is not None and refresh.grant.client_id == client_id:
                refresh.grant.revoked = True

    def _sign(self, grant: IssuedGrant, scopes: tuple[str, ...], until: float) -> str:
        """Returns a JWT of RFC 9068, so that clients can show its claims."""
        claims = {
            "iss": self.issuer,
            "sub": grant.subject,
            "aud": grant.resource,
            "client_id": grant.client_id,
            "scope": " ".join(scopes),
            "iat": int(until - self.expiry + self.skew),
            "exp": int(until + self.skew),
            "jti": secrets.token_urlsafe(12),
        }
        signed = ".".join(encoded(json.dumps(part).encode()) for part in ({"alg": "HS256", "typ": "at+jwt"}, claims))
        return f"{signed}.{encoded(hmac.digest(self._key, signed.encode(), hashlib.sha256))}"


def encoded(raw: bytes) -> str:
    """Encodes base64url without padding (RFC 7515 section 2)."""
    return urlsafe_b64encode(raw).rstrip(b"=").decode("ascii")


def challenge_of(verifier: str) -> str:
    """Returns the S256 challenge of a verifier (RFC 7636 section 4.2)."""
    return encoded(hashlib.sha256(verifier.encode("utf-8", "replace")).digest())
