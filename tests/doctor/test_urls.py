"""URLs that do not connect, made on purpose: the first sentence names the cause."""

from __future__ import annotations

import json
import socket
import ssl
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from inspector.auth.options import AuthOptions
from inspector.config.targets import HttpTarget
from inspector.transports.http_status import STATUS_HINTS
from tests.doctor.conftest import SHORT, Examine, step
from tests.test_addresses import REQUESTED
from tests.transports.scripted_http import Reply, Request
from tests.typed import typed

CERTIFICATES = Path(__file__).parents[1] / "transports" / "certificates"
LOGIN = '<!doctype html><html><form><input type="password"></form></html>'
PAGE = "<!doctype html><html><h1>It works</h1></html>"
HTML = ("Content-Type", "text/html; charset=utf-8")


def tls(name: str) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(CERTIFICATES / f"{name}.pem", CERTIFICATES / "key.pem")
    return context


def answers(request: Request, reply: Reply) -> None:
    """A server of the modern era, as small as can be."""
    if request.rpc_method == "server/discover":
        result = {"supportedVersions": ["2026-07-28"], "capabilities": {}, "resultType": "complete"}
        reply.result(request, result | {"serverInfo": {"name": "small", "version": "1"}})
    else:
        reply.body(404, "nothing here")


def at(path: str) -> Any:
    """A server at one path only."""

    def handler(request: Request, reply: Reply) -> None:
        if request.target == path:
            answers(request, reply)
        else:
            reply.body(404, "nothing here")

    return handler


async def test_a_server_in_order(serve: Any, examine: Examine) -> None:
    web = await serve(answers)
    diagnosis = await examine(HttpTarget(web.url))
    assert diagnosis.cause.startswith("It connects: small 1, 2026-07-28 (modern era), over http")
    assert diagnosis.exit_code == 0
    assert [one.name for one in diagnosis.steps] == ["url", "port", "http", "handshake", "browser"]
    assert step(diagnosis, "browser").text.startswith("a client in a web page has no access")


async def test_a_closed_port(examine: Examine) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
        diagnosis = await examine(HttpTarget(f"http://127.0.0.1:{port}/mcp"))
    assert diagnosis.cause == f"Nothing listens on 127.0.0.1:{port}: the connection is refused."
    assert (diagnosis.exit_code, step(diagnosis, "handshake").verdict) == (4, "skipped")


async def test_a_name_that_is_none(examine: Examine, monkeypatch: pytest.MonkeyPatch) -> None:
    def unknown(*_: Any, **__: Any) -> Any:
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", unknown)
    diagnosis = await examine(HttpTarget("https://no-such-host.example/mcp"))
    assert diagnosis.cause == "The name no-such-host.example cannot be resolved to an address."


async def test_a_server_on_ipv6_only(examine: Examine) -> None:
    with socket.create_server(("::1", 0), family=socket.AF_INET6) as only:
        port = only.getsockname()[1]
        diagnosis = await examine(HttpTarget(f"http://127.0.0.1:{port}/mcp"))
    assert diagnosis.cause == "The server listens on IPv6 only (::1), but 127.0.0.1 is IPv4."
    assert diagnosis.fix.command == typed(f"inspector doctor 'http://[::1]:{port}/mcp'")


async def test_a_wrong_path(serve: Any, examine: Examine) -> None:
    web = await serve(at("/api/mcp"))
    diagnosis = await examine(HttpTarget(web.url))
    assert diagnosis.cause == "The path is wrong: /mcp is not an MCP server, but /api/mcp is."
    assert diagnosis.fix.command == f"inspector doctor http://127.0.0.1:{web.port}/api/mcp"
    assert {request.rpc_method for request in web.requests} <= {"server/discover", "initialize", None}


async def test_a_wrong_path_that_says_so_in_json_rpc(serve: Any, examine: Examine) -> None:
    def handler(request: Request, reply: Reply) -> None:
        if request.target == "/api/mcp":
            answers(request, reply)
        else:
            error = {"code": -32600, "message": "nothing here"}
            reply.json({"jsonrpc": "2.0", "id": None, "error": error}, 404)

    web = await serve(handler)
    diagnosis = await examine(HttpTarget(web.url))
    assert diagnosis.cause == "The path is wrong: /mcp is not an MCP server, but /api/mcp is."


