"""Arranges the panes of the main screen as the model says, and places the focus."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Protocol, runtime_checkable

from textual.css.query import NoMatches
from textual.screen import Screen
from textual.widget import Widget

from inspector.client.session_state import SessionState
from inspector.client.state.catalog import KINDS
from inspector.errors import FeatureError
from inspector.tui.advice import error_text
from inspector.tui.main.panes import Panes
from inspector.tui.main.zoom import ZoomedPane
from inspector.tui.model.arrangement import PANES, PARTS_OF_LOG, Arrangement, FocusIn, Front, LogPlace
from inspector.tui.model.room import dock_lines
from inspector.tui.model.tabs import TAB_BY_ID, Tab
from inspector.tui.model.widths import LIST_CELLS
from inspector.tui.pane_messages import HintsChanged
from inspector.tui.sessions import offers
from inspector.tui.widgets.filter_input import FilterInput
from inspector.tui.widgets.virtual_list import VirtualList
from inspector.tui.window import window_of

CSS = """
MainScreen { layout: vertical; layers: base above; }
#body { layout: horizontal; height: 1fr; layers: base log; }
#catalog, #inbox, #tasks, #calls, .feature-list { width: 38%; min-width: 34; max-width: LIST_CELLS; height: 1fr; }
#work, #task, #flow, .feature-beside { width: 1fr; height: 1fr; }
#server, #failed, #check, .feature-whole { width: 1fr; height: 1fr; }
#log { width: 34%; height: 1fr; }
#log > #messages, #log > #detail { height: 1fr; }
#log > #messages > FilterInput { display: none; }
#last { height: 1; display: none; }

MainScreen #log.-in-log > #messages > FilterInput { display: block; }
MainScreen #log.-in-log { width: 41%; }
MainScreen #log.-in-log > #messages { height: 60%; }
MainScreen #log.-in-log > #detail { height: 1fr; }
MainScreen #log.-beside-form { layer: log; dock: right; }

MainScreen.-medium #log { dock: bottom; width: 100%; height: 5; }
MainScreen.-medium #log.-in-log { height: 44%; }
MainScreen.-medium #log > #messages { height: 1fr; }
MainScreen.-medium #log.-detail { layout: horizontal; }
MainScreen.-medium #log.-detail > #messages { width: 1fr; }
MainScreen.-medium #log.-detail > #detail { width: 1fr; }

