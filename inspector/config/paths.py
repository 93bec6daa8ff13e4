"""Inspector's own folders and files, which only their user can read."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import IO, Any, Literal

from inspector.errors import ConfigError
from inspector.system import files

APP = "inspector"
RECORDING_SUFFIX = ".mcp.jsonl"
"""The end of the name of a recording."""
_FOLDER_MODE = 0o700
_WRITING = threading.Lock()
_LOCK_SECONDS = 1.0
"""Seconds to wait for another process's lock; then this process writes without it."""


def config_folder(environ: Mapping[str, str] | None = None) -> Path:
    """Return the folder of settings, servers and themes: `INSPECTOR_CONFIG_HOME` or the platform's."""
    folder = override("INSPECTOR_CONFIG_HOME", environ)
    if folder is None:
        import platformdirs

        folder = platformdirs.user_config_path(APP, appauthor=False, roaming=True)
    return folder


def state_folder(environ: Mapping[str, str] | None = None) -> Path:
    """Return the folder of recordings and stored data: `INSPECTOR_STATE_HOME` or the platform's."""
    folder = override("INSPECTOR_STATE_HOME", environ)
    if folder is None:
        import platformdirs

        folder = platformdirs.user_state_path(APP, appauthor=False)
    return folder


def cache_folder(environ: Mapping[str, str] | None = None) -> Path:
    """Return the folder of caches; `cache` in `INSPECTOR_STATE_HOME` if that is set."""
    state = override("INSPECTOR_STATE_HOME", environ)
    if state is not None:
        return state / "cache"
    import platformdirs

    return platformdirs.user_cache_path(APP, appauthor=False)


def log_folder(environ: Mapping[str, str] | None = None) -> Path:
    """Return the folder of the log file; `log` in `INSPECTOR_STATE_HOME` if that is set."""
    state = override("INSPECTOR_STATE_HOME", environ)
    if state is not None:
        return state / "log"
    import platformdirs

    return platformdirs.user_log_path(APP, appauthor=False)


def logins_file() -> Path:
    """Return the path of the file of stored logins."""
    return state_folder() / "logins.json"


def recordings_path(environ: Mapping[str, str] | None = None) -> Path:
    """Return the path of the recordings folder, which need not exist."""
    return state_folder(environ) / "recordings"


def recordings_folder(environ: Mapping[str, str] | None = None) -> Path:
    """Return the recordings folder, created if missing."""
    return private_folder(recordings_path(environ))


def log_file(environ: Mapping[str, str] | None = None) -> Path:
    """Return the path of the log file; its folder is created if missing."""
    return private_folder(log_folder(environ)) / "inspector.log"


def data_folder(kind: Literal["themes", "recordings", "docs/how-to", "docs/schemas"]) -> Path:
    """Return the folder of bundled files: in the package if installed from a wheel, beside it in a checkout."""
    import importlib.resources

    package = Path(str(importlib.resources.files("inspector")))
    for folder in (package / "_data" / kind, package.parent / kind):
        if folder.is_dir():
            return folder
    raise ConfigError(f"The bundled {kind} are missing from {package}", hint="Install inspector again.")


def home_folder() -> Path:
    """Return the user's home folder; a nonexistent one if the system knows none, as in some containers."""
    try:
        return Path.home()
    except RuntimeError:
        return Path("/nonexistent")


def override(name: str, environ: Mapping[str, str] | None = None) -> Path | None:
    """Return the absolute folder in environment variable `name`, or None."""
    value = (os.environ if environ is None else environ).get(name, "")
    return Path(os.path.abspath(os.path.expanduser(value))) if value.strip() else None


def private_folder(folder: Path) -> Path:
    """Return `folder`, created with mode 0700 if missing, like its missing parents. Raises ConfigError."""
    try:
        make_private(folder)
    except OSError as error:
        raise ConfigError(
            f"The folder {folder} cannot be created: {error.strerror or error}",
            hint=(
                "Create it yourself, or set INSPECTOR_STATE_HOME or INSPECTOR_CONFIG_HOME to a folder that "
                "you can write to."
            ),
        ) from None
    return folder


def display_path(path: Path) -> str:
    """A path as reports name it: relative to the working directory where it lies below it, else with `~`."""
    try:
        return path.absolute().relative_to(Path.cwd()).as_posix()
    except (ValueError, OSError):
        pass
    try:
        return f"~/{path.relative_to(Path.home()).as_posix()}"
    except (ValueError, RuntimeError):
        return str(path)


def make_private(folder: Path) -> None:
    """Create a folder with mode 0700 if missing, like its missing parents, whatever the umask. Raises OSError."""
    missing: list[Path] = []
    current = folder
    while not current.is_dir() and current != current.parent:
        missing.append(current)
        current = current.parent
    for part in reversed(missing):
        part.mkdir(mode=_FOLDER_MODE, exist_ok=True)


@contextmanager
def private_temporary(name: str) -> Iterator[Path]:
    """Yield a path in a private folder of its own, which is removed afterwards.

    A program that gets the path may leave backups and swap files in the folder.
    """
    import shutil
    import tempfile

    folder = Path(tempfile.mkdtemp(prefix="inspector-"))
    try:
        yield folder / name
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def private_open(path: Path, mode: str = "wb", **options: Any) -> IO[Any]:
    """Open a file that only its user may read: mode 0600, also if it existed before. Raises OSError."""
    file = open(path, mode, opener=files.open_file, **options)  # noqa: SIM115 - the caller closes it
    files.make_private(file.fileno())  # An existing file keeps its mode.
    return file


@contextmanager
def alone(folder: Path) -> Iterator[None]:
    """Keep other threads and processes from changing a file of a folder.

    A change of theirs between our read and our write would be lost.
    """
    with _WRITING, ExitStack() as opened:
        with suppress(OSError, ConfigError):
            private_folder(folder)
            descriptor = files.open_file(folder / ".lock", os.O_RDWR | os.O_CREAT)
            opened.callback(os.close, descriptor)
            until = time.monotonic() + _LOCK_SECONDS
            while not files.try_lock(descriptor) and time.monotonic() < until:
                time.sleep(0.005)
        yield


def write_private(path: Path, content: bytes) -> None:
    """Replace the file at `path` in one step: a reader sees the old or the new content. Raises OSError."""
    import tempfile

    descriptor, temporary = tempfile.mkstemp(prefix=f".{path.name[:40]}.", dir=path.parent)
    try:
        with open(descriptor, "wb") as file:
            file.write(content)
        files.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise
