"""Says in a few words what a value or the result of a tool is."""

from __future__ import annotations

from typing import Any

from inspector.protocol.jsonrpc import NotJson, parse
from inspector.protocol.views import ContentBlock, View
from inspector.text import count, safe, size

MAX_READ = 256 << 10
"""Bytes above which a message is not parsed for its summary."""
TEXT = 300
"""Characters of a server's text that are read."""
_KEYS = 8
_MAX_MEMBERS = 100
_COUNTED = 20_000
"""Characters of a text whose lines are counted."""


def one_line(text: str) -> str:
    """Return the beginning of a text on one line; each run of white space becomes one blank."""
    return " ".join(text[:TEXT].split()) + ("…" if len(text) > TEXT else "")


def value_summary(value: Any) -> str:
    """Describe a JSON value in a few words: `500 rows`, `total 90, 48 orders`, `city Lima, hours 4 items`, `empty`.

    Of an object, scalars come before what is only counted or named.
    """
    if isinstance(value, str):
        return text_summary(value) or "empty"
    if isinstance(value, list):
        return _counted(value, "row" if _are_rows(value) else "item")
    if not isinstance(value, dict):
        return compact(value)
    if not value:
        return "empty"
    if len(value) == 1 and "result" in value:
        # SDKs wrap a value that is not an object; the wrapper is not shown.
        return value_summary(value["result"])
    members = list(value.items())[:_MAX_MEMBERS]
    members.sort(key=lambda member: (isinstance(member[1], dict), isinstance(member[1], list)))
    texts = [_member(key, item) for key, item in members[:_KEYS]]
    return ", ".join(texts) + (", …" if len(value) > _KEYS else "")


def text_summary(text: str) -> str:
    """Return the first line of a text, or the summary of its value if it is JSON."""
    inside = _as_json(text)
    return first_line(text)[0] if inside is None else value_summary(inside)


def _member(key: Any, value: Any) -> str:
    name = one_line(str(key))
    if isinstance(value, dict):
        return name
    if isinstance(value, list):
        if not name.isalpha() or not (_are_rows(value) or not value):
            return f"{name} {_counted(value, 'item')}"
        return f"1 {name.removesuffix('s')}" if len(value) == 1 else f"{count(len(value))} {name}"
    return f"{name} {one_line(value) if isinstance(value, str) else compact(value)}"


def _are_rows(items: list[Any]) -> bool:
    return bool(items) and all(isinstance(item, dict) for item in items)


def _counted(items: list[Any], thing: str) -> str:
    return f"{count(len(items))} {thing}{'' if len(items) == 1 else 's'}"


def first_line(text: str) -> tuple[str, int]:
    """Return the first line that is not blank, and the number of lines after it.

    Long texts are counted in part.
    """
    lines = text[:_COUNTED].strip().splitlines()
    return (one_line(lines[0]), len(lines) - 1) if lines else ("", 0)


def answer_summary(result: View) -> tuple[str, int]:
    """Describe what a tool returned, and the number of further lines of its text."""
    content = result.members.get("content")
    blocks = content if isinstance(content, list) else [content] if isinstance(content, dict) else []
    structured = result.members.get("structuredContent")
    body = next((text for block in blocks[:20] if (text := ContentBlock(block).body).strip()), "")
    if structured is not None and (not body or _may_be_json(body)):
        return value_summary(structured), 0
    value = _as_json(body)
    if value is not None:
        return value_summary(value), 0
    words, more = first_line(body)
    return (words, more) if words else (kinds(blocks), 0)


def _may_be_json(text: str) -> bool:
    return text.lstrip()[:1] in ("{", "[")


def _as_json(text: str) -> Any:
    """Return the object or list that a text is; None if it is neither, or too long."""
    try:
        return parse(text.encode("utf-8", "surrogatepass")) if len(text) <= MAX_READ and _may_be_json(text) else None
    except NotJson:
        return None


def first_text(blocks: list[Any]) -> str:
    """Return the summary of the first text of some content blocks."""
    return next((words for block in blocks[:20] if (words := text_summary(ContentBlock(block).body))), "")


def kinds(blocks: list[Any]) -> str:
    """Name some content blocks by their types and sizes."""
    words = []
    for item in blocks[:4]:
        block = ContentBlock(item)
        encoded = block.encoded
        words.append(
            f"{block.mime_type or block.kind} {size(len(encoded) * 3 // 4)}"
            if encoded
            else one_line(block.link.display_name) or block.kind
        )
    return ", ".join(words) + (f", and {len(blocks) - 4} more" if len(blocks) > 4 else "") or "nothing"


def compact(value: Any) -> str:
    return safe(value, TEXT)


# The connection
