"""The dialog of a login: the address to log in at, whole; consent; what is waited for, and a place to paste it."""

from __future__ import annotations

import asyncio
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen

from inspector.tui.keymap import Hint
from inspector.tui.rows import RowSection, paragraph
from inspector.tui.widgets.edge import Edge
from inspector.tui.widgets.editor import Editor
from inspector.tui.widgets.facts_view import FactsView

_OPEN = [Hint("enter", "open the browser", "enter"), Hint("esc", "do not log in", "escape")]
_WRITE = [Hint("enter", "take it", "enter"), Hint("esc", "end the login", "escape")]


class LoginDialog(ModalScreen[None]):
    """Says what a login wants, and puts what the person answers into `answers`: a text, empty for a plain yes, or None.

    It is put up and taken down by whoever asks; `esc` answers None and leaves it up for what is asked next.
    """

    DEFAULT_CSS = """
    LoginDialog { align: center middle; }
    LoginDialog > Edge { width: 90%; max-width: 110; height: 18; max-height: 100%; }
    LoginDialog Vertical { height: 1fr; }
    LoginDialog FactsView { height: 1fr; }
    LoginDialog Editor { margin: 1 1 0 1; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "take", show=False, priority=True),
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

    def compose(self) -> ComposeResult:
        edge = Edge(Vertical(FactsView(what="the address"), Editor("", id="answer")), title=self._title, keys=_OPEN)
        edge.tone = "ask"
        yield edge

    def on_mount(self) -> None:
        self._draw()

    def ask(self, title: str, text: str, placeholder: str = "") -> None:
        """Ask for a yes; with a `placeholder`, for a text. What was asked before is replaced."""
        self._title, self._text, self._placeholder = title, text, placeholder
        if self.is_mounted:
            self._draw()

    def _draw(self) -> None:
        edge, view, editor = self.query_one(Edge), self.query_one(FactsView), self.query_one(Editor)
        edge.title = self._title
        edge.keys = _WRITE if self._placeholder else _OPEN
        view.show(RowSection(paragraph(self._text)))
        editor.display = bool(self._placeholder)
        editor.placeholder = self._placeholder
        editor.value = ""
        (editor if self._placeholder else view).focus()

    def action_take(self) -> None:
        """Answer with what was typed."""
        self.answers.put_nowait(self.query_one(Editor).value.strip() if self._placeholder else "")

    def action_leave(self) -> None:
        """Answer with a no."""
        if self.over:
            self.dismiss(None)
        self.answers.put_nowait(None)
