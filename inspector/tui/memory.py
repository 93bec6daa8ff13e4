"""Frees memory that is no longer needed: that of large results, and what Textual keeps of removed widgets."""

from __future__ import annotations

import gc
from time import monotonic

from inspector.system.files import return_freed_memory

YOUNG = 10_000
"""Young objects that are worth a collection: it takes about 2 ms."""
OF_YOUNG = 5
"""Collections of young objects after which those that they left are collected too."""
MANY = 1_000_000
"""Young objects at which Python collects before the first rest: several times those of a start."""
FULL_EVERY = 20.0
"""Seconds between two collections of all objects, each of which takes 10 to 200 ms."""


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
    It never looks at the oldest objects in a session of hours. A form that is replaced after some seconds is among
    them: without a look now and then, the garbage of minutes lies between what is still needed.
    """

    def __init__(self) -> None:
        self._thresholds: tuple[int, int, int] | None = None
        """Those from the first rest on, if what exists then is kept."""
        self._full_at = monotonic()
        self._full_takes = 0.0

    def keep_start(self) -> None:
        """Never look at what exists at the first rest: modules and the first screen, where a look takes 50 ms.

        Until then Python does not collect on its own either: it would find little, and the first screen waits for it.
        """
        self._thresholds = gc.get_threshold()
        gc.set_threshold(MANY, *self._thresholds[1:])

    def rest(self, seconds: float) -> None:
        """Collect what is worth it, after so many seconds without a key.

        All objects are looked at after a rest as long as the last such look took; the longer ago that was, the shorter
        the rest may be.
        """
        if not gc.isenabled():
            return
        if self._thresholds is not None:
            gc.freeze()
            gc.set_threshold(*self._thresholds)
            self._thresholds = None
        young, younger_collections, older_collections = gc.get_count()
        now = monotonic()
        ago = now - self._full_at
        if older_collections and ago > FULL_EVERY and seconds > self._full_takes * FULL_EVERY / ago:
            forget_removed_widgets()
            gc.collect()
            return_freed_memory()
            self._full_at = monotonic()
            self._full_takes = self._full_at - now
        elif young >= YOUNG:
            gc.collect(1 if younger_collections >= OF_YOUNG else 0)
