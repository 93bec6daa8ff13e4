"""What is new: one counter per topic. A reader keeps the counts it has seen and looks again when they differ.

Cheaper than messages, and safe in a flood: twenty thousand changes between two ticks of the interface are one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, get_args

Topic = Literal[
    "phase", "server", "tools", "resources", "templates", "prompts", "calls", "inbox", "subscriptions", "tasks",
    "log",
]  # fmt: skip


class Changes:
    """Counters by topic, and at most one listener that is woken once until it has looked."""

    def __init__(self) -> None:
        self.counts: dict[Topic, int] = dict.fromkeys(get_args(Topic), 0)
        self._wake: Callable[[], None] | None = None

    def __getitem__(self, topic: Topic) -> int:
        return self.counts[topic]

    def bump(self, topic: Topic) -> None:
        """Something about `topic` is new."""
        self.counts[topic] += 1
        if self._wake is not None:
            self._wake()

    def listen(self, wake: Callable[[], None] | None) -> None:
        """Call `wake` (cheap, any number of times) whenever something changes."""
        self._wake = wake
