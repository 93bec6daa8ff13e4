"""Draws Markdown as lines: the parts that are useful in a terminal, without active links or images.

It is not a CommonMark parser: unknown syntax is shown as it was written, so no text is lost.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Literal, NamedTuple

from textual.cache import LRUCache

from inspector.lazy_pattern import lazy_pattern
from inspector.text import cell_len, safe
from inspector.tui.themes import ascii_only
from inspector.tui.widgets.sections import TEXT_LINE, Section, Span

_FENCE = lazy_pattern(r" {0,3}(`{3,}|~{3,})\s*([^`]*)$")
_HEADING = lazy_pattern(r" {0,3}(#{1,6})\s++(.*)$")
_RULE = lazy_pattern(r" {0,3}(?:(?:- *){3,}|(?:\* *){3,}|(?:_ *){3,})$")
_ITEM = lazy_pattern(r"(\s*)([-*+]|\d{1,9}[.)])(\s+)(.*)$")
_QUOTE = lazy_pattern(r" {0,3}> ?(.*)$")
TABLE = lazy_pattern(r"^ {0,3}(?=[^\n]*\|)(?=[^\n]*-)[ |:-]+$", re.MULTILINE)
"""The line below the header of a table, which sets the alignment of its columns."""
_MARK = lazy_pattern(r":?-+:?")
_CELLS = lazy_pattern(r"(?<!\\)\|")
MEASURED = 500
"""Rows of a table that are measured for the widths of its columns."""
WIDEST = 40
"""Cells to which a column is padded; a longer text moves the rest of its row to the right."""
# Every repetition is bounded or cannot overlap its neighbour: a line of 4,000 characters is parsed in linear time.
_INLINE = lazy_pattern(
    r"(?P<escape>\\[!-/:-@\[-`{-~])"
    r"|(?P<code>(?P<ticks>`{1,3})(?!`)(?P<code_text>[^`]{1,500})(?P=ticks)(?!`))"
    r"|(?P<bold>\*\*(?=\S)(?P<bold_text>[^*]{1,500})(?<=\S)\*\*)"
    r"|(?P<bold_>(?<!\w)__(?=\S)(?P<bold__text>[^_]{1,500})(?<=\S)__(?!\w))"
    r"|(?P<italic>(?<!\w)\*(?=\S)(?P<italic_text>[^*]{1,500})(?<=\S)\*(?!\w))"
    r"|(?P<italic_>(?<!\w)_(?=\S)(?P<italic__text>[^_]{1,500})(?<=\S)_(?!\w))"
    r"|(?P<link>!?\[(?P<link_text>[^\[\]]{0,500})\]\((?P<address>[^()\s]{0,2000})(?:\s+\"[^\"]{0,200}\")?\))"
)
_CODE, _LINK, _ADDRESS = "json-string", "normal underline", "muted"


class _Columns(NamedTuple):
    """The columns of a table: `<`, `>` or `^`, and the width in cells of each."""

    aligned: Sequence[str]
    widths: Sequence[int]


class _Block(NamedTuple):
    """A line of the document; the lines of a paragraph are joined."""

    raw: str
    kind: Literal["text", "code", "header", "rule", "row"] = "text"
    columns: _Columns | None = None
    """Of a table's header, rule or row."""


class _Line:
    """One line being built: safe text, and the roles in it."""

    def __init__(self, hang: int = 0) -> None:
        self.text = ""
        self.spans: list[Span] = []
        self.hang = hang

    def add(self, text: str, role: str = "") -> None:
        safe_text = safe(text, ascii=ascii_only())
        if role and safe_text:
            self.spans.append((len(self.text), len(self.text) + len(safe_text), role))
        self.text += safe_text

    def add_inline(self, text: str, role: str = "") -> None:
        """Add text with emphasis, code and links."""
        at = 0
        for match in _INLINE.finditer(text):
            self.add(text[at : match.start()], role)
            at = match.end()
            groups = match.groupdict()
            if groups["escape"]:
                self.add(match[0][1], role)
            elif groups["code"]:
                self.add(groups["code_text"], _CODE)
            elif groups["link"]:
                self.add(groups["link_text"] or groups["address"], _LINK)
                if groups["link_text"] and groups["link_text"] != groups["address"]:
                    self.add(f" ({groups['address']})", _ADDRESS)
            elif groups["bold"] or groups["bold_"]:
                self.add_inline(groups["bold_text"] or groups["bold__text"], "bright bold")
            else:
                self.add_inline(groups["italic_text"] or groups["italic__text"], f"{role or 'normal'} italic")
        self.add(text[at:], role)


class MarkdownSection(Section):
    """The lines of a Markdown text. Its blocks are parsed at once, a line only when it is drawn."""

    def __init__(self, text: str, *, joins: bool = True) -> None:
        """`joins`: the lines of a paragraph become one. A text that is only taken for Markdown keeps its lines."""
        self.raw = text
        self.blocks = list(_with_tables(list(_blocks(text, joins=joins))))
        self._made: LRUCache[int, _Line] = LRUCache(64)

    def __len__(self) -> int:
        return len(self.blocks)

    def text(self, line: int) -> str:
        return self._line(line).text

    def spans(self, line: int, text: str) -> Sequence[Span]:
        return self._line(line).spans

    def hang(self, line: int) -> int:
        return self._line(line).hang

    def copy_text(self, line: int) -> str:
        return self.raw

    def _line(self, line: int) -> _Line:
        made = self._made.get(line)
        if made is None:
            block = self.blocks[line]
            if block.columns is not None:
                made = _row(block, block.columns)
            else:
                made = _code(block.raw) if block.kind == "code" else _block(block.raw)
            self._made.set(line, made)
        return made


