"""Reads `phrases.toml`: groups of words, and patterns over them, which are searched for in one sentence.

The file says what the patterns mean. A sentence is split into words once. Each part of a pattern is then a list of
places, so that a search takes steps in proportion to the words, whatever the text is. `patterns.toml` has regular
expressions for what is not words.
"""

from __future__ import annotations

import re
import tomllib
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence, Set
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

FILE = Path(__file__).with_name("phrases.toml")
_GAPS = {".": 1, "..": 3, "...": 8, "....": 25}
"""Words that may stand between two parts of a pattern."""
_DENIED = 3
"""Words before a match among which a denial counts for it."""
_WORD = re.compile(
    r"https?://[^\s<>\"'`)]{0,300}+|(?P<word>[~$%.@/\\]{0,3}\w++(?:[./\\@-]{1,3}+\w++)*+)(?:['’](?P<end>[a-z]{1,2})\b)?"
    r"|[^\s\w`'\"‘’“”]"
)
_BREAKS = frozenset((",", ":", "(", ")", "—", "but", "and"))
"""A denial before one of them is about something else."""
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
        self._available: Set[str] = frozenset()
        known = _vocabulary()
        for at, word in enumerate(self.words):
            for group, length in known.groups_at(self.words, at):
                self.add(group, at, length)
            if word.text.startswith("http"):
                self.add("URL", at)

    def add(self, group: str, at: int, length: int = 1) -> None:
        """Note that the words from `at` belong to a group."""
        self.places.setdefault(group, []).append((at, at + length))

    def find(self, family: str) -> Span | None:
        """Return start and end of the text that a pattern of the family finds. Afterwards, no group may be added."""
        known = _vocabulary()
        self._available = self._available or known.available(self.places)
        by_group = known.by_rarest[family]
        for number in sorted({number for group in self._available for number in by_group.get(group, ())}):
            pattern = known.patterns[family][number]
            if _has_all(self._available, pattern.needs):
                span = pattern.search(self)
                if span is not None:
                    return self.words[span[0]].start, self.words[span[1] - 1].end
        return None

    def spans_of(self, group: str) -> list[Span]:
        """Where a group of words or a phrase stands."""
        if group not in self.places:
            sequences = _vocabulary().phrases.get(group, ())
            self.places[group] = sorted(span for sequence in sequences for span in sequence.spans(self))
        return self.places[group]

    def is_denied(self, at: int) -> bool:
        """Whether the words before the one at `at` deny it."""
        denials = {start for start, _ in self.places.get("NOT", ())}
        for before in range(at - 1, max(0, at - 1 - _DENIED), -1):
            if self.words[before].text in _BREAKS:
                return False
            if before in denials:
                return True
        return False


def _has_all(available: Set[str], needs: tuple[frozenset[str], ...]) -> bool:
    """Whether a search may find something; most end here."""
    return all(not groups.isdisjoint(available) for groups in needs)


class _Sequence:
    """Parts that follow each other."""

    def __init__(self, parts: Sequence[tuple[int, frozenset[str]]]) -> None:
        self._parts = parts
        """For each the most words before it, and the groups that it may be."""

    @property
    def needs(self) -> tuple[frozenset[str], ...]:
        """Groups of which each needs one."""
        return tuple(groups for _, groups in self._parts)

    def spans(self, sentence: Sentence) -> list[Span]:
        spans: list[Span] = []
        for number, (gap, groups) in enumerate(self._parts):
            places = sorted(place for group in groups for place in sentence.spans_of(group))
            if number:
                ends = sorted((end, start) for start, end in spans)
                spans = []
                for start, end in places:
                    before = bisect_right(ends, (start, len(sentence.words))) - 1
                    if before >= 0 and start - ends[before][0] <= gap:
                        spans.append((ends[before][1], end))
            else:
                spans = places
            if not spans:
                break
        return spans


