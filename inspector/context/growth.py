"""Growth: the cost of a server against that of an earlier state, or of another server."""

from __future__ import annotations

from typing import Any, NamedTuple

from inspector.context.cost import ServerCost


class ToolGrowth(NamedTuple):
    """The change of one tool; `before` or `after` is None if the tool is new or gone."""

    name: str
    before: int | None
    """Characters."""
    after: int | None
    tokens: int
    """The difference in tokens."""

    @property
    def characters(self) -> int:
        """The difference in characters."""
        return (self.after or 0) - (self.before or 0)

    def as_json(self) -> dict[str, Any]:
        """For `--json`."""
        return {
            "name": self.name,
            "before": self.before,
            "after": self.after,
            "characters": self.characters,
            "tokens": self.tokens,
        }


class CostGrowth(NamedTuple):
    """The changes of cost between two states."""

    source: str
    """What it is compared with, for people."""
    tools: tuple[ToolGrowth, ...]
    """Tools whose cost changed, the largest difference first."""
    characters: int
    tokens: int
    before: int
    """The tokens of everything before."""

    def as_json(self) -> dict[str, Any]:
        """For `--json`."""
        return {
            "source": self.source,
            "tools": [tool.as_json() for tool in self.tools],
            "characters": self.characters,
            "tokens": self.tokens,
            "before": {"tokens": self.before},
        }


class Sizes(NamedTuple):
    """The sizes of a server's tools, which are enough to compare two states."""

    tools: dict[str, tuple[int, int]]
    """Name to (characters, tokens)."""
    characters: int
    tokens: int
    method: str

    @classmethod
    def of(cls, cost: ServerCost) -> Sizes:
        """The sizes in a cost."""
        tools = {tool.name: (tool.characters, tool.tokens) for tool in cost.tools}
        return cls(tools, cost.characters, cost.tokens, cost.counter.method)


def sizes_in(document: Any) -> Sizes | None:
    """Return the sizes in a document of `inspector context --json`; None if it is something else."""
    tools, total = (document.get(key) if type(document) is dict else None for key in ("tools", "total"))
    if type(tools) is not list or type(total) is not dict or type(document.get("method")) is not str:
        return None
    found: dict[str, tuple[int, int]] = {}
    for tool in tools:
        counts = tool.get("characters") if type(tool) is dict else None
        characters = counts.get("total") if type(counts) is dict else None
        if type(characters) is not int or type(tool.get("tokens")) is not int or type(tool.get("name")) is not str:
            return None
        found[tool["name"]] = characters, tool["tokens"]
    if type(total.get("characters")) is not int or type(total.get("tokens")) is not int:
        return None
    return Sizes(found, total["characters"], total["tokens"], document["method"])


def growth(source: str, before: Sizes, after: Sizes) -> CostGrowth:
    """Return the changes from one state to another, both counted with the same method."""
    changed = []
    for name in {**before.tools, **after.tools}:
        was, now = before.tools.get(name), after.tools.get(name)
        if was != now:
            tokens = (now[1] if now else 0) - (was[1] if was else 0)
            changed.append(ToolGrowth(name, was[0] if was else None, now[0] if now else None, tokens))
    changed.sort(key=lambda tool: (-abs(tool.characters), tool.name))
    return CostGrowth(
        source, tuple(changed), after.characters - before.characters, after.tokens - before.tokens, before.tokens
    )
