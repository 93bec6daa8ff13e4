"""A whole login over real sockets, and what only sockets show."""

from __future__ import annotations

import http.client
import json
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

import pytest

from inspector.demo.auth.grants import challenge_of
from tests.demo.auth_site import CALLBACK, VERIFIER, Reply
from tests.demo.demo_client import PATIENCE, HttpServer, about_client

pytestmark = pytest.mark.slow

FORM = {"Content-Type": "application/x-www-form-urlencoded"}
TAKES = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json"}
Serve = Callable[..., HttpServer]


@pytest.fixture(scope="module")
def serve() -> Iterator[Serve]:
    """Starts servers, one for each set of words."""
    servers: dict[tuple[str, ...], HttpServer] = {}

    def start(*words: str) -> HttpServer:
        if words not in servers:
            servers[words] = HttpServer("--era", "modern", "--items", "1", *words)
        return servers[words]

    yield start
    for server in servers.values():
        server.close()


def send(method: str, url: str, headers: dict[str, str] | None = None, body: bytes | None = None) -> Reply:
    parts = urlsplit(url)
    connection = http.client.HTTPConnection(str(parts.hostname), parts.port, timeout=PATIENCE)
    try:
        target = parts.path + (f"?{parts.query}" if parts.query else "")
        connection.request(method, target, body, headers or {})
        response = connection.getresponse()
        return Reply(response.status, dict(response.headers), response.read(200_000))
    finally:
        connection.close()


def post(url: str, form: dict[str, str]) -> Reply:
    return send("POST", url, FORM, urlencode(form).encode())


def list_tools(server: HttpServer, token: str | None) -> Reply:
    method = "tools/list"
    message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": {"_meta": about_client()}}
    headers = TAKES | {"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": method}
    if token is not None:
        headers["Authorization"] = f"Bearer {token}"
    return send("POST", server.url, headers, json.dumps(message).encode())


def metadata_of(server: HttpServer) -> dict[str, Any]:
    """From the challenge to the metadata of the authorization server, as a client finds them."""
    refused = list_tools(server, None)
    assert refused.status == 401
    place = refused.headers["WWW-Authenticate"].partition('resource_metadata="')[2].partition('"')[0]
    resource = send("GET", place).json
    assert resource["resource"] == server.url
    (issuer,) = resource["authorization_servers"]
    document: dict[str, Any] = send("GET", f"{issuer}/.well-known/oauth-authorization-server").json
    assert document["issuer"] == issuer
    return document


def test_one_logs_in_and_is_served(serve: Serve) -> None:
    server = serve("--auth-auto")
    metadata = metadata_of(server)
    registration = {"redirect_uris": [CALLBACK], "token_endpoint_auth_method": "none", "application_type": "native"}
    client = send("POST", metadata["registration_endpoint"], TAKES, json.dumps(registration).encode()).json["client_id"]
    asked = {
        "response_type": "code",
        "client_id": client,
        "redirect_uri": CALLBACK,
        "code_challenge": challenge_of(VERIFIER),
        "code_challenge_method": "S256",
        "resource": server.url,
    }
    answered = send("GET", f"{metadata['authorization_endpoint']}?{urlencode(asked)}")
    back = dict(parse_qsl(urlsplit(answered.headers["Location"]).query))
    assert back["iss"] == metadata["issuer"]
    form = {"grant_type": "authorization_code", "client_id": client, "code": back["code"], "code_verifier": VERIFIER}
    token = post(metadata["token_endpoint"], form).json["access_token"]
    assert len(list_tools(server, token).json["result"]["tools"]) > 10
    assert list_tools(server, token + "x").status == 401


def test_the_page_is_html_that_a_browser_may_post_from(serve: Serve) -> None:
    server = serve("--auth")
    metadata = metadata_of(server)
    asked = {
        "response_type": "code",
        "client_id": "demo-app",
        "redirect_uri": CALLBACK,
        "code_challenge": challenge_of(VERIFIER),
        "code_challenge_method": "S256",
    }
    page = send("GET", f"{metadata['authorization_endpoint']}?{urlencode(asked)}")
    assert page.headers["Content-Type"].startswith("text/html")
    action = page.text.partition('action="')[2].partition('"')[0]
    ticket = page.text.partition('name="ticket" value="')[2].partition('"')[0]
    form = urlencode({"ticket": ticket, "decision": "deny"}).encode()
    url = metadata["issuer"] + action
    assert send("POST", url, FORM | {"Origin": "https://elsewhere.example"}, form).status == 403
    denied = send("POST", url, FORM | {"Origin": metadata["issuer"]}, form)
    assert "error=access_denied" in denied.headers["Location"]


