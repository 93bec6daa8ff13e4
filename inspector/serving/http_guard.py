"""Which HTTP requests may come in at all: by their Host and Origin (DNS rebinding), and what CORS tells a browser.

Sources: MCP "Streamable HTTP", "Security"; the Fetch standard, section 3.2 (CORS protocol).
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterable

from inspector.serving.base import Head
from inspector.text import safe

_LOOPBACK_NAMES = ("localhost",)
_ORIGIN = re.compile(r"(?:https?|[a-z][a-z0-9+.-]*)://([^/?#@]+)", re.ASCII | re.IGNORECASE)
_TOKENS = re.compile(r"[!#$%&'*+\-.^_`|~0-9A-Za-z, \t]*")
_EXPOSED = "Mcp-Session-Id, MCP-Protocol-Version, WWW-Authenticate"
_LONGEST = 4096


def is_loopback(host: str) -> bool:
    """Whether a host to listen on can be reached from this machine only."""
    if host.lower() in _LOOPBACK_NAMES:
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


class Guard:
    """Refuses what a web page of somebody else's could have sent.

    Bound to loopback, only names of this machine may be asked for: a page that rebinds its own name to 127.0.0.1 still
    asks for that name. Bound elsewhere, addresses may be asked for, the name bound to and `names`; a name that anybody
    may point here must be among them.
    """

    def __init__(self, host: str, names: Iterable[str] = ()) -> None:
        self._loopback = is_loopback(host)
        self._names = {name.lower() for name in (*_LOOPBACK_NAMES, *names, host)}

    def refusal(self, head: Head) -> str:
        """Why the request is refused; empty where it may come in."""
        hosts = [value for name, value in head.fields if name.lower() == "host"]
        if len(hosts) != 1 or not self._knows(hosts[0]):
            asked = safe(hosts[0], 80) if hosts else "nobody"
            return f"This server is not {asked}; names it may be asked for are given with --allow-host."
        origin = head.field("origin")
        if origin is not None and not self.allows(origin):
            return f"Requests from the origin {safe(origin, 80)} are refused."
        return ""

    def allows(self, origin: str) -> bool:
        """Whether pages of this origin may use the server."""
        found = _ORIGIN.fullmatch(origin.strip())
        return found is not None and self._knows(found[1])

    def _knows(self, authority: str) -> bool:
        host = _host(authority)
        if host in self._names:
            return True
        try:
            address = ipaddress.ip_address(host)
        except ValueError:
            return False
        return not self._loopback or address.is_loopback

    def cors(self, head: Head) -> list[tuple[str, str]]:
        """What every answer to a page of an allowed origin says; nothing where there is none."""
        origin = head.field("origin")
        if origin is None or not self.allows(origin):
            return []
        return [
            ("Access-Control-Allow-Origin", origin.strip()),
            ("Access-Control-Expose-Headers", _EXPOSED),
            ("Vary", "Origin"),
        ]

    def preflight(self, head: Head, methods: str) -> list[tuple[str, str]]:
        """What the answer to OPTIONS says beside that: the methods, and the header fields that were asked for."""
        wanted = head.field("access-control-request-headers") or ""
        fields = [("Access-Control-Allow-Methods", methods), ("Access-Control-Max-Age", "600")]
        if wanted and len(wanted) <= _LONGEST and _TOKENS.fullmatch(wanted):
            fields.append(("Access-Control-Allow-Headers", wanted))
        return fields


def _host(authority: str) -> str:
    """The host of `host:port`, in lower case, without the brackets of an IPv6 address."""
    authority = authority.strip().lower()
    if authority.startswith("["):
        return authority[1:].partition("]")[0]
    return authority.partition(":")[0]
