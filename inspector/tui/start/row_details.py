"""The details of a row of the start list, shown below it: open questions, server, origin."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import NamedTuple

from inspector.client.recording_info import RecordingInfo
from inspector.text import duration, quantity, safe, size, when
from inspector.tui.ask import labels
from inspector.tui.sessions import OpenSession
from inspector.tui.start.rows import KEPT, Configured, RegistryRow, Thing
from inspector.tui.themes import signs_now
from inspector.tui.widgets.fact_rows import Row, fact
from inspector.tui.widgets.paint import Pieces

_QUESTIONS = 3
"""Questions that are shown; the others are counted."""
_TEXT = 300


class RowDetails(NamedTuple):
    """A pane: its title, the facts at its edge, its rows."""

    title: str
    facts: Sequence[Pieces]
    rows: list[Row]


def about(thing: Thing | None, kept: frozenset[str] = frozenset()) -> RowDetails | None:
    """Return the details of a row; None if the row has no more."""
    if isinstance(thing, OpenSession):
        return _of_session(thing)
    if isinstance(thing, Configured):
        return _of_entry(thing)
    if isinstance(thing, RegistryRow):
        return _of_found(thing)
    return _of_recording(thing, thing.path.name in kept) if isinstance(thing, RecordingInfo) else None


def _of_found(thing: RegistryRow) -> RowDetails:
    rows = fact("opens", thing.choice.summary)
    rows += fact("about", thing.server.description) if thing.server.description else []
    rows += fact("registry", thing.source)
    for problem in thing.server.problems[:3]:
        rows += fact("", problem, "finding")
    return RowDetails(thing.server.name, (thing.state,), rows)


def _of_session(opened: OpenSession) -> RowDetails:
    session = opened.session
    server, rows = session.server, []
    waiting = session.inbox.open() if session.commands is not None else []
    for question in waiting[:_QUESTIONS]:
        waited = duration(max(session.journal.now() - question.t, 0))
        asked: Pieces = [(f"{signs_now().asked} ", "ask"), (labels.summary(question), "bright"), f"  {question.topic}"]
        rows.append(Row([*asked, (f"  waits {waited}", "ask")]))
    if len(waiting) > _QUESTIONS:
        rows.append(Row([(f"{quantity(len(waiting) - _QUESTIONS, 'more question')}", "ask")]))
    if opened.dialogs:
        rows.append(Row([(f"{signs_now().asked} ", "ask"), ("a login waits for you", "bright")]))
    rows += [Row()] if rows else []
    if server.known:
        lists = [quantity(len(session.catalog[name]), name[:-1]) for name in ("tools", "resources", "prompts")]
        named = " ".join(each for each in (server.title, safe(server.info.get("version", ""), 40)) if each)
        rows += fact("server", f"{safe(named, _TEXT)}   {'   '.join(lists)}")
        rows += fact("protocol", f"{server.revision} {server.era} over {session.transport_name}")
    if session.error is not None:
        rows += fact("error", session.error.message, "error")
    rows += fact("target", session.target.shown())
    if session.journal.path is not None:
        rows += fact("recording", str(session.journal.path))
    return RowDetails(opened.name, ([opened.state], quantity(len(session.journal), "event")), rows)


def _of_entry(thing: Configured) -> RowDetails:
    entry, last = thing.entry, thing.last
    rows = fact("opens", entry.summary)
    rows += fact("file", f"{entry.path}  ({entry.source_label})")
    rows += fact("last opened", last.describe(time.time()) if last is not None else "never", thing.state[1])
    if thing.asks:
        rows += fact("consent", "This file is not yours: opening the server asks first.", "finding")
    return RowDetails(f"@{entry.name}", (entry.kind,), rows)


def _of_recording(info: RecordingInfo, is_kept: bool) -> RowDetails:
    rows = fact("target", info.target or info.label)
    facts: list[Pieces] = [when(info.started)]
    if info.purpose:
        facts.append(safe(info.purpose, _TEXT))
    if info.events is not None:
        facts.append(quantity(info.events, "event"))
    if info.duration is not None:
        rows += fact("lasted", duration(info.duration))
    rows += fact("protocol", info.revision or "never connected", "normal" if info.revision else "muted")
    if info.failures:
        rows += fact("errors", quantity(info.failures, "error"), "error")
    if info.problem:
        rows += fact("problem", info.problem, "error")
    if is_kept:
        rows += fact("kept", f"{KEPT} never deleted unasked", "bright")
    rows += fact("file", f"{info.path}  {size(info.size)}")
    return RowDetails(info.name, facts, rows)
