"""Checks of the authorization server that the MCP server names (RFC 8414, OAuth 2.1)."""

from __future__ import annotations

import base64
import hashlib
import secrets
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

from inspector.auth import url_checks
from inspector.check.check_table import CheckMode, CheckTable, Need
from inspector.check.checks.auth_resource import Metadata, fetch, look_for, metadata, refusal
from inspector.check.given import given
from inspector.check.outcome import Outcome, bad, expect, good, remark, skipped
from inspector.check.visit.facts import OnceInAVisit
from inspector.check.visit.http import RecordedResponse
from inspector.check.visit.visit import Visit
from inspector.protocol.jsonrpc import encode, excerpt
from inspector.protocol.members import array_at, object_at

_AUTH: CheckMode = "auth"
_HARM: CheckMode = "intrusive"
_SECRETS = ("access_token", "refresh_token", "id_token", "client_secret", "registration_access_token")
_FORM = ("Content-Type", "application/x-www-form-urlencoded")
_CALLBACK = "http://127.0.0.1:49152/inspector-check"
_ELSEWHERE = "https://inspector-check.invalid/callback"
Tokens = tuple[RecordedResponse, RecordedResponse, RecordedResponse]
"""The responses to a code with a wrong verifier, with the right one, and once more."""
_ENDPOINTS = ("authorization_endpoint", "token_endpoint", "registration_endpoint", "revocation_endpoint")


CHECKS = CheckTable("auth_server", mode=_AUTH, needs=Need.NOTHING)


# Shared by the checks


@OnceInAVisit
async def _server(visit: Visit) -> Metadata:
    """The metadata of the first issuer that the protected resource names (RFC 8414, OpenID Connect Discovery)."""
    resource = await metadata(visit)
    servers = array_at(resource.members.get("authorization_servers"))
    issuer = next((server for server in servers if isinstance(server, str)), "")
    if not issuer and resource.document is None and visit.revision == "2025-03-26":
        issuer = visit.web.url.origin  # In that revision, the server itself is the authorization server.
    try:
        places = url_checks.server_places(issuer) if issuer else []
    except ValueError as error:
        return Metadata(str(error), None, (), issuer)
    return await look_for(visit, places, "the metadata name no issuer", issuer)


async def _metadata(visit: Visit) -> Metadata | str:
    """The metadata of the server, or that there are none."""
    server = await _server(visit)
    return "it has no metadata" if server.document is None else server


def _values(answer: RecordedResponse) -> dict[str, Any]:
    return object_at(answer.messages[0] if answer.messages else None)


def _token(answer: RecordedResponse) -> bool:
    return isinstance(_values(answer).get("access_token"), str)


@OnceInAVisit
async def _client(visit: Visit) -> str:
    """A client registered for these checks; empty if registration is not possible."""
    url = (await _server(visit)).members.get("registration_endpoint")
    if not isinstance(url, str) or not _may(url):
        return ""
    body = encode(
        {
            "client_name": "inspector-check",
            "redirect_uris": [_CALLBACK],
            "token_endpoint_auth_method": "none",
            "grant_types": ["authorization_code", "refresh_token"],
            "response_types": ["code"],
            "application_type": "native",
        }
    )
    answer = await visit.web.send(
        "POST",
        url=url,
        fields=(("Content-Type", "application/json"), ("Accept", "application/json")),
        body=body,
        own=False,
        secrets=_SECRETS,
    )
    id = _values(answer).get("client_id")
    return id if isinstance(id, str) else ""


def _may(url: str) -> bool:
    try:
        url_checks.secure(url)
    except ValueError:
        return False
    return True


async def _registered(visit: Visit) -> tuple[dict[str, Any], str] | str:
    """The metadata of the server and the id of a client, or that registration failed."""
    document = (await _server(visit)).document
    client = await _client(visit)
    return "registering a client failed" if document is None or not client else (document, client)


async def _authorize(visit: Visit, document: dict[str, Any], client: str, **parameters: str) -> RecordedResponse:
    """The authorization request, as a browser sends it, without following redirects."""
    endpoint = document.get("authorization_endpoint")
    if not isinstance(endpoint, str) or not _may(endpoint):
        return RecordedResponse(1, reason="it has no authorization endpoint")
    query = {
        "response_type": "code",
        "client_id": client,
        "redirect_uri": _CALLBACK,
        "state": secrets.token_urlsafe(16),
        "code_challenge": "x" * 43,
        "code_challenge_method": "S256",
        "resource": visit.web.target.url,
        **parameters,
    }
    url = f"{endpoint}{'&' if '?' in endpoint else '?'}{urlencode(query)}"
    return await visit.web.send("GET", url=url, fields=(("Accept", "text/html"),), own=False)


