"""Chooses the keys that the footer shows: few, and those that are used most of what works now."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from inspector.tui.model.verbs import KeyHint

MOST = 6
"""Keys in a footer, beside that of the keys page at its right."""
GAP = 2
"""Cells between two keys where there is little room."""
URGENT = ("app.reconnect", "app.question")
"""Verbs that are shown first, while there is a reason for them."""
COMMON = (*URGENT, "app.next-pane", "app.messages", "app.quit", "app.start-list", "app.zoom")
"""Verbs of the screen that a footer may show beside those of the pane."""


class FooterFacts(NamedTuple):
    """The facts about the screen on which the footer depends.

    `typing`: letters are text. `narrow`: there is one column. `zoomed`: one pane has the whole screen. `room` is in
    cells. `in_panes`: the keys that a pane shows for a decision.
    """

    typing: bool = False
    narrow: bool = False
    zoomed: bool = False
    room: int = 1000
    in_panes: tuple[KeyHint, ...] = ()


def footer(own: Sequence[KeyHint], common: Mapping[str, KeyHint], facts: FooterFacts) -> list[KeyHint]:
    """Return the keys to show, in order: at most `MOST`, and as many as fit.

    `own` are those of the focused field and pane, the most used ones first; `common` are those of `COMMON` that work
    now, by verb. A pane's own meaning of a key replaces the common one; a common verb that a pane offers is shown at
    the place that the pane gives it, as it works now. The key of the log stays, and so does the way out where nothing
    else shows it. A key that a pane shows is not shown a second time.
    """
    own = [common.get(hint.verb, hint) for hint in own if hint.verb not in COMMON or hint.verb in common]
    of_own = {hint.key: hint for hint in reversed(own)}
    elsewhere = {hint.key for hint in common.values()}

    def named(*verbs: str) -> list[KeyHint]:
        return [of_own.get(common[verb].key, common[verb]) for verb in verbs if verb in common]

    leave = [hint for hint in own if hint.key == "escape"][:1] if facts.narrow or facts.typing else []
    zoom, quits = named("app.zoom"), named("app.quit")
    # The way out of a message leads to the log, too.
    log = [hint for hint in named("app.messages") if hint.title not in {hint.title for hint in leave}]
    stay = [*named(*URGENT), *log, *(zoom if facts.zoomed else []), *leave, *(quits if facts.narrow else [])]
    order = [
        *named(*URGENT),
        *(hint for hint in own if (hint.key not in elsewhere or hint.verb in common) and hint not in leave),
        *named("app.next-pane"),
        *log,
        *(zoom if facts.zoomed else []),
        *leave,
        *quits,
        *named("app.start-list", "app.zoom"),
    ]
    fitting: set[KeyHint] = set()
    room = facts.room
    seen: set[str | tuple[str, str]] = {hint.verb for hint in facts.in_panes}
    # The key of the log stays: in a pane it may show other messages.
    seen |= {(hint.key, hint.title) for hint in facts.in_panes} - {(hint.key, hint.title) for hint in log}
    left = [hint for hint in _distinct([*stay, *order]) if seen.isdisjoint((hint.verb, (hint.key, hint.title)))]
    for hint in left[:MOST]:
        room -= len(hint.label) + len(hint.title) + 1
        if room < 0:
            break
        fitting.add(hint)
        room -= GAP
    return [hint for hint in _distinct(order) if hint in fitting]


def _distinct(hints: Iterable[KeyHint]) -> list[KeyHint]:
    """Return each key once, with its first meaning."""
    first_of_key: dict[str, KeyHint] = {}
    for hint in hints:
        first_of_key.setdefault(hint.key, hint)
    return list(first_of_key.values())
