"""Start of a connection: initialize, revisions, capabilities; in the modern era `server/discover`."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from inspector.check.check_table import CheckTable, Need, Stage
from inspector.check.checks.capabilities import undeclared
from inspector.check.outcome import Outcome, bad, good, remark, skipped
from inspector.check.visit.facts import OnceInAVisit
from inspector.check.visit.raw_connection import RawConnection
from inspector.check.visit.request_outcome import RequestOutcome
from inspector.check.visit.tool_calls import tool_calls
from inspector.check.visit.visit import OPENING, Visit
from inspector.client.engine.modern import WANTS_HANDSHAKE
from inspector.errors import ConnectionProblem
from inspector.protocol import jsonrpc
from inspector.protocol.jsonrpc import HEADER_MISMATCH, INVALID_PARAMS, METHOD_NOT_FOUND, UNSUPPORTED_VERSION, Shape
from inspector.protocol.members import array_at, text_at
from inspector.protocol.names import VERSION_KEY
from inspector.protocol.revisions import LEGACY, REVISIONS
from inspector.text import quantity

_TOO_OLD = "1900-01-01"
_TOO_NEW = "2099-01-01"
"""The unknown revision that a server meets: one that clients will support."""
_ABLE = {"roots": {"listChanged": True}, "sampling": {}}
"""A server that does not wait asks for the roots of a client that has some, and of no other."""
_LISTS = {
    "tools": ("tools/list", {}),
    "resources": ("resources/list", {}),
    "prompts": ("prompts/list", {}),
    "logging": ("logging/setLevel", {"level": "warning"}),
    "completions": (
        "completion/complete",
        {
            "ref": {"type": "ref/prompt", "name": "inspector-check-no-such-thing"},
            "argument": {"name": "a", "value": ""},
        },
    ),
}
"""A harmless request of each capability."""

CHECKS = CheckTable("lifecycle", needs=Need.NOTHING)


@CHECKS.active("LIFE-02", once=True, surveys=True)
async def supported_revisions(visit: Visit) -> Outcome:
    """The four initialize requests of the survey: a revision that one response chose must be accepted when offered."""
    survey = visit.survey
    chosen = {str(response.body.get("protocolVersion")) for name, response in survey.answers.items() if name in LEGACY}
    for revision in LEGACY:
        response = survey.answers.get(revision)
        answer = response.body.get("protocolVersion") if response is not None else None
        if response is not None and revision in chosen and answer != revision:
            reply = jsonrpc.excerpt(answer, 40) if answer is not None else response.brief
            return bad(f"{revision} was offered and got {reply}, although it is supported.", *response.events)
    agreed = [name for name in LEGACY if name in visit.spoken]
    events = [n for name in agreed for n in survey.answers[name].events]
    return good(f"it supports {', '.join(agreed)}", *events) if agreed else skipped("no initialize succeeded")


@OnceInAVisit
async def _initialized_too_new(visit: Visit) -> RequestOutcome:
    """The response to `initialize` with an unknown revision."""
    async with visit.fresh_connection(capabilities=_ABLE) as connection:
        return await connection.initialize(_TOO_NEW)


@CHECKS.active("LIFE-03", apart=True, once=True, stage=Stage.OPENED)
async def unknown_revision(visit: Visit) -> Outcome:
    """A revision after the last one."""
    response = await _initialized_too_new(visit)
    if not response.answered:
        return bad(f"initialize with {_TOO_NEW} got {response.reply}.", *response.events)
    if response.ok and response.body.get("protocolVersion") not in REVISIONS:
        return bad(f"The server agreed to the unknown revision {_TOO_NEW}.", *response.events)
    if not response.ok and not (response.code in (INVALID_PARAMS, UNSUPPORTED_VERSION) and _supported(response)):
        async with visit.fresh_connection(capabilities=_ABLE) as connection:
            known = await connection.initialize()
        if known.answered and not known.ok:  # The server refuses every new client now, such as one session too many.
            return skipped(f"initialize with {visit.revision} got {known.brief}, too")
        return bad(f"initialize with {_TOO_NEW} got {response.reply}.", *response.events)
    return good("", *response.events)


@CHECKS.active("LIFE-04", once=True, surveys=True)
async def known_revision(visit: Visit) -> Outcome:
    """The revisions that the server chose in the survey."""
    seen: list[int] = []
    for response in [response for name, response in visit.survey.answers.items() if name in LEGACY and response.ok]:
        chosen = response.body.get("protocolVersion")
        if chosen not in REVISIONS:
            return bad(f"initialize got revision {jsonrpc.excerpt(chosen, 40)}.", *response.events)
        seen += response.events
    return good("", *seen)


@CHECKS.active("LIFE-05", apart=True, needs=Need.SESSION)
async def declared_and_done(visit: Visit) -> Outcome:
    """One harmless request for each capability, declared or not."""
    return await _declared(visit)


@CHECKS.active("LIFE-06", apart=True, once=True, stage=Stage.OPENED)
async def silence_until_initialized(visit: Visit) -> Outcome:
    """An initialize of a client that can be asked, without notifications/initialized."""
    async with visit.fresh_connection("initialize", capabilities=_ABLE) as connection:
        opened = connection.opened or await connection.initialize()
        if not opened.ok:
            return skipped(f"initialize got {opened.brief}")
        await connection.quiet(connection.patience(visit.limits.quiet * 2))
    early = [
        frame
        for frame in connection.received
        if frame.shape in (Shape.REQUEST, Shape.NOTIFICATION)
        and frame.message["method"] not in ("ping", "notifications/message")
    ]
    if early:
        return bad(
            f"{early[0].message['method'][:100]} came before notifications/initialized.", *opened.events, early[0].n
        )
    return good("", *opened.events)


@CHECKS.active("LIFE-07", apart=True, once=True, stage=Stage.OPENING)
async def before_the_handshake(visit: Visit) -> Outcome:
    """`tools/list` as the first message, then initialize on the same connection."""
    async with visit.fresh_connection(capabilities=_ABLE) as connection:
        response = await _listed_first(visit, connection)
        opened = await connection.initialize(_TOO_NEW if visit.shares_processes else None)
    if visit.shares_processes and opened.answered:
        _initialized_too_new.learn(visit, opened)  # The next check judges it: one process serves both.
    elif visit.shares_processes:
        async with visit.fresh_connection(capabilities=_ABLE) as connection:
            response = await _listed_first(visit, connection)
            opened = await connection.initialize()
    if not opened.answered:
        return bad(f"After a request before initialize, initialize got {opened.reply}.", *response.events)
    if response.ok:
        return bad("tools/list was served before initialize.", *response.events)
    if not response.answered and not response.status:
        return bad(f"tools/list before initialize got {response.reply}.", *response.events)
    return good("", *response.events, *opened.events)


@CHECKS.active("LIFE-08", mode="tool", apart=True, needs=Need.CALLS)
async def undeclared_capabilities(visit: Visit) -> Outcome:
    """The allowed tools, called by a client without capabilities."""
    tools = [call for call in tool_calls(visit) if call.response.answered][: visit.limits.items]
    if not tools:
        return skipped("no allowed tool responded")
    asks = ("sampling/createMessage", "elicitation/create", "roots/list")
    async with visit.new_connection(capabilities={}) as connection:
        for call in tools:
            await connection.request("tools/call", call.params)
        requests = [
            frame for frame in connection.frames if frame.shape is Shape.REQUEST and frame.message["method"] in asks
        ]
        calls = len(connection.frames)
    if requests:
        return bad(f"{requests[0].message['method']} was sent to a client that does not declare it.", requests[0].n)
    return good(f"{quantity(len(tools), 'tool')} called, {quantity(calls, 'message')} received")


@CHECKS.active("LIFE-09", apart=True, once=True, stage=Stage.SPOILING)
async def second_handshake(visit: Visit) -> Outcome:
    """A second `initialize`, then a request."""
    async with visit.fresh_connection("initialized") as connection:
        again = await connection.initialize()
        response = await connection.request("ping")
    if not response.answered:
        return bad(f"After a second initialize the server did not respond: {response.brief}.", *again.events)
    return good("", *again.events, *response.events)


@CHECKS.active("LIFE-10", once=True)
async def introduction(visit: Visit) -> Outcome:
    """The self-description of the server."""
    server = visit.session.server
    instructions = server.raw.get("instructions")
    given = [name for name in ("title", "description", "websiteUrl", "icons") if server.info.get(name)]
    if isinstance(instructions, str) and instructions.strip():
        given.append(f"instructions of {len(instructions):,} characters")
        return good(", ".join(given))
    rest = f"; it has {', '.join(given)}" if given else ", no title and no description"
    return remark(f"The server has no instructions{rest}.", _opening(visit))


@CHECKS.active("LIFE-20")
async def discover(visit: Visit) -> Outcome:
    """The request itself."""
    response = await visit.request("server/discover", {})
    return good("", *response.events) if response.ok else bad(f"The request got {response.reply}.", *response.events)


@CHECKS.active("LIFE-23", apart=True, judged=True)
async def discover_unknown_revision(visit: Visit) -> Outcome:
    """`server/discover` with a revision of 1900."""
    return await _refused_revision(visit, "server/discover")


@CHECKS.active("LIFE-24", apart=True)
async def list_unknown_revision(visit: Visit) -> Outcome:
    """`tools/list` with a revision of 1900."""
    return await _refused_revision(visit, "tools/list")


@CHECKS.active("LIFE-25", apart=True, needs=Need.SESSION)
async def discovered_and_done(visit: Visit) -> Outcome:
    """One harmless request for each capability, declared or not, and a call of an unknown tool."""
    if visit.can("tools"):
        call = await visit.request("tools/call", {"name": "inspector-check-no-such-thing", "arguments": {}})
        if WANTS_HANDSHAKE.search(text_at(call.error, "message")):
            text = f"tools/call got {call.reply}, but no client of this revision sends initialize."
            return bad(text, *call.events)
    return await _declared(visit, but=("logging",))


@CHECKS.active("LIFE-26", apart=True, once=True, surveys=True)
async def handshake_with_a_modern_server(visit: Visit) -> Outcome:
    """`initialize`, if the server supports no legacy revision."""
    if await visit.serves_handshakes():
        return skipped("the server supports legacy revisions too")
    response = await visit.offered(LEGACY[-1])
    if response.ok:
        return bad(f"initialize got {response.reply}.", *response.events)
    if not response.answered:
        return bad(f"initialize got {response.reply}.", *response.events)
    return (
        good("", *response.events) if _supported(response) else bad("The error names no revisions.", *response.events)
    )


@CHECKS.active("LIFE-27")
async def removed_methods(visit: Visit) -> Outcome:
    """The three best-known removed methods."""
    seen: list[int] = []
    for method, params in (
        ("ping", {}),
        ("logging/setLevel", {"level": "warning"}),
        ("resources/subscribe", {"uri": "inspector://x"}),
    ):
        response = await visit.request(method, params)
        seen += response.events
        if response.code not in (METHOD_NOT_FOUND, HEADER_MISMATCH):  # Over HTTP, a server may look at headers first.
            return bad(f"{method} got {response.reply}.", *response.events)
    return good("", *seen)


@CHECKS.active("LIFE-29", once=True, surveys=True)
async def both_eras(visit: Visit) -> Outcome:
    """The result of the survey."""
    legacy = [name for name in visit.spoken if name in LEGACY]
    if not legacy and not await visit.serves_handshakes():
        return remark("Clients of the legacy era are not supported.", _opening(visit))
    return good(f"it supports {', '.join(visit.spoken)}" if legacy else "it supports initialize")


@CHECKS.active("LIFE-30", once=True)
async def deprecated(visit: Visit) -> Outcome:
    """Deprecated capabilities and transports."""
    used = [f"the capability {name}" for name in ("logging",) if visit.can(name)]
    if visit.visited.transport == "sse":
        used.append("the transport HTTP+SSE")
    return remark(f"The server uses {' and '.join(used)}.", _opening(visit)) if used else good()


def _opening(visit: Visit) -> int:
    """The response that opened the shared session."""
    return visit.newest(*OPENING) or 1


def _supported(response: RequestOutcome) -> list[Any]:
    return [name for name in array_at(response.error, "data", "supported") if isinstance(name, str)]


async def _declared(visit: Visit, but: tuple[str, ...] = ()) -> Outcome:
    seen: list[int] = []
    doubt: Outcome | None = None
    async with visit.connection() as connection:
        for capability, (method, params) in _LISTS.items():
            if capability in but or (capability == "completions" and not visit.features.completions_capability):
                continue
            response = await connection.request(method, params)
            seen += response.events
            unknown = response.code == METHOD_NOT_FOUND
            if not response.answered:
                return bad(f"{method} got {response.reply}.", *response.events)
            if visit.can(capability) and unknown:
                return bad(f"{capability} is declared, but {method} is unknown.", *response.events)
            # SDKs accept logging/setLevel of themselves; UTIL-08 is about a server that sends log messages.
            if not visit.can(capability) and response.ok and capability != "logging":
                outcome = undeclared(capability, method, response)
                if outcome.seen == "bad":
                    return outcome
                doubt = doubt or outcome
    return doubt or good("", *seen)


async def _listed_first(visit: Visit, connection: RawConnection) -> RequestOutcome:
    """`tools/list` as a client that skips the handshake sends it."""
    return await connection.request("tools/list", {}, bare=True, timeout=visit.limits.request / 2)


async def _refused_revision(visit: Visit, method: str) -> Outcome:
    """A request with an unknown revision."""
    params = {"_meta": {VERSION_KEY: _TOO_OLD}}
    async with visit.connection() as connection:
        response = await connection.request(method, params)
    if visit.shares_processes and response.error and response.code != UNSUPPORTED_VERSION:
        # A server may keep a process to the revision of its first request, so this is sent as the first one, too.
        with suppress(ConnectionProblem):
            async with visit.new_connection(handshake=False, why="as the first message") as fresh:
                first = await fresh.request(method, params, timeout=visit.limits.request)
            response = first if first.code == UNSUPPORTED_VERSION else response
    if response.code != UNSUPPORTED_VERSION:
        return bad(f"A request of revision {_TOO_OLD} got {response.reply}.", *response.events)
    if not _supported(response):
        return bad("Error -32022 does not list the supported revisions in data.supported.", *response.events)
    data = response.error.get("data")
    if type(data) is dict and data.get("requested") != _TOO_OLD:
        return bad(f"data.requested is {jsonrpc.excerpt(data.get('requested'), 40)}.", *response.events)
    if visit.visited.transport == "http" and response.status != 400:
        return bad(f"The error came with status {response.status}, not 400.", *response.events)
    return good("", *response.events)
