"""Every output reads one decision: each format is parsed and held against the exit code, for every combination."""

from __future__ import annotations

import itertools
import json
import re
import xml.etree.ElementTree as ElementTree
from dataclasses import replace
from pathlib import Path
from typing import Any, get_args

import pytest

from inspector.check.check_table import Check, CheckClass, CheckLevel
from inspector.check.outcome import Outcome, Skip, Visited, bad, doubtful, good, remark, skipped
from inspector.check.registry import checks
from inspector.check.reports import document
from inspector.check.reports.policy import FAILING, PROFILES, FailOn, Identity, Policy, Profile, baseline_of
from inspector.check.reports.summary import Report
from inspector.check.result import Result, SdkOrigin
from inspector.check.run import Run
from inspector.check.selection import CheckSelection
from inspector.cli import main
from inspector.cli.check_report import text
from inspector.cli.output import Output
from inspector.errors import UsageError
from inspector.protocol.revisions import REVISIONS
from tests.test_html_page import Inert
from tests.test_junit import refused

HOSTILE = Path(__file__).parents[2] / "recordings" / "hostile.mcp.jsonl"
SHOP = Identity("shop", "1.0", "stdio")
CLASSES: dict[str, CheckClass] = {"must": "breaks", "type": "breaks", "should": "rule", "security": "rule"}
SDK = SdkOrigin("An SDK 1.0")
OPTIONAL = SdkOrigin("An SDK 1.0", "Set its option.")


def result(
    id: str, level: CheckLevel, outcome: Outcome, revision: str = "2025-11-25", origin: SdkOrigin | None = None
) -> Result:
    check_class = CLASSES.get(level, "advice")
    text = f"{id} holds."
    check = Check(id, level, frozenset(REVISIONS), "active", text, "Fix it.", "basic#part", "group", check_class)
    return Result(check, Visited(revision, "stdio", 1, 9), outcome, 0.1, origin)


RESULTS = [
    result("A-01", "must", bad("no answer", 3)),
    result("A-01", "must", good(), "2025-06-18"),
    result("A-02", "should", bad("no hint", 4)),
    result("A-03", "must", skipped("nothing was seen")),
    result("A-04", "info", remark("for information")),
    result("A-05", "security", bad("open to all", 5)),
    result("A-06", "must", bad("no batches", 6), origin=SDK),
    result("A-07", "must", doubtful("an arguable code", 7), origin=SDK),
    result("A-08", "must", bad("foreign origins", 8), origin=OPTIONAL),
    result("A-09", "lint", good("all of them")),
]
GONE = {"id": "A-09", "revision": "2025-11-25", "transport": "stdio", "verdict": "warn"}


def run_of(results: list[Result]) -> Run:
    return Run("server.py", list(results), [Visited("2025-11-25", "stdio", 1, 9)])


def baseline(results: list[Result]) -> dict[str, Any]:
    """An earlier report with these results, and one finding that is gone since."""
    document: dict[str, Any] = json.loads(json.dumps(Report(run_of(results), identity=SHOP).as_json()))
    document["results"].append(GONE)
    return document


BASELINES = {
    "none": None,
    "half": baseline([RESULTS[0], RESULTS[2]]),
    "all": baseline(RESULTS),
    "milder": baseline([result("A-01", "must", doubtful("no hint"))]),
}


def failures(junit: str) -> int:
    suite = ElementTree.fromstring(junit).find("testsuite")
    assert suite is not None
    count = len(suite.findall("testcase/failure"))
    assert int(suite.attrib["failures"]) == count
    return count


@pytest.mark.parametrize("known", BASELINES)
@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize("fail_on", FAILING)
def test_every_format_says_what_the_exit_code_says(fail_on: FailOn, profile: Profile, known: str) -> None:
    for fail_under, level in itertools.product((0, 50, 100), ("", *get_args(CheckLevel))):
        selection = CheckSelection(levels=frozenset([level] if level else []))
        results = [one for one in RESULTS if selection.takes(one.check)]
        recorded = BASELINES[known]
        policy = Policy(fail_on, fail_under, profile, baseline_of(recorded) if recorded is not None else None)
        report = Report(run_of(results), "run.mcp.jsonl", policy, SHOP)
        agrees(report)


