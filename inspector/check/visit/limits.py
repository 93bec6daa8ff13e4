"""The limits of a run: how long it waits, and how much it looks at."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class RunLimits:
    """The limits of a run."""

    request: float = 5.0
    """Timeout of one response, in seconds."""
    check: float = 20.0
    """Time limit of one check in one visit, in seconds."""
    run: float = 600.0
    """Time limit of the whole run, in seconds."""
    quiet: float = 0.25
    """Seconds to wait for messages that should not come."""
    items: int = 20
    """The most resources that one check reads, prompts that it gets, and tools that it calls."""
