"""The whole of it: from a refusal to a token, what is asked again, and where it ends."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from inspector.auth.actions import Denied, FetchFailed, HoldRenewalLock, OpenListener, StoreGrant, TimedOut, VisitPage
from inspector.auth.authorize import Authorization
from inspector.auth.models import OAuthClient
from inspector.errors import AuthorizationNeeded
from tests.auth.scripted_servers import (
    AS_PLACE,
    BEARER,
    ISSUER,
    NOW,
    PRM_PLACE,
    REDIRECT,
    SERVER,
    Refused,
    World,
    authorization,
    grant,
    metadata,
    prm,
    token,
)

TOKEN = f"{ISSUER}/token"


def answered(world: World, state: Authorization, refusal: Refused | None = None) -> bool:
    """Let `state` answer a refusal of a request with the fields that it gives now."""
    return bool(world.run(state.answer(refusal or Refused(), state.fields("POST", SERVER))))


def refused(world: World, state: Authorization, refusal: Refused | None = None) -> AuthorizationNeeded:
    with pytest.raises(AuthorizationNeeded) as caught:
        answered(world, state, refusal)
    assert caught.value.exit_code == 3
    assert caught.value.status in (401, 403)
    return caught.value


def insufficient(scope: str = "mcp:write", method: str = "tools/call") -> Refused:
    challenge = f'Bearer error="insufficient_scope", scope="{scope}", resource_metadata="{PRM_PLACE}"'
    return Refused(403, (challenge,), method=method)


def one_after_another(*names: str, **more: Any) -> list[Any]:
    return [token(access_token=name, **more) for name in names]


# A first login


def test_a_login_from_the_refusal_to_the_token() -> None:
    """C-AUTH-01, C-AUTH-03, C-AUTH-20, C-AUTH-21, C-AUTH-31."""
    world, state = World(), authorization()
    assert answered(world, state)
    (asked,) = world.visits
    assert asked["resource"] == SERVER
    assert asked["code_challenge_method"] == "S256"
    assert "scope" not in asked
    (form,) = world.forms()
    assert form["grant_type"] == "authorization_code"
    assert (form["code"], form["resource"], form["redirect_uri"]) == ("code-1", SERVER, REDIRECT)
    assert form["client_id"] == "registered-1"
    assert state.fields("POST", SERVER) == [("Authorization", "Bearer token-1")]
    assert world.store[ISSUER, SERVER].access_token == "token-1"
    assert [step.step for step in world.recorded_steps()] == [
        "challenge", "resource", "server", "metadata", "issuer", "scope", "registration", "authorize", "callback", "token",
    ]  # fmt: skip
    assert all(step.ok for step in world.recorded_steps())


def test_the_code_is_proven_by_the_verifier_of_its_request() -> None:
    """C-AUTH-20; RFC 7636 section 4.6."""
    import base64
    import hashlib

    world = World()
    answered(world, authorization())
    verifier = world.forms()[0]["code_verifier"]
    digest = base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).rstrip(b"=").decode()
    assert world.visits[0]["code_challenge"] == digest
    assert 43 <= len(verifier) <= 128


def test_every_secret_is_learned_and_none_is_reported() -> None:
    """C-AUTH-31: before it can appear anywhere; verifiers and codes are never stored."""
    world = World({TOKEN: token(refresh_token="refresh-1"), f"{ISSUER}/register": (201, {
        "client_id": "c", "client_secret": "registered-secret", "token_endpoint_auth_method": "client_secret_basic"})})  # fmt: skip
    answered(world, authorization())
    verifier = world.forms()[0]["code_verifier"]
    for secret in (verifier, "code-1", "token-1", "refresh-1", "registered-secret"):
        assert secret in world.secrets
        assert not any(secret in repr(step) for step in world.recorded_steps())
    kept = repr([action.grant.as_json() for action in world.log if isinstance(action, StoreGrant) and action.grant])
    assert verifier not in kept
    assert "code-1" not in kept
    assert "token-1" not in repr(world.log)
    assert "refresh-1" not in repr(world.store)


def test_the_token_goes_to_no_other_origin() -> None:
    """C-AUTH-03, C-AUTH-04."""
    state = authorization()
    state.grant = grant()
    assert state.fields("GET", SERVER) == list(BEARER)
    assert state.fields("POST", "https://shop.example/other") == list(BEARER)
    for url in ("https://evil.example/mcp", "http://shop.example/mcp", "https://shop.example:8443/mcp", "nonsense"):
        assert state.fields("POST", url) == []


def test_a_server_may_be_named_as_a_person_writes() -> None:
    world = World()
    place = "https://xn--bcher-kva.example/.well-known/oauth-protected-resource/mcp"
    world.pages[place] = prm(resource="https://xn--bcher-kva.example/mcp")
    state = authorization("https://Bücher.example/mcp#top")
    assert answered(world, state, Refused(challenges=("Bearer",)))
    assert world.visits[0]["resource"] == "https://xn--bcher-kva.example/mcp"
    assert state.fields("POST", "https://xn--bcher-kva.example/mcp") == [("Authorization", "Bearer token-1")]


def test_without_a_token_nothing_is_sent() -> None:
    assert authorization().fields("POST", SERVER) == []


# Scopes


@pytest.mark.parametrize(
    ("challenge", "supported", "listed", "given", "expected"),
    [
        ('scope="mcp:basic"', ["read", "write"], ..., "", "mcp:basic"),
        ("", ["mcp:basic", "read", "write"], ..., "", "mcp:basic read write"),
        ("", ..., ..., "", None),
        ("", [], ["read"], "", None),
        ('scope="odd"', ["read"], ["read"], "", "odd"),
        ('scope="mcp:basic"', ..., ..., "mine also", "mine also"),
        ("", ["read"], ["read", "offline_access"], "", "read offline_access"),
        ("", ["read", "offline_access"], ["read"], "", "read"),
        ("", ["read", "offline_access"], ..., "", "read"),
        ('scope="read offline_access"', ..., ["read"], "", "read"),
        ("", ..., ["offline_access"], "", None),
    ],
)
def test_the_scope_is_of_the_challenge_else_of_the_metadata_else_none(
    challenge: str, supported: Any, listed: Any, given: str, expected: str | None
) -> None:
    """C-AUTH-24, C-AUTH-25, C-AUTH-26."""
    world = World({PRM_PLACE: prm(scopes_supported=supported), AS_PLACE: metadata(scopes_supported=listed)})
    answered(world, authorization(scope=given), Refused(challenges=(f"Bearer {challenge}",)))
    assert world.visits[0].get("scope") == expected
    assert (world.visits[0].get("prompt") == "consent") is ("offline_access" in (expected or ""))


def test_a_step_up_asks_for_what_was_granted_and_what_is_wanted() -> None:
    """C-AUTH-33: and never for all that is supported."""
    world = World({
        PRM_PLACE: prm(scopes_supported=["mcp:basic", "mcp:write", "mcp:profile"]),
        TOKEN: [token(scope="mcp:basic"), token(access_token="token-2", scope="mcp:basic mcp:write")],
    })  # fmt: skip
    state = authorization()
    assert answered(world, state, Refused(challenges=('Bearer scope="mcp:basic"',)))
    assert answered(world, state, insufficient())
    assert [asked["scope"] for asked in world.visits] == ["mcp:basic", "mcp:basic mcp:write"]
    assert state.fields("POST", SERVER) == [("Authorization", "Bearer token-2")]


def test_what_a_step_up_brought_is_requested_again_when_the_token_ends() -> None:
    world = World({TOKEN: one_after_another("a", "b", "c")})
    clock = [NOW]
    state = authorization(now=lambda: clock[0])
    first = Refused(challenges=('Bearer scope="mcp:basic"',))
    answered(world, state, first)
    answered(world, state, insufficient())
    clock[0] += 7200
    world.store.clear()
    answered(world, state, first)
    assert world.visits[-1]["scope"] == "mcp:basic mcp:write"


def test_a_step_up_that_names_no_scope_asks_for_what_the_metadata_lists() -> None:
    """C-AUTH-33, C-AUTH-24: as servers on the Python SDK have it."""
    world = World({PRM_PLACE: prm(scopes_supported=["a", "b"]), TOKEN: one_after_another("one", "two", scope="a")})
    state = authorization()
    state.grant = grant(scope=("a",), asked=("a",))
    assert answered(world, state, insufficient(""))
    assert [asked["scope"] for asked in world.visits] == ["a b"]
    error = refused(world, state, insufficient(""))
    assert "does not name them" in error.message
    assert "--scope" in error.hint.command_line
    assert len(world.visits) == 1


def test_a_step_up_that_names_no_scope_asks_for_what_the_person_names() -> None:
    world = World({PRM_PLACE: prm(scopes_supported=["a"])})
    state = authorization(scope="a b")
    state.grant = grant(scope=("a", "c"), asked=("a",))
    assert answered(world, state, insufficient(""))
    assert [asked["scope"] for asked in world.visits] == ["a c b"]


def test_the_browser_is_not_opened_again_for_the_same_scopes() -> None:
    """C-AUTH-34: the server wants more, and nothing says what."""
    world, state = World({PRM_PLACE: prm(scopes_supported=["a"])}), authorization()
    state.grant = grant(scope=("a",))
    challenge = 'Bearer error="insufficient_scope", error_description="Required scope: b"'
    error = refused(world, state, Refused(403, (challenge,), method="tools/call"))
    assert error.message.endswith("its challenge does not name them: Required scope: b")
    assert not world.visits


@pytest.mark.parametrize(("registered", "asked_again"), [(("mcp:basic",), True), (("mcp:basic", "mcp:write"), False)])
def test_a_client_asks_for_no_more_than_it_was_registered_for(registered: tuple[str, ...], asked_again: bool) -> None:
    """RFC 7591 section 2: for more there is another client."""
    client = OAuthClient("registered-0", "", "none", "registered", REDIRECT, scope=registered)
    world, state = World(clients={ISSUER: client}), authorization()
    state.grant = grant(scope=("mcp:basic",))
    assert answered(world, state, insufficient())
    assert (world.visits[0]["client_id"] == "registered-1") is asked_again
    assert world.visits[0]["scope"] == "mcp:basic mcp:write"
    assert world.clients[ISSUER].may_ask(("mcp:write",))


@pytest.mark.parametrize("challenges", [(), ("Bearer",), ('Bearer error="invalid_token"',), ("Basic realm=x",)])
def test_a_403_of_another_kind_is_not_ours(challenges: tuple[str, ...]) -> None:
    world, state = World(), authorization()
    state.grant = grant()
    assert answered(world, state, Refused(403, challenges)) is False
    assert world.log == []


# Limits


def test_a_403_for_ever_ends() -> None:
    """C-AUTH-34: and the same operation is not tried again."""
    world, state = World({TOKEN: one_after_another("a", "b", "c", "d", "e")}), authorization()
    assert answered(world, state, Refused(challenges=('Bearer scope="mcp:admin"',), method="tools/call"))
    assert answered(world, state, insufficient("mcp:admin"))
    error = refused(world, state, insufficient("mcp:admin"))
    assert "mcp:admin" in error.message
    assert len(world.visits) == 2
    refused(world, state, insufficient("mcp:admin"))
    assert len(world.visits) == 2


def test_a_server_that_wants_ever_more_scopes_gets_three_authorizations() -> None:
    """C-AUTH-34."""
    world, state = World({TOKEN: one_after_another("a", "b", "c", "d", "e")}), authorization()
    answered(world, state, Refused(method="tools/call"))
    for number in range(2):
        assert answered(world, state, insufficient(f"scope:{number}"))
    assert "3 times" in refused(world, state, insufficient("scope:9")).message
    assert len(world.visits) == 3


def test_another_operation_may_still_step_up() -> None:
    world, state = World({TOKEN: one_after_another("a", "b", "c", "d", "e")}), authorization()
    answered(world, state)
    answered(world, state, insufficient("x", "tools/call"))
    refused(world, state, insufficient("x", "tools/call"))
    assert answered(world, state, insufficient("y", "resources/read"))


def test_a_401_for_ever_ends_after_one_login() -> None:
    """C-AUTH-34: a token that was just issued and refused will be refused again."""
    world, state = World({TOKEN: one_after_another("a", "b", "c")}), authorization()
    assert answered(world, state)
    error = refused(world, state, Refused(challenges=('Bearer error="invalid_token", error_description="wrong aud"',)))
    assert "wrong aud" in error.message
    assert SERVER in error.hint
    assert len(world.visits) == 1
    refused(world, state, Refused(method="tools/list"))
    assert len(world.visits) == 1


def test_a_token_that_ends_much_later_is_another_matter() -> None:
    clock = [NOW]
    world, state = World({TOKEN: one_after_another("a", "b", "c")}), authorization(now=lambda: clock[0])
    for _ in range(3):
        assert answered(world, state)
        clock[0] += 4000
    assert len(world.visits) == 3


def test_a_failure_is_final_until_the_person_logs_in() -> None:
    """Ten waiting requests must not open ten browsers."""

    def denied(url: str) -> str:
        raise Denied("You said no.")

    world, state = World(back=denied), authorization()
    refused(world, state)
    assert refused(world, state, Refused(method="tools/list")).message == "You said no."
    assert len(world.visits) == 1
    world.back = None
    world.run(state.log_in(Refused()))
    assert state.fields("POST", SERVER) == [("Authorization", "Bearer token-1")]


def test_a_network_that_fails_is_not_final() -> None:
    world, state = (
        World({AS_PLACE: FetchFailed("no route"), f"{ISSUER}/.well-known/openid-configuration": FetchFailed("x")}),
        authorization(),
    )
    assert refused(world, state).message == "no route"
    world.pages[AS_PLACE] = metadata()
    assert answered(world, state)


# Renewal


def test_a_stored_token_needs_no_browser() -> None:
    world, state = World(store={(ISSUER, SERVER): grant()}), authorization()
    assert state.waits()
    world.run(state.ready())
    assert state.fields("POST", SERVER) == list(BEARER)
    assert not state.waits()
    assert world.fetched == []


@pytest.mark.parametrize(
    ("expires_at", "renewed"), [(NOW + 3500, False), (NOW + 20, True), (NOW - 10, True), (0, False)]
)
def test_a_token_is_renewed_before_its_end(expires_at: float, renewed: bool) -> None:
    """C-AUTH-32, C-AUTH-21."""
    world = World({TOKEN: token(access_token="fresh", refresh_token="refresh-2")})
    world.store[ISSUER, SERVER] = grant(issued_at=NOW - 3600, expires_at=expires_at, refresh_token="refresh-1")
    state = authorization()
    world.run(state.ready())
    forms = world.forms()
    assert bool(forms) is renewed
    if renewed:
        assert forms[0] == {
            "grant_type": "refresh_token", "refresh_token": "refresh-1", "resource": SERVER, "client_id": "registered-0",
        }  # fmt: skip
        assert world.store[ISSUER, SERVER].refresh_token == "refresh-2"
        assert state.fields("POST", SERVER) == [("Authorization", "Bearer fresh")]
        assert not world.visits


def test_a_short_lived_token_is_not_renewed_before_each_request() -> None:
    state = authorization()
    state.grant = grant(issued_at=NOW, expires_at=NOW + 20, refresh_token="r")
    state._recalled = True
    assert not state.waits()


def test_a_token_past_its_end_is_not_sent() -> None:
    """Some servers answer one with 500, where 401 would have begun a login."""
    world, state = World({TOKEN: token(access_token="fresh")}), authorization()
    state.grant = grant(issued_at=NOW - 100, expires_at=NOW)
    assert state.fields("POST", SERVER) == []
    assert answered(world, state)
    assert len(world.visits) == 1
    assert state.fields("POST", SERVER) == [("Authorization", "Bearer fresh")]
    state.grant = grant(issued_at=NOW, expires_at=NOW)
    assert state.fields("POST", SERVER) == list(BEARER), "a server that says zero does not mean it"


def test_a_token_is_renewed_after_a_401_without_the_browser() -> None:
    """C-AUTH-32: the refresh token that stays away is kept."""
    world = World({TOKEN: token(access_token="fresh")})
    world.store[ISSUER, SERVER] = kept = grant(refresh_token="refresh-1", scope=("a",))
    state = authorization()
    world.run(state.ready())
    assert answered(world, state)
    assert not world.visits
    fresh = world.store[ISSUER, SERVER]
    assert (fresh.access_token, fresh.refresh_token, fresh.scope) == ("fresh", "refresh-1", kept.scope)


@pytest.mark.parametrize(
    "answer",
    [
        (400, {"error": "invalid_grant", "error_description": "used already"}),
        (200, {"error": "invalid_grant"}),
        (401, {"error": "invalid_client"}),
        (200, {"access_token": "x"}),
        (200, {"access_token": 7, "token_type": "Bearer"}),
    ],
)
def test_a_refresh_token_that_is_good_for_nothing_starts_over(answer: Any) -> None:
    """C-AUTH-32: used already, or answered with nonsense."""
    world = World({TOKEN: [answer, token(access_token="fresh")]}, store={(ISSUER, SERVER): grant(refresh_token="used")})
    state = authorization()
    world.run(state.ready())
    assert answered(world, state)
    assert len(world.visits) == 1
    assert state.fields("POST", SERVER) == [("Authorization", "Bearer fresh")]
    assert world.store[ISSUER, SERVER].refresh_token == ""


@pytest.mark.parametrize("error", ["invalid_client", "unauthorized_client"])
def test_a_client_registers_again_with_a_restarted_server(error: str) -> None:
    """A server with clients in memory forgets them; only the person would see its error page."""
    world = World(
        {TOKEN: [(401, {"error": error}), token(access_token="fresh")]},
        store={(ISSUER, SERVER): grant(refresh_token="of-before")},
        clients={ISSUER: grant().client},
    )
    state = authorization()
    world.run(state.ready())
    assert answered(world, state)
    assert world.visits[0]["client_id"] == "registered-1"
    assert world.clients[ISSUER].client_id == "registered-1"


def test_a_refresh_token_outlives_a_server_that_is_out_of_order() -> None:
    world = World({TOKEN: (503, b"busy")}, store={(ISSUER, SERVER): grant(refresh_token="good")})
    state = authorization()
    world.run(state.ready())
    assert "status 503" in refused(world, state).message
    assert world.store[ISSUER, SERVER].refresh_token == "good"
    world.pages[TOKEN] = token(access_token="fresh")
    assert answered(world, state)
    assert not world.visits


def test_a_renewed_token_that_is_refused_leads_to_the_browser_once() -> None:
    world = World({TOKEN: one_after_another("b", "c", "d")}, store={(ISSUER, SERVER): grant(refresh_token="r")})
    state = authorization()
    world.run(state.ready())
    assert answered(world, state)
    assert not world.visits
    assert answered(world, state)
    assert len(world.visits) == 1
    refused(world, state)
    assert len(world.visits) == 1


def test_what_another_process_has_renewed_is_taken_in_our_turn() -> None:
    """The refresh token is good for one time, and was theirs."""
    soon = {"issued_at": NOW - 3600, "expires_at": NOW + 1}
    world, state = World(store={(ISSUER, SERVER): grant(refresh_token="first", **soon)}), authorization()
    theirs = grant(access_token="theirs", refresh_token="second")
    perform = world._perform

    def meanwhile(action: Any) -> Any:
        if isinstance(action, HoldRenewalLock) and action.issuer:
            world.store[ISSUER, SERVER] = theirs
        return perform(action)

    world._perform = meanwhile  # type: ignore[method-assign]
    world.run(state.ready())
    assert state.grant == theirs
    assert TOKEN not in world.fetched
    assert world.store[ISSUER, SERVER] == theirs
    turns = [action for action in world.log if isinstance(action, HoldRenewalLock)]
    assert turns == [HoldRenewalLock(ISSUER, SERVER), HoldRenewalLock()]


@pytest.mark.parametrize("answer", [token(), (400, {"error": "invalid_grant"}), (503, b""), FetchFailed("gone")])
def test_a_turn_ends_with_the_renewal(answer: Any) -> None:
    soon = {"issued_at": NOW - 3600, "expires_at": NOW + 1}
    world = World({TOKEN: answer}, store={(ISSUER, SERVER): grant(refresh_token="first", **soon)})
    world.run(authorization().ready())
    assert [bool(action.issuer) for action in world.log if isinstance(action, HoldRenewalLock)] == [True, False]


def test_a_token_that_another_process_has_stored_is_taken() -> None:
    world, state = World(store={(ISSUER, SERVER): grant(access_token="theirs")}), authorization()
    state.grant, state._recalled = grant(refresh_token="rotated away"), True
    assert answered(world, state)
    assert state.fields("POST", SERVER) == [("Authorization", "Bearer theirs")]
    assert TOKEN not in world.fetched


def test_a_stored_token_without_the_scopes_that_are_wanted_is_no_help() -> None:
    world, state = World(store={(ISSUER, SERVER): grant(access_token="theirs", scope=("mcp:basic",))}), authorization()
    state.grant, state._recalled = grant(scope=("mcp:basic",)), True
    assert answered(world, state, insufficient("mcp:write"))
    assert world.visits[0]["scope"] == "mcp:basic mcp:write"
    world.store[ISSUER, SERVER] = replace(grant(access_token="more"), scope=("mcp:basic", "mcp:write", "mcp:admin"))
    assert answered(world, state, insufficient("mcp:admin", "resources/read"))
    assert len(world.visits) == 1
    assert state.fields("POST", SERVER) == [("Authorization", "Bearer more")]


def test_a_request_that_was_refused_with_an_older_token_is_only_sent_again() -> None:
    world, state = World(), authorization()
    state.grant = grant(access_token="newer")
    assert world.run(state.answer(Refused(), BEARER)) is True
    assert world.run(state.answer(Refused(), [])) is True
    assert world.log == []


# A server that moves


def moved() -> World:
    other = "https://second.example"
    return World({
        PRM_PLACE: prm(authorization_servers=[other]),
        f"{other}/.well-known/oauth-authorization-server": metadata(other),
        f"{other}/register": (201, {"client_id": "registered-2"}),
        f"{other}/token": token(access_token="second"),
    }, store={(ISSUER, SERVER): grant(refresh_token="r")}, clients={ISSUER: grant().client})  # fmt: skip


def test_a_server_that_moved_to_another_authorization_server_is_noticed() -> None:
    """C-AUTH-17: registered again there; nothing of the first one is sent to the second, nor the other way round."""
    world, state = moved(), authorization()
    world.run(state.ready())
    assert answered(world, state)
    assert world.visits[0]["client_id"] == "registered-2"
    assert TOKEN not in world.fetched
    assert "old-token" not in repr(world.forms("https://second.example/token"))
    assert (ISSUER, SERVER) not in world.store
    assert state.fields("POST", SERVER) == [("Authorization", "Bearer second")]


def test_a_client_that_was_given_is_not_used_with_another_issuer() -> None:
    """C-AUTH-17."""
    world, state = World(), authorization(client_id="mine", client_secret="very-secret")
    assert answered(world, state)
    world.pages |= moved().pages
    error = refused(world, state)
    assert ISSUER in error.message
    assert "second.example" in error.message
    assert not world.forms("https://second.example/token")


def test_a_client_of_a_named_issuer_is_used_nowhere_else() -> None:
    world = World()
    refused(world, authorization(client_id="mine", client_issuer="https://elsewhere.example"))
    assert not world.visits


# Registered before


def test_the_client_of_the_last_time_is_used_again_at_its_redirect_uri() -> None:
    """C-AUTH-17, C-AUTH-23."""
    client = OAuthClient("registered-0", origin="registered", method="none", redirect_uri=REDIRECT)
    world = World(clients={ISSUER: client})
    answered(world, authorization())
    assert world.visits[0]["client_id"] == "registered-0"
    assert f"{ISSUER}/register" not in world.fetched


def test_a_taken_port_means_another_registration() -> None:
    client = OAuthClient("registered-0", origin="registered", method="none", redirect_uri="http://127.0.0.1:1/callback")
    world = World(clients={ISSUER: client})
    answered(world, authorization())
    assert world.visits[0]["client_id"] == "registered-1"
    assert world.clients[ISSUER].redirect_uri == REDIRECT


@pytest.mark.parametrize("error", [Denied("no"), TimedOut("the browser did not come back")])
def test_a_client_registers_again_with_a_server_that_may_have_forgotten_it(error: AuthorizationNeeded) -> None:
    """It shows “unknown client” to the person alone."""

    def back(url: str) -> str:
        raise error

    client = OAuthClient("registered-0", origin="registered", method="none", redirect_uri=REDIRECT)
    world = World(clients={ISSUER: client}, back=back)
    refused(world, authorization())
    assert world.clients == {}


def test_only_a_client_of_before_is_doubted() -> None:
    before = OAuthClient("registered-0", origin="registered", method="none", redirect_uri=REDIRECT)
    for clients, doubtful in (({}, ""), ({ISSUER: before}, ISSUER), ({ISSUER: replace(before, origin="typed")}, "")):
        world = World(clients=dict(clients))
        answered(world, authorization())
        (visit,) = [action for action in world.log if isinstance(action, VisitPage)]
        assert visit.doubtful == doubtful


def test_why_a_person_is_needed_is_reported() -> None:
    """The reason is for runs without a person."""

    def reason(state: Authorization, refusal: Refused) -> str:
        world = World()
        answered(world, state, refusal)
        return next(action.reason for action in world.log if isinstance(action, OpenListener))

    state = authorization()
    assert reason(state, Refused()) == ""
    assert reason(state, insufficient("mcp:write")) == "A person must grant the scopes “mcp:write”"
    again = authorization()
    again.grant = grant()
    assert "not valid any more: a person must log in again" in reason(again, Refused())


def test_a_client_whose_secret_has_expired_is_registered_again() -> None:
    client = OAuthClient("registered-0", "s" * 20, "client_secret_basic", "registered", REDIRECT, NOW - 1)
    world = World(clients={ISSUER: client})
    answered(world, authorization())
    assert world.visits[0]["client_id"] == "registered-1"


# Tokens that were given, and challenges of another kind


def test_a_given_token_is_sent_and_nothing_else_is_tried() -> None:
    world, state = World(), authorization(bearer="my-own-token")
    assert state.waits()
    world.run(state.ready())
    assert not state.waits()
    assert "my-own-token" in world.secrets
    assert state.fields("GET", SERVER) == [("Authorization", "Bearer my-own-token")]
    error = refused(world, state, Refused(challenges=('Bearer error_description="\x1b[31mexpired"',)))
    assert "expired" in error.message
    assert "\x1b" not in error.message
    assert "my-own-token" not in error.message + error.hint
    assert not world.fetched


def test_a_challenge_of_another_scheme_is_explained() -> None:
    """C-AUTH-02."""
    world = World()
    error = refused(world, authorization(), Refused(challenges=('Basic realm="x"', "Negotiate")))
    assert "basic, negotiate" in error.message
    assert "--header" in error.hint.command_line
    assert not world.fetched


def test_a_401_without_a_challenge_is_reported_and_goes_on() -> None:
    world = World()
    assert answered(world, authorization(), Refused(challenges=()))
    assert (world.recorded_steps("challenge")[0].ok, world.recorded_steps("challenge")[0].rule) == (False, "C-AUTH-02")


# Giving it back


def test_logging_out_gives_both_tokens_back_and_forgets_them() -> None:
    url = f"{ISSUER}/revoke"
    world = World({url: (200, b"")}, store={(ISSUER, SERVER): grant(refresh_token="r-1", revocation_endpoint=url)})
    state = authorization()
    assert world.run(state.log_out()) is True
    assert [(form["token"], form["token_type_hint"]) for form in world.forms(url)] == [
        ("r-1", "refresh_token"), ("old-token", "access_token"),
    ]  # fmt: skip
    assert world.store == {}
    assert state.fields("POST", SERVER) == []


@pytest.mark.parametrize("answer", [(400, {"error": "unsupported_token_type"}), (503, b""), FetchFailed("gone")])
def test_tokens_are_deleted_without_a_revocation_endpoint(answer: Any) -> None:
    url = f"{ISSUER}/revoke"
    world = World({url: answer}, store={(ISSUER, SERVER): grant(revocation_endpoint=url)})
    assert world.run(authorization().log_out()) is False
    assert world.store == {}


def test_logging_out_forgets_the_client_that_was_registered() -> None:
    """The next login uses a client that the server certainly knows."""
    for client, left in (
        (grant().client, {}),
        (OAuthClient("mine", origin="typed"), {ISSUER: OAuthClient("mine", origin="typed")}),
    ):
        world = World(store={(ISSUER, SERVER): grant(client=client)}, clients={ISSUER: client})
        world.run(authorization().log_out())
        assert world.clients == left


def test_a_server_that_wants_a_secret_of_who_has_none_gets_an_empty_one() -> None:
    """The revocation endpoint of the Python SDK; RFC 6749 section 2.3.1 has the two mean the same."""
    url = f"{ISSUER}/revoke"
    wants = (400, {"error": "invalid_request", "error_description": "client_secret: Field required"})
    world = World({url: [wants, (200, b"")]}, store={(ISSUER, SERVER): grant(revocation_endpoint=url)})
    assert world.run(authorization().log_out()) is True
    assert [b"&client_secret=" in sent.body for sent in world.sent(url)] == [False, True]
    client = OAuthClient("c", "secret-of-c", "client_secret_post")
    world = World({url: wants}, store={(ISSUER, SERVER): grant(revocation_endpoint=url, client=client)})
    assert world.run(authorization().log_out()) is False
    assert len(world.sent(url)) == 1


def test_logging_out_without_a_token_is_nothing() -> None:
    assert World().run(authorization().log_out()) is False


def test_a_stored_grant_survives_its_way_through_json() -> None:
    import json

    from inspector.auth.models import Grant

    kept = grant(scope=("a",), refresh_token="r", key="{}")
    assert Grant.from_json(json.loads(json.dumps(kept.as_json()))) == kept
    for bad in (
        None,
        [],
        {},
        {"access_token": "x"},
        kept.as_json() | {"expires_at": "soon"},
        kept.as_json() | {"scope": "a"},
        kept.as_json() | {"token_type": "Mac"},
        kept.as_json() | {"client": {"client_id": "c", "method": "magic"}},
    ):
        assert Grant.from_json(bad) is None
    assert Grant.from_json(replace(kept, client=OAuthClient("")).as_json()) is None
