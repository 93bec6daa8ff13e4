"""The links of an error that asks the user to open them first (C-ELIC-05)."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from textual.widget import Widget
from textual.worker import get_current_worker

from inspector.errors import ServerError
from inspector.journal.journal import Journal
from inspector.protocol.jsonrpc import URL_ELICITATION_REQUIRED
from inspector.tui.widgets.links import Link, look_at, open_in_browser
from inspector.tui.widgets.paragraphs import Paragraph
from inspector.tui.work.outcome import CallOutcome

MOST = 20


class LinksToOpen:
    """The links of one outcome. `changed` is called after one was opened, or could not be."""

    def __init__(self, outcome: CallOutcome, pane: Widget, journal: Journal, changed: Callable[[], None]) -> None:
        self._pane = pane
        self._journal = journal
        self._changed = changed
        self._links = _links(outcome)
        self._opened: dict[int, str] = {}

    def __bool__(self) -> bool:
        return bool(self._links)

    def lines(self) -> list[Paragraph]:
        """Return each link in full, with what is odd about it and whether it was opened."""
        lines: list[Paragraph] = []
        for at, link in enumerate(self._links):
            lines.append([(f"{at + 1}. ", "muted"), *link.pieces])
            lines += [(warning, "finding") for warning in link.warnings]
            note = self._opened.get(at, link.refusal)
            if note:
                lines.append((note, "muted"))
        return lines

    def open_next(self) -> None:
        """Open the next link in the browser."""
        at = next((at for at, link in enumerate(self._links) if at not in self._opened and not link.refusal), None)
        if at is not None:
            self._opened[at] = "opening"
            self._changed()
            self._pane.run_worker(partial(self._open, at), thread=True, group="open", exit_on_error=False)

    def _open(self, at: int) -> None:
        problem = open_in_browser(look_at(self._journal.redactor.restored(self._links[at].url)))
        if not get_current_worker().is_cancelled:
            self._pane.app.call_from_thread(self._ended, at, problem)

    def _ended(self, at: int, problem: str) -> None:
        self._opened[at] = problem or "opened in your browser; when you are done there, call again"
        self._changed()


def _links(outcome: CallOutcome) -> list[Link]:
    error = outcome.error
    if not isinstance(error, ServerError) or error.rpc_code != URL_ELICITATION_REQUIRED:
        return []
    elicitations: Any = error.data.get("elicitations") if isinstance(error.data, dict) else None
    entries = elicitations if isinstance(elicitations, list) else []
    return [look_at(entry.get("url")) for entry in entries[:MOST] if isinstance(entry, dict)]
