"""Files: opening, locks, reads and writes at a position, and who may read them."""

from __future__ import annotations

import sys

if sys.platform == "win32":
    from inspector.system.windows.files import (
        CAN_REMOVE_MAPPED,
        NO_FOLLOW,
        NO_TERMINAL,
        NO_WAIT,
        append,
        free_disk,
        give_back,
        is_locked,
        is_ours,
        is_private,
        make_private,
        open_file,
        open_temporary,
        read_at,
        replace,
        reserve,
        return_freed_memory,
        start_with,
        try_lock,
        write_at,
    )
else:
    from inspector.system.posix.files import (
        CAN_REMOVE_MAPPED,
        NO_FOLLOW,
        NO_TERMINAL,
        NO_WAIT,
        append,
        free_disk,
        give_back,
        is_locked,
        is_ours,
        is_private,
        make_private,
        open_file,
        open_temporary,
        read_at,
        replace,
        reserve,
        return_freed_memory,
        start_with,
        try_lock,
        write_at,
    )

__all__ = [
    "CAN_REMOVE_MAPPED",
    "NO_FOLLOW",
    "NO_TERMINAL",
    "NO_WAIT",
    "append",
    "free_disk",
    "give_back",
    "is_locked",
    "is_ours",
    "is_private",
    "make_private",
    "open_file",
    "open_temporary",
    "read_at",
    "replace",
    "reserve",
    "return_freed_memory",
    "start_with",
    "try_lock",
    "write_at",
]
