"""Advice that was written for a command line, in words for who sits in front of the interface."""

from __future__ import annotations

import re

from inspector.tui.verbs import BY_ID

_VERB = BY_ID["authorization.otherwise"]
OTHERWISE = f"“{_VERB.title}” ({_VERB.key})"
_HERE = ("--client-id", "--client-secret-env", "--bearer-env", "--auth-server", "--scope", "--grant")
"""Flags whose values can be given in the interface: see `screens/login_options.py`."""
_FLAG = r"--[a-z][a-z-]*(?: (?:[A-Z]{3,}|client-credentials)\b)?"
_FLAGS = re.compile(rf"{_FLAG}(?:(?:, | and | or |, or )(?:with )?{_FLAG})*")
_IN_DIALOG = "^w in the dialog of the login"
_ON_COMMAND_LINE = " when you start Inspector"


def in_words(advice: str) -> str:
    """The advice of an error, its flags replaced by the verb that takes their values; others are said to be flags."""
    elsewhere = False

    def words(found: re.Match[str]) -> str:
        nonlocal elsewhere
        flags = re.findall(r"--[a-z][a-z-]*", found[0])
        if flags == ["--no-browser"]:
            return _IN_DIALOG
        if all(flag in _HERE for flag in flags):
            return OTHERWISE
        elsewhere = True
        return found[0]

    said = _FLAGS.sub(words, advice)
    if elsewhere:
        head, end = (said[:-1], said[-1]) if said[-1:] == "." else (said, "")
        return f"{head}{_ON_COMMAND_LINE}{end}"
    return said
