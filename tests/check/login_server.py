"""An MCP server that requires a login, and its authorization server, with a possible fault in every part."""

import base64
import hashlib
import json
from urllib.parse import parse_qs, urlencode, urlsplit

from inspector.config.targets import HttpTarget
from tests.transports.scripted_http import Web

INFO = {"name": "site", "version": "1"}
TOKEN = "the-good-token"
FOREIGN = "the-token-of-another-server"
TOOL = {"name": "write", "inputSchema": {"type": "object"}}
PREFIX = "io.modelcontextprotocol/"


class Site:
    """`async with Site(**parts) as site`. Parts take the place of what is right: a value, or a function of the request
    that answers by itself and returns whether it did.
    """

    connect = None

    def __init__(
        self,
        *,
        challenge=...,
        resource=None,
        server=None,
        mcp=None,
        token=None,
        authorize=None,
        expires=3600,
        paths=True,
    ):
        self.challenge = challenge
        self.resource = {} if resource is None else resource
        self.server = {} if server is None else server
        self.mcp = mcp
        self.token = token
        self.authorize_by = authorize
        self.expires = expires
        self.paths = paths
        self.codes = {}
        self.refresh = 0
        self.sessions = set()

    async def __aenter__(self):
        self.web = await Web(self._serve).__aenter__()
        self.target = HttpTarget(self.web.url)
        self.origin = self.web.url.removesuffix("/mcp")
        return self

    async def __aexit__(self, *_):
        await self.web.__aexit__()

    def _serve(self, request, reply):
        url = urlsplit(request.target)
        if url.path == "/mcp":
            self._mcp(request, reply, url)
        elif url.path == "/.well-known/oauth-protected-resource/mcp":
            self._document(reply, self.resource, {
                "resource": self.web.url, "authorization_servers": [self.origin], "scopes_supported": ["read"],
            })  # fmt: skip
        elif url.path == "/.well-known/oauth-authorization-server":
            self._document(reply, self.server, {
                "issuer": self.origin, "authorization_endpoint": f"{self.origin}/authorize",
                "token_endpoint": f"{self.origin}/token", "registration_endpoint": f"{self.origin}/register",
                "response_types_supported": ["code"], "grant_types_supported": ["authorization_code", "refresh_token"],
                "code_challenge_methods_supported": ["S256"], "token_endpoint_auth_methods_supported": ["none"],
                "client_id_metadata_document_supported": True,
                "authorization_response_iss_parameter_supported": True,
            })  # fmt: skip
        elif not self.paths:
            reply.body(404)
        elif request.method == "GET" and url.path in ("/register", "/token"):
            reply.body(405)
        elif url.path == "/register":
            reply.json({"client_id": "c", **json.loads(request.body)}, 201)
        elif url.path == "/authorize":
            self._authorize(reply, {key: values[0] for key, values in parse_qs(url.query).items()})
        elif url.path == "/token":
            self._token(reply, {key: values[0] for key, values in parse_qs(request.body.decode()).items()})
        else:
            reply.body(404)

    @staticmethod
    def _document(reply, part, right):
        if part is False:
            reply.body(404)
        else:
            reply.json({key: value for key, value in (right | part).items() if value is not ...})

    def refuse(self, reply, status=401, **more):
        """The challenge that is right."""
        where = f"{self.origin}/.well-known/oauth-protected-resource/mcp"
        parts = {"resource_metadata": where, "scope": "read", **more}
        text = "Bearer " + ", ".join(f'{key}="{value}"' for key, value in parts.items())
        if self.challenge is not ...:
            text = self.challenge
        exposed = ("Access-Control-Expose-Headers", "WWW-Authenticate")
        fields = [("WWW-Authenticate", text)] if text else []
        reply.body(status, b"", *fields, *([] if self.challenge == "hidden" else [exposed]))

    def _mcp(self, request, reply, url):
        if self.mcp is not None and self.mcp(self, request, reply, url):
            return
        if request.field("authorization") != f"Bearer {TOKEN}":
            self.refuse(reply)
        elif request.method != "POST":
            reply.body(405)
        else:
            self.answer(request, reply)

    def answer(self, request, reply):
        """Serve any request."""
        method = request.rpc_method
        if method == "initialize":
            result = {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": INFO}
            reply.result(request, result, ("Mcp-Session-Id", "s-1"))
        elif method == "server/discover":
            reply.result(request, {
                "resultType": "complete", "supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}},
                "ttlMs": 0, "cacheScope": "private", "_meta": {f"{PREFIX}serverInfo": INFO},
            })  # fmt: skip
        elif method == "tools/list":
            reply.result(request, {"resultType": "complete", "tools": [TOOL], "ttlMs": 0, "cacheScope": "private"})
        elif method == "tools/call":
            self.refuse(reply, 403, error="insufficient_scope", scope="read write")
        elif method is not None and "id" in request.message:
            reply.json({"jsonrpc": "2.0", "id": request.id, "error": {"code": -32601, "message": "?"}})
        else:
            reply.body(202)

    def _authorize(self, reply, given):
        if self.authorize_by is not None and self.authorize_by(reply, given):
            return
        if not given.get("redirect_uri", "").startswith("http://127.0.0.1:"):
            reply.body(400)
            return
        code = f"the-code-of-the-site-{len(self.codes)}"
        self.codes[code] = given["code_challenge"]
        answer = urlencode({"code": code, "state": given["state"], "iss": self.origin})
        reply.body(302, b"", ("Location", f"{given['redirect_uri']}?{answer}"))

    def _token(self, reply, given):
        if self.token is not None and self.token(self, reply, given):
            return
        if given["grant_type"] == "refresh_token":
            self.grant(reply)
            return
        challenge = self.codes.pop(given["code"], None)
        hashed = base64.urlsafe_b64encode(hashlib.sha256(given["code_verifier"].encode()).digest()).rstrip(b"=")
        if challenge is None or challenge != hashed.decode():
            reply.json({"error": "invalid_grant"}, 400)
        else:
            self.grant(reply)

    def grant(self, reply):
        """A token, with a refresh token that is another one every time."""
        self.refresh += 1
        reply.json({
            "access_token": TOKEN, "token_type": "Bearer", "expires_in": self.expires,
            "refresh_token": f"refresh-{self.refresh}",
        })  # fmt: skip


class LoggedIn:
    """The header that authorizes the requests of a session: the good token."""

    person = None

    def opening(self, seconds):
        pass

    def credential(self, _target, _sink):
        return self

    async def fields(self, _method, _url):
        return (("Authorization", f"Bearer {TOKEN}"),)

    async def refused(self, _refusal, _sent):
        return False
