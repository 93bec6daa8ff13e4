"""A recording that reached its limit is said to be incomplete, whichever verb wrote it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from inspector.protocol.jsonrpc import encode
from tests.cli.conftest import Run
from tests.processes import ROOT, environment

pytestmark = pytest.mark.slow

DEMO = ("--", sys.executable, "-m", "inspector.demo", "--items", "0")
RECORDING = str(ROOT / "recordings" / "demo-tour.mcp.jsonl")
INCOMPLETE = "is incomplete: recording full: "
CALL = {"name": "big", "arguments": {"megabytes": 1}}


@pytest.fixture(autouse=True)
def limit(home: Path) -> None:
    (home / "settings.json").write_text(json.dumps({"max_recording_bytes": 100_000}))


def test_of_a_call(run: Run) -> None:
    ran = run("call", "big", "megabytes=1", *DEMO)
    assert ran.code == 0
    assert ran.err.startswith(f"warning: The recording {INCOMPLETE}")


def test_of_a_flow(run: Run, home: Path) -> None:
    flow = {"inspector": 1, "name": "Big", "steps": [{"call": "big", "args": {"megabytes": 1}}]}
    (home / "big.yaml").write_text(json.dumps(flow))
    ran = run("run", "big.yaml", "--keep", "kept", *DEMO)
    assert ran.code == 0
    assert f"warning: The recording big.mcp.jsonl {INCOMPLETE}" in ran.err


def test_of_a_check(run: Run) -> None:
    ran = run("check", "--record", "checked.mcp.jsonl", *DEMO)
    assert f"warning: The recording {INCOMPLETE}" in ran.err


def test_of_a_rerun(run: Run, home: Path) -> None:
    (home / "settings.json").write_text('{"max_recording_bytes": 10000}')
    ran = run("rerun", RECORDING, *DEMO)
    assert f"warning: The recording {INCOMPLETE}" in ran.err


def test_of_an_import(run: Run, home: Path) -> None:
    log = encode({"jsonrpc": "2.0", "method": "notifications/message", "params": {"data": '"' * 500}})
    (home / "messages.log").write_bytes((log + b"\n") * 300)
    ran = run("import", "messages.log", "-o", "imported.mcp.jsonl")
    assert ran.code == 0
    assert "note: The recording is not complete: recording full: " in ran.err
    assert (home / "imported.mcp.jsonl").stat().st_size < 100_500


def test_of_a_client_that_was_served(home: Path) -> None:
    hello = {"jsonrpc": "2.0", "id": 0, "method": "x", "params": {"data": "x" * 200_000}}
    command = [sys.executable, "-m", "inspector", "serve", "--record", "served.mcp.jsonl", RECORDING]
    ran = subprocess.run(
        command, input=encode(hello) + b"\n", capture_output=True, timeout=60, cwd=home, env=environment(home)
    )
    assert b"warning: The recording served.mcp.jsonl " + INCOMPLETE.encode() in ran.stderr


def test_of_a_tap(home: Path) -> None:
    command = [sys.executable, "-m", "inspector", "tap", "--record", "tapped.mcp.jsonl", *DEMO]
    hello = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "c", "version": "1"}}
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as tap:
        assert tap.stdin is not None
        assert tap.stdout is not None
        assert tap.stderr is not None
        for id, (method, params) in enumerate((("initialize", hello), ("tools/call", CALL))):
            tap.stdin.write(encode({"jsonrpc": "2.0", "id": id, "method": method, "params": params}) + b"\n")
            tap.stdin.flush()
            assert json.loads(tap.stdout.readline())["id"] == id
        tap.stdin.close()
        error = tap.stderr.read().decode()
    assert f"warning: The recording {INCOMPLETE}" in error
