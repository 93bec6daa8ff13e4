"""An alarm for Windows, where nothing interrupts code that waits: it never rings."""

from __future__ import annotations

from collections.abc import Callable


class Alarm:
    """The same interface as on other systems."""

    def __init__(self, ring: Callable[[], None]) -> None: ...

    def set(self, seconds: float, again: float) -> None:
        """Do nothing."""

    def clear(self) -> None:
        """Do nothing."""
