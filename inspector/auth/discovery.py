"""Discovery: the protected resource metadata of an MCP server, and the metadata of its authorization server.

The specification defines the order of the URLs and what makes a document unusable
(2026-07-28/basic/authorization/authorization-server-discovery); each step is recorded with its rule.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from inspector.auth import json_documents, server_metadata, url_checks
from inspector.auth.actions import AuthFlow, ChooseServer, Denied, Fetch, Fetched, FetchFailed, fetch, record_step
from inspector.auth.challenge import Challenge
from inspector.auth.json_documents import InvalidDocument, OAuthDocument
from inspector.auth.server_metadata import ACCEPT, AuthorizationServer, document_facts, version
from inspector.errors import AuthorizationNeeded
from inspector.hints import Hint, Parameter
from inspector.text import safe


@dataclass(frozen=True, slots=True)
class ProtectedResource:
    """The protected resource metadata (RFC 9728 section 2)."""

    resource: str
    """Its `resource`, unmodified; without metadata, the server's canonical URI."""
    issuers: tuple[str, ...] = ()
    scopes: tuple[str, ...] | None = None
    bound: bool = False
    """The server requires tokens that are bound to a key (`dpop_bound_access_tokens_required`)."""
    place: str = ""
    """The URL of the document; empty without one, such as for a server of 2025-03-26."""


@dataclass(frozen=True, slots=True)
class Discovery:
    """The metadata of the MCP server and of its authorization server."""

    resource: ProtectedResource
    server: AuthorizationServer
    challenge: Challenge | None = None
    """The challenge that started the login."""

    @property
    def wants_bound(self) -> bool:
        """Whether the MCP server requires tokens that are bound to a key (RFC 9449 section 7.1, RFC 9728 section 2)."""
        return self.resource.bound or (self.challenge is not None and self.challenge.scheme == "dpop")


def discover(server: str, challenge: Challenge | None, *, issuer: str = "", revision: str = "") -> AuthFlow[Discovery]:
    """Find the authorization server of the MCP server at `server`.

    `issuer` is the one that the person chose, empty for any that the server names; `revision` is sent as
    `MCP-Protocol-Version`, if known (C-AUTH-11). Raises `AuthorizationNeeded` with the reason.
    """
    try:
        url_checks.secure(server.partition("#")[0])
    except ValueError as error:
        raise AuthorizationNeeded(
            f"The server {safe(server, 200)} requires authorization, but its URL may not receive a token: {error}.",
            hint="Use an https URL, or a server on this machine.",
        ) from None
    named = bool(issuer)
    resource = yield from protected_resource(server, challenge, revision)
    if resource is None:
        resource = ProtectedResource(url_checks.canonical(server))
        if not issuer:
            metadata = yield from server_metadata.as_of_2025_03_26(server, revision)
            return Discovery(resource, metadata, challenge)
    if not issuer:
        issuer = yield from _chosen(resource)
    elif resource.issuers and issuer not in resource.issuers:
        names = ", ".join(f"“{safe(name, 100)}”" for name in resource.issuers[:5])
        yield from record_step(
            "server",
            f"The server does not name the authorization server {safe(issuer, 200)}",
            ok=False,
            rule="C-AUTH-04",
            issuers=list(resource.issuers),
            fix=f"It names {names}.",
        )
        raise AuthorizationNeeded(
            f"The MCP server does not name {safe(issuer, 200)} as its authorization server, so a token from there is "
            "not sent.",
            hint=f"It names {names}.",
        )
    else:
        yield from record_step("server", f"{safe(issuer, 300)}, as the options say", rule="C-AUTH-08", issuer=issuer)
    metadata = yield from server_metadata.of(issuer, revision=revision, named=named)
    return Discovery(resource, metadata, challenge)