async def _post(visit: Visit, document: dict[str, Any], **parameters: str) -> RecordedResponse:
    """A request to the token endpoint."""
    endpoint = document.get("token_endpoint")
    if not isinstance(endpoint, str) or not _may(endpoint):
        return RecordedResponse(1, reason="it has no token endpoint")
    body = urlencode({"resource": visit.web.target.url, **parameters}).encode()
    return await visit.web.send(
        "POST", url=endpoint, fields=(_FORM, ("Accept", "application/json")), body=body, own=False, secrets=_SECRETS
    )


@OnceInAVisit
async def _flow(visit: Visit) -> Tokens | str:
    """A login without consent: with a wrong verifier, with the right one, once more; or why it failed."""
    registered = await _registered(visit)
    if isinstance(registered, str):
        return registered
    document, client = registered
    answers: list[RecordedResponse] = []
    for right in (False, True):
        verifier = secrets.token_urlsafe(48)
        visit.journal.redactor.add(verifier)
        hashed = base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).rstrip(b"=").decode()
        answer = await _authorize(visit, document, client, code_challenge=hashed)
        code = parse_qs(urlsplit(answer.header("location") or "").query).get("code", [""])[0]
        if not code:
            return "a user must consent in a browser"
        visit.journal.redactor.add(code)
        given = {
            "grant_type": "authorization_code",
            "code": code,
            "client_id": client,
            "redirect_uri": _CALLBACK,
            "code_verifier": verifier if right else secrets.token_urlsafe(48),
        }
        answers.append(await _post(visit, document, **given))
        if right:
            answers.append(await _post(visit, document, **given))
    return answers[0], answers[1], answers[2]


# The checks


@CHECKS.active("AS-01", apart=True)
async def has_metadata(visit: Visit) -> Outcome:
    """The well-known URIs of the first issuer, in their order."""
    server = await _server(visit)
    if not server.issuer:
        return skipped("the metadata name no authorization server")
    wrong = f"{excerpt(server.issuer, 100)} has no metadata: {server.place}."
    return expect(server, server.document is not None, wrong, text=server.place)


@CHECKS.active("AS-02", apart=True)
@given(_metadata)
async def same_issuer(visit: Visit, server: Metadata) -> Outcome:
    """`issuer`."""
    issuer = server.members.get("issuer")
    return expect(
        server, issuer == server.issuer, f"issuer is {excerpt(issuer, 100)}, not {excerpt(server.issuer, 100)}."
    )


@CHECKS.active("AS-03", apart=True)
@given(_metadata)
async def secure_endpoints(visit: Visit, server: Metadata) -> Outcome:
    """The URL of each endpoint."""
    for name in _ENDPOINTS:
        url = server.members.get(name)
        if url is None:
            continue
        try:
            url_checks.secure(url if isinstance(url, str) else "")
        except ValueError as error:
            return bad(f"{name} is {excerpt(url, 100)}: {error}.", *server.events)
    return good("", *server.events)


@CHECKS.active("AS-04", apart=True)
@given(_metadata)
async def pkce(visit: Visit, server: Metadata) -> Outcome:
    """`code_challenge_methods_supported`."""
    listed = server.members.get("code_challenge_methods_supported")
    return expect(server, "S256" in array_at(listed), f"code_challenge_methods_supported is {excerpt(listed, 100)}.")


@CHECKS.active("AS-05", apart=True)
@given(_metadata)
async def named_by_url(visit: Visit, server: Metadata) -> Outcome:
    """`client_id_metadata_document_supported`."""
    supported = server.members.get("client_id_metadata_document_supported") is True
    return expect(server, supported, "Client ID metadata documents are not supported.")


@CHECKS.active("AS-06", apart=True)
@given(_metadata)
async def registers(visit: Visit, server: Metadata) -> Outcome:
    """`registration_endpoint`."""
    registers = isinstance(server.members.get("registration_endpoint"), str)
    wrong = "It has no registration_endpoint: each client must be registered manually."
    return expect(server, registers, wrong, remark)


@CHECKS.active("AS-07", apart=True)
@given(_metadata)
async def names_itself(visit: Visit, server: Metadata) -> Outcome:
    """`authorization_response_iss_parameter_supported`."""
    supported = server.members.get("authorization_response_iss_parameter_supported") is True
    return expect(server, supported, "Authorization responses do not contain iss.")


