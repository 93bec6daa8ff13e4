"""Conventions of hosts and browsers: for each check a server that lacks the feature, and one that has it."""

import json
import ssl
from dataclasses import replace
from pathlib import Path

import pytest

from inspector.check.checks import ecosystem
from inspector.check.visit.visit import Allowed
from inspector.config.targets import HttpTarget
from tests.check.faulty_servers import (
    LIMITS,
    Bodies,
    Heads,
    Planted,
    PlantedWeb,
    RewritesRequest,
    Says,
    WebFault,
    case_tests,
    is_found,
    is_not_blamed,
    refusal,
)
from tests.check.faulty_servers import WebCase as Case
from tests.transports.scripted_http import Web

R4, R5 = "2025-11-25", "2026-07-28"
CERTIFICATES = Path(__file__).parent.parent / "transports" / "certificates"
LOGIN = Allowed(auth=True)
JSON = ("Content-Type", "application/json")
DOCUMENT = {"protocol_version": R4, "server_info": {}, "capabilities": {}, "endpoints": {}}


def says(status, body=b"", *fields):
    return lambda request, reply: reply.body(status, body, *fields)


def at(path, verb="GET"):
    return lambda request: request.method == verb and request.target == path


def preflight(request):
    return request.method == "OPTIONS"


def method(name):
    return lambda request: request.rpc_method == name


def unauthorized(request):
    return request.field("Authorization") is None


def for_no_page(_request, status, fields):
    return status, [field for field in fields if not field[0].lower().startswith("access-control-")]


def small_letters(_request, status, fields):
    return status, [(name.lower(), value) for name, value in fields]


def names_the_revision(request, status, fields):
    return status, [*fields, ("MCP-Protocol-Version", R4)]


def root_too(request):
    if request.target == "/":
        request.target = "/mcp"


def without_session(request):
    return request.rpc_method == "tools/list" and request.field("Mcp-Session-Id") is None


def serves_lists(request, reply):
    reply.result(request, {"tools": []})


def opens_an_old_stream(_request, reply):
    reply.stream()
    reply.event("/messages", event="endpoint")
    reply.end()


class WithToken(PlantedWeb):
    """A server that wants a token, and a client that has one."""

    async def __aenter__(self):
        await super().__aenter__()
        self.target = HttpTarget(self.target.url, headers=(("Authorization", "Bearer a-token-of-the-tests"),))
        return self


class Forgets(WebFault):
    """Forgets the session of those who come back: the check asks without naming its program, the session names it."""

    async def response(self, request, reply):
        if request.rpc_method == "ping" and request.field("User-Agent") is None:
            reply.body(404)
            return True
        return False


class Hosted(PlantedWeb):
    """Behind TLS."""

    async def __aenter__(self):
        await super().__aenter__()
        tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        tls.load_cert_chain(CERTIFICATES / "localhost.pem", CERTIFICATES / "key.pem")
        self.secure = await Web(self._pass, ssl=tls).__aenter__()
        self.target = HttpTarget(self.secure.url, verify=False)
        return self

    async def __aexit__(self, *exception):
        await self.secure.__aexit__()
        await super().__aexit__(*exception)


CARD = "/mcp/server-card"
CONFIG = "/.well-known/mcp-config"
BUSY = method("inspector/no-such-method")
CASES = [
    Case("ECO-01", R4, Says(preflight, says(405))),
    Case("ECO-02", R4, Heads(for_no_page)),
    Case("ECO-03", R4, Heads(small_letters)),
    Case("ECO-04", R4, None, right=Heads(names_the_revision)),
    Case("ECO-05", R4, None, right=Says(at("/health"), says(200, b"fine"))),
    Case("ECO-06", R4, Says(at(CONFIG), says(200, json.dumps({"server_info": {}}), JSON)),
         right=Says(at(CONFIG), says(200, json.dumps(DOCUMENT), JSON, ("Cache-Control", "no-store")))),
    Case("ECO-07", R4, None, right=RewritesRequest(root_too)),
    Case("ECO-08", R4, Says(unauthorized, says(401)), allowed=LOGIN, server=WithToken,
         right=Says(unauthorized, lambda _, reply: reply.json(refusal({"id": None}, -32001), 401))),
    Case("ECO-11", R4, Bodies(lambda _, data: data + b"\n" if data.startswith(b"{") else data)),
    Case("ECO-12", R4, Says(lambda request: request.method == "DELETE", says(200))),
    Case("ECO-13", R4, Says(without_session, serves_lists)),
    Case("ECO-14", R4, Says(lambda request: request.method == "GET", opens_an_old_stream)),
    Case("ECO-15", R4, None, right=Says(at(CARD), says(200, b"{}", JSON))),
    Case("ECO-16", R4, Forgets(), allowed=Allowed(intrusive=True), limits=replace(LIMITS, check=1.0)),
    Case("ECO-17", R4, Says(BUSY, says(429)), right=Says(BUSY, says(429, b"", ("Retry-After", "1")))),
]  # fmt: skip


test_a_planted_fault_is_found, test_a_server_in_order_is_not_blamed = case_tests(CASES, slow_right=True)


LATENCY = Case("ECO-09", R4, None, web=False, server=Planted)
HOSTED = Case("ECO-10", R4, None, server=Hosted)


@pytest.fixture
def budget(monkeypatch):
    def set_to(seconds):
        monkeypatch.setattr(ecosystem, "_BUDGETS", dict.fromkeys(ecosystem._BUDGETS, seconds))

    return set_to


async def test_slow_answers_are_worth_a_remark(budget):
    budget(-1.0)
    await is_found(LATENCY)


async def test_quick_answers_are_not(budget):
    budget(1000.0)
    await is_not_blamed(LATENCY)


async def test_the_start_of_a_process_is_no_slow_answer(monkeypatch):
    """On a busy machine it takes seconds, and STDIO-10 measures it."""
    monkeypatch.setitem(ecosystem._BUDGETS, "initialize", -1.0)
    await is_not_blamed(LATENCY)


async def test_a_name_of_this_machine_is_no_public_one():
    await is_found(HOSTED)


async def test_a_public_name_with_https_will_do(monkeypatch):
    monkeypatch.setattr(ecosystem, "is_loopback", lambda _host: False)
    await is_not_blamed(HOSTED)
