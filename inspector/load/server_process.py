"""CPU time and memory of the server's processes, read from /proc."""

from __future__ import annotations

import os
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

PROC = Path("/proc")
MAX_PROCESSES = 1000


class ServerProcess:
    """The processes that we started as servers, with their children. `read` them often; reading takes under 1 ms."""

    def __init__(self, proc: Path = PROC) -> None:
        self._proc = proc
        self._used: dict[int, float] = {}
        """CPU seconds of each process that was seen, also of those that have ended."""
        self._before: dict[int, float] = {}
        """CPU seconds of each process when it was seen first."""
        self.rss: int | None = None
        """Bytes of memory now; None where the system does not tell."""
        self.most_rss: int | None = None

    @property
    def cpu(self) -> float | None:
        """CPU seconds since the first `read`; None where the system does not tell."""
        return sum(self._used.values()) - sum(self._before.values()) if self._used else None

    def read(self, pids: Iterable[int]) -> None:
        """Read the processes `pids` and their children."""
        total = 0
        seen = False
        first = not self._used
        for pid in self._tree(pids):
            with suppress(OSError, ValueError, IndexError):
                fields = (self._proc / str(pid) / "stat").read_bytes().rpartition(b") ")[2].split()
                used = (int(fields[11]) + int(fields[12])) / _TICKS
                self._used[pid] = used
                # A process that starts later is counted from its start.
                self._before.setdefault(pid, used if first else 0.0)
                total += int(fields[21]) * _PAGE
                seen = True
        self.rss = total if seen else self.rss
        self.most_rss = max(total, self.most_rss or 0) if seen else self.most_rss

    def _tree(self, pids: Iterable[int]) -> list[int]:
        found = list(dict.fromkeys(pids))
        for pid in found:
            if len(found) >= MAX_PROCESSES:
                break
            with suppress(OSError, ValueError):
                children = (self._proc / str(pid) / "task" / str(pid) / "children").read_text().split()
                found.extend(child for child in map(int, children) if child not in found)
        return found


_TICKS = os.sysconf("SC_CLK_TCK") if hasattr(os, "sysconf") else 100
_PAGE = os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 4096
