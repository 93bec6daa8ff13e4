"""Chromium without a window, driven by its DevTools protocol, and a page with a terminal in it."""

from __future__ import annotations

import asyncio
import base64
import codecs
import json
import os
import struct
import tempfile
import zlib
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any
from urllib.parse import parse_qs, urlsplit

import aiohttp

from tests.tui.terminal import Grid

PATIENCE = 30.0
"""Seconds to wait for something to appear."""
_ALT, _CTRL = 1, 2
_CODES = {"Enter": 13, "Escape": 27, "Tab": 9, "ArrowUp": 38, "ArrowDown": 40, "Backspace": 8}
_TEXTS = {"Enter": "\r"}


class Page:
    """One page. `grid` is the screen of the terminal in it, from what its WebSocket received."""

    def __init__(self, call: Callable[..., Any]) -> None:
        self.call = call
        self.grid = Grid(1, 1)
        self.requests: list[str] = []
        """The URLs that it asked for."""
        self.problems: list[str] = []
        """Errors of scripts, and what the content security policy refused."""
        self.status = 0
        """Of the page itself."""
        self.loaded = False
        self.dialogs: list[str] = []
        """The kinds of dialogs that it opened."""
        self._decode = codecs.getincrementaldecoder("utf-8")("replace").decode
        self._changed = asyncio.Event()
        self.close: Callable[[], Any]

    def happened(self, method: str, params: dict[str, Any]) -> None:
        """Handle an event of the browser."""
        if method == "Network.webSocketCreated":
            self.requests.append(params["url"])
            query = parse_qs(urlsplit(params["url"]).query)
            if query:
                self.grid = Grid(int(query["width"][0]), int(query["height"][0]))
        elif method == "Network.webSocketFrameReceived" and params["response"]["opcode"] == 2:
            self.grid.feed(self._decode(base64.b64decode(params["response"]["payloadData"])))
        elif method == "Network.webSocketFrameSent":
            kind, *rest = json.loads(params["response"]["payloadData"])
            if kind == "resize" and (rest[0]["width"], rest[0]["height"]) != (self.grid.columns, self.grid.rows):
                self.grid.size(rest[0]["width"], rest[0]["height"])
        elif method == "Network.requestWillBeSent":
            self.requests.append(params["request"]["url"])
        elif method == "Network.responseReceived" and params["type"] == "Document":
            self.status = params["response"]["status"]
        elif method == "Page.javascriptDialogOpening":
            self.dialogs.append(params["type"])
        elif method == "Page.loadEventFired":
            self.loaded = True
        elif method == "Runtime.exceptionThrown":
            self.problems.append(json.dumps(params["exceptionDetails"]))
        elif method == "Log.entryAdded" and params["entry"]["source"] in ("security", "javascript"):
            self.problems.append(params["entry"]["text"])
        self._changed.set()

    async def open(self, url: str) -> None:
        """Go to an address and wait until it is loaded."""
        self.loaded = False
        await self.call("Page.navigate", url=url)
        await self.until(lambda: self.loaded, "loaded")

    async def until(self, so: Callable[[], bool], what: str) -> None:
        """Wait until something is so."""
        try:
            async with asyncio.timeout(PATIENCE):
                while not so():
                    self._changed.clear()
                    await self._changed.wait()
        except TimeoutError:
            raise AssertionError(f"never {what}:\n{self.grid.text}\n{self.problems}") from None

    async def shows(self, *words: str) -> None:
        """Wait until the terminal shows all these words."""
        await self.until(lambda: all(word in self.grid.text for word in words), f"{words}")

    async def repeats(self, text: str) -> None:
        """Wait until the terminal shows a text twice: what was typed, and in the answer."""
        await self.until(lambda: self.grid.text.count(text) > 1, f"{text} twice")

    async def run(self, script: str) -> Any:
        """The value of an expression in the page."""
        ran = await self.call("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True)
        assert "exceptionDetails" not in ran, ran["exceptionDetails"]
        return ran["result"].get("value")

    async def becomes(self, script: str, value: Any) -> None:
        """Wait until an expression in the page has a value."""
        got = None
        for _ in range(int(PATIENCE / 0.05)):
            if (got := await self.run(script)) == value:
                return
            await asyncio.sleep(0.05)
        raise AssertionError(f"{script} is {got!r}, never {value!r}")

    async def press(self, key: str) -> None:
        """Press a key: a character, a name of `_CODES`, or `^` or `alt-` and a letter."""
        if key.startswith(("^", "alt-")) and len(key) > 1:
            await self._key(key[-1], ord(key[-1].upper()), modifiers=_CTRL if key[0] == "^" else _ALT)
        elif key in _CODES:
            await self._key(key, _CODES[key], **({"text": _TEXTS[key]} if key in _TEXTS else {}))
        else:
            await self._key(key, ord(key.upper()) if key.isalnum() else 0, text=key)

    async def _key(self, key: str, code: int, **more: Any) -> None:
        names = {"key": key, "windowsVirtualKeyCode": code, "code": f"Key{key.upper()}" if len(key) == 1 else key}
        await self.call("Input.dispatchKeyEvent", type="keyDown" if "text" in more else "rawKeyDown", **names, **more)
        await self.call("Input.dispatchKeyEvent", type="keyUp", **names, modifiers=more.get("modifiers", 0))

    async def type(self, text: str) -> None:
        """Type."""
        for character in text:
            await self.press(character)

    async def place(self, text: str, *, last: bool = False) -> tuple[float, float]:
        """Where a text of the terminal stands on the page: in its first row, or the last."""
        left, top, width, height = await self.run(
            "(r => [r.left, r.top, r.width, r.height])(document.querySelector('.xterm-screen').getBoundingClientRect())"
        )
        rows = list(enumerate(self.grid.cells))
        for y, row in reversed(rows) if last else rows:
            line = "".join(cell or "\0" for cell in row)
            if text in line:
                x = line.index(text) + len(text) / 2
                return left + width * x / self.grid.columns, top + height * (y + 0.5) / self.grid.rows
        raise AssertionError(f"{text} is not on the screen:\n{self.grid.text}")

    async def click(self, text: str) -> None:
        """Click on a text of the terminal."""
        x, y = await self.place(text)
        for kind in ("mousePressed", "mouseReleased"):
            await self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    async def hover(self, text: str) -> None:
        """Move the mouse over a text of the terminal."""
        x, y = await self.place(text)
        for at in (x - 3, x):
            await self.call("Input.dispatchMouseEvent", type="mouseMoved", x=at, y=y)
        await asyncio.sleep(0.2)  # xterm.js looks for links then.

    async def insert(self, text: str) -> None:
        """Type as the keyboard of a phone does: text, without keys."""
        await self.call("Input.insertText", text=text)

    async def resize(self, width: int, height: int) -> None:
        """Give the window another size."""
        await self.call(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False
        )

    async def tap(self, x: float, y: float) -> None:
        """Touch the page."""
        await self.call("Input.dispatchTouchEvent", type="touchStart", touchPoints=[{"x": x, "y": y}])
        await self.call("Input.dispatchTouchEvent", type="touchEnd", touchPoints=[])

    async def tap_text(self, text: str) -> None:
        """Touch a text of the terminal."""
        await self.tap(*await self.place(text))

    async def tap_key(self, key: str) -> None:
        """Touch a key in the line of keys at the bottom."""
        await self.tap(*await self.place(f"{key} ", last=True))

    async def tap_button(self, name: str) -> None:
        """Touch a button below the terminal."""
        x, y = await self.run(
            f"(r => [r.left + r.width / 2, r.top + r.height / 2])([...document.querySelectorAll('button')]"
            f".find(b => b.textContent === {json.dumps(name)}).getBoundingClientRect())"
        )
        await self.tap(x, y)

    async def picture(self, **clip: float) -> bytes:
        """Return a picture of the page, or of the part `clip`, as PNG."""
        part = {"clip": {**clip, "scale": 1}} if clip else {}
        return base64.b64decode((await self.call("Page.captureScreenshot", format="png", **part))["data"])

    async def colours(self, text: str) -> set[tuple[int, int, int]]:
        """The colours in which a text of the terminal is drawn, with those around it."""
        x, y = await self.place(text)
        return {pixel for row in pixels(await self.picture(x=x - 20, y=y - 8, width=40, height=16)) for pixel in row}


class Chromium:
    """A browser. `page` opens a page of a size; with `touch`, as on a phone."""

    def __init__(self, socket: aiohttp.ClientWebSocketResponse) -> None:
        self._socket = socket
        self._waiting: dict[int, asyncio.Future[dict[str, Any]]] = {}
        self._pages: dict[str, Page] = {}
        self._sent = 0

    async def read(self) -> None:
        """Handle the messages of the browser."""
        async for message in self._socket:
            read = json.loads(message.data)
            if "id" in read:
                self._waiting.pop(read["id"]).set_result(read)
            elif read.get("sessionId") in self._pages:
                self._pages[read["sessionId"]].happened(read["method"], read["params"])

    async def call(self, method: str, *, session: str = "", **params: Any) -> Any:
        """Send a command and return its result."""
        self._sent += 1
        answer = self._waiting[self._sent] = asyncio.get_running_loop().create_future()
        named = {"sessionId": session} if session else {}
        await self._socket.send_json({"id": self._sent, "method": method, "params": params, **named})
        async with asyncio.timeout(PATIENCE):
            got = await answer
        assert "error" not in got, (method, got)
        return got["result"]

    async def addresses(self) -> list[str]:
        """The addresses of all pages, in order."""
        return sorted(target["url"] for target in (await self.call("Target.getTargets"))["targetInfos"])

    async def page(self, width: int = 1280, height: int = 800, *, touch: bool = False) -> Page:
        """A new page."""
        target = await self.call("Target.createTarget", url="about:blank")
        attached = await self.call("Target.attachToTarget", targetId=target["targetId"], flatten=True)
        session = attached["sessionId"]

        async def call(method: str, **params: Any) -> Any:
            return await self.call(method, session=session, **params)

        page = self._pages[session] = Page(call)
        page.close = lambda: self.call("Target.closeTarget", targetId=target["targetId"])
        for domain in ("Page", "Runtime", "Log", "Network"):
            await call(f"{domain}.enable")
        await call("Emulation.setFocusEmulationEnabled", enabled=True)
        await call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=touch)
        if touch:
            await call("Emulation.setTouchEmulationEnabled", enabled=True)
            await call("Emulation.setEmitTouchEventsForMouse", enabled=False)
        return page


