"""Asks for credentials to log in with: client, issuer, scopes, grant, or a token."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from inspector.auth.credential import TOKEN
from inspector.auth.options import GRANTS, AuthOptions
from inspector.auth.url_checks import secure
from inspector.tui.widgets.dialog import FieldsDialog
from inspector.tui.widgets.editor import Editor

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


class LoginOptions(FieldsDialog[AuthOptions]):
    """Asks for the options, starting with the current ones. They apply to this run and are not stored."""

    DEFAULT_CSS = """
    LoginOptions > Pane { max-width: 100; }
    """

    def __init__(self, options: AuthOptions) -> None:
        self._options = options
        super().__init__("Log in with other credentials", {name: self._editor(name) for name in FIELDS}, "log in")

    def _editor(self, name: str) -> Editor:
        label, empty = FIELDS[name]
        value = getattr(self._options, name)
        shown = "" if name == "grant" and value == "auto" else value
        editor = Editor(shown, placeholder=empty, lead=[(f"{label:<{_LABEL}}", "muted")], id=f"login-{name}")
        editor.concealed = name in _SECRETS
        return editor

    def action_take(self) -> None:
        """Accept the options if all are valid."""
        said = self.typed
        said["grant"] = said["grant"] or "auto"
        if problem := _problem(said):
            self.show_note(problem)
        else:
            self.dismiss(replace(self._options, **said))  # type: ignore[arg-type]


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
