"""What a server offers, as plain data that can be kept and compared (`inspector.compare.surface`)."""

from __future__ import annotations

from typing import Any, Protocol

from inspector.client.state.catalog import KINDS, Catalog, ListName
from inspector.client.state.server import Server


class Offers(Protocol):
    """What is known of what a server offers."""

    server: Server
    catalog: Catalog


class Lists(Offers, Protocol):
    """A session that can read more of it."""

    async def load(self, name: ListName) -> None:
        """Read a list into the catalogue."""


def surface_of(session: Offers) -> dict[str, Any]:
    """The surface as far as the session knows it. A list that was not read is None, one that is not offered empty.

    `incomplete` says of a list why it has no end. Items are the server's own objects.
    """
    server = session.server
    found: dict[str, Any] = {
        "server": server.info, "era": server.era, "revision": server.revision, "capabilities": server.capabilities,
        "instructions": server.instructions,
    }  # fmt: skip
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
    """Whether every list that the server offers has been read to its end, or has failed to be."""
    lists = [session.catalog[name] for name, kind in KINDS.items() if session.server.can(kind.capability)]
    return all((found.complete or found.error is not None) and not found.loading for found in lists)


async def read_surface(session: Lists) -> dict[str, Any]:
    """Read every list that the server offers, and return the surface. Raises what ends the connection."""
    from inspector.errors import ConnectionProblem

    for name, kind in KINDS.items():
        if session.server.can(kind.capability) and not session.catalog[name].complete:
            await session.load(name)
            error = session.catalog[name].error
            if isinstance(error, ConnectionProblem):
                raise error
    return surface_of(session)
