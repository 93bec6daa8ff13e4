"""JWT signatures: client assertions for authentication, and DPoP proofs of a token's key.

`joserfc` is imported at the first signature. Sources: RFC 7523 sections 2.2 and 3, RFC 9449 sections 4 to 9.
"""

from __future__ import annotations

import base64
import hashlib
import json
import secrets
from typing import Any

from inspector.errors import AuthorizationNeeded

ALGORITHMS = ("ES256", "RS256")
"""Algorithms of `private_key_jwt`, the preferred first."""

LIFETIME = 120
"""Lifetime of an assertion in seconds: enough for a slow network and a slightly wrong clock."""

PROOF_ALGORITHM = "ES256"
"""The algorithm of DPoP proofs: every server that supports DPoP supports it."""

ASSERTION_TYPE = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"


def client_assertion(
    client_id: str, audience: str, pem: str, algorithm: str, key_id: str, offered: tuple[str, ...] | None, now: float
) -> str:
    """Return a signed JWT that authenticates `client_id` at the authorization server `audience` (C-AUTH-40).

    The audience is the issuer, unmodified. An empty `algorithm` selects the one that fits the key. Raises
    `AuthorizationNeeded` for a key that cannot be used, without any part of the key.
    """
    key = _private(pem)
    fits = "ES256" if key.key_type == "EC" else "RS256"
    used = algorithm or fits
    if used not in ALGORITHMS or used != fits:
        raise AuthorizationNeeded(
            f"The client key cannot sign with {used}: it is of type {key.key_type}.", hint=f"Use {fits} for this key."
        )
    if offered is not None and used not in offered:
        names = ", ".join(offered[:8])
        raise AuthorizationNeeded(
            f"The authorization server does not accept {used} signatures from clients.",
            hint=f"It accepts {names}. Use a key of that type.",
        )
    issued = int(now)
    claims = {
        "iss": client_id,
        "sub": client_id,
        "aud": audience,
        "iat": issued,
        "exp": issued + LIFETIME,
        "jti": secrets.token_urlsafe(16),
    }
    header = {"alg": used, "typ": "JWT"} | ({"kid": key_id} if key_id else {})
    return _signed(header, claims, key)


def new_key() -> str:
    """Return a new private key for DPoP proofs, as a JWK in JSON."""
    from joserfc.jwk import ECKey

    return json.dumps(ECKey.generate_key("P-256", private=True).as_dict(private=True))


def is_key(key: str) -> bool:
    """Whether a text is a private key that `proof` can sign with, as `new_key` makes them."""
    from joserfc.errors import JoseError
    from joserfc.jwk import ECKey

    try:
        parsed = ECKey.import_key(json.loads(key))
        # joserfc notices a mismatch between the key's parts only when it signs.
        proof(key, "GET", "https://localhost/", 0)
    except (ValueError, TypeError, KeyError, RecursionError, JoseError):
        return False
    return parsed.curve_name == "P-256"


def proof(key: str, method: str, url: str, now: float, *, token: str = "", nonce: str = "") -> str:
    """Return a DPoP proof for one HTTP request (RFC 9449 section 4.2), with a unique id.

    `key` is from `new_key`; query and fragment of `url` are removed; `token` is the access token of the request.
    """
    from joserfc.jwk import ECKey

    private = ECKey.import_key(json.loads(key))
    claims: dict[str, Any] = {
        "jti": secrets.token_urlsafe(16),
        "htm": method,
        "htu": url.partition("#")[0].partition("?")[0],
        "iat": int(now),
    }
    if token:
        claims["ath"] = base64.urlsafe_b64encode(hashlib.sha256(token.encode()).digest()).rstrip(b"=").decode()
    if nonce:
        claims["nonce"] = nonce
    header = {"typ": "dpop+jwt", "alg": PROOF_ALGORITHM, "jwk": private.as_dict(private=False)}
    return _signed(header, claims, private)


def claims_of(token: str) -> dict[str, Any] | None:
    """Return the claims of a JWT without checking its signature: for display only. None if it is not a JWT."""
    pieces = token.split(".")
    if len(pieces) != 3 or len(token) > 1 << 16:
        return None
    try:
        raw = base64.urlsafe_b64decode(pieces[1] + "=" * (-len(pieces[1]) % 4))
        value = json.loads(raw)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _signed(header: dict[str, Any], claims: dict[str, Any], key: Any) -> str:
    from joserfc import jwt

    return jwt.encode(header, claims, key)


def _private(pem: str) -> Any:
    """Return the private key in a PEM text: EC on P-256, or RSA."""
    from joserfc.errors import JoseError
    from joserfc.jwk import ECKey, RSAKey

    for kind in (ECKey, RSAKey):
        try:
            key = kind.import_key(pem)
        except (ValueError, TypeError, JoseError):
            continue
        if key.is_private and (kind is RSAKey or key.as_dict(private=False).get("crv") == "P-256"):
            return key
    raise AuthorizationNeeded(
        "The client key cannot be used: it is not a PEM private key of type EC P-256 or RSA.",
        hint="Create one with: openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256",
    )
