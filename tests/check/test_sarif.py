"""SARIF as code scanning reads it (checked besides with Microsoft's validator): structure, rules, places, states."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from inspector.check.outcome import Visited, bad
from inspector.check.registry import checks
from inspector.check.reports import document
from inspector.check.reports.policy import Identity
from inspector.check.reports.source_files import SourceLine, Sources
from inspector.check.reports.summary import Report, report_of
from inspector.check.result import Result
from inspector.check.run import Run
from inspector.journal.journal import Journal

VISITED = Visited("2025-11-25", "stdio", 1, 20)
CALL = {"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": {"name": "t"}}


def journal_of(folder: Path, *stderr: str, argv: tuple[str, ...] = ("python", "server.py")) -> Journal:
    """A call that is answered, with lines of stderr between the two; the answer is the last event but one."""
    journal = Journal.unnamed({})
    journal.record_life("stdio", "spawn", argv=list(argv), cwd=str(folder))
    journal.record_sent("stdio", json.dumps(CALL).encode(), CALL)
    journal.record_stderr("stderr", [line.encode() for line in stderr])
    journal.record_received("stdio", [b'{"jsonrpc":"2.0","id":7,"result":{"content":[]}}'])
    return journal


def sources(folder: Path, journal: Journal) -> tuple[Sources, Result]:
    n = len(journal)
    finding = Result(checks()["TOOL-11"], VISITED, bad("no list of blocks", n))
    try:
        return Sources.of(journal, [finding], folder=folder), finding
    finally:
        journal.release()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A project with a server, a module below it, and code of another person."""
    for name in (
        "server.py",
        "app/tools.py",
        "app/index.js",
        "node_modules/sdk/index.js",
        ".venv/site-packages/mcp.py",
    ):
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("\n")
    return tmp_path


def test_the_innermost_frame_of_the_project_is_named(folder: Path) -> None:
    lines = [
        "Traceback (most recent call last):",
        f'  File "{folder}/server.py", line 3, in <module>',
        f'  File "{folder}/app/tools.py", line 12, in t',
        f'  File "{folder}/.venv/site-packages/mcp.py", line 99, in call',
        "ValueError: no",
    ]
    located, finding = sources(folder, journal_of(folder, *lines))
    assert located.place(finding) == SourceLine("app/tools.py", 12)


def test_a_stack_of_javascript_is_read_from_its_top(folder: Path) -> None:
    lines = [
        f"    at call ({folder}/node_modules/sdk/index.js:1:1)",
        f"    at tool (file://{folder}/app/index.js:8:15)",
        f"    at main ({folder}/server.py:1:1)",
    ]
    located, finding = sources(folder, journal_of(folder, *lines))
    assert located.place(finding) == SourceLine("app/index.js", 8)


@pytest.mark.parametrize(
    ("argv", "place"),
    [
        (("python", "server.py"), SourceLine("server.py")),
        (("python", "-m", "app.tools", "x"), SourceLine("app/tools.py")),
        (("./server.py",), SourceLine("server.py")),
        (("server-program", "--port", "1"), None),
        (("python", "/etc/passwd"), None),
        (("python", "../x.py"), None),
    ],
)
def test_without_a_traceback_it_is_the_script(folder: Path, argv: tuple[str, ...], place: SourceLine | None) -> None:
    located, finding = sources(folder, journal_of(folder, argv=argv))
    assert located.place(finding) == place


@pytest.mark.parametrize(
    "line", ['File "/etc/passwd", line 1', 'File "\x00", line 1', "at x (/etc/hosts.js:1:1)", "a" * 5000]
)
def test_no_file_outside_the_folder_is_named(folder: Path, line: str) -> None:
    located, finding = sources(folder, journal_of(folder, line, argv=("x",)))
    assert located.place(finding) is None


def run_of(report: Report) -> dict[str, Any]:
    whole: dict[str, Any] = json.loads(document(report, "sarif"))
    assert whole["version"] == "2.1.0"
    run: dict[str, Any] = whole["runs"][0]
    return run


def test_rules_help_and_security(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    results = [
        Result(checks()[id], VISITED, bad("it is wrong", 4)) for id in ("TOOL-11", "HTTP-06", "ECO-01", "BASE-08")
    ]
    journal = journal_of(folder)
    run = run_of(report_of(Run("server", results, [VISITED]), journal))
    journal.release()
    rules = {rule["id"]: rule for rule in run["tool"]["driver"]["rules"]}
    assert rules["TOOL-11"]["defaultConfiguration"] == {"level": "error"}
    assert rules["ECO-01"]["defaultConfiguration"] == {"level": "note"}
    assert rules["BASE-08"]["defaultConfiguration"] == {"level": "note"}
    assert rules["HTTP-06"]["defaultConfiguration"] == {"level": "warning"}
    assert rules["HTTP-06"]["properties"]["security-severity"] == "7.0"
    assert "security" in rules["HTTP-06"]["properties"]["tags"]
    assert rules["TOOL-11"]["helpUri"].startswith(
        "https://modelcontextprotocol.io/specification/2026-07-28/server/tools"
    )
    assert "helpUri" not in rules["ECO-01"]  # Not of the specification.
    for rule in rules.values():
        assert rule["help"]["markdown"].startswith("**")
        assert rule["shortDescription"]["text"].endswith(".")
    for result in run["results"]:
        rule = run["tool"]["driver"]["rules"][result["ruleIndex"]]
        assert rule["id"] == result["ruleId"]
        place = result["locations"][0]["physicalLocation"]
        assert place["artifactLocation"] == {"uri": "server.py", "uriBaseId": "SRCROOT"}
        assert place["region"]["startLine"] == 1
    root = run["originalUriBaseIds"]["SRCROOT"]["uri"]
    assert root.startswith("file:///")
    assert root.endswith("/")


def test_without_a_source_file_it_is_the_line_of_the_recording() -> None:
    finding = Result(checks()["TOOL-11"], VISITED, bad("it is wrong", 4, 6))
    run = run_of(Report(Run("server", [finding], [VISITED]), "/x/run 1.mcp.jsonl"))
    places = [place["physicalLocation"] for place in run["results"][0]["locations"]]
    assert [place["artifactLocation"]["uri"] for place in places] == ["run%201.mcp.jsonl"] * 2
    assert [place["region"]["startLine"] for place in places] == [5, 7]
    kept = Report(Run("server", [finding], [VISITED]), str(Path.cwd() / "kept" / "run 1.mcp.jsonl"))
    place = run_of(kept)["results"][0]["locations"][0]["physicalLocation"]
    assert place["artifactLocation"]["uri"] == "kept/run%201.mcp.jsonl"


def test_fingerprints_are_the_same_in_another_run_and_differ_between_servers() -> None:
    def prints(name: str, recording: str, *evidence: int) -> Any:
        finding = Result(checks()["TOOL-11"], VISITED, bad("it is wrong", *evidence))
        report = Report(Run("server", [finding], [VISITED]), recording, identity=Identity(name))
        return run_of(report)["results"][0]["partialFingerprints"]

    assert prints("shop", "a.mcp.jsonl", 4) == prints("shop", "b.mcp.jsonl", 9)
    assert prints("shop", "a.mcp.jsonl", 4) != prints("bank", "a.mcp.jsonl", 4)
