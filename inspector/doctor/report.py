"""A diagnosis as text for a terminal or an issue. Escaped, and without secrets and user names."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from inspector.text import duration, safe

if TYPE_CHECKING:
    from inspector.doctor.diagnosis import Diagnosis, DoctorStep, DoctorVerdict, Fix

SIGNS: dict[DoctorVerdict, str] = {"ok": "✓", "warn": "▲", "failed": "✗", "info": "·", "skipped": "–"}
ASCII_SIGNS: dict[DoctorVerdict, str] = {"ok": "+", "warn": "!", "failed": "x", "info": ".", "skipped": "-"}
TITLE = 14
MAX_LENGTH = 400


def remedy(fix: Fix) -> str:
    """Return the fix in one line; empty without one."""
    where = f"   (in {fix.folder})" if fix.folder and fix.command else ""
    return "   ".join(filter(None, (fix.hint.command_line, f"{fix.command}{where}")))


def step_line(step: DoctorStep, *, ascii: bool = False) -> str:
    """Return sign, name, text and duration of a step."""
    sign = (ASCII_SIGNS if ascii else SIGNS)[step.verdict]
    took = f"  {duration(step.seconds * 1e6)}" if step.seconds is not None else ""
    return f"{sign} {step.name:<{TITLE}}{safe(step.text, MAX_LENGTH, ascii=ascii)}{took}"


def lines(diagnosis: Diagnosis, *, verbose: bool = False, ascii: bool = False) -> Iterator[str]:
    """Yield the report: the cause, the fix, the steps, the last stderr lines. `verbose`: with all details."""
    yield safe(diagnosis.cause, None, ascii=ascii)
    if remedy(diagnosis.fix):
        yield f"try: {safe(remedy(diagnosis.fix), None, ascii=ascii)}"
    yield ""
    for step in diagnosis.steps:
        yield f"  {step_line(step, ascii=ascii)}"
        if verbose or step.verdict in ("failed", "warn"):
            yield from (
                f"      {safe(detail, MAX_LENGTH, ascii=ascii)}" for detail in step.details if step.name != "stderr"
            )
            if remedy(step.fix) and step.fix != diagnosis.fix:
                yield f"      try: {safe(remedy(step.fix), MAX_LENGTH, ascii=ascii)}"
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
