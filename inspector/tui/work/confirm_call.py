"""The question before a call of a tool that may destroy something."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

from textual.binding import Binding, BindingType

from inspector.protocol.forms.values import json_of
from inspector.protocol.views import Tool
from inspector.text import safe
from inspector.tui.keymap import KeyHint
from inspector.tui.widgets.dialog import QuestionDialog
from inspector.tui.widgets.fact_rows import paragraph

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

    def __init__(self, tool: Tool, server: str, arguments: Any) -> None:
        keys = [
            KeyHint("y", "call", "y"),
            KeyHint("a", "call, do not ask again", "a"),
            KeyHint("esc", "cancel", "escape"),
        ]
        rows = [
            *paragraph(f"{_reason(tool)} The server is {safe(server, _NAME)}."),
            *paragraph(safe(json_of(arguments)[:_ARGUMENTS], _ARGUMENTS), "muted"),
        ]
        super().__init__(f"Call {safe(tool.name, _NAME)}?", rows, keys, height=9, what="the arguments")


def _reason(tool: Tool) -> str:
    """Return why the tool may destroy something."""
    if tool.annotations.get("destructiveHint") is True:
        return "The tool is annotated as destructive."
    if tool.annotations.get("readOnlyHint") is False:
        return "The tool is annotated as not read-only, and does not say that it destroys nothing."
    return "The tool has no annotation that says that it destroys nothing."
