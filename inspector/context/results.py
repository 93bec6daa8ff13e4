"""The cost of a tool's answer: what a model reads of it, from `content` and from `structuredContent`.

Hosts differ: some pass the text blocks, some the structured content in their place (facts HOST-CLAUDE-12,
HOST-VSCODE-05, HOST-GEMINI-11, HOST-ZED-04).
"""

from __future__ import annotations

from typing import Any, NamedTuple

from inspector.context.tokens import ESTIMATED, TokenCounter, estimate
from inspector.protocol.jsonrpc import compact_json

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