def agrees(report: Report) -> None:
    data = json.loads(json.dumps(report.as_json()))
    fails = report.exit_code != 0
    failing = [one for one in data["results"] if one["ruling"] == "failing"]
    assert data["exit_code"] == report.exit_code == (5 if failing or report.below else 0)
    assert len(data["failing"]) == len(failing)
    passes = "Passes" if report.results else "No selected check applies to this server"
    assert report.summary.startswith("Fails" if fails else passes)

    junit = document(report, "junit")
    assert failures(junit) == len(failing) + report.below
    assert ElementTree.fromstring(junit).attrib["tests"] == str(len(data["results"]) + bool(report.policy.fail_under))

    run = json.loads(document(report, "sarif"))["runs"][0]
    assert run["invocations"][0]["exitCode"] == report.exit_code
    rulings = [one["properties"]["ruling"] for one in run["results"]]
    assert rulings.count("failing") == len(failing)
    assert rulings.count("gone") == len(data["gone"])
    states = [one.get("baselineState") for one in run["results"]]
    if data["policy"]["baseline"]:
        findings = [one for one in run["results"] if one["properties"]["verdict"] in ("fail", "warn")]
        assert sum(one["baselineState"] == "new" for one in findings) == len(data["new"])
        assert states.count("absent") == len(data["gone"])
    else:
        assert set(states) <= {None}
        assert not data["new"] + data["gone"] + data["known"]

    assert report.summary in document(report, "html")
    assert Inert(document(report, "html")).policy
    assert f'data-exit-code="{report.exit_code}"' in document(report, "html")
    assert report.summary in document(report, "md").replace("`", "")
    lines = list(text(Output(), report, verbose=False))
    assert report.summary in lines
    badge = document(report, "badge")
    assert ("failing" in badge) is fails
    if report.score is not None:
        assert f"{report.score}/100" in badge
        assert any(line.startswith(f"score {report.score} of 100") for line in lines)
    number = len({one["id"] for one in failing})
    assert not number or f"{number} failing" in badge


def ids(results: list[dict[str, Any]]) -> list[str]:
    return sorted(one["id"] for one in results)


def test_a_baseline_says_what_is_new_and_what_is_gone() -> None:
    policy = Policy("warn", baseline=baseline_of(BASELINES["half"]))
    report = Report(run_of(RESULTS), policy=policy, identity=SHOP).as_json()
    assert ids(report["known"]) == ["A-01", "A-02"]
    assert ids(report["new"]) == ids(report["failing"]) == ["A-05", "A-06", "A-07", "A-08"]
    assert report["gone"] == [GONE]


def test_a_fault_that_was_in_doubt_is_new() -> None:
    policy = Policy(baseline=baseline_of(BASELINES["milder"]))
    report = Report(run_of([RESULTS[0]]), policy=policy, identity=SHOP).as_json()
    assert ids(report["new"]) == ids(report["failing"]) == ["A-01"]


def test_the_class_of_a_check_decides_its_verdict() -> None:
    by_case = {(one.check.id, one.outcome.seen): one for one in RESULTS}
    for id, seen, default, strict in (
        ("A-01", "bad", "fail", "fail"),
        ("A-07", "doubtful", "warn", "warn"),
        ("A-02", "bad", "warn", "fail"),
        ("A-04", "remark", "note", "note"),
    ):
        one = by_case[id, seen]
        assert (one.verdict, replace(one, strict=True).verdict) == (default, strict)
    advice = result("A-10", "quality", bad("no description"))
    assert (advice.verdict, replace(advice, strict=True).verdict) == ("note", "warn")


def test_a_fault_in_one_revision_is_told_although_another_passes() -> None:
    results = [result("A-02", "should", doubtful("an odd code", 4)), result("A-02", "should", good(), "2025-06-18")]
    report = Report(run_of(results), identity=SHOP)
    assert [(one.verdict, one.seen) for one in report.checked] == [("note", "doubtful")]
    assert "an odd code" in document(report, "markdown")


def test_a_baseline_is_one_for_strict_runs_too() -> None:
    strict = Policy(strict=True, baseline=baseline_of(BASELINES["all"]))
    results = strict.applied(RESULTS)
    assert {one.verdict for one in results} > {"fail"}
    assert Report(run_of(results), policy=strict, identity=SHOP).exit_code == 0
    without = Policy(strict=True)
    assert ids(Report(run_of(without.applied(RESULTS)), policy=without, identity=SHOP).as_json()["failing"]) == [
        "A-01", "A-02", "A-05", "A-06", "A-08",
    ]  # fmt: skip


