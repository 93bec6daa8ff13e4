"""The list widget for any length: it draws only the visible rows."""

from __future__ import annotations

import asyncio
from collections.abc import Hashable, Iterable
from time import monotonic
from typing import ClassVar

from rich.segment import Segment
from textual import events
from textual.binding import BindingType
from textual.cache import LRUCache
from textual.geometry import Region, Size
from textual.message import Message
from textual.reactive import reactive
from textual.scroll_view import ScrollView
from textual.strip import Strip

from inspector.tui.key_order import FORM
from inspector.tui.keymap import bindings
from inspector.tui.themes import ThemeStyles, palette
from inspector.tui.widgets import paint
from inspector.tui.widgets.row_source import DrawnRow, ListRows, RowSource, TextRows, strips
from inspector.tui.widgets.wrapping import wrap

__all__ = ["DrawnRow", "ListRows", "RowSource", "TextRows", "VirtualList"]

CACHED_ROWS = 400
OPENED = 0.3
"""Seconds in which a row that was chosen gives the focus to what it opens."""
EARLY_ENTER = 2.0
"""Seconds for which enter on an empty list counts for its first row."""
_LOOK_AGAIN = 0.005


class RowCache(LRUCache[tuple[int, bool, bool], list[Strip]]):
    """The last drawn rows, by index, selection and focus, for one palette and width."""

    __slots__ = ("_drawn_for",)

    def __init__(self) -> None:
        super().__init__(CACHED_ROWS)
        self._drawn_for: tuple[ThemeStyles, int] | None = None

    def draw_for(self, theme: ThemeStyles, cells: int) -> None:
        """Forget the rows that were drawn for another palette or width."""
        if self._drawn_for != (theme, cells):
            self.clear()
            self._drawn_for = (theme, cells)

    def forget(self, first: int) -> None:
        """Forget the rows from `first` on."""
        if first <= 0:
            self.clear()
        else:
            for key in [key for key in self.keys() if key[0] >= first]:
                self.discard(key)

    def discard_row(self, index: int) -> None:
        """Forget one row."""
        for selected, focused in ((False, False), (True, False), (True, True)):
            self.discard((index, selected, focused))


