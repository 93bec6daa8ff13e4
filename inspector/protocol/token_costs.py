"""The cost of a tool and of a result for a model: exact characters, estimated tokens."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

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
