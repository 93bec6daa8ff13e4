"""A Mermaid sequence diagram, as GitHub, GitLab and many editors draw it.

Only letters, digits and a few safe characters are unmodified; every other character is written as Mermaid's entity code
(`#59;`), so that no text of a server can end a line or become syntax. Renderers refuse more than 50,000 characters, so
a longer diagram is truncated with a note.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import IO

from inspector.formats.selection import Selection, target_of
from inspector.journal.filters.conditions import subjects_of
from inspector.journal.format import Dir, Event, Kind
from inspector.journal.index import State
from inspector.journal.journal import Journal
from inspector.protocol.jsonrpc import Shape
from inspector.text import duration, safe

MAX_LENGTH = 49_000
"""Maximum characters of a diagram. Mermaid's own limit (`maxTextSize`) is 50,000, and a diagram cannot raise it."""
MAX_LABEL = 80
"""Maximum characters of a name or other short text."""
MAX_READ = 1 << 20
"""Maximum bytes of a message that is searched for a name."""

_NOT_PLAIN = re.compile(r"[^A-Za-z0-9 _/.,()+*'?!@-]")
_END = re.compile(r"\b[Ee][Nn][Dd]\b")
_STATES = {
    State.PENDING: "never answered",
    State.CANCELLED: "cancelled",
    State.TIMED_OUT: "timed out",
    State.LATE: "late",
    State.UNKNOWN: "to an unknown request",
    State.DOUBLED: "a second one",
    State.LOST: "lost",
}
_LIFE = frozenset(("spawn", "exit", "ready", "failed", "lost", "reopen", "session-lost", "cancel", "timeout"))


def write(journal: Journal, out: IO[str], numbers: Iterable[int] | None) -> list[str]:
    """Write the diagram to `out`, line by line, up to the limit."""
    chosen = Selection(journal, numbers)
    label = target_of(journal).text("label")
    server = text(label) if label.strip() else "server"
    head = f"sequenceDiagram\n  participant C as client\n  participant S as {server}\n"
    out.write(head)
    length, drawn, total = len(head), 0, 0
    for n in chosen:
        line = _line(journal, n)
        if not line:
            continue
        total += 1
        if drawn < total - 1:
            continue  # An earlier line did not fit: the diagram has no gaps.
        length += len(line)
        if length > MAX_LENGTH:
            continue
        drawn += 1
        out.write(line)
    if not total:
        out.write("  Note over C,S: no messages\n")
    if drawn == total:
        return []
    missing = f"{total - drawn:,} of {total:,} lines are not drawn"
    out.write(f"  Note over C,S: {text(missing)}\n")
    return [f"A diagram is limited to 50,000 characters: {missing}. Select events with --filter or --events."]


def _line(journal: Journal, n: int) -> str:
    """Return the line of an event; empty if it is not drawn."""
    index = journal.index
    kind = index.kind(n)
    sender, receiver = ("C", "S") if index.dir(n) == Dir.SEND else ("S", "C")
    if kind == Kind.RPC:
        arrow = "-->>" if index.shape(n) in (Shape.RESULT, Shape.ERROR) else "->>"
        if index.shape(n) == Shape.NOTIFICATION:
            arrow = "-)"
        return f"  {sender}{arrow}{receiver}: {n} {_message(journal, n)}\n"
    if kind == Kind.INVALID:
        return f"  {sender}-x{receiver}: {n} not read as JSON\n"
    if kind == Kind.STDERR:
        output = next(journal.events(n, n)).text[: MAX_LABEL * 2]
        return f"  Note right of S: {n} stderr{text(' ' + output) if output.strip() else ''}\n"
    if kind == Kind.LIFE:
        event = next(journal.events(n, n))
        return _life(event)
    return ""


def _life(event: Event) -> str:
    name = event.fields.get("event")
    if not isinstance(name, str) or name not in _LIFE:
        return ""
    facts = [event.fields.get(key) for key in ("revision", "status", "signal") if event.fields.get(key) is not None]
    named = event.fields.get("for")
    about = [f"of {named}"] if type(named) is int and abs(named) < 1 << 53 else []
    return f"  Note over C,S: {event.n} {text(' '.join((name, *about, *(safe(fact, MAX_LABEL) for fact in facts))))}\n"


def _message(journal: Journal, n: int) -> str:
    """Describe a message in a few words."""
    index = journal.index
    shape, state = index.shape(n), index.state(n)
    words: list[str] = []
    if shape in (Shape.REQUEST, Shape.NOTIFICATION):
        words.append(text(index.method(n)))
        if shape is Shape.REQUEST and index.size(n) <= MAX_READ:
            words += [text(name) for name in subjects_of(next(journal.events(n, n)).message)[:1]]
    elif shape in (Shape.RESULT, Shape.ERROR):
        words.append("result" if shape is Shape.RESULT else "error")
        if index.pair(n):
            words.append(f"of {index.pair(n)}")
        elapsed = index.duration(n)
        if elapsed is not None:
            words.append(f"in {text(duration(elapsed))}")
        if state is State.ERROR and shape is Shape.RESULT:
            words.append("(isError)")
    else:
        words.append("batch" if shape is Shape.BATCH else "not JSON-RPC")
    if state in _STATES:
        words.append(f"({_STATES[state]})")
    return " ".join(words)


def text(value: str) -> str:
    """Return text as a safe part of a line: without Mermaid syntax and control characters."""
    label = safe(value, MAX_LABEL)
    # `end` alone is a keyword anywhere; an entity code inside it prevents that.
    return _END.sub(lambda match: f"#{ord(match[0][0])};{match[0][1:]}", _NOT_PLAIN.sub(_entity, label)) or "#32;"


def _entity(match: re.Match[str]) -> str:
    return f"#{ord(match[0])};"
