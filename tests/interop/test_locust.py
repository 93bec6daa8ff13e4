"""The Locust file of `inspector load`: a master and two workers on this machine make the calls of the plan."""

from __future__ import annotations

import asyncio
import csv
import socket
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from inspector.features.load import echo_server
from tests.interop.peers import CACHE
from tests.processes import INSPECTOR, environment

LOCUST = CACHE / "python/locust/bin/locust"
RATE, SECONDS = 40, 10
pytestmark = pytest.mark.xdist_group("locust")


class CountingConnection(echo_server.EchoConnection):
    """The connection of an echo server that counts the calls."""

    calls = 0

    def data_received(self, data: bytes) -> None:
        CountingConnection.calls += data.count(b'"tools/call"')
        super().data_received(data)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


@pytest.fixture
def started() -> Iterator[ExitStack]:
    with ExitStack() as stack:
        yield stack


async def test_the_sums_of_two_workers_are_those_of_the_server(tmp_path: Path, started: ExitStack) -> None:
    loop = asyncio.get_running_loop()
    server = await loop.create_server(CountingConnection, "127.0.0.1", 0)
    url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/mcp"
    env = environment(tmp_path)
    plan = [*INSPECTOR, "load", "echo", "k:=1", "--rate", str(RATE), "--for", f"{SECONDS}s", "--locust", "plan.py", url]
    made = await asyncio.to_thread(subprocess.run, plan, cwd=tmp_path, env=env, capture_output=True, text=True)
    assert made.returncode == 0, made.stderr
    assert CountingConnection.calls == 0

    def start(*words: str) -> subprocess.Popen[bytes]:
        file = tmp_path / f"log-{len(list(tmp_path.glob('log-*')))}"
        log = started.enter_context(file.open("wb"))
        process = subprocess.Popen([LOCUST, "-f", "plan.py", *words], cwd=tmp_path, env=env, stdout=log, stderr=log)
        started.callback(process.kill)
        return process

    port = str(free_port())
    limits = ("--headless", "-u", str(RATE), "-r", str(RATE), "-t", f"{SECONDS}s", "--stop-timeout", "5")
    master = start(
        *limits, "--master", "--expect-workers", "2", "--csv", "sums", "--master-bind-host", "127.0.0.1",
        "--master-bind-port", port,
    )  # fmt: skip
    workers = [start("--worker", "--master-host", "127.0.0.1", "--master-port", port) for _ in range(2)]
    try:
        code = await asyncio.to_thread(master.wait, 90)
        await asyncio.gather(*(asyncio.to_thread(worker.wait, 30) for worker in workers))
    finally:
        server.close()
    logs = "\n".join(path.read_text() for path in sorted(tmp_path.glob("log-*")))
    assert code == 0, logs
    with (tmp_path / "sums_stats.csv").open() as file:
        rows = {row["Name"]: row for row in csv.DictReader(file)}
    sums = rows["echo"]
    assert sums["Type"] == "tools/call"
    assert int(sums["Failure Count"]) == 0, logs
    assert int(sums["Request Count"]) == CountingConnection.calls
    assert CountingConnection.calls == pytest.approx(RATE * SECONDS, rel=0.1)
