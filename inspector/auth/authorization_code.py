"""The authorization code: the request that the person's browser sends, and its redirect.

PKCE with S256 and `state` always (C-AUTH-20, C-AUTH-22); `iss` is checked before the code is sent (C-AUTH-29). Source:
2026-07-28/basic/authorization; RFC 6749 section 4.1, RFC 7636, RFC 9207.
"""

from __future__ import annotations

import base64
import hashlib
import secrets
from dataclasses import dataclass, field
from urllib.parse import parse_qsl, urlencode, urlsplit

from inspector.auth.actions import AuthFlow, Denied, RegisterSecret, TimedOut, VisitPage, record_step
from inspector.auth.models import OAuthClient
from inspector.auth.server_metadata import AuthorizationServer
from inspector.errors import AuthorizationNeeded
from inspector.hints import Hint, Parameter
from inspector.text import safe

MAX_URL = 1 << 14
"""Maximum characters of an authorization URL that browsers accept."""

MAX_CALLBACK = 1 << 16

_BOUND = ("state", "code_challenge")
"""Request parameters that bind the response to this session; they are never shown."""

STATE_HINT = (
    "The authorization server must return “state” unchanged, and each parameter once (RFC 6749, sections 3.1 and "
    "4.1.2). If the page belongs to an older login, log in again."
)

_REPLACE = frozenset(("request", "request_uri", "response_mode"))
"""Parameters that change the whole request or the way of its response (RFC 9101, OAuth 2.0 Multiple Response Types)."""

_ANSWER = ("error", "iss")
"""Parameters of a redirect whose values are shown: they say who answers, and that it refuses."""
_ONCE = ("state", "code", "iss", "error", "error_description", "error_uri")


@dataclass(frozen=True, slots=True)
class AuthorizationRequest:
    """One authorization request, with the values to keep until the redirect (C-AUTH-28). Never stored."""

    url: str
    host: str
    """The host of `url`, as `AuthorizationServer.page_host` has it."""
    redirect_uri: str
    state: str = field(repr=False)
    verifier: str = field(repr=False)
    issuer: str
    """The validated issuer, unmodified."""
    names_itself: bool
    """Whether the authorization server promises `iss` in every response."""
    named: bool
    """Whether the person gave the origin of the page."""


def check(server: AuthorizationServer) -> AuthFlow[None]:
    """Reject an authorization server that does not support the code flow with PKCE (C-AUTH-12)."""
    offered = server.challenge_methods
    if not server.authorization_endpoint:
        yield from record_step(
            "authorize",
            "The metadata names no authorization endpoint",
            ok=False,
            rule="RFC 8414 section 2",
            fix="Set “authorization_endpoint” to its URL.",
        )
        raise AuthorizationNeeded(
            f"The authorization server {safe(server.issuer, 200)} has no login page.",
            hint=Hint("Try another grant: see ", Parameter.GRANT, "."),
        )
    if not offered or "S256" not in offered:
        what = "does not say that it supports PKCE" if not offered else "does not support PKCE with S256"
        yield from record_step(
            "authorize",
            f"The authorization server {what}",
            ok=False,
            rule="C-AUTH-12",
            code_challenge_methods_supported=None if offered is None else list(offered),
            fix='Add “code_challenge_methods_supported”: ["S256"] to its metadata.',
        )
        raise AuthorizationNeeded(
            f"The authorization server {safe(server.issuer, 200)} {what}, so its codes could be stolen in transit.",
            hint="Its metadata must list S256 in “code_challenge_methods_supported”.",
        )


