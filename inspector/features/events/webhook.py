"""Webhooks of events: the secret, the requests, and the verification of a delivery. Does no I/O.

Source: SEP-3415 (draft), "Webhook-Based Delivery" and "Webhook security"; Standard Webhooks 1.0 (signature `v1`).
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import json
import re
import secrets
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Any, Literal, NamedTuple
from urllib.parse import urlsplit

from inspector.errors import UsageError
from inspector.times import parse_time

PREFIX = "whsec_"
MIN_BYTES, MAX_BYTES = 24, 64
MADE_BYTES = 32
OLDEST = 300
"""Seconds that a delivery may be old or early (C-EVENT-24)."""
MAX_SIZE = 256 << 10
"""Bytes of a body that a server should keep to."""
MAX_SIGNATURES = 20
MIN_REFRESH, UNKNOWN_REFRESH, MAX_REFRESH = 1.0, 60.0, 86_400.0
"""Seconds between two refreshes; `UNKNOWN_REFRESH` for a time that means nothing."""
HEADERS = ("webhook-id", "webhook-timestamp", "webhook-signature", "x-mcp-subscription-id")
DeliveryKind = Literal["event", "gap", "terminated", "verification", "unknown"]
_SECONDS = re.compile(r"-?[0-9]{1,15}")


def new_secret() -> str:
    """Return a new secret: `whsec_` and the base64 of 32 random bytes (C-EVENT-21)."""
    return PREFIX + base64.b64encode(secrets.token_bytes(MADE_BYTES)).decode()


def key_of(secret: str) -> bytes:
    """Return the bytes of a secret. Raises `UsageError`, which never repeats the secret."""
    try:
        if not secret.startswith(PREFIX):
            raise ValueError
        key = base64.b64decode(secret.removeprefix(PREFIX), validate=True)
    except (ValueError, binascii.Error):
        key = b""
    if not MIN_BYTES <= len(key) <= MAX_BYTES:
        raise UsageError(
            f"The webhook secret is not {PREFIX} and the base64 of {MIN_BYTES} to {MAX_BYTES} bytes.",
            hint="Name a new file for it, and Inspector makes a secret.",
        )
    return key


def checked_url(url: str) -> str:
    """Return the callback URL. Raises `UsageError` unless it is https without a user name (C-EVENT-21)."""
    parts = urlsplit(url)
    if parts.scheme != "https" or not parts.hostname:
        raise UsageError(
            f"The callback URL “{url[:200]}” is not an https URL.", hint="Webhooks need https://HOST/PATH."
        )
    if parts.username or parts.password:
        raise UsageError("The callback URL contains a user name or password.", hint="Remove it: deliveries are signed.")
    return url


def subscribe_params(
    name: str, arguments: dict[str, Any], url: str, secret: str, *, cursor: Any = None, ttl_ms: int | None = None
) -> dict[str, Any]:
    """Return the params of `events/subscribe`, also of a refresh. Without `ttl_ms` the server chooses the lifetime."""
    key_of(secret)
    params = {
        "name": name,
        "arguments": arguments,
        "delivery": {"mode": "webhook", "url": checked_url(url), "secret": secret},
        "cursor": cursor,
    }
    return params if ttl_ms is None else params | {"ttlMs": ttl_ms}


def unsubscribe_params(name: str, arguments: dict[str, Any], url: str) -> dict[str, Any]:
    """Return the params of `events/unsubscribe`."""
    return {"name": name, "arguments": arguments, "delivery": {"url": checked_url(url)}}


class Delivery(NamedTuple):
    """A POST of a webhook, as it was received."""

    headers: Mapping[str, str]
    """By lower-case name."""
    body: bytes

    @classmethod
    def parse(cls, request: bytes) -> Delivery:
        """Read a raw HTTP request: a request line (optional), headers, an empty line, the body."""
        for end in (b"\r\n\r\n", b"\n\n"):
            head, separator, body = request.partition(end)
            if separator:
                break
        else:
            raise UsageError("The delivery has no empty line between headers and body.", hint="Save the raw request.")
        lines = head.decode("latin-1").replace("\r\n", "\n").split("\n")
        headers: dict[str, str] = {}
        for line in lines:
            name, colon, value = line.partition(":")
            if colon and " " not in name.strip():
                headers.setdefault(name.strip().lower(), value.strip())
        return cls(headers, body)


class Verified(NamedTuple):
    """The verdict of a receiver on a delivery."""

    signed: bool
    """A signature matches: only then does anything else count (C-EVENT-23)."""
    fresh: bool
    kind: DeliveryKind
    problems: tuple[str, ...]
    """Sentences; contain text of the delivery."""
    answer: str = ""
    """The body of the 2xx response to a verification, as JSON; empty for others, or without a signature."""
    body: Any = None

    @property
    def accepted(self) -> bool:
        """Whether a receiver should accept it."""
        return self.signed and self.fresh and self.kind != "unknown"


def verify(secrets_known: Iterable[str], delivery: Delivery, now: float) -> Verified:
    """Verify a delivery at the time `now`, in seconds since the epoch. Raises `UsageError` for a malformed secret."""
    headers = delivery.headers
    problems = [f"The header {name} is missing." for name in HEADERS if not headers.get(name)]
    id, stamp = headers.get("webhook-id", ""), headers.get("webhook-timestamp", "")
    signed = _is_signed([key_of(secret) for secret in secrets_known], delivery, id, stamp)
    if not signed:
        problems.append("No signature matches: the body, the id or the time was changed, or the secret is another one.")
    fresh = False
    if _SECONDS.fullmatch(stamp):
        age = now - int(stamp)
        fresh = abs(age) <= OLDEST
        if not fresh:
            when = f"{age:,.0f} s old" if age > 0 else f"{-age:,.0f} s in the future"
            problems.append(f"webhook-timestamp is {when}; the limit is {OLDEST} s.")
    elif stamp:
        problems.append(f"webhook-timestamp “{stamp[:40]}” is not a number of seconds.")
    if len(delivery.body) > MAX_SIZE:
        problems.append(f"The body has {len(delivery.body):,} bytes; servers should keep to {MAX_SIZE:,}.")
    kind_of_media = headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind_of_media != "application/json":
        problems.append("The content type is not application/json.")
    kind, body, body_problems = _read(delivery.body, id)
    answer = ""
    if kind == "verification" and signed:
        answer = json.dumps({"challenge": body["challenge"]})
    return Verified(signed, fresh, kind, (*problems, *body_problems), answer, body)


def _is_signed(keys: list[bytes], delivery: Delivery, id: str, stamp: str) -> bool:
    given = delivery.headers.get("webhook-signature", "").split()[:MAX_SIGNATURES]
    message = f"{id}.{stamp}.".encode("latin-1", "replace") + delivery.body
    signed = False
    for key in keys:
        expected = base64.b64encode(hmac.digest(key, message, hashlib.sha256)).decode()
        for signature in given:
            version, _, value = signature.partition(",")
            if version == "v1" and hmac.compare_digest(value.encode("latin-1", "replace"), expected.encode()):
                signed = True
    return signed


def _read(raw: bytes, id: str) -> tuple[DeliveryKind, Any, list[str]]:
    try:
        body = json.loads(raw)
    except (ValueError, RecursionError):
        return "unknown", None, ["The body is not JSON."]
    if type(body) is not dict:
        return "unknown", body, ["The body is not an object."]
    kind = body.get("type")
    if "type" not in body:
        problems = [
            f"{key} is not a string." for key in ("eventId", "name", "timestamp") if type(body.get(key)) is not str
        ]
        if type(body.get("data")) is not dict:
            problems.append("data is not an object.")
        if type(body.get("eventId")) is str and body["eventId"] != id:
            problems.append("webhook-id is not the eventId.")
        return "event", body, problems
    if kind == "gap":
        return "gap", body, []
    if kind == "terminated":
        return "terminated", body, [] if type(body.get("error")) is dict else ["error is not an object."]
    if kind == "verification" and type(body.get("challenge")) is str:
        return "verification", body, []
    what = "without a challenge" if kind == "verification" else str(kind)[:40]
    return "unknown", body, [f"The control body is of an unknown type: {what}."]


def refresh_after(before: Any, now: datetime | None = None) -> float:
    """Seconds to wait before a refresh: half of the time to `refreshBefore`, between a second and a day (C-EVENT-22).

    A time that cannot be read, or is in the past, counts as a minute. Without expiry, a day: the cursor then advances.
    """
    if before is None:
        return MAX_REFRESH
    ends = parse_time(before)
    if ends is None:
        return UNKNOWN_REFRESH
    left = (ends - (now or datetime.now(UTC))).total_seconds()
    return min(max(left / 2, MIN_REFRESH), MAX_REFRESH) if left > 0 else UNKNOWN_REFRESH
