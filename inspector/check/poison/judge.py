"""Judges one text that a model reads: which families of poisoned text it belongs to, and by which words."""

from __future__ import annotations

from collections.abc import Iterator, Set
from typing import Literal, NamedTuple

from inspector.check.judge.clean_texts import CleanTexts, digest_of
from inspector.check.poison.families import FAMILIES, PoisonLevel
from inspector.check.poison.hidden_text import hidden_parts
from inspector.check.poison.phrases import depends_on_names, phrases
from inspector.check.poison.prepared_text import MAX_LENGTH, decoded, same_but_numbers, sentences, visible

TextPlace = Literal["definition", "result", "error"]
_SEVERE = frozenset(("secrecy", "exfil", "secretfile", "hidden"))
"""Families that stay a matter of security in data, which others have written."""
_innocent = CleanTexts()
"""Texts without a finding whatever the names of the server are, and how they were read.

A run of all checks reads the lists of a server once for each revision, and a long list repeats itself but for numbers.
"""


class PoisonedText(NamedTuple):
    """Words in a text that give an order to a model, or that a person does not see."""

    family: str
    level: PoisonLevel
    words: str
    """The words in their sentence, or for `hidden` what is hidden; the server's text."""
    inside: str = ""
    """`base64`, `comment`, …: the words stood encoded in the text."""


def judge_text(
    text: str,
    place: TextPlace = "definition",
    *,
    own: Set[str] = frozenset(),
    wanted: bool = False,
    hidden: bool = True,
) -> Iterator[PoisonedText]:
    """Yield what `text` tells a model to do, each family once.

    `place`: where it stands. `own`: names of this server (`phrases.own_names`). `wanted`: the text describes a
    parameter. `hidden`: whether invisible characters count; False where a result repeats what it was given.
    """
    data = place != "definition"
    raw = text[:MAX_LENGTH]
    key = _key(raw, data=data, wanted=wanted, hidden=hidden)
    if key in _innocent:
        return
    seen: set[str] = set()
    by_names = False
    for level, what in hidden_parts(raw) if hidden else ():
        seen.add("hidden")
        yield PoisonedText("hidden", level, what)
    parts = [("", raw), *((part.kind, part.text) for part in decoded(raw))]
    for kind, part in parts:
        for sentence in sentences(visible(part)):
            by_names = by_names or depends_on_names(sentence)
            for phrase in phrases(sentence, own=own, data=data, wanted=wanted):
                if phrase.family not in seen:
                    seen.add(phrase.family)
                    level = phrase.level or FAMILIES[phrase.family].level
                    if data and kind:
                        level = "security"  # An order in data that is also hidden from the user.
                    elif data and phrase.family not in _SEVERE and phrase.level is None:
                        level = "info"
                    yield PoisonedText(phrase.family, level, phrase.text, kind)
    if not seen and not by_names:
        _innocent.add(key)


def is_innocent(text: str, *, wanted: bool) -> bool:
    """Whether a text of a definition is known to hold nothing, whatever the names of the server are."""
    return _key(text[:MAX_LENGTH], data=False, wanted=wanted, hidden=True) in _innocent


def _key(raw: str, *, data: bool, wanted: bool, hidden: bool) -> bytes:
    return digest_of(same_but_numbers(raw), f"{data:d}{wanted:d}{hidden:d}")
