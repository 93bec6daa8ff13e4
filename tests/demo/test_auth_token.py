"""The token endpoint: codes, refreshing, clients for themselves, the device flow, and taking tokens back."""

from __future__ import annotations

import json
from base64 import b64encode, urlsafe_b64decode
from typing import Any

import pytest

from tests.demo.auth_site import APP, ISSUER, MCP, SERVICE, Site, query_of, ticket_in

TOKEN = f"{ISSUER}/token"
DEVICE = "urn:ietf:params:oauth:grant-type:device_code"


@pytest.fixture
def site() -> Site:
    return Site()


def claims_of(token: str) -> dict[str, Any]:
    part = token.split(".")[1]
    claims: dict[str, Any] = json.loads(urlsafe_b64decode(part + "=" * (-len(part) % 4)))
    return claims


def basic(name: str, secret: str) -> str:
    return "Basic " + b64encode(f"{name}:{secret}".encode()).decode()


# --- codes -----------------------------------------------------------------------------------------------------------


def test_a_code_brings_tokens_that_tell_what_they_are_for(site: Site) -> None:
    reply = site.redeem(site.code(scope="demo:read demo:write"))
    tokens = reply.json
    assert reply.headers["Cache-Control"] == "no-store"
    assert (tokens["token_type"], tokens["expires_in"]) == ("Bearer", 3600)
    assert tokens["scope"] == "demo:read demo:write"
    claims = claims_of(tokens["access_token"])
    assert {key: claims[key] for key in ("iss", "aud", "client_id", "scope", "sub")} == {
        "iss": ISSUER,
        "aud": MCP,
        "client_id": "demo-app",
        "scope": "demo:read demo:write",
        "sub": "demo-person",
    }
    assert (claims["iat"], claims["exp"]) == (site.time, site.time + 3600)


def test_a_code_that_comes_twice_ends_what_it_brought(site: Site) -> None:
    code = site.code()
    token = site.redeem(code).json["access_token"]
    assert site.call(token).status == 200
    assert site.redeem(code).json["error"] == "invalid_grant"
    assert site.call(token).status == 401


def test_a_code_ends_after_a_minute(site: Site) -> None:
    code = site.code()
    site.time += 60.1
    assert site.redeem(code).json["error"] == "invalid_grant"


@pytest.mark.parametrize(
    ("changed", "error"),
    [
        ({"code": "nonsense"}, "invalid_grant"),
        ({"code": ""}, "invalid_request"),
        ({"code_verifier": ""}, "invalid_request"),
        ({"redirect_uri": "http://127.0.0.1:5001/callback"}, "invalid_grant"),
        ({"resource": "http://127.0.0.1:1001/sse"}, "invalid_target"),
        ({"client_id": "unknown"}, "invalid_client"),
        ({"client_id": ""}, "invalid_client"),
        ({"grant_type": "password"}, "unsupported_grant_type"),
        ({"grant_type": ""}, "invalid_request"),
        ({"grant_type": "client_credentials"}, "unauthorized_client"),
    ],
)
def test_a_wrong_request_brings_nothing(site: Site, changed: dict[str, str], error: str) -> None:
    reply = site.redeem(changed.pop("code", site.code()), **changed)
    assert reply.json["error"] == error
    assert reply.status == (401 if error == "invalid_client" else 400)


def test_a_code_is_good_for_its_client_only(site: Site) -> None:
    other = site.register().json["client_id"]
    assert site.redeem(site.code(), client_id=other).json["error"] == "invalid_grant"


def test_the_body_has_to_be_a_form(site: Site) -> None:
    reply = site.send("POST", TOKEN, {"Content-Type": "application/json"}, b"{}")
    assert reply.json["error"] == "invalid_request"


@pytest.mark.parametrize("body", [b"a=b&" * 101, b"grant_type=a&grant_type=b&client_id=demo-app"])
def test_doubled_and_countless_parameters_are_refused(site: Site, body: bytes) -> None:
    reply = site.send("POST", TOKEN, {"Content-Type": "application/x-www-form-urlencoded"}, body)
    assert reply.json["error"] == "invalid_request"


# --- refreshing ------------------------------------------------------------------------------------------------------


def test_a_refresh_brings_another_token_and_another_refresh_token(site: Site) -> None:
    first = site.tokens()
    site.time += 4000
    assert site.call(first["access_token"]).status == 401
    second = site.refresh(first["refresh_token"]).json
    assert second["refresh_token"] != first["refresh_token"]
    assert site.call(second["access_token"]).status == 200


