"""Makes texts that match a regular expression, as far as it is simple. Nothing is proven by them: validate them."""

from __future__ import annotations

MAX_LENGTH = 4_096
"""Characters of a text."""
MAX_NESTING = 30
"""Groups inside each other."""
_CLASSES = {"d": "01", "w": "a0A_", "s": " \t", "D": "a ", "W": "- ", "S": "a0", "n": "\n", "t": "\t", "r": "\r"}
_SOME = "a0A -_é"


def texts(pattern: str, variants: int = 4) -> list[str]:
    """Return a few texts, the shortest variant first; none if the pattern is not understood."""
    found = []
    for variant in range(variants):
        try:
            found.append(_Reader(pattern, variant).alternatives())
        except (_NotSimple, IndexError, ValueError):
            return []
    return list(dict.fromkeys(found))


class _NotSimple(Exception):
    """The pattern has a part that no text is made for."""


class _Reader:
    """Reads a pattern once and makes the text of one variant of its choices and repetitions."""

    def __init__(self, pattern: str, variant: int) -> None:
        self.pattern = pattern
        self.variant = variant
        self.at = 0
        self.depth = 0

    def alternatives(self) -> str:
        self.depth += 1
        if self.depth > MAX_NESTING:
            raise _NotSimple
        found = [self.sequence()]
        while self.next_is("|"):
            found.append(self.sequence())
        self.depth -= 1
        if self.depth == 0 and self.at < len(self.pattern):
            raise _NotSimple
        return found[self.variant % len(found)]

    def sequence(self) -> str:
        made = ""
        while self.at < len(self.pattern) and self.pattern[self.at] not in "|)":
            made += self.repeated(self.atom())
            if len(made) > MAX_LENGTH:
                raise _NotSimple
        return made

    def atom(self) -> str:
        char = self.pattern[self.at]
        self.at += 1
        if char in "^$":
            return ""
        if char == ".":
            return self.one_of("a0")
        if char == "[":
            return self.one_of(self.character_class())
        if char == "\\":
            return self.one_of(self.escaped())
        if char == "(":
            if self.next_is("?"):
                if self.next_is("P") or self.pattern[self.at] == "<":
                    if self.pattern[self.at + 1] in "=!":
                        raise _NotSimple
                    self.at = self.pattern.index(">", self.at)
                elif self.pattern[self.at] != ":":
                    raise _NotSimple
                self.at += 1
            made = self.alternatives()
            if not self.next_is(")"):
                raise _NotSimple
            return made
        if char in "*+?{}":
            raise _NotSimple
        return char

    def repeated(self, made: str) -> str:
        if self.at == len(self.pattern):
            return made
        least, most = {"*": (0, 3), "+": (1, 4), "?": (0, 1)}.get(self.pattern[self.at], (-1, -1))
        if least >= 0:
            self.at += 1
        elif self.next_is("{"):
            end = self.pattern.index("}", self.at)
            low, comma, high = self.pattern[self.at : end].partition(",")
            least = int(low or 0)
            most = int(high) if high else least + 3 * bool(comma)
            self.at = end + 1
        else:
            return made
        if self.at < len(self.pattern) and self.pattern[self.at] in "?+":
            self.at += 1
        times = min(least + self.variant, most)
        if times * len(made) > MAX_LENGTH:
            raise _NotSimple
        return made * times

    def escaped(self) -> str:
        char = self.pattern[self.at]
        self.at += 1
        if char in "xu":
            size = 2 if char == "x" else 4
            self.at += size
            return chr(int(self.pattern[self.at - size : self.at], 16))
        if char.isalnum() and char not in _CLASSES:
            raise _NotSimple
        return _CLASSES.get(char, char)

    def character_class(self) -> str:
        refused = self.next_is("^")
        found = ""
        while not self.next_is("]") or not found:
            char = self.pattern[self.at]
            self.at += 1
            some = self.escaped() if char == "\\" else char
            if self.pattern[self.at] == "-" and self.pattern[self.at + 1] != "]":
                last = self.pattern[self.at + 1]
                self.at += 2
                if last == "\\" or len(some) > 1 or last < some:
                    raise _NotSimple
                if refused:
                    found += "".join(one for one in _SOME if some <= one <= last) or some
                else:
                    found += some + last
            else:
                found += some
        return "".join(one for one in _SOME if one not in found) if refused else found

    def one_of(self, characters: str) -> str:
        return characters[self.variant % len(characters)]

    def next_is(self, char: str) -> bool:
        if self.pattern[self.at : self.at + 1] != char:
            return False
        self.at += 1
        return True
