"""A recording that reached its limit is said to be incomplete, whichever verb wrote it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from inspector.protocol.jsonrpc import encode
from tests.cli.conftest import Run

pytestmark = pytest.mark.slow

DEMO = ("--", sys.executable, "-m", "inspector.demo", "--items", "0")
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
        said = tap.stderr.read().decode()
    assert f"warning: The recording {INCOMPLETE}" in said
