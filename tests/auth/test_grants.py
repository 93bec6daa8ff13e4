"""Ways to a token without a browser here, and tokens that are bound to a key."""

from __future__ import annotations

import base64
import hashlib
import json
from typing import Any

import pytest
from joserfc import jwt
from joserfc.jwk import ECKey, OctKey, RSAKey

from inspector.auth import assertions
from inspector.auth.actions import Denied, Fetch, Show, TimedOut, Wait
from inspector.auth.options import AuthOptions
from inspector.errors import AuthorizationNeeded, UsageError
from tests.auth.scripted_servers import (
    AS_PLACE,
    ISSUER,
    NOW,
    PRM_PLACE,
    SERVER,
    Refused,
    World,
    authorization,
    metadata,
    prm,
    token,
)

TOKEN = f"{ISSUER}/token"
DEVICE = f"{ISSUER}/device"
PROVIDER = "https://idp.example/token"
EC = ECKey.generate_key("P-256")
EC_PEM = EC.as_pem(private=True).decode()
RSA = RSAKey.generate_key(2048)
RSA_PEM = RSA.as_pem(private=True).decode()


def run(world: World, refusal: Refused | None = None, **options: Any) -> list[tuple[str, str]]:
    state = authorization(**options)
    assert world.run(state.answer(refusal or Refused(), []))
    return state.fields("POST", SERVER)


def refused(world: World, refusal: Refused | None = None, **options: Any) -> AuthorizationNeeded:
    with pytest.raises(AuthorizationNeeded) as caught:
        run(world, refusal, **options)
    assert caught.value.exit_code == 3
    assert "\x1b" not in caught.value.message + caught.value.hint
    assert not world.visits
    return caught.value


def machines(**changes: Any) -> dict[str, Any]:
    """An authorization server for machines only."""
    return metadata(grant_types_supported=["client_credentials"], authorization_endpoint=..., **changes)


# Client credentials


@pytest.mark.parametrize("grant", ["auto", "client-credentials"])
def test_client_credentials_with_a_secret(grant: str) -> None:
    """C-AUTH-40."""
    world = World({AS_PLACE: machines(token_endpoint_auth_methods_supported=["client_secret_basic"])})
    challenge = Refused(challenges=('Bearer scope="read"',))
    assert run(world, challenge, client_id="me", client_secret="my-secret", grant=grant) == [
        ("Authorization", "Bearer token-1")
    ]
    assert world.forms() == [{"grant_type": "client_credentials", "scope": "read", "resource": SERVER}]
    assert dict(world.sent(TOKEN)[0].fields)["Authorization"] == "Basic " + base64.b64encode(b"me:my-secret").decode()
    assert not world.visits
    assert world.store == {}


@pytest.mark.parametrize(
    ("pem", "key", "given", "alg"),
    [(EC_PEM, EC, "", "ES256"), (EC_PEM, EC, "ES256", "ES256"), (RSA_PEM, RSA, "RS256", "RS256"), (RSA_PEM, RSA, "", "RS256")],
    ids=["EC", "ES256", "RS256", "RSA"],
)  # fmt: skip
def test_client_credentials_with_a_signed_assertion(pem: str, key: Any, given: str, alg: str) -> None:
    """C-AUTH-40; RFC 7523 section 3: the audience is the issuer, as it is written."""
    world = World({AS_PLACE: machines(token_endpoint_auth_methods_supported=["private_key_jwt"])})
    run(world, client_id="me", client_key=pem, client_key_alg=given, client_key_id="k1")
    (form,) = world.forms()
    assert form["client_assertion_type"] == "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
    assert form["client_id"] == "me"
    assert form["client_assertion"] in world.secrets
    proven = jwt.decode(form["client_assertion"], key, algorithms=[alg])
    assert proven.header == {"alg": alg, "typ": "JWT", "kid": "k1"}
    assert {name: proven.claims[name] for name in ("iss", "sub", "aud", "iat")} == {
        "iss": "me", "sub": "me", "aud": ISSUER, "iat": NOW,
    }  # fmt: skip
    assert 0 < proven.claims["exp"] - NOW <= 300
    assert len(proven.claims["jti"]) > 16


