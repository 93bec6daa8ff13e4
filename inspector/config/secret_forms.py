"""Finds secrets in a text, however it was encoded.

JSON, URLs, forms, HTML, shell words and base64 are decoded, also in each other.

Encoders leave ASCII letters and digits as they are, except base64, which changes them in a known way. So short runs of
each secret are searched, and their base64 (`_Anchor`). Where one is found, and where letters are escaped although they
need not be (`_ESCAPED`), the text around it is decoded in every way, up to `DEPTH` times, and the secret is
searched in the results. Each view of the text knows from which characters of the text
each of its own was made. The time is linear in the length of the text.
"""

from __future__ import annotations

import math
import re
from array import array
from base64 import b64encode, urlsafe_b64decode
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from inspector.lazy_pattern import lazy_pattern

DEPTH = 4
"""Encodings on top of each other that are decoded."""
SHORTEST = 4
"""Characters of a secret that is searched; a shorter one would match everywhere."""
BEGINNING = 12
"""Characters at the beginning of a long secret that identify it where it was cut off."""

_MIN_ANCHOR, _LONG_HALF = 4, 12
"""Letters and digits in a row that are searched, also of half a row; and of half a row in a large text."""
_LONGEST = 64
"""Characters of a text that are searched at once: a search for a long one in a text like it takes its length each time.
"""
_MAX_GROWTH = 80
"""Characters that one of a secret may become: a letter of four bytes in JSON in JSON in JSON in JSON in JSON."""
_BLOCK = 1 << 13
"""Characters that are decoded at once."""
_MOST_VIEWS = 200
"""Different texts that a part of a text is decoded to."""
_MOST_TRIED = 20_000
"""Anchors in a text that are looked at one by one."""
_MOST_DECODED = 1 << 22
"""Characters that are decoded for a text. What is near further anchors is taken for a secret: only a text that was made
for it has so many.
"""
_RUN = lazy_pattern(r"[A-Za-z0-9]+")
_BASE64 = lazy_pattern(r"[A-Za-z0-9+/_-]+")
LARGE = 1 << 12
"""Characters from which a text is large: base64 in base64, and short secrets in two lines, are found below it."""
_COMPARED = 32
"""Characters beside an anchor that are compared before decoding."""
_LEADS = frozenset("\\%&'+\r\n")
"""How an encoded character begins."""
_TAILS = frozenset("0123456789abcdefABCDEFnrt\\;'+\" \t\r\n")
"""How one ends."""
_CUT = "…"
_CUT_SIGN = lazy_pattern(r"…|\\u2026|%(?:25)*E2%(?:25)*80%(?:25)*A6|&(?:amp;)*(?:hellip|#8230|#x2026);", re.IGNORECASE)
"""“…” as it is, in JSON, in URLs, and in HTML."""
_WORD = lazy_pattern(r"[\w+/=~-]")
"""What may continue a word of a secret."""
_HALF = lazy_pattern(r"(?:\\u?[0-9A-Fa-f]{0,4}|%[0-9A-Fa-f%]{0,8}|&#?\w{0,8})?(?:…|\Z)")
"""The end of a text that was cut off, perhaps in the middle of an encoded character."""


# Decoders

_CONTROLS = {"n": "\n", "r": "\r", "t": "\t", "b": "\b", "f": "\f"}


def _backslash(match: re.Match[str]) -> str:
    escape = match[0][1:]
    if len(escape) == 1:
        return _CONTROLS.get(escape, escape)
    if escape.count("x") > 1:
        return bytes.fromhex(escape.replace("\\x", "")[1:]).decode("utf-8", "replace")
    if "\\" in escape:
        return chr(0x10000 + (int(escape[1:5], 16) - 0xD800 << 10) + int(escape[7:], 16) - 0xDC00)
    code = int(escape[1:], 16)
    return chr(code) if code < 0x110000 else "\ufffd"


def _percent(match: re.Match[str]) -> str:
    escape = match[0]
    return " " if escape == "+" else bytes.fromhex(escape.replace("%", "")).decode("utf-8", "replace")


def _entity(match: re.Match[str]) -> str:
    import html

    return html.unescape(match[0])


