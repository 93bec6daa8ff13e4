"""Registration, clients that are documents, and clients that sign."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from joserfc import jwt
from joserfc.jwk import ECKey, RSAKey

from inspector.demo.auth.clients import EXAMPLE, MAX_URI, Documents
from inspector.demo.auth.http_values import OAuthError
from inspector.demo.auth.signatures import claims_of
from tests.demo.auth_site import CALLBACK, ISSUER, MCP, Site

TOKEN = f"{ISSUER}/token"


@pytest.fixture
def site() -> Site:
    return Site()


# --- registration ----------------------------------------------------------------------------------------------------


def test_registration_gives_back_what_it_understood(site: Site) -> None:
    reply = site.register(scope="demo:read", unknown={"a": 1})
    assert reply.status == 201
    document = reply.json
    assert document.pop("client_id").startswith("demo-")
    assert document == {
        "client_id_issued_at": 1_000_000,
        "client_name": "Tests",
        "redirect_uris": [CALLBACK],
        "grant_types": ["authorization_code", "refresh_token"],
        "response_types": ["code"],
        "token_endpoint_auth_method": "none",
        "application_type": "native",
    }


@pytest.mark.parametrize("method", ["client_secret_basic", "client_secret_post"])
def test_a_registered_secret_is_good_in_the_registered_place(site: Site, method: str) -> None:
    client = site.register(token_endpoint_auth_method=method).json
    assert client["client_secret_expires_at"] == 0
    credentials = {"client_id": client["client_id"], "client_secret": client["client_secret"]}
    reply = site.redeem(site.code(client_id=client["client_id"]), **credentials)
    assert reply.status == (200 if method == "client_secret_post" else 401)


def test_a_client_that_says_nothing_of_it_gets_a_secret(site: Site) -> None:
    assert site.register(token_endpoint_auth_method=None).json["token_endpoint_auth_method"] == "client_secret_basic"


@pytest.mark.parametrize(
    ("changed", "error"),
    [
        ({"redirect_uris": None}, "invalid_redirect_uri"),
        ({"redirect_uris": ["http://elsewhere.example/callback"]}, "invalid_redirect_uri"),
        ({"redirect_uris": ["javascript:alert(1)"]}, "invalid_redirect_uri"),
        ({"redirect_uris": ["file:///etc/passwd"]}, "invalid_redirect_uri"),
        ({"redirect_uris": ["https:///nowhere"]}, "invalid_redirect_uri"),
        ({"redirect_uris": ["http://127.0.0.1/*"]}, "invalid_redirect_uri"),
        ({"redirect_uris": ["http://127.0.0.1:x/"]}, "invalid_redirect_uri"),
        ({"redirect_uris": ["http://elsewhere.example\\@127.0.0.1/"]}, "invalid_redirect_uri"),
        ({"redirect_uris": [CALLBACK + "#a"]}, "invalid_redirect_uri"),
        ({"redirect_uris": [CALLBACK], "application_type": "web"}, "invalid_redirect_uri"),
        ({"redirect_uris": CALLBACK}, "invalid_client_metadata"),
        ({"redirect_uris": [{}]}, "invalid_client_metadata"),
        ({"redirect_uris": [CALLBACK] * 21}, "invalid_client_metadata"),
        ({"redirect_uris": [CALLBACK + "x" * MAX_URI]}, "invalid_client_metadata"),
        ({"client_name": 7}, "invalid_client_metadata"),
        ({"client_name": "x" * 201}, "invalid_client_metadata"),
        ({"grant_types": ["password"]}, "invalid_client_metadata"),
        ({"grant_types": {}}, "invalid_client_metadata"),
        ({"token_endpoint_auth_method": "tls_client_auth"}, "invalid_client_metadata"),
        ({"token_endpoint_auth_method": {}}, "invalid_client_metadata"),
        ({"token_endpoint_auth_method": "private_key_jwt"}, "invalid_client_metadata"),
    ],
)
def test_what_cannot_be_registered_is_refused(site: Site, changed: dict[str, Any], error: str) -> None:
    reply = site.register(**changed)
    assert (reply.status, reply.json["error"]) == (400, error)


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b"7", b"\xff", b"[" * 100_000])
def test_a_registration_that_is_not_an_object_is_refused(site: Site, body: bytes) -> None:
    assert site.send("POST", f"{ISSUER}/register", {}, body).json["error"] == "invalid_client_metadata"


@pytest.mark.parametrize("uri", ["com.example.app:/callback", "https://app.example/callback", "http://[::1]:1/"])
def test_a_client_returns_to_what_it_registered(site: Site, uri: str) -> None:
    client = site.register(redirect_uris=[uri]).json["client_id"]
    assert site.authorize(client_id=client, redirect_uri=uri).headers["Location"].startswith(uri)
    assert site.authorize(client_id=client, redirect_uri=uri + "x").status == 400


def test_the_oldest_registration_is_forgotten_when_there_are_too_many(site: Site) -> None:
    first = site.register().json["client_id"]
    for _ in range(1000):
        last = site.register().json["client_id"]
    assert site.authorize(client_id=first).status == 400
    assert site.authorize(client_id=last).status == 302


# --- documents -------------------------------------------------------------------------------------------------------

URL = "https://client.example/tests.json"
DOCUMENT = {"client_id": URL, "client_name": "Tests", "redirect_uris": ["http://127.0.0.1/callback"]}


def documents(document: Any, fetched: list[str] | None = None) -> Documents:
    def fetch(url: str) -> bytes:
        if fetched is not None:
            fetched.append(url)
        if isinstance(document, OSError):
            raise document
        return document if isinstance(document, bytes) else json.dumps(document).encode()

    return Documents(fetch)


def test_one_document_is_known_without_a_network(site: Site) -> None:
    tokens = site.redeem(site.code(client_id=EXAMPLE), client_id=EXAMPLE).json
    assert site.call(tokens["access_token"]).status == 200
    assert "refresh_token" in tokens


def test_a_document_is_fetched_once() -> None:
    fetched: list[str] = []
    known = documents(DOCUMENT, fetched)
    client = known.find(URL)
    assert client.name == "Tests"
    assert client.methods == ("none",)
    assert client.may_return_to("http://127.0.0.1:7/callback")
    assert not client.may_return_to("http://127.0.0.1:7/other")
    assert known.find(URL) is client
    assert fetched == [URL]


@pytest.mark.parametrize(
    "document",
    [
        DOCUMENT | {"client_id": URL + "/"},
        DOCUMENT | {"client_secret": "x"},
        DOCUMENT | {"token_endpoint_auth_method": "client_secret_post"},
        DOCUMENT | {"redirect_uris": "http://127.0.0.1/callback"},
        {"client_id": URL, "client_name": "Tests"},
        {"client_id": URL, "redirect_uris": []},
        [DOCUMENT],
        b"<html>",
        b"[" * 100_000,
        OSError("no route"),
    ],
)
def test_a_document_that_is_not_about_its_url_is_no_client(document: Any) -> None:
    with pytest.raises(OAuthError):
        documents(document).find(URL)


@pytest.mark.parametrize(
    "url",
    [
        "http://client.example/a.json",
        "https://client.example",
        "https://client.example/",
        "https://client.example/a/../b.json",
        "https://client.example/a.json#b",
        "https://me@client.example/a.json",
    ],
)
def test_some_urls_are_not_even_fetched(url: str) -> None:
    fetched: list[str] = []
    with pytest.raises(OAuthError):
        documents(DOCUMENT | {"client_id": url}, fetched).find(url)
    assert fetched == []


@pytest.mark.parametrize("host", ["127.0.0.1", "[::1]", "10.0.0.1", "169.254.169.254", "localhost"])
def test_nothing_is_fetched_from_private_addresses(host: str) -> None:
    with pytest.raises(OAuthError, match="private address"):
        Documents().find(f"https://{host}/a.json")


# --- signatures ------------------------------------------------------------------------------------------------------

EC = ECKey.generate_key("P-256", {"kid": "ec"})
RSA = RSAKey.generate_key(2048, {"kid": "rsa"})
JWKS = {"keys": [7, {}, EC.as_dict(private=False), RSA.as_dict(private=False)]}
Sign = Callable[..., str]


@pytest.fixture
def keyed() -> Site:
    return Site(jwks=JWKS)


def assertion(site: Site, key: Any, alg: str, **changed: Any) -> str:
    claims = {
        "iss": "demo-key",
        "sub": "demo-key",
        "aud": ISSUER,
        "exp": site.time + 60,
        "jti": "one",
        **changed,
    }
    return jwt.encode({"alg": alg}, {key: value for key, value in claims.items() if value is not None}, key)


def ask(site: Site, signed: str, **changed: str) -> Any:
    form = {
        "grant_type": "client_credentials",
        "resource": MCP,
        "client_assertion": signed,
        "client_assertion_type": "urn:ietf:params:oauth:client-assertion-type:jwt-bearer",
        **changed,
    }
    return site.post(TOKEN, form)


@pytest.mark.parametrize(("key", "alg"), [(EC, "ES256"), (RSA, "RS256")])
def test_a_client_that_signs_is_let_in_once_an_assertion(keyed: Site, key: Any, alg: str) -> None:
    signed = assertion(keyed, key, alg)
    assert keyed.call(ask(keyed, signed).json["access_token"]).status == 200
    assert ask(keyed, signed).json["error"] == "invalid_client"
    assert ask(keyed, assertion(keyed, key, alg, jti="two", aud=[TOKEN]), client_id="demo-key").status == 200


@pytest.mark.parametrize(
    "changed",
    [
        {"iss": "demo-app"},
        {"sub": "unknown"},
        {"sub": None},
        {"aud": MCP},
        {"aud": None},
        {"exp": 1_000_000 - 61},
        {"exp": 1_000_000 + 3600},
        {"exp": None},
        {"jti": None},
    ],
)
def test_an_assertion_has_to_say_the_right_things(keyed: Site, changed: dict[str, Any]) -> None:
    reply = ask(keyed, assertion(keyed, EC, "ES256", **changed))
    assert (reply.status, reply.json["error"]) == (401, "invalid_client")


def test_an_assertion_of_another_key_is_refused(keyed: Site) -> None:
    for key, alg in ((ECKey.generate_key("P-256"), "ES256"), (RSAKey.generate_key(2048), "RS256")):
        assert ask(keyed, assertion(keyed, key, alg)).status == 401


@pytest.mark.parametrize("signed", ["", "a.b.c", "a", "e30.e30.e30", "W10.W10.", "..", "\u00e4.\u00e4.\u00e4"])
def test_what_is_not_an_assertion_is_refused(keyed: Site, signed: str) -> None:
    assert ask(keyed, signed, client_id="demo-key").status == 401
    assert ask(keyed, signed).status == 401


def test_the_type_of_an_assertion_has_to_be_named(keyed: Site) -> None:
    assert ask(keyed, assertion(keyed, EC, "ES256"), client_assertion_type="jwt").status == 401


def test_a_changed_assertion_is_not_signed(keyed: Site) -> None:
    header, _, signature = assertion(keyed, EC, "ES256").split(".")
    with pytest.raises(ValueError, match="signed"):
        claims_of(f"{header}.e30.{signature}", JWKS)


@pytest.mark.parametrize(
    "key",
    [
        {"kty": "EC", "crv": "P-256", "x": "AQ", "y": "AQ"},
        {"kty": "EC", "crv": "P-256", "x": 7, "y": None},
        {"kty": "EC", "crv": "P-521", **{name: EC.as_dict(private=False)[name] for name in "xy"}},
        {"kty": "RSA", "n": "AQ", "e": "AQ"},
        {"kty": "EC", "crv": "P-256", "x": "!", "y": "!"},
    ],
)
def test_a_key_that_is_none_signs_nothing(keyed: Site, key: dict[str, Any]) -> None:
    for signing, alg in ((EC, "ES256"), (RSA, "RS256")):
        with pytest.raises(ValueError, match="signed"):
            claims_of(assertion(keyed, signing, alg), {"keys": [key]})


def test_only_two_algorithms_are_taken(keyed: Site) -> None:
    unsigned = "eyJhbGciOiJub25lIn0.e30."
    with pytest.raises(ValueError, match="RS256 or ES256"):
        claims_of(unsigned, JWKS)


def test_a_client_may_register_its_keys(site: Site) -> None:
    grants = ["client_credentials"]
    asked = {"token_endpoint_auth_method": "private_key_jwt", "jwks": {"keys": [EC.as_dict(private=False)]}}
    client = site.register(grant_types=grants, redirect_uris=None, **asked).json
    assert client["response_types"] == []
    name = client["client_id"]
    assert ask(site, assertion(site, EC, "ES256", iss=name, sub=name)).status == 200


def test_without_keys_there_is_no_such_client(site: Site) -> None:
    assert ask(site, assertion(site, EC, "ES256")).status == 401
