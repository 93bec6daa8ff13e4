"""Detects invisible characters in a text, which a model reads and a person does not see."""

from __future__ import annotations

import re
import unicodedata
from typing import Any, NamedTuple

from inspector.text import INVISIBLE

MAX_SEARCHED = 1 << 20
"""Characters of a text that are searched."""
MAX_KINDS = 4
"""Kinds of hidden characters that are listed."""
MAX_SPELLED = 200
"""Characters shown of the text in tag characters."""

_PLAIN = re.compile(r"[ -~\n\r\t]*")
# As invisible as those of the categories below, but counted as letters, marks or signs by Unicode.
_FILLERS = INVISIBLE | {"\u2800"}
_NOT_SHOWN = frozenset(("Cc", "Cf", "Co", "Cn", "Cs", "Zl", "Zp"))


class Hidden(NamedTuple):
    """The hidden characters of a text."""

    amount: int
    kinds: tuple[str, ...]
    """Code points, as `U+200B`, most frequent first; `MAX_KINDS` at most."""
    spelled: str
    """The ASCII text of its tag characters (U+E0020 to U+E007E); empty without any."""

    def __str__(self) -> str:
        """Describe them: `3 invisible characters (U+200B)`, `… that spell “…”`. The spelling is the server's text."""
        words = f"{self.amount:,} invisible character{'' if self.amount == 1 else 's'} ({', '.join(self.kinds)})"
        return words + (f" that spell “{self.spelled[:MAX_SPELLED]}”" if self.spelled else "")


def hidden_in(value: Any) -> Hidden | None:
    """Return the hidden characters in a text, or in all texts of a JSON value; None if there are none."""
    counts: dict[str, int] = {}
    spelled: list[str] = []
    room = MAX_SEARCHED
    todo = [value]
    while todo and room > 0:
        item = todo.pop()
        if isinstance(item, dict):
            todo += (*item, *item.values())
        elif isinstance(item, list):
            todo += item
        elif isinstance(item, str):
            _count_hidden(item[:room], counts, spelled)
            room -= len(item) + 1
        else:
            room -= 1
    if not counts:
        return None
    kinds = sorted(counts, key=lambda char: (-counts[char], char))
    return Hidden(
        sum(counts.values()),
        tuple(f"U+{ord(char):04X}" for char in kinds[:MAX_KINDS]),
        "".join(spelled)[: MAX_SPELLED * 4],
    )


def _count_hidden(text: str, counts: dict[str, int], spelled: list[str]) -> None:
    plain = _PLAIN.match(text)
    if plain is not None and plain.end() == len(text):
        return
    for at, char in enumerate(text):
        if _is_hidden(char, text[at - 1] if at else ""):
            counts[char] = counts.get(char, 0) + 1
            if "\U000e0020" <= char <= "\U000e007e":
                spelled.append(chr(ord(char) - 0xE0000))


def _is_hidden(char: str, before: str) -> bool:
    if char < "\x7f":
        return char < " " and char not in "\n\r\t"
    if char in _FILLERS or "\U000e0100" <= char <= "\U000e01ef":
        return True
    if char in "\u200c\u200d" and "\u0590" <= before < "\u2000":
        return False  # Arabic, Persian and Indic scripts use them in words.
    if char in "\u200d\ufe0e\ufe0f":
        # Between emoji they combine several into one, which is their purpose.
        return not (before and (before >= "\u2000" or before in "#*0123456789\u00a9\u00ae"))
    return "\ufe00" <= char <= "\ufe0d" or unicodedata.category(char) in _NOT_SHOWN
