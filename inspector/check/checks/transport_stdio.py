"""stdio: lines on a pipe, and a process that starts and ends with its client."""

from __future__ import annotations

from inspector.check.check_table import CheckTable, Need, Stage
from inspector.check.outcome import Outcome, bad, good, remark, skipped
from inspector.check.visit.machine_load import takes_longer
from inspector.check.visit.process import Child
from inspector.check.visit.raw_connection import CLIENT, ON_ITS_WAY, with_metadata
from inspector.check.visit.visit import Visit
from inspector.journal.format import Kind
from inspector.journal.journal import Frame
from inspector.protocol import jsonrpc
from inspector.protocol.jsonrpc import Shape
from inspector.protocol.members import value_at
from inspector.protocol.sample_values import sample
from inspector.text import quantity

_SUBSCRIPTION = "io.modelcontextprotocol/subscriptionId"
_LARGE_BYTES = 1 << 20
_IN_FLIGHT = 10
_FAMILY_SECONDS = 1.0
"""Seconds in which child processes must follow their parent."""
_SLOW_START = 10.0
"""Seconds from the start to the first response above which the check reports them."""

CHECKS = CheckTable("transport_stdio", needs=Need.NOTHING)


@CHECKS.active("STDIO-04", apart=True, once=True, stage=Stage.ENDING)
async def ends_with_its_input(visit: Visit) -> Outcome:
    """The process of the checks before it. If that does not exit, a new one, initialized and then left alone."""
    if (ended := await visit.end_fresh_process(visit.limits.request)) is not None:
        return good(f"it exited with status {ended[0]}", ended[1])
    async with visit.process() as server:
        await _greet(visit, server)
        if server.status is not None:
            return skipped("the server had exited before")
        if not await server.close_input(visit.limits.request):
            return bad(f"It was still running {server.seconds:.1f} s after its stdin closed.", server.spawned)
        return good(f"it exited after {server.seconds:.2f} s with status {server.status}", server.ended)


@CHECKS.active("STDIO-05", apart=True, once=True, stage=Stage.ENDING)
async def ends_when_told(visit: Visit) -> Outcome:
    """A new process, initialized and then sent SIGTERM."""
    async with visit.process() as server:
        await _greet(visit, server)
        if server.status is not None:
            return skipped("the server had exited before")
        if not await server.terminate(visit.limits.request / 2):
            return bad(f"It was still running {server.seconds:.1f} s after SIGTERM.", server.spawned)
        left = await server.survivors(_FAMILY_SECONDS)
        if left:
            return bad(f"{left} of its child processes kept running.", server.ended)
        return good(f"it exited after {server.seconds:.2f} s", server.ended)


@CHECKS.active("STDIO-06", apart=True, once=True, stage=Stage.SPOILING)
async def odd_lines(visit: Visit) -> Outcome:
    """Invalid JSON, an empty line, 1 MB, an unknown notification, an unknown method, a response to nothing."""
    unknown = jsonrpc.encode({"jsonrpc": "2.0", "method": "notifications/inspector/no-such-thing"})
    large = {"jsonrpc": "2.0", "method": "notifications/inspector/large", "params": {"text": "x" * _LARGE_BYTES}}
    lines = {
        "a line that is not JSON": b"{not json",
        "an empty line": b"",
        "an unknown notification": unknown,
        "an unknown method": jsonrpc.encode({"jsonrpc": "2.0", "id": "odd-1", "method": "inspector/no-such-method"}),
        "a response to an unknown request": jsonrpc.encode({"jsonrpc": "2.0", "id": "odd-2", "result": {}}),
        "a line of 1 MB": jsonrpc.encode(large),
    }
    seen: list[int] = []
    async with visit.fresh_connection("initialized") as connection:
        for what, line in lines.items():
            sent = connection.send(line)
            response = await connection.ping()
            if not response.answered:
                return bad(
                    f"After {what} the server did not respond: {response.brief}.", *filter(None, (sent, response.n))
                )
            seen.append(sent)
    return good("", *seen)


@CHECKS.active("STDIO-07", apart=True)
async def pipelined(visit: Visit) -> Outcome:
    """Ten requests at once."""
    async with visit.connection() as connection:
        params = connection.with_metadata({})
        begun = [
            connection.begin({"jsonrpc": "2.0", "id": f"pipelined-{n}", "method": _harmless(visit), "params": params})
            for n in range(_IN_FLIGHT)
        ]
        missing = [response for response in begun if not (await connection.answer(response)).answered]
    if missing:
        return bad(f"{len(missing)} of {_IN_FLIGHT} concurrent requests got {missing[0].reply}.", missing[0].n)
    return good("", *(n for response in begun for n in response.events))