async def test_nothing_at_all_at_the_path(serve: Any, examine: Examine) -> None:
    web = await serve(lambda request, reply: reply.body(404, "nothing here"))
    diagnosis = await examine(HttpTarget(web.url))
    assert diagnosis.cause == f"Nothing exists at /mcp on 127.0.0.1:{web.port} (status 404)."
    assert step(diagnosis, "paths").text == "no server was found at the usual paths"


async def test_json_with_an_error_of_its_own_is_not_called_a_json_rpc_response(serve: Any, examine: Examine) -> None:
    web = await serve(lambda request, reply: reply.json({"error": "Unknown endpoint"}, 404))
    diagnosis = await examine(HttpTarget(web.url))
    assert "JSON that is not JSON-RPC" in step(diagnosis, "http").text


@pytest.mark.parametrize("status", [400, 404, 405, 429, 503])
async def test_the_fix_for_a_status_is_the_hint_of_its_error(serve: Any, examine: Examine, status: int) -> None:
    web = await serve(lambda request, reply: reply.body(status, "nothing here"))
    diagnosis = await examine(HttpTarget(web.url))
    assert step(diagnosis, "http").fix.text == STATUS_HINTS[status]


async def test_a_login_page(serve: Any, examine: Examine) -> None:
    web = await serve(lambda request, reply: reply.body(200, LOGIN, HTML))
    diagnosis = await examine(HttpTarget(web.url))
    assert diagnosis.cause.startswith(f"{web.url} responds with an HTML login page instead of MCP")
    assert not any(one.name == "paths" for one in diagnosis.steps)


async def test_a_web_page(serve: Any, examine: Examine) -> None:
    web = await serve(lambda request, reply: reply.body(200, PAGE, HTML))
    diagnosis = await examine(HttpTarget(web.url))
    assert diagnosis.cause == f"{web.url} responds with a web page instead of MCP."


async def test_a_browser_check_before_the_server(serve: Any, examine: Examine) -> None:
    page = "<!DOCTYPE html><html><head><title>Just a moment...</title></head></html>"
    headers = (("Content-Type", "text/html"), ("cf-mitigated", "challenge"))
    web = await serve(lambda request, reply: reply.body(403, page, *headers))
    diagnosis = await examine(HttpTarget(web.url))
    assert diagnosis.cause.startswith("Cloudflare is in front of 127.0.0.1:")
    assert "a WAF rule with the action Skip" in diagnosis.fix.text
    assert (diagnosis.outcome, diagnosis.exit_code) == ("fails", 4)
    assert "authorization" not in {step.name for step in diagnosis.steps}


async def test_a_redirect_to_a_login(serve: Any, examine: Examine) -> None:
    where = ("Location", "https://sso.example/login?next=/mcp")
    web = await serve(lambda request, reply: reply.body(302, "", where))
    diagnosis = await examine(HttpTarget(web.url))
    assert diagnosis.cause.startswith("It redirects to a login page, https://sso.example/login")
    assert diagnosis.exit_code == 4


async def test_a_redirect_elsewhere(serve: Any, examine: Examine) -> None:
    web = await serve(lambda request, reply: reply.body(308, "", ("Location", "https://new.example/mcp")))
    diagnosis = await examine(HttpTarget(web.url))
    assert diagnosis.cause.startswith("It redirects to https://new.example/mcp (status 308)")
    assert diagnosis.fix.command == "inspector doctor https://new.example/mcp"


async def test_a_server_that_fails(serve: Any, examine: Examine) -> None:
    web = await serve(lambda request, reply: reply.body(502, "bad gateway"))
    diagnosis = await examine(HttpTarget(web.url))
    assert diagnosis.cause == f"127.0.0.1:{web.port} refuses the request with status 502."
    assert "check that it runs" in diagnosis.fix.text


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("expired", "The certificate of 127.0.0.1 has expired on 2021-01-01."),
        ("localhost", "The certificate of 127.0.0.1 is self-signed."),
    ],
)
async def test_a_certificate_that_is_not_a_good(name: str, sentence: str, serve: Any, examine: Examine) -> None:
    web = await serve(answers, ssl=tls(name))
    diagnosis = await examine(HttpTarget(web.url))
    # A certificate that is both is told of by what OpenSSL finds first.
    assert diagnosis.cause in (sentence, "The certificate of 127.0.0.1 is self-signed.")
    assert any(detail.startswith("valid: ") for detail in step(diagnosis, "tls").details)
    assert web.requests == [], "nothing is sent to an untrusted server"


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("expired", "The certificate of 127.0.0.1 has expired on 2021-01-01."),
        ("other", "The certificate of 127.0.0.1 was issued for other.example, not for 127.0.0.1."),
    ],
)
async def test_a_certificate_of_a_trusted_authority(
    name: str, sentence: str, serve: Any, examine: Examine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(CERTIFICATES / f"{name}.pem"))
    web = await serve(answers, ssl=tls(name))
    assert (await examine(HttpTarget(web.url))).cause == sentence


