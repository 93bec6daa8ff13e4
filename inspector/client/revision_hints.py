"""Hints for failed requests that another protocol revision supports."""

from __future__ import annotations

from typing import Any, NamedTuple

from inspector.errors import InspectorError, ServerError
from inspector.protocol.jsonrpc import METHOD_NOT_FOUND, UNSUPPORTED_VERSION, URL_ELICITATION_REQUIRED
from inspector.protocol.members import texts_at
from inspector.protocol.revisions import LEGACY, MODERN, NEWEST_LEGACY, NEWEST_MODERN, features

_ASKS = ("elicit", "sampling", "createmessage", "roots")
"""Words in a tool's error that name a request of a server to its client."""
_SERVER_REQUESTS = ("elicitation/create", "sampling/createmessage", "roots/list", "server-initiated request")
"""Words in a protocol error that name such a request; "sampling" alone may be an argument of the tool."""
_TEXT = 4000
"""Maximum characters of a tool's error that are searched."""


class RevisionHint(NamedTuple):
    """A sentence, and the revision that may work."""

    text: str
    revision: str


def revision_hint(revision: str, error: InspectorError | None, value: Any) -> RevisionHint | None:
    """Return a hint that another revision may work, or None if the failure does not point to the revision.

    `error` is why the request failed, `value` the result of a tool.
    """
    known = features(revision)
    modern = known.era == "modern"
    other = NEWEST_LEGACY if modern else NEWEST_MODERN
    if isinstance(error, ServerError):
        if error.rpc_code == URL_ELICITATION_REQUIRED and not known.elicitation_url:
            return _hint(f"Error -32042 asks to open a URL. Revision {revision} does not support that; {{}} does.")
        if error.rpc_code == UNSUPPORTED_VERSION:
            listed = texts_at(error.data, "supported")
            if listed:
                other = max((name for name in (*LEGACY, *MODERN) if name in listed and name != revision), default="")
            return _hint(f"The server does not support revision {revision}. Try {{}}.", other) if other else None
        if error.rpc_code == METHOD_NOT_FOUND:
            era = "modern" if modern else "legacy"
            return _hint(f"The server does not have this method in the {era} era. Try {{}}.", other)
        message = error.rpc_message[:_TEXT].casefold()
        # A tool of the official Python SDK that asks in the legacy way fails with -32600.
        return _cannot_ask(revision) if modern and any(word in message for word in _SERVER_REQUESTS) else None
    named = next((word for word in _ASKS if word in _error_text(value)), "")
    if not named:
        return None
    if modern:
        return _cannot_ask(revision)
    if named == "elicit" and not known.elicitation_form:
        return _hint(f"The error names elicitation. Revision {revision} does not support that; {{}} does.")
    return None


def _cannot_ask(revision: str) -> RevisionHint:
    return _hint(f"Revision {revision} has no server requests, so this tool cannot ask. Try {{}}.")


def _hint(text: str, revision: str = NEWEST_LEGACY) -> RevisionHint:
    return RevisionHint(text.format(revision), revision)


def _error_text(value: Any) -> str:
    """Return the text of a tool's error, case-folded; `""` for any other result."""
    if not isinstance(value, dict) or value.get("isError") is not True:
        return ""
    content = value.get("content")
    blocks = content[:20] if isinstance(content, list) else []
    texts = [block.get("text") for block in blocks if isinstance(block, dict)]
    return " ".join(text[:_TEXT] for text in texts if isinstance(text, str)).casefold()
