"""Facts that one check of a visit finds and others use: each is asked for once in a visit."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import update_wrapper
from typing import TYPE_CHECKING, Generic, TypeVar, cast

if TYPE_CHECKING:
    from inspector.check.visit.visit import Visit

T = TypeVar("T")


class OnceInAVisit(Generic[T]):
    """Decorates a function that finds a fact. A visit keeps what it returns."""

    def __init__(self, find: Callable[[Visit], Awaitable[T]]) -> None:
        self._find = find
        update_wrapper(self, find)

    async def __call__(self, visit: Visit) -> T:
        if self not in visit.facts:
            visit.facts[self] = await self._find(visit)
        return cast(T, visit.facts[self])

    def known(self, visit: Visit) -> T | None:
        """The value, if a check has found it already."""
        return cast("T | None", visit.facts.get(self))

    def learn(self, visit: Visit, value: T) -> None:
        """Keep a value that a check has found in another way."""
        visit.facts[self] = value


def collected(new: Callable[[], T]) -> Callable[[Callable[[Visit, T], Awaitable[None]]], OnceInAVisit[T]]:
    """Decorates a function that fills a `new` collection. If it is interrupted, checks use what came so far."""

    def decorate(fill: Callable[[Visit, T], Awaitable[None]]) -> OnceInAVisit[T]:
        async def find(visit: Visit) -> T:
            collection = new()
            once.learn(visit, collection)
            await fill(visit, collection)
            return collection

        once = OnceInAVisit(find)
        update_wrapper(once, fill)
        return once

    return decorate
