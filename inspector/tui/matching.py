"""How well a row matches what is typed: one order for the palette and for every list that text narrows."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

T = TypeVar("T")

SEARCHED = 600
"""Characters of a text that are searched: names and descriptions come from servers."""


class Typed:
    """The words that are looked for. Texts to compare with are case-folded by the caller, once for many searches."""

    def __init__(self, text: str = "") -> None:
        self.words = text.casefold().split()
        self._whole = " ".join(self.words)

    def __bool__(self) -> bool:
        return bool(self.words)

    def rank(self, name: str, about: str = "") -> int | None:
        """Return how well a row fits; lower is better, None if a word is missing.

        0: the name begins with the text. 1: each word begins a word of the name. 2: the name has every word.
        3: the name and `about` together have them. Without words, every row has rank 0. Linear in the texts.
        """
        if name.startswith(self._whole):
            return 0
        rank = 1
        for word in self.words:
            at = name.find(word)
            if at < 0:
                return 3 if all(word in name or word in about for word in self.words) else None
            while at > 0 and name[at - 1].isalnum():
                at = name.find(word, at + len(word))
            if at < 0:
                rank = 2
        return rank

    def best_first(self, rows: Iterable[T], texts: Callable[[T], tuple[str, str]]) -> list[T]:
        """Return the rows that match, the best first; equally good ones stay in their order.

        `texts` returns the name of a row and what else is searched.
        """
        ranked = []
        for row in rows:
            name, about = texts(row)
            rank = self.rank(name[:SEARCHED].casefold(), about[:SEARCHED].casefold())
            if rank is not None:
                ranked.append((rank, row))
        return [row for _, row in sorted(ranked, key=lambda pair: pair[0])]

    def narrows(self, other: Typed) -> bool:
        """Whether each row that matches this text also matches `other`, which was typed before."""
        return self._whole.startswith(other._whole)
