"""Messages of a prompt or of a sampling request: content blocks under headings with their roles."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from inspector.protocol.views import ContentBlock
from inspector.text import safe
from inspector.tui.themes import ascii_only
from inspector.tui.widgets.content import ContentView
from inspector.tui.widgets.content_blocks import ShownBlock
from inspector.tui.widgets.sections import PieceSection, Section

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

    def headed(self, shown: list[ShownBlock]) -> list[ShownBlock]:
        headed = []
        for at, block in enumerate(shown):
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
