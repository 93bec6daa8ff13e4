"""The tab's state and its pane."""

from textual.widgets import Static

from inspector.text import safe
from inspector.tui.widgets.pane import Pane
from inspector_lengths.lengths import lengths


class Lengths:
    """Made with the session when the tab is shown first."""

    def __init__(self, session):
        self.session = session

    @property
    def rows(self):
        return lengths(self.session.catalog["tools"].items)

    @property
    def count(self):
        """The number in the tab."""
        return len(self.rows)


class LengthsPane(Pane):
    can_focus = True

    def __init__(self, state, *, id=None):
        super().__init__(title="Lengths", id=id)
        self.state = state
        self._table = Static(markup=False)

    def compose(self):
        yield from super().compose()
        yield self._table

    def tick(self):
        """Draw; called some times a second."""
        self._table.update("\n".join(f"{length:>8,}  {safe(name, 60)}" for name, length in self.state.rows))
