"""The interface draws for another process, and ends with it; how that process starts it."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO

import pytest

from inspector.cli.parser import scan
from inspector.cli.verbs.open import WEB_DRIVER
from inspector.errors import UsageError
from inspector.features.web.program import Program, Size, environment
from inspector.features.web.verb import command_of, port
from tests.processes import DEMO, INSPECTOR, left_of
from tests.processes import environment as shell


@pytest.fixture
def errors() -> Iterator[IO[bytes]]:
    """The file for stderr."""
    with TemporaryFile() as file:
        yield file


def in_browser(home: Path) -> dict[str, str]:
    return environment(shell(home), dict([WEB_DRIVER]), Size(120, 40))


@pytest.mark.slow
async def test_what_is_drawn_comes_in_packets_and_the_process_quits(tmp_path: Path, errors: IO[bytes]) -> None:
    program = await Program.start([*INSPECTOR, *DEMO], in_browser(tmp_path), errors)
    drawn = ""
    async for frame in program.frames():
        drawn += frame.decode()
        if "connected" in drawn:
            program.tell("resize", **Size(60, 20)._asdict())
            program.type("q")
    assert "Demo server" in drawn
    assert await program.ended() == ""


@pytest.mark.slow
@pytest.mark.parametrize("both", [False, True])
def test_the_interface_ends_with_the_process_that_shows_it(tmp_path: Path, both: bool) -> None:
    process = subprocess.Popen(
        [*INSPECTOR, *DEMO], env=in_browser(tmp_path), start_new_session=True,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    assert process.stdin is not None
    assert process.stdout is not None
    assert process.stderr is not None
    drawn = b""
    while b"connected" not in drawn:
        data = os.read(process.stdout.fileno(), 1 << 16)
        assert data, process.stderr.read()
        drawn += data
    if both:
        process.stdout.close()
    process.stdin.close()
    assert process.stderr.read() == b""
    assert process.wait(20) == 0
    assert left_of(process.pid) == []


@pytest.mark.slow
async def test_a_process_that_does_not_quit_is_killed(errors: IO[bytes], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("inspector.features.web.program.QUIT_SECONDS", 0.01)
    program = await Program.start([sys.executable, "-c", "import time; time.sleep(60)"], os.environ, errors)
    reading = asyncio.create_task(anext(program.frames(), b""))
    await program.end()
    assert await reading == b""
    assert (await program.ended()).startswith("exit code ")


@pytest.mark.slow
async def test_the_end_of_stderr_tells_why_it_ended(errors: IO[bytes]) -> None:
    code = "import sys; sys.stderr.write('x' * 5000 + '\\x1b[31mwhy'); sys.exit(3)"
    program = await Program.start([sys.executable, "-c", code], os.environ, errors)
    assert [frame async for frame in program.frames()] == []
    reason = await program.ended()
    assert reason.endswith("x␛[31mwhy")
    assert len(reason) == 4000


@pytest.mark.slow
async def test_a_program_that_it_started_does_not_hold_up_its_end(errors: IO[bytes]) -> None:
    code = """import subprocess, sys
subprocess.Popen([sys.executable, "-c", "input()"], stdin=0, stdout=subprocess.DEVNULL)
sys.exit(3)"""
    program = await Program.start([sys.executable, "-c", code], os.environ, errors)
    assert [frame async for frame in program.frames()] == []
    assert await asyncio.wait_for(program.ended(), 10) == "exit code 3"
    await program.end()


@pytest.mark.parametrize(
    ("value", "size"),
    [
        ({"width": float("inf"), "height": float("nan")}, (80, 24)),
        ({"width": "61", "height": "20"}, (61, 20)),
        ({"width": 0, "height": 10**9}, (1, 1000)),
        ({"width": "x", "height": 20}, (80, 24)),
        ({"width": None, "height": []}, (80, 24)),
        ({}, (80, 24)),
    ],
)
def test_a_size_is_within_bounds(value: dict[str, object], size: tuple[int, int]) -> None:
    assert Size.read(value) == size


def test_the_terminal_of_the_shell_says_nothing_about_the_page() -> None:
    ours = {"PATH": "/bin", "TMUX": "x", "TERM": "dumb", "NO_COLOR": "1", "LANG": "C", "COLUMNS": "10"}
    got = environment(ours, dict([WEB_DRIVER]), Size(120, 40))
    assert "TMUX" not in got
    assert (got["PATH"], got["NO_COLOR"], got["TERM"]) == ("/bin", "1", "xterm-256color")
    assert (got["COLUMNS"], got["ROWS"], got["LC_ALL"]) == ("120", "40", "C.UTF-8")
    assert "LC_ALL" not in environment({"LANG": "de_DE.UTF-8"}, {}, Size())


@pytest.mark.parametrize(
    ("words", "passed"),
    [
        (["--port", "8000"], []),
        (["--", "python", "x.py", "--port", "1"], ["--", "python", "x.py", "--port", "1"]),
        (["--era", "modern", "https://a.example/mcp"], ["--era=modern", "https://a.example/mcp"]),
        (
            ["--env", "A=1", "--env", "B=2", "--no-record", "python"],
            ["--env=A=1", "--env=B=2", "--no-record", "python"],
        ),
        (["demo"], ["--", "demo"]),
        (["@a", "@b", "--yes"], ["--yes", "@a", "@b"]),
    ],
)
def test_the_interface_gets_the_options_and_the_target(words: list[str], passed: list[str]) -> None:
    command = command_of(scan(["web", *words]))
    assert command == [sys.executable, "-P", "-m", "inspector", *passed]
    assert scan(passed).target_words == scan(["web", *words]).target_words


@pytest.mark.parametrize("word", ["", "x", "-1", "65536", "99999999999999999999", "٣"])
def test_a_port_is_a_number(word: str) -> None:
    with pytest.raises(UsageError, match="not a port"):
        port(word)
