"""The model view: tools by cost, the text of one, and the limits of hosts on it."""

from __future__ import annotations

import datetime
import json
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from rich.segment import Segment
from textual import work
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal

from inspector.client.session_state import SessionState
from inspector.features.context.cost import ServerCost, cost_of
from inspector.features.context.host_rows import USUAL, host_rows
from inspector.features.context.report import report_of
from inspector.hosts import Fact, HostNote, ServerDefinitions, evaluate, host_facts
from inspector.protocol.exact_json.text import tree
from inspector.protocol.token_costs import ToolCost
from inspector.text import count, escape_json, quantity
from inspector.tui.check.hosts import choose_hosts
from inspector.tui.dialogs import Choose
from inspector.tui.full_screen import FullScreen, app_binding
from inspector.tui.keymap import KeyHint, bindings
from inspector.tui.main import chrome
from inspector.tui.main.saving import SavedFiles
from inspector.tui.matching import Typed
from inspector.tui.model.widths import TWO_COLUMNS
from inspector.tui.pane_keys import hints
from inspector.tui.themes import ascii_only, signs_now
from inspector.tui.widgets import paint
from inspector.tui.widgets.clipboard import copy
from inspector.tui.widgets.editor import Editor
from inspector.tui.widgets.fact_rows import FactsView, Row, RowSection, text_lines
from inspector.tui.widgets.filter_input import FilterInput
from inspector.tui.widgets.pane import Pane
from inspector.tui.widgets.row_source import ListRows
from inspector.tui.widgets.sections import JsonSection
from inspector.tui.widgets.status_lines import Footer, HeaderLine
from inspector.tui.widgets.too_small import TooSmall
from inspector.tui.widgets.virtual_list import VirtualList

if TYPE_CHECKING:
    from inspector.tui.main.screen import MainScreen

SortOrder = Literal["cost", "name", "server"]
ORDERS: tuple[SortOrder, ...] = ("cost", "name", "server")
_BAR, _SHORT_BAR = 13, 8
_LONG_BAR_FROM = 60
"""Cells from which the bar is long."""
_EIGHTHS = " ▏▎▍▌▋▊▉█"
_TOKENS, _SHARE = 8, 7
_MIN_FOR_BAR = 40
"""Cells from which there is room for a bar."""


class ToolCostRows(ListRows[ToolCost]):
    """Draws the tools of a server by cost. `sort` and `narrow` change what is shown."""

    def __init__(self) -> None:
        super().__init__(id)
        self.cost: ServerCost | None = None
        self.order: SortOrder = "cost"
        self.filter = ""
        self._most = 1

    def refresh(self, cost: ServerCost) -> None:
        """Show the tools of a server."""
        self.cost = cost
        self._most = max((tool.characters for tool in cost.tools), default=1) or 1
        self._arrange()

    def sort(self, order: SortOrder) -> None:
        """Show the tools in this order."""
        self.order = order
        self._arrange()

    def narrow(self, text: str) -> None:
        """Show only the tools with every word of `text` in their name or description."""
        self.filter = text
        self._arrange()

    def _arrange(self) -> None:
        if self.cost is None:
            return
        tools = list(self.cost.tools) if self.order == "server" else self.cost.sorted(self.order)
        matching = Typed(self.filter).best_first(tools, lambda tool: (tool.name, tool.description))
        kept = {id(tool) for tool in matching}
        self.rows = matching if self.order == "server" else [tool for tool in tools if id(tool) in kept]

    def find(self, name: str) -> int | None:
        """Return the row of the tool with this name."""
        return next((at for at, tool in enumerate(self.rows) if tool.name == name), None)

    def render(self, index: int, width: int, selected: bool, focused: bool) -> list[Segment]:
        """Return one row: name, bar, tokens, share."""
        tool = self.rows[index]
        assert self.cost is not None
        tokens = f"{'~' if self.cost.counter.is_estimate else ''}{count(tool.tokens)}"
        share = f"{self.cost.share(tool):.1%}"
        cells = _BAR if width >= _LONG_BAR_FROM else _SHORT_BAR
        bar = cells + 1 if width >= _MIN_FOR_BAR else 0
        line = paint.cell([(tool.name or "(unnamed)", "bright")], max(width - bar - _TOKENS - _SHARE - 1, 8))
        line.append(Segment(" "))
        if bar:
            line += paint.cell([(_bar(tool.characters / self._most, cells), "accent")], bar)
        line += paint.cell([(tokens, "normal")], _TOKENS, right=True)
        return [*line, *paint.cell([(share, "muted")], _SHARE, right=True)]