def test_each_assertion_has_an_id_of_its_own() -> None:
    made = {assertions.client_assertion("c", ISSUER, EC_PEM, "", "", None, NOW) for _ in range(3)}
    assert len({(assertions.claims_of(assertion) or {})["jti"] for assertion in made}) == 3


@pytest.mark.parametrize(
    ("options", "offered", "says"),
    [
        ({"client_key": "nonsense"}, ..., "not a PEM private key"),
        ({"client_key": EC.as_pem(private=False).decode()}, ..., "not a PEM private key"),
        ({"client_key": ECKey.generate_key("P-384").as_pem(private=True).decode()}, ..., "not a PEM private key"),
        ({"client_key": EC_PEM, "client_key_alg": "RS256"}, ..., "cannot sign with RS256"),
        ({"client_key": EC_PEM}, ["RS256"], "does not accept ES256 signatures"),
        ({}, ..., "secret or key"),
        ({"client_id": "", "client_secret": "x"}, ..., "needs a client"),
    ],
    ids=["nonsense", "public-key", "unknown-curve", "other-kind", "not-offered", "nothing", "no-client"],
)
def test_credentials_that_cannot_be_used_are_named(options: dict[str, str], offered: Any, says: str) -> None:
    world = World({AS_PLACE: machines(token_endpoint_auth_signing_alg_values_supported=offered)})
    error = refused(world, **{"client_id": "me", "grant": "client-credentials"} | options)
    assert says in error.message
    assert "BEGIN" not in error.message + error.hint
    assert TOKEN not in world.fetched


def test_a_machine_asks_again_when_its_token_ends() -> None:
    clock = [NOW]
    world = World({AS_PLACE: machines(), TOKEN: [token(), token(access_token="token-2")]})
    state = authorization(client_id="me", client_secret="my-secret", now=lambda: clock[0])
    assert world.run(state.answer(Refused(), []))
    clock[0] += 4000
    assert world.run(state.answer(Refused(), state.fields("POST", SERVER)))
    assert state.fields("POST", SERVER) == [("Authorization", "Bearer token-2")]


def test_with_both_grants_on_offer_a_person_is_asked() -> None:
    world = World({AS_PLACE: metadata(grant_types_supported=["authorization_code", "client_credentials"])})
    run(world, client_id="me", client_secret="my-secret")
    assert world.forms()[0]["grant_type"] == "authorization_code"


# Enterprise-managed authorization


def company(**options: Any) -> dict[str, Any]:
    return {
        "client_id": "me", "client_secret": "my-secret", "idp_client_id": "at-idp", "idp_id_token": "the-id-token",
        "idp_issuer": "https://idp.example", "idp_token_endpoint": PROVIDER,
    } | options  # fmt: skip


ID_JAG = {
    "access_token": "the-assertion",
    "issued_token_type": "urn:ietf:params:oauth:token-type:id-jag",
    "token_type": "N_A",
}


def test_an_id_token_is_exchanged_for_an_assertion_and_that_for_a_token() -> None:
    """C-AUTH-41: the audience is the issuer as it is written, and no page is opened."""
    world = World({PROVIDER: ID_JAG, AS_PLACE: metadata(token_endpoint_auth_methods_supported=["client_secret_basic"])})
    run(world, **company())
    assert world.forms(PROVIDER) == [
        {
            "grant_type": "urn:ietf:params:oauth:grant-type:token-exchange",
            "requested_token_type": "urn:ietf:params:oauth:token-type:id-jag",
            "audience": ISSUER,
            "resource": SERVER,
            "subject_token": "the-id-token",
            "subject_token_type": "urn:ietf:params:oauth:token-type:id_token",
            "client_id": "at-idp",
        }
    ]
    assert world.forms() == [
        {
            "grant_type": "urn:ietf:params:oauth:grant-type:jwt-bearer",
            "assertion": "the-assertion",
            "resource": SERVER,
        }
    ]
    assert dict(world.sent(TOKEN)[0].fields)["Authorization"].startswith("Basic ")
    assert {"the-id-token", "the-assertion"} <= {*world.secrets}
    assert not world.visits


