"""The start screen offers the targets that were found, in groups, and the verbs of each."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from inspector.client.recordings_folder import RecordingInfo, kept, list_recordings
from inspector.command_words import find_program, split
from inspector.config.edited_target import options_before
from inspector.config.paths import recordings_path
from inspector.config.server_memory import ServerMemory
from inspector.config.servers import exposure_of, find_servers
from inspector.config.settings import Settings
from inspector.config.target_arguments import is_recording, recording_path
from inspector.config.targets import RecordingTarget
from inspector.config.trust import Memory, standing
from inspector.errors import TargetError
from inspector.text import quantity, size
from inspector.tui.sessions import OpenSession
from inspector.tui.start.rows import Configured, Demo, Group, Thing, TypedTarget
from inspector.tui.widgets.paint import Pieces

EXAMPLES = (
    ("npx -y @modelcontextprotocol/server-everything", "a command (stdio)"),
    ("https://shop.example/mcp", "a URL (HTTP)"),
    ("@shop", "a configured server"),
    ("session.mcp.jsonl", "a recording"),
)
"""A target of each kind, for a user who has none yet."""
NO_SERVER = "No server is configured in this folder or in a client's config file."
NO_RECORDING = "No recording yet. Every session is recorded and listed here."

ROW_VERBS = ("beside", "side-by-side", "check", "doctor", "log-in", "export", "keep", "delete")
"""The verbs that work only on some rows, in the order of their keys."""


@dataclass(frozen=True, slots=True)
class Targets:
    """The servers of config files and the recordings of this user, as far as they are read."""

    is_read: bool = False
    configured: Sequence[Configured] = ()
    problems: Sequence[str] = ()
    """Why a config file is not read."""
    recordings: Sequence[RecordingInfo] = ()
    kept: frozenset[str] = frozenset()
    """The names of the recordings that the user keeps."""


def read_targets(config: Path | None) -> Targets:
    """Read config files and the heads and tails of recordings."""
    servers = find_servers(config=config)
    memory = Memory()
    return Targets(
        True,
        [
            Configured(entry, ServerMemory(entry).last_open(), standing(exposure_of(entry), memory) == "asks")
            for entry in servers.entries
        ],
        [f"{problem.path.name}: {problem.message}" for problem in servers.problems],
        list_recordings(),
        kept(recordings_path()),
    )


def groups(
    targets: Targets,
    more: Group | None,
    sessions: Sequence[OpenSession],
    text: str,
    *,
    settings: Settings,
    config: Path | None,
) -> list[Group]:
    """Return the groups of the list: open sessions, servers, recordings, `more` of a feature, and the typed text."""
    listed: list[Group] = []
    typed = [Group("typed", "", [TypedTarget(text, _kind_of(text))])] if text else []
    is_target = _is_target(text)
    # Enter starts what was typed, and does not replay what it did before.
    is_program = find_program(text, os.environ) is not None
    can_start = text != "" and not is_target and (is_program or any(one.target == text for one in targets.recordings))
    if is_target:
        listed += typed
    replays = [one for one in sessions if can_start and one.session.commands is None]
    if here := [one for one in sessions if one not in replays]:
        listed.append(Group("open", "Open now", here, facts=str(len(here))))
    if targets.is_read and not (sessions or targets.configured or targets.recordings or text):
        width = max(len(example) for example, _ in EXAMPLES) + 4
        lines: list[Pieces] = [["Type a target above and press ", ("enter", "key"), "."], ""]
        lines += [[("  " + f"{example:<{width}}", "bright"), (kind, "muted")] for example, kind in EXAMPLES]
        listed.append(Group("demo", "Examples", [Demo()], lines=[*lines, ""]))
    live = {_source(one): one for one in sessions if one.session.commands is not None}
    configured = [replace(one, opened=live.get((one.entry.name, str(one.entry.path)))) for one in targets.configured]
    files = len({one.entry.path for one in configured})
    where = f"{len(configured)} from {quantity(files, 'file')}" if files else "0"
    if targets.problems:
        where += f"  {quantity(len(targets.problems), 'problem')}"
    note = NO_SERVER if config is None else f"{config} has no servers."
    listed.append(Group("configured", "Configured", configured, note, where, targets.problems))
    # Those of this window's sessions stand above, as sessions.
    own = {one.session.journal.path for one in live.values()}
    recordings = [info for info in targets.recordings if info.path not in own]
    room = quantity(len(recordings), "recording") if targets.recordings else "0"
    if targets.recordings:
        octets = sum(info.size for info in targets.recordings)
        room += f"  {size(octets)} of {size(settings.keep_recordings_bytes)}"
    if can_start:
        listed += typed
    if replays:
        listed.append(Group("open", "Open recordings", replays))
    listed.append(Group("recordings", "Recordings", recordings, "" if targets.recordings else NO_RECORDING, room))
    if more is not None:
        listed.append(more)
    return listed if is_target or can_start else [*listed, *typed]


def row_verbs(thing: Thing | None, front: OpenSession | None) -> list[str]:
    """Return which of `ROW_VERBS` work on a row; `front` is the session in front."""
    if isinstance(thing, RecordingInfo):
        return ["beside", "check", "export", "keep", "delete"]
    if not isinstance(thing, OpenSession | Configured):
        return []
    can_pair = isinstance(thing, Configured) or thing.is_connected
    pairs = ["side-by-side"] if can_pair and front is not None and front.is_connected and thing is not front else []
    if isinstance(thing, OpenSession):
        return [*pairs, "delete"]
    return ["beside", *pairs, "check", "doctor", *(["log-in"] if thing.entry.kind == "http" else [])]


def open_title(thing: Thing, front: OpenSession | None) -> str:
    """Return what Enter does on a row."""
    opened = thing.opened if isinstance(thing, Configured) else thing
    if isinstance(opened, OpenSession):
        return "return" if opened is front else "switch"
    return "replay" if isinstance(thing, RecordingInfo) else "open"


def _source(opened: OpenSession) -> tuple[str, str]:
    """Return the name and the config file of a session's target; both empty if it was typed."""
    target = opened.session.target
    return ("", "") if isinstance(target, RecordingTarget) else (target.name, target.source)


def _is_target(text: str) -> bool:
    """Whether a text is certainly a target, not a filter of the list."""
    if not text or text.startswith("@"):
        return False
    if text == "demo" or re.match(r"[A-Za-z][\w+.-]*://", text):
        return True
    first, *more = _words(text)
    if not more:
        is_path = not {"/", os.sep}.isdisjoint(text)
        return is_recording(recording_path(text)) or (is_path and os.path.isfile(os.path.expanduser(text)))
    return find_program(first, os.environ) is not None


def _words(text: str) -> list[str]:
    try:
        return split(text)
    except ValueError:
        return text.split()


def is_named(thing: Thing, text: str) -> bool:
    """Whether a text is the whole name of a session with a server, or of a config entry."""
    if isinstance(thing, OpenSession):
        return thing.session.commands is not None and text.casefold() == thing.name.casefold()
    if not isinstance(thing, Configured):
        return False
    name = thing.entry.name.casefold()
    return text.casefold() in (name, f"@{name}") or text == thing.entry.reference


def _kind_of(text: str) -> str:
    """Return the kind of target of a text."""
    with suppress(TargetError):
        _, text = options_before(text)
    if text == "demo":
        return "the demo server"
    if text.startswith("@"):
        return "a configured server"
    if re.match(r"https?://", text, re.IGNORECASE):
        return "a URL (HTTP)"
    return "a recording" if " " not in text and text.endswith(".jsonl") else "a command (stdio)"
