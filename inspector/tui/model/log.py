"""The query and the cursor of the message log, and the rules for when its verbs work."""

from __future__ import annotations

from collections.abc import Callable
from itertools import islice
from typing import NamedTuple

from inspector.journal.exchange import rounds
from inspector.journal.filters import Filter, FilterError, parse
from inspector.journal.filters.syntax import tokens
from inspector.journal.format import Dir
from inspector.journal.index import Index
from inspector.journal.journal import Journal
from inspector.journal.query import Query
from inspector.protocol.jsonrpc import Shape
from inspector.text import count
from inspector.tui.model.verbs import Offer, VerbRules

CALLS = ("tools/call", "resources/read", "prompts/get")
"""Requests that the user sends; others are sent automatically."""
_CALLS = Query(dir=Dir.SEND, shape=Shape.REQUEST, method=CALLS)
_FEW = 8
"""Most messages with the same id that are compared: request and answer, in both directions."""
_NO_NEGOTIATION = "-phase:negotiation"


class LogQuery(NamedTuple):
    """Which events have rows. Each method returns the next query."""

    filter: Filter | None = None
    """The filter in force; None shows everything."""
    changed_after: int = 0
    """The last event when the filter changed: what fails after it is shown in spite of the filter."""
    set_after: int | None = None
    """The last event when the program set the filter, which then ends with another call; None: the user typed it."""
    searched: Filter | None = None
    """The last filter in force, even if it was cleared since: the next match is a match of it."""
    problem: str = ""
    """Why the text of the filter field is not in force."""
    run: str = ""
    """The filter of the run of saved calls that the list shows, in force or not."""
    folds: bool = True
    """One row a message, instead of one an event."""
    by_exchange: bool = False
    """One row an exchange: the log has the whole screen."""

    @property
    def source(self) -> str:
        """The text of the filter in force."""
        return "" if self.filter is None else self.filter.source

    @property
    def rows(self) -> tuple[str, bool, bool]:
        """All that the rows depend on: other rows are needed if it differs."""
        return self.source, self.folds, self.by_exchange

    @property
    def is_one_exchange(self) -> bool:
        """Whether only one exchange is shown."""
        return self.source.startswith("exchange:") and " " not in self.source

    def narrowed(self, text: str, last: int, incomplete: str = "") -> LogQuery:
        """Filter by a text, after event `last`. A text that is wrong, or that is still typed, changes nothing."""
        if incomplete:
            return self._replace(problem=incomplete)
        try:
            found = parse(text) or None
        except FilterError as error:
            return self._replace(problem=error.reason)
        after = self._replace(filter=found, searched=found or self.searched, problem="")
        return after if after.source == self.source else after._replace(changed_after=last)

    def by_user(self) -> LogQuery:
        """The user types: the filter stays until the user clears it."""
        return self._replace(set_after=None)

    def by_program(self, last: int) -> LogQuery:
        """The program has set the filter after event `last`: it ends when the user sends another call."""
        return self._replace(set_after=last)

    def after_calls(self, journal: Journal) -> LogQuery:
        """Return the query after the calls that followed the one for which the program set the filter.

        The filter moves with a call that continues its exchange, and ends with another one.
        """
        filter, last, source = self.filter, journal.index.count, self.source
        if filter is None or self.set_after is None:
            return self
        for n in _CALLS.each(journal.index, self.set_after):
            if not filter.matches(journal, n):
                moved = exchange_filter(journal, n)
                source = moved if set(source.split("|")) < set(moved.split("|")) else ""
        return (self if source == self.source else self.narrowed(source, last)).by_program(last)

    def with_run(self, run: str, last: int) -> LogQuery:
        """The list shows this run of saved calls after event `last`, or none (`""`). A filter that was typed stays."""
        after = self._replace(run=run)
        return (
            after.narrowed(run, last).by_program(last) if run != self.run and self.source in ("", self.run) else after
        )


def without_negotiation(text: str) -> str:
    """Return the filter with the negotiation excluded; if it is already excluded, included again."""
    rest = text.strip()
    if rest == _NO_NEGOTIATION:
        return ""
    if rest.endswith(f" {_NO_NEGOTIATION}"):
        return rest[: -len(_NO_NEGOTIATION)].rstrip()
    return f"({rest}) {_NO_NEGOTIATION}" if _has_alternatives(rest) else f"{rest} {_NO_NEGOTIATION}".lstrip()


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