class VirtualList(ScrollView, can_focus=True):
    """A list with a cursor over a `RowSource`.

    Set `source` for other rows, and call `source_changed(first)` when rows from `first` on are new or different. With
    `can_follow`, `follow` keeps the cursor on the last row as rows are added; it ends when the cursor or the view
    leaves the end and resumes on End. `empty` is the text without rows.
    """

    ALLOW_SELECT = False
    DEFAULT_CSS = """
    VirtualList {
        overflow-x: hidden;
        overflow-y: auto;
        scrollbar-size: 1 1;
    }
    """
    BINDINGS: ClassVar[list[BindingType]] = [*bindings("list")]

    row_height: ClassVar[int] = 1
    pad: ClassVar[int] = 1
    shows_cursor: bool = True
    """Whether the list has a cursor; without one the keys scroll the view."""
    shows_idle_cursor: bool = True
    """Whether the row with the cursor is highlighted while the focus is elsewhere."""
    takes_early_enter: bool = False
    """Whether enter on an empty list counts for the row that comes next: a list of a server comes a moment later."""
    muted: bool = False
    """Whether everything is drawn in the muted colour."""

    cursor: reactive[int] = reactive(-1, repaint=False, init=False)
    follow: reactive[bool] = reactive(False, repaint=False, init=False)
    virtual_size: reactive[Size] = reactive(Size(0, 0), repaint=False, init=False)
    """The size of all rows. Without this line Textual would lay out the whole screen for each new row; see `_fit`."""

    class RowMessage(Message):
        """A message about a row."""

        def __init__(self, list_view: VirtualList, index: int, key: Hashable) -> None:
            super().__init__()
            self.list_view = list_view
            self.index = index
            self.key = key

    class Highlighted(RowMessage):
        """The cursor is on another row; `index` is -1 if the list is now empty."""

        def can_replace(self, message: Message) -> bool:
            return isinstance(message, VirtualList.Highlighted) and message.list_view is self.list_view

    class Selected(RowMessage):
        """The user chose a row by enter or a double click."""

    class FollowChanged(Message):
        """The list follows its end now, or stopped."""

        def __init__(self, list_view: VirtualList, follow: bool) -> None:
            super().__init__()
            self.list_view = list_view
            self.follow = follow

    def __init__(
        self,
        source: RowSource | None = None,
        *,
        can_follow: bool = False,
        follow: bool = False,
        empty: str = "",
        id: str | None = None,
        classes: str | None = None,
    ) -> None:
        super().__init__(id=id, classes=classes)
        self._source: RowSource = source if source is not None else TextRows()
        self._cache = RowCache()
        self._bars_seen: tuple[Size, Size, bool, bool] | None = None
        self.can_follow = can_follow or follow
        self.empty = empty
        self.set_reactive(VirtualList.follow, follow)
        count = self.count
        self.set_reactive(VirtualList.cursor, -1 if not count else count - 1 if follow else 0)
        self._key = self.row_key(self.cursor)
        self._announced: Hashable = None

    @property
    def source(self) -> RowSource:
        return self._source

    @source.setter
    def source(self, source: RowSource) -> None:
        self._source = source
        if not hasattr(source, "key_at"):
            self.forget_row()
        self.source_changed()

    def forget_row(self) -> None:
        """Let the next rows be others: the cursor then stays at its place, and its row is posted again."""
        self._key = self._announced = None

    @property
    def count(self) -> int:
        """The number of rows."""
        return len(self._source)

    def row_key(self, index: int) -> Hashable:
        """Return the key of a row, its index if the source has no keys, or None without such a row.

        It cannot have the name of the source's method: Textual calls `key_at` of a widget when `@` is pressed.
        """
        if not 0 <= index < self.count:
            return None
        key_at = getattr(self._source, "key_at", None)
        key: Hashable = index if key_at is None else key_at(index)
        return key

    def index_of(self, key: Hashable) -> int | None:
        """Return where the row with this key is now, or None."""
        index_of = getattr(self._source, "index_of", None)
        if index_of is not None:
            index: int | None = index_of(key)
            return index
        return key if isinstance(key, int) and 0 <= key < self.count else None

    @property
    def content_width(self) -> int:
        """Cells of the widest row, if rows may be wider than the list and it scrolls sideways; else 0."""
        return 0

    def render_row(self, index: int, width: int, selected: bool, focused: bool) -> DrawnRow:
        """Draw a row; a subclass may override it instead of using the source."""
        return self._source.render(index, width, selected, focused)

    def ground_of(self, index: int, selected: bool, focused: bool) -> str:
        """Return the role of a row's background."""
        return "ground" if not selected else "selection" if focused else "selection-dim"

    def source_changed(self, first: int = 0) -> None:
        """Handle that rows from `first` on are new, gone or different. Only visible rows are drawn."""
        self._cache.forget(first)
        before, top = self.cursor, self.scroll_offset.y
        was_visible = self._is_visible(before)
        after, moved = self._find_cursor(first)
        self._fit()
        if moved and top:
            # The row under the cursor keeps its place on the screen.
            self._scroll_top(top + (after - before) * self.row_height)
        if after != before:
            self.set_reactive(VirtualList.cursor, after)
            self.cursor_moved(before, after)
        if self.follow:
            self._scroll_top(self.count * self.row_height)
        elif self.scroll_offset.y > self.max_scroll_y:
            self._scroll_top(self.max_scroll_y)
        if was_visible:
            self.scroll_to_row(after)
        if self._key is None or self.follow:
            self._key = self.row_key(after)
        if self.is_mounted:
            self._announce()
        line = max(max(first, 0) * self.row_height - self.scroll_offset.y, 0)
        if line < self.size.height:
            self.refresh(Region(0, line, self.size.width, self.size.height - line))

    def _find_cursor(self, first: int) -> tuple[int, bool]:
        """Return the cursor's place after a change from `first` on, and whether it is the same row."""
        count, before = self.count, self.cursor
        if self.follow or not count:
            return self.validate_cursor(count - 1), False
        if self._key is None:
            return self.validate_cursor(before), False
        if before >= first or self.row_key(before) != self._key:
            index = self.index_of(self._key)
            if index is not None:
                return self.validate_cursor(index), index != before and before >= 0
        return self.validate_cursor(before), False

    def rows_changed(self, rows: Iterable[int]) -> None:
        """Redraw single rows that have changed."""
        for index in rows:
            self._cache.discard_row(index)
            self._refresh_row(index)

    def redraw(self) -> None:
        """Draw every visible row again."""
        self._cache.clear()
        self.refresh()

    def mute(self, muted: bool) -> None:
        """Draw everything in the muted colour, or normally again."""
        if muted != self.muted:
            self.muted = muted
            self.redraw()

    def validate_cursor(self, cursor: int) -> int:
        count = self.count
        return min(max(cursor, 0), count - 1) if count else -1

    def watch_cursor(self, before: int, after: int) -> None:
        self._key = self.row_key(after)
        self.scroll_to_row(after)
        self.cursor_moved(before, after)

    def cursor_moved(self, before: int, after: int) -> None:
        """Called when the cursor has another place, by a key or because the rows changed."""
        if self.follow and after != self.count - 1:
            self.follow = False
        self._refresh_row(before)
        self._refresh_row(after)
        self._announce()

    def _announce(self) -> None:
        """Post the row of the cursor, if it changed since the last post."""
        key = self.row_key(self.cursor)
        if key != self._announced:
            self._announced = key
            self.post_message(self.Highlighted(self, self.cursor, key))

    def validate_follow(self, follow: bool) -> bool:
        return follow and self.can_follow

    def watch_follow(self, follow: bool) -> None:
        if follow:
            self.action_last()
        self.post_message(self.FollowChanged(self, follow))

    def move_to(self, key: Hashable) -> bool:
        """Put the cursor on the row with this key; False if there is none."""
        index = self.index_of(key)
        if index is not None:
            self.cursor = index
        return index is not None

    def await_row(self, key: Hashable) -> None:
        """Put the cursor on the row with this key, now or when the row comes, unless it was moved before."""
        if not self.move_to(key):
            self._key = key

    def scroll_to_row(self, index: int) -> None:
        """Scroll as little as necessary until a row is visible."""
        height = self.scrollable_content_region.height
        if index < 0 or height <= 0:
            return
        top, bottom = index * self.row_height, (index + 1) * self.row_height
        now = self.scroll_offset.y
        if top < now:
            self._scroll_top(top)
        elif bottom > now + height:
            self._scroll_top(bottom - height)

    def _scroll_top(self, y: int) -> None:
        # Any other combination moves the view one frame after the cursor.
        self.scroll_to(y=y, animate=False, immediate=True, force=True)

    def _is_visible(self, index: int) -> bool:
        line = index * self.row_height - self.scroll_offset.y
        return 0 <= line < self.scrollable_content_region.height

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        super().watch_scroll_y(old_value, new_value)
        if self.follow and new_value < old_value and round(new_value) < self.max_scroll_y:
            self.follow = False

    def action_up(self) -> None:
        self._move(-1)

    def action_down(self) -> None:
        self._move(1)

    def action_page_up(self) -> None:
        self._move(-self._page())

    def action_page_down(self) -> None:
        self._move(self._page())

    def action_first(self) -> None:
        self._go(0)
        self._scroll_top(0)

    def action_last(self) -> None:
        self._go(self.count - 1)
        self._scroll_top(self.count * self.row_height)
        if self.can_follow:
            self.follow = True

    def _move(self, rows: int) -> None:
        if self.shows_cursor:
            self._go(self.cursor + rows)
        else:
            self._scroll_top(self.scroll_offset.y + rows * self.row_height)

    def _go(self, row: int) -> None:
        """Put the cursor on a row, as the user wants: no other row is awaited any more."""
        self.cursor = row
        self._key = self.row_key(self.cursor)

    def action_select(self) -> None:
        if self.cursor >= 0:
            self.post_message(self.Selected(self, self.cursor, self.row_key(self.cursor)))
        elif self.takes_early_enter:
            self.run_worker(self._select_first(), group=FORM, exclusive=True, exit_on_error=False)

    async def _select_first(self) -> None:
        """Choose the first row when it comes. Further keys wait until what it opens has taken the focus."""
        until = monotonic() + EARLY_ENTER
        is_opening = False
        while self.has_focus and monotonic() < until:
            if self.cursor >= 0 and not is_opening:
                is_opening, until = True, monotonic() + OPENED
                self.action_select()
            await asyncio.sleep(_LOOK_AGAIN)

    def _page(self) -> int:
        return max(self.scrollable_content_region.height // self.row_height, 1)

    def row_at(self, y: int) -> int | None:
        """Return the row drawn at a line of the widget, or None."""
        index = (self.scroll_offset.y + y) // self.row_height
        return index if 0 <= index < self.count else None

    def on_mouse_down(self, event: events.MouseDown) -> None:
        # Now, because the rows may have moved when the button is released: the focus gives a log more lines.
        if (index := self.row_at(event.y)) is not None:
            self._go(index)

    def on_click(self, event: events.Click) -> None:
        if self.row_at(event.y) is None:
            return
        event.stop()
        if event.chain == 2:
            self.action_select()

    def on_mount(self) -> None:
        self._fit()
        self._announce()

    def on_resize(self) -> None:
        self._fit()
        if self.follow:
            self._scroll_top(self.count * self.row_height)
        elif self.shows_cursor:
            self.scroll_to_row(self.cursor)

    def _fit(self) -> None:
        size, old = Size(self.content_width, self.count * self.row_height), self.virtual_size
        if size == old:
            return
        self.virtual_size = size
        styles, room = self.styles, self.container_size
        grows = any(scalar is not None and scalar.is_auto for scalar in (styles.width, styles.height))
        bar_changes = bool(room) and (size.height > room.height) != self.show_vertical_scrollbar
        if grows or bar_changes or size.width != old.width:
            self.refresh(layout=True)
        elif self.show_vertical_scrollbar:
            self.vertical_scrollbar.window_virtual_size = size.height

    def _scroll_update(self, virtual_size: Size) -> None:
        # Private: after every layout of the screen Textual draws the scroll bar of each list again, which is a frame of
        # its own, and the frame of a key then waits for the next sixtieth of a second.
        seen = (virtual_size, self.container_size, self.show_vertical_scrollbar, self.show_horizontal_scrollbar)
        if seen != self._bars_seen:
            self._bars_seen = seen
            super()._scroll_update(virtual_size)

    def _refresh_row(self, index: int) -> None:
        line = index * self.row_height - self.scroll_offset.y
        if index >= 0 and line < self.size.height and line + self.row_height > 0:
            self.refresh(Region(0, line, self.size.width, self.row_height))

    def render_line(self, y: int) -> Strip:
        cells = self.scrollable_content_region.width
        index, part = divmod(self.scroll_offset.y + y, self.row_height)
        count = self.count
        if index >= count:
            return self._empty_line(y, cells) if not count else paint.blank(cells)
        lines = self._row(index, cells)
        return lines[part] if part < len(lines) else paint.blank(cells)

    def _row(self, index: int, cells: int) -> list[Strip]:
        theme = palette()
        self._cache.draw_for(theme, cells)
        focused = self.has_focus
        selected = self.shows_cursor and index == self.cursor and (focused or self.shows_idle_cursor)
        focused = focused and selected
        key = (index, selected, focused)
        drawn = self._cache.get(key)
        if drawn is None:
            ground = self.ground_of(index, selected, focused)
            inner = max(cells - 2 * self.pad, 1)
            lines = strips(self.render_row(index, inner, selected, focused), self.app.console)
            side = Segment(" " * self.pad)
            if self.muted:
                ink = theme.style("muted")
                lines = [Strip([Segment(part.text, ink) for part in strip]) for strip in lines]
            drawn = [paint.strip([side, *strip.crop(0, inner)], cells, ground, theme=theme) for strip in lines]
            self._cache.set(key, drawn)
        return drawn

    def _empty_line(self, y: int, cells: int) -> Strip:
        room = cells - self.pad
        rows = [line[start:end] for line in self.empty.split("\n") for start, end in wrap(line, room)]
        text = rows[y] if y < len(rows) else ""
        return paint.strip([Segment(" " * self.pad), *paint.segments(text, "muted", room=cells)], cells)
