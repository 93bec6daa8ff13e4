"""The user's settings: `settings.json`, then `INSPECTOR_…` variables, then flags; the last one wins."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from dataclasses import MISSING, dataclass, field, fields
from pathlib import Path
from typing import Any, Literal, TypeAlias

from inspector.config import foreign_files, jsonc, paths
from inspector.errors import ConfigError
from inspector.lazy_pattern import lazy_pattern
from inspector.reasons import os_reason

McpLogLevel: TypeAlias = Literal["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"]

AttentionMode: TypeAlias = Literal["off", "bell", "desktop", "always-bell", "always-desktop"]

AskBeforeCall: TypeAlias = Literal["never", "annotated", "unannotated"]

TIMEOUT, MAX_TIMEOUT = 60.0, 600.0
"""Seconds, also of a session without settings."""
_PREFIX = "INSPECTOR_"
_ABSOLUTE = lazy_pattern(r"~|/|[A-Za-z]:")
_VARIABLES_OF_OTHERS = frozenset({"INSPECTOR_CONFIG_HOME", "INSPECTOR_STATE_HOME"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Every setting with its default. Each key of the file, and each variable in capitals, is the name of a field."""

    timeout: float = TIMEOUT
    """Seconds without an answer or progress after which a request times out."""

    max_timeout: float = MAX_TIMEOUT
    """Seconds after which a request times out despite progress; never less than `timeout`."""

    login_timeout: float | None = None
    """Seconds for a login, including what you do in the browser; null: 10 minutes, and without a terminal `timeout`."""

    era: Literal["auto", "legacy", "modern"] = "auto"
    """Protocol era; `auto` detects it."""

    protocol: str = ""
    """The protocol revision to offer, such as 2025-11-25; empty: the newest of the era."""

    log_level: McpLogLevel | None = None
    """The least severe log message requested from servers; null: the server decides."""

    roots: tuple[str, ...] = ()
    """URIs given to a server that asks for roots."""

    sampling: str = "ask"
    """The answer to sampling requests: `ask` puts them into the inbox, `decline` declines, `run:PROGRAM` asks a
    program, other text is the answer."""

    elicitation: str | Mapping[str, Any] = "ask"
    """The answer to elicitation requests: `ask`, `defaults`, `decline`, `cancel`, `run:PROGRAM`, or an object with the
    values."""

    addons: tuple[str, ...] = ()
    """Python files that see each message of each connection and may change it. Only the file can set them."""

    client: str = ""
    """The name that servers are told, as `NAME` or `NAME/VERSION`; empty: inspector and its version."""

    extensions: Mapping[str, Mapping[str, Any] | None] = field(default_factory=dict)
    """The extensions to offer to servers, by id or short name, with their settings; null: not offered."""

    max_body_bytes: int | None = None
    """The longest message that is read, in bytes; longer ones are dropped; null: 256 MiB."""

    max_recording_bytes: int | None = 2 << 30
    """The size of one recording in bytes, above which only the sizes of messages are recorded. null: no limit. A
    recording never uses the last free gigabyte of the disk."""

    record: bool = True
    """Whether sessions are kept as recordings; false uses a file without a name."""

    keep_recordings: int = 1000
    """Number of recordings that are kept; the oldest are removed first."""

    keep_recordings_bytes: int = 2_000_000_000
    """Bytes that the kept recordings may have together."""

    calls_folder: str = ""
    """The folder of the saved calls that the interface shows; empty: `calls` in the working directory."""

    otlp: str = ""
    """The URL of an OpenTelemetry collector that gets spans of each session while it goes on; empty: none."""

    registry: str = ""
    """The file or address that `inspector servers --search` searches; empty: none is contacted."""

    check_pins: bool = True
    """Whether a pinned server (`inspector pin`) is compared with its pin in every session."""

    theme: str = "dark"
    """The theme's name: a bundled one, or a YAML file's in the `themes` folder beside the settings."""

    keymap: Mapping[str, str] = field(default_factory=dict)
    """Keys by action id, such as `{"call.send": "ctrl+r"}`; several keys are separated by commas."""

    commands: tuple[Mapping[str, str], ...] = ()
    """The user's own commands on keys, each with `key`, `where`, `run` and `title`. Only the file can set them."""

    ascii: Literal["auto", "always", "never"] = "auto"
    """Whether signs outside ASCII are replaced: `auto` does so where the locale is not UTF-8."""

    follow: bool = True
    """Whether the message log follows its end at first."""

    mouse: bool = True
    """Whether the interface uses the mouse; false leaves it to the terminal's own selection."""

    attention: AttentionMode = "off"
    """How the terminal tells what happens in a session out of sight; over ssh only with `always-`."""

    ask_before_call: AskBeforeCall = "never"
    """Before which tools the interface asks: `annotated` as destructive, also `unannotated` ones, or `never`."""

    diagnostics: Literal["debug", "info", "warning", "error"] = "warning"
    """The least severe message that goes to Inspector's own log file."""

    def __post_init__(self) -> None:
        if self.max_timeout < self.timeout:
            object.__setattr__(self, "max_timeout", self.timeout)


