"""A server's lists. Filled page by page from responses, live or recorded, by the same reduction."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from inspector.errors import InspectorError
from inspector.text import quantity, size

ListName = Literal["tools", "resources", "templates", "prompts"]

MAX_IDLE_PAGES = 1000
"""Consecutive pages without a new item after which a list is stopped with a finding."""

MAX_SIZE = 100_000_000
"""Bytes of pages after which it is stopped too; each page counts as `_LEAST` at least, because it takes a request."""
_LEAST = 1000


class ListKind(NamedTuple):
    """One of the lists: its method, the key of its items in the result, the capability, the notification."""

    name: ListName
    method: str
    key: str
    capability: str
    id_field: str
    changed: str


KINDS: dict[ListName, ListKind] = {
    "tools": ListKind("tools", "tools/list", "tools", "tools", "name", "notifications/tools/list_changed"),
    "resources": ListKind(
        "resources", "resources/list", "resources", "resources", "uri", "notifications/resources/list_changed"
    ),
    "templates": ListKind(
        "templates",
        "resources/templates/list",
        "resourceTemplates",
        "resources",
        "uriTemplate",
        "notifications/resources/list_changed",
    ),
    "prompts": ListKind("prompts", "prompts/list", "prompts", "prompts", "name", "notifications/prompts/list_changed"),
}

BY_METHOD = {kind.method: kind for kind in KINDS.values()}
_REPEATED = "the server repeated a cursor"
_NOTHING_NEW = f"{MAX_IDLE_PAGES} consecutive pages had nothing new"


class _Pages:
    """The pages of one listing so far."""

    def __init__(self) -> None:
        self.count = 0
        self.newest = 0
        self.repeats = 0
        """Index of the first item of the latest pages that had nothing new, or of the latest page."""
        self._cursors: set[str] = set()
        self._idle = 0
        self._size = 0

    def add(self, before: int, new: int, octets: int) -> None:
        """Count a page of `octets` bytes with `new` items that were not listed before; the list had `before` items."""
        self.count += 1
        self._size += octets
        self.newest = before
        if new or not self._idle:
            self.repeats = before
        self._idle = 0 if new else self._idle + 1

    def problem(self, cursor: Any) -> str:
        """Return why the listing must not continue at the cursor of the latest page; empty if it may."""
        if type(cursor) is not str:
            return f"nextCursor is not a string but {type(cursor).__name__}"
        if cursor in self._cursors:
            return _REPEATED
        self._cursors.add(cursor)
        if self._idle >= MAX_IDLE_PAGES:
            return _NOTHING_NEW
        if max(self._size, self.count * _LEAST) > MAX_SIZE:
            return f"the list goes on after {quantity(self.count, 'page')} with {size(self._size)}"
        return ""


class CatalogList:
    """One list as far as it is loaded. `items` are the server's objects in its order, with duplicates."""

    def __init__(self, kind: ListKind) -> None:
        self.kind = kind
        self.items: list[dict[str, Any]] = []
        self.complete = False
        """Whether every page has arrived."""
        self.loading = False
        self.error: InspectorError | None = None
        self.invalid_entries = 0
        """Number of entries that are not objects; they stay in the recording."""
        self.version = 0
        self._by_id: dict[str, dict[str, Any]] = {}
        self._pages = _Pages()

    def __len__(self) -> int:
        return len(self.items)

    @property
    def pages(self) -> int:
        """Number of pages that have arrived."""
        return self._pages.count

    @property
    def newest(self) -> int:
        """Index of the latest page's first item."""
        return self._pages.newest

    def get(self, id: str) -> dict[str, Any] | None:
        """The first item with this name or URI."""
        return self._by_id.get(id)

    def by_id(self) -> dict[str, dict[str, Any]]:
        """The items by name or URI; the first of equal ones."""
        return dict(self._by_id)

    def clear(self) -> None:
        """Reset to not listed: a recording is shown at an earlier moment."""
        self.begin()
        self.loading = False
        self._empty()
        self.version += 1

    def _empty(self) -> None:
        self.items = []
        self._by_id = {}
        self.invalid_entries = 0

    def begin(self) -> None:
        """Start a new listing. The old items stay until the first page arrives."""
        self.loading = True
        self.complete = False
        self.error = None
        self._pages = _Pages()

    def page(self, result: Any, octets: int = 0) -> tuple[str | None, str]:
        """Add one page. Return the next cursor, or None at the end, and a problem of the page, or an empty text.

        `octets` is the size of the response. The cursor is opaque and may be an empty string (C-PAG-01); a repeated
        cursor ends the list (C-PAG-03), as do many pages with nothing new, and what they list again is listed once.
        """
        if self.pages == 0:
            self._empty()
        self.version += 1
        body = result if type(result) is dict else {}
        entries = body.get(self.kind.key)
        before, new = len(self.items), 0
        if type(entries) is list:
            for item in entries:
                if type(item) is not dict:
                    self.invalid_entries += 1
                    continue
                self.items.append(item)
                name = item.get(self.kind.id_field)
                new += type(name) is not str or self._by_id.setdefault(name, item) is item
        self._pages.add(before, new, octets)
        cursor = body.get("nextCursor")
        problem = self._pages.problem(cursor) if cursor is not None else ""
        if problem in (_REPEATED, _NOTHING_NEW):
            first = self._pages.repeats
            self.items[first:] = [item for item in self.items[first:] if not self._is_listed_before(item)]
        if problem or cursor is None:
            self.end()
            return None, problem
        return cursor, ""

    def _is_listed_before(self, item: dict[str, Any]) -> bool:
        name = item.get(self.kind.id_field)
        first = self._by_id.get(name) if type(name) is str else None
        return first is not None and first is not item and first == item

    def end(self, error: InspectorError | None = None) -> None:
        """End the listing: complete, or with an error. Loaded items stay."""
        self.loading = False
        self.complete = error is None
        self.error = error
        self.version += 1


