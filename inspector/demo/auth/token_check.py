"""The MCP server as a protected resource: the token check and its metadata (RFC 9728, RFC 6750)."""

from __future__ import annotations

import threading
from urllib.parse import urlsplit

from inspector.demo.auth.authority import Authority
from inspector.demo.auth.faults import MIGRATE, SCOPE_FOREVER, UNAUTHORIZED_FOREVER
from inspector.demo.auth.http_values import HttpReply, json_answer
from inspector.demo.auth.issuer import READ, WRITE
from inspector.demo.rpc import INVALID_REQUEST, RpcError, decode, encode, error

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from inspector.demo.auth.grants import Access
    from inspector.demo.auth.http_values import Request
    from inspector.demo.auth.issuer import IssuerSettings

WELL_KNOWN = "/.well-known/oauth-protected-resource"
# The resource of each path.
_GUARDED = {"/mcp": "/mcp", "/sse": "/sse", "/messages": "/sse"}
_WRITING = ("change-list", "touch-resource")
_OF_OLD = ("same-origin", "defaults")


class TokenCheck:
    """The token check of the MCP server. `issuers_url` is the URL of the authorization servers, maybe the same."""

    def __init__(self, settings: IssuerSettings, server_url: str, issuers_url: str) -> None:
        self._settings = settings
        self._port = urlsplit(server_url).port
        self._of_old = settings.layout in _OF_OLD
        path = "/tenant" if settings.layout in ("path", "oidc") else ""
        self.authorities = [Authority(settings, issuers_url + path, server_url)]
        if settings.layout == "several" or MIGRATE in settings.faults:
            self.authorities.append(Authority(settings, f"{issuers_url}/second", server_url))
        self._migrates = MIGRATE in settings.faults
        self._lock = threading.Lock()
        self._responsible = self.authorities[:1] if self._migrates else self.authorities

    def ask(self, request: Request) -> HttpReply | None:
        """Serves the requests to an authorization server."""
        answers = (authority.answer(request) for authority in self.authorities)
        return next((answer for answer in answers if answer is not None), None)

    def answer(self, request: Request) -> HttpReply | None:
        """Returns the response instead of the MCP server's; None if access is granted."""
        origin = request.origin(self._port)
        if self._of_old:
            answer = self.ask(request)
            if answer is not None:
                return answer
        elif request.path.startswith(WELL_KNOWN):
            return self._metadata(request, origin)
        resource = _GUARDED.get(request.path)
        return None if resource is None else self._check(request, origin, resource)

    def _metadata(self, request: Request, origin: str) -> HttpReply | None:
        path = request.path.removeprefix(WELL_KNOWN)
        if path not in ("", "/mcp", "/sse"):
            return None
        if request.method != "GET":
            return HttpReply(405, {"Allow": "GET"})
        document: dict[str, Any] = {
            "resource": origin + path,
            "authorization_servers": [authority.issuer for authority in self._responsible],
            "scopes_supported": [READ],  # the minimum; more is required when it is needed
            "bearer_methods_supported": ["header"],
            "resource_name": "Demo server",
        }
        answer = self._settings.faults.apply("prm", document, origin)
        return answer if isinstance(answer, HttpReply) else json_answer(200, answer)

    def _check(self, request: Request, origin: str, resource: str) -> HttpReply | None:
        header = request.head.field("Authorization")
        about = f'resource_metadata="{origin}{WELL_KNOWN}{resource}"'
        if header is None:
            return self._refuse(401, about, scope=READ)
        scheme, _, token = header.partition(" ")
        access = self._access(token.strip()) if scheme.lower() == "bearer" else None
        if access is None or UNAUTHORIZED_FOREVER in self._settings.faults:
            return self._refuse(401, about, "invalid_token", "The token is unknown, expired or revoked", READ)
        if urlsplit(access.grant.resource).path not in ("", "/", resource):
            return self._refuse(401, about, "invalid_token", f"The token is not for {resource}", READ)
        calls = list(_calls(request.body)) if request.method == "POST" else []
        if calls and self._moves():
            return self._refuse(401, about, "invalid_token", "Another authorization server is responsible now", READ)
        needed = WRITE if any(name in _WRITING for name in calls) else READ
        if needed not in access.scopes or (needed == WRITE and SCOPE_FOREVER in self._settings.faults):
            return self._refuse(403, about, "insufficient_scope", f"This requires the scope {needed}", needed)
        return None

    def _access(self, token: str) -> Access | None:
        candidates = (authority.access(token) for authority in self._responsible)
        return next((access for access in candidates if access is not None), None)

    def _moves(self) -> bool:
        """Whether another authorization server becomes responsible now."""
        with self._lock:
            moves = self._migrates and self._responsible == self.authorities[:1]
            if moves:
                self._responsible = self.authorities[1:]
            return moves

    def _refuse(self, status: int, about: str, code: str = "", words: str = "", scope: str = "") -> HttpReply:
        parts = [f'error="{code}"', f'error_description="{words}"'] if code else []
        parts += ['realm="demo"'] if self._of_old else [about]
        parts += [f'scope="{scope}"']
        value = self._settings.faults.apply("challenge", "Bearer " + ", ".join(parts), about)
        headers = {"Content-Type": "application/json", **({"WWW-Authenticate": value} if value else {})}
        body = encode(error(None, RpcError(INVALID_REQUEST, words or "Authorization is required")))
        return HttpReply(status, headers, body)


def _calls(body: bytes) -> Iterator[Any]:
    """Yields the names of the tools that a body calls; invalid messages are refused elsewhere."""
    try:
        message = decode(body)
    except RpcError:
        return
    for item in message if isinstance(message, list) else [message]:
        if isinstance(item, dict) and item.get("method") == "tools/call":
            params = item.get("params")
            yield params.get("name") if isinstance(params, dict) else None
