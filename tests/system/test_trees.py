"""No process of a server is left when it ends, when it does not answer, or when we are killed.

Each process holds a connection to the test: the system closes it when the process has ended, on every system.
"""

from __future__ import annotations

import asyncio
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from inspector.client.engine.wire import Wire
from inspector.journal.journal import Journal
from inspector.system.processes import ProcessTree, children, usage
from inspector.transports.stdio import StdioTransport

pytestmark = pytest.mark.slow

PATIENCE = 60
SERVER = """
import signal, socket, subprocess, sys, time
port = {port}
code = "import socket, time; s = socket.create_connection(('127.0.0.1', %d)); s.sendall(b'.'); print(flush=True); time.sleep(600)" % port
here = socket.create_connection(("127.0.0.1", port))
here.sendall(b".")
{early}
child = subprocess.Popen([sys.executable, "-S", "-c", code], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
child.stdout.readline()
{end}
"""
ENDS = {
    "ends when its input ends": ("", "sys.stdin.read()"),
    "crashed and left its child": ("", "sys.exit(3)"),
    "does not answer": ("", "time.sleep(600)"),
    "ignores signals": ("signal.signal(signal.SIGTERM, signal.SIG_IGN)", "time.sleep(600)"),
}


@pytest.fixture
def listener() -> Iterator[socket.socket]:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        listening.settimeout(PATIENCE)
        yield listening


def command(listener: socket.socket, end: str) -> list[str]:
    early, last = ENDS[end]
    code = SERVER.format(port=listener.getsockname()[1], early=early, end=last)
    return [sys.executable, "-S", "-c", code]


def accept(listener: socket.socket) -> list[socket.socket]:
    """The connections of the server and of its child, when both run."""
    both = [listener.accept()[0] for _ in range(2)]
    for connection in both:
        connection.settimeout(PATIENCE)
        assert connection.recv(1) == b"."
    return both


def assert_ended(connections: list[socket.socket]) -> None:
    """Wait until each process has ended."""
    for connection in connections:
        with connection:
            try:
                assert connection.recv(1) == b""
            except ConnectionResetError:
                pass


@pytest.mark.parametrize("end", ENDS)
async def test_nothing_is_left_when_we_end_a_server(listener: socket.socket, end: str) -> None:
    class Listener:
        def on_frame(self, frame: object) -> None: ...

        def on_lost(self, error: object) -> None: ...

    wire = Wire(Journal.unnamed({}), Listener(), lambda: None)
    transport = StdioTransport(command(listener, end), wire)
    await transport.start()
    connections = await asyncio.to_thread(accept, listener)
    await transport.close()
    await asyncio.to_thread(assert_ended, connections)


KILLED = """
import asyncio, sys
from inspector.transports.child import ServerProcess
async def main():
    process = ServerProcess({command!r}, {{**__import__("os").environ}}, None)
    await asyncio.sleep(600)
asyncio.run(main())
"""


@pytest.mark.parametrize("end", ["does not answer", "ignores signals"])
def test_nothing_is_left_when_we_are_killed(listener: socket.socket, end: str) -> None:
    program = [sys.executable, "-c", KILLED.format(command=command(listener, end))]
    with subprocess.Popen(program, stdin=subprocess.DEVNULL, cwd=Path(__file__).parents[2]) as ours:
        connections = accept(listener)
        ours.kill()
    assert_ended(connections)


async def test_a_tree_tells_how_many_processes_run_and_what_they_use(listener: socket.socket) -> None:
    tree = ProcessTree(command(listener, "does not answer"), sys.executable, dict(os.environ), None)
    try:
        connections = await asyncio.to_thread(accept, listener)
        assert tree.running() >= 2  # Windows also counts the host of their console.
        assert tree.status is None
        assert children(tree.pid)
        seconds, octets = usage(tree.pid) or (0.0, 0)
        assert seconds > 0
        assert octets > 1 << 20
        ended = asyncio.Event()
        tree.when_ended(ended.set)
        tree.kill()
        await asyncio.wait_for(ended.wait(), PATIENCE)
        until = time.monotonic() + PATIENCE
        while tree.running() and time.monotonic() < until:
            await asyncio.sleep(0.05)
        assert tree.running() == 0
        assert tree.status
        await asyncio.to_thread(assert_ended, connections)
    finally:
        tree.end()
