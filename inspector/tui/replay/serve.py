"""A mock server for the recording shown. It runs here on loopback, or elsewhere by a command to copy."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType

from inspector.errors import InspectorError
from inspector.journal.journal import Journal
from inspector.replay.mock.server import Mock
from inspector.serving.http import HttpEnd
from inspector.text import count, safe
from inspector.tui.advice import error_text
from inspector.tui.keymap import KeyHint
from inspector.tui.widgets.clipboard import copy
from inspector.tui.widgets.dialog import Dialog
from inspector.tui.widgets.fact_rows import FactsView, Row, RowSection, fact, heading
from inspector.tui.widgets.pane import Pane

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
        self._end: HttpEnd | None = None
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
            end = HttpEnd(self.mock.opens, "127.0.0.1", 0, self.mock.binding)
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
    ServeScreen > Pane { width: 92%; max-width: 110; height: 22; }
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
        path = shlex.quote(str(server.path))
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
            tally, counts = mock.tally, mock.tally.counts
            rows += fact("asked", f"{count(tally.requests)} requests from {count(tally.clients)} clients")
            rows += fact("answered", count(counts.get("answered", 0)))
            missed = counts.get("missed", 0)
            rows += fact("missed", count(missed), "finding" if missed else "normal")
            for one in tally.missed[-_MISSED:]:
                rows.append(Row([(" " * 14, "muted"), safe(f"{one.method} {one.params}", _SHOWN)], 14))
        rows += heading("Commands for the same server")
        rows += fact("over stdio", self.commands[0])
        rows += fact("over HTTP", self.commands[1])
        rows += [
            Row(),
            Row([("It answers as the recorded server did; its clients cannot tell that it is a mock.", "muted")]),
        ]
        self.query_one(FactsView).show(RowSection(rows))
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