@asynccontextmanager
async def chromium(*options: str) -> AsyncIterator[Chromium]:
    """A browser, until the end."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        process = await asyncio.create_subprocess_exec(
            os.environ["INSPECTOR_CHROMIUM"],
            # Chromium's own sandbox does not work for root, nor in most containers; these pages are ours.
            *("--headless", "--no-sandbox", "--disable-dev-shm-usage", "--remote-debugging-port=0"),
            *(f"--user-data-dir={folder}", *options, "about:blank"),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.PIPE,
        )
        assert process.stderr is not None
        try:
            async with asyncio.timeout(PATIENCE):
                while b"DevTools listening on " not in (line := await process.stderr.readline()):
                    assert line, "Chromium has ended"
            draining = asyncio.create_task(process.stderr.read())
            address = line.decode().rpartition(" ")[2].strip()
            async with aiohttp.ClientSession() as client, client.ws_connect(address, max_msg_size=0) as socket:
                browser = Chromium(socket)
                async with asyncio.TaskGroup() as tasks:
                    tasks.create_task(browser.read())
                    yield browser
                    await browser.call("Browser.close")
            await draining
        finally:
            if process.returncode is None:
                process.terminate()
            await process.wait()


def pixels(png: bytes) -> list[list[tuple[int, int, int]]]:
    """The rows of a picture of the browser: eight bits a channel, not interlaced."""
    width, height, depth, kind = struct.unpack(">IIBB", png[16:26])
    assert (depth, kind) in ((8, 2), (8, 6))
    size = 3 if kind == 2 else 4
    packed, at = b"", 8
    while at < len(png):
        length, name = struct.unpack(">I4s", png[at : at + 8])
        packed += png[at + 8 : at + 8 + length] if name == b"IDAT" else b""
        at += length + 12
    data, before, rows = zlib.decompress(packed), bytearray(width * size), []
    for y in range(height):
        how, *line = data[y * (width * size + 1) : (y + 1) * (width * size + 1)]
        row = bytearray(width * size)
        for x, byte in enumerate(line):
            left, up, corner = (row[x - size], before[x], before[x - size]) if x >= size else (0, before[x], 0)
            row[x] = byte + (0, left, up, (left + up) // 2, _paeth(left, up, corner))[how] & 255
        rows.append([(row[x], row[x + 1], row[x + 2]) for x in range(0, width * size, size)])
        before = row
    return rows


def _paeth(left: int, up: int, corner: int) -> int:
    guess = left + up - corner
    return min((abs(guess - left), 0, left), (abs(guess - up), 1, up), (abs(guess - corner), 2, corner))[2]
