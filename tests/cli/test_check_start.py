"""`check --start`: a server that runs for the check, and no longer."""

from __future__ import annotations

import json
import shlex
import socket
import sys
from pathlib import Path

import pytest

from inspector.cli import main

pytestmark = pytest.mark.slow

DEMO = [sys.executable, "-m", "inspector.demo"]
QUICK = ("--only", "BASE-01", "--revision", "2025-11-25", "--no-record")


@pytest.fixture
def port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        number: int = listener.getsockname()[1]
        return number


def runs(pid: str) -> bool:
    """Whether a process runs; one that has ended and was not reaped by its parent yet does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def url(port: int) -> str:
    return f"http://127.0.0.1:{port}/mcp"


def check(start: str, port: int, *words: str) -> int:
    return main.run(["check", *QUICK, "--start", start, *words, url(port)])


def test_a_server_is_started_checked_and_ended(port: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    # The command is a shell that starts the server as its child: both have to end.
    pids = tmp_path / "pids"
    server = shlex.join([*DEMO, "--http", str(port)])
    start = shlex.join(["sh", "-c", f"{server} & echo $! $$ > {pids}; wait"])
    assert check(start, port, "--json", "--wait", "30") == 0
    assert json.loads(capsys.readouterr().out)["counts"]["pass"] == 1
    assert not [pid for pid in pids.read_text().split() if runs(pid)]


def test_the_output_of_a_command_that_dies_is_shown(port: int, capsys: pytest.CaptureFixture[str]) -> None:
    assert check(shlex.join(["sh", "-c", "echo no database >&2; exit 3"]), port) == 4
    error = capsys.readouterr().err
    assert "ended with exit code 3 before" in error
    assert "no database" in error


def test_the_command_gets_the_whole_environment(
    port: int, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SHOP_REGION", "north")
    assert check(shlex.join(["sh", "-c", "echo region $SHOP_REGION >&2; exit 3"]), port) == 4
    assert "region north" in capsys.readouterr().err


def test_a_command_that_never_answers_is_ended(port: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pid = tmp_path / "pid"
    start = shlex.join(["sh", "-c", f"echo starting; echo $$ > {pid}; exec sleep 600"])
    assert check(start, port, "--wait", "0.5") == 4
    error = capsys.readouterr().err
    assert "did not respond within 0.5 s" in error
    assert "starting" in error
    assert not runs(pid.read_text().strip())


def test_a_url_that_answers_already_is_a_usage_error(capsys: pytest.CaptureFixture[str]) -> None:
    import http.server
    import threading

    server = http.server.HTTPServer(("127.0.0.1", 0), http.server.BaseHTTPRequestHandler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        assert check("sleep 1", server.server_address[1]) == 2
    finally:
        server.shutdown()
        server.server_close()
    assert "responds before --start has started the server" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "code", "says"),
    [
        (["--start", "x 'y", "http://127.0.0.1:9/mcp"], 2, "quotes in --start are not closed"),
        (["--start", "", "http://127.0.0.1:9/mcp"], 2, "quotes in --start are not closed"),
        (["--start", "/nowhere/at-all", "http://127.0.0.1:9/mcp"], 4, "was not found"),
        (["--start", "x", "--", "python", "server.py"], 2, "needs a URL"),
        (["--wait", "3", "http://127.0.0.1:9/mcp"], 2, "--wait needs --start"),
    ],
)
def test_what_does_not_fit(words: list[str], code: int, says: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main.run(["check", *words]) == code
    assert says in capsys.readouterr().err