def protected_resource(server: str, challenge: Challenge | None, revision: str) -> AuthFlow[ProtectedResource | None]:
    """Return the protected resource metadata from the first URL that has it (C-AUTH-05 to 07); None without any.

    Raises `AuthorizationNeeded` if a URL did not respond, or the document is not valid.
    """
    challenge_url = challenge.parameters.get("resource_metadata", "") if challenge else ""
    places = url_checks.resource_places(server)
    if challenge_url:
        places = [challenge_url, *(place for place in places if place != challenge_url)]
    tried: list[list[str]] = []
    failure: FetchFailed | None = None
    fields, own = ACCEPT + version(revision), url_checks.origin(server)
    for number, place in enumerate(places, 1):
        try:
            url_checks.secure(place)
        except ValueError as error:
            yield from record_step(
                "resource",
                f"“{safe(place, 200)}” is not fetched: {error}",
                ok=False,
                rule="C-AUTH-13",
                fix="Set `resource_metadata` to an https URL.",
            )
            continue
        try:
            named = url_checks.origin(place) == own
            answer = yield from fetch(Fetch("GET", place, fields, what="the protected resource metadata", named=named))
        except FetchFailed as error:
            failure = failure or error
            tried.append([place, error.message])
            continue
        values = json_documents.parsed(answer.body) if answer.status == 200 else None
        # Some servers answer every path with 200 and unrelated JSON.
        if values is None or not ("resource" in values or "authorization_servers" in values):
            tried.append([place, json_documents.described(answer) if values is None else "another JSON object"])
            continue
        if challenge_url and tried:
            yield from record_step(
                "resource",
                f"The URL in the challenge has no metadata: {tried[0][1]}",
                ok=False,
                rule="C-AUTH-06",
                places=tried,
                fix=f"Name {place} in the challenge",
            )
            tried = []
        return (yield from _read_resource(values, answer, place, server, f"URL {number} of {len(places)}", tried))
    if failure is not None:
        # A URL that did not respond proves nothing.
        yield from record_step("resource", failure.message, ok=False, rule="C-AUTH-06", places=tried, fix=failure.hint)
        raise failure
    if challenge_url:
        # A server that names a metadata URL is not of 2025-03-26, so its default endpoints would be guesses.
        reason = f": {tried[0][1]}" if tried else ""
        yield from record_step(
            "resource",
            f"No metadata was found at the challenge's URL or the well-known URLs{reason}",
            ok=False,
            rule="C-AUTH-05",
            places=tried,
            fix=f"The server should answer {challenge_url[:200]} with a JSON document that names itself and its "
            "authorization server.",
        )
        raise AuthorizationNeeded(
            f"The protected resource metadata is neither at “{safe(challenge_url, 200)}”, the URL of the challenge, "
            f"nor at a well-known URL{reason}.",
            hint=Hint("Set the authorization server's issuer with ", Parameter.AUTH_SERVER, ", if you know it."),
        )
    yield from record_step(
        "resource",
        "The server has no protected resource metadata",
        ok=False,
        rule="C-AUTH-05",
        places=tried,
        fix=f"Publish it at {places[-1]}, and name its URL in the challenge.",
    )
    return None


def _read_resource(
    values: Mapping[str, Any], answer: Fetched, place: str, server: str, which: str, tried: list[list[str]]
) -> AuthFlow[ProtectedResource]:
    facts = {"url": place, "status": answer.status, "places": tried, **document_facts(answer, values)}
    document = OAuthDocument(
        values,
        "The protected resource metadata",
        hint=f"It was read from {safe(place, 200)}; its format is in RFC 9728 section 2.",
    )
    try:
        resource = ProtectedResource(
            document.needed("resource", longest=url_checks.MAX_URL),
            tuple(dict.fromkeys(document.texts("authorization_servers") or ())),
            document.scopes("scopes_supported"),
            document.flag("dpop_bound_access_tokens_required"),
            place,
        )
        if not url_checks.covers(resource.resource, server):
            facts |= {"expected": url_checks.canonical(server), "found": resource.resource}
            raise InvalidDocument(
                f"The protected resource metadata is for “{safe(resource.resource, 200)}”, not for this server, "
                f"{safe(server, 200)}. Inspector ignores it.",
                hint="Its “resource” must be the URL of the MCP server (RFC 9728 section 3.3).",
                field="resource",
                rule="C-AUTH-07",
            )
    except InvalidDocument as error:
        fix = (
            f"Set “resource” to “{safe(url_checks.canonical(server), 200)}”."
            if error.field == "resource"
            else error.hint
        )
        yield from record_step(
            "resource",
            error.message,
            ok=False,
            rule=error.rule or "RFC 9728 section 2",
            **facts,
            field=error.field,
            fix=fix,
        )
        raise
    yield from record_step(
        "resource", f"{which} names this server: {safe(resource.resource, 200)}", rule="C-AUTH-06", **facts
    )
    yield from document.loose_steps("resource", "RFC 9728 section 2")
    return resource


def _chosen(resource: ProtectedResource) -> AuthFlow[str]:
    """Return one of the authorization servers that the resource names (C-AUTH-08)."""
    issuers = resource.issuers
    if not issuers:
        yield from record_step(
            "server",
            "The protected resource metadata names no authorization server",
            ok=False,
            rule="C-AUTH-05",
            fix=(
                "Set “authorization_servers” to a list of at least one issuer: the URL of the server that issues its "
                "tokens."
            ),
        )
        raise AuthorizationNeeded(
            "The protected resource metadata names no authorization server.",
            hint=Hint("If you know its issuer, set it with ", Parameter.AUTH_SERVER, "."),
        )
    issuer = issuers[0]
    if len(issuers) > 1:
        try:
            answer = yield ChooseServer(issuers)
        except Denied as error:
            yield from record_step("server", error.message, ok=False, fix=error.hint, issuers=list(issuers))
            raise
        assert isinstance(answer, str)
        issuer = answer
    which = f", number {issuers.index(issuer) + 1} of {len(issuers)}" if len(issuers) > 1 else ""
    yield from record_step(
        "server", f"{safe(issuer, 300)}{which}", rule="C-AUTH-08", issuer=issuer, issuers=list(issuers)
    )
    return issuer
