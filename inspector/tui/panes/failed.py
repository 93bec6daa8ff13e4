"""Why there is no connection: one sentence that names the cause, the steps that led there, the server's last words."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Container
from textual.message import Message

from inspector.client.steps import connection_steps
from inspector.errors import ServerExited
from inspector.tui.events import AnySession, Copy
from inspector.tui.keymap import Hint, bindings
from inspector.tui.panes.keys import hints
from inspector.tui.panes.steps import step_rows
from inspector.tui.rows import wrapped
from inspector.tui.widgets.edge import Edge
from inspector.tui.widgets.paint import Pieces
from inspector.tui.widgets.virtual_list import TextRows, VirtualList


class FailedPane(Container):
    """Takes the place of the lists and the work while the session has failed or is lost."""

    BINDINGS: ClassVar[list[BindingType]] = [*bindings("failed")]

    class Again(Message):
        """The user wants to connect again."""

    def __init__(self, session: AnySession, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.session = session
        self._seen: tuple[int, int] = (-1, -1)

    def compose(self) -> ComposeResult:
        yield Edge(VirtualList(id="failed-rows"), id="failed-edge")

    def on_mount(self) -> None:
        self.query_one(Edge).keys = self.hints()

    def hints(self) -> list[Hint]:
        """What can be done about it."""
        return hints(self, "failed.again", "failed.copy")

    def tick(self) -> None:
        """Look at what is new."""
        seen = (self.session.changes["phase"], self.size.width)
        if seen == self._seen or self.session.error is None:
            return
        self._seen = seen
        error = self.session.error
        edge = self.query_one(Edge)
        edge.tone = "error"
        lost = self.session.phase == "lost"
        edge.title = "The connection is lost" if lost else "The server could not be opened"
        if isinstance(error, ServerExited):
            edge.title = "The server ended" if lost else "The server ended before it answered"
            if error.status is not None:
                edge.facts = (f"exit code {error.status}" if error.status >= 0 else f"signal {-error.status}",)
        self.query_one(VirtualList).source = TextRows(self._rows(max(self.size.width - 8, 20)))

    def _rows(self, width: int) -> list[Pieces]:
        error = self.session.error
        assert error is not None
        rows: list[Pieces] = wrapped(error.message, width, "bright")
        rows.append("")
        rows += step_rows(connection_steps(self.session.journal), width)
        if isinstance(error, ServerExited) and error.stderr:
            rows += ["", [("stderr, last lines", "muted")]]
            for line in error.stderr:
                rows += wrapped(line, width, indent=2, limit=5)
        elif error.hint:
            rows += ["", *wrapped(error.hint, width)]
        return rows

    def action_copy(self) -> None:
        """The cause, the steps and the last words, as plain text."""
        lines = [
            row if isinstance(row, str) else "".join(piece if isinstance(piece, str) else piece[0] for piece in row)
            for row in self._rows(100)
        ]
        text = f"{self.session.target.describe()}\n" + "\n".join(lines)
        self.post_message(Copy(text, "what happened"))

    def action_again(self) -> None:
        """Try again, with the same words."""
        self.post_message(self.Again())
