"""Finds the recorded request for a live one: same method and parameters, without ids and tokens."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator, Sequence
from typing import Any, Literal

from inspector.journal.exchange import SENT_REQUESTS
from inspector.journal.journal import Journal
from inspector.protocol.jsonrpc import METHOD_NOT_FOUND, Shape

NOT_RECORDED = -32000
"""The error code for a method that is in the recording, but with other parameters."""
HANDSHAKE = ("initialize", "server/discover", "ping")
"""Methods that are answered from the recording for any client."""

Match = Literal["exact", "params", "similar", "method", "sequence"]
"""The rule for finding a recorded request, see `UsedRequests.find`."""

_PROTOCOL_KEYS = "io.modelcontextprotocol/"
_AT_ONCE = 256
"""Requests that are read from the file before other tasks run."""
_MAX_EXACT = 1 << 53
"""Whole numbers below it are exact as a float."""
_COMPARED = 500
"""Recorded requests, and values in each, that are compared to find the nearest."""

RequestKey = tuple[str, str]


class RecordedRequests:
    """The client's requests of a recording. Their parameters are read when their method is first needed."""

    def __init__(self, journal: Journal) -> None:
        self.journal = journal
        self.methods: dict[str, list[int]] = {}
        """The numbers of the requests of each method, in order."""
        self.exact: dict[RequestKey, list[int]] = {}
        self.by_params: dict[RequestKey, list[int]] = {}
        self.by_subject: dict[RequestKey, list[int]] = {}
        self._reading: dict[str, asyncio.Task[None]] = {}

    async def load(self) -> int:
        """Index the recording to its end and find the client's requests. Returns their number."""
        more = True
        while more:
            more = self.journal.refresh()
            await asyncio.sleep(0)
        index = self.journal.index
        count = 0
        for n in filter(index.is_kept, SENT_REQUESTS.forwards(index)):
            self.methods.setdefault(index.method(n), []).append(n)
            count += 1
        return count

    async def read(self, method: str) -> bool:
        """Read the parameters of a method's requests. False if there are none."""
        if method not in self.methods:
            return False
        if method not in self._reading:
            self._reading[method] = asyncio.get_running_loop().create_task(self._read(method))
        await asyncio.shield(self._reading[method])
        return True

    async def _read(self, method: str) -> None:
        for done, n in enumerate(self.methods[method]):
            params = self.params(n)
            self.exact.setdefault((method, canonical(params)), []).append(n)
            self.by_params.setdefault((method, comparable(params)), []).append(n)
            self.by_subject.setdefault((method, subject(method, params)), []).append(n)
            if done % _AT_ONCE == _AT_ONCE - 1:
                await asyncio.sleep(0)

    def params(self, n: int) -> Any:
        """Return the parameters of a recorded request."""
        return self.journal.event(n).message.get("params")

    def missing(self, method: str) -> tuple[int, str]:
        """Error code and message for a request that is not in the recording."""
        if method not in self.methods:
            return METHOD_NOT_FOUND, f"{method[:200]} is not in the recording."
        return NOT_RECORDED, f"{method[:200]} is in the recording, but not with these parameters."

    def nearest(self, method: str, params: Any) -> int:
        """Return the recorded request of this method that has most in common with a live one, or 0."""
        live_leaves = _leaves(params)
        about = subject(method, params)
        best, nearest = (-1, 0.0), 0
        for n in self.methods.get(method, ())[:_COMPARED]:
            here = self.params(n)
            leaves = _leaves(here)
            alike = len(live_leaves & leaves) / (len(live_leaves | leaves) or 1)
            score = (int(subject(method, here) == about), alike)
            if score > best:
                best, nearest = score, n
        return nearest

    async def aclose(self) -> None:
        """Stop reading."""
        for task in self._reading.values():
            task.cancel()
        if self._reading:
            await asyncio.wait(self._reading.values())


