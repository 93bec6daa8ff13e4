"""The rows of the server's lists so far, filtered, in slices of bounded work."""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Container, Iterator, Sequence
from typing import Any

from rich.segment import Segment

from inspector.client.state.catalog import CatalogList, ListName
from inspector.lazy_pattern import lazy_pattern
from inspector.protocol.app_definitions import is_for_model, tool_app
from inspector.protocol.token_costs import tool_cost
from inspector.protocol.views import UNNAMED, NamedView, Prompt, Resource, ResourceTemplate, Tool, destruction
from inspector.text import cell_len, count, safe
from inspector.tui.matching import Typed
from inspector.tui.themes import signs_now
from inspector.tui.widgets import paint

SLICE = 20_000
"""Items that one turn adds, and items that it matches with the filter."""

SENTENCE_FROM = 60
"""Width in cells from which a row shows the description after the title."""

MIN_PURPOSE = 8
"""Cells below which the purpose of an item is not shown."""

MAY_DESTROY = "!"
"""Marks a tool that says that it may destroy something."""
TEMPLATE = "{}"
"""Marks a resource template among the resources."""

MEASURED = 1000
"""Items whose names determine the start of the second column."""

LOOKED_AT = 2000
"""Rows that are searched for the best match of a filter."""

SEARCHED = 600
"""Characters of an item that the filter reads."""

SORTED = 20_000
"""Tools up to which a list can be sorted by cost; a longer one keeps the server's order."""

PRICED = 500
"""Tools whose cost one turn determines."""

_TOKENS = 8
"""Cells of the column for tokens."""

ItemKey = tuple[str | None, int]
"""An item's name or URI (None if it has none), and the number of earlier items with the same one."""

_VIEWS: dict[str, type[NamedView]] = {
    "tools": Tool,
    "resources": Resource,
    "templates": ResourceTemplate,
    "prompts": Prompt,
}


def view_of(list_name: str, item: Any) -> NamedView:
    """Return the lenient view of an item of a list."""
    return _VIEWS[list_name](item)


def address(view: NamedView) -> str:
    """Return the address of an item: the URI or template of a resource, the name of anything else."""
    if isinstance(view, Resource):
        return view.uri
    return view.uri_template if isinstance(view, ResourceTemplate) else view.name


_WORD = lazy_pattern(r"[A-Z]?[a-z]+|[A-Z]+|[0-9]+|[^\W\d_a-zA-Z]+")
_KINDS = frozenset(("tool", "resource", "template", "prompt"))
"""Words of a title that the tab says already."""
_SENTENCE = lazy_pattern(r"(?<=[.!?])\s")


def purpose(view: NamedView) -> tuple[str, str]:
    """Return what an item is for: its title, and the first sentence of its description.

    The title is `""` if it has no other words than the name and the kind.
    """
    title = view.display_name if view.display_name != UNNAMED else ""
    words = [word.casefold() for word in _WORD.findall(view.name or title)]
    # FastMCP makes the title `Getobject` of the name `getObject`.
    known = {*words, "".join(words)} | _KINDS
    says_more = any(word.casefold() not in known for word in _WORD.findall(title))
    sentence = _SENTENCE.split(" ".join(view.description[:SEARCHED].split()), maxsplit=1)[0]
    return (title if says_more else ""), sentence if sentence.endswith("..") else sentence.removesuffix(".")


class _Items:
    """The items of one version of a list, as far as they are added, with keys, costs and search texts."""

    def __init__(self, catalog_list: CatalogList) -> None:
        self.all = catalog_list.items
        self.keys: list[ItemKey] = []
        self.at: dict[ItemKey, int] = {}
        self.costs: list[tuple[int, int]] = []
        """Characters and tokens of each tool, as far as they are determined."""
        self.label = 0
        """Cells of the widest name."""
        self._id_field = catalog_list.kind.id_field
        self._same: dict[str | None, int] = {}
        self._texts: list[str] = []

    def add(self, budget: int) -> None:
        """Add more items."""
        start = len(self.keys)
        for at, item in enumerate(self.all[start : start + budget], start):
            id = item.get(self._id_field)
            name = id if isinstance(id, str) else None
            nth = self._same.get(name, 0)
            self._same[name] = nth + 1
            self.keys.append(key := (name, nth))
            self.at[key] = at

    def price(self) -> bool:
        """Determine the cost of more tools; False without any."""
        start = len(self.costs)
        for tool in self.all[start : min(len(self.keys), start + PRICED, SORTED)]:
            cost = tool_cost(tool) if is_for_model(tool) else None
            self.costs.append((cost.characters, cost.tokens) if cost is not None else (0, 0))
        return len(self.costs) > start

    def text(self, at: int) -> str:
        """Return what the filter reads of an item, case-folded: name, title, address and description, one a line."""
        while len(self._texts) <= at:
            item = self.all[len(self._texts)]
            parts = (item.get(key) for key in ("name", "title", "uri", "uriTemplate", "description"))
            self._texts.append(
                "\n".join(part[:SEARCHED] if isinstance(part, str) else "" for part in parts)[:SEARCHED].casefold()
            )
        return self._texts[at]


