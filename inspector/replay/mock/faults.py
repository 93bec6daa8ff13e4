"""The faults of a mock server: their kind, the responses that they affect, and their probability.

`KIND[=VALUE][@FILTER][%PERCENT]`, such as `delay=200`, `drop@method:tools/call`, `error=-32603@name:add%10`. The filter
is that of the journal and applies to the recorded response.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from random import Random
from typing import Literal

from inspector.errors import UsageError
from inspector.journal.filters import Filter, parse
from inspector.journal.journal import Journal
from inspector.protocol.jsonrpc import INTERNAL_ERROR

FaultKind = Literal["delay", "drop", "cut", "corrupt", "disconnect", "error"]

_SPELLED = re.compile(
    r"(?P<kind>[a-z]+)(?:=(?P<value>[^@%]*))?(?:@(?P<filter>.*?))?(?:%(?P<percent>[0-9.]+))?", re.DOTALL
)
_KINDS = {"delay": 0, "drop": None, "cut": None, "corrupt": None, "disconnect": None, "error": INTERNAL_ERROR}
_MAX_DELAY = 3_600_000
_HINT = "Write KIND[=VALUE][@FILTER][%PERCENT]: delay=200, drop@method:tools/call, error=-32603@name:add%10."


@dataclass(frozen=True, slots=True)
class MockFault:
    """One fault. `value` is milliseconds of a delay, or the code of an error."""

    kind: FaultKind
    value: int
    filter: Filter | None
    chance: float
    """A value from 0 to 1."""
    text: str
    """The original text."""


def parse_fault(text: str) -> MockFault:
    """Parse a fault. Raises `UsageError` (a `FilterError` for an invalid filter)."""
    match = _SPELLED.fullmatch(text.strip())
    kind = match["kind"] if match else ""
    if match is None or kind not in _KINDS:
        raise UsageError(f"Unknown fault “{text[:80]}”. Use one of {', '.join(_KINDS)}.", hint=_HINT)
    chance = 1.0
    if match["percent"] is not None:
        try:
            chance = float(match["percent"]) / 100
        except ValueError:
            chance = -1.0
        if not 0 <= chance <= 1:
            raise UsageError(f"{match['percent']} % is not a probability.", hint=_HINT)
    source = match["filter"]
    if source is not None and not source.strip():
        raise UsageError(f"The filter after @ is missing in “{text[:80]}”.", hint=_HINT)
    return MockFault(
        kind,  # type: ignore[arg-type]  # one of _KINDS
        _value(kind, match["value"], text),
        parse(source) if source is not None else None,
        chance,
        text.strip(),
    )


def _value(kind: str, word: str | None, text: str) -> int:
    default = _KINDS[kind]
    if word is None and kind != "delay":
        return default or 0
    number = int(word) if word and re.fullmatch(r"-?[0-9]{1,9}", word, re.ASCII) else None
    if kind == "delay" and (number is None or not 0 <= number <= _MAX_DELAY):
        raise UsageError(f"“{text[:80]}” has no duration.", hint="Write milliseconds: delay=200.")
    if kind == "error" and number is None:
        raise UsageError(f"“{text[:80]}” has no error code.", hint="Write a whole number: error=-32603.")
    if default is None or number is None:
        raise UsageError(f"The fault {kind} takes no value.", hint=_HINT)
    return number


class MockFaults:
    """The faults of one client. The same seed and requests, in the same order, cause the same faults."""

    def __init__(self, faults: Iterable[MockFault], journal: Journal, seed: str) -> None:
        self._faults = tuple(faults)
        self._journal = journal
        self._random = Random(seed)

    def striking(self, m: int) -> tuple[int, MockFault | None]:
        """Return the delay of recorded response `m` in milliseconds, and the first other fault that applies."""
        delay, struck = 0, None
        for fault in self._faults:
            if fault.filter is not None and not fault.filter.matches(self._journal, m):
                continue
            if fault.chance < 1 and self._random.random() >= fault.chance:
                continue
            if fault.kind == "delay":
                delay += fault.value
            elif struck is None:
                struck = fault
        return delay, struck

    def corrupted(self, raw: bytes) -> bytes:
        """Return the bytes of a response, damaged so that they are not JSON. Adds no line ending."""
        position = self._random.randrange(1, max(2, len(raw) - 1))
        noise = bytes(self._random.choice(b"\x01\x7f\xff\xfe{}\\") for _ in range(4))
        return b"\xff" + raw[:position] + noise + raw[position + 4 :]
