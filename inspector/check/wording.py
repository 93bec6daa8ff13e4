"""Words that a server gives to models and people, and what is wrong with them: characters that nobody sees, and words
that are not about the tool but to the model.

What is looked for is what poisoned tools have been seen to use; a word like "important" alone means nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from inspector.check.cases import NO_FORMAT, ODD
from inspector.compare.hidden import hidden_in

LONGEST = 1 << 16
"""Characters of one text that are looked at."""
MOST = 2_000
"""Texts of one value that are looked at."""

_FAILURE = re.compile(
    r"\s*(?:Traceback \(most recent call last\):|Uncaught \w+:|panic: |fatal error: "
    r"|Unhandled \w*(?:rejection|exception)"
    r"|(?:[A-Za-z_][\w.]{0,60})?(?:Error|Exception)(?: \[[\w-]{1,40}\])?: \S"
    r"|error: \S|An? (?:unexpected |internal )?error (?:has )?occurred\b|Internal server error\b)"
)
"""How a failure begins as programs and their runtimes write it. A line of a log does not: it begins with its time."""
_SECRETS = (
    ("a private key", re.compile(r"-----BEGIN (?:[A-Z0-9]+ ){0,3}PRIVATE KEY-----")),
    ("an access key", re.compile(r"\b(?:AKIA|ASIA)[A-Z0-9]{16}\b")),
    ("a token", re.compile(
        r"\b(?:gh[pousr]_[A-Za-z0-9]{30,}|github_pat_[A-Za-z0-9_]{30,}|glpat-[A-Za-z0-9_-]{20}|xox[abprs]-[A-Za-z0-9-]{10,}"
        r"|sk-[A-Za-z0-9_-]{20,}|eyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*)"
    )),
    ("the credentials of a request", re.compile(r"\b(?:Bearer|Basic) +[A-Za-z0-9+/_.~-]{16,}={0,2}", re.IGNORECASE)),
    ("a password", re.compile(
        r"""\b(?:password|passwd|pwd|api[_-]?key|client[_-]?secret|access[_-]?token)["']?\s{0,3}[:=]\s{0,3}["']?"""
        r"""(?![*<\[{x.]|(?:None|null|redacted|hidden|secret|true|false)\b)[^\s"',;&]{6,}""", re.IGNORECASE,
    )),
)  # fmt: skip
"""What should stand in no log, by shapes that nothing else has."""


_OWN = re.compile("|".join(re.escape(odd) for odd in (*ODD, NO_FORMAT) if hidden_in(odd) is not None), re.IGNORECASE)
"""Odd values that the checks send: a server that keeps them and lists them later hides nothing."""


def secret(text: str) -> str:
    """What a text gives away, by its kind; empty where it gives away nothing that is known."""
    return next((kind for kind, pattern in _SECRETS if pattern.search(text[:LONGEST])), "")


def without_odd_values(text: str) -> str:
    """`text` without the odd values that the checks send: a server may keep them and list them later."""
    return _OWN.sub("", text[:LONGEST])


def hidden(text: str, echoed: frozenset[str] = frozenset()) -> str:
    """What a text holds that nobody sees, in words; empty where there is nothing. `echoed` characters do not count."""
    looked_at = without_odd_values(text)
    if echoed:
        looked_at = "".join(char for char in looked_at if char not in echoed)
    found = hidden_in(looked_at)
    return "" if found is None else str(found)


def unusual(value: Any) -> frozenset[str]:
    """The characters of a value's texts that are not plain ones: a server that gives them back hides nothing."""
    return frozenset(char for _, text in texts(value) for char in text[:LONGEST] if not " " <= char <= "~")


def failure(result: dict[str, Any], arguments: Any) -> str:
    """How the only text of a tool's result begins, where that is as an error does and `isError` does not say so.

    What the tool was given counts as its subject: a tool that gives back an error that it was sent has not failed.
    """
    content = result.get("content")
    if result.get("isError") is True or type(content) is not list or len(content) != 1:
        return ""
    block = content[0]
    text = block.get("text") if type(block) is dict and block.get("type") == "text" else None
    found = _FAILURE.match(text[:LONGEST]) if isinstance(text, str) else None
    if found is None or any(found.group().strip() in given for _, given in texts(arguments)):
        return ""
    return text.strip().partition("\n")[0][:200] if isinstance(text, str) else ""


def texts(value: Any) -> Iterator[tuple[str, str]]:
    """The texts of a value with the key under which each stands; keys are texts, too."""
    todo: list[tuple[str, Any]] = [("", value)]
    for _ in range(MOST):
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
