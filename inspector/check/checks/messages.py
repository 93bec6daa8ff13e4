"""Messages: JSON-RPC, its errors, and members that every result and schema must have."""

from __future__ import annotations

from typing import Any

from inspector.check.check_table import CheckTable, Need, Stage
from inspector.check.outcome import Outcome, bad, doubtful, good, remark, skipped
from inspector.check.visit.http import ACCEPT, JSON
from inspector.check.visit.raw_connection import is_refusal, status_of
from inspector.check.visit.raw_post import post
from inspector.check.visit.request_outcome import RequestOutcome
from inspector.check.visit.visit import Visit
from inspector.journal.journal import Frame
from inspector.protocol import jsonrpc
from inspector.protocol.jsonrpc import (
    HEADER_MISMATCH,
    INVALID_PARAMS,
    INVALID_REQUEST,
    METHOD_NOT_FOUND,
    PARSE_ERROR,
    Shape,
)
from inspector.protocol.members import objects_at, value_at
from inspector.protocol.names import VERSION_FIELD

CHECKS = CheckTable("messages", needs=Need.NOTHING)


@CHECKS.active("BASE-02", apart=True)
async def same_id(visit: Visit) -> Outcome:
    """One request with a string id, one with a number."""
    seen: list[int] = []
    async with visit.connection() as connection:
        for id in ("inspector-check-7", 70007):
            response = await connection.request("tools/list", {}, id=id)
            if not response.answered:
                return bad(f"A request with the id {id!r} got {response.reply}.", *response.events)
            seen += response.events
    return good("", *seen)


@CHECKS.active("BASE-05", apart=True, judged=True)
async def id_of_the_unreadable(visit: Visit) -> Outcome:
    """Invalid JSON over HTTP."""
    answer = await post(visit, b"{not json", _fields(visit))
    if not answer.status:
        return skipped(f"invalid JSON got {answer.brief}")
    if not answer.message:
        return good("no message was returned", *answer.events)
    if "id" not in answer.message:
        return good("", *answer.events)
    id_text = jsonrpc.excerpt(answer.message["id"], 40)
    return bad(f"The error has the id {id_text}.", *answer.events)


@CHECKS.active("BASE-06")
async def unknown_method(visit: Visit) -> Outcome:
    """A method that no server implements."""
    response = await visit.request("inspector/no-such-method", {})
    if not response.answered:
        return bad(f"An unknown method got {response.reply}.", *response.events)
    if response.code != METHOD_NOT_FOUND:
        return bad(f"An unknown method got {response.reply}.", *response.events)
    if visit.modern and visit.visited.transport == "http" and response.status != 404:
        return bad(f"The error came with status {response.status}, not 404.", *response.events)
    return good("", *response.events)


@CHECKS.active("BASE-07", apart=True)
async def broken_json(visit: Visit) -> Outcome:
    """An incomplete object, then a valid request."""
    if visit.visited.transport == "http":
        answer = await post(visit, b"{not json", _fields(visit))
        if answer.code in (PARSE_ERROR, HEADER_MISMATCH):
            return good("", *answer.events)
        if not answer.status:
            return bad(f"Invalid JSON got {answer.brief}.", *answer.events)
        if answer.refused and answer.code is None:
            return doubtful(f"Invalid JSON was rejected with {answer.brief}, without error -32700.", *answer.events)
        return bad(f"Invalid JSON got {answer.brief}.", *answer.events)
    async with visit.connection() as connection:
        sent = connection.send(b"{not json")
        response = await connection.ping()
        if not response.answered:
            return bad(f"After a line that is not JSON the server did not respond: {response.brief}.", sent)
        errors = [frame for frame in connection.frames if _error_code(frame) == PARSE_ERROR]
        return good("", sent, errors[0].n) if errors else good("it continued without an error", sent, *response.events)


@CHECKS.active("BASE-08", apart=True)
async def no_request(visit: Visit) -> Outcome:
    """A request without a method, and one of another version of JSON-RPC."""
    seen: list[int] = []
    for message in (
        {"jsonrpc": "2.0", "id": 70071, "params": {}},
        {"jsonrpc": "1.0", "id": 70072, "method": "tools/list"},
    ):
        if visit.visited.transport == "http":
            answer = await post(visit, jsonrpc.encode(message), _fields(visit))
            code, reply, events = answer.code, answer.brief, answer.events
            fine = code in (INVALID_REQUEST, HEADER_MISMATCH)
            refused = answer.refused
        else:
            async with visit.connection() as connection:
                sent = connection.send(jsonrpc.encode(message))
                frame = await connection.reaction(lambda frame: _error_code(frame) is not None)
                code = _error_code(frame) if frame is not None else None
                status = status_of(visit.journal, sent)  # Over HTTP+SSE the POST itself may be rejected.
                reply = f"error {code}" if frame is not None else f"status {status}" if status >= 400 else "no response"
                events = (sent,) if frame is None else (sent, frame.n)
                fine, refused = code == INVALID_REQUEST, frame is not None or status >= 400
        seen += events
        if not fine:
            what = "A request without a method" if "method" not in message else "A request of JSON-RPC 1.0"
            return (doubtful if refused else bad)(f"{what} got {reply}.", *events)
    return good("", *seen)


