"""The options of verbs that compare, the comparison rules that they set, and the text of a difference."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from inspector.cli.options import Option, Value

if TYPE_CHECKING:
    from inspector.cli.output import Output
    from inspector.cli.verb import Invocation
    from inspector.compare.rules import ComparisonRules, Tolerance
    from inspector.compare.values import Difference

VALUE = 160
"""Characters shown of a value."""


def tolerance(word: str) -> Tolerance:
    """`0.01`, `1%`, or either after `PATH=`."""
    from inspector.compare.rules import parse_tolerance

    return parse_tolerance(word)


RULES = (
    Option("--ignore", "Ignore values at this path, such as '$.result.content[*].text'", "PATH", many=True),
    Option("--unordered", "Ignore the order of the list at this path", "PATH", many=True),
    Option("--pattern", "Treat texts that match this regular expression as equal", "REGEX", many=True),
    Option(
        "--tolerance",
        "Allowed difference of numbers: 0.01, 1%, or PATH=0.01",
        Value("AMOUNT", tolerance),
        many=True,
    ),
    Option("--exact", "Compare times, ids and cursors too, which change with every run"),
)


def rules_of(invocation: Invocation) -> ComparisonRules:
    """The comparison rules of the options. Raises `UsageError` for an invalid path or pattern."""
    from inspector.compare.rules import BETWEEN_RUNS, DEFAULT

    return (BETWEEN_RUNS if invocation.option("exact") else DEFAULT).plus(
        ignore=invocation.option("ignore", ()),
        unordered=invocation.option("unordered", ()),
        patterns=invocation.option("pattern", ()),
        tolerances=invocation.option("tolerance", ()),
    )


def difference_line(out: Output, difference: Difference) -> str:
    """A difference in one safe line: path, old value, new value."""
    from inspector.compare.alignment import parted
    from inspector.protocol.jsonrpc import excerpt

    def safe_value(value: Any) -> str:
        return out.safe(excerpt(value, VALUE), VALUE)

    if isinstance(difference.a, str) and isinstance(difference.b, str) and difference.kind == "changed":
        a, b = parted(difference.a, difference.b)
        difference = difference._replace(a=a, b=b)
    where = out.safe(str(difference.path), 300)
    note = f"  ({out.safe(difference.note, 200)})" if difference.note else ""
    if difference.kind == "added":
        return f"{where}  is new: {safe_value(difference.b)}{note}"
    if difference.kind == "removed":
        return f"{where}  was removed: {safe_value(difference.a)}{note}"
    if difference.kind == "moved":
        return f"{where}  moved to {out.safe(str(difference.path_b), 300)}{note}"
    return f"{where}  {safe_value(difference.a)} → {safe_value(difference.b)}{note}"
