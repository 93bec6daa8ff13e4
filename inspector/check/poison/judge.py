"""Judges one text that a model reads: which families of poisoned text it belongs to, and by which words."""

from __future__ import annotations

from collections.abc import Iterator, Set
from functools import lru_cache
from typing import Literal, NamedTuple

from inspector.check.judge.clean_texts import CleanTexts, digest_of
from inspector.check.poison.families import FAMILIES, PoisonLevel
from inspector.check.poison.hidden_text import hidden_parts
from inspector.check.poison.phrases import depends_on_names, phrases, read
from inspector.check.poison.prepared_text import MAX_LENGTH, decoded, same_but_numbers, sentences, visible

MAX_READ = 1 << 20
"""Characters of the texts of one message that are read."""
_MIN_COUNTED = 16
"""Characters that a shorter text counts as."""
_PAUSE_AFTER = 4_000
"""Characters that are read between two pauses."""
TextPlace = Literal["definition", "result", "error"]
_SEVERE = frozenset(("secrecy", "exfil", "secretfile", "hidden"))
"""Families that stay a matter of security in data, which others have written."""
_innocent = CleanTexts()
"""Texts without a finding whatever the names of the server are, and how they were read.

A run of all checks reads the lists of a server once for each revision, and a long list repeats itself but for numbers.
"""
_innocent_here = CleanTexts()
"""Texts without a finding that mention names, with the names of the server, and how they were read."""


class PoisonedText(NamedTuple):
    """Words in a text that give an order to a model, or that a person does not see."""

    family: str
    level: PoisonLevel
    words: str
    """The words in their sentence, or for `hidden` what is hidden; the server's text."""
    inside: str = ""
    """`base64`, `comment`, …: the words stood encoded in the text."""


class Reading:
    """Counts what is read of the texts of one message, so that no message costs more than another."""

    def __init__(self) -> None:
        self._left = MAX_READ
        self._since = 0
        self.unread = 0
        """Characters beyond the limits of a text and of the message."""

    def cut(self, text: str) -> str:
        """Return the part of a text that may be read."""
        part = text[: min(MAX_LENGTH, self._left)]
        self._left = max(0, self._left - max(len(part), _MIN_COUNTED))
        self.unread += len(text) - len(part)
        return part

    def wants_pause(self, read: int) -> bool:
        """Whether a pause is due after so many more characters."""
        self._since += read
        if self._since < _PAUSE_AFTER:
            return False
        self._since = 0
        return True


def judge_text(
    text: str,
    place: TextPlace = "definition",
    *,
    own: Set[str] = frozenset(),
    is_parameter: bool = False,
    hidden: bool = True,
) -> Iterator[PoisonedText]:
    """Yield what `text` tells a model to do, each family once: see `read_text`."""
    texts = read_text(text[:MAX_LENGTH], place, Reading(), own=own, is_parameter=is_parameter, hidden=hidden)
    return (poisoned for poisoned in texts if poisoned is not None)


def read_text(
    raw: str,
    place: TextPlace,
    reading: Reading,
    *,
    own: Set[str] = frozenset(),
    is_parameter: bool = False,
    hidden: bool = True,
) -> Iterator[PoisonedText | None]:
    """Yield what a text tells a model to do, each family once, and None where the caller may pause.

    `place`: where it stands. `own`: names of this server (`phrases.own_names`). `is_parameter`: the text describes a
    parameter. `hidden`: whether invisible characters count; False where a result repeats what it was given.
    """
    data = place != "definition"
    key = _key(raw, data=data, is_parameter=is_parameter, hidden=hidden)
    if key in _innocent or (key_here := _key_here(raw, key, own)) in _innocent_here:
        return
    seen: set[str] = set()
    by_names = False
    for level, what in hidden_parts(raw) if hidden else ():
        seen.add("hidden")
        yield PoisonedText("hidden", level, what)
    parts = [("", raw), *((part.kind, part.text) for part in decoded(raw))]
    for kind, part in parts:
        for text in sentences(visible(part)):
            if reading.wants_pause(len(text)):
                yield None
            sentence = read(text, own)
            by_names = by_names or depends_on_names(sentence)
            for phrase in phrases(sentence, data=data, is_parameter=is_parameter):
                if phrase.family not in seen:
                    seen.add(phrase.family)
                    level = phrase.level or FAMILIES[phrase.family].level
                    if data and kind:
                        level = "security"  # An order in data that is also hidden from the user.
                    elif data and phrase.family not in _SEVERE and phrase.level is None:
                        level = "info"
                    yield PoisonedText(phrase.family, level, phrase.text, kind)
    if not seen:
        if by_names:
            _innocent_here.add(key_here)
        else:
            _innocent.add(key)


def is_innocent(text: str, *, is_parameter: bool) -> bool:
    """Whether a text of a definition is known to hold nothing, whatever the names of the server are."""
    return _key(text[:MAX_LENGTH], data=False, is_parameter=is_parameter, hidden=True) in _innocent


def _key_here(raw: str, key: bytes, own: Set[str]) -> bytes:
    """Like `key`, but for these names, and with the numbers of the text, which names may have."""
    return key + digest_of(raw) + _digest_of_names(frozenset(own))


@lru_cache(maxsize=64)
def _digest_of_names(own: frozenset[str]) -> bytes:
    return digest_of("\0".join(sorted(own)))


def _key(raw: str, *, data: bool, is_parameter: bool, hidden: bool) -> bytes:
    return digest_of(same_but_numbers(raw), f"{data:d}{is_parameter:d}{hidden:d}")
