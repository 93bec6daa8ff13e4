"""Hostile responses: a login ends with a token or a reason, without dangerous effects."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from inspector.auth.authorize import Authorization
from inspector.auth.url_checks import secure
from inspector.errors import AuthorizationNeeded
from tests.auth.scripted_servers import (
    AS_PLACE,
    ISSUER,
    PRM_PLACE,
    SERVER,
    Refused,
    World,
    authorization,
    callback,
    metadata,
    prm,
    token,
)

WORDS = st.sampled_from([
    "", "x", SERVER, ISSUER, ISSUER + "/", "https://evil.example", "javascript:alert(1)", "http://[", "\x1b[31m", "Bearer",
    "DPoP", "none", "client_secret_basic", "private_key_jwt", "S256", "ES256", "authorization_code", "client_credentials",
    "urn:ietf:params:oauth:grant-type:device_code", "a b", "\ud800", "9" * 400, "offline_access", "invalid_grant",
    "use_dpop_nonce", f"{ISSUER}/token", "http://127.0.0.1:43210/callback",
])  # fmt: skip
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.just(10**400) | st.floats() | WORDS | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(WORDS, inner, max_size=3),
    max_leaves=6,
)
NAMES = {
    PRM_PLACE: (*prm(), "scopes_supported", "dpop_bound_access_tokens_required"),
    AS_PLACE: (
        *metadata(), "scopes_supported", "grant_types_supported", "authorization_response_iss_parameter_supported",
        "client_id_metadata_document_supported", "dpop_signing_alg_values_supported", "device_authorization_endpoint",
        "revocation_endpoint",
    ),
    f"{ISSUER}/register": (
        "client_id", "client_secret", "redirect_uris", "token_endpoint_auth_method", "client_secret_expires_at", "error",
    ),
    f"{ISSUER}/token": (*token(), "refresh_token", "scope", "error", "error_description", "id_token"),
}  # fmt: skip
DOCUMENTS = {
    PRM_PLACE: prm(),
    AS_PLACE: metadata(),
    f"{ISSUER}/register": {"client_id": "c"},
    f"{ISSUER}/token": token(),
}


@st.composite
def pages(draw: st.DrawFn) -> dict[str, Any]:
    """The four documents of a login, each with some of its values changed."""
    documents = {}
    for place, names in NAMES.items():
        changes = draw(st.dictionaries(st.sampled_from(names), VALUES, max_size=2))
        status = draw(st.sampled_from([200, 200, 200, 200, 201, 302, 400, 401, 404, 500]))
        documents[place] = (status, DOCUMENTS[place] | changes, [("DPoP-Nonce", "n")])
    return documents


CHALLENGES = st.lists(st.text(alphabet='Bearsd DPo="\\,:/x_m', max_size=40), max_size=2)


@pytest.mark.slow
@given(pages(), CHALLENGES, st.dictionaries(st.sampled_from(["iss", "error", "code", "state"]), WORDS, max_size=2))
@settings(max_examples=2 * settings.default.max_examples, suppress_health_check=[HealthCheck.too_slow])
def test_a_login_ends_with_a_token_or_with_a_reason(
    given_pages: dict[str, Any], challenges: list[str], parameters: dict[str, str]
) -> None:
    parameters = {name: value for name, value in parameters.items() if value.isprintable()}
    world = World(given_pages, back=lambda url: callback(url, **{"code": "the-code"} | parameters))
    state = authorization()
    refusal = Refused(challenges=(f'Bearer resource_metadata="{PRM_PLACE}"', *challenges))
    reason = reason_of(world, state, refusal)
    if reason:
        assert "\x1b" not in reason
        assert len(reason) < 3000
        assert state.fields("POST", SERVER) == []
    else:
        assert state.fields("POST", SERVER)
        assert "state" not in parameters
        assert parameters.get("iss", ISSUER) == ISSUER
    for url in world.fetched:
        secure(url)  # or ValueError. Whether this machine may be asked, the fetcher decides (test_fetching.py).
    for asked in world.visits:
        assert asked["code_challenge_method"] == "S256"
    for place in {*world.fetched} - {f"{ISSUER}/token"}:
        assert all(b"the-code" not in fetch.body for fetch in world.sent(place) if place != token_endpoint(given_pages))


def reason_of(world: World, state: Authorization, refusal: Refused) -> str:
    """Why a login failed; empty where it did not."""
    try:
        assert world.run(state.answer(refusal, []))
    except AuthorizationNeeded as error:
        return f"{error.message} {error.hint}"
    return ""


def token_endpoint(documents: dict[str, Any]) -> Any:
    return documents[AS_PLACE][1]["token_endpoint"]
