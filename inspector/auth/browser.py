"""The browser: opened without a shell, awaited on a port of this machine (RFC 8252 section 7.3, C-AUTH-23)."""

from __future__ import annotations

import asyncio
import os
import re
import shlex
import shutil
import subprocess
import sys
from asyncio import CancelledError
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from urllib.parse import urlsplit

from inspector.auth.actions import TimedOut
from inspector.errors import AuthorizationNeeded
from inspector.text import safe

HERE = "127.0.0.1"
PATH = "/callback"
LONGEST_HEAD = 1 << 16
"""Bytes of a request's head; no authorization response is longer."""
HEAD_SECONDS = 10.0
"""How long a connection may take to send it."""
MOST_CONNECTIONS = 32
"""At the same time, after which the oldest ends: browsers open a few ahead of need, and others may never end theirs."""
OPENING_SECONDS = 3.0
"""How long the program that opens a browser is watched for a failure."""
MOST_REFUSED = 100
"""Answers that do not belong to the login, after which it ends: so many do not come by accident."""
_LOOPBACK_NAMES = ("127.0.0.1", "localhost")

_PAGE = """HTTP/1.1 {status}\r
Content-Type: text/html; charset=utf-8\r
Content-Length: {size}\r
Content-Security-Policy: default-src 'none'; style-src 'unsafe-inline'\r
Referrer-Policy: no-referrer\r
Cache-Control: no-store\r
Connection: close\r
\r
{body}"""
_BODY = """<!doctype html><meta charset="utf-8"><title>Inspector</title>
<p style="font: 1.2em sans-serif; margin: 3em">{text}</p>
"""


class Callback:
    """Listens for the browser to come back, once, on one path. Made by `listen`; must be closed.

    Until `expect` is called every answer is refused.
    """

    def __init__(self, redirect_uri: str) -> None:
        self.redirect_uri = redirect_uri
        self._path = urlsplit(redirect_uri).path or "/"
        self._came: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        self._server: asyncio.Server | None = None
        self._hosts: frozenset[str] = frozenset()
        self._connections: dict[asyncio.Task[None], None] = {}
        self._mismatch: Callable[[str], str] = lambda url: "came before anything was asked"
        self._refused = 0

    def expect(self, mismatch: Callable[[str], str]) -> None:
        """Wait for the URL for which `mismatch` returns an empty text; others get its reason and status 400."""
        self._mismatch = mismatch

    async def start(self, port: int) -> None:
        """Listen on this machine only; port 0 is one that is free. Raises OSError where the port is taken."""
        self._server = await asyncio.start_server(self._serve, HERE, port, limit=LONGEST_HEAD)
        taken = self._server.sockets[0].getsockname()[1]
        self._hosts = frozenset(f"{name}:{taken}" for name in _LOOPBACK_NAMES)
        if not port:
            self.redirect_uri = f"http://{HERE}:{taken}{self._path}"

    async def wait(self, seconds: float | None = None) -> str:
        """The whole URL that the browser came back to. Raises `TimedOut`, or its parent after too many others."""
        try:
            async with asyncio.timeout(seconds):
                return await asyncio.shield(self._came)
        except TimeoutError:
            raise TimedOut("Nobody came back from the browser in time.", hint="Log in again.") from None

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
        if len(self._connections) >= MOST_CONNECTIONS:
            next(iter(self._connections)).cancel()
        self._connections[task] = None
        try:
            # A cancelled task of a connection is an error to the event loop of Python 3.11, so it ends as any other.
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
        """What a request gets. The first authorization response at our path that is expected is the one."""
        request, *fields = head.decode("latin-1").split("\r\n")
        method, _, rest = request.partition(" ")
        target = rest.rpartition(" ")[0]
        path, _, query = target.partition("?")
        given = [(name.strip().lower(), value.strip().lower()) for name, _, value in (f.partition(":") for f in fields)]
        hosts = [value for name, value in given if name == "host"]
        if len(hosts) != 1 or hosts[0] not in self._hosts:
            return _page("403 Forbidden", "This address answers to its own name only.")
        if not _is_visit(dict(given)):
            return _page("403 Forbidden", "This address is for a browser that was sent here, not for a page in it.")
        if path != self._path or not {"code", "error"} & {each.partition("=")[0] for each in query.split("&")}:
            return _page("404 Not Found", "There is nothing here.")
        if method != "GET":
            return _page("405 Method Not Allowed", "There is nothing here.")
        if self._came.done():
            return _page("410 Gone", "The browser has been here before. Go back to the terminal.")
        origin = self.redirect_uri[: self.redirect_uri.index("/", len("http://"))]
        if why := self._mismatch(f"{origin}{target}"):
            return self._refuse(why)
        self._came.set_result(f"{origin}{target}")
        return _page("200 OK", "Inspector has the answer. You can close this page and go back to the terminal.")

    def _refuse(self, why: str) -> bytes:
        """Go on waiting: any page can send a browser here, and must not end a login by it."""
        self._refused += 1
        if self._refused >= MOST_REFUSED:
            self._came.set_exception(
                AuthorizationNeeded(
                    f"The browser came back {self._refused} times with an answer that does not belong to this login. "
                    f"The last one {why}.",
                    hint="Close other tabs of this login, and log in again.",
                )
            )
        return _page(
            "400 Bad Request",
            f"This answer does not belong to the login that Inspector waits for: it {why}. Inspector is still waiting. "
            "Finish the login in the page that Inspector opened, or start it again in the terminal.",
        )


