"""Authorization of the MCP server: which requests it accepts, and what it returns for others (RFC 9728, RFC 6750)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from inspector.auth import challenge, url_checks
from inspector.check.check_table import CheckMode, CheckTable, Need
from inspector.check.given import given
from inspector.check.outcome import Outcome, Skip, bad, doubtful, expect, good, remark, skipped
from inspector.check.visit.facts import OnceInAVisit
from inspector.check.visit.http import ACCEPT, JSON, RecordedResponse
from inspector.check.visit.visit import Visit
from inspector.protocol import jsonrpc
from inspector.protocol.jsonrpc import excerpt
from inspector.protocol.members import array_at
from inspector.protocol.names import SESSION_FIELD, VERSION_FIELD

_AUTH: CheckMode = "auth"
_OPEN = "the server requires no authorization"
_GARBAGE = "inspector-check-no-such-token"


CHECKS = CheckTable("auth_resource", mode=_AUTH, needs=Need.NOTHING)


# Shared by the checks


async def _begin(
    visit: Visit, *fields: tuple[str, str], method: str = "", params: Any = None, url: str | None = None
) -> RecordedResponse:
    """The first request of a client of this revision, or another one, without the headers of the target."""
    if not method:
        method = "server/discover" if visit.modern else "initialize"
    message: dict[str, Any] = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params or {}}
    revision = (VERSION_FIELD, visit.revision)
    extra: tuple[tuple[str, str], ...] = ()
    if method == "initialize":
        client = {"name": "inspector-check", "version": "1"}
        message["params"] = {"protocolVersion": visit.revision, "capabilities": {}, "clientInfo": client}
    else:
        extra = (revision,)
    if visit.modern or method == "server/discover":
        prefix = "io.modelcontextprotocol/"
        message["params"] = {
            **message["params"],
            "_meta": {f"{prefix}protocolVersion": visit.revision, f"{prefix}clientCapabilities": {}},
        }
        name = message["params"].get("name")
        extra = (revision, ("Mcp-Method", method), *((("Mcp-Name", str(name)),) if name else ()))
    return await visit.web.send(
        url=url, fields=(JSON, ACCEPT, *extra, *fields), body=jsonrpc.encode(message), message=message, own=False
    )


@OnceInAVisit
async def refusal(visit: Visit) -> RecordedResponse:
    """The response to a client without a token; requested once in a visit."""
    return await _begin(visit)


async def _refused(visit: Visit) -> RecordedResponse | str:
    """The response with status 401 to a client without a token, or that the server is open."""
    answer = await refusal(visit)
    return answer if answer.status == 401 else _OPEN


def _challenge(answer: RecordedResponse) -> challenge.Challenge | None:
    values = [value for name, value in answer.headers if name.lower() == "www-authenticate"]
    return challenge.chosen(challenge.parse(values))


class Metadata(NamedTuple):
    """A document about authorization, as it was looked for."""

    place: str
    """Where it is, or why there is none."""
    document: dict[str, Any] | None
    events: tuple[int, ...]
    """The evidence."""
    issuer: str = ""

    @property
    def members(self) -> dict[str, Any]:
        """The members of the document; none if there is none."""
        return self.document or {}


@OnceInAVisit
async def metadata(visit: Visit) -> Metadata:
    """The protected resource metadata (RFC 9728), requested once in a visit."""
    bearer = _challenge(await refusal(visit))
    named = bearer.parameters.get("resource_metadata") if bearer is not None else None
    return await look_for(visit, [*([named] if named else []), *url_checks.resource_places(visit.web.target.url)])


async def look_for(visit: Visit, places: Iterable[str], reason: str = "nowhere", issuer: str = "") -> Metadata:
    """Get the first JSON object at one of these URLs."""
    events: list[int] = []
    for place in dict.fromkeys(places):
        answer = await fetch(visit, place)
        events += answer.events
        document = answer.messages[0] if answer.messages else None
        if answer.status == 200 and type(document) is dict:
            return Metadata(place, document, tuple(events[:10]), issuer)
        reason = f"{place} returns {answer.brief}"
    return Metadata(reason, None, tuple(events[:10]), issuer)


async def _metadata(visit: Visit) -> Metadata | str:
    """The protected resource metadata, or that they do not exist."""
    resource = await metadata(visit)
    return "the metadata do not exist" if resource.document is None else resource


async def fetch(visit: Visit, url: str) -> RecordedResponse:
    """Get a document from a URL of the server: https, or local if the server is local."""
    try:
        url_checks.secure(url)
    except ValueError as error:
        return RecordedResponse(1, reason=f"{excerpt(url, 100)} was not requested: {error}")
    return await visit.web.send("GET", url=url, fields=(("Accept", "application/json"),), own=False)


def _same(named: str, url: str) -> bool:
    """Whether both URLs name the same server, except for a trailing slash."""
    try:
        return url_checks.canonical(named).rstrip("/") == url_checks.canonical(url).rstrip("/")
    except ValueError:
        return False


async def _with(visit: Visit, field: tuple[str, str], statuses: tuple[int, ...]) -> Outcome:
    """The first request with an Authorization header: which statuses are correct."""
    if (await refusal(visit)).status != 401:
        return skipped(_OPEN)
    answer = await _begin(visit, field)
    if answer.status in statuses:
        return good("", *answer.events)
    return bad(f"{field[1].partition(' ')[0]} got {answer.brief}.", *answer.events)


async def _token(visit: Visit) -> str:
    """The token of the login; empty without one."""
    for name, value in await visit.token_fields():
        scheme, _, token = value.partition(" ")
        if name.lower() == "authorization" and scheme.lower() == "bearer":
            return token.strip()
    return ""


# The checks


@CHECKS.active("AUTH-01", apart=True)
async def no_token(visit: Visit) -> Outcome:
    """The first request of a client, without a token."""
    answer = await refusal(visit)
    if answer.status == 401:
        return good("", *answer.events)
    if 200 <= answer.status < 300:
        return skipped(_OPEN)
    return bad(f"The request got {answer.brief}.", *answer.events)


@CHECKS.active("AUTH-02", apart=True)
@given(_refused)
async def challenged(visit: Visit, answer: RecordedResponse) -> Outcome:
    """The challenge; since 2025-11-25 the well-known URIs are enough."""
    bearer = _challenge(answer)
    if bearer is not None and "resource_metadata" in bearer.parameters:
        return good("", *answer.events)
    place, document, *_ = await metadata(visit)
    if document is not None and visit.features.icons:  # Both ways are allowed since 2025-11-25.
        return good(f"the challenge has no metadata URL, but {place} exists", *answer.events)
    named = answer.header("www-authenticate")
    return bad(
        f"The challenge is {excerpt(named, 160)}." if named else "The response has no WWW-Authenticate.", *answer.events
    )


@CHECKS.active("AUTH-03", apart=True)
@given(_refused)
async def has_metadata(visit: Visit, answer: RecordedResponse) -> Outcome:
    """The URL in the challenge, else the well-known URIs in their order."""
    resource = await metadata(visit)
    if resource.document is None:
        return bad(f"The metadata do not exist: {resource.place}.", *answer.events, *resource.events)
    return good(resource.place, *resource.events)


@CHECKS.active("AUTH-04", apart=True)
@given(_metadata)
async def names_a_server(visit: Visit, resource: Metadata) -> Outcome:
    """`authorization_servers`."""
    listed = resource.members.get("authorization_servers")
    servers = array_at(listed)
    are_named = bool(servers) and all(isinstance(server, str) for server in servers)
    return expect(resource, are_named, f"authorization_servers is {excerpt(listed, 80)}.")


@CHECKS.active("AUTH-05", apart=True)
@given(_metadata)
async def about_this_server(visit: Visit, resource: Metadata) -> Outcome:
    """`resource`: the same URL; a parent path is doubtful."""
    named, url = resource.members.get("resource"), visit.web.target.url
    wrong = f"resource is {excerpt(named, 120)}, but the URL of the server is {excerpt(url, 120)}."
    above = isinstance(named, str) and url_checks.covers(named, url)
    return expect(resource, isinstance(named, str) and _same(named, url), wrong, doubtful if above else bad)


@CHECKS.active("AUTH-06", apart=True)
@given(_refused)
async def scopes_named(visit: Visit, answer: RecordedResponse) -> Outcome:
    """`scope` of the challenge."""
    bearer = _challenge(answer)
    if bearer is not None and bearer.scope:
        return good(" ".join(bearer.scope), *answer.events)
    return bad("The challenge has no scope.", *answer.events)


@CHECKS.active("AUTH-07", apart=True)
@given(_refused)
async def no_offline_access(visit: Visit, answer: RecordedResponse) -> Outcome:
    """The challenge and the metadata."""
    bearer, resource = _challenge(answer), await metadata(visit)
    if "offline_access" in ((bearer.scope if bearer is not None else None) or ()):
        return bad("The challenge requests offline_access.", *answer.events)
    if "offline_access" in array_at(resource.members.get("scopes_supported")):
        return bad("scopes_supported has offline_access.", *resource.events)
    return good("", *answer.events)


@CHECKS.active("AUTH-08", apart=True)
async def unknown_token(visit: Visit) -> Outcome:
    """An invalid token."""
    return await _with(visit, ("Authorization", f"Bearer {_GARBAGE}"), (401,))


@CHECKS.active("AUTH-09", apart=True)
async def foreign_token(visit: Visit) -> Outcome:
    """The token for another server from --foreign-token-env."""
    token = visit.allowed.foreign_token
    if not token:
        return skipped(Skip.FOREIGN_TOKEN)
    visit.journal.redactor.add(token)
    return await _with(visit, ("Authorization", f"Bearer {token}"), (401, 403))


@CHECKS.active("AUTH-10", apart=True)
async def token_in_the_url(visit: Visit) -> Outcome:
    """The token of the login, in the query string."""
    token = await _token(visit)
    if not token:
        return skipped("it needs a login")
    url = visit.web.target.url
    answer = await _begin(visit, url=f"{url}{'&' if '?' in url else '?'}access_token={token}")
    return expect(answer, answer.status in (400, 401, 403), f"The request got {answer.brief}.")


@CHECKS.active("AUTH-11", apart=True, needs=Need.SESSION)
async def insufficient_scope(visit: Visit) -> Outcome:
    """The allowed tools with the token of the login, until one is rejected."""
    token = await _token(visit)
    if not token:
        return skipped("it needs a login")
    if not visit.modern:
        return skipped("it runs in the modern era, where calls are independent")
    for tool in visit.callable()[: visit.limits.items]:
        params: dict[str, Any] = {"name": tool.get("name"), "arguments": {}}
        answer = await _begin(visit, ("Authorization", f"Bearer {token}"), method="tools/call", params=params)
        if answer.status != 403:
            continue
        bearer = _challenge(answer)
        parameters = bearer.parameters if bearer is not None else {}
        missing = [name for name in ("error", "scope", "resource_metadata") if name not in parameters]
        if missing or parameters.get("error") != "insufficient_scope":
            return bad(f"The challenge lacks {', '.join(missing) or 'insufficient_scope'}.", *answer.events)
        return good(parameters["scope"], *answer.events)
    return skipped("no allowed tool is rejected for its scopes")


@CHECKS.active("AUTH-12", apart=True)
async def malformed_field(visit: Visit) -> Outcome:
    """Another scheme, and a scheme without a token."""
    seen: list[int] = []
    for value in ("Basic aW5zcGVjdG9yOmNoZWNr", "Bearer"):
        outcome = await _with(visit, ("Authorization", value), (400, 401))
        if outcome.seen != "good":
            return outcome
        seen += outcome.evidence
    return good("", *seen)


@CHECKS.active("AUTH-13", apart=True)
async def everything_refused(visit: Visit) -> Outcome:
    """GET, DELETE, and `server/discover`."""
    if (await refusal(visit)).status != 401:
        return skipped(_OPEN)
    answers = [await visit.web.send(method, fields=(ACCEPT,), own=False, timeout=2) for method in ("GET", "DELETE")]
    answers.append(await _begin(visit, method="server/discover"))
    seen = [n for answer in answers for n in answer.events]
    for what, answer in zip(("GET", "DELETE", "server/discover"), answers, strict=True):
        if answer.status in (401, 404, 405) or (answer.status == 400 and what != "server/discover"):
            continue
        return bad(f"{what} without a token got {answer.brief}.", *answer.events)
    return good("", *seen)


@CHECKS.active("AUTH-14", apart=True)
async def every_request(visit: Visit) -> Outcome:
    """A session that was opened with a token, and a request in it without one."""
    token = await _token(visit)
    if not token:
        return skipped("it needs a login")
    opened = await _begin(visit, ("Authorization", f"Bearer {token}"))
    session = opened.header(SESSION_FIELD)
    if opened.refused or session is None:
        return skipped(f"no session was opened: {opened.brief}")
    visit.journal.redactor.add(session)
    answer = await _begin(visit, (SESSION_FIELD, session), method="tools/list", params={})
    await visit.web.send("DELETE", fields=((SESSION_FIELD, session), ("Authorization", f"Bearer {token}")))
    return expect(answer, answer.status == 401, f"A request in the session without the token got {answer.brief}.")


@CHECKS.active("AUTH-15", apart=True)
@given(_refused)
async def readable_challenge(visit: Visit, answer: RecordedResponse) -> Outcome:
    """The CORS headers of the 401 response."""
    exposed = (answer.header("access-control-expose-headers") or "").lower()
    if "www-authenticate" in exposed or exposed.strip() == "*":
        return good("", *answer.events)
    return remark("Scripts cannot read the challenge.", *answer.events)
