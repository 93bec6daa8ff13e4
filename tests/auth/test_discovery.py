"""Discovery: both kinds of metadata, at their URLs, and what makes them invalid."""

from __future__ import annotations

from typing import Any

import pytest

from inspector.auth.actions import ChooseServer, Fetch, FetchFailed
from inspector.auth.challenge import chosen, parse
from inspector.auth.discovery import Discovery, discover
from inspector.errors import AuthorizationNeeded
from tests.auth.scripted_servers import AS_PLACE, ISSUER, PRM_PLACE, ROOT_PRM_PLACE, SERVER, World, metadata, prm

WELL_KNOWN = f"{ISSUER}/.well-known"


def discovered(world: World, challenge: str = "Bearer", server: str = SERVER, **more: Any) -> Discovery:
    answer = world.run(discover(server, chosen(parse([challenge])), **more))
    assert isinstance(answer, Discovery)
    return answer


def refused(world: World, challenge: str = "Bearer", **more: Any) -> AuthorizationNeeded:
    with pytest.raises(AuthorizationNeeded) as caught:
        discovered(world, challenge, **more)
    assert caught.value.exit_code == 3
    assert "\x1b" not in caught.value.message + caught.value.hint
    assert len(caught.value.message) < 700
    return caught.value


# The protected resource metadata


def test_the_place_that_the_challenge_names_is_the_only_one_asked() -> None:
    """C-AUTH-05, C-AUTH-06."""
    place = "https://shop.example/custom/metadata/location.json"
    world = World({place: prm()})
    answer = discovered(world, f'Bearer resource_metadata="{place}"')
    assert world.fetched == [place, AS_PLACE]
    assert answer.resource.place == place


def test_without_it_the_path_comes_before_the_root() -> None:
    """C-AUTH-06."""
    world = World({PRM_PLACE: (404, {}), ROOT_PRM_PLACE: prm(resource="https://shop.example")})
    assert discovered(world).resource.resource == "https://shop.example"
    assert world.fetched == [PRM_PLACE, ROOT_PRM_PLACE, AS_PLACE]


def test_the_root_is_not_asked_where_the_path_has_it() -> None:
    world = World()
    discovered(world)
    assert ROOT_PRM_PLACE not in world.fetched


@pytest.mark.parametrize(
    "answer",
    [
        (404, {}), (500, {}), (401, {"error": "x"}), b"<!doctype html><p>our app", b"", b"[1]", b'"text"', b"{broken",
        b"[" * 100_000, {"hello": "world"}, b"\xff\xfe", FetchFailed("no response"), b'{"resource":' + b"9" * 5000,
    ],
    ids=lambda answer: str(answer)[:40],  # Windows has the name of a test in a variable of 32,767 characters.
)  # fmt: skip
def test_what_is_not_metadata_is_passed_over(answer: Any) -> None:
    """Some servers answer any path with a page, or with some JSON."""
    world = World({PRM_PLACE: answer, ROOT_PRM_PLACE: prm()})
    assert discovered(world).resource.place == ROOT_PRM_PLACE


@pytest.mark.parametrize(
    "resource",
    [
        "https://evil.example/mcp",
        "https://shop.example/other",
        "http://shop.example/mcp",
        "https://shop.example:8443/mcp",
    ],
)
def test_metadata_about_another_resource_is_not_used(resource: str) -> None:
    """C-AUTH-07: no further request is sent."""
    world = World({PRM_PLACE: prm(resource=resource)})
    error = refused(world)
    assert resource in error.message
    assert world.fetched == [PRM_PLACE]
    assert world.failed.rule == "C-AUTH-07"
    assert SERVER in world.failed.fix