def _is_visit(fields: Mapping[str, str]) -> bool:
    """Whether a browser goes to the page itself (Fetch Metadata): no image, script or frame of some other page does.

    A browser that does not say so names the origin of what a page's script asks for; for a visit it names none.
    """
    mode, destination = fields.get("sec-fetch-mode", ""), fields.get("sec-fetch-dest", "")
    if mode or destination:
        return mode in ("navigate", "") and destination in ("document", "")
    return "origin" not in fields


async def listen(wanted: str = "", *, fixed: bool = False) -> Callback | None:
    """Listen at `wanted`, a loopback URL; where it is empty or taken, at a free port, unless it is `fixed`.

    None for a `fixed` URL that is not on this machine: there only pasting is possible. Raises `AuthorizationNeeded`.
    """
    parts = urlsplit(wanted)
    ours = parts.scheme == "http" and parts.hostname in _LOOPBACK_NAMES
    if wanted and fixed and not ours:
        return None
    if wanted and ours:
        callback = Callback(wanted if parts.path else f"{wanted}/")
        callback.redirect_uri = wanted
        try:
            # A URL without a port is taken at its word: port 80, which is for the mighty.
            await callback.start(parts.port or 80)
            return callback
        except OSError as error:
            if fixed:
                raise AuthorizationNeeded(
                    f"The browser is to come back to {wanted}, where nothing can listen: {error.strerror or error}.",
                    hint="End what uses that port, or register another redirect URI.",
                ) from None
    callback = Callback(f"http://{HERE}{parts.path if ours and parts.path else PATH}")
    try:
        await callback.start(0)
    except OSError as error:
        raise AuthorizationNeeded(
            f"Nothing can listen on {HERE} for the browser to come back: {error.strerror or error}."
        ) from None
    return callback


async def open_browser(url: str, environ: Mapping[str, str] | None = None) -> str:
    """`launch`, without blocking."""
    return await asyncio.to_thread(launch, url, environ)


def launch(url: str, environ: Mapping[str, str] | None = None) -> str:
    """Open the person's browser on an http or https URL, without a shell (C-AUTH-27). Blocks for seconds at most.

    The commands of `$BROWSER` are tried first, then the system's own way. Returns an empty text, or a sentence that
    says which programs were tried and how each failed.
    """
    if not url.lower().startswith(("https://", "http://")) or any(char <= " " or char == "\x7f" for char in url):
        return "Only http and https URLs are opened."
    if sys.platform == "win32":
        try:
            os.startfile(url)
        except OSError as error:
            return f"Windows did not open the browser: {error.strerror}."
        return ""
    failures = []
    for command in browser_commands(os.environ if environ is None else environ):
        failure = _start(command, url)
        if not failure:
            return ""
        failures.append(f"{safe(command[0], 100)} ({failure})")
    if not failures:
        return "No browser was found, and $BROWSER names none."
    return f"No browser opened. Tried: {', '.join(failures)}."


def browser_commands(environ: Mapping[str, str]) -> list[list[str]]:
    """The commands that open a URL for the person, in the order to try them; none where there is no screen.

    `$BROWSER` holds commands separated as in `$PATH`, each quoted as for a shell; `%s` in a word stands for the URL,
    which is otherwise the last argument; `%%` is a percent sign, and a final `&` is ignored.
    """
    path = environ.get("PATH")
    commands = [_words(part) for part in environ.get("BROWSER", "").split(os.pathsep) if part.strip()]
    own = [[shutil.which(command[0], path=path) or command[0], *command[1:]] for command in commands]
    if sys.platform == "darwin":
        return [*own, ["/usr/bin/open"]]
    names = ["wslview"] if "WSL_DISTRO_NAME" in environ else []
    if environ.get("DISPLAY") or environ.get("WAYLAND_DISPLAY"):
        names += ["xdg-open", "x-www-browser"]
    return own + [[found] for name in names if (found := shutil.which(name, path=path))]


def _words(command: str) -> list[str]:
    command = command.strip()
    if os.path.isfile(command):
        return [command]  # A path with spaces in it, not quoted.
    try:
        words = shlex.split(command)
    except ValueError:
        return [command]  # Which no program is called: the failure names it.
    return (words[:-1] if words[-1:] == ["&"] else words) or [command]


def _start(command: Sequence[str], url: str) -> str:
    """Run a command of `browser_commands`; returns how it failed, or an empty text."""
    program, *arguments = command
    filled = [re.sub("%[s%]", lambda found: url if found[0] == "%s" else "%", word) for word in arguments]
    if not any("%s" in re.sub("%%", "", word) for word in arguments):
        filled.append(url)
    try:
        # In a session of its own: Ctrl-C is for us, and no console browser may take the terminal.
        process = subprocess.Popen(
            [program, *filled], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            start_new_session=True,
        )  # fmt: skip
        status = process.wait(OPENING_SECONDS)
    except subprocess.TimeoutExpired:
        return ""  # A browser that stays with its opener is an open browser.
    except FileNotFoundError:
        return "not found"
    except OSError as error:
        return error.strerror or "it could not be started"
    except ValueError:
        return "it has a NUL in it"
    return "" if status == 0 else f"exit code {status}" if status > 0 else f"ended by signal {-status}"


def _page(status: str, text: str) -> bytes:
    body = _BODY.format(text=text)
    return _PAGE.format(status=status, size=len(body.encode()), body=body).encode()
