"""Compares two recorded conversations: aligns their exchanges and compares each pair under the rules.

Exchanges are paired if method and parameters are equal, in order; else if the same call is in another position; else if
only the arguments differ. Messages that the server sends on its own (notifications, requests, invalid messages) are
aligned in the same way: inside the exchange that they belong to, or outside of all.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from typing import Any, Literal, NamedTuple

from inspector.compare.alignment import align, pair_by_key
from inspector.compare.json_values import Digests, exact_digest, read
from inspector.compare.rules import DEFAULT, ComparisonRules, compiled
from inspector.compare.values import Difference, compare_under
from inspector.journal.format import Dir, Kind
from inspector.journal.index import STATE_NAMES, State
from inspector.journal.journal import Journal
from inspector.journal.query import Query
from inspector.protocol.jsonrpc import NotJson, Shape

MAX_INSIDE = 2_000
"""Messages that are aligned inside one exchange; further ones are only counted."""
LABEL = 200

StepKind = Literal["same", "changed", "only-a", "only-b"]


class ConversationDifference(NamedTuple):
    """One difference inside a pair of exchanges: in the request, the answer, or the messages in between."""

    part: Literal["request", "answer", "state", "message"]
    a: int
    b: int
    """The events that differ, by number; 0 if a side has none."""
    difference: Difference | None = None
    """The difference between the two messages; None if one is missing (see `what`)."""
    what: str = ""

    def as_json(self) -> dict[str, Any]:
        """For `--json`."""
        document: dict[str, Any] = {"part": self.part, "event_a": self.a or None, "event_b": self.b or None}
        if self.what:
            document["what"] = self.what
        return document | (self.difference.as_json() if self.difference is not None else {})


@dataclass(slots=True)
class ConversationStep:
    """One exchange, or one message outside of exchanges: in both recordings, or in one."""

    kind: StepKind
    method: str
    name: str
    """Its subject: a tool's name, a URI; text of the server or the client."""
    a: int
    b: int
    """The request's event on either side; 0 if there is none."""
    alone: bool = False
    """Whether it is not an exchange of ours but a message that the server sent on its own."""
    moved: bool = False
    """Whether its position among the others differs."""
    findings: list[ConversationDifference] = field(default_factory=list)
    ignored: int = 0
    """Differences that the rules ignore."""

    def as_json(self) -> dict[str, Any]:
        """For `--json`."""
        return {
            "kind": self.kind,
            "method": self.method,
            "name": self.name,
            "event_a": self.a or None,
            "event_b": self.b or None,
            "moved": self.moved,
            "differences": [finding.as_json() for finding in self.findings],
        }


@dataclass(slots=True)
class Conversation:
    """Two conversations side by side, in the order of A; steps only in B are where they occurred."""

    steps: list[ConversationStep] = field(default_factory=list)
    covered: int = 0
    """Exchanges that were skipped because another comparison covers them."""

    @property
    def same(self) -> bool:
        """Whether nothing differs."""
        return all(step.kind == "same" for step in self.steps)

    @property
    def ignored(self) -> int:
        """Differences that the rules ignore."""
        return sum(step.ignored for step in self.steps)

    def count(self, kind: StepKind) -> int:
        """Return the number of steps of a kind."""
        return sum(step.kind == kind for step in self.steps)


SURFACE_METHODS = frozenset(
    ("initialize", "server/discover", "tools/list", "resources/list", "resources/templates/list", "prompts/list")
)
"""Methods that `compare.surface` compares better."""


def compare_conversations(
    a: Journal, b: Journal, rules: ComparisonRules = DEFAULT, *, without: frozenset[str] = frozenset()
) -> Conversation:
    """Compare the conversations of two recordings, without exchanges of the methods in `without`.

    Both recordings are read once, one event at a time; only digests and numbers are kept.
    """
    side_a, side_b = _Side(a, rules, without), _Side(b, rules, without)
    conversation = Conversation(covered=max(side_a.covered, side_b.covered))
    conversation.steps += _aligned(side_a, side_b, side_a.exchanges, side_b.exchanges, alone=False)
    conversation.steps += _aligned(side_a, side_b, side_a.inside.get(0, []), side_b.inside.get(0, []), alone=True)
    return conversation


class _Item(NamedTuple):
    """A request of ours, or a message of the server, with its key for the alignment."""

    n: int
    method: str
    name: str
    key: bytes
    """The digest of its parameters, under the rules."""


