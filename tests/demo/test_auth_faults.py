"""The switches for what can be wrong: each does what it is called, and nothing else changes."""

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import islice
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from inspector.demo.auth.faults import CLOCK_SKEW, ELSEWHERE, FAULTS, HUGE_BYTES, MARKUP, Faults
from tests.demo.auth_site import CALLBACK, ISSUER, SERVER, Site, challenge_in
from tests.demo.test_auth_token import claims_of

PRM = f"{SERVER}/.well-known/oauth-protected-resource"
METADATA = f"{ISSUER}/.well-known/oauth-authorization-server"
RIGHT = Site().get(METADATA).json


# --- the challenge and the metadata of the resource ------------------------------------------------------------------


def test_there_is_no_challenge() -> None:
    reply = Site("no-challenge").call(None)
    assert reply.status == 401
    assert "WWW-Authenticate" not in reply.headers


def test_the_challenge_is_one_of_several() -> None:
    value = Site("many-challenges").call(None).headers["WWW-Authenticate"]
    assert value.startswith('Negotiate YWJj==, Basic realm="a, Bearer \\"b\\"", Bearer resource_metadata="')


def test_the_metadata_are_reported_to_be_at_a_private_address() -> None:
    assert challenge_in(Site("private-metadata").call(None))["resource_metadata"].startswith("http://169.254.169.254/")


@pytest.mark.parametrize("path", ["", "/mcp", "/sse"])
def test_there_are_no_metadata_of_the_resource(path: str) -> None:
    site = Site("prm-missing")
    assert site.get(PRM + path).status == 404
    assert challenge_in(site.call(None))["resource_metadata"] == f"{PRM}/mcp"


@pytest.mark.parametrize("name", ["prm-html", "html-metadata"])
def test_a_web_page_is_there_instead(name: str) -> None:
    reply = Site(name).get(f"{PRM}/mcp" if name == "prm-html" else METADATA)
    assert (reply.status, reply.headers["Content-Type"]) == (200, "text/html")


def test_no_authorization_server_is_named() -> None:
    assert "authorization_servers" not in Site("prm-no-servers").get(f"{PRM}/mcp").json


def test_the_metadata_of_the_resource_have_wrong_types() -> None:
    document = Site("prm-types").get(f"{PRM}/mcp").json
    assert isinstance(document["resource"], dict)
    assert document["authorization_servers"] == [7, None]


def test_another_resource_is_named() -> None:
    assert Site("wrong-resource").get(f"{PRM}/mcp").json["resource"] == f"{ELSEWHERE}/mcp"


# --- the metadata of the authorization server ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "changed"),
    [
        ("wrong-issuer", {"issuer": ELSEWHERE}),
        ("issuer-slash", {"issuer": f"{ISSUER}/"}),
        ("no-pkce", {"code_challenge_methods_supported": None}),
        ("plain-pkce", {"code_challenge_methods_supported": ["plain"]}),
        ("no-registration", {"registration_endpoint": None, "client_id_metadata_document_supported": None}),
        ("javascript-endpoint", {"authorization_endpoint": "javascript:alert(1)"}),
        ("file-endpoint", {"authorization_endpoint": "file:///etc/passwd"}),
        ("http-endpoint", {"token_endpoint": "http://elsewhere.example/token"}),
    ],
)
def test_one_value_of_the_metadata_is_wrong(name: str, changed: dict[str, Any]) -> None:
    document = Site(name).get(METADATA).json
    assert {key: document.get(key) for key in RIGHT if document.get(key) != RIGHT[key]} == changed


def test_the_metadata_have_wrong_types() -> None:
    document = Site("metadata-types").get(METADATA).json
    assert document.pop("issuer") == ISSUER
    assert all(isinstance(value, dict) for value in document.values())


def test_the_metadata_are_nested_too_deep() -> None:
    with pytest.raises(RecursionError):
        json.loads(Site("deep-metadata").get(METADATA).body)


@pytest.mark.parametrize("place", ["metadata", "token"])
def test_the_body_is_huge(place: str) -> None:
    answer = Faults((f"{'huge-' if place == 'metadata' else ''}{place}{'-huge' if place == 'token' else ''}",)).apply(
        place, {}, METADATA
    )
    assert answer.headers["Content-Length"] == str(HUGE_BYTES)
    pieces = list(answer.body)
    assert sum(map(len, pieces)) == HUGE_BYTES
    assert pieces[0].startswith(b'{"access_token":"')
    assert pieces[-1].endswith(b'"}')


def test_the_body_does_not_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("inspector.demo.auth.faults.time.sleep", lambda seconds: None)
    answer = Faults(("slow-metadata",)).apply("metadata", {}, METADATA)
    assert "Content-Length" not in answer.headers
    assert b"".join(islice(answer.body, 1000)) == b"{" + b" " * 999


def test_the_metadata_redirect_to_another_origin_where_they_are() -> None:
    site = Site("redirect-metadata")
    reply = site.get(METADATA)
    assert reply.status == 302
    there = reply.headers["Location"]
    assert urlsplit(there).netloc == "localhost:1002"
    assert site.get(there).json["issuer"] == ISSUER


def test_the_metadata_redirect_to_themselves() -> None:
    assert Site("redirect-loop").get(METADATA).headers["Location"] == METADATA


# --- registration ----------------------------------------------------------------------------------------------------


def test_registration_is_refused() -> None:
    reply = Site("registration-refuses").register()
    assert reply.status == 400
    assert reply.json == {"error": "invalid_redirect_uri", "error_description": MARKUP}


def test_registration_gives_another_redirect_uri_or_no_id() -> None:
    assert Site("other-redirect").register().json["redirect_uris"] == [f"{ELSEWHERE}/callback"]
    assert "client_id" not in Site("registration-no-id").register().json


