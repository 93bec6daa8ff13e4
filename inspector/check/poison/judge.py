"""Judges one text that a model reads: which families of poisoned text it belongs to, and by which words."""

from __future__ import annotations

from collections.abc import Iterator, Set
from typing import Literal, NamedTuple

from inspector.check.poison.families import FAMILIES, Level
from inspector.check.poison.hidden_text import hidden_parts
from inspector.check.poison.phrases import phrases
from inspector.check.poison.prepared import LONGEST, decoded, sentences, visible

Place = Literal["definition", "result", "error"]
_SEVERE = frozenset(("secrecy", "exfil", "secretfile", "hidden"))
"""Families that stay a matter of security in data, which others have written."""


class Poison(NamedTuple):
    """Words in a text that give an order to a model, or that a person does not see."""

    family: str
    level: Level
    words: str
    """The words in their sentence, or for `hidden` what is hidden; the server's text."""
    inside: str = ""
    """`base64`, `comment`, …: the words stood encoded in the text."""


def judge_text(
    text: str, place: Place = "definition", *, own: Set[str] = frozenset(), wanted: bool = False, hidden: bool = True
) -> Iterator[Poison]:
    """Yield what `text` tells a model to do, each family once.

    `place`: where it stands. `own`: names of this server (`phrases.own_names`). `wanted`: the text describes a
    parameter. `hidden`: whether invisible characters count; False where a result repeats what it was given.
    """
    data = place != "definition"
    raw = text[:LONGEST]
    seen: set[str] = set()
    for level, what in hidden_parts(raw) if hidden else ():
        seen.add("hidden")
        yield Poison("hidden", level, what)
    parts = [("", raw), *((part.kind, part.text) for part in decoded(raw))]
    for kind, part in parts:
        for sentence in sentences(visible(part)):
            for phrase in phrases(sentence, own=own, data=data, wanted=wanted):
                if phrase.family not in seen:
                    seen.add(phrase.family)
                    level = phrase.level or FAMILIES[phrase.family].level
                    if data and kind:
                        level = "security"  # An order in data that is also hidden from the user.
                    elif data and phrase.family not in _SEVERE and phrase.level is None:
                        level = "info"
                    yield Poison(phrase.family, level, phrase.text, kind)
