"""The lists a server offers. Filled page by page as answers arrive, live or from a recording, by the same reduction."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from inspector.errors import InspectorError

ListName = Literal["tools", "resources", "templates", "prompts"]

EMPTY_PAGES = 1000
"""So many pages without an item, one after the other, and the list is ended with a finding."""


@dataclass(frozen=True, slots=True)
class ListKind:
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
        "templates", "resources/templates/list", "resourceTemplates", "resources", "uriTemplate",
        "notifications/resources/list_changed",
    ),
    "prompts": ListKind("prompts", "prompts/list", "prompts", "prompts", "name", "notifications/prompts/list_changed"),
}  # fmt: skip

BY_METHOD = {kind.method: kind for kind in KINDS.values()}


class ServerList:
    """One list as far as it is known. `items` are the server's own objects, in its order, duplicates included."""

    def __init__(self, kind: ListKind) -> None:
        self.kind = kind
        self.items: list[dict[str, Any]] = []
        self.pages = 0
        self.newest = 0
        """Where the newest page begins among the items."""
        self.complete = False
        """Every page has come."""
        self.loading = False
        self.error: InspectorError | None = None
        self.odd = 0
        """Entries that are no objects; they stay in the recording."""
        self.version = 0
        self._by_id: dict[str, dict[str, Any]] = {}
        self._cursors: set[str] = set()
        self._empty = 0

    def __len__(self) -> int:
        return len(self.items)

    def get(self, id: str) -> dict[str, Any] | None:
        """The first item with this name or URI."""
        return self._by_id.get(id)

    def by_id(self) -> dict[str, dict[str, Any]]:
        """The items by name or URI; of equal ones the first."""
        return dict(self._by_id)

    def clear(self) -> None:
        """Nothing has been listed: a recording is shown as it was before."""
        self.begin()
        self.loading = False
        self.items = []
        self._by_id = {}
        self.newest = self.odd = 0
        self.version += 1

    def begin(self) -> None:
        """A listing starts anew. What was there stays until the first page has come."""
        self.loading = True
        self.complete = False
        self.error = None
        self.pages = 0
        self._cursors = set()
        self._empty = 0

    def page(self, result: Any) -> tuple[str | None, str]:
        """Take in one page. Returns the next cursor, or None at the end, and what was wrong with it, if anything.

        The cursor is opaque and an empty string is one too (C-PAG-01); any number of pages is read; a repeated cursor
        ends the list (C-PAG-03).
        """
        if self.pages == 0:
            self.items = []
            self._by_id = {}
            self.odd = 0
        self.pages += 1
        self.version += 1
        body = result if type(result) is dict else {}
        found = body.get(self.kind.key)
        before = self.newest = len(self.items)
        if type(found) is list:
            for item in found:
                if type(item) is not dict:
                    self.odd += 1
                    continue
                self.items.append(item)
                name = item.get(self.kind.id_field)
                if type(name) is str:
                    self._by_id.setdefault(name, item)
        self._empty = 0 if len(self.items) > before else self._empty + 1
        cursor = body.get("nextCursor")
        trouble = ""
        if cursor is None:
            self.end()
            return None, ""
        if type(cursor) is not str:
            trouble = f"nextCursor is no string but {type(cursor).__name__}"
        elif cursor in self._cursors:
            trouble = "the server gave the same cursor a second time"
        elif self._empty >= EMPTY_PAGES:
            trouble = f"{EMPTY_PAGES} pages without an item followed each other"
        if trouble:
            self.end()
            return None, trouble
        self._cursors.add(cursor)
        return cursor, ""

    def end(self, error: InspectorError | None = None) -> None:
        """The listing is over: complete, or ended by an error. What has come stays."""
        self.loading = False
        self.complete = error is None
        self.error = error
        self.version += 1


class Catalog:
    """The four lists."""

    def __init__(self) -> None:
        self.lists: dict[ListName, ServerList] = {name: ServerList(kind) for name, kind in KINDS.items()}

    def __getitem__(self, name: ListName) -> ServerList:
        return self.lists[name]

    @property
    def tools(self) -> ServerList:
        """What `tools/list` gave."""
        return self.lists["tools"]

    @property
    def resources(self) -> ServerList:
        """What `resources/list` gave."""
        return self.lists["resources"]

    @property
    def templates(self) -> ServerList:
        """What `resources/templates/list` gave."""
        return self.lists["templates"]

    @property
    def prompts(self) -> ServerList:
        """What `prompts/list` gave."""
        return self.lists["prompts"]

    def surface(self) -> dict[ListName, dict[str, dict[str, Any]]]:
        """What is offered now, by name: to be compared after a reconnect."""
        return {name: found.by_id() for name, found in self.lists.items()}


@dataclass(frozen=True, slots=True)
class SurfaceChange:
    """What is different in one list after a reconnect."""

    list: ListName
    added: tuple[str, ...]
    removed: tuple[str, ...]
    altered: tuple[str, ...]

    def __bool__(self) -> bool:
        return bool(self.added or self.removed or self.altered)


def compare(
    before: dict[ListName, dict[str, dict[str, Any]]], after: dict[ListName, dict[str, dict[str, Any]]]
) -> list[SurfaceChange]:
    """What changed between two surfaces, by list; lists without a change are left out."""
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
