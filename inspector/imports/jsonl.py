"""Bare messages, one per line, as `inspector export --to jsonl` and many logs have them: no times, no directions."""

from __future__ import annotations

from typing import Any

from inspector.imports.message_senders import Senders
from inspector.imports.recording_builder import RecordingBuilder
from inspector.imports.source import Source
from inspector.imports.targets import stdio_target
from inspector.journal import channels
from inspector.protocol.jsonrpc import NotJson, Shape, parse, shape_of


def fits(source: Source) -> bool:
    """Whether one of the first lines is a message."""
    return any(_is_message(value) for value in source.first_values())


def _is_message(value: Any) -> bool:
    items = value if shape_of(value) is Shape.BATCH else [value]
    return any(type(item) is dict and "jsonrpc" in item and shape_of(item) is not Shape.NONE for item in items)


def read(source: Source, maker: RecordingBuilder) -> None:
    """Read the messages, line by line."""
    senders = Senders()
    for number, line in source.lines():
        if line is None:
            maker.unread(f"Line {number:,}", "it is too long")
            continue
        try:
            value = parse(line)
        except NotJson as problem:
            maker.unread(f"Line {number:,}", str(problem))
            continue
        if not maker.begun:
            target, secrets = stdio_target(None)
            maker.begin(None, target, secrets=secrets)
            maker.at(0)
        maker.message(senders.of(value), channels.STDIO, line)
    if maker.begun:
        maker.note(
            "Bare messages have no times and no senders. The sender is derived from methods and ids, and may be "
            "wrong for ping and progress."
        )
