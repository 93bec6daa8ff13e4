"""Streamable HTTP of the legacy era: sessions, GET streams, resumption."""

from __future__ import annotations

import asyncio
import math
from collections.abc import AsyncIterator
from functools import partial
from typing import Any

from inspector.check.check_table import CheckTable
from inspector.check.outcome import Outcome, bad, doubtful, expect, good, remark, skipped
from inspector.check.visit.facts import OnceInAVisit
from inspector.check.visit.http import RecordedResponse
from inspector.check.visit.raw_connection import status_of
from inspector.check.visit.raw_post import RawPost, raw_post
from inspector.check.visit.visit import Visit
from inspector.journal.journal import Frame
from inspector.protocol import jsonrpc
from inspector.protocol.jsonrpc import Shape, shape_of
from inspector.protocol.names import SESSION_FIELD, VERSION_FIELD
from inspector.protocol.sample_values import sample
from inspector.text import quantity

_NO_SESSION = "00000000-0000-4000-8000-000000000000"
_HANDSHAKES = 3
_BITS = 60
"""The number of differing bits below which a session id can be guessed."""
_STREAM = "text/event-stream"
_STATELESS = "the server gives no session ids"
_ANSWERS: dict[str, dict[str, Any]] = {
    "roots/list": {"result": {"roots": []}},
    "elicitation/create": {"result": {"action": "decline"}},
    "sampling/createMessage": {"error": {"code": -1, "message": "The user declined."}},
    "ping": {"result": {}},
}
"""The responses of a client that rejects requests of the server."""

CHECKS = CheckTable("transport_http_legacy")


@CHECKS.active("HTTP-30", apart=True)
async def strong_ids(visit: Visit) -> Outcome:
    """Three sessions."""
    ids, events = await _ids(visit)
    if not ids:
        return skipped(_STATELESS)
    if len(set(ids)) < len(ids):
        return bad("Two sessions have the same id.", *events)
    varying = _varying(ids)
    bits = min(map(_bits, varying))
    numbers = [_number(part) for part in varying]
    if all(number is not None for number in numbers) and len(varying[0]) < 16:
        return bad(f"Only {len(varying[0])} digits of three session ids differ: they are a counter.", *events)
    if bits < _BITS:
        return bad(f"Only about {bits:.0f} bits of the session ids differ.", *events)
    return good(f"{len(ids[0])} characters, of which about {bits:.0f} bits differ", *events)


@CHECKS.active("HTTP-31", apart=True)
async def visible_ids(visit: Visit) -> Outcome:
    """The ids of three sessions."""
    ids, events = await _ids(visit)
    if not ids:
        return skipped(_STATELESS)
    odd = [char for id in ids for char in id if not "!" <= char <= "~"]
    return bad(f"A session id has the character {odd[0]!r}.", *events) if odd else good("", *events)


@CHECKS.active("HTTP-32", apart=True)
async def no_session_id(visit: Visit) -> Outcome:
    """A request without the session id."""
    async with raw_post(visit) as post:
        if not post.session:
            return skipped(_STATELESS)
        answer = await post.request(post.harmless(), without=SESSION_FIELD)
    if answer.status == 400:
        return good(answer.brief, *answer.events)
    if not answer.status:
        return bad(f"A request without the session id got {answer.brief}.", *answer.events)
    if answer.refused:
        return doubtful(f"A request without the session id was rejected with {answer.brief}, not 400.", *answer.events)
    return remark("A request without the session id was served.", *answer.events)


@CHECKS.active("HTTP-33", apart=True)
async def ended_session(visit: Visit) -> Outcome:
    """DELETE, then a request in the same session."""
    async with raw_post(visit) as post:
        if not post.session:
            return skipped(_STATELESS)
        ended = await post.delete()
        if not 200 <= ended.status < 300:
            return skipped(f"DELETE got {ended.brief}")
        answer = await post.request(post.harmless())
        post.session = ""
    if answer.status == 404:
        return good("", *ended.events, *answer.events)
    return bad(f"After DELETE a request got {answer.brief}.", *ended.events, *answer.events)


