"""Resources that the user follows, and when they last changed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


class Subscriptions:
    """The subscribed URIs of this session in order, with the latest update of each."""

    def __init__(self, changed: Callable[[], None]) -> None:
        self.uris: dict[str, int] = {}
        """URI → number of the latest update in the journal, 0 before the first."""
        self.counts: dict[str, int] = {}
        self.refused: list[str] = []
        """Requested notifications that the server does not send: list changes by the filter's names, URIs."""
        self._changed = changed

    def __contains__(self, uri: str) -> bool:
        return uri in self.uris

    def add(self, uri: str) -> None:
        """Add a subscription that the server accepted."""
        self.uris.setdefault(uri, 0)
        self._changed()

    def remove(self, uri: str) -> None:
        """Remove a subscription."""
        self.uris.pop(uri, None)
        self.counts.pop(uri, None)
        self._changed()

    def updated(self, uri: Any, n: int) -> None:
        """Handle `notifications/resources/updated`. A sub-resource counts for the subscription above it."""
        if type(uri) is not str:
            return
        match = uri if uri in self.uris else next((known for known in self.uris if uri.startswith(known)), None)
        if match is not None:
            self.uris[match] = n
            self.counts[match] = self.counts.get(match, 0) + 1
            self._changed()
