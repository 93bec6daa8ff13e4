"""Wall time of one call: flows of five calls, and the same calls in a loop of the library.

`WHO SERVER --flows N [--shared]`: WHO is `flows` or `loop`, SERVER a JSON list. With --shared both use one session for
all, else one for each flow. Prints `call_us`, `cpu_us` (of this process), and `grown_mb`: the memory that the later
three quarters of the run add.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import json
import os
import shlex
import tempfile
import time
from pathlib import Path

CALLS = 5
_PAGE = os.sysconf("SC_PAGE_SIZE")


def resident_mb() -> float:
    """Memory of this process now."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * _PAGE / (1 << 20)


class Memory:
    """Reads the memory after a quarter of the flows, and at the end."""

    def __init__(self, flows: int) -> None:
        self.early = flows // 4
        self.count = 0
        self.first = 0.0

    def flow_ended(self, _: object = None) -> None:
        self.count += 1
        if self.count == self.early:
            self.first = resident_mb()

    def flow_began(self, _: object) -> None: ...
    def step_began(self, *_: object) -> None: ...
    def answer_compared(self, *_: object) -> None: ...
    def step_ended(self, *_: object) -> None: ...

    @property
    def grown(self) -> float:
        return resident_mb() - self.first


async def run_flows(command: list[str], count: int, shared: bool) -> dict[str, float]:
    from inspector.calls.collection import Collection
    from inspector.calls.collection_run import CollectionRun, RunOptions, SessionOpener
    from inspector.calls.variables import Secrets
    from inspector.check.judge.judge import Judge
    from inspector.client.options import Options
    from inspector.config.settings import Settings
    from inspector.config.targets import StdioTarget

    step = "  - call: echo\n    args: {message: hello}\n    expect: {result: {$.content: {items: 1}}}\n"
    with tempfile.TemporaryDirectory() as folder:
        for number in range(count):
            Path(folder, f"{number}.yaml").write_text(f"inspector: 1\nsteps:\n{step * CALLS}")
        kept = Path(folder, "kept")
        kept.mkdir()
        collection = Collection.read([folder])
        target = StdioTarget(tuple(command))
        opener = SessionOpener(lambda _: target, lambda _: Options(), Settings(), folder=kept, judge=Judge)
        memory = Memory(count)
        run = CollectionRun(
            collection.flows, opener, Secrets(), RunOptions(shared=shared, server=shlex.join(command)), memory
        )
        began, cpu = time.perf_counter(), time.process_time()
        result = await run.run()
        seconds, cpu = time.perf_counter() - began, time.process_time() - cpu
        assert result.exit_code == 0, result.flows[0].failure
        calls = count * CALLS
        return {"call_us": seconds / calls * 1e6, "cpu_us": cpu / calls * 1e6, "grown_mb": memory.grown}


async def run_loop(command: list[str], count: int, shared: bool) -> dict[str, float]:
    import inspector

    memory = Memory(count)
    with tempfile.TemporaryDirectory() as folder:
        began, cpu = time.perf_counter(), time.process_time()
        if shared:
            async with inspector.open(command, record=Path(folder, "all.mcp.jsonl")) as session:
                for _ in range(count):
                    for _ in range(CALLS):
                        await session.call_tool("echo", {"message": "hello"})
                    memory.flow_ended()
        else:
            for number in range(count):
                async with inspector.open(command, record=Path(folder, f"{number}.mcp.jsonl")) as session:
                    for _ in range(CALLS):
                        await session.call_tool("echo", {"message": "hello"})
                memory.flow_ended()
        seconds, cpu = time.perf_counter() - began, time.process_time() - cpu
    calls = count * CALLS
    return {"call_us": seconds / calls * 1e6, "cpu_us": cpu / calls * 1e6, "grown_mb": memory.grown}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("who", choices=("flows", "loop"))
    parser.add_argument("server", type=json.loads)
    parser.add_argument("--flows", type=int, default=200)
    parser.add_argument("--shared", action="store_true")
    arguments = parser.parse_args()
    gc.set_threshold(100_000, 20, 20)  # as `cli/main.py` does
    work = run_flows if arguments.who == "flows" else run_loop
    print(json.dumps(asyncio.run(work(arguments.server, arguments.flows, arguments.shared))))


if __name__ == "__main__":
    main()
