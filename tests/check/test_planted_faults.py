"""One fault each on a raw server: the live check finds it, and so does the check of its recording.

Both transports are tested. The server is `raw_server.py`, a process that shares no code with the demo or the engine.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from inspector.check.reports.policy import Policy
from inspector.check.reports.summary import report_of
from inspector.check.run import Runner
from inspector.check.selection import CheckSelection
from inspector.check.visit.limits import RunLimits
from inspector.check.visit.visit import Allowed
from inspector.cli import main
from inspector.client.options import Options
from inspector.config.targets import HttpTarget, StdioTarget
from inspector.journal.journal import Journal
from tests.check.faulty_servers import LIMITS, TIMEOUT
from tests.check.raw_server import FAULTS

SERVER = (sys.executable, str(Path(__file__).with_name("raw_server.py")))
TRANSPORTS = ("stdio", "http")
CONVICTS = {
    # By fault: the checks of which one at least must fail. Over HTTP a stream that ends tells more than silence.
    "another-id": {"BASE-02"},
    "id-as-text": {"BASE-02"},
    "id-of-the-request-before": {"BASE-02"},
    "null-id": {"BASE-02", "BASE-14"},
    "two-answers": {"BASE-02"},
    "no-answer": {"BASE-02", "TOOL-30"},
    "no-answer-and-the-stream-stays-open": {"BASE-02"},
    "exits": {"TOOL-30"},
    "no-jsonrpc": {"BASE-01"},
    "result-and-error": {"BASE-03"},
    "neither-result-nor-error": {"BASE-01"},
    "error-code-as-text": {"BASE-04"},
    "invalid-utf-8": {"BASE-30"},
    "no-content": {"BASE-14"},
    "content-of-an-unknown-type": {"BASE-14"},
    "image-that-is-not-base64": {"TOOL-12"},
    "structured-content-against-its-schema": {"TOOL-09"},
    "no-structured-content": {"TOOL-09"},
    "tool-without-input-schema": {"TOOL-02"},
    "input-schema-of-a-text": {"TOOL-02"},
    "invalid-input-schema": {"BASE-27"},
    "required-names-no-property": {"TOOL-27"},
    "two-tools-of-one-name": {"TOOL-05"},
}
RULES = {
    # No known client depends on these: they fail with `--strict`.
    "undeclared-notification": {"TOOL-16"},
    "progress-without-a-token": {"UTIL-16"},
    "log-without-the-capability": {"UTIL-08"},
    "traceback-without-is-error": {"TOOL-28"},
}
ONLY = frozenset(id for ids in (*CONVICTS.values(), *RULES.values()) for id in ids)
QUICK = replace(LIMITS, check=2.0)
"""An answer that never comes is waited for as long as a check may take."""
PATIENT = replace(LIMITS, request=10.0, check=30.0)
"""On a busy machine a right server answers late, which is not its fault."""
EACH = Allowed(calls=("echo", "add"))


@contextmanager
def served(fault: str, transport: str) -> Iterator[StdioTarget | HttpTarget]:
    """How to reach the server with its fault; over HTTP it runs meanwhile."""
    if transport == "stdio":
        yield StdioTarget((*SERVER, fault))
        return
    with subprocess.Popen(
        (*SERVER, fault, "http"), stdin=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdin is not None
        assert process.stderr is not None
        yield HttpTarget(process.stderr.readline().strip())
        process.stdin.close()


async def checked(
    fault: str,
    transport: str,
    recording: Path,
    *,
    only: frozenset[str] = ONLY,
    policy: Policy | None = None,
    limits: RunLimits = QUICK,
) -> tuple[int, set[str]]:
    """The exit code of a check that calls the tools, and the ids of what made it so."""
    journal = Journal.create(recording, {"kind": transport})
    selection = CheckSelection(revisions=("2025-11-25",), only=only, limits=limits, allowed=EACH)
    with served(fault, transport) as target:
        run = await Runner(target, journal, Options(timeout=TIMEOUT), selection).go()
    report = report_of(run, journal, policy or Policy()).as_json()
    journal.release()
    return report["exit_code"], {one["id"] for one in report["failing"]}


def checked_again(recording: Path, capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, set[str]]:
    """The same of the recording, with every check."""
    code = main.run(["check", "--json", "--quiet", *words, str(recording)])
    return code, {one["id"] for one in json.loads(capsys.readouterr().out)["failing"]}


def test_each_fault_has_a_check() -> None:
    assert set(CONVICTS) | set(RULES) == set(FAULTS)


@pytest.mark.slow
@pytest.mark.parametrize("transport", TRANSPORTS)
@pytest.mark.parametrize("fault", CONVICTS)
async def test_a_fault_is_convicted_live_and_in_its_recording(
    fault: str, transport: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    recording = tmp_path / "run.mcp.jsonl"
    code, failing = await checked(fault, transport, recording)
    assert (code, bool(failing & CONVICTS[fault])) == (5, True), failing
    code, failing = checked_again(recording, capsys)
    assert (code, bool(failing & CONVICTS[fault])) == (5, True), failing


@pytest.mark.slow
@pytest.mark.parametrize("transport", TRANSPORTS)
@pytest.mark.parametrize("fault", RULES)
async def test_a_broken_rule_warns_and_fails_under_strict_live_and_in_its_recording(
    fault: str, transport: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    recording = tmp_path / "run.mcp.jsonl"
    code, failing = await checked(fault, transport, recording, policy=Policy(strict=True))
    assert (code, failing >= RULES[fault]) == (5, True), failing
    code, failing = checked_again(recording, capsys, "--fail-on", "warn")
    assert (code, failing >= RULES[fault]) == (5, True), failing
    code, failing = checked_again(recording, capsys)
    assert (code, failing) == (0, set()), failing


@pytest.mark.slow
@pytest.mark.parametrize("transport", TRANSPORTS)
async def test_the_server_without_a_fault_is_not_convicted(
    transport: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    recording = tmp_path / "run.mcp.jsonl"
    assert await checked("none", transport, recording, only=frozenset(), limits=PATIENT) == (0, set())
    assert checked_again(recording, capsys) == (0, set())
