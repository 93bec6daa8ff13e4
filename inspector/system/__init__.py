"""The differences between Linux, macOS and Windows, behind one interface.

`files` (locks, private files, reads at a position), `processes` (a program with all processes that it starts),
`streams` (pipes and our own standard streams on the event loop) and `terminal` (its modes, and signals). Each is
implemented in `posix` and in `windows`, and picks one. Nothing else in the program asks which system it runs on, except
to look up data by its `NAME`.
"""

from __future__ import annotations

import sys

NAME: str = sys.platform
"""The system, as Python names it: `linux`, `darwin`, `win32`."""
