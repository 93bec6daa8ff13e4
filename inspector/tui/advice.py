"""Hints for the interface: an option of the command line becomes a key, or the place to set it.

`PLACES` has an entry for every parameter; `tests/test_hints.py` fails for a new parameter without one.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from textual.message_pump import MessagePump

from inspector.errors import InspectorError
from inspector.hints import Hint, Parameter, Part, Setting, in_words
from inspector.text import sentences
from inspector.tui.keymap import Keymap, keymap_of
from inspector.tui.themes import ascii_only
from inspector.tui.verbs import BY_ID


class VerbAdvice(NamedTuple):
    """A verb of the interface, by its id, after the words `does`.

    `takes_value`: the dialog that it opens asks for the value.
    """

    verb: str
    takes_value: bool = False
    does: str = ""


_LOG_IN, _REVISION, _REPORT = (
    VerbAdvice("authorization.otherwise"),
    VerbAdvice("app.revision", True),
    VerbAdvice("check.baseline"),
)
PLACES: Mapping[Parameter, VerbAdvice | str] = {
    Parameter.ALLOW_CALLS: "the load dialog",
    Parameter.AUTH_SERVER: _LOG_IN,
    Parameter.ASSERTION: "“auth.assertion” in a config entry",
    Parameter.BEARER: _LOG_IN,
    Parameter.CLIENT_ID: _LOG_IN,
    Parameter.CLIENT_KEY: "“auth.clientKey” in a config entry",
    Parameter.CLIENT_SECRET: _LOG_IN,
    Parameter.GRANT: _LOG_IN,
    Parameter.ID_TOKEN: "“auth.idpIdToken” in a config entry",
    Parameter.IDP: "“auth.idpIssuer” in a config entry",
    Parameter.IDP_TOKEN_ENDPOINT: "“auth.idpTokenEndpoint” in a config entry",
    Parameter.NO_BROWSER: "^w in the login dialog",
    Parameter.SCOPE: _LOG_IN,
    Parameter.AUTHORIZATION_FIELD: "“headers” in a config entry",
    Parameter.CHECK_AGAINST_LIST: "a check of several servers",
    Parameter.CHECK_ALL_REPORT: _REPORT,
    Parameter.CHECK_RECORDING_REPORT: _REPORT,
    Parameter.CHECK_REPORT: _REPORT,
    Parameter.CWD: "“cwd” in a config entry",
    Parameter.CWD_OR_IN_ENTRY: "“cwd” in a config entry",
    Parameter.CWD_OR_ENTRY: "“cwd” in a config entry",
    Parameter.ERA: _REVISION,
    Parameter.ENV: "“env” in a config entry",
    Parameter.ENV_FILE: "“envFile” in a config entry",
    Parameter.ENV_OF_SHELL: "“{}”: “env:{}” under “env” in a config entry",
    Parameter.ENV_OR_IN_ENTRY: "“env” in a config entry",
    Parameter.EXTENSION: VerbAdvice("app.extensions", True),
    Parameter.EVENTS: VerbAdvice("messages.filter"),
    Parameter.FILTER: VerbAdvice("messages.filter"),
    Parameter.FORCE: "delete that file first",
    Parameter.FORMAT: "the format {}",
    Parameter.HEADERS: "“headers” in a config entry",
    Parameter.INHERIT_ENV: "the command that starts Inspector",
    Parameter.IMPORT_FORMAT: "`inspector import` on the command line",
    Parameter.LISTEN: "the command that starts it",
    Parameter.LOGIN: "`inspector login`",
    Parameter.LOGOUT: "`inspector logout`",
    Parameter.LOGIN_TIMEOUT: "“login_timeout” in the settings",
    Parameter.MAKE_RECORDING: "each session",
    Parameter.NAME_CONFIG: "write an entry into a config file",
    Parameter.NO_RECORD: "“record”: false in the settings",
    Parameter.NO_VERIFY: "“verify”: false to a config entry",
    Parameter.OPEN_CONFIG: "start Inspector with that config file",
    Parameter.OUT: "`inspector import` on the command line",
    Parameter.PIN_REMOVE: "deleting that file",
    Parameter.PIN_UPDATE: VerbAdvice("app.pin"),
    Parameter.REVISION: _REVISION,
    Parameter.RECONNECT: VerbAdvice("app.reconnect", does="Connect again with "),
    Parameter.RECORD: "the command that starts Inspector",
    Parameter.SET_VARIABLE: "`inspector run` on the command line",
    Parameter.TIMEOUT: "“timeout” in the settings",
    Parameter.TRANSPORT: "“type”: “{}” in a config entry",
    Parameter.TRUST: "open it from the start list and allow it",
    Parameter.VERIFY: "“verify” in a config entry",
}
"""The place to set each parameter in the interface: a verb, or a text in which `{}` stands for a value."""
_JOINS = frozenset({" and ", " or ", ", ", ", or "})
"""What may stand between two names of one place, which is then named once."""


def advice(hint: str, keymap: Keymap | None = None) -> str:
    """Return the hint of an error for the interface. `keymap`: the keys in force, by default the built-in ones."""
    keys = keymap or Keymap()
    return in_words(_merged(Hint(hint).parts), lambda setting: _place(setting, keys), lambda left: _default(left, keys))


def connect_again(at: MessagePump) -> str:
    """Return the sentence that names the key for a connection that is gone. `at` is a widget of the app."""
    label = keymap_of(at).hint("app.reconnect", ascii=ascii_only()).label
    return f"{label or '“reconnect” in the palette'} reconnects."


def error_text(error: InspectorError, at: MessagePump | None = None) -> str:
    """Return an error and its hint in one line. `at` is a widget whose app has the keys in force."""
    return sentences(error.message, advice(error.hint, keymap_of(at) if at is not None else None))


def _merged(parts: tuple[Part, ...]) -> list[Part]:
    """Join the parts; a place that follows itself is named once."""
    merged: list[Part] = []
    for part in parts:
        if isinstance(part, Setting) and len(merged) > 1 and isinstance(before := merged[-2], Setting):
            same = PLACES[before.parameter] == PLACES[part.parameter]
            if same and merged[-1] in _JOINS:
                merged.pop()
                continue
        merged.append(part)
    return merged


def _place(setting: Setting, keys: Keymap) -> str:
    place = PLACES[setting.parameter]
    if isinstance(place, str):
        return place.replace("{}", setting.value)
    verb = BY_ID[place.verb]
    label = keys.hint(place.verb).label
    words = place.does + (f"“{verb.title}” ({label})" if label else f"“{verb.title}” in the palette")
    return f"{setting.value} with {words}" if place.takes_value and setting.value else words


def _default(parameters: tuple[Parameter, ...], keys: Keymap) -> str:
    if parameters == (Parameter.TRANSPORT,):
        return "remove “type” from the config entry"
    places = dict.fromkeys(_place(Setting(parameter, "“auto”"), keys) for parameter in parameters)
    takes_value = all(
        isinstance(place := PLACES[parameter], VerbAdvice) and place.takes_value for parameter in parameters
    )
    return f"choose {' and '.join(places)}" if takes_value else f"remove {' and '.join(places)}"
