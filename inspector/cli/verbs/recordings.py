"""`inspector recordings`: lists the kept recordings, finds calls in them, keeps and deletes them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from inspector.cli.options import COUNT, Option, Value, recording
from inspector.cli.output import Output
from inspector.cli.verb import Verb
from inspector.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import timedelta
    from pathlib import Path

    from inspector.cli.verb import Invocation
    from inspector.client.call_history import PastCall
    from inspector.client.recordings_folder import RecordingInfo

LABEL = 80
ARGUMENTS = 60
RESULT = 200
"""Characters of each that are shown."""
CALLS = 100
"""Calls that are listed without `--limit`."""


def _age(word: str) -> timedelta:
    from inspector.client.recordings_folder import age

    return age(word)


def run(invocation: Invocation) -> int:
    """List the recordings in the state folder, newest first; or find calls, keep, release, delete, prune."""
    from inspector.client.recordings_folder import list_recordings

    out = invocation.output
    option = invocation.option
    actions = [name for name in ("calls", "keep", "release", "delete", "prune") if option(name)]
    if len(actions) > 1:
        raise UsageError(f"--{actions[0]} and --{actions[1]} cannot be used together.", hint="Run them one by one.")
    if option("older") is not None and not option("prune"):
        raise UsageError("--older only works with --prune.", hint="Add --prune, and --dry-run to see what it deletes.")
    if option("dry-run") and not (option("prune") or option("delete")):
        raise UsageError("--dry-run only works with --prune and --delete.", hint="Add one of them.")
    for name in ("keep", "release"):
        if option(name):
            return _keep(out, option(name), on=name == "keep")
    if option("delete"):
        return _delete(out, [_ours(path) for path in option("delete")], dry=bool(option("dry-run")))
    recordings = _matching(list_recordings(), option("search", ""))
    if option("prune"):
        return _prune(invocation, out, recordings)
    if option("calls"):
        return _list_calls(out, recordings, option("calls"), option("limit") or CALLS)
    _list(out, recordings)
    return 0


def _matching(recordings: Sequence[RecordingInfo], text: str) -> list[RecordingInfo]:
    """The recordings whose file, target or label contains a text."""
    folded = text.casefold()
    return [info for info in recordings if folded in f"{info.path.name}\n{info.label}\n{info.target}".casefold()]


def _list(out: Output, recordings: list[RecordingInfo]) -> None:
    from inspector.client.recordings_folder import kept
    from inspector.config.paths import recordings_path
    from inspector.text import quantity, size

    names = kept(recordings_path())
    if out.json:
        out.document({"recordings": [_entry(info, info.path.name in names) for info in recordings]})
        return
    rows = [_row(out, info, info.path.name in names) for info in recordings]
    whole = [(*row[:-2], f"{row[-2]}  {row[-1]}".rstrip()) for row in rows]
    if out.width is not None and out.needed(whole) > out.width:
        _list_names(out, rows, out.width)
    else:
        out.table(whole)
    folder = out.safe(str(recordings_path()))
    if recordings:
        out.note(
            f"{quantity(len(recordings), 'recording')}, {size(sum(info.size for info in recordings))}, in {folder}"
        )
    else:
        out.note(f"No recordings in {folder}")


def _list_names(out: Output, rows: Sequence[Sequence[str]], width: int) -> None:
    """Print the name of each recording, with its start and its server, and then what fits.

    A name is never cut, because it is there to be copied. It lacks the suffix, which no verb needs.
    """
    from inspector.config.paths import RECORDING_SUFFIX
    from inspector.text import cell_len, ellipsis, signs

    short = [(row[-2].removesuffix(RECORDING_SUFFIX), row[3], row[4], row[-1]) for row in rows]
    longest, events, lasted, _ = (max(map(cell_len, column)) for column in zip(*short, strict=True))
    for name, event_count, duration, remarks in short:
        facts = ellipsis(
            f"{event_count:{events}}  {duration:{lasted}}  {remarks}",
            max(width - longest - 2, 0),
            signs(out.ascii).cut,
        )
        out.line(f"{name}{' ' * (longest - cell_len(name))}  {facts}".rstrip())


def _list_calls(out: Output, recordings: list[RecordingInfo], tool: str, limit: int) -> int:
    from itertools import islice

    from inspector.client.call_history import recorded_calls

    calls = list(islice(recorded_calls(recordings, "" if tool == "*" else tool), limit + 1))
    if out.json:
        out.document({"calls": [call.as_json() for call in calls[:limit]], "more": len(calls) > limit})
        return 0
    out.table([_call_row(out, call) for call in calls[:limit]])
    if not calls:
        out.note(f"No call of {out.safe(tool, LABEL)} in {len(recordings):,} recordings.")
    elif len(calls) > limit:
        out.note(f"The newest {limit:,} calls; --limit N shows more.")
    return 0


def _call_row(out: Output, call: PastCall) -> tuple[str, ...]:
    import json

    from inspector.text import duration

    arguments = json.dumps(call.arguments, ensure_ascii=False, separators=(",", ":"))
    return (
        call.when.astimezone().strftime("%Y-%m-%d %H:%M:%S"),
        out.safe(call.server, LABEL),
        out.safe(call.tool, LABEL),
        out.safe(arguments, ARGUMENTS),
        call.state,
        "" if call.duration is None else duration(call.duration),
        out.safe(f"{call.path.name}#{call.n}"),
        out.safe(call.result, RESULT),
    )


def _keep(out: Output, paths: list[Path], *, on: bool) -> int:
    from inspector.client.recordings_folder import keep
    from inspector.reasons import os_reason

    chosen = [_ours(path) for path in paths]
    try:
        keep(chosen, on=on)
    except OSError as error:
        raise UsageError(f"The list of kept recordings cannot be written: {os_reason(error)}.") from None
    if out.json:
        out.document({"kept" if on else "released": [str(path) for path in chosen]})
        return 0
    for path in chosen:
        out.line(f"{out.safe(path.name)} {'stays until you release it' if on else 'may be deleted when it is old'}.")
    return 0


def _ours(path: Path) -> Path:
    """A recording in the state folder. Raises `UsageError` for another file, which is the user's own."""
    from inspector.config.paths import recordings_path

    folder = recordings_path()
    if path.parent.resolve() != folder.resolve():
        raise UsageError(
            f"{path} is not in {folder}, so Inspector neither keeps nor deletes it.",
            hint="`inspector recordings` lists the recordings there.",
        )
    return folder / path.name


