"""Streamable HTTP of the modern era: headers that repeat members of the body, and removed features."""

from __future__ import annotations

import asyncio
import base64
import ssl
from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from typing import Any

from inspector.check.check_table import CheckTable
from inspector.check.outcome import Outcome, bad, doubtful, good, skipped
from inspector.check.visit.http import RecordedResponse
from inspector.check.visit.raw_post import RawPost, raw_post
from inspector.check.visit.visit import Visit
from inspector.journal import channels
from inspector.journal.format import Dir
from inspector.journal.journal import Frame
from inspector.protocol import jsonrpc
from inspector.protocol.headers import HeaderParam, mirrored
from inspector.protocol.jsonrpc import HEADER_MISMATCH, METHOD_NOT_FOUND
from inspector.protocol.members import object_at, value_at
from inspector.protocol.names import SESSION_FIELD, VERSION_FIELD
from inspector.protocol.revisions import LEGACY
from inspector.protocol.sample_values import sample
from inspector.transports.http_requests import RESUME_FIELD

_BEFORE_THE_FIELD = LEGACY[:2]
"""The revisions whose clients send no MCP-Protocol-Version."""
_METHOD, _NAME = "Mcp-Method", "Mcp-Name"
_MAX_HEAD_BYTES = 1 << 16

CHECKS = CheckTable("transport_http_modern")


@CHECKS.active("HTTP-60", apart=True)
async def no_version(visit: Visit) -> Outcome:
    """A request without the header."""
    async with raw_post(visit) as post:
        answer = await post.request(post.harmless(), without=VERSION_FIELD)
    older = [name for name in _BEFORE_THE_FIELD if await visit.agrees_to(name) == name]
    if older and answer.status:
        return good(f"it also supports {older[0]}, and answers with {answer.brief}", *answer.events)
    return _mismatch("A request without MCP-Protocol-Version", answer)


@CHECKS.active("HTTP-61", apart=True, judged=True)
async def other_version(visit: Visit) -> Outcome:
    """The newest legacy revision in the header."""
    async with raw_post(visit) as post:
        answer = await post.request(post.harmless(), more=((VERSION_FIELD, LEGACY[-1]),))
    return _mismatch(f"{LEGACY[-1]} in the header of a request of {visit.revision}", answer)


@CHECKS.active("HTTP-62", apart=True)
async def wrong_method(visit: Visit) -> Outcome:
    """Without the header, and with another method in it."""
    async with raw_post(visit) as post:
        missing = await post.request(post.harmless(), without=_METHOD)
        wrong = await post.request(post.harmless(), more=((_METHOD, "inspector/no-such-method"),))
    return _all_mismatch({"A request without Mcp-Method": missing, "A request with another Mcp-Method": wrong})


@CHECKS.active("HTTP-63", apart=True)
async def wrong_name(visit: Visit) -> Outcome:
    """An unknown item, without the header and with another name in it."""
    async with raw_post(visit) as post:
        method, params, _ = post.nameless()
        if not method:
            return skipped("the server has neither tools nor prompts nor resources")
        missing = await post.request(method, params, without=_NAME)
        wrong = await post.request(method, params, more=((_NAME, "inspector-check-another-name"),))
    return _all_mismatch({f"{method} without Mcp-Name": missing, f"{method} with another Mcp-Name": wrong})


@CHECKS.active("HTTP-64", apart=True)
async def encoded_name(visit: Visit) -> Outcome:
    """An unknown item with its name in base64."""
    async with raw_post(visit) as post:
        method, params, name = post.nameless()
        if not method:
            return skipped("the server has neither tools nor prompts nor resources")
        plain = await post.request(method, params)
        coded = base64.b64encode(name.encode()).decode()
        answer = await post.request(method, params, more=((_NAME, f"=?base64?{coded}?="),))
    if plain.code == HEADER_MISMATCH or not plain.status:
        return skipped(f"the plain name got {plain.brief}")
    if answer.code == HEADER_MISMATCH or answer.status != plain.status:
        return bad(f"The plain name got {plain.brief}, the encoded one {answer.brief}.", *plain.events, *answer.events)
    return good("", *plain.events, *answer.events)


