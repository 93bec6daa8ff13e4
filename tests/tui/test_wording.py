"""Advice for a command line, as the interface gives it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from inspector.tui.wording import OTHERWISE, in_words

FLAGS = re.compile(r'"[^"]*--(?:client-id|auth-server|scope|grant|client-secret-env|no-browser)[^"]*"')


@pytest.mark.parametrize(
    ("advice", "said"),
    [
        ("", ""),
        ("Log in again.", "Log in again."),
        ("Name fewer scopes with --scope.", f"Name fewer scopes with {OTHERWISE}."),
        ("Name it yourself with --auth-server URL.", f"Name it yourself with {OTHERWISE}."),
        ("A client with --client-id and --client-secret-env and --grant client-credentials.", f"A client with {OTHERWISE}."),
        ("See --grant for the others.", f"See {OTHERWISE} for the others."),
        ("Give it with --client-key.", "Give it with --client-key when you start Inspector."),
        ("--no-browser shows it.", "^w in the dialog of the login shows it."),
        ("It is a dash -- or two --- of them.", "It is a dash -- or two --- of them."),
    ],
)  # fmt: skip
def test_flags_become_the_verb_that_takes_their_values(advice: str, said: str) -> None:
    assert in_words(advice) == said


def test_no_flag_that_has_a_place_in_the_interface_is_left_in_any_advice_of_ours() -> None:
    folder = Path(__file__).parents[2] / "inspector" / "auth"
    advices = [found[0] for path in folder.glob("*.py") for found in FLAGS.finditer(path.read_text("utf-8"))]
    assert len(advices) > 5
    for advice in advices:
        assert not re.search(r"--(?:client-id|auth-server|scope|grant|no-browser)\b", in_words(advice)), advice