async def test_a_certificate_in_order(serve: Any, examine: Examine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(CERTIFICATES / "localhost.pem"))
    web = await serve(answers, ssl=tls("localhost"))
    diagnosis = await examine(HttpTarget(web.url))
    assert (diagnosis.outcome, step(diagnosis, "tls").verdict) == ("connects", "ok")


async def test_http_to_a_port_that_speaks_tls(serve: Any, examine: Examine) -> None:
    web = await serve(answers, ssl=tls("localhost"))
    diagnosis = await examine(HttpTarget(web.url.replace("https:", "http:")))
    assert diagnosis.cause == f"The server on 127.0.0.1:{web.port} uses TLS, but the URL says http."
    assert diagnosis.fix.command == f"inspector doctor {web.url}"


@pytest.mark.slow
async def test_https_to_a_port_that_speaks_plain_http(serve: Any, examine: Examine) -> None:
    web = await serve(answers)
    secret = (("Authorization", "Bearer very-secret-token"),)
    # The other side waits for the end of a line that never comes.
    limits = replace(SHORT, port=1.0)
    diagnosis = await examine(HttpTarget(web.url.replace("http:", "https:"), secret), limits=limits)
    assert diagnosis.cause == f"The server on 127.0.0.1:{web.port} uses plain HTTP, but the URL says https."
    assert all(request.field("Authorization") is None for request in web.requests)


async def test_a_proxy_that_refuses(serve: Any, examine: Examine) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
        web = await serve(answers)
        diagnosis = await examine(HttpTarget(web.url, proxy=f"http://127.0.0.1:{port}"))
    assert diagnosis.cause == f"The proxy 127.0.0.1:{port} (from the target) refuses the connection."
    assert "without it, 127.0.0.1: open" in " ".join(step(diagnosis, "proxy").details)
    assert diagnosis.fix.command == "export NO_PROXY=127.0.0.1"


async def test_a_proxy_that_wants_a_password(serve: Any, examine: Examine) -> None:
    proxy = await serve(lambda request, reply: reply.body(407, ""))
    # An answer comes at once, but on a busy machine not within the usual half second.
    target = HttpTarget("http://mcp.example/mcp", proxy=f"http://127.0.0.1:{proxy.port}")
    diagnosis = await examine(target, limits=replace(SHORT, answer=10.0))
    assert diagnosis.cause == f"The proxy 127.0.0.1:{proxy.port} requires a user and a password (status 407)."


async def test_a_proxy_that_refuses_every_connection(serve: Any, examine: Examine) -> None:
    proxy = await serve(lambda request, reply: reply.body(403, ""))
    target = HttpTarget("https://mcp.example/mcp", proxy=f"http://127.0.0.1:{proxy.port}")
    diagnosis = await examine(target, limits=replace(SHORT, answer=10.0))
    assert diagnosis.cause.startswith("mcp.example:443 sent no usable response through the proxy 127.0.0.1:")


async def test_a_login_without_an_authorization_server(serve: Any, examine: Examine) -> None:
    web = await serve(lambda request, reply: reply.body(401 if request.method == "POST" else 404, ""))
    diagnosis = await examine(HttpTarget(web.url))
    assert (
        diagnosis.cause
        == "The server requires authorization (status 401) but has no metadata of an authorization server."
    )
    assert (diagnosis.outcome, diagnosis.exit_code) == ("authorization", 3)
    assert diagnosis.fix.text.startswith("Give its token with "), "a server of one fixed token has no login"


async def test_an_authorization_header_that_is_refused_is_the_cause(serve: Any, examine: Examine) -> None:
    web = await serve(lambda request, reply: reply.body(401 if request.method == "POST" else 404, ""))
    diagnosis = await examine(HttpTarget(web.url, (("authorization", "Bearer wrong-token"),)))
    assert diagnosis.cause.startswith(f"127.0.0.1:{web.port} refuses the given Authorization header (status 401")
    assert diagnosis.fix.text == "Correct it, or remove it to log in."
    assert (diagnosis.outcome, diagnosis.exit_code) == ("authorization", 3)


