"""Reads themes, small YAML files of roles and colours, and makes Textual themes and drawing styles of them.

A role says what something means (`error`, `muted`, `sent`), never how it looks; widgets draw by role. A theme is named
by its file and has `dark`, `ansi` and `roles`; missing roles come from the bundled `dark`, `light` or `ansi`. A colour
is `#rrggbb` or the terminal's (`ansi_red`, `ansi_default`), followed by attributes (`ansi_default bold`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from rich.color import Color as RichColor
from rich.style import Style
from textual._context import (
    active_app,
)  # Private: the app is also needed outside a widget, where `.app` does not exist.
from textual.theme import Theme

from inspector.config.foreign_files import open_regular
from inspector.errors import ConfigError
from inspector.lazy_pattern import lazy_pattern
from inspector.text import Signs, safe, signs

ROLES: Mapping[str, str] = {
    "ground": "the background of everything",
    "panel": "the background of the header, the footer and of fields",
    "selection": "the background of the selected row in the focused pane",
    "selection-dim": "the background of the selected row elsewhere",
    "edge": "the border of a pane without focus",
    "bright": "names and values",
    "normal": "main text",
    "muted": "secondary text",
    "faint": "unimportant text",
    "accent": "focus only",
    "ask": "a question for the user",
    "error": "failed",
    "finding": "a finding of the judge",
    "sent": "sent by Inspector",
    "received": "received; also: done, valid, connected",
    "notification": "a notification",
    "progress": "progress",
    "key": "a key in a hint",
    "live": "a recording in progress",
    "json-key": "JSON: the name of a member",
    "json-string": "JSON: a string",
    "json-number": "JSON: a number",
    "json-word": "JSON: true, false, null",
    "json-mark": "JSON: braces, commas, colons",
    "chart": "a bar of a chart",
    "chart-dim": "a bar of a pending or future part",
    "chart-ask": "a bar of a part that waited for the user",
    "chart-error": "a bar of a failed part",
}
"""Every role that a theme can colour, and its meaning."""

GROUNDS = ("ground", "panel", "selection", "selection-dim")
DEFAULT = "dark"
NO_COLOUR = "mono"

MIN_CONTRAST = 4.0
"""WCAG 2 contrast of text on every background that it has, including the selected row."""

FILE_LIMIT = 64 * 1024
_ATTRIBUTES = frozenset({"bold", "dim", "italic", "underline", "reverse"})
_ANSI_NAMES = frozenset({"black", "red", "green", "yellow", "blue", "magenta", "cyan", "white"})
_HEX = lazy_pattern(r"#[0-9a-fA-F]{6}")
_PLAIN_LINE = lazy_pattern(r"( *)([\w-]+): *(?:\"([^\"\\]*)\"|([\w-]+))? *")


class ThemeStyles:
    """One theme for drawing code: `style("muted")` by role, and text adapted to the background of a selected row."""

    def __init__(self, name: str, roles: Mapping[str, str], *, dark: bool, ansi: bool) -> None:
        self.name = name
        self.roles = dict(roles)
        self.dark = dark
        self.ansi = ansi
        self._in_256 = False
        """Whether every colour is one of the 256 of a terminal without truecolor."""
        self._styles: dict[str, Style] = {}
        self._lifted: dict[tuple[Style, str], Style] = {}

    def in_256(self) -> ThemeStyles:
        """Return the theme for a terminal with 256 colours.

        A terminal's library would take the nearest colour for each by itself: grounds would become one, dark blue would
        turn to teal, and muted text on it could not be read.
        """
        if self.ansi:
            return self
        roles: dict[str, str] = {}
        grounds: list[_Rgb] = []
        ground = _triplet(self.roles["ground"])
        for role in GROUNDS:

            def is_apart(one: _Rgb, role: str = role) -> bool:
                grey = role == "selection" or len(set(one)) == 1
                return grey and all(contrast(one, other) >= _APART for other in grounds)

            grounds.append(_nearest(_triplet(self.roles[role]), is_apart))
            roles[role] = _hex(grounds[-1])
        for role, spec in self.roles.items():
            ink, *attributes = spec.split()
            if role not in GROUNDS:
                under = grounds[:2] if contrast(_triplet(ink), ground) >= MIN_CONTRAST else []
                readable = partial(_can_be_read, under)
                roles[role] = " ".join([_hex(_nearest(_triplet(ink), readable)), *attributes])
        reduced = ThemeStyles(self.name, roles, dark=self.dark, ansi=False)
        reduced._in_256 = True
        return reduced

    def style(self, role: str) -> Style:
        """Return the Rich style of a role, or of a role with attributes: `style("bright bold")`."""
        rich_style = self._styles.get(role)
        if rich_style is None:
            name, *attributes = role.split()
            rich_style = self._styles[role] = _style(self.roles[name], attributes, ground=name in GROUNDS)
        return rich_style

    def on(self, style: Style, ground: str) -> Style:
        """Return `style` on a background role; on a selected row, weak text gets more contrast."""
        key = (style, ground)
        lifted = self._lifted.get(key)
        if lifted is None:
            if len(self._lifted) > 4096:
                self._lifted.clear()
            under = self.style(ground)
            lifts = ground.startswith("selection") and style.bgcolor is None
            lifted = self._lifted[key] = self._lift(style, under) if lifts else under + style
        return lifted

    def _lift(self, style: Style, ground: Style) -> Style:
        if ground.bgcolor is None or ground.bgcolor.triplet is None:
            # The terminal's own colours cannot be measured, and reversed they would become blocks.
            return (Style(bold=style.bold) if ground.reverse else style) + ground
        if style.color is None or style.color.triplet is None:
            return style + ground
        under, ink = ground.bgcolor.triplet, style.color.triplet
        bright = self.style("bright").color
        towards = bright.triplet if bright is not None and bright.triplet is not None else ink
        mixed: tuple[int, int, int] = ink
        for step in range(1, 11):
            if contrast(mixed, under) >= MIN_CONTRAST * (_MARGIN if self._in_256 else 1):
                break
            mixed = _mix(ink, towards, step / 10)
            if self._in_256:
                mixed = _nearest(mixed, partial(_can_be_read, [under]))
        return style + ground + Style(color=RichColor.from_rgb(*mixed))


_Rgb = tuple[int, int, int]
_APART = 1.12
"""Contrast that the grounds of a theme must have among 256 colours, so that focus and selection are told apart."""
_MARGIN = 1.1
"""More contrast than is needed, because the greys of a terminal differ a little from those that are written."""
_CUBE = (0, 95, 135, 175, 215, 255)
_XTERM: tuple[_Rgb, ...] = (
    *((red, green, blue) for red in _CUBE for green in _CUBE for blue in _CUBE),
    *((level, level, level) for level in (round(step * 10.2) for step in range(1, 25))),
)
"""Colours 16 to 255 of xterm, as Rich has to be told to write them. The first 16 are the user's own."""


