"""The sender of a message if the file does not name it, by its method or its request."""

from __future__ import annotations

from collections import OrderedDict
from typing import Any

from inspector.journal.format import Dir
from inspector.protocol.jsonrpc import Shape, id_key, shape_of

MAX_WAITING = 100_000
"""Maximum open requests that are tracked."""

_OF_SERVERS = frozenset(
    """
    sampling/createMessage elicitation/create roots/list notifications/message notifications/progress
    notifications/tools/list_changed notifications/prompts/list_changed notifications/resources/list_changed
    notifications/resources/updated notifications/elicitation/complete notifications/tasks/status
    notifications/subscriptions/acknowledged
    """.split()
)
"""Notifications that usually only servers send: clients may send progress too, but rarely do."""


class Senders:
    """Tracks the messages of one connection in order."""

    def __init__(self) -> None:
        self._waiting: OrderedDict[tuple[Dir, Any], None] = OrderedDict()

    def of(self, message: Any, known: Dir | None = None) -> Dir:
        """Return the direction of the next message; `known` if the file has it."""
        shape = shape_of(message)
        if shape is Shape.BATCH:
            found = [self.of(item, known) for item in message if type(item) is dict]
            return found[0] if found else Dir.RECV if known is None else known
        if shape in (Shape.RESULT, Shape.ERROR):
            return self._answered(id_key(message.get("id")), known)
        if shape not in (Shape.REQUEST, Shape.NOTIFICATION):
            return Dir.RECV if known is None else known
        dir = known
        if dir is None:
            dir = Dir.RECV if message["method"] in _OF_SERVERS else Dir.SEND
        if shape is Shape.REQUEST:
            self._waiting[dir, id_key(message["id"])] = None
            if len(self._waiting) > MAX_WAITING:
                self._waiting.popitem(last=False)
        return dir

    def _answered(self, id: Any, known: Dir | None) -> Dir:
        """Return the direction of a response: opposite to its request; of two with the same id, the server's.

        A server sends its request while one of the client is open, and is answered first.
        """
        if known is None:
            asked = Dir.SEND
            for key in ((Dir.RECV, id), (Dir.SEND, id)):
                if key in self._waiting:
                    asked = key[0]
                    break
            known = Dir.RECV if asked is Dir.SEND else Dir.SEND
        self._waiting.pop((Dir.SEND if known is Dir.RECV else Dir.RECV, id), None)
        return known
