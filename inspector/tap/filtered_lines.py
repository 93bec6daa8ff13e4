"""A tap on stdio that acts: it passes lines on as a filter decides, and records what it altered.

Lines that the filter does not alter pass with their exact bytes, and before they are recorded.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial

from inspector.journal import channels
from inspector.journal.alterations import Alteration, ConnectionFilter, Filtered, Sender
from inspector.journal.journal import Journal, altered
from inspector.protocol.jsonrpc import NotJson, parse
from inspector.serving.line_splitter import LineBuffer
from inspector.transports.delayed import DelayedMessages

MAX_HELD = 1 << 28
"""Bytes of an unfinished line above which it passes without the filter."""
Put = Callable[[bytes], None]


class FilteredLines:
    """Passes on what client and server write. `passes` writes and records bytes of a sender, `writes` only writes."""

    def __init__(
        self, filter: ConnectionFilter, journal: Journal, passes: Mapping[Sender, Put], writes: Mapping[Sender, Put]
    ) -> None:
        self._filter = filter
        self._journal = journal
        self._passes = passes
        self._writes = writes
        self._lines: dict[Sender, LineBuffer] = {"client": LineBuffer(), "server": LineBuffer()}
        self._delayed = DelayedMessages()

    def feed(self, sender: Sender, block: bytes) -> None:
        """Handle data of a sender."""
        lines = self._lines[sender]
        if not lines.held and block.endswith(b"\n") and not self._filter.handles_messages:
            self._passes[sender](block)
            return
        for line in lines.feed(block):
            self._judge(sender, line)
        if lines.held > MAX_HELD:
            self._passes[sender](lines.rest())

    def end(self, sender: Sender) -> None:
        """Pass on what is left, because a sender writes no more."""
        self._delayed.deliver_all()
        if self._lines[sender].held:
            self._passes[sender](self._lines[sender].rest())

    def _judge(self, sender: Sender, line: bytes) -> None:
        try:
            message = parse(line)
        except NotJson:
            self._passes[sender](line + b"\n")
            return
        filtered = self._filter.judge(sender, line, message)
        if filtered.delay:
            self._delayed.add(filtered.delay, partial(self._deliver, sender, filtered))
        elif filtered.alterations:
            self._deliver(sender, filtered)
        else:
            self._passes[sender](line + b"\n")

    def _deliver(self, sender: Sender, filtered: Filtered) -> None:
        """Pass on an altered message, or give its sender the reply; record both."""
        self._put(sender, filtered.data, filtered.alterations, written=filtered.passes)
        if filtered.reply is not None:
            self._put("server" if sender == "client" else "client", filtered.reply, filtered.reply_alterations)

    def _put(self, sender: Sender, data: bytes, alterations: Sequence[Alteration], *, written: bool = True) -> None:
        if written:
            self._writes[sender](data + b"\n")
        extra = altered(self._journal, alterations)
        if sender == "client":
            self._journal.record_sent(channels.STDIO, data, parse(data), extra)
        else:
            self._journal.record_received(channels.STDIO, [data], extra)