def _nearest(colour: _Rgb, fits: Callable[[_Rgb], bool]) -> _Rgb:
    """Return the nearest of the 256 colours that fits; the nearest of all if none does."""

    def distance(one: _Rgb) -> float:
        # Brightness and two differences of colour, as in television: another hue disturbs more than another brightness.
        red, green, blue = (one[at] - colour[at] for at in range(3))
        brightness = 0.299 * red + 0.587 * green + 0.114 * blue
        return brightness**2 + (blue - brightness) ** 2 + (red - brightness) ** 2

    ranked = sorted(_XTERM, key=distance)
    return next(filter(fits, ranked), ranked[0])


def _can_be_read(grounds: Sequence[_Rgb], ink: _Rgb) -> bool:
    return all(contrast(ink, ground) >= MIN_CONTRAST * _MARGIN for ground in grounds)


def _hex(colour: _Rgb) -> str:
    return "#{:02x}{:02x}{:02x}".format(*colour)


def _triplet(spec: str) -> _Rgb:
    return int(spec[1:3], 16), int(spec[3:5], 16), int(spec[5:7], 16)


def _mix(one: tuple[int, int, int], other: tuple[int, int, int], part: float) -> tuple[int, int, int]:
    red, green, blue = (round(one[at] + (other[at] - one[at]) * part) for at in range(3))
    return red, green, blue


def contrast(one: tuple[int, int, int], other: tuple[int, int, int]) -> float:
    """Return the contrast of two sRGB colours, 1 to 21 (WCAG 2.2, "contrast ratio")."""
    lighter, darker = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


