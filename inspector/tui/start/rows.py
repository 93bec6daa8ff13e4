"""The rows of the start list: groups of targets, filtered by the typed text."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, NamedTuple

from rich.segment import Segment

from inspector.client.recordings_folder import RecordingInfo
from inspector.config.server_memory import LastOpen
from inspector.config.servers import ServerEntry
from inspector.text import cell_len, duration, quantity, safe, size, when
from inspector.tui.ask import labels
from inspector.tui.matching import Typed
from inspector.tui.sessions import OpenSession
from inspector.tui.themes import signs_now
from inspector.tui.widgets import paint
from inspector.tui.widgets.fact_rows import Row, fact
from inspector.tui.widgets.paint import Piece, Pieces

if TYPE_CHECKING:
    from textual.app import App

    from inspector.config.targets import HttpTarget, StdioTarget

_KIND_FROM, _ALIGNED_FROM, _FAILURE_FROM = 100, 130, 140
"""Widths in cells from which an entry has its kind and file, states have one column, and a failure has more room."""
_KIND = 6
"""Cells of the kind of a target, or of what a recording was made for."""
_ENDS = 18
"""Cells after a state."""
_MAX_NAME = 24
KEPT = "*"
"""The sign of a recording that is never deleted unasked."""


@dataclass(frozen=True, slots=True)
class Configured:
    """An entry of a config file, the result of its last opening, and whether it needs consent.

    `opened` is a live session of this window with the server.
    """

    entry: ServerEntry
    last: LastOpen | None = None
    asks: bool = False
    opened: OpenSession | None = None

    @property
    def state(self) -> tuple[str, str]:
        """The last result in a few words, and its role."""
        if self.opened is not None:
            return "open now", "received"
        if self.entry.disabled:
            return "disabled", "muted"
        if self.entry.remark is not None:
            return "not started by its host", "muted" if self.entry.remark.is_choice else "finding"
        if self.asks:
            return "needs consent", "finding"
        if self.last is None:
            return "never opened", "muted"
        return self.last.describe(), "normal" if self.last.ok or self.last.needs_login else "error"


@dataclass(frozen=True, slots=True)
class TypedTarget:
    """The typed text as a target; `kind` is the kind of target."""

    text: str
    kind: str


@dataclass(frozen=True, slots=True)
class SourceServer:
    """A server that a feature found. All of it may be text of others."""

    name: str
    kind: str
    summary: str
    """The command or URL."""
    state: str
    """Its version and status, in a few words."""
    searched: str
    """What the typed text is searched in, beside the name."""
    facts: Callable[[], list[Row]]
    """What the pane below the list shows."""
    opened: Callable[[App[int]], Awaitable[StdioTarget | HttpTarget | None]]
    """Returns its target once the user has agreed, or None. Must run in a worker."""


@dataclass(frozen=True, slots=True)
class Demo:
    """The demo server."""


Thing = OpenSession | Configured | RecordingInfo | TypedTarget | Demo | SourceServer
"""A row's target."""

GroupName = Literal["typed", "open", "configured", "recordings", "demo", "found"]


@dataclass(slots=True)
class Group:
    """Targets under one heading. An empty group shows `note` below the heading; `facts` are beside it."""

    name: GroupName
    title: str
    things: Sequence[Thing]
    note: str = ""
    facts: str = ""
    problems: Sequence[str] = ()
    lines: Sequence[Pieces] = ()
    """Lines above the targets that cannot be selected."""


@dataclass(slots=True)
class _Row:
    draw: Callable[[int], list[Segment]]
    thing: Thing | None = None
    key: Hashable = None


