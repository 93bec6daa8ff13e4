"""The verbs of a result: when they work, and which are shown."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, auto

from inspector.tui.model.verbs import VerbRules

BOTH_VIEWS = "result.previous-tab|result.next-tab"
BOTH_COLUMNS = "table.previous-column|table.next-column"
"""Two keys that are shown as one."""

_VIEWS = {"content": "content", "table": "table", "structured": "structured", "json": "raw"}
"""The verbs that show one view, and their views."""
_AGAIN = {"resources/read": "read again", "prompts/get": "get again"}


class Showing(Enum):
    """The kind of view: content, JSON or a page; the table; one row of it as JSON."""

    OTHER = auto()
    TABLE = auto()
    ROW = auto()


@dataclass(frozen=True, slots=True)
class ResultFacts:
    """The facts about the result that is shown. `live`: its request can be sent again."""

    live: bool = True
    shown: bool = True
    """There is a result, or the end of a call without one."""
    showing: Showing = Showing.OTHER
    method: str = "tools/call"
    view: str = "content"
    views: tuple[str, ...] = ("content", "raw")
    links: bool = False
    """The server wants links to be opened first."""
    answered: bool = True
    requested: bool = True
    """The request is in the recording."""
    called_before: bool = False
    differs: bool = False
    """It differs from its schema, at places that can be gone to."""
    pinned: bool = False
    filtered: bool = False
    """Only some rows of the table are shown."""
    compact: bool = False
    """The footer is short."""


RESULT_VERBS: VerbRules[ResultFacts] = VerbRules(
    {
        "result.call": lambda facts: facts.live,
        "result.compare": lambda facts: facts.called_before,
        "result.expect": lambda facts: facts.live and facts.shown,
        "result.pin-call": lambda facts: facts.live and facts.shown,
        "result.next-difference": lambda facts: facts.differs,
        "result.previous-difference": lambda facts: facts.differs,
    },
    (),
)


def result_verbs(facts: ResultFacts, zoom: tuple[str, str] | None) -> list[tuple[str, str]]:
    """Return the verbs to show, each with its title, or `""` for its usual one. `zoom` is the verb of the zoom key."""
    if not facts.shown:
        return []
    in_table, in_row = facts.showing is Showing.TABLE, facts.showing is Showing.ROW
    call = [("result.call", _AGAIN.get(facts.method, "call again"))] if facts.live else []
    compare = [("result.compare", "")] if facts.called_before else []
    own = [*([("result.open", "")] if facts.links else []), *call]
    if in_table:
        own = [*call, *compare]
    elif in_row:
        own = [("result.leave", "table"), ("json.copy", "copy value"), ("json.strings", "")]
    elif facts.answered:
        own += [("result.copy", ""), *compare, ("result.save", "")]
    if facts.differs:
        own.append(("result.next-difference", ""))
    views = [(BOTH_VIEWS, "view")] if len(facts.views) > 2 else []
    zooms = [zoom] if zoom is not None else []
    line = [*_table_verbs(facts), *views, *zooms, *own] if in_table else [*own, *views, *zooms]
    line += [(f"result.{verb}", "") for verb, view in _VIEWS.items() if view in facts.views and view != facts.view]
    if facts.requested:
        line += [("result.its-messages", ""), ("result.export", ""), *compare]
    if facts.live:
        line += [("result.expect", ""), ("result.pin-call", "not on restart" if facts.pinned else "run on restart")]
    if not in_row:
        # On a low screen the footer is short; a table needs all of it for its own keys.
        line.insert(1 if facts.compact and facts.live and not in_table else len(line), ("result.leave", ""))
    return list(dict.fromkeys(line))


def _table_verbs(facts: ResultFacts) -> list[tuple[str, str]]:
    return [
        ("table.sort", ""),
        (BOTH_COLUMNS, "column"),
        ("table.filter", ""),
        *([("table.all", "")] if facts.filtered else []),
        ("list.select", "open row"),
        ("table.save", ""),
    ]
