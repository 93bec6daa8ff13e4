"""The lines around the panes: header, main tabs, footer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from rich.segment import Segment
from textual import events
from textual.message import Message
from textual.reactive import reactive
from textual.strip import Strip

from inspector.text import count
from inspector.tui.keymap import KeyHint
from inspector.tui.themes import ThemeStyles, palette, signs_now
from inspector.tui.widgets import paint
from inspector.tui.widgets.key_line import KeyLine
from inspector.tui.widgets.line_widget import LineWidget

_LATENCY_CELLS = 6
"""Cells of `309 ms` and `60.1 s`."""


class LinePart(NamedTuple):
    """One part of a line, in its forms from the longest to the shortest (`""` drops it).

    `ranks` has one number for each step to the next form; in a line that is too long, steps are made in their order.
    """

    forms: Sequence[paint.Pieces]
    ranks: Sequence[int] = ()
    right: bool = False
    gap: int = 3


class HeaderLine(LineWidget):
    """The first line: `parts` at the left and right, shortened in the order of their ranks. See `session_parts`."""

    ALLOW_SELECT = False
    DEFAULT_CSS = """
    HeaderLine { height: 1; width: 1fr; }
    """

    parts: reactive[Sequence[LinePart]] = reactive((), init=False)

    def __init__(self, parts: Sequence[LinePart] = (), *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self.set_reactive(HeaderLine.parts, tuple(parts))

    def render_line(self, y: int) -> Strip:
        look = palette()
        room = self.size.width - 2
        form = [0] * len(self.parts)
        steps = sorted(
            (rank, at, step) for at, part in enumerate(self.parts) for step, rank in enumerate(part.ranks, 1)
        )
        left, right = self._lines(form, room, look)
        for _, at, step in steps:
            if paint.width(left) + paint.width(right) + (2 if right else 0) <= room:
                break
            form[at] = step
            left, right = self._lines(form, room, look)
        for _, at, step in reversed(steps):
            # A part that was dropped before a longer one may fit again.
            if form[at] == step:
                form[at] = step - 1
                longer = self._lines(form, room, look)
                if sum(map(paint.width, longer)) + (2 if longer[1] else 0) <= room:
                    left, right = longer
                else:
                    form[at] = step
        side = Segment(" ")
        return paint.strip([side, *paint.spread(left, right, room), side], room + 2, "panel", look=look)

    def _lines(self, form: Sequence[int], room: int, look: ThemeStyles) -> tuple[list[Segment], list[Segment]]:
        sides: tuple[list[Segment], list[Segment]] = ([], [])
        for part, chosen in zip(self.parts, form, strict=True):
            shown = paint.segments(part.forms[chosen], "normal", room=max(room, 1), look=look)
            if shown:
                side = sides[part.right]
                if side:
                    side.append(Segment(" " * part.gap))
                side += shown
        return sides


def session_parts(
    name: str,
    target: str,
    *,
    short_target: str = "",
    transport: str = "",
    revision: str = "",
    era: str = "",
    how: str = "",
    state: paint.Piece = "",
    settled: bool = True,
    recorded: int | None = None,
    latency: str = "",
) -> list[LinePart]:
    """Return the parts of a live session's header.

    `how` says how revision and era were determined; it is dropped first. `state` is a piece such as `("connected",
    "received")`. A `settled` state keeps only its dot on a narrow screen; another one (failed, reconnecting) is dropped
    last. `recorded` is the number of frames on disk.
    """
    signs = signs_now()
    word, role = state if isinstance(state, tuple) else (state, "received")
    sign: paint.Piece = (signs.live if settled else signs.failed, role)
    long_revision: list[paint.Piece] = [revision, (f" {era}", "muted")] if era else [revision]
    told_revision: list[paint.Piece] = [*long_revision, (f"  {how}", "faint")] if how else long_revision
    parts = [
        LinePart([[(name, "bright bold")]]),
        LinePart([[(target, "muted")], [(short_target, "muted")], ""], (1, 3), gap=2),
        LinePart([transport, ""], (8,), right=True),
        LinePart([told_revision, long_revision, revision, ""], (0, 2, 9), right=True, gap=2),
    ]
    if word:
        words: paint.Pieces = [sign, " ", (word, "normal" if settled else role)]
        parts.append(LinePart([words, [sign]], (5,), right=True) if settled else LinePart([words], right=True))
    if recorded is not None:
        number = count(recorded)
        live: paint.Piece = (signs.live, "live")
        parts.append(LinePart([[live, f" rec {number}"], [live, f" {number}"], [live]], (6, 7), right=True))
    if latency:
        # Always as wide, so that what is beside it stays where it is.
        parts.append(LinePart([[(latency.rjust(_LATENCY_CELLS), "muted")], ""], (4,), right=True))
    return parts


class MainTab(NamedTuple):
    """A tab of the main screen; `tone` is a role for its label if it needs attention (`ask`)."""

    id: str
    key: str
    label: str
    short: str
    number: str = ""
    tone: str = ""


class TabLine(LineWidget):
    """The second line: `1 Tools 17  2 Resources 7 …` at the left, a note and hints at the right.

    A click on a tab posts `Chosen`, one on a hint presses its key. On a narrow screen the note and the hints are
    dropped first, then labels are shortened, then numbers are dropped, the last ones first, then the gaps narrow, then
    labels are dropped. The active tab keeps its label, and a tab that needs attention its number.
    """

    ALLOW_SELECT = False
    DEFAULT_CSS = """
    TabLine { height: 1; width: 1fr; }
    """

    tabs: reactive[Sequence[MainTab]] = reactive((), init=False)
    active: reactive[str] = reactive("", init=False)
    note: reactive[paint.Pieces] = reactive("", init=False)
    hints: reactive[Sequence[KeyHint]] = reactive((), init=False)

    class Chosen(Message):
        """The user clicked a tab."""

        def __init__(self, tab_line: TabLine, tab: str) -> None:
            super().__init__()
            self.tab_line = tab_line
            self.tab = tab

    def __init__(
        self,
        tabs: Sequence[MainTab] = (),
        *,
        hints: Sequence[KeyHint] = (),
        id: str | None = None,
        classes: str | None = None,
    ) -> None:
        super().__init__(id=id, classes=classes)
        self.set_reactive(TabLine.tabs, tuple(tabs))
        self.set_reactive(TabLine.active, tabs[0].id if tabs else "")
        self.set_reactive(TabLine.hints, tuple(hints))
        self._spans: list[tuple[int, int, MainTab | KeyHint]] = []

    def render_line(self, y: int) -> Strip:
        look = palette()
        room = self.size.width - 2
        shown, gap = list(self.tabs), 2
        tabs = self._tabs(shown, gap, look)
        if paint.width(tabs) > room:
            shown = [tab._replace(label=tab.short) for tab in shown]
            tabs = self._tabs(shown, gap, look)
        others = [at for at, tab in enumerate(shown) if tab.id != self.active]
        for at in [*reversed(others), *(at for at in range(len(shown)) if at not in others)]:
            if paint.width(tabs) <= room:
                break
            if shown[at].number and not shown[at].tone:
                shown[at] = shown[at]._replace(number="")
                tabs = self._tabs(shown, gap, look)
        if paint.width(tabs) > room:
            gap = 1
            tabs = self._tabs(shown, gap, look)
        for at in sorted(others, key=lambda at: bool(shown[at].number)):
            if paint.width(tabs) <= room:
                break
            shown[at] = shown[at]._replace(label="", number="")
            tabs = self._tabs(shown, gap, look)
        side = Segment(" ")
        right = self._right(room - paint.width(tabs) - 2, look)
        return paint.strip([side, *paint.spread(tabs, right, room), side], room + 2, look=look)

    def _tabs(self, tabs: Sequence[MainTab], gap: int, look: ThemeStyles) -> list[Segment]:
        """Draw tabs with `gap` cells between them."""
        line: list[Segment] = []
        self._spans = []
        used = 0
        for tab in tabs:
            active = tab.id == self.active
            role = "accent bold" if active else tab.tone or "muted"
            pieces: list[paint.Piece] = [(tab.key, tab.tone if tab.tone and not tab.label else "faint")]
            if tab.label:
                pieces += [" ", (tab.label, role)]
                if tab.number:
                    pieces += [" ", (tab.number, "bright" if active else tab.tone or "faint")]
            shown = paint.segments(pieces, look=look)
            if line:
                line.append(Segment(" " * gap))
                used += gap
            line += shown
            width = paint.width(shown)
            self._spans.append((used, used + width, tab))
            used += width
        return line

    def _right(self, room: int, look: ThemeStyles) -> list[Segment]:
        """Draw the note and as many hints as fit; the first ones are dropped first."""
        parts: list[tuple[list[Segment], KeyHint | None]] = []
        if self.note:
            parts.append((paint.segments(self.note, "muted", look=look), None))
        for hint in self.hints:
            words = f"{hint.label} {hint.title}"
            parts += [(paint.segments([(words, "muted")], look=look), hint)]
        while parts and sum(paint.width(part) for part, _ in parts) + 3 * (len(parts) - 1) > room:
            del parts[0]
        line: list[Segment] = []
        places: list[tuple[int, int, KeyHint]] = []
        used = 0
        for part, hint_of in parts:
            if line:
                line.append(Segment("   "))
                used += 3
            line += part
            width = paint.width(part)
            if hint_of is not None:
                places.append((used, used + width, hint_of))
            used += width
        begin = self.size.width - 2 - used
        self._spans += [(begin + start, begin + end, hint) for start, end, hint in places]
        return line

    def on_click(self, event: events.Click) -> None:
        event.stop()
        for start, end, what in self._spans:
            if start <= event.x - 1 < end:
                if isinstance(what, MainTab):
                    self.post_message(self.Chosen(self, what.id))
                else:
                    self.app.simulate_key(what.key)
                return


class Footer(KeyLine):
    """The last line: the keys of the focused pane, and a note if it fits. A click presses the key.

    It is empty while `muted`: a dialog is in front, which shows its own keys.
    """

    def __init__(
        self,
        hints: Sequence[KeyHint] = (),
        note: paint.Pieces = "",
        *,
        id: str | None = None,
        classes: str | None = None,
    ) -> None:
        super().__init__(hints, note, ground="panel", title_role="muted", note_last=False, id=id, classes=classes)

    def render_line(self, y: int) -> Strip:
        return paint.blank(self.size.width, "panel") if self.muted else super().render_line(y)

    def on_key_line_pressed(self, event: KeyLine.Pressed) -> None:
        event.stop()
        self.app.simulate_key(event.hint.key)
