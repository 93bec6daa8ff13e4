"""Texts of the lines of a recording: bytes as texts, without secrets."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from inspector.config.private_keys import MARK as KEY
from inspector.config.private_keys import PrivateKeyFilter, may_have_key
from inspector.hints import Hint
from inspector.journal.format import KIND_NAMES, Kind, dumps, event_line, to_base64
from inspector.journal.redaction import Redactor
from inspector.protocol.jsonrpc import NotJson, Shape, parse, shape_of

_KEPT_OF_LINE = 4096


_RPC, _INVALID, _NONE = Kind.RPC, Kind.INVALID, Shape.NONE
_Arrival = tuple[Kind, Shape, bytes, Any, Any, tuple[str, bool] | None, str]
"""Kind, shape, bytes, message, the message as recorded, its text (see `LineText.as_shown`), and JSON members for the
line."""


class LineText:
    """Makes the texts of one recording. It remembers where a secret has begun that further lines may continue."""

    def __init__(self, redactor: Redactor) -> None:
        self._redactor = redactor
        self._keys: dict[tuple[str, int], PrivateKeyFilter] = {}
        """By channel and connection, the private key that is being printed there."""
        self._last_of_stderr: tuple[tuple[str, int], bytes] = (("", 0), b"")
        """Channel and connection of the last line of stderr, and its end: a secret may begin in it."""

    def arrivals(self, channel: str, conn: int, messages: Sequence[bytes]) -> list[_Arrival]:
        """Parse messages that were received; those that are not JSON are `invalid`."""
        hides = self._redactor.active
        arrived: list[_Arrival] = []
        for raw in messages:
            shown = None
            try:
                message = kept = parse(raw)
                if hides:
                    kept, shown = self.as_shown(raw, message)
                arrived.append((_RPC, shape_of(kept), raw, message, kept, shown, ""))
            except NotJson as problem:
                reason = ',"why":' + dumps(str(problem) if raw.strip() else "an empty line")
                raw = self.without_keys(channel, conn, raw)
                arrived.append((_INVALID, _NONE, raw, None, None, None, reason))
        return arrived

    def as_shown(self, raw: bytes, message: Any) -> tuple[Any, tuple[str, bool]]:
        """Return the value of a received message as recorded; and its text, with whether that was changed."""
        shown, changed = self._redactor.json(raw.decode("utf-8", "replace"))
        return parse(shown.encode("utf-8", "surrogatepass")) if changed else message, (shown, changed)

    def line(
        self,
        n: int,
        t: int,
        dir: str,
        kind: Kind,
        channel: str,
        raw: bytes,
        extra: str,
        shown: tuple[str, bool] | None = None,
    ) -> bytes:
        """Return the line of any message, for any bytes, without its secrets. `shown`: see `as_shown`."""
        text, binary, extra = self.text(raw, extra, ',"encoding":"not UTF-8"', json=kind is _RPC, shown=shown)
        return event_line(n, t, dir, KIND_NAMES[kind], channel, text, binary, extra).encode("utf-8")

    def text(
        self, raw: bytes, extra: str, unreadable: str = "", *, json: bool = False, shown: tuple[str, bool] | None = None
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


def auth_fields(
    redactor: Redactor, step: str, ok: bool, text: str, rule: str, fix: str, facts: dict[str, Any]
) -> tuple[dict[str, Any], bool]:
    """Return the fields of a step of an authorization without secrets, and whether there were any."""
    hint = Hint(fix).mapped(redactor.sentence)
    plain = {"step": step, "ok": ok, "text": text, "rule": rule, "fix": Hint(fix).command_line, "facts": facts}
    shown = {name: redactor.sentence(value) if isinstance(value, str) else value for name, value in plain.items()}
    shown["fix"], shown["facts"] = hint.command_line, redactor.facts(facts)
    kept = {name: value for name, value in shown.items() if name in ("step", "ok", "text") or value}
    changed = shown != plain
    if parts := hint.as_json():
        kept["fix_parts"] = parts
    return kept, changed


def http_fields(redactor: Redactor, fields: dict[str, Any]) -> tuple[dict[str, Any], bool]:
    """Return the fields of an HTTP head without secrets, and whether there were any."""
    shown, changed, hidden = dict(fields), False, False
    if "headers" in fields:
        shown["headers"], changed = redactor.headers(fields["headers"])
    if "url" in fields:
        shown["url"], hidden = redactor.url(str(fields["url"]))
    return shown, changed or hidden
