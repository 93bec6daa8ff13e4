"""Uses of the recording shown: a mock server for its clients, and a rerun on a live server."""

from __future__ import annotations

import asyncio
import os
from contextlib import suppress
from pathlib import Path
from typing import ClassVar

from textual import work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical

from inspector import command_words
from inspector.errors import InspectorError
from inspector.journal.journal import Journal
from inspector.own_commands import module_command
from inspector.reasons import split_reason
from inspector.replay.mock.server import Mock
from inspector.serving.http import HttpServer
from inspector.text import count, quantity, safe
from inspector.tui.advice import error_text
from inspector.tui.keymap import KeyHint
from inspector.tui.widgets.clipboard import copy
from inspector.tui.widgets.dialog import Dialog, fit
from inspector.tui.widgets.editor import Editor
from inspector.tui.widgets.fact_rows import FactsView, Row, RowSection, fact, heading
from inspector.tui.widgets.pane import Pane
from inspector.tui.widgets.text_view import TextView

LOOK = 0.5
"""Seconds between two reads of the request count."""
_MISSED = 8
_SHOWN = 300


class LoopbackMock:
    """Serves a recording over HTTP on a free loopback port until it is stopped."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.problem = ""
        self.mock: Mock | None = None
        self._end: HttpServer | None = None
        self._journal: Journal | None = None

    @property
    def url(self) -> str:
        """The URL for clients; empty while the server does not run."""
        return self._end.url if self._end is not None else ""

    async def start(self) -> None:
        """Start the server; `problem` has the error if it fails."""
        self.problem = ""
        try:
            self._journal = Journal.open(self.path)
            self.mock = Mock(self._journal)
            await self.mock.load()
            end = HttpServer(self.mock.opens, "127.0.0.1", 0, self.mock.binding)
            await end.start()
            self._end = end
        except InspectorError as error:
            self.problem = error_text(error)
            await self.close()

    async def close(self) -> None:
        """Stop the server. Idempotent."""
        end, mock, journal = self._end, self.mock, self._journal
        self._end = self.mock = self._journal = None
        if end is not None:
            await end.close()
        if mock is not None:
            await mock.close()
        if journal is not None:
            journal.release()


class ServeScreen(Dialog[None]):
    """The state of the server, its requests, and the commands that serve without the interface."""

    DEFAULT_CSS = """
    ServeScreen > Pane { width: 92%; max-width: 110; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("s", "start_or_stop", show=False),
        Binding("c", "copy_command", show=False, priority=True),
        Binding("u", "copy_url", show=False),
        Binding("q", "leave", show=False),
    ]

    def __init__(self, server: LoopbackMock) -> None:
        super().__init__()
        self.server = server
        path = command_words.quote(str(server.path))
        self.commands = (f"inspector serve {path}", f"inspector serve --http 8000 {path}")

    def compose(self) -> ComposeResult:
        yield Pane(FactsView(what=""), title="Serve this recording")

    def on_mount(self) -> None:
        self.query_one(FactsView).focus()
        self.set_interval(LOOK, self._draw)
        self._draw()

    def _draw(self) -> None:
        server, mock = self.server, self.server.mock
        rows = [*fact("here", server.url or "not running", "bright" if server.url else "muted")]
        if server.problem:
            rows += fact("", safe(server.problem, _SHOWN), "error")
        if mock is not None:
            statistics, counts = mock.statistics, mock.statistics.counts
            rows += fact(
                "asked", f"{quantity(statistics.requests, 'request')} from {quantity(statistics.clients, 'client')}"
            )
            rows += fact("answered", count(counts.get("answered", 0)))
            missed = counts.get("missed", 0)
            rows += fact("missed", count(missed), "finding" if missed else "normal")
            for one in statistics.missed[-_MISSED:]:
                rows.append(Row([(" " * 14, "muted"), safe(f"{one.method} {one.params}", _SHOWN)], 14))
        rows += heading("Commands for the same server")
        rows += fact("over stdio", self.commands[0])
        rows += fact("over HTTP", self.commands[1])
        text = "It answers as the recorded server did; its clients cannot tell that it is a mock."
        rows += [Row(), Row([(text, "muted")])]
        view = self.query_one(FactsView)
        view.show(RowSection(rows))
        fit(self, view)
        edge = self.query_one(Pane)
        edge.facts = ([("serving", "received")],) if server.url else ()
        url = [KeyHint("u", "copy URL", "u")] if server.url else []
        edge.keys = [
            KeyHint("s", "stop" if server.url else "serve here", "s"),
            *url,
            KeyHint("c", "copy command", "c"),
            KeyHint("esc", "back" if not server.url else "close, keep serving", "escape"),
        ]

    async def action_start_or_stop(self) -> None:
        """Start the server on loopback, or stop it."""
        if self.server.url:
            await self.server.close()
        else:
            await self.server.start()
        self._draw()

    def action_copy_command(self) -> None:
        """Copy the command that serves over stdio, for a client's config."""
        copy(self, self.commands[0], "the command")

    def action_copy_url(self) -> None:
        """Copy the URL of the server."""
        if self.server.url:
            copy(self, self.server.url, "the URL")


_MAX_BYTES = 1 << 20
"""The longest report that is shown."""
_VERDICTS = {0: ("same answers as recorded", "received"), 5: ("different answers", "finding")}


def words_of(path: Path, target: str) -> list[str]:
    """Return the arguments after `inspector` that rerun a recording on a typed target. Raises ValueError."""
    words = command_words.split(target)
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
            self.show_note("enter a target")
        except ValueError as error:
            self.show_note(safe(split_reason(error), 60))
        return None

    def action_copy_command(self) -> None:
        """Copy the command for this rerun."""
        words = self._words()
        if words is not None:
            copy(self, command_words.join(["inspector", *words]), "the command")

    @work(exclusive=True, group="rerun", exit_on_error=False)
    async def action_run(self) -> None:
        """Run it and show its report."""
        words = self._words()
        if words is None:
            return
        self._end()
        self.show_note("running", "progress")
        process = self._process = await asyncio.create_subprocess_exec(
            *module_command("inspector"),
            *words,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
            env={**os.environ, "NO_COLOR": "1"},
        )
        assert process.stdout is not None
        output = bytearray()
        while block := await process.stdout.read(1 << 16):
            output += block[: max(_MAX_BYTES - len(output), 0)]
        code = await process.wait()
        if process is self._process and self.is_attached:
            self.show_note(*_VERDICTS.get(code, (f"ended with exit code {code}", "error")))
            view = self.query_one(TextView)
            view.load(output.decode("utf-8", "replace"))
            view.focus()
