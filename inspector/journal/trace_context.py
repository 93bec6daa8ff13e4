"""The trace context of MCP messages (SEP-414, W3C Trace Context): `traceparent` in `_meta`.

A recording is one trace, whose id is derived from the recording's. A request of ours that has that trace carries the id
of its own span; any other trace context is that of a client, and names the parent of our span.
"""

from __future__ import annotations

import hashlib
import re
import secrets
from typing import Any

from inspector.protocol.members import object_at, text_at

KEY = "traceparent"
_FORM = re.compile(r"[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})(?:-.*)?")


def derived_id(recording: object, name: str, digits: int) -> str:
    """Return a nonzero id in hexadecimal digits that is derived from the id of a recording."""
    seed = f"{recording} {name}".encode("utf-8", "replace")
    return hashlib.sha256(seed).hexdigest()[: digits - 1] + "1"


def trace_of(recording: object) -> str:
    """Return the id of the trace of a recording."""
    return derived_id(recording, "trace", 32)


def read(params: Any) -> tuple[str, str] | None:
    """Return trace and span in the parameters of a message; None without a valid trace context."""
    match = _FORM.fullmatch(text_at(object_at(params, "_meta"), KEY))
    return (match[1], match[2]) if match else None


def traced(message: dict[str, Any], recording: object) -> dict[str, Any]:
    """Return a request or notification with the trace context of a new span, unless it has one."""
    params = object_at(message, "params")
    meta = object_at(params, "_meta")
    if KEY in meta:
        return message
    context = f"00-{trace_of(recording)}-{secrets.token_hex(8)}-01"
    return {**message, "params": {**params, "_meta": {**meta, KEY: context}}}
