"""Whether a server still offers what was pinned, and how that is written into the recording."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from inspector.check.drift import MAX_NOTED, Drift, drift_from, note, phrase
from inspector.client.pins import Pin
from inspector.journal.journal import Journal


def pin(**surface: Any) -> Pin:
    return Pin(Path("x"), "s", "s", datetime(2026, 1, 2, tzinfo=UTC), {"revision": "2025-11-25", "tools": []} | surface)


def tools(*descriptions: str) -> list[dict[str, Any]]:
    return [{"name": f"t{at}", "description": text} for at, text in enumerate(descriptions)]


def test_what_is_as_it_was_has_not_drifted() -> None:
    assert drift_from({"tools": tools("a"), "revision": "2025-11-25"}, pin(tools=tools("a"))) is None


def test_the_revision_that_is_spoken_is_no_drift() -> None:
    assert drift_from({"tools": [], "revision": "2026-07-28", "era": "modern"}, pin()) is None


def test_in_another_revision_only_texts_that_both_have_are_compared() -> None:
    then = [{"name": "t", "title": "T", "description": "a", "annotations": {"readOnlyHint": True}}, {"name": "gone"}]
    now = {"tools": [{"name": "t", "description": "b"}], "revision": "2024-11-05", "instructions": "new"}
    drift = drift_from(now, pin(tools=then))
    assert drift is not None
    assert [phrase(change) for change in drift.changes] == ["tool t: description changed"]
    assert drift_from(now | {"tools": [{"name": "t", "description": "a"}]}, pin(tools=then)) is None


def test_lists_that_were_not_read_are_omitted() -> None:
    assert drift_from({"tools": None, "revision": "2025-11-25"}, pin(tools=tools("a"))) is None


def test_what_a_model_is_told_comes_first() -> None:
    drift = drift_from(
        {"tools": tools("a", "changed")[1:], "prompts": [], "revision": "2025-11-25"},
        pin(tools=tools("a", "b"), prompts=[]),
    )
    assert drift is not None
    assert [change.severity for change in drift.changes] == ["changed", "breaking"]
    assert phrase(drift.changes[0]) == "tool t1: description changed"
    assert drift.sentence == (
        "The server differs from its pin of 2026-01-02 (1 breaking, 1 changed). Texts for models changed: tool t1."
    )


def test_each_change_is_a_finding_on_the_answer_in_which_it_came() -> None:
    journal = Journal.unnamed({})
    request = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    journal.record_sent("stdio", b'{"jsonrpc":"2.0","id":1,"method":"tools/list"}', request)
    journal.record_received("stdio", [b'{"jsonrpc":"2.0","id":1,"result":{"tools":[]}}'])
    drift = drift_from({"tools": tools("x"), "instructions": "new", "revision": "2025-11-25"}, pin(tools=tools("a")))
    assert isinstance(drift, Drift)
    note(journal, drift)
    assert [(one.n, one.rule, one.level) for one in journal.findings.all()] == [(0, "pin", "must"), (2, "pin", "must")]
    assert "tool t0: description changed" in journal.findings.of(2)[0].message


@pytest.mark.parametrize("amount", [MAX_NOTED, MAX_NOTED + 5])
def test_there_is_a_bound_on_the_findings(amount: int) -> None:
    journal = Journal.unnamed({})
    drift = drift_from({"tools": [], "revision": "2025-11-25"}, pin(tools=tools(*["x"] * amount)))
    assert drift is not None
    note(journal, drift)
    assert len(journal) == min(amount, MAX_NOTED) + (amount > MAX_NOTED)
