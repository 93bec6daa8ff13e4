"""Compares what a server offers with its pin, after its lists are complete."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from inspector.client.state.surfaces import surface_of
from inspector.compare.surface import SEVERITIES, SINGULAR, Change, Surface, compare_surfaces, counts
from inspector.journal.findings import Finding
from inspector.journal.format import Dir
from inspector.protocol.jsonrpc import Shape

if TYPE_CHECKING:
    from inspector.client.pins import Pin
    from inspector.client.session import Session
    from inspector.journal.journal import Journal

RULE = "pin"
"""The rule of the findings of this module."""
MAX_NOTED = 20
"""Changes that become findings of their own; one more finding gives the total."""


class Drift(NamedTuple):
    """The changes since the pin was made, worst first."""

    pin: Pin
    changes: tuple[Change, ...]

    @property
    def sentence(self) -> str:
        """The changes in one sentence; contains text of the server."""
        amounts = counts(self.changes)
        words = ", ".join(f"{amount:,} {severity}" for severity, amount in amounts.items())
        for_models = list(dict.fromkeys(subject(change) for change in self.changes if change.for_models))
        texts = f" Texts for models changed: {', '.join(for_models[:5])}{' and more' if len(for_models) > 5 else ''}."
        when = f" of {self.pin.at:%Y-%m-%d}" if self.pin.at is not None else ""
        return f"The server differs from its pin{when} ({words}).{texts if for_models else ''}"


def drift_of(session: Session, pin: Pin) -> Drift | None:
    """The changes between the pin and the session; None if there are none.

    Lists that were not read are skipped. The user can choose the revision, and revisions differ in titles, hints and
    tasks. In another revision than the pinned one, only texts that both have and that differ, and hidden characters in
    them, are reported.
    """
    return drift_from(surface_of(session), pin)


def drift_from(now: Surface, pin: Pin) -> Drift | None:
    """`drift_of` for a surface. It only reads, so it may run in a thread."""
    known = {key: None if now.get(key) is None else value for key, value in pin.surface.items()}
    changes = compare_surfaces(known | {key: now.get(key) for key in ("era", "revision")}, now)
    if pin.surface.get("revision") != now.get("revision"):
        changes = [change for change in changes if change.for_models and change.a is not None and change.b is not None]
    if not changes:
        return None
    return Drift(pin, tuple(sorted(changes, key=_rank)))


def _rank(change: Change) -> tuple[bool, int]:
    return not (change.for_models or change.hidden is not None), SEVERITIES.index(change.severity)


def note(journal: Journal, drift: Drift) -> None:
    """Write the changes into the recording: as findings on the lists, or on the response to the handshake."""
    for change in drift.changes[:MAX_NOTED]:
        n = _answer(journal, change.area)
        text = f"Since the server was pinned: {phrase(change)}."
        level = "must" if change.for_models or change.severity == "breaking" else "should"
        journal.record_note(text, Finding(n, RULE, level, text))  # type: ignore[arg-type]
    if len(drift.changes) > MAX_NOTED:
        text = f"{len(drift.changes):,} changes since the server was pinned."
        journal.record_note(text, Finding(0, RULE, "must", text))


_METHODS = {
    "tools": ("tools/list",),
    "resources": ("resources/list",),
    "templates": ("resources/templates/list",),
    "prompts": ("prompts/list",),
}


def _answer(journal: Journal, area: str) -> int:
    """The newest response with this area; 0 for none."""
    index = journal.index
    methods = _METHODS.get(area, ("initialize", "server/discover"))
    for n in range(index.count, 0, -1):
        if index.shape(n) is Shape.RESULT and index.dir(n) is Dir.RECV and index.method(n) in methods:
            return n
    return 0


def subject(change: Change) -> str:
    """The subject of a change: `tool add`, `instructions`; the server's text."""
    if change.area in SINGULAR and change.name:
        return f"{SINGULAR[change.area]} {change.name[:80]}"
    return f"{change.area} {change.name[:80]}".strip()


def phrase(change: Change) -> str:
    """A change in one phrase: `tool add: description changed, with 2 invisible characters (U+200B)`."""
    what = f"{subject(change)}: {change.what}" if change.name else change.what
    return what if change.hidden is None else f"{what}, with {change.hidden}"
