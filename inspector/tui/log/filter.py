"""The filter of the message log: its colours while it is typed, and the filter for one exchange."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from inspector.client.state.catalog import KINDS, Catalog
from inspector.journal.filters import FilterError
from inspector.journal.filters.syntax import tokens
from inspector.journal.format import Dir
from inspector.journal.index import Index
from inspector.journal.journal import Journal
from inspector.journal.query import Query
from inspector.journal.rounds import rounds
from inspector.protocol.jsonrpc import Shape

_FEW = 8
"""Most messages with the same id that are compared: request and answer, in both directions."""

_MAX_NAMES = 2000

_FOLD = "-phase:negotiation"


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


def folded(text: str) -> str:
    """Return the filter with the negotiation excluded; if it is already excluded, included again."""
    rest = text.strip()
    if rest == _FOLD:
        return ""
    if rest.endswith(f" {_FOLD}"):
        return rest[: -len(_FOLD)].rstrip()
    return f"({rest}) {_FOLD}" if _has_alternatives(rest) else f"{rest} {_FOLD}".lstrip()


def _has_alternatives(text: str) -> bool:
    """Whether `|` occurs outside all parentheses of a filter."""
    depth = 0
    for token in tokens(text):
        depth += {"(": 1, ")": -1}.get(token.kind, 0)
        if token.kind == "|" and not depth:
            return True
    return False


def exchange_filter(journal: Journal, n: int) -> str:
    """Return the filter for the exchange of event `n`, and for the other rounds of a call that needed input."""
    root = journal.index.root_of(n)
    return "|".join(_one_exchange(journal.index, each) for each in rounds(journal, root)) if root else f"exchange:#{n}"


def _one_exchange(index: Index, root: int) -> str:
    """Return the filter for the exchange of request `root`: by id if the id is unique, else by number."""
    id = index.id(root)
    if type(id) is int and index.dir(root) == Dir.SEND:
        same = list(islice(Query(id=id).each(index), _FEW + 1))
        requests = [m for m in same if index.shape(m) == Shape.REQUEST and index.dir(m) == Dir.SEND]
        if len(same) <= _FEW and requests == [root]:
            return f"exchange:{id}"
    return f"exchange:#{root}"
