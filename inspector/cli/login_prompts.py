"""The user at the terminal: questions on stderr, answers from stdin. Stdout is only for results."""

from __future__ import annotations

import asyncio
import os
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress

from inspector.addresses import shown_url
from inspector.auth.actions import Denied
from inspector.auth.models import OAuthClient
from inspector.auth.person import NO_TERMINAL, LoginPage, person_required
from inspector.cli.output import Output, has_user
from inspector.system.terminal import no_echo

NAME = 200
MAX_URL = 8000
_YES = ("y", "yes")


def _waits(until: float) -> str:
    """The time at which the login times out, from seconds since 1970."""
    return f"Waiting until {time.strftime('%H:%M:%S', time.localtime(until))}."


class Terminal:
    """Asks on the terminal. With `here` False the interface asks instead."""

    absence = NO_TERMINAL

    def __init__(self, out: Output, *, here: bool = True) -> None:
        self._out = out
        self._here = here
        self._lines: TerminalLines | None = None

    @property
    def present(self) -> bool:
        """Whether stdin and stderr are a terminal."""
        return self._here and has_user()

    async def consent(self, url: str, host: str, until: float) -> bool | None:
        """Show the full URL and its host, and ask."""
        self._need("A user must log in")
        safe = self._out.safe
        self.say(f"The server requires a login at {safe(host, NAME)}:\n\n  {safe(url, MAX_URL)}\n\n{_waits(until)}")
        try:
            answer = await self._ask("Open it in the browser? [y/N] ")
        except asyncio.CancelledError:  # The browser came back before the answer.
            self.say("")
            raise
        return answer.strip().lower() in _YES

    async def show(self, page: LoginPage) -> None:
        """Print what the user must do, and until when."""
        safe = self._out.safe
        if page.opened:
            text = f"The browser opened {safe(page.host, NAME)}."
        else:
            text = f"Log in with a browser at {safe(page.host, NAME)}:\n\n  {safe(page.url, MAX_URL)}\n"
        if page.code:
            text += f"\nThe code to enter there is  {safe(page.code, NAME)}\n"
        elif page.redirect_uri and self.present:
            text += (
                "\nIf the login ends at a page that cannot be opened, because the browser is on another "
                "machine, paste the URL of that page here (it starts with "
                f"{safe(page.redirect_uri, NAME)})."
            )
        if page.until:
            text += f"\n{_waits(page.until)}"
        self.say(f"{text}\nPress Ctrl-C to stop waiting.")

    async def pasted(self) -> str:
        """The next line; without a terminal it waits forever."""
        if not self.present:
            never: str = await asyncio.get_running_loop().create_future()
            return never
        return await self._line()

    async def client_for(self, issuer: str, redirect_uri: str) -> OAuthClient | None:
        """Ask for a client ID and its secret, which is not echoed."""
        if not self.present:
            return None
        self.say(
            f"{self._out.safe(shown_url(issuer, NAME))} does not register clients automatically. Register one there, "
            f"with the redirect URI {self._out.safe(redirect_uri, NAME)}"
        )
        client_id = (await self._ask("Client ID (empty to cancel): ")).strip()
        if not client_id:
            return None
        with no_echo(sys.stdin.fileno()):
            secret = (await self._ask("Client secret (empty for none): ")).strip()
        self.say("")
        return OAuthClient(client_id, secret, origin="typed", redirect_uri=redirect_uri)

    async def choose(self, issuers: tuple[str, ...]) -> str:
        """Ask which of several authorization servers to use."""
        if not self.present:
            error = person_required("The server names several authorization servers", self)
            error.hint = "Choose one with --auth-server URL."
            raise error
        self.say("The server names several authorization servers:")
        for number, issuer in enumerate(issuers, 1):
            self.say(f"  {number}  {self._out.safe(shown_url(issuer, NAME))}")
        answer = (await self._ask(f"Which one? [1-{len(issuers)}] ")).strip()
        if not answer.isascii() or not answer.isdigit() or not 1 <= int(answer[:6]) <= len(issuers):
            raise Denied("No authorization server was chosen.", hint="Choose one with --auth-server URL.")
        return issuers[int(answer) - 1]

    async def done(self, ok: bool) -> None:
        """Stop reading stdin."""
        if self._lines is not None:
            self._lines.close()
            self._lines = None

    def rejected(self, text: str) -> None:
        """A line on stderr."""
        self.say(self._out.safe(text, MAX_URL))

    def say(self, text: str) -> None:
        """A line on stderr, also with --quiet, because a login needs it."""
        if self.present:
            self._out.ask(text)
        else:
            self._out.warn(text)

    def _need(self, what: str) -> None:
        if not self.present:
            raise person_required(what, self)

    async def _ask(self, question: str) -> str:
        self._out.aside(question)
        return await self._line()

    async def _line(self) -> str:
        if self._lines is None:
            self._lines = TerminalLines(sys.stdin.fileno())
        line = await self._lines.next()
        if line is None:
            raise Denied("stdin was closed before the answer.")
        return line


class TerminalLines:
    """Lines from a terminal, without a blocked thread where the system allows it.

    Input is left unread between the lines, because a keyring may ask for its password.
    """

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._loop = asyncio.get_running_loop()
        self._queue: asyncio.Queue[str | None] = asyncio.Queue()
        self._rest = b""
        self._closed = False
        self._thread: threading.Thread | None = None

    async def next(self) -> str | None:
        """The next line without its line end; None at the end."""
        if self._queue.empty() and self._closed:
            return None
        self._begin()
        try:
            return await self._queue.get()
        finally:
            self._pause()

    def close(self) -> None:
        """Stop reading. Idempotent."""
        self._closed = True
        self._pause()

    def _begin(self) -> None:
        if self._thread is not None:
            return
        try:
            self._loop.add_reader(self._descriptor, self._read)
        except (NotImplementedError, OSError):
            # Windows: a thread reads, and is abandoned when it is no longer needed.
            self._thread = threading.Thread(target=self._read_in_thread, daemon=True)
            self._thread.start()

    def _pause(self) -> None:
        with suppress(NotImplementedError, OSError):
            self._loop.remove_reader(self._descriptor)

    def _read(self) -> None:
        try:
            self._queue_lines(os.read(self._descriptor, 1 << 16))
        except OSError:
            self._queue_lines(b"")

    def _read_in_thread(self) -> None:
        while not self._closed:
            try:
                data = os.read(self._descriptor, 1 << 16)
            except OSError:
                data = b""
            call: Callable[[bytes], None] = self._queue_lines
            with suppress(RuntimeError):  # the loop is closed
                self._loop.call_soon_threadsafe(call, data)
            if not data:
                return

    def _queue_lines(self, data: bytes) -> None:
        if not data:
            self.close()
            self._queue.put_nowait(None)
            return
        *lines, self._rest = (self._rest + data).split(b"\n")
        for line in lines:
            self._queue.put_nowait(line.decode("utf-8", "replace").rstrip("\r"))
