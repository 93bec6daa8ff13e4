"""Our flows against the demo's authorization servers, without a network: each layout, and each thing that can be wrong.

What is a matter of the way there (size, time, redirects) belongs to the runner, and is tested with it.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

import pytest

from inspector.auth.actions import Fetch, Fetched, FetchFailed, VisitPage
from inspector.auth.authorize import Authorization
from inspector.auth.options import AuthOptions
from inspector.demo.auth.faults import ELSEWHERE, FAULTS
from inspector.errors import AuthorizationNeeded
from tests.auth.scripted_servers import Refused, World
from tests.demo.auth_site import CALLBACK, ISSUER, MCP, Reply, Site

OF_THE_RUNNER = {
    "huge-metadata",
    "slow-metadata",
    "redirect-metadata",
    "redirect-loop",
    "token-huge",
    "token-redirect",
}
# What the person is told; None where the login succeeds all the same.
TOLD = {
    "no-challenge": None,
    "many-challenges": None,
    "private-metadata": None,
    "prm-missing": "is neither at",
    "prm-html": "a page of HTML",
    "prm-no-servers": "names no authorization server",
    "prm-types": "“resource” is an object",
    "wrong-resource": "is for “https://elsewhere.example/mcp”",
    "wrong-issuer": "has another issuer, “https://elsewhere.example”",
    "issuer-slash": f"has another issuer, “{ISSUER}/”",
    "no-pkce": "PKCE",
    "plain-pkce": "S256",
    "no-registration": "does not support client registration",
    "javascript-endpoint": "its scheme is “javascript”",
    "file-endpoint": "its scheme is “file”",
    "http-endpoint": "neither https",
    "metadata-types": "is an object, not a string",
    "html-metadata": "a page of HTML",
    "deep-metadata": "has no metadata",
    "registration-refuses": "refused to register",
    "other-redirect": "“redirect_uris”",
    "registration-no-id": "“client_id” is missing",
    "iss-missing": "has no “iss”",
    "iss-wrong": "is from “https://elsewhere.example”",
    "iss-slash": f"is from “{ISSUER}/”",
    "state-wrong": "a “state” of another login",
    "state-missing": "no “state”",
    "state-doubled": "“state” more than once",
    "error-redirect": "“server_error”",
    "error-iss-wrong": "is from “https://elsewhere.example”",
    "token-200-error": "Not today",
    "token-no-type": "“token_type” is missing",
    "token-other-type": "“mac”",
    "token-bad-expiry": "“expires_in” is a string",
    "token-negative-expiry": "“expires_in” is negative",
    "token-html": "HTML",
    "token-newline": "not allowed in a token",
    "refresh-refused": None,
    "scope-forever": "demo:write",
    "401-forever": "refuses the token that its own",
    "migrate": None,
    "clock-skew": None,
}


@dataclass
class Demo(World):
    """A world whose network is the demo's, and whose person allows everything."""

    site: Site = field(default_factory=Site)

    def __post_init__(self) -> None:
        self.redirect = CALLBACK
        self.back = lambda url: self.site.send("GET", url).headers["Location"]

    def _fetched(self, action: Fetch) -> Fetched:
        if urlsplit(action.url).hostname != "127.0.0.1":
            raise FetchFailed(f"{action.url} is not fetched")
        reply = self.site.send(action.method, action.url, dict(action.fields), action.body)
        if reply.text == "let through":  # there is nothing of authorization there, and nothing of MCP either
            return Fetched(404, (), b"", action.url)
        return Fetched(reply.status, tuple(reply.headers.items()), reply.body, action.url)

    def call(self, state: Authorization, tool: str = "echo") -> Reply:
        """Call a tool as a client does: asked again for as long as the flow says that it helps."""
        for _ in range(10):
            self.run(state.ready())
            sent = state.fields("POST", MCP)
            message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": tool}}
            reply = self.site.send("POST", MCP, dict(sent), json.dumps(message).encode())
            if reply.status not in (401, 403):
                return reply
            challenge = reply.headers.get("WWW-Authenticate")
            refusal = Refused(
                reply.status, (challenge,) if challenge else (), tuple(reply.headers.items()), "tools/call"
            )
            if not self.run(state.answer(refusal, sent)):
                return reply
        raise AssertionError("it goes on for ever")

    @property
    def redeemed(self) -> int:
        """How many codes were sent to a token endpoint."""
        return sum(isinstance(action, Fetch) and b"grant_type=authorization_code" in action.body for action in self.log)

    @property
    def visited(self) -> list[str]:
        return [action.url for action in self.log if isinstance(action, VisitPage)]


