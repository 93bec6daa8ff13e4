"""The doctor reads the server card of a host whose usual paths have no server."""

from __future__ import annotations

from typing import Any

from inspector.config.targets import HttpTarget
from tests.doctor.conftest import Examine, examine, serve
from tests.transports.scripted_http import Reply, Request

__all__ = ["examine", "serve"]


async def test_the_card_of_the_host_names_the_url(serve: Any, examine: Examine) -> None:
    """C-CARD-06, C-CARD-08: the card is fetched without the headers of the user, and its URL is only named."""
    other = "https://mcp.shop.example/v2"

    def handler(request: Request, reply: Reply) -> None:
        if request.target == "/.well-known/ai-catalog.json":
            card = {"name": "example.shop/mcp", "remotes": [{"type": "streamable-http", "url": other}]}
            kind = "application/mcp-server-card+json"
            entries = [
                {"identifier": "x", "type": kind, "url": "http://127.0.0.2:1/card"},
                {"identifier": "y", "type": kind, "data": card},
            ]
            reply.json({"specVersion": "1.0", "entries": entries})
        else:
            reply.body(404, "nothing here")

    web = await serve(handler)
    diagnosis = await examine(HttpTarget(web.url, headers=(("Authorization", "Bearer secret"),)))
    assert (
        diagnosis.cause
        == f"The path is wrong: /mcp is not an MCP server, and the server card of the host names {other}."
    )
    assert diagnosis.fix.command == f"inspector doctor {other}"
    (asked,) = (request for request in web.requests if request.target == "/.well-known/ai-catalog.json")
    assert "authorization" not in {name.lower() for name, _ in asked.fields}
