"""A view of lines in sections: it wraps or scrolls sideways, folds, searches and copies."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from time import monotonic
from typing import ClassVar

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from textual.binding import BindingType
from textual.reactive import reactive
from textual.strip import Strip
from textual.worker import Worker, WorkerState, WorkType

from inspector.tui.keymap import bindings
from inspector.tui.themes import palette, signs_now
from inspector.tui.widgets import paint
from inspector.tui.widgets.clipboard import copy
from inspector.tui.widgets.line_layout import JoinedSections, LineLayout, LineRows, Notes, StyledLines
from inspector.tui.widgets.search import SearchRequested, pattern_of
from inspector.tui.widgets.sections import Section
from inspector.tui.widgets.virtual_list import DrawnRow, VirtualList

MEASURED_AT_ONCE = 300
"""Lines whose rows are counted before a wrapped view is first drawn."""

SLICE = 0.004
"""Seconds of measuring before the interface gets its turn."""

SIDEWAYS = 16
"""Cells that a key scrolls sideways."""


class LinesView(VirtualList):
    """Shows `sections` one below the other; `set_sections` sets others. `wrap` breaks long lines at the width."""

    BINDINGS: ClassVar[list[BindingType]] = [*bindings("text")]
    shows_idle_cursor = False

    wrap: reactive[bool] = reactive(True, repaint=False, init=False)

    def __init__(
        self,
        sections: Sequence[Section] = (),
        *,
        wrap: bool = True,
        empty: str = "",
        id: str | None = None,
        classes: str | None = None,
    ) -> None:
        self.marked: frozenset[int] = frozenset()
        self._lines = JoinedSections()
        self._styled = StyledLines(self._lines)
        self._layout = LineLayout(self._lines, LineRows(), width=1, wraps=wrap, notes={})
        self._left = 0
        super().__init__(empty=empty, id=id, classes=classes)
        self.set_reactive(LinesView.wrap, wrap)
        if sections:
            self.set_sections(sections)

    @property
    def sections(self) -> Sequence[Section]:
        """The sections, from the top."""
        return self._lines.sections

    @property
    def rows(self) -> LineRows:
        """The rows of the lines; folds are made there."""
        return self._layout.rows

    @property
    def is_measured(self) -> bool:
        """Whether the number of rows of every line is known."""
        return self._layout.is_complete

    def set_sections(self, sections: Sequence[Section]) -> None:
        """Show other sections, from the top."""
        self._lines = JoinedSections(sections)
        self._styled = StyledLines(self._lines)
        self._left = 0
        self.marked = frozenset()
        self.forget_row()
        self.set_reactive(VirtualList.cursor, -1)
        self._lay_out(LineRows(len(self._lines)), {})
        if self.is_mounted:
            self._scroll_top(0)

    def section_at(self, line: int) -> tuple[Section, int]:
        """Return the section of a line, and the line's number in it."""
        return self._lines.at(line)

    def section_index(self, line: int) -> int:
        """Return the index in `sections` of the section of a line."""
        return self._lines.index(line)

    @property
    def line(self) -> int:
        """The line with the cursor, or without a cursor the first visible one; -1 without lines."""
        if not self.count:
            return -1
        row = self.cursor if self.shows_cursor else min(self.scroll_offset.y, self.count - 1)
        return self.rows.locate(row)[0]

    def mark(self, lines: frozenset[int]) -> None:
        """Highlight some lines like a selected row, independent of the focus."""
        self.marked = lines
        self.redraw()

    def annotate(self, notes: Notes) -> None:
        """Add rows of notes below some lines; `set_sections` drops them."""
        if notes != self._layout.notes:
            self._lay_out(self.rows, notes)

    def show_line(self, line: int) -> None:
        """Unfold a line, and go to it."""
        self.rows.reveal(line)
        self.source_changed()
        row = self.rows.row_of(line)
        if self.shows_cursor:
            self.cursor = row
        else:
            height = self.scrollable_content_region.height
            if not self.scroll_offset.y <= row < self.scroll_offset.y + height:
                self._scroll_top(max(row - height // 3, 0))

    @property
    def count(self) -> int:
        return self.rows.count

    def row_key(self, index: int) -> Hashable:
        return self.rows.locate(index) if 0 <= index < self.count else None

    def index_of(self, key: Hashable) -> int | None:
        if not isinstance(key, tuple):
            return None
        line, part = key
        row = self.rows.row_of(line)
        same = self.rows.opener(line) == line
        return min(row + (part if same else 0), self.count - 1)

    def ground_of(self, index: int, selected: bool, focused: bool) -> str:
        if not selected and self.marked and self.rows.locate(index)[0] in self.marked:
            return "selection-dim"
        return super().ground_of(index, selected, focused)

    def source_changed(self, first: int = 0) -> None:
        if self.shows_cursor or not self.is_mounted:
            super().source_changed(first)
            return
        # The line at the top stays at the top.
        self._cache.clear()
        self._fit()
        self._scroll_top(min(self.scroll_offset.y, max(self.max_scroll_y, 0)))
        self.refresh()

    def on_resize(self) -> None:
        if self._width() != self._layout.width:
            self._lay_out(self.rows, self._layout.notes)
        super().on_resize()

    def watch_show_vertical_scrollbar(self) -> None:
        # The bar takes a column; without other breaks the last one of each line would be cut.
        LinesView.on_resize(self)  # A view that extends it may have a handler of its own, which does something else.

    def watch_wrap(self) -> None:
        self._left = 0
        self._lay_out(self.rows, self._layout.notes)

    def _width(self) -> int:
        return max(self.scrollable_content_region.width - 2 * self.pad, 1)

    def _lay_out(self, rows: LineRows, notes: Notes) -> None:
        """Count the rows of the first lines now, and the others when the app is idle."""
        top, part = rows.locate(self.scroll_offset.y) if rows.count else (0, 0)
        self._layout = LineLayout(self._lines, rows, width=self._width(), wraps=self.wrap, notes=notes)
        if not self.is_mounted:
            return
        self._layout.measure(MEASURED_AT_ONCE + top)
        self.source_changed()
        if not self.shows_cursor and self.count:
            self._scroll_top(rows.row_of(min(top, rows.lines - 1)) + part)
        if not self.is_measured:
            rest: WorkType[None] = self._measure_rest
            self.run_worker(rest, group="measure", exclusive=True, exit_on_error=False)

    async def _measure_rest(self) -> None:
        from asyncio import sleep

        step = MEASURED_AT_ONCE
        layout, rows = self._layout, self.rows
        while not layout.is_complete and self._layout is layout:
            first = layout.measured
            started = monotonic()
            layout.measure(step)
            # As many lines as fit into a slice; with folds, each update costs more.
            step = max(int(step * min(SLICE / max(monotonic() - started, 1e-5), 4)), 50)
            top = rows.locate(self.scroll_offset.y)
            self.source_changed(rows.row_of(first))
            if not self.shows_cursor and top[0] >= first:
                self._scroll_top(rows.row_of(top[0]) + top[1])
            await sleep(0.001)

    def on_worker_state_changed(self, event: Worker.StateChanged) -> None:
        if event.state is WorkerState.ERROR:
            self.set_sections(())
            self.empty = f"This cannot be drawn: {event.worker.error!r}"
            self.refresh()

    def on_mount(self) -> None:
        self._lay_out(self.rows, self._layout.notes)

    def render_row(self, index: int, width: int, selected: bool, focused: bool) -> DrawnRow:
        line, part = self.rows.locate(index)
        section, at = self.section_at(line)
        picture = section.picture(at)
        if picture is not None:
            return picture
        text, styles = self._styled.line(line)
        breaks = self._layout.breaks(line, text)
        if part >= len(breaks) and line < self._layout.measured:
            below = self._layout.below(line)
            row_text, role = below[min(part - len(breaks), len(below) - 1)] if below else ("", "")
            return paint.cut(paint.segments([(row_text, role)], room=width), width)
        if not self.wrap:
            return self._cut(text, styles, width, line)
        start, end = breaks[min(part, len(breaks) - 1)]
        indent = [Segment(" " * section.hang(at))] if part else []
        last = part >= len(breaks) - 1
        return [*indent, *_slice(text, styles, start, end), *(self._note(line) if last else [])]

    def _note(self, line: int) -> list[Segment]:
        if line not in self.rows.folded:
            return []
        section, at = self.section_at(line)
        return [Segment(section.folded_note(at), palette().style("muted"))]

    def _cut(self, text: str, styles: list[Style], width: int, line: int) -> DrawnRow:
        """Draw a line that is not wrapped, from the left edge of the view; signs mark cut ends."""
        length = cell_len(text)
        sign = Segment(signs_now().cut, palette().style("muted"))
        end = self._left + width
        # At most what could be visible: a character has a few marks at most.
        whole = [*_slice(text, styles, 0, min(len(text), 4 * end)), *self._note(line)]
        if length <= end and not self._left:
            return whole
        strip = Strip(whole)
        line_end = [sign] if length > end else []
        begin = [sign] if self._left and length > self._left else []
        middle = strip.crop(self._left + len(begin), max(end - len(line_end), self._left))
        return [*begin, *middle, *line_end]

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Leave keys without effect here to what is around the view: sideways if all lines wrap."""
        return not self.wrap if action in ("scroll_left", "scroll_right") else True

    def action_wrap(self) -> None:
        self.wrap = not self.wrap

    def action_scroll_left(self) -> None:
        self._sideways(-SIDEWAYS)

    def action_scroll_right(self) -> None:
        self._sideways(SIDEWAYS)

    def _sideways(self, by: int) -> None:
        if self.wrap:
            return
        top = self.scroll_offset.y
        rows = range(top, min(top + self.size.height, self.count))
        widest = max((cell_len(self._styled.line(self.rows.locate(row)[0])[0]) for row in rows), default=0)
        self._left = max(min(self._left + by, widest - self._width() + 1), 0)
        self.redraw()

    def action_copy(self) -> None:
        if self.line >= 0:
            section, at = self.section_at(self.line)
            copy(self, section.copy_text(at), "the value" if section.pointer(at) is not None else "the text")

    def action_search(self) -> None:
        self.post_message(SearchRequested(self))

    def search(self, words: str) -> bool:
        self._styled = StyledLines(self._lines, pattern_of(words) if words else None)
        self.redraw()
        return self._go_to_hit(max(self.line, 0), backwards=False)

    def action_next_hit(self) -> None:
        self._go_to_hit(self.line + 1, backwards=False)

    def action_previous_hit(self) -> None:
        self._go_to_hit(self.line - 1, backwards=True)

    def _go_to_hit(self, start: int, *, backwards: bool) -> bool:
        pattern, lines = self._styled.pattern, self._lines
        if pattern is None:
            return False
        line = lines.find(pattern, start, backwards=backwards)
        if line is None:
            line = lines.find(pattern, len(lines) - 1 if backwards else 0, backwards=backwards)
        if line is None:
            return False
        self.show_line(line)
        return True


def _slice(text: str, styles: list[Style], start: int, end: int) -> list[Segment]:
    """Return part of a line as segments, one per run of the same style."""
    line: list[Segment] = []
    begin = start
    for at in range(start + 1, end + 1):
        if at == end or styles[at] is not styles[begin]:
            line.append(Segment(text[begin:at], styles[begin]))
            begin = at
    return line
