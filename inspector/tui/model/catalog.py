"""The verbs of a list of items, of the inbox, and of a running call."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from inspector.tui.model.verbs import Offer, VerbRules


class CatalogFacts(NamedTuple):
    """The facts about the list that is shown, and the item under its cursor. `live`: the session can send."""

    live: bool = True
    rows: int = 1
    asked: tuple[str, ...] = ()
    """The verbs of the question that is shown beside the list."""
    filtered: bool = False
    calling: bool = False
    """A call of the item runs."""
    tool: bool = False
    """The item is a tool."""
    page: bool = False
    """The tool has a page."""
    sortable: bool = False


class InboxFacts(NamedTuple):
    """The facts about the inbox."""

    rows: int = 1
    asked: tuple[str, ...] = ()
    """The verbs of the question that is shown beside the list."""
    live: bool = True
    standing: bool = False
    """A standing answer answers some kind of question."""


def _asks(verb: str) -> Callable[[CatalogFacts | InboxFacts], bool]:
    return lambda facts: verb in facts.asked


_ASKED = ("asked.answer", "asked.always", "asked.decline")

CATALOG_VERBS: VerbRules[CatalogFacts] = VerbRules(
    {
        **{verb: _asks(verb) for verb in (*_ASKED, "asked.later")},
        "catalog.all": lambda facts: facts.filtered or facts.calling,
        "catalog.call": lambda facts: facts.rows > 0 and facts.live,
        "catalog.save": lambda facts: facts.live and facts.rows > 0,
        "catalog.refresh": lambda facts: facts.live,
        "catalog.sort": lambda facts: facts.sortable,
    },
    (
        *(Offer[CatalogFacts](verb) for verb in _ASKED),
        Offer("list.select", lambda facts: facts.rows > 0),
        Offer("asked.later"),
        Offer("catalog.call", lambda facts: facts.rows > 0 and facts.live and not facts.asked),
        Offer("catalog.filter"),
        Offer(
            "catalog.all",
            lambda facts: (facts.calling or facts.filtered) and not facts.asked,
            lambda facts: "clear filter" if facts.filtered else "cancel call",
        ),
    ),
    context="catalog",
    needs={
        "tool": lambda facts: facts.tool,
        "call": lambda facts: facts.live and facts.tool,
        "page": lambda facts: facts.live and facts.page,
    },
)

INBOX_VERBS: VerbRules[InboxFacts] = VerbRules(
    {
        **{verb: _asks(verb) for verb in _ASKED},
        "asked.later": lambda _: False,
        "inbox.ask-again": lambda facts: facts.live,
    },
    (
        Offer("list.select", lambda facts: facts.rows > 0),
        *(Offer[InboxFacts](verb) for verb in _ASKED),
        Offer("inbox.ask-again", lambda facts: facts.live and facts.standing),
    ),
)

CALL_VERBS: VerbRules[bool] = VerbRules(
    {"call.cancel": bool, "call.more-time": bool},
    (Offer("call.cancel"), Offer("call.more-time"), Offer("call.its-messages")),
)
"""The verbs of a call in flight. The fact: it is a live one, and not of a recording."""
