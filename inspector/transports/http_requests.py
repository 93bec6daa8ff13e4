"""The common part of every HTTP request to the MCP endpoint: headers, recording, redirects.

Used by the exchanges of Streamable HTTP, by its standing stream, and by any other HTTP binding.
"""

from __future__ import annotations

import asyncio
import base64
from collections.abc import Iterable, Sequence

from inspector.addresses import shown_url
from inspector.config.secret_values import CookieSecrets
from inspector.config.text_checks import checked_headers
from inspector.errors import HttpError, TargetError
from inspector.journal.format import Dir
from inspector.protocol.names import SESSION_FIELD, VERSION_FIELD
from inspector.text import safe
from inspector.transports.base import HttpOptions, Refusal, Sink
from inspector.transports.http_client import Endpoint, HttpAnswer
from inspector.transports.http_url import Url, parse_url, resolve
from inspector.version import __version__

MAX_COUNT = 50
MAX_SIZE = 4096
"""Characters of one cookie (RFC 6265 section 6.1)."""


class Cookies:
    """The cookies that an endpoint has set."""

    def __init__(self) -> None:
        self._paths: dict[str, tuple[str, str]] = {}
        """By name: path and value."""
        self._secrets = CookieSecrets()

    def __len__(self) -> int:
        return len(self._paths)

    def keep(self, set_cookie: str, host: str) -> list[str]:
        """Take one `Set-Cookie` header of a response from `host`, and return its new secrets.

        A cookie for another host is ignored.
        """
        pair, *rest = set_cookie.split(";")
        name, sign, value = (part.strip() for part in pair.partition("="))
        if not sign or not name or len(pair) > MAX_SIZE or any(ord(char) < 0x20 for char in pair):
            return []
        attributes = {key.strip().lower(): text.strip() for key, _, text in (part.partition("=") for part in rest)}
        domain = attributes.get("domain", "").lstrip(".").lower()
        if domain and host != domain and not host.endswith(f".{domain}"):
            return []
        self._paths.pop(name, None)
        if attributes.get("max-age", "1").lstrip("-") == "0" or attributes.get("max-age", "").startswith("-"):
            return []
        if len(self._paths) < MAX_COUNT:
            path = attributes.get("path", "/")
            self._paths[name] = (path if path.startswith("/") else "/"), value
        return self._secrets.new(pair)

    def header(self, path: str, given: str = "") -> str:
        """Return the `Cookie` header of a request to `path`; empty without cookies. `given`, the user's own, wins."""
        own = {part.partition("=")[0].strip() for part in given.split(";")}
        kept = [
            f"{name}={value}"
            for name, (of, value) in self._paths.items()
            if name not in own and f"{path}/".startswith(f"{of.rstrip('/')}/")
        ]
        return "; ".join(filter(None, (given, *kept)))


Fields = list[tuple[str, str]]

RESUME_FIELD = "Last-Event-ID"
JSON_TYPE = "application/json"
STREAM_TYPE = "text/event-stream"

REDIRECTS = frozenset((301, 302, 303, 307, 308))
MAX_REDIRECTS = 5
MAX_AUTHORIZATIONS = 8
"""Attempts at one request; the credential limits how often it asks for authorization, and to fewer."""
SMALL_BODY = 1 << 16
"""Bytes that are read of an unused body, so that its connection can be reused."""


