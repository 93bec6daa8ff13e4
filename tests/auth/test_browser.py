"""The callback: one path, one shot, its own name only; the browser: no shell, none where there is none."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from inspector.auth import browser
from inspector.auth.actions import TimedOut
from inspector.errors import AuthorizationNeeded


async def page(port: int, target: str) -> str:
    """The whole answer to a visit."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(f"GET {target} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n".encode())
    answer = await asyncio.wait_for(reader.read(), 60)
    writer.close()
    return answer.decode()


async def ask(port: int, target: str, *, host: str | None = None, method: str = "GET", raw: bytes | None = None) -> str:
    """The status of what a request gets; empty where the connection is closed without a word."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    name = f"127.0.0.1:{port}" if host is None else host
    writer.write(raw if raw is not None else f"{method} {target} HTTP/1.1\r\nHost: {name}\r\n\r\n".encode())
    try:
        answer = await asyncio.wait_for(reader.read(), 60)
    except ConnectionResetError:
        answer = b""
    writer.close()
    return answer.decode().partition("\r\n")[0].partition(" ")[2]


@pytest.fixture
async def callback() -> AsyncIterator[browser.Callback]:
    made = await browser.listen()
    assert made is not None
    made.expect(lambda url: "")
    yield made
    await made.close()


def port_of(callback: browser.Callback) -> int:
    found = urlsplit(callback.redirect_uri).port
    assert found
    return found


async def test_the_first_answer_is_the_one(callback: browser.Callback) -> None:
    port = port_of(callback)
    assert await ask(port, "/callback?code=abc&state=x") == "200 OK"
    assert await callback.wait(5) == f"http://127.0.0.1:{port}/callback?code=abc&state=x"
    assert await ask(port, "/callback?code=other&state=x") == "410 Gone"
    assert await callback.wait(5) == f"http://127.0.0.1:{port}/callback?code=abc&state=x"


@pytest.mark.parametrize(
    "target", ["/", "/favicon.ico", "/callback", "/callback/?code=1", "/other?code=1", "/callback?x=1"]
)
async def test_nothing_else_is_an_answer(callback: browser.Callback, target: str) -> None:
    assert await ask(port_of(callback), target) == "404 Not Found"
    with pytest.raises(TimedOut):
        await callback.wait(0)


async def test_an_answer_that_is_not_expected_gets_its_reason_and_is_waited_past(callback: browser.Callback) -> None:
    """C-AUTH-22."""
    callback.expect(lambda url: "" if url.endswith("state=x") else "has another state")
    port = port_of(callback)
    for query in ("code=1&state=y", "error=access_denied", "code=2"):
        answer = await page(port, f"/callback?{query}")
        assert answer.startswith("HTTP/1.1 400 Bad Request\r\n")
        assert "it has another state. Inspector is still waiting." in answer
    assert await ask(port, "/callback?code=3&state=x") == "200 OK"
    assert await callback.wait(5) == f"http://127.0.0.1:{port}/callback?code=3&state=x"


async def test_before_anything_was_asked_no_answer_is_expected() -> None:
    made = await browser.listen()
    assert made is not None
    assert await ask(port_of(made), "/callback?code=1&state=x") == "400 Bad Request"
    made.expect(lambda url: "")
    assert await ask(port_of(made), "/callback?code=2&state=x") == "200 OK"
    assert (await made.wait(5)).endswith("?code=2&state=x")
    await made.close()


async def test_there_is_an_end_of_wrong_answers(callback: browser.Callback, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(browser, "MOST_REFUSED", 3)
    callback.expect(lambda url: "has no state")
    port = port_of(callback)
    for _ in range(3):
        assert await ask(port, "/callback?code=1") == "400 Bad Request"
    with pytest.raises(AuthorizationNeeded, match=r"3 times .* The last one has no state"):
        await callback.wait(5)
    assert await ask(port, "/callback?code=1") == "410 Gone"


@pytest.mark.parametrize("host", ["evil.example", "", "127.0.0.1", "127.0.0.1:1", "127.0.0.1.evil.example"])
async def test_another_name_for_this_machine_is_refused(callback: browser.Callback, host: str) -> None:
    assert await ask(port_of(callback), "/callback?code=1", host=host) == "403 Forbidden"


async def test_other_methods_and_noise_are_refused(callback: browser.Callback) -> None:
    port = port_of(callback)
    assert await ask(port, "/callback?code=1", method="POST") == "405 Method Not Allowed"
    assert await ask(port, "", raw=b"\x16\x03\x01\r\n\r\n") == "403 Forbidden"
    assert await ask(port, "", raw=b"x" * (browser.LONGEST_HEAD * 3)) == ""
    assert await ask(port, "/callback?error=access_denied") == "200 OK"


SUBREQUESTS = (
    "Sec-Fetch-Mode: no-cors\r\nSec-Fetch-Dest: image", "Sec-Fetch-Mode: cors\r\nSec-Fetch-Dest: empty",
    "sec-fetch-mode: navigate\r\nsec-fetch-dest: iframe", "Sec-Fetch-Dest: script", "Origin: https://evil.example",
    "ORIGIN: null", "Sec-Fetch-Mode: websocket",
)  # fmt: skip
VISITS = (
    "Sec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: navigate\r\nSec-Fetch-Dest: document", "Sec-Fetch-Mode: navigate",
    "Accept: text/html", "Origin: null\r\nSec-Fetch-Mode: navigate\r\nSec-Fetch-Dest: document",
)  # fmt: skip


@pytest.mark.parametrize("fields", SUBREQUESTS)
async def test_what_a_page_asks_for_is_no_visit(callback: browser.Callback, fields: str) -> None:
    port = port_of(callback)
    raw = f"GET /callback?code=1 HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n{fields}\r\n\r\n".encode()
    assert await ask(port, "", raw=raw) == "403 Forbidden"
    assert await ask(port, "/callback?code=1") == "200 OK", "the shot is not lost"


@pytest.mark.parametrize("fields", VISITS)
async def test_who_is_sent_here_from_elsewhere_is_a_visitor(callback: browser.Callback, fields: str) -> None:
    port = port_of(callback)
    raw = f"GET /callback?code=1 HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n{fields}\r\n\r\n".encode()
    assert await ask(port, "", raw=raw) == "200 OK"


@pytest.mark.parametrize("query", ["notcode=1", "my_error=1", "state=code=1", "%63ode=1", "code", "error"])
async def test_an_answer_is_told_by_the_names_of_its_parameters(callback: browser.Callback, query: str) -> None:
    expected = "200 OK" if query in ("code", "error") else "404 Not Found"
    assert await ask(port_of(callback), f"/callback?{query}") == expected


async def test_requests_that_never_end_keep_nobody_out(callback: browser.Callback) -> None:
    port = port_of(callback)
    slow = [await asyncio.open_connection("127.0.0.1", port) for _ in range(browser.MOST_CONNECTIONS + 5)]
    for _, writer in slow:
        writer.write(b"GET /callback?code=slow HTTP/1.1\r\nHost: ")
        await writer.drain()
    assert await ask(port, "/callback?code=1") == "200 OK"
    assert (await callback.wait(5)).endswith("?code=1")
    assert len(callback._connections) < browser.MOST_CONNECTIONS
    for _, writer in slow:
        writer.close()


async def test_a_name_of_this_machine_counts(callback: browser.Callback) -> None:
    port = port_of(callback)
    assert await ask(port, "/callback?code=1", host=f"LOCALHOST:{port}") == "200 OK"


async def test_a_connection_that_a_browser_opened_ahead_of_need_is_no_error() -> None:
    """Chromium opens one more than it uses."""
    problems: list[object] = []
    asyncio.get_running_loop().set_exception_handler(lambda loop, context: problems.append(context))
    made = await browser.listen()
    assert made is not None
    made.expect(lambda url: "")
    _, idle = await asyncio.open_connection("127.0.0.1", port_of(made))
    _, begun = await asyncio.open_connection("127.0.0.1", port_of(made))
    begun.write(b"GET /callback")
    assert await ask(port_of(made), "/callback?code=1") == "200 OK"
    assert len(made._connections) == 2
    await made.close()
    await asyncio.sleep(0)
    assert problems == []
    for writer in (idle, begun):
        writer.close()


async def test_it_listens_on_this_machine_only_and_no_longer_than_needed() -> None:
    made = await browser.listen()
    assert made is not None
    assert made._server is not None
    assert {sock.getsockname()[0] for sock in made._server.sockets} == {"127.0.0.1"}
    port = port_of(made)
    await made.close()
    await made.close()
    with pytest.raises(OSError):
        await asyncio.open_connection("127.0.0.1", port)


async def test_a_known_redirect_uri_is_listened_at() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
    made = await browser.listen(f"http://localhost:{port}/back", fixed=True)
    assert made is not None
    made.expect(lambda url: "")
    try:
        assert made.redirect_uri == f"http://localhost:{port}/back"
        assert await ask(port, "/back?code=1", host=f"localhost:{port}") == "200 OK"
        assert await made.wait(5) == f"http://localhost:{port}/back?code=1"
    finally:
        await made.close()


async def test_a_taken_port_is_another_one_or_an_error() -> None:
    first = await browser.listen()
    assert first is not None
    try:
        second = await browser.listen(first.redirect_uri)
        assert second is not None
        assert second.redirect_uri != first.redirect_uri
        await second.close()
        with pytest.raises(AuthorizationNeeded, match="nothing can listen"):
            await browser.listen(first.redirect_uri, fixed=True)
    finally:
        await first.close()


async def test_a_redirect_uri_elsewhere_is_for_pasting() -> None:
    assert await browser.listen("https://app.example/callback", fixed=True) is None


async def test_the_browser_is_opened_without_a_shell(tmp_path: Path) -> None:
    program = tmp_path / "my browser"
    program.write_text(f'#!/bin/sh\nprintf %s "$1" > "{tmp_path}/url"\n')
    program.chmod(0o755)
    url = "https://as.example/authorize?a=$(touch%20x)&b=`id`;c"
    assert await browser.open_browser(url, {"BROWSER": str(program), "PATH": "/usr/bin:/bin"})
    assert (tmp_path / "url").read_text() == url


@pytest.mark.parametrize("url", ["javascript:alert(1)", "file:///etc/passwd", "--help", "https://a.example/ x", ""])
async def test_only_web_pages_are_opened(url: str) -> None:
    assert not await browser.open_browser(url, {"BROWSER": "/bin/true", "PATH": "/bin"})


async def test_a_browser_that_fails_is_noticed() -> None:
    assert not await browser.open_browser("https://a.example/", {"BROWSER": "false", "PATH": "/usr/bin:/bin"})


def test_without_a_screen_there_is_no_browser(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(browser.sys, "platform", "linux")
    opener = tmp_path / "xdg-open"
    opener.write_text("")
    opener.chmod(0o755)
    assert browser.browser_program({"PATH": str(tmp_path)}) == ""
    assert browser.browser_program({"PATH": str(tmp_path), "DISPLAY": ":0"}) == str(opener)
    assert browser.browser_program({"PATH": str(tmp_path), "BROWSER": "lynx %s"}) == ""
