"""The browser: opened without a shell, its redirect received on a loopback port (RFC 8252 section 7.3, C-AUTH-23)."""

from __future__ import annotations

import asyncio
import html
import os
import re
import shutil
import subprocess
from asyncio import CancelledError
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from urllib.parse import urlsplit

from inspector import command_words
from inspector.auth.actions import TimedOut
from inspector.errors import AuthorizationNeeded
from inspector.html_page import page_head
from inspector.system import NAME
from inspector.system.files import start_with
from inspector.text import safe

HERE = "127.0.0.1"
PATH = "/callback"
MAX_HEAD = 1 << 16
"""Maximum bytes of a request's head; an authorization response is not longer."""
HEAD_SECONDS = 10.0
"""Seconds that a connection may take to send its head."""
MAX_CONNECTIONS = 32
"""Connections open at once; the oldest is closed for a new one, because browsers keep spare ones open."""
OPENING_SECONDS = 3.0
"""Seconds for which the browser's launcher is watched for a failure."""
MAX_REFUSED = 100
"""Responses of other logins after which the wait ends: that many are not an accident."""
_LOOPBACK_NAMES = ("127.0.0.1", "localhost")

_PAGE = """HTTP/1.1 {status}\r
Content-Type: text/html; charset=utf-8\r
Content-Length: {size}\r
Cache-Control: no-store\r
Connection: close\r
\r
{body}"""
_STYLE = "p{font:1.2em sans-serif;margin:3em}"


