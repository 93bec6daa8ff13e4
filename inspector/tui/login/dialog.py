"""The login dialog: the whole URL, consent, the time limit, and where to paste the redirect URL."""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.timer import Timer

from inspector.addresses import shown_url
from inspector.auth.actions import Denied
from inspector.auth.credential import TOKEN
from inspector.auth.models import OAuthClient
from inspector.auth.options import GRANTS, AuthOptions
from inspector.auth.person import LoginPage
from inspector.auth.url_checks import secure
from inspector.text import safe
from inspector.tui.dialogs import Choose
from inspector.tui.keymap import KeyHint
from inspector.tui.pane_messages import SessionNews
from inspector.tui.widgets.clipboard import copy
from inspector.tui.widgets.dialog import FieldsDialog
from inspector.tui.widgets.editor import Editor
from inspector.tui.widgets.fact_rows import FactsView, Row, RowSection, paragraph
from inspector.tui.widgets.pane import Pane

if TYPE_CHECKING:
    from collections.abc import Callable

    from textual.app import App
    from textual.screen import Screen

    from inspector.tui.sessions import OpenSession

ELSEWHERE = "elsewhere"
"""The answer that opens the page in another browser."""
_OPEN = KeyHint("enter", "open the browser", "enter")
_TAKE = KeyHint("enter", "accept", "enter")
_LEAVE = KeyHint("esc", "cancel", "escape")
_ELSEWHERE = KeyHint("^w", "other browser", "ctrl+w")
_COPY = KeyHint("^l", "copy", "ctrl+l")


@dataclass(frozen=True, slots=True)
class LoginQuestion:
    """A question of a login: for a yes; with a `placeholder`, for a text.

    `address` can be copied; with `opens`, enter opens a browser on it; `concealed` hides typed text. `until` is the
    time limit in seconds since 1970.
    """

    title: str = "Log in"
    text: str = ""
    placeholder: str = ""
    address: str = ""
    opens: bool = False
    concealed: bool = False
    until: float = 0


class LoginDialog(ModalScreen[None]):
    """Shows a step of the login and collects the user's answers.

    `answers` gets a text, empty for yes, None for no. Its caller opens and closes the dialog. `esc` answers None, and
    the dialog stays for the next question.
    """

    DEFAULT_CSS = """
    LoginDialog { align: center middle; }
    LoginDialog > Pane { width: 90%; max-width: 110; height: 8; max-height: 100%; }
    LoginDialog Vertical { height: 1fr; }
    LoginDialog FactsView { height: 1fr; }
    LoginDialog Editor { margin: 1 1 0 1; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "take", show=False, priority=True),
        Binding("ctrl+w", "elsewhere", show=False, priority=True),
        Binding("ctrl+l", "copy_address", show=False, priority=True),
        Binding("escape", "leave", show=False, priority=True),
    ]

    def __init__(self) -> None:
        super().__init__()
        self.answers: asyncio.Queue[str | None] = asyncio.Queue()
        self.over = False
        """The login has ended; the dialog expects no more answers."""
        self.question = LoginQuestion()
        self._note = ""
        self._minute: Timer | None = None

    def compose(self) -> ComposeResult:
        edge = Pane(Vertical(FactsView(what="the address"), Editor("", id="answer")), title=self.question.title)
        edge.tone = "ask"
        yield edge

    def on_mount(self) -> None:
        self._draw()
        self.watch(self.query_one(FactsView), "virtual_size", self._fit)

    def _fit(self) -> None:
        """Fit the height to the text, with border, keys, and an empty line or the field above them."""
        around = 5 if self.question.placeholder else 4
        self.query_one(Pane).styles.height = max(self.query_one(FactsView).virtual_size.height, 1) + around

    def ask(self, question: LoginQuestion) -> None:
        """Ask this instead of the previous question."""
        self.question = question
        if self.is_mounted:
            self._draw()

    def show_note(self, text: str) -> None:
        """Show a text above the question, and above those that follow; it replaces the one before."""
        self._note = text
        if self.is_mounted:
            self._draw_text()

    def _draw_text(self) -> None:
        note = [*paragraph(self._note, "error"), Row()] if self._note else []
        self.query_one(FactsView).show(RowSection([*note, *paragraph(self.question.text)]))

    def _draw(self) -> None:
        asked = self.question
        edge, view, editor = self.query_one(Pane), self.query_one(FactsView), self.query_one(Editor)
        edge.title = asked.title
        edge.keys = [
            *([_OPEN] if asked.opens else [_TAKE] if asked.placeholder else []),
            _LEAVE,
            *([_ELSEWHERE] if asked.opens else []),
            *([_COPY] if asked.address else []),
        ]
        self._draw_text()
        editor.display = bool(asked.placeholder)
        editor.placeholder, editor.concealed, editor.value = asked.placeholder, asked.concealed, ""
        (editor if asked.placeholder else view).focus()
        self._fit()
        self._tell_time()

    def _tell_time(self) -> None:
        """Show the time limit and the minutes left; repeat each minute."""
        if self._minute is not None:
            self._minute.stop()
            self._minute = None
        edge, until = self.query_one(Pane), self.question.until
        if not until:
            edge.facts = ()
            return
        left = max(until - time.time(), 0)
        end = datetime.fromtimestamp(until, UTC).astimezone()
        edge.facts = (f"waits until {end:%H:%M}, {math.ceil(left / 60)} min left",)
        if left > 0:
            self._minute = self.set_timer(left % 60 or 60, self._tell_time)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Without a question there is nothing to accept; “elsewhere” needs a browser that would open."""
        if action == "take":
            return self.question.opens or bool(self.question.placeholder)
        if action == "elsewhere":
            return self.question.opens
        return bool(self.question.address) if action == "copy_address" else True

    def action_take(self) -> None:
        """Answer with the typed text, which is then cleared, or with yes."""
        editor = self.query_one(Editor)
        self.answers.put_nowait(editor.value.strip() if self.question.placeholder else "")
        editor.value = ""

    def action_elsewhere(self) -> None:
        """Continue without opening a browser here."""
        self.answers.put_nowait(ELSEWHERE)

    def action_copy_address(self) -> None:
        """Copy the address to log in at."""
        copy(self, self.question.address, "the address")

    def action_leave(self) -> None:
        """Answer with no."""
        if self.over:
            self.dismiss(None)
        self.answers.put_nowait(None)


