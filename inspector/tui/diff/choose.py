"""Choosing what the recording in view is compared with."""

from __future__ import annotations

import asyncio
from pathlib import Path

from textual.screen import Screen

from inspector.client.recording import RecordingInfo, list_recordings
from inspector.tui.dialogs import Choose
from inspector.tui.window import window_of

MOST = 200
"""Recordings that are offered, newest first."""


async def compare_with(screen: Screen[None], mine: Path | None) -> None:
    """Ask with which recording `mine` is compared, and show both side by side: the other one is A, `mine` is B."""
    if mine is None:
        screen.notify("This session is kept in no file: there is nothing to compare.", severity="warning")
        return
    found = await asyncio.to_thread(_others, mine)
    if not found:
        text = "There is no other recording. `inspector diff A B --tui` compares any two files."
        screen.notify(text, severity="warning")
        return
    choices = [(str(info.path.name), _about(info)) for info in found]
    chosen = await screen.app.push_screen_wait(Choose("Compare with", choices))
    if chosen is not None:
        other = found[[name for name, _ in choices].index(chosen)]
        window_of(screen).navigator.compare(other.path, mine)


def _others(mine: Path) -> list[RecordingInfo]:
    """The recordings beside this one, then those that are kept; without those that cannot be read."""
    found: dict[str, RecordingInfo] = {}
    for info in (*list_recordings(mine.parent), *list_recordings()):
        if not info.problem and info.path.name != mine.name:
            found.setdefault(info.path.name, info)
    return list(found.values())[:MOST]


def _about(info: RecordingInfo) -> str:
    when = info.started.astimezone().strftime("%Y-%m-%d %H:%M") if info.started is not None else ""
    return "  ".join(filter(None, (when, info.label[:60])))
