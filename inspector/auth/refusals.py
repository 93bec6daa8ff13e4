"""Messages about refusals: what the server requires, why a person is needed, why the login failed."""

from __future__ import annotations

from typing import Any

from inspector.auth.actions import AuthFlow, RefusedResponse, record_step
from inspector.auth.challenge import Challenge
from inspector.auth.options import GrantKind
from inspector.errors import AuthorizationNeeded
from inspector.hints import Hint, Parameter
from inspector.text import safe


def why_again(refusal: RefusedResponse, scope: tuple[str, ...] | None) -> str:
    """Return why a person is needed again after a login: the start of a sentence."""
    if refusal.status == 403:
        return f"A person must grant the scopes “{safe(' '.join(scope or ()), 200)}”"
    return "The stored login is not valid any more: a person must log in again"


def enough(
    refusal: RefusedResponse, challenge: Challenge | None, count: int, resource: str
) -> AuthFlow[AuthorizationNeeded]:
    """Return the error after `count` authorizations for `resource` (C-AUTH-34)."""
    what = f" to {safe(refusal.method, 60)}" if refusal.method else ""
    reason = safe((challenge.parameters if challenge else {}).get("error_description", ""), 200)
    required = safe(" ".join((challenge.scope if challenge else None) or ()), 200)
    if refusal.status == 403 and required:
        times = "once" if count == 1 else f"{count} times"
        message = f"The server refused access{what}: authorized {times}, it still requires the scopes “{required}”"
        fix = Hint("The server should accept a token that has the scopes that it requires.")
    elif refusal.status == 403:
        message = f"The server refused access{what}: it requires more scopes, but its challenge does not name them"
        fix = Hint(
            "Name all required scopes with ",
            Parameter.SCOPE,
            ". The challenge should contain “scope” (RFC 6750 section 3).",
        )
    else:
        message = "The server refuses the token that its own authorization server just issued for it"
        fix = Hint(f"Check that the server accepts tokens for “{safe(resource, 200)}”.")
    message += f": {reason}" if reason else "."
    yield from record_step("request", message, ok=False, rule="C-AUTH-34", status=refusal.status, fix=fix)
    return AuthorizationNeeded(message, hint=fix)


def of_given_token(refusal: RefusedResponse, challenge: Challenge | None) -> AuthorizationNeeded:
    """Return the error for a token that the person gave and the server refuses."""
    reason = safe((challenge.parameters if challenge else {}).get("error_description", ""), 200)
    message = f"The server refuses the given token ({refusal.status})" + (f": {reason}" if reason else ".")
    return AuthorizationNeeded(message, hint="Give another token, or remove it to log in.", given=True)


def tell(refusal: RefusedResponse, challenge: Challenge | None, schemes: list[str], kind: GrantKind) -> AuthFlow[None]:
    """Record what the server requires of a client with a grant of a `kind`.

    Raises if the server requires something that Inspector cannot provide (C-AUTH-02).
    """
    challenges = [entry[:2000] for entry in refusal.challenges[:8]]
    facts: dict[str, Any] = {"status": refusal.status, "schemes": schemes[:8], "challenge": challenges}
    if kind != "auto":
        facts["grant"] = kind
    fix = 'Send WWW-Authenticate: Bearer resource_metadata="…" with the 401.'
    if challenge is None:
        named = ", ".join(safe(entry, 30) for entry in dict.fromkeys(schemes[:5]))
        text = f"with a challenge for {named}" if named else "without a challenge"
        yield from record_step("challenge", f"{refusal.status}, {text}", ok=False, rule="C-AUTH-02", fix=fix, **facts)
        if named:
            raise AuthorizationNeeded(
                f"The server requires authorization with {named}, not with a token.",
                hint=Hint("Set the header field yourself: ", Parameter.AUTHORIZATION_FIELD),
            )
        return
    given = challenge.parameters
    parts = [str(refusal.status)]
    if given.get("error"):
        parts.append(safe(given["error"], 60))
    parts.append("metadata URL" if given.get("resource_metadata") else "no metadata URL")
    parts.append(f"scope “{safe(' '.join(challenge.scope), 100)}”" if challenge.scope else "no scope")
    yield from record_step(
        "challenge", ", ".join(parts), rule="C-AUTH-33" if refusal.status == 403 else "C-AUTH-02", **facts
    )