class Requester:
    """Sends requests to one endpoint and records both heads of each. Has the session id and the agreed revision."""

    def __init__(self, url: str, sink: Sink, options: HttpOptions) -> None:
        """Raises `TargetError` for an invalid URL, and for headers that cannot be sent."""
        try:
            self.url = parse_url(url)
        except ValueError as error:
            raise TargetError(
                f"“{safe(url, 200)}” cannot be used as a URL: {error}.",
                hint="A URL is http://host:port/path or https://…",
            ) from None
        self.sink = sink
        self.options = options
        self.session_id: str | None = None
        self.revision: str | None = None
        """The value of `MCP-Protocol-Version`; None: the header is not sent."""
        self._theirs = list(checked_headers((name, value.strip()) for name, value in options.headers))
        if self.url.user or self.url.password:
            self._theirs.insert(0, ("Authorization", self._basic()))
        self._names = {name.lower() for name, _ in self._theirs}
        self._endpoint: Endpoint | None = None
        self._cookies = Cookies()

    def _basic(self) -> str:
        word = f"{self.url.user}:{self.url.password}"
        coded = base64.b64encode(word.encode()).decode("ascii")
        self.sink.secret(coded)
        if self.url.password:
            self.sink.secret(self.url.password)
        return f"Basic {coded}"

    def start(self) -> None:
        """Load the HTTP library. Nothing is connected yet."""
        if self._endpoint is None:
            self._endpoint = Endpoint(self.url, self.options)
            proxy = self._endpoint.proxy
            if proxy is not None and (secret := proxy.password or proxy.user):
                self.sink.secret(secret)  # a user name alone is a token

    def fields(self, accept: str, *, fresh: bool = False, era_headers: Iterable[tuple[str, str]] = ()) -> Fields:
        """Return the headers of a request without a body: ours, then `era_headers`, then the user's, which win.

        `fresh`: the request starts a session, so it has neither session id nor revision (C-HTTP-10, C-HTTP-11).
        """
        fields = [
            ("Host", self.url.netloc),
            ("Accept", accept),
            ("Accept-Encoding", "identity"),
            ("User-Agent", f"inspector/{__version__}"),
        ]
        if not fresh:
            if self.session_id is not None:
                fields.append((SESSION_FIELD, self.session_id))
            if self.revision is not None:
                fields.append((VERSION_FIELD, self.revision))
        return _over(_over(fields, list(era_headers)), self._theirs, self._names)

    def body_fields(
        self,
        size: int,
        *,
        fresh: bool = False,
        era_headers: Iterable[tuple[str, str]] = (),
        winners: Iterable[tuple[str, str]] = (),
    ) -> Fields:
        """Return the headers of a POST with a JSON body of `size` bytes (C-HTTP-02). `winners` replace others."""
        own = [("Content-Type", JSON_TYPE), *era_headers]
        fields = _over(self.fields(f"{JSON_TYPE}, {STREAM_TYPE}", fresh=fresh, era_headers=own), list(winners))
        fields.append(("Content-Length", str(size)))
        return fields

    async def open(
        self,
        channel: str,
        method: str,
        fields: Sequence[tuple[str, str]],
        body: bytes = b"",
        *,
        lasting: bool = False,
        about: str = "",
        seconds: float | None = None,
    ) -> HttpAnswer:
        """Send a request and read the head of its response; authorize it if required (C-AUTH-02, C-AUTH-03).

        `about` is the JSON-RPC method of the request; `seconds` is the timeout for each head, without the time for
        authorization. The response has any status, except a redirect that cannot be followed. Raises `HttpError`, and
        `AuthorizationNeeded` if authorization failed.
        """
        credential = self.options.credential
        if credential is None or "authorization" in self._names:
            answer = await self._follow(channel, method, fields, body, lasting, seconds)
            answer.given = "authorization" in self._names
            return answer
        for _ in range(MAX_AUTHORIZATIONS):
            proof = list(await credential.fields(method, self.url.text))
            for _, value in proof:
                self.sink.secret(value.partition(" ")[2] or value)
            answer = await self._follow(channel, method, _over(list(fields), proof), body, lasting, seconds)
            answer.authorized = bool(proof)
            if answer.status not in (401, 403):
                return answer
            refusal = Refusal(answer.status, tuple(answer.all("www-authenticate")), answer.headers, about)
            if not await credential.refused(refusal, proof):
                return answer
            text, _ = await answer.body(SMALL_BODY)
            self.sink.life(channel, "refused", status=answer.status, body=safe(text.decode("utf-8", "replace"), 1000))
        return answer

    async def _follow(
        self,
        channel: str,
        method: str,
        fields: Sequence[tuple[str, str]],
        body: bytes,
        lasting: bool,
        seconds: float | None,
    ) -> HttpAnswer:
        """Send one request and follow its redirects within the origin."""
        assert self._endpoint is not None
        url = self.url
        for _ in range(MAX_REDIRECTS + 1):
            fields = self._with_cookies(fields, url)
            self.sink.http(channel, Dir.SEND, method=method, url=url.text, headers=fields)
            exchange = self._endpoint.exchange(
                method,
                url,
                fields,
                body,
                lasting=lasting,
                connected=lambda facts: self.sink.life(channel, "connect", **facts),
            )
            try:
                answer = await (exchange if seconds is None else asyncio.wait_for(exchange, seconds))
            except TimeoutError:
                raise HttpError(
                    f"{url.address} did not answer the {method} within {seconds:g} s.",
                    hint="Check host, port and path: the server there may not be an MCP server.",
                ) from None
            for cookie in answer.all("set-cookie"):
                for secret in self._cookies.keep(cookie, url.host):
                    self.sink.secret(secret)
            self.sink.http(
                channel,
                Dir.RECV,
                status=answer.status,
                reason=answer.reason,
                version=answer.version,
                headers=answer.headers,
                ms=round(answer.ms, 3),
            )
            location = answer.header("location")
            if answer.status not in REDIRECTS or location is None:
                return answer
            try:
                url = _redirected(url, method, answer.status, location)
                await answer.body(SMALL_BODY)
            finally:
                await answer.aclose()
            self.sink.life(channel, "redirect", status=answer.status)
            if method == "POST":
                self.url = url
        raise HttpError(
            f"{self.url.origin} redirected more than {MAX_REDIRECTS} times.",
            hint="Use the URL at which the server answers.",
        )

    def _with_cookies(self, fields: Sequence[tuple[str, str]], url: Url) -> Sequence[tuple[str, str]]:
        if not self._cookies:
            return fields
        given = next((value for name, value in fields if name.lower() == "cookie"), "")
        cookies = self._cookies.header(url.target.partition("?")[0], given)
        return _over(list(fields), [("Cookie", cookies)]) if cookies != given else fields

    async def aclose(self) -> None:
        """Close all connections. Idempotent."""
        if self._endpoint is not None:
            await self._endpoint.aclose()


