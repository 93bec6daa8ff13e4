"""The dialog that chooses the hosts whose limits are checked or shown."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from textual.app import App

from inspector.hosts import host_facts
from inspector.tui.dialogs import Choose


async def choose_hosts(app: App[Any], current: Sequence[str], without: tuple[str, str]) -> tuple[str, ...] | None:
    """Return the chosen hosts; None if the user cancels. `without` names the choice of no host of its own."""
    facts = host_facts()
    word, text = without
    choices = [(word, text), ("all", "every host"), *facts.labels.items()]
    selected = current[0] if len(current) == 1 else word
    chosen = await app.push_screen_wait(Choose("Limits of which hosts?", choices, selected))
    if chosen is None:
        return None
    return () if chosen == word else (chosen,)
