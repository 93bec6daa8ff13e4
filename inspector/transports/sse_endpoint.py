"""The address that an HTTP+SSE server names for messages: where it leads, and what in it is secret."""

from __future__ import annotations

import re
from collections.abc import Iterator
from urllib.parse import unquote_plus

from inspector.errors import HttpError
from inspector.text import safe
from inspector.transports.http_url import Url, resolve

LONGEST = 8192
"""Characters of an endpoint, of which servers need a hundred."""
MOST_SECRETS = 8

_NAMES = frozenset(("sessionid", "session", "sid", "token", "connectionid", "clientid", "key"))
"""What the session id is called in a query, without case, hyphens and underscores."""
_MINTED = re.compile(r"(?=[^0-9]*[0-9])[A-Za-z0-9._~+=-]{16,256}\Z")
"""What looks like a random id, whatever it is called."""


def endpoint_url(text: str, began: Url) -> Url:
    """The URL that an endpoint event means, seen from the stream's. Raises `HttpError`.

    It must have the stream's origin, so that neither messages nor credentials go elsewhere (C-SSE-04).
    """
    if len(text) > LONGEST:
        raise HttpError(
            f"{began.address} names an endpoint of {len(text):,} characters; at most {LONGEST:,} are taken.",
            hint="The endpoint event should hold a URI; its data is in the message log.",
        )
    try:
        found = resolve(began, text)
    except ValueError as error:
        raise HttpError(
            f"{began.address} names “{safe(text, 200)}” as its endpoint, which is no usable URL: "
            f"{safe(str(error), 200)}.",
            hint="The endpoint event should hold a URI of the server; its data is in the message log.",
        ) from None
    if found.origin != began.origin:
        raise HttpError(
            f"{began.origin} names an endpoint of another origin, {safe(found.origin, 300)}. "
            "It is not used: messages and credentials never go to another origin.",
            hint="A server behind a proxy may not know its own address. If you trust it, connect by the other one.",
        )
    return found


def session_ids(text: str, began: Url) -> Iterator[str]:
    """What an endpoint holds that must not be recorded: whoever knows a session's id can take part in it.

    Names of a session in the query, and whatever else in path and query looks random and did not come from our user.
    """
    path, _, query = text[:LONGEST].partition("#")[0].partition("?")
    parts = [("", segment) for segment in path.split("/")]
    parts += [(name, value) for name, _, value in (part.partition("=") for part in re.split("[&;]", query))]
    found = 0
    for name, value in parts:
        named = name.replace("-", "").replace("_", "").lower() in _NAMES
        if found < MOST_SECRETS and value not in began.target and (named or _MINTED.match(value)):
            found += 1
            yield value
            if unquote_plus(value) != value:
                yield unquote_plus(value)
