"""Failed requests that another revision of the protocol would answer: what can be recognised, and how it is said."""

from __future__ import annotations

from typing import Any

from inspector.errors import InspectorError, ServerError
from inspector.protocol.jsonrpc import METHOD_NOT_FOUND, UNSUPPORTED_VERSION, URL_ELICITATION_REQUIRED
from inspector.protocol.revisions import NEWEST_LEGACY, NEWEST_MODERN, features

_ASKS = ("elicit", "sampling", "createmessage", "roots")
"""Words by which the text of a tool's error names what a server asks of a client."""
_TEXT = 4000
"""Characters of a tool's error that are looked at."""


def revision_hint(revision: str, error: InspectorError | None, value: Any) -> str:
    """Say how a failure comes from the revision in use, and which one to try; `""` where nothing shows that it does.

    `error` is why the request failed, `value` the result of a tool.
    """
    known = features(revision)
    modern = known.era == "modern"
    other = NEWEST_LEGACY if modern else NEWEST_MODERN
    if isinstance(error, ServerError):
        if error.rpc_code == URL_ELICITATION_REQUIRED and not known.elicitation_url:
            return f"Error -32042 asks to open a URL. Revision {revision} does not have that; {NEWEST_LEGACY} does."
        if error.rpc_code == UNSUPPORTED_VERSION:
            return f"The server does not support revision {revision}. Try {other}."
        if error.rpc_code == METHOD_NOT_FOUND:
            era = "modern" if modern else "handshake"
            return f"The server does not have this method in the {era} era. It may have it in {other}."
        return ""
    named = next((word for word in _ASKS if word in _error_text(value)), "")
    if not named:
        return ""
    if modern:
        return (
            f"The error names what a server asks of a client. Revision {revision} has no requests from the server, so "
            f"a tool written for the handshake era cannot ask. Try {NEWEST_LEGACY}."
        )
    if named == "elicit" and not known.elicitation_form:
        return f"The error names elicitation. Revision {revision} does not have that; {NEWEST_LEGACY} does."
    return ""


def _error_text(value: Any) -> str:
    """The text of a tool's error, case-folded; `""` for any other result."""
    if not isinstance(value, dict) or value.get("isError") is not True:
        return ""
    content = value.get("content")
    blocks = content[:20] if isinstance(content, list) else []
    texts = [block.get("text") for block in blocks if isinstance(block, dict)]
    return " ".join(text[:_TEXT] for text in texts if isinstance(text, str)).casefold()
