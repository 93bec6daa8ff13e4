"""Reads `phrases.toml`: groups of words, and patterns over them, which are searched for in one sentence.

The file says what the patterns mean. A sentence is split into words once. Each part of a pattern is then a list of
places, so that a search takes steps in proportion to the words, whatever the text is.
"""

from __future__ import annotations

import re
import tomllib
from bisect import bisect_right
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

FILE = Path(__file__).with_name("phrases.toml")
_GAPS = {".": 1, "..": 3, "...": 8, "....": 25}
"""Words that may stand between two parts of a pattern."""
_DENIED = 4
"""Words before a match among which a denial counts for it."""
_WORD = re.compile(
    r"(https?://[^\s<>\"'`)]{0,300}+)|(?P<word>[~$%.@/\\]{0,3}\w++(?:[./\\@-]{1,3}+\w++)*+)(?:['’](?P<end>[a-z]{1,2})\b)?"
    r"|[^\s\w`'\"‘’“”]"
)
_AFTER_TO = frozenset("has have had need needs is are ought want wants required sure remember forget obliged try".split())
Span = tuple[int, int]
"""The first word, and the one after the last."""


class Word(NamedTuple):
    """A word, a URL or a punctuation mark other than quotes."""

    text: str
    """In small letters."""
    start: int
    end: int
    """Where it stands in the sentence."""


