"""The login dialog: the whole URL, consent, the time limit, and where to paste the redirect URL."""

from __future__ import annotations

import asyncio
import math
import time
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.timer import Timer

from inspector.tui.keymap import KeyHint
from inspector.tui.widgets.clipboard import copy
from inspector.tui.widgets.editor import Editor
from inspector.tui.widgets.fact_rows import FactsView, Row, RowSection, paragraph
from inspector.tui.widgets.pane import Pane

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
