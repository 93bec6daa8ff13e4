"""Fetches of a flow: allowed URLs, redirects, size and time limits (C-SEC-02, C-AUTH-13)."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from typing import Any, Protocol
from urllib.parse import urljoin

from inspector import addresses
from inspector.auth import url_checks
from inspector.auth.actions import Fetch, Fetched, FetchFailed
from inspector.auth.json_documents import MAX_SIZE
from inspector.errors import InspectorError
from inspector.hints import Hint, Parameter
from inspector.text import safe
from inspector.version import __version__

FETCH_SECONDS = 20.0
"""Timeout in seconds for one request with its full response, unless one is given."""
MAX_REDIRECTS = 3
_REDIRECTS = frozenset((301, 302, 303, 307, 308))
_URL_SHOWN = 300
NAME_IT = Hint("If you trust it, set the authorization server yourself with ", Parameter.AUTH_SERVER.to("URL"), ".")

Admit = Callable[[str], bool]
"""Whether a connection to a resolved address is allowed."""


class HttpSender(Protocol):
    """Sends a single HTTP request. The caller supplies it: this layer has no HTTP client of its own."""

    async def send(
        self, method: str, url: str, fields: Sequence[tuple[str, str]], body: bytes, *, limit: int, admit: Admit
    ) -> Fetched:
        """Return the response, whatever its status; follows no redirect and reads at most `limit` bytes.

        `admit` is called with each address before the connection. Raises `InspectorError` with a message.
        """

    async def addresses(self, host: str) -> list[str]:
        """Return the addresses of a host name; empty if unknown, as behind a proxy."""

    async def aclose(self) -> None:
        """Close all connections. Idempotent."""


class Recorder(Protocol):
    """The part of a transport's sink that authorization uses."""

    def auth(
        self, step: str, ok: bool, text: str, *, rule: str = "", fix: str = "", facts: dict[str, Any] | None = None
    ) -> int:
        """Record a step."""

    def asking(self, begun: bool) -> None:
        """Pause the timeouts of all requests while a person logs in."""

    def secret(self, value: str) -> None:
        """Register a value that must never be recorded."""


