"""A tap across transports: a client on one, its server on the other, message by message.

Messages are passed on as they were written. Differences of the bindings are translated: the end of a stream, headers,
cancellation; and if HTTP fails, a client on stdio gets an error for its request.
"""

from __future__ import annotations

import asyncio
import json
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import count
from typing import Any, NamedTuple

from inspector.client.bare_connection import BareConnection
from inspector.client.engine.connect import Connect, transport_for
from inspector.client.options import Options
from inspector.config.targets import HttpTarget, StdioTarget
from inspector.errors import ConnectionProblem, InspectorError, ServerError
from inspector.journal.journal import Frame, Journal
from inspector.protocol import jsonrpc
from inspector.protocol.exact_json.tokens import JsonSyntaxError, JsonToken, tokens, unquote
from inspector.protocol.jsonrpc import Shape, id_key
from inspector.serving.base import ClientMessage, Fields, Handler, Reply, RequestHead, ServedClient
from inspector.transports.base import Outgoing

_SUBSCRIPTION = "io.modelcontextprotocol/subscriptionId"
Path = tuple[str, ...]


class RenamedRequest(NamedTuple):
    """A request that the server knows under another name."""

    name: str
    """Its id and its progress token for the server."""
    id: Any
    """The client's id."""
    token: Any
    """The client's progress token, or None."""


def with_names(data: bytes, name: str) -> bytes:
    """Return a client's request with `name` as its id, and as its progress token if it has one."""
    return _with(data, {("id",): name, ("params", "_meta", "progressToken"): name})


def with_answer_for(data: bytes, renamed: RenamedRequest) -> bytes:
    """Return what the server sent for a renamed request, with the client's names."""
    name = renamed.name
    values: dict[Path, Any] = {("id",): renamed.id, ("params", "_meta", _SUBSCRIPTION): renamed.id}
    if renamed.token is not None:
        values["params", "progressToken"] = renamed.token
    return _with(data, values, only=name)


def _with(data: bytes, values: Mapping[Path, Any], only: str | None = None) -> bytes:
    """Return the text with other scalars at these places; with `only`, if that string is there now."""
    try:
        text = data.decode()
        places = [
            (start, end, values[path])
            for path, start, end in _scalars(text, max(map(len, values)))
            if path in values and (only is None or unquote(text[start:end]) == only)
        ]
    except (UnicodeDecodeError, JsonSyntaxError):
        return data
    for start, end, value in reversed(places):
        text = text[:start] + json.dumps(value, ensure_ascii=False) + text[end:]
    return text.encode("utf-8", "surrogatepass")


def _scalars(text: str, depth: int) -> Iterator[tuple[Path, int, int]]:
    """Yield scalars in objects within objects, at most `depth` levels: their keys, start, end."""
    keys: list[str] = []
    inside: list[bool] = []
    for token, start, end in tokens(text):
        if token is JsonToken.KEY:
            if len(inside) <= depth:
                keys[-1] = unquote(text[start:end])
        elif token is JsonToken.CLOSE:
            if inside.pop():
                keys.pop()
        elif token is JsonToken.SCALAR:
            if len(inside) <= depth and all(inside):
                yield tuple(keys), start, end
        else:
            inside.append(token is JsonToken.OBJECT)
            if token is JsonToken.OBJECT:
                keys.append("")


_FINISH = 1.0
"""Seconds for the answers to requests before stdin ended."""
_KEPT = 10_000


class Bridge:
    """Makes a handler for each client session, each with its own connection to the server."""

    def __init__(
        self,
        target: StdioTarget | HttpTarget,
        journal_of: Callable[[], Journal],
        options: Options | None = None,
        complain: Callable[[Sequence[bytes]], None] = lambda _lines: None,
        *,
        connect: Connect = transport_for,
        ended: Callable[[Journal], object] = lambda _journal: None,
    ) -> None:
        """`ended` is told of the recording of each session that is over."""
        self.target = target
        self.options = options or Options()
        self.complain = complain
        """Gets the lines of the server's stderr."""
        self.failed: InspectorError | None = None
        """Why the last connection ended, or could not be made."""
        self.connect = connect
        self.ended = ended
        self._journal_of = journal_of

    def opens(self, client: ServedClient) -> Handler:
        """Return the handler of a new client."""
        return _BridgedSession(self, client, self._journal_of())


