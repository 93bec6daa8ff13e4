"""What each Python client is measured for. A client is an async context manager with `call(arguments) -> text`,
`page(cursor) -> (count, next cursor)` and `seen` (notifications so far). One JSON line on stdout.

    python clients/X.py FIGURE --server 'JSON argv' | --url URL
"""

import argparse
import asyncio
import json
import resource
import time


def clocks():
    return time.perf_counter(), time.process_time()


async def cold(client, words):
    return {"tools": (await client.page(None))[0]}


async def latency(client, words):
    for _ in range(100):
        await client.call({"text": "hello"})
    times = []
    for _ in range(words.n or 2000):
        start = time.perf_counter()
        await client.call({"text": "hello"})
        times.append(time.perf_counter() - start)
    times.sort()
    return {"p50_us": times[len(times) // 2] * 1e6}


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
        await asyncio.gather(*(work() for _ in range(words.flight)))

    await many(words.flight * 3)
    count = words.n or 5000
    start = time.perf_counter()
    await many(count)
    return {"per_s": count / (time.perf_counter() - start)}


async def notifications(client, words):
    count = words.n or 100_000
    await client.call({"text": "hello"})
    start = time.perf_counter()
    await client.call({"notifications": count})
    while client.seen < count:
        await asyncio.sleep(0.001)
    return {"per_s": count / (time.perf_counter() - start), "seen": client.seen}


async def large(client, words):
    await client.call({"text": "hello"})
    wall, cpu = clocks()
    text = await client.call({"megabytes": 50})
    assert len(text) == 50_000_000
    return {"s": time.perf_counter() - wall, "cpu_s": time.process_time() - cpu}


async def pages(client, words):
    await client.call({"text": "hello"})
    wall, cpu = clocks()
    total, cursor = 0, None
    while True:
        count, cursor = await client.page(cursor)
        total += count
        if cursor is None:
            break
    assert total == 10_000, total
    return {"s": time.perf_counter() - wall, "cpu_s": time.process_time() - cpu}


FIGURES = {made.__name__: made for made in (cold, latency, throughput, notifications, large, pages)}


def main(open_client):
    """`open_client(argv or None, url or None)` gives the context manager."""
    parser = argparse.ArgumentParser()
    parser.add_argument("figure", choices=FIGURES)
    parser.add_argument("--server", type=json.loads)
    parser.add_argument("--url")
    parser.add_argument("--n", type=int, default=0)
    parser.add_argument("--flight", type=int, default=100)
    words = parser.parse_args()

    async def run():
        async with open_client(words.server, words.url) as client:
            return await FIGURES[words.figure](client, words)

    found = asyncio.run(run())
    found["rss_mb"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps(found), flush=True)
