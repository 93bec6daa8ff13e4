"""A diagnosis as text for a terminal or an issue. Escaped, and without secrets and user names."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from inspector.text import duration, safe
from inspector.text import lines as text_lines

if TYPE_CHECKING:
    from inspector.doctor.diagnosis import Diagnosis, DoctorStep, DoctorVerdict, Fix

SIGNS: dict[DoctorVerdict, str] = {"ok": "✓", "warn": "▲", "failed": "✗", "info": "·", "skipped": "–"}
ASCII_SIGNS: dict[DoctorVerdict, str] = {"ok": "+", "warn": "!", "failed": "x", "info": ".", "skipped": "-"}
TITLE = 14
_BEFORE = 2 + TITLE
"""Characters of sign and name."""
MAX_LENGTH = 400


def _remedy(fix: Fix, indent: str, width: int | None, *, ascii: bool) -> Iterator[str]:
    """Yield the sentence of a fix, then its command in a line of its own, to be copied."""
    before = f"{indent}try: "
    if fix.hint.command_line:
        advice = fix.hint.command_line.removeprefix("Try ")
        yield from _hanging(before, safe(advice, None, ascii=ascii), width)
        before = " " * len(before)
    if fix.command:
        where = f"   (in {fix.folder})" if fix.folder else ""
        yield f"{before}{safe(f'{fix.command}{where}', None, ascii=ascii)}"


def _hanging(before: str, text: str, width: int | None) -> Iterator[str]:
    """Yield a text after its beginning, wrapped at words, with further lines below its first word."""
    first, *rest = text_lines(text, None if width is None else width - len(before))
    yield f"{before}{first}"
    yield from (f"{' ' * len(before)}{line}" for line in rest)


def step_line(step: DoctorStep, *, ascii: bool = False) -> str:
    """Return sign, name, text and duration of a step."""
    sign = (ASCII_SIGNS if ascii else SIGNS)[step.verdict]
    took = f"  {duration(step.seconds * 1e6)}" if step.seconds is not None else ""
    return f"{sign} {step.name:<{TITLE}}{safe(step.text, MAX_LENGTH, ascii=ascii)}{took}"


def lines(
    diagnosis: Diagnosis, *, verbose: bool = False, ascii: bool = False, width: int | None = None
) -> Iterator[str]:
    """Yield the report: the cause, the fix, the steps, the last stderr lines.

    `verbose`: with all details. `width`: sentences are wrapped to that many cells.
    """
    yield from text_lines(diagnosis.cause, width, ascii=ascii)
    yield from _remedy(diagnosis.fix, "", width, ascii=ascii)
    yield ""
    for step in diagnosis.steps:
        line = step_line(step, ascii=ascii)
        yield from _hanging(f"  {line[:_BEFORE]}", line[_BEFORE:], width)
        if verbose or step.verdict in ("failed", "warn"):
            yield from (
                f"      {safe(detail, MAX_LENGTH, ascii=ascii)}" for detail in step.details if step.name != "stderr"
            )
            if step.fix != diagnosis.fix:
                yield from _remedy(step.fix, " " * 6, width, ascii=ascii)
    if diagnosis.last_words:
        yield ""
        yield "  stderr, last lines"
        yield from (f"    {safe(line, MAX_LENGTH, ascii=ascii)}" for line in diagnosis.last_words)


def paste(diagnosis: Diagnosis, about: str) -> str:
    """Return the full report in Markdown for an issue, with the versions in `about`."""
    body = "\n".join(lines(diagnosis, verbose=True)).replace("```", "'''")
    return (
        f"**{_plain(diagnosis.cause)}**\n\n"
        f"`inspector doctor {_plain(diagnosis.target)}` ({about}, {diagnosis.seconds:.1f} s)\n\n"
        f"```text\n{body}\n```\n"
    )


def _plain(text: str) -> str:
    return safe(text, MAX_LENGTH).replace("`", "'").replace("*", "∗").replace("<", "‹")