class LogCursor(NamedTuple):
    """The messages that the user looks at, beside the row of the list's cursor."""

    row: int = 0
    """The event of a row in which another event was selected."""
    meant: int = 0
    """That event, for example an answer whose row is that of its request."""
    read_to: int = 0
    """The last event that was on the screen since the user left the end."""
    compared: int = 0
    """The first of two messages to compare; 0 for none."""

    def selected(self, row: int, n: int) -> LogCursor:
        """Event `n`, which is in the row of event `row`, was selected."""
        return self._replace(row=row, meant=n)

    def moved(self, row: int) -> LogCursor:
        """The cursor is on the row of event `row`."""
        return self if row == self.row else self._replace(row=0, meant=0)

    def shown(self, row: int, answer: int) -> int:
        """Return the event to show for the row of event `row`: the one selected in it, its answer, or itself."""
        return self.meant if row and row == self.row else answer or row

    def seen(self, last: int, *, at_end: bool) -> LogCursor:
        """The last event on the screen is `last`, and with `at_end` the end is followed."""
        return self._replace(read_to=last if at_end else max(last, self.read_to))

    def chosen(self, n: int) -> tuple[LogCursor, tuple[int, int] | None]:
        """Choose event `n` to compare. The second choice of another event returns both."""
        if not self.compared:
            return self._replace(compared=n), None
        return self._replace(compared=0), (self.compared, n) if n and n != self.compared else None


class LogFacts(NamedTuple):
    """The facts that the verbs of the log depend on."""

    rows: int = 1
    live: bool = True
    """The session can send."""
    at_end: bool = True
    """The latest moment is shown: a recording at another one has these keys for its player."""
    filtered: bool = False
    can_clear: bool = False
    """A filter is in force or typed, or one of two messages to compare is chosen."""
    searched: bool = False
    folds: bool = True
    by_exchange: bool = False
    is_one_exchange: bool = False
    matching: int = 0
    """Events that match the filter."""
    hidden: int = 0
    """Events that are folded into other rows."""
    findings: int = 0
    marks: int = 0
    current: int = 0
    """The event under the cursor; 0 for none."""
    marked: bool = False
    has_partner: bool = False
    sent: bool = False
    """The event is our message, or the answer to it."""


_WORKS: dict[str, Callable[[LogFacts], bool]] = {
    "messages.all": lambda facts: facts.can_clear,
    "messages.send-again": lambda facts: facts.live,
    "messages.edit-again": lambda facts: facts.live,
    **dict.fromkeys(
        ("messages.next-hit", "messages.previous-hit", "messages.next-finding", "messages.previous-finding"),
        lambda facts: facts.at_end,
    ),
}
"""When verbs work that do not always work; otherwise their keys go to what is around the log."""

_FOLD: Offer[LogFacts] = Offer(
    "messages.fold",
    lambda facts: not facts.folds or facts.hidden > 0,
    lambda facts: "unfold" if facts.folds else "fold",
)
LOG_VERBS: VerbRules[LogFacts] = VerbRules(
    _WORKS,
    (
        Offer("list.select", title=lambda facts: "" if facts.live else "go there"),
        Offer("messages.filter"),
        Offer("messages.next-hit", lambda facts: facts.searched),
        Offer("messages.next-finding", lambda facts: facts.findings > 0),
        Offer("messages.mark", lambda facts: facts.current > 0, lambda facts: "unmark" if facts.marked else "mark"),
        Offer("messages.next-mark", lambda facts: facts.marks > 0),
        _FOLD,
        Offer("messages.exchange", title=lambda facts: "all" if facts.is_one_exchange else ""),
        Offer("messages.partner", lambda facts: facts.has_partner),
        Offer("messages.timeline"),
        Offer("messages.send-again", lambda facts: facts.live and facts.sent),
        Offer("messages.edit-again", lambda facts: facts.live and facts.sent),
        Offer("messages.follow"),
        Offer("messages.times"),
        # A log with the whole screen has its way out at the right of the footer.
        Offer("app.zoom", lambda facts: not facts.by_exchange),
    ),
)
EXCHANGE_VERBS: VerbRules[LogFacts] = VerbRules(
    _WORKS,
    (
        Offer("messages.filter"),
        Offer("list.select"),
        Offer("messages.timeline"),
        Offer("messages.send-again"),
        _FOLD,
        Offer("messages.compare"),
        Offer("messages.follow"),
        Offer("messages.times"),
        Offer(
            "messages.export",
            title=lambda facts: f"export these {count(facts.matching)}" if facts.filtered else "export",
        ),
    ),
)
"""The same below the exchanges: verbs for the filtered events, whatever row the cursor is on."""


def footer_verbs(facts: LogFacts) -> list[tuple[str, str]]:
    """Return the verbs for the row under the cursor, each with its title, or `""` for its usual one."""
    return LOG_VERBS.line(facts) if facts.rows else [("messages.filter", "")]
