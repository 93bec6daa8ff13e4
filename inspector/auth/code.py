"""The authorization code: the request that the person's browser carries, and what it comes back with.

PKCE with S256 and `state` always (C-AUTH-20, C-AUTH-22); `iss` by its table before the code goes anywhere (C-AUTH-29).
Source: 2026-07-28/basic/authorization; RFC 6749 section 4.1, RFC 7636, RFC 9207.
"""

from __future__ import annotations

import base64
import hashlib
import secrets
from dataclasses import dataclass, field
from urllib.parse import parse_qsl, urlencode, urlsplit

from inspector.auth import urls
from inspector.auth.actions import Denied, Flow, Secret, TimedOut, Visit, told
from inspector.auth.metadata import Server
from inspector.auth.values import Client
from inspector.errors import AuthorizationNeeded
from inspector.hints import Hint, Parameter
from inspector.text import safe

LONGEST_URL = 1 << 14
"""Characters of an authorization URL: more is no request that a browser carries."""

LONGEST_CALLBACK = 1 << 16

_BOUND = ("state", "code_challenge")
"""Parameters of a request that bind its answer to this session; they are told nobody."""

STATE_HINT = (
    "The authorization server should send “state” back as it was sent there, and each parameter once (RFC 6749, "
    "sections 3.1 and 4.1.2). Or the page belongs to an older login: log in again."
)

_ONCE = ("state", "code", "iss", "error", "error_description", "error_uri")


@dataclass(frozen=True, slots=True)
class Request:
    """One authorization request, with what must be remembered until the browser is back (C-AUTH-28). Never stored."""

    url: str
    redirect_uri: str
    state: str = field(repr=False)
    verifier: str = field(repr=False)
    issuer: str
    """The validated issuer, as it was written."""
    names_itself: bool
    """Whether the authorization server says that it puts `iss` into every answer."""


def check(server: Server) -> Flow[None]:
    """Refuse an authorization server that cannot do the code flow with PKCE (C-AUTH-12)."""
    offered = server.challenge_methods
    if not server.authorization_endpoint:
        yield from told(
            "authorize", "The metadata names no authorization endpoint", ok=False, rule="RFC 8414 section 2",
            fix="“authorization_endpoint” should be its URL.",
        )  # fmt: skip
        raise AuthorizationNeeded(
            f"The authorization server {safe(server.issuer, 200)} has no page to log in at.",
            hint=Hint("It may have another way: see ", Parameter.GRANT, "."),
        )
    if not offered or "S256" not in offered:
        what = "does not say that it checks PKCE" if not offered else "does not offer PKCE with S256"
        yield from told(
            "authorize", f"The authorization server {what}", ok=False, rule="C-AUTH-12",
            code_challenge_methods_supported=None if offered is None else list(offered),
            fix="Its metadata should have “code_challenge_methods_supported”: [\"S256\"].",
        )  # fmt: skip
        raise AuthorizationNeeded(
            f"The authorization server {safe(server.issuer, 200)} {what}, so its codes could be stolen on their way.",
            hint="Its metadata must list S256 in “code_challenge_methods_supported”.",
        )


def request(server: Server, client: Client, redirect_uri: str, resource: str, scope: tuple[str, ...] | None) -> Request:
    """Make an authorization request (C-AUTH-20 to 24). Raises `AuthorizationNeeded` where its URL cannot be one."""
    verifier, state = secrets.token_urlsafe(48), secrets.token_urlsafe(32)
    digest = hashlib.sha256(verifier.encode()).digest()
    asked = {
        "response_type": "code",
        "client_id": client.client_id,
        "redirect_uri": redirect_uri,
        "code_challenge": base64.urlsafe_b64encode(digest).rstrip(b"=").decode(),
        "code_challenge_method": "S256",
        "state": state,
        "resource": resource,
    }
    if scope:
        asked["scope"] = " ".join(scope)
        if "offline_access" in scope:
            # Without it, OpenID providers leave a refresh token out (OpenID Connect Core section 11).
            asked["prompt"] = "consent"
    endpoint = server.authorization_endpoint
    already = {name for name, _ in parse_qsl(urlsplit(endpoint).query, keep_blank_values=True)}
    if doubled := already & (asked.keys() | {"scope", "prompt", "request", "request_uri", "response_mode"}):
        raise AuthorizationNeeded(
            f"The authorization endpoint of {safe(server.issuer, 200)} has “{safe(min(doubled), 60)}” in its URL, "
            "which is ours to say.",
            hint="Its metadata should name the endpoint without such parameters (RFC 6749 section 3.1).",
        )
    url = endpoint + ("&" if urlsplit(endpoint).query else "" if endpoint.endswith("?") else "?") + urlencode(asked)
    if len(url) > LONGEST_URL:
        raise AuthorizationNeeded(
            f"The authorization request would have {len(url)} characters, more than a browser takes.",
            hint=Hint("Name fewer scopes with ", Parameter.SCOPE, "."),
        )
    return Request(url, redirect_uri, state, verifier, server.issuer, server.names_itself)


