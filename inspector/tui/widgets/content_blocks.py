"""Turns a server's content blocks into sections: text, JSON, Markdown, images, audio, resources, links, unknown
content.

Sources: MCP "Tools", "Tool result"; "Prompts", "PromptMessage"; "Sampling", "Content types" (C-TOOL-05).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from rich.segment import Segment

from inspector.lazy_pattern import lazy_pattern
from inspector.protocol.exact_json.text import Tree
from inspector.protocol.result_shape import has_structured
from inspector.protocol.views import ContentBlock, decode_base64
from inspector.text import duration, file_stem, safe, size
from inspector.tui.themes import ascii_only, signs_now
from inspector.tui.widgets.markdown import TABLE, MarkdownSection
from inspector.tui.widgets.media import MediaFacts, Pixels, can_draw, facts_of, half_blocks, shown_size
from inspector.tui.widgets.sections import INLINE, JsonSection, PieceSection, Section, Span, TextSection
from inspector.tui.widgets.text_view import SHOWN_AT_FIRST, beginning, more_section

BLOCK_LIMIT = 300
"""Blocks shown of one result; the others are counted, and are in its JSON."""
NESTED_LIMIT = 3
JSON_LIMIT = 5_000_000
"""Characters up to which text is tested for JSON."""
HEAD_LIMIT = 400_000
"""Characters of base64 that are decoded to read a header."""

_MARKDOWN = lazy_pattern(
    r"^ {0,3}(?:#{1,6} \S|```|[-*] \S|\d+[.)] \S|> )|\*\*\S[^*\n]*\*\*|\]\([^\s()]{1,300}\)", re.MULTILINE
)
_EMBEDDED = lazy_pattern(r"!\[([^\]\n]{0,200})\]\(data:(image/[\w.+-]{1,60});base64,([A-Za-z0-9+/=]++)\)")
"""A picture that Markdown embeds."""
_EXTENSIONS: Mapping[str, str] = {
    "application/json": "json",
    "text/markdown": "md",
    "text/html": "html",
    "text/csv": "csv",
    "text/xml": "xml",
    "image/svg+xml": "svg",
}


class ShownBlock(NamedTuple):
    """One block with its section."""

    sections: list[Section]
    block: ContentBlock
    acts: bool = False
    """Whether it has an action besides read and copy."""


class PictureSection(Section):
    """The rows of a picture, empty until its pixels are decoded."""

    def __init__(self, facts: MediaFacts, encoded: str, columns: int) -> None:
        self.columns, self.rows = shown_size(facts.width, facts.height, columns)
        self.encoded = encoded
        self.lines: list[list[Segment]] = []

    def draw(self, pixels: Pixels, ground: tuple[int, int, int]) -> None:
        """Draw the picture on this background, if it is transparent."""
        self.lines = half_blocks(pixels, self.columns, self.rows, ground)

    def __len__(self) -> int:
        return self.rows

    def text(self, line: int) -> str:
        return ""

    def picture(self, line: int) -> list[Segment] | None:
        return self.lines[line] if line < len(self.lines) else []

    def copy_text(self, line: int) -> str:
        return self.encoded


class DrawOptions(NamedTuple):
    """Options for drawing blocks."""

    columns: int = 60
    """Width of a picture in cells; 0 for none."""
    plain: bool = False
    """Whether text is shown unformatted."""
    whole: bool = False
    """Whether long text is shown in full."""
    blocks: bool = False
    """Whether strings of several lines in JSON are shown as blocks of text."""


def shown_blocks(blocks: Any, options: DrawOptions) -> list[ShownBlock]:
    """Return the blocks of a result's `content`, or of one block; every value gets a block."""
    items = blocks if isinstance(blocks, list) else [blocks]
    drawn: list[ShownBlock] = []
    alone = len(items) == 1
    for at, raw in enumerate(items[:BLOCK_LIMIT]):
        parts = []
        for part in map(ContentBlock, [raw] if options.plain else _with_pictures(raw)):
            sections, acts = _block(part, options, level=0, alone=alone)
            parts.append(ShownBlock(sections, part, acts))
        sections = [_blank()] * bool(at) + [section for part in parts for section in part.sections]
        # What is saved of a text with pictures is the first of them.
        drawn.append(next((part for part in parts if part.acts), parts[0])._replace(sections=sections))
    if len(items) > BLOCK_LIMIT:
        words = f"{len(items) - BLOCK_LIMIT:,} more blocks are not shown; see the JSON"
        drawn.append(ShownBlock([_blank(), _note([(words, "")])], ContentBlock({})))
    return drawn