def _luminance(colour: tuple[int, int, int]) -> float:
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in (part / 255 for part in colour)]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def _style(spec: str, attributes: list[str], *, ground: bool) -> Style:
    colour, *own = spec.split()
    rich_name = colour.removeprefix("ansi_")
    how: dict[str, Any] = {attribute: True for attribute in (*own, *attributes)}
    if rich_name != "default":
        # Rich writes "default" as a colour; without a colour the background shows through.
        how["bgcolor" if ground else "color"] = rich_name
    return Style(**how)


@dataclass
class InspectorTheme(Theme):
    """A Textual theme that carries its palette."""

    palette: ThemeStyles = field(default_factory=lambda: bundled(DEFAULT))


def textual_theme(palette: ThemeStyles) -> InspectorTheme:
    """Return the Textual theme of a palette; every role is a CSS variable `$role-NAME` beside Textual's names."""
    colour = {role: spec.split()[0] for role, spec in palette.roles.items()}
    variables = {f"role-{role}": value for role, value in colour.items()}
    selection_ink = colour["bright"]
    variables |= {
        "border": colour["accent"],
        "border-blurred": colour["edge"],
        "scrollbar": colour["edge"],
        "scrollbar-hover": colour["muted"],
        "scrollbar-active": colour["accent"],
        "scrollbar-background": colour["ground"],
        "scrollbar-background-hover": colour["ground"],
        "scrollbar-background-active": colour["ground"],
        "scrollbar-corner-color": colour["ground"],
        "block-cursor-background": colour["selection"],
        "block-cursor-foreground": selection_ink,
        "block-cursor-text-style": "reverse" if palette.ansi else "none",
        "block-cursor-blurred-background": colour["selection-dim"],
        "block-cursor-blurred-foreground": colour["normal"],
        "input-cursor-background": colour["bright"],
        "input-cursor-foreground": colour["ground"],
        "input-cursor-text-style": "reverse" if palette.ansi else "none",
        "input-selection-background": colour["selection"],
        "input-selection-foreground": selection_ink,
        "footer-key-foreground": colour["key"],
        "text-muted": colour["muted"],
        "text-disabled": colour["faint"],
    }
    if palette.ansi:
        # Names in Textual's own style sheets, and backgrounds that "default" would make invisible.
        variables |= {
            "ansi-background": "ansi_default",
            "ansi-foreground": "ansi_default",
            "scrollbar": "ansi_bright_black",
            "scrollbar-hover": "ansi_white",
            "scrollbar-active": "ansi_white",
            "input-selection-background": "ansi_bright_blue",
            "input-selection-foreground": "ansi_black",
        }
    return InspectorTheme(
        name=palette.name,
        primary=colour["accent"],
        secondary=colour["sent"],
        warning=colour["ask"],
        error=colour["error"],
        success=colour["received"],
        accent=colour["accent"],
        foreground=colour["normal"],
        background=colour["ground"],
        surface=colour["ground"],
        panel=colour["panel"],
        dark=palette.dark,
        ansi=palette.ansi,
        variables=variables,
        palette=palette,
    )


# For drawing code
#
# Only this module asks for the running app: theme and terminal are all that drawing code needs, and functions that make
# a line have no widget; they would have to pass a palette from call to call.


def palette() -> ThemeStyles:
    """Return the palette of the running app's theme; the bundled default outside an app or with a foreign theme."""
    app = active_app.get(None)
    if app is not None:
        theme = app.get_theme(app.theme)
        if isinstance(theme, InspectorTheme):
            return theme.palette
    return bundled(DEFAULT)


def style(role: str) -> Style:
    """Return the style of a role in the running app's theme: `style("muted")`, `style("bright bold")`."""
    return palette().style(role)


def ascii_only() -> bool:
    """Whether the running app draws only ASCII signs (its attribute `ascii_only`)."""
    return bool(getattr(active_app.get(None), "ascii_only", False))


def signs_now() -> Signs:
    """Return the signs that the running app's terminal can show."""
    return signs(ascii_only())


# Read theme files

_bundled: dict[str, ThemeStyles] = {}


def bundled_folder() -> Path:
    """Return the folder of the bundled themes: inside the package in a wheel, beside it in a source tree."""
    from importlib.resources import files

    package = Path(str(files("inspector")))
    inside = package / "_data" / "themes"
    return inside if inside.is_dir() else package.parent / "themes"