@CHECKS.active("BASE-09", apart=True, needs=Need.SESSION)
async def params_of_the_wrong_type(visit: Visit) -> Outcome:
    """`tools/call` with an array instead of an object."""
    response = await _send(visit, {"jsonrpc": "2.0", "id": 70017, "method": "tools/call", "params": []})
    if not response.answered:
        return bad(f"Parameters of the wrong type got {response.reply}.", *response.events)
    if response.ok:
        return bad(f"Parameters of the wrong type got {response.reply}.", *response.events)
    if response.code == METHOD_NOT_FOUND and not visit.can("tools"):
        return skipped("the server has no tools")
    if response.code not in (INVALID_PARAMS, HEADER_MISMATCH):
        return doubtful(f"Parameters of the wrong type got {response.reply}.", *response.events)
    return good("", *response.events)


@CHECKS.active("BASE-10", apart=True)
async def unknown_notification(visit: Visit) -> Outcome:
    """A notification with an unknown method, then a request that is answered, and a short wait."""
    index = visit.journal.index
    async with visit.connection() as connection:
        sent = connection.notify("notifications/inspector/no-such-thing", connection.with_metadata({}))
        response = await connection.ping()
        if not response.answered:
            return bad(f"After an unknown notification the server did not respond: {response.brief}.", sent)
        answer = await connection.reaction(
            lambda frame: (
                frame.shape in (Shape.RESULT, Shape.ERROR)
                and not index.pair(frame.n)
                and not is_refusal(visit.journal, frame.n)
            )
        )
    if answer is not None:
        return bad("An unknown notification was answered.", sent, answer.n)
    return good("", sent)


@CHECKS.active("BASE-12", apart=True)
async def batch(visit: Visit) -> Outcome:
    """Two pings in a batch."""
    pings = [{"jsonrpc": "2.0", "id": id, "method": "ping"} for id in ("batch-1", "batch-2")]
    async with visit.connection() as connection:
        sent = connection.send(jsonrpc.encode(pings))
        ids = {"batch-1", "batch-2"}
        await connection.barrier()
        last = await connection.until(
            lambda frame: _refuses_all(frame) or not (ids - _answered(connection.frames)),
            connection.patience(visit.limits.quiet),
        )
        if last is not None and _refuses_all(last):
            return bad(f"A batch of two requests got error {_error_code(last)}.", sent, last.n)
        missing = ids - _answered(connection.frames)
        if missing:
            lost = f": {connection.lost.message}" if connection.lost is not None else "."
            return bad(f"{len(missing)} of 2 requests in a batch got no response{lost}", sent)
    return good("", sent)


@CHECKS.active("BASE-13", apart=True, judged=True)
async def no_batch(visit: Visit) -> Outcome:
    """A batch of two requests, in a revision without batches."""
    both: list[dict[str, Any]] = [
        {"jsonrpc": "2.0", "id": id, "method": "tools/list", "params": {}} for id in ("batch-1", "batch-2")
    ]
    async with visit.connection() as connection:
        for message in both:
            message["params"] = connection.with_metadata({})
        sent = connection.send(jsonrpc.encode(both))
        await connection.reaction(lambda frame: _results(frame) or _error_code(frame) is not None)
        served = [frame for frame in connection.frames if _results(frame)]
    if served:
        return remark("A batch of requests is accepted and answered.", sent, served[0].n)
    return good("", sent)


@CHECKS.active("BASE-18", apart=True)
async def missing_metadata(visit: Visit) -> Outcome:
    """No `_meta`, `_meta` without the version, `_meta` without the capabilities."""
    prefix = "io.modelcontextprotocol/"
    seen: list[int] = []
    async with visit.connection() as connection:
        whole = connection.with_metadata({})["_meta"]
    for left_out in ("_meta", f"{prefix}protocolVersion", f"{prefix}clientCapabilities"):
        meta = {key: value for key, value in whole.items() if key != left_out}
        params = {} if left_out == "_meta" else {"_meta": meta}
        response = await _send(visit, {"jsonrpc": "2.0", "id": 70018, "method": "tools/list", "params": params})
        seen += response.events
        if not response.answered:
            return bad(f"A request without {left_out} got {response.reply}.", *response.events)
        if response.ok:
            return bad(f"A request without {left_out} was served.", *response.events)
        if response.code not in (INVALID_PARAMS, HEADER_MISMATCH):
            return bad(f"A request without {left_out} got {response.reply}.", *response.events)
        if visit.visited.transport == "http" and response.status != 400:
            return bad(f"The error came with status {response.status}, not 400.", *response.events)
    return good("", *seen)


