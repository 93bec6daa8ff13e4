"""The files of `same_as`: where they may be, and how they are read and written."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from inspector.config import foreign_files
from inspector.config.output_files import cannot_write, check_free, write_file
from inspector.errors import UsageError
from inspector.text import json_document, safe

MAX_BYTES = 256 << 20
"""Bytes of a file above which it is not read."""


def snapshot_path(flow: Path, name: str) -> Path:
    """Return the path of a file that the flow in the file `flow` names.

    Raises `UsageError` where a symbolic link leads out of the folder of the flow: a cloned folder may have one.
    """
    path = flow.parent / name
    try:
        below = path.resolve().is_relative_to(flow.parent.resolve())
    except (OSError, RuntimeError, ValueError):
        below = False
    if not below:
        raise UsageError(
            f"{safe(name, 200)} leads out of the folder of the saved call.", hint="Replace the symbolic link by a file."
        )
    return path


def read_snapshot(path: Path) -> bytes:
    """Return the content of a file. Raises `ConfigError`, also for what is not a regular file, or too large."""
    return foreign_files.read_bytes(path, limit=MAX_BYTES)


def write_snapshot(path: Path, value: Any) -> None:
    """Write a file, or replace it, in one step. It has the default mode, because a team shares it.

    Raises `UsageError` where it cannot be written.
    """
    check_free(path, force=True)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise cannot_write(path, error) from None
    write_file(path, json_document(value).encode(), force=True, mode=0o666)
