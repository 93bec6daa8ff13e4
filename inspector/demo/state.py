"""The opaque request state that a client carries from one round to the next: signed, with an expiry."""

from __future__ import annotations

import os
import time

from inspector.demo.rpc import INVALID_PARAMS, RpcError, decode, encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

LIFETIME = 3600.0  # seconds
_DIGEST = 32  # bytes


class StateSigner:
    """Signs states with its own key. A state belongs to one request and is refused with any other."""

    def __init__(self) -> None:
        self._key = os.urandom(32)

    def close(self, request: Any, value: dict[str, Any]) -> str:
        """Returns the state with a value, for its request (any JSON value that identifies it)."""
        from base64 import urlsafe_b64encode

        body = encode({"until": time.time() + LIFETIME, "value": value})
        return urlsafe_b64encode(self._sign(request, body) + body).decode("ascii")

    def open(self, request: Any, state: Any) -> dict[str, Any]:
        """Returns the value of a state; raises RpcError if it was changed, expired or is from another request."""
        from base64 import b64decode
        from hmac import compare_digest

        try:
            raw = b64decode(state, altchars=b"-_", validate=True)
        except (TypeError, ValueError):
            raise RpcError(INVALID_PARAMS, "requestState is not from this server") from None
        signature, body = raw[:_DIGEST], raw[_DIGEST:]
        if not compare_digest(signature, self._sign(request, body)):
            raise RpcError(INVALID_PARAMS, "requestState was changed, or belongs to another request")
        content = decode(body)
        if content["until"] < time.time():
            raise RpcError(INVALID_PARAMS, "requestState has expired: start again")
        value: dict[str, Any] = content["value"]
        return value

    def _sign(self, request: Any, body: bytes) -> bytes:
        from hashlib import blake2b

        identity = blake2b(encode(request), digest_size=_DIGEST).digest()
        return blake2b(identity + body, key=self._key, digest_size=_DIGEST).digest()
