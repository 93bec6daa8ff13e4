"""Which panes of the main screen are visible, and where the focus rests: by tab, width, connection and zoom.

`Arrangement` is the whole state. Its methods return the next one; `visible`, `main_pane`, `screen_classes` and
`log_classes` read it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum, auto

from inspector.tui import feature_verbs
from inspector.tui.model.tabs import TAB_BY_ID, TABS, Tab
from inspector.tui.model.widths import LIST_CELLS, THREE_COLUMNS, TWO_COLUMNS

PANES = (*dict.fromkeys(name for tab in TABS for name in (tab.main, tab.beside) if name), "failed", "log")
"""The columns of the body."""
PARTS_OF_LOG = ("messages", "detail", "timeline")

ALONE = frozenset({"check", *(tab.id for _, tab in feature_verbs.tabs() if tab.is_alone)})
"""Tabs that have the width of the log: the checks have a recording of their own, some features need the room."""


class Front(Enum):
    """The pane that one column shows. Two columns show the detail only as `DETAIL`; three, while the log is entered."""

    MAIN = auto()
    BESIDE = auto()
    MESSAGES = auto()
    DETAIL = auto()


LOG_FRONTS = (Front.MESSAGES, Front.DETAIL)


class LogPlace(Enum):
    """Where the log is. `BESIDE_FORM`: above the result, which has the whole width; `BELOW`: docked below two columns.

    `ALONE`: it is the only column, or it is zoomed.
    """

    NONE = auto()
    COLUMN = auto()
    BESIDE_FORM = auto()
    BELOW = auto()
    ALONE = auto()


class Zoom(Enum):
    """The part that has the whole screen. `LOG` is the log with its waterfall; the timeline takes its place."""

    NONE = auto()
    PANE = auto()
    LOG = auto()
    TIMELINE = auto()


class ConnectionView(Enum):
    """Whether the pane about the connection is shown.

    `MISSING`: it replaces the lists. `LOOKED_AWAY`: the user chose a tab since, to read what was there before.
    """

    FINE = auto()
    MISSING = auto()
    LOOKED_AWAY = auto()


class FocusIn(Enum):
    """The part of the screen with the focus."""

    ELSEWHERE = auto()
    BESIDE = auto()
    MESSAGES = auto()
    DETAIL = auto()


@dataclass(frozen=True, slots=True)
class Arrangement:
    """How the panes are arranged. `width` is in cells."""

    tab_id: str = "tools"
    width: int = 0
    front: Front = Front.MAIN
    zoom: Zoom = Zoom.NONE
    log_hidden: bool = False
    connection: ConnectionView = ConnectionView.FINE
    before_log: Front = Front.MAIN
    """The column that had the focus before the log: the key of the log leads back there."""
    in_log: bool = False
    """The user works in the log: it has more lines, and the detail is beside it."""
    form_shown: bool = True
    """There is a form beside which the log can be; a first question has the place of the form too."""

    @property
    def tab(self) -> Tab:
        """The tab in front."""
        return TAB_BY_ID[self.tab_id]

    @property
    def narrow(self) -> bool:
        """There is one column."""
        return self.width < TWO_COLUMNS

    @property
    def medium(self) -> bool:
        """There are two columns above the log."""
        return TWO_COLUMNS <= self.width < THREE_COLUMNS

    @property
    def log_zoomed(self) -> bool:
        """The log, or the timeline in its place, has the whole screen."""
        return self.zoom in (Zoom.LOG, Zoom.TIMELINE)

    @property
    def is_zoomed(self) -> bool:
        """One pane has the whole screen, or the log has."""
        return self.zoom is not Zoom.NONE

    @property
    def blocked(self) -> bool:
        """The connection is missing, or it takes long."""
        return self.connection is not ConnectionView.FINE

    @property
    def shows_failure(self) -> bool:
        """The pane about the connection replaces the tab; never the checks, which connect on their own."""
        if self.tab_id == "check":
            return False
        return self.connection is ConnectionView.MISSING or (self.blocked and self.tab_id == "server")

    # Changes

    def with_tab(self, tab_id: str, *, has_lists: bool) -> Arrangement:
        """Show a tab. Without a connection, one that has lists shows them, and Server shows why it is missing."""
        connection = self.connection
        if self.blocked:
            connection = ConnectionView.LOOKED_AWAY if has_lists else ConnectionView.MISSING
        arrangement = replace(self, tab_id=tab_id, zoom=Zoom.NONE, connection=connection)
        return arrangement.with_front(Front.MAIN)

    def with_front(self, front: Front) -> Arrangement:
        """Show a pane in one column. It ends the zoom of a pane, but not that of the log."""
        return replace(self._without_pane_zoom(), front=front, in_log=front in LOG_FRONTS)

    def with_focus(self, focus: FocusIn) -> Arrangement:
        """Give the log its lines while the user works in it; the other panes have them back afterwards."""
        if focus in (FocusIn.MESSAGES, FocusIn.DETAIL):
            return replace(self, in_log=True)
        before = Front.BESIDE if focus is FocusIn.BESIDE else Front.MAIN
        return replace(self, in_log=False, before_log=before)

    def with_log(self, front: Front) -> Arrangement:
        """Show the log, hidden or not."""
        return replace(self.with_front(front), log_hidden=False)

    def with_log_toggled(self) -> Arrangement:
        """Hide the log, or show it again."""
        return replace(self, zoom=Zoom.NONE, log_hidden=not self.log_hidden)

    def with_log_zoomed(self, zoomed: bool) -> Arrangement:
        """Give the log the whole screen, or end that."""
        front = Front.MESSAGES if self.narrow else self.front
        return replace(self, zoom=Zoom.LOG if zoomed else Zoom.NONE, front=front, log_hidden=False)

    def with_timeline(self, is_shown: bool) -> Arrangement:
        """Show the timeline instead of the rows of the zoomed log, or the rows again."""
        return replace(self, zoom=Zoom.TIMELINE if is_shown else Zoom.LOG, front=Front.MESSAGES)

    def with_pane_zoomed(self, zoomed: bool) -> Arrangement:
        """Give the focused pane the whole screen, or end that."""
        return replace(self, zoom=Zoom.PANE) if zoomed else self._without_pane_zoom()

    def without_log_zoom(self) -> Arrangement:
        """End the zoom of the log."""
        return replace(self, zoom=Zoom.NONE) if self.log_zoomed else self

    def with_connection(self, *, missing: bool) -> Arrangement:
        """Let the pane about the connection replace the lists, or show them again.

        In one column the list comes back, and not the form: a key for the pane before it must not become text.
        """
        if not missing:
            front = Front.MAIN if self.shows_failure and self.front is Front.BESIDE else self.front
            return replace(self, connection=ConnectionView.FINE, front=front)
        return self if self.blocked else replace(self, connection=ConnectionView.MISSING)

    def with_width(self, width: int, focus: FocusIn) -> Arrangement:
        """Follow the size of the screen: the only column is the one with the focus."""
        after = replace(self, width=width)
        if after.narrow and not (self.narrow and self.width):
            return replace(after, front=_FRONT_OF[focus])
        return replace(after, front=Front.DETAIL) if focus is FocusIn.DETAIL else after

    def _without_pane_zoom(self) -> Arrangement:
        return replace(self, zoom=Zoom.NONE) if self.zoom is Zoom.PANE else self

    # What it means

    def visible(self) -> frozenset[str]:
        """Return the names of the columns that are shown, and of the parts of the log in it.

        The zoom of a pane hides the others in addition, within the columns too.
        """
        tab, front = self.tab, self.front
        if self.log_zoomed:
            return frozenset({"log", *self._parts_of_log()})
        in_main, in_beside = not self.narrow or front is Front.MAIN, not self.narrow or front is Front.BESIDE
        names = set()
        if self.shows_failure:
            names |= {"failed"} if in_main or in_beside else set()
        else:
            names |= {tab.main} if in_main or (not tab.beside and in_beside) else set()
            names |= {tab.beside} if tab.beside and in_beside else set()
        if self.log_place is not LogPlace.NONE:
            names |= {"log", *self._parts_of_log()}
        return frozenset(names)

    @property
    def log_place(self) -> LogPlace:
        """Where the log is shown, if it is."""
        front_in_log = self.front in LOG_FRONTS
        if self.log_zoomed or (self.narrow and front_in_log):
            return LogPlace.ALONE
        if self.narrow or self.log_hidden or (self.tab_id in ALONE and not front_in_log):
            return LogPlace.NONE
        if self.zoom is Zoom.PANE:
            return LogPlace.ALONE
        if self.medium:
            return LogPlace.BELOW
        beside_form = self.tab.beside == "work" and self.form_shown and not (self.in_log or self.shows_failure)
        return LogPlace.BESIDE_FORM if beside_form else LogPlace.COLUMN

    @property
    def log_cells(self) -> int:
        """The cells of a log beside the form."""
        return self.width * 38 // 100

    @property
    def form_cells(self) -> int:
        """The cells of a form with the log beside it; 0 where it has the width of the result."""
        return self.width - LIST_CELLS - self.log_cells if self.log_place is LogPlace.BESIDE_FORM else 0

    def _parts_of_log(self) -> set[str]:
        in_detail = self.front is Front.DETAIL
        if self.zoom is Zoom.TIMELINE:
            return ({"detail"} if in_detail else set()) | ({"timeline"} if not (self.narrow and in_detail) else set())
        if self.narrow:
            return {"detail"} if in_detail else {"messages"}
        entered = self.in_log and (in_detail or not self.medium)
        beside = entered or self.zoom in (Zoom.LOG, Zoom.PANE)
        return {"messages", *(["detail"] if beside else [])}

    def screen_classes(self) -> dict[str, bool]:
        """Return the style classes of the screen, by which the columns get their widths."""
        return {"-narrow": self.narrow, "-medium": self.medium, "-zoomed": self.zoom is Zoom.PANE}

    def log_classes(self) -> dict[str, bool]:
        """Return the style classes of the log, by which it and its parts get their sizes."""
        return {
            "-detail": self.front is Front.DETAIL and not self.log_zoomed,
            "-maximised": self.log_zoomed,
            "-beside-form": self.log_place is LogPlace.BESIDE_FORM,
            "-in-log": self.in_log,
        }

    @property
    def main_pane(self) -> str:
        """The pane with the keys of the tab."""
        return "failed" if self.shows_failure else self.tab.main

    @property
    def resting_pane(self) -> str:
        """The pane to focus when the focused one was hidden."""
        front = self.front if self.narrow else Front.MAIN
        if front is Front.DETAIL:
            return "detail"
        if front is Front.MESSAGES or self.log_zoomed:
            return self.pane_of_messages
        return (
            self.tab.beside if front is Front.BESIDE and self.tab.beside and not self.shows_failure else self.main_pane
        )

    @property
    def pane_of_messages(self) -> str:
        """The pane with the messages: the rows, or the timeline in their place."""
        return "timeline" if self.zoom is Zoom.TIMELINE else "messages"

    def back(self, focus: FocusIn, *, live: bool) -> Front | None:
        """Return where the key for back leads: to the log, or to the pane before it; None for nowhere."""
        in_rows = focus is FocusIn.MESSAGES and not self.log_zoomed
        if focus is FocusIn.DETAIL or (in_rows and self.medium and self.front is Front.DETAIL):
            return Front.MESSAGES
        if in_rows:
            return self.before_log
        # Nothing in the form of a recording can have the focus.
        return Front.MAIN if self.narrow and self.front is Front.BESIDE and not live else None


_FRONT_OF = {
    FocusIn.ELSEWHERE: Front.MAIN,
    FocusIn.BESIDE: Front.BESIDE,
    FocusIn.MESSAGES: Front.MESSAGES,
    FocusIn.DETAIL: Front.DETAIL,
}
