"""The authorization endpoint: a page on which a person allows or denies, and the redirect to the client."""

from __future__ import annotations

import re
import secrets
from dataclasses import dataclass
from html import escape

from inspector.demo.auth.clients import CODE, DEVICE, REFRESH
from inspector.demo.auth.grants import BoundedDict, IssuedGrant
from inspector.demo.auth.http_values import OAuthError, json_answer, page, redirect, table

TYPE_CHECKING = False
if TYPE_CHECKING:
    from inspector.demo.auth.clients import RegisteredClient
    from inspector.demo.auth.http_values import HttpReply, Pairs, Request, RequestParameters
    from inspector.demo.auth.issuer import Issuer

PERSON = "demo-person"
_CHALLENGE = re.compile(r"[A-Za-z0-9_-]{43}")


@dataclass(slots=True)
class _Asked:
    """A request that a person has not decided yet."""

    client: RegisteredClient
    redirect_uri: str
    state: str
    challenge: str = ""
    grant: IssuedGrant | None = None


class Authorize:
    """The pending requests."""

    def __init__(self, issuer: Issuer) -> None:
        self._issuer = issuer
        self._open = BoundedDict(1000)

    def ask(self, request: Request) -> HttpReply:
        """Handles a request for a code (RFC 6749 section 4.1.1): returns the page, or immediately the redirect."""
        issuer = self._issuer
        fields = request.asked()
        try:
            client = issuer.find_client(fields.need("client_id"))
            redirect_uri = fields.need("redirect_uri")
            if not client.may_return_to(redirect_uri):
                raise OAuthError("invalid_request", f"{redirect_uri} is not registered for {client.id}")
        except OAuthError as problem:
            # The browser is not redirected to a URI that is not the client's (RFC 6749 section 4.1.2.1).
            return page(400, "Request refused", f"<p>{escape(problem.description)}</p>")
        asked = _Asked(client, redirect_uri, "")
        try:
            asked.state = fields.get("state")
            asked.challenge, asked.grant = self._check(client, fields)
        except OAuthError as problem:
            return self._refuse(asked, problem)
        if issuer.settings.auto:
            return self._allow(asked, asked.grant)
        ticket = secrets.token_urlsafe(24)
        self._open[ticket] = asked
        return self._page(asked, asked.grant, ticket)

    def decide(self, request: Request) -> HttpReply:
        """Handles the person's decision."""
        try:
            form = request.form()
            asked: _Asked | None = self._open.pop(form.need("ticket"), None)
            decision = form.get("decision")
        except OAuthError as problem:
            return page(problem.status, "Invalid request", f"<p>{escape(problem.description)}</p>")
        if asked is None or asked.grant is None:
            return page(400, "This request was decided already", "<p>Go back to the client and start again.</p>")
        if decision == "allow":
            return self._allow(asked, asked.grant)
        return self._refuse(asked, OAuthError("access_denied", "The person denied access"))

    def _check(self, client: RegisteredClient, fields: RequestParameters) -> tuple[str, IssuedGrant]:
        if fields.get("response_type") != "code":
            raise OAuthError("unsupported_response_type", "response_type must be code")
        if CODE not in client.grants:
            raise OAuthError("unauthorized_client", f"This client is not registered for {CODE}")
        challenge = fields.get("code_challenge")
        if not _CHALLENGE.fullmatch(challenge) or fields.get("code_challenge_method") != "S256":
            raise OAuthError("invalid_request", "PKCE is required: a code_challenge with the method S256")
        scopes = self._issuer.scopes(fields.get("scope"))
        resource = self._issuer.resource(fields.get("resource"))
        refreshable = REFRESH in client.grants
        return challenge, IssuedGrant(client.id, PERSON, scopes, resource, refreshable=refreshable)

    def _allow(self, asked: _Asked, grant: IssuedGrant) -> HttpReply:
        code = self._issuer.grants.new_code(grant, asked.redirect_uri, asked.challenge)
        return self._back(asked, [("code", code)])

    def _refuse(self, asked: _Asked, problem: OAuthError) -> HttpReply:
        return self._back(asked, [("error", problem.code), ("error_description", problem.description)])

    def _back(self, asked: _Asked, pairs: Pairs) -> HttpReply:
        if asked.state:
            pairs.append(("state", asked.state))
        pairs.append(("iss", self._issuer.url))  # RFC 9207
        return redirect(asked.redirect_uri, self._issuer.faults.apply("redirect", pairs, self._issuer.url))

    def _page(self, asked: _Asked, grant: IssuedGrant, ticket: str) -> HttpReply:
        rows = {
            "Client": f"{asked.client.name} ({asked.client.id})",
            "requests": ", ".join(grant.scopes),
            "on": grant.resource,
            "redirects to": asked.redirect_uri,
            "State": "yes" if asked.state else "no: another person's login could be forced on this browser",
            "Refresh token": "yes" if grant.refreshable else "no: the client is not registered for it",
        }
        buttons = "".join(
            f'<button name="decision" value="{value}">{value.capitalize()}</button>' for value in ("allow", "deny")
        )
        form = f'<form method="post" action="{escape(self._issuer.path)}/authorize/decide">'
        hidden = f'<input type="hidden" name="ticket" value="{ticket}">'
        return page(200, "Allow this request?", f"{table(rows)}{form}{hidden}{buttons}</form>")