@CHECKS.active("BASE-19", apart=True)
async def nameless_client(visit: Visit) -> Outcome:
    """All metadata except `clientInfo`."""
    async with visit.connection() as connection:
        meta = {
            key: value for key, value in connection.with_metadata({})["_meta"].items() if not key.endswith("clientInfo")
        }
        response = await connection.request("tools/list", {"_meta": meta}, bare=True)
        named = await connection.request("tools/list", {}) if not response.ok else response
    if response.ok or response.code == METHOD_NOT_FOUND:
        return good("", *response.events)
    if not named.ok:
        return skipped(f"tools/list got {named.brief}, also with clientInfo")
    return bad(f"A request without clientInfo got {response.reply}.", *response.events)


@CHECKS.active("BASE-23", mode="tool", apart=True, judged=True, needs=Need.SESSION)
async def missing_capability(visit: Visit) -> Outcome:
    """The allowed tools, called by a client without capabilities."""
    for tool in visit.callable()[: visit.limits.items]:
        async with visit.new_connection(capabilities={}) as connection:
            response = await connection.request("tools/call", {"name": tool.get("name"), "arguments": {}})
        if response.body.get("resultType") == "input_required":
            return bad("Input was requested from a client without that capability.", *response.events)
        if response.code == jsonrpc.MISSING_CAPABILITY:
            data = response.error.get("data")
            if type(data) is not dict or type(data.get("requiredCapabilities")) is not dict:
                return bad("Error -32021 does not name the missing capabilities.", *response.events)
            return good("", *response.events)
    return skipped("no allowed tool needs a capability of the client")


@CHECKS.active("BASE-24", apart=True, stage=Stage.SPOILING, needs=Need.SESSION)
async def no_memory(visit: Visit) -> Outcome:
    """The list of tools on a new connection, before and after a request with all capabilities."""
    if not visit.can("tools"):
        return skipped("the server has no tools")
    async with visit.fresh_connection("initialized", capabilities={}) as connection:
        first = await connection.request("tools/list", {})
        connection.capabilities = {"elicitation": {}, "sampling": {}, "roots": {}}
        await connection.request("tools/list", {})
        connection.capabilities = {}
        last = await connection.request("tools/list", {})
    if not (first.ok and last.ok):
        return skipped(f"the list got {(last if first.ok else first).brief}")
    if _names(first) != _names(last):
        return bad("The list of tools differs after a request with other capabilities.", *first.events, *last.events)
    return good("", *first.events, *last.events)


async def _send(visit: Visit, message: dict[str, Any]) -> RequestOutcome:
    """Send a request unchanged. Over HTTP in the modern era, with the headers of the era."""
    if not (visit.modern and visit.visited.transport == "http"):
        async with visit.connection() as connection:
            response = connection.begin(message)
            await connection.reaction(lambda _: bool(visit.journal.index.pair(response.n)))
            return await connection.answer(response, timeout=0.0)
    answer = await post(visit, jsonrpc.encode(message), (*_fields(visit), ("Mcp-Method", message["method"])), message)
    return RequestOutcome(
        message["method"],
        answer.n,
        answer.message_n,
        answer.message or None,
        answer.status,
        answer.seconds,
        answer.brief,
    )


def _names(response: RequestOutcome) -> list[object]:
    return [tool.get("name") for tool in objects_at(response.body.get("tools"))]


def _fields(visit: Visit) -> tuple[tuple[str, str], ...]:
    """The headers of a request of this revision, without a session."""
    return (JSON, ACCEPT, (VERSION_FIELD, visit.revision))


def _error_code(frame: Frame) -> object:
    return value_at(frame.message, "error", "code")


def _refuses_all(frame: Frame) -> bool:
    """Whether this is an error about a message whose id could not be read."""
    return _error_code(frame) is not None and frame.message.get("id") is None


def _answered(frames: list[Frame]) -> set[object]:
    """The ids with responses, including those in batches."""
    ids = set()
    for frame in frames:
        for item in frame.message if type(frame.message) is list else (frame.message,):
            if jsonrpc.shape_of(item) in (Shape.RESULT, Shape.ERROR) and isinstance(item.get("id"), str):
                ids.add(item["id"])
    return ids


def _results(frame: Frame) -> bool:
    items = frame.message if type(frame.message) is list else [frame.message]
    return any(jsonrpc.shape_of(item) is Shape.RESULT and str(item.get("id")).startswith("batch") for item in items)
