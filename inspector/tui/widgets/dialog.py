"""The kinds of dialogs: a pane over the screen, a question with keys as answers, lines to type in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, TypeVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen, Screen
from textual.widget import Widget

from inspector.tui.keymap import KeyHint
from inspector.tui.widgets.editor import Editor
from inspector.tui.widgets.fact_rows import FactsView, Row, RowSection
from inspector.tui.widgets.paint import Pieces
from inspector.tui.widgets.pane import Pane
from inspector.tui.widgets.virtual_list import VirtualList

T = TypeVar("T")


_FRAME = 4
"""Lines of a dialog without its content: its edge, its keys, the empty line above them."""


def fit(screen: Screen[Any], view: VirtualList, *, beside: int = 0) -> None:
    """Make a dialog as high as the rows of its list and `beside` other lines.

    It is done after the next layout: only then it is known which rows wrap.
    """

    def set_height() -> None:
        screen.query_one(Pane).styles.height = max(view.count, 1) * view.row_height + beside + _FRAME

    screen.call_after_refresh(set_height)


class Dialog(ModalScreen[T | None]):
    """A pane over the screen. Esc closes it without a result."""

    DEFAULT_CSS = """
    Dialog { align: center middle; }
    Dialog > Pane { width: 90%; max-width: 90; height: 6; max-height: 100%; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "leave", show=False)]

    def show_note(self, text: str, role: str = "error") -> None:
        """Show a text beside the keys, such as why the dialog stays open; empty removes it."""
        self.query_one(Pane).note = [(text, role)] if text else ""

    def action_leave(self) -> None:
        """Close without a result."""
        self.dismiss(None)


class QuestionDialog(ModalScreen[T]):
    """Shows rows; the keys of a subclass are the answers. `keys` are their hints."""

    DEFAULT_CSS = """
    QuestionDialog { align: center middle; }
    QuestionDialog > Pane { width: 90%; max-width: 90; max-height: 100%; }
    """

    def __init__(self, title: str, rows: Sequence[Row], keys: Sequence[KeyHint], *, what: str = "the text") -> None:
        super().__init__()
        self._title, self._rows, self._keys, self._what = title, rows, keys, what

    def compose(self) -> ComposeResult:
        edge = Pane(FactsView(what=self._what), title=self._title, keys=self._keys)
        edge.tone = "ask"
        yield edge

    def on_mount(self) -> None:
        view = self.query_one(FactsView)
        view.show(RowSection(self._rows))
        view.focus()

    def show(self, title: str, rows: Sequence[Row]) -> None:
        """Show another question."""
        self.query_one(Pane).title = title
        self.query_one(FactsView).show(RowSection(rows))
        self._fit()

    def on_resize(self) -> None:
        self._fit()

    def _fit(self) -> None:
        fit(self, self.query_one(FactsView))

    def action_answer(self, answer: T) -> None:
        """Close with an answer."""
        self.dismiss(answer)

    def action_nothing(self) -> None:
        """Ignore the key."""


class ListDialog(Dialog[T]):
    """A list of which the keys move the cursor while a field has the focus."""

    DEFAULT_CSS = """
    ListDialog VirtualList { height: 1fr; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(key, f"move('{action}')", show=False, priority=True)
        for key, action in (("up", "up"), ("down", "down"), ("pageup", "page_up"), ("pagedown", "page_down"))
    ]

    def action_move(self, action: str) -> None:
        """Move the cursor of the list."""
        getattr(self.query_one(VirtualList), f"action_{action}")()


class LineDialog(Dialog[T]):
    """Asks for a text in one editor. A subclass accepts it in `action_take`; `verb` is what Enter does."""

    DEFAULT_CSS = """
    LineDialog Editor { margin: 0 1; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [Binding("enter", "take", show=False, priority=True)]

    def __init__(
        self, title: Pieces, editor: Editor, verb: str, *, leave: str = "cancel", facts: Sequence[Pieces] = ()
    ) -> None:
        super().__init__()
        self.editor = editor
        self._title, self._facts = title, facts
        self._keys = [KeyHint("enter", verb, "enter"), KeyHint("esc", leave, "escape")]
        if editor.multiline:
            self._keys.insert(1, KeyHint("^j", "new line", "ctrl+j"))

    def compose(self) -> ComposeResult:
        with Pane(title=self._title, facts=self._facts, keys=self._keys), Vertical():
            yield from self.above()
            yield self.editor

    def above(self) -> Sequence[Widget]:
        """Return what is shown above the editor."""
        return ()

    def on_mount(self) -> None:
        self.editor.focus()


class FieldsDialog(Dialog[T]):
    """Asks for several texts, each in an editor with a name. `verb` is what `^r`, and Enter in the last one, do."""

    DEFAULT_CSS = """
    FieldsDialog Vertical { height: 1fr; padding: 0 1; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+r", "take", show=False, priority=True),
        Binding("enter", "next", show=False, priority=True),
        Binding("up", "app.focus_previous", show=False),
        Binding("down", "app.focus_next", show=False),
    ]

    def __init__(self, title: str, fields: Mapping[str, Editor], verb: str) -> None:
        super().__init__()
        self._title, self._fields = title, fields
        self._keys = [
            KeyHint("^r", verb, "ctrl+r"),
            KeyHint("enter", "next", "enter"),
            KeyHint("esc", "cancel", "escape"),
        ]

    def compose(self) -> ComposeResult:
        edge = Pane(Vertical(*self._fields.values()), title=self._title, keys=self._keys)
        edge.styles.height = len(self._fields) + 6
        yield edge

    def on_mount(self) -> None:
        next(iter(self._fields.values())).focus()

    @property
    def typed(self) -> dict[str, str]:
        """The text of each field."""
        return {name: editor.value.strip() for name, editor in self._fields.items()}

    def action_next(self) -> None:
        """Go to the next field; in the last one, accept all."""
        if self.focused is list(self._fields.values())[-1]:
            self.action_take()
        else:
            self.focus_next()

    def action_take(self) -> None:
        """Accept the texts; a subclass does it."""
        raise NotImplementedError
