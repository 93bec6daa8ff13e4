"""One skill: SKILL.md as text, the tree of its files, and how the selected file compares with the list."""

from __future__ import annotations

from collections.abc import Hashable
from typing import ClassVar, Literal, NamedTuple

from rich.segment import Segment
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Container, Vertical

from inspector.features.skills.entries import Skill, SkillFile
from inspector.features.skills.observed import FoundFile
from inspector.features.skills.pane import SkillActions, SkillsState
from inspector.features.skills.verify import FileCheck, short_digest
from inspector.protocol.jsonrpc import excerpt
from inspector.text import quantity, safe, size
from inspector.tui.keymap import KeyHint, bindings
from inspector.tui.pane_keys import hints
from inspector.tui.pane_messages import HintsChanged, LeaveWork
from inspector.tui.themes import signs_now
from inspector.tui.widgets import paint
from inspector.tui.widgets.fact_rows import FactsView, Row, RowSection, fact, heading, paragraph
from inspector.tui.widgets.markdown import MarkdownSection
from inspector.tui.widgets.pane import Pane
from inspector.tui.widgets.sections import Section, TextSection
from inspector.tui.widgets.tab_row import TabLabel, TabRow
from inspector.tui.widgets.text_view import beginning
from inspector.tui.widgets.virtual_list import ListRows, VirtualList

_SHOWN_VALUE, _SHOWN_TEXT, _SHOWN_FIELDS, _SHOWN_PROBLEMS = 2000, 100_000, 40, 20
"""Characters of a field and of a file, and the number of fields and problems that are shown."""


_VIEWS = (TabLabel("rendered", "rendered"), TabLabel("source", "source"))


class FileRow(NamedTuple):
    """A row of the list of files: a listed file, one that is not listed, or a heading."""

    kind: Literal["listed", "unlisted", "heading", "blank"]
    check: FileCheck | None = None
    unlisted: FoundFile | None = None
    missing: bool = False
    text: str = ""

    @property
    def key(self) -> Hashable:
        """The identity of the row."""
        if self.check is not None:
            return self.check.file.uri
        return (self.kind, self.unlisted.uri if self.unlisted is not None else self.text)


class FileRows(ListRows[FileRow]):
    """A `RowSource` over the files of a skill."""

    def __init__(self) -> None:
        super().__init__(lambda row: row.key)

    def refresh(self, skill: Skill | None, state: SkillsState) -> None:
        """Take in the files of a skill."""
        self.rows = []
        if skill is None:
            return
        gone = {file.uri for file in state.log.missing(skill)}
        self.rows = [FileRow("listed", check, missing=check.file.uri in gone) for check in state.checks(skill)]
        unlisted = state.log.unlisted(skill, state.session.catalog.resources.items)
        if unlisted:
            self.rows += [FileRow("blank"), FileRow("heading", text="not listed, but in the directory")]
            self.rows += [FileRow("unlisted", unlisted=file) for file in unlisted]

    def render(self, index: int, width: int, selected: bool, focused: bool) -> list[Segment]:
        row, signs = self.rows[index], signs_now()
        left: list[paint.Piece]
        if row.kind in ("blank", "heading"):
            return paint.segments([(f"  {row.text}", "muted")], room=width)
        if row.unlisted is not None:
            left = [(signs.finding, "finding"), f" {safe(row.unlisted.path, 200)}"]
            right = f"not listed  {size(row.unlisted.size) if row.unlisted.size >= 0 else '':>8}"
            return paint.spread(paint.segments(left, room=width), paint.segments(right, "muted"), width)
        check = row.check
        assert check is not None
        sign, role = sign_of_file(check, row.missing)
        path = safe(check.file.path, 200) or "outside the directory"
        what = "missing" if row.missing else "" if check.outcome == "matches" else check.words
        right = f"{what}  {size(check.file.size) if check.file.size >= 0 else '':>8}"
        left = [(sign, role), f" {path}"]
        failed = "error" if check.failed else "muted"
        return paint.spread(paint.segments(left, room=width), paint.segments(right, failed), width)


def sign_of_file(check: FileCheck, missing: bool = False) -> tuple[str, str]:
    """Return the sign of a file and its role."""
    signs = signs_now()
    if check.failed or not check.file.path:
        return signs.failed, "error"
    if missing:
        return signs.finding, "finding"
    return (signs.done, "received") if check.outcome == "matches" else (signs.later, "muted")


