"""Creates the journal of a new session: its file, its name and its limits."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from inspector.client.recordings_folder import prune
from inspector.config import paths
from inspector.config.paths import RECORDING_SUFFIX
from inspector.config.targets import HttpTarget, StdioTarget, Target
from inspector.errors import ConfigError, RecordingError
from inspector.journal.journal import Journal
from inspector.text import file_stem

if TYPE_CHECKING:
    from inspector.config.settings import Settings

_LABEL = 40
_TRIES = 8


def new_journal(
    target: Target,
    *,
    settings: Settings,
    record: Path | None = None,
    keep: bool = True,
    label: str = "",
    secrets: Iterable[str] = (),
    purpose: str = "",
) -> Journal:
    """Create the journal of a session with `target`; `purpose` is what it is made for, if not a plain session.

    It is in `record` (a new file, or a folder that gets one), in the state folder, or (not `keep`) in memory. The
    settings limit its size and what stays in the state folder; older recordings are deleted. `label` names a file in a
    folder instead of the target; `secrets` are redacted besides the target's. If the file cannot be written, the
    journal stays in memory and has a notice. Raises `RecordingError` for `record` only.
    """
    about: dict[str, Any] = {"purpose": purpose} if purpose else {}
    if settings.addons:
        about["addons"] = [Path(file).name for file in settings.addons]
    journal = _begin(target, settings, record, keep, label, tuple(secrets), about)
    journal.bound(settings.max_recording_bytes)
    return journal


def _begin(
    target: Target,
    settings: Settings,
    record: Path | None,
    keep: bool,
    label: str,
    others: tuple[str, ...],
    about: Mapping[str, Any],
) -> Journal:
    secrets = (*(target.secrets if isinstance(target, (StdioTarget, HttpTarget)) else ()), *others)
    if record is not None and record.is_dir():
        return _create(record, target, secrets, label, about)
    if record is not None:
        return Journal.create(record, target.as_header(), secrets, about)
    if not keep or settings.keep_recordings == 0 or settings.keep_recordings_bytes == 0:
        return Journal.unnamed(target.as_header(), secrets)
    try:
        folder = paths.recordings_folder()
        journal = _create(folder, target, secrets, label, about)
    except (ConfigError, RecordingError) as error:
        journal = Journal.unnamed(target.as_header(), secrets)
        journal.notices.append(f"This session is not recorded: {error.message}")
        return journal
    prune(folder, settings.keep_recordings, settings.keep_recordings_bytes)
    return journal


def _create(folder: Path, target: Target, secrets: tuple[str, ...], label: str, about: Mapping[str, Any]) -> Journal:
    """Create a file whose name sorts by time and contains the label."""
    moment = datetime.now(UTC).strftime("%Y-%m-%dT%H-%M-%SZ")
    label = file_stem(label or target.label, _LABEL) or "session"
    ends = (*(os.urandom(2).hex() for _ in range(_TRIES)), str(os.getpid()))
    names = [folder / f"{moment}-{label}-{end}{RECORDING_SUFFIX}" for end in ends]
    path = next((path for path in names if not path.exists()), names[-1])
    return Journal.create(path, target.as_header(), secrets, about)
