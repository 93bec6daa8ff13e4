"""Turns characters into tokens: an estimate by default, or a tokenizer that is on this machine already."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

from inspector.apps.definitions import is_for_model
from inspector.errors import UsageError
from inspector.protocol.jsonrpc import compact_json
from inspector.protocol.subschemas import subschemas

ESTIMATE = "characters / 4"
"""The method of the estimate. JSON is denser than prose: it may need up to characters / 3."""
_CHARACTERS_A_TOKEN = 4


class TokenCounter(NamedTuple):
    """Counts the tokens of texts."""

    method: str
    """`characters / 4`, or the name of a tokenizer."""
    count: Callable[[str], int]

    @property
    def is_estimate(self) -> bool:
        """Whether the counts are estimated from characters."""
        return self.method == ESTIMATE


def estimate(characters: int) -> int:
    """Return the estimated tokens of a number of characters, rounded up."""
    return -(-characters // _CHARACTERS_A_TOKEN)


ESTIMATED = TokenCounter(ESTIMATE, lambda text: estimate(len(text)))


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


_CHOICES = ("enum", "const", "examples")


@dataclass(frozen=True)
class ToolCost:
    """The text of one tool as a model gets it, and its size."""

    name: str
    description: str
    schema: str
    """The input schema as compact JSON; empty if the tool has none."""
    tokens: int
    wire: int
    """Characters of the whole definition on the wire, as compact JSON."""
    definition: dict[str, Any] = field(repr=False, compare=False)

    @property
    def characters(self) -> int:
        """The characters of all three parts."""
        return len(self.name) + len(self.description) + len(self.schema)

    @cached_property
    def parameter_texts(self) -> int:
        """Characters of descriptions inside the schema, as JSON strings."""
        return _inside(self.definition.get("inputSchema"), ("description",))

    @cached_property
    def choices(self) -> int:
        """Characters of allowed and example values in the schema, as JSON."""
        return _inside(self.definition.get("inputSchema"), _CHOICES)

    @property
    def not_included(self) -> list[str]:
        """The members of the definition that most hosts do not pass on."""
        return [str(key) for key in self.definition if key not in ("name", "description", "inputSchema")]

    def as_json(self, total: int) -> dict[str, Any]:
        """For `--json`; `total` is the size of everything."""
        return {
            "name": self.name,
            "characters": {
                "name": len(self.name),
                "description": len(self.description),
                "schema": len(self.schema),
                "total": self.characters,
            },
            "tokens": self.tokens,
            "share": self.characters / total if total else 0.0,
        }


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
        """The part of a tool in the cost of everything, from 0 to 1."""
        return tool.characters / self.characters if self.characters else 0.0

    def sorted(self, by: str = "") -> list[ToolCost]:
        """The tools in an order; the default is that of the report."""
        if (by or self.order) == "name":
            return sorted(self.tools, key=lambda tool: tool.name)
        return sorted(self.tools, key=lambda tool: (-tool.characters, tool.name))

    def tool(self, name: str) -> ToolCost | None:
        """The tool with this name; None without one."""
        return next((tool for tool in self.tools if tool.name == name), None)

    def as_json(self) -> dict[str, Any]:
        """The members of `--json` that are about cost."""
        return {
            "tools": [tool.as_json(self.characters) for tool in self.sorted()],
            "instructions": {"characters": len(self.instructions), "tokens": self.instruction_tokens},
            "total": {"tools": len(self.tools), "characters": self.characters, "tokens": self.tokens},
            "method": self.counter.method,
        }


def cost_of(tools: Any, instructions: Any = "", counter: TokenCounter = ESTIMATED) -> ServerCost:
    """Return the cost of the tools in a list of the server. Tools for apps only, and odd entries, do not count."""
    entries = tools if type(tools) is list else []
    found = tuple(tool_cost(entry, counter) for entry in entries if type(entry) is dict and is_for_model(entry))
    text = instructions if type(instructions) is str else ""
    return ServerCost(found, text, counter.count(text) if text else 0, counter)


def tool_cost(definition: dict[str, Any], counter: TokenCounter = ESTIMATED) -> ToolCost:
    """Return the cost of one tool definition. Members of a wrong type count as empty."""
    name, description = (value if type(value) is str else "" for value in map(definition.get, ("name", "description")))
    schema = definition.get("inputSchema")
    text = "" if schema is None else compact_json(schema)
    if counter.is_estimate:
        tokens = counter.count(name + description + text)
    else:
        tokens = sum(counter.count(part) for part in (name, description, text) if part)
    return ToolCost(name, description, text, tokens, len(compact_json(definition)), definition)


def _inside(schema: Any, keys: tuple[str, ...]) -> int:
    return sum(len(compact_json(part.schema[key])) for part in subschemas(schema) for key in keys if key in part.schema)


_MEDIA = ("image", "audio")


class ResultCost(NamedTuple):
    """The cost of one result."""

    content: int
    """Characters of its text blocks and of texts in resources."""
    content_tokens: int
    structured: int | None
    """Characters of `structuredContent` as compact JSON; None without one."""
    structured_tokens: int
    media: int
    """Images and audio, whose tokens depend on the model and are not counted."""

    def as_json(self) -> dict[str, Any]:
        """For `--json`."""
        structured = None
        if self.structured is not None:
            structured = {"characters": self.structured, "tokens": self.structured_tokens}
        return {
            "content": {"characters": self.content, "tokens": self.content_tokens},
            "structured": structured,
            "media": self.media,
        }


def result_cost(result: Any, counter: TokenCounter = ESTIMATED) -> ResultCost:
    """Return the cost of a result of `tools/call`. Members of a wrong type count as empty."""
    members = result if type(result) is dict else {}
    blocks = members.get("content")
    texts: list[str] = []
    media = 0
    for block in blocks if type(blocks) is list else ():
        if type(block) is not dict:
            continue
        if block.get("type") in _MEDIA:
            media += 1
        inner = block.get("resource")
        text = block.get("text") if type(inner) is not dict else inner.get("text")
        if type(text) is str:
            texts.append(text)
    structured = compact_json(members["structuredContent"]) if "structuredContent" in members else None
    characters = sum(map(len, texts))
    # The text is joined only for a tokenizer: a result may have many megabytes.
    tokens = estimate(characters) if counter.is_estimate else counter.count("\n".join(texts))
    return ResultCost(
        characters,
        tokens,
        None if structured is None else len(structured),
        counter.count(structured) if structured else 0,
        media,
    )