class UsedRequests:
    """The recorded requests that one client has used: each is used once before the last is repeated."""

    def __init__(self, requests: RecordedRequests, match: Match = "similar") -> None:
        self.used: set[int] = set()
        self.repeated = False
        """Whether the last result had been found before."""
        self._requests = requests
        self._match = match
        self._next: dict[tuple[str, ...], int] = {}
        """By key, the number of its requests that were used."""
        self._position = 0

    async def find(self, method: str, params: Any) -> int:
        """Return the number of the recorded request for this one, or 0.

        `exact`: the next unused one with equal parameters. `params`: the same without `_meta` and the client's
        additions; if all are used, the last again. `similar`: else one with the same subject: tool, prompt, resource or
        page. `method`: else any of that method. `sequence`: the next one of that method after the last result. Requests
        that open a connection match with any parameters.
        """
        if self._match == "sequence" and method not in HANDSHAKE:
            return self._after(method)
        if not await self._requests.read(method):
            return 0
        if method in HANDSHAKE:
            return self._opening(method, params)
        if self._match == "exact":
            return self._use_from(self._requests.exact, method, canonical(params), again=False)
        number = self._use_from(self._requests.exact, method, canonical(params), again=False)
        number = number or self._use_from(self._requests.by_params, method, comparable(params))
        if not number and self._match != "params":
            number = self._use_from(self._requests.by_subject, method, subject(method, params))
        if not number and self._match == "method":
            number = self._use(self._requests.methods[method], ("", method))
        return number

    def _use_from(self, table: dict[RequestKey, list[int]], method: str, key: str, *, again: bool = True) -> int:
        numbers = table.get((method, key))
        return self._use(numbers, (str(id(table)), method, key), again=again) if numbers else 0

    def _use(self, numbers: Sequence[int], key: tuple[str, ...], *, again: bool = True) -> int:
        """Return the next unused one and mark it as used; else the last one."""
        position = self._next.get(key, 0)
        while position < len(numbers) and numbers[position] in self.used:
            position += 1
        self._next[key] = position
        self.repeated = position == len(numbers)
        if position < len(numbers):
            self.used.add(numbers[position])
            return numbers[position]
        return numbers[-1] if again else 0

    async def last(self, method: str, params: Any) -> int:
        """Return the last used one with the same subject, else with the method; 0 if there is none."""
        if not await self._requests.read(method):
            return 0
        numbers = self._requests.by_subject.get((method, subject(method, params))) or self._requests.methods[method]
        used = [n for n in numbers if n in self.used]
        return (used or numbers)[-1]

    def _after(self, method: str) -> int:
        for n in self._requests.methods.get(method, ()):
            if n > self._position:
                self._position = n
                self.used.add(n)
                return n
        return 0

    def _opening(self, method: str, params: Any) -> int:
        """Return a successful one, with the same revision if possible; the last of them has what was agreed on."""
        numbers = self._requests.methods[method]
        index = self._requests.journal.index
        good = [n for n in numbers if index.pair(n) and index.shape(index.pair(n)) == Shape.RESULT]
        revision = _revision(params)
        same = [n for n in good[-_COMPARED:] if _revision(self._requests.params(n)) == revision]
        number = (same or good or numbers)[-1]
        self.used.add(number)
        return number


def canonical(params: Any) -> str:
    """Return parameters as a text that is equal for equal ones. `_meta` is compared without tokens and the protocol's
    keys."""
    if type(params) is dict and type(params.get("_meta")) is dict:
        meta = {
            key: value
            for key, value in params["_meta"].items()
            if key != "progressToken" and not key.startswith(_PROTOCOL_KEYS)
        }
        params = {key: value for key, value in params.items() if key != "_meta"}
        if meta:
            params["_meta"] = meta
    try:
        return json.dumps(_plain(params) or None, sort_keys=True)
    except RecursionError:
        return "too deep to compare"


def comparable(params: Any) -> str:
    """Return the same without `_meta`; of the client's additions for the server (2026-07-28) only what was requested.

    Of `task` (2025-11-25) only its presence counts, not the time to keep the task; some clients repeat it when they
    only ask for a task by its id.
    """
    if type(params) is dict:
        params = {key: value for key, value in params.items() if key != "_meta"}
        if type(params.get("inputResponses")) is dict:
            params["inputResponses"] = sorted(params["inputResponses"])
        if type(params.pop("task", None)) is dict and "taskId" not in params:
            params["task"] = {}
    return canonical(params)


def _plain(value: Any) -> Any:
    """Normalise numbers that are equal in JSON: some clients write 1.0 and others 1."""
    if type(value) is dict:
        return {key: _plain(item) for key, item in value.items()}
    if type(value) is list:
        return [_plain(item) for item in value]
    if type(value) is float and value.is_integer() and abs(value) < _MAX_EXACT:
        return int(value)
    return value


def subject(method: str, params: Any) -> str:
    """Return the subject of a request: a name, a URI, the argument to complete, or the page of a list."""
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
    if "inputResponses" in params:
        yield "another round"


def _revision(params: Any) -> Any:
    return params.get("protocolVersion") if type(params) is dict else None


def _leaves(params: Any) -> set[str]:
    """Return the values of parameters, each with its place; bounded."""
    leaves: set[str] = set()
    stack = [("", params)]
    while stack and len(leaves) < _COMPARED:
        path, value = stack.pop()
        if type(value) is dict:
            stack += [(f"{path}/{key:.100}", item) for key, item in list(value.items())[:_COMPARED] if key != "_meta"]
        elif type(value) is list:
            stack += [(path, item) for item in value[:_COMPARED]]
        else:
            leaves.add(f"{path}={value!s:.200}")
    return leaves