@CHECKS.active("HTTP-34", apart=True)
async def unknown_session(visit: Visit) -> Outcome:
    """A generated id."""
    async with raw_post(visit) as post:
        if not post.session:
            return skipped(_STATELESS)
        answer = await post.request(post.harmless(), more=((SESSION_FIELD, _NO_SESSION),))
    if answer.status == 404:
        return good("", *answer.events)
    make = doubtful if answer.refused else bad
    return make(f"A request with an unknown session id got {answer.brief}.", *answer.events)


@CHECKS.active("HTTP-35", apart=True)
async def delete(visit: Visit) -> Outcome:
    """DELETE of a new session."""
    async with raw_post(visit) as post:
        if not post.session:
            return skipped(_STATELESS)
        answer = await post.delete()
        if 200 <= answer.status < 300:
            post.session = ""
    if answer.status == 405 or 200 <= answer.status < 300:
        return good(answer.brief, *answer.events)
    return bad(f"DELETE got {answer.brief}.", *answer.events)


@CHECKS.active("HTTP-36", apart=True)
async def get(visit: Visit) -> Outcome:
    """GET in a session."""
    async with raw_post(visit) as post:
        answer = await post.listen(until=0)
    if answer.status == 405 or (answer.status == 200 and answer.media_type == _STREAM):
        return good(answer.brief, *answer.events)
    kind = f" and {answer.media_type or 'no Content-Type'}" if answer.status == 200 else ""
    return bad(f"GET got {answer.brief}{kind}.", *answer.events)


@CHECKS.active("HTTP-38", apart=True, once=True)
async def one_stream(visit: Visit) -> Outcome:
    """Two GET streams at the same time, and requests that may cause messages of the server."""
    seconds = visit.limits.quiet * 2
    async with raw_post(visit) as post:
        listening = [asyncio.create_task(post.listen(timeout=seconds, until=1 << 20)) for _ in range(2)]
        try:
            await asyncio.sleep(0)
            if visit.can("logging"):
                await post.request("logging/setLevel", {"level": "debug"})
            answer = await post.request(post.harmless())
            streams = await asyncio.gather(*listening)
        finally:
            for task in listening:
                task.cancel()
    open_ones = [stream for stream in (*streams, answer) if stream.status == 200 and stream.media_type == _STREAM]
    bodies = [[jsonrpc.encode(message) for message in stream.messages] for stream in open_ones]
    twice = [
        text for n, texts in enumerate(bodies) for text in texts if any(text in other for other in bodies[n + 1 :])
    ]
    events = [n for stream in streams for n in stream.events]
    if twice:
        return bad(f"Two streams brought {jsonrpc.excerpt(jsonrpc.parse(twice[0]), 100)}.", *events)
    if not any(stream.messages for stream in streams if stream in open_ones):
        return skipped("no message came on a GET stream")
    return good("", *events)


@CHECKS.active("HTTP-40", apart=True, once=True)
async def resumption(visit: Visit) -> Outcome:
    """Two requests; the stream of the first is resumed after its first event."""
    async with raw_post(visit) as post:
        first = await post.request(post.harmless())
        second = await post.request(post.harmless())
        after = next((event.id for event in first.stream if event.id), "")
        if not after:
            return skipped("no event of a stream has an id")
        again = await post.listen(after, timeout=visit.limits.quiet * 2, until=2)
    events = (*first.events, *second.events, *again.events)
    if again.refused or not again.status:
        return skipped(f"a stream was not resumed: {again.brief}")
    others = second.message.get("id")
    if any(message.get("id") == others for message in again.messages if type(message) is dict):
        return bad("The response of another stream was replayed.", *events)
    if any(event.id == after and event.data for event in again.stream):
        return bad("The event in Last-Event-ID was replayed.", *events)
    if not again.stream:
        return good("no events followed", *events)
    return good(f"{quantity(len(again.stream), 'event')} followed", *events)


