"""The token endpoint: how a client authenticates there, and what it may answer."""

from __future__ import annotations

import base64
from typing import Any
from urllib.parse import quote_plus

import pytest

from inspector.auth.token_endpoint import TokenRefused
from inspector.errors import AuthorizationNeeded
from tests.auth.scripted_servers import AS_PLACE, ISSUER, NOW, SERVER, Refused, World, authorization, metadata, token

TOKEN = f"{ISSUER}/token"


def run(world: World, **options: Any) -> list[tuple[str, str]]:
    state = authorization(**options)
    assert world.run(state.answer(Refused(), []))
    return state.fields("POST", SERVER)


def refused(world: World, **options: Any) -> AuthorizationNeeded:
    with pytest.raises(AuthorizationNeeded) as caught:
        run(world, **options)
    assert caught.value.exit_code == 3
    assert "\x1b" not in caught.value.message + caught.value.hint
    assert world.store == {}
    assert len(world.forms()) == 1
    return caught.value


@pytest.mark.parametrize(
    ("changes", "name"),
    [
        ({"access_token": ...}, "access_token"),
        ({"access_token": ""}, "access_token"),
        ({"access_token": 17}, "access_token"),
        ({"access_token": {"value": "x"}}, "access_token"),
        ({"access_token": "a b"}, "access_token"),
        ({"access_token": "a\r\nX-Evil: 1"}, "access_token"),
        ({"access_token": "ü"}, "access_token"),
        ({"access_token": "x" * 100_000}, "access_token"),
        ({"token_type": ...}, "token_type"),
        ({"token_type": "mac"}, "token_type"),
        ({"token_type": ["Bearer"]}, "token_type"),
        ({"token_type": "DPoP"}, "token_type"),
        ({"expires_in": "soon"}, "expires_in"),
        ({"expires_in": "-1"}, "expires_in"),
        ({"expires_in": "1e3"}, "expires_in"),
        ({"expires_in": "9" * 5000}, "expires_in"),
        ({"expires_in": -1}, "expires_in"),
        ({"expires_in": True}, "expires_in"),
        ({"expires_in": 1e300}, "expires_in"),
        ({"expires_in": 10**400}, "expires_in"),
        ({"expires_in": float("nan")}, "expires_in"),
        ({"expires_in": [3600]}, "expires_in"),
        ({"scope": ["a", 5]}, "scope"),
        ({"scope": ["a b"]}, "scope"),
        ({"scope": 5}, "scope"),
        ({"scope": "a \x1b[31m"}, "scope"),
        ({"refresh_token": 5}, "refresh_token"),
        ({"refresh_token": "a b"}, "refresh_token"),
    ],
)
def test_a_token_of_an_absurd_type_is_refused_by_its_name(changes: dict[str, Any], name: str) -> None:
    world = World({TOKEN: token(**changes)})
    assert f"“{name}”" in refused(world).message
    assert world.failed.step == "token"


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        ((200, {"error": "bad_verification_code", "error_description": "x\x1b[2J"}), "bad_verification_code"),
        ((400, {"error": "invalid_grant"}), "invalid_grant"),
        ((401, {"error": "invalid_client"}), "invalid_client"),
        ((400, {"error": {"code": 1}}), "status 400"),
        ((200, {"error": ""}), "error without a name"),
        ((500, b"oops"), "status 500"),
        ((200, b"<html>"), "HTML"),
        ((200, b"access_token=form&token_type=bearer"), "a body that is not JSON"),
        ((200, b""), "empty body"),
        ((302, b""), "status 302"),
    ],
)
def test_an_endpoint_that_refuses_is_quoted(answer: Any, says: str) -> None:
    error = refused(World({TOKEN: answer}))
    assert says in error.message
    assert isinstance(error, TokenRefused)


def test_what_was_sent_is_not_repeated_in_the_reason() -> None:
    world = World()
    world.pages[TOKEN] = lambda sent: (400, {"error": "invalid_grant", "error_description": sent.body.decode()})
    error = refused(world, client_id="c", client_secret="very-secret")
    form = world.forms()[0]
    assert form["code_verifier"] not in error.message
    assert "very-secret" not in error.message


@pytest.mark.parametrize(
    ("date", "says"),
    [
        ("Fri, 15 Jan 2027 09:00:00 GMT", "behind"),
        ("Fri, 15 Jan 2027 07:00:00 GMT", "ahead"),
        ("Fri, 15 Jan 2027 08:00:05 GMT", ""),
        ("yesterday", ""),
        ("Fri, 99 Jan 99999 99:00:00 GMT", ""),
    ],
)
def test_a_clock_that_is_wrong_is_named(date: str, says: str) -> None:
    """2027-01-15 08:00:00 UTC is when the world stands still."""
    assert NOW == 1_800_000_000
    hint = refused(World({TOKEN: (400, {"error": "invalid_grant"}, [("Date", date)])})).hint
    assert says in hint
    assert ("clock" in hint) is bool(says)


