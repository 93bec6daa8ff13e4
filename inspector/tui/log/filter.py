"""The filter field of the message log: its colours, and the names that it offers."""

from __future__ import annotations

from collections.abc import Iterator

from inspector.client.state.catalog import KINDS, Catalog
from inspector.journal.filters import FilterError
from inspector.journal.filters.syntax import tokens

_MAX_NAMES = 2000


def highlight(text: str) -> list[tuple[int, int, str]]:
    """Return the coloured parts of a filter: names of terms, `-`, `|` and parentheses."""
    found: list[tuple[int, int, str]] = []
    try:
        for token in tokens(text):
            start = token.position - 1
            if token.kind == "-":
                found.append((start, start + 1, "error"))
            elif token.kind != "term":
                found.append((start, start + len(token.word), "muted"))
            elif token.key:
                found.append((start, start + len(token.key) + 1, "json-key"))
    except FilterError:
        pass  # The parsed part is coloured; the input shows the error.
    return found


def known_names(catalog: Catalog) -> Iterator[str]:
    """Return names that requests use: tools, prompts, URIs of resources; of very many only the first."""
    for kind in KINDS.values():
        for item in catalog[kind.name].items[:_MAX_NAMES]:
            name = item.get(kind.id_field)
            # A name that cannot be typed is not offered.
            if isinstance(name, str) and name.isprintable():
                yield name