def _with_pictures(raw: Any) -> Iterator[Any]:
    """Yield a block; text with pictures in its Markdown becomes blocks of its parts."""
    body = ContentBlock(raw).body if isinstance(raw, dict) and raw.get("type") == "text" else ""
    at = 0
    for picture in _EMBEDDED.finditer(body) if "](data:image/" in body else ():
        if (before := body[at : picture.start()] + picture[1]).strip():
            yield raw | {"text": before}
        yield {"type": "image", "mimeType": picture[2], "data": picture[3]}
        at = picture.end()
    if not at or body[at:].strip():
        yield raw | {"text": body[at:]} if at else raw


def weight(blocks: Any) -> int:
    """Return the number of characters to draw, as far as the first blocks tell."""
    items = blocks if isinstance(blocks, list) else [blocks]
    return sum(len(ContentBlock(raw).body) for raw in items[:BLOCK_LIMIT])


def bytes_of(block: ContentBlock) -> tuple[bytes, str] | None:
    """Return the bytes to save for a block and a file name that cannot leave a folder; None for nothing."""
    data = block.data()
    if data is not None:
        facts = facts_of(data)
        return data, file_name(block, facts.extension if facts else "bin")
    if block.encoded is not None:
        return block.encoded.encode("utf-8", "surrogatepass"), file_name(block, "base64.txt")
    if block.kind in ("text", "resource") and block.body:
        return block.body.encode("utf-8", "surrogatepass"), file_name(block, "txt")
    raw = json_text(block.raw)
    return raw.encode("utf-8", "surrogatepass"), file_name(block, "json")


def file_name(block: ContentBlock, extension: str) -> str:
    """Return a safe file name for a block: letters, digits, `.`, `-` and `_` of the server's name."""
    called = block.uri.split("?")[0].split("#")[0].replace("\\", "/").rstrip("/").rpartition("/")[2]
    stem = file_stem(called[:200], 60).strip(".-_")
    known = _EXTENSIONS.get(block.mime_type.split(";")[0].strip().lower(), extension)
    if "." in stem:
        return stem
    return f"{stem or block.kind}.{known}"


def json_text(value: Any) -> str:
    """Write a value as JSON; one that is nested too deeply is cut."""
    try:
        return json.dumps(value, ensure_ascii=False)
    except (RecursionError, ValueError, TypeError):
        return safe(value, JSON_LIMIT)


def json_section(value: Any) -> Section:
    """Show a value as JSON."""
    return JsonSection(Tree(json_text(value), inline=INLINE))


def _is_markdown(text: str) -> bool:
    """Whether a text has at least two signs of Markdown, or a table."""
    return len(_MARKDOWN.findall(text)) >= 2 or ("|" in text and TABLE.search(text, text.find("\n") + 1) is not None)


def text_sections(text: str, mime_type: str, options: DrawOptions) -> list[Section]:
    """Show text by its kind: JSON, Markdown, or plain text."""
    visible = text if options.whole else beginning(text, SHOWN_AT_FIRST)
    section: Section | None = None
    if not options.plain:
        kind = mime_type.split(";")[0].strip().lower()
        if kind == "text/markdown":
            section = MarkdownSection(visible)
        elif kind.endswith("json") or text[:1000].lstrip()[:1] in ("{", "["):
            if len(text) <= JSON_LIMIT:
                tree = Tree(text, inline=0 if options.blocks else INLINE)
                section = JsonSection(tree, blocks=options.blocks) if tree.error is None else None
        elif kind in ("", "text/plain") and _is_markdown(visible[:20_000]):
            section = MarkdownSection(visible, joins=False)
    if section is None:
        section = TextSection(visible)
    elif isinstance(section, JsonSection):
        return [section]
    return [section, more_section(len(text) - len(visible))] if len(visible) < len(text) else [section]


def _block(block: ContentBlock, options: DrawOptions, *, level: int, alone: bool = False) -> tuple[list[Section], bool]:
    notes = [_problem(problem) for problem in block.problems[:5]] if isinstance(block.raw, dict) else []
    about = _annotations(block)
    kind = block.kind
    if kind == "text":
        if not notes and (not block.body or block.body.isspace()):
            return [_note([("empty text" if not block.body else "only white space", ""), *about])], False
        head = [] if alone and not about else [_note([("text", ""), *about])]
        return [*head, *notes, *text_sections(block.body, "", options)], False
    if kind in ("image", "audio"):
        return [*_media(block, options, [(kind, "")], about), *notes], True
    if kind == "resource":
        return [*_resource(block, options, about), *notes], True
    if kind == "resource_link":
        return [*_link(block, about), *notes], True
    if kind in ("tool_use", "tool_result"):
        return [*_tool(block, options, about, level), *notes], False
    words = "unknown content" if isinstance(block.raw, dict) else "the content is not an object"
    return [_note([(words, "finding"), *about]), *notes, json_section(block.raw)], False


