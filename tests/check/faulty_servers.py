"""Servers that are right in everything but one thing: the demo behind a shim that plants a fault.

`Planted` is one pipe to a demo in this process, `PlantedWeb` a demo over HTTP on loopback. A fault sees what the client
sends before the demo does, and what the demo answers before the client does. A case runs one check, in one revision,
against the server with its fault and against the server as it is.
"""

import asyncio
import copy
import json
import sys
from contextlib import suppress
from dataclasses import dataclass, field
from types import FunctionType

import pytest

from inspector.check.run import Runner
from inspector.check.selection import CheckSelection
from inspector.check.visit.limits import RunLimits
from inspector.check.visit.visit import Allowed
from inspector.client.options import Options
from inspector.config.targets import HttpTarget, StdioTarget
from inspector.demo.call import Channel
from inspector.demo.http import DemoServer
from inspector.demo.prompts import all_prompts
from inspector.demo.rpc import RpcError, decode, encode, error
from inspector.demo.server_state import DemoState
from inspector.demo.stdio import StdioConnection
from inspector.demo.tools import all_tools
from inspector.journal.journal import Journal
from inspector.system.files import try_lock
from inspector.transports.memory import MemoryTransport
from tests.transports.scripted_http import Web

# On Windows a connection alone takes 0.03 s: its clock ticks every 16 ms.
LIMITS = RunLimits(request=1.0, check=10.0, run=60.0, quiet=0.1 if sys.platform == "win32" else 0.03)
TIMEOUT = 1.5
"""Seconds after which a request without a response counts as lost."""
LONG_TIMEOUT = 12.0
"""For servers that answer everything: on a busy machine, late."""


class Fault:
    """Plants nothing. `response` sees a message of the client (bytes if it is not JSON) and may `say` something to it;
    where it returns True, the server does not see the message. `sends` gets each message of the server with the request
    that it answers (None: it answers none) and returns what goes out in its place: messages, or bytes as they are.
    """

    def response(self, message, say):
        return False

    def sends(self, message, request):
        return [message]


class Answers(Fault):
    """Changes the answers to one method (or to all, with None); what `change(message, request)` returns goes out."""

    def __init__(self, method, change):
        self.method = method
        self.change = change

    def sends(self, message, request):
        if request is None or (self.method is not None and request.get("method") != self.method):
            return [message]
        # A copy of a long list by way of its text takes a tenth of the time of `deepcopy`.
        changed = self.change(json.loads(json.dumps(message)), request)
        return changed if isinstance(changed, list) else [] if changed is None else [changed]


class Adds(Answers):
    """Says something more after (or before) the answer to a method."""

    def __init__(self, method, *more, before=False):
        added = list(more)
        super().__init__(method, lambda message, _: [*added, message] if before else [message, *added])


class Item(Answers):
    """Changes the first item of a list, or adds one."""

    def __init__(self, method, key, changes, *, new=False):
        def change(message, _request):
            items = message.get("result", {}).get(key)
            if items:
                first = copy.deepcopy(items[0]) | changes
                message["result"][key] = [*items, first] if new else [first, *items[1:]]
                for name, value in changes.items():
                    if value is ...:
                        del first[name]
            return message

        super().__init__(method, change)


class Takes(Fault):
    """Answers what the server should have seen: `take(message, say)` returns whether it did."""

    def __init__(self, handle):
        self.handle = handle

    def response(self, message, say):
        return bool(self.handle(message, say))


def result(message, **members):
    """A result for a request."""
    return {"jsonrpc": "2.0", "id": message.get("id"), "result": members}


def refusal(message, code, words="No."):
    """An error for a request."""
    return {"jsonrpc": "2.0", "id": message.get("id"), "error": {"code": code, "message": words}}


