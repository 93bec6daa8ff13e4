"""The freshness of responses. Holds only cache hints: the lists are in the catalogue.

Source: specification 2026-07-28, "Caching" (C-CACHE-01 … C-CACHE-03). One session is one authorization context, so a
`private` hint only requires that a cache is never shared between sessions.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable
from typing import Any, NamedTuple

from inspector.client.state.catalog import BY_METHOD, KINDS

KEPT = 1000
"""Maximum hints; the oldest are dropped."""
MAX_LENGTH = 24 * 3600.0
"""Maximum seconds of freshness that we use, whatever the server says (C-HINT-04)."""

CACHEABLE = frozenset(("server/discover", "resources/read", *BY_METHOD))


class CacheHint(NamedTuple):
    """When a response arrived and until when it is fresh, in seconds of the cache's clock."""

    received: float
    until: float
    scope: str
    """`public`, `private`, or the server's other value; empty if missing."""

    @property
    def ttl(self) -> float:
        """The time to live in seconds, at arrival."""
        return self.until - self.received


class Cache:
    """Hints by method and the parameters that affect the result. `clock` is a monotonic clock in seconds."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._hints: OrderedDict[tuple[str, str], CacheHint] = OrderedDict()

    def took(self, method: str, params: dict[str, Any] | None, result: Any, *, fresh: bool = True) -> None:
        """Store the hint of a response. Not `fresh`: it depends on input outside the key, and is never reused."""
        if method not in CACHEABLE:
            return
        key = (method, subject_of(method, params))
        self._hints.pop(key, None)
        if not fresh or type(result) is not dict:
            return
        now = self._clock()
        scope = result.get("cacheScope")
        self._hints[key] = CacheHint(
            now, now + seconds_of(result.get("ttlMs")), scope if isinstance(scope, str) else ""
        )
        if len(self._hints) > KEPT:
            self._hints.popitem(last=False)

    def hint(self, method: str, params: dict[str, Any] | None = None) -> CacheHint | None:
        """Return the hint of the latest response to this request."""
        return self._hints.get((method, subject_of(method, params)))

    def is_fresh(self, method: str, params: dict[str, Any] | None = None) -> bool:
        """Whether the latest response to exactly this request may be reused (C-CACHE-01, C-CACHE-02)."""
        hint = self.hint(method, params)
        return hint is not None and self._clock() < hint.until

    def list_is_fresh(self, method: str) -> bool:
        """Whether every page of a list is fresh: each has its own time (C-CACHE-03)."""
        now = self._clock()
        pages = [hint for (name, _), hint in self._hints.items() if name == method]
        return bool(pages) and all(now < hint.until for hint in pages)

    def changed(self, notification: str) -> None:
        """Handle `list_changed`: the list is stale immediately (C-CACHE-03)."""
        for kind in KINDS.values():
            if kind.changed == notification:
                self.forget(kind.method)

    def updated(self, uri: Any) -> None:
        """Handle `resources/updated`: the resource's response is stale."""
        if isinstance(uri, str):
            self._hints.pop(("resources/read", uri), None)

    def forget(self, method: str = "") -> None:
        """Drop the hints of a method, or all."""
        for key in [key for key in self._hints if not method or key[0] == method]:
            del self._hints[key]


def subject_of(method: str, params: dict[str, Any] | None) -> str:
    """Return the part of the parameters that affects the result: the URI, or the cursor of a page."""
    value = (params or {}).get("uri" if method == "resources/read" else "cursor")
    return "" if value is None else f"={value}" if method in BY_METHOD else str(value)


def seconds_of(ttl: Any) -> float:
    """Return `ttlMs` in seconds; 0 if it is missing, negative or not a number (C-CACHE-02)."""
    if type(ttl) not in (int, float) or not ttl > 0:
        return 0.0
    return float(min(ttl, MAX_LENGTH * 1000)) / 1000
