"""Pieces of JSON text as they were written: cut out of a document, or made so that every reader takes them."""

from __future__ import annotations

from inspector.protocol.jsontokens import Broken, Token, tokens, unquote


def member(raw: str, name: str) -> str | None:
    """The exact text of member `name` of the object in `raw`, the last one of equal names; None where there is none."""
    found: str | None = None
    depth, begun, wanted = 0, -1, False
    try:
        for token, start, end in tokens(raw):
            if token is Token.KEY:
                wanted = wanted if depth > 1 else unquote(raw[start:end]) == name
            elif token is Token.CLOSE:
                depth -= 1
                if depth == 1 and begun >= 0:
                    found, begun = raw[begun:end], -1
            else:
                if depth == 1 and wanted:
                    if token is Token.SCALAR:
                        found = raw[start:end]
                    else:
                        begun = start
                depth += token is not Token.SCALAR
    except Broken:
        return None
    return found


def strict(text: str) -> tuple[str, bool]:
    """JSON that every reader takes, and whether that changed it: `NaN` becomes null, infinity a number too large.

    Servers do send these words, which are no JSON (RFC 8259 section 6).
    """
    if "NaN" not in text and "Infinity" not in text:
        return text, False
    words = {"NaN": "null", "Infinity": "1e999", "-Infinity": "-1e999"}
    parts: list[str] = []
    at = 0
    try:
        for token, start, end in tokens(text):
            if token is Token.SCALAR and text[start:end] in words:
                parts += (text[at:start], words[text[start:end]])
                at = end
    except Broken:
        return text, False
    return "".join(parts) + text[at:], bool(parts)