class _Matches:
    """The positions of the items that have every word of a filter, as far as they are scanned.

    If there is none, those whose name has its characters in this order.
    """

    def __init__(self, items: _Items, typed: Typed) -> None:
        self.typed = typed
        self._items = items
        self._letters = "".join(typed.words)[:100]
        self._begin(fuzzy=False)

    def _begin(self, *, fuzzy: bool) -> None:
        self.positions = array("L")
        self.is_fuzzy = fuzzy
        self._scanned = 0

    def narrowed(self, typed: Typed, budget: int) -> _Matches:
        """Return the matches of another filter. A longer text can only remove some: only those are scanned again."""
        fresh = _Matches(self._items, typed)
        if not self.is_fuzzy and typed.narrows(self.typed) and len(self.positions) <= budget:
            fresh.positions = array("L", filter(fresh.is_match, self.positions))
            fresh._scanned = self._scanned
        return fresh

    @property
    def behind(self) -> bool:
        """Whether more items are left to scan."""
        return self._scanned < len(self._items.keys) or self._wants_fuzzy

    @property
    def _wants_fuzzy(self) -> bool:
        return not self.positions and not self.is_fuzzy and bool(self._items.keys)

    def scan(self, budget: int) -> int | None:
        """Scan more items. Returns the first match that is new or different."""
        first: int | None = None
        for _ in range(budget):
            if self._scanned == len(self._items.keys):
                if not self._wants_fuzzy:
                    break
                self._begin(fuzzy=True)
                first = 0
            at = self._scanned
            self._scanned += 1
            exact = self.is_match(at)
            if exact and self.is_fuzzy:
                self._begin(fuzzy=False)
                first = 0
            elif exact or (self.is_fuzzy and self._is_like(at)):
                self.positions.append(at)
                first = len(self.positions) - 1 if first is None else first
        return first

    def is_match(self, at: int, *, names: bool = False) -> bool:
        """Whether an item has every word, with `names` in its name and title."""
        text = self._items.text(at)
        if names:
            text = text[: text.find("\n", text.find("\n") + 1)]
        return all(word in text for word in self.typed.words)

    def _is_like(self, at: int) -> bool:
        rest = iter(self._items.text(at).partition("\n")[0])
        return all(letter in rest for letter in self._letters)

    def rank(self, at: int) -> int:
        """Return how well an item matches; a title that has the words counts like a name that has them."""
        name, _, rest = self._items.text(at).partition("\n")
        rank = self.typed.rank(name, rest)
        if rank == 3 and self.typed.rank(rest.partition("\n")[0]) is not None:
            rank = 2
        return 9 if rank is None else rank


