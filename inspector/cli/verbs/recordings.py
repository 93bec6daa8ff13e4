"""`inspector recordings`: lists kept recordings."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from inspector.cli.output import Output
from inspector.cli.verb import Verb

if TYPE_CHECKING:
    from inspector.cli.verb import Invocation
    from inspector.client.recording import RecordingInfo

LABEL = 80


def run(said: Invocation) -> int:
    """List the recordings in the state directory, newest first."""
    from inspector.client.recording import list_recordings
    from inspector.config.paths import state_folder
    from inspector.text import size

    out = Output.of(said)
    found = list_recordings()
    if out.json:
        out.document({"recordings": [_entry(info) for info in found]})
        return 0
    out.table([_row(out, info) for info in found])
    folder = out.safe(str(state_folder() / "recordings"))
    if found:
        out.note(f"{_amount(len(found), 'recording')}, {size(sum(info.size for info in found))}, in {folder}")
    else:
        out.note(f"No recordings in {folder}")
    return 0


def _row(out: Output, info: RecordingInfo) -> tuple[str, ...]:
    from inspector.text import duration, size

    when = info.started.astimezone().strftime("%Y-%m-%d %H:%M") if info.started is not None else "?"
    events = "? events" if info.events is None else _amount(info.events, "event")
    lasted = "?" if info.duration is None else duration(info.duration)
    remarks = []
    if info.problem:
        remarks.append(info.problem)
    elif info.growing:
        remarks.append("being written")
    elif not info.ended:
        remarks.append("end is missing")
    elif not info.revision:
        remarks.append("never connected")
    if info.failures:
        remarks.append(_amount(info.failures, "error"))
    return (
        when,
        out.safe(info.label, LABEL),
        out.safe(info.revision, 20) or "-",
        events,
        lasted,
        size(info.size),
        out.safe(info.path.name) + (f"  {', '.join(remarks)}" if remarks else ""),
    )


def _amount(number: int, noun: str) -> str:
    from inspector.text import count

    return f"{count(number)} {noun}" + ("" if number == 1 else "s")


def _entry(info: RecordingInfo) -> dict[str, Any]:
    return {
        "path": str(info.path),
        "started": None if info.started is None else info.started.isoformat().replace("+00:00", "Z"),
        "label": info.label,
        "target": info.target,
        "revision": info.revision,
        "events": info.events,
        "duration_us": info.duration,
        "size": info.size,
        "ended": info.ended,
        "growing": info.growing,
        "errors": info.errors,
        "problem": info.problem,
    }


VERBS = {
    "recordings": Verb(
        "recordings",
        run,
        target="none",
        about="Prints the start time, target and file of each recording, newest first.",
        examples=("inspector recordings", "inspector recordings --json"),
    )
}