def test_a_refresh_token_that_comes_twice_ends_everything(site: Site) -> None:
    first = site.tokens()
    second = site.refresh(first["refresh_token"]).json
    assert site.refresh(first["refresh_token"]).json["error"] == "invalid_grant"
    assert site.call(second["access_token"]).status == 401
    assert site.refresh(second["refresh_token"]).json["error"] == "invalid_grant"


def test_a_refresh_may_ask_for_less_but_not_for_more(site: Site) -> None:
    token = site.tokens(scope="demo:read demo:write")["refresh_token"]
    less = site.refresh(token, scope="demo:read").json
    assert less["scope"] == "demo:read"
    assert site.call(less["access_token"], "change-list").status == 403
    assert site.refresh(less["refresh_token"], scope="demo:read offline_access").json["error"] == "invalid_scope"
    again = site.refresh(less["refresh_token"], resource=MCP).json  # what was refused has used nothing up
    assert again["scope"] == "demo:read demo:write"


@pytest.mark.parametrize(
    ("changed", "error"),
    [
        ({"refresh_token": "nonsense"}, "invalid_grant"),
        ({"refresh_token": ""}, "invalid_request"),
        ({"resource": "http://127.0.0.1:1001/sse"}, "invalid_target"),
        ({"resource": "https://elsewhere.example"}, "invalid_target"),
        (SERVICE, "invalid_grant"),
    ],
)
def test_a_wrong_refresh_brings_nothing(site: Site, changed: dict[str, str], error: str) -> None:
    token = changed.get("refresh_token", site.tokens()["refresh_token"])
    more = {key: value for key, value in changed.items() if key != "refresh_token"}
    assert site.refresh(token, **more).json["error"] == error


def test_only_clients_that_said_so_get_refresh_tokens(site: Site) -> None:
    client = site.register(grant_types=["authorization_code"]).json["client_id"]
    tokens = site.redeem(site.code(client_id=client), client_id=client).json
    assert "refresh_token" not in tokens
    assert site.refresh("any", client_id=client).json["error"] == "unauthorized_client"


# --- a client for itself ---------------------------------------------------------------------------------------------

ITSELF = {"grant_type": "client_credentials", "scope": "demo:read", "resource": MCP}


def test_a_client_with_a_secret_in_the_form_gets_a_token_of_its_own(site: Site) -> None:
    tokens = site.post(TOKEN, ITSELF | SERVICE).json
    assert "refresh_token" not in tokens
    assert claims_of(tokens["access_token"])["sub"] == "demo-service"
    assert site.call(tokens["access_token"]).status == 200


def test_a_client_with_a_secret_in_the_header_does_too(site: Site) -> None:
    header = basic("demo%2Dservice", "demo%2Dservice%2Dsecret")  # both are form-encoded
    assert site.post(TOKEN, ITSELF, Authorization=header).status == 200


@pytest.mark.parametrize(
    ("form", "header", "error"),
    [
        ({"client_id": "demo-service", "client_secret": "wrong"}, None, "invalid_client"),
        ({"client_id": "demo-service"}, None, "invalid_client"),
        ({}, basic("demo-service", "wrong"), "invalid_client"),
        ({}, basic("unknown", "wrong"), "invalid_client"),
        ({}, "Basic !", "invalid_client"),
        ({}, "Basic /w==", "invalid_client"),
        ({}, basic("demo-app", ""), "invalid_client"),
        ({"client_id": "other"}, basic("demo-service", "demo-service-secret"), "invalid_request"),
        (SERVICE, basic("demo-service", "demo-service-secret"), "invalid_request"),
        (SERVICE | {"scope": "root"}, None, "invalid_scope"),
        (SERVICE | {"resource": "https://elsewhere.example"}, None, "invalid_target"),
    ],
)
def test_who_does_not_prove_who_it_is_gets_none(
    site: Site, form: dict[str, str], header: str | None, error: str
) -> None:
    reply = site.post(TOKEN, ITSELF | form, **({} if header is None else {"Authorization": header}))
    assert reply.json["error"] == error
    if error == "invalid_client":
        assert reply.status == 401
        assert reply.headers["WWW-Authenticate"].startswith("Basic ")


# --- devices ---------------------------------------------------------------------------------------------------------