class CatalogRows:
    """A `RowSource` over a `CatalogList` that grows while it is read.

    `advance` adds new items, `narrow` sets the filter; both do a bounded slice of work, and `behind` tells whether
    there is more to do. A list that is read again replaces the old one only once it is as long or complete, so that no
    row disappears and returns. Items whose names are in `refused` now are flagged.

    With `by_cost`, the tools that cost a model most come first, as soon as the cost of all is determined.
    """

    def __init__(self, catalog_list: CatalogList, refused: Container[str] = ()) -> None:
        self.list = catalog_list
        self._refused = refused
        self.changed: set[str | None] = set()
        """Names and URIs of the items that are new or different since a restart, and were not visited yet."""
        self.filter = ""
        self.by_cost = False
        self._items = _Items(catalog_list)
        self._matches: _Matches | None = None
        self._order: list[int] | None = None
        """Positions of the shown items: the most expensive first, or the best match; None in the server's order."""

    def advance(self, budget: int = SLICE) -> int | None:
        """Add new items. Returns the first row that is new or different, or None."""
        first = self._add(budget)
        if self.by_cost and self._items.price():
            first = 0
        if first is None or (self._matches is None and not self.by_cost):
            return first
        self._arrange()
        return first if self.by_cost and self._order is None else 0

    def _add(self, budget: int) -> int | None:
        first: int | None = None
        fresh = self.list.items
        if fresh is not self._items.all and (not self.list.loading or len(fresh) >= len(self._items.all)):
            self._items = _Items(self.list)
            self._matches = _Matches(self._items, self._matches.typed) if self._matches is not None else None
            self._order = None
            first = 0
        start = len(self._items.keys)
        self._items.add(budget)
        added = range(start, len(self._items.keys))
        names = (self._name(self._items.all[at]) for at in added[: max(MEASURED - start, 0)])
        widest = max((sum(cell_len(text) for text, _ in name) for name in names), default=0)
        if widest > self._items.label:
            self._items.label = widest
            first = 0
        changed = self._matches.scan(budget) if self._matches is not None else start if added else None
        return changed if first is None else first

    @property
    def behind(self) -> bool:
        """Whether more than one slice is left to add or to filter."""
        items = self._items
        if len(items.keys) < len(items.all) or (self.by_cost and len(items.costs) < min(len(items.keys), SORTED)):
            return True
        return self._matches is not None and self._matches.behind

    @property
    def total(self) -> int:
        """The number of items without the filter."""
        return len(self._items.keys)

    def item(self, index: int) -> dict[str, Any] | None:
        """Return the item of a row."""
        return self._items.all[self._positions[index]] if 0 <= index < len(self) else None

    def is_double(self, index: int) -> bool:
        """Whether an earlier item has the same name."""
        name, nth = self._items.keys[self._positions[index]]
        return nth > 0 and name is not None

    @property
    def is_sorted(self) -> bool:
        """Whether the rows are in the order of cost now."""
        return self.by_cost and self.list.kind.name == "tools" and len(self._items.costs) == len(self._items.keys)

    def sort(self, *, by_cost: bool) -> None:
        """Show the most expensive tools first, or the server's order. `advance` determines costs that are missing."""
        self.by_cost = by_cost
        self._arrange()

    def _arrange(self) -> None:
        """Put the shown items in their order."""
        self._order = None
        matches = self._matches
        if self.is_sorted:
            self._order = sorted(self._positions, key=lambda at: -self._items.costs[at][0])
        elif matches is not None and not matches.is_fuzzy and len(matches.positions) <= SORTED:
            self._order = sorted(matches.positions, key=matches.rank)

    def narrow(self, text: str, budget: int = SLICE) -> bool:
        """Show only items with every word of `text` in their name, title, description or URI.

        If there is none, items whose name has its characters in this order are shown. Returns False if the filter means
        the same as before.
        """
        typed, before = Typed(text), self._matches
        self.filter = text
        if typed.words == (before.typed.words if before is not None else []):
            return False
        if not typed:
            self._matches = None
        else:
            self._matches = before.narrowed(typed, budget) if before is not None else _Matches(self._items, typed)
            self._matches.scan(budget)
        self._arrange()
        return True

    def best(self) -> int | None:
        """Return the first row whose name or title has every word of the filter, or None."""
        matches = self._matches
        if matches is None:
            return None
        rows = enumerate(self._positions[:LOOKED_AT])
        return next((row for row, at in rows if matches.is_match(at, names=True)), None)

    @property
    def _positions(self) -> Sequence[int]:
        """The position of each row's item."""
        if self._order is not None:
            return self._order
        return self._matches.positions if self._matches is not None else range(len(self._items.keys))

    def __len__(self) -> int:
        return len(self._positions)

    def key_at(self, index: int) -> ItemKey:
        """Return the key of a row."""
        return self._items.keys[self._positions[index]]

    def index_of(self, key: Any) -> int | None:
        """Return the row of a key, or None if it is not shown."""
        at = self._items.at.get(key)
        if at is None:
            return None
        if self._order is not None:
            return self._order.index(at) if at in self._order else None
        positions = self._positions
        index = bisect_left(positions, at)
        return index if index < len(positions) and positions[index] == at else None

    def find(self, address: str) -> ItemKey | None:
        """Return the key of the first item with this name or URI."""
        key = (address, 0)
        return key if key in self._items.at else None

    def render(self, index: int, width: int, selected: bool, focused: bool) -> list[Segment]:
        """Draw one row: the name, then what the item is for. A mark at the right says what is special about it.

        Sorted by cost, a row ends with the estimated tokens of its tool.
        """
        if not self.is_sorted:
            return self._row(index, width)
        tokens = paint.cell(
            [(f"~{count(self._items.costs[self._positions[index]][1])}", "normal")], _TOKENS, right=True
        )
        return [*self._row(index, max(width - _TOKENS, 0)), *tokens]

    def _row(self, index: int, width: int) -> list[Segment]:
        item = self._items.all[self._positions[index]]
        view = view_of(self.list.kind.name, item)
        flag = paint.segments(self._flag(index, item, view))
        room = width - (2 if flag else 0)
        name = paint.segments(self._name(item))
        column = min(self._items.label, width // 2) + 2
        about_at = max(column, paint.width(name) + 2)
        if room - about_at >= MIN_PURPOSE:
            about = paint.segments(self._about(view, width), "muted", room=room - about_at)
            name = [*name, Segment(" " * (about_at - paint.width(name))), *about]
        return paint.spread(paint.cut(name, room), flag, width, 1)

    def _flag(self, index: int, item: dict[str, Any], view: NamedView) -> paint.Pieces:
        """Return the mark of a row: new since a restart, wrong, a template, or a tool that may destroy something."""
        signs = signs_now()
        if self._items.keys[self._positions[index]][0] in self.changed:
            return [(signs.live, "progress")]
        if view.problems or self.is_double(index) or view.name in self._refused:
            return [(signs.finding, "finding")]
        if isinstance(view, ResourceTemplate):
            return [(TEMPLATE, "muted")]
        return [(MAY_DESTROY, "bright")] if isinstance(view, Tool) and destruction(item) else ""

    def _name(self, item: dict[str, Any]) -> tuple[tuple[str, str], ...]:
        """Return the name of a tool or prompt, because authors of servers think in names; the title of a resource.

        The title of a tool is shown above its form and in the second column (C-BASE-17).
        """
        view = view_of(self.list.kind.name, item)
        name = view.display_name if isinstance(view, (Resource, ResourceTemplate)) else view.name or view.display_name
        mark = tool_app(item).mark if isinstance(view, Tool) else ""
        return ((safe(name, 80), "bright"), *(((f"  {mark}", "muted"),) if mark else ()))

    def _about(self, view: NamedView, width: int) -> list[paint.Piece]:
        """Return the text after the name: a URI, or the title and what the description begins with."""
        if isinstance(view, (Resource, ResourceTemplate)):
            return [uri] if (uri := address(view)) != view.display_name else []
        title, sentence = purpose(view)
        if not title:
            return [sentence]
        return [(title, "normal"), f"  {sentence}"] if width >= SENTENCE_FROM else [title]


GroupKey = tuple[ListName, ItemKey]
"""The list of an item, and its key there."""


class CatalogGroups:
    """A `RowSource` over several lists, one below the other, with one filter."""

    def __init__(self, groups: Sequence[CatalogRows]) -> None:
        self.groups = groups
        self.filter = ""

    def _groups_by_start(self) -> Iterator[tuple[int, CatalogRows]]:
        """Yield each list with its first row."""
        start = 0
        for rows in self.groups:
            yield start, rows
            start += len(rows)

    def _at(self, index: int) -> tuple[CatalogRows, int]:
        """Return the list of a row, and the row in it."""
        return next((rows, index - start) for start, rows in self._groups_by_start() if index < start + len(rows))

    def __len__(self) -> int:
        return sum(map(len, self.groups))

    def key_at(self, index: int) -> GroupKey:
        """Return the key of a row."""
        rows, at = self._at(index)
        return rows.list.kind.name, rows.key_at(at)

    def index_of(self, key: Any) -> int | None:
        """Return the row of a key, or None if it is not shown."""
        for start, rows in self._groups_by_start():
            if rows.list.kind.name == key[0]:
                at = rows.index_of(key[1])
                return None if at is None else start + at
        return None

    def item(self, index: int) -> dict[str, Any] | None:
        """Return the item of a row."""
        if not 0 <= index < len(self):
            return None
        rows, at = self._at(index)
        return rows.item(at)

    def render(self, index: int, width: int, selected: bool, focused: bool) -> list[Segment]:
        """Draw one row."""
        rows, at = self._at(index)
        return rows.render(at, width, selected, focused)

    def advance(self) -> int | None:
        """Add new items of each list. Returns the first row that is new or different, or None."""
        firsts = [
            start + first for start, rows in list(self._groups_by_start()) if (first := rows.advance()) is not None
        ]
        return min(firsts, default=None)

    @property
    def behind(self) -> bool:
        """Whether more than one slice is left to add or to filter."""
        return any(rows.behind for rows in self.groups)

    @property
    def total(self) -> int:
        """The number of items without the filter."""
        return sum(rows.total for rows in self.groups)

    def narrow(self, text: str) -> bool:
        """Show only items that match `text`. Returns False if the filter means the same as before."""
        self.filter = text
        return any([rows.narrow(text) for rows in self.groups])

    def best(self) -> int | None:
        """Return the first row whose name or title has every word of the filter, or None."""
        best_rows = ((start, rows.best()) for start, rows in self._groups_by_start())
        return next((start + best for start, best in best_rows if best is not None), None)

    def find(self, list_name: ListName, address: str) -> GroupKey | None:
        """Return the key of the first item of a list with this name or URI."""
        key = next((rows.find(address) for rows in self.groups if rows.list.kind.name == list_name), None)
        return None if key is None else (list_name, key)
