"""The authorization endpoint: a page on which a person allows or denies, and the redirect to the client."""

from __future__ import annotations

import re
import secrets
from html import escape

from inspector.demo.auth.clients import CODE, REFRESH
from inspector.demo.auth.grants import BoundedDict, IssuedGrant
from inspector.demo.auth.http_values import OAuthError, page, redirect, table

TYPE_CHECKING = False
if TYPE_CHECKING:
    from inspector.demo.auth.clients import RegisteredClient
    from inspector.demo.auth.http_values import HttpReply, Pairs, Request, RequestParameters
    from inspector.demo.auth.issuer import Issuer

PERSON = "demo-person"
_CHALLENGE = re.compile(r"[A-Za-z0-9_-]{43}")


class _Asked:
    """A request that a person has not decided yet."""

    def __init__(self, client: RegisteredClient, redirect_uri: str, state: str) -> None:
        self.client = client
        self.redirect_uri = redirect_uri
        self.state = state
        self.challenge = ""
        self.grant: IssuedGrant | None = None


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
        code = self._issuer.vault.new_code(grant, asked.redirect_uri, asked.challenge)
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
