"""The device flow (RFC 8628): a code on one screen, a page on another, and a client that polls."""

from __future__ import annotations

import secrets
from html import escape

from inspector.demo.auth.authorize import PERSON
from inspector.demo.auth.clients import DEVICE, REFRESH
from inspector.demo.auth.grants import BoundedDict, IssuedGrant
from inspector.demo.auth.http_values import OAuthError, json_answer, page, table

TYPE_CHECKING = False
if TYPE_CHECKING:
    from inspector.demo.auth.clients import RegisteredClient
    from inspector.demo.auth.http_values import HttpReply, Request, RequestParameters
    from inspector.demo.auth.issuer import Issuer

LIFETIME = 600.0  # seconds
INTERVAL = 1.0  # seconds between two polls of a client
SLOWER = 5.0  # seconds that are added for a client that polls too fast
_LETTERS = "BCDFGHJKLMNPQRSTVWXZ"  # no vowels, so no words (RFC 8628 section 6.1)


class _Waiting:
    """A device that waits for a person."""

    def __init__(self, client: RegisteredClient, grant: IssuedGrant, until: float) -> None:
        self.client = client
        self.grant = grant
        self.until = until
        self.decision = ""
        self.interval = INTERVAL
        self.asked_at = 0.0


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
        waiting = _Waiting(client, grant, issuer.vault.now() + LIFETIME)
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
        now = self._issuer.vault.now()
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
        with self._issuer.vault.lock:
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
        if waiting is None or waiting.decision or waiting.until < self._issuer.vault.now():
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
