"""JSON paths of rules: which values of a message they mean. The part of RFC 9535 that needs no evaluation."""

from __future__ import annotations

import re
from collections.abc import Sequence

from inspector.errors import UsageError

Step = str | int | None
"""A member's name, an element's number, or None for any."""

_STEP = re.compile(
    r"""(?P<deep>\.\.)?(?:
        (?:(?(deep)|\.)\*|\[\*\])
      | \[(?P<index>\d{1,9})\]
      | \['(?P<single>(?:[^'\\]|\\.)*)'\] | \["(?P<double>(?:[^"\\]|\\.)*)"\]
      | (?(deep)|\.)(?P<name>[\w$-]+)
    )""",
    re.VERBOSE,
)
_DEEP = object()


class Path:
    """`$.params.arguments.password`, `$..token`, `$.result.content[*].text`, `$['a b'][0]`."""

    def __init__(self, source: str) -> None:
        """Raises `UsageError` where the path cannot be understood."""
        self.source = source
        self._steps: list[Step | object] = []
        if not source.startswith("$"):
            raise _problem(source, 1)
        at = 1
        while at < len(source):
            found = _STEP.match(source, at)
            if found is None:
                raise _problem(source, at + 1)
            if found["deep"]:
                self._steps.append(_DEEP)
            self._steps.append(_step(found))
            at = found.end()
        if not self._steps:
            raise UsageError(
                "The path $ is the whole message.", hint="Name something in it: $.params.arguments.password"
            )

    @property
    def last(self) -> str:
        """The name that what it means must stand under; empty where that may be any."""
        step = self._steps[-1]
        return step if isinstance(step, str) else ""

    def matches(self, place: Sequence[str | int]) -> bool:
        """Whether a value at this place of a document is meant."""
        reached = {0}
        for part in place:
            reached = {following for state in reached for following in self._after(state, part)}
            if not reached:
                return False
        return len(self._steps) in reached

    def _after(self, state: int, part: str | int) -> list[int]:
        """The states that follow one when a step is taken in the document."""
        if state >= len(self._steps):
            return []
        step = self._steps[state]
        if step is _DEEP:
            return [state, *self._after(state + 1, part)]
        return [state + 1] if step is None or step == part else []


def _step(found: re.Match[str]) -> Step:
    if found["index"] is not None:
        return int(found["index"])
    for group in ("single", "double"):
        if found[group] is not None:
            return re.sub(r"\\(.)", r"\1", found[group], flags=re.DOTALL)
    return found["name"]


def _problem(source: str, at: int) -> UsageError:
    return UsageError(
        f"The path {source[:80]} cannot be understood from character {at} on.",
        hint="Write it like $.params.arguments.password, $..token, $.result.content[*].text or $['a b'].",
    )