def client(site: Site, **options: Any) -> tuple[Demo, Authorization]:
    return Demo(site=site), Authorization(MCP, AuthOptions(**options), now=lambda: site.time)


@pytest.mark.parametrize("layout", ["apart", "path", "oidc", "several", "same-origin", "defaults"])
def test_we_get_into_every_layout(layout: str) -> None:
    """C-AUTH-05, C-AUTH-09, C-AUTH-35."""
    demo, state = client(Site(layout=layout))
    assert demo.call(state).status == 200
    assert demo.redeemed == 1


def test_a_tool_that_needs_more_gets_both_scopes() -> None:
    """C-AUTH-33."""
    demo, state = client(Site())
    assert demo.call(state).status == 200
    assert demo.call(state, "change-list").status == 200
    assert demo.call(state).status == 200
    assert [visit["scope"].split() for visit in demo.visits] == [
        ["demo:read", "offline_access"],
        ["demo:read", "offline_access", "demo:write"],
    ]


def test_a_token_that_ends_is_renewed_without_a_person() -> None:
    """C-AUTH-32."""
    site = Site(expiry=60)
    demo, state = client(site)
    for _ in range(3):
        assert demo.call(state).status == 200
        site.time += 100
    assert demo.redeemed == 1


@pytest.mark.parametrize("method", ["demo-service", "https://client.example/metadata.json"])
def test_we_get_in_as_a_known_client_and_as_a_document(method: str) -> None:
    """C-AUTH-14, C-AUTH-15."""
    options = {"client_metadata_url": method} if method.startswith("https:") else {"client_id": method}
    demo, state = client(Site(), client_secret="demo-service-secret" if "client_id" in options else "", **options)
    assert demo.call(state).status == 200
    assert demo.visits[0]["client_id"] == method


@pytest.mark.parametrize("grant", ["client-credentials", "device"])
def test_we_get_in_without_a_browser(grant: str) -> None:
    """C-AUTH-40."""
    known = {"client_id": "demo-service", "client_secret": "demo-service-secret"}
    demo, state = client(Site(), grant=grant, **(known if grant != "device" else {"client_id": "demo-app"}))
    assert demo.call(state).status == 200
    assert demo.visited == []


def test_every_fault_is_reported_of_somewhere() -> None:
    assert set(TOLD) | OF_THE_RUNNER == set(FAULTS)


@pytest.mark.parametrize("name", [name for name, message in TOLD.items() if message is not None])
def test_a_fault_ends_the_login_with_its_name(name: str) -> None:
    """C-AUTH-07, C-AUTH-10, C-AUTH-12, C-AUTH-13, C-AUTH-16, C-AUTH-22, C-AUTH-29, C-AUTH-34."""
    demo, state = client(Site(name))
    with pytest.raises(AuthorizationNeeded) as caught:
        demo.call(state, "change-list" if name == "scope-forever" else "echo")
    assert TOLD[name] in str(caught.value)
    assert caught.value.exit_code == 3
    assert "\x1b" not in str(caught.value) + (caught.value.hint or "")
    place = FAULTS[name].place
    if place in ("challenge", "prm", "metadata", "registered"):
        assert demo.visited == []
    if place not in ("token", "access"):
        assert demo.redeemed == 0
    assert demo.redeemed <= 3
    assert not any(url.startswith(ELSEWHERE) for url in demo.fetched)


def test_an_error_of_another_issuer_is_not_shown() -> None:
    """C-AUTH-30."""
    demo, state = client(Site("error-iss-wrong"))
    with pytest.raises(AuthorizationNeeded) as caught:
        demo.call(state)
    assert "server_error" not in str(caught.value)
    assert "0900" not in str(caught.value)


@pytest.mark.parametrize("name", [name for name, message in TOLD.items() if message is None])
def test_what_can_be_got_around_is(name: str) -> None:
    site = Site(name, expiry=60)
    demo, state = client(site)
    assert demo.call(state).status == 200
    site.time += 100
    assert demo.call(state).status == 200


def test_a_server_that_has_moved_is_followed_with_another_client() -> None:
    """C-AUTH-17."""
    demo, state = client(Site("migrate"))
    assert demo.call(state).status == 200
    first, second = demo.visited
    assert first.startswith(f"{ISSUER}/authorize")
    assert second.startswith(f"{ISSUER}/second/authorize")
    assert demo.visits[0]["client_id"] != demo.visits[1]["client_id"]
