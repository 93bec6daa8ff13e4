"""The program files of a server: a change restarts it."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from pathlib import Path

from inspector.config.targets import StdioTarget
from inspector.errors import UsageError
from inspector.hints import Hint, Parameter
from inspector.reasons import os_reason

_SUFFIXES = frozenset(
    """
    .py .pyi .js .mjs .cjs .jsx .ts .mts .cts .tsx .go .rs .rb .php .java .kt .kts .scala .groovy .cs .fs .swift .c .cc
    .cpp .h .hpp .m .zig .ex .exs .erl .clj .lua .dart .hs .ml .pl .r .jl .sh .toml .yaml .yml
    """.split()
)
"""Programs and their settings. Not data: a server that writes a data file would restart itself."""
_NAMES = frozenset((".env", "package.json", "tsconfig.json", "deno.json"))


def folder_of(target: StdioTarget) -> Path:
    """Return the folder to watch: the one in which the server is started.

    Raises `UsageError` for the home folder or the root folder: they contain too many files.
    """
    folder = Path(target.cwd or os.getcwd()).resolve()
    if folder in (Path.home().resolve(), Path(folder.anchor)):
        raise UsageError(
            f"{folder} has too many files to watch.",
            hint=Hint("Set the server's own folder with ", Parameter.CWD, "."),
        )
    return folder


async def changes(target: StdioTarget) -> AsyncIterator[list[str]]:
    """Yield the names of changed files after each change, relative to the folder and sorted.

    Raises `UsageError` if they cannot be watched. Files that the server's programmers do not write, such as installed
    packages and compiled files, are ignored.
    """
    from watchfiles import Change, DefaultFilter, awatch

    folder = folder_of(target)
    programs = {str(path) for word in target.command if (path := (folder / word).resolve()).is_file()}
    is_not_generated = DefaultFilter()

    def counts(change: Change, path: str) -> bool:
        name = os.path.basename(path)
        is_source = os.path.splitext(name)[1].lower() in _SUFFIXES or name in _NAMES or path in programs
        return is_source and is_not_generated(change, path)

    try:
        async for batch in awatch(folder, watch_filter=counts):
            yield sorted({os.path.relpath(path, folder) for _, path in batch})
    except (OSError, RuntimeError) as error:
        raise UsageError(f"The files in {folder} cannot be watched: {os_reason(error)}.") from error