@pytest.mark.parametrize(
    ("changes", "name"),
    [
        ({"resource": ...}, "resource"),
        ({"resource": ""}, "resource"),
        ({"resource": {"url": SERVER}}, "resource"),
        ({"resource": "https://shop.example/" + "m" * 5000}, "resource"),
        ({"authorization_servers": ISSUER}, "authorization_servers"),
        ({"authorization_servers": {"0": ISSUER}}, "authorization_servers"),
        ({"authorization_servers": [ISSUER, 7]}, "authorization_servers"),
        ({"authorization_servers": [ISSUER] * 10_000}, "authorization_servers"),
        ({"scopes_supported": 'read "write'}, "scopes_supported"),
        ({"scopes_supported": ["read write"]}, "scopes_supported"),
        ({"scopes_supported": ["\x1b[31m"]}, "scopes_supported"),
        ({"scopes_supported": ["x" * 10_000]}, "scopes_supported"),
        ({"scopes_supported": 3}, "scopes_supported"),
        ({"dpop_bound_access_tokens_required": "yes"}, "dpop_bound_access_tokens_required"),
    ],
)
def test_absurd_values_are_refused_by_their_name(changes: dict[str, Any], name: str) -> None:
    world = World({PRM_PLACE: prm(**changes)})
    assert f"“{name}”" in refused(world).message
    assert world.fetched == [PRM_PLACE]


def test_loose_values_of_metadata_are_accepted_and_recorded() -> None:
    member = "authorization_response_iss_parameter_supported"
    world = World({PRM_PLACE: prm(scopes_supported="read write"), AS_PLACE: metadata(**{member: "True"})})
    discovered(world)
    assert [
        (step.step, dict(step.facts)["field"]) for step in world.recorded_steps() if "was accepted" in step.text
    ] == [
        ("resource", "scopes_supported"),
        ("metadata", member),
    ]


@pytest.mark.parametrize("servers", [..., [], None])
def test_metadata_without_an_authorization_server_is_no_reason_to_guess_one(servers: Any) -> None:
    """C-AUTH-36: the fall-back is for servers without metadata."""
    world = World({PRM_PLACE: prm(authorization_servers=servers)})
    assert "--auth-server" in refused(world).hint.command_line
    assert world.fetched == [PRM_PLACE]


def test_a_place_that_is_not_an_https_url_is_not_asked() -> None:
    for place in ("javascript:alert(1)", "file:///etc/passwd", "http://shop.example/x", "https://u:p@shop.example/x"):
        world = World()
        assert discovered(world, f'Bearer resource_metadata="{place}"').resource.place == PRM_PLACE
        assert place not in world.fetched


def test_a_place_that_is_named_and_empty_is_no_reason_for_the_fall_back() -> None:
    """C-AUTH-36: a server that names a place is none of 2025-03-26."""
    world = World({PRM_PLACE: (404, {})})
    assert PRM_PLACE in refused(world, f'Bearer resource_metadata="{PRM_PLACE}"').message
    assert world.fetched == [PRM_PLACE, ROOT_PRM_PLACE]


@pytest.mark.parametrize("root", [FetchFailed("neither"), (404, {})])
def test_when_a_place_does_not_answer_the_reason_is_that(root: Any) -> None:
    """And not that the server is of 2025-03-26."""
    world = World({PRM_PLACE: FetchFailed("shop.example does not answer"), ROOT_PRM_PLACE: root})
    assert refused(world).message == "shop.example does not answer"


def test_when_the_authorization_server_does_not_answer_the_reason_is_that() -> None:
    world = World({AS_PLACE: FetchFailed("more than is read")})
    assert refused(world).message == "more than is read"


def test_a_server_over_plain_http_gets_no_token() -> None:
    """C-AUTH-13."""
    world = World()
    assert "neither https" in refused(world, server="http://shop.example/mcp").message
    assert world.fetched == []


# The choice among several authorization servers


def test_the_person_chooses_one_of_several() -> None:
    """C-AUTH-08."""
    other = "https://other.example"
    world = World(
        {
            PRM_PLACE: prm(authorization_servers=[ISSUER, other, ISSUER]),
            f"{other}/.well-known/oauth-authorization-server": metadata(other),
        },
        choose=1,
    )
    assert discovered(world).server.issuer == other
    assert [action.issuers for action in world.log if isinstance(action, ChooseServer)] == [(ISSUER, other)]
    assert AS_PLACE not in world.fetched


