"""Faults of authorization, each with a name. They change correct responses when those are sent.

A fault belongs to a place: its function receives the response and its URL, and returns the changed response. Faults of
the place `access` have no function: the gate knows them by name.
"""

from __future__ import annotations

import time
from urllib.parse import urlsplit

from inspector.demo.auth.http_values import HttpReply, OAuthError, json_answer, refusal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from inspector.demo.auth.http_values import Pairs

    Change = Callable[[Any, str], Any]

ELSEWHERE = "https://elsewhere.example"
HUGE = 50 * 1024 * 1024
SCOPE_FOREVER, UNAUTHORIZED_FOREVER, MIGRATE = "scope-forever", "401-forever", "migrate"
CLOCK_SKEW = "clock-skew"
SKEWED = -7200.0  # seconds
MARKUP = "<b>Call</b> [bold red]0900[/] \x1b[31mnow\x1b[0m\x07\r\nSet-Cookie: a=b \u202egro.elpmaxe"


class Fault:
    """One fault: its place, and a short description."""

    __slots__ = ("about", "change", "place")

    def __init__(self, place: str, about: str, change: Change | None = None) -> None:
        self.place = place
        self.about = about
        self.change = change


FAULTS: dict[str, Fault] = {
    SCOPE_FOREVER: Fault("access", "a tool requires demo:write even of tokens that have it"),
    UNAUTHORIZED_FOREVER: Fault("access", "every token is refused with 401"),
    MIGRATE: Fault("access", "the first call of a tool finds that another authorization server is responsible"),
    CLOCK_SKEW: Fault("access", "the claims of a token say that it expired an hour ago; it is valid"),
}


class Faults:
    """The enabled faults."""

    def __init__(self, names: tuple[str, ...] = ()) -> None:
        self.names = names

    def __contains__(self, name: str) -> bool:
        return name in self.names

    def apply(self, place: str, said: Any, url: str) -> Any:
        """Returns the response of a place after all its enabled faults."""
        for name in self.names:
            fault = FAULTS[name]
            if fault.place == place and fault.change is not None and not isinstance(said, HttpReply):
                said = fault.change(said, url)
        return said


def _fault(name: str, place: str, about: str) -> Callable[[Change], Change]:
    def keep(change: Change) -> Change:
        FAULTS[name] = Fault(place, about, change)
        return change

    return keep


def _other_name(url: str) -> str:
    """Returns the same URL with another name of this machine: another origin."""
    parts = urlsplit(url)
    other = "127.0.0.1" if parts.hostname == "localhost" else "localhost"
    return parts._replace(netloc=f"{other}:{parts.port}").geturl()


# --- the challenge and the metadata of the resource ------------------------------------------------------------------


@_fault("no-challenge", "challenge", "401 without WWW-Authenticate")
def _no_challenge(value: str, url: str) -> str:
    return ""


@_fault("many-challenges", "challenge", "several schemes in one WWW-Authenticate, ours last; this is allowed")
def _many_challenges(value: str, url: str) -> str:
    return f'Negotiate YWJj==, Basic realm="a, Bearer \\"b\\"", {value}'


@_fault("private-metadata", "challenge", "resource_metadata is at a private address, without TLS")
def _private_metadata(value: str, url: str) -> str:
    return 'Bearer resource_metadata="http://169.254.169.254/latest/meta-data"'


@_fault("prm-missing", "prm", "no protected resource metadata anywhere")
def _prm_missing(document: dict[str, Any], url: str) -> HttpReply:
    return json_answer(404, {"error": "not_found"})


@_fault("prm-html", "prm", "a web page instead of the protected resource metadata")
def _prm_html(document: dict[str, Any], url: str) -> HttpReply:
    return _web_page()


@_fault("prm-no-servers", "prm", "no authorization_servers in the protected resource metadata")
def _prm_no_servers(document: dict[str, Any], url: str) -> dict[str, Any]:
    return {key: value for key, value in document.items() if key != "authorization_servers"}


@_fault("prm-types", "prm", "values of the wrong types in the protected resource metadata")
def _prm_types(document: dict[str, Any], url: str) -> dict[str, Any]:
    return {"resource": {"url": document["resource"]}, "authorization_servers": [7, None], "scopes_supported": "all"}


@_fault("wrong-resource", "prm", "resource names another server")
def _wrong_resource(document: dict[str, Any], url: str) -> dict[str, Any]:
    return document | {"resource": f"{ELSEWHERE}/mcp"}


# --- the metadata of the authorization server ------------------------------------------------------------------------


@_fault("wrong-issuer", "metadata", "issuer names another server")
def _wrong_issuer(document: dict[str, Any], url: str) -> dict[str, Any]:
    return document | {"issuer": ELSEWHERE}


