"""Output files of a command: the effect of `-`, `--force` and `--json`."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING

from inspector.cli.options import STDOUT
from inspector.errors import UsageError

if TYPE_CHECKING:
    from inspector.cli.output import Output
    from inspector.cli.verb import Invocation


def is_stdout(where: Path | None) -> bool:
    """Whether an option's value is `-` (stdout)."""
    return where is not None and where == Path(STDOUT)


def check_outputs(invocation: Invocation, *options: str) -> bool:
    """Whether one of these options writes to stdout instead of the result. Call it first.

    Raises `UsageError` if two documents would go to stdout, and for an existing file without --force.
    """
    from inspector.config.output_files import check_free, is_stream

    given: list[tuple[str, Path]] = [
        (name, where) for name in options if (where := invocation.option(name)) is not None
    ]
    on_stdout = [f"--{name} -" for name, where in given if is_stdout(where)]
    if invocation.json and on_stdout:
        on_stdout.append("--json")
    if len(on_stdout) > 1:
        raise UsageError(
            f"{on_stdout[0]} and {on_stdout[1]} cannot both write to stdout.", hint="Give a file name for one of them."
        )
    for _, where in given:
        if not is_stdout(where) and not is_stream(where):
            check_free(where, force=forced(invocation))
    return bool(on_stdout)


def forced(invocation: Invocation) -> bool:
    """Whether existing files are overwritten."""
    return bool(invocation.option("force"))


@contextmanager
def text_file(where: Path, out: Output, *, force: bool = False) -> Iterator[IO[str]]:
    """The text file that an option names, or stdout. Raises `UsageError`."""
    from inspector.config.output_files import new_text

    with out.stream() if is_stdout(where) else new_text(where, force=force) as file:
        yield file
    if not is_stdout(where):
        out.written(where)


@contextmanager
def binary_file(where: Path, out: Output, *, force: bool = False) -> Iterator[IO[bytes]]:
    """The binary file that an option names, or stdout. Raises `UsageError`."""
    from inspector.config.output_files import new_file

    with out.binary_stream() if is_stdout(where) else new_file(where, force=force) as file:
        yield file
    if not is_stdout(where):
        out.written(where)


def write_text(where: Path, text: str, out: Output, *, force: bool = False) -> None:
    """Write a whole text file, or to stdout. Raises `UsageError`."""
    with text_file(where, out, force=force) as file:
        file.write(text)


def write_reports(invocation: Invocation, out: Output, names: Iterable[str], document: Callable[[str], str]) -> None:
    """Write the reports that the options of these names ask for; `document` makes one of them."""
    for name in names:
        where = invocation.option(name)
        if where is not None:
            write_text(where, document(name), out, force=forced(invocation))


def check_source(where: Path | None, source: Path) -> None:
    """Raise `UsageError` if the output file is the recording that the command reads."""
    with suppress(OSError):
        if where is not None and where.samefile(source):
            raise UsageError(f"{where} is the input recording.", hint="Choose another name.")


def kept_folder(invocation: Invocation) -> Path | None:
    """The folder of --keep, created if missing. Raises `UsageError`."""
    from inspector.config.output_files import cannot_write
    from inspector.config.paths import make_private

    folder: Path | None = invocation.option("keep")
    if folder is not None:
        try:
            make_private(folder)
        except OSError as error:
            raise cannot_write(folder, error) from None
    return folder


def new_recording(invocation: Invocation, *, source: Path | None = None) -> Path | None:
    """The file of --record, free to be created, or the folder of --keep. Raises `UsageError`.

    With --force an existing file is removed. `source` is a file that the command reads.
    """
    if (folder := kept_folder(invocation)) is not None:
        return folder
    where: Path | None = invocation.option("record")
    if where is None or not forced(invocation):
        return where
    from inspector.config.output_files import cannot_write, check_free, is_device

    if is_device(where):
        return where
    if source is not None:
        check_source(where, source)
    check_free(where, force=True)
    try:
        os.unlink(where)
    except FileNotFoundError:
        pass
    except OSError as error:
        raise cannot_write(where, error) from None
    return where
