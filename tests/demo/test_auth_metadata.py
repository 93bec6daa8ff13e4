"""Where the authorization server's metadata are in each layout, and what they say."""

from __future__ import annotations

import pytest

from tests.demo.auth_site import ISSUER, MCP, SERVER, Site, challenge_in

OAUTH, OPENID = "/.well-known/oauth-authorization-server", "/.well-known/openid-configuration"
PRM = f"{SERVER}/.well-known/oauth-protected-resource/mcp"


@pytest.mark.parametrize("place", [OAUTH, OPENID])
def test_both_kinds_of_metadata_say_the_same_of_oauth(place: str) -> None:
    document = Site().get(ISSUER + place).json
    assert document["issuer"] == ISSUER
    assert document["code_challenge_methods_supported"] == ["S256"]
    assert document["authorization_response_iss_parameter_supported"] is True
    assert document["client_id_metadata_document_supported"] is True
    endpoints = {key: value for key, value in document.items() if key.endswith("_endpoint")}
    assert sorted(value.removeprefix(ISSUER) for value in endpoints.values()) == [
        "/authorize",
        "/device_authorization",
        "/register",
        "/revoke",
        "/token",
    ]


def test_openid_metadata_have_what_their_specification_demands() -> None:
    site = Site()
    document = site.get(ISSUER + OPENID).json
    assert site.get(document["jwks_uri"]).json == {"keys": []}
    assert document["subject_types_supported"] == ["public"]
    assert "jwks_uri" not in site.get(ISSUER + OAUTH).json


@pytest.mark.parametrize(
    ("layout", "places"),
    [
        ("apart", [OAUTH, OPENID]),
        ("path", [f"{OAUTH}/tenant", f"{OPENID}/tenant", f"/tenant{OPENID}"]),
        ("oidc", [f"/tenant{OPENID}"]),
    ],
)
def test_the_metadata_are_where_the_layout_has_them_and_nowhere_else(layout: str, places: list[str]) -> None:
    site = Site(layout=layout)
    every = [OAUTH, OPENID, f"{OAUTH}/tenant", f"{OPENID}/tenant", f"/tenant{OPENID}", f"/tenant{OAUTH}"]
    assert [place for place in every if site.get(ISSUER + place).status == 200] == places
    (issuer,) = site.get(PRM).json["authorization_servers"]
    assert site.get(ISSUER + places[0]).json["issuer"] == issuer


@pytest.mark.parametrize("layout", ["path", "oidc"])
def test_one_logs_in_at_an_issuer_with_a_path(layout: str) -> None:
    site = Site(layout=layout)
    token = site.tokens(f"{ISSUER}/tenant")["access_token"]
    assert site.call(token).text == "let through"
    assert site.authorize(ISSUER).status == 404


def test_tokens_of_each_of_several_servers_are_good_and_their_clients_apart() -> None:
    site = Site(layout="several")
    issuers = site.get(PRM).json["authorization_servers"]
    assert issuers == [ISSUER, f"{ISSUER}/second"]
    for issuer in issuers:
        assert site.call(site.tokens(issuer)["access_token"]).text == "let through"
    client = site.register(issuers[0]).json["client_id"]
    assert site.authorize(issuers[0], client_id=client).status == 302
    assert site.authorize(issuers[1], client_id=client).status == 400


@pytest.mark.parametrize(("layout", "metadata"), [("same-origin", 200), ("defaults", 0)])
def test_the_server_of_2025_03_26_is_its_own_authorization_server(layout: str, metadata: int) -> None:
    site = Site(layout=layout)
    assert "resource_metadata" not in challenge_in(site.call(None))
    assert site.get(PRM).text == "let through"  # so that the server says 404
    answer = site.get(SERVER + OAUTH)
    if metadata:
        assert answer.json["issuer"] == SERVER
    else:
        assert answer.text == "let through"
    client = site.register(SERVER).json["client_id"]
    code = site.code(SERVER, client_id=client, resource=None)
    token = site.redeem(code, SERVER, client_id=client, resource="").json["access_token"]
    assert site.send("POST", MCP, {"Authorization": f"Bearer {token}"}, b"{}").text == "let through"


@pytest.mark.parametrize(("method", "path"), [("POST", OAUTH), ("GET", "/token"), ("PUT", "/authorize")])
def test_another_method_is_refused_with_the_right_one(method: str, path: str) -> None:
    reply = Site().send(method, ISSUER + path)
    assert reply.status == 405
    assert reply.headers["Allow"] == {"POST": "GET", "GET": "POST", "PUT": "GET"}[method]
