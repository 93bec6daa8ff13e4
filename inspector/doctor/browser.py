"""Access for clients in a web page: the origins that the server allows (CORS), and those that it refuses."""

from __future__ import annotations

from inspector.addresses import is_loopback
from inspector.doctor.diagnosis import Fix, StepCollector
from inspector.doctor.http_requests import ProbeClient
from inspector.protocol.names import SESSION_FIELD
from inspector.transports.http_url import Url

ORIGIN = "https://client.example"
"""The origin of the page that the requests seem to come from."""
WANTED = ("content-type", "authorization", "mcp-protocol-version", "mcp-session-id")
"""Headers that a client in a browser must be allowed to send."""


async def check(steps: StepCollector, web: ProbeClient, url: Url) -> None:
    """Send a browser's preflight request, and then a page's request."""
    asked = (
        ("Origin", ORIGIN),
        ("Access-Control-Request-Method", "POST"),
        ("Access-Control-Request-Headers", ", ".join(WANTED)),
    )
    preflight = await web.send("OPTIONS", url, asked)
    answer = await web.ask(url, ("Origin", ORIGIN))
    allowed = preflight.header("access-control-allow-origin")
    details = [f"OPTIONS with Origin {ORIGIN}: {preflight.status or preflight.reason}, allows “{allowed}”"]
    if answer.status == 403:
        steps.add("browser", "info", "a page of another origin is refused (403), which is safe", details=details)
        return
    seconds = preflight.seconds
    if not allowed or allowed not in ("*", ORIGIN):
        steps.add(
            "browser",
            "info",
            "a client in a web page has no access: no Access-Control-Allow-Origin names its origin",
            details=details,
            seconds=seconds,
        )
        return
    headers = {word.strip().lower() for word in preflight.header("access-control-allow-headers").split(",")}
    lacking = [name for name in WANTED if name not in headers and ("*" not in headers or name == "authorization")]
    exposed = answer.header("access-control-expose-headers").lower()
    problems = [f"may not send {name}" for name in lacking]
    if SESSION_FIELD.lower() not in exposed and "*" not in exposed:
        problems.append(f"cannot read {SESSION_FIELD}")
    text = (
        f"a client in a web page has access, but {', '.join(problems)}"
        if problems
        else "a client in a web page has access"
    )
    if is_loopback(url.host):
        steps.add(
            "browser",
            "warn",
            f"{text}; any web page can access this local server",
            details=details,
            seconds=seconds,
            fix=Fix("Refuse an unexpected Origin with 403: otherwise any open page can call the server's tools."),
        )
    else:
        steps.add("browser", "info", text, details=details, seconds=seconds)