LIFETIME = 600.0  # seconds
INTERVAL = 1.0  # seconds between two polls of a client
SLOWER = 5.0  # seconds that are added for a client that polls too fast
_LETTERS = "BCDFGHJKLMNPQRSTVWXZ"  # no vowels, so no words (RFC 8628 section 6.1)


@dataclass(slots=True)
class _Waiting:
    """A device that waits for a person."""

    client: RegisteredClient
    grant: IssuedGrant
    until: float
    decision: str = ""
    interval: float = INTERVAL
    asked_at: float = 0.0


class Devices:
    """The waiting devices, by either of their codes."""

    def __init__(self, issuer: Issuer) -> None:
        self._issuer = issuer
        self._by_device = BoundedDict(1000)
        self._by_user = BoundedDict(1000)

    def begin(self, request: Request) -> HttpReply:
        """The device authorization endpoint."""
        issuer = self._issuer
        form = request.form()
        client = issuer.identification.client(request, form)
        if DEVICE not in client.grants:
            raise OAuthError("unauthorized_client", "This client is not registered for the device flow")
        scopes, resource = issuer.scopes(form.get("scope")), issuer.resource(form.get("resource"))
        grant = IssuedGrant(client.id, PERSON, scopes, resource, refreshable=REFRESH in client.grants)
        waiting = _Waiting(client, grant, issuer.grants.now() + LIFETIME)
        waiting.decision = "allow" if issuer.settings.auto else ""
        device_code = secrets.token_urlsafe(32)
        letters = "".join(secrets.choice(_LETTERS) for _ in range(8))
        self._by_device[device_code] = self._by_user[letters] = waiting
        user_code = f"{letters[:4]}-{letters[4:]}"
        document = {
            "device_code": device_code,
            "user_code": user_code,
            "verification_uri": issuer.endpoint("/device"),
            "verification_uri_complete": f"{issuer.endpoint('/device')}?user_code={user_code}",
            "expires_in": int(LIFETIME),
            "interval": int(INTERVAL),
        }
        return json_answer(200, document)

    def grant(self, client: RegisteredClient, form: RequestParameters) -> IssuedGrant:
        """Returns the grant of a device; raises OAuthError while there is none (RFC 8628 section 3.5)."""
        code = form.need("device_code")
        waiting: _Waiting | None = self._by_device.get(code)
        now = self._issuer.grants.now()
        if waiting is None or waiting.client.id != client.id:
            raise OAuthError("invalid_grant", "Unknown device_code")
        if waiting.until < now:
            raise OAuthError("expired_token", "The code was not entered in time")
        if not waiting.decision:
            soon = now - waiting.asked_at < waiting.interval
            waiting.asked_at = now
            if soon:
                waiting.interval += SLOWER
                raise OAuthError("slow_down", f"Wait {waiting.interval:.0f} seconds between two requests")
            raise OAuthError("authorization_pending", "The person has not decided yet")
        with self._issuer.grants.lock:
            if self._by_device.pop(code, None) is None:
                raise OAuthError("invalid_grant", "Unknown device_code")
        if waiting.decision != "allow":
            raise OAuthError("access_denied", "The person denied access")
        return waiting.grant

    def show(self, request: Request) -> HttpReply:
        """Shows the page on which the code is entered and decided."""
        text = request.asked().get("user_code")
        action = escape(self._issuer.path) + "/device"
        if not text:
            field = '<input name="user_code" autofocus autocomplete="off" placeholder="XXXX-XXXX">'
            return page(
                200,
                "Enter the code from your device",
                f'<form action="{action}">{field}<button>Continue</button></form>',
            )
        letters = "".join(letter for letter in text.upper() if letter in _LETTERS)
        waiting: _Waiting | None = self._by_user.get(letters)
        if waiting is None or waiting.decision or waiting.until < self._issuer.grants.now():
            return page(400, "Unknown code", "<p>It may have expired, or was decided already.</p>")
        name = f"{waiting.client.name} ({waiting.client.id})"
        rows = {"Client": name, "requests": ", ".join(waiting.grant.scopes), "on": waiting.grant.resource}
        hidden = f'<input type="hidden" name="user_code" value="{escape(letters)}">'
        buttons = "".join(
            f'<button name="decision" value="{value}">{value.capitalize()}</button>' for value in ("allow", "deny")
        )
        form = f'<form method="post" action="{action}">{hidden}{buttons}</form>'
        return page(200, "Allow this request?", table(rows) + form)

    def decide(self, request: Request) -> HttpReply:
        """Handles the person's decision."""
        form = request.form()
        waiting: _Waiting | None = self._by_user.pop(form.get("user_code"), None)
        if waiting is None or waiting.decision:
            return page(400, "Unknown code", "<p>It may have expired, or was decided already.</p>")
        waiting.decision = "allow" if form.get("decision") == "allow" else "deny"
        words = "Allowed" if waiting.decision == "allow" else "Denied"
        return page(200, words, "<p>Go back to the client.</p>")
