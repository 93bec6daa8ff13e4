"""Long text and Markdown, as text: nothing in it is executed, opened or interpreted."""

from __future__ import annotations

from inspector.text import size
from inspector.tui.keymap import Keymap
from inspector.tui.widgets.clipboard import copy
from inspector.tui.widgets.lines_view import LinesView
from inspector.tui.widgets.markdown import MarkdownSection
from inspector.tui.widgets.sections import PieceSection, Section, TextSection

SHOWN_AT_FIRST = 200_000
"""Characters shown before the user asks for all."""


class TextView(LinesView):
    """Shows text, wrapped; the keys scroll it. A very long text is cut until `show all`."""

    shows_cursor = False

    def __init__(
        self,
        text: str = "",
        *,
        role: str = "normal",
        wrap: bool = True,
        empty: str = "",
        id: str | None = None,
        classes: str | None = None,
    ) -> None:
        self.text = text
        self.role = role
        super().__init__(wrap=wrap, empty=empty, id=id, classes=classes)
        self.load(text)

    def load(self, text: str) -> None:
        """Show another text, from the top."""
        self.text = text
        self._show(SHOWN_AT_FIRST)

    def section(self, text: str) -> Section:
        """Return the section that shows a text."""
        return TextSection(text, self.role)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """The key that shows the rest of a text goes to what is around the view if all is shown."""
        if action == "show_all":
            return len(self.text) > SHOWN_AT_FIRST
        return super().check_action(action, parameters)

    def action_show_all(self) -> None:
        if len(self.text) > SHOWN_AT_FIRST:
            top = self.scroll_offset.y
            self._show(len(self.text))
            self._scroll_top(top)

    def action_copy(self) -> None:
        copy(self, self.text, "the text")

    def _show(self, limit: int) -> None:
        visible = beginning(self.text, limit)
        sections: list[Section] = [self.section(visible)] if self.text else []
        if len(visible) < len(self.text):
            sections.append(more_section(len(self.text) - len(visible)))
        self.set_sections(sections)


def beginning(text: str, limit: int) -> str:
    """Return at most `limit` characters of a text, in whole lines if possible."""
    if len(text) <= limit:
        return text
    end = text.rfind("\n", limit // 2, limit)
    return text[: limit if end < 0 else end]


def more_section(characters: int) -> PieceSection:
    """Return the line that says how much is hidden and which key shows it."""
    hint = Keymap().hint("text.show-all")
    words = f"… {size(characters)} more: "
    line = f"{words}{hint.label} {hint.title}"
    return PieceSection([("", ()), (line, [(len(words), len(words) + len(hint.label), "key")])])


class MarkdownView(TextView):
    """Shows markdown: headings, emphasis, code, lists and quotes. Links are text; their addresses are shown."""

    def section(self, text: str) -> Section:
        return MarkdownSection(text)
