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
from tests.test_html_page import Inert


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
    port = urlsplit(callback.redirect_uri).port
    assert port
    return port


async def test_the_first_answer_is_the_one(callback: browser.Callback) -> None:
    port = port_of(callback)
    assert await ask(port, "/callback?code=abc&state=x") == "200 OK"
    assert await callback.wait(5) == f"http://127.0.0.1:{port}/callback?code=abc&state=x"
    assert await ask(port, "/callback?code=other&state=x") == "410 Gone"
    assert await callback.wait(5) == f"http://127.0.0.1:{port}/callback?code=abc&state=x"


@pytest.mark.parametrize("target", ["/", "/favicon.ico", "/callback/?code=1", "/other?code=1"])
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
        assert Inert(answer.partition("\r\n\r\n")[2]).policy
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
    monkeypatch.setattr(browser, "MAX_REFUSED", 3)
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
    assert await ask(port, "", raw=b"\x16\x03\x01\r\n\r\n") == "404 Not Found"
    assert await ask(port, "", raw=b"x" * (browser.MAX_HEAD * 3)) == ""
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


async def test_endless_requests_do_not_block_others(callback: browser.Callback) -> None:
    port = port_of(callback)
    slow = [await asyncio.open_connection("127.0.0.1", port) for _ in range(browser.MAX_CONNECTIONS + 5)]
    for _, writer in slow:
        writer.write(b"GET /callback?code=slow HTTP/1.1\r\nHost: ")
        await writer.drain()
    assert await ask(port, "/callback?code=1") == "200 OK"
    assert (await callback.wait(5)).endswith("?code=1")
    assert len(callback._connections) < browser.MAX_CONNECTIONS
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
        with pytest.raises(AuthorizationNeeded, match="Cannot listen"):
            await browser.listen(first.redirect_uri, fixed=True)
    finally:
        await first.close()


async def test_a_redirect_uri_elsewhere_is_for_pasting() -> None:
    assert await browser.listen("https://app.example/callback", fixed=True) is None


@pytest.fixture
def program(tmp_path: Path) -> Path:
    """A browser with a space in its path that writes down its arguments."""
    made = tmp_path / "my browser"
    made.write_text(f'#!/bin/sh\nprintf "%s\\n" "$@" > "{tmp_path}/arguments"\n')
    made.chmod(0o755)
    return made


URL = "https://as.example/authorize?a=$(touch%20x)&b=`id`;c"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("setting", "arguments"),
    [
        ("{}", [URL]), ("'{}'", [URL]), ("'{}' --new-window", ["--new-window", URL]), ("'{}' %s", [URL]),
        ("'{}' --url=%s --title 'a b'", [f"--url={URL}", "--title", "a b"]), ("'{}' %s %s", [URL, URL]),
        ("'{}' 100%% --x", ["100%", "--x", URL]), ("'{}' %%s", ["%s", URL]), ("'{}' &", [URL]), ("'{}' %s &", [URL]),
        ("  '{}'  :", [URL]), ("no-such-browser:'{}'", [URL]), (":: :false:'{}' -a", ["-a", URL]),
        ("false;'{}':'{}'", [URL]), ("'unclosed:'{}' $HOME `id`", ["$HOME", "`id`", URL]),
    ],
)  # fmt: skip
async def test_browser_holds_commands_that_are_tried_in_order(
    program: Path, setting: str, arguments: list[str]
) -> None:
    environ = {"BROWSER": setting.replace("{}", str(program)), "PATH": "/usr/bin:/bin"}
    assert await browser.open_browser(URL, environ) == ""
    assert (program.parent / "arguments").read_text().splitlines() == arguments


@pytest.mark.slow
async def test_no_command_is_run_by_a_shell(program: Path) -> None:
    environ = {"BROWSER": f"'{program}' $(touch {program.parent}/x); touch {program.parent}/y", "PATH": "/usr/bin:/bin"}
    assert await browser.open_browser(URL, environ) == ""
    assert not {"x", "y"} & {path.name for path in program.parent.iterdir()}


@pytest.mark.parametrize("url", ["javascript:alert(1)", "file:///etc/passwd", "--help", "https://a.example/ x", ""])
async def test_only_web_pages_are_opened(url: str, program: Path) -> None:
    assert "Only http and https" in await browser.open_browser(url, {"BROWSER": str(program)})
    assert not (program.parent / "arguments").exists()


@pytest.mark.slow
async def test_every_program_that_was_tried_is_named_with_its_failure(tmp_path: Path) -> None:
    plain = tmp_path / "plain"
    plain.write_text("")
    environ = {"BROWSER": f"no-such-browser %s:false --x:{plain}:bad\x1b[2J", "PATH": "/usr/bin:/bin"}
    problem = await browser.open_browser(URL, environ)
    assert problem.startswith("No browser opened. Tried: no-such-browser (not found), ")
    assert "/false (exit code 1), " in problem
    assert f"{plain} (Permission denied)" in problem
    assert problem.isprintable()
    assert URL not in problem


def test_without_a_screen_there_is_no_browser(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(browser, "NAME", "linux")
    opener = tmp_path / "xdg-open"
    opener.write_text("")
    opener.chmod(0o755)
    assert browser.browser_commands({"PATH": str(tmp_path)}) == []
    assert "No browser was found" in browser.launch(URL, {"PATH": str(tmp_path)})
    assert browser.browser_commands({"PATH": str(tmp_path), "DISPLAY": ":0"}) == [[str(opener)]]
    with_own = {"PATH": str(tmp_path), "DISPLAY": ":0", "BROWSER": "lynx %s"}
    assert browser.browser_commands(with_own) == [["lynx", "%s"], [str(opener)]]
