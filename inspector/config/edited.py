"""A target that somebody has changed where it was shown: what was hidden there stays what it was."""

from __future__ import annotations

import re
import shlex
from dataclasses import replace

from inspector.config.secrecy import MASK
from inspector.config.targets import HttpTarget, StdioTarget
from inspector.errors import TargetError


def edited(target: StdioTarget | HttpTarget, text: str) -> StdioTarget | HttpTarget:
    """`target` with the command or the URL that `text` says: what `target.describe()` showed, changed by a person.

    Its folder, variables, header fields and name stay. Raises `TargetError`, also where a hidden value was changed in
    part, for nobody knows then what is meant.
    """
    text = text.strip()
    if text == target.describe():
        return target
    if isinstance(target, HttpTarget):
        if not re.match(r"https?://\S+$", text, re.IGNORECASE):
            raise TargetError("This is no http or https URL")
        _refuse_hidden(text)
        return replace(target, url=text)
    words = _split(text)
    shown = _split(target.describe())
    hidden = dict(zip(shown, target.command, strict=True)) if len(shown) == len(target.command) else {}
    command = tuple(hidden.get(word, word) for word in words)
    for word in command:
        if word not in target.command:
            _refuse_hidden(word)
    return replace(target, command=command)


def _split(text: str) -> list[str]:
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise TargetError(f"This cannot be split into words: {error}") from None
    if not words:
        raise TargetError("There is no command")
    return words


def _refuse_hidden(text: str) -> None:
    if MASK in text:
        raise TargetError(
            "A hidden value can be kept or replaced as a whole", hint=f"Write the value in place of {MASK}."
        )