class SkillPane(Container, SkillActions):
    """SKILL.md at the left; the files and the selected one at the right. One column has the files and one of them."""

    BINDINGS: ClassVar[list[BindingType]] = [*bindings("skills"), *bindings("skill")]
    DEFAULT_CSS = """
    SkillPane { layout: horizontal; }
    SkillPane #skill-md { width: 1fr; height: 1fr; }
    SkillPane #skill-side { width: 60; height: 1fr; }
    SkillPane #skill-files { height: 1fr; }
    SkillPane #skill-files > VirtualList { height: 1fr; }
    SkillPane #skill-file { height: 1fr; }
    MainScreen.-medium SkillPane #skill-side { width: 42; }
    MainScreen.-narrow SkillPane #skill-md { display: none; }
    MainScreen.-narrow SkillPane #skill-side { width: 1fr; }
    MainScreen.-narrow SkillPane #skill-files { height: 9; }
    MainScreen.-zoomed SkillPane #skill-side { width: 1fr; }
    MainScreen.-zoomed SkillPane #skill-files { height: 1fr; }
    """
    SCOPED_CSS = False  # Its columns depend on those of the main screen.

    def __init__(self, state: SkillsState, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.state = state
        self._rows = FileRows()
        self._list = VirtualList(self._rows, empty="Select a skill.")
        self._seen: object = None
        self._source = False
        """SKILL.md and other Markdown are shown as they are written."""

    def compose(self) -> ComposeResult:
        yield Pane(FactsView(id="skill-text", empty="Select a skill."), title="SKILL.md", id="skill-md")
        with Vertical(id="skill-side"):
            yield Pane(self._list, title="Files", id="skill-files")
            yield Pane(FactsView(id="skill-file-rows", empty=""), title="File", id="skill-file")

    def on_mount(self) -> None:
        self.state.draw_beside = self.tick
        self.state.open_beside = self._open
        self.tick()

    def _open(self) -> None:
        skill = self.state.skill
        if skill is not None and skill.kind != "invalid":
            self.read(skill, skill.skill_md)

    def on_resize(self) -> None:
        self._seen = None
        self.tick()

    @property
    def _one_column(self) -> bool:
        return self.screen.has_class("-narrow")

    def tick(self) -> None:
        """Draw what is new."""
        seen = (self.state.advance(), self.state.uri)
        if seen == self._seen:
            return
        self._seen = seen
        skill = self.state.skill
        self._rows.refresh(skill, self.state)
        self._list.empty = self._why_empty(skill)
        self._list.source_changed()
        files = self.query_one("#skill-files", Pane)
        files.facts = self._facts(skill)
        self._show_text(skill)
        self._show_file(skill)
        self.post_message(HintsChanged())

    def _why_empty(self, skill: Skill | None) -> str:
        if skill is None:
            return "Select a skill."
        if skill.kind == "invalid":
            return f"This entry is not used: {safe(skill.why_invalid, 300)}."
        return "The entry lists no files."

    def _facts(self, skill: Skill | None) -> list[paint.Pieces]:
        if skill is None:
            return []
        failed = sum(check.failed for check in self.state.checks(skill))
        unlisted = len(self.state.log.unlisted(skill, self.state.session.catalog.resources.items))
        facts: list[paint.Pieces] = []
        if failed:
            facts.append([(f"{failed} failed", "error")])
        if unlisted:
            facts.append([(f"{unlisted} not listed", "finding")])
        if skill.kind == "static":
            facts += [quantity(skill.count, "file"), size(skill.size)]
        else:
            facts.append(skill.kind)
        return facts

    # SKILL.md

    def _show_text(self, skill: Skill | None) -> None:
        edge = self.query_one("#skill-md", Pane)
        edge.title = "SKILL.md" if skill is None else f"SKILL.md  {safe(skill.name, 80)}"
        check = None if skill is None or skill.kind == "invalid" else self.state.log.check(skill, skill.skill_md)
        edge.facts = [] if check is None else [_outcome(check)]
        self._show_views(edge, check)
        view = self.query_one("#skill-text", FactsView)
        view.show(*(self._sections(skill, check) if skill is not None else ()))

    def _show_views(self, edge: Pane, check: FileCheck | None) -> None:
        """Offer both views of a content that may be shown."""
        edge.tabs = _VIEWS if check is not None and check.data and not check.failed else ()
        edge.tab_row.active = _VIEWS[self._source].id if edge.tabs else ""

    def on_tab_row_chosen(self, event: TabRow.Chosen) -> None:
        event.stop()
        self._show_source(event.tab == "source")

    def action_next_tab(self) -> None:
        """Show the other view of SKILL.md."""
        self._show_source(not self._source)

    action_previous_tab = action_next_tab

    def _show_source(self, source: bool) -> None:
        self._source, self._seen = source, None
        self.tick()

    def _sections(self, skill: Skill, check: FileCheck | None) -> list[Section]:
        """Return the entry's fields, then the text; after a failure why it is not used."""
        rows = _entry_rows(skill, self.state)
        if check is None:
            return [RowSection(rows)]
        if check.failed:
            return [RowSection([*rows, *_failure_rows(check)])]
        if check.front_matter is None:
            return [RowSection([*rows, Row(), *paragraph(self._how_to_read(), "muted")])]
        if self._source:
            return [TextSection(beginning(check.data.decode("utf-8", "replace"), _SHOWN_TEXT))]
        body = beginning(check.front_matter.body, _SHOWN_TEXT)
        return [RowSection([*rows, Row()]), MarkdownSection(body)]

    def _how_to_read(self) -> str:
        if self.state.session.commands is None:
            return "SKILL.md was not read up to here."
        return "SKILL.md was not read: files are read only when you ask. Enter on the skill reads it."

    # The selected file

    @property
    def _row(self) -> FileRow | None:
        at = self._list.cursor
        return self._rows.rows[at] if 0 <= at < len(self._rows) else None

    def _show_file(self, skill: Skill | None) -> None:
        row, edge = self._row, self.query_one("#skill-file", Pane)
        view = self.query_one("#skill-file-rows", FactsView)
        if row is None or skill is None or row.kind in ("blank", "heading"):
            edge.title, edge.facts, edge.tabs = "File", [], ()
            problems = RowSection(_entry_rows(skill, self.state)) if skill is not None else None
            view.show(*([problems] if problems is not None and self._one_column else []))
            return
        if row.unlisted is not None:
            edge.title, edge.facts, edge.tabs = safe(row.unlisted.path, 200), [[("not listed", "finding")]], ()
            text = (
                "The server has this file in the directory of the skill, but its entry does not list it. "
                "It is not read here. The list of resources (2) can read it."
            )
            view.show(RowSection(paragraph(text)))
            return
        check = row.check
        assert check is not None
        edge.title, edge.facts = safe(check.file.path or check.file.uri, 200), [_outcome(check)]
        self._show_views(edge, check if self._one_column and check.file.path.endswith(".md") else None)
        if self._one_column and check.file.uri == skill.uri:
            view.show(*self._sections(skill, check))
        else:
            view.show(*self._file_sections(skill, check, row.missing))

    def _file_sections(self, skill: Skill, check: FileCheck, missing: bool) -> list[Section]:
        if check.failed:
            return [RowSection(_failure_rows(check)[1:])]
        rows: list[Row] = []
        if missing:
            rows += paragraph("The entry lists this file, but it is not in the directory.", "finding")
        rows += fact("uri", safe(check.file.uri, _SHOWN_VALUE))
        if check.file.size >= 0:
            rows += fact("size", f"{check.file.size:,} bytes")
        if check.file.digest:
            rows += fact("SHA-256", short_digest(check.file.digest))
        if check.outcome == "not-read":
            live = self.state.session.commands is not None
            rows += [Row(), *paragraph("Not read. Enter reads it." if live else "Not read up to here.", "muted")]
            return [RowSection(rows)]
        if check.detail:
            rows += fact("note", check.detail, "muted")
        if check.file.path.startswith("scripts/"):
            rows += fact("", "A script. It is not run.", "muted")
        if check.file.uri == skill.uri:
            return [RowSection(rows)]
        return [RowSection([*rows, Row()]), _content_section(check, source=self._source)]

    def on_virtual_list_highlighted(self, event: VirtualList.Highlighted) -> None:
        event.stop()
        self._show_file(self.state.skill)
        self.post_message(HintsChanged())

    def on_virtual_list_selected(self, event: VirtualList.Selected) -> None:
        event.stop()
        skill, row = self.state.skill, self._row
        if skill is not None and row is not None and row.check is not None and not self.state.working:
            self.read(skill, row.check.file)

    def read(self, skill: Skill, file: SkillFile) -> None:
        """Read a file that was not read yet."""
        if self.state.session.commands is not None and self.state.log.check(skill, file).outcome == "not-read":
            self.state.read(skill, file, self.redraw)
            self.tick()

    def focus_inside(self) -> bool:
        """Focus the files."""
        self.screen.set_focus(self._list)
        return True

    def action_next_failure(self) -> None:
        """Go to the next file that failed, is missing or is not listed."""
        odd = [
            at
            for at, row in enumerate(self._rows.rows)
            if row.unlisted is not None or row.missing or (row.check is not None and row.check.failed)
        ]
        if not odd:
            self.notify("No file failed.", timeout=3)
            return
        self._list.cursor = next((at for at in odd if at > self._list.cursor), odd[0])

    def action_leave(self) -> None:
        """Go back to the list of skills."""
        self.post_message(LeaveWork())

    def hints(self) -> list[KeyHint]:
        """Return the keys for the files."""
        row = self._row
        live = self.state.session.commands is not None
        unread = row is not None and row.check is not None and row.check.outcome == "not-read" and live
        keys: list[str | tuple[str, str]] = [("list.select", "read")] if unread else []
        views = ["skill.next-tab"] if self.query_one("#skill-md", Pane).tabs else []
        return [
            *hints(self, *keys),
            *self.skill_hints(),
            *hints(self, *views, "skill.next-failure", ("skill.leave", "list")),
        ]


def _outcome(check: FileCheck) -> paint.Pieces:
    sign, role = sign_of_file(check)
    words = {"matches": "as listed", "not-read": "not read"}.get(check.outcome, check.words)
    return [(f"{sign} {words}", role)]


def _entry_rows(skill: Skill, state: SkillsState) -> list[Row]:
    """Return the entry: its fields, what it asks for, its problems."""
    rows: list[Row] = []
    asked = {key for key, _ in skill.asks}
    for key, value in list(skill.frontmatter.items())[:_SHOWN_FIELDS]:
        text = value if isinstance(value, str) else excerpt(value, _SHOWN_VALUE)
        label, text = ("asks for", f"{key}: {text}") if key in asked else (key, text)
        rows += fact(safe(label, 30), safe(text, _SHOWN_VALUE, multiline=True))
    rows += fact("uri", safe(skill.uri, _SHOWN_VALUE))
    rows += fact("server", safe(state.session.target.label, 200))
    if state.session.server.era == "legacy":
        text = f"{state.session.server.revision}: skills are defined for 2026-07-28 and later"
        rows += fact("revision", text, "muted")
    same = state.log.same_name(skill)
    if same:
        rows += fact("same name", ", ".join(safe(other.uri, 200) for other in same[:5]), "finding")
    if skill.over_limit:
        rows += fact("not read", skill.over_limit, "error")
    if skill.nested:
        rows += fact("nested", f"{quantity(len(skill.nested), 'SKILL.md')} in it; each is a skill of its own")
    if state.log.entry_before(skill) is not None:
        rows += fact("changed", "The entry is another one than before: an approval would be revoked.", "finding")
    for problem in [problem for problem in skill.problems if problem.check != "SKILL-17"][:_SHOWN_PROBLEMS]:
        role = "finding" if problem.level == "must" else "muted"
        rows += fact(problem.check, safe(problem.text, _SHOWN_VALUE), role)
    return rows


def _failure_rows(check: FileCheck) -> list[Row]:
    """Return why a file is not used: what was listed, and what was found. Its content is not shown."""
    rows: list[Row] = [Row()]
    text = {
        "frontmatter": "The front matter of the file differs from that of the list.",
        "unreadable": "The file cannot be read.",
    }.get(check.outcome, "The content differs from the server's own list.")
    rows += paragraph(f"{text} It is not used.", "error")
    if check.detail:
        rows += paragraph(safe(check.detail, _SHOWN_VALUE), "muted")
    if check.size >= 0 and check.file.size >= 0:
        rows += heading("Size")
        rows += [*fact("expected", f"{check.file.size:,} bytes"), *fact("found", f"{check.size:,} bytes")]
    if check.outcome == "digest":
        expected = short_digest(check.file.digest) if check.file.digest else "no valid digest"
        rows += [*heading("SHA-256"), *fact("expected", expected), *fact("found", short_digest(check.digest))]
    rows += [Row(), *fact("Fix", "Publish the new entry in skills/list, or restore the file.")]
    return rows + fact("", "The list of resources (2) shows the bytes as received.", "muted")


def _content_section(check: FileCheck, *, source: bool) -> Section:
    """Return a file as text; of a binary one only its size. Nothing is rendered or opened."""
    try:
        text = check.data.decode()
    except UnicodeDecodeError:
        text = "\0"
    if "\0" in text:
        return RowSection(paragraph(f"Binary content, {check.size:,} bytes. It is not shown.", "muted"))
    start = beginning(text, _SHOWN_TEXT)
    return MarkdownSection(start) if check.file.path.endswith(".md") and not source else TextSection(start)
