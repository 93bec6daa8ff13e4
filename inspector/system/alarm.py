"""An alarm that interrupts code in the main thread."""

from __future__ import annotations

import sys

if sys.platform == "win32":
    from inspector.system.windows.alarm import Alarm
else:
    from inspector.system.posix.alarm import Alarm

__all__ = ["Alarm"]