@CHECKS.active("HTTP-65", apart=True)
async def broken_encoding(visit: Visit) -> Outcome:
    """Invalid base64, base64 of invalid UTF-8, and a non-ASCII letter."""
    async with raw_post(visit) as post:
        method, params, name = post.nameless()
        if not method:
            return skipped("the server has neither tools nor prompts nor resources")
        answers = {
            what: await post.request(method, params, more=((_NAME, value),))
            for what, value in (
                ("invalid base64 in Mcp-Name", "=?base64?%%%?="),
                ("base64 of invalid UTF-8 in Mcp-Name", "=?base64?/w==?="),
                ("a non-ASCII character in Mcp-Name", f"{name}é"),
            )
        }
    return _all_mismatch({f"A request with {what}": answer for what, answer in answers.items()})


@CHECKS.active("HTTP-66", mode="tool", apart=True)
async def wrong_parameter(visit: Visit) -> Outcome:
    """An allowed tool with header parameters: without the header, with another value, and with an extra one."""
    async with raw_post(visit) as post:
        for tool in visit.callable()[: visit.limits.items]:
            header_params, reasons = mirrored(tool)
            if not header_params or reasons:
                continue
            name, path = header_params[0]
            arguments = _arguments(tool, header_params)
            params = {"name": tool.get("name"), "arguments": arguments}
            others = params | {"arguments": _without(arguments, path)}
            another = ((name, "inspector-check-another"),)
            return _all_mismatch(
                {
                    f"A call without {name}": await post.request("tools/call", params, without=name),
                    f"A call with another {name}": await post.request("tools/call", params, more=another),
                    f"A call with {name}, but without its argument": await post.request(
                        "tools/call", others, more=another
                    ),
                }
            )
    return skipped("no allowed tool has header parameters")


@CHECKS.active("HTTP-67", mode="tool", apart=True)
async def other_number(visit: Visit) -> Outcome:
    """An allowed tool with an integer header parameter, written as a decimal."""
    async with raw_post(visit) as post:
        for tool in visit.callable()[: visit.limits.items]:
            header_params, reasons = mirrored(tool)
            arguments = _arguments(tool, header_params)
            params = {"name": tool.get("name"), "arguments": arguments}
            for name, path in header_params if not reasons else ():
                value = value_at(arguments, *path)
                if type(value) is int:
                    answer = await post.request("tools/call", params, more=((name, f"{value}.0"),))
                    if answer.code == HEADER_MISMATCH:
                        return bad(f"{value}.0 in {name} was rejected for the argument {value}.", *answer.events)
                    return good(answer.brief, *answer.events) if answer.status else skipped(answer.brief)
    return skipped("no allowed tool has an integer header parameter")


@CHECKS.active("HTTP-68", apart=True)
async def white_space(visit: Visit) -> Outcome:
    """A request with spaces and a tab around Mcp-Method."""
    if visit.web.target.proxy:
        return skipped("a proxy is configured")
    async with raw_post(visit) as post:
        message = post.new_request(post.harmless())
        fields = [(name, f" \t {value} \t " if name == _METHOD else value) for name, value in post.fields(message)]
        n, status, response_n = await _by_hand(visit, fields, jsonrpc.encode(message))
    events = tuple(filter(None, (n, response_n)))
    if not status:
        return skipped("the request got no response")
    if status in (401, 403):
        return skipped(f"the request got status {status}")
    if status >= 400:
        return bad(f"A request with white space around the value of Mcp-Method got status {status}.", *events)
    return good("", *events)


