"""The texts of the lines around the panes for a recording, and its search in a thread."""

from __future__ import annotations

import asyncio
import shlex
from collections.abc import Sequence

from textual.screen import Screen

from inspector.client.recorded import RecordedSession
from inspector.journal.filters import Filter
from inspector.replay import speeds
from inspector.replay.player import Player
from inspector.text import safe
from inspector.tui.available_verbs import contexts
from inspector.tui.keymap import KeyHint
from inspector.tui.log.rows import moment
from inspector.tui.pane_keys import hints
from inspector.tui.replay.scrub import playing
from inspector.tui.themes import signs_now
from inspector.tui.widgets.paint import Pieces
from inspector.tui.widgets.status_lines import LinePart

WIDE = 130
"""Width in cells from which more than the moment fits."""
_MOVES = frozenset({"table", "text", "json", "timeline", "field", "choices"})
"""Contexts that use the arrows themselves."""
_MIN_NAME = 16
_MAX_LENGTH = 200


def header(session: RecordedSession, player: Player, state: tuple[str, str], width: int) -> list[LinePart]:
    """Return the header: recording, target, date, playback; `state` is the state of the file with its role."""
    path, server, journal = session.target.path, session.server, session.journal
    told = journal.header.get("target")
    target = told if isinstance(told, dict) else {}
    address = safe(recorded_target(session) or target.get("name", ""), _MAX_LENGTH)
    began = journal.clock(0)
    date = f"{began.day} {began:%b %H:%M}" if journal.started.timestamp() else ""
    revision: Pieces = [server.revision, (f" {server.era}", "muted")] if server.known else ""
    word, role = state
    # The rest of the line shows a file in its usual state.
    odd = role in ("finding", "progress", "error") or word == "following"
    name = safe(server.title, max(width // 4, _MIN_NAME))
    parts = [
        LinePart([[("replay", "bright bold")]]),
        LinePart([[safe(path.name, _MAX_LENGTH)], [safe(path.name, max(width // 3, _MIN_NAME))]], (3,), gap=2),
        LinePart([[(name, "muted")], ""], (4,), gap=2),
        LinePart([[(address, "muted")], [(safe(address, width // 4), "muted")], ""], (1, 2), gap=2),
        LinePart([safe(target.get("kind", ""), 20), ""], (6,), right=True),
        LinePart([revision, server.revision if server.known else "", ""], (0, 7), right=True, gap=2),
        LinePart([[(date, "muted")], ""], (5,), right=True),
        LinePart([[(playing(player), "progress")], ""], (9,), right=True),
    ]
    if odd:
        sign = signs_now().live if role == "received" else signs_now().finding if role == "finding" else ""
        parts.append(LinePart([[(f"{sign} {word}".strip(), role)]], right=True))
    parts.append(LinePart([[("read-only", "muted")], ""], (8,), right=True))
    return parts


def recorded_target(session: RecordedSession) -> str:
    """Return the target as it would be typed; empty if the recording does not have it."""
    told = session.journal.header.get("target")
    target = told if isinstance(told, dict) else {}
    url, argv = target.get("url"), target.get("argv")
    if isinstance(url, str):
        return url
    return shlex.join(map(str, argv)) if isinstance(argv, list) else ""


def note(session: RecordedSession, player: Player, width: int, *, behind: bool) -> Pieces:
    """Return the moment shown, and the calls in flight then; `behind`: the panes do not show it yet."""
    flying = len(waited_for(session)) if width >= WIDE else 0
    calls: Pieces = [(f"{flying} in flight   ", "progress")] if flying else []
    at = (moment(player.now), "progress" if behind else "bright")
    return [*calls, ("as it was at ", "muted"), at]


def waited_for(session: RecordedSession) -> list[int]:
    """Return the requests in flight at the moment, except those that last as long as the session."""
    method = session.journal.index.method
    return [n for n in session.in_flight() if method(n) != "subscriptions/listen"]


def tab_hints(screen: Screen[None]) -> list[KeyHint]:
    """Return the keys at the right of the tabs while the end is shown."""
    return hints(screen, "app.palette", "app.help")


def footer(screen: Screen[None], player: Player, shown: Sequence[KeyHint]) -> list[KeyHint]:
    """Return the footer's keys: at the end those of the panes and play, elsewhere those of the player."""
    play = hints(screen, ("replay.play", "pause" if player.playing else "play"))
    if player.at_end:
        # Where the focus has its own use for the arrows, they do not step.
        taken = {key for hint in shown for key in (hint.key, hint.label)}
        steps = [] if _MOVES & set(contexts(screen.focused or screen)) else _step(screen)
        steps = [hint for hint in steps if hint.key not in taken]
        more = [hint for hint in hints(screen, "replay.serve", "replay.rerun") if hint.key not in taken]
        return [*play, *steps, *hints(screen, "replay.seek"), *shown, *more]
    found = [
        *play,
        *_step(screen),
        *_pair(screen, "replay.previous-exchange", "replay.next-exchange", "exchange"),
        *_pair(screen, "replay.previous-finding", "replay.next-finding", "finding", gap=" "),
        *_pair(screen, "replay.slower", "replay.faster", speeds.words(player.speed), gap=" "),
        *hints(screen, "replay.seek", "replay.serve", "replay.rerun"),
    ]
    taken = {key for hint in found for key in (hint.key, hint.label)}
    return [*found, *(hint for hint in shown if hint.key not in taken)]


def _step(screen: Screen[None]) -> list[KeyHint]:
    return _pair(screen, "replay.previous-frame", "replay.next-frame", "event")


def _pair(screen: Screen[None], back: str, on: str, title: str, gap: str = "") -> list[KeyHint]:
    """Join two keys for both directions into one hint; a click presses the second."""
    both = hints(screen, back, on)
    if len(both) < 2:
        return both
    first, second = both
    if first.label[:-1] == second.label[:-1] and len(first.label) > 1:
        return [KeyHint(f"{first.label}{second.label[-1]}", title, second.key, second.verb)]
    return [KeyHint(f"{first.label}{gap}{second.label}", title, second.key, second.verb)]


async def next_match(player: Player, filter: Filter, by: int) -> int:
    """Return the next event that matches a filter; a distant one is searched in a thread."""
    return player.near_match(filter, by) or await asyncio.to_thread(player.next_match, filter, by)
