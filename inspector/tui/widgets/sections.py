"""The sections of a view of lines, each with its own drawing, folding and copying.

Sections do not depend on a screen. All the text they return is safe, and they compute only the lines that are
requested.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_left
from collections.abc import Sequence

from rich.segment import Segment

from inspector.lazy_pattern import lazy_pattern
from inspector.protocol.exact_json.text import Tree
from inspector.protocol.exact_json.tokens import unquote
from inspector.text import safe
from inspector.tui.themes import ascii_only, signs_now

Span = tuple[int, int, str]
"""Start and end in a line's text, and the role."""

Below = tuple[str, str, int]
"""A text in rows below a line: safe text without line ends, its role, cells of indentation."""

BLOCK_LINES = 2_000
"""Lines of a string that are shown as a block; the others are counted."""

LINE_LIMIT = 20_000
"""Characters shown of one line; a longer JSON string is cut with a sign, longer text is broken into lines."""

TEXT_LINE = 4_000
MAX_DEPTH = 40
"""Levels that are indented; deeper ones have the indentation of the last."""

INLINE = 70
"""Characters up to which an object or array of scalars stays on one line."""


class Section:
    """Some lines. A subclass overrides what differs from plain text without folds."""

    role = "normal"
    has_below = False
    """Whether `below` may return something."""

    def __len__(self) -> int:
        raise NotImplementedError

    def below(self, line: int) -> Sequence[Below]:
        """Return the rows below a line."""
        return ()

    def text(self, line: int) -> str:
        """Return one line as safe text."""
        raise NotImplementedError

    def spans(self, line: int, text: str) -> Sequence[Span]:
        """Return the parts of a line without the section's role; `text` is the line's text."""
        return ()

    def hang(self, line: int) -> int:
        """Return the indentation of the further rows of a wrapped line."""
        return 0

    def picture(self, line: int) -> list[Segment] | None:
        """Return the cells of a line without text, else None."""
        return None

    def fold(self, line: int) -> tuple[int, int] | None:
        """Return the first and last line of the fold at a line, else None."""
        return None

    def parent(self, line: int) -> int | None:
        """Return the line that opens the parent of a line, else None."""
        return None

    def folded_note(self, line: int) -> str:
        """Return the note after the first line of a folded range."""
        return ""

    def find(self, pattern: re.Pattern[str], start: int, backwards: bool) -> int | None:
        """Return the first line from `start` on (or backwards) in which the pattern is found."""
        lines = range(start, -1, -1) if backwards else range(start, len(self))
        return next((line for line in lines if pattern.search(self.text(line))), None)

    def copy_text(self, line: int) -> str:
        """Return the text to copy at a line, as the server wrote it."""
        raise NotImplementedError

    def pointer(self, line: int) -> str | None:
        """Return the JSON Pointer of a line's value, or None."""
        return None


class TextSection(Section):
    """Plain text. Lines of more than `TEXT_LINE` characters become several."""

    def __init__(self, text: str, role: str = "normal") -> None:
        self.raw = text
        self.role = role
        self.lines: list[str] = []
        for line in text.replace("\r\n", "\n").split("\n"):
            if len(line) <= TEXT_LINE:
                self.lines.append(line)
            else:
                self.lines += [line[at : at + TEXT_LINE] for at in range(0, len(line), TEXT_LINE)]

    def __len__(self) -> int:
        return len(self.lines)

    def text(self, line: int) -> str:
        return safe(self.lines[line], ascii=ascii_only())

    def copy_text(self, line: int) -> str:
        return self.raw


class PieceSection(Section):
    """Lines that are already safe, each with its spans; `copied` is the text to copy at any of them."""

    def __init__(self, lines: Sequence[tuple[str, Sequence[Span]]], *, role: str = "muted", copied: str = "") -> None:
        self.lines = lines
        self.role = role
        self.copied = copied

    def __len__(self) -> int:
        return len(self.lines)

    def text(self, line: int) -> str:
        return self.lines[line][0]

    def spans(self, line: int, text: str) -> Sequence[Span]:
        return self.lines[line][1]

    def copy_text(self, line: int) -> str:
        return self.copied