def test_what_is_told_and_does_not_fail_passes_in_junit_with_its_text() -> None:
    suite = ElementTree.fromstring(document(Report(run_of(RESULTS), identity=SHOP), "junit")).find("testsuite")
    assert suite is not None
    assert [case.attrib["name"][:4] for case in suite if case.find("skipped") is not None] == ["A-03"]
    warned = next(case for case in suite if case.attrib.get("name", "").startswith("A-02"))
    assert warned.find("failure") is None
    assert str(warned.findtext("system-out")).startswith("warn (rule): ")
    assert "no hint" in str(warned.findtext("system-out"))
    assert refused(document(Report(run_of(RESULTS), identity=SHOP), "junit")) == []


def test_the_report_says_why_the_server_was_started_and_which_checks_were_slow() -> None:
    results = [replace(result, seconds=float(n)) for n, result in enumerate(RESULTS)]
    report = Report(run_of(results), identity=SHOP, starts=("session of 2025-11-25", "STDIO-05, to end it"))
    lines = list(text(Output(), report, verbose=False, durations=2))
    at = lines.index("server started: 2 times")
    assert lines[at + 1 : at + 3] == ["    session of 2025-11-25", "    STDIO-05, to end it"]
    at = lines.index("slowest 2 checks:")
    assert [line.split()[0] for line in lines[at + 1 : at + 3]] == [f"{len(RESULTS) - n:.2f}" for n in (1, 2)]
    assert report.as_json()["starts"] == list(report.starts)


def test_a_fault_seen_in_several_revisions_is_one_sentence_whatever_the_measured_time() -> None:
    seconds = {"2025-11-25": 0.4, "2025-06-18": 1.1, "2025-03-26": 3.0}
    results = [result("A-01", "must", bad(f"no response within {s:g} s", 3), at) for at, s in seconds.items()]
    lines = list(text(Output(), Report(run_of(results), identity=SHOP), verbose=False))
    assert [line for line in lines if "no response" in line] == ["    no response within 0.4 s"]
    assert sum(line.count("(event 3)") for line in lines) == 3


def test_the_report_begins_with_what_a_client_meets() -> None:
    lines = list(text(Output(), Report(run_of(RESULTS), identity=SHOP), verbose=False))
    assert lines[0] == "✗ 3 faults that clients fail on; 2 rules broken that no known client depends on."
    ends = [line.strip().split(", ")[0] for line in lines if line.endswith(", basic#part")]
    assert (ends.count("breaks"), ends.count("rule"), ends.count("breaks in doubt")) == (3, 2, 1)
    report = Report(run_of(RESULTS), identity=SHOP)
    for format in ("markdown", "html"):
        assert document(report, format).count("class: breaks in doubt, ") == 1
    assert "warn (breaks in doubt): " in document(report, "junit")
    fine = list(text(Output(), Report(run_of(RESULTS[9:]), identity=SHOP), verbose=False))
    assert fine[0] == "✓ No fault that a client fails on."


def asked(id: str, outcome: Outcome) -> Result:
    """The result of a check that asks the server."""
    made = result(id, "must", outcome)

    async def probe(visit: object) -> Outcome:
        return outcome

    return replace(made, check=made.check._replace(probe=probe))


@pytest.mark.parametrize("reason", [Skip.RATE_LIMIT, Skip.NOT_RUN, Skip.NO_SESSION])
def test_a_server_that_prevents_most_checks_does_not_pass(reason: Skip) -> None:
    made, prevented = asked("A-01", good()), [asked(f"B-0{n}", skipped(reason, "x")) for n in (1, 2)]
    report = Report(run_of([made, *prevented, RESULTS[9], RESULTS[9]]), identity=SHOP)
    assert report.exit_code == 5
    assert report.summary.startswith("Fails: 2 checks could not be run")
    assert next(text(Output(), report, verbose=False)) == "– No fault that a client fails on, as far as it was checked."
    assert "failure" in document(report, "junit")
    assert replace(report, policy=Policy(fail_on="never")).exit_code == 0
    few = Report(run_of([made, prevented[0]]), identity=SHOP)
    assert (few.exit_code, few.summary[:31]) == (0, "Passes; 1 check could not be ru")
    unasked = Report(run_of([asked(f"C-0{n}", skipped(Skip.CALLS)) for n in (1, 2)]), identity=SHOP)
    assert (unasked.exit_code, unasked.summary) == (0, "Passes.")


