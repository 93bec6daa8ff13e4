"""Benchmarks: how figures become a verdict, and that the page shows the run that is kept."""

from __future__ import annotations

import ast
import importlib
import importlib.util
import json
from dataclasses import replace
from types import ModuleType
from typing import Any

import pytest

from tests.processes import ROOT


@pytest.fixture(scope="module")
def modules() -> dict[str, ModuleType]:
    """The benchmarks stand outside the package and import each other by their names."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(ROOT / "benchmarks"))
        return {name: importlib.import_module(name) for name in ("rows", "table", "bench", "answers")}


@pytest.fixture
def row(modules: dict[str, ModuleType]) -> Any:
    """Half of a raw loop's time, and a fifth of a second."""
    return modules["rows"].Row("name", "title", "measure", "s", "ms", 0.5, plus=0.2)


def seconds(*figures: float) -> list[dict[str, float]]:
    return [{"s": figure} for figure in figures]


def test_the_best_run_of_a_round_counts_and_the_median_of_the_rounds_is_shown(
    modules: dict[str, ModuleType], row: Any
) -> None:
    samples = {"inspector": seconds(9.0, 1.0, 2.0, 9.0, 3.0, 3.0), "raw": seconds(4, 4, 4, 4, 4, 4)}
    facts = modules["bench"].judge("group", row, samples, repeats=2)
    assert facts["inspector"] == 2.0
    assert facts["others"] == {"raw": 4.0}
    assert facts["ratio"] == 0.5


@pytest.mark.parametrize(("ours", "ok"), [(2.1, True), (2.3, False)])
def test_what_is_allowed_on_top_of_the_ratio_is_allowed_in_each_round(
    modules: dict[str, ModuleType], row: Any, ours: float, ok: bool
) -> None:
    samples = {"inspector": seconds(ours), "raw": seconds(4.0)}
    assert modules["bench"].judge("group", row, samples, repeats=1)["ok"] is ok


def test_where_more_is_better_less_is_over_the_budget(modules: dict[str, ModuleType], row: Any) -> None:
    wanted = replace(row, key="per_s", unit="/s", more_is_better=True, plus=0.0)
    samples = {"inspector": [{"per_s": 40.0}], "raw": [{"per_s": 100.0}]}
    assert modules["bench"].judge("group", wanted, samples, repeats=1)["ok"] is False


def test_a_bound_on_our_own_figure_needs_no_peer(modules: dict[str, ModuleType], row: Any) -> None:
    bound = replace(row, against="", budget=2.0, plus=0.0)
    facts = modules["bench"].judge("group", bound, {"inspector": seconds(1.5)}, repeats=1)
    assert (facts["ok"], facts["ratio"]) == (True, None)


def test_a_row_of_which_nothing_is_asked_has_a_ratio_and_no_verdict(modules: dict[str, ModuleType], row: Any) -> None:
    facts = modules["bench"].judge(
        "group", replace(row, budget=None), {"inspector": seconds(1.5), "raw": seconds(3.0)}, 1
    )
    assert (facts["ok"], facts["ratio"]) == (None, 0.5)
    assert modules["table"].budget_of(facts) == ""


def test_a_rate_is_shown_and_its_cpu_time_judged(modules: dict[str, ModuleType]) -> None:
    rate = modules["rows"].rate("name", "title", "measure", 0.5)
    samples = {
        "inspector": [{"per_s": 300.0, "cpu_us": 3.0}, {"per_s": 400.0, "cpu_us": 5.0}],
        "raw": [{"per_s": 400.0, "cpu_us": 2.0}, {"per_s": 400.0, "cpu_us": 2.0}],
    }
    facts = modules["bench"].judge("group", rate, samples, repeats=2)
    assert (facts["inspector"], facts["ratio"], facts["cpu_ratio"], facts["ok"]) == (400.0, 1.0, 1.5, True)
    assert modules["table"].budget_of(facts) == "CPU ≤ 2.00 × raw"


def test_what_a_row_is_held_against_is_shown_with_the_budget_where_it_has_no_column(
    modules: dict[str, ModuleType], row: Any
) -> None:
    samples = {"inspector": seconds(1.0), "raw": seconds(4.0), "pinned": seconds(3.0)}
    facts = modules["bench"].judge("group", replace(row, against="pinned", plus=0.0), samples, repeats=1)
    assert modules["table"].budget_of(facts) == "≤ 0.50 × pinned (3,000 ms)"


def test_a_contestant_that_fails_is_reported_to_and_does_not_stop_the_others(
    modules: dict[str, ModuleType], row: Any
) -> None:
    samples = {"inspector": seconds(1.0), "raw": seconds(4.0), "python sdk": [{"failed": "exit code 1"}]}
    facts = modules["bench"].judge("group", row, samples, repeats=1)
    assert facts["others"]["python sdk"] == "exit code 1"
    assert "fails" in modules["table"].cells(facts)
    assert facts["ok"] is True