class _Pattern:
    """Sequences that all stand in a sentence, in any order, and others of which none does."""

    def __init__(self, required: list[_Sequence], unwanted: list[_Sequence]) -> None:
        self._required, self._unwanted = required, unwanted
        self.needs = tuple(groups for sequence in required for groups in sequence.needs)
        """Groups of which a sentence needs one each."""

    def search(self, sentence: Sentence) -> Span | None:
        spans = []
        for sequence in self._required:
            span = next((span for span in sequence.spans(sentence) if not sentence.is_denied(span[0])), None)
            if span is None:
                return None
            spans.append(span)
        if any(sequence.spans(sentence) for sequence in self._unwanted):
            return None
        return min(start for start, _ in spans), max(end for _, end in spans)


class _Vocabulary:
    """The groups, phrases and patterns of the file."""

    def __init__(self) -> None:
        data = _data()
        self._grammar = {name: frozenset(_entries(words)) for name, words in data["grammar"].items()}
        self._by_first: dict[str, list[tuple[tuple[str, ...], str, str]]] = {}
        """By first word: the words of an entry, its group, and the form of its verb."""
        for group, words in data["words"].items():
            for entry in _entries(words):
                self._add(entry, group)
        for group, words in data["verbs"].items():
            for entry in _entries(words):
                verb, *particles = entry.split(" ")
                for form, written in _forms(verb):
                    self._add(" ".join([written, *particles]), group, form)
        self.phrases = {group: self._sequences(lines) for group, lines in data["phrases"].items()}
        self._needs = [(name, sequence.needs) for name, sequences in self.phrases.items() for sequence in sequences]
        self.patterns: dict[str, list[_Pattern]] = {}
        self.by_rarest: dict[str, dict[str, list[int]]] = {}
        """By family and group, the numbers of the patterns that need it or one as rare. Most searches end here."""
        for family, part in data["families"].items():
            unless = self._sequences(part.get("unless", ""))
            for key, name in (("finds", family), ("parameter", f"{family} parameter")):
                lines = (line.split(" ! ") for line in part.get(key, "").splitlines() if line)
                self.patterns[name] = [
                    _Pattern([*map(self._sequence, required.split(" & "))], [*map(self._sequence, unwanted), *unless])
                    for required, *unwanted in lines
                ]
        sizes = Counter(group for entries in self._by_first.values() for _, group, _ in entries)
        for name, patterns in self.patterns.items():
            index = self.by_rarest[name] = {}
            for number, pattern in enumerate(patterns):
                rarest = min(pattern.needs, key=lambda groups: sum(sizes.get(group, 100) for group in groups))
                for group in rarest:
                    index.setdefault(group, []).append(number)

    def available(self, places: Iterable[str]) -> Set[str]:
        """The groups in `places`, and the phrases that may stand with them."""
        groups = set(places)
        for name, needs in self._needs:
            if name not in groups and _has_all(groups, needs):
                groups.add(name)
        return groups

    def groups_at(self, words: list[Word], at: int) -> Iterator[tuple[str, int]]:
        """Yield (group, number of words) of the groups that begin with a word."""
        for entry, group, form in self._by_first.get(words[at].text, ()):
            length = len(entry)
            if length == 1 or tuple(word.text for word in words[at : at + length]) == entry:
                if form:
                    yield f"{group}*", length
                if not form or self._is_order(words, at, at + length, form):
                    yield group, length

    def _is_order(self, words: list[Word], start: int, end: int, form: str) -> bool:
        """Whether a form of a verb is an order there, rather than a statement about a tool, or a noun."""
        before, grammar = words[start - 1].text, self._grammar
        if form == "ing":
            return not before or before in grammar["before_ing"]
        if form == "past":
            be = next((at for at in range(start - 1, max(0, start - 5), -1) if words[at].text in ("be", "been")), 0)
            return be > 0 and not any(word.text in grammar["not_orders"] for word in words[max(1, be - 2) : be])
        if form != "base" or (end < len(words) and words[end].text in grammar["after_nouns"]):
            return False
        if before == "to":
            return words[start - 2].text in grammar["before_to"]
        if before in grammar["before_orders"]:
            return before not in grammar["adjectives"] or words[start - 2].text not in grammar["articles"]
        if not before or not (before[0].isalnum() or before[0] == "'"):
            return True
        # "For a better result add …": the comma that is missing.
        return (
            words[1].text in grammar["openings"]
            and not before.endswith("s")
            and before not in grammar["articles"]
            and before not in grammar["not_orders"]
            and words[start].text not in grammar["nouns"]
            and all(word.text != "," for word in words[2:start])
        )

    def _add(self, entry: str, group: str, form: str = "") -> None:
        words = (entry,) if entry.startswith("'") else tuple(word.text for word in _words(entry))
        entries = self._by_first.setdefault(words[0], [])
        if (words, group, form) not in entries:
            entries.append((words, group, form))

    def _sequences(self, lines: str) -> tuple[_Sequence, ...]:
        return tuple(self._sequence(line) for line in lines.splitlines() if line)

    def _sequence(self, line: str) -> _Sequence:
        parts, gap = [], 0
        for part in line.split():
            if part in _GAPS:
                gap = _GAPS[part]
                continue
            names = part.split("|")
            for name in names:
                if name.upper() != name or not name[0].isalpha():
                    self._add(name.replace("_", " "), name)
            parts.append((gap, frozenset(names)))
            gap = 0
        return _Sequence(parts)


