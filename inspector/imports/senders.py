"""Who sent a message, where a file does not say: told by its method, and for an answer by the request it answers."""

from __future__ import annotations

from collections import OrderedDict
from typing import Any

from inspector.journal.format import Dir
from inspector.protocol.jsonrpc import Shape, id_key, shape_of

MOST_WAITING = 100_000
"""Requests without an answer that are remembered."""

_OF_SERVERS = frozenset((
    "sampling/createMessage", "elicitation/create", "roots/list", "notifications/message", "notifications/progress",
    "notifications/tools/list_changed", "notifications/prompts/list_changed", "notifications/resources/list_changed",
    "notifications/resources/updated", "notifications/elicitation/complete", "notifications/tasks/status",
    "notifications/subscriptions/acknowledged",
))  # fmt: skip
"""What only servers send, or nearly so: clients do report progress, but hardly ever."""


class Senders:
    """Follows the messages of one connection in their order."""

    def __init__(self) -> None:
        self._waiting: OrderedDict[tuple[Dir, Any], None] = OrderedDict()

    def of(self, message: Any, known: Dir | None = None) -> Dir:
        """The direction of the next message; `known` where the file says it."""
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
            if len(self._waiting) > MOST_WAITING:
                self._waiting.popitem(last=False)
        return dir

    def _answered(self, id: Any, known: Dir | None) -> Dir:
        """The direction of an answer: against that of the request; of two with the same id, the server's.

        A server asks while a request of the client waits, and is answered first.
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