class _Side:
    """One recording, read once: its exchanges, and the server's messages inside each (0: outside)."""

    def __init__(self, journal: Journal, rules: ComparisonRules, without: frozenset[str]) -> None:
        self.journal = journal
        self.rules = rules
        self.exchanges: list[_Item] = []
        self.inside: dict[int, list[_Item]] = {}
        self.more: dict[int, int] = {}
        """The number of messages beyond `MAX_INSIDE`, by exchange."""
        self.covered = 0
        left_out: set[int] = set()
        index = journal.index
        for n in _ALL.forwards(index):
            if _ASKED.fits(index, n):
                if index.method(n) in without:
                    left_out.add(n)
                    self.covered += 1
                else:
                    self.exchanges.append(self._item(n))
            elif _SAID.fits(index, n) or self._answers_nothing(n):
                self._add_message(n, left_out)

    def _answers_nothing(self, n: int) -> bool:
        """Whether an answer, or an array of messages, answers no request, or is a second answer."""
        index = self.journal.index
        return not index.pair(n) or index.state(n) == State.DOUBLED

    def _add_message(self, n: int, left_out: set[int]) -> None:
        """Add a message of the server that is not an answer to a request."""
        index = self.journal.index
        around = index.parent(n) or (index.pair(n) if index.shape(n) is Shape.NOTIFICATION else 0)
        if around in left_out:
            return
        kept = self.inside.setdefault(around, [])
        if around and len(kept) >= MAX_INSIDE:
            self.more[around] = self.more.get(around, 0) + 1
        else:
            kept.append(self._item(n))

    def message(self, n: int) -> Any:
        """Return the message of event `n`; its text if it is not JSON; None for no event."""
        if not n:
            return None
        event = self.journal.event(n)
        try:
            return read(event.raw if event.raw is not None else event.bytes)
        except NotJson:
            return event.text

    def _item(self, n: int) -> _Item:
        message = self.message(n)
        params = message.get("params") if isinstance(message, dict) else message
        method = self.journal.index.method(n) or ("(batch)" if type(message) is list else "(no message)")
        name = _name_of(params)
        machine = compiled(self.rules, method, name)
        digests = Digests(machine)
        state = machine.root.step("params")
        if not isinstance(params, dict):
            return _Item(n, method, name, digests.of(params, state))
        parts = [(key, digests.of(value, state.step(key))) for key, value in params.items() if key != "_meta"]
        return _Item(n, method, name, exact_digest([[key, part.hex()] for key, part in sorted(parts)]))


_ASKED = Query(dir=Dir.SEND, shape=(Shape.REQUEST, Shape.BATCH))
_SAID = Query(kind=Kind.RPC, dir=Dir.RECV, shape=(Shape.REQUEST, Shape.NOTIFICATION, Shape.NONE)) | Query(
    kind=Kind.INVALID, dir=Dir.RECV
)
_ALL = _ASKED | _SAID | Query(dir=Dir.RECV, shape=(Shape.RESULT, Shape.ERROR, Shape.BATCH))


def _name_of(params: Any) -> str:
    """Return the subject of a request: a name, a URI, or the reference of a completion."""
    if not isinstance(params, dict):
        return ""
    about = params.get("ref") if isinstance(params.get("ref"), dict) else params
    assert isinstance(about, dict)
    return next((value[:LABEL] for key in ("name", "uri", "level") if type(value := about.get(key)) is str), "")


def _aligned(
    side_a: _Side, side_b: _Side, items_a: Sequence[_Item], items_b: Sequence[_Item], *, alone: bool
) -> Iterator[ConversationStep]:
    """Yield the steps of two sequences: pairs, and steps of only one side, in the order of A."""
    to_b, moved = _pairs(items_a, items_b)
    taken = set(to_b.values())
    at = 0
    for i, item in enumerate(items_a):
        j = to_b.get(i)
        if j is None:
            yield ConversationStep("only-a", item.method, item.name, item.n, 0, alone)
            continue
        if i not in moved:
            yield from (_only_b(items_b[k], alone) for k in range(at, j) if k not in taken)
            at = max(at, j + 1)
        other = items_b[j]
        step = ConversationStep("same", item.method, item.name, item.n, other.n, alone, i in moved)
        _compare_pair(side_a, side_b, step)
        yield step
    yield from (_only_b(items_b[k], alone) for k in range(at, len(items_b)) if k not in taken)


def _only_b(item: _Item, alone: bool) -> ConversationStep:
    return ConversationStep("only-b", item.method, item.name, 0, item.n, alone)


def _pairs(items_a: Sequence[_Item], items_b: Sequence[_Item]) -> tuple[dict[int, int], set[int]]:
    """Return which item of A is which of B, and which of them are in another order there.

    Of equally good alignments the result is the same if A and B are swapped.
    """
    if (len(items_b), list(map(_whole, items_b))) < (len(items_a), list(map(_whole, items_a))):
        to_a, elsewhere = _paired(items_b, items_a)
        return {i: j for j, i in to_a.items()}, {to_a[j] for j in elsewhere}
    return _paired(items_a, items_b)


