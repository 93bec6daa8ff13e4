"""Bytes as they are read, in lines: no limit but the one that is set, linear in their length."""

from __future__ import annotations


class Lines:
    """Puts lines together of what single reads bring. `held` is the length of the line that has not ended."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []
        self.held = 0

    def feed(self, block: bytes) -> list[bytes]:
        """The lines that `block` completes, without their line feeds."""
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
        """What has come of a line that has not ended; forgets it."""
        rest = b"".join(self._parts)
        self._parts.clear()
        self.held = 0
        return rest