def test_every_skipped_check_is_counted_and_those_that_could_not_be_run_are_named() -> None:
    results = [result(f"B-{n:02}", "must", skipped(f"reason {n}")) for n in range(10)]
    results += [
        result("C-01", "must", skipped("nothing was seen")),
        result("C-01", "must", skipped(Skip.NOT_RUN, "it took longer than 20 s"), "2025-06-18"),
    ]
    lines = list(text(Output(), Report(run_of(results), identity=SHOP), verbose=False))
    start = lines.index("– 11 skipped")
    assert lines[start + 1] == "      1  it could not be run: it took longer than 20 s: C-01"
    assert lines[start + 9] == "      3  for 3 other reasons, see --verbose"
    assert sum(int(line.split()[0]) for line in lines[start + 1 : start + 10]) == 11


def test_a_withdrawn_requirement_counts_only_if_its_revision_is_named() -> None:
    def class_of(*revisions: str) -> str:
        selection = CheckSelection(revisions=revisions) if revisions else CheckSelection()
        return next(check.check_class for check in selection.rows() if check.id == "BASE-12")

    assert (class_of(), class_of("2025-03-26"), class_of("2025-11-25")) == ("advice", "rule", "advice")


def test_every_class_breaks_has_its_evidence() -> None:
    for check in checks().values():
        assert (check.check_class == "breaks") is bool(check.breaks), check.id
        assert not check.breaks or check.breaks.endswith("."), check.id


def test_what_was_not_looked_at_is_not_gone() -> None:
    policy = Policy(baseline=baseline_of(BASELINES["all"]))
    results = [RESULTS[3], result("A-09", "lint", skipped("not allowed"))]
    assert Report(run_of(results), policy=policy, identity=SHOP).gone == []


def test_another_version_of_the_server_has_the_same_baseline() -> None:
    policy = Policy(baseline=baseline_of(BASELINES["all"]))
    assert Report(run_of(RESULTS), policy=policy, identity=Identity("shop", "2.0", "stdio")).exit_code == 0


@pytest.mark.parametrize(
    ("identity", "says"),
    [
        (Identity("bank", "1.0", "stdio"), "is the report of the server “shop”, but this server is “bank”"),
        (
            Identity("shop", "1.0", "http"),
            "is the report of a server over stdio, but this server was checked over http",
        ),
    ],
)
def test_a_baseline_of_another_server_is_refused(identity: Identity, says: str) -> None:
    with pytest.raises(UsageError, match=re.escape(says)):
        Report(run_of(RESULTS), policy=Policy(baseline=baseline_of(BASELINES["all"])), identity=identity)


def test_the_profile_app_leaves_out_what_an_author_cannot_change() -> None:
    full = Report(run_of(RESULTS), policy=Policy(profile="full"), identity=SHOP)
    app = Report(run_of(RESULTS), policy=Policy(profile="app"), identity=SHOP)
    assert ids(full.as_json()["failing"]) == ["A-01", "A-06", "A-08"]
    assert ids(app.as_json()["failing"]) == ["A-01", "A-08"]  # A-08 has an option.
    assert ids(app.as_json()["excluded"]) == ["A-06", "A-07"]
    assert (full.score, app.score) == (14, 6)
    assert {one["id"]: one["sdk"] for one in app.as_json()["results"] if one["origin"] == "sdk"} == {
        "A-06": "An SDK 1.0", "A-07": "An SDK 1.0", "A-08": "An SDK 1.0",
    }  # fmt: skip


def test_a_run_without_any_session_does_not_pass() -> None:
    visited = Visited("2025-11-25", "stdio", 1, 9, "No response to initialize within 5 s.")
    run = Run("server.py", [result("A-01", "must", skipped("the session could not be opened"))], [visited])
    report = Report(run)
    assert report.exit_code == 4
    assert report.summary == "No checks ran: No response to initialize within 5 s."
    assert failures(document(report, "junit")) == 1
    assert json.loads(document(report, "sarif"))["runs"][0]["invocations"][0]["executionSuccessful"] is False
    assert "failing" in document(report, "badge")


def test_a_run_of_which_one_visit_failed_is_judged_by_the_other() -> None:
    failed = Visited("2025-06-18", "stdio", 1, 9, "No answer")
    run = Run("server.py", [RESULTS[9], result("A-01", "must", skipped("no session"))], [failed, RESULTS[9].visited])
    assert Report(run).exit_code == 0


# On the command line, with files, on a recording


