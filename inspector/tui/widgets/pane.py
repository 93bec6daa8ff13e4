"""A pane: rounded edge, title at the left, facts at the right, tabs and keys inside."""

from __future__ import annotations

from collections.abc import Sequence

from rich.segment import Segment
from textual.app import ComposeResult
from textual.containers import Container
from textual.geometry import Region
from textual.reactive import reactive
from textual.strip import Strip
from textual.widget import Widget

from inspector.tui.keymap import KeyHint
from inspector.tui.themes import ThemeStyles, ascii_only, palette
from inspector.tui.widgets import paint
from inspector.tui.widgets.key_line import KeyLine
from inspector.tui.widgets.search import SearchLine, SearchRequested
from inspector.tui.widgets.tab_row import TabLabel, TabRow

MIN_TITLE = 16
"""Cells that a title keeps at least while facts are still dropped."""

MAX_KEPT = 44
"""Cells of a long name that facts give way to."""

MIN_FACT = 8
"""Cells below which a fact is dropped instead of cut."""

_ROUND = "╭─╮│╰╯"
_ASCII = "+-+|++"


class Pane(Container):
    """A bordered pane around its children.

    All attributes may be set at any time and redraw only what they change: `title` (the thing's name), `facts` (each a
    piece or pieces; on a narrow screen the last ones are dropped first), `keys` (hints at the bottom inside), `note`
    (at the right of the keys), `tabs`, `tab_note`, and `tone`: `""`, `"ask"` or `"error"`, the colour of the edge. The
    edge is in the accent colour, and its keys are bright, only while the focus is inside. A click on a hint focuses the
    pane and presses its key.
    """

    DEFAULT_CSS = """
    Pane { padding: 1; }
    Pane > TabRow { dock: top; }
    Pane > KeyLine { dock: bottom; }
    """

    keeps_title: bool = False
    """Whether facts are dropped before the title is cut."""
    name_cells: int = 0
    """The cells of the name at the start of the title, which facts give way to; what follows it gives way to them."""
    firm_facts: int = 1
    """The facts at the beginning that the name gives way to, as they change what is read or sent."""

    title: reactive[paint.Pieces] = reactive("", repaint=False, init=False)
    facts: reactive[Sequence[paint.Pieces]] = reactive((), repaint=False, init=False)
    tone: reactive[str] = reactive("", repaint=False, init=False)
    keys: reactive[Sequence[KeyHint]] = reactive((), repaint=False, init=False)
    note: reactive[paint.Pieces] = reactive("", repaint=False, init=False)
    tabs: reactive[Sequence[TabLabel]] = reactive((), repaint=False, init=False)
    tab_note: reactive[paint.Pieces] = reactive("", repaint=False, init=False)

    def __init__(
        self,
        *children: Widget,
        title: paint.Pieces = "",
        facts: Sequence[paint.Pieces] = (),
        keys: Sequence[KeyHint] = (),
        tabs: Sequence[TabLabel] = (),
        id: str | None = None,
        classes: str | None = None,
    ) -> None:
        super().__init__(*children, id=id, classes=classes)
        self.tab_row = TabRow(tabs)
        self.key_line = KeyLine(keys)
        self.tab_row.display = bool(tabs)
        self.key_line.display = bool(keys)
        self.key_line.muted = True
        self.set_reactive(Pane.title, title)
        self.set_reactive(Pane.facts, tuple(facts))
        self.set_reactive(Pane.keys, tuple(keys))
        self.set_reactive(Pane.tabs, tuple(tabs))
        self._within = False
        self._search: SearchLine | None = None

    def compose(self) -> ComposeResult:
        yield self.tab_row
        yield self.key_line

    def watch_title(self) -> None:
        self._redraw_top()

    def watch_facts(self) -> None:
        self._redraw_top()

    def watch_tone(self) -> None:
        self._redraw_edge()

    def watch_keys(self, keys: Sequence[KeyHint]) -> None:
        self.key_line.hints = tuple(keys)
        self.key_line.display = bool(keys or self.note)

    def watch_note(self, note: paint.Pieces) -> None:
        self.key_line.note = note
        self.key_line.display = bool(self.keys or note)

    def watch_tabs(self, tabs: Sequence[TabLabel]) -> None:
        self.tab_row.tabs = tuple(tabs)
        self.tab_row.display = bool(tabs)

    def watch_tab_note(self, note: paint.Pieces) -> None:
        self.tab_row.note = note

    @property
    def tab(self) -> str:
        """The id of the active tab."""
        return self.tab_row.active

    # Focus

    def on_descendant_focus(self) -> None:
        self._look_for_focus()

    on_descendant_blur = on_focus = on_blur = on_descendant_focus

    def _look_for_focus(self) -> None:
        # Drawn here and not by `:focus-within`, which would restyle every descendant at each focus change.
        within = self.has_focus_within
        if within != self._within:
            self._within = within
            self.key_line.muted = not within
            self._redraw_edge()

    def focus_inside(self) -> bool:
        """Focus the first focusable widget inside, unless one inside has the focus; False without any."""
        if self.has_focus_within:
            return True
        for widget in self.query("*"):
            if widget.focusable and widget.display:
                self.screen.set_focus(widget)
                return True
        return False

    def on_key_line_pressed(self, event: KeyLine.Pressed) -> None:
        event.stop()
        self.focus_inside()
        # Sent by the app: a key event that we sent would not bubble beyond us.
        self.app.call_later(self.app.simulate_key, event.hint.key)

    def on_search_requested(self, event: SearchRequested) -> None:
        event.stop()
        if self._search is None:
            self._search = SearchLine()
            self.mount(self._search)
        # Instead of the keys, which would have another meaning while text is typed.
        self._search.open(event.view)

    # The edge

    def _redraw_top(self) -> None:
        self._redraw(Region(0, 0, self.outer_size.width, 1))

    def _redraw_edge(self) -> None:
        width, height = self.outer_size
        self._redraw(
            Region(0, 0, width, 1),
            Region(0, height - 1, width, 1),
            Region(0, 0, 1, height),
            Region(width - 1, 0, 1, height),
        )

    def _redraw(self, *regions: Region) -> None:
        # `refresh` counts from the content, and the edge is around it.
        left, top = self.content_offset
        self.refresh(*(region.translate((-left, -top)) for region in regions))

    def render_lines(self, crop: Region) -> list[Strip]:
        theme = palette()
        width, height = self.outer_size
        role = self.tone or ("accent" if self._within else "edge")
        box = _ASCII if ascii_only() else _ROUND
        if width < 2:
            return [paint.blank(crop.width, theme=theme)] * crop.height
        side = Segment(box[3], theme.style(role))
        middle = paint.strip([side, Segment(" " * (width - 2)), side], width, theme=theme)
        strips = []
        for y in range(crop.y, crop.bottom):
            if y == 0:
                strips.append(self._top(theme, width, role, box))
            elif y == height - 1:
                bottom = f"{box[4]}{box[1] * (width - 2)}{box[5]}"
                strips.append(paint.strip([Segment(bottom, theme.style(role))], width, theme=theme))
            else:
                strips.append(middle)
        background = self.background_colors[1]
        for line_filter in self.get_line_filters():
            strips = [strip.apply_filter(line_filter, background) for strip in strips]
        return [strip.crop(crop.x, crop.right) for strip in strips]

    def _top(self, theme: ThemeStyles, width: int, role: str, box: str) -> Strip:
        line = theme.style(role)
        title_role = "bright bold" if self._within else "bright"
        title = paint.segments(self.title, title_role, room=width, theme=theme)
        # A corner, a dash and a space before a text, the same after it, and at least one dash between title and facts.
        room = width - 6 if title else width - 3
        facts = self._facts_that_fit(theme, room, paint.width(title))
        taken = paint.width(facts)
        title = paint.cut(title, room - (taken + 3 if facts else 0))
        used = paint.width(title)
        dashes = width - 2 - (used + 3 if title else 0) - (taken + 3 if facts else 0)
        parts = [Segment(box[0], line)]
        if title:
            parts += [Segment(f"{box[1]} ", line), *title, Segment(" ", line)]
        parts.append(Segment(box[1] * max(dashes, 0), line))
        if facts:
            parts += [Segment(" ", line), *facts, Segment(f" {box[1]}", line)]
        parts.append(Segment(box[2], line))
        return paint.strip(parts, width, theme=theme)

    def _facts_that_fit(self, theme: ThemeStyles, room: int, title: int) -> list[Segment]:
        """Return as many facts as fit beside the title; only the first may be cut."""
        least = title if self.keeps_title else min(title, MIN_TITLE)
        name = max(least, min(title, self.name_cells, MAX_KEPT))
        left = room - least - 3
        parts: list[Segment] = []
        for at, fact in enumerate(self.facts):
            gap = [Segment("  ", theme.style("muted"))] if parts else []
            more = [*parts, *gap, *paint.segments(fact, "muted", room=max(room, 1), theme=theme)]
            if paint.width(more) > (left if at < self.firm_facts else room - name - 3):
                break
            parts = more
        if not parts and self.facts and left >= MIN_FACT:
            parts = paint.cut(paint.segments(self.facts[0], "muted", room=room, theme=theme), left)
        return parts


