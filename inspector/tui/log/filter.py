"""The filter of the message log: how it is coloured while it is typed, and the filter that means one exchange."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from inspector.client.state.catalog import KINDS, Catalog
from inspector.journal.filters import FilterError
from inspector.journal.filters.syntax import tokens
from inspector.journal.format import Dir
from inspector.journal.journal import Journal
from inspector.journal.select import Query
from inspector.protocol.jsonrpc import Shape

_FEW = 8
"""Messages with the same id that are looked at: request, answer, and those the other way round."""

_MOST_NAMES = 2000

_FOLD = "-phase:negotiation"


def highlight(text: str) -> list[tuple[int, int, str]]:
    """What is drawn in a colour of its own: the names of terms, `-`, `|` and parentheses."""
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
        pass  # What could be read is coloured; the input itself says what is wrong.
    return found


def known_names(catalog: Catalog) -> Iterator[str]:
    """What requests may be about: names of tools and prompts, URIs of resources, the first of very many."""
    for kind in KINDS.values():
        for item in catalog[kind.name].items[:_MOST_NAMES]:
            name = item.get(kind.id_field)
            # What cannot be typed is not offered.
            if isinstance(name, str) and name.isprintable():
                yield name


def folded(text: str) -> str:
    """The filter without what happened until a connection stood; where that is left out already, with it again."""
    rest = text.strip()
    if rest == _FOLD:
        return ""
    if rest.endswith(f" {_FOLD}"):
        return rest[: -len(_FOLD)].rstrip()
    return f"({rest}) {_FOLD}" if _has_alternatives(rest) else f"{rest} {_FOLD}".lstrip()


def _has_alternatives(text: str) -> bool:
    """Tell whether `|` stands outside all parentheses of a filter."""
    depth = 0
    for token in tokens(text):
        depth += {"(": 1, ")": -1}.get(token.kind, 0)
        if token.kind == "|" and not depth:
            return True
    return False


def exchange_filter(journal: Journal, n: int) -> str:
    """The filter that leaves the exchange of event `n`: by its id where that means no other, else by number."""
    index = journal.index
    root = index.root_of(n)
    if not root:
        return f"exchange:#{n}"
    id = index.id(root)
    if type(id) is int and index.dir(root) == Dir.SEND:
        same = list(islice(Query(id=id).each(index), _FEW + 1))
        requests = [m for m in same if index.shape(m) == Shape.REQUEST and index.dir(m) == Dir.SEND]
        if len(same) <= _FEW and requests == [root]:
            return f"exchange:{id}"
    return f"exchange:#{root}"