@CHECKS.active("HTTP-42", mode="tool", apart=True)
async def early_close(visit: Visit) -> Outcome:
    """The allowed tools, until one closes its stream early."""
    async with raw_post(visit) as post:
        async for answer in _calls(visit, post):
            last = _last_id(answer)
            if answer.message or not answer.whole or not last:
                continue
            if all(event.retry is None for event in answer.stream):
                return bad("A stream was closed before its response, without retry.", *answer.events)
            again = await _resumed(visit, post, last)
            events = (*answer.events, *again.events)
            return good("", *events) if again.message else bad(f"The response did not follow: {again.brief}.", *events)
    return skipped("no allowed tool closes its stream early")


@CHECKS.active("HTTP-43", apart=True)
async def unknown_version_field(visit: Visit) -> Outcome:
    """A request with a revision of 1999."""
    async with raw_post(visit) as post:
        answer = await post.request(post.harmless(), more=((VERSION_FIELD, "1999-01-01"),))
    return expect(answer, answer.status == 400, f"A request of revision 1999-01-01 got {answer.brief}.")


@CHECKS.active("HTTP-44", apart=True)
async def no_version_field(visit: Visit) -> Outcome:
    """A request without the header."""
    async with raw_post(visit) as post:
        answer = await post.request(post.harmless(), without=VERSION_FIELD)
    return expect(answer, "result" in answer.message, f"A request without MCP-Protocol-Version got {answer.brief}.")


@CHECKS.active("HTTP-45", mode="tool", apart=True)
async def broken_stream(visit: Visit) -> Outcome:
    """The allowed tools: the stream is closed after its first event and resumed."""
    async with raw_post(visit) as post:
        async for answer in _calls(visit, post, limit=1):
            # Further events can come with the first in one read: the stream is resumed after the first all the same.
            first = answer.stream[0] if answer.stream else None
            if first is None or answer.whole or not first.id or (first.data and _is_response(answer.messages)):
                continue
            again = await post.listen(first.id, timeout=visit.limits.request, limit=1)
            events = (*answer.events, *again.events)
            if again.messages:
                return good("", *events)
            if again.refused:
                return skipped(f"a stream was not resumed: {again.brief}")
            if again.whole:
                return bad("After its stream was closed a call did not continue.", *events)
    return skipped("no allowed tool has a stream that can be resumed")


@CHECKS.active("HTTP-46", apart=True, once=True)
async def leaked_session(visit: Visit) -> Outcome:
    """A request before initialize."""
    post = RawPost(visit)
    answer = await post.request("tools/list")
    await post.end()
    leaked = answer.header(SESSION_FIELD)
    if not answer.refused:
        return skipped(f"the request got {answer.brief}")
    if leaked is None:
        return good(answer.brief, *answer.events)
    return bad(f"A request that was rejected with {answer.brief} got a session id.", *answer.events)


@CHECKS.active("HTTP-47", mode="auth", apart=True)
async def session_without_token(visit: Visit) -> Outcome:
    """A request with a session id, but without the token."""
    async with raw_post(visit) as post:
        if not post.session:
            return skipped(_STATELESS)
        known = {name.lower() for name, _ in visit.web.target.headers}
        if "authorization" not in known and not await visit.token_fields():
            return skipped("the server requires no token")
        answer = await post.request(post.harmless(), own=False)
    if answer.status == 401:
        return good("", *answer.events)
    if not answer.status:
        return skipped(f"the request got {answer.brief}")
    make = doubtful if answer.refused else bad
    return make(f"A session id without a token got {answer.brief}.", *answer.events)