def test_the_issuer_of_the_options_is_used_if_the_server_names_it() -> None:
    """C-AUTH-04: no token of another authorization server is ever sent."""
    assert discovered(World(), issuer=ISSUER).server.issuer == ISSUER
    world = World()
    assert "https://mine.example" in refused(world, issuer="https://mine.example").message
    assert world.fetched == [PRM_PLACE]


def test_the_issuer_of_the_options_helps_where_the_server_names_none() -> None:
    world = World({PRM_PLACE: (404, {}), ROOT_PRM_PLACE: (404, {})})
    answer = discovered(world, issuer=ISSUER)
    assert (answer.server.issuer, answer.resource.resource) == (ISSUER, SERVER)
    assert [action.named for action in world.log if isinstance(action, Fetch)] == [True, True, True]


# The authorization server's metadata


@pytest.mark.parametrize(
    ("issuer", "place"),
    [
        (ISSUER, f"{WELL_KNOWN}/oauth-authorization-server"),
        (ISSUER, f"{WELL_KNOWN}/openid-configuration"),
        (f"{ISSUER}/tenant1", f"{WELL_KNOWN}/oauth-authorization-server/tenant1"),
        (f"{ISSUER}/tenant1", f"{WELL_KNOWN}/openid-configuration/tenant1"),
        (f"{ISSUER}/tenant1", f"{ISSUER}/tenant1/.well-known/openid-configuration"),
        (f"{ISSUER}/tenant1/", f"{WELL_KNOWN}/oauth-authorization-server/tenant1"),
        (f"{ISSUER}/", f"{WELL_KNOWN}/oauth-authorization-server"),
    ],
)
def test_the_metadata_is_found_in_each_of_its_places(issuer: str, place: str) -> None:
    """C-AUTH-09: and the root is never asked for an issuer with a path."""
    world = World({PRM_PLACE: prm(authorization_servers=[issuer]), AS_PLACE: (404, {})})
    world.pages[place] = metadata(issuer)
    answer = discovered(world)
    assert (answer.server.issuer, answer.server.place) == (issuer, place)
    if "tenant1" in issuer:
        assert AS_PLACE not in world.fetched


@pytest.mark.parametrize(
    "named",
    [ISSUER + "/", "https://LOGIN.example", "https://login.example:443", "https://honest.example", ISSUER + "/%74"],
)
def test_metadata_of_another_issuer_is_thrown_away(named: str) -> None:
    """C-AUTH-10: a plain comparison, and none of its endpoints is used."""
    world = World({AS_PLACE: metadata(issuer=named)})
    error = refused(world)
    assert named in error.message
    assert ISSUER in error.message
    assert world.failed.step == "issuer"
    assert world.fetched == [PRM_PLACE, AS_PLACE]


@pytest.mark.parametrize(
    ("changes", "name"),
    [
        ({"issuer": ...}, "issuer"),
        ({"issuer": [ISSUER]}, "issuer"),
        ({"token_endpoint": ...}, "token_endpoint"),
        ({"token_endpoint": {"a": 1}}, "token_endpoint"),
        ({"token_endpoint": "http://login.example/token"}, "token_endpoint"),
        ({"authorization_endpoint": "javascript:alert(1)"}, "authorization_endpoint"),
        ({"authorization_endpoint": "file:///etc/passwd"}, "authorization_endpoint"),
        ({"authorization_endpoint": "data:text/html,x"}, "authorization_endpoint"),
        ({"authorization_endpoint": "https://login.example/\x1b[31m"}, "authorization_endpoint"),
        ({"authorization_endpoint": "https://login.example@evil.example/"}, "authorization_endpoint"),
        ({"authorization_endpoint": "https://login.example/authorize#x"}, "authorization_endpoint"),
        ({"registration_endpoint": "ftp://login.example/"}, "registration_endpoint"),
        ({"revocation_endpoint": 12}, "revocation_endpoint"),
        ({"device_authorization_endpoint": True}, "device_authorization_endpoint"),
        ({"code_challenge_methods_supported": "S256"}, "code_challenge_methods_supported"),
        ({"token_endpoint_auth_methods_supported": {}}, "token_endpoint_auth_methods_supported"),
        ({"grant_types_supported": [None]}, "grant_types_supported"),
        ({"authorization_response_iss_parameter_supported": "yes"}, "authorization_response_iss_parameter_supported"),
        ({"client_id_metadata_document_supported": 1}, "client_id_metadata_document_supported"),
        ({"scopes_supported": ["a b"]}, "scopes_supported"),
    ],
)
def test_metadata_with_absurd_values_is_refused_by_their_name(changes: dict[str, Any], name: str) -> None:
    """C-AUTH-13, C-AUTH-27."""
    world = World({AS_PLACE: metadata(**changes)})
    assert f"“{name}”" in refused(world).message
    assert world.fetched == [PRM_PLACE, AS_PLACE]