class Fetcher:
    """Performs fetches on behalf of one MCP server, and records each request with its response."""

    def __init__(self, server: str, web: HttpSender, recorder: Recorder, seconds: float | None = None) -> None:
        """`seconds` is the timeout of each request with its full response; None: `FETCH_SECONDS`."""
        self._seconds = seconds or FETCH_SECONDS
        self._server = url_checks.parts(server)
        self._web = web
        self._recorder = recorder
        self._own: frozenset[str] | None = None

    async def __call__(self, action: Fetch) -> Fetched:
        """Perform a fetch. Raises `FetchFailed` if it has no response."""
        started = time.perf_counter()
        facts: dict[str, Any] = {
            "method": action.method,
            "url": safe(action.url, url_checks.MAX_URL),
            "request": {"headers": list(action.fields), "body": action.body.decode("utf-8", "replace")},
        }
        try:
            async with asyncio.timeout(self._seconds):
                answer = await self._follow(action)
        except TimeoutError:
            error = FetchFailed(
                f"{_url_text(action.url)} did not answer within {self._seconds:g} s.",
                hint=Hint(
                    "The server should respond immediately and end its response. ",
                    Parameter.TIMEOUT,
                    " sets the timeout of each request.",
                ),
            )
            self._tell(action, started, facts, error)
            raise error from None
        except FetchFailed as error:
            self._tell(action, started, facts, error)
            raise
        facts["url"] = safe(answer.url, url_checks.MAX_URL)
        facts["status"] = answer.status
        facts["response"] = {"headers": list(answer.fields), "body": answer.body.decode("utf-8", "replace")}
        self._tell(action, started, facts, None)
        return answer

    def _tell(self, action: Fetch, started: float, facts: dict[str, Any], error: FetchFailed | None) -> None:
        facts["ms"] = round((time.perf_counter() - started) * 1000, 3)
        text = error.message if error is not None else action.what or "fetched"
        self._recorder.auth("fetch", error is None, text, facts=facts)

    async def _follow(self, action: Fetch) -> Fetched:
        """Send, and follow redirects within the origin for requests without secrets."""
        url = action.url
        for _ in range(MAX_REDIRECTS + 1):
            answer = await self._send(action, url)
            if answer.status not in _REDIRECTS:
                return answer
            location = next(iter(answer.values("location")), "")
            if not location:
                return answer
            target = urljoin(url, location.strip())
            try:
                same = url_checks.origin(target) == url_checks.origin(url)
            except ValueError as error:
                raise FetchFailed(
                    f"{_url_text(url)} redirects to {_url_text(target)}, which is not a valid URL: {error}."
                ) from None
            if action.method != "GET":
                raise FetchFailed(
                    f"{_url_text(url)} redirects the {action.method} to {_url_text(target)}. The redirect is not "
                    "followed: the request contains a secret for this URL only.",
                    hint="Name the final URL in the metadata.",
                )
            if not same:
                raise FetchFailed(
                    f"{_url_text(url)} redirects to another origin, {addresses.shown_url(url_checks.origin(target))}. "
                    "The redirect is not followed.",
                    hint="Publish the document at the URL that the specification defines.",
                )
            url = target
        raise FetchFailed(
            f"{_url_text(action.url)} redirects too many times.", hint="Respond with the document itself."
        )

    async def _send(self, action: Fetch, url: str) -> Fetched:
        try:
            url_parts = url_checks.parts(url) if action.named else url_checks.secure(url)
        except ValueError as error:
            raise FetchFailed(f"{_url_text(url)} is not fetched: {error}.") from None
        admit = await self._policy(url_parts, action.named)
        if not admit(url_parts.host):
            raise _refused(url, url_parts.host)
        fields = [("User-Agent", f"inspector/{__version__}"), ("Accept-Encoding", "identity"), *action.fields]
        if action.body:
            fields.append(("Content-Length", str(len(action.body))))
        try:
            answer = await self._web.send(action.method, url, fields, action.body, limit=MAX_SIZE, admit=admit)
        except FetchFailed:
            raise
        except InspectorError as error:
            raise FetchFailed(error.message, hint=error.hint) from None
        if len(answer.body) > MAX_SIZE:
            raise FetchFailed(
                f"{_url_text(url)} sent more than {MAX_SIZE >> 20} MiB. The rest is not read.",
                hint="Respond with a JSON object of a few kilobytes.",
            )
        return answer

    async def refuses_page(self, url: str, named: bool) -> str:
        """Return why the person is not sent to a page, as a clause; empty if they may go there."""
        host = url_checks.parts(url.partition("?")[0])
        return "" if (await self._policy(host, named))(host.host) else _where(host.host)

    async def _policy(self, url_parts: url_checks.Parts, named: bool) -> Admit:
        """Return which addresses may be connected to for a URL.

        The person named the MCP server, so its own network is allowed; but a server may not point into networks in
        which it is not itself.
        """
        if named or url_parts.origin == self._server.origin:
            return lambda host: True
        home = self._server.host
        inside = await self._is_inside()
        return lambda host: addresses.may_lead_to(host, home, inside=inside)

    async def _is_inside(self) -> bool:
        """Whether the MCP server is in a private network. One public address makes it public.

        Otherwise a public server could add a private address to its DNS name, and reach hosts behind the firewall.
        """
        if addresses.is_private(self._server.host):
            return True
        if self._own is None:
            self._own = frozenset(await self._web.addresses(self._server.host))
        return bool(self._own) and all(map(addresses.is_private, self._own))


def _where(host: str) -> str:
    kind = "a private address"
    if addresses.is_link_local(host):
        kind = "a link-local address or the metadata service of a cloud"
    elif addresses.reaches_this_machine(host):
        kind = "this machine"
    return f"{safe(host, 80)} is {kind}, and the server is elsewhere"


def _refused(url: str, host: str) -> FetchFailed:
    return FetchFailed(f"{_url_text(url)} is not fetched: {_where(host)}.", hint=NAME_IT)


def _url_text(url: str) -> str:
    return addresses.shown_url(url, _URL_SHOWN)
