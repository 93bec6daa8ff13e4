"""Uses an httpx client or transport of the program as the network: its proxies, certificates, hooks, authentication.

Only for one origin: a server may name others, such as an authorization server, which must not get the credentials of
the client, and whose addresses can be checked only on connections of our own.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import TYPE_CHECKING

from inspector.errors import HttpError
from inspector.text import safe
from inspector.transports.http1_connection import octets
from inspector.transports.network import NetworkRequest, NetworkResponse, OnOpened, SharedConnection

if TYPE_CHECKING:
    import httpx

    from inspector.transports.http_url import Url


class HttpxNetwork:
    """Sends requests to `origin` through `sender`, which the program owns and closes."""

    failures: tuple[type[BaseException], ...] = ()

    def __init__(self, sender: httpx.AsyncClient | httpx.AsyncBaseTransport, origin: str) -> None:
        self.sender = sender
        self.origin = origin

    def serves(self, url: Url) -> bool:
        """Whether requests to this URL go through the client."""
        return url.origin == self.origin

    def create_connection(self) -> HttpxConnection:
        """Return a connection for the HTTP client. The real ones are httpx's."""
        return HttpxConnection(self.sender)


class HttpxConnection(SharedConnection):
    """Carries one request at a time."""

    def __init__(self, sender: httpx.AsyncClient | httpx.AsyncBaseTransport) -> None:
        self._sender = sender

    async def exchange(self, request: NetworkRequest, opened: OnOpened | None = None) -> NetworkResponse:
        """Send a request and wait for the head of its response. Raises `HttpError`."""
        import httpx

        headers = [(octets(name), octets(value)) for name, value in request.headers]
        sent = httpx.Request(request.method, request.url.text, headers=headers, content=request.body)
        sender = self._sender
        try:
            if isinstance(sender, httpx.AsyncClient):
                auth = None if request.anonymous else httpx.USE_CLIENT_DEFAULT
                response = await sender.send(sent, stream=True, auth=auth, follow_redirects=False)
            else:
                response = await sender.handle_async_request(sent)
        except Exception as error:
            raise _problem(error, sent, "could not be sent") from error
        return NetworkResponse(
            response.status_code,
            response.extensions.get("reason_phrase", b"").decode("latin-1"),
            response.extensions.get("http_version", b"HTTP/?").decode("latin-1"),
            [(name.decode("latin-1"), value.decode("latin-1")) for name, value in response.headers.raw],
            _Body(response, sent),
        )


class _Body:
    def __init__(self, response: httpx.Response, sent: httpx.Request) -> None:
        self._response = response
        self._sent = sent

    async def __aiter__(self) -> AsyncIterator[bytes]:
        stream = self._response.stream
        try:
            async for part in stream:  # type: ignore[union-attr]
                yield part
        except Exception as error:
            raise _problem(error, self._sent, "has no complete answer") from error

    async def aclose(self) -> None:
        await self._response.aclose()


def _problem(error: Exception, sent: httpx.Request, what: str) -> HttpError:
    where = safe(str(sent.url.copy_with(userinfo=b"", query=None)), 200)
    return HttpError(
        f"{sent.method} {where} {what}: {type(error).__name__}.", hint="Check the httpx client that was passed."
    )
