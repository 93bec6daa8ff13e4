"""Pins: a server's surface, saved as the baseline for comparisons. One file a server, in the state folder.

A pin holds the server's own texts and no secret of ours: targets are described with masked secrets, and identified by a
hash (`era_memory.key_of`), so that the same command, folder and variables, or the same URL, find it.
"""

from __future__ import annotations

import json
import os
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from inspector.client.engine.era_memory import key_of
from inspector.config import foreign_files, paths
from inspector.config.output_files import write_file
from inspector.config.targets import Target
from inspector.errors import ConfigError
from inspector.hints import Hint, Parameter
from inspector.journal.redaction import unkeyed
from inspector.lazy_pattern import lazy_pattern
from inspector.protocol import jsonrpc
from inspector.protocol.exact_json.depth import is_too_deep
from inspector.protocol.members import text_at
from inspector.text import escape_json
from inspector.times import parse_time

FORMAT = "inspector-pin"
VERSION = 1
MAX_SIZE = 1 << 28
"""Maximum bytes of a pin."""
_SUFFIX = ".pin.json"
_OURS = lazy_pattern(r"[0-9a-f]{32}\.pin\.json")


class Pin(NamedTuple):
    """A saved surface."""

    path: Path
    label: str
    target: str
    """The full command or URL, with masked secrets."""
    at: datetime | None
    surface: dict[str, Any]
    """See `inspector.compare.surface`."""


class Pins:
    """The pins in a folder, which need not exist; or the single one in `file`, for any target."""

    def __init__(self, folder: Path | None = None, *, file: Path | None = None) -> None:
        self.folder = paths.state_folder() / "pins" if folder is None else folder
        self.file = file

    def path_of(self, target: Target) -> Path:
        """Return the path of a target's pin, whether it exists or not."""
        return self.file or self.folder / f"{key_of(target)}{_SUFFIX}"

    def has(self, target: Target) -> bool:
        """Whether the target has a pin, without reading it; a recording has none."""
        if self.file is not None:
            return os.path.lexists(self.file)
        return target.kind != "recording" and self.folder.is_dir() and self.path_of(target).is_file()

    def get(self, target: Target) -> Pin | None:
        """Return the pin of a target. Raises `ConfigError` if it cannot be read, because a silent guard is useless."""
        return _read(self.path_of(target)) if self.has(target) else None

    def put(self, target: Target, surface: dict[str, Any]) -> Pin:
        """Save a surface as the pin of a target; replaces the old one. Raises `ConfigError`."""
        now = datetime.now(UTC).replace(microsecond=0)
        body = {
            "format": FORMAT,
            "version": VERSION,
            "label": target.label,
            "target": target.describe(),
            "at": now.isoformat().replace("+00:00", "Z"),
            "surface": unkeyed(surface),
        }
        path = self.path_of(target)
        try:
            text = jsonrpc.encode(body)
        except RecursionError:
            text = None
        # How deep JSON may be to be written depends on the version of Python; how deep we read it does not.
        if text is None or is_too_deep(text.decode()):
            raise ConfigError(f"The surface of {target.label} is nested too deeply to be saved.")
        try:
            if self.file is not None:
                # One member per line, so that version control shows the changes.
                indented = json.dumps(body, indent=2, ensure_ascii=False) + "\n"
                write_file(path, escape_json(indented).encode(), force=True)
            else:
                paths.private_folder(self.folder)
                paths.write_private(path, text)
        except OSError as error:
            raise ConfigError(f"The pin {path} cannot be written: {error.strerror or error}.") from None
        return Pin(path, target.label, target.describe(), now, surface)

    def remove(self, target: Target) -> bool:
        """Delete the pin of a target; True if it had one. Raises `ConfigError`."""
        path = self.path_of(target)
        try:
            path.unlink()
        except FileNotFoundError:
            return False
        except OSError as error:
            raise ConfigError(f"The pin {path} cannot be removed: {error.strerror or error}.") from None
        return True

    def all(self) -> list[Pin]:
        """Return every readable pin, sorted by label. Skips the others."""
        pins = []
        with suppress(OSError):
            for name in sorted(os.listdir(self.folder)):
                if _OURS.fullmatch(name):
                    with suppress(ConfigError):
                        pins.append(_read(self.folder / name))
        return sorted(pins, key=lambda pin: (pin.label, pin.target))


def _read(path: Path) -> Pin:
    try:
        body = jsonrpc.parse(foreign_files.read_bytes(path, limit=MAX_SIZE))
    except jsonrpc.NotJson as error:
        raise _unusable(path, f"it is not JSON: {error}") from None
    if type(body) is not dict or body.get("format") != FORMAT:
        raise _unusable(path, "it is not a pin")
    if body.get("version") != VERSION:
        raise _unusable(
            path, f"it has version {json.dumps(body.get('version'))[:20]}, but this Inspector supports {VERSION}"
        )
    surface = body.get("surface")
    if type(surface) is not dict:
        raise _unusable(path, "it has no surface")
    return Pin(path, text_at(body, "label"), text_at(body, "target"), parse_time(body.get("at")), surface)


def _unusable(path: Path, reason: str) -> ConfigError:
    return ConfigError(
        f"The pin {path} cannot be used: {reason}.",
        hint=Hint(
            Parameter.PIN_UPDATE,
            " creates it again, ",
            Parameter.PIN_REMOVE,
            " removes it.",
        ),
    )