def _whole(item: _Item) -> tuple[str, str, bytes]:
    return item.method, item.name, item.key


def _paired(items_a: Sequence[_Item], items_b: Sequence[_Item]) -> tuple[dict[int, int], set[int]]:
    to_b = dict(align(list(map(_whole, items_a)), list(map(_whole, items_b))))
    taken = set(to_b.values())

    def left(items: Sequence[_Item], known: Collection[int]) -> list[tuple[int, _Item]]:
        return [(at, item) for at, item in enumerate(items) if at not in known]

    # Equal items in another order; then, between the same two pairs, those with the same name.
    whole_a = [(at, _whole(item)) for at, item in left(items_a, to_b)]
    whole_b = [(at, _whole(item)) for at, item in left(items_b, taken)]
    moved = dict(pair_by_key(whole_a, whole_b))
    fixed = to_b.items()
    after_a, after_b = _gaps(len(items_a), {i for i, _ in fixed}), _gaps(len(items_b), {j for _, j in fixed})
    to_b |= moved
    taken |= set(moved.values())
    named_a = [(at, (item.method, item.name, after_a[at])) for at, item in left(items_a, to_b)]
    named_b = [(at, (item.method, item.name, after_b[at])) for at, item in left(items_b, taken)]
    return to_b | dict(pair_by_key(named_a, named_b)), set(moved)


def _gaps(length: int, fixed: Collection[int]) -> list[int]:
    """Return for each item how many ordered pairs come before it."""
    return [0, *accumulate(at in fixed for at in range(length))][:length]


def _compare_pair(side_a: _Side, side_b: _Side, step: ConversationStep) -> None:
    """Compare two exchanges, or two messages of the server, and put the differences into `step`."""
    _messages(side_a, side_b, step, "message" if step.alone else "request", step.a, step.b)
    if side_a.journal.index.shape(step.a) in (Shape.REQUEST, Shape.BATCH):
        _answers(side_a, side_b, step, step.a, step.b)
    if not step.alone:
        within_a, within_b = side_a.inside.get(step.a, []), side_b.inside.get(step.b, [])
        for inner in _aligned(side_a, side_b, within_a, within_b, alone=True):
            step.ignored += inner.ignored
            if inner.kind in ("only-a", "only-b"):
                where = "A" if inner.kind == "only-a" else "B"
                what = f"{' '.join(filter(None, (inner.method, inner.name)))} only in {where}"
                step.findings.append(ConversationDifference("message", inner.a, inner.b, None, what))
            step.findings += inner.findings
        more_a, more_b = side_a.more.get(step.a, 0), side_b.more.get(step.b, 0)
        if more_a != more_b:
            text = f"{more_a:,} more messages in A, {more_b:,} in B"
            step.findings.append(ConversationDifference("message", step.a, step.b, None, text))
    if step.findings:
        step.kind = "changed"


def _answers(side_a: _Side, side_b: _Side, step: ConversationStep, a: int, b: int) -> None:
    index_a, index_b = side_a.journal.index, side_b.journal.index
    answer_a, answer_b = index_a.pair(a), index_b.pair(b)
    if answer_a and answer_b:
        _messages(side_a, side_b, step, "answer", answer_a, answer_b)
    state_a, state_b = (STATE_NAMES[index.state(n)] for index, n in ((index_a, a), (index_b, b)))
    if state_a != state_b:
        step.findings.insert(
            0, ConversationDifference("state", answer_a or a, answer_b or b, None, f"{state_a} → {state_b}")
        )


def _messages(
    side_a: _Side, side_b: _Side, step: ConversationStep, part: Literal["request", "answer", "message"], a: int, b: int
) -> None:
    if side_a.journal.event(a).bytes == side_b.journal.event(b).bytes:
        return
    one, other = side_a.message(a), side_b.message(b)
    if part == "request":
        one, other = _without_meta(one), _without_meta(other)
    compared = compare_under(one, other, compiled(side_a.rules, step.method, step.name))
    step.ignored += compared.ignored
    step.findings += (ConversationDifference(part, a, b, difference) for difference in compared.differences)


def _without_meta(message: Any) -> Any:
    """Return a request without its metadata (tokens, versions, trace), which is new with every connection."""
    params = message.get("params") if isinstance(message, dict) else None
    if not isinstance(params, dict) or "_meta" not in params:
        return message
    return {**message, "params": {key: value for key, value in params.items() if key != "_meta"}}