class Callback:
    """A listener for one browser redirect, on one path. Created by `listen`; must be closed.

    Every response is rejected until `expect` is called.
    """

    def __init__(self, redirect_uri: str) -> None:
        self.redirect_uri = redirect_uri
        self._path = urlsplit(redirect_uri).path or "/"
        self._came: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        self._server: asyncio.Server | None = None
        self._hosts: frozenset[str] = frozenset()
        self._connections: dict[asyncio.Task[None], None] = {}
        self._mismatch: Callable[[str], str] = lambda url: "came before the login request"
        self._on_rejected: Callable[[str, str], None] = lambda url, reason: None
        self._refused = 0

    def expect(
        self, mismatch: Callable[[str], str], on_rejected: Callable[[str, str], None] = lambda url, reason: None
    ) -> None:
        """Wait for the URL for which `mismatch` returns an empty text; others get status 400 and the reason.

        `on_rejected` is called with the URL and the reason of each request to the callback's path that is rejected.
        """
        self._mismatch, self._on_rejected = mismatch, on_rejected

    async def start(self, port: int) -> None:
        """Listen on loopback only; port 0 selects a free port. Raises OSError if the port is in use."""
        self._server = await asyncio.start_server(self._serve, HERE, port, limit=MAX_HEAD)
        taken = self._server.sockets[0].getsockname()[1]
        self._hosts = frozenset(f"{name}:{taken}" for name in _LOOPBACK_NAMES)
        if not port:
            self.redirect_uri = f"http://{HERE}:{taken}{self._path}"

    async def wait(self, seconds: float | None = None) -> str:
        """Return the full redirect URL. Raises `TimedOut`, or its parent class after too many mismatches."""
        try:
            async with asyncio.timeout(seconds):
                return await asyncio.shield(self._came)
        except TimeoutError:
            raise TimedOut("The browser did not come back in time.", hint="Log in again.") from None

    async def close(self) -> None:
        """Stop listening. Idempotent."""
        if self._server is not None:
            self._server.close()
            for task in list(self._connections):
                task.cancel()
            await asyncio.gather(*self._connections, return_exceptions=True)
            self._server = None
        if not self._came.cancel() and not self._came.cancelled():
            self._came.exception()  # Retrieved, or the event loop reports it as never retrieved.

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        if len(self._connections) >= MAX_CONNECTIONS:
            next(iter(self._connections)).cancel()
        self._connections[task] = None
        try:
            # Python 3.11's event loop reports a cancelled connection task as an error, so it ends normally.
            with suppress(
                OSError, TimeoutError, asyncio.IncompleteReadError, asyncio.LimitOverrunError, CancelledError
            ):
                async with asyncio.timeout(HEAD_SECONDS):
                    head = await reader.readuntil(b"\r\n\r\n")
                    writer.write(self._answer(head))
                    await writer.drain()
        finally:
            self._connections.pop(task, None)
            writer.close()

    def _answer(self, head: bytes) -> bytes:
        """Return the HTTP response for one request; accept the first expected authorization response."""
        request, *fields = head.decode("latin-1").split("\r\n")
        method, _, rest = request.partition(" ")
        target = rest.rpartition(" ")[0]
        path = target.partition("?")[0]
        given = [(name.strip().lower(), value.strip().lower()) for name, _, value in (f.partition(":") for f in fields)]
        hosts = [value for name, value in given if name == "host"]
        if path != self._path:
            return _page("404 Not Found", "Page not found.")
        if self._came.done():
            return _page("410 Gone", "This login was already received. Go back to the terminal.")
        origin = self.redirect_uri[: self.redirect_uri.index("/", len("http://"))]
        url = f"{origin}{target}"
        if len(hosts) != 1 or hosts[0] not in self._hosts:
            return self._reject("403 Forbidden", url, "was sent to another host name")
        if not _is_visit(dict(given)):
            return self._reject("403 Forbidden", url, "is a request of a page, not a redirect")
        if method != "GET":
            return self._reject("405 Method Not Allowed", url, "was not sent with GET")
        if reason := self._mismatch(url):
            self._count(reason)
            return self._reject("400 Bad Request", url, reason)
        self._came.set_result(url)
        return _page(
            "200 OK", "Inspector received the login response. You can close this page and go back to the terminal."
        )

    def _reject(self, status: str, url: str, reason: str) -> bytes:
        """Keep waiting: any page can send a browser here, and must not be able to end a login."""
        self._on_rejected(url, reason)
        return _page(
            status,
            f"This response does not belong to the current login: it {reason}. Inspector is still waiting. Finish the "
            "login in the page that Inspector opened, or start it again in the terminal.",
        )

    def _count(self, reason: str) -> None:
        """Stop waiting after too many mismatches."""
        self._refused += 1
        if self._refused >= MAX_REFUSED:
            self._came.set_exception(
                AuthorizationNeeded(
                    f"The browser came back {self._refused} times with a response to another login. The last one "
                    f"{reason}.",
                    hint="Close other tabs of this login, and log in again.",
                )
            )


def _is_visit(fields: Mapping[str, str]) -> bool:
    """Whether the request is a navigation (Fetch Metadata), not an image, script or frame of another page.

    A browser without Fetch Metadata sends `Origin` with a script's request, and omits it for a navigation.
    """
    mode, destination = fields.get("sec-fetch-mode", ""), fields.get("sec-fetch-dest", "")
    if mode or destination:
        return mode in ("navigate", "") and destination in ("document", "")
    return "origin" not in fields


async def listen(redirect_uri: str = "", *, fixed: bool = False) -> Callback | None:
    """Listen at `redirect_uri`, a loopback URL, or at a free port.

    The free port is used if `redirect_uri` is empty, or in use and not `fixed`.

    None for a `fixed` URL on another machine: the person must paste the result. Raises `AuthorizationNeeded`.
    """
    parts = urlsplit(redirect_uri)
    ours = parts.scheme == "http" and parts.hostname in _LOOPBACK_NAMES
    if redirect_uri and fixed and not ours:
        return None
    if redirect_uri and ours:
        callback = Callback(redirect_uri if parts.path else f"{redirect_uri}/")
        callback.redirect_uri = redirect_uri
        try:
            # A URL without a port means port 80, which needs privileges.
            await callback.start(parts.port or 80)
            return callback
        except OSError as error:
            if fixed:
                raise AuthorizationNeeded(
                    f"Cannot listen at the redirect URI {redirect_uri}: {error.strerror or error}.",
                    hint="Stop the program that uses the port, or register another redirect URI.",
                ) from None
    callback = Callback(f"http://{HERE}{parts.path if ours and parts.path else PATH}")
    try:
        await callback.start(0)
    except OSError as error:
        raise AuthorizationNeeded(
            f"Cannot listen on {HERE} for the browser's redirect: {error.strerror or error}."
        ) from None
    return callback


