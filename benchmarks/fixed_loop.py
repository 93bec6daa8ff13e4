"""A fixed piece of work in plain Python, which other times are divided by."""

import json
import time

RUNS, TIMES = 5, 5000
MESSAGE = {
    "jsonrpc": "2.0",
    "id": 1,
    "result": {"content": [{"type": "text", "text": "x" * 100}], "structuredContent": {"rows": list(range(50))}},
}


def once() -> float:
    """Seconds for messages that are encoded, parsed and counted."""
    counts: dict[int, int] = {}
    began = time.perf_counter()
    for number in range(TIMES):
        parsed = json.loads(json.dumps(MESSAGE | {"id": number}))
        for row in parsed["result"]["structuredContent"]["rows"]:
            counts[row] = counts.get(row, 0) + 1
    seconds = time.perf_counter() - began
    assert counts[49] == TIMES
    return seconds


if __name__ == "__main__":
    print(json.dumps({"s": min(once() for _ in range(RUNS))}))
