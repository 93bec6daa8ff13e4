"""Two recordings side by side: the differences above, both texts of the selected one below."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from rich.segment import Segment
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal
from textual.worker import get_current_worker

from inspector.compare.conversation import ConversationStep, StepKind
from inspector.compare.rules import DEFAULT, ComparisonRules
from inspector.compare.schemas import ChangeSeverity
from inspector.compare.surface import SINGULAR, Change, counts
from inspector.errors import InspectorError
from inspector.text import count, quantity
from inspector.tui.advice import error_text
from inspector.tui.diff.comparison import ComparedRecordings, ComparisonCancelled, RecordingSide, compare_files
from inspector.tui.diff.side import ShownSide, SideView, Which, of_change, of_step, scroll_together, whole
from inspector.tui.full_screen import FullScreen, app_binding
from inspector.tui.keymap import bindings
from inspector.tui.model.screens import DIFF_VERBS, DiffFacts
from inspector.tui.pane_keys import VerbsByRules
from inspector.tui.themes import signs_now
from inspector.tui.widgets import paint
from inspector.tui.widgets.clipboard import copy
from inspector.tui.widgets.paint import Pieces
from inspector.tui.widgets.pane import Pane
from inspector.tui.widgets.row_source import ListRows
from inspector.tui.widgets.status_lines import Footer
from inspector.tui.widgets.too_small import TooSmall
from inspector.tui.widgets.virtual_list import VirtualList
from inspector.tui.window import window_of

if TYPE_CHECKING:
    from inspector.tui.diff.comparison import ComparedRecordings

ROLES: dict[ChangeSeverity, str] = {
    "breaking": "error",
    "unsure": "finding",
    "changed": "finding",
    "added": "received",
    "cosmetic": "muted",
}
WORDS: dict[ChangeSeverity, str] = {"unsure": "cannot tell"}
_WORD = 11
_SUBJECT = 34


@dataclass(frozen=True, slots=True)
class DiffRow:
    """One row: a heading, a change of the surface, or a step of the conversation."""

    title: str = ""
    change: Change | None = None
    step: ConversationStep | None = None

    @property
    def differs(self) -> bool:
        """Whether the row has a difference to show."""
        return self.change is not None or (self.step is not None and self.step.kind != "same")


class DiffRows(ListRows[DiffRow]):
    """Draws the rows of a comparison; with `everything`, also exchanges that are equal."""

    def __init__(self, compared: ComparedRecordings | None = None, *, everything: bool = False) -> None:
        super().__init__(_identity)
        self.rows = list(_entries(compared, everything)) if compared is not None else []

    def next_difference(self, at: int, step: int) -> int | None:
        """Return the next row after `at` (before it, with -1) that has a difference."""
        rows = range(at + 1, len(self)) if step > 0 else range(at - 1, -1, -1)
        return next((row for row in rows if self.rows[row].differs), None)

    def render(self, index: int, width: int, selected: bool, focused: bool) -> list[Segment]:
        """Return one row in at most `width` cells."""
        entry = self.rows[index]
        if entry.change is not None:
            return _change(entry.change, width)
        if entry.step is not None:
            return _step(entry.step, width)
        return paint.cut(paint.segments(entry.title, "bright bold", room=width), width)


def _identity(row: DiffRow) -> Hashable:
    """Return the key of a row, which does not depend on the rows around it."""
    if row.step is not None:
        return "step", id(row.step)
    return ("change", id(row.change)) if row.change is not None else ("heading", row.title)


def _entries(compared: ComparedRecordings, everything: bool) -> Iterator[DiffRow]:
    for area, group in groupby(compared.changes, lambda change: change.area):
        yield DiffRow(f"server offers: {area}")
        yield from (DiffRow(change=change) for change in group)
    steps = [step for step in compared.conversation.steps if everything or step.kind != "same"]
    for alone in (False, True):
        part = [step for step in steps if step.alone is alone]
        if part:
            yield DiffRow("notifications of the server" if alone else "conversation")
            yield from (DiffRow(step=step) for step in part)


def _change(change: Change, width: int) -> list[Segment]:
    signs, role = signs_now(), ROLES[change.severity]
    sign = (signs.finding, "finding") if change.for_models or change.hidden is not None else (" ", "muted")
    subject: Pieces = [(change.name or change.what, "bright")]
    change_text = change.what if change.name else ""
    what: Pieces = [(change_text, "normal"), *([("  hidden text", "error")] if change.hidden is not None else [])]
    left = paint.segments([sign, " ", (f"{WORDS.get(change.severity, change.severity):<{_WORD}} ", role)])
    return _row(left, subject, what, width)


def _step(step: ConversationStep, width: int) -> list[Segment]:
    signs = signs_now()
    drawn: dict[StepKind, tuple[str, str, str]] = {
        "same": (signs.done, "same", "faint"),
        "changed": ("~", "differs", "finding"),
        "only-a": ("-", "only in A", "error"),
        "only-b": ("+", "only in B", "received"),
    }
    sign, word, role = drawn[step.kind]
    left = paint.segments([(f"{sign} {word:<{_WORD}} ", role)])
    name = step.name or step.method
    details = "" if not step.name else f"{step.method}  "
    if step.findings:
        details += quantity(len(step.findings), "difference")
    place: Pieces = [(details.rstrip(), "muted"), *([("  moved", "muted")] if step.moved else [])]
    return _row(left, [(name, "faint" if step.kind == "same" else "bright")], place, width)


def _row(left: list[Segment], subject: Pieces, what: Pieces, width: int) -> list[Segment]:
    """Return the pieces of a row: kind, subject, change; the columns are aligned over all rows."""
    room = max(width - paint.width(left), 8)
    cells = min(_SUBJECT, max(room // 2 - 2, 4))
    return [
        *left,
        *paint.cell(subject, cells),
        *paint.segments("  "),
        *paint.cut(paint.segments(what, room=width), room - cells - 2),
    ]


def summary(compared: ComparedRecordings) -> list[Pieces]:
    """Return the totals for the edge of the list."""
    parts: list[Pieces] = []
    for severity, amount in counts(compared.changes).items():
        parts.append([(f"{count(amount)} {WORDS.get(severity, severity)}", ROLES[severity])])
    kinds: tuple[tuple[StepKind, str, str], ...] = (
        ("changed", "differ", "finding"),
        ("only-a", "only in A", "error"),
        ("only-b", "only in B", "received"),
        ("same", "the same", "muted"),
    )
    for kind, word, role in kinds:
        amount = compared.conversation.count(kind)
        if amount:
            parts.append([(f"{count(amount)} {'differs' if kind == 'changed' and amount == 1 else word}", role)])
    return parts


WARNED = 6
"""Tools named in the warning."""


class DiffScreen(FullScreen[None], VerbsByRules):
    """The comparison of two recordings. `rules` name the differences to ignore."""

    RULES = DIFF_VERBS
    BINDINGS: ClassVar[list[BindingType]] = [
        *bindings("diff"),
        app_binding("quit", "quit"),
    ]
    DEFAULT_CSS = """
    DiffScreen #diff-list { height: 2fr; }
    DiffScreen #diff-sides { height: 3fr; }
    DiffScreen #diff-sides > Pane { width: 1fr; }
    """

    def __init__(self, a: Path, b: Path, rules: ComparisonRules = DEFAULT) -> None:
        super().__init__()
        self._paths, self._rules = (a, b), rules
        self._compared: ComparedRecordings | None = None
        self._rows = DiffRows()
        self._everything = False
        self._shown_sides: dict[Which, ShownSide] = {}

    def compose(self) -> ComposeResult:
        yield Pane(VirtualList(self._rows, empty="Comparing …", id="diff-rows"), title="Compare", id="diff-list")
        with Horizontal(id="diff-sides"):
            yield Pane(SideView(id="view-a"), title="A", id="diff-a")
            yield Pane(SideView(id="view-b"), title="B", id="diff-b")
        yield Footer(id="diff-footer")
        yield TooSmall()

    def on_mount(self) -> None:
        self.query_one("#diff-rows").focus()
        self._show_footer()
        scroll_together(self, *(self.query_one(f"#view-{name}", SideView) for name in ("a", "b")))
        self.run_worker(self._compare, thread=True, exclusive=True, group="compare", exit_on_error=False)

    def on_unmount(self) -> None:
        if self._compared is not None:
            self._compared.release()

    def _compare(self) -> None:
        worker = get_current_worker()
        try:
            compared = compare_files(*self._paths, self._rules, lambda: not worker.is_cancelled)
        except ComparisonCancelled:
            return
        except InspectorError as error:
            self.app.call_from_thread(self._failed, error)
            return
        if worker.is_cancelled:
            compared.release()
        else:
            self.app.call_from_thread(self._show_compared, compared)

    def _failed(self, error: InspectorError) -> None:
        self._list.empty = error_text(error, self)
        self.query_one("#diff-list", Pane).tone = "error"
        self._list.source_changed()

    def _show_compared(self, compared: ComparedRecordings) -> None:
        """Show the finished comparison, from its first difference."""
        self._compared = compared
        edge = self.query_one("#diff-list", Pane)
        edge.title = [(compared.a.label, "bright"), ("  and  ", "muted"), (compared.b.label, "bright")]
        ignored = compared.conversation.ignored
        edge.facts = [*summary(compared), *([f"{ignored:,} ignored"] if ignored else [])]
        if compared.unread:
            edge.facts = [*edge.facts, f"not compared: {', '.join(compared.unread)}"]
        edge.note = _warning(compared.changes)
        self._list.empty = _nothing(compared)
        self._fill()
        first = self._rows.next_difference(-1, 1)
        if first is not None:
            self._list.cursor = first
        self._show_entry(self._entry())
        self._show_footer()

    def _fill(self) -> None:
        self._rows = DiffRows(self._compared, everything=self._everything)
        self._list.source = self._rows

    # Show

    @property
    def _list(self) -> VirtualList:
        return self.query_one("#diff-rows", VirtualList)

    def _entry(self) -> DiffRow | None:
        at = self._list.cursor
        return self._rows.rows[at] if 0 <= at < len(self._rows) else None

    def on_virtual_list_highlighted(self, event: VirtualList.Highlighted) -> None:
        if event.list_view is self._list:
            self._show_entry(self._entry())

    def _show_entry(self, entry: DiffRow | None) -> None:
        compared = self._compared
        if compared is None:
            return
        sides: dict[Which, RecordingSide] = {"a": compared.a, "b": compared.b}
        for name, side in sides.items():
            if entry is not None and entry.change is not None:
                shown_side = of_change(compared, entry.change, name)
            elif entry is not None and entry.step is not None:
                shown_side = of_step(compared, entry.step, name)
            else:
                shown_side = whole(side)
            self._shown_sides[name] = shown_side
            edge = self.query_one(f"#diff-{name}", Pane)
            edge.title = [(f"{side.letter}  ", "muted"), (side.label, "bright")]
            edge.facts = [f"message {shown_side.n:,}"] if shown_side.n else []
            self.query_one(f"#view-{name}", SideView).display_side(shown_side)
        self._show_footer()

    def verb_facts(self) -> DiffFacts:
        """Return the sides at which a message is shown."""
        return DiffFacts(**{name: side.n > 0 for name, side in self._shown_sides.items()})

    def _show_footer(self) -> None:
        self.query_one(Footer).offer(self.hints(), "app.quit")

    def action_next(self) -> None:
        """Go to the next difference."""
        self._step(1)

    def action_previous(self) -> None:
        """Go to the previous difference."""
        self._step(-1)

    def _step(self, by: int) -> None:
        at = self._rows.next_difference(self._list.cursor, by)
        if at is not None:
            self._list.cursor = at

    def action_same(self) -> None:
        """Show equal exchanges as well, or hide them again."""
        self._everything = not self._everything
        self._fill()

    def action_frame_a(self) -> None:
        self._open("a")

    def action_frame_b(self) -> None:
        self._open("b")

    def _open(self, which: Which) -> None:
        """Open the recording of a side at the message."""
        compared = self._compared
        if compared is not None:
            side = compared.a if which == "a" else compared.b
            window_of(self).navigator.show_recording(side.path, self._shown_sides[which].n, "the comparison")

    def action_copy(self) -> None:
        """Copy the difference: the text of A, then the text of B."""
        parts = []
        for which, shown_side in self._shown_sides.items():
            text = "\n".join(section.copy_text(0) for section in shown_side.sections)
            parts.append(f"{which.upper()}\n{text}")
        copy(self, "\n\n".join(parts), "the difference")

    def action_leave(self) -> None:
        """Return to the screen that opened the comparison; without one, quit."""
        if len(self.app.screen_stack) > 2:
            self.dismiss(None)
        else:
            self.app.exit(0)

    def action_quit(self) -> None:
        self.app.exit(0)


def _nothing(compared: ComparedRecordings) -> str:
    """Return the text to show when nothing differs."""
    return f"The two recordings have the same surface and the same conversation.{_unread(compared)}"


def _unread(compared: ComparedRecordings) -> str:
    """Return the sentence about lists that were not compared."""
    return f" Not compared, because only one recording has it: {', '.join(compared.unread)}." if compared.unread else ""


def _warning(changes: list[Change]) -> Pieces:
    """Return the warning about changed texts that a model reads."""
    for_models = list(dict.fromkeys(_subject(change) for change in changes if change.for_models))
    if not for_models:
        return ""
    more = f" and {len(for_models) - WARNED:,} more" if len(for_models) > WARNED else ""
    warning = f"{signs_now().finding} text that a model reads has changed: {', '.join(for_models[:WARNED])}{more}"
    return [(warning, "finding")]


def _subject(change: Change) -> str:
    return f"{SINGULAR[change.area]} {change.name[:40]}" if change.area in SINGULAR else change.area
