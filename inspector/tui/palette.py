"""The command palette: finds available verbs, and tools, resources, prompts and themes by name."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from functools import partial
from heapq import nlargest
from inspect import unwrap
from operator import itemgetter
from typing import Any, NamedTuple, cast

from rich.text import Text
from textual import on, work
from textual.command import CommandList, CommandPalette, DiscoveryHit, Hit, Hits, Provider
from textual.dom import DOMNode
from textual.widgets import Input
from textual.widgets.option_list import Option
from textual.worker import get_current_worker

from inspector.client.state.catalog import KINDS, ListName
from inspector.text import safe
from inspector.tui.available_verbs import contexts, who_does
from inspector.tui.keymap import label
from inspector.tui.themes import ascii_only, palette
from inspector.tui.verbs import VERBS, KeymapVerb
from inspector.tui.window import RunsCommands, ShowsItems, window_of

ITEMS_LOOKED_AT = 20_000
SLICE = 500
"""Items that one turn searches."""
BEST = 60
NAME = 100
"""Characters of a name that are shown and searched."""
_TITLE = 24
_KEYS = 12
_PALETTE = "app.palette"
_MOVES = frozenset({"list", "text"})
"""Contexts whose verbs only move the cursor; they come last in the list."""

PALETTE_CSS = """
CommandPalette > Vertical { width: 90%; max-width: 96; margin-top: 3; background: transparent; }
CommandPalette > Vertical:dark { background: transparent; }
CommandPalette #--input, CommandPalette #--input.--list-visible {
    border: round $border; background: $background; height: 3;
}
CommandPalette #--input SearchIcon { display: none; }
CommandPalette #--input CommandInput, CommandPalette #--input CommandInput:focus {
    border: none; padding: 0 1; height: 1; background: transparent;
}
CommandPalette CommandList {
    border: round $border-blurred; background: $background; text-wrap: nowrap; text-overflow: ellipsis;
    scrollbar-size-vertical: 1;
}
CommandPalette CommandList > .option-list--option { padding: 0 1; text-style: none; }
CommandPalette CommandList > .option-list--option-highlighted {
    background: $block-cursor-background; color: $block-cursor-foreground;
}
CommandPalette LoadingIndicator { display: none; }
"""


class VerbPalette(CommandPalette):
    """Textual's palette, but enter runs the command that matches the whole text, even before it is listed.

    This is the only module that uses private methods of `CommandPalette`: no public one tells when all matches are
    listed, or that there are none.
    """

    def __init__(self) -> None:
        super().__init__(id="--command-palette")
        self._listed: str | None = None
        """The text whose matches are listed completely."""
        self._enter_waits = False

    @work(exclusive=True, group=CommandPalette._GATHER_COMMANDS_GROUP)
    async def _gather_commands(self, search_value: str) -> None:
        self._listed = None
        gather = cast("Callable[[VerbPalette, str], Awaitable[None]]", unwrap(CommandPalette._gather_commands))
        await gather(self, search_value)
        if get_current_worker().is_cancelled:
            return
        self._listed = search_value
        if self._enter_waits:
            self._enter_waits = False
            self._select_or_command()

    def _start_no_matches_countdown(self, search_value: str) -> None:
        """Show at once that nothing matches."""
        if search_value:
            nothing = Text("No match. Try fewer letters.", palette().style("muted"))
            self.query_one(CommandList).add_option(Option(nothing, disabled=True, id=self._NO_MATCHES))
            self._list_visible = True

    @on(Input.Changed)
    def _typed(self) -> None:
        self._enter_waits = False

    @on(Input.Submitted)
    def _submitted(self, event: Input.Submitted) -> None:
        if self._listed != event.value.strip():
            event.stop()
            event.prevent_default()
            self._enter_waits = True


class AvailableVerb(NamedTuple):
    """A verb and the node that does it."""

    verb: KeymapVerb
    act: Callable[[], Any]


def doable(focused: DOMNode) -> list[AvailableVerb]:
    """Return the verbs that work at the focus, nearest first, moves last; each action once."""
    order = {context: at for at, context in enumerate(contexts(focused))}
    found: dict[str, AvailableVerb] = {}
    for verb in sorted(VERBS, key=lambda verb: (verb.context in _MOVES, order.get(verb.context, 0))):
        node = who_does(focused, verb) if verb.id != _PALETTE else None
        if node is not None:
            found.setdefault(verb.description, AvailableVerb(verb, partial(node.app.run_action, verb.action, node)))
    return list(found.values())


class Verbs(Provider):
    """Searches the verbs that are available here."""

    async def discover(self) -> Hits:
        for verb, act in doable(self.focused or self.screen):
            yield DiscoveryHit(self._row(verb, []), act, text=verb.title)

    async def search(self, query: str) -> Hits:
        words = query.casefold().split()
        for verb, act in doable(self.focused or self.screen):
            points = max(score(words, verb.title), score(words, f"{verb.title} {verb.description}") * 0.6)
            if points:
                yield Hit(points, self._row(verb, words), act, text=verb.title)

    def _row(self, verb: KeymapVerb, words: list[str]) -> Text:
        keymap = window_of(self.screen).verb_keys
        return _row(
            verb.title, " ".join(label(key, ascii_only()) for key in keymap.keys(verb.id)), verb.description, words
        )


class OwnCommands(Provider):
    """Searches the user's own commands that work here."""

    async def discover(self) -> Hits:
        for row, act, title in self._rows([]):
            yield DiscoveryHit(row, act, text=title)

    async def search(self, query: str) -> Hits:
        words = query.casefold().split()
        for row, act, title in self._rows(words):
            if points := score(words, row.plain):
                yield Hit(points, row, act, text=title)

    def _rows(self, words: list[str]) -> Iterator[tuple[Text, Callable[[], Any], str]]:
        screen = self.screen
        if isinstance(screen, RunsCommands):
            for command in window_of(screen).custom_commands.here(contexts(self.focused or screen)):
                row = _row(command.title, label(command.key, ascii_only()), command.description, words)
                yield row, partial(screen.run_own_command, command), command.title


