"""Which of a server's files are its program, so that a change of one is a reason to start it again."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from pathlib import Path

from inspector.config.targets import StdioTarget
from inspector.errors import UsageError
from inspector.hints import Hint, Parameter
from inspector.reasons import os_reason

_SUFFIXES = frozenset((
    ".py", ".pyi", ".js", ".mjs", ".cjs", ".jsx", ".ts", ".mts", ".cts", ".tsx", ".go", ".rs", ".rb", ".php", ".java",
    ".kt", ".kts", ".scala", ".groovy", ".cs", ".fs", ".swift", ".c", ".cc", ".cpp", ".h", ".hpp", ".m", ".zig", ".ex",
    ".exs", ".erl", ".clj", ".lua", ".dart", ".hs", ".ml", ".pl", ".r", ".jl", ".sh", ".toml", ".yaml", ".yml",
))  # fmt: skip
"""Programs and their settings. No data: a server that writes a file of its own would be started again by that."""
_NAMES = frozenset((".env", "package.json", "tsconfig.json", "deno.json"))


def folder_of(target: StdioTarget) -> Path:
    """The folder that is watched: the one in which the server is started.

    Raises `UsageError` where that is the home folder or the root of all files: there is too much in those.
    """
    folder = Path(target.cwd or os.getcwd()).resolve()
    if folder in (Path.home().resolve(), Path(folder.anchor)):
        raise UsageError(
            f"{folder} has too many files to be watched.",
            hint=Hint("Name the server's own folder with ", Parameter.CWD, "."),
        )
    return folder


async def changes(target: StdioTarget) -> AsyncIterator[list[str]]:
    """The names of the files that have changed, each time that some have, relative to the folder and in order.

    Raises `UsageError` where they cannot be watched. What others than the server's programmers write there, such as
    installed packages and compiled files, is left out.
    """
    from watchfiles import Change, DefaultFilter, awatch

    folder = folder_of(target)
    programs = {str(path) for word in target.command if (path := (folder / word).resolve()).is_file()}
    lasting = DefaultFilter()

    def counts(change: Change, path: str) -> bool:
        name = os.path.basename(path)
        source = os.path.splitext(name)[1].lower() in _SUFFIXES or name in _NAMES or path in programs
        return source and lasting(change, path)

    try:
        async for found in awatch(folder, watch_filter=counts):
            yield sorted({os.path.relpath(path, folder) for _, path in found})
    except (OSError, RuntimeError) as error:
        raise UsageError(f"The files in {folder} cannot be watched: {os_reason(error)}.") from error