_LABEL = 16
"""Cells of a label."""
_SECRETS = ("client_secret", "bearer")
FIELDS: Mapping[str, tuple[str, str]] = {
    "client_id": ("client id", "from the server, or from registration"),
    "client_secret": ("client secret", "none"),
    "auth_server": ("issuer", "from the server's metadata"),
    "scope": ("scopes", "those that the server asks for"),
    "grant": ("grant", "automatic: " + ", ".join(GRANTS)),
    "bearer": ("or a token", "none; a token is sent as it is, without a login"),
}
"""Each option's label, and its default when the field is empty."""


class LoginOptions(FieldsDialog[AuthOptions]):
    """Asks for the options, starting with the current ones. They apply to this run and are not stored."""

    DEFAULT_CSS = """
    LoginOptions > Pane { max-width: 100; }
    """

    def __init__(self, options: AuthOptions) -> None:
        self._options = options
        super().__init__("Log in with other credentials", {name: self._editor(name) for name in FIELDS}, "log in")

    def _editor(self, name: str) -> Editor:
        label, empty = FIELDS[name]
        value = getattr(self._options, name)
        text = "" if name == "grant" and value == "auto" else value
        editor = Editor(text, placeholder=empty, lead=[(f"{label:<{_LABEL}}", "muted")], id=f"login-{name}")
        editor.concealed = name in _SECRETS
        return editor

    def action_take(self) -> None:
        """Accept the options if all are valid."""
        typed = self.typed
        typed["grant"] = typed["grant"] or "auto"
        if problem := _problem(typed):
            self.show_note(problem)
        else:
            self.dismiss(replace(self._options, **typed))  # type: ignore[arg-type]


def _problem(typed: Mapping[str, str]) -> str:
    """Return the first error, or an empty text."""
    if typed["grant"] not in GRANTS:
        return f"unknown grant; use one of {', '.join(GRANTS)}"
    if typed["client_secret"] and not typed["client_id"]:
        return "a client secret needs a client id"
    if not TOKEN.fullmatch(typed["bearer"]):
        return "a token is ASCII without spaces"
    if typed["auth_server"]:
        try:
            secure(typed["auth_server"])
        except ValueError as error:
            return f"not a valid issuer: {error}"
    return ""


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
        for dialog, on_result in early.items():
            self._app.call_later(self._put_up, dialog, on_result)

    async def consent(self, url: str, host: str, until: float) -> bool | None:
        """Show the whole URL and its host, and ask. Raises `Denied` if the user cancels the login."""
        text = f"The server asks you to log in at {safe(host, NAME)}. The URL is:\n\n{safe(url, MAX_URL)}"
        title = f"Log in at {safe(host, 60)}?"
        answer = await self._ask(LoginQuestion(title, text, address=url, opens=True, until=until))
        if answer is None:
            raise _cancelled()
        return None if answer == ELSEWHERE else True

    async def show(self, page: LoginPage) -> None:
        """Show what the login waits for."""
        host, url = safe(page.host, NAME), safe(page.url, MAX_URL)
        text = f"The browser is open at {host}." if page.opened else f"Log in with a browser at {host}:\n\n{url}"
        if page.code:
            text += f"\n\nEnter this code there:  {safe(page.code, NAME)}"
        paste = ""
        if page.redirect_uri:
            paste = "paste a URL here"
            text += (
                "\n\nIf the browser is on another machine and cannot open the last page, paste the URL "
                f"of that page below. It begins with {safe(page.redirect_uri, NAME)}"
            )
        title = f"Waiting for the login at {safe(page.host, 60)}"
        self._put(LoginQuestion(title, text, paste, address=page.url, until=page.until))

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
        explained = f"{text}\n\nclient id  {safe(client_id, NAME)}"
        empty = "client secret, empty for none"
        secret = await self._ask(replace(question, text=explained, placeholder=empty, concealed=True))
        return None if secret is None else OAuthClient(client_id, secret, origin="typed", redirect_uri=redirect_uri)

    async def choose(self, issuers: tuple[str, ...]) -> str:
        """Ask the user to choose an authorization server."""
        chosen: asyncio.Future[str | None] = asyncio.get_running_loop().create_future()

        def set_choice(word: str | None) -> None:
            if not chosen.done():
                chosen.set_result(word)

        issuer_of = {shown_url(issuer, NAME): issuer for issuer in issuers}
        menu = Choose("Log in with", [(word, "") for word in issuer_of])
        self._app.call_later(self._put_up, menu, set_choice)
        word = await chosen
        if word is None:
            raise _cancelled()
        return issuer_of[word]

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

    def _put_up(self, dialog: Screen[Any], on_result: Callable[[Any], None] | None = None) -> None:
        """Show a dialog over its session, or keep it until that session is in front."""
        if isinstance(dialog, LoginDialog) and dialog.over:
            return
        if self._opened is None:
            self._early[dialog] = on_result
        elif self._opened.screen in self._app.screen_stack:
            self._app.push_screen(dialog, on_result)
        else:
            self._opened.dialogs[dialog] = on_result
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
