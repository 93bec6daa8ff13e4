"""Which recorded request stands for a live one: same method and parameters, ids and tokens left out of it."""

from __future__ import annotations

import asyncio
import json
from collections import deque
from collections.abc import Iterator
from typing import Any

from inspector.journal.format import Dir, Kind
from inspector.journal.journal import Journal
from inspector.protocol.jsonrpc import METHOD_NOT_FOUND, Shape

NOT_RECORDED = -32000
"""The error code for a method that is in the recording, but not with these parameters."""

_OURS = "io.modelcontextprotocol/"
_AT_ONCE = 256
"""Requests read from the file before others get their turn."""


class _Requests:
    """The recorded requests of one key, in order: each is used once before the last one is used again."""

    __slots__ = ("last", "unused")

    def __init__(self) -> None:
        self.unused: deque[int] = deque()
        self.last = 0

    def take(self, used: set[int]) -> int:
        """The next one that is not in `used`, which it then is."""
        while self.unused:
            self.last = self.unused.popleft()
            if self.last not in used:
                used.add(self.last)
                break
        return self.last


class RecordedRequests:
    """The client's requests of a recording. Their parameters are read when their method is first asked for."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self._methods: dict[str, list[int]] = {}
        self._by_params: dict[tuple[str, str], _Requests] = {}
        self._by_name: dict[tuple[str, str], _Requests] = {}
        self._read: dict[str, asyncio.Task[None]] = {}
        self._used: set[int] = set()

    async def load(self) -> int:
        """Index the recording to its end and find the client's requests. Returns how many there are."""
        more = True
        while more:
            more = self._journal.refresh()
            await asyncio.sleep(0)
        index = self._journal.index
        wanted = Kind.RPC | Dir.SEND << 4 | Shape.REQUEST << 6
        count = 0
        for position, code in enumerate(index.codes):
            if code == wanted:
                self._methods.setdefault(index.method(position + 1), []).append(position + 1)
                count += 1
        return count

    async def find(self, method: str, params: Any) -> int:
        """The number of the recorded request that stands for this one, or 0.

        The next unused one with equal parameters; else any with equal parameters; else one about the same thing: the
        same tool, prompt, resource or page.
        """
        if method not in self._methods:
            return 0
        if method not in self._read:
            self._read[method] = asyncio.get_running_loop().create_task(self._read_method(method))
        await asyncio.shield(self._read[method])
        exact = self._by_params.get((method, canonical(params)))
        if exact is not None:
            return exact.take(self._used)
        similar = self._by_name.get((method, subject(method, params)))
        return similar.take(self._used) if similar is not None else 0

    def missing(self, method: str) -> tuple[int, str]:
        """Error code and message for a request that is not in the recording."""
        if method not in self._methods:
            return METHOD_NOT_FOUND, f"{method[:200]} is not in the recording."
        return NOT_RECORDED, f"{method[:200]} is in the recording, but not with these parameters."

    async def _read_method(self, method: str) -> None:
        for done, n in enumerate(self._methods[method]):
            params = self._journal.event(n).message.get("params")
            self._by_params.setdefault((method, canonical(params)), _Requests()).unused.append(n)
            self._by_name.setdefault((method, subject(method, params)), _Requests()).unused.append(n)
            if done % _AT_ONCE == _AT_ONCE - 1:
                await asyncio.sleep(0)

    async def aclose(self) -> None:
        """Stop reading."""
        for task in self._read.values():
            task.cancel()
        if self._read:
            await asyncio.wait(self._read.values())


def canonical(params: Any) -> str:
    """Parameters as a text that is equal for equal ones. `_meta` counts without tokens and the protocol's own keys."""
    if type(params) is dict and type(params.get("_meta")) is dict:
        meta = {
            key: value for key, value in params["_meta"].items() if key != "progressToken" and not key.startswith(_OURS)
        }
        params = {key: value for key, value in params.items() if key != "_meta"}
        if meta:
            params["_meta"] = meta
    try:
        return json.dumps(params or None, sort_keys=True)
    except RecursionError:
        return "too deep to be compared"


def subject(method: str, params: Any) -> str:
    """What a request is about: a name, a URI, what is to be completed, or which page of a list."""
    return "\n".join(_subject(method, params if type(params) is dict else {}))


def _subject(method: str, params: dict[str, Any]) -> Iterator[str]:
    if method == "completion/complete":
        for part, keys in (("ref", ("type", "name", "uri")), ("argument", ("name",))):
            value = params.get(part)
            yield from (str(value.get(key)) for key in keys) if type(value) is dict else ("",)
        return
    for key in ("name", "uri", "taskId", "cursor"):
        if key in params:
            yield f"{key}={params[key]!s:.1000}"