class _Out(Channel):
    """A message of the demo, from any of its threads, on its way to the client."""

    def __init__(self, loop, forward):
        self.loop = loop
        self.forward = forward

    def send(self, raw):
        with suppress(RuntimeError):  # A tool may go on when the test is over.
            self.loop.call_soon_threadsafe(self.forward, raw)

    def answer(self, raw, status=200):
        if raw is not None:
            self.send(raw)


class _Pipe(MemoryTransport):
    """A pipe whose demo ends with it, as a process does at the end of stdin.

    Otherwise its threads would work on in later tests.
    """

    def __init__(self, sink, server, end):
        super().__init__(sink, server)
        self.end = end

    async def close(self):
        await super().close()
        self.end()


class Planted:
    """A pipe to a demo. Every connection is one of its own; they share the fault."""

    def __init__(self, fault=None, **world):
        self.fault = fault or Fault()
        self.world = DemoState(all_tools(), all_prompts(), **{"items": 3} | world)
        self.target = StdioTarget(("planted",))

    def connect(self, _target, sink, _options):
        return _Pipe(sink, *self._serve())

    def _serve(self):
        requests = {}
        demo = None
        replies = []

        def say(message):
            for reply in replies[-1:]:
                reply(message)

        def forward(raw):
            message = json.loads(raw)
            key = json.dumps(message.get("id")) if isinstance(message, dict) and "method" not in message else None
            for out in self.fault.sends(message, requests.get(key)):
                say(out)

        async def serve(message, reply):
            nonlocal demo
            replies.append(reply)
            if demo is None:
                demo = StdioConnection(self.world, out, "stdio")
            if self.fault.response(message, say):
                return
            if isinstance(message, bytes):
                try:
                    message = decode(message)
                except RpcError as problem:
                    forward(encode(error(None, problem)))
                    return
            if isinstance(message, dict) and "method" in message and "id" in message:
                requests[json.dumps(message["id"])] = message
            demo.receive(message, out)

        def end():
            if demo is not None:
                demo.close()

        out = _Out(asyncio.get_running_loop(), forward)
        return serve, end

    async def __aenter__(self):
        return self

    async def __aexit__(self, *_):
        pass


class WebFault:
    """Plants nothing. `response(request, reply)` may answer by itself and return True. `head` may change status and fields
    of a response, `body` its bytes (of a stream: each block). `headers` are fields that the client has been given.
    """

    headers = ()

    async def response(self, request, reply):
        return False

    def head(self, request, status, fields):
        return status, fields

    def body(self, request, data):
        return data


class Says(WebFault):
    """Answers by itself what `when(request)` is true for: `say(request, reply)`, a coroutine function or a plain one."""

    def __init__(self, when, say):
        self.when = when
        self.say = say

    async def response(self, request, reply):
        if not self.when(request):
            return False
        made = self.say(request, reply)
        if asyncio.iscoroutine(made):
            await made
        return True


class Redirects(WebFault):
    """The endpoint is elsewhere, and its first place sends on to it."""

    async def response(self, request, reply):
        if request.target == "/mcp":
            reply.body(307, b"", ("Location", "/mcp/"))
            return True
        request.target = "/mcp"
        return False


class RewritesRequest(WebFault):
    """Hides something from the server: `rewrite(request)` changes header fields (`request.fields`) or the target."""

    def __init__(self, rewrite):
        self.rewrite = rewrite

    async def response(self, request, reply):
        self.rewrite(request)
        return False


class Heads(WebFault):
    """Changes heads of responses: `change(request, status, fields)` returns both."""

    def __init__(self, change):
        self.change = change

    def head(self, request, status, fields):
        return self.change(request, status, fields)


class Bodies(WebFault):
    """Changes bodies, and blocks of streams: `change(request, data)`."""

    def __init__(self, change):
        self.change = change

    def body(self, request, data):
        return self.change(request, data)


def put(request, name, value):
    """Set a header field of a request; None takes it away."""
    request.fields = [pair for pair in request.fields if pair[0].lower() != name.lower()]
    if value is not None:
        request.fields.append((name, value))


