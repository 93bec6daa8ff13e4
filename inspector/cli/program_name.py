"""The name of the program: `inspector`, or `mcpi` if another program is called inspector."""

from __future__ import annotations

import os
import sys

from inspector.own_commands import module_command

NAMES = ("inspector", "mcpi")
COMPLETES = "_INSPECTOR_COMPLETE"
"""The environment variable of completion scripts, as click names it."""


def program() -> str:
    """The name for help and errors: the name of the started file, if it is one of ours."""
    return _started() or NAMES[0]


def command() -> list[str]:
    """The command that starts this program again, even if PATH has another one of the same name."""
    if _started() and os.path.isfile(sys.argv[0]):
        return [os.path.abspath(sys.argv[0])]
    return module_command("inspector")


def renamed(text: str) -> str:
    """Replace the program's name in commands in our text (`inspector login URL`)."""
    name = program()
    if name == NAMES[0] or NAMES[0] not in text:
        return text
    import re

    from inspector.cli import verbs

    words = "|".join(map(re.escape, [*verbs.summaries(), "VERB", "TARGET", "--", "@", "http"]))
    return re.sub(rf"^( *){NAMES[0]}(?= |$)|(?<![\w./@-]){NAMES[0]}(?= (?:{words}))", rf"\1{name}", text, flags=re.M)


def _started() -> str:
    name = os.path.basename(sys.argv[0]).removesuffix(".exe") if sys.argv else ""
    return name if name in NAMES else ""
