"""A server's surface as plain data that can be saved and compared (`inspector.compare.surface`)."""

from __future__ import annotations

from typing import Any, Protocol

from inspector.client.state.catalog import KINDS, Catalog, ListName
from inspector.client.state.server import Server


class Offers(Protocol):
    """A server's loaded offers."""

    server: Server
    catalog: Catalog


class Lists(Offers, Protocol):
    """A session that can load more of them."""

    async def load(self, name: ListName) -> None:
        """Load a list into the catalogue."""


def surface_of(session: Offers) -> dict[str, Any]:
    """Return the loaded surface. A list that was not loaded is None, one that is not offered empty.

    `incomplete` has the reason why a list is not complete. Items are the server's own objects.
    """
    return _surface(session.server, {name: _as_loaded(session, name) for name in KINDS})


def _surface(server: Server, lists: dict[ListName, tuple[list[Any] | None, str]]) -> dict[str, Any]:
    surface: dict[str, Any] = {
        "server": server.info,
        "era": server.era,
        "revision": server.revision,
        "capabilities": server.capabilities,
        "instructions": server.instructions,
    }
    surface |= {name: items for name, (items, _) in lists.items()}
    return surface | {"incomplete": {name: reason for name, (_, reason) in lists.items() if reason}}


def _as_loaded(session: Offers, name: ListName) -> tuple[list[Any] | None, str]:
    """Return the items of one list as far as it is loaded, and why it is not complete."""
    catalog_list = session.catalog[name]
    if catalog_list.pages:
        reason = catalog_list.error.message if catalog_list.error is not None else "not all pages were read"
        return catalog_list.items, "" if catalog_list.complete else reason
    absent = session.server.known and (catalog_list.complete or not session.server.can(catalog_list.kind.capability))
    return [] if absent else None, ""


def is_read(session: Offers) -> bool:
    """Whether every offered list was loaded to its end, or failed."""
    lists = [session.catalog[name] for name, kind in KINDS.items() if session.server.can(kind.capability)]
    return all(
        (catalog_list.complete or catalog_list.error is not None) and not catalog_list.loading for catalog_list in lists
    )


async def read_surface(session: Lists) -> dict[str, Any]:
    """Load every offered list, and return the surface. Raises the error that ends the connection."""
    from inspector.errors import ConnectionProblem

    lists = {}
    for name, kind in KINDS.items():
        if session.server.can(kind.capability) and not session.catalog[name].complete:
            await session.load(name)
            error = session.catalog[name].error
            if isinstance(error, ConnectionProblem):
                raise error
        # While the next list is loaded, this one may change and be loaded again, and is not whole until that ends.
        lists[name] = _as_loaded(session, name)
    return _surface(session.server, lists)
