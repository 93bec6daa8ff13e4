"""Actions on recordings that are not open: delete, keep, export."""

from __future__ import annotations

import asyncio

from textual.app import App

from inspector.client.recording import keep
from inspector.client.recording_info import RecordingInfo
from inspector.errors import InspectorError
from inspector.reasons import os_reason
from inspector.tui.dialogs import AskPath, Choose, Confirm


async def delete_recording(app: App[int], info: RecordingInfo) -> None:
    """Delete a recording, after the user has confirmed it."""
    if info.growing:
        app.notify("This recording is still being written.", severity="warning", markup=False)
    elif await app.push_screen_wait(Confirm("Delete this recording?", str(info.path), "delete", "keep")):
        try:
            info.path.unlink()
        except OSError as error:
            app.notify(f"{info.path} could not be deleted: {error.strerror}", severity="error", markup=False)


async def keep_recording(app: App[int], info: RecordingInfo, *, on: bool) -> None:
    """Keep a recording, or let it be deleted again."""
    try:
        await asyncio.to_thread(keep, [info.path], on=on)
    except OSError as error:
        reason = os_reason(error)
        app.notify(f"The list of kept recordings cannot be written: {reason}.", severity="error", markup=False)


async def export_recording(app: App[int], info: RecordingInfo) -> None:
    """Export a recording, after the user has chosen a format and a file name."""
    from inspector.export import FORMATS
    from inspector.tui import output_files

    formats = [(name, found.summary) for name, found in FORMATS.items()]
    format = await app.push_screen_wait(Choose("Export the recording", formats))
    if format is None:
        return
    name = f"{info.path.stem.removesuffix('.mcp')}{FORMATS[format].suffix}"
    path = await app.push_screen_wait(AskPath(f"Export as {format}", name))
    if path is None:
        return
    try:
        notes = await asyncio.to_thread(output_files.export_recording, info.path, format, path)
    except (OSError, InspectorError) as error:
        app.notify(f"{path} could not be written: {error}", severity="error", markup=False)
    else:
        app.notify(" ".join((f"Written to {path}.", *notes)), markup=False)
