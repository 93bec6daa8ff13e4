"""Records what passes a tap: lines of stdio in both directions, one message each.

The recorder only reads. Bytes are passed on even if it cannot parse them.
"""

from __future__ import annotations

from inspector.journal import channels
from inspector.journal.journal import Journal
from inspector.protocol.jsonrpc import NotJson, parse
from inspector.serving.line_splitter import LineBuffer

MAX_LENGTH = 1 << 28
"""Bytes of an unfinished line above which its beginning is recorded as an incomplete message."""
BEGINNING = 1 << 20
_STDERR_LINE = 1 << 16


class LineRecorder:
    """Records what the client writes (`sent`), what the server writes (`received`), and its stderr."""

    def __init__(self, journal: Journal) -> None:
        self.journal = journal
        self._sent, self._received, self._stderr = LineBuffer(), LineBuffer(), LineBuffer()

    def sent(self, block: bytes) -> None:
        """Record data of the client; empty at the end."""
        lines = self._sent.feed(block) if block else []
        for line in lines:
            self._record_sent(line)
        if self._sent.held > MAX_LENGTH or (not block and self._sent.held):
            self._record_sent(self._sent.rest()[:BEGINNING], cut=True)

    def _record_sent(self, line: bytes, *, cut: bool = False) -> None:
        try:
            message = None if cut else parse(line)
        except NotJson:
            message = None
        self.journal.record_sent(channels.STDIO, line, message, ',"cut":true' if cut else "")

    def received(self, block: bytes) -> None:
        """Record data of the server; empty at the end."""
        lines = self._received.feed(block) if block else []
        if lines:
            self.journal.record_received(channels.STDIO, lines)
        if self._received.held > MAX_LENGTH or (not block and self._received.held):
            self.journal.record_received(channels.STDIO, [self._received.rest()[:BEGINNING]], cut=True)

    def complained(self, block: bytes) -> None:
        """Record stderr of the server; empty at the end."""
        lines = self._stderr.feed(block) if block else []
        if self._stderr.held > _STDERR_LINE or (not block and self._stderr.held):
            lines.append(self._stderr.rest())
        if lines:
            self.journal.record_stderr(channels.STDERR, lines)
