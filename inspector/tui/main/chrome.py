"""The lines around the panes: header, tabs and footer of a session."""

from __future__ import annotations

from textual.dom import DOMNode
from textual.screen import Screen
from textual.widget import Widget

from inspector.client.extensions import declared_settings
from inspector.client.session_state import SessionState
from inspector.client.state.catalog import KINDS
from inspector.config.targets import HttpTarget
from inspector.errors import AuthorizationNeeded
from inspector.protocol.extensions import SKILLS
from inspector.text import count, duration, quantity, safe
from inspector.tui.keymap import KeyHint, label, types_text
from inspector.tui.model.arrangement import Arrangement
from inspector.tui.model.tabs import TABS
from inspector.tui.pane_keys import hints, keymap_of
from inspector.tui.sessions import Sessions, offers_tasks
from inspector.tui.widgets.editor import Editor
from inspector.tui.widgets.fields.base import FieldFrame
from inspector.tui.widgets.paint import Piece, Pieces
from inspector.tui.widgets.status_lines import LinePart, MainTab, session_parts

_FIRST = 3
"""Keys of a pane that come before the common ones where there is one column."""

_PHASES = {
    "new": ("starting", "progress"),
    "connecting": ("connecting", "progress"),
    "ready": ("connected", "received"),
    "failed": ("not connected", "error"),
    "lost": ("connection lost", "error"),
    "closed": ("closed", "muted"),
}
"""The label and role of each phase of a live session."""

_MIN_NAME = 16
_HOW = 60
"""Characters that are shown of the way the revision was found."""
_MAX_NOTE = 60
"""Characters of a notice in the footer; a longer one stands on the Server tab only."""


