"""The verbs of a question of the server."""

from __future__ import annotations

from dataclasses import replace

import pytest

from inspector.tui.model.ask import ASK_VERBS, AnswerBy, AskFacts
from inspector.tui.verbs import BY_ID

FORM = AskFacts()
LINK = AskFacts(by=AnswerBy.LINK)
SAMPLING = AskFacts(topic="sampling", by=AnswerBy.TEXT)
ROOTS = AskFacts(topic="roots", by=AnswerBy.ROOTS)
OVER = AskFacts(is_open=False)


def line(facts: AskFacts) -> str:
    return " ".join(f"{verb.partition('.')[2]}={title}" if title else verb for verb, title in ASK_VERBS.line(facts))


@pytest.mark.parametrize(
    ("facts", "shown"),
    [
        (FORM, "ask.accept ask.decline ask.later json=json ask.cancel standing=always"),
        (
            replace(FORM, as_json=True, from_now_on=True, several=True),
            "ask.accept ask.decline ask.later ask.next json=form ask.cancel standing=answer only once",
        ),
        (LINK, "ask.open ask.copy ask.accept ask.decline ask.later ask.cancel standing=always"),
        # A link that must not be opened has no key for it.
        (replace(LINK, by=AnswerBy.REFUSED_LINK), "ask.accept ask.decline ask.later ask.cancel standing=always"),
        (SAMPLING, "accept=answer decline=decline ask.later json=json standing=always"),
        (
            replace(SAMPLING, ends_call=True, as_json=True),
            "accept=answer decline=decline, end call ask.later json=text standing=always",
        ),
        (ROOTS, "accept=answer standing=always answer this decline=decline ask.later json=json"),
        (replace(ROOTS, as_json=True), "accept=answer decline=decline ask.later json=text"),
        (OVER, "ask.its-messages later=list"),
        (replace(OVER, looks_back=True), "answer=go to answer ask.its-messages later=list"),
    ],
)
def test_the_keys_that_are_shown(facts: AskFacts, shown: str) -> None:
    assert line(facts) == shown


def test_only_an_elicitation_is_cancelled_and_only_a_fit_link_is_opened() -> None:
    for verb, facts, works in (
        ("ask.cancel", FORM, True),
        ("ask.cancel", SAMPLING, False),
        ("ask.cancel", OVER, False),
        ("ask.open", LINK, True),
        ("ask.open", replace(LINK, by=AnswerBy.REFUSED_LINK), False),
        ("ask.open", replace(LINK, is_open=False), False),
        ("form.json", FORM, False),
        ("form.json", SAMPLING, True),
        ("ask.accept", OVER, False),
        ("ask.later", OVER, True),
    ):
        assert ASK_VERBS.available(verb, facts) is works, (verb, facts)


def test_what_is_shown_is_in_the_table() -> None:
    for facts in (FORM, LINK, SAMPLING, ROOTS, OVER):
        assert all(verb in BY_ID for verb, _ in ASK_VERBS.line(facts))
