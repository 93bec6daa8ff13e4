"""Reading the lists that a server offers: page by page, as they come, again when the server says that they changed."""

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
"""Times that a list is read again at once when the server says that it has changed …"""
WITHIN = 1.0
"""… within so many seconds; more often than that, it waits so long. A server may say so after every reading."""


class Listing:
    """Fills the catalogue of a session."""

    def __init__(self, engine: Engine, took_page: Callable[[ListName, int], None]) -> None:
        """`took_page(name, n)` is told of each page: message `n` brought it."""
        self.engine = engine
        self._took_page = took_page
        self._stale: set[ListName] = set()
        self._readings: dict[ListName, deque[float]] = {}

    async def load(self, name: ListName, *, page_limit: int, cursor: str | None, fresh: bool) -> None:
        """`Session.load`."""
        engine = self.engine
        found = engine.state.catalog[name]
        method = found.kind.method
        if fresh and found.complete and engine.state.cache.list_is_fresh(method):
            return
        found.begin()
        if cursor is None:
            engine.state.cache.forget(method)
        engine.state.changes.bump(name)
        try:
            if not engine.state.server.can(found.kind.capability):
                found.items = []
                raise NotOffered(f"The server does not offer {found.kind.capability}.")
            while True:
                call = engine.start(method, None if cursor is None else {"cursor": cursor}, progress=False)
                cursor, trouble = found.page(await call.result())
                self._took_page(name, call.answer_n)
                engine.state.changes.bump(name)
                if trouble:
                    self._cursor_finding(call.answer_n, method, trouble)
                if cursor is None or found.pages == page_limit:
                    break
            found.end()
        except ServerError as error:
            # Many servers declare resources and know no templates: that is an empty list, not a failure.
            absent = error.rpc_code == jsonrpc.METHOD_NOT_FOUND and name == "templates"
            found.end(None if absent else error)
        except InspectorError as error:
            found.end(error)
        except asyncio.CancelledError:
            found.end(SessionLost("The listing was interrupted."))
            raise
        finally:
            engine.state.changes.bump(name)
        if name in self._stale:
            self._stale.discard(name)
            found.loading = True
            engine.run(self._again(name))

    def _cursor_finding(self, n: int, method: str, trouble: str) -> None:
        text = f"{method} was ended: {trouble}."
        finding = Finding(n, "C-PAG-03", "must", text, page="server/utilities/pagination")
        self.engine.state.journal.record_note(text, finding)

    def load_all(self) -> None:
        """Begin to read every list that the server offers."""
        for name in KINDS:
            if self.engine.state.server.can(KINDS[name].capability):
                self.engine.run(self.engine.load(name))

    def changed(self, notification: str) -> None:
        """A list changed. Notices that come while it is read lead to one more reading."""
        for name, kind in KINDS.items():
            found = self.engine.state.catalog[name]
            if kind.changed == notification and found.loading:
                self._stale.add(name)
            elif kind.changed == notification and found.pages:
                found.loading = True
                self.engine.run(self._again(name))

    async def _again(self, name: ListName) -> None:
        """Read a list that has changed, not too often."""
        now = asyncio.get_running_loop().time()
        known = self._readings.setdefault(name, deque(maxlen=AT_ONCE))
        if len(known) == AT_ONCE and now - known[0] < WITHIN:
            await asyncio.sleep(WITHIN)
        known.append(asyncio.get_running_loop().time())
        await self.engine.load(name)
