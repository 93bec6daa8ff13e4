"""One side of a difference: the text or messages of one recording, with the different lines marked."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from textual.widget import Widget

from inspector.compare.alignment import align
from inspector.compare.conversation import ConversationDifference, ConversationStep
from inspector.compare.rules import EXACT
from inspector.compare.surface import LISTS, SINGULAR, Change
from inspector.compare.values import compare
from inspector.protocol import jsonrpc
from inspector.protocol.exact_json import depth
from inspector.protocol.exact_json.text import tree
from inspector.text import count, duration
from inspector.tui.themes import signs_now
from inspector.tui.widgets.fact_rows import FactsView, Row, RowSection, paragraph, text_lines
from inspector.tui.widgets.paint import Pieces
from inspector.tui.widgets.sections import JsonSection, Section

if TYPE_CHECKING:
    from inspector.tui.diff.comparison import ComparedRecordings, RecordingSide

MAX_LENGTH = 1_000_000
"""Characters of a message that are laid out; open the recording to see a longer one."""
MAX_INSIDE = 40
"""Most messages inside one exchange that are shown."""
INLINE = 60
WITNESS = 1_000
"""Characters shown of a value that proves a change."""

Which = Literal["a", "b"]


class ShownSide(NamedTuple):
    """The content of a side: sections, the lines that differ, and the event to go to."""

    sections: list[Section]
    marked: frozenset[int] = frozenset()
    n: int = 0


class AnswerSide(NamedTuple):
    """One answer: its name, the facts beside it, its message as JSON text, or why there is none."""

    label: str
    facts: tuple[Pieces, ...] = ()
    text: str = ""
    missing: str = ""


class _Builder:
    """Stacks sections and counts their lines."""

    def __init__(self) -> None:
        self.sections: list[Section] = []
        self.marked: set[int] = set()
        self._lines = 0

    def add(self, section: Section, marked: Iterable[int] = ()) -> None:
        self.marked.update(self._lines + line for line in marked)
        self.sections.append(section)
        self._lines += len(section)

    def heading(self, text: str, note: str = "") -> None:
        above = [Row()] if self.sections else []
        self.add(RowSection([*above, Row([(text, "bright bold"), (f"  {note}" if note else "", "muted")])]))

    def say(self, text: str, role: str = "muted") -> None:
        self.add(RowSection(paragraph(text, role)))

    def json(self, text: str, pointers: Iterable[str]) -> None:
        if len(text) > MAX_LENGTH:
            self.say(f"{count(len(text))} characters: too long to show here.", "finding")
            return
        laid_out = tree(text, inline=INLINE)
        lines = (laid_out.line_of(pointer) for pointer in pointers)
        self.add(JsonSection(laid_out), [line for line in lines if line is not None])

    def side(self, n: int = 0) -> ShownSide:
        return ShownSide(self.sections, frozenset(self.marked), n)


def whole(side: RecordingSide) -> ShownSide:
    """Describe the recording: shown when no difference is selected."""
    build = _Builder()
    info = side.surface.get("server")
    build.heading(side.label)
    build.say(str(side.path))
    build.say(f"{count(len(side.journal))} events, revision {side.surface.get('revision') or 'unknown'}")
    if isinstance(info, dict) and info:
        build.heading("server")
        build.json(_encoded(info), ())
    return build.side()


# A change of the surface


def of_change(compared: ComparedRecordings, change: Change, which: Which) -> ShownSide:
    """Return the text that changed, and the item that contains it."""
    build = _Builder()
    if change.area != "server" and (isinstance(change.a, str) or isinstance(change.b, str)):
        build.heading(change.what)
        mine, other = (change.a, change.b) if which == "a" else (change.b, change.a)
        _words(build, mine, other, which)
        if change.hidden is not None:
            # Only B has this line; A has an empty row, so that the following lines stay aligned.
            build.say(f"{signs_now().finding} {change.hidden}" if which == "b" else "", "error")
    if change.witness is not None:
        build.say(change.witness.sentence(WITNESS), "finding")
    if change.area not in LISTS and not change.name:
        return build.side()
    part = _item if change.area in LISTS else _part
    a, b = part(compared.a, change), part(compared.b, change)
    here, there = (a, b) if which == "a" else (b, a)
    build.heading(f"{SINGULAR.get(change.area, change.area)} {change.name}")
    if here is None:
        build.say("missing here")
    else:
        build.json(_encoded(here), () if there is None else _pointers(here, there))
    return build.side()


def _words(build: _Builder, mine: Any, other: Any, which: Which) -> None:
    """A text, with the lines highlighted that the other side does not have."""
    if not isinstance(mine, str):
        build.say("missing here" if mine is None else _encoded(mine))
        return
    lines = text_lines(mine)
    same = set(range(len(lines)))
    if isinstance(other, str):
        same = {i for i, _ in align(lines, text_lines(other))}
    role = "error" if which == "a" else "received"
    rows = [Row([(line, "normal" if at in same else role)]) for at, line in enumerate(lines)]
    build.add(RowSection(rows), (at for at in range(len(lines)) if at not in same))


def _part(side: RecordingSide, change: Change) -> Any:
    """Return a capability, or a member of the server's description."""
    if change.name in ("era", "revision"):
        return side.surface.get(change.name)
    members = side.surface.get(change.area)
    return members.get(change.name) if isinstance(members, dict) else None


