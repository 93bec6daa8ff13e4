"""Arranges the panes of the main screen by tab and width (three columns, two, one), and places the focus."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, runtime_checkable

from textual.actions import SkipAction
from textual.css.query import NoMatches
from textual.screen import Screen
from textual.widget import Widget

from inspector.client.extensions import declared_settings
from inspector.client.session_state import SessionState
from inspector.client.state.catalog import KINDS
from inspector.protocol.extensions import SKILLS
from inspector.tui.main.panes import Panes
from inspector.tui.main.zoom import Zoom
from inspector.tui.pane_messages import HintsChanged
from inspector.tui.widgets.virtual_list import VirtualList

WIDE, MEDIUM = 140, 100
"""Widths in cells from which there are three columns, and two."""
BREAKPOINTS: list[tuple[int, str]] = [(0, "-narrow"), (MEDIUM, "-medium"), (WIDE, "-wide")]


def shows_failure(place: str, *, blocked: bool, looked_away: bool) -> bool:
    """Whether a tab shows the pane about the connection; the checks never do."""
    return blocked and place != "check" and (place == "server" or not looked_away)


def width_class(width: int) -> str:
    """Return the class of a screen of this width in cells."""
    return next(name for least, name in reversed(BREAKPOINTS) if width >= least)


_LISTS: dict[str, str] = {
    **dict.fromkeys(KINDS, "catalog"),
    "inbox": "inbox",
    "tasks": "tasks",
    "calls": "calls",
    "skills": "skills",
}
"""The list pane of each tab; beside it is the work pane, the task, or the steps of a flow."""
_BESIDE = {"tasks": "task", "calls": "flow", "skills": "skill"}
"""The pane beside the list of a tab, where it is not the work pane."""
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
MainScreen.-medium #log > #detail { display: none; }
MainScreen.-medium.-detail #log { layout: horizontal; }
MainScreen.-medium.-detail #log > #messages { width: 1fr; }
MainScreen.-medium.-detail #log > #detail { display: block; width: 1fr; height: 1fr; }
MainScreen.-medium #catalog, MainScreen.-medium #inbox, MainScreen.-medium #tasks { width: 100%; }
MainScreen.-medium #work, MainScreen.-medium #task { width: 100%; }
MainScreen.-medium #calls, MainScreen.-medium #flow { width: 100%; }
MainScreen.-medium #skills, MainScreen.-medium #skill { width: 100%; }
MainScreen.-medium #server, MainScreen.-medium #failed, MainScreen.-medium #check { column-span: 2; width: 100%; }

MainScreen.-narrow #catalog, MainScreen.-narrow #inbox, MainScreen.-narrow #tasks { width: 1fr; }
MainScreen.-narrow #calls, MainScreen.-narrow #skills, MainScreen.-narrow #log { width: 1fr; }
MainScreen.-narrow #log > #messages { height: 1fr; }
MainScreen.-narrow #last { display: block; }
MainScreen.-log-hidden #log { display: none; }
MainScreen.-maximised #body { layout: horizontal; }
MainScreen.-maximised #log { width: 1fr; layout: horizontal; }
MainScreen.-maximised #log > #messages { width: 1fr; height: 1fr; }
MainScreen.-maximised #log > #detail { display: block; width: 52; height: 1fr; }
MainScreen.-narrow.-maximised #log > #detail { display: none; }
MainScreen.-narrow.-timeline #log > #detail { display: block; width: 1fr; }
MainScreen.-zoomed #body { layout: horizontal; }
MainScreen.-zoomed #body > * { width: 1fr; height: 1fr; }
MainScreen.-zoomed #catalog, MainScreen.-zoomed #inbox { width: 1fr; }
MainScreen.-zoomed #tasks, MainScreen.-zoomed #calls, MainScreen.-zoomed #log { width: 1fr; }
MainScreen.-zoomed #skills { width: 1fr; }
MainScreen.-zoomed #log > #detail { display: block; height: 1fr; }
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
"""The layout of the panes: three columns; two above the log; one."""


@runtime_checkable
class TakesFocus(Protocol):
    """A pane that can focus one of its own widgets."""

    def focus_inside(self) -> object:
        """Focus the right widget inside."""


class PaneLayout:
    """The arrangement of a screen's panes: one list, work, messages above detail. It handles some verbs of the screen.

    `arranged` is called when panes may have become visible: they need to be drawn.
    """

    def __init__(self, screen: Screen[None], session: SessionState, panes: Panes, arranged: Callable[[], None]) -> None:
        self._screen = screen
        self._session = session
        self._panes = panes
        self._arranged = arranged
        self.place = "tools"
        """The current tab."""
        self._front = "list"
        """`list`, `work`, `messages` or `detail`: one column shows this alone; two show the detail only as `detail`."""
        self._was_narrow = False
        self._zoom = Zoom(panes.body, panes.work)
        self.blocked = False
        """The connection failed or takes long: the pane that shows this replaces the lists. The pane must exist."""
        self._looked_away = False
        """The user chose a tab since: its lists, forms and results can be read, and Server shows the pane."""

    # Visible panes

    @property
    def narrow(self) -> bool:
        """There is one column."""
        return self._screen.size.width < MEDIUM

    @property
    def _unconnected(self) -> bool:
        """The pane about the missing connection replaces all but the log and the checks, which connect on their own."""
        return shows_failure(self.place, blocked=self.blocked, looked_away=self._looked_away)

    def block(self, blocked: bool) -> None:
        """Let the pane about the connection replace the lists, or show them again."""
        self._looked_away = self._looked_away and blocked
        self.blocked = blocked

    def resized(self) -> None:
        """The size of the screen has changed."""
        if self.narrow and not self._was_narrow:
            self._front = self._place_of_focus()
        elif self._panes.detail.has_focus_within:
            self._front = "detail"
        self._was_narrow = self.narrow
        self.arrange()

    def _place_of_focus(self) -> str:
        """Return what a single column shows: the pane with the focus."""
        panes = self._panes
        places = (
            ("messages", panes.messages),
            ("detail", panes.detail),
            ("work", panes.work),
            ("work", panes.task),
            ("work", panes.flow),
            ("work", panes.skill),
        )
        return next((place for place, pane in places if pane is not None and pane.has_focus_within), "list")

    def arrange(self) -> None:
        """Show and hide the panes by tab, width and phase. A hidden pane keeps its state."""
        screen, panes = self._screen, self._panes
        failed = self._unconnected
        narrow = self.narrow
        log_alone = screen.has_class("-maximised")
        where = self._front
        in_list, in_work = not narrow or where == "list", not narrow or where == "work"
        chosen = _LISTS.get(self.place)
        # The checks have a separate recording, and a skill needs the room: the log is hidden until the user opens it.
        log_away = self.place in ("check", "skills") and where not in ("messages", "detail")
        screen.set_class(where == "detail" and not log_alone, "-detail")
        shown = {
            **{pane: pane == chosen and not failed and in_list for pane in _LISTS.values()},
            "failed": failed and (not narrow or where in ("list", "work")),
            "server": not failed and self.place == "server" and (in_list or in_work),
            "check": self.place == "check" and (in_list or in_work),
            "work": chosen is not None and chosen not in _BESIDE and not failed and in_work,
            **{pane: chosen == place and not failed and in_work for place, pane in _BESIDE.items()},
            "log": log_alone
            or (where in ("messages", "detail") if narrow else not (screen.has_class("-log-hidden") or log_away)),
        }
        for name, display in shown.items():
            pane = panes.get(name)
            if pane is not None:
                pane.display = display and (not log_alone or name == "log")
        # Below two columns it is docked, and has all lines when it is alone.
        panes.log.set_class(screen.has_class("-medium") and not log_alone and self._zoom.pane is None, "-below")
        if narrow:
            panes.messages.display = where != "detail"
            panes.detail.display = where == "detail"
        else:
            panes.messages.display = True
            panes.detail.styles.clear_rule("display")
        if panes.timeline is not None:
            in_timeline = log_alone and screen.has_class("-timeline")
            panes.timeline.display = in_timeline and not (narrow and where == "detail")
            if in_timeline:
                panes.messages.display = False
                panes.detail.display = where == "detail"
        self._zoom.apply()
        self._keep_focus()
        self._arranged()

    def focus_moved(self) -> None:
        """Give the log below two columns its lines while it is used, and a few otherwise: the answer needs them."""
        focused = self._screen.focused
        entered = focused is not None and self._panes.log in focused.ancestors
        if entered != self._panes.log.has_class("-entered"):
            self._panes.log.set_class(entered, "-entered")

    def go(self, pane: str) -> None:
        """Show this pane: in a single column alone; in two, the detail beside the messages or not."""
        self.restore_zoom()
        if self._front != pane:
            self._front = pane
            self.arrange()

    async def show_place(self, place: str) -> None:
        """Show a tab, with the focus in its list. Its panes are made the first time."""
        await self._panes.make(place, *([_BESIDE[place]] if place in _BESIDE else []))
        self.show_made(place)

    def show_made(self, place: str) -> None:
        """Show a tab whose panes exist: those of the catalog always do."""
        self.maximise(False)
        self.restore_zoom()
        self.place = place
        self._looked_away = self.blocked and any(self._session.catalog[name].pages for name in KINDS)
        if place != "calls":
            self._panes.messages.show_run("")
        if place in KINDS:
            self._panes.catalog.show(place)
        self._front = "list"
        self.arrange()
        if place == "inbox" and self._panes.inbox is not None:
            # Its message is lost while another tab is shown.
            self._panes.inbox.announce()
        # At once: the next key may have been pressed already, for what is shown now.
        self.focus_list()

    def show_log(self, pane: str) -> None:
        """Show a hidden log, with `messages` or `detail` in front."""
        self._screen.remove_class("-log-hidden")
        self.restore_zoom()
        self._front = pane
        self.arrange()

    def maximise(self, maximised: bool) -> None:
        """Give the log the whole screen, one row per exchange, or end that."""
        self._screen.set_class(maximised, "-maximised")
        self._screen.remove_class("-timeline")
        self._panes.messages.maximised = maximised

    async def show_timeline(self, n: int) -> None:
        """Show the timeline instead of the maximised log, with the cursor at event `n` and the log's filter."""
        timeline = await self._panes.make_timeline()
        timeline.start_at(n)
        timeline.narrow(self._panes.messages.filter)
        self._screen.add_class("-timeline")
        self._front = "messages"
        self.arrange()
        timeline.focus_inside()
        timeline.call_after_refresh(timeline.tick)

    def leave_timeline(self, filter: str) -> None:
        """Show the rows of the maximised log again; with a filter, those that match it."""
        self._screen.remove_class("-timeline")
        self._front = "messages"
        self.arrange()
        if filter:
            self._panes.messages.show_filtered(filter)
        self.focus_in(self._panes.messages)

    @property
    def in_log(self) -> bool:
        """Whether the messages, or the timeline in their place, have the focus."""
        return self._panes.messages.has_focus_within or self._panes.in_timeline

    # Focus

    def _keep_focus(self) -> None:
        """If the focused widget is hidden, focus a visible one: keys must not go to a hidden widget."""
        if self._screen.focused is not None and all(node.display for node in self._screen.focused.ancestors_with_self):
            return
        self._screen.set_focus(None)
        where = self._front if self.narrow else "list"
        if where == "messages" or self._screen.has_class("-maximised"):
            self.focus_in(self._panes.messages)
        elif where == "detail":
            self.focus_in(self._panes.detail)
        elif where == "work" and not self._unconnected and self.place in _LISTS:
            self.focus_work()
        else:
            self.focus_list()

    def leave_work(self) -> None:
        """Go from the work pane back to the list."""
        self.go("list")
        self.focus_list()

    def focus_work(self) -> None:
        """Focus the work pane, or the one in its place."""
        if self.place in _BESIDE:
            self.focus_in(self._panes.get(_BESIDE[self.place]))
        else:
            self._panes.work.focus_work()

    def focus_list(self) -> None:
        """Focus the list of the tab."""
        self.focus_in(self._panes.get("failed" if self._unconnected else _LISTS.get(self.place, self.place)))

    def focus_in(self, pane: Widget | None) -> None:
        """Focus a pane: the widget that it names, its list, or itself."""
        if pane is self._panes.messages and self._screen.has_class("-timeline"):
            pane = self._panes.timeline
        if pane is None:
            return
        if isinstance(pane, TakesFocus):
            pane.focus_inside()
            return
        try:
            self._screen.set_focus(pane.query_one(VirtualList))
        except NoMatches:
            pane.focus()

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
        """Go to the log; from the log, back to the list."""
        if self.in_log:
            self.maximise(False)
            self.go("list")
            self.arrange()
            self.focus_list()
            return
        self.show_log("messages")
        self._panes.messages.tick()
        self.focus_in(self._panes.messages)

    def action_back(self) -> None:
        """Go from a message to the log; in a single column, from the log or the server to the list."""
        in_log, medium = self._panes.messages.has_focus_within, self._screen.has_class("-medium")
        if self._panes.detail.has_focus_within or (in_log and medium and self._screen.has_class("-detail")):
            self.go("messages")
            self.focus_in(self._panes.messages)
        elif (self.narrow or self.place in ("check", "skills")) and in_log and not self._screen.has_class("-maximised"):
            self.go("list")
            self.focus_list()
        elif self.narrow and self._front == "work" and self._session.commands is None:
            self.leave_work()  # in a recording, nothing there can have the focus
        else:
            raise SkipAction

    def action_toggle_messages(self) -> None:
        if self.narrow:
            self.action_messages()
            return
        self.restore_zoom()
        self._screen.toggle_class("-log-hidden")
        self.maximise(False)
        self.arrange()
        if self._screen.has_class("-log-hidden"):
            self.focus_list()

    # Zoom

    @property
    def zoom_hint(self) -> tuple[str, str] | None:
        """Return the verb of the zoom key with its title, or None if it has no effect now."""
        if self._screen.has_class("-maximised") or self._screen.has_class("-zoomed"):
            return ("app.zoom", "restore")
        zoom = self._zoom
        pane = zoom.pane_of(self._screen.focused)
        if pane is None or not (pane is self._panes.messages or zoom.is_useful(pane)):
            return None
        return ("app.zoom", "zoom")

    def action_zoom(self) -> None:
        """Give the focused pane the whole screen, or restore the panes. The log then has one row per exchange."""
        zoom = self._zoom
        pane = zoom.pane_of(self._screen.focused)
        if self._screen.has_class("-maximised"):
            self._zoom_log(False)
        elif zoom.pane is not None:
            self.restore_zoom()
        elif pane is self._panes.messages:
            self._zoom_log(True)
        elif pane is not None and zoom.is_useful(pane):
            self._screen.add_class("-zoomed")
            zoom.show(pane)
            self.arrange()
        self._screen.post_message(HintsChanged())

    def _zoom_log(self, zoomed: bool) -> None:
        self.maximise(zoomed)
        self._screen.remove_class("-log-hidden")
        if self.narrow:
            self._front = "messages"
        self.arrange()
        self.focus_in(self._panes.messages)

    def restore_zoom(self) -> None:
        """Show all panes again after a zoom."""
        if self._zoom.pane is not None:
            self._zoom.restore()
            self._screen.remove_class("-zoomed")
            self.arrange()
