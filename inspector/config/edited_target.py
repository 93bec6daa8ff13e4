"""Targets that are typed or edited as text. Secrets are hidden in it and stay unchanged."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any
from urllib.parse import urlsplit

from inspector import command_words
from inspector.config.secret_values import MASK
from inspector.config.target_arguments import with_options
from inspector.config.targets import HttpTarget, StdioTarget
from inspector.config.text_checks import checked_url, one_line, parse_header, parse_variable
from inspector.errors import TargetError
from inspector.hints import Hint, Parameter
from inspector.reasons import split_reason


def options_before(text: str) -> tuple[dict[str, Any], str]:
    """Return the values of `--env` and `--header` before a typed target, for `parse_target`, and the rest.

    Raises `TargetError`, also for another option.
    """
    text = text.strip()
    if not text.startswith("--"):
        return {}, text
    words = _split(text)
    env: dict[str, str | None] = {}
    headers: list[tuple[str, str]] = []
    while words and words[0].startswith("--"):
        option, equals, value = words.pop(0).partition("=")
        if option == "--":
            break
        if option not in ("--env", "--header"):
            raise TargetError(
                f"{one_line(option[:40])} cannot be given here",
                hint=Hint("Only ", Parameter.ENV, " and ", Parameter.HEADERS, " can."),
            )
        value = value if equals else words.pop(0) if words else ""
        if option == "--env":
            env |= [parse_variable(value)]
        else:
            headers.append(parse_header(value))
    return {"env": env, "headers": headers}, words[0] if len(words) == 1 else command_words.join(words)


def edited(target: StdioTarget | HttpTarget, text: str) -> StdioTarget | HttpTarget:
    """Return `target` with the command or URL in `text`, an edited version of `target.describe()`.

    Options before it add variables and headers. Its folder, name and other variables and headers stay. Raises
    `TargetError`, also if a hidden value was changed in part, because the result would be ambiguous, and for a URL of
    another server.
    """
    shown = target.describe()
    options, text = options_before(text)
    if options:
        target = with_options(target, **options)
    if text == shown:
        return target
    if isinstance(target, HttpTarget):
        return _at_another_path(target, text)
    words, described = _split(text), _split(shown)
    values: dict[str, list[str]] = {}
    for word, value in zip(described, target.command, strict=False):
        if word != value:
            values.setdefault(word, []).append(value)
    for word, hidden in values.items():
        if len(set(hidden)) > 1 and words.count(word) != len(hidden):
            raise TargetError(
                "Some hidden values were removed, so the others are ambiguous", hint="Keep all of them, or none."
            )
    command = []
    for word in words:
        hidden = values.get(word, [])
        if not hidden:
            _refuse_hidden(word)
        command.append(word if not hidden else hidden.pop(0) if len(hidden) > 1 else hidden[0])
    return replace(target, command=tuple(command))


def _at_another_path(target: HttpTarget, text: str) -> HttpTarget:
    """Never on another host: the headers and the login that it keeps are for this server only."""
    _refuse_hidden(text)
    if not re.match(r"https?://", text, re.IGNORECASE):
        raise TargetError("The text is not an http or https URL")
    text = checked_url(text)
    before, after = urlsplit(target.url), urlsplit(text)
    if (before.scheme, before.netloc) != (after.scheme.lower(), after.netloc):
        raise TargetError("Another host or port means another server", hint="Open it as a separate server.")
    return replace(target, url=text)


def _split(text: str) -> list[str]:
    try:
        words = command_words.split(text)
    except ValueError as error:
        raise TargetError(f"The command cannot be parsed: {split_reason(error)}") from None
    if not words:
        raise TargetError("The command is empty")
    return words


def _refuse_hidden(text: str) -> None:
    if MASK in text:
        raise TargetError(
            "A hidden value can be kept or replaced only as a whole", hint=f"Replace {MASK} with the whole value."
        )
