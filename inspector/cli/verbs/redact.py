"""`inspector redact`: finds secrets in a recording, and writes a copy without them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from inspector.cli.options import FILE, FORCE, OUT, Option, recording
from inspector.cli.output import Output
from inspector.cli.output_files import binary_file, check_outputs, check_source, forced
from inspector.cli.verb import PositionalArgument, Verb
from inspector.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from inspector.cli.verb import Invocation
    from inspector.redact.recording import RedactionReport, SecretValue

NAME = 200
PLACE = 60
EVENTS = 4
FOUND = 5
"""The exit code of `--check` if there are secrets."""


def run(invocation: Invocation) -> int:
    """List what would be hidden, or hide it; with `--check` return 5 if there is anything."""
    from inspector.redact.recording import Redaction
    from inspector.redact.rules import read_rules

    out = invocation.output
    source, written, checks = (
        recording(invocation.arguments["file"]),
        invocation.option("output"),
        invocation.option("check", False),
    )
    check_source(written, source)
    to_stdout = check_outputs(invocation, "output")
    if written is not None and checks:
        raise UsageError("--check cannot be used with -o.", hint="Remove one of them.")
    redaction = Redaction(source, read_rules(invocation.option("rule", ()), invocation.option("rules", ())))
    for notice in redaction.notices:
        out.note(f"note: {out.safe(notice)}")
    if written is None:
        report = redaction.inspect()
    else:
        with binary_file(written, out, force=forced(invocation)) as file:
            report = redaction.write(file)
    code = FOUND if checks and report.count else 0
    if out.json:
        out.document({"exit_code": code} | _as_json(report, source, written))
    elif to_stdout:
        out.note(f"Hidden: {_places(report)}.")
    else:
        out.table([_row(out, value) for value in report.values])
        _tell(out, report, written, checks)
    return code


def _row(out: Output, value: SecretValue) -> tuple[str, ...]:
    head = f"{out.safe(value.head)}… " if value.head else ""
    events = [str(n) if n else "header" for n in value.events[:EVENTS]]
    more = " …" if value.count > len(events) or len(value.events) > EVENTS else ""
    times = f"{value.count:,} times" if value.count > 1 else "once"
    return (
        out.safe(value.rule, PLACE),
        f"{head}{value.length:,} characters",
        times,
        f"{out.safe(value.where, PLACE)} ({', '.join(events)}{more})",
    )


def _tell(out: Output, report: RedactionReport, written: Path | None, checks: bool) -> None:
    places = _places(report)
    if report.more:
        out.note(f"note: {report.more:,} more places are not listed, because there are too many different values.")
    if written is not None:
        out.note(f"{places} {'is' if report.count == 1 else 'are'} hidden." if report.count else "Nothing was hidden.")
        if report.count:
            out.note("Read the copy before you share it: no rule knows every secret.")
    elif not report.count:
        out.line("No secret found. Read the file before you share it: no rule knows every secret.")
    elif checks:
        out.line(f"{places} look like secrets. Write a copy without them with `inspector redact FILE -o OUT`.")
    else:
        out.line(f"{places} would be hidden; write the copy with -o OUT.")


def _places(report: RedactionReport) -> str:
    return f"{report.count:,} place{'s' if report.count != 1 else ''}"


def _as_json(report: RedactionReport, source: Path, written: Path | None) -> dict[str, Any]:
    def values_json() -> Iterator[dict[str, Any]]:
        for value in report.values:
            yield {
                "rule": value.rule,
                "head": value.head,
                "length": value.length,
                "count": value.count,
                "where": value.where,
                "events": value.events,
            }

    return {
        "path": str(source.absolute()),
        "written": None if written is None else str(written.absolute()),
        "places": report.count,
        "lines": report.lines,
        "found": list(values_json()),
        "unlisted": report.more,
    }


def _rules() -> str:
    from inspector.config.token_patterns import NAMES, SHAPES

    off = {shape.name for shape in SHAPES if not shape.ordinary}
    return "; ".join(f"{name}{' (off)' if name in off else ''}: {summary}" for name, summary in NAMES.items())


REDACT = Verb(
    "redact",
    run,
    slots=(PositionalArgument("file", completes="recording"),),
    target="none",
    options=(
        Option("-o --output", "Write a copy without the secrets to this file; - is stdout", OUT),
        FORCE,
        Option("--rule", "Add a rule, or turn one off; repeatable", "RULE", many=True),
        Option("--rules", "Read rules from this YAML file; repeatable", FILE, many=True),
        Option("--check", "Exit with 5 if the recording has secrets; write nothing"),
    ),
    texts={"rules": _rules()},
)
