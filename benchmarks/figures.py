"""The figures measured for each Python client, and their common command line:

    python clients/X.py FIGURE --server 'JSON argv' | --url URL [--era E] [--n N] [--flight K] [--way W] [--log]

A client is an async context manager that gives something with `call(arguments) -> text`, `tools() -> count` (of all
pages) and `seen` (notifications so far). One JSON line on stdout. If a figure is measured repeatedly, the best counts,
because other load on the machine can only make it worse. CPU time is the client's own, and the steadiest figure.
"""

import argparse
import asyncio
import json
import resource
import time

BURSTS = 5
MAX_LENGTH = 10.0
"""Seconds of bursts after which no other one is begun: some contestants need minutes for what others do in one."""


async def cold(client, words):
    """Connect and list: for a clock outside the process."""
    return {"tools": await client.tools()}


async def latency(client, words):
    """One call after the other: the median, in microseconds, and CPU microseconds a call."""
    for _ in range(200):
        await client.call({"text": "hello"})
    times = []
    cpu = time.process_time()
    for _ in range(words.n or 2000):
        start = time.perf_counter()
        await client.call({"text": "hello"})
        times.append(time.perf_counter() - start)
    cpu = time.process_time() - cpu
    times.sort()
    return {"p50_us": times[len(times) // 2] * 1e6, "cpu_us": cpu / len(times) * 1e6}


async def throughput(client, words):
    """Calls a second with `--flight` calls in flight."""
    left = 0

    async def work():
        nonlocal left
        while left > 0:
            left -= 1
            assert await client.call({"text": "hello"}) == "hello"

    async def many(count):
        nonlocal left
        left = count
        start, cpu = time.perf_counter(), time.process_time()
        await asyncio.gather(*(work() for _ in range(words.flight)))
        return rate(count, start, cpu)

    await many(words.flight * 3)
    return best_of([await many(words.n or 5000) for _ in range(BURSTS)])


def rate(count, start, cpu):
    """A second, and CPU microseconds for each, since these two readings of the clocks."""
    return {
        "per_s": count / (time.perf_counter() - start),
        "cpu_us": (time.process_time() - cpu) / count * 1e6,
    }


def best_of(bursts):
    return {"per_s": max(burst["per_s"] for burst in bursts), "cpu_us": min(burst["cpu_us"] for burst in bursts)}


async def notifications(client, words):
    """Notifications a second, from the call that brings them to the last of them."""
    count = words.n or 100_000
    await client.call({"text": "hello"})
    rates = []
    began = time.perf_counter()
    while len(rates) < BURSTS and time.perf_counter() - began < MAX_LENGTH:
        start, cpu = time.perf_counter(), time.process_time()
        await client.call({"notifications": count})
        while client.seen < count * (len(rates) + 1):  # noqa: ASYNC110 - the clients have nothing to wait for
            await asyncio.sleep(0.001)
        rates.append(rate(count, start, cpu))
    assert client.seen == count * len(rates), client.seen
    return best_of(rates) | {"seen": client.seen}


async def large(client, words):
    """One result of `--n` megabytes (50): seconds of CPU and of the clock."""
    megabytes = words.n or 50
    await client.call({"text": "hello"})
    wall, cpu = time.perf_counter(), time.process_time()
    text = await client.call({"megabytes": megabytes})
    figures = {"cpu_s": time.process_time() - cpu, "s": time.perf_counter() - wall}
    assert len(text) == megabytes * 1_000_000
    return figures


async def pages(client, words):
    """All pages of a long list: seconds of CPU and of the clock."""
    await client.call({"text": "hello"})
    best = {}
    for _ in range(BURSTS):
        wall, cpu = time.perf_counter(), time.process_time()
        total = await client.tools()
        timing = {"cpu_s": time.process_time() - cpu, "s": time.perf_counter() - wall}
        assert total == 10_000, total
        best = min(best or timing, timing, key=lambda figures: figures["cpu_s"])
    return best


async def connect(open_client, words):
    """From nothing to a connection that is agreed on: seconds, and CPU seconds of the client."""
    best = {}
    for _ in range(words.n or BURSTS):
        start, cpu = time.perf_counter(), time.process_time()
        async with open_client(words):
            timing = {"s": time.perf_counter() - start, "cpu_s": time.process_time() - cpu}
        best = min(best or timing, timing, key=lambda figures: figures["s"])
    return best


FIGURES = {made.__name__: made for made in (cold, latency, throughput, notifications, large, pages)}


def main(open_client):
    """`open_client(words)` gives the context manager."""
    parser = argparse.ArgumentParser()
    parser.add_argument("figure", choices=(*FIGURES, "connect"))
    parser.add_argument("--server", type=json.loads, help="argv of a stdio server")
    parser.add_argument("--url")
    parser.add_argument("--era", choices=("legacy", "modern", "auto"), default="legacy")
    parser.add_argument("--n", type=int, default=0)
    parser.add_argument("--flight", type=int, default=100)
    parser.add_argument("--way", default="", help="which of its ways to talk, for a client that has several")
    parser.add_argument("--log", action="store_true", help="keep and write every message, for a client that need not")
    words = parser.parse_args()

    async def run():
        if words.figure == "connect":
            return await connect(open_client, words)
        async with open_client(words) as client:
            return await FIGURES[words.figure](client, words)

    figures = asyncio.run(run())
    figures["rss_mb"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps(figures), flush=True)
