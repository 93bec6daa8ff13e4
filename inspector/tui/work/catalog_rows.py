"""The rows of one catalog: a server's list so far, filtered, in slices of bounded work."""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Container, Hashable
from typing import Any

from rich.segment import Segment

from inspector.apps.definitions import is_for_model, tool_app
from inspector.client.state.catalog import CatalogList
from inspector.context.cost import tool_cost
from inspector.protocol.views import UNNAMED, NamedView, Prompt, Resource, ResourceTemplate, Tool
from inspector.text import cell_len, count, safe
from inspector.tui.matching import Typed
from inspector.tui.themes import signs_now
from inspector.tui.widgets import paint

SLICE = 20_000
"""Items that one turn adds, and items that it matches with the filter."""

WIDE = 60
"""Width in cells from which there is a column for descriptions."""

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


def arguments_of(view: NamedView) -> tuple[str, ...]:
    """Return the names of the arguments of a tool or prompt."""
    if isinstance(view, Tool):
        return view.arguments
    return tuple(argument.name for argument in view.arguments) if isinstance(view, Prompt) else ()


class CatalogRows:
    """A `RowSource` over a `CatalogList` that grows while it is read.

    `advance` adds new items, `narrow` sets the filter; both do a bounded slice of work, and `behind` tells whether
    there is more to do. A list that is read again replaces the old one only once it is as long or complete, so that no
    row disappears and returns. Items whose names are in `refused` now are flagged.

    With `by_cost`, the tools that cost a model most come first, as soon as the cost of all is determined.
    """

    def __init__(self, found: CatalogList, refused: Container[str] = ()) -> None:
        self.list = found
        self._refused = refused
        self.changed: set[str | None] = set()
        """Names and URIs of the items that are new or different since a restart, and were not visited yet."""
        self.filter = ""
        self._typed = Typed()
        self._hits = array("L")
        self._fuzzy = False
        self.by_cost = False
        self._begin(found.items)

    def _begin(self, items: list[dict[str, Any]]) -> None:
        self._items = items
        self._keys: list[ItemKey] = []
        self._at: dict[ItemKey, int] = {}
        self._same: dict[str | None, int] = {}
        self._texts: list[str] = []
        self._label = 0
        self._costs: list[tuple[int, int]] = []
        """Characters and tokens of each tool, in the server's order, as far as they are determined."""
        self._order: list[int] | None = None
        """Positions of the shown items: the most expensive first, or the best match; None in the server's order."""
        self._row_of: dict[int, int] = {}
        self._begin_filter(fuzzy=False)

    # New items

    def advance(self, budget: int = SLICE) -> int | None:
        """Add new items. Returns the first row that is new or different, or None."""
        first = self._add(budget)
        if not self.by_cost:
            return first
        for at in range(len(self._costs), min(len(self._keys), len(self._costs) + PRICED, SORTED)):
            tool = self._items[at]
            cost = tool_cost(tool) if is_for_model(tool) else None
            self._costs.append((cost.characters, cost.tokens) if cost is not None else (0, 0))
            first = 0
        if first is not None:
            self._arrange()
        return first if self._order is None or first is None else 0

    def _add(self, budget: int) -> int | None:
        first: int | None = None
        fresh = self.list.items
        if fresh is not self._items and (not self.list.loading or len(fresh) >= len(self._items)):
            self._begin(fresh)
            first = 0
        start, column = len(self._keys), self._label
        for at in range(start, min(len(self._items), start + budget)):
            self._take(at, self._items[at])
        if self._label != column:
            first = 0
        if not self._typed:
            grown = len(self._keys) > start
            return first if first is not None else start if grown else None
        changed = self._scan(budget)
        first = changed if first is None else first
        if first is None or self.by_cost:
            return first
        self._arrange()
        return 0

    def _take(self, at: int, item: dict[str, Any]) -> None:
        id = item.get(self.list.kind.id_field)
        name = id if isinstance(id, str) else None
        nth = self._same.get(name, 0)
        self._same[name] = nth + 1
        key = (name, nth)
        self._keys.append(key)
        self._at[key] = at
        if at < MEASURED:
            self._label = max(self._label, sum(cell_len(text) for text, _ in self._name(item)))

    @property
    def behind(self) -> bool:
        """Whether more than one slice is left to add or to filter."""
        taken = len(self._keys)
        if taken < len(self._items) or (self.by_cost and len(self._costs) < min(taken, SORTED)):
            return True
        return bool(self._typed) and (self._scanned < taken or self._wants_fuzzy)

    @property
    def total(self) -> int:
        """The number of items without the filter."""
        return len(self._keys)

    def item(self, index: int) -> dict[str, Any] | None:
        """Return the item of a row."""
        return self._items[self._position(index)] if 0 <= index < len(self) else None

    def is_double(self, index: int) -> bool:
        """Whether an earlier item has the same name."""
        name, nth = self._keys[self._position(index)]
        return nth > 0 and name is not None

    # The order

    @property
    def is_sorted(self) -> bool:
        """Whether the rows are in the order of cost now."""
        return self._order is not None and self.by_cost

    def sort(self, *, by_cost: bool) -> None:
        """Show the most expensive tools first, or the server's order. `advance` determines costs that are missing."""
        self.by_cost = by_cost
        self._arrange()

    def _arrange(self) -> None:
        """Put the shown items in their order."""
        self._order, self._row_of = None, {}
        if self.by_cost and len(self._costs) == len(self._keys) and self.list.kind.name == "tools":
            shown = self._hits if self._typed else range(len(self._keys))
            self._order = sorted(shown, key=lambda at: -self._costs[at][0])
        elif self._typed and not self._fuzzy and len(self._hits) <= SORTED:
            self._order = sorted(self._hits, key=self._rank)
        self._row_of = {at: row for row, at in enumerate(self._order or ())}

    def _rank(self, at: int) -> int:
        """How well an item matches; a title that has the words counts like a name that has them."""
        name, _, rest = self._text(at).partition("\n")
        rank = self._typed.rank(name, rest)
        if rank == 3 and self._typed.rank(rest.partition("\n")[0]) is not None:
            rank = 2
        return 9 if rank is None else rank

    # The filter

    def narrow(self, text: str, budget: int = SLICE) -> bool:
        """Show only items with every word of `text` in their name, title, description or URI.

        If there is none, items whose name has its characters in this order are shown. Returns False if the filter means
        the same as before.
        """
        typed, before = Typed(text), self._typed
        self.filter = text
        if typed.words == before.words:
            return False
        # A longer text can only remove rows: only the hits so far are filtered again.
        if before and not self._fuzzy and typed.narrows(before) and len(self._hits) <= budget:
            self._typed = typed
            self._hits = array("L", [at for at in self._hits if self._matches(at)])
        else:
            self._begin_filter(fuzzy=False)
        self._scan(budget)
        self._arrange()
        return True

    def _begin_filter(self, *, fuzzy: bool) -> None:
        self._typed = Typed(self.filter)
        self._hits = array("L")
        self._scanned = 0
        self._fuzzy = fuzzy
        self._letters = "".join(self._typed.words)[:100]

    def _matches(self, at: int) -> bool:
        text = self._text(at)
        return all(word in text for word in self._typed.words)

    def _text(self, at: int) -> str:
        while len(self._texts) <= at:
            item = self._items[len(self._texts)]
            parts = (item.get(key) for key in ("name", "title", "uri", "uriTemplate", "description"))
            self._texts.append(
                "\n".join(part[:SEARCHED] if isinstance(part, str) else "" for part in parts)[:SEARCHED].casefold()
            )
        return self._texts[at]

    def _is_like(self, at: int) -> bool:
        rest = iter(self._text(at).partition("\n")[0])
        return all(letter in rest for letter in self._letters)

    @property
    def _wants_fuzzy(self) -> bool:
        return not self._hits and not self._fuzzy and bool(self._keys)

    def best(self) -> int | None:
        """Return the first row whose name or title has every word of the filter, or None."""
        for row in range(min(len(self), LOOKED_AT) if self._typed else 0):
            text = self._text(self._position(row))
            names = text[: text.find("\n", text.find("\n") + 1)]
            if all(word in names for word in self._typed.words):
                return row
        return None

    def _scan(self, budget: int) -> int | None:
        """Continue to filter items. Returns the first row that is new or different."""
        first: int | None = None
        for _ in range(budget):
            if self._scanned == len(self._keys):
                if not self._typed or not self._wants_fuzzy:
                    break
                self._begin_filter(fuzzy=True)
                first = 0
            at = self._scanned
            self._scanned += 1
            exact = self._matches(at)
            if exact and self._fuzzy:
                self._begin_filter(fuzzy=False)
                first = 0
            elif exact or (self._fuzzy and self._is_like(at)):
                self._hits.append(at)
                first = len(self._hits) - 1 if first is None else first
        return first

    # The rows

    def __len__(self) -> int:
        if self._order is not None:
            return len(self._order)
        return len(self._hits) if self._typed else len(self._keys)

    def _position(self, index: int) -> int:
        if self._order is not None:
            return self._order[index]
        return self._hits[index] if self._typed else index

    def key_at(self, index: int) -> Hashable:
        """Return the key of a row."""
        return self._keys[self._position(index)]

    def index_of(self, key: Any) -> int | None:
        """Return the row of a key, or None if it is not shown."""
        at = self._at.get(key)
        if at is not None and self._order is not None:
            return self._row_of.get(at)
        if at is None or not self._typed:
            return at
        index = bisect_left(self._hits, at)
        return index if index < len(self._hits) and self._hits[index] == at else None

    def find(self, address: str) -> ItemKey | None:
        """Return the key of the first item with this name or URI."""
        key = (address, 0)
        return key if key in self._at else None

    # Drawing

    def render(self, index: int, width: int, selected: bool, focused: bool) -> list[Segment]:
        """Draw one row: the name, then its arguments; on a wide screen also a column for the description.

        Sorted by cost, a row ends with the estimated tokens of its tool.
        """
        if self._order is None or not self.is_sorted:
            return self._row(index, width)
        tokens = paint.cell([(f"~{count(self._costs[self._order[index]][1])}", "normal")], _TOKENS, right=True)
        return [*self._row(index, max(width - _TOKENS, 0)), *tokens]

    def _row(self, index: int, width: int) -> list[Segment]:
        item = self._items[self._position(index)]
        view = view_of(self.list.kind.name, item)
        flagged = view.problems or self.is_double(index) or view.name in self._refused
        signs = signs_now()
        is_new = self._keys[self._position(index)][0] in self.changed
        flag = paint.segments([(signs.live, "progress")] if is_new else [(signs.finding, "finding")] if flagged else "")
        room = width - (2 if flag else 0)
        names: list[paint.Piece] = list(self._name(item))
        if width < WIDE:
            left = paint.segments(names, room=room)
            left += self._details(view, room - paint.width(left))
        else:
            column = min(self._label, width * 2 // 5) + 2
            about = paint.segments(self._about(view, room - column), "muted", room=room - column)
            left = [*paint.cell(names, column - 2), Segment("  "), *about]
        return paint.spread(paint.cut(left, room), flag, width, 1)

    def _name(self, item: dict[str, Any]) -> tuple[tuple[str, str], ...]:
        """The name of a tool or prompt, because authors of servers think in names; the title of a resource.

        The title of a tool is shown above its form and in the second column (C-BASE-17).
        """
        view = view_of(self.list.kind.name, item)
        shown = view.display_name if isinstance(view, (Resource, ResourceTemplate)) else view.name or view.display_name
        mark = tool_app(item).mark if isinstance(view, Tool) else ""
        return ((safe(shown, 80), "bright"), *(((f"  {mark}", "muted"),) if mark else ()))

    def _about(self, view: NamedView, room: int) -> list[paint.Piece]:
        """The second column: a URI; else title and description, or the arguments without either."""
        if isinstance(view, (Resource, ResourceTemplate)):
            return [address(view)]
        title = view.display_name if view.display_name not in (view.name, UNNAMED) else ""
        words = " ".join(view.description[:SEARCHED].split())
        if not title:
            return [words or _listed(arguments_of(view), room)]
        return [(title, "normal"), f"  {words}"]

    def _details(self, view: NamedView, room: int) -> list[Segment]:
        """The text after a name in a narrow list: the start of a URI, or arguments."""
        if isinstance(view, (Resource, ResourceTemplate)):
            uri = address(view)
            shown = room > 4 and uri != view.display_name
            return paint.segments([(f" {uri}", "muted")], room=room) if shown else []
        return paint.segments([(f" {names}", "muted")] if (names := _listed(arguments_of(view), room - 1)) else "")


def _listed(names: tuple[str, ...], room: int) -> str:
    """Return as many argument names as fit, and `…` for the others; nothing if none fits."""
    cut = signs_now().cut
    text = ""
    for at, name in enumerate(names):
        longer = f"{text}, {safe(name, 60)}" if at else safe(name, 60)
        rest = f", {cut}" if at < len(names) - 1 else ""
        if cell_len(longer + rest) > room:
            return f"{text}, {cut}" if text else ""
        text = longer
    return text
