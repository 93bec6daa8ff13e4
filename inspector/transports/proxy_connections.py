"""Connections through a proxy: HTTP, HTTPS and SOCKS. They are made by httpcore, which is loaded only for them.

Its pool is not used to share connections, because it checks every connection for every request; `Endpoint` shares them.
"""

from __future__ import annotations

import ssl
from collections.abc import AsyncIterator
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from inspector.transports.http1_connection import octets
from inspector.transports.http_url import Url
from inspector.transports.network import KEPT_ALIVE, NetworkRequest, NetworkResponse, OnOpened

if TYPE_CHECKING:
    import httpcore


class ProxyNetwork:
    """Connects to one origin through a proxy."""

    def __init__(self, url: Url, proxy: Url, tls: ssl.SSLContext | None, connect_timeout: float) -> None:
        """Import the library. `tls` is for the proxy, the origin, or both."""
        import anyio
        import httpcore

        self.library = httpcore
        self.failures: tuple[type[BaseException], ...] = (
            httpcore.TimeoutException,
            httpcore.NetworkError,
            httpcore.ProtocolError,
            httpcore.ProxyError,
            httpcore.UnsupportedProtocol,
            anyio.BrokenResourceError,
            anyio.ClosedResourceError,
            anyio.EndOfStream,
        )
        self.timeouts = {"connect": connect_timeout}
        self.encrypted = url.scheme == "https"
        auth = (proxy.user.encode(), proxy.password.encode()) if proxy.user or proxy.password else None
        model = httpcore.Proxy(proxy.origin, auth=auth, ssl_context=tls if proxy.scheme == "https" else None)
        self._pool = httpcore.AsyncConnectionPool(ssl_context=tls, proxy=model, keepalive_expiry=KEPT_ALIVE)
        self._origin = self.target(url).origin

    def target(self, url: Url) -> httpcore.URL:
        """Return a URL as the library has it."""
        return self.library.URL(
            scheme=url.scheme.encode(),
            host=url.host.encode(),
            port=None if url.has_default_port else url.port,
            target=url.target.encode("ascii"),
        )

    def create_connection(self) -> ProxyConnection:
        """Create a connection that is not connected yet."""
        # Undocumented: the pool itself would check all of its requests whenever one starts or ends.
        return ProxyConnection(self, self._pool.create_connection(self._origin))


class ProxyConnection:
    """One connection of the library."""

    def __init__(self, network: ProxyNetwork, connection: httpcore.AsyncConnectionInterface) -> None:
        self._network = network
        self._connection = connection

    async def exchange(self, request: NetworkRequest, opened: OnOpened | None = None) -> NetworkResponse:
        """Send a request, and read the head of its response. Raises the library's exceptions."""
        network = self._network
        extensions: dict[str, Any] = {"timeout": network.timeouts}
        if opened is not None:
            extensions["trace"] = _tracer(network.encrypted, opened)
        sent = network.library.Request(
            request.method,
            network.target(request.url),
            headers=[(octets(name), octets(value)) for name, value in request.headers],
            content=request.body or None,
            extensions=extensions,
        )
        response = await self._connection.handle_async_request(sent)
        return NetworkResponse(
            response.status,
            response.extensions.get("reason_phrase", b"").decode("latin-1"),
            response.extensions.get("http_version", b"HTTP/?").decode("latin-1"),
            [(name.decode("latin-1"), value.decode("latin-1")) for name, value in response.headers],
            _ProxiedBody(response, network.failures),
        )

    @property
    def idle(self) -> bool:
        """Whether it is open and carries no exchange."""
        return self._connection.is_idle()

    @property
    def expired(self) -> bool:
        """Whether it was idle for too long, or closed."""
        return self._connection.has_expired()

    async def close(self) -> None:
        """Close it. Idempotent."""
        with suppress(*self._network.failures, OSError):
            await self._connection.aclose()


class _ProxiedBody:
    def __init__(self, response: httpcore.Response, failures: tuple[type[BaseException], ...]) -> None:
        self._response = response
        self._failures = failures

    def __aiter__(self) -> AsyncIterator[bytes]:
        chunks: AsyncIterator[bytes] = self._response.stream.__aiter__()  # type: ignore[union-attr]
        return chunks

    async def aclose(self) -> None:
        with suppress(*self._failures, OSError):
            await self._response.aclose()


def _tracer(encrypted: bool, opened: OnOpened) -> Any:
    """Report facts of the connection while the library makes it."""
    last = "start_tls.complete" if encrypted else "connect_tcp.complete"

    async def trace(event: str, info: dict[str, Any]) -> None:
        facts: dict[str, Any] = {}
        if event.endswith("connect_tcp.complete"):
            address = info["return_value"].get_extra_info("server_addr")
            facts["address"] = address[0] if isinstance(address, tuple) else str(address)
        elif event.endswith("start_tls.complete"):
            tls = info["return_value"].get_extra_info("ssl_object")
            facts["tls"] = tls.version() if tls is not None else None
        else:
            return
        if event.endswith(last):
            facts["ready"] = True
        opened(facts)

    return trace