_HEX = "[0-9A-Fa-f]"
_MORE = f"%[89ABab]{_HEX}"
_OCTETS = f"%(?:[0-7]{_HEX}|[CDcd]{_HEX}{_MORE}|[Ee]{_HEX}(?:{_MORE}){{2}}|[Ff][0-7](?:{_MORE}){{3}})"
_SURROGATES = rf"u[Dd][89ABab]{_HEX}{{2}}\\u[Dd][C-Fc-f]{_HEX}{{2}}"
_MORE_BYTES = rf"\\x[89ABab]{_HEX}"
_BYTES = rf"x(?:[CDcd]{_HEX}{_MORE_BYTES}|[Ee]{_HEX}(?:{_MORE_BYTES}){{2}}|[Ff][0-7](?:{_MORE_BYTES}){{3}})"
"""A character as bytes in Python, `\\xc3\\xa9`."""
_DECODERS: tuple[tuple[str, re.Pattern[str], Callable[[re.Match[str]], str]], ...] = (
    (
        "\\",
        lazy_pattern(rf"\\(?:{_SURROGATES}|{_BYTES}|u{_HEX}{{4}}|x{_HEX}{{2}}|U{_HEX}{{8}}|[nrtbf]|[^A-Za-z0-9])"),
        _backslash,
    ),
    ("%", lazy_pattern(_OCTETS), _percent),
    ("+", lazy_pattern(rf"{_OCTETS}|\+"), _percent),
    ("&", lazy_pattern(r"&(?:#[0-9]{1,7}|#[Xx][0-9A-Fa-f]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});"), _entity),
    ("'", lazy_pattern(r"'(?:\\'|\"'\")'"), lambda _: "'"),
    ("\n", lazy_pattern(r"\r?\n[ \t]*"), lambda _: ""),
)
"""The character that an encoding needs, what it encodes, and how: of JSON, Python, Markdown and shells; of URLs; of
forms; of HTML and XML; of a shell's single quotes; and lines that were broken."""

_ALNUM = "(?:3[0-9]|[46][1-9A-Fa-f]|[57][0-9Aa])"
_ESCAPED = (
    ("u00", lazy_pattern(rf"u00{_ALNUM}")),
    ("U000000", lazy_pattern(rf"U000000{_ALNUM}")),
    ("x", lazy_pattern(rf"x(?<=[\\Cc]x){_ALNUM}")),
    ("%", lazy_pattern(rf"%(?:25){{0,4}}{_ALNUM}")),
    ("#", lazy_pattern(rf"#(?:x25|37);{_ALNUM}")),
    ("#", lazy_pattern(rf"#(?:x23|35);(?:[Xx]{_ALNUM}|[0-9]{{2,3}})(?=[&%\\])")),
    ("#", lazy_pattern(rf"#(?:[Xx]0{{0,4}}{_ALNUM}|0{{0,4}}[0-9]{{2,3}})(?=[;&%\\])")),
    ("23", lazy_pattern(rf"%(?:25){{0,4}}23(?:[Xx]{_ALNUM}|[0-9]{{2,3}})(?=[;&%\\])")),
)
"""What is in a text with an escaped letter or digit, and that. The escape may be escaped again."""
_ROW, _GAP = 4, 24
"""Escaped letters in a row that are looked at, and characters between two of them at most."""

_SECOND_HALF = {
    "\\": lazy_pattern(r"\\{15}|\\{7}|\\{3}|\\"),
    "%": lazy_pattern("(?:25){1,4}"),
    "&": lazy_pattern("(?:amp;){1,4}"),
    "'": lazy_pattern(r"\\''|\"'\"'"),
}
"""What follows a character that is encoded as itself and more."""