def header(session: SessionState, state: tuple[str, str] | None, width: int) -> list[LinePart]:
    """Return the header: server and state; `state` replaces the phase of a live session."""
    target, problem = session.target, session.journal.incomplete
    latency = session.latency
    phase = _PHASES[session.phase]
    if session.phase == "failed" and isinstance(session.error, AuthorizationNeeded):
        phase = ("not authorized", "error")
    elif session.phase == "ready" and session.exchange_lost:
        phase = _PHASES["lost"]
    said = (problem, "error") if problem else state or phase
    unchecked = isinstance(target, HttpTarget) and not target.verify
    if unchecked and session.phase == "ready" and not problem and state is None:
        said = ("certificate not checked", "error")
    # A long name must leave room for the state.
    name = safe(session.server.title or target.label, max(width // 3, _MIN_NAME))
    declined = session.inbox.declined
    long, short = f"{quantity(declined, 'question')} declined unseen", f"{count(declined)} declined"
    parts = session_parts(
        name,
        target.shown(),
        short_target=target.label if target.label != name else "",
        # The HTTP transport is known only after the connection is made.
        transport=session.transport_name,
        revision=session.server.revision,
        era=session.server.era if session.server.known else "",
        how=safe(session.server.how, _HOW),
        state=said,
        settled=session.phase not in ("failed", "lost") and not (problem or unchecked or session.exchange_lost),
        recorded=len(session.journal),
        latency=duration(latency * 1_000_000) if latency else "",
    )
    return [*parts, LinePart([[(long, "finding")], [(short, "finding")]], (5,), right=True)] if declined else parts


def other_sessions(sessions: Sessions, session: SessionState) -> list[LinePart]:
    """Return the names of the other open sessions; on a narrow screen their number."""
    marks = sessions.marks(session)
    if not marks:
        return []
    long: list[Piece] = []
    for mark in marks:
        long += ["   ", *mark] if long else mark
    asked = any(other.waits for other in sessions.opened if other.session is not session)
    return [LinePart([long, [(f"+{len(marks)}", "ask" if asked else "muted")]], (2,))]


def main_tabs(session: SessionState, score: str = "", skills: int = 0) -> list[MainTab]:
    """Return the tabs with their counts, and the score. Tasks and Skills appear if the server may have some."""
    waiting, tasks = len(session.inbox.open()), session.tasks.items
    tabs = []
    for id, key, title, short, *_ in TABS:
        number = ""
        if id == "tasks":
            if not tasks and not offers_tasks(session):
                continue
            number = count(len(tasks)) if tasks else ""
        if id == "skills":
            if declared_settings(session.server, SKILLS) is None:
                continue
            number = count(skills) if skills else ""
        if id in KINDS:
            found = session.catalog[id]
            number = count(len(found)) if found.pages else ""
        elif id == "inbox" and waiting:
            number = str(waiting)
        elif id == "check":
            number = score
        tabs.append(MainTab(id, key, title, short, number, "ask" if id == "inbox" and waiting else ""))
    return tabs


def footer_hints(
    screen: Screen[None],
    arrangement: Arrangement,
    zoom: tuple[str, str] | None = None,
    *,
    asked: bool = False,
    out_of_log: str = "",
    is_down: bool = False,
) -> list[KeyHint]:
    """Return the keys of the innermost focused pane that has any, and the global ones.

    `zoom` is the verb of the zoom key with its title, None if it has no effect now. `asked`: a question of the server
    is open. `out_of_log` is the title of the key that leads out of the log; empty outside it. `is_down`: a live
    session is not connected any more.
    """
    shown = _hints_at(screen.focused, screen)
    if is_down and all(hint.verb != "failed.again" for hint in shown):
        shown = [*hints(screen, "app.reconnect"), *shown]
    if asked and all(not hint.verb.startswith(("ask.", "asked.")) for hint in shown):
        shown = [*shown, *hints(screen, "app.question")]
    if screen.focused is not None and is_typing(screen):
        # While text is typed, or without letter keys, only the pane's own keys work, and those that type nothing.
        frames = [node for node in screen.focused.ancestors_with_self if isinstance(node, FieldFrame)]
        field = [("app.next-pane", frame.tab_title) for frame in frames[:1]]
        taken = {hint.key for hint in shown}
        return [
            *shown,
            *(hint for hint in _without_letters(screen, *field, "app.start-list") if hint.key not in taken),
        ]
    # A zoomed pane has its key at the right.
    shown = [hint for hint in shown if not (hint.verb == "app.zoom" and arrangement.is_zoomed)]
    taken = {hint.key for hint in shown}
    zooms = [zoom] if zoom and not arrangement.is_zoomed else []
    narrow = arrangement.narrow
    # In one column, the line of the last message has the key of the log.
    log = [("app.messages", out_of_log)] if out_of_log else [] if narrow else ["app.messages"]
    if not narrow:
        common = hints(screen, *zooms, *log, "app.export", "app.quit", "app.start-list")
        return [*shown, *(hint for hint in common if hint.key not in taken)]
    if any(hint.verb.startswith(("form.", "asked.")) for hint in shown):
        return [*shown, *(hint for hint in hints(screen, "app.start-list", "app.export") if hint.key not in taken)]
    # Not all keys fit: some that every pane has come after the first ones of the pane.
    own = {hint.key: hint for hint in shown}
    early = [own.get(hint.key, hint) for hint in hints(screen, *log, "app.export", "app.start-list")]
    first = [hint for hint in shown[:_FIRST] if hint not in early]
    found: dict[str, KeyHint] = {}
    for hint in (*first, *early, *shown[_FIRST:], *hints(screen, "app.quit", *zooms)):
        found.setdefault(hint.key, hint)
    return list(found.values())


def _without_letters(screen: Screen[None], *verbs: str | tuple[str, str]) -> list[KeyHint]:
    """Return the hints of verbs with a key of theirs that types no character; without those that have none."""
    found = []
    for verb in verbs:
        verb_id, title = verb if isinstance(verb, tuple) else (verb, "")
        key = next((key for key in keymap_of(screen).keys(verb_id) if not types_text(key)), None)
        found += [hint._replace(key=key, label=label(key)) for hint in hints(screen, (verb_id, title)) if key]
    return found


def is_typing(screen: Screen[None]) -> bool:
    """Whether letters are text, or at least no verbs: the focus is in a form or a line of text."""
    return isinstance(screen.focused, (Editor, FieldFrame))


def footer_help(screen: Screen[None], arrangement: Arrangement) -> KeyHint | None:
    """Return the key that must always be visible: restore of a zoomed pane, else help.

    While text is typed, it is the key of help that types no character; None if the user's keymap has none.
    """
    verb = ("app.zoom", "restore") if arrangement.is_zoomed else "app.help"
    return next(iter(_without_letters(screen, verb) if is_typing(screen) else hints(screen, verb)), None)


def _hints_at(widget: Widget | None, screen: Screen[None]) -> list[KeyHint]:
    own = hints(widget, *widget.key_verbs()) if isinstance(widget, FieldFrame) else []
    if isinstance(widget, FieldFrame) and widget.keeps_keys:
        return own
    node: DOMNode | None = widget
    while node is not None and node is not screen:
        named = getattr(node, "hints", None)
        if callable(named):
            taken = {hint.key for hint in own}
            return [*own, *(hint for hint in named() if hint.key not in taken)]
        node = node.parent
    return own


def footer_note(session: SessionState) -> Pieces:
    """Return what is unusual about the recording, or whether messages are recorded."""
    notices = session.journal.notices
    if notices and len(notices[0]) > _MAX_NOTE:
        return [(f"{quantity(len(notices), 'notice')}: Server tab", "finding")]
    if notices:
        return [(notices[0], "finding")]
    return "everything is recorded" if session.commands is not None else "read-only"
