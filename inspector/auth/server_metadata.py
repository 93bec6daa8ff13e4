"""The metadata of an authorization server: its well-known URLs, and the checks of the document.

Source: 2026-07-28/basic/authorization/authorization-server-discovery; RFC 8414, RFC 9207 section 3, and 2025-03-26 for
servers that have none.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from inspector.addresses import script_remark
from inspector.auth import json_documents, url_checks
from inspector.auth.actions import AuthFlow, Fetch, Fetched, FetchFailed, fetch, record_step
from inspector.auth.json_documents import InvalidDocument, OAuthDocument
from inspector.errors import AuthorizationNeeded
from inspector.protocol.names import VERSION_FIELD
from inspector.text import safe

ACCEPT = (("Accept", "application/json"),)

SHOWN = 1 << 14
"""Maximum bytes of a document recorded with its step."""

_REVISION = re.compile(r"\d{4}-\d\d-\d\d\Z")


@dataclass(frozen=True, slots=True)
class AuthorizationServer:
    """The metadata of an authorization server (RFC 8414 section 2)."""

    issuer: str
    """Unmodified: it is compared character by character with every value that claims to be it."""
    token_endpoint: str
    authorization_endpoint: str = ""
    registration_endpoint: str = ""
    revocation_endpoint: str = ""
    device_endpoint: str = ""
    scopes: tuple[str, ...] | None = None
    methods: tuple[str, ...] | None = None
    """The client authentication methods of the token endpoint."""
    signing: tuple[str, ...] | None = None
    """Algorithms for the signatures of `private_key_jwt`."""
    challenge_methods: tuple[str, ...] | None = None
    grants: tuple[str, ...] | None = None
    names_itself: bool = False
    """The server promises `iss` in every response (RFC 9207 section 3)."""
    takes_documents: bool = False
    """The server accepts the URL of a client id metadata document as a client id (C-AUTH-15)."""
    dpop: tuple[str, ...] = ()
    """Algorithms for DPoP proofs (RFC 9449 section 5.1)."""
    place: str = ""
    """The URL of the document; empty without one: its endpoints are those of C-AUTH-35."""
    named: bool = False
    """The person gave its issuer, not a server."""

    def is_named(self, url: str) -> bool:
        """Whether one of its URLs counts as given by the person: it has the origin of the issuer they named."""
        return self.named and url_checks.origin(url) == url_checks.origin(self.issuer)

    def page_host(self, page: str) -> str:
        """Return the host of a page for the person, and for which other host they log in there.

        A hostile server may name the page of an honest one, and redeem its code itself (RFC 9700 section 4.4).
        """
        host, own = (url_checks.parts(url.partition("?")[0]).host for url in (page, self.issuer))
        return f"{_shown(host)} on behalf of {_shown(own)}" if own != host else _shown(host)


def _shown(host: str) -> str:
    return host + script_remark(host)


def of(issuer: str, *, revision: str = "", named: bool = False) -> AuthFlow[AuthorizationServer]:
    """Return the metadata of the authorization server `issuer`, from the first URL that has it (C-AUTH-09, C-AUTH-10).

    `named`: the person gave the issuer, not a server.
    """
    try:
        if url_checks.secure(issuer).query:
            raise ValueError("it has a query")
        places = url_checks.server_places(issuer)
    except ValueError as error:
        yield from record_step(
            "server",
            f"“{safe(issuer, 200)}” is not a valid issuer: {error}",
            ok=False,
            rule="C-AUTH-13",
            fix="Use an https URL without query and fragment (RFC 8414 section 2).",
        )
        raise AuthorizationNeeded(
            f"“{safe(issuer, 200)}” is not a valid authorization server: {error}.",
            hint="Use an https URL without query and fragment; http only on this machine.",
        ) from None
    server, tried, failure = yield from _first(places, issuer, revision, named)
    if server is not None:
        return server
    yield from record_step(
        "metadata",
        failure.message if failure is not None else f"None of the {len(places)} URLs has the metadata: {tried[0][1]}",
        ok=False,
        rule="C-AUTH-09",
        places=tried,
        fix=(failure.hint if failure is not None else "") or f"Publish it at {places[0]}, as a JSON document.",
    )
    raise failure or AuthorizationNeeded(
        f"The authorization server {safe(issuer, 200)} has no metadata at any of its {len(places)} well-known URLs. "
        f"The first returned {tried[0][1]}.",
        hint=f"Publish it at {safe(places[0], 300)}",
    )


def _first(
    places: list[str], issuer: str, revision: str, named: bool
) -> AuthFlow[tuple[AuthorizationServer | None, list[list[str]], FetchFailed | None]]:
    """Return the metadata from the first URL that has it, the results of the URLs before, and the failure.

    Results are pairs of a URL and a short description.
    """
    tried: list[list[str]] = []
    failure: FetchFailed | None = None
    what = "the authorization server's metadata"
    for number, place in enumerate(places, 1):
        try:
            answer = yield from fetch(Fetch("GET", place, ACCEPT + version(revision), what=what, named=named))
        except FetchFailed as error:
            failure = failure or error
            tried.append([place, error.message])
            continue
        values = json_documents.parsed(answer.body) if answer.status == 200 else None
        if values is None or not ("issuer" in values or "token_endpoint" in values):
            tried.append([place, json_documents.described(answer) if values is None else "another JSON object"])
            continue
        which = f"URL {number} of {len(places)}"
        return (yield from _read(values, answer, place, issuer, which, named, tried)), tried, None
    return None, tried, failure


def _read(
    values: Mapping[str, Any], answer: Fetched, place: str, issuer: str, which: str, given: bool, tried: list[list[str]]
) -> AuthFlow[AuthorizationServer]:
    facts = {"url": place, "status": answer.status, "places": tried, **document_facts(answer, values)}
    hint = f"It was read from {safe(place, 200)}; its format is in RFC 8414 section 2."
    document = OAuthDocument(values, "The authorization server's metadata", hint=hint)
    try:
        named = document.needed("issuer", longest=url_checks.MAX_URL)
        server = None if named != issuer else _server(document, issuer, place, given)
    except InvalidDocument as error:
        yield from record_step(
            "metadata",
            error.message,
            ok=False,
            rule=error.rule or "RFC 8414 section 2",
            **facts,
            field=error.field,
            fix=error.hint,
        )
        raise
    yield from record_step("metadata", f"{which}: {safe(place, 200)}", rule="C-AUTH-09", **facts)
    yield from document.loose_steps("metadata", "RFC 8414 section 2")
    if server is None:
        yield from record_step(
            "issuer",
            f"The metadata has another issuer: “{safe(named, 200)}”",
            ok=False,
            rule="C-AUTH-10",
            expected=issuer,
            found=named,
            fix="The two must be equal, character by character. Publish the issuer as the protected resource "
            "metadata names it, or name it there as it is published.",
        )
        raise AuthorizationNeeded(
            f"The metadata of the authorization server “{safe(issuer, 200)}” has another issuer, "
            f"“{safe(named, 200)}”. Inspector ignores it.",
            hint="The two must be equal, character by character (RFC 8414 section 3.3).",
        )
    yield from record_step("issuer", f"{safe(issuer, 200)}, as expected", rule="C-AUTH-10")
    return server


def _server(document: OAuthDocument, issuer: str, place: str, named: bool) -> AuthorizationServer:
    return AuthorizationServer(
        issuer,
        document.endpoint("token_endpoint", needed=True),
        document.endpoint("authorization_endpoint"),
        document.endpoint("registration_endpoint"),
        document.endpoint("revocation_endpoint"),
        document.endpoint("device_authorization_endpoint"),
        document.scopes("scopes_supported"),
        document.texts("token_endpoint_auth_methods_supported"),
        document.texts("token_endpoint_auth_signing_alg_values_supported"),
        document.texts("code_challenge_methods_supported"),
        document.texts("grant_types_supported"),
        document.flag("authorization_response_iss_parameter_supported"),
        document.flag("client_id_metadata_document_supported"),
        document.texts("dpop_signing_alg_values_supported") or (),
        place,
        named,
    )


def as_of_2025_03_26(server: str, revision: str) -> AuthFlow[AuthorizationServer]:
    """Use the server's own origin as its authorization server: its metadata, else default endpoints (C-AUTH-35).

    Only for a server without protected resource metadata (C-AUTH-36). No document names the origin as issuer, so the
    metadata may also have the origin with a trailing slash.
    """
    base = url_checks.origin(server)
    yield from record_step(
        "server", f"{base}, the server's own origin, as in 2025-03-26", rule="C-AUTH-35", issuer=base
    )
    place = f"{base}/.well-known/oauth-authorization-server"
    what = "the authorization server's metadata"
    answer = yield from fetch(Fetch("GET", place, ACCEPT + version(revision), what=what, named=True))
    values = json_documents.parsed(answer.body) if answer.status == 200 else None
    if values is not None and ("issuer" in values or "token_endpoint" in values):
        named = values.get("issuer")
        issuer = named if named in (base, base + "/") else base
        return (yield from _read(values, answer, place, issuer, "1 of 1 URLs", True, []))
    yield from record_step(
        "metadata",
        f"1 of 1: {json_documents.described(answer)}. The default endpoints are used",
        rule="C-AUTH-35",
        url=place,
        status=answer.status,
    )
    return AuthorizationServer(
        base, f"{base}/token", f"{base}/authorize", f"{base}/register", challenge_methods=("S256",), named=True
    )


def version(revision: str) -> tuple[tuple[str, str], ...]:
    """Return the `MCP-Protocol-Version` field for a revision; nothing if it is not one (C-AUTH-11)."""
    return ((VERSION_FIELD, revision),) if _REVISION.match(revision) else ()


def document_facts(answer: Fetched, values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the document for the step's facts, if it is not too large."""
    return {"document": dict(values)} if len(answer.body) <= SHOWN else {"bytes": len(answer.body)}
