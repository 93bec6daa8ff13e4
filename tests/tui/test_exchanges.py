"""The rows of the exchange view, against a plain evaluation of what they should be."""

from __future__ import annotations

import random

import pytest

from inspector.journal.filters import parse
from inspector.journal.index import Index
from inspector.protocol.jsonrpc import Shape
from inspector.tui.log.reader import MessageView
from inspector.tui.log.rows import MessageRows
from inspector.tui.log.waterfall import ExchangeRows, Stats, TimeSpan, WaterfallRows
from tests.tui.recorded_conversation import Talk, example


def exchange_view(talk: Talk, text: str = "") -> MessageView:
    """The exchanges that a filter leaves, up to the last event."""
    view = MessageView(talk.journal, parse(text) if text else None, by_exchange=True)
    catch_up(view)
    return view


def rows(view: MessageView) -> list[tuple[int, int]]:
    return [(view.exchanges.root(row), view.exchanges[row]) for row in range(len(view.exchanges))]


def catch_up(view: MessageView) -> None:
    while True:
        view.apply(view.scan(view.journal.index.count))
        if not view.behind:
            return


def is_answer(index: Index, n: int) -> bool:
    pair = index.pair(n)
    return bool(pair) and index.shape(n) in (Shape.RESULT, Shape.ERROR) and index.pair(pair) == n


def expected(talk: Talk, text: str) -> list[tuple[int, int]]:
    index = talk.journal.index
    roots = {n: index.root_of(n) or n for n in range(1, index.count + 1)}
    matching = {roots[n] for n in parse(text).numbers(talk.journal)}
    return sorted((root, n) for n, root in roots.items() if root in matching and not is_answer(index, n))


def test_an_exchange_is_a_row_with_what_happened_in_it_and_a_filter_leaves_whole_ones() -> None:
    view = exchange_view(example())
    assert rows(view) == [(1, 1), (2, 2), (4, 4), (4, 5), (4, 6), (8, 8), (10, 10), (11, 11)]
    assert view.exchanges.position(7) == view.exchanges.position(4) == 2
    assert view.exchanges.position(99) is None
    assert view.exchanges.stats == Stats(3, 1, 14_000, 612_000)
    view = exchange_view(example(), "hello")
    assert rows(view) == [(4, 4), (4, 5), (4, 6)]
    assert view.matching == 2


def bars(talk: Talk, now: int | None = None) -> WaterfallRows:
    """The rows of a conversation as they are looked at, with its bars; `now` while it goes on."""
    view = exchange_view(talk)
    assert view.exchanges is not None
    waterfall = WaterfallRows(MessageRows(talk.journal), view.exchanges)
    waterfall.now = now
    assert waterfall.look_at(0, 20)
    return waterfall


@pytest.mark.parametrize(("others", "ended", "now", "span"), [
    (True, 0, 90_000_000, TimeSpan(10_000, 50_000)), (True, 90_000, None, TimeSpan(10_000, 50_000)),
    (False, 90, None, TimeSpan(10_000, 90_000)),
])  # fmt: skip
def test_the_request_that_stays_open_does_not_stretch_the_bars_of_others(
    others: bool, ended: int, now: int | None, span: TimeSpan
) -> None:
    talk = Talk()
    talk.at(10).ask(1, "subscriptions/listen")
    if others:
        talk.at(20).call(2, "echo")
        talk.at(50).say(2, "hello")
    if ended:
        talk.at(ended).answer(1, {})
    assert bars(talk, now).span == span


def with_gap() -> Talk:
    """Two calls of 100 ms, 100 s apart, and a third call right after."""
    talk = Talk()
    for id, ms in ((1, 0), (2, 100_100), (3, 100_200)):
        talk.at(ms).call(id, "echo")
        talk.at(ms + 100).say(id, "x")
    return talk


def test_a_gap_between_calls_is_folded_and_its_row_says_how_long_it_was() -> None:
    waterfall = bars(with_gap())
    assert waterfall.span == TimeSpan(0, 100_300_000, ((100_000, 100_100_000),))
    # A twentieth of the 300 ms without gaps: 100, 15 and 200 ms share the line.
    assert [waterfall.span.cell(ms * 1000, 63) for ms in (0, 100, 50_100, 100_100, 100_200)] == [0, 20, 21, 23, 43]
    lines = ["".join(segment.text for segment in waterfall.render(at, 140, False, False)) for at in range(3)]
    assert "1 m 40 s gap █" in lines[1]
    assert "┊" not in lines[0]
    assert "gap" not in lines[2]
    assert "┊" in lines[2]


def test_the_time_of_a_call_and_a_short_break_are_no_gap() -> None:
    talk = Talk()
    talk.at(0).call(1, "slow")
    talk.at(60_000).say(1, "x")
    talk.at(62_000).call(2, "echo")
    talk.say(2, "x")
    assert bars(talk).span.gaps == ()


def test_interleaved_exchanges_are_reported_apart_and_leave_when_nothing_in_them_fits() -> None:
    talk = Talk()
    talk.call(1, "a")
    talk.call(2, "b")
    everything, pending = exchange_view(talk), exchange_view(talk, "status:pending")
    assert rows(pending) == [(1, 1), (2, 2)]
    talk.notice("progress", progressToken=1, progress=1)
    talk.notice("progress", progressToken=2, progress=1)
    talk.say(1, "x")
    for view in (everything, pending):
        catch_up(view)
    assert rows(everything) == [(1, 1), (1, 3), (2, 2), (2, 4)]
    assert rows(pending) == [(2, 2), (2, 4)]


@pytest.mark.parametrize("text", ["", "status:done", "status:pending", "name:b", "progress", "method:tools/*"])
def test_growing_ends_where_a_fresh_look_would(text: str) -> None:
    chance = random.Random(11)
    talk = Talk()
    view = exchange_view(talk, text)
    asked: list[int] = []
    for step in range(250):
        choice = chance.random()
        if choice < 0.4 or not asked:
            talk.call(step, chance.choice("ab"))
            asked.append(step)
        elif choice < 0.6:
            talk.say(asked.pop(chance.randrange(len(asked))), "done")
        elif choice < 0.7:
            talk.receive_raw(b"noise")
        else:
            talk.notice("progress", progressToken=chance.choice(asked), progress=1)
        if chance.random() < 0.3:
            catch_up(view)
    catch_up(view)
    assert rows(view) == expected(talk, text)


def test_percentiles_are_those_of_the_exchanges_shown() -> None:
    talk = Talk()
    for id in range(1, 101):
        talk.at(id * 1000).call(id, "a" if id % 2 else "b")
        talk.at(id * 1000 + id).say(id, "x")
    everything, even = exchange_view(talk), exchange_view(talk, "name:b")
    assert everything.exchanges is not None
    assert even.exchanges is not None
    assert everything.exchanges.stats == Stats(100, 0, 50_000, 95_000)
    assert even.exchanges.stats == Stats(50, 0, 50_000, 96_000)
    assert ExchangeRows(talk.journal, filtered=False).stats == Stats()
