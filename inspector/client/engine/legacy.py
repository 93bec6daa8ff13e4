"""The legacy era (2024-11-05 to 2025-11-25): `initialize`, sessions, requests in both directions.

Source: specification, "Lifecycle", "Cancellation", "Progress", "Ping" of those revisions.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Coroutine
from typing import Any, cast

from inspector.client.engine.engine import Engine
from inspector.client.engine.input_requests import UrlElicitation, elicitations_of
from inspector.client.engine.pending_requests import Call
from inspector.client.engine.tasks import TaskPoller, asks_at_the_end
from inspector.client.inbox import TOPICS
from inspector.client.state.calls import Progress, server_error
from inspector.client.state.catalog import KINDS, ListName
from inspector.client.state.server import Server
from inspector.errors import HandshakeError, InvalidAnswer, NotOffered, ServerError
from inspector.hints import Hint, Parameter
from inspector.journal.findings import Finding
from inspector.journal.journal import Frame
from inspector.protocol import jsonrpc
from inspector.protocol.jsonrpc import UNSUPPORTED_VERSION
from inspector.protocol.members import object_at, texts_at
from inspector.protocol.revisions import FEATURES, LEGACY, MODERN, NEWEST_LEGACY, Era, features
from inspector.protocol.sampling import refusal

_CHANGED = {kind.changed for kind in KINDS.values()}


class LegacyDriver:
    """Implements the legacy era for a session."""

    era: Era = "legacy"
    handled_notifications = frozenset(
        (
            "notifications/progress",
            "notifications/resources/updated",
            "notifications/cancelled",
            "notifications/elicitation/complete",
            "notifications/tasks/status",
            *_CHANGED,
        )
    )

    def __init__(self, engine: Engine, tasks: TaskPoller) -> None:
        self.engine = engine
        self.tasks = tasks
        self._asked: deque[Any] = deque(maxlen=1000)
        """Ids of the server's latest requests."""
        self._visits: dict[Call, UrlElicitation] = {}

    @property
    def lists_before_calls(self) -> bool:
        """Only the list says which tools must be called as tasks (C-TOOL-06)."""
        return self.engine.state.tasks.offered

    async def open(self) -> Server:
        """Send `initialize`, choose the revision, send `notifications/initialized` (C-LIFE-01 … C-LIFE-06)."""
        engine = self.engine
        offered = engine.options.protocol or NEWEST_LEGACY
        call = self._initialize(offered)
        try:
            result = await call.result()
        except ServerError as error:
            named = _usable(_named(error, offered))
            if engine.options.protocol or not named:
                raise self._refused(error, offered) from error
            engine.state.journal.record_note(
                f"The server refused initialize at {offered}. The session uses {named[-1]}, which the error names.",
                Finding(
                    call.answer_n,
                    "LIFE-03",
                    "must",
                    f"initialize at {offered} got an error, not a result with another revision",
                ),
            )
            call = self._initialize(named[-1])
            try:
                result = await call.result()
            except ServerError as again:
                raise self._refused(again, named[-1]) from again
        if type(result) is not dict:
            raise HandshakeError(
                "The server's response to initialize is not a result object.",
                hint=self.engine.state.journal.shows(call.answer_n),
            )
        server = Server(result)
        if server.revision not in LEGACY:
            self._unknown_revision(server, call.answer_n)
        row = server.features
        engine.transport.agreed(
            server.revision, version_header=row.version_header, resumable=row.resumable, listen=True
        )
        engine.send(jsonrpc.notification("notifications/initialized"))
        await engine.transport.settled()
        return server

    def _initialize(self, offered: str) -> Call:
        options = self.engine.options
        return self.engine.start(
            "initialize",
            {
                "protocolVersion": offered,
                "capabilities": options.capabilities(features(offered)),
                "clientInfo": options.client.as_json(),
            },
            progress=False,
        )

    def _refused(self, error: ServerError, offered: str) -> HandshakeError:
        """Return the error with the server's message and the revisions that it supports (C-LIFE-06)."""
        names = _named(error, offered)
        usable = _usable(names)
        wants_modern = error.rpc_code == UNSUPPORTED_VERSION
        if names:
            hint = Hint(f"It supports: {', '.join(name[:40] for name in names[:10])}.")
            if usable:
                hint = Hint(hint, " Try ", Parameter.REVISION.to(usable[-1]), ".")
            wants_modern = not usable and any(name in MODERN for name in names)
        else:
            hint = Hint("See the server's stderr and the message log for the reason.")
        return HandshakeError(
            f"The server refused initialize at {offered}: {error.rpc_message} (error {error.rpc_code}).",
            hint=hint,
            wants_modern=wants_modern,
        )

    def _unknown_revision(self, server: Server, n: int) -> None:
        """Continue with an unknown revision by the newest rules, with a notice. Raises if it is missing."""
        if not server.revision:
            raise HandshakeError(
                "The server's response to initialize has no protocolVersion.",
                hint=f"{self.engine.state.journal.shows(n)} Check that the command starts an MCP server.",
            )
        self.engine.state.journal.record_note(
            f"The server chose revision “{server.revision[:60]}”, which is not one of {', '.join(LEGACY)}. The "
            f"session continues by the rules of {NEWEST_LEGACY}.",
            Finding(n, "LIFE-04", "must", f"unknown revision “{server.revision[:60]}” in the response to initialize"),
        )

    def build_request(self, call: Call, *, progress: bool) -> tuple[dict[str, Any], tuple[tuple[str, str], ...]]:
        """Return a request object; its id is its progress token, which is unique while it runs (C-PROG-01)."""
        params = call.params
        if progress:
            meta = (params or {}).get("_meta")
            kept = dict(meta) if type(meta) is dict else {}
            call.token = kept.setdefault("progressToken", call.id)
            params = {**(params or {}), "_meta": kept}
        return jsonrpc.request(call.id, call.method, params), ()

    def headers(self, method: str, params: dict[str, Any]) -> tuple[tuple[str, str], ...]:
        """This era repeats nothing in headers."""
        return ()

    def took_page(self, name: ListName, n: int) -> None:
        """This era does not depend on lists."""

    def give_up(self, call: Call, reason: str) -> None:
        """Send `notifications/cancelled`, on every transport (C-HTTP-18); never for `initialize` (C-LIFE-08)."""
        visits = self._visits.get(call)
        if visits is not None:
            visits.withdraw()
        if call.method not in ("initialize", "server/discover") and call.in_flight:
            self.engine.send(jsonrpc.notification("notifications/cancelled", {"requestId": call.id, "reason": reason}))

    def intercepts_response(self, call: Call, n: int, message: dict[str, Any]) -> Coroutine[Any, Any, Any] | None:
        """Continue a call that became a task, or that needs visits to URLs first (C-ELIC-05)."""
        error = message.get("error")
        if error is None:
            return self._as_task(call, n, message)
        if type(error) is not dict or error.get("code") != jsonrpc.URL_ELICITATION_REQUIRED:
            return None
        asked = elicitations_of(error)
        if not asked or not self.engine.state.server.features.elicitation_url:
            return None
        visits = self._visits[call] = UrlElicitation(self.engine, call, asked, server_error(error, call.method))
        visits.ask(n, self.engine.state.journal.index.time(n))
        return self._after_visits(call, visits)

    def _as_task(self, call: Call, n: int, message: dict[str, Any]) -> Coroutine[Any, Any, Any] | None:
        """Return the wait for the result of a task; None for a final response. Raises `InvalidAnswer`."""
        result = message.get("result")
        if call.params is not None and "task" in call.params and type(result) is dict and "task" in result:
            return self.tasks.begin(call, n, result["task"])
        if type(result) is dict and result.get("resultType") == "input_required":
            raise asks_at_the_end(call.method, n, self.engine)
        return None

    async def _after_visits(self, call: Call, visits: UrlElicitation) -> Any:
        """Resend the call after the URLs were visited, once; its second response is final or a task."""
        try:
            await visits.done()
        finally:
            self._visits.pop(call, None)
        response = await self.engine.exchange(call)
        task = self._as_task(call, response.n, response.message)
        return response.result(call.method) if task is None else await task

    def on_request(self, frame: Frame, message: dict[str, Any]) -> None:
        """Answer `ping` immediately (C-PING-01), add questions to the inbox, refuse the rest (C-LIFE-10)."""
        engine = self.engine
        id, method = message["id"], message["method"]
        if jsonrpc.id_key(id) is None:
            return  # A valid response needs a valid id (C-BASE-02); the rule checks report this one.
        self._asked.append(jsonrpc.id_key(id))
        if method == "ping":
            engine.send(jsonrpc.result(id, {}))
            return
        topic = TOPICS.get(method)
        standing = engine.state.inbox.standing
        if topic is None or getattr(standing, topic) is None:
            engine.send(jsonrpc.error(id, jsonrpc.METHOD_NOT_FOUND, f"Method not found: {method[:200]}"))
            return
        params, problem = object_at(message, "params"), ""
        declared = standing.capabilities(engine.state.server.features).get(topic, {})
        if topic == "elicitation":  # C-ELIC-06
            mode = params.get("mode", "form")
            if mode != "form" and (not isinstance(mode, str) or mode not in declared):
                problem = f"Mode not declared: {jsonrpc.excerpt(mode, 60)}"
        elif topic == "sampling" and (reason := refusal(params, tools="tools" in declared)):  # C-SAMP-03
            problem = f"Invalid params: {reason}"
        if problem:
            engine.send(jsonrpc.error(id, jsonrpc.INVALID_PARAMS, problem))
            return
        engine.state.inbox.ask(frame.n, id, topic, params, engine.state.journal.index.parent(frame.n), frame.t)

    def on_notification(self, frame: Frame, message: dict[str, Any]) -> None:
        """Handle progress, list changes, updates and cancellations; the rest is only logged."""
        engine = self.engine
        method = message["method"]
        params = message.get("params")
        params = cast(dict[str, Any], params) if type(params) is dict else {}
        if method == "notifications/progress":
            on_progress(engine, frame, params)
        elif method in _CHANGED:
            engine.lists_changed(method)
        elif method == "notifications/resources/updated":
            engine.state.subscriptions.updated(params.get("uri"), frame.n)
        elif method == "notifications/cancelled":
            engine.state.inbox.withdraw(params.get("requestId"))
            # Both sides number their requests on their own: this may be about the server's.
            if jsonrpc.id_key(params.get("requestId")) not in self._asked:
                on_cancelled(engine, frame, params)
        elif method == "notifications/tasks/status":
            self.tasks.updated(frame.n, params)
        elif method == "notifications/elicitation/complete":
            for visits in self._visits.values():
                visits.complete(params.get("elicitationId"))

    async def listen(self) -> None:
        """Do nothing: this era sends list changes without a subscription."""

    async def set_log_level(self, level: str) -> None:
        """Send `logging/setLevel` (C-LOG-01)."""
        if not self.engine.state.server.can("logging"):
            raise NotOffered("The server does not offer logging.", hint="Its log may be on stderr.")
        await self.engine.start("logging/setLevel", {"level": level}, progress=False).result()

    async def subscribe(self, uri: str) -> None:
        """Send `resources/subscribe` (C-RES-02)."""
        if not self.engine.state.server.can("resources", "subscribe"):
            raise NotOffered("The server does not offer resource subscriptions.")
        await self.engine.start("resources/subscribe", {"uri": uri}, progress=False).result()

    async def unsubscribe(self, uri: str) -> None:
        """Send `resources/unsubscribe`."""
        await self.engine.start("resources/unsubscribe", {"uri": uri}, progress=False).result()

    def roots_changed(self) -> None:
        """Send `notifications/roots/list_changed` (C-ROOT-01)."""
        if self.engine.state.inbox.standing.roots is not None:
            self.engine.send(jsonrpc.notification("notifications/roots/list_changed"))


