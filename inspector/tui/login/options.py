"""Asks for credentials to log in with: client, issuer, scopes, grant, or a token."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen

from inspector.auth.credential import TOKEN
from inspector.auth.options import GRANTS, AuthOptions
from inspector.auth.url_checks import secure
from inspector.tui.keymap import KeyHint
from inspector.tui.widgets.editor import Editor
from inspector.tui.widgets.pane import Pane

_LABEL = 16
_SECRETS = ("client_secret", "bearer")
FIELDS: Mapping[str, tuple[str, str]] = {
    "client_id": ("client id", "from the server, or from registration"),
    "client_secret": ("client secret", "none"),
    "auth_server": ("issuer", "from the server's metadata"),
    "scope": ("scopes", "those that the server asks for"),
    "grant": ("grant", "automatic: " + ", ".join(GRANTS)),
    "bearer": ("or a token", "none; a token is sent as it is, without a login"),
}
"""Each option's label, and its default when the field is empty."""


class LoginOptions(ModalScreen[AuthOptions | None]):
    """Asks for the options, starting with the current ones. They apply to this run and are not stored."""

    DEFAULT_CSS = """
    LoginOptions { align: center middle; }
    LoginOptions > Pane { width: 90%; max-width: 100; height: 12; max-height: 100%; }
    LoginOptions Vertical { height: 1fr; padding: 0 1; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+r", "take", show=False, priority=True),
        Binding("enter", "next", show=False, priority=True),
        Binding("escape", "leave", show=False, priority=True),
        Binding("up", "app.focus_previous", show=False),
        Binding("down", "app.focus_next", show=False),
    ]

    def __init__(self, options: AuthOptions) -> None:
        super().__init__()
        self._options = options

    def compose(self) -> ComposeResult:
        keys = [
            KeyHint("^r", "log in", "ctrl+r"),
            KeyHint("enter", "next", "enter"),
            KeyHint("esc", "cancel", "escape"),
        ]
        with Pane(title="Log in with other credentials", keys=keys), Vertical():
            for name, (label, empty) in FIELDS.items():
                value = getattr(self._options, name)
                shown = "" if name == "grant" and value == "auto" else value
                editor = Editor(shown, placeholder=empty, lead=[(f"{label:<{_LABEL}}", "muted")], id=f"login-{name}")
                editor.concealed = name in _SECRETS
                yield editor

    def on_mount(self) -> None:
        self.query(Editor).first().focus()

    def action_next(self) -> None:
        """Go to the next field; in the last one, log in."""
        editors = list(self.query(Editor))
        if self.focused is editors[-1]:
            self.action_take()
        else:
            self.focus_next()

    def action_take(self) -> None:
        """Accept the options if all are valid."""
        said = {name: self.query_one(f"#login-{name}", Editor).value.strip() for name in FIELDS}
        said["grant"] = said["grant"] or "auto"
        if problem := _problem(said):
            self.query_one(Pane).note = [(problem, "error")]
            return
        self.dismiss(replace(self._options, **said))  # type: ignore[arg-type]

    def action_leave(self) -> None:
        """Close without a change."""
        self.dismiss(None)


def _problem(said: Mapping[str, str]) -> str:
    """Return the first error, or an empty text."""
    if said["grant"] not in GRANTS:
        return f"unknown grant; use one of {', '.join(GRANTS)}"
    if said["client_secret"] and not said["client_id"]:
        return "a client secret needs a client id"
    if not TOKEN.fullmatch(said["bearer"]):
        return "a token is ASCII without spaces"
    if said["auth_server"]:
        try:
            secure(said["auth_server"])
        except ValueError as error:
            return f"not a valid issuer: {error}"
    return ""
