"""How a login went, reduced from the journal: steps in order, what stopped it, who is logged in; hostile recordings."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.client.state.login import MAX_STEPS, Authorizations, authorization_steps
from inspector.journal.journal import Journal

ISSUER, SERVER = "https://login.example", "https://shop.example/mcp"


def tell(journal: Journal, *names: str) -> None:
    for name in names:
        journal.record_auth(name, True, f"about {name}")


def fetched(journal: Journal, ms: float = 10.0) -> int:
    facts = {"method": "GET", "url": f"{ISSUER}/.well-known", "status": 200, "ms": ms}
    return journal.record_auth("fetch", True, "the metadata", facts=facts)


def token(journal: Journal, **facts: Any) -> None:
    members = {
        "token_type": "Bearer",
        "expires_in": 60,
        "scope": ["read"],
        "refresh": True,
        "resource": SERVER,
        **facts,
    }
    journal.record_auth("token", True, "A Bearer token", facts=members)


def shapes(journal: Journal) -> list[tuple[str, str]]:
    return [(step.name, step.outcome) for step in authorization_steps(journal)]


def authorizations(journal: Journal) -> Authorizations:
    everything = Authorizations(journal)
    while everything.behind:
        everything.advance()
    return everything


def test_without_a_login_there_are_no_steps() -> None:
    journal = Journal.unnamed({})
    journal.record_life("", "connect", to=SERVER)
    assert authorization_steps(journal) == []
    assert authorizations(journal).logged_in() is None


def test_a_step_has_the_requests_that_were_made_for_it() -> None:
    journal = Journal.unnamed({})
    tell(journal, "challenge")
    requests = (fetched(journal, 10), fetched(journal, 2.5))
    tell(journal, "resource", "server")
    challenge, resource, server = authorization_steps(journal)
    assert (resource.fetches, resource.ms) == (requests, 12.5)
    assert challenge.fetches == server.fetches == ()


def test_what_a_failed_step_has_not_reached_is_named() -> None:
    journal = Journal.unnamed({})
    tell(journal, "challenge", "resource", "server", "metadata")
    journal.record_auth("issuer", False, "another", rule="C-AUTH-10", fix="publish it as it is named")
    steps = authorization_steps(journal)
    assert (steps[4].name, steps[4].outcome, steps[4].fix) == ("issuer", "failed", "publish it as it is named")
    assert [(step.name, step.outcome, step.n) for step in steps[5:]] == [
        (name, "open", 0) for name in ("scope", "registration", "authorize", "callback", "token")
    ]


@pytest.mark.parametrize(
    ("grant", "rest"),
    [
        ("client-credentials", ("scope", "registration", "token")),
        ("enterprise", ("scope", "registration", "exchange", "token")),
        ("workload", ("scope", "token")),
        ("device", ("scope", "registration", "device", "token")),
        ("one of a later version", ("scope", "registration", "authorize", "callback", "token")),
        ({"a": 1}, ("scope", "registration", "authorize", "callback", "token")),
    ],
)
def test_only_steps_of_the_grant_that_was_wanted_are_named(grant: Any, rest: tuple[str, ...]) -> None:
    journal = Journal.unnamed({})
    journal.record_auth("challenge", True, "401", facts={"grant": grant})
    tell(journal, "resource", "server", "metadata")
    journal.record_auth("issuer", False, "another")
    assert shapes(journal)[5:] == [(name, "open") for name in rest]


@pytest.mark.parametrize(
    ("step", "rest"), [("device", ["token"]), ("exchange", ["token"]), ("authorize", ["callback", "token"])]
)
def test_a_step_that_only_one_grant_has_tells_which_it_is(step: str, rest: list[str]) -> None:
    journal = Journal.unnamed({})
    tell(journal, "challenge", "resource", "scope", "registration", step)
    journal.record_auth("fetch", False, "it did not answer", facts={"url": ISSUER})
    assert shapes(journal)[6:] == [(name, "open") for name in rest]


def test_a_step_up_that_fails_has_left_nothing_out_that_was_known_before() -> None:
    journal = Journal.unnamed({})
    tell(journal, "challenge", "stepup")
    journal.record_life("", "failed", error={"message": "The login was ended."})
    assert shapes(journal)[3:] == [(name, "open") for name in ("registration", "authorize", "callback", "token")]


@pytest.mark.parametrize("name", ["token", "refresh", "request"])
def test_nothing_comes_after_what_a_login_ends_with(name: str) -> None:
    journal = Journal.unnamed({})
    tell(journal, "challenge", "resource")
    journal.record_auth(name, False, "refused")
    assert shapes(journal) == [("challenge", "ok"), ("resource", "ok"), (name, "failed")]


def test_what_was_not_in_order_is_a_note_where_the_login_went_on() -> None:
    journal = Journal.unnamed({})
    journal.record_auth("challenge", False, "401 without a challenge")
    tell(journal, "resource", "server")
    assert shapes(journal) == [("challenge", "note"), ("resource", "ok"), ("server", "ok")]


def test_a_no_of_the_person_is_a_step_though_no_flow_tells_it() -> None:
    journal = Journal.unnamed({})
    tell(journal, "challenge", "authorize")
    journal.record_life("", "failed", error={"message": "The login was ended.", "hint": "Begin again."})
    steps = authorization_steps(journal)
    assert [(step.name, step.outcome, step.text, step.fix) for step in steps if step.outcome == "failed"] == [
        ("end", "failed", "The login was ended.", "Begin again.")
    ]
    assert shapes(journal)[-2:] == [("callback", "open"), ("token", "open")]


def test_a_failure_after_the_login_is_none_of_the_login() -> None:
    journal = Journal.unnamed({})
    tell(journal, "challenge")
    token(journal)
    journal.record_life("", "failed", error={"message": "The server ended."})
    assert shapes(journal) == [("challenge", "ok"), ("token", "ok")]


def test_a_request_that_got_no_answer_stands_at_the_end() -> None:
    journal = Journal.unnamed({})
    tell(journal, "challenge")
    n = journal.record_auth("fetch", False, "it did not answer", facts={"url": ISSUER})
    failed = authorization_steps(journal)[1]
    assert (failed.name, failed.outcome, failed.fetches) == ("fetch", "failed", (n,))


def test_only_the_newest_login_is_shown_begun_by_a_challenge_or_unasked() -> None:
    journal = Journal.unnamed({})
    tell(journal, "challenge", "resource")
    token(journal)
    tell(journal, "challenge", "stepup")
    assert shapes(journal) == [("challenge", "ok"), ("stepup", "ok")]
    token(journal)
    fetched(journal)
    tell(journal, "resource", "server")
    assert shapes(journal) == [("resource", "ok"), ("server", "ok")]


def test_who_is_logged_in_until_they_are_not() -> None:
    journal = Journal.unnamed({})
    journal.record_auth("server", True, ISSUER, facts={"issuer": ISSUER})
    token(journal, missing=["write"], claims={"aud": [SERVER, "other"], "exp": 1})
    login = authorizations(journal).logged_in()
    assert login is not None
    assert (login.issuer, login.resource, login.scope, login.missing) == (ISSUER, SERVER, ("read",), ("write",))
    assert (login.ends - login.t, login.renewable, login.audience_fits) == (60_000_000, True, True)
    journal.record_auth("revoke", True, "withdrawn")
    assert authorizations(journal).logged_in() is None


def test_at_a_moment_of_a_recording_only_what_had_been_told_counts() -> None:
    journal = Journal.unnamed({})
    journal.record_auth("server", True, ISSUER, facts={"issuer": ISSUER})
    token(journal)
    journal.record_auth("revoke", True, "withdrawn")
    recorded = authorizations(journal)
    logged_in = {}
    for upto in (0, 1, 2, 3, None):
        recorded.upto = upto
        logged_in[upto] = recorded.logged_in() is not None
    assert logged_in == {0: False, 1: False, 2: True, 3: False, None: False}


def test_the_audience_is_compared_character_by_character() -> None:
    for audience, fits in ((SERVER, True), (f"{SERVER}/", False), ([], None), ({"a": 1}, None), (None, None)):
        journal = Journal.unnamed({})
        token(journal, claims={"aud": audience})
        login = authorizations(journal).logged_in()
        assert login is not None
        assert login.audience_fits is fits


def test_a_recording_tells_the_same_as_the_session(tmp_path: Path) -> None:
    path = tmp_path / "login.mcp.jsonl"
    journal = Journal.create(path, {})
    tell(journal, "challenge")
    fetched(journal)
    journal.record_auth("resource", False, "of another server", rule="C-AUTH-07", fix="name this one")
    live = authorization_steps(journal)
    journal.close()
    recorded = Journal.open(path)
    while recorded.refresh(1000):
        pass
    assert authorization_steps(recorded) == live


def test_a_login_without_end_costs_no_more_than_a_long_one() -> None:
    journal = Journal.unnamed({})
    tell(journal, "challenge", *(["metadata"] * (MAX_STEPS * 3)))
    assert len(authorization_steps(journal)) == MAX_STEPS


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)
NAMES = ("token_type", "expires_in", "scope", "missing", "refresh", "resource", "claims", "issuer", "ms", "url")


@given(
    st.lists(
        st.tuples(
            st.sampled_from(("challenge", "server", "fetch", "token", "revoke", "x")),
            st.dictionaries(st.sampled_from(NAMES), VALUES, max_size=6),
        ),
        max_size=5,
    )
)
def test_values_of_any_type_do_no_harm(steps: list[tuple[str, dict[str, Any]]]) -> None:
    journal = Journal.unnamed({})
    for step, facts in steps:
        journal.record_auth(step, False, "", facts=facts)
        journal.record_auth(step, True, "", facts={"token_type": "Bearer"} | facts)
    everything = authorizations(journal)
    everything.steps()
    login = everything.logged_in()
    assert login is None or login.audience_fits in (True, False, None)
