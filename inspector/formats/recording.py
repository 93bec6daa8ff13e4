"""A recording of the selected events, renumbered, for all commands that read recordings.

Each line has its old number in `was`; the header's `from` names the original recording. References (`for` of a life
event or a mark, the event of a finding) have the new numbers; a reference to an event that is not selected has the old
one, as `for_was`. An invalid line becomes an event `unreadable`.
"""

from __future__ import annotations

import hashlib
import uuid
from array import array
from collections.abc import Iterable, Iterator
from typing import IO, Any

from inspector.formats.selection import Selection
from inspector.journal.format import Kind, dumps, to_base64
from inspector.journal.index import State
from inspector.journal.journal import Journal
from inspector.protocol.jsonrpc import NotJson, Shape, parse


def write(journal: Journal, out: IO[str], numbers: Iterable[int] | None) -> list[str]:
    """Write the recording to `out`, event by event. Lines of a newer format version are unchanged."""
    chosen = Selection(journal, None if numbers is None else _with_marks(journal, numbers))
    if journal.raw_only:
        out.write(dumps(journal.header) + "\n")
        for n in chosen:
            out.write(journal.line(n).decode("utf-8", "replace") + "\n")
        return ["The recording has a newer format: its lines were copied unchanged."]
    ranks = _ranks(chosen)
    out.write(dumps(_header(journal, ranks)) + "\n")
    errors = invalid = last = 0
    for n in chosen:
        out.write(dumps(_event(journal, n, ranks)) + "\n")
        state = journal.index.state(n)
        errors += state == State.ERROR and journal.index.shape(n) in (Shape.RESULT, Shape.ERROR)
        invalid += state == State.INVALID
        last = max(last, journal.index.time(n))
    if journal.end_is_missing:
        return [
            "The recording has no end line: its writer was killed, or is still writing. The export has none either."
        ]
    ended = journal.ended or {"t": last, "reason": "the session was still open"}
    out.write(dumps({**ended, "kind": "end", "events": ranks[-1], "invalid": invalid, "errors": errors}) + "\n")
    return []


def _with_marks(journal: Journal, numbers: Iterable[int]) -> Iterator[int]:
    """Yield the numbers, and the events that mark one of them."""
    chosen: set[int] = set()
    for n in numbers:
        chosen.add(n)
        yield n
    yield from (at for at, about in journal.marks.between(1, len(journal)) if about in chosen)


def _ranks(chosen: Selection) -> array[int]:
    """Return, by old number, the count of selected events up to it: the new number of a selected event."""
    ranks = array("I", [0])
    rank = 0
    for n in range(1, chosen.count + 1):
        rank += n in chosen
        ranks.append(rank)
    return ranks


def _header(journal: Journal, ranks: array[int]) -> dict[str, Any]:
    """Return the header, with an id derived from the recording and the selection."""
    digest = hashlib.sha256(ranks.tobytes()).hexdigest()
    id = str(uuid.uuid5(uuid.NAMESPACE_OID, f"{journal.header.get('id')} {digest}"))
    source = {"id": journal.header.get("id"), "events": len(ranks) - 1}
    return {**journal.header, "id": id, "from": journal.header.get("from", source)}


def _event(journal: Journal, n: int, ranks: array[int]) -> dict[str, Any]:
    line = journal.line(n)
    try:
        value = parse(line)
    except NotJson:
        value = None
    if type(value) is not dict:
        value = {
            "n": n,
            "t": max(journal.index.time(n), 0),
            "dir": "local",
            "kind": "unreadable",
            "ch": "",
            "b64": to_base64(line),
        }
    value.setdefault("was", n)
    _refer(value, ranks)
    finding = value.get("finding")
    if journal.index.kind(n) == Kind.NOTE and type(finding) is dict:
        about = finding.get("n")
        value["finding"] = dict(finding)
        if type(about) is int and 0 < about < len(ranks):
            value["finding"]["n"] = ranks[about] if _is_chosen(about, ranks) else 0
    return {**value, "n": ranks[n]}


def _refer(value: dict[str, Any], ranks: array[int]) -> None:
    """Renumber the request that a life event is about."""
    named = value.get("for")
    if type(named) is not int or not 0 < named < len(ranks):
        return
    if _is_chosen(named, ranks):
        value["for"] = ranks[named]
    else:
        del value["for"]
        value["for_was"] = named


def _is_chosen(n: int, ranks: array[int]) -> bool:
    return ranks[n] > ranks[n - 1]
