"""Which events of a connection a check has provoked deliberately: no rule applies to them.

A deliberately wrong message has the name of its check as `probe` in the recording. Only messages of its exchange are
excluded, and nothing else that the server sends, on any connection.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

from inspector.journal import channels
from inspector.journal.format import Dir, Event, Kind
from inspector.journal.index import Index, State
from inspector.protocol.jsonrpc import VERSION, Shape, id_key

LOG = "notifications/message"
_SENT = (Kind.RPC, Kind.INVALID, Kind.HTTP)
MAX_CHANNELS = 4096


class Probes:
    """The probes of one connection."""

    def __init__(self) -> None:
        self._requests: set[int] = set()
        """The numbers of the messages that were probes."""
        self._ids: Counter[Any] = Counter()
        """The number of times that they used each id."""
        self._channels: dict[str, bool] = {}
        """The channels of probes over HTTP, and whether the probe was a request, which has an id."""
        self._unreadable = False
        """A probe had an unreadable id, so its error has none."""
        self._unpaired: set[Any] = set()
        """Ids of probes that are not requests: the index does not pair them, but an error may have the id."""
        self._newest = 0
        """The newest probe whose effects may still come: no later correct request has a response yet."""

    def sent(self, event: Event, index: Index) -> None:
        """Record `event` if it is a message or head from the client."""
        if event.dir != Dir.SEND or event.kind not in _SENT:
            return
        own = channels.is_of_one_request(event.ch)
        shape = index.shape(event.n)
        if type(event.fields.get("probe")) is not str:
            if own and event.kind != Kind.HTTP:
                self._channels.pop(event.ch, None)
            return
        self._requests.add(event.n)
        self._newest = event.n
        if shape is Shape.REQUEST and event.message.get("jsonrpc") == VERSION:
            self._ids[id_key(event.message.get("id"))] += 1
        elif event.kind != Kind.HTTP and shape is not Shape.NOTIFICATION:
            self._unreadable = True
            if shape is not Shape.REQUEST and type(event.message) is dict and "id" in event.message:
                self._unpaired.add(id_key(event.message["id"]))
        if own:
            self._channels[event.ch] = shape is Shape.REQUEST
            if len(self._channels) > MAX_CHANNELS:
                del self._channels[next(iter(self._channels))]

    def provoked(self, event: Event, index: Index) -> bool:
        """Whether a probe has provoked an event of the server, or a local one."""
        if not self._requests or event.dir == Dir.SEND:
            return False
        n, request, shape = event.n, index.pair(event.n), index.shape(event.n)
        is_answer = shape in (Shape.RESULT, Shape.ERROR, Shape.BATCH)
        if is_answer and request > self._newest > 0 and request not in self._requests:
            self._newest = 0  # The status of a POST does not count: over HTTP+SSE, the response comes after it.
        during = index.parent(n)
        if index.method(n) == LOG and self._newest and not request and not 0 < during < self._newest:
            return True  # It may be about the probe: on a shared stream, nothing says to which message it belongs.
        if is_answer:
            return self._answers(event, index)
        if self._newest and event.kind == Kind.LIFE and channels.is_stdio(index.channel(event.fields.get("for") or n)):
            return True  # The probe may have ended the server, whatever else was open then.
        return event.ch in self._channels or (request or during) in self._requests

    def _answers(self, event: Event, index: Index) -> bool:
        request, message = index.pair(event.n), event.message
        id = message.get("id") if type(message) is dict else None
        if request:
            twice = index.state(event.n) == State.DOUBLED
            return request in self._requests and (not twice or self._ids[id_key(id)] > 1)
        by_channel = self._channels.get(event.ch)
        if id is None:
            return self._unreadable or by_channel is not None
        if index.shape(event.n) is Shape.ERROR and id_key(id) in self._unpaired:
            self._unpaired.discard(id_key(id))  # The second one is a duplicate response.
            return True
        return by_channel is False
