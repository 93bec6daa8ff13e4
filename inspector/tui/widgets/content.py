"""The content of a result: a list of blocks, with an action for each."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import accumulate
from typing import Any, ClassVar

from textual.actions import SkipAction
from textual.binding import BindingType
from textual.message import Message
from textual.worker import get_current_worker

from inspector.protocol.views import ContentBlock, decode_base64
from inspector.text import safe, size
from inspector.tui.keymap import bindings
from inspector.tui.themes import ascii_only, palette
from inspector.tui.widgets.content_blocks import DrawOptions, PictureSection, ShownBlock, bytes_of, shown_blocks, weight
from inspector.tui.widgets.json_view import AT_ONCE, FoldView
from inspector.tui.widgets.media import MAX_COLUMNS, can_draw, decode_png
from inspector.tui.widgets.sections import JsonSection, PieceSection, Section


class ContentView(FoldView):
    """Shows content blocks (raw JSON values). It fetches, opens and writes nothing: it posts a message for each
    request.

    With only text in it the keys scroll; if something folds, links or can be saved there is a cursor.
    """

    BINDINGS: ClassVar[list[BindingType]] = [*bindings("content")]

    class OpenResource(Message):
        """The user wants to see the resource that a block links to."""

        def __init__(self, view: ContentView, uri: str) -> None:
            super().__init__()
            self.view = view
            self.uri = uri

    class SaveRequested(Message):
        """The user wants to save a block. Ask where: `suggested` is a safe file name made from the server's."""

        def __init__(self, view: ContentView, data: bytes, suggested: str) -> None:
            super().__init__()
            self.view = view
            self.data = data
            self.suggested = suggested

    def __init__(self, blocks: Any = (), *, empty: str = "", id: str | None = None, classes: str | None = None) -> None:
        self.blocks: Any = ()
        self.drawn: list[ShownBlock] = []
        self._options = DrawOptions()
        self._nothing = empty
        self._waiting = True
        """The size, and the abilities of the terminal, are not known yet."""
        super().__init__(empty=empty, id=id, classes=classes)
        self.load(blocks)

    def load(self, blocks: Any) -> None:
        """Show other blocks, from the top: a result's `content`, or a single block."""
        self.blocks = blocks
        self._show(self._options._replace(plain=False, whole=False))

    def nothing(self, empty: str) -> None:
        """Set the text that is shown without blocks."""
        self._nothing = empty

    @property
    def block(self) -> ContentBlock | None:
        """The block with the cursor, or without a cursor the one at the top of the view."""
        line = self.line
        if line < 0:
            return None
        last = self.section_index(line)
        ends = accumulate(len(block.sections) for block in self.drawn)
        return next(block.block for block, end in zip(self.drawn, ends, strict=True) if last < end)

    def _show(self, options: DrawOptions, top: int = 0) -> None:
        """Draw the blocks, and scroll to row `top`."""
        self._options = options
        self._waiting = not self.size
        if self._waiting:
            self.empty = ""  # What has no place yet may hold something.
            return
        draw_options = options._replace(columns=min(MAX_COLUMNS, self._width()) if self._can_paint() else 0)
        blocks = self.blocks
        letters = weight(blocks)
        if letters <= AT_ONCE:
            self._show_blocks(blocks, [] if blocks in ((), []) else shown_blocks(blocks, draw_options), top)
            return
        self._show_blocks(blocks, [])
        self.empty = f"formatting {size(letters)}…"

        def lay_out() -> None:
            drawn = shown_blocks(blocks, draw_options)
            if not get_current_worker().is_cancelled:
                self.app.call_from_thread(self._show_blocks, blocks, drawn, top)

        self.run_worker(lay_out, thread=True, group="layout", exclusive=True, exit_on_error=False)

    def _show_blocks(self, blocks: Any, drawn: list[ShownBlock], top: int = 0) -> None:
        if blocks is not self.blocks:
            return
        self.empty = self._nothing
        self.drawn = self.headed(drawn)
        sections = [section for block in self.drawn for section in block.sections]
        folds = any(section.fold(0) is not None for section in sections if len(section))
        self.shows_cursor = folds or any(block.acts for block in self.drawn)
        self.set_sections(sections)
        if top:
            self._scroll_top(top)
        for section in sections:
            if isinstance(section, PictureSection):
                self.run_worker(partial(self._decode, section), thread=True, group="pictures", exit_on_error=False)

    def headed(self, blocks: list[ShownBlock]) -> list[ShownBlock]:
        """Return the blocks with what is shown above them; a subclass adds headings."""
        return blocks

    def on_resize(self) -> None:
        if self._waiting:
            self._show(self._options)

    def _can_paint(self) -> bool:
        console = self.app.console
        return console.color_system == "truecolor" and not palette().ansi and not self.app.no_color

    def _decode(self, section: PictureSection) -> None:
        data = decode_base64(section.encoded)
        pixels = decode_png(data) if data is not None and can_draw(data) else None
        if pixels is None:
            return
        ground = palette().style("ground").bgcolor
        section.draw(pixels, ground.triplet if ground is not None and ground.triplet else (0, 0, 0))
        if not get_current_worker().is_cancelled:
            self.app.call_from_thread(self._drawn, section)

    def _drawn(self, section: PictureSection) -> None:
        if section in self.sections:
            self.redraw()

    @property
    def _opens(self) -> str:
        """The title of enter on the block with the cursor, unless it folds."""
        block = self.block if self.shows_cursor else None
        if block is None:
            return ""
        return "open" if block.kind == "resource_link" else "write file" if block.kind in ("image", "audio") else ""

    def key_verbs(self) -> list[str | tuple[str, str]]:
        """Return the verb of the block with the cursor, with its title."""
        return [("list.select", self._opens)] if self._opens else []

    def action_select(self) -> None:
        if self._opens == "open":
            self.action_go_to()
        elif self._opens:
            self.action_save()
        else:
            super().action_select()

    def action_go_to(self) -> None:
        block = self.block
        if block is not None and block.kind in ("resource_link", "resource") and block.uri:
            self.post_message(self.OpenResource(self, block.uri))

    def action_save(self) -> None:
        block = self.block
        content = None if block is None else bytes_of(block)
        if content is not None:
            self.post_message(self.SaveRequested(self, *content))

    def action_plain(self) -> None:
        self._show(self._options._replace(plain=not self._options.plain))

    def action_strings(self) -> None:
        """Show strings of several lines in JSON as blocks, or on one line again."""
        if not any(isinstance(section, JsonSection) for section in self.sections):
            raise SkipAction
        self._show(self._options._replace(blocks=not self._options.blocks))

    def action_show_all(self) -> None:
        if not self._options.whole:
            self._show(self._options._replace(whole=True), self.scroll_offset.y)


