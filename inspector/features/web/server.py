"""The HTTP server of `inspector web`: it serves the page, and runs the interface for each page that connects.

Every user of this machine can reach a port on loopback, and so can every web page that the browser shows. Therefore a
random token is part of the address, `Host` must name this machine (DNS rebinding), and a page of another origin is
refused. The token is in the path and not in a cookie: browsers send cookies of 127.0.0.1 to every port. No request is
logged.

textual-serve brings the terminal of the page (xterm.js and its connection) and aiohttp. Its own server is not used.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import re
import secrets
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from importlib import resources
from tempfile import TemporaryFile
from typing import Any

from aiohttp import WSMsgType, web
from aiohttp.http import HttpProcessingError

from inspector.addresses import is_loopback
from inspector.errors import UsageError
from inspector.features.web.program import Program, Size, environment
from inspector.html_page import page_head
from inspector.reasons import os_reason

HOST = "127.0.0.1"
MAX_CONNECTIONS = 256
MAX_MESSAGE = 1 << 24
"""Bytes of one message of a page: what is pasted at once."""
CLOSE_SECONDS = 2.0
_AUTHORITY = re.compile(r"(\[[0-9a-f:.]+\]|[a-z0-9.-]+)(?::[0-9]{1,5})?", re.ASCII | re.IGNORECASE)
"""A `Host` header, with any port: ours may be forwarded from another one."""
_OURS, _TERMINAL = "inspector.features.web", "textual_serve"
_HTML, _CSS, _SCRIPT = "text/html", "text/css", "text/javascript"
FILES = {
    "": (_OURS, "page.html", _HTML),
    "page.css": (_OURS, "page.css", _CSS),
    "page.js": (_OURS, "page.js", _SCRIPT),
    "xterm.css": (_TERMINAL, "static/css/xterm.css", _CSS),
    "textual.js": (_TERMINAL, "static/js/textual.js", _SCRIPT),
}
"""By the path below the token: the package and file, and the media type."""

# The terminal creates style elements. They can load nothing: images, fonts and connections have rules of their own.
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src data:; "
    "connect-src 'self' ws://{host}; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"
)
_log = logging.getLogger("inspector.web")
# Any program of this machine can send what is not HTTP: it is answered, and its words are not written to our terminal.
_log.addFilter(lambda record: not (record.exc_info and isinstance(record.exc_info[1], HttpProcessingError)))

WRONG_TOKEN = (
    "Wrong token",
    "The token in this address is missing, wrong or old. Each run of <code>inspector web</code> has a token of its "
    "own. Open the address that it printed on its terminal.",
)
WRONG_HOST = ("Wrong host", "This server accepts requests only for this machine: open 127.0.0.1 or localhost.")
WRONG_ORIGIN = ("Wrong origin", "A page of another origin must not use this server.")
NOT_FOUND = ("Not found", "There is nothing at this address.")


class _Connections(web.Server):
    """Accepts connections. If there are too many, it closes the oldest without a request."""

    def __init__(self, answer: Callable[[web.BaseRequest], Awaitable[web.StreamResponse]]) -> None:
        super().__init__(self._answered, access_log=None, logger=_log)
        self._answer = answer
        self._busy: set[web.RequestHandler] = set()

    def connection_made(self, handler: web.RequestHandler, transport: asyncio.Transport) -> None:
        """Keep a new connection."""
        is_open = [connection for connection in self.connections if connection.transport is not None]
        idle = next((connection for connection in is_open if connection not in self._busy), None)
        if len(is_open) >= MAX_CONNECTIONS and idle is not None:
            idle.force_close()
        super().connection_made(handler, transport)

    async def _answered(self, request: web.BaseRequest) -> web.StreamResponse:
        connection = request.protocol
        self._busy.add(connection)
        try:
            return await self._answer(request)
        finally:
            self._busy.discard(connection)


class WebServer:
    """Serves on loopback: `start` it, open its `url`, `close` it. `command` starts the interface, with `driver` as the
    variable that lets it draw for a browser. `on_error` gets the error of a process that failed."""

    def __init__(
        self,
        command: Sequence[str],
        driver: Mapping[str, str],
        on_error: Callable[[str], None],
        *,
        environ: Mapping[str, str] = os.environ,
    ) -> None:
        self._command = command
        self._driver = driver
        self._on_error = on_error
        self._environ = environ
        self._token = secrets.token_urlsafe(32)
        self._port = 0
        self._programs: set[Program] = set()
        self._runner = web.ServerRunner(_Connections(self._answer), shutdown_timeout=CLOSE_SECONDS)

    async def start(self, port: int = 0) -> None:
        """Listen; on any free port if it is 0. Raises `UsageError` if the port cannot be used."""
        await self._runner.setup()
        site = web.TCPSite(self._runner, HOST, port)
        try:
            await site.start()
        except (OSError, OverflowError) as error:
            reason = os_reason(error) if isinstance(error, OSError) else "it is not a port"
            raise UsageError(
                f"Cannot listen on {HOST}:{port}: {reason}.", hint="Choose another port with --port."
            ) from None
        self._port = self._runner.addresses[0][1]

    @property
    def url(self) -> str:
        """The address of the page. Who has it controls the interface."""
        return f"http://{HOST}:{self._port}/{self._token}/"

    async def close(self) -> None:
        """End the interface of every page, and stop listening."""
        await asyncio.gather(*(program.end() for program in self._programs))
        await self._runner.cleanup()

    def kill(self) -> None:
        """End the interface of every page at once."""
        for program in self._programs:
            program.kill()

    async def _answer(self, request: web.BaseRequest) -> web.StreamResponse:
        host = ", ".join(request.headers.getall("Host", ()))
        # A browser sends one Origin: several are another one, whichever a program would read.
        origin = ", ".join(origins) if (origins := request.headers.getall("Origin", ())) else None
        token, slash, name = request.path.removeprefix("/").partition("/")
        authority = _AUTHORITY.fullmatch(host)
        ours = authority is not None and is_loopback(authority[1].strip("[]"))
        if not ours or not request.raw_path.startswith("/"):
            return _refusal(403, *WRONG_HOST)
        if origin is not None and origin != f"http://{host}":
            return _refusal(403, *WRONG_ORIGIN)
        if not secrets.compare_digest(token.encode("utf-8", "replace"), self._token.encode()):
            return _refusal(403, *WRONG_TOKEN)
        if name == "session":
            # Every browser names the origin of a page that opens a WebSocket.
            return _refusal(403, *WRONG_ORIGIN) if origin is None else await self._session(request)
        if not slash:
            return web.Response(status=308, headers={"Location": f"/{token}/"})
        if name not in FILES or request.method != "GET":
            return _refusal(404, *NOT_FOUND)
        package, file, kind = FILES[name]
        body = await asyncio.to_thread(resources.files(package).joinpath(file).read_bytes)
        return _response(200, body, kind, host)

    async def _session(self, request: web.BaseRequest) -> web.StreamResponse:
        """Run the interface for one page, until either ends."""
        socket = web.WebSocketResponse(heartbeat=30, compress=False, max_msg_size=MAX_MESSAGE)
        if not socket.can_prepare(request):
            return _refusal(400, *NOT_FOUND)
        await socket.prepare(request)
        environ = environment(self._environ, self._driver, Size.read(request.query))
        with TemporaryFile() as errors:
            program = await Program.start(self._command, environ, errors)
            self._programs.add(program)
            drawing = asyncio.create_task(self._draw(program, socket))
            try:
                async for message in socket:
                    if message.type is WSMsgType.TEXT:
                        _pass_on(message.data, program)
            finally:
                await program.end()
                self._programs.discard(program)
                await drawing
        return socket

    async def _draw(self, program: Program, socket: web.WebSocketResponse) -> None:
        """Show what the interface draws, and after its end why it ended. Reads on after the page is gone, so that the
        interface can end."""
        async for frame in program.frames():
            with suppress(ConnectionError):
                await socket.send_bytes(frame)
        reason = await program.ended()
        if reason:
            self._on_error(f"{reason}\n")
        with suppress(ConnectionError):
            await socket.send_json(["ended", reason])
            await socket.close()


def _pass_on(text: str, program: Program) -> None:
    """Give the interface a message of the page: `[KIND, VALUE]`, as textual-serve's script writes it."""
    try:
        message: Any = json.loads(text)
    except ValueError:
        return
    kind, value = (*message, None, None)[:2] if isinstance(message, list) else ("", None)
    if kind == "stdin" and isinstance(value, str):
        program.type(value)
    elif kind == "resize" and isinstance(value, dict):
        program.tell("resize", **Size.read(value)._asdict())
    elif kind in ("focus", "blur"):
        program.tell(kind)


def _refusal(status: int, title: str, text: str) -> web.Response:
    return _response(
        status, (page_head(f"Inspector: {title}", "") + f"<body>\n<h1>{title}</h1>\n<p>{text}</p>\n").encode(), _HTML
    )


def _response(status: int, body: bytes, kind: str, host: str = "") -> web.Response:
    return web.Response(
        status=status,
        body=body,
        content_type=kind,
        charset="utf-8",
        headers={
            "Content-Security-Policy": _POLICY.format(host=host),
            "Referrer-Policy": "no-referrer",
            "X-Content-Type-Options": "nosniff",
            "Cross-Origin-Resource-Policy": "same-origin",
            "Cross-Origin-Opener-Policy": "same-origin",
            "Cache-Control": "no-store",
        },
    )
