"""The query and the cursor of the message log, and the rules for when its verbs work."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from itertools import islice
from typing import NamedTuple

from inspector.journal.exchange import rounds
from inspector.journal.filters import Filter, FilterError, parse
from inspector.journal.format import Dir
from inspector.journal.index import Index
from inspector.journal.journal import Journal
from inspector.journal.query import Query
from inspector.protocol.jsonrpc import Shape
from inspector.text import count
from inspector.tui.model.verbs import Offer, VerbRules

CALLS = ("tools/call", "resources/read", "prompts/get")
"""Requests that the user sends; others are sent automatically."""
CALLS_SENT = Query(dir=Dir.SEND, shape=Shape.REQUEST, method=CALLS)
_FEW = 8
"""Most messages with the same id that are compared: request and answer, in both directions."""


class Fold(Enum):
    """The events that share a row: all of the start of a session, those of one message, or none."""

    START = "start"
    MESSAGE = "message"
    NOTHING = "nothing"

    @property
    def further(self) -> Fold:
        """The next one: with more rows, and after the last one the first."""
        return {Fold.START: Fold.MESSAGE, Fold.MESSAGE: Fold.NOTHING, Fold.NOTHING: Fold.START}[self]


class LogQuery(NamedTuple):
    """Which events have rows. Each method returns the next query."""

    filter: Filter | None = None
    """The filter in force; None shows everything."""
    changed_after: int = 0
    """The last event when the filter changed: what fails after it is shown in spite of the filter."""
    set_after: int | None = None
    """The last event when the program set the filter, which then ends with another call and when the user leaves the
    log; None: the user typed it."""
    typed: str = ""
    """The filter of the user that the program replaced by its own."""
    searched: Filter | None = None
    """The last filter in force, even if it was cleared since: the next match is a match of it."""
    problem: str = ""
    """Why the text of the filter field is not in force."""
    run: str = ""
    """The filter of the run of saved calls that the list shows, in force or not."""
    chosen_fold: Fold = Fold.START
    """What the user chose to fold."""
    by_exchange: bool = False
    """One row an exchange: the log has the whole screen."""

    @property
    def source(self) -> str:
        """The text of the filter in force."""
        return "" if self.filter is None else self.filter.source

    @property
    def fold(self) -> Fold:
        """Return what is folded: the start of a session only where nothing else selects the rows."""
        selects = self.filter is not None or self.by_exchange
        return Fold.MESSAGE if selects and self.chosen_fold is Fold.START else self.chosen_fold

    def unfolded(self) -> LogQuery:
        """Fold less; after the least, fold all again."""
        after = self._replace(chosen_fold=self.fold.further)
        return after if after.fold is not self.fold else after.unfolded()

    @property
    def rows(self) -> tuple[str, Fold, bool]:
        """All that the rows depend on: other rows are needed if it differs."""
        return self.source, self.fold, self.by_exchange

    @property
    def is_one_exchange(self) -> bool:
        """Whether only one exchange is shown."""
        return self.source.startswith("exchange:") and " " not in self.source

    def narrowed(self, text: str, last: int, incomplete: str = "") -> LogQuery:
        """Filter by a text, after event `last`. A text that is wrong, or that is still typed, changes nothing."""
        if incomplete:
            return self._replace(problem=incomplete)
        try:
            expression = parse(text) or None
        except FilterError as error:
            return self._replace(problem=error.reason)
        after = self._replace(filter=expression, searched=expression or self.searched, problem="")
        return after if after.source == self.source else after._replace(changed_after=last)

    def _narrowed(self, text: str, last: int) -> LogQuery:
        """Filter by a text of the program: the next match is still one of what the user typed."""
        return self.narrowed(text, last)._replace(searched=self.searched)

    def by_user(self) -> LogQuery:
        """The user types: the filter stays until the user clears it."""
        return self._replace(set_after=None, typed="")

    def by_program(self, last: int) -> LogQuery:
        """The program has set the filter after event `last`: it ends when the user sends another call."""
        return self._replace(set_after=last)

    def narrowed_by_program(self, text: str, last: int) -> LogQuery:
        """The program filters by a text, after event `last`, until the user sends another call or leaves the log."""
        typed = self.source if self.set_after is None else self.typed
        return self._narrowed(text, last)._replace(set_after=last, typed=typed)

    def ended(self, last: int) -> LogQuery:
        """The filter of the program ends, except that of the run in the list: the user leaves the log."""
        if self.set_after is None or self.source == self.run:
            return self
        if self.run and not self.typed:
            return self._narrowed(self.run, last).by_program(last)
        return self._typed_again(last)

    def _typed_again(self, last: int) -> LogQuery:
        """Filter by what the user typed before the program set its own filter."""
        return self.narrowed(self.typed, last).by_user()

    def after_calls(self, journal: Journal) -> LogQuery:
        """Return the query after the calls that followed the one for which the program set the filter.

        The filter moves with a call that continues its exchange, and ends with another one.
        """
        filter, last = self.filter, journal.index.count
        source: str | None = self.source
        if filter is None or self.set_after is None:
            return self
        for n in CALLS_SENT.forwards(journal.index, self.set_after):
            if not filter.matches(journal, n):
                moved = exchange_filter(journal, n)
                source = moved if source and set(source.split("|")) < set(moved.split("|")) else None
        if source is None:
            return self._typed_again(last)
        return (self if source == self.source else self._narrowed(source, last)).by_program(last)

    def with_run(self, run: str, last: int) -> LogQuery:
        """The list shows this run of saved calls after event `last`, or none (`""`). A filter that was typed stays."""
        after = self._replace(run=run)
        return (
            after._narrowed(run, last).by_program(last) if run != self.run and self.source in ("", self.run) else after
        )


def exchange_filter(journal: Journal, n: int) -> str:
    """Return the filter for the exchange of event `n`, and for the other rounds of a call that needed input."""
    root = journal.index.root_of(n)
    return (
        "|".join(_one_exchange(journal.index, round_n) for round_n in rounds(journal, root))
        if root
        else f"exchange:#{n}"
    )


def _one_exchange(index: Index, root: int) -> str:
    """Return the filter for the exchange of request `root`: by id if the id is unique, else by number."""
    id = index.id(root)
    if type(id) is int and index.dir(root) == Dir.SEND:
        same = list(islice(Query(id=id).forwards(index), _FEW + 1))
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

    def event_to_show(self, row: int, answer: int) -> int:
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
    fold: Fold = Fold.START
    by_exchange: bool = False
    is_one_exchange: bool = False
    matching: int = 0
    """Events that match the filter."""
    hidden: int = 0
    """Events that are folded into other rows."""
    sent: bool = False
    """The event is our message, or the answer to it."""
    comparing: bool = False
    """One of two messages to compare is chosen."""


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

LOG_VERBS: VerbRules[LogFacts] = VerbRules(
    _WORKS,
    (
        Offer("messages.compare", lambda facts: facts.comparing, "compare with it"),
        Offer("messages.all", lambda facts: facts.comparing, "stop comparing"),
        Offer("list.select", lambda facts: facts.rows > 0, lambda facts: "open" if facts.live else "go there"),
        Offer("messages.filter"),
        # While the filter is in force, each row matches.
        Offer("messages.next-hit", lambda facts: facts.searched and not facts.filtered),
        Offer(
            "messages.exchange",
            lambda facts: facts.rows > 0,
            lambda facts: "all calls" if facts.is_one_exchange else "",
        ),
        Offer("messages.send-again", lambda facts: facts.live and facts.sent),
        Offer(
            "messages.export",
            lambda facts: facts.by_exchange and facts.filtered,
            lambda facts: f"export these {count(facts.matching)}",
        ),
        Offer("messages.compare", lambda facts: facts.rows > 1 and not facts.comparing),
        Offer("messages.timeline"),
        Offer(
            "messages.fold",
            lambda facts: facts.fold is Fold.NOTHING or facts.hidden > 0,
            lambda facts: "fold" if facts.fold is Fold.NOTHING else "unfold",
        ),
    ),
)
