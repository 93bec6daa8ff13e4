"""The question before a call of a tool that may destroy something."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.screen import ModalScreen

from inspector.protocol.forms.values import json_of
from inspector.protocol.views import Tool
from inspector.text import safe
from inspector.tui.keymap import KeyHint
from inspector.tui.widgets.fact_rows import RowSection, paragraph
from inspector.tui.widgets.facts_view import FactsView
from inspector.tui.widgets.pane import Pane

Decision = Literal["call", "session", "cancel"]
"""Call the tool; call it and do not ask again for it in this session; do not call it."""

_NAME = 80
_ARGUMENTS = 400
"""Characters that are shown of the arguments."""


class ConfirmCall(ModalScreen[Decision]):
    """Asks before one call. Enter or `y` calls, `a` calls and does not ask again, esc or `n` cancels."""

    DEFAULT_CSS = """
    ConfirmCall { align: center middle; }
    ConfirmCall > Pane { width: 90%; max-width: 90; height: 9; max-height: 100%; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("y,enter", "decide('call')", show=False, priority=True),
        Binding("a", "decide('session')", show=False, priority=True),
        Binding("n,escape,q", "decide('cancel')", show=False, priority=True),
    ]

    def __init__(self, tool: Tool, server: str, arguments: Any) -> None:
        super().__init__()
        self._tool, self._server, self._arguments = tool, server, arguments

    def compose(self) -> ComposeResult:
        keys = [
            KeyHint("y", "call", "y"),
            KeyHint("a", "call, do not ask again", "a"),
            KeyHint("esc", "cancel", "escape"),
        ]
        edge = Pane(FactsView(what="the arguments"), title=f"Call {safe(self._tool.name, _NAME)}?", keys=keys)
        edge.tone = "ask"
        yield edge

    def on_mount(self) -> None:
        view = self.query_one(FactsView)
        view.show(
            RowSection(
                [
                    *paragraph(f"{_reason(self._tool)} The server is {safe(self._server, _NAME)}."),
                    *paragraph(safe(json_of(self._arguments)[:_ARGUMENTS], _ARGUMENTS), "muted"),
                ]
            )
        )
        view.focus()

    def action_decide(self, decision: Decision) -> None:
        """Return the decision."""
        self.dismiss(decision)


def _reason(tool: Tool) -> str:
    """Return why the tool may destroy something."""
    if tool.annotations.get("destructiveHint") is True:
        return "The tool is annotated as destructive."
    if tool.annotations.get("readOnlyHint") is False:
        return "The tool is annotated as not read-only, and does not say that it destroys nothing."
    return "The tool has no annotation that says that it destroys nothing."
