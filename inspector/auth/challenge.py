"""The `WWW-Authenticate` field: challenges of any scheme (RFC 9110 section 11.6.1).

One field value may hold several challenges, separated by the same comma that separates a challenge's parameters; quoted
values may hold commas. A syntax error is skipped up to the next comma, so that the rest is still read.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from inspector.auth.json_documents import is_scope

MAX_LENGTH = 1 << 16
"""Maximum characters of all values together."""

MAX_CHALLENGES = 64
"""Maximum number of challenges."""

_SPACE = re.compile(r"[ \t]*")
_BETWEEN = re.compile(r"[ \t,]*")
_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_TOKEN68 = re.compile(r"[A-Za-z0-9._~+/-]+=*[ \t]*(?=,|\Z)")
_NAME = re.compile(r"([!#$%&'*+.^_`|~0-9A-Za-z-]+)[ \t]*=[ \t]*")
_QUOTED = re.compile(r'"((?:[^"\\]|\\.)*+)"', re.DOTALL)
# A bare value should be a token, but servers send URLs without quotes.
_BARE = re.compile(r'[^\s,"]+')
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Challenge:
    """One challenge. The scheme and the names of parameters are in lower case."""

    scheme: str
    parameters: Mapping[str, str]
    """The first value of a repeated parameter."""
    token68: str = ""

    @property
    def scope(self) -> tuple[str, ...] | None:
        """The required scopes in order, without duplicates; None if none are named (RFC 6750 section 3)."""
        words = self.parameters.get("scope", "").split()
        return tuple(dict.fromkeys(word for word in words if is_scope(word))) or None


def parse(values: Sequence[str]) -> list[Challenge]:
    """Return the challenges in all `WWW-Authenticate` values of a response, in order."""
    challenges: list[Challenge] = []
    left = MAX_LENGTH
    for value in values:
        challenges += _challenges(value[:left], MAX_CHALLENGES - len(challenges))
        left -= len(value)
        if left <= 0:
            break
    return challenges


def chosen(challenges: Sequence[Challenge]) -> Challenge | None:
    """Return the DPoP or Bearer challenge with the most information, or None."""
    ours = [challenge for challenge in challenges if challenge.scheme in ("bearer", "dpop")]
    return max(ours, key=lambda item: ("resource_metadata" in item.parameters, item.scheme == "bearer"), default=None)


def _challenges(text: str, limit: int) -> list[Challenge]:
    challenges: list[Challenge] = []
    at = _end(_BETWEEN, text, 0)
    while at < len(text) and len(challenges) < limit:
        scheme = _TOKEN.match(text, at)
        if scheme is None or (scheme.end() < len(text) and text[scheme.end()] not in " \t,"):
            at = _end(_BETWEEN, text, _past(text, at))
            continue
        at = _end(_SPACE, text, scheme.end())
        token68 = _TOKEN68.match(text, at) if at > scheme.end() else None
        parameters: dict[str, str] = {}
        at = token68.end() if token68 is not None else _parameters(text, at, parameters)
        challenges.append(Challenge(scheme[0].lower(), parameters, token68[0].rstrip() if token68 else ""))
        at = _end(_BETWEEN, text, at)
    return challenges


def _parameters(text: str, at: int, into: dict[str, str]) -> int:
    """Read the parameters from `at`; return the offset where something else begins."""
    while (name := _NAME.match(text, at)) is not None:
        quoted = _QUOTED.match(text, name.end())
        bare = None if quoted else _BARE.match(text, name.end())
        value = _ESCAPE.sub(r"\1", quoted[1]) if quoted else bare[0] if bare else ""
        into.setdefault(name[1].lower(), value)
        at = quoted.end() if quoted else bare.end() if bare else name.end()
        # Text before the comma belongs to no parameter, unless the comma was forgotten.
        after = _end(_SPACE, text, at)
        if after < len(text) and text[after] != "," and not (after > at and _NAME.match(text, after)):
            after = _past(text, after)
        at = _end(_BETWEEN, text, after)
    return at


def _past(text: str, at: int) -> int:
    """Return the offset of the next comma outside quotes, or the end. An unclosed quote extends to the end."""
    while at < len(text) and text[at] != ",":
        if text[at] != '"':
            at += 1
        elif (quoted := _QUOTED.match(text, at)) is not None:
            at = quoted.end()
        else:
            return len(text)
    return at


def _end(pattern: re.Pattern[str], text: str, at: int) -> int:
    match = pattern.match(text, at)
    return match.end() if match else at
