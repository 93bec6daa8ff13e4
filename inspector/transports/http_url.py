"""The URL of an HTTP endpoint: its parts, its origin, redirects, and the system's proxy for it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import quote, unquote, urljoin, urlsplit

from inspector.addresses import is_loopback, requested_url
from inspector.reasons import url_reason

SCHEMES = ("http", "https")
PROXY_SCHEMES = ("http", "https", "socks5", "socks5h")

_PORTS = {"http": 80, "https": 443, "socks5": 1080, "socks5h": 1080}
_TARGET = "/?:@!$&'()*+,;=%~[]"


@dataclass(frozen=True, slots=True)
class Url:
    """An absolute URL in its form for the request. Its text excludes user and password."""

    scheme: str
    host: str
    """ASCII: a name (IDNA-encoded), an IPv4 address, or an IPv6 address without brackets."""
    port: int
    target: str
    """Path and query, percent-encoded; starts with a slash."""
    user: str = ""
    password: str = ""

    @property
    def has_default_port(self) -> bool:
        """Whether the port is the default of the scheme."""
        return _PORTS[self.scheme] == self.port

    @property
    def netloc(self) -> str:
        """Host and port as in a `Host` header: without the scheme's default port."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.has_default_port else f"{host}:{self.port}"

    @property
    def address(self) -> str:
        """Host and port, always both: for error messages."""
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"

    @property
    def origin(self) -> str:
        """Scheme, host and port (RFC 6454), which must be equal to send credentials."""
        return f"{self.scheme}://{self.netloc}"

    @property
    def text(self) -> str:
        """The URL without user, password and fragment."""
        return self.origin + self.target


def parse_url(text: str, schemes: Sequence[str] = SCHEMES) -> Url:
    """Parse a URL. Raises ValueError with the reason as a clause."""
    text = text.strip()
    try:
        parts = urlsplit(text)
        port = parts.port
    except ValueError as error:
        raise ValueError(url_reason(error)) from None
    scheme = parts.scheme.lower()
    if scheme not in schemes:
        raise ValueError(f"it does not start with {' or '.join(f'{name}://' for name in schemes)}")
    parts = urlsplit(requested_url(text))
    if port == 0:
        raise ValueError("its port is 0")
    target = quote(parts.path or "/", safe=_TARGET)
    if parts.query:
        target += "?" + quote(parts.query, safe=_TARGET)
    return Url(
        scheme,
        parts.hostname or "",
        port or _PORTS[scheme],
        target if target.startswith("/") else f"/{target}",
        unquote(parts.username or ""),
        unquote(parts.password or ""),
    )


def resolve(base: Url, location: str) -> Url:
    """Resolve a `Location` header against `base`. Raises ValueError with the reason as a clause."""
    try:
        joined = urljoin(base.text, location.strip())
    except ValueError as error:
        raise ValueError(url_reason(error)) from None
    return parse_url(joined)


def system_proxy(url: Url) -> str | None:
    """Return the proxy for `url` in the environment (`HTTPS_PROXY`, `ALL_PROXY`, `NO_PROXY` …) or the system.

    It is None for this machine itself, whatever the environment has.
    """
    if is_loopback(url.host):
        return None
    from urllib.request import getproxies, proxy_bypass

    proxies = getproxies()
    proxy = proxies.get(url.scheme) or proxies.get("all")
    if not proxy or proxy_bypass(url.netloc):
        return None
    return proxy if "://" in proxy else f"http://{proxy}"
