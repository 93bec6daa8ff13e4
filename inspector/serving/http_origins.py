"""Decides which HTTP requests are accepted, by Host and Origin (DNS rebinding), and sets CORS headers.

Sources: MCP "Streamable HTTP", "Security"; the Fetch standard, section 3.2 (CORS protocol).
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterable
from ipaddress import IPv6Address

from inspector.addresses import Address, is_loopback, parse
from inspector.serving.base import RequestHead
from inspector.text import safe

_ORIGIN = re.compile(r"([a-z][a-z0-9+.-]*)://([^/?#@\s]+)", re.ASCII | re.IGNORECASE)
_AUTHORITY = re.compile(r"(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(?::([0-9]{1,5}))?", re.ASCII | re.IGNORECASE)
_PORTS = {"http": 80, "https": 443}
_TOKENS = re.compile(r"[!#$%&'*+\-.^_`|~0-9A-Za-z, \t]*")
_EXPOSED = "Mcp-Session-Id, MCP-Protocol-Version, WWW-Authenticate"
_MAX_LENGTH = 4096


def own_address(transport: asyncio.BaseTransport | None) -> tuple[str, int]:
    """Address and port of our end of a connection, as `RequestHead.arrived_at`."""
    name = transport.get_extra_info("sockname") if transport is not None else None
    return (str(name[0]), int(name[1])) if isinstance(name, tuple) and len(name) >= 2 else ("", 0)


def normal_origin(text: str) -> str:
    """Return an origin in browsers' form: lower case, without the default port. Empty if it is not an origin."""
    match = _ORIGIN.fullmatch(text.strip())
    where = _authority(match[2]) if match is not None else None
    if match is None or where is None:
        return ""
    scheme, (host, port) = match[1].lower(), where
    host = f"[{host}]" if ":" in host else host
    return f"{scheme}://{host}" + ("" if port in (None, _PORTS.get(scheme)) else f":{port}")


class RequestGuard:
    """Refuses requests that a web page of another site could have sent.

    A page that resolves its own name to our address (DNS rebinding) still requests that name, so `Host` must name us. A
    request over loopback may have any name of this machine, and come from any of its pages. Any other request must have
    the address and port that it reached, or the host name that we listen on, and an `Origin` must be the same host and
    port. `names` (for `Host`) and `origins` extend this.
    """

    def __init__(self, host: str, names: Iterable[str] = (), origins: Iterable[str] = ()) -> None:
        self._host = host.lower()
        self._names = {name.lower() for name in names}
        self._origins = {normal_origin(origin) for origin in origins} - {""}

    def refusal(self, head: RequestHead, *, pages: bool = False) -> str:
        """Return why the request is refused; empty if it is accepted. `pages`: a page of any site may link here."""
        hosts = [value for name, value in head.fields if name.lower() == "host"]
        if len(hosts) != 1:
            return "A request must have exactly one Host header."
        if not self._is_ours(hosts[0], head):
            return f'Host "{safe(hosts[0], 80)}" is not allowed. Allow it with --allow-host NAME.'
        if not path_of(head.target, hosts[0]):
            return "The target of a request must be a path, or a URL with the host of its Host header."
        origins = [value for name, value in head.fields if name.lower() == "origin"]
        if len(origins) > 1:
            return "A request must not have more than one Origin header."
        if origins and not self.allows(head):
            return f'Origin "{safe(origins[0], 80)}" is not allowed. Allow it with --allow-origin ORIGIN.'
        # Browsers send no Origin with the GET of an image, a frame or a link, but they say where its page is.
        if not origins and head.field("sec-fetch-site") == "cross-site" and not (pages and _opens_page(head)):
            return "A page of another site must not use this server."
        return ""

    def allows(self, head: RequestHead) -> bool:
        """Whether the page that sent the request may use the server. The `Host` must have been checked."""
        origin = normal_origin(head.field("origin") or "")
        if not origin or origin in self._origins:
            return bool(origin)
        scheme, _, authority = origin.partition("://")
        came_from, asked = _authority(authority), _authority(head.field("host") or "")
        if scheme not in _PORTS or came_from is None or asked is None:
            return False
        if self._is_local(head) and is_loopback(came_from[0]):
            return True
        default = _PORTS[scheme]
        return (came_from[0], came_from[1] or default) == (asked[0], asked[1] or default)

    def _is_local(self, head: RequestHead) -> bool:
        return is_loopback(head.arrived_at[0] or self._host)

    def _is_ours(self, authority: str, head: RequestHead) -> bool:
        """Whether the value of a `Host` header names us."""
        where = _authority(authority)
        if where is None:
            return False
        host, port = where
        if host in self._names:
            return True
        if self._is_local(head):
            return is_loopback(host) or host == self._host
        own, own_port = head.arrived_at
        return (port or 80) == own_port and (host == self._host or _is_same_address(host, own))

    def cors(self, head: RequestHead) -> list[tuple[str, str]]:
        """Return the headers of every answer to a page of an allowed origin; none without one."""
        origin = head.field("origin")
        if origin is None or not self.allows(head):
            return []
        return [
            ("Access-Control-Allow-Origin", origin.strip()),
            ("Access-Control-Expose-Headers", _EXPOSED),
            ("Vary", "Origin"),
        ]

    def preflight(self, head: RequestHead, methods: str) -> list[tuple[str, str]]:
        """Return the further headers of the answer to OPTIONS: the methods, and the requested headers."""
        requested = head.field("access-control-request-headers") or ""
        fields = [("Access-Control-Allow-Methods", methods), ("Access-Control-Max-Age", "600")]
        if requested and len(requested) <= _MAX_LENGTH and _TOKENS.fullmatch(requested):
            fields.append(("Access-Control-Allow-Headers", requested))
        return fields


def path_of(target: str, host: str) -> str:
    """Return path and query of the target of a request with this `Host`; empty if it names another host."""
    if target.startswith("/") or target == "*":
        return target
    authority, _, path = target.partition("://")[2].partition("/")
    return f"/{path}" if authority and authority.lower() == host.strip().lower() else ""


def _opens_page(head: RequestHead) -> bool:
    return head.field("sec-fetch-mode") == "navigate" and head.field("sec-fetch-dest") == "document"


def _authority(text: str) -> tuple[str, int | None] | None:
    """Return host (lower case, without brackets) and port of `host:port`; None for anything else."""
    match = _AUTHORITY.fullmatch(text.strip().lower())
    return (match[1].strip("[]"), int(match[2]) if match[2] else None) if match is not None else None


def _is_same_address(host: str, own: str) -> bool:
    """Whether a host is the address of our end. A dual-stack socket shows 192.0.2.1 as `::ffff:192.0.2.1`."""
    asked = _plain(parse(host))
    return asked is not None and asked == _plain(parse(own))


def _plain(address: Address | None) -> Address | None:
    return (address.ipv4_mapped or address) if isinstance(address, IPv6Address) else address
