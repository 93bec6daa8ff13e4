"""Checks of URLs from a server or a person. They are parsed for the check and used unmodified.

No function returns a rewritten URL except where it makes a new one: compared values (issuer, `iss`, `resource`) stay as
they were written (RFC 3986 section 6.2.1).
"""

from __future__ import annotations

import re
from typing import NamedTuple
from urllib.parse import quote, urlsplit, urlunsplit

from inspector.addresses import is_loopback, requested_host, requested_url
from inspector.text import safe

MAX_URL = 2048
"""Maximum characters of a URL in a document or a header field."""

_PORTS = {"http": 80, "https": 443}
_KEPT = "/?:@!$&'()*+,;=%~[]"
_WRITTEN = re.compile(r"[!-~]+\Z")
_DOTS = re.compile(r"/(?:\.|%2e){1,2}(?=/|\Z)", re.IGNORECASE)


class Parts(NamedTuple):
    """The parts of a URL. Scheme and host are in lower case; path and query are unmodified."""

    scheme: str
    host: str
    """A name, an IPv4 address, or an IPv6 address without brackets."""
    port: int
    path: str
    query: str
    fragment: str

    @property
    def origin(self) -> str:
        """Scheme, host and port, without the scheme's default port (RFC 6454 section 6.2)."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{self.scheme}://{host}" + ("" if _PORTS[self.scheme] == self.port else f":{self.port}")


def parts(url: str) -> Parts:
    """Parse an absolute http or https URL. Raises ValueError with the reason: “it has a user name in it”.

    Stricter than a browser: no user, no password, no backslash, no characters that need escaping.
    """
    if len(url) > MAX_URL:
        raise ValueError(f"it is {len(url)} characters long")
    if not _WRITTEN.match(url) or "\\" in url:
        raise ValueError("it contains characters that are not allowed in a URL")
    try:
        split = urlsplit(url)
        port = split.port
    except ValueError:
        raise ValueError("it cannot be parsed") from None
    scheme = split.scheme.lower()
    if scheme not in _PORTS:
        raise ValueError(f"its scheme is “{safe(scheme, 40)}”" if scheme else "it has no scheme")
    if "@" in split.netloc:
        raise ValueError("it has a user name in it")
    host = split.hostname or ""
    if not host:
        raise ValueError("it has no host")
    host = requested_host(host)
    if port == 0:
        raise ValueError("its port is 0")
    return Parts(scheme, host, port or _PORTS[scheme], split.path, split.query, split.fragment)


def as_sent(url: str) -> str:
    """Return a server URL as it is sent: no user, no fragment, ASCII only (RFC 3987, 3.1).

    A URL that cannot be converted is returned unmodified; `parts` reports the error.
    """
    try:
        split = urlsplit(requested_url(url.strip()))
        port = f":{split.port}" if split.port else ""
    except ValueError:
        return url
    host = split.hostname or ""
    authority = (f"[{host}]" if ":" in host else host) + port
    return urlunsplit((split.scheme, authority, quote(split.path, _KEPT), quote(split.query, _KEPT), ""))


def origin(url: str) -> str:
    """Return the origin of a URL. Raises ValueError."""
    return parts(url).origin


def secure(url: str) -> Parts:
    """Parse a URL that may receive secrets: https, or http on this machine (C-AUTH-13). Raises ValueError."""
    url_parts = parts(url)
    if url_parts.scheme != "https" and not is_loopback(url_parts.host):
        raise ValueError("it is neither https nor on this machine")
    if url_parts.fragment or url.endswith("#"):
        raise ValueError("it has a fragment")
    return url_parts


def canonical(server: str) -> str:
    """Return the canonical URI of an MCP server: lower-case scheme and host, no fragment, no lone slash (C-AUTH-21).

    Source: 2026-07-28/basic/authorization, “Canonical Server URI”; RFC 8707 section 2. Raises ValueError.
    """
    url_parts = parts(server)
    path = "" if url_parts.path == "/" and not url_parts.query else url_parts.path
    return url_parts.origin + path + (f"?{url_parts.query}" if url_parts.query else "")


def covers(resource: str, server: str) -> bool:
    """Whether `resource` names this server or a parent of it: same origin, its path or one above.

    C-AUTH-07; RFC 9728 section 3.3, as the conformance suite and the official clients interpret it.
    """
    try:
        wide, narrow = parts(resource), parts(server)
    except ValueError:
        return False
    if wide.origin != narrow.origin or wide.fragment or _DOTS.search(wide.path) or _DOTS.search(narrow.path):
        return False
    if wide.query and wide.query != narrow.query:
        return False
    above = wide.path.rstrip("/")
    return narrow.path == above or narrow.path.startswith(above + "/")


def resource_places(server: str) -> list[str]:
    """Return the URLs of a server's protected resource metadata, in order (C-AUTH-06; RFC 9728 section 3.1)."""
    url_parts = parts(server)
    root = f"{url_parts.origin}/.well-known/oauth-protected-resource"
    path = url_parts.path.rstrip("/")
    return [root + path, root] if path else [root]


def server_places(issuer: str) -> list[str]:
    """Return the URLs of an authorization server's metadata, in order (C-AUTH-09; RFC 8414 sections 3.1 and 5)."""
    url_parts = parts(issuer)
    path = url_parts.path.rstrip("/")
    oauth, openid = "/.well-known/oauth-authorization-server", "/.well-known/openid-configuration"
    if not path:
        return [url_parts.origin + oauth, url_parts.origin + openid]
    return [url_parts.origin + oauth + path, url_parts.origin + openid + path, url_parts.origin + path + openid]
