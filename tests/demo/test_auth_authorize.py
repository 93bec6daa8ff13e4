"""The authorization endpoint: what is asked of a person, and what comes back."""

from __future__ import annotations

import pytest

from tests.demo.auth_site import CALLBACK, ISSUER, MCP, VERIFIER, Site, ticket_in


@pytest.fixture
def site() -> Site:
    return Site()


@pytest.fixture
def asking() -> Site:
    """A site on which a person decides."""
    return Site(auto=False)


def test_the_answer_has_the_code_the_state_and_the_issuer(site: Site) -> None:
    reply = site.authorize()
    assert reply.headers["Location"].startswith(CALLBACK + "?")
    assert [name for name, _ in reply.back] == ["code", "state", "iss"]
    assert dict(reply.back)["state"] == "a state"
    assert dict(reply.back)["iss"] == ISSUER


def test_a_query_of_the_redirect_uri_stays(site: Site) -> None:
    uri = f"{CALLBACK}?a=b"
    assert site.authorize(redirect_uri=uri).back[0] == ("a", "b")


def test_the_page_says_what_is_asked_and_waits(asking: Site) -> None:
    reply = asking.authorize(scope="demo:read demo:write")
    assert reply.status == 200
    for text in ("Demo app", "demo:read, demo:write", MCP, CALLBACK):
        assert text in reply.text
    assert reply.headers["X-Frame-Options"] == "DENY"
    assert "frame-ancestors 'none'" in reply.headers["Content-Security-Policy"]


@pytest.mark.parametrize(("decision", "first"), [("allow", "code"), ("deny", "error"), ("", "error")])
def test_the_person_decides_once(asking: Site, decision: str, first: str) -> None:
    form = {"ticket": ticket_in(asking.authorize()), "decision": decision}
    back = asking.post(f"{ISSUER}/authorize/decide", form).back
    assert back[0][0] == first
    assert dict(back)["state"] == "a state"
    assert dict(back)["iss"] == ISSUER
    assert asking.post(f"{ISSUER}/authorize/decide", form).status == 400


def test_what_a_person_allowed_can_be_redeemed(asking: Site) -> None:
    form = {"ticket": ticket_in(asking.authorize()), "decision": "allow"}
    code = dict(asking.post(f"{ISSUER}/authorize/decide", form).back)["code"]
    assert asking.redeem(code).status == 200


def test_markup_in_a_name_is_shown_unchanged(asking: Site) -> None:
    client = asking.register(client_name="<script>alert(1)</script>\ud800").json["client_id"]
    page = asking.authorize(client_id=client).text
    assert "<script>" not in page
    assert "&lt;script&gt;alert(1)" in page


@pytest.mark.parametrize(
    "changed",
    [
        {"client_id": "unknown"},
        {"client_id": None},
        {"redirect_uri": None},
        {"redirect_uri": "https://elsewhere.example/callback"},
        {"redirect_uri": "http://127.0.0.1.elsewhere.example/callback"},
        {"redirect_uri": "http://127.0.0.1:80@elsewhere.example/"},
        {"redirect_uri": "http://127.0.0.1:5000/\r\nSet-Cookie:a=b"},
        {"redirect_uri": "http://127.0.0.1:5000/a b"},
        {"redirect_uri": "http://me@127.0.0.1:5000/callback"},
        {"redirect_uri": "http://127.0.0.1:5000/callback#fragment"},
        {"redirect_uri": "http://127.0.0.1:99999/callback"},
        {"client_id": "http://127.0.0.1/metadata.json"},
    ],
)
def test_the_browser_is_not_sent_where_the_client_may_not_be(site: Site, changed: dict[str, str | None]) -> None:
    reply = site.authorize(**changed)
    assert reply.status == 400
    assert "Location" not in reply.headers


@pytest.mark.parametrize(
    ("changed", "error"),
    [
        ({"response_type": "token"}, "unsupported_response_type"),
        ({"code_challenge": None}, "invalid_request"),
        ({"code_challenge": "short"}, "invalid_request"),
        ({"code_challenge_method": "plain"}, "invalid_request"),
        ({"code_challenge_method": None}, "invalid_request"),
        ({"scope": "demo:read demo:everything"}, "invalid_scope"),
        ({"resource": "https://elsewhere.example/mcp"}, "invalid_target"),
        ({"resource": "http://127.0.0.1:1001/other"}, "invalid_target"),
        ({"resource": "http://127.0.0.1:1001/mcp#a"}, "invalid_target"),
        ({"resource": "http://127.0.0.1:7/mcp"}, "invalid_target"),
        ({"resource": "http://[/mcp"}, "invalid_target"),
    ],
)
def test_a_wrong_request_returns_as_an_error(site: Site, changed: dict[str, str | None], error: str) -> None:
    back = dict(site.authorize(**changed).back)
    assert back["error"] == error
    assert (back["state"], back["iss"]) == ("a state", ISSUER)
    assert "code" not in back


def test_a_parameter_that_is_there_twice_is_an_error(site: Site) -> None:
    url = f"{ISSUER}/authorize?client_id=demo-app&redirect_uri={CALLBACK}"
    assert dict(site.get(f"{url}&state=1&state=2").back)["error"] == "invalid_request"
    assert site.get(f"{url}&redirect_uri={CALLBACK}").status == 400


def test_a_state_that_was_not_sent_does_not_come_back(site: Site) -> None:
    assert [name for name, _ in site.authorize(state=None).back] == ["code", "iss"]


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "[::1]"])
def test_an_app_on_this_machine_returns_to_any_port(site: Site, host: str) -> None:
    client = site.register(redirect_uris=[f"http://{host}/callback"]).json["client_id"]
    assert site.authorize(client_id=client, redirect_uri=f"http://{host}:61234/callback").status == 302
    assert site.authorize(client_id=client, redirect_uri=f"http://{host}:61234/other").status == 400


def test_the_verifier_has_to_be_that_of_the_challenge(site: Site) -> None:
    assert site.redeem(site.code(), code_verifier="w" * 43).json["error"] == "invalid_grant"
    assert site.redeem(site.code(), code_verifier=VERIFIER).status == 200