def test_the_identity_provider_is_found_by_its_metadata() -> None:
    place = "https://idp.example/.well-known/openid-configuration"
    world = World({place: metadata("https://idp.example"), PROVIDER: ID_JAG})
    run(world, **company(idp_token_endpoint=""))
    assert place in world.fetched
    assert all(action.named for action in world.log if isinstance(action, Fetch) and "idp.example" in action.url)


@pytest.mark.parametrize(
    ("answer", "options", "says"),
    [
        ((400, {"error": "invalid_grant", "error_description": "policy\x1b[2J"}), {}, "invalid_grant"),
        (ID_JAG | {"issued_token_type": "urn:ietf:params:oauth:token-type:access_token"}, {}, "issued_token_type"),
        (ID_JAG | {"access_token": ""}, {}, "access_token"),
        (ID_JAG, {"idp_token_endpoint": "http://idp.example/token"}, "neither https"),
        (ID_JAG, {"idp_id_token": "", "grant": "enterprise"}, "id token"),
        (ID_JAG, {"client_id": ""}, "needs a client"),
    ],
    ids=str,
)
def test_an_exchange_that_fails_ends_there(answer: Any, options: dict[str, str], says: str) -> None:
    """C-AUTH-41: nothing else is tried."""
    world = World({PROVIDER: answer})
    error = refused(world, **company(**options))
    assert says in error.message
    assert TOKEN not in world.fetched
    if PROVIDER in world.fetched:
        assert (world.failed.step, world.failed.text) == ("exchange", error.message)


@pytest.mark.parametrize(
    ("options", "flag"),
    [
        ({"grant": "enterprise", "client_id": "me"}, "--id-token-env"),
        ({"idp_id_token": "a.b.c", "client_id": "me"}, "--idp"),
        ({"grant": "workload"}, "--assertion-env"),
        ({"grant": "client-credentials", "client_id": "me"}, "--client-secret-env or --client-key"),
    ],
)
def test_a_missing_value_of_a_grant_is_named_with_its_option(options: dict[str, str], flag: str) -> None:
    world = World()
    hint = refused(world, **options).hint
    assert hint == world.failed.fix
    assert hint.command_line == f"Set it with {flag}."
    assert TOKEN not in world.fetched


# Workload identity


def test_a_workload_shows_the_jwt_of_its_platform() -> None:
    """C-AUTH-43."""
    world = World()
    run(world, client_id="me", assertion="the-workload-jwt")
    assert world.forms() == [
        {
            "grant_type": "urn:ietf:params:oauth:grant-type:jwt-bearer",
            "assertion": "the-workload-jwt",
            "client_id": "me",
            "resource": SERVER,
        }
    ]
    assert "the-workload-jwt" in world.secrets


@pytest.mark.parametrize("error", ["invalid_grant", "unauthorized_client", "unsupported_grant_type"])
def test_a_refused_workload_tries_neither_again_nor_otherwise(error: str) -> None:
    """C-AUTH-43."""
    world = World({TOKEN: (400, {"error": error})})
    state = authorization(client_id="me", assertion="the-workload-jwt")
    for _ in range(2):
        with pytest.raises(AuthorizationNeeded):
            world.run(state.answer(Refused(), []))
    assert len(world.forms()) == 1
    assert not world.visits


# The device grant


def device(**changes: Any) -> dict[str, Any]:
    return {
        "device_code": "the-device-code", "user_code": "WDJB-MJHT", "verification_uri": f"{ISSUER}/device-page",
        "verification_uri_complete": f"{ISSUER}/device-page?code=WDJB-MJHT", "expires_in": 600, "interval": 5,
    } | changes  # fmt: skip


