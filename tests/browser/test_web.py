"""`inspector web` in Chromium, as wide as on a desktop and on a phone."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from aiohttp import web as http

from inspector.tui.work.pane import READ_TIME
from tests.browser.chromium import Chromium, Page, chromium
from tests.processes import INSPECTOR, environment, left_of

pytestmark = [pytest.mark.slow, pytest.mark.asyncio(loop_scope="module")]

OTHER_SITE = "other.example"
ENDED = "document.getElementById('ended').open"
REASON = "document.getElementById('reason').textContent"


class Front:
    """A running `inspector web`."""

    def __init__(self, process: asyncio.subprocess.Process, url: str) -> None:
        self.process = process
        self.url = url
        self.seen: set[int] = set()

    @property
    def interfaces(self) -> list[int]:
        """The interfaces that run now."""
        pid = self.process.pid
        children = [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
        self.seen.update(children)
        return children

    @property
    def origin(self) -> str:
        """The address without the token."""
        return self.url.rsplit("/", 2)[0]

    def leaves_nothing(self) -> None:
        """Neither it nor an interface nor a server runs."""
        for pid in (self.process.pid, *self.seen):
            assert left_of(pid) == []


@asynccontextmanager
async def front(home: Path, *words: str) -> AsyncIterator[Front]:
    """`inspector web WORDS`, ended by ^c."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    process = await asyncio.create_subprocess_exec(
        *INSPECTOR, "web", *words,
        env=environment(home, PATH=path), cwd=home, start_new_session=True,
        stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.DEVNULL,
    )  # fmt: skip
    assert process.stdout is not None
    started = Front(process, (await process.stdout.readline()).decode().strip())
    try:
        yield started
    finally:
        if process.returncode is None:
            process.send_signal(signal.SIGINT)
        await process.wait()
        started.leaves_nothing()


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def browser() -> AsyncIterator[Chromium]:
    """One browser for all tests, for which a name of another site leads here."""
    async with chromium(f"--host-resolver-rules=MAP {OTHER_SITE} 127.0.0.1") as started:
        yield started


@pytest_asyncio.fixture(loop_scope="module")
async def web(tmp_path: Path) -> AsyncIterator[Front]:
    """The interface on the demo server."""
    async with front(tmp_path, "--", "python", "-m", "inspector.demo") as started:
        yield started


async def opened(browser: Chromium, web: Front, *size: int, touch: bool = False) -> Page:
    """A page on which the interface is connected."""
    page = await browser.page(*size, touch=touch)
    await page.open(web.url)
    await page.shows("Tools", "add", "connected")
    assert web.interfaces
    return page


def is_clean(page: Page, web: Front) -> bool:
    """Whether a page had no problem, and loaded nothing from elsewhere."""
    here = (web.url, web.url.replace("http:", "ws:"))
    return page.problems == [] and all(url.startswith((*here, "data:")) for url in page.requests)


async def find_tool(page: Page, name: str) -> None:
    """Go to the form of a tool."""
    await page.press("/")
    await page.type(name)
    await page.shows("1 of 6")
    await page.press("Enter")
    await page.shows("tab next field")


async def keep(page: Page, name: str) -> None:
    """Write a picture into the folder `INSPECTOR_PICTURES`, if that is set."""
    if folder := os.environ.get("INSPECTOR_PICTURES"):
        await asyncio.sleep(1)  # The cursor and the notices rest.
        Path(folder, f"{name}.png").write_bytes(await page.picture())


async def test_on_a_desktop_a_tool_is_called_a_question_answered_and_the_log_read(
    browser: Chromium, web: Front
) -> None:
    page = await opened(browser, web)
    await page.press("Enter")
    await page.type("hello from a browser")
    await page.press("^r")
    await page.repeats("hello from a browser")
    await keep(page, "web-desktop")
    await page.press("Escape")
    await page.shows("enter open")
    await find_tool(page, "ask-user")
    await page.press("^r")
    await page.shows("asks you", "name", "required")
    await asyncio.sleep(READ_TIME)  # before that, the key that sends was not meant for the question
    await page.type("Ada Lovelace")
    await page.press("Tab")
    await page.type("ada@example.com")
    await page.press("^r")
    await page.shows("Ada Lovelace", "tools/call ask-user")
    await page.press("Escape")
    await page.press("m")
    await page.shows("Messages", "tools/call ask-user", "input_required")
    assert is_clean(page, web)


