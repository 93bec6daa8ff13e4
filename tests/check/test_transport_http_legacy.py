"""Streamable HTTP with a handshake: for each check a server that breaks it, and one in order."""

import asyncio
import json
import re

import pytest

from inspector.check.judge.judge import Judge
from inspector.check.visit.visit import Allowed
from inspector.config.targets import HttpTarget
from inspector.journal.format import Dir
from inspector.journal.journal import Journal
from tests.check.faulty_servers import (
    Bodies,
    Heads,
    PlantedWeb,
    RewritesRequest,
    Says,
    WebFault,
    case_tests,
    put,
)
from tests.check.faulty_servers import WebCase as Case
from tests.transports.scripted_http import answer_to

R4 = "2025-11-25"
SESSION = "Mcp-Session-Id"
VERSION = "MCP-Protocol-Version"
LOG = {"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "info", "data": "x"}}
RESULT = {"jsonrpc": "2.0", "id": 4711, "result": {}}
TOKEN = "Bearer a-token-of-the-tests"


def method(name):
    return lambda request: request.rpc_method == name


def verb(name):
    return lambda request: request.method == name


def says(status, body=b"", *fields):
    return lambda request, reply: reply.body(status, body, *fields)


def status_of(when, changed):
    return Heads(lambda request, status, fields: (changed if when(request, status) else status, fields))


class Renames(WebFault):
    """Gives sessions other ids than the demo does: `name(n, id)`."""

    def __init__(self, name):
        self.name = name
        self.real = {}

    async def response(self, request, reply):
        known = self.real.get(request.field(SESSION))
        if known is not None:
            put(request, SESSION, known)
        return False

    def head(self, request, status, fields):
        for n, (name, value) in enumerate(fields):
            if name == SESSION:
                renamed = self.name(len(self.real), value)
                self.real[renamed] = value
                fields[n] = (name, renamed)
        return status, fields


class Listening(WebFault):
    """A standing stream with a message on it, which comes before the ping is answered."""

    def __init__(self, message):
        self.message = message
        self.sent = asyncio.Event()

    async def response(self, request, reply):
        if request.method == "GET":
            reply.stream()
            reply.event(self.message)
            await reply.writer.drain()
            self.sent.set()
            await asyncio.Event().wait()
        if request.rpc_method == "ping":
            await self.sent.wait()
        return False


class Broadcasts(WebFault):
    """Says a message on `copies` of the streams of a session, when it is told which log messages are wanted."""

    def __init__(self, copies):
        self.copies = copies
        self.streams = {}

    async def response(self, request, reply):
        mine = self.streams.setdefault(request.field(SESSION), [])
        if request.method == "GET":
            reply.stream()
            mine.append(reply)
            await asyncio.Event().wait()
        if request.rpc_method == "logging/setLevel":
            while len(mine) < 2:
                await asyncio.sleep(0)
            for stream in mine[: self.copies]:
                stream.event(LOG)
        return False


class Streams(WebFault):
    """Answers pings by a stream that can be resumed, or cannot be in the right way."""

    def __init__(self, *, primed=True, twice=False, everything=False):
        self.primed = primed
        self.twice = twice
        self.everything = everything
        self.sent_events = []

    async def response(self, request, reply):
        after = request.field("Last-Event-ID")
        if request.method == "GET" and after is not None:
            reply.stream()
            at = next(n for n, (name, _) in enumerate(self.sent_events) if name == after)
            stream = after.partition(".")[0]
            for name, message in self.sent_events[at + 1 :]:
                if self.everything or name.partition(".")[0] == stream:
                    reply.event(message, id=name)
            reply.end()
            return True
        if request.rpc_method != "ping":
            return False
        reply.stream()
        stream = len(self.sent_events)
        events = ["", answer_to(request)] if self.primed else [LOG, answer_to(request)]
        for n, message in enumerate(events):
            name = "same" if self.twice else f"{stream}.{n}"
            self.sent_events.append((name, message))
            reply.event(message, id=name)
        reply.end()
        return True


class WithToken(PlantedWeb):
    """A server that wants a token, and a client that has one."""

    async def __aenter__(self):
        await super().__aenter__()
        self.target = HttpTarget(self.target.url, headers=(("Authorization", TOKEN),))
        return self


def unauthorized(request):
    return request.field("Authorization") is None


def with_a_session_only(request):
    return request.field("Authorization") is None and request.field(SESSION) is None


def without_session(request):
    return request.method == "POST" and request.field(SESSION) is None and request.rpc_method != "initialize"


def any_version(request):
    if request.field(VERSION) == "1999-01-01":
        put(request, VERSION, R4)


def gives_sessions_away(request, status, fields):
    return status, [*fields, (SESSION, "0123456789abcdef")] if status == 400 else fields


def counts_answers(request, status):
    return status == 202 and request.message is not None and "method" not in request.message


CASES = [
    Case("HTTP-30", R4, Renames(lambda n, _: f"session-{n:05}")),
    Case("HTTP-31", R4, Renames(lambda n, id: f"the session {id}")),
    Case("HTTP-32", R4, Says(without_session, says(410))),
    Case("HTTP-33", R4, Says(verb("DELETE"), says(200))),
    Case("HTTP-34", R4, status_of(lambda _, status: status == 404, 400)),
    Case("HTTP-35", R4, Says(verb("DELETE"), says(500))),
    Case("HTTP-36", R4, Says(verb("GET"), says(200, b"<html>Hello</html>", ("Content-Type", "text/html")))),
    Case("HTTP-37", R4, lambda: Listening(RESULT), right=lambda: Listening(LOG)),
    Case("HTTP-38", R4, lambda: Broadcasts(2), right=lambda: Broadcasts(1)),
    Case("HTTP-39", R4, lambda: Streams(twice=True), right=Streams),
    Case("HTTP-40", R4, lambda: Streams(everything=True), right=Streams),
    Case("HTTP-41", R4, lambda: Streams(primed=False), right=Streams),
    Case("HTTP-42", R4, Bodies(lambda _, data: re.sub(rb"retry: \d+\n\n", b"", data)), allowed=Allowed(calls=("hang-up",))),
    Case("HTTP-43", R4, RewritesRequest(any_version)),
    Case("HTTP-44", R4, Says(lambda request: without_version(request), says(400))),
    Case("HTTP-45", R4, Says(lambda request: request.field("Last-Event-ID") is not None, lambda _, reply: nothing(reply)),
         allowed=Allowed(calls=("slow",))),
    Case("HTTP-46", R4, Heads(gives_sessions_away)),
    Case("HTTP-47", R4, Says(with_a_session_only, says(401)), right=Says(unauthorized, says(401)),
         allowed=Allowed(auth=True), server=WithToken),
    Case("HTTP-48", R4, status_of(counts_answers, 200), allowed=Allowed(calls=("ask-user",))),
]  # fmt: skip


def without_version(request):
    return request.method == "POST" and request.rpc_method == "ping" and request.field(VERSION) is None


def nothing(reply):
    reply.stream()
    reply.end()


test_a_planted_fault_is_found, test_a_server_in_order_is_not_blamed = case_tests(CASES)


@pytest.mark.parametrize(("second", "rules"), [("session-b", []), ("session-a", ["HTTP-39"])])
def test_event_ids_are_counted_in_each_session_of_a_connection(second, rules):
    journal = Journal.unnamed({})
    response = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {"protocolVersion": R4}}
    answer = {"jsonrpc": "2.0", "id": 0, "result": {"protocolVersion": R4, "capabilities": {}}}
    journal.record_sent("post-1", json.dumps(response).encode(), response)
    journal.record_received("post-1", [json.dumps(answer).encode()])
    stream = [("Content-Type", "text/event-stream")]
    for channel, session in (("get-1", "session-a"), ("get-2", second)):
        head = [("Mcp-Session-Id", session)]
        journal.record_http(channel, Dir.SEND, method="GET", url="http://127.0.0.1:8000/mcp", headers=head)
        journal.record_http(channel, Dir.RECV, status=200, headers=stream)
        journal.record_sse(channel, "", id="2.1")
    Judge(journal).run_all()
    assert [finding.rule for finding in journal.findings.all() if finding.rule == "HTTP-39"] == rules
    journal.release()
