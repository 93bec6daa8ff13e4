"""Values, texts and differences as the results of steps show them."""

from __future__ import annotations

import json
from typing import Any

from inspector.compare.values import Difference
from inspector.text import quantity

SHOWN = 300
"""Characters of a value that are shown."""
MAX_SHOWN = 20
"""Differences, violations and failures that are listed."""


def shown(value: Any) -> str:
    """JSON text of a value, at most `SHOWN` characters of it, whatever its size."""
    if isinstance(value, str) and len(value) > SHOWN:
        return f'{json.dumps(value[:SHOWN], ensure_ascii=False)[:-1]}…" ({len(value):,} characters)'
    pieces, size = [], 0
    try:
        for piece in json.JSONEncoder(ensure_ascii=False).iterencode(value):
            pieces.append(piece[: SHOWN + 2])
            size += len(piece)
            if size > SHOWN:
                break
        else:
            return "".join(pieces)
    except (RecursionError, ValueError, TypeError):
        return "a value that is nested too deeply"
    text = "".join(pieces)[:SHOWN]
    return f"{text}… ({quantity(len(value), 'item')})" if isinstance(value, list) else f"{text}…"


def clip(text: str) -> str:
    """A text, at most `SHOWN` characters of it."""
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}…"


def difference_text(difference: Difference) -> str:
    """One difference in a line."""
    path = difference.path
    match difference.kind:
        case "added":
            return f"{path}: only found, {shown(difference.b)}"
        case "removed":
            return f"{path}: missing, expected {shown(difference.a)}"
        case "moved":
            return f"{path}: stands at {difference.path_b}"
        case _:
            return f"{path}: expected {shown(difference.a)}, found {shown(difference.b)}"
