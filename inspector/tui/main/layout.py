"""What of the main screen is shown where: by tab, by width (three columns, two, one), and where the focus goes."""

from __future__ import annotations

from typing import ClassVar

from textual.actions import SkipAction
from textual.binding import BindingType
from textual.css.query import NoMatches
from textual.screen import Screen
from textual.widget import Widget

from inspector.client.session_state import SessionState
from inspector.client.state.catalog import KINDS
from inspector.tui.check.pane import CheckPane
from inspector.tui.events import HintsChanged
from inspector.tui.keymap import bindings
from inspector.tui.log.detail import DetailPane
from inspector.tui.log.pane import MessagesPane
from inspector.tui.main.zoom import Zoom
from inspector.tui.widgets.edge import Edge
from inspector.tui.widgets.too_small import TooSmall
from inspector.tui.widgets.virtual_list import VirtualList
from inspector.tui.work.catalog import CatalogPane
from inspector.tui.work.pane import WorkPane
from inspector.tui.work.task import TaskPane

WIDE, MEDIUM = 140, 100
"""Cells from which on there are three columns, and two."""

_LISTS: dict[str, str] = {**dict.fromkeys(KINDS, "#catalog"), "inbox": "#inbox", "tasks": "#tasks"}
"""Which pane is the list of a tab; beside it is the work, or the task."""


