"""Whether a message is one that a correct client sends, as far as one connection can tell.

Other messages are probes: the server may reject them in ways that no other rule allows. The message itself decides,
not the check that sends it, so that a correct request always counts.
"""

from __future__ import annotations

from collections.abc import Set
from typing import Any

from inspector.protocol.jsonrpc import Shape, id_key, shape_of
from inspector.protocol.names import VERSION_KEY
from inspector.protocol.official_schemas import validate_message
from inspector.protocol.revisions import LEGACY, features


class CorrectClient:
    """The messages that a correct client may send next on one connection. It is given every message."""

    def __init__(self, revision: str, undeclared: Set[str] = frozenset()) -> None:
        """`undeclared`: methods of capabilities that the server does not declare, which no client then calls."""
        self.revision = revision
        self._undeclared = undeclared
        self._modern = features(revision).era == "modern"
        self._ids: set[Any] = set()
        """Ids of the client's requests."""
        self._questions: set[Any] = set()
        """Ids of the server's requests."""
        self._greeting: Any = None
        """The id of the initialize request."""
        self._greeted = False
        """Whether initialize got a result."""

    def allow(self, message: Any) -> bool:
        """Whether a correct client may send this now. None stands for bytes that are not JSON."""
        shape = shape_of(message)
        if shape is Shape.BATCH:
            # `all` would stop at the first one, but the others are sent too.
            return features(self.revision).batches and False not in [self._item(item) for item in message]
        return self._item(message)

    def _item(self, message: Any) -> bool:
        shape = shape_of(message)
        if shape in (Shape.RESULT, Shape.ERROR):
            return id_key(message.get("id")) in self._questions
        if shape is Shape.REQUEST:
            key = id_key(message["id"])
            known = key in self._ids
            self._ids.add(key)
            declared = message["method"] not in self._undeclared
            return declared and not known and self._in_order(message) and self._fits(message)
        return shape is Shape.NOTIFICATION and (self._modern or self._greeted) and self._fits(message)

    def _in_order(self, message: dict[str, Any]) -> bool:
        """Whether the request may come now: after initialize, or with all members that the modern era requires."""
        method, params = message["method"], message.get("params")
        params = params if type(params) is dict else {}
        if self._modern:
            meta = params.get("_meta")
            return type(meta) is dict and meta.get(VERSION_KEY) == self.revision
        if method == "initialize":
            first, self._greeting = self._greeting is None, id_key(message["id"])
            return first and params.get("protocolVersion") in LEGACY
        return self._greeted

    def _fits(self, message: dict[str, Any]) -> bool:
        return not validate_message(message, revision=self.revision, direction="send")

    def is_greeted(self) -> None:
        """Record that the handshake of the connection is complete: its session has made it."""
        self._greeted, self._greeting = True, object()

    def response(self, message: dict[str, Any]) -> None:
        """The server sent a request."""
        self._questions.add(id_key(message["id"]))

    def answered(self, message: dict[str, Any]) -> None:
        """The server sent a response."""
        if self._greeting is not None and id_key(message.get("id")) == self._greeting and "result" in message:
            self._greeted = True
