"""The verbs of a session that work from every pane: connection, export, search, check, comparison, quit."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import TYPE_CHECKING, Any

from textual.screen import Screen

from inspector.client.session_state import SessionState
from inspector.config.paths import make_private
from inspector.config.settings import settings_file
from inspector.errors import InspectorError
from inspector.protocol.forms.form import UNSET
from inspector.reasons import os_reason
from inspector.tui.advice import connect_again, error_text
from inspector.tui.dialogs import Choose, leave_calls
from inspector.tui.diff.choose import compare_with
from inspector.tui.main.layout import PaneLayout
from inspector.tui.main.panes import Panes
from inspector.tui.main.saving import SavedFiles
from inspector.tui.model.reasons import why_not
from inspector.tui.model.session import SESSION_VERBS, SessionFacts
from inspector.tui.pane_keys import hints
from inspector.tui.pane_messages import EditMessage, ShowEvent, ShowFiltered, ShowStart
from inspector.tui.server.connection import ScreenConnection
from inspector.tui.server.watches import FileWatch, PinWatch
from inspector.tui.sessions import calls_in_flight
from inspector.tui.widgets.external_editor import edit_file
from inspector.tui.window import window_of

if TYPE_CHECKING:
    from inspector.calls.collection import Collection
    from inspector.tui.search.sources import SearchHit


class SessionVerbs:
    """The verbs of a session's screen. `show_address` selects an item by its list and its name or URI.

    `collection` returns the saved calls that were read.
    """

    def __init__(
        self,
        screen: Screen[None],
        session: SessionState,
        panes: Panes,
        layout: PaneLayout,
        connection: ScreenConnection,
        saving: SavedFiles,
        pin: PinWatch,
        files: FileWatch,
        *,
        show_address: Callable[..., object],
        collection: Callable[[], Collection | None],
    ) -> None:
        self._screen = screen
        self._session = session
        self._panes = panes
        self._layout = layout
        self._connection = connection
        self._saving = saving
        self._pin = pin
        self._files = files
        self._show_address = show_address
        self._collection = collection

    def can(self, action: str) -> bool:
        """Whether a verb works now."""
        return SESSION_VERBS.can(action, self._facts)

    def why_not(self, verb: str) -> str:
        """Return why a verb does not work now; empty if it does."""
        return why_not(verb, SESSION_VERBS, self._facts())

    def _facts(self) -> SessionFacts:
        session = self._session
        return SessionFacts(
            live=session.commands is not None,
            is_process=session.target.kind == "stdio",
            asked=self._panes.work.next_question() is not None,
            can_go_back=self._layout.back_leads_to is not None,
            has_outcome=self._layout.arrangement.tab.beside == "work" and self._panes.work.has_outcome,
        )

    def _dialog(self, ask: Coroutine[Any, Any, None]) -> None:
        self._screen.run_worker(ask, exclusive=True, group="dialog")

    # The connection

    def action_reconnect(self) -> None:
        """Close the connection and open it again, on the same recording. Of a recording, offer to open its server."""
        if self._session.commands is None:
            from inspector.client.recorded_session import recorded_target

            # The user sees the command before it is started: the recording may be of others.
            self._screen.post_message(ShowStart(recorded_target(self._session.journal)))
        else:
            self._connection.reopen()

    action_restart = action_reconnect

    def action_revision(self) -> None:
        """Choose revision and era, and reconnect with them."""
        self._connection.choose_revision(self._panes.work.suggested_revision)

    def action_extensions(self) -> None:
        """Choose the extensions that our client offers, and reconnect with them."""
        self._connection.choose_extensions()

    def action_watch(self) -> None:
        """Restart the server when one of its files changes, or stop watching them."""
        self._files.toggle()

    # What is shown

    async def action_question(self) -> None:
        """Go to the next open question: in its call, beside the lists, or in the inbox."""
        # In one column, the focus moves when the list is hidden.
        question, came_from = self._panes.work.next_question(), self._screen.focused
        if question is None:
            return
        if not self._layout.arrangement.tab.lists and self._layout.place != "inbox":
            await self._layout.show_place("inbox")
        if self._layout.place == "inbox" and self._panes.inbox is not None:
            self._panes.inbox.move_to(question)
        self._layout.show_beside()
        self._panes.work.go_to_question(question, came_from)

    def action_stderr(self) -> None:
        """Show what the server process wrote to stderr."""
        self._screen.post_message(ShowFiltered("kind:stderr"))

    async def action_check(self) -> None:
        """Check the server, or the messages in the recording."""
        await self._layout.show_place("check")
        if self._panes.check is not None:
            self._panes.check.action_run()

    def action_pin(self) -> None:
        """Pin what the server offers now, to get a warning when it changes."""
        self._pin.pin()

    def action_start_list(self) -> None:
        """Go to the start list; the session stays open."""
        self._screen.post_message(ShowStart())

    def action_help(self) -> None:
        """Show the keys of the focused pane."""
        window_of(self._screen).navigator.show_help(self._screen.focused or self._screen)

    def action_compose(self) -> None:
        """Write any message by hand."""
        self._screen.post_message(EditMessage(""))

    def action_export(self) -> None:
        """Export the recording."""
        self._saving.export(None)

    # Dialogs

    def action_search(self, text: str = "") -> None:
        """Search everywhere for a text, and go to the chosen result."""
        self._dialog(self._search(text))

    async def _search(self, text: str = "", selected: SearchHit | None = None) -> None:
        from inspector.tui.search.screen import SearchScreen

        open_now = window_of(self._screen).navigator.recorded_now()
        search = SearchScreen(self._session, self._collection(), open_now=open_now, text=text, selected=selected)
        hit = await self._screen.app.push_screen_wait(search)
        if hit is not None:
            await self._open_hit(hit, lambda: self._dialog(self._search(search.text, hit)))

    async def _open_hit(self, hit: SearchHit, again: Callable[[], object]) -> None:
        """Show a result. `again` returns to the search from a recording."""
        key: Any = hit.key
        if hit.group == "messages":
            self._screen.post_message(ShowEvent(key))
        elif hit.group == "calls":
            await self._layout.show_place("calls")
            if self._panes.calls is not None:
                self._panes.calls.select(*key)
        elif hit.group in ("open", "recordings"):
            path: Path
            try:
                path, n = key
                window_of(self._screen).navigator.show_found(path, n, again)
            except InspectorError as error:
                self._screen.notify(error_text(error, self._screen), severity="error", markup=False)
        else:
            self._show_address(*key)

    def action_compare_with(self) -> None:
        """Choose another recording to compare with."""
        self._dialog(compare_with(self._screen, self._session.journal.path))

    def action_theme(self) -> None:
        """Choose a theme."""
        self._dialog(self._choose_theme())

    async def _choose_theme(self) -> None:
        switch = window_of(self._screen).theme_switch
        names = [(name, "") for name in switch.names()]
        name = await self._screen.app.push_screen_wait(Choose("Theme", names, switch.name))
        if name is not None:
            switch.choose(name)

    def action_settings(self) -> None:
        """Open the file of the settings in the editor."""
        self._dialog(self._edit_settings())

    async def _edit_settings(self) -> None:
        path = settings_file()
        try:
            make_private(path.parent)
            await edit_file(self._screen.app, path)
        except InspectorError as error:
            self._screen.notify(error_text(error, self._screen), severity="error", markup=False)
        except OSError as error:
            text = f"{path.parent} cannot be created: {os_reason(error)}"
            self._screen.notify(text, severity="error", markup=False)

    def action_quit(self) -> None:
        """Quit; asks first if any session has a call in flight."""
        self._dialog(self._quit())

    async def _quit(self) -> None:
        app, sessions = self._screen.app, window_of(self._screen).sessions
        if await leave_calls(app, lambda: sessions.in_flight() or calls_in_flight(self._session), "Quit", "leave"):
            app.exit(0)

    def action_side_by_side(self) -> None:
        """Call the tool that is shown in this session and in another open one."""
        self._dialog(self._side_by_side())

    async def _side_by_side(self) -> None:
        screen, navigator = self._screen, window_of(self._screen).navigator
        if self._session.phase != "ready":
            screen.notify(f"This session is not connected. {connect_again(screen)}", timeout=5)
            return
        others = navigator.pair_candidates(self._session)
        if not others:
            key = next((hint.label for hint in hints(screen, "app.start-list")), "f3")
            screen.notify(f"No other session is connected. {key} shows the start list, s opens one beside.", timeout=8)
            return
        other = others[0]
        if len(others) > 1:
            names = [(f"{at}  {candidate.name}", candidate.state[0]) for at, candidate in enumerate(others, 1)]
            chosen = await screen.app.push_screen_wait(Choose("Side by side with", names))
            if chosen is None:
                return
            other = others[[name for name, _ in names].index(chosen)]
        item = self._panes.work.work
        tool = item.catalog_item.address if item.catalog_item.list_name == "tools" else ""
        value = self._panes.work.request.form.value if tool else UNSET
        await navigator.show_pair(self._session, other, tool, value)