@CHECKS.active("HTTP-69", apart=True, judged=True)
async def unknown_method(visit: Visit) -> Outcome:
    """A method that no server implements."""
    async with raw_post(visit) as post:
        answer = await post.request("inspector/no-such-method")
    if answer.status == 404 and answer.code == METHOD_NOT_FOUND:
        return good("", *answer.events)
    return bad(f"An unknown method got {answer.brief}.", *answer.events)


@CHECKS.active("HTTP-70", apart=True)
async def gone_verbs(visit: Visit) -> Outcome:
    """GET and DELETE, if the server supports only this revision."""
    if await visit.serves_handshakes():
        return skipped("the server supports legacy revisions too")
    post = RawPost(visit)
    seen: list[int] = []
    for answer, verb in ((await post.listen(until=0), "GET"), (await post.delete(), "DELETE")):
        seen += answer.events
        if answer.status != 405:
            return bad(f"{verb} got {answer.brief}, not 405.", *answer.events)
    return good("", *seen)


@CHECKS.active("HTTP-71", apart=True)
async def gone_fields(visit: Visit) -> Outcome:
    """A request with both headers."""
    async with raw_post(visit) as post:
        more = ((SESSION_FIELD, "inspector-check"), (RESUME_FIELD, "1"))
        answer = await post.request(post.harmless(), more=more)
        plain = await post.request(post.harmless())
    for response in (answer, plain):
        if response.header(SESSION_FIELD) is not None:
            return bad("The response has an Mcp-Session-Id.", *response.events)
    if "result" in answer.message:
        return good("", *answer.events, *plain.events)
    if "result" not in plain.message:
        return skipped(f"a plain request got {plain.brief}")
    return bad(f"A request with Mcp-Session-Id and Last-Event-ID got {answer.brief}.", *answer.events)


