"""Whether a server over stdio is still starting: it has written nothing and uses the processor."""

from __future__ import annotations

import os
from contextlib import suppress

from inspector.client.session import Session
from inspector.journal.format import Dir, Kind
from inspector.transports.stdio import StdioTransport

_LEAST_TICKS = 5
"""Ticks of the processor's clock (a hundredth of a second each) between two looks that count as work."""


class Startup:
    """Looks at the process of a session that is being opened. `first` is its first event in the recording."""

    def __init__(self, session: Session, first: int) -> None:
        self._session = session
        self._first = first
        self._ticks = 0

    def is_going_on(self) -> bool:
        """Whether the server has written no byte so far and has used the processor since the last call."""
        before, self._ticks = self._ticks, self._used()
        return self._ticks - before >= _LEAST_TICKS and not self._has_written()

    def _has_written(self) -> bool:
        index = self._session.journal.index
        wrote = (Kind.RPC, Kind.INVALID, Kind.STDERR)
        return any(index.dir(n) == Dir.RECV and index.kind(n) in wrote for n in range(self._first, index.count + 1))

    def _used(self) -> int:
        """Ticks that the processes of the server's group have used; 0 if the system does not say."""
        transport = getattr(self._session, "transport", None)
        process = transport.process if isinstance(transport, StdioTransport) else None
        return 0 if process is None else _ticks_of(process.pid)


def _ticks_of(group: int) -> int:
    used = 0
    try:
        numbers = [name for name in os.listdir("/proc") if name.isdecimal()]
    except OSError:
        return 0
    for number in numbers:
        with suppress(OSError, ValueError, IndexError):
            with open(f"/proc/{number}/stat", "rb") as file:
                fields = file.read().rpartition(b") ")[2].split()
            if int(fields[2]) == group:
                used += int(fields[11]) + int(fields[12])  # utime and stime: fields 14 and 15 of proc(5).
    return used