@cache
def _data() -> dict[str, Any]:
    return tomllib.loads(FILE.read_text(encoding="utf-8"))


@cache
def _vocabulary() -> _Vocabulary:
    return _Vocabulary()


def listed(name: str) -> tuple[str, ...]:
    """The entries of one of the lists of names in the file."""
    return tuple(_entries(_data()["names"][name]))


@cache
def _expressions() -> dict[str, str]:
    return tomllib.loads(FILE.with_name("patterns.toml").read_text(encoding="utf-8"))


def alternatives(name: str) -> str:
    """One of the regular expressions of `patterns.toml`."""
    return "|".join(_expressions()[name].splitlines())


def _entries(words: str) -> Iterator[str]:
    return (entry.strip() for entry in words.split(",") if entry.strip())


def _words(text: str) -> Iterator[Word]:
    for match in _WORD.finditer(text):
        word, end = match["word"], match["end"]
        start, middle = match.start(), match.end("word")
        if word is not None and word.lower() == "cannot":
            yield Word("can", start, start + 3)
            yield Word("not", start + 3, middle)
        elif end is None:
            yield Word(match[0].lower(), start, match.end())
        elif end == "t" and word[-1] == "n":  # Don't, can't
            yield Word(word.lower().removesuffix("n") if word.lower() != "can" else "can", start, middle)
            yield Word("not", middle, match.end())
        else:
            yield Word(word.lower(), start, middle)
            yield Word(f"'{end}", middle, match.end())


def _forms(verb: str) -> Iterator[tuple[str, str]]:
    """Yield the forms of a verb: `send/sent` says what is not regular."""
    base, *past = verb.split("/")
    ends_in_y = base.endswith("y") and base[-2] not in "aeiou"
    takes_es = base.endswith(("s", "sh", "ch", "x", "z"))
    doubles = bool(past) and past[0] == f"{base}{base[-1]}ed"
    stem = base[:-1] if base.endswith("e") and not base.endswith("ee") else base + base[-1] * doubles
    yield "base", base
    yield "third", f"{base[:-1]}ies" if ends_in_y else f"{base}{'es' if takes_es else 's'}"
    yield "ing", f"{stem}ing"
    for form in past or [f"{base[:-1]}ied" if ends_in_y else f"{base.removesuffix('e')}ed"]:
        yield "past", form
