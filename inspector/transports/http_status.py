"""Describes HTTP statuses and bodies that are not an answer."""

from __future__ import annotations

import html
import re
from collections.abc import Callable
from typing import Any

from inspector.errors import AuthorizationNeeded, HttpError, InspectorError, ServerError, SessionLost
from inspector.hints import LOG_IN, Hint, Parameter
from inspector.protocol.jsonrpc import METHOD_NOT_FOUND
from inspector.text import safe
from inspector.transports.base import Outgoing
from inspector.transports.http_client import HttpAnswer
from inspector.transports.response_matching import parsed, rpc_error

_BY_HEADER = (
    ("cf-mitigated", ("challenge",), "Cloudflare"),
    ("x-vercel-mitigated", ("challenge", "deny"), "Vercel"),
    ("x-amzn-waf-action", ("challenge", "captcha"), "AWS WAF"),
    ("ngrok-error-code", ("ERR_NGROK_6024",), "ngrok"),
)
"""A header, its values, and the service that sends it."""
_BY_PAGE = (
    ((b"/cdn-cgi/challenge-platform/", b"_cf_chl_opt", b"cf-error-details"), "Cloudflare"),
    ((b"awsWafCookieDomainList", b"AwsWafIntegration"), "AWS WAF"),
    ((b"_Incapsula_Resource",), "Imperva"),
    ((b"captcha-delivery.com",), "DataDome"),
    ((b"px-captcha", b"_pxAppId"), "HUMAN"),
    ((b"within.website", b"anubis_challenge"), "Anubis"),
    ((b"ddos-guard/js-challenge",), "DDoS-Guard"),
    ((b"/.well-known/vercel/security/",), "Vercel"),
    ((b"ERR_NGROK_6024",), "ngrok"),
    ((b"Enable JavaScript and cookies to continue", b"re not a bot!"), "A service"),
)
"""Parts of a page, and the service that makes such pages."""


def browser_check(header: Callable[[str], str | None], body: bytes) -> str:
    """Return the service that answered with its browser check; empty for another answer."""
    for name, values, service in _BY_HEADER:
        if header(name) in values:
            return service
    if b"<" not in body[:200]:
        return ""
    return next((service for parts, service in _BY_PAGE if any(part in body for part in parts)), "")


def remedy(service: str) -> Hint:
    """Return what to do about the browser check of a service."""
    if service == "ngrok":
        return Hint("Send the header ngrok-skip-browser-warning with ", Parameter.HEADERS, ".")
    rule = " (a WAF rule with the action Skip)" if service == "Cloudflare" else ""
    return Hint(f"Let programs reach this path without the check{rule}, or use an address behind it.")


_EXCERPT = 200
_LOOKED_AT = 1 << 14
_SCRIPT = re.compile(r"(?is)<(script|style)\b.*?(?:</\1\s*>|\Z)")
_WANTS_TLS = re.compile(r"(?i)plain(?:text)? ?HTTP.{0,40}(?:HTTPS|SSL)|HTTP request to an HTTPS server")
"""Responses of servers to plain HTTP on a TLS port: nginx and Apache, Go."""
_TAG = re.compile(r"<[^<>]*>")

STATUS_HINTS: dict[int, str] = {
    400: "The body of the response may have the reason; the message log has all of it.",
    404: "Check the path of the URL: many servers use /mcp.",
    405: Hint(
        "The server does not accept POST here: the path may be wrong, or it uses the older HTTP+SSE (",
        Parameter.TRANSPORT.to("sse"),
        ").",
    ),
    406: "The server does not accept Inspector's Accept header. Does an added header replace it?",
    407: "Add a user and a password to the proxy's URL: http://user:password@host:port.",
    413: "The server limits the size of requests.",
    415: "The server does not accept application/json. Does an added header replace Content-Type?",
    421: "The server does not serve this host name: check the host in the URL.",
    431: "The server finds the headers too large.",
    429: "The server limits the rate of requests; try again later.",
    500: "The server failed to process the request; its log may have the reason.",
    502: "A proxy in front of the server got an invalid response from it: check that it runs, and its log.",
    503: "The server is not ready; try again later.",
    504: "A proxy in front of the server got no response in time: check that it runs, and its log.",
}
"""What to do about a status, for an error and for the doctor."""


def excerpt(body: bytes, media_type: str = "") -> str:
    """Return the first words of a body, as one safe line; HTML markup is removed."""
    text = body[:_LOOKED_AT].decode("utf-8", "replace")
    if "html" in media_type or text.lstrip()[:1] == "<":
        text = html.unescape(_TAG.sub(" ", _SCRIPT.sub(" ", text)))
    return safe(" ".join(text.split()), _EXCERPT)


