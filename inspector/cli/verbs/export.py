"""`inspector export`: a recording in another format."""

from __future__ import annotations

import io
import re
from array import array
from collections.abc import Iterator
from typing import TYPE_CHECKING

from inspector.cli.options import FORCE, OUT, Option, Value, output, recording
from inspector.cli.output_files import check_outputs, check_source, forced, is_stdout, text_file
from inspector.cli.verb import PositionalArgument, Verb
from inspector.errors import UsageError
from inspector.formats import ALIASES, WRITABLE, check, export

if TYPE_CHECKING:
    from pathlib import Path

    from inspector.cli.verb import Invocation
    from inspector.journal.filters import Filter
    from inspector.journal.journal import Journal

NO_END = 1 << 53
_JSON = (".json", ".har")
"""The suffixes of formats that are one JSON document."""


def run(invocation: Invocation) -> int:
    """Judge the recording, and write it to stdout or to a file."""
    from inspector.cli.open_recording import tell_notices, whole_journal
    from inspector.journal.filters import parse

    out = invocation.output
    written: Path | None = invocation.option("output")
    to = invocation.option("to") or _format_of(written)
    source = recording(invocation.arguments["file"])
    check_source(written, source)
    check_outputs(invocation, "output")
    with whole_journal(source) as journal:
        tell_notices(out, journal)
        written_filter = invocation.option("filter")
        filter = None if written_filter is None else parse(written_filter)
        numbers = _numbers(invocation.option("events"), journal)
        judged = filter is not None and filter.by_finding
        if judged:
            _judge(journal)
        if filter is not None:
            numbers = _fitting(filter, journal, numbers)
        check(journal, to, numbers)
        if WRITABLE[to].findings and not judged:
            _judge(journal)
        notes: list[str] = []
        facts = {"path": str(source.absolute()), "format": to}
        to_stdout = written is None or is_stdout(written)
        if out.json and to_stdout and not WRITABLE[to].suffix.endswith(_JSON):
            text = io.StringIO()
            notes = export(journal, to, text, numbers)
            out.document({**facts, "content": text.getvalue(), "notes": notes})
            return 0
        with text_file(written or output("-"), out, force=forced(invocation)) as file:
            notes = export(journal, to, file, numbers)
        if out.json and written is not None and not to_stdout:
            out.document({**facts, "written": str(written.absolute()), "notes": notes})
            return 0
        for note in notes:
            out.note(f"note: {out.safe(note)}")
    return 0


def _format_of(written: Path | None) -> str:
    """The format of the output file's suffix. Raises `UsageError` if none or several match."""
    hint = f"Formats are {', '.join(WRITABLE)}."
    if written is None or is_stdout(written):
        raise UsageError("`inspector export` needs --to FORMAT, or a file to write with -o.", hint=hint)
    name = written.name.lower()
    longest = max((format.suffix for format in WRITABLE.values() if name.endswith(format.suffix)), key=len, default="")
    names = [name for name, format in WRITABLE.items() if longest and format.suffix == longest]
    if not names:
        raise UsageError(f"Unknown format for {written.name}. Add --to FORMAT.", hint=hint)
    if len(names) > 1:
        raise UsageError(
            f"{longest} is the suffix of several formats: {', '.join(names)}.", hint=f"Choose one: --to {names[0]}."
        )
    return names[0]


def _fitting(filter: Filter, journal: Journal, numbers: array[int] | None) -> array[int]:
    """The events that match a filter, in order. Raises `UsageError` if none does."""
    fitting = array("I", filter.numbers(journal))
    if numbers is not None:
        selected = bytearray(len(journal) + 1)
        for n in numbers:
            selected[n] = 1
        fitting = array("I", (n for n in fitting if selected[n]))
    if not fitting:
        raise UsageError(
            "No event matches the filter.",
            hint="Example: --filter 'method:tools/* status:error'. See `inspector help filters`.",
        )
    return fitting


def _judge(journal: Journal) -> None:
    """Judge every message, so that the export has the findings. The recording file does not change."""
    from inspector.check.judge.judge import Judge

    Judge(journal).run_all()


def ranges(word: str) -> list[tuple[int, int]]:
    """Parse ranges of event numbers into (first, last): `7`, `1-20`, `30-`, several with commas."""
    parsed = []
    for part in word.split(","):
        match = re.fullmatch(r"\s*(\d{1,15})\s*(?:(-)\s*(\d{1,15})?\s*)?", part, re.ASCII)
        first = int(match[1]) if match else 0
        last = first if match and not match[2] else int(match[3]) if match and match[3] else NO_END
        if not 0 < first <= last:
            raise UsageError(f"“{part[:40]}” is not a range of events.", hint="Example: --events 1-20,33,40-.")
        parsed.append((first, last))
    return parsed


def _numbers(selected: list[tuple[int, int]] | None, journal: Journal) -> array[int] | None:
    """The selected event numbers, each once, in order; None for all."""
    if selected is None:
        return None
    count = len(journal)
    if all(first > count for first, _ in selected):
        raise UsageError(f"The recording has only {count:,} events.")
    return array("I", _merged(sorted(selected), count))


def _merged(selected: list[tuple[int, int]], count: int) -> Iterator[int]:
    done = 0
    for first, last in selected:
        yield from range(max(first, done + 1), min(last, count) + 1)
        done = max(done, last)


def _names(format: str) -> str:
    """The names of a format, as the help shows them."""
    return " or ".join([format, *(alias for alias, name in ALIASES.items() if name == format)])


EXPORT = Verb(
    "export",
    run,
    slots=(PositionalArgument("file", completes="recording"),),
    target="none",
    options=(
        Option(
            "--to",
            "Output format; default: according to the suffix of OUT",
            "FORMAT",
            choices=tuple(WRITABLE),
            aliases=ALIASES,
        ),
        Option("-o --output", "File to write; default: stdout", OUT),
        FORCE,
        Option("--filter", "Export only events that match this filter (inspector help filters)", "EXPR"),
        Option("--events", "Export only these events, such as 1-20,33,40-", Value("NUMBERS", ranges)),
    ),
    texts={"formats": "; ".join(f"{_names(name)} ({format.summary})" for name, format in WRITABLE.items())},
)