_JSON = lazy_pattern(
    r'(?P<key>"(?:[^"\\]|\\.)*+"(?=\s*:))'
    r'|(?P<string>"(?:[^"\\]|\\.)*+"?)'
    r"|(?P<number>-?\d[\d.eE+-]*)"
    r"|(?P<word>true|false|null|NaN|-?Infinity)"
    r"|(?P<mark>[{}\[\],:]+)"
)
_JSON_ROLES = {kind: f"json-{kind}" for kind in ("key", "string", "number", "word", "mark")}


def json_spans(text: str) -> list[Span]:
    """Colour one line of JSON, or a part of one."""
    return [(*match.span(), _JSON_ROLES[match.lastgroup or "mark"]) for match in _JSON.finditer(text)]


class JsonSection(Section):
    """A JSON text laid out in lines that fold. Invalid JSON is shown as it is, the line with the error in red.

    With `blocks`, a string of several lines is shown as a block of text below its key.
    """

    def __init__(self, tree: Tree, *, blocks: bool = False) -> None:
        self.tree = tree
        self.has_below = blocks and tree.error is None

    def __len__(self) -> int:
        return len(self.tree)

    def text(self, line: int) -> str:
        if self.has_below and (rows := self._string_lines(line)):
            key = self.tree.key(line)
            head = (
                "" if key is None else f"{json.dumps(safe(key, LINE_LIMIT, ascii=ascii_only()), ensure_ascii=False)}: "
            )
            return f"{' ' * self._indent(line)}{head}{len(rows):,} lines of text"
        content = self.tree.text(line, indent=0, limit=LINE_LIMIT + 1)
        cut = len(content) > LINE_LIMIT
        text = " " * self._indent(line) + safe(content[:LINE_LIMIT], ascii=ascii_only())
        return text + signs_now().cut if cut else text

    def below(self, line: int) -> Sequence[Below]:
        rows = self._string_lines(line) if self.has_below else []
        indent = self._indent(line) + 2
        role = "json-string"
        lines = [(safe(row[:LINE_LIMIT], ascii=ascii_only()), role, indent) for row in rows[:BLOCK_LINES]]
        more = len(rows) - BLOCK_LINES
        return [*lines, (f"{more:,} more lines", "muted", indent)] if more > 0 else lines

    def _string_lines(self, line: int) -> list[str]:
        """Return the lines of the string on a line; empty for another value and for a string of one line."""
        start = self.tree.text(line, indent=0, limit=LINE_LIMIT + 1)
        if "\\n" not in start and "\\u000" not in start:
            return []
        literal = self.tree.value(line)
        if literal[:1] != '"':
            return []
        rows = unquote(literal).replace("\r\n", "\n").split("\n")
        return rows if len(rows) > 1 else []

    def spans(self, line: int, text: str) -> Sequence[Span]:
        if self.tree.error is not None:
            return [(0, len(text), "error")] if line == self.tree.error_line else ()
        return json_spans(text)

    def hang(self, line: int) -> int:
        return self._indent(line) + 2

    def fold(self, line: int) -> tuple[int, int] | None:
        return self.tree.fold(line)

    def parent(self, line: int) -> int | None:
        return self.tree.parent(line)

    def folded_note(self, line: int) -> str:
        children = self.tree.children(line)
        opens_object = self.tree.text(line, indent=0).endswith("{")
        noun = "field" if opens_object else "item"
        return f"  {children:,} {noun}{'' if children == 1 else 's'}"

    def find(self, pattern: re.Pattern[str], start: int, backwards: bool) -> int | None:
        raw = self.tree.raw
        if backwards:
            end = self._offset(start + 1)
            last = None
            for match in pattern.finditer(raw, 0, end):
                last = match
            return None if last is None else self.tree.line_at(last.start())
        hit = pattern.search(raw, self._offset(start))
        return None if hit is None else self.tree.line_at(hit.start())

    def copy_text(self, line: int) -> str:
        return self.tree.value(line)

    def pointer(self, line: int) -> str | None:
        return None if self.tree.error is not None else self.tree.pointer(line)

    def _indent(self, line: int) -> int:
        return 2 * min(self.tree.depth(line), MAX_DEPTH)

    def _offset(self, line: int) -> int:
        """Return the start of a line in the raw text."""
        if line <= 0:
            return 0
        length = len(self.tree.raw)
        return length if line >= len(self) else bisect_left(range(length), line, key=self.tree.line_at)
