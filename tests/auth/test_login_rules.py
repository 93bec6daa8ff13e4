"""Each rule that a step names has a text, so that a login is readable without the specification."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from inspector.auth.login_rules import rule_of, rules

FOLDER = Path(__file__).parents[2] / "inspector" / "auth"
NAMED = {
    rule
    for path in FOLDER.glob("*.py")
    for rule in re.findall(r'"(C-AUTH-\d+|RFC \d+(?: section [\d.]+)?)"', path.read_text("utf-8"))
}


def test_every_rule_that_a_step_names_is_reported() -> None:
    assert len(NAMED) > 20
    assert NAMED - set(rules()) == set()


@pytest.mark.parametrize("name", sorted(rules()))
def test_a_rule_is_a_sentence_with_a_source(name: str) -> None:
    rule = rule_of(name)
    assert rule is not None
    assert rule.text.endswith(".")
    assert len(rule.text) < 400
    assert rule.source
    assert "C-AUTH" not in rule.text


def test_what_is_not_a_rule_of_ours_has_no_words() -> None:
    assert rule_of("") is None
    assert rule_of("C-AUTH-99") is None