def on_progress(engine: Engine, frame: Frame, params: dict[str, Any]) -> None:
    """Handle `notifications/progress`, in either era (C-PROG-02)."""
    call = engine.pending.by_token(params.get("progressToken"))
    if call is not None:
        count = call.progress.count + 1 if call.progress else 1
        call.progress = Progress(frame.n, frame.t, params, count)
        call.deadline.alive()
        engine.state.changes.bump("calls")


def on_cancelled(engine: Engine, frame: Frame, params: dict[str, Any]) -> None:
    """End the call that the server cancels, in either era. Only the client may cancel it, but no result will come."""
    call = engine.pending.get(params.get("requestId"))
    if call is None or not call.in_flight:
        return
    reason = params.get("reason")
    because = f": {jsonrpc.excerpt(reason, 200)}" if type(reason) is str and reason else ""
    error = InvalidAnswer(
        f"The server cancelled {call.method} {call.name}".rstrip() + f"{because}. Only the client may cancel it.",
        hint=engine.state.journal.shows(frame.n),
    )
    engine.state.journal.record_life("", "error", **{"for": call.n, "error": error.as_event()})
    engine.pending.fail(call, error)
    engine.transport.abandon(call.id)


def _named(error: ServerError, offered: str) -> list[str]:
    """Return what a refusal of `initialize` says that the server supports; some say it in the message only."""
    names = texts_at(error.data, "supported") or [name for name in FEATURES if name in error.rpc_message]
    return [name for name in names if name != offered]


def _usable(names: list[str]) -> list[str]:
    """Return the revisions of this era among the names, oldest first."""
    return [revision for revision in LEGACY if revision in names]
