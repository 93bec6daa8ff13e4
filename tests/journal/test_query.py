"""A query finds the same as a loop over all events."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.journal import query as query_module
from inspector.journal.format import Dir, Kind
from inspector.journal.index import Index, State
from inspector.journal.query import Query
from inspector.protocol.jsonrpc import Shape

METHODS = ("ping", "tools/call", "tools/list", "notifications/progress")
CHANNELS = ("stdio", "post-1", "get-1")


def _message(shape: Shape, method: str, id: int | str) -> Any:
    if shape is Shape.BATCH:
        return [{"jsonrpc": "2.0", "id": id, "method": method}]
    return {
        Shape.NONE: {"other": 1},
        Shape.REQUEST: {"jsonrpc": "2.0", "id": id, "method": method},
        Shape.NOTIFICATION: {"jsonrpc": "2.0", "method": method},
        Shape.RESULT: {"jsonrpc": "2.0", "id": id, "result": {}},
        Shape.ERROR: {"jsonrpc": "2.0", "id": id, "error": {"code": 1, "message": ""}},
    }[shape]


events = st.tuples(
    st.sampled_from(Kind), st.sampled_from(Dir), st.sampled_from(Shape), st.sampled_from(METHODS),
    st.sampled_from((1, 2, "1")), st.sampled_from(CHANNELS), st.sampled_from((0, 0, 1)), st.integers(0, 50),
)  # fmt: skip


def _index(events: list[Any]) -> Index:
    index = Index()
    for kind, dir, shape, method, id, channel, conn, t in events:
        message = _message(shape, method, id) if kind is Kind.RPC else None
        index.add(t, dir, kind, channel, 0, 0, message, conn=conn)
    return index


def some(values: Any) -> st.SearchStrategy[Any]:
    return st.none() | st.sampled_from(values) | st.sets(st.sampled_from(values), max_size=3)


queries = st.fixed_dictionaries({}, optional={
    "kind": some(tuple(Kind)), "dir": some(tuple(Dir)), "shape": some(tuple(Shape)), "state": some(tuple(State)),
    "method": some((*METHODS, "unheard of")), "prefix": st.sampled_from(("", "tools/", "n")),
    "id": st.sampled_from((1, 2, "1", 7)), "channel": some((*CHANNELS, "post-9")), "conn": st.sampled_from((0, 1, 2)),
    "inside": st.integers(0, 4), "since": st.integers(0, 50), "until": st.integers(0, 50),
    "exchange": st.integers(1, 3),
})  # fmt: skip


def _fits(index: Index, n: int, conditions: dict[str, Any]) -> bool:
    """Check one event, one condition after the other."""
    facts: dict[str, Callable[[int], Any]] = {
        "kind": index.kind, "dir": index.dir, "shape": index.shape, "state": index.state, "method": index.method,
        "channel": index.channel, "conn": index.conn, "inside": index.parent,
    }  # fmt: skip
    for name, value in conditions.items():
        if name == "prefix":
            fits = index.method(n).startswith(value)
        elif name == "id":
            fits = index.id(n) == value and type(index.id(n)) is type(value)
        elif name == "since":
            fits = index.time(n) >= value
        elif name == "until":
            fits = index.time(n) <= value
        elif name == "exchange":
            fits = n in index.exchange(value)
        else:
            fact = facts[name](n)
            fits = value is None or (fact in value if isinstance(value, set) else fact == value)
        if not fits:
            return False
    return True


@given(st.lists(events, min_size=3, max_size=40), queries, st.integers(0, 42), st.none() | st.integers(0, 42))
def test_each_way_of_asking(rows: list[Any], conditions: dict[str, Any], after: int, upto: int | None) -> None:
    index = _index(rows)
    query = Query(**conditions)
    last = index.count if upto is None else min(upto, index.count)
    right = [n for n in range(after + 1, last + 1) if _fits(index, n, conditions)]
    with patch.object(query_module, "_FIRST", 2), patch.object(query_module, "_SLICE", 7):
        assert query.numbers(index, after, upto) == right
        assert list(query.forwards(index, after, upto)) == right
        assert list(query.backwards(index, after, upto)) == right[::-1]
        assert query.first(index, after, upto) == (right[0] if right else 0)
        assert query.last(index, after, upto) == (right[-1] if right else 0)
        assert query.count(index, after, upto) == len(right)
    assert [n for n in range(1, index.count + 1) if query.fits(index, n)] == query.numbers(index)


@given(st.lists(events, max_size=40), queries, queries)
def test_two_queries_by_kind_direction_and_shape(rows: list[Any], one: dict[str, Any], other: dict[str, Any]) -> None:
    index = _index(rows)
    one, other = ({name: facts[name] for name in ("kind", "dir", "shape") if name in facts} for facts in (one, other))
    right = [n for n in range(1, index.count + 1) if _fits(index, n, one) or _fits(index, n, other)]
    joined = Query(**one) | Query(**other)
    assert joined.numbers(index) == right
    assert [n for n in range(1, index.count + 1) if joined.fits(index, n)] == right


def test_only_such_queries_can_be_joined() -> None:
    with pytest.raises(ValueError, match="only queries by kind"):
        Query(kind=Kind.LIFE) | Query(method="ping")


def test_what_is_new_is_requested() -> None:
    index = _index([(Kind.LIFE, Dir.LOCAL, Shape.NONE, "", 1, "", 0, t) for t in range(3)])
    life = Query(kind=Kind.LIFE)
    assert life.numbers(index, after=1) == [2, 3]
    index.add(9, Dir.LOCAL, Kind.LIFE, "", 0, 0)
    assert life.numbers(index, after=3) == [4]
    assert life.numbers(index, after=4) == []


def test_where_few_fit_and_where_many_do() -> None:
    rows = [(Kind.RPC, Dir.SEND, Shape.REQUEST, "ping", n, "stdio", 0, n) for n in range(300)]
    rows[::100] = [(Kind.RPC, Dir.SEND, Shape.REQUEST, "tools/call", n, "stdio", 0, n) for n in (0, 100, 200)]
    index = _index(rows)
    assert Query(method="tools/call", shape=Shape.REQUEST).numbers(index) == [1, 101, 201]
    assert Query(method="ping").count(index) == 297
    assert Query(id=200).numbers(index) == [201]


def test_every_kind_direction_and_shape() -> None:
    """Each is distinguished from all others, also if their codes need two bytes."""
    rows = [(Kind.RPC, dir, shape, "ping", 1, "stdio", 0, 0) for dir in Dir for shape in Shape]
    rows += [(kind, dir, Shape.NONE, "", 1, "stdio", 0, 0) for kind in Kind if kind is not Kind.RPC for dir in Dir]
    index = _index(rows)
    for n, (kind, dir, shape, *_) in enumerate(rows, 1):
        assert Query(kind, dir, shape).numbers(index) == [n]
    for shape in Shape:
        assert Query(kind=Kind.RPC, shape=shape).numbers(index) == [
            n for n, row in enumerate(rows, 1) if row[0] is Kind.RPC and row[2] is shape
        ]
    for kind in Kind:
        assert Query(kind).numbers(index) == [n for n, row in enumerate(rows, 1) if row[0] is kind]
    for dir in Dir:
        assert Query(dir=dir).numbers(index) == [n for n, row in enumerate(rows, 1) if row[1] is dir]
    errors, results = (Query(shape=shape, dir=Dir.RECV) for shape in (Shape.ERROR, Shape.RESULT))
    assert (errors | results).count(index) == 2


def test_further_conditions_where_few_are_left() -> None:
    rows = [(Kind.RPC, Dir.SEND, Shape.REQUEST, "ping", n, "stdio", 0, n) for n in range(300)]
    for n in range(0, 300, 30):
        rows[n] = (Kind.LIFE, Dir.LOCAL, Shape.NONE, "", 0, "post-1" if n % 60 else "stdio", n % 90 == 0, n)
    index = _index(rows)
    assert Query(kind=Kind.LIFE, channel="post-1").numbers(index) == [31, 91, 151, 211, 271]
    assert Query(kind=Kind.LIFE, channel="post-1", conn=0).numbers(index) == [31, 151, 211]
    assert Query(kind=Kind.LIFE, since=90, until=150).numbers(index) == [91, 121, 151]
    assert Query(kind=Kind.LIFE, channel=("post-1", "get-1"), until=100).numbers(index) == [31, 91]