@CHECKS.active("AS-08", apart=True)
@given(_metadata)
async def code_grant(visit: Visit, server: Metadata) -> Outcome:
    """Response types, grant types, and methods of the token endpoint."""
    for name, value, otherwise in (
        ("response_types_supported", "code", []),
        ("grant_types_supported", "authorization_code", ["authorization_code"]),
        ("token_endpoint_auth_methods_supported", "none", ["client_secret_basic"]),
    ):
        listed = server.members.get(name, otherwise)
        if value not in array_at(listed):
            return bad(f"{name} is {excerpt(server.members.get(name), 100)}, without {value}.", *server.events)
    return good("", *server.events)


@CHECKS.active("AS-09", mode=_HARM, apart=True)
@given(_registered)
async def foreign_redirect(visit: Visit, registered: tuple[dict[str, Any], str]) -> Outcome:
    """A registered client, and an unregistered redirect URI."""
    document, client = registered
    answer = await _authorize(visit, document, client, redirect_uri=_ELSEWHERE)
    if (answer.header("location") or "").startswith(_ELSEWHERE):
        return bad("It redirects to an unregistered URI.", *answer.events)
    if not answer.status:
        return skipped(answer.brief)
    return good("", *answer.events)


@CHECKS.active("AS-10", mode=_HARM, apart=True)
@given(_flow)
async def code_rules(visit: Visit, flow: Tokens) -> Outcome:
    """A code that needs no consent: with a wrong verifier, then with the right one, then once more."""
    wrong, token, again = flow
    if _token(wrong):
        return bad("A code was accepted with a wrong verifier.", *wrong.events)
    if _token(token) and _token(again):
        return bad("A code was accepted twice.", *again.events)
    return good("", *wrong.events, *again.events)


@CHECKS.active("AS-11", mode=_HARM, apart=True)
@given(_flow)
async def rotation(visit: Visit, flow: Tokens) -> Outcome:
    """The refresh token of a login without consent, used once."""
    first = _values(flow[1]).get("refresh_token")
    if not isinstance(first, str):
        return skipped("it issues no refresh token")
    document = (await _server(visit)).members
    client = await _client(visit)
    answer = await _post(visit, document, grant_type="refresh_token", refresh_token=first, client_id=client)
    second = _values(answer).get("refresh_token")
    if isinstance(second, str) and second != first:
        return good("", *answer.events)
    if not _token(answer):
        return skipped(f"renewal failed: {answer.brief}")
    return bad("The refresh token was not rotated.", *answer.events)


@CHECKS.active("AS-12", mode=_HARM, apart=True)
@given(_flow)
async def short_lived(visit: Visit, flow: Tokens) -> Outcome:
    """`expires_in` of a token that needs no consent."""
    if not _token(flow[1]):
        return skipped(f"no token was issued: {flow[1].brief}")
    seconds = _values(flow[1]).get("expires_in")
    if type(seconds) is int and 0 < seconds <= 86_400:
        return good(f"{seconds:,} s", *flow[1].events)
    return bad(f"expires_in is {excerpt(seconds, 40)}.", *flow[1].events)


@CHECKS.active("AS-13", apart=True)
async def default_paths(visit: Visit) -> Outcome:
    """The three default paths, if no metadata name others."""
    if (await refusal(visit)).status != 401:
        return skipped("the server requires no authorization")
    if (await _server(visit)).document is not None:
        return skipped("it has metadata")
    seen: list[int] = []
    for path in ("/authorize", "/token", "/register"):
        answer = await fetch(visit, visit.web.url.origin + path)
        seen += answer.events
        if answer.status == 404 or not answer.status:
            return bad(f"{path} got {answer.brief}.", *answer.events)
    return good("", *seen)


@CHECKS.active("AS-14", mode=_HARM, apart=True)
@given(_registered)
async def token_errors(visit: Visit, registered: tuple[dict[str, Any], str]) -> Outcome:
    """An unknown code."""
    document, client = registered
    answer = await _post(
        visit,
        document,
        grant_type="authorization_code",
        code="inspector-check",
        client_id=client,
        redirect_uri=_CALLBACK,
        code_verifier=secrets.token_urlsafe(48),
    )
    is_error = answer.status in (400, 401) and isinstance(_values(answer).get("error"), str)
    return expect(answer, is_error, f"The request got {answer.brief}.")


@CHECKS.active("AS-15", apart=True)
@given(_metadata)
async def registration_to_come(visit: Visit, server: Metadata) -> Outcome:
    """Only dynamic registration, which is deprecated; and whether offline_access is offered."""
    lasting = "offline_access" in array_at(server.members.get("scopes_supported"))
    by_url = server.members.get("client_id_metadata_document_supported") is True
    wrong = "Clients can only register dynamically, which is deprecated."
    text = "offline_access is offered" if lasting else ""
    return expect(server, by_url or "registration_endpoint" not in server.members, wrong, remark, text=text)
