"""The login step: discover the authorization server. It does not log in and asks no questions."""

from __future__ import annotations

import asyncio

from inspector.auth.challenge import chosen, parse
from inspector.auth.discovery import Discovery, discover
from inspector.auth.person import NoPerson
from inspector.auth.runner import FlowRunner
from inspector.auth.server_metadata import AuthorizationServer
from inspector.client.engine.wire import Wire
from inspector.client.fetching import EndpointSender
from inspector.client.state.login import AuthStep, authorization_steps
from inspector.config.targets import HttpTarget
from inspector.doctor.diagnosis import Fix, StepCollector, Stopwatch, Weight
from inspector.doctor.http_requests import ProbeResponse
from inspector.errors import InspectorError
from inspector.hints import GIVE_TOKEN
from inspector.journal.journal import Frame, Journal
from inspector.transports.base import Outgoing


async def check(
    steps: StepCollector, target: HttpTarget, journal: Journal, refusal: ProbeResponse, seconds: float
) -> bool:
    """Find the authorization server that the refusal names; True if a login is possible."""
    watch = Stopwatch()
    values = refusal.all("www-authenticate")
    challenge = chosen(parse(values))
    if values:
        steps.add("challenge", "ok" if challenge else "warn", "; ".join(values)[:500])
    else:
        steps.add(
            "challenge",
            "warn",
            f"status {refusal.status} without WWW-Authenticate",
            fix=Fix("Name the protected resource metadata in the WWW-Authenticate header of a 401."),
        )
    web = EndpointSender(target)
    runner = FlowRunner(
        target.url, web=web, person=NoPerson(), store=None, recorder=Wire(journal, _IgnoresMessages(), lambda: None)
    )
    discovery: Discovery | None = None
    problem = ""
    hint = ""
    try:
        async with asyncio.timeout(seconds):
            discovery = await runner.run(discover(target.url, challenge))
    except TimeoutError:
        problem = f"it was not found within {seconds:g} s"
    except InspectorError as error:
        problem, hint = error.message, error.hint
    finally:
        await web.aclose()
    details = [_described(step) for step in authorization_steps(journal)]
    if discovery is None:
        cause = (
            f"The server requires authorization, but its authorization server cannot be used: {problem.rstrip('.')}."
        )
        if not values:
            cause = (
                f"The server requires authorization (status {refusal.status}) but names no authorization server: its "
                "metadata is missing."
            )
        steps.add(
            "authorization",
            "failed",
            problem.rstrip("."),
            details=details,
            seconds=watch.seconds,
            fix=Fix(hint),
            cause=cause,
            weight=Weight.LIKELY,
        )
        return False
    if not discovery.resource.place and not discovery.server.place:
        steps.add(
            "authorization",
            "failed",
            "no metadata of the server or of an authorization server",
            details=details,
            seconds=watch.seconds,
            fix=Fix(GIVE_TOKEN),
            cause=(
                f"The server requires authorization (status {refusal.status}) but has no metadata of an "
                "authorization server."
            ),
            weight=Weight.LIKELY,
        )
        return False
    ways = _ways(discovery.server)
    steps.add(
        "authorization",
        "ok" if ways else "warn",
        f"{discovery.server.issuer}: {', '.join(ways) or 'no way to log in'}",
        details=details,
        seconds=watch.seconds,
    )
    steps.blame(
        f"The server requires a login at {discovery.server.issuer}.",
        Weight.LIKELY,
        Fix("Log in.", str(steps.line.with_verb("login"))),
    )
    return bool(ways)


def _ways(server: AuthorizationServer) -> list[str]:
    """Return how a client can register, and how it can get a token."""
    grants = server.grants or ("authorization_code",)
    ways = []
    if server.authorization_endpoint and "authorization_code" in grants:
        known = [
            name
            for name, there in (
                ("by its metadata document", server.takes_documents),
                ("by registering", bool(server.registration_endpoint)),
            )
            if there
        ]
        ways.append(f"a person in a browser (client known {' or '.join(known) or 'beforehand: --client-id'})")
    if server.device_endpoint:
        ways.append("a person with a code (--grant device)")
    if "client_credentials" in grants:
        ways.append("a program with its own credentials (--grant client-credentials)")
    return ways


def _described(step: AuthStep) -> str:
    return f"{step.name}: {step.text or step.outcome}"[:500]


class _IgnoresMessages:
    """A listener that ignores everything: no message arrives during the discovery."""

    def on_frame(self, frame: Frame) -> None:
        """Nothing."""

    def on_failed(self, outgoing: Outgoing, error: InspectorError) -> None:
        """Nothing."""

    def on_lost(self, error: InspectorError) -> None:
        """Nothing."""

    def on_asking(self, begun: bool) -> None:
        """Nothing."""