@pytest.mark.parametrize(
    "issuer",
    ["javascript:alert(1)", "http://login.example", "login.example", "", "https://login.example?x=1", "https://l/#x"],
)
def test_what_cannot_be_an_issuer_is_asked_nothing(issuer: str) -> None:
    world = World({PRM_PLACE: prm(authorization_servers=[issuer])})
    refused(world)
    assert world.fetched == [PRM_PLACE]


def test_an_authorization_server_without_metadata_is_named() -> None:
    world = World({AS_PLACE: b"<html>"})
    error = refused(world)
    assert ISSUER in error.message
    assert "HTML" in error.message
    (step,) = world.recorded_steps("metadata")
    assert "a page of HTML, not JSON" in step.text
    places = dict(step.facts)["places"]
    assert places[0] == [AS_PLACE, "a page of HTML, not JSON"]
    assert places[1][1] == "status 404"


def test_loopback_servers_may_speak_plain_http() -> None:
    """C-AUTH-13: for development."""
    issuer, server = "http://localhost:9000", "http://localhost:8000/mcp"
    world = World(
        {
            "http://localhost:8000/.well-known/oauth-protected-resource/mcp": prm(
                resource=server, authorization_servers=[issuer]
            ),
            f"{issuer}/.well-known/oauth-authorization-server": metadata(issuer),
        }
    )
    assert discovered(world, server=server).server.token_endpoint == f"{issuer}/token"


# Servers of 2025-03-26


def of_2025_03_26(**pages: Any) -> World:
    return World({PRM_PLACE: (404, {}), ROOT_PRM_PLACE: (404, {})} | pages)


@pytest.mark.parametrize("issuer", ["https://shop.example", "https://shop.example/"])
def test_without_resource_metadata_the_origin_is_the_authorization_server(issuer: str) -> None:
    """C-AUTH-35."""
    place = "https://shop.example/.well-known/oauth-authorization-server"
    world = of_2025_03_26(**{place: metadata("https://shop.example") | {"issuer": issuer}})
    answer = discovered(world, revision="2025-03-26")
    assert (answer.server.issuer, answer.resource.resource) == (issuer, SERVER)
    assert world.fetched == [PRM_PLACE, ROOT_PRM_PLACE, place]


def test_without_any_metadata_the_default_endpoints_are_used() -> None:
    """C-AUTH-35."""
    server = discovered(of_2025_03_26()).server
    assert server.authorization_endpoint == "https://shop.example/authorize"
    assert server.token_endpoint == "https://shop.example/token"
    assert server.registration_endpoint == "https://shop.example/register"


def test_the_origin_may_not_speak_for_another_issuer() -> None:
    place = "https://shop.example/.well-known/oauth-authorization-server"
    assert "https://honest.example" in refused(of_2025_03_26(**{place: metadata("https://honest.example")})).message


@pytest.mark.parametrize("revision", ["2025-03-26", "2026-07-28", ""])
def test_the_revision_goes_along_where_it_is_known(revision: str) -> None:
    """C-AUTH-11."""
    world = of_2025_03_26()
    discovered(world, revision=revision)
    sent = [dict(action.fields).get("MCP-Protocol-Version", "") for action in world.log if isinstance(action, Fetch)]
    assert sent == [revision] * 3


def test_what_is_not_a_revision_is_sent_in_no_field() -> None:
    world = World()
    discovered(world, revision="2025\r\nX: y")
    assert all("MCP-Protocol-Version" not in dict(action.fields) for action in world.sent(PRM_PLACE))
