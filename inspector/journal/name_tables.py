"""The texts of an index by number: names of methods and channels, ids of messages, further pages."""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Callable, Iterable
from typing import Any

from inspector.journal.format import Dir

MAX_NAMES = 0xFFFF
"""Names of one kind that are kept; further ones share the last number."""
_FURTHER = "…"
"""The name of all further names in the table of numbers."""
NO_ID = -1
_STRING_BASE = -2
_MAX_DIRECT_ID = 1 << 62


class NameTable:
    """Strings by number. A malicious stream of new names ends in one shared number, not in exhausted memory."""

    def __init__(self) -> None:
        self.texts: list[str] = [""]
        self.numbers: dict[str, int] = {"": 0}
        self.redact: Callable[[str], str] = lambda text: text
        """Removes secrets from a text before it is shown anywhere."""

    def number(self, text: str) -> int:
        number = self.numbers.get(text)
        if number is None:
            if len(self.texts) >= MAX_NAMES:
                return self.numbers.setdefault(_FURTHER, len(self.texts) - 1)
            number = self.numbers[text] = len(self.texts)
            self.texts.append(self.redact(text))
        return number

    def find(self, text: str) -> int | None:
        """Return the number of a name that has been seen."""
        return self.numbers.get(text)

    @property
    def shared(self) -> int | None:
        """The number that further names share; None while each has its own."""
        return self.numbers.get(_FURTHER)

    def saved(self) -> list[str] | None:
        """Return the names for `load`; None if some of them are the same without their secrets."""
        return self.texts if len(set(self.texts)) == len(self.texts) else None

    def load(self, texts: list[str]) -> None:
        """Take the names that `saved` returned."""
        self.texts = [str(text) for text in texts]
        self.numbers = {text: number for number, text in enumerate(self.texts)}
        if len(texts) >= MAX_NAMES:
            self.numbers.setdefault(_FURTHER, len(texts) - 1)


class IdTable:
    """JSON-RPC ids by number: whole numbers from 0 are their own number, others get one below `NO_ID`."""

    def __init__(self) -> None:
        self.largest = NO_ID
        """The largest numeric id of all messages; negative if there is none."""
        self._texts: list[str] = []
        self._numbers: dict[str, int] = {}

    def __len__(self) -> int:
        """Return the number of different ids that are not whole numbers from 0."""
        return len(self._texts)

    def number(self, value: Any) -> int:
        """Return the number of an id of any type; `NO_ID` for none, and for one too many."""
        if type(value) is int and 0 <= value < _MAX_DIRECT_ID:
            if value > self.largest:
                self.largest = value
            return value
        if value is None:
            return NO_ID
        if type(value) is str and len(value) > 256:
            value = value[:256]
        text = repr(value) if type(value) in (int, str, float) else "?"
        number = self._numbers.get(text)
        if number is None:
            if len(self._texts) >= MAX_NAMES:
                return NO_ID
            number = self._numbers[text] = len(self._texts)
            self._texts.append(value if type(value) is str else text)
        return _STRING_BASE - number

    def find(self, value: int | str) -> int | None:
        """Return the number of an id, or None if it was never seen."""
        if type(value) is int and 0 <= value < _MAX_DIRECT_ID:
            return value
        number = self._numbers.get(repr(value))
        return None if number is None else _STRING_BASE - number

    def id(self, number: int) -> int | str | None:
        """Return the id with this number, or None."""
        if number >= 0:
            return number
        return None if number == NO_ID else self._texts[_STRING_BASE - number]

    def saved(self) -> dict[str, Any]:
        """Return its state as JSON values, for `load`."""
        return {"largest_id": self.largest, "ids": list(zip(self._numbers, self._texts, strict=True))}

    def load(self, saved: dict[str, Any]) -> None:
        """Take what `saved` returned. Raises ValueError if it is not that."""
        if type(saved["largest_id"]) is not int:
            raise ValueError("the largest id is not a number")
        self.largest = saved["largest_id"]
        self._numbers = {key: number for number, (key, _) in enumerate(saved["ids"])}
        self._texts = [text for _, text in saved["ids"]]


POLL = "tasks/get"
"""The request that asks again and again how a task stands."""
MAX_POLLS = 50
"""Polls in one row of a log; an endless task fills several."""
_KEPT_HEADS = 0xFFFF
LISTS = frozenset(("tools/list", "resources/list", "resources/templates/list", "prompts/list", "tasks/list"))
MAY_CONTINUE = LISTS | {POLL}
"""Methods whose requests may continue an earlier one."""


class Pages:
    """Which requests continue an earlier one."""

    def __init__(self) -> None:
        self.requests = array("I")
        """Requests for a further page of a list, and further polls of a task, ascending."""
        self.heads = array("I")
        """The request for the first page, or the first poll, of each of them."""
        self._of_head: dict[int, array[int]] = {}
        self._heads: dict[tuple[int, str], int] = {}

    def __contains__(self, n: int) -> bool:
        at = bisect_left(self.requests, n)
        return at < len(self.requests) and self.requests[at] == n

    def after(self, head: int) -> Iterable[int]:
        """Return the requests for the pages after a first one, ascending."""
        return self._of_head.get(head, ())

    def asked(self, n: int, dir: Dir, method: str, message: dict[str, Any]) -> None:
        """Handle a request of `MAY_CONTINUE`: one with a cursor belongs to the newest one without."""
        if method != POLL:
            params = message.get("params")
            head = self._heads.get((dir, method), 0)
            if head and type(params) is dict and params.get("cursor") is not None:
                self._add(n, head)
            else:
                self._heads[dir, method] = n
        else:
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
