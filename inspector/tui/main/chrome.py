"""The lines around the panes: header, tabs and footer of a session."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from inspector.client.session_state import SessionState
from inspector.config.targets import HttpTarget
from inspector.errors import AuthorizationNeeded
from inspector.text import count, safe
from inspector.tui.keymap import KeyHint
from inspector.tui.model import header as model
from inspector.tui.model.arrangement import Arrangement
from inspector.tui.model.header import HeaderFacts
from inspector.tui.model.tabs import TABS, shown_tabs
from inspector.tui.pane_keys import own_hints
from inspector.tui.sessions import Sessions, offers
from inspector.tui.themes import signs_now
from inspector.tui.widgets.paint import Piece, Pieces
from inspector.tui.widgets.status_lines import Footer, LinePart, MainTab

_MIN_NAME = 16
_MAX_NAMES = 60
_MARKS = {"ask": "asked", "finding": "finding", "error": "failed"}


def header(session: SessionState, state: tuple[str, str] | None, width: int) -> list[LinePart]:
    """Return the header: name, state, and what needs the user; `state` replaces that of the connection."""
    target, server = session.target, session.server
    facts = HeaderFacts(
        phase=session.phase,
        instead=state,
        exchange_lost=session.exchange_lost,
        unauthorized=isinstance(session.error, AuthorizationNeeded),
        unchecked=isinstance(target, HttpTarget) and not target.verify,
        host="".join(target.describe_fully().partition("its host ")[1:]).rstrip(")"),
        incomplete=session.journal.incomplete,
        questions=len(session.inbox.open()),
        declined=session.inbox.declined,
        findings=session.journal.findings.total,
        notices=tuple(session.journal.notices),
    )
    # A long name must leave room for the state.
    name = safe(server.title or target.label, max(width // 3, _MIN_NAME))
    return header_parts([(name, "bright bold")], model.state(facts), model.needs(facts))


def header_parts(name: Pieces, state: tuple[str, str], needs: Sequence[model.HeaderNotice]) -> list[LinePart]:
    """Return the parts of a header. On a narrow screen a state without a problem keeps only its sign."""
    signs, (word, role) = signs_now(), state
    fine = role not in ("error", "finding")
    sign: Piece = (signs.live if fine else signs.failed, role)
    # A muted state is neither good nor bad.
    words: Pieces = [(word, role)] if role == "muted" else [sign, " ", (word, "normal" if fine else role)]
    parts = [LinePart([name]), LinePart([words, [sign]], (2,)) if fine else LinePart([words])]
    for need in needs:
        mark = getattr(signs, _MARKS[need.role])
        forms = [[(f"{mark} {text}", need.role)] for text in (need.text, need.short)]
        parts.append(LinePart(forms, (1,), right=True))
    return parts


def other_sessions(sessions: Sessions, session: SessionState) -> list[LinePart]:
    """Return the other open sessions whose servers ask something; on a narrow screen their number."""
    asking = [opened for opened in sessions.opened if opened.waits and opened.session is not session]
    if not asking:
        return []
    names = ", ".join(f"{opened.wants} in {opened.name}" for opened in asking)
    forms = [[(f"{signs_now().asked} {words}", "ask")] for words in (safe(names, _MAX_NAMES), f"+{len(asking)}")]
    return [LinePart(forms, (1,), right=True)]


def main_tabs(
    session: SessionState, active: str, score: str = "", *, saved: int = 0, of_features: Mapping[str, int] | None = None
) -> list[MainTab]:
    """Return the tabs with their counts, and the score of the checks. `active` is the tab in front.

    `of_features` are the counts of tabs that features bring.
    """
    waiting, catalog = len(session.inbox.open()), session.catalog
    numbers = {"inbox": waiting, "tasks": len(session.tasks.items), "calls": saved, **(of_features or {})}
    texts = {id: count(number) for id, number in numbers.items() if number} | {"check": score}
    for tab in TABS:
        if any(catalog[name].pages for name in tab.lists):
            texts[tab.id] = count(sum(len(catalog[name]) for name in tab.lists))
    there: dict[str, object] = {"inbox": session.inbox.questions, "tasks": session.tasks.items, **(of_features or {})}
    # The number is known only after the server was asked; it declares that it has some.
    there |= {tab.id: True for tab in TABS if tab.extension and offers(session, tab)}
    return [
        MainTab(
            tab.id, tab.key, tab.title, tab.short, texts.get(tab.id, ""), "ask" if tab.id == "inbox" and waiting else ""
        )
        for tab in shown_tabs(active, frozenset(id for id, some in there.items() if some))
    ]


def draw_footer(
    line: Footer,
    arrangement: Arrangement,
    zoom: tuple[str, str] | None = None,
    *,
    first: Callable[[list[KeyHint]], list[KeyHint]] | None = None,
    in_panes: Sequence[KeyHint] = (),
    asked: bool = False,
    out_of_log: str = "",
    is_down: bool = False,
) -> None:
    """Offer the keys that work now.

    `zoom` is the verb of the zoom key with its title, None if it has no effect now. `first` puts the keys of a player
    before those of a pane. `in_panes` are the keys that a pane shows for a decision. `asked`: a question of the server
    is open. `out_of_log` is the title of the key that leads out of the log; empty outside it. `is_down`: the
    connection of a live session is gone.
    """
    screen = line.screen
    own = own_hints(screen.focused, screen)
    common: list[str | tuple[str, str]] = [("app.messages", out_of_log), "app.quit", "app.start-list"]
    common += [zoom] if zoom else []
    common += ["app.reconnect"] if is_down and all(hint.verb != "failed.again" for hint in own) else []
    common += ["app.question"] if asked and not any(hint.verb.startswith(("ask.", "asked.")) for hint in own) else []
    if title := getattr(screen.focused, "tab_title", ""):
        common.append(("app.next-pane", title))
    own = first(own) if first is not None else own
    line.offer(own, *common, zoomed=arrangement.is_zoomed, in_panes=in_panes)
