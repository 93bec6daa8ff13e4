"""A protected server on any version of the official Python SDK that has `mcp.server.auth`: `auth_python_sdk.py PORT`.

Authorization server and MCP server in one, as the SDK builds them: its routes, its handlers, its challenges. Ours are the
store of tokens that it wants from its user, a page to log in at, and what is beside the point for it: the tool `write`
wants a second scope, by a gate of the SDK's own; and `/control/…` plays what time and an administrator do.
"""

import importlib
import json
import secrets
import sys
import time
import warnings

import uvicorn
from mcp.server.auth.middleware.bearer_auth import RequireAuthMiddleware
from mcp.server.auth.provider import AccessToken, AuthorizationCode, RefreshToken, construct_redirect_uri
from mcp.server.auth.settings import AuthSettings, ClientRegistrationOptions, RevocationOptions
from mcp.shared.auth import OAuthToken
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response
from starlette.routing import Route

port = int(sys.argv[1])
HERE = f"http://127.0.0.1:{port}"
LIFETIME = 3600
NEWER = "resource_server_url" in AuthSettings.model_fields
"""Whether the version has protected resource metadata, and thus tokens for one resource."""


class Tokens:
    """A provider in the sense of the SDK: everything in memory."""

    def __init__(self):
        self.forget()

    def forget(self):
        self.clients, self.waiting, self.codes, self.access, self.refresh = {}, {}, {}, {}, {}

    async def get_client(self, client_id):
        return self.clients.get(client_id)

    async def register_client(self, client_info):
        self.clients[client_info.client_id] = client_info

    async def authorize(self, client, params):
        number = secrets.token_urlsafe(16)
        self.waiting[number] = (client, params)
        return f"{HERE}/login?number={number}"

    def logged_in(self, number):
        client, params = self.waiting.pop(number)
        word = secrets.token_urlsafe(32)
        more = {"resource": params.resource} if NEWER else {}
        self.codes[word] = AuthorizationCode(
            code=word,
            scopes=params.scopes or (client.scope or "").split(),
            expires_at=time.time() + 60,
            client_id=client.client_id,
            code_challenge=params.code_challenge,
            redirect_uri=params.redirect_uri,
            redirect_uri_provided_explicitly=params.redirect_uri_provided_explicitly,
            **more,
        )
        return construct_redirect_uri(str(params.redirect_uri), code=word, state=params.state)

    async def load_authorization_code(self, client, authorization_code):
        return self.codes.get(authorization_code)

    async def exchange_authorization_code(self, client, authorization_code):
        del self.codes[authorization_code.code]
        return self._issued(authorization_code, authorization_code.scopes)

    async def load_refresh_token(self, client, refresh_token):
        return self.refresh.get(refresh_token)

    async def exchange_refresh_token(self, client, refresh_token, scopes):
        del self.refresh[refresh_token.token]
        return self._issued(refresh_token, scopes)

    def _issued(self, source, scopes):
        token, renewal = secrets.token_urlsafe(32), secrets.token_urlsafe(32)
        common = {"client_id": source.client_id, "scopes": scopes}
        if NEWER:
            common["resource"] = getattr(source, "resource", None)
        self.access[token] = AccessToken(token=token, expires_at=int(time.time()) + LIFETIME, **common)
        self.refresh[renewal] = RefreshToken(
            **{name: value for name, value in common.items() if name in RefreshToken.model_fields}, token=renewal
        )
        return OAuthToken(access_token=token, expires_in=LIFETIME, scope=" ".join(scopes), refresh_token=renewal)

    async def load_access_token(self, token):
        return self.access.get(token)

    async def revoke_token(self, token):
        self.access.pop(token.token, None)
        self.refresh.pop(token.token, None)


tokens = Tokens()


async def login(request: Request) -> Response:
    """The page to log in at."""
    if request.method == "GET":
        number = request.query_params["number"]
        return HTMLResponse(
            f'<form method="post"><input type="hidden" name="number" value="{number}">'
            '<input name="user"><input type="password" name="password"><button>Log in</button></form>'
        )
    form = await request.form()
    return RedirectResponse(tokens.logged_in(form["number"]), 302)


async def control(request: Request) -> Response:
    """`expire` the tokens that are there; `revoke` them; `forget` everything, as a restart."""
    what = request.path_params["what"]
    if what == "expire":
        for token in tokens.access.values():
            token.expires_at = 1
    elif what == "revoke":
        for token in [*tokens.access.values(), *tokens.refresh.values()]:
            await tokens.revoke_token(token)
    elif what == "forget":
        tokens.forget()
    good = sum(token.expires_at > time.time() for token in tokens.access.values())
    return JSONResponse({"access": good, "refresh": len(tokens.refresh), "clients": len(tokens.clients)})


class Gate:
    """The SDK's gate; for the tool `write` a second one that wants its scope, too."""

    def __init__(self, gate: RequireAuthMiddleware) -> None:
        self.gate = gate
        about = [gate.resource_metadata_url] if NEWER else []
        self.second = RequireAuthMiddleware(gate.app, ["read", "write"], *about)

    async def __call__(self, scope, receive, send):
        messages = []
        body = b""
        while scope["method"] == "POST" and (not messages or messages[-1].get("more_body")):
            messages.append(await receive())
            body += messages[-1].get("body", b"")
        called = json.loads(body or b"null")
        params = called.get("params") if isinstance(called, dict) else None
        writes = isinstance(params, dict) and params.get("name") == "write"

        async def again():
            return messages.pop(0) if messages else await receive()

        await (self.second if writes else self.gate)(scope, again, send)


def main() -> None:
    """Serve."""
    about = {
        "issuer_url": HERE,
        "required_scopes": ["read"],
        "client_registration_options": ClientRegistrationOptions(
            enabled=True, valid_scopes=["read", "write"], default_scopes=["read"]
        ),
        "revocation_options": RevocationOptions(enabled=True),
    }
    if NEWER:
        about["resource_server_url"] = f"{HERE}/mcp"
    if "validate_token_resource" in AuthSettings.model_fields:
        about["validate_token_resource"] = True
    warnings.simplefilter("ignore")
    settings = AuthSettings(**about)
    try:
        # Without sessions: where one ends at a bad moment, 1.9 is good for nothing any more.
        server_class, more = importlib.import_module("mcp.server.fastmcp").FastMCP, {"stateless_http": True}
    except ImportError:
        server_class, more = importlib.import_module("mcp.server").MCPServer, {}
    server = server_class("protected", auth_server_provider=tokens, auth=settings, **more)

    @server.tool()
    def read() -> str:
        """Reads"""
        return "it was read"

    @server.tool()
    def write() -> str:
        """Writes"""
        return "it was written"

    app = server.streamable_http_app()
    for route in app.routes:
        if isinstance(gate := getattr(route, "app", None), RequireAuthMiddleware):
            route.app = Gate(gate)
    app.router.routes += [
        Route("/login", login, methods=["GET", "POST"]),
        Route("/control/{what}", control),
    ]
    uvicorn.run(app, host="127.0.0.1", port=port, log_level="warning")


if __name__ == "__main__":
    main()
