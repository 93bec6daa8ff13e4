"""Frees memory that is no longer needed: that of large results, and what Textual keeps of removed widgets."""

from __future__ import annotations

import gc
import sys

YOUNG = 10_000
"""Young objects that are worth a collection: it takes about 2 ms."""


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


def collect_young_objects() -> None:
    """Collect the objects that became garbage lately, if there are many. Call it while no key is pressed.

    Python collects only at 100,000 of them (`cli/main.py`), which takes 20 ms and more: a key may wait for it.
    """
    if gc.isenabled() and gc.get_count()[0] >= YOUNG:
        gc.collect(0)