class ItemProvider(Provider):
    """Searches the items that the server offers."""

    async def search(self, query: str) -> Hits:
        screen = self.screen
        if not isinstance(screen, ShowsItems):
            return
        words = query.casefold().split()
        found: list[tuple[float, str, ListName, str]] = []
        for kind in KINDS.values():
            for at, item in enumerate(screen.session.catalog[kind.name].items[:ITEMS_LOOKED_AT]):
                address, title = item.get(kind.id_field), item.get("title")
                if not isinstance(address, str):
                    continue
                beside = title[:NAME] if isinstance(title, str) else ""
                points = max(score(words, address[:NAME]), score(words, f"{address[:NAME]} {beside}") * 0.8)
                if points:
                    found.append((points, beside, kind.name, address))
                if at % SLICE == SLICE - 1:
                    await asyncio.sleep(0)
        for points, beside, name, address in nlargest(BEST, found, key=itemgetter(0)):
            row = _row(address[:NAME], name[:-1], beside, words)
            yield Hit(points, row, partial(screen.show_address, name, address), text=row.plain)


class Themes(Provider):
    """Searches the themes."""

    async def search(self, query: str) -> Hits:
        words, switch = query.casefold().split(), window_of(self.screen).theme_switch
        for name in switch.names():
            title = f"theme {name}"
            if points := score(words, title):
                yield Hit(points, _row(title, "", "Use this theme.", words), partial(switch.use, name), text=title)


def score(words: list[str], text: str) -> float:
    """Score a text for these case-folded words: 0 if one is missing, at most about 4.

    The time is linear in the text: names come from the server, and a search for scattered letters has no bound.
    """
    folded = text.casefold()
    points = 0.0
    for word in words:
        at = folded.find(word)
        if at < 0:
            return 0.0
        points += 3 if not at else 1 if folded[at - 1].isalnum() else 2
    return points / max(len(words), 1) + len("".join(words)) / max(len(folded), 1) if words else 0.0


def _row(title: str, keys: str, description: str, words: list[str]) -> Text:
    """Draw one line: a name with the match underlined, a key or a kind, a sentence."""
    look = palette()
    row = Text(safe(title, NAME), look.style("bright"))
    for word in words:
        at = row.plain.lower().find(word)
        if at >= 0:
            row.stylize("underline", at, at + len(word))
    row.pad_right(max(_TITLE - row.cell_len, 1))
    row.append(f"{keys:<{_KEYS}}", look.style("key"))
    row.append(safe(description, NAME), look.style("muted"))
    return row