class Sentence:
    """A sentence in words, and where the groups of words stand in it."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.words = [Word("", 0, 0), *_words(text)]
        """The first one is empty, so that each word has one before it."""
        self.places: dict[str, list[Span]] = {"^": [(0, 1)]}
        vocabulary = _vocabulary()
        for at, word in enumerate(self.words):
            for group, length in vocabulary.groups_at(self.words, at):
                self.places.setdefault(group, []).append((at, at + length))
            if word.text[:4] == "http":
                self.add("URL", at)

    def add(self, group: str, at: int, length: int = 1) -> None:
        """Note that the words from `at` belong to a group. The words of a group are added in order."""
        self.places.setdefault(group, []).append((at, at + length))

    def find(self, family: str) -> Span | None:
        """The first and last character of what a pattern of the family finds."""
        for pattern in _vocabulary().patterns.get(family, ()):
            found = pattern.search(self)
            if found is not None:
                return self.words[found[0]].start, self.words[found[1] - 1].end
        return None

    def has(self, group: str) -> bool:
        """Whether a group of words or a phrase stands in the sentence."""
        return bool(self.spans_of(group))

    def spans_of(self, group: str) -> list[Span]:
        found = self.places.get(group)
        if found is None:
            sequences = _vocabulary().phrases.get(group, ())
            found = sorted(span for sequence in sequences for span in sequence.spans(self)) if sequences else []
            self.places[group] = found
        return found

    def is_denied(self, at: int) -> bool:
        """Whether the words before the one at `at` deny it."""
        for before in range(at - 1, max(0, at - 1 - _DENIED), -1):
            if self.words[before].text in (",", ":", "(", ")", "—", "but", "and"):
                return False
            if any(start == before for start, _ in self.places.get("NOT", ())):
                return True
        return False


class _Sequence(NamedTuple):
    """Parts that follow each other: for each the most words before it, and the groups that it may be."""

    parts: tuple[tuple[int, tuple[str, ...]], ...]

    def spans(self, sentence: Sentence) -> list[Span]:
        found: list[Span] = []
        for number, (gap, groups) in enumerate(self.parts):
            places = sorted(place for group in groups for place in sentence.spans_of(group))
            if not number:
                found = places
                continue
            ends = sorted((end, start) for start, end in found)
            found = []
            for start, end in places:
                before = bisect_right(ends, (start, len(sentence.words))) - 1
                if before >= 0 and start - ends[before][0] <= gap:
                    found.append((ends[before][1], end))
            if not found:
                break
        return found


class _Pattern(NamedTuple):
    """Sequences that all stand in a sentence, in any order, and others of which none does."""

    wanted: tuple[_Sequence, ...]
    unwanted: tuple[_Sequence, ...]

    def search(self, sentence: Sentence) -> Span | None:
        spans = []
        for sequence in self.wanted:
            found = next((span for span in sequence.spans(sentence) if not sentence.is_denied(span[0])), None)
            if found is None:
                return None
            spans.append(found)
        if any(sequence.spans(sentence) for sequence in self.unwanted):
            return None
        return min(start for start, _ in spans), max(end for _, end in spans)


class _Vocabulary:
    """What the file says."""

    def __init__(self) -> None:
        data = _data()
        self._by_first: dict[str, list[tuple[tuple[str, ...], str]]] = {}
        for group, words in data["words"].items():
            for entry in _entries(words):
                self._add(entry, group)
        for group, words in data["verbs"].items():
            for entry in _entries(words):
                verb, *particles = entry.split(" ")
                for form, kind in _forms(verb):
                    self._add(" ".join([form, *particles]), f"{group} {kind}")
        self.phrases = {
            group: [self._sequence(line) for line in lines.strip().splitlines()]
            for group, lines in data["phrases"].items()
        }
        self.patterns = {}
        for family, part in data["families"].items():
            unless = tuple(map(self._sequence, part.get("unless", "").strip().splitlines()))
            for key, name in (("finds", family), ("parameter", f"{family} parameter")):
                self.patterns[name] = [self._pattern(line, unless) for line in part.get(key, "").strip().splitlines()]

    def groups_at(self, words: list[Word], at: int) -> Iterator[tuple[str, int]]:
        """Yield (group, number of words) of the groups that begin with a word."""
        for entry, group in self._by_first.get(words[at].text, ()):
            length = len(entry)
            if length == 1 or tuple(word.text for word in words[at : at + length]) == entry:
                verb, _, form = group.partition(" ")
                if form:
                    yield f"{verb}*", length
                    if not _is_order(words, at, at + length, form):
                        continue
                yield verb, length

    def _add(self, entry: str, group: str) -> None:
        words = (entry,) if entry[0] == "'" else tuple(word.text for word in _words(entry))
        entries = self._by_first.setdefault(words[0], [])
        if (words, group) not in entries:
            entries.append((words, group))

    def _pattern(self, line: str, unless: tuple[_Sequence, ...]) -> _Pattern:
        wanted, *unwanted = line.split(" ! ")
        return _Pattern(
            tuple(map(self._sequence, wanted.split(" & "))), (*map(self._sequence, unwanted), *unless)
        )

    def _sequence(self, line: str) -> _Sequence:
        gap, parts = 0, []
        for part in line.split():
            if part in _GAPS:
                gap = _GAPS[part]
                continue
            groups = []
            for name in part.split("|"):
                if name != "^" and (name.islower() or not name[0].isalpha()):
                    self._add(name.replace("_", " "), name)
                groups.append(name)
            parts.append((gap, tuple(groups)))
            gap = 0
        return _Sequence(tuple(parts))


@cache
def _data() -> dict[str, Any]:
    return tomllib.loads(FILE.read_text(encoding="utf-8"))


def listed(name: str) -> tuple[str, ...]:
    """The entries of a list of the file that stands in no section."""
    return tuple(_entries(_data()[name]))


@cache
def _vocabulary() -> _Vocabulary:
    return _Vocabulary()


def _entries(words: str) -> Iterator[str]:
    return (entry.strip() for entry in words.split(",") if entry.strip())


def _words(text: str) -> Iterator[Word]:
    for found in _WORD.finditer(text):
        word, end = found["word"], found["end"]
        start = found.start()
        if end is None:
            if word == "cannot":
                yield Word("can", start, start + 3)
                yield Word("not", start + 3, found.end())
            else:
                yield Word(found[0].lower(), start, found.end())
        elif end == "t" and word[-1] == "n":
            yield Word(word.lower() if word.lower() == "can" else word[:-1].lower(), start, found.end("word"))
            yield Word("not", found.end("word"), found.end())
        else:
            yield Word(word.lower(), start, found.end("word"))
            yield Word(f"'{end}", found.end("word"), found.end())


_VOWELS = frozenset("aeiou")


def _forms(verb: str) -> Iterator[tuple[str, str]]:
    """Yield the forms of a verb: `send/sent` says what is not regular."""
    base, *past = verb.split("/")
    yield base, "base"
    silent = base.endswith("e") and not base.endswith("ee")
    consonant_y = base.endswith("y") and base[-2] not in _VOWELS
    yield base[:-1] + "ies" if consonant_y else base + ("es" if base.endswith(("s", "sh", "ch", "x", "z")) else "s"), "s"
    doubled = base + base[-1] if past and past[0].endswith(base[-1] + "ed") and past[0][:-3] == base else base
    yield (base[:-1] if silent else doubled) + "ing", "ing"
    for form in past or [base[:-1] + "ied" if consonant_y else base + ("d" if base.endswith("e") else "ed")]:
        yield form, "ed"


def _is_order(words: list[Word], start: int, end: int, form: str) -> bool:
    """Whether a form of a verb is an order there, rather than a statement about a tool, or a noun."""
    before = words[start - 1].text
    if form == "base":
        if end < len(words) and words[end].text in ("of", "id", "ids"):
            return False
        if before == "to":
            return words[start - 2].text in _AFTER_TO
        if before in ("first", "next", "also", "only", "that") and words[start - 2].text in _DETERMINERS:
            return False
        if before in _leads() or not (before and (before[0].isalnum() or before[0] == "'")):
            return True
        return (
            words[1].text in _OPENINGS
            and before[-1] != "s"
            and before not in _DETERMINERS
            and before not in _POSSIBLE
            and words[start].text not in _NOUNS
            and all(word.text != "," for word in words[2:start])
        )
    if form == "ing":
        return before in ("by", "without", "avoid", "from", "stop", "keep", "start", "not", "")
    if form == "ed":
        for at in range(start - 1, max(0, start - 5), -1):
            if words[at].text in ("be", "been"):
                return not {word.text for word in words[max(1, at - 2) : at]} & _POSSIBLE
        return False
    return False


_DETERMINERS = frozenset("the a an its your our each every any".split())
_POSSIBLE = frozenset("can could may might will would that which who you it they we i he she".split())
_OPENINGS = frozenset("for before after when once with if from at".split())
_NOUNS = frozenset("report copy post log list share output print mail email quote dump store call use run set show display ask repeat need want load hand type state point look place link close end check request visit pull import order supply cat".split())


@cache
def _leads() -> frozenset[str]:
    return frozenset(_entries(_data()["words"]["LEAD"]))
