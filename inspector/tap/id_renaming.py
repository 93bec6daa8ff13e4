"""Renames equal ids and progress tokens of clients that share a connection, by exact edits of the text.

Everything else in a message stays unchanged.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from inspector.protocol.exact_json.tokens import JsonSyntaxError, JsonToken, tokens, unquote

_SUBSCRIPTION = ("params", "_meta", "io.modelcontextprotocol/subscriptionId")
Path = tuple[str, ...]


class RenamedRequest(NamedTuple):
    """A request that the server knows under another name."""

    name: str
    """Its id and its progress token for the server."""
    id: Any
    """The client's id."""
    token: Any
    """The client's progress token, or None."""


def with_names(data: bytes, name: str) -> bytes:
    """Return a client's request with `name` as its id, and as its progress token if it has one."""
    return _with(data, {("id",): name, ("params", "_meta", "progressToken"): name})


def with_answer_for(data: bytes, renamed: RenamedRequest) -> bytes:
    """Return what the server sent for a renamed request, with the client's names."""
    name = renamed.name
    values: dict[Path, Any] = {("id",): renamed.id, _SUBSCRIPTION: renamed.id}
    if renamed.token is not None:
        values["params", "progressToken"] = renamed.token
    return _with(data, values, only=name)


def _with(data: bytes, values: Mapping[Path, Any], only: str | None = None) -> bytes:
    """Return the text with other scalars at these places; with `only`, if that string is there now."""
    try:
        text = data.decode()
        found = [
            (start, end, values[path])
            for path, start, end in _scalars(text, max(map(len, values)))
            if path in values and (only is None or unquote(text[start:end]) == only)
        ]
    except (UnicodeDecodeError, JsonSyntaxError):
        return data
    for start, end, value in reversed(found):
        text = text[:start] + json.dumps(value, ensure_ascii=False) + text[end:]
    return text.encode("utf-8", "surrogatepass")


def _scalars(text: str, depth: int) -> Iterator[tuple[Path, int, int]]:
    """Yield scalars in objects within objects, at most `depth` levels: their keys, start, end."""
    keys: list[str] = []
    inside: list[bool] = []
    for token, start, end in tokens(text):
        if token is JsonToken.KEY:
            if len(inside) <= depth:
                keys[-1] = unquote(text[start:end])
        elif token is JsonToken.CLOSE:
            if inside.pop():
                keys.pop()
        elif token is JsonToken.SCALAR:
            if len(inside) <= depth and all(inside):
                yield tuple(keys), start, end
        else:
            inside.append(token is JsonToken.OBJECT)
            if token is JsonToken.OBJECT:
                keys.append("")
