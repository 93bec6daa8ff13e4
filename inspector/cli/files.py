"""Files that a command writes: for their owner only, with a sentence where that fails."""

from __future__ import annotations

from typing import TYPE_CHECKING

from inspector.errors import UsageError

if TYPE_CHECKING:
    from pathlib import Path


def write_text(where: Path, text: str) -> None:
    """Write a whole text file. Raises `UsageError`."""
    from inspector.config.paths import private_open

    try:
        with private_open(where, "w", encoding="utf-8", errors="backslashreplace", newline="\n") as file:
            file.write(text)
    except OSError as error:
        raise UsageError(f"{where} cannot be written: {error.strerror or error}.") from None
