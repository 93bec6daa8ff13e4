"""CPU time and memory of the server's processes; and our own CPU time."""

from __future__ import annotations

import time
from collections.abc import Iterable

from inspector.system.processes import children, usage

MAX_PROCESSES = 1000


class LoadedServer:
    """The processes that we started as servers, with their children. `read` them often; reading takes under 1 ms."""

    def __init__(self) -> None:
        self._used: dict[int, float] = {}
        """CPU seconds of each process that was seen, also of those that have ended."""
        self._before: dict[int, float] = {}
        """CPU seconds of each process when it was seen first."""
        self.rss: int | None = None
        """Bytes of memory now; None where the system does not tell."""
        self.most_rss: int | None = None
        self._latest: tuple[float, float | None] = (0.0, None)
        """When it was read last, and `cpu` then."""

    @property
    def cpu(self) -> float | None:
        """CPU seconds since the first `read`; None where the system does not tell."""
        return sum(self._used.values()) - sum(self._before.values()) if self._used else None

    def read(self, pids: Iterable[int], now: float = 0.0) -> float | None:
        """Read the processes `pids` and their children. Returns CPU seconds per second since the last `read`."""
        total = 0
        seen = False
        first = not self._used
        for pid in _tree(pids):
            measured = usage(pid)
            if measured is not None:
                used, memory = measured
                self._used[pid] = used
                # A process that starts later is counted from its start.
                self._before.setdefault(pid, used if first else 0.0)
                total += memory
                seen = True
        self.rss = total if seen else self.rss
        self.most_rss = max(total, self.most_rss or 0) if seen else self.most_rss
        (then, before), cpu = self._latest, self.cpu
        self._latest = now, cpu
        return (cpu - before) / (now - then) if cpu is not None and before is not None and now > then else None


def _tree(pids: Iterable[int]) -> list[int]:
    processes = list(dict.fromkeys(pids))
    for pid in processes:
        if len(processes) >= MAX_PROCESSES:
            break
        processes.extend(child for child in children(pid) if child not in processes)
    return processes


class OwnCpu:
    """The share of one core that this thread uses after the warm-up."""

    def __init__(self, warm_up: float) -> None:
        self._warm_up = warm_up
        self._since: tuple[float, float] | None = None

    def start_after_warm_up(self, now: float) -> None:
        """Begin to count if the warm-up is over."""
        if self._since is None and now >= self._warm_up:
            self._since = now, time.thread_time()

    def share(self, now: float) -> float:
        """CPU seconds per second until now; 0 in the warm-up."""
        if self._since is None:
            return 0.0
        since, used = self._since
        return (time.thread_time() - used) / max(now - since, 1e-3)
