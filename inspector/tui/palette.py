"""The command palette: every verb, tool, resource, prompt and theme by name."""

from __future__ import annotations

from collections.abc import AsyncIterator
from functools import partial
from typing import Any

from rich.text import Text
from textual.command import DiscoveryHit, Hit, Hits, Provider

from inspector.client.catalog import KINDS
from inspector.text import safe
from inspector.tui.screens.main import MainScreen
from inspector.tui.verbs import VERBS

ITEMS_LOOKED_AT = 20_000
BEST = 60


class Verbs(Provider):
    """The verbs that can be done from here."""

    async def discover(self) -> Hits:
        for title, description, act in self._verbs():
            yield DiscoveryHit(title, act, help=description)

    async def search(self, query: str) -> Hits:
        matcher = self.matcher(query)
        for title, description, act in self._verbs():
            score = max(matcher.match(title), matcher.match(description) * 0.6)
            if score > 0:
                yield Hit(score, matcher.highlight(title), act, help=description)

    def _verbs(self) -> list[tuple[str, str, Any]]:
        found = []
        seen = set()
        for verb in VERBS:
            owner = self._owner(f"action_{verb.action}", verb.context)
            if owner is not None and verb.description not in seen:
                seen.add(verb.description)
                found.append((verb.title, verb.description, partial(self.app.run_action, verb.action, owner)))
        return found

    def _owner(self, method: str, context: str) -> Any:
        """Who on the way from the focus to the app does this."""
        widget: Any = self.focused or self.screen
        while widget is not None:
            if hasattr(widget, method) and any(
                (binding.id or "").startswith(f"{context}.")
                for bound in widget._bindings.key_to_bindings.values()
                for binding in bound
            ):
                return widget
            widget = widget.parent
        return self.screen if context == "app" and hasattr(self.screen, method) else None


class Items(Provider):
    """What the server offers."""

    async def search(self, query: str) -> Hits:
        screen = self.screen
        if not isinstance(screen, MainScreen):
            return
        matcher = self.matcher(query)
        found = []
        for kind in KINDS.values():
            for item in screen.session.catalog[kind.name].items[:ITEMS_LOOKED_AT]:
                address = item.get(kind.id_field)
                if isinstance(address, str) and (score := matcher.match(address[:200])) > 0:
                    found.append((score, kind.name, address))
        for score, name, address in sorted(found, key=lambda hit: -hit[0])[:BEST]:
            yield Hit(score, Text(safe(address, 100)), partial(screen.show_address, name, address), help=name[:-1])


class Themes(Provider):
    """The themes."""

    async def search(self, query: str) -> AsyncIterator[Hit]:
        matcher = self.matcher(query)
        for name in self.app.theme_switch.names():  # type: ignore[attr-defined]
            title = f"theme {name}"
            if (score := matcher.match(title)) > 0:
                yield Hit(score, title, partial(self.app.theme_switch.use, name), help="Wear this theme.")  # type: ignore[attr-defined]
