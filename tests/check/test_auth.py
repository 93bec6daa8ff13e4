"""Authorization: for each check a site that breaks it, and one in order."""

import base64
import hashlib
from dataclasses import dataclass, replace

import pytest

from inspector.addresses import may_lead_to
from inspector.check.run import Runner
from inspector.check.selection import CheckSelection
from inspector.check.visit import http
from inspector.check.visit.visit import Allowed
from inspector.client.options import Options
from inspector.config.targets import HttpTarget
from inspector.journal.journal import Journal
from tests.check.faulty_servers import LIMITS, TIMEOUT
from tests.check.login_server import FOREIGN, TOKEN, LoggedIn, Site

R2, R4, R5 = "2025-03-26", "2025-11-25", "2026-07-28"


@dataclass
class Case:
    """One check: in which revision, with which faulty parts; `inside`: the client is logged in."""

    id: str
    fault: dict
    revision: str = R4
    inside: bool = False
    right: dict | None = None
    remark: bool = False

    def __str__(self):
        return self.id


def forbids(_site, request, reply, _url):
    if request.field("authorization") is None:
        reply.body(403)
        return True
    return False


def lets_in(token):
    """Takes another token, too."""

    def mcp(site, request, reply, _url):
        if request.field("authorization") == token:
            site.answer(request, reply)
            return True
        return False

    return mcp


def breaks_of(value):
    def mcp(_site, request, reply, _url):
        if request.field("authorization") == value:
            reply.body(500)
            return True
        return False

    return mcp


def reads_the_url(site, request, reply, url):
    if f"access_token={TOKEN}" in url.query:
        site.answer(request, reply)
        return True
    return False


def says_little_of_scopes(site, request, reply, _url):
    if request.rpc_method == "tools/call" and request.field("authorization"):
        reply.body(403, b"", ("WWW-Authenticate", 'Bearer error="insufficient_scope"'))
        return True
    return False


def open_stream(_site, request, reply, _url):
    if request.method == "GET":
        reply.body(200, "everything there is")
        return True
    return False


def believes_sessions(site, request, reply, _url):
    if request.field("mcp-session-id") and not request.field("authorization"):
        site.answer(request, reply)
        return True
    return False


def redirects_anywhere(reply, given):
    reply.body(302, b"", ("Location", given["redirect_uri"] + "?code=x"))
    return True


def takes_any_verifier(site, reply, given):
    if given["grant_type"] == "authorization_code":
        site.grant(reply)
        return True
    return False


def takes_codes_twice(site, reply, given):
    challenge = site.codes.get(given.get("code"))
    if challenge is None:
        return False
    hashed = base64.urlsafe_b64encode(hashlib.sha256(given["code_verifier"].encode()).digest()).rstrip(b"=").decode()
    if hashed == challenge:
        site.grant(reply)
    else:
        reply.json({"error": "invalid_grant"}, 400)
    return True


def keeps_refresh_tokens(_site, reply, given):
    if given["grant_type"] == "refresh_token":
        reply.json({"access_token": TOKEN, "token_type": "Bearer", "refresh_token": given["refresh_token"]})
        return True
    return False


def errors_as_pages(_site, reply, given):
    if given.get("code") == "inspector-check":
        reply.body(200, "<h1>No</h1>", ("Content-Type", "text/html"))
        return True
    return False


BARE = {"resource": False, "server": False}
CASES = [
    Case("AUTH-01", {"mcp": forbids}),
    Case("AUTH-02", {"challenge": "Basic realm=x", "resource": False}),
    Case("AUTH-03", {"resource": False}),
    Case("AUTH-04", {"resource": {"authorization_servers": []}}),
    Case("AUTH-05", {"resource": {"resource": "https://elsewhere.example/mcp"}}),
    Case("AUTH-06", {"challenge": "Bearer"}),
    Case("AUTH-07", {"resource": {"scopes_supported": ["offline_access"]}}, R5),
    Case("AUTH-08", {"mcp": breaks_of("Bearer inspector-check-no-such-token")}),
    Case("AUTH-09", {"mcp": lets_in(f"Bearer {FOREIGN}")}),
    Case("AUTH-10", {"mcp": reads_the_url}, inside=True),
    Case("AUTH-11", {"mcp": says_little_of_scopes}, R5, inside=True),
    Case("AUTH-12", {"mcp": breaks_of("Bearer")}),
    Case("AUTH-13", {"mcp": open_stream}),
    Case("AUTH-14", {"mcp": believes_sessions}, inside=True),
    Case("AUTH-15", {"challenge": "hidden"}, remark=True),
    Case("AS-01", {"server": False}),
    Case("AS-02", {"server": {"issuer": "https://elsewhere.example"}}),
    Case("AS-03", {"server": {"token_endpoint": "http://elsewhere.example/token"}}),
    Case("AS-04", {"server": {"code_challenge_methods_supported": ["plain"]}}),
    Case("AS-05", {"server": {"client_id_metadata_document_supported": ...}}),
    Case("AS-06", {"server": {"registration_endpoint": ...}}, remark=True),
    Case("AS-07", {"server": {"authorization_response_iss_parameter_supported": False}}, R5),
    Case("AS-08", {"server": {"token_endpoint_auth_methods_supported": ["client_secret_basic"]}}),
    Case("AS-09", {"authorize": redirects_anywhere}),
    Case("AS-10", {"token": takes_any_verifier}),
    Case("AS-10", {"token": takes_codes_twice}),
    Case("AS-11", {"token": keeps_refresh_tokens}),
    Case("AS-12", {"expires": 10_000_000}),
    Case("AS-13", {**BARE, "paths": False}, R2, right=BARE),
    Case("AS-14", {"token": errors_as_pages}),
    Case("AS-15", {"server": {"client_id_metadata_document_supported": False}}, R5, remark=True),
]