def settings_file(environ: Mapping[str, str] | None = None) -> Path:
    """Return the path of the user's settings, even if the file does not exist."""
    return paths.config_folder(environ) / "settings.json"


def load_settings(
    file: Path | None = None, environ: Mapping[str, str] | None = None, flags: Mapping[str, Any] | None = None
) -> Settings:
    """Return the settings of `file` (default: the user's, if it exists), `environ` and `flags` over the defaults.

    `flags` maps names of fields to values of their types; a None value means that the flag was not given. Raises
    ConfigError for an unknown key, with the nearest known one, and for a value of the wrong type, with its place.
    """
    environ = os.environ if environ is None else environ
    merged = _from_file(file, environ) | _from_environment(environ)
    for name, value in (flags or {}).items():
        if value is not None:
            merged[name] = checked(name, value, "the command line")
    return Settings(**merged)


def keep_setting(name: str, value: str) -> Path:
    """Write one setting into the user's file, whose other text stays. Returns its path, or raises ConfigError."""
    path = settings_file()
    text = foreign_files.read_text(path) if foreign_files.present(path) else "{}\n"
    try:
        paths.private_folder(path.parent)
        # The file itself, where the path is a link to it.
        paths.write_private(path.resolve(), jsonc.with_member(text, name, value).encode())
    except OSError as error:
        raise ConfigError(f"{path} cannot be written: {os_reason(error)}") from None
    return path


def _from_file(file: Path | None, environ: Mapping[str, str]) -> dict[str, Any]:
    path = file or settings_file(environ)
    if file is None and not foreign_files.present(path):
        return {}
    return of_file(foreign_files.load_object(path), str(path))


def of_file(data: Mapping[str, Any], where: str) -> dict[str, Any]:
    """The settings in the content of a file. `where` names it in the error. Raises ConfigError."""
    if not isinstance(data.get("$schema"), str | None):
        raise ConfigError(f"“$schema” in {where} must be text, not {_shown_value(data['$schema'])}")
    return {name: checked(name, value, where) for name, value in data.items() if name != "$schema"}


def _from_environment(environ: Mapping[str, str]) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for variable, text in environ.items():
        if not variable.startswith(_PREFIX) or variable in _VARIABLES_OF_OTHERS:
            continue
        name = variable.removeprefix(_PREFIX).lower()
        if name in ("addons", "commands"):
            raise ConfigError(f"{variable} cannot be set: {name} are read from settings.json only")
        if name in _KINDS:
            values[name] = checked(name, _from_text(name, text), f"the environment variable {variable}")
        elif near := foreign_files.nearest(name, list(_KINDS)):
            # Another program may have variables with this prefix: only a name that resembles ours is an error.
            raise ConfigError(
                f"The environment variable {foreign_files.printable(variable)} is not a setting",
                hint=f"Did you mean {_PREFIX}{near.upper()}?",
            )
    return values


def _from_text(name: str, text: str) -> Any:
    """Parse the value of a variable: JSON if the setting is not a text, else the text."""
    if name in _TEXTS:
        return text
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def checked(name: str, value: Any, where: str) -> Any:
    """The value of a setting with its type. `where` says where it stands, in the error. Raises ConfigError."""
    kind = _KINDS.get(name)
    if kind is None:
        near = foreign_files.nearest(name, list(_KINDS))
        raise ConfigError(
            f"“{foreign_files.printable(name)}” in {where} is not a setting",
            hint=f"Did you mean “{near}”?" if near else f"Use one of: {', '.join(_KINDS)}.",
        )
    expected, check = kind
    typed = check(value)
    if typed is MISSING:
        raise ConfigError(f"“{name}” in {where} must be {expected}, not {_shown_value(value)}")
    return typed


def _shown_value(value: Any) -> str:
    if isinstance(value, (dict, list, tuple)):
        return foreign_files.kind_of(value)
    return foreign_files.printable(json.dumps(value, ensure_ascii=False, default=str), 60)


def _text(value: Any) -> Any:
    return value if isinstance(value, str) else MISSING


