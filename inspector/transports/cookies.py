"""The cookies of one endpoint (RFC 6265): a load balancer sets one so that a session stays on its node.

They live as long as the connection and go to its origin only. Nothing is read from or written to a file.
"""

from __future__ import annotations

MAX_COUNT = 50
MAX_SIZE = 4096
"""Characters of one cookie (RFC 6265 section 6.1)."""


class Cookies:
    """The cookies that an endpoint has set."""

    def __init__(self) -> None:
        self._paths: dict[str, tuple[str, str]] = {}
        """By name: path and value."""

    def keep(self, set_cookie: str, host: str) -> None:
        """Take one `Set-Cookie` header of a response from `host`. A cookie for another host is ignored."""
        pair, *rest = set_cookie.split(";")
        name, sign, value = (part.strip() for part in pair.partition("="))
        if not sign or not name or len(pair) > MAX_SIZE or any(ord(char) < 0x20 for char in pair):
            return
        attributes = {key.strip().lower(): text.strip() for key, _, text in (part.partition("=") for part in rest)}
        domain = attributes.get("domain", "").lstrip(".").lower()
        if domain and host != domain and not host.endswith(f".{domain}"):
            return
        self._paths.pop(name, None)
        if attributes.get("max-age", "1").lstrip("-") == "0" or attributes.get("max-age", "").startswith("-"):
            return
        if len(self._paths) < MAX_COUNT:
            path = attributes.get("path", "/")
            self._paths[name] = (path if path.startswith("/") else "/"), value

    def header(self, path: str, given: str = "") -> str:
        """The `Cookie` header for a request to `path`; empty without cookies. `given` is the user's own, which wins."""
        own = {part.partition("=")[0].strip() for part in given.split(";")}
        kept = [
            f"{name}={value}"
            for name, (of, value) in self._paths.items()
            if name not in own and f"{path}/".startswith(f"{of.rstrip('/')}/")
        ]
        return "; ".join(filter(None, (given, *kept)))
