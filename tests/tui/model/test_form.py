"""The verbs of an item and its form."""

from __future__ import annotations

from dataclasses import replace

import pytest

from inspector.tui.model.form import FORM_VERBS, FormFacts
from inspector.tui.verbs import BY_ID

TOOL = FormFacts()
RESOURCE = FormFacts(kind="resource", verb="read", editable=False, can_subscribe=True)
NOTHING = FormFacts(kind="")
RECORDED = FormFacts(live=False, answered=True, past=True)


def line(facts: FormFacts) -> str:
    return " ".join(f"{verb.partition('.')[2]}={title}" if title else verb for verb, title in FORM_VERBS.line(facts))


@pytest.mark.parametrize(
    ("facts", "shown"),
    [
        (TOOL, "call=call form.leave json=json form.editor form.model form.save form.load"),
        (
            replace(TOOL, answered=True, past=True, saved=True, as_json=True),
            "call=call form.result form.leave json=form form.editor form.model form.past-calls form.save "
            "form.saved-calls form.load",
        ),
        # While it runs, escape cancels.
        (replace(TOOL, running=True), "call=call call.cancel json=json form.editor form.model form.save form.load"),
        (
            replace(TOOL, running=True, asks=True),
            "call=to question call.cancel json=json form.editor form.model form.save form.load",
        ),
        (
            replace(TOOL, may_be_task=True, other_revision=True, editable=False),
            "call=call form.leave form.call-task revision=other revision form.model form.save form.load",
        ),
        (RESOURCE, "call=read form.leave subscribe=subscribe form.save"),
        (replace(RESOURCE, subscribed=True), "call=read form.leave subscribe=unsubscribe form.save"),
        (replace(RESOURCE, can_subscribe=False), "call=read form.leave form.save"),
        (FormFacts(kind="prompt", verb="get"), "call=get form.leave json=json form.editor form.save"),
        (RECORDED, "form.leave"),
        (NOTHING, ""),
    ],
)
def test_the_keys_that_are_shown(facts: FormFacts, shown: str) -> None:
    assert line(facts) == shown


@pytest.mark.parametrize(
    ("facts", "verbs"),
    [
        (TOOL, "call save empty leave load model past-calls about"),
        (replace(TOOL, running=True), "call save empty leave load model past-calls about result"),
        (
            replace(TOOL, past=True, saved=True),
            "call save empty leave load model past-calls about older-call saved-calls",
        ),
        (RESOURCE, "call save empty leave about"),
        (RECORDED, "leave about model result"),
        (NOTHING, "about"),
    ],
)
def test_which_verbs_work(facts: FormFacts, verbs: str) -> None:
    asked = (*TESTED, "call", "about")
    works = {verb for verb in asked if FORM_VERBS.available(f"form.{verb}", facts)}
    assert works == set(verbs.split())


TESTED = "save empty leave result call-task load model older-call past-calls saved-calls".split()


def test_a_resource_is_read_and_a_tool_is_not() -> None:
    for verb, facts, works in (
        ("resource.read", RESOURCE, True),
        ("resource.read", TOOL, False),
        ("resource.read", replace(RESOURCE, live=False), False),
        ("resource.subscribe", RESOURCE, True),
        ("resource.subscribe", replace(RESOURCE, can_subscribe=False), False),
    ):
        assert FORM_VERBS.available(verb, facts) is works


def test_what_is_shown_works_and_is_in_the_table() -> None:
    for facts in (TOOL, RESOURCE, RECORDED, NOTHING, replace(TOOL, running=True, answered=True, past=True)):
        for verb, _ in FORM_VERBS.line(facts):
            assert verb in BY_ID
            assert FORM_VERBS.available(verb, facts)
