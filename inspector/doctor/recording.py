"""The diagnosis of a recording: whether it can be opened, its content, and its last connection."""

from __future__ import annotations

from typing import Any

from inspector import command_words
from inspector.client.state.steps import ConnectionStep, connection_steps
from inspector.config.targets import RecordingTarget
from inspector.doctor.diagnosis import Diagnosis, DoctorVerdict, Fix, StepCollector, Stopwatch
from inspector.doctor.privacy import Privacy
from inspector.doctor.session_step import read_connection
from inspector.errors import RecordingError
from inspector.journal.journal import Journal
from inspector.text import count, duration, quantity, size

LAST_WORDS = 20
_VERDICTS: dict[str, DoctorVerdict] = {
    "ok": "ok",
    "note": "info",
    "failed": "failed",
    "waiting": "warn",
    "open": "skipped",
}


def diagnose_recording(target: RecordingTarget, name: str = "") -> Diagnosis:
    """Read the file and describe its content. Never raises: an unreadable file is a diagnosis too.

    `name`: how the file is named, if not by its path.
    """
    steps, watch = StepCollector(Privacy()), Stopwatch()
    name = steps.privacy(name or target.describe())
    try:
        journal = Journal.open(target.path)
    except RecordingError as error:
        steps.add("file", "failed", error.message.rstrip("."), fix=Fix(error.hint), cause=_sentence(error.message))
        return Diagnosis(
            name, "recording", "fails", _sentence(error.message), Fix(error.hint), tuple(steps.added), unusable=True
        )
    try:
        while journal.refresh():
            pass
        text = _contents(steps, journal, target)
        first = max(1, len(journal) - 5000)
        words = tuple(steps.privacy(line) for line in read_connection(journal, first).stderr[-LAST_WORDS:])
    finally:
        journal.release()
    return Diagnosis(
        name,
        "recording",
        "opens",
        text,
        Fix("", f"inspector replay {command_words.quote(name)}"),
        tuple(steps.added),
        words,
        watch.seconds,
        name,
    )


def _contents(steps: StepCollector, journal: Journal, target: RecordingTarget) -> str:
    index = journal.index
    whose = journal.header.get("target")
    of = whose.get("label") if type(whose) is dict else None
    octets = target.path.stat().st_size
    lasted = index.time(index.count) if index.count else 0
    steps.add(
        "file", "ok", f"{size(octets)}, {count(index.count)} events in {duration(lasted)}", details=_header(journal)
    )
    if journal.end_is_missing and not journal.raw_only:
        steps.add("end", "warn", "the end line is missing: the writer was killed, or is still writing")
    for notice in journal.notices[:10]:
        steps.add("notice", "warn", notice)
    if len(journal.marks):
        notes = (mark.note for n in journal.marks.events() if (mark := journal.marks.of(n)) is not None)
        marked = quantity(len(journal.marks), "message")
        steps.add("marks", "info", f"{marked} marked by the user", details=[note for note in notes if note])
    if index.invalid or index.errors:
        steps.add("messages", "warn", f"{count(index.invalid)} unreadable, {count(index.errors)} error responses")
    made = connection_steps(journal)
    for step in made:
        steps.add(step.title, _VERDICTS[step.outcome], step.detail)
    how = _ended(made)
    server = f" of {of}" if isinstance(of, str) and of else ""
    return steps.privacy(f"It is a recording{server} with {count(index.count)} events, and can be opened{how}.")


def _ended(steps: list[ConnectionStep]) -> str:
    last = steps[-1] if steps else None
    if last is None:
        return "; it contains no connection"
    if last.title == "ready":
        return "; its connection succeeded"
    return f"; its last connection failed: {last.detail.rstrip('.')}" if last.outcome == "failed" else ""


def _header(journal: Journal) -> list[str]:
    fields: list[tuple[str, Any]] = [(name, journal.header.get(name)) for name in ("tool", "started", "version")]
    bundle = journal.header.get("bundle")
    if type(bundle) is dict:
        fields += [
            (f"bundled {name}", bundle.get(key)) for name, key in (("at", "made"), ("by", "by"), ("on", "system"))
        ]
    return [f"{name}: {value}" for name, value in fields if value is not None]


def _sentence(text: str) -> str:
    return f"{text.rstrip('.')}."
