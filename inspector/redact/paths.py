"""JSON paths in rules, and matching them with the values of a message."""

from __future__ import annotations

from inspector.compare.json_places import PathStep, parse_glob
from inspector.errors import UsageError

START = frozenset((0,))
"""The first argument of `RulePath.step`."""


class RulePath:
    """`$.params.arguments.password`, `$..token`, `$.result.content[*].text`, `$["a b"].api*`."""

    def __init__(self, source: str) -> None:
        """Raises `UsageError` if the path is invalid."""
        self.source = source
        self._steps = parse_glob(source)
        if not self._steps:
            raise UsageError("The path $ is the whole message.", hint="Add a member: $.params.arguments.pin")

    def step(self, reached: frozenset[int], key: PathStep) -> frozenset[int]:
        """Return the progress of the path one step deeper into a document, from its progress before."""
        found = set()
        for at in reached:
            if at < len(self._steps):
                step = self._steps[at]
                if step.matches(key):
                    found.add(at + 1)
                if step.any_depth:
                    found.add(at)
        return frozenset(found)

    def ends(self, reached: frozenset[int]) -> bool:
        """Whether the path matches a value with this progress."""
        return len(self._steps) in reached