def status_problem(answer: HttpAnswer, body: bytes, where: str, method: str, *, session: bool) -> InspectorError:
    """Return the error for a status outside 2xx. `session`: the request had a session id.

    A page of a browser check is an `HttpError`. 401 and 403 give `AuthorizationNeeded`, 404 to a session id
    `SessionLost` (C-HTTP-12); a JSON-RPC error in the body is the server's answer with any id (C-HTTP-38), because the
    exchange identifies its request.
    """
    status = answer.status
    status_line = f"{status} {safe(answer.reason, 60)}".rstrip()
    error = rpc_error(parsed(body)) if body else None
    refusal = browser_check_problem(answer, body, where)
    if refusal is not None:
        return refusal
    if status in (401, 403):
        return _unauthorized(answer, body, error, where, status_line)
    if status == 404 and session and (error is None or error.get("code") != METHOD_NOT_FOUND):
        return SessionLost(
            f"{where} no longer knows our session (status {status_line}).", hint=Hint(Parameter.RECONNECT, ".")
        )
    if error is not None:
        problem = server_error(error, method)
        if status == 400 and session and "session" in problem.rpc_message.lower():
            # It should be 404; some servers answer 400 to a session that they do not know.
            problem.hint = Hint(
                "If the server was restarted, it no longer knows this session. ", Parameter.RECONNECT, "."
            )
        return problem
    text = excerpt(body, answer.media_type)
    if status == 400 and answer.url.scheme == "http" and _WANTS_TLS.search(text):
        return HttpError(
            f"{where} uses TLS, but the URL is http. It answered {status_line}: {text}",
            hint=f"Use https://{answer.url.netloc}{answer.url.target}",
            status=status,
        )
    message = f"{where} answered {status_line}" + (f" to {method}" if method else "") + (f": {text}" if text else ".")
    return HttpError(message, hint=_hint(answer), status=status)


def browser_check_problem(answer: HttpAnswer, body: bytes, where: str) -> HttpError | None:
    """Return the error for a page of a browser check; None for another answer."""
    service = browser_check(answer.header, body[:_LOOKED_AT])
    if not service:
        return None
    status_line = f"{answer.status} {safe(answer.reason, 60)}".rstrip()
    return HttpError(
        f"{where} was not reached: {service} answered {status_line} with a check that only a browser passes.",
        hint=remedy(service),
        status=answer.status,
    )


def _unauthorized(
    answer: HttpAnswer, body: bytes, error: dict[str, Any] | None, where: str, status_line: str
) -> AuthorizationNeeded:
    challenge = answer.all("www-authenticate")
    text = safe("; ".join(challenge), _EXCERPT)
    if not text:
        text = safe(error.get("message"), _EXCERPT) if error is not None else excerpt(body, answer.media_type)
    wants = "requires authorization" if answer.status == 401 else "denied access"
    hint = LOG_IN
    given = answer.status == 401 and answer.given
    if given:
        wants, hint = "refuses the given Authorization header", Hint("Correct it, or remove it to log in.")
    elif answer.status == 403:
        hint = Hint("The authorization is not sufficient, or the server does not accept this Origin or Host.")
    return AuthorizationNeeded(
        f"{where} {wants} (status {status_line})" + (f": {text}" if text else "."),
        hint=hint,
        status=answer.status,
        challenge=challenge,
        given=given,
    )


def _hint(answer: HttpAnswer) -> str:
    hint = STATUS_HINTS.get(answer.status, "")
    after = answer.header("retry-after")
    if after is not None and answer.status in (429, 503):
        waiting = safe(after, 60)
        hint = f"Wait {waiting} s." if after.strip().isdigit() else f"Wait until {waiting}."
    elif answer.status == 500 and answer.authorized:
        return Hint(hint).then(
            "Some servers answer an unknown token this way: ", Parameter.LOGOUT, ", then log in again."
        )
    elif not hint and 300 <= answer.status < 400:
        hint = "The redirect has no usable Location."
    return hint


def server_error(error: dict[str, Any], method: str) -> ServerError:
    """Return a JSON-RPC error object as an exception."""
    return ServerError(error.get("code"), error.get("message"), error.get("data"), method=method)


def no_answer(answer: HttpAnswer, body: bytes, where: str, request: Outgoing) -> InspectorError:
    """Return the error for a success whose body has no answer to the request."""
    method = request.method or "the message"
    status = answer.status
    status_line = f"{status} {safe(answer.reason, 60)}".rstrip()
    if not body.strip():
        return HttpError(
            f"{where} answered {status_line} with an empty body to {method}, which expects an answer.",
            hint="202 is for notifications; the answer to a request is JSON or an event stream."
            if status == 202
            else "The server closed the exchange without an answer; its log may have the reason.",
            status=status,
        )
    message = parsed(body)
    error = rpc_error(message)
    if error is not None:
        return server_error(error, request.method)
    if message is None:
        refusal = browser_check_problem(answer, body, where)
        if refusal is not None:
            return refusal
        kind = safe(answer.media_type, 60) or "no content type"
        text = excerpt(body, answer.media_type)
        return HttpError(
            f"{where} answered {status_line} to {method}, but the body ({kind}) cannot be read as JSON: {text}",
            hint="Check that the URL is that of the MCP endpoint, not of a web page."
            if "html" in kind
            else "The message log has the body and the reason.",
            status=status,
        )
    return HttpError(
        f"{where} answered {status_line} to {method}, but the body has no response to request {safe(request.id, 60)}.",
        hint="The message log shows the body.",
        status=status,
    )
