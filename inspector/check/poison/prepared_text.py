"""A text as the rules read it: without invisible characters, with look-alike letters folded, in sentences."""

from __future__ import annotations

import base64
import binascii
import html
import re
import unicodedata
from collections.abc import Iterator
from typing import NamedTuple
from urllib.parse import unquote_to_bytes

MAX_LENGTH = 1 << 16
"""Characters of one text that are read."""
_MAX_SENTENCE, _OVERLAP = 2_000, 300
"""Characters: a longer sentence is read in pieces that overlap, so that no rule reads far."""
_MAX_COMMENT = 4_000
"""Characters of a comment that is read; a longer one is skipped."""
_MAX_DECODED = 40
"""Encoded parts of one text that are decoded."""

_PAIRS = (
    "аaсcеeоoрpхxуyіiјjѕsԁdһhԛqԝwАAВBСCЕEНHІIЈJКKМMОOРPЅSТTХXУY"  # Cyrillic
    "αaοoεeρpυuνvιiκkΑAΒBΕEΖZΗHΙIΚKΜMΝNΟOΡPΤTΥYΧX"  # Greek
)
LOOK_ALIKE = dict(zip(_PAIRS[::2], _PAIRS[1::2], strict=True))
"""Cyrillic and Greek letters that look like a Latin one."""
_WORD = re.compile(r"[^\W\d_]+")
_LATIN = re.compile(r"[A-Za-z]")
_BASE64 = re.compile(r"(?<![A-Za-z0-9+/=])[A-Za-z0-9+/_-]{16,4000}={0,2}(?![A-Za-z0-9+/])")
_HEX = re.compile(r"(?<![0-9A-Za-z])(?:[0-9a-fA-F]{2}){8,2000}(?![0-9A-Za-z])|(?:\\x[0-9a-fA-F]{2}){4,2000}")
_ESCAPES = re.compile(r"(?:\\u[0-9a-fA-F]{4} ?){4,2000}")
_PERCENT = re.compile(r"(?:%[0-9a-fA-F]{2}){4,2000}")
_END = re.compile(r"(?<=[.!?])[\s\"'”’)\]]*\s|\n\s*\n|\n(?=\s*(?:[-*#>\d]|[A-Z<\[]))|\r")
_IN_JSON = re.compile(r'\s*[{\[]\s*["{\[]')
_END_OF_STRING = re.compile(r'(?<!\\)"\s{0,100}[:,}\]]')
_BLANKS = re.compile(r"\s{2,}")
_CONTINUES = re.compile(r"\s*(?:it|this|that|then|its|them)\b", re.IGNORECASE)
_SPELLED = re.compile(r"(?<![A-Za-z0-9])[A-Za-z]([ .*_-])[A-Za-z](?:\1[A-Za-z](?![A-Za-z0-9])){3,}")
"""A word of five letters or more, with the same separator between all of them."""
_CODE = re.compile(r"`[^`\n]{1,300}`")
_PLAIN = re.compile(r"[ -~\n\t]*")
"""What is visible as it is. Most texts are, and need no look at each character."""
_ENTITIES = re.compile(r"(?:&#x?[0-9a-fA-F]{1,6};){4,2000}")
_ENCODINGS = (("base64", _BASE64), ("hex", _HEX), ("percent", _PERCENT), ("entities", _ENTITIES), ("escapes", _ESCAPES))
_SOLID = re.compile(r"[A-Za-z0-9+/_-]{16}|\\[xu]|%|&#")
"""Each encoded text has one of these."""
_MARKDOWN_COMMENT = re.compile(r"(?m)^ {0,3}\[(?://|comment|_metadata_)\]: ?(?:#|<>) ?[(\"]([^\n]{1,4000}+)")
_HIDDEN_ELEMENT = re.compile(
    r"<\w{1,20}\b[^<>]{0,200}?(?:\bhidden\b|display:\s?none|visibility:\s?hidden|font-size:\s?0|opacity:\s?0)[^<>]{0,200}+>"
    r"([^<>]{1,4000}+)",
    re.IGNORECASE,
)
_ONE_SENTENCE = re.compile(r"[^.!?;\n\r`]*")
_NUMBER = re.compile(r"[A-Za-z0-9+/_-]{16,}+|(?<![A-Za-z0-9])[0-9]++(?![A-Za-z])")
"""What may be encoded, or a number outside a word."""


class DecodedText(NamedTuple):
    """A part of a text that a person does not read as words, and what it says."""

    kind: str
    """`comment`, `a hidden element`, `tags`, or one of `_ENCODINGS`."""
    text: str


def is_plain(text: str) -> bool:
    """Whether a text has only printable ASCII characters, tabs and line feeds."""
    return text.isascii() and _PLAIN.fullmatch(text) is not None


def same_but_numbers(text: str) -> str:
    """`text` with 0 for each digit of its numbers. No rule reads a number, unless it is a part of a word or encoded."""
    if not text.isascii() or "%" in text or "\\x" in text:
        return text
    return _NUMBER.sub(lambda match: match[0] if len(match[0]) > 15 else "0" * len(match[0]), text)