def test_a_row_without_a_figure_of_ours_has_no_verdict(modules: dict[str, ModuleType], row: Any) -> None:
    samples = {"inspector": [{"failed": "no output"}], "raw": seconds(4.0)}
    facts = modules["bench"].judge("group", row, samples, repeats=1)
    assert (facts["ok"], facts["ratio"]) == (None, None)


def test_every_row_has_its_measure_and_a_name_of_its_own(modules: dict[str, ModuleType]) -> None:
    rows = modules["rows"]
    measures = {measure.name for measure in rows.MEASURES}
    assert {row.measure for row in rows.ROWS} | {stick.measure for stick in rows.YARDSTICKS.values()} == measures
    assert len({row.name for row in rows.ROWS}) == len(rows.ROWS)
    assert len(measures) == len(rows.MEASURES)


def test_what_a_row_is_held_against_takes_part_in_its_measure(modules: dict[str, ModuleType]) -> None:
    rows = modules["rows"]
    setting = rows.Setting("http://127.0.0.1:1", quick=False)
    contestants = {measure.name: set(measure.commands(setting)) for measure in rows.MEASURES}
    for row in rows.ROWS:
        of_round = contestants[row.measure] | set(rows.YARDSTICKS)
        assert {rows.INSPECTOR, row.against or rows.INSPECTOR} <= of_round, row.name
    for stick in rows.YARDSTICKS.values():
        assert stick.contestant in contestants[stick.measure]


def test_no_time_has_a_budget_in_seconds(modules: dict[str, ModuleType]) -> None:
    rows = modules["rows"].ROWS
    assert [row.name for row in rows if row.budget and not row.against and row.unit in ("ms", "µs", "/s")] == []


@pytest.mark.parametrize(("slowness", "ours", "ok"), [(1.0, 1.5, True), (2.0, 3.0, True), (1.0, 3.0, False)])
def test_a_slower_machine_is_held_against_a_slower_yardstick(
    modules: dict[str, ModuleType], row: Any, slowness: float, ours: float, ok: bool
) -> None:
    rows, bench = modules["rows"], modules["bench"]
    timed = replace(row, against=rows.LOOP_OF_PYTHON, beside=rows.LOOP_OF_PYTHON, budget=20.0, plus=0.0)
    found = {
        "measure": {"inspector": seconds(ours, ours)},
        "fixed loop": {rows.LOOP_OF_PYTHON: seconds(9.0, 0.1 * slowness, 9.0)},
    }
    repeats = {"measure": 2, "fixed loop": 3}
    facts = bench.judge("group", timed, bench.with_yardstick(timed, found, repeats), repeats["measure"])
    assert (facts["ok"], facts["ratio"]) == (ok, pytest.approx(ours / (0.1 * slowness)))


def test_the_server_answers_in_the_era_it_is_asked_in(modules: dict[str, ModuleType]) -> None:
    answers = modules["answers"].Answers(tools=3, page=2)
    meta = {"io.modelcontextprotocol/protocolVersion": "2026-07-28"}

    def asked(method: str, *, modern: bool, **params: Any) -> Any:
        raw = json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).encode()
        (answer,) = answers.of(raw, modern)
        return json.loads(answer)

    assert asked("server/discover", modern=False, _meta=meta)["error"]["code"] == -32601
    assert asked("server/discover", modern=True, _meta=meta)["result"]["supportedVersions"] == ["2026-07-28"]
    assert asked("initialize", modern=True, protocolVersion="2025-06-18")["result"]["protocolVersion"] == "2025-06-18"
    page = asked("tools/list", modern=True, _meta=meta)["result"]
    assert (len(page["tools"]), page["nextCursor"], page["resultType"], page["ttlMs"]) == (2, "2", "complete", 0)
    assert "resultType" not in asked("tools/list", modern=True)["result"]


def test_the_page_shows_the_run_that_is_kept(modules: dict[str, ModuleType]) -> None:
    table = modules["table"]
    page = table.PAGE.read_text(encoding="utf-8")
    run = json.loads(table.PUBLISHED.read_text(encoding="utf-8"))
    assert table.with_tables(page, run) == page
    assert not run["quick"]
    assert [row["row"] for row in run["rows"]] == [row.name for row in modules["rows"].ROWS]


def test_a_page_without_a_place_for_the_tables_is_not_written(modules: dict[str, ModuleType]) -> None:
    with pytest.raises(ValueError, match="no <!-- begin"):
        modules["table"].with_tables("nothing", {"rows": [], "versions": {}, "rounds": 1, "started": ""})


def test_what_the_benchmarks_use_of_the_package_exists() -> None:
    used = [
        (node.module or "", alias.name)
        for file in (ROOT / "benchmarks").rglob("*.py")
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "inspector"
        for alias in node.names
    ]
    assert used
    for module, name in used:
        home = importlib.import_module(module)
        assert hasattr(home, name) or importlib.util.find_spec(f"{module}.{name}"), f"{module} has no {name}"