def request(
    server: AuthorizationServer, client: OAuthClient, redirect_uri: str, resource: str, scope: tuple[str, ...] | None
) -> AuthorizationRequest:
    """Build an authorization request (C-AUTH-20 to 24). Raises `AuthorizationNeeded` if its URL is not valid."""
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
            # Without it, OpenID providers issue no refresh token (OpenID Connect Core section 11).
            asked["prompt"] = "consent"
    endpoint, _, query = server.authorization_endpoint.partition("?")
    own = dict(parse_qsl(query, keep_blank_values=True))
    if replaced := own.keys() & _REPLACE:
        raise AuthorizationNeeded(
            f"The authorization endpoint of {safe(server.issuer, 200)} has “{safe(min(replaced), 60)}” in its URL, "
            "which replaces the request of the client.",
            hint="Remove the parameter from the endpoint's URL in the metadata (RFC 6749 section 3.1).",
        )
    # Some providers write parameters into the endpoint's URL (Salesforce: prompt, Auth0: audience). Each is sent once.
    if "prompt" in own:
        asked.pop("prompt", None)
    if "scope" in own and "scope" in asked:
        asked["scope"] = " ".join(dict.fromkeys(f"{asked['scope']} {own['scope']}".split()))
    url = f"{endpoint}?{urlencode(own | asked)}"
    if len(url) > MAX_URL:
        raise AuthorizationNeeded(
            f"The authorization URL has {len(url)} characters, more than browsers accept.",
            hint=Hint("Request fewer scopes with ", Parameter.SCOPE, "."),
        )
    return AuthorizationRequest(
        url,
        server.page_host(endpoint),
        redirect_uri,
        state,
        verifier,
        server.issuer,
        server.names_itself,
        server.is_named(endpoint),
    )


def visit(asked: AuthorizationRequest, scope: tuple[str, ...] | None, *, doubtful: bool = False) -> AuthFlow[str]:
    """Send the person to the authorization page; return the code. Raises `AuthorizationNeeded` for any other result.

    `doubtful`: the client is from an earlier login, and the authorization server may have forgotten it.
    """
    yield RegisterSecret(asked.verifier)
    yield RegisterSecret(asked.state)
    yield from record_step(
        "authorize",
        f"To be completed in the browser, at {safe(asked.host, 300)}",
        rule="C-AUTH-20",
        host=asked.host,
        asked=[[name, value] for name, value in parse_qsl(urlsplit(asked.url).query) if name not in _BOUND],
    )
    given: list[tuple[str, str]] = []
    try:
        back = yield VisitPage(
            asked.url, asked.redirect_uri, asked.host, asked.state, asked.issuer if doubtful else "", asked.named
        )
        assert isinstance(back, str)
        try:
            given = _parameters(back)
        except ValueError as error:
            raise AuthorizationNeeded(f"The redirect {error}.") from None
        # Register the code as a secret before anything is recorded. A foreign state is not a secret.
        for name, value in given:
            if name == "code" and value:
                yield RegisterSecret(value)
        code = _code(asked, back, given)
    except AuthorizationNeeded as error:
        rule, seen = (error.rule, error.seen) if isinstance(error, RejectedRedirect) else ("C-AUTH-22", {})
        if isinstance(error, (Denied, TimedOut)):
            rule = ""  # A person's refusal breaks no rule.
        yield from record_step(
            "callback", error.message, ok=False, rule=rule, fix=error.hint, came_with=_names(given), **seen
        )
        raise
    yield from record_step(
        "callback",
        "A code for the state of this login" + (" from the right issuer" if "iss" in dict(given) else ""),
        rule="C-AUTH-29",
        came_with=_names(given),
    )
    return code


class RejectedRedirect(AuthorizationNeeded):
    """The redirect is not accepted: the rule, the expected and the actual value."""

    def __init__(self, message: str, *, hint: str = "", rule: str, **seen: str) -> None:
        super().__init__(message, hint=hint)
        self.rule = rule
        self.seen = seen


def _names(given: list[tuple[str, str]]) -> list[str]:
    """Return the parameter names of the redirect; never a value, because one of them is the code."""
    return [safe(name, 40) for name, _ in given[:20]]


