"""Golden files: outputs that must stay as they are. `GOLDEN=write pytest …` writes them again, to be read."""

from __future__ import annotations

import os
from pathlib import Path


def check(path: Path, text: str) -> None:
    """Fail where `text` is not what the golden file holds."""
    if os.environ.get("GOLDEN") == "write":
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    assert text == path.read_text(encoding="utf-8")
