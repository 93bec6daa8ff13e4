"""Files with the line ends of Windows, and a server that writes them, are read like others."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from tests.processes import DEMO, run

pytestmark = pytest.mark.slow

FLOW = """\
inspector: 1
steps:
  - call: echo
    args:
      message: |
        one
        two
    expect:
      result:
        $.structuredContent: {message: "one\\ntwo\\n"}
"""
SERVER = """\
import subprocess, sys, threading
demo = subprocess.Popen([sys.executable, "-m", "inspector.demo"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
def pass_on():
    for line in sys.stdin.buffer:
        demo.stdin.write(line)
        demo.stdin.flush()
    demo.stdin.close()
threading.Thread(target=pass_on, daemon=True).start()
for line in demo.stdout:
    sys.stdout.buffer.write(line.rstrip(b"\\n") + b"\\r\\n")
    sys.stdout.flush()
"""


def written(path: Path, text: str) -> str:
    """Write a file as an editor of Windows does, and return its path."""
    path.write_bytes(text.replace("\n", "\r\n").encode())
    return str(path)


def test_saved_calls_config_files_variables_and_recordings(tmp_path: Path) -> None:
    flow = written(tmp_path / "flow.yaml", FLOW)
    # How a step compares is not of interest here: only that the block of text has line feeds.
    ran = run(tmp_path, ["run", flow, "--json", *DEMO])
    assert "\\r" not in ran.out + ran.err
    entry = {"command": sys.executable, "args": ["-m", "inspector.demo"], "env": {"PYTHONPATH": "${PYTHONPATH}"}}
    config = written(tmp_path / "own.json", json.dumps({"servers": {"x": entry}}, indent=1))
    variables = written(tmp_path / "vars.env", 'A=1\n# remark\nB="x y"\n')
    recording = tmp_path / "x.mcp.jsonl"
    words = ["call", "add", "a=19", "b=23", "--config", config, "--env-file", variables, "--record", str(recording)]
    ran = run(tmp_path, [*words, "@x"])
    assert (ran.code, ran.out) == (0, '{"sum":42}\n'), ran.err
    written(recording, recording.read_text(encoding="utf-8"))
    ran = run(
        tmp_path, ["call", "add", "a=19", "b=23", "--", sys.executable, "-m", "inspector", "serve", str(recording)]
    )
    assert (ran.code, ran.out) == (0, '{"sum":42}\n'), ran.err


def test_a_server_that_ends_its_lines_as_windows_does(tmp_path: Path) -> None:
    server = written(tmp_path / "server.py", SERVER)
    ran = run(tmp_path, ["call", "add", "a=19", "b=23", "--", sys.executable, server])
    assert (ran.code, ran.out) == (0, '{"sum":42}\n'), ran.err
