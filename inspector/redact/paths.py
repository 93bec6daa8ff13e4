"""JSON paths of rules: which values of a message they mean."""

from __future__ import annotations

from inspector.compare.paths import Key, parse_glob
from inspector.errors import UsageError

START = frozenset((0,))
"""What `Path.step` begins with."""


class Path:
    """`$.params.arguments.password`, `$..token`, `$.result.content[*].text`, `$["a b"].api*`."""

    def __init__(self, source: str) -> None:
        """Raises `UsageError` where the path cannot be understood."""
        self.source = source
        self._steps = parse_glob(source)
        if not self._steps:
            raise UsageError("The path $ is the whole message.", hint="Name something in it: $.params.arguments.pin")

    def step(self, reached: frozenset[int], key: Key) -> frozenset[int]:
        """How far the path has come after one step more into a document, by how far it had come before."""
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
        """Whether a value that is reached so is meant."""
        return len(self._steps) in reached
