"""`inspector serve`, as its user runs it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from inspector.cli.options import pace
from inspector.cli.parser import scan
from inspector.cli.serve_options import address, is_address, numbered
from inspector.errors import UsageError
from tests.cli.conftest import Run
from tests.cli.test_json_schemas import faults
from tests.processes import DEMO, INSPECTOR, ROOT, environment

TOUR = str(ROOT / "recordings" / "demo-tour.mcp.jsonl")
CLIENT = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
INITIALIZE = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": CLIENT}
ECHO = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "tools/call",
    "params": {"name": "echo", "arguments": {"message": "hello"}},
}
OTHER = {
    "jsonrpc": "2.0",
    "id": 2,
    "method": "tools/call",
    "params": {"name": "echo", "arguments": {"message": "other"}},
}
NOISY = {"jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": {"name": "noisy", "arguments": {"lines": 3}}}


class Served:
    """How a run went: what the client was sent, what was said on stderr."""

    def __init__(self, home: Path, words: list[str], messages: list[Any], **more: str) -> None:
        lines = "".join(f"{json.dumps(message)}\n" for message in messages).encode()
        ran = subprocess.run(
            [*INSPECTOR, "serve", *words], env=environment(home, **more), input=lines, capture_output=True, timeout=60
        )
        self.code = ran.returncode
        self.messages = [json.loads(line) for line in ran.stdout.splitlines()]
        self.by_id = {message.get("id"): message for message in self.messages}
        self.err = ran.stderr.decode()


@pytest.mark.slow
def test_messages_go_out_on_stdout_and_everything_else_on_stderr(home: Path) -> None:
    ran = Served(home, [TOUR], [INITIALIZE, ECHO, OTHER, NOISY])
    assert ran.code == 0
    assert ran.by_id[0]["result"]["serverInfo"]["name"] == "inspector-demo"
    assert ran.by_id[1]["result"]["content"][0]["text"] == "hello"
    assert ran.by_id[2]["error"]["code"] == -32000
    assert "warning: line 1\nwarning: line 2\nwarning: line 3\n" in ran.err
    assert "1 client, 4 requests: 3 answered from the recording; 1 missed." in ran.err
    assert "(nearest: event 14)" in ran.err
    assert "never requested: event 16 tools/call" in ran.err
    (kept,) = (home / "recordings").iterdir()
    assert f"recording: {kept}" in ran.err
    assert '"missed":"tools/call"' in kept.read_text()


def test_each_client_has_a_recording_of_its_own_unless_it_is_a_device() -> None:
    assert numbered(Path("x/a.mcp.jsonl"), 2) == Path("x/a.2.mcp.jsonl")
    assert numbered(Path("/dev/null"), 2) == Path("/dev/null")


@pytest.mark.slow
def test_strict_makes_a_miss_a_difference(home: Path) -> None:
    assert Served(home, [TOUR, "--strict", "--quiet"], [INITIALIZE, ECHO]).code == 0
    ran = Served(home, [TOUR, "--strict", "--quiet"], [INITIALIZE, OTHER])
    assert (ran.code, ran.err) == (5, "")


@pytest.mark.slow
def test_the_summary_is_one_json_document_where_stdout_belongs_to_the_client(home: Path) -> None:
    ran = Served(home, [TOUR, "--json", "--no-record"], [INITIALIZE, OTHER])
    assert len(ran.messages) == 2
    assert faults("serve", ran.err) == []
    summary = json.loads(ran.err)
    assert (summary["requests"], summary["missed"], summary["recordings"]) == (2, 1, [])
    assert not (home / "recordings").exists()


@pytest.mark.slow
def test_the_recording_goes_where_it_is_wanted(home: Path, tmp_path: Path) -> None:
    kept = tmp_path / "kept.mcp.jsonl"
    Served(home, [TOUR, "--record", str(kept)], [INITIALIZE, ECHO])
    ran = Served(home, [str(kept)], [INITIALIZE, ECHO])
    assert ran.by_id[1]["result"]["content"][0]["text"] == "hello"
    assert Served(home, [TOUR, "--record", str(kept)], [INITIALIZE]).code == 2


@pytest.mark.slow
def test_a_list_that_was_not_recorded_is_counted(home: Path, tmp_path: Path) -> None:
    kept = tmp_path / "part.mcp.jsonl"
    exported = [*INSPECTOR, "export", TOUR, "--filter", "method:initialize", "--to", "recording", "-o", str(kept)]
    subprocess.run(exported, env=environment(home), check=True, capture_output=True)
    ran = Served(home, [str(kept)], [INITIALIZE, {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}])
    assert ran.by_id[1]["result"]["tools"] == []
    assert "1 for a list that is not in it, answered with an empty one" in ran.err


@pytest.mark.slow
def test_what_is_missed_can_be_passed_on(home: Path) -> None:
    words = [*INSPECTOR, "serve", TOUR, "--on-miss", "passthrough", *DEMO]
    with subprocess.Popen(
        words, env=environment(home), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write("".join(f"{json.dumps(message)}\n" for message in (INITIALIZE, OTHER)).encode())
        process.stdin.flush()
        _, answer = (json.loads(process.stdout.readline()) for _ in range(2))
        _, err = process.communicate(timeout=60)
    assert (answer["id"], answer["result"]["content"][0]["text"]) == (2, "other")
    assert b"missed by client 1, passthrough: tools/call" in err


@pytest.mark.slow
def test_faults_are_reported_with_the_seed_that_makes_them_again(home: Path) -> None:
    ran = Served(home, [TOUR, "--fault", "error=-5@method:tools/call", "--seed", "7"], [INITIALIZE, ECHO])
    assert ran.by_id[1]["error"]["code"] == -5
    assert "faults: 1 error (--seed 7)" in ran.err


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (["no-such-file.mcp.jsonl"], "no-such-file"),
        ([str(ROOT / "README.md")], "is not a recording"),
        ([TOUR, "--on-miss", "passthrough"], "needs a target"),
        ([TOUR, "--on-miss", "error", "https://host.example/mcp"], "uses no target"),
        ([TOUR, "--fault", "explode"], "Unknown fault"),
        ([TOUR, "--pace", "0"], "is not a pace"),
        ([TOUR, "--match", "some"], "--match cannot be"),
        ([TOUR, "--http=x:y"], "is not an address"),
        ([TOUR, "--http", "99999"], "The port 99999 does not exist"),
        ([TOUR, "--sampling", "decline"], "--sampling"),
        ([TOUR, "--http", "192.0.2.1:0"], "Cannot listen"),
    ],
)
def test_what_cannot_be_done_is_said(home: Path, words: list[str], problem: str) -> None:
    ran = Served(home, words, [])
    assert ran.code == 2
    assert problem in ran.err
    assert "Traceback" not in ran.err


@pytest.mark.slow
def test_it_serves_over_http_until_it_is_interrupted(home: Path) -> None:
    words = [*INSPECTOR, "serve", TOUR, "--http", "--json"]
    process = subprocess.Popen(
        words, env=environment(home), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert process.stderr is not None
    try:
        line = process.stderr.readline().decode()
        assert line.startswith(f"serving {TOUR} on http://127.0.0.1:")
        call = [*INSPECTOR, "call", "echo", "message=hello", line.split()[-1]]
        ran = subprocess.run(call, env=environment(home), capture_output=True, timeout=60)
        assert ran.stdout == b"hello\n"
    finally:
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    assert process.returncode == 0
    summary = json.loads(out)
    assert (summary["misses"], summary["answered"]) == ([], 3)
    assert b"Traceback" not in err


@pytest.mark.slow
def test_a_client_that_goes_away_ends_it(home: Path) -> None:
    for number in (signal.SIGTERM, None):
        process = subprocess.Popen(
            [*INSPECTOR, "serve", TOUR], env=environment(home), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )  # fmt: skip
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(json.dumps(INITIALIZE).encode() + b"\n")
        process.stdin.flush()
        assert process.stdout.readline()
        if number is not None:
            process.send_signal(number)
        else:
            process.stdout.close()
            process.stdin.write(json.dumps(ECHO).encode() + b"\n")
            process.stdin.flush()
        assert process.wait(timeout=60) == 0
        process.stdin.close()


@pytest.mark.slow
def test_our_own_verbs_cannot_tell_it_from_the_server(home: Path) -> None:
    words = [*INSPECTOR, "tools", "--", *INSPECTOR, "serve", "--quiet", TOUR]
    ran = subprocess.run(words, env=environment(home), capture_output=True, timeout=60)
    assert ran.returncode == 0
    assert b"order-pizza" in ran.stdout


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("8000", ("127.0.0.1", 8000)),
        (":8000", ("127.0.0.1", 8000)),
        ("0.0.0.0:0", ("0.0.0.0", 0)),
        ("[::1]:8000", ("::1", 8000)),
        ("localhost", ("localhost", 0)),
        ("my-host.example:80", ("my-host.example", 80)),
    ],
)
def test_addresses_are_read(word: str, expected: tuple[str, int]) -> None:
    assert address(word) == expected


@pytest.mark.parametrize("word", ["", "a:b", ":", "http://x", "a b:1", "1:2:3", "-x:1", "::1:80"])
def test_what_is_not_an_address_is_refused(word: str) -> None:
    with pytest.raises(UsageError):
        address(word)


def test_the_value_of_http_may_be_left_out() -> None:
    assert is_address("8000")
    assert not is_address("session.mcp.jsonl")
    invocation = scan(["serve", "--http", "a.mcp.jsonl"])
    assert (invocation.option("http"), invocation.arguments["file"]) == (("127.0.0.1", 0), "a.mcp.jsonl")
    invocation = scan(["serve", "--http", "8000", "a.mcp.jsonl"])
    assert (invocation.option("http"), invocation.arguments["file"]) == (("127.0.0.1", 8000), "a.mcp.jsonl")
    invocation = scan(["serve", "a.mcp.jsonl", "--http=localhost", "--", "python", "8000"])
    assert (invocation.option("http"), invocation.target_words) == (("localhost", 0), ["python", "8000"])
    invocation = scan(["serve", "a.mcp.jsonl", "--http"])
    assert invocation.option("http") == ("127.0.0.1", 0)
    invocation = scan(["tap", "--listen", "https://h.example/mcp"])
    assert (invocation.option("listen"), invocation.target_words) == (("127.0.0.1", 0), ["https://h.example/mcp"])


def test_paces_are_read() -> None:
    assert [pace(word) for word in ("fast", "recorded", "2", "0.5")] == [None, 1.0, 2.0, 0.5]


@pytest.mark.slow
def test_stderr_that_cannot_be_written_ends_nothing(home: Path) -> None:
    words = [
        sys.executable,
        "-c",
        f"import os; os.close(2); os.execv({sys.executable!r}, {[*INSPECTOR, 'serve', TOUR]!r})",
    ]
    lines = "".join(f"{json.dumps(message)}\n" for message in (INITIALIZE, NOISY)).encode()
    ran = subprocess.run(words, env=environment(home), input=lines, stdout=subprocess.PIPE, timeout=60)
    assert [json.loads(line)["id"] for line in ran.stdout.splitlines()] == [0, 3]
    assert os.WEXITSTATUS(ran.returncode) == 0


@pytest.mark.parametrize("verb", [["serve", TOUR, "--http"], ["tap", "--listen", "0", "http://127.0.0.1:1/mcp"]])
@pytest.mark.parametrize("word", ["*", "null", "app.example", "https://app.example/page", ""])
def test_an_origin_is_a_scheme_and_a_host(run: Run, verb: list[str], word: str) -> None:
    ran = run(*verb, "--allow-origin", word)
    assert ran.code == 2
    assert f'"{word}" is not an origin.' in ran.err
