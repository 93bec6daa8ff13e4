"""The edge of the detail tells when a message was, how long it took, and to what it belongs."""

from __future__ import annotations

import pytest

from inspector.journal.findings import Finding
from inspector.journal.format import Dir
from inspector.journal.journal import Journal
from inspector.tui.log.detail import Edge, edge_of_difference, edge_of_event
from tests.tui.recorded_conversation import Talk, example
from tests.tui.tui_screens import plain


def edge(journal: Journal, n: int, *, folded: int = 0) -> Edge:
    return edge_of_event(journal, n, now=0, folded=folded)


@pytest.mark.parametrize(("n", "note"), [
    (1, ""), (2, "answered by ← 1"), (3, "in answer to → 1"), (5, "about → 2"), (6, "within → 2"),
    (8, "answered by ← 3"), (12, "no answer yet"), (13, "answers an unknown request"),
])  # fmt: skip
def test_a_message_names_the_one_to_which_it_belongs(n: int, note: str) -> None:
    talk = example()
    talk.call(4, "echo")
    talk.say(99, "odd")
    assert plain(edge(talk.journal, n).tab_note) == note


def test_the_facts_are_time_duration_and_mark() -> None:
    talk = example()
    talk.journal.mark(9, "the second page\nis missing")
    clock = talk.journal.clock(9_712_000).strftime("%H:%M:%S.712")
    assert [plain(fact) for fact in edge(talk.journal, 9).facts] == [clock, "612 ms", "* the second page is missing"]
    assert [tab.id for tab in edge(talk.journal, 9).tabs] == ["parsed", "raw", "http", "findings", "note"]
    talk.journal.mark(9)
    assert plain(edge(talk.journal, 9).facts[-1]) == "* marked"


def test_the_tab_about_the_connection_is_named_by_what_it_is() -> None:
    journal = Talk({"kind": "http"}).journal
    journal.record_http("post-1", Dir.SEND, method="POST", url="https://x.example/mcp", headers=[])
    assert edge(journal, len(journal)).tabs[2].label == "http"
    assert edge(example().journal, 9, folded=11).tabs[2].label == "process", "stdio has no HTTP"
    start = example().journal
    n = start.record_life("", "negotiation", step="initialize", text="")
    assert edge(start, n, folded=11).tabs[2].label == "events", "of the connection as a whole"


def test_the_time_of_a_person_stands_apart() -> None:
    talk = Talk()
    talk.at(0).call(1, "order-pizza")
    talk.at(500).receive({"jsonrpc": "2.0", "id": 7, "method": "elicitation/create", "params": {"message": "Size?"}})
    talk.at(14_500).send({"jsonrpc": "2.0", "id": 7, "result": {"action": "accept", "content": {"size": "l"}}})
    n = talk.at(15_700).say(1, "ordered")
    assert [plain(fact) for fact in edge(talk.journal, n).facts][1:] == ["1.7 s", "+14.0 s yours"]


def test_the_tabs_count_what_they_have() -> None:
    talk = example()
    assert [tab.number for tab in edge(talk.journal, 9).tabs] == ["", "", "", ""]
    talk.journal.findings.add(Finding(9, "TOOL-1", "must", "odd"))
    assert [tab.number for tab in edge(talk.journal, 9, folded=7).tabs] == ["", "", "7", "1"]
    # A difference names both messages.
    assert plain(edge_of_difference(talk.journal.index, 7, 9).title) == "← 2  and  ← 3  compared"
