"""Two answers to the same request side by side: the differences by the rules of `diff`, and both answers."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import ClassVar, Literal

from rich.segment import Segment
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container, Horizontal
from textual.worker import get_current_worker

from inspector.compare.alignment import align
from inspector.compare.json_places import ValuePath
from inspector.compare.json_values import read
from inspector.compare.rules import DEFAULT, compiled
from inspector.compare.values import Difference, compare_under
from inspector.journal.journal import Journal
from inspector.protocol.exact_json.text import Tree, tree
from inspector.protocol.forms.values import json_of
from inspector.protocol.jsonrpc import NotJson, Shape
from inspector.protocol.members import object_at
from inspector.protocol.result_shape import has_structured, repeats_content
from inspector.text import count, duration, quantity, safe
from inspector.tui.diff.side import INLINE, MAX_LENGTH, AnswerSide, ShownSide, SideView, scroll_together
from inspector.tui.full_screen import FullScreen
from inspector.tui.keymap import KeyHint, bindings
from inspector.tui.log.labels import id_text, sign_of
from inspector.tui.model.widths import TWO_COLUMNS
from inspector.tui.pane_keys import hints
from inspector.tui.pane_messages import HintsChanged
from inspector.tui.themes import signs_now
from inspector.tui.verbs import BY_ID
from inspector.tui.widgets import paint
from inspector.tui.widgets.clipboard import copy
from inspector.tui.widgets.content_blocks import DrawOptions, shown_blocks
from inspector.tui.widgets.fact_rows import RowSection, paragraph
from inspector.tui.widgets.paint import Pieces
from inspector.tui.widgets.pane import Pane
from inspector.tui.widgets.sections import JsonSection, Section
from inspector.tui.widgets.status_lines import Footer
from inspector.tui.widgets.too_small import TooSmall
from inspector.tui.widgets.virtual_list import VirtualList
from inspector.tui.work.answer_changes import difference_text

STACKED_FROM = 18
"""Rows from which they otherwise stand below each other; in fewer, only their differences are shown."""

MAX_ALIGNED = 2000
"""Lines of a result above which both are shown as JSON only."""

_ROLES = {"added": ("+", "received"), "removed": ("-", "error"), "moved": ("~", "muted")}


def message_side(journal: Journal, n: int, label: str = "") -> AnswerSide:
    """Return message `n` of a recording as a side; `label` names it, by default its direction and id."""
    index = journal.index
    clock = journal.clock(index.time(n))
    facts: list[Pieces] = [f"{clock:%H:%M:%S}.{clock.microsecond // 1000:03}"]
    took = index.duration(index.pair(n)) if index.shape(n) in (Shape.RESULT, Shape.ERROR) else None
    if took is not None:
        facts.append(duration(took))
    named = label or f"{sign_of(index, n, signs_now())[0]} {id_text(index, n) or f'#{n}'}"
    return AnswerSide(named, tuple(facts), journal.event(n).text)


_ARGUMENTS = 60
"""Characters of the arguments in the name of a side."""


def message_sides(journal: Journal, one: int, other: int) -> tuple[AnswerSide, AnswerSide]:
    """Return two messages as sides, each named with those of its arguments that the other does not have."""
    sides = [message_side(journal, n) for n in (one, other)]
    values = [_arguments(journal, n) for n in (one, other)]
    a, b = (
        side._replace(label=f"{side.label}  {arguments[:_ARGUMENTS]}".rstrip())
        for side, mine, others in zip(sides, values, reversed(values), strict=True)
        for arguments in [safe(", ".join(f"{key}={text}" for key, text in mine.items() if others.get(key) != text))]
    )
    return a, b


def _arguments(journal: Journal, n: int) -> dict[str, str]:
    """Return the arguments of the request of a message, or its parameters, as JSON texts."""
    index = journal.index
    request = index.pair(n) if index.shape(n) in (Shape.RESULT, Shape.ERROR) else n
    message = journal.event(request).message if request else None
    params = object_at(message, "params")
    named = {**params, **object_at(params, "arguments")}
    return {key: json_of(value) for key, value in named.items() if key not in ("arguments", "_meta")}


@dataclass(slots=True)
class ComparedAnswers:
    """Two answers and their differences. `lines` has the lines of each difference in A and in B."""

    a: ShownSide
    b: ShownSide
    differences: Sequence[Difference] = ()
    lines: list[tuple[int | None, int | None]] = field(default_factory=list)
    ignored: int = 0
    ignored_places: Sequence[str] = ()
    """The first of those that the rules ignored: place and rule."""
    repeated: int = 0
    """The number of further differences, in a text that repeats the structured result."""
    truncated: bool = False
    problem: str = ""
    """Why they could not be compared."""
    readable: tuple[ShownSide, ShownSide] | None = None
    """Both results as text, as the result of a call shows them; None where a person would read JSON."""
    readable_lines: list[tuple[int | None, int | None]] = field(default_factory=list)


def compare_answers(a: AnswerSide, b: AnswerSide, method: str, name: str) -> ComparedAnswers:
    """Compare two messages by the rules of `diff` for `method` and `name`. Takes long for large ones."""
    sections = [_sections(side) for side in (a, b)]
    (of_a, tree_a), (of_b, tree_b) = sections
    problem = a.missing or b.missing
    try:
        comparison = compare_under(read(a.text), read(b.text), compiled(DEFAULT, method, name)) if not problem else None
    except NotJson as error:
        comparison, problem = None, f"Not compared: {error}" if a.text and b.text else ""
    if comparison is None:
        return ComparedAnswers(ShownSide(of_a), ShownSide(of_b), problem=problem)
    differences = _without_repeats(comparison.differences, a, b)
    lines: list[tuple[int | None, int | None]] = []
    for one in differences:
        line_a = tree_a.line_of(one.path.pointer()) if tree_a is not None and one.kind != "added" else None
        line_b = tree_b.line_of(one.path_b.pointer()) if tree_b is not None and one.kind != "removed" else None
        lines.append((line_a, line_b))
    marked = [frozenset(line for pair in lines if (line := pair[at]) is not None) for at in (0, 1)]
    compared = ComparedAnswers(
        ShownSide(of_a, marked[0]),
        ShownSide(of_b, marked[1]),
        differences,
        lines,
        comparison.ignored,
        comparison.ignored_places,
        len(comparison.differences) - len(differences),
        comparison.truncated,
    )
    if method == "tools/call":
        _make_readable(compared, a, b)
    return compared


def _without_repeats(differences: Sequence[Difference], *sides: AnswerSide) -> Sequence[Difference]:
    """Return the differences without those of the text content, if that repeats a structured result that differs."""
    structured = [one for one in differences if one.path.pointer().startswith("/result/structuredContent")]
    if not structured or not all(repeats_content(read(side.text).get("result")) for side in sides):
        return differences
    return [one for one in differences if not one.path.pointer().startswith("/result/content/")]


def _make_readable(compared: ComparedAnswers, a: AnswerSide, b: AnswerSide) -> None:
    """Add both results as text, with the lines marked that the other one does not have."""
    one, other = _readable(a), _readable(b)
    if one is None or other is None:
        return
    texts = [[line for block in side for line in _lines(block)] for side in (one, other)]
    if max(map(len, texts)) > MAX_ALIGNED:
        return
    pairs = align(*texts)
    same = [frozenset(pair[at] for pair in pairs) for at in (0, 1)]
    marked = [frozenset(range(len(text))) - equal for text, equal in zip(texts, same, strict=True)]
    sides = [[section for block in side for section in block] for side in (one, other)]
    compared.readable = (ShownSide(sides[0], marked[0]), ShownSide(sides[1], marked[1]))
    for difference in compared.differences:
        line_pair = (_line_of(one, difference.path, marked[0]), _line_of(other, difference.path_b, marked[1]))
        compared.readable_lines.append(line_pair)


def _readable(side: AnswerSide) -> list[list[Section]] | None:
    """Return the sections of each content block of a result; None if its content is not what a person reads."""
    if len(side.text) > MAX_LENGTH:
        return None
    answer = read(side.text)
    result = answer.get("result") if isinstance(answer, dict) else None
    if not isinstance(result, dict) or not isinstance(result.get("content"), list) or not result["content"]:
        return None
    if has_structured(result) and not repeats_content(result):
        return None
    return [block.sections for block in shown_blocks(result["content"], DrawOptions(columns=0))]


def _lines(block: Sequence[Section]) -> list[str]:
    return [section.text(line) for section in block for line in range(len(section))]


def _line_of(blocks: Sequence[Sequence[Section]], path: ValuePath, marked: frozenset[int]) -> int | None:
    """Return the first marked line of the content block that a difference is in, else the first one of it.

    A structured value is in the text that repeats it.
    """
    parts = path.pointer().split("/")[1:]
    if parts[:2] == ["result", "structuredContent"]:
        return min(marked, default=None)
    if parts[:2] != ["result", "content"] or len(parts) < 3 or not parts[2].isdecimal():
        return None
    at = int(parts[2])
    if at >= len(blocks):
        return None
    first = sum(len(_lines(block)) for block in blocks[:at])
    here = range(first, first + len(_lines(blocks[at])))
    return next((line for line in here if line in marked), first)


def _sections(side: AnswerSide) -> tuple[list[Section], Tree | None]:
    """Return the sections of an answer, and its laid-out text if it is short enough."""
    if side.missing or not side.text:
        return [RowSection(paragraph(side.missing or "no answer yet", "muted"))], None
    if len(side.text) > MAX_LENGTH:
        message = f"{count(len(side.text))} characters: too long to show here."
        return [RowSection(paragraph(message, "finding"))], None
    laid_out = tree(side.text, inline=INLINE)
    return [JsonSection(laid_out)], laid_out


class DifferenceRows:
    """The differences as rows of a list."""

    def __init__(self, differences: Sequence[Difference] = ()) -> None:
        self._differences = differences

    def __len__(self) -> int:
        return len(self._differences)

    def key_at(self, index: int) -> Hashable:
        """Return the row itself: the list is never added to."""
        return index

    def index_of(self, key: Hashable) -> int | None:
        """Return the row of a key."""
        return key if isinstance(key, int) and key < len(self) else None

    def render(self, index: int, width: int, selected: bool, focused: bool) -> list[Segment]:
        """Return one difference in at most `width` cells."""
        one = self._differences[index]
        sign, role = _ROLES.get(one.kind, ("~", "finding"))
        note: Pieces = [(f"  {one.note}", "muted")] if one.note else ""
        return paint.cut(paint.segments([f"{sign} ", (difference_text(one), role), *note], room=width), width)


class AnswersView(Container):
    """The differences of two answers above both of them. `compare` shows others; it reads them in a thread."""

    BINDINGS: ClassVar[list[BindingType]] = [
        binding for binding in bindings("diff") if binding.action in ("next", "previous", "json", "copy")
    ]
    DEFAULT_CSS = """
    AnswersView { layout: vertical; height: 1fr; }
    AnswersView #answers-list { height: 1fr; min-height: 5; }
    AnswersView #answers-sides { height: 3fr; }
    AnswersView #answers-sides > Pane { width: 1fr; height: 1fr; }
    """

    def __init__(self, empty: str = "", *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._empty = empty
        self._compared: ComparedAnswers | None = None
        self._as_json = False
        """The user chose to see both messages as JSON."""
        self._asked: tuple[AnswerSide, AnswerSide, str, str] | None = None

    def compose(self) -> ComposeResult:
        yield Pane(
            VirtualList(DifferenceRows(), empty=self._empty, id="answers-rows"), title="Differences", id="answers-list"
        )
        with Horizontal(id="answers-sides"):
            yield Pane(SideView(id="answer-a"), title="A", id="answers-a")
            yield Pane(SideView(id="answer-b"), title="B", id="answers-b")

    def on_mount(self) -> None:
        scroll_together(self, *(self.query_one(f"#answer-{name}", SideView) for name in ("a", "b")))

    def on_resize(self) -> None:
        sides, way = self.query_one("#answers-sides"), self._way
        sides.display = bool(way)
        sides.styles.layout = way or "horizontal"
        self._draw_facts()

    @property
    def _way(self) -> Literal["horizontal", "vertical", ""]:
        """How both answers stand; empty if they have no room."""
        if self.screen.size.width >= TWO_COLUMNS:
            return "horizontal"
        return "vertical" if self.size.height >= STACKED_FROM else ""

    @property
    def _list(self) -> VirtualList:
        return self.query_one("#answers-rows", VirtualList)

    def name_sides(self, a: AnswerSide, b: AnswerSide) -> None:
        """Name the sides and their facts, without a comparison."""
        for name, side in (("a", a), ("b", b)):
            edge = self.query_one(f"#answers-{name}", Pane)
            edge.title = [(f"{name.upper()}  ", "muted"), (side.label, "bright")]
            edge.facts = side.facts
        if self._compared is None:
            for name, side in (("a", a), ("b", b)):
                self.query_one(f"#answer-{name}", SideView).set_sections(_sections(side)[0])

    def compare(self, a: AnswerSide, b: AnswerSide, method: str, name: str) -> None:
        """Compare two answers and show the result."""
        asked = self._asked = (a, b, method, name)
        self.name_sides(a, b)
        self.run_worker(partial(self._compare, asked), thread=True, exclusive=True, exit_on_error=False)

    def clear(self) -> None:
        """Show no comparison: that of earlier answers is not the one of the next."""
        self._asked = self._compared = None
        self._list.empty = self._empty
        self._list.source = DifferenceRows()
        for name in ("a", "b"):
            self.query_one(f"#answer-{name}", SideView).mark(frozenset())
        self._draw_facts()
        self.post_message(HintsChanged())

    def _compare(self, asked: tuple[AnswerSide, AnswerSide, str, str]) -> None:
        worker = get_current_worker()
        compared = compare_answers(*asked)
        if not worker.is_cancelled:
            self.app.call_from_thread(self._show_compared, asked, compared)

    def _show_compared(self, asked: tuple[AnswerSide, AnswerSide, str, str], compared: ComparedAnswers) -> None:
        if not self.is_attached or asked is not self._asked:
            return
        self._compared = compared
        view = self._list
        view.empty = compared.problem or _equal(compared)
        view.source = DifferenceRows(compared.differences)
        view.cursor = 0
        self._show_both(compared)
        self._draw_facts()
        self.post_message(HintsChanged())

    def _show_both(self, compared: ComparedAnswers) -> None:
        """Show both sides: as text where a person reads that, unless the user wants JSON."""
        a, b = (compared.readable if not self._as_json else None) or (compared.a, compared.b)
        self.query_one("#answer-a", SideView).display_side(a)
        self.query_one("#answer-b", SideView).display_side(b)

    def _draw_facts(self) -> None:
        edge, compared = self.query_one("#answers-list", Pane), self._compared
        facts: list[Pieces] = []
        if compared is not None and compared.differences:
            more = " and more" if compared.truncated else ""
            facts.append([(f"{quantity(len(compared.differences), 'difference')}{more}", "finding")])
        elif compared is not None and not compared.problem:
            facts.append([("equal", "received")])
        if compared is not None and compared.repeated:
            facts.append([(f"{count(compared.repeated)} more in the text that repeats them", "muted")])
        if compared is not None and compared.ignored:
            facts.append([(_ignored(compared), "muted")])
        edge.facts = facts
        edge.note = "" if self._way else f"both answers from {TWO_COLUMNS} columns"

    def on_virtual_list_highlighted(self, event: VirtualList.Highlighted) -> None:
        """Scroll both sides to the difference."""
        if event.list_view is not self._list or self._compared is None:
            return
        event.stop()
        at = self._list.cursor
        compared = self._compared
        lines = compared.readable_lines if compared.readable is not None and not self._as_json else compared.lines
        if 0 <= at < len(lines):
            for name, line in zip(("a", "b"), lines[at], strict=True):
                view = self.query_one(f"#answer-{name}", SideView)
                if line is not None and line < view.rows.lines:
                    view.show_line(line)

    def hints(self) -> list[KeyHint]:
        """Return the keys that work now."""
        compared = self._compared
        several = compared is not None and len(compared.differences) > 1
        verbs: list[str | tuple[str, str]] = ["diff.next", "diff.previous"] if several else []
        if compared is not None and compared.readable is not None:
            verbs.append(("diff.json", "text" if self._as_json else "json"))
        return hints(self, *verbs, *(["diff.copy"] if compared else []))

    def focus_inside(self) -> None:
        """Focus the list of differences."""
        self._list.focus()

    def action_next(self) -> None:
        """Go to the next difference."""
        self._step(1)

    def action_previous(self) -> None:
        """Go to the previous difference."""
        self._step(-1)

    def _step(self, by: int) -> None:
        view, total = self._list, len(self._compared.differences) if self._compared is not None else 0
        if 0 <= view.cursor + by < total:
            view.cursor += by

    def action_json(self) -> None:
        """Show both messages as JSON, or as text again."""
        compared = self._compared
        if compared is not None and compared.readable is not None:
            self._as_json = not self._as_json
            self._show_both(compared)
            self.post_message(HintsChanged())

    def action_copy(self) -> None:
        """Copy the differences, a line each."""
        if self._compared is not None:
            texts = [
                f"{_ROLES.get(one.kind, ('~', ''))[0]} {difference_text(one)}" for one in self._compared.differences
            ]
            copy(self, "\n".join(texts) or self._list.empty, "the differences")


def _ignored(compared: ComparedAnswers) -> str:
    """Return how many differences the rules ignored; of the first one, the place and the rule."""
    more = f" and {count(compared.ignored - 1)} more" if compared.ignored > 1 else ""
    return f"{count(compared.ignored)} ignored: {safe(compared.ignored_places[0], MAX_LENGTH)}{more}"


def _equal(compared: ComparedAnswers) -> str:
    ignored = f" {_ignored(compared)}." if compared.ignored else ""
    return f"{signs_now().done} The two answers are equal.{ignored}"


class AnswersScreen(FullScreen[None]):
    """The comparison of two answers of one session, or of two recordings."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(BY_ID["diff.leave"].key, "leave", show=False, id="diff.leave"),
    ]

    def __init__(self, a: AnswerSide, b: AnswerSide, method: str, name: str) -> None:
        super().__init__()
        self._asked = (a, b, method, name)

    def compose(self) -> ComposeResult:
        yield AnswersView("Comparing …", id="answers")
        yield Footer(id="answers-footer")
        yield TooSmall()

    def on_mount(self) -> None:
        view = self.query_one(AnswersView)
        view.compare(*self._asked)
        view.focus_inside()
        self.on_hints_changed()

    def on_hints_changed(self) -> None:
        """Draw the keys that work now."""
        key_hints = self.query_one(AnswersView).hints()
        self.query_one(Footer).offer([*key_hints, *hints(self, "diff.leave")])
