"""The demo's authorization without sockets: one MCP server and its authorization servers, and what a client does."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import parse_qs, parse_qsl, urlencode, urlsplit

from inspector.demo.auth.grants import challenge_of
from inspector.demo.auth.http_values import FORM, Request
from inspector.demo.auth.issuer import IssuerSettings
from inspector.demo.auth.token_check import TokenCheck
from inspector.serving.base import RequestHead

SERVER = "http://127.0.0.1:1001"
ISSUER = "http://127.0.0.1:1002"
MCP = f"{SERVER}/mcp"
CALLBACK = "http://127.0.0.1:5000/callback"
VERIFIER = "v" * 43
APP = {"client_id": "demo-app"}
SERVICE = {"client_id": "demo-service", "client_secret": "demo-service-secret"}


class Reply:
    """An answer that was read to its end, up to a limit."""

    def __init__(self, status: int, headers: dict[str, str], body: bytes) -> None:
        self.status = status
        self.headers = headers
        self.body = body

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def text(self) -> str:
        return self.body.decode()

    @property
    def back(self) -> list[tuple[str, str]]:
        """The parameters that the browser is sent away with."""
        assert self.status == 302, self.body
        return parse_qsl(urlsplit(self.headers["Location"]).query, keep_blank_values=True)


class Site:
    """A gate with its authorization servers, and a clock that stands still until it is moved."""

    def __init__(self, *faults: str, **settings: Any) -> None:
        self.time = 1_000_000.0
        settings.setdefault("auto", True)
        issuers = SERVER if settings.get("layout") in ("same-origin", "defaults") else ISSUER
        self.gate = TokenCheck(IssuerSettings(faults=faults, now=lambda: self.time, **settings), SERVER, issuers)

    def send(self, method: str, url: str, headers: dict[str, str] | None = None, body: bytes = b"") -> Reply:
        """One request; a let-through request to the MCP server is answered with 200."""
        parts = urlsplit(url)
        fields = [*{"Host": parts.netloc, **(headers or {})}.items()]
        target = parts.path + (f"?{parts.query}" if parts.query else "")
        request = Request(RequestHead(method, target, fields), body)
        if parts.port == urlsplit(SERVER).port:
            answer = self.gate.answer(request)
            if answer is None:
                return Reply(200, {}, b"let through")
        else:
            answer = self.gate.ask(request)
            if answer is None:
                return Reply(404, {}, b"")
        assert isinstance(answer.body, bytes)
        return Reply(answer.status, answer.headers, answer.body)

    def get(self, url: str, **asked: str) -> Reply:
        """A GET with these parameters."""
        return self.send("GET", f"{url}?{urlencode(asked)}" if asked else url)

    def post(self, url: str, form: dict[str, str], **headers: str) -> Reply:
        """A POST of a form."""
        return self.send("POST", url, {"Content-Type": FORM, **headers}, urlencode(form).encode())

    def register(self, issuer: str = ISSUER, **metadata: Any) -> Reply:
        """A registration of a native app, unless the metadata say otherwise."""
        asked = {
            "client_name": "Tests",
            "redirect_uris": [CALLBACK],
            "grant_types": ["authorization_code", "refresh_token"],
            "token_endpoint_auth_method": "none",
            "application_type": "native",
            **metadata,
        }
        body = json.dumps({key: value for key, value in asked.items() if value is not None}).encode()
        return self.send("POST", f"{issuer}/register", {"Content-Type": "application/json"}, body)

    def authorize(self, issuer: str = ISSUER, **changed: str | None) -> Reply:
        """A right authorization request, but for what is changed; None leaves a parameter out."""
        asked = {
            "response_type": "code",
            "client_id": "demo-app",
            "redirect_uri": CALLBACK,
            "state": "a state",
            "scope": "demo:read",
            "resource": MCP,
            "code_challenge": challenge_of(VERIFIER),
            "code_challenge_method": "S256",
            **changed,
        }
        return self.get(f"{issuer}/authorize", **{key: value for key, value in asked.items() if value is not None})

    def code(self, issuer: str = ISSUER, **changed: str | None) -> str:
        """A code, once everything was allowed."""
        return dict(self.authorize(issuer, **changed).back)["code"]

    def redeem(self, code: str, issuer: str = ISSUER, **changed: str) -> Reply:
        """A right token request for a code, but for what is changed."""
        form = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": CALLBACK,
            "code_verifier": VERIFIER,
            "resource": MCP,
            **APP,
            **changed,
        }
        return self.post(f"{issuer}/token", form)

    def tokens(self, issuer: str = ISSUER, **changed: str | None) -> dict[str, Any]:
        """The tokens of a whole login."""
        answer: dict[str, Any] = self.redeem(self.code(issuer, **changed), issuer).json
        return answer

    def refresh(self, token: str, **changed: str) -> Reply:
        """A refresh."""
        return self.post(f"{ISSUER}/token", {"grant_type": "refresh_token", "refresh_token": token, **APP, **changed})

    def call(self, token: str | None, tool: str = "echo", *, path: str = "/mcp") -> Reply:
        """A call of a tool with a token."""
        message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": tool}}
        headers = {} if token is None else {"Authorization": f"Bearer {token}"}
        return self.send("POST", SERVER + path, headers, json.dumps(message).encode())

    def enter(self, token: str, **more: str) -> Reply:
        """A request that calls no tool."""
        return self.send("POST", MCP, {"Authorization": f"Bearer {token}", **more}, b'{"method": "tools/list"}')


def challenge_in(reply: Reply) -> dict[str, str]:
    """The parameters of a challenge that is a single one, with quoted values."""
    scheme, _, rest = reply.headers["WWW-Authenticate"].partition(" ")
    assert scheme == "Bearer"
    pairs = (part.partition("=") for part in rest.split(", "))
    return {name: value.strip('"') for name, _, value in pairs}


def ticket_in(reply: Reply, name: str = "ticket") -> str:
    """The hidden value of a form."""
    return reply.text.partition(f'name="{name}" value="')[2].partition('"')[0]


def query_of(url: str) -> dict[str, list[str]]:
    """The parameters of a URL."""
    return parse_qs(urlsplit(url).query)