async def test_a_given_token_that_is_refused_is_the_cause(guarded: Any, examine: Examine) -> None:
    diagnosis = await examine(HttpTarget(guarded.url), auth=AuthOptions(bearer="wrong-token"))
    assert diagnosis.cause == "The server refuses the given token (401)."


@pytest.fixture
async def guarded(serve: Any) -> Any:
    """A server that wants a token, and says who gives it."""

    def handler(request: Request, reply: Reply) -> None:
        origin = f"http://127.0.0.1:{web.port}"
        if request.target == "/.well-known/oauth-protected-resource/mcp":
            reply.json({"resource": f"{origin}/mcp", "authorization_servers": [origin]})
        elif request.target.startswith("/.well-known/oauth-authorization-server"):
            ends = {name: f"{origin}/{name}" for name in ("authorization_endpoint", "token_endpoint")}
            more = {"registration_endpoint": f"{origin}/register", "response_types_supported": ["code"]}
            reply.json({"issuer": origin, "code_challenge_methods_supported": ["S256"], **ends, **more})
        elif request.method == "POST" and request.field("Authorization") != "Bearer right-token":
            where = f"{origin}/.well-known/oauth-protected-resource/mcp"
            reply.body(401, "", ("WWW-Authenticate", f'Bearer resource_metadata="{where}"'))
        else:
            answers(request, reply)

    web = await serve(handler)
    return web


async def test_a_login_that_is_offered(guarded: Any, examine: Examine) -> None:
    diagnosis = await examine(HttpTarget(guarded.url))
    assert diagnosis.cause == f"The server requires a login at http://127.0.0.1:{guarded.port}."
    assert diagnosis.fix.command == f"inspector login {guarded.url}"
    assert "a person in a browser (client known by registering)" in step(diagnosis, "authorization").text
    assert diagnosis.exit_code == 3
    assert not any(request.target == "/register" for request in guarded.requests), "no client is registered"


async def test_a_token_that_is_given_is_used_and_not_shown(guarded: Any, examine: Examine) -> None:
    diagnosis = await examine(HttpTarget(guarded.url, (("Authorization", "Bearer right-token"),)))
    assert diagnosis.outcome == "connects"
    assert "right-token" not in json.dumps(diagnosis.as_json())


async def test_a_cookie_that_the_server_repeats_is_not_shown(serve: Any, examine: Examine) -> None:
    def handler(request: Request, reply: Reply) -> None:
        reply.body(404, "k7fq2x9d01", HTML, ("Set-Cookie", "a=k7fq2x9d01; Path=/"), ("X-Echo", "k7fq2x9d01"))

    web = await serve(handler)
    told = json.dumps((await examine(HttpTarget(web.url))).as_json())
    assert "X-Echo" in told
    assert "k7fq2x9d01" not in told


async def test_the_other_transport_at_the_same_url(serve: Any, examine: Examine) -> None:
    web = await serve(answers)
    diagnosis = await examine(HttpTarget(web.url, transport="sse"))
    assert diagnosis.cause == "The server at this URL uses Streamable HTTP, not the older HTTP+SSE."


async def test_a_local_server_that_any_web_page_reaches(serve: Any, examine: Examine) -> None:
    def handler(request: Request, reply: Reply) -> None:
        if request.method == "OPTIONS":
            reply.body(204, "", ("Access-Control-Allow-Origin", "*"), ("Access-Control-Allow-Headers", "*"))
        else:
            answers(request, reply)

    web = await serve(handler)
    browser = step(await examine(HttpTarget(web.url)), "browser")
    assert browser.verdict == "warn"
    assert "may not send authorization" in browser.text
    assert "any web page can access this local server" in browser.text


@pytest.mark.parametrize("url", ["http://", "http://host:99999/mcp", "http://ho st/mcp"])
async def test_a_url_that_is_none(url: str, examine: Examine) -> None:
    diagnosis = await examine(HttpTarget(url))
    assert diagnosis.cause.startswith("The URL is not valid: ")


async def test_what_is_odd_about_a_url_is_reported(examine: Examine) -> None:
    diagnosis = await examine(HttpTarget("http://user:pass-word@127.0.0.1:1/#top"))
    text = step(diagnosis, "url").text
    assert "it has no path" in text
    assert "the part after # is not sent" in text
    assert "pass-word" not in json.dumps(diagnosis.as_json())
    diagnosis = await examine(HttpTarget(REQUESTED, network=None, proxy="http://127.0.0.1:1"))
    assert "its host mixes Cyrillic and Latin letters" in step(diagnosis, "url").text
