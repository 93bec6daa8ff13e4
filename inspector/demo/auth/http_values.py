"""HTTP requests and responses as values, so that an endpoint is a function from one to the other."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass
from html import escape
from urllib.parse import parse_qsl, urlencode, urlsplit

from inspector.serving.http import content_type

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from inspector.serving.base import RequestHead
    from inspector.serving.http_connection import ServedResponse

    Pairs = list[tuple[str, str]]

MAX_FORM = 65536
MAX_FIELDS = 100
FORM = "application/x-www-form-urlencoded"


class OAuthError(Exception):
    """A request that is refused with an error code of RFC 6749, 7591, 8628 or 8707."""

    def __init__(self, code: str, description: str, *, status: int = 400) -> None:
        super().__init__(description)
        self.code = code
        self.description = description
        self.status = status


@dataclass(slots=True)
class HttpReply:
    """The response to a request. A body that is an iterator is sent piece by piece."""

    status: int
    headers: dict[str, str]
    body: bytes | Iterator[bytes] = b""


class Request:
    """One request."""

    def __init__(self, head: RequestHead, body: bytes = b"") -> None:
        self.method = head.method
        self.path, _, self.query = head.target.partition("?")
        self.head = head
        self.body = body

    def origin(self, port: int | None) -> str:
        """Returns the origin that the client uses, if the server listens on a port."""
        host = urlsplit("//" + (self.head.field("Host") or "")).hostname or ""
        return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"

    def asked(self) -> RequestParameters:
        """The parameters in the URL."""
        return RequestParameters(_pairs(self.query))

    def form(self) -> RequestParameters:
        """Returns the parameters in the body; raises OAuthError for a body that is not a form."""
        if content_type(self.head) != FORM:
            raise OAuthError("invalid_request", f"The body must be {FORM}")
        if len(self.body) > MAX_FORM:
            raise OAuthError("invalid_request", f"The body is larger than {MAX_FORM} bytes", status=413)
        return RequestParameters(_pairs(self.body.decode("utf-8", "replace")))


async def send(response: ServedResponse, reply: HttpReply) -> None:
    """Send a response; one in pieces only while its client is connected."""
    fields = tuple(reply.headers.items())
    if isinstance(reply.body, bytes):
        response.whole(reply.status, reply.body, fields)
        return
    response.begin(reply.status, fields)
    while response.open and (piece := await asyncio.to_thread(next, reply.body, None)) is not None:
        response.write(piece)
        await response.drained()
    response.finish()


class RequestParameters:
    """Parameters of a request. Each may occur only once (RFC 6749 section 3.1)."""

    def __init__(self, pairs: Pairs) -> None:
        self._pairs = pairs

    def get(self, name: str) -> str:
        """Returns the value of a parameter, or an empty text: both mean the same. Raises OAuthError if repeated."""
        values = [value for key, value in self._pairs if key == name]
        if len(values) > 1:
            code = "invalid_target" if name == "resource" else "invalid_request"
            raise OAuthError(code, f"{name} occurs {len(values)} times")
        return values[0] if values else ""

    def need(self, name: str) -> str:
        """Returns the value of a required parameter."""
        value = self.get(name)
        if not value:
            raise OAuthError("invalid_request", f"{name} is missing")
        return value


def _pairs(text: str) -> Pairs:
    try:
        return parse_qsl(text, keep_blank_values=True, max_num_fields=MAX_FIELDS)
    except ValueError:
        raise OAuthError("invalid_request", f"There are more than {MAX_FIELDS} parameters") from None


def json_answer(status: int, document: dict[str, Any], **headers: str) -> HttpReply:
    """Returns a JSON response that must not be cached."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    fields = {"Content-Type": "application/json", "Cache-Control": "no-store", **named}
    return HttpReply(status, fields, json.dumps(document).encode("utf-8"))


def refusal(problem: OAuthError) -> HttpReply:
    """Returns an error as JSON, for endpoints other than pages (RFC 6749 section 5.2)."""
    headers = {"WWW_Authenticate": 'Basic realm="demo"'} if problem.status == 401 else {}
    document = {"error": problem.code, "error_description": problem.description}
    return json_answer(problem.status, document, **headers)


def redirect(url: str, pairs: Pairs) -> HttpReply:
    """Redirects the browser to a URL with more parameters; its own ones stay (RFC 6749 section 3.1.2)."""
    joint = "&" if urlsplit(url).query else "?"
    return HttpReply(302, {"Location": f"{url}{joint}{urlencode(pairs)}", "Cache-Control": "no-store"})


_STYLE = (
    "body{font:16px/1.5 system-ui,sans-serif;max-width:40rem;margin:4rem auto;padding:0 1rem;"
    "color:#1b1b1f;background:#fafafa}th{text-align:left;padding-right:1.5rem;font-weight:500;vertical-align:top}"
    "td{word-break:break-all}button,input{font:inherit;padding:.5rem 1.5rem;margin:1.5rem 1rem 0 0}"
)


def page(status: int, title: str, inside: str) -> HttpReply:
    """Returns an HTML page. `inside` is HTML with escaped values; the title is escaped here."""
    headers = {
        "Content-Type": "text/html; charset=utf-8",
        "Cache-Control": "no-store",
        # No form-action: browsers also apply it to the redirect of a form, which goes to the client's URI.
        "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'",
        "X-Frame-Options": "DENY",
        "X-Content-Type-Options": "nosniff",
        "Referrer-Policy": "same-origin",
    }
    head = f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{escape(title)}</title><style>{_STYLE}</style>'
    return HttpReply(status, headers, f"{head}<h1>{escape(title)}</h1>{inside}".encode("utf-8", "replace"))


def table(rows: dict[str, str]) -> str:
    """Returns names and values as an HTML table."""
    lines = (f"<tr><th>{escape(name)}</th><td>{escape(value)}</td></tr>" for name, value in rows.items())
    return f"<table>{''.join(lines)}</table>"
