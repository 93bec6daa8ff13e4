"""Lists the themes, sets the app's theme, and reloads it when its file changes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from inspector.config.paths import display_path
from inspector.config.settings import keep_setting
from inspector.errors import ConfigError
from inspector.tui.themes import DEFAULT, NO_COLOUR, ThemeStyles, bundled, bundled_folder, read_theme, textual_theme

if TYPE_CHECKING:
    from textual.app import App
    from textual.timer import Timer

POLL_SECONDS = 1.0


class ThemeSwitch:
    """Sets themes on an app. A theme in the user's folder hides a bundled one of the same name.

    `report` gets every problem (a broken file, an unknown name) as a ConfigError; the app then keeps its theme, or uses
    the default.
    """

    def __init__(self, app: App[Any], folder: Path | None, report: Callable[[ConfigError], None]) -> None:
        self.app = app
        self.folder = folder
        self.report = report
        self.name = ""
        self._watched: Path | None = None
        self._seen: tuple[int, int] | None = None
        self._timer: Timer | None = None

    def names(self) -> list[str]:
        """Return the names of all themes, bundled and the user's, sorted."""
        names = {path.stem for path in bundled_folder().glob("*.yaml")}
        if self.folder is not None and self.folder.is_dir():
            names |= {path.stem for path in self.folder.glob("*.yaml")}
        return sorted(names)

    def use(self, name: str = DEFAULT) -> bool:
        """Set a theme by name; False if it could not be read. Under NO_COLOR the colourless theme is used."""
        chosen = NO_COLOUR if self.app.no_color else name
        path = self._file_of(chosen)
        try:
            if path is not None:
                self._seen = _stamp(path)
                worn = read_theme(path)
            elif chosen in self.names():
                worn = bundled(chosen)
            else:
                raise ConfigError(f"Unknown theme `{chosen}`", hint=f"Use one of: {', '.join(self.names())}.")
        except ConfigError as problem:
            self.report(problem)
            if not self.name:
                self._wear(bundled(DEFAULT))
            self._watch(path)
            return False
        self._wear(worn)
        self._watch(path)
        return True

    def choose(self, name: str) -> None:
        """Set a theme, and keep it in the user's settings."""
        if self.use(name):
            try:
                file = keep_setting("theme", name)
            except ConfigError as problem:
                self.report(problem)
            else:
                self.app.notify(f"Theme {name}, kept in {display_path(file)}.", timeout=4)

    def poll(self) -> None:
        """Reload the theme if its file has changed."""
        path = self._watched
        if path is None:
            return
        stamp = _stamp(path)
        if stamp is None or stamp == self._seen:
            return
        self._seen = stamp
        try:
            self._wear(read_theme(path))
        except ConfigError as problem:
            self.report(problem)

    def _file_of(self, name: str) -> Path | None:
        # A name is the stem of a file, never a path out of the folder.
        if self.folder is None or Path(name).name != name:
            return None
        path = self.folder / f"{name}.yaml"
        return path if path.is_file() else None

    def _wear(self, worn: ThemeStyles) -> None:
        from textual.app import App

        if self.app.console.color_system == "256":
            worn = worn.in_256()
        self.name = worn.name
        self.app.register_theme(textual_theme(worn))
        if self.app.theme == worn.name:
            self.app.mutate_reactive(App.theme)
        else:
            self.app.theme = worn.name
        # Two themes may differ only in what widgets draw themselves (`ansi` and `mono` share all CSS variables).
        for screen in self.app.screen_stack:
            for widget in screen.walk_children(with_self=True):
                widget.refresh()

    def _watch(self, path: Path | None) -> None:
        self._watched = path
        if path is None:
            if self._timer is not None:
                self._timer.stop()
                self._timer = None
        elif self._timer is None:
            self._timer = self.app.set_interval(POLL_SECONDS, self.poll, name="theme file")


def _stamp(path: Path) -> tuple[int, int] | None:
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size
