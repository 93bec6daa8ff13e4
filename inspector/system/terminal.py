"""The terminal's modes, and the signals that end the program."""

from __future__ import annotations

import sys

if sys.platform == "win32":
    from inspector.system.windows.terminal import ENDING, key_pressed, no_echo, watch_signals
else:
    from inspector.system.posix.terminal import ENDING, key_pressed, no_echo, watch_signals

__all__ = ["ENDING", "key_pressed", "no_echo", "watch_signals"]
