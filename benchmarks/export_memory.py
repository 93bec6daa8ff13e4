"""Exports a recording with a long message as Markdown; prints the memory of that process as a JSON line."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from made_recordings import LONG_LINE, make_long_line

if __name__ == "__main__":
    if sys.argv[1:] == ["make"]:
        make_long_line()
        sys.exit()
    if not LONG_LINE.exists():
        # In another process: a child begins with the memory of its parent as the most it has had.
        subprocess.run([sys.executable, __file__, "make"], check=True)
    program = str(Path(sys.executable).parent / "inspector")
    with subprocess.Popen(
        [program, "export", "--to", "md", str(LONG_LINE)], stdout=subprocess.DEVNULL, stdin=subprocess.DEVNULL
    ) as process:
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        sys.exit(process.returncode)
    print(json.dumps({"rss_mb": used.ru_maxrss / 1024}))
