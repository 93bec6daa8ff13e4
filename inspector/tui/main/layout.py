"""Arranges the panes of the main screen as the model says, and places the focus."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Protocol, runtime_checkable

from textual.css.query import NoMatches
from textual.screen import Screen
from textual.widget import Widget

from inspector.client.extensions import declared_settings
from inspector.client.session_state import SessionState
from inspector.client.state.catalog import KINDS
from inspector.protocol.extensions import SKILLS
from inspector.tui.main.panes import Panes
from inspector.tui.main.zoom import ZoomedPane
from inspector.tui.model.arrangement import PANES, PARTS_OF_LOG, Arrangement, FocusIn, Front
from inspector.tui.model.tabs import BY_ID
from inspector.tui.pane_messages import HintsChanged
from inspector.tui.widgets.virtual_list import VirtualList

CSS = """
MainScreen { layout: vertical; layers: base above; }
#body { layout: horizontal; height: 1fr; }
#catalog { width: 34; height: 1fr; }
#inbox, #tasks, #calls, #skills { width: 34; height: 1fr; }
#work, #task, #flow, #skill { width: 1fr; height: 1fr; }
#server, #failed, #check { width: 1fr; height: 1fr; }
#log { width: 41%; height: 1fr; }
#log > #messages { height: 60%; }
#log > #detail { height: 1fr; }
#last { height: 1; display: none; }

MainScreen.-medium #body { layout: grid; grid-size: 2 1; grid-columns: 34 1fr; grid-rows: 1fr; }
MainScreen #log.-below { dock: bottom; width: 100%; height: 6; }
MainScreen #log.-below.-entered { height: 44%; }
MainScreen.-medium #log > #messages { height: 1fr; }
MainScreen.-medium.-detail #log { layout: horizontal; }
MainScreen.-medium.-detail #log > #messages { width: 1fr; }
MainScreen.-medium.-detail #log > #detail { width: 1fr; height: 1fr; }
MainScreen.-medium #catalog, MainScreen.-medium #inbox, MainScreen.-medium #tasks { width: 100%; }
MainScreen.-medium #work, MainScreen.-medium #task { width: 100%; }
MainScreen.-medium #calls, MainScreen.-medium #flow { width: 100%; }
MainScreen.-medium #skills, MainScreen.-medium #skill { width: 100%; }
MainScreen.-medium #server, MainScreen.-medium #failed, MainScreen.-medium #check { column-span: 2; width: 100%; }

