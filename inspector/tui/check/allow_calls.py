"""Asks which tools the checks may call."""

from __future__ import annotations

from textual.app import App

from inspector.client.session_state import SessionState
from inspector.tui.dialogs import Choose
from inspector.tui.widgets.dialog import LineDialog
from inspector.tui.widgets.editor import Editor

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


class AskNames(LineDialog[tuple[str, ...]]):
    """Asks for names of tools, separated by commas. An unknown name is shown as an error, and the dialog stays open."""

    def __init__(self, known: set[str], now: tuple[str, ...]) -> None:
        editor = Editor(", ".join(now), placeholder="names, separated by commas", id="names")
        super().__init__("Tools that may be called", editor, "allow")
        self._known = known

    def action_take(self) -> None:
        """Accept the names if the server has these tools."""
        names = tuple(dict.fromkeys(name.strip() for name in self.editor.value.split(",") if name.strip()))
        unknown = next((name for name in names if name not in self._known), "")
        if unknown:
            self.show_note(f"unknown tool {unknown[:40]}")
        else:
            self.dismiss(names)
