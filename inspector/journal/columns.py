"""The columns of an index, with one number per event: few are in memory, many in files.

The files are in a folder of the user's cache that only the user can read. They are mapped, so that the system keeps in
memory what is read, and no more. `saved_index` keeps the folder for the next time the recording is opened; otherwise
it is removed.
"""

from __future__ import annotations

import mmap
import os
import stat
import weakref
import zlib
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Literal

from inspector.config import paths
from inspector.errors import ConfigError
from inspector.system import files

FORMATS: dict[str, Literal["Q", "q", "I", "H", "B"]] = {
    "offsets": "Q",
    "times": "q",
    "sizes": "I",
    "codes": "H",
    "states": "B",
    "methods": "H",
    "channels": "H",
    "ids": "q",
    "pairs": "I",
    "parents": "I",
    "conns": "I",
}
"""By column, the type of its numbers, as in `struct`."""

_FIRST_ROWS = 1 << 8
SPILL_ROWS = 1 << 18
"""Rows from which they are in files: 12 MB."""
_STEP_ROWS = 1 << 18
"""Rows by which the files grow, and after which their memory is given back."""
ROW_BYTES = 47
"""Bytes of one row of all columns."""
STEP_BYTES = _STEP_ROWS * ROW_BYTES
SPARE_ROWS = 1 << 12
"""Rows behind the last one in a finished file: for marks, and so that a mapped file never ends at a row in use."""
_TRIMMED = 1 << 22
"""Rows that are read between two times that memory of columns in files is given back."""
_CHECKED = 1 << 24
"""Bytes of a column that are checked at once."""
_FOLDER = "index"
_BUILDING = "."
"""Names of folders that are being filled begin with this."""


