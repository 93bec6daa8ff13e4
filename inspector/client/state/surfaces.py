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
    server = session.server
    found: dict[str, Any] = {
        "server": server.info,
        "era": server.era,
        "revision": server.revision,
        "capabilities": server.capabilities,
        "instructions": server.instructions,
    }
    incomplete: dict[str, str] = {}
    for name, kind in KINDS.items():
        items = session.catalog[name]
        if items.pages:
            found[name] = items.items
            if not items.complete:
                incomplete[name] = items.error.message if items.error is not None else "not all pages were read"
        else:
            absent = server.known and (items.complete or not server.can(kind.capability))
            found[name] = [] if absent else None
    return found | {"incomplete": incomplete}


def is_read(session: Offers) -> bool:
    """Whether every offered list was loaded to its end, or failed."""
    lists = [session.catalog[name] for name, kind in KINDS.items() if session.server.can(kind.capability)]
    return all((found.complete or found.error is not None) and not found.loading for found in lists)


async def read_surface(session: Lists) -> dict[str, Any]:
    """Load every offered list, and return the surface. Raises the error that ends the connection."""
    from inspector.errors import ConnectionProblem

    for name, kind in KINDS.items():
        if session.server.can(kind.capability) and not session.catalog[name].complete:
            await session.load(name)
            error = session.catalog[name].error
            if isinstance(error, ConnectionProblem):
                raise error
    return surface_of(session)
