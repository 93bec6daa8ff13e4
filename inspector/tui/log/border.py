"""The edge of the message log: what it tells about the rows, and about a log without any."""

from __future__ import annotations

from inspector.text import count, duration, quantity, yours
from inspector.tui.log.message_list import MessageList
from inspector.tui.log.resend import sent_by_us
from inspector.tui.model.log import LogFacts, LogQuery
from inspector.tui.themes import signs_now
from inspector.tui.widgets import paint


def verb_facts(messages: MessageList, query: LogQuery, *, typed: bool) -> LogFacts:
    """Return what the verbs depend on; `typed`: the filter field has text."""
    session, view, current = messages.session, messages.reader.view, messages.current
    journal = session.journal
    return LogFacts(
        rows=messages.count,
        live=session.commands is not None,
        at_end=session.at_end,
        filtered=query.filter is not None,
        can_clear=query.filter is not None or typed or messages.place.compared > 0,
        searched=query.searched is not None,
        folds=query.folds,
        by_exchange=query.by_exchange,
        is_one_exchange=query.is_one_exchange,
        matching=view.matching,
        hidden=len(view.folding.hidden) if view.folding is not None else 0,
        findings=journal.findings.total,
        marks=len(journal.marks),
        current=current,
        marked=current > 0 and journal.marks.of(current) is not None,
        has_partner=current > 0 and journal.index.pair(current) > 0,
        sent=sent_by_us(journal.index, current) > 0,
    )


def facts(messages: MessageList, query: LogQuery) -> list[paint.Pieces]:
    """Return the facts at the top: rows, what is new or folded, results of exchanges, follow mode."""
    session, view, signs = messages.session, messages.reader.view, signs_now()
    happened, newer = messages.rows.happened, messages.unseen
    rows = len(view.numbers)
    thing = "row" if view.folding is not None or view.exchanges is not None else "event"
    found: list[paint.Pieces] = [[(query.problem, "error")]] if query.problem else []
    if messages.reader.is_behind and view.behind:
        found.append(f"{quantity(rows, thing)} so far {signs.cut}")
    elif happened is not None:
        found.append(f"{count(happened)} of {quantity(rows, thing)} so far")
    elif view.exchanges is not None:
        found.append(quantity(rows, thing))
        if view.filtered is not None:
            found.append(f"{count(view.matching)} of {quantity(view.last, 'event')} match")
    elif view.filtered is not None:
        total = len(view.everything)
        found.append(f"{quantity(rows, thing)}{' of this exchange' if query.is_one_exchange else ''}")
        if total > rows:
            hidden = f"{count(total - rows)} hidden"
            found.append([(hidden if query.problem else f"{hidden} by the filter", "bright")])
    else:
        found.append(quantity(rows, thing))
    if newer:
        found.append([(f"{signs.unfolded} {quantity(newer, f'newer {thing}')} below", "bright")])
    if view.exchanges is not None and session.at_end:
        # Before the end of a recording, they would tell what had not happened yet.
        stats = view.exchanges.stats
        if stats.errors:
            found.append([(quantity(stats.errors, "error"), "error")])
        found += [f"{name} {duration(us)}" for name, us in (("p50", stats.p50), ("p95", stats.p95)) if us is not None]
        if stats.person:
            found.append([(yours(duration(stats.person)), "ask")])
    if messages.place.compared:
        found.append([("comparing: press d on the other", "ask")])
    marks = len(session.journal.marks)
    if marks:
        found.append([(f"{quantity(marks, 'mark')}", "bright")])
    if view.folding is not None and view.folding.hidden and view.filtered is None:
        found.append(f"{quantity(len(view.folding.hidden), 'event')} folded")
    if messages.follow:
        found.append("follow")
    return found


def words_for_nothing(messages: MessageList, query: LogQuery) -> str:
    """Return the text for a log without rows."""
    if query.filter is None:
        return "No messages yet." if messages.session.commands is not None else "The recording has no messages yet."
    return f"Looking {signs_now().cut}" if messages.reader.is_behind else "No message matches the filter."