OFFERS_DEVICE = metadata(
    device_authorization_endpoint=DEVICE,
    grant_types_supported=["urn:ietf:params:oauth:grant-type:device_code"],
    authorization_endpoint=...,
)


def test_a_code_is_shown_and_its_token_is_awaited() -> None:
    """RFC 8628: slower when the server says so."""
    pending, slower = (400, {"error": "authorization_pending"}), (400, {"error": "slow_down"})
    world = World({AS_PLACE: OFFERS_DEVICE, DEVICE: device(), TOKEN: [pending, slower, token()]})
    assert run(world) == [("Authorization", "Bearer token-1")]
    (code_page,) = [action for action in world.log if isinstance(action, Show)]
    assert (code_page.code, code_page.url, code_page.host) == ("WDJB-MJHT", f"{ISSUER}/device-page", "login.example")
    assert [action.seconds for action in world.log if isinstance(action, Wait)] == [5, 5, 10]
    assert world.forms()[0] == {
        "grant_type": "urn:ietf:params:oauth:grant-type:device_code", "device_code": "the-device-code",
        "client_id": "registered-1", "resource": SERVER,
    }  # fmt: skip
    assert world.forms(DEVICE)[0] == {"client_id": "registered-1", "resource": SERVER}
    assert "the-device-code" in world.secrets
    assert all(step.ok for step in world.recorded_steps())
    assert (ISSUER, SERVER) in world.store


def test_a_page_of_another_host_is_shown_with_the_one_whose_code_is_entered() -> None:
    """A hostile server may show a code of its own at an honest one."""
    world = World({AS_PLACE: OFFERS_DEVICE, DEVICE: device(verification_uri="https://honest.example/device")})
    run(world)
    (code_page,) = [action for action in world.log if isinstance(action, Show)]
    assert code_page.host == "honest.example on behalf of login.example"


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"device_code": 4}, "device_code"),
        ({"device_code": "half a pair: \ud800"}, "device_code"),
        ({"user_code": "x" * 100}, "user_code"),
        ({"verification_uri": "javascript:alert(1)"}, "verification_uri"),
        ({"verification_uri_complete": "file:///x"}, "verification_uri_complete"),
        ({"interval": "soon"}, "interval"),
        ({"expires_in": -1}, "expires_in"),
    ],
)
def test_a_device_answer_of_an_absurd_type_is_refused_by_its_name(changes: dict[str, Any], says: str) -> None:
    world = World({AS_PLACE: OFFERS_DEVICE, DEVICE: device(**changes)})
    assert f"“{says}”" in refused(world).message
    assert not [action for action in world.log if isinstance(action, Show)]


def test_a_code_that_is_not_entered_expires() -> None:
    world = World(
        {AS_PLACE: OFFERS_DEVICE, DEVICE: device(interval=0), TOKEN: (400, {"error": "authorization_pending"})}
    )
    assert isinstance(refused(world), TimedOut)
    assert sum(action.seconds for action in world.log if isinstance(action, Wait)) <= 605


@pytest.mark.parametrize("wait", [True, False])
def test_a_cancelled_code_is_reported_in_its_own_step(wait: bool) -> None:
    world = World({AS_PLACE: OFFERS_DEVICE, DEVICE: device(), TOKEN: (400, {"error": "authorization_pending"})})
    perform = world._perform

    def impatient(action: Any) -> Any:
        if wait and isinstance(action, Wait):
            raise Denied("The login was cancelled.")
        return perform(action)

    world._perform = impatient  # type: ignore[method-assign]
    error = refused(world)
    assert (world.failed.step, world.failed.text) == ("device", error.message)


def test_a_denied_code_ends_at_once() -> None:
    world = World({AS_PLACE: OFFERS_DEVICE, DEVICE: device(), TOKEN: (400, {"error": "access_denied"})})
    assert "access_denied" in refused(world).message
    assert len(world.forms()) == 1


