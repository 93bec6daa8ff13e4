"""What a recorded server told by itself, and after which words of the conversation each thing came.

Words are what the client sent, and the answers to it. What came between two of them without belonging to a request is
told again when a client has come as far: after the same word. A `subscriptions/listen` never ends by itself, so what
came on its stream counts as told by the server, too.
"""

from __future__ import annotations

import asyncio
from array import array
from bisect import bisect_left
from typing import Any

from inspector.journal import channels
from inspector.journal.format import Dir, Kind
from inspector.journal.journal import Journal
from inspector.journal.select import Query
from inspector.protocol.jsonrpc import Shape, id_key
from inspector.transports.recorded_play import SUBSCRIPTION_KEY

LISTEN = "subscriptions/listen"
_ACKNOWLEDGED = "notifications/subscriptions/acknowledged"
_ASKING = (Shape.REQUEST, Shape.NOTIFICATION)
_AT_ONCE = 1 << 14
"""Events looked at before others get their turn."""
_HEARD = Query(kind=(Kind.RPC, Kind.INVALID), dir=(Dir.SEND, Dir.RECV)) | Query(kind=Kind.STDERR, dir=Dir.RECV)
"""What the client sent, and what the server told."""
_SENT = Query(kind=Kind.RPC, dir=Dir.SEND)
_ACKNOWLEDGEMENTS = Query(method=_ACKNOWLEDGED)


class Timeline:
    """`after` says by the number of a word what came behind it; 0 stands for the beginning."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self.after: dict[int, array[int]] = {}
        self.listens: set[int] = set()
        """The `subscriptions/listen` requests that were not refused."""
        self.acknowledged: dict[int, int] = {}
        """By `subscriptions/listen`, the event that acknowledged it, which each one of now needs first."""
        self.notifications: dict[str, list[int]] = {}
        """What the client notified of, by method, in order."""
        self.senseless: list[int] = []
        """What the client sent that is no JSON-RPC message."""
        self.refusals: dict[int, int] = {}
        """By request, the error without an id that its POST was answered with."""
        self.told = 0
        self._posted: dict[str, int] = {}
        self._listens_by_id: dict[Any, list[int]] = {}

    async def read(self) -> None:
        """Look at every event once."""
        index = self._journal.index
        word = 0
        last = self._last_said()
        dropped = frozenset(index.dropped)
        for low in range(0, index.count, _AT_ONCE):
            if low:
                await asyncio.sleep(0)
            for n in _HEARD.each(index, low, low + _AT_ONCE):
                if n in dropped:
                    continue
                if index.dir(n) is Dir.SEND:
                    word = n
                    self._sent(n)
                    continue
                if index.method(n) == _ACKNOWLEDGED and self._acknowledges(n):
                    continue
                if self._ends_exchange(n):
                    word = n
                elif self._refuses(n):
                    self.refusals[self._posted[index.channel(n)]] = word = n
                elif self._stands_alone(n) and not (n > last and index.pair(n) in self.listens):
                    self.after.setdefault(word, array("I")).append(n)
                    self.told += 1

    def _sent(self, n: int) -> None:
        index = self._journal.index
        shape = index.shape(n)
        if shape == Shape.REQUEST:
            if index.method(n) == LISTEN and not self._refused(n):
                self.listens.add(n)
                self._listens_by_id.setdefault(index.id(n), []).append(n)
            if channels.is_post(index.channel(n)):
                self._posted[index.channel(n)] = n
        elif shape == Shape.NOTIFICATION:
            self.notifications.setdefault(self._journal.index.method(n), []).append(n)
        elif shape == Shape.NONE:
            self.senseless.append(n)

    def _acknowledges(self, n: int) -> bool:
        """Whether this is what begins a subscription, and is told with it."""
        listen = self.listen_of(n, subscription_of(self._journal.event(n).message))
        return bool(listen) and self.acknowledged.setdefault(listen, n) == n

    def _last_said(self) -> int:
        """The client's last word. A subscription that ended after it was ended by the end of the connection."""
        return _SENT.last(self._journal.index)

    def _refused(self, n: int) -> bool:
        """Whether a subscription was never open: it was answered with an error, and nothing acknowledged it."""
        index = self._journal.index
        answer = index.pair(n)
        if not answer or index.shape(answer) != Shape.ERROR:
            return False
        return not _ACKNOWLEDGEMENTS.first(index, n, answer - 1)

    def _ends_exchange(self, n: int) -> bool:
        """Whether this is the answer that a request of the client got."""
        index = self._journal.index
        request = index.pair(n)
        if not request or index.shape(n) in _ASKING or request in self.listens:
            return False
        return index.pair(request) == n

    def _refuses(self, n: int) -> bool:
        """Whether this answers a POST, and nothing that was asked by its id."""
        index = self._journal.index
        if index.shape(n) is not Shape.ERROR or index.pair(n):
            return False
        request = self._posted.get(index.channel(n), 0)
        return bool(request) and not index.pair(request) and request not in self.refusals

    def _stands_alone(self, n: int) -> bool:
        """Whether this is not played with the exchange of a request, because it belongs to none or came too late."""
        index = self._journal.index
        root = self._root_of(n)
        if not root or root == n or index.dir(root) is not Dir.SEND or root in self.listens:
            return True
        answer = index.pair(root)
        return bool(answer) and n > answer

    def _root_of(self, n: int) -> int:
        """The request in whose exchange event `n` stands, or 0."""
        index = self._journal.index
        return index.root_of(n) if index.kind(n) is Kind.RPC else index.parent(n)

    def listen_of(self, n: int, subscription: Any) -> int:
        """The `subscriptions/listen` on whose stream event `n` came: by its place, else by the id that it names."""
        root = self._root_of(n)
        if root in self.listens or subscription is None:
            return root if root in self.listens else 0
        named = self._listens_by_id.get(id_key(subscription), [])
        before = bisect_left(named, n)
        return named[before - 1] if before else 0


def subscription_of(message: Any) -> Any:
    """The id of the subscription that a notification or an answer names, or None."""
    for part in ("params", "result"):
        value = message.get(part) if type(message) is dict else None
        meta = value.get("_meta") if type(value) is dict else None
        if type(meta) is dict and id_key(meta.get(SUBSCRIPTION_KEY)) is not None:
            return meta[SUBSCRIPTION_KEY]
    return None
