"""Names that give something away: parameters that want the model's context, names that imitate others."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator

from inspector.check.poison.phrases import WELL_KNOWN
from inspector.check.poison.prepared_text import fold
from inspector.check.poison.word_patterns import alternatives, listed

_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_PAIRS = re.compile(
    rf"(?:{alternatives('parameter')})(?: (?:text|json|string|str|raw|full|data|value|content|dump))?\Z"
)
_ALONE = ("chain of thought", "scratchpad", "sidenote", "inner monologue", "chatlog", "chathistory")
_ABOUT = re.compile(rf"\b(?:{alternatives('about_models')})\b", re.IGNORECASE)


def wants_context(name: str, tool: str, about: str) -> bool:
    """Whether a parameter of a tool that is about something else asks for what the model knows from elsewhere."""
    words = [word.lower() for word in re.split(r"[^A-Za-z0-9]+|" + _CAMEL.pattern, name) if word]
    joined = " ".join(words)
    if _PAIRS.search(joined) is None and not any(alone in joined for alone in _ALONE):
        return False
    subject = " ".join(re.split(r"[^A-Za-z0-9]+|" + _CAMEL.pattern, tool))
    if "tool" in joined and "tool" in subject.lower():
        return False
    return _ABOUT.search(subject) is None and _ABOUT.search(about) is None


GENERIC = frozenset(("search", "fetch"))
"""Names that some hosts require, so that many servers have them."""


def same_name(name: str) -> str:
    """The form in which names of tools on two servers are compared: case, separators and look-alikes do not count."""
    visible = "".join(
        char
        for char in unicodedata.normalize("NFKC", name)
        if unicodedata.category(char) not in ("Cf", "Cc", "Mn", "Cn", "Co")
    )
    return re.sub(r"[-_.\s/]", "", fold(visible)).lower()


def shared_names(servers: Iterable[tuple[str, Iterable[str]]]) -> Iterator[tuple[str, str, str, str]]:
    """Yield (server, name, other server, its name) for each name that two servers of [(server, names)] share."""
    seen: dict[str, tuple[str, str]] = {}
    for server, names in servers:
        own: dict[str, tuple[str, str]] = {}
        for name in names:
            form = same_name(name)
            if form in seen:
                other, its = seen[form]
                yield other, its, server, name
            own.setdefault(form, (server, name))
        for form, place in own.items():
            seen.setdefault(form, place)


_DIGITS = str.maketrans({"0": "o", "1": "l", "3": "e", "5": "s", "I": "l"})
_REAL = frozenset((*listed("no_imitations"), *(known.replace("-", "") for known in WELL_KNOWN)))
_NOT_A_PART = frozenset(("mcp", "server", "the", "servers", "client"))


def imitated(name: str) -> str:
    """The well-known name that a part of `name` looks like without being it; empty if there is none."""
    for part in re.split(r"[^\w]+|_", name):
        if not part or part.lower() in _NOT_A_PART or part.lower() in WELL_KNOWN or part.lower() in _REAL:
            continue
        for known in WELL_KNOWN:
            if _looks_like(part, known):
                return known
    return ""


def _looks_like(part: str, known: str) -> bool:
    folded = fold(part)
    digits = folded.translate(_DIGITS).lower()
    ones = folded.replace("1", "i").translate(_DIGITS).lower()
    plain = part.lower()
    if (digits == known or ones == known) and plain != known:
        return True
    if len(plain) == len(known):
        differing = [at for at in range(len(plain)) if plain[at] != known[at]]
        if len(differing) == 2 and differing[1] == differing[0] + 1:
            first, second = differing
            if plain[first] == known[second] and plain[second] == known[first]:
                return True
    return len(known) >= 7 and _one_apart(plain, known)


def _one_apart(a: str, b: str) -> bool:
    if abs(len(a) - len(b)) > 1 or a == b:
        return False
    start = 0
    while start < min(len(a), len(b)) and a[start] == b[start]:
        start += 1
    if len(a) == len(b):
        return a[start + 1 :] == b[start + 1 :]
    longer, shorter = (a, b) if len(a) > len(b) else (b, a)
    return longer[start + 1 :] == shorter[start:]
