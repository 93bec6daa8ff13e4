"""Finds text that a model reads and a person does not see: invisible characters, encoded words, text out of sight."""

from __future__ import annotations

import re
from collections.abc import Iterator

from inspector.check.poison.families import PoisonLevel
from inspector.check.poison.prepared_text import MAX_LENGTH, decoded, is_mixed, is_plain
from inspector.compare.invisible_characters import hidden_in

_EMOJI_TAGS = re.compile("\U0001f3f4[\U000e0020-\U000e007e]+\U000e007f")
"""The flag of a region."""
_FORMULA = re.compile("[^\\W\\d_]+")
_ESCAPE = re.compile("\x1b\\[[0-9;?]*[ -/]*[@-~]|\x1b[@-Z\\\\-_]|\x9b")
_BLANK = re.compile(r"(?<!\s)\s{40,}+(?=\S)")
_CODE = re.compile(r"(?<![\w`])`<!--[^`\n]{0,4000}+`|(?m:^ *```.*\n(?:(?! *```).*\n)*+ *```)")
"""Code, in which a reader sees a comment."""
_SELECTORS = re.compile("[\ufe00-\ufe0f\U000e0100-\U000e01ef]{2,}")


def hidden_parts(text: str) -> Iterator[tuple[PoisonLevel, str]]:
    """Yield (level, what is hidden) for each kind that a text has."""
    searched = text[:MAX_LENGTH]
    if not is_plain(searched):
        searched = _EMOJI_TAGS.sub("", searched)
        yield from _odd_characters(searched)
    for part in decoded(_CODE.sub(lambda code: code[0].replace("<!--", ""), searched)):
        kind = {"comment": "an HTML comment", "tags": "tag characters"}.get(part.kind, f"text in {part.kind}")
        level: PoisonLevel = "security" if part.kind == "tags" else "lint"
        yield level, f"{kind} that says “{' '.join(part.text.split())[:120]}”"
    if any(blank[0].count("\n") >= 40 or len(blank[0]) >= 200 for blank in _BLANK.finditer(searched)):
        yield "lint", "text behind many empty lines or blanks"


def _odd_characters(searched: str) -> Iterator[tuple[PoisonLevel, str]]:
    if _ESCAPE.search(searched):
        yield "security", "a terminal escape sequence"
    hidden = hidden_in(_ESCAPE.sub("", searched))
    if hidden is not None:
        yield "security", str(hidden)
    elif _SELECTORS.search(searched):
        yield "security", "several variation selectors in a row"
    mixed = next((word for word in _FORMULA.findall(searched) if is_mixed(word)), "")
    if mixed:
        yield "security", f"the word “{mixed[:60]}” with look-alike letters of another script"
