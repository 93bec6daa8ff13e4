"""The HTTP of authorization: single requests to any origin, over the transports' connections."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable, Sequence
from typing import Any

from inspector.auth.actions import Fetched, FetchFailed
from inspector.config.targets import HttpTarget
from inspector.errors import HttpError
from inspector.hints import Hint, Parameter
from inspector.text import safe
from inspector.transports.base import HttpOptions
from inspector.transports.http_client import Endpoint
from inspector.transports.http_url import Url, parse_url


class EndpointSender:
    """Sends a flow's requests, with the proxy and certificates of its MCP server."""

    def __init__(self, target: HttpTarget) -> None:
        self._options = HttpOptions(proxy=target.proxy, verify=target.verify, network=target.network)
        self._endpoints: dict[str, Endpoint] = {}

    async def send(
        self,
        method: str,
        url: str,
        fields: Sequence[tuple[str, str]],
        body: bytes,
        *,
        limit: int,
        admit: Callable[[str], bool],
    ) -> Fetched:
        """Send one request. Raises `HttpError`, and `FetchFailed` for an address that is not allowed."""
        try:
            parsed = parse_url(url)
        except ValueError as error:
            raise HttpError(f"Cannot fetch {safe(url, 200)}: {error}.") from None
        endpoint = self._endpoints.get(parsed.origin)
        if endpoint is None:
            endpoint = self._endpoints[parsed.origin] = Endpoint(parsed, self._options)
        proxied = endpoint.proxy is not None
        if not proxied:
            for address in await self._lookup(parsed):
                _check(address, parsed, admit)

        def connected(facts: dict[str, Any]) -> None:
            # The host name may have resolved to another address when it was checked.
            if not proxied:
                _check(str(facts.get("address", "")), parsed, admit)

        answer = await endpoint.exchange(method, parsed, [("Host", parsed.netloc), *fields], body, connected=connected)
        content, whole = await answer.body(limit + 1)
        if not whole and len(content) <= limit:
            raise HttpError(f"{parsed.address} closed the connection before the response was complete.")
        return Fetched(answer.status, tuple(answer.headers), content, url)

    async def addresses(self, host: str) -> list[str]:
        """Return the addresses of a host name; empty if unknown."""
        try:
            return await self._lookup(parse_url(f"https://{host}/"))
        except (ValueError, HttpError):
            return []

    async def _lookup(self, url: Url) -> list[str]:
        try:
            entries = await asyncio.get_running_loop().getaddrinfo(url.host, url.port, type=socket.SOCK_STREAM)
        except OSError:
            return []  # The connection reports a better error.
        return [str(entry[4][0]) for entry in entries]

    async def aclose(self) -> None:
        """Close all connections. Idempotent."""
        for endpoint in self._endpoints.values():
            await endpoint.aclose()
        self._endpoints.clear()


def _check(address: str, url: Url, admit: Callable[[str], bool]) -> None:
    if not admit(address):
        raise FetchFailed(
            f"{url.origin} is not fetched: its address {safe(address, 80)} is private, and the server's is not.",
            hint=Hint(
                "If you trust it, set the authorization server yourself with ", Parameter.AUTH_SERVER.to("URL"), "."
            ),
        )
