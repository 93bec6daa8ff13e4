"""The fetches that a flow may make on behalf of a server, and their recording."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from inspector.auth.actions import Fetch, Fetched, FetchFailed
from inspector.auth.fetching import Fetcher
from inspector.auth.json_documents import MAX_SIZE
from inspector.errors import HttpError
from tests.auth.fakes import FakeRecorder, FakeWeb
from tests.test_addresses import LOOKALIKE, MIXES, REQUESTED

REMOTE = "https://mcp.example/mcp"
LOCAL = "http://127.0.0.1:8000/mcp"


def fetched(url: str, status: int = 200, body: bytes = b"{}", **fields: str) -> Fetched:
    return Fetched(status, tuple(fields.items()), body, url)


async def fetch(server: str, url: str, web: FakeWeb, *, method: str = "GET", named: bool = False) -> Fetched:
    return await Fetcher(server, web, FakeRecorder())(Fetch(method, url, what="a document", named=named))


@pytest.mark.parametrize(
    ("server", "url"),
    [
        (REMOTE, "https://as.example/x"),
        (REMOTE, "https://8.8.8.8/x"),
        (LOCAL, "http://127.0.0.1:9000/x"),
        (LOCAL, "http://localhost:9000/x"),
        (LOCAL, "https://10.0.0.5/x"),
        (LOCAL, "https://as.example/x"),
        ("https://10.1.2.3/mcp", "https://10.0.0.5/x"),
        ("https://192.168.0.9/mcp", "https://192.168.0.9/x"),
    ],
)
async def test_what_may_be_fetched(server: str, url: str) -> None:
    assert (await fetch(server, url, FakeWeb({url: fetched(url)}))).status == 200


@pytest.mark.parametrize(
    ("server", "url"),
    [
        (REMOTE, "http://as.example/x"),
        (REMOTE, "https://127.0.0.1/x"),
        (REMOTE, "http://localhost/x"),
        (REMOTE, "http://127.0.0.1:43210/x"),
        (REMOTE, "https://[::1]/x"),
        (REMOTE, "https://10.0.0.5/x"),
        (REMOTE, "https://169.254.169.254/latest/meta-data"),
        (REMOTE, "https://[::ffff:10.0.0.5]/x"),
        (REMOTE, "https://printer.local/x"),
        (REMOTE, "file:///etc/passwd"),
        (REMOTE, "https://user:password@as.example/x"),
        (REMOTE, "https://as.example/" + "x" * 5000),
        (REMOTE, "https://as.example/x y"),
        (LOCAL, "http://169.254.169.254/latest/meta-data"),
        (LOCAL, "https://169.254.169.254/latest/meta-data"),
        ("https://10.1.2.3/mcp", "http://127.0.0.1/x"),
        ("https://10.1.2.3/mcp", "https://127.1/x"),
        ("https://10.1.2.3/mcp", "https://0.0.0.0/x"),
        ("https://10.1.2.3/mcp", "https://[::ffff:0:127.0.0.1]/x"),
        ("https://10.1.2.3/mcp", "https://192.0.0.192/x"),
        (LOCAL, "https://[64:ff9b::169.254.169.254]/x"),
        (LOCAL, "https://2852039166/x"),
        (REMOTE, "https://[64:ff9b::10.0.0.5]/x"),
        (REMOTE, "https://[64:ff9b:1::8.8.8.8]/x"),
        (REMOTE, "https://[::127.0.0.1]/x"),
        (REMOTE, "https://[fec0::1]/x"),
        (REMOTE, "https://192.0.0.192/x"),
        (REMOTE, "https://0x7f.1/x"),
        (REMOTE, "https://10.0.0.5./x"),
        (REMOTE, "https://localhost./x"),
    ],
)
async def test_what_may_not(server: str, url: str) -> None:
    """C-AUTH-13, C-SEC-02."""
    web = FakeWeb({url: fetched(url)})
    with pytest.raises(FetchFailed, match="not fetched"):
        await fetch(server, url, web)
    assert web.sent == []


async def test_a_name_that_stands_for_a_private_address_is_refused() -> None:
    url = "https://rebound.example/x"
    web = FakeWeb({url: fetched(url)}, {"rebound.example": "192.168.1.1"})
    with pytest.raises(FetchFailed, match="private"):
        await fetch(REMOTE, url, web)
    web.names["mcp.example"] = "192.168.1.9"
    assert (await fetch(REMOTE, url, web)).status == 200, "a server of the same network may point to it"


async def test_a_name_with_one_private_address_is_refused() -> None:
    url = "https://rebound.example/x"
    web = FakeWeb({url: fetched(url)}, {"rebound.example": ["8.8.8.8", "192.168.1.1"]})
    with pytest.raises(FetchFailed, match="private"):
        await fetch(REMOTE, url, web)
    assert web.sent == []


@pytest.mark.parametrize(
    ("host", "says"),
    [("10.0.0.5", "a private address"), ("127.0.0.1", "this machine"), ("169.254.169.254", "metadata service")],
)
async def test_a_refusal_says_what_the_address_is(host: str, says: str) -> None:
    url = f"https://{host}/x"
    with pytest.raises(FetchFailed, match=says):
        await fetch(REMOTE, url, FakeWeb({url: fetched(url)}))


async def test_a_server_with_one_public_address_is_outside() -> None:
    """Its owner may add any private address to its name."""
    url = "https://rebound.example/x"
    web = FakeWeb({url: fetched(url)}, {"rebound.example": "192.168.1.1", "mcp.example": ["8.8.8.8", "192.168.1.9"]})
    with pytest.raises(FetchFailed, match="private"):
        await fetch(REMOTE, url, web)


async def test_what_the_person_named_is_fetched_wherever_it_is() -> None:
    url = "http://10.0.0.5/x"
    assert (await fetch(REMOTE, url, FakeWeb({url: fetched(url)}), named=True)).status == 200


async def test_a_redirect_is_followed_within_the_origin() -> None:
    web = FakeWeb({
        "https://as.example/a": fetched("https://as.example/a", 302, location="/b"),
        "https://as.example/b": fetched("https://as.example/b", body=b"{1}"),
    })  # fmt: skip
    answer = await fetch(REMOTE, "https://as.example/a", web)
    assert (answer.body, answer.url) == (b"{1}", "https://as.example/b")


@pytest.mark.parametrize(
    ("location", "says"),
    [
        ("https://evil.example/b", "another origin"),
        ("http://as.example/b", "another origin"),
        ("https://as.example:444/b", "another origin"),
        ("//evil.example/b", "another origin"),
        ("javascript:alert(1)", "not a valid URL"),
        ("/a", "too many times"),
    ],
)
async def test_no_other_redirect_is(location: str, says: str) -> None:
    web = FakeWeb({"https://as.example/a": fetched("https://as.example/a", 302, location=location)})
    with pytest.raises(FetchFailed, match=says):
        await fetch(REMOTE, "https://as.example/a", web)
    assert {url for _, url, _, _ in web.sent} == {"https://as.example/a"}


async def test_what_has_secrets_in_it_is_never_sent_on() -> None:
    web = FakeWeb({"https://as.example/token": fetched("https://as.example/token", 307, location="/other")})
    with pytest.raises(FetchFailed, match="for this URL only"):
        await fetch(REMOTE, "https://as.example/token", web, method="POST")
    assert len(web.sent) == 1


async def test_an_answer_without_an_end_is_given_up() -> None:
    url = "https://as.example/x"
    with pytest.raises(FetchFailed, match="1 MiB"):
        await fetch(REMOTE, url, FakeWeb({url: fetched(url, body=b" " * (MAX_SIZE + 1))}))


async def test_what_goes_wrong_below_is_a_fetch_that_failed() -> None:
    url = "https://as.example/x"
    with pytest.raises(FetchFailed, match="refused"):
        await fetch(REMOTE, url, FakeWeb({url: HttpError("as.example:443 refused the connection.")}))


async def test_each_fetch_is_recorded_without_its_secrets() -> None:
    url = "https://as.example/token"
    recorder = FakeRecorder()
    body = b'{"access_token": "access-secret", "token_type": "Bearer", "nested": [{"refresh_token": "refresh-secret"}]}'
    web = FakeWeb({url: fetched(url, body=body, **{"set-cookie": "cookie-secret", "dpop-nonce": "n-1"})})
    action = Fetch(
        "POST", url, (("Authorization", "Basic basic-secret"), ("DPoP", "proof-secret")),
        b"grant_type=authorization_code&code=code-secret&code_verifier=verifier-secret&client_secret=client-secret",
        "the token endpoint",
    )  # fmt: skip
    await Fetcher(REMOTE, web, recorder)(action)
    (event,) = recorder.journal.events()
    assert event.fields["step"] == "fetch"
    assert event.fields["text"] == "the token endpoint"
    assert event.fields["facts"]["status"] == 200
    assert "n-1" in recorder.text()
    assert "grant_type=authorization_code" in recorder.text()
    assert "secret" not in recorder.text().replace("client_secret", "")


async def test_a_fetch_that_fails_is_recorded_too() -> None:
    recorder = FakeRecorder()
    with pytest.raises(FetchFailed):
        await Fetcher(REMOTE, FakeWeb(), recorder)(Fetch("GET", "http://as.example/?token=secret-1"))
    assert recorder.steps() == [("fetch", False)]
    assert "secret-1" not in recorder.text()


async def test_a_request_takes_no_longer_than_the_session_allows() -> None:
    class Silent(FakeWeb):
        async def send(self, *args: Any, **how: Any) -> Fetched:
            return await asyncio.get_running_loop().create_future()

    recorder = FakeRecorder()
    with pytest.raises(FetchFailed, match=r"did not answer within 0\.01 s") as caught:
        await Fetcher(REMOTE, Silent(), recorder, 0.01)(Fetch("GET", "https://as.example/x"))
    assert "--timeout" in caught.value.hint.command_line


async def test_a_redirect_to_another_origin_is_named_as_it_would_be_requested() -> None:
    web = FakeWeb({"https://as.example/x": fetched("https://as.example/x", 302, location=REQUESTED)})
    with pytest.raises(FetchFailed) as caught:
        await fetch(REMOTE, "https://as.example/x", web)
    assert f"redirects to another origin, https://xn--pi-6kc.github.com {MIXES}. The redirect" in caught.value.message
    web.answers["https://as.example/x"] = fetched("https://as.example/x", 302, location=LOOKALIKE)
    with pytest.raises(FetchFailed, match=r"xn--pi-6kc\.github\.com.*which is not a valid URL"):
        await fetch(REMOTE, "https://as.example/x", web)
