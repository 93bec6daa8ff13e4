"""`inspector load`: its arguments, its report, and its exit codes, on a server that answers at once."""

from __future__ import annotations

import asyncio
import json
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest

import inspector
from inspector.features.load import echo_server
from tests.cli.conftest import Run
from tests.processes import INSPECTOR, environment

pytestmark = pytest.mark.slow

SERVER = ("--", sys.executable, "-I", echo_server.__file__, "stdio")
SHORT = ("--for", "0.4s", "--warmup", "0.1s", "--rate", "50")


@pytest.fixture(autouse=True)
def short_floor(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("inspector.features.load.floor.SECONDS", 0.25)


def test_a_report_as_json_and_reports_in_files(run: Run, tmp_path: Path) -> None:
    page, cases = tmp_path / "load.html", tmp_path / "load.xml"
    ran = run(
        "load", "echo", "k:=1", *SHORT, "--fail-on", "p99>1us", "--fail-on", "errors>1%", "--json", "--html", str(page),
        "--junit", str(cases), *SERVER,
    )  # fmt: skip
    assert ran.code == 5
    document: dict[str, Any] = ran.json
    assert document["sent"] == document["done"] == 15
    assert document["plan"]["calls"] == [{"tool": "echo", "arguments": {"k": 1}, "weight": 1}]
    assert document["floor"]["p50"] > 0
    assert [condition["holds"] for condition in document["conditions"]] == [True, False]
    assert "<svg" in page.read_text()
    assert 'failures="1"' in cases.read_text()
    assert Path(document["recording"]).exists()


def test_a_report_as_text_and_the_closed_model(run: Run) -> None:
    ran = run("load", "echo", "--users", "2", "--for", "0.3s", "--no-record", *SERVER)
    assert ran.code == 0
    assert ran.out.startswith("Closed model: each of 2 users sends the next call after the answer")
    assert "recording" not in ran.err


def test_a_flow_and_a_locust_file(run: Run, tmp_path: Path) -> None:
    flow, file = tmp_path / "flow.yaml", tmp_path / "plan.py"
    flow.write_text("inspector: 1\nsteps:\n  - call: echo\n    args: {a: 1}\n    weight: 2\n")
    ran = run("load", "--flow", str(flow), *SHORT, "--locust", str(file), *SERVER)
    assert ran.code == 0
    assert "('echo', {'a': 1}, 2)" in file.read_text()


def test_a_locust_file_has_no_secret_argument(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "plan.py"
    words = ("load", "echo", "password=hunter2-typed", "note=held-Key-0c4f6b", "k=1", *SHORT, "--locust", str(file))
    ran = run(*words, "--env", "API_KEY=held-Key-0c4f6b", *SERVER)
    assert ran.code == 0, ran.err
    text = file.read_text()
    assert "hunter2" not in text
    assert "held-Key" not in text
    assert "{'password': os.environ[\"INSPECTOR_PASSWORD\"], 'note': os.environ[\"INSPECTOR_NOTE\"], 'k': 1}" in text


def test_a_flow_takes_its_values_from_an_environment_and_from_set(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LOAD_KEY", "hidden-key-1")
    flow = tmp_path / "flow.yaml"
    flow.write_text(
        "inspector: 1\nvars: {a: 1}\nsteps:\n  - call: echo\n    args: {a: '{{a}}', b: '{{b}}', key: '{{k}}'}\n"
    )
    (tmp_path / "env").mkdir()
    (tmp_path / "env" / "staging.yaml").write_text("b: 2\nk: env:LOAD_KEY\n")
    words = ("--environment", "staging", "--set", "a=7", "--set", "other=1", "--json")
    ran = run("load", "--flow", str(flow), *SHORT, *words, *SERVER)
    assert ran.code == 0
    assert ran.json["plan"]["calls"][0]["arguments"] == {"a": 7, "b": 2, "key": "***"}
    assert "No saved call uses the variable other of --set" in ran.err
    recorded = Path(ran.json["recording"]).read_text()
    assert "echo" in recorded
    assert "hidden-key-1" not in recorded + ran.out + ran.err


def _text(path: Path) -> str:
    return path.read_text() if path.exists() else ""


def test_an_interrupted_search_keeps_its_steps(home: Path) -> None:
    words = (
        "load",
        "echo",
        "--find-limit",
        "--rate",
        "20",
        "--for",
        "1s",
        "--json",
        "--record",
        str(home / "r.mcp.jsonl"),
        *SERVER,
    )
    process = subprocess.Popen(
        [*INSPECTOR, *words], env=environment(home), stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )  # fmt: skip
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and _text(home / "r.mcp.jsonl").count("A load test made") < 2:
        time.sleep(0.05)  # until the second step is over
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=30)
    assert process.returncode == 130, err
    document = json.loads(out)
    assert document["incomplete"] == "The search was stopped."
    assert document["limit"]["steps"]
    assert document["limit"]["rate"] >= 20


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (("@shop",), "needs a TOOL"),
        (("echo", "--rate", "fast", "@shop"), "is not a rate"),
        (("echo", "--for", "soon", "@shop"), "is not a length of time"),
        (("echo", "--users", "2", "--rate", "3", "@shop"), "--users cannot be used with --rate"),
        (("echo", "--fail-on", "p99", *SERVER), "is not a condition"),
        (("echo", "--for", "1s", "--warmup", "2s", *SERVER), "is not shorter than the run"),
        (("echo", "--flow", "f.yaml", *SERVER), "--flow names the calls"),
        (("echo", "http://example.com/mcp"), "is not on this machine"),
        (("echo", "--in-flight", "0", *SERVER), "is not a whole number"),
        (("echo", "--set", "a=1", *SERVER), "--set needs --flow"),
        (("--flow", ".", *SERVER), "is a folder"),
        (("--flow", "/dev/null", *SERVER), "is not a regular file"),
    ],
)
def test_wrong_arguments(run: Run, words: tuple[str, ...], text: str) -> None:
    ran = run("load", *words)
    assert ran.code == 2
    assert text in ran.err


def test_an_unknown_tool(run: Run) -> None:
    ran = run("load", "ecko", *SHORT, "--json", *SERVER)
    assert ran.code == 1
    assert ran.error["hint"] == "Did you mean “echo”?"


def test_the_function_of_the_library() -> None:
    counts: list[int] = []

    async def work() -> inspector.LoadReport:
        return await inspector.load(
            list(SERVER[1:]), "echo", {"k": 1}, rate=50, seconds=0.4, warm_up=0.1, fail_on="p99>10s", floor=False,
            told=lambda report: counts.append(report.sent),
        )  # fmt: skip

    report = asyncio.run(work())
    assert report.done == 15
    assert report.failing == []
    assert counts
    json.dumps(report.as_json())


def test_a_client_for_other_programs() -> None:
    with inspector.LoadClient(list(SERVER[1:])) as client:
        assert client.call("echo", {"k": 1})["content"][0]["text"] == "ok"
        with inspector.LoadClient(list(SERVER[1:])) as other:
            assert other.call("echo")["content"]
        assert len(client._connection.journal) < 20
    # The loop of the clients outlives them, and is not taken for one that a session left behind.
    assert "inspector" not in [thread.name for thread in threading.enumerate()]
    with pytest.raises(inspector.InspectorError):
        client.call("echo")


def test_the_library_asks_before_another_machine_is_loaded() -> None:
    with pytest.raises(inspector.UsageError, match="is not on this machine"):
        asyncio.run(inspector.load("https://example.com/mcp", "echo"))
