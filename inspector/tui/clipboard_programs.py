"""Puts a text on the clipboard where the terminal does not.

OSC 52 asks the terminal to do it. Some terminals do not know that sequence, and tmux ignores it unless its
`set-clipboard` is `on`. So the programs that users have for it get the text too.
"""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Mapping

from inspector.system import NAME

SECONDS = 2.0
"""The time that a program has to take the text."""

Command = tuple[str, ...]


def clipboard_programs(environ: Mapping[str, str], platform: str = NAME) -> list[list[Command]]:
    """Return the commands to try: of each list, the first that works.

    Over ssh only that of tmux: another one would copy on the remote machine.
    """
    commands: list[list[Command]] = []
    if environ.get("TMUX"):
        # `-w` gives the text to the terminal around tmux as well (tmux 3.2).
        commands.append([("tmux", "load-buffer", "-w", "-"), ("tmux", "load-buffer", "-")])
    if environ.get("SSH_CONNECTION") or environ.get("SSH_TTY"):
        return commands
    if platform == "darwin":
        commands.append([("pbcopy",)])
    elif environ.get("WAYLAND_DISPLAY"):
        commands.append([("wl-copy",)])
    elif environ.get("DISPLAY"):
        commands.append([("xclip", "-selection", "clipboard"), ("xsel", "--clipboard", "--input")])
    return commands


def give(text: str, environ: Mapping[str, str]) -> None:
    """Give a text to the programs that there are. A program that fails changes nothing. Call it in a thread."""
    data = text.encode("utf-8", "replace")
    for commands in clipboard_programs(environ):
        for command in commands:
            if _takes(command, data, environ):
                break


def _takes(command: Command, data: bytes, environ: Mapping[str, str]) -> bool:
    program = shutil.which(command[0], path=environ.get("PATH"))
    if program is None:
        return False
    try:
        # The programs stay in the background to lend the text: a pipe for their output would never end.
        ran = subprocess.run(
            (program, *command[1:]),
            input=data,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            timeout=SECONDS,
            env=dict(environ),
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return ran.returncode == 0
