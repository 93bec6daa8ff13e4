"""Chooses the recording to compare with the one in view."""

from __future__ import annotations

import asyncio
from pathlib import Path

from textual.screen import Screen

from inspector.client.recordings_folder import RecordingInfo, list_recordings
from inspector.tui.dialogs import Choose
from inspector.tui.window import window_of

MAX_COUNT = 200
"""Most recordings in the list, newest first."""


async def compare_with(screen: Screen[None], mine: Path | None) -> None:
    """Ask for the recording to compare with `mine`, then show both: the other one is A, `mine` is B."""
    if mine is None:
        screen.notify("This session is not recorded in a file, so it cannot be compared.", severity="warning")
        return
    recordings = await asyncio.to_thread(_others, mine)
    if not recordings:
        text = "No other recording found. `inspector diff A B --tui` compares any two files."
        screen.notify(text, severity="warning")
        return
    choices = [(str(info.path.name), _about(info)) for info in recordings]
    chosen = await screen.app.push_screen_wait(Choose("Compare with", choices))
    if chosen is not None:
        other = recordings[[name for name, _ in choices].index(chosen)]
        window_of(screen).navigator.compare(other.path, mine)


def _others(mine: Path) -> list[RecordingInfo]:
    """Return the readable recordings in the same folder, then those in the recordings folder."""
    recordings: dict[str, RecordingInfo] = {}
    for info in (*list_recordings(mine.parent), *list_recordings()):
        if not info.problem and info.path.name != mine.name:
            recordings.setdefault(info.path.name, info)
    return list(recordings.values())[:MAX_COUNT]


def _about(info: RecordingInfo) -> str:
    when = info.started.astimezone().strftime("%Y-%m-%d %H:%M") if info.started is not None else ""
    return "  ".join(filter(None, (when, info.name[:60])))
