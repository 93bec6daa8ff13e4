"""Signatures of clients' assertions, RS256 and ES256, in plain Python: for demonstration, not for protection."""

from __future__ import annotations

import hashlib
import json
from base64 import urlsafe_b64decode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    Point = tuple[int, int] | None

_DIGEST_INFO = bytes.fromhex("3031300d060960864801650304020105000420")  # SHA-256 (RFC 8017 section 9.2)
_MAX_BITS = 8192
# NIST P-256
_P = 0xFFFFFFFF00000001000000000000000000000000FFFFFFFFFFFFFFFFFFFFFFFF
_N = 0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551
_A = _P - 3
_B = 0x5AC635D8AA3A93E7B3EBBD55769886BC651D06B0CC53B0F63BCE3C3E27D2604B
_G = (
    0x6B17D1F2E12C4247F8BCE6E563A440F277037D812DEB33A0F4A13945D898C296,
    0x4FE342E2FE1A7F9B8EE7EB4A7C0F9E162BCE33576B315ECECBB6406837BF51F5,
)


def decoded(text: str) -> bytes:
    """Decodes base64url without padding; raises ValueError."""
    return urlsafe_b64decode(text + "=" * (-len(text) % 4))


def claims_of(token: str, jwks: Any) -> dict[str, Any]:
    """Returns the claims of a JWT that one of the keys signed; raises ValueError for anything else."""
    parts = token.split(".")
    if len(parts) != 3:
        raise ValueError("it is not a JWT")
    try:
        header, claims = (json.loads(decoded(part)) for part in parts[:2])
        signature = decoded(parts[2])
    except (ValueError, RecursionError):
        raise ValueError("it is not a JWT") from None
    if not isinstance(header, dict) or not isinstance(claims, dict):
        raise ValueError("it is not a JWT")
    check = {"RS256": _is_rsa, "ES256": _is_ecdsa}.get(str(header.get("alg")))
    if check is None:
        raise ValueError("its alg must be RS256 or ES256")
    keys = jwks.get("keys") if isinstance(jwks, dict) else None
    signed = f"{parts[0]}.{parts[1]}".encode()
    for key in keys[:20] if isinstance(keys, list) else []:
        named = isinstance(key, dict) and (header.get("kid") is None or key.get("kid") in (None, header["kid"]))
        if named and check(key, hashlib.sha256(signed).digest(), signature):
            return claims
    raise ValueError("none of the client's keys signed it")


def _number(key: dict[str, Any], name: str) -> int:
    value = key.get(name)
    if not isinstance(value, str):
        return 0
    try:
        return int.from_bytes(decoded(value), "big")
    except ValueError:
        return 0


def _is_rsa(key: dict[str, Any], digest: bytes, signature: bytes) -> bool:
    modulus, exponent = _number(key, "n"), _number(key, "e")
    size = (modulus.bit_length() + 7) // 8
    if key.get("kty") != "RSA" or not 1024 <= modulus.bit_length() <= _MAX_BITS or len(signature) != size:
        return False
    if not 2 < exponent < 2**33:
        return False
    expected = b"\x00\x01" + b"\xff" * (size - 3 - len(_DIGEST_INFO) - len(digest)) + b"\x00" + _DIGEST_INFO + digest
    return pow(int.from_bytes(signature, "big"), exponent, modulus) == int.from_bytes(expected, "big")


def _is_ecdsa(key: dict[str, Any], digest: bytes, signature: bytes) -> bool:
    x, y = _number(key, "x"), _number(key, "y")
    r, s = int.from_bytes(signature[:32], "big"), int.from_bytes(signature[32:], "big")
    on_curve = 0 < x < _P and 0 < y < _P and (y * y - (x * x * x + _A * x + _B)) % _P == 0
    if key.get("kty") != "EC" or key.get("crv") != "P-256" or not on_curve:
        return False
    if len(signature) != 64 or not (0 < r < _N and 0 < s < _N):
        return False
    inverse = pow(s, -1, _N)
    point = _add(
        _times(int.from_bytes(digest, "big") * inverse % _N, _G),
        _times(r * inverse % _N, (x, y)),
    )
    return point is not None and point[0] % _N == r


def _add(one: Point, other: Point) -> Point:
    if one is None or other is None:
        return one or other
    if one[0] == other[0]:
        if (one[1] + other[1]) % _P == 0:
            return None
        slope = (3 * one[0] * one[0] + _A) * pow(2 * one[1], -1, _P) % _P
    else:
        slope = (other[1] - one[1]) * pow(other[0] - one[0], -1, _P) % _P
    x = (slope * slope - one[0] - other[0]) % _P
    return x, (slope * (one[0] - x) - one[1]) % _P


def _times(number: int, point: Point) -> Point:
    total: Point = None
    while number:
        if number & 1:
            total = _add(total, point)
        point = _add(point, point)
        number >>= 1
    return total
