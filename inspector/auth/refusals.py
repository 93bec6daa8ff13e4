"""What is said of a refusal: what the server asks for, why a person is needed, why it is given up."""

from __future__ import annotations

from typing import Any

from inspector.auth.actions import Flow, Refusal, told
from inspector.auth.challenge import Challenge
from inspector.auth.options import GrantKind
from inspector.errors import AuthorizationNeeded
from inspector.hints import Hint, Parameter
from inspector.text import safe


def why_again(refusal: Refusal, scope: tuple[str, ...] | None) -> str:
    """Why a person is needed though there was a login: the beginning of a sentence."""
    if refusal.status == 403:
        return f"A person has to grant the scopes “{safe(' '.join(scope or ()), 200)}”"
    return "The login that was kept is good no more: a person has to log in again"


def enough(refusal: Refusal, challenge: Challenge | None, count: int, resource: str) -> Flow[AuthorizationNeeded]:
    """Why it is given up, after `count` authorizations for `resource` (C-AUTH-34)."""
    what = f" to {safe(refusal.method, 60)}" if refusal.method else ""
    why = safe((challenge.parameters if challenge else {}).get("error_description", ""), 200)
    wanted = safe(" ".join((challenge.scope if challenge else None) or ()), 200)
    if refusal.status == 403 and wanted:
        times = "once" if count == 1 else f"{count} times"
        message = f"The server refused access{what}: authorized {times}, it still wants the scopes “{wanted}”"
        fix = Hint("The server should take a token that has the scopes that it asks for.")
    elif refusal.status == 403:
        message = f"The server refused access{what}: it wants more scopes, and its challenge does not name them"
        fix = Hint(
            "Name all that are needed with ",
            Parameter.SCOPE,
            ". The challenge should have “scope” in it (RFC 6750 section 3).",
        )
    else:
        message = "The server refuses the token that its own authorization server has just issued for it"
        fix = Hint(f"The token is for “{safe(resource, 200)}”: is that what the server checks?")
    message += f": {why}" if why else "."
    yield from told("request", message, ok=False, rule="C-AUTH-34", status=refusal.status, fix=fix)
    return AuthorizationNeeded(message, hint=fix)


def of_given_token(refusal: Refusal, challenge: Challenge | None) -> AuthorizationNeeded:
    """The error for a token that the person gave, and that the server refuses."""
    why = safe((challenge.parameters if challenge else {}).get("error_description", ""), 200)
    said = f"The server refuses the token that was given ({refusal.status})" + (f": {why}" if why else ".")
    return AuthorizationNeeded(said, hint="Give another token, or none, to log in.")


def tell(refusal: Refusal, challenge: Challenge | None, schemes: list[str], kind: GrantKind) -> Flow[None]:
    """Tell what the server asks for, of somebody who wants a grant of a `kind`.

    Raises where it asks for something that is not ours to give (C-AUTH-02).
    """
    said = [each[:2000] for each in refusal.challenges[:8]]
    facts: dict[str, Any] = {"status": refusal.status, "schemes": schemes[:8], "challenge": said}
    if kind != "auto":
        facts["grant"] = kind
    fix = 'A 401 should have: WWW-Authenticate: Bearer resource_metadata="…"'
    if challenge is None:
        named = ", ".join(safe(each, 30) for each in dict.fromkeys(schemes[:5]))
        text = f"with a challenge for {named}" if named else "without a challenge"
        yield from told("challenge", f"{refusal.status}, {text}", ok=False, rule="C-AUTH-02", fix=fix, **facts)
        if named:
            raise AuthorizationNeeded(
                f"The server wants authorization by {named}, not by a token.",
                hint=Hint("Give the header field yourself: ", Parameter.AUTHORIZATION_FIELD),
            )
        return
    given = challenge.parameters
    parts = [str(refusal.status)]
    if given.get("error"):
        parts.append(safe(given["error"], 60))
    parts.append("metadata URL" if given.get("resource_metadata") else "no metadata URL")
    parts.append(f"scope “{safe(' '.join(challenge.scope), 100)}”" if challenge.scope else "no scope")
    yield from told("challenge", ", ".join(parts), rule="C-AUTH-33" if refusal.status == 403 else "C-AUTH-02", **facts)