def _media(
    block: ContentBlock, options: DrawOptions, name: Sequence[tuple[str, str]], about: Iterable[tuple[str, str]]
) -> Iterator[Section]:
    encoded = block.encoded or ""
    head = decode_base64(encoded[: HEAD_LIMIT - HEAD_LIMIT % 4]) if encoded else b""
    words = [*name, (block.mime_type, "normal")]
    if head is None:
        yield _note([*words, ("its data is not valid base64", "error"), *about], copied=encoded)
        return
    facts = facts_of(head)
    is_drawn = facts is not None and options.columns > 0 and len(encoded) <= HEAD_LIMIT and can_draw(head)
    if facts is not None and facts.format == "PNG" and options.columns and not is_drawn:
        about = [("not drawn: too large or interlaced", ""), *about]
    yield _note([*words, *_facts(facts), (size(_decoded_length(encoded)), ""), *about], copied=encoded)
    if facts is not None and is_drawn:
        yield PictureSection(facts, encoded, options.columns)


def _facts(facts: MediaFacts | None) -> Iterator[tuple[str, str]]:
    if facts is None:
        return
    yield facts.format, "normal"
    if facts.width or facts.height:
        yield f"{facts.width:,} {signs_now().times} {facts.height:,}", "normal"
    if facts.seconds:
        yield duration(facts.seconds * 1e6), "normal"


def _resource(block: ContentBlock, options: DrawOptions, about: Iterable[tuple[str, str]]) -> Iterator[Section]:
    words = [("resource", ""), (block.uri, "bright")]
    if block.encoded is None:
        length = len(block.body)
        yield _note([*words, (block.mime_type, "normal"), (size(length), "") if length else ("", ""), *about])
        yield from text_sections(block.body, block.mime_type, options)
        return
    yield from _media(block, options, words, about)


def _link(block: ContentBlock, about: Iterable[tuple[str, str]]) -> Iterator[Section]:
    link = block.link
    length = "" if link.size is None else size(link.size)
    arrow = signs_now().nested
    yield _note(
        [(arrow, "accent"), (link.display_name, "bright"), (link.mime_type, "normal"), (length, ""), *about],
        copied=block.uri,
    )
    yield _note([("  " + block.uri, "muted")], copied=block.uri)
    if link.description:
        yield TextSection(f"  {link.description}", "muted")


def _tool(block: ContentBlock, options: DrawOptions, about: Iterable[tuple[str, str]], level: int) -> Iterator[Section]:
    members = block.members
    if block.kind == "tool_use":
        yield _note([("tool use", ""), (block.text("name"), "bright"), (block.text("id"), "muted"), *about])
        yield json_section(members.get("input"))
        return
    failed = members.get("isError") is True
    words = [("tool result for", ""), (block.text("toolUseId"), "bright"), ("an error" if failed else "", "error")]
    yield _note([*words, *about])
    for raw in block.array("content")[:BLOCK_LIMIT]:
        if level < NESTED_LIMIT:
            yield from _block(ContentBlock(raw), options, level=level + 1)[0]
        else:
            yield json_section(raw)
    if has_structured(members):
        yield json_section(members["structuredContent"])


def _annotations(block: ContentBlock) -> list[tuple[str, str]]:
    members = block.annotations
    audience = members.get("audience")
    names = [name for name in audience if isinstance(name, str)][:4] if isinstance(audience, list) else []
    priority = members.get("priority")
    about = [(f"for {' and '.join(names)}", "")] if names else []
    if isinstance(priority, (int, float)) and not isinstance(priority, bool):
        about.append((f"priority {priority:g}" if abs(priority) < 1e9 else "invalid priority", ""))
    return about


def _problem(problem: str) -> Section:
    return _note([(signs_now().finding, "finding"), (problem, "finding")])


def _note(words: Sequence[tuple[str, str]], copied: str = "") -> PieceSection:
    """Return a line from words with roles (`""`: muted), two spaces apart."""
    text = ""
    spans: list[Span] = []
    for word, role in words:
        safe_word = safe(word, 500, ascii=ascii_only())
        if safe_word:
            text += "  " if text else ""
            if role:
                spans.append((len(text), len(text) + len(safe_word), role))
            text += safe_word
    return PieceSection([(text, spans)], copied=copied)


def _blank() -> PieceSection:
    return PieceSection([("", ())])


def _decoded_length(encoded: str) -> int:
    return max(len(encoded) * 3 // 4 - encoded[-2:].count("="), 0)