def _parameters(url: str) -> list[tuple[str, str]]:
    """Return the parameters of a redirect. Raises ValueError with the reason as the end of a sentence."""
    if len(url) > MAX_CALLBACK:
        raise ValueError(f"has {len(url):,} characters, which is too long")
    try:
        return parse_qsl(urlsplit(url.strip()).query, keep_blank_values=True, max_num_fields=100)
    except ValueError:
        raise ValueError("is not a valid URL") from None


def mismatch(back: str, state: str) -> str:
    """Return why a redirect URL does not belong to the request with `state`; empty if it does.

    Any site can send a browser here; only the authorization server and the person's browser know `state` (C-AUTH-22).
    """
    try:
        given = _parameters(back)
    except ValueError as error:
        return str(error)
    names = [name for name, _ in given]
    if doubled := next((name for name in _ONCE if names.count(name) > 1), ""):
        return f"has “{doubled}” more than once"
    returned = dict(given).get("state", "")
    if not given:
        return "has no parameters"
    if not returned:
        return "has no “state”"
    same = secrets.compare_digest(returned.encode("utf-8", "replace"), state.encode())
    return "" if same else "has a “state” of another login"


def came_with(back: str) -> list[str]:
    """Return the parameters of a redirect that is rejected: names, because values may be secret; and who answered."""
    try:
        given = _parameters(back)
    except ValueError:
        return []
    return [safe(f"{name}={value}" if name in _ANSWER else name, 100) for name, value in given[:20]]


def _code(asked: AuthorizationRequest, back: str, given: list[tuple[str, str]]) -> str:
    """Return the code of a redirect after all checks passed."""
    if back.strip().partition("?")[0] != asked.redirect_uri.partition("?")[0]:
        raise AuthorizationNeeded(
            f"The browser came back to an address other than {asked.redirect_uri}.",
            hint="Paste the full address that the browser shows at the end.",
        )
    if reason := mismatch(back, asked.state):
        raise AuthorizationNeeded(
            f"The browser came back with a response that {reason}, so it is rejected.", hint=STATE_HINT
        )
    values = dict(given)
    if (iss := values.get("iss")) is None:
        if asked.names_itself:
            raise RejectedRedirect(
                "The redirect has no “iss”, though the authorization server promises it. The redirect is rejected.",
                hint=f"Send “iss” with {safe(asked.issuer, 200)}, or remove "
                "“authorization_response_iss_parameter_supported” from the metadata.",
                rule="C-AUTH-29",
            )
    elif iss != asked.issuer:
        raise RejectedRedirect(
            f"The redirect is from “{safe(iss, 200)}”, but the request went to “{safe(asked.issuer, 200)}”. The "
            "redirect is rejected.",
            hint="“iss” must equal the issuer in the metadata, character by character (RFC 9207 section 2.4).",
            rule="C-AUTH-29",
            expected=asked.issuer,
            found=iss,
        )
    if "error" in values:
        raise _denied(values)
    if not (code := values.get("code", "")):
        raise AuthorizationNeeded("The authorization server's redirect has neither a code nor an error.")
    return code


def _denied(values: dict[str, str]) -> AuthorizationNeeded:
    """Return the exception for an error in the redirect (RFC 6749 section 4.1.2.1)."""
    code, reason = safe(values["error"], 60), safe(values.get("error_description", ""), 200)
    reported = f"“{code}”" + (f": {reason.rstrip('.')}" if reason else "")
    if values["error"] == "access_denied":
        return Denied(f"The authorization server denied access with {reported}.", hint="Log in again.")
    hints = {
        "invalid_scope": Hint("Request other scopes with ", Parameter.SCOPE, "."),
        "unauthorized_client": Hint(
            "The client may not use the authorization code grant. Use another client with ", Parameter.CLIENT_ID, "."
        ),
        "temporarily_unavailable": "Log in again later.",
    }
    hint = hints.get(code, "See the authorization server's log for the reason.")
    return RejectedRedirect(
        f"The authorization server refused the request with {reported}.", hint=hint, rule="RFC 6749 section 4.1.2.1"
    )