class Process:
    """The demo as a process; the fault is Python that runs before it."""

    connect = None

    def __init__(self, fault=None, **_):
        code = f"{fault or ''}\nimport runpy; runpy.run_module('inspector.demo', run_name='__main__', alter_sys=True)"
        self.target = StdioTarget((sys.executable, "-c", code))

    async def __aenter__(self):
        return self

    async def __aexit__(self, *_):
        pass


class PlantedWeb:
    """A demo over HTTP behind a shim with a fault."""

    connect = None

    def __init__(self, fault=None, **world):
        self.fault = fault or WebFault()
        self.world = DemoState(all_tools(), all_prompts(), **{"items": 3} | world)

    async def __aenter__(self):
        self.demo = DemoServer(self.world, "127.0.0.1", 0)
        await self.demo.start()
        self.web = await Web(self._pass).__aenter__()
        self.target = HttpTarget(self.web.url, headers=self.fault.headers)
        return self

    async def __aexit__(self, *_):
        await self.web.__aexit__()
        await self.demo.stop()

    async def _pass(self, request, reply):
        if await self.fault.response(request, reply):
            return
        reader, writer = await asyncio.open_connection("127.0.0.1", self.demo.port)
        try:
            lines = [f"{request.method} {request.target} HTTP/1.1"]
            lines += [f"{name}: {value}" for name, value in request.fields if name.lower() != "connection"]
            writer.write("\r\n".join([*lines, "Connection: close", "", ""]).encode("latin-1") + (request.body or b""))
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
            status = int(head[0].split(" ")[1])
            fields = [tuple(line.split(": ", 1)) for line in head[1:] if ": " in line]
            chunked = any(name.lower() == "transfer-encoding" for name, _ in fields)
            hop = ("connection", "transfer-encoding", "content-length")
            status, fields = self.fault.head(request, status, [pair for pair in fields if pair[0].lower() not in hop])
            if chunked:
                reply.head(status, *fields, ("Transfer-Encoding", "chunked"))
                async for block in _chunks(reader):
                    changed = self.fault.body(request, block)
                    if changed:
                        reply.chunk(changed)
                reply.end()
            else:
                reply.body(status, self.fault.body(request, await reader.read()), *fields)
        finally:
            writer.close()


async def _chunks(reader):
    while size := int((await reader.readline()).strip() or b"0", 16):
        yield await reader.readexactly(size)
        await reader.readline()


@dataclass
class Case:
    """One check: the revision and the transport in which its fault is planted, and what is allowed."""

    id: str
    revision: str
    fault: object
    web: bool = False
    right: object = None
    """What the demo is made to do so that the check sees something where all is in order."""
    allowed: Allowed = field(default_factory=Allowed)
    world: dict = field(default_factory=dict)
    """What is said to the demo when the fault is planted; where it is in order, `right_world`."""
    right_world: dict = field(default_factory=dict)
    survey: tuple = ()
    """All revisions that are offered, where one is not enough."""
    remark: bool = False
    """The fault is worth a remark only."""
    server: object = None
    """What is checked in place of a `Planted` or a `PlantedWeb`."""
    limits: RunLimits = LIMITS

    def __str__(self):
        return f"{self.id} {self.revision}"

    @property
    def is_plain(self):
        """Whether the demo as it is serves as the server in order."""
        special = (
            self.revision not in ("2025-11-25", "2026-07-28"),
            self.right,
            self.server,
            self.right_world,
            self.survey,
            self.limits is not LIMITS,
        )
        allowed = self.allowed
        return not any(special) and not allowed.intrusive and not allowed.foreign_token and {*allowed.calls} <= {*CALLS}


@dataclass
class WebCase(Case):
    """One check over HTTP."""

    web: bool = True

    def __str__(self):
        return f"{self.id} {self.revision}"