MainScreen.-narrow #body > * { width: 1fr; max-width: 100%; }
MainScreen.-narrow #log > #messages { height: 1fr; }
MainScreen.-narrow #last { display: block; }
MainScreen #log.-maximised { width: 1fr; layout: horizontal; }
MainScreen #log.-maximised > #messages { width: 1fr; height: 1fr; }
MainScreen #log.-maximised > #detail { width: 52; height: 1fr; }
MainScreen.-narrow #log.-maximised > #detail { width: 1fr; }
MainScreen.-zoomed #body > * { width: 1fr; max-width: 100%; height: 1fr; dock: none; }
MainScreen.-zoomed #body > * Pane { width: 1fr; height: 1fr; max-height: 100%; }
MainScreen.-narrow ServerPane { layout: vertical; }
MainScreen.-narrow ServerPane #connection, MainScreen.-medium ServerPane #connection { height: 2fr; }
""".replace("LIST_CELLS", str(LIST_CELLS))
"""The widths and heights of the panes: three columns; two above the log; one."""


LogSize = tuple[int | None, int | str | None]
"""Width and height of the log; None: as the style sheet says."""


@runtime_checkable
class TakesFocus(Protocol):
    """A pane that can focus one of its own widgets."""

    def focus_inside(self) -> object:
        """Focus the right widget inside."""


class PaneLayout:
    """The panes of a screen, shown as `arrangement` says. It handles some verbs of the screen.

    `arranged` is called when panes may have become visible: they need to be drawn.
    """

    def __init__(self, screen: Screen[None], session: SessionState, panes: Panes, arranged: Callable[[], None]) -> None:
        self._screen = screen
        self._session = session
        self._panes = panes
        self._arranged = arranged
        self._zoom = ZoomedPane(panes.body, panes.work)
        self._log_size: LogSize = (None, None)
        self.arrangement = Arrangement()

    @property
    def place(self) -> str:
        """The id of the tab in front."""
        return self.arrangement.tab_id

    def begin(self, width: int) -> None:
        """Set the classes of the screen for a width in cells, before there are panes."""
        self.arrangement = replace(self.arrangement, width=width, form_shown=False)
        self._set_classes()

    def _set_classes(self) -> None:
        # All of a widget at once, and those of the log on the log: each change styles every widget inside again.
        self._screen.update_classes(self.arrangement.screen_classes())
        self._panes.log.update_classes(self.arrangement.log_classes())

    def arrange(self, arrangement: Arrangement | None = None) -> None:
        """Show and hide the panes, as this or the present arrangement says. A hidden pane keeps its state."""
        now = self.arrangement = arrangement or self.arrangement
        panes, visible = self._panes, now.visible()
        self._set_classes()
        panes.messages.maximised = now.log_zoomed
        for name in PANES:
            pane = panes.get(name)
            if pane is not None:
                pane.display = name in visible
        if "log" in visible:
            for name, part in zip(PARTS_OF_LOG, (panes.messages, panes.detail, panes.timeline), strict=True):
                if part is not None:
                    part.display = name in visible
        self._zoom.apply()
        self._keep_focus()
        self.fit()
        self._arranged()

    def fit(self) -> None:
        """Give the log the lines that its rows need, and the form those that its fields need."""
        panes = self._panes
        if panes.work.has_form is not self.arrangement.form_shown:
            self.arrange(replace(self.arrangement, form_shown=panes.work.has_form))
            return
        now = self.arrangement
        height, rows = panes.body.size.height, panes.messages.rows_shown
        beside = now.log_place is LogPlace.BESIDE_FORM
        panes.work.put_log_beside(rows, now.form_cells)
        size: LogSize = (None, None)
        if beside:
            size = (now.log_cells, panes.work.form_lines)
        elif now.log_place is LogPlace.BELOW and not now.in_log:
            size = (None, dock_lines(height, rows))
        elif now.log_place is LogPlace.ALONE:
            size = (None, "1fr")
        if size != self._log_size:
            # Each None that is set lays the whole screen out again, even where nothing was set before.
            self._log_size = size
            panes.log.styles.width, panes.log.styles.height = size

    def resized(self) -> None:
        """The size of the screen has changed."""
        self.arrange(self.arrangement.with_width(self._screen.size.width, self._focus_in))

    def block(self, blocked: bool) -> None:
        """Let the pane about the connection replace the lists, or show them again. The pane must exist."""
        self.arrangement = self.arrangement.with_connection(missing=blocked)

    def name_tab(self, tab_id: str) -> None:
        """Name another tab of the catalog, whose panes are the same."""
        self.arrangement = replace(self.arrangement, tab_id=tab_id)

    def go(self, front: Front) -> None:
        """Show this pane: in a single column alone; in two, the detail beside the messages or not."""
        self.restore_zoom()
        if self.arrangement.front is not front:
            self.arrange(self.arrangement.with_front(front))

    async def show_place(self, place: str) -> None:
        """Show a tab, with the focus in its list. Its panes are made the first time."""
        await self._panes.make(TAB_BY_ID[place].main, TAB_BY_ID[place].beside)
        self.show_made(place)

    def show_made(self, place: str) -> None:
        """Show a tab whose panes exist: those of the catalog always do."""
        self._end_pane_zoom()
        if place != "calls":
            self._panes.messages.show_run("")
        if TAB_BY_ID[place].lists:
            self._panes.catalog.show(TAB_BY_ID[place].lists[0])
        has_lists = any(self._session.catalog[name].pages for name in KINDS)
        self.arrange(self.arrangement.with_tab(place, has_lists=has_lists))
        if place == "inbox" and self._panes.inbox is not None:
            # Its message is lost while another tab is shown.
            self._panes.inbox.announce()
        # At once: the next key may have been pressed already, for what is shown now.
        self.focus_list()

    def show_log(self, front: Front) -> None:
        """Show a hidden log, with the messages or the detail in front."""
        self._end_pane_zoom()
        self.arrange(self.arrangement.with_log(front))

    def show_beside(self) -> None:
        """Show the pane beside the list, and end the zoom of the log."""
        self._end_pane_zoom()
        self.arrange(self.arrangement.without_log_zoom().with_front(Front.BESIDE))

    async def show_timeline(self, n: int) -> None:
        """Show the timeline instead of the zoomed log, with the cursor at event `n` and the log's filter."""
        self.restore_zoom()
        timeline = await self._panes.make_timeline()
        timeline.start_at(n)
        timeline.narrow(self._panes.messages.filter)
        self.arrange(self.arrangement.with_timeline(True))
        timeline.focus_inside()
        timeline.call_after_refresh(timeline.tick)

    def leave_timeline(self, filter: str) -> None:
        """Show the rows of the zoomed log again; with a filter, those that match it."""
        self.arrange(self.arrangement.with_timeline(False))
        if filter:
            self._panes.messages.show_filtered(filter)
        self.focus_in(self._panes.messages)

    # Focus

    @property
    def in_log(self) -> bool:
        """Whether the messages, or the timeline in their place, have the focus."""
        return self._panes.messages.has_focus_within or self._panes.in_timeline

    @property
    def out_of_log(self) -> str:
        """The title of the key that leads out of the log; empty outside it."""
        if not self.in_log:
            return ""
        return "back" if self.arrangement.before_log is Front.BESIDE else "list"

    @property
    def _focus_in(self) -> FocusIn:
        panes = self._panes
        if panes.messages.has_focus_within:
            return FocusIn.MESSAGES
        if panes.detail.has_focus_within:
            return FocusIn.DETAIL
        return FocusIn.BESIDE if any(pane.has_focus_within for pane in panes.beside) else FocusIn.ELSEWHERE

    def focus_moved(self) -> None:
        """Give the log more lines while it is used, and a few otherwise: the answer needs them."""
        before = self.arrangement
        self.arrangement = before.with_focus(FocusIn.MESSAGES if self._panes.in_timeline else self._focus_in)
        if self.arrangement.in_log is not before.in_log:
            self.arrange()

    def _keep_focus(self) -> None:
        """If the focused widget is hidden, focus a visible one: keys must not go to a hidden widget."""
        if self._screen.focused is not None and all(node.display for node in self._screen.focused.ancestors_with_self):
            return
        self._screen.set_focus(None)
        pane = self.arrangement.resting_pane
        if pane == self.arrangement.tab.beside:
            self._focus_beside()
        else:
            self._focus_pane(pane)

    def _focus_beside(self) -> None:
        """Focus the pane beside the list; in the work pane a field last, where the next key would be text."""
        pane = self.arrangement.tab.beside
        if pane != "work" or not self._panes.work.focus_outcome():
            self._focus_pane(pane)

    def leave_work(self) -> None:
        """Go from the work pane back to the list."""
        self.go(Front.MAIN)
        self.focus_list()

    def open_work(self) -> None:
        """Show the pane beside the list, and go there."""
        self.go(Front.BESIDE)
        self._focus_pane(self.arrangement.tab.beside)

    def focus_list(self) -> None:
        """Focus the list of the tab."""
        self._focus_pane(self.arrangement.main_pane)

    def focus_in(self, pane: Widget | None) -> None:
        """Focus a pane: the widget that it names, its list, or itself."""
        if pane is self._panes.messages:
            pane = self._panes.get(self.arrangement.pane_of_messages)
        if pane is None:
            return
        if isinstance(pane, TakesFocus):
            pane.focus_inside()
            return
        try:
            self._screen.set_focus(pane.query_one(VirtualList))
        except NoMatches:
            pane.focus()

    def _focus_pane(self, name: str) -> None:
        if name == "work":
            self._panes.work.focus_work()
        else:
            self.focus_in(self._panes.get(name))

    # Tabs and panes by key

    async def show_tab(self, tab: Tab) -> None:
        """Show a tab as its key does, if the server has something for it."""
        if tab.id != self.place and not offers(self._session, tab):
            self._screen.notify(tab.missing, timeout=4)
            return
        try:
            await self.show_place(tab.id)
        except FeatureError as error:
            self._screen.notify(error_text(error, self._screen), severity="warning", timeout=8)

    def action_next_pane(self) -> None:
        self._step(1)

    def action_previous_pane(self) -> None:
        form = self._panes.work.request.form
        was_in_form = form.has_focus_within
        self._step(-1)
        if form.has_focus_within and not was_in_form:
            form.focus_edited()

    def _step(self, by: int) -> None:
        """Go to the next or previous pane or field, over the filters: these have a key of their own."""
        focused = self._screen.focused
        chain = [
            widget for widget in self._screen.focus_chain if widget is focused or not isinstance(widget, FilterInput)
        ]
        if chain:
            at = chain.index(focused) + by if focused in chain else min(by, 0)
            self._screen.set_focus(chain[at % len(chain)])

    def action_result(self) -> None:
        """Go to what is below the form; from there, back to the form, or to the list without one."""
        work = self._panes.work
        # Pressed as the program went there, the key means the same place.
        goes_back = work.outcome_has_focus and not window_of(self._screen).focus_is_unseen
        self.show_beside()
        if not goes_back:
            work.focus_lower()
        elif not work.focus_form():
            self.leave_work()

    def action_messages(self) -> None:
        """Go to the log; from the log, back to the list or the pane beside it."""
        if self.in_log:
            self._end_pane_zoom()
            self._leave_log()
            return
        self.show_log(Front.MESSAGES)
        self._panes.messages.tick()
        self.focus_in(self._panes.messages)

    def _leave_log(self) -> None:
        """Go back to the pane that had the focus before, and end a filter that the way there has set."""
        self._panes.messages.end_shown()
        before = self.arrangement.before_log
        self.arrange(self.arrangement.without_log_zoom().with_front(before))
        if before is Front.BESIDE:
            self._focus_beside()
        else:
            self.focus_list()

    @property
    def back_leads_to(self) -> Front | None:
        """The pane to which the key for back leads; None if it leads nowhere."""
        return self.arrangement.back(self._focus_in, live=self._session.commands is not None)

    def action_back(self) -> None:
        """Go from a message to the log, and from there to the pane before it; else to the list."""
        if self.back_leads_to is Front.MESSAGES:
            self.go(Front.MESSAGES)
            self.focus_in(self._panes.messages)
        elif self.in_log:
            self._leave_log()
        elif self.back_leads_to is Front.MAIN:
            self.leave_work()

    def action_toggle_messages(self) -> None:
        if self.arrangement.narrow:
            self.action_messages()
            return
        self._end_pane_zoom()
        self.arrange(self.arrangement.with_log_toggled())
        if self.arrangement.log_hidden:
            self.focus_list()

    # Zoom

    @property
    def zoom_hint(self) -> tuple[str, str] | None:
        """Return the verb of the zoom key with its title, or None if it has no effect now."""
        if self.arrangement.is_zoomed:
            return ("app.zoom", "restore")
        pane = self._zoom.pane_of(self._screen.focused)
        useful = pane is not None and (pane is self._panes.messages or self._zoom.is_useful(pane))
        return ("app.zoom", "zoom") if useful else None

    def action_zoom(self) -> None:
        """Give the focused pane the whole screen, or restore the panes. The log then has one row per exchange."""
        pane, now = self._zoom.pane_of(self._screen.focused), self.arrangement
        if now.log_zoomed or (pane is self._panes.messages and not now.is_zoomed):
            self.arrange(now.with_log_zoomed(not now.log_zoomed))
            self.focus_in(self._panes.messages)
        elif now.is_zoomed:
            self.restore_zoom()
        elif pane is not None and self._zoom.is_useful(pane):
            self._zoom.show(pane)
            self.arrange(now.with_pane_zoomed(True))
        self._screen.post_message(HintsChanged())

    def restore_zoom(self) -> None:
        """Show all panes again after the zoom of one."""
        if self._end_pane_zoom():
            self.arrange()

    def _end_pane_zoom(self) -> bool:
        """End the zoom of a pane; the panes are arranged later. Returns whether one was zoomed."""
        zoomed = self._zoom.pane is not None
        if zoomed:
            self._zoom.restore()
            self.arrangement = self.arrangement.with_pane_zoomed(False)
        return zoomed
