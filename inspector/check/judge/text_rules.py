"""Reads texts of a server: invisible characters, secrets in logs, failures without `isError`.

Orders to a model are in the package `poison`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from inspector.check.visit.argument_cases import NO_FORMAT, ODD
from inspector.compare.invisible_characters import hidden_in

MAX_LENGTH = 1 << 16
"""Characters of one text that are checked."""
MAX_TEXTS = 2_000
"""Texts of one value that are checked."""

_FAILURE = re.compile(
    r"\s*(?:Traceback \(most recent call last\):|Uncaught \w+:|panic: |fatal error: "
    r"|Unhandled \w*(?:rejection|exception)"
    r"|(?:[A-Za-z_][\w.]{0,60})?(?:Error|Exception)(?: \[[\w-]{1,40}\])?: \S"
    r"|error: \S|An? (?:unexpected |internal )?error (?:has )?occurred\b|Internal server error\b)"
)
"""How programs and runtimes start an error message. A log line starts with its time, so it does not match."""
# A token begins where no other one goes on, so that a long row is read once.
_SECRETS = (
    ("a private key", re.compile(r"-----BEGIN (?:[A-Z0-9]+ ){0,3}PRIVATE KEY-----")),
    ("an access key", re.compile(r"\b(?:AKIA|ASIA)[A-Z0-9]{16}\b")),
    (
        "a token",
        re.compile(
            r"\b(?:gh[pousr]_[A-Za-z0-9]{30,}|github_pat_[A-Za-z0-9_]{30,}|glpat-[A-Za-z0-9_-]{20}|xox[abprs]-[A-Za-z0-9-]{10,}"
            r"|sk-[A-Za-z0-9_-]{20,}|eyJ(?<![\w-]eyJ)[A-Za-z0-9_-]{8,}+\.eyJ[A-Za-z0-9_-]{8,}+\.)"
        ),
    ),
    ("the credentials of a request", re.compile(r"\b(?:Bearer|Basic) +[A-Za-z0-9+/_.~-]{16,}={0,2}", re.IGNORECASE)),
    (
        "a password",
        re.compile(
            r"""\b(?:password|passwd|pwd|api[_-]?key|client[_-]?secret|access[_-]?token)["']?\s{0,3}[:=]\s{0,3}["']?"""
            r"""(?![*<\[{x.]|(?:None|null|redacted|hidden|secret|true|false)\b)[^\s"',;&]{6,}""",
            re.IGNORECASE,
        ),
    ),
)
"""Secrets that must not be in a log, by formats that nothing else has."""


_OWN = re.compile("|".join(re.escape(odd) for odd in (*ODD, NO_FORMAT) if hidden_in(odd) is not None), re.IGNORECASE)
"""Unusual values that the checks send. A server that stores and lists them does not hide text."""


def secret(text: str) -> str:
    """The kind of secret in a text; empty if none is known."""
    return next((kind for kind, pattern in _SECRETS if pattern.search(text[:MAX_LENGTH])), "")


def without_odd_values(text: str) -> str:
    """`text` without the odd values that the checks send: a server may keep them and list them later."""
    return _OWN.sub("", text[:MAX_LENGTH])


def hidden(text: str, echoed: frozenset[str] = frozenset()) -> str:
    """The invisible characters in a text, in words; empty if there are none. `echoed` characters do not count."""
    searched = without_odd_values(text)
    if echoed:
        searched = "".join(char for char in searched if char not in echoed)
    characters = hidden_in(searched)
    return "" if characters is None else str(characters)


def unusual(value: Any) -> frozenset[str]:
    """The unusual characters in a value's texts. A server that returns them does not hide text."""
    return frozenset(char for _, text in texts(value) for char in text[:MAX_LENGTH] if not " " <= char <= "~")


def failure(result: dict[str, Any], arguments: Any) -> str:
    """The start of a result's only text, if it looks like an error without `isError`; else empty.

    Text from the arguments does not count: a tool that echoes an error has not failed.
    """
    content = result.get("content")
    if result.get("isError") is True or type(content) is not list or len(content) != 1:
        return ""
    block = content[0]
    text = block.get("text") if type(block) is dict and block.get("type") == "text" else None
    match = _FAILURE.match(text[:MAX_LENGTH]) if isinstance(text, str) else None
    if match is None or any(match.group().strip() in given for _, given in texts(arguments)):
        return ""
    return text.strip().partition("\n")[0][:200] if isinstance(text, str) else ""


def texts(value: Any) -> Iterator[tuple[str, str]]:
    """The texts of a value with the key of each; keys count as texts too."""
    todo: list[tuple[str, Any]] = [("", value)]
    for _ in range(MAX_TEXTS):
        if not todo:
            return
        key, item = todo.pop()
        if type(item) is str:
            yield key, item
        elif type(item) is dict:
            for name, below in item.items():
                if hidden(name):
                    yield "a key", name
                todo.append((name, below))
        elif type(item) is list:
            todo += ((key, below) for below in item)