async def checked(case, parts):
    async with Site(**parts) as site:
        journal = Journal.unnamed({})
        calls = ("write",) if case.id == "AUTH-11" else ()
        selection = CheckSelection(
            revisions=(case.revision,), only=frozenset((case.id,)), limits=LIMITS,
            allowed=Allowed(calls=calls, auth=True, intrusive=True, foreign_token=FOREIGN),
        )  # fmt: skip
        options = Options(authorize=LoggedIn() if case.inside else None, timeout=TIMEOUT)
        run = await Runner(site.target, journal, options, selection).go()
        written = journal.storage.pread(0, journal.storage.size)
        assert not [
            secret for secret in (TOKEN, FOREIGN, "refresh-1", "the-code-of-the-site") if secret.encode() in written
        ]
        journal.release()
        (result,) = [one for one in run.results if one.check.id == case.id]
        return result


@pytest.mark.parametrize("case", CASES, ids=str)
async def test_a_faulty_site_is_found(case):
    result = await checked(case, case.fault)
    assert result.outcome.seen in (("remark",) if case.remark else ("bad", "doubtful")), result
    assert result.outcome.evidence


@pytest.mark.parametrize("case", CASES, ids=str)
async def test_a_site_in_order_is_not_blamed(case):
    result = await checked(case, case.right or {})
    assert result.verdict == "pass", result


@pytest.mark.parametrize(
    ("server", "named"),
    [
        ("https://host.example/mcp", "http://localhost:{port}/"),
        ("https://10.0.0.5/mcp", "http://localhost:{port}/"),
        ("https://10.0.0.5/mcp", "http://127.0.0.1:{port}/"),
    ],
)
async def test_a_private_address_is_not_asked_for_a_server_that_is_not_there(server, named):
    """C-SEC-02: what a server names is fetched only where the server itself could be."""
    async with Site() as site:
        sent = http.HttpClient(replace(site.target, url=server), Journal.unnamed({}), 1.0, "AS-01")
        answer = await sent.send("GET", url=named.format(port=site.web.port))
        await sent.close()
    assert (answer.status, site.web.requests) == (0, [])
    assert "private" in answer.reason


@pytest.mark.parametrize(
    "named", ["https://169.254.169.254/latest", "https://[fd00:ec2::254]/", "https://100.100.100.200/"]
)
async def test_no_server_leads_to_the_metadata_of_a_cloud(named):
    """C-SEC-02, not even one on this machine."""
    for server in ("http://127.0.0.1:9/mcp", "https://10.0.0.5/mcp"):
        sent = http.HttpClient(HttpTarget(server), Journal.unnamed({}), 0.2, "AS-01")
        assert "the request was not sent" in (await sent.send("GET", url=named)).reason
        await sent.close()


async def test_a_name_that_stands_for_this_machine_is_not_asked_for_a_server_elsewhere(monkeypatch):
    """C-SEC-02."""
    monkeypatch.setattr(http, "may_lead_to", lambda host, home: host == "localhost" or may_lead_to(host, home))
    async with Site() as site:
        sent = http.HttpClient(replace(site.target, url="https://10.0.0.5/mcp"), Journal.unnamed({}), 1.0, "AS-01")
        answer = await sent.send("GET", url=f"http://localhost:{site.web.port}/")
        await sent.close()
    assert (answer.status, site.web.requests) == (0, [])
    assert "has a private address" in answer.reason


@pytest.mark.parametrize("id", ["BASE-05", "BASE-07", "BASE-08", "HTTP-13"])
async def test_what_a_server_should_refuse_for_itself_is_sent_with_the_login(id):
    """Otherwise it is refused for the login that it lacks."""
    seen = []

    def watches(_site, request, _reply, _url):
        seen.append((request.method, request.field("authorization")))
        return False

    await checked(Case(id, {}, R4, inside=True), {"mcp": watches})
    assert seen
    assert {login for _, login in seen} == {f"Bearer {TOKEN}"}
