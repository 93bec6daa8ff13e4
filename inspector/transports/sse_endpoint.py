"""The URL that an HTTP+SSE server names for messages: its meaning and its secrets."""

from __future__ import annotations

import re
from collections.abc import Iterator
from urllib.parse import unquote_plus

from inspector.addresses import shown_url
from inspector.errors import HttpError
from inspector.text import safe
from inspector.transports.http_url import Url, resolve

MAX_LENGTH = 8192
"""Most characters of an endpoint; servers need a hundred."""
MAX_SECRETS = 8

_NAMES = frozenset(("sessionid", "session", "sid", "token", "connectionid", "clientid", "key"))
"""Names of the session id in a query, without case, hyphens and underscores."""
_MINTED = re.compile(r"(?=[^0-9]*[0-9])[A-Za-z0-9._~+=-]{16,256}\Z")
"""A value that looks random, under any name."""


def endpoint_url(text: str, began: Url) -> Url:
    """Return the URL of an endpoint event, relative to the stream's. Raises `HttpError`.

    It must have the stream's origin, so that neither messages nor credentials go elsewhere (C-SSE-04).
    """
    if len(text) > MAX_LENGTH:
        raise HttpError(
            f"{began.address} names an endpoint of {len(text):,} characters; at most {MAX_LENGTH:,} are allowed.",
            hint="The endpoint event should have a URI; its data is in the message log.",
        )
    try:
        found = resolve(began, text)
    except ValueError as error:
        raise HttpError(
            f"{began.address} names the invalid endpoint “{safe(text, 200)}”: {safe(str(error), 200)}.",
            hint="The endpoint event should have a URI of the server; its data is in the message log.",
        ) from None
    if found.origin != began.origin:
        raise HttpError(
            (
                f"{began.origin} names an endpoint of another origin, {shown_url(found.origin)}. Inspector "
                "does not use it: messages and credentials never go to another origin."
            ),
            hint="A server behind a proxy may not know its own URL. If you trust it, connect to the other origin.",
        )
    return found


def session_ids(text: str, began: Url) -> Iterator[str]:
    """Return the values in an endpoint that must not be recorded, because a session's id gives access to it.

    These are session names in the query, and everything in path and query that looks random and is not from the user.
    """
    path, _, query = text[:MAX_LENGTH].partition("#")[0].partition("?")
    parts = [("", segment) for segment in path.split("/")]
    parts += [(name, value) for name, _, value in (part.partition("=") for part in re.split("[&;]", query))]
    found = 0
    for name, value in parts:
        named = name.replace("-", "").replace("_", "").lower() in _NAMES
        if found < MAX_SECRETS and value not in began.target and (named or _MINTED.match(value)):
            found += 1
            yield value
            if unquote_plus(value) != value:
                yield unquote_plus(value)