@dataclass(slots=True)
class StartRows:
    """A `RowSource` of groups. Only rows with a target can be selected; see `thing_at`."""

    groups: Iterable[Group] = ()
    typed: Typed = field(default_factory=Typed)
    """The words that a target must contain; the best match of each group comes first."""
    kept: frozenset[str] = frozenset()
    """The names of the recordings that the user keeps."""
    matching: int = 0
    total: int = 0
    _rows: list[_Row] = field(default_factory=list)
    _name: int = 0
    _at: dict[Hashable, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for group in self.groups:
            narrowed = group.name not in ("typed", "demo") and bool(self.typed)
            things = self.typed.best_first(group.things, _texts) if narrowed else list(group.things)
            if narrowed and not things and not group.problems:
                self.total += len(group.things)
                continue
            self._head(group, len(things), narrowed=narrowed)
            if group.name not in ("typed", "demo"):
                self.matching += len(things)
                self.total += len(group.things)
            for thing in things:
                self._rows.append(_Row(self._drawing(thing), thing, (group.name, _identity(thing))))
                self._name = max(self._name, min(cell_len(_name_of(thing)), _MAX_NAME))
        self._at = {row.key: at for at, row in enumerate(self._rows) if row.thing is not None}

    def _head(self, group: Group, matching: int, *, narrowed: bool) -> None:
        if self._rows:
            self._rows.append(_Row(lambda _width: []))
        facts = f"{matching} of {len(group.things)}" if narrowed else group.facts
        if group.title:
            self._rows.append(
                _Row(
                    lambda width: paint.spread(
                        paint.segments([(group.title, "bright bold")]), paint.segments([(facts, "muted")]), width
                    )
                )
            )
        if not group.things and group.note:
            self._line([("  ", "muted"), (group.note, "muted")])
        for problem in group.problems:
            self._line([(f"{signs_now().failed} {problem}", "error")])
        for line in group.lines:
            self._line(line)

    def _line(self, pieces: Pieces) -> None:
        self._rows.append(_Row(lambda width: paint.cut(paint.segments(pieces, room=width), width)))

    def __len__(self) -> int:
        return len(self._rows)

    def key_at(self, index: int) -> Hashable:
        """Return the target of a row, so that the cursor can stay on it."""
        return self._rows[index].key

    def index_of(self, key: Hashable) -> int | None:
        """Return the row of a target, or None."""
        return self._at.get(key)

    def thing_at(self, index: int) -> Thing | None:
        """Return the target of a row; None for a heading."""
        return self._rows[index].thing if 0 <= index < len(self._rows) else None

    def render(self, index: int, width: int, selected: bool, focused: bool) -> list[Segment]:
        return self._rows[index].draw(width)

    def find(self, fits: Callable[[Thing], bool]) -> int | None:
        """Return the first row with a target of this kind."""
        return next((at for at, row in enumerate(self._rows) if row.thing is not None and fits(row.thing)), None)

    def step(self, index: int, rows: int) -> int:
        """Return the row `rows` targets further on, or the last one in that direction; headings do not count."""
        choices = [at for at, row in enumerate(self._rows) if row.thing is not None]
        if not choices:
            return index
        near = min(range(len(choices)), key=lambda at: abs(choices[at] - index))
        return choices[min(max(near + rows, 0), len(choices) - 1)]

    # Drawing

    def _drawing(self, thing: Thing) -> Callable[[int], list[Segment]]:
        if isinstance(thing, OpenSession):
            return lambda width: self._opened(thing, width)
        if isinstance(thing, Configured):
            return lambda width: self._configured(thing, width)
        if isinstance(thing, RecordingInfo):
            return lambda width: self._recording(thing, width)
        if isinstance(thing, TypedTarget):
            pieces: list[Piece] = ["  Open as typed: ", (thing.text, "bright"), ("  " + thing.kind, "muted")]
            return lambda width: paint.cut(paint.segments(pieces, room=width), width)
        if isinstance(thing, SourceServer):
            return lambda width: self._source_server(thing, width)
        about_demo = ("  a server with every feature; no network needed", "muted")
        return lambda width: paint.cut(paint.segments(["  ", ("f5", "key"), " demo", about_demo], room=width), width)

    def _columns(
        self,
        width: int,
        sign: Pieces,
        name: str,
        kind: str,
        target: str,
        state: list[Segment],
        end: list[Segment],
        *,
        dim: bool = False,
        kind_stays: bool = False,
    ) -> list[Segment]:
        """Return the columns that all groups share. On a narrow screen the kind is dropped; names and states stay.

        `kind_stays`: without its kind the row may look like another one.
        """
        names = min(self._name, max(width // 4, 12)) + 2
        kinds = _KIND + 1 if width >= _KIND_FROM or (kind and kind_stays) else 0
        middle = max(width - 2 - names - kinds - paint.width(state) - paint.width(end) - 1, 0)
        line = paint.cell(sign, 2)
        named = paint.underlined(name, self.typed.words, "muted" if dim else "bright")
        line += [*paint.cell(named, names - 1), *paint.cell("", 1)]
        if kinds:
            line += paint.cell([(kind, "muted")], kinds)
        target_pieces = paint.underlined(_shortened(target, middle), self.typed.words, "muted")
        return [*line, *paint.cell(target_pieces, middle), *paint.cell("", 1), *state, *end]

    def _opened(self, opened: OpenSession, width: int) -> list[Segment]:
        target, roomy = opened.session.target, width >= _KIND_FROM
        asked: Pieces = [(opened.wants, "ask")] if opened.wants else ""
        return self._columns(
            width,
            [opened.sign],
            opened.name,
            "" if target.kind == "recording" else target.kind,  # Its state says so.
            target.describe_fully(),
            paint.cell([opened.state], _states(width) if roomy else 20),
            paint.cell(asked, _ENDS if roomy else 12, right=True),
        )

    def _configured(self, thing: Configured, width: int) -> list[Segment]:
        entry, last, signs, roomy = thing.entry, thing.last, signs_now(), width >= _KIND_FROM
        sign: Pieces = ""
        if last is not None and not last.needs_login:
            sign = [(signs.done, "received")] if last.ok else [(signs.failed, "error")]
        source = paint.underlined(f" {entry.source_label}", self.typed.words, "faint")
        states = _states(width) if roomy else 24
        return self._columns(
            width,
            sign,
            f"@{entry.name}",
            entry.kind,
            entry.summary,
            paint.cell([thing.state], states),
            paint.cell(source, _ENDS, right=True) if roomy else [],
            dim=entry.disabled,
        )

    def _source_server(self, thing: SourceServer, width: int) -> list[Segment]:
        roomy = width >= _KIND_FROM
        state = paint.cell([(thing.state, "muted")], 28 if roomy else 20)
        return self._columns(width, "", thing.name, thing.kind[:_KIND], thing.summary, state, [])

    def _recording(self, info: RecordingInfo, width: int) -> list[Segment]:
        state: Pieces = [(info.error_events, _error_role(info))]
        if info.loss:
            state = [(info.loss, "error")]
        if info.problem:
            state = [(info.problem.removeprefix("is "), "error")]
        elif info.growing:
            state = [("recording now", "received")]
        elif not info.ended:
            state = [("end is missing", "finding")]
        elif not info.revision:
            state = [("never connected", "error")]
        facts = paint.cell([(when(info.started), "normal")], 17)
        if width >= _KIND_FROM:
            events = "" if info.events is None else quantity(info.events, "event")
            cells = 17 if width >= _FAILURE_FROM else 14
            facts += paint.cell(events if len(events) < cells else events.partition(" ")[0], cells, right=True)
            lasted = duration(info.duration) if info.duration is not None else size(info.size)
            facts += paint.cell([(lasted, "muted")], 10, right=True)
        target = info.target if info.target != info.label else ""
        end = paint.cell(state, _ENDS if width >= _FAILURE_FROM else 16, right=True)
        sign: Pieces = [(KEPT, "bright")] if info.path.name in self.kept else ""
        return self._columns(width, sign, info.name, safe(info.purpose, _KIND), target, facts, end, kind_stays=True)


def _states(width: int) -> int:
    """Return the cells of a state on a roomy screen. If there is room, it begins in the column of a date."""
    return 44 if width >= _FAILURE_FROM else 39 if width >= _ALIGNED_FROM else 28


def _shortened(target: str, cells: int) -> str:
    """Shorten a command, URL or path: first the folders of a program are dropped, then the middle."""
    program, blank, arguments = target.partition(" ")
    if cell_len(target) > cells and "/" in program and "://" not in program:
        target = f"{signs_now().cut}/{program.rpartition('/')[2]}{blank}{arguments}"
    return paint.middle(target, cells)


def _identity(thing: Thing) -> Hashable:
    if isinstance(thing, Configured):
        return (str(thing.entry.path), thing.entry.name)
    if isinstance(thing, SourceServer):
        return (thing.name, thing.state, thing.kind, thing.summary)
    return str(thing.path) if isinstance(thing, RecordingInfo) else thing if isinstance(thing, OpenSession) else ""


def _name_of(thing: Thing) -> str:
    if isinstance(thing, Configured):
        return f"@{thing.entry.name}"
    return thing.name if isinstance(thing, OpenSession | RecordingInfo | SourceServer) else ""


def _texts(thing: Thing) -> tuple[str, str]:
    """Return the name of a target, and what else is searched."""
    if isinstance(thing, OpenSession):
        texts = [thing.session.target.label, thing.session.target.describe()]
    elif isinstance(thing, Configured):
        entry = thing.entry
        texts = [entry.name, entry.summary, entry.source_label]
    elif isinstance(thing, RecordingInfo):
        texts = [thing.label, thing.target, thing.revision, when(thing.started), thing.path.name]
    elif isinstance(thing, SourceServer):
        texts = [thing.searched, thing.summary]
    else:
        texts = []
    return _name_of(thing), " ".join(texts)


_QUESTIONS = 3
"""Questions that are shown; the others are counted."""
_TEXT = 300


class RowDetails(NamedTuple):
    """A pane: its title, the facts at its edge, its rows."""

    title: str
    facts: Sequence[Pieces]
    rows: list[Row]


def about(thing: Thing | None, kept: frozenset[str] = frozenset()) -> RowDetails | None:
    """Return the details of a row; None if the row has no more."""
    if isinstance(thing, OpenSession):
        return _of_session(thing)
    if isinstance(thing, Configured):
        return _of_entry(thing)
    if isinstance(thing, SourceServer):
        return RowDetails(thing.name, (thing.state,), thing.facts())
    return _of_recording(thing, thing.path.name in kept) if isinstance(thing, RecordingInfo) else None


def _of_session(opened: OpenSession) -> RowDetails:
    session = opened.session
    server, rows = session.server, []
    waiting = session.inbox.open() if session.commands is not None else []
    for question in waiting[:_QUESTIONS]:
        waited = duration(max(session.journal.now() - question.t, 0))
        asked: Pieces = [(f"{signs_now().asked} ", "ask"), (labels.summary(question), "bright"), f"  {question.topic}"]
        rows.append(Row([*asked, (f"  waits {waited}", "ask")]))
    if len(waiting) > _QUESTIONS:
        rows.append(Row([(f"{quantity(len(waiting) - _QUESTIONS, 'more question')}", "ask")]))
    if opened.dialogs:
        rows.append(Row([(f"{signs_now().asked} ", "ask"), ("a login waits for you", "bright")]))
    rows += [Row()] if rows else []
    if server.known:
        lists = [quantity(len(session.catalog[name]), name[:-1]) for name in ("tools", "resources", "prompts")]
        named = " ".join(part for part in (server.title, safe(server.info.get("version", ""), 40)) if part)
        rows += fact("server", f"{safe(named, _TEXT)}   {'   '.join(lists)}")
        rows += fact("protocol", f"{server.revision} {server.era} over {session.transport_name}")
    if session.error is not None:
        rows += fact("error", session.error.message, "error")
    rows += fact("target", session.target.describe_fully())
    if session.journal.path is not None:
        rows += fact("recording", str(session.journal.path))
    return RowDetails(opened.name, ([opened.state], quantity(len(session.journal), "event")), rows)


def _of_entry(thing: Configured) -> RowDetails:
    entry, last = thing.entry, thing.last
    rows = fact("opens", entry.summary)
    rows += fact("file", f"{entry.path}  ({entry.source_label})")
    rows += fact("last opened", last.describe(time.time()) if last is not None else "never", thing.state[1])
    if thing.asks:
        rows += fact("consent", "This file is not yours: opening the server asks first.", "finding")
    return RowDetails(f"@{entry.name}", (entry.kind,), rows)


def _error_role(info: RecordingInfo) -> str:
    """Return the role of the number of errors. Of a check most are provoked, and its report judges the others."""
    return "muted" if info.purpose == "check" else "error"


def _of_recording(info: RecordingInfo, is_kept: bool) -> RowDetails:
    rows = fact("target", info.target or info.label)
    facts: list[Pieces] = [when(info.started)]
    if info.purpose:
        facts.append(safe(info.purpose, _TEXT))
    if info.events is not None:
        facts.append(quantity(info.events, "event"))
    if info.duration is not None:
        rows += fact("lasted", duration(info.duration))
    rows += fact("protocol", info.revision or "never connected", "normal" if info.revision else "muted")
    if info.loss:
        rows += fact("ended", info.loss, "error")
    if info.failures:
        why = "; checks send wrong requests on purpose" if info.purpose == "check" else ""
        rows += fact("errors", f"{info.error_events}{why}", _error_role(info))
    if info.problem:
        rows += fact("problem", info.problem, "error")
    if is_kept:
        rows += fact("kept", f"{KEPT} never deleted unasked", "bright")
    rows += fact("file", f"{info.path}  {size(info.size)}")
    return RowDetails(info.name, facts, rows)