@pytest.mark.parametrize("header", [{"Host": "elsewhere.example"}, {"Origin": "null"}, {"Host": "[", "Origin": "a"}])
def test_only_this_machine_is_served(serve: Serve, header: dict[str, str]) -> None:
    place = metadata_of(serve("--auth-auto"))["issuer"] + "/.well-known/oauth-authorization-server"
    assert send("GET", place, header).status == 403


@pytest.mark.parametrize(
    ("headers", "status"),
    [({"Content-Length": "65537"}, 413), ({"Content-Length": "9" * 30}, 400), ({"Content-Length": "-1"}, 400)],
)
def test_large_bodies_are_not_read(serve: Serve, headers: dict[str, str], status: int) -> None:
    assert send("POST", metadata_of(serve("--auth-auto"))["token_endpoint"], headers).status == status


def test_there_is_nothing_elsewhere(serve: Serve) -> None:
    server = serve("--auth-auto")
    assert send("GET", metadata_of(server)["issuer"] + "/").status == 404
    assert send("GET", server.url.replace("/mcp", "/.well-known/oauth-protected-resource/other")).status == 404
    assert send("GET", server.url.replace("/mcp", "/.well-known/oauth-authorization-server")).status == 404


def test_a_challenge_names_no_host_but_those_of_this_machine(serve: Serve) -> None:
    server = serve("--auth-auto")
    assert send("POST", server.url, {"Host": 'localhost:1/"x', "Content-Length": "0"}).status == 403
    reply = send("POST", server.url, {"Host": "localhost:1", "Content-Length": "0"})
    assert 'resource_metadata="http://localhost:' in reply.headers["WWW-Authenticate"]


def test_metadata_without_an_end_come_as_they_are_made(serve: Serve) -> None:
    server = serve("--auth-fault", "slow-metadata")
    place = send("GET", server.url.replace("/mcp", "/.well-known/oauth-protected-resource")).json
    parts = urlsplit(place["authorization_servers"][0])
    connection = http.client.HTTPConnection(str(parts.hostname), parts.port, timeout=PATIENCE)
    connection.request("GET", "/.well-known/oauth-authorization-server")
    assert connection.getresponse().read(2) == b"{ "
    connection.close()


def test_huge_metadata_say_how_large_they_are(serve: Serve) -> None:
    server = serve("--auth-fault", "huge-metadata")
    place = send("GET", server.url.replace("/mcp", "/.well-known/oauth-protected-resource")).json
    reply = send("GET", place["authorization_servers"][0] + "/.well-known/oauth-authorization-server")
    assert int(reply.headers["Content-Length"]) == 50 * 1024 * 1024
    assert len(reply.body) == 200_000  # the rest is not waited for


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--auth-fault", "nonsense"], "use one of 401-forever"),
        (["--auth-layout", "nonsense"], "use one of apart"),
        (["--auth-expiry", "0"], "at least 1"),
        (["--auth-port", "65536"], "not a valid port"),
        (["--auth", "--http", "0.0.0.0:0"], "works only on this machine"),
        (["--auth-jwks", "nonsense.json"], "nonsense.json"),
        (["--auth-jwks", __file__], "--auth-jwks"),
    ],
)
def test_what_cannot_be_is_a_usage_error(words: list[str], message: str, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "inspector.demo", *words]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE * 3, check=False)
    assert ended.returncode == 2
    assert message in ended.stderr


def test_keys_are_read_from_a_file(serve: Serve, tmp_path: Path) -> None:
    file = tmp_path / "keys.json"
    file.write_text('{"keys": []}')
    server = serve("--auth-jwks", str(file))
    form = {"grant_type": "client_credentials", "client_id": "demo-key", "client_secret": "x"}
    refused = post(metadata_of(server)["token_endpoint"], form).json
    assert "registered with private_key_jwt" in refused["error_description"]


def test_an_attached_server_ends_with_stdin() -> None:
    command = [sys.executable, "-m", "inspector.demo", "--auth", "--attached"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.PIPE) as server:
        assert server.stdin is not None
        assert server.stderr is not None
        assert server.stderr.readline().startswith(b"demo server on http://127.0.0.1:")
        server.stdin.close()
        assert server.wait(PATIENCE) == 0


def test_a_port_that_is_taken_is_named() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        command = [sys.executable, "-m", "inspector.demo", "--auth-port", port]
        ended = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert ended.returncode == 1
    assert ended.stderr.startswith(f"Cannot listen on 127.0.0.1:{port}: ")
    assert "Traceback" not in ended.stderr