def _bar(part: float, cells: int) -> str:
    """Return a bar of up to this number of cells; a small part still has an eighth."""
    eighths = max(round(part * cells * 8), 1)
    if ascii_only():
        return "#" * max(eighths // 8, 1)
    return "█" * (eighths // 8) + _EIGHTHS[eighths % 8].strip()


THREE_PANES = 150
"""Cells of the screen from which all three panes are shown; they are wider than three columns elsewhere."""
_LOOK_AGAIN = 0.5
"""Seconds between looks at whether the list of tools changed."""
_PANES = ("model-list", "model-text", "model-hosts")
_BUDGETS = (2_000, 5_000, 10_000, 20_000, 50_000, 100_000)
_NO_BUDGET = "none"
_ALL_TOOLS = ("tools.count", "instructions")
"""Fields of facts about the whole server."""


class ModelScreen(FullScreen[str | None]):
    """The model view of a session. Its result is the tool to open, or None."""

    BINDINGS: ClassVar[list[BindingType]] = [
        *bindings("model"),
        app_binding("quit", "quit"),
        app_binding("next-pane", "next_pane(1)"),
        app_binding("previous-pane", "next_pane(-1)"),
    ]
    DEFAULT_CSS = """
    ModelScreen #model-body { height: 1fr; }
    ModelScreen #model-list { width: 47; }
    ModelScreen #model-text { width: 1fr; }
    ModelScreen #model-hosts { width: 68; }
    ModelScreen VirtualList { height: 1fr; }
    ModelScreen.-medium #model-list { width: 40%; }
    ModelScreen.-medium #model-hosts { display: none; }
    ModelScreen.-medium.-hosts #model-hosts { display: block; width: 1fr; }
    ModelScreen.-medium.-hosts #model-text { display: none; }
    ModelScreen.-narrow #model-body > Pane { width: 1fr; display: none; }
    ModelScreen.-narrow #model-body > Pane.-front { display: block; }
    """

    def __init__(self, session: SessionState, name: str = "") -> None:
        super().__init__()
        self.session = session
        self.rows = ToolCostRows()
        self.hosts: tuple[str, ...] = USUAL
        self.budget: int | None = None
        self._first_tool = name
        self._front = _PANES[0]
        self._cost: ServerCost | None = None
        self._seen = 0
        """The changes of the list of tools that were counted."""
        self._server_notes: list[HostNote] = []
        self._facts: dict[str, tuple[Fact, ...]] = {}
        self._saving = SavedFiles(self, session)

    def compose(self) -> ComposeResult:
        yield HeaderLine(id="header")
        with Horizontal(id="model-body"):
            with Pane(title="Tools", id="model-list"):
                yield VirtualList(self.rows, empty="Counting …", id="model-rows")
                yield FilterInput(id="model-filter")
            yield Pane(FactsView(what="", id="model-view"), title="Model input", id="model-text")
            yield Pane(FactsView(what="the limits", id="hosts-view"), title="Hosts", id="model-hosts")
        yield Footer(id="model-footer")
        yield TooSmall()

    def on_mount(self) -> None:
        self.query_one("#model-rows").focus()
        self.query_one(HeaderLine).parts = chrome.header(self.session, None, self.size.width)
        self._count_again()
        self.set_interval(_LOOK_AGAIN, self._recount)
        self._show_footer()

    def on_resize(self) -> None:
        self.call_after_refresh(self._show_tool)
        width = self.size.width
        self.update_classes(
            {
                "-narrow": width < TWO_COLUMNS,
                "-medium": TWO_COLUMNS <= width < THREE_PANES,
                "-wide": width >= THREE_PANES,
            }
        )
        self._arrange()

    # Count

    def _count_again(self) -> None:
        self._seen = self.session.changes["tools"]
        self.run_worker(self._count, thread=True, exclusive=True, group="count", exit_on_error=False)

    def _recount(self) -> None:
        """Count again if the server listed its tools again."""
        tools = self.session.catalog["tools"]
        if self.session.changes["tools"] != self._seen and not tools.loading:
            self._first_tool = self.tool.name if self.tool is not None else ""
            self._count_again()

    def _count(self) -> None:
        catalog = self.session.catalog["tools"]
        cost = cost_of(list(catalog.items), self.session.server.instructions)
        self.app.call_from_thread(self._display_cost, cost)

    def _display_cost(self, cost: ServerCost) -> None:
        self._cost = cost
        self.rows.refresh(cost)
        self._list.empty = "The server has no tools." if not cost.tools else "No match."
        self._choose_facts()
        self._list.source_changed()
        at = self.rows.find(self._first_tool)
        self._list.cursor = at if at is not None else 0
        self._draw_totals()
        self._show_tool()
        self._show_footer()

    def _choose_facts(self) -> None:
        """Evaluate the facts about the whole server; those about a tool are evaluated when it is shown."""
        known = host_facts()
        hosts = tuple(known.labels) if self.hosts == ("all",) else self.hosts
        self._facts = {host: known.choose((host,)) for host in hosts}
        cost = self._cost
        if cost is not None:
            server = ServerDefinitions.of(
                self._server_name, (tool.definition for tool in cost.tools), cost.instructions
            )
            self._server_notes = evaluate(server, [fact for fact in self._all_facts() if fact.field in _ALL_TOOLS])

    def _all_facts(self) -> list[Fact]:
        return list({fact.id: fact for facts in self._facts.values() for fact in facts}.values())

    @property
    def _server_name(self) -> str:
        return self.session.target.name or self.session.server.name or self.session.target.label

    # Show

    @property
    def _list(self) -> VirtualList:
        return self.query_one("#model-rows", VirtualList)

    @property
    def tool(self) -> ToolCost | None:
        """The tool under the cursor."""
        at = self._list.cursor
        return self.rows.rows[at] if 0 <= at < len(self.rows) else None

    def _arrange(self) -> None:
        for name in _PANES:
            self.query_one(f"#{name}").set_class(name == self._front, "-front")
        self.set_class(self._front == _PANES[2], "-hosts")

    def _draw_totals(self) -> None:
        cost, edge = self._cost, self.query_one("#model-list", Pane)
        if cost is None:
            return
        tokens = f"~{count(cost.tokens)}"
        if self.budget is None:
            edge.facts = [quantity(len(cost.tools), "tool"), f"{tokens} tokens"]
        else:
            above = cost.tokens > self.budget
            edge.facts = [[(f"{tokens} of {count(self.budget)} tokens", "error" if above else "received")]]
        edge.note = f"{cost.counter.method}, by {self.rows.order}"

    def on_virtual_list_highlighted(self, event: VirtualList.Highlighted) -> None:
        if event.list_view is self._list:
            self._show_tool()

    def _show_tool(self) -> None:
        tool, cost = self.tool, self._cost
        text, hosts = self.query_one("#model-text", Pane), self.query_one("#model-hosts", Pane)
        if tool is None or cost is None:
            text.facts = hosts.facts = []
            self.query_one("#model-view", FactsView).set_sections([])
            self.query_one("#hosts-view", FactsView).set_sections([])
            return
        text.title = ["Model input  ", (tool.name, "bright")]
        text.facts = [f"~{count(tool.tokens)} tokens"]
        self.query_one("#model-view", FactsView).set_sections(_sections(tool))
        server = ServerDefinitions.of(self._server_name, [tool.definition])
        notes = evaluate(server, [fact for fact in self._all_facts() if fact.field not in _ALL_TOOLS])
        notes += self._server_notes
        faults = sum(not note.ok for note in notes)
        hosts.facts = [
            *([[(f"{signs_now().finding} {faults}", "finding")]] if faults else []),
            f"limits as of {host_facts().made[:7]}",
        ]
        view = self.query_one("#hosts-view", FactsView)
        width = (view.size.width or self.size.width - 4) - 2 * view.pad
        known = host_facts()
        names = {host: known.full_name(host, server.name, tool.name) for host in self._facts if known.name_rule(host)}
        view.set_sections([RowSection(host_rows(tuple(self._facts), notes, self._facts, width, names))])

    def _show_footer(self) -> None:
        self.query_one(Footer).offer(self.hints())

    def hints(self) -> list[KeyHint]:
        """Return the keys that work now."""
        filter = self.query_one(FilterInput)
        if filter.has_focus:
            return filter.hints()
        leave = ("model.all", "clear filter" if filter.value else "back")
        of_list: list[str | tuple[str, str]] = [leave]
        if self.query_one("#model-list").has_focus_within:
            of_list = [("list.select", "open"), leave, "model.sort", "model.filter"]
        pane = [] if self.has_class("-wide") else [("app.next-pane", "next pane")]
        return hints(self, *of_list, *pane, "model.budget", "model.hosts", "model.copy", "model.save")

    def on_descendant_focus(self) -> None:
        self._show_footer()

    # Actions

    def action_next_pane(self, by: int) -> None:
        """Go to the next pane; a narrow screen shows it alone."""
        at = (_PANES.index(self._front) + by) % len(_PANES)
        self._front = _PANES[at]
        self._arrange()
        self.set_focus(self.query_one(f"#{('model-rows', 'model-view', 'hosts-view')[at]}"))
        self.call_after_refresh(self._show_tool)
        self._show_footer()

    def on_virtual_list_selected(self, event: VirtualList.Selected) -> None:
        if event.list_view is self._list and self.tool is not None:
            self.dismiss(self.tool.name)

    def action_sort(self) -> None:
        """Show the tools in the next order."""
        self.rows.sort(ORDERS[(ORDERS.index(self.rows.order) + 1) % len(ORDERS)])
        self._list.source_changed()
        self._list.action_first()
        self._draw_totals()

    def action_filter(self) -> None:
        """Go to the filter."""
        self._front = _PANES[0]
        self._arrange()
        self.set_focus(self.query_one(FilterInput))

    def on_editor_changed(self, event: Editor.Changed) -> None:
        event.stop()
        self.rows.narrow(event.value)
        self._list.source_changed()
        self._show_tool()

    def on_filter_input_left(self, event: FilterInput.Left) -> None:
        event.stop()
        self._list.focus()

    def action_all(self) -> None:
        """Clear the filter; without one, leave."""
        if self.rows.filter:
            self.query_one(FilterInput).value = ""
            self.rows.narrow("")
            self._list.source_changed()
        else:
            self.dismiss(None)

    @work(exclusive=True, group="dialog")
    async def action_budget(self) -> None:
        """Choose a number of tokens."""
        choices = [(_NO_BUDGET, ""), *((count(budget), "tokens") for budget in _BUDGETS)]
        current = _NO_BUDGET if self.budget is None else count(self.budget)
        chosen = await self.app.push_screen_wait(Choose("Budget", choices, current))
        if chosen is not None:
            self.budget = None if chosen == _NO_BUDGET else int(chosen.replace(",", ""))
            self._draw_totals()

    @work(exclusive=True, group="dialog")
    async def action_hosts(self) -> None:
        """Choose the hosts whose limits are shown."""
        chosen = await choose_hosts(self.app, self.hosts, ("usual", "the five most common"))
        if chosen is not None:
            self.hosts = chosen or USUAL
            self._choose_facts()
            self._show_tool()

    def action_copy(self) -> None:
        """Copy the text of the tool."""
        if self.tool is not None:
            copy(self, "\n\n".join(filter(None, (self.tool.name, self.tool.description, self.tool.schema))), "the tool")

    def action_save(self) -> None:
        """Save the report as JSON."""
        if self._cost is not None:
            report = report_of(self._server_name, self._cost, facts=tuple(self._all_facts()))
            text = json.dumps(report.as_json(datetime.date.today()), indent=2, ensure_ascii=False)
            self._saving.save(f"{escape_json(text)}\n".encode("utf-8", "replace"), "context.json", "the report")

    def action_quit(self) -> None:
        """Leave as the session does, which asks if a call is in flight."""
        self.dismiss(None)
        self.app.call_later(self.app.run_action, "screen.quit")


def _sections(tool: ToolCost) -> list[RowSection | JsonSection]:
    sections: list[RowSection | JsonSection] = [
        RowSection([_head("name", len(tool.name)), Row([(tool.name, "normal")])]),
        RowSection(
            [
                Row(),
                _head("description", len(tool.description)),
                *(Row([(line, "normal")]) for line in text_lines(tool.description)),
                Row(),
                _head("input schema", len(tool.schema)),
            ]
        ),
    ]
    if tool.schema:
        sections.append(JsonSection(tree(tool.schema)))
    if tool.not_included:
        sections.append(
            RowSection([Row(), Row([("not included  ", "muted"), (", ".join(tool.not_included), "muted")])])
        )
    return sections


def _head(part: str, characters: int) -> Row:
    return Row([(f"{part:<14}", "bright bold"), (quantity(characters, "character"), "muted")])


async def start(screen: MainScreen, tool: str, arguments: Any) -> None:
    """Show the tools as a model gets them; one that is opened there is shown in its list."""

    def opened(name: str | None) -> None:
        if name is not None:
            screen.show_address("tools", name)

    screen.app.push_screen(ModelScreen(screen.session, tool), opened)