@pytest.mark.parametrize(
    ("offered", "basic"),
    [
        (..., True),
        (["client_secret_basic", "client_secret_post"], True),
        (["client_secret_post", "client_secret_basic"], False),
        (["client_secret_post"], False),
        (["private_key_jwt", "client_secret_post"], False),
        (["tls_client_auth"], True),
    ],
)
def test_a_given_secret_goes_the_way_that_is_offered(offered: Any, basic: bool) -> None:
    """C-AUTH-19; RFC 6749 section 2.3.1: the parts of a Basic credential are form-encoded."""
    world = World({AS_PLACE: metadata(token_endpoint_auth_methods_supported=offered)})
    run(world, client_id="my:id", client_secret="se cret+/%")
    (form,) = world.forms()
    field = dict(world.sent(TOKEN)[0].fields).get("Authorization", "")
    if basic:
        pair = f"{quote_plus('my:id')}:{quote_plus('se cret+/%')}"
        assert field == "Basic " + base64.b64encode(pair.encode()).decode()
        assert field[6:] in world.secrets
        assert not {"client_secret", "client_id"} & form.keys()
    else:
        assert not field
        assert (form["client_id"], form["client_secret"]) == ("my:id", "se cret+/%")


def test_a_secret_without_a_supported_method_is_not_sent() -> None:
    world = World({AS_PLACE: metadata(token_endpoint_auth_methods_supported=["none"])})
    run(world, client_id="c", client_secret="very-secret")
    assert "very-secret" not in world.sent(TOKEN)[0].body.decode()
    assert "Authorization" not in dict(world.sent(TOKEN)[0].fields)


@pytest.mark.parametrize(("given", "sent"), [("bearer", "Bearer"), ("BEARER", "Bearer")])
def test_the_type_of_a_token_is_read_in_any_case(given: str, sent: str) -> None:
    assert run(World({TOKEN: token(token_type=given)})) == [("Authorization", f"{sent} token-1")]


@pytest.mark.parametrize(
    ("changes", "expires_at"),
    [
        ({"expires_in": ...}, 0),
        ({"expires_in": 0}, NOW),
        ({"expires_in": 3600.5}, NOW + 3600.5),
        ({"expires_in": None}, 0),
        ({"expires_in": "3600"}, NOW + 3600),
        ({"expires_in": " 60.5 "}, NOW + 60.5),
        ({"expires_in": ""}, 0),
    ],
)
def test_the_end_of_a_token_is_counted_by_our_clock(changes: dict[str, Any], expires_at: float) -> None:
    world = World({TOKEN: token(**changes)})
    run(world)
    assert world.store[ISSUER, SERVER].expires_at == expires_at


def test_what_is_spelled_loosely_is_accepted_and_recorded() -> None:
    strict = World({TOKEN: token(expires_in=3600, scope="a b")})
    run(strict)
    loose = World(
        {TOKEN: token(expires_in="3600", scope=["a", "b"], token_type="bearer", refresh_token=None, error=None)}
    )
    run(loose)
    assert loose.store[ISSUER, SERVER] == strict.store[ISSUER, SERVER]
    texts = [step.text for step in loose.recorded_steps() if step not in strict.recorded_steps()]
    assert texts == [
        "The response to the request for the token was accepted, although its “expires_in” is a string, not a number",
        "The response to the request for the token was accepted, although its “scope” is a list, not a string",
    ]


def test_a_scope_of_null_is_the_requested_one() -> None:
    world = World({TOKEN: token(scope=None)})
    run(world)
    assert world.store[ISSUER, SERVER].scope == world.store[ISSUER, SERVER].asked


def test_what_was_granted_is_reported_beside_what_was_asked() -> None:
    world = World({TOKEN: token(scope="a", refresh_token="r")})
    run(world, scope="a b")
    facts = dict(world.recorded_steps("token")[0].facts)
    assert (facts["scope"], facts["missing"], facts["refresh"]) == (["a"], ["b"], True)


def test_the_claims_of_a_token_are_reported_and_the_token_is_not() -> None:
    payload = base64.urlsafe_b64encode(b'{"aud":"https://shop.example/mcp","jti":"x"}').decode().rstrip("=")
    jwt = f"eyJhbGciOiJub25lIn0.{payload}.c2ln"
    world = World({TOKEN: token(access_token=jwt)})
    run(world)
    assert dict(world.recorded_steps("token")[0].facts)["claims"] == {"aud": "https://shop.example/mcp"}
    assert jwt not in repr(world.recorded_steps())
    assert payload not in repr(world.recorded_steps())