class Catalog:
    """The four lists."""

    def __init__(self) -> None:
        self.lists: dict[ListName, CatalogList] = {name: CatalogList(kind) for name, kind in KINDS.items()}

    def __getitem__(self, name: ListName) -> CatalogList:
        return self.lists[name]

    @property
    def tools(self) -> CatalogList:
        """The items of `tools/list`."""
        return self.lists["tools"]

    @property
    def resources(self) -> CatalogList:
        """The items of `resources/list`."""
        return self.lists["resources"]

    @property
    def templates(self) -> CatalogList:
        """The items of `resources/templates/list`."""
        return self.lists["templates"]

    @property
    def prompts(self) -> CatalogList:
        """The items of `prompts/list`."""
        return self.lists["prompts"]

    def surface(self) -> dict[ListName, dict[str, dict[str, Any]]]:
        """Return the current items by name, for a comparison after a reconnect."""
        return {name: catalog_list.by_id() for name, catalog_list in self.lists.items()}


@dataclass(frozen=True, slots=True)
class SurfaceChange:
    """The differences in one list after a reconnect."""

    list: ListName
    added: tuple[str, ...]
    removed: tuple[str, ...]
    altered: tuple[str, ...]

    def __bool__(self) -> bool:
        return bool(self.added or self.removed or self.altered)


def compare(
    before: dict[ListName, dict[str, dict[str, Any]]], after: dict[ListName, dict[str, dict[str, Any]]]
) -> list[SurfaceChange]:
    """Return the changes between two surfaces, by list; unchanged lists are omitted."""
    changes = []
    for name in KINDS:
        old, new = before.get(name, {}), after.get(name, {})
        change = SurfaceChange(
            name,
            tuple(item for item in new if item not in old),
            tuple(item for item in old if item not in new),
            tuple(item for item in new if item in old and new[item] != old[item]),
        )
        if change:
            changes.append(change)
    return changes
