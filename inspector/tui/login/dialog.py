"""The dialog of a login: the address to log in at, whole; consent; until when it waits, and where to paste."""

from __future__ import annotations

import asyncio
import math
import time
from datetime import UTC, datetime
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.timer import Timer

from inspector.tui.keymap import Hint
from inspector.tui.widgets.clipboard import copy
from inspector.tui.widgets.edge import Edge
from inspector.tui.widgets.editor import Editor
from inspector.tui.widgets.fact_rows import RowSection, paragraph
from inspector.tui.widgets.facts_view import FactsView

ELSEWHERE = "elsewhere"
"""The answer of who wants to open the page with another browser."""
_OPEN = Hint("enter", "open the browser", "enter")
_TAKE = Hint("enter", "take it", "enter")
_LEAVE = Hint("esc", "cancel", "escape")
_ELSEWHERE = Hint("^w", "elsewhere", "ctrl+w")
_COPY = Hint("^l", "copy it", "ctrl+l")


class LoginDialog(ModalScreen[None]):
    """Says what a login wants, and puts what the person answers into `answers`: a text, empty for a plain yes, or None.

    It is put up and taken down by whoever asks; `esc` answers None and leaves it up for what is asked next.
    """

    DEFAULT_CSS = """
    LoginDialog { align: center middle; }
    LoginDialog > Edge { width: 90%; max-width: 110; height: 8; max-height: 100%; }
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
        """Nobody waits for an answer any more."""
        self._title = "Log in"
        self._text = ""
        self._placeholder = ""
        self._address = ""
        self._opens = False
        self._concealed = False
        self._until = 0.0
        self._minute: Timer | None = None

    def compose(self) -> ComposeResult:
        edge = Edge(Vertical(FactsView(what="the address"), Editor("", id="answer")), title=self._title)
        edge.tone = "ask"
        yield edge

    def on_mount(self) -> None:
        self._draw()
        self.watch(self.query_one(FactsView), "virtual_size", self._fit)

    def _fit(self) -> None:
        """As high as the text is, with the border, the keys, and an empty line or the field above them."""
        around = 5 if self._placeholder else 4
        self.query_one(Edge).styles.height = max(self.query_one(FactsView).virtual_size.height, 1) + around

    def ask(
        self,
        title: str,
        text: str,
        placeholder: str = "",
        *,
        address: str = "",
        opens: bool = False,
        concealed: bool = False,
        until: float = 0,
    ) -> None:
        """Ask for a yes; with a `placeholder`, for a text. What was asked before is replaced.

        `address` can be copied; with `opens`, a browser would be opened on it; what is typed may be `concealed`.
        `until` says when it is over, in seconds since 1970.
        """
        self._title, self._text, self._placeholder, self._address = title, text, placeholder, address
        self._opens, self._concealed, self._until = opens, concealed, until
        if self.is_mounted:
            self._draw()

    def _draw(self) -> None:
        edge, view, editor = self.query_one(Edge), self.query_one(FactsView), self.query_one(Editor)
        edge.title = self._title
        edge.keys = [
            *([_OPEN] if self._opens else [_TAKE] if self._placeholder else []),
            _LEAVE,
            *([_ELSEWHERE] if self._opens else []),
            *([_COPY] if self._address else []),
        ]
        view.show(RowSection(paragraph(self._text)))
        editor.display = bool(self._placeholder)
        editor.placeholder, editor.concealed, editor.value = self._placeholder, self._concealed, ""
        (editor if self._placeholder else view).focus()
        self._fit()
        self._tell_time()

    def _tell_time(self) -> None:
        """Say until when it waits, and how long that is; again when the minute is over."""
        if self._minute is not None:
            self._minute.stop()
            self._minute = None
        edge = self.query_one(Edge)
        if not self._until:
            edge.facts = ()
            return
        left = max(self._until - time.time(), 0)
        end = datetime.fromtimestamp(self._until, UTC).astimezone()
        edge.facts = (f"waits until {end:%H:%M}, {math.ceil(left / 60)} min left",)
        if left > 0:
            self._minute = self.set_timer(left % 60 or 60, self._tell_time)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Nothing to take where nothing is asked; only a browser that would be opened can be elsewhere."""
        if action == "take":
            return self._opens or bool(self._placeholder)
        if action == "elsewhere":
            return self._opens
        return bool(self._address) if action == "copy_address" else True

    def action_take(self) -> None:
        """Answer with what was typed, or with a yes."""
        self.answers.put_nowait(self.query_one(Editor).value.strip() if self._placeholder else "")

    def action_elsewhere(self) -> None:
        """Go on, but open no browser here."""
        self.answers.put_nowait(ELSEWHERE)

    def action_copy_address(self) -> None:
        """Copy the address to log in at."""
        copy(self, self._address, "the address")

    def action_leave(self) -> None:
        """Answer with a no."""
        if self.over:
            self.dismiss(None)
        self.answers.put_nowait(None)
