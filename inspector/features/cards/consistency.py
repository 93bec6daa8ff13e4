"""A card held against what the server says when connected. The server wins (C-CARD-05); a card decides nothing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from inspector.features.cards.documents import remotes_of, versions_of
from inspector.protocol.jsonrpc import excerpt


@dataclass(frozen=True, slots=True)
class LiveFacts:
    """The facts that a connected server gave."""

    url: str
    transport: str
    """`streamable-http` or `sse`."""
    info: Mapping[str, Any]
    """Its `serverInfo`."""
    versions: tuple[str, ...]
    """The protocol versions that it supports, as far as they are known."""
    all_versions: bool = False
    """Whether `versions` are all of them: the server listed them, or each was offered."""


class CardDifference(NamedTuple):
    """One member in which card and server differ."""

    member: str
    card: str
    """The value of the card, for a sentence."""
    server: str
    is_fault: bool
    """False for what is worth a remark only."""

    @property
    def text(self) -> str:
        """A sentence."""
        return f"{self.member}: the card says {self.card}, the server says {self.server}."


def compare_card(card: Mapping[str, Any], live: LiveFacts) -> Iterator[CardDifference]:
    """Yield the differences between a card and the server (CARD-11).

    A name may lack the namespace that it has in the card; another name is only worth a remark (C-CARD-11).
    """
    name, own = card.get("name"), live.info.get("name")
    if isinstance(name, str) and isinstance(own, str) and own not in (name, name.rpartition("/")[2]):
        yield CardDifference("name", excerpt(name, 80), excerpt(own, 80), False)
    for member in ("version", "title", "description", "icons", "websiteUrl"):
        ours, theirs = card.get(member), live.info.get(member)
        if ours is not None and theirs is not None and ours != theirs:
            yield CardDifference(member, excerpt(ours, 80), excerpt(theirs, 80), True)
    claimed = versions_of(card)
    wrong = [version for version in claimed if version not in live.versions] if live.all_versions else []
    if wrong:
        yield CardDifference("supportedProtocolVersions", ", ".join(wrong), ", ".join(live.versions) or "none", True)
    remotes = remotes_of(card)
    ours = [remote for remote in remotes if remote.get("url") == live.url]
    for remote in ours:
        if remote.get("type") != live.transport:
            yield CardDifference("type of the remote", excerpt(remote.get("type"), 40), live.transport, True)
    if remotes and not ours:
        urls = ", ".join(excerpt(remote.get("url"), 80) for remote in remotes[:3])
        yield CardDifference("remotes", urls, live.url, False)
