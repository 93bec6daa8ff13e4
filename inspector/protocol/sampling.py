"""Detects sampling requests that a client must refuse (C-SAMP-03).

Source: specification 2025-11-25 and 2026-07-28, client/sampling, "Message Content Constraints" and "Error Handling";
the same schema's comments on `tools` and `toolChoice`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from inspector.protocol.members import array_at, text_at, value_at
from inspector.text import safe


def refusal(params: Mapping[str, Any], *, tools: bool) -> str:
    """Return why a `sampling/createMessage` is refused with -32602; empty if it is allowed.

    `tools`: the client has declared `sampling.tools`. It checks only what the specification names: tools that were not
    declared, tool results beside other content, tool uses whose results are missing from the next message. The user
    sees all other errors.
    """
    if not tools:
        for member in ("tools", "toolChoice"):
            if params.get(member) is not None:
                return f"{member} is given, but sampling.tools was not declared"
    uses: frozenset[str] = frozenset()
    for number, message in enumerate(array_at(params, "messages"), 1):
        blocks = _blocks(message)
        results = {text_at(block, "toolUseId") for block in blocks if text_at(block, "type") == "tool_result"}
        if results and any(text_at(block, "type") != "tool_result" for block in blocks):
            return f"message {number} has tool results beside other content"
        missing = uses - results
        if missing:
            return f"message {number} lacks the result of the tool use {safe(min(missing), 60)}"
        uses = frozenset(text_at(block, "id") for block in blocks if text_at(block, "type") == "tool_use")
    if uses:
        return f"the result of the tool use {safe(min(uses), 60)} is missing"
    return ""


def _blocks(message: Any) -> list[Any]:
    """Return the content of a message: one block or several."""
    content = value_at(message, "content")
    return content if isinstance(content, list) else [content]
