"""The tools in the model view, each with a bar, its estimated tokens and its share."""

from __future__ import annotations

from typing import Literal

from rich.segment import Segment

from inspector.context.cost import ServerCost, ToolCost
from inspector.text import count
from inspector.tui.matching import Typed
from inspector.tui.themes import ascii_only
from inspector.tui.widgets import paint
from inspector.tui.widgets.row_source import ListRows

SortOrder = Literal["cost", "name", "server"]
ORDERS: tuple[SortOrder, ...] = ("cost", "name", "server")
_BAR, _SHORT_BAR = 13, 8
_WIDE = 60
"""Cells from which the bar is long."""
_EIGHTHS = " ▏▎▍▌▋▊▉█"
_TOKENS, _SHARE = 8, 7
_MIN_FOR_BAR = 40
"""Cells from which there is room for a bar."""


class ToolCostRows(ListRows[ToolCost]):
    """Draws the tools of a server by cost. `sort` and `narrow` change what is shown."""

    def __init__(self) -> None:
        super().__init__(id)
        self.cost: ServerCost | None = None
        self.order: SortOrder = "cost"
        self.filter = ""
        self._most = 1

    def take(self, cost: ServerCost) -> None:
        """Show the tools of a server."""
        self.cost = cost
        self._most = max((tool.characters for tool in cost.tools), default=1) or 1
        self._arrange()

    def sort(self, order: SortOrder) -> None:
        """Show the tools in this order."""
        self.order = order
        self._arrange()

    def narrow(self, text: str) -> None:
        """Show only the tools with every word of `text` in their name or description."""
        self.filter = text
        self._arrange()

    def _arrange(self) -> None:
        if self.cost is None:
            return
        tools = list(self.cost.tools) if self.order == "server" else self.cost.sorted(self.order)
        matching = Typed(self.filter).best_first(tools, lambda tool: (tool.name, tool.description))
        kept = {id(tool) for tool in matching}
        self.rows = matching if self.order == "server" else [tool for tool in tools if id(tool) in kept]

    def find(self, name: str) -> int | None:
        """The row of the tool with this name."""
        return next((at for at, tool in enumerate(self.rows) if tool.name == name), None)

    def render(self, index: int, width: int, selected: bool, focused: bool) -> list[Segment]:
        """One row: name, bar, tokens, share."""
        tool = self.rows[index]
        assert self.cost is not None
        tokens = f"{'~' if self.cost.counter.is_estimate else ''}{count(tool.tokens)}"
        share = f"{self.cost.share(tool):.1%}"
        cells = _BAR if width >= _WIDE else _SHORT_BAR
        bar = cells + 1 if width >= _MIN_FOR_BAR else 0
        line = paint.cell([(tool.name or "(unnamed)", "bright")], max(width - bar - _TOKENS - _SHARE - 1, 8))
        line.append(Segment(" "))
        if bar:
            line += paint.cell([(_bar(tool.characters / self._most, cells), "accent")], bar)
        line += paint.cell([(tokens, "normal")], _TOKENS, right=True)
        return [*line, *paint.cell([(share, "muted")], _SHARE, right=True)]


def _bar(part: float, cells: int) -> str:
    """A bar of up to this number of cells; a small part still has an eighth."""
    eighths = max(round(part * cells * 8), 1)
    if ascii_only():
        return "#" * max(eighths // 8, 1)
    return "█" * (eighths // 8) + _EIGHTHS[eighths % 8].strip()
