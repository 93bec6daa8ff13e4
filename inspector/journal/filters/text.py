"""Searches a text in the lines of a recording, without parsing them.

A text may have several forms in a line: the line's JSON escapes the message, and the message's JSON may have escaped
the text before that (`"` as `\\"`, `é` as `\\u00e9`, `/` as `\\/`). Whole blocks of the file are searched for the plain
forms; only lines with unusual escapes are searched with a pattern for every form.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from itertools import islice, product

from inspector.journal.format import Event, dumps, escape
from inspector.journal.index import Index
from inspector.journal.journal import Journal
from inspector.lazy_pattern import lazy_pattern

BLOCK = 1 << 20
"""Bytes that are read and searched at once."""
MAX_LENGTH = 200
"""Most characters of a search text."""

_GAP = 4096
_MAX_READINGS = 16
_OVERLAP = MAX_LENGTH * 32
_HEAD = lazy_pattern(rb'\{"n":-?\d+,"t":-?\d+,"dir":"[a-z]*","kind":"[a-z]*","ch":"(?:[^"\\]|\\.)*"')
_KEY = b',"raw":"'
_BASE64 = b',"b64":"'
_SHORT = {"\b": "b", "\f": "f", "\n": "n", "\r": "r", "\t": "t"}


class Needle:
    """A text to search for, ignoring case and escapes."""

    def __init__(self, text: str) -> None:
        self.text = text
        # A letter that becomes two in lower case stays, because the text of a file is compared letter by letter.
        lower = "".join(low if len(low := char.lower()) == 1 else char for char in text)
        readings = list(_readings(lower))
        plain = {_in_file(form) for reading in readings for form in (reading, escape(reading)[1:-1])}
        self.plain = tuple(sorted(plain))
        """Forms to search for in bytes in lower case (which changes only ASCII letters)."""
        self.pattern = re.compile(b"".join(_spellings(char) for char in lower))
        """Every form, for bytes in lower case."""
        self.unusual = [b"\\u"]
        """The signs of a line that may have another form than the plain ones."""
        if "/" in text:
            self.unusual.append(b"\\\\/")
        if len(readings) == _MAX_READINGS:
            letter = next(char for char in lower if not char.isascii() and len(_variants(char)) > 1)
            self.unusual += map(_in_file, _variants(letter))
        self.signs = [(form, len(form)) for form in self.plain] + [(sign, 0) for sign in (*self.unusual, _BASE64)]
        """The reasons to check a line: a form and its length, or a sign that there may be one (0)."""

    @property
    def usual(self) -> tuple[bytes, ...]:
        """The plain forms, and those that escape every letter beyond ASCII, as many servers do."""
        escaped = {re.sub(r"[^\x00-\x7f]", _escaped, form.decode("utf-8", "surrogatepass")) for form in self.plain}
        return (*self.plain, *sorted(form.encode() for form in escaped if "\\u" in form))

    def stands_in(self, event: Event) -> bool:
        """Whether an event has the text in its message or in its other facts."""
        body = f"{escape(event.text)} {dumps(event.fields) if event.fields else ''}"
        return self.pattern.search(body.lower().encode("utf-8", "surrogatepass")) is not None


def _escaped(letter: re.Match[str]) -> str:
    """Return a letter as the message's JSON escapes it, escaped again by the line's JSON."""
    units = letter[0].encode("utf-16-be", "surrogatepass").hex()
    return "".join(rf"\\u{units[at : at + 4]}" for at in range(0, len(units), 4))


def _in_file(text: str) -> bytes:
    return escape(text)[1:-1].encode("utf-8", "surrogatepass")


def _readings(text: str) -> Iterator[str]:
    """Return the forms of letters beyond ASCII in lower and upper case, at most `_MAX_READINGS`."""
    choices = (_variants(char) if not char.isascii() else [char] for char in text)
    return map("".join, islice(product(*choices), _MAX_READINGS))


def _variants(char: str) -> list[str]:
    """Return a character in lower and upper case, if these are single characters."""
    return sorted({form for form in (char, char.lower(), char.upper(), char.title()) if len(form) == 1})


def _spellings(char: str) -> bytes:
    """Return a pattern for every form of a character of a lower-case text in a line."""
    if char == '"':
        return rb'(?:\\{0,8}"|\\{1,8}u0022)'
    if char == "\\":
        return rb"(?:\\{2,8}|\\{1,8}u005c)"
    ways = []
    for form in _variants(char):
        if char >= " ":
            ways.append(re.escape(form.encode("utf-8", "surrogatepass")).lower() if form.isascii() else _raw(form))
        units = form.encode("utf-16-be", "surrogatepass").hex()
        ways.append(b"".join(rb"\\{1,8}u" + units[at : at + 4].encode() for at in range(0, len(units), 4)))
    if char in _SHORT:
        ways.append(rb"\\{1,8}" + _SHORT[char].encode())
    if char == "/":
        ways.append(rb"\\{1,8}/")
    return b"(?:" + b"|".join(dict.fromkeys(ways)) + b")"


def _raw(char: str) -> bytes:
    return re.escape(char.encode("utf-8", "surrogatepass"))


def search(journal: Journal, needle: Needle, first: int, last: int, candidates: bytes | bytearray | None) -> bytes:
    """Return the mask of the events `first` to `last` with the text; those not in `candidates` may be skipped."""
    mask = bytearray(last - first + 1)
    for low, high in _runs(journal.index, first, last, candidates):
        if _line_end(journal, high) - journal.index.views.offsets[low - 1] > BLOCK:
            mask[low - first] = _in_long_line(journal, needle, low)
        else:
            for n in _in_block(journal, needle, low, high):
                mask[n - first] = 1
    return bytes(mask)


def _line_end(journal: Journal, n: int) -> int:
    """Return the end of the line of event `n` in the file; for the last one, at the latest."""
    offsets = journal.index.views.offsets
    return offsets[n] if n < journal.index.count else journal.storage.size


def _runs(index: Index, first: int, last: int, candidates: bytes | bytearray | None) -> Iterator[tuple[int, int]]:
    """Yield runs of events whose lines are read at once: at most a block, with small gaps; longer lines alone."""
    at, offsets = first, index.views.offsets
    while at <= last:
        if candidates is not None:
            position = candidates.find(1, at - first)
            if position < 0:
                return
            at = first + position
        fitting = bisect_right(offsets, offsets[at - 1] + BLOCK, at, min(last + 1, index.count)) - 1
        end = max(fitting, at)
        if candidates is not None:
            end = _dense(offsets, candidates, first, at, end)
        yield at, end
        at = end + 1


def _dense(offsets: memoryview, candidates: bytes | bytearray, first: int, at: int, end: int) -> int:
    """Return where a run from `at` to `end` at most should end, so that it contains no gap worth skipping."""
    while at < end:
        position = candidates.find(1, at + 1 - first, end + 1 - first)
        following = first + position
        if position < 0 or (following > at + 1 and offsets[following - 1] - offsets[at] > _GAP):
            break
        at = following
    return at


def _in_block(journal: Journal, needle: Needle, low: int, high: int) -> Iterator[int]:
    """Yield the events with the text, among some whose lines fit into a block."""
    offsets = journal.index.views.offsets
    base = offsets[low - 1]
    data = journal.storage.pread(base, _line_end(journal, high) - base).lower()
    looked = bytearray(high - low + 1)
    for sign, length in needle.signs:
        find = data.find
        position = find(sign)
        while position >= 0:
            n = bisect_right(offsets, base + position, low - 1, high)
            start = offsets[n - 1] - base
            end = find(b"\n", position)
            if end < 0:
                end = len(data)
            if not looked[n - low]:
                looked[n - low] = 1
                regions = message_regions(data, start, end)
                if regions is None:
                    has_it = needle.stands_in(next(journal.events(n, n)))
                else:
                    # Usually the hit is inside the message, and no further check is needed.
                    has_it = bool(length) and regions[-1][0] <= position <= regions[-1][1] - length
                    has_it = has_it or any(_stands_between(data, needle, *region) for region in regions)
                if has_it:
                    yield n
            position = find(sign, end)


def message_regions(data: bytes, start: int, end: int) -> list[tuple[int, int]] | None:
    """Return the parts of a line in lower case with text of the server or the user.

    None means that the line must be parsed instead.
    """
    head = _HEAD.match(data, start, end)
    if head is None or data[end - 1 : end] != b"}":
        return None
    begin = head.end()
    key = data.find(_KEY, begin, end)
    if key >= 0:
        return [(begin, key), (key + len(_KEY), end - 2)]
    return None if data.find(_BASE64, begin, end) >= 0 else [(begin, end - 1)]


def _stands_between(data: bytes, needle: Needle, begin: int, end: int) -> bool:
    if any(data.find(plain, begin, end) >= 0 for plain in needle.plain):
        return True
    if any(data.find(sign, begin, end) >= 0 for sign in needle.unusual):
        return needle.pattern.search(data, begin, end) is not None
    return False


def _in_long_line(journal: Journal, needle: Needle, n: int) -> bool:
    """Whether one line of any length has the text: read in windows that overlap by more than the longest form."""
    storage = journal.storage
    start, end = journal.index.views.offsets[n - 1], _line_end(journal, n)
    window = storage.pread(start, BLOCK).lower()
    head = _HEAD.match(window)
    key = window.find(_KEY, head.end()) if head is not None else -1
    if head is None or key < 0:
        return needle.stands_in(next(journal.events(n, n)))
    if _stands_between(window, needle, head.end(), key):
        return True
    at = start + key + len(_KEY)
    while at < end:
        window = storage.pread(at, BLOCK + _OVERLAP).lower()
        line_end = window.find(b"\n")
        if _stands_between(window, needle, 0, len(window) if line_end < 0 else max(line_end - 2, 0)):
            return True
        if line_end >= 0 or not window:
            break
        at += BLOCK
    return False
