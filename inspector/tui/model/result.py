"""The verbs of a result: when they work, and which are shown."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum, auto
from typing import NamedTuple

from inspector.tui.model.verbs import Offer, VerbRules

BOTH_VIEWS = "result.previous-tab|result.next-tab"
"""Two keys that are shown as one."""


class Showing(Enum):
    """The kind of view: content, JSON or a page; the table; one row of it as JSON."""

    OTHER = auto()
    TABLE = auto()
    ROW = auto()


class ResultFacts(NamedTuple):
    """The facts about the result that is shown. `live`: its request can be sent again."""

    live: bool = True
    has_result: bool = True
    """There is a result, or the end of a call without one."""
    showing: Showing = Showing.OTHER
    views: tuple[str, ...] = ("content", "raw")
    links: bool = False
    """The server wants links to be opened first."""
    answered: bool = True
    requested: bool = True
    """The request is in the recording."""
    called_before: bool = False
    differs: bool = False
    """It differs from its schema, at places that can be gone to."""
    follow: str = ""
    """The title of the key for changes of the resource; `""` without such a key."""
    cut: bool = False
    """The pane has no room for all of it."""
    filtered: bool = False
    """Only some rows of the table are shown."""


def _when(verb: str, useful: Callable[[ResultFacts], bool] = lambda _: True, title: str = "") -> Offer[ResultFacts]:
    """Return the offer of a verb that is useful for some results, and never without one."""
    return Offer(verb, lambda facts: facts.has_result and useful(facts), title)


def _in_table(facts: ResultFacts) -> bool:
    return facts.showing is Showing.TABLE


def _in_row(facts: ResultFacts) -> bool:
    return facts.showing is Showing.ROW


def _in_text(facts: ResultFacts) -> bool:
    return facts.showing is Showing.OTHER and facts.answered


RESULT_VERBS: VerbRules[ResultFacts] = VerbRules(
    {
        "result.call": lambda facts: facts.live,
        "resource.subscribe": lambda facts: facts.follow != "",
        "result.compare": lambda facts: facts.called_before,
        "result.save-call": lambda facts: facts.live and facts.has_result,
        "result.expect": lambda facts: facts.live and facts.has_result,
        "result.pin-call": lambda facts: facts.live and facts.has_result,
        "result.next-difference": lambda facts: facts.differs,
        "result.previous-difference": lambda facts: facts.differs,
    },
    (
        _when("result.leave", _in_row, "table"),
        _when("result.open", lambda facts: facts.links and facts.showing is Showing.OTHER),
        _when("result.call", lambda facts: facts.live),
        _when("list.select", _in_table, "open row"),
        Offer("resource.subscribe", lambda facts: facts.has_result and facts.follow != "", lambda facts: facts.follow),
        _when("result.next-difference", lambda facts: facts.differs),
        _when("table.sort", _in_table),
        _when("table.filter", _in_table, "filter rows"),
        _when("table.all", lambda facts: _in_table(facts) and facts.filtered),
        _when("table.copy", _in_table, "copy"),
        _when("json.copy", _in_row, "copy value"),
        _when("result.copy", _in_text),
        _when(BOTH_VIEWS, lambda facts: len(facts.views) > 2, "view"),
        _when("app.zoom", lambda facts: facts.cut),
        _when("result.compare", lambda facts: facts.called_before),
        _when("result.its-messages", lambda facts: facts.requested),
        _when("result.leave", lambda facts: not _in_row(facts)),
        _when("app.result", lambda facts: facts.live, "to form"),
        _when("result.save-call", lambda facts: facts.live),
        _when("result.expect", lambda facts: facts.live),
        _when("result.save", _in_text),
        _when(BOTH_VIEWS, lambda facts: len(facts.views) == 2, "view"),
    ),
)
