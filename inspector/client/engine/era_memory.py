"""A file of each server's era, so that later runs need no negotiation.

Only a handshake verdict saves time: the probe for the modern era is that era's first request anyway. Source:
specification 2026-07-28, "Versioning", "Backward Compatibility" (C-MOD-07).
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from inspector.config import foreign_files
from inspector.config.targets import HttpTarget, StdioTarget, Target
from inspector.errors import ConfigError
from inspector.protocol.members import object_at
from inspector.protocol.revisions import Era
from inspector.text import escape_json

EXPIRES = 7 * 24 * 3600.0
"""Seconds after which a verdict is checked again: an upgraded server still accepts the handshake."""
MAX_KEPT = 500
_MAX_BYTES = 1 << 20


class EraVerdict(NamedTuple):
    """A server's era, and when it was observed."""

    era: Era
    revision: str
    transport: str
    """`stdio`, `http` or `sse`."""
    server: str
    """Name and version, from the server."""
    at: float
    """Seconds since 1970."""


class Verdicts:
    """A small file of verdicts by target. Only a cache: read and write errors are ignored."""

    def __init__(self, path: Path, clock: Callable[[], float] = time.time) -> None:
        self.path = path
        self._clock = clock

    def get(self, target: Target) -> EraVerdict | None:
        """Return the verdict for a target, unless it has expired."""
        entry = self._read().get(key_of(target))
        verdict = _verdict(entry) if entry is not None else None
        if verdict is None or not 0 <= self._clock() - verdict.at < EXPIRES:
            return None
        return verdict

    def put(self, target: Target, era: Era, revision: str, transport: str, server: str) -> None:
        """Store how a target was opened. A confirmed verdict keeps its age, so that it expires."""
        before = self.get(target)
        new = EraVerdict(era, revision, transport, server[:200], self._clock())
        if before is None or before[:-1] != new[:-1]:
            self._change(target, new)

    def forget(self, target: Target) -> None:
        """Delete a wrong verdict."""
        self._change(target, None)

    def _change(self, target: Target, verdict: EraVerdict | None) -> None:
        """Store or delete the verdict of a target; another process may change others."""
        from inspector.config.paths import alone

        with alone(self.path.parent):
            known = self._read()
            before = known.pop(key_of(target), None)
            if verdict is not None:
                known[key_of(target)] = verdict._asdict()
            if verdict is not None or before is not None:
                self._write(dict(list(known.items())[-MAX_KEPT:]))

    def _read(self) -> dict[str, Any]:
        with suppress(ConfigError, ValueError, RecursionError):
            return object_at(json.loads(foreign_files.read_bytes(self.path, limit=_MAX_BYTES)))
        return {}

    def _write(self, known: dict[str, Any]) -> None:
        from inspector.config.paths import write_private

        with suppress(OSError):
            write_private(self.path, escape_json(json.dumps(known, ensure_ascii=False, indent=1)).encode())


def key_of(target: Target) -> str:
    """Return the key of a target: a hash of command, folder and variable names, or of the URL without query."""
    import hashlib

    if isinstance(target, StdioTarget):
        parts = ["stdio", *target.command, target.cwd or "", *sorted(target.env or {})]
    elif isinstance(target, HttpTarget):
        parts = ["http", target.url.partition("?")[0], target.transport]
    else:
        parts = ["other", target.label]
    return hashlib.sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()[:32]


def _verdict(entry: Any) -> EraVerdict | None:
    if type(entry) is not dict:
        return None
    texts = [entry.get(name) for name in ("era", "revision", "transport", "server")]
    at: Any = entry.get("at")
    if not all(isinstance(text, str) for text in texts) or type(at) not in (int, float):
        return None
    era: Era = "modern" if texts[0] == "modern" else "legacy"
    return EraVerdict(era, str(texts[1]), str(texts[2]), str(texts[3]), float(at))
