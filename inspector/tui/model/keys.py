"""The keys page: what one can do here, then all keys by group, and what matches a filter."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

HERE = 10
"""Rows of what one can do here."""
LAST = ("Tables", "Lists", "Text", "JSON", "Content")
"""Groups of keys that only move in a view: they come last."""


class KeyEntry(NamedTuple):
    """A row of the page: the labels of its keys, its name, and one sentence."""

    labels: tuple[str, ...]
    name: str
    about: str

    def matches(self, words: Sequence[str]) -> bool:
        """Whether the row has all words, in its keys, name or sentence."""
        text = " ".join((*self.labels, self.name, self.about)).casefold()
        return all(word in text for word in words)


class KeyGroup(NamedTuple):
    """Rows under a heading. `total` is how many there are, shown or not."""

    title: str
    lines: Sequence[KeyEntry]
    total: int


def keys_page(
    place: str, here: Sequence[KeyEntry], groups: Mapping[str, Sequence[KeyEntry]], near: Sequence[str], text: str = ""
) -> list[KeyGroup]:
    """Return the groups of the page.

    `here` are the verbs that work at the focus, the most used ones first. `near` are the groups whose keys work there,
    the nearest first. `text` filters: it is a key, or words of a name or a sentence.
    """
    order = sorted(groups, key=lambda title: (title in LAST, near.index(title) if title in near else len(near)))
    page_groups = [KeyGroup(f"Here: {place}", here[:HERE], len(here))] if here else []
    page_groups += [KeyGroup(title, groups[title], len(groups[title])) for title in order]
    words = text.casefold().split()
    if not words:
        return page_groups
    is_key = any(text.strip() in line.labels for group in page_groups for line in group.lines)
    kept = [
        group._replace(
            lines=[line for line in group.lines if (text.strip() in line.labels if is_key else line.matches(words))]
        )
        for group in page_groups
    ]
    return [group for group in kept if group.lines]