MESSAGE_LIMIT = 300


class MessagesView(ContentView):
    """A `ContentView` with headings; `load_messages` reads prompt messages."""

    def __init__(self, *, empty: str = "", id: str | None = None) -> None:
        self._heads: dict[int, str] = {}
        self._above: Sequence[Section] = ()
        super().__init__(empty=empty, id=id)

    def load_plain(self, blocks: Any) -> None:
        """Show blocks without headings."""
        self._heads = {}
        self._above = ()
        self.load(blocks)

    def load_messages(self, messages: Any, above: Sequence[Section] = ()) -> None:
        """Show messages role by role. A value that is not a message is shown as unknown content.

        `above` is shown before the first of them, and scrolls with them.
        """
        self._above = above
        blocks: list[Any] = []
        heads: dict[int, str] = {}
        for message in (messages if isinstance(messages, list) else [messages])[:MESSAGE_LIMIT]:
            known = isinstance(message, dict) and "content" in message
            content = message["content"] if known else message
            heads[len(blocks)] = safe(message.get("role"), 40, ascii=ascii_only()) if known else "not a message"
            blocks += content if isinstance(content, list) else [content]
        self._heads = heads
        self.load(blocks)

    def headed(self, blocks: list[ShownBlock]) -> list[ShownBlock]:
        headed = []
        for at, block in enumerate(blocks):
            head = self._heads.get(at)
            if head is not None:
                # The empty line between blocks goes above the heading.
                above = [PieceSection([("", ())])] if at else []
                title = PieceSection([(head, [(0, len(head), "muted bold")])])
                block = ShownBlock([*above, title, *block.sections[1 if at else 0 :]], block.block, block.acts)
            headed.append(block)
        if self._above:
            headed.insert(0, ShownBlock([*self._above, PieceSection([("", ())])], ContentBlock({})))
        return headed