def begin(site: Site) -> dict[str, Any]:
    answer: dict[str, Any] = site.post(f"{ISSUER}/device_authorization", {**APP, "resource": MCP}).json
    return answer


def poll(site: Site, begun: dict[str, Any], **changed: str) -> dict[str, Any]:
    form = {"grant_type": DEVICE, "device_code": begun["device_code"], **APP, **changed}
    answer: dict[str, Any] = site.post(TOKEN, form).json
    return answer


def test_a_device_waits_until_the_person_has_allowed_it() -> None:
    site = Site(auto=False)
    begun = begin(site)
    assert poll(site, begun)["error"] == "authorization_pending"
    complete = query_of(begun["verification_uri_complete"])["user_code"][0]
    assert complete == begun["user_code"]
    page = site.get(begun["verification_uri"], user_code=begun["user_code"].lower())
    assert "Demo app" in page.text
    form = {"user_code": ticket_in(page, "user_code"), "decision": "allow"}
    assert "Allowed" in site.post(f"{ISSUER}/device", form).text
    assert site.post(f"{ISSUER}/device", form).status == 400
    site.time += 1
    tokens = poll(site, begun)
    assert site.call(tokens["access_token"]).status == 200
    assert poll(site, begun)["error"] == "invalid_grant"


def test_a_person_can_deny_a_device() -> None:
    site = Site(auto=False)
    begun = begin(site)
    site.post(f"{ISSUER}/device", {"user_code": begun["user_code"].replace("-", ""), "decision": "deny"})
    assert poll(site, begun)["error"] == "access_denied"


def test_who_asks_too_soon_has_to_slow_down() -> None:
    site = Site(auto=False)
    begun = begin(site)
    assert begun["interval"] == 1
    assert poll(site, begun)["error"] == "authorization_pending"
    site.time += 0.5
    assert poll(site, begun)["error"] == "slow_down"
    site.time += 2  # the interval has grown by five seconds
    assert poll(site, begun)["error"] == "slow_down"
    site.time += 60
    assert poll(site, begun)["error"] == "authorization_pending"


def test_a_device_code_ends() -> None:
    site = Site(auto=False)
    begun = begin(site)
    site.time += begun["expires_in"] + 1
    assert poll(site, begun)["error"] == "expired_token"
    assert site.get(begun["verification_uri_complete"]).status == 400


def test_a_device_code_is_good_for_its_client_only(site: Site) -> None:
    begun = begin(site)
    assert poll(site, begun, device_code="nonsense")["error"] == "invalid_grant"
    grants = ["authorization_code", DEVICE]
    other = site.register(grant_types=grants).json["client_id"]
    assert poll(site, begun, client_id=other)["error"] == "invalid_grant"


def test_a_client_has_to_be_registered_for_it(site: Site) -> None:
    client = site.register().json["client_id"]
    reply = site.post(f"{ISSUER}/device_authorization", {"client_id": client})
    assert reply.json["error"] == "unauthorized_client"


def test_the_page_asks_for_the_code_and_knows_only_those_that_wait(site: Site) -> None:
    assert "Enter the code" in site.get(f"{ISSUER}/device").text
    assert site.get(f"{ISSUER}/device", user_code="<b>BBBB</b>").status == 400
    assert site.send("POST", f"{ISSUER}/device", {"Content-Type": "text/plain"}, b"a").status == 400


# --- taking tokens back ----------------------------------------------------------------------------------------------


def test_a_revoked_refresh_token_takes_its_tokens_with_it(site: Site) -> None:
    tokens = site.tokens()
    assert site.post(f"{ISSUER}/revoke", {"token": tokens["refresh_token"], **APP}).status == 200
    assert site.call(tokens["access_token"]).status == 401
    assert site.refresh(tokens["refresh_token"]).json["error"] == "invalid_grant"


def test_unknown_tokens_and_those_of_others_are_left_alone(site: Site) -> None:
    tokens = site.tokens()
    for token in ("nonsense", tokens["access_token"], tokens["refresh_token"]):
        assert site.post(f"{ISSUER}/revoke", {"token": token, **SERVICE}).status == 200
    assert site.call(tokens["access_token"]).status == 200
    assert site.post(f"{ISSUER}/revoke", {"token": "any", "client_id": "unknown"}).status == 401
    assert site.post(f"{ISSUER}/revoke", APP).json["error"] == "invalid_request"