def visible(text: str) -> str:
    """`text` without invisible and control characters, each mixed word in Latin letters; of another length."""
    if is_plain(text):
        return _joined(text)
    kept = "".join(
        char
        for char in unicodedata.normalize("NFKC", text)
        if char in "\n\t" or unicodedata.category(char) not in ("Cc", "Cf", "Cn", "Co", "Cs", "Mn")
    )
    return _joined(_WORD.sub(lambda match: fold(match[0]) if is_mixed(match[0]) else match[0], kept))


def _joined(text: str) -> str:
    """`text` with words that are spelled out in single letters written as words: `i g n o r e`."""
    return _SPELLED.sub(lambda match: re.sub(r"[ .*_-]", "", match[0]), text)


def is_mixed(word: str) -> bool:
    """Whether a word has Latin letters beside letters of another script that look Latin."""
    return not word.isascii() and bool(_LATIN.search(word)) and any(char in LOOK_ALIKE for char in word)


def fold(word: str) -> str:
    """`word` with Latin letters where others look like them."""
    return "".join(LOOK_ALIKE.get(char, char) for char in word)


def sentences(text: str) -> Iterator[str]:
    """Yield the sentences of a prepared text.

    A sentence that begins with it, this, that or then comes with the one before it. Those of JSON are in its strings.
    """
    if _IN_JSON.match(text):
        for part in _END_OF_STRING.split(text):
            words = part.strip(' \t\n{}[],"')
            if " " in words:  # A key, or another single word, is not an order.
                yield from sentences(words)
        return
    if len(text) <= _MAX_SENTENCE and _ONE_SENTENCE.fullmatch(text):
        only = " ".join(text.split())
        if only:
            yield only
        return
    close = _BLANKS.sub(lambda blank: "\n\n" if blank[0].count("\n") > 1 else "\n" if "\n" in blank[0] else " ", text)
    solid = _CODE.sub(lambda match: match[0].replace(" ", "\u00a0"), close)
    before = ""
    for part in _END.split(solid):
        sentence = " ".join(part.split())
        if not sentence:
            continue
        for start in range(0, len(sentence), _MAX_SENTENCE - _OVERLAP):
            piece = sentence[start : start + _MAX_SENTENCE]
            yield f"{before} {piece}" if before and not start and _CONTINUES.match(piece) else piece
            if start + _MAX_SENTENCE >= len(sentence):
                break
        before = sentence[-_OVERLAP:]


def decoded(text: str) -> Iterator[DecodedText]:
    """Yield what comments, hidden elements and encoded parts of a text say, where that is words."""
    for comment in (*_comments(text), *(match[1] for match in _MARKDOWN_COMMENT.finditer(text))):
        if says_words(comment):
            yield DecodedText("comment", comment.strip())
    for match in _HIDDEN_ELEMENT.finditer(text):
        if says_words(match[1]):
            yield DecodedText("a hidden element", match[1].strip())
    if not text.isascii():
        tags = "".join(chr(ord(char) - 0xE0000) for char in text if "\U000e0020" <= char <= "\U000e007e")
        if len(tags) > 8:
            yield DecodedText("tags", tags)
    if _SOLID.search(text) is None:
        return
    left = _MAX_DECODED
    for kind, pattern in _ENCODINGS:
        for match in pattern.finditer(text):
            left -= 1
            if left < 0:
                return
            words = _decoded(kind, match[0])
            if says_words(words):
                yield DecodedText(kind, words)


def _comments(text: str) -> Iterator[str]:
    """Yield the content of each HTML comment of a text."""
    at = text.find("<!--")
    while at >= 0 and (end := text.find("-->", at + 5)) >= 0:
        if end - at > _MAX_COMMENT + 4:
            at = text.find("<!--", max(at + 4, end - _MAX_COMMENT - 4))
            continue
        yield text[at + 4 : end]
        at = text.find("<!--", end + 3)


def _decoded(kind: str, run: str) -> str:
    try:
        if kind == "percent":
            return unquote_to_bytes(run).decode("utf-8")
        if kind == "entities":
            return html.unescape(run)
        if kind == "escapes":
            return re.sub(r"\\u([0-9a-fA-F]{4})", lambda match: chr(int(match[1], 16)), run)
        if kind == "hex":
            return bytes.fromhex(run.replace("\\x", "")).decode("utf-8")
        plain = run.rstrip("=").replace("-", "+").replace("_", "/")
        return base64.b64decode(plain + "=" * (-len(plain) % 4), validate=True).decode("utf-8")
    except (binascii.Error, ValueError):
        return ""


_MARKER = re.compile(
    r"\s*(?:page|toc|more|end|begin|start|todo|…|\.\.\.|prettier-ignore|markdownlint)\b[\s:\d\w-]{0,20}$"
    r"|\s*(?:eslint|markdownlint)-(?:dis|en)able[\w-]*(?:\s+[\w@/-]{1,60}(?:,\s*[\w@/-]{1,60}){0,9})?\s*$"
    r"|\s*mcp-name:\s*\S{1,200}\s*$",
    re.I,
)


def says_words(text: str) -> bool:
    """Whether a text is prose: printable, two words or more, and neither JSON nor a marker such as `Page: 2`."""
    stripped = text.strip()
    if not stripped or stripped[0] in "{[" or _MARKER.match(stripped):
        return False
    if any(not char.isprintable() and char not in "\n\r\t" for char in stripped):
        return False
    words = re.findall(r"[^\W\d_]{2,}", stripped)
    return len(words) >= 2 and sum(map(len, words)) >= len(stripped) * 0.6
