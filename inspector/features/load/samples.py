"""The slowest and the first failed exchanges of a run, kept as a recording that can be opened."""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from typing import NamedTuple

from inspector.journal.journal import Journal
from inspector.protocol.jsonrpc import NotJson, parse

SLOWEST, FAILED = 50, 50
"""Exchanges that are kept."""
MAX_SIZE = 1 << 20
"""Bytes of a message that is kept."""


class KeptExchange(NamedTuple):
    """An exchange, with seconds since the start of the run. Without a response, `fate` says what happened."""

    sent: float
    ended: float
    conn: int
    channel: str
    request: bytes
    response: bytes
    fate: str
    error: str


class ExchangeSample:
    """Keeps the slowest exchanges and the first failed ones: at most 100, whatever the number of calls."""

    def __init__(self) -> None:
        self._slowest: list[tuple[float, int, KeptExchange]] = []
        self._failed: list[KeptExchange] = []
        self._count = 0
        self.written = 0
        """Exchanges in the recording."""

    def wants(self, latency: float, *, failed: bool) -> bool:
        """Whether an exchange would be kept."""
        if failed and len(self._failed) < FAILED:
            return True
        return len(self._slowest) < SLOWEST or latency > self._slowest[0][0]

    def keep(self, latency: float, exchange: KeptExchange, *, failed: bool) -> None:
        """Keep an exchange that is wanted, instead of a faster one."""
        if len(exchange.request) + len(exchange.response) > MAX_SIZE:
            return
        if failed and len(self._failed) < FAILED:
            self._failed.append(exchange)
            return
        self._count += 1
        entry = (latency, self._count, exchange)
        if len(self._slowest) < SLOWEST:
            heapq.heappush(self._slowest, entry)
        else:
            heapq.heappushpop(self._slowest, entry)

    def write(self, journal: Journal, zero: int, conns: Sequence[int]) -> None:
        """Add the exchanges to a recording, as they were sent and answered.

        `zero` is the start of the run in microseconds of the recording; `conns` are the numbers of the connections.
        """
        kept = [*(exchange for _, _, exchange in self._slowest), *self._failed]
        steps = [(exchange.sent, 0, at) for at, exchange in enumerate(kept)]
        steps += [(exchange.ended, 1, at) for at, exchange in enumerate(kept)]
        numbers: dict[int, int] = {}
        for moment, is_end, at in sorted(steps):
            exchange = kept[at]
            journal.moment = zero + round(moment * 1e6)
            if not is_end:
                try:
                    message = parse(exchange.request)
                except NotJson:
                    message = None
                numbers[at] = journal.record_sent(
                    exchange.channel, exchange.request, message, conn=conns[exchange.conn]
                )
            elif exchange.response:
                journal.record_received(exchange.channel, [exchange.response], conn=conns[exchange.conn])
            else:
                journal.record_life(
                    "",
                    exchange.fate,
                    **{"for": numbers[at], "error": {"code": exchange.fate, "message": exchange.error}},
                )
        journal.moment = None
        self.written = len(kept)
