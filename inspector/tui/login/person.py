"""Asks the user during a login, in one dialog from consent to the end.

While another session is in front, the dialog waits until the user goes to the session of the login. So it does while
the session has no screen: a login may ask before that is loaded, and the dialog would be below it.
"""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from inspector.addresses import shown_url
from inspector.auth.actions import Denied
from inspector.auth.models import OAuthClient
from inspector.auth.person import LoginPage
from inspector.text import safe
from inspector.tui.dialogs import Choose
from inspector.tui.login.dialog import ELSEWHERE, LoginDialog, LoginQuestion
from inspector.tui.pane_messages import SessionNews

if TYPE_CHECKING:
    from collections.abc import Callable

    from textual.app import App
    from textual.screen import Screen

    from inspector.tui.sessions import OpenSession

NAME = 200
MAX_URL = 8000


class DialogPerson:
    """Asks in a dialog that every step of the flow may change; the end of the flow closes it."""

    present = True
    absence = ""

    def __init__(self, app: App[Any]) -> None:
        self._app = app
        self._opened: OpenSession | None = None
        self._early: dict[Screen[Any], Callable[[Any], None] | None] = {}
        """The dialogs that wait for the session's screen, and who takes the answer."""
        self._dialog: LoginDialog | None = None

    def session_opened(self, opened: OpenSession) -> None:
        """The session of the login has a screen now: dialogs are shown over it."""
        self._opened = opened
        early, self._early = self._early, {}
        for dialog, take in early.items():
            self._app.call_later(self._put_up, dialog, take)

    async def consent(self, url: str, host: str, until: float) -> bool | None:
        """Show the whole URL and its host, and ask. Raises `Denied` if the user cancels the login."""
        text = f"The server asks you to log in at {safe(host, NAME)}. The URL is:\n\n{safe(url, MAX_URL)}"
        title = f"Log in at {safe(host, 60)}?"
        answer = await self._ask(LoginQuestion(title, text, address=url, opens=True, until=until))
        if answer is None:
            raise _cancelled()
        return None if answer == ELSEWHERE else True

    async def show(self, invitation: LoginPage) -> None:
        """Show what the login waits for."""
        host, url = safe(invitation.host, NAME), safe(invitation.url, MAX_URL)
        text = f"The browser is open at {host}." if invitation.opened else f"Log in with a browser at {host}:\n\n{url}"
        if invitation.code:
            text += f"\n\nEnter this code there:  {safe(invitation.code, NAME)}"
        paste = ""
        if invitation.redirect_uri:
            paste = "paste a URL here"
            text += (
                "\n\nIf the browser is on another machine and cannot open the last page, paste the URL "
                f"of that page below. It begins with {safe(invitation.redirect_uri, NAME)}"
            )
        title = f"Waiting for the login at {safe(invitation.host, 60)}"
        self._put(LoginQuestion(title, text, paste, address=invitation.url, until=invitation.until))

    async def pasted(self) -> str:
        """Return the next pasted text. Raises `Denied` if the user cancels the login."""
        if self._dialog is None:
            never: str = await asyncio.get_running_loop().create_future()
            return never
        answer = await self._dialog.answers.get()
        if answer is None:
            raise _cancelled()
        return answer

    async def client_for(self, issuer: str, redirect_uri: str) -> OAuthClient | None:
        """Ask for a client id and its secret."""
        text = (
            f"{shown_url(issuer, NAME)} does not support client registration here. Register a client with the "
            f"redirect URI {safe(redirect_uri, NAME)}"
        )
        question = LoginQuestion("Client for this server", text, "client id")
        client_id = await self._ask(question)
        if not client_id:
            return None
        said = f"{text}\n\nclient id  {safe(client_id, NAME)}"
        empty = "client secret, empty for none"
        secret = await self._ask(replace(question, text=said, placeholder=empty, concealed=True))
        return None if secret is None else OAuthClient(client_id, secret, origin="typed", redirect_uri=redirect_uri)

    async def choose(self, issuers: tuple[str, ...]) -> str:
        """Ask the user to choose an authorization server."""
        chosen: asyncio.Future[str | None] = asyncio.get_running_loop().create_future()

        def take(word: str | None) -> None:
            if not chosen.done():
                chosen.set_result(word)

        shown = {shown_url(issuer, NAME): issuer for issuer in issuers}
        menu = Choose("Log in with", [(word, "") for word in shown])
        self._app.call_later(self._put_up, menu, take)
        word = await chosen
        if word is None:
            raise _cancelled()
        return shown[word]

    async def done(self, ok: bool) -> None:
        """Close the dialog."""
        dialog, self._dialog = self._dialog, None
        if dialog is not None:
            dialog.over = True
            self._app.call_later(self._take_down, dialog)

    def rejected(self, text: str) -> None:
        """Show the reason in the dialog, where it stays until the next one."""
        if self._dialog is not None:
            self._dialog.show_note(safe(text, MAX_URL))

    def say(self, text: str) -> None:
        """Show a short notice."""
        self._app.notify(text, severity="warning", timeout=10)

    async def _ask(self, question: LoginQuestion) -> str | None:
        return await self._put(question).answers.get()

    def _put(self, question: LoginQuestion) -> LoginDialog:
        dialog = self._dialog
        if dialog is None:
            dialog = self._dialog = LoginDialog()
            self._app.call_later(self._put_up, dialog)
        dialog.ask(question)
        return dialog

    def _put_up(self, dialog: Screen[Any], take: Callable[[Any], None] | None = None) -> None:
        """Show a dialog over its session, or keep it until that session is in front."""
        if isinstance(dialog, LoginDialog) and dialog.over:
            return
        if self._opened is None:
            self._early[dialog] = take
        elif self._opened.screen in self._app.screen_stack:
            self._app.push_screen(dialog, take)
        else:
            self._opened.dialogs[dialog] = take
            self._app.post_message(SessionNews())

    def _take_down(self, dialog: LoginDialog) -> None:
        self._early.pop(dialog, None)
        if self._opened is not None and dialog in self._opened.dialogs:
            del self._opened.dialogs[dialog]
            self._app.post_message(SessionNews())
        if dialog.is_current:
            dialog.dismiss(None)


def _cancelled() -> Denied:
    return Denied("The login was cancelled.", hint="“connect again” or “log in again” starts another login.")
