"""`inspector.doctor`: why a target does not connect, step by step, as a result for programs."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from inspector.client.options import Options
from inspector.config.targets import RecordingTarget
from inspector.config.trust import always
from inspector.doctor.config_entry import ExaminedEntry, look_up
from inspector.doctor.diagnosis import Diagnosis
from inspector.doctor.recording import diagnose_recording
from inspector.doctor.run import diagnose, of_entry
from inspector.doctor.session_options import without_person
from inspector.errors import UsageError
from inspector.library.opening import open as open_session
from inspector.library.session import Session, parts, recorded

__all__ = ["Diagnosis", "doctor"]


async def doctor(
    target: str | Sequence[str] | Session,
    *,
    config: str | os.PathLike[str] | None = None,
    trust: bool = False,
    record: str | os.PathLike[str] | bool = False,
    **options: Any,
) -> Diagnosis:
    """Find out whether a command, a URL, `@name` or a recording connects, and why not.

    `options` are those of `inspector.open`. It calls no tool, does not log in, and leaves nothing running. A failure of
    the server is not raised: `outcome` holds it, `cause` and `fix` are a sentence each. Raises `TargetError` or
    `ConfigError` for a target that does not exist.
    """
    where = None if config is None else Path(config)
    entry: ExaminedEntry | None = None
    if isinstance(target, str) and target.startswith("@"):
        entry = look_up(target, config=where, consent=always if trust else None)
    if entry is not None and not entry.usable:
        if entry.target is None:
            return of_entry(entry)
        meant, how = entry.target, Options()
    else:
        session = target if isinstance(target, Session) else open_session(target, config=config, trust=trust, **options)
        session_target, how = parts(session)
        if isinstance(session_target, RecordingTarget):
            return diagnose_recording(session_target)
        if session_target.kind == "http" and session_target.title:
            raise UsageError(
                "An app in this process has no connection to examine.", hint="Open it with inspector.open instead."
            )
        meant = session_target
    with recorded(meant, record, "doctor") as journal:
        return await diagnose(meant, journal, without_person(how), entry=entry)
