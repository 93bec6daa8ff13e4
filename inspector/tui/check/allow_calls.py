"""Asks which tools the checks may call."""

from __future__ import annotations

from typing import ClassVar

from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen

from inspector.client.session_state import SessionState
from inspector.tui.dialogs import Choose
from inspector.tui.keymap import KeyHint
from inspector.tui.widgets.editor import Editor
from inspector.tui.widgets.pane import Pane

Calls = str | tuple[str, ...]
_MODES = (
    ("none", "do not call tools"),
    ("read-only", "only tools annotated as read-only"),
    ("all", "every tool, whatever it does"),
    ("names", "only the tools that you name"),
)


async def allowed_calls(app: App[int], session: SessionState, now: Calls) -> Calls | None:
    """Return the user's choice: `read-only`, `all`, names, or nothing (empty). None: keep the setting."""
    current = now if isinstance(now, str) and now else "names" if now else "none"
    mode = await app.push_screen_wait(Choose("Which tools may be called?", _MODES, current))
    if mode is None or mode in ("read-only", "all"):
        return mode
    if mode == "none":
        return ()
    tools = {name for tool in session.catalog["tools"].items if isinstance(name := tool.get("name"), str)}
    return await app.push_screen_wait(AskNames(tools, now if isinstance(now, tuple) else ()))


class AskNames(ModalScreen[tuple[str, ...] | None]):
    """Asks for names of tools, separated by commas. An unknown name is shown as an error, and the dialog stays open."""

    DEFAULT_CSS = """
    AskNames { align: center middle; }
    AskNames > Pane { width: 90%; max-width: 90; height: 6; }
    AskNames Editor { margin: 0 1; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "take", show=False, priority=True),
        Binding("escape", "leave", show=False),
    ]

    def __init__(self, known: set[str], now: tuple[str, ...]) -> None:
        super().__init__()
        self._known, self._now = known, now

    def compose(self) -> ComposeResult:
        keys = [KeyHint("enter", "allow", "enter"), KeyHint("esc", "cancel", "escape")]
        with Pane(title="Tools that may be called", keys=keys), Vertical():
            yield Editor(", ".join(self._now), placeholder="names, separated by commas", id="names")

    def on_mount(self) -> None:
        self.query_one(Editor).focus()

    def action_take(self) -> None:
        """Accept the names if the server has these tools."""
        names = tuple(dict.fromkeys(name.strip() for name in self.query_one(Editor).value.split(",") if name.strip()))
        unknown = next((name for name in names if name not in self._known), "")
        if unknown:
            self.query_one(Pane).note = [(f"unknown tool {unknown[:40]}", "error")]
        else:
            self.dismiss(names)

    def action_leave(self) -> None:
        self.dismiss(None)
