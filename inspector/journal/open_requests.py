"""The requests of a recording that may still be answered, and what later messages name them by."""

from __future__ import annotations

from collections import OrderedDict
from itertools import islice
from typing import Any

from inspector.journal.channels import ONE_REQUEST
from inspector.journal.format import Dir
from inspector.protocol.jsonrpc import id_key

_Waiting = dict[tuple[int, Any], int]
"""Requests by connection and id."""
_KEPT_WAITING = 1 << 15
"""Requests without an answer that are known, in each direction: a server may send any number of them."""
_KEPT_ANSWERED = 4096
_KEPT_CHANNELS = 4096
_SEND = Dir.SEND
_NOTHING: dict[int, None] = {}
_CALLS = frozenset(("tools/call", "prompts/get", "resources/read", "completion/complete"))


class OpenRequests:
    """Pairs answers, progress, cancellations and nested messages with requests of the same connection."""

    def __init__(self) -> None:
        self._waiting: tuple[_Waiting, ...] = tuple({} for _ in Dir)
        """By direction: the requests without an answer, oldest first."""
        self._answered: OrderedDict[tuple[int, int, Any], int] = OrderedDict()
        self._tokens: dict[tuple[int, Any], int] = {}
        self._token_of: dict[int, tuple[int, Any]] = {}
        self._calls: dict[int, dict[int, None]] = {}
        """By connection, the open calls."""
        self._channels: dict[tuple[int, str], int] = {}

    def __len__(self) -> int:
        return sum(map(len, self._waiting)) + len(self._tokens) + len(self._calls)

    def sent(self, n: int, conn: int, channel: str, message: dict[str, Any]) -> None:
        """Add a request of ours."""
        self.wait(n, _SEND, conn, message["id"])
        params = message.get("params")
        meta = params.get("_meta") if type(params) is dict else None
        token = id_key(meta.get("progressToken")) if type(meta) is dict else None
        if token is not None:
            self._tokens[conn, token] = n
            self._token_of[n] = conn, token
            if len(self._tokens) > 2 * _KEPT_WAITING:
                for old in list(islice(self._tokens, _KEPT_WAITING)):
                    del self._tokens[old]
        if message["method"] in _CALLS:
            self._calls.setdefault(conn, {})[n] = None
        if channel.startswith(ONE_REQUEST):
            self.bind_channel(channel, n, conn)

    def wait(self, n: int, dir: Dir, conn: int, id: Any) -> None:
        """Note that request `n` waits for an answer. Of very many in one direction, the oldest are forgotten."""
        waiting, key = self._waiting[dir], (conn, id_key(id))
        if key in waiting:
            self.end(waiting[key], conn)
        waiting[key] = n
        if len(waiting) > _KEPT_WAITING:
            for old in list(islice(waiting, _KEPT_WAITING // 2)):  # many at once: the first of a dict is slow to find
                self.end(waiting.pop(old), old[0])

    def is_waiting(self, conn: int, id: Any) -> bool:
        """Whether a request of ours with this id is open."""
        return (conn, id_key(id)) in self._waiting[_SEND]

    def answer(self, dir: Dir, conn: int, id: Any) -> tuple[int, bool]:
        """Return the request in this direction that is answered, 0 for none, and whether it was answered before."""
        id = id_key(id)
        key = (dir, conn, id)
        request = self._waiting[dir].pop((conn, id), 0)
        if not request:
            return self._answered.get(key, 0), True
        self._answered[key] = request
        if len(self._answered) > _KEPT_ANSWERED:
            self._answered.popitem(last=False)
        self.end(request, conn)
        return request, False

    def end(self, request: int, conn: int, *, keeps_token: bool = False) -> None:
        """Note that a request is over, or cannot be told from another one. Progress may come for one given up."""
        self._calls.get(conn, _NOTHING).pop(request, None)
        token = self._token_of.pop(request, None)
        if token is not None and not keeps_token:
            self._tokens.pop(token, None)

    def with_token(self, conn: int, token: Any) -> int:
        """Return the request that progress with this token is about; 0 if unknown."""
        return self._tokens.get((conn, id_key(token)), 0)

    def with_id(self, dir: Dir, conn: int, id: Any) -> int:
        """Return the open request in this direction with this id; 0 without one."""
        return self._waiting[dir].get((conn, id_key(id)), 0)

    def begin_connection(self, conn: int) -> None:
        """Note that a connection starts: calls of the one before get no more messages."""
        self._calls.pop(conn, None)

    def bind_channel(self, channel: str, n: int, conn: int = 0) -> None:
        """Bind the messages on `channel` to request `n` (a POST and its response stream)."""
        self._channels[conn, channel] = n
        if len(self._channels) > _KEPT_CHANNELS:
            del self._channels[next(iter(self._channels))]

    def of_channel(self, channel: str, conn: int) -> int:
        """Return the request that a channel is bound to; 0 without one."""
        return self._channels.get((conn, channel), 0)

    def around(self, channel: str, conn: int) -> int:
        """Return the request inside which a message from the server arrived, if that is certain; 0 if not."""
        if self._channels and (conn, channel) in self._channels:
            return self._channels[conn, channel]
        calls = self._calls.get(conn, _NOTHING)
        return next(iter(calls)) if len(calls) == 1 else 0

    def saved(self) -> dict[str, Any]:
        """Return its state as JSON values, for `load`."""
        return {
            "pending": [[dir, *key, n] for dir, waiting in enumerate(self._waiting) for key, n in waiting.items()],
            "answered": [[*key, n] for key, n in self._answered.items()],
            "tokens": [[*key, n] for key, n in self._tokens.items()],
            "tokens_of": [[n, *token] for n, token in self._token_of.items()],
            "calls": [[conn, list(calls)] for conn, calls in self._calls.items()],
            "channels": [[*key, n] for key, n in self._channels.items()],
        }

    def load(self, saved: dict[str, Any]) -> None:
        """Take what `saved` returned."""
        for dir, conn, key, n in saved["pending"]:
            self._waiting[dir][conn, key] = n
        self._answered.update(((dir, conn, key), n) for dir, conn, key, n in saved["answered"])
        self._tokens.update(((conn, token), n) for conn, token, n in saved["tokens"])
        self._token_of.update((n, (conn, token)) for n, conn, token in saved["tokens_of"])
        self._calls.update((conn, dict.fromkeys(calls)) for conn, calls in saved["calls"])
        self._channels.update(((conn, channel), n) for conn, channel, n in saved["channels"])
