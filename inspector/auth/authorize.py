"""The whole of it: what is done when an MCP server wants authorization, or more of it.

`Authorization` is what is known of one MCP server. Its methods are flows, to be run one at a time: `ready` before a
request, `answer` after a refusal, `log_in` and `log_out` when the person says so; `fields` is what a request carries.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from inspector.auth import assertions, discovery, grants, refusals, scopes, tokens, urls
from inspector.auth.actions import FetchFailed, Flow, Keep, KeepClient, Refusal, Secret, Stored, Turn, told
from inspector.auth.challenge import Challenge, chosen, parse
from inspector.auth.discovery import Found
from inspector.auth.options import AuthOptions
from inspector.auth.tokens import Means, TokenRefused
from inspector.auth.values import Grant
from inspector.errors import AuthorizationNeeded
from inspector.text import safe

MOST = 3
"""Authorizations for one operation, after which it has failed for good (C-AUTH-34)."""

SETTLED = 60.0
"""Seconds after which a token that is refused was good before: what comes then is another operation."""

EARLY = 30.0
"""Seconds before its end at which a token is renewed; for a short one, a tenth of its time."""

_UNKNOWN_CLIENT = ("invalid_client", "unauthorized_client")
"""What token endpoints say of a client that they do not know; the second is what the Python SDK said for years."""


@dataclass(slots=True)
class _Effort:
    """What was tried for one operation."""

    tried: set[tuple[object, ...]] = field(default_factory=set)
    count: int = 0
    renewed: bool = False
    at: float = 0


class Authorization:
    """What is known of one MCP server and of our way into it."""

    def __init__(
        self, server: str, options: AuthOptions, *, revision: str = "", now: Callable[[], float] = time.time
    ) -> None:
        """`server` is its URL. `revision` goes along with requests for metadata, where it is known (C-AUTH-11)."""
        self.server = urls.as_sent(server)
        self.options = options
        self.revision = revision
        self.grant: Grant | None = None
        self.found: Found | None = None
        self._means = Means(now, options)
        self._now = now
        self._recalled = False
        self._client_issuer = options.client_issuer or options.auth_server
        self._efforts: dict[str, _Effort] = {}
        self._given_up: dict[tuple[object, ...], AuthorizationNeeded] = {}

    # Before a request

    def fields(self, method: str, url: str) -> list[tuple[str, str]]:
        """The header fields that authorize one HTTP request to `url`; none while there is no token (C-AUTH-03).

        None either for another origin than the server's (C-AUTH-04). A DPoP proof is made anew each time (C-AUTH-42).
        """
        try:
            if urls.origin(url.partition("#")[0]) != urls.origin(self.server):
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
            nonce = self._means.nonces.get("", "")
            proof = assertions.proof(grant.key, method, url, self._now(), token=grant.access_token, nonce=nonce)
            fields.append(("DPoP", proof))
        return fields

    def ready(self) -> Flow[None]:
        """Have the best token that takes nobody's time: the stored one, renewed where it is about to end."""
        first, self._recalled = not self._recalled, True
        if self.options.bearer:
            yield Secret(self.options.bearer)
            return
        if first:
            yield from self._recall()
        grant = self.grant
        if grant is None or not grant.refresh_token or not self._ends_soon(grant):
            return
        try:
            yield from self._renewed(grant)
        except AuthorizationNeeded:
            # The token may be good for a little longer; if not, the server will say so.
            return

    def waits(self) -> bool:
        """Whether `ready` has something to do: a token to be looked for, or to be renewed."""
        grant = self.grant
        return not self._recalled or (grant is not None and bool(grant.refresh_token) and self._ends_soon(grant))

    # After a refusal

    def answer(self, refusal: Refusal, sent: Sequence[tuple[str, str]]) -> Flow[bool]:
        """Do what a refusal asks for. True: the request may be sent again, with other `fields`; False: not our matter.

        `sent` are the fields that authorized the refused request. Raises `AuthorizationNeeded` where all was tried, or
        something failed, and says why; the same refusal is then not tried again until `log_in`.
        """
        challenges = parse(refusal.challenges)
        challenge = chosen(challenges)
        wants_more = challenge is not None and challenge.parameters.get("error") == "insufficient_scope"
        if refusal.status != 401 and not (refusal.status == 403 and wants_more):
            return False
        try:
            return (yield from self._answered(refusal, sent, challenge, [each.scheme for each in challenges]))
        except AuthorizationNeeded as error:
            if error.status is None:
                error.status, error.challenge = refusal.status, tuple(refusal.challenges)
            raise

    def log_in(self, refusal: Refusal | None = None) -> Flow[Grant]:
        """Authorize anew, whatever was tried or stored before. `refusal`: the server's, if it was asked."""
        self._efforts.clear()
        self._given_up.clear()
        self._recalled = True
        challenge = None
        if refusal is not None:
            challenges = parse(refusal.challenges)
            challenge = chosen(challenges)
            yield from refusals.tell(
                refusal, challenge, [each.scheme for each in challenges], grants.wanted(self.options)
            )
        found = yield from self._discovered(challenge)
        scope = yield from self._first_scope(found, challenge)
        return (yield from self._acquired(found, scope))

    def log_out(self) -> Flow[bool]:
        """Give the tokens back and forget them; whether the authorization server took them (RFC 7009)."""
        if not self._recalled:
            self._recalled = True
            yield from self._recall()
        grant, self.grant = self.grant, None
        if grant is None:
            return False
        yield Keep(grant.issuer, grant.resource, None)
        if grant.client.origin == "registered":
            # Whoever begins anew does so as a client that the server knows for certain.
            yield KeepClient(grant.issuer, None)
        return (yield from tokens.revoke(grant, self._means))

    def renew(self) -> Flow[bool]:
        """Renew the token now, whether it ends soon or not; False where there is nothing to renew it with, or no more.

        Raises `AuthorizationNeeded` where nobody answered.
        """
        grant = self.grant
        return grant is not None and bool(grant.refresh_token) and (yield from self._renewed(grant))

    # Parts

    def _answered(
        self, refusal: Refusal, sent: Sequence[tuple[str, str]], challenge: Challenge | None, schemes: list[str]
    ) -> Flow[bool]:
        token = _token_of(sent)
        nonce = self._means.learn_nonce("", refusal.fields)
        if self.options.bearer:
            raise refusals.of_given_token(refusal, challenge)
        if self.grant is not None and token != self.grant.access_token and not self._ended(self.grant):
            # Another request has brought a token since this one was sent.
            return True
        if challenge is not None and challenge.parameters.get("error") == "use_dpop_nonce" and self.grant is not None:
            yield from told("request", "The server wants its nonce in the proof", ok=nonce, rule="RFC 9449 section 9")
            if nonce:
                return True
            raise AuthorizationNeeded("The server refuses a proof with the very nonce that it gave.")
        operation = self._operation(refusal, challenge)
        if (before := self._given_up.get(operation)) is not None:
            raise AuthorizationNeeded(before.message, hint=before.hint or "Log in again to try anew.")
        yield from refusals.tell(refusal, challenge, schemes, grants.wanted(self.options))
        try:
            yield from self._settle(refusal, challenge, token)
        except AuthorizationNeeded as error:
            if not passes(error):
                self._given_up[operation] = error
            raise
        return True

    def _settle(self, refusal: Refusal, challenge: Challenge | None, token: str) -> Flow[None]:
        """Come to another token than the refused one, or raise."""
        effort = self._effort(refusal.method)
        old = self.grant
        if refusal.status == 403 and self.found is not None:
            found = self.found
        else:
            found = yield from self._discovered(challenge)
        issuer, resource = found.server.issuer, found.resource.resource
        if old is not None and old.issuer != issuer:
            yield from told(
                "server", f"The server has moved from {safe(old.issuer, 200)} to {safe(issuer, 200)}: what was "
                "granted there is not sent any more", rule="C-AUTH-17", before=old.issuer, issuer=issuer,
            )  # fmt: skip
            yield Keep(old.issuer, old.resource, None)
            self.grant = old = None
        if (yield from self._renewed_or_kept(refusal, challenge, found, token, effort)):
            return
        scope: tuple[str, ...] | None
        if refusal.status == 403 and challenge is not None:
            scope = yield from scopes.more(
                self.options.scope, challenge, found.resource.scopes, self.grant, found.server
            )
            if not challenge.scope and self.grant is not None and {*scope} <= {*self.grant.asked, *self.grant.scope}:
                # Nobody has to log in for the same once more.
                raise (yield from refusals.enough(refusal, challenge, effort.count, resource))
        else:
            scope = yield from self._first_scope(found, challenge)
            if old is not None and scope is not None:
                # What a step-up brought is not lost because the token has ended.
                scope = tuple(dict.fromkeys((*scope, *old.asked)))
        attempt = (refusal.status, issuer, resource, frozenset(scope or ()))
        if effort.count >= MOST or attempt in effort.tried:
            raise (yield from refusals.enough(refusal, challenge, effort.count, resource))
        effort.tried.add(attempt)
        effort.count += 1
        yield from self._acquired(found, scope, refusals.why_again(refusal, scope) if self.grant else "")
        effort.at = self._now()

    def _renewed_or_kept(
        self, refusal: Refusal, challenge: Challenge | None, found: Found, token: str, effort: _Effort
    ) -> Flow[bool]:
        """Whether a token was come by without anybody: another process stored one, or the refresh token brought it."""
        kept = yield Stored(self.server, found.server.issuer, found.resource.resource)
        wanted = set(challenge.scope or ()) if challenge is not None and refusal.status == 403 else set()
        if (
            isinstance(kept, Grant)
            and kept.access_token != token
            and wanted <= {*kept.scope}
            and not (kept.expires_at and kept.expires_at <= self._now())
        ):
            yield from told("token", "The stored one, which is newer", rule="C-AUTH-31", scope=list(kept.scope))
            self.grant = kept
            return True
        if refusal.status == 403 or effort.renewed:
            return False
        grant = kept if isinstance(kept, Grant) and kept.refresh_token else self.grant
        if grant is None or not grant.refresh_token or grant.resource != found.resource.resource:
            return False
        renewed = yield from self._renewed(grant)
        effort.renewed, effort.at = True, self._now()
        return renewed

    def _renewed(self, grant: Grant) -> Flow[bool]:
        """Renew the token, or take what another process made of it meanwhile.

        False where the refresh token is good for nothing any more, and has been forgotten.
        """
        yield Turn(grant.issuer, grant.resource)
        try:
            kept = yield Stored(self.server, grant.issuer, grant.resource)
            newer = isinstance(kept, Grant) and kept.access_token != grant.access_token
            if isinstance(kept, Grant) and newer and not self._ends_soon(kept):
                yield from told("refresh", "Another process has renewed it", rule="C-AUTH-32")
                self.grant, renewed = kept, True
            else:
                renewed = yield from self._refreshed(kept if isinstance(kept, Grant) and kept.refresh_token else grant)
        except AuthorizationNeeded:
            yield Turn()
            raise
        yield Turn()
        return renewed

    def _refreshed(self, grant: Grant) -> Flow[bool]:
        """Redeem the refresh token."""
        try:
            fresh = yield from tokens.refresh(grant, self._means)
        except AuthorizationNeeded as error:
            if passes(error):
                raise
            code = error.error if isinstance(error, TokenRefused) else ""
            yield from told(
                "refresh", "The refresh token is forgotten: it all begins anew", ok=False, rule="C-AUTH-32", error=code
            )
            if code in _UNKNOWN_CLIENT and grant.client.origin == "registered":
                # A server that keeps its clients in memory forgets them when it starts anew.
                yield KeepClient(grant.issuer, None)
            # What is good of it is the access token, until it ends.
            self.grant = replace(grant, refresh_token="")
            yield Keep(grant.issuer, grant.resource, None)
            return False
        self.grant = fresh
        yield Keep(fresh.issuer, fresh.resource, fresh)
        return True

    def _acquired(self, found: Found, scope: tuple[str, ...] | None, why: str = "") -> Flow[Grant]:
        """A new token by the grant that the options say; stored where a person had to give it.

        `why` a person is needed is said where there is none.
        """
        kind = grants.kind_of(found, self.options)
        if self.options.client_id:
            self._client_issuer = self._client_issuer or found.server.issuer
            self._means.options = self.options = replace(self.options, client_issuer=self._client_issuer)
        grant = yield from grants.acquire(kind, found, self.server, scope, self._means, why)
        self.grant = grant
        if grants.needs_person(kind):
            yield Keep(grant.issuer, grant.resource, grant)
        return grant

    def _discovered(self, challenge: Challenge | None) -> Flow[Found]:
        """Read the metadata, anew each time: a server may have moved to another authorization server."""
        self.found = None
        self.found = yield from discovery.discover(
            self.server, challenge, issuer=self.options.auth_server, revision=self.revision
        )
        return self.found

    def _first_scope(self, found: Found, challenge: Challenge | None) -> Flow[tuple[str, ...] | None]:
        kind = grants.kind_of(found, self.options)
        return (yield from scopes.first(self.options.scope, challenge, found.resource.scopes, found.server, kind))

    def _recall(self) -> Flow[None]:
        kept = yield Stored(self.server)
        if isinstance(kept, Grant) and urls.canonical(kept.server) == urls.canonical(self.server):
            self.grant = kept

    def _ended(self, grant: Grant) -> bool:
        """Whether a token is past its end: it is not sent any more, for not every server refuses it as it should."""
        return grant.issued_at < grant.expires_at <= self._now()

    def _ends_soon(self, grant: Grant) -> bool:
        if not grant.expires_at:
            return False
        early = min(EARLY, (grant.expires_at - grant.issued_at) / 10)
        return self._now() >= grant.expires_at - early

    def _effort(self, operation: str) -> _Effort:
        """What was tried for this operation; nothing, where the token of the last time was good for a while."""
        effort = self._efforts.get(operation)
        if effort is None or (effort.at and self._now() - effort.at > SETTLED):
            effort = self._efforts[operation] = _Effort()
        return effort

    def _operation(self, refusal: Refusal, challenge: Challenge | None) -> tuple[object, ...]:
        """What is not tried again once it has failed: any request without a token, or one that needs those scopes."""
        if refusal.status == 401:
            return (401,)
        return (refusal.method, frozenset((challenge.scope if challenge else None) or ()))


def passes(error: AuthorizationNeeded) -> bool:
    """Whether a failure says nothing for long: nobody answered, or a server was out of order."""
    return isinstance(error, FetchFailed) or (isinstance(error, TokenRefused) and error.passing)


def _token_of(sent: Sequence[tuple[str, str]]) -> str:
    """The access token among the header fields that were sent; empty for none."""
    for name, value in sent:
        if name.lower() == "authorization":
            return value.partition(" ")[2]
    return ""