class Layout(Screen[None]):
    """The arrangement of the main screen's panes, which its subclass composes: one list, work, messages over detail."""

    BINDINGS: ClassVar[list[BindingType]] = [*bindings("app")]
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (MEDIUM, "-medium"), (WIDE, "-wide")]  # noqa: RUF012 - Textual declares it so
    DEFAULT_CSS = """
    Layout { layout: vertical; layers: base above; }
    #body { layout: horizontal; height: 1fr; }
    #catalog { width: 34; height: 1fr; }
    #inbox, #tasks { width: 34; height: 1fr; }
    #work, #task { width: 1fr; height: 1fr; }
    #server, #failed, #check { width: 1fr; height: 1fr; }
    #log { width: 41%; height: 1fr; }
    #log > #messages { height: 60%; }
    #log > #detail { height: 1fr; }
    #last { height: 1; display: none; }

    Layout.-medium #body { layout: grid; grid-size: 2 2; grid-columns: 34 1fr; grid-rows: 5fr 4fr; }
    Layout.-medium #log { column-span: 2; width: 100%; }
    Layout.-medium #log > #messages { height: 1fr; }
    Layout.-medium #log > #detail { display: none; }
    Layout.-medium #catalog, Layout.-medium #inbox, Layout.-medium #tasks { width: 100%; }
    Layout.-medium #work, Layout.-medium #task { width: 100%; }
    Layout.-medium #server, Layout.-medium #failed, Layout.-medium #check { column-span: 2; width: 100%; }
    Layout.-medium.-log-hidden #body, Layout.-medium.-log-away #body { grid-rows: 1fr; grid-size: 2 1; }

    Layout.-narrow #catalog, Layout.-narrow #inbox, Layout.-narrow #tasks { width: 1fr; }
    Layout.-narrow #log { width: 1fr; }
    Layout.-narrow #log > #messages { height: 1fr; }
    Layout.-narrow #last { display: block; }
    Layout.-log-hidden #log { display: none; }
    Layout.-maximised #body { layout: horizontal; }
    Layout.-maximised #log { width: 1fr; layout: horizontal; }
    Layout.-maximised #log > #messages { width: 1fr; height: 1fr; }
    Layout.-maximised #log > #detail { display: block; width: 52; height: 1fr; }
    Layout.-narrow.-maximised #log > #detail { display: none; }
    Layout.-zoomed #body { layout: horizontal; }
    Layout.-zoomed #body > * { width: 1fr; height: 1fr; }
    Layout.-zoomed #catalog, Layout.-zoomed #inbox, Layout.-zoomed #tasks, Layout.-zoomed #log { width: 1fr; }
    Layout.-zoomed #log > #detail { display: block; height: 1fr; }
    Layout.-zoomed #body > * Edge { width: 1fr; height: 1fr; max-height: 100%; }
    Layout.-narrow ServerPane { layout: vertical; }
    Layout.-narrow ServerPane #connection, Layout.-medium ServerPane #connection { height: 2fr; }
    """

    def __init__(self, session: SessionState) -> None:
        super().__init__()
        self.session = session
        self.place = "tools"
        """Which tab is shown."""
        self._narrow_place = "list"
        """In one column: `list`, `work`, `messages` or `detail`."""
        self._was_narrow = False
        self._zoom: Zoom | None = None
        self.blocked = False
        """There is no connection, or it takes long to make one: a pane that says so has the place of the lists."""

    def arranged(self) -> None:
        """Other panes may be shown than before: those that were hidden have something to draw."""

    # The panes

    @property
    def _catalog(self) -> CatalogPane:
        return self.query_one("#catalog", CatalogPane)

    @property
    def _work(self) -> WorkPane:
        return self.query_one("#work", WorkPane)

    @property
    def _task_pane(self) -> TaskPane:
        return self.query_one("#task", TaskPane)

    @property
    def _messages(self) -> MessagesPane:
        return self.query_one("#messages", MessagesPane)

    @property
    def _detail(self) -> DetailPane:
        return self.query_one("#detail", DetailPane)

    # Which of them are shown

    @property
    def _narrow(self) -> bool:
        return self.size.width < MEDIUM

    @property
    def _unconnected(self) -> bool:
        """Why there is no connection stands in place of all but the log, and the checks, which make their own."""
        return self.blocked and self.place != "check"

    def on_resize(self) -> None:
        self.query_one(TooSmall).fit(self.size)
        if self._narrow and not self._was_narrow:
            self._narrow_place = self._place_of_focus()
        self._was_narrow = self._narrow
        self._arrange()

    def _place_of_focus(self) -> str:
        """What one column shows of several: where the focus is."""
        places = (
            ("messages", self._messages), ("detail", self._detail), ("work", self._work), ("work", self._task_pane)
        )  # fmt: skip
        return next((place for place, pane in places if pane.has_focus_within), "list")

    def _arrange(self) -> None:
        """Which panes are shown, by tab, width and phase. Panes keep their state while they are not."""
        failed = self._unconnected
        narrow = self._narrow
        log_alone = self.has_class("-maximised")
        where = self._narrow_place
        in_list, in_work = not narrow or where == "list", not narrow or where == "work"
        chosen = _LISTS.get(self.place)
        # The checks have a recording of their own: beside them the log of the session comes only when it is asked for.
        log_away = self.place == "check" and where not in ("messages", "detail")
        self.set_class(log_away, "-log-away")
        shown = {
            **{pane: pane == chosen and not failed and in_list for pane in _LISTS.values()},
            "#failed": failed and (not narrow or where in ("list", "work")),
            "#server": not failed and self.place == "server" and (in_list or in_work),
            "#check": self.place == "check" and (in_list or in_work),
            "#work": chosen not in (None, "#tasks") and not failed and in_work,
            "#task": chosen == "#tasks" and not failed and in_work,
            "#log": log_alone
            or (where in ("messages", "detail") if narrow else not self.has_class("-log-hidden") and not log_away),
        }
        for selector, display in shown.items():
            self.query_one(selector).display = display and (not log_alone or selector == "#log")
        if narrow:
            self._messages.display = where != "detail"
            self._detail.display = where == "detail"
        else:
            self._messages.display = True
            self._detail.styles.clear_rule("display")
        if self._zoom is not None:
            self._zoom.apply()
        self._keep_focus()
        self.arranged()

    def _go(self, narrow_place: str) -> None:
        """Where there is one column only, show this in it."""
        self._restore_zoom()
        if self._narrow_place != narrow_place:
            self._narrow_place = narrow_place
            self._arrange()

    def _show_place(self, place: str) -> None:
        """Show a tab, with the focus in its list."""
        self._maximise(False)
        self._restore_zoom()
        self.place = place
        if place in KINDS:
            self._catalog.show(place)
        self._narrow_place = "list"
        self._arrange()
        # At once: the next key may have been pressed already, and is meant for what is shown now.
        self._focus_list()

    def _show_log(self, narrow_place: str) -> None:
        """Show the log where it was hidden; in one column, `messages` or `detail` of it."""
        self.remove_class("-log-hidden")
        self._restore_zoom()
        self._narrow_place = narrow_place
        self._arrange()

    def _maximise(self, maximised: bool) -> None:
        self.set_class(maximised, "-maximised")
        self._messages.maximised = maximised

    # Focus

    def _keep_focus(self) -> None:
        """Give the focus to what is shown if what had it is not: keys would be typed there unseen. Else leave it."""
        if self.focused is not None and all(node.display for node in self.focused.ancestors_with_self):
            return
        self.set_focus(None)
        where = self._narrow_place if self._narrow else "list"
        if where == "messages" or self.has_class("-maximised"):
            self._focus_in(self._messages)
        elif where == "detail":
            self._focus_in(self._detail)
        elif where == "work" and not self._unconnected and self.place in _LISTS:
            self._focus_work()
        else:
            self._focus_list()

    def _focus_work(self) -> None:
        if self.place == "tasks":
            self._task_pane.focus_inside()
        else:
            self._work.focus_work()

    def _focus_list(self) -> None:
        if self._unconnected:
            self._focus_in(self.query_one("#failed"))
        else:
            self._focus_in(self.query_one(_LISTS.get(self.place, f"#{self.place}")))

    def _focus_in(self, pane: Widget) -> None:
        if isinstance(pane, (Edge, CheckPane)):
            pane.focus_inside()
            return
        try:
            self.set_focus(pane.query_one(VirtualList))
        except NoMatches:
            pane.focus()

    # Tabs and panes by key

    def action_tab_1(self) -> None:
        self._show_place("tools")

    def action_tab_2(self) -> None:
        self._show_place("resources")

    def action_tab_3(self) -> None:
        self._show_place("templates")

    def action_tab_4(self) -> None:
        self._show_place("prompts")

    def action_tab_5(self) -> None:
        self._show_place("tasks")

    def action_tab_6(self) -> None:
        self._show_place("server")

    def action_tab_7(self) -> None:
        self._show_place("inbox")

    def action_tab_8(self) -> None:
        self._show_place("check")

    def action_next_pane(self) -> None:
        self.focus_next()

    def action_previous_pane(self) -> None:
        self.focus_previous()

    def action_messages(self) -> None:
        """Go to the log; from the log, back to the list."""
        if self._messages.has_focus_within:
            self._maximise(False)
            self._go("list")
            self._arrange()
            self._focus_list()
            return
        self._show_log("messages")
        self._messages.tick()
        self._focus_in(self._messages)

    def action_back(self) -> None:
        """Go from a message to the log; where there is one column only, from there, or from the server, to the list."""
        if self._detail.has_focus_within:
            self._go("messages")
            self._focus_in(self._messages)
        elif (
            (self._narrow or self.place == "check")
            and self._messages.has_focus_within
            and not self.has_class("-maximised")
        ):
            self._go("list")
            self._focus_list()
        else:
            raise SkipAction

    def action_toggle_messages(self) -> None:
        if self._narrow:
            self.action_messages()
            return
        self._restore_zoom()
        self.toggle_class("-log-hidden")
        self._maximise(False)
        self._arrange()
        if self.has_class("-log-hidden"):
            self._focus_list()

    # Zoom

    @property
    def zoom_hint(self) -> tuple[str, str] | None:
        """What the zoom key would do now, as a verb with its title; None where it would do nothing."""
        if self.has_class("-maximised") or self.has_class("-zoomed"):
            return ("app.zoom", "restore")
        zoom = self._zoom or self._make_zoom()
        pane = zoom.pane_of(self.focused)
        if pane is None or not (pane is self._messages or zoom.is_useful(pane)):
            return None
        return ("app.zoom", "zoom")

    def _make_zoom(self) -> Zoom:
        self._zoom = Zoom(self.query_one("#body"), self._work)
        return self._zoom

    def action_zoom(self) -> None:
        """Give the focused pane the whole screen, or restore the panes. The log becomes one row an exchange."""
        zoom = self._zoom or self._make_zoom()
        pane = zoom.pane_of(self.focused)
        if self.has_class("-maximised"):
            self._zoom_log(False)
        elif zoom.pane is not None:
            self._restore_zoom()
        elif pane is self._messages:
            self._zoom_log(True)
        elif pane is not None and zoom.is_useful(pane):
            self.add_class("-zoomed")
            zoom.show(pane)
            self._arrange()
        self.post_message(HintsChanged())

    def _zoom_log(self, zoomed: bool) -> None:
        self._maximise(zoomed)
        self.remove_class("-log-hidden")
        if self._narrow:
            self._narrow_place = "messages"
        self._arrange()
        self._focus_in(self._messages)

    def _restore_zoom(self) -> None:
        if self._zoom is not None and self._zoom.pane is not None:
            self._zoom.restore()
            self.remove_class("-zoomed")
            self._arrange()

    def on_zoom_ended(self) -> None:
        self._restore_zoom()
