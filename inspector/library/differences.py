"""Differences of JSON values as lines: the output of a failed test."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from inspector.protocol.jsonrpc import excerpt
from inspector.text import safe

if TYPE_CHECKING:
    from inspector.compare.conversation import Conversation
    from inspector.compare.rules import ComparisonRules
    from inspector.compare.values import Difference

MAX_COUNT = 30
"""Maximum differences that are listed."""
VALUE = 200
"""Maximum characters of one value."""
AROUND = 40
"""Characters before and after the position at which two texts start to differ."""
MAX_LINES = 40
"""Maximum lines of the difference between two texts."""
MAX_TOLD = 100
"""Maximum lines in total."""


def exact() -> ComparisonRules:
    """Return rules under which nothing may differ, as with `==`."""
    from inspector.compare.rules import ComparisonRules

    return ComparisonRules(volatile=(), unordered=(), patterns=())


def differences(expected: Any, actual: Any, rules: ComparisonRules | None = None) -> list[str]:
    """Return a line for each difference of `actual` from `expected`; empty without any. None: `exact` rules."""
    from inspector.compare.values import compare

    differences = compare(expected, actual, exact() if rules is None else rules, limit=MAX_COUNT + 1)
    lines = [line for difference in differences.differences[:MAX_COUNT] for line in _lines(difference)]
    return [*lines, "… and more"] if len(differences.differences) > MAX_COUNT else lines


def _lines(difference: Difference) -> Iterator[str]:
    kind, path, path_b, a, b, note = difference
    where = safe(str(path), VALUE)
    if kind == "added":
        yield f"{where}: unexpected {_value_text(b)}"
    elif kind == "removed":
        yield f"{where}: expected {_value_text(a)}, but it is missing"
    elif kind == "moved":
        yield f"{where}: is at {safe(str(path_b), VALUE)} instead"
    elif kind == "repeated":
        yield f"{where}: occurs {b} times instead of {a} times"
    elif isinstance(a, str) and isinstance(b, str) and (len(a) > VALUE or len(b) > VALUE or "\n" in a + b):
        yield f"{where}: the texts differ"
        yield from _texts(a, b)
    else:
        yield f"{where}: expected {_value_text(a)}, got {_value_text(b)}" + (f" ({note})" if note else "")


def _texts(a: str, b: str) -> Iterator[str]:
    """Compare two long texts: by lines if they have several, else around the position where they differ."""
    lines_a, lines_b = a.splitlines(), b.splitlines()
    if max(len(lines_a), len(lines_b)) > 1 and len(lines_a) + len(lines_b) < 2000:
        from difflib import unified_diff

        lines = list(unified_diff(lines_a, lines_b, "expected", "got", lineterm="", n=1))
        yield from (f"    {safe(line, VALUE)}" for line in lines[:MAX_LINES])
        if len(lines) > MAX_LINES:
            yield "    …"
        return
    at = next((at for at, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b)))
    start = max(at - AROUND, 0)
    before = "…" if start else ""
    for name, text in (("expected", a), ("got     ", b)):
        behind = "…" if len(text) > at + AROUND else ""
        yield f"    {name} {before}{safe(text[start : at + AROUND])}{behind} ({len(text):,} characters)"


def _value_text(value: Any) -> str:
    return safe(excerpt(value, VALUE))


def drift(conversation: Conversation) -> list[str]:
    """Return the differences between a recorded conversation and a new one."""
    lines: list[str] = []
    for step in conversation.steps:
        what = safe(f"{step.method} {step.name}".strip(), VALUE)
        if step.kind == "only-a":
            lines.append(f"{what} (event {step.a}) was recorded, but did not occur again")
        elif step.kind == "only-b":
            lines.append(f"{what} was not recorded")
        elif step.kind == "changed":
            lines.append(f"{what} (event {step.a}):")
            for finding in step.findings:
                if finding.difference is None:
                    lines.append(f"    {finding.part}: {safe(finding.what, VALUE)}")
                else:
                    lines += (f"    {finding.part} {line}" for line in _lines(finding.difference))
    return limited(lines)


def limited(lines: Iterable[str]) -> list[str]:
    """Return at most `MAX_TOLD` lines, and the number of the others."""
    kept = list(lines)
    return kept if len(kept) <= MAX_TOLD else [*kept[:MAX_TOLD], f"… and {len(kept) - MAX_TOLD:,} more"]
