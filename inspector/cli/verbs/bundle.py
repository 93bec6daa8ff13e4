"""`inspector bundle`: one file for a bug report: a recording without secrets, its marks, the doctor's report."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from inspector.cli.options import FILE, FORCE, OUT, Option, recording
from inspector.cli.output_files import binary_file, check_outputs, check_source, forced
from inspector.cli.verb import PositionalArgument, Verb
from inspector.config.paths import RECORDING_SUFFIX
from inspector.config.targets import RecordingTarget
from inspector.config.text_checks import one_line

if TYPE_CHECKING:
    from pathlib import Path

    from inspector.cli.verb import Invocation
    from inspector.journal.journal import Journal

SUFFIX = f".bundle{RECORDING_SUFFIX}"


def run(invocation: Invocation) -> int:
    """Write the bundle."""
    from inspector.journal.journal import whole_journal
    from inspector.redact.recording import Redaction
    from inspector.redact.rules import read_rules

    out = invocation.output
    source: Path = recording(invocation.arguments["file"])
    written = invocation.option("output") or source.with_name(_stem(source) + SUFFIX)
    check_source(written, source)
    to_stdout = check_outputs(invocation, "output")
    rules = read_rules(invocation.option("rule", ()), invocation.option("rules", ()), also=("home",))
    with whole_journal(source) as journal:
        marks, is_old = len(journal.marks), journal.raw_only
        rules.folders = tuple(_folders(journal))
    redaction = Redaction(source, rules, about={} if is_old else {"bundle": _about(source)})
    for notice in redaction.notices:
        out.note(f"note: {out.safe(notice)}")
    with binary_file(written, out, force=forced(invocation)) as file:
        report = redaction.write(file)
    if out.json:
        out.document(
            {"path": str(source.absolute()), "written": str(written.absolute()), "marks": marks, "hidden": report.count}
        )
    elif not to_stdout:
        hidden = f"{report.count:,} {'secret was' if report.count == 1 else 'secrets were'} removed"
        marked = f"{marks:,} {'message is' if marks == 1 else 'messages are'} marked"
        out.note(f"{hidden}, {marked}.")
        out.note("Read it before you share it: no rule knows every secret. `inspector replay FILE` opens it.")
    return 0


def _stem(source: Path) -> str:
    name = source.name
    return next((name.removesuffix(end) for end in (SUFFIX, RECORDING_SUFFIX, ".jsonl") if name.endswith(end)), name)


def _about(source: Path) -> dict[str, Any]:
    """Return what the bundle adds to the header: who made it, and what the doctor says about the recording."""
    import platform
    from datetime import UTC, datetime

    from inspector.doctor.recording import diagnose_recording
    from inspector.version import __version__

    return {
        "made": datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z"),
        "by": f"inspector/{__version__}",
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.machine()}",
        "doctor": diagnose_recording(RecordingTarget(source), one_line(source.name)).as_json(),
    }


def _folders(journal: Journal) -> set[str]:
    """Return the folder of the recording, ours, and those in which servers were started."""
    from inspector.journal.format import Kind
    from inspector.journal.query import Query

    target = journal.header.get("target")
    started = [target if type(target) is dict else {}]
    started += (journal.event(n).fields for n in Query(kind=Kind.LIFE).forwards(journal.index))
    folders = {os.getcwd(), *(cwd for fields in started if isinstance(cwd := fields.get("cwd"), str))}
    return folders if journal.path is None else folders | {str(journal.path.parent.resolve())}


BUNDLE = Verb(
    "bundle",
    run,
    slots=(PositionalArgument("file", completes="recording"),),
    target="none",
    options=(
        Option("-o --output", "Write to this file; - is stdout", OUT),
        FORCE,
        Option("--rule", "Add a redaction rule, or turn one off; repeatable", "RULE", many=True),
        Option("--rules", "Read rules from this YAML file; repeatable", FILE, many=True),
    ),
)