class _View:
    """A text made from a part of another, and from which characters of that each of its own was made."""

    __slots__ = ("ends", "starts", "text")

    def __init__(self, text: str, starts: array[int], ends: array[int]) -> None:
        self.text = text
        self.starts = starts
        self.ends = ends

    @property
    def key(self) -> tuple[str, int]:
        """Its text, and where it begins: another place may have the same text."""
        return self.text, self.starts[0] if self.starts else -1

    @classmethod
    def of(cls, text: str, start: int, end: int) -> _View:
        """Return a part of a text."""
        return cls(text[start:end], array("q", range(start, end)), array("q", range(start + 1, end + 1)))

    def decoded(self, pattern: re.Pattern[str], value: Callable[[re.Match[str]], str]) -> _View:
        """Return the view with each match replaced by its value."""
        parts: list[str] = []
        starts, ends = array("q"), array("q")
        done = 0
        for match in pattern.finditer(self.text):
            start, end = match.span()
            new = value(match)
            parts += (self.text[done:start], new)
            starts += self.starts[done:start]
            ends += self.ends[done:start]
            starts.extend([self.starts[start]] * len(new))
            ends.extend([self.ends[end - 1]] * len(new))
            done = end
        return _View("".join(parts) + self.text[done:], starts + self.starts[done:], ends + self.ends[done:])

    def from_base64(self, start: int, end: int) -> _View:
        """Return what the base64 from `start` to `end` encodes."""
        padded = end + len(self.text[end : end + 2]) - len(self.text[end : end + 2].lstrip("="))
        end -= (end - start) % 4 == 1
        run = self.text[start:end].replace("+", "-").replace("/", "_")
        text = urlsafe_b64decode(run + "=" * (-len(run) % 4)).decode("utf-8", "surrogateescape")
        starts, ends = array("q"), array("q")
        size = 0
        for char in text:
            starts.append(self.starts[start + size * 8 // 6])
            size += len(char.encode("utf-8", "surrogateescape"))
            ends.append(self.ends[start + (size * 8 + 5) // 6 - 1])
        if ends:
            ends[-1] = self.ends[padded - 1]
        return _View(text, starts, ends)


# Secrets


class _Anchor(NamedTuple):
    """Letters and digits that are in a text if the secret is."""

    text: str
    at: int
    """Their place in the secret; in base64, the place of the first one in its group of four."""
    in_base64: bool


class _Secret:
    """One secret, and how it is searched.

    It is searched by `begins`: all of it, or its beginning if texts may be cut off.
    """

    def __init__(self, whole: str, begins: str) -> None:
        self.whole = whole
        self.begins = begins
        self._may_be_cut = begins != whole
        self.anchors = tuple(_anchors(begins, in_large=False))
        self.anchors_in_large = tuple(_anchors(begins, in_large=True))
        self.telltales = (
            ()
            if _run(begins)
            else tuple(map(_telltales, sorted(set(begins), key=lambda char: (char.isascii(), char.isalnum()))))
        )
        """Of a secret without a run of letters, for each character all that encoders write for it."""
        self._after = _SECOND_HALF.get(whole[-1])
        special = sum(not (char.isascii() and char.isalnum()) for char in whole)
        self.reach = 2 * len(whole) + _MAX_GROWTH * special + 64
        """Characters before and after an anchor among which the whole secret is."""

    def in_text(self, text: str, depth: int, escaped: list[tuple[int, int]]) -> Iterator[tuple[int, int]]:
        """Yield where it is in a text, in any form. `escaped`: where letters are."""
        hits = [at for start, end in escaped for at in (*range(start, end, self.reach), end)]
        tried = 0
        for anchor in self.anchors if len(text) < LARGE else self.anchors_in_large:
            at = text.find(anchor.text)
            while at >= 0:
                tried += 1
                start = at - anchor.at
                if not anchor.in_base64 and start >= 0 and text.startswith(self.whole, start):
                    yield self._with_escapes(text, start)
                    if (last := self._last_overlap(text, at, anchor)) > at:
                        at = last
                        continue
                elif anchor.in_base64 or tried > _MOST_TRIED or self._may_surround(text, at, anchor):
                    hits.append(at)
                at = text.find(anchor.text, at + 1)
        left = _MOST_DECODED
        for low, high in [*_parts(sorted(hits), self.reach, len(text)), *self._blocks_without_anchors(text)]:
            if left < 0:
                yield low, high
                continue
            places, decoded = self._decoded(_View.of(text, low, high), high == len(text), depth)
            left -= decoded
            yield from places

    def _last_overlap(self, text: str, at: int, anchor: _Anchor) -> int:
        """Return the anchor of the last place of the secret that begins in its place around `at`; -1 without one."""
        size = len(anchor.text)
        last = text.rfind(anchor.text, at + 1, at + len(self.whole) - 1 + size)
        while last > at and not text.startswith(self.whole, last - anchor.at):
            last = text.rfind(anchor.text, at + 1, last + size - 1)
        return last

    def _with_escapes(self, text: str, start: int) -> tuple[int, int]:
        """Return where it is, with the rest of its first and last character if the text is encoded once more."""
        end = start + len(self.whole)
        if self._after is not None and (more := self._after.match(text, end)) is not None:
            end = more.end()
        if text[max(0, start - 1) : start] == "\\" and not self.whole[0].isalnum():
            before = text[max(0, start - 15) : start]
            escapes = len(before) - len(before.rstrip("\\"))
            start -= max(few for few in (0, 1, 3, 7, 15) if few <= escapes * (escapes % 2))
        return start, end

    def _may_be_in(self, text: str) -> bool:
        """Whether a text has an anchor, escaped letters, or something of each character."""
        return any(anchor.text in text for anchor in self.anchors) or self._has_telltales(text) or bool(_escaped(text))

    def _has_telltales(self, text: str) -> bool:
        return bool(self.telltales) and all(any(telltale in text for telltale in of_one) for of_one in self.telltales)

    def _blocks_without_anchors(self, text: str) -> Iterator[tuple[int, int]]:
        if self.telltales:
            for low, high in _blocks(0, len(text), self.reach):
                if self._has_telltales(text[low:high]):
                    yield low, high

    def _may_surround(self, text: str, at: int, anchor: _Anchor) -> bool:
        """Whether the text beside a plain anchor is that of the secret up to something encoded."""
        end, size = at + len(anchor.text), anchor.at + len(anchor.text)
        left = _same(
            self.whole[max(0, anchor.at - _COMPARED) : anchor.at][::-1], text[max(0, at - _COMPARED) : at][::-1]
        )
        right = _same(self.whole[size : size + _COMPARED], text[end : end + _COMPARED])
        begins = left in (anchor.at, _COMPARED) or (left < at and text[at - left - 1] in _TAILS)
        end += right
        ends = right in (len(self.whole) - size, _COMPARED) or not _LEADS.isdisjoint(text[max(0, end - 8) : end + 1])
        return begins and (ends or (self._may_be_cut and text[end : end + 1] in ("", _CUT)))

    def _decoded(self, part: _View, to_end: bool, depth: int) -> tuple[list[tuple[int, int]], int]:
        """Return where it is in a part of a text after decoding, and how many characters were decoded."""
        first = part.starts[0]
        views, seen, decoded = [part], {part.key}, 0
        places: list[tuple[int, int]] = []
        rest = list(part.text)
        for level in range(depth + 1):
            for view in views:
                blank = first
                for begin, end in self._in_view(view.text, to_end):
                    start, stop = view.starts[begin], view.ends[end - 1]
                    places.append((start, stop))
                    start, blank = max(start, blank), max(stop, blank)
                    rest[start - first : blank - first] = " " * (blank - start)
            if level == depth or len(seen) > _MOST_VIEWS or (places and not self._may_be_in("".join(rest))):
                break
            new = {made.key: made for view in views for made in self._decodings(view)}
            decoded += sum(len(text) for text, _ in new)
            views = [made for key, made in new.items() if key not in seen]
            seen.update(new)
        return places, decoded

    def _decodings(self, view: _View) -> Iterator[_View]:
        for lead, pattern, value in _DECODERS:
            if lead in view.text:
                yield view.decoded(pattern, value)
        begun: set[int] = set()
        for anchor in self.anchors:
            at = view.text.find(anchor.text) if anchor.in_base64 else -1
            if at < 0:
                continue
            for run in _BASE64.finditer(view.text):
                while 0 <= at < run.end():
                    if at >= run.start() and (start := run.start() + (at - anchor.at - run.start()) % 4) not in begun:
                        begun.add(start)
                        yield view.from_base64(start, run.end())
                    at = view.text.find(anchor.text, at + 1)

    def _in_view(self, text: str, to_end: bool) -> Iterator[tuple[int, int]]:
        """Yield where it is in a decoded text, or its beginning before a cut."""
        for at in _each(text, self.begins):
            if text.startswith(self.whole, at):
                yield self._with_escapes(text, at)
            elif self._may_be_cut:
                half = _HALF.match(text, at + _common(text, at, self.whole))
                if half is not None and (to_end or half[0].endswith(_CUT)):
                    yield at, half.end() - half[0].endswith(_CUT)


def _each(text: str, part: str) -> Iterator[int]:
    """Yield each place of a part in a text, also those that overlap."""
    beginning = part[:_LONGEST]
    at = text.find(beginning)
    while at >= 0:
        if text.startswith(part, at):
            yield at
        at = text.find(beginning, at + 1)


def _common(text: str, at: int, part: str) -> int:
    """Return how many characters of a part are in a text at this place."""
    few, many = 0, min(len(part), len(text) - at)
    while few < many:
        middle = (few + many + 1) // 2
        if text.startswith(part[few:middle], at + few):
            few = middle
        else:
            many = middle - 1
    return few


def _escaped(text: str) -> list[tuple[int, int]]:
    """Return where letters and digits in a row are escaped."""
    rows: list[tuple[int, int]] = []
    for hint, letter in _ESCAPED:
        start = end = count = 0
        for match in letter.finditer(text) if hint in text else ():
            if not count or match.start() > end + _GAP:
                start, count = match.start(), 0
            end, count = match.end(), count + 1
            if count == _ROW:
                rows.append((start, end))
            elif count > _ROW:
                rows[-1] = start, end
    return rows


def _same(one: str, other: str) -> int:
    """Return how many characters at the beginning of two texts are the same."""
    for at, (left, right) in enumerate(zip(one, other, strict=False)):
        if left != right:
            return at
    return min(len(one), len(other))


def _parts(hits: list[int], reach: int, length: int) -> Iterator[tuple[int, int]]:
    """Yield the parts of a text of this length that are near hits."""
    first = last = -1
    for hit in [*hits, math.inf]:
        if last >= 0 and hit > last + 2 * reach:
            yield from _blocks(max(0, first - reach), min(length, last + reach), reach)
            last = -1
        if hit < math.inf:
            first, last = int(hit) if last < 0 else first, int(hit)


def _blocks(low: int, high: int, reach: int) -> Iterator[tuple[int, int]]:
    """Yield parts that overlap so far that each secret is whole in one of them."""
    for start in range(low, max(low + 1, high - 2 * reach), _BLOCK):
        yield start, min(high, start + _BLOCK + 2 * reach)


def _anchors(secret: str, *, in_large: bool) -> Iterator[_Anchor]:
    """Yield the anchors of a secret; in large texts fewer and longer ones, because each costs a search."""
    run, half = _run(secret), _LONG_HALF if in_large else _MIN_ANCHOR
    if run:
        yield from (_Anchor(text, at, False) for at, text in _pieces(secret, half))
    for spelling in (run,) if run else _spellings(secret)[: 2 if in_large else None]:
        for inner, phase in _in_base64(spelling):
            yield from (_Anchor(text, (phase + at) % 4, True) for at, text in _pieces(inner, half))
            for again, phase_again in _in_base64(inner) if not in_large and spelling in secret else ():
                yield from (_Anchor(text, (phase_again + at) % 4, True) for at, text in _pieces(again, len(again)))


def _run(text: str) -> str:
    """Return the longest run of letters and digits in a text; nothing if it is short."""
    run = max(_RUN.findall(text), key=len, default="")
    return run if len(run) >= _MIN_ANCHOR else ""


def _pieces(text: str, half: int) -> list[tuple[int, str]]:
    """Return the longest run of letters and digits, with its place; or halves, one of which survives a line break.

    `half`: the least length of a half.
    """
    run = _run(text)
    at, middle = text.find(run), len(run) // 2
    if not run:
        return []
    halves = [(at, run)] if middle < half else [(at, run[:middle]), (at + middle, run[middle:])]
    return [(place, piece[:_LONGEST]) for place, piece in halves]


def _in_base64(text: str) -> list[tuple[str, int]]:
    """Return the base64 of a text inside another one at each offset, and its place in a group of four."""
    raw = text.encode("utf-8", "surrogatepass")
    whole = [b64encode(b"\0" * offset + raw).decode("ascii") for offset in range(3)]
    return [(whole[offset][first : (offset + len(raw)) * 8 // 6], first) for offset, first in enumerate((0, 2, 3))]


def _spellings(secret: str) -> list[str]:
    """Return a secret as JSON has it."""
    import json

    quoted = json.dumps(secret)[1:-1]
    spellings = (secret, quoted, quoted.replace("/", "\\/"), json.dumps(secret, ensure_ascii=False)[1:-1])
    return list(dict.fromkeys(spellings))


def _telltales(char: str) -> tuple[str, ...]:
    """Return texts of which at least one is in every encoded form of a character: itself, its numbers, its names."""
    import html.entities

    code, unit = f"{ord(char):x}", char.encode("utf-16-be", "surrogatepass")[-2:].hex()
    lower = (code, unit, f"{char.encode('utf-8', 'surrogatepass')[-1]:02x}")
    short = [name for name, value in _CONTROLS.items() if value == char] + ["+", "2b", "2B"] * (char == " ")
    names = [name for name, value in html.entities.html5.items() if value == char]
    return tuple(dict.fromkeys((char, *short, *lower, *(text.upper() for text in lower), str(ord(char)), *names)))


class SecretFinder:
    """Finds the secrets that it was told in texts, in all their forms."""

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        self._known: dict[str, list[_Secret]] = {}
        """By secret, what is searched for it; the second only in texts that may be cut off."""
        self._anchors: dict[tuple[bool, bool], tuple[str, ...]] = {}
        """By whether a text is large and may be cut off."""
        for secret in secrets:
            self.add(secret)

    def add(self, secret: str) -> None:
        """Find this secret too, unless it is shorter than `SHORTEST`."""
        if len(secret) >= SHORTEST and secret not in self._known:
            self._known[secret] = []
            self._anchors.clear()

    def __iter__(self) -> Iterator[str]:
        return iter(tuple(self._known))

    def __len__(self) -> int:
        return len(self._known)

    def __contains__(self, secret: str) -> bool:
        return secret in self._known

    def _searched(self, cut: bool) -> Iterator[_Secret]:
        for secret, made in self._known.items():
            if not made:
                made += [_Secret(secret, begins) for begins in dict.fromkeys((secret, secret[:BEGINNING]))]
            yield from made if cut else made[:1]

    def anchors(self, *, large: bool = False, cut: bool = False) -> tuple[str, ...]:
        """Return texts of which at least one is in every text that has a secret."""
        anchors = self._anchors.get((large, cut))
        if anchors is None:
            texts: dict[str, None] = {}
            for secret in self._searched(cut):
                texts |= dict.fromkeys(anchor.text for anchor in (secret.anchors_in_large if large else secret.anchors))
                if secret.telltales:
                    texts[""] = None  # It is in every text.
            texts |= {secret[:BEGINNING]: None for secret in self._known if len(secret) > BEGINNING}
            anchors = self._anchors[large, cut] = tuple(texts)
        return anchors

    def places(self, text: str, *, cut: int = 0, depth: int = DEPTH) -> list[tuple[int, int]]:
        """Return where secrets are, as ascending (start, end) that do not overlap.

        The first `BEGINNING` characters of a secret are one where it was cut off: before "…", or where a word ends
        that goes on in the secret. `cut`: the text may itself be cut off, at its end or before "…"; a beginning of so
        many characters is a secret there, also if it is encoded.
        """
        if not self._known:
            return []
        is_cut = cut > 0
        places: list[tuple[int, int]] = []
        escaped = _escaped(text)
        present = escaped or any(map(text.__contains__, self.anchors(large=len(text) >= LARGE, cut=is_cut)))
        if present:
            places += (place for secret in self._searched(is_cut) for place in secret.in_text(text, depth, escaped))
        if present or (is_cut and _CUT in text):
            shortest = min(cut or BEGINNING, BEGINNING)
            places += (place for secret in self._known for place in _beginnings(text, secret, shortest))
        merged: list[tuple[int, int]] = []
        for start, end in sorted(places):
            if merged and start < merged[-1][1]:
                merged[-1] = merged[-1][0], max(end, merged[-1][1])
            else:
                merged.append((start, end))
        return merged

    def replaced(self, text: str, new: str | Callable[[str], str], *, cut: int = 0, depth: int = DEPTH) -> str:
        """Return the text with each secret replaced by `new`, or by what that makes of it. `cut`: see `places`."""
        parts: list[str] = []
        done = 0
        for start, end in self.places(text, cut=cut, depth=depth):
            parts += (text[done:start], new if isinstance(new, str) else new(text[start:end]))
            done = end
        return "".join(parts) + text[done:] if parts else text


def _beginnings(text: str, secret: str, shortest: int) -> Iterator[tuple[int, int]]:
    """Yield where a secret is cut off, of which `shortest` characters are left."""
    begins = secret[:shortest]
    at = text.find(begins) if len(secret) > shortest else -1
    while at >= 0:
        end, last = at + shortest, min(len(text), at + len(secret))
        while end < last and text[end] == secret[end - at]:
            end += 1
        whole = end == at + len(secret)
        if not whole and (_CUT_SIGN.match(text, end) or _ends_inside_a_word(text, secret, at, end)):
            yield at, end
        at = text.find(begins, end if whole else end - shortest + 1)


def _ends_inside_a_word(text: str, secret: str, at: int, end: int) -> bool:
    """Whether a word of a text ends where the secret that it begins goes on with a letter.

    A digit is a letter here. A beginning that ends with a word of the secret may be a name or the host of a URL.
    """
    around = secret[end - at - 1 : end - at + 1]
    return end - at >= BEGINNING and around.isascii() and around.isalnum() and not _WORD.match(text, end)