@CHECKS.active("STDIO-08", mode="tool", apart=True, needs=Need.SESSION)
async def silent_after_cancellation(visit: Visit) -> Outcome:
    """An allowed tool, cancelled while it runs; the response to another request shows that the server knows."""
    async with visit.new_connection() as connection:
        for n, tool in enumerate(visit.callable()[: visit.limits.items]):
            id = f"cancelled-{n}"
            params = {
                "name": tool.get("name"),
                "arguments": sample(tool.get("inputSchema")),
                "_meta": {"progressToken": id},
            }
            call = {"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": connection.with_metadata(params)}
            begun = connection.begin(call)
            sent = connection.notify("notifications/cancelled", {"requestId": id, "reason": "check"})
            marker = await connection.request("server/discover", {})
            if not marker.answered:
                return skipped(f"after the cancellation the server did not respond: {marker.brief}")
            await connection.barrier()
            await connection.quiet(connection.patience(ON_ITS_WAY))
            before = len(visit.journal)
            if visit.journal.index.pair(begun.n):
                continue  # It responded before it read the cancellation, or at that moment.
            await connection.quiet(connection.patience(visit.limits.quiet * 4))
            late = [frame for frame in connection.frames if frame.n > before and _is_about(frame, id)]
            if late:
                return bad("A message about a cancelled request came afterwards.", begun.n, sent, late[0].n)
            return good("", begun.n, sent, *marker.events)
    return skipped("no allowed tool takes long enough to be cancelled")


@CHECKS.active("STDIO-09", apart=True, needs=Need.SESSION)
async def named_subscriptions(visit: Visit) -> Outcome:
    """A subscription to all declared list changes, and its acknowledgement."""
    kinds = {f"{name}ListChanged": True for name in ("tools", "prompts", "resources") if visit.can(name, "listChanged")}
    if not kinds:
        return skipped("the server declares no change notifications")
    id = "listen-1"
    async with visit.connection() as connection:
        params = connection.with_metadata({"notifications": kinds})
        begun = connection.begin({"jsonrpc": "2.0", "id": id, "method": "subscriptions/listen", "params": params})
        frame = await connection.until(lambda frame: frame.shape is Shape.NOTIFICATION or _is_answer(frame, id))
        connection.notify("notifications/cancelled", {"requestId": id})
    if frame is None or frame.shape is not Shape.NOTIFICATION:
        return skipped("the subscription was not acknowledged")
    named = value_at(frame.message, "params", "_meta", _SUBSCRIPTION)
    if named != id:
        return bad(f"{frame.message['method'][:80]} has the subscriptionId {jsonrpc.excerpt(named, 60)}.", frame.n)
    return good("", begun.n, frame.n)


@CHECKS.active("STDIO-10", once=True)
async def quick_start(visit: Visit) -> Outcome:
    """The data of this run's recording."""
    journal, index = visit.journal, visit.journal.index
    spawned: dict[int, int] = {}  # By connection, because connections overlap.
    starts: list[tuple[float, int]] = []
    for n in range(1, index.count + 1):
        kind = index.kind(n)
        if kind == Kind.LIFE and journal.event(n).fields.get("event") == "spawn":
            spawned[index.conn(n)] = n
        elif kind == Kind.RPC and index.shape(n) in (Shape.RESULT, Shape.ERROR) and index.conn(n) in spawned:
            starts.append(((journal.event(n).t - journal.event(spawned.pop(index.conn(n))).t) / 1_000_000, n))
    if not starts:
        return skipped("the recording has no start")
    seconds, answer = min(starts)
    lines = sum(index.kind(n) == Kind.STDERR for n in range(1, index.count + 1))
    text = f"{seconds:.2f} s to the first response, {lines:,} lines on stderr, {quantity(len(starts), 'start')}"
    return remark(f"It took {text}.", answer) if takes_longer(seconds, _SLOW_START) else good(text, answer)


@CHECKS.active("STDIO-11", apart=True, once=True, stage=Stage.UNOPENED)
async def unknown_method_first(visit: Visit) -> Outcome:
    """The first message of a client of a later era."""
    async with visit.fresh_connection() as connection:
        response = await connection.request("inspector/no-such-method", {}, timeout=visit.limits.request / 2)
        lost = connection.lost
    if response.ok:
        return bad(f"The request got {response.reply}.", *response.events)
    if response.answered:
        return good(response.brief, *response.events)
    what = f"The server exited: {lost.message}" if lost is not None else "The request got no response."
    return bad(what, *response.events)


async def _greet(visit: Visit, server: Child) -> None:
    """One request, to know that the server is running before the check starts."""
    method, params = "server/discover", with_metadata({}, visit.revision, {})
    if not visit.modern:
        method = "initialize"
        params = {"protocolVersion": visit.revision, "capabilities": {}, "clientInfo": CLIENT}
    greeting = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
    await server.greet(jsonrpc.encode(greeting), visit.limits.request)


def _harmless(visit: Visit) -> str:
    return "ping" if visit.features.ping else "server/discover"


def _is_answer(frame: Frame, id: str) -> bool:
    return frame.shape in (Shape.RESULT, Shape.ERROR) and frame.message.get("id") == id


def _is_about(frame: Frame, id: str) -> bool:
    """Whether a message is the response to a request or its progress."""
    params = frame.message.get("params") if type(frame.message) is dict else None
    return _is_answer(frame, id) or (type(params) is dict and params.get("progressToken") == id)
