"""An authorization server for every grant, an identity provider and an MCP server behind them, at one address.

It remembers every secret that it gave or was given. It is careless: what it refuses it repeats in its error, secrets
too, and so does its tool `echo-secrets`. It checks nothing that a client might do wrong: other servers do that.
"""

from __future__ import annotations

import base64
import json
import secrets
import threading
from collections import defaultdict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qsl, quote, unquote, unquote_plus, urlencode

WRONG = "not-the-right-one"
"""Whatever begins so is refused."""
DEVICE = "urn:ietf:params:oauth:grant-type:device_code"
_KINDS = {
    "code": "code", "code_verifier": "verifier", "refresh_token": "refresh token", "client_secret": "client secret",
    "client_assertion": "client assertion", "assertion": "assertion", "subject_token": "subject token",
    "device_code": "device code", "token": "access token",
}  # fmt: skip
"""Fields of requests that are secrets, and what they are."""


class Careless:
    """The server's state. `secrets` are all values that crossed the wire, by their kind."""

    def __init__(
        self, *, methods: tuple[str, ...] = ("none",), grants: tuple[str, ...] = (), dpop: bool = False
    ) -> None:
        self.methods = methods
        self.grants = grants
        self.dpop = dpop
        self.origin = ""
        self.secrets: defaultdict[str, set[str]] = defaultdict(set)
        self.nonce = secrets.token_urlsafe(12)
        self.spent: set[str] = set()
        self._begun: set[str] = set()

    # The authorization server

    def metadata(self, issuer: str) -> dict[str, Any]:
        """Its metadata, and those of the identity provider."""
        endpoints = ("authorization", "token", "registration", "revocation", "device_authorization")
        more: dict[str, Any] = {"grant_types_supported": list(self.grants)} if self.grants else {}
        if self.dpop:
            more["dpop_signing_alg_values_supported"] = ["ES256"]
        return {
            "issuer": issuer, "code_challenge_methods_supported": ["S256"],
            "token_endpoint_auth_methods_supported": list(self.methods), "response_types_supported": ["code"],
        } | {f"{name}_endpoint": f"{issuer}/{name}" for name in endpoints} | more  # fmt: skip

    def answer(self, method: str, target: str, fields: Mapping[str, str], body: str) -> tuple[int, dict[str, str], Any]:
        """Status, header fields and JSON for a request."""
        path, _, query = target.partition("?")
        given = dict(parse_qsl(query)) | dict(parse_qsl(body))
        self._learn(given, fields)
        if path == "/mcp":
            return self._mcp(fields, body)
        if path.startswith("/.well-known/oauth-protected-resource"):
            about = {"resource": f"{self.origin}/mcp", "authorization_servers": [f"{self.origin}/as"]}
            return 200, {}, about | {"scopes_supported": ["read"], "dpop_bound_access_tokens_required": self.dpop}
        if path.startswith("/.well-known/"):
            return 200, {}, self.metadata(f"{self.origin}/{path.rpartition('/')[2]}")
        match path.rpartition("/")[2]:
            case "authorization":
                asked = {"code": self._new("code"), "state": given["state"]}
                return 302, {"Location": f"{given['redirect_uri']}?{urlencode(asked)}"}, {}
            case "registration":
                secret = {} if self.methods == ("none",) else {"client_secret": self._new("client secret")}
                return (
                    201,
                    {},
                    {"client_id": "registered", "registration_access_token": self._new("registration token")} | secret,
                )
            case "device_authorization":
                there = {"user_code": "WDJB-MJHT", "verification_uri": f"{self.origin}/device", "interval": 1}
                return 200, {}, {"device_code": self._new("device code"), "expires_in": 600} | there
            case "token":
                return self._token(path.startswith("/idp"), given, fields)
        return (200, {}, {}) if path.endswith("/revocation") else (404, {}, {})

    def _token(self, by_idp: bool, given: dict[str, str], fields: Mapping[str, str]) -> tuple[int, dict[str, str], Any]:
        sent = {*given.values(), *self._basic(fields)}
        if any(value.startswith(WRONG) or value in self.spent for value in sent):
            return 400, {}, {"error": "invalid_client", "error_description": f"Not good: {self.repeated(sent)}"}
        if self.dpop and self.nonce not in _claims(fields.get("dpop", "")):
            return 400, {"DPoP-Nonce": self.nonce}, {"error": "use_dpop_nonce"}
        kind = "identity assertion" if by_idp else "access token"
        answer = {"access_token": self._jwt(kind), "expires_in": 3600, "token_type": "DPoP" if self.dpop else "Bearer"}
        if by_idp:
            answer |= {"issued_token_type": "urn:ietf:params:oauth:token-type:id-jag", "token_type": "N_A"}
        elif given.get("grant_type") in ("authorization_code", "refresh_token", DEVICE):
            self.spent.add(given.get("refresh_token", "-"))
            answer |= {"refresh_token": self._new("refresh token"), "id_token": self._jwt("id token")}
        return 200, {}, answer

    # The MCP server

    def _mcp(self, fields: Mapping[str, str], body: str) -> tuple[int, dict[str, str], Any]:
        scheme, _, token = fields.get("authorization", "").partition(" ")
        about = f'resource_metadata="{self.origin}/.well-known/oauth-protected-resource/mcp"'
        if not token:
            return 401, {"WWW-Authenticate": f"Bearer {about}"}, {}
        if self.dpop and self.nonce not in _claims(fields.get("dpop", "")):
            return 401, {"WWW-Authenticate": f'DPoP error="use_dpop_nonce", {about}', "DPoP-Nonce": self.nonce}, {}
        message = json.loads(body) if body else {}
        method = message.get("method", "")
        # A token is good for one session, so that the next one renews it.
        if token in self.spent or token.startswith(WRONG) or (method == "initialize" and token in self._begun):
            self.spent.add(token)
            reason = f'error="invalid_token", error_description="ended: {self.repeated({token})}"'
            return 401, {"WWW-Authenticate": f"{scheme} {reason}, {about}"}, {}
        results: dict[str, Any] = {
            "initialize": {
                "protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": {"name": "careless", "version": "1"},
            },
            "tools/list": {"tools": [{"name": "echo-secrets", "inputSchema": {"type": "object"}}]},
            "tools/call": {"content": [{"type": "text", "text": self.repeated({token})}]},
        }  # fmt: skip
        if method == "initialize":
            self._begun.add(token)
        if "id" not in message:
            return 202, {}, None
        if method not in results:
            return 200, {}, {"jsonrpc": "2.0", "id": message["id"], "error": {"code": -32601, "message": "no"}}
        return 200, {}, {"jsonrpc": "2.0", "id": message["id"], "result": results[method]}

    # Secrets

    def repeated(self, sent: set[str]) -> str:
        """Repeat a text in several forms: unchanged, quoted, in base64 at each offset."""
        forms = []
        for value in sorted(sent, key=lambda value: (not value.startswith(WRONG), value)):
            forms += [value, quote(value, safe="")]
            forms += [base64.b64encode(before + value.encode()).decode() for before in (b"", b"x", b"xy")]
        return " ".join(forms)

    def _learn(self, given: Mapping[str, str], fields: Mapping[str, str]) -> None:
        for name, value in given.items():
            if name in _KINDS:
                self.secrets[_KINDS[name]].add(value)
            if name == "state":
                self.secrets[name].add(value)
        if "dpop" in fields:
            self.secrets["DPoP proof"].add(fields["dpop"])
        scheme, _, credential = fields.get("authorization", "").partition(" ")
        if credential:
            self.secrets["Basic credential" if scheme == "Basic" else "access token"].add(credential)
        for _, secret in [self._basic(fields)] if self._basic(fields) else ():
            self.secrets["client secret"].add(secret)

    def _basic(self, fields: Mapping[str, str]) -> tuple[str, ...]:
        scheme, _, credential = fields.get("authorization", "").partition(" ")
        if scheme != "Basic":
            return ()
        name, _, secret = base64.b64decode(credential).decode().partition(":")
        return unquote(name), unquote_plus(secret)

    def _new(self, kind: str) -> str:
        value = secrets.token_urlsafe(24)
        self.secrets[kind].add(value)
        return value

    def _jwt(self, kind: str) -> str:
        claims = {"iss": f"{self.origin}/as", "aud": f"{self.origin}/mcp", "exp": 4_000_000_000, "sub": "ada"}
        parts = [{"alg": "ES256"}, claims | {"jti": secrets.token_urlsafe(8)}]
        encoded = [base64.urlsafe_b64encode(json.dumps(part).encode()).rstrip(b"=").decode() for part in parts]
        token = ".".join([*encoded, self._new(f"signature of an {kind}")])
        self.secrets[kind].add(token)
        return token


def _claims(proof: str) -> str:
    payload = proof.split(".")[1] if proof.count(".") == 2 else ""
    return base64.urlsafe_b64decode(payload + "=" * (-len(payload) % 4)).decode()


@contextmanager
def serving(careless: Careless) -> Iterator[str]:
    """The URL of the MCP server, while it runs."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def _do(self) -> None:
            size = int(self.headers.get("Content-Length") or 0)
            body = self.rfile.read(size).decode()
            fields = {name.lower(): value for name, value in self.headers.items()}
            status, headers, document = careless.answer(self.command, self.path, fields, body)
            content = b"" if document is None else json.dumps(document).encode()
            self.send_response(status)
            for name, value in {
                "Content-Type": "application/json",
                **headers,
                "Content-Length": str(len(content)),
            }.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(content)

        do_GET = do_POST = do_DELETE = _do

        def log_message(self, format: str, *words: Any) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        careless.origin = f"http://127.0.0.1:{server.server_port}"
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield f"{careless.origin}/mcp"
        finally:
            server.shutdown()
            thread.join()
