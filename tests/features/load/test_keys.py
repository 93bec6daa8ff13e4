"""The keys of a load test: which are shown, and which work."""

from __future__ import annotations

import pytest

from inspector.features.load.keys import LOAD_VERBS, LoadFacts
from inspector.tui.model.form import FORM_VERBS, FormFacts
from tests.cli.conftest import Run
from tests.tui.model.verb_tables import Verbs

LOAD = Verbs("load", LOAD_VERBS)


@pytest.mark.parametrize(
    ("facts", "line"),
    [
        (LoadFacts(has_rate=True, paused=True), "pause=go on  faster  slower  leave=stop"),
        (
            LoadFacts(over=True, report=True, recorded=True, narrow=True),
            "leave=back  report  edit  its-messages  next-view",
        ),
    ],
)
def test_the_keys_that_are_shown(facts: LoadFacts, line: str) -> None:
    assert LOAD.line(facts) == line


def test_before_the_run_only_the_way_back_works() -> None:
    assert LOAD.works("leave", LoadFacts())
    rests = "pause faster slower report edit its-messages next-view".split()
    assert not [verb for verb in rests if LOAD.works(verb, LoadFacts())]


def test_a_tool_that_can_be_called_can_be_loaded() -> None:
    form = Verbs("form", FORM_VERBS)
    assert form.works("load", FormFacts())
    assert not form.works("load", FormFacts(live=False))
    assert not form.works("load", FormFacts(kind="resource"))


def test_a_word_that_is_not_an_argument_is_named(run: Run) -> None:
    ran = run("load", "urn://a", "x=1", "--", "CMD")
    assert ran.code == 2
    assert "Unexpected argument “urn://a”" in ran.err
    assert "inspector load TOOL KEY=VALUE -- COMMAND" in ran.err
