"""Loading of a server's lists: page by page, and again when the server reports a change."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable

from inspector.client.engine.engine import Engine
from inspector.client.state.catalog import KINDS, ListName
from inspector.errors import InspectorError, NotOffered, ServerError, SessionLost
from inspector.journal.findings import Finding
from inspector.protocol import jsonrpc

AT_ONCE = 3
"""Immediate reloads of a list that the server reports as changed …"""
WITHIN = 1.0
"""… within this many seconds; after that, each reload waits this long. A server may report a change after every load.
"""


class Listing:
    """Fills the catalogue of a session."""

    def __init__(self, engine: Engine, took_page: Callable[[ListName, int], None]) -> None:
        """`took_page(name, n)` is called for each page: message `n` contained it."""
        self.engine = engine
        self._took_page = took_page
        self._stale: set[ListName] = set()
        self._readings: dict[ListName, deque[float]] = {}

    async def load(self, name: ListName, *, page_limit: int, cursor: str | None, fresh: bool) -> None:
        """`Session.load`."""
        engine = self.engine
        catalog_list = engine.state.catalog[name]
        method = catalog_list.kind.method
        if fresh and catalog_list.complete and engine.state.cache.list_is_fresh(method):
            return
        catalog_list.begin()
        if cursor is None:
            engine.state.cache.forget(method)
        engine.state.changes.bump(name)
        try:
            if not engine.state.server.can(catalog_list.kind.capability):
                catalog_list.items = []
                raise NotOffered(f"The server does not offer {catalog_list.kind.capability}.")
            while True:
                call = engine.start(method, None if cursor is None else {"cursor": cursor}, progress=False)
                result = await call.result()
                cursor, trouble = catalog_list.page(result, engine.state.journal.index.size(call.answer_n))
                self._took_page(name, call.answer_n)
                engine.state.changes.bump(name)
                if trouble:
                    self._cursor_finding(call.answer_n, method, trouble)
                if cursor is None or catalog_list.pages == page_limit:
                    break
            catalog_list.end()
        except ServerError as error:
            # Many servers offer resources without templates: that is an empty list, not a failure.
            absent = error.rpc_code == jsonrpc.METHOD_NOT_FOUND and name == "templates"
            catalog_list.end(None if absent else error)
        except InspectorError as error:
            catalog_list.end(error)
        except asyncio.CancelledError:
            catalog_list.end(SessionLost("The listing was interrupted."))
            raise
        finally:
            engine.state.changes.bump(name)
        if name in self._stale:
            self._stale.discard(name)
            catalog_list.loading = True
            engine.run(self._again(name))

    def _cursor_finding(self, n: int, method: str, trouble: str) -> None:
        text = f"{method} was stopped: {trouble}."
        finding = Finding(n, "C-PAG-03", "must", text, page="server/utilities/pagination")
        self.engine.state.journal.record_note(text, finding)

    def load_all(self) -> None:
        """Start to load every list that the server offers."""
        for name in KINDS:
            if self.engine.state.server.can(KINDS[name].capability):
                self.engine.state.catalog[name].loading = True
                self.engine.run(self.engine.load(name))

    def changed(self, notification: str) -> None:
        """Handle a list change. Changes during a load cause one more load."""
        for name, kind in KINDS.items():
            catalog_list = self.engine.state.catalog[name]
            if kind.changed == notification and catalog_list.loading:
                self._stale.add(name)
            elif kind.changed == notification and catalog_list.pages:
                catalog_list.loading = True
                self.engine.run(self._again(name))

    async def _again(self, name: ListName) -> None:
        """Reload a changed list, at a limited rate."""
        now = asyncio.get_running_loop().time()
        known = self._readings.setdefault(name, deque(maxlen=AT_ONCE))
        if len(known) == AT_ONCE and now - known[0] < WITHIN:
            await asyncio.sleep(WITHIN)
        known.append(asyncio.get_running_loop().time())
        await self.engine.load(name)
