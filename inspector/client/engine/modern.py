"""The era of per-request metadata (2026-07-28): no handshake, no session, no server requests.

Source: specification 2026-07-28, "Base protocol" (`_meta`), "Versioning", "Multi Round-Trip Requests", "Subscriptions",
"Cancellation", "Streamable HTTP".
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Coroutine
from typing import Any, cast

from inspector.client.engine.engine import Engine
from inspector.client.engine.header_fields import HeaderFields
from inspector.client.engine.input_requests import InputRequests, InputUnavailable
from inspector.client.engine.legacy import on_cancelled, on_progress
from inspector.client.engine.pending_requests import Call, ContinuedCall, RpcResponse
from inspector.client.engine.subscription_stream import Listening
from inspector.client.engine.tasks import TaskPoller
from inspector.client.state.calls import server_error
from inspector.client.state.catalog import KINDS, ListName
from inspector.client.state.server import Server, discovered
from inspector.errors import HandshakeError, InputRefused, InspectorError, InvalidAnswer, NotOffered
from inspector.hints import Hint, Parameter
from inspector.journal.journal import Frame
from inspector.lazy_pattern import lazy_pattern
from inspector.protocol import jsonrpc
from inspector.protocol.extensions import TASKS
from inspector.protocol.headers import ANNOTATION
from inspector.protocol.jsonrpc import HEADER_MISMATCH, UNSUPPORTED_VERSION
from inspector.protocol.members import array_at, text_at, texts_at, value_at
from inspector.protocol.names import CAPABILITIES_KEY, CLIENT_KEY, VERSION_KEY
from inspector.protocol.revisions import MODERN, NEWEST_MODERN, Era, features

LOG_LEVEL_KEY = "io.modelcontextprotocol/logLevel"

MAX_ROUNDS = 10
"""Consecutive input rounds without a person, after which a call fails (C-MRTR-04)."""
MAX_ROUNDS_BY_HAND = 100
FIRST_PAUSE = 0.05
"""Seconds before the second retry without input; each further one waits twice as long."""
MAX_PAUSE_SECONDS = 5.0

WANTS_HANDSHAKE = lazy_pattern(
    r"initiali[sz]e is required|not (?:yet )?initiali[sz]ed|before initiali[sz]", re.IGNORECASE
)
"""What the error of a server says that serves a request only after the handshake of older revisions."""
_AS_BEFORE = Hint(
    "The server offers 2026-07-28, but wants the handshake of older revisions here. Try ",
    Parameter.ERA.to("legacy"),
    ".",
)
_CHANGED = {kind.changed for kind in KINDS.values()}


class ModernDriver:
    """Implements the modern era for a session."""

    era: Era = "modern"
    handled_notifications = frozenset(
        (
            "notifications/progress",
            "notifications/resources/updated",
            "notifications/cancelled",
            "notifications/subscriptions/acknowledged",
            "notifications/tasks",
            *_CHANGED,
        )
    )

    def __init__(self, engine: Engine, tasks: TaskPoller, revision: str = NEWEST_MODERN) -> None:
        self.engine = engine
        self.tasks = tasks
        self.listening = Listening(engine)
        self.log_level = engine.options.log_level
        self._over_http = engine.transport.name == "http"
        self._fields = HeaderFields(engine.state.refused_tools)
        self._asked: dict[Call, InputRequests] = {}
        """By call, the input requests that wait for answers."""
        self._speak(revision)

    def _speak(self, revision: str) -> None:
        """Set the revision; its metadata is the same for every request."""
        self.revision = revision
        capabilities = self.engine.options.capabilities(features(revision))
        self._accepts_tasks = TASKS in capabilities.get("extensions", ())
        """A result of an extension that we did not offer is not valid (C-EXT-04)."""
        self._meta = {
            VERSION_KEY: revision,
            CLIENT_KEY: self.engine.options.client.as_json(),
            CAPABILITIES_KEY: capabilities,
        }

    @property
    def lists_before_calls(self) -> bool:
        """Only the list says which arguments are repeated in HTTP headers (C-HTTP-33)."""
        return self._over_http

    # Opening

    async def open(self) -> Server:
        """Send `server/discover`; retry once with a revision that the server requires (C-MOD-03, C-MOD-04)."""
        for attempt in (1, 2):
            call = self.discover(f"d{attempt}")
            try:
                result = await call.result()
            except InspectorError as error:
                if attempt == 1 and self.corrected(error):
                    continue
                raise
            break
        return self.opened(result)

    def discover(self, id: str) -> Call:
        """Send `server/discover`. Its string id leaves the numeric ids to a later handshake."""
        return self.engine.start("server/discover", {}, progress=False, id=id)

    def corrected(self, error: InspectorError) -> bool:
        """Whether to resend the same request: the revision was changed, or the headers were rebuilt."""
        code = getattr(error, "rpc_code", None)
        if code == UNSUPPORTED_VERSION:
            usable = [name for name in supported(error) if name in MODERN]
            if usable:
                self._speak(max(usable))
            return bool(usable)
        return code == HEADER_MISMATCH and self._over_http

    def opened(self, result: Any) -> Server:
        """Process the response to `server/discover`. Raises `HandshakeError` without a common revision."""
        versions = versions_of(result)
        if versions and self.revision not in versions:
            usable = [name for name in versions if name in MODERN]
            if not usable:
                raise HandshakeError(
                    f"The server speaks {', '.join(versions[:10])}; Inspector speaks {', '.join(MODERN)} of that era.",
                    hint=Hint("Try ", Parameter.ERA.to("legacy"), "."),
                )
            self._speak(max(usable))
        self.engine.transport.agreed(self.revision, version_header=False, resumable=False, listen=False)
        return discovered(result, self.revision)

    # Requests

    def build_request(self, call: Call, *, progress: bool) -> tuple[dict[str, Any], tuple[tuple[str, str], ...]]:
        """Return a request with the required metadata (C-MOD-01, C-MOD-02); the user's own values take precedence."""
        params = call.params or {}
        meta: dict[str, Any] = dict(self._meta)
        if self.log_level and call.method != "server/discover":
            meta[LOG_LEVEL_KEY] = self.log_level
        theirs = params.get("_meta")
        if type(theirs) is dict:
            meta.update(theirs)
        if progress:
            call.token = meta.setdefault("progressToken", call.id)
        extra = call.outcome.extra if isinstance(call.outcome, ContinuedCall) else {}
        params = {**params, **extra, "_meta": meta}
        return jsonrpc.request(call.id, call.method, params), self.headers(call.method, params)

    def headers(self, method: str, params: dict[str, Any]) -> tuple[tuple[str, str], ...]:
        """Return the headers of a request over HTTP (C-HTTP-30, C-HTTP-31, C-HTTP-33)."""
        return self._fields.of(method, params, self.revision) if self._over_http else ()

    def took_page(self, name: ListName, n: int) -> None:
        """Update the headers that tools declare, and the tools that break the rules for them.

        The rules belong to the HTTP transport; on stdio the annotations have no effect (C-HTTP-34).
        """
        catalog_list = self.engine.state.catalog[name]
        if name != "tools" or not self._over_http:
            return
        if catalog_list.pages == 1:
            self._fields.forget()
        if ANNOTATION in self.engine.state.journal.event(n).text:
            self._fields.learn(catalog_list.items[catalog_list.newest :])

    def give_up(self, call: Call, reason: str) -> None:
        """Close the request's stream (C-HTTP-36), or send `notifications/cancelled` (C-STDIO-07).

        While the server waits for input no request is in flight: then only the questions are withdrawn.
        """
        asked = self._asked.get(call)
        if asked is not None:
            asked.withdraw()
        if not call.in_flight or self.engine.transport.close_stream(call.id):
            return
        self.engine.send(jsonrpc.notification("notifications/cancelled", {"requestId": call.id, "reason": reason}))

    # Answers

    def intercepts_response(self, call: Call, n: int, message: dict[str, Any]) -> Coroutine[Any, Any, Any] | None:
        """Continue a call that needs input, became a task, or can be corrected."""
        if message.get("error") is not None or "result" not in message:
            error = message.get("error")
            if self._correctable(call, error):
                return self._go_on(call, RpcResponse(n, message))
            if WANTS_HANDSHAKE.search(text_at(error, "message")):
                problem = server_error(error, call.method)
                problem.hint = _AS_BEFORE
                raise problem
            return None
        result = message["result"]
        kind = result.get("resultType") if type(result) is dict else None
        if kind == "complete" or kind is None:
            self.engine.state.cache.took(call.method, call.params, result)
            return None  # A missing resultType means complete (C-BASE-09); the rule checks report that it is missing.
        if kind == "task" and call.method == "tools/call" and self._accepts_tasks:
            return self.tasks.begin(call, n, result)
        if kind == "input_required":
            return self._go_on(call, RpcResponse(n, message))
        raise self._invalid(call, kind, n)

    async def _go_on(self, call: Call, response: RpcResponse) -> Any:
        """Resend the call until its response is final: corrected once, with input as often as required.

        All input rounds are counted, and the consecutive ones without a person: only those can loop for ever
        (C-MRTR-04).
        """
        rounds = idle = 0
        corrected = False
        while True:
            n, message, _ = response
            if message.get("error") is not None or "result" not in message:
                if corrected or not self._correctable(call, message.get("error")):
                    return response.result(call.method)
                corrected = True
                await self._correct(message["error"])
                response = await self.engine.exchange(call)
                continue
            result = message["result"]
            kind = result.get("resultType") if type(result) is dict else None
            if kind == "complete" or kind is None:
                self.engine.state.cache.took(call.method, call.params, result, fresh=not rounds)
                return result
            if kind == "task" and call.method == "tools/call" and self._accepts_tasks:
                return await self.tasks.begin(call, n, result)
            if kind != "input_required":
                raise self._invalid(call, kind, n)
            requests = self._requests(call, n, result, rounds)
            call.deadline.alive()
            responses, by_hand = await self._input(call, n, requests)
            rounds += 1
            idle = 0 if by_hand else idle + 1
            if idle > MAX_ROUNDS:
                raise self._no_input(call, f"it did so {MAX_ROUNDS} times in a row without a result", n)
            if not responses and idle >= 2:
                # Our pause is not the server's silence: a short timeout must not expire in it.
                await asyncio.sleep(min(FIRST_PAUSE * 2 ** (idle - 2), MAX_PAUSE_SECONDS, call.deadline.timeout / 2))
            extra = {"inputResponses": responses} if responses else {}
            if "requestState" in result:
                extra["requestState"] = result["requestState"]
            response = await self.engine.exchange(call, extra)

    def _correctable(self, call: Call, error: Any) -> bool:
        """Whether a refused request can be corrected and resent (C-HTTP-35, C-MOD-03)."""
        code = value_at(error, "code")
        if call.method == "server/discover":
            return False
        if code == HEADER_MISMATCH:
            return call.method == "tools/call" and self._over_http
        return code == UNSUPPORTED_VERSION and bool(_offered(error))

    async def _correct(self, error: dict[str, Any]) -> None:
        """Load the headers that tools declare, or switch to a revision that the server names."""
        if error["code"] == HEADER_MISMATCH:
            await self.engine.load("tools")
        else:
            self._speak(_offered(error)[-1])

    def _requests(self, call: Call, n: int, result: dict[str, Any], rounds: int) -> dict[str, Any]:
        """Return the input requests of a result. Raises `InputRefused` if they are not valid."""
        requests = result.get("inputRequests")
        if requests is None and "requestState" not in result:
            raise self._no_input(call, "it has neither inputRequests nor a requestState", n)
        if requests is not None and type(requests) is not dict:
            raise self._no_input(call, f"its inputRequests are {jsonrpc.excerpt(requests, 60)}, not an object", n)
        if rounds >= MAX_ROUNDS_BY_HAND:
            raise self._no_input(call, f"it did so {rounds} times, which is the limit", n)
        return requests or {}

    async def _input(self, call: Call, n: int, requests: dict[str, Any]) -> tuple[dict[str, Any], bool]:
        """Return the answers to the input requests of message `n`, and whether a person was asked."""
        if not requests:
            return {}, False
        asked = self._asked[call] = InputRequests(self.engine.state.inbox, features(self.revision), requests)
        asked.ask(n, call.n, self.engine.state.journal.index.time(n))
        try:
            return await asked.answers(), asked.by_hand
        except InputUnavailable as refused:
            raise self._no_input(call, refused.reason, n) from None
        finally:
            del self._asked[call]

    def _invalid(self, call: Call, kind: Any, n: int) -> InvalidAnswer:
        if kind == "task" and call.method == "tools/call":
            return InvalidAnswer(
                f"The server answered {call.method} with a task, but the client does not offer the extension {TASKS}.",
                hint=Hint("To accept tasks, offer it: ", Parameter.EXTENSION.to(TASKS), "."),
            )
        return InvalidAnswer(
            f"The response to {call.method} is not valid: the specification does not allow the resultType "
            f"{jsonrpc.excerpt(kind, 60)} there.",
            hint=self.engine.state.journal.shows(n),
        )

    def _no_input(self, call: Call, reason: str, n: int) -> InputRefused:
        what = f"{call.method} {call.name}".rstrip()
        return InputRefused(
            f"The server requires input for {what} and does not get it: {reason}.",
            hint=self.engine.state.journal.shows(n, "the input request"),
        )

    # Messages that the server sends on its own

    def on_request(self, frame: Frame, message: dict[str, Any]) -> None:
        """Ignore it: a server of this era must not send requests (C-MOD-11); the rule checks report it."""

    def on_notification(self, frame: Frame, message: dict[str, Any]) -> None:
        """Handle progress, subscription notifications and their end; the rest is only logged."""
        engine = self.engine
        method = message["method"]
        params = message.get("params")
        params = cast(dict[str, Any], params) if type(params) is dict else {}
        if method == "notifications/progress":
            on_progress(engine, frame, params)
        elif method in _CHANGED:
            engine.state.cache.changed(method)
            engine.lists_changed(method)
        elif method == "notifications/resources/updated":
            engine.state.cache.updated(params.get("uri"))
            engine.state.subscriptions.updated(params.get("uri"), frame.n)
        elif method == "notifications/subscriptions/acknowledged":
            self.listening.acknowledged(frame, params)
        elif method == "notifications/cancelled":
            self.listening.cancelled(params)
            on_cancelled(engine, frame, params)
        elif method == "notifications/tasks":
            self.tasks.updated(frame.n, params)

    # Settings of the user

    async def listen(self) -> None:
        """Subscribe to list changes, if the server offers any."""
        await self.listening.begin()

    async def set_log_level(self, level: str) -> None:
        """Request log messages of this level with each further request (C-LOG-02)."""
        self.log_level = level

    async def subscribe(self, uri: str) -> None:
        """Add the resource to the filter of the notification stream."""
        if not self.engine.state.server.can("resources", "subscribe"):
            raise NotOffered("The server does not offer resource subscriptions.")
        await self.listening.follow(uri)

    async def unsubscribe(self, uri: str) -> None:
        """Remove the resource from the filter."""
        await self.listening.unfollow(uri)

    def roots_changed(self) -> None:
        """Do nothing: the server requests roots when it needs them (C-MOD-11)."""


def _offered(error: dict[str, Any]) -> list[str]:
    """Return the revisions of this era, in order, that an error object lists as supported (C-MOD-03)."""
    names = array_at(error, "data", "supported")
    return [name for name in MODERN if name in names]


def supported(error: InspectorError) -> list[str]:
    """Return the revisions that an error lists as supported (C-MOD-03)."""
    return texts_at(getattr(error, "data", None), "supported")[:100]


def versions_of(result: Any) -> list[str]:
    """Return the `supportedVersions` of a response to `server/discover`; empty if it is not one."""
    return texts_at(result, "supportedVersions")[:100]
