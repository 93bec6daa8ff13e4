"""The HTTP step: the response to a harmless POST, described, and what it says about the URL."""

from __future__ import annotations

import re

from inspector.config.command_lines import CommandLine
from inspector.doctor.diagnosis import DoctorVerdict, Fix, StepCollector, Weight
from inspector.doctor.http_requests import ProbeResponse
from inspector.transports.http_status import STATUS_HINTS, browser_check, remedy
from inspector.transports.http_url import Url, resolve

REDIRECTS = frozenset((301, 302, 303, 307, 308))
_LOGIN = re.compile(r"log-?in|sign-?in|/auth|sso|oauth|saml|session/new|account", re.IGNORECASE)
_BODIES = {
    "answer": "a JSON-RPC response",
    "stream": "an event stream",
    "json": "JSON that is not JSON-RPC",
    "html": "a web page",
    "empty": "no body",
    "text": "text",
}


def may_be_elsewhere(answer: ProbeResponse) -> bool:
    """Whether another path may work: the response is neither a server failure nor a login."""
    elsewhere = 0 < answer.status < 500 and answer.status not in (401, 407, 429)
    return elsewhere and not is_login(answer) and not browser_check(answer.header, answer.start)


def is_login(answer: ProbeResponse) -> bool:
    """Whether it is the login page of a web application, or a redirect to one."""
    if answer.status in REDIRECTS:
        return _LOGIN.search(answer.header("location")) is not None
    return answer.body == "html" and (b'type="password"' in answer.start or b"type='password'" in answer.start)


def report(steps: StepCollector, answer: ProbeResponse, url: Url, *, connected: bool, proxy: Url | None) -> bool:
    """Add the step; True if it explains why no session was opened."""
    details = [f"{name}: {value[:200]}" for name, value in answer.headers[:20]]
    if answer.start and answer.body in ("text", "json", "html"):
        details.append(f"body: {answer.text[:300]}")
    text = answer.reason
    if answer.status:
        kind = f" ({answer.media_type[:60]})" if answer.media_type else ""
        text = f"status {answer.status}, {_BODIES[answer.body]}{kind}"
        if answer.status in REDIRECTS:
            text = f"status {answer.status} to {answer.header('location')[:300]}"
    if connected:
        steps.add("http", "ok", text, details=details, seconds=answer.seconds)
        return False
    cause, fix, weight = _cause(answer, url, proxy, steps.line)
    verdict: DoctorVerdict = "failed" if cause else "info" if answer.status in (401, 403) else "ok"
    steps.add("http", verdict, text, details=details, seconds=answer.seconds, fix=fix, cause=cause, weight=weight)
    return bool(cause)


def _cause(answer: ProbeResponse, url: Url, proxy: Url | None, line: CommandLine) -> tuple[str, Fix, Weight]:
    status = answer.status
    by_proxy = f" through the proxy {proxy.address}" if proxy is not None else ""
    if not status:
        return (
            f"{url.address} sent no usable response{by_proxy}: {answer.reason}",
            Fix(answer.hint),
            Weight.PROOF if proxy is not None else Weight.LIKELY,
        )
    if status == 407:
        return (
            f"The proxy {proxy.address if proxy else ''} requires a user and a password (status 407).",
            Fix(STATUS_HINTS[status]),
            Weight.PROOF,
        )
    if status in REDIRECTS:
        return _redirect(answer, url, line)
    service = browser_check(answer.header, answer.start)
    if service:
        return (
            f"{service} is in front of {url.address} and answers with a check that only a browser passes (status "
            f"{status}).",
            Fix(remedy(service)),
            Weight.PROOF,
        )
    if status in (401, 403) or answer.speaks:
        return "", Fix(), Weight.SYMPTOM
    if is_login(answer):
        return (
            f"{url.text} responds with an HTML login page instead of MCP: a proxy or web application is in front of "
            "the server.",
            Fix("Let requests with a token pass that page, or use the address behind it."),
            Weight.PROOF,
        )
    if answer.body == "html" and status < 400:
        return f"{url.text} responds with a web page instead of MCP.", Fix("Check host, port and path."), Weight.LIKELY
    fix = Fix(STATUS_HINTS.get(status, "Check host, port and path."))
    if status == 404:
        return f"Nothing exists at {url.target} on {url.address} (status 404).", fix, Weight.LIKELY
    if status >= 400:
        return f"{url.address} refuses the request with status {status}.", fix, Weight.LIKELY
    return f"{url.text} does not respond as an MCP server: {_BODIES[answer.body]}.", fix, Weight.LIKELY


def _redirect(answer: ProbeResponse, url: Url, line: CommandLine) -> tuple[str, Fix, Weight]:
    location = answer.header("location")
    try:
        there = resolve(url, location)
    except ValueError as error:
        return f"It redirects to an invalid URL: {error}.", Fix("Correct the server's Location header."), Weight.PROOF
    if is_login(answer):
        return (
            f"It redirects to a login page, {there.text}: a web application or a proxy is in front of the MCP server.",
            Fix("Let requests with a token pass that page, or use the address behind it."),
            Weight.PROOF,
        )
    if there.origin != url.origin or answer.status not in (307, 308):
        return (
            f"It redirects to {there.text} (status {answer.status}). Inspector does not follow redirects of messages.",
            Fix("If you trust that address, use it.", str(line.on_url(there.text, trusted=there.origin == url.origin))),
            Weight.LIKELY,
        )
    return "", Fix(), Weight.SYMPTOM