@CHECKS.active("HTTP-72", mode="tool", apart=True)
async def closed_stream(visit: Visit) -> Outcome:
    """An allowed tool that sends progress: its stream is closed, and messages on other streams are read."""
    async with visit.new_connection() as connection:
        names = [name for name in ("tools", "prompts", "resources") if visit.can(name, "listChanged")]
        kinds = {f"{name}ListChanged": True for name in names}
        if kinds:
            params = connection.with_metadata({"notifications": kinds})
            connection.begin({"jsonrpc": "2.0", "id": "listen", "method": "subscriptions/listen", "params": params})
        for n, tool in enumerate(visit.callable()[: visit.limits.items]):
            id = f"closed-{n}"
            arguments = sample(tool.get("inputSchema"))
            params = connection.with_metadata(
                {"name": tool.get("name"), "arguments": arguments, "_meta": {"progressToken": id}}
            )
            call = {"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params}
            begun = connection.begin(call)
            first = await connection.until(partial(_concerns, id), visit.limits.request / 4)
            connection.close_stream(id)
            if first is None or "method" not in first.message:
                continue
            connection.frames = []
            marker = await connection.request("server/discover", {})
            await connection.quiet(visit.limits.quiet * 4)
            late = [frame for frame in connection.frames if _concerns(id, frame)]
            if late:
                return bad("A message about a request came after its stream was closed.", begun.n, late[0].n)
            if not marker.answered:
                return bad(
                    f"After a stream was closed the server did not respond: {marker.brief}.", begun.n, *marker.events
                )
            return good("", begun.n, first.n, *marker.events)
    return skipped("no allowed tool sends progress")


@CHECKS.active("HTTP-73", apart=True)
async def wrong_bodies(visit: Visit) -> Outcome:
    """A response to an unknown request, and a batch of two requests."""
    seen: list[int] = []
    async with raw_post(visit) as post:
        bodies = {
            "A response": {"jsonrpc": "2.0", "id": "inspector-check", "result": {}},
            "An array": [post.new_request(post.harmless()), post.new_request(post.harmless())],
        }
        for what, body in bodies.items():
            answer = await post.say(body)
            seen += answer.events
            if not answer.refused:
                return bad(f"{what} got {answer.brief}.", *answer.events)
    return good("", *seen)


def _mismatch(what: str, answer: RecordedResponse) -> Outcome:
    """Whether a request was rejected because its headers do not match its body."""
    if answer.status == 400 and answer.code == HEADER_MISMATCH:
        return good(answer.brief, *answer.events)
    if not answer.status:
        return bad(f"{what} got {answer.brief}.", *answer.events)
    if answer.refused:
        return doubtful(f"{what} was rejected with {answer.brief}, not 400 and error -32020.", *answer.events)
    return bad(f"{what} got {answer.brief}.", *answer.events)


def _all_mismatch(answers: dict[str, RecordedResponse]) -> Outcome:
    """The worst of several outcomes."""
    outcomes = [_mismatch(what, answer) for what, answer in answers.items()]
    for seen in ("bad", "doubtful"):
        for outcome in outcomes:
            if outcome.seen == seen:
                return outcome
    return good("", *(n for answer in answers.values() for n in answer.events))


async def _by_hand(visit: Visit, fields: list[tuple[str, str]], body: bytes) -> tuple[int, int, int]:
    """A POST written byte by byte, for headers that HTTP libraries correct; its event, the status, and its event."""
    url = visit.web.url
    head = [("Host", url.netloc), *fields, *visit.web.target.headers, *await visit.token_fields()]
    head += [("Content-Length", str(len(body))), ("Connection", "close")]
    channel = channels.of_post("check-by-hand")
    conn = visit.web.conn
    with visit.journal.probing(visit.check):
        n = visit.journal.record_http(channel, Dir.SEND, method="POST", url=url.text, headers=head, conn=conn)
    lines = [f"POST {url.target} HTTP/1.1", *(f"{name}: {value}" for name, value in head), "", ""]
    tls = None
    if url.scheme == "https":
        tls = ssl.create_default_context()
        if not visit.web.target.verify:
            tls.check_hostname, tls.verify_mode = False, ssl.CERT_NONE
    line = b""
    with suppress(OSError, TimeoutError, ValueError, asyncio.IncompleteReadError):
        async with asyncio.timeout(visit.limits.request):
            reader, writer = await asyncio.open_connection(url.host, url.port, ssl=tls, limit=_MAX_HEAD_BYTES)
            try:
                writer.write("\r\n".join(lines).encode("latin-1", "replace") + body)
                line = await reader.readline()
            finally:
                writer.close()
    words = line.split(b" ", 2)
    if len(words) < 2 or not words[0].startswith(b"HTTP/") or not words[1].isdigit():
        return n, 0, 0
    status = int(words[1][:3])
    return n, status, visit.journal.record_http(channel, Dir.RECV, status=status, headers=[], conn=conn)


def _arguments(tool: dict[str, Any], header_params: Sequence[HeaderParam]) -> Any:
    """Arguments for a tool, including its header parameters."""
    arguments = sample(tool.get("inputSchema"))
    for _, path in header_params:
        schema: Any = tool.get("inputSchema")
        for step in path:
            schema = value_at(schema, "properties", step)
        arguments = _with(arguments, path, sample(schema))
    return arguments


def _with(arguments: Any, path: tuple[str, ...], value: Any) -> Any:
    """Arguments with a value at a path, unless it has one."""
    given = object_at(arguments)
    if len(path) == 1:
        return {path[0]: value, **given}
    return {**given, path[0]: _with(given.get(path[0]), path[1:], value)}


def _without(arguments: Any, path: tuple[str, ...]) -> Any:
    """Arguments without the one at a path."""
    if type(arguments) is not dict:
        return arguments
    if len(path) == 1:
        return {key: value for key, value in arguments.items() if key != path[0]}
    return {key: _without(value, path[1:]) if key == path[0] else value for key, value in arguments.items()}


def _concerns(id: str, frame: Frame) -> bool:
    """Whether a message is the response to a request or its progress."""
    if type(frame.message) is not dict:
        return False
    params = frame.message.get("params")
    return frame.message.get("id") == id or (type(params) is dict and params.get("progressToken") == id)