async def open_browser(url: str, environ: Mapping[str, str] | None = None) -> str:
    """`launch`, without blocking."""
    return await asyncio.to_thread(launch, url, environ)


def launch(url: str, environ: Mapping[str, str] | None = None) -> str:
    """Open the person's browser on an http or https URL, without a shell (C-AUTH-27). Blocks for seconds at most.

    Tries the commands of `$BROWSER` first, then the system's opener. Returns an empty text, or a sentence with the
    programs tried and how each failed.
    """
    if not url.lower().startswith(("https://", "http://")) or any(char <= " " or char == "\x7f" for char in url):
        return "Only http and https URLs are opened."
    opened = start_with(url)
    if opened is not None:
        return opened
    failures = []
    for command in browser_commands(os.environ if environ is None else environ):
        failure = _start(command, url)
        if not failure:
            return ""
        failures.append(f"{safe(command[0], 100)} ({failure})")
    if not failures:
        return "No browser was found. Set $BROWSER to a command that opens one."
    return f"No browser opened. Tried: {', '.join(failures)}."


def browser_commands(environ: Mapping[str, str]) -> list[list[str]]:
    """Return the commands that open a URL, in the order to try them; empty without a display.

    `$BROWSER` holds commands separated as in `$PATH`, each quoted as for a shell; `%s` in an argument stands for the
    URL, which is otherwise the last argument; `%%` is a percent sign, and a final `&` is ignored.
    """
    path = environ.get("PATH")
    commands = [_words(part) for part in environ.get("BROWSER", "").split(os.pathsep) if part.strip()]
    own = [[shutil.which(command[0], path=path) or command[0], *command[1:]] for command in commands]
    if NAME == "darwin":
        return [*own, ["/usr/bin/open"]]
    names = ["wslview"] if "WSL_DISTRO_NAME" in environ else []
    if environ.get("DISPLAY") or environ.get("WAYLAND_DISPLAY"):
        names += ["xdg-open", "x-www-browser"]
    return own + [[program] for name in names if (program := shutil.which(name, path=path))]


def _words(command: str) -> list[str]:
    command = command.strip()
    if os.path.isfile(command):
        return [command]  # An unquoted path that contains spaces.
    try:
        words = command_words.split(command)
    except ValueError:
        return [command]  # Not an existing program: the launch failure names it.
    return (words[:-1] if words[-1:] == ["&"] else words) or [command]


def _start(command: Sequence[str], url: str) -> str:
    """Run a command of `browser_commands`; return how it failed, or an empty text."""
    program, *arguments = command
    filled = [re.sub("%[s%]", lambda match: url if match[0] == "%s" else "%", word) for word in arguments]
    if not any("%s" in re.sub("%%", "", word) for word in arguments):
        filled.append(url)
    try:
        # A session of its own: Ctrl-C must not reach it, and a console browser must not use our terminal.
        process = subprocess.Popen(
            [program, *filled],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        status = process.wait(OPENING_SECONDS)
    except subprocess.TimeoutExpired:
        return ""  # The launcher still runs, so the browser is open.
    except FileNotFoundError:
        return "not found"
    except OSError as error:
        return error.strerror or "it could not be started"
    except ValueError:
        return "the command contains a NUL character"
    return "" if status == 0 else f"exit code {status}" if status > 0 else f"ended by signal {-status}"


def _page(status: str, text: str) -> bytes:
    body = f"{page_head('Inspector', _STYLE)}<body><p>{html.escape(text)}</p></body></html>\n"
    return _PAGE.format(status=status, size=len(body.encode()), body=body).encode()
