"""One step of a login, run again alone, to compare the server's response with the earlier one.

The session uses nothing of the result; only a new client and a refreshed token are stored. A step that needs a code,
which is valid once, or a person cannot be run alone: `why_not` says why.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from inspector.auth import discovery, registration, server_metadata
from inspector.auth.actions import AuthFlow, Fetch, fetch, record_step
from inspector.auth.authorize import Authorization
from inspector.auth.challenge import chosen, parse
from inspector.auth.fetching import Recorder
from inspector.errors import AuthorizationNeeded
from inspector.hints import Hint, Parameter
from inspector.text import safe

PROBE = json.dumps({"jsonrpc": "2.0", "id": 0, "method": "ping"}).encode()
"""The request that is sent without a token to see the server's refusal; harmless if it is accepted."""

_WHY_NOT = {
    "server": "This step sends no request. Run the step before it again, or log in again.",
    "scope": "This step sends no request. Log in again to request other scopes.",
    "authorize": "The browser is opened only by a full login. Log in again.",
    "callback": "The browser's redirect is valid once. Log in again.",
    "device": "A device code is valid once. Log in again.",
    "exchange": "The identity provider's assertion is for one login. Log in again.",
    "stepup": "More scopes need a full login. Log in again.",
    "request": "This is a request of the session. Send it again from the messages.",
    "revoke": "The tokens were deleted, so there is nothing to revoke.",
    "end": "The login failed at this step. Log in again.",
}
"""Why a step cannot be run alone."""


@dataclass(frozen=True, slots=True)
class EarlierSteps:
    """Facts from the steps before, read from the recording. They come from a server, so they are checked as usual."""

    challenges: tuple[str, ...] = ()
    """The values of the `WWW-Authenticate` fields."""
    issuer: str = ""
    """The authorization server that was chosen."""
    redirect_uri: str = ""
    """The redirect URI."""
    rule: str = ""
    """The rule of the step."""
    registered: bool = False
    """The client was registered in that step."""


def before(steps: list[tuple[str, str, Mapping[str, Any]]]) -> EarlierSteps:
    """Return what is known at the last of these steps, each given by its name, rule and facts."""
    challenges: tuple[str, ...] = ()
    issuer = ""
    for name, _, facts in steps:
        challenge = facts.get("challenge")
        if name == "challenge" and isinstance(challenge, list):
            challenges = tuple(value for value in challenge if isinstance(value, str))
        if name == "server" and isinstance(facts.get("issuer"), str):
            issuer = facts["issuer"]
    _, rule, facts = steps[-1]
    redirect_uri = facts.get("redirect_uri")
    earlier_uri = redirect_uri if isinstance(redirect_uri, str) else ""
    return EarlierSteps(challenges, issuer, earlier_uri, rule, bool(earlier_uri))


def why_not(name: str, known: EarlierSteps, state: Authorization) -> str:
    """Return why a step cannot be run alone; empty if it can."""
    if name == "registration" and not known.registered:
        return "This step registered no client and sends no request."
    if name == "token":
        return (
            "That login's code is used, and no refresh token is stored. Log in again."
            if state.grant is None or not state.grant.refresh_token
            else ""
        )
    if name == "refresh" and (state.grant is None or not state.grant.refresh_token):
        return "The refresh token was deleted. Log in again."
    if name in ("metadata", "issuer") and not known.issuer:
        return "The authorization server of this step is unknown. Log in again."
    if name in ("challenge", "resource", "metadata", "issuer", "registration", "refresh"):
        return ""
    return _WHY_NOT.get(name, "This step cannot be run alone. Log in again.")


def step(state: Authorization, name: str, known: EarlierSteps) -> AuthFlow[None]:
    """Run one step and record its result or failure. Raises only what the runner raises."""
    try:
        yield from _run(state, name, known)
    except AuthorizationNeeded as error:
        # The flow has recorded most of its failures; this one is the last, which the reader of the step sees.
        yield from record_step(name, error.message, ok=False, rule=known.rule, fix=error.hint)


def _run(state: Authorization, name: str, known: EarlierSteps) -> AuthFlow[None]:
    if reason := why_not(name, known, state):
        raise AuthorizationNeeded(reason)
    if name == "challenge":
        yield from _challenge(state)
    elif name == "resource":
        challenge = chosen(parse(known.challenges))
        yield from discovery.protected_resource(state.server, challenge, state.revision)
    elif name in ("metadata", "issuer"):
        yield from _metadata(state, known)
    elif name == "registration":
        yield from _registration(state, known)
    else:
        yield from state.renew()


def _challenge(state: Authorization) -> AuthFlow[None]:
    """Send the MCP server a request without a token."""
    fields = (("Content-Type", "application/json"), ("Accept", "application/json, text/event-stream"))
    answer = yield from fetch(Fetch("POST", state.server, fields, PROBE, what="a request without a token", named=True))
    challenges = answer.values("www-authenticate")
    selected = chosen(parse(challenges))
    if answer.status in (401, 403):
        has = "with a supported challenge" if selected is not None else "without a supported challenge"
    else:
        has = "so this request needs no login"
    recorded = [challenge[:2000] for challenge in challenges[:8]]
    yield from record_step(
        "challenge",
        f"{answer.status}, {has}",
        ok=selected is not None,
        rule="C-AUTH-02",
        status=answer.status,
        challenge=recorded,
    )


def _metadata(state: Authorization, known: EarlierSteps) -> AuthFlow[server_metadata.AuthorizationServer]:
    if known.rule == "C-AUTH-35":
        return (yield from server_metadata.as_of_2025_03_26(state.server, state.revision))
    named = known.issuer == state.options.auth_server
    return (yield from server_metadata.of(known.issuer, revision=state.revision, named=named))


def _registration(state: Authorization, known: EarlierSteps) -> AuthFlow[None]:
    """Register another client, which replaces the stored one."""
    earlier = state.discovery
    server = earlier.server if earlier is not None else (yield from _metadata(state, known))
    if not server.registration_endpoint:
        raise AuthorizationNeeded(
            f"The authorization server {safe(server.issuer, 200)} does not register clients by itself any more.",
            hint=Hint("Register a client there, and set its id with ", Parameter.CLIENT_ID, "."),
        )
    yield from registration.register(
        server, known.redirect_uri, earlier.resource.scopes if earlier is not None else None
    )


class StepRecorder:
    """Records the steps of a flow as part of the step of event `n`; `run` distinguishes runs."""

    def __init__(self, recorder: Recorder, n: int, run: int) -> None:
        self._recorder = recorder
        self._facts = {"again": n, "run": run}

    def auth(
        self, step: str, ok: bool, text: str, *, rule: str = "", fix: str = "", facts: dict[str, Any] | None = None
    ) -> int:
        """Record a step."""
        return self._recorder.auth(step, ok, text, rule=rule, fix=fix, facts={**(facts or {}), **self._facts})

    def asking(self, begun: bool) -> None:
        """Pause the timeouts of requests meanwhile."""
        self._recorder.asking(begun)

    def secret(self, value: str) -> None:
        """Register a value that must never be recorded."""
        self._recorder.secret(value)
