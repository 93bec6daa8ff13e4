"""How long what the server said may be taken as fresh. Holds hints only: the lists themselves are the catalogue's.

Source: specification 2026-07-28, "Caching" (C-CACHE-01 … C-CACHE-03). One session is one authorization context, so a
`private` hint needs no more than that a cache is never shared between sessions.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable
from typing import Any, NamedTuple

from inspector.client.state.catalog import BY_METHOD, KINDS

KEPT = 1000
"""Hints at most; the oldest are dropped."""
LONGEST = 30 * 24 * 3600.0
"""Seconds after which nothing is taken as fresh, whatever the server says."""

CACHEABLE = frozenset(("server/discover", "resources/read", *BY_METHOD))


class Hint(NamedTuple):
    """When an answer came, and until when it is fresh, both in seconds of the cache's clock."""

    received: float
    until: float
    scope: str
    """`public`, `private`, or what the server said instead; empty where it said nothing."""

    @property
    def ttl(self) -> float:
        """Seconds for which it was fresh when it came."""
        return self.until - self.received


class Cache:
    """Hints by method and what tells requests of one method apart. `clock` gives seconds that never go back."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._hints: OrderedDict[tuple[str, str], Hint] = OrderedDict()

    def took(self, method: str, params: dict[str, Any] | None, result: Any, *, fresh: bool = True) -> None:
        """An answer came. Not `fresh`: it depends on input that the key does not have, and is never reused."""
        if method not in CACHEABLE:
            return
        key = (method, _told_apart(method, params))
        self._hints.pop(key, None)
        if not fresh or type(result) is not dict:
            return
        now = self._clock()
        scope = result.get("cacheScope")
        self._hints[key] = Hint(now, now + _seconds(result.get("ttlMs")), scope if isinstance(scope, str) else "")
        if len(self._hints) > KEPT:
            self._hints.popitem(last=False)

    def hint(self, method: str, params: dict[str, Any] | None = None) -> Hint | None:
        """What is known of the newest answer to this request."""
        return self._hints.get((method, _told_apart(method, params)))

    def is_fresh(self, method: str, params: dict[str, Any] | None = None) -> bool:
        """Whether the newest answer to exactly this request may be used again (C-CACHE-01, C-CACHE-02)."""
        hint = self.hint(method, params)
        return hint is not None and self._clock() < hint.until

    def list_is_fresh(self, method: str) -> bool:
        """Whether every page of a list is: each has its own clock (C-CACHE-03)."""
        now = self._clock()
        pages = [hint for (name, _), hint in self._hints.items() if name == method]
        return bool(pages) and all(now < hint.until for hint in pages)

    def changed(self, notification: str) -> None:
        """`list_changed`: at once nothing of that list is fresh (C-CACHE-03)."""
        for kind in KINDS.values():
            if kind.changed == notification:
                self.forget(kind.method)

    def updated(self, uri: Any) -> None:
        """`resources/updated`: what was read from there is stale."""
        if isinstance(uri, str):
            self._hints.pop(("resources/read", uri), None)

    def forget(self, method: str = "") -> None:
        """Drop the hints of a method, or all."""
        for key in [key for key in self._hints if not method or key[0] == method]:
            del self._hints[key]


def _told_apart(method: str, params: dict[str, Any] | None) -> str:
    """The part of the parameters that affects the result: the URI, or the cursor of a page."""
    value = (params or {}).get("uri" if method == "resources/read" else "cursor")
    return "" if value is None else f"={value}" if method in BY_METHOD else str(value)


def _seconds(ttl: Any) -> float:
    """`ttlMs` in seconds; what is absent, negative or no number is none (C-CACHE-02)."""
    if type(ttl) not in (int, float) or not ttl > 0:
        return 0.0
    return float(min(ttl, LONGEST * 1000)) / 1000
