"""Servers that send without end: the memory of a command does not grow with what they send."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

import pytest

from tests.processes import environment

pytestmark = pytest.mark.slow

FLOOD = (sys.executable, "-S", "-E", str(Path(__file__).parents[1] / "servers" / "flood.py"))
MORE = 60
"""Megabytes above those of a quiet session."""
COUNTS = {"pings": 25_000, "elicitations": 25_000, "logs": 100_000, "progress": 30_000}
PROGRAM = """
import sys
from inspector.cli.main import run
code = run(sys.argv[1:])
(peak,) = [line.split()[1] for line in open("/proc/self/status") if line.startswith("VmHWM")]
sys.stdout.write(f"{peak}\\n")
sys.exit(code)
"""


@contextmanager
def flooding(form: str, kind: str) -> Iterator[list[str]]:
    """The target words of a server that floods its client during each call."""
    words = [*FLOOD, kind, "--count", str(COUNTS.get(kind, 0)), "--size", "20"]
    if form == "stdio":
        yield ["--", *words]
        return
    more = ["--sse"] if form == "sse" else []
    with subprocess.Popen([*words, "--http", "0", *more], stderr=subprocess.PIPE, text=True) as server:
        assert server.stderr is not None
        try:
            yield [server.stderr.readline().strip()]
        finally:
            server.kill()


def peak(home: Path, form: str, kind: str) -> int:
    """The megabytes that `inspector call` needs on such a server."""
    with flooding(form, kind) as target:
        transport = ["--transport", "sse"] if form == "sse" else []
        ran = subprocess.run(
            [sys.executable, "-c", PROGRAM, "call", "flood", "--timeout", "100", *transport, *target],
            env=environment(home),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=110,
            check=True,
        )
    said, kilobytes = ran.stdout.split()
    assert said == b"done"
    return int(kilobytes) >> 10


@pytest.fixture(scope="module")
def quiet(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], int]:
    """The megabytes that a call needs without a flood, by form."""
    return cache(lambda form: peak(tmp_path_factory.mktemp("quiet"), form, "none"))


@pytest.mark.parametrize("kind", COUNTS)
@pytest.mark.parametrize("form", ["stdio", "http", "sse"])
def test_a_flood_takes_bounded_memory(home: Path, quiet: Callable[[str], int], form: str, kind: str) -> None:
    assert peak(home, form, kind) < quiet(form) + MORE
