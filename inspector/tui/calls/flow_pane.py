"""One flow: its steps with arguments, captures and expectations; or why its file cannot be used."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.message import Message

from inspector.text import quantity, safe
from inspector.tui.advice import advice
from inspector.tui.calls.actions import CallsActions, CursorPlace
from inspector.tui.calls.rows import FlowPage, ListRow, page_of, plain, templates
from inspector.tui.calls.saved_calls import SavedCalls
from inspector.tui.keymap import bindings, keymap_of
from inspector.tui.model.calls import CallsFacts
from inspector.tui.pane_messages import HintsChanged, LeaveWork
from inspector.tui.themes import signs_now
from inspector.tui.widgets import paint
from inspector.tui.widgets.fact_rows import Row, RowSection, fact, paragraph
from inspector.tui.widgets.lines_view import LinesView
from inspector.tui.widgets.pane import CompactPane
from inspector.tui.widgets.virtual_list import VirtualList

COMPACT_BELOW = 26
"""Lines below which the pane leaves its keys to the footer."""


class FlowView(LinesView, inherit_bindings=False):
    """The rows of a flow. The keys of the pane come before those of a text."""

    BINDINGS: ClassVar[list[BindingType]] = [
        *bindings("list", without="calls"),
        *(binding for binding in bindings("text", without="calls") if binding.action in ("wrap", "copy")),
    ]
    shows_idle_cursor = True

    class Resized(Message):
        """The view has another width."""

    def on_resize(self) -> None:
        super().on_resize()
        self.post_message(self.Resized())


class FlowPane(CompactPane, CallsActions):
    """The flow of the row under the cursor of the list. Enter opens a step, or closes it."""

    BINDINGS: ClassVar[list[BindingType]] = [*bindings("calls")]
    DEFAULT_CSS = """
    FlowPane > LinesView { height: 1fr; }
    """

    class Looked(Message):
        """The cursor is on a step whose newest message is event `n`."""

        def __init__(self, n: int) -> None:
            super().__init__()
            self.n = n

    class FailureElsewhere(Message):
        """Go to the next failure of another flow, or to the previous one for -1."""

        def __init__(self, by: int) -> None:
            super().__init__()
            self.by = by

    def __init__(self, saved: SavedCalls, *, id: str | None = None) -> None:
        super().__init__(title="Saved call", id=id)
        self.saved = saved
        self.row: ListRow | None = None
        self._page = FlowPage()
        self._opened: dict[object, set[int]] = {}
        self._view = FlowView(empty="The saved call under the cursor is shown here.")
        self._width = 0
        self._go_to: tuple[int, int] | None = None
        """The step that the cursor goes to when the flow is drawn next, and the rows below its first one."""
        self._reported = 0

    def compose(self) -> ComposeResult:
        yield from super().compose()
        yield self._view

    def show(self, row: ListRow | None) -> None:
        """Show the flow, the error or the environment of a row of the list."""
        before, self.row = self.row, row
        same = before is not None and row is not None and before.key == row.key
        if not same:
            self._go_to = (row.number if row is not None else 0, 0)
        self.draw()

    def draw(self) -> None:
        """Show what is known now; the cursor stays with the row it is on, unless another row was chosen."""
        row, view = self.row, self._view
        if not self.is_mounted or not view.size.width:
            self._width = 0  # It is drawn when it is shown, at the width that it has then.
            return
        at = self._step_at(view.line) if self._go_to is None else self._go_to
        self._go_to = None
        self._width = max(view.scrollable_content_region.width - 2 * view.pad, 20)
        self._page = self._rows(row)
        view.set_sections([RowSection(self._page.rows)] if self._page.rows else [])
        self._go(at)
        self._describe(row)

    def _step_at(self, line: int) -> tuple[int, int]:
        """Return the step at a row, and how far below its first row that is."""
        if not 0 <= line < len(self._page.steps):
            return 0, 0
        number = self._page.steps[line]
        return number, line - self._page.heads.get(number, 0)

    def _go(self, at: tuple[int, int]) -> None:
        number, below = at
        head = self._page.heads.get(number, 0)
        last = max((row for row, step in enumerate(self._page.steps) if step == number), default=0)
        if self._page.rows:
            self._view.show_line(min(head + below, last) if number else min(below, len(self._page.rows) - 1))

    def _rows(self, row: ListRow | None) -> FlowPage:
        saved = self.saved
        page = FlowPage()
        if row is None or row.path is None or row.kind == "blank":
            return page
        path_text = saved.path_text(row.path)
        if row.flow is not None:
            run = saved.run_of(row.path)
            return page_of(
                row.flow,
                path_text,
                saved.steps(row.flow),
                run,
                saved.values(row.flow),
                self._opened.get(row.path, set()),
                self._width,
                saved.running,
                saved.changes.get(row.path) if run is None or not run.outdated else None,
                saved.other_server(row.flow),
            )
        if row.error is not None:
            where = f"{path_text}:{row.error.line}" if row.error.line else path_text
            page.add(Row([(where, "bright")]), line=row.line)
            page.add(Row())
            for text_row in paragraph(row.error.problem, "error"):
                page.add(text_row, line=row.line)
            if row.error.hint:
                for text_row in paragraph(advice(row.error.hint, keymap_of(self)), "muted"):
                    page.add(text_row, line=row.line)
            return page
        environment = saved.environments.get(row.name) if row.kind == "environment" else None
        if environment is not None:
            page.add(Row([(path_text, "muted")]), line=1)
            page.add(Row())
            for name, value in (environment.located.value or {}).items():
                pieces = fact(name, "")[0].pieces
                assert not isinstance(pieces, str)
                page.add(Row([pieces[0], *templates(plain(value))], 14), line=1)
        return page

    def _describe(self, row: ListRow | None) -> None:
        saved = self.saved
        crumb = f"Saved {signs_now().crumb} " if self.screen.has_class("-narrow") else ""
        facts: list[paint.Pieces] = []
        title = "Saved call"
        if row is not None and row.flow is not None and row.path is not None:
            title = row.flow.name
            run, total = saved.run_of(row.path), len(row.flow.model.steps)
            outcomes = [run.outcome_of(number) for number in range(1, total + 1)] if run is not None else []
            failed, passed = outcomes.count("failed"), outcomes.count("passed")
            facts.append(f"{passed} of {quantity(total, 'step')}" if passed or failed else quantity(total, "step"))
            if failed:
                facts.append([(f"{failed} failed", "error")])
            if saved.environment:
                facts.append([("env ", "muted"), (saved.environment, "bright")])
            if row.path in saved.pinned:
                facts.append("runs on restart")
        elif row is not None and row.name:
            title = row.name if row.kind == "environment" else "File with an error"
        self.title = [(crumb, "muted"), safe(title, 80)] if crumb else safe(title, 80)
        self.facts = facts
        self.post_message(HintsChanged())

    @property
    def place(self) -> CursorPlace | None:
        """The step under the cursor, with the line of the file that the row is about."""
        row = self.row
        if row is None or row.path is None or row.kind in ("blank", "folder"):
            return None
        at = self._view.line
        inside = 0 <= at < len(self._page.steps)
        number = self._page.steps[at] if inside else 0
        return CursorPlace(row.path, self._page.lines[at] or row.line if inside else row.line, row.flow, number)

    def on_virtual_list_highlighted(self, event: VirtualList.Highlighted) -> None:
        event.stop()
        place = self.place
        if place is None or place.flow is None or not self._view.has_focus:
            return
        run = self.saved.run_of(place.path)
        n = run.message_of(place.number) if run is not None else 0
        if n and n != self._reported:
            self.post_message(self.Looked(n))
        self._reported = n

    def on_virtual_list_selected(self, event: VirtualList.Selected) -> None:
        event.stop()
        place = self.place
        if place is not None and place.flow is not None and place.number:
            self._opened.setdefault(place.path, set()).symmetric_difference_update({place.number})
            self.draw()

    def on_flow_view_resized(self, event: FlowView.Resized) -> None:
        event.stop()
        if max(self._view.scrollable_content_region.width - 2 * self._view.pad, 20) != self._width:
            self.draw()

    def on_show(self) -> None:
        self.call_after_refresh(self.draw)

    def go_to_failure(self, by: int) -> None:
        """Go to the next failed step of the flow, else to that of another flow."""
        place = self.place
        run = self.saved.run_of(place.path) if place is not None else None
        failed = [number for number in self._page.heads if run is not None and run.outcome_of(number) == "failed"]
        here = place.number if place is not None else 0
        ahead = [number for number in failed if (number > here if by > 0 else number < here)]
        if ahead:
            self._go((ahead[0 if by > 0 else -1], 0))
        else:
            self.post_message(self.FailureElsewhere(by))

    def focus_inside(self) -> bool:
        """Focus the steps, unless the focus is inside already."""
        if not self.has_focus_within:
            self.screen.set_focus(self._view)
        return True

    def action_leave(self) -> None:
        """Stop the run; else go back to the list."""
        if not self._stop():
            self.post_message(LeaveWork())

    def verb_facts(self) -> CallsFacts:
        """Return the facts on which the verbs depend."""
        place, select = self.place, ""
        if place is not None and place.number and self.saved.running is None:
            select = "close step" if place.number in self._opened.get(place.path, ()) else "open step"
        return super().verb_facts()._replace(select=select, in_flow=True)
