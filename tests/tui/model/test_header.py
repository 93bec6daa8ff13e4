"""The header: the state of a session, and what needs the user, by the facts about it."""

import pytest

from inspector.tui.model.header import HeaderFacts, needs, state

LONG = "a notice that says in many more words what is unusual"


@pytest.mark.parametrize(("facts", "word", "role"), [
    (HeaderFacts(), "connected", "received"),
    (HeaderFacts("connecting"), "connecting", "progress"),
    (HeaderFacts("failed"), "not connected", "error"),
    (HeaderFacts("failed", unauthorized=True), "not authorized", "error"),
    (HeaderFacts(exchange_lost=True, unchecked=True), "connection lost", "error"),
    (HeaderFacts("connecting", exchange_lost=True), "connecting", "progress"),
    (HeaderFacts(unchecked=True), "certificate not checked", "error"),
    (HeaderFacts("failed", instead=("login", "progress")), "login", "progress"),
])  # fmt: skip
def test_the_state(facts: HeaderFacts, word: str, role: str) -> None:
    assert state(facts) == (word, role)


@pytest.mark.parametrize(("facts", "long", "short"), [
    (HeaderFacts(), "", ""),
    (HeaderFacts(findings=1), "1 finding in Messages", "1"),
    (HeaderFacts(questions=2, findings=1200), "2 questions  1,200 findings in Messages", "2  1,200"),
    (HeaderFacts(declined=1, incomplete="recording full"),
     "1 question declined unseen  recording full", "1 declined  recording full"),
    (HeaderFacts(host="its host mixes Cyrillic and Latin letters"), "its host mixes Cyrillic and Latin letters", "host"),
    (HeaderFacts(notices=("file is torn",)), "file is torn", "1 notice"),
    (HeaderFacts(notices=(LONG,)), "1 notice: Server tab", "1 notice"),
    (HeaderFacts(notices=("one", "two")), "2 notices: Server tab", "2 notices"),
])  # fmt: skip
def test_what_needs_the_user(facts: HeaderFacts, long: str, short: str) -> None:
    assert "  ".join(need.text for need in needs(facts)) == long
    assert "  ".join(need.short for need in needs(facts)) == short
