"""Which scopes to ask for (2026-07-28/basic/authorization, “Scope Selection Strategy”, “Step-Up Authorization Flow”).

Three sources, one after the other, and never mixed: what the person says, what the challenge names, what the protected
resource metadata lists. A step-up adds what is newly wanted to what was asked for and granted before, and nothing else.
"""

from __future__ import annotations

from inspector.auth.actions import Flow, told
from inspector.auth.challenge import Challenge
from inspector.auth.documents import is_scope
from inspector.auth.grants import needs_person
from inspector.auth.metadata import Server
from inspector.auth.options import GrantKind
from inspector.auth.values import Grant
from inspector.errors import AuthorizationNeeded
from inspector.text import safe

OFFLINE = "offline_access"
"""The scope by which OpenID providers are asked for a refresh token."""


def first(
    said: str, challenge: Challenge | None, supported: tuple[str, ...] | None, server: Server, kind: GrantKind
) -> Flow[tuple[str, ...] | None]:
    """The scopes of a first authorization (C-AUTH-24); None: the parameter is left out.

    `said` is what the person says, `supported` what the protected resource metadata lists. With a `kind` of grant that
    takes a person's time, a refresh token is worth asking for (C-AUTH-26).
    """
    if said:
        words = tuple(dict.fromkeys(said.split()))
        for word in words:
            if not is_scope(word):
                raise AuthorizationNeeded(f"“{safe(word, 60)}” is no scope.", hint="Scopes are separated by spaces.")
        yield from told("scope", " ".join(words), rule="C-AUTH-24", source="options", scope=list(words), grant=kind)
        return words
    if challenge is not None and challenge.scope:
        scope, source, name = challenge.scope, "challenge", "the challenge"
    else:
        scope, source, name = supported or (), "metadata", "the protected resource metadata"
    scope = _offline(scope, server, needs_person(kind))
    if not scope:
        none = "None: neither the challenge nor the metadata names any"
        yield from told("scope", none, rule="C-AUTH-24", grant=kind)
        return None
    yield from told(
        "scope", f"{safe(' '.join(scope), 300)}, by {name}", rule="C-AUTH-24", source=source, scope=list(scope),
        grant=kind,
    )  # fmt: skip
    return scope


def more(
    said: str, challenge: Challenge, supported: tuple[str, ...] | None, grant: Grant | None, server: Server
) -> Flow[tuple[str, ...]]:
    """The scopes of a step-up: what was asked for and granted before, and what is wanted now (C-AUTH-33).

    A challenge that names none leaves what the person says, else what the protected resource metadata lists.
    """
    named = challenge.scope or tuple(word for word in said.split() if is_scope(word)) or supported or ()
    wanted = _offline(named, server, False)
    before = dict.fromkeys((*grant.asked, *grant.scope)) if grant else {}
    scope = tuple(before | dict.fromkeys(wanted))
    text = f"{safe(' '.join(wanted) or 'no scope is named', 300)}, in addition to what was granted"
    yield from told(
        "stepup", text, rule="C-AUTH-33", wanted=list(wanted), before=list(before), scope=list(scope),
        source="challenge" if challenge.scope else "options" if said else "metadata",
    )  # fmt: skip
    return scope


def _offline(scope: tuple[str, ...], server: Server, person: bool) -> tuple[str, ...]:
    """With `offline_access` only where the authorization server lists it, and where there are other scopes."""
    listed = OFFLINE in (server.scopes or ())
    rest = tuple(each for each in scope if each != OFFLINE)
    refreshes = server.grants is None or "refresh_token" in server.grants
    return (*rest, OFFLINE) if listed and (OFFLINE in scope or (rest and person and refreshes)) else rest
