"""The extra time of a call through a tap between client and server, over stdio:

    python clients/tapped.py --server 'JSON argv' --tap 'JSON argv' [--n N]

The client is two pipes and nothing else. Calls to the server and calls through the tap take turns, so that both meet
the same machine; the medians of both are printed, and their difference, in microseconds.
"""

import argparse
import json
import subprocess
import time
from statistics import median

INITIALIZE = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "raw", "version": "1"}}
TURN = 100
"""Calls before it is the other's turn."""


class Pipes:
    """A server on pipes; calls have ids of their own."""

    def __init__(self, command):
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )
        self.id = 0
        self.ask("initialize", INITIALIZE)

    def ask(self, method, params):
        self.id += 1
        line = json.dumps({"jsonrpc": "2.0", "id": self.id, "method": method, "params": params}).encode() + b"\n"
        start = time.perf_counter()
        self.process.stdin.write(line)
        self.process.stdin.flush()
        answer = self.process.stdout.readline()
        seconds = time.perf_counter() - start
        assert json.loads(answer)["id"] == self.id
        return seconds

    def turn(self):
        return [self.ask("tools/call", {"name": "echo", "arguments": {"text": "hello"}}) for _ in range(TURN)]

    def close(self):
        self.process.communicate()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--server", type=json.loads, required=True)
    parser.add_argument("--tap", type=json.loads, required=True)
    parser.add_argument("--n", type=int, default=4000)
    words = parser.parse_args()
    direct, tapped = Pipes(words.server), Pipes([*words.tap, *words.server])
    times = {direct: [], tapped: []}
    for pipes in (direct, tapped):
        pipes.turn()
    for _ in range(words.n // TURN):
        for pipes, seen in times.items():
            seen += pipes.turn()
    alone, through = (median(seen) * 1e6 for seen in times.values())
    for pipes in (direct, tapped):
        pipes.close()
    print(json.dumps({"p50_us": through, "direct_us": alone, "added_us": through - alone}))


main()
