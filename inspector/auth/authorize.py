"""The complete authorization process, for an MCP server that requires a login or more scopes.

`Authorization` holds the state for one MCP server. Its methods are flows, to be run one at a time: `ready` before a
request, `answer` after a refusal, `log_in` and `log_out` when the person asks for it; `fields` are a request's headers.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from inspector.auth import assertions, discovery, grants, refusals, scopes, token_endpoint, url_checks
from inspector.auth.actions import (
    AuthFlow,
    FetchFailed,
    HoldRenewalLock,
    LoadGrant,
    RefusedResponse,
    RegisterSecret,
    StoreClient,
    StoreGrant,
    record_step,
)
from inspector.auth.challenge import Challenge, chosen, parse
from inspector.auth.discovery import Discovery
from inspector.auth.models import Grant
from inspector.auth.options import AuthOptions
from inspector.auth.token_endpoint import TokenContext, TokenRefused
from inspector.errors import AuthorizationNeeded
from inspector.text import safe

MAX_ATTEMPTS = 3
"""Authorization attempts for one operation; after that many it has failed (C-AUTH-34)."""

SETTLED_SECONDS = 60.0
"""Seconds after which a refused token counts as accepted before: a later refusal belongs to another operation."""

EARLY_SECONDS = 30.0
"""Seconds before its expiry at which a token is refreshed; for a short-lived token, a tenth of its lifetime."""

_UNKNOWN_CLIENT = ("invalid_client", "unauthorized_client")
"""Errors of token endpoints for an unknown client; the Python SDK sent the second for years."""


@dataclass(slots=True)
class _Attempts:
    """The attempts made for one operation."""

    tried: set[tuple[object, ...]] = field(default_factory=set)
    count: int = 0
    renewed: bool = False
    at: float = 0


class Authorization:
    """The authorization state for one MCP server."""

    def __init__(
        self, server: str, options: AuthOptions, *, revision: str = "", now: Callable[[], float] = time.time
    ) -> None:
        """`server` is its URL. `revision` is sent with metadata requests, if known (C-AUTH-11)."""
        self.server = url_checks.as_sent(server)
        self.options = options
        self.revision = revision
        self.grant: Grant | None = None
        self.discovery: Discovery | None = None
        self._context = TokenContext(now, options)
        self._now = now
        self._recalled = False
        self._client_issuer = options.client_issuer or options.auth_server
        self._attempts: dict[str, _Attempts] = {}
        self._given_up: dict[tuple[object, ...], AuthorizationNeeded] = {}

    # Before a request

    def fields(self, method: str, url: str) -> list[tuple[str, str]]:
        """Return the headers that authorize one HTTP request to `url`; empty without a token (C-AUTH-03).

        Also empty for an origin other than the server's (C-AUTH-04). Each call makes a new DPoP proof (C-AUTH-42).
        """
        try:
            if url_checks.origin(url.partition("#")[0]) != url_checks.origin(self.server):
                return []
        except ValueError:
            return []
        if self.options.bearer:
            return [("Authorization", f"Bearer {self.options.bearer}")]
        grant = self.grant
        if grant is None or self._ended(grant):
            return []
        fields = [("Authorization", f"{grant.token_type} {grant.access_token}")]
        if grant.key:
            nonce = self._context.nonces.get("", "")
            proof = assertions.proof(grant.key, method, url, self._now(), token=grant.access_token, nonce=nonce)
            fields.append(("DPoP", proof))
        return fields

    def ready(self) -> AuthFlow[None]:
        """Get the best token that needs no person: the stored one, refreshed if it expires soon."""
        first, self._recalled = not self._recalled, True
        if self.options.bearer:
            yield RegisterSecret(self.options.bearer)
            return
        if first:
            yield from self._recall()
        grant = self.grant
        if grant is None or not grant.refresh_token or not self._ends_soon(grant):
            return
        try:
            yield from self._renewed(grant)
        except AuthorizationNeeded:
            # The token may still be valid; if not, the server will refuse it.
            return

    def waits(self) -> bool:
        """Whether `ready` has work to do: load a token, or refresh it."""
        grant = self.grant
        return not self._recalled or (grant is not None and bool(grant.refresh_token) and self._ends_soon(grant))

    # After a refusal

    def answer(self, refusal: RefusedResponse, sent: Sequence[tuple[str, str]]) -> AuthFlow[bool]:
        """Do what a refusal asks for; False if it is not about authorization.

        After True, the request is sent again with the new `fields`. `sent` are the header fields that authorized the
        refused request. Raises `AuthorizationNeeded` with the reason after all attempts, or when a step failed; the
        same refusal is then not tried again until `log_in`.
        """
        challenges = parse(refusal.challenges)
        challenge = chosen(challenges)
        wants_more = challenge is not None and challenge.parameters.get("error") == "insufficient_scope"
        if refusal.status != 401 and not (refusal.status == 403 and wants_more):
            return False
        try:
            return (yield from self._answered(refusal, sent, challenge, [offered.scheme for offered in challenges]))
        except AuthorizationNeeded as error:
            if error.status is None:
                error.status, error.challenge = refusal.status, tuple(refusal.challenges)
            raise

    def log_in(self, refusal: RefusedResponse | None = None) -> AuthFlow[Grant]:
        """Log in again, ignoring earlier attempts and stored tokens.

        `refusal` is the response to the request before, if there was one.
        """
        self._attempts.clear()
        self._given_up.clear()
        self._recalled = True
        challenge = None
        if refusal is not None:
            challenges = parse(refusal.challenges)
            challenge = chosen(challenges)
            yield from refusals.tell(
                refusal, challenge, [offered.scheme for offered in challenges], grants.selected(self.options)
            )
        discovered = yield from self._discovered(challenge)
        scope = yield from self._first_scope(discovered, challenge)
        return (yield from self._acquired(discovered, scope))

    def log_out(self) -> AuthFlow[bool]:
        """Revoke and forget the tokens; True if the authorization server revoked them (RFC 7009)."""
        if not self._recalled:
            self._recalled = True
            yield from self._recall()
        grant, self.grant = self.grant, None
        if grant is None:
            return False
        yield StoreGrant(grant.issuer, grant.resource, None)
        if grant.client.origin == "registered":
            # A new login uses a client that the server certainly knows.
            yield StoreClient(grant.issuer, None)
        return (yield from token_endpoint.revoke(grant, self._context))

    def renew(self) -> AuthFlow[bool]:
        """Refresh the token now, whatever its expiry. False without a usable refresh token.

        Raises `AuthorizationNeeded` if the server did not respond.
        """
        grant = self.grant
        return grant is not None and bool(grant.refresh_token) and (yield from self._renewed(grant))

    # Parts

    def _answered(
        self, refusal: RefusedResponse, sent: Sequence[tuple[str, str]], challenge: Challenge | None, schemes: list[str]
    ) -> AuthFlow[bool]:
        token = _token_of(sent)
        nonce = self._context.learn_nonce("", refusal.fields)
        if self.options.bearer:
            raise refusals.of_given_token(refusal, challenge)
        if self.grant is not None and token != self.grant.access_token and not self._ended(self.grant):
            # Another request has got a token since this one was sent.
            return True
        if challenge is not None and challenge.parameters.get("error") == "use_dpop_nonce" and self.grant is not None:
            yield from record_step(
                "request", "The server requires its nonce in the DPoP proof", ok=nonce, rule="RFC 9449 section 9"
            )
            if nonce:
                return True
            raise AuthorizationNeeded("The server refuses a DPoP proof that contains the nonce it sent.")
        operation = self._operation(refusal, challenge)
        if (before := self._given_up.get(operation)) is not None:
            raise AuthorizationNeeded(before.message, hint=before.hint or "Log in again.")
        yield from refusals.tell(refusal, challenge, schemes, grants.selected(self.options))
        try:
            yield from self._settle(refusal, challenge, token)
        except AuthorizationNeeded as error:
            if not is_temporary(error):
                self._given_up[operation] = error
            raise
        return True

    def _settle(self, refusal: RefusedResponse, challenge: Challenge | None, token: str) -> AuthFlow[None]:
        """Replace the refused token, or raise."""
        attempts = self._attempts_of(refusal.method)
        old = self.grant
        if refusal.status == 403 and self.discovery is not None:
            discovered = self.discovery
        else:
            discovered = yield from self._discovered(challenge)
        issuer, resource = discovered.server.issuer, discovered.resource.resource
        if old is not None and old.issuer != issuer:
            yield from record_step(
                "server",
                f"The server moved from {safe(old.issuer, 200)} to {safe(issuer, 200)}: "
                "the grant from there is not sent any more",
                rule="C-AUTH-17",
                before=old.issuer,
                issuer=issuer,
            )
            yield StoreGrant(old.issuer, old.resource, None)
            self.grant = old = None
        if (yield from self._renewed_or_kept(refusal, challenge, discovered, token, attempts)):
            return
        scope: tuple[str, ...] | None
        if refusal.status == 403 and challenge is not None:
            scope = yield from scopes.more(
                self.options.scope, challenge, discovered.resource.scopes, self.grant, discovered.server
            )
            if not challenge.scope and self.grant is not None and {*scope} <= {*self.grant.asked, *self.grant.scope}:
                # A further login for the same scopes would not help.
                raise (yield from refusals.enough(refusal, challenge, attempts.count, resource))
        else:
            scope = yield from self._first_scope(discovered, challenge)
            if old is not None and scope is not None:
                # Keep the scopes of a step-up when its token expires.
                scope = tuple(dict.fromkeys((*scope, *old.asked)))
        attempt = (refusal.status, issuer, resource, frozenset(scope or ()))
        if attempts.count >= MAX_ATTEMPTS or attempt in attempts.tried:
            raise (yield from refusals.enough(refusal, challenge, attempts.count, resource))
        attempts.tried.add(attempt)
        attempts.count += 1
        yield from self._acquired(discovered, scope, refusals.why_again(refusal, scope) if self.grant else "")
        attempts.at = self._now()

    def _renewed_or_kept(
        self,
        refusal: RefusedResponse,
        challenge: Challenge | None,
        discovered: Discovery,
        token: str,
        attempts: _Attempts,
    ) -> AuthFlow[bool]:
        """Whether a token was obtained without a person: another process stored it, or the refresh token got it."""
        kept = yield LoadGrant(self.server, discovered.server.issuer, discovered.resource.resource)
        required = set(challenge.scope or ()) if challenge is not None and refusal.status == 403 else set()
        if (
            isinstance(kept, Grant)
            and kept.access_token != token
            and required <= {*kept.scope}
            and not (kept.expires_at and kept.expires_at <= self._now())
        ):
            yield from record_step(
                "token", "The stored token, which is newer", rule="C-AUTH-31", scope=list(kept.scope)
            )
            self.grant = kept
            return True
        if refusal.status == 403 or attempts.renewed:
            return False
        grant = kept if isinstance(kept, Grant) and kept.refresh_token else self.grant
        if grant is None or not grant.refresh_token or grant.resource != discovered.resource.resource:
            return False
        renewed = yield from self._renewed(grant)
        attempts.renewed, attempts.at = True, self._now()
        return renewed

    def _renewed(self, grant: Grant) -> AuthFlow[bool]:
        """Refresh the token, or use the one that another process got meanwhile.

        False if the refresh token is not valid any more; it is then forgotten.
        """
        yield HoldRenewalLock(grant.issuer, grant.resource)
        try:
            kept = yield LoadGrant(self.server, grant.issuer, grant.resource)
            newer = isinstance(kept, Grant) and kept.access_token != grant.access_token
            if isinstance(kept, Grant) and newer and not self._ends_soon(kept):
                yield from record_step("refresh", "Another process has refreshed the token", rule="C-AUTH-32")
                self.grant, renewed = kept, True
            else:
                renewed = yield from self._refreshed(kept if isinstance(kept, Grant) and kept.refresh_token else grant)
        except AuthorizationNeeded:
            yield HoldRenewalLock()
            raise
        yield HoldRenewalLock()
        return renewed

    def _refreshed(self, grant: Grant) -> AuthFlow[bool]:
        """Redeem the refresh token."""
        try:
            fresh = yield from token_endpoint.refresh(grant, self._context)
        except AuthorizationNeeded as error:
            if is_temporary(error):
                raise
            code = error.error if isinstance(error, TokenRefused) else ""
            yield from record_step(
                "refresh",
                "The refresh token is deleted, and a new login starts",
                ok=False,
                rule="C-AUTH-32",
                error=code,
            )
            if code in _UNKNOWN_CLIENT and grant.client.origin == "registered":
                # A server that keeps its clients in memory forgets them when it restarts.
                yield StoreClient(grant.issuer, None)
            # The access token stays usable until it expires.
            self.grant = replace(grant, refresh_token="")
            yield StoreGrant(grant.issuer, grant.resource, None)
            return False
        self.grant = fresh
        yield StoreGrant(fresh.issuer, fresh.resource, fresh)
        return True

    def _acquired(self, discovered: Discovery, scope: tuple[str, ...] | None, reason: str = "") -> AuthFlow[Grant]:
        """Get a new token by the grant of the options; it is stored if a person had to act.

        `reason` is the error message when a person is needed and none is present.
        """
        kind = grants.kind_of(discovered, self.options)
        if self.options.client_id:
            self._client_issuer = self._client_issuer or discovered.server.issuer
            self._context.options = self.options = replace(self.options, client_issuer=self._client_issuer)
        grant = yield from grants.acquire(kind, discovered, self.server, scope, self._context, reason)
        self.grant = grant
        if grants.needs_person(kind):
            yield StoreGrant(grant.issuer, grant.resource, grant)
        return grant

    def _discovered(self, challenge: Challenge | None) -> AuthFlow[Discovery]:
        """Read the metadata again each time: a server may have moved to another authorization server."""
        self.discovery = None
        self.discovery = yield from discovery.discover(
            self.server, challenge, issuer=self.options.auth_server, revision=self.revision
        )
        return self.discovery

    def _first_scope(self, discovered: Discovery, challenge: Challenge | None) -> AuthFlow[tuple[str, ...] | None]:
        kind = grants.kind_of(discovered, self.options)
        return (
            yield from scopes.first(self.options.scope, challenge, discovered.resource.scopes, discovered.server, kind)
        )

    def _recall(self) -> AuthFlow[None]:
        kept = yield LoadGrant(self.server)
        if isinstance(kept, Grant) and url_checks.canonical(kept.server) == url_checks.canonical(self.server):
            self.grant = kept

    def _ended(self, grant: Grant) -> bool:
        """Whether a token has expired. It is then not sent: not every server refuses an expired token."""
        return grant.issued_at < grant.expires_at <= self._now()

    def _ends_soon(self, grant: Grant) -> bool:
        if not grant.expires_at:
            return False
        early = min(EARLY_SECONDS, (grant.expires_at - grant.issued_at) / 10)
        return self._now() >= grant.expires_at - early

    def _attempts_of(self, operation: str) -> _Attempts:
        """Return the attempts for this operation; new ones after the last token was accepted for a while."""
        attempts = self._attempts.get(operation)
        if attempts is None or (attempts.at and self._now() - attempts.at > SETTLED_SECONDS):
            attempts = self._attempts[operation] = _Attempts()
        return attempts

    def _operation(self, refusal: RefusedResponse, challenge: Challenge | None) -> tuple[object, ...]:
        """Return the key of operations that fail together: those without a token, or those that need these scopes."""
        if refusal.status == 401:
            return (401,)
        return (refusal.method, frozenset((challenge.scope if challenge else None) or ()))


def is_temporary(error: AuthorizationNeeded) -> bool:
    """Whether a failure is temporary: no response, or a server error."""
    return isinstance(error, FetchFailed) or (isinstance(error, TokenRefused) and error.temporary)


def _token_of(sent: Sequence[tuple[str, str]]) -> str:
    """Return the access token among the sent header fields, or an empty text."""
    for name, value in sent:
        if name.lower() == "authorization":
            return value.partition(" ")[2]
    return ""
