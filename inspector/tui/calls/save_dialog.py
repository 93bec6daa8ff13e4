"""The dialog for the name and the file of a call; it shows the step as it will be written."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar, NamedTuple

from textual.app import ComposeResult
from textual.binding import Binding, BindingType

from inspector.calls.writing import step_text
from inspector.errors import InspectorError
from inspector.text import quantity, safe
from inspector.tui.calls.drafts import Draft, secret_note, value_text
from inspector.tui.keymap import KeyHint
from inspector.tui.themes import signs_now
from inspector.tui.widgets.dialog import Dialog, fit
from inspector.tui.widgets.editor import Editor
from inspector.tui.widgets.fact_rows import FactsView, Row, RowSection, paragraph
from inspector.tui.widgets.paint import Pieces
from inspector.tui.widgets.pane import Pane
from inspector.tui.widgets.virtual_list import TextRows, VirtualList


class FlowFileChoice(NamedTuple):
    """A flow file that can take the step."""

    path: Path
    path_text: str
    steps: int
    server: str = ""
    """The server that it names, where that is not the server of the session."""


class StepToSave(NamedTuple):
    """The choice: a name for the step, its file, and the variables that replace their values."""

    name: str
    path: Path
    variables: tuple[str, ...]


_FIELDS = 3
"""Lines of the name, the file, and the empty one below them."""
_OFFERS = 4
"""Variables that are shown at once."""


class SaveCallDialog(Dialog[StepToSave]):
    """Name, file and variables of a step. `↑` and `↓` in the file's field go through the flows of the folder."""

    DEFAULT_CSS = """
    SaveCallDialog > Pane { max-width: 100; }
    SaveCallDialog Editor { margin: 0 1; height: 1; }
    SaveCallDialog #variables { height: auto; max-height: 4; margin-top: 1; }
    SaveCallDialog #preview { height: 1fr; margin-top: 1; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "take", show=False, priority=True),
        Binding("tab", "next", show=False, priority=True),
        Binding("shift+tab", "previous", show=False, priority=True),
        Binding("up", "file(-1)", show=False, priority=True),
        Binding("down", "file(1)", show=False, priority=True),
        Binding("space", "choose", show=False, priority=True),
    ]

    def __init__(self, draft: Draft, files: Sequence[FlowFileChoice], suggested: str, new: str, folder: str) -> None:
        """`suggested` is the path of the file that is offered first, and `new` that of a new one.

        `folder` is the collection's as it is shown.
        """
        super().__init__()
        self._draft = draft
        self._files = {file.path_text: file for file in files}
        self._new = new
        self._folder = folder
        self._chosen = {offer.name for offer in draft.offers if offer.likely}
        self._step_name = Editor(draft.name or draft.address, lead=[("name  ", "muted")], id="name")
        self._file = Editor(suggested, lead=[("file  ", "muted")], id="file")
        self._variables = VirtualList(TextRows(()), id="variables")
        self._preview = FactsView(what="the step", id="preview")

    def compose(self) -> ComposeResult:
        keys = [
            KeyHint("enter", "save", "enter"),
            KeyHint("tab", "next field", "tab"),
            KeyHint("esc", "cancel", "escape"),
        ]
        with Pane(title=f"Save {safe(self._draft.address, 60)}", keys=keys):
            yield self._step_name
            yield self._file
            yield self._variables
            yield self._preview

    def on_mount(self) -> None:
        self._variables.display = bool(self._draft.offers)
        self._draw()
        self._step_name.focus()

    @property
    def _edge(self) -> Pane:
        return self.query_one(Pane)

    def _draw(self, problem: str = "") -> None:
        file = self._files.get(self._file.value.strip())
        self._edge.facts = (f"after {quantity(file.steps, 'step')}" if file is not None else "a new file",)
        self._variables.source = TextRows([self._offer(at) for at in range(len(self._draft.offers))])
        rows = [Row([("Step in the file", "muted")])]
        if file is not None and file.server:
            warning = f"This saved call is of another server: {safe(file.server, 200)}."
            rows = [*paragraph(f"{signs_now().finding} {warning}", "finding"), Row(), *rows]
        try:
            rows += [Row([(line, "normal")], 4) for line in step_text(self._step()).splitlines()]
        except InspectorError as error:
            problem = problem or error.message
        if self._draft.secrets:
            note = secret_note(self._draft.secrets, Path(self._folder, "env", "NAME.yaml"))
            rows += [Row(), *paragraph(f"{signs_now().finding} {note}", "finding")]
        self._preview.show(RowSection(rows))
        offers = len(self._draft.offers)
        fit(self, self._preview, beside=_FIELDS + (min(offers, _OFFERS) + 1 if offers else 0))
        self._edge.note = [(problem, "error")] if problem else self._hint()

    def _hint(self) -> Pieces:
        signs = signs_now()
        if self._file.has_focus and self._files:
            return [(f"{signs.up}{signs.down}", "key"), " saved calls of the folder, new file"]
        return [("space", "key"), " value or variable"] if self._variables.has_focus else ""

    def _offer(self, at: int) -> Pieces:
        offer = self._draft.offers[at]
        on = offer.name in self._chosen
        mark = (signs_now().done, "received") if on else (signs_now().later, "muted")
        return [mark, (f" {{{{{offer.name}}}}}", "json-key"), (f"  instead of {value_text(offer.value)}", "muted")]

    def _step(self) -> dict[str, object]:
        return self._draft.step(self._step_name.value.strip(), self._chosen)

    def on_editor_changed(self, event: Editor.Changed) -> None:
        event.stop()
        self._draw()

    def on_descendant_focus(self) -> None:
        if self.is_mounted:
            self._edge.note = self._hint()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Arrows and space belong to the field that has the focus, unless they mean something else there."""
        if action == "file":
            return self._file.has_focus and bool(self._files)
        return self._variables.has_focus if action == "choose" else True

    def action_file(self, by: int) -> None:
        """Go through the flows of this server, a new file, and the flows of other servers."""
        other = [name for name, file in self._files.items() if file.server]
        names = [*(name for name in self._files if name not in other), self._new, *other]
        now = self._file.value.strip()
        at = names.index(now) + by if now in names else 0
        self._file.value = names[at % len(names)]
        self._draw()

    def action_choose(self) -> None:
        """Write the variable instead of the value, or the value."""
        at = self._variables.cursor
        if 0 <= at < len(self._draft.offers):
            self._chosen ^= {self._draft.offers[at].name}
            self._draw()
            self._variables.cursor = at

    def action_next(self) -> None:
        self.focus_next()

    def action_previous(self) -> None:
        self.focus_previous()

    def action_take(self) -> None:
        """Take what the fields say, unless the file cannot have the step."""
        text = self._file.value.strip()
        path = Path(text).expanduser()
        known = self._files.get(text)
        problem = ""
        if not text or not path.name:
            problem = "the file name is required"
        elif path.suffix not in (".yaml", ".yml"):
            problem = "the name of a saved call ends in .yaml"
        elif known is None and path.exists():
            problem = "the file exists and is not a saved call of this folder"
        if problem:
            self._draw(problem)
            return
        self.dismiss(
            StepToSave(self._step_name.value.strip(), known.path if known is not None else path, tuple(self._chosen))
        )
