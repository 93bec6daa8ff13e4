"""Draws scrollbars of whole cells for terminals with ASCII only.

This is the only module that changes a class of Textual. Each widget makes its own scrollbars, and Textual takes the
renderer of all from the class variable `ScrollBar.renderer`; a widget has no option for it. So all apps of a process
share it, and each app sets it at its creation.
"""

from __future__ import annotations

from typing import ClassVar

from textual.scrollbar import ScrollBar, ScrollBarRender


class WholeCells(ScrollBarRender):
    """Draws with spaces only."""

    VERTICAL_BARS: ClassVar[list[str]] = [" "]
    HORIZONTAL_BARS: ClassVar[list[str]] = [" "]


def draw_scrollbars(*, ascii_only: bool) -> None:
    """Draw the scrollbars of this process with spaces only, or like Textual."""
    ScrollBar.renderer = WholeCells if ascii_only else ScrollBarRender
