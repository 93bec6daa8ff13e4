"""The `WWW-Authenticate` field is read with a tokenizer (C-AUTH-02)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.auth.challenge import Challenge, chosen, parse


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("Bearer", [("bearer", {})]),
        ("bearer , DPoP", [("bearer", {}), ("dpop", {})]),
        ('Bearer realm="a, b", scope="x y"', [("bearer", {"realm": "a, b", "scope": "x y"})]),
        ('Newauth realm="apps", type=1, title="Login to \\"apps\\"", Basic realm="simple"',
         [("newauth", {"realm": "apps", "type": "1", "title": 'Login to "apps"'}), ("basic", {"realm": "simple"})]),
        ('Negotiate abc==, Bearer resource_metadata="https://h/x"',
         [("negotiate", {}), ("bearer", {"resource_metadata": "https://h/x"})]),
        ("Bearer resource_metadata=https://h/x?a=1", [("bearer", {"resource_metadata": "https://h/x?a=1"})]),
        ('Bearer error="invalid_token" scope="forgotten comma"',
         [("bearer", {"error": "invalid_token", "scope": "forgotten comma"})]),
        ('BEARER SCOPE = "a"', [("bearer", {"scope": "a"})]),
        ('Bearer scope="first", scope="second"', [("bearer", {"scope": "first"})]),
        ('Bearer realm="a\\"Basic realm=b"', [("bearer", {"realm": 'a"Basic realm=b'})]),
        ('Basic realm="Bearer scope=evil"', [("basic", {"realm": "Bearer scope=evil"})]),
        (",,Bearer,,", [("bearer", {})]),
        ('Bearer "lost", Basic realm="x"', [("bearer", {}), ("basic", {"realm": "x"})]),
        ('Bearer realm="never closed, Basic x', [("bearer", {"realm": ""})]),
        ("", []),
        ("=", []),
        ('"', []),
    ],
)  # fmt: skip
def test_challenges_of_any_scheme_are_read(value: str, expected: list[tuple[str, dict[str, str]]]) -> None:
    assert [(challenge.scheme, dict(challenge.parameters)) for challenge in parse([value])] == expected


def test_several_fields_are_one_list() -> None:
    assert [challenge.scheme for challenge in parse(["Basic realm=x", 'Bearer scope="a"'])] == ["basic", "bearer"]


def test_a_token68_is_kept() -> None:
    assert parse(["Negotiate YWJj=="]) == [Challenge("negotiate", {}, "YWJj==")]


def test_the_challenge_that_says_most_is_chosen() -> None:
    """Bearer before DPoP, but one with a metadata URL before both."""
    both = parse(['Basic realm=x, DPoP algs="ES256", Bearer scope="a"'])
    assert chosen(both) == both[2]
    with_url = parse(['Bearer scope="a", DPoP resource_metadata="https://h/x"'])
    assert chosen(with_url) == with_url[1]
    assert chosen(parse(["Basic realm=x"])) is None


def test_scopes_are_words_in_order_and_once_each() -> None:
    (challenge,) = parse(['Bearer scope="  b a  b \x07bad"'])
    assert challenge.scope == ("b", "a")
    assert Challenge("bearer", {}).scope is None
    assert Challenge("bearer", {"scope": "  "}).scope is None


@pytest.mark.parametrize(
    "hostile", ['\\"' * 40_000, '"' * 60_000, "a=" * 30_000, "a " * 30_000, 'Bearer a="' * 6_000, "," * 60_000]
)
def test_hostile_values_are_bounded_work(hostile: str) -> None:
    assert len(parse([hostile] * 50)) <= 64


@given(st.lists(st.text(alphabet=st.sampled_from('Bearsd =",\\\t~/x1'), max_size=60), max_size=3))
def test_anything_can_be_read(values: list[str]) -> None:
    for challenge in parse(values):
        assert challenge.scheme == challenge.scheme.lower()
