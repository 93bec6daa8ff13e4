"""A login step that is run again alone: its requests and its result."""

from __future__ import annotations

from typing import Any

import pytest

from inspector.auth import rerun_step
from inspector.auth.actions import Fetch
from inspector.auth.authorize import Authorization
from inspector.auth.models import Grant
from inspector.auth.options import AuthOptions
from inspector.auth.rerun_step import EarlierSteps, StepRecorder
from tests.auth.fakes import FakeRecorder
from tests.auth.scripted_servers import (
    AS_PLACE,
    ISSUER,
    NOW,
    PRM_PLACE,
    REDIRECT,
    SERVER,
    World,
    grant,
    metadata,
    token,
)

KNOWN = EarlierSteps((f'Bearer resource_metadata="{PRM_PLACE}"',), ISSUER, REDIRECT, "C-AUTH-09", True)


def state(had: Grant | None = None, **options: Any) -> Authorization:
    made = Authorization(SERVER, AuthOptions(**options), now=lambda: NOW)
    made.grant = had
    return made


def fetched(world: World) -> list[tuple[str, str]]:
    return [(action.method, action.url) for action in world.log if isinstance(action, Fetch)]


def granted() -> Grant:
    return grant(refresh_token="refresh-1", expires_at=NOW + 1000, token_endpoint=f"{ISSUER}/token")


def test_the_protected_resource_metadata_are_read_again_from_the_place_that_the_challenge_named() -> None:
    world = World()
    world.run(rerun_step.step(state(), "resource", KNOWN))
    assert fetched(world) == [("GET", PRM_PLACE)]
    assert [(step.step, step.ok) for step in world.recorded_steps()] == [("resource", True)]


@pytest.mark.parametrize("name", ["metadata", "issuer"])
def test_the_metadata_are_read_again_and_checked_as_ever(name: str) -> None:
    world = World({AS_PLACE: metadata(issuer=f"{ISSUER}/")})
    world.run(rerun_step.step(state(), name, KNOWN))
    assert fetched(world) == [("GET", AS_PLACE)]
    assert not world.recorded_steps()[-1].ok
    assert "Inspector ignores it" in world.recorded_steps()[-1].text


def test_metadata_of_2025_03_26_are_read_again_as_of_then() -> None:
    world = World()
    world.run(rerun_step.step(state(), "metadata", EarlierSteps((), "https://shop.example", "", "C-AUTH-35")))
    assert fetched(world) == [("GET", "https://shop.example/.well-known/oauth-authorization-server")]
    assert "default endpoints" in world.recorded_steps()[-1].text


def test_a_client_is_registered_again_for_the_same_address_and_kept() -> None:
    world = World({f"{ISSUER}/register": (201, {"client_id": "registered-2"})})
    world.run(rerun_step.step(state(), "registration", KNOWN))
    assert fetched(world) == [("GET", AS_PLACE), ("POST", f"{ISSUER}/register")]
    assert world.clients[ISSUER].client_id == "registered-2"
    assert dict(world.recorded_steps()[-1].facts)["redirect_uri"] == REDIRECT


@pytest.mark.parametrize("name", ["refresh", "token"])
def test_a_token_is_renewed_at_once_where_it_can_be(name: str) -> None:
    world, now = World({f"{ISSUER}/token": token(access_token="new", refresh_token="refresh-2")}), state(granted())
    world.run(rerun_step.step(now, name, KNOWN))
    assert now.grant is not None
    assert (now.grant.access_token, now.grant.refresh_token) == ("new", "refresh-2")
    assert world.store[ISSUER, SERVER].access_token == "new"


@pytest.mark.parametrize(
    ("status", "challenge", "words"),
    [
        (401, (("WWW-Authenticate", "Bearer"),), "401, with a supported challenge"),
        (401, (("WWW-Authenticate", "Basic"),), "401, without a supported challenge"),
        (200, (), "200, so this request needs no login"),
    ],
)
def test_the_server_is_asked_again_without_a_token(status: int, challenge: Any, words: str) -> None:
    world, now = World(), state(granted())
    world.pages[SERVER] = (status, {}, challenge)
    world.run(rerun_step.step(now, "challenge", KNOWN))
    assert fetched(world) == [("POST", SERVER)]
    sent = next(action for action in world.log if isinstance(action, Fetch))
    assert "authorization" not in {name.lower() for name, _ in sent.fields}
    assert words in world.recorded_steps()[-1].text
    assert now.grant == granted()


@pytest.mark.parametrize(
    "name", ["server", "scope", "authorize", "callback", "device", "exchange", "end", "fetch", "x"]
)
def test_what_needs_a_person_a_code_or_nothing_at_all_is_not_run_alone(name: str) -> None:
    world = World()
    assert rerun_step.why_not(name, KNOWN, state())
    world.run(rerun_step.step(state(), name, KNOWN))
    assert fetched(world) == []


@pytest.mark.parametrize("name", ["token", "refresh"])
def test_a_spent_code_is_never_sent_again(name: str) -> None:
    """C-AUTH-22."""
    world = World()
    assert rerun_step.why_not(name, KNOWN, state())
    world.run(rerun_step.step(state(), name, KNOWN))
    assert fetched(world) == []


def test_no_client_is_registered_in_a_step_that_registered_none() -> None:
    assert "registered no client" in rerun_step.why_not("registration", EarlierSteps(issuer=ISSUER), state())


def test_a_missing_response_is_recorded_and_not_raised() -> None:
    world = World({PRM_PLACE: (500, {}), AS_PLACE: (500, {})})
    world.run(rerun_step.step(state(), "metadata", KNOWN))
    assert not world.recorded_steps()[-1].ok
    assert world.recorded_steps()[-1].step == "metadata"


def test_what_was_known_is_taken_from_the_steps_and_strange_facts_are_nothing() -> None:
    strange: Any = {"challenge": ["Bearer x=1", 5, None], "issuer": {"a": 1}, "redirect_uri": 7}
    known = rerun_step.before([("challenge", "", strange), ("server", "", strange), ("metadata", "C-AUTH-09", strange)])
    assert known == EarlierSteps(("Bearer x=1",), "", "", "C-AUTH-09", False)
    known = rerun_step.before([("server", "", {"issuer": ISSUER}), ("registration", "", {"redirect_uri": REDIRECT})])
    assert (known.issuer, known.redirect_uri, known.registered) == (ISSUER, REDIRECT, True)


def test_what_is_given_belongs_to_the_step_that_is_run_again() -> None:
    recorder = FakeRecorder()
    beside = StepRecorder(recorder, 7, 2)
    beside.auth("metadata", True, "there", facts={"status": 200})
    assert recorder.steps() == [("metadata", True)]
    assert next(iter(recorder.journal.events())).fields["facts"] == {"status": 200, "again": 7, "run": 2}


def test_nothing_that_is_found_so_is_used() -> None:
    world, now = World({AS_PLACE: metadata(token_endpoint="https://login.example/other")}), state(granted())
    world.run(rerun_step.step(now, "metadata", KNOWN))
    assert now.discovery is None
    assert now.grant == granted()
