"""The lines around the panes: header, main tabs, footer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

from rich.segment import Segment
from textual import events
from textual.message import Message
from textual.reactive import reactive
from textual.screen import Screen
from textual.strip import Strip

from inspector.tui.keymap import KeyHint
from inspector.tui.model.footer import FooterFacts, footer
from inspector.tui.model.widths import TWO_COLUMNS
from inspector.tui.pane_keys import at_focus, hints, without_letters
from inspector.tui.themes import ThemeStyles, palette
from inspector.tui.widgets import paint
from inspector.tui.widgets.editor import Editor
from inspector.tui.widgets.fields.base import FieldFrame
from inspector.tui.widgets.key_line import KeyLine
from inspector.tui.widgets.line_widget import LineWidget


class LinePart(NamedTuple):
    """One part of a line, in its forms from the longest to the shortest (`""` drops it).

    `ranks` has one number for each step to the next form; in a line that is too long, steps are made in their order.
    """

    forms: Sequence[paint.Pieces]
    ranks: Sequence[int] = ()
    right: bool = False
    gap: int = 3


class HeaderLine(LineWidget):
    """The first line: `parts` at the left and right, shortened in the order of their ranks."""

    ALLOW_SELECT = False
    DEFAULT_CSS = """
    HeaderLine { height: 1; width: 1fr; }
    """

    parts: reactive[Sequence[LinePart]] = reactive((), init=False)

    def __init__(self, parts: Sequence[LinePart] = (), *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self.set_reactive(HeaderLine.parts, tuple(parts))

    def render_line(self, y: int) -> Strip:
        theme = palette()
        room = self.size.width - 2
        form = [0] * len(self.parts)
        steps = sorted(
            (rank, at, step) for at, part in enumerate(self.parts) for step, rank in enumerate(part.ranks, 1)
        )
        left, right = self._lines(form, room, theme)
        for _, at, step in steps:
            if paint.width(left) + paint.width(right) + (2 if right else 0) <= room:
                break
            form[at] = step
            left, right = self._lines(form, room, theme)
        for _, at, step in reversed(steps):
            # A part that was dropped before a longer one may fit again.
            if form[at] == step:
                form[at] = step - 1
                longer = self._lines(form, room, theme)
                if sum(map(paint.width, longer)) + (2 if longer[1] else 0) <= room:
                    left, right = longer
                else:
                    form[at] = step
        side = Segment(" ")
        return paint.strip([side, *paint.spread(left, right, room), side], room + 2, "panel", theme=theme)

    def _lines(self, form: Sequence[int], room: int, theme: ThemeStyles) -> tuple[list[Segment], list[Segment]]:
        sides: tuple[list[Segment], list[Segment]] = ([], [])
        for part, chosen in zip(self.parts, form, strict=True):
            drawn = paint.segments(part.forms[chosen], "normal", room=max(room, 1), theme=theme)
            if drawn:
                side = sides[part.right]
                if side:
                    side.append(Segment(" " * part.gap))
                side += drawn
        return sides


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
        theme = palette()
        room = self.size.width - 2
        fitted, gap = list(self.tabs), 2
        tabs = self._tabs(fitted, gap, theme)
        if paint.width(tabs) > room:
            fitted = [tab._replace(label=tab.short) for tab in fitted]
            tabs = self._tabs(fitted, gap, theme)
        others = [at for at, tab in enumerate(fitted) if tab.id != self.active]
        for at in [*reversed(others), *(at for at in range(len(fitted)) if at not in others)]:
            if paint.width(tabs) <= room:
                break
            if fitted[at].number and not fitted[at].tone:
                fitted[at] = fitted[at]._replace(number="")
                tabs = self._tabs(fitted, gap, theme)
        if paint.width(tabs) > room:
            gap = 1
            tabs = self._tabs(fitted, gap, theme)
        for at in sorted(others, key=lambda at: bool(fitted[at].number)):
            if paint.width(tabs) <= room:
                break
            fitted[at] = fitted[at]._replace(label="", number="")
            tabs = self._tabs(fitted, gap, theme)
        side = Segment(" ")
        right = self._right(room - paint.width(tabs) - 2, theme)
        return paint.strip([side, *paint.spread(tabs, right, room), side], room + 2, theme=theme)

    def _tabs(self, tabs: Sequence[MainTab], gap: int, theme: ThemeStyles) -> list[Segment]:
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
            drawn = paint.segments(pieces, theme=theme)
            if line:
                line.append(Segment(" " * gap))
                used += gap
            line += drawn
            width = paint.width(drawn)
            self._spans.append((used, used + width, tab))
            used += width
        return line

    def _right(self, room: int, theme: ThemeStyles) -> list[Segment]:
        """Draw the note and as many hints as fit; the first ones are dropped first."""
        parts: list[tuple[list[Segment], KeyHint | None]] = []
        if self.note:
            parts.append((paint.segments(self.note, "muted", theme=theme), None))
        for hint in self.hints:
            words = f"{hint.label} {hint.title}"
            parts += [(paint.segments([(words, "muted")], theme=theme), hint)]
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


class Offered(NamedTuple):
    """The keys that a footer chooses from; see `model.footer`."""

    own: Sequence[KeyHint] = ()
    common: Mapping[str, KeyHint] = MappingProxyType({})
    facts: FooterFacts = FooterFacts()


class Footer(KeyLine):
    """The last line: the most used keys that work now, and that of the keys page. A click presses the key.

    It is empty while `muted`: a dialog is in front, which shows its own keys.
    """

    offered: reactive[Offered] = reactive(Offered(), init=False)

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(ground="panel", title_role="muted", id=id, classes=classes)

    def offer(
        self,
        own: Sequence[KeyHint],
        *common: str | tuple[str, str],
        zoomed: bool = False,
        in_panes: Sequence[KeyHint] = (),
    ) -> None:
        """Show the keys `own` of the focused part, and some of `common`, verbs of the screen, each as in `hints`."""
        screen = self.screen
        typing = is_typing(screen)
        named = without_letters if typing else hints
        narrow = screen.size.width < TWO_COLUMNS
        focused = screen.focused or screen
        own = tuple(at_focus(focused, own))
        keys = {hint.key for hint in own}
        # The key of the log stays where it shows the messages of a pane.
        everywhere = {
            hint.verb: hint
            for hint in named(screen, *common)
            if (hint.verb == "app.messages" and hint.key in keys) or at_focus(focused, [hint]) == [hint]
        }
        facts = FooterFacts(typing=typing, narrow=narrow, zoomed=zoomed, in_panes=tuple(in_panes))
        self.offered = Offered(own, everywhere, facts)
        self.pinned = next(iter(named(screen, ("app.help", "keys"))), None)

    def hints_for(self, room: int) -> Sequence[KeyHint]:
        own, common, facts = self.offered
        return footer(own, common, facts._replace(room=room))

    def render_line(self, y: int) -> Strip:
        return paint.blank(self.size.width, "panel") if self.muted else super().render_line(y)

    def on_key_line_pressed(self, event: KeyLine.Pressed) -> None:
        event.stop()
        self.app.simulate_key(event.hint.key)


def is_typing(screen: Screen[Any]) -> bool:
    """Whether letters are text, or at least no verbs: the focus is in a form or a line of text."""
    return isinstance(screen.focused, (Editor, FieldFrame))
