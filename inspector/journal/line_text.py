"""What the lines of a recording say: bytes as texts, without secrets."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from inspector.config.private_keys import MARK as KEY
from inspector.config.private_keys import PrivateKeyFilter, may_have_key
from inspector.journal.format import to_base64
from inspector.journal.redaction import Redactor
from inspector.protocol.jsonrpc import parse

_KEPT_OF_LINE = 4096


class LineText:
    """Makes the texts of one recording. It remembers where a secret has begun that further lines may continue."""

    def __init__(self, redactor: Redactor) -> None:
        self._redactor = redactor
        self._keys: dict[tuple[str, int], PrivateKeyFilter] = {}
        """By channel and connection, the private key that is being printed there."""
        self._last_of_stderr: tuple[tuple[str, int], bytes] = (("", 0), b"")
        """Channel and connection of the last line of stderr, and its end: a secret may begin in it."""

    def as_shown(self, raw: bytes, message: Any) -> tuple[Any, tuple[str, bool]]:
        """Return the value of a received message as recorded; and its text, with whether that was changed."""
        shown, changed = self._redactor.json(raw.decode("utf-8", "replace"))
        return parse(shown.encode("utf-8", "surrogatepass")) if changed else message, (shown, changed)

    def text(
        self,
        raw: bytes,
        extra: str,
        unreadable: str = "",
        *,
        json: bool = False,
        shown: tuple[str, bool] | None = None,
    ) -> tuple[str, bool, str]:
        """Return bytes for a line, redacted: the text, whether it is base64, and the `extra` about it."""
        text, binary = decoded(raw)
        if binary:
            extra += unreadable
        if not self._redactor.active:
            return text, binary, extra + (',"redacted":true' if KEY in text else "")
        extra, hidden = self._redactor.text(extra) if extra else (extra, False)
        text, changed = shown if shown and not binary else self._redact(raw, text, binary, json=json)
        hidden = hidden or changed or KEY in text
        return text, binary, extra + (',"redacted":true' if hidden else "")

    def _redact(self, raw: bytes, text: str, binary: bool, *, json: bool = False) -> tuple[str, bool]:
        """Return the text of a line without secrets, and whether it was changed."""
        if binary:
            shown, changed = self._redactor.text(raw.decode("utf-8", "surrogateescape"), cut=True)
            return (to_base64(shown.encode("utf-8", "surrogateescape")), True) if changed else (text, False)
        return self._redactor.json(text) if json else self._redactor.text(text, cut=True)

    def without_keys(self, channel: str, conn: int, line: bytes) -> bytes:
        """Return the next line of an output without what belongs to a private key."""
        keys = self._keys.get((channel, conn))
        if keys is None:
            if not may_have_key(line):
                return line
            keys = self._keys[channel, conn] = PrivateKeyFilter()
        shown = keys.line(line)
        if not keys.inside:
            del self._keys[channel, conn]
        return shown

    def stderr(self, channel: str, conn: int, lines: Sequence[bytes]) -> Sequence[bytes]:
        """Return further lines of an output without their secrets."""
        if self._keys or may_have_key(b"".join(lines)):
            lines = [self.without_keys(channel, conn, line) for line in lines]
        if self._redactor.active and lines:
            whose, before = self._last_of_stderr
            self._last_of_stderr = (channel, conn), lines[-1][-_KEPT_OF_LINE:]
            lines = self._redactor.lines(lines, before if whose == (channel, conn) else b"")
        return lines


def decoded(raw: bytes) -> tuple[str, bool]:
    """Return bytes as a text for a line; if they are not UTF-8, as base64, and True."""
    try:
        return raw.decode("utf-8"), False
    except UnicodeDecodeError:
        return to_base64(raw), True
