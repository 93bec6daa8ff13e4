"""The base of widgets that draw their own lines and have no children."""

from __future__ import annotations

from textual.geometry import Size
from textual.reactive import reactive
from textual.widget import Widget


class LineWidget(Widget):
    """A widget that draws its own lines and has no children.

    Textual lays out the whole screen again whenever the scrollable size of a widget is set, also after the first layout
    of a new widget. That is for containers with scroll bars: here it changes nothing, and costs 5 to 15 ms a time.
    """

    virtual_size: reactive[Size] = reactive(Size(0, 0), repaint=False, init=False)
