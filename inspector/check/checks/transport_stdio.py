"""stdio: lines on a pipe, and a process that starts and ends with its client."""

from __future__ import annotations

from inspector.check.check_table import CheckTable, Need, Stage, TransportName
from inspector.check.outcome import Outcome, bad, good, remark, skipped
from inspector.check.visit.machine_load import slowdown
from inspector.check.visit.process import Child
from inspector.check.visit.raw_connection import CLIENT, with_metadata
from inspector.check.visit.visit import Visit
from inspector.journal.format import Kind
from inspector.journal.journal import Frame
from inspector.protocol import jsonrpc
from inspector.protocol.jsonrpc import Shape
from inspector.protocol.sample_values import sample

_PAGE = "basic/transports#stdio"
_STDIO: frozenset[TransportName] = frozenset(("stdio",))
_SUBSCRIPTION = "io.modelcontextprotocol/subscriptionId"
_LARGE = 1 << 20
_IN_FLIGHT = 10
_ON_ITS_WAY = 0.1
"""Seconds in which a response may still come that was ready when the server read the cancellation."""
_FAMILY_SECONDS = 1.0
"""Seconds in which child processes must follow their parent."""
_SLOW_START = 10.0
"""Seconds from the start to the first response above which the check reports them."""

CHECKS = CheckTable("transport-stdio", page=_PAGE, transports=_STDIO, needs=Need.NOTHING)
CHECKS.passive(
    "STDIO-01 must r1+",
    "stdio",
    says="stdout contains only messages.",
    fix="Send logs, banners and library output to stderr.",
    breaks=(
        "Clients on the Go and Java SDKs end the connection at the first line that is not JSON; Claude "
        "Desktop shows an error for each line."
    ),
)
CHECKS.passive(
    "STDIO-02 must r1+",
    "stdio",
    says="Each message is one line that ends with a line feed.",
    fix='Write each message as JSON without line breaks plus "\\n", and flush stdout.',
    breaks="The SDKs split messages at line feeds: they wait for the end of a line, or drop its parts.",
)
CHECKS.passive(
    "STDIO-03 must r1+",
    "stderr",
    says="stderr is UTF-8.",
    fix="Set the encoding of stderr to UTF-8, regardless of the locale.",
)


@CHECKS.active(
    "STDIO-04 should r1+",
    page="basic/transports/stdio#shutdown",
    apart=True,
    once=True,
    stage=Stage.ENDING,
    says="The server exits when its stdin closes.",
    fix="Exit on end of file on stdin, and stop timers and threads that keep the process alive.",
)
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


@CHECKS.active(
    "STDIO-05 robust r1+",
    page="basic/transports/stdio#shutdown",
    apart=True,
    once=True,
    stage=Stage.ENDING,
    says="The server and its child processes exit on SIGTERM.",
    fix="Do not ignore SIGTERM, and stop child processes when you exit.",
)
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


@CHECKS.active(
    "STDIO-06 robust r1+",
    apart=True,
    once=True,
    stage=Stage.SPOILING,
    says="Invalid lines do not break the server.",
    fix="Catch errors of each line, respond with an error if the line has an id, and read the next line.",
)
async def odd_lines(visit: Visit) -> Outcome:
    """Invalid JSON, an empty line, 1 MB, an unknown notification, an unknown method, a response to nothing."""
    unknown = jsonrpc.encode({"jsonrpc": "2.0", "method": "notifications/inspector/no-such-thing"})
    large = {"jsonrpc": "2.0", "method": "notifications/inspector/large", "params": {"text": "x" * _LARGE}}
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
            response = await connection.request(_harmless(visit), {})
            if not response.answered:
                return bad(
                    f"After {what} the server did not respond: {response.shown}.", *filter(None, (sent, response.n))
                )
            seen.append(sent)
    return good("", *seen)


@CHECKS.active(
    "STDIO-07 robust r1+",
    apart=True,
    says="Concurrent requests all get responses with their own ids.",
    fix="Read the next request while others run, and keep each response with the id of its request.",
    breaks=("Claude Code and VS Code call tools in parallel: the calls without a response wait for their timeout."),
)
async def pipelined(visit: Visit) -> Outcome:
    """Ten requests at once."""
    async with visit.connection() as connection:
        params = connection.dressed({})
        begun = [
            connection.begin({"jsonrpc": "2.0", "id": f"pipelined-{n}", "method": _harmless(visit), "params": params})
            for n in range(_IN_FLIGHT)
        ]
        missing = [response for response in begun if not (await connection.answer(response)).answered]
    if missing:
        return bad(f"{len(missing)} of {_IN_FLIGHT} concurrent requests got {missing[0].reply}.", missing[0].n)
    return good("", *(n for response in begun for n in response.events))


