"""Removes private keys from output that is read line by line.

A key has many lines, and none of them looks like a secret.
"""

from __future__ import annotations

from inspector.lazy_pattern import lazy_pattern

MARK = "‹redacted private key›"
"""Replaces each line of a private key."""

_BEGIN = lazy_pattern(rb"-{4,5} ?BEGIN (?:[A-Z0-9]++ ){0,8}PRIVATE KEY(?: BLOCK)? ?-{4,5}|PuTTY-User-Key-File-[0-9]:")
_END = lazy_pattern(rb"-{4,5} ?END (?:[A-Z0-9]++ ){0,8}PRIVATE KEY(?: BLOCK)? ?-{4,5}|Private-MAC:.*")
_HINTS = (b"PRIVATE KEY", b"PuTTY-User-Key-File", b"Private-MAC:")
_LONG = lazy_pattern(rb"[A-Za-z0-9+/]{40}")
_ALONE = lazy_pattern(rb"[\s'\"`+,|>#*=\\]*+(?:[A-Za-z0-9+/]++={0,2}+(?:\\[nr])*+)?+[\s'\"`+,|>#*\\]*+")
"""One word, as it is printed in other languages: quoted, joined, indented."""
_HEADER = lazy_pattern(rb"\s*[A-Za-z-]+: .*")
_DIGITS = bytes.maketrans(b"0123456789", b"0000000000")
_PATIENCE = 8
"""Other lines among those of a key, such as of another thread; after them the key is over, even without an end."""


def may_have_key(line: bytes) -> bool:
    """Whether a key may begin or end in a line."""
    return any(hint in line for hint in _HINTS)


class PrivateKeyFilter:
    """Removes private keys from the lines of one output. `in_middle`: the first line may be in the middle of a key."""

    def __init__(self, *, in_middle: bool = False) -> None:
        self._patience = _PATIENCE if in_middle else 0
        """How many other lines may follow before the key is over; 0 outside of a key."""
        self._prefix = b""
        """What the logger put before the first line, with each digit as 0."""
        self._has_body = in_middle

    @property
    def inside(self) -> bool:
        """Whether the next line may belong to a key."""
        return self._patience > 0

    def line(self, line: bytes) -> bytes:
        """Return the next line, which may have line ends in it, without what belongs to a key."""
        if not self._patience and not may_have_key(line):
            return line
        return b"\n".join(map(self._line, line.split(b"\n"))) if b"\n" in line else self._line(line)

    def _line(self, line: bytes) -> bytes:
        parts: list[bytes] = []
        at = 0
        if self._patience and (end := _END.search(line)) is not None:
            self._patience, at = 0, end.end()
            parts.append(MARK.encode())
        elif self._patience and _BEGIN.search(line) is None:
            return MARK.encode() if self._is_of_key(line) else line
        while (begin := _BEGIN.search(line, at)) is not None:
            parts += (line[at : begin.start()], MARK.encode())
            end = _END.search(line, begin.end())
            if end is None:
                self._patience, self._has_body = _PATIENCE, False
                self._prefix = line[: begin.start()].translate(_DIGITS)
                return b"".join(parts)
            at = end.end()
        return b"".join((*parts, line[at:]))

    def _is_of_key(self, line: bytes) -> bool:
        rest = line
        if self._prefix and line.translate(_DIGITS).startswith(self._prefix):
            rest = line[len(self._prefix) :]
        if _LONG.search(line) is not None:
            self._patience, self._has_body = _PATIENCE, True
            return True
        if _ALONE.fullmatch(rest) is not None or (not self._has_body and _HEADER.fullmatch(rest) is not None):
            return True
        self._patience -= 1
        return False