# --- the way back from the browser -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "state", "iss"),
    [
        ("iss-missing", ["a state"], []),
        ("iss-wrong", ["a state"], [ELSEWHERE]),
        ("iss-slash", ["a state"], [f"{ISSUER}/"]),
        ("state-wrong", ["another-state"], [ISSUER]),
        ("state-missing", [], [ISSUER]),
        ("state-doubled", ["a state", "another-state"], [ISSUER]),
    ],
)
def test_a_parameter_of_the_way_back_is_wrong(name: str, state: list[str], iss: list[str]) -> None:
    reply = Site(name).authorize()
    assert reply.headers["Location"].startswith(CALLBACK)
    assert [value for key, value in reply.back if key == "state"] == state
    assert [value for key, value in reply.back if key == "iss"] == iss
    assert "code" in dict(reply.back)


@pytest.mark.parametrize(("name", "iss"), [("error-redirect", ISSUER), ("error-iss-wrong", ELSEWHERE)])
def test_an_error_returns_with_markup(name: str, iss: str) -> None:
    reply = Site(name).authorize()
    assert "\n" not in reply.headers["Location"]
    assert dict(reply.back) == {
        "error": "server_error",
        "error_description": MARKUP,
        "error_uri": "javascript:alert(1)",
        "state": "a state",
        "iss": iss,
    }


# --- tokens ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        ("token-200-error", lambda answer: answer["error"] == "invalid_grant" and "access_token" not in answer),
        ("token-no-type", lambda answer: "token_type" not in answer),
        ("token-other-type", lambda answer: answer["token_type"] == "mac"),
        ("token-bad-expiry", lambda answer: answer["expires_in"] == "soon"),
        ("token-negative-expiry", lambda answer: answer["expires_in"] == -1),
        ("token-newline", lambda answer: answer["access_token"].endswith("\r\nX-Injected: yes")),
    ],
)
def test_an_answer_of_the_token_endpoint_is_wrong(name: str, wrong: Callable[[Any], bool]) -> None:
    site = Site(name)
    reply = site.redeem(site.code())
    assert reply.status == 200
    assert wrong(reply.json)


def test_the_token_endpoint_answers_with_a_page_or_a_redirect() -> None:
    site = Site("token-html")
    assert site.redeem(site.code()).headers["Content-Type"] == "text/html"
    site = Site("token-redirect")
    reply = site.redeem(site.code())
    assert (reply.status, reply.headers["Location"]) == (307, "http://localhost:1002/token")


def test_what_is_refused_is_refused_as_ever() -> None:
    assert Site("token-200-error").redeem("nonsense").status == 400


def test_no_refresh_token_holds() -> None:
    site = Site("refresh-refused")
    tokens = site.tokens()
    assert site.call(tokens["access_token"]).status == 200
    assert site.refresh(tokens["refresh_token"]).json["error"] == "invalid_grant"


# --- the gate --------------------------------------------------------------------------------------------------------


def test_a_tool_wants_a_scope_for_ever() -> None:
    site = Site("scope-forever")
    token = site.tokens(scope="demo:read demo:write")["access_token"]
    reply = site.call(token, "change-list")
    assert (reply.status, challenge_in(reply)["scope"]) == (403, "demo:write")
    assert site.call(token).status == 200


def test_every_token_is_refused_for_ever() -> None:
    site = Site("401-forever")
    reply = site.call(site.tokens()["access_token"])
    assert (reply.status, challenge_in(reply)["error"]) == (401, "invalid_token")


def test_the_first_call_finds_another_authorization_server() -> None:
    site = Site("migrate")
    (first,) = site.get(f"{PRM}/mcp").json["authorization_servers"]
    client = site.register(first).json["client_id"]
    old = site.redeem(site.code(first, client_id=client), first, client_id=client).json["access_token"]
    assert site.enter(old).status == 200
    assert site.call(old).status == 401
    (second,) = site.get(f"{PRM}/mcp").json["authorization_servers"]
    assert second != first
    assert site.enter(old).status == 401
    assert site.authorize(second, client_id=client).status == 400  # it is registered with the first
    new = site.tokens(second)["access_token"]
    assert site.call(new).status == 200


def test_the_clock_of_the_claims_is_wrong_but_the_token_holds() -> None:
    site = Site(CLOCK_SKEW)
    token = site.tokens()["access_token"]
    assert claims_of(token)["exp"] < site.time
    assert site.call(token).status == 200


# --- all of them -----------------------------------------------------------------------------------------------------


def test_faults_add_up() -> None:
    document = Site("no-pkce", "issuer-slash", "no-challenge").get(METADATA).json
    assert document["issuer"] == f"{ISSUER}/"
    assert "code_challenge_methods_supported" not in document


@pytest.mark.parametrize("name", sorted(FAULTS))
def test_a_fault_does_nothing_elsewhere(name: str) -> None:
    """A fault changes nothing else, up to the point where it stops a client."""
    site, place = Site(name), FAULTS[name].place
    if place != "prm":
        assert site.get(f"{PRM}/mcp").json == Site().get(f"{PRM}/mcp").json
    if place != "metadata":
        assert site.get(METADATA).json == RIGHT
    if place != "registered":
        assert site.register().status == 201
    if place != "redirect":
        assert dict(site.authorize().back)["iss"] == ISSUER
    if place not in ("token", "redirect"):
        assert site.tokens()["token_type"] == "Bearer"


@pytest.mark.parametrize("name", sorted(FAULTS))
def test_a_fault_is_explained(name: str) -> None:
    page = (Path(__file__).parents[2] / "docs" / "reference" / "demo.md").read_text("utf-8")
    assert f"| `{name}` |" in page