CALLS = (
    *("echo", "add", "weather", "draw-picture", "embed-text", "task-only", "ask-user", "ask-several", "come-back"),
    *("ask-link", "need-link", "ask-model", "ask-model-with-tools", "where-am-i", "route-query"),
    *("roll-dice", "order-pizza", "book-trip", "send-parcel", "set-nickname"),
)
"""Tools of the demo that are called in the run of all checks, as many as a check looks at: those that last, change a list
or break the connection are not.
"""
TABLES = None
"""The folder of the tables of verdicts, which all workers share: see conftest.py."""


async def run_on(server, selection, timeout=TIMEOUT):
    """A run on a server, and its journal."""
    journal = Journal.unnamed({})
    named = {} if server.connect is None else {"connect": server.connect}
    return await Runner(server.target, journal, Options(timeout=timeout), selection, **named).go(), journal


async def table(name, make):
    """Verdict and text of each check in one run of all checks, `make()`, made by the first worker only."""
    file = TABLES / f"{name}.json"
    with file.with_suffix(".lock").open("w") as lock:
        while not try_lock(lock.fileno()):
            await asyncio.sleep(0.05)
        if not file.exists():
            run = await make()
            verdicts = {result.check.id: (result.verdict, result.outcome.text) for result in run.results}
            file.write_text(json.dumps(verdicts), encoding="utf-8")
    return {id: tuple(entry) for id, entry in json.loads(file.read_text(encoding="utf-8")).items()}


async def of_the_demo(revision, *, web):
    """Verdict and text of each check, of the demo as it is."""

    async def make():
        allowed = Allowed(calls=CALLS, auth=True)
        async with (PlantedWeb if web else Planted)() as server:
            # Generated arguments may be longer than the shim of HTTP reads as a header field.
            without = frozenset(("generated-cases",) if web else ())
            selection = CheckSelection(revisions=(revision,), without=without, limits=LIMITS, allowed=allowed)
            run, journal = await run_on(server, selection, LONG_TIMEOUT)
        journal.release()
        assert not run.deaths
        return run

    return await table(f"demo-{revision}-{'http' if web else 'stdio'}", make)


async def checked(case, fault, world):
    """The result of the one check, and the journal of the run. A fault that is a function makes the fault."""
    fault = fault() if isinstance(fault, type) or type(fault) is FunctionType else fault
    async with (case.server or (PlantedWeb if case.web else Planted))(fault, **world) as server:
        selection = CheckSelection(
            revisions=case.survey or (case.revision,),
            only=frozenset((case.id,)),
            limits=case.limits,
            allowed=case.allowed,
        )
        run, journal = await run_on(server, selection)
        results = [one for one in run.results if one.check.id == case.id]
        assert results, run.problem
        return results[0], journal


async def is_found(case):
    """The check finds the fault, says what it saw, and names events of the recording as its evidence."""
    judged, journal = await checked(case, case.fault, case.world)
    expected = ("remark",) if case.remark else ("bad", "doubtful")
    assert judged.outcome.seen in expected or (judged.check.level == "info" and judged.verdict == "note"), judged
    assert judged.outcome.text
    assert judged.outcome.evidence
    assert all(0 < n <= len(journal) for n in judged.outcome.evidence)
    journal.release()


async def is_not_blamed(case):
    """The same check passes without a fault: in the run of all checks, or in its own run."""
    if case.is_plain:
        verdicts = await of_the_demo(case.revision, web=case.web)
        assert verdicts[case.id][0] == "pass", verdicts[case.id]
        return
    judged, journal = await checked(case, case.right, case.right_world)
    assert judged.verdict == "pass", judged
    journal.release()


def case_tests(cases, *, slow_faults=False, slow_right=False):
    """Two tests of a table: each planted fault is found, and a server in order is not blamed."""

    @pytest.mark.parametrize("case", cases, ids=str)
    async def finds(case):
        await is_found(case)

    @pytest.mark.parametrize("case", cases, ids=str)
    async def blames(case):
        await is_not_blamed(case)

    return (pytest.mark.slow(finds) if slow_faults else finds), (pytest.mark.slow(blames) if slow_right else blames)