def test_a_server_without_the_device_grant_is_named() -> None:
    assert "device_authorization_endpoint" in refused(World(), grant="device").message


# Tokens that are bound to a key


def bound(**pages: Any) -> World:
    return World(
        {AS_PLACE: metadata(dpop_signing_alg_values_supported=["ES256"]), TOKEN: token(token_type="DPoP")} | pages
    )


def proof_of(fields: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """Header and claims of the one proof among the fields, its signature checked with the key that it brings."""
    (proof,) = [value for name, value in fields if name == "DPoP"]
    header = json.loads(base64.urlsafe_b64decode(proof.split(".")[0] + "=="))
    assert "d" not in header["jwk"]
    checked = jwt.decode(proof, ECKey.import_key(header["jwk"]), algorithms=["ES256"])
    return dict(header), dict(checked.claims)


def test_a_token_is_bound_where_the_server_can() -> None:
    """C-AUTH-42; RFC 9449 section 4.2: a new proof for each request."""
    world, state = bound(), authorization()
    assert world.run(state.answer(Refused(challenges=(f'DPoP resource_metadata="{PRM_PLACE}"',)), []))
    header, claims = proof_of(world.sent(TOKEN)[0].fields)
    assert (header["typ"], header["alg"]) == ("dpop+jwt", "ES256")
    assert {name: claims[name] for name in ("htm", "htu", "iat")} == {"htm": "POST", "htu": TOKEN, "iat": NOW}
    assert "ath" not in claims
    assert "nonce" not in claims
    seen = {claims["jti"]}
    ath = base64.urlsafe_b64encode(hashlib.sha256(b"token-1").digest()).decode().rstrip("=")
    for _ in range(2):
        fields = state.fields("POST", SERVER + "?session=1#x")
        assert fields[0] == ("Authorization", "DPoP token-1")
        with_key, claims = proof_of(fields)
        assert with_key["jwk"] == header["jwk"]
        assert (claims["htm"], claims["htu"]) == ("POST", SERVER)
        assert claims["ath"] == ath
        seen.add(claims["jti"])
    assert len(seen) == 3
    key = world.store[ISSUER, SERVER].key
    assert key in world.secrets
    assert json.loads(key)["d"] not in repr(world.log) + repr(state.grant)


def test_each_server_has_its_own_nonce() -> None:
    """C-AUTH-42; RFC 9449 sections 8 and 9: sent again with it, and its 401 does not cause a login."""
    wants = (400, {"error": "use_dpop_nonce"}, [("DPoP-Nonce", "of-the-as")])
    world, state = bound(**{TOKEN: [wants, token(token_type="DPoP")]}), authorization()
    assert world.run(state.answer(Refused(), []))
    first, second = world.sent(TOKEN)
    assert "nonce" not in proof_of(first.fields)[1]
    assert proof_of(second.fields)[1]["nonce"] == "of-the-as"
    assert proof_of(first.fields)[1]["jti"] != proof_of(second.fields)[1]["jti"]
    sent = state.fields("POST", SERVER)
    assert "nonce" not in proof_of(sent)[1]
    again = Refused(challenges=('DPoP error="use_dpop_nonce"',), fields=[("dpop-nonce", "of-the-server")])
    assert world.run(state.answer(again, sent))
    sent = state.fields("POST", SERVER)
    assert proof_of(sent)[1]["nonce"] == "of-the-server"
    assert len(world.visits) == 1
    with pytest.raises(AuthorizationNeeded, match="the nonce it sent"):
        world.run(state.answer(again, sent))


def test_a_nonce_for_ever_ends() -> None:
    world = bound()
    world.pages[TOKEN] = lambda _: (400, {"error": "use_dpop_nonce"}, [("DPoP-Nonce", f"n{len(world.log)}")])
    with pytest.raises(AuthorizationNeeded, match="use_dpop_nonce"):
        run(world)
    assert len(world.forms()) == 2


@pytest.mark.parametrize("nonce", ["a b", "", "x" * 5000, "\r\nX: 1"])
def test_a_nonce_that_cannot_be_sent_is_not(nonce: str) -> None:
    world = bound(**{TOKEN: (400, {"error": "use_dpop_nonce"}, [("DPoP-Nonce", nonce)])})
    with pytest.raises(AuthorizationNeeded):
        run(world)
    assert len(world.forms()) == 1


def test_a_bearer_token_is_taken_though_a_bound_one_was_requested() -> None:
    world = bound(**{TOKEN: token()})
    assert run(world) == [("Authorization", "Bearer token-1")]
    assert world.store[ISSUER, SERVER].key == ""


def test_the_server_may_want_bound_tokens_though_the_authorization_server_is_silent() -> None:
    world = World({PRM_PLACE: prm(dpop_bound_access_tokens_required=True), TOKEN: token(token_type="DPoP")})
    assert [name for name, _ in run(world)] == ["Authorization", "DPoP"]


def test_without_the_wish_nothing_is_bound() -> None:
    world = bound(**{TOKEN: token()})
    run(world, dpop=False)
    assert "DPoP" not in dict(world.sent(TOKEN)[0].fields)


def test_a_renewed_token_keeps_its_key() -> None:
    world, state = (
        bound(**{TOKEN: [token(token_type="DPoP", refresh_token="r"), token(token_type="DPoP")]}),
        authorization(),
    )
    assert world.run(state.answer(Refused(), []))
    before = proof_of(state.fields("POST", SERVER))[0]["jwk"]
    assert world.run(state.answer(Refused(), state.fields("POST", SERVER)))
    assert len(world.visits) == 1
    assert proof_of(world.sent(TOKEN)[1].fields)[0]["jwk"] == proof_of(state.fields("POST", SERVER))[0]["jwk"] == before


def test_what_is_not_a_jwt_has_no_claims() -> None:
    deep = base64.urlsafe_b64encode(b"[" * 30_000).decode()
    for text in ("", "a.b", "a.b.c", "a.bnVsbA.c", f"a.{deep}.c", "a." + "x" * 100_000 + ".c", "ü.ü.ü"):
        assert assertions.claims_of(text) is None
    assert assertions.claims_of(jwt.encode({"alg": "HS256"}, {"a": 1}, OctKey.import_key("k" * 32))) == {"a": 1}


@pytest.mark.parametrize(
    ("options", "first", "then"),
    [
        ({"grant": "client-credentials", "client_id": "me", "client_secret": "s"}, "client-credentials", "client-credentials"),
        ({"assertion": "a.b.c"}, "workload", "workload"),
        ({"idp_id_token": "a.b.c", "client_id": "me", "idp_token_endpoint": PROVIDER}, "enterprise", "enterprise"),
        ({"client_id": "me", "client_secret": "my-secret"}, None, "client-credentials"),
    ],
    ids=["said", "workload", "enterprise", "offered"],
)  # fmt: skip
def test_which_grant_it_is_is_reported_as_soon_as_it_is_known(options: dict[str, Any], first: Any, then: str) -> None:
    world = World({AS_PLACE: machines(), TOKEN: (400, {"error": "invalid_client"}), PROVIDER: (400, {"error": "no"})})
    refused(world, **options)
    (challenge,), (scope,) = world.recorded_steps("challenge"), world.recorded_steps("scope")
    assert dict(challenge.facts).get("grant") == first
    assert dict(scope.facts)["grant"] == then


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"grant": "client_credentials"}, "client-credentials"),
        ({"grant": ""}, "device"),
        ({"grant": "Device"}, "device"),
        ({"client_key_alg": "RS512"}, "ES256, RS256"),
    ],
)
def test_an_unknown_grant_or_algorithm_is_refused(given: dict[str, Any], says: str) -> None:
    with pytest.raises(UsageError) as caught:
        AuthOptions(**given)
    assert says in caught.value.hint
