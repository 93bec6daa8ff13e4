"""The message log of a recording at a moment: the line of the moment, and the cursor."""

from __future__ import annotations

from inspector.client.session_state import SessionState
from inspector.tui.log.message_list import MessageList
from inspector.tui.log.now_row import RowsWithMoment
from inspector.tui.log.rows import MessageRows, Numbers
from inspector.tui.log.view import MessageView
from inspector.tui.widgets.pane import Pane


class MomentLog(Pane):
    """The log's state at a moment. The rows of a subclass are all events, or those of exchanges."""

    session: SessionState
    _list: MessageList
    _flat: MessageRows
    _rows: MessageRows
    _view: MessageView
    _goes_to_now = False

    def _describe(self) -> None:
        """Draw the edge."""
        raise NotImplementedError

    @property
    def _upto(self) -> int | None:
        """The last event before the moment shown, None at the end; and the position of the moment."""
        return None if self.session.at_end else self.session.upto

    def _with_now(self, numbers: Numbers) -> Numbers:
        return numbers if self._upto is None else RowsWithMoment(numbers, self._upto)

    @property
    def happened(self) -> int | None:
        """How many of the rows had happened at the moment shown; None at the end."""
        numbers = self._rows.numbers
        return numbers.at if isinstance(numbers, RowsWithMoment) else None

    @property
    def stands_now(self) -> bool:
        """Whether the cursor is on the last row that had happened."""
        happened = self.happened
        if happened is None:
            return self._list.cursor == self._list.count - 1
        # Before the first event, the cursor is on it, below the line.
        return self._list.cursor == (happened - 1 if happened else 1)

    def moment_changed(self, *, go: bool) -> None:
        """The recording is shown at another moment: move the line; with `go`, move the cursor too."""
        before = self.happened
        if self._rows is self._flat:
            self._flat.numbers = self._with_now(self._view.numbers)
        self._rows.upto = self._upto
        after = self.happened
        edges = [at for at in (before, after) if at is not None]
        # A row before the moment is drawn unlike one after it, and has another position.
        self._list.source_changed(max(min(edges) - 1, 0) if len(edges) == 2 and self._rows is self._flat else 0)
        self._goes_to_now = self._goes_to_now or go
        self._go_to_now()
        self._describe()

    def _go_to_now(self) -> None:
        """Put the cursor on the last row that had happened, if wanted and if rows are visible."""
        if not self._goes_to_now or not self.is_on_screen:
            return
        self._goes_to_now = False
        happened = self.happened
        if self._rows is self._flat:
            self._list.follow = False
            self._list.cursor = (self._list.count if happened is None else happened) - 1
            if happened is not None:
                # With some rows after it, but itself visible.
                self._list.scroll_to_row(min(happened + self._list.size.height // 4, self._list.count - 1))
                self._list.scroll_to_row(self._list.cursor)
        else:
            self._list.move_to(self.session.journal.index.request_of(self._upto or 0) if self._upto else 0)
