"""HTTP requests of a revision, as a client sends them, with every header under the control of a check.

In the legacy era a `RawPost` has its own session, which `raw_post` opens and closes. In the modern era each
request carries its metadata, without a session.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

from inspector.check.visit.http import ACCEPT, JSON, HttpClient, RecordedResponse
from inspector.check.visit.raw_connection import CLIENT, PREFIX
from inspector.check.visit.visit import Visit
from inspector.client.engine.header_fields import HeaderFields
from inspector.errors import HttpError
from inspector.protocol import jsonrpc
from inspector.protocol.names import SESSION_FIELD, VERSION_FIELD
from inspector.transports.http_requests import RESUME_FIELD
from inspector.transports.http_url import resolve

Fields = Sequence[tuple[str, str]]
NOWHERE = "inspector-check-no-such-thing"
_LISTS = {"tools": "tools/list", "resources": "resources/list", "prompts": "prompts/list"}
_REDIRECTS = (307, 308)


async def post(visit: Visit, body: bytes, fields: Fields, message: Any = None) -> RecordedResponse:
    """A body sent to the endpoint outside of sessions, with the login; follows a redirect within the same origin."""
    fields = _over(fields, await visit.token_fields())
    answer = await visit.web.send(url=visit.web.endpoint, body=body, fields=fields, message=message)
    if _follows(visit, answer):
        answer = await visit.web.send(url=visit.web.endpoint, body=body, fields=fields, message=message)
    return answer


def _follows(visit: Visit, answer: RecordedResponse) -> bool:
    """Whether a response redirects within its origin; the visit remembers the new URL."""
    if answer.status not in _REDIRECTS:
        return False
    try:
        there = resolve(visit.web.url, answer.header("location") or "")
    except ValueError:
        return False
    if there.origin != visit.web.url.origin:
        return False
    visit.web.endpoint = there.text
    return True


class RawPost:
    """Requests to the endpoint of a visit."""

    def __init__(self, visit: Visit, capabilities: dict[str, Any] | None = None) -> None:
        self.visit = visit
        self.web: HttpClient = visit.web
        self.capabilities = capabilities or {}
        self.session = ""
        """The session id, if the server gives one."""
        self.opened: RecordedResponse
        """The response to initialize."""
        self._strays: set[str] = set()
        """Unwanted sessions: some servers create one for a request that they reject."""
        self._mirror = HeaderFields()
        self._next_id = 1

    @property
    def url(self) -> str:
        """The endpoint, or the URL to which it redirects within its origin."""
        return self.web.endpoint

    # Session

    async def begin(self) -> RecordedResponse:
        """Send initialize and notifications/initialized; does nothing in the modern era.

        Raises `HttpError` if rejected.
        """
        if self.visit.modern:
            return await self.request("server/discover")
        opened = self.opened = await self.initialize()
        if "result" not in opened.message:
            raise HttpError(f"plain HTTP requests are rejected: initialize got {opened.brief}")
        await self.notify("notifications/initialized")
        return opened

    async def initialize(
        self, more: Fields = (), host: str | None = None, url: str | None = None, own: bool = True
    ) -> RecordedResponse:
        """Send initialize. Later requests use the session id of its response; `end` ends the session."""
        params = {"protocolVersion": self.visit.revision, "capabilities": self.capabilities, "clientInfo": CLIENT}
        message = {"jsonrpc": "2.0", "id": self._id(), "method": "initialize", "params": params}
        opened = await self._send(message, _over((JSON, ACCEPT), more), host=host, url=url, own=own)
        if url is None and _follows(self.visit, opened):
            opened = await self._send(message, _over((JSON, ACCEPT), more), host=host, own=own)
        session = opened.header(SESSION_FIELD)
        if session and "result" in opened.message:
            self.session = session
            self._strays.discard(session)
        return opened

    async def end(self) -> None:
        """End the session. Idempotent."""
        for session in (self.session, *self._strays):
            if session:
                self.session = session
                await self.delete()
        self.session = ""
        self._strays.clear()

    async def delete(self) -> RecordedResponse:
        """Send DELETE for the session."""
        return await self.web.send("DELETE", url=self.url, fields=await self._with_login(self.fields()))

    # Requests

    def _id(self) -> int:
        self._next_id += 1
        return self._next_id

    def new_request(self, method: str, params: dict[str, Any] | None = None) -> dict[str, Any]:
        """Return a request of the revision with a new id."""
        message: dict[str, Any] = {"jsonrpc": "2.0", "id": self._id(), "method": method}
        params = dict(params or {})
        if self.visit.modern:
            given = params.get("_meta")
            params["_meta"] = {
                f"{PREFIX}protocolVersion": self.visit.revision,
                f"{PREFIX}clientInfo": CLIENT,
                f"{PREFIX}clientCapabilities": self.capabilities,
                **(given if type(given) is dict else {}),
            }
        return message | {"params": params}

    def fields(self, message: dict[str, Any] | None = None) -> list[tuple[str, str]]:
        """The headers for a message (None: for a request without a body)."""
        fields = [JSON, ACCEPT]
        if self.session:
            fields.append((SESSION_FIELD, self.session))
        if self.visit.features.version_header and (message is None or message.get("method") != "initialize"):
            fields.append((VERSION_FIELD, self.visit.revision))
        if self.visit.modern and message is not None and "method" in message and "id" in message:
            self._mirror.learn(self.visit.items("tools"))
            mirrored = self._mirror.of(message["method"], message["params"], self.visit.revision)
            fields += [(name, value) for name, value in mirrored if name.lower() != VERSION_FIELD.lower()]
        return fields

    async def request(
        self, method: str, params: dict[str, Any] | None = None, *, more: Fields = (), without: str = "", **how: Any
    ) -> RecordedResponse:
        """Send a request. `more` overrides headers; `without` removes one."""
        message = self.new_request(method, params)
        fields = [pair for pair in _over(self.fields(message), more) if pair[0].lower() != without.lower()]
        return await self._send(message, fields, **how)

    async def notify(self, method: str, params: Any = None) -> RecordedResponse:
        """Send a notification."""
        message: dict[str, Any] = {"jsonrpc": "2.0", "method": method}
        if params is not None:
            message["params"] = params
        return await self.say(message)

    async def say(self, message: Any, **how: Any) -> RecordedResponse:
        """Send any JSON value."""
        fields = self.fields(message if type(message) is dict else None)
        return await self._send(message, fields, **how)

    async def _send(self, message: Any, fields: Fields, **how: Any) -> RecordedResponse:
        how["url"] = how.get("url") or self.url
        body = jsonrpc.encode(message)
        if how.get("own", True):
            fields = await self._with_login(fields)
        answer = await self.web.send(fields=fields, body=body, message=message, **how)
        session = answer.header(SESSION_FIELD)
        if session and session != self.session:
            self.visit.journal.redactor.add(session)
            self._strays.add(session)
        return answer

    async def listen(self, after: str = "", **how: Any) -> RecordedResponse:
        """Send a GET, which resumes the stream after the event id `after` if given."""
        fields = [pair for pair in self.fields() if pair not in (JSON, ACCEPT)]
        fields.append(("Accept", "text/event-stream"))
        if after:
            fields.append((RESUME_FIELD, after))
        return await self.web.send("GET", url=self.url, fields=await self._with_login(fields), **how)

    async def _with_login(self, fields: Fields) -> list[tuple[str, str]]:
        """The headers, with those of the login."""
        proof = await self.visit.token_fields()
        return _over(fields, proof) if proof else list(fields)

    # Requests that every server knows

    def harmless(self) -> str:
        """A request that every server of the revision can answer."""
        if self.visit.features.ping:
            return "ping"
        return next((_LISTS[name] for name in _LISTS if self.visit.can(name)), "server/discover")

    def nameless(self) -> tuple[str, dict[str, Any], str]:
        """A request that names something that does not exist: method, params, the name; empty if none is possible."""
        for capability, method, key in (
            ("tools", "tools/call", "name"),
            ("prompts", "prompts/get", "name"),
            ("resources", "resources/read", "uri"),
        ):
            if self.visit.can(capability):
                name = NOWHERE if key == "name" else f"inspector://{NOWHERE}"
                return method, {key: name}, name
        return "", {}, ""


@asynccontextmanager
async def raw_post(visit: Visit, capabilities: dict[str, Any] | None = None) -> AsyncIterator[RawPost]:
    """A `RawPost` with a session that is closed at the end. Raises `HttpError` if none can be opened."""
    made = RawPost(visit, capabilities)
    try:
        await made.begin()
        yield made
    finally:
        await made.end()


def _over(fields: Fields, winners: Fields) -> list[tuple[str, str]]:
    names = {name.lower() for name, _ in winners}
    return [pair for pair in fields if pair[0].lower() not in names] + list(winners)
