"""Streamable HTTP: for each check a server that breaks it and is found out, and one in order that passes."""

import asyncio
import ssl
from dataclasses import replace
from pathlib import Path

import pytest

from inspector.check.checks import transport_http
from inspector.check.visit.visit import Allowed
from inspector.config.targets import HttpTarget
from tests.check.faulty_servers import (
    LIMITS,
    Heads,
    PlantedWeb,
    Redirects,
    RewritesRequest,
    Says,
    WebFault,
    case_tests,
    is_found,
    is_not_blamed,
    put,
)
from tests.check.faulty_servers import (
    WebCase as Case,
)
from tests.transports.scripted_http import Web, answer_to

R4, R5 = "2025-11-25", "2026-07-28"
INTRUSIVE = Allowed(intrusive=True)
CERTIFICATES = Path(__file__).parent.parent / "transports" / "certificates"
LOG = {"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "info", "data": "x"}}
CHANGED = {"jsonrpc": "2.0", "method": "notifications/tools/list_changed"}
PROMPTS = {"resultType": "complete", "prompts": [], "ttlMs": 0, "cacheScope": "private"}


def method(name):
    return lambda request: request.rpc_method == name


def verb(name):
    return lambda request: request.method == name


def field(name, value):
    return lambda request, status, fields: (status, [*fields, (name, value)])


def status_of(when, changed):
    return Heads(lambda request, status, fields: (changed if when(request, status) else status, fields))


def streamed(*events, method="ping", result=None, fields=(), **about):
    """Answers a method with a stream: `...` stands for the answer."""

    def say(request, reply):
        reply.stream(*fields)
        for event in events:
            reply.event(answer_to(request, result) if event is ... else event, **about)
        reply.end()

    return Says(lambda request: request.rpc_method == method, say)


def listed(*events, **how):
    """The same in the modern era, which has no ping."""
    return streamed(*events, method="prompts/list", result=PROMPTS, **how)


def as_text(request, status, fields):
    if request.rpc_method == "tools/list":
        fields = [(name, "text/plain" if name == "Content-Type" else value) for name, value in fields]
    return status, fields


def refuses_origins(request, reply):
    reply.body(403)


def without_origin(request):
    put(request, "Origin", None)


def any_host(request):
    put(request, "Host", "127.0.0.1")


def any_accept(request):
    if request.method == "POST":
        put(request, "Accept", "application/json, text/event-stream")


def any_type(request):
    if request.method == "POST":
        put(request, "Content-Type", "application/json")


def in_capitals(request):
    return any(name == "CONTENT-TYPE" for name, _ in request.fields)


class OneAtATime(WebFault):
    """Refuses the fourth ping: the third of five that come at once."""

    def __init__(self):
        self.pings = 0

    async def response(self, request, reply):
        self.pings += request.rpc_method == "ping"
        if self.pings == 4:
            self.pings += 1
            reply.body(503)
            return True
        return False


class Elsewhere(PlantedWeb):
    """Listens at another address, too, if its fault says so: one that counts as seen from outside in these tests."""

    OUTSIDE = "127.0.0.2"

    async def __aenter__(self):
        await super().__aenter__()
        self.more = None
        if self.fault.__class__ is RewritesRequest:
            self.more = await asyncio.start_server(self.web._connected, self.OUTSIDE, self.web.port)
        return self

    async def __aexit__(self, *exception):
        if self.more is not None:
            self.more.close()
        await super().__aexit__(*exception)


class Hosted(PlantedWeb):
    """Behind TLS, with a token, where its fault does not say that it goes without."""

    async def __aenter__(self):
        await super().__aenter__()
        if self.fault.__class__ is Says:
            tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            tls.load_cert_chain(CERTIFICATES / "localhost.pem", CERTIFICATES / "key.pem")
            self.secure = await Web(self._pass, ssl=tls).__aenter__()
            token = (("Authorization", "Bearer a-token-of-the-tests"),)
            self.target = HttpTarget(self.secure.url, verify=False, headers=token)
        return self

    async def __aexit__(self, *exception):
        if self.fault.__class__ is Says:
            await self.secure.__aexit__()
        await super().__aexit__(*exception)


def has_no_token(request):
    return request.field("Authorization") is None


def unauthorized(request, reply):
    reply.body(401, b"", ("WWW-Authenticate", "Bearer"))


def commented(request, reply):
    reply.stream()
    reply.chunk(": still here\n\n")
    reply.end()


def breaks_off(request, reply):
    reply.reset()


def listens(request):
    return request.rpc_method == "subscriptions/listen"


def is_large(request):
    return len(request.body) > 1 << 20


CASES = [
    Case("HTTP-01", R4, Says(verb("GET"), lambda _, reply: reply.body(404))),
    Case("HTTP-02", R4, Heads(as_text)),
    Case("HTTP-03", R4, status_of(lambda _, status: status == 202, 200)),
    Case("HTTP-04", R4, Says(method("notifications/inspector/no-such-thing"), lambda _, reply: reply.json({}))),
    Case("HTTP-05", R4, RewritesRequest(without_origin)),
    Case("HTTP-06", R4, RewritesRequest(any_host)),
    Case("HTTP-07", R4, Says(lambda request: request.field("Origin") is not None, refuses_origins)),
    Case("HTTP-10", R4, RewritesRequest(any_accept), remark=True),
    Case("HTTP-11", R4, RewritesRequest(any_type)),
    Case("HTTP-12", R4, Says(in_capitals, lambda _, reply: reply.body(400))),
    Case("HTTP-13", R4, Says(verb("PUT"), lambda _, reply: reply.body(405))),
    Case("HTTP-14", R4, Says(method("inspector/no-such-method"), lambda _, reply: reply.body(400, "<html>No</html>"))),
    Case("HTTP-15", R4, streamed(..., LOG), right=streamed(LOG, ...)),
    Case("HTTP-16", R4, streamed(LOG), right=streamed(LOG, ...)),
    Case("HTTP-17", R5, listed(CHANGED, ...), right=listed(...)),
    Case("HTTP-18", R5, listed(...), right=listed(..., fields=(("X-Accel-Buffering", "no"),))),
    Case("HTTP-19", R5, None, right=Says(listens, commented), allowed=INTRUSIVE, limits=replace(LIMITS, check=2.0), remark=True),
    Case("HTTP-20", R4, streamed(..., event="update"), right=streamed(..., event="message")),
    Case("HTTP-21", R4, Redirects(), remark=True),
    Case("HTTP-22", R4, OneAtATime()),
    Case("HTTP-23", R4, Says(is_large, breaks_off), allowed=INTRUSIVE),
]  # fmt: skip


test_a_planted_fault_is_found, test_a_server_in_order_is_not_blamed = case_tests(
    CASES, slow_faults=True, slow_right=True
)


OUTSIDE = Case("HTTP-08", R4, RewritesRequest(lambda _: None), server=Elsewhere)
HOSTED = Case("HTTP-09", R4, None, right=Says(has_no_token, unauthorized), server=Hosted)


@pytest.fixture
def outside(monkeypatch):
    monkeypatch.setattr(transport_http, "own_addresses", lambda: [Elsewhere.OUTSIDE])


@pytest.fixture
def hosted(monkeypatch):
    monkeypatch.setattr(transport_http, "is_loopback", lambda _host: False)


async def test_a_server_that_listens_to_the_outside_is_found(outside):
    await is_found(OUTSIDE)


async def test_a_server_that_listens_to_its_machine_only_is_not_blamed(outside):
    await is_not_blamed(OUTSIDE)


async def test_a_hosted_server_without_tls_is_found(hosted):
    await is_found(HOSTED)


async def test_a_hosted_server_with_tls_and_a_login_is_not_blamed(hosted):
    await is_not_blamed(HOSTED)


async def test_a_stream_that_is_left_open_is_found():
    """The answers of later requests show that it should have ended."""

    async def say(request, reply):
        reply.stream()
        reply.event(answer_to(request))
        await reply.writer.drain()
        await asyncio.Event().wait()

    await is_found(Case("HTTP-15", R4, Says(method("ping"), say)))
