"""Faults of authorization, each with a name. They change correct responses when those are sent.

A fault belongs to a place: its function receives the response (a document, a header's value, the pairs of a redirect)
and its URL, and returns the changed response. Faults of the place `access` change nothing: the gate knows them by name.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from urllib.parse import urlsplit

from inspector.demo.auth.http_values import HttpReply, OAuthError, json_answer, refusal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from inspector.demo.auth.http_values import Pairs

    Change = Callable[[Any, str], Any]

ELSEWHERE = "https://elsewhere.example"
HUGE_BYTES = 50 * 1024 * 1024
SCOPE_FOREVER, UNAUTHORIZED_FOREVER, MIGRATE = "scope-forever", "401-forever", "migrate"
CLOCK_SKEW = "clock-skew"
SKEWED = -7200.0  # seconds
MARKUP = "<b>Call</b> [bold red]0900[/] \x1b[31mnow\x1b[0m\x07\r\nSet-Cookie: a=b \u202egro.elpmaxe"


@dataclass(slots=True)
class Fault:
    """One fault: its place, and its function."""

    place: str
    change: Change


class Faults:
    """The enabled faults."""

    def __init__(self, names: tuple[str, ...] = ()) -> None:
        self.names = names

    def __contains__(self, name: str) -> bool:
        return name in self.names

    def apply(self, place: str, document: Any, url: str) -> Any:
        """Returns the response of a place after all its enabled faults."""
        for name in self.names:
            fault = FAULTS[name]
            if fault.place == place and not isinstance(document, HttpReply):
                document = fault.change(document, url)
        return document


def _other_name(url: str) -> str:
    """Returns the same URL with another name of this machine: another origin."""
    parts = urlsplit(url)
    other = "127.0.0.1" if parts.hostname == "localhost" else "localhost"
    return parts._replace(netloc=f"{other}:{parts.port}").geturl()


def _same(document: Any, url: str) -> Any:
    return document


def _changed(**members: Any) -> Change:
    return lambda document, url: document | members


def _without(*members: str) -> Change:
    return lambda document, url: {key: value for key, value in document.items() if key not in members}


def _extended(member: str, text: str) -> Change:
    return lambda document, url: document | {member: document[member] + text}


def _answered(reply: Callable[[], HttpReply]) -> Change:
    return lambda document, url: reply()


def _pair(name: str, value: str) -> Change:
    """Replaces the value of a parameter of the redirect; an empty one removes it."""
    return lambda pairs, url: [(key, value if key == name else old) for key, old in pairs if key != name or value]


def _of_wrong_types(document: dict[str, Any], url: str) -> dict[str, Any]:
    return {key: value if key == "issuer" else {"value": [value]} for key, value in document.items()}


def _as_error(pairs: Pairs, url: str) -> Pairs:
    error = [("error", "server_error"), ("error_description", MARKUP), ("error_uri", "javascript:alert(1)")]
    return error + [(key, value) for key, value in pairs if key not in ("code", "error", "error_description")]


def _json_reply(body: bytes | Iterator[bytes], length: int | None = None) -> HttpReply:
    sized = {} if length is None else {"Content-Length": str(length)}
    return HttpReply(200, {"Content-Type": "application/json", **sized}, body)


def _web_page() -> HttpReply:
    body = b"<!doctype html><title>Welcome</title><h1>Please log in</h1><script>alert(1)</script>"
    return HttpReply(200, {"Content-Type": "text/html"}, body)


def _huge() -> Iterator[bytes]:
    """Yields HUGE_BYTES bytes of one JSON object."""
    start, end = b'{"access_token":"', b'","token_type":"Bearer"}'
    yield start
    piece = b"a" * 65536
    for left in range(HUGE_BYTES - len(start) - len(end), 0, -len(piece)):
        yield piece[:left]
    yield end


def _endless() -> Iterator[bytes]:
    yield b"{"
    while True:
        time.sleep(0.5)
        yield b" "


FAULTS: dict[str, Fault] = {
    # a tool requires demo:write even of tokens that have it
    SCOPE_FOREVER: Fault("access", _same),
    # every token is refused with 401
    UNAUTHORIZED_FOREVER: Fault("access", _same),
    # the first call of a tool finds that another authorization server is responsible
    MIGRATE: Fault("access", _same),
    # the claims of a token say that it expired an hour ago; it is valid
    CLOCK_SKEW: Fault("access", _same),
    # 401 without WWW-Authenticate
    "no-challenge": Fault("challenge", lambda value, url: ""),
    # several schemes in one WWW-Authenticate, ours last; this is allowed
    "many-challenges": Fault(
        "challenge", lambda value, url: f'Negotiate YWJj==, Basic realm="a, Bearer \\"b\\"", {value}'
    ),
    # resource_metadata is at a private address, without TLS
    "private-metadata": Fault(
        "challenge", lambda value, url: 'Bearer resource_metadata="http://169.254.169.254/latest/meta-data"'
    ),
    # no protected resource metadata anywhere
    "prm-missing": Fault("prm", _answered(lambda: json_answer(404, {"error": "not_found"}))),
    # a web page instead of the protected resource metadata
    "prm-html": Fault("prm", _answered(_web_page)),
    # no authorization_servers in the protected resource metadata
    "prm-no-servers": Fault("prm", _without("authorization_servers")),
    # values of the wrong types in the protected resource metadata
    "prm-types": Fault(
        "prm",
        lambda document, url: {
            "resource": {"url": document["resource"]},
            "authorization_servers": [7, None],
            "scopes_supported": "all",
        },
    ),
    # resource names another server
    "wrong-resource": Fault("prm", _changed(resource=f"{ELSEWHERE}/mcp")),
    # issuer names another server
    "wrong-issuer": Fault("metadata", _changed(issuer=ELSEWHERE)),
    # issuer has an extra slash
    "issuer-slash": Fault("metadata", _extended("issuer", "/")),
    # no code_challenge_methods_supported
    "no-pkce": Fault("metadata", _without("code_challenge_methods_supported")),
    # code_challenge_methods_supported without S256
    "plain-pkce": Fault("metadata", _changed(code_challenge_methods_supported=["plain"])),
    # no registration_endpoint, and no client id metadata documents
    "no-registration": Fault("metadata", _without("registration_endpoint", "client_id_metadata_document_supported")),
    # authorization_endpoint is javascript:
    "javascript-endpoint": Fault("metadata", _changed(authorization_endpoint="javascript:alert(1)")),
    # authorization_endpoint is file:
    "file-endpoint": Fault("metadata", _changed(authorization_endpoint="file:///etc/passwd")),
    # token_endpoint is on another machine, without TLS
    "http-endpoint": Fault("metadata", _changed(token_endpoint="http://elsewhere.example/token")),
    # values of the wrong types in the metadata
    "metadata-types": Fault(
        "metadata",
        lambda document, url: {
            key: value if key == "issuer" else {"value": [value]} for key, value in document.items()
        },
    ),
    # a web page instead of the metadata
    "html-metadata": Fault("metadata", _answered(_web_page)),
    # metadata nested a hundred thousand times
    "deep-metadata": Fault("metadata", _answered(lambda: _json_reply(b"[" * 100_000 + b"]" * 100_000))),
    # 50 MB of metadata
    "huge-metadata": Fault("metadata", _answered(lambda: _json_reply(_huge(), HUGE_BYTES))),
    # metadata that arrives byte by byte, and never ends
    "slow-metadata": Fault("metadata", _answered(lambda: _json_reply(_endless()))),
    # the metadata redirects to another origin, which is another name of this machine: a client that follows it succeeds
    "redirect-metadata": Fault(
        "metadata",
        lambda document, url: (
            document if urlsplit(url).hostname == "localhost" else HttpReply(302, {"Location": _other_name(url)})
        ),
    ),
    # the metadata redirects to itself
    "redirect-loop": Fault("metadata", lambda document, url: HttpReply(302, {"Location": url})),
    # registration is refused, with markup in the reason
    "registration-refuses": Fault(
        "registered",
        _answered(lambda: json_answer(400, {"error": "invalid_redirect_uri", "error_description": MARKUP})),
    ),
    # registration returns another redirect URI
    "other-redirect": Fault("registered", _changed(redirect_uris=[f"{ELSEWHERE}/callback"])),
    # registration returns no client_id
    "registration-no-id": Fault("registered", _without("client_id")),
    # no iss, although the metadata promises it
    "iss-missing": Fault("redirect", _pair("iss", "")),
    # iss is another issuer
    "iss-wrong": Fault("redirect", _pair("iss", ELSEWHERE)),
    # iss has an extra slash
    "iss-slash": Fault("redirect", lambda pairs, url: _pair("iss", url + "/")(pairs, url)),
    # the redirect has another state
    "state-wrong": Fault("redirect", _pair("state", "another-state")),
    # the redirect has no state
    "state-missing": Fault("redirect", _pair("state", "")),
    # the redirect has two states, one right and one wrong
    "state-doubled": Fault("redirect", lambda pairs, url: [*pairs, ("state", "another-state")]),
    # the redirect has an error whose description is full of markup
    "error-redirect": Fault("redirect", _as_error),
    # the redirect has an error from another issuer
    "error-iss-wrong": Fault("redirect", lambda pairs, url: _pair("iss", ELSEWHERE)(_as_error(pairs, url), url)),
    # an error with status 200 instead of a token
    "token-200-error": Fault(
        "token", _answered(lambda: json_answer(200, {"error": "invalid_grant", "error_description": "Not today"}))
    ),
    # no token_type
    "token-no-type": Fault("token", _without("token_type")),
    # an unknown token_type
    "token-other-type": Fault("token", _changed(token_type="mac")),
    # expires_in is text
    "token-bad-expiry": Fault("token", _changed(expires_in="soon")),
    # expires_in is negative
    "token-negative-expiry": Fault("token", _changed(expires_in=-1)),
    # a web page instead of a token
    "token-html": Fault("token", _answered(_web_page)),
    # a line break in the access token, with a header field after it
    "token-newline": Fault("token", _extended("access_token", "\r\nX-Injected: yes")),
    # an access token of 50 MB
    "token-huge": Fault("token", _answered(lambda: _json_reply(_huge(), HUGE_BYTES))),
    # the token endpoint redirects to another origin
    "token-redirect": Fault("token", lambda document, url: HttpReply(307, {"Location": _other_name(url)})),
    # no refresh token is valid
    "refresh-refused": Fault(
        "refresh",
        _answered(
            lambda: refusal(OAuthError("invalid_grant", "The refresh token is unknown, revoked or already used"))
        ),
    ),
}
