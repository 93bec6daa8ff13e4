"""The rows and the edge of the message log, drawn without a screen."""

from __future__ import annotations

from rich.segment import Segment

from inspector.client.session_state import SessionState
from inspector.tui.log.message_list import MessageList, log_facts
from inspector.tui.model.log import LogQuery


class DrawnLog(MessageList):
    """All rows of the log for a query, as wide as in a window of `width` cells."""

    def __init__(self, session: SessionState, text: str = "", *, by_exchange: bool = False, width: int = 78) -> None:
        super().__init__(session, lambda: None)
        self._width = width - 4
        # To scroll takes a screen.
        self.set_reactive(MessageList.follow, False)
        self.tick()
        self.draw(text, by_exchange=by_exchange)

    def draw(self, text: str, *, by_exchange: bool = False) -> None:
        """Draw what a filter selects, or its exchanges."""
        self.query_drawn = LogQuery(by_exchange=by_exchange).narrowed(text, self.session.journal.index.count)
        assert not self.query_drawn.problem
        self.show(self.query_drawn)

    @property
    def lines(self) -> list[str]:
        """The rows."""
        self.tick()
        if self.head.rows is not None:
            self.head.rows.look_at(0, self.count)
        return ["".join(segment.text for segment in self._drawn_row(at)).rstrip() for at in range(self.count)]

    def _drawn_row(self, at: int) -> list[Segment]:
        row = self.render_row(at, self._width, selected=False, focused=False)
        assert isinstance(row, list)
        return [part for part in row if isinstance(part, Segment)]

    @property
    def facts(self) -> str:
        """The facts of the edge, two spaces apart."""
        facts = log_facts(self, self.query_drawn)
        return "  ".join(
            fact if isinstance(fact, str) else "".join(part if isinstance(part, str) else part[0] for part in fact)
            for fact in facts
        )