def _item(side: RecordingSide, change: Change) -> Any:
    items = side.surface.get(change.area)
    key = LISTS[change.area]
    for item in items if isinstance(items, list) else ():
        name = item.get(key) if isinstance(item, dict) else None
        if (name if isinstance(name, str) else "") == change.name:
            return item
    return None


def _pointers(mine: Any, other: Any) -> list[str]:
    """Return the JSON Pointers where a value differs from another."""
    return [
        difference.path.pointer()
        for difference in compare(mine, other, EXACT).differences
        if difference.kind != "added"
    ]


def _encoded(value: Any) -> str:
    try:
        return jsonrpc.encode(value).decode()
    except RecursionError:
        return f'"{depth.LEFT_OUT}"'


# A step of the conversation


def of_step(compared: ComparedRecordings, step: ConversationStep, which: Which) -> ShownSide:
    """Return the request and its answer on one side, and the differences between the messages in between."""
    side = compared.a if which == "a" else compared.b
    n = step.a if which == "a" else step.b
    build = _Builder()
    if not n:
        build.heading(" ".join(filter(None, (step.method, step.name))))
        build.say(f"missing in {side.letter}")
        return build.side()
    _message(build, side, step, which, n, "message" if step.alone else "request")
    answer = _answer(side, n)
    if answer:
        _message(build, side, step, which, answer, "answer")
    for finding in step.findings:
        if finding.part == "state":
            build.say(finding.what, "finding")
    events = dict.fromkeys(event for one in step.findings if (event := _event_of(one, which)))
    for event in list(events)[:MAX_INSIDE]:
        if event not in (n, answer):
            _message(build, side, step, which, event, "in between")
    return build.side(answer if answer in events else n)


def _answer(side: RecordingSide, n: int) -> int:
    """Return the answer to the request at event `n`, or 0."""
    index = side.journal.index
    return index.pair(n) if index.shape(n) in (jsonrpc.Shape.REQUEST, jsonrpc.Shape.BATCH) else 0


def _event_of(finding: ConversationDifference, which: Which) -> int:
    return finding.a if which == "a" else finding.b


def _message(build: _Builder, side: RecordingSide, step: ConversationStep, which: Which, n: int, what: str) -> None:
    index = side.journal.index
    took = index.duration(n) if what == "answer" else None
    build.heading(what, "  ".join(filter(None, (f"message {count(n)}", duration(took) if took is not None else ""))))
    # Values that only the other side has are not shown here.
    missing = "added" if which == "a" else "removed"
    differences = [one.difference for one in step.findings if one.difference and _event_of(one, which) == n]
    pointers = [(one.path if which == "a" else one.path_b).pointer() for one in differences if one.kind != missing]
    build.json(side.journal.event(n).text, pointers)


class SideView(FactsView):
    """The text of one side. Both sides scroll together."""

    def __init__(self, *, id: str) -> None:
        super().__init__(what="this side", id=id)

    def display_side(self, shown_side: ShownSide) -> None:
        """Show this side, scrolled to the first line that differs."""
        self.set_sections(shown_side.sections)
        self.mark(shown_side.marked)
        if shown_side.marked:
            self.call_after_refresh(self._show_first, min(shown_side.marked))

    def _show_first(self, line: int) -> None:
        if line < self.rows.lines:
            self.show_line(line)


def scroll_together(owner: Widget, a: SideView, b: SideView) -> None:
    """Scroll each side with the other: the one with the focus leads. `owner` watches them."""
    for one, other in ((a, b), (b, a)):
        owner.watch(one, "scroll_y", partial(_scroll_along, one, other), init=False)


def _scroll_along(one: SideView, other: SideView) -> None:
    if one.has_focus:
        other.scroll_to(y=one.scroll_offset.y, animate=False, immediate=True, force=True)
