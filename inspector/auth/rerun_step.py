"""One step of a login, run again alone: what a server answers now, beside what it answered before.

Nothing that is found so is used by the session; only what would be kept in a login is kept: a new client, a renewed
token. A step that would need a code, which is good once, or a person cannot be run alone, and `why_not` says why.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from inspector.auth import discovery, metadata, registration
from inspector.auth.actions import Fetch, Flow, fetch, told
from inspector.auth.authorize import Authorization
from inspector.auth.challenge import chosen, parse
from inspector.auth.fetching import Recorder
from inspector.errors import AuthorizationNeeded
from inspector.text import safe

PROBE = json.dumps({"jsonrpc": "2.0", "id": 0, "method": "ping"}).encode()
"""What is sent without a token to see how the server refuses it; it does nothing where it is let in."""

_WHY_NOT = {
    "server": "It is a decision, and nothing is sent for it: run the step before it again, or log in anew.",
    "scope": "It is a decision, and nothing is sent for it: log in anew to ask for other scopes.",
    "authorize": "Your browser can be asked only as part of a whole login: log in anew.",
    "callback": "What the browser comes back with is good once: log in anew.",
    "device": "A code to enter is good once: log in anew.",
    "exchange": "What the identity provider gives is for one login: log in anew.",
    "stepup": "More scopes are a matter of a whole login: log in anew.",
    "request": "It is a request of the session: send it again from the messages.",
    "revoke": "The tokens are forgotten: there is nothing to be given back any more.",
    "end": "There the login ended: log in anew.",
}
"""Why a step cannot be run alone."""


@dataclass(frozen=True, slots=True)
class Before:
    """What was found before the step, as the recording has it. A server's words: all of it is checked as ever."""

    challenges: tuple[str, ...] = ()
    """The values of the `WWW-Authenticate` fields."""
    issuer: str = ""
    """The authorization server that was chosen."""
    redirect_uri: str = ""
    """Where the browser was to come back to."""
    rule: str = ""
    """The rule of the step."""
    registered: bool = False
    """The client was registered in that step."""


def before(steps: list[tuple[str, str, Mapping[str, Any]]]) -> Before:
    """What is known at the last of these steps, each given by its name, its rule and its facts."""
    said: tuple[str, ...] = ()
    issuer = ""
    for name, _, facts in steps:
        challenge = facts.get("challenge")
        if name == "challenge" and isinstance(challenge, list):
            said = tuple(each for each in challenge if isinstance(each, str))
        if name == "server" and isinstance(facts.get("issuer"), str):
            issuer = facts["issuer"]
    _, rule, facts = steps[-1]
    redirect_uri = facts.get("redirect_uri")
    found = redirect_uri if isinstance(redirect_uri, str) else ""
    return Before(said, issuer, found, rule, bool(found))


def why_not(name: str, known: Before, state: Authorization) -> str:
    """Why a step cannot be run alone; empty where it can."""
    if name == "registration" and not known.registered:
        return "No client is registered in it: nothing is sent for this step."
    if name == "token":
        return (
            "The code of that login is spent, and there is nothing to renew the token with: log in anew."
            if state.grant is None or not state.grant.refresh_token
            else ""
        )
    if name == "refresh" and (state.grant is None or not state.grant.refresh_token):
        return "There is no refresh token any more: log in anew."
    if name in ("metadata", "issuer") and not known.issuer:
        return "It is not known for which authorization server: log in anew."
    if name in ("challenge", "resource", "metadata", "issuer", "registration", "refresh"):
        return ""
    return _WHY_NOT.get(name, "This step cannot be run alone: log in anew.")


def step(state: Authorization, name: str, known: Before) -> Flow[None]:
    """Run one step; what comes of it is told, also what fails. Raises nothing but what the runner raises."""
    try:
        yield from _run(state, name, known)
    except AuthorizationNeeded as error:
        # The flow has told most of its failures; who looks at the step sees the last that is told.
        yield from told(name, error.message, ok=False, rule=known.rule, fix=error.hint)


def _run(state: Authorization, name: str, known: Before) -> Flow[None]:
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


def _challenge(state: Authorization) -> Flow[None]:
    """Ask the MCP server for something without a token."""
    fields = (("Content-Type", "application/json"), ("Accept", "application/json, text/event-stream"))
    answer = yield from fetch(Fetch("POST", state.server, fields, PROBE, what="a request without a token", named=True))
    challenges = answer.values("www-authenticate")
    found = chosen(parse(challenges))
    if answer.status in (401, 403):
        has = "with our kind of challenge" if found is not None else "without a challenge that we could answer"
    else:
        has = "so it wants no login for this request"
    said = [each[:2000] for each in challenges[:8]]
    yield from told(
        "challenge", f"{answer.status}, {has}", ok=found is not None, rule="C-AUTH-02", status=answer.status,
        challenge=said,
    )  # fmt: skip


def _metadata(state: Authorization, known: Before) -> Flow[metadata.Server]:
    if known.rule == "C-AUTH-35":
        return (yield from metadata.as_of_2025_03_26(state.server, state.revision))
    named = known.issuer == state.options.auth_server
    return (yield from metadata.of(known.issuer, revision=state.revision, named=named))


def _registration(state: Authorization, known: Before) -> Flow[None]:
    """Register another client; it takes the place of the one that is kept."""
    found = state.found
    server = found.server if found is not None else (yield from _metadata(state, known))
    if not server.registration_endpoint:
        raise AuthorizationNeeded(
            f"The authorization server {safe(server.issuer, 200)} registers no clients by itself any more."
        )
    yield from registration.register(server, known.redirect_uri, found.resource.scopes if found is not None else None)


class Beside:
    """Records the steps of a flow as belonging to the step of event `n`; `run` tells one run from the next."""

    def __init__(self, recorder: Recorder, n: int, run: int) -> None:
        self._recorder = recorder
        self._facts = {"again": n, "run": run}

    def auth(
        self, step: str, ok: bool, text: str, *, rule: str = "", fix: str = "", facts: dict[str, Any] | None = None
    ) -> int:
        """Record a step."""
        return self._recorder.auth(step, ok, text, rule=rule, fix=fix, facts={**(facts or {}), **self._facts})

    def asking(self, begun: bool) -> None:
        """Let no request's clock run meanwhile."""
        self._recorder.asking(begun)

    def secret(self, value: str) -> None:
        """Learn a value that must never be recorded."""
        self._recorder.secret(value)