class _BridgedSession:
    """One client session, and its connection to the server."""

    def __init__(self, bridge: Bridge, client: ServedClient, journal: Journal) -> None:
        self._bridge = bridge
        self._client = client
        self.journal = journal
        journal.exact_frames = True
        self._connection = BareConnection(bridge.target, journal, self, bridge.options, connect=bridge.connect)
        self._open: dict[Any, Reply] = {}
        """The replies of open requests, by the ids that the server knows."""
        self._renamed: dict[Any, RenamedRequest] = {}
        """By the same ids, the client's own names of renamed requests."""
        self._tokens: OrderedDict[Any, Any] = OrderedDict()
        """Progress token: the key of its request."""
        self._names = count(1)
        self._early: list[tuple[ClientMessage, Reply]] | None = []
        self._idle = asyncio.Event()
        self._idle.set()
        self._opening = asyncio.get_running_loop().create_task(self._begin())

    async def _begin(self) -> None:
        try:
            await self._connection.open()
        except InspectorError as error:
            self.on_lost(error)
            return
        early, self._early = self._early or [], None
        for arrived, reply in early:
            self.received(arrived, reply)

    # From the client

    def received(self, arrived: ClientMessage, reply: Reply) -> None:
        """Pass a message on."""
        if self._early is not None:
            self._early.append((arrived, reply))
            return
        key = id_key(arrived.message["id"]) if arrived.shape is Shape.REQUEST else None
        data = arrived.data
        if key is not None:
            token = _token_of(arrived.message)
            if self._client.transport == "http" and (key in self._open or self._in_use(token)):
                key, token, data = self._rename(key, token, data)
            self._open[key] = reply
            self._idle.clear()
            self._remember_token(key, token)
        try:
            message = arrived.message if data is arrived.data else None
            self._connection.send(data, passed_on(arrived.head), message)
        except ConnectionProblem as error:
            self._fail(key, error)
        if key is None:
            reply.end()

    def _in_use(self, token: Any) -> bool:
        return token is not None and self._tokens.get(token) in self._open

    def _rename(self, key: Any, token: Any, data: bytes) -> tuple[Any, Any, bytes]:
        """Rename a request whose id or token another client on the connection uses, with names made here."""
        name = next(name for n in self._names if (name := f"tap-{n}") not in self._open and name not in self._tokens)
        self._renamed[name] = RenamedRequest(name, key, token)
        return name, name if token is not None else None, with_names(data, name)

    def _remember_token(self, key: Any, token: Any) -> None:
        if token is not None:
            self._tokens[token] = key
            if len(self._tokens) > _KEPT:
                self._tokens.popitem(last=False)

    def left(self, reply: Reply) -> None:
        """Handle a closed stream of a request: in the modern era that cancels it, and stdio gets a notification."""
        key = next((key for key, known in self._open.items() if known is reply), None)
        if key is None or not self._connection.revision or not self._is_modern():
            return
        del self._open[key]
        self._renamed.pop(key, None)
        params = {"requestId": key, "reason": "the client closed the stream"}
        with suppress(ConnectionProblem):
            self._connection.send(jsonrpc.encode(jsonrpc.notification("notifications/cancelled", params)))

    def _is_modern(self) -> bool:
        from inspector.protocol.revisions import features

        return features(self._connection.revision).era == "modern"

    async def close(self, *, gone: bool) -> None:
        """Handle that the client has left; its open requests may still be answered."""
        if not gone:
            with suppress(TimeoutError):
                await asyncio.wait_for(self._idle.wait(), _FINISH)
        self._opening.cancel()
        await self._connection.close()
        self.journal.close("closed")
        self._bridge.ended(self.journal)
        self.journal.release()

    # From the server (the connection's listener)

    def on_received(self, messages: Sequence[bytes], frames: Sequence[Frame]) -> None:
        """Pass messages on to their requests; bytes that are not JSON are dropped over HTTP, and unchanged on stdio."""
        if self._client.transport == "stdio":
            for data in messages:
                self._client.push(data)
            for frame in frames:
                self._settle(frame.message)
            return
        # Not as in the recording, which has no secrets.
        readable = messages if len(messages) == len(frames) else [data for data in messages if _is_json(data)]
        for data, frame in zip(readable, frames, strict=True):
            self._route(data, frame.message)

    def _route(self, data: bytes, message: Any) -> None:
        key = self._belongs_to(message)
        reply = self._open.get(key)
        if reply is None:
            self._client.push(data)
            return
        renamed = self._renamed.get(key)
        reply.send(data if renamed is None else with_answer_for(data, renamed))
        if self._settle(message):
            reply.end()

    def _belongs_to(self, message: Any) -> Any:
        """Return the key of the request whose stream a message belongs to, or None."""
        shape = jsonrpc.shape_of(message)
        if shape in (Shape.RESULT, Shape.ERROR):
            return id_key(message.get("id"))
        params = message.get("params") if type(message) is dict else None
        if type(params) is dict:
            meta = params.get("_meta")
            if type(meta) is dict and _SUBSCRIPTION in meta:
                return id_key(meta[_SUBSCRIPTION])
            if message.get("method") == "notifications/progress":
                return self._tokens.get(id_key(params.get("progressToken")))
        # On stdio nothing assigns a log message or a server request to a request; if only one is open it is that.
        return next(iter(self._open)) if len(self._open) == 1 else None

    def _settle(self, message: Any) -> bool:
        """Whether a message ends its request."""
        if jsonrpc.shape_of(message) not in (Shape.RESULT, Shape.ERROR):
            return False
        ended = self._open.pop(id_key(message.get("id")), None) is not None
        self._renamed.pop(id_key(message.get("id")), None)
        if not self._open:
            self._idle.set()
        return ended

    def on_stderr(self, lines: Sequence[bytes]) -> None:
        """Pass on the server's stderr."""
        self._bridge.complain(lines)

    def on_failed(self, outgoing: Outgoing, error: InspectorError) -> None:
        """Answer a failed request with an error, instead of the server."""
        if isinstance(error, ConnectionProblem) and error.connecting:
            self._bridge.failed = error
        self._fail(id_key(outgoing.id), error)

    def _fail(self, key: Any, error: InspectorError) -> None:
        reply = self._open.pop(key, None)
        if reply is None:
            return
        renamed = self._renamed.pop(key, None)
        key = renamed.id if renamed is not None else key
        if isinstance(error, ServerError):
            code = error.rpc_code if type(error.rpc_code) is int else jsonrpc.INTERNAL_ERROR
            answer = jsonrpc.error(key, code, error.rpc_message, error.data)
        else:
            answer = jsonrpc.error(key, jsonrpc.INTERNAL_ERROR, f"The tap got no answer: {error.message}")
        self.journal.record_note(f"The tap answered a request instead of the server: {error.message}")
        if self._client.transport == "http":
            reply.begin("json")
        reply.send(jsonrpc.encode(answer))
        reply.end()
        if not self._open:
            self._idle.set()

    def on_lost(self, error: InspectorError) -> None:
        """Handle a lost server: all open requests fail, and the client's session ends."""
        self._bridge.failed = error
        self.journal.record_life("", "lost", error=error.as_json())
        early, self._early = self._early or [], None
        for arrived, reply in early:
            if arrived.shape is Shape.REQUEST and (key := id_key(arrived.message["id"])) is not None:
                self._open[key] = reply
            else:
                reply.end()
        for key in list(self._open):
            self._fail(key, error)
        self._client.drop()


_OF_ONE_CONNECTION = frozenset(
    """
    host connection keep-alive te trailer transfer-encoding upgrade expect proxy-authorization proxy-connection origin
    content-length content-type content-encoding accept accept-encoding last-event-id
    """.split()
)


def passed_on(head: RequestHead | None) -> Fields:
    """Return the headers of a client's request that the server gets too: credentials, and what else is not MCP's."""
    fields = () if head is None else head.fields
    return [
        (name, value)
        for name, value in fields
        if (key := name.lower()) not in _OF_ONE_CONNECTION and not key.startswith("mcp-")
    ]


def _is_json(data: bytes) -> bool:
    try:
        jsonrpc.parse(data)
    except jsonrpc.NotJson:
        return False
    return True


def _token_of(message: dict[str, Any]) -> Any:
    """Return the progress token of a request, as a key; None without one."""
    params = message.get("params")
    meta = params.get("_meta") if type(params) is dict else None
    return id_key(meta.get("progressToken")) if type(meta) is dict else None