def visit(asked: Request, scope: tuple[str, ...] | None, *, doubtful: bool = False) -> Flow[str]:
    """Let the person answer the request; returns the code. Raises `AuthorizationNeeded` for anything else.

    `doubtful`: the client was registered before, and the authorization server may have forgotten it.
    """
    yield Secret(asked.verifier)
    yield Secret(asked.state)
    host = urls.parts(asked.url.partition("?")[0]).host
    yield from told(
        "authorize", f"To be answered in the browser, at {safe(host, 200)}", rule="C-AUTH-20", host=host,
        asked=[[name, value] for name, value in parse_qsl(urlsplit(asked.url).query) if name not in _BOUND],
    )  # fmt: skip
    given: list[tuple[str, str]] = []
    try:
        back = yield Visit(asked.url, asked.redirect_uri, host, asked.state, asked.issuer if doubtful else "")
        assert isinstance(back, str)
        given = _parameters(back)
        # A code is learned before anything about it can be said. Another state than ours is no secret.
        for name, value in given:
            if name == "code" and value:
                yield Secret(value)
        code = _code(asked, back, given)
    except AuthorizationNeeded as error:
        rule, seen = (error.rule, error.seen) if isinstance(error, Refused) else ("C-AUTH-22", {})
        if isinstance(error, (Denied, TimedOut)):
            rule = ""  # A person broke none.
        yield from told("callback", error.message, ok=False, rule=rule, fix=error.hint, came_with=_names(given), **seen)
        raise
    yield from told(
        "callback", "A code, for our state" + (" and from the right issuer" if "iss" in dict(given) else ""),
        rule="C-AUTH-29", came_with=_names(given),
    )  # fmt: skip
    return code


class Refused(AuthorizationNeeded):
    """What the browser came back with is not used: by which rule, and what was expected and found."""

    def __init__(self, message: str, *, hint: str = "", rule: str, **seen: str) -> None:
        super().__init__(message, hint=hint)
        self.rule = rule
        self.seen = seen


def _names(given: list[tuple[str, str]]) -> list[str]:
    """The names of what the browser came back with; never a value, for a code is among them."""
    return [safe(name, 40) for name, _ in given[:20]]


def _parameters(url: str) -> list[tuple[str, str]]:
    if len(url) > LONGEST_CALLBACK:
        raise AuthorizationNeeded(f"The browser came back with {len(url)} characters, which is no answer.")
    try:
        return parse_qsl(urlsplit(url.strip()).query, keep_blank_values=True, max_num_fields=100)
    except ValueError:
        raise AuthorizationNeeded("What the browser came back with cannot be read as a URL.") from None


def mismatch(back: str, state: str) -> str:
    """Why a URL that a browser came to is not the answer to the request with `state`; empty where it is.

    Anybody can send a browser here; only the authorization server and the person's browser know `state` (C-AUTH-22).
    """
    given = _parameters(back)
    names = [name for name, _ in given]
    if doubled := next((name for name in _ONCE if names.count(name) > 1), ""):
        return f"has “{doubled}” twice"
    found = dict(given).get("state", "")
    if not found:
        return "has no “state”"
    same = secrets.compare_digest(found.encode("utf-8", "replace"), state.encode())
    return "" if same else "has another “state” than ours"


def names_in(back: str) -> list[str]:
    """The names of the parameters of such a URL, for the recording; never a value, for a code is among them."""
    return _names(_parameters(back))


def _code(asked: Request, back: str, given: list[tuple[str, str]]) -> str:
    """The code of a callback, when everything else about it is as it must be."""
    if back.strip().partition("?")[0] != asked.redirect_uri.partition("?")[0]:
        raise AuthorizationNeeded(
            f"The browser came back to another address than {asked.redirect_uri}.",
            hint="Paste the whole address that the browser shows at the end.",
        )
    if why := mismatch(back, asked.state):
        raise AuthorizationNeeded(
            f"The browser came back with an answer that {why}, so it is not used.", hint=STATE_HINT
        )
    values = dict(given)
    if (iss := values.get("iss")) is None:
        if asked.names_itself:
            raise Refused(
                "The authorization server says that its answers name it, but this one has no “iss”: it is not used.",
                hint=f"The answer should have “iss”, {safe(asked.issuer, 200)}; or its metadata should not promise it "
                "in “authorization_response_iss_parameter_supported”.",
                rule="C-AUTH-29",
            )
    elif iss != asked.issuer:
        raise Refused(
            f"The answer is from “{safe(iss, 200)}”, but “{safe(asked.issuer, 200)}” was asked: it is not used.",
            hint="“iss” should be the issuer as the metadata name it, character by character (RFC 9207 section 2.4).",
            rule="C-AUTH-29", expected=asked.issuer, found=iss,
        )  # fmt: skip
    if "error" in values:
        raise _denied(values)
    if not (code := values.get("code", "")):
        raise AuthorizationNeeded("The authorization server sent the browser back without a code and without an error.")
    return code


def _denied(values: dict[str, str]) -> AuthorizationNeeded:
    """The error that an authorization server sent the browser back with (RFC 6749 section 4.1.2.1)."""
    code, why = safe(values["error"], 60), safe(values.get("error_description", ""), 200)
    said = f"“{code}”" + (f": {why.rstrip('.')}" if why else "")
    if values["error"] == "access_denied":
        return Denied(f"Access was denied at the authorization server, with {said}.", hint="Log in again to try anew.")
    hints = {
        "invalid_scope": Hint("Name other scopes with ", Parameter.SCOPE, "."),
        "unauthorized_client": Hint(
            "The client may not ask for a code there: give another with ", Parameter.CLIENT_ID, "."
        ),
        "temporarily_unavailable": "Log in again in a while.",
    }
    hint = hints.get(code, "The reason is on its side: its log may say more.")
    return Refused(
        f"The authorization server refused the request with {said}.", hint=hint, rule="RFC 6749 section 4.1.2.1"
    )
