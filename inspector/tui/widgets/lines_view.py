"""A view of lines in sections: it wraps or scrolls sideways, folds, searches and copies."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Hashable, Mapping, Sequence
from itertools import accumulate
from time import monotonic
from typing import ClassVar

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from textual.binding import BindingType
from textual.cache import LRUCache
from textual.reactive import reactive
from textual.strip import Strip
from textual.worker import Worker, WorkerState, WorkType

from inspector.tui.keymap import bindings
from inspector.tui.themes import Palette, palette, signs_now
from inspector.tui.widgets import paint
from inspector.tui.widgets.clipboard import copy
from inspector.tui.widgets.line_rows import LineRows
from inspector.tui.widgets.search import SearchRequested, pattern_of
from inspector.tui.widgets.sections import Below, Section
from inspector.tui.widgets.virtual_list import DrawnRow, VirtualList
from inspector.tui.widgets.wrapping import wrap

MEASURED_AT_ONCE = 300
"""Lines whose rows are counted before a wrapped view is first drawn."""

SLICE = 0.004
"""Seconds of measuring before the interface gets its turn."""

SIDEWAYS = 16
HITS_SHOWN = 200


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
        self.sections: Sequence[Section] = ()
        self.rows = LineRows()
        self._starts: list[int] = [0]
        self._drawn: LRUCache[int, tuple[str, list[Style]]] = LRUCache(300)
        self._drawn_for: Palette | None = None
        self._breaks: LRUCache[int, list[tuple[int, int]]] = LRUCache(300)
        self._measured = 0
        self._measured_for = 0
        self._left = 0
        self._pattern: re.Pattern[str] | None = None
        self.marked: frozenset[int] = frozenset()
        self._notes: Mapping[int, Sequence[Below]] = {}
        self._below: LRUCache[int, list[tuple[str, str]]] = LRUCache(300)
        super().__init__(empty=empty, id=id, classes=classes)
        self.set_reactive(LinesView.wrap, wrap)
        if sections:
            self.set_sections(sections)

    # Sections

    def set_sections(self, sections: Sequence[Section]) -> None:
        """Show other sections, from the top."""
        self.sections = list(sections)
        self._starts = list(accumulate((len(section) for section in self.sections), initial=0))
        self.rows = LineRows(self._starts[-1])
        self._drawn.clear()
        self._left = 0
        self._pattern = None
        self.marked = frozenset()
        self._notes = {}
        self._key = self._announced = None
        self.set_reactive(VirtualList.cursor, -1)
        self._measure_again()
        if self.is_mounted:
            self._scroll_top(0)

    def section_at(self, line: int) -> tuple[Section, int]:
        """Return the section of a line, and the line's number in it."""
        at = self.section_index(line)
        return self.sections[at], line - self._starts[at]

    def section_index(self, line: int) -> int:
        """Return the index in `sections` of the section of a line."""
        return bisect_right(self._starts, line) - 1

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
        self._cache.clear()
        self.refresh()

    def annotate(self, notes: Mapping[int, Sequence[Below]]) -> None:
        """Add rows of notes below some lines; `set_sections` drops them."""
        if notes != self._notes:
            self._notes = notes
            self._measure_again()

    def _below_rows(self, line: int) -> list[tuple[str, str]]:
        """Return the rows below a line, each with its role: rows of its section, and its notes."""
        found = self._below.get(line)
        if found is None:
            section, at = self.section_at(line)
            found = []
            for text, role, indent in (*section.below(at), *self._notes.get(line, ())):
                lead = " " * min(indent, max(self._measured_for - 12, 0))
                for start, end in wrap(text, max(self._measured_for - len(lead), 8)):
                    found.append((lead + text[start:end], role))
            self._below.set(line, found)
        return found

    @property
    def _has_below(self) -> bool:
        return bool(self._notes) or any(section.has_below for section in self.sections)

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

    # For the list

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

    # Measure

    def on_resize(self) -> None:
        if self._width() != self._measured_for:
            self._measure_again()
        super().on_resize()

    def watch_wrap(self) -> None:
        self._left = 0
        self._measure_again()

    def _width(self) -> int:
        return max(self.scrollable_content_region.width - 2 * self.pad, 1)

    def _measure_again(self) -> None:
        """Count the rows of the first lines now, and the others when the app is idle."""
        top = self.rows.locate(self.scroll_offset.y) if self.count else (0, 0)
        self.rows.forget_rows()
        self._breaks.clear()
        self._below.clear()
        self._measured = 0
        self._measured_for = self._width()
        if not self.is_mounted:
            return
        if self.wrap or self._has_below:
            self._measure_lines(min(self.rows.lines, MEASURED_AT_ONCE + top[0]))
        self.source_changed()
        if not self.shows_cursor and self.count:
            self._scroll_top(self.rows.row_of(min(top[0], self.rows.lines - 1)))
        if (self.wrap or self._has_below) and self._measured < self.rows.lines:
            rest: WorkType[None] = self._measure_rest
            self.run_worker(rest, group="measure", exclusive=True, exit_on_error=False)

    def _measure_lines(self, end: int) -> None:
        width = self._measured_for
        notes, has_below = self._notes, self._has_below
        for line in range(self._measured, end):
            section, at = self.section_at(line)
            if section.picture(at) is None:
                rows = 1
                if self.wrap:
                    text = section.text(at)
                    if len(text) * 2 > width:
                        rows = len(wrap(text, width, section.hang(at)))
                if has_below and (line in notes or section.has_below):
                    rows += len(self._below_rows(line))
                self.rows.set_rows(line, rows)
        self._measured = end

    async def _measure_rest(self) -> None:
        from asyncio import sleep

        step = MEASURED_AT_ONCE
        rows = self.rows
        while self._measured < rows.lines and self.rows is rows:
            first = self._measured
            started = monotonic()
            self._measure_lines(min(first + step, rows.lines))
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

    # Draw

    def on_mount(self) -> None:
        self._measure_again()

    def render_row(self, index: int, width: int, selected: bool, focused: bool) -> DrawnRow:
        line, part = self.rows.locate(index)
        section, at = self.section_at(line)
        picture = section.picture(at)
        if picture is not None:
            return picture
        text, styles = self._line(line)
        breaks = self._line_breaks(line, text, width) if self.wrap else [(0, len(text))]
        if part >= len(breaks) and line < self._measured:
            below = self._below_rows(line)
            shown, role = below[min(part - len(breaks), len(below) - 1)] if below else ("", "")
            return paint.cut(paint.segments([(shown, role)], room=width), width)
        if not self.wrap:
            return self._cut(text, styles, width, line)
        start, end = breaks[min(part, len(breaks) - 1)]
        indent = [Segment(" " * section.hang(at))] if part else []
        last = part >= len(breaks) - 1
        return [*indent, *_slice(text, styles, start, end), *(self._note(line) if last else [])]

    def _line(self, line: int) -> tuple[str, list[Style]]:
        """Return a line's text and the style of each of its characters."""
        look = palette()
        if look is not self._drawn_for:
            self._drawn.clear()
            self._drawn_for = look
        found = self._drawn.get(line)
        if found is None:
            section, at = self.section_at(line)
            text = section.text(at)
            styles = [look.style(section.role)] * len(text)
            for start, end, role in section.spans(at, text):
                styles[start:end] = [look.style(role)] * (min(end, len(text)) - start)
            hit = look.style("ask bold reverse")
            for start, end in self._hits(text):
                styles[start:end] = [hit] * (end - start)
            found = (text, styles)
            self._drawn.set(line, found)
        return found

    def _line_breaks(self, line: int, text: str, width: int) -> list[tuple[int, int]]:
        found = self._breaks.get(line)
        if found is None:
            section, at = self.section_at(line)
            # Not measured yet: one row, cut, until it is measured.
            found = wrap(text, width, section.hang(at)) if line < self._measured else [(0, len(text))]
            if line < self._measured:
                self._breaks.set(line, found)
        return found

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

    def _hits(self, text: str) -> list[tuple[int, int]]:
        if self._pattern is None:
            return []
        hits = []
        for match in self._pattern.finditer(text):
            hits.append(match.span())
            if len(hits) >= HITS_SHOWN:
                break
        return hits

    # Verbs

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
        widest = max((cell_len(self._line(self.rows.locate(row)[0])[0]) for row in rows), default=0)
        self._left = max(min(self._left + by, widest - self._width() + 1), 0)
        self._cache.clear()
        self.refresh()

    def action_copy(self) -> None:
        if self.line >= 0:
            section, at = self.section_at(self.line)
            copy(self, section.copy_text(at), "the value" if section.pointer(at) is not None else "the text")

    def action_search(self) -> None:
        self.post_message(SearchRequested(self))

    def search(self, words: str) -> bool:
        self._pattern = pattern_of(words) if words else None
        self._cache.clear()
        self._drawn.clear()
        self.refresh()
        return self._go_to_hit(max(self.line, 0), backwards=False)

    def action_next_hit(self) -> None:
        self._go_to_hit(self.line + 1, backwards=False)

    def action_previous_hit(self) -> None:
        self._go_to_hit(self.line - 1, backwards=True)

    def _go_to_hit(self, start: int, *, backwards: bool) -> bool:
        if self._pattern is None or not self.rows.lines:
            return False
        line = self._find(start, backwards)
        if line is None:
            line = self._find(self.rows.lines - 1 if backwards else 0, backwards)
        if line is None:
            return False
        self.show_line(line)
        return True

    def _find(self, start: int, backwards: bool) -> int | None:
        pattern = self._pattern
        if pattern is None or not 0 <= start < self.rows.lines:
            return None
        begin = self.section_index(start)
        order = range(begin, -1, -1) if backwards else range(begin, len(self.sections))
        for at in order:
            section = self.sections[at]
            local = start - self._starts[at] if at == begin else len(section) - 1 if backwards else 0
            found = section.find(pattern, local, backwards) if len(section) else None
            if found is not None:
                return self._starts[at] + found
        return None


def _slice(text: str, styles: list[Style], start: int, end: int) -> list[Segment]:
    """Return part of a line as segments, one per run of the same style."""
    line: list[Segment] = []
    begin = start
    for at in range(start + 1, end + 1):
        if at == end or styles[at] is not styles[begin]:
            line.append(Segment(text[begin:at], styles[begin]))
            begin = at
    return line
