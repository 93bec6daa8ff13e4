"""Inspector's own folders and files: where they are, and that nobody else can read them."""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any, Literal

from inspector.errors import ConfigError

APP = "inspector"
_FILE_MODE = 0o600
_FOLDER_MODE = 0o700


def config_folder(environ: Mapping[str, str] | None = None) -> Path:
    """Where the user's settings, servers and themes are: `INSPECTOR_CONFIG_HOME` or the platform's."""
    found = override("INSPECTOR_CONFIG_HOME", environ)
    if found is None:
        import platformdirs

        found = platformdirs.user_config_path(APP, appauthor=False, roaming=True)
    return found


def state_folder(environ: Mapping[str, str] | None = None) -> Path:
    """Where recordings and memory are kept: `INSPECTOR_STATE_HOME` or the platform's."""
    found = override("INSPECTOR_STATE_HOME", environ)
    if found is None:
        import platformdirs

        found = platformdirs.user_state_path(APP, appauthor=False)
    return found


def cache_folder(environ: Mapping[str, str] | None = None) -> Path:
    """Where things are kept that can be had again; `cache` in `INSPECTOR_STATE_HOME` where that is set."""
    state = override("INSPECTOR_STATE_HOME", environ)
    if state is not None:
        return state / "cache"
    import platformdirs

    return platformdirs.user_cache_path(APP, appauthor=False)


def log_folder(environ: Mapping[str, str] | None = None) -> Path:
    """Where the log file is; `log` in `INSPECTOR_STATE_HOME` where that is set."""
    state = override("INSPECTOR_STATE_HOME", environ)
    if state is not None:
        return state / "log"
    import platformdirs

    return platformdirs.user_log_path(APP, appauthor=False)


def logins_file(environ: Mapping[str, str] | None = None) -> Path:
    """The file that says where one is logged in."""
    return state_folder(environ) / "logins.json"


def recordings_folder(environ: Mapping[str, str] | None = None) -> Path:
    """The folder of kept recordings, made if it is missing."""
    return private_folder(state_folder(environ) / "recordings")


def log_file(environ: Mapping[str, str] | None = None) -> Path:
    """The path of the log file; its folder is made if it is missing."""
    return private_folder(log_folder(environ)) / "inspector.log"


def data_folder(kind: Literal["themes", "recordings"]) -> Path:
    """The folder of bundled files: in the package where it was installed from a wheel, beside it in a checkout."""
    import importlib.resources

    package = Path(str(importlib.resources.files("inspector")))
    for folder in (package / "_data" / kind, package.parent / kind):
        if folder.is_dir():
            return folder
    raise ConfigError(f"The bundled {kind} are missing from {package}", hint="Install inspector again.")


def home_folder() -> Path:
    """The user's home folder; one that does not exist where the system knows none, as in some containers."""
    try:
        return Path.home()
    except RuntimeError:
        return Path("/nonexistent")


def override(name: str, environ: Mapping[str, str] | None = None) -> Path | None:
    """The absolute folder that environment variable `name` sets, or None."""
    value = (os.environ if environ is None else environ).get(name, "")
    return Path(os.path.abspath(os.path.expanduser(value))) if value.strip() else None


def private_folder(folder: Path) -> Path:
    """`folder`, made with mode 0700 if it is missing, as are its missing parents; ConfigError if it cannot be."""
    missing: list[Path] = []
    current = folder
    try:
        while not current.is_dir() and current != current.parent:
            missing.append(current)
            current = current.parent
        for part in reversed(missing):
            part.mkdir(mode=_FOLDER_MODE, exist_ok=True)
    except OSError as error:
        raise ConfigError(
            f"The folder {folder} cannot be made: {error.strerror or error}",
            hint="Make it yourself, or set INSPECTOR_STATE_HOME or INSPECTOR_CONFIG_HOME to a folder of yours.",
        ) from None
    return folder


def private_open(path: Path, mode: str = "wb", **options: Any) -> IO[Any]:
    """`open` for a file that only its user may read: mode 0600, also where it was there before. Raises OSError."""
    file = open(path, mode, opener=_opener, **options)  # noqa: SIM115 - the caller closes it
    # A file that was there keeps its mode, and a pipe or a device is not ours to change.
    if hasattr(os, "fchmod") and stat.S_ISREG(os.fstat(file.fileno()).st_mode):
        try:
            os.fchmod(file.fileno(), _FILE_MODE)
        except PermissionError:
            # It belongs to somebody else, who let us write it.
            pass
    return file


def write_private(path: Path, content: bytes) -> None:
    """Replaces the file at `path` in one step: a reader sees the old content or the new one. Raises OSError."""
    import tempfile

    descriptor, temporary = tempfile.mkstemp(prefix=f".{path.name[:40]}.", dir=path.parent)
    try:
        with open(descriptor, "wb") as file:
            file.write(content)
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise


def _opener(path: str, flags: int) -> int:
    return os.open(path, flags | getattr(os, "O_CLOEXEC", 0), _FILE_MODE)