async def test_on_a_phone_a_tool_is_called_a_question_answered_and_the_log_read(browser: Chromium, web: Front) -> None:
    page = await opened(browser, web, 390, 844, touch=True)
    assert page.grid.columns >= 50
    await page.tap_text("add ")
    await page.tap_key("enter")
    await page.shows("The first number")
    await page.insert("2")
    await page.tap_button("Tab")
    await page.insert("3")
    await page.shows("✓ valid", "^r ")
    await page.tap_key("^r")
    await page.shows('"sum": 5')
    await keep(page, "web-phone")
    await page.tap_button("Esc")
    await page.shows("/ filter")
    await page.tap_text("/ filter")
    await page.insert("ask-user")
    await page.shows("1 of 6")
    await page.tap_button("Enter")
    await page.shows("Please tell us about yourself")
    await page.tap_button("Ctrl")
    await page.insert("r")
    await page.shows("asks you", "required")
    await asyncio.sleep(READ_TIME)  # before that, the key that sends was not meant for the question
    await page.insert("Ada")
    await page.tap_button("Tab")
    await page.insert("ada@example.com")
    await page.shows("ada@example.com", "^r ")
    await page.tap_key("^r")
    await page.shows("Result", "Ada")
    await page.tap_button("Esc")
    await page.shows("enter open")
    await page.press("m")
    await page.shows("Messages", "tools/call add", "input_required")
    assert is_clean(page, web)


async def test_colours_and_size_are_those_of_the_window(browser: Chromium, web: Front) -> None:
    page = await opened(browser, web)
    assert any(green > red + 40 and green > blue + 40 for red, green, blue in await page.colours("●"))
    columns = page.grid.columns
    await page.resize(900, 500)
    await page.until(lambda: page.grid.columns < columns, "resized")
    await page.shows("Tools", "connected")


async def test_the_mouse_copies_and_the_keys_paste_and_interrupt(browser: Chromium, web: Front) -> None:
    page = await opened(browser, web)
    await browser.call(
        "Browser.grantPermissions", origin=web.origin, permissions=["clipboardReadWrite", "clipboardSanitizedWrite"]
    )
    await page.click("roll-dice")
    await page.shows("How many dice")
    await page.press("^c")
    await page.shows("Press ^q to quit")
    await page.run("navigator.clipboard.writeText('é pasted\\nand more')")
    await page.click("echo")
    await page.shows("Returns its message.")
    await page.press("Enter")
    await page.press("^v")
    await page.shows("é pasted")
    await page.press("^r")
    await page.repeats("é pasted")
    await page.press("alt-r")
    await page.press("c")
    await page.becomes("navigator.clipboard.readText()", "é pasted\nand more")
    assert is_clean(page, web)


async def test_a_click_on_an_address_opens_nothing(browser: Chromium, web: Front) -> None:
    page = await opened(browser, web)
    await page.press("Enter")
    await page.type(f"http://{OTHER_SITE}/ ")
    await page.press("^r")
    await page.repeats(f"http://{OTHER_SITE}/")
    before = await browser.addresses()
    await page.hover(f"http://{OTHER_SITE}/")
    await page.click(f"http://{OTHER_SITE}/")
    await page.press("^c")
    await page.shows("Press ^q to quit")
    assert await browser.addresses() == before


async def test_an_open_session_is_not_left_unasked(browser: Chromium, web: Front) -> None:
    page = await opened(browser, web)
    await page.click("echo")
    (interface,) = web.interfaces
    await page.run("setTimeout(() => location.reload()) && 0")
    await page.until(lambda: page.dialogs == ["beforeunload"], "asked")
    await page.call("Page.handleJavaScriptDialog", accept=False)
    await page.press("q")
    await page.becomes(ENDED, True)
    assert left_of(interface) == []
    await page.run("setTimeout(() => location.reload()) && 0")
    await page.until(lambda: bool(web.interfaces), "reloaded")
    assert page.dialogs == ["beforeunload"]