MainScreen.-narrow #catalog, MainScreen.-narrow #inbox, MainScreen.-narrow #tasks { width: 1fr; }
MainScreen.-narrow #calls, MainScreen.-narrow #skills, MainScreen.-narrow #log { width: 1fr; }
MainScreen.-narrow #log > #messages { height: 1fr; }
MainScreen.-narrow #last { display: block; }
MainScreen.-maximised #body { layout: horizontal; }
MainScreen.-maximised #log { width: 1fr; layout: horizontal; }
MainScreen.-maximised #log > #messages { width: 1fr; height: 1fr; }
MainScreen.-maximised #log > #detail { width: 52; height: 1fr; }
MainScreen.-narrow.-maximised #log > #detail { width: 1fr; }
MainScreen.-zoomed #body { layout: horizontal; }
MainScreen.-zoomed #body > * { width: 1fr; height: 1fr; }
MainScreen.-zoomed #catalog, MainScreen.-zoomed #inbox { width: 1fr; }
MainScreen.-zoomed #tasks, MainScreen.-zoomed #calls, MainScreen.-zoomed #log { width: 1fr; }
MainScreen.-zoomed #skills { width: 1fr; }
MainScreen.-zoomed #log > #detail { height: 1fr; }
MainScreen.-zoomed #body > * Pane { width: 1fr; height: 1fr; max-height: 100%; }
MainScreen.-medium SkillPane #skill-side { width: 42; }
MainScreen.-narrow SkillPane #skill-md { display: none; }
MainScreen.-narrow SkillPane #skill-side { width: 1fr; }
MainScreen.-narrow SkillPane #skill-files { height: 9; }
MainScreen.-zoomed SkillPane #skill-side { width: 1fr; }
MainScreen.-zoomed SkillPane #skill-files { height: 1fr; }
MainScreen.-narrow ServerPane { layout: vertical; }
MainScreen.-narrow ServerPane #connection, MainScreen.-medium ServerPane #connection { height: 2fr; }
"""
"""The widths and heights of the panes: three columns; two above the log; one."""


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
        self.arrangement = Arrangement()

    @property
    def place(self) -> str:
        """The id of the tab in front."""
        return self.arrangement.tab_id

    def begin(self, width: int) -> None:
        """Set the classes of the screen for a width in cells, before there are panes."""
        self.arrangement = replace(self.arrangement, width=width)
        self._set_classes()

    def _set_classes(self) -> None:
        for name, on in self.arrangement.classes().items():
            self._screen.set_class(on, name)

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
        # Below two columns it is docked, and has all lines when it is alone.
        panes.log.set_class(now.log_below, "-below")
        self._zoom.apply()
        self._keep_focus()
        self._arranged()

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
        await self._panes.make(BY_ID[place].main, BY_ID[place].beside)
        self.show_made(place)

    def show_made(self, place: str) -> None:
        """Show a tab whose panes exist: those of the catalog always do."""
        self._end_pane_zoom()
        if place != "calls":
            self._panes.messages.show_run("")
        if place in KINDS:
            self._panes.catalog.show(place)
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
        beside = (panes.work, panes.task, panes.flow, panes.skill)
        return (
            FocusIn.BESIDE if any(pane is not None and pane.has_focus_within for pane in beside) else FocusIn.ELSEWHERE
        )

    def focus_moved(self) -> None:
        """Give the log below two columns its lines while it is used, and a few otherwise: the answer needs them."""
        entered = self._panes.log.has_focus_within
        self._panes.log.set_class(entered, "-entered")
        if not entered:
            before = Front.BESIDE if self._focus_in is FocusIn.BESIDE else Front.MAIN
            self.arrangement = replace(self.arrangement, before_log=before)

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

    async def action_tab_1(self) -> None:
        await self.show_place("tools")

    async def action_tab_2(self) -> None:
        await self.show_place("resources")

    async def action_tab_3(self) -> None:
        await self.show_place("templates")

    async def action_tab_4(self) -> None:
        await self.show_place("prompts")

    async def action_tab_5(self) -> None:
        await self.show_place("tasks")

    async def action_tab_6(self) -> None:
        await self.show_place("server")

    async def action_tab_7(self) -> None:
        await self.show_place("inbox")

    async def action_tab_8(self) -> None:
        await self.show_place("check")

    async def action_tab_9(self) -> None:
        await self.show_place("calls")

    async def action_tab_0(self) -> None:
        if declared_settings(self._session.server, SKILLS) is None:
            self._screen.notify("The server does not declare skills.", timeout=4)
        else:
            await self.show_place("skills")

    def action_next_pane(self) -> None:
        self._screen.focus_next()

    def action_previous_pane(self) -> None:
        self._screen.focus_previous()

    def action_messages(self) -> None:
        """Go to the log; from the log, back to the list or the pane beside it."""
        if self.in_log:
            self._end_pane_zoom()
            self.arrange(self.arrangement.without_log_zoom().with_front(self.arrangement.before_log))
            if self.arrangement.before_log is Front.BESIDE:
                self._focus_beside()
            else:
                self.focus_list()
            return
        self.show_log(Front.MESSAGES)
        self._panes.messages.tick()
        self.focus_in(self._panes.messages)

    @property
    def back_leads_to(self) -> Front | None:
        """The pane to which the key for back leads; None if it leads nowhere."""
        return self.arrangement.back(self._focus_in, live=self._session.commands is not None)

    def action_back(self) -> None:
        """Go from a message to the log; in a single column, from the log or the server to the list."""
        if self.back_leads_to is Front.MESSAGES:
            self.go(Front.MESSAGES)
            self.focus_in(self._panes.messages)
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