def _over(fields: Fields, winners: Fields, names: set[str] | None = None) -> Fields:
    """Return `fields` without those that `winners` has too, then the winners."""
    if not winners:
        return fields
    if names is None:
        names = {name.lower() for name, _ in winners}
    return [field for field in fields if field[0].lower() not in names] + winners


def _redirected(url: Url, method: str, status: int, location: str) -> Url:
    """Return the URL of a safe redirect: same origin, same method. Raises `HttpError` with the reason otherwise."""
    start = f"{url.text} answered {status} and redirects to"
    try:
        target = resolve(url, location.encode("latin-1").decode("utf-8", "replace"))
    except ValueError as error:
        address = safe(location, 300, ascii=True)
        raise HttpError(f"{start} {address}, which is not a valid URL: {error}.", status=status) from None
    if target.origin != url.origin:
        raise HttpError(
            (
                f"{url.origin} redirects to another origin, {shown_url(target.origin)} (status {status}). Inspector "
                "does not follow: credentials never go to another origin."
            ),
            hint=f"If you trust it, connect to {safe(target.text, 300)}",
            status=status,
        )
    if method != "GET" and status not in (307, 308):
        raise HttpError(
            f"{start} {safe(target.text, 300)}; after {status} a {method} would become a GET and lose its message.",
            hint=f"Connect to {safe(target.text, 300)}",
            status=status,
        )
    return target
