"""The scopes to request (2026-07-28/basic/authorization, “Scope Selection Strategy”, “Step-Up Authorization Flow”).

Three sources in this order, never mixed: the options, the challenge, the protected resource metadata. A step-up adds
the newly required scopes to those requested and granted before, and no others.
"""

from __future__ import annotations

from inspector.auth.actions import AuthFlow, record_step
from inspector.auth.challenge import Challenge
from inspector.auth.grants import needs_person
from inspector.auth.json_documents import is_scope
from inspector.auth.models import Grant
from inspector.auth.options import GrantKind
from inspector.auth.server_metadata import AuthorizationServer
from inspector.errors import AuthorizationNeeded
from inspector.text import safe

OFFLINE = "offline_access"
"""The scope that requests a refresh token from OpenID providers."""


def first(
    given: str,
    challenge: Challenge | None,
    supported: tuple[str, ...] | None,
    server: AuthorizationServer,
    kind: GrantKind,
) -> AuthFlow[tuple[str, ...] | None]:
    """Return the scopes of a first authorization (C-AUTH-24); None: the parameter is omitted.

    `given` are the scopes of the options, `supported` those of the protected resource metadata. With a `kind` of grant
    that needs a person, a refresh token is requested (C-AUTH-26).
    """
    if given:
        words = tuple(dict.fromkeys(given.split()))
        for word in words:
            if not is_scope(word):
                raise AuthorizationNeeded(
                    f"“{safe(word, 60)}” is not a valid scope.", hint="Separate scopes with spaces."
                )
        yield from record_step(
            "scope", " ".join(words), rule="C-AUTH-24", source="options", scope=list(words), grant=kind
        )
        return words
    if challenge is not None and challenge.scope:
        scope, source, name = challenge.scope, "challenge", "the challenge"
    else:
        scope, source, name = supported or (), "metadata", "the protected resource metadata"
    scope = _offline(scope, server, needs_person(kind))
    if not scope:
        none = "None: neither the challenge nor the metadata names any"
        yield from record_step("scope", none, rule="C-AUTH-24", grant=kind)
        return None
    yield from record_step(
        "scope",
        f"{safe(' '.join(scope), 300)}, by {name}",
        rule="C-AUTH-24",
        source=source,
        scope=list(scope),
        grant=kind,
    )
    return scope


def more(
    given: str,
    challenge: Challenge,
    supported: tuple[str, ...] | None,
    grant: Grant | None,
    server: AuthorizationServer,
) -> AuthFlow[tuple[str, ...]]:
    """Return the scopes of a step-up: those requested and granted before, and the required ones (C-AUTH-33).

    If the challenge names none: the scopes of the options, else those of the protected resource metadata.
    """
    named = challenge.scope or tuple(word for word in given.split() if is_scope(word)) or supported or ()
    required = _offline(named, server, False)
    before = dict.fromkeys((*grant.asked, *grant.scope)) if grant else {}
    scope = tuple(before | dict.fromkeys(required))
    text = f"{safe(' '.join(required) or 'no scope is named', 300)}, in addition to the granted scopes"
    yield from record_step(
        "stepup",
        text,
        rule="C-AUTH-33",
        wanted=list(required),
        before=list(before),
        scope=list(scope),
        source="challenge" if challenge.scope else "options" if given else "metadata",
    )
    return scope


def _offline(scope: tuple[str, ...], server: AuthorizationServer, person: bool) -> tuple[str, ...]:
    """Add `offline_access` only if the authorization server lists it, and there are other scopes."""
    listed = OFFLINE in (server.scopes or ())
    rest = tuple(word for word in scope if word != OFFLINE)
    refreshes = server.grants is None or "refresh_token" in server.grants
    return (*rest, OFFLINE) if listed and (OFFLINE in scope or (rest and person and refreshes)) else rest
