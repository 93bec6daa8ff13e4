"""The further pages of lists and polls of tasks in a recording. A log shows them with their first one."""

from __future__ import annotations

from array import array
from collections.abc import Iterable
from typing import Any

from inspector.journal.format import Dir

POLL = "tasks/get"
"""The request that asks again and again how a task stands."""
MAX_POLLS = 50
"""Polls in one row of a log; an endless task fills several."""
_KEPT_HEADS = 0xFFFF
_LISTS = frozenset(("tools/list", "resources/list", "resources/templates/list", "prompts/list", "tasks/list"))


class Pages:
    """Which requests continue an earlier one."""

    def __init__(self) -> None:
        self.requests = array("I")
        """Requests for a further page of a list, and further polls of a task, ascending."""
        self.heads = array("I")
        """The request for the first page, or the first poll, of each of them."""
        self._of_head: dict[int, array[int]] = {}
        self._heads: dict[tuple[int, str], int] = {}

    def after(self, head: int) -> Iterable[int]:
        """Return the requests for the pages after a first one, ascending."""
        return self._of_head.get(head, ())

    def asked(self, n: int, dir: Dir, method: str, message: dict[str, Any]) -> None:
        """Handle a request: one with a cursor belongs to the newest one without."""
        if method in _LISTS:
            params = message.get("params")
            head = self._heads.get((dir, method), 0)
            if head and type(params) is dict and params.get("cursor") is not None:
                self._add(n, head)
            else:
                self._heads[dir, method] = n
        elif method == POLL:
            self._poll(n, dir, message.get("params"))

    def _poll(self, n: int, dir: Dir, params: Any) -> None:
        task = params.get("taskId") if type(params) is dict else None
        if type(task) is not str:
            return
        key = (dir, f"{POLL} {task}")
        head = self._heads.get(key, 0)
        if head and len(self._of_head.get(head, ())) < MAX_POLLS - 1:
            self._add(n, head)
            return
        if len(self._heads) >= _KEPT_HEADS:
            self._heads.clear()
        self._heads[key] = n

    def _add(self, n: int, head: int) -> None:
        self.requests.append(n)
        self.heads.append(head)
        self._of_head.setdefault(head, array("I")).append(n)

    def saved(self) -> dict[str, Any]:
        """Return its state as JSON values, for `load`."""
        return {
            "pages": [list(self.requests), list(self.heads)],
            "list_heads": [[*key, n] for key, n in self._heads.items()],
        }

    def load(self, saved: dict[str, Any]) -> None:
        """Take what `saved` returned."""
        for n, head in zip(*saved["pages"], strict=True):
            self._add(n, head)
        self._heads.update(((dir, method), n) for dir, method, n in saved["list_heads"])
