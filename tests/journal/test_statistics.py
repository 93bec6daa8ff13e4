"""Statistics of a recording, recomputed by hand."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from inspector.journal import statistics as stats
from inspector.journal.alterations import Alteration
from inspector.journal.format import header_line
from inspector.journal.journal import Journal, altered
from inspector.journal.statistics import measure, percentile
from tests.cli.conftest import Run
from tests.cli.conftest import run as run

SECOND = 1_000_000


class Script:
    """A recording whose events happen at chosen times, in seconds."""

    def __init__(self) -> None:
        self.journal = Journal.unnamed({})

    def at(self, seconds: float) -> None:
        self.journal.moment = int(seconds * SECOND)

    def send(self, seconds: float, **message: object) -> None:
        self.at(seconds)
        whole = {"jsonrpc": "2.0", **message}
        self.journal.record_sent("stdio", json.dumps(whole).encode(), whole)

    def receive(self, seconds: float, **message: object) -> None:
        self.at(seconds)
        self.journal.record_received("stdio", [json.dumps({"jsonrpc": "2.0", **message}).encode()])

    def call(self, id: int, tool: str, begin: float, end: float | None, **answer: object) -> None:
        self.send(begin, id=id, method="tools/call", params={"name": tool})
        if end is not None:
            self.receive(end, id=id, **(answer or {"result": {}}))


def test_counts_errors_and_percentiles_of_each_tool() -> None:
    script = Script()
    for n, seconds in enumerate((0.1, 0.2, 0.3, 0.4)):
        script.call(n, "echo", n, n + seconds)
    script.call(8, "fail", 5, 5.5, result={"isError": True})
    script.call(9, "hang", 6, None)
    measured = measure(script.journal)
    echo, fail, hang = (
        next(group for group in measured.groups if group.name == name) for name in ("echo", "fail", "hang")
    )
    assert (echo.count, echo.errors, echo.open) == (4, 0, 0)
    assert [echo.percentile(part) for part in (50, 95, 100)] == [200_000, 400_000, 400_000]
    assert (fail.count, fail.errors) == (1, 1)
    assert (hang.count, hang.open, hang.percentile(50)) == (1, 1, None)
    assert measured.server == 1_500_000
    assert measured.total.count == 6
    assert measured.groups[0] is echo  # the longest first


def test_overlapping_calls_count_once_in_the_time_of_the_server() -> None:
    script = Script()
    script.send(0, id=1, method="tools/call", params={"name": "a"})
    script.send(1, id=2, method="tools/call", params={"name": "b"})
    script.receive(3, id=1, result={})
    script.receive(4, id=2, result={})
    assert measure(script.journal).server == 4 * SECOND


def test_the_time_of_a_person_is_not_the_servers() -> None:
    script = Script()
    script.send(0, id=1, method="tools/call", params={"name": "ask"})
    script.receive(1, id="q", method="elicitation/create", params={})
    script.send(9, id="q", result={"action": "accept"})
    script.receive(10, id=1, result={})
    measured = measure(script.journal)
    ask = next(group for group in measured.groups if group.name == "ask")
    assert (ask.percentile(50), ask.person) == (2 * SECOND, 8 * SECOND)
    assert (measured.server, measured.person) == (2 * SECOND, 8 * SECOND)


def test_the_time_of_the_network_is_that_of_connecting() -> None:
    script = Script()
    script.journal.record_life("", "connect", ms=12.5)
    script.journal.record_life("", "connect", ms="long")
    assert measure(script.journal).network == 12_500


@pytest.mark.parametrize(("did", "count"), [("answered", 1), ("refused", 1), ("delayed by 2 s", 1), ("changed", 0)])
def test_requests_that_an_addon_answered_or_delayed_are_counted(did: str, count: int, run: Run, tmp_path: Path) -> None:
    script = Script()
    script.journal = Journal.create(path := tmp_path / "a.mcp.jsonl", {}, about={"addons": ["a.py"]})
    script.call(1, "echo", 0, 0.25)
    script.send(1, id=2, method="tools/call", params={"name": "echo"})
    steps = altered(script.journal, [Alteration("a.py", did)])
    script.journal.record_received("stdio", [b'{"jsonrpc":"2.0","id":2,"result":{}}'], steps)
    assert measure(script.journal).by_addons == count
    script.journal.close()
    script.journal.release()
    notice = "Addons answered or delayed 1 request: these times are not the server's."
    assert (notice in run("stats", str(path)).err) == (count == 1)


def test_a_part_of_a_recording() -> None:
    script = Script()
    script.call(1, "a", 0, 1)
    script.call(2, "b", 2, 3)
    assert [group.name for group in measure(script.journal, 3).groups] == ["b"]
    assert [(group.name, group.open) for group in measure(script.journal, 1, 1).groups] == [("a", 1)]


def test_very_many_names_share_a_row(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stats, "MAX_GROUPS", 3)
    script = Script()
    for n in range(9):
        script.call(n, f"tool-{n}", n, n + 0.5)
    measured = measure(script.journal)
    assert sum(group.count for group in measured.groups) == 9
    assert len(measured.groups) == 4


@pytest.mark.parametrize(("part", "value"), [(0, 1), (50, 2), (75, 3), (76, 4), (100, 4)])
def test_nearest_rank(part: float, value: int) -> None:
    assert percentile([1, 2, 3, 4], part) == value
    assert percentile([], part) is None


def test_the_verb_prints_a_row_for_each_tool(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "a.mcp.jsonl"
    script = Script()
    script.journal = Journal.create(path, {})
    script.call(1, "echo\x1b[31m", 0, 0.25)
    script.call(2, "fail", 1, 1.5, error={"code": 1, "message": "no"})
    script.journal.close()
    script.journal.release()
    lines = run("stats", str(path)).out.splitlines()
    assert lines[0].split() == ["count", "errors", "p50", "p95", "max", "bytes"]
    assert lines[1].split()[:6] == ["→", "tools/call", "fail", "1", "1", "500"]
    assert "echo␛[31m" in lines[2]
    assert lines[3].split()[:3] == ["total", "2", "1"]
    assert lines[-1] == "1.5 s in all: server 750 ms, network 0 ms."
    document = json.loads(run("stats", str(path), "--json", "--sort", "count").out)
    assert document["total"]["count"] == 2
    assert document["methods"][0]["p50"] in (0.25, 0.5)
    assert run("stats", str(path), "--sort", "name").code == 2


def test_a_clock_that_went_back_took_no_time(tmp_path: Path) -> None:
    path = tmp_path / "x.mcp.jsonl"
    line = {"dir": "local", "kind": "life", "ch": "", "event": "x"}
    lines = [line | {"n": n, "t": 9 - n} for n in (1, 2)]
    path.write_bytes(header_line({}) + b"".join(json.dumps(each).encode() + b"\n" for each in lines))
    journal = Journal.open(path)
    journal.refresh()
    assert measure(journal).lasted == 0
    journal.release()
