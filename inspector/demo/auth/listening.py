"""The endpoint of the authorization servers."""

from __future__ import annotations

from urllib.parse import urlsplit

from inspector.demo.auth.http_values import MAX_FORM, HttpReply, Request, send
from inspector.demo.auth.issuer import IssuerSettings
from inspector.demo.auth.token_check import TokenCheck
from inspector.serving.base import RequestHead
from inspector.serving.http import Binding, HttpListener, refusal
from inspector.serving.http_connection import ConnectionLimits, RequestRefusal, ServedRequest, ServedResponse


class AuthServer(HttpListener):
    """All authorization servers of one MCP server."""

    def __init__(self, settings: IssuerSettings, server_url: str) -> None:
        binding = Binding("", limits=ConnectionLimits(body=MAX_FORM))
        super().__init__(str(urlsplit(server_url).hostname), settings.port, binding)
        self.gate: TokenCheck

    def screen(self, head: RequestHead) -> RequestRefusal | None:
        """Refuse a web page that binds its own name to this machine, or sends a form to it. Links may lead here."""
        return refusal(403, "Only this machine is served.") if self._guard.refusal(head, pages=True) else None

    def answer(self, request: ServedRequest, response: ServedResponse) -> None:
        """Serve every method; the path determines which are served."""
        if request.complete:
            reply = self.gate.ask(Request(request.head, request.body))
            nothing = HttpReply(404, {"Content-Type": "text/plain"}, b"There is nothing here")
            self.own(send(response, reply or nothing))


async def open_gate(settings: IssuerSettings, server_url: str) -> tuple[TokenCheck, AuthServer | None]:
    """Open the gate of an MCP server and start its authorization servers. Raises UsageError if they cannot listen."""
    if settings.layout in ("same-origin", "defaults"):
        return TokenCheck(settings, server_url, server_url), None
    server = AuthServer(settings, server_url)
    await server.start()
    server.gate = TokenCheck(settings, server_url, server.url)
    return server.gate, server
