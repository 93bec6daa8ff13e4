"""Which tools the user is asked about before a call, and the question."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

from textual.binding import Binding, BindingType
from textual.widget import Widget

from inspector.protocol.forms.values import json_of
from inspector.protocol.views import Tool, destruction
from inspector.text import safe
from inspector.tui.keymap import KeyHint
from inspector.tui.widgets.dialog import QuestionDialog
from inspector.tui.widgets.fact_rows import paragraph
from inspector.tui.window import window_of

Decision = Literal["call", "session", "cancel"]
"""Call the tool; call it and do not ask again for it in this session; do not call it."""

_NAME = 80
_ARGUMENTS = 400
"""Characters that are shown of the arguments."""


class ConfirmCall(QuestionDialog[Decision]):
    """Asks before one call. Enter or `y` calls, `a` calls and does not ask again, esc or `n` cancels."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("y,enter", "answer('call')", show=False, priority=True),
        Binding("a", "answer('session')", show=False, priority=True),
        Binding("n,escape,q", "answer('cancel')", show=False, priority=True),
    ]

    def __init__(self, tool: Tool, reason: str, server: str, arguments: Any) -> None:
        keys = [
            KeyHint("y", "call", "y"),
            KeyHint("a", "call, do not ask again", "a"),
            KeyHint("esc", "cancel", "escape"),
        ]
        rows = [
            *paragraph(f"{reason} The server is {safe(server, _NAME)}."),
            *paragraph(safe(json_of(arguments)[:_ARGUMENTS], _ARGUMENTS), "muted"),
        ]
        super().__init__(f"Call {safe(tool.name, _NAME)}?", rows, keys, what="the arguments")


class CallConsent:
    """Whether a tool may be called: as `ask_before_call` of the settings says, and what the user answered."""

    def __init__(self, widget: Widget) -> None:
        self._widget = widget
        self._unasked: set[str] = set()
        """Tools that the user calls without another question."""

    def reason(self, tool: Tool) -> str:
        """Return why the user is asked before a call of this tool; empty if it is called at once."""
        mode = window_of(self._widget).settings.ask_before_call
        if mode == "never" or tool.name in self._unasked:
            return ""
        return destruction(tool.raw, by_default=mode == "unannotated")

    async def ask(self, tool: Tool, server: str, arguments: Any) -> bool:
        """Ask the user for this call. Returns whether to make it."""
        decision = await self._widget.app.push_screen_wait(ConfirmCall(tool, self.reason(tool), server, arguments))
        if decision == "session":
            self._unasked.add(tool.name)
        return decision != "cancel"
