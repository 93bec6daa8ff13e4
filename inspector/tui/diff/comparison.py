"""Compares two recordings in a thread, for the screen to show."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from inspector.client.recorded_session import RecordedSession
from inspector.client.state.surfaces import surface_of
from inspector.compare.conversation import SURFACE_METHODS, Conversation, compare_conversations
from inspector.compare.rules import ComparisonRules
from inspector.compare.surface import Change, compare_surfaces, unread_lists
from inspector.config.targets import RecordingTarget
from inspector.journal.journal import Journal

PORTION = 20_000
"""Events between two checks for cancellation."""


class ComparisonCancelled(Exception):
    """The comparison was cancelled."""


@dataclass(slots=True)
class RecordingSide:
    """One recording, read to its present end."""

    letter: str
    path: Path
    journal: Journal
    surface: dict[str, Any]

    @property
    def label(self) -> str:
        """Its name and the name of its server."""
        info = self.surface.get("server")
        parts = [info.get(key) for key in ("name", "version")] if isinstance(info, dict) else []
        named = " ".join(part for part in parts if isinstance(part, str))
        return f"{RecordingTarget(self.path).label}{f' ({named})' if named else ''}"


@dataclass(slots=True)
class ComparedRecordings:
    """Two recordings side by side."""

    a: RecordingSide
    b: RecordingSide
    changes: list[Change]
    conversation: Conversation
    unread: list[str]
    """Lists that were not compared because one recording does not have them."""

    def release(self) -> None:
        """Close both files."""
        self.a.journal.release()
        self.b.journal.release()


def compare_files(a: Path, b: Path, rules: ComparisonRules, should_continue: Callable[[], bool]) -> ComparedRecordings:
    """Read both recordings and compare them.

    Raises `RecordingError`, or `ComparisonCancelled` when `should_continue` returns False.
    """
    with ExitStack() as opened:
        one, other = _read("A", a, should_continue, opened), _read("B", b, should_continue, opened)
        changes = compare_surfaces(one.surface, other.surface)
        if not should_continue():
            raise ComparisonCancelled
        conversation = compare_conversations(one.journal, other.journal, rules, without=SURFACE_METHODS)
        if not should_continue():
            raise ComparisonCancelled
        opened.pop_all()
    return ComparedRecordings(one, other, changes, conversation, unread_lists(one.surface, other.surface))


def _read(letter: str, path: Path, should_continue: Callable[[], bool], opened: ExitStack) -> RecordingSide:
    journal = Journal.open(path)
    opened.callback(journal.release)
    session = RecordedSession(journal, path)
    while journal.refresh(PORTION):
        if not should_continue():
            raise ComparisonCancelled
    while session.advance(PORTION):
        if not should_continue():
            raise ComparisonCancelled
    return RecordingSide(letter, path, journal, surface_of(session))