class CompactPane(Pane):
    """A pane with `state_facts`, before them `state_note`, and `state_keys`, which it hides if it is `compact`."""

    compact = False
    state_facts: Sequence[paint.Pieces] = ()
    state_keys: Sequence[KeyHint] = ()
    state_note: paint.Pieces = ""

    def set_compact(self, compact: bool) -> None:
        """Hide the line of keys, or show it again."""
        if compact != self.compact:
            self.compact = compact
            self.draw_state()

    def show_state(
        self, facts: Sequence[paint.Pieces], keys: Sequence[KeyHint] = (), *, note: paint.Pieces = ""
    ) -> None:
        """Show other facts, keys and another note."""
        self.state_facts, self.state_keys, self.state_note = facts, keys, note
        self.draw_state()

    def show_facts(self, facts: Sequence[paint.Pieces]) -> None:
        """Show other facts."""
        self.state_facts = facts
        self.draw_state()

    def draw_state(self) -> None:
        """Show note, facts and keys as far as they fit."""
        self.facts = [*([self.state_note] if self.state_note else []), *self.state_facts]
        self.keys = [] if self.compact else self.state_keys

    def say(self, note: paint.Pieces) -> None:
        """Show another note."""
        if note != self.state_note:
            self.state_note = note
            self.draw_state()
