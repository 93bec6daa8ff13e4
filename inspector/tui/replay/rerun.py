"""Reruns a recording against a target and shows how the answers differ.

`inspector rerun` does it in a separate process; the screen shows its report, and the command can be copied.
"""

from __future__ import annotations

import asyncio
import os
import shlex
import sys
from contextlib import suppress
from pathlib import Path
from typing import ClassVar

from textual import work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical

from inspector.reasons import split_reason
from inspector.text import safe
from inspector.tui.keymap import KeyHint
from inspector.tui.widgets.clipboard import copy
from inspector.tui.widgets.dialog import Dialog
from inspector.tui.widgets.editor import Editor
from inspector.tui.widgets.pane import Pane
from inspector.tui.widgets.text_view import TextView

_MAX_COUNT = 1 << 20
"""Bytes of the report that are shown."""
_VERDICTS = {0: ("same answers as recorded", "received"), 5: ("different answers", "finding")}


def words_of(path: Path, target: str) -> list[str]:
    """Return the arguments after `inspector` that rerun a recording on a typed target. Raises ValueError."""
    words = shlex.split(target)
    alone = len(words) == 1 and (words[0].startswith("@") or "://" in words[0])
    return ["rerun", str(path), *(words if alone else ["--", *words])]


class RerunScreen(Dialog[None]):
    """One line for the target, the report below it."""

    DEFAULT_CSS = """
    RerunScreen > Pane { width: 92%; max-width: 120; height: 90%; }
    RerunScreen Editor { margin: 0 1 1 1; height: auto; }
    RerunScreen TextView { height: 1fr; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+r", "run", show=False, priority=True),
        Binding("ctrl+k", "copy_command", show=False, priority=True),
    ]

    def __init__(self, path: Path, suggested: str) -> None:
        super().__init__()
        self._path, self._suggested = path, suggested
        self._process: asyncio.subprocess.Process | None = None

    def compose(self) -> ComposeResult:
        keys = [
            KeyHint("^r", "run", "ctrl+r"),
            KeyHint("^k", "copy the command", "ctrl+k"),
            KeyHint("esc", "back", "escape"),
        ]
        with Pane(title="Run again", facts=("sends what was recorded to a live server",), keys=keys), Vertical():
            yield Editor(self._suggested, placeholder="a command, a URL or @name", lead=[("target  ", "muted")])
            yield TextView(empty="The differences appear here. Nothing has been sent yet.")

    def on_mount(self) -> None:
        self.query_one(Editor).focus()

    def on_unmount(self) -> None:
        self._end()

    def _end(self) -> None:
        if self._process is not None and self._process.returncode is None:
            with suppress(ProcessLookupError):
                self._process.terminate()

    def on_editor_submitted(self, event: Editor.Submitted) -> None:
        event.stop()
        self.action_run()

    def _words(self) -> list[str] | None:
        text = self.query_one(Editor).value.strip()
        try:
            if text:
                return words_of(self._path, text)
            self._say("enter a target", "error")
        except ValueError as error:
            self._say(split_reason(error), "error")
        return None

    def _say(self, words: str, role: str) -> None:
        self.query_one(Pane).note = [(safe(words, 60), role)]

    def action_copy_command(self) -> None:
        """Copy the command for this rerun."""
        words = self._words()
        if words is not None:
            copy(self, shlex.join(["inspector", *words]), "the command")

    @work(exclusive=True, group="rerun", exit_on_error=False)
    async def action_run(self) -> None:
        """Run it and show its report."""
        words = self._words()
        if words is None:
            return
        self._end()
        self._say("running", "progress")
        process = self._process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "inspector",
            *words,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
            env={**os.environ, "NO_COLOR": "1"},
        )
        assert process.stdout is not None
        told = bytearray()
        while block := await process.stdout.read(1 << 16):
            told += block[: max(_MAX_COUNT - len(told), 0)]
        code = await process.wait()
        if process is self._process and self.is_attached:
            self._say(*_VERDICTS.get(code, (f"ended with exit code {code}", "error")))
            view = self.query_one(TextView)
            view.load(told.decode("utf-8", "replace"))
            view.focus()
