"""HTTP+SSE, the transport of 2024-11-05: one stream for all responses, and an endpoint URI for POST."""

from __future__ import annotations

from urllib.parse import parse_qsl

from inspector.addresses import is_loopback
from inspector.check.check_table import CheckTable, Need
from inspector.check.outcome import Outcome, bad, doubtful, good, remark, skipped
from inspector.check.visit.http import ACCEPT, JSON
from inspector.check.visit.raw_connection import CLIENT
from inspector.check.visit.visit import Visit
from inspector.protocol import jsonrpc
from inspector.protocol.names import SESSION_FIELD
from inspector.protocol.revisions import LEGACY, REVISIONS
from inspector.transports.http_url import parse_url

_STREAM = ("Accept", "text/event-stream")
_EVIL = "http://evil.example"
_MIN_LENGTH = 16
"""Characters of an id that cannot be guessed: 64 bits in hexadecimal."""

CHECKS = CheckTable("transport_http_sse", needs=Need.NOTHING)


@CHECKS.active("SSE-04", apart=True, once=True)
async def hostile_origin(visit: Visit) -> Outcome:
    """The stream, requested with a foreign origin."""
    fields = (_STREAM, ("Origin", _EVIL), *await visit.token_fields())
    answer = await visit.web.send("GET", fields=fields, until=0)
    if not answer.status:
        return skipped(f"the request got {answer.brief}")
    if answer.refused:
        return good(answer.brief, *answer.events)
    make = bad if is_loopback(visit.web.url.host) else doubtful
    return make(f"The stream was opened for {_EVIL}, with {answer.brief}.", *answer.events)


@CHECKS.active("SSE-05", apart=True, once=True)
async def unknown_address(visit: Visit) -> Outcome:
    """The endpoint URI of a stream with another id in it."""
    async with visit.new_connection() as connection:
        real = connection.transport.requester.url
        path, _, query = real.target.partition("?")
        ids = [value for _, value in parse_qsl(query)] or [path.rpartition("/")[2]]
        id = max(ids, key=len)
        if not id or id not in real.text:
            return skipped("the endpoint URI has no id")
        head, _, tail = real.text.rpartition(id)
        message = {"jsonrpc": "2.0", "id": "inspector-check", "method": "ping"}
        answer = await visit.web.send(
            url=f"{head}{_other(id)}{tail}",
            fields=(JSON, ACCEPT, *await visit.token_fields()),
            body=jsonrpc.encode(message),
            message=message,
        )
    if not answer.status:
        return bad(f"A POST to an unknown endpoint URI got {answer.brief}.", *answer.events)
    if not answer.refused:
        return bad(f"A POST to an unknown endpoint URI got {answer.brief}.", *answer.events)
    if len(id) < _MIN_LENGTH:
        return bad(f"The id in the endpoint URI has {len(id)} characters: it can be guessed.", *answer.events)
    return good(answer.brief, *answer.events)


@CHECKS.active("SSE-06", apart=True, once=True)
async def successor(visit: Visit) -> Outcome:
    """An initialize at /mcp of the same origin."""
    url = parse_url(f"{visit.web.url.origin}/mcp")
    message = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "initialize",
        "params": {"protocolVersion": LEGACY[-1], "capabilities": {}, "clientInfo": CLIENT},
    }
    token = await visit.token_fields()
    fields = (JSON, ACCEPT, *token)
    answer = await visit.web.send(url=url.text, fields=fields, body=jsonrpc.encode(message), message=message)
    session = answer.header(SESSION_FIELD)
    if session:
        visit.journal.redactor.add(session)
        await visit.web.send("DELETE", url=url.text, fields=(ACCEPT, (SESSION_FIELD, session), *token))
    result = answer.message.get("result")
    if type(result) is dict and result.get("protocolVersion") in REVISIONS:
        return good(f"Streamable HTTP is available at {url.text}", *answer.events)
    return remark("HTTP+SSE is deprecated, and Streamable HTTP was not found at /mcp.", *answer.events)


def _other(id: str) -> str:
    """A different id of the same form."""
    turned = id.translate(str.maketrans("0123456789abcdefABCDEF", "1032547698badcfeBADCFE"))
    return turned if turned != id else id[::-1] + "0"
