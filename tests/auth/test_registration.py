"""Client registration: the client, and the authorization server's response."""

from __future__ import annotations

import json
from typing import Any

import pytest

from inspector.auth.actions import AskClient, TimedOut
from inspector.auth.models import OAuthClient
from inspector.errors import AuthorizationNeeded
from tests.auth.scripted_servers import (
    AS_PLACE,
    ISSUER,
    NOW,
    PRM_PLACE,
    REDIRECT,
    ROOT_PRM_PLACE,
    Refused,
    World,
    authorization,
    metadata,
)

REGISTER = f"{ISSUER}/register"
DOCUMENT = "https://me.example/client.json"


def run(world: World, **options: Any) -> None:
    assert world.run(authorization(**options).answer(Refused(), []))


def refused(world: World, **options: Any) -> AuthorizationNeeded:
    with pytest.raises(AuthorizationNeeded) as caught:
        run(world, **options)
    assert not world.visits
    assert "\x1b" not in caught.value.message + caught.value.hint
    assert caught.value.exit_code == 3
    return caught.value


def test_the_order_is_given_document_registered_typed() -> None:
    """C-AUTH-14."""
    both = metadata(client_id_metadata_document_supported=True)
    for options, pages, expected in (
        ({"client_id": "mine", "client_metadata_url": DOCUMENT}, {AS_PLACE: both}, "mine"),
        ({"client_metadata_url": DOCUMENT}, {AS_PLACE: both}, DOCUMENT),
        ({"client_metadata_url": DOCUMENT}, {}, "registered-1"),
        ({}, {AS_PLACE: both}, "registered-1"),
        ({}, {AS_PLACE: metadata(registration_endpoint=...)}, "typed-1"),
    ):
        world = World(pages, ask=OAuthClient("typed-1", origin="typed"))
        run(world, **options)
        assert world.visits[0]["client_id"] == expected
        assert (REGISTER in world.fetched) is (expected == "registered-1")


def test_a_server_without_an_authorization_server_is_not_called_one() -> None:
    """A server of one fixed token refuses the registration at the default endpoints of 2025-03-26."""
    missing = (404, "")
    world = World({PRM_PLACE: missing, ROOT_PRM_PLACE: missing})
    with pytest.raises(AuthorizationNeeded, match="but names no authorization server") as caught:
        world.run(authorization().answer(Refused(challenges=("Bearer",)), []))
    assert caught.value.hint.startswith("Give its token with ")


@pytest.mark.parametrize("url", ["http://me.example/c.json", "https://me.example", "https://me.example/", "nonsense"])
def test_a_client_id_metadata_document_has_an_https_url_with_a_path(url: str) -> None:
    """C-AUTH-15."""
    refused(World({AS_PLACE: metadata(client_id_metadata_document_supported=True)}), client_metadata_url=url)


def test_the_registration_says_what_kind_of_program_we_are() -> None:
    """C-AUTH-16, C-AUTH-18."""
    world = World()
    run(world, scope="a b")
    (request,) = world.sent(REGISTER)
    assert json.loads(request.body) == {
        "client_name": "Inspector",
        "redirect_uris": [REDIRECT],
        "grant_types": ["authorization_code", "refresh_token"],
        "response_types": ["code"],
        "token_endpoint_auth_method": "none",
        "application_type": "native",
        "scope": "a b",
    }
    assert dict(request.fields)["Content-Type"] == "application/json"


def test_a_registered_client_is_stored_by_its_issuer() -> None:
    """C-AUTH-17."""
    world = World({REGISTER: (201, {"client_id": "c", "client_secret_expires_at": NOW + 5})})
    run(world)
    assert world.clients == {ISSUER: OAuthClient("c", "", "none", "registered", REDIRECT, NOW + 5)}


@pytest.mark.parametrize(
    ("asked", "answer", "kept"),
    [
        ("a b", {}, ("a", "b")),
        ("a b", {"scope": "a"}, ("a", "b")),
        ("", {"scope": "default also"}, ("default", "also")),
        ("a", {"scope": ["x", 5]}, ("a", "x")),
        ("a", {"scope": 'x" y'}, ("a", "y")),
        ("", {}, ()),
    ],
)
def test_what_a_client_is_registered_for_is_kept(asked: str, answer: dict[str, Any], kept: tuple[str, ...]) -> None:
    """RFC 7591 section 2."""
    world = World({REGISTER: (201, {"client_id": "c"} | answer)})
    run(world, scope=asked)
    client = world.clients[ISSUER]
    assert client.scope == kept
    assert OAuthClient.from_json(json.loads(json.dumps(client.as_json()))) == client


