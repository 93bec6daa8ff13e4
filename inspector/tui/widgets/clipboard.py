"""Copies to the clipboard of the user's terminal."""

from __future__ import annotations

from textual.message import Message
from textual.widget import Widget


class Copied(Message):
    """A text was sent to the terminal's clipboard.

    Terminals may ignore it silently, so the receiver should also offer to save it. `what` names it, with an article:
    `the value`, `the path`, `the text`.
    """

    def __init__(self, text: str, what: str) -> None:
        super().__init__()
        self.text = text
        self.what = what


def copy(widget: Widget, text: str, what: str) -> None:
    """Copy a text (OSC 52) and post `Copied`; characters that UTF-8 cannot encode are replaced."""
    widget.app.copy_to_clipboard(text.encode("utf-8", "replace").decode("utf-8"))
    widget.post_message(Copied(text, what))