def _delete(out: Output, paths: list[Path], *, dry: bool) -> int:
    from inspector.client.recordings_folder import is_growing, read_info

    growing = [path for path in paths if is_growing(path)]
    if growing:
        raise UsageError(f"{growing[0].name} is being written.", hint="End its session first.")
    _remove(out, [read_info(path) for path in paths], dry=dry)
    return 0


def _prune(invocation: Invocation, out: Output, recordings: list[RecordingInfo]) -> int:
    """Delete old recordings, or (without an age) those beyond the limits of the settings."""
    from inspector.cli import session_setup
    from inspector.client.recordings_folder import beyond, kept, older, why_protected
    from inspector.config.paths import recordings_path

    age = invocation.option("older")
    if age is not None:
        chosen = list(older(recordings, age))
    else:
        settings = session_setup.settings_of(invocation)
        chosen = list(beyond(recordings, settings.keep_recordings, settings.keep_recordings_bytes))
    names = kept(recordings_path())
    deletable = []
    for info in chosen:
        reason = why_protected(info.path, names)
        if reason:
            out.note(f"{out.safe(info.path.name)} stays: it is {reason}.")
        else:
            deletable.append(info)
    _remove(out, deletable, dry=bool(invocation.option("dry-run")))
    return 0


def _remove(out: Output, infos: list[RecordingInfo], *, dry: bool) -> None:
    from inspector.client.recordings_folder import delete
    from inspector.text import quantity, size

    gone = [info for info in infos if dry or delete(info.path)]
    if out.json:
        out.document({"deleted": [str(info.path) for info in gone], "bytes": sum(i.size for i in gone), "dry_run": dry})
        return
    out.lines(out.safe(info.path.name) for info in gone)
    for info in infos:
        if info not in gone:
            out.note(f"note: {out.safe(info.path.name)} could not be deleted.")
    word = "would be deleted" if dry else "deleted"
    out.note(f"{quantity(len(gone), 'recording')} {word}, {size(sum(info.size for info in gone))}.")


def _row(out: Output, info: RecordingInfo, is_kept: bool) -> tuple[str, ...]:
    from inspector.text import duration, quantity, size

    when = info.started.astimezone().strftime("%Y-%m-%d %H:%M") if info.started is not None else "?"
    events = "? events" if info.events is None else quantity(info.events, "event")
    lasted = "?" if info.duration is None else duration(info.duration)
    remarks = ["kept"] if is_kept else []
    if info.problem:
        remarks.append(info.problem)
    elif info.growing:
        remarks.append("being written")
    elif not info.ended:
        remarks.append("end is missing")
    elif not info.revision:
        remarks.append("never connected")
    if info.failures:
        remarks.append(info.error_events)
    return (
        when,
        out.safe(info.label, LABEL),
        out.safe(info.revision, 20) or "-",
        events,
        lasted,
        size(info.size),
        out.safe(info.path.name),
        ", ".join(remarks),
    )


def _entry(info: RecordingInfo, is_kept: bool) -> dict[str, Any]:
    return {
        "path": str(info.path),
        "started": None if info.started is None else info.started.isoformat().replace("+00:00", "Z"),
        "label": info.label,
        "target": info.target,
        "revision": info.revision,
        "events": info.events,
        "seconds": None if info.duration is None else info.duration / 1e6,
        "size": info.size,
        "ended": info.ended,
        "growing": info.growing,
        "kept": is_kept,
        "errors": info.failures,
        "problem": info.problem,
    }


RECORDINGS = Verb(
    "recordings",
    run,
    target="none",
    options=(
        Option("--search", "Only recordings whose file, server or command contains this text", "TEXT"),
        Option("--calls", "List the calls of a tool in them, newest recording first; * for every tool", "TOOL"),
        Option("--limit", f"With --calls: list at most so many (default: {CALLS})", COUNT),
        Option("--keep", "Never delete this recording unasked; repeatable", Value("FILE", recording), many=True),
        Option("--release", "Undo --keep; repeatable", Value("FILE", recording), many=True),
        Option("--delete", "Delete this recording; repeatable", Value("FILE", recording), many=True),
        Option("--prune", "Delete the recordings beyond the limits of the settings, or old ones with --older"),
        Option("--older", "With --prune: delete what is older than 30d, 12h or 2w instead", Value("AGE", _age)),
        Option("--dry-run", "With --prune or --delete: only list what would be deleted"),
    ),
)