@_fault("issuer-slash", "metadata", "issuer has an extra slash")
def _issuer_slash(document: dict[str, Any], url: str) -> dict[str, Any]:
    return document | {"issuer": document["issuer"] + "/"}


@_fault("no-pkce", "metadata", "no code_challenge_methods_supported")
def _no_pkce(document: dict[str, Any], url: str) -> dict[str, Any]:
    return {key: value for key, value in document.items() if key != "code_challenge_methods_supported"}


@_fault("plain-pkce", "metadata", "code_challenge_methods_supported without S256")
def _plain_pkce(document: dict[str, Any], url: str) -> dict[str, Any]:
    return document | {"code_challenge_methods_supported": ["plain"]}


@_fault("no-registration", "metadata", "no registration_endpoint, and no client id metadata documents")
def _no_registration(document: dict[str, Any], url: str) -> dict[str, Any]:
    gone = ("registration_endpoint", "client_id_metadata_document_supported")
    return {key: value for key, value in document.items() if key not in gone}


@_fault("javascript-endpoint", "metadata", "authorization_endpoint is javascript:")
def _javascript_endpoint(document: dict[str, Any], url: str) -> dict[str, Any]:
    return document | {"authorization_endpoint": "javascript:alert(1)"}


@_fault("file-endpoint", "metadata", "authorization_endpoint is file:")
def _file_endpoint(document: dict[str, Any], url: str) -> dict[str, Any]:
    return document | {"authorization_endpoint": "file:///etc/passwd"}


@_fault("http-endpoint", "metadata", "token_endpoint is on another machine, without TLS")
def _http_endpoint(document: dict[str, Any], url: str) -> dict[str, Any]:
    return document | {"token_endpoint": "http://elsewhere.example/token"}


@_fault("metadata-types", "metadata", "values of the wrong types in the metadata")
def _metadata_types(document: dict[str, Any], url: str) -> dict[str, Any]:
    return {key: value if key == "issuer" else {"value": [value]} for key, value in document.items()}


@_fault("html-metadata", "metadata", "a web page instead of the metadata")
def _html_metadata(document: dict[str, Any], url: str) -> HttpReply:
    return _web_page()


@_fault("deep-metadata", "metadata", "metadata nested a hundred thousand times")
def _deep_metadata(document: dict[str, Any], url: str) -> HttpReply:
    return HttpReply(200, {"Content-Type": "application/json"}, b"[" * 100_000 + b"]" * 100_000)


@_fault("huge-metadata", "metadata", "50 MB of metadata")
def _huge_metadata(document: dict[str, Any], url: str) -> HttpReply:
    return HttpReply(200, {"Content-Type": "application/json", "Content-Length": str(HUGE)}, _huge())


@_fault("slow-metadata", "metadata", "metadata that arrives byte by byte, and never ends")
def _slow_metadata(document: dict[str, Any], url: str) -> HttpReply:
    return HttpReply(200, {"Content-Type": "application/json"}, _endless())


@_fault("redirect-metadata", "metadata", "the metadata redirects to another origin")
def _redirect_metadata(document: dict[str, Any], url: str) -> Any:
    """The other origin is another name of this machine, so a client that follows the redirect succeeds."""
    return document if urlsplit(url).hostname == "localhost" else HttpReply(302, {"Location": _other_name(url)})


@_fault("redirect-loop", "metadata", "the metadata redirects to itself")
def _redirect_loop(document: dict[str, Any], url: str) -> HttpReply:
    return HttpReply(302, {"Location": url})


# --- registration ----------------------------------------------------------------------------------------------------


@_fault("registration-refuses", "registered", "registration is refused, with markup in the reason")
def _registration_refuses(document: dict[str, Any], url: str) -> HttpReply:
    return json_answer(400, {"error": "invalid_redirect_uri", "error_description": MARKUP})


@_fault("other-redirect", "registered", "registration returns another redirect URI")
def _other_redirect(document: dict[str, Any], url: str) -> dict[str, Any]:
    return document | {"redirect_uris": [f"{ELSEWHERE}/callback"]}


@_fault("registration-no-id", "registered", "registration returns no client_id")
def _registration_no_id(document: dict[str, Any], url: str) -> dict[str, Any]:
    return {key: value for key, value in document.items() if key != "client_id"}


# --- the redirect of the browser -------------------------------------------------------------------------------------


def _with(pairs: Pairs, name: str, value: str) -> Pairs:
    return [(key, value if key == name else old) for key, old in pairs]


def _without(pairs: Pairs, name: str) -> Pairs:
    return [(key, value) for key, value in pairs if key != name]


