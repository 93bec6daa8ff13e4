"""The cost of a server's tools and instructions, and tokenizers that are on this machine already."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from inspector.errors import UsageError
from inspector.protocol.app_definitions import is_for_model
from inspector.protocol.token_costs import ESTIMATED, TokenCounter, ToolCost, tool_cost


def tokenizer(name: str) -> TokenCounter:
    """Return the tokenizer `name` of tiktoken, such as `o200k_base`. Nothing is downloaded.

    Raises `UsageError` if tiktoken is not installed, does not know the name, or its vocabulary is not on this machine.
    """
    try:
        import tiktoken  # type: ignore[import-not-found, unused-ignore]
        import tiktoken.load  # type: ignore[import-not-found, unused-ignore]
    except ImportError:
        raise UsageError(
            "A tokenizer needs the package tiktoken, which is not installed.",
            hint="Install tiktoken, or count without a tokenizer: tokens are then characters / 4.",
        ) from None
    encoding = _encoding(tiktoken, name)
    return TokenCounter(name, lambda text: len(encoding.encode(text, disallowed_special=())))


class _NotOnDisk(Exception):
    """The vocabulary would have to be downloaded."""


def _encoding(tiktoken: Any, name: str) -> Any:
    if name not in tiktoken.list_encoding_names():
        raise UsageError(
            f"Unknown tokenizer “{name[:40]}”.", hint=f"tiktoken has {', '.join(tiktoken.list_encoding_names())}."
        )

    def refuse(*_: Any) -> bytes:
        raise _NotOnDisk

    download = tiktoken.load.read_file
    tiktoken.load.read_file = refuse  # The library reads its cache first, and calls this to download.
    try:
        return tiktoken.get_encoding(name)
    except _NotOnDisk:
        raise UsageError(
            f"The vocabulary of {name} is not on this machine, and Inspector downloads nothing.",
            hint="Set TIKTOKEN_CACHE_DIR to a directory that has it, or count without a tokenizer.",
        ) from None
    finally:
        tiktoken.load.read_file = download


@dataclass(frozen=True)
class ServerCost:
    """The cost of a server's tools and instructions."""

    tools: tuple[ToolCost, ...]
    """In the server's order."""
    instructions: str
    instruction_tokens: int
    counter: TokenCounter
    order: str = "cost"
    """How the table and `--json` order the tools: by `cost`, the largest first, or by `name`."""

    @cached_property
    def characters(self) -> int:
        """The characters of everything."""
        return sum(tool.characters for tool in self.tools) + len(self.instructions)

    @cached_property
    def tokens(self) -> int:
        """The tokens of everything, each tool rounded up."""
        return sum(tool.tokens for tool in self.tools) + self.instruction_tokens

    @cached_property
    def wire(self) -> int:
        """The characters of all definitions on the wire."""
        return sum(tool.wire for tool in self.tools)

    def share(self, tool: ToolCost) -> float:
        """Return the part of a tool in the cost of everything, from 0 to 1."""
        return tool.characters / self.characters if self.characters else 0.0

    def sorted(self, by: str = "") -> list[ToolCost]:
        """Return the tools in an order; the default is that of the report."""
        if (by or self.order) == "name":
            return sorted(self.tools, key=lambda tool: tool.name)
        return sorted(self.tools, key=lambda tool: (-tool.characters, tool.name))

    def tool(self, name: str) -> ToolCost | None:
        """Return the tool with this name; None without one."""
        return next((tool for tool in self.tools if tool.name == name), None)

    def as_json(self) -> dict[str, Any]:
        """Return the members of `--json` that are about cost."""
        return {
            "tools": [tool.as_json(self.characters) for tool in self.sorted()],
            "instructions": {"characters": len(self.instructions), "tokens": self.instruction_tokens},
            "total": {"tools": len(self.tools), "characters": self.characters, "tokens": self.tokens},
            "method": self.counter.method,
        }


def cost_of(tools: Any, instructions: Any = "", counter: TokenCounter = ESTIMATED) -> ServerCost:
    """Return the cost of the tools in a list of the server. Tools for apps only, and odd entries, do not count."""
    entries = tools if type(tools) is list else []
    costs = tuple(tool_cost(entry, counter) for entry in entries if type(entry) is dict and is_for_model(entry))
    text = instructions if type(instructions) is str else ""
    return ServerCost(costs, text, counter.count(text) if text else 0, counter)