def bundled(name: str) -> ThemeStyles:
    """Return a bundled theme; each is read once per process."""
    theme = _bundled.get(name)
    if theme is None:
        theme = _bundled[name] = read_theme(bundled_folder() / f"{name}.yaml")
    return theme


def read_theme(path: Path) -> ThemeStyles:
    """Read a theme file. Raises ConfigError with the file, the error in it, and the fix."""
    where = safe(str(path), 200)
    try:
        with open_regular(path) as file:
            raw = file.read(FILE_LIMIT + 1)
    except OSError as error:
        raise ConfigError(f"The theme {where} cannot be read: {error.strerror or error}") from error
    if len(raw) > FILE_LIMIT:
        raise ConfigError(f"The theme {where} is larger than {FILE_LIMIT // 1024} kB")
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError as error:
        raise ConfigError(f"The theme {where} is not UTF-8 text") from error
    data = _read_plain(text)
    if data is None:
        data = _read_yaml(text, where)
    return _palette(data, path.stem, where)


def _read_plain(text: str) -> dict[str, Any] | None:
    """Read the plain form of the bundled themes without importing yaml; None for any other form."""
    top: dict[str, Any] = {}
    inner: dict[str, Any] | None = None
    for line in text.splitlines():
        if not line.strip() or line.startswith("#"):
            continue
        match = _PLAIN_LINE.fullmatch(line)
        if match is None:
            return None
        indent, key, quoted, word = match.groups()
        value: Any = quoted if quoted is not None else {"true": True, "false": False}.get(word or "", word)
        if indent == "":
            inner = top[key] = {} if value is None else None
            if value is not None:
                top[key] = value
        elif indent == "  " and inner is not None and value is not None:
            inner[key] = value
        else:
            return None
    return top


def _read_yaml(text: str, where: str) -> Any:
    from inspector.documents import DocumentError, read_yaml

    try:
        return read_yaml(text)
    except DocumentError as error:
        line = f", line {error.line}" if error.line else ""
        raise ConfigError(f"The theme {where} {error.problem}{line}") from error


def _palette(data: Any, stem: str, where: str) -> ThemeStyles:
    if not isinstance(data, dict):
        raise ConfigError(
            f"The theme {where} is not a mapping", hint="Start it with `roles:`, like the bundled themes."
        )
    _known(data, ("dark", "ansi", "roles"), "key", where)
    for flag in ("dark", "ansi"):
        if not isinstance(data.get(flag, True), bool):
            raise ConfigError(f"`{flag}` in the theme {where} must be true or false")
    roles = data.get("roles", {})
    if not isinstance(roles, dict):
        raise ConfigError(f"`roles` in the theme {where} is not a mapping")
    _known(roles, tuple(ROLES), "role", where)
    dark, ansi = data.get("dark", True), data.get("ansi", False)
    for role, spec in roles.items():
        _check_colour(role, spec, where)
    complete = len(roles) == len(ROLES)
    base = {} if complete else bundled("ansi" if ansi else "dark" if dark else "light").roles
    return ThemeStyles(stem, {role: roles.get(role) or base[role] for role in ROLES}, dark=dark, ansi=ansi)


def _known(members: dict[Any, Any], allowed: tuple[str, ...], kind: str, where: str) -> None:
    for key in members:
        if key not in allowed:
            from difflib import get_close_matches

            near = get_close_matches(str(key)[:80], allowed, 1, 0.5)
            hint = f"Did you mean `{near[0]}`?" if near else f"Use one of: {', '.join(allowed)}."
            raise ConfigError(f"Unknown {kind} `{safe(key, 60)}` in the theme {where}", hint=hint)


def _check_colour(role: str, spec: object, where: str) -> None:
    words = spec.split() if isinstance(spec, str) else []
    if words and set(words[1:]) <= _ATTRIBUTES:
        name = words[0].removeprefix("ansi_").removeprefix("bright_")
        if _HEX.fullmatch(words[0]) or (words[0].startswith("ansi_") and name in _ANSI_NAMES):
            return
        if words[0] == "ansi_default":
            return
    raise ConfigError(
        f"The colour of `{role}` in the theme {where} is not a colour: {safe(spec, 60)}",
        hint='Write "#rrggbb" or "ansi_red", optionally followed by bold, dim, italic, underline or reverse.',
    )
