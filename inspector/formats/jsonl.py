"""Bare messages, one per line."""

from __future__ import annotations

from collections.abc import Iterable
from typing import IO, Any

from inspector.formats.json_edits import portable
from inspector.formats.recording_builder import (
    FormatReader,
    RecordingBuilder,
    Senders,
    stdio_target,
)
from inspector.formats.selection import Selection, left_out
from inspector.formats.source import Source
from inspector.journal import channels
from inspector.journal.format import Kind
from inspector.journal.journal import Journal
from inspector.protocol.jsonrpc import NotJson, Shape, parse, shape_of


def write(journal: Journal, out: IO[str], numbers: Iterable[int] | None) -> list[str]:
    """Write the messages to `out`, one at a time."""
    missing = 0
    for n in Selection(journal, numbers).of(Kind.RPC, Kind.INVALID):
        event = next(journal.events(n, n))
        line = portable(event.text) if event.kind == Kind.RPC else None
        if line is None:
            missing += 1
        else:
            out.write(f"{line}\n")
    return left_out(missing, "message that is not JSON", "messages that are not JSON")


def _fits(source: Source) -> bool:
    """Whether one of the first lines is a message."""
    return any(_is_message(value) for value in source.first_values())


def _is_message(value: Any) -> bool:
    items = value if shape_of(value) is Shape.BATCH else [value]
    return any(type(item) is dict and "jsonrpc" in item and shape_of(item) is not Shape.NONE for item in items)


def _read(maker: RecordingBuilder) -> None:
    """Read bare messages, one per line, as `inspector export --to jsonl` has them: no times, no directions."""
    senders = Senders()
    for place, line in maker.lines():
        try:
            value = parse(line)
        except NotJson as problem:
            maker.unread(place, str(problem))
            continue
        if not maker.begun:
            maker.begin(None, stdio_target(None))
            maker.at(0)
        maker.message(senders.of(value), channels.STDIO, line)
    if maker.begun:
        maker.note(
            "Bare messages have no times and no senders. The sender is derived from methods and ids, and may be "
            "wrong for ping and progress."
        )


READER = FormatReader(_fits, _read)
