"""The edge of the message log: facts at the top, keys at the bottom and in the footer."""

from __future__ import annotations

from dataclasses import dataclass

from textual.widget import Widget

from inspector.client.session_state import SessionState
from inspector.journal.filters import Filter
from inspector.text import count, duration, yours
from inspector.tui.keymap import KeyHint
from inspector.tui.log.resend import sent_by_us
from inspector.tui.log.view import MessageView
from inspector.tui.pane_keys import hints
from inspector.tui.themes import signs_now
from inspector.tui.widgets import paint


@dataclass(frozen=True, slots=True)
class LogState:
    """The facts that the edge of the log shows."""

    session: SessionState
    view: MessageView
    current: int
    """The event under the cursor, or 0."""
    one_exchange: bool
    maximised: bool
    follow: bool
    comparing: bool
    """One of the two messages of a comparison is chosen."""
    looking: bool
    """A thread is still reading the recording."""
    searched: bool
    """A filter was used, so the next match can be found."""
    happened: int | None = None
    """In a recording at a moment: how many of the rows had happened."""
    newer: int = 0
    """Rows that have arrived since the user left the end."""
    problem: str = ""
    """Why the typed filter is not in force."""

    @property
    def filter(self) -> Filter | None:
        """The filter in force."""
        return self.view.filter


def facts(state: LogState) -> list[paint.Pieces]:
    """Return the facts at the top: rows, what is new or folded, results of exchanges, follow mode."""
    view, signs = state.view, signs_now()
    rows = len(view.numbers)
    thing = "row" if view.folded is not None or view.exchanges is not None else "event"
    found: list[paint.Pieces] = [[(state.problem, "error")]] if state.problem else []
    if state.looking and view.behind:
        found.append(f"{_things(rows, thing)} so far {signs.cut}")
    elif state.happened is not None and not state.maximised:
        found.append(f"{count(state.happened)} of {_things(rows, thing)} so far")
    elif view.exchanges is not None:
        found.append(_things(rows, thing))
        if view.filtered is not None:
            found.append(f"{count(view.matching)} of {_things(view.last, 'event')} match")
    elif view.filtered is not None:
        total = len(view.folded) if view.folded is not None else view.seen
        found.append(f"{_things(rows, thing)}{' of this exchange' if state.one_exchange else ''}")
        if total > rows:
            hidden = f"{count(total - rows)} hidden"
            found.append([(hidden if state.problem else f"{hidden} by the filter", "bright")])
    else:
        found.append(_things(rows, thing))
    if state.newer:
        found.append([(f"{signs.unfolded} {_things(state.newer, f'newer {thing}')} below", "bright")])
    if view.exchanges is not None and state.session.at_end:
        # Before the end of a recording, they would tell what had not happened yet.
        stats = view.exchanges.stats
        if stats.errors:
            found.append([(_things(stats.errors, "error"), "error")])
        found += [f"{name} {duration(us)}" for name, us in (("p50", stats.p50), ("p95", stats.p95)) if us is not None]
        if stats.person:
            found.append([(yours(duration(stats.person)), "ask")])
    if state.comparing:
        found.append([("comparing: press d on the other", "ask")])
    marks = len(state.session.journal.marks)
    if marks:
        found.append([(f"{_things(marks, 'mark')}", "bright")])
    if view.folding is not None and view.folding.hidden and view.filtered is None:
        found.append(f"{_things(len(view.folding.hidden), 'event')} folded")
    if state.follow:
        found.append("follow")
    return found


def _things(number: int, thing: str) -> str:
    return f"{count(number)} {thing}{'' if number == 1 else 's'}"


def words_for_nothing(state: LogState) -> str:
    """Return the text for a log without rows."""
    if state.filter is None:
        return "No messages yet." if state.session.commands is not None else "The recording has no messages yet."
    return f"Looking {signs_now().cut}" if state.looking else "No message matches the filter."


def footer_hints(widget: Widget, state: LogState) -> list[KeyHint]:
    """The keys for the row under the cursor."""
    if not len(state.view.numbers):
        return hints(widget, "messages.filter")
    session, n = state.session, state.current
    wanted: list[str | tuple[str, str]] = [
        "list.select" if session.commands is not None else ("list.select", "go there"),
        "messages.filter",
    ]
    if state.searched:
        wanted.append("messages.next-hit")
    if session.journal.findings.total:
        wanted.append("messages.next-finding")
    marks = session.journal.marks
    if n:
        wanted.append(("messages.mark", "unmark" if marks.of(n) is not None else "mark"))
    if len(marks):
        wanted.append("messages.next-mark")
    if state.view.folding is None or state.view.folding.hidden:
        wanted.append(_fold_hint(state))
    wanted.append(("messages.exchange", "all") if state.one_exchange else "messages.exchange")
    if n and session.journal.index.pair(n):
        wanted.append("messages.partner")
    if session.commands is not None and sent_by_us(session.journal.index, n):
        wanted += ["messages.send-again", "messages.edit-again"]
    if state.maximised:
        wanted.insert(2, "messages.timeline")
    # A maximised log has its way out at the right of the footer.
    return hints(widget, *wanted, "messages.follow", "messages.times", *([] if state.maximised else ["app.zoom"]))


def _fold_hint(state: LogState) -> tuple[str, str]:
    return "messages.fold", "fold" if state.view.folding is None else "unfold"


def exchange_keys(widget: Widget, state: LogState) -> list[KeyHint]:
    """Return the keys at the bottom of the exchange view, which act on the filtered events."""
    these = f"export these {count(state.view.matching)}" if state.filter is not None else "export"
    wanted: list[str | tuple[str, str]] = ["messages.filter", "list.select", "messages.timeline"]
    if state.session.commands is not None:
        wanted.append("messages.send-again")
    if state.view.folding is None or state.view.folding.hidden:
        wanted.append(_fold_hint(state))
    wanted += ["messages.compare", "messages.follow", "messages.times", ("messages.export", these)]
    return hints(widget, *wanted)
