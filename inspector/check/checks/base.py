"""Messages: JSON-RPC, errors, metadata, schemas. The base of the protocol."""

from __future__ import annotations

from inspector.check.catalog import active, passive
from inspector.check.outcome import Outcome, bad, doubtful, good, skipped
from inspector.check.visit import Visit
from inspector.protocol.jsonrpc import INVALID_PARAMS, METHOD_NOT_FOUND

_GROUP = "base-protocol"
_PAGE = "basic"

passive(
    "BASE-01", "must", "r1+", "message",
    says="Every message is one JSON-RPC 2.0 object, and every reader reads the same in it.",
    fix="Write messages with a JSON library and put \"jsonrpc\": \"2.0\" into each.",
    page=_PAGE, group=_GROUP,
)  # fmt: skip
passive(
    "BASE-03", "must", "r1+", "answer",
    says="An answer has a result or an error, and not both.",
    fix="Leave the other one out, also where it would be null.",
    page=_PAGE, group=_GROUP,
)  # fmt: skip


@active(
    "BASE-06", "must", "r1+", page="basic", group=_GROUP,
    says="A method that does not exist is answered with error -32601.",
    fix="Answer requests with an unknown method with error -32601 (Method not found); in the modern era over HTTP with "
    "status 404.",
)  # fmt: skip
async def unknown_method(visit: Visit) -> Outcome:
    """A method that no server has."""
    asked = await visit.ask("inspector/no-such-method", {})
    if not asked.answered:
        return bad(f"There was no answer to an unknown method: {asked.shown}.", *asked.events)
    if asked.code != METHOD_NOT_FOUND:
        return bad(f"An unknown method was answered with {asked.shown}.", *asked.events)
    if visit.modern and visit.visited.transport == "http" and asked.status != 404:
        return bad(f"The error came with status {asked.status}, not 404.", *asked.events)
    return good("", *asked.events)


@active(
    "BASE-09", "should", "r1+", page="basic", group=_GROUP, apart=True,
    says="Parameters of the wrong type are answered with error -32602.",
    fix="Check that params is an object before you look into it, and answer -32602 (Invalid params) where it is not.",
)  # fmt: skip
async def params_of_the_wrong_type(visit: Visit) -> Outcome:
    """`tools/call` with an array in the place of an object."""
    async with visit.link() as link:
        asked = await link.exchange({"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": []})
    if not asked.answered:
        return bad(f"Parameters of the wrong type got no answer: {asked.shown}.", *asked.events)
    if asked.ok:
        return bad(f"Parameters of the wrong type were answered with {asked.shown}.", *asked.events)
    if asked.code == METHOD_NOT_FOUND and not visit.can("tools"):
        return skipped("the server has no tools")
    if asked.code != INVALID_PARAMS:
        return doubtful(f"Parameters of the wrong type were answered with {asked.shown}.", *asked.events)
    return good("", *asked.events)