@_fault("iss-missing", "redirect", "no iss, although the metadata promises it")
def _iss_missing(pairs: Pairs, url: str) -> Pairs:
    return _without(pairs, "iss")


@_fault("iss-wrong", "redirect", "iss is another issuer")
def _iss_wrong(pairs: Pairs, url: str) -> Pairs:
    return _with(pairs, "iss", ELSEWHERE)


@_fault("iss-slash", "redirect", "iss has an extra slash")
def _iss_slash(pairs: Pairs, url: str) -> Pairs:
    return _with(pairs, "iss", url + "/")


@_fault("state-wrong", "redirect", "the redirect has another state")
def _state_wrong(pairs: Pairs, url: str) -> Pairs:
    return _with(pairs, "state", "another-state")


@_fault("state-missing", "redirect", "the redirect has no state")
def _state_missing(pairs: Pairs, url: str) -> Pairs:
    return _without(pairs, "state")


@_fault("state-doubled", "redirect", "the redirect has two states, one right and one wrong")
def _state_doubled(pairs: Pairs, url: str) -> Pairs:
    return [*pairs, ("state", "another-state")]


@_fault("error-redirect", "redirect", "the redirect has an error whose description is full of markup")
def _error_redirect(pairs: Pairs, url: str) -> Pairs:
    return _as_error(pairs)


def _as_error(pairs: Pairs) -> Pairs:
    error = [("error", "server_error"), ("error_description", MARKUP), ("error_uri", "javascript:alert(1)")]
    return error + _without(_without(_without(pairs, "code"), "error"), "error_description")


@_fault("error-iss-wrong", "redirect", "the redirect has an error from another issuer")
def _error_iss_wrong(pairs: Pairs, url: str) -> Pairs:
    return _with(_as_error(pairs), "iss", ELSEWHERE)


# --- tokens ----------------------------------------------------------------------------------------------------------


@_fault("token-200-error", "token", "an error with status 200 instead of a token")
def _token_200_error(document: dict[str, Any], url: str) -> HttpReply:
    return json_answer(200, {"error": "invalid_grant", "error_description": "Not today"})


@_fault("token-no-type", "token", "no token_type")
def _token_no_type(document: dict[str, Any], url: str) -> dict[str, Any]:
    return {key: value for key, value in document.items() if key != "token_type"}


@_fault("token-other-type", "token", "an unknown token_type")
def _token_other_type(document: dict[str, Any], url: str) -> dict[str, Any]:
    return document | {"token_type": "mac"}


@_fault("token-bad-expiry", "token", "expires_in is text")
def _token_bad_expiry(document: dict[str, Any], url: str) -> dict[str, Any]:
    return document | {"expires_in": "soon"}


@_fault("token-negative-expiry", "token", "expires_in is negative")
def _token_negative_expiry(document: dict[str, Any], url: str) -> dict[str, Any]:
    return document | {"expires_in": -1}


@_fault("token-html", "token", "a web page instead of a token")
def _token_html(document: dict[str, Any], url: str) -> HttpReply:
    return _web_page()


@_fault("token-newline", "token", "a line break in the access token, with a header field after it")
def _token_newline(document: dict[str, Any], url: str) -> dict[str, Any]:
    return document | {"access_token": document["access_token"] + "\r\nX-Injected: yes"}


@_fault("token-huge", "token", "an access token of 50 MB")
def _token_huge(document: dict[str, Any], url: str) -> HttpReply:
    return HttpReply(200, {"Content-Type": "application/json", "Content-Length": str(HUGE)}, _huge())


@_fault("token-redirect", "token", "the token endpoint redirects to another origin")
def _token_redirect(document: dict[str, Any], url: str) -> HttpReply:
    return HttpReply(307, {"Location": _other_name(url)})


@_fault("refresh-refused", "refresh", "no refresh token is valid")
def _refresh_refused(document: dict[str, Any], url: str) -> HttpReply:
    return refusal(OAuthError("invalid_grant", "The refresh token is unknown, revoked or already used"))


def _web_page() -> HttpReply:
    body = b"<!doctype html><title>Welcome</title><h1>Please log in</h1><script>alert(1)</script>"
    return HttpReply(200, {"Content-Type": "text/html"}, body)


def _huge() -> Iterator[bytes]:
    """Yields HUGE bytes of one JSON object."""
    start, end = b'{"access_token":"', b'","token_type":"Bearer"}'
    yield start
    piece = b"a" * 65536
    for left in range(HUGE - len(start) - len(end), 0, -len(piece)):
        yield piece[:left]
    yield end


def _endless() -> Iterator[bytes]:
    yield b"{"
    while True:
        time.sleep(0.5)
        yield b" "
