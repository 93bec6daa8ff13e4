"""Commands in expected texts, for the shell of this system."""

from __future__ import annotations

from inspector import command_words


def typed(line: str) -> str:
    """Return a command that is written for a POSIX shell as it is typed on this system."""
    return command_words.join(command_words.split(line, "posix"))