def _one_of(*choices: str | None) -> tuple[str, Callable[[Any], Any]]:
    listed = ", ".join("null" if choice is None else choice for choice in choices[:-1])
    last = "null" if choices[-1] is None else choices[-1]

    def check(value: Any) -> Any:
        known = value is None or isinstance(value, str)
        return value if known and value in choices else MISSING

    return f"{listed} or {last}", check


def _flag(value: Any) -> Any:
    return value if isinstance(value, bool) else MISSING


def _seconds(value: Any) -> Any:
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return float(value) if number and 0 < value < 1e9 else MISSING


def _count(value: Any) -> Any:
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else MISSING


def _positive_count_or_none(value: Any) -> Any:
    counted = None if value is None else _count(value)
    return MISSING if counted == 0 else counted


def _texts(value: Any) -> Any:
    if isinstance(value, (list, tuple)) and all(isinstance(item, str) for item in value):
        return tuple(value)
    return MISSING


def _paths(value: Any) -> Any:
    texts = _texts(value)
    return texts if texts is MISSING or all(_ABSOLUTE.match(text) for text in texts) else MISSING


def _roots(value: Any) -> Any:
    texts = _texts(value)
    return texts if texts is MISSING or all(text.startswith("file://") for text in texts) else MISSING


def _text_by_text(value: Any) -> Any:
    if isinstance(value, Mapping) and all(isinstance(item, str) for pair in value.items() for item in pair):
        return dict(value)
    return MISSING


def _elicitation(value: Any) -> Any:
    if isinstance(value, Mapping):
        return dict(value)
    known = isinstance(value, str) and (value in ("ask", "defaults", "decline", "cancel") or value.startswith("run:"))
    return value if known else MISSING


def _settings_by_id(value: Any) -> Any:
    if isinstance(value, Mapping) and all(
        isinstance(id, str) and (settings is None or isinstance(settings, Mapping)) for id, settings in value.items()
    ):
        return {id: None if settings is None else dict(settings) for id, settings in value.items()}
    return MISSING


_PLACES = ("message", "result", "recording")


def _commands(value: Any) -> Any:
    if not isinstance(value, (list, tuple)):
        return MISSING
    commands = []
    for entry in value:
        needed = {"key", "where", "run"}
        if not isinstance(entry, Mapping) or not needed <= set(entry) <= needed | {"title"}:
            return MISSING
        if not all(isinstance(item, str) for item in entry.values()) or entry["where"] not in _PLACES:
            return MISSING
        commands.append({"title": "", **entry})
    return tuple(commands)


_SECONDS = ("a number of seconds above 0", _seconds)
_TEXT = ("text", _text)
_FLAG = ("true or false", _flag)
_COUNT = ("a whole number of 0 or more", _count)

_KINDS: dict[str, tuple[str, Callable[[Any], Any]]] = {
    "timeout": _SECONDS,
    "max_timeout": _SECONDS,
    "login_timeout": (f"{_SECONDS[0]}, or null", lambda value: None if value is None else _seconds(value)),
    "era": _one_of("auto", "legacy", "modern"),
    "protocol": _TEXT,
    "log_level": _one_of("debug", "info", "notice", "warning", "error", "critical", "alert", "emergency", None),
    "roots": ("a list of file:// URIs", _roots),
    "sampling": _TEXT,
    "elicitation": ("ask, defaults, decline, cancel, run:PROGRAM or an object", _elicitation),
    "addons": ("a list of absolute paths", _paths),
    "client": _TEXT,
    "extensions": ("an object of objects by extension id", _settings_by_id),
    "max_body_bytes": ("a whole number above 0, or null", _positive_count_or_none),
    "max_recording_bytes": ("a whole number above 0, or null", _positive_count_or_none),
    "record": _FLAG,
    "keep_recordings": _COUNT,
    "keep_recordings_bytes": _COUNT,
    "calls_folder": _TEXT,
    "otlp": _TEXT,
    "registry": _TEXT,
    "check_pins": _FLAG,
    "theme": _TEXT,
    "keymap": ("an object of keys by action id", _text_by_text),
    "commands": ("a list of objects with key, where (message, result or recording), run and title", _commands),
    "ascii": _one_of("auto", "always", "never"),
    "follow": _FLAG,
    "mouse": _FLAG,
    "attention": _one_of("off", "bell", "desktop", "always-bell", "always-desktop"),
    "ask_before_call": _one_of("never", "annotated", "unannotated"),
    "diagnostics": _one_of("debug", "info", "warning", "error"),
}
_TEXTS = frozenset(field.name for field in fields(Settings) if _KINDS[field.name][1] is _text)
