"""Values that a server creates and its client sends back: cursors, tasks, states. A rerun replaces them by live ones.

Only members that the specification names and keys that the user names are replaced; the rest of a message stays
byte-identical.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any

from inspector.protocol.exact_json.tokens import JsonSyntaxError, JsonToken, tokens, unquote

_MADE_UP = frozenset(("nextCursor", "taskId", "requestState", "elicitationId"))
_HANDED_BACK = frozenset(("cursor", "taskId", "requestState", "elicitationId"))
_MAX_DEPTH = 64
_MAX_COUNT = 100_000
"""Maximum values of one response that are compared."""


class LiveValues:
    """The live replacements of recorded values. `names` are the user's keys, in addition to those of the protocol."""

    def __init__(self, names: Iterable[str] = ()) -> None:
        self._names = frozenset(names)
        self._values: dict[str, Any] = {}
        """Recorded text or number, as JSON text → the live one."""
        self._anywhere: dict[str, Any] = {}
        """The same for the user's keys, whose values may occur under any key."""
        self._keys: dict[str, str] = {}
        """Recorded key of an input request → the live key."""

    def learn(self, recorded: Any, live: Any) -> None:
        """Compare two responses, or two questions, for values that the client will send back."""
        if type(recorded) is dict and type(live) is dict:
            self._learn_keys(recorded.get("inputRequests"), live.get("inputRequests"))
        for key, before, now in _side_by_side(recorded, live):
            if type(before) not in (str, int) or type(now) not in (str, int) or before == now:
                continue
            if key in _MADE_UP:
                self._values[json.dumps(before)] = now
            elif key in self._names:
                self._anywhere[json.dumps(before)] = now

    def _learn_keys(self, recorded: Any, live: Any) -> None:
        """Match the server's own keys of input requests: those of the same method, in order."""
        if type(recorded) is not dict or type(live) is not dict:
            return
        left = [key for key in live if key not in recorded]
        for key, asked in recorded.items():
            if key in live:
                continue
            same = next((other for other in left if _method(live[other]) == _method(asked)), None)
            if same is not None:
                self._keys[key] = same
                left.remove(same)

    def rewritten(self, data: bytes) -> bytes:
        """Return a message of the recorded client with live values; the same bytes if nothing changes."""
        if not (self._values or self._anywhere or self._keys):
            return data
        try:
            text = data.decode()
            changes = list(self._changes(text))
        except (UnicodeDecodeError, JsonSyntaxError):
            return data
        for start, end, value in reversed(changes):
            text = text[:start] + json.dumps(value, ensure_ascii=False) + text[end:]
        return text.encode("utf-8", "surrogatepass")

    def _changes(self, text: str) -> Iterator[tuple[int, int, Any]]:
        """Yield the replacements: start, end, value."""
        key, depth, responses = "", 0, -1
        for token, start, end in tokens(text):
            if token is JsonToken.KEY:
                key = unquote(text[start:end])
                if depth == responses and key in self._keys:
                    yield start, end, self._keys[key]
            elif token is JsonToken.CLOSE:
                depth -= 1
                responses = -1 if depth < responses else responses
                key = ""
            elif token is JsonToken.SCALAR:
                written = _canonical(text[start:end])
                if key in _HANDED_BACK and written in self._values:
                    yield start, end, self._values[written]
                elif written in self._anywhere and key not in ("id", "method", "jsonrpc"):
                    yield start, end, self._anywhere[written]
            else:
                depth += 1
                if key == "inputResponses" and token is JsonToken.OBJECT and responses < 0:
                    responses = depth


def _canonical(text: str) -> str:
    """Return a scalar as `json.dumps` writes it."""
    return json.dumps(unquote(text)) if text.startswith('"') else text


def _method(asked: Any) -> Any:
    return asked.get("method") if type(asked) is dict else None


def _side_by_side(recorded: Any, live: Any) -> Iterator[tuple[str, Any, Any]]:
    """Yield the scalars at the same place in both values, with their key."""
    stack = [("", recorded, live, 0)]
    seen = 0
    while stack and seen < _MAX_COUNT:
        key, left, right, depth = stack.pop()
        seen += 1
        if type(left) is dict and type(right) is dict and depth < _MAX_DEPTH:
            stack += [(name, value, right[name], depth + 1) for name, value in left.items() if name in right]
        elif type(left) is list and type(right) is list and depth < _MAX_DEPTH:
            stack += [(key, *both, depth + 1) for both in zip(left, right, strict=False)]
        elif not isinstance(left, (dict, list)) and not isinstance(right, (dict, list)):
            yield key, left, right