class IndexColumns:
    """`views` has one memoryview for each of `FORMATS`, all of `rows` numbers, zero where nothing was set.

    `grow` makes them longer. It replaces the views; the old ones stay readable, as another thread may use them.
    """

    def __init__(self) -> None:
        self.rows = _FIRST_ROWS
        self.folder: Path | None = None
        """The folder of the files; None while the columns are in memory."""
        self.saved = 0
        """Rows in a folder that is to stay; 0: it is removed when the index is dropped."""
        self._passed = 0
        """Rows read since memory was last given back."""
        self._fds: list[int] = []
        self._cleanup: weakref.finalize[..., IndexColumns] | None = None
        """Removes the files of an index that is dropped without being released, or at the end of the program."""
        self._maps: list[mmap.mmap] = []
        self.views = self._in_memory(self.rows)

    def grow(self) -> None:
        """Make room for more rows."""
        if self._fds:
            try:
                self._resize(self.rows + _STEP_ROWS)
                self.trim()
                return
            except (OSError, ValueError):
                pass  # The disk is full, or refuses: memory has to do.
        elif self.rows >= SPILL_ROWS and self._spill():
            return
        # A saved folder that another process uses is not written to: these are copied, too.
        rows = self.rows * 4 if self.rows < SPILL_ROWS else self.rows + self.rows // 4
        old, self.views, self.rows = self.views, self._in_memory(rows, self.views), rows
        if self._maps:
            self.discard()
        del old

    def passed(self, rows: int) -> None:
        """Tell that so many rows were read: those in files may give back memory now."""
        self._passed += rows
        if self._passed >= _TRIMMED:
            self._passed = 0
            self.trim()

    def trim(self) -> None:
        """Give back the memory of what was read from the files. The system keeps them cached as long as it likes."""
        for mapped in self._maps:
            files.give_back(mapped)

    def finish(self, count: int) -> bool:
        """Cut the files to `count` rows, before they are kept. False: they are not in files that may be written."""
        if not self._fds:
            return False
        try:
            self._resize(count + SPARE_ROWS)
        except (OSError, ValueError):
            return False
        return True

    def checksums(self, count: int) -> list[int]:
        """Return a checksum of `count` rows of each column. Takes 0.7 s for 4 GB in the memory of the system."""
        with ThreadPoolExecutor(2) as pool:
            return list(pool.map(partial(self._checksum, count), range(len(FORMATS))))

    def _checksum(self, count: int, column: int) -> int:
        """Return the checksum of one column, and give back its memory piece by piece: there may be gigabytes of it."""
        mapped = self._maps[column] if self._maps else None
        content = self.views[column][:count].cast("B")
        checksum = 0
        for at in range(0, len(content), _CHECKED):
            checksum = zlib.crc32(content[at : at + _CHECKED], checksum)
            if mapped is not None:
                files.give_back(mapped, at, min(_CHECKED, len(mapped) - at))
        return checksum

    def has_unsaved(self, count: int) -> bool:
        """Whether there are files, and not all of `count` rows were saved in them."""
        return bool(self._fds) and count != self.saved

    def keep(self, folder: Path, count: int) -> None:
        """Note that the folder is `folder` now, and is to stay with `count` rows."""
        self.folder, self.saved = folder, count
        self._own()

    def discard(self) -> None:
        """Close the files, and remove them unless they are saved. The rows stay readable."""
        if self._cleanup is not None:
            self._cleanup()
        self._maps = []
        if not self.saved:
            self.folder = None

    def _own(self) -> None:
        if self._cleanup is not None:
            self._cleanup.detach()
        self._cleanup = weakref.finalize(self, _clean_up, self._fds, None if self.saved else self.folder)

    # In memory

    def _in_memory(self, rows: int, old: tuple[memoryview[int], ...] = ()) -> tuple[memoryview[int], ...]:
        made = []
        for at, format in enumerate(FORMATS.values()):
            view = memoryview(bytearray(rows * _size(format)))
            if old:
                before = old[at].cast("B")
                view[: len(before)] = before
            made.append(view.cast(format))
        return tuple(made)

    # In files

    def _spill(self) -> bool:
        """Move the rows to new files. False: that is not possible here."""
        folder = _new_folder()
        if folder is None:
            return False
        old, rows = self.views, self.rows
        try:
            for name in FORMATS:
                self._fds.append(files.open_file(folder / name, os.O_RDWR | os.O_CREAT | os.O_EXCL))
            files.try_lock(self._fds[0])
            self.folder, self.saved = folder, 0
            self._own()
            self._resize(rows + _STEP_ROWS)
        except (OSError, ValueError):
            self.discard()
            _clean_up(self._fds, folder)
            return False
        for view, before in zip(self.views, old, strict=True):
            view[:rows] = before[:rows]
        return True

    def load(self, folder: Path, count: int) -> bool:
        """Show `count` rows of a saved folder. False, and no change, if it does not have them.

        Rows can be added without a copy if no other process has the folder open.
        """
        fds: list[int] = []
        try:
            if not files.is_private(os.lstat(folder)):
                return False
            for name, format in FORMATS.items():
                fd = files.open_file(folder / name, os.O_RDWR | files.NO_FOLLOW)
                fds.append(fd)
                info = os.fstat(fd)
                if not stat.S_ISREG(info.st_mode) or info.st_size < (count + SPARE_ROWS) * _size(format):
                    return False
            is_ours = files.try_lock(fds[0])
            if is_ours:
                for fd, format in zip(fds, FORMATS.values(), strict=True):
                    os.ftruncate(fd, count * _size(format))  # What is behind the last row was not saved.
                self._fds = fds
                try:
                    self._resize(count + SPARE_ROWS)
                except BaseException:
                    self._fds = []
                    raise
                fds = []
            else:
                sizes = [count * _size(format) for format in FORMATS.values()]
                self._maps = [mmap.mmap(fd, size, access=mmap.ACCESS_READ) for fd, size in zip(fds, sizes, strict=True)]
                self._map(count)
        except (OSError, ValueError):
            return False
        finally:
            for fd in fds:
                os.close(fd)
        self.keep(folder, count)
        return True

    def _resize(self, rows: int) -> None:
        """Make the files `rows` long, and map them. Raises OSError, with the columns as they were."""
        sizes = [rows * _size(format) for format in FORMATS.values()]
        for fd, size in zip(self._fds, sizes, strict=True):
            before = os.fstat(fd).st_size
            if size > before:
                files.reserve(fd, before, size - before)
        maps = [mmap.mmap(fd, size) for fd, size in zip(self._fds, sizes, strict=True)]
        self._maps = maps
        self._map(rows)
        for fd, size in zip(self._fds, sizes, strict=True):
            if os.fstat(fd).st_size > size:
                with suppress(PermissionError):  # Windows does not cut a mapped file: it stays longer than its rows.
                    os.ftruncate(fd, size)

    def _map(self, rows: int) -> None:
        self.views = tuple(
            memoryview(mapped).cast("B").cast(format)
            for mapped, format in zip(self._maps, FORMATS.values(), strict=True)
        )
        self.rows = rows


def _clean_up(fds: list[int], folder: Path | None) -> None:
    while fds:
        os.close(fds.pop())
    if folder is not None and files.CAN_REMOVE_MAPPED:
        remove_folder(folder)


def _size(format: str) -> int:
    return {"Q": 8, "q": 8, "I": 4, "H": 2, "B": 1}[format]


# Folders


def folders() -> Path:
    """Return the folder with the folders of all indexes."""
    return paths.cache_folder() / _FOLDER


def _new_folder() -> Path | None:
    try:
        folder = paths.private_folder(folders()) / f"{_BUILDING}{os.getpid()}-{os.urandom(6).hex()}"
        remove_abandoned(folder.parent)
        folder.mkdir(mode=0o700)
    except (OSError, ConfigError):
        return None
    return folder


def remove_abandoned(parent: Path) -> None:
    """Remove the folders that were being filled by processes that have ended.

    Where a mapped file cannot be removed, also those of indexes of this process whose rows are not in use any more.
    """
    for folder in parent.glob(f"{_BUILDING}*"):
        with suppress(OSError):
            fd = files.open_file(folder / next(iter(FORMATS)), os.O_RDWR | files.NO_FOLLOW)
            try:
                is_abandoned = files.try_lock(fd)
            finally:
                os.close(fd)  # Windows does not remove a folder with an open file.
            if is_abandoned:
                remove_folder(folder)


def remove_folder(folder: Path) -> None:
    """Remove the folder of an index. Files in use stay readable to those who have them open."""
    if folder.is_symlink():
        return
    import shutil

    shutil.rmtree(folder, ignore_errors=True)
