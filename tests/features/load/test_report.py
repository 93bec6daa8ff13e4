"""The sentence that sums up a run, and the report as data, text, page and XML."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from dataclasses import replace
from typing import Any

import pytest

from inspector.features.load.measurement import ErrorCount, Measurement
from inspector.features.load.plan import LoadPlan, PlannedCall
from inspector.features.load.report import FailCondition, Floor, LoadReport, RateStep
from inspector.features.load.reports.html import as_html
from inspector.features.load.reports.text import LoadText, as_junit, as_markdown, row_limits
from inspector.text import signs
from tests.features.load.simulated import CALL, simulate, stalls
from tests.test_html_page import Inert


def report(m: Measurement, plan: LoadPlan, **more: Any) -> LoadReport:
    ends = max([plan.seconds, m.last_answer])
    return LoadReport(
        plan, m.sent, m.done, m.failed, m.not_sent, seconds=ends, throughput=m.answers / (ends - plan.warm_up),
        latency=m.latency, service=m.service, service_few=m.service_few, service_many=m.service_many,
        last_answer=m.last_answer, first_latency=m.first_latency.value, last_latency=m.last_latency.value,
        own_delay=m.own_delay, longest_gap=m.gap.longest, errors=list(m.errors.values()), series=m.series.points, width=m.series.width,
        **({"target": "python server.py", "transport": "stdio", "floor": Floor(0.0005, 0.001, 5000, 5000)} | more),
    )  # fmt: skip


def run(work: float, ready: Any = lambda now: now, *, more: dict[str, Any] | None = None, **plan: Any) -> LoadReport:
    made = LoadPlan(CALL, **({"rate": 50, "seconds": 20, "warm_up": 2} | plan))
    return report(simulate(made, work, ready), made, **(more or {}))


def test_a_server_that_keeps_up() -> None:
    assert run(0.005).verdict == "The server keeps up with 50/s: p99 5.0 ms."


def test_a_server_that_stalls() -> None:
    assert run(0.001, stalls).verdict.startswith("The server keeps up with 50/s but stalls: p99 9")


def test_a_server_that_is_too_slow() -> None:
    assert run(0.025).verdict == "The server answers 40/s, slower than the planned 50/s. A queue builds up."


def test_a_server_that_becomes_too_slow_says_from_when() -> None:
    load_report = run(0.01, lambda now: now + 0.02 if now > 10 else now)
    assert load_report.verdict.startswith("From 1")
    assert "slower than the planned 50/s" in load_report.verdict


def test_a_plan_that_limits_the_calls_at_once_is_not_the_servers_fault() -> None:
    load_report = run(0.025, in_flight=16)
    for _ in range(20):
        load_report.service_few.add(0.2)
        load_report.service_many.add(0.2)
    load_report.service_many, load_report.service_few = load_report.service_few, load_report.service_few
    assert load_report.verdict.startswith("16 calls at once are the limit of this plan, not the server")


def test_we_are_the_limit() -> None:
    assert run(0.025, more={"own_cpu": 0.97, "cpu": 2.0}).verdict.startswith(
        "Inspector is the limit with 40/s and 97 %"
    )
    slow_floor = Floor(0.5, 1.0, 40, 40)
    assert run(0.025, more={"floor": slow_floor}).verdict.startswith("Inspector is the limit")
    closed = run(0.001, users=4, more={"floor": Floor(0.001, 0.002, 1100, 1100)})
    assert closed.verdict.startswith("Inspector is the limit")


def test_a_busy_server_is_the_limit_even_if_we_are_busy_too() -> None:
    assert "slower than" in run(0.025, more={"own_cpu": 0.91, "cpu": 24.9}).verdict


def timeouts(number: int) -> dict[str, Any]:
    return {"failed": number, "errors": [ErrorCount("timeout", None, "No answer within 2 s", 1.0, number)]}


def test_calls_without_an_answer() -> None:
    usual = run(0.005)
    few = replace(usual, **timeouts(90), seconds=22.0, last_answer=20.0)
    assert (
        few.verdict == "The server keeps up with 50/s (p99 5.0 ms), but 10 % of the calls fail: No answer within 2 s."
    )
    blocking = replace(few, not_sent=30)
    assert blocking.verdict == "The server does not answer 10 % of the calls. 10 % of the calls failed."
    blocking.plan = replace(blocking.plan, in_flight=16)
    assert "Until they time out they occupy places among the 16 calls at once" in blocking.verdict
    hanging = replace(few, last_answer=7.0, seconds=22.0)
    assert hanging.verdict == "From 7 s on, the server answers no call. 10 % of the calls failed."
    assert not hanging.keeps_up
    stopped = replace(usual, sent=0, done=0, warm_up_sent=16, last_answer=0.0)
    assert stopped.verdict.endswith("the warm-up of 2 s: 16 calls were sent in it, and the server answered none.")


def test_a_run_that_was_stopped_counts_the_calls_at_the_server_and_in_the_queue() -> None:
    stopped = replace(run(0.005), sent=316, done=300, queued=10, seconds=8.0, last_answer=8.0, incomplete="stopped")
    assert stopped.sent == stopped.done + stopped.failed + stopped.at_server
    assert stopped.keeps_up
    text = "\n".join(LoadText(stopped).lines())
    assert "at server         16  without an answer at the end\n" in text
    assert "in queue          10  due, and not sent at the end\n" in text
    document = stopped.as_json()
    assert (document["at_server"], document["queued"], document["waiting"]) == (16, 10, 26)
    assert ">16<" in as_html(stopped)
    assert not replace(stopped, sent=460).keeps_up
    silent = replace(stopped, done=0, last_answer=0.4)
    assert silent.verdict == "From 0.4 s on, the server answers no call."
    assert replace(silent, sent=0).verdict == silent.verdict
    assert replace(silent, last_answer=0.0).verdict == "The server answers no call."


def test_a_slow_server_has_calls_but_no_queue() -> None:
    """As many calls are at it as come in the 2 s that it needs for one."""
    slow = replace(run(0.001), sent=316, done=216, seconds=8.0, last_answer=8.0, incomplete="stopped")
    assert not slow.keeps_up
    for _ in range(2 * slow.service.count):
        slow.service.add(2.0)
    assert slow.keeps_up


def test_a_queue_that_ends_before_the_slots_are_full_is_one() -> None:
    """All calls of the plan fit into the slots, and the server needs ten times as long as it has."""
    load_report = run(2.0, rate=5, seconds=3, warm_up=0.5)
    assert not load_report.keeps_up
    far = run(0.001, lambda now: now, rate=5, seconds=3, warm_up=0.5)
    assert replace(far, last_answer=13.0, service=load_report.service, first_latency=10.0, last_latency=10.0).keeps_up


def test_our_own_delay_is_told() -> None:
    load_report = run(0.005)
    for _ in range(100):
        load_report.own_delay.add(0.1)
    assert load_report.verdict.endswith("Inspector sent calls up to 100 ms late (p99), which is part of these times.")


def test_the_closed_model_says_so() -> None:
    load_report = run(0.02, users=3)
    assert load_report.verdict == (
        "3 users get 50.1/s, p99 60 ms. Calls that a stall delayed are not counted; the open model counts them."
    )
    assert next(LoadText(load_report).lines()).startswith(
        "Closed model: each of 3 users sends the next call after the answer"
    )
    assert load_report.as_json()["latency"]["from"] == "sent"
    stall_lines = [line for line in LoadText(run(0.02, stalls, users=3)).lines() if "without an answer" in line]
    assert "was 1.0 s. The users sent nothing meanwhile: at their mean rate, 4" in stall_lines[0]


def test_errors_and_lost_connections() -> None:
    failing = replace(run(0.005), failed=90)
    assert failing.verdict == "The server keeps up with 50/s (p99 5.0 ms), but 10 % of the calls fail."
    refused = replace(failing, errors=[ErrorCount("http", 429, "It answered 429 Too Many Requests.", 1.0, 90)])
    assert refused.verdict.endswith("but 10 % of the calls fail: It answered 429 Too Many Requests.")
    lost = replace(
        failing,
        lost=2,
        stderr=("fatal: \x1b[31mno memory",),
        errors=[ErrorCount("exited", None, "The server ended.", 1.0, 90)],
    )
    assert lost.verdict == "The connection broke 2 times: The server ended. 10 % of the calls failed."
    assert lost.exit_code == 4
    assert lost.as_json()["server"]["stderr"] == ["fatal: \x1b[31mno memory"]
    text = "\n".join(LoadText(lost).lines())
    assert "\nstderr of the server before its end\n  fatal: " in text
    assert "\x1b" not in text
    passed = as_junit(lost.judged([FailCondition.parse("p99>1s")]))
    assert 'failures="0" errors="1"' in passed
    assert "The connection broke 2 times" in passed
    none = replace(lost, done=0, lost=0)
    assert none.verdict == "No call succeeded: The server ended."


def test_the_limit_of_a_search() -> None:
    steps = [RateStep(40, 40, 0.1, 0, ""), RateStep(80, 50, 2.0, 0, "p99>1s (found 2.0 s)")]
    load_report = replace(run(0.005), steps=steps, limit=40.0)
    assert load_report.verdict == "The limit is about 40/s: at 80/s, p99>1s (found 2.0 s)."
    assert load_report.as_json()["limit"]["steps"][1]["broken"] == "p99>1s (found 2.0 s)"
    assert replace(load_report, steps=steps[1:], limit=None).verdict.startswith("No rate holds: at 80/s")


def test_the_document_has_the_members_of_the_contract() -> None:
    document = run(0.005).as_json()
    json.dumps(document, allow_nan=False)
    assert document["plan"].items() >= {"model": "open", "rate": 50, "users": None, "seconds": 20, "warmup": 2}.items()
    assert document.keys() >= {
        "sent", "done", "failed", "not_sent", "throughput", "latency", "service", "errors", "server", "floor", "series",
    }  # fmt: skip
    latency = document["latency"]
    assert latency.keys() >= {"from", "mean", "p50", "p90", "p95", "p99", "p99.9", "max", "histogram"}
    assert sum(count for _, count in latency["histogram"]) == document["done"] == 900
    assert document["floor"]["p50"] == 0.0005
    assert document["server"].keys() >= {"cpu_seconds", "rss_bytes"}
    assert document["series"][0].keys() >= {"t", "sent", "done", "waiting", "p99"}


def test_several_tools_have_their_own_figures() -> None:
    plan = LoadPlan((PlannedCall("get"), PlannedCall("search")), warm_up=0)
    m = Measurement(plan)
    for number in range(20):
        m.count_ended(number, number, number + 0.1, busy=0.1, error=None, has_time=True, tool="get")
    m.count_ended(20, 21, 23, busy=0.1, error=("tool", None, "no"), has_time=True, tool="search")
    load_report = report(m, plan, tools=list(m.tools.values()))
    assert [(tool["tool"], tool["done"], tool["failed"]) for tool in load_report.as_json()["tools"]] == [
        ("get", 20, 0), ("search", 0, 1),
    ]  # fmt: skip
    row = next(line for line in LoadText(load_report).lines() if line.startswith("search  "))
    assert row.split() == ["search", "0", "1", "3.0", "s", "3.0", "s", "2.0", "s"]
    assert '<td class="text">search</td>' in as_html(load_report)
    assert "tools" not in run(0.005).as_json()


def test_exit_codes() -> None:
    load_report = run(0.005)
    assert load_report.exit_code == 0
    assert load_report.judged([FailCondition.parse("p99>1ms")]).exit_code == 5
    assert load_report.judged([FailCondition.parse("p99>1s")]).exit_code == 0
    assert LoadReport(load_report.plan, sent=3, failed=3).exit_code == 4
    assert LoadReport(load_report.plan, sent=3, failed=3, last_answer=1.0).exit_code == 1
    assert LoadReport(load_report.plan, warm_up_sent=3).exit_code == 4


@pytest.mark.parametrize("ascii", [False, True])
def test_text(ascii: bool) -> None:
    evil = ErrorCount("tool", None, "\x1b[31mevil \u202e", 3.0, 7)
    load_report = replace(run(0.025, stalls), errors=[evil], failed=7, incomplete="stopped by the user")
    load_report = load_report.judged([FailCondition.parse("p99>1ms"), FailCondition.parse("errors>50%")])
    text = "\n".join(LoadText(load_report, ascii=ascii).lines())
    assert "\x1b" not in text
    assert "\u202e" not in text
    assert "Incomplete: stopped by the user" in text
    assert "from the planned start" in text
    assert "isError" in text
    assert f"{signs(ascii).failed} p99>1ms  found" in text
    assert f"{signs(ascii).done} not errors>50%  found" in text
    assert not ascii or text.isascii()
    assert max(map(len, text.split("\n"))) <= 120


def test_page_has_no_script_and_no_reference_and_escapes_texts() -> None:
    evil = ErrorCount("tool", None, "<script>alert(1)</script>", 3.0, 7)
    page = as_html(
        replace(run(0.025, stalls), errors=[evil], target="<img src=x>").judged([FailCondition.parse("p99>1s")])
    )
    assert "<script" not in page
    assert "<img" not in page
    assert "http://" not in page
    assert "https://" not in page
    assert Inert(page).policy
    assert page.count("<svg") == 4
    for svg in page.split("<svg")[1:]:
        ET.fromstring("<svg" + svg.partition("</svg>")[0] + "</svg>")


def test_markdown_begins_with_the_result_and_what_fails() -> None:
    evil = ErrorCount("tool", None, "```\n# evil", 3.0, 7)
    load_report = replace(run(0.025, stalls), errors=[evil]).judged([FailCondition.parse("p99>1ms")])
    text = as_markdown(load_report)
    head, _, rest = text.partition("```")
    assert head.startswith(f"# Load test of `get`\n\n`{load_report.verdict}`\n\n- **failed**: `p99>1ms`, found ")
    assert "\n# evil" not in rest


def test_cases_for_ci() -> None:
    load_report = run(0.005).judged([FailCondition.parse("p99>1ms"), FailCondition.parse("errors>1%")])
    suite = ET.fromstring(as_junit(load_report))[0]
    assert suite.get("tests") == "2"
    assert suite.get("failures") == "1"
    stopped = ET.fromstring(as_junit(replace(load_report, conditions=(), failing=[], incomplete="stopped by the user")))
    assert stopped.get("errors") == "1"


def test_few_calls_make_few_lines() -> None:
    few, many = run(0.005, rate=1), run(0.005, stalls, rate=100)
    text, long = "\n".join(LoadText(few).lines()), "\n".join(LoadText(many).lines())
    assert "p99.9" not in text
    assert "p99.9" in long
    assert text.count("\n") < long.count("\n") - 5


def test_rows_of_the_histogram_cover_all_times() -> None:
    load_report = run(0.025, stalls)
    limits = row_limits((load_report.latency, load_report.service))
    assert len(limits) <= 20
    assert limits[-1] >= load_report.latency.longest
    assert sum(load_report.latency.rows(limits)) == load_report.latency.count
    assert row_limits(()) == []