def _blocks(text: str, *, joins: bool) -> Iterator[_Block]:
    """Yield the lines, tables not yet recognised."""
    fence = ""
    paragraph: list[str] = []
    for whole in text.replace("\r\n", "\n").split("\n"):
        for at in range(0, max(len(whole), 1), TEXT_LINE):
            raw = whole[at : at + TEXT_LINE]
            fenced = _FENCE.match(raw)
            if fence:
                if fenced and fenced[1].startswith(fence) and not fenced[2]:
                    fence = ""
                else:
                    yield _Block(raw, "code")
                continue
            if joins and len(whole) <= TEXT_LINE and _goes_on(raw):
                paragraph.append(raw.strip(" "))
                if raw.endswith("  ") or sum(map(len, paragraph)) > TEXT_LINE:
                    yield _Block(" ".join(paragraph))
                    paragraph.clear()
                continue
            if paragraph:
                yield _Block(" ".join(paragraph))
                paragraph.clear()
            if fenced:
                fence = fenced[1]
            else:
                yield _Block(raw)
    if paragraph:
        yield _Block(" ".join(paragraph))


def _with_tables(blocks: Sequence[_Block]) -> Iterator[_Block]:
    """Yield the blocks; the lines of a table know its columns."""
    at = 0
    while at < len(blocks):
        head, rule = blocks[at], blocks[at + 1] if at + 1 < len(blocks) else None
        if rule is None or not _is_row(head) or not _is_row(rule) or not TABLE.fullmatch(rule.raw):
            yield head
            at += 1
            continue
        marks, names = _cells(rule.raw), _cells(head.raw)
        if len(marks) != len(names) or not all(map(_MARK.fullmatch, marks)):
            yield head
            at += 1
            continue
        end = at + 2
        while end < len(blocks) and _is_row(blocks[end]):
            end += 1
        aligned = ["^" if mark[:1] == mark[-1:] == ":" else ">" if mark.endswith(":") else "<" for mark in marks]
        rows = (blocks[n].raw for n in (at, *range(at + 2, end)))
        columns = _Columns(aligned, _widths(rows, len(marks)))
        yield _Block(head.raw, "header", columns)
        yield _Block(rule.raw, "rule", columns)
        yield from (_Block(block.raw, "row", columns) for block in blocks[at + 2 : end])
        at = end


def _is_row(block: _Block) -> bool:
    return block.kind == "text" and "|" in block.raw


def _cells(raw: str) -> list[str]:
    """Return the texts between the bars of a row."""
    return [cell.strip() for cell in _CELLS.split(raw.strip().removeprefix("|").removesuffix("|"))]


def _widths(rows: Iterable[str], count: int) -> list[int]:
    widths = [1] * count
    for raw in islice(rows, MEASURED):
        for at, cell in enumerate(_cells(raw)[:count]):
            widths[at] = min(max(widths[at], cell_len(_inline(cell).text)), WIDEST)
    return widths


def _inline(text: str, role: str = "") -> _Line:
    line = _Line()
    line.add_inline(text, role)
    return line


def _row(block: _Block, columns: _Columns) -> _Line:
    """Draw one line of a table, its columns aligned."""
    line = _Line(hang=2)
    if block.kind == "rule":
        line.add("  ".join(("-" if ascii_only() else "─") * width for width in columns.widths), "edge")
        return line
    cells = _cells(block.raw)
    for at, text in enumerate(cells):
        cell = _inline(text, "bright bold" if block.kind == "header" else "")
        known = at < len(columns.widths)
        room = max(columns.widths[at] - cell_len(cell.text), 0) if known else 0
        align = columns.aligned[at] if known else "<"
        before = room if align == ">" else room // 2 if align == "^" else 0
        line.add(("  " if at else "") + " " * before)
        line.spans += [(start + len(line.text), end + len(line.text), role) for start, end, role in cell.spans]
        line.text += cell.text + " " * (room - before if at + 1 < len(cells) else 0)
    return line


def _goes_on(raw: str) -> bool:
    """Whether a line continues a paragraph, whose lines are joined."""
    return bool(raw.strip()) and not (
        raw.startswith(("    ", "\t"))
        or "|" in raw
        or any(kind.match(raw) for kind in (_FENCE, _HEADING, _RULE, _ITEM, _QUOTE))
    )


def _code(raw: str) -> _Line:
    line = _Line(hang=2)
    line.add("  ")
    line.add(raw, _CODE)
    return line


def _block(raw: str) -> _Line:
    plain = ascii_only()
    line = _Line()
    if match := _HEADING.match(raw):
        line.add_inline(match[2].rstrip().rstrip("#").rstrip(), "bright bold" if len(match[1]) < 3 else "bright")
    elif _RULE.match(raw):
        line.add(("-" if plain else "─") * 8, "edge")
    elif match := _ITEM.match(raw):
        indent = min(len(match[1].expandtabs(4)), 24)
        mark = match[2] if match[2][0].isdigit() else "*" if plain else "·"
        line.hang = indent + len(mark) + 1
        line.add(" " * indent)
        line.add(mark, "muted")
        line.add(" ")
        line.add_inline(match[4])
    elif match := _QUOTE.match(raw):
        line.hang = 2
        line.add("| " if plain else "▏ ", "edge")
        line.add_inline(match[1], "muted")
    elif raw.startswith(("    ", "\t")):
        return _code(raw.expandtabs(4)[4:])
    else:
        line.add_inline(raw)
    return line
