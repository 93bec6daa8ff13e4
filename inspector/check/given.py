"""The decorator of checks that judge something which several checks read: a list, a document, a response, a login."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import wraps
from typing import TYPE_CHECKING, TypeVar

from inspector.check.outcome import Outcome, skipped

if TYPE_CHECKING:
    from inspector.check.check_table import Probe
    from inspector.check.visit.visit import Visit

T = TypeVar("T")


def given(
    read: Callable[[Visit], Awaitable[T | str]],
) -> Callable[[Callable[[Visit, T], Awaitable[Outcome]]], Probe]:
    """Give the check what `read` returns. If that is a sentence, the check is skipped for this reason."""

    def decorated(check: Callable[[Visit, T], Awaitable[Outcome]]) -> Probe:
        @wraps(check)
        async def probe(visit: Visit) -> Outcome:
            value = await read(visit)
            return skipped(value) if isinstance(value, str) else await check(visit, value)

        return probe

    return decorated