@pytest.mark.parametrize(
    ("offered", "answer", "method"),
    [
        (["none"], {}, "none"),
        (["none"], {"client_secret": "unasked-secret"}, "none"),
        (["client_secret_basic"], {"client_secret": "s3cret-value"}, "client_secret_basic"),
        (["client_secret_post"], {"client_secret": "s3cret-value"}, "client_secret_post"),
        (["client_secret_post", "client_secret_basic"], {"client_secret": "s3cret-value"}, "client_secret_post"),
        (["client_secret_basic", "client_secret_post"], {"client_secret": "s3cret-value"}, "client_secret_basic"),
        (..., {"client_secret": "s3cret-value"}, "client_secret_basic"),
        (..., {}, "none"),
        (..., {"client_secret": "s3cret-value", "token_endpoint_auth_method": "client_secret_post"}, "client_secret_post"),
        (..., {"client_secret": "s3cret-value", "token_endpoint_auth_method": "none"}, "none"),
        (["none"], {"client_secret": "s3cret-value", "token_endpoint_auth_method": "client_secret_basic"},
         "client_secret_basic"),
    ],
)  # fmt: skip
def test_the_client_authenticates_as_it_was_registered_else_as_is_offered(
    offered: Any, answer: dict[str, str], method: str
) -> None:
    """C-AUTH-19: and without being asked, no secret goes anywhere."""
    world = World({
        AS_PLACE: metadata(token_endpoint_auth_methods_supported=offered),
        REGISTER: (201, {"client_id": "registered-1"} | answer),
    })  # fmt: skip
    run(world)
    (request,) = world.sent(f"{ISSUER}/token")
    (form,) = world.forms()
    basic = dict(request.fields).get("Authorization", "")
    assert basic.startswith("Basic ") is (method == "client_secret_basic")
    assert ("client_secret" in form) is (method == "client_secret_post")
    assert ("client_id" in form) is (method != "client_secret_basic")
    if method == "none":
        assert "secret" not in request.body.decode()


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        ((400, {"error": "invalid_redirect_uri", "error_description": "only https\x1b[2J"}), "invalid_redirect_uri"),
        ((403, {"error": "access_denied"}), "access_denied"),
        ((200, {"error": "invalid_client_metadata"}), "invalid_client_metadata"),
        ((500, b"<html>"), "status 500"),
        ((201, b"<html>"), "status 201"),
        ((201, [1]), "status 201"),
        ((302, b""), "status 302"),
        ((201, {}), "“client_id”"),
        ((201, {"client_id": ""}), "“client_id”"),
        ((201, {"client_id": 17}), "“client_id”"),
        ((201, {"client_id": "a\x1bb"}), "“client_id”"),
        ((201, {"client_id": "x" * 9999}), "“client_id”"),
        ((201, {"client_id": "c", "client_secret": {}}), "“client_secret”"),
        (
            (201, {"client_id": "c", "client_secret": "\ud800", "token_endpoint_auth_method": "client_secret_post"}),
            "“client_secret”",
        ),
        ((201, {"client_id": "c", "redirect_uris": ["https://evil.example/cb"]}), "“redirect_uris”"),
        ((201, {"client_id": "c", "redirect_uris": [REDIRECT + "/"]}), "“redirect_uris”"),
        ((201, {"client_id": "c", "redirect_uris": REDIRECT}), "“redirect_uris”"),
        ((201, {"client_id": "c", "token_endpoint_auth_method": "tls_client_auth"}), "“token_endpoint_auth_method”"),
        ((201, {"client_id": "c", "token_endpoint_auth_method": "private_key_jwt"}), "“token_endpoint_auth_method”"),
        ((201, {"client_id": "c", "token_endpoint_auth_method": "client_secret_basic"}), "“client_secret”"),
        ((201, {"client_id": "c", "client_secret_expires_at": "tomorrow"}), "“client_secret_expires_at”"),
        ((201, {"client_id": "c", "client_secret_expires_at": -1}), "“client_secret_expires_at”"),
    ],
)
def test_a_registration_that_refuses_or_answers_otherwise_ends_there(answer: Any, says: str) -> None:
    """C-AUTH-16: and the person is told what the server said."""
    world = World({REGISTER: answer})
    assert says in refused(world).message
    assert (world.failed.step, world.failed.ok) == ("registration", False)
    assert world.clients == {}


def test_a_refused_redirect_uri_is_named() -> None:
    world = World({REGISTER: (400, {"error": "invalid_redirect_uri"})})
    assert REDIRECT in refused(world).hint


def test_without_any_client_the_person_is_told_what_to_do() -> None:
    world = World({AS_PLACE: metadata(registration_endpoint=...)})
    error = refused(world)
    assert "--client-id" in error.hint.command_line
    assert REDIRECT in error.hint
    assert [action.issuer for action in world.log if isinstance(action, AskClient)] == [ISSUER]


def test_a_typed_client_is_not_asked_for_again() -> None:
    world = World(
        {AS_PLACE: metadata(registration_endpoint=...)}, ask=OAuthClient("typed-1", "typed-secret", origin="typed")
    )
    run(world)
    world.ask = None
    world.store.clear()
    run(world)
    assert [asked["client_id"] for asked in world.visits] == ["typed-1", "typed-1"]
    assert "typed-secret" in world.secrets


@pytest.mark.parametrize("method", ["times out", "refuses"])
def test_a_client_that_was_mistyped_is_requested_again(method: str) -> None:
    """Otherwise one slip of the fingers would be stored for good."""

    def no_redirect(url: str) -> str:
        raise TimedOut("the browser did not come back")

    world = World({AS_PLACE: metadata(registration_endpoint=...)}, ask=OAuthClient("mistyped"))
    if method == "refuses":
        world.pages[f"{ISSUER}/token"] = (401, {"error": "invalid_client"})
    else:
        world.back = no_redirect
    with pytest.raises(AuthorizationNeeded):
        run(world)
    assert world.clients == {}
