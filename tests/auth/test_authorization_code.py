"""The redirect: the code is not sent anywhere before everything about it was checked."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import pytest

from inspector.auth.actions import AuthFlow, Denied, VisitPage
from inspector.errors import AuthorizationNeeded
from tests.auth.scripted_servers import AS_PLACE, ISSUER, REDIRECT, Refused, World, authorization, callback, metadata

TOKEN = f"{ISSUER}/token"


def run(world: World, **options: Any) -> None:
    state = authorization(**options)
    assert world.run(state.answer(Refused(), []))


def refused(world: World, **options: Any) -> AuthorizationNeeded:
    """No code was redeemed, the reason is one sentence, and nothing in it moves the screen."""
    with pytest.raises(AuthorizationNeeded) as caught:
        run(world, **options)
    assert TOKEN not in world.fetched
    assert caught.value.exit_code == 3
    assert "\x1b" not in caught.value.message + caught.value.hint + repr(world.recorded_steps())
    assert world.store == {}
    return caught.value


def state_of(url: str) -> str:
    return dict(parse_qsl(urlsplit(url).query))["state"]


@pytest.mark.parametrize(
    ("back", "says"),
    [
        (lambda url: f"{REDIRECT}?code=c", "no “state”"),
        (lambda url: f"{REDIRECT}?code=c&state=", "no “state”"),
        (lambda url: f"{REDIRECT}?code=c&state=wrong", "a “state” of another login"),
        (lambda url: f"{REDIRECT}?code=c&state=%00%ff", "a “state” of another login"),
        (lambda url: f"{REDIRECT}?code=c&state={state_of(url)[:-1]}", "a “state” of another login"),
        (lambda url: callback(url, code="c") + "&state=" + state_of(url), "“state” more than once"),
        (lambda url: callback(url, code="c") + "&code=d", "“code” more than once"),
        (lambda url: callback(url, code="c", iss=ISSUER) + "&iss=https%3A%2F%2Fevil", "“iss” more than once"),
        (lambda url: callback(url, error="x") + "&error=y", "“error” more than once"),
        (lambda url: callback(url), "neither a code"),
        (lambda url: callback(url, code=""), "neither a code"),
        (lambda url: callback(url, code="c").replace("127.0.0.1", "evil.example"), "an address other than"),
        (lambda url: callback(url, code="c").replace("43210", "43211"), "an address other than"),
        (lambda url: callback(url, code="c").replace("/callback", "/other"), "an address other than"),
        (lambda url: callback(url, code="c").replace("http:", "https:"), "an address other than"),
        (lambda url: callback(url, code="c").replace("?", "#"), "an address other than"),
        (lambda url: "", "an address other than"),
        (lambda url: "the code is 17", "an address other than"),
        (lambda url: "http://[", "not a valid URL"),
        (lambda url: callback(url, code="c" * 100_000), "characters"),
        (lambda url: callback(url, code="c") + "&a=1" * 200, "not a valid URL"),
    ],
)
def test_an_answer_that_is_not_ours_is_dropped(back: Callable[[str], str], says: str) -> None:
    """C-AUTH-22, C-AUTH-23."""
    world = World(back=back)
    assert says in refused(world).message
    assert world.failed.step == "callback"


@pytest.mark.parametrize(
    ("advertised", "iss", "accepted"),
    [
        (True, ISSUER, True),
        (True, None, False),
        (True, "https://evil.example", False),
        (True, ISSUER + "/", False),
        (False, None, True),
        (False, ISSUER, True),
        (False, "https://evil.example", False),
        (False, ISSUER + "/", False),
        (..., None, True),
        (..., ISSUER, True),
        (..., "HTTPS://login.example", False),
        (..., "https://login.example:443", False),
        (..., "https://login.exampl%65", False),
        (..., "", False),
        (..., " " + ISSUER, False),
    ],
)
def test_the_issuer_of_an_answer_is_compared_before_the_code_goes_anywhere(
    advertised: Any, iss: str | None, accepted: bool
) -> None:
    """C-AUTH-28, C-AUTH-29: RFC 9207 section 2.4, character by character."""
    world = World({AS_PLACE: metadata(authorization_response_iss_parameter_supported=advertised)})
    if iss is not None:
        world.extra["iss"] = iss
    if accepted:
        run(world)
        assert len(world.forms()) == 1
    else:
        refused(world)
        assert world.failed.rule == "C-AUTH-29"


def test_an_error_from_another_issuer_is_not_shown() -> None:
    """C-AUTH-30."""
    lies = {"error": "untrue_code", "error_description": "untrue_text", "error_uri": "https://untrue.example"}
    for iss in ({"iss": "https://evil.example"}, {}):
        world = World(
            {AS_PLACE: metadata(authorization_response_iss_parameter_supported=True)},
            back=lambda url, iss=iss: callback(url, **lies, **iss),
        )
        error = refused(world)
        assert "untrue" not in error.message + error.hint + repr(world.recorded_steps())


def test_an_error_with_the_wrong_state_is_not_shown() -> None:
    world = World(back=lambda url: f"{REDIRECT}?error=untrue_code&error_description=untrue_text&state=wrong")
    error = refused(world)
    assert "untrue" not in error.message + error.hint


def test_an_error_is_shown_with_its_markup_harmless() -> None:
    world = World(
        back=lambda url: callback(
            url, error="server_error", error_description="\x1b]0;x\x07[bold red]<script>" + "z" * 9000
        )
    )
    error = refused(world)
    assert "server_error" in error.message
    assert "<script>" in error.message
    assert len(error.message) < 500


def test_a_denial_is_a_denial() -> None:
    world = World(back=lambda url: callback(url, error="access_denied"))
    assert isinstance(refused(world), Denied)


def gone(url: str) -> str:
    raise Denied("The login was cancelled.", hint="Log in again.")


def test_a_cancelled_login_ends_at_the_browser_without_a_rule() -> None:
    world = World(back=gone)
    assert isinstance(refused(world), Denied)
    assert (world.failed.step, world.failed.text, world.failed.rule) == ("callback", "The login was cancelled.", "")
    assert world.forms() == []


@pytest.mark.parametrize("extra", [{}, {"iss": f"{ISSUER}/"}, {"error": "server_error", "code": ...}])
def test_what_returned_is_reported_by_its_names_alone(extra: dict[str, Any]) -> None:
    values = {"code": "very-secret-code", "iss": ISSUER} | extra
    world = World(back=lambda url: callback(url, **{name: text for name, text in values.items() if text is not ...}))
    world.run(again_or_not(world))
    facts = dict(world.recorded_steps("callback")[-1].facts)
    assert facts["came_with"][0] == "state"
    assert "very-secret-code" not in str(world.recorded_steps())
    assert ("expected" in facts) is (extra.get("iss") == f"{ISSUER}/")


def again_or_not(world: World) -> AuthFlow[None]:
    """A login that may fail."""
    try:
        yield from authorization().log_in()
    except AuthorizationNeeded:
        return


# The request


def visited(world: World) -> str:
    """The URL of the login page."""
    (visit,) = [action for action in world.log if isinstance(action, VisitPage)]
    return visit.url


def test_the_host_of_the_login_is_shown_with_its_mixed_scripts() -> None:
    world = World({AS_PLACE: metadata(authorization_endpoint="https://xn--pi-6kc.example/authorize")})
    run(world)
    (visit,) = [action for action in world.log if isinstance(action, VisitPage)]
    assert visit.host == "xn--pi-6kc.example (its host mixes Cyrillic and Latin letters) on behalf of login.example"


@pytest.mark.parametrize(
    ("page", "shown"),
    [
        ("https://honest.example/authorize", "honest.example on behalf of login.example"),
        ("https://id.login.example/authorize", "id.login.example on behalf of login.example"),
        (f"{ISSUER}:444/authorize", "login.example"),
    ],
)
def test_a_page_of_another_host_is_shown_with_the_one_that_names_it(page: str, shown: str) -> None:
    """A hostile server may name the page of an honest one, and get its code (RFC 9700, 4.4)."""
    world = World({AS_PLACE: metadata(authorization_endpoint=page)})
    run(world)
    (visit,) = [action for action in world.log if isinstance(action, VisitPage)]
    assert visit.host == shown


def test_the_request_carries_everything_once() -> None:
    """C-AUTH-20, C-AUTH-21, C-AUTH-22, C-AUTH-27: and `state` is new each time."""
    seen = set()
    for _ in range(3):
        world = World()
        run(world)
        (visit,) = [action for action in world.log if isinstance(action, VisitPage)]
        pairs = parse_qsl(urlsplit(visit.url).query)
        assert sorted(name for name, _ in pairs) == [
            "client_id", "code_challenge", "code_challenge_method", "redirect_uri", "resource", "response_type", "state",
        ]  # fmt: skip
        assert (visit.host, visit.redirect_uri) == ("login.example", REDIRECT)
        assert len(dict(pairs)["state"]) >= 32
        seen |= {dict(pairs)["state"], dict(pairs)["code_challenge"]}
    assert len(seen) == 6


def test_the_query_of_the_endpoint_is_kept() -> None:
    """RFC 6749 section 3.1."""
    world = World({AS_PLACE: metadata(authorization_endpoint=f"{ISSUER}/authorize?tenant=a%20b")})
    run(world)
    assert world.visits[0]["tenant"] == "a b"


@pytest.mark.parametrize("query", ["request=x.y.z", "request_uri=urn:x", "a=1&response_mode=form_post"])
def test_an_endpoint_may_not_replace_the_request(query: str) -> None:
    refused(World({AS_PLACE: metadata(authorization_endpoint=f"{ISSUER}/authorize?{query}")}))


@pytest.mark.parametrize(
    ("query", "name", "kept"),
    [
        ("client_id=evil", "client_id", False),
        ("state=fixed", "state", False),
        ("redirect_uri=https://evil", "redirect_uri", False),
        ("a=1&resource=", "resource", False),
        ("code_challenge_method=plain", "code_challenge_method", False),
        ("prompt=select_account", "prompt", True),
        ("audience=https://api.example", "audience", True),
        ("prompt=login&prompt=none", "prompt", True),
    ],
)
def test_a_parameter_of_the_endpoint_is_sent_once_and_what_binds_the_login_is_ours(
    query: str, name: str, kept: bool
) -> None:
    world = World({AS_PLACE: metadata(authorization_endpoint=f"{ISSUER}/authorize?{query}")})
    run(world)
    pairs = parse_qsl(urlsplit(visited(world)).query, keep_blank_values=True)
    values = [value for key, value in pairs if key == name]
    assert len(values) == 1
    assert (values[0] in [value for key, value in parse_qsl(query, keep_blank_values=True) if key == name]) is kept


def test_scopes_of_the_endpoint_and_of_the_client_are_one_parameter() -> None:
    world = World({AS_PLACE: metadata(authorization_endpoint=f"{ISSUER}/authorize?scope=api")})
    run(world)
    assert [key for key, _ in parse_qsl(urlsplit(visited(world)).query)].count("scope") == 1
    assert "api" in world.visits[0]["scope"].split()


@pytest.mark.parametrize("methods", [..., [], ["plain"], ["s256"]])
def test_without_pkce_the_browser_is_not_opened(methods: Any) -> None:
    """C-AUTH-12."""
    world = World({AS_PLACE: metadata(code_challenge_methods_supported=methods)})
    refused(world)
    assert not world.visits
    assert world.failed.rule == "C-AUTH-12"
    assert f"{ISSUER}/register" not in world.fetched


def test_without_a_login_page_the_browser_is_not_opened() -> None:
    assert "no login page" in refused(World({AS_PLACE: metadata(authorization_endpoint=...)})).message


def test_a_request_that_no_browser_carries_is_not_made() -> None:
    assert (
        "--scope"
        in refused(World(), scope=" ".join("s" * 200 + str(number) for number in range(100))).hint.command_line
    )


@pytest.mark.parametrize("uri", ["http://evil.example/cb", "javascript:x", "myapp://callback"])
def test_a_redirect_uri_is_on_this_machine_or_https(uri: str) -> None:
    """C-AUTH-23."""
    world = World()
    refused(world, redirect_uri=uri)
    assert not world.visits


def test_a_redirect_uri_of_the_options_is_used_unchanged() -> None:
    world = World()
    run(world, redirect_uri="http://localhost:3000/callback")
    assert world.visits[0]["redirect_uri"] == world.forms()[0]["redirect_uri"] == "http://localhost:3000/callback"
