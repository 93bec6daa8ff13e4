"""A target that somebody has changed where it was shown: what was hidden there stays what it was."""

from __future__ import annotations

import re
import shlex
from dataclasses import replace
from urllib.parse import urlsplit

from inspector.config.secrecy import MASK
from inspector.config.targets import HttpTarget, StdioTarget
from inspector.errors import TargetError
from inspector.reasons import split_reason


def edited(target: StdioTarget | HttpTarget, text: str) -> StdioTarget | HttpTarget:
    """`target` with the command or the URL that `text` says: what `target.describe()` showed, changed by a person.

    Its folder, variables, header fields and name stay. Raises `TargetError`, also where a hidden value was changed in
    part, for nobody knows then what is meant, and for a URL of another server.
    """
    text = text.strip()
    if text == target.describe():
        return target
    if isinstance(target, HttpTarget):
        return _at_another_path(target, text)
    words, shown = _split(text), _split(target.describe())
    values: dict[str, list[str]] = {}
    for word, value in zip(shown, target.command, strict=False):
        if word != value:
            values.setdefault(word, []).append(value)
    for word, hidden in values.items():
        if len(set(hidden)) > 1 and words.count(word) != len(hidden):
            raise TargetError(
                "Which of its hidden values are to stay cannot be told", hint="Keep all of them, or none."
            )
    command = []
    for word in words:
        hidden = values.get(word, [])
        if not hidden:
            _refuse_hidden(word)
        command.append(word if not hidden else hidden.pop(0) if len(hidden) > 1 else hidden[0])
    return replace(target, command=tuple(command))


def _at_another_path(target: HttpTarget, text: str) -> HttpTarget:
    """Never elsewhere: the header fields and the login that come along are for this server alone."""
    if not re.match(r"https?://\S+$", text, re.IGNORECASE):
        raise TargetError("This is no http or https URL")
    _refuse_hidden(text)
    before, after = urlsplit(target.url), urlsplit(text)
    if (before.scheme, before.netloc) != (after.scheme.lower(), after.netloc):
        raise TargetError("Another host or port is another server", hint="Leave this one, and open that.")
    return replace(target, url=text)


def _split(text: str) -> list[str]:
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise TargetError(f"This cannot be split into words: {split_reason(error)}") from None
    if not words:
        raise TargetError("There is no command")
    return words


def _refuse_hidden(text: str) -> None:
    if MASK in text:
        raise TargetError(
            "A hidden value can be kept or replaced as a whole", hint=f"Write the value in place of {MASK}."
        )