async def test_each_page_has_a_session_which_ends_with_it(browser: Chromium, web: Front) -> None:
    one = await opened(browser, web)
    two = await opened(browser, web)
    first, second = web.interfaces
    await one.press("Enter")
    await one.type("only here")
    await one.shows("only here")
    assert "only here" not in two.grid.text
    await one.close()
    assert left_of(first) == []
    assert web.interfaces == [second]
    await two.press("q")
    await two.becomes(ENDED, True)
    assert await two.run(REASON) == ""
    assert left_of(second) == []
    await two.run("document.getElementById('restart').click()")
    await two.shows("Tools", "connected")


async def test_the_page_tells_why_the_interface_ended(browser: Chromium, tmp_path: Path) -> None:
    async with front(tmp_path, "@missing") as web:
        page = await browser.page()
        await page.open(web.url)
        await page.becomes(ENDED, True)
        assert "@missing" in await page.run(REASON)


async def test_a_wrong_token_is_named_in_plain_words(browser: Chromium, web: Front) -> None:
    page = await browser.page()
    for path in ("/", "/wrong/", "/wrong/session", "/wrong/page.js"):
        await page.open(web.origin + path)
        assert page.status == 403
        assert "The token in this address is missing, wrong or old." in await page.run("document.body.innerText")
    assert web.interfaces == []


async def test_a_name_of_another_site_that_leads_here_is_refused(browser: Chromium, web: Front) -> None:
    page = await browser.page()
    await page.open(web.url.replace("127.0.0.1", OTHER_SITE))
    assert page.status == 403
    assert "only for this machine" in await page.run("document.body.innerText")
    assert web.interfaces == []


async def test_a_page_of_another_origin_gets_nothing(browser: Chromium, web: Front) -> None:
    async def empty(request: Any) -> http.Response:
        return http.Response(text="<title>another</title>", content_type="text/html")

    runner = http.ServerRunner(http.Server(empty))
    await runner.setup()
    site = http.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    try:
        page = await browser.page()
        await page.open(f"http://127.0.0.1:{runner.addresses[0][1]}/")
        for script in (
            f"new Promise(done => {{ const s = new WebSocket({(web.url + 'session').replace('http', 'ws')!r}); "
            "s.onopen = () => done('open'); s.onerror = () => done('refused') })",
            f"fetch({web.url!r}).then(() => 'open', () => 'refused')",
            f"fetch({web.url + 'page.js'!r}, {{mode: 'no-cors'}}).then(() => 'open', () => 'refused')",
            f"new Promise(done => {{ const s = document.createElement('script'); s.src = {web.url + 'page.js'!r}; "
            "s.onload = () => done('open'); s.onerror = () => done('refused'); document.head.append(s) })",
        ):
            assert await page.run(script) == "refused", script
        assert web.interfaces == []
    finally:
        await runner.cleanup()


async def test_nothing_survives_a_front_that_was_killed(browser: Chromium, web: Front) -> None:
    page = await opened(browser, web)
    web.process.kill()
    await web.process.wait()
    web.leaves_nothing()
    await page.becomes(ENDED, True)
    assert "connection" in await page.run(REASON)


async def test_no_file_holds_the_token(browser: Chromium, web: Front, tmp_path: Path) -> None:
    page = await opened(browser, web)
    await page.press("q")
    await page.becomes(ENDED, True)
    token = web.url.rsplit("/", 2)[1].encode()
    files = [file for file in tmp_path.rglob("*") if file.is_file()]
    assert any(file.name.endswith(".mcp.jsonl") for file in files)
    assert [file for file in files if token in file.read_bytes()] == []


async def test_a_browser_without_webgl_draws_too(web: Front) -> None:
    async with chromium("--disable-3d-apis") as browser:
        page = await opened(browser, web)
        assert len(await page.colours("connected")) > 10
        assert page.problems == []
