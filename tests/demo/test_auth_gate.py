"""The MCP server as a protected resource: challenges, its metadata, which tokens open it, and for what."""

from __future__ import annotations

import pytest

from tests.demo.auth_site import APP, ISSUER, MCP, SERVER, Site, challenge_in

WELL_KNOWN = f"{SERVER}/.well-known/oauth-protected-resource"


def test_without_a_token_it_is_reported_where_to_ask() -> None:
    reply = Site().call(None)
    assert reply.status == 401
    assert challenge_in(reply) == {"resource_metadata": f"{WELL_KNOWN}/mcp", "scope": "demo:read"}
    assert reply.json["error"]["message"] == "Authorization is required"


@pytest.mark.parametrize("path", ["/mcp", "/sse", "/messages"])
@pytest.mark.parametrize("method", ["GET", "POST", "DELETE"])
def test_every_request_to_the_server_needs_a_token(path: str, method: str) -> None:
    reply = Site().send(method, f"{SERVER}{path}")
    assert reply.status == 401
    assert challenge_in(reply)["resource_metadata"] == f"{WELL_KNOWN}{path.replace('messages', 'sse')}"


@pytest.mark.parametrize("path", ["", "/mcp", "/sse"])
def test_the_metadata_name_the_resource_that_they_were_requested(path: str) -> None:
    document = Site().get(WELL_KNOWN + path).json
    assert document["resource"] == SERVER + path
    assert document["authorization_servers"] == [ISSUER]
    assert document["scopes_supported"] == ["demo:read"]


def test_the_resource_is_called_by_the_name_that_the_client_calls_it_by() -> None:
    reply = Site().get("http://localhost:1001/.well-known/oauth-protected-resource/mcp")
    assert reply.json["resource"] == "http://localhost:1001/mcp"


def test_there_are_no_metadata_of_what_is_no_resource() -> None:
    assert Site().get(f"{WELL_KNOWN}/other").text == "let through"  # so that the server says 404


def test_a_token_lets_in() -> None:
    site = Site()
    token = site.tokens()["access_token"]
    assert site.call(token).text == "let through"
    assert site.enter(token).text == "let through"


@pytest.mark.parametrize("header", ["Bearer nonsense", "Bearer", "Basic ZGVtbzpkZW1v", "", "Bearer \u00e4"])
def test_anything_else_is_an_invalid_token(header: str) -> None:
    reply = Site().send("POST", MCP, {"Authorization": header}, b"{}")
    assert reply.status == 401
    assert challenge_in(reply)["error"] == "invalid_token"


def test_the_scheme_may_be_written_in_any_case() -> None:
    site = Site()
    token = site.tokens()["access_token"]
    assert site.send("GET", MCP, {"Authorization": f"bEARER {token}"}).text == "let through"


def test_a_token_ends() -> None:
    site = Site(expiry=30)
    tokens = site.tokens()
    assert tokens["expires_in"] == 30
    site.time += 29.9
    assert site.call(tokens["access_token"]).text == "let through"
    site.time += 0.1
    assert site.call(tokens["access_token"]).status == 401


@pytest.mark.parametrize(
    ("resource", "mcp", "sse"),
    [(MCP, 200, 401), (f"{SERVER}/sse", 401, 200), (SERVER, 200, 200), (f"{SERVER}/", 200, 200)],
)
def test_a_token_is_good_for_its_resource_only(resource: str, mcp: int, sse: int) -> None:
    site = Site()
    code = site.code(resource=resource)
    token = site.redeem(code, resource=resource).json["access_token"]
    assert site.call(token).status == mcp
    assert site.call(token, path="/messages").status == sse


def test_who_names_no_resource_gets_a_token_for_the_whole_server() -> None:
    site = Site()  # clients of 2025-03-26 do not know of it
    token = site.redeem(site.code(resource=None), resource="").json["access_token"]
    assert site.call(token).text == "let through"
    assert site.call(token, path="/messages").text == "let through"


@pytest.mark.parametrize("tool", ["change-list", "touch-resource"])
def test_a_tool_that_changes_something_needs_more(tool: str) -> None:
    site = Site()
    reply = site.call(site.tokens()["access_token"], tool)
    assert reply.status == 403
    challenge = challenge_in(reply)
    assert (challenge["error"], challenge["scope"]) == ("insufficient_scope", "demo:write")
    assert challenge["resource_metadata"] == f"{WELL_KNOWN}/mcp"
    assert site.call(site.tokens(scope="demo:read demo:write")["access_token"], tool).text == "let through"


def test_who_asks_for_the_challenged_scope_alone_can_read_no_longer() -> None:
    site = Site()
    token = site.tokens(scope="demo:write")["access_token"]
    assert site.call(token, "change-list").text == "let through"
    reply = site.call(token, "echo")
    assert (reply.status, challenge_in(reply)["scope"]) == (403, "demo:read")


def test_one_tool_of_a_batch_is_enough_to_need_more() -> None:
    site = Site()
    body = b'[{"method": "tools/list"}, {"method": "tools/call", "params": {"name": "change-list"}}]'
    header = {"Authorization": f"Bearer {site.tokens()['access_token']}"}
    assert site.send("POST", MCP, header, body).status == 403


@pytest.mark.parametrize("body", [b"", b"{", b"[" * 100_000, b'{"method": "tools/call"}', b"[7]", b"\xff"])
def test_what_is_not_a_call_is_left_to_the_server(body: bytes) -> None:
    site = Site()
    header = {"Authorization": f"Bearer {site.tokens()['access_token']}"}
    assert site.send("POST", MCP, header, body).text == "let through"


def test_a_revoked_token_opens_nothing() -> None:
    site = Site()
    token = site.tokens()["access_token"]
    assert site.post(f"{ISSUER}/revoke", {"token": token, **APP}).status == 200
    assert site.call(token).status == 401


def test_a_token_in_the_url_is_none() -> None:
    site = Site()
    assert site.get(MCP, access_token=site.tokens()["access_token"]).status == 401
