"""Frees memory that is no longer needed: that of large results, and what Textual keeps of removed widgets."""

from __future__ import annotations

import gc
import sys
from time import monotonic

YOUNG = 10_000
"""Young objects that are worth a collection: it takes about 2 ms."""
OF_YOUNG = 5
"""Collections of young objects after which those that they left are collected too."""
LONG_REST = 1.0
"""Seconds without a key before all objects are looked at, which takes 50 to 100 ms."""
FULL_EVERY = 60.0
"""Seconds between two of them."""


def return_freed_memory() -> None:
    """Return freed memory to the system. glibc otherwise keeps it: 17 MB after a result of 100,000 objects.

    Takes a few milliseconds: call it in a thread. Does nothing if the C library has no `malloc_trim`.
    """
    if sys.platform != "linux":
        return
    import ctypes

    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)


def forget_removed_widgets() -> None:
    """Free the lines of widgets that were removed.

    Textual (8.2) caches colours by the object that has the drawn lines of a widget, and so keeps the lines of 1,024
    removed widgets: 25 MB after an hour in which forms come and go.
    """
    from textual._styles_cache import StylesCache

    clear = getattr(StylesCache.get_inner_outer, "cache_clear", None)
    if clear is not None:
        clear()


class IdleCollector:
    """Collects garbage while no key is pressed; call `rest` now and then.

    Python itself collects at 100,000 young objects (`cli/main.py`), which takes 20 ms and more: a key may wait for it.
    It never looks at the oldest objects in a session of hours, so that a removed widget stays in memory.
    """

    def __init__(self) -> None:
        self._full_at = monotonic()

    def rest(self, seconds: float) -> None:
        """Collect what is worth it, after so many seconds without a key."""
        if not gc.isenabled():
            return
        young, younger_collections, older_collections = gc.get_count()
        now = monotonic()
        if older_collections and seconds > LONG_REST and now - self._full_at > FULL_EVERY:
            self._full_at = now
            gc.collect()
        elif young >= YOUNG:
            gc.collect(1 if younger_collections >= OF_YOUNG else 0)
