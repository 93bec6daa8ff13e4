"""The program as a process with pipes and signals; its server must not outlive it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.cli.conftest import Script

pytestmark = pytest.mark.slow

INSPECTOR = [sys.executable, "-m", "inspector"]
ROOT = Path(__file__).parents[2]


def start(*words: str, **options: object) -> subprocess.Popen[bytes]:
    streams = {name: options.pop(name, subprocess.PIPE) for name in ("stdin", "stdout", "stderr")}
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    return subprocess.Popen([*INSPECTOR, *words], env=environment, **streams, **options)  # type: ignore[call-overload, no-any-return]


def is_alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_a_result_is_on_stdout_before_a_stubborn_server_is_ended(script: Script) -> None:
    server = script({"tools/list": {"result": {"tools": []}}, "linger": True})
    with start("tools", "--json", *server) as process:
        assert process.stdout is not None
        assert json.loads(process.stdout.readline()) == {"tools": []}
        assert process.poll() is None
        assert process.wait(10) == 0


@pytest.mark.parametrize(("number", "code"), [("SIGINT", 130), ("SIGTERM", 143), ("SIGHUP", 129)])
def test_a_signal_ends_the_server_too_and_tells_it_why(script: Script, tmp_path: Path, number: str, code: int) -> None:
    notice = {"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "info", "data": "working"}}
    server = script({"tools/call": {"before": [notice], "silent": True}, "linger": True})
    kept = tmp_path / "kept.mcp.jsonl"
    with start("call", "t", "--record", str(kept), *server) as process:
        assert process.stderr is not None
        assert process.stderr.readline() == b"info: working\n"
        process.send_signal(signal.Signals[number])
        out, err = process.communicate(timeout=60)
    assert (process.returncode, out, err) == (code, b"", b"")
    events = [json.loads(line) for line in kept.read_bytes().splitlines()]
    spawned = next(event for event in events if event.get("event") == "spawn")
    assert not is_alive(spawned["pid"])
    assert "notifications/cancelled" in kept.read_text()
    assert events[-1]["reason"] == "interrupted"


@pytest.mark.parametrize("words", [["check"], ["doctor"], ["rerun"], ["run", "flow.yaml"]], ids=lambda words: words[0])
def test_a_command_without_one_session_exits_with_the_number_of_the_signal(
    script: Script, tmp_path: Path, words: list[str]
) -> None:
    words = list(words)
    if words == ["rerun"]:
        words.append(str(ROOT / "recordings/kinds/auth.mcp.jsonl"))
    (tmp_path / "flow.yaml").write_text("inspector: 1\nsteps:\n  - call: t\n")
    started = tmp_path / "started"
    server = ["sh", "-c", f"touch {started}; exec sleep 60"]
    with start(*words, "--no-record", "--", *server, cwd=tmp_path) as process:
        while not started.exists():
            assert process.poll() is None, process.communicate()
            time.sleep(0.02)
        process.send_signal(signal.SIGHUP)
        process.communicate(timeout=60)
    assert process.returncode == 129


def test_a_reader_that_leaves_early_is_no_error(script: Script) -> None:
    tools = [{"name": f"tool-{n}", "description": "x" * 100} for n in range(2000)]
    with start("tools", *script(tools__list={"result": {"tools": tools}})) as process:
        assert process.stdout is not None
        process.stdout.readline()
        process.stdout.close()
        assert process.stderr is not None
        assert process.stderr.read() == b""
        assert process.wait(10) == 0


def test_a_full_disk_on_stdout_is_reported(script: Script) -> None:
    with (
        open("/dev/full", "wb") as full,
        start("tools", "--json", *script(tools__list={"result": {"tools": []}}), stdout=full) as process,
    ):
        _, err = process.communicate(timeout=60)
    assert process.returncode == 2
    assert "No space left" in json.loads(err)["error"]["message"]


@pytest.mark.parametrize("closed", [1, 2])
def test_streams_may_be_closed(script: Script, closed: int) -> None:
    command = [*INSPECTOR, "tools", *script(tools__list={"result": {"tools": []}})]
    shell = ["sh", "-c", f'exec "$@" {closed}>&-', "sh", *command]
    done = subprocess.run(shell, capture_output=True, timeout=60, env=os.environ | {"PYTHONPATH": str(ROOT)})
    assert done.returncode == 0
    assert b"Traceback" not in done.stderr


def test_ascii_is_all_that_an_ascii_terminal_gets(script: Script) -> None:
    server = script(tools__list={"result": {"tools": [{"name": "naïve →", "description": "“quoted” 日本 \x1b"}]}})
    environment = os.environ | {"PYTHONPATH": str(ROOT), "LC_ALL": "C", "PYTHONIOENCODING": "ascii"}
    done = subprocess.run([*INSPECTOR, "tools", *server], capture_output=True, timeout=60, env=environment)
    assert done.returncode == 0
    assert done.stdout == b"na\\xefve \\u2192  \\u201cquoted\\u201d \\u65e5\\u672c \\x1b\n"
    done = subprocess.run([*INSPECTOR, "tools", "--era", "“x”"], capture_output=True, timeout=60, env=environment)
    assert done.stderr.startswith(b'error: --era cannot be "')
    done = subprocess.run([*INSPECTOR, "tools", "--json", *server], capture_output=True, timeout=60, env=environment)
    assert json.loads(done.stdout)["tools"][0]["name"] == "naïve →"