@pytest.fixture(scope="module")
def known(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The baseline of the recording."""
    import contextlib
    import io

    file = tmp_path_factory.mktemp("known") / "baseline.json"
    with contextlib.redirect_stdout(io.StringIO()) as out:
        main.run(["check", "--json", "--quiet", str(HOSTILE)])
    file.write_text(out.getvalue(), encoding="utf-8")
    return file


@pytest.mark.parametrize(
    ("words", "code"),
    [
        ([], 5),
        (["--fail-on", "never"], 0),
        (["--fail-on", "never", "--fail-under", "99"], 5),
        (["--fail-under", "10", "--level", "info", "--skip", "words,definitions"], 5),
        (["--level", "quality,lint"], 0),
        (["--level", "should", "--fail-on", "warn", "--strict"], 5),
        (["--level", "must", "--skip", "base-protocol,tools,resources,prompts,transport-stdio,utilities"], 0),
        (["--only", "BASE-01"], 5),
        (["--baseline", "KNOWN"], 0),
        (["--baseline", "KNOWN", "--fail-on", "skip"], 0),
        (["--baseline", "KNOWN", "--fail-under", "99"], 5),
        (["--profile", "app"], 5),
    ],
)
def test_the_files_agree_with_the_exit_code(
    tmp_path: Path, known: Path, words: list[str], code: int, capsys: pytest.CaptureFixture[str]
) -> None:
    words = [str(known) if word == "KNOWN" else word for word in words]
    files = [f"--{name}={tmp_path / name}" for name in ("junit", "sarif", "markdown", "html", "badge")]
    assert main.run(["check", "--json", *files, *words, str(HOSTILE)]) == code
    report = json.loads(capsys.readouterr().out)
    assert report["exit_code"] == code
    assert bool(failures((tmp_path / "junit").read_text(encoding="utf-8"))) is bool(code)
    assert json.loads((tmp_path / "sarif").read_text(encoding="utf-8"))["runs"][0]["invocations"][0]["exitCode"] == code
    assert f'data-exit-code="{code}"' in (tmp_path / "html").read_text(encoding="utf-8")
    assert ("failing" in (tmp_path / "badge").read_text(encoding="utf-8")) is bool(code)
    assert report["summary"] in (tmp_path / "markdown").read_text(encoding="utf-8").replace("`", "")
    assert main.run(["check", *words, str(HOSTILE)]) == code
    assert report["summary"] in capsys.readouterr().out


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (HOSTILE.read_text(encoding="utf-8"), "is a recording. --baseline needs a JSON report"),
        ('{"format":"mcp-recording","version":1}', "is a recording"),
        ("<testsuites/>", "is XML or HTML"),
        ("never", "is not JSON"),
        ("[]", "is a list of reports"),
        ('{"version":"2.1.0","runs":[]}', "is SARIF"),
        ('{"results":[]}', "is another JSON document"),
        ('{"format":"mcp-check","version":2,"results":[]}', "is a report of version 2; version 1 is supported"),
        ('{"format":"mcp-check","version":1,"results":[]}', "does not name its server"),
        ('{"format":"mcp-check","version":1,"identity":{},"results":[1]}', "has a result without a verdict"),
    ],
)
def test_what_is_not_a_baseline_is_a_usage_error(
    tmp_path: Path, content: str, says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "baseline"
    file.write_text(content, encoding="utf-8")
    assert main.run(["check", "--baseline", str(file), str(HOSTILE)]) == 2
    assert says in capsys.readouterr().err


def test_the_baseline_of_another_server_is_a_usage_error(
    known: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    document = json.loads(known.read_text(encoding="utf-8"))
    document["identity"]["name"] = "another"
    file = tmp_path / "baseline.json"
    file.write_text(json.dumps(document))
    assert main.run(["check", "--baseline", str(file), str(HOSTILE)]) == 2
    assert "is the report of the server “another”" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--level", "most"], "“most” is not a level"),
        (["--fail-under", "101"], "“101” is not a score"),
        (["--fail-under", "-1"], "“-1” is not a score"),
    ],
)
def test_values_that_do_not_exist(words: list[str], says: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main.run(["check", *words, str(HOSTILE)]) == 2
    assert says in capsys.readouterr().err


def test_a_note_has_its_fix_if_the_report_is_verbose() -> None:
    report = Report(run_of([result("A-04", "info", remark("for information"))]), identity=SHOP)
    assert "    Fix it." in list(text(Output(), report, verbose=True))
    assert "    Fix it." not in list(text(Output(), report, verbose=False))