@CHECKS.active(
    "STDIO-08 must r5",
    page="basic/transports/stdio#cancellation",
    mode="tool",
    apart=True,
    needs=Need.SESSION,
    says="The server sends nothing for a cancelled request.",
    fix="Check for cancellation before every message for a request, including its response.",
)
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
            call = {"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": connection.dressed(params)}
            begun = connection.begin(call)
            sent = connection.notify("notifications/cancelled", {"requestId": id, "reason": "check"})
            marker = await connection.request("server/discover", {})
            if not marker.answered:
                return skipped(f"after the cancellation the server did not respond: {marker.shown}")
            await connection.barrier()
            await connection.quiet(connection.patience(_ON_ITS_WAY))
            heard = len(visit.journal)
            if visit.journal.index.pair(begun.n):
                continue  # It responded before it read the cancellation, or at that moment.
            await connection.quiet(connection.patience(visit.limits.quiet * 4))
            late = [frame for frame in connection.frames if frame.n > heard and _is_about(frame, id)]
            if late:
                return bad("A message about a cancelled request came afterwards.", begun.n, sent, late[0].n)
            return good("", begun.n, sent, *marker.events)
    return skipped("no allowed tool takes long enough to be cancelled")


@CHECKS.active(
    "STDIO-09 must r5",
    page="basic/patterns/subscriptions",
    apart=True,
    needs=Need.SESSION,
    says="Every notification of a subscription names the subscription.",
    fix=f"Set {_SUBSCRIPTION} in _meta to the id of the subscriptions/listen request.",
)
async def named_subscriptions(visit: Visit) -> Outcome:
    """A subscription to all declared list changes, and its acknowledgement."""
    wanted = {
        f"{name}ListChanged": True for name in ("tools", "prompts", "resources") if visit.can(name, "listChanged")
    }
    if not wanted:
        return skipped("the server declares no change notifications")
    id = "listen-1"
    async with visit.connection() as connection:
        params = connection.dressed({"notifications": wanted})
        begun = connection.begin({"jsonrpc": "2.0", "id": id, "method": "subscriptions/listen", "params": params})
        frame = await connection.until(lambda frame: frame.shape is Shape.NOTIFICATION or _is_answer(frame, id))
        connection.notify("notifications/cancelled", {"requestId": id})
    if frame is None or frame.shape is not Shape.NOTIFICATION:
        return skipped("the subscription was not acknowledged")
    params = frame.message.get("params")
    meta = params.get("_meta") if type(params) is dict else None
    named = meta.get(_SUBSCRIPTION) if type(meta) is dict else None
    if named != id:
        return bad(f"{frame.message['method'][:80]} has the subscriptionId {jsonrpc.excerpt(named, 60)}.", frame.n)
    return good("", begun.n, frame.n)


@CHECKS.active(
    "STDIO-10 info r1+",
    once=True,
    says="The server starts quickly and writes little to stderr.",
    fix="Load modules when they are first used, and write debug output only on request.",
)
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
    text = f"{seconds:.2f} s to the first response, {lines:,} lines on stderr, {len(starts)} starts"
    return remark(f"It took {text}.", answer) if seconds > _SLOW_START * slowdown() else good(text, answer)


@CHECKS.active(
    "STDIO-11 robust r1+",
    page="basic/transports/stdio#backward-compatibility",
    apart=True,
    once=True,
    stage=Stage.UNOPENED,
    says="An unknown method is rejected even as the first message.",
    fix="Return an error to any request before initialize; clients use it to detect your era.",
)
async def unknown_method_first(visit: Visit) -> Outcome:
    """The first message of a client of a later era."""
    async with visit.fresh_connection() as connection:
        response = await connection.request("inspector/no-such-method", {}, timeout=visit.limits.request / 2)
        lost = connection.lost
    if response.ok:
        return bad(f"The request got {response.reply}.", *response.events)
    if response.answered:
        return good(response.shown, *response.events)
    what = f"The server exited: {lost.message}" if lost is not None else "The request got no response."
    return bad(what, *response.events)


CHECKS.passive(
    "STDIO-12 should r1+",
    "answer",
    page="basic/authorization",
    says="The server does not require OAuth over stdio.",
    fix="Read credentials from environment variables, and start without them if possible.",
)


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
