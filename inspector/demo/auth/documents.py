"""Clients whose id is the URL of their metadata document (OAuth Client ID Metadata Document)."""

from __future__ import annotations

import ipaddress
import json
import socket
from urllib.parse import urlsplit

from inspector.demo.auth.clients import CODE, DEVICE, REFRESH, RegisteredClient, from_metadata
from inspector.demo.auth.grants import BoundedDict
from inspector.demo.auth.http_values import OAuthError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    Fetch = Callable[[str], bytes]

TIMEOUT = 5.0  # seconds
MAX_SIZE = 65536
EXAMPLE = "https://client.example/metadata.json"
# A document that needs no network: `.example` domains do not exist (RFC 2606).
_EXAMPLE: dict[str, Any] = {
    "client_id": EXAMPLE,
    "client_name": "Client with a document",
    "redirect_uris": ["http://127.0.0.1/callback", "http://localhost/callback", "http://[::1]/callback"],
    "grant_types": [CODE, REFRESH, DEVICE],
    "token_endpoint_auth_method": "none",
}


class Documents:
    """The fetched documents; each is fetched once."""

    def __init__(self, fetch: Fetch | None = None) -> None:
        self._fetch = fetch or fetch_public
        self._clients = BoundedDict(100)
        self._clients[EXAMPLE] = read(EXAMPLE, _EXAMPLE)

    def find(self, url: str) -> RegisteredClient:
        """Returns the client whose id is a URL; raises OAuthError."""
        found: RegisteredClient | None = self._clients.get(url)
        if found is None:
            _check_url(url)
            try:
                document = json.loads(self._fetch(url))
            except (OSError, ValueError, RecursionError) as problem:
                raise OAuthError("invalid_client", f"Cannot fetch the document at {url}: {problem}") from None
            found = self._clients[url] = read(url, document)
        return found


def read(url: str, document: Any) -> RegisteredClient:
    """Returns the client that a document describes; raises OAuthError if it is not about this URL."""
    if not isinstance(document, dict) or document.get("client_id") != url:
        raise OAuthError("invalid_client", f"The document at {url} does not have the URL as its client_id")
    missing = [key for key in ("client_name", "redirect_uris") if key not in document]
    if missing:
        raise OAuthError("invalid_client", f"The document at {url} has no {missing[0]}")
    method = document.get("token_endpoint_auth_method", "none")
    if "client_secret" in document or method not in ("none", "private_key_jwt"):
        raise OAuthError("invalid_client", f"The document at {url} is public, so it must not contain a secret")
    return from_metadata(url, {**document, "token_endpoint_auth_method": method})


def _check_url(url: str) -> None:
    parts = urlsplit(url)
    dotted = {".", ".."} & set(parts.path.split("/"))
    plain = not parts.fragment and parts.username is None and not dotted
    if parts.scheme != "https" or not parts.hostname or parts.path in ("", "/") or not plain:
        raise OAuthError("invalid_client", f"A client id that is a URL must be https and have a path: {url!r}")


def fetch_public(url: str) -> bytes:
    """Fetches an https URL of a public address: no redirects, five seconds, 64 kB. Raises OSError or ValueError."""
    import http.client
    import ssl

    parts = urlsplit(url)
    host, port = str(parts.hostname), parts.port or 443
    address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][4][0]
    # Otherwise a page could make a browser send us to a machine behind the same firewall.
    if not ipaddress.ip_address(address).is_global:
        raise ValueError("it is at a private address")
    connection = http.client.HTTPSConnection(host, port, timeout=TIMEOUT)
    try:
        # Connected by hand, to the address that was checked, because the name may resolve differently now.
        plain = socket.create_connection((str(address), port), TIMEOUT)
        connection.sock = ssl.create_default_context().wrap_socket(plain, server_hostname=host)
        path = parts.path + (f"?{parts.query}" if parts.query else "")
        connection.request("GET", path, headers={"Accept": "application/json"})
        response = connection.getresponse()
        if response.status != 200:
            raise ValueError(f"status {response.status}")
        body = response.read(MAX_SIZE + 1)
    except http.client.HTTPException as problem:
        raise ValueError(f"not HTTP: {type(problem).__name__}") from None
    finally:
        connection.close()
    if len(body) > MAX_SIZE:
        raise ValueError(f"it is larger than {MAX_SIZE} bytes")
    return body