@CHECKS.active("HTTP-48", mode="tool", apart=True)
async def answered_questions(visit: Visit) -> Outcome:
    """The allowed tools, until one sends a request; it is rejected."""
    able: dict[str, Any] = {"sampling": {}, "elicitation": {}, "roots": {}}
    async with visit.new_connection(capabilities=able) as connection:
        for n, tool in enumerate(visit.callable()[: visit.limits.items]):
            id = f"asks-{n}"
            begun = connection.begin(jsonrpc.request(id, "tools/call") | {"params": _call(tool)})
            frame = await connection.until(partial(_asks_or_answers, id))
            if frame is None or frame.shape is not Shape.REQUEST:
                connection.frames = []
                continue
            reply = _ANSWERS.get(frame.message["method"], {"error": {"code": -32601, "message": "Unknown method"}})
            sent = connection.send(jsonrpc.encode({"jsonrpc": "2.0", "id": frame.message["id"], **reply}))
            await connection.transport.settled()
            await connection.answer(begun)
            status = status_of(visit.journal, sent)
            if status == 202:
                return good("", begun.n, frame.n, sent)
            return bad(f"The response to {frame.message['method'][:80]} got status {status}, not 202.", frame.n, sent)
    return skipped("no allowed tool sends a request")


# Session ids


@OnceInAVisit
async def _ids(visit: Visit) -> tuple[list[str], tuple[int, ...]]:
    """The session ids of several initialize requests, and their events; made once in a visit."""
    ids: list[str] = []
    events: list[int] = []
    for _ in range(_HANDSHAKES):
        async with raw_post(visit) as post:
            events += post.opened.events
            ids += [post.session] if post.session else []
    return ids, tuple(events)


def _varying(ids: list[str]) -> list[str]:
    """The ids without their common prefix and suffix."""
    rest = [id[_common(ids) :] for id in ids]
    after = _common([text[::-1] for text in rest])
    return [text[: len(text) - after] for text in rest]


def _common(texts: list[str]) -> int:
    """The length of their common prefix."""
    return next((n for n, chars in enumerate(zip(*texts, strict=False)) if len(set(chars)) > 1), min(map(len, texts)))


def _bits(text: str) -> float:
    """The bits that a text can hold, from its length and the kinds of its characters."""
    kinds = ((str.isdigit, 10), (str.islower, 26), (str.isupper, 26))
    hexadecimal = all(char in "0123456789abcdefABCDEF-" for char in text)
    size = 16 if hexadecimal and not text.isdigit() else sum(n for is_it, n in kinds if any(map(is_it, text)))
    return len(text.replace("-", "")) * math.log2(max(size, 2))


def _number(text: str) -> int | None:
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 1000 else None


# Calls of tools


def _call(tool: dict[str, Any]) -> dict[str, Any]:
    return {"name": tool.get("name"), "arguments": sample(tool.get("inputSchema"))}


async def _calls(visit: Visit, post: RawPost, **how: Any) -> AsyncIterator[RecordedResponse]:
    """The responses to calls of the allowed tools, one after the other."""
    for n, tool in enumerate(visit.callable()[: visit.limits.items]):
        yield await post.request("tools/call", {**_call(tool), "_meta": {"progressToken": f"check-{n}"}}, **how)


def _is_response(messages: list[Any]) -> bool:
    """Whether the first message of a stream is the response."""
    return bool(messages) and shape_of(messages[0]) in (Shape.RESULT, Shape.ERROR)


def _last_id(answer: RecordedResponse) -> str:
    return next((event.id for event in reversed(answer.stream) if event.id), "")


async def _resumed(visit: Visit, post: RawPost, after: str) -> RecordedResponse:
    """The stream until the response."""
    return await post.listen(after, timeout=visit.limits.request)


def _asks_or_answers(id: str, frame: Frame) -> bool:
    """Whether a message is a request of the server, or a response."""
    answered = shape_of(frame.message) in (Shape.RESULT, Shape.ERROR) and frame.message.get("id") == id
    return frame.shape is Shape.REQUEST or answered
