"""A protected server on fastmcp: `auth_fastmcp.py PORT`, or `auth_fastmcp.py PORT ISSUER` with its proxy to another server.

Without ISSUER the authorization server is fastmcp's own one, in memory. With it, fastmcp registers clients and issues tokens
itself, and has people logged in at ISSUER, where it has one client. Ours are: a gate of fastmcp's own for the tool `write`,
which wants a second scope; and `/control/…`, which plays what time and an administrator do.
"""

import json
import sys
import time
import urllib.request

from fastmcp import FastMCP
from fastmcp.server.auth.auth import ClientRegistrationOptions, RevocationOptions
from fastmcp.server.auth.middleware import RequireAuthMiddleware
from fastmcp.server.auth.oauth_proxy import OAuthProxy
from fastmcp.server.auth.providers import in_memory
from fastmcp.server.auth.providers.introspection import IntrospectionTokenVerifier
from key_value.aio.stores.memory import MemoryStore
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

port = int(sys.argv[1])
HERE = f"http://127.0.0.1:{port}"
SCOPES = ["read", "write"]


def own() -> in_memory.InMemoryOAuthProvider:
    """fastmcp's authorization server."""
    return in_memory.InMemoryOAuthProvider(
        base_url=HERE,
        required_scopes=["read"],
        client_registration_options=ClientRegistrationOptions(enabled=True, valid_scopes=SCOPES),
        revocation_options=RevocationOptions(enabled=True),
    )


def proxy(issuer: str) -> OAuthProxy:
    """fastmcp's proxy to the authorization server `issuer`."""
    client = {"client_id": "fastmcp", "client_secret": "the-secret-of-fastmcp"}
    about = json.load(urllib.request.urlopen(f"{issuer}/.well-known/openid-configuration", timeout=20))
    return OAuthProxy(
        upstream_authorization_endpoint=about["authorization_endpoint"],
        upstream_token_endpoint=about["token_endpoint"],
        upstream_revocation_endpoint=about["revocation_endpoint"],
        upstream_client_id=client["client_id"],
        upstream_client_secret=client["client_secret"],
        token_verifier=IntrospectionTokenVerifier(
            introspection_url=about["introspection_endpoint"], required_scopes=["read"], **client
        ),
        base_url=HERE,
        valid_scopes=[*SCOPES, "offline_access"],
        extra_authorize_params={"prompt": "consent"},
        client_storage=MemoryStore(),
        jwt_signing_key="only for tests",
    )


async def control(request: Request) -> Response:
    """`expire` the tokens that are there; `revoke` them; `forget` everything, as a restart."""
    what = request.path_params["what"]
    if what == "expire":
        for token in provider.access_tokens.values():
            token.expires_at = 1
    elif what == "revoke":
        for token in [*provider.access_tokens.values(), *provider.refresh_tokens.values()]:
            await provider.revoke_token(token)
    elif what == "forget":
        for table in (provider.access_tokens, provider.refresh_tokens, provider.clients):
            table.clear()
    good = sum(token.expires_at > time.time() for token in provider.access_tokens.values())
    return JSONResponse({"access": good, "refresh": len(provider.refresh_tokens), "clients": len(provider.clients)})


class Gate:
    """fastmcp's gate; for the tool `write` a second one that wants its scope, too."""

    def __init__(self, gate: RequireAuthMiddleware) -> None:
        self.gate = gate
        self.second = RequireAuthMiddleware(gate.app, SCOPES, gate.resource_metadata_url)

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


provider = proxy(sys.argv[2]) if len(sys.argv) > 2 else own()
server = FastMCP("protected", auth=provider)


@server.tool
def read() -> str:
    """Reads"""
    return "it was read"


@server.tool
def write() -> str:
    """Writes"""
    return "it was written"


def main() -> None:
    """Serve."""
    import uvicorn

    app = server.http_app(path="/mcp")
    for route in app.routes:
        if isinstance(gate := getattr(route, "app", None), RequireAuthMiddleware):
            route.app = Gate(gate)
    app.router.routes.append(Route("/control/{what}", control))
    uvicorn.run(app, host="127.0.0.1", port=port, log_level="warning")


if __name__ == "__main__":
    main()
