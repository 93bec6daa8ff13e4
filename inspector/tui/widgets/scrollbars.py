"""How scrollbars are drawn: for terminals that show nothing but ASCII, with ends that are whole cells.

This is the only module that changes a class of Textual. Each widget makes its scrollbars itself, and Textual takes the
renderer of all of them from the class variable `ScrollBar.renderer`: a widget has no option for it. So all apps of a
process share it, and each app sets it when it is made.
"""

from __future__ import annotations

from typing import ClassVar

from textual.scrollbar import ScrollBar, ScrollBarRender


class WholeCells(ScrollBarRender):
    """Draws with spaces only."""

    VERTICAL_BARS: ClassVar[list[str]] = [" "]
    HORIZONTAL_BARS: ClassVar[list[str]] = [" "]


def draw_scrollbars(*, ascii_only: bool) -> None:
    """Have the scrollbars of this process drawn with spaces only, or as Textual draws them."""
    ScrollBar.renderer = WholeCells if ascii_only else ScrollBarRender
